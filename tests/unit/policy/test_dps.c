/* test_dps.c - policy dps on cases worked out by hand, and on hostile ones (policy/policy.h) */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policy.h"
#include "policy/registry.h"

struct fixture {
	struct auc_market *m;
	struct auc_policy_ctx *ctx;
	struct auc_decision d;
	struct auc_job job;
	unsigned upload[3];
};

/*
 * Three servers of 2 GPUs and 6 CPUs; a worker is 1 GPU + 1 CPU with 100 Mbit/s, a PS 1 CPU with
 * 200; slots 1..10 of 100 s. The job has 400 batches of 1 s, 4 worker-slots: 4 workers x 1 slot, 2
 * x 2, 1 x 4 (3 need 2 slots as 2 do).
 */
static int set_up(void **state)
{
	static const struct auc_named capacity[] = {{"gpu", 2}, {"cpu", 6}},
				      worker[] = {{"gpu", 1}, {"cpu", 1}}, ps[] = {{"cpu", 1}};
	static const struct auc_price price = {.neta = 1, .eta = {{"gpu", 9}}};
	static struct fixture f;
	unsigned i;

	memset(&f, 0, sizeof(f));
	f.m = auc_market_create(10, 100, 1);
	auc_market_add_server(f.m, "a", "edge", false, 3, 0, capacity, 2, NULL);
	auc_market_add_server(f.m, "b", "edge", false, 3, 0, capacity, 2, NULL);
	auc_market_add_server(f.m, "c", "edge", false, 3, 0, capacity, 2, NULL);
	auc_market_add_worker_type(f.m, "w", worker, 2, 100, NULL);
	auc_market_add_ps_type(f.m, "p", ps, 1, 200, NULL);
	assert_int_equal(auc_market_ready(f.m, &price, NULL), AUC_OK);
	assert_int_equal(auc_policy_dps.create("", &f.ctx, NULL), AUC_OK);
	auc_decision_init(&f.d);
	for (i = 0; i < AUC_TYPES_MAX; i++)
		f.job.worker_seconds[i] = f.job.ps_seconds[i] = -1;
	f.job.worker_seconds[0] = 1;
	f.job.ps_seconds[0] = 0;
	f.job.arrival = 1;
	f.job.epochs = 1;
	f.job.chunks = 4;
	f.job.minibatches = 100;
	f.job.utility = (struct auc_utility){.form = AUC_FORM_LINEAR, .scale = 100, .decay = 10};
	f.job.upload = f.upload;
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	auc_policy_dps.destroy(f->ctx);
	auc_decision_clear(&f->d);
	auc_market_destroy(f->m);
	return 0;
}

static void quote(struct fixture *f)
{
	assert_int_equal(auc_policy_dps.quote(f->ctx, f->m, &f->job, &f->d, NULL), AUC_OK);
}

/* Nothing costs: 4 workers in slot 1 on two servers, one with the PS for the 2 on the other. */
static void test_free_market(void **state)
{
	struct fixture *f = *state;

	quote(f);
	assert_true(f->d.accepted);
	assert_int_equal(f->d.reason, AUC_REASON_NONE);
	assert_true(f->d.best_payoff == 90 && f->d.plan.cost == 0 && f->d.plan.value == 90);
	assert_false(f->d.plan.colocated);
	assert_int_equal(f->d.plan.start, 1);
	assert_int_equal(f->d.plan.completion, 2);
	assert_int_equal(f->d.plan.nshares, 2);
	assert_int_equal(f->d.plan.shares[0].server, 0);
	assert_int_equal(f->d.plan.shares[0].workers, 2);
	assert_int_equal(f->d.plan.shares[0].ps, 1);
	assert_int_equal(f->d.plan.shares[1].server, 1);
	assert_int_equal(f->d.plan.shares[1].workers, 2);
}

/* Half of a's and b's GPUs sold in slot 1 (price 2 each): c and one worker each on a and b cost 4,
 * two slots on c nothing but 10 of value. */
static void test_prices(void **state)
{
	struct fixture *f = *state;

	auc_market_reserve(f->m, 0, 0, 1, 1, 1, NULL);
	auc_market_reserve(f->m, 1, 0, 1, 1, 1, NULL);
	quote(f);
	assert_true(f->d.plan.cost == 4 && f->d.best_payoff == 86);
	assert_int_equal(f->d.plan.nshares, 3);
	f->job.utility.decay = 2;
	quote(f);
	assert_true(f->d.plan.cost == 0 && f->d.best_payoff == 96);
	assert_true(f->d.plan.colocated);
	assert_int_equal(f->d.plan.shares[0].server, 2);
	assert_int_equal(f->d.plan.completion, 3);
}

