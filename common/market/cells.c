/*
 * cells.c - see cells.h.
 *
 * Prices are cached per cell and TRES because pow() is what a quote could not afford; fits, bundle
 * prices and the order of servers per slot because they change with bookings only.
 */
#include "config.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "market/cells.h"
#include "market/plan.h"

_Static_assert(2 * AUC_TYPES_MAX <= 64, "a bit for each type");

#define HOUR       3600.0 /* s */
#define SORT_MOVES 16     /* places per server that are cheaper to move than to sort anew */
#define MOVE_PART  32     /* one server of so many is cheaper to move alone than to sort the row */
#define STAMPS     (UINT64_C(1) << 20) /* a market takes so many numbers at a time */

static uint64_t next_stamp(struct auc_market *m);
static bool blocks_sound(const struct auc_market *m, unsigned level,
			 const struct auc_type_cache *c);
static void shift_amounts(struct auc_market *m, unsigned shift);
static void shift_level(struct auc_market *m, unsigned level, auc_slot by);
static void empty_slots(struct auc_market *m, unsigned from);
static void raise_slots(struct auc_market *m, unsigned from);
static void refresh_slots(struct auc_market *m, unsigned from);
static void find_lowest(struct auc_market *m, unsigned row);
static uint8_t full_of(const struct auc_market *m, unsigned server, unsigned tres, int64_t used);
static void empty_rows(struct auc_market *m, unsigned from, unsigned count);
static int32_t fit_in_cell(const struct auc_market *m, const struct auc_bundle *type,
			   unsigned server, size_t cell);
static void reprice_slot(struct auc_market *m, unsigned slot, const bool *moved);
static double unit_price(const struct auc_market *m, size_t cell, unsigned server, unsigned tres,
			 int64_t used);
static const struct auc_price_curve *curve_of(const struct auc_market *m, unsigned server,
					      unsigned tres);
static void refresh_cell(struct auc_market *m, size_t cell, unsigned server, bool sort_later);
static bool may_fit(const struct auc_type_cache *c, unsigned row, unsigned server, size_t *at);
static void set_fit(struct auc_market *m, struct auc_type_cache *c, unsigned row, size_t at,
		    int32_t fit);
static void set_price(struct auc_market *m, unsigned type, unsigned row, size_t at, double price,
		      bool sort_later);
static void move_column(struct auc_type_cache *c, size_t first, uint32_t column, double to);
static unsigned first_from(const struct auc_type_cache *c, size_t first, unsigned low,
			   unsigned high, double price, uint32_t column);
static bool few(const struct auc_market *m, unsigned nservers);
static void refresh_block(struct auc_market *m, unsigned level, auc_slot i, unsigned server,
			  bool sort_later);
static bool block_part(const struct auc_market *m, unsigned level, auc_slot i, unsigned *row);
static void sort_order(const double *price, uint32_t *order, unsigned n);
static bool order_sound(const struct auc_type_cache *c, unsigned row);
static int32_t fit_in(const struct auc_market *m, const struct auc_bundle *type, unsigned server,
		      const int64_t *used);
static double bundle_price(const struct auc_bundle *type, const double *unit, size_t stride);

void auc_market_refresh(struct auc_market *m, auc_slot from, auc_slot to,
			const struct auc_share *shares, unsigned nshares)
{
	unsigned i, row;
	auc_slot t;

	for (t = from; t <= to; t++) {
		row = (unsigned)(t - m->first);
		for (i = 0; i < nshares; i++)
			refresh_cell(m, auc_cell(m, row, shares[i].server), shares[i].server,
				     !few(m, nshares));
		auc_cells_refresh_order(m, row);
	}
	auc_cells_refresh_blocks(m, from, to, shares, nshares);
}

