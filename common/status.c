/* status.c - auc_auction_status(): the auction as one JSON object, doc/status.md. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include <json-c/json.h>

#include "auction-private.h"
#include "jsonio.h"

static bool add_head(struct json_object *o, struct auc_auction *a, double now);
static struct json_object *totals(const struct auc_auction *a);
static struct json_object *etas(const struct auc_auction *a);
static struct json_object *servers(const struct auc_auction *a);
static struct json_object *server(const struct auc_auction *a, unsigned s);
static struct json_object *runs(const struct auc_market *m, unsigned s, unsigned tres);
static struct json_object *sales(const struct auc_auction *a);
static struct json_object *sale(const struct auc_auction *a, const struct auc_sale *s);
static bool push(struct json_object *array, struct json_object *element);

struct json_object *auc_auction_status(struct auc_auction *a, double now)
{
	struct json_object *o = json_object_new_object();
	bool ok;

	pthread_mutex_lock(&a->lock);
	ok = o && add_head(o, a, now);
	if (ok && a->market)
		ok = auc_json_add_int(o, "first", auc_market_first(a->market)) &&
		     auc_json_add_int(o, "last", auc_market_last(a->market)) &&
		     auc_json_add(o, "eta", etas(a)) && auc_json_add(o, "totals", totals(a)) &&
		     auc_json_add(o, "servers", servers(a)) && auc_json_add(o, "sales", sales(a));
	pthread_mutex_unlock(&a->lock);
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

static bool add_head(struct json_object *o, struct auc_auction *a, double now)
{
	const char *reason = a->broken[0]     ? a->broken
			     : a->io_error[0] ? a->io_error
			     : !a->market     ? "the cluster's nodes are not known yet"
			     : !a->recovered  ? "the state is not recovered yet"
					      : "";

	return auc_json_add_text(o, "format", "auction-status/1") &&
	       auc_json_add_double(o, "time", now) && auc_json_add_bool(o, "ready", !*reason) &&
	       auc_json_add_text(o, "reason", reason) &&
	       auc_json_add_text(o, "warning", a->warning) &&
	       auc_json_add_text(o, "policy", a->policy->name) &&
	       auc_json_add_text(o, "prices", a->conf->prices_learned ? "learned" : "given") &&
	       auc_json_add_int(o, "history", auc_history_count(a->history)) &&
	       auc_json_add_double(o, "slot_seconds", a->conf->slot_seconds);
}

static struct json_object *totals(const struct auc_auction *a)
{
	const struct auc_totals *t = auc_ledger_totals(a->ledger);
	struct json_object *o = json_object_new_object();
	unsigned liens = 0, n = auc_ledger_count(a->ledger);

	for (unsigned i = 0; i < n; i++)
		liens += auc_ledger_at(a->ledger, i)->state == AUC_SALE_LIEN;
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

static struct json_object *servers(const struct auc_auction *a)
{
	struct json_object *list = json_object_new_array();

	for (unsigned s = 0; list && s < auc_market_nservers(a->market); s++)
		if (!push(list, server(a, s))) {
			json_object_put(list);
			return NULL;
		}
	return list;
}

static struct json_object *server(const struct auc_auction *a, unsigned s)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_array(), *t;
	const struct auc_market *m = a->market;
	bool ok = o && tres && auc_json_add_text(o, "name", auc_market_server_name(m, s)) &&
		  auc_json_add_text(o, "partition", auc_market_server_group(m, s)) &&
		  auc_json_add_bool(o, "for_sale", auc_auction_sells(a, s));

	for (unsigned k = 0; ok && k < auc_market_ntres(m); k++) {
		if (!(auc_market_capacity(m, s, k) > 0))
			continue;
		t = json_object_new_object();
		ok = t && auc_json_add_text(t, "name", auc_market_tres_name(m, k)) &&
		     auc_json_add_double(t, "capacity", auc_market_capacity(m, s, k)) &&
		     auc_json_add(t, "runs", runs(m, s, k));
		if (ok)
			ok = push(tres, t);
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

/* [[from, to, used, price], ...]: slots of equal use, which are slots of equal price. */
static struct json_object *runs(const struct auc_market *m, unsigned s, unsigned tres)
{
	struct json_object *list = json_object_new_array(), *run;
	auc_slot from = auc_market_first(m), last = auc_market_last(m);
	double used;
	bool ok = list;

	for (auc_slot t = from; ok && t <= last; t++) {
		used = auc_market_used(m, s, tres, t);
		if (t < last && auc_market_used(m, s, tres, t + 1) == used)
			continue;
		run = json_object_new_array();
		ok = run && push(run, json_object_new_int64(from)) &&
		     push(run, json_object_new_int64(t)) &&
		     push(run, json_object_new_double(used)) &&
		     push(run, json_object_new_double(auc_market_price(m, s, tres, t)));
		if (ok)
			ok = push(list, run);
		else
			json_object_put(run);
		from = t + 1;
	}
	if (ok)
		return list;
	json_object_put(list);
	return NULL;
}

static struct json_object *sales(const struct auc_auction *a)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; list && i < auc_ledger_count(a->ledger); i++)
		if (!push(list, sale(a, auc_ledger_at(a->ledger, i)))) {
			json_object_put(list);
			return NULL;
		}
	return list;
}

static struct json_object *sale(const struct auc_auction *a, const struct auc_sale *s)
{
	struct json_object *o = auc_plan_to_json(&s->plan, a->market);

	if (o && auc_json_add_text(o, "sale", s->id) &&
	    auc_json_add_text(o, "state", auc_sale_state_word(s->state)) &&
	    auc_json_add_int(o, "job", s->job_id) && auc_json_add_int(o, "uid", s->uid) &&
	    auc_json_add_money(o, "payment", s->payment) &&
	    auc_json_add_money(o, "value", s->value))
		return o;
	json_object_put(o);
	return NULL;
}

/* Takes ELEMENT (NULL: no memory) over. */
static bool push(struct json_object *array, struct json_object *element)
{
	if (element && !json_object_array_add(array, element))
		return true;
	json_object_put(element);
	return false;
}
