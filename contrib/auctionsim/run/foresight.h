/*
 * foresight.h - what the jobs that are expected would be worth at some prices.
 */
#ifndef SIM_FORESIGHT_H
#define SIM_FORESIGHT_H

#include "base/err.h"
#include "market/market.h"
#include "policy/policy.h"

/*
 * *WORTH: the sum of the values, less what is sold costs at least, of JOBS[NJOBS], which come one
 * after the other to M as it is booked and are sold by POLICY at the prices LIST[N], 0 where it has
 * none. M stays as it is. AUC_ENOMEM.
 */
enum auc_code foresight_worth(const struct auc_market *m, const struct auc_policy *policy,
			      const struct auc_given_price *list, size_t n,
			      const struct auc_job *jobs, unsigned njobs, double *worth,
			      struct auc_err *err);

#endif
