/* held.c - bids that stand: see auction.h. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "auction/auction-private.h"
#include "base/num.h"
#include "input/bid_resolve.h"
#include "ledger/why.h"

#define UNDECIDED                                                                                  \
	86400.0 /* seconds after which an array whose tasks could not be decided is given up */

static bool name_it(char id[AUC_SALE_ID_LEN]);
static enum auc_code print_receipt(const struct auc_auction *a, const struct auc_waiting *w,
				   char **receipt, struct auc_err *err);
static enum auc_code has_room(const struct auc_auction *a, uint32_t uid, struct auc_err *err);
static struct auc_held_view view_of(const struct auc_held_bid *held);
static bool may_use(struct auc_auction *a, const struct auc_held_bid *held);
static void tell_end(struct auc_auction *a, const struct auc_held_bid *held, const char *why,
		     double now);

enum auc_code auc_auction_held_add(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
				   double now, const char *answer,
				   const struct auc_array_tasks *array, char **receipt,
				   struct auc_err *err)
{
	double stands = array && !(bid->stands > 0) ? UNDECIDED : bid->stands;
	struct auc_waiting w = {.until = now + stands, .max_price = bid->max_price};
	struct auc_held_bid held = {.uid = uid, .until = now + stands, .max_price = bid->max_price};
	struct auc_question *q = &a->question;
	enum auc_code rc;

	*receipt = NULL;
	if (!name_it(w.id))
		return auc_err_set(err, AUC_ESTATE, "no random number for a bid that stands");
	if (array) {
		w.tasks = held.tasks = array->n;
		w.at_once = held.at_once = array->at_once;
		w.stays = held.stays = bid->stands > 0;
	}
	pthread_mutex_lock(&a->lock);
	rc = auc_auction_check_open(a, err);
	if (rc == AUC_OK)
		rc = has_room(a, uid, err);
	q->bid = *bid;
	if (rc == AUC_OK)
		rc = auc_auction_budget(a, q, uid, now, err);
	/* The tasks of an array are due in this slot. */
	held.slot = rc == AUC_OK ? auc_slot_of(now, a->conf->slot_seconds) - !!array : 0;
	held.changed = array;
	held.since = w.since = q->bid.since =
		(double)auc_auction_arrival(a, now) * a->conf->slot_seconds;
	q->bid.npartitions = 0;
	if (rc == AUC_OK && !(held.text = w.bid = auc_bid_print(&q->bid)))
		rc = auc_auction_no_memory(err);
	if (rc == AUC_OK)
		rc = print_receipt(a, &w, receipt, err);
	if (rc == AUC_OK) {
		strcpy(held.id, w.id);
		held.lapses = now + 2 * a->conf->lien_seconds;
		held.left = q->left;
		held.payers = q->payers;
		held.seen = auc_market_frees(a->market);
		rc = auc_held_bids_add(a->held, &held, err);
	}
	if (rc == AUC_OK && answer)
		auc_held_bids_find(a->held, w.id)->answer = strdup(answer);
	pthread_mutex_unlock(&a->lock);
	free(w.bid);
	if (rc != AUC_OK) {
		free(*receipt);
		*receipt = NULL;
	}
	return rc;
}

static bool name_it(char id[AUC_SALE_ID_LEN])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return false;
	snprintf(id, AUC_SALE_ID_LEN, "w-%016" PRIx64, number);
	return true;
}

static enum auc_code print_receipt(const struct auc_auction *a, const struct auc_waiting *w,
				   char **receipt, struct auc_err *err)
{
	if (!a->seal)
		return auc_err_set(err, AUC_ESTATE, "there is no key to seal a bid with");
	*receipt = auc_receipt_print_waiting(w, a->seal);
	if (!*receipt)
		return auc_auction_no_memory(err);
	if (strlen(*receipt) > AUC_RECEIPT_MAX)
		return auc_err_set(err, AUC_EFULL,
				   "the receipt of a bid that stands has %zu bytes, the accounting "
				   "keeps %d",
				   strlen(*receipt), AUC_RECEIPT_MAX);
	return AUC_OK;
}

static enum auc_code has_room(const struct auc_auction *a, uint32_t uid, struct auc_err *err)
{
	unsigned own = auc_held_bids_of(a->held, uid), all = auc_held_bids_count(a->held);

