/*
 * posted_gang.h - gangs at posted prices. A gang is placed first, without a look at prices: in the
 * shape, the slots and on the servers where it is done first. Then it is offered one price for all
 * of it.
 *
 * The price is that of the TRES of which the gang takes the largest part of all there is, by unit
 * and slot, so that prices scale by TRES; what it takes of others comes with that. A unit is an
 * eighth of the largest server, at least 1 where servers have that much: one GPU of a node of
 * eight. The pricing is posted's own (posted_shared.c, ...), with TRES for worker types, and beside
 * them a part that each gang pays whatever its size. It is told yes or no, and nothing else.
 */
#ifndef AUC_POSTED_GANG_H
#define AUC_POSTED_GANG_H

#include "policy/policy.h"
#include "policy/posted/posted-private.h"

struct auc_posted_gangs;

/* Prices by PRICING and what TERMS says of it; types and capacities there do not matter. NULL: no
 * memory. */
struct auc_posted_gangs *auc_posted_gangs_create(const struct auc_posted_pricing *pricing,
						 const struct auc_posted_terms *terms);
void auc_posted_gangs_destroy(struct auc_posted_gangs *g);
/* As auc_policy.quote(): offer[0] is the price of all of JOB, which is a gang, offer[1] 0. */
enum auc_code auc_posted_gangs_quote(struct auc_posted_gangs *g, const struct auc_market *m,
				     const struct auc_job *job, struct auc_decision *decision,
				     struct auc_err *err);
/* As auc_policy.answered(). */
void auc_posted_gangs_answered(struct auc_posted_gangs *g, const struct auc_market *m,
			       const struct auc_job *job, const struct auc_decision *decision,
			       bool accepted);

#endif
