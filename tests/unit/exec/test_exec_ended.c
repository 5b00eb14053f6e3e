/*
 * test_exec_ended.c - ends that Slurm's records do not say plainly: a job that may not have been
 * launched, where who cancelled it is known soon, and nothing is decided until then; one that ended
 * by itself and that Slurm requeued; one that does not leave for its move; one that is late and
 * goes on elsewhere; one that waits for a node that is not heard of, or for other jobs; one whose
 * slots are over before it counts as late.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/exec.h"
#include "unit/support/execmarket.h"

#define NOW     105
#define NOTHING ((enum auc_exec_ask) - 1)

static struct auc_err err;

static const struct auc_exec_rules rules = {EXEC_RULES};

/* The lead on a, a member on b. */
static const struct auc_part parts[] = {
	{.server = "a", .lead = true, .workers = 1, .ps = 1, .start = 100, .end = 130},
	{.server = "b", .workers = 2, .start = 100, .end = 130},
};

/* PART's job was cancelled as it began. */
static struct auc_exec_job *set_up(struct auc_exec *x, enum auc_sale_state booked, unsigned part)
{
	struct auc_exec_job *j;

	assert_int_equal(auc_exec_init(x, parts, 2, &err), AUC_OK);
	x->slot = 10;
	x->booked = booked;
	x->committed = true;
	for (unsigned i = 0; i < 2; i++) {
		x->jobs[i].id = 1 + i;
		x->jobs[i].seen = AUC_SEEN_RUNNING;
		x->jobs[i].began = 100;
	}
	j = &x->jobs[part];
	j->seen = AUC_SEEN_ENDED;
	j->why = "cancelled";
	j->ended = 100;
	j->ran = j->unsure = true;
	return j;
}

/* Nothing is booked, and nobody is killed. */
static void expect_nothing(struct auc_exec *x)
{
	struct auc_exec_action actions[8];
	unsigned n;

	assert_int_equal(auc_exec_step(x, &rules, NOW).book, AUC_BOOK_NOTHING);
	assert_null(x->why);
	n = auc_exec_actions(x, &rules, NOW, actions, 8);
	for (unsigned i = 0; i < n; i++)
		assert_int_not_equal(actions[i].ask, AUC_ASK_KILL);
}

static void test_lead(void **state)
{
	struct auc_exec_booking b;
	struct auc_exec_job *j;
	struct auc_exec x;

	(void)state;
	j = set_up(&x, AUC_SALE_RUNNING, 0);
	expect_nothing(&x);
	j->unsure = false;
	j->why = "not_launched";
	b = auc_exec_step(&x, &rules, NOW);
	assert_int_equal(b.book, AUC_BOOK_SETTLE);
	assert_string_equal(b.why, "not_launched");
	auc_exec_clear(&x);
	/* Nor is it booked as one that ran. */
	j = set_up(&x, AUC_SALE_SOLD, 0);
	expect_nothing(&x);
	j->unsure = false;
	assert_int_equal(auc_exec_step(&x, &rules, NOW).book, AUC_BOOK_START);
	auc_exec_clear(&x);
}

/* A member that was not launched is one whose node failed. */
static void test_member(void **state)
{
	struct auc_exec_booking b;
	struct auc_exec_job *j;
	struct auc_exec x;

	(void)state;
	j = set_up(&x, AUC_SALE_RUNNING, 1);
	expect_nothing(&x);
	j->unsure = false;
	j->why = "not_launched";
	b = auc_exec_step(&x, &rules, NOW);
	assert_int_equal(b.book, AUC_BOOK_MOVE);
	assert_int_equal(b.part, 1);
	auc_exec_clear(&x);
	j = set_up(&x, AUC_SALE_RUNNING, 1);
	j->unsure = false;
	assert_int_equal(auc_exec_step(&x, &rules, NOW).book, AUC_BOOK_NOTHING);
	assert_string_equal(x.why, "cancelled");
	auc_exec_clear(&x);
}

/* One that is being ended anyway waits for nobody. */
static void test_ended_anyway(void **state)
{
	struct auc_exec_booking b;
	struct auc_exec x;

	(void)state;
	set_up(&x, AUC_SALE_RUNNING, 0);
	x.why = "changed";
	b = auc_exec_step(&x, &rules, NOW);
	assert_int_equal(b.book, AUC_BOOK_SETTLE);
	assert_string_equal(b.why, "changed");
	auc_exec_clear(&x);
}

