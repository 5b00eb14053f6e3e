/* status.c - auc_auction_status(): the auction as one JSON object, doc/status.md. The state is
 * copied under the lock and formatted after that, because formatting takes ten times as long. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auction/auction-private.h"
#include "base/check.h"
#include "base/json.h"
#include "market/timeline.h"

/* The copy that is formatted without the lock. */
struct look {
	struct auc_market
		market; /* with amounts and prices of its own; names and types are a->market's */
	struct auc_ledger *ledger;
	struct auc_tariff *tariff; /* NULL: none is in force */
	struct auc_activity activity;
	unsigned bid_log; /* bids kept to learn from */
};

static bool take_look(const struct auc_auction *a, struct look *look);
static void clear_look(struct look *look);
static bool add_head(struct json_object *o, struct auc_auction *a, double now);
static struct json_object *decisions(const struct auc_auction *a);
static struct json_object *totals(const struct auc_ledger *l);
static struct json_object *etas(const struct auc_auction *a);
static struct json_object *bounds(const struct auc_auction *a);
static struct json_object *learning(const struct look *look);
static bool add_bounds(struct json_object *o, const char *key, double lower, double upper);
static struct json_object *room(const struct auc_market *m, double now);
static double room_of(const struct auc_market *m, unsigned role, unsigned type, auc_slot t,
		      double *pooled);
static struct json_object *servers(const struct auc_auction *a, const struct look *look);
static struct json_object *server(const struct auc_auction *a, const struct auc_market *m,
				  unsigned s);
static struct json_object *traffic(const struct auc_market *m);
static double used_of(const struct auc_market *m, unsigned s, unsigned tres, auc_slot t);
static double price_of(const struct auc_market *m, unsigned s, unsigned tres, auc_slot t);
static struct json_object *runs(const struct auc_market *m, unsigned s, unsigned tres);
static struct json_object *money(const struct auc_ledger *l);
static struct json_object *sales(const struct look *look);
static struct json_object *sale(const struct auc_market *m, const struct auc_sale *s);

struct json_object *auc_auction_status(struct auc_auction *a, double now)
{
	struct json_object *o = json_object_new_object();
	struct look look = {.ledger = NULL};
	bool ok, looked = false;

	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	ok = o && add_head(o, a, now);
	if (ok && a->market && a->ledger)
		ok = looked =
			auc_json_add_int(o, "first", auc_market_first(a->market)) &&
			auc_json_add_int(o, "last", auc_market_last(a->market)) &&
			auc_json_add(o, "eta", etas(a)) && auc_json_add(o, "bounds", bounds(a)) &&
			(!a->conf->nshapes || auc_json_add(o, "board", auc_auction_board(a))) &&
			take_look(a, &look);
	pthread_mutex_unlock(&a->lock);
	if (looked && auc_conf_fits(a->conf))
		ok = auc_json_add(o, "learning", learning(&look));
	if (looked && ok)
		ok = auc_json_add(o, "totals", totals(look.ledger)) &&
		     auc_json_add(o, "activity", auc_activity_to_json(&look.activity)) &&
		     auc_json_add(o, "room", room(&look.market, now)) &&
		     auc_json_add(o, "servers", servers(a, &look)) &&
		     auc_json_add(o, "money", money(look.ledger)) &&
		     auc_json_add(o, "sales", sales(&look));
	clear_look(&look);
	pthread_mutex_unlock(&a->admin);
	return auc_json_if(ok, o);
}

/* False: no memory. */
static bool take_look(const struct auc_auction *a, struct look *look)
{
	const struct auc_tariff *tariff = auc_auction_tariff_in_force(a);
	const struct auc_market *m = a->market;
	size_t n = (size_t)m->slots * m->nservers * m->ntres;

	look->market = *m;
	look->market.used = malloc((n + 1) * sizeof(*m->used));
	look->market.unit_price = malloc((n + 1) * sizeof(*m->unit_price));
	look->market.traffic.used = malloc(m->slots * sizeof(*m->traffic.used));
	look->market.traffic.price = malloc(m->slots * sizeof(*m->traffic.price));
	look->ledger = auc_ledger_copy(a->ledger);
	look->tariff = tariff ? auc_tariff_copy(tariff) : NULL;
	look->bid_log = auc_bid_log_count(a->bid_log);
	look->activity = a->activity;
	if (!look->market.used || !look->market.unit_price || !look->market.traffic.used ||
	    !look->market.traffic.price || !look->ledger || (tariff && !look->tariff))
		return false;
	memcpy(look->market.used, m->used, n * sizeof(*m->used));
	memcpy(look->market.unit_price, m->unit_price, n * sizeof(*m->unit_price));
	memcpy(look->market.traffic.used, m->traffic.used, m->slots * sizeof(*m->traffic.used));
	memcpy(look->market.traffic.price, m->traffic.price, m->slots * sizeof(*m->traffic.price));
	return true;
}

