/*
 * oasis_paper.c - policy oasis as it is printed, for reproduction: the recursion of Algorithm 1
 * over passes through a chunk, none of which goes on in the next slot (line 24). Option:
 * variant=paper of policy oasis. oasis.c says what else the print leaves open.
 */
#include "config.h"

#include <stddef.h>

#include "auctionsim/baseline/registry.h"
#include "base/num.h"
#include "policy/oasis/oasis-private.h"
#include "policy/option.h"

static enum auc_code paper_create(const char *options, struct auc_policy_ctx **ctx,
				  struct auc_err *err);
static void paper_destroy(struct auc_policy_ctx *ctx);
static enum auc_code paper_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				 const struct auc_job *job, struct auc_decision *decision,
				 struct auc_err *err);
static int64_t paper_least_slots(const struct auc_market *m, const struct auc_job *job,
				 unsigned worker, unsigned ps, int64_t n);
static bool size_paper(struct auc_policy_ctx *ctx, int64_t most, double *unit);

const struct auc_policy sim_policy_oasis_paper = {
	.name = "oasis",
	.summary = "oasis as printed",
	.prices = AUC_PRICE_BOUNDS,
	.create = paper_create,
	.destroy = paper_destroy,
	.quote = paper_quote,
	.least_slots = paper_least_slots,
};

/* Its options but "variant" are read as oasis reads them, and change nothing. */
static enum auc_code paper_create(const char *options, struct auc_policy_ctx **ctx,
				  struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "variant", .choices = "exact|paper", .offset = 0},
		{.key = "bounds", .choices = "on|off", .offset = sizeof(unsigned)},
	};
	unsigned values[2] = {0};
	enum auc_code rc = auc_options_read("oasis", options, list, 2, values, err);

	*ctx = NULL;
	if (rc == AUC_OK)
		rc = auc_policy_oasis.create("bounds=off", ctx, err);
	if (rc == AUC_OK)
		(*ctx)->size = size_paper;
	return rc;
}

static void paper_destroy(struct auc_policy_ctx *ctx)
{
	auc_policy_oasis.destroy(ctx);
}

static enum auc_code paper_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				 const struct auc_job *job, struct auc_decision *decision,
				 struct auc_err *err)
{
	return auc_policy_oasis.quote(ctx, m, job, decision, err);
}

static int64_t paper_least_slots(const struct auc_market *m, const struct auc_job *job,
				 unsigned worker, unsigned ps, int64_t n)
{
	return auc_policy_oasis.least_slots(m, job, worker, ps, n);
}

/* Passes over a chunk. */
static bool size_paper(struct auc_policy_ctx *ctx, int64_t most, double *unit)
{
	double passes = (double)ctx->job->epochs * (double)ctx->job->chunks;
	int64_t slots = (int64_t)ctx->m->slots - ctx->start0, options;
	const struct auc_job *job = ctx->job;
	unsigned worker = ctx->pair.worker;

	*unit = (double)job->minibatches *
		(job->worker_seconds[worker] +
		 2 * job->gradient_mb * 8 / ctx->m->types[worker].bandwidth) /
		ctx->m->slot_seconds;
	if (passes * (double)(slots + 1) > (double)OASIS_TABLE_CELLS)
		return false;
	options = *unit * passes > (double)most ? auc_floor((double)most / *unit) : (int64_t)passes;
	while (options && auc_ceil((double)options * *unit) > most)
		options--;
	ctx->pair.units = (unsigned)passes;
	ctx->pair.options = (unsigned)options;
	return options > 0;
}
