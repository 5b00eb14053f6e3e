/*
 * dps_floor.c - what a window costs at least with its PSs, told from prefix sums of the cheapest
 * offers of each slot: few steps, however long the window is. What dps_bounds.c knows of blocks of
 * slots is closer to the cost and takes more.
 *
 * As there, PSs are on one server and serve the workers that are not beside them; large servers are
 * looked at apart from the others.
 */
#include "config.h"

#include <math.h>

#include "policy/dps/dps-private.h"

/* Of PSs of any type that the job may have, after the worker types. */
enum kind { ONE, MBPS, KINDS };

static struct offer_series *series_of(const struct auc_policy_ctx *ctx, unsigned what,
				      enum tier tier);
static void follow_workers(struct auc_policy_ctx *ctx, unsigned worker, unsigned end);
static void follow_ps(struct auc_policy_ctx *ctx, unsigned end);
static void add_offer(struct offer_series *at, unsigned slot, double price);
static double sum_of(const struct auc_policy_ctx *ctx, unsigned what, enum tier tier,
		     unsigned completion, unsigned d);

void auc_dps_start_series(struct auc_policy_ctx *ctx)
{
	double mbps;
	unsigned what, p;
	enum tier tier;

	for (what = 0; what < ctx->nworkers + KINDS; what++) {
		ctx->followed[what] = ctx->start0;
		for (tier = ANY; tier < TIERS; tier++)
			series_of(ctx, what, tier)[ctx->start0] = (struct offer_series){0};
	}
	for (tier = LARGE; tier < TIERS; tier++) {
		ctx->serves[tier] = 0;
		for (p = 0; p < ctx->nps; p++) {
			mbps = (double)ctx->most[auc_ps_index(ctx->m, p)][tier] *
			       ctx->m->types[auc_ps_index(ctx->m, p)].bandwidth;
			if (ctx->job->ps_seconds[p] >= 0 && mbps > ctx->serves[tier])
				ctx->serves[tier] = mbps;
		}
	}
}

size_t auc_dps_nseries(const struct auc_policy_ctx *ctx)
{
	return (size_t)(ctx->nworkers + KINDS) * TIERS;
}

/* WHAT: a worker type, or after those a kind. */
static struct offer_series *series_of(const struct auc_policy_ctx *ctx, unsigned what,
				      enum tier tier)
{
	return ctx->series + ((size_t)what * TIERS + tier) * (ctx->slots + 1);
}

static void follow_workers(struct auc_policy_ctx *ctx, unsigned worker, unsigned end)
{
	unsigned *slot = &ctx->followed[worker];
	const struct offer *o;
	enum tier tier;

	for (; *slot < end; ++*slot) {
		o = auc_dps_offers(ctx, worker, *slot, *slot);
		for (tier = ANY; tier < TIERS; tier++)
			add_offer(series_of(ctx, worker, tier), *slot, o[tier].price);
	}
}

static void follow_ps(struct auc_policy_ctx *ctx, unsigned end)
{
	unsigned *slot = &ctx->followed[ctx->nworkers];
	const struct ps_offer *o;
	enum tier tier;

	for (; *slot < end; ++*slot) {
		o = auc_dps_ps_offers(ctx, *slot, *slot);
		for (tier = LARGE; tier < TIERS; tier++) {
			add_offer(series_of(ctx, ctx->nworkers + ONE, tier), *slot, o[tier].one);
			add_offer(series_of(ctx, ctx->nworkers + MBPS, tier), *slot, o[tier].mbps);
		}
	}
}

static void add_offer(struct offer_series *at, unsigned slot, double price)
{
	bool none = isinf(price);

	at += slot;
	at[1].sum = at->sum + (none ? 0 : price);
	at[1].none = none ? slot + 1 : at->none;
}

/* Of a window, less what rounding may have added; INFINITY if a slot offers nothing. */
static double sum_of(const struct auc_policy_ctx *ctx, unsigned what, enum tier tier,
		     unsigned completion, unsigned d)
{
	const struct offer_series *end = series_of(ctx, what, tier) + completion;
	double sum = end->sum * ctx->keep - end[-(ptrdiff_t)d].sum;

	if (end->none > completion - d)
		return INFINITY;
	return sum > 0 ? sum : 0;
}

double auc_dps_window_floor(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion,
			    unsigned d, double workers, double limit)
{
	const struct lane *l = &ctx->lanes[lane];
	struct choice c = {.worker = l->worker,
			   .n = ctx->fewest[(size_t)lane * (ctx->slots + 1) + d]};
	double least = INFINITY, any = 0, cost;
	struct offer beside;
	struct ps_offer ps;
	enum tier tier;
	int64_t most;

	follow_ps(ctx, completion);
	if (!l->colocated) {
		follow_workers(ctx, l->worker, completion);
		any = sum_of(ctx, l->worker, ANY, completion, d);
	}
	for (tier = LARGE; tier < TIERS; tier++) {
		most = ctx->most[l->worker][tier];
		ps.one = sum_of(ctx, ctx->nworkers + ONE, tier, completion, d);
		if (isinf(ps.one) || (l->colocated && c.n > most))
			continue;
		cost = workers + ps.one;
		if (!l->colocated && cost < least) {
			ps.mbps = sum_of(ctx, ctx->nworkers + MBPS, tier, completion, d);
			ps.serves = ctx->serves[tier];
			beside.price = sum_of(ctx, l->worker, tier, completion, d);
			most = isinf(beside.price) ? 0 : most < c.n ? most : c.n - 1;
			cost = workers + auc_dps_exchange_bound(ctx, &c, most, NULL, &ps, 0);
			if (cost < least && cost < limit)
				cost = fmax(cost, auc_dps_exchange_bound(ctx, &c, most, &beside,
									 &ps, any));
		}
		least = cost < least ? cost : least;
	}
	return least;
}
