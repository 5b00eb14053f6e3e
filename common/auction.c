/*
 * auction.c - see auction.h: market, policy, ledger, price history and spool behind one lock.
 *
 * The market is rebuilt, not patched, whenever the nodes or the configuration change: a new one is
 * made beside the old, the ledger moves over by names, and only then the old one goes. What live
 * sales name and the cluster no longer has (servers, types) is put into the new market too, so that
 * every sale can be resolved; nothing new fits there.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auction-private.h"
#include "jsonio.h"
#include "replan.h"

#define SNAPSHOT_BYTES (1u << 20) /* of journal, and another one follows */
#define HINT_SECONDS   0.005
#define CLOCK_SLACK    1 /* slots: the present may be that much behind the market's first */

/* What open_spool fills while it reads. */
struct replay {
	struct auc_market *market;
	struct auc_ledger *ledger;
	struct auc_history *history;
	struct auc_past *past;
	struct auc_tariff *tariff; /* the last; NULL: none */
};

/* -- private prototypes -- */

static void queue_event(void *arg, struct json_object *event);
static void append_event(void *arg, struct json_object *event);
static struct json_object *take_events(struct auc_auction *a);
static struct json_object *dump_all(const struct auc_ledger *ledger,
				    const struct auc_history *history, const struct auc_past *past,
				    const struct auc_tariff *tariff, struct auc_err *err);
static enum auc_code append_new(struct json_object *records, struct json_object *event,
				struct auc_err *err);
static enum auc_code write_events(struct auc_auction *a, struct auc_err *err);
static enum auc_code write_snapshot(struct auc_auction *a, struct json_object *records,
				    struct auc_err *err);
static enum auc_code replay_begin(struct auc_auction *a, double now, struct replay *replay,
				  struct auc_err *err);
static enum auc_code replay_event(void *arg, struct json_object *event, struct auc_err *err);

static enum auc_code check_specs(const struct auc_conf *conf, const struct auc_server_spec *specs,
				 unsigned n, struct auc_err *err);
static bool same_specs(const struct auc_auction *a, const struct auc_server_spec *specs,
		       unsigned n);
static enum auc_code set_down(struct auc_auction *a, const struct auc_server_spec *specs,
			      struct auc_err *err);
static unsigned roles_of(const struct auc_server_spec *s, const struct auc_conf_partition *part);
static unsigned *server_order(const struct auc_auction *a, unsigned *n);
static enum auc_code set_specs(struct auc_auction *a, const struct auc_server_spec *specs,
			       unsigned n, struct auc_err *err);
static enum auc_code rebuild(struct auc_auction *a, double now, struct auc_err *err);
static enum auc_code add_conf_types(struct auc_market *m, const struct auc_conf *conf,
				    struct auc_err *err);
static enum auc_code add_servers(struct auc_market *m, const struct auc_auction *a,
				 struct auc_err *err);
static enum auc_code add_names_of_sale(struct auc_market *m, struct json_object *record,
				       struct auc_err *err);
static enum auc_code add_type_of_sale(struct auc_market *m, struct json_object *record, bool ps,
				      struct auc_err *err);
static auc_slot last_slot_of(struct json_object *records);
static enum auc_code take_price(struct auc_auction *a, struct auc_err *err);
static void pass_time(struct auc_auction *a, double now, unsigned *lapsed);

static enum auc_code decide(struct auc_auction *a, const struct auc_bid *bid, double now,
			    struct auc_err *err);
static enum auc_code ask_user(struct auc_auction *a, const struct auc_bid *bid, bool hold,
			      struct auc_err *err);
static enum auc_code spread(struct auc_auction *a, struct auc_err *err);
static bool on_wholes(const struct auc_market *m, const struct auc_plan *plan);
static enum auc_code text_of(const struct auc_auction *a, const struct auc_bid *bid, char **text,
			     struct auc_err *err);
static enum auc_code fill_offer(struct auc_auction *a, struct auc_offer *offer,
				struct auc_err *err);
static enum auc_code put_lien(struct auc_auction *a, const char *text, uint32_t uid, double now,
			      struct auc_offer *offer, struct auc_err *err);
static enum auc_code learn(struct auc_auction *a, struct auc_err *err);
static auc_money refund_due(const struct auc_auction *a, const struct auc_sale *s, const char *why,
			    double now);
static enum auc_code fill_view(const struct auc_auction *a, const struct auc_sale *s, bool parts,
			       struct auc_sale_view *v, struct auc_err *err);
static enum auc_code no_memory(struct auc_err *err);

/* -- life -- */

enum auc_code auc_auction_create(struct auc_conf *conf, struct auc_auction **out,
				 struct auc_err *err)
{
	struct auc_auction *a = calloc(1, sizeof(*a));
	enum auc_code rc = AUC_OK;

	*out = NULL;
	if (!a) {
		auc_conf_free(conf);
		return no_memory(err);
	}
	pthread_mutex_init(&a->admin, NULL);
	pthread_mutex_init(&a->lock, NULL);
	auc_decision_init(&a->decision);
	auc_decision_init(&a->extra);
	a->conf = conf;
	a->snapshot_at = SNAPSHOT_BYTES;
	a->hint_seconds = HINT_SECONDS;
	a->policy = auc_policy_of_cluster(conf->policy);
	if (!a->policy)
		rc = auc_err_set(err, AUC_ENOENT, "Policy=%s: there is no such policy",
				 conf->policy);
	else
		rc = a->policy->create(conf->policy_options, &a->ctx, err);
	a->history = auc_history_create(conf->history_bids);
	a->past = auc_past_create(conf->history_bids);
	a->events = json_object_new_array();
	a->writing = json_object_new_array();
	if (rc == AUC_OK && (!a->history || !a->past || !a->events || !a->writing))
		rc = no_memory(err);
	if (rc != AUC_OK) {
		auc_auction_destroy(a);
		return rc;
	}
	*out = a;
	return AUC_OK;
}

