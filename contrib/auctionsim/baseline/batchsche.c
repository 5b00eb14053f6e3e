/*
 * batchsche.c - the baseline BatchSche: jobs are gathered for a few slots and then scheduled as one
 * batch, the shortest first, each where it costs less: at the edge, whose workers are dearer the
 * more of them are in use, or in the cloud, whose price stays low. What runs is not preempted for
 * what comes. Data are sent when the batch is scheduled.
 *
 * The paper of policy aonline describes it in a sentence; this is our reading: a worker-slot at the
 * edge costs (MU^u - 1) / (MU - 1), u the part of the workers of its type in use, one in the cloud
 * costs cloud_price. At the edge a job has the workers that it asks for, or all that there are; in
 * the cloud one a chunk.
 *
 * Options: interval=N (5), slots from batch to batch; cloud_price=X (0.05).
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "auctionsim/baseline/whole_jobs.h"
#include "policy/option.h"

#define INTERVAL    5
#define CLOUD_PRICE 0.05
#define MU          100.0

struct auc_stepper_ctx {
	struct whole_jobs gang;
	uint64_t interval;
	double cloud_price;
	unsigned batch; /* the latest */
};

static enum auc_code batchsche_create(const char *options, struct auc_stepper_ctx **ctx,
				      struct auc_err *err);
static void batchsche_destroy(struct auc_stepper_ctx *ctx);
static enum auc_code batchsche_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				      uint64_t id, const struct auc_job *job,
				      enum auc_reason *reason, struct auc_err *err);
static enum auc_code batchsche_step(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				    auc_slot t, const struct auc_layout **layouts, unsigned *n,
				    struct auc_err *err);
static enum auc_code batchsche_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err);
static void schedule_batch(struct auc_stepper_ctx *ctx, auc_slot t);
static void choose_site(struct auc_stepper_ctx *ctx, struct whole_job *j);
static int compare_batch(const void *a, const void *b);

const struct auc_stepper sim_stepper_batchsche = {
	.name = "batchsche",
	.summary = "baseline: batches of jobs, each where it costs less, edge or cloud",
	.create = batchsche_create,
	.destroy = batchsche_destroy,
	.arrive = batchsche_arrive,
	.step = batchsche_step,
	.leave = batchsche_leave,
};

static enum auc_code batchsche_create(const char *options, struct auc_stepper_ctx **ctx,
				      struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "interval",
		 .type = AUC_OPTION_COUNT,
		 .min = 1,
		 .max = AUC_SLOTS_MAX,
		 .offset = offsetof(struct auc_stepper_ctx, interval)},
		{.key = "cloud_price",
		 .type = AUC_OPTION_NUMBER,
		 .max = 1e6,
		 .offset = offsetof(struct auc_stepper_ctx, cloud_price)},
	};
	struct auc_stepper_ctx *made = calloc(1, sizeof(*made));
	enum auc_code rc;

	*ctx = NULL;
	if (!made)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy batchsche");
	made->interval = INTERVAL;
	made->cloud_price = CLOUD_PRICE;
	rc = auc_options_read("batchsche", options, list, 2, made, err);
	if (rc == AUC_OK)
		*ctx = made;
	else
		free(made);
	return rc;
}

static void batchsche_destroy(struct auc_stepper_ctx *ctx)
{
	if (!ctx)
		return;
	whole_jobs_clear(&ctx->gang);
	free(ctx);
}

static enum auc_code batchsche_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				      uint64_t id, const struct auc_job *job,
				      enum auc_reason *reason, struct auc_err *err)
{
	enum auc_code rc = whole_jobs_arrive(&ctx->gang, m, id, job, reason, err);

	if (rc == AUC_OK && *reason == AUC_REASON_NONE)
		ctx->gang.jobs[ctx->gang.n - 1]->waits = true;
	return rc;
}

static enum auc_code batchsche_step(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				    auc_slot t, const struct auc_layout **layouts, unsigned *n,
				    struct auc_err *err)
{
	unsigned i;

	if (t % (auc_slot)ctx->interval == 0)
		schedule_batch(ctx, t);
	/* What runs goes before what waits for room, older batches before younger ones. */
	for (i = 0; i < ctx->gang.n; i++)
		if (ctx->gang.jobs[i]->running)
			ctx->gang.jobs[i]->class = 0;
	return whole_jobs_step(&ctx->gang, m, t, compare_batch, layouts, n, err);
}

static enum auc_code batchsche_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err)
{
	return whole_jobs_leave(&ctx->gang, id, err);
}

static void schedule_batch(struct auc_stepper_ctx *ctx, auc_slot t)
{
	struct whole_job *j;
	unsigned i;

	ctx->batch++;
	for (i = 0; i < ctx->gang.n; i++)
		if (ctx->gang.jobs[i]->waits)
			ctx->gang.jobs[i]->class = ctx->batch;
	if (ctx->gang.n)
		qsort(ctx->gang.jobs, ctx->gang.n, sizeof(struct whole_job *), compare_batch);
	for (i = 0; i < ctx->gang.n; i++) {
		j = ctx->gang.jobs[i];
		if (!j->waits)
			continue;
		j->waits = false;
		j->arrival = t;
		choose_site(ctx, j);
	}
}

/* Those at the edge that are waited for count as in use. */
static void choose_site(struct auc_stepper_ctx *ctx, struct whole_job *j)
{
	const struct whole_job *other;
	double in_use = 0, price = 0;
	bool cloud = j->cloud_fit > 0;
	unsigned i;

	for (i = 0; i < ctx->gang.n; i++) {
		other = ctx->gang.jobs[i];
		if (!other->waits && !other->done && other->site == WHOLE_JOB_EDGE &&
		    other->worker_type == j->worker_type)
			in_use += (double)other->n;
	}
	if (j->edge_fit > 0) {
		price = (pow(MU, in_use / (double)j->edge_fit) - 1) / (MU - 1);
		cloud = cloud && price * (double)j->apart > ctx->cloud_price * (double)j->together;
	}
	j->site = cloud ? WHOLE_JOB_CLOUD : WHOLE_JOB_EDGE;
	if (cloud)
		j->n = (int64_t)j->chunks < j->cloud_fit ? (int64_t)j->chunks : j->cloud_fit;
	else if (j->n > j->edge_fit)
		j->n = j->edge_fit;
}

/* By class, then by what is left of one worker's work, then by arrival. */
static int compare_batch(const void *a, const void *b)
{
	const struct whole_job *x = *(struct whole_job *const *)a;
	const struct whole_job *y = *(struct whole_job *const *)b;
	int64_t s = x->left / x->together, t = y->left / y->together;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->class && s != t)
		return s < t ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}
