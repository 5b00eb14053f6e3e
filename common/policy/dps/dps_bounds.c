/*
 * dps_bounds.c - lower bounds of what a window costs, from which dps.c sees what it need not look
 * at.
 *
 * For each worker type and placement (a lane) and some worker counts (levels) the cheapest workers
 * of each slot, read off the market's price order, are summed over slots by prefix sums: workers
 * may change servers each slot. The same for blocks of 1, 2, 4, ... slots gives the better bound of
 * a window made of blocks, in which they stay where they are for a block.
 *
 * PSs, all on one server, are as many as the workers elsewhere need. So few are enough only where
 * many workers fit beside them, which on most servers they do not. Large servers, as the cloud is,
 * are therefore looked at apart from the others.
 */
#include "config.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "policy/dps/dps-private.h"

/* The cheapest workers so far, and the level that is next. */
struct walk {
	double *level_cost, cost;
	int64_t workers;
	unsigned level;
};

static unsigned find_fewest(struct lane *lane, double work, uint64_t most, int64_t *fewest,
			    unsigned *until, unsigned *first);
static void choose_levels(struct auc_policy_ctx *ctx, struct lane *lane, size_t base,
			  unsigned distinct);
static double lowest_price(const struct auc_policy_ctx *ctx, unsigned type, unsigned end);
static double cheapest(const struct auc_policy_ctx *ctx, unsigned type, unsigned slot);
static void add_slot(struct auc_policy_ctx *ctx, unsigned lane, unsigned slot);
static const double *lane_block(struct auc_policy_ctx *ctx, unsigned lane, unsigned row,
				unsigned slot);
static int64_t walk_distributed(struct auc_policy_ctx *ctx, const struct lane *l, unsigned row,
				unsigned slot, double *level_cost);
static void take_workers(const struct lane *l, struct walk *walk, int64_t workers, double price);
static int64_t walk_colocated(struct auc_policy_ctx *ctx, const struct lane *l, unsigned row,
			      unsigned slot, double *level_cost);
static const struct offer *window_offers(struct auc_policy_ctx *ctx, unsigned type, unsigned start,
					 unsigned end);
static const struct ps_offer *window_ps_offers(struct auc_policy_ctx *ctx, unsigned start,
					       unsigned end);
static double exchange_bound(const struct auc_policy_ctx *ctx, const struct choice *c, int64_t most,
			     const struct offer *beside, const struct offer *ps, double any);

void auc_dps_add_lane(struct auc_policy_ctx *ctx, unsigned worker, bool colocated)
{
	const struct auc_market *m = ctx->m;
	const struct auc_job *job = ctx->job;
	struct lane *lane = &ctx->lanes[ctx->nlanes];
	size_t base = (size_t)ctx->nlanes * (m->slots + 1);
	double least = DBL_MAX, most = -1, work;
	unsigned p, distinct;
	int64_t longest, room;

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
	lane->closed = m->slots + 1;
	lane->dmax = longest < m->slots - ctx->start0 ? (unsigned)longest : m->slots - ctx->start0;
	/* more than that fit nowhere */
	room = colocated ? m->cache[worker].max0 : m->cache[worker].total0;
	distinct = find_fewest(lane, least,
			       (uint64_t)room < job->chunks ? (uint64_t)room : job->chunks,
			       ctx->fewest + base, ctx->until + base, ctx->first + base);
	if (!distinct)
		return;
	choose_levels(ctx, lane, base, distinct);
	memset(dps_sums(ctx, ctx->nlanes, ctx->start0), 0, ctx->levels * sizeof(*ctx->bound));
	lane->nnarrow = 0;
	ctx->nlanes++;
}

/* The FEWEST workers, up to MOST, that do WORK, by duration, and UNTIL which duration that is so;
 * by number, which is returned, the FIRST duration for as many. */
