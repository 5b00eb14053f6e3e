/*
 * market.c - see market.h and market-private.h.
 *
 * Amounts are integers here so that 3 x 0.1 GPU fill 0.3 GPU exactly. Prices are cached per cell
 * and TRES because pow() is what a quote could not afford; fits, bundle prices and the order of
 * servers per slot because they change with bookings only.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "market-private.h"
#include "num.h"
#include "plan.h"

#define UNITS_LIMIT  4503599627370496.0 /* 2^52: the largest capacity in units */
#define NEVER_FITS   (INT64_C(1) << 53) /* units of an amount beyond every capacity */
#define SCALE_MAX    9
#define SORT_MOVES   16   /* places per server that are cheaper to move than to sort anew */
#define AMOUNT_SLACK 1e-9 /* of an amount, at least of 1: more than rounding to units takes */

/* The price functions of all TRES, by the server's roles. */
struct curves {
	struct auc_price_curve transfer;
	struct auc_price_curve of[AUC_TRES_MAX][AUC_ROLES_ALL + 1];
};

static enum auc_code add_amounts(struct auc_market *m, double *amount,
				 const struct auc_named *named, unsigned n, const char *what,
				 const char *name, struct auc_err *err);
static enum auc_code add_bundle(struct auc_market *m, struct auc_bundle *list, unsigned *count,
				unsigned role, const char *name, const struct auc_named *tres,
				unsigned ntres, double bandwidth, bool kept, struct auc_err *err);
static bool same_amounts(const struct auc_market *m, const struct auc_bundle *b,
			 const struct auc_named *tres, unsigned ntres);
static enum auc_code fix_scales(struct auc_market *m, struct auc_err *err);
static enum auc_code to_units(const struct auc_tres *tres, const char *name, double *amount,
			      int64_t *units, struct auc_err *err);
static enum auc_code read_price(const struct auc_market *m, const struct auc_price *price,
				struct curves *curves, struct auc_err *err);
static bool same_curves(const struct auc_price_curve *a, const struct auc_price_curve *b);
static struct auc_market *same_servers(const struct auc_market *from, auc_slot first,
				       unsigned slots);
static enum auc_code lay_out(struct auc_market *m, struct auc_err *err);
static void lay_out_idle(struct auc_market *m);
static void lay_out_empty(struct auc_market *m, unsigned type);
static bool blocks_sound(const struct auc_market *m, unsigned level,
			 const struct auc_type_cache *c);
static void shift_amounts(struct auc_market *m, unsigned shift);
static void shift_level(struct auc_market *m, unsigned level, auc_slot by);
static void empty_slots(struct auc_market *m, unsigned from);
static void empty_rows(struct auc_market *m, unsigned from, unsigned count);
static void set_given(struct auc_market *m, const struct auc_given_price *g);
static void refresh_all(struct auc_market *m);
static int32_t fit_in_cell(const struct auc_market *m, const struct auc_bundle *type,
			   unsigned server, size_t cell);
static void reprice(struct auc_market *m, const bool *moved);
static void reprice_slot(struct auc_market *m, unsigned slot, const bool *moved);
static double unit_price(const struct auc_market *m, unsigned server, unsigned tres, int64_t used);
static const struct auc_price_curve *curve_of(const struct auc_market *m, unsigned server,
					      unsigned tres);
static void refresh_cell(struct auc_market *m, size_t cell, unsigned server);
static void refresh_order(struct auc_market *m, unsigned row);
static void refresh_blocks(struct auc_market *m, auc_slot from, auc_slot to,
			   const struct auc_share *shares, unsigned nshares);
static void refresh_block(struct auc_market *m, unsigned level, auc_slot i, unsigned server);
static bool block_part(const struct auc_market *m, unsigned level, auc_slot i, unsigned *row);
static void sort_order(const double *price, uint32_t *order, unsigned n);
static int32_t fit_in(const struct auc_market *m, const struct auc_bundle *type, unsigned server,
		      const int64_t *used);
static double bundle_price(const struct auc_bundle *type, const double *unit_price);
static void set_used(struct auc_market *m, size_t cell, unsigned server, unsigned tres,
		     int64_t used);
static bool clip(const struct auc_market *m, auc_slot *from, auc_slot *to);
static bool share_units(const struct auc_market *m, const struct auc_plan *plan,
			const struct auc_share *share, int64_t *units);
static enum auc_code check_plan(const struct auc_market *m, const struct auc_plan *plan,
				struct auc_err *err);
static enum auc_code check_change(const struct auc_market *m, const struct auc_plan *plan,
				  auc_slot from, auc_slot to, bool book, struct auc_err *err);
static void apply_change(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			 auc_slot to, bool book);
static void add_units(struct auc_market *m, unsigned server, auc_slot from, auc_slot to,
		      const int64_t *units, int sign);
static int find_name(const void *first, size_t stride, unsigned count, const char *name);

struct auc_market *auc_market_create(unsigned slots, double slot_seconds, auc_slot first)
{
	struct auc_market *m;

	if (!slots || slots > AUC_SLOTS_MAX || !(slot_seconds > 0))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->slots = slots;
	m->slot_seconds = slot_seconds;
	m->first = first;
	return m;
}

void auc_market_destroy(struct auc_market *m)
{
	unsigned i;

	if (!m)
		return;
	for (i = 0; i < 2 * AUC_TYPES_MAX; i++) {
		free(m->cache[i].fit);
		free(m->cache[i].price);
		free(m->cache[i].order);
		free(m->cache[i].fit0);
		free(m->cache[i].price0);
		free(m->cache[i].order0);
	}
	free(m->used);
	free(m->unit_price);
	free(m->idle_price);
	free(m->changed);
	free(m->closed);
	free(m->closures);
	auc_transfer_free(m);
	free(m->servers);
	free(m);
}

struct auc_market *auc_market_clone(const struct auc_market *from)
{
	struct auc_market *m = same_servers(from, from->first, from->slots);

	if (m && auc_market_copy_state(m, from, NULL) == AUC_OK &&
	    auc_market_close(m, from->closures, from->nclosures, NULL) == AUC_OK)
		return m;
	auc_market_destroy(m);
	return NULL;
}

struct auc_market *auc_market_outline(const struct auc_market *from, auc_slot first, unsigned slots)
{
	struct auc_market *m = same_servers(from, first, slots);

	if (m && auc_market_close(m, from->closures, from->nclosures, NULL) == AUC_OK)
		return m;
	auc_market_destroy(m);
	return NULL;
}

