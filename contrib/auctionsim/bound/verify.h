/*
 * verify.h - does a file of prices prove its bound? The bound is worked out again from the scenario
 * and the prices, without libauction's market and policies: over the checker's books, in long
 * double, with a search of its own.
 */
#ifndef SIM_VERIFY_H
#define SIM_VERIFY_H

#include "base/err.h"
#include "auctionsim/bound/proof.h"
#include "auctionsim/scenario/scenario.h"

/*
 * *BOUND is at least the welfare of every plan for the jobs of S that policy dps could make: by the
 * prices P alone. What P says of the jobs' payoffs only makes it fast: a job counts with that or,
 * if there is one, with a better payoff, and *WRONG is the number of those. AUC_EINVAL: P is of
 * another policy, or a job has no schedule because a key is missing; AUC_ENOMEM.
 */
enum auc_code verify_bound(const struct scenario *s, const struct proof *p, long double *bound,
			   unsigned *wrong, struct auc_err *err);

#endif
