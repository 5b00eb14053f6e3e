/* test_time_range.c - for how long a job is planned whose user says how long it takes at most. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "market/timeline.h"
#include "policy/time_range.h"

#define SLOT 100.0

static struct auc_err err;

static void test_factors(void **state)
{
	double factors[AUC_RANGE_PLANS];

	(void)state;
	assert_int_equal(auc_range_factors(1, factors), 1);
	assert_true(factors[0] == 1);
	assert_int_equal(auc_range_factors(2, factors), AUC_RANGE_PLANS);
	assert_true(factors[0] == 1 && factors[AUC_RANGE_PLANS - 1] == 2);
	for (unsigned i = 1; i < AUC_RANGE_PLANS; i++)
		assert_true(factors[i] > factors[i - 1]);
}

/* A gang that takes a slot as a rule and two at most, worth 10 until DEADLINE; its plan of SLOTS
 * costs COST. */
static double payoff(const struct auc_time_range *range, double factor, unsigned slots,
		     double deadline, double cost)
{
	static const struct auc_named capacity = {"gpu", 1};
	static const struct auc_price price = {.neta = 0};
	struct auc_market *m = auc_market_create(8, SLOT, 1);
	struct auc_job job = {.arrival = 1};
	struct auc_plan plan;
	double sum;

	assert_non_null(m);
	assert_int_equal(auc_market_add_server(m, "n", "", false, 3, 0, &capacity, 1, &err),
			 AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	job.utility.form = AUC_FORM_DEADLINE;
	job.utility.scale = 10;
	job.utility.target = deadline;
	assert_int_equal(auc_job_add_shape(m, &job, &capacity, 1, 1, SLOT, &err), AUC_OK);
	auc_job_stretch(&job, factor);
	auc_plan_init(&plan);
	plan.gang = true;
	plan.start = 1;
	plan.completion = 1 + slots;
	plan.cost = cost;
	assert_int_equal(auc_plan_add_run(&plan, 1, slots, &err), AUC_OK);
	assert_int_equal(auc_plan_add_share(&plan, 0, 1, 0, &err), AUC_OK);
	sum = auc_range_payoff(range, factor, m, &job, &plan);
	auc_plan_clear(&plan);
	auc_job_clear(&job);
	auc_market_destroy(m);
	return sum;
}

static void test_payoff(void **state)
{
	struct auc_time_range range = {.most = 2, .refunds = true};
	double longest, shortest;

	(void)state;
	/* Half are done in the slot that is stated; the others are worth nothing then. */
	shortest = payoff(&range, 1, 1, 9, 0);
	assert_true(fabs(shortest - 5) < 1e-9);
	/* All are done in two, and pay for what they use: less than all on the mean. */
	longest = payoff(&range, 2, 2, 9, 0);
	assert_true(fabs(longest - 10) < 1e-9);
	longest = payoff(&range, 2, 2, 9, 4);
	assert_true(longest > 10 - 4 && longest < 10);
	range.refunds = false;
	assert_true(fabs(payoff(&range, 2, 2, 9, 4) - 6) < 1e-9);
	/* What goes on has every other slot, and pays for it. */
	range.extends = range.refunds = true;
	assert_true(fabs(payoff(&range, 1, 1, 9, 0) - 7.5) < 1e-9);
	assert_true(payoff(&range, 1, 1, 9, 2) < payoff(&range, 1, 1, 9, 0) - 1);
	/* After the deadline nothing is worth anything, however long the plan. */
	assert_true(fabs(payoff(&range, 2, 2, 1, 0) - 5) < 1e-9);
	/* Without doubt about the time it is the payoff of the plan. */
	range.most = 1;
	assert_true(fabs(payoff(&range, 1, 1, 9, 3) - 7) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_factors),
		cmocka_unit_test(test_payoff),
	};

	return cmocka_run_group_tests_name("time_range", tests, NULL, NULL);
}
