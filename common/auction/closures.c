/* closures.c - servers that are closed for a time, by name and Unix time, which outlive a market.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auction/auction-private.h"

enum auc_code auc_auction_close(struct auc_auction *a, const struct auc_closing *list, unsigned n,
				struct auc_err *err)
{
	struct auc_closing *copy = malloc((n + 1) * sizeof(*copy));
	enum auc_code rc = AUC_OK;

	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for %u closed times of nodes",
				   n);
	if (n)
		memcpy(copy, list, n * sizeof(*copy));
	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	if (n != a->nclosed || (n && memcmp(copy, a->closed, n * sizeof(*copy)) != 0))
		a->stale = true;
	free(a->closed);
	a->closed = copy;
	a->nclosed = n;
	if (a->market)
		rc = auc_auction_apply_closures(a, a->market, err);
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	return rc;
}

enum auc_code auc_auction_apply_closures(const struct auc_auction *a, struct auc_market *m,
					 struct auc_err *err)
{
	struct auc_closure *list = malloc((a->nclosed + 1) * sizeof(*list));
	double seconds = a->conf->slot_seconds;
	enum auc_code rc;
	unsigned n = 0;

	if (!list)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for %u closed times of nodes",
				   a->nclosed);
	for (unsigned i = 0; i < a->nclosed; i++) {
		const struct auc_closing *c = &a->closed[i];
		int server = auc_market_find_server(m, c->server);

		if (server < 0 || !(c->from < c->to))
			continue;
		/* A slot that is touched is closed. */
		list[n++] = (struct auc_closure){
			.server = (unsigned)server,
			.from = auc_slot_of(c->from, seconds),
			.to = isinf(c->to) ? INT64_MAX : auc_slot_from(c->to, seconds) - 1};
	}
	rc = auc_market_close(m, list, n, err);
	free(list);
	return rc;
}
