/* closures.c - slots in which a server of the market takes nothing more: see market.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "market/cells.h"
#include "market/plan.h"

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
			m->freed[s] = ++m->frees;
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