	if (own >= a->conf->user_stands)
		return auc_err_set(err, AUC_ELIMIT,
				   "%u of your bids %s (UserStands=%u); withdraw one with "
				   "scancel, or bid without --stands",
				   own, own == 1 ? "stands" : "stand", a->conf->user_stands);
	if (all >= a->conf->stands)
		return auc_err_set(err, AUC_ELIMIT,
				   "%u bid%s of all users %s (Stands=%u); bid without --stands",
				   all, auc_plural(all), all == 1 ? "stands" : "stand",
				   a->conf->stands);
	return AUC_OK;
}

enum auc_code auc_auction_held_seen(struct auc_auction *a, const char *receipt, uint32_t job_id,
				    uint32_t uid, struct auc_err *err)
{
	struct auc_held_bid *known, held = {.job_id = job_id, .uid = uid, .changed = true};
	struct auc_waiting w;
	enum auc_code rc;

	pthread_mutex_lock(&a->lock);
	rc = auc_receipt_open_waiting(receipt, a->seal, &w, err);
	known = rc == AUC_OK ? auc_held_bids_find(a->held, w.id) : NULL;
	if (known && known->uid == uid && !known->job_id) {
		known->job_id = job_id;
	} else if (known) {
		rc = known->job_id == job_id && known->uid == uid
			     ? AUC_EEXIST
			     : auc_err_set(err, AUC_EINVAL, "bid %s stands as job %" PRIu32, w.id,
					   known->job_id);
	} else if (rc == AUC_OK) {
		strcpy(held.id, w.id);
		held.since = w.since;
		held.until = w.until;
		held.text = w.bid;
		held.max_price = w.max_price;
		held.tasks = w.tasks;
		held.at_once = w.at_once;
		held.stays = w.stays;
		rc = auc_held_bids_add(a->held, &held, err);
	}
	pthread_mutex_unlock(&a->lock);
	free(w.bid);
	return rc;
}

enum auc_code auc_auction_held(struct auc_auction *a, double now, struct auc_held_view **list,
			       unsigned *n, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	pthread_mutex_lock(&a->lock);
	auc_held_bids_lapse(a->held, now);
	*n = auc_held_bids_count(a->held);
	*list = calloc(*n + 1, sizeof(**list));
	if (!*list) {
		*n = 0;
		rc = auc_auction_no_memory(err);
	}
	for (unsigned i = 0; i < *n; i++) {
		const struct auc_held_bid *held = auc_held_bids_at(a->held, i);

		(*list)[i] = view_of(held);
	}
	pthread_mutex_unlock(&a->lock);
	return rc;
}

bool auc_auction_decides(struct auc_auction *a, uint32_t uid)
{
	bool decides = false;

	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; i < auc_held_bids_count(a->held) && !decides; i++) {
		const struct auc_held_bid *held = auc_held_bids_at(a->held, i);

		decides = held->uid == uid && held->tasks && !held->stays;
	}
	pthread_mutex_unlock(&a->lock);
	return decides;
}

static struct auc_held_view view_of(const struct auc_held_bid *held)
{
	struct auc_held_view v = {.uid = held->uid,
				  .job_id = held->job_id,
				  .since = held->since,
				  .until = held->until,
				  .tasks = held->tasks,
				  .at_once = held->at_once,
				  .stays = held->stays};

	strcpy(v.id, held->id);
	return v;
}

bool auc_auction_is_held(struct auc_auction *a, uint32_t job_id)
{
	bool is;

	pthread_mutex_lock(&a->lock);
	is = auc_held_bids_find_job(a->held, job_id);
	pthread_mutex_unlock(&a->lock);
	return is;
}

enum auc_held_turn auc_auction_held_next(struct auc_auction *a, double now,
					 struct auc_held_view *view, struct auc_bid *bid)
{
	enum auc_held_turn turn = AUC_HELD_PASSED;
	struct auc_question *q = &a->question;
	struct auc_held_bid *held = NULL;
	auc_slot slot;