/* What waited past its start was called off for that, if slurmctld has been restarted since: the
 * reason was in its memory. Who withdraws a job that could begin in time pays for that. */
static void test_called_off(void **state)
{
	static const struct {
		double ended, from;
		const char *why;
	} cases[] = {{103, 104, "outage"}, {101, 104, "cancelled"}, {103, 90, "cancelled"}};
	struct auc_exec_rules restarted = rules;
	struct auc_exec_booking b;
	struct auc_exec_job *j;
	struct auc_exec x;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		j = set_up(&x, AUC_SALE_SOLD, 0);
		j->unsure = j->ran = false;
		j->ended = cases[i].ended;
		restarted.from = cases[i].from;
		b = auc_exec_step(&x, &restarted, NOW);
		assert_int_equal(b.book, AUC_BOOK_SETTLE);
		assert_string_equal(b.why, cases[i].why);
		auc_exec_clear(&x);
	}
}

/* A lead that ends with an exit code for which the site has jobs requeued has failed: it neither
 * runs again nor is it paid back as held. */
static void test_quit(void **state)
{
	struct auc_exec_action actions[8], move = {.ask = AUC_ASK_MOVE, .part = 0};
	struct auc_exec_booking b;
	struct auc_exec_job *j;
	struct auc_exec x;

	(void)state;
	for (unsigned held = 0; held < 2; held++) {
		j = set_up(&x, AUC_SALE_RUNNING, 0);
		j->seen = AUC_SEEN_PENDING;
		j->unsure = j->ran = false;
		j->why = held ? "held" : NULL;
		j->quit = true;
		assert_int_equal(auc_exec_step(&x, &rules, NOW).book, AUC_BOOK_NOTHING);
		assert_string_equal(x.why, "failed");
		/* The member, too. */
		assert_int_equal(auc_exec_actions(&x, &rules, NOW, actions, 8), 2);
		assert_int_equal(actions[0].ask, AUC_ASK_KILL);
		assert_int_equal(actions[1].ask, AUC_ASK_KILL);
		j->seen = AUC_SEEN_ENDED;
		j->why = "cancelled";
		b = auc_exec_step(&x, &rules, NOW);
		assert_int_equal(b.book, AUC_BOOK_SETTLE);
		assert_string_equal(b.why, "failed");
		auc_exec_clear(&x);
	}
	/* It was told to make way: how it ended then is no choice of its own, however long it waits
	 * for its next part. */
	j = set_up(&x, AUC_SALE_RUNNING, 0);
	auc_exec_did(&x, &move, AUC_OK, 0, &rules, NOW - 1);
	j->seen = AUC_SEEN_RUNNING; /* not requeued yet */
	j->unsure = j->ran = false;
	j->why = NULL;
	auc_exec_step(&x, &rules, NOW - 1);
	j->seen = AUC_SEEN_PENDING;
	j->quit = true;
	for (double now = NOW; now < NOW + rules.grace; now++)
		auc_exec_step(&x, &rules, now);
	assert_null(x.why);
	/* It began again, and ended by itself. */
	j->seen = AUC_SEEN_RUNNING;
	j->quit = false;
	j->began = NOW + 1;
	auc_exec_step(&x, &rules, NOW + 1);
	assert_null(x.why);
	j->seen = AUC_SEEN_PENDING;
	j->quit = true;
	auc_exec_step(&x, &rules, NOW + 2);
	assert_string_equal(x.why, "failed");
	auc_exec_clear(&x);
	/* In a pause it waits in any case. */
	j = set_up(&x, AUC_SALE_RUNNING, 0);
	j->seen = AUC_SEEN_PENDING;
	j->unsure = j->ran = false;
	j->why = NULL;
	j->quit = true;
	auc_exec_step(&x, &rules, 90);
	assert_null(x.why);
	auc_exec_clear(&x);
}

/* The lead is moved, and what ran of it does not leave for as long as Slurm lets it: it is not late
 * meanwhile, and if that takes all of its slots, they are over; nothing is paid back. */
