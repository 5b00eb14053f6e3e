/*
 * test_exec.c - the machine that carries a sale out (exec.h): parts of a plan, each state with each
 * thing that can be seen. test_exec_world.c lets random things happen to random plans.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/sale_parts.h"
#include "exec/exec.h"
#include "unit/support/execmarket.h"

#define ACTIONS 64

static const struct auc_exec_rules rules = {EXEC_RULES};
static struct auc_err err;

/* -- parts of a plan -- */

/* "0-3 s0:2+1 s1:1 | 4-5 ...": runs of slots, shares as workers+PSs. */
static void plan_of(struct auc_plan *p, const char *text)
{
	char copy[512], *save, *run;

	auc_plan_init(p);
	snprintf(copy, sizeof(copy), "%s", text);
	for (run = strtok_r(copy, "|", &save); run; run = strtok_r(NULL, "|", &save)) {
		unsigned server, workers, ps;
		long long from, to;
		char *at, *save2, *word = strtok_r(run, " ", &save2);

		assert_int_equal(sscanf(word, "%lld-%lld", &from, &to), 2);
		assert_int_equal(auc_plan_add_run(p, from, to, &err), AUC_OK);
		while ((at = strtok_r(NULL, " ", &save2))) {
			assert_int_equal(sscanf(at, "s%u:%u+%u", &server, &workers, &ps), 3);
			assert_int_equal(auc_plan_add_share(p, server, workers, ps, &err), AUC_OK);
		}
	}
	p->start = p->runs[0].from;
	p->completion = p->runs[p->nruns - 1].to + 1;
}

static char *parts_text(const char *plan_text, char *text, size_t size)
{
	struct auc_market *m = execmarket_make();
	struct auc_part *parts;
	struct auc_plan plan;
	unsigned n;

	plan_of(&plan, plan_text);
	assert_int_equal(auc_plan_parts(m, &plan, &parts, &n, &err), AUC_OK);
	text[0] = 0;
	for (unsigned i = 0; i < n; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%s%s:%u+%u@%g-%g",
			 i ? " " : "", parts[i].lead ? "*" : "", parts[i].server, parts[i].workers,
			 parts[i].ps, parts[i].start, parts[i].end);
	free(parts);
	auc_plan_clear(&plan);
	auc_market_destroy(m);
	return text;
}

static void test_parts(void **state)
{
	static const char *const cases[][2] = {
		/* One run: the lead first, on the node of the PS. */
		{"3-5 s0:2+0 s1:1+1 s2:1+0", "*s1:1+1@30-60 s0:2+0@30-60 s2:1+0@30-60"},
		/* A node comes, one goes, what stays is one part. */
		{"0-1 s0:1+1 s1:2+0|2-3 s0:1+1 s2:1+0", "*s0:1+1@0-40 s1:2+0@0-20 s2:1+0@20-40"},
		/* Counts change. */
		{"0-1 s0:0+1 s1:2+0|2-3 s0:0+1 s1:1+0", "*s0:0+1@0-40 s1:2+0@0-20 s1:1+0@20-40"},
		/* The PS moves to a node that was there before: its member makes way for the lead.
		 */
		{"0-1 s0:1+1 s1:1+0|2-3 s0:1+0 s1:1+1",
		 "*s0:1+1@0-20 s1:1+0@0-20 *s1:1+1@20-40 s0:1+0@20-40"},
		/* A pause ends every part. */
		{"0-1 s0:1+1|4-5 s0:1+1", "*s0:1+1@0-20 *s0:1+1@40-60"},
		/* PSs on two nodes: the lead is where it can stay. */
		{"0-1 s0:1+1 s1:0+1|2-3 s0:2+1 s1:0+1", "*s1:0+1@0-40 s0:1+1@0-20 s0:2+1@20-40"},
		/* It stays though another lasts longer. */
		{"0-1 s0:1+1|2-3 s0:1+1 s1:0+1|4-4 s1:0+1",
		 "*s0:1+1@0-40 s1:0+1@20-40 *s1:0+1@40-50"},
		/* Once on a node of workers, not on one that has none of them, if there is a
		   choice. */
		{"0-0 s0:0+1 s1:1+0|1-1 s2:0+1 s3:1+1",
		 "*s0:0+1@0-10 s1:1+0@0-10 *s2:0+1@10-20 s3:1+1@10-20"},
		{"0-0 s0:1+1|1-1 s1:0+1 s2:1+1|2-2 s1:0+1",
		 "*s0:1+1@0-10 *s2:1+1@10-20 s1:0+1@10-20 *s1:0+1@20-30"},
		/* All-reduce: no PS at all. */
		{"0-0 s2:1+0 s3:1+0|1-1 s3:1+0", "*s3:1+0@0-20 s2:1+0@0-10"},
	};
	char text[512];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(parts_text(cases[i][0], text, sizeof(text)), cases[i][1]);
}

/* -- single steps -- */

/* Lead on a from 100 to 120 and on b from 120 to 130, a member on c all the time and one on a from
 * 120 on. */
static const struct auc_part moving[] = {
	{.server = "a", .lead = true, .workers = 1, .ps = 1, .start = 100, .end = 120},
	{.server = "c", .workers = 2, .start = 100, .end = 130},
	{.server = "b", .lead = true, .workers = 1, .ps = 1, .start = 120, .end = 130},
	{.server = "a", .workers = 1, .start = 120, .end = 130},
};

/* A sale of MOVING's parts that runs, everything in order at NOW. */
static void set_up(struct auc_exec *x, enum auc_sale_state booked, double now)
{
	assert_int_equal(auc_exec_init(x, moving, 4, &err), AUC_OK);
	x->slot = 10;
	x->booked = booked;
	x->committed = booked != AUC_SALE_LIEN;
	x->jobs[0].id = 1;
	x->jobs[0].part = now < 120 ? 0 : 2;
	x->jobs[0].seen = booked == AUC_SALE_RUNNING ? AUC_SEEN_RUNNING : AUC_SEEN_PENDING;
	x->jobs[0].begin = 100;
	x->jobs[1].id = 2;
	x->jobs[1].seen = x->jobs[0].seen;
	if (now >= 120) {
		x->jobs[3].id = 3;
		x->jobs[3].seen = x->jobs[0].seen;
	}
	x->stood = booked == AUC_SALE_RUNNING;
}

