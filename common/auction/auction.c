/*
 * auction.c - see auction.h: market, policy, ledger, price history and spool behind one lock.
 * Here is what is no longer than a call into one of them; auction-private.h tells where the rest
 * is.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/check.h"
#include "policy/registry.h"
#include "auction/sale_parts.h"
#include "input/bid_stands.h"
#include "input/conf_prices.h"
#include "auction/auction-private.h"
#include "base/clock.h"
#include "ledger/refund.h"
#include "base/json.h"

#define CLOCK_SLACK 1 /* slots: the present may be that much after the market's first */

/* -- private prototypes -- */

static auc_slot free_from(const struct auc_auction *a, double now);
static void believe(struct auc_auction *a, const char *sale);
static char *block_users(const char *bid);
static enum auc_code fill_view(const struct auc_auction *a, const struct auc_sale *s, bool parts,
			       struct auc_sale_view *v, struct auc_err *err);

/* -- life -- */

enum auc_code auc_auction_create(struct auc_conf *conf, struct auc_auction **out,
				 struct auc_err *err)
{
	struct auc_auction *a = calloc(1, sizeof(*a));
	enum auc_code rc = AUC_OK;

	*out = NULL;
	if (!a) {
		auc_conf_free(conf);
		return auc_auction_no_memory(err);
	}
	pthread_mutex_init(&a->admin, NULL);
	pthread_mutex_init(&a->lock, NULL);
	auc_decision_init(&a->question.decision);
	auc_decision_init(&a->question.extra);
	auc_decision_init(&a->question.planned);
	a->conf = conf;
	a->snapshot_at = AUC_SNAPSHOT_BYTES;
	a->policy = auc_policy_find(conf->policy);
	if (!a->policy)
		rc = auc_err_set(err, AUC_ENOENT, "Policy=%s: there is no such policy",
				 conf->policy);
	else
		rc = a->policy->create(conf->policy_options, &a->ctx, err);
	a->price_history = auc_price_history_create(conf->history_bids);
	a->bid_log = auc_bid_log_create(conf->history_bids);
	a->job_times = auc_job_times_create(true);
	a->answers = auc_posted_answers_create();
	a->offers = auc_offer_standing_create();
	a->users = auc_user_limits_create();
	a->refusals = auc_refusals_create();
	a->held = auc_held_bids_create();
	a->events.list = json_object_new_array();
	a->writing.list = json_object_new_array();
	if (rc == AUC_OK &&
	    (!a->price_history || !a->bid_log || !a->job_times || !a->answers || !a->offers ||
	     !a->users || !a->refusals || !a->held || !a->events.list || !a->writing.list))
		rc = auc_auction_no_memory(err);
	if (rc != AUC_OK) {
		auc_auction_destroy(a);
		return rc;
	}
	auc_bid_log_set_period(a->bid_log, auc_conf_period(conf));
	a->activity.since = auc_clock_wall();
	*out = a;
	return AUC_OK;
}

