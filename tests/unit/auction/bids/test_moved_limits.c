/* test_moved_limits.c - sales that get another plan keep to Slurm's limits on jobs and TRES. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/auction-private.h"
#include "unit/support/world.h"

/* Two slots from slot 1001 on, of one node; and of workers that no node of the edge has twice. */
#define OF     " qos=normal accounts=lab,root"
#define GANG   "linear:300,20 gang=1:600:gpu:v100=1,cpu=2 requeue=yes" OF
#define WORKER "linear:300,20 epochs=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0" OF

static struct auc_err err;

/* What holds for all; NULL: nothing does. */
static struct auc_caps *held;

static enum auc_code caps_of(void *arg, uint32_t uid, const char *account, const char *qos,
			     struct auc_caps **caps, struct auc_err *e)
{
	(void)arg;
	(void)uid;
	(void)e;
	assert_string_equal(account, "lab");
	assert_string_equal(qos, "normal");
	*caps = NULL;
	if (held) {
		*caps = malloc(sizeof(**caps));
		assert_non_null(*caps);
		**caps = *held;
	}
	return AUC_OK;
}

/* One on jobs at a time. */
static struct auc_caps jobs = {.n = 1,
			       .cap = {{.kind = AUC_CAP_AT_ONCE,
					.text = "GrpJobs of account lab is 1",
					.tres = "job",
					.amount = 1,
					.account = "lab"}}};

static int open_world(void **state)
{
	static char dir[64];

	world_mkdir(dir);
	*state = world_open("Prices=given\nEta=gpu:v100=2,gpu:t4=1\nSlots=60", dir, NOW);
	auc_auction_set_caps(*state, caps_of, NULL);
	held = NULL;
	return 0;
}

static int close_world(void **state)
{
	auc_auction_destroy(*state);
	return 0;
}

/* TEXT is sold to JOB by the limits that hold; when it begins. */
static auc_slot sell(struct auc_auction *a, const char *text, uint32_t job)
{
	struct auc_bid bid = world_bid(a, text);
	struct auc_offer o;
	auc_slot start;

	bid.caps = held;
	assert_int_equal(auc_auction_bid(a, &bid, 1000 + job, NOW, true, &o, &err), AUC_OK);
	if (!o.accepted)
		fail_msg("%s", o.message);
	start = (auc_slot)(o.start / SLOT);
	assert_int_equal(auc_auction_confirm(a, o.sale, job, NULL, &err), AUC_OK);
	auc_offer_clear(&o);
	return start;
}

/* JOB has slots FROM to END - 1. */
static void has(struct auc_auction *a, uint32_t job, auc_slot from, auc_slot end)
{
	const struct auc_plan *p = &auc_ledger_find_job(a->ledger, job)->plan;

	if (p->start != from || p->completion != end)
		fail_msg("job %u: slots %lld to %lld", job, (long long)p->start,
			 (long long)p->completion - 1);
}

static enum auc_code put_off(struct auc_auction *a, uint32_t job, auc_slot from, auc_slot until)
{
	return auc_auction_put_off(a, job, (double)from * SLOT, (double)until * SLOT, NULL, &err);
}

/* What is put off comes when no other job of the account has what they may have together. */
static void test_put_off(void **state)
{
	struct auc_auction *a = *state;

	held = &jobs;
	assert_int_equal(sell(a, GANG, 1), 1001);
	assert_int_equal(sell(a, GANG, 2), 1003);
	assert_int_equal(sell(a, WORKER, 3), 1005);
	/* One slot is missed: not on top of job 2, so it is lost. */
	assert_int_equal(put_off(a, 1, 1001, 1002), AUC_OK);
	has(a, 1, 1002, 1003);
	/* And all of it. */
	assert_int_equal(put_off(a, 1, 1002, 1003), AUC_OK);
	has(a, 1, 1007, 1008);
	assert_int_equal(put_off(a, 3, 1005, 1007), AUC_OK);
	has(a, 3, 1008, 1010);
	/* What is not of the account does not count. */
	assert_int_equal(sell(a, "linear:300,20 gang=1:600:gpu:v100=1,cpu=2", 4), 1001);
	assert_int_equal(put_off(a, 4, 1001, 1003), AUC_OK);
	has(a, 4, 1003, 1005);
	/* Without the limit there is room at once. */
	held = NULL;
	assert_int_equal(put_off(a, 3, 1008, 1009), AUC_OK);
	has(a, 3, 1009, 1011);
	assert_int_equal(put_off(a, 2, 1003, 1006), AUC_OK);
	has(a, 2, 1006, 1008);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
}