/* "book why, state: ask part, ask part" of one step and what it asks for. */
static char *step_text_by(struct auc_exec *x, const struct auc_exec_rules *by, double now,
			  char *text, struct auc_exec_booking *booking)
{
	static const char *const books[] = {"-",     "confirm", "start",   "extend",
					    "go on", "move",    "put off", "settle"};
	static const char *const asks[] = {"submit", "nudge",  "place", "move",
					   "limit",  "notice", "warn",  "kill"};
	struct auc_exec_booking b = auc_exec_step(x, by, now);
	struct auc_exec_action actions[ACTIONS];
	unsigned n;

	*booking = b;
	/* After a booking there is a commit first. */
	n = b.book == AUC_BOOK_NOTHING ? auc_exec_actions(x, by, now, actions, ACTIONS) : 0;
	sprintf(text, "%s%s%s, %s:", books[b.book], b.why ? " " : "", b.why ? b.why : "",
		auc_exec_state_word(x->state));
	for (unsigned i = 0; i < n; i++)
		sprintf(text + strlen(text), " %s %u", asks[actions[i].ask], actions[i].part);
	return text;
}

static char *step_text(struct auc_exec *x, double now, char *text)
{
	struct auc_exec_booking b;

	return step_text_by(x, &rules, now, text, &b);
}

struct single {
	enum auc_sale_state booked;
	double now;
	enum auc_seen lead;
	const char *lead_why;
	enum auc_seen member; /* the one on c */
	const char *member_why;
	const char *expected;
};

static void test_single_steps(void **state)
{
	static const enum auc_sale_state lien = AUC_SALE_LIEN, sold = AUC_SALE_SOLD,
					 runs = AUC_SALE_RUNNING;
	const struct single cases[] = {
		/* lien */
		{lien, 90, AUC_SEEN_NOT, NULL, AUC_SEEN_NOT, NULL, "-, lien:"},
		{lien, 90, AUC_SEEN_GONE, NULL, AUC_SEEN_NOT, NULL, "-, lien:"},
		{lien, 90, AUC_SEEN_PENDING, NULL, AUC_SEEN_NOT, NULL, "confirm, lien:"},
		{lien, 90, AUC_SEEN_ENDED, "cancelled", AUC_SEEN_NOT, NULL, "confirm, lien:"},
		/* waiting */
		{sold, 90, AUC_SEEN_PENDING, NULL, AUC_SEEN_PENDING, NULL, "-, waiting:"},
		{sold, 90, AUC_SEEN_GONE, NULL, AUC_SEEN_PENDING, NULL, "settle lost, ending:"},
		{sold, 90, AUC_SEEN_ENDED, "cancelled", AUC_SEEN_PENDING, NULL,
		 "settle cancelled, ending:"},
		{sold, 90, AUC_SEEN_PENDING, NULL, AUC_SEEN_ENDED, "cancelled",
		 "-, ending: kill 0"},
		{sold, 90, AUC_SEEN_PENDING, NULL, AUC_SEEN_GONE, NULL, "move, waiting:"},
		/* starting */
		{sold, 100, AUC_SEEN_PENDING, NULL, AUC_SEEN_PENDING, NULL,
		 "-, starting: nudge 1 nudge 0"},
		{sold, 101, AUC_SEEN_RUNNING, NULL, AUC_SEEN_PENDING, NULL, "start, starting:"},
		{sold, 101, AUC_SEEN_STARTING, NULL, AUC_SEEN_RUNNING, NULL, "-, starting:"},
		{runs, 101, AUC_SEEN_RUNNING, NULL, AUC_SEEN_PENDING, NULL, "-, changing: nudge 1"},
		/* running */
		{runs, 105, AUC_SEEN_RUNNING, NULL, AUC_SEEN_RUNNING, NULL, "-, running:"},
		{runs, 105, AUC_SEEN_ENDED, "completed", AUC_SEEN_RUNNING, NULL,
		 "settle completed, ending:"},
		{runs, 105, AUC_SEEN_ENDED, "failed", AUC_SEEN_ENDED, "node_fail",
		 "settle node_fail, ending:"},
		{runs, 105, AUC_SEEN_ENDED, "node_fail", AUC_SEEN_RUNNING, NULL,
		 "settle node_fail, ending:"},
		{runs, 105, AUC_SEEN_RUNNING, NULL, AUC_SEEN_ENDED, "failed", "-, ending: kill 0"},
		{runs, 105, AUC_SEEN_RUNNING, NULL, AUC_SEEN_ENDED, "node_fail", "move, changing:"},
		{runs, 105, AUC_SEEN_NOT, NULL, AUC_SEEN_NOT, NULL, "-, changing:"},
		/* changing: 5 s ahead the new member, 3 s ahead the notice, then the move */
		{runs, 115, AUC_SEEN_RUNNING, NULL, AUC_SEEN_RUNNING, NULL, "-, running: submit 3"},
		{runs, 117, AUC_SEEN_RUNNING, NULL, AUC_SEEN_RUNNING, NULL,
		 "-, changing: submit 3 notice 0"},
		{runs, 119.5, AUC_SEEN_RUNNING, NULL, AUC_SEEN_RUNNING, NULL,
		 "-, changing: submit 3 move 2"},
		{runs, 119.6, AUC_SEEN_PENDING, NULL, AUC_SEEN_RUNNING, NULL,
		 "-, changing: submit 3 place 2"},
		{runs, 125, AUC_SEEN_RUNNING, NULL, AUC_SEEN_RUNNING, NULL, "-, running:"},
		/* ending */
		{runs, 129, AUC_SEEN_RUNNING, NULL, AUC_SEEN_RUNNING, NULL,
		 "-, ending: warn 0 warn 1 warn 3"},
		{runs, 129.5, AUC_SEEN_RUNNING, NULL, AUC_SEEN_RUNNING, NULL,
		 "-, ending: kill 0 kill 1 kill 3"},
		{sold, 129.5, AUC_SEEN_PENDING, NULL, AUC_SEEN_RUNNING, NULL,
		 "put off not_started, waiting:"},
		{runs, 140, AUC_SEEN_ENDED, "completed", AUC_SEEN_RUNNING, NULL,
		 "settle completed, ending:"},
		/* settled */
		{AUC_SALE_SETTLED, 105, AUC_SEEN_ENDED, "completed", AUC_SEEN_RUNNING, NULL,
		 "-, settled: kill 1"},
		{AUC_SALE_SETTLED, 105, AUC_SEEN_RUNNING, NULL, AUC_SEEN_GONE, NULL,
		 "-, settled: kill 0"},
	};
	char text[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct single *c = &cases[i];
		struct auc_exec x;

		set_up(&x, c->booked, c->now);
		x.jobs[0].seen = c->lead;
		x.jobs[0].why = c->lead_why;
		x.jobs[1].seen = c->member;
		x.jobs[1].why = c->member_why;
		if (strcmp(step_text(&x, c->now, text), c->expected))
			fail_msg("case %u: '%s', expected '%s'", i, text, c->expected);
		auc_exec_clear(&x);
	}
}

