/*
 * posted_rivals.h - policy posted as auctionsim has it: with the pricing of the paper beside ours,
 * and with what the paper compares its pricing and its placements with. auctionsim(1) lists the
 * options.
 */
#ifndef SIM_POSTED_RIVALS_H
#define SIM_POSTED_RIVALS_H

#include "policy/posted/posted-private.h"

/* bandit: the paper's; top: the same over worker types alone; random; fixed: terms->fixed. */
extern const struct auc_posted_pricing sim_posted_bandit, sim_posted_top, sim_posted_random,
	sim_posted_fixed;

/* T * arrivals so far / slots so far: n_k as an online policy knows it; at least 2. */
double sim_posted_forecast(const struct auc_posted_terms *terms, double arrivals, auc_slot now);

/* Placements, beside AUC_POSTED_PA and AUC_POSTED_UPA. */
enum { SIM_POSTED_RS = AUC_POSTED_UPA + 1, SIM_POSTED_CHA };
/*
 * As auc_posted_place(). RS: servers in random order are filled; LUCK is what is random. CHA:
 * servers in a ring from the one that the types and counts hash to: the first that holds all, else
 * they are filled.
 */
bool sim_posted_place(struct auc_posted_layout *l, unsigned how, const struct auc_posted_room *room,
		      const struct auc_posted_ask *ask, uint64_t luck);

#endif
