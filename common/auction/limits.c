/*
 * limits.c - no user against all the others: how many bids and quotes one may make, how many
 * places one may hold (doc/ledger.md, "Limits of a user"), and whose money that spends.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "auction/auction-private.h"
#include "base/json.h"
#include "base/num.h"
#include "ledger/allowance.h"
#include "ledger/budget.h"
#include "policy/gang/gang.h"

#define SURE            2.0 /* seconds after which a submission has become a job */
#define ALLOWED_AT_ONCE 200 /* transfers of Refill and Return */

/* What UID has. */
struct owned {
	unsigned liens, jobs;
	double lapses; /* when the first of its liens does */
};

static bool tell_why(const struct auc_auction *a, struct json_object *o, uint32_t uid);
static bool tell_balance(struct auc_auction *a, struct json_object *o, const struct auc_bid *bid,
			 uint32_t uid, double now);
static enum auc_code find_payers(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
				 double now, struct auc_payers *payers, struct auc_err *err);
static enum auc_code refill(struct auc_auction *a, const char *name, double now, unsigned *made,
			    struct auc_err *err);
static enum auc_code allow_all(struct auc_auction *a, double now, unsigned *made,
			       struct auc_err *err);
static void drop_unclaimed(struct auc_auction *a, uint32_t uid);
static struct owned owned_by(const struct auc_auction *a, uint32_t uid);

enum auc_code auc_auction_allows(struct auc_auction *a, const struct auc_question *q, uint32_t uid,
				 double now, bool hold, struct auc_err *err)
{
	const struct auc_conf *conf = a->conf;
	struct owned o;
	double wait;

	if (!uid)
		return AUC_OK;
	wait = q->again || q->task ? 0
				   : auc_user_limits_take(a->users, uid, now, conf->user_quotes);
	if (wait > 0) {
		a->made.limited++;
		return auc_err_set(err, AUC_ELIMIT,
				   "you have made %u bids and quotes in a minute that became no "
				   "jobs (UserQuotes=%u); try again in %.0f s",
				   conf->user_quotes, conf->user_quotes, ceil(wait));
	}
	if (!hold)
		return AUC_OK;
	drop_unclaimed(a, uid);
	o = owned_by(a, uid);
	if (!q->task && conf->user_liens && o.liens >= conf->user_liens) {
		a->made.limited++;
		return auc_err_set(err, AUC_ELIMIT,
				   "%u of your accepted bids %s until %s seen "
				   "(UserLiens=%u); try again in a few seconds, %.0f at most; "
				   "--quote asks for a price and holds nothing",
				   o.liens, o.liens == 1 ? "waits" : "wait",
				   o.liens == 1 ? "its job is" : "their jobs are", conf->user_liens,
				   fmax(1, ceil(o.lapses - now)));
	}
	if (conf->user_jobs && o.liens + o.jobs >= conf->user_jobs) {
		a->made.limited++;
		return auc_err_set(err, AUC_ELIMIT,
				   "you have bought %u job%s that %s not ended (UserJobs=%u); "
				   "wait until one has ended",
				   o.liens + o.jobs, auc_plural(o.liens + o.jobs),
				   o.liens + o.jobs == 1 ? "has" : "have", conf->user_jobs);
	}
	return AUC_OK;
}

enum auc_code auc_auction_budget(struct auc_auction *a, struct auc_question *q, uint32_t uid,
				 double now, struct auc_err *err)
{
	enum auc_code rc = find_payers(a, &q->bid, uid, now, &q->payers, err);

	q->left = rc == AUC_OK ? auc_books_left(auc_ledger_books(a->ledger), &q->payers) : 0;
	return rc;
}

/* With what Refill= gives them at NOW: who has come just now has not to wait for the agent. */
static enum auc_code find_payers(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
				 double now, struct auc_payers *payers, struct auc_err *err)
{
	const struct auc_books *books = auc_ledger_books(a->ledger);
	enum auc_code rc = auc_budget_payers(a->conf->budgets, books, uid, bid, payers, err);
	unsigned made = 0;

	for (unsigned i = 0; rc == AUC_OK && i < payers->n; i++)
		rc = refill(a, payers->name[i], now, &made, err);
	return rc == AUC_OK && made
		       ? auc_budget_payers(a->conf->budgets, books, uid, bid, payers, err)
		       : rc;
}

/* All that is due to the account NAME; *MADE is counted up. */
static enum auc_code refill(struct auc_auction *a, const char *name, double now, unsigned *made,
			    struct auc_err *err)
{
	const struct auc_books *books = auc_ledger_books(a->ledger);
	struct auc_transfer t;
	enum auc_code rc = AUC_OK;