static void clear_look(struct look *look)
{
	free(look->market.used);
	free(look->market.unit_price);
	free(look->market.traffic.used);
	free(look->market.traffic.price);
	auc_ledger_destroy(look->ledger);
	auc_tariff_free(look->tariff);
}

static bool add_head(struct json_object *o, struct auc_auction *a, double now)
{
	const char *reason = a->broken[0]           ? a->broken
			     : a->io_error[0]       ? a->io_error
			     : auc_check_evidence() ? AUC_CHECK_REASON
			     : a->paused[0]         ? a->paused
			     : !a->market           ? "the cluster's nodes are not known yet"
			     : !a->recovered        ? "the state is not recovered yet"
						    : "";

	return auc_json_add_text(o, "format", "auction-status/1") &&
	       auc_json_add_double(o, "time", now) && auc_json_add_bool(o, "ready", !*reason) &&
	       auc_json_add_text(o, "reason", reason) &&
	       auc_json_add_text(o, "warning", a->warning) &&
	       auc_json_add_text(o, "policy", a->policy->name) &&
	       auc_json_add_text(o, "prices", auc_prices_word(a->conf->prices)) &&
	       auc_json_add_int(o, "history", auc_price_history_count(a->price_history)) &&
	       auc_json_add_double(o, "slot_seconds", a->conf->slot_seconds) &&
	       auc_json_add(o, "decisions", decisions(a));
}

static struct json_object *decisions(const struct auc_auction *a)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_int(o, "made", (int64_t)a->made.decisions) &&
	    auc_json_add_int(o, "cut", (int64_t)a->made.cut) &&
	    auc_json_add_int(o, "most_steps", (int64_t)a->made.most_steps) &&
	    auc_json_add_int(o, "limited", (int64_t)a->made.limited))
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *totals(const struct auc_ledger *l)
{
	const struct auc_totals *t = auc_ledger_totals(l);
	struct json_object *o = json_object_new_object();
	unsigned liens = 0, n = auc_ledger_count(l);

	for (unsigned i = 0; i < n; i++)
		liens += auc_ledger_at(l, i)->state == AUC_SALE_LIEN;
	if (o && auc_json_add_int(o, "bids", (int64_t)t->bids) &&
	    auc_json_add_int(o, "refused", (int64_t)t->refused) &&
	    auc_json_add_int(o, "lapsed", (int64_t)t->lapsed) &&
	    auc_json_add_int(o, "sold", (int64_t)t->sold) &&
	    auc_json_add_int(o, "settled", (int64_t)t->settled) &&
	    auc_json_add_int(o, "live", n - liens) && auc_json_add_int(o, "liens", liens) &&
	    auc_json_add_money(o, "charged", t->charged) &&
	    auc_json_add_money(o, "refunded", t->refunded) &&
	    auc_json_add_money(o, "revenue", t->charged - t->refunded) &&
	    auc_json_add_money(o, "settled_revenue", t->settled_revenue))
		return o;
	json_object_put(o);
	return NULL;
}

/* The accounts, in the order in which they were opened. NULL: no memory. */
static struct json_object *money(const struct auc_ledger *l)
{
	const struct auc_books *b = auc_ledger_books(l);
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; list && i < auc_books_count(b); i++) {
		const struct auc_account *a = auc_books_at(b, i);
		struct json_object *o = json_object_new_object();

		if (o && auc_json_add_text(o, "account", a->name) &&
		    auc_json_add_money(o, "credits", a->credits) &&
		    auc_json_add_money(o, "debits", a->debits) &&
		    auc_json_add_money(o, "pending", a->pending) &&
		    auc_json_add_bool(o, "limited", a->limited) && !json_object_array_add(list, o))
			continue;
		json_object_put(o);
		json_object_put(list);
		return NULL;
	}
	return list;
}

static struct json_object *etas(const struct auc_auction *a)
{
	struct json_object *o = json_object_new_object();

	for (unsigned i = 0; o && i < a->price.neta; i++)
		if (!auc_json_add_double(o, a->price.eta[i].name, a->price.eta[i].value)) {
			json_object_put(o);
			return NULL;
		}
	return o;
}

static struct json_object *bounds(const struct auc_auction *a)
{
	struct json_object *o = json_object_new_object(), *of;
	const struct auc_price_bounds *b = a->price.bounds;
	bool ok = o;

	for (; ok && b < a->price.bounds + a->price.nbounds; b++) {
		of = json_object_new_object();
		ok = of &&
		     add_bounds(of, "worker", b->lower[AUC_PRICE_WORKER],
				b->upper[AUC_PRICE_WORKER]) &&
		     add_bounds(of, "ps", b->lower[AUC_PRICE_PS], b->upper[AUC_PRICE_PS]);
		if (ok)
			ok = auc_json_add(o, b->name, of);
		else
			json_object_put(of);
	}
	return auc_json_if(ok, o);
}

