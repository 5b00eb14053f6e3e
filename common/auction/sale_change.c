/*
 * sale_change.c - a sale that gets another plan while it lives: more slots at its end, there or
 * elsewhere, or another server instead of one that fails (auction.h).
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/bid_gang.h"
#include "input/bid_resolve.h"
#include "auction/auction-private.h"
#include "market/replan.h"

#define LATER_MAX 100   /* slots */
#define AHEAD     12    /* slots that are looked at for what goes on elsewhere */
#define LEAST     120.0 /* seconds that it buys: it begins again there */

/* Plan, value and payment of S with more slots. */
typedef enum auc_code (*more_fn)(struct auc_auction *a, const struct auc_sale *s,
				 struct auc_plan *plan, auc_money *value, auc_money *payment,
				 struct auc_err *err);

static enum auc_code begin(struct auc_auction *a, uint32_t job_id, const struct auc_sale **sale,
			   struct auc_err *err);
static enum auc_code extend(struct auc_auction *a, const struct auc_sale *s, struct auc_plan *plan,
			    auc_money *value, auc_money *payment, struct auc_err *err);
static enum auc_code go_on(struct auc_auction *a, const struct auc_sale *s, struct auc_plan *plan,
			   auc_money *value, auc_money *payment, struct auc_err *err);
static enum auc_code price_more(struct auc_auction *a, const struct auc_sale *s,
				const struct auc_run *run, struct auc_plan *plan, auc_money *value,
				auc_money *payment, struct auc_err *err);
static enum auc_code buy_more(struct auc_auction *a, uint32_t job_id, more_fn more, char **receipt,
			      struct auc_err *err);
static bool all_up(const struct auc_market *m, const struct auc_plan *plan);
static enum auc_code move(struct auc_auction *a, const struct auc_sale *s, unsigned server,
			  auc_slot from, struct auc_err *err);
static bool trains_on(const struct auc_plan *plan, unsigned server, auc_slot from);
static enum auc_code put_off(struct auc_auction *a, const struct auc_sale *s, auc_slot from,
			     auc_slot until, struct auc_err *err);
static enum auc_code try_later(struct auc_auction *a, const struct auc_sale *s, auc_slot from,
			       unsigned later, struct auc_err *err);
static bool says(const char *bid, const char *word);
static enum auc_code take_later(struct auc_auction *a, const struct auc_sale *s,
				struct auc_plan *made, unsigned later, struct auc_err *err);
static const unsigned *uploads_of(struct auc_auction *a, const struct auc_sale *s, bool gone);
static enum auc_code set_completion(const struct auc_auction *a, const struct auc_sale *s,
				    struct auc_plan *plan, auc_slot completion,
				    struct auc_err *err);

bool auc_sale_extends(const struct auc_auction *a, const struct auc_sale *s)
{
	/* What is to be done in it is its owner's business, so nobody knows what more is worth. */
	if (s->plan.block)
		return false;
	if (says(s->bid, " overrun=extend"))
		return true;
	/* Where each chunk has its place or its turn, or a price was taken, no slot is for sale. */
	return a->conf->extends && !says(s->bid, " overrun=kill") && !a->policy->stepper &&
	       !a->policy->posts && !s->plan.nchunks && !(s->plan.chunk_mb > 0);
}

/* Canonical texts have this word or no such word. */
static bool says(const char *bid, const char *word)
{
	const char *at = bid ? strstr(bid, word) : NULL;

	return at && (at[strlen(word)] == '\0' || at[strlen(word)] == ' ');
}

bool auc_sale_goes_on(const struct auc_auction *a, const struct auc_sale *s)
{
	return auc_sale_extends(a, s) && says(s->bid, " requeue=yes") && !a->policy->stepper &&
	       !s->plan.nchunks && !(s->plan.chunk_mb > 0);
}

bool auc_sale_notice(const struct auc_sale *s)
{
	return says(s->bid, " notice=yes");
}

enum auc_code auc_auction_extend(struct auc_auction *a, uint32_t job_id, char **receipt,
				 struct auc_err *err)
{
	return buy_more(a, job_id, extend, receipt, err);
}