void auc_auction_destroy(struct auc_auction *a)
{
	if (!a)
		return;
	auc_spool_close(a->spool);
	json_object_put(a->events);
	json_object_put(a->writing);
	auc_ledger_destroy(a->ledger);
	auc_market_destroy(a->market);
	auc_history_destroy(a->history);
	auc_past_destroy(a->past);
	auc_tariff_free(a->tariff);
	auc_tariff_free(a->next_tariff);
	auc_fit_forget(&a->fit_memory);
	if (a->ctx)
		a->policy->destroy(a->ctx);
	auc_decision_clear(&a->decision);
	auc_decision_clear(&a->extra);
	auc_job_clear(&a->job);
	for (unsigned i = 0; i < a->nold_confs; i++)
		auc_conf_free(a->old_confs[i]);
	free(a->old_confs);
	auc_conf_free(a->conf);
	free(a->specs);
	free(a->closed);
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->admin);
	free(a);
}

const struct auc_conf *auc_auction_conf(const struct auc_auction *a)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&a->lock; /* an auction is never really const */
	const struct auc_conf *conf;

	pthread_mutex_lock(lock);
	conf = a->conf;
	pthread_mutex_unlock(lock);
	return conf;
}

enum auc_code auc_auction_set_servers(struct auc_auction *a, const struct auc_server_spec *servers,
				      unsigned nservers, double now, struct auc_err *err)
{
	enum auc_code rc;

	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	rc = check_specs(a->conf, servers, nservers, err);
	if (rc == AUC_OK && a->market && same_specs(a, servers, nservers)) {
		rc = set_down(a, servers, err);
		pass_time(a, now, NULL);
	} else if (rc == AUC_OK) {
		struct auc_server_spec *old = a->specs;
		unsigned nold = a->nspecs;

		rc = set_specs(a, servers, nservers, err);
		if (rc == AUC_OK)
			rc = rebuild(a, now, err);
		if (rc == AUC_OK || rc == AUC_EFULL) {
			free(old);
		} else if (a->specs != old) {
			free(a->specs);
			a->specs = old;
			a->nspecs = nold;
		}
	}
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	return rc;
}

enum auc_code auc_auction_reconfigure(struct auc_auction *a, struct auc_conf *conf, double now,
				      struct auc_err *err)
{
	const struct auc_policy *policy = auc_policy_of_cluster(conf->policy), *old_policy;
	struct auc_policy_ctx *ctx = NULL, *old_ctx;
	struct auc_conf *old, **old_confs;
	enum auc_code rc;
	bool keep;

	rc = policy ? policy->create(conf->policy_options, &ctx, err)
		    : auc_err_set(err, AUC_ENOENT, "Policy=%s: there is no such policy",
				  conf->policy);
	if (rc != AUC_OK) {
		auc_conf_free(conf);
		return rc;
	}
	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	old = a->conf;
	old_policy = a->policy;
	old_ctx = a->ctx;
	/* What a policy has learned from answers outlives a change of anything but its options. */
	keep = policy == old_policy && policy->posts &&
	       !strcmp(a->conf->policy_options, conf->policy_options);
	if (keep) {
		policy->destroy(ctx);
		ctx = old_ctx;
	}
	old_confs = realloc(a->old_confs, (a->nold_confs + 1) * sizeof(*old_confs));
	if (old_confs)
		a->old_confs = old_confs;
	else
		rc = no_memory(err);
	if (rc == AUC_OK) {
		a->conf = conf;
		a->policy = policy;
		a->ctx = ctx;
		if (a->market)
			rc = rebuild(a, now, err);
	}
	if (rc == AUC_OK || rc == AUC_EFULL) {
		if (auc_history_set_limit(a->history, conf->history_bids, NULL) == AUC_OK &&
		    auc_past_set_limit(a->past, conf->history_bids, NULL) == AUC_OK && a->market)
			(void)take_price(a, NULL);
		a->old_confs[a->nold_confs++] = old;
		if (!keep)
			old_policy->destroy(old_ctx);
	} else {
		a->conf = old;
		a->policy = old_policy;
		a->ctx = old_ctx;
		if (!keep)
			policy->destroy(ctx);
		auc_conf_free(conf);
	}
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	return rc;
}

/* Reads into a ledger, a market and a history of its own, without the lock; nobody bids before it
 * is done. */
enum auc_code auc_auction_open_spool(struct auc_auction *a, const char *dir, double now,
				     struct auc_spool_report *report, struct auc_err *err)
{
	struct replay replay = {0};
	struct auc_spool *spool = NULL;
	struct auc_err own;
	enum auc_code rc;