static unsigned find_fewest(struct lane *lane, double work, uint64_t most, int64_t *fewest,
			    unsigned *until, unsigned *first)
{
	unsigned d = lane->dmax, distinct = 0, last, i;
	int64_t n;

	lane->dmin = lane->dmax + 1;
	lane->slots = INFINITY;
	while (d) {
		n = auc_job_workers(work, d, most);
		if (!n)
			break;
		lane->dmin = (unsigned)auc_job_duration(work, n);
		lane->slots = fmin(lane->slots, (double)n * lane->dmin);
		distinct++;
		for (last = d; d >= lane->dmin; d--) {
			fewest[d] = n;
			until[d] = last;
		}
	}
	for (i = 0, d = lane->dmin; i < distinct; i++, d = until[d] + 1)
		first[i] = d;
	lane->ncounts = distinct;
	lane->shift = 0;
	while (distinct && (distinct - 1) >> lane->shift >= 64)
		lane->shift++;
	return distinct;
}

/* Levels: every so many of the DISTINCT counts, from the least; then the largest level below each
 * count. */
static void choose_levels(struct auc_policy_ctx *ctx, struct lane *lane, size_t base,
			  unsigned distinct)
{
	unsigned every = (distinct + ctx->levels - 1) / ctx->levels, seen = 0, d = lane->dmax;
	double ratio;
	int64_t n;

	lane->nlevels = 0;
	while (d >= lane->dmin) {
		n = ctx->fewest[base + d];
		if (seen++ % every == 0)
			lane->level[lane->nlevels++] = n;
		ratio = (double)n / (double)lane->level[lane->nlevels - 1];
		for (; d >= lane->dmin && ctx->fewest[base + d] == n; d--) {
			ctx->level_of[base + d] = (uint8_t)(lane->nlevels - 1);
			ctx->ratio[base + d] = ratio;
		}
	}
}

void auc_dps_find_floors(struct auc_policy_ctx *ctx, unsigned end)
{
	double least[2 * AUC_TYPES_MAX], ps = INFINITY;
	struct lane *l;
	unsigned i;

	for (i = 0; i < ctx->m->nworker_types + ctx->m->nps_types; i++)
		least[i] = lowest_price(ctx, i, end);
	for (i = 0; i < ctx->m->nps_types; i++)
		if (ctx->job->ps_seconds[i] >= 0)
			ps = fmin(ps, least[auc_ps_index(ctx->m, i)]);
	for (l = ctx->lanes; l < ctx->lanes + ctx->nlanes; l++)
		l->floor = (l->slots * least[l->worker] + l->dmin * ps) * ctx->keep;
}

double auc_dps_upper_from(struct auc_policy_ctx *ctx, unsigned completion, unsigned bounded)
{
	double upper = -INFINITY, floor = INFINITY;
	unsigned i;

	for (; completion < bounded && ctx->bounds; completion++)
		upper = fmax(upper, ctx->value[completion] - ctx->least[completion]);
	if (completion > ctx->slots)
		return upper;
	auc_dps_find_floors(ctx, ctx->slots);
	for (i = 0; i < ctx->nlanes; i++)
		floor = fmin(floor, ctx->lanes[i].floor);
	return fmax(upper, ctx->value[completion] - floor);
}

/* Of TYPE in any slot before END that the job may use. */
static double lowest_price(const struct auc_policy_ctx *ctx, unsigned type, unsigned end)
{
	const struct auc_type_cache *c = &ctx->m->cache[type];
	double least = INFINITY;
	unsigned slot;

	for (slot = ctx->start0; slot < end; slot++)
		least = fmin(least, auc_type_least(c, slot));
	return least;
}

/* Bounds of slot index SLOT, of the lanes that are open. */
void auc_dps_add_bounds(struct auc_policy_ctx *ctx, unsigned slot)
{
	double least = INFINITY;
	unsigned i, p;

	for (i = 0; i < ctx->nopen; i++)
		add_slot(ctx, ctx->open[i], slot);
	for (p = 0; p < ctx->m->nps_types; p++)
		if (ctx->job->ps_seconds[p] >= 0)
			least = fmin(least, cheapest(ctx, auc_ps_index(ctx->m, p), slot));
	ctx->ps_bound[slot + 1] = ctx->ps_bound[slot] + (isinf(least) ? 0 : least);
}

