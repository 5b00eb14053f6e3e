/*
 * limits.c - no user against all the others: how many bids and quotes one may make, and how
 * many places one may hold (doc/ledger.md, "Limits of a user").
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "auction/auction-private.h"
#include "ledger/budget.h"
#include "policy/gang.h"

#define SURE 2.0 /* seconds after which a submission has become a job */

/* What UID has. */
struct owned {
	unsigned liens, jobs;
	double lapses; /* when the first of its liens does */
};

static void drop_unclaimed(struct auc_auction *a, uint32_t uid);
static struct owned owned_by(const struct auc_auction *a, uint32_t uid);

enum auc_code auc_auction_allows(struct auc_auction *a, uint32_t uid, double now, bool hold,
				 struct auc_err *err)
{
	const struct auc_conf *conf = a->conf;
	struct owned o;
	double wait;

	if (!uid)
		return AUC_OK;
	wait = auc_user_limits_take(a->users, uid, now, conf->user_quotes);
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
	if (conf->user_liens && o.liens >= conf->user_liens) {
		a->made.limited++;
		return auc_err_set(err, AUC_ELIMIT,
				   "%u of your accepted bids wait until their jobs are seen "
				   "(UserLiens=%u); try again in a few seconds, %.0f at most; "
				   "--quote asks for a price and holds nothing",
				   o.liens, conf->user_liens, fmax(1, ceil(o.lapses - now)));
	}
	if (conf->user_jobs && o.liens + o.jobs >= conf->user_jobs) {
		a->made.limited++;
		return auc_err_set(err, AUC_ELIMIT,
				   "you have bought %u jobs that have not ended (UserJobs=%u); "
				   "wait until one has ended",
				   o.liens + o.jobs, conf->user_jobs);
	}
	return AUC_OK;
}

enum auc_code auc_auction_budget(const struct auc_auction *a, struct auc_question *q, uint32_t uid,
				 struct auc_err *err)
{
	const struct auc_books *books = auc_ledger_books(a->ledger);
	enum auc_code rc =
		auc_budget_payers(a->conf->budgets, books, uid, &q->bid, &q->payers, err);

	q->left = rc == AUC_OK ? auc_books_left(books, &q->payers) : 0;
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