/* What the last fit says; before there was one, how many bids there are. */
static struct json_object *learning(const struct look *look)
{
	const struct auc_tariff *t = look->tariff;
	struct json_object *o = t ? auc_tariff_event(t) : json_object_new_object();
	char *why = t ? auc_tariff_why(t) : NULL;
	bool ok = o && auc_json_add_int(o, "kept", look->bid_log) && (why || !t);

	if (ok && t) {
		json_object_object_del(o, "event");
		ok = auc_json_add_text(o, "why", why) &&
		     (isnan(auc_tariff_gap(t)) || auc_json_add_double(o, "gap", auc_tariff_gap(t)));
	}
	free(why);
	return auc_json_if(ok, o);
}

/* Logarithms as they are in a price. */
static bool add_bounds(struct json_object *o, const char *key, double lower, double upper)
{
	struct json_object *pair = json_object_new_array();

	if (pair && auc_json_push(pair, json_object_new_double(exp(lower))) &&
	    auc_json_push(pair, json_object_new_double(exp(upper))))
		return auc_json_add(o, key, pair);
	json_object_put(pair);
	return false;
}

/* For each type how many more fit in the present slot, on the nodes as they are and if all that is
 * free were on one node: what is between them is lost to fragmentation. */
static struct json_object *room(const struct auc_market *m, double now)
{
	struct json_object *list = json_object_new_array(), *o;
	auc_slot t = auc_slot_of(now, m->slot_seconds);
	unsigned i, n = m->nworker_types + m->nps_types;
	double fit, pooled;
	bool ok = list, ps;

	t = t < auc_market_first(m) ? auc_market_first(m) : t;
	t = t > auc_market_last(m) ? auc_market_last(m) : t;
	for (i = 0; i < n && ok; i++) {
		ps = i >= m->nworker_types;
		fit = room_of(m, ps ? AUC_ROLE_PS : AUC_ROLE_WORKER, i, t, &pooled);
		o = json_object_new_object();
		ok = o &&
		     auc_json_add_text(o, "type",
				       ps ? auc_market_ps_type_name(m, i - m->nworker_types)
					  : auc_market_worker_type_name(m, i)) &&
		     auc_json_add_text(o, "role", ps ? "ps" : "worker") &&
		     auc_json_add_double(o, "fit", fit) && auc_json_add_double(o, "pooled", pooled);
		ok = auc_json_push_if(ok, list, o);
	}
	return auc_json_if(ok, list);
}

/* How many of TYPE (of workers, then of PSs) fit in slot T; *POOLED: on one node of all that is
 * free. */
static double room_of(const struct auc_market *m, unsigned role, unsigned type, auc_slot t,
		      double *pooled)
{
	double sum[AUC_TRES_MAX] = {0}, all = 0, fit, left, amount;

	*pooled = INFINITY;
	for (unsigned s = 0; s < auc_market_nservers(m); s++) {
		if (!(auc_market_hosts(m, s) & role) || auc_market_is_whole(m, s))
			continue;
		fit = INFINITY;
		for (unsigned k = 0; k < auc_market_ntres(m); k++) {
			amount = role == AUC_ROLE_PS
					 ? auc_market_ps_amount(m, type - m->nworker_types, k)
					 : auc_market_worker_amount(m, type, k);
			left = fmax(0, auc_market_capacity(m, s, k) - auc_market_used(m, s, k, t));
			if (!(amount > 0))
				continue;
			sum[k] += left / amount;
			fit = fmin(fit, (double)auc_floor(left / amount));
		}
		all += isfinite(fit) ? fit : 0;
	}
	for (unsigned k = 0; k < auc_market_ntres(m); k++)
		if ((role == AUC_ROLE_PS ? auc_market_ps_amount(m, type - m->nworker_types, k)
					 : auc_market_worker_amount(m, type, k)) > 0)
			*pooled = fmin(*pooled, (double)auc_floor(sum[k]));
	*pooled = isfinite(*pooled) ? *pooled : 0;
	return all;
}

static struct json_object *servers(const struct auc_auction *a, const struct look *look)
{
	struct json_object *list = json_object_new_array();

	for (unsigned s = 0; list && s < auc_market_nservers(&look->market); s++)
		if (!auc_json_push(list, server(a, &look->market, s))) {
			json_object_put(list);
			return NULL;
		}
	if (list && look->market.traffic.limited && !auc_json_push(list, traffic(&look->market))) {
		json_object_put(list);
		return NULL;
	}
	return list;
}

