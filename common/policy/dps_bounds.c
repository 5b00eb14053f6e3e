/*
 * dps_bounds.c - lower bounds of what a window costs, from which dps.c sees what it need not look
 * at.
 *
 * For each worker type and placement (a lane) and some worker counts (levels) the cheapest workers
 * of each slot, read off the market's price order, are summed over slots by prefix sums: workers
 * may change servers each slot. The same for blocks of 1, 2, 4, ... slots gives the better bound of
 * a window made of blocks, in which they stay where they are for a block.
 */
#include "config.h"

#include <float.h>
#include <math.h>

#include "num.h"
#include "policy/dps-private.h"

static double lowest_price(const struct auc_policy_ctx *ctx, unsigned type);
static void add_slot(struct auc_policy_ctx *ctx, unsigned lane, unsigned slot);
static const double *lane_block(struct auc_policy_ctx *ctx, unsigned lane, unsigned row,
				unsigned slot);
static int64_t walk_distributed(const struct auc_policy_ctx *ctx, const struct lane *l,
				unsigned row, unsigned slot, double *level_cost);
static int64_t walk_colocated(const struct auc_policy_ctx *ctx, const struct lane *l, unsigned row,
			      unsigned slot, double *level_cost);
static double ps_block(struct auc_policy_ctx *ctx, unsigned ps, unsigned row, unsigned slot);
static unsigned next_block(const struct auc_market *m, unsigned *at, unsigned end);

void auc_dps_add_lane(struct auc_policy_ctx *ctx, unsigned worker, bool colocated)
{
	const struct auc_market *m = ctx->m;
	const struct auc_job *job = ctx->job;
	struct lane *lane = &ctx->lanes[ctx->nlanes];
	size_t base = (size_t)ctx->nlanes * (m->slots + 1);
	double least = DBL_MAX, most = -1, work;
	unsigned p, d, i, distinct = 0, every, seen;
	int64_t longest;

	if (job->worker_seconds[worker] < 0)
		return;
	for (p = 0; p < m->nps_types; p++) {
		if (job->ps_seconds[p] < 0)
			continue;
		work = *dps_work_of(ctx, worker, p, colocated);
		least = fmin(least, work);
		most = fmax(most, work);
	}
	if (most < 0)
		return;
	longest = auc_job_duration(most, 1);
	lane->worker = worker;
	lane->colocated = colocated;
	lane->dmax = longest < m->slots ? (unsigned)longest : m->slots;
	lane->dmin = lane->dmax + 1;
	lane->slots = INFINITY;
	for (d = lane->dmax; d; d--) {
		ctx->fewest[base + d] = auc_job_workers(least, d, job->chunks);
		if (!ctx->fewest[base + d])
			break;
		lane->dmin = d;
		lane->slots = fmin(lane->slots, (double)ctx->fewest[base + d] * d);
		distinct += d == lane->dmax || ctx->fewest[base + d] != ctx->fewest[base + d + 1];
	}
	if (lane->dmin > lane->dmax)
		return;
	/* levels: every so many of the distinct counts, from the least; then the largest level
	 * below each count */
	every = (distinct + ctx->levels - 1) / ctx->levels;
	lane->nlevels = 0;
	for (d = lane->dmax, seen = 0; d >= lane->dmin; d--) {
		if (d == lane->dmax || ctx->fewest[base + d] != ctx->fewest[base + d + 1])
			if (seen++ % every == 0)
				lane->level[lane->nlevels++] = ctx->fewest[base + d];
		i = lane->nlevels - 1;
		ctx->level_of[base + d] = (uint8_t)i;
		ctx->ratio[base + d] = (double)ctx->fewest[base + d] / (double)lane->level[i];
	}
	ctx->nlanes++;
}

