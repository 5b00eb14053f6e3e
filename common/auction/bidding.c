/*
 * bidding.c - one bid: the policy's decision on it, the offer, the lien, and what is learned.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auction/sale_parts.h"
#include "input/bid_resolve.h"
#include "auction/auction-private.h"
#include "base/clock.h"
#include "ledger/receipt.h"
#include "market/replan.h"

#define ABSURD    0.1 /* of a price: a limit below that says nothing */
#define CAP_TRIES 6   /* of a decision that breaks a limit of Slurm: each looks at all sales */

/* How a decision that breaks a limit is made once more. */
enum again { AS_IT_IS, AGAIN, ELSEWHERE, NEVER };

static enum auc_code bid_now(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
			     double now, bool hold, struct auc_offer *offer, struct auc_err *err);
static enum auc_code bid_held(struct auc_auction *a, const char *id, const struct auc_bid *bid,
			      double now, bool task, struct auc_offer *offer, struct auc_err *err);
static void learn_from(struct auc_auction *a, struct auc_question *q, uint32_t uid, double now,
		       const char *sale);
static enum auc_code decide(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
			    uint32_t uid, double now, struct auc_err *err);
static enum auc_code ask_user(struct auc_auction *a, struct auc_question *q,
			      const struct auc_bid *bid, uint32_t uid, double now, bool hold,
			      struct auc_err *err);
static void remember_refusal(struct auc_auction *a, uint32_t uid, double now, enum auc_code rc,
			     const struct auc_offer *offer, const struct auc_err *err);
static void count(struct auc_auction *a, struct auc_question *q, enum auc_code rc,
		  const struct auc_offer *offer);
static bool teaches(struct auc_auction *a, struct auc_question *q, const struct auc_bid *bid,
		    uint32_t uid, double now);
static void await_job(struct auc_auction *a, struct auc_question *q, const char *sale);
static enum auc_code allowed(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
			     auc_slot arrival, struct auc_err *err);
static enum again keep_limits(const struct auc_auction *a, struct auc_question *q,
			      struct auc_bid *bid, auc_slot *arrival, const char **partition,
			      char *why, size_t size);
static void begin_at(const struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
		     auc_slot from, auc_slot *arrival);
static enum auc_code sooner(struct auc_auction *a, struct auc_question *q, double limit,
			    uint64_t steps, struct auc_err *err);
static bool on_wholes(const struct auc_market *m, const struct auc_plan *plan);
static enum auc_code keep_sites(struct auc_auction *a, struct auc_question *q,
				const struct auc_bid *bid, struct auc_err *err);
static enum auc_code fill_offer(struct auc_auction *a, struct auc_question *q,
				struct auc_offer *offer, struct auc_err *err);
static enum auc_code put_lien(struct auc_auction *a, struct auc_question *q, uint32_t uid,
			      double now, struct auc_offer *offer, struct auc_err *err);
static enum auc_code learn(struct auc_auction *a, struct auc_question *q, struct auc_err *err);

enum auc_code auc_auction_bid(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
			      double now, bool hold, struct auc_offer *offer, struct auc_err *err)
{
	double began = auc_clock_now();
	enum auc_code rc;

	pthread_mutex_lock(&a->lock);
	a->question.again = a->question.task = false;
	rc = bid_now(a, bid, uid, now, hold, offer, err);
	auc_times_add(&a->activity.wait, a->question.locked - began);
	pthread_mutex_unlock(&a->lock);
	if (rc != AUC_OK)
		auc_offer_clear(offer);
	return rc;
}

enum auc_code auc_auction_bid_again(struct auc_auction *a, const char *id,
				    const struct auc_bid *bid, double now, struct auc_offer *offer,
				    struct auc_err *err)
{
	return bid_held(a, id, bid, now, false, offer, err);
}

enum auc_code auc_auction_bid_task(struct auc_auction *a, const char *id, const struct auc_bid *bid,
				   double now, struct auc_offer *offer, struct auc_err *err)
{
	return bid_held(a, id, bid, now, true, offer, err);
}