void auc_market_advance(struct auc_market *m, auc_slot first)
{
	auc_slot old = m->first;
	unsigned level, shift;

	if (first <= old)
		return;
	m->first = first;
	if (!m->ready)
		return;
	shift = first - old < m->slots ? (unsigned)(first - old) : m->slots;
	shift_amounts(m, shift);
	for (level = 0; level < m->nlevels; level++)
		shift_level(m, level, (first >> level) - (old >> level));
	if (m->hourly)
		refresh_slots(m, m->slots - shift);
	auc_market_shift_closures(m, shift);
	auc_cells_refresh_wholes(m, m->first + (m->slots - shift), auc_market_last(m));
	auc_traffic_shift(m, shift);
	/* Blocks that were partly beyond the window have slots now that are not free. */
	if (m->idle_costs)
		auc_cells_refresh_blocks(m, first > old + m->slots ? first : old + m->slots,
					 auc_market_last(m), NULL, 0);
}

bool auc_market_cache_sound(const struct auc_market *m)
{
	const struct auc_type_cache *c;
	size_t cell, cells = (size_t)m->slots * m->nservers, at;
	unsigned i, k, s, t;
	int32_t fit;
	double unit;

	for (cell = 0; cell < cells; cell++) {
		s = (unsigned)(cell % m->nservers);
		t = (unsigned)(cell / m->nservers);
		at = auc_units(m, t, s);
		for (k = 0; k < m->ntres; k++) {
			unit = unit_price(m, cell, s, k, m->used[cell * m->ntres + k]);
			if (!m->given && m->unit_price[at + (size_t)k * m->nservers] != unit)
				return false;
			if (m->unit_price[at + (size_t)k * m->nservers] <
				    m->lowest[t * m->ntres + k] ||
			    m->full[(t * m->ntres + k) * m->stride + s] !=
				    full_of(m, s, k, m->used[cell * m->ntres + k]))
				return false;
		}
		for (i = 0; i < auc_cells_types(m); i++) {
			c = &m->cache[i];
			fit = auc_type_fit(c, t, s);
			if (fit != fit_in_cell(m, &m->types[i], s, cell) ||
			    auc_type_price(c, t, s) !=
				    (fit ? bundle_price(&m->types[i], m->unit_price + at,
							m->nservers)
					 : INFINITY))
				return false;
		}
	}
	for (i = 0; i < auc_cells_types(m); i++)
		for (t = 0; t < m->nrows; t++)
			if (!order_sound(&m->cache[i], t))
				return false;
	for (t = 1; t < m->nlevels; t++)
		for (i = 0; i < auc_cells_types(m); i++)
			if (!blocks_sound(m, t, &m->cache[i]))
				return false;
	return true;
}

static bool order_sound(const struct auc_type_cache *c, unsigned row)
{
	size_t first = auc_type_row(c, row);
	const double *price = c->price + first;
	uint32_t before, column;

	for (unsigned r = 1; r < c->n; r++) {
		before = auc_number(&c->order, first + r - 1);
		column = auc_number(&c->order, first + r);
		if (price[before] > price[column] ||
		    (price[before] == price[column] && before >= column))
			return false;
	}
	return true;
}

/* Blocks that are wholly in the window hold the sums and minima of their slots. */
static bool blocks_sound(const struct auc_market *m, unsigned level, const struct auc_type_cache *c)
{
	auc_slot i, t;
	unsigned s, row;
	double price, whole;
	int32_t fit, least;

	for (i = (m->first >> level) + 1; i < auc_market_last(m) >> level; i++)
		for (s = 0; s < m->nservers; s++) {
			row = auc_block_row(m, level, i);
			price = 0;
			least = INT32_MAX;
			for (t = i << level; t < (i + 1) << level; t++) {
				price += auc_type_price(c, (unsigned)(t - m->first), s);
				fit = auc_type_fit(c, (unsigned)(t - m->first), s);
				least = fit < least ? fit : least;
			}
			whole = auc_type_price(c, row, s);
			if (auc_type_fit(c, row, s) != least ||
			    (least ? fabs(whole - price) > 1e-9 * price : isfinite(whole)))
				return false;
		}
	return true;
}

