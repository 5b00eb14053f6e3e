/*
 * tiresias_l.c - the baseline Tiresias-L (least attained service, for schedulers that do not know
 * how long a job takes): jobs queue by the worker-slots that they have had, in a few classes; the
 * class that had least runs first, in itself in the order of arrival, each job with all of its
 * workers or not at all (whole_jobs.h).
 *
 * Options: site=edge (default) or site=any, which lets it use the cloud as well; threshold=N (512):
 * worker-slots at which a job leaves the first class; it leaves the second of three at 8 N.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "auctionsim/baseline/whole_jobs.h"
#include "policy/option.h"

#define THRESHOLD 512
#define FACTOR    8

struct auc_stepper_ctx {
	struct whole_jobs gang;
	uint64_t threshold;
};

static enum auc_code tiresias_create(const char *options, struct auc_stepper_ctx **ctx,
				     struct auc_err *err);
static void tiresias_destroy(struct auc_stepper_ctx *ctx);
static enum auc_code tiresias_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				     uint64_t id, const struct auc_job *job,
				     enum auc_reason *reason, struct auc_err *err);
static enum auc_code tiresias_step(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				   auc_slot t, const struct auc_layout **layouts, unsigned *n,
				   struct auc_err *err);
static enum auc_code tiresias_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err);
static int compare_class(const void *a, const void *b);

const struct auc_stepper sim_stepper_tiresias_l = {
	.name = "tiresias-l",
	.summary = "baseline: least attained service first, whole jobs",
	.create = tiresias_create,
	.destroy = tiresias_destroy,
	.arrive = tiresias_arrive,
	.step = tiresias_step,
	.leave = tiresias_leave,
};

static enum auc_code tiresias_create(const char *options, struct auc_stepper_ctx **ctx,
				     struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "site",
		 .choices = WHOLE_JOB_SITES,
		 .offset = offsetof(struct auc_stepper_ctx, gang.site)},
		{.key = "threshold",
		 .type = AUC_OPTION_COUNT,
		 .min = 1,
		 .max = 1e9,
		 .offset = offsetof(struct auc_stepper_ctx, threshold)},
	};
	struct auc_stepper_ctx *made = calloc(1, sizeof(*made));
	enum auc_code rc;

	*ctx = NULL;
	if (!made)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy tiresias-l");
	made->gang.site = WHOLE_JOB_EDGE;
	made->threshold = THRESHOLD;
	rc = auc_options_read("tiresias-l", options, list, 2, made, err);
	if (rc == AUC_OK)
		*ctx = made;
	else
		free(made);
	return rc;
}

static void tiresias_destroy(struct auc_stepper_ctx *ctx)
{
	if (!ctx)
		return;
	whole_jobs_clear(&ctx->gang);
	free(ctx);
}

static enum auc_code tiresias_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				     uint64_t id, const struct auc_job *job,
				     enum auc_reason *reason, struct auc_err *err)
{
	return whole_jobs_arrive(&ctx->gang, m, id, job, reason, err);
}

static enum auc_code tiresias_step(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				   auc_slot t, const struct auc_layout **layouts, unsigned *n,
				   struct auc_err *err)
{
	struct whole_job *j;
	unsigned i;

	for (i = 0; i < ctx->gang.n; i++) {
		j = ctx->gang.jobs[i];
		j->class = ((uint64_t)j->served >= ctx->threshold) +
			   ((uint64_t)j->served >= FACTOR * ctx->threshold);
	}
	return whole_jobs_step(&ctx->gang, m, t, compare_class, layouts, n, err);
}

static enum auc_code tiresias_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err)
{
	return whole_jobs_leave(&ctx->gang, id, err);
}

/* By class, then by arrival. */
static int compare_class(const void *a, const void *b)
{
	const struct whole_job *x = *(struct whole_job *const *)a;
	const struct whole_job *y = *(struct whole_job *const *)b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}
