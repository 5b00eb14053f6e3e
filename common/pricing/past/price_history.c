/* price_history.c - see price_history.h. A ring of the last bids, each with the TRES it could use,
 * by name: TRES come and go with the nodes. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "pricing/past/price_history.h"
#include "base/json.h"
#include "base/list.h"

#define RATIO_MAX  1e12 /* as large as a base may be given in auction.conf */
#define SLOT_LIMIT (INT64_C(1) << 52)

/* Ratios or, of a policy that sells by bounds, a claim. */
struct bid {
	unsigned n;
	struct auc_named *ratio;
	struct auc_claim *claim; /* NULL: ratios */
};

struct auc_price_history {
	unsigned limit, count, oldest;
	struct bid *bids; /* limit long */
};

static void add_ratio(struct auc_named *list, unsigned *n, const char *tres, double ratio);
static void raise_bases(const struct auc_price_history *h, struct auc_price *price);
static enum auc_code learn_bounds(const struct auc_price_history *h, const struct auc_market *m,
				  const struct auc_price *prior, struct auc_price *price,
				  struct auc_err *err);
static bool add_amounts(struct json_object *o, const char *key, const struct auc_named *list,
			unsigned n);
static bool claim_to_event(const struct auc_claim *claim, struct json_object *o);
static enum auc_code claim_from_event(struct json_object *o, struct auc_claim *claim,
				      struct auc_err *err);
static enum auc_code remember(struct auc_price_history *h, const struct auc_named *ratio,
			      unsigned n, const struct auc_claim *claim, struct auc_err *err);
static void forget(struct bid *bid);
static const struct bid *bid_at(const struct auc_price_history *h, unsigned i);

struct auc_price_history *auc_price_history_create(unsigned limit)
{
	struct auc_price_history *h = calloc(1, sizeof(*h));

	if (!h || !limit || !(h->bids = calloc(limit, sizeof(*h->bids)))) {
		free(h);
		return NULL;
	}
	h->limit = limit;
	return h;
}

void auc_price_history_destroy(struct auc_price_history *h)
{
	if (!h)
		return;
	for (unsigned i = 0; i < h->limit; i++)
		forget(&h->bids[i]);
	free(h->bids);
	free(h);
}

enum auc_code auc_price_history_set_limit(struct auc_price_history *h, unsigned limit,
					  struct auc_err *err)
{
	struct bid *bids;
	unsigned keep = h->count < limit ? h->count : limit;

	if (limit == h->limit)
		return AUC_OK;
	bids = limit ? calloc(limit, sizeof(*bids)) : NULL;
	if (!bids)
		return auc_err_set(err, AUC_ENOMEM, "history: out of memory");
	for (unsigned i = 0; i < h->count; i++) {
		struct bid *b = &h->bids[(h->oldest + i) % h->limit];

		if (i < h->count - keep)
			forget(b);
		else
			bids[i - (h->count - keep)] = *b;
	}
	free(h->bids);
	h->bids = bids;
	h->limit = limit;
	h->count = keep;
	h->oldest = 0;
	return AUC_OK;
}

unsigned auc_price_history_count(const struct auc_price_history *h)
{
	return h->count;
}

enum auc_code auc_price_history_add(struct auc_price_history *h, const struct auc_market *m,
				    const struct auc_job *job, enum auc_price_kind kind,
				    struct auc_err *err)
{
	struct auc_named list[AUC_TRES_MAX];
	double ratio[AUC_TRES_MAX];
	struct auc_claim claim;
	unsigned n = 0;

	if (kind == AUC_PRICE_BOUNDS)
		return remember(h, list, 0, auc_claim_make(m, job, &claim) ? &claim : NULL, err);
	if (job->ndata)
		add_ratio(list, &n, AUC_TRANSFER, auc_price_site_ratios(m, job, ratio));
	else
		auc_price_ratios(m, job, ratio);
	for (unsigned k = 0; k < auc_market_ntres(m); k++)
		add_ratio(list, &n, auc_market_tres_name(m, k), ratio[k]);
	return remember(h, list, n, NULL, err);
}