	pthread_mutex_lock(&a->lock);
	if (auc_auction_check_open(a, NULL) == AUC_OK) {
		slot = auc_slot_of(now, a->conf->slot_seconds);
		held = auc_held_bids_next(a->held, slot);
	}
	if (held) {
		held->slot = slot;
		*view = view_of(held);
		/* A bid that names what is no more may do so again later. */
		if (auc_bid_parse(a->conf, held->text, bid, NULL) == AUC_OK) {
			bid->max_price = held->max_price;
			bid->array = held->tasks ? held->job_id : 0;
			bid->capped = held->max_price >= 0 && !a->policy->posts;
			q->bid = *bid;
			if (auc_bid_resolve(a->market, bid, auc_auction_arrival(a, now), &q->job,
					    NULL) != AUC_OK)
				turn = AUC_HELD_PASSED;
			else if (!a->policy->posts && !(auc_utility_value(&q->job.utility, 1) > 0))
				turn = AUC_HELD_WORTHLESS;
			else if (may_use(a, held))
				turn = AUC_HELD_DUE;
		}
	} else {
		turn = AUC_HELD_NONE;
	}
	pthread_mutex_unlock(&a->lock);
	return turn;
}

/* True if since it was decided something has changed that HELD, the question's, could use: a price,
 * its money, room on a server that is large enough, or a slot that has come into the window and in
 * which its result is still worth something. */
static bool may_use(struct auc_auction *a, const struct auc_held_bid *held)
{
	const struct auc_job *job = &a->question.job;
	double end = (double)(auc_market_last(a->market) + 1 - job->arrival);
	auc_money left = auc_books_left(auc_ledger_books(a->ledger), &held->payers);

	return held->changed || held->left != left ||
	       auc_job_may_gain(a->market, job, held->seen) || a->policy->posts ||
	       auc_utility_value(&job->utility, end) > 0;
}

void auc_auction_held_again(struct auc_auction *a, const char *id, double now, bool soon)
{
	struct auc_held_bid *held;

	pthread_mutex_lock(&a->lock);
	held = auc_held_bids_find(a->held, id);
	if (held)
		held->changed = true;
	if (held && soon)
		held->slot = auc_slot_of(now, a->conf->slot_seconds) - 1;
	pthread_mutex_unlock(&a->lock);
}

char *auc_auction_held_end(struct auc_auction *a, const char *id, const char *why, double now)
{
	struct auc_waiting w = {.max_price = -1};
	struct auc_held_bid *held;
	char *receipt = NULL;

	pthread_mutex_lock(&a->lock);
	held = auc_held_bids_find(a->held, id);
	if (held && why) {
		strcpy(w.id, held->id);
		w.since = held->since;
		w.until = held->until;
		w.tasks = held->tasks;
		receipt = auc_receipt_print_unsold(&w, why);
		tell_end(a, held, why, now);
	}
	auc_held_bids_remove(a->held, id);
	pthread_mutex_unlock(&a->lock);
	return receipt;
}

char *auc_auction_array_end(struct auc_auction *a, const char *id, unsigned n, const char *why,
			    const char *text, double now)
{
	struct auc_waiting w = {.tasks = n, .max_price = -1};
	struct auc_held_bid *held;
	char *receipt = NULL;

	pthread_mutex_lock(&a->lock);
	held = auc_held_bids_find(a->held, id);
	if (held) {
		strcpy(w.id, held->id);
		w.since = held->since;
		w.until = held->until;
		receipt = auc_receipt_print_unsold(&w, why);
		if (text)
			auc_refusals_keep(a->refusals, held->uid, now, text);
	}
	auc_held_bids_remove(a->held, id);
	pthread_mutex_unlock(&a->lock);
	return receipt;
}

/* Keeps for sbid why how the bid ended, unless its owner withdrew it, who knows. */
static void tell_end(struct auc_auction *a, const struct auc_held_bid *held, const char *why,
		     double now)
{
	const char *said = !strcmp(why, AUC_WHY_EXPIRED) ? "its time to stand is over"
			   : !strcmp(why, AUC_WHY_WORTHLESS)
				   ? "its result is worth nothing any more, however soon it comes"
				   : NULL;
	char *text;

	if (!said ||
	    asprintf(&text, "auction: job %" PRIu32 ": the bid stood and was not sold: %s%s%s",
		     held->job_id, said, held->answer ? "; when it was submitted:\n" : "",
		     held->answer ? held->answer : "") < 0)
		return;
	auc_refusals_keep(a->refusals, held->uid, now, text);
	free(text);
}
