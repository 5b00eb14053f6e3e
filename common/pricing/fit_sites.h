/*
 * fit_sites.h - a fit of prices (fit.h) for a policy of sites: constant ones, one of each TRES and
 * one of an MB of traffic (flat_prices.h), which hold until the guard looks again.
 *
 * The guard replays the bids of the last period with each of them in an empty market, as it does
 * without prices, with the published ones and with a trace of prices, which are flat with a factor
 * of 0; what is taken, and what holds on, is as fit.h says.
 *
 * The bound is certified, and further off than that of fit.h: a job needs so many worker-slots at
 * least, wherever its chunks lie, and sends nothing. What it gains at given prices is no more than
 * if it bought these where they are cheapest, in as few slots as all servers together allow; the
 * rest is the argument of dual.h.
 */
#ifndef AUC_FIT_SITES_H
#define AUC_FIT_SITES_H

#include "pricing/dual/dual.h"
#include "pricing/fit.h"

/*
 * Looks at the bids of a period, JOBS[N] of IN's empty market by arrival: what is worth most goes
 * into T, prices and all. AUC_ESTATE: IN's watch stopped it; AUC_ENOMEM, or what the policy says.
 */
enum auc_code auc_fit_sites_guard(const struct auc_fit_input *in, const struct auc_dual_job *jobs,
				  unsigned n, struct auc_tariff *t, struct auc_err *err);
/* T's prices are those that hold since the guard looked last. AUC_ENOENT: it never has; AUC_ENOMEM.
 */
enum auc_code auc_fit_sites_keep(const struct auc_fit_input *in, struct auc_tariff *t,
				 struct auc_err *err);
/* What JOBS[N] of M, where servers are alike in M and where the jobs are from, are worth together
 * at most, found from the prices of T and multiples of them. */
double auc_fit_sites_bound(const struct auc_market *m, const struct auc_dual_job *jobs, unsigned n,
			   const struct auc_tariff *t);

#endif
