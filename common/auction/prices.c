/*
 * prices.c - the auction's prices that learn (auction.h): what is remembered of a bid, copies for
 * a fit in another thread, and the moment at which what it found holds.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "input/conf_prices.h"
#include "auction/auction-private.h"
#include "pricing/fit.h"

#define GROWTH 2  /* within a slot, when there are 1 / GROWTH more bids than it had */
#define QUIET  12 /* slots without a bid, and prices follow the clock */

/* Everything copied: nothing of it is the auction's but the configuration, which stays. */
struct auc_fit_job {
	struct auc_auction now; /* what a market is laid out from: conf, policy, specs, closed */
	const struct auc_conf *conf;
	struct auc_conf twice;   /* the same with two periods for sale */
	struct auc_events sales; /* the ledger's records */
	struct auc_bid_log *bid_log;
	struct auc_price_history *price_history;
	struct auc_tariff *last;
	struct auc_fit_memory memory; /* the auction's, meanwhile */
	enum auc_tariff_kind kind;
	double time;
};

static void job_free(struct auc_fit_job *j);
static enum auc_code copy_in(struct auc_auction *a, struct auc_fit_job *j,
			     struct auc_ledger **ledger, struct auc_err *err);
static bool copy_list(void *list, unsigned n, size_t size, void *copy);
static enum auc_code lay_out(struct auc_fit_job *j, struct auc_market **market,
			     struct auc_market **unbooked, struct auc_market **empty,
			     struct auc_err *err);
static enum auc_code lay_out_one(const struct auc_auction *a, const struct auc_fit_job *j,
				 struct auc_market **m, struct auc_err *err);
static enum auc_code book_sales(struct auc_fit_job *j, struct auc_market *m, struct auc_err *err);
static enum auc_tariff_kind kind_of(const struct auc_conf *conf);

bool auc_auction_fit_due(struct auc_auction *a, double now)
{
	unsigned long long fresh;
	auc_slot passed;
	double seconds;
	bool due = false;

	pthread_mutex_lock(&a->lock);
	seconds = a->conf->slot_seconds;
	if (a->market && a->recovered && auc_conf_fits(a->conf) && !a->next_tariff) {
		fresh = auc_bid_log_added(a->bid_log) - a->fit_added;
		passed = auc_slot_of(now, seconds) - auc_slot_of(a->fit_time, seconds);
		due = auc_bid_log_count(a->bid_log) >= AUC_FIT_BIDS_MIN &&
		      (fresh ? passed || fresh * GROWTH >= a->fit_bids : passed >= QUIET) &&
		      (now < a->fit_time || now >= a->fit_time + AUC_FIT_COST * a->fit_seconds);
	}
	pthread_mutex_unlock(&a->lock);
	return due;
}

enum auc_code auc_auction_fit_begin(struct auc_auction *a, double now, struct auc_fit_job **out,
				    struct auc_err *err)
{
	struct auc_fit_job *j = calloc(1, sizeof(*j));
	struct auc_ledger *ledger = NULL;
	enum auc_code rc;

	*out = NULL;
	if (!j)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	j->time = now;
	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	rc = auc_auction_check_ready(a, err);
	if (rc == AUC_OK && !auc_conf_fits(a->conf))
		rc = auc_err_set(err, AUC_ESTATE, "prices are not learned");
	if (rc == AUC_OK)
		rc = copy_in(a, j, &ledger, err);
	if (rc == AUC_OK) {
		j->memory = a->fit_memory;
		a->fit_memory = (struct auc_fit_memory){0};
		a->fit_time = now;
		a->fit_added = auc_bid_log_added(a->bid_log);
	}
	pthread_mutex_unlock(&a->lock);
	if (rc == AUC_OK) /* a copy still names what it sold by the market, which admin keeps */
		rc = auc_ledger_dump(ledger, auc_event_append, &j->sales, err);
	if (rc == AUC_OK && j->sales.missed)
		rc = auc_auction_no_memory(err);
	pthread_mutex_unlock(&a->admin);
	auc_ledger_destroy(ledger);
	if (rc == AUC_OK)
		*out = j;
	else
		job_free(j);
	return rc;
}

enum auc_code auc_fit_job_run(struct auc_fit_job *j, const struct auc_cancel *cancel,
			      struct auc_tariff **t, struct auc_err *err)
{
	struct auc_market *market = NULL, *unbooked = NULL, *empty = NULL;
	struct auc_price prior, published;
	enum auc_code rc;