/* TASK: of an array, and decided for the first time. */
static enum auc_code bid_held(struct auc_auction *a, const char *id, const struct auc_bid *bid,
			      double now, bool task, struct auc_offer *offer, struct auc_err *err)
{
	struct auc_held_bid *held;
	enum auc_code rc;

	memset(offer, 0, sizeof(*offer));
	pthread_mutex_lock(&a->lock);
	held = auc_held_bids_find(a->held, id);
	a->question.again = !task;
	a->question.task = task;
	rc = held ? bid_now(a, bid, held->uid, now, true, offer, err)
		  : auc_err_set(err, AUC_ENOENT, "bid %s does not stand", id);
	/* What could not be decided is to be. */
	if (held && rc == AUC_OK) {
		held->seen = auc_market_frees(a->market);
		held->left = a->question.left;
		held->payers = a->question.payers;
		held->changed = false;
	}
	pthread_mutex_unlock(&a->lock);
	if (rc != AUC_OK)
		auc_offer_clear(offer);
	return rc;
}

/* The lock is held. */
static enum auc_code bid_now(struct auc_auction *a, const struct auc_bid *bid, uint32_t uid,
			     double now, bool hold, struct auc_offer *offer, struct auc_err *err)
{
	struct auc_question *q = &a->question;
	const struct auc_bid *asked = bid;
	bool first = hold && !q->again;
	double decided;
	enum auc_code rc;

	memset(offer, 0, sizeof(*offer));
	auc_plan_init(&offer->plan);
	q->locked = auc_clock_now();
	q->bid = *bid;
	bid = &q->bid;
	rc = auc_auction_check_open(a, err);
	if (rc == AUC_OK)
		rc = auc_auction_allows(a, q, uid, now, hold, err);
	if (rc == AUC_OK && (hold || a->policy->posts) && !(q->text = auc_bid_print(bid)))
		rc = auc_auction_no_memory(err);
	if (rc == AUC_OK)
		rc = decide(a, q, &q->bid, uid, now, err);
	decided = auc_clock_now();
	if (rc == AUC_OK && a->policy->posts)
		rc = ask_user(a, q, bid, uid, now, hold, err);
	if (rc == AUC_OK)
		auc_auction_keep_budget(q);
	if (rc == AUC_OK && hold)
		rc = keep_sites(a, q, bid, err);
	if (rc == AUC_OK)
		rc = fill_offer(a, q, offer, err);
	if (rc == AUC_OK && !hold)
		auc_auction_stand(a, q, asked, uid, now, offer);
	/* To find what would be accepted takes longer than a decision. */
	if (rc == AUC_OK && (!q->again || offer->accepted) &&
	    !(offer->message = auc_offer_message(a, q, offer, hold)))
		rc = auc_auction_no_memory(err);
	if (rc == AUC_OK && hold && offer->accepted)
		rc = put_lien(a, q, uid, now, offer, err);
	else if (rc == AUC_OK && first)
		auc_ledger_refuse(a->ledger, auc_reason_word(offer->reason));
	if (rc == AUC_OK && first)
		learn_from(a, q, uid, now, offer->sale);
	if (first) {
		count(a, q, rc, offer);
		if (!q->task)
			remember_refusal(a, uid, now, rc, offer, err);
	}
	auc_times_add(&a->activity.decision, decided - q->locked);
	auc_times_add(&a->activity.held, auc_clock_now() - q->locked);
	free(q->text);
	free(q->sites);
	q->text = q->sites = NULL;
	q->bid.caps = NULL; /* it is the caller's */
	return rc;
}

/* Only now: the price of this bid does not know this bid. */
static void learn_from(struct auc_auction *a, struct auc_question *q, uint32_t uid, double now,
		       const char *sale)
{
	bool again = false;

	if (!auc_conf_learns(a->conf))
		return;
	(void)auc_auction_remember(a, q, uid, now, sale, &again, NULL);
	/* From what it states. */
	if (!again && q->bid.planned > 0) {
		q->bid.planned = 0;
		again = auc_bid_resolve(a->market, &q->bid, q->job.arrival, &q->job, NULL) !=
			AUC_OK;
	}
	if (!again)
		(void)learn(a, q, NULL);
}

/* For who asks later, on another host. */
static void remember_refusal(struct auc_auction *a, uint32_t uid, double now, enum auc_code rc,
			     const struct auc_offer *offer, const struct auc_err *err)
{
	const char *text = rc == AUC_OK ? offer->message : err ? err->text : NULL;

	if (text && !offer->accepted)
		auc_refusals_keep(a->refusals, uid, now, text);
}

