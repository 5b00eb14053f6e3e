/* history.c - see history.h. A ring of the last bids, each with the TRES it could use, by name:
 * TRES come and go with the nodes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "history.h"
#include "jsonio.h"

#define RATIO_MAX 1e12 /* as large as a base may be given in auction.conf */

struct bid {
	unsigned n;
	struct auc_named *ratio;
};

struct auc_history {
	unsigned limit, count, oldest;
	struct bid *bids; /* limit long */
};

static enum auc_code remember(struct auc_history *h, const struct auc_named *ratio, unsigned n,
			      struct auc_err *err);
static const struct bid *bid_at(const struct auc_history *h, unsigned i);

struct auc_history *auc_history_create(unsigned limit)
{
	struct auc_history *h = calloc(1, sizeof(*h));

	if (!h || !limit || !(h->bids = calloc(limit, sizeof(*h->bids)))) {
		free(h);
		return NULL;
	}
	h->limit = limit;
	return h;
}

void auc_history_destroy(struct auc_history *h)
{
	if (!h)
		return;
	for (unsigned i = 0; i < h->limit; i++)
		free(h->bids[i].ratio);
	free(h->bids);
	free(h);
}

enum auc_code auc_history_set_limit(struct auc_history *h, unsigned limit, struct auc_err *err)
{
	struct bid *bids;
	unsigned keep = h->count < limit ? h->count : limit;

	if (limit == h->limit)
		return AUC_OK;
	bids = limit ? calloc(limit, sizeof(*bids)) : NULL;
	if (!bids)
		return auc_err_set(err, AUC_ENOMEM, "history: out of memory");
	for (unsigned i = 0; i < h->count; i++) {
		const struct bid *b = bid_at(h, i);

		if (i < h->count - keep)
			free(b->ratio);
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

unsigned auc_history_count(const struct auc_history *h)
{
	return h->count;
}

enum auc_code auc_history_add(struct auc_history *h, const struct auc_market *m,
			      const double *ratio, struct auc_err *err)
{
	struct auc_named list[AUC_TRES_MAX];
	unsigned n = 0;

	for (unsigned k = 0; k < auc_market_ntres(m); k++) {
		if (!(ratio[k] > 0))
			continue;
		strcpy(list[n].name, auc_market_tres_name(m, k));
		list[n++].value = ratio[k] < RATIO_MAX ? ratio[k] : RATIO_MAX;
	}
	return remember(h, list, n, err);
}

void auc_history_price(const struct auc_history *h, const struct auc_market *m,
		       const struct auc_named *prior, unsigned nprior, struct auc_price *price)
{
	price->neta = auc_market_ntres(m);
	for (unsigned k = 0; k < price->neta; k++) {
		struct auc_named *eta = &price->eta[k];

		strcpy(eta->name, auc_market_tres_name(m, k));
		eta->value = 1;
		for (unsigned i = 0; i < nprior; i++)
			if (!strcmp(prior[i].name, eta->name))
				eta->value = prior[i].value;
		for (unsigned i = 0; i < h->count; i++) {
			const struct bid *b = bid_at(h, i);

			for (unsigned r = 0; r < b->n; r++)
				if (b->ratio[r].value + 1 > eta->value &&
				    !strcmp(b->ratio[r].name, eta->name))
					eta->value = b->ratio[r].value + 1;
		}
		if (eta->value > RATIO_MAX)
			eta->value = RATIO_MAX;
	}
}

struct auc_history *auc_history_copy(const struct auc_history *h)
{
	struct auc_history *copy = auc_history_create(h->limit);

	for (unsigned i = 0; copy && i < h->count; i++) {
		const struct bid *b = bid_at(h, i);

		if (remember(copy, b->ratio, b->n, NULL) != AUC_OK) {
			auc_history_destroy(copy);
			return NULL;
		}
	}
	return copy;
}

struct json_object *auc_history_event(const struct auc_history *h, unsigned i)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_object();
	const struct bid *b = bid_at(h, i);
	bool ok = o && tres && auc_json_add_text(o, "event", "ratios");

	for (unsigned r = 0; ok && r < b->n; r++)
		ok = auc_json_add_double(tres, b->ratio[r].name, b->ratio[r].value);
	if (ok && auc_json_add(o, "tres", tres))
		return o;
	if (!ok)
		json_object_put(tres);
	json_object_put(o);
	return NULL;
}

enum auc_code auc_history_apply(struct auc_history *h, struct json_object *event,
				struct auc_err *err)
{
	struct auc_named list[AUC_TRES_MAX];
	struct auc_err why;
	unsigned n;

	if (auc_json_amounts(event, "tres", AUC_TRES_MAX, list, &n, &why) != AUC_OK)
		return auc_err_set(err, AUC_ECORRUPT, "event 'ratios': %s", why.text);
	return remember(h, list, n, err);
}

static enum auc_code remember(struct auc_history *h, const struct auc_named *ratio, unsigned n,
			      struct auc_err *err)
{
	struct auc_named *copy = malloc((n ? n : 1) * sizeof(*copy));
	struct bid *slot;

	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "history: out of memory");
	memcpy(copy, ratio, n * sizeof(*copy));
	slot = &h->bids[(h->oldest + h->count) % h->limit];
	if (h->count == h->limit)
		h->oldest = (h->oldest + 1) % h->limit;
	else
		h->count++;
	free(slot->ratio);
	slot->ratio = copy;
	slot->n = n;
	return AUC_OK;
}

static const struct bid *bid_at(const struct auc_history *h, unsigned i)
{
	return &h->bids[(h->oldest + i) % h->limit];
}
