/* scenario_same.c - see scenario_same.h */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "auctionsim/scenario/scenario_same.h"
#include "base/list.h"

static bool same_number(double a, double b, struct auc_err *err, const char *where, ...)
	__attribute__((format(printf, 4, 5)));
static bool same_text(const char *a, const char *b, struct auc_err *err, const char *where, ...)
	__attribute__((format(printf, 4, 5)));
static bool same_types(const char *key, const struct scenario_type *a, unsigned na,
		       const struct scenario_type *b, unsigned nb, struct auc_err *err);
static bool same_servers(const struct scenario *a, const struct scenario *b, struct auc_err *err);
static bool same_amounts(const char *where, const struct auc_named *a, unsigned na,
			 const struct auc_named *b, unsigned nb, struct auc_err *err);
static const char *role_word(unsigned roles);

enum auc_code scenario_same_market(const struct scenario *a, const struct scenario *b,
				   struct auc_err *err)
{
	return same_number((double)a->slots, (double)b->slots, err, "slots") &&
			       same_number(a->slot_seconds, b->slot_seconds, err, "slot_seconds") &&
			       same_number(a->hour, b->hour, err, "hour") &&
			       same_number(a->transfer_mb_per_slot, b->transfer_mb_per_slot, err,
					   "transfer_mb_per_slot") &&
			       same_types("worker_types", a->worker_types, a->nworker_types,
					  b->worker_types, b->nworker_types, err) &&
			       same_types("ps_types", a->ps_types, a->nps_types, b->ps_types,
					  b->nps_types, err) &&
			       same_servers(a, b, err)
		       ? AUC_OK
		       : AUC_EINVAL;
}

/* A number below 0 was not given. */
static bool same_number(double a, double b, struct auc_err *err, const char *where, ...)
{
	char path[160], expected[AUC_NUMBER_LEN], found[AUC_NUMBER_LEN];
	va_list args;

	if (a == b)
		return true;
	va_start(args, where);
	vsnprintf(path, sizeof(path), where, args);
	va_end(args);
	auc_err_set(err, AUC_EINVAL, "$.%s: expected %s, found %s", path,
		    a < 0 ? "none" : auc_number_str(a, expected),
		    b < 0 ? "none" : auc_number_str(b, found));
	return false;
}

/* NULL: there is none. */
static bool same_text(const char *a, const char *b, struct auc_err *err, const char *where, ...)
{
	char path[160];
	va_list args;

	if (a && b && !strcmp(a, b))
		return true;
	va_start(args, where);
	vsnprintf(path, sizeof(path), where, args);
	va_end(args);
	auc_err_set(err, AUC_EINVAL, "$.%s: expected %s, found %s", path, a ? a : "none",
		    b ? b : "none");
	return false;
}

static bool same_types(const char *key, const struct scenario_type *a, unsigned na,
		       const struct scenario_type *b, unsigned nb, struct auc_err *err)
{
	char where[80];
	unsigned i;

	for (i = 0; i < na || i < nb; i++) {
		snprintf(where, sizeof(where), "%s[%u].tres", key, i);
		if (!same_text(i < na ? a[i].name : NULL, i < nb ? b[i].name : NULL, err,
			       "%s[%u].name", key, i) ||
		    !same_number(a[i].bandwidth_mbps, b[i].bandwidth_mbps, err,
				 "%s[%u].bandwidth_mbps", key, i) ||
		    !same_amounts(where, a[i].tres, a[i].ntres, b[i].tres, b[i].ntres, err))
			return false;
	}
	return true;
}

static bool same_servers(const struct scenario *a, const struct scenario *b, struct auc_err *err)
{
	const struct scenario_server *x, *y;
	char where[80];
	unsigned i;

	for (i = 0; i < a->nservers || i < b->nservers; i++) {
		x = i < a->nservers ? &a->servers[i] : NULL;
		y = i < b->nservers ? &b->servers[i] : NULL;
		snprintf(where, sizeof(where), "servers[%u].capacity", i);
		if (!same_text(x ? x->name : NULL, y ? y->name : NULL, err, "servers[%u].name",
			       i) ||
		    !same_text(x->cloud ? "cloud" : "edge", y->cloud ? "cloud" : "edge", err,
			       "servers[%u].site", i) ||
		    !same_text(role_word(x->roles), role_word(y->roles), err, "servers[%u].roles",
			       i) ||
		    !same_text(*x->leaf ? x->leaf : "none", *y->leaf ? y->leaf : "none", err,
			       "servers[%u].switch", i) ||
		    !same_amounts(where, x->capacity, x->ncapacity, y->capacity, y->ncapacity, err))
			return false;
		snprintf(where, sizeof(where), "servers[%u].cost", i);
		if (!same_amounts(where, x->cost, x->ncost, y->cost, y->ncost, err))
			return false;
		for (unsigned h = 0; h < AUC_DAY_HOURS && (x->hourly || y->hourly); h++)
			if (!same_number(x->hourly ? x->cost_hours[h] : 1,
					 y->hourly ? y->cost_hours[h] : 1, err,
					 "servers[%u].cost_hours[%u]", i, h))
				return false;
	}
	return true;
}

static bool same_amounts(const char *where, const struct auc_named *a, unsigned na,
			 const struct auc_named *b, unsigned nb, struct auc_err *err)
{
	unsigned i;

	for (i = 0; i < na || i < nb; i++)
		if (!same_text(i < na ? a[i].name : NULL, i < nb ? b[i].name : NULL, err,
			       "%s (TRES %u)", where, i + 1) ||
		    !same_number(a[i].value, b[i].value, err, "%s.%s", where, a[i].name))
			return false;
	return true;
}

static const char *role_word(unsigned roles)
{
	return roles == AUC_ROLE_WORKER ? "worker" : roles == AUC_ROLE_PS ? "ps" : "worker and ps";
}