	while (rc == AUC_OK && auc_allowance_refill(a->conf, books, name, now, &t)) {
		rc = auc_ledger_transfer(a->ledger, &t, err);
		*made += rc == AUC_OK;
	}
	return rc;
}

enum auc_code auc_auction_allowances(struct auc_auction *a, double now, unsigned *made,
				     struct auc_err *err)
{
	int64_t hour = auc_allowance_period(AUC_EVERY_HOUR, now);
	enum auc_code rc;

	*made = 0;
	pthread_mutex_lock(&a->lock);
	rc = a->recovered ? AUC_OK : auc_auction_check_ready(a, err);
	if (rc == AUC_OK && a->allowed_hour != hour) {
		if (a->conf->budgets != AUC_BUDGETS_NONE)
			rc = allow_all(a, now, made, err);
		if (rc == AUC_OK && *made < ALLOWED_AT_ONCE)
			a->allowed_hour = hour;
	}
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* Or as much as one holder of the lock may do; the rest comes with the next look. */
static enum auc_code allow_all(struct auc_auction *a, double now, unsigned *made,
			       struct auc_err *err)
{
	const struct auc_books *books = auc_ledger_books(a->ledger);
	char name[AUC_ACCOUNT_LEN];
	struct auc_transfer t;
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; rc == AUC_OK && i < a->conf->nrefills; i++)
		if (auc_account_is_name(a->conf->refills[i].name))
			rc = refill(a, a->conf->refills[i].name, now, made, err);
	for (unsigned i = 0; rc == AUC_OK && *made < ALLOWED_AT_ONCE && i < auc_books_count(books);
	     i++) {
		snprintf(name, sizeof(name), "%s", auc_books_at(books, i)->name);
		if (auc_account_is_name(name))
			rc = refill(a, name, now, made, err);
	}
	while (rc == AUC_OK && *made < ALLOWED_AT_ONCE &&
	       auc_allowance_return(a->conf, books, auc_ledger_totals(a->ledger)->settled_revenue,
				    now, &t)) {
		rc = auc_ledger_transfer(a->ledger, &t, err);
		*made += rc == AUC_OK;
	}
	return rc;
}

void auc_auction_keep_budget(struct auc_question *q)
{
	struct auc_decision *d = &q->decision;

	if (!d->accepted || auc_plan_payment(&d->plan) <= q->left)
		return;
	/* What is above it by rounding only is given. */
	if (auc_gang_is_paid(d->plan.cost, auc_money_to(q->left))) {
		d->plan.cost = auc_money_to(q->left);
		return;
	}
	d->accepted = false;
	d->reason = AUC_REASON_BUDGET;
}

void auc_auction_post_prices(struct auc_auction *a, bool past, const char *text)
{
	char *copy = strdup(text), *old = NULL;

	if (!copy)
		return;
	pthread_mutex_lock(&a->lock);
	old = a->published[past];
	a->published[past] = copy;
	pthread_mutex_unlock(&a->lock);
	free(old);
}

char *auc_auction_refusals(struct auc_auction *a, uint64_t *edition)
{
	struct auc_refusals *copy = NULL;
	uint64_t now;
	char *text;

	pthread_mutex_lock(&a->lock);
	now = auc_refusals_edition(a->refusals);
	if (now != *edition)
		copy = auc_refusals_copy(a->refusals);
	pthread_mutex_unlock(&a->lock);
	/* Thousands of them take longer to print than bids should wait. */
	text = copy ? auc_refusals_print(copy) : NULL;
	auc_refusals_destroy(copy);
	if (text)
		*edition = now;
	return text;
}

void auc_auction_keep_refusal(struct auc_auction *a, uint32_t uid, double now, const char *text)
{
	pthread_mutex_lock(&a->lock);
	auc_refusals_keep(a->refusals, uid, now, text);
	pthread_mutex_unlock(&a->lock);
}

void auc_auction_recall_refusals(struct auc_auction *a, const char *text)
{
	pthread_mutex_lock(&a->lock);
	auc_refusals_read(a->refusals, text);
	pthread_mutex_unlock(&a->lock);
}

char *auc_auction_tell(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid, double now)
{
	struct json_object *o;
	char *text = NULL;
	bool ok;

	if (bid->ask == AUC_ASK_PRICES || bid->ask == AUC_ASK_HISTORY) {
		const char *said;

		pthread_mutex_lock(&a->lock);
		said = a->published[bid->ask == AUC_ASK_HISTORY];
		if (asprintf(&text, "auction: %s", said ? said : "{}") < 0)
			text = NULL;
		pthread_mutex_unlock(&a->lock);
		return text;
	}
	o = json_object_new_object();
	pthread_mutex_lock(&a->lock);
	ok = o &&
	     (bid->ask == AUC_ASK_WHY ? tell_why(a, o, uid) : tell_balance(a, o, bid, uid, now));
	pthread_mutex_unlock(&a->lock);
	if (ok && asprintf(&text, "auction: %s",
			   json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN)) < 0)
		text = NULL;
	json_object_put(o);
	return text;
}

