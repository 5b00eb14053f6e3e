/*
 * rebuild.c - the auction's market, made of configuration, servers and what is sold.
 *
 * Nodes that go down, come up or change their capacity are patched. If nodes come or go, or the
 * configuration changes, the market is rebuilt: a new one is made beside the old, the ledger moves
 * over by names, and only then the old one goes. What live sales name and the cluster no longer has
 * (servers, types) is put into the new market too, so that every sale can be resolved; nothing new
 * fits there.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/list.h"
#include "input/conf_prices.h"
#include "auction/auction-private.h"
#include "base/json.h"

#define PATCHED_AT_ONCE 16 /* nodes; of more, a new market costs less time */

static enum auc_code check_specs(const struct auc_conf *conf, const struct auc_server_spec *specs,
				 unsigned n, struct auc_err *err);
static bool same_nodes(const struct auc_auction *a, const struct auc_server_spec *specs,
		       unsigned n);
static bool same_capacity(const struct auc_server_spec *a, const struct auc_server_spec *b);
static enum auc_code patch(struct auc_auction *a, const struct auc_server_spec *specs,
			   struct auc_err *err);
static enum auc_code replace_specs(struct auc_auction *a, const struct auc_server_spec *specs,
				   unsigned n, double now, struct auc_err *err);
static void forget_searches(struct auc_auction *a);
static enum auc_code set_down(struct auc_auction *a, const struct auc_server_spec *specs,
			      struct auc_err *err);
static unsigned roles_of(const struct auc_server_spec *s, const struct auc_conf_partition *part);
static enum auc_code set_cost(struct auc_market *m, const struct auc_server_spec *spec,
			      const struct auc_conf_partition *part, struct auc_err *err);
static unsigned *server_order(const struct auc_auction *a, unsigned *n);
static enum auc_code set_specs(struct auc_auction *a, const struct auc_server_spec *specs,
			       unsigned n, struct auc_err *err);
static enum auc_code add_conf_types(struct auc_market *m, const struct auc_conf *conf,
				    struct auc_err *err);
static enum auc_code add_servers(struct auc_market *m, const struct auc_auction *a,
				 struct auc_err *err);
static enum auc_code add_names_of_sale(struct auc_market *m, struct json_object *record,
				       struct auc_err *err);
static enum auc_code add_nodes_of_sale(struct auc_market *m, struct json_object *runs,
				       struct auc_err *err);
static enum auc_code add_sources_of_sale(struct auc_market *m, struct json_object *plan,
					 struct auc_err *err);
static enum auc_code add_name_of_sale(struct auc_market *m, const char *name, struct auc_err *err);
static enum auc_code add_type_of_sale(struct auc_market *m, struct json_object *record, bool ps,
				      struct auc_err *err);
static auc_slot last_slot_of(struct json_object *records);
static auc_slot last_slot_sold(const struct auc_ledger *ledger);

enum auc_code auc_auction_set_servers(struct auc_auction *a, const struct auc_server_spec *servers,
				      unsigned nservers, double now, struct auc_err *err)
{
	enum auc_code rc;

	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	rc = check_specs(a->conf, servers, nservers, err);
	if (rc == AUC_OK && a->market && same_nodes(a, servers, nservers)) {
		rc = patch(a, servers, err);
		if (rc == AUC_ESTATE || rc == AUC_EFULL)
			rc = replace_specs(a, servers, nservers, now, err);
		else if (rc == AUC_OK)
			auc_auction_pass_time(a, now, NULL);
	} else if (rc == AUC_OK) {
		rc = replace_specs(a, servers, nservers, now, err);
	}
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	return rc;
}

/* With a market made anew. */
static enum auc_code replace_specs(struct auc_auction *a, const struct auc_server_spec *specs,
				   unsigned n, double now, struct auc_err *err)
{
	struct auc_server_spec *old = a->specs;
	unsigned nold = a->nspecs;
	enum auc_code rc = set_specs(a, specs, n, err);

	if (rc == AUC_OK)
		rc = auc_auction_rebuild(a, now, err);
	if (rc == AUC_OK || rc == AUC_EFULL) {
		free(old);
	} else if (a->specs != old) {
		free(a->specs);
		a->specs = old;
		a->nspecs = nold;
	}
	return rc;
}

