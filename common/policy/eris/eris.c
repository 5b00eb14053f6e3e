/*
 * eris.c - the sealed-bid policy Eris.
 *
 * J. Pang et al.: "Eris: An Online Auction for Scheduling Unbiased Distributed Learning Over Edge
 * Networks", IEEE TMC 2024: problem (7) at the prices (6), in place of Algorithms 2 and 3. The
 * chunks of a job lie at servers, which are its sites. A slot trains some of them in all epochs,
 * each where it lies or where it is moved to for that; k chunks at a site take ceil(epochs * k /
 * chunks_per_slot) workers there. A slot with workers has one PS, at one site. Moved chunks, and
 * what workers elsewhere than the PS exchange, are paid by the MB and come out of the budget of
 * the slot.
 *
 * What is left of the job after some slots is a number of chunks at every site, too many states for
 * a dynamic program. But where a moved chunk comes from matters to nobody: what counts is how many
 * are trained, and how many of those that lie at a site are trained there in all slots together.
 * So:
 * - The program runs over the number of chunks alone, with costs of a slot (eris_slot.c) as if all
 *   chunks lay there still, those at a site at a shadow price.
 * - Its path, how many chunks in which slot, is laid out slot by slot with what is really left, and
 *   what that costs is what counts. It is executed as it stands.
 * - The same is done as if nothing lay anywhere and all had to be moved: that costs too much, but
 *   what comes of it can be carried out as it is.
 * - Shadow prices rise where the path trains more than lies there, and it is done again, until the
 *   schedule costs what the program says, or enough has been tried.
 * So a schedule is always feasible and costs what it is charged, but it need not be the best one:
 * the property test and tests/bench/eris say by how much. In markets of a few servers and chunks
 * the program over all states is run as well, and the schedule is the best one. The time of a
 * decision is bounded by counting its work.
 *
 * A server is usable from arrival + Delta on, where the bid has a Delta. Jobs of very many chunks
 * are planned by lumps of them.
 *
 * Ties: the earliest completion goes first, the lowest worker type, the lowest PS type, the
 * schedule that trains early.
 *
 * Options: variant=best; effort=N (1; 0 to 1000): how much is tried, in time and rounds;
 * exact=on|off (off: as if no market were small).
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/eris/eris-private.h"
#include "policy/option.h"

#define CELLS_MOST 4000000.0 /* of the program: slots * units^2 / 2 */
#define UNITS_MOST 400

static enum auc_code eris_create(const char *options, struct auc_policy_ctx **ctx,
				 struct auc_err *err);
static void eris_destroy(struct auc_policy_ctx *ctx);
static enum auc_code eris_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err);
static int64_t eris_least_slots(const struct auc_market *m, const struct auc_job *job,
				unsigned worker, unsigned ps, int64_t n);
static enum auc_code check_job(const struct auc_market *m, const struct auc_job *job,
			       struct auc_err *err);
static bool set_up(struct auc_policy_ctx *ctx);
static bool set_up_pair(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps, bool *possible);
static enum auc_code no_memory(const struct auc_policy_ctx *ctx, struct auc_err *err);

const struct auc_policy auc_policy_eris = {
	.name = "eris",
	.summary = "sealed bids; data at sites, a priced budget of traffic (Eris, TMC'24)",
	.prices = AUC_PRICE_ETA,
	.sites = true,
	.create = eris_create,
	.destroy = eris_destroy,
	.quote = eris_quote,
	.least_slots = eris_least_slots,
};

struct options {
	unsigned variant, exact;
	uint64_t effort;
};

static enum auc_code eris_create(const char *options, struct auc_policy_ctx **ctx,
				 struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "variant", .choices = "best", .offset = offsetof(struct options, variant)},
		{.key = "effort",
		 .type = AUC_OPTION_COUNT,
		 .max = 1000,
		 .offset = offsetof(struct options, effort)},
		{.key = "exact", .choices = "on|off", .offset = offsetof(struct options, exact)},
	};
	struct options o = {.effort = 1};
	enum auc_code rc = auc_options_read("eris", options, list, 3, &o, err);

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	*ctx = calloc(1, sizeof(**ctx));
	if (!*ctx)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy eris");
	(*ctx)->search = auc_eris_search;
	(*ctx)->heuristic = o.exact == 1;
	(*ctx)->effort = (unsigned)o.effort;
	return AUC_OK;
}

static void eris_destroy(struct auc_policy_ctx *ctx)
{
	unsigned i;

	if (!ctx)
		return;
	for (i = 0; i < ERIS_MEMORIES; i++)
		free(ctx->memory[i].at);
	free(ctx);
}

