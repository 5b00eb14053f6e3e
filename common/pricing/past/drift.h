/*
 * drift.h - do the jobs that come now differ from those of the past? Their number may be the same.
 *
 * Compared are the things that prices depend on: the work of a job, its value for that work, and
 * how much slower each type is than the best. For each this is the two-sample test of Kolmogorov
 * and Smirnov. With D the largest difference between the shares of jobs below any limit, n jobs now
 * and m before, jobs differ if
 *
 *   D^2 n m / (n + m) > ln(2 / e) / 2,
 *
 * with e such that a false alarm comes once in a thousand days at thirty tests a day. D must also
 * be at least a half: days that differ less, as real ones do, are better off with their past than
 * without. All of that must also hold without the jobs of any one user who has at least a fiftieth
 * of them, so no single user can have the past forgotten.
 */
#ifndef AUC_DRIFT_H
#define AUC_DRIFT_H

#include "base/err.h"
#include "market/market.h"

struct auc_drift_jobs {
	const struct auc_job *const *jobs;
	const unsigned *user; /* user_share.h */
	unsigned n;
};

/*
 * *EVIDENCE that NOW are other jobs than those of PAST, all of them jobs of M: above 1 they are, 0
 * without any, and the higher the surer. AUC_ENOMEM.
 */
enum auc_code auc_drift_compare(const struct auc_market *m, const struct auc_drift_jobs *now,
				const struct auc_drift_jobs *past, double *evidence,
				struct auc_err *err);

/*
 * For how long such jobs have come as come now. BIDS are jobs of M, AGE[i] slots ago that of index
 * i. Those of the last PART slots are compared with those of the same time in the periods before,
 * of PERIOD slots each, so that a day may be unlike a night: *SINCE is 0 if they are alike. Else it
 * is the number of slots, whole parts, at which newer and older bids differ most. AUC_ENOMEM.
 */
enum auc_code auc_drift_since(const struct auc_market *m, const struct auc_drift_jobs *bids,
			      const auc_slot *age, auc_slot period, auc_slot part, auc_slot *since,
			      struct auc_err *err);

#endif