static enum auc_code check_specs(const struct auc_conf *conf, const struct auc_server_spec *specs,
				 unsigned n, struct auc_err *err)
{
	for (unsigned i = 0; i < n; i++)
		if (!auc_conf_partition(conf, specs[i].partition))
			return auc_err_set(err, AUC_EINVAL,
					   "node %s: partition %s is not one of auction.conf",
					   specs[i].name, specs[i].partition);
	return AUC_OK;
}

/* The same nodes in the same partitions and on the same switches, whatever TRES they have and
 * whether they are up. */
static bool same_nodes(const struct auc_auction *a, const struct auc_server_spec *specs, unsigned n)
{
	if (n != a->nspecs)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (strcmp(a->specs[i].name, specs[i].name) ||
		    strcmp(a->specs[i].partition, specs[i].partition) ||
		    strcmp(a->specs[i].leaf, specs[i].leaf) ||
		    strcmp(a->specs[i].features, specs[i].features))
			return false;
	return true;
}

static bool same_capacity(const struct auc_server_spec *a, const struct auc_server_spec *b)
{
	if (a->ncapacity != b->ncapacity)
		return false;
	for (unsigned k = 0; k < a->ncapacity; k++)
		if (strcmp(a->capacity[k].name, b->capacity[k].name) ||
		    a->capacity[k].value != b->capacity[k].value)
			return false;
	return true;
}

/*
 * The nodes there are change as SPECS say. AUC_ESTATE, AUC_EFULL: that needs another market; some
 * may have changed by then.
 */
static enum auc_code patch(struct auc_auction *a, const struct auc_server_spec *specs,
			   struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned changed = 0;
	int server;

	for (unsigned i = 0; i < a->nspecs && rc == AUC_OK; i++) {
		struct auc_server_spec *s = &a->specs[i];

		if (same_capacity(s, &specs[i]))
			continue;
		if (a->misfits || ++changed > PATCHED_AT_ONCE)
			return auc_err_set(err, AUC_ESTATE, "node %s: changed with others",
					   s->name);
		server = auc_market_find_server(a->market, s->name);
		rc = server < 0
			     ? AUC_ESTATE
			     : auc_market_set_capacity(a->market, (unsigned)server,
						       specs[i].capacity, specs[i].ncapacity, err);
		if (rc == AUC_OK) {
			memcpy(s->capacity, specs[i].capacity, sizeof(s->capacity));
			s->ncapacity = specs[i].ncapacity;
		}
	}
	if (rc == AUC_OK && changed)
		forget_searches(a);
	return rc == AUC_OK ? set_down(a, specs, err) : rc;
}

/* What was found in the market as it was. */
static void forget_searches(struct auc_auction *a)
{
	auc_offer_standing_void(a->offers);
	auc_auction_rearrange_free(a->rearrange.search);
	a->rearrange.search = NULL;
	a->rearrange.due = true;
	a->stale = true;
}

/*
 * The servers there are go down and come up as SPECS say. Nodes do that all the time: too often to
 * build a market each time.
 */
static enum auc_code set_down(struct auc_auction *a, const struct auc_server_spec *specs,
			      struct auc_err *err)
{
	/* What only old sales name stands behind them, and sells nothing. */
	unsigned *roles = calloc(auc_market_nservers(a->market) + 1, sizeof(*roles)), n;
	unsigned *order = server_order(a, &n);

	if (!roles || !order) {
		free(roles);
		free(order);
		return auc_auction_no_memory(err);
	}
	for (unsigned i = 0; i < a->nspecs; i++)
		a->specs[i].down = specs[i].down;
	for (unsigned i = 0; i < n; i++)
		if (order[i] < a->nspecs)
			roles[i] =
				roles_of(&a->specs[order[i]],
					 auc_conf_partition(a->conf, a->specs[order[i]].partition));
	auc_market_set_roles(a->market, roles);
	a->stale = true;
	free(roles);
	free(order);
	return AUC_OK;
}

/* A server that is down keeps its capacity, so that its sales stay booked, but may host nothing
 * new. */
static unsigned roles_of(const struct auc_server_spec *s, const struct auc_conf_partition *part)
{
	static const unsigned roles[] = {
		[AUC_PART_BOTH] = AUC_ROLE_WORKER | AUC_ROLE_PS,
		[AUC_PART_WORKER] = AUC_ROLE_WORKER,
		[AUC_PART_PS] = AUC_ROLE_PS,
	};

	return s->down ? 0 : roles[part->roles];
}

