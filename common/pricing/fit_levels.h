/*
 * fit_levels.h - prices of form AUC_PRICE_FORM_BOUNDS in a fit (fit.h) for a policy that sells by
 * bounds (oasis): those of bound_levels.h, of each TRES on the servers of either role, which stand
 * in all slots.
 *
 * The guard replays the last periods with them, too. If it took them they are learned anew by each
 * fit, from all bids that are kept.
 */
#ifndef AUC_FIT_LEVELS_H
#define AUC_FIT_LEVELS_H

#include "pricing/dual/dual.h"
#include "pricing/fit.h"

/* Bids by period: those of period D are JOBS[FIRST[D]] to JOBS[FIRST[D + 1] - 1], by arrival, in
 * slots of a market's first period; each counts as often as its weight says. */
struct auc_fit_days {
	unsigned n; /* >= 1 */
	const unsigned *first;
	const struct auc_dual_job *jobs;
};

/* What is taken before anything was compared. */
extern const struct auc_guard_choice auc_fit_levels_usual;

/* T's guard has chosen from all that a fit teaches, and from no prices and the published ones: now
 * it chooses from these prices, too, over DAYS of IN's empty market. AUC_ESTATE: IN's watch stopped
 * it; AUC_ENOMEM, or what the policy says. */
enum auc_code auc_fit_levels_guard(const struct auc_fit_input *in, const struct auc_fit_days *days,
				   struct auc_tariff *t, struct auc_err *err);
/* T's prices, as its choice says, from DAYS. AUC_ENOMEM. */
enum auc_code auc_fit_levels_set(const struct auc_fit_input *in, const struct auc_fit_days *days,
				 struct auc_tariff *t, struct auc_err *err);

#endif