/* An empty market that nothing is closed in. NULL: no memory. */
static struct auc_market *same_servers(const struct auc_market *from, auc_slot first,
				       unsigned slots)
{
	struct auc_market *m = malloc(sizeof(*m));

	if (!m)
		return NULL;
	*m = *from;
	m->first = first;
	m->slots = slots;
	m->bulk = m->given = false;
	m->used = NULL;
	m->unit_price = NULL;
	m->idle_price = NULL;
	m->changed = NULL;
	m->closed = NULL;
	m->closures = NULL;
	m->nclosures = 0;
	m->transfer.used = NULL;
	m->transfer.price = NULL;
	memset(m->cache, 0, sizeof(m->cache));
	m->servers = malloc((from->nservers + 1) * sizeof(*m->servers));
	m->servers_alloc = from->nservers + 1;
	if (m->servers)
		memcpy(m->servers, from->servers, from->nservers * sizeof(*m->servers));
	if (m->servers && lay_out(m, NULL) == AUC_OK)
		return m;
	auc_market_destroy(m);
	return NULL;
}

enum auc_code auc_market_add_server(struct auc_market *m, const char *name, const char *group,
				    bool cloud, unsigned roles, double upload_default,
				    const struct auc_named *capacity, unsigned ncapacity,
				    struct auc_err *err)
{
	struct auc_server *s, *grown;
	enum auc_code rc;

	if (m->ready)
		return auc_err_set(err, AUC_ESTATE, "server %s: the market is already laid out",
				   name);
	if (strlen(name) >= AUC_NAME_MAX || !*name || strlen(group) >= AUC_NAME_MAX)
		return auc_err_set(err, AUC_EINVAL, "server '%.80s': a name has 1 to %d characters",
				   name, AUC_NAME_MAX - 1);
	if (auc_market_find_server(m, name) >= 0)
		return auc_err_set(err, AUC_EEXIST, "server %s: is there twice", name);
	if (!(upload_default >= 0 && upload_default <= UINT32_MAX))
		return auc_err_set(err, AUC_EINVAL, "server %s: upload %g: expected slots >= 0",
				   name, upload_default);
	if (m->nservers == m->servers_alloc) {
		grown = realloc(m->servers, (m->servers_alloc * 2 + 16) * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "server %s: no memory", name);
		m->servers = grown;
		m->servers_alloc = m->servers_alloc * 2 + 16;
	}
	s = &m->servers[m->nservers];
	memset(s, 0, sizeof(*s));
	strcpy(s->name, name);
	strcpy(s->group, group);
	s->cloud = cloud;
	s->roles = roles;
	s->upload_default = upload_default;
	rc = add_amounts(m, s->amount, capacity, ncapacity, "server", name, err);
	if (rc == AUC_OK)
		m->nservers++;
	return rc;
}

enum auc_code auc_market_add_whole(struct auc_market *m, const char *name, unsigned n,
				   struct auc_err *err)
{
	const struct auc_server *first =
		n && n <= m->nservers ? &m->servers[m->nservers - n] : NULL;
	struct auc_server *whole;
	enum auc_code rc;

	if (!first)
		return auc_err_set(err, AUC_EINVAL, "server %s: has no parts", name);
	rc = auc_market_add_server(m, name, first->group, first->cloud, 0, first->upload_default,
				   NULL, 0, err);
	if (rc != AUC_OK)
		return rc;
	whole = &m->servers[m->nservers - 1];
	whole->nparts = n;
	whole->bandwidth = whole[-1].bandwidth;
	for (struct auc_server *s = whole - n; s < whole; s++) {
		s->whole = m->nservers;
		s->inside = s->roles;
		whole->roles |= s->roles;
		s->roles = 0;
		for (unsigned k = 0; k < AUC_TRES_MAX; k++)
			whole->amount[k] += s->amount[k];
	}
	return AUC_OK;
}

int auc_market_whole(const struct auc_market *m, unsigned server)
{
	return (int)m->servers[server].whole - 1;
}

bool auc_market_is_whole(const struct auc_market *m, unsigned server)
{
	return m->servers[server].nparts != 0;
}

void auc_market_set_bandwidth(struct auc_market *m, double mbps)
{
	m->servers[m->nservers - 1].bandwidth = mbps;
}

enum auc_code auc_market_add_worker_type(struct auc_market *m, const char *name,
					 const struct auc_named *tres, unsigned ntres,
					 double bandwidth_mbps, struct auc_err *err)
{
	return add_bundle(m, m->types, &m->nworker_types, AUC_ROLE_WORKER, name, tres, ntres,
			  bandwidth_mbps, false, err);
}

enum auc_code auc_market_add_ps_type(struct auc_market *m, const char *name,
				     const struct auc_named *tres, unsigned ntres,
				     double bandwidth_mbps, struct auc_err *err)
{
	return add_bundle(m, m->ps_types, &m->nps_types, AUC_ROLE_PS, name, tres, ntres,
			  bandwidth_mbps, false, err);
}

enum auc_code auc_market_keep_type(struct auc_market *m, bool ps, const char *name,
				   const struct auc_named *tres, unsigned ntres,
				   struct auc_err *err)
{
	if (auc_market_match_type(m, ps, name, tres, ntres) >= 0)
		return AUC_OK;
	/* The bandwidth matters to new bids only. */
	return ps ? add_bundle(m, m->ps_types, &m->nps_types, AUC_ROLE_PS, name, tres, ntres, 1,
			       true, err)
		  : add_bundle(m, m->types, &m->nworker_types, AUC_ROLE_WORKER, name, tres, ntres,
			       1, true, err);
}

int auc_market_match_type(const struct auc_market *m, bool ps, const char *name,
			  const struct auc_named *tres, unsigned ntres)
{
	const struct auc_bundle *list = ps ? m->ps_types : m->types;
	unsigned n = ps ? m->nps_types : m->nworker_types;

	for (unsigned i = 0; i < n; i++)
		if (!strcmp(list[i].name, name) && same_amounts(m, &list[i], tres, ntres))
			return (int)i;
	return -1;
}

enum auc_code auc_market_ready(struct auc_market *m, const struct auc_price *price,
			       struct auc_err *err)
{
	struct curves curves;
	enum auc_code rc;
	unsigned k;