/* A late job buys neither where it is nor elsewhere what would keep another from starting. */
static void test_extend(void **state)
{
	struct auc_auction *a = *state;

	held = &jobs;
	sell(a, GANG " overrun=extend", 1);
	assert_int_equal(sell(a, GANG, 2), 1003);
	assert_int_equal(auc_auction_start(a, 1, 1001 * SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_extend(a, 1, NULL, &err), AUC_EFULL);
	assert_non_null(strstr(err.text, "GrpJobs of account lab is 1 at once"));
	assert_int_equal(auc_auction_go_on(a, 1, NULL, &err), AUC_OK);
	has(a, 1, 1001, 1006);
	assert_int_equal(auc_ledger_find_job(a->ledger, 1)->plan.runs[1].from, 1005);
	assert_int_equal(auc_auction_settle(a, 2, "cancelled", NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_extend(a, 1, NULL, &err), AUC_OK);
	/* It may have been more than is allowed now, but not get more. */
	held = NULL;
	assert_int_equal(sell(a, GANG " overrun=extend", 3), 1001);
	held = &jobs;
	assert_int_equal(auc_auction_start(a, 3, 1001 * SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_extend(a, 3, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_extend(a, 3, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_extend(a, 3, NULL, &err), AUC_EFULL);
}

/* Another node is as good; the same on two nodes would be one job too many. */
static void test_move(void **state)
{
	static const char two[] =
		"linear:300,20 epochs=2 chunks=2 minibatches=100 worker-time=v100=3s "
		"ps-time=ps.m=0" OF;
	struct auc_auction *a = *state;
	const struct auc_plan *p;
	const char *server;

	held = &jobs;
	assert_int_equal(sell(a, two, 1), 1001);
	p = &auc_ledger_find_job(a->ledger, 1)->plan;
	assert_int_equal(p->nshares, 1);
	server = auc_market_server_name(a->market, p->shares[0].server);
	assert_int_equal(auc_auction_move(a, 1, server, NOW, NULL, &err), AUC_OK);
	has(a, 1, 1001, 1003);
	held = NULL;
	/* One GPU is left of each node but those of job 1 from slot 1001 to 1003, two after that.
	 */
	for (uint32_t job = 2; job < 5; job++)
		sell(a, GANG " except=edge5", job);
	held = &jobs;
	for (uint32_t job = 2; job < 5; job++) {
		const struct auc_plan *other = &auc_ledger_find_job(a->ledger, job)->plan;

		assert_true(other->start == 1001);
	}
	server = auc_market_server_name(a->market, p->shares[0].server);
	assert_int_equal(auc_auction_move(a, 1, server, NOW, NULL, &err), AUC_OK);
	has(a, 1, 1003, 1005);
	assert_int_equal(p->nshares, 1);
}

/* -- all that is sold, however it changes -- */

static struct auc_caps sums = {
	.n = 4,
	.cap = {{.kind = AUC_CAP_AT_ONCE, .text = "jobs", .tres = "job", .amount = 5},
		{.kind = AUC_CAP_AT_ONCE, .text = "gpus", .tres = "gpu", .amount = 6},
		{.kind = AUC_CAP_AHEAD, .text = "ahead", .tres = "cpu", .amount = 240},
		{.kind = AUC_CAP_TOTAL, .text = "total", .tres = "cpu", .amount = 2000}}};

static double amount(const struct auc_part *p, const char *tres)
{
	for (unsigned k = 0; k < p->ntres; k++)
		if (!strcmp(p->tres[k].name, tres))
			return p->tres[k].value * (p->nnodes ? p->nnodes : 1);
	return 0;
}

/* As Slurm counts them whenever a job starts: jobs, GPUs, CPUs times minutes ahead; and in all. */
static void check_sums(struct auc_auction *a)
{
	static struct auc_part parts[1024];
	struct auc_sale_view *views, v;
	unsigned nviews, n = 0;
	double total = 0;

	assert_int_equal(auc_auction_sales(a, &views, &nviews, &err), AUC_OK);
	for (unsigned i = 0; i < nviews; i++) {
		assert_int_equal(auc_auction_sale(a, views[i].sale, &v, &err), AUC_OK);
		for (unsigned k = 0; k < v.nparts; k++) {
			assert_true(n < sizeof(parts) / sizeof(*parts));
			parts[n++] = v.parts[k];
		}
		auc_sale_view_clear(&v);
		auc_sale_view_clear(&views[i]);
	}
	free(views);
	for (unsigned i = 0; i < n; i++) {
		const struct auc_part *now = &parts[i];
		double njobs = 0, gpus = 0, ahead = 0;

		for (unsigned k = 0; k < n; k++) {
			const struct auc_part *p = &parts[k];

			if (p->start > now->start || p->end <= now->start)
				continue;
			njobs++;
			gpus += amount(p, "gpu:v100") + amount(p, "gpu:t4");
			ahead += amount(p, "cpu") * (p->end - now->start) / 60;
		}
		total += amount(now, "cpu") * (now->end - now->start) / 60;
		assert_true(njobs <= sums.cap[0].amount);
		assert_true(gpus <= sums.cap[1].amount);
		assert_true(ahead <= sums.cap[2].amount + 1e-6);
	}
	assert_true(total <= sums.cap[3].amount + 1e-6);
}

/* A random bid; true if it was sold. */
static bool bid(struct auc_auction *a, uint32_t job)
{
	struct auc_bid made;
	struct auc_offer o;
	char text[256];
	bool sold;

	if (random() % 2)
		snprintf(text, sizeof(text),
			 "linear:%ld,20 gang=%ld:%ld:gpu:v100=%ld,cpu=%ld overrun=extend "
			 "requeue=yes" OF,
			 200 + random() % 400, 1 + random() % 2, 300 * (1 + random() % 4),
			 1 + random() % 2, 1 + random() % 4);
	else
		snprintf(text, sizeof(text),
			 "linear:%ld,20 epochs=%ld chunks=%ld minibatches=100 overrun=extend "
			 "requeue=yes worker-time=v100=3s,t4=3s ps-time=ps.m=0" OF,
			 200 + random() % 400, 1 + random() % 4, 1 + random() % 4);
	made = world_bid(a, text);
	made.caps = held;
	if (auc_auction_bid(a, &made, 1000 + job, NOW, true, &o, &err) != AUC_OK)
		return false;
	sold = o.accepted;
	if (sold)
		assert_int_equal(auc_auction_confirm(a, o.sale, job, NULL, &err), AUC_OK);
	auc_offer_clear(&o);
	return sold;
}

/* A sale gets another plan, of any kind; KIND, what became of it. */
static enum auc_code change(struct auc_auction *a, uint32_t job, unsigned *kind)
{
	const struct auc_sale *s = auc_ledger_find_job(a->ledger, job);
	const struct auc_plan *p = &s->plan;
	auc_slot from = p->start + random() % (p->completion - p->start);
	const struct auc_run *r = p->runs;

	while (r->to < from)
		r++;
	*kind = (unsigned)random() % 4;
	switch (*kind) {
	case 0:
		return put_off(a, job, from, from + 1 + random() % 3);
	case 1:
		return auc_auction_move(
			a, job, auc_market_server_name(a->market, p->shares[r->first_share].server),
			(double)from * SLOT, NULL, &err);
	default:
		if (s->state != AUC_SALE_RUNNING)
			assert_int_equal(
				auc_auction_start(a, job, (double)p->start * SLOT, NULL, &err),
				AUC_OK);
		return *kind == 2 ? auc_auction_extend(a, job, NULL, &err)
				  : auc_auction_go_on(a, job, NULL, &err);
	}
}

/* Random bids, and what is sold is put off, moved and prolonged: all limits are kept. */
static void test_sums(void **state)
{
	unsigned done[4] = {0}, refused = 0, sold = 0, kind;

	for (unsigned seed = 0; seed < 12; seed++) {
		struct auc_auction *a;
		uint32_t job = 0;

		srandom(seed);
		if (seed) {
			close_world(state);
			open_world(state);
		}
		a = *state;
		held = &sums;
		for (unsigned i = 0; i < 80; i++) {
			if (!job || random() % 4 == 0) {
				job += bid(a, job + 1);
			} else {
				enum auc_code rc = change(a, 1 + (uint32_t)random() % job, &kind);

				if (rc != AUC_OK && rc != AUC_EFULL && rc != AUC_ESTATE)
					fail_msg("%s", err.text);
				++*(rc == AUC_OK ? &done[kind] : &refused);
			}
			check_sums(a);
		}
		sold += job;
		assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
		assert_true(auc_market_sound(a->market));
	}
	print_message("%u sold; %u put off, %u moved, %u prolonged there, %u elsewhere; %u not\n",
		      sold, done[0], done[1], done[2], done[3], refused);
	/* It says something of each. */
	for (unsigned k = 0; k < 4; k++)
		assert_true(done[k] >= 10);
	assert_true(refused >= 20);
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_put_off),
		WORLD_TEST(test_extend),
		WORLD_TEST(test_move),
		WORLD_TEST(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