/* A job ran and ended while nobody looked: Slurm's record says so, and it pays as any that ran. */
static void test_ran_unseen(void **state)
{
	struct auc_exec x;
	char text[256];

	(void)state;
	set_up(&x, AUC_SALE_SOLD, 105);
	x.jobs[0].seen = AUC_SEEN_ENDED;
	x.jobs[0].why = "completed";
	x.jobs[0].ran = true;
	assert_string_equal(step_text(&x, 105, text), "start, starting:");
	x.booked = AUC_SALE_RUNNING;
	x.committed = true;
	assert_memory_equal(step_text(&x, 105, text), "settle completed", 16);
	auc_exec_clear(&x);
	set_up(&x, AUC_SALE_SOLD, 105);
	x.jobs[0].seen = AUC_SEEN_ENDED;
	x.jobs[0].why = "cancelled";
	assert_memory_equal(step_text(&x, 105, text), "settle cancelled", 16);
	auc_exec_clear(&x);
}

/* A script that has just begun is told of a change when its trap stands, and is not forgotten. */
static void test_young(void **state)
{
	struct auc_exec_rules by = rules;
	struct auc_exec_booking b;
	struct auc_exec x;
	char text[256];

	(void)state;
	by.settle = 2;
	set_up(&x, AUC_SALE_RUNNING, 117);
	x.jobs[0].began = 116.5;
	x.jobs[3].id = 3;
	x.jobs[3].seen = AUC_SEEN_PENDING;
	for (int tell = 0; tell < 2; tell++) {
		x.tell = tell;
		assert_string_equal(step_text_by(&x, &by, 117, text, &b), "-, changing:");
		assert_string_equal(step_text_by(&x, &by, 118.4, text, &b), "-, changing:");
		assert_string_equal(step_text_by(&x, &by, 118.5, text, &b),
				    "-, changing: notice 0");
	}
	assert_true(auc_exec_next(&x, &by, 118) == 118.5);
	assert_true(auc_exec_due(&x, &by, 118, 118.5));
	assert_false(auc_exec_due(&x, &by, 118, 118.4));
	auc_exec_clear(&x);
}

/* A restart forgets that a job was ended with its plan, but not when it ended. */
static void test_ended_with_plan(void **state)
{
	static const struct {
		enum auc_sale_state booked;
		double ended;
		const char *why, *settled;
	} cases[] = {
		{AUC_SALE_RUNNING, 129, "cancelled", "timeout"},
		{AUC_SALE_RUNNING, 129.5, "failed", "timeout"},
		{AUC_SALE_RUNNING, 128.9, "cancelled", "cancelled"},
		{AUC_SALE_RUNNING, 129.5, "completed", "completed"},
		{AUC_SALE_RUNNING, 129.5, "node_fail", "node_fail"},
		{AUC_SALE_SOLD, 129.5, "cancelled", "cancelled"},
	};
	struct auc_exec x;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_exec_booking b;

		set_up(&x, cases[i].booked, 131);
		x.jobs[0].seen = AUC_SEEN_ENDED;
		x.jobs[0].ended = cases[i].ended;
		x.jobs[0].why = cases[i].why;
		b = auc_exec_step(&x, &rules, 131);
		assert_int_equal(b.book, AUC_BOOK_SETTLE);
		assert_string_equal(b.why, cases[i].settled);
		auc_exec_clear(&x);
	}
}

/* Slurm starts no job in a partition, or takes none: what is due there is put off, slot by slot,
 * and nothing is asked for it meanwhile. */
static void test_partition_down(void **state)
{
	struct auc_exec_booking b;
	struct auc_exec x;
	char text[256];

	(void)state;
	/* The lead waits: not before the time that it may be late. */
	set_up(&x, AUC_SALE_SOLD, 90);
	x.jobs[1].seen = AUC_SEEN_RUNNING;
	x.stopped[0] = true;
	assert_string_equal(step_text(&x, 101, text), "-, starting:");
	assert_string_equal(step_text_by(&x, &rules, 102.5, text, &b),
			    "put off partition_down, starting:");
	assert_int_equal(b.part, 0);
	assert_true(b.when == 100.5);
	/* It cannot be: tried again while slots are left, then over, and not for its owner. */
	auc_exec_refused(&x, &b, &rules, 102.5);
	assert_null(x.why);
	assert_string_equal(step_text(&x, 103, text), "-, starting:");
	/* Long after grace it is not the node's fault. */
	assert_string_equal(step_text(&x, 107, text), "-, starting:");
	assert_string_equal(step_text_by(&x, &rules, 107.6, text, &b),
			    "put off partition_down, starting:");
	b.when = 121;
	auc_exec_refused(&x, &b, &rules, 123);
	assert_string_equal(x.why, "partition_down");
	auc_exec_clear(&x);
	/* At the end of a plan that nobody put off. */
	set_up(&x, AUC_SALE_SOLD, 129.9);
	x.stopped[2] = true;
	x.jobs[0].part = 2;
	assert_string_equal(step_text(&x, 129.9, text), "-, ending: kill 0 kill 1 kill 3");
	assert_string_equal(x.why, "partition_down");
	auc_exec_clear(&x);
	/* What runs goes on, a member that cannot begin puts off all from there on. */
	set_up(&x, AUC_SALE_RUNNING, 125);
	x.stopped[1] = x.stopped[2] = x.stopped[3] = true;
	assert_string_equal(step_text(&x, 125, text), "-, running:");
	x.jobs[3].seen = AUC_SEEN_PENDING;
	assert_string_equal(step_text_by(&x, &rules, 125, text, &b),
			    "put off partition_down, changing:");
	assert_int_equal(b.part, 3);
	auc_exec_clear(&x);
	/* One that is drained starts what it has and takes no member. */
	set_up(&x, AUC_SALE_RUNNING, 117);
	x.shut[0] = x.shut[1] = x.shut[2] = x.shut[3] = true;
	assert_string_equal(step_text(&x, 117, text), "-, changing: notice 0");
	x.jobs[0].part = 2;
	assert_string_equal(step_text(&x, 121, text), "-, changing:");
	assert_string_equal(step_text_by(&x, &rules, 122.5, text, &b),
			    "put off partition_down, changing:");
	assert_int_equal(b.part, 3);
	x.jobs[3].id = 3;
	x.jobs[3].seen = AUC_SEEN_PENDING;
	assert_string_equal(step_text(&x, 122.5, text), "-, changing: nudge 3");
	auc_exec_clear(&x);
}

