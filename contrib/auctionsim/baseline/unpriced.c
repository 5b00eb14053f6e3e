/*
 * unpriced.c - the baseline that shows what the prices of policy dps are good for: the same exact
 * planner (dps.c) in a market where everything is free. A job gets the schedule that is worth most
 * to it.
 *
 * Options: those of dps.
 */
#include "config.h"

#include "policy/policy.h"

static enum auc_code unpriced_create(const char *options, struct auc_policy_ctx **ctx,
				     struct auc_err *err);
static void unpriced_destroy(struct auc_policy_ctx *ctx);
static enum auc_code unpriced_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				    const struct auc_job *job, struct auc_decision *decision,
				    struct auc_err *err);

const struct auc_policy sim_policy_unpriced = {
	.name = "unpriced",
	.summary = "baseline: dps with all prices 0",
	.baseline = true,
	.gangs = true,
	.budgets = true,
	.create = unpriced_create,
	.destroy = unpriced_destroy,
	.quote = unpriced_quote,
};

static enum auc_code unpriced_create(const char *options, struct auc_policy_ctx **ctx,
				     struct auc_err *err)
{
	return auc_policy_dps.create(options, ctx, err);
}

static void unpriced_destroy(struct auc_policy_ctx *ctx)
{
	auc_policy_dps.destroy(ctx);
}

static enum auc_code unpriced_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				    const struct auc_job *job, struct auc_decision *decision,
				    struct auc_err *err)
{
	return auc_policy_dps.quote(ctx, m, job, decision, err);
}
