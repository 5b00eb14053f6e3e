/*
 * eris_plan.c - schedules of policy eris: what one costs, which of its chunks are trained where
 * they lie, the best one so far, and the plan that it is.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/eris/eris-private.h"

static bool settle(struct auc_policy_ctx *ctx);
static void make_chunks(struct auc_policy_ctx *ctx);
static void stay(struct auc_policy_ctx *ctx);
static bool within_budgets(const struct auc_policy_ctx *ctx);
static enum auc_code add_moves(struct auc_policy_ctx *ctx, struct auc_plan *plan,
			       struct auc_err *err);

bool auc_eris_start_slices(struct auc_policy_ctx *ctx)
{
	ctx->slices_most = ctx->units + ctx->m->slots;
	ctx->slices = auc_eris_memory(ctx, ERIS_SLICES, ctx->slices_most, sizeof(*ctx->slices));
	ctx->order = auc_eris_memory(ctx, ERIS_ORDER, ctx->slices_most, sizeof(*ctx->order));
	ctx->nslices = 0;
	memcpy(ctx->left, ctx->local, ctx->m->nservers * sizeof(*ctx->left));
	return ctx->slices && ctx->order;
}

static uint64_t workers_of(const struct auc_policy_ctx *ctx, uint64_t chunks)
{
	return (uint64_t)auc_ceil((double)ctx->job->epochs / ctx->chunks_per_slot * (double)chunks);
}

/* What a schedule costs in all; its slices are sorted by slot and site. */
static double cost_of(const struct auc_policy_ctx *ctx, const struct eris_slice *slices, unsigned n)
{
	const struct auc_market *m = ctx->m;
	const struct eris_slice *e;
	double cost = 0, mb, workers;

	for (e = slices; e < slices + n; e++) {
		workers = (double)workers_of(ctx, e->chunks);
		if (e->chunks)
			cost += workers * auc_type_price(&m->cache[ctx->worker], e->slot, e->site);
		if (e->ps)
			cost += auc_type_price(&m->cache[auc_ps_index(m, ctx->ps)], e->slot,
					       e->site);
		mb = (e->ps ? 0 : workers) * ctx->exchange_mb +
		     (double)(e->chunks - e->local) * ctx->job->chunk_mb;
		cost += mb * m->traffic.price[e->slot];
	}
	return cost;
}