/* What was decided could not be written while its slot began: as if nobody had looked. */
static void test_unsaved(void **state)
{
	struct auc_exec_booking b;
	struct auc_exec x;
	char text[256];

	(void)state;
	/* Sold at 98, written at 106. */
	set_up(&x, AUC_SALE_SOLD, 98);
	x.committed = false;
	auc_exec_wrote(&x, false, 98);
	auc_exec_wrote(&x, false, 99);
	assert_string_equal(step_text(&x, 105, text), "-, sold:");
	auc_exec_wrote(&x, true, 106);
	assert_true(x.committed && x.unsaved == 98 && x.saved == 106);
	assert_string_equal(step_text_by(&x, &rules, 106, text, &b), "put off outage, starting:");
	assert_true(b.when == 104);
	auc_exec_shift(&x, 5);
	assert_true(x.unsaved == 103 && x.saved == 111);
	auc_exec_clear(&x);
	/* Its lead began by itself, its member could not be submitted. */
	set_up(&x, AUC_SALE_RUNNING, 98);
	x.committed = false;
	x.jobs[0].began = 100;
	x.jobs[1].id = 0;
	x.jobs[1].seen = AUC_SEEN_NOT;
	auc_exec_wrote(&x, false, 98);
	auc_exec_wrote(&x, true, 106);
	assert_string_equal(step_text_by(&x, &rules, 106, text, &b), "put off outage, changing:");
	/* Or began late. */
	x.jobs[1].id = 2;
	x.jobs[1].seen = AUC_SEEN_RUNNING;
	x.jobs[1].began = 107;
	assert_string_equal(step_text_by(&x, &rules, 107.5, text, &b), "put off outage, running:");
	assert_true(b.when == 105);
	x.jobs[1].began = 101.5;
	assert_string_equal(step_text(&x, 107.5, text), "-, running:");
	auc_exec_clear(&x);
	/* In time, and long before. */
	set_up(&x, AUC_SALE_SOLD, 90);
	x.committed = false;
	auc_exec_wrote(&x, false, 80);
	auc_exec_wrote(&x, true, 90);
	assert_string_equal(step_text(&x, 103, text), "-, starting: nudge 1 nudge 0");
	/* What is on disk waits for nothing, whatever else is to be written. */
	auc_exec_wrote(&x, false, 103.5);
	assert_true(x.committed && x.saved == 90);
	assert_string_equal(step_text(&x, 103.5, text), "-, starting: nudge 1 nudge 0");
	auc_exec_clear(&x);
	/* Until its end. */
	set_up(&x, AUC_SALE_SOLD, 98);
	x.committed = false;
	auc_exec_wrote(&x, false, 98);
	assert_string_equal(step_text(&x, 127, text), "-, sold:");
	step_text(&x, 129.2, text);
	assert_string_equal(x.why, "outage");
	auc_exec_clear(&x);
	/* A lien is not sold yet. */
	set_up(&x, AUC_SALE_LIEN, 98);
	auc_exec_wrote(&x, false, 98);
	auc_exec_wrote(&x, true, 99);
	assert_false(x.committed || x.unsaved > 0);
	auc_exec_clear(&x);
}

static void test_uncommitted(void **state)
{
	static const double times[] = {90, 100, 105, 117, 119.6, 125, 129.6, 140};
	struct auc_exec_action actions[ACTIONS];
	struct auc_exec x;

	(void)state;
	for (unsigned i = 0; i < sizeof(times) / sizeof(*times); i++)
		for (int booked = AUC_SALE_LIEN; booked <= AUC_SALE_SETTLED; booked++)
			for (int seen = AUC_SEEN_NOT; seen <= AUC_SEEN_ENDED; seen++) {
				set_up(&x, booked, times[i]);
				x.committed = false;
				x.jobs[0].seen = seen;
				x.jobs[0].why = "failed";
				auc_exec_step(&x, &rules, times[i]);
				assert_int_equal(
					auc_exec_actions(&x, &rules, times[i], actions, ACTIONS),
					0);
				auc_exec_clear(&x);
			}
}

/*
 * Slurm does not start a job whose node still ends somebody else's: it moves, and if nothing else
 * is free, it waits, and is not ended for it. A limit of its owner's is another matter.
 */
static void test_held_up(void **state)
{
	struct auc_exec_booking b;
	struct auc_exec x;
	double now;

	(void)state;
	for (unsigned limit = 0; limit < 2; limit++) {
		set_up(&x, AUC_SALE_SOLD, 100);
		x.jobs[0].seen = x.jobs[1].seen = AUC_SEEN_PENDING;
		x.jobs[0].why = limit ? "limit" : NULL;
		for (now = 100; now < 120; now += 0.5) {
			b = auc_exec_step(&x, &rules, now);
			if (b.book != AUC_BOOK_NOTHING || x.why)
				break;
		}
		if (limit) {
			assert_string_equal(x.why, "limit");
			auc_exec_clear(&x);
			continue;
		}
		assert_int_equal(b.book, AUC_BOOK_MOVE);
		assert_true(b.held);
		auc_exec_refused(&x, &b, &rules, now);
		assert_null(x.why);
		b = auc_exec_step(&x, &rules, now + 0.1);
		assert_int_equal(b.book, AUC_BOOK_PUT_OFF);
		assert_true(b.held && b.when <= now + 0.1);
		/* nothing later is free: it stays as long as whole slots are left */
		auc_exec_refused(&x, &b, &rules, now + 0.1);
		assert_true(!x.why || b.when + x.slot > x.end);
		auc_exec_clear(&x);
	}
}

