/*
 * units.c - amounts of TRES as integers (market.h), so that 3 x 0.1 GPU fill 0.3 GPU exactly: the
 * scale of each TRES, amounts in its units, and a server whose capacity changes.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "market/cells.h"
#include "market/plan.h"

#define NEVER_FITS (INT64_C(1) << 53) /* units of an amount beyond every capacity */
#define SCALE_MAX  9
#define ROUNDING   1e-6 /* of an amount, at most */

static double scale_of(const struct auc_market *m, unsigned tres, unsigned server, double amount);
static enum auc_code new_units(const struct auc_market *m, unsigned server,
			       const struct auc_named *capacity, unsigned ncapacity, double *amount,
			       int64_t *units, struct auc_err *err);
static bool holds(const struct auc_market *m, unsigned server, const int64_t *units);
static enum auc_code to_units(const struct auc_tres *tres, const char *name, double *amount,
			      int64_t *units, struct auc_err *err);

enum auc_code auc_market_fix_units(struct auc_market *m, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i, k;

	for (k = 0; k < m->ntres && rc == AUC_OK; k++) {
		m->tres[k].scale = scale_of(m, k, m->nservers, 0);
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

enum auc_code auc_market_amounts(const struct auc_market *m, const struct auc_named *per_node,
				 unsigned n, double *amount, int64_t *units, bool *never,
				 struct auc_err *err)
{
	bool any = false;

	*never = false;
	memset(amount, 0, AUC_TRES_MAX * sizeof(*amount));
	memset(units, 0, AUC_TRES_MAX * sizeof(*units));
	for (unsigned i = 0; i < n; i++) {
		int k = auc_market_find_tres(m, per_node[i].name);
		enum auc_code rc;

		if (!(per_node[i].value >= 0 && per_node[i].value <= AUC_UNITS_LIMIT))
			return auc_err_set(err, AUC_EINVAL,
					   "%.*s=%g: expected an amount from 0 to 2^52",
					   AUC_NAME_MAX, per_node[i].name, per_node[i].value);
		any = any || per_node[i].value > 0;
		if (k < 0) {
			*never = *never || per_node[i].value > 0;
			continue;
		}
		if (amount[k] > 0)
			return auc_err_set(err, AUC_EINVAL, "%s is there twice", m->tres[k].name);
		amount[k] = per_node[i].value;
		rc = to_units(&m->tres[k], "a node", &amount[k], &units[k], err);
		if (rc != AUC_OK)
			return rc;
	}
	return any ? AUC_OK : auc_err_set(err, AUC_EINVAL, "expected an amount above 0");
}

enum auc_code auc_market_set_capacity(struct auc_market *m, unsigned server,
				      const struct auc_named *capacity, unsigned ncapacity,
				      struct auc_err *err)
{
	const struct auc_share share = {.server = server};
	struct auc_server *s = &m->servers[server];
	double amount[AUC_TRES_MAX] = {0};
	int64_t units[AUC_TRES_MAX] = {0};
	enum auc_code rc = new_units(m, server, capacity, ncapacity, amount, units, err);
	size_t cell;

	if (rc != AUC_OK)
		return rc;
	if (!holds(m, server, units))
		return auc_err_set(err, AUC_EFULL, "server %s: more is booked than it has now",
				   s->name);
	rc = auc_columns_admit(m, server, units, err);
	if (rc != AUC_OK)
		return rc;
	memcpy(s->amount, amount, sizeof(amount));
	memcpy(s->units, units, sizeof(units));
	m->freed[server] = ++m->frees;
	auc_cells_lay_out_idle(m);
	for (unsigned t = 0; t < m->slots; t++)
		for (unsigned k = 0; k < m->ntres; k++) {
			cell = auc_cell(m, t, server);
			auc_cells_set_used(m, cell, server, k, m->used[cell * m->ntres + k]);
		}
	auc_market_refresh(m, m->first, auc_market_last(m), &share, 1);
	return AUC_OK;
}

/* To AMOUNT and UNITS, by TRES: what SERVER has with CAPACITY, in the units of M. AUC_ESTATE. */
static enum auc_code new_units(const struct auc_market *m, unsigned server,
			       const struct auc_named *capacity, unsigned ncapacity, double *amount,
			       int64_t *units, struct auc_err *err)
{
	const struct auc_server *s = &m->servers[server];
	enum auc_code rc = AUC_OK;
	int k;

	if (!m->ready || m->bulk || s->whole || s->nparts)
		return auc_err_set(err, AUC_ESTATE, "server %s: cannot be changed alone", s->name);
	for (unsigned i = 0; i < ncapacity; i++) {
		k = auc_market_find_tres(m, capacity[i].name);
		if (k < 0 || !(capacity[i].value >= 0) || amount[k] > 0)
			return auc_err_set(err, AUC_ESTATE, "server %s: %s=%g is new here", s->name,
					   capacity[i].name, capacity[i].value);
		amount[k] = capacity[i].value;
	}
	for (unsigned t = 0; t < m->ntres && rc == AUC_OK; t++) {
		if (scale_of(m, t, server, amount[t]) != m->tres[t].scale)
			return auc_err_set(err, AUC_ESTATE, "server %s: %s is counted otherwise",
					   s->name, m->tres[t].name);
		rc = to_units(&m->tres[t], s->name, &amount[t], &units[t], err);
		if (rc == AUC_OK && m->given && units[t] && !s->units[t])
			rc = auc_err_set(err, AUC_ESTATE, "server %s: no price is given for its %s",
					 s->name, m->tres[t].name);
	}
	return rc;
}

/* True if no slot has more booked on SERVER than UNITS. */
static bool holds(const struct auc_market *m, unsigned server, const int64_t *units)
{
	for (unsigned t = 0; t < m->slots; t++)
		for (unsigned k = 0; k < m->ntres; k++)
			if (m->used[auc_cell(m, t, server) * m->ntres + k] > units[k])
				return false;
	return true;
}

/* Units per amount of 1 of TRES, by the largest server; SERVER has AMOUNT instead of its own. */
static double scale_of(const struct auc_market *m, unsigned tres, unsigned server, double amount)
{
	double most = amount, scale = 1;

	for (unsigned i = 0; i < m->nservers; i++)
		if (i != server)
			most = fmax(most, m->servers[i].amount[tres]);
	for (int exponent = 0; exponent < SCALE_MAX && most * scale * 10 <= AUC_UNITS_LIMIT;
	     exponent++)
		scale *= 10;
	return scale;
}

/* An amount in units; AMOUNT becomes exactly that many. */
static enum auc_code to_units(const struct auc_tres *tres, const char *name, double *amount,
			      int64_t *units, struct auc_err *err)
{
	double scaled = *amount * tres->scale;

	if (scaled > AUC_UNITS_LIMIT) {
		*units = NEVER_FITS;
		return AUC_OK;
	}
	*units = llround(scaled);
	if (*amount > 0 && !*units)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: %s=%g: too small to count, the least is %g", name,
				   tres->name, *amount, 1 / tres->scale);
	if (fabs((double)*units - scaled) > ROUNDING * scaled)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: %s=%.12g: expected a multiple of %g, in which %s is "
				   "counted beside the largest server",
				   name, tres->name, *amount, 1 / tres->scale, tres->name);
	*amount = (double)*units / tres->scale;
	return AUC_OK;
}
