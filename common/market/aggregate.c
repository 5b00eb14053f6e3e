/*
 * aggregate.c - what a large server of many nodes (auc_market_add_whole()) has, slot by slot:
 * what its parts have that are neither off the market nor closed in that slot. What the others have
 * counts as used, but for the price, which goes by what is left.
 */
#include "config.h"

#include "market/cells.h"
#include "market/plan.h"

static bool is_open(const struct auc_market *m, size_t cell, unsigned part);
static bool refresh_row(struct auc_market *m, unsigned row, unsigned whole);

int64_t auc_cells_lost(const struct auc_market *m, size_t cell, unsigned server, unsigned tres)
{
	unsigned n = m->servers[server].nparts;
	int64_t lost = 0;

	for (unsigned i = 1; i <= n; i++)
		if (!is_open(m, cell - i, server - i))
			lost += m->servers[server - i].units[tres];
	return lost;
}

void auc_cells_refresh_whole(struct auc_market *m, unsigned whole, auc_slot from, auc_slot to)
{
	struct auc_share share = {.server = whole};
	bool moved = false;

	for (auc_slot t = from; t <= to; t++)
		moved |= refresh_row(m, (unsigned)(t - m->first), whole);
	if (moved && !m->bulk)
		auc_market_refresh(m, from, to, &share, 1);
}

void auc_cells_refresh_wholes(struct auc_market *m, auc_slot from, auc_slot to)
{
	for (unsigned s = 0; s < m->nservers; s++)
		if (m->servers[s].nparts)
			auc_cells_refresh_whole(m, s, from, to);
}

/* PART, of which CELL is. */
static bool is_open(const struct auc_market *m, size_t cell, unsigned part)
{
	return m->servers[part].inside && !(m->closed && m->closed[cell]);
}

/* True if anything is other than it was. */
static bool refresh_row(struct auc_market *m, unsigned row, unsigned whole)
{
	size_t cell = auc_cell(m, row, whole), at = auc_units(m, row, whole);
	unsigned n = m->servers[whole].nparts;
	bool moved = false;

	for (unsigned k = 0; k < m->ntres; k++) {
		int64_t used = 0;
		const double *unit = m->unit_price + at + (size_t)k * m->nservers, price = *unit;

		for (unsigned i = 1; i <= n; i++)
			used += is_open(m, cell - i, whole - i) ? m->used[(cell - i) * m->ntres + k]
								: m->servers[whole - i].units[k];
		moved |= used != m->used[cell * m->ntres + k];
		auc_cells_set_used(m, cell, whole, k, used);
		moved |= price != *unit;
	}
	return moved;
}