enum auc_code auc_cells_lay_out(struct auc_market *m, struct auc_err *err)
{
	size_t row = m->nservers ? m->nservers : 1;
	size_t amounts = row * m->slots * (m->ntres ? m->ntres : 1);
	unsigned i;

	m->level_row[1] = m->slots;
	m->nlevels = 1;
	while (m->nlevels < AUC_BLOCK_LEVELS && m->slots >> m->nlevels) {
		m->level_row[m->nlevels + 1] =
			m->level_row[m->nlevels] + (m->slots >> m->nlevels) + 2;
		m->nlevels++;
	}
	m->nrows = m->level_row[m->nlevels];
	m->used = calloc(amounts, sizeof(*m->used));
	m->stride = (row + 15) & ~(size_t)15;
	m->full = calloc(m->stride * m->slots * (m->ntres ? m->ntres : 1), sizeof(*m->full));
	m->lowest = calloc((size_t)m->slots * (m->ntres ? m->ntres : 1), sizeof(*m->lowest));
	m->unit_price = calloc(amounts, sizeof(*m->unit_price));
	m->idle_price = calloc(row * (m->ntres ? m->ntres : 1), sizeof(*m->idle_price));
	m->changed = calloc(row, sizeof(*m->changed));
	m->sorted = calloc(row, sizeof(*m->sorted));
	m->moved = calloc(m->nrows, sizeof(*m->moved));
	m->freed = calloc(row, sizeof(*m->freed));
	m->stamp = calloc(m->nrows, sizeof(*m->stamp));
	m->stamp_next = m->stamp_end = 0;
	if (!m->used || !m->full || !m->lowest || !m->unit_price || !m->idle_price || !m->changed ||
	    !m->sorted || !m->moved || !m->freed || !m->stamp || !auc_traffic_lay_out(m))
		return auc_err_set(err, AUC_ENOMEM,
				   "no memory for a market of %u servers and %u slots", m->nservers,
				   m->slots);
	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		if (!auc_columns_make(m, i))
			return auc_err_set(err, AUC_ENOMEM,
					   "no memory for a market of %u servers and %u slots",
					   m->nservers, m->slots);
	auc_cells_lay_out_idle(m);
	empty_rows(m, 0, m->nrows);
	empty_slots(m, 0);
	if (m->hourly)
		refresh_slots(m, 0);
	if (m->idle_costs)
		auc_cells_refresh_blocks(m, m->first, auc_market_last(m), NULL, 0);
	auc_cells_refresh_wholes(m, m->first, auc_market_last(m));
	return AUC_OK;
}

void auc_cells_lay_out_idle(struct auc_market *m)
{
	const struct auc_server *server;
	unsigned s, k, i, level, row;
	double price;

	m->idle_costs = m->hourly;
	for (s = 0; s < m->nservers; s++) {
		server = &m->servers[s];
		for (k = 0; k < m->ntres; k++) {
			price = m->idle_price[(size_t)s * m->ntres + k];
			if (!m->given)
				price = server->units[k] ? auc_price_unit(curve_of(m, s, k), 0,
									  (double)server->units[k])
							 : 0;
			price = fmax(price, auc_cells_least_floor(m, s, k));
			m->idle_price[(size_t)s * m->ntres + k] = price;
			m->idle_costs = m->idle_costs || price > 0;
		}
	}
	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		auc_cells_lay_out_empty(m, i);
	m->idle_stamp = next_stamp(m);
	/* Rows after the last block are what the window grows into. */
	for (level = 1; level < m->nlevels; level++) {
		row = auc_block_row(m, level, auc_market_last(m) >> level) + 1;
		empty_rows(m, row, m->level_row[level + 1] - row);
	}
}

static uint64_t next_stamp(struct auc_market *m)
{
	static _Atomic uint64_t taken = 1;

	if (m->stamp_next == m->stamp_end) {
		m->stamp_next = atomic_fetch_add(&taken, STAMPS);
		m->stamp_end = m->stamp_next + STAMPS;
	}
	return m->stamp_next++;
}

