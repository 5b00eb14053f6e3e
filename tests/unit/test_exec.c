/*
 * test_exec.c - the machine that carries a sale out (exec.h): parts of a plan, each state with each
 * thing that can be seen, and a world of its own (a small Slurm and a ledger that can crash) in
 * which random things happen to random plans.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction-private.h"
#include "exec.h"

#define PARTS_MAX 64
#define ACTIONS   64

static const struct auc_exec_rules rules = {.end_margin = 1,
					    .notice = 3,
					    .ahead = 5,
					    .grace = 4,
					    .patience = 1,
					    .late = 2,
					    .again = 0.5,
					    .tries = 3};
static struct auc_err err;
static uint64_t seed;

/* splitmix64 */
static uint64_t next_random(void)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static unsigned below(unsigned n)
{
	return (unsigned)(next_random() % n);
}

/* -- parts of a plan -- */

static struct auc_market *make_market(void)
{
	static const struct auc_named worker[] = {{"cpu", 2}, {"gpu", 1}}, ps[] = {{"cpu", 1}};
	struct auc_named capacity[] = {{"cpu", 100}, {"gpu", 20}};
	struct auc_price price = {.neta = 2, .eta = {{"cpu", 3}, {"gpu", 20}}};
	struct auc_market *m = auc_market_create(50, 10, 0);
	char name[16];

