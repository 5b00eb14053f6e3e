/*
 * planned.c - for how long a bid's job is planned: as it states, or, where its user says how long
 * it takes at most, for as long as is worth most on the average (policy/time_range.h).
 */
#include "config.h"

#include <math.h>

#include "auction/auction-private.h"
#include "input/bid_resolve.h"
#include "policy/time_range.h"

#define MORE 1e-9 /* of what is at stake: less is no gain */

static unsigned plans_of(const struct auc_auction *a, const struct auc_bid *bid,
			 double factors[AUC_RANGE_PLANS]);
static bool extends(const struct auc_auction *a, const struct auc_bid *bid);

enum auc_code auc_auction_quote(struct auc_auction *a, struct auc_question *q, struct auc_bid *bid,
				auc_slot arrival, uint64_t *steps, struct auc_err *err)
{
	const struct auc_time_range range = {.most = bid->most,
					     .extends = extends(a, bid),
					     .refunds = a->conf->refund_unused != AUC_REFUND_NO};
	double factors[AUC_RANGE_PLANS], worth, best = 0;
	unsigned n = plans_of(a, bid, factors), chosen = 0;
	enum auc_code rc = AUC_OK;
	bool found = false;

	for (unsigned i = 0; i < n && rc == AUC_OK; i++) {
		bid->planned = factors[i];
		rc = auc_auction_quote_as(a, q, bid, arrival, steps, err);
		if (rc != AUC_OK || n == 1)
			return rc;
		/* If none is accepted, the answer is about the job as stated. */
		if (!q->decision.accepted && i)
			continue;
		worth = q->decision.accepted ? auc_range_payoff(&range, factors[i], a->market,
								&q->job, &q->decision.plan)
					     : 0;
		if (i && found && worth <= best + MORE * fabs(best))
			continue;
		found = q->decision.accepted;
		best = worth;
		chosen = i;
		rc = auc_decision_copy(&q->planned, &q->decision, err);
	}
	if (rc != AUC_OK)
		return rc;
	bid->planned = factors[chosen];
	if (chosen == n - 1)
		return AUC_OK;
	rc = auc_bid_resolve(a->market, bid, arrival, &q->job, err);
	return rc == AUC_OK ? auc_decision_copy(&q->decision, &q->planned, err) : rc;
}

/* 0: as it states. */
static unsigned plans_of(const struct auc_auction *a, const struct auc_bid *bid,
			 double factors[AUC_RANGE_PLANS])
{
	factors[0] = 0;
	if (a->policy->stepper || a->policy->posts || !(bid->most > 1))
		return 1;
	return auc_range_factors(bid->most, factors);
}

static bool extends(const struct auc_auction *a, const struct auc_bid *bid)
{
	return bid->extend || (a->conf->extends && !bid->kill && !a->policy->sites);
}
