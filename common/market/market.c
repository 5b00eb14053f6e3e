/*
 * market.c - see market.h and timeline.h: making a market, its servers, types and prices.
 * What it keeps by cell is in cells.c, booking in booking.c, amounts as integers in units.c.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "market/cells.h"
#include "base/num.h"
#include "market/plan.h"

#define HOUR         3600.0
#define AMOUNT_SLACK 1e-9 /* of an amount, at least of 1: more than rounding to units takes */

/* The price functions of all TRES, by the server's roles. */
struct curves {
	struct auc_price_curve traffic;
	struct auc_price_curve of[AUC_TRES_MAX][AUC_ROLES_ALL + 1];
};

static void spell_tres(struct auc_market *m, const struct auc_named *capacity, unsigned n);
static enum auc_code add_amounts(struct auc_market *m, double *amount,
				 const struct auc_named *named, unsigned n, const char *what,
				 const char *name, struct auc_err *err);
static enum auc_code add_bundle(struct auc_market *m, struct auc_bundle *list, unsigned *count,
				unsigned role, const char *name, const struct auc_named *tres,
				unsigned ntres, double bandwidth, bool kept, struct auc_err *err);
static bool same_amounts(const struct auc_market *m, const struct auc_bundle *b,
			 const struct auc_named *tres, unsigned ntres);
static enum auc_code read_price(const struct auc_market *m, const struct auc_price *price,
				struct curves *curves, struct auc_err *err);
static bool same_curves(const struct auc_price_curve *a, const struct auc_price_curve *b);
static struct auc_market *same_servers(const struct auc_market *from, auc_slot first,
				       unsigned slots);
static double *idle_price_of(struct auc_market *m, const struct auc_given_price *g);
static void set_given(struct auc_market *m, const struct auc_given_price *g);
static int find_name(const void *first, size_t stride, unsigned count, const char *name);

auc_slot auc_slot_of(double now, double slot_seconds)
{
	return (auc_slot)floor(now / slot_seconds);
}

auc_slot auc_slot_from(double now, double slot_seconds)
{
	return (auc_slot)ceil(now / slot_seconds);
}

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
	for (i = 0; i < 2 * AUC_TYPES_MAX; i++)
		auc_columns_free(&m->cache[i]);
	free(m->used);
	free(m->full);
	free(m->lowest);
	free(m->unit_price);
	free(m->idle_price);
	free(m->changed);
	free(m->sorted);
	free(m->moved);
	free(m->stamp);
	free(m->freed);
	free(m->closed);
	free(m->closures);
	auc_traffic_free(m);
	free(m->servers);
	free(m);
}

struct auc_market *auc_market_clone(const struct auc_market *from)
{
	struct auc_market *m = same_servers(from, from->first, from->slots);

	if (m && auc_market_copy_state(m, from, NULL) == AUC_OK &&
	    auc_market_close(m, from->closures, from->nclosures, NULL) == AUC_OK) {
		memcpy(m->freed, from->freed, m->nservers * sizeof(*m->freed));
		m->frees = from->frees;
		return m;
	}
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
	m->full = NULL;
	m->lowest = NULL;
	m->unit_price = NULL;
	m->idle_price = NULL;
	m->changed = NULL;
	m->sorted = NULL;
	m->moved = NULL;
	m->stamp = NULL;
	m->freed = NULL;
	m->closed = NULL;
	m->closures = NULL;
	m->nclosures = 0;
	m->traffic.used = NULL;
	m->traffic.price = NULL;
	memset(m->cache, 0, sizeof(m->cache));
	m->servers = malloc((from->nservers + 1) * sizeof(*m->servers));
	m->servers_alloc = from->nservers + 1;
	if (m->servers)
		memcpy(m->servers, from->servers, from->nservers * sizeof(*m->servers));
	if (m->servers && auc_cells_lay_out(m, NULL) == AUC_OK)
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
	if (rc == AUC_OK) {
		m->nservers++;
		spell_tres(m, capacity, ncapacity);
	}
	return rc;
}

