/* foresight.c - see foresight.h */
#include "config.h"

#include "auctionsim/run/foresight.h"
#include "market/plan.h"

enum auc_code foresight_worth(const struct auc_market *m, const struct auc_policy *policy,
			      const struct auc_given_price *list, size_t n,
			      const struct auc_job *jobs, unsigned njobs, double *worth,
			      struct auc_err *err)
{
	struct auc_market *copy = auc_market_clone(m);
	struct auc_policy_ctx *ctx = NULL;
	struct auc_decision decision;
	enum auc_code rc;

	*worth = 0;
	auc_decision_init(&decision);
	rc = copy ? auc_market_give_prices(copy, list, n, err)
		  : auc_err_set(err, AUC_ENOMEM, "no memory to look ahead");
	if (rc == AUC_OK)
		rc = policy->create("", &ctx, err);
	for (unsigned i = 0; i < njobs && rc == AUC_OK; i++) {
		rc = policy->quote(ctx, copy, &jobs[i], &decision, err);
		if (rc != AUC_OK || !decision.accepted)
			continue;
		rc = auc_market_book(copy, &decision.plan, decision.plan.start,
				     decision.plan.completion - 1, err);
		*worth += decision.plan.value - auc_plan_floor(&decision.plan, copy);
	}
	auc_decision_clear(&decision);
	if (ctx)
		policy->destroy(ctx);
	auc_market_destroy(copy);
	return rc;
}
