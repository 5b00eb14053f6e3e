/*
 * store.c - the auction's spool: what was decided is queued behind the lock, written by a commit,
 * and read back when the spool is opened.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "auction/auction-private.h"
#include "base/num.h"

/* What the spool is about: what open_spool fills while it reads, and what a snapshot is made of. */
struct replay {
	struct auc_market *market;
	struct auc_ledger *ledger;
	struct auc_price_history *price_history;
	struct auc_bid_log *bid_log;
	struct auc_job_times *job_times;
	struct auc_posted_answers *answers;
	struct auc_tariff *tariff; /* the last; NULL: none */
};

static void note_report(struct auc_auction *a, const struct auc_spool_report *report);
static enum auc_code recall(struct auc_auction *a);
static bool take_events(struct auc_auction *a, struct auc_events *taken);
static bool copy_all(const struct auc_auction *a, struct replay *copy);
static void clear_all(struct replay *all);
static struct json_object *dump_all(const struct replay *all, struct auc_err *err);
static enum auc_code write_events(struct auc_auction *a, struct auc_err *err);
static enum auc_code write_whole(struct auc_auction *a, struct json_object *records,
				 struct auc_err *err);
static enum auc_code write_snapshot(struct auc_auction *a, struct json_object *records,
				    struct auc_err *err);
static enum auc_code replay_begin(struct auc_auction *a, double now, struct replay *replay,
				  struct auc_err *err);
static enum auc_code replay_event(void *arg, struct json_object *event, struct auc_err *err);

/* Reads into a ledger, a market and a history of its own, without the lock; nobody bids before it
 * is done. */
enum auc_code auc_auction_open_spool(struct auc_auction *a, const char *dir, double now,
				     struct auc_spool_report *report, struct auc_err *err)
{
	struct replay replay = {0};
	struct auc_spool_report unused;
	struct auc_spool *spool = NULL;
	struct auc_err own;
	enum auc_code rc;

	if (!err)
		err = &own;
	if (!report)
		report = &unused;
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
		rc = auc_ledger_audit(replay.ledger, err);
	pthread_mutex_lock(&a->lock);
	if (rc == AUC_OK) {
		auc_ledger_destroy(a->ledger);
		a->ledger = replay.ledger;
		auc_price_history_destroy(a->price_history);
		a->price_history = replay.price_history;
		auc_bid_log_destroy(a->bid_log);
		a->bid_log = replay.bid_log;
		auc_job_times_destroy(a->job_times);
		a->job_times = replay.job_times;
		auc_tariff_free(a->tariff);
		a->tariff = replay.tariff;
		auc_tariff_free(a->next_tariff);
		a->next_tariff = NULL;
		a->fit_added = 0; /* all that was read is new to a fit */
		auc_posted_answers_destroy(a->answers);
		a->answers = replay.answers;
		replay = (struct replay){.market = replay.market};
		rc = auc_auction_rebuild(a, now, err);
		if ((rc == AUC_OK || rc == AUC_EFULL) && recall(a) != AUC_OK)
			rc = auc_auction_no_memory(err);
	}
	if (rc == AUC_OK || rc == AUC_EFULL) {
		a->spool = spool;
		a->recovered = true;
		a->broken[0] = 0;
		note_report(a, report);
		spool = NULL;
	} else {
		snprintf(a->broken, sizeof(a->broken), "%s", err->text);
		/* What was read is of no use; the ledger must not point to the market that goes
		 * now. */
		auc_ledger_destroy(a->ledger);
		a->ledger = auc_ledger_create(a->market, auc_auction_queue_event, a);
	}
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
	auc_spool_close(spool);
	clear_all(&replay);
	return rc;
}

static void note_report(struct auc_auction *a, const struct auc_spool_report *report)
{
	/* What was written in an older format is written anew, as a whole, before anything else. */
	a->writing.missed = report->format < AUC_SPOOL_FORMAT;
	if (report->skipped)
		snprintf(a->warning, sizeof(a->warning),
			 "%" PRIu64 " record%s that prices learn from %s of no use and left "
			 "out, the first: %.400s",
			 report->skipped, auc_plural((double)report->skipped),
			 report->skipped == 1 ? "is" : "are", report->why);
}

/* What the policy knows from now on is what the answers that were kept say. */
static enum auc_code recall(struct auc_auction *a)
{
	struct auc_policy_ctx *ctx;
	enum auc_code rc;

	if (!a->policy->recall)
		return AUC_OK;
	rc = a->policy->create(a->conf->policy_options, &ctx, NULL);
	for (unsigned i = 0; rc == AUC_OK && i < auc_posted_answers_count(a->answers); i++)
		rc = a->policy->recall(ctx, a->market, auc_posted_answers_at(a->answers, i), NULL);
	if (rc == AUC_OK) {
		a->policy->destroy(a->ctx);
		a->ctx = ctx;
	}
	return rc;
}