/* Their case is as servers have it: that is what Slurm is to be asked for. */
static void spell_tres(struct auc_market *m, const struct auc_named *capacity, unsigned n)
{
	int k;

	for (unsigned i = 0; i < n; i++) {
		k = auc_market_find_tres(m, capacity[i].name);
		if (m->tres[k].spelled || strlen(capacity[i].name) >= AUC_NAME_MAX)
			continue;
		strcpy(m->tres[k].name, capacity[i].name);
		m->tres[k].spelled = true;
	}
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
	memcpy(whole->floor, whole[-1].floor, sizeof(whole->floor));
	memcpy(whole->hour, whole[-1].hour, sizeof(whole->hour));
	whole->hourly = whole[-1].hourly;
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

enum auc_code auc_market_set_cost(struct auc_market *m, const struct auc_named *cost,
				  unsigned ncost, struct auc_err *err)
{
	struct auc_server *server = &m->servers[m->nservers - 1];
	double price;
	int k;

	for (unsigned i = 0; i < ncost; i++) {
		price = cost[i].value * m->slot_seconds / HOUR;
		if (!(price >= 0 && price <= AUC_PRICE_LIMIT))
			return auc_err_set(err, AUC_EINVAL,
					   "server %s: Cost: %s=%g: expected 0 to %g", server->name,
					   cost[i].name, cost[i].value,
					   AUC_PRICE_LIMIT * HOUR / m->slot_seconds);
		k = auc_market_find_tres(m, cost[i].name);
		if (k < 0 || !(server->amount[k] > 0))
			continue;
		server->floor[k] = price;
		m->floors = m->floors || price > 0;
	}
	return AUC_OK;
}

enum auc_code auc_market_set_cost_hours(struct auc_market *m, const double hour[AUC_DAY_HOURS],
					struct auc_err *err)
{
	struct auc_server *server = &m->servers[m->nservers - 1];

	for (unsigned i = 0; i < AUC_DAY_HOURS; i++) {
		if (!(hour[i] >= 0 && hour[i] <= AUC_HOUR_LIMIT))
			return auc_err_set(err, AUC_EINVAL,
					   "server %s: CostHours: %g: expected 0 to %g",
					   server->name, hour[i], AUC_HOUR_LIMIT);
		server->hour[i] = hour[i];
		server->hourly = server->hourly || hour[i] != 1;
	}
	m->hourly = m->hourly || server->hourly;
	return AUC_OK;
}

void auc_market_set_clock(struct auc_market *m, double seconds)
{
	m->clock = seconds;
}

enum auc_code auc_market_set_switch(struct auc_market *m, const char *name, struct auc_err *err)
{
	struct auc_server *server = &m->servers[m->nservers - 1];

	if (!*name || strlen(name) >= AUC_NAME_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "server %s: switch '%.80s': a name has 1 to %d characters",
				   server->name, name, AUC_NAME_MAX - 1);
	strcpy(server->leaf, name);
	/* Mostly those of one switch are added one after the other. */
	for (const struct auc_server *s = server; s-- > m->servers;)
		if (!strcmp(s->leaf, name)) {
			server->leaf_number = s->leaf_number;
			return AUC_OK;
		}
	server->leaf_number = ++m->nleaves;
	return AUC_OK;
}

enum auc_code auc_market_set_features(struct auc_market *m, const char *features,
				      struct auc_err *err)
{
	struct auc_server *server = &m->servers[m->nservers - 1];

	if (strlen(features) >= AUC_FEATURES_MAX)
		return auc_err_set(err, AUC_EINVAL, "server %s: features of more than %d bytes",
				   server->name, AUC_FEATURES_MAX - 1);
	strcpy(server->features, features);
	return AUC_OK;
}

const char *auc_market_features(const struct auc_market *m, unsigned server)
{
	return m->servers[server].features;
}

unsigned auc_market_switch(const struct auc_market *m, unsigned server)
{
	return m->servers[server].leaf_number;
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

void auc_market_gangs_only(struct auc_market *m)
{
	m->gangs_only = true;
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
		rc = auc_market_fix_units(m, err);
	if (rc != AUC_OK)
		return rc;
	for (k = 0; k < m->ntres; k++)
		memcpy(m->tres[k].curve, curves.of[k], sizeof(m->tres[k].curve));
	m->traffic.curve = curves.traffic;
	memcpy(&m->types[m->nworker_types], m->ps_types, m->nps_types * sizeof(m->ps_types[0]));
	rc = auc_cells_lay_out(m, err);
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
	for (unsigned k = 0; k < m->ntres; k++)
		if (!strcasecmp(m->tres[k].name, name))
			return (int)k;
	return -1;
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
	size_t cell = auc_cell(m, (unsigned)(t - m->first), server);

	if (t < m->first || t > auc_market_last(m))
		return 0;
	return (double)(m->used[cell * m->ntres + tres] - auc_cells_lost(m, cell, server, tres)) /
	       m->tres[tres].scale;
}

double auc_market_price(const struct auc_market *m, unsigned server, unsigned tres, auc_slot t)
{
	if (t < m->first || t > auc_market_last(m))
		return 0;
	return m->unit_price[auc_units(m, (unsigned)(t - m->first), server) +
			     (size_t)tres * m->nservers];
}

double auc_market_worker_amount(const struct auc_market *m, unsigned type, unsigned tres)
{
	return m->types[type].amount[tres];
}

double auc_market_ps_amount(const struct auc_market *m, unsigned type, unsigned tres)
{
	return m->types[auc_ps_index(m, type)].amount[tres];
}

void auc_market_begin_bulk(struct auc_market *m)
{
	m->bulk = true;
}

void auc_market_end_bulk(struct auc_market *m)
{
	m->bulk = false;
	auc_cells_refresh_all(m);
}

uint64_t auc_market_frees(const struct auc_market *m)
{
	return m->frees;
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
	bool moved = false;
	size_t cell;

	for (s = 0; s < m->nservers; s++) {
		struct auc_server *server = &m->servers[s];
		unsigned now = roles[s];

		if (server->whole) {
			moved |= !server->inside != !roles[s];
			if (!server->inside && roles[s])
				m->freed[s] = ++m->frees;
			server->inside = roles[s];
			continue;
		}
		if (server->nparts)
			now = 0;
		for (i = 1; i <= server->nparts; i++)
			now |= server[-(ptrdiff_t)i].inside;
		if (server->roles != now) {
			server->roles = now;
			m->freed[s] = ++m->frees;
			changed[n++] = (struct auc_share){.server = s};
		}
	}
	if (moved)
		auc_cells_refresh_wholes(m, m->first, auc_market_last(m));
	if (!n)
		return;
	auc_cells_lay_out_idle(m);
	for (t = 0; t < m->slots; t++)
		for (i = 0; i < n; i++) {
			cell = auc_cell(m, t, changed[i].server);
			for (k = 0; k < m->ntres; k++)
				auc_cells_set_used(m, cell, changed[i].server, k,
						   m->used[cell * m->ntres + k]);
		}
	auc_market_refresh(m, m->first, auc_market_last(m), changed, n);
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
	m->traffic.curve = curves.traffic;
	if (!m->ready)
		return AUC_OK;
	if (changed) {
		m->given = false;
		auc_cells_reprice(m, moved);
	}
	auc_traffic_reprice(m);
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
	m->traffic.idle_price = 0;
	for (i = 0; i < n; i++)
		if (list[i].from <= auc_market_last(m) + 1 && list[i].to > auc_market_last(m))
			*idle_price_of(m, &list[i]) = list[i].price;
	auc_cells_lay_out_idle(m);
	memset(m->unit_price, 0,
	       (size_t)m->slots * m->nservers * m->ntres * sizeof(*m->unit_price));
	memset(m->traffic.price, 0, m->slots * sizeof(*m->traffic.price));
	for (i = 0; i < n; i++)
		set_given(m, &list[i]);
	auc_cells_raise(m);
	auc_cells_refresh_lowest(m);
	auc_cells_refresh_all(m);
	return AUC_OK;
}

enum auc_code auc_market_copy_state(struct auc_market *m, const struct auc_market *from,
				    struct auc_err *err)
{
	size_t cell, cells = (size_t)m->slots * m->nservers;
	unsigned k, s, t;
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
		for (cell = 0; cell < cells; cell++)
			m->used[cell * m->ntres + k] = from->used[cell * from->ntres + (unsigned)j];
		for (t = 0; t < m->slots; t++)
			memcpy(m->unit_price + auc_units(m, t, 0) + (size_t)k * m->nservers,
			       from->unit_price + auc_units(from, t, 0) +
				       (size_t)(unsigned)j * m->nservers,
			       m->nservers * sizeof(*m->unit_price));
	}
	auc_traffic_copy(m, from);
	auc_cells_lay_out_idle(m);
	auc_cells_raise(m);
	auc_cells_refresh_full(m);
	auc_cells_refresh_lowest(m);
	auc_cells_refresh_all(m);
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
	return auc_traffic_sound(m);
}

/* Adds NAMED amounts into AMOUNT[] by TRES index, making TRES as they come. */
static enum auc_code add_amounts(struct auc_market *m, double *amount,
				 const struct auc_named *named, unsigned n, const char *what,
				 const char *name, struct auc_err *err)
{
	unsigned i;
	int k;

	for (i = 0; i < n; i++) {
		if (!(named[i].value >= 0 && named[i].value <= AUC_UNITS_LIMIT))
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
		rc = auc_price_curve_of(price, AUC_TRANSFER, AUC_ROLES_ALL, &curves->traffic, err);
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

/* Where the price that G gives is kept for slots to come. */
static double *idle_price_of(struct auc_market *m, const struct auc_given_price *g)
{
	return g->server == AUC_ANY_SERVER ? &m->traffic.idle_price
					   : &m->idle_price[(size_t)g->server * m->ntres + g->tres];
}

/* The part of G that is in the window; auc_cells_refresh_all() must follow. */
static void set_given(struct auc_market *m, const struct auc_given_price *g)
{
	auc_slot from = g->from, to = g->to, t;

	if (!auc_market_clip(m, &from, &to))
		return;
	for (t = from; t <= to; t++)
		if (g->server == AUC_ANY_SERVER)
			m->traffic.price[t - m->first] = g->price;
		else
			m->unit_price[auc_units(m, (unsigned)(t - m->first), g->server) +
				      (size_t)g->tres * m->nservers] = g->price;
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