	if (m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is already laid out");
	rc = read_price(m, price, &curves, err);
	if (rc == AUC_OK)
		rc = fix_scales(m, err);
	if (rc != AUC_OK)
		return rc;
	for (k = 0; k < m->ntres; k++)
		memcpy(m->tres[k].curve, curves.of[k], sizeof(m->tres[k].curve));
	m->transfer.curve = curves.transfer;
	memcpy(&m->types[m->nworker_types], m->ps_types, m->nps_types * sizeof(m->ps_types[0]));
	rc = lay_out(m, err);
	m->ready = rc == AUC_OK;
	return rc;
}

unsigned auc_market_nservers(const struct auc_market *m)
{
	return m->nservers;
}

unsigned auc_market_nworker_types(const struct auc_market *m)
{
	return m->nworker_types;
}

unsigned auc_market_nps_types(const struct auc_market *m)
{
	return m->nps_types;
}

unsigned auc_market_ntres(const struct auc_market *m)
{
	return m->ntres;
}

const char *auc_market_server_name(const struct auc_market *m, unsigned server)
{
	return m->servers[server].name;
}

const char *auc_market_server_group(const struct auc_market *m, unsigned server)
{
	return m->servers[server].group;
}

const char *auc_market_worker_type_name(const struct auc_market *m, unsigned type)
{
	return m->types[type].name;
}

const char *auc_market_ps_type_name(const struct auc_market *m, unsigned type)
{
	return m->ps_types[type].name;
}

const char *auc_market_tres_name(const struct auc_market *m, unsigned tres)
{
	return m->tres[tres].name;
}

int auc_market_find_server(const struct auc_market *m, const char *name)
{
	return m->nservers ? find_name(m->servers[0].name, sizeof(m->servers[0]), m->nservers, name)
			   : -1;
}

int auc_market_find_worker_type(const struct auc_market *m, const char *name)
{
	return find_name(m->types[0].name, sizeof(m->types[0]), m->nworker_types, name);
}

int auc_market_find_ps_type(const struct auc_market *m, const char *name)
{
	return find_name(m->ps_types[0].name, sizeof(m->ps_types[0]), m->nps_types, name);
}

int auc_market_find_tres(const struct auc_market *m, const char *name)
{
	return find_name(m->tres[0].name, sizeof(m->tres[0]), m->ntres, name);
}

auc_slot auc_market_first(const struct auc_market *m)
{
	return m->first;
}

auc_slot auc_market_last(const struct auc_market *m)
{
	return m->first + m->slots - 1;
}

double auc_market_slot_seconds(const struct auc_market *m)
{
	return m->slot_seconds;
}

double auc_market_capacity(const struct auc_market *m, unsigned server, unsigned tres)
{
	return (double)m->servers[server].units[tres] / m->tres[tres].scale;
}

double auc_market_used(const struct auc_market *m, unsigned server, unsigned tres, auc_slot t)
{
	if (t < m->first || t > auc_market_last(m))
		return 0;
	return (double)m->used[auc_cell(m, (unsigned)(t - m->first), server) * m->ntres + tres] /
	       m->tres[tres].scale;
}

double auc_market_price(const struct auc_market *m, unsigned server, unsigned tres, auc_slot t)
{
	if (t < m->first || t > auc_market_last(m))
		return 0;
	return m->unit_price[auc_cell(m, (unsigned)(t - m->first), server) * m->ntres + tres];
}

double auc_market_worker_amount(const struct auc_market *m, unsigned type, unsigned tres)
{
	return m->types[type].amount[tres];
}

double auc_market_ps_amount(const struct auc_market *m, unsigned type, unsigned tres)
{
	return m->types[auc_ps_index(m, type)].amount[tres];
}

enum auc_code auc_market_book(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			      auc_slot to, struct auc_err *err)
{
	enum auc_code rc = check_change(m, plan, from, to, true, err);

	if (rc == AUC_OK)
		apply_change(m, plan, from, to, true);
	return rc;
}

enum auc_code auc_market_unbook(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
				auc_slot to, struct auc_err *err)
{
	enum auc_code rc = check_change(m, plan, from, to, false, err);

	if (rc == AUC_OK)
		apply_change(m, plan, from, to, false);
	return rc;
}

enum auc_code auc_market_reserve(struct auc_market *m, unsigned server, unsigned tres,
				 auc_slot from, auc_slot to, double amount, struct auc_err *err)
{
	struct auc_share share = {.server = server};
	int64_t units, left;
	size_t cell;
	auc_slot t;

	if (server >= m->nservers || tres >= m->ntres)
		return auc_err_set(err, AUC_ENOENT, "server %u, TRES %u: not in the market", server,
				   tres);
	if (!(amount >= 0 && amount * m->tres[tres].scale <= UNITS_LIMIT))
		return auc_err_set(err, AUC_EINVAL, "server %s: %s=%g: expected an amount >= 0",
				   m->servers[server].name, m->tres[tres].name, amount);
	units = llround(amount * m->tres[tres].scale);
	if (!clip(m, &from, &to))
		return AUC_OK;
	for (t = from; t <= to; t++) {
		cell = auc_cell(m, (unsigned)(t - m->first), server);
		left = m->servers[server].units[tres] - m->used[cell * m->ntres + tres];
		if (units > left)
			return auc_err_set(
				err, AUC_EFULL, "server %s, slot %lld: %s=%g wanted, %g left",
				m->servers[server].name, (long long)t, m->tres[tres].name, amount,
				(double)left / m->tres[tres].scale);
	}
	for (t = from; t <= to; t++) {
		cell = auc_cell(m, (unsigned)(t - m->first), server);
		set_used(m, cell, server, tres, m->used[cell * m->ntres + tres] + units);
		if (m->bulk)
			continue;
		refresh_cell(m, cell, server);
		refresh_order(m, (unsigned)(t - m->first));
	}
	if (!m->bulk)
		refresh_blocks(m, from, to, &share, 1);
	return AUC_OK;
}

void auc_market_begin_bulk(struct auc_market *m)
{
	m->bulk = true;
}

void auc_market_end_bulk(struct auc_market *m)
{
	m->bulk = false;
	refresh_all(m);
}

unsigned auc_market_roles(const struct auc_market *m, unsigned server)
{
	return m->servers[server].roles;
}

unsigned auc_market_hosts(const struct auc_market *m, unsigned server)
{
	return m->servers[server].roles | m->servers[server].inside;
}

void auc_market_set_roles(struct auc_market *m, const unsigned *roles)
{
	struct auc_share *changed = m->changed;
	unsigned s, t, i, k, n = 0;
	size_t cell;

	for (s = 0; s < m->nservers; s++) {
		struct auc_server *server = &m->servers[s];
		unsigned now = roles[s];

		if (server->whole) {
			server->inside = roles[s];
			continue;
		}
		if (server->nparts)
			now = 0;
		for (i = 1; i <= server->nparts; i++)
			now |= server[-(ptrdiff_t)i].inside;
		if (server->roles != now) {
			server->roles = now;
			changed[n++] = (struct auc_share){.server = s};
		}
	}
	if (!n)
		return;
	lay_out_idle(m);
	for (t = 0; t < m->slots; t++)
		for (i = 0; i < n; i++) {
			cell = auc_cell(m, t, changed[i].server);
			for (k = 0; k < m->ntres; k++)
				set_used(m, cell, changed[i].server, k,
					 m->used[cell * m->ntres + k]);
		}
	auc_market_refresh(m, m->first, auc_market_last(m), changed, n);
}

void auc_market_refresh(struct auc_market *m, auc_slot from, auc_slot to,
			const struct auc_share *shares, unsigned nshares)
{
	unsigned i, row;
	auc_slot t;

	for (t = from; t <= to; t++) {
		row = (unsigned)(t - m->first);
		for (i = 0; i < nshares; i++)
			refresh_cell(m, auc_cell(m, row, shares[i].server), shares[i].server);
		refresh_order(m, row);
	}
	refresh_blocks(m, from, to, shares, nshares);
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
	auc_market_shift_closed(m, shift);
	auc_transfer_shift(m, shift);
	/* Blocks that were partly beyond the window have slots now that are not free. */
	if (m->idle_costs)
		refresh_blocks(m, first > old + m->slots ? first : old + m->slots,
			       auc_market_last(m), NULL, 0);
}

enum auc_code auc_market_set_price(struct auc_market *m, const struct auc_price *price,
				   struct auc_err *err)
{
	bool changed = false, moved[AUC_TRES_MAX];
	struct curves curves;
	enum auc_code rc;
	unsigned k;