/* A refused move ends what is broken, and waits for what is only to come. */
static void test_refused(void **state)
{
	struct auc_exec_booking b;
	char text[256];
	struct auc_exec x;

	(void)state;
	set_up(&x, AUC_SALE_RUNNING, 105);
	x.jobs[1].seen = AUC_SEEN_ENDED;
	x.jobs[1].why = "node_fail";
	b = auc_exec_step(&x, &rules, 105);
	assert_int_equal(b.book, AUC_BOOK_MOVE);
	assert_int_equal(b.part, 1);
	auc_exec_refused(&x, &b, &rules, 105);
	assert_string_equal(x.why, "node_fail");
	assert_string_equal(step_text(&x, 105, text), "-, ending: kill 0");
	auc_exec_clear(&x);

	/* The node of a part that begins in 4 s is down, then up again. */
	set_up(&x, AUC_SALE_RUNNING, 116);
	x.down[3] = 110;
	b = auc_exec_step(&x, &rules, 116);
	assert_int_equal(b.book, AUC_BOOK_NOTHING); /* not submitted yet: nobody looked */
	x.jobs[3].id = 3;
	x.jobs[3].seen = AUC_SEEN_PENDING;
	b = auc_exec_step(&x, &rules, 116);
	assert_int_equal(b.book, AUC_BOOK_MOVE);
	assert_int_equal(b.part, 3);
	auc_exec_refused(&x, &b, &rules, 116);
	assert_null(x.why);
	b = auc_exec_step(&x, &rules, 116.5);
	assert_int_equal(b.book, AUC_BOOK_NOTHING);
	b = auc_exec_step(&x, &rules, 118.5);
	assert_int_equal(b.book, AUC_BOOK_MOVE);
	x.down[3] = 0;
	b = auc_exec_step(&x, &rules, 118.6);
	assert_int_equal(b.book, AUC_BOOK_NOTHING);
	auc_exec_clear(&x);

	/* At its end it buys another slot, or ends. */
	set_up(&x, AUC_SALE_RUNNING, 129.1);
	x.extend = true;
	b = auc_exec_step(&x, &rules, 129.1);
	assert_int_equal(b.book, AUC_BOOK_EXTEND);
	auc_exec_refused(&x, &b, &rules, 129.1);
	assert_string_equal(step_text(&x, 129.2, text), "-, ending: warn 0 warn 1 warn 3");
	auc_exec_clear(&x);
}

/* A member that Slurm never starts, and one that it refuses. */
static void test_late(void **state)
{
	struct auc_exec_action refused = {.ask = AUC_ASK_SUBMIT, .part = 1};
	struct auc_exec_booking b;
	struct auc_exec x;

	(void)state;
	set_up(&x, AUC_SALE_RUNNING, 101);
	x.jobs[1].seen = AUC_SEEN_PENDING;
	b = auc_exec_step(&x, &rules, 101);
	assert_int_equal(b.book, AUC_BOOK_NOTHING);
	b = auc_exec_step(&x, &rules, 104.9);
	assert_int_equal(b.book, AUC_BOOK_NOTHING);
	b = auc_exec_step(&x, &rules, 105.1);
	assert_int_equal(b.book, AUC_BOOK_MOVE);
	assert_int_equal(b.part, 1);
	auc_exec_clear(&x);

	set_up(&x, AUC_SALE_SOLD, 90);
	x.jobs[1].id = 0;
	x.jobs[1].seen = AUC_SEEN_NOT;
	auc_exec_did(&x, &refused, AUC_EIO, 0, &rules, 90);
	b = auc_exec_step(&x, &rules, 90.1);
	assert_null(x.why);
	auc_exec_did(&x, &refused, AUC_EFULL, 0, &rules, 91);
	b = auc_exec_step(&x, &rules, 91.1);
	assert_int_equal(b.book, AUC_BOOK_NOTHING);
	assert_string_equal(x.why, "refused");
	auc_exec_clear(&x);
}

/* Where Slurm takes a member for one job too many of its owner's: at once, or, where jobs of the
 * layout before are to end first, when its slot has begun. */
static void test_limit(void **state)
{
	const struct auc_exec_action first = {.ask = AUC_ASK_SUBMIT, .part = 1},
				     later = {.ask = AUC_ASK_SUBMIT, .part = 3};
	struct auc_exec x;

	(void)state;
	set_up(&x, AUC_SALE_SOLD, 90);
	x.jobs[1].id = 0;
	x.jobs[1].seen = AUC_SEEN_NOT;
	auc_exec_did(&x, &first, AUC_ELIMIT, 0, &rules, 90);
	auc_exec_step(&x, &rules, 90.1);
	assert_string_equal(x.why, "limit");
	auc_exec_clear(&x);

	set_up(&x, AUC_SALE_RUNNING, 115);
	x.jobs[3].id = 0;
	x.jobs[3].seen = AUC_SEEN_NOT;
	for (unsigned i = 0; i < 2 * rules.tries; i++)
		auc_exec_did(&x, &later, AUC_ELIMIT, 0, &rules, 115);
	auc_exec_step(&x, &rules, 115.1);
	assert_null(x.why);
	for (unsigned i = 0; i < rules.tries; i++)
		auc_exec_did(&x, &later, AUC_ELIMIT, 0, &rules, 120 + i * rules.again);
	auc_exec_step(&x, &rules, 123);
	assert_string_equal(x.why, "limit");
	auc_exec_clear(&x);

	/* A plan that is not the first: what was sold can be had once its owner has a job less. */
	set_up(&x, AUC_SALE_SOLD, 50);
	x.replanned = true;
	x.jobs[1].id = 0;
	x.jobs[1].seen = AUC_SEEN_NOT;
	for (unsigned i = 0; i < 2 * rules.tries; i++) {
		auc_exec_did(&x, &first, AUC_ELIMIT, 0, &rules, 50);
		assert_true(x.jobs[1].next > 50 && x.jobs[1].next < 100);
	}
	auc_exec_step(&x, &rules, 50.1);
	assert_null(x.why);
	for (unsigned i = 0; i < 2 * rules.tries; i++)
		auc_exec_did(&x, &first, AUC_ELIMIT, 0, &rules, 99);
	auc_exec_step(&x, &rules, 99.1);
	assert_null(x.why);
	auc_exec_did(&x, &first, AUC_ELIMIT, 0, &rules, 101);
	auc_exec_step(&x, &rules, 101.1);
	assert_string_equal(x.why, "limit");
	auc_exec_clear(&x);

	/* One that may be submitted and not start. */
	set_up(&x, AUC_SALE_RUNNING, 100);
	x.jobs[1].seen = AUC_SEEN_PENDING;
	x.jobs[1].why = "limit";
	x.jobs[1].late = 100;
	auc_exec_step(&x, &rules, 100 + rules.grace);
	assert_null(x.why);
	auc_exec_step(&x, &rules, 100 + rules.grace + 1);
	assert_string_equal(x.why, "limit");
	auc_exec_clear(&x);
}