	assert_int_equal(auc_market_add_worker_type(m, "w", worker, 2, 1000, &err), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", ps, 1, 1000, &err), AUC_OK);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		assert_int_equal(auc_market_add_server(m, name, "g", false,
						       AUC_ROLE_WORKER | AUC_ROLE_PS, 0, capacity,
						       2, &err),
				 AUC_OK);
	}
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	return m;
}

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
	struct auc_market *m = make_market();
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
	static const char *const books[] = {"-",    "confirm", "start", "extend",
					    "move", "put off", "settle"};
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
		 "-, ending: kill 0 kill 1 kill 3"},
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
	assert_string_equal(x.why, "node_fail");
	auc_exec_clear(&x);
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
/* A run on a, and another one behind a pause. */
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
		 "put off, starting:", 106},
		/* Long over. */
		{short_parts, AUC_SALE_SOLD, 999, 999, AUC_SEEN_PENDING, 0,
		 "put off, waiting:", 997},
		/* Slurm was faster than we; but first things first. */
		{short_parts, AUC_SALE_SOLD, 108, 109, AUC_SEEN_RUNNING, 108.5,
		 "start, running:", 0},
		{short_parts, AUC_SALE_RUNNING, 108, 109, AUC_SEEN_RUNNING, 108.5,
		 "put off, running:", 106.5},
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
		 "put off, changing:", 145},
		{pausing, AUC_SALE_RUNNING, 147, 148, AUC_SEEN_RUNNING, 147,
		 "put off, running:", 145},
		{pausing, AUC_SALE_RUNNING, 130, 130, AUC_SEEN_PENDING, 0, "-, waiting:", 0},
	};
	char text[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct missing *c = &cases[i];
		struct auc_exec_rules away = rules;
		struct auc_exec_booking b;
		struct auc_exec x;

		away.since = c->since;
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
			assert_string_equal(x.why, "node_fail");
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

/* -- a world -- */

#define SLOT    10.0
#define TICK    0.25
#define SERVERS 4
#define JOBS    256

struct world_job {
	uint32_t id;
	bool lead, gone;
	enum auc_seen is; /* PENDING, RUNNING or ENDED */
	const char *why;
	struct auc_part part; /* what it is submitted for */
	double begin, began, ended, completing;
};

static struct {
	struct auc_market *market;
	struct auc_part *parts, *disk_parts; /* the plan in memory and on disk */
	unsigned nparts, ndisk_parts;
	struct auc_exec x;
	/* the ledger, in memory and on disk */
	enum auc_sale_state booked, disk;
	unsigned charged, settled;
	/* Slurm */
	struct world_job jobs[JOBS];
	unsigned njobs;
	bool down[SERVERS];
	double now, back; /* back: the controller is away until then */
	double away;      /* since when jobs were not looked after */
	double end;       /* of the plan */
	struct auc_exec_rules rules;
	bool calm; /* nothing more goes wrong */
	unsigned notices, moves, changes, put_off;
} w;

static void random_parts(void)
{
	auc_slot slot = 2 + below(3);
	struct auc_plan plan;

	auc_plan_init(&plan);
	for (unsigned r = 1 + below(5); r > 0; r--) {
		auc_slot to = slot + below(3);
		unsigned ps = below(SERVERS);

		assert_int_equal(auc_plan_add_run(&plan, slot, to, &err), AUC_OK);
		for (unsigned s = 0; s < SERVERS; s++)
			if (s == ps || below(2))
				assert_int_equal(
					auc_plan_add_share(&plan, s, 1 + below(2), s == ps, &err),
					AUC_OK);
		slot = to + 1 + (below(4) ? 0 : 1 + below(2));
	}
	plan.start = plan.runs[0].from;
	plan.completion = plan.runs[plan.nruns - 1].to + 1;
	assert_int_equal(auc_plan_parts(w.market, &plan, &w.parts, &w.nparts, &err), AUC_OK);
	assert_true(w.nparts <= PARTS_MAX);
	auc_plan_clear(&plan);
}

static unsigned server_of(const struct world_job *j)
{
	return (unsigned)(j->part.server[1] - '0');
}

static struct world_job *world_submit(const struct auc_part *part, bool lead)
{
	struct world_job *j = &w.jobs[w.njobs++];

	assert_true(w.njobs < JOBS);
	*j = (struct world_job){.id = w.njobs,
				.lead = lead,
				.is = AUC_SEEN_PENDING,
				.part = *part,
				.begin = part->start};
	return j;
}

static void end_job(struct world_job *j, const char *why)
{
	if (j->is == AUC_SEEN_ENDED)
		return;
	j->is = AUC_SEEN_ENDED;
	j->why = why;
	j->ended = w.now;
}

/* What happens without the controller's asking. */
static void world_moves(void)
{
	bool taken[SERVERS] = {false};

	for (unsigned i = 0; i < w.njobs; i++)
		if (w.jobs[i].is == AUC_SEEN_RUNNING)
			taken[server_of(&w.jobs[i])] = true;
	for (unsigned i = 0; i < w.njobs && w.now >= w.back; i++) {
		struct world_job *j = &w.jobs[i];

		if (j->is != AUC_SEEN_PENDING || j->begin > w.now || j->completing > w.now ||
		    w.down[server_of(j)] || taken[server_of(j)] || !below(4))
			continue;
		j->is = AUC_SEEN_RUNNING;
		j->began = w.now;
		taken[server_of(j)] = true;
	}
	if (w.calm)
		return;
	if (!below(300) && w.njobs)
		end_job(&w.jobs[below(w.njobs)],
			(const char *[]){"completed", "failed", "cancelled"}[below(3)]);
	if (!below(400)) {
		unsigned s = below(SERVERS);

		w.down[s] = !w.down[s];
		for (unsigned i = 0; i < w.njobs; i++)
			if (w.down[s] && server_of(&w.jobs[i]) == s &&
			    w.jobs[i].is == AUC_SEEN_RUNNING)
				end_job(&w.jobs[i], "node_fail");
	}
}

static struct auc_part *copy_parts(const struct auc_part *parts, unsigned n)
{
	struct auc_part *copy = malloc(n * sizeof(*copy));

	assert_non_null(copy);
	memcpy(copy, parts, n * sizeof(*copy));
	return copy;
}

/* A commit that succeeds. */
static void to_disk(void)
{
	w.disk = w.booked;
	w.x.committed = w.booked != AUC_SALE_LIEN;
	free(w.disk_parts);
	w.disk_parts = copy_parts(w.parts, w.nparts);
	w.ndisk_parts = w.nparts;
}

/* What PART's server was to give from now on moves to one that is up and gives nothing. */
static bool change_plan(unsigned part)
{
	char server = w.parts[part].server[1], other = 0;
	double from = floor(w.now / SLOT) * SLOT;
	struct auc_part *made;
	unsigned n = 0;

	for (char s = '0'; s < '0' + SERVERS && !other; s++) {
		bool taken = w.down[s - '0'] || s == server;

		for (unsigned p = 0; p < w.nparts; p++)
			taken |= w.parts[p].end > from && w.parts[p].server[1] == s;
		other = taken ? 0 : s;
	}
	if (!other || w.nparts > PARTS_MAX / 2)
		return false;
	made = malloc(2 * w.nparts * sizeof(*made));
	assert_non_null(made);
	for (unsigned p = 0; p < w.nparts; p++) {
		made[n] = w.parts[p];
		if (w.parts[p].end <= from || w.parts[p].server[1] != server) {
			n++;
			continue;
		}
		if (w.parts[p].start < from) {
			made[n++].end = from;
			made[n] = w.parts[p];
			made[n].start = from;
		}
		made[n++].server[1] = other;
	}
	assert_int_equal(auc_exec_take(&w.x, made, n, &err), AUC_OK);
	free(w.parts);
	w.parts = made;
	w.nparts = n;
	w.changes++;
	return true;
}

/* All that comes with PART and behind it begins at UNTIL or behind. */
static bool put_off(unsigned part, double until)
{
	double from = w.parts[part].start, by = ceil((until - from) / SLOT) * SLOT;
	struct auc_part *made = copy_parts(w.parts, w.nparts);

	assert_true(by > 0);
	/* Now and then somebody else has it. */
	if (!below(4)) {
		free(made);
		return false;
	}
	for (unsigned p = 0; p < w.nparts; p++)
		if (made[p].start >= from) {
			made[p].start += by;
			made[p].end += by;
			w.end = made[p].end > w.end ? made[p].end : w.end;
		}
	assert_int_equal(auc_exec_take(&w.x, made, w.nparts, &err), AUC_OK);
	free(w.parts);
	w.parts = made;
	w.put_off++;
	return true;
}

static void forget(void)
{
	free(w.parts);
	w.parts = copy_parts(w.disk_parts, w.ndisk_parts);
	w.nparts = w.ndisk_parts;
	auc_exec_clear(&w.x);
	assert_int_equal(auc_exec_init(&w.x, w.parts, w.nparts, &err), AUC_OK);
	w.x.slot = SLOT;
	w.booked = w.disk;
}

/* The controller dies: what is not on disk never was. The lien's job is adopted by its receipt. */
static void crash(void)
{
	if (w.booked != AUC_SALE_LIEN && w.disk == AUC_SALE_LIEN)
		w.charged--;
	if (w.booked == AUC_SALE_SETTLED && w.disk != AUC_SALE_SETTLED)
		w.settled--;
	forget();
	w.back = w.rules.since = w.now + below(40) * 0.5;
}

static void look(void)
{
	for (unsigned i = 0; i < w.nparts; i++) {
		w.x.jobs[i].seen = AUC_SEEN_GONE;
		if (!w.down[w.parts[i].server[1] - '0'])
			w.x.down[i] = 0;
		else if (!(w.x.down[i] > 0))
			w.x.down[i] = w.now;
	}
	for (unsigned k = 0; k < w.njobs; k++) {
		struct world_job *j = &w.jobs[k];
		unsigned i;

		if (j->gone)
			continue;
		for (i = 0; i < w.nparts && w.x.jobs[i].id != j->id; i++)
			;
		if (i == w.nparts && j->lead) {
			i = 0;
			w.x.jobs[0].id = j->id;
		}
		/* A member from before the crash. */
		for (unsigned p = 1; i == w.nparts && p < w.nparts; p++)
			if (!w.parts[p].lead && !w.x.jobs[p].id && j->is != AUC_SEEN_ENDED &&
			    w.booked != AUC_SALE_SETTLED && w.now < w.parts[p].end &&
			    !strcmp(w.parts[p].server, j->part.server) &&
			    w.parts[p].workers == j->part.workers && w.parts[p].ps == j->part.ps &&
			    (j->is == AUC_SEEN_RUNNING
				     ? j->began > w.parts[p].start - SLOT &&
					       j->began < w.parts[p].end
				     : j->begin >= w.parts[p].start && j->begin < w.parts[p].end)) {
				w.x.jobs[p].id = j->id;
				i = p;
			}
		if (i == w.nparts) {
			end_job(j, "cancelled");
			continue;
		}
		w.x.jobs[i].seen = j->is;
		w.x.jobs[i].why = j->why;
		w.x.jobs[i].ended = j->ended;
		w.x.jobs[i].began = j->is == AUC_SEEN_RUNNING ? j->began : 0;
		w.x.jobs[i].begin = j->begin;
		if (!j->lead)
			continue;
		w.x.jobs[i].part = -1;
		for (unsigned p = 0; p < w.nparts; p++)
			if (w.parts[p].lead && !strcmp(w.parts[p].server, j->part.server) &&
			    w.parts[p].start == j->part.start)
				w.x.jobs[i].part = (int)p;
	}
}

static void book(void)
{
	struct auc_exec_booking b = auc_exec_step(&w.x, &w.rules, w.now);

	switch (b.book) {
	case AUC_BOOK_NOTHING:
		return;
	case AUC_BOOK_CONFIRM:
		assert_int_equal(w.booked, AUC_SALE_LIEN);
		w.booked = AUC_SALE_SOLD;
		w.charged++;
		break;
	case AUC_BOOK_START:
		assert_int_equal(w.booked, AUC_SALE_SOLD);
		w.booked = AUC_SALE_RUNNING;
		break;
	case AUC_BOOK_SETTLE:
		assert_true(w.booked == AUC_SALE_SOLD || w.booked == AUC_SALE_RUNNING);
		assert_non_null(b.why);
		assert_true(b.when <= w.now);
		w.booked = AUC_SALE_SETTLED;
		w.settled++;
		break;
	case AUC_BOOK_MOVE:
	case AUC_BOOK_PUT_OFF:
		if (b.book == AUC_BOOK_MOVE ? change_plan(b.part) : put_off(b.part, b.when))
			break;
		/* fall through */
	case AUC_BOOK_EXTEND:
		auc_exec_refused(&w.x, &b, &w.rules, w.now);
		return;
	}
	w.x.committed = false;
}

static void act(void)
{
	struct auc_exec_action actions[ACTIONS];
	unsigned n = auc_exec_actions(&w.x, &w.rules, w.now, actions, ACTIONS);

	assert_true(!n || w.booked == w.disk);
	for (unsigned i = 0; i < n; i++) {
		unsigned p = actions[i].part;
		uint32_t id = w.x.jobs[w.parts[p].lead ? 0 : p].id;
		struct world_job *j = id ? &w.jobs[id - 1] : NULL;
		enum auc_code rc = AUC_OK;

		/* Some calls fail, and some that fail have been carried out. */
		if (!w.calm && !below(20)) {
			rc = below(4) ? AUC_EIO : AUC_EFULL;
			if (actions[i].ask != AUC_ASK_SUBMIT && below(2))
				rc = AUC_OK;
		}
		if (rc == AUC_OK)
			switch (actions[i].ask) {
			case AUC_ASK_SUBMIT:
				assert_false(w.parts[p].lead);
				id = world_submit(&w.parts[p], false)->id;
				break;
			case AUC_ASK_NUDGE:
				assert_true(w.now >= w.parts[p].start);
				if (j->is == AUC_SEEN_PENDING)
					j->begin = w.now;
				break;
			case AUC_ASK_MOVE:
				if (j->is != AUC_SEEN_RUNNING)
					break;
				j->is = AUC_SEEN_PENDING;
				j->completing = w.now + 0.6;
				w.moves++;
				if (!w.calm && !below(10))
					break; /* Slurm was asked the first half only */
					       /* fall through */
			case AUC_ASK_PLACE:
				if (j->is != AUC_SEEN_PENDING)
					break;
				j->part = w.parts[p];
				j->begin = w.parts[p].start;
				break;
			case AUC_ASK_NOTICE:
				w.notices++;
				break;
			case AUC_ASK_LIMIT:
			case AUC_ASK_WARN:
				break;
			case AUC_ASK_KILL:
				end_job(j, "cancelled");
				break;
			}
		auc_exec_did(&w.x, &actions[i], rc, rc == AUC_OK ? id : 0, &w.rules, w.now);
	}
}

/* Slurm's requeue comes with a begin time of its own, when the job is out of the way. */
static void requeue_rule(void)
{
	for (unsigned i = 0; i < w.njobs; i++)
		if (w.jobs[i].completing && w.jobs[i].completing <= w.now) {
			w.jobs[i].completing = 0;
			w.jobs[i].begin = w.now + 6;
		}
}

/* Never two jobs on one node, never a job outside of what was bought while somebody looks. */
static void check(void)
{
	const struct world_job *on[SERVERS] = {NULL};

	assert_true(w.charged <= 1 && w.settled <= w.charged);
	for (unsigned i = 0; i < w.njobs; i++) {
		const struct world_job *j = &w.jobs[i];
		bool bought = false;

		if (j->is != AUC_SEEN_RUNNING)
			continue;
		assert_null(on[server_of(j)]);
		on[server_of(j)] = j;
		/* Slurm starts what pends, and ends nothing, while the controller is away. */
		if (w.now < w.away + 1.5)
			continue;
		for (unsigned p = 0; p < w.nparts; p++)
			bought |=
				!strcmp(w.parts[p].server, j->part.server) &&
				w.parts[p].workers == j->part.workers &&
				w.now < w.parts[p].end + 2 * TICK &&
				(w.now >= w.parts[p].start || (j->began > w.parts[p].start - SLOT &&
							       j->began < w.parts[p].start));
		if (!bought)
			fail_msg("at %g job %u runs on %s, which it did not buy", w.now, j->id,
				 j->part.server);
	}
}

static void live(uint64_t number)
{
	memset(&w, 0, sizeof(w));
	seed = number;
	w.rules = rules;
	w.market = make_market();
	random_parts();
	for (unsigned i = 0; i < w.nparts; i++)
		w.end = w.parts[i].end > w.end ? w.parts[i].end : w.end;
	to_disk();
	forget();
	world_submit(&w.parts[0], true);
	for (w.now = below(20); w.now < w.end + 40; w.now += TICK) {
		w.calm = w.now > w.end + 10;
		requeue_rule();
		world_moves();
		if (!w.calm && !below(300))
			crash();
		if (w.now < w.back || (!w.calm && !below(30))) {
			w.away = w.now;
			continue;
		}
		/* The clock is set, by some seconds. */
		if (!w.calm && !below(500)) {
			w.now += below(12);
			w.away = w.now;
		}
		w.x.booked = w.booked;
		look();
		book();
		w.x.booked = w.booked;
		/* Now and then the disk does not take it. */
		if (w.calm || below(20)) {
			to_disk();
		} else {
			w.away = w.now;
		}
		act();
		check();
	}
	assert_int_equal(w.booked, AUC_SALE_SETTLED);
	assert_int_equal(w.disk, AUC_SALE_SETTLED);
	assert_int_equal(w.x.state, AUC_EXEC_SETTLED);
	assert_int_equal(w.charged, 1);
	assert_int_equal(w.settled, 1);
	for (unsigned i = 0; i < w.njobs; i++)
		assert_int_equal(w.jobs[i].is, AUC_SEEN_ENDED);
	auc_exec_clear(&w.x);
	free(w.parts);
	free(w.disk_parts);
	auc_market_destroy(w.market);
}

static void test_worlds(void **state)
{
	const char *text = getenv("AUC_TEST_WORLDS");
	unsigned n = text ? (unsigned)atoi(text) : 300, notices = 0, moves = 0, changes = 0;
	unsigned later = 0;

	(void)state;
	for (unsigned i = 1; i <= n; i++) {
		seed = i;
		live(i);
		notices += w.notices;
		moves += w.moves;
		changes += w.changes;
		later += w.put_off;
	}
	/* Otherwise nothing was tested. */
	assert_true(notices > n / 4 && moves > n / 8 && changes > n / 20 && later > n / 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),       cmocka_unit_test(test_single_steps),
		cmocka_unit_test(test_refused),     cmocka_unit_test(test_late),
		cmocka_unit_test(test_uncommitted), cmocka_unit_test(test_worlds),
		cmocka_unit_test(test_missed),      cmocka_unit_test(test_put_off),
		cmocka_unit_test(test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