	rc = read_price(m, price, &curves, err);
	if (rc != AUC_OK)
		return rc;
	for (k = 0; k < m->ntres; k++) {
		moved[k] = m->given || !same_curves(curves.of[k], m->tres[k].curve);
		changed = changed || moved[k];
		memcpy(m->tres[k].curve, curves.of[k], sizeof(m->tres[k].curve));
	}
	m->transfer.curve = curves.transfer;
	if (!m->ready)
		return AUC_OK;
	if (changed) {
		m->given = false;
		reprice(m, moved);
	}
	auc_transfer_reprice(m);
	return AUC_OK;
}

enum auc_code auc_market_give_prices(struct auc_market *m, const struct auc_given_price *list,
				     size_t n, struct auc_err *err)
{
	size_t i;

	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	for (i = 0; i < n; i++) {
		if (list[i].server != AUC_ANY_SERVER &&
		    (list[i].server >= m->nservers || list[i].tres >= m->ntres))
			return auc_err_set(err, AUC_ENOENT,
					   "price %zu: server %u, TRES %u: not in the market", i,
					   list[i].server, list[i].tres);
		if (!(list[i].price >= 0 && list[i].price <= AUC_PRICE_LIMIT))
			return auc_err_set(err, AUC_EINVAL, "price %zu: %g, expected 0 to %g", i,
					   list[i].price, AUC_PRICE_LIMIT);
	}
	m->given = true;
	memset(m->idle_price, 0, (size_t)m->nservers * m->ntres * sizeof(*m->idle_price));
	for (i = 0; i < n; i++)
		if (list[i].from <= auc_market_last(m) + 1 && list[i].to > auc_market_last(m))
			m->idle_price[(size_t)list[i].server * m->ntres + list[i].tres] =
				list[i].price;
	lay_out_idle(m);
	memset(m->unit_price, 0,
	       (size_t)m->slots * m->nservers * m->ntres * sizeof(*m->unit_price));
	memset(m->transfer.price, 0, m->slots * sizeof(*m->transfer.price));
	for (i = 0; i < n; i++)
		set_given(m, &list[i]);
	refresh_all(m);
	return AUC_OK;
}

enum auc_code auc_market_copy_state(struct auc_market *m, const struct auc_market *from,
				    struct auc_err *err)
{
	size_t cell, cells = (size_t)m->slots * m->nservers, a, b;
	unsigned k, s;
	int j;