void auc_cells_lay_out_empty(struct auc_market *m, unsigned type)
{
	static const int64_t nothing[AUC_TRES_MAX];
	struct auc_type_cache *c = &m->cache[type];
	unsigned s, i;

	for (i = 0; i < c->n; i++) {
		s = c->server[i];
		c->order0[i] = i;
		c->price0[i] = fit_in(m, &m->types[type], s, nothing)
				       ? bundle_price(&m->types[type],
						      m->idle_price + (size_t)s * m->ntres, 1)
				       : INFINITY;
	}
	sort_order(c->price0, c->order0, c->n);
	c->total0 = c->max0 = 0;
	for (s = 0; s < m->nservers; s++) {
		c->fit0[s] = fit_in(m, &m->types[type], s, nothing);
		c->total0 += c->fit0[s];
		if (c->fit0[s] > c->max0)
			c->max0 = c->fit0[s];
	}
}

/* Drops the first SHIFT slots and adds as many empty ones. */
static void shift_amounts(struct auc_market *m, unsigned shift)
{
	size_t row = (size_t)m->nservers * m->ntres, keep = (m->slots - shift) * row;

	memmove(m->used, m->used + shift * row, keep * sizeof(*m->used));
	memmove(m->full, m->full + shift * m->stride * m->ntres,
		(m->slots - shift) * m->stride * m->ntres);
	memmove(m->lowest, m->lowest + (size_t)shift * m->ntres,
		(size_t)(m->slots - shift) * m->ntres * sizeof(*m->lowest));
	memmove(m->unit_price, m->unit_price + shift * row, keep * sizeof(*m->unit_price));
	empty_slots(m, m->slots - shift);
}

/* The same with the blocks of one level in all caches. */
static void shift_level(struct auc_market *m, unsigned level, auc_slot by)
{
	unsigned rows = m->level_row[level + 1] - m->level_row[level];
	unsigned shift = by < rows ? (unsigned)by : rows, i;
	struct auc_type_cache *c;
	size_t to, from, keep;

	memmove(m->stamp + m->level_row[level], m->stamp + m->level_row[level] + shift,
		(rows - shift) * sizeof(*m->stamp));
	for (i = 0; i < auc_cells_types(m); i++) {
		c = &m->cache[i];
		to = auc_type_row(c, m->level_row[level]);
		from = to + auc_type_row(c, shift);
		keep = auc_type_row(c, rows - shift);
		auc_numbers_move(&c->fit, to, from, keep);
		memmove(c->price + to, c->price + from, keep * sizeof(*c->price));
		auc_numbers_move(&c->order, to, from, keep);
	}
	empty_rows(m, m->level_row[level] + rows - shift, shift);
}

/* The slots from index FROM on: nothing used, idle prices. */
static void empty_slots(struct auc_market *m, unsigned from)
{
	size_t row = (size_t)m->nservers * m->ntres, at;

	for (at = from * row; at < m->slots * row; at += row) {
		memset(m->used + at, 0, row * sizeof(*m->used));
		memset(m->full + at / row * m->stride * m->ntres, 0, m->stride * m->ntres);
		for (unsigned k = 0; k < m->ntres; k++)
			for (unsigned s = 0; s < m->nservers; s++)
				m->unit_price[at + (size_t)k * m->nservers + s] =
					m->idle_price[(size_t)s * m->ntres + k];
	}
	if (m->hourly)
		raise_slots(m, from);
	for (unsigned t = from; t < m->slots; t++)
		find_lowest(m, t);
}

/* Their caches, where what nothing is used of does not cost the same in all of them. */
static void refresh_slots(struct auc_market *m, unsigned from)
{
	for (unsigned t = from; t < m->slots && auc_cells_types(m); t++) {
		for (unsigned s = 0; s < m->nservers; s++)
			refresh_cell(m, auc_cell(m, t, s), s, true);
		auc_cells_refresh_order(m, t);
	}
}

