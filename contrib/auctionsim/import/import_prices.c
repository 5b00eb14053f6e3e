/*
 * import_prices.c - see import-private.h: the prices of a scenario, from those of auction.conf.
 * That may name "gpu" for all types of GPUs, and what no server has; a scenario names its own TRES,
 * each with its price.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "auctionsim/import/import-private.h"
#include "auctionsim/import/import_types.h"
#include "base/json.h"
#include "input/conf.h"
#include "input/conf_prices.h"
#include "policy/registry.h"

/* Adds the price of one TRES, called TRES in auction.conf and NAME in the scenario, to O. */
typedef bool add_price(const struct auc_conf *conf, const char *tres, const char *name,
		       struct json_object *o);

static add_price add_eta, add_bounds, add_ps_bounds;
static bool each_tres(const struct import *im, const struct import_types *t, add_price *add,
		      struct json_object *o);
static struct json_object *eta_object(const struct import *im, const struct import_types *t);
static struct json_object *bounds_object(const struct import *im, const struct import_types *t);
static bool add_role(const struct auc_conf_bounds *b, const char *tres, const char *name,
		     struct json_object *o);

struct json_object *import_prices_object(const struct import *im, const struct import_types *t)
{
	const struct auc_conf *conf = im->conf;
	struct json_object *o;

	if (im->g.values[IMPORT_PRICES].low == 1)
		return NULL;
	if (conf && conf->prices == AUC_PRICES_NONE) {
		o = json_object_new_object();
		return auc_json_if(o && auc_json_add_text(o, "mode", "given") &&
					   auc_json_add(o, "values", json_object_new_array()),
				   o);
	}
	if (conf && !auc_conf_learns(conf))
		return auc_policy_find(conf->policy)->prices == AUC_PRICE_BOUNDS
			       ? bounds_object(im, t)
			       : eta_object(im, t);
	o = json_object_new_object();
	return auc_json_if(o && auc_json_add_text(o, "mode", "learned"), o);
}

static struct json_object *eta_object(const struct import *im, const struct import_types *t)
{
	struct json_object *o = json_object_new_object(), *eta = json_object_new_object();
	bool ok = o && eta && auc_json_add_text(o, "mode", "eta") &&
		  each_tres(im, t, add_eta, eta) && auc_json_add(o, "eta", json_object_get(eta));

	json_object_put(eta);
	return auc_json_if(ok, o);
}

static struct json_object *bounds_object(const struct import *im, const struct import_types *t)
{
	struct json_object *o = json_object_new_object(), *worker = json_object_new_object(),
			   *ps = json_object_new_object();
	bool ok = o && worker && ps && auc_json_add_text(o, "mode", "bounds");

	for (unsigned i = 0; i < 2; i++) {
		struct json_object *role = i ? ps : worker;

		ok = ok && auc_json_add(role, "lower", json_object_new_object()) &&
		     auc_json_add(role, "upper", json_object_new_object()) &&
		     each_tres(im, t, i ? add_ps_bounds : add_bounds, role) &&
		     auc_json_add(o, i ? "ps" : "worker", json_object_get(role));
	}
	json_object_put(worker);
	json_object_put(ps);
	return auc_json_if(ok, o);
}

/* Whatever servers have, by ADD. */
static bool each_tres(const struct import *im, const struct import_types *t, add_price *add,
		      struct json_object *o)
{
	char tres[IMPORT_KIND_BYTES + 4], name[AUC_NAME_MAX];
	bool ok = add(im->conf, "cpu", "cpu", o) && add(im->conf, "mem", "mem", o);
	bool bare = t->untyped;

	for (unsigned k = 0; k < im->kinds.n && ok; k++) {
		if (!import_types_served(t, k))
			continue;
		if (!*im->kinds.list[k]) {
			bare = true;
			continue;
		}
		snprintf(tres, sizeof(tres), "gpu:%.255s", im->kinds.list[k]);
		snprintf(name, sizeof(name), "gpu:%.75s", t->labels[k]);
		ok = add(im->conf, tres, name, o);
	}
	return ok && (!bare || add(im->conf, "gpu", "gpu", o));
}

static bool add_eta(const struct auc_conf *conf, const char *tres, const char *name,
		    struct json_object *o)
{
	const struct auc_named *eta = auc_conf_price_find(conf->eta, conf->neta, tres);

	return !eta || gen_add_number(o, name, eta->value);
}

static bool add_bounds(const struct auc_conf *conf, const char *tres, const char *name,
		       struct json_object *o)
{
	return add_role(&conf->bounds, tres, name, o);
}

static bool add_ps_bounds(const struct auc_conf *conf, const char *tres, const char *name,
			  struct json_object *o)
{
	return add_role(conf->ps_bounds.nupper ? &conf->ps_bounds : &conf->bounds, tres, name, o);
}

/* As auc_conf_price() has them: the lower one of all types may be above the upper one of this. */
static bool add_role(const struct auc_conf_bounds *b, const char *tres, const char *name,
		     struct json_object *o)
{
	const struct auc_named *lower = auc_conf_price_find(b->lower, b->nlower, tres);
	const struct auc_named *upper = auc_conf_price_find(b->upper, b->nupper, tres);
	struct json_object *list = NULL;

	if (!upper)
		return true;
	json_object_object_get_ex(o, "upper", &list);
	if (!gen_add_number(list, name, upper->value))
		return false;
	json_object_object_get_ex(o, "lower", &list);
	return !lower || gen_add_number(list, name, fmin(lower->value, upper->value));
}