	if (!m->ready || !from->ready || m->slots != from->slots || m->first != from->first ||
	    m->nservers != from->nservers)
		return auc_err_set(err, AUC_ESTATE, "the markets differ in servers or slots");
	m->given = from->given;
	memset(m->idle_price, 0, (size_t)m->nservers * m->ntres * sizeof(*m->idle_price));
	for (k = 0; k < m->ntres; k++) {
		j = auc_market_find_tres(from, m->tres[k].name);
		if (j < 0)
			continue;
		for (s = 0; s < m->nservers; s++)
			if (m->servers[s].units[k] != from->servers[s].units[j])
				return auc_err_set(err, AUC_ESTATE,
						   "server %s: the markets differ in %s",
						   m->servers[s].name, m->tres[k].name);
		for (s = 0; s < m->nservers; s++)
			m->idle_price[(size_t)s * m->ntres + k] =
				from->idle_price[(size_t)s * from->ntres + (unsigned)j];
		memcpy(m->tres[k].curve, from->tres[j].curve, sizeof(m->tres[k].curve));
		for (cell = 0; cell < cells; cell++) {
			a = cell * m->ntres + k;
			b = cell * from->ntres + (unsigned)j;
			m->used[a] = from->used[b];
			m->unit_price[a] = from->unit_price[b];
		}
	}
	auc_transfer_copy(m, from);
	lay_out_idle(m);
	refresh_all(m);
	return AUC_OK;
}

bool auc_market_sound(const struct auc_market *m)
{
	size_t cell, cells = (size_t)m->slots * m->nservers;
	const int64_t *used = m->used, *capacity;
	unsigned k;

	for (cell = 0; cell < cells; cell++, used += m->ntres) {
		capacity = m->servers[cell % m->nservers].units;
		for (k = 0; k < m->ntres; k++)
			if (used[k] < 0 || used[k] > capacity[k])
				return false;
	}
	return auc_transfer_sound(m);
}

bool auc_market_cache_sound(const struct auc_market *m)
{
	const struct auc_type_cache *c;
	const double *price;
	const uint32_t *order;
	size_t cell, cells = (size_t)m->slots * m->nservers;
	unsigned i, k, s, t;
	double unit;

	for (cell = 0; cell < cells; cell++) {
		s = (unsigned)(cell % m->nservers);
		for (k = 0; k < m->ntres; k++) {
			unit = unit_price(m, s, k, m->used[cell * m->ntres + k]);
			if (!m->given && m->unit_price[cell * m->ntres + k] != unit)
				return false;
		}
		for (i = 0; i < m->nworker_types + m->nps_types; i++) {
			c = &m->cache[i];
			if (c->fit[cell] != fit_in_cell(m, &m->types[i], s, cell) ||
			    c->price[cell] !=
				    (c->fit[cell] ? bundle_price(&m->types[i],
								 m->unit_price + cell * m->ntres)
						  : INFINITY))
				return false;
		}
	}
	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		for (t = 0; t < m->nrows; t++) {
			price = m->cache[i].price + auc_cell(m, t, 0);
			order = m->cache[i].order + auc_cell(m, t, 0);
			for (s = 1; s < m->nservers; s++)
				if (price[order[s - 1]] > price[order[s]] ||
				    (price[order[s - 1]] == price[order[s]] &&
				     order[s - 1] >= order[s]))
					return false;
		}
	for (t = 1; t < m->nlevels; t++)
		for (i = 0; i < m->nworker_types + m->nps_types; i++)
			if (!blocks_sound(m, t, &m->cache[i]))
				return false;
	return true;
}

/* Blocks that are wholly in the window hold the sums and minima of their slots. */
static bool blocks_sound(const struct auc_market *m, unsigned level, const struct auc_type_cache *c)
{
	size_t cell, slot_cell;
	auc_slot i, t;
	unsigned s;
	double price;
	int32_t fit;

	for (i = (m->first >> level) + 1; i < auc_market_last(m) >> level; i++)
		for (s = 0; s < m->nservers; s++) {
			cell = auc_cell(m, auc_block_row(m, level, i), s);
			price = 0;
			fit = INT32_MAX;
			for (t = i << level; t < (i + 1) << level; t++) {
				slot_cell = auc_cell(m, (unsigned)(t - m->first), s);
				price += c->price[slot_cell];
				fit = c->fit[slot_cell] < fit ? c->fit[slot_cell] : fit;
			}
			if (c->fit[cell] != fit ||
			    (fit ? fabs(c->price[cell] - price) > 1e-9 * price
				 : isfinite(c->price[cell])))
				return false;
		}
	return true;
}

/* Adds NAMED amounts into AMOUNT[] by TRES index, making TRES as they come. */
static enum auc_code add_amounts(struct auc_market *m, double *amount,
				 const struct auc_named *named, unsigned n, const char *what,
				 const char *name, struct auc_err *err)
{
	unsigned i;
	int k;

	for (i = 0; i < n; i++) {
		if (!(named[i].value >= 0 && named[i].value <= UNITS_LIMIT))
			return auc_err_set(err, AUC_EINVAL,
					   "%s %s: %.*s=%g: expected an amount from 0 to 2^52",
					   what, name, AUC_NAME_MAX, named[i].name, named[i].value);
		k = auc_market_find_tres(m, named[i].name);
		if (k < 0 && m->ntres == AUC_TRES_MAX)
			return auc_err_set(err, AUC_EINVAL,
					   "%s %s: %.*s: more than %d different TRES", what, name,
					   AUC_NAME_MAX, named[i].name, AUC_TRES_MAX);
		if (k < 0) {
			k = (int)m->ntres++;
			snprintf(m->tres[k].name, AUC_NAME_MAX, "%.*s", AUC_NAME_MAX - 1,
				 named[i].name);
		}
		if (amount[k] > 0)
			return auc_err_set(err, AUC_EEXIST, "%s %s: %s is there twice", what, name,
					   m->tres[k].name);
		amount[k] = named[i].value;
	}
	return AUC_OK;
}

static enum auc_code add_bundle(struct auc_market *m, struct auc_bundle *list, unsigned *count,
				unsigned role, const char *name, const struct auc_named *tres,
				unsigned ntres, double bandwidth, bool kept, struct auc_err *err)
{
	const char *what = role == AUC_ROLE_WORKER ? "worker type" : "PS type";
	struct auc_bundle *b = &list[*count];
	enum auc_code rc;
	unsigned k;

	if (m->ready)
		return auc_err_set(err, AUC_ESTATE, "%s %s: the market is already laid out", what,
				   name);
	if (strlen(name) >= AUC_NAME_MAX || !*name)
		return auc_err_set(err, AUC_EINVAL, "%s '%.80s': a name has 1 to %d characters",
				   what, name, AUC_NAME_MAX - 1);
	if (!kept && find_name(list[0].name, sizeof(list[0]), *count, name) >= 0)
		return auc_err_set(err, AUC_EEXIST, "%s %s: is there twice", what, name);
	if (*count == AUC_TYPES_MAX)
		return auc_err_set(err, AUC_EINVAL, "%s %s: more than %d of them", what, name,
				   AUC_TYPES_MAX);
	if (!(bandwidth > 0 && bandwidth <= 1e12))
		return auc_err_set(err, AUC_EINVAL, "%s %s: bandwidth %g: expected Mbit/s > 0",
				   what, name, bandwidth);
	memset(b, 0, sizeof(*b));
	strcpy(b->name, name);
	b->role = role;
	b->kept = kept;
	b->bandwidth = bandwidth;
	rc = add_amounts(m, b->amount, tres, ntres, what, name, err);
	if (rc != AUC_OK)
		return rc;
	for (k = 0; k < m->ntres; k++)
		if (b->amount[k] > 0)
			b->used[b->nused++] = k;
	if (!b->nused)
		return auc_err_set(err, AUC_EINVAL, "%s %s: uses no TRES", what, name);
	(*count)++;
	return AUC_OK;
}

/* True if TRES says what B takes, but for what amounts lose when they become units. */
static bool same_amounts(const struct auc_market *m, const struct auc_bundle *b,
			 const struct auc_named *tres, unsigned ntres)
{
	double amount[AUC_TRES_MAX] = {0};
	unsigned i;
	int k;

	for (i = 0; i < ntres; i++) {
		k = auc_market_find_tres(m, tres[i].name);
		if (k < 0 && tres[i].value > 0)
			return false;
		if (k >= 0)
			amount[k] = tres[i].value;
	}
	for (i = 0; i < m->ntres; i++)
		if (!(fabs(amount[i] - b->amount[i]) <= AMOUNT_SLACK * fmax(1, amount[i])))
			return false;
	return true;
}

/* Chooses each TRES's scale from the capacities and turns all amounts into units. */
static enum auc_code fix_scales(struct auc_market *m, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	double most;
	unsigned i, k;
	int exponent;

	for (k = 0; k < m->ntres && rc == AUC_OK; k++) {
		most = 0;
		for (i = 0; i < m->nservers; i++)
			most = fmax(most, m->servers[i].amount[k]);
		m->tres[k].scale = 1;
		for (exponent = 0;
		     exponent < SCALE_MAX && most * m->tres[k].scale * 10 <= UNITS_LIMIT;
		     exponent++)
			m->tres[k].scale *= 10;
		for (i = 0; i < m->nservers && rc == AUC_OK; i++)
			rc = to_units(&m->tres[k], m->servers[i].name, &m->servers[i].amount[k],
				      &m->servers[i].units[k], err);
		for (i = 0; i < m->nworker_types && rc == AUC_OK; i++)
			rc = to_units(&m->tres[k], m->types[i].name, &m->types[i].amount[k],
				      &m->types[i].units[k], err);
		for (i = 0; i < m->nps_types && rc == AUC_OK; i++)
			rc = to_units(&m->tres[k], m->ps_types[i].name, &m->ps_types[i].amount[k],
				      &m->ps_types[i].units[k], err);
	}
	return rc;
}

/* An amount in units; AMOUNT becomes exactly that many. */
static enum auc_code to_units(const struct auc_tres *tres, const char *name, double *amount,
			      int64_t *units, struct auc_err *err)
{
	double scaled = *amount * tres->scale;

	if (scaled > UNITS_LIMIT) {
		*units = NEVER_FITS;
		return AUC_OK;
	}
	*units = llround(scaled);
	if (*amount > 0 && !*units)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: %s=%g: too small to count, the least is %g", name,
				   tres->name, *amount, 1 / tres->scale);
	*amount = (double)*units / tres->scale;
	return AUC_OK;
}