enum auc_code auc_auction_go_on(struct auc_auction *a, uint32_t job_id, char **receipt,
				struct auc_err *err)
{
	return buy_more(a, job_id, go_on, receipt, err);
}

static enum auc_code buy_more(struct auc_auction *a, uint32_t job_id, more_fn more, char **receipt,
			      struct auc_err *err)
{
	const struct auc_sale *s = NULL;
	struct auc_plan plan;
	auc_money value = 0, payment = 0;
	enum auc_code rc;

	auc_plan_init(&plan);
	pthread_mutex_lock(&a->lock);
	rc = begin(a, job_id, &s, err);
	if (rc == AUC_OK)
		rc = more(a, s, &plan, &value, &payment, err);
	if (rc == AUC_OK)
		rc = auc_ledger_change(a->ledger, job_id, &plan, value, payment, err);
	if (rc == AUC_OK)
		rc = auc_auction_give_receipt(a, s, 0, NULL, receipt, err);
	pthread_mutex_unlock(&a->lock);
	auc_plan_clear(&plan);
	return rc;
}

enum auc_code auc_auction_move(struct auc_auction *a, uint32_t job_id, const char *server,
			       double since, char **receipt, struct auc_err *err)
{
	const struct auc_sale *s = NULL;
	enum auc_code rc;
	auc_slot from;
	int k = -1;

	pthread_mutex_lock(&a->lock);
	rc = begin(a, job_id, &s, err);
	if (rc == AUC_OK && (k = auc_market_find_server(a->market, server)) < 0)
		rc = auc_err_set(err, AUC_ENOENT, "server '%.80s' is not known", server);
	from = auc_slot_of(since, a->conf->slot_seconds);
	if (rc == AUC_OK && from < s->plan.start)
		from = s->plan.start;
	if (rc == AUC_OK)
		rc = move(a, s, (unsigned)k, from, err);
	if (rc == AUC_OK)
		rc = auc_auction_give_receipt(a, s, 0, NULL, receipt, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

enum auc_code auc_auction_put_off(struct auc_auction *a, uint32_t job_id, double since,
				  double until, char **receipt, struct auc_err *err)
{
	const struct auc_sale *s = NULL;
	enum auc_code rc;

	pthread_mutex_lock(&a->lock);
	rc = begin(a, job_id, &s, err);
	if (rc == AUC_OK)
		rc = put_off(a, s, auc_slot_of(since, a->conf->slot_seconds),
			     auc_slot_from(until, a->conf->slot_seconds), err);
	if (rc == AUC_OK)
		rc = auc_auction_give_receipt(a, s, 0, NULL, receipt, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

enum auc_code auc_auction_miss(struct auc_auction *a, uint32_t job_id, double missing,
			       struct auc_err *err)
{
	const struct auc_sale *s = NULL;
	struct auc_plan plan;
	enum auc_code rc;

	auc_plan_init(&plan);
	pthread_mutex_lock(&a->lock);
	rc = begin(a, job_id, &s, err);
	if (rc == AUC_OK && (!s->plan.block || s->state != AUC_SALE_RUNNING))
		rc = auc_err_set(err, AUC_EINVAL, "job %" PRIu32 ": no block that runs", job_id);
	if (rc == AUC_OK && missing > s->plan.missing) {
		rc = auc_plan_copy(&plan, &s->plan, err);
		plan.missing = missing;
		if (rc == AUC_OK)
			rc = auc_ledger_change(a->ledger, job_id, &plan, s->value, s->payment, err);
	}
	pthread_mutex_unlock(&a->lock);
	auc_plan_clear(&plan);
	return rc;
}

static enum auc_code begin(struct auc_auction *a, uint32_t job_id, const struct auc_sale **sale,
			   struct auc_err *err)
{
	enum auc_code rc = a->recovered ? AUC_OK : auc_auction_check_ready(a, err);

	if (rc != AUC_OK)
		return rc;
	*sale = auc_ledger_find_job(a->ledger, job_id);
	if (!*sale || !(*sale)->plan.nruns)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no plan here", job_id);
	return AUC_OK;
}

/* One more slot with the layout of its last. */
static enum auc_code extend(struct auc_auction *a, const struct auc_sale *s, struct auc_plan *plan,
			    auc_money *value, auc_money *payment, struct auc_err *err)
{
	struct auc_plan slot; /* the new one alone; borrows */
	struct auc_run run;
	enum auc_code rc;

	if (!auc_sale_extends(a, s) || s->state != AUC_SALE_RUNNING)
		return auc_err_set(err, AUC_ESTATE, "job %" PRIu32 ": does not buy more slots",
				   s->job_id);
	if (s->plan.completion > auc_market_last(a->market))
		return auc_err_set(err, AUC_EFULL, "slot %lld is not for sale yet",
				   (long long)s->plan.completion);
	rc = auc_plan_copy(plan, &s->plan, err);
	if (rc != AUC_OK)
		return rc;
	plan->runs[plan->nruns - 1].to = s->plan.completion;
	run = plan->runs[plan->nruns - 1];
	run.from = run.to;
	slot = *plan;
	slot.runs = &run;
	slot.nruns = 1;
	if (!all_up(a->market, &slot))
		return auc_err_set(err, AUC_EFULL, "a node of its last slot is down");
	return price_more(a, s, &run, plan, value, payment, err);
}

/*
 * Slots on other nodes, or later on its own, as soon as there are some that it is worth. A job that
 * is requeued for them begins again, from what it has kept.
 */
static enum auc_code go_on(struct auc_auction *a, const struct auc_sale *s, struct auc_plan *plan,
			   auc_money *value, auc_money *payment, struct auc_err *err)
{
	unsigned slots = (unsigned)auc_ceil(LEAST / a->conf->slot_seconds);
	enum auc_code rc = AUC_EFULL;
	const unsigned *upload;

	if (!auc_sale_goes_on(a, s) || s->state != AUC_SALE_RUNNING)
		return auc_err_set(err, AUC_ESTATE, "job %" PRIu32 ": does not go on elsewhere",
				   s->job_id);
	auc_err_set(err, AUC_EFULL, "its slots elsewhere would not be for sale yet");
	upload = uploads_of(a, s, false);
	for (unsigned later = 0; later < AHEAD && (rc == AUC_EFULL || rc == AUC_ESTATE); later++) {
		if (s->plan.completion + later + slots - 1 > auc_market_last(a->market))
			break;
		rc = auc_plan_go_on(a->market, &s->plan, slots, later, upload, plan, err);
		if (rc == AUC_OK)
			rc = price_more(a, s, &plan->runs[plan->nruns - 1], plan, value, payment,
					err);
	}
	return rc;
}

/* Completion, value and payment of PLAN, which is that of S and RUN. */
static enum auc_code price_more(struct auc_auction *a, const struct auc_sale *s,
				const struct auc_run *run, struct auc_plan *plan, auc_money *value,
				auc_money *payment, struct auc_err *err)
{
	struct auc_run more = *run;
	struct auc_plan alone;
	char why[256];
	enum auc_code rc = set_completion(a, s, plan, run->to + 1, err);

	if (rc != AUC_OK)
		return rc;
	if (auc_auction_broken_limit(a, a->market, plan, why, sizeof(why)))
		return auc_err_set(err, AUC_EFULL, "%s", why);
	rc = auc_auction_keep_caps(a, s, plan, err);
	if (rc != AUC_OK)
		return rc;
	alone = *plan;
	alone.runs = &more;
	alone.nruns = 1;
	alone.start = more.from;
	alone.cost = auc_plan_cost(&alone, a->market);
	plan->cost = auc_money_to(s->payment) + alone.cost;
	*value = auc_plan_value(plan);
	*payment = s->payment + auc_money_from(alone.cost);
	if (*payment >= *value)
		return auc_err_set(err, AUC_ESTATE,
				   "%lld more slots would cost %.6f and leave a value of %.6f for "
				   "%.6f paid",
				   (long long)(more.to - more.from + 1), alone.cost,
				   auc_money_to(*value), auc_money_to(*payment));
	return AUC_OK;
}

/* True if nothing of PLAN's first run is on a server that is down or closed when it begins. */
static bool all_up(const struct auc_market *m, const struct auc_plan *plan)
{
	const struct auc_run *r = plan->runs;

	for (unsigned i = 0; i < r->nshares; i++)
		if (!auc_market_hosts(m, plan->shares[r->first_share + i].server) ||
		    auc_market_is_closed(m, plan->shares[r->first_share + i].server, r->from))
			return false;
	return true;
}

/* True if SERVER trains chunks that lie or are brought there, or sends some, in a slot from FROM
 * on.
 */
static bool trains_on(const struct auc_plan *plan, unsigned server, auc_slot from)
{
	const struct auc_share *share;

	if (!(plan->chunk_mb > 0))
		return false;
	for (const struct auc_run *run = plan->runs; run < plan->runs + plan->nruns; run++) {
		share = run->to >= from ? auc_plan_share_on(plan, run, server) : NULL;
		if (share && share->workers)
			return true;
	}
	for (unsigned i = 0; i < plan->nmoves; i++)
		if (plan->moves[i].slot >= from && plan->moves[i].from == server)
			return true;
	return false;
}

/* The same completion if there are other servers, else the next that there are; as long as the bid
 * is worth what it pays. */
static enum auc_code move(struct auc_auction *a, const struct auc_sale *s, unsigned server,
			  auc_slot from, struct auc_err *err)
{
	enum auc_code rc = AUC_EFULL;
	const unsigned *upload;
	struct auc_plan made;
	bool gives = false;

	for (unsigned r = 0; r < s->plan.nruns && !gives; r++)
		gives = s->plan.runs[r].to >= from &&
			auc_plan_share_on(&s->plan, &s->plan.runs[r], server);
	if (gives && (s->plan.nchunks || trains_on(&s->plan, server, from)))
		return auc_err_set(err, AUC_EFULL, "chunks of job %" PRIu32 " lie on server %s",
				   s->job_id, auc_market_server_name(a->market, server));
	if (!gives)
		return auc_err_set(err, AUC_ENOENT, "server %s gives nothing to job %" PRIu32,
				   auc_market_server_name(a->market, server), s->job_id);
	upload = uploads_of(a, s, !*auc_market_server_group(a->market, server));
	auc_plan_init(&made);
	for (unsigned later = 0; later <= LATER_MAX && rc == AUC_EFULL; later++) {
		auc_slot completion = s->plan.completion + later;

		if (later && completion - 1 > auc_market_last(a->market))
			break;
		rc = auc_plan_without(a->market, &s->plan, server, from, later, upload, &made, err);
		if (rc == AUC_OK)
			rc = take_later(a, s, &made, later, err);
	}
	auc_plan_clear(&made);
	if (rc == AUC_ESTATE)
		rc = auc_err_set(err, AUC_EFULL,
				 "no other node has room in time for what %s was to give",
				 auc_market_server_name(a->market, server));
	return rc;
}

/*
 * What S missed from FROM on comes when slot UNTIL begins. Where there is no room for that, a plan
 * that has more slots loses those before, which are paid back in the end; one that has none comes
 * when there is room.
 */
static enum auc_code put_off(struct auc_auction *a, const struct auc_sale *s, auc_slot from,
			     auc_slot until, struct auc_err *err)
{
	unsigned least = (unsigned)(until - from);
	struct auc_plan cut;
	enum auc_code rc;

	if (s->plan.nchunks)
		return auc_err_set(err, AUC_ESTATE,
				   "job %" PRIu32 ": its plan is revised as others come and go",
				   s->job_id);
	if (until <= from || from >= s->plan.completion)
		return auc_err_set(err, AUC_EINVAL,
				   "job %" PRIu32 ": nothing is missed in slots %lld to %lld of a "
				   "plan that ends with %lld",
				   s->job_id, (long long)from, (long long)until - 1,
				   (long long)s->plan.completion - 1);
	rc = try_later(a, s, from, least, err);
	if (rc == AUC_OK || rc == AUC_ENOMEM)
		return rc;
	auc_plan_init(&cut);
	rc = auc_plan_cut(&s->plan, from, until, &cut, err);
	if (rc == AUC_OK)
		rc = auc_ledger_change(a->ledger, s->job_id, &cut, s->value, s->payment, err);
	auc_plan_clear(&cut);
	for (unsigned later = least + 1; later <= least + LATER_MAX && rc == AUC_EFULL; later++)
		rc = try_later(a, s, from, later, err);
	return rc == AUC_ESTATE ? auc_err_set(err, AUC_EFULL, "no node has room in time") : rc;
}

/* AUC_EFULL: no room; AUC_ESTATE: nor would there be later. */
static enum auc_code try_later(struct auc_auction *a, const struct auc_sale *s, auc_slot from,
			       unsigned later, struct auc_err *err)
{
	struct auc_plan made;
	enum auc_code rc;

	if (s->plan.chunk_mb > 0)
		return auc_err_set(err, AUC_ESTATE, "its data are where and when its plan says");
	if (s->plan.completion + later - 1 > auc_market_last(a->market))
		return auc_err_set(err, AUC_ESTATE, "its last slot would not be for sale yet");
	auc_plan_init(&made);
	rc = auc_plan_later(a->market, &s->plan, from, later, uploads_of(a, s, false), &made, err);
	if (rc == AUC_OK)
		rc = take_later(a, s, &made, later, err);
	auc_plan_clear(&made);
	return rc;
}

/* S gets MADE, which completes LATER slots later. AUC_EFULL: a limit of its owner's would keep it
 * from that; AUC_ESTATE: it is worth less than it pays. */
static enum auc_code take_later(struct auc_auction *a, const struct auc_sale *s,
				struct auc_plan *made, unsigned later, struct auc_err *err)
{
	auc_money value = s->value;
	enum auc_code rc = AUC_OK;

	if (later) {
		rc = set_completion(a, s, made, s->plan.completion + later, err);
		value = auc_plan_value(made);
	}
	if (rc == AUC_OK && value < s->payment)
		rc = auc_err_set(err, AUC_ESTATE, "it would be worth less than it pays by then");
	if (rc == AUC_OK)
		rc = auc_auction_keep_caps(a, s, made, err);
	if (rc == AUC_OK)
		rc = auc_ledger_change(a->ledger, s->job_id, made, value, s->payment, err);
	return rc;
}

/* When S's data are on other servers, in a->question.job: for one whose partition is not known any
 * more (GONE), and for a gang, whose bid may rule servers out. NULL: nobody knows, or all are as
 * good. */
static const unsigned *uploads_of(struct auc_auction *a, const struct auc_sale *s, bool gone)
{
	struct auc_bid *bid = gone || s->plan.gang ? malloc(sizeof(*bid)) : NULL;
	bool known =
		bid && auc_bid_parse(a->conf, s->bid, bid, NULL) == AUC_OK &&
		auc_bid_resolve(a->market, bid, s->plan.arrival, &a->question.job, NULL) == AUC_OK;

	free(bid);
	return known ? a->question.job.upload : NULL;
}

/* PLAN's completion and what it is worth then. */
static enum auc_code set_completion(const struct auc_auction *a, const struct auc_sale *s,
				    struct auc_plan *plan, auc_slot completion, struct auc_err *err)
{
	struct auc_bid *bid = malloc(sizeof(*bid));
	enum auc_code rc;

	if (!bid)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for a longer plan");
	rc = auc_bid_parse(a->conf, s->bid, bid, err);
	if (rc == AUC_OK) {
		plan->completion = completion;
		auc_bid_gang_end(&bid->gang, a->conf->slot_seconds, plan->arrival, &bid->utility);
		plan->value =
			auc_utility_value(&bid->utility, (double)(completion - plan->arrival));
	}
	free(bid);
	return rc;
}
