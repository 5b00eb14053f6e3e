/*
 * srtf.c - the baseline SRTF: in every slot the jobs with the least remaining time run, each with
 * all of its workers or not at all (whole_jobs.h).
 *
 * Options: site=edge (default) or site=any, which lets it use the cloud as well.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auctionsim/baseline/whole_jobs.h"
#include "policy/option.h"

struct auc_stepper_ctx {
	struct whole_jobs gang;
};

static enum auc_code srtf_create(const char *options, struct auc_stepper_ctx **ctx,
				 struct auc_err *err);
static void srtf_destroy(struct auc_stepper_ctx *ctx);
static enum auc_code srtf_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				 uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				 struct auc_err *err);
static enum auc_code srtf_step(struct auc_stepper_ctx *ctx, const struct auc_market *m, auc_slot t,
			       const struct auc_layout **layouts, unsigned *n, struct auc_err *err);
static enum auc_code srtf_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err);
static int compare_remaining(const void *a, const void *b);

const struct auc_stepper sim_stepper_srtf = {
	.name = "srtf",
	.summary = "baseline: least remaining time first, whole jobs",
	.create = srtf_create,
	.destroy = srtf_destroy,
	.arrive = srtf_arrive,
	.step = srtf_step,
	.leave = srtf_leave,
};

static enum auc_code srtf_create(const char *options, struct auc_stepper_ctx **ctx,
				 struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "site",
		 .choices = WHOLE_JOB_SITES,
		 .offset = offsetof(struct auc_stepper_ctx, gang.site)},
	};
	struct auc_stepper_ctx *made = calloc(1, sizeof(*made));
	enum auc_code rc;

	*ctx = NULL;
	if (!made)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy srtf");
	made->gang.site = WHOLE_JOB_EDGE;
	rc = auc_options_read("srtf", options, list, 1, made, err);
	if (rc == AUC_OK)
		*ctx = made;
	else
		free(made);
	return rc;
}

static void srtf_destroy(struct auc_stepper_ctx *ctx)
{
	if (!ctx)
		return;
	whole_jobs_clear(&ctx->gang);
	free(ctx);
}

static enum auc_code srtf_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				 uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				 struct auc_err *err)
{
	return whole_jobs_arrive(&ctx->gang, m, id, job, reason, err);
}

static enum auc_code srtf_step(struct auc_stepper_ctx *ctx, const struct auc_market *m, auc_slot t,
			       const struct auc_layout **layouts, unsigned *n, struct auc_err *err)
{
	return whole_jobs_step(&ctx->gang, m, t, compare_remaining, layouts, n, err);
}

static enum auc_code srtf_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err)
{
	return whole_jobs_leave(&ctx->gang, id, err);
}

/* By slots left with the exchange, then by arrival. */
static int compare_remaining(const void *a, const void *b)
{
	const struct whole_job *x = *(struct whole_job *const *)a;
	const struct whole_job *y = *(struct whole_job *const *)b;
	int64_t s = (x->left + x->n * x->together - 1) / (x->n * x->together);
	int64_t t = (y->left + y->n * y->together - 1) / (y->n * y->together);

	if (s != t)
		return s < t ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}
