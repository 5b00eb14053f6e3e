/*
 * fifo.c - the baseline FIFO of R. Zhou et al.: "DPS: Dynamic Pricing and Scheduling for
 * Distributed Machine Learning Jobs in Edge-Cloud Networks", IEEE TMC 2023, section 6.1: every job
 * is accepted, in the order of arrival, with the number of workers that its owner asked for (D_j,
 * or "workers" where the job says so), of the type pair with the least k, and PSs by (12). It
 * prices nothing.
 *
 * Options: reading=blocking (default: no job starts before its predecessor) or reading=reserving
 * (each job takes its earliest window). The paper does not say which; its figures fit the first.
 *
 * What else the paper leaves open: place.h. A gang gets the shape that is done first.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "auctionsim/baseline/place.h"
#include "policy/gang/gang.h"
#include "policy/pairs.h"
#include "policy/option.h"

struct auc_policy_ctx {
	struct baseline base;
	struct auc_gang *gang;
};

static enum auc_code fifo_create(const char *options, struct auc_policy_ctx **ctx,
				 struct auc_err *err);
static void fifo_destroy(struct auc_policy_ctx *ctx);
static enum auc_code fifo_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err);
static enum auc_code fifo_gang(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err);
static void fifo_booked(struct auc_policy_ctx *ctx, const struct auc_market *m,
			const struct auc_job *job, const struct auc_decision *decision);

const struct auc_policy sim_policy_fifo = {
	.name = "fifo",
	.summary = "baseline: all jobs, D_j workers each, in the order of arrival",
	.baseline = true,
	.gangs = true,
	.budgets = true,
	.create = fifo_create,
	.destroy = fifo_destroy,
	.quote = fifo_quote,
	.booked = fifo_booked,
};

static enum auc_code fifo_create(const char *options, struct auc_policy_ctx **ctx,
				 struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "reading",
		 .choices = BASELINE_READINGS,
		 .offset = offsetof(struct auc_policy_ctx, base.reserving)},
	};
	struct auc_policy_ctx *made = calloc(1, sizeof(*made));
	enum auc_code rc;

	*ctx = NULL;
	if (!made)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy fifo");
	made->gang = auc_gang_create();
	rc = made->gang ? auc_options_read("fifo", options, list, 1, made, err)
			: auc_err_set(err, AUC_ENOMEM, "no memory for policy fifo");
	if (rc == AUC_OK)
		*ctx = made;
	else
		fifo_destroy(made);
	return rc;
}

static void fifo_destroy(struct auc_policy_ctx *ctx)
{
	if (!ctx)
		return;
	baseline_clear(&ctx->base);
	auc_gang_destroy(ctx->gang);
	free(ctx);
}

static enum auc_code fifo_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err)
{
	uint64_t n = job->workers && job->workers < job->chunks ? job->workers : job->chunks;
	unsigned w, p;

	auc_decision_reset(decision);
	if (job->nshapes)
		return fifo_gang(ctx, m, job, decision, err);
	if (!auc_pairs_fastest(m, job, &w, &p))
		return AUC_OK;
	return baseline_place(&ctx->base, m, job, w, p, (int64_t)n, (int64_t)job->ps, decision,
			      err);
}

/* The shape that is done first. */
static enum auc_code fifo_gang(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err)
{
	bool waits = !ctx->base.reserving && ctx->base.started;
	enum auc_code rc =
		auc_gang_quote(ctx->gang, m, job, AUC_GANG_EARLIEST,
			       waits ? ctx->base.last_start : job->arrival, decision, err);

	/* One that would fit an empty cluster is admitted, and never done: as place.h says. */
	if (rc == AUC_OK && !decision->accepted && auc_job_fits_empty(m, job)) {
		decision->accepted = true;
		decision->reason = AUC_REASON_NONE;
	}
	return rc;
}

static void fifo_booked(struct auc_policy_ctx *ctx, const struct auc_market *m,
			const struct auc_job *job, const struct auc_decision *decision)
{
	(void)m;
	(void)job;
	baseline_booked(&ctx->base, decision);
}