	*t = NULL;
	rc = lay_out(j, &market, &unbooked, &empty, err);
	if (rc == AUC_OK) {
		auc_conf_price(j->conf, j->now.policy->prices, market, &prior);
		rc = auc_price_history_price(j->price_history, market, &prior, &published, err);
	}
	if (rc == AUC_OK) {
		const struct auc_fit_input in = {
			.market = market,
			.unbooked = unbooked,
			.empty = empty,
			.policy = j->now.policy,
			.options = j->conf->policy_options,
			.conf = j->conf,
			.published = &published,
			.bid_log = j->bid_log,
			.now = j->time,
			.kind = j->kind,
			.last = j->last,
			.cancel = cancel,
			.memory = &j->memory,
		};

		rc = auc_fit(&in, t, err);
		market = NULL; /* it is the memory's */
	}
	auc_market_destroy(market);
	auc_market_destroy(unbooked);
	auc_market_destroy(empty);
	return rc;
}

static void job_free(struct auc_fit_job *j)
{
	if (!j)
		return;
	json_object_put(j->sales.list);
	auc_bid_log_destroy(j->bid_log);
	auc_price_history_destroy(j->price_history);
	auc_tariff_free(j->last);
	auc_fit_forget(&j->memory);
	free(j->now.specs);
	free(j->now.closed);
	free(j);
}

void auc_auction_fit_end(struct auc_auction *a, struct auc_fit_job *j, struct auc_tariff *t)
{
	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	if (j->memory.costs) {
		auc_tariff_free(a->rearrange.costs);
		a->rearrange.costs = j->memory.costs;
		a->rearrange.due = true;
		j->memory.costs = NULL;
	}
	if (!a->fit_memory.dual_prices) {
		a->fit_memory = j->memory;
		j->memory = (struct auc_fit_memory){0};
	}
	/* Only if it is still wanted: the configuration may have changed meanwhile. */
	if (t && a->recovered && auc_conf_fits(a->conf) &&
	    t->slot_seconds == a->conf->slot_seconds &&
	    (a->conf->prices == AUC_PRICES_LEARNED || t->kind == kind_of(a->conf))) {
		a->fit_seconds = t->seconds - (t->guard.time == t->time ? t->guard.seconds : 0);
		a->fit_bids = t->bids;
		auc_tariff_free(a->next_tariff);
		a->next_tariff = t;
		t = NULL;
	}
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	auc_tariff_free(t);
	job_free(j);
}

bool auc_auction_publish(struct auc_auction *a, double now)
{
	struct auc_tariff *t = a->next_tariff;

	if (!t || (auc_slot_of(now, t->slot_seconds) <= auc_slot_of(t->time, t->slot_seconds) &&
		   now >= t->time))
		return false;
	a->next_tariff = NULL;
	t->slot = auc_slot_of(now, t->slot_seconds);
	auc_tariff_free(a->tariff);
	a->tariff = t;
	a->price_old = true;
	auc_event_append(&a->events, auc_tariff_event(t));
	return true;
}

enum auc_code auc_auction_remember(struct auc_auction *a, const struct auc_question *q,
				   uint32_t uid, double now, const char *sale, bool *again,
				   struct auc_err *err)
{
	double seconds = a->conf->slot_seconds;
	enum auc_code rc;

	*again = false;
	if (!auc_conf_fits(a->conf))
		return AUC_OK;
	if (*sale)
		return auc_bid_log_wait(a->bid_log, sale, &q->bid, q->text, uid, now, seconds, err);
	rc = auc_bid_log_add(a->bid_log, &q->bid, q->text, uid, now, seconds, false, err);
	if (rc != AUC_OK)
		return rc;
	auc_event_append(&a->events, auc_bid_log_added_event(a->bid_log));
	*again = auc_bid_log_was_again(a->bid_log);
	return AUC_OK;
}

void auc_auction_remember_sold(struct auc_auction *a, const char *sale)
{
	if (auc_bid_log_take(a->bid_log, sale))
		auc_event_append(&a->events, auc_bid_log_added_event(a->bid_log));
}

