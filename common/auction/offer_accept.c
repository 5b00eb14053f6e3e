/*
 * offer_accept.c - the offer of a quote of posted prices is bought later: at its price, on the same
 * nodes, for as many slots. Slots that have already begun are skipped; the plan shifts by that
 * many. An offer holds no place: if others have bought there since, it is refused.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <xxhash.h>

#include "auction/auction-private.h"

static uint64_t work_of(const struct auc_question *q, const struct auc_bid *bid);
static void put_off(struct auc_plan *plan, auc_slot slots);

void auc_auction_stand(struct auc_auction *a, struct auc_question *q, const struct auc_bid *bid,
		       uint32_t uid, double now, struct auc_offer *offer)
{
	double seconds = a->conf->offer_seconds;

	/* An offer that is only looked at again stands no longer for it. */
	if (!a->policy->posts || !q->decision.accepted || bid->accept || !(seconds > 0))
		return;
	/* Without room for it, the quote is still an answer. */
	if (auc_offer_standing_add(a->offers, uid, work_of(q, bid), &q->decision, now, seconds,
				   &offer->id, NULL) == AUC_OK)
		offer->seconds = seconds;
}

enum auc_code auc_auction_take(struct auc_auction *a, struct auc_question *q,
			       const struct auc_bid *bid, uint32_t uid, double now,
			       struct auc_err *err)
{
	struct auc_plan *plan = &q->decision.plan;
	struct auc_standing_offer *o;
	const struct auc_sale *held;
	struct auc_err why;
	enum auc_code rc =
		auc_offer_standing_find(a->offers, bid->accept, uid, work_of(q, bid), now, &o, err);

	held = rc == AUC_OK ? auc_ledger_find(a->ledger, o->sale) : NULL;
	if (held)
		rc = auc_err_set(err, AUC_ESTATE,
				 "--accept: offer %016" PRIx64
				 " is held for a submission, and is for one job only; where that "
				 "becomes none, as with --test-only, it can be had again in %.0f "
				 "s, if it still stands",
				 bid->accept, ceil(held->expires - now));
	if (rc == AUC_OK)
		rc = auc_decision_copy(&q->decision, &o->decision, err);
	if (rc != AUC_OK)
		return rc;
	if (q->job.arrival > plan->arrival)
		put_off(plan, q->job.arrival - plan->arrival);
	if (auc_market_has_room(a->market, plan, &why) == AUC_OK)
		return AUC_OK;
	return auc_err_set(err, AUC_EFULL,
			   "--accept: offer %016" PRIx64
			   " stands with its price, but its place is gone (%s); ask for another "
			   "with --quote",
			   bid->accept, why.text);
}

/* A hash of what the job of Q and BID is: of its bid but for what is said of its price, and its
 * partitions. It guards against mistakes; who finds another job of the same hash still gets only
 * what was offered. */
static uint64_t work_of(const struct auc_question *q, const struct auc_bid *bid)
{
	uint64_t work = XXH3_64bits(q->text, strlen(q->text));

	/* What rules leave of them may change before it is taken. */
	for (unsigned i = 0; i < bid->npartitions && !bid->filtered; i++)
		work = XXH3_64bits_withSeed(bid->partitions[i], strlen(bid->partitions[i]), work);
	return work;
}

/* PLAN, of one that posts prices: of runs, and nothing that is moved. */
static void put_off(struct auc_plan *plan, auc_slot slots)
{
	plan->arrival += slots;
	plan->start += slots;
	plan->completion += slots;
	for (struct auc_run *r = plan->runs; r < plan->runs + plan->nruns; r++) {
		r->from += slots;
		r->to += slots;
	}
}
