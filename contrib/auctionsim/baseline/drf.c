/*
 * drf.c - the baseline DRF of R. Zhou et al.: "DPS: Dynamic Pricing and Scheduling for Distributed
 * Machine Learning Jobs in Edge-Cloud Networks", IEEE TMC 2023, section 6.1: as FIFO, but a job
 * gets the smaller of its own maximal share of workers (D_j of all workers of its type, at most
 * all) and the historical maximal share. It prices nothing.
 *
 * Options: reading=blocking (default) or reading=reserving, as fifo's. history=granted (default:
 * the historical maximal share is the largest that a job got) or history=asked (the largest own
 * maximal share of an earlier job): the paper does not say which. The first job has its own share
 * in both.
 *
 * What else the paper leaves open: place.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "base/num.h"
#include "auctionsim/baseline/place.h"
#include "policy/pairs.h"
#include "policy/option.h"

struct auc_policy_ctx {
	struct baseline base;
	unsigned asked; /* history=granted|asked */
	double history; /* largest share so far; 0: none */
};

static enum auc_code drf_create(const char *options, struct auc_policy_ctx **ctx,
				struct auc_err *err);
static void drf_destroy(struct auc_policy_ctx *ctx);
static enum auc_code drf_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err);
static void drf_booked(struct auc_policy_ctx *ctx, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_decision *decision);
static double own_share(const struct auc_market *m, const struct auc_job *job, unsigned worker);

const struct auc_policy sim_policy_drf = {
	.name = "drf",
	.summary = "baseline: all jobs in the order of arrival, workers by share",
	.baseline = true,
	.create = drf_create,
	.destroy = drf_destroy,
	.quote = drf_quote,
	.booked = drf_booked,
};

static enum auc_code drf_create(const char *options, struct auc_policy_ctx **ctx,
				struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "reading",
		 .choices = BASELINE_READINGS,
		 .offset = offsetof(struct auc_policy_ctx, base.reserving)},
		{.key = "history",
		 .choices = "granted|asked",
		 .offset = offsetof(struct auc_policy_ctx, asked)},
	};
	struct auc_policy_ctx *made = calloc(1, sizeof(*made));
	enum auc_code rc;

	*ctx = NULL;
	if (!made)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy drf");
	rc = auc_options_read("drf", options, list, 2, made, err);
	if (rc == AUC_OK)
		*ctx = made;
	else
		free(made);
	return rc;
}

static void drf_destroy(struct auc_policy_ctx *ctx)
{
	if (!ctx)
		return;
	baseline_clear(&ctx->base);
	free(ctx);
}

static enum auc_code drf_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err)
{
	unsigned w, p;
	double share;
	int64_t n;

	auc_decision_reset(decision);
	if (!auc_pairs_fastest(m, job, &w, &p))
		return AUC_OK;
	share = own_share(m, job, w);
	if (ctx->history > 0 && ctx->history < share)
		share = ctx->history;
	n = auc_floor(share * (double)m->cache[w].total0);
	return baseline_place(&ctx->base, m, job, w, p, n > 1 ? n : 1, (int64_t)job->ps, decision,
			      err);
}

static void drf_booked(struct auc_policy_ctx *ctx, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_decision *decision)
{
	const struct auc_plan *plan = &decision->plan;
	double share = own_share(m, job, plan->worker_type), workers = 0;
	unsigned i;

	for (i = 0; i < plan->nshares; i++)
		workers += plan->shares[i].workers;
	if (!ctx->asked)
		share = workers / (double)m->cache[plan->worker_type].total0;
	if (share > ctx->history)
		ctx->history = share;
	baseline_booked(&ctx->base, decision);
}

/* Constraint (3): at most D_j workers. */
static double own_share(const struct auc_market *m, const struct auc_job *job, unsigned worker)
{
	double all = (double)m->cache[worker].total0, most = (double)job->chunks;

	return most < all ? most / all : 1;
}