static void test_lingers(void **state)
{
	struct auc_exec_job *j;
	struct auc_exec x;

	(void)state;
	for (unsigned left = 0; left < 2; left++) {
		j = set_up(&x, AUC_SALE_RUNNING, 0);
		j->seen = AUC_SEEN_PENDING;
		j->why = left ? "node_busy" : NULL;
		j->unsure = j->ran = false;
		j->leaving = true;
		for (double now = NOW; now < NOW + 3 * rules.grace && now < 120; now++) {
			assert_int_equal(auc_exec_step(&x, &rules, now).book, AUC_BOOK_NOTHING);
			assert_null(x.why);
		}
		/* It has left, and begins; or its slots are over. */
		j->leaving = !left;
		if (left) {
			j->seen = AUC_SEEN_RUNNING;
			auc_exec_step(&x, &rules, 120);
			assert_null(x.why);
			j->seen = AUC_SEEN_PENDING;
			auc_exec_step(&x, &rules, 130);
			assert_string_equal(x.why, "node_busy");
		} else {
			auc_exec_step(&x, &rules, 130);
			assert_string_equal(x.why, "timeout");
		}
		auc_exec_clear(&x);
	}
}

/* At its end it asks for a slot more, then for slots elsewhere. The script of a gang that moves may
 * know no signal: it is told nothing before. */
static void test_goes_on(void **state)
{
	static const struct auc_part gang[] = {
		{.lead = true, .start = 100, .end = 130, .server = "a", .nodes = "a", .nnodes = 1},
		{.lead = true, .start = 130, .end = 150, .server = "b", .nodes = "b", .nnodes = 1},
	};
	struct auc_exec_action actions[8];
	struct auc_exec_booking b;
	struct auc_exec x;

	(void)state;
	for (unsigned n = 1; n <= 2; n++) {
		assert_int_equal(auc_exec_init(&x, gang, n, &err), AUC_OK);
		x.slot = 10;
		x.booked = AUC_SALE_RUNNING;
		x.committed = x.stood = x.extend = x.goes_on = true;
		x.jobs[0].id = 1;
		x.jobs[0].part = 0;
		x.jobs[0].seen = AUC_SEEN_RUNNING;
		x.jobs[0].began = 100;
		b = auc_exec_step(&x, &rules, 129.1);
		if (n == 1) {
			assert_int_equal(b.book, AUC_BOOK_EXTEND);
			auc_exec_refused(&x, &b, &rules, 129.1);
			b = auc_exec_step(&x, &rules, 129.2);
			assert_int_equal(b.book, AUC_BOOK_GO_ON);
			auc_exec_refused(&x, &b, &rules, 129.2);
			assert_int_equal(auc_exec_step(&x, &rules, 129.3).book, AUC_BOOK_NOTHING);
			assert_string_equal(x.why, "timeout");
		} else {
			assert_int_equal(b.book, AUC_BOOK_NOTHING);
			assert_int_equal(auc_exec_actions(&x, &rules, 129.1, actions, 8), 0);
			auc_exec_step(&x, &rules, 129.9);
			assert_int_equal(auc_exec_actions(&x, &rules, 129.9, actions, 8), 1);
			assert_true(actions[0].ask == AUC_ASK_MOVE && actions[0].part == 1);
		}
		auc_exec_clear(&x);
	}
}

/* A gang whose script handles it is told before its time is over, and again where that is longer by
 * then; but not as soon as it begins. */
static void test_notice(void **state)
{
	static const struct auc_part gang = {
		.lead = true, .start = 100, .end = 130, .server = "a", .nodes = "a", .nnodes = 1};
	struct auc_part longer = gang;
	struct auc_exec_action actions[8];
	struct auc_exec x;
	double told;

	(void)state;
	longer.end = 140;
	assert_int_equal(auc_exec_init(&x, &gang, 1, &err), AUC_OK);
	x.slot = 10;
	x.booked = AUC_SALE_RUNNING;
	x.committed = x.stood = x.notice = true;
	x.jobs[0].id = 1;
	x.jobs[0].part = 0;
	x.jobs[0].seen = AUC_SEEN_RUNNING;
	x.jobs[0].began = 100;
	for (double end = 130; end <= 140; end += 10) {
		told = end - rules.notice;
		assert_true(auc_exec_due(&x, &rules, told - 0.1, told));
		assert_int_equal(auc_exec_actions(&x, &rules, told - 0.1, actions, 8), 0);
		assert_int_equal(auc_exec_actions(&x, &rules, told, actions, 8), 1);
		assert_int_equal(actions[0].ask, AUC_ASK_NOTICE);
		auc_exec_did(&x, actions, AUC_OK, 0, &rules, told);
		assert_int_equal(auc_exec_actions(&x, &rules, told + 0.1, actions, 8), 0);
		assert_int_equal(auc_exec_take(&x, &longer, 1, &err), AUC_OK);
		x.jobs[0].seen = AUC_SEEN_RUNNING;
	}
	x.told = 0;
	x.jobs[0].began = told;
	assert_int_equal(auc_exec_actions(&x, &rules, told + rules.settle - 0.1, actions, 8), 0);
	assert_int_equal(auc_exec_actions(&x, &rules, told + rules.settle, actions, 8), 1);
	x.notice = false;
	assert_int_equal(auc_exec_actions(&x, &rules, told + rules.settle, actions, 8), 0);
	auc_exec_clear(&x);
}