/* What one of TYPE costs at least in a slot; INFINITY: none fits. */
static double cheapest(const struct auc_policy_ctx *ctx, unsigned type, unsigned slot)
{
	const struct auc_type_cache *c = &ctx->m->cache[type];
	double price;
	int32_t fit;
	unsigned r;
	uint32_t s;

	for (r = 0; auc_type_ranked(c, slot, r, &s, &fit, &price); r++)
		if (ctx->ready[s] <= slot)
			return price;
	return INFINITY;
}

/* Adds one slot to a lane's prefix sums, and to the narrow ones if not all levels fit. */
static void add_slot(struct auc_policy_ctx *ctx, unsigned lane, unsigned slot)
{
	const double *cost = lane_block(ctx, lane, slot, slot);
	const int64_t *room = ctx->block_room + (size_t)lane * ctx->nrows;
	unsigned *narrow = ctx->narrow + (size_t)lane * (ctx->slots + 1), i;
	struct lane *l = &ctx->lanes[lane];
	const double *before = dps_sums(ctx, lane, slot);
	double *sums = dps_sums(ctx, lane, slot + 1);

	for (i = 0; i < l->nlevels; i++)
		sums[i] = before[i] + cost[i];
	if (room[slot] == INT64_MAX)
		return;
	while (l->nnarrow && room[narrow[l->nnarrow - 1]] >= room[slot])
		l->nnarrow--;
	narrow[l->nnarrow++] = slot;
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
	ctx->steps += ctx->nservers + 8;
	if (ctx->lanes[lane].colocated)
		ctx->block_room[at] = walk_colocated(ctx, &ctx->lanes[lane], row, slot, cost);
	else
		ctx->block_room[at] = walk_distributed(ctx, &ctx->lanes[lane], row, slot, cost);
	return cost;
}

/* The cheapest workers, for all levels in one walk. Returns how many fit; INT64_MAX: all levels. */
static int64_t walk_distributed(struct auc_policy_ctx *ctx, const struct lane *l, unsigned row,
				unsigned slot, double *level_cost)
{
	const struct runs *runs = auc_dps_runs(ctx, l->worker, row, slot);
	const struct auc_type_cache *c = &ctx->m->cache[l->worker];
	struct walk walk = {.level_cost = level_cost};
	double price;
	int32_t fit;
	unsigned r;
	uint32_t s;

	for (r = 0; r < runs->n && walk.level < l->nlevels; r++)
		take_workers(l, &walk, runs->run[r].workers, runs->run[r].price);
	for (r = runs->rank;
	     walk.level < l->nlevels && auc_type_ranked(c, row, r, &s, &fit, &price); r++)
		if (ctx->ready[s] <= slot)
			take_workers(l, &walk, fit, price);
	if (walk.level == l->nlevels)
		return INT64_MAX;
	for (; walk.level < l->nlevels; walk.level++)
		level_cost[walk.level] = walk.cost;
	return walk.workers;
}

/* As many WORKERS at PRICE each as the next levels need. */
static void take_workers(const struct lane *l, struct walk *walk, int64_t workers, double price)
{
	unsigned i = walk->level;

	for (; i < l->nlevels && l->level[i] <= walk->workers + workers; i++)
		walk->level_cost[i] = walk->cost + (double)(l->level[i] - walk->workers) * price;
	walk->level = i;
	walk->workers += workers;
	walk->cost += (double)workers * price;
}

/* The cheapest single server, for all levels. */
static int64_t walk_colocated(struct auc_policy_ctx *ctx, const struct lane *l, unsigned row,
			      unsigned slot, double *level_cost)
{
	const struct singles *singles = auc_dps_singles(ctx, l->worker, row, slot);
	unsigned i = 0, k;

	for (k = 0; k < singles->n; k++)
		for (; i < l->nlevels && l->level[i] <= singles->single[k].fit; i++)
			level_cost[i] = (double)l->level[i] * singles->single[k].price;
	if (i == l->nlevels)
		return INT64_MAX;
	for (; i < l->nlevels; i++)
		level_cost[i] = 0;
	return singles->n ? singles->single[singles->n - 1].fit : 0;
}

