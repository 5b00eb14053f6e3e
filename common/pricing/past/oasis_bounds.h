/*
 * oasis_bounds.h - what jobs say about the bounds L and U of OASiS's price function (price.h), and
 * the bounds that follow: as the paper prints them, from all jobs, or learned from the jobs before.
 */
#ifndef AUC_OASIS_BOUNDS_H
#define AUC_OASIS_BOUNDS_H

#include <stdbool.h>

#include "market/market.h"
#include "market/price.h"

/* What one job says: what it is worth, and what it takes of each TRES on servers of either role. */
struct auc_claim {
	auc_slot arrival;
	double value; /* f at its shortest completion, credits */
	double late;  /* ln f at the end of the horizon; -INFINITY: worth nothing then */
	/* by role: worker-slots, and PS-slots at the shortest completion; what one worker, one PS
	 * takes, without zeros */
	double slots[AUC_PRICE_ROLES];
	unsigned n[AUC_PRICE_ROLES];
	struct auc_named amount[AUC_PRICE_ROLES][AUC_TRES_MAX];
};

/*
 * What JOB says, with the pair of types that completes it soonest, of those the one with least
 * work, of those the lowest. False: it may use none.
 */
bool auc_claim_make(const struct auc_market *m, const struct auc_job *job, struct auc_claim *claim);

/*
 * Equations (23) to (26) over all N claims, for M's servers and slots. Corrected as policies.md
 * says: the best value is that of the shortest duration, no arrival is taken off it; a TRES that a
 * job does not use is not divided by. Kept: one L for all TRES of a role, from the sum of their
 * amounts in whatever unit they have.
 */
void auc_oasis_bounds_print(const struct auc_market *m, const struct auc_claim *const *claims,
			    unsigned n, struct auc_price *price);
/* The bounds that past claims teach (oasis_bounds.c); none is known (n 0): everything is free.
 * AUC_ENOMEM. */
enum auc_code auc_oasis_bounds_learn(const struct auc_market *m,
				     const struct auc_claim *const *claims, unsigned n,
				     struct auc_price *price, struct auc_err *err);
/* New bounds move every price there is: they are learned anew only when one in eight of N claims is
 * FRESH. */
static inline bool auc_oasis_bounds_due(unsigned fresh, unsigned n)
{
	return fresh >= 1 && 8 * (uint64_t)fresh >= n;
}

#endif
