/*
 * price_history.h - the parameters of the published price functions, from past bids only, so that
 * no price depends on the bid that it is offered to. For policies that sell by bases this is DPS's
 * estimate (section 4.2), for those that sell by bounds oasis_bounds.h.
 */
#ifndef AUC_PRICE_HISTORY_H
#define AUC_PRICE_HISTORY_H

#include "pricing/past/oasis_bounds.h"
#include "input/conf.h"
#include "base/err.h"
#include "market/market.h"
#include "market/price.h"

struct json_object;
struct auc_price_history;

/* Keeps the last LIMIT bids. NULL: no memory. */
struct auc_price_history *auc_price_history_create(unsigned limit);
void auc_price_history_destroy(struct auc_price_history *h);
/* Takes another limit, forgetting the oldest where it is lower. */
enum auc_code auc_price_history_set_limit(struct auc_price_history *h, unsigned limit,
					  struct auc_err *err);
unsigned auc_price_history_count(const struct auc_price_history *h);

/* Remembers what the bid that JOB was made of says to a policy that sells by KIND. */
enum auc_code auc_price_history_add(struct auc_price_history *h, const struct auc_market *m,
				    const struct auc_job *job, enum auc_price_kind kind,
				    struct auc_err *err);
/*
 * The prices now, of the kind of PRIOR and for every TRES of M. Bases: the one given in PRIOR (else
 * 1), raised to 1 + the largest ratio remembered. Bounds: those that the claims remembered teach,
 * but no lower than PRIOR's. AUC_ENOMEM.
 */
enum auc_code auc_price_history_price(const struct auc_price_history *h, const struct auc_market *m,
				      const struct auc_price *prior, struct auc_price *price,
				      struct auc_err *err);

/* NULL: no memory. */
struct auc_price_history *auc_price_history_copy(const struct auc_price_history *h);
/* Bid I, 0 the oldest, as an event "ratios" or "claim" (doc/ledger.md); new reference, NULL: no
 * memory. */
struct json_object *auc_price_history_event(const struct auc_price_history *h, unsigned i);
/* True if EVENT is one of these. */
bool auc_price_history_knows(struct json_object *event);
/* Remembers what such an event says. AUC_ECORRUPT. */
enum auc_code auc_price_history_apply(struct auc_price_history *h, struct json_object *event,
				      struct auc_err *err);

#endif