static void add_ratio(struct auc_named *list, unsigned *n, const char *tres, double ratio)
{
	if (!(ratio > 0) || *n == AUC_TRES_MAX)
		return;
	snprintf(list[*n].name, sizeof(list[*n].name), "%s", tres);
	list[(*n)++].value = ratio < RATIO_MAX ? ratio : RATIO_MAX;
}

enum auc_code auc_price_history_price(const struct auc_price_history *h, const struct auc_market *m,
				      const struct auc_price *prior, struct auc_price *price,
				      struct auc_err *err)
{
	if (prior->kind == AUC_PRICE_BOUNDS)
		return learn_bounds(h, m, prior, price, err);
	*price = (struct auc_price){.kind = AUC_PRICE_ETA, .neta = auc_market_ntres(m)};
	if (isfinite(auc_market_traffic_budget(m)) && price->neta < AUC_TRES_MAX)
		price->neta++;
	for (unsigned k = 0; k < price->neta; k++) {
		const struct auc_named *given;

		strcpy(price->eta[k].name,
		       k < auc_market_ntres(m) ? auc_market_tres_name(m, k) : AUC_TRANSFER);
		given = auc_list_find_tres(prior->eta, prior->neta, price->eta[k].name);
		price->eta[k].value = given ? given->value : 1;
	}
	raise_bases(h, price);
	return AUC_OK;
}

struct auc_price_history *auc_price_history_copy(const struct auc_price_history *h)
{
	struct auc_price_history *copy = auc_price_history_create(h->limit);

	for (unsigned i = 0; copy && i < h->count; i++) {
		const struct bid *b = bid_at(h, i);

		if (remember(copy, b->ratio, b->n, b->claim, NULL) != AUC_OK) {
			auc_price_history_destroy(copy);
			return NULL;
		}
	}
	return copy;
}

struct json_object *auc_price_history_event(const struct auc_price_history *h, unsigned i)
{
	const struct bid *b = bid_at(h, i);
	struct json_object *o = json_object_new_object();
	bool ok = o && auc_json_add_text(o, "event", b->claim ? "claim" : "ratios");

	if (b->claim)
		ok = ok && claim_to_event(b->claim, o);
	else
		ok = ok && add_amounts(o, "tres", b->ratio, b->n);
	return auc_json_if(ok, o);
}

bool auc_price_history_knows(struct json_object *event)
{
	struct json_object *word;
	const char *text;

	if (!json_object_object_get_ex(event, "event", &word) ||
	    !json_object_is_type(word, json_type_string))
		return false;
	text = json_object_get_string(word);
	return !strcmp(text, "ratios") || !strcmp(text, "claim");
}

enum auc_code auc_price_history_apply(struct auc_price_history *h, struct json_object *event,
				      struct auc_err *err)
{
	struct auc_named list[AUC_TRES_MAX];
	struct json_object *ratios;
	struct auc_claim claim;
	struct auc_err why;
	unsigned n = 0;
	bool is_claim = !json_object_object_get_ex(event, "tres", &ratios);

	if ((is_claim ? claim_from_event(event, &claim, &why)
		      : auc_json_amounts(event, "tres", AUC_TRES_MAX, list, &n, &why)) != AUC_OK)
		return auc_err_set(err, AUC_ECORRUPT, "event '%s': %s",
				   is_claim ? "claim" : "ratios", why.text);
	return remember(h, list, n, is_claim ? &claim : NULL, err);
}

static void raise_bases(const struct auc_price_history *h, struct auc_price *price)
{
	for (unsigned k = 0; k < price->neta; k++) {
		struct auc_named *eta = &price->eta[k];

		for (unsigned i = 0; i < h->count; i++) {
			const struct bid *b = bid_at(h, i);

			for (unsigned r = 0; r < b->n; r++)
				if (b->ratio[r].value + 1 > eta->value &&
				    !strcasecmp(b->ratio[r].name, eta->name))
					eta->value = b->ratio[r].value + 1;
		}
		if (eta->value > RATIO_MAX)
			eta->value = RATIO_MAX;
	}
}

static enum auc_code learn_bounds(const struct auc_price_history *h, const struct auc_market *m,
				  const struct auc_price *prior, struct auc_price *price,
				  struct auc_err *err)
{
	const struct auc_claim **claims = malloc((h->count + 1) * sizeof(*claims));
	enum auc_code rc;
	unsigned n = 0;