/* What was asked last does not keep a job alive. */
static void test_kill_at_once(void **state)
{
	struct auc_exec_action nudge = {.ask = AUC_ASK_NUDGE, .part = 0},
			       kill = {.ask = AUC_ASK_KILL};
	struct auc_exec x;
	char text[256];

	(void)state;
	set_up(&x, AUC_SALE_SOLD, 100);
	x.jobs[0].seen = AUC_SEEN_PENDING;
	x.jobs[1].seen = AUC_SEEN_PENDING;
	auc_exec_did(&x, &nudge, AUC_OK, 0, &rules, 100);
	x.jobs[1].seen = AUC_SEEN_ENDED;
	x.jobs[1].why = "cancelled";
	assert_string_equal(step_text(&x, 100.1, text), "-, ending: kill 0");
	auc_exec_did(&x, &kill, AUC_OK, 0, &rules, 100.1);
	assert_string_equal(step_text(&x, 100.2, text), "-, ending:");
	assert_string_equal(step_text(&x, 100.7, text), "-, ending: kill 0");
	auc_exec_clear(&x);
}

/* A lead that cannot be moved is ended soon after its slots, sooner where Slurm said so. */
static void test_stuck(void **state)
{
	static const struct {
		double seen, next; /* first seen after its slots, and then */
		int part;
		bool stuck;
		const char *expected;
	} cases[] = {
		{119.5, 121.9, 0, true, "-, changing: move 2"},
		{119.5, 122.1, 0, true, "-, ending: kill 0 kill 1 kill 3"},
		{119.5, 123.9, 0, false, "-, changing: move 2"},
		{119.5, 124.1, 0, false, "-, ending: kill 0 kill 1 kill 3"},
		/* As after a restart, or when all stood still for a while. */
		{123, 124.9, 0, true, "-, changing: move 2"},
		{123, 125.1, 0, true, "-, ending: kill 0 kill 1 kill 3"},
		/* Another plan: nothing there is its own any more. */
		{121, 122.9, -1, true, "-, changing: move 2"},
		{121, 123.1, -1, true, "-, ending: kill 0 kill 1 kill 3"},
	};
	struct auc_exec x;
	char text[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		set_up(&x, AUC_SALE_RUNNING, 125);
		x.jobs[0].part = cases[i].part;
		step_text(&x, cases[i].seen, text);
		assert_non_null(strstr(text, "move 2"));
		x.stuck = cases[i].stuck;
		if (strcmp(step_text(&x, cases[i].next, text), cases[i].expected))
			fail_msg("case %u: '%s', expected '%s'", i, text, cases[i].expected);
		auc_exec_clear(&x);
	}

	/* Moved after all; and a clock that is set changes nothing. */
	set_up(&x, AUC_SALE_RUNNING, 125);
	x.jobs[0].part = -1;
	step_text(&x, 120, text);
	auc_exec_shift(&x, 2);
	x.stuck = true;
	assert_string_equal(step_text(&x, 123.5, text), "-, changing: move 2");
	x.jobs[0].part = 2;
	assert_string_equal(step_text(&x, 124.5, text), "-, running:");
	assert_false(x.stuck);
	/* At the end of its plan it is none that had what it paid for. */
	x.jobs[0].part = 0;
	step_text(&x, 127.5, text);
	step_text(&x, 129.1, text);
	assert_string_equal(x.why, "not_moved");
	auc_exec_clear(&x);

	/* Nobody knows the names of its plan any more. */
	set_up(&x, AUC_SALE_RUNNING, 105);
	{
		struct auc_part nameless = {.lead = true, .start = 100, .end = 130};

		assert_int_equal(auc_exec_take(&x, &nameless, 1, &err), AUC_OK);
		x.jobs[0].seen = AUC_SEEN_RUNNING;
		x.jobs[0].part = -1;
		x.tell = false;
		assert_string_equal(step_text(&x, 106, text), "-, changing:");
		assert_string_equal(step_text(&x, 116, text), "-, changing:");
		auc_exec_clear(&x);
	}
}

/* slurmctld may not know yet where the lead runs: then nothing ends it, and nobody is late. */
static void test_unheard(void **state)
{
	struct auc_exec x;
	char text[256];

	(void)state;
	/* It is to move, and to be told. */
	set_up(&x, AUC_SALE_RUNNING, 125);
	x.jobs[0].part = 0;
	x.unheard[2] = true;
	x.tell = true;
	assert_string_equal(step_text(&x, 121, text), "-, changing:");
	assert_string_equal(step_text(&x, 128.9, text), "-, changing:");
	assert_true(x.astray == 0);
	x.unheard[2] = false;
	assert_string_equal(step_text(&x, 128.95, text), "-, changing: move 2");
	auc_exec_clear(&x);

	/* Where it is by its record does not count, and where it will be. */
	set_up(&x, AUC_SALE_RUNNING, 105);
	x.unheard[0] = x.unheard[2] = true;
	assert_string_equal(step_text(&x, 118, text), "-, changing: submit 3 notice 0");
	auc_exec_clear(&x);

	/* Its plan is over; members never move. */
	set_up(&x, AUC_SALE_RUNNING, 125);
	x.unheard[0] = true;
	assert_string_equal(step_text(&x, 129.6, text), "-, ending: kill 1 kill 3");
	x.unheard[0] = false;
	assert_string_equal(step_text(&x, 129.7, text), "-, ending: kill 0 kill 1 kill 3");
	auc_exec_clear(&x);

	/* What pends, nobody lets begin: it is prepared, and not late. */
	set_up(&x, AUC_SALE_SOLD, 105);
	x.unheard[0] = x.unheard[1] = true;
	x.jobs[0].part = -1;
	assert_string_equal(step_text(&x, 101, text), "-, starting: nudge 1 place 0");
	step_text(&x, 109, text);
	assert_true(x.jobs[0].late == 0 && x.jobs[1].late == 0);
	x.unheard[0] = x.unheard[1] = false;
	step_text(&x, 110, text);
	assert_true(x.jobs[0].late == 110 && x.jobs[1].late == 110);
	auc_exec_clear(&x);
}