static void test_refusals(void **state)
{
	struct fixture *f = *state;
	unsigned s;

	for (s = 0; s < 3; s++)
		auc_market_reserve(f->m, s, 0, 1, 10, 1, NULL);
	f->job.utility = (struct auc_utility){.form = AUC_FORM_CONSTANT, .scale = 7};
	quote(f);
	assert_false(f->d.accepted);
	assert_int_equal(f->d.reason, AUC_REASON_PAYOFF);
	assert_true(f->d.plan.cost == 8 && f->d.best_payoff == -1);
	assert_int_equal(f->d.plan.completion, 3); /* 2 x 2: the earliest of those that cost 8 */
	f->job.utility.scale = 8;
	quote(f);
	assert_false(f->d.accepted); /* payoff 0 is not positive */
	assert_true(f->d.best_payoff == 0);
	for (s = 0; s < 3; s++) {
		auc_market_reserve(f->m, s, 1, 3, 3, 6, NULL);
		auc_market_reserve(f->m, s, 1, 8, 8, 5.5, NULL);
	}
	f->job.minibatches = 200;
	f->job.chunks = 1;
	quote(f); /* 2 slots for one worker still fit before, between and after */
	assert_true(f->d.accepted && f->d.plan.cost == 4);
	f->job.minibatches = 500;
	quote(f);
	assert_int_equal(f->d.reason, AUC_REASON_CAPACITY);
	assert_int_equal(f->d.plan.nshares, 0);
}

static void test_upload(void **state)
{
	struct fixture *f = *state;

	f->upload[0] = 3;
	f->upload[1] = 2;
	f->upload[2] = UINT32_MAX;
	f->job.chunks = 2;
	f->job.minibatches = 100;
	quote(f); /* 2 workers x 1 slot on b, the first that has the data, in slot 3 */
	assert_int_equal(f->d.plan.start, 3);
	assert_int_equal(f->d.plan.shares[0].server, 1);
	f->job.arrival = 9;
	quote(f);
	assert_int_equal(f->d.reason, AUC_REASON_CAPACITY);
}

static void test_hostile(void **state)
{
	struct fixture *f = *state;

	f->job.epochs = f->job.chunks = f->job.minibatches = AUC_WORK_MAX;
	f->job.worker_seconds[0] = 1e10;
	f->job.gradient_mb = 1e15;
	quote(f);
	assert_int_equal(f->d.reason, AUC_REASON_CAPACITY);
	f->job.epochs = f->job.minibatches = 1;
	f->job.worker_seconds[0] = 1e-9;
	f->job.gradient_mb = 0;
	quote(f);
	assert_true(f->d.accepted);
	f->job.arrival = 11;
	quote(f);
	assert_int_equal(f->d.reason, AUC_REASON_CAPACITY);
	f->job.arrival = INT64_MAX;
	quote(f);
	assert_int_equal(f->d.reason, AUC_REASON_CAPACITY);
	f->job.arrival = INT64_MIN / 4;
	f->job.utility.form = AUC_FORM_CONSTANT;
	quote(f);
	assert_true(f->d.accepted && f->d.plan.start == 1);
	f->job.worker_seconds[0] = -1;
	quote(f);
	assert_int_equal(f->d.reason, AUC_REASON_CAPACITY);
}

static void test_options(void **state)
{
	struct auc_policy_ctx *ctx;
	struct auc_err err;

	(void)state;
	assert_ptr_equal(auc_policy_find("dps"), &auc_policy_dps);
	assert_null(auc_policy_find("dp"));
	assert_string_equal(auc_reason_word(AUC_REASON_CAPACITY), "capacity");
	assert_int_equal(auc_policy_dps.create("variant=best", &ctx, &err), AUC_EINVAL);
	assert_string_equal(err.text, "Policy=dps: 'variant=best' is no option, expected "
				      "variant=exact or bounds=on|off");
	assert_null(ctx);
	assert_int_equal(auc_policy_dps.create("bounds=off,variant=exact", &ctx, NULL), AUC_OK);
	auc_policy_dps.destroy(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_free_market, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_prices, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_upload, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile, set_up, tear_down),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests_name("dps", tests, NULL, NULL);
}