	if (!claims)
		return auc_err_set(err, AUC_ENOMEM, "history: out of memory");
	for (unsigned i = 0; i < h->count; i++)
		if (bid_at(h, i)->claim)
			claims[n++] = bid_at(h, i)->claim;
	rc = auc_oasis_bounds_learn(m, claims, n, price, err);
	free(claims);
	if (rc != AUC_OK)
		return rc;
	for (unsigned k = 0; k < price->nbounds; k++)
		for (unsigned i = 0; i < prior->nbounds; i++)
			if (!strcasecmp(price->bounds[k].name, prior->bounds[i].name))
				auc_price_raise(&price->bounds[k], &prior->bounds[i]);
	return AUC_OK;
}

static bool add_amounts(struct json_object *o, const char *key, const struct auc_named *list,
			unsigned n)
{
	struct json_object *amounts = json_object_new_object();
	bool ok = amounts;

	for (unsigned i = 0; ok && i < n; i++)
		ok = auc_json_add_double(amounts, list[i].name, list[i].value);
	if (ok)
		return auc_json_add(o, key, amounts);
	json_object_put(amounts);
	return false;
}

static bool claim_to_event(const struct auc_claim *c, struct json_object *o)
{
	return auc_json_add_int(o, "slot", c->arrival) &&
	       auc_json_add_double(o, "value", c->value) &&
	       auc_json_add_double(o, "worker_slots", c->slots[AUC_PRICE_WORKER]) &&
	       auc_json_add_double(o, "ps_slots", c->slots[AUC_PRICE_PS]) &&
	       add_amounts(o, "worker_tres", c->amount[AUC_PRICE_WORKER], c->n[AUC_PRICE_WORKER]) &&
	       add_amounts(o, "ps_tres", c->amount[AUC_PRICE_PS], c->n[AUC_PRICE_PS]);
}

static enum auc_code claim_from_event(struct json_object *o, struct auc_claim *c,
				      struct auc_err *err)
{
	enum auc_code rc = auc_json_int(o, "slot", -SLOT_LIMIT, SLOT_LIMIT, &c->arrival, err);

	c->late = -INFINITY; /* of the paper's estimate only, which does not learn */
	if (rc == AUC_OK)
		rc = auc_json_double(o, "value", 0, AUC_VALUE_MAX, &c->value, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "worker_slots", 1, DBL_MAX, &c->slots[AUC_PRICE_WORKER],
				     err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "ps_slots", 1, DBL_MAX, &c->slots[AUC_PRICE_PS], err);
	if (rc == AUC_OK)
		rc = auc_json_amounts(o, "worker_tres", AUC_TRES_MAX, c->amount[AUC_PRICE_WORKER],
				      &c->n[AUC_PRICE_WORKER], err);
	if (rc == AUC_OK)
		rc = auc_json_amounts(o, "ps_tres", AUC_TRES_MAX, c->amount[AUC_PRICE_PS],
				      &c->n[AUC_PRICE_PS], err);
	return rc;
}

/* Takes copies of RATIO, or of CLAIM (NULL: none). */
static enum auc_code remember(struct auc_price_history *h, const struct auc_named *ratio,
			      unsigned n, const struct auc_claim *claim, struct auc_err *err)
{
	struct bid bid = {.n = n}, *slot;

	if (claim)
		bid.claim = malloc(sizeof(*claim));
	else
		bid.ratio = malloc((n ? n : 1) * sizeof(*ratio));
	if (!bid.claim && !bid.ratio)
		return auc_err_set(err, AUC_ENOMEM, "history: out of memory");
	if (claim)
		*bid.claim = *claim;
	else
		memcpy(bid.ratio, ratio, n * sizeof(*ratio));
	slot = &h->bids[(h->oldest + h->count) % h->limit];
	if (h->count == h->limit)
		h->oldest = (h->oldest + 1) % h->limit;
	else
		h->count++;
	forget(slot);
	*slot = bid;
	return AUC_OK;
}

static void forget(struct bid *bid)
{
	free(bid->ratio);
	free(bid->claim);
	*bid = (struct bid){0};
}

static const struct bid *bid_at(const struct auc_price_history *h, unsigned i)
{
	return &h->bids[(h->oldest + i) % h->limit];
}