/* Puts a copy in place; the caller frees the old. */
static enum auc_code set_specs(struct auc_auction *a, const struct auc_server_spec *specs,
			       unsigned n, struct auc_err *err)
{
	struct auc_server_spec *copy = malloc((n ? n : 1) * sizeof(*copy));

	if (!copy)
		return auc_auction_no_memory(err);
	if (n)
		memcpy(copy, specs, n * sizeof(*copy));
	a->specs = copy;
	a->nspecs = n;
	return AUC_OK;
}

enum auc_code auc_auction_rebuild(struct auc_auction *a, double now, struct auc_err *err)
{
	struct auc_events records = {.list = json_object_new_array()};
	struct auc_market *market = NULL;
	enum auc_code rc = records.list ? AUC_OK : auc_auction_no_memory(err);

	if (rc == AUC_OK && a->ledger)
		rc = auc_ledger_dump(a->ledger, auc_event_append, &records, err);
	if (rc == AUC_OK && records.missed)
		rc = auc_auction_no_memory(err);
	if (rc == AUC_OK)
		rc = auc_auction_build_market(a, records.list, last_slot_sold(a->ledger), now,
					      &market, err);
	json_object_put(records.list);
	if (rc == AUC_OK)
		rc = auc_auction_apply_closures(a, market, err);
	if (rc == AUC_OK && !a->ledger &&
	    !(a->ledger = auc_ledger_create(market, auc_auction_queue_event, a)))
		rc = auc_auction_no_memory(err);
	if (rc == AUC_OK)
		rc = auc_ledger_rebase(a->ledger, market, err);
	if (rc != AUC_OK && rc != AUC_EFULL) {
		auc_market_destroy(market);
		return rc;
	}
	auc_market_destroy(a->market);
	a->market = market;
	auc_held_bids_change(a->held);
	a->misfits = rc == AUC_EFULL;
	forget_searches(a);
	if (auc_auction_take_price(a, rc == AUC_OK ? err : NULL) != AUC_OK && rc == AUC_OK)
		rc = AUC_EINVAL;
	/* A stepper asks only what is used: what else the market keeps of bookings is for quotes.
	 */
	if (a->policy->stepper)
		auc_market_begin_bulk(market);
	return rc;
}

enum auc_code auc_auction_build_market(const struct auc_auction *a, struct json_object *records,
				       auc_slot last, double now, struct auc_market **market,
				       struct auc_err *err)
{
	const struct auc_conf *conf = a->conf;
	auc_slot first = auc_slot_of(now, conf->slot_seconds), of_records = last_slot_of(records);
	struct auc_price price;
	unsigned slots = conf->slots;
	struct auc_market *m;
	enum auc_code rc;

	/* Slots after a shortened horizon stay as long as somebody owns one. */
	last = last > of_records ? last : of_records;
	if (last - first >= slots)
		slots = last - first < AUC_SLOTS_MAX ? (unsigned)(last - first) + 1 : AUC_SLOTS_MAX;
	m = auc_market_create(slots, conf->slot_seconds, first);
	rc = m ? AUC_OK : auc_auction_no_memory(err);
	if (rc == AUC_OK)
		rc = add_conf_types(m, conf, err);
	if (rc == AUC_OK)
		rc = add_servers(m, a, err);
	for (size_t i = 0; rc == AUC_OK && i < json_object_array_length(records); i++)
		rc = add_names_of_sale(m, json_object_array_get_idx(records, i), err);
	if (rc == AUC_OK && conf->transfer_mb >= 0)
		rc = auc_market_set_traffic(m, conf->transfer_mb, err);
	if (rc == AUC_OK) {
		auc_conf_price(conf, a->policy->prices, m, &price);
		rc = auc_market_ready(m, &price, err);
	}
	if (rc != AUC_OK) {
		auc_market_destroy(m);
		return rc;
	}
	*market = m;
	return AUC_OK;
}

static enum auc_code add_conf_types(struct auc_market *m, const struct auc_conf *conf,
				    struct auc_err *err)
{
	const struct auc_conf_type *t;
	enum auc_code rc = AUC_OK;

