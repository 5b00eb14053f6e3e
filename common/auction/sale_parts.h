/* sale_parts.h - a plan as the jobs that carry it out. */
#ifndef AUC_SALE_PARTS_H
#define AUC_SALE_PARTS_H

#include "auction/auction.h"
#include "market/plan.h"

/* What servers give to PLAN: *PARTS is malloc'd, by start, the lead's first. */
enum auc_code auc_plan_parts(const struct auc_market *m, const struct auc_plan *plan,
			     struct auc_part **parts, unsigned *nparts, struct auc_err *err);
/* For how many runs from RUN on, without a pause, SHARE of RUN stays the same; 0: since an earlier
 * one. */
unsigned auc_plan_share_lasts(const struct auc_plan *plan, unsigned run,
			      const struct auc_share *share);
/* The share that the user's own job is to have at first. P is not empty. */
const struct auc_share *auc_plan_lead(const struct auc_plan *p);

#endif