/* At the end of its plan a gang is told twice, its steps and then its script, before it is killed;
 * the lead of a group, and a gang that has no steps, once. */
static void test_told_to_end(void **state)
{
	enum { LEAD, GANG, BARE };
	static const struct {
		double before; /* the end, in EndMargins */
		enum auc_exec_ask ask[3];
		bool script[3];
	} cases[] = {
		{1, {AUC_ASK_WARN, AUC_ASK_WARN, AUC_ASK_WARN}, {true, false, false}},
		{0.8, {NOTHING, NOTHING, NOTHING}, {false}},
		{0.75, {NOTHING, AUC_ASK_WARN, NOTHING}, {false, true, false}},
		{0.6, {NOTHING, NOTHING, NOTHING}, {false}},
		{0.5, {AUC_ASK_KILL, AUC_ASK_KILL, AUC_ASK_KILL}, {false}},
	};
	struct auc_part part = {
		.lead = true, .workers = 1, .start = 100, .end = 130, .server = "a", .nodes = "a"};
	struct auc_exec_action actions[8];
	struct auc_exec x;
	unsigned n;

	(void)state;
	for (unsigned kind = LEAD; kind <= BARE; kind++) {
		part.nnodes = kind != LEAD;
		assert_int_equal(auc_exec_init(&x, &part, 1, &err), AUC_OK);
		x.slot = 10;
		x.booked = AUC_SALE_RUNNING;
		x.committed = x.stood = true;
		x.jobs[0].id = 1;
		x.jobs[0].part = 0;
		x.jobs[0].seen = AUC_SEEN_RUNNING;
		x.jobs[0].began = 100;
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			double now = part.end - cases[i].before * rules.end_margin;
			enum auc_exec_ask asks = cases[i].ask[kind];

			assert_true(asks == NOTHING || auc_exec_due(&x, &rules, now - 0.1, now));
			auc_exec_step(&x, &rules, now);
			n = auc_exec_actions(&x, &rules, now, actions, 8);
			assert_int_equal(n, asks == NOTHING ? 0 : 1);
			if (!n)
				continue;
			assert_int_equal(actions[0].ask, asks);
			assert_int_equal(actions[0].script, cases[i].script[kind]);
			/* Who carries it out found no steps. */
			actions[0].script |= kind == BARE;
			auc_exec_did(&x, actions, AUC_OK, 0, &rules, now);
		}
		auc_exec_clear(&x);
	}
}

/* What waits for its node to be heard of is put off before it can only begin too late. */
static void test_waits_for_node(void **state)
{
	static const struct {
		double now;
		enum auc_seen lead;
		bool unheard;
		enum auc_exec_book book;
	} cases[] = {
		{100.2, AUC_SEEN_PENDING, true, AUC_BOOK_NOTHING},
		{101.5, AUC_SEEN_PENDING, true, AUC_BOOK_PUT_OFF},
		{101.5, AUC_SEEN_PENDING, false, AUC_BOOK_NOTHING},
		{105, AUC_SEEN_RUNNING, true, AUC_BOOK_START},
	};
	struct auc_exec_rules away = rules;

	(void)state;
	away.begins = 1.5;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_exec_booking b;
		struct auc_exec x;

		*set_up(&x, AUC_SALE_SOLD, 0) = (struct auc_exec_job){
			.id = 1, .seen = cases[i].lead, .began = 101.5, .begin = 100};
		x.unheard[0] = cases[i].unheard;
		away.since = cases[i].now;
		b = auc_exec_step(&x, &away, cases[i].now);
		assert_int_equal(b.book, cases[i].book);
		assert_true(b.book != AUC_BOOK_PUT_OFF || b.when == 101);
		auc_exec_clear(&x);
	}
}