/* What all servers together may send each other, as if it were one TRES of one more. */
static struct json_object *traffic(const struct auc_market *m)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_array();
	struct json_object *t = json_object_new_object();
	bool ok = o && tres && t && auc_json_add_text(o, "name", "*") &&
		  auc_json_add_text(o, "partition", "") && auc_json_add_bool(o, "for_sale", true) &&
		  auc_json_add_text(t, "name", AUC_TRANSFER) &&
		  auc_json_add_double(t, "capacity", auc_market_traffic_budget(m)) &&
		  auc_json_add(t, "runs", runs(m, AUC_ANY_SERVER, 0));

	ok = ok && auc_json_push(tres, json_object_get(t)) &&
	     auc_json_add(o, "tres", json_object_get(tres));
	json_object_put(t);
	json_object_put(tres);
	return auc_json_if(ok, o);
}

static double used_of(const struct auc_market *m, unsigned s, unsigned tres, auc_slot t)
{
	return s == AUC_ANY_SERVER ? auc_market_traffic_used(m, t) : auc_market_used(m, s, tres, t);
}

static double price_of(const struct auc_market *m, unsigned s, unsigned tres, auc_slot t)
{
	return s == AUC_ANY_SERVER ? auc_market_traffic_price(m, t)
				   : auc_market_price(m, s, tres, t);
}

static struct json_object *server(const struct auc_auction *a, const struct auc_market *m,
				  unsigned s)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_array(), *t;
	bool ok = o && tres && auc_json_add_text(o, "name", auc_market_server_name(m, s)) &&
		  auc_json_add_text(o, "partition", auc_market_server_group(m, s)) &&
		  auc_json_add_bool(o, "for_sale",
				    auc_market_hosts(m, s) != 0 && !auc_auction_is_paused(a, s)) &&
		  (!auc_auction_is_hidden(a, s) || auc_json_add_bool(o, "hidden", true));

	for (unsigned k = 0; ok && k < auc_market_ntres(m); k++) {
		if (!(auc_market_capacity(m, s, k) > 0))
			continue;
		t = json_object_new_object();
		ok = t && auc_json_add_text(t, "name", auc_market_tres_name(m, k)) &&
		     auc_json_add_double(t, "capacity", auc_market_capacity(m, s, k)) &&
		     auc_json_add(t, "runs", runs(m, s, k));
		if (ok)
			ok = auc_json_push(tres, t);
		else
			json_object_put(t);
	}
	if (ok && auc_json_add(o, "tres", tres))
		return o;
	if (!ok)
		json_object_put(tres);
	json_object_put(o);
	return NULL;
}

/*
 * [[from, to, used, price], ...]: slots of equal use, and the mean of their prices. Computed prices
 * are equal where use is; of published ones, which may differ in every slot, the first two stand
 * alone.
 */
static struct json_object *runs(const struct auc_market *m, unsigned s, unsigned tres)
{
	struct json_object *list = json_object_new_array(), *run;
	auc_slot from = auc_market_first(m), last = auc_market_last(m);
	double used, price = 0;
	bool ok = list;

	for (auc_slot t = from; ok && t <= last; t++) {
		used = used_of(m, s, tres, t);
		price += price_of(m, s, tres, t);
		if (t < last && used_of(m, s, tres, t + 1) == used &&
		    (!m->given || t > auc_market_first(m) + 1))
			continue;
		run = json_object_new_array();
		ok = run && auc_json_push(run, json_object_new_int64(from)) &&
		     auc_json_push(run, json_object_new_int64(t)) &&
		     auc_json_push(run, json_object_new_double(used)) &&
		     auc_json_push(run,
				   json_object_new_double(m->given ? price / (double)(t - from + 1)
								   : price_of(m, s, tres, t)));
		if (ok)
			ok = auc_json_push(list, run);
		else
			json_object_put(run);
		from = t + 1;
		price = 0;
	}
	return auc_json_if(ok, list);
}

static struct json_object *sales(const struct look *look)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; list && i < auc_ledger_count(look->ledger); i++)
		if (!auc_json_push(list, sale(&look->market, auc_ledger_at(look->ledger, i)))) {
			json_object_put(list);
			return NULL;
		}
	return list;
}

static struct json_object *sale(const struct auc_market *m, const struct auc_sale *s)
{
	struct json_object *o = auc_plan_to_json(&s->plan, m);

	if (o && auc_json_add_text(o, "sale", s->id) &&
	    auc_json_add_text(o, "state", auc_sale_state_word(s->state)) &&
	    auc_json_add_int(o, "job", s->job_id) && auc_json_add_int(o, "uid", s->uid) &&
	    auc_json_add_money(o, "payment", s->payment) &&
	    auc_json_add_money(o, "value", s->value))
		return o;
	json_object_put(o);
	return NULL;
}