unsigned auc_dps_next_block(const struct auc_market *m, unsigned *at, unsigned end)
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
		row = auc_dps_next_block(ctx->m, &at, end);
		ctx->steps += 2;
		cost += lane_block(ctx, lane, row, slot)[level];
		fits = ctx->block_room[(size_t)lane * ctx->nrows + row];
		*room = fits < *room ? fits : *room;
	}
	return cost * ctx->keep * ctx->ratio[(size_t)lane * (ctx->slots + 1) + end - start];
}

/* The same of a window, by tier: the least that one costs, and how many fit on a server at most. */
static const struct offer *window_offers(struct auc_policy_ctx *ctx, unsigned type, unsigned start,
					 unsigned end)
{
	struct window_offers *all = &ctx->window_offers[type];
	unsigned slot, row, at = start;
	const struct offer *o;
	enum tier tier;

	if (all->start == start && all->end == end)
		return all->tier;
	*all = (struct window_offers){.start = start, .end = end};
	for (tier = ANY; tier < TIERS; tier++)
		all->tier[tier].most = INT32_MAX;
	while (at < end) {
		slot = at;
		row = auc_dps_next_block(ctx->m, &at, end);
		o = auc_dps_offers(ctx, type, row, slot);
		for (tier = ANY; tier < TIERS; tier++) {
			all->tier[tier].price += o[tier].price * ctx->keep;
			if (o[tier].most < all->tier[tier].most)
				all->tier[tier].most = o[tier].most;
		}
	}
	return all->tier;
}

const struct ps_offer *auc_dps_ps_offers(struct auc_policy_ctx *ctx, unsigned row, unsigned slot)
{
	struct ps_offer *all = ctx->ps_offers + (size_t)row * TIERS;
	const struct offer *o;
	double bandwidth;
	enum tier tier;
	unsigned p;

	if (ctx->ps_offers_done[row])
		return all;
	ctx->ps_offers_done[row] = 1;
	for (tier = LARGE; tier < TIERS; tier++)
		all[tier] = (struct ps_offer){.one = INFINITY, .mbps = INFINITY};
	for (p = 0; p < ctx->nps; p++) {
		if (ctx->job->ps_seconds[p] < 0)
			continue;
		bandwidth = ctx->m->types[auc_ps_index(ctx->m, p)].bandwidth;
		o = auc_dps_offers(ctx, auc_ps_index(ctx->m, p), row, slot);
		for (tier = LARGE; tier < TIERS; tier++) {
			if (o[tier].price < all[tier].one)
				all[tier].one = o[tier].price;
			if (o[tier].price / bandwidth < all[tier].mbps)
				all[tier].mbps = o[tier].price / bandwidth;
			if (o[tier].most * bandwidth > all[tier].serves)
				all[tier].serves = o[tier].most * bandwidth;
		}
	}
	return all;
}

/* The same of a window. */
static const struct ps_offer *window_ps_offers(struct auc_policy_ctx *ctx, unsigned start,
					       unsigned end)
{
	struct ps_offer *all = ctx->window_ps;
	const struct ps_offer *o;
	unsigned slot, row, at = start;
	enum tier tier;

	if (ctx->window_ps_start == start && ctx->window_ps_end == end)
		return all;
	ctx->window_ps_start = start;
	ctx->window_ps_end = end;
	for (tier = LARGE; tier < TIERS; tier++)
		all[tier] = (struct ps_offer){.serves = INFINITY};
	while (at < end) {
		slot = at;
		row = auc_dps_next_block(ctx->m, &at, end);
		o = auc_dps_ps_offers(ctx, row, slot);
		for (tier = LARGE; tier < TIERS; tier++) {
			all[tier].one += o[tier].one * ctx->keep;
			all[tier].mbps += o[tier].mbps * ctx->keep;
			if (o[tier].serves < all[tier].serves)
				all[tier].serves = o[tier].serves;
		}
	}
	return all;
}