/* A posted price asks for no value, and a policy that steps has no bids. */
static void count(struct auc_auction *a, struct auc_question *q, enum auc_code rc,
		  const struct auc_offer *offer)
{
	bool values = rc == AUC_OK && !a->policy->posts && !a->policy->stepper;

	auc_activity_bid(&a->activity, rc, offer->accepted ? AUC_REASON_NONE : offer->reason,
			 values ? auc_utility_value(&q->job.utility, 0) : 0,
			 values && offer->accepted ? auc_money_to(offer->value) : 0);
}

void auc_offer_clear(struct auc_offer *o)
{
	auc_plan_clear(&o->plan);
	free(o->receipt);
	free(o->parts);
	free(o->message);
	memset(o, 0, sizeof(*o));
}

/* Into q->job and q->decision. */
static enum auc_code decide(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
			    uint32_t uid, double now, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct auc_cap_break cap;
	auc_slot arrival;
	char why[512];

	if (!a->nspecs)
		rc = auc_err_set(err, AUC_ESTATE, "the auction has no nodes to sell");
	if (rc != AUC_OK)
		return rc;
	auc_auction_pass_time(a, now, NULL);
	arrival = auc_auction_arrival(a, now);
	q->ruled_out[0] = '\0';
	q->later = false;
	q->uid = uid;
	rc = auc_auction_budget(a, q, uid, now, err);
	if (rc != AUC_OK)
		return rc;
	if (!bid->accept)
		return allowed(a, q, bid, arrival, err);
	rc = auc_bid_resolve(a->market, bid, arrival, &q->job, err);
	if (rc == AUC_OK)
		rc = auc_auction_take(a, q, bid, uid, now, err);
	if (rc == AUC_OK &&
	    auc_auction_broken_limit(a, a->market, &q->decision.plan, why, sizeof(why)))
		rc = auc_err_set(err, AUC_EFULL, "the offer cannot be taken now: %s", why);
	if (rc == AUC_OK && auc_auction_breaks_cap(a, q, &cap))
		rc = auc_err_set(err, AUC_EFULL, "the offer cannot be taken now: %s", cap.why);
	return rc;
}

auc_slot auc_auction_arrival(const struct auc_auction *a, double now)
{
	if (a->policy->stepper)
		return auc_auction_first_open(a, now);
	if (a->conf->late_start > 0)
		return auc_slot_from(now - a->conf->late_start, a->conf->slot_seconds);
	return auc_slot_from(now + a->conf->start_margin, a->conf->slot_seconds);
}

/* The decision on BID where limits of Slurm allow it: what does not is kept out, which BID says
 * then. */
static enum auc_code allowed(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
			     auc_slot arrival, struct auc_err *err)
{
	struct auc_decision *d = &q->decision;
	uint64_t steps = AUC_MOST_STEPS;
	size_t len = 0, size = sizeof(q->ruled_out);
	const char *partition;
	enum again again = AGAIN;
	char why[512];

	/* Each time with a partition or a shape less, or later. */
	for (unsigned i = 0; i <= a->nlimits + CAP_TRIES && again != NEVER; i++) {
		enum auc_code rc = auc_auction_quote(a, q, bid, arrival, &steps, err);

		if (rc != AUC_OK || (!d->accepted && d->reason != AUC_REASON_PAYOFF && !d->offered))
			return rc;
		again = keep_limits(a, q, bid, &arrival, &partition, why, sizeof(why));
		if (again == AS_IT_IS)
			return AUC_OK;
		if (again == ELSEWHERE && !auc_auction_leave(a, bid, partition))
			again = NEVER;
		if (len < size)
			len += (size_t)snprintf(q->ruled_out + len, size - len, "%s%s",
						len ? "; " : "", why);
	}
	return auc_err_set(err, AUC_EFULL, "refused: %s", q->ruled_out);
}

/* Whether Q's decision keeps to all limits; else BID or *ARRIVAL is changed to what may, or
 * *PARTITION is to be left. WHY: the limit. */
static enum again keep_limits(const struct auc_auction *a, struct auc_question *q,
			      struct auc_bid *bid, auc_slot *arrival, const char **partition,
			      char *why, size_t size)
{
	const struct auc_plan *plan = &q->decision.plan;
	const struct auc_partition_limit *limit =
		auc_auction_broken_limit(a, a->market, plan, why, size);
	struct auc_cap_break cap;

	*partition = limit ? limit->partition : NULL;
	if (limit)
		return ELSEWHERE;
	if (!auc_auction_breaks_cap(a, q, &cap))
		return AS_IT_IS;
	snprintf(why, size, "%s", cap.why);
	if (cap.from) {
		begin_at(a, q, bid, cap.from, arrival);
		return AGAIN;
	}
	if ((!*cap.cap->partition || bid->npartitions == 1) && auc_cap_drop_shapes(&cap, bid))
		return AGAIN;
	*partition = cap.cap->partition;
	return **partition ? ELSEWHERE : NEVER;
}

