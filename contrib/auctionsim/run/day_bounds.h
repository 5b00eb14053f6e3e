/*
 * day_bounds.h - bounds that days of the past teach (common/pricing/bound_levels.h), for scenarios
 * of a policy that sells by bounds (oasis), whose jobs may have types of their own.
 */
#ifndef SIM_DAY_BOUNDS_H
#define SIM_DAY_BOUNDS_H

#include <stdbool.h>

#include "base/err.h"
#include "policy/policy.h"
#include "auctionsim/scenario/scenario.h"

/*
 * Puts into S, for the policy called TEXT with its options, what is best for DAYS[N], n > 0, days
 * of the same market: no prices, the published ones, bounds that the jobs of a day teach as they
 * come, or those that the other days teach; FLAT: of the last, the best level. *CHOSEN says what
 * and why; malloc'd. The prices of DAYS change. AUC_ENOMEM, or what a replay says.
 */
enum auc_code day_bounds_learn(struct scenario *s, const char *text, struct scenario *const *days,
			       unsigned n, bool flat, char **chosen, struct auc_err *err);

#endif