/* A lead that pends until its part is nearly over is placed for its next. */
static void test_nearly_over(void **state)
{
	struct auc_exec x;
	char text[256];

	(void)state;
	set_up(&x, AUC_SALE_RUNNING, 105);
	x.jobs[0].seen = AUC_SEEN_PENDING;
	x.stood = true;
	x.jobs[3].id = 3;
	x.jobs[3].seen = AUC_SEEN_PENDING;
	step_text(&x, 118.3, text);
	assert_non_null(strstr(text, "nudge 0"));
	step_text(&x, 118.6, text);
	assert_non_null(strstr(text, "place 2"));
	auc_exec_clear(&x);
}

/* The begin of a lead that pends is its part's, as it is by now: also where that is on the same
 * node, and sooner. */
static void test_begin(void **state)
{
	static const struct {
		double begin;
		const char *asked;
	} cases[] = {
		{100, "-, waiting:"},
		{100.9, "-, waiting:"}, /* rounded */
		{110, "-, waiting: place 0"},
		{90, "-, waiting: place 0"},
	};
	struct auc_exec x;
	char text[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		set_up(&x, AUC_SALE_SOLD, 50);
		x.jobs[0].begin = cases[i].begin;
		assert_string_equal(step_text(&x, 50, text), cases[i].asked);
		auc_exec_clear(&x);
	}
}

/* -- what was missed while nobody looked -- */

/* One slot on a, for the lead and a member on c. */
static const struct auc_part short_parts[] = {
	{.server = "a", .lead = true, .workers = 1, .ps = 1, .start = 100, .end = 110},
	{.server = "c", .workers = 2, .start = 100, .end = 110},
};
static const struct auc_part put_off_parts[] = {
	{.server = "a", .lead = true, .workers = 1, .ps = 1, .start = 110, .end = 120},
	{.server = "c", .workers = 2, .start = 110, .end = 120},
};
/* A run on a, and another one after a pause. */
static const struct auc_part pausing[] = {
	{.server = "a", .lead = true, .workers = 1, .ps = 1, .start = 100, .end = 120},
	{.server = "a", .lead = true, .workers = 1, .ps = 1, .start = 140, .end = 150},
};

struct missing {
	const struct auc_part *parts;
	enum auc_sale_state booked;
	double since, now;
	enum auc_seen lead;
	double began;
	const char *expected;
	double when; /* 0: nothing is put off */
};

static void test_missed(void **state)
{
	static const struct missing cases[] = {
		/* It waits, and its slot began while nobody looked. */
		{short_parts, AUC_SALE_SOLD, 108, 108, AUC_SEEN_PENDING, 0,
		 "put off outage, starting:", 106},
		/* Long over. */
		{short_parts, AUC_SALE_SOLD, 999, 999, AUC_SEEN_PENDING, 0,
		 "put off outage, waiting:", 997},
		/* Slurm was faster than we; but first things first. */
		{short_parts, AUC_SALE_SOLD, 108, 109, AUC_SEEN_RUNNING, 108.5,
		 "start, running:", 0},
		{short_parts, AUC_SALE_RUNNING, 108, 109, AUC_SEEN_RUNNING, 108.5,
		 "put off outage, running:", 106.5},
		/* In time, be it that nobody saw it. */
		{short_parts, AUC_SALE_RUNNING, 105, 105, AUC_SEEN_RUNNING, 101.5,
		 "-, running:", 0},
		{short_parts, AUC_SALE_SOLD, 101.5, 101.5, AUC_SEEN_PENDING, 0,
		 "-, starting: nudge 0", 0},
		/* Somebody looked: that is Slurm's matter. */
		{short_parts, AUC_SALE_SOLD, 99, 103, AUC_SEEN_PENDING, 0, "-, starting: nudge 0",
		 0},
		/* Its node boots. */
		{short_parts, AUC_SALE_SOLD, 108, 108, AUC_SEEN_STARTING, 0, "-, starting:", 0},
		/* A layout that began meanwhile: it ran in the one before. */
		{moving, AUC_SALE_RUNNING, 125, 125, AUC_SEEN_PENDING, 100.5,
		 "-, changing: nudge 2", 0},
		{moving, AUC_SALE_RUNNING, 125, 125, AUC_SEEN_RUNNING, 124.5, "-, running:", 0},
		/* Behind a pause. */
		{pausing, AUC_SALE_RUNNING, 147, 147, AUC_SEEN_PENDING, 0,
		 "put off outage, changing:", 145},
		{pausing, AUC_SALE_RUNNING, 147, 148, AUC_SEEN_RUNNING, 147,
		 "put off outage, running:", 145},
		{pausing, AUC_SALE_RUNNING, 130, 130, AUC_SEEN_PENDING, 0, "-, waiting:", 0},
		/* It began, be it late, before the restart: then or in its run after the pause. */
		{short_parts, AUC_SALE_RUNNING, 108, 108, AUC_SEEN_RUNNING, 103.5,
		 "-, running:", 0},
		{short_parts, AUC_SALE_SOLD, 108, 108, AUC_SEEN_RUNNING, 103.5,
		 "start, running:", 0},
		{pausing, AUC_SALE_RUNNING, 147, 148, AUC_SEEN_RUNNING, 143, "-, running:", 0},
		/* It began after that, before its nodes were back. */
		{short_parts, AUC_SALE_RUNNING, 108, 109, AUC_SEEN_RUNNING, 106,
		 "put off outage, running:", 104},
	};
	char text[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct missing *c = &cases[i];
		struct auc_exec_rules away = rules;
		struct auc_exec_booking b;
		struct auc_exec x;

		away.since = c->since;
		away.from = c->since - 2; /* then its nodes came back */
		assert_int_equal(auc_exec_init(&x, c->parts, c->parts == moving ? 4 : 2, &err),
				 AUC_OK);
		x.slot = 10;
		x.booked = c->booked;
		x.committed = true;
		x.stood = c->booked == AUC_SALE_RUNNING;
		for (unsigned k = 0; k < x.nparts; k++)
			if (!k || !c->parts[k].lead)
				x.jobs[k] = (struct auc_exec_job){.id = k + 1,
								  .seen = c->lead,
								  .began = c->began,
								  .begin = c->parts[k].start};
		x.jobs[0].part = (int)auc_exec_lead_part(&x, &away, c->now);
		x.jobs[0].begin = x.parts[x.jobs[0].part].start;
		/* Its members are as it is, and those of later runs are there. */
		if (c->lead == AUC_SEEN_PENDING)
			for (unsigned k = 1; k < x.nparts; k++)
				x.jobs[k].seen = x.jobs[k].id ? AUC_SEEN_RUNNING : AUC_SEEN_NOT;
		step_text_by(&x, &away, c->now, text, &b);
		if (strcmp(text, c->expected) ||
		    (b.book == AUC_BOOK_PUT_OFF ? b.when != c->when : c->when != 0))
			fail_msg("case %u: '%s' at %g, expected '%s' at %g", i, text, b.when,
				 c->expected, c->when);
		auc_exec_clear(&x);
	}
}

