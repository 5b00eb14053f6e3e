/* time_range.c - see time_range.h. */
#include "config.h"

#include <math.h>

#include "base/num.h"
#include "market/timeline.h"
#include "policy/time_range.h"

#define Z_MOST 1.6448536269514722 /* of the quantile 0.95 */
#define POINTS 20
#define STAYS  0.5 /* a slot behind the plan is not bought by anybody else */

/* Quantiles of the normal distribution for which plans are made: 0.5, 0.75, 0.9 and 0.95. */
static const double plan_z[AUC_RANGE_PLANS] = {0, 0.6744897501960817, 1.2815515655446004, Z_MOST};
/* Quantiles 0.525, 0.575, ..., 0.975; those below a half are the same with the other sign. */
static const double upper_z[POINTS / 2] = {0.0627067779, 0.1891184263, 0.3186393640, 0.4537621902,
					   0.5977601260, 0.7554150264, 0.9345892911, 1.1503493804,
					   1.4395314709, 1.9599639845};

static double factor_of(double most, double z)
{
	return fmin(pow(most, z / Z_MOST), most);
}

unsigned auc_range_factors(double most, double factors[AUC_RANGE_PLANS])
{
	unsigned n = 0;

	for (unsigned i = 0; i < AUC_RANGE_PLANS; i++) {
		factors[n] = factor_of(most, plan_z[i]);
		n += !n || factors[n] > factors[n - 1];
	}
	return n;
}

/* The slot after the Nth that PLAN has; behind its plan it goes on without a pause. */
static auc_slot completion_of(const struct auc_plan *plan, int64_t n)
{
	for (const struct auc_run *r = plan->runs; r < plan->runs + plan->nruns; r++) {
		if (n <= r->to - r->from + 1)
			return r->from + n;
		n -= r->to - r->from + 1;
	}
	return plan->completion + n;
}

/* What is left of it for its user if it needs NEEDED of ALL slots. */
static double outcome(const struct auc_time_range *range, const struct auc_job *job,
		      const struct auc_plan *plan, double needed, int64_t all)
{
	int64_t n = auc_ceil(needed), late = n > all ? n - all : 0;
	double value, paid, done;

	n = n > 1 ? n : 1;
	value = auc_utility_value(&job->utility, (double)(completion_of(plan, n) - job->arrival));
	if (!late) {
		paid = plan->cost;
		if (range->refunds)
			paid *= fmin(1, needed / (double)all);
		return value - paid;
	}
	if (!range->extends)
		return -plan->cost;
	done = pow(STAYS, (double)late);
	paid = plan->cost + plan->cost * (double)late / (double)all;
	return done * fmax(value - paid, -plan->cost) - (1 - done) * plan->cost;
}

double auc_range_payoff(const struct auc_time_range *range, double factor,
			const struct auc_market *m, const struct auc_job *job,
			const struct auc_plan *plan)
{
	double sum = 0, length, stated;
	int64_t all = 0;

	for (const struct auc_run *r = plan->runs; r < plan->runs + plan->nruns; r++)
		all += r->to - r->from + 1;
	if (!all)
		return 0;
	/* JOB is as it was planned: its seconds are more exact than the slots that they take. */
	length = plan->gang ? job->shapes[plan->shape].seconds / m->slot_seconds : (double)all;
	stated = length / factor;
	for (unsigned i = 0; i < POINTS / 2; i++) {
		sum += outcome(range, job, plan, stated * factor_of(range->most, upper_z[i]), all);
		sum += outcome(range, job, plan, stated * factor_of(range->most, -upper_z[i]), all);
	}
	return sum / POINTS;
}