static enum auc_code read_price(const struct auc_market *m, const struct auc_price *price,
				struct curves *curves, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned k, roles;

	if (price->neta > AUC_TRES_MAX || price->nbounds > AUC_TRES_MAX)
		return auc_err_set(err, AUC_EINVAL, "prices: more than %d TRES", AUC_TRES_MAX);
	for (k = 0; k < m->ntres; k++)
		for (roles = 0; roles <= AUC_ROLES_ALL && rc == AUC_OK; roles++)
			rc = auc_price_curve_of(price, m->tres[k].name, roles,
						&curves->of[k][roles], err);
	if (rc == AUC_OK)
		rc = auc_price_curve_of(price, AUC_TRANSFER, AUC_ROLES_ALL, &curves->transfer, err);
	return rc;
}

static bool same_curves(const struct auc_price_curve *a, const struct auc_price_curve *b)
{
	unsigned i;

	for (i = 0; i <= AUC_ROLES_ALL; i++)
		if (a[i].kind != b[i].kind || a[i].eta != b[i].eta || a[i].lower != b[i].lower ||
		    a[i].upper != b[i].upper)
			return false;
	return true;
}

/* Allocates and fills the timeline. On failure auc_market_destroy() frees what there is. */
static enum auc_code lay_out(struct auc_market *m, struct auc_err *err)
{
	size_t row = m->nservers ? m->nservers : 1, cells;
	size_t amounts = row * m->slots * (m->ntres ? m->ntres : 1);
	struct auc_type_cache *c;
	unsigned i;

	m->level_row[1] = m->slots;
	m->nlevels = 1;
	while (m->nlevels < AUC_BLOCK_LEVELS && m->slots >> m->nlevels) {
		m->level_row[m->nlevels + 1] =
			m->level_row[m->nlevels] + (m->slots >> m->nlevels) + 2;
		m->nlevels++;
	}
	m->nrows = m->level_row[m->nlevels];
	cells = row * m->nrows;
	m->used = calloc(amounts, sizeof(*m->used));
	m->unit_price = calloc(amounts, sizeof(*m->unit_price));
	m->idle_price = calloc(row * (m->ntres ? m->ntres : 1), sizeof(*m->idle_price));
	m->changed = calloc(row, sizeof(*m->changed));
	if (!m->used || !m->unit_price || !m->idle_price || !m->changed || !auc_transfer_lay_out(m))
		return auc_err_set(err, AUC_ENOMEM,
				   "no memory for a market of %u servers and %u slots", m->nservers,
				   m->slots);
	for (i = 0; i < m->nworker_types + m->nps_types; i++) {
		c = &m->cache[i];
		c->fit = calloc(cells, sizeof(*c->fit));
		c->price = calloc(cells, sizeof(*c->price));
		c->order = calloc(cells, sizeof(*c->order));
		c->fit0 = calloc(row, sizeof(*c->fit0));
		c->price0 = calloc(row, sizeof(*c->price0));
		c->order0 = calloc(row, sizeof(*c->order0));
		if (!c->fit || !c->price || !c->order || !c->fit0 || !c->price0 || !c->order0)
			return auc_err_set(err, AUC_ENOMEM,
					   "no memory for a market of %u servers and %u slots",
					   m->nservers, m->slots);
	}
	lay_out_idle(m);
	empty_rows(m, 0, m->nrows);
	empty_slots(m, 0);
	if (m->idle_costs)
		refresh_blocks(m, m->first, auc_market_last(m), NULL, 0);
	return AUC_OK;
}

/* What slots that come into the window are: empty, at the prices of nothing used, or those that
 * were given. */
static void lay_out_idle(struct auc_market *m)
{
	const struct auc_server *server;
	unsigned s, k, i, level, row;
	double price;

	m->idle_costs = false;
	for (s = 0; s < m->nservers; s++) {
		server = &m->servers[s];
		for (k = 0; k < m->ntres; k++) {
			price = m->idle_price[(size_t)s * m->ntres + k];
			if (!m->given)
				price = server->units[k] ? auc_price_unit(curve_of(m, s, k), 0,
									  (double)server->units[k])
							 : 0;
			m->idle_price[(size_t)s * m->ntres + k] = price;
			m->idle_costs = m->idle_costs || price > 0;
		}
	}
	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		lay_out_empty(m, i);
	/* Rows behind the last block are what the window grows into. */
	for (level = 1; level < m->nlevels; level++) {
		row = auc_block_row(m, level, auc_market_last(m) >> level) + 1;
		empty_rows(m, row, m->level_row[level + 1] - row);
	}
}

/* What an empty slot holds of one type. */
static void lay_out_empty(struct auc_market *m, unsigned type)
{
	static const int64_t nothing[AUC_TRES_MAX];
	struct auc_type_cache *c = &m->cache[type];
	unsigned s;

	c->total0 = c->max0 = 0;
	for (s = 0; s < m->nservers; s++) {
		c->fit0[s] = fit_in(m, &m->types[type], s, nothing);
		c->price0[s] = c->fit0[s] ? bundle_price(&m->types[type],
							 m->idle_price + (size_t)s * m->ntres)
					  : INFINITY;
		c->order0[s] = s;
		c->total0 += c->fit0[s];
		if (c->fit0[s] > c->max0)
			c->max0 = c->fit0[s];
	}
	sort_order(c->price0, c->order0, m->nservers);
}

/* Drops the first SHIFT slots and adds as many empty ones. */
static void shift_amounts(struct auc_market *m, unsigned shift)
{
	size_t row = (size_t)m->nservers * m->ntres, keep = (m->slots - shift) * row;

	memmove(m->used, m->used + shift * row, keep * sizeof(*m->used));
	memmove(m->unit_price, m->unit_price + shift * row, keep * sizeof(*m->unit_price));
	empty_slots(m, m->slots - shift);
}

/* The same with the blocks of one level in all caches. */
static void shift_level(struct auc_market *m, unsigned level, auc_slot by)
{
	unsigned rows = m->level_row[level + 1] - m->level_row[level];
	unsigned shift = by < rows ? (unsigned)by : rows, i;
	size_t to = auc_cell(m, m->level_row[level], 0), from = to + auc_cell(m, shift, 0);
	size_t keep = auc_cell(m, rows - shift, 0);
	struct auc_type_cache *c;

	for (i = 0; i < m->nworker_types + m->nps_types; i++) {
		c = &m->cache[i];
		memmove(c->fit + to, c->fit + from, keep * sizeof(*c->fit));
		memmove(c->price + to, c->price + from, keep * sizeof(*c->price));
		memmove(c->order + to, c->order + from, keep * sizeof(*c->order));
	}
	empty_rows(m, m->level_row[level] + rows - shift, shift);
}

