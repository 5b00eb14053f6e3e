/*
 * closures.c - servers that are closed for a time: in the market by index and slot (market.h), and
 * in the auction by name and Unix time (auction.h), which outlives a market.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auction/auction-private.h"
#include "market/cells.h"

static bool clip(const struct auc_market *m, const struct auc_closure *c, auc_slot from,
		 auc_slot *first, auc_slot *last);
static void mark(const struct auc_market *m, const struct auc_closure *c, uint8_t *cells);

enum auc_code auc_market_close(struct auc_market *m, const struct auc_closure *list, size_t n,
			       struct auc_err *err)
{
	size_t row = m->nservers, cells = row * m->slots, i;
	struct auc_closure *copy;
	uint8_t *closed, *old = m->closed;
	auc_slot from = INT64_MAX, to = INT64_MIN;
	unsigned s, t, nchanged = 0;

	for (i = 0; i < n; i++)
		if (list[i].server >= m->nservers)
			return auc_err_set(err, AUC_ENOENT, "closed server %u: not in the market",
					   list[i].server);
	if (!n && !old)
		return AUC_OK;
	copy = malloc((n + 1) * sizeof(*copy));
	closed = calloc(cells + 1, sizeof(*closed));
	if (!copy || !closed) {
		free(copy);
		free(closed);
		return auc_err_set(err, AUC_ENOMEM, "no memory for %zu closed times of servers", n);
	}
	if (n)
		memcpy(copy, list, n * sizeof(*copy));
	for (i = 0; i < n; i++)
		mark(m, &copy[i], closed);
	free(m->closures);
	m->closures = copy;
	m->nclosures = n;
	m->closed = closed;
	for (s = 0; s < m->nservers; s++) {
		bool changed = false;

		for (t = 0; t < m->slots; t++) {
			if (closed[t * row + s] == (old ? old[t * row + s] : 0))
				continue;
			changed = true;
			from = m->first + t < from ? m->first + t : from;
			to = m->first + t > to ? m->first + t : to;
		}
		if (changed)
			m->changed[nchanged++] = (struct auc_share){.server = s};
	}
	free(old);
	if (nchanged) {
		auc_market_refresh(m, from, to, m->changed, nchanged);
		auc_cells_refresh_wholes(m, from, to);
	}
	return AUC_OK;
}

bool auc_market_is_closed(const struct auc_market *m, unsigned server, auc_slot t)
{
	return m->closed && t >= m->first && t <= auc_market_last(m) &&
	       m->closed[auc_cell(m, (unsigned)(t - m->first), server)];
}

void auc_market_shift_closures(struct auc_market *m, unsigned shift)
{
	size_t row = m->nservers, keep = (m->slots - shift) * row, i;
	auc_slot first, last, new = m->first + (m->slots - shift);
	struct auc_share share = {0};

	if (!m->closed)
		return;
	memmove(m->closed, m->closed + shift * row, keep);
	memset(m->closed + keep, 0, shift * row);
	for (i = 0; i < m->nclosures; i++)
		mark(m, &m->closures[i], m->closed);
	for (i = 0; i < m->nclosures; i++) {
		if (!clip(m, &m->closures[i], new, &first, &last))
			continue;
		share.server = m->closures[i].server;
		auc_market_refresh(m, first, last, &share, 1);
	}
}

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

/* The part of C that is in the window, not before FROM. */
static bool clip(const struct auc_market *m, const struct auc_closure *c, auc_slot from,
		 auc_slot *first, auc_slot *last)
{
	*first = c->from > from ? c->from : from;
	*last = c->to < auc_market_last(m) ? c->to : auc_market_last(m);
	return *first <= *last;
}

static void mark(const struct auc_market *m, const struct auc_closure *c, uint8_t *cells)
{
	auc_slot first, last, t;

	if (!clip(m, c, m->first, &first, &last))
		return;
	for (t = first; t <= last; t++)
		cells[auc_cell(m, (unsigned)(t - m->first), c->server)] = 1;
}