void auc_dps_find_floor(struct auc_policy_ctx *ctx)
{
	double least[2 * AUC_TYPES_MAX], ps = INFINITY;
	struct lane *l;
	unsigned i;

	for (i = 0; i < ctx->m->nworker_types + ctx->m->nps_types; i++)
		least[i] = lowest_price(ctx, i);
	for (i = 0; i < ctx->m->nps_types; i++)
		if (ctx->job->ps_seconds[i] >= 0)
			ps = fmin(ps, least[auc_ps_index(ctx->m, i)]);
	ctx->floor = INFINITY;
	for (l = ctx->lanes; l < ctx->lanes + ctx->nlanes; l++) {
		l->floor = (l->slots * least[l->worker] + l->dmin * ps) * ctx->keep;
		ctx->floor = fmin(ctx->floor, l->floor);
	}
}

/* Of TYPE in any slot that the job may use. */
static double lowest_price(const struct auc_policy_ctx *ctx, unsigned type)
{
	const struct auc_type_cache *c = &ctx->m->cache[type];
	double least = INFINITY;
	unsigned slot;
	size_t cell;

	for (slot = ctx->start0; slot < ctx->slots; slot++) {
		cell = auc_cell(ctx->m, slot, 0);
		least = fmin(least, c->price[cell + c->order[cell]]);
	}
	return least;
}

/* Bounds of all slot indices up to SLOT, as far as they are not there yet. */
void auc_dps_extend_bounds(struct auc_policy_ctx *ctx, unsigned slot)
{
	unsigned i, p;
	double least;

	for (; ctx->bounded <= slot; ctx->bounded++) {
		for (i = 0; i < ctx->nlanes; i++)
			add_slot(ctx, i, ctx->bounded);
		least = INFINITY;
		for (p = 0; p < ctx->m->nps_types; p++)
			if (ctx->job->ps_seconds[p] >= 0)
				least = fmin(least, ps_block(ctx, p, ctx->bounded, ctx->bounded));
		ctx->ps_bound[ctx->bounded + 1] =
			ctx->ps_bound[ctx->bounded] + (isinf(least) ? 0 : least);
	}
}

/* Adds one slot to a lane's prefix sums. */
static void add_slot(struct auc_policy_ctx *ctx, unsigned lane, unsigned slot)
{
	const double *cost = lane_block(ctx, lane, slot, slot);
	const double *before = ctx->bound + ((size_t)lane * (ctx->slots + 1) + slot) * ctx->levels;
	double *after = ctx->bound + ((size_t)lane * (ctx->slots + 1) + slot + 1) * ctx->levels;
	unsigned i;

	for (i = 0; i < ctx->lanes[lane].nlevels; i++)
		after[i] = before[i] + cost[i];
}

/*
 * What a lane's worker counts (by level) cost at least in the block of the market's ROW, which
 * begins at slot index SLOT, if they stay where they are. Worked out when first asked for.
 */
static const double *lane_block(struct auc_policy_ctx *ctx, unsigned lane, unsigned row,
				unsigned slot)
{
	size_t at = (size_t)lane * ctx->nrows + row;
	double *cost = ctx->block + at * ctx->levels;

	if (ctx->block_done[at])
		return cost;
	ctx->block_done[at] = 1;
	if (ctx->lanes[lane].colocated)
		ctx->block_room[at] = walk_colocated(ctx, &ctx->lanes[lane], row, slot, cost);
	else
		ctx->block_room[at] = walk_distributed(ctx, &ctx->lanes[lane], row, slot, cost);
	return cost;
}

/* The cheapest workers, for all levels in one walk. Returns how many fit; INT64_MAX: all levels. */
static int64_t walk_distributed(const struct auc_policy_ctx *ctx, const struct lane *l,
				unsigned row, unsigned slot, double *level_cost)
{
	const struct auc_type_cache *c = &ctx->m->cache[l->worker];
	size_t cell = auc_cell(ctx->m, row, 0);
	int64_t workers = 0;
	double cost = 0;
	unsigned r, i = 0;
	uint32_t s;

	for (r = 0; r < ctx->nservers && i < l->nlevels; r++) {
		s = c->order[cell + r];
		if (!c->fit[cell + s])
			break;
		if (ctx->ready[s] > slot)
			continue;
		for (; i < l->nlevels && l->level[i] <= workers + c->fit[cell + s]; i++)
			level_cost[i] = cost + (double)(l->level[i] - workers) * c->price[cell + s];
		workers += c->fit[cell + s];
		cost += c->fit[cell + s] * c->price[cell + s];
	}
	if (i == l->nlevels)
		return INT64_MAX;
	for (; i < l->nlevels; i++)
		level_cost[i] = cost;
	return workers;
}