	for (t = conf->worker_types; rc == AUC_OK && t < conf->worker_types + conf->nworker_types;
	     t++)
		rc = auc_market_add_worker_type(m, t->name, t->tres, t->ntres, t->bandwidth_mbps,
						err);
	for (t = conf->ps_types; rc == AUC_OK && t < conf->ps_types + conf->nps_types; t++)
		rc = auc_market_add_ps_type(m, t->name, t->tres, t->ntres, t->bandwidth_mbps, err);
	return rc;
}

static enum auc_code add_servers(struct auc_market *m, const struct auc_auction *a,
				 struct auc_err *err)
{
	const struct auc_conf_partition *part;
	const struct auc_server_spec *s;
	enum auc_code rc = AUC_OK;
	unsigned n, *order = server_order(a, &n), parts = 0;

	if (!order)
		return auc_auction_no_memory(err);
	for (unsigned i = 0; i < n && rc == AUC_OK; i++) {
		if (order[i] >= a->nspecs) {
			rc = auc_market_add_whole(m, a->conf->partitions[order[i] - a->nspecs].name,
						  parts, err);
			parts = 0;
			continue;
		}
		s = &a->specs[order[i]];
		part = auc_conf_partition(a->conf, s->partition);
		rc = auc_market_add_server(m, s->name, s->partition, part->cloud, roles_of(s, part),
					   part->upload_seconds / a->conf->slot_seconds,
					   s->capacity, s->ncapacity, err);
		if (rc == AUC_OK)
			rc = auc_market_set_features(m, s->features, err);
		if (rc == AUC_OK && *s->leaf)
			rc = auc_market_set_switch(m, s->leaf, err);
		if (rc == AUC_OK)
			auc_market_set_bandwidth(m, part->bandwidth_mbps);
		if (rc == AUC_OK)
			rc = set_cost(m, s, part, err);
		if (rc == AUC_OK && part->hourly)
			rc = auc_market_set_cost_hours(m, part->cost_hour, err);
		parts += part->one_server;
	}
	free(order);
	return rc;
}

/* Of the server that was added last, SPEC. */
static enum auc_code set_cost(struct auc_market *m, const struct auc_server_spec *spec,
			      const struct auc_conf_partition *part, struct auc_err *err)
{
	struct auc_named cost[AUC_TRES_MAX];
	const struct auc_named *found;
	unsigned n = 0;

	for (unsigned i = 0; i < spec->ncapacity; i++) {
		found = auc_conf_price_find(part->cost, part->ncost, spec->capacity[i].name);
		if (!found)
			continue;
		cost[n] = spec->capacity[i];
		cost[n++].value = found->value;
	}
	return auc_market_set_cost(m, cost, n, err);
}

/*
 * The market's servers as indices of a->specs: as they come, then, for each partition P that is one
 * server, its nodes and nspecs + P for the server that they are together. Without nodes whose
 * partition was sold before a reconfiguration and is not now. Malloc'd; NULL: no memory.
 */
static unsigned *server_order(const struct auc_auction *a, unsigned *n)
{
	const struct auc_conf *conf = a->conf;
	unsigned *order = malloc((a->nspecs + conf->npartitions + 1) * sizeof(*order));

	*n = 0;
	for (unsigned p = 0; p <= conf->npartitions && order; p++) {
		unsigned before = *n;

		if (p && !conf->partitions[p - 1].one_server)
			continue;
		for (unsigned i = 0; i < a->nspecs; i++) {
			const struct auc_conf_partition *part =
				auc_conf_partition(conf, a->specs[i].partition);

			if (part && (p ? part == &conf->partitions[p - 1] : !part->one_server))
				order[(*n)++] = i;
		}
		if (p && *n > before)
			order[(*n)++] = a->nspecs + p - 1;
	}
	return order;
}

/* Servers and types that only a live sale names. */
static enum auc_code add_names_of_sale(struct auc_market *m, struct json_object *record,
				       struct auc_err *err)
{
	static const char *const roles[] = {"workers", "ps"};
	struct json_object *plan, *runs, *servers;
	enum auc_code rc;

