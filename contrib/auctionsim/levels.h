/*
 * levels.h - bounds L and U that days of the past teach, for a policy that sells by such bounds
 * (oasis), whose jobs may have types of their own.
 */
#ifndef SIM_LEVELS_H
#define SIM_LEVELS_H

#include <stdbool.h>

#include "err.h"
#include "policy/policy.h"
#include "scenario.h"

/*
 * Puts into S, for POLICY (its words: TEXT), what is best for DAYS[N], n > 0, days of the same
 * market: no prices, the published ones, bounds that the jobs of a day teach as they come, or
 * bounds that the other days teach (common/bounds.h; of a single day, every other of its jobs,
 * counted twice), at several levels and with several U / L; FLAT: of the last, those of which one
 * is the other. Each is replayed on the days. The bounds as they are taught are taken, U as high as
 * L, unless something else was worth two percent more, as a few days are decided by luck, too; then
 * what was worth most. What only half of a single day taught must be better by five percent than
 * what is not taught. *CHOSEN says what and why; malloc'd. The prices
 * of DAYS change. AUC_ENOMEM, or what a replay says.
 */
enum auc_code levels_learn(struct scenario *s, const struct auc_policy *policy, const char *text,
			   struct scenario *const *days, unsigned n, bool flat, char **chosen,
			   struct auc_err *err);

#endif