static enum auc_code eris_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err)
{
	enum auc_code rc;
	bool possible;
	unsigned w, p;

	auc_decision_reset(decision);
	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	rc = check_job(m, job, err);
	if (rc != AUC_OK)
		return rc;
	ctx->m = m;
	ctx->job = job;
	ctx->limit = decision->most_steps ? decision->most_steps : UINT64_MAX;
	if (!set_up(ctx))
		return no_memory(ctx, err);
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++) {
			if (job->worker_seconds[w] < 0 || job->ps_seconds[p] < 0 ||
			    (auc_eris_is_spent(ctx) &&
			     (ctx->found || auc_eris_steps(ctx) / 3 > ctx->limit / 2)))
				continue;
			if (!set_up_pair(ctx, w, p, &possible) || (possible && !ctx->search(ctx)))
				return no_memory(ctx, err);
		}
	decision->steps = auc_eris_steps(ctx);
	if (ctx->found)
		rc = auc_eris_plan(ctx, &decision->plan, err);
	if (rc != AUC_OK)
		return rc;
	if (ctx->found)
		auc_decision_by_payoff(decision);
	/* Of what was not looked at no more is known than what the job is worth at best. */
	auc_decision_cut(decision, auc_eris_is_spent(ctx) && ctx->start0 < m->slots
					   ? auc_eris_value(ctx, ctx->start0 + 1)
					   : -INFINITY);
	return AUC_OK;
}

/* N workers pass through N * P chunks at most. */
static int64_t eris_least_slots(const struct auc_market *m, const struct auc_job *job,
				unsigned worker, unsigned ps, int64_t n)
{
	double each = auc_job_chunks_per_slot(m, job, worker, ps);

	return auc_job_duration((double)job->epochs * (double)job->chunks / each, n);
}

static enum auc_code check_job(const struct auc_market *m, const struct auc_job *job,
			       struct auc_err *err)
{
	uint64_t sum = 0;
	unsigned i, w, p;

	if (!job->ndata)
		return auc_err_set(err, AUC_EINVAL,
				   "policy eris: expected a job that says where its chunks lie");
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++)
			if (job->worker_seconds[w] >= 0 && job->ps_seconds[p] >= 0 &&
			    !auc_traffic_counts(job, auc_job_chunks_per_slot(m, job, w, p),
						auc_job_exchange_mb(m, job, w, p)))
				return auc_err_set(err, AUC_EINVAL,
						   "policy eris: expected a job that sends 1e12 MB "
						   "at most");
	for (i = 0; i < job->ndata; i++) {
		if (job->data[i].server >= m->nservers || job->data[i].chunks > job->chunks ||
		    (i && job->data[i].server <= job->data[i - 1].server))
			return auc_err_set(err, AUC_EINVAL,
					   "chunks of the job: expected servers of the market in "
					   "order, with no more than all chunks");
		sum += job->data[i].chunks;
	}
	if (sum != job->chunks)
		return auc_err_set(err, AUC_EINVAL,
				   "chunks of the job: expected %llu in all, found %llu",
				   (unsigned long long)job->chunks, (unsigned long long)sum);
	return AUC_OK;
}

void *auc_eris_memory(struct auc_policy_ctx *ctx, unsigned i, size_t n, size_t size)
{
	struct eris_memory *memory = &ctx->memory[i];

	if (n * size <= memory->bytes)
		return memory->at;
	free(memory->at);
	memory->bytes = n * size + n * size / 4 + 64;
	memory->at = calloc(1, memory->bytes);
	if (!memory->at)
		memory->bytes = 0;
	return memory->at;
}