/* A job that began late runs on, with its members, when its plan is put off to the next slot. */
static void test_put_off(void **state)
{
	struct auc_exec_rules away = rules;
	struct auc_exec_booking b;
	struct auc_exec x;
	char text[256];

	(void)state;
	away.since = 108;
	assert_int_equal(auc_exec_init(&x, short_parts, 2, &err), AUC_OK);
	x.slot = 10;
	x.booked = AUC_SALE_RUNNING;
	x.committed = true;
	x.stood = true;
	for (unsigned k = 0; k < 2; k++)
		x.jobs[k] = (struct auc_exec_job){
			.id = k + 1, .seen = AUC_SEEN_RUNNING, .began = 108.5};
	step_text_by(&x, &away, 109, text, &b);
	assert_int_equal(b.book, AUC_BOOK_PUT_OFF);
	assert_int_equal(auc_exec_take(&x, put_off_parts, 2, &err), AUC_OK);
	assert_int_equal(x.jobs[1].id, 2);
	x.jobs[0].seen = AUC_SEEN_RUNNING;
	step_text_by(&x, &away, 109.3, text, &b);
	assert_string_equal(text, "-, running: notice 0");
	x.tell = false;
	step_text_by(&x, &away, 112, text, &b);
	assert_string_equal(text, "-, running:");
	/* As after another restart. */
	away.since = 113;
	step_text_by(&x, &away, 113, text, &b);
	assert_string_equal(text, "-, running:");
	step_text_by(&x, &away, 119, text, &b);
	assert_string_equal(text, "-, ending: warn 0 warn 1");
	auc_exec_clear(&x);

	/* With a clock that is set back it is not as if. */
	assert_int_equal(auc_exec_init(&x, short_parts, 2, &err), AUC_OK);
	x.slot = 10;
	x.booked = AUC_SALE_RUNNING;
	x.committed = true;
	x.jobs[0] = (struct auc_exec_job){.id = 1, .seen = AUC_SEEN_RUNNING, .began = 100.5};
	x.jobs[1] = (struct auc_exec_job){.id = 2, .seen = AUC_SEEN_RUNNING, .began = 100.5};
	step_text_by(&x, &rules, 95, text, &b);
	assert_non_null(strstr(text, "move 0"));
	auc_exec_clear(&x);

	/* It cannot be put off: with a slot left it goes on, else it is paid back. */
	for (unsigned slots = 1; slots <= 2; slots++) {
		assert_int_equal(auc_exec_init(&x, slots == 1 ? short_parts : pausing,
					       slots == 1 ? 2 : 1, &err),
				 AUC_OK);
		x.slot = 10;
		x.booked = AUC_SALE_RUNNING;
		x.committed = true;
		x.jobs[0] =
			(struct auc_exec_job){.id = 1, .seen = AUC_SEEN_RUNNING, .began = 108.5};
		step_text_by(&x, &away, 109, text, &b);
		assert_int_equal(b.book, AUC_BOOK_PUT_OFF);
		auc_exec_refused(&x, &b, &away, 109);
		if (slots == 1)
			assert_string_equal(x.why, "outage");
		else
			assert_null(x.why);
		auc_exec_clear(&x);
	}
}

/* When jobs are to be asked for something, and when the clock passes over a part that goes on. */
static void test_due(void **state)
{
	const struct auc_part parts[] = {
		{.server = "a", .lead = true, .workers = 1, .ps = 1, .start = 100, .end = 200},
		{.server = "b", .workers = 1, .start = 150, .end = 180},
	};
	const struct {
		double since, until;
		bool due;
	} cases[] = {
		{90, 99, false},   {99, 100, true},   {100, 146, false},   {146, 147, true},
		{147, 149, false}, {149, 151, true},  {150, 176, false},   {176, 177, true},
		{177, 178, false}, {178, 179, true},  {179, 179.4, false}, {179.4, 179.5, true},
		{180, 198, false}, {196, 197, false}, {198, 199, true},    {199.5, 300, false},
		{90, 300, true},
	};
	struct auc_exec x;

	(void)state;
	assert_int_equal(auc_exec_init(&x, parts, 2, &err), AUC_OK);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(auc_exec_due(&x, &rules, cases[i].since, cases[i].until),
				 cases[i].due);
	auc_exec_clear(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),           cmocka_unit_test(test_single_steps),
		cmocka_unit_test(test_ran_unseen),      cmocka_unit_test(test_young),
		cmocka_unit_test(test_ended_with_plan), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_held_up),         cmocka_unit_test(test_late),
		cmocka_unit_test(test_uncommitted),     cmocka_unit_test(test_missed),
		cmocka_unit_test(test_put_off),         cmocka_unit_test(test_due),
		cmocka_unit_test(test_kill_at_once),    cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_unheard),         cmocka_unit_test(test_begin),
		cmocka_unit_test(test_partition_down),  cmocka_unit_test(test_unsaved),
		cmocka_unit_test(test_nearly_over),     cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