/* BID's job does not begin before slot FROM, and what it is worth counts from *ARRIVAL as before.
 */
static void begin_at(const struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
		     auc_slot from, auc_slot *arrival)
{
	q->later = true;
	if (bid->gang.nshapes) {
		bid->gang.begin = (double)from * a->conf->slot_seconds;
		return;
	}
	if (!(bid->since > 0))
		bid->since = (double)*arrival * a->conf->slot_seconds;
	*arrival = from;
}

enum auc_code auc_auction_look_up(struct auc_auction *a, const struct auc_bid *bid, double now,
				  struct auc_err *err)
{
	struct auc_question *q = &a->question;
	enum auc_code rc = auc_auction_check_open(a, err);

	if (rc != AUC_OK)
		return rc;
	q->bid = *bid;
	rc = decide(a, q, &q->bid, 0, now, err);
	if (rc == AUC_OK && a->policy->posts)
		q->decision.plan.value = q->decision.plan.cost;
	return rc;
}

enum auc_code auc_auction_quote_as(struct auc_auction *a, struct auc_question *q,
				   const struct auc_bid *bid, auc_slot arrival, uint64_t *steps,
				   struct auc_err *err)
{
	enum auc_code rc = auc_bid_resolve(a->market, bid, arrival, &q->job, err);

	if (rc != AUC_OK)
		return rc;
	q->job.limited = q->left < AUC_UNLIMITED;
	q->job.budget = auc_money_to(q->left);
	q->decision.most_steps = *steps;
	rc = auc_quote_nodes(a->policy, a->ctx, a->market, &q->job, &q->decision, err);
	*steps -= q->decision.steps < *steps ? q->decision.steps : *steps - 1;
	if (rc == AUC_OK && bid->capped && q->decision.accepted) {
		rc = sooner(a, q, bid->utility.scale, *steps, err);
		*steps -= q->extra.steps < *steps ? q->extra.steps : *steps - 1;
	}
	a->made.decisions++;
	a->made.cut += q->decision.cut;
	if (q->decision.steps > a->made.most_steps)
		a->made.most_steps = q->decision.steps;
	return rc;
}

/*
 * Q's decision, the cheapest schedule, becomes the soonest that costs at most LIMIT; where the
 * policy does not look for that (policy.h: budgets), the soonest of all if it costs no more.
 */
static enum auc_code sooner(struct auc_auction *a, struct auc_question *q, double limit,
			    uint64_t steps, struct auc_err *err)
{
	struct auc_utility utility = q->job.utility;
	struct auc_decision *d = &q->extra;
	bool limited = q->job.limited;
	double budget = q->job.budget;
	enum auc_code rc;

	q->job.utility = auc_utility_soonest(limit, a->conf->slots);
	q->job.budget = limited && budget < limit ? budget : limit;
	q->job.limited = true;
	d->most_steps = steps;
	rc = auc_quote_nodes(a->policy, a->ctx, a->market, &q->job, d, err);
	q->job.utility = utility;
	q->job.limited = limited;
	q->job.budget = budget;
	if (rc != AUC_OK || !d->accepted || d->plan.cost >= limit ||
	    d->plan.completion >= q->decision.plan.completion)
		return rc;
	d->plan.value = auc_utility_value(&utility, (double)(d->plan.completion - q->job.arrival));
	d->best_payoff = d->plan.value - d->plan.cost;
	d->cut = d->cut || q->decision.cut;
	d->distance = q->decision.distance;
	return auc_decision_copy(&q->decision, d, err);
}

/* What the decision has on large servers of many nodes goes to the nodes. Where it does not fit, as
 * what is free there is in pieces, the best schedule without that server is taken. */
enum auc_code auc_quote_nodes(const struct auc_policy *policy, struct auc_policy_ctx *ctx,
			      const struct auc_market *m, struct auc_job *job,
			      struct auc_decision *d, struct auc_err *err)
{
	struct auc_plan made, *plan = &d->plan;
	uint64_t most, steps;
	enum auc_code rc;