static bool tell_why(const struct auc_auction *a, struct json_object *o, uint32_t uid)
{
	double when = 0;
	const char *text = auc_refusals_find(a->refusals, uid, &when);

	return auc_json_add_double(o, "when", when) &&
	       auc_json_add_text(o, "text", text ? text : "");
}

static bool tell_balance(struct auc_auction *a, struct json_object *o, const struct auc_bid *bid,
			 uint32_t uid, double now)
{
	const struct auc_books *books = a->ledger ? auc_ledger_books(a->ledger) : NULL;
	struct json_object *list = json_object_new_array(), *one;
	struct auc_payers payers;
	struct auc_err err = {.text = "the auction is not open yet"};
	bool ok = list;

	payers.n = 0;
	if (books && find_payers(a, bid, uid, now, &payers, &err) == AUC_OK)
		err.text[0] = '\0';
	for (unsigned i = 0; ok && i < payers.n && strcmp(payers.name[0], AUC_MINT); i++) {
		static const struct auc_account none;
		const struct auc_account *of = auc_books_find(books, payers.name[i]);

		one = json_object_new_object();
		of = of ? of : &none;
		ok = one && auc_json_add_text(one, "account", payers.name[i]) &&
		     auc_json_add_money(one, "in", auc_account_budget(of)) &&
		     auc_json_add_money(one, "out", auc_account_spent(of)) &&
		     auc_json_add_money(one, "held", of->pending) &&
		     auc_json_add_bool(one, "limited", of->limited);
		ok = auc_json_push_if(ok, list, one);
	}
	ok = ok && (!payers.n || strcmp(payers.name[0], AUC_MINT) == 0 ||
		    auc_json_add_money(o, "left", auc_books_left(books, &payers)));
	if (ok && auc_json_add_text(o, "problem", err.text))
		return auc_json_add(o, "accounts", list);
	json_object_put(list);
	return false;
}

/* A dry run makes way for its user's next bid. */
static void drop_unclaimed(struct auc_auction *a, uint32_t uid)
{
	char id[AUC_SALE_ID_LEN];
	unsigned i = 0;

	while (i < auc_ledger_count(a->ledger)) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		if (s->state != AUC_SALE_LIEN || s->uid != uid || !s->unclaimed) {
			i++;
			continue;
		}
		strcpy(id, s->id);
		if (auc_ledger_drop(a->ledger, id, NULL) != AUC_OK)
			i++;
		a->stale = true;
	}
}

static struct owned owned_by(const struct auc_auction *a, uint32_t uid)
{
	struct owned o = {.lapses = INFINITY};

	for (unsigned i = 0; i < auc_ledger_count(a->ledger); i++) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		if (s->uid != uid)
			continue;
		if (s->state == AUC_SALE_LIEN) {
			o.liens++;
			o.lapses = fmin(o.lapses, s->expires);
		} else {
			o.jobs++;
		}
	}
	return o;
}

void auc_auction_unclaimed(struct auc_auction *a, const char *sale, double looked)
{
	const struct auc_sale *s;

	pthread_mutex_lock(&a->lock);
	s = a->ledger ? auc_ledger_find(a->ledger, sale) : NULL;
	if (s && s->expires - a->conf->lien_seconds <= looked - SURE)
		auc_ledger_unclaim(a->ledger, sale);
	pthread_mutex_unlock(&a->lock);
}

bool auc_auction_budget_use(struct auc_auction *a, const char *sale, struct auc_budget_use *use)
{
	const struct auc_account *account;
	const struct auc_sale *s;
	const char *name = NULL;

	memset(use, 0, sizeof(*use));
	pthread_mutex_lock(&a->lock);
	s = a->ledger ? auc_ledger_find(a->ledger, sale) : NULL;
	if (s)
		use->share = auc_budget_share(auc_ledger_books(a->ledger), &s->payers, 0, &name);
	account = name ? auc_books_find(auc_ledger_books(a->ledger), name) : NULL;
	if (account) {
		memcpy(use->account, account->name, sizeof(use->account));
		use->granted = auc_account_budget(account);
		use->left = account->credits - account->debits - account->pending;
		use->before = use->share - (double)s->payment / (double)use->granted;
	}
	pthread_mutex_unlock(&a->lock);
	return account;
}