const struct auc_tariff *auc_auction_tariff_in_force(const struct auc_auction *a)
{
	const struct auc_tariff *t = a->tariff;

	if (!t || !auc_conf_fits(a->conf) || t->slot_seconds != a->conf->slot_seconds)
		return NULL;
	return a->conf->prices == AUC_PRICES_LEARNED || t->kind == kind_of(a->conf) ? t : NULL;
}

bool auc_auction_tariff(struct auc_auction *a, struct auc_tariff **t)
{
	const struct auc_tariff *in_force;

	pthread_mutex_lock(&a->lock);
	in_force = auc_auction_tariff_in_force(a);
	*t = in_force ? auc_tariff_copy(in_force) : NULL;
	pthread_mutex_unlock(&a->lock);
	return *t;
}

/* Both locks are held. */
static enum auc_code copy_in(struct auc_auction *a, struct auc_fit_job *j,
			     struct auc_ledger **ledger, struct auc_err *err)
{
	const struct auc_tariff *last = auc_auction_tariff_in_force(a);

	j->conf = a->conf;
	j->twice = *a->conf;
	j->twice.slots = 2 * a->conf->slots < AUC_SLOTS_MAX ? 2 * a->conf->slots : AUC_SLOTS_MAX;
	j->now.conf = &j->twice;
	j->now.policy = a->policy;
	j->kind = kind_of(a->conf);
	j->now.nclosed = a->nclosed;
	j->sales.list = json_object_new_array();
	j->bid_log = auc_bid_log_copy(a->bid_log);
	j->price_history = auc_price_history_copy(a->price_history);
	j->last = last ? auc_tariff_copy(last) : NULL;
	*ledger = auc_ledger_copy(a->ledger);
	if (!*ledger || !j->sales.list || !j->bid_log || !j->price_history || (last && !j->last) ||
	    !copy_list(a->specs, a->nspecs, sizeof(*a->specs), &j->now.specs) ||
	    !copy_list(a->closed, a->nclosed, sizeof(*a->closed), &j->now.closed))
		return auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	/* What is down sells nothing. */
	for (unsigned i = 0; i < a->nspecs; i++)
		if (!a->specs[i].down)
			j->now.specs[j->now.nspecs++] = a->specs[i];
	return AUC_OK;
}

/* COPY is the address of a pointer. */
static bool copy_list(void *list, unsigned n, size_t size, void *copy)
{
	void *to = malloc(n * size + 1);

	if (to && n)
		memcpy(to, list, n * size);
	memcpy(copy, &to, sizeof(to));
	return to;
}

/* The market as it is booked, for two periods; and two periods, and one, without sales. */
static enum auc_code lay_out(struct auc_fit_job *j, struct auc_market **market,
			     struct auc_market **unbooked, struct auc_market **empty,
			     struct auc_err *err)
{
	struct auc_auction one = j->now;
	struct auc_conf conf = *j->conf;
	enum auc_code rc = lay_out_one(&j->now, j, market, err);

	one.conf = &conf;
	if (rc == AUC_OK)
		rc = lay_out_one(&one, j, empty, err);
	if (rc == AUC_OK && !(*unbooked = auc_market_clone(*market)))
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	return rc == AUC_OK ? book_sales(j, *market, err) : rc;
}

static enum auc_code lay_out_one(const struct auc_auction *a, const struct auc_fit_job *j,
				 struct auc_market **m, struct auc_err *err)
{
	enum auc_code rc =
		auc_auction_build_market(a, j->sales.list, AUC_SLOT_NONE, j->time, m, err);

	if (rc == AUC_OK)
		rc = auc_auction_apply_closures(a, *m, err);
	return rc == AUC_OK ? auc_market_give_prices(*m, NULL, 0, err) : rc;
}

static enum auc_code book_sales(struct auc_fit_job *j, struct auc_market *m, struct auc_err *err)
{
	struct auc_ledger *ledger = auc_ledger_create(m, NULL, NULL);
	enum auc_code rc = AUC_OK;

	if (!ledger)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	for (size_t i = 0; i < json_object_array_length(j->sales.list) && rc == AUC_OK; i++)
		rc = auc_ledger_apply(ledger, json_object_array_get_idx(j->sales.list, i), err);
	auc_ledger_destroy(ledger);
	return rc;
}

static enum auc_tariff_kind kind_of(const struct auc_conf *conf)
{
	return conf->prices == AUC_PRICES_FLAT ? AUC_TARIFF_FLAT : AUC_TARIFF_LEARNED;
}