	/* It is sold on nodes, never on a server of many. */
	if (job->nshapes)
		return auc_quote_gang(policy, ctx, m, job, d, err);
	rc = policy->quote(ctx, m, job, d, err);
	most = d->most_steps;
	steps = d->steps;
	auc_plan_init(&made);
	while (rc == AUC_OK && d->accepted && on_wholes(m, plan)) {
		rc = auc_plan_spread(m, plan, &made, err);
		if (rc == AUC_OK)
			rc = auc_plan_copy(plan, &made, err);
		if (rc != AUC_EFULL)
			continue;
		for (unsigned i = 0; i < plan->nshares; i++)
			if (auc_market_is_whole(m, plan->shares[i].server))
				job->upload[plan->shares[i].server] = UINT32_MAX;
		/* All together keep to the limit. */
		if (most)
			d->most_steps = most > steps ? most - steps : 1;
		rc = policy->quote(ctx, m, job, d, err);
		steps += d->steps;
	}
	d->most_steps = most;
	d->steps = steps;
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
 * Posted prices: the offer is made before the limit is looked at, and its value is its cost. Only a
 * bid teaches, not a quote; a yes teaches once it has become a job.
 */
static enum auc_code ask_user(struct auc_auction *a, struct auc_question *q,
			      const struct auc_bid *bid, uint32_t uid, double now, bool hold,
			      struct auc_err *err)
{
	struct auc_decision *d = &q->decision;
	struct auc_answer answer;

	if (hold && bid->max_price < 0 && !bid->accept)
		return auc_err_set(err, AUC_EINVAL,
				   "--max-price: not given, expected what the job may cost, in "
				   "credits, or --accept with an offer; --quote makes one");
	d->plan.value = d->plan.cost;
	if (!hold)
		return AUC_OK;
	if (d->offered && bid->max_price >= 0 &&
	    auc_plan_payment(&d->plan) > auc_money_from(bid->max_price)) {
		d->accepted = false;
		d->reason = AUC_REASON_PRICE;
	}
	if (!d->accepted && !q->again && teaches(a, q, bid, uid, now) &&
	    a->policy->answer(a->ctx, a->market, &q->job, d, false, &answer))
		auc_auction_keep_answer(a, &answer);
	return AUC_OK;
}

/*
 * Whether a refusal is used for learning. Declining an offer is free, and so is asking for more
 * than there is. So a user's refusals weigh as one until it has bought something, or a day is over;
 * a limit far below the price says nothing of what a job is worth; and a dry run is no bid.
 */
static bool teaches(struct auc_auction *a, struct auc_question *q, const struct auc_bid *bid,
		    uint32_t uid, double now)
{
	if (bid->dry_run || (q->decision.offered && bid->max_price >= 0 &&
			     bid->max_price < ABSURD * q->decision.plan.cost))
		return false;
	return auc_user_limits_believe(a->users, uid, now);
}

/* A yes is free, too, until there is a job: it is used for learning only then. It is forgotten if
 * there is no memory for it. */
static void await_job(struct auc_auction *a, struct auc_question *q, const char *sale)
{
	struct auc_answer answer;

	if (a->policy->answer(a->ctx, a->market, &q->job, &q->decision, true, &answer))
		(void)auc_posted_answers_wait(a->answers, sale, &answer, NULL);
}

/* The policy learns from it, now as after a restart, and it is put down for the next one. Without
 * memory for that, the next one does not know it. */
void auc_auction_keep_answer(struct auc_auction *a, const struct auc_answer *answer)
{
	if (!a->policy->posts || a->policy->recall(a->ctx, a->market, answer, NULL) != AUC_OK ||
	    auc_posted_answers_add(a->answers, answer, NULL) != AUC_OK)
		return;
	auc_event_append(&a->events, auc_posted_answers_event(
					     a->answers, auc_posted_answers_count(a->answers) - 1));
}

/* A sale that is looked at again must say for itself where it may run, one whose chunks are moved
 * where they lie, for how long it was planned, and by what profile, which margins are learned by:
 * that is another text than the bid's own. */
static enum auc_code keep_sites(struct auc_auction *a, struct auc_question *q,
				const struct auc_bid *bid, struct auc_err *err)
{
	bool again = a->policy->stepper || a->policy->rearranges;
	struct auc_bid *own;
	enum auc_code rc = AUC_OK;

	if (!q->later && !bid->ndata && !(again && bid->npartitions) && !(bid->planned > 0) &&
	    !(a->conf->margin.how == AUC_MARGIN_LEARNED && *bid->model))
		return AUC_OK;
	own = malloc(sizeof(*own));
	if (!own)
		return auc_auction_no_memory(err);
	*own = *bid;
	if (a->conf->margin.how == AUC_MARGIN_LEARNED)
		strcpy(own->profile, own->model);
	auc_bid_name_nodes(own, a->market);
	if (again)
		rc = auc_bid_confine(own, a->market, err);
	if (rc == AUC_OK && !(q->sites = auc_bid_print(own)))
		rc = auc_auction_no_memory(err);
	free(own);
	return rc;
}

static enum auc_code fill_offer(struct auc_auction *a, struct auc_question *q,
				struct auc_offer *offer, struct auc_err *err)
{
	const struct auc_decision *d = &q->decision;
	enum auc_code rc;

