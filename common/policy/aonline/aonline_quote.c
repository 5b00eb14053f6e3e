/*
 * aonline_quote.c - policy aonline at a submission (doc/executor.md, "Plans that are decided slot
 * by slot"): the course of a stepper that has this job alone, in what is free. Nothing is taken
 * from others, so it can be held at once; the revision that follows sees all jobs.
 *
 * Options: those of the stepper (aonline.c).
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/stepper_run.h"
#include "market/timeline.h"

#define CHUNKS_MAX 1024 /* of one job: the receipt names them all */

struct auc_policy_ctx {
	char options[256];
};

static enum auc_code aonline_create(const char *options, struct auc_policy_ctx **ctx,
				    struct auc_err *err);
static void aonline_destroy(struct auc_policy_ctx *ctx);
static enum auc_code aonline_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				   const struct auc_job *job, struct auc_decision *decision,
				   struct auc_err *err);
static int64_t aonline_least_slots(const struct auc_market *m, const struct auc_job *job,
				   unsigned worker, unsigned ps, int64_t n);

const struct auc_policy auc_policy_aonline = {
	.name = "aonline",
	.summary = "no prices: least mean time to completion, decided slot by slot",
	.stepper = &auc_stepper_aonline,
	.create = aonline_create,
	.destroy = aonline_destroy,
	.quote = aonline_quote,
	.least_slots = aonline_least_slots,
};

static enum auc_code aonline_create(const char *options, struct auc_policy_ctx **ctx,
				    struct auc_err *err)
{
	struct auc_stepper_ctx *tried;
	enum auc_code rc = auc_stepper_aonline.create(options, &tried, err);

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	auc_stepper_aonline.destroy(tried);
	*ctx = calloc(1, sizeof(**ctx));
	if (!*ctx)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy aonline");
	snprintf((*ctx)->options, sizeof((*ctx)->options), "%s", options);
	return AUC_OK;
}

static void aonline_destroy(struct auc_policy_ctx *ctx)
{
	free(ctx);
}

static enum auc_code aonline_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				   const struct auc_job *job, struct auc_decision *decision,
				   struct auc_err *err)
{
	struct auc_stepper_run_job alone = {.job = *job, .fresh = true};
	struct auc_stepper_run c = {
		.stepper = &auc_stepper_aonline,
		.options = ctx->options,
		.from = job->arrival,
		.to = auc_market_last(m),
		.n = 1,
		.jobs = &alone,
		.limit = decision->most_steps,
	};
	enum auc_code rc;

	auc_decision_reset(decision);
	if (job->chunks > CHUNKS_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "--chunks: %llu, expected at most %d with policy aonline",
				   (unsigned long long)job->chunks, CHUNKS_MAX);
	/* With the whole market nothing is booked in it, and it is only read. */
	rc = auc_stepper_run(&c, (struct auc_market *)m, true, err);
	if (rc == AUC_OK && !alone.left_out) {
		decision->accepted = true;
		decision->reason = AUC_REASON_NONE;
		alone.made.due = 0;
		rc = auc_plan_copy(&decision->plan, &alone.made, err);
	}
	decision->steps = c.steps;
	auc_decision_cut(decision, c.limit && c.steps > c.limit ? INFINITY : -INFINITY);
	auc_plan_clear(&alone.made);
	return rc == AUC_EFULL ? AUC_OK : rc;
}

/* All of them train at once, with the PS beside them. */
static int64_t aonline_least_slots(const struct auc_market *m, const struct auc_job *job,
				   unsigned worker, unsigned ps, int64_t n)
{
	int64_t chunk =
		auc_job_duration(auc_job_work(m, job, worker, ps, true) / (double)job->chunks, 1);
	int64_t rounds = ((int64_t)job->chunks + n - 1) / n;

	return rounds > INT64_MAX / chunk ? INT64_MAX : rounds * chunk;
}