/* The cheapest single server, for all levels. */
static int64_t walk_colocated(const struct auc_policy_ctx *ctx, const struct lane *l, unsigned row,
			      unsigned slot, double *level_cost)
{
	const struct auc_type_cache *c = &ctx->m->cache[l->worker];
	size_t cell = auc_cell(ctx->m, row, 0);
	int32_t most = 0;
	unsigned r, i = 0;
	uint32_t s;

	for (r = 0; r < ctx->nservers && i < l->nlevels; r++) {
		s = c->order[cell + r];
		if (!c->fit[cell + s])
			break;
		if (ctx->ready[s] > slot || c->fit[cell + s] <= most)
			continue;
		most = c->fit[cell + s];
		for (; i < l->nlevels && l->level[i] <= most; i++)
			level_cost[i] = (double)l->level[i] * c->price[cell + s];
	}
	if (i == l->nlevels)
		return INT64_MAX;
	for (; i < l->nlevels; i++)
		level_cost[i] = 0;
	return most;
}

/* What a PS costs at least in a block; INFINITY if none fits. */
static double ps_block(struct auc_policy_ctx *ctx, unsigned ps, unsigned row, unsigned slot)
{
	const struct auc_type_cache *c = &ctx->m->cache[auc_ps_index(ctx->m, ps)];
	size_t cell = auc_cell(ctx->m, row, 0);
	double *cost = &ctx->ps_block[(size_t)ps * ctx->nrows + row];
	unsigned r;
	uint32_t s;

	if (*cost >= 0)
		return *cost;
	*cost = INFINITY;
	for (r = 0; r < ctx->nservers; r++) {
		s = c->order[cell + r];
		if (!c->fit[cell + s])
			break;
		if (ctx->ready[s] <= slot) {
			*cost = c->price[cell + s];
			break;
		}
	}
	return *cost;
}

/* The block that a walk over slot indices up to END takes next at AT: the largest that begins
 * there. Returns its row, moves AT behind it. */
static unsigned next_block(const struct auc_market *m, unsigned *at, unsigned end)
{
	auc_slot t = m->first + *at;
	unsigned level = 0, row;

	while (level + 1 < m->nlevels && !((t >> level) & 1) && *at + (2u << level) <= end)
		level++;
	row = auc_block_row(m, level, t >> level);
	*at += 1u << level;
	return row;
}

double auc_dps_block_bound(struct auc_policy_ctx *ctx, unsigned lane, unsigned start, unsigned end,
			   int64_t *room)
{
	unsigned level = ctx->level_of[(size_t)lane * (ctx->slots + 1) + end - start];
	unsigned slot, at = start, row;
	double cost = 0;
	int64_t fits;

	*room = INT64_MAX;
	while (at < end) {
		slot = at;
		row = next_block(ctx->m, &at, end);
		cost += lane_block(ctx, lane, row, slot)[level];
		fits = ctx->block_room[(size_t)lane * ctx->nrows + row];
		*room = fits < *room ? fits : *room;
	}
	return cost * ctx->keep * ctx->ratio[(size_t)lane * (ctx->slots + 1) + end - start];
}

double auc_dps_ps_block_bound(struct auc_policy_ctx *ctx, unsigned ps, unsigned start, unsigned end)
{
	unsigned slot, at = start, row;
	double cost = 0;

	while (at < end) {
		slot = at;
		row = next_block(ctx->m, &at, end);
		cost += ps_block(ctx, ps, row, slot);
	}
	return cost * ctx->keep;
}