	if (!json_object_object_get_ex(record, "plan", &plan) ||
	    !json_object_object_get_ex(plan, "plan", &runs) ||
	    !json_object_is_type(runs, json_type_array))
		return AUC_OK; /* the totals; a plan that is malformed is found when it is resolved
				*/
	if (auc_plan_json_is_gang(plan))
		return add_nodes_of_sale(m, runs, err);
	rc = add_type_of_sale(m, record, false, err);
	if (rc == AUC_OK)
		rc = add_type_of_sale(m, record, true, err);
	for (size_t i = 0; i < 2 * json_object_array_length(runs); i++) {
		if (!json_object_object_get_ex(json_object_array_get_idx(runs, i / 2), roles[i % 2],
					       &servers) ||
		    !json_object_is_type(servers, json_type_object))
			continue;
		json_object_object_foreach(servers, name, count)
		{
			(void)count;
			if (rc == AUC_OK)
				rc = add_name_of_sale(m, name, err);
		}
	}
	return rc == AUC_OK ? add_sources_of_sale(m, plan, err) : rc;
}

/* Those of a gang's RUNS. */
static enum auc_code add_nodes_of_sale(struct auc_market *m, struct json_object *runs,
				       struct auc_err *err)
{
	struct json_object *nodes, *name;
	enum auc_code rc = AUC_OK;

	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		if (!json_object_object_get_ex(json_object_array_get_idx(runs, i), "nodes",
					       &nodes) ||
		    !json_object_is_type(nodes, json_type_array))
			continue;
		for (size_t k = 0; rc == AUC_OK && k < json_object_array_length(nodes); k++) {
			name = json_object_array_get_idx(nodes, k);
			if (json_object_is_type(name, json_type_string))
				rc = add_name_of_sale(m, json_object_get_string(name), err);
		}
	}
	return rc;
}

/* Where chunks come from that its PLAN moves. */
static enum auc_code add_sources_of_sale(struct auc_market *m, struct json_object *plan,
					 struct auc_err *err)
{
	struct json_object *moves, *name;
	enum auc_code rc = AUC_OK;

	if (!json_object_object_get_ex(plan, "transfers", &moves) ||
	    !json_object_is_type(moves, json_type_array))
		return AUC_OK;
	for (size_t i = 0; i < json_object_array_length(moves) && rc == AUC_OK; i++)
		if (json_object_object_get_ex(json_object_array_get_idx(moves, i), "from", &name) &&
		    json_object_is_type(name, json_type_string))
			rc = add_name_of_sale(m, json_object_get_string(name), err);
	return rc;
}

static enum auc_code add_name_of_sale(struct auc_market *m, const char *name, struct auc_err *err)
{
	if (auc_market_find_server(m, name) >= 0)
		return AUC_OK;
	return auc_market_add_server(m, name, "", false, 0, 0, NULL, 0, err);
}

static enum auc_code add_type_of_sale(struct auc_market *m, struct json_object *record, bool ps,
				      struct auc_err *err)
{
	struct auc_named tres[AUC_TRES_MAX];
	char name[AUC_NAME_MAX];
	struct json_object *plan;
	unsigned ntres;
	enum auc_code rc;

	json_object_object_get_ex(record, "plan", &plan);
	rc = auc_json_text(plan, ps ? "ps_type" : "worker_type", name, sizeof(name), err);
	if (rc == AUC_OK)
		rc = auc_json_amounts(record, ps ? "ps_tres" : "worker_tres", AUC_TRES_MAX, tres,
				      &ntres, err);
	return rc == AUC_OK ? auc_market_keep_type(m, ps, name, tres, ntres, err) : rc;
}

static auc_slot last_slot_of(struct json_object *records)
{
	struct json_object *plan, *completion;
	auc_slot last = AUC_SLOT_NONE;

	for (size_t i = 0; i < json_object_array_length(records); i++)
		if (json_object_object_get_ex(json_object_array_get_idx(records, i), "plan",
					      &plan) &&
		    json_object_object_get_ex(plan, "completion", &completion) &&
		    json_object_get_int64(completion) - 1 > last)
			last = json_object_get_int64(completion) - 1;
	return last;
}

/* Records have no liens. LEDGER NULL: there is nothing. */
static auc_slot last_slot_sold(const struct auc_ledger *ledger)
{
	auc_slot last = AUC_SLOT_NONE, end;

	for (unsigned i = ledger ? auc_ledger_count(ledger) : 0; i-- > 0;) {
		end = auc_ledger_at(ledger, i)->plan.completion - 1;
		last = end > last ? end : last;
	}
	return last;
}