void auc_auction_destroy(struct auc_auction *a)
{
	if (!a)
		return;
	auc_spool_close(a->spool);
	json_object_put(a->events.list);
	json_object_put(a->writing.list);
	auc_ledger_destroy(a->ledger);
	auc_market_destroy(a->market);
	auc_price_history_destroy(a->price_history);
	auc_bid_log_destroy(a->bid_log);
	auc_job_times_destroy(a->job_times);
	auc_posted_answers_destroy(a->answers);
	auc_offer_standing_destroy(a->offers);
	auc_user_limits_destroy(a->users);
	auc_refusals_destroy(a->refusals);
	free(a->published[0]);
	free(a->published[1]);
	free(a->board.rows);
	auc_held_bids_destroy(a->held);
	auc_tariff_free(a->tariff);
	auc_tariff_free(a->next_tariff);
	auc_fit_forget(&a->fit_memory);
	if (a->ctx)
		a->policy->destroy(a->ctx);
	auc_seal_free(a->seal);
	auc_decision_clear(&a->question.decision);
	auc_decision_clear(&a->question.extra);
	auc_decision_clear(&a->question.planned);
	auc_job_clear(&a->question.job);
	auc_tariff_free(a->rearrange.costs);
	auc_auction_rearrange_free(a->rearrange.search);
	for (unsigned i = 0; i < a->nold_confs; i++)
		auc_conf_free(a->old_confs[i]);
	free(a->old_confs);
	auc_conf_free(a->conf);
	free(a->specs);
	free(a->limits);
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

enum auc_code auc_auction_reconfigure(struct auc_auction *a, struct auc_conf *conf, double now,
				      struct auc_err *err)
{
	const struct auc_policy *policy = auc_policy_find(conf->policy), *old_policy;
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
		rc = auc_auction_no_memory(err);
	if (rc == AUC_OK) {
		a->conf = conf;
		a->allowed_hour = 0;
		a->policy = policy;
		a->ctx = ctx;
		if (a->market)
			rc = auc_auction_rebuild(a, now, err);
	}
	if (rc == AUC_OK || rc == AUC_EFULL) {
		if (auc_price_history_set_limit(a->price_history, conf->history_bids, NULL) ==
			    AUC_OK &&
		    auc_bid_log_set_limit(a->bid_log, conf->history_bids, NULL) == AUC_OK &&
		    a->market)
			(void)auc_auction_take_price(a, NULL);
		auc_bid_log_set_period(a->bid_log, auc_conf_period(conf));
		a->old_confs[a->nold_confs++] = old;
		if (conf->prices != old->prices)
			a->fit_added = 0; /* all that is kept is new to a fit of that kind */
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

void auc_auction_break(struct auc_auction *a, const char *reason)
{
	pthread_mutex_lock(&a->lock);
	snprintf(a->broken, sizeof(a->broken), "%s", reason ? reason : "");
	pthread_mutex_unlock(&a->lock);
}

void auc_auction_pause(struct auc_auction *a, const char *reason)
{
	pthread_mutex_lock(&a->lock);
	snprintf(a->paused, sizeof(a->paused), "%s", reason ? reason : "");
	pthread_mutex_unlock(&a->lock);
}

enum auc_code auc_auction_transfer(struct auc_auction *a, const struct auc_transfer *t,
				   struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	pthread_mutex_lock(&a->lock);
	if (!a->recovered)
		rc = auc_auction_check_ready(a, err);
	if (rc == AUC_OK)
		rc = auc_ledger_transfer(a->ledger, t, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
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

enum auc_code auc_auction_confirm(struct auc_auction *a, const char *sale, uint32_t job_id,
				  char **receipt, struct auc_err *err)
{
	const struct auc_sale *known;
	enum auc_code rc = AUC_OK;
	uint32_t uid = 0;
	bool was_lien;

	pthread_mutex_lock(&a->lock);
	if (!a->recovered)
		rc = auc_auction_check_ready(a, err);
	known = rc == AUC_OK ? auc_ledger_find(a->ledger, sale) : NULL;
	was_lien = known && known->state == AUC_SALE_LIEN;
	if (was_lien)
		uid = known->uid;
	a->stale = a->stale || was_lien;
	if (rc == AUC_OK)
		rc = auc_ledger_confirm(a->ledger, sale, job_id, err);
	if (rc == AUC_OK && was_lien)
		auc_user_limits_give_back(a->users, uid);
	if (rc == AUC_OK)
		believe(a, sale);
	if (rc == AUC_OK)
		rc = auc_auction_give_receipt(a, auc_ledger_find(a->ledger, sale), 0, NULL, receipt,
					      err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* SALE has a job now, so its bid, or its yes to a price, counts; its offer is used up. */
static void believe(struct auc_auction *a, const char *sale)
{
	struct auc_answer answer;

	auc_offer_standing_sold(a->offers, sale);
	if (auc_posted_answers_take(a->answers, sale, &answer))
		auc_auction_keep_answer(a, &answer);
	auc_auction_remember_sold(a, sale);
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
	struct auc_job_time took;
	struct auc_sale settled;
	char *text = NULL;
	auc_money refund;
	enum auc_code rc = AUC_OK;
	bool told = false;

	pthread_mutex_lock(&a->lock);
	if (!a->recovered)
		rc = auc_auction_check_ready(a, err);
	sale = rc == AUC_OK ? auc_ledger_find_job(a->ledger, job_id) : NULL;
	if (rc == AUC_OK && !sale)
		rc = auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no sale", job_id);
	if (rc == AUC_OK) {
		refund = auc_refund_due(a->conf, sale, why, now);
		told = auc_auction_took(a, sale, why, now, &took);
		settled = *sale;
		settled.state = AUC_SALE_SETTLED;
		rc = auc_auction_give_receipt(a, &settled, refund, why, receipt ? &text : NULL,
					      err);
	}
	if (rc == AUC_OK)
		rc = auc_ledger_settle(a->ledger, job_id, free_from(a, now), refund, why, err);
	if (rc == AUC_OK && told)
		auc_auction_hear(a, &took);
	a->stale = a->rearrange.due = true;
	pthread_mutex_unlock(&a->lock);
	if (rc == AUC_OK && receipt)
		*receipt = text;
	else
		free(text);
	return rc;
}

/* The first slot that what ended at NOW leaves to others: the one that it is, if it can be sold. */
static auc_slot free_from(const struct auc_auction *a, double now)
{
	auc_slot next = auc_slot_from(now, a->conf->slot_seconds);
	bool rest = a->conf->refund_unused == AUC_REFUND_SECONDS && a->conf->late_start > 0;

	return rest && (double)next * a->conf->slot_seconds > now ? next - 1 : next;
}

void auc_auction_set_seal(struct auc_auction *a, struct auc_seal *seal)
{
	struct auc_seal *old;

	pthread_mutex_lock(&a->lock);
	old = a->seal;
	a->seal = seal;
	pthread_mutex_unlock(&a->lock);
	auc_seal_free(old);
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
		rc = auc_receipt_to_sale(receipt, a->market, a->seal, &sale, err);
	if (rc == AUC_OK) {
		sale.job_id = job_id;
		sale.uid = uid;
		sale.state = state;
		rc = auc_ledger_adopt(a->ledger, &sale, err);
		if (rc == AUC_OK)
			believe(a, sale.id);
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
		(void)auc_auction_rebuild(
			a, now, NULL); /* a market never goes back; if it fails, next time */
	if (a->market) {
		auc_auction_pass_time(a, now, &lapsed);
		if (auc_auction_publish(a, now) || a->price_old)
			auc_auction_take_price(a, NULL);
	}
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	return lapsed;
}

/* -- looking -- */

void auc_sale_view_clear(struct auc_sale_view *v)
{
	free(v->parts);
	free(v->block_users);
	memset(v, 0, sizeof(*v));
}

uint64_t auc_auction_edition(struct auc_auction *a)
{
	uint64_t edition;

	pthread_mutex_lock(&a->lock);
	edition = a->ledger ? auc_ledger_edition(a->ledger) : 0;
	pthread_mutex_unlock(&a->lock);
	return edition;
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
		rc = auc_auction_no_memory(err);
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

bool auc_auction_has_block(struct auc_auction *a, uint32_t job_id, char partition[AUC_NAME_MAX])
{
	const struct auc_sale *s;
	bool has;

	pthread_mutex_lock(&a->lock);
	s = a->ledger && job_id ? auc_ledger_find_job(a->ledger, job_id) : NULL;
	has = s && s->plan.block && s->plan.nshares;
	if (has)
		strcpy(partition, auc_market_server_group(a->market, s->plan.shares[0].server));
	pthread_mutex_unlock(&a->lock);
	return has;
}

bool auc_auction_awaits(struct auc_auction *a, uint32_t uid)
{
	bool awaits = false;

	pthread_mutex_lock(&a->lock);
	for (unsigned i = a->ledger ? auc_ledger_count(a->ledger) : 0; i-- > 0 && !awaits;) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		awaits = s->state == AUC_SALE_LIEN && s->uid == uid;
	}
	for (unsigned i = auc_held_bids_of(a->held, uid) ? auc_held_bids_count(a->held) : 0;
	     i-- > 0 && !awaits;)
		awaits = !auc_held_bids_at(a->held, i)->job_id &&
			 auc_held_bids_at(a->held, i)->uid == uid;
	pthread_mutex_unlock(&a->lock);
	return awaits;
}

bool auc_auction_times(struct auc_auction *a, uint32_t job_id, double *start, double *end)
{
	bool known = false;

	pthread_mutex_lock(&a->lock);
	*start = *end = 0;
	for (unsigned i = a->ledger ? auc_ledger_count(a->ledger) : 0; i-- > 0;) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);
		double over = (double)s->plan.completion * a->conf->slot_seconds;
		double from = (double)s->plan.start * a->conf->slot_seconds;

		if (!s->job_id ||
		    (s->job_id != job_id && !(s->bid && auc_bid_is_of_array(s->bid, job_id))))
			continue;
		known = true;
		*start = from > *start ? from : *start;
		*end = over > *end ? over : *end;
	}
	known = known && !auc_held_bids_find_job(a->held, job_id);
	pthread_mutex_unlock(&a->lock);
	return known;
}

bool auc_auction_job_ends(struct auc_auction *a, uint32_t job_id, double *end)
{
	const struct auc_sale *s;

	pthread_mutex_lock(&a->lock);
	s = a->ledger ? auc_ledger_find_job(a->ledger, job_id) : NULL;
	*end = s ? (double)s->plan.completion * a->conf->slot_seconds : 0;
	pthread_mutex_unlock(&a->lock);
	return s;
}

void auc_auction_totals(struct auc_auction *a, struct auc_totals *totals)
{
	memset(totals, 0, sizeof(*totals));
	pthread_mutex_lock(&a->lock);
	if (a->ledger)
		*totals = *auc_ledger_totals(a->ledger);
	pthread_mutex_unlock(&a->lock);
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

enum auc_code auc_auction_check_open(const struct auc_auction *a, struct auc_err *err)
{
	enum auc_code rc = auc_auction_check_ready(a, err);

	if (rc == AUC_OK && auc_check_evidence())
		rc = auc_err_set(err, AUC_ESTATE, "the auction is closed: %s", AUC_CHECK_REASON);
	if (rc == AUC_OK && a->paused[0])
		rc = auc_err_set(err, AUC_ESTATE, "the auction is paused: %s", a->paused);
	return rc;
}

enum auc_code auc_auction_take_price(struct auc_auction *a, struct auc_err *err)
{
	const struct auc_tariff *tariff = auc_auction_tariff_in_force(a);
	struct auc_price prior, price;
	enum auc_code rc = AUC_OK;

	auc_conf_price(a->conf, a->policy->prices, a->market, &prior);
	price = prior;
	if (auc_conf_learns(a->conf))
		rc = auc_price_history_price(a->price_history, a->market, &prior, &price, err);
	if (rc != AUC_OK)
		return rc;
	a->price = price;
	auc_held_bids_change(a->held);
	a->price_old = false;
	a->fresh = 0;
	if (a->conf->prices == AUC_PRICES_NONE)
		return auc_market_give_prices(a->market, NULL, 0, err);
	if (tariff && tariff->kind != AUC_TARIFF_PUBLISHED)
		return auc_tariff_give(tariff, a->market, err);
	return auc_market_set_price(a->market, &price, err);
}

void auc_auction_pass_time(struct auc_auction *a, double now, unsigned *lapsed)
{
	unsigned n = 0;

	/* Who waited for the lock has an older time than a lien that was made meanwhile. */
	if (a->ledger)
		n = auc_ledger_lapse(a->ledger, now, 2 * a->conf->lien_seconds);
	a->stale = a->stale || n;
	if (lapsed)
		*lapsed = n;
	auc_market_advance(a->market, auc_slot_of(now, a->conf->slot_seconds));
}

bool auc_auction_sells(const struct auc_auction *a, unsigned server)
{
	return auc_market_roles(a->market, server) != 0;
}

/* -- receipts and the cluster's terms -- */

enum auc_code auc_auction_give_receipt(const struct auc_auction *a, const struct auc_sale *s,
				       auc_money refund, const char *why, char **receipt,
				       struct auc_err *err)
{
	if (!receipt)
		return AUC_OK;
	*receipt = auc_receipt_print(s, a->market, a->seal, refund, why);
	return *receipt ? AUC_OK : auc_auction_no_memory(err);
}

static enum auc_code fill_view(const struct auc_auction *a, const struct auc_sale *s, bool parts,
			       struct auc_sale_view *v, struct auc_err *err)
{
	strcpy(v->sale, s->id);
	v->state = s->state;
	v->job_id = s->job_id;
	v->uid = s->uid;
	v->start = (double)s->plan.start * a->conf->slot_seconds;
	v->end = (double)s->plan.completion * a->conf->slot_seconds;
	v->slot_seconds = a->conf->slot_seconds;
	v->payment = s->payment;
	v->value = s->value;
	v->revision = s->revision;
	v->extend = auc_sale_extends(a, s);
	v->goes_on = auc_sale_goes_on(a, s);
	v->notice = auc_sale_notice(s);
	v->missing = s->plan.missing;
	if (parts && s->plan.block && !(v->block_users = block_users(s->bid)))
		return auc_auction_no_memory(err);
	return parts ? auc_plan_parts(a->market, &s->plan, &v->parts, &v->nparts, err) : AUC_OK;
}

/* What BID, canonical, says of whom its block is for; malloc'd, NULL: no memory. */
static char *block_users(const char *bid)
{
	static const char key[] = " block=yes,";
	const char *at = bid ? strstr(bid, key) : NULL;

	return at ? strndup(at + strlen(key), strcspn(at + strlen(key), " ")) : strdup("");
}

enum auc_code auc_auction_no_memory(struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "auction: out of memory");
}