void auc_auction_close_spool(struct auc_auction *a)
{
	struct auc_events taken = {0};
	struct auc_spool *spool;

	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	spool = a->spool;
	a->spool = NULL;
	a->recovered = false;
	if (take_events(a, &taken))
		json_object_put(taken.list);
	json_object_array_del_idx(a->writing.list, 0, json_object_array_length(a->writing.list));
	a->writing.missed = false;
	pthread_mutex_unlock(&a->lock);
	auc_spool_close(spool);
	pthread_mutex_unlock(&a->admin);
}

enum auc_code auc_auction_commit(struct auc_auction *a, struct auc_err *err)
{
	struct json_object *records = NULL;
	struct auc_events taken;
	struct replay copy = {0};
	bool took, due, whole;
	struct auc_err why = {0};
	enum auc_code rc;

	pthread_mutex_lock(&a->admin);
	if (!a->spool) {
		pthread_mutex_unlock(&a->admin);
		return auc_err_set(err, AUC_ESTATE, "no spool is open");
	}
	/* What a snapshot says must be what the events up to now say: both are taken in one hold of
	 * the lock, and put into words after it. */
	pthread_mutex_lock(&a->lock);
	took = take_events(a, &taken);
	if (took)
		a->writing.missed |= taken.missed;
	due = took && (a->writing.missed || auc_spool_journal_bytes(a->spool) >= a->snapshot_at);
	if (due)
		due = copy_all(a, &copy);
	pthread_mutex_unlock(&a->lock);
	if (due)
		records = dump_all(&copy, NULL);
	clear_all(&copy);
	rc = took ? AUC_OK : auc_auction_no_memory(&why);
	for (size_t i = 0; took && i < json_object_array_length(taken.list); i++)
		auc_event_append(&a->writing,
				 json_object_get(json_object_array_get_idx(taken.list, i)));
	if (took)
		json_object_put(taken.list);
	whole = a->writing.missed;
	if (rc == AUC_OK)
		rc = whole ? write_whole(a, records, &why) : write_events(a, &why);
	pthread_mutex_lock(&a->lock);
	snprintf(a->io_error, sizeof(a->io_error), "%s", why.text);
	pthread_mutex_unlock(&a->lock);
	if (rc == AUC_OK && records) {
		why.text[0] = 0;
		/* The events are safe without it: a failure is shown, and tried again when the
		 * journal has grown. */
		if (!whole)
			(void)write_snapshot(a, records, &why);
		a->snapshot_at = auc_spool_journal_bytes(a->spool) + AUC_SNAPSHOT_BYTES;
		pthread_mutex_lock(&a->lock);
		snprintf(a->warning, sizeof(a->warning), "%s", why.text);
		pthread_mutex_unlock(&a->lock);
	}
	json_object_put(records);
	pthread_mutex_unlock(&a->admin);
	return rc == AUC_OK ? rc : auc_err_set(err, rc, "%s", why.text);
}

static bool take_events(struct auc_auction *a, struct auc_events *taken)
{
	struct json_object *fresh = json_object_new_array();

	if (!fresh)
		return false;
	*taken = a->events;
	a->events = (struct auc_events){.list = fresh};
	return true;
}

/* Of all that but the market; false: there is no memory for it. */
static bool copy_all(const struct auc_auction *a, struct replay *copy)
{
	copy->ledger = auc_ledger_copy(a->ledger);
	copy->price_history = auc_price_history_copy(a->price_history);
	copy->bid_log = auc_bid_log_copy(a->bid_log);
	copy->job_times = auc_job_times_copy(a->job_times);
	copy->answers = auc_posted_answers_copy(a->answers);
	copy->tariff = a->tariff ? auc_tariff_copy(a->tariff) : NULL;
	return copy->ledger && copy->price_history && copy->bid_log && copy->job_times &&
	       copy->answers && (copy->tariff || !a->tariff);
}

static void clear_all(struct replay *all)
{
	auc_ledger_destroy(all->ledger);
	auc_price_history_destroy(all->price_history);
	auc_bid_log_destroy(all->bid_log);
	auc_job_times_destroy(all->job_times);
	auc_posted_answers_destroy(all->answers);
	auc_tariff_free(all->tariff);
	auc_market_destroy(all->market);
}

/* Every record of a snapshot. */
static struct json_object *dump_all(const struct replay *all, struct auc_err *err)
{
	struct auc_events records = {.list = json_object_new_array()};
	enum auc_code rc = records.list ? AUC_OK : auc_auction_no_memory(err);