static void empty_rows(struct auc_market *m, unsigned from, unsigned count)
{
	struct auc_type_cache *c;
	unsigned i, r, k;
	size_t at, first;

	for (r = from; r < from + count; r++)
		m->stamp[r] = next_stamp(m);
	for (i = 0; i < auc_cells_types(m); i++) {
		c = &m->cache[i];
		first = auc_type_row(c, from);
		for (k = 0; k < c->n && count; k++)
			auc_number_set(&c->fit, first + k, (uint32_t)c->fit0[c->server[k]]);
		for (r = from; r < from + count; r++) {
			at = auc_type_row(c, r);
			auc_numbers_move(&c->fit, at, first, c->n);
			memcpy(c->price + at, c->price0, c->n * sizeof(*c->price));
			auc_numbers_write(&c->order, at, c->n, c->order0);
		}
	}
}

void auc_cells_refresh_full(struct auc_market *m)
{
	for (size_t cell = 0; cell < (size_t)m->slots * m->nservers; cell++)
		for (unsigned k = 0; k < m->ntres; k++) {
			unsigned server = (unsigned)(cell % m->nservers);

			m->full[(cell / m->nservers * m->ntres + k) * m->stride + server] =
				full_of(m, server, k, m->used[cell * m->ntres + k]);
		}
}

void auc_cells_raise(struct auc_market *m)
{
	raise_slots(m, 0);
}

/* The slots from index FROM on. */
static void raise_slots(struct auc_market *m, unsigned from)
{
	double *unit = m->unit_price + auc_units(m, from, 0);

	for (unsigned t = from; m->floors && t < m->slots; t++)
		for (unsigned k = 0; k < m->ntres; k++)
			for (unsigned s = 0; s < m->nservers; s++, unit++)
				*unit = fmax(*unit, auc_cells_floor(m, s, k, m->first + t));
}

double auc_cells_floor(const struct auc_market *m, unsigned server, unsigned tres, auc_slot t)
{
	const struct auc_server *s = &m->servers[server];
	int64_t hour;

	if (!s->hourly || !(s->floor[tres] > 0))
		return s->floor[tres];
	hour = (int64_t)floor(((double)t * m->slot_seconds + m->clock) / HOUR) % AUC_DAY_HOURS;
	return s->floor[tres] * s->hour[hour < 0 ? hour + AUC_DAY_HOURS : hour];
}

double auc_cells_least_floor(const struct auc_market *m, unsigned server, unsigned tres)
{
	const struct auc_server *s = &m->servers[server];
	double least = 1;

	for (unsigned i = 0; i < AUC_DAY_HOURS && s->hourly; i++)
		least = i ? fmin(least, s->hour[i]) : s->hour[i];
	return s->floor[tres] * least;
}

void auc_cells_refresh_lowest(struct auc_market *m)
{
	for (unsigned t = 0; t < m->slots; t++)
		find_lowest(m, t);
}

/* Of one row. */
static void find_lowest(struct auc_market *m, unsigned row)
{
	const double *unit = m->unit_price + auc_units(m, row, 0);
	double *lowest = m->lowest + (size_t)row * m->ntres;

	for (unsigned k = 0; k < m->ntres; k++) {
		double least = m->nservers ? *unit : 0;

		for (unsigned s = 0; s < m->nservers; s++, unit++)
			least = *unit < least ? *unit : least;
		lowest[k] = least;
	}
}

static uint8_t full_of(const struct auc_market *m, unsigned server, unsigned tres, int64_t used)
{
	int64_t capacity = m->servers[server].units[tres];

	if (used <= 0 || capacity <= 0)
		return 0;
	return used < capacity ? (uint8_t)(used * 255 / capacity) : 255;
}

void auc_cells_refresh_all(struct auc_market *m)
{
	unsigned t, s;

	for (t = 0; t < m->slots && auc_cells_types(m); t++) {
		for (s = 0; s < m->nservers; s++)
			refresh_cell(m, auc_cell(m, t, s), s, true);
		auc_cells_refresh_order(m, t);
	}
	auc_cells_refresh_blocks(m, m->first, auc_market_last(m), NULL, 0);
}