/* A job whose plan is over before it counts as late, and that has not begun by nobody's fault,
 * comes later; where it cannot, it ends. */
static void test_short(void **state)
{
	static const struct {
		enum auc_sale_state booked;
		const char *why;
		bool down;
		enum auc_exec_book book;
	} cases[] = {
		{AUC_SALE_SOLD, NULL, false, AUC_BOOK_PUT_OFF},
		{AUC_SALE_SOLD, "node_busy", false, AUC_BOOK_PUT_OFF},
		{AUC_SALE_SOLD, "own_job", false, AUC_BOOK_NOTHING},
		{AUC_SALE_SOLD, "held", false, AUC_BOOK_NOTHING},
		{AUC_SALE_SOLD, "limit", false, AUC_BOOK_NOTHING},
		{AUC_SALE_SOLD, NULL, true, AUC_BOOK_NOTHING},
		{AUC_SALE_RUNNING, NULL, false, AUC_BOOK_NOTHING},
	};
	struct auc_exec_rules slow = rules;

	(void)state;
	slow.grace = 60;
	slow.patience = 60;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_exec_booking b;
		struct auc_exec x;

		*set_up(&x, cases[i].booked, 0) = (struct auc_exec_job){
			.id = 1, .seen = AUC_SEEN_PENDING, .why = cases[i].why, .begin = 100};
		x.down[0] = cases[i].down ? 100 : 0;
		for (double now = 100; now < 129; now++)
			assert_int_equal(auc_exec_step(&x, &slow, now).book, AUC_BOOK_NOTHING);
		b = auc_exec_step(&x, &slow, 129);
		assert_int_equal(b.book, cases[i].book);
		if (b.book == AUC_BOOK_PUT_OFF) {
			assert_true(b.part == 0 && b.held && b.when == 129);
			assert_null(x.why);
			auc_exec_refused(&x, &b, &slow, 129);
		}
		assert_non_null(x.why);
		if (cases[i].booked == AUC_SALE_SOLD && !cases[i].down)
			assert_string_equal(x.why, cases[i].why ? cases[i].why : "not_started");
		auc_exec_clear(&x);
	}
}

/* So it is where a member alone has not begun with it: nobody buys more time for it before. */
static void test_short_member(void **state)
{
	static const struct {
		enum auc_seen seen;
		const char *why;
		bool down, stood;
		enum auc_exec_book book;
		const char *ends; /* where it cannot come later */
	} cases[] = {
		{AUC_SEEN_PENDING, NULL, false, false, AUC_BOOK_PUT_OFF, "not_started"},
		{AUC_SEEN_PENDING, "node_busy", false, false, AUC_BOOK_PUT_OFF, "node_busy"},
		{AUC_SEEN_PENDING, "held", false, false, AUC_BOOK_PUT_OFF, "held"},
		{AUC_SEEN_PENDING, "limit", false, false, AUC_BOOK_EXTEND, NULL},
		{AUC_SEEN_PENDING, NULL, true, false, AUC_BOOK_EXTEND, NULL},
		{AUC_SEEN_PENDING, NULL, false, true, AUC_BOOK_EXTEND, NULL},
		{AUC_SEEN_STARTING, NULL, false, false, AUC_BOOK_EXTEND, NULL},
		{AUC_SEEN_RUNNING, NULL, false, false, AUC_BOOK_EXTEND, NULL},
	};
	struct auc_exec_rules slow = rules;

	(void)state;
	slow.grace = 60;
	slow.patience = 60;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_exec_booking b;
		struct auc_exec x;

		*set_up(&x, AUC_SALE_RUNNING, 1) = (struct auc_exec_job){
			.id = 2, .seen = cases[i].seen, .why = cases[i].why, .begin = 100};
		x.down[1] = cases[i].down ? 100 : 0;
		x.stood = cases[i].stood;
		x.extend = true;
		x.jobs[0].part = 0;
		for (double now = 100; now < 129; now++)
			assert_int_equal(auc_exec_step(&x, &slow, now).book, AUC_BOOK_NOTHING);
		b = auc_exec_step(&x, &slow, 129);
		assert_int_equal(b.book, cases[i].book);
		assert_null(x.why);
		if (cases[i].ends) {
			assert_true(b.part == 1 && b.held && b.when == 129);
			auc_exec_refused(&x, &b, &slow, 129);
			assert_string_equal(x.why, cases[i].ends);
		}
		auc_exec_clear(&x);
	}
}

