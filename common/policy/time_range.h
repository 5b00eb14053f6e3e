/*
 * time_range.h - a job whose user says how long it takes as a rule, and how long at most: for how
 * long it is best planned.
 *
 * What it takes is thought of as lognormal: half of such jobs take no longer than is stated, 19 of
 * 20 no longer than the most, and none longer than that. A plan is worth what the job is worth when
 * it is done, less what it pays, on the average over that. A job that is late goes on, if it may,
 * as long as nobody has bought the slots behind its plan: one in two of them, at what a slot of the
 * plan costs.
 */
#ifndef AUC_TIME_RANGE_H
#define AUC_TIME_RANGE_H

#include <stdbool.h>

#include "market/market.h"
#include "market/plan.h"

#define AUC_RANGE_PLANS 4
#define AUC_RANGE_MOST  10.0 /* times what is stated */

struct auc_time_range {
	double most;  /* factor of what is stated, 1 to AUC_RANGE_MOST */
	bool extends; /* a late job may buy the slots behind its plan */
	bool refunds; /* what is not used of a plan is paid back */
};

/* For how long such a job may be planned, as factors of what is stated, ascending; how many. */
unsigned auc_range_factors(double most, double factors[AUC_RANGE_PLANS]);
/* What its user has on the average of PLAN, which was made for JOB planned for FACTOR times what is
 * stated. */
double auc_range_payoff(const struct auc_time_range *range, double factor,
			const struct auc_market *m, const struct auc_job *job,
			const struct auc_plan *plan);

#endif
