/*
 * standing.h - bids that were refused and stand: which are decided again in a slot, and in which
 * order. The first of each user goes first, then the second of each, and so on, each in the order
 * of arrival. A bid is decided again only if something that it could use has changed.
 */
#ifndef SIM_STANDING_H
#define SIM_STANDING_H

#include "base/err.h"
#include "market/market.h"
#include "auctionsim/scenario/scenario.h"

struct standing;

/* ORDER: of arrival; it stays. AUC_ENOMEM. */
enum auc_code standing_open(const struct scenario *s, const unsigned *order,
			    struct standing **standing, struct auc_err *err);
void standing_close(struct standing *st);
/* The job of INDEX was refused; LEFT: credits that its user has left. */
void standing_add(struct standing *st, unsigned index, double left);
/* Something on SERVER is free that was not; prices are others. */
void standing_freed(struct standing *st, unsigned server);
void standing_priced(struct standing *st);
/*
 * Slot NOW begins: to LIST, which has room for all jobs, those to be decided again in it, in their
 * order; LEFT: by budget of the scenario. Returns their number. M: where they would run.
 */
unsigned standing_due(struct standing *st, const struct auc_market *m, auc_slot now,
		      const double *left, unsigned *list);
/* The job of INDEX was accepted. */
void standing_accepted(struct standing *st, unsigned index);
/* True if any bid stands in slot NOW. */
bool standing_any(const struct standing *st, auc_slot now);

#endif