/*
 * What never can begin, by nobody's fault, does not come later for ever: a plan that is over before
 * its lead counts as late, a longer one, and one of which only a member does not begin.
 */
static void test_put_off_ends(void **state)
{
	struct auc_exec_rules slow = rules;

	(void)state;
	slow.grace = 60;
	for (unsigned kind = 0; kind < 4; kind++) {
		bool lead = kind % 2 == 0, is_short = kind < 2;
		unsigned times = 0;
		struct auc_exec x;

		*set_up(&x, lead ? AUC_SALE_SOLD : AUC_SALE_RUNNING, lead ? 0 : 1) =
			(struct auc_exec_job){.id = 1, .seen = AUC_SEEN_PENDING, .begin = 100};
		if (lead)
			x.jobs[1].seen = AUC_SEEN_PENDING;
		x.jobs[0].part = 0;
		/* Its plan is another one each time, with the same times: so is the clock. */
		for (double now = 100; !x.why; now = now < 130 ? now + 0.5 : 100) {
			struct auc_exec_booking b =
				auc_exec_step(&x, is_short ? &slow : &rules, now);

			if (b.book == AUC_BOOK_MOVE)
				auc_exec_refused(&x, &b, &rules, now);
			else if (b.book == AUC_BOOK_PUT_OFF)
				now = 130;
			else
				continue;
			times += now == 130;
			x.waits = x.waits && now < 130;
			x.jobs[0].late = x.jobs[1].late = now < 130 ? x.jobs[0].late : 0;
			assert_true(times <= 100);
		}
		assert_int_equal(times, 100);
		assert_string_equal(x.why, "not_started");
		auc_exec_clear(&x);
	}
}

/* One that begins in the end has all of that before it again. */
static void test_put_off_anew(void **state)
{
	struct auc_exec x;

	(void)state;
	set_up(&x, AUC_SALE_RUNNING, 1)->seen = AUC_SEEN_PENDING;
	x.put_off = 99;
	x.jobs[0].part = 0;
	auc_exec_step(&x, &rules, 101);
	assert_int_equal(x.put_off, 99);
	x.jobs[1].seen = AUC_SEEN_RUNNING;
	auc_exec_step(&x, &rules, 102);
	assert_int_equal(x.put_off, 0);
	auc_exec_clear(&x);
}

/* A lead that waits for other jobs: UNTIL, which nobody can help; 0: its owner's doing. */
static struct auc_exec_job *set_up_waiting(struct auc_exec *x, double until)
{
	struct auc_exec_job *j = set_up(x, AUC_SALE_SOLD, 0);

	*j = (struct auc_exec_job){.id = 1, .seen = AUC_SEEN_PENDING, .begin = 100};
	j->why = until > 0 ? NULL : "own_job";
	x->after = until;
	return j;
}

/* For sales that are over later than they were when it was bought: it begins after them. */
static void test_after(void **state)
{
	struct auc_exec_booking b;
	struct auc_exec x;

	(void)state;
	set_up_waiting(&x, 118);
	assert_int_equal(auc_exec_step(&x, &rules, 101).book, AUC_BOOK_NOTHING);
	b = auc_exec_step(&x, &rules, 102.5);
	assert_int_equal(b.book, AUC_BOOK_PUT_OFF);
	assert_int_equal(b.part, 0);
	assert_string_equal(b.why, "not_started");
	assert_true(b.when == 118);
	/* It cannot be: another node would not help, and it is tried again. */
	auc_exec_refused(&x, &b, &rules, 102.5);
	assert_null(x.why);
	assert_int_equal(auc_exec_step(&x, &rules, 107).book, AUC_BOOK_NOTHING);
	assert_int_equal(auc_exec_step(&x, &rules, 107.6).book, AUC_BOOK_PUT_OFF);
	/* Nothing would be left of it. */
	b.when = 121;
	auc_exec_refused(&x, &b, &rules, 107.6);
	assert_string_equal(x.why, "not_started");
	auc_exec_clear(&x);
	/* Its plan is another one by now, of which nothing is known yet. */
	set_up_waiting(&x, 118);
	assert_int_equal(auc_exec_take(&x, parts, 2, &err), AUC_OK);
	assert_true(x.after == 0);
	auc_exec_clear(&x);
}