/* The slots from index FROM on: nothing used, idle prices. */
static void empty_slots(struct auc_market *m, unsigned from)
{
	size_t row = (size_t)m->nservers * m->ntres, at;

	for (at = from * row; at < m->slots * row; at += row) {
		memset(m->used + at, 0, row * sizeof(*m->used));
		memcpy(m->unit_price + at, m->idle_price, row * sizeof(*m->unit_price));
	}
}

static void empty_rows(struct auc_market *m, unsigned from, unsigned count)
{
	size_t row = m->nservers, cell;
	struct auc_type_cache *c;
	unsigned i, r;

	for (i = 0; i < m->nworker_types + m->nps_types; i++) {
		c = &m->cache[i];
		for (r = from; r < from + count; r++) {
			cell = auc_cell(m, r, 0);
			memcpy(c->fit + cell, c->fit0, row * sizeof(*c->fit));
			memcpy(c->price + cell, c->price0, row * sizeof(*c->price));
			memcpy(c->order + cell, c->order0, row * sizeof(*c->order));
		}
	}
}

/* The part of G that is in the window; refresh_all() must follow. */
static void set_given(struct auc_market *m, const struct auc_given_price *g)
{
	auc_slot from = g->from, to = g->to, t;

	if (!clip(m, &from, &to))
		return;
	for (t = from; t <= to; t++)
		if (g->server == AUC_ANY_SERVER)
			m->transfer.price[t - m->first] = g->price;
		else
			m->unit_price[auc_cell(m, (unsigned)(t - m->first), g->server) * m->ntres +
				      g->tres] = g->price;
}

/* Brings every cache up to date with what is used and what it costs. */
static void refresh_all(struct auc_market *m)
{
	unsigned t, s;

	for (t = 0; t < m->slots; t++) {
		for (s = 0; s < m->nservers; s++)
			refresh_cell(m, auc_cell(m, t, s), s);
		refresh_order(m, t);
	}
	refresh_blocks(m, m->first, auc_market_last(m), NULL, 0);
}

/* New prices of the TRES whose function MOVED, everywhere. */
static void reprice(struct auc_market *m, const bool *moved)
{
	unsigned t;

	lay_out_idle(m);
	for (t = 0; t < m->slots; t++)
		reprice_slot(m, t, moved);
	refresh_blocks(m, m->first, auc_market_last(m), NULL, 0);
}

/* The same in one slot, with the caches of whatever it changes. */
static void reprice_slot(struct auc_market *m, unsigned slot, const bool *moved)
{
	bool touched, any = false;
	size_t at;
	unsigned k, s;
	double price;

	for (s = 0; s < m->nservers; s++) {
		touched = false;
		for (k = 0; k < m->ntres; k++) {
			if (!moved[k])
				continue;
			at = auc_cell(m, slot, s) * m->ntres + k;
			price = unit_price(m, s, k, m->used[at]);
			touched = touched || price != m->unit_price[at];
			m->unit_price[at] = price;
		}
		if (touched)
			refresh_cell(m, auc_cell(m, slot, s), s);
		any = any || touched;
	}
	if (any)
		refresh_order(m, slot);
}

/* What the price function says of USED units. */
static double unit_price(const struct auc_market *m, unsigned server, unsigned tres, int64_t used)
{
	if (!used)
		return m->idle_price[(size_t)server * m->ntres + tres];
	return auc_price_unit(curve_of(m, server, tres), (double)used,
			      (double)m->servers[server].units[tres]);
}

static const struct auc_price_curve *curve_of(const struct auc_market *m, unsigned server,
					      unsigned tres)
{
	return &m->tres[tres].curve[m->servers[server].roles & AUC_ROLES_ALL];
}

/* Brings fits and bundle prices of a cell up to date; refresh_order() must follow. */
static void refresh_cell(struct auc_market *m, size_t cell, unsigned server)
{
	const double *unit_price = m->unit_price + cell * m->ntres;
	struct auc_type_cache *c;
	unsigned i;

	for (i = 0; i < m->nworker_types + m->nps_types; i++) {
		c = &m->cache[i];
		c->fit[cell] = fit_in_cell(m, &m->types[i], server, cell);
		c->price[cell] = c->fit[cell] ? bundle_price(&m->types[i], unit_price) : INFINITY;
	}
}

/* Every type's order of one row. */
static void refresh_order(struct auc_market *m, unsigned row)
{
	unsigned i;

	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		sort_order(m->cache[i].price + auc_cell(m, row, 0),
			   m->cache[i].order + auc_cell(m, row, 0), m->nservers);
}

/* Brings the blocks that overlap [FROM, TO] up to date for the servers of SHARES (NULL: all). */
static void refresh_blocks(struct auc_market *m, auc_slot from, auc_slot to,
			   const struct auc_share *shares, unsigned nshares)
{
	unsigned level, j, n = shares ? nshares : m->nservers;
	auc_slot i;

	for (level = 1; level < m->nlevels; level++)
		for (i = from >> level; i <= to >> level; i++) {
			for (j = 0; j < n; j++)
				refresh_block(m, level, i, shares ? shares[j].server : j);
			refresh_order(m, auc_block_row(m, level, i));
		}
}