/* What does not depend on the pair of types. False: no memory. */
static bool set_up(struct auc_policy_ctx *ctx)
{
	const struct auc_market *m = ctx->m;
	const struct auc_job *job = ctx->job;
	size_t n = (size_t)m->nservers + 1;
	unsigned i;

	ctx->found = false;
	ctx->work = 0;
	ctx->walked = 4 * (uint64_t)m->nservers;
	ctx->ready = auc_eris_memory(ctx, ERIS_READY, n, sizeof(*ctx->ready));
	ctx->chunks = auc_eris_memory(ctx, ERIS_CHUNKS, n, sizeof(*ctx->chunks));
	ctx->local = auc_eris_memory(ctx, ERIS_LOCAL, n, sizeof(*ctx->local));
	ctx->shadow = auc_eris_memory(ctx, ERIS_SHADOW, n, sizeof(*ctx->shadow));
	ctx->stamp = auc_eris_memory(ctx, ERIS_STAMP, n, sizeof(*ctx->stamp));
	ctx->left = auc_eris_memory(ctx, ERIS_LEFT, n, sizeof(*ctx->left));
	ctx->over = auc_eris_memory(ctx, ERIS_OVER, n, sizeof(*ctx->over));
	ctx->nowhere = auc_eris_memory(ctx, ERIS_NOWHERE, n, sizeof(*ctx->nowhere));
	ctx->lie = auc_eris_memory(ctx, ERIS_LIE, n, sizeof(*ctx->lie));
	if (!ctx->ready || !ctx->chunks || !ctx->local || !ctx->shadow || !ctx->stamp ||
	    !ctx->left || !ctx->over || !ctx->lie || !ctx->nowhere)
		return false;
	memset(ctx->chunks, 0, n * sizeof(*ctx->chunks));
	for (i = 0; i < job->ndata; i++)
		ctx->chunks[job->data[i].server] = job->data[i].chunks;
	ctx->start0 = auc_policy_ready(m, job, ctx->ready);
	return true;
}

/* Units and tables; *POSSIBLE: there may be schedules. */
static bool set_up_pair(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps, bool *possible)
{
	const struct auc_market *m = ctx->m;
	const struct auc_job *job = ctx->job;
	size_t slots = m->slots - ctx->start0;
	double each, most;
	unsigned k, s;

	auc_eris_set_types(ctx, worker, ps);
	each = (double)job->epochs / ctx->chunks_per_slot;
	*possible = slots && m->cache[worker].max0 && m->cache[auc_ps_index(m, ps)].max0;
	if (!*possible)
		return true;
	most = fmax(1, fmin(UNITS_MOST, floor(sqrt(2 * CELLS_MOST / (double)slots))));
	ctx->lump = (uint64_t)ceil((double)job->chunks / most);
	ctx->units = (unsigned)((job->chunks + ctx->lump - 1) / ctx->lump);
	ctx->move_bytes = auc_traffic_bytes(job->chunk_mb) * (int64_t)ctx->lump;
	ctx->exchange_bytes = auc_traffic_bytes(ctx->exchange_mb);
	ctx->need = auc_eris_memory(ctx, ERIS_NEED, (size_t)ctx->units + 1, sizeof(*ctx->need));
	ctx->reach = auc_eris_memory(ctx, ERIS_REACH, (size_t)ctx->units + 2, sizeof(*ctx->reach));
	ctx->cost = auc_eris_memory(ctx, ERIS_COST, slots * (ctx->units + 1), sizeof(*ctx->cost));
	ctx->choice =
		auc_eris_memory(ctx, ERIS_CHOICE, slots * (ctx->units + 1), sizeof(*ctx->choice));
	ctx->done =
		auc_eris_memory(ctx, ERIS_DONE, (slots + 1) * (ctx->units + 1), sizeof(*ctx->done));
	ctx->path = auc_eris_memory(ctx, ERIS_PATH, m->slots, sizeof(*ctx->path));
	ctx->most = auc_eris_memory(ctx, ERIS_MOST, m->slots, sizeof(*ctx->most));
	if (!ctx->need || !ctx->reach || !ctx->cost || !ctx->choice || !ctx->done || !ctx->path ||
	    !ctx->most)
		return false;
	for (k = 0; k <= ctx->units; k++)
		ctx->need[k] = (uint64_t)auc_ceil(each * (double)k * (double)ctx->lump);
	for (k = ctx->units; k > 0; k--)
		ctx->reach[k] =
			k < ctx->units && ctx->need[k + 1] == ctx->need[k] ? ctx->reach[k + 1] : k;
	for (s = 0; s < m->nservers; s++)
		ctx->local[s] = (unsigned)(ctx->chunks[s] / ctx->lump);
	return true;
}

void auc_eris_set_types(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps)
{
	ctx->worker = worker;
	ctx->ps = ps;
	ctx->chunks_per_slot = auc_job_chunks_per_slot(ctx->m, ctx->job, worker, ps);
	ctx->exchange_mb = auc_job_exchange_mb(ctx->m, ctx->job, worker, ps);
}

double auc_eris_value(const struct auc_policy_ctx *ctx, unsigned completion)
{
	return auc_utility_value(&ctx->job->utility,
				 (double)(ctx->m->first + completion - ctx->job->arrival));
}

static enum auc_code no_memory(const struct auc_policy_ctx *ctx, struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "no memory for a quote among %u servers",
			   ctx->m->nservers);
}