/* By its owner's doing: what is left of its slots is its own, and it goes nowhere else. */
static void test_after_own(void **state)
{
	struct auc_exec_action actions[8];
	struct auc_exec_job *j;
	struct auc_exec x;

	(void)state;
	j = set_up_waiting(&x, 0);
	for (double now = 101; now < 129; now += 0.5) {
		assert_int_equal(auc_exec_step(&x, &rules, now).book, AUC_BOOK_NOTHING);
		assert_null(x.why);
	}
	/* Slurm is not asked all the time. */
	assert_int_equal(auc_exec_actions(&x, &rules, 120, actions, 8), 1);
	assert_int_equal(actions[0].ask, AUC_ASK_NUDGE);
	auc_exec_did(&x, &actions[0], AUC_OK, 0, &rules, 120);
	assert_int_equal(auc_exec_actions(&x, &rules, 122, actions, 8), 0);
	assert_false(auc_exec_busy(&x, &rules, 122, 0.5));
	assert_int_equal(auc_exec_step(&x, &rules, 129.5).book, AUC_BOOK_NOTHING);
	assert_string_equal(x.why, "own_job");
	auc_exec_clear(&x);
	j = set_up_waiting(&x, 0);
	assert_int_equal(auc_exec_step(&x, &rules, 110).book, AUC_BOOK_NOTHING);
	j->seen = AUC_SEEN_RUNNING;
	j->began = 115;
	j->why = NULL;
	assert_int_equal(auc_exec_step(&x, &rules, 115.5).book, AUC_BOOK_START);
	auc_exec_clear(&x);
}

/* A plan that is over before its member counts as late comes later, be it that the member waits for
 * its node or is not submitted yet; not one that its owner has no room for. */
static void test_short_whoever_waits(void **state)
{
	static const struct {
		uint32_t id;
		enum auc_seen seen;
		const char *why;
		enum auc_exec_book book;
	} cases[] = {
		{2, AUC_SEEN_PENDING, NULL, AUC_BOOK_PUT_OFF},
		{2, AUC_SEEN_PENDING, "node_busy", AUC_BOOK_PUT_OFF},
		{2, AUC_SEEN_NOT, NULL, AUC_BOOK_PUT_OFF},
		{0, AUC_SEEN_NOT, NULL, AUC_BOOK_PUT_OFF},
		{0, AUC_SEEN_NOT, "limit", AUC_BOOK_NOTHING},
		{2, AUC_SEEN_STARTING, NULL, AUC_BOOK_NOTHING},
	};
	const struct auc_part brief[] = {
		{.server = "a", .lead = true, .workers = 1, .ps = 1, .start = 100, .end = 105},
		{.server = "c", .workers = 2, .start = 100, .end = 105},
	};
	struct auc_exec_booking b;
	struct auc_exec x;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(auc_exec_init(&x, brief, 2, &err), AUC_OK);
		x.slot = 5;
		x.booked = AUC_SALE_RUNNING;
		x.committed = true;
		x.jobs[0] = (struct auc_exec_job){.id = 1, .seen = AUC_SEEN_RUNNING, .began = 100};
		x.jobs[1] = (struct auc_exec_job){.id = cases[i].id,
						  .seen = cases[i].seen,
						  .why = cases[i].why,
						  .begin = 100};
		b = auc_exec_step(&x, &rules, 105 - rules.end_margin + 0.1);
		assert_int_equal(b.book, cases[i].book);
		assert_int_equal(x.why == NULL, b.book == AUC_BOOK_PUT_OFF);
		auc_exec_clear(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lead),           cmocka_unit_test(test_member),
		cmocka_unit_test(test_ended_anyway),   cmocka_unit_test(test_called_off),
		cmocka_unit_test(test_quit),           cmocka_unit_test(test_lingers),
		cmocka_unit_test(test_goes_on),        cmocka_unit_test(test_notice),
		cmocka_unit_test(test_waits_for_node), cmocka_unit_test(test_after),
		cmocka_unit_test(test_after_own),      cmocka_unit_test(test_told_to_end),
		cmocka_unit_test(test_short),          cmocka_unit_test(test_short_member),
		cmocka_unit_test(test_short_whoever_waits),
		cmocka_unit_test(test_put_off_ends),   cmocka_unit_test(test_put_off_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