bool auc_dps_all_too_dear(struct auc_policy_ctx *ctx, const struct choice *c, double workers,
			  double limit)
{
	const struct ps_offer *ps = window_ps_offers(ctx, c->start, c->completion);
	const struct offer *beside;
	int64_t most;
	enum tier tier;

	if (workers + fmin(ps[LARGE].one, ps[SMALL].one) >= limit)
		return true;
	if (c->colocated)
		return false;
	beside = window_offers(ctx, c->worker, c->start, c->completion);
	for (tier = LARGE; tier < TIERS; tier++) {
		most = beside[tier].most < c->n ? beside[tier].most : c->n - 1;
		if (auc_dps_exchange_bound(ctx, c, most, &beside[tier], &ps[tier],
					   beside[ANY].price) < limit &&
		    workers + auc_dps_exchange_bound(ctx, c, most, NULL, &ps[tier], 0) < limit)
			return false;
	}
	return true;
}

double auc_dps_type_bound(struct auc_policy_ctx *ctx, const struct choice *c, double workers)
{
	unsigned type = auc_ps_index(ctx->m, c->ps);
	const struct offer *ps = window_offers(ctx, type, c->start, c->completion), *beside;
	double least = INFINITY, cost, exchange;
	enum tier tier;
	int64_t most, z;

	if (c->colocated)
		return workers + ps[ANY].price;
	beside = window_offers(ctx, c->worker, c->start, c->completion);
	for (tier = LARGE; tier < TIERS; tier++) {
		most = beside[tier].most < c->n ? beside[tier].most : c->n - 1;
		z = auc_job_ps(ctx->m, c->worker, c->ps, c->n - most);
		if (z > ps[tier].most)
			continue;
		cost = workers + (double)z * ps[tier].price;
		exchange =
			exchange_bound(ctx, c, most, &beside[tier], &ps[tier], beside[ANY].price);
		cost = exchange > cost ? exchange : cost;
		least = cost < least ? cost : least;
	}
	return least;
}

/*
 * What C costs at least with its PSs on a server that offers no more than PS, and up to MOST
 * workers beside them at the price of BESIDE, the others at ANY each. PSs are counted in fractions,
 * but for the first, so that the cost is convex in the workers beside them, with one kink.
 */
static double exchange_bound(const struct auc_policy_ctx *ctx, const struct choice *c, int64_t most,
			     const struct offer *beside, const struct offer *ps, double any)
{
	const struct auc_market *m = ctx->m;
	double n = (double)c->n, here = most ? beside->price : 0, least = INFINITY;
	double each = m->types[c->worker].bandwidth / m->types[auc_ps_index(m, c->ps)].bandwidth *
		      (1 - 1e-8);
	double few = fmax(0, n - ps->most / each);
	double y[3] = {few, fmin(fmax(few, n - 1 / each), (double)most), (double)most};
	unsigned i;

	for (i = 0; i < 3; i++)
		least = fmin(least, fmax(1, each * (n - y[i])) * ps->price + y[i] * here +
					    (n - y[i]) * any);
	return least * ctx->keep;
}

/* As exchange_bound(), of all PS types. */
double auc_dps_exchange_bound(const struct auc_policy_ctx *ctx, const struct choice *c,
			      int64_t most, const struct offer *beside, const struct ps_offer *ps,
			      double any)
{
	double bandwidth = ctx->m->types[c->worker].bandwidth * (1 - 1e-8), n = (double)c->n;
	double few = n - ps->serves / bandwidth, many = (double)most, least = INFINITY;
	double here = most && beside ? beside->price : 0, y[3], pss, cost;
	unsigned i;

	few = few > 0 ? few : 0;
	if (few > many || isinf(ps->one))
		return INFINITY;
	y[0] = few;
	y[1] = ps->mbps > 0 ? n - ps->one / (bandwidth * ps->mbps) : few;
	y[1] = y[1] < few ? few : y[1] > many ? many : y[1];
	y[2] = many;
	for (i = beside ? 0 : 2; i < 3; i++) {
		pss = bandwidth * (n - y[i]) * ps->mbps;
		cost = (pss > ps->one ? pss : ps->one) + y[i] * here + (n - y[i]) * any;
		least = cost < least ? cost : least;
	}
	return least * ctx->keep;
}