void auc_cells_reprice(struct auc_market *m, const bool *moved)
{
	unsigned t;

	auc_cells_lay_out_idle(m);
	for (t = 0; t < m->slots; t++)
		reprice_slot(m, t, moved);
	auc_cells_refresh_blocks(m, m->first, auc_market_last(m), NULL, 0);
}

/* The same in one slot, with the caches of whatever it changes. */
static void reprice_slot(struct auc_market *m, unsigned slot, const bool *moved)
{
	bool touched, any = false;
	double price, *unit;
	unsigned k, s;
	size_t at;

	for (s = 0; s < m->nservers; s++) {
		touched = false;
		for (k = 0; k < m->ntres; k++) {
			if (!moved[k])
				continue;
			at = auc_cell(m, slot, s) * m->ntres + k;
			unit = m->unit_price + auc_units(m, slot, s) + (size_t)k * m->nservers;
			price = unit_price(m, auc_cell(m, slot, s), s, k, m->used[at]);
			touched = touched || price != *unit;
			*unit = price;
		}
		if (touched)
			refresh_cell(m, auc_cell(m, slot, s), s, true);
		any = any || touched;
	}
	if (any)
		auc_cells_refresh_order(m, slot);
	find_lowest(m, slot);
}

/* What the price function says of USED units in CELL. */
static double unit_price(const struct auc_market *m, size_t cell, unsigned server, unsigned tres,
			 int64_t used)
{
	int64_t lost = m->servers[server].nparts ? auc_cells_lost(m, cell, server, tres) : 0;

	double floor = auc_cells_floor(m, server, tres, m->first + (auc_slot)(cell / m->nservers));

	if (used <= lost)
		return fmax(m->idle_price[(size_t)server * m->ntres + tres], floor);
	return fmax(auc_price_unit(curve_of(m, server, tres), (double)(used - lost),
				   (double)(m->servers[server].units[tres] - lost)),
		    floor);
}

static const struct auc_price_curve *curve_of(const struct auc_market *m, unsigned server,
					      unsigned tres)
{
	return &m->tres[tres].curve[m->servers[server].roles & AUC_ROLES_ALL];
}

void auc_cells_refresh_cell(struct auc_market *m, size_t cell, unsigned server)
{
	refresh_cell(m, cell, server, false);
}

/* SORT_LATER: auc_cells_refresh_order() follows once all cells of the row are right. */
static void refresh_cell(struct auc_market *m, size_t cell, unsigned server, bool sort_later)
{
	unsigned row = (unsigned)(cell / m->nservers), i;
	const double *unit = m->unit_price + auc_units(m, row, server);
	struct auc_type_cache *c;
	int32_t fit;
	size_t at;

	for (i = 0; i < auc_cells_types(m); i++) {
		c = &m->cache[i];
		if (!may_fit(c, row, server, &at))
			continue;
		fit = fit_in_cell(m, &m->types[i], server, cell);
		set_fit(m, c, row, at, fit);
		set_price(m, i, row, at,
			  fit ? bundle_price(&m->types[i], unit, m->nservers) : INFINITY,
			  sort_later);
	}
}

/* False: none of C's type fits on SERVER even if that is empty, and ROW says so. Else *AT is its
 * place there. */
static bool may_fit(const struct auc_type_cache *c, unsigned row, unsigned server, size_t *at)
{
	if (c->column[server] >= c->n)
		return false;
	*at = auc_type_row(c, row) + c->column[server];
	return c->fit0[server] || auc_number(&c->fit, *at);
}

/* C's at AT, which is in ROW. */
static void set_fit(struct auc_market *m, struct auc_type_cache *c, unsigned row, size_t at,
		    int32_t fit)
{
	if (auc_number(&c->fit, at) == (uint32_t)fit)
		return;
	auc_number_set(&c->fit, at, (uint32_t)fit);
	m->stamp[row] = next_stamp(m);
}