	if (rc == AUC_OK)
		rc = auc_ledger_dump(all->ledger, auc_event_append, &records, err);
	for (unsigned i = 0; rc == AUC_OK && i < auc_price_history_count(all->price_history); i++)
		auc_event_append(&records, auc_price_history_event(all->price_history, i));
	for (unsigned i = 0; rc == AUC_OK && i < auc_bid_log_count(all->bid_log); i++)
		auc_event_append(&records, auc_bid_log_event(all->bid_log, i));
	for (unsigned i = 0; rc == AUC_OK && i < auc_job_times_count(all->job_times); i++)
		auc_event_append(&records,
				 auc_job_times_event(auc_job_times_at(all->job_times, i)));
	for (unsigned i = 0; rc == AUC_OK && i < auc_posted_answers_count(all->answers); i++)
		auc_event_append(&records, auc_posted_answers_event(all->answers, i));
	if (rc == AUC_OK && all->tariff)
		auc_event_append(&records, auc_tariff_event(all->tariff));
	if (rc == AUC_OK && records.missed)
		rc = auc_auction_no_memory(err);
	if (rc == AUC_OK)
		return records.list;
	json_object_put(records.list);
	return NULL;
}

static enum auc_code write_events(struct auc_auction *a, struct auc_err *err)
{
	size_t n = json_object_array_length(a->writing.list), i;
	enum auc_code rc = AUC_OK;

	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = auc_spool_add(a->spool, json_object_array_get_idx(a->writing.list, i), err);
	if (rc != AUC_OK)
		i--;
	json_object_array_del_idx(a->writing.list, 0, i);
	return rc == AUC_OK ? auc_spool_commit(a->spool, err) : rc;
}

/*
 * An event was missed, so that the journal cannot say what happened; a snapshot says what is. What
 * the spool's queue has came before.
 */
static enum auc_code write_whole(struct auc_auction *a, struct json_object *records,
				 struct auc_err *err)
{
	enum auc_code rc = records ? auc_spool_commit(a->spool, err) : auc_auction_no_memory(err);

	if (rc == AUC_OK)
		rc = write_snapshot(a, records, err);
	if (rc != AUC_OK)
		return rc;
	json_object_array_del_idx(a->writing.list, 0, json_object_array_length(a->writing.list));
	a->writing.missed = false;
	return AUC_OK;
}

static enum auc_code write_snapshot(struct auc_auction *a, struct json_object *records,
				    struct auc_err *err)
{
	enum auc_code rc = auc_spool_snapshot_begin(a->spool, err);

	for (size_t i = 0; i < json_object_array_length(records) && rc == AUC_OK; i++)
		rc = auc_spool_snapshot_add(a->spool, json_object_array_get_idx(records, i), err);
	return rc == AUC_OK ? auc_spool_snapshot_end(a->spool, err) : rc;
}

void auc_auction_queue_event(void *arg, struct json_object *event)
{
	struct auc_auction *a = arg;

	auc_event_append(&a->events, event);
}

void auc_event_append(void *arg, struct json_object *event)
{
	struct auc_events *events = arg;

	if (event && !json_object_array_add(events->list, event))
		return;
	json_object_put(event);
	events->missed = true;
}

static enum auc_code replay_begin(struct auc_auction *a, double now, struct replay *replay,
				  struct auc_err *err)
{
	struct json_object *none = json_object_new_array();
	enum auc_code rc =
		none ? auc_auction_build_market(a, none, AUC_SLOT_NONE, now, &replay->market, err)
		     : auc_auction_no_memory(err);

	json_object_put(none);
	if (rc != AUC_OK)
		return rc;
	replay->ledger = auc_ledger_create(replay->market, auc_auction_queue_event, a);
	replay->price_history = auc_price_history_create(a->conf->history_bids);
	replay->bid_log = auc_bid_log_create(a->conf->history_bids);
	replay->job_times = auc_job_times_create(true);
	replay->answers = auc_posted_answers_create();
	if (replay->bid_log)
		auc_bid_log_set_period(replay->bid_log, auc_conf_period(a->conf));
	return replay->ledger && replay->price_history && replay->bid_log && replay->job_times &&
			       replay->answers
		       ? AUC_OK
		       : auc_auction_no_memory(err);
}

static enum auc_code replay_event(void *arg, struct json_object *event, struct auc_err *err)
{
	struct replay *replay = arg;
	struct auc_tariff *tariff;
	enum auc_code rc;

	if (auc_price_history_knows(event)) {
		rc = auc_price_history_apply(replay->price_history, event, err);
	} else if (auc_bid_log_knows(event)) {
		rc = auc_bid_log_apply(replay->bid_log, event, err);
	} else if (auc_job_times_knows(event)) {
		rc = auc_job_times_apply(replay->job_times, event, err);
	} else if (auc_posted_answers_knows(event)) {
		rc = auc_posted_answers_apply(replay->answers, event, err);
	} else if (auc_tariff_knows(event)) {
		rc = auc_tariff_read(event, &tariff, err);
		if (rc == AUC_OK) {
			auc_tariff_free(replay->tariff);
			replay->tariff = tariff;
		}
	} else {
		return auc_ledger_apply(replay->ledger, event, err);
	}
	/* Nobody was promised anything by what prices learn from: they can do without. */
	return rc == AUC_ECORRUPT ? AUC_EINVAL : rc;
}
