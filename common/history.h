/*
 * history.h - what the last bids said about the bases of the price function, from which prices are
 * learned: DPS's estimate (section 4.2) over past bids only, so that no price depends on the bid it
 * is offered to.
 */
#ifndef AUC_HISTORY_H
#define AUC_HISTORY_H

#include "conf.h"
#include "err.h"
#include "market.h"
#include "price.h"

struct json_object;
struct auc_history;

/* Keeps the last LIMIT bids. NULL: no memory. */
struct auc_history *auc_history_create(unsigned limit);
void auc_history_destroy(struct auc_history *h);
/* Takes another limit, forgetting the oldest where it is lower. */
enum auc_code auc_history_set_limit(struct auc_history *h, unsigned limit, struct auc_err *err);
unsigned auc_history_count(const struct auc_history *h);

/* Remembers the ratios of one bid (auc_price_ratios()), by the names of M's TRES. */
enum auc_code auc_history_add(struct auc_history *h, const struct auc_market *m,
			      const double *ratio, struct auc_err *err);
/*
 * The bases now, for every TRES of M: the one given in PRIOR (else 1), raised to 1 + the largest
 * ratio remembered.
 */
void auc_history_price(const struct auc_history *h, const struct auc_market *m,
		       const struct auc_named *prior, unsigned nprior, struct auc_price *price);

/* NULL: no memory. */
struct auc_history *auc_history_copy(const struct auc_history *h);
/* Bid I, 0 the oldest, as an event {"event":"ratios","tres":{...}}; new reference, NULL: no memory.
 */
struct json_object *auc_history_event(const struct auc_history *h, unsigned i);
/* Remembers what an event says. AUC_ECORRUPT. */
enum auc_code auc_history_apply(struct auc_history *h, struct json_object *event,
				struct auc_err *err);

#endif