/* Of one of TYPE at AT, which is in ROW. */
static void set_price(struct auc_market *m, unsigned type, unsigned row, size_t at, double price,
		      bool sort_later)
{
	struct auc_type_cache *c = &m->cache[type];
	size_t first = auc_type_row(c, row);

	if (c->price[at] == price)
		return;
	m->stamp[row] = next_stamp(m);
	if (sort_later) {
		m->moved[row] |= UINT64_C(1) << type;
		c->price[at] = price;
	} else {
		move_column(c, first, (uint32_t)(at - first), price);
	}
}

/* COLUMN's price becomes TO in the row that begins at FIRST, whose order, which is right before, is
 * right again. */
static void move_column(struct auc_type_cache *c, size_t first, uint32_t column, double to)
{
	double *price = &c->price[first + column];
	unsigned from = first_from(c, first, 0, c->n, *price, column), at;

	if (to < *price) {
		at = first_from(c, first, 0, from, to, column);
		auc_numbers_move(&c->order, first + at + 1, first + at, from - at);
	} else {
		at = first_from(c, first, from + 1, c->n, to, column) - 1;
		auc_numbers_move(&c->order, first + from, first + from + 1, at - from);
	}
	auc_number_set(&c->order, first + at, column);
	*price = to;
}

/* The first place of [LOW, HIGH) whose column does not come before COLUMN at PRICE; HIGH. */
static unsigned first_from(const struct auc_type_cache *c, size_t first, unsigned low,
			   unsigned high, double price, uint32_t column)
{
	unsigned middle;
	uint32_t other;
	double p;

	while (low < high) {
		middle = low + (high - low) / 2;
		other = auc_number(&c->order, first + middle);
		p = c->price[first + other];
		if (p < price || (p == price && other < column))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* True if so many of the servers are cheaper to move one by one than to sort all. */
static bool few(const struct auc_market *m, unsigned nservers)
{
	return nservers <= m->nservers / MOVE_PART + 1;
}

void auc_cells_refresh_order(struct auc_market *m, unsigned row)
{
	struct auc_type_cache *c;
	size_t at;
	unsigned i;

	for (i = 0; i < auc_cells_types(m) && m->moved[row]; i++) {
		if (!(m->moved[row] >> i & 1))
			continue;
		c = &m->cache[i];
		at = auc_type_row(c, row);
		auc_numbers_read(&c->order, at, c->n, m->sorted);
		sort_order(c->price + at, m->sorted, c->n);
		auc_numbers_write(&c->order, at, c->n, m->sorted);
	}
	m->moved[row] = 0;
}

void auc_cells_refresh_blocks(struct auc_market *m, auc_slot from, auc_slot to,
			      const struct auc_share *shares, unsigned nshares)
{
	unsigned level, j, n = shares ? nshares : m->nservers;
	auc_slot i;

	for (level = 1; level < m->nlevels && auc_cells_types(m); level++)
		for (i = from >> level; i <= to >> level; i++) {
			for (j = 0; j < n; j++)
				refresh_block(m, level, i, shares ? shares[j].server : j,
					      !few(m, n));
			auc_cells_refresh_order(m, auc_block_row(m, level, i));
		}
}

static void refresh_block(struct auc_market *m, unsigned level, auc_slot i, unsigned server,
			  bool sort_later)
{
	unsigned row = auc_block_row(m, level, i), type, half, part[2], nparts = 0;
	struct auc_type_cache *c;
	int32_t fit, least;
	double price;
	size_t at;

	for (half = 0; half < 2; half++)
		nparts += block_part(m, level - 1, 2 * i + half, &part[nparts]);
	for (type = 0; type < auc_cells_types(m); type++) {
		c = &m->cache[type];
		if (!may_fit(c, row, server, &at))
			continue;
		least = c->fit0[server];
		price = least ? 0 : INFINITY;
		for (half = 0; half < nparts; half++) {
			fit = auc_type_fit(c, part[half], server);
			least = fit < least ? fit : least;
			price += auc_type_price(c, part[half], server);
		}
		set_fit(m, c, row, at, least);
		set_price(m, type, row, at, price, sort_later);
	}
}

/* True and its row if block I of LEVEL begins in the window. */
static bool block_part(const struct auc_market *m, unsigned level, auc_slot i, unsigned *row)
{
	if (i < m->first >> level || i > auc_market_last(m) >> level)
		return false;
	*row = auc_block_row(m, level, i);
	return true;
}

unsigned auc_cells_types(const struct auc_market *m)
{
	return m->gangs_only ? 0 : m->nworker_types + m->nps_types;
}

static int compare_price(const void *a, const void *b, void *arg)
{
	const double *price = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (price[i] != price[j])
		return price[i] < price[j] ? -1 : 1;
	return (i > j) - (i < j);
}

/*
 * By insertion, as new bases of the price leave all but a few servers where they were; what turns
 * out to be another order altogether goes to qsort_r().
 */
static void sort_order(const double *price, uint32_t *order, unsigned n)
{
	unsigned budget = n * SORT_MOVES, j, k;
	uint32_t s;

	for (j = 1; j < n; j++) {
		s = order[j];
		for (k = j; k && (price[order[k - 1]] > price[s] ||
				  (price[order[k - 1]] == price[s] && order[k - 1] > s));
		     k--)
			order[k] = order[k - 1];
		order[k] = s;
		if (j - k > budget) {
			qsort_r(order, n, sizeof(*order), compare_price, (void *)price);
			return;
		}
		budget -= j - k;
	}
}

/* How many of TYPE fit on SERVER beside USED. A server without the role takes none. */
static int32_t fit_in(const struct auc_market *m, const struct auc_bundle *type, unsigned server,
		      const int64_t *used)
{
	const struct auc_server *s = &m->servers[server];

	return s->roles & type->role ? auc_cells_fit(type, s->units, used) : 0;
}

int32_t auc_cells_fit(const struct auc_bundle *type, const int64_t *units, const int64_t *used)
{
	int64_t fit = AUC_FIT_MAX, n;
	unsigned i, k;

	for (i = 0; i < type->nused; i++) {
		k = type->used[i];
		n = (units[k] - used[k]) / type->units[k];
		if (n < fit)
			fit = n;
	}
	return (int32_t)fit;
}

int32_t auc_market_fits(const struct auc_market *m, unsigned type, size_t cell)
{
	return m->gangs_only ? fit_in_cell(m, &m->types[type], (unsigned)(cell % m->nservers), cell)
			     : auc_type_fit(&m->cache[type], (unsigned)(cell / m->nservers),
					    (unsigned)(cell % m->nservers));
}

static int32_t fit_in_cell(const struct auc_market *m, const struct auc_bundle *type,
			   unsigned server, size_t cell)
{
	if (m->closed && m->closed[cell])
		return 0;
	return fit_in(m, type, server, m->used + cell * m->ntres);
}

/* UNIT: what TRES 0 costs there; the others are STRIDE apart. */
static double bundle_price(const struct auc_bundle *type, const double *unit, size_t stride)
{
	double price = 0;
	unsigned i;

	for (i = 0; i < type->nused; i++)
		price += unit[type->used[i] * stride] * type->amount[type->used[i]];
	return price;
}

void auc_cells_set_used(struct auc_market *m, size_t cell, unsigned server, unsigned tres,
			int64_t used)
{
	size_t row = cell / m->nservers;
	double price;

	m->used[cell * m->ntres + tres] = used;
	m->full[(row * m->ntres + tres) * m->stride + server] = full_of(m, server, tres, used);
	if (m->given)
		return;
	price = unit_price(m, cell, server, tres, used);
	m->unit_price[(row * m->ntres + tres) * m->nservers + server] = price;
	if (price < m->lowest[row * m->ntres + tres])
		m->lowest[row * m->ntres + tres] = price;
}