	if (!err)
		err = &own;
	pthread_mutex_lock(&a->admin);
	if (!a->market || a->spool) {
		rc = auc_err_set(err, AUC_ESTATE, "spool %s: %s", dir,
				 a->spool ? "one is open already"
					  : "the cluster's nodes are not known yet");
		pthread_mutex_unlock(&a->admin);
		return rc;
	}
	rc = replay_begin(a, now, &replay, err);
	if (rc == AUC_OK)
		rc = auc_spool_open(dir, replay_event, &replay, &spool, report, err);
	if (rc == AUC_OK)
		rc = auc_ledger_check(replay.ledger, err);
	pthread_mutex_lock(&a->lock);
	if (rc == AUC_OK) {
		auc_ledger_destroy(a->ledger);
		a->ledger = replay.ledger;
		auc_history_destroy(a->history);
		a->history = replay.history;
		auc_past_destroy(a->past);
		a->past = replay.past;
		auc_tariff_free(a->tariff);
		a->tariff = replay.tariff;
		auc_tariff_free(a->next_tariff);
		a->next_tariff = NULL;
		a->fit_added = 0; /* all that was read is new to a fit */
		replay = (struct replay){.market = replay.market};
		rc = rebuild(a, now, err);
	}
	if (rc == AUC_OK || rc == AUC_EFULL) {
		a->spool = spool;
		a->recovered = true;
		a->broken[0] = 0;
		spool = NULL;
	} else {
		snprintf(a->broken, sizeof(a->broken), "%s", err->text);
		/* What was read is of no use; the ledger must not point to the market that goes
		 * now. */
		auc_ledger_destroy(a->ledger);
		a->ledger = auc_ledger_create(a->market, queue_event, a);
	}
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	auc_spool_close(spool);
	auc_ledger_destroy(replay.ledger);
	auc_history_destroy(replay.history);
	auc_past_destroy(replay.past);
	auc_tariff_free(replay.tariff);
	auc_market_destroy(replay.market);
	return rc;
}

void auc_auction_close_spool(struct auc_auction *a)
{
	struct auc_spool *spool;

	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	spool = a->spool;
	a->spool = NULL;
	a->recovered = false;
	json_object_put(take_events(a));
	json_object_array_del_idx(a->writing, 0, json_object_array_length(a->writing));
	pthread_mutex_unlock(&a->lock);
	auc_spool_close(spool);
	pthread_mutex_unlock(&a->admin);
}

void auc_auction_break(struct auc_auction *a, const char *reason)
{
	pthread_mutex_lock(&a->lock);
	snprintf(a->broken, sizeof(a->broken), "%s", reason ? reason : "");
	pthread_mutex_unlock(&a->lock);
}

enum auc_code auc_auction_ready(struct auc_auction *a, struct auc_err *err)
{
	enum auc_code rc;

