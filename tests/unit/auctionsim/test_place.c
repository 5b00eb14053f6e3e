/* test_place.c - the baselines fifo and drf: readings, shares, what never runs
 * (policy/baseline.h) */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policy.h"
#include "auctionsim/baseline/registry.h"

/* Six workers on two servers; a slot does one worker's mini-batch. */
static struct auc_market *make_market(void)
{
	static const struct auc_named small[] = {{"gpu", 2}, {"cpu", 4}},
				      large[] = {{"gpu", 4}, {"cpu", 8}};
	static const struct auc_named fast[] = {{"gpu", 1}}, ps[] = {{"cpu", 1}};
	static const struct auc_price none;
	struct auc_market *m = auc_market_create(10, 10, 1);

	auc_market_add_server(m, "s", "edge", false, 3, 0, small, 2, NULL);
	auc_market_add_server(m, "l", "edge", false, 3, 0, large, 2, NULL);
	auc_market_add_worker_type(m, "w", fast, 1, 100, NULL);
	auc_market_add_worker_type(m, "v", fast, 1, 100, NULL);
	auc_market_add_ps_type(m, "p", ps, 1, 200, NULL);
	assert_int_equal(auc_market_ready(m, &none, NULL), AUC_OK);
	return m;
}

/* CHUNKS workers run for SLOTS slots on type v, which is the faster one. */
static struct auc_job make_job(auc_slot arrival, unsigned chunks, unsigned slots, unsigned *upload)
{
	struct auc_job job = {.arrival = arrival,
			      .utility = {.form = AUC_FORM_CONSTANT, .scale = 5},
			      .epochs = slots,
			      .chunks = chunks,
			      .minibatches = 1,
			      .upload = upload,
			      .upload_alloc = 2};
	unsigned i;

	for (i = 0; i < AUC_TYPES_MAX; i++)
		job.worker_seconds[i] = job.ps_seconds[i] = -1;
	job.worker_seconds[0] = 11;
	job.worker_seconds[1] = 10;
	job.ps_seconds[0] = 0;
	return job;
}

struct run {
	struct auc_market *m;
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
	struct auc_decision d;
	unsigned upload[2];
};

static void start(struct run *r, const char *policy, const char *options)
{
	struct auc_err err = {.text = ""};

	memset(r, 0, sizeof(*r));
	r->m = make_market();
	r->policy = sim_policy_of(policy);
	assert_true(r->policy && r->policy->baseline);
	if (r->policy->create(options, &r->ctx, &err) != AUC_OK)
		fail_msg("%s", err.text);
	auc_decision_init(&r->d);
}

static void end_run(struct run *r)
{
	r->policy->destroy(r->ctx);
	auc_decision_clear(&r->d);
	auc_market_destroy(r->m);
}

/* Start of the job, 0: admitted and never started, -1: refused. */
static int run_job(struct run *r, const struct auc_job *job)
{
	assert_int_equal(r->policy->quote(r->ctx, r->m, job, &r->d, NULL), AUC_OK);
	if (!r->d.accepted)
		return -1;
	assert_int_equal(auc_market_book(r->m, &r->d.plan, 1, 10, NULL), AUC_OK);
	r->policy->booked(r->ctx, r->m, job, &r->d);
	return r->d.plan.nruns ? (int)r->d.plan.start : 0;
}

static unsigned workers_of(const struct auc_plan *plan)
{
	unsigned i, n = 0;

	for (i = 0; i < plan->nshares; i++)
		n += plan->shares[i].workers;
	return n;
}

static void test_readings(void **state)
{
	static const struct {
		const char *options;
		int third;
	} readings[] = {{"", 4}, {"reading=blocking", 4}, {"reading=reserving", 1}};
	struct auc_job job;
	struct run r;
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		start(&r, "fifo", readings[i].options);
		job = make_job(1, 4, 3, r.upload);
		assert_int_equal(run_job(&r, &job), 1);
		assert_true(r.d.plan.colocated && r.d.plan.shares[0].server == 1);
		assert_int_equal(r.d.plan.worker_type, 1); /* the least k */
		assert_int_equal(r.d.plan.completion, 4);
		job = make_job(1, 5, 2, r.upload); /* has to wait for the first */
		assert_int_equal(run_job(&r, &job), 4);
		assert_true(!r.d.plan.colocated && r.d.plan.nshares == 2);
		assert_int_equal(workers_of(&r.d.plan), 5);
		job = make_job(1, 1, 1, r.upload); /* would fit beside the first */
		assert_int_equal(run_job(&r, &job), readings[i].third);
		end_run(&r);
	}
}

static void test_never(void **state)
{
	struct auc_job job;
	struct run r;

	(void)state;
	start(&r, "fifo", "");
	job = make_job(1, 7, 1, r.upload); /* more than there are */
	assert_int_equal(run_job(&r, &job), -1);
	assert_int_equal(r.d.reason, AUC_REASON_CAPACITY);
	job = make_job(5, 2, 7, r.upload); /* too long for what is left */
	assert_int_equal(run_job(&r, &job), 0);
	assert_true(r.d.accepted);
	job = make_job(1, 2, 1, r.upload); /* nobody waits for one that never starts */
	assert_int_equal(run_job(&r, &job), 1);
	r.upload[0] = r.upload[1] = 4;
	job = make_job(2, 2, 1, r.upload);
	assert_int_equal(run_job(&r, &job), 6);
	end_run(&r);
}

static void test_counts(void **state)
{
	struct auc_job job;
	struct run r;

	(void)state;
	start(&r, "fifo", "");
	job = make_job(1, 6, 1, r.upload);
	job.workers = 3; /* what the owner asks for */
	job.ps = 2;
	assert_int_equal(run_job(&r, &job), 1);
	assert_int_equal(workers_of(&r.d.plan), 3);
	assert_int_equal(r.d.plan.shares[0].ps, 2);
	assert_int_equal(r.d.plan.completion - r.d.plan.start, 2); /* six worker-slots */
	end_run(&r);
}

static void test_shares(void **state)
{
	static const struct {
		const char *options;
		unsigned workers[4];
	} readings[] = {{"history=granted", {2, 2, 2, 1}}, {"history=asked", {2, 2, 3, 1}}};
	static const unsigned chunks[] = {2, 3, 9, 1};
	struct auc_job job;
	struct run r;
	unsigned i, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		start(&r, "drf", readings[i].options);
		for (k = 0; k < 4; k++) {
			job = make_job(1, chunks[k], 1, r.upload);
			assert_true(run_job(&r, &job) > 0);
			assert_int_equal(workers_of(&r.d.plan), readings[i].workers[k]);
		}
		end_run(&r);
	}
}

static void test_options(void **state)
{
	static const char *const bad[][2] = {{"fifo", "reading=both"},
					     {"fifo", "x"},
					     {"drf", "history="},
					     {"drf", "reading=blocking,"
						     "y=1"},
					     {"unpriced", "reading=blocking"}};
	struct auc_policy_ctx *ctx;
	struct auc_err err;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(sim_policy_of(bad[i][0])->create(bad[i][1], &ctx, &err),
				 AUC_EINVAL);
		assert_null(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readings), cmocka_unit_test(test_never),
		cmocka_unit_test(test_counts),   cmocka_unit_test(test_shares),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
