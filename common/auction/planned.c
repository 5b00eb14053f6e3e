/*
 * planned.c - for how long a bid's job is planned: as it states; where its user says how long it
 * takes at most, for as long as is worth most on the average (policy/time_range.h); else with the
 * site's margin (Margin=), which may be what jobs before took. And what a job took that has ended.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auction/auction-private.h"
#include "input/bid_resolve.h"
#include "ledger/why.h"
#include "market/timeline.h"
#include "policy/time_range.h"

#define MORE     1e-9 /* of what is at stake: less is no gain */
#define TOOK_MIN 1e-4
#define TOOK_MAX 1e4

static enum auc_code quote_range(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
				 auc_slot arrival, uint64_t *steps, struct auc_err *err);
static double margin_of(const struct auc_auction *a, const struct auc_question *q,
			const struct auc_bid *bid);
static double stated_of(struct auc_auction *a, const struct auc_sale *s, struct auc_bid *bid);
static double used_of(const struct auc_auction *a, const struct auc_sale *s, double now);

enum auc_code auc_auction_quote(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
				auc_slot arrival, uint64_t *steps, struct auc_err *err)
{
	/* A block is for as long as it says. */
	bool plans = !a->policy->stepper && !a->policy->posts && !bid->gang.block;
	enum auc_code rc;

	if (plans && bid->most > 1)
		return quote_range(a, q, bid, arrival, steps, err);
	bid->planned = plans && !(bid->most > 0) ? margin_of(a, q, bid) : 0;
	rc = auc_auction_quote_as(a, q, bid, arrival, steps, err);
	if (rc != AUC_OK || q->decision.accepted || !(bid->planned > 0))
		return rc;
	bid->planned = 0;
	return auc_auction_quote_as(a, q, bid, arrival, steps, err);
}

static enum auc_code quote_range(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
				 auc_slot arrival, uint64_t *steps, struct auc_err *err)
{
	const struct auc_time_range range = {.most = bid->most,
					     .extends = auc_bid_extends(a, bid),
					     .refunds = a->conf->refund_unused != AUC_REFUND_NO};
	double factors[AUC_RANGE_PLANS], worth, best = 0;
	unsigned n = auc_range_factors(bid->most, factors), chosen = 0;
	enum auc_code rc = AUC_OK;
	bool found = false;

	for (unsigned i = 0; i < n && rc == AUC_OK; i++) {
		bid->planned = factors[i];
		rc = auc_auction_quote_as(a, q, bid, arrival, steps, err);
		/* If none is accepted, the answer is about the job as stated. */
		if (rc != AUC_OK || (i && !q->decision.accepted))
			continue;
		worth = q->decision.accepted ? auc_range_payoff(&range, factors[i], a->market,
								&q->job, &q->decision.plan)
					     : 0;
		if (found && worth <= best + MORE * fabs(best))
			continue;
		found = q->decision.accepted;
		best = worth;
		chosen = i;
		rc = auc_decision_copy(&q->planned, &q->decision, err);
	}
	bid->planned = factors[chosen];
	if (rc == AUC_OK)
		rc = auc_bid_resolve(a->market, bid, arrival, &q->job, err);
	return rc == AUC_OK ? auc_decision_copy(&q->decision, &q->planned, err) : rc;
}

/* 0: none. */
static double margin_of(const struct auc_auction *a, const struct auc_question *q,
			const struct auc_bid *bid)
{
	const struct auc_margin *margin = &a->conf->margin;
	struct auc_job_kind kind = {.user = q->uid};
	double factor = margin->number;

	if (margin->how == AUC_MARGIN_NONE)
		return 0;
	if (margin->how == AUC_MARGIN_LEARNED) {
		strcpy(kind.model, bid->model);
		if (bid->npartitions == 1)
			strcpy(kind.partition, bid->partitions[0]);
		factor = auc_job_times_quantile(a->job_times, margin->number, &kind);
		factor = fmin(factor, AUC_MARGIN_MOST);
	}
	return factor > 1 ? factor : 0;
}

bool auc_bid_extends(const struct auc_auction *a, const struct auc_bid *bid)
{
	return bid->extend || (a->conf->extends && !bid->kill && !a->policy->sites &&
			       !a->policy->stepper && !a->policy->posts);
}

bool auc_auction_took(struct auc_auction *a, const struct auc_sale *s, const char *why, double now,
		      struct auc_job_time *took)
{
	struct auc_bid *bid;
	double stated;

	*took = (struct auc_job_time){.kind = {.user = s->uid},
				      .cut = !strcmp(why, AUC_WHY_TIMEOUT)};
	if (a->conf->margin.how != AUC_MARGIN_LEARNED || s->state != AUC_SALE_RUNNING ||
	    s->plan.lost || s->plan.block || !s->plan.nshares || a->policy->stepper ||
	    a->policy->posts || (!took->cut && strcmp(why, AUC_WHY_COMPLETED) != 0))
		return false;
	bid = malloc(sizeof(*bid));
	if (!bid)
		return false;
	stated = stated_of(a, s, bid);
	strcpy(took->kind.model, bid->profile);
	strcpy(took->kind.partition, auc_market_server_group(a->market, s->plan.shares[0].server));
	free(bid);
	took->factor = stated > 0 ? used_of(a, s, now) / stated : 0;
	return took->factor >= TOOK_MIN && took->factor <= TOOK_MAX;
}

void auc_auction_hear(struct auc_auction *a, const struct auc_job_time *took)
{
	/* Without memory for it, it is not known. */
	if (auc_job_times_add(a->job_times, took, NULL) == AUC_OK)
		auc_event_append(&a->events, auc_job_times_event(took));
}

/* Worker-slots that the job of S states; <= 0: nobody knows. BID is filled. */
static double stated_of(struct auc_auction *a, const struct auc_sale *s, struct auc_bid *bid)
{
	const struct auc_plan *plan = &s->plan;
	struct auc_job *job = &a->question.job;

	memset(bid, 0, sizeof(*bid));
	if (plan->nchunks || plan->chunk_mb > 0 ||
	    auc_bid_parse(a->conf, s->bid, bid, NULL) != AUC_OK)
		return 0;
	bid->planned = 0;
	if (auc_bid_resolve(a->market, bid, plan->arrival, job, NULL) != AUC_OK)
		return 0;
	if (plan->gang)
		return plan->shape < job->nshapes
			       ? job->shapes[plan->shape].seconds / a->conf->slot_seconds *
					 plan->runs[0].nshares
			       : 0;
	if (job->nshapes || !(job->worker_seconds[plan->worker_type] > 0))
		return 0;
	if (a->policy->prices == AUC_PRICE_BOUNDS)
		return (double)auc_job_worker_slots(a->market, job, plan->worker_type);
	return job->ps_seconds[plan->ps_type] >= 0 ? auc_job_work(a->market, job, plan->worker_type,
								  plan->ps_type, plan->colocated)
						   : 0;
}

/* Worker-slots of S's plan before NOW. */
static double used_of(const struct auc_auction *a, const struct auc_sale *s, double now)
{
	double slot = a->conf->slot_seconds, sum = 0, slots;

	for (const struct auc_run *r = s->plan.runs; r < s->plan.runs + s->plan.nruns; r++) {
		slots = fmin(fmax(now / slot - (double)r->from, 0), (double)(r->to - r->from + 1));
		for (unsigned i = 0; i < r->nshares; i++)
			sum += slots * s->plan.shares[r->first_share + i].workers;
	}
	return sum;
}