	/* Policies know nothing of that. */
	q->decision.plan.block = d->plan.gang && q->bid.gang.block;
	offer->accepted = d->accepted;
	offer->reason = d->reason;
	offer->cut = d->cut;
	offer->distance = d->distance;
	if (!d->accepted && d->reason != AUC_REASON_PAYOFF && d->reason != AUC_REASON_PRICE &&
	    !(d->reason == AUC_REASON_BUDGET && d->plan.nruns))
		return AUC_OK;
	offer->best_payoff = d->best_payoff;
	offer->payment = auc_plan_payment(&d->plan);
	offer->value = auc_plan_value(&d->plan);
	offer->start = (double)d->plan.start * a->conf->slot_seconds;
	offer->end = (double)d->plan.completion * a->conf->slot_seconds;
	for (const struct auc_run *r = d->plan.runs; r < d->plan.runs + d->plan.nruns; r++)
		if (d->accepted && !d->plan.gang && r->nshares > AUC_PARTS_MAX)
			return auc_err_set(err, AUC_EFULL,
					   "the best schedule is on %u nodes, at most %d can be "
					   "one job; lower --chunks",
					   r->nshares, AUC_PARTS_MAX);
	rc = auc_plan_copy(&offer->plan, &d->plan, err);
	return rc == AUC_OK
		       ? auc_plan_parts(a->market, &d->plan, &offer->parts, &offer->nparts, err)
		       : rc;
}

static enum auc_code put_lien(struct auc_auction *a, struct auc_question *q, uint32_t uid,
			      double now, struct auc_offer *offer, struct auc_err *err)
{
	enum auc_code rc = auc_ledger_hold(a->ledger, &offer->plan, a->policy->name,
					   q->sites ? q->sites : q->text, uid, &q->payers,
					   now + a->conf->lien_seconds, offer->sale, err);

	if (rc != AUC_OK)
		return rc;
	rc = auc_auction_give_receipt(a, auc_ledger_find(a->ledger, offer->sale), 0, NULL,
				      &offer->receipt, err);
	if (rc == AUC_OK && strlen(offer->receipt) > AUC_RECEIPT_MAX)
		rc = auc_err_set(
			err, AUC_EFULL,
			"the receipt of the best schedule has %zu bytes, the accounting keeps %d; "
			"lower --chunks or --epochs",
			strlen(offer->receipt), AUC_RECEIPT_MAX);
	if (rc != AUC_OK) {
		auc_ledger_drop(a->ledger, offer->sale, NULL);
		return rc;
	}
	if (a->policy->posts && !q->again)
		await_job(a, q, offer->sale);
	if (q->bid.accept)
		auc_offer_standing_take(a->offers, q->bid.accept, offer->sale);
	return AUC_OK;
}

/* Remembers what q->job says about prices. Prices follow at the next tick, not here: new bases
 * move every price there is, and slurmctld waits for a bid. A bid that cannot be remembered is
 * decided all the same. */
static enum auc_code learn(struct auc_auction *a, struct auc_question *q, struct auc_err *err)
{
	const struct auc_tariff *tariff = auc_auction_tariff_in_force(a);
	enum auc_code rc;

	rc = auc_price_history_add(a->price_history, a->market, &q->job, a->policy->prices, err);
	if (rc != AUC_OK)
		return rc;
	auc_event_append(&a->events,
			 auc_price_history_event(a->price_history,
						 auc_price_history_count(a->price_history) - 1));
	a->fresh++;
	a->price_old = (!tariff || tariff->kind == AUC_TARIFF_PUBLISHED) &&
		       (a->policy->prices == AUC_PRICE_ETA ||
			auc_oasis_bounds_due(a->fresh, auc_price_history_count(a->price_history)));
	return AUC_OK;
}