static void refresh_block(struct auc_market *m, unsigned level, auc_slot i, unsigned server)
{
	size_t cell = auc_cell(m, auc_block_row(m, level, i), server);
	struct auc_type_cache *c;
	unsigned type, half, row;
	int32_t fit;

	for (type = 0; type < m->nworker_types + m->nps_types; type++) {
		c = &m->cache[type];
		c->fit[cell] = c->fit0[server];
		c->price[cell] = c->fit0[server] ? 0 : INFINITY;
		for (half = 0; half < 2; half++) {
			if (!block_part(m, level - 1, 2 * i + half, &row))
				continue;
			fit = c->fit[auc_cell(m, row, server)];
			c->fit[cell] = fit < c->fit[cell] ? fit : c->fit[cell];
			c->price[cell] += c->price[auc_cell(m, row, server)];
		}
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

static int compare_price(const void *a, const void *b, void *arg)
{
	const double *price = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (price[i] != price[j])
		return price[i] < price[j] ? -1 : 1;
	return (i > j) - (i < j);
}

/*
 * By insertion, as bookings and new bases of the price leave all but a few servers where they were;
 * what turns out to be another order altogether goes to qsort_r().
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
	int64_t fit = AUC_FIT_MAX, n;
	unsigned i, k;

	if (!(s->roles & type->role))
		return 0;
	for (i = 0; i < type->nused; i++) {
		k = type->used[i];
		n = (s->units[k] - used[k]) / type->units[k];
		if (n < fit)
			fit = n;
	}
	return (int32_t)fit;
}

static int32_t fit_in_cell(const struct auc_market *m, const struct auc_bundle *type,
			   unsigned server, size_t cell)
{
	if (m->closed && m->closed[cell])
		return 0;
	return fit_in(m, type, server, m->used + cell * m->ntres);
}

static double bundle_price(const struct auc_bundle *type, const double *unit_price)
{
	double price = 0;
	unsigned i;

	for (i = 0; i < type->nused; i++)
		price += unit_price[type->used[i]] * type->amount[type->used[i]];
	return price;
}

static void set_used(struct auc_market *m, size_t cell, unsigned server, unsigned tres,
		     int64_t used)
{
	m->used[cell * m->ntres + tres] = used;
	if (m->given)
		return;
	m->unit_price[cell * m->ntres + tres] = unit_price(m, server, tres, used);
}

/* Cuts [FROM, TO] to the window; false if nothing is left. */
static bool clip(const struct auc_market *m, auc_slot *from, auc_slot *to)
{
	if (*from < m->first)
		*from = m->first;
	if (*to > auc_market_last(m))
		*to = auc_market_last(m);
	return *from <= *to;
}

/* What SHARE takes of each TRES; false if that is beyond every capacity. */
static bool share_units(const struct auc_market *m, const struct auc_plan *plan,
			const struct auc_share *share, int64_t *units)
{
	const struct auc_bundle *w = &m->types[plan->worker_type];
	const struct auc_bundle *p = &m->types[auc_ps_index(m, plan->ps_type)];
	int64_t a, b;
	unsigned k;

	for (k = 0; k < m->ntres; k++)
		if (__builtin_mul_overflow(w->units[k], (int64_t)share->workers, &a) ||
		    __builtin_mul_overflow(p->units[k], (int64_t)share->ps, &b) ||
		    __builtin_add_overflow(a, b, &units[k]))
			return false;
	return true;
}

static enum auc_code check_plan(const struct auc_market *m, const struct auc_plan *plan,
				struct auc_err *err)
{
	unsigned i;

	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	if (plan->worker_type >= m->nworker_types || plan->ps_type >= m->nps_types)
		return auc_err_set(err, AUC_EINVAL, "the plan's types are not of this market");
	for (i = 0; i < plan->nshares; i++)
		if (plan->shares[i].server >= m->nservers)
			return auc_err_set(err, AUC_EINVAL,
					   "the plan's servers are not of this market");
	return AUC_OK;
}

static enum auc_code check_change(const struct auc_market *m, const struct auc_plan *plan,
				  auc_slot from, auc_slot to, bool book, struct auc_err *err)
{
	enum auc_code rc = check_plan(m, plan, err);
	const struct auc_share *share;
	const struct auc_run *run;
	int64_t units[AUC_TRES_MAX], left, used;
	auc_slot a, b, t;
	unsigned r, i, k;
	bool sane;

	for (r = 0; rc == AUC_OK && r < plan->nruns; r++) {
		run = &plan->runs[r];
		a = run->from > from ? run->from : from;
		b = run->to < to ? run->to : to;
		if (!clip(m, &a, &b))
			continue;
		for (i = 0; i < run->nshares; i++) {
			share = &plan->shares[run->first_share + i];
			sane = share_units(m, plan, share, units);
			for (t = a; t <= b; t++)
				for (k = 0; k < m->ntres; k++) {
					used = m->used[auc_cell(m, (unsigned)(t - m->first),
								share->server) *
							       m->ntres +
						       k];
					left = m->servers[share->server].units[k] - used;
					if (sane && units[k] <= (book ? left : used))
						continue;
					return auc_err_set(
						err, book ? AUC_EFULL : AUC_ESTATE,
						"server %s, slot %lld: %s: %u workers and %u PSs "
						"need more than %g %s",
						m->servers[share->server].name, (long long)t,
						m->tres[k].name, share->workers, share->ps,
						(double)(book ? left : used) / m->tres[k].scale,
						book ? "left" : "in use");
				}
		}
	}
	if (rc == AUC_OK && clip(m, &from, &to))
		rc = auc_transfer_check(m, plan, from, to, book, err);
	return rc;
}

static void apply_change(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			 auc_slot to, bool book)
{
	const struct auc_share *share;
	struct auc_share whole = {0};
	const struct auc_run *run;
	int64_t units[AUC_TRES_MAX];
	auc_slot a, b, t;
	unsigned i;

	for (unsigned r = 0; r < plan->nruns; r++) {
		run = &plan->runs[r];
		a = run->from > from ? run->from : from;
		b = run->to < to ? run->to : to;
		if (!clip(m, &a, &b))
			continue;
		for (i = 0; i < run->nshares; i++) {
			share = &plan->shares[run->first_share + i];
			share_units(m, plan, share, units);
			add_units(m, share->server, a, b, units, book ? 1 : -1);
			if (!m->servers[share->server].whole)
				continue;
			whole.server = m->servers[share->server].whole - 1;
			add_units(m, whole.server, a, b, units, book ? 1 : -1);
			if (!m->bulk)
				refresh_blocks(m, a, b, &whole, 1);
		}
		if (m->bulk)
			continue;
		for (t = a; t <= b; t++)
			refresh_order(m, (unsigned)(t - m->first));
		refresh_blocks(m, a, b, plan->shares + run->first_share, run->nshares);
	}
	if (clip(m, &from, &to))
		auc_transfer_apply(m, plan, from, to, book);
}

/* Adds SIGN * UNITS to what is used of SERVER in the slots [FROM, TO] of the window; its blocks and
 * the order follow later. */
static void add_units(struct auc_market *m, unsigned server, auc_slot from, auc_slot to,
		      const int64_t *units, int sign)
{
	for (auc_slot t = from; t <= to; t++) {
		size_t cell = auc_cell(m, (unsigned)(t - m->first), server);

		for (unsigned k = 0; k < m->ntres; k++)
			if (units[k])
				set_used(m, cell, server, k,
					 m->used[cell * m->ntres + k] + sign * units[k]);
		if (!m->bulk)
			refresh_cell(m, cell, server);
	}
}

/* Index of the element whose name (its first member, at FIRST) is NAME, or -1. */
static int find_name(const void *first, size_t stride, unsigned count, const char *name)
{
	const char *p = first;
	unsigned i;

	for (i = 0; i < count; i++, p += stride)
		if (!strcmp(p, name))
			return (int)i;
	return -1;
}
