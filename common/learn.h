/*
 * learn.h - prices that are learned: from jobs of the past, what each resource will be worth in
 * each slot.
 *
 * The past jobs stand for those that are to come. At the prices of their dual (dual.h), by class of
 * servers, all of them together just fill the market; smoothed over the length of a job these
 * prices keep a resource that will be scarce from being spent on jobs that could do without it.
 * They come from the past and from what is booked, never from the bid they are offered to.
 */
#ifndef AUC_LEARN_H
#define AUC_LEARN_H

#include "dual.h"
#include "err.h"
#include "market.h"
#include "policy/policy.h"

#define AUC_LEARN_ITERATIONS 60
/*
 * Expected jobs are counted that many times: fractions of jobs, which a dual takes for possible,
 * fill the gaps that whole jobs leave.
 */
#define AUC_LEARN_WEIGHT 1.5

/*
 * Prices for M by JOBS (dual.h) after ITERATIONS. *LIST is malloc'd, for auc_market_give_prices().
 * *BOUND is what these jobs are worth together at most. WATCH (NULL: nobody) can stop it:
 * AUC_ESTATE. AUC_EINVAL: the policy does not sell; AUC_ENOMEM.
 */
enum auc_code auc_learn_prices(const struct auc_market *m, const struct auc_policy *policy,
			       const struct auc_dual_job *jobs, unsigned njobs, unsigned iterations,
			       const struct auc_watch *watch, struct auc_given_price **list, size_t *n,
			       double *bound, struct auc_err *err);

#endif