static int by_place(const void *a, const void *b)
{
	const struct eris_slice *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

bool auc_eris_keep(struct auc_policy_ctx *ctx)
{
	unsigned completion;
	double value, cost;

	qsort(ctx->slices, ctx->nslices, sizeof(*ctx->slices), by_place);
	if (!settle(ctx))
		return true;
	completion = ctx->slices[ctx->nslices - 1].slot + 1;
	value = auc_eris_value(ctx, completion);
	cost = cost_of(ctx, ctx->slices, ctx->nslices);
	if (ctx->found && value - cost <= ctx->best_payoff + 4 * ERIS_TIE * (value + cost))
		return true;
	ctx->best = auc_eris_memory(ctx, ERIS_BEST, ctx->slices_most, sizeof(*ctx->best));
	if (!ctx->best)
		return false;
	memcpy(ctx->best, ctx->slices, ctx->nslices * sizeof(*ctx->best));
	ctx->nbest = ctx->nslices;
	ctx->found = true;
	ctx->best_payoff = value - cost;
	ctx->best_completion = completion;
	ctx->best_worker = ctx->worker;
	ctx->best_ps = ctx->ps;
	return true;
}

static int by_transfer(const void *a, const void *b, void *arg)
{
	const struct auc_policy_ctx *ctx = arg;
	unsigned i = *(const unsigned *)a, j = *(const unsigned *)b;
	double x = ctx->m->traffic.price[ctx->slices[i].slot];
	double y = ctx->m->traffic.price[ctx->slices[j].slot];

	if (x != y)
		return x > y ? -1 : 1;
	return (i > j) - (i < j);
}

/*
 * Turns units into chunks, and says which of them are trained where they lie: as far as the budgets
 * allow it, in the slots in which a move costs most. Where a moved chunk comes from does not
 * matter. False: some slot would send more than its budget.
 */
static bool settle(struct auc_policy_ctx *ctx)
{
	struct eris_slice *e, *end = ctx->slices + ctx->nslices;
	unsigned i;

	make_chunks(ctx);
	for (i = 0; i < ctx->nslices; i++)
		ctx->order[i] = i;
	qsort_r(ctx->order, ctx->nslices, sizeof(*ctx->order), by_transfer, ctx);
	memcpy(ctx->lie, ctx->chunks, ctx->m->nservers * sizeof(*ctx->lie));
	for (e = ctx->slices; e < end; e++)
		e->local = 0;
	stay(ctx);
	if (within_budgets(ctx))
		return true;
	/* As it was planned, and what a lump has left over. */
	memcpy(ctx->lie, ctx->chunks, ctx->m->nservers * sizeof(*ctx->lie));
	for (e = ctx->slices; e < end; e++) {
		e->local = e->planned * (unsigned)ctx->lump;
		e->local = e->local < e->chunks ? e->local : e->chunks;
		ctx->lie[e->site] -= e->local;
	}
	stay(ctx);
	return within_budgets(ctx);
}

/* The slices in chunks; the last one has what is left of all. */
static void make_chunks(struct auc_policy_ctx *ctx)
{
	struct eris_slice *e, *end = ctx->slices + ctx->nslices;
	uint64_t sum = 0;

	for (e = ctx->slices; e < end; e++) {
		e->planned = e->local;
		e->chunks *= (unsigned)ctx->lump;
		sum += e->chunks;
	}
	while (!(--e)->chunks)
		;
	e->chunks -= (unsigned)(sum - ctx->job->chunks);
}

/* What is left of the chunks that lie at a site, ctx->lie, is trained there by its slices in
 * ctx->order. */
static void stay(struct auc_policy_ctx *ctx)
{
	struct eris_slice *e;
	uint64_t more;
	unsigned i;

	for (i = 0; i < ctx->nslices; i++) {
		e = &ctx->slices[ctx->order[i]];
		more = e->chunks - e->local;
		more = more < ctx->lie[e->site] ? more : ctx->lie[e->site];
		e->local += (unsigned)more;
		ctx->lie[e->site] -= more;
	}
}

static bool within_budgets(const struct auc_policy_ctx *ctx)
{
	const struct eris_slice *e = ctx->slices, *end = e + ctx->nslices;
	int64_t away, moved, move = auc_traffic_bytes(ctx->job->chunk_mb);
	unsigned slot;

	while (e < end) {
		slot = e->slot;
		away = moved = 0;
		for (; e < end && e->slot == slot; e++) {
			away += e->ps ? 0 : (int64_t)workers_of(ctx, e->chunks);
			moved += e->chunks - e->local;
		}
		if (away * ctx->exchange_bytes + moved * move > auc_traffic_left(ctx->m, slot))
			return false;
	}
	return true;
}

static bool same_layout(const struct eris_slice *a, unsigned n, const struct eris_slice *b,
			unsigned k, const struct auc_policy_ctx *ctx)
{
	unsigned i;

	if (n != k)
		return false;
	for (i = 0; i < n; i++)
		if (a[i].site != b[i].site || a[i].ps != b[i].ps ||
		    workers_of(ctx, a[i].chunks) != workers_of(ctx, b[i].chunks))
			return false;
	return true;
}

/* The best schedule as a plan, priced as it will be charged. */
enum auc_code auc_eris_plan(struct auc_policy_ctx *ctx, struct auc_plan *plan, struct auc_err *err)
{
	const struct eris_slice *e = ctx->best, *end = e + ctx->nbest, *next, *last = NULL, *s;
	auc_slot first = ctx->m->first;
	enum auc_code rc = AUC_OK;
	unsigned before = 0;
	bool home = true;

	auc_plan_reset(plan);
	auc_eris_set_types(ctx, ctx->best_worker, ctx->best_ps);
	plan->worker_type = ctx->worker;
	plan->ps_type = ctx->ps;
	plan->arrival = ctx->job->arrival;
	plan->chunk_mb = ctx->job->chunk_mb;
	plan->exchange_mb = ctx->exchange_mb;
	for (; e < end && rc == AUC_OK; e = next) {
		for (next = e; next < end && next->slot == e->slot; next++)
			home = home && (next->ps || !next->chunks);
		if (last && last->slot + 1 == e->slot &&
		    same_layout(last, before, e, (unsigned)(next - e), ctx)) {
			plan->runs[plan->nruns - 1].to++;
		} else {
			rc = auc_plan_add_run(plan, first + e->slot, first + e->slot, err);
			for (s = e; s < next && rc == AUC_OK; s++)
				rc = auc_plan_add_share(plan, s->site,
							(unsigned)workers_of(ctx, s->chunks), s->ps,
							err);
		}
		last = e;
		before = (unsigned)(next - e);
	}
	if (rc == AUC_OK)
		rc = add_moves(ctx, plan, err);
	if (rc != AUC_OK)
		return rc;
	plan->colocated = home;
	plan->start = plan->runs[0].from;
	plan->completion = plan->runs[plan->nruns - 1].to + 1;
	plan->value =
		auc_utility_value(&ctx->job->utility, (double)(plan->completion - plan->arrival));
	plan->cost = auc_plan_cost(plan, ctx->m);
	return AUC_OK;
}

/* From the sites, in order, whose chunks are not all trained there. */
static enum auc_code add_moves(struct auc_policy_ctx *ctx, struct auc_plan *plan,
			       struct auc_err *err)
{
	const struct auc_data *data = ctx->job->data, *from = data;
	const struct eris_slice *e, *end = ctx->best + ctx->nbest;
	enum auc_code rc = AUC_OK;
	uint64_t left, n;

	memcpy(ctx->lie, ctx->chunks, ctx->m->nservers * sizeof(*ctx->lie));
	for (e = ctx->best; e < end; e++)
		ctx->lie[e->site] -= e->local;
	for (e = ctx->best; e < end; e++)
		for (left = e->chunks - e->local; left && rc == AUC_OK; left -= n) {
			while (!ctx->lie[from->server])
				from++;
			n = left < ctx->lie[from->server] ? left : ctx->lie[from->server];
			ctx->lie[from->server] -= n;
			rc = auc_plan_add_move(plan, ctx->m->first + e->slot, from->server, e->site,
					       (unsigned)n, err);
		}
	return rc;
}
