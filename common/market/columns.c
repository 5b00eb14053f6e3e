/*
 * columns.c - which servers the caches of a type are of (timeline.h).
 *
 * In a cluster of several kinds of nodes a type fits on a part of them, and a row of these alone is
 * shorter to keep and to look at. A server that gets room for a type of which it has no column is
 * rare: that type has a column for each server from then on.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "market/cells.h"

static const int64_t nothing[AUC_TRES_MAX];

static bool make_columns(const struct auc_market *m, struct auc_type_cache *c,
			 const struct auc_bundle *type, int32_t most, bool all);
static void copy_row(const struct auc_market *m, unsigned type, unsigned row,
		     struct auc_type_cache *to);

bool auc_columns_make(struct auc_market *m, unsigned type)
{
	return make_columns(m, &m->cache[type], &m->types[type], 0, false);
}

/* No server holds more than MOST, or than its capacity says. ALL: each has a column. */
static bool make_columns(const struct auc_market *m, struct auc_type_cache *c,
			 const struct auc_bundle *type, int32_t most, bool all)
{
	size_t servers = m->nservers ? m->nservers : 1, cells, columns;
	unsigned s, hosts = 0;
	int32_t fit;

	for (s = 0; s < m->nservers; s++) {
		fit = auc_cells_fit(type, m->servers[s].units, nothing);
		hosts += fit > 0;
		most = fit > most ? fit : most;
	}
	all = all || hosts > m->nservers / 2;
	c->n = all ? m->nservers : hosts;
	columns = c->n ? c->n : 1;
	cells = m->gangs_only ? 1 : columns * m->nrows;
	c->server = calloc(columns, sizeof(*c->server));
	c->column = calloc(servers, sizeof(*c->column));
	c->fit0 = calloc(servers, sizeof(*c->fit0));
	c->price = calloc(cells, sizeof(*c->price));
	c->price0 = calloc(columns, sizeof(*c->price0));
	c->order0 = calloc(columns, sizeof(*c->order0));
	if (!auc_numbers_make(&c->fit, cells, (uint32_t)most) ||
	    !auc_numbers_make(&c->order, cells, c->n) || !c->server || !c->column || !c->fit0 ||
	    !c->price || !c->price0 || !c->order0)
		return false;
	for (hosts = s = 0; s < m->nservers; s++) {
		if (all || auc_cells_fit(type, m->servers[s].units, nothing))
			c->server[hosts++] = s;
		else
			c->column[s] = UINT32_MAX;
	}
	while (hosts--)
		c->column[c->server[hosts]] = hosts;
	return true;
}

void auc_columns_free(struct auc_type_cache *c)
{
	free(c->server);
	free(c->column);
	auc_numbers_free(&c->fit);
	free(c->price);
	auc_numbers_free(&c->order);
	free(c->fit0);
	free(c->price0);
	free(c->order0);
	memset(c, 0, sizeof(*c));
}

enum auc_code auc_columns_admit(struct auc_market *m, unsigned server, const int64_t *units,
				struct auc_err *err)
{
	struct auc_type_cache *c, anew;
	unsigned type, row;
	int32_t fit, most;

	for (type = 0; type < m->nworker_types + m->nps_types; type++) {
		c = &m->cache[type];
		fit = auc_cells_fit(&m->types[type], units, nothing);
		if (!fit || (c->column[server] < c->n && auc_numbers_hold(&c->fit, (uint32_t)fit)))
			continue;
		most = c->fit.wide ? AUC_FIT_MAX : fit;
		anew = (struct auc_type_cache){0};
		if (!make_columns(m, &anew, &m->types[type], most, true)) {
			auc_columns_free(&anew);
			return auc_err_set(err, AUC_ENOMEM,
					   "no memory for a market of %u servers and %u slots",
					   m->nservers, m->slots);
		}
		for (row = 0; row < m->nrows && type < auc_cells_types(m); row++)
			copy_row(m, type, row, &anew);
		auc_columns_free(c);
		*c = anew;
		auc_cells_lay_out_empty(m, type);
	}
	return AUC_OK;
}

/* TO has a column for each server. */
static void copy_row(const struct auc_market *m, unsigned type, unsigned row,
		     struct auc_type_cache *to)
{
	size_t at = auc_type_row(to, row);

	for (unsigned s = 0; s < m->nservers; s++) {
		auc_number_set(&to->fit, at + s, (uint32_t)auc_type_fit(&m->cache[type], row, s));
		to->price[at + s] = auc_type_price(&m->cache[type], row, s);
	}
	auc_type_order(m, type, row, m->sorted);
	auc_numbers_write(&to->order, at, m->nservers, m->sorted);
}

void auc_type_fits(const struct auc_market *m, unsigned type, unsigned row, int32_t *to)
{
	const struct auc_type_cache *c = &m->cache[type];
	size_t at = auc_type_row(c, row);

	if (c->n == m->nservers) {
		auc_numbers_read(&c->fit, at, c->n, (uint32_t *)to);
		return;
	}
	memset(to, 0, m->nservers * sizeof(*to));
	for (unsigned i = 0; i < c->n; i++)
		to[c->server[i]] = (int32_t)auc_number(&c->fit, at + i);
}

void auc_type_order(const struct auc_market *m, unsigned type, unsigned row, uint32_t *to)
{
	const struct auc_type_cache *c = &m->cache[type];
	unsigned n = 0, s;
	double price;
	int32_t fit;

	while (auc_type_ranked(c, row, n, &to[n], &fit, &price))
		n++;
	for (s = 0; s < m->nservers; s++)
		if (!auc_type_fit(c, row, s))
			to[n++] = s;
}