	pthread_mutex_lock(&a->lock);
	rc = auc_auction_check_ready(a, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* -- decisions -- */

enum auc_code auc_auction_bid(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
			      double now, bool hold, struct auc_offer *offer, struct auc_err *err)
{
	char *text = NULL;
	enum auc_code rc;

	memset(offer, 0, sizeof(*offer));
	auc_plan_init(&offer->plan);
	pthread_mutex_lock(&a->lock);
	rc = decide(a, bid, now, err);
	if (rc == AUC_OK && a->policy->posts)
		rc = ask_user(a, bid, hold, err);
	if (rc == AUC_OK && hold)
		rc = text_of(a, bid, &text, err);
	if (rc == AUC_OK)
		rc = fill_offer(a, offer, err);
	if (rc == AUC_OK && !(offer->message = auc_offer_message(a, offer, hold)))
		rc = no_memory(err);
	if (rc == AUC_OK && hold && offer->accepted)
		rc = put_lien(a, text, uid, now, offer, err);
	else if (rc == AUC_OK && hold)
		auc_ledger_refuse(a->ledger, auc_reason_word(offer->reason));
	/* Only now: the price of this bid does not know this bid. */
	if (rc == AUC_OK && hold && auc_conf_learns(a->conf)) {
		(void)learn(a, NULL);
		(void)auc_auction_remember(a, bid, now, offer->accepted, NULL);
	}
	pthread_mutex_unlock(&a->lock);
	free(text);
	if (rc != AUC_OK)
		auc_offer_clear(offer);
	return rc;
}

void auc_offer_clear(struct auc_offer *o)
{
	auc_plan_clear(&o->plan);
	free(o->receipt);
	free(o->parts);
	free(o->message);
	memset(o, 0, sizeof(*o));
}

enum auc_code auc_auction_confirm(struct auc_auction *a, const char *sale, uint32_t job_id,
				  char **receipt, struct auc_err *err)
{
	const struct auc_sale *known;
	enum auc_code rc = AUC_OK;

	pthread_mutex_lock(&a->lock);
	if (!a->recovered)
		rc = auc_auction_check_ready(a, err);
	known = rc == AUC_OK ? auc_ledger_find(a->ledger, sale) : NULL;
	a->stale = a->stale || (known && known->state == AUC_SALE_LIEN);
	if (rc == AUC_OK)
		rc = auc_ledger_confirm(a->ledger, sale, job_id, err);
	if (rc == AUC_OK)
		rc = auc_auction_give_receipt(a, auc_ledger_find(a->ledger, sale), 0, NULL, receipt,
					      err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

enum auc_code auc_auction_drop(struct auc_auction *a, const char *sale, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	pthread_mutex_lock(&a->lock);
	if (!a->recovered)
		rc = auc_auction_check_ready(a, err);
	if (rc == AUC_OK)
		rc = auc_ledger_drop(a->ledger, sale, err);
	a->stale = true;
	pthread_mutex_unlock(&a->lock);
	return rc;
}

enum auc_code auc_auction_start(struct auc_auction *a, uint32_t job_id, double now, char **receipt,
				struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	pthread_mutex_lock(&a->lock);
	if (!a->recovered)
		rc = auc_auction_check_ready(a, err);
	if (rc == AUC_OK)
		rc = auc_ledger_start(a->ledger, job_id, now, err);
	if (rc == AUC_OK)
		rc = auc_auction_give_receipt(a, auc_ledger_find_job(a->ledger, job_id), 0, NULL,
					      receipt, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

enum auc_code auc_auction_settle(struct auc_auction *a, uint32_t job_id, const char *why,
				 double now, char **receipt, struct auc_err *err)
{
	const struct auc_sale *sale;
	struct auc_sale settled;
	char *text = NULL;
	auc_money refund;
	enum auc_code rc = AUC_OK;

	pthread_mutex_lock(&a->lock);
	if (!a->recovered)
		rc = auc_auction_check_ready(a, err);
	sale = rc == AUC_OK ? auc_ledger_find_job(a->ledger, job_id) : NULL;
	if (rc == AUC_OK && !sale)
		rc = auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale", job_id);
	if (rc == AUC_OK) {
		refund = refund_due(a, sale, why, now);
		settled = *sale;
		settled.state = AUC_SALE_SETTLED;
		rc = auc_auction_give_receipt(a, &settled, refund, why, receipt ? &text : NULL,
					      err);
	}
	if (rc == AUC_OK)
		rc = auc_ledger_settle(a->ledger, job_id, auc_slot_from(now, a->conf->slot_seconds),
				       refund, why, err);
	a->stale = true;
	pthread_mutex_unlock(&a->lock);
	if (rc == AUC_OK && receipt)
		*receipt = text;
	else
		free(text);
	return rc;
}

enum auc_code auc_auction_adopt(struct auc_auction *a, const char *receipt, uint32_t job_id,
				uint32_t uid, enum auc_sale_state state, struct auc_err *err)
{
	struct auc_sale sale;
	enum auc_code rc = AUC_OK;

	pthread_mutex_lock(&a->lock);
	if (!a->recovered)
		rc = auc_auction_check_ready(a, err);
	if (rc == AUC_OK)
		rc = auc_receipt_to_sale(receipt, a->market, &sale, err);
	if (rc == AUC_OK) {
		sale.job_id = job_id;
		sale.uid = uid;
		sale.state = state;
		rc = auc_ledger_adopt(a->ledger, &sale, err);
		auc_sale_clear(&sale);
	}
	a->stale = true;
	pthread_mutex_unlock(&a->lock);
	return rc;
}

unsigned auc_auction_tick(struct auc_auction *a, double now)
{
	unsigned lapsed = 0;

	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	if (a->market &&
	    auc_slot_of(now, a->conf->slot_seconds) + CLOCK_SLACK < auc_market_first(a->market))
		(void)rebuild(a, now, NULL); /* a market never goes back; if it fails, next time */
	if (a->market) {
		pass_time(a, now, &lapsed);
		if (auc_auction_publish(a, now) || a->price_old)
			take_price(a, NULL);
	}
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	return lapsed;
}

/* -- looking -- */

void auc_sale_view_clear(struct auc_sale_view *v)
{
	free(v->parts);
	memset(v, 0, sizeof(*v));
}

enum auc_code auc_auction_sales(struct auc_auction *a, struct auc_sale_view **views, unsigned *n,
				struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned count;

	*views = NULL;
	*n = 0;
	pthread_mutex_lock(&a->lock);
	count = a->ledger ? auc_ledger_count(a->ledger) : 0;
	*views = calloc(count ? count : 1, sizeof(**views));
	if (!*views)
		rc = no_memory(err);
	for (unsigned i = 0; i < count && rc == AUC_OK; i++)
		rc = fill_view(a, auc_ledger_at(a->ledger, i), false, &(*views)[(*n)++], err);
	pthread_mutex_unlock(&a->lock);
	if (rc != AUC_OK) {
		while (*n)
			auc_sale_view_clear(&(*views)[--*n]);
		free(*views);
		*views = NULL;
	}
	return rc;
}

enum auc_code auc_auction_sale_of_job(struct auc_auction *a, uint32_t job_id,
				      struct auc_sale_view *view, struct auc_err *err)
{
	const struct auc_sale *s;
	enum auc_code rc;

	memset(view, 0, sizeof(*view));
	pthread_mutex_lock(&a->lock);
	s = a->ledger ? auc_ledger_find_job(a->ledger, job_id) : NULL;
	rc = s ? fill_view(a, s, true, view, err)
	       : auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale", job_id);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

enum auc_code auc_auction_sale(struct auc_auction *a, const char *sale, struct auc_sale_view *view,
			       struct auc_err *err)
{
	const struct auc_sale *s;
	enum auc_code rc;

	memset(view, 0, sizeof(*view));
	pthread_mutex_lock(&a->lock);
	s = a->ledger ? auc_ledger_find(a->ledger, sale) : NULL;
	rc = s ? fill_view(a, s, true, view, err)
	       : auc_err_set(err, AUC_ENOENT, "sale %s: not known", sale);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

bool auc_auction_owns(struct auc_auction *a, uint32_t job_id)
{
	bool owns;

	pthread_mutex_lock(&a->lock);
	owns = a->ledger && auc_ledger_find_job(a->ledger, job_id);
	pthread_mutex_unlock(&a->lock);
	return owns;
}

void auc_auction_totals(struct auc_auction *a, struct auc_totals *totals)
{
	memset(totals, 0, sizeof(*totals));
	pthread_mutex_lock(&a->lock);
	if (a->ledger)
		*totals = *auc_ledger_totals(a->ledger);
	pthread_mutex_unlock(&a->lock);
}

/* -- writing -- */

enum auc_code auc_auction_commit(struct auc_auction *a, struct auc_err *err)
{
	struct json_object *records = NULL, *taken;
	struct auc_ledger *ledger = NULL;
	struct auc_history *history = NULL;
	struct auc_past *past = NULL;
	struct auc_tariff *tariff = NULL;
	bool due;
	struct auc_err why = {0};
	enum auc_code rc;

	pthread_mutex_lock(&a->admin);
	if (!a->spool) {
		pthread_mutex_unlock(&a->admin);
		return auc_err_set(err, AUC_ESTATE, "no spool is open");
	}
	/* What a snapshot says must be what the events up to now say: both are taken in one hold of
	 * the lock, and put into words behind it. */
	pthread_mutex_lock(&a->lock);
	taken = take_events(a);
	due = taken && auc_spool_journal_bytes(a->spool) >= a->snapshot_at;
	if (due) {
		ledger = auc_ledger_copy(a->ledger);
		history = auc_history_copy(a->history);
		past = auc_past_copy(a->past);
		tariff = a->tariff ? auc_tariff_copy(a->tariff) : NULL;
		due = ledger && history && past && (tariff || !a->tariff);
	}
	pthread_mutex_unlock(&a->lock);
	if (due)
		records = dump_all(ledger, history, past, tariff, NULL);
	auc_ledger_destroy(ledger);
	auc_history_destroy(history);
	auc_past_destroy(past);
	auc_tariff_free(tariff);
	rc = taken ? AUC_OK : no_memory(&why);
	for (size_t i = 0; taken && i < json_object_array_length(taken); i++)
		append_event(a->writing, json_object_get(json_object_array_get_idx(taken, i)));
	json_object_put(taken);
	if (rc == AUC_OK)
		rc = write_events(a, &why);
	pthread_mutex_lock(&a->lock);
	snprintf(a->io_error, sizeof(a->io_error), "%s", why.text);
	pthread_mutex_unlock(&a->lock);
	if (rc == AUC_OK && records) {
		why.text[0] = 0;
		/* The events are safe without it: a failure is shown, and tried again when the
		 * journal has grown. */
		(void)write_snapshot(a, records, &why);
		a->snapshot_at = auc_spool_journal_bytes(a->spool) + SNAPSHOT_BYTES;
		pthread_mutex_lock(&a->lock);
		snprintf(a->warning, sizeof(a->warning), "%s", why.text);
		pthread_mutex_unlock(&a->lock);
	}
	json_object_put(records);
	pthread_mutex_unlock(&a->admin);
	return rc == AUC_OK ? rc : auc_err_set(err, rc, "%s", why.text);
}

static struct json_object *take_events(struct auc_auction *a)
{
	struct json_object *fresh = json_object_new_array(), *taken = a->events;

	if (!fresh)
		return NULL;
	a->events = fresh;
	return taken;
}

/* Every record of a snapshot. */
static struct json_object *dump_all(const struct auc_ledger *ledger,
				    const struct auc_history *history, const struct auc_past *past,
				    const struct auc_tariff *tariff, struct auc_err *err)
{
	struct json_object *records = json_object_new_array();
	enum auc_code rc = records ? AUC_OK : no_memory(err);

	if (rc == AUC_OK)
		rc = auc_ledger_dump(ledger, append_event, records, err);
	for (unsigned i = 0; rc == AUC_OK && i < auc_history_count(history); i++)
		rc = append_new(records, auc_history_event(history, i), err);
	for (unsigned i = 0; rc == AUC_OK && i < auc_past_count(past); i++)
		rc = append_new(records, auc_past_event(past, i), err);
	if (rc == AUC_OK && tariff)
		rc = append_new(records, auc_tariff_event(tariff), err);
	if (rc == AUC_OK)
		return records;
	json_object_put(records);
	return NULL;
}

/* Takes EVENT (NULL: no memory) over. */
static enum auc_code append_new(struct json_object *records, struct json_object *event,
				struct auc_err *err)
{
	if (!event)
		return no_memory(err);
	append_event(records, event);
	return AUC_OK;
}

static enum auc_code write_events(struct auc_auction *a, struct auc_err *err)
{
	size_t n = json_object_array_length(a->writing), i;
	enum auc_code rc = AUC_OK;

	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = auc_spool_add(a->spool, json_object_array_get_idx(a->writing, i), err);
	if (rc != AUC_OK)
		i--;
	json_object_array_del_idx(a->writing, 0, i);
	return rc == AUC_OK ? auc_spool_commit(a->spool, err) : rc;
}

static enum auc_code write_snapshot(struct auc_auction *a, struct json_object *records,
				    struct auc_err *err)
{
	enum auc_code rc = auc_spool_snapshot_begin(a->spool, err);

	for (size_t i = 0; i < json_object_array_length(records) && rc == AUC_OK; i++)
		rc = auc_spool_snapshot_add(a->spool, json_object_array_get_idx(records, i), err);
	return rc == AUC_OK ? auc_spool_snapshot_end(a->spool, err) : rc;
}

/* -- events -- */

/* The ledger's sink, behind lock. */
static void queue_event(void *arg, struct json_object *event)
{
	struct auc_auction *a = arg;

	append_event(a->events, event);
}

/* Takes EVENT over. */
static void append_event(void *arg, struct json_object *event)
{
	if (json_object_array_add(arg, event))
		json_object_put(event);
}

static enum auc_code replay_begin(struct auc_auction *a, double now, struct replay *replay,
				  struct auc_err *err)
{
	struct json_object *none = json_object_new_array();
	enum auc_code rc = none ? auc_auction_build_market(a, none, now, &replay->market, err)
				: no_memory(err);

	json_object_put(none);
	if (rc != AUC_OK)
		return rc;
	replay->ledger = auc_ledger_create(replay->market, queue_event, a);
	replay->history = auc_history_create(a->conf->history_bids);
	replay->past = auc_past_create(a->conf->history_bids);
	return replay->ledger && replay->history && replay->past ? AUC_OK : no_memory(err);
}

static enum auc_code replay_event(void *arg, struct json_object *event, struct auc_err *err)
{
	struct replay *replay = arg;

	if (auc_history_knows(event))
		return auc_history_apply(replay->history, event, err);
	if (auc_past_knows(event))
		return auc_past_apply(replay->past, event, err);
	if (auc_tariff_knows(event)) {
		auc_tariff_free(replay->tariff);
		return auc_tariff_read(event, &replay->tariff, err);
	}
	return auc_ledger_apply(replay->ledger, event, err);
}

/* -- the market -- */

enum auc_code auc_auction_check_ready(const struct auc_auction *a, struct auc_err *err)
{
	if (a->broken[0])
		return auc_err_set(err, AUC_ESTATE, "the auction is closed: %s", a->broken);
	if (!a->market)
		return auc_err_set(
			err, AUC_ESTATE,
			"the auction is not open yet: the cluster's nodes are not known");
	if (!a->recovered)
		return auc_err_set(err, AUC_ESTATE,
				   "the auction is not open yet: its state is not recovered");
	if (a->io_error[0])
		return auc_err_set(err, AUC_ESTATE, "the auction is closed until it can write: %s",
				   a->io_error);
	return AUC_OK;
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

/* But for those that are down. */
static bool same_specs(const struct auc_auction *a, const struct auc_server_spec *specs, unsigned n)
{
	if (n != a->nspecs)
		return false;
	for (unsigned i = 0; i < n; i++) {
		const struct auc_server_spec *s = &a->specs[i], *t = &specs[i];

		if (strcmp(s->name, t->name) || strcmp(s->partition, t->partition) ||
		    s->ncapacity != t->ncapacity)
			return false;
		for (unsigned k = 0; k < s->ncapacity; k++)
			if (strcmp(s->capacity[k].name, t->capacity[k].name) ||
			    s->capacity[k].value != t->capacity[k].value)
				return false;
	}
	return true;
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
		return no_memory(err);
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
		return no_memory(err);
	if (n)
		memcpy(copy, specs, n * sizeof(*copy));
	a->specs = copy;
	a->nspecs = n;
	return AUC_OK;
}

/* A market of the configuration and servers there are now. AUC_EFULL: done, but a sale no longer
 * fits. */
static enum auc_code rebuild(struct auc_auction *a, double now, struct auc_err *err)
{
	struct json_object *records = json_object_new_array();
	struct auc_market *market = NULL;
	enum auc_code rc = records ? AUC_OK : no_memory(err);

	if (rc == AUC_OK && a->ledger)
		rc = auc_ledger_dump(a->ledger, append_event, records, err);
	if (rc == AUC_OK)
		rc = auc_auction_build_market(a, records, now, &market, err);
	json_object_put(records);
	if (rc == AUC_OK)
		rc = auc_auction_apply_closed(a, market, err);
	if (rc == AUC_OK && !a->ledger && !(a->ledger = auc_ledger_create(market, queue_event, a)))
		rc = no_memory(err);
	if (rc == AUC_OK)
		rc = auc_ledger_rebase(a->ledger, market, err);
	if (rc != AUC_OK && rc != AUC_EFULL) {
		auc_market_destroy(market);
		return rc;
	}
	auc_market_destroy(a->market);
	a->market = market;
	a->stale = true;
	if (take_price(a, rc == AUC_OK ? err : NULL) != AUC_OK && rc == AUC_OK)
		rc = AUC_EINVAL;
	/* A stepper asks only what is used: what else the market keeps of bookings is for quotes.
	 */
	if (a->policy->stepper)
		auc_market_begin_bulk(market);
	return rc;
}

enum auc_code auc_auction_build_market(const struct auc_auction *a, struct json_object *records,
				       double now, struct auc_market **market, struct auc_err *err)
{
	const struct auc_conf *conf = a->conf;
	auc_slot first = auc_slot_of(now, conf->slot_seconds), last = last_slot_of(records);
	struct auc_price price;
	unsigned slots = conf->slots;
	struct auc_market *m;
	enum auc_code rc;

	/* Slots behind a shortened horizon stay as long as somebody owns one. */
	if (last - first >= slots)
		slots = last - first < AUC_SLOTS_MAX ? (unsigned)(last - first) + 1 : AUC_SLOTS_MAX;
	auc_price_from_conf(conf, a->policy->prices, &price);
	m = auc_market_create(slots, conf->slot_seconds, first);
	rc = m ? AUC_OK : no_memory(err);
	if (rc == AUC_OK)
		rc = add_conf_types(m, conf, err);
	if (rc == AUC_OK)
		rc = add_servers(m, a, err);
	for (size_t i = 0; rc == AUC_OK && i < json_object_array_length(records); i++)
		rc = add_names_of_sale(m, json_object_array_get_idx(records, i), err);
	if (rc == AUC_OK)
		rc = auc_market_ready(m, &price, err);
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
		return no_memory(err);
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
			auc_market_set_bandwidth(m, part->bandwidth_mbps);
		parts += part->one_server;
	}
	free(order);
	return rc;
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
			if (rc == AUC_OK && auc_market_find_server(m, name) < 0)
				rc = auc_market_add_server(m, name, "", false, 0, 0, NULL, 0, err);
		}
	}
	return rc;
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
	auc_slot last = INT64_MIN / 2;

	for (size_t i = 0; i < json_object_array_length(records); i++)
		if (json_object_object_get_ex(json_object_array_get_idx(records, i), "plan",
					      &plan) &&
		    json_object_object_get_ex(plan, "completion", &completion) &&
		    json_object_get_int64(completion) - 1 > last)
			last = json_object_get_int64(completion) - 1;
	return last;
}

/* Prices that follow from configuration, history and what was published. */
static enum auc_code take_price(struct auc_auction *a, struct auc_err *err)
{
	const struct auc_tariff *tariff = auc_auction_tariff_in_force(a);
	struct auc_price prior, price;
	enum auc_code rc = AUC_OK;

	auc_price_from_conf(a->conf, a->policy->prices, &prior);
	price = prior;
	if (auc_conf_learns(a->conf))
		rc = auc_history_price(a->history, a->market, &prior, &price, err);
	if (rc != AUC_OK)
		return rc;
	a->price = price;
	a->price_old = false;
	a->fresh = 0;
	if (a->conf->prices == AUC_PRICES_NONE)
		return auc_market_give_prices(a->market, NULL, 0, err);
	if (tariff && tariff->kind != AUC_TARIFF_PUBLISHED)
		return auc_tariff_give(tariff, a->market, err);
	return auc_market_set_price(a->market, &price, err);
}

static void pass_time(struct auc_auction *a, double now, unsigned *lapsed)
{
	unsigned n = a->ledger ? auc_ledger_lapse(a->ledger, now) : 0;

	a->stale = a->stale || n;

	if (lapsed)
		*lapsed = n;
	auc_market_advance(a->market, auc_slot_of(now, a->conf->slot_seconds));
}

auc_slot auc_slot_of(double now, double slot_seconds)
{
	return (auc_slot)floor(now / slot_seconds);
}

auc_slot auc_slot_from(double now, double slot_seconds)
{
	return (auc_slot)ceil(now / slot_seconds);
}

bool auc_auction_sells(const struct auc_auction *a, unsigned server)
{
	return auc_market_roles(a->market, server) != 0;
}

/* -- one decision -- */

/* Into a->job and a->decision. */
static enum auc_code decide(struct auc_auction *a, const struct auc_bid *bid, double now,
			    struct auc_err *err)
{
	enum auc_code rc = auc_auction_check_ready(a, err);
	auc_slot arrival;

	if (rc == AUC_OK && !a->nspecs)
		rc = auc_err_set(err, AUC_ESTATE, "the auction has no nodes to sell");
	if (rc != AUC_OK)
		return rc;
	pass_time(a, now, NULL);
	if (a->policy->stepper)
		arrival = auc_auction_first_open(a, now);
	else if (a->conf->late_start > 0)
		arrival = auc_slot_from(now - a->conf->late_start, a->conf->slot_seconds);
	else
		arrival = auc_slot_from(now + a->conf->start_margin, a->conf->slot_seconds);
	rc = auc_job_resolve(a->market, bid, arrival, &a->job, err);
	if (rc != AUC_OK)
		return rc;
	rc = a->policy->quote(a->ctx, a->market, &a->job, &a->decision, err);
	return rc == AUC_OK ? spread(a, err) : rc;
}

/* What the decision has on large servers of many nodes goes to the nodes. Where it does not fit, as
 * what is free there is in pieces, the best schedule without that server is taken. */
static enum auc_code spread(struct auc_auction *a, struct auc_err *err)
{
	struct auc_plan made, *plan = &a->decision.plan;
	enum auc_code rc = AUC_OK;

	auc_plan_init(&made);
	while (rc == AUC_OK && a->decision.accepted && on_wholes(a->market, plan)) {
		rc = auc_plan_spread(a->market, plan, &made, err);
		if (rc == AUC_OK)
			rc = auc_plan_copy(plan, &made, err);
		if (rc != AUC_EFULL)
			continue;
		for (unsigned i = 0; i < plan->nshares; i++)
			if (auc_market_is_whole(a->market, plan->shares[i].server))
				a->job.upload[plan->shares[i].server] = UINT32_MAX;
		rc = a->policy->quote(a->ctx, a->market, &a->job, &a->decision, err);
	}
	auc_plan_clear(&made);
	return rc;
}

static bool on_wholes(const struct auc_market *m, const struct auc_plan *plan)
{
	for (unsigned i = 0; i < plan->nshares; i++)
		if (auc_market_is_whole(m, plan->shares[i].server))
			return true;
	return false;
}

/*
 * Posted prices: the offer is there before the limit is looked at, and is worth what it costs to
 * whoever keeps it. Only a bid teaches, not a quote.
 */
static enum auc_code ask_user(struct auc_auction *a, const struct auc_bid *bid, bool hold,
			      struct auc_err *err)
{
	struct auc_decision *d = &a->decision;

	if (hold && bid->max_price < 0)
		return auc_err_set(err, AUC_EINVAL,
				   "--max-price: not given, expected what the job may cost, in "
				   "credits; --quote says what "
				   "it does");
	d->plan.value = d->plan.cost;
	if (!hold)
		return AUC_OK;
	if (d->offered && auc_plan_payment(&d->plan) > auc_money_from(bid->max_price)) {
		d->accepted = false;
		d->reason = AUC_REASON_PRICE;
	}
	a->policy->answered(a->ctx, a->market, &a->job, d, d->accepted);
	return AUC_OK;
}

/* What is kept of BID. One that is looked at again must say for itself where it may run. */
static enum auc_code text_of(const struct auc_auction *a, const struct auc_bid *bid, char **text,
			     struct auc_err *err)
{
	struct auc_bid *own = a->policy->stepper ? malloc(sizeof(*own)) : NULL;
	enum auc_code rc = AUC_OK;

	if (own) {
		*own = *bid;
		rc = auc_bid_confine(own, a->market, err);
	} else if (a->policy->stepper) {
		return no_memory(err);
	}
	*text = rc == AUC_OK ? auc_bid_print(own ? own : bid) : NULL;
	free(own);
	return rc != AUC_OK || *text ? rc : no_memory(err);
}

static enum auc_code fill_offer(struct auc_auction *a, struct auc_offer *offer, struct auc_err *err)
{
	const struct auc_decision *d = &a->decision;
	enum auc_code rc;

	offer->accepted = d->accepted;
	offer->reason = d->reason;
	if (!d->accepted && d->reason != AUC_REASON_PAYOFF && d->reason != AUC_REASON_PRICE)
		return AUC_OK;
	offer->best_payoff = d->best_payoff;
	offer->payment = auc_plan_payment(&d->plan);
	offer->value = auc_plan_value(&d->plan);
	offer->start = (double)d->plan.start * a->conf->slot_seconds;
	offer->end = (double)d->plan.completion * a->conf->slot_seconds;
	for (const struct auc_run *r = d->plan.runs; r < d->plan.runs + d->plan.nruns; r++)
		if (d->accepted && r->nshares > AUC_PARTS_MAX)
			return auc_err_set(err, AUC_EFULL,
					   "the best schedule is on %u nodes, at most %d can be "
					   "one job; lower --chunks",
					   r->nshares, AUC_PARTS_MAX);
	rc = auc_plan_copy(&offer->plan, &d->plan, err);
	return rc == AUC_OK
		       ? auc_plan_parts(a->market, &d->plan, &offer->parts, &offer->nparts, err)
		       : rc;
}

static enum auc_code put_lien(struct auc_auction *a, const char *text, uint32_t uid, double now,
			      struct auc_offer *offer, struct auc_err *err)
{
	enum auc_code rc = auc_ledger_hold(a->ledger, &offer->plan, a->policy->name, text, uid,
					   now + a->conf->lien_seconds, offer->sale, err);

	if (rc != AUC_OK)
		return rc;
	rc = auc_auction_give_receipt(a, auc_ledger_find(a->ledger, offer->sale), 0, NULL,
				      &offer->receipt, err);
	if (rc != AUC_OK)
		auc_ledger_drop(a->ledger, offer->sale, NULL);
	return rc;
}

/* Remembers what a->job says about prices. Prices follow at the next tick, not here: new bases
 * move every price there is, and slurmctld waits for a bid. A bid that cannot be remembered is
 * decided all the same. */
static enum auc_code learn(struct auc_auction *a, struct auc_err *err)
{
	const struct auc_tariff *tariff = auc_auction_tariff_in_force(a);
	struct json_object *event;
	enum auc_code rc;

	rc = auc_history_add(a->history, a->market, &a->job, a->policy->prices, err);
	if (rc != AUC_OK)
		return rc;
	event = auc_history_event(a->history, auc_history_count(a->history) - 1);
	if (!event)
		return no_memory(err);
	append_event(a->events, event);
	a->fresh++;
	a->price_old = (!tariff || tariff->kind == AUC_TARIFF_PUBLISHED) &&
		       (a->policy->prices == AUC_PRICE_ETA ||
			auc_bounds_due(a->fresh, auc_history_count(a->history)));
	return AUC_OK;
}

/* The published rule: doc/ledger.md, "Refunds". */
static auc_money refund_due(const struct auc_auction *a, const struct auc_sale *s, const char *why,
			    double now)
{
	auc_slot next = auc_slot_from(now, a->conf->slot_seconds), all = 0, unused = 0;

	if (s->state != AUC_SALE_RUNNING || !strcmp(why, "node_fail") || !strcmp(why, "lost"))
		return s->payment;
	if (!a->conf->refund_unused)
		return 0;
	for (const struct auc_run *r = s->plan.runs; r < s->plan.runs + s->plan.nruns; r++) {
		all += r->to - r->from + 1;
		if (r->to >= next)
			unused += r->to - (r->from > next ? r->from : next) + 1;
	}
	return all ? (auc_money)((__int128)s->payment * unused / all) : 0;
}

enum auc_code auc_auction_give_receipt(const struct auc_auction *a, const struct auc_sale *s,
				       auc_money refund, const char *why, char **receipt,
				       struct auc_err *err)
{
	if (!receipt)
		return AUC_OK;
	*receipt = auc_receipt_print(s, a->market, refund, why);
	return *receipt ? AUC_OK : no_memory(err);
}

/* -- the cluster's terms -- */

static enum auc_code fill_view(const struct auc_auction *a, const struct auc_sale *s, bool parts,
			       struct auc_sale_view *v, struct auc_err *err)
{
	strcpy(v->sale, s->id);
	v->state = s->state;
	v->job_id = s->job_id;
	v->uid = s->uid;
	v->start = (double)s->plan.start * a->conf->slot_seconds;
	v->end = (double)s->plan.completion * a->conf->slot_seconds;
	v->payment = s->payment;
	v->value = s->value;
	v->revision = s->revision;
	v->extend = auc_sale_extends(s);
	return parts ? auc_plan_parts(a->market, &s->plan, &v->parts, &v->nparts, err) : AUC_OK;
}

static enum auc_code no_memory(struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "auction: out of memory");
}
