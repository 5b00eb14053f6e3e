/* fit-private.h - what the fits of all policies share. */
#ifndef AUC_FIT_PRIVATE_H
#define AUC_FIT_PRIVATE_H

#include "pricing/dual/dual.h"
#include "pricing/fit.h"

/* Sells M to JOBS[N] in turn, by IN's policy; *WORTH: what is sold. AUC_ESTATE: IN's watch stopped
 * it; AUC_ENOMEM, or what the policy says. */
enum auc_code auc_fit_sell(const struct auc_fit_input *in, struct auc_market *m,
			   const struct auc_dual_job *jobs, unsigned n, double *worth,
			   struct auc_err *err);

#endif
