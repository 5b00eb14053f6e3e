/* pool_dps.c - see pool_dps.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "pricing/dual/pool_dps.h"
#include "pricing/dual/pool_gang.h"

#define TIERS 12 /* of numbers of workers on one server: 1, 2, up to 4, up to 8 ... and beyond */
#define HINTS 4096
#define SLACK 1e-7 /* relative: far more than rounding */
/* Slots whose least price is kept, and completions that are ruled out together: of thousands most
 * cannot pay. */
#define BLOCK 32

/* One type on one server that can host it. */
struct host {
	unsigned server;
	double *sum;    /* of prices of the slots before slot i */
	int32_t *fit;   /* by slot */
	int32_t always; /* fits in each slot */
	int32_t most;   /* fits when nothing is sold */
};

struct hosts {
	unsigned n;
	struct host *list;
};

/* One search: schedules of one worker type, distributed or co-located. */
struct lane {
	unsigned worker;
	bool colocated;
	double work[AUC_TYPES_MAX]; /* by PS type */
	double least;               /* of all PS types */
	double pss;                 /* PSs per worker at least */
	double *const *cheapest;    /* sums of the least price of a worker before slot i; by tier */
	const double *block;        /* the least price of a worker in block i */
	unsigned shortest, longest; /* durations that there may be */
};

/* The window that was best for a job when it was quoted last: likely to be close to the best still.
 */
struct hint {
	const struct auc_job *job; /* compared only */
	unsigned worker, start, completion;
	bool colocated;
};

struct auc_policy_ctx {
	struct hint hints[HINTS];
	unsigned nservers, slots, ntypes;
	struct hosts workers[AUC_TYPES_MAX]; /* of distributed schedules */
	struct hosts lone[AUC_TYPES_MAX];    /* the same types where PSs are, too */
	struct hosts ps[AUC_TYPES_MAX];
	/* by first slot, up to that from which on all servers are ready that ever are */
	unsigned settled;
	double *room;   /* of one search: the most workers there can be from there on */
	double *served; /* of one quote: Mbit/s that PSs on one server exchange */
	/* sums of the least price before slot i: of a worker, of one where that many of the tier
	 * might be, of a PS */
	double *cheapest[AUC_TYPES_MAX], *cheapest_lone[AUC_TYPES_MAX][TIERS];
	double *cheapest_ps[AUC_TYPES_MAX];
	double *cheapest_any; /* of a PS of any type in any_mask */
	/* The least price in each BLOCK slots: of a worker, of one where PSs are, too, of a PS. */
	double *block[AUC_TYPES_MAX], *block_lone[AUC_TYPES_MAX], *block_any;
	uint64_t any_mask; /* 0: not there yet */
	void *memory[8];
	unsigned nmemory;
	struct auc_pool_gang gangs;
	/* one quote */
	const struct auc_market *m;
	const struct auc_job *job;
	struct auc_decision *decision;
	double best;
	bool found;
	unsigned worker, psn, start, completion; /* of the best */
	int64_t n, z;
	unsigned ps_server;
	bool colocated;
	double value;
};

static enum auc_code pool_create(const char *options, struct auc_policy_ctx **ctx,
				 struct auc_err *err);
static void pool_destroy(struct auc_policy_ctx *ctx);
static enum auc_code pool_look(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       struct auc_err *err);
static enum auc_code pool_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err);

const struct auc_policy auc_pool_dps = {
	.name = "dps",
	.summary = "policy dps in a pool",
	.gangs = true,
	.create = pool_create,
	.destroy = pool_destroy,
	.look = pool_look,
	.quote = pool_quote,
};

static enum auc_code pool_create(const char *options, struct auc_policy_ctx **ctx,
				 struct auc_err *err)
{
	(void)options;
	*ctx = calloc(1, sizeof(**ctx));
	return *ctx ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
}

static void release(struct auc_policy_ctx *ctx)
{
	while (ctx->nmemory)
		free(ctx->memory[--ctx->nmemory]);
}

static void pool_destroy(struct auc_policy_ctx *ctx)
{
	if (!ctx)
		return;
	release(ctx);
	auc_pool_gang_clear(&ctx->gangs);
	free(ctx);
}

/* -- what does not depend on the job -- */

static void *reserve(struct auc_policy_ctx *ctx, size_t n, size_t size)
{
	return ctx->memory[ctx->nmemory++] = calloc(n + 1, size);
}

static enum auc_code make_room(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       struct auc_err *err)
{
	unsigned ntypes = m->nworker_types + m->nps_types, i, w;
	size_t hosts = (size_t)(ntypes + m->nworker_types) * m->nservers, slots = m->slots + 1;
	struct host *list;
	int32_t *fit;
	double *sum;

	if (ctx->nmemory && ctx->nservers == m->nservers && ctx->slots == m->slots &&
	    ctx->ntypes == ntypes)
		return AUC_OK;
	release(ctx);
	ctx->nservers = m->nservers;
	ctx->slots = m->slots;
	ctx->ntypes = ntypes;
	list = reserve(ctx, hosts, sizeof(*list));
	fit = reserve(ctx, hosts * slots, sizeof(*fit));
	sum = reserve(ctx,
		      (hosts + (TIERS + 3) * (size_t)m->nworker_types + m->nps_types + 4) * slots,
		      sizeof(*sum));
	if (!list || !fit || !sum) {
		release(ctx);
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pool");
	}
	for (i = 0; i < hosts; i++) {
		list[i].fit = fit + i * slots;
		list[i].sum = sum + i * slots;
	}
	sum += hosts * slots;
	for (w = 0; w < m->nworker_types; w++) {
		ctx->workers[w].list = list + (size_t)w * m->nservers;
		ctx->lone[w].list = list + (size_t)(ntypes + w) * m->nservers;
		ctx->cheapest[w] = sum;
		for (i = 0; i < TIERS; i++)
			ctx->cheapest_lone[w][i] = sum += slots;
		ctx->block[w] = sum += slots;
		ctx->block_lone[w] = sum += slots;
		sum += slots;
	}
	for (i = 0; i < m->nps_types; i++, sum += slots) {
		ctx->ps[i].list = list + (size_t)(m->nworker_types + i) * m->nservers;
		ctx->cheapest_ps[i] = sum;
	}
	ctx->room = sum;
	ctx->served = sum + slots;
	ctx->cheapest_any = sum + 2 * slots;
	ctx->block_any = sum + 3 * slots;
	return AUC_OK;
}

/* The servers of ROLES, all of them and no other, that can host TYPE; MASK: roles that are looked
 * at. */
static void take_hosts(const struct auc_market *m, struct hosts *h, unsigned type, unsigned mask,
		       unsigned roles)
{
	const struct auc_bundle *b = &m->types[type];
	struct host *to;
	unsigned s, t, k;
	const double *unit;
	double price;

	h->n = 0;
	for (s = 0; s < m->nservers; s++) {
		if ((m->servers[s].roles & mask) != roles || !m->cache[type].fit0[s])
			continue;
		to = &h->list[h->n++];
		to->server = s;
		to->always = INT32_MAX;
		to->most = m->cache[type].fit0[s];
		for (t = 0; t < m->slots; t++) {
			unit = m->unit_price + auc_units(m, t, s);
			for (price = 0, k = 0; k < b->nused; k++)
				price += b->amount[b->used[k]] *
					 unit[(size_t)b->used[k] * m->nservers];
			to->sum[t + 1] = to->sum[t] + price;
			to->fit[t] = auc_type_fit(&m->cache[type], t, s);
			to->always = to->fit[t] < to->always ? to->fit[t] : to->always;
		}
	}
}

/* Of the hosts on which more than ABOVE fit: sums of the least price, 0 where there is none. */
static void take_cheapest(const struct hosts *h, unsigned slots, int32_t above, double *sum)
{
	const struct host *i;
	double least, price;
	unsigned t;

	for (t = 0; t < slots; t++) {
		least = INFINITY;
		for (i = h->list; i < h->list + h->n; i++) {
			price = i->most > above ? i->sum[t + 1] - i->sum[t] : INFINITY;
			least = price < least ? price : least;
		}
		sum[t + 1] = sum[t] + (isinf(least) ? 0 : least);
	}
}

/* SUM: of prices of the slots before; the least one of each block into BLOCK. */
static void take_blocks(const double *sum, unsigned slots, double *block)
{
	for (unsigned t = 0; t < slots; t++) {
		double price = sum[t + 1] - sum[t], *least = &block[t / BLOCK];

		*least = t % BLOCK && *least < price ? *least : price;
	}
}

/* Numbers of workers of TIER are above that. */
static int32_t above_of(unsigned tier)
{
	return tier ? 1 << (tier - 1) : 0;
}

/* The tier of N workers; *ABOVE: they are more than that. */
static unsigned tier_of(double n, int32_t *above)
{
	unsigned tier = 0;

	while (tier + 1 < TIERS && n > (double)above_of(tier + 1))
		tier++;
	*above = above_of(tier);
	return tier;
}

static enum auc_code pool_look(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       struct auc_err *err)
{
	unsigned both = AUC_ROLE_WORKER | AUC_ROLE_PS, w, p, i;
	enum auc_code rc = make_room(ctx, m, err);

	if (rc != AUC_OK)
		return rc;
	auc_pool_gang_forget(&ctx->gangs);
	if (m->gangs_only)
		return AUC_OK;
	for (w = 0; w < m->nworker_types; w++) {
		take_hosts(m, &ctx->workers[w], w, both, AUC_ROLE_WORKER);
		take_hosts(m, &ctx->lone[w], w, both, both);
		take_cheapest(&ctx->workers[w], m->slots, 0, ctx->cheapest[w]);
		take_blocks(ctx->cheapest[w], m->slots, ctx->block[w]);
		for (i = 0; i < TIERS; i++)
			take_cheapest(&ctx->lone[w], m->slots, above_of(i),
				      ctx->cheapest_lone[w][i]);
		take_blocks(ctx->cheapest_lone[w][0], m->slots, ctx->block_lone[w]);
	}
	for (p = 0; p < m->nps_types; p++) {
		take_hosts(m, &ctx->ps[p], auc_ps_index(m, p), AUC_ROLE_PS, AUC_ROLE_PS);
		take_cheapest(&ctx->ps[p], m->slots, 0, ctx->cheapest_ps[p]);
	}
	ctx->any_mask = 0;
	return AUC_OK;
}

/* -- one quote -- */

static bool ready(const struct auc_policy_ctx *ctx, unsigned server, unsigned start)
{
	unsigned upload = ctx->job->upload[server];

	return upload != UINT32_MAX &&
	       ctx->job->arrival + (auc_slot)upload <= ctx->m->first + (auc_slot)start;
}

/* How many fit from slot START to before slot END. */
static int64_t fits(const struct host *h, unsigned start, unsigned end)
{
	int32_t least = h->fit[start];
	unsigned t;

	for (t = start + 1; h->always < least && t < end; t++)
		least = h->fit[t] < least ? h->fit[t] : least;
	return least;
}

/*
 * The least that N workers cost; INFINITY: there is no room. With SHARES, also where they are.
 * Hosts are few: the cheapest one left is looked for each time.
 */
static double place(const struct auc_policy_ctx *ctx, unsigned worker, unsigned start, unsigned end,
		    int64_t n, unsigned *take)
{
	const struct hosts *h = &ctx->workers[worker];
	uint64_t used = 0; /* of the first 64 hosts: more are not looked at */
	double cost = 0, price, least;
	unsigned i, at = 0;
	int64_t fit;

	while (n > 0) {
		least = INFINITY;
		for (i = 0; i < h->n && i < 64; i++) {
			price = h->list[i].sum[end] - h->list[i].sum[start];
			if (!(used >> i & 1) && price < least &&
			    ready(ctx, h->list[i].server, start)) {
				least = price;
				at = i;
			}
		}
		if (isinf(least))
			return INFINITY;
		used |= UINT64_C(1) << at;
		fit = fits(&h->list[at], start, end);
		fit = fit < n ? fit : n;
		if (take && fit)
			take[h->list[at].server] = (unsigned)fit;
		cost += (double)fit * least;
		n -= fit;
	}
	return cost;
}

static void keep(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps, bool colocated,
		 unsigned start, unsigned completion, double value, double payoff, int64_t n,
		 int64_t z, unsigned server)
{
	ctx->found = true;
	ctx->best = payoff;
	ctx->worker = worker;
	ctx->psn = ps;
	ctx->colocated = colocated;
	ctx->start = start;
	ctx->completion = completion;
	ctx->value = value;
	ctx->n = n;
	ctx->z = z;
	ctx->ps_server = server;
}

/* The least whole number of workers for X >= 0 of them, never too high by rounding; 1 for X beyond
 * all bounds. */
static double at_least(double x)
{
	double n = x < 1e18 ? (double)(int64_t)(x * (1 - 1e-8)) + 1 : 1;

	return n > 1 ? n : 1;
}

/* True if one of H could host N by itself. */
static bool may_host(const struct auc_policy_ctx *ctx, const struct hosts *h, unsigned start,
		     double n)
{
	const struct host *i;

	n *= 1 - 1e-8;
	for (i = h->list; i < h->list + h->n; i++)
		if (i->most >= n && ready(ctx, i->server, start))
			return true;
	return false;
}

static void try_distributed(struct auc_policy_ctx *ctx, const struct lane *lane, unsigned start,
			    unsigned end, double value)
{
	const struct auc_job *job = ctx->job;
	const struct host *h;
	double cheapest;
	int64_t fewest;
	double cost, with, least;
	unsigned w = lane->worker, p;
	int64_t n, z;

	/* no schedule of this window has fewer workers, or costs less */
	fewest = (int64_t)at_least(lane->least / (end - start));
	cheapest = place(ctx, w, start, end, fewest, NULL);
	if (value - cheapest <= ctx->best)
		return;
	for (p = 0; p < ctx->m->nps_types; p++) {
		if (job->ps_seconds[p] < 0)
			continue;
		least = at_least(lane->work[p] / (end - start));
		least *= ctx->m->types[w].bandwidth /
			 ctx->m->types[auc_ps_index(ctx->m, p)].bandwidth;
		if (!may_host(ctx, &ctx->ps[p], start, least))
			continue;
		n = auc_job_workers(lane->work[p], end - start, job->chunks);
		if (!n)
			continue;
		z = auc_job_ps(ctx->m, w, p, n);
		cost = n == fewest ? cheapest : -1;
		for (h = ctx->ps[p].list; h < ctx->ps[p].list + ctx->ps[p].n; h++) {
			with = (double)z * (h->sum[end] - h->sum[start]);
			if (value - with <= ctx->best || !ready(ctx, h->server, start) ||
			    fits(h, start, end) < z)
				continue;
			if (cost < 0)
				cost = place(ctx, w, start, end, n, NULL);
			if (value - with - cost > ctx->best)
				keep(ctx, w, p, false, start, end, value, value - with - cost, n, z,
				     h->server);
		}
	}
}

/* True if N workers and a PS fit beside each other on an empty server. */
static bool fit_beside(const struct auc_market *m, unsigned w, unsigned p, unsigned server,
		       int64_t n)
{
	const struct auc_bundle *worker = &m->types[w], *ps = &m->types[auc_ps_index(m, p)];
	unsigned i, k;

	for (i = 0; i < ps->nused; i++) {
		k = ps->used[i];
		if (ps->units[k] + n * worker->units[k] > m->servers[server].units[k])
			return false;
	}
	return true;
}

static void try_colocated(struct auc_policy_ctx *ctx, const struct lane *lane, unsigned start,
			  unsigned end, double value)
{
	const struct auc_job *job = ctx->job;
	const struct host *h, *q;
	double cheapest = lane->cheapest[0][end] - lane->cheapest[0][start];
	double cost, least;
	unsigned w = lane->worker, p;
	int64_t n;

	for (p = 0; p < ctx->m->nps_types; p++) {
		if (job->ps_seconds[p] < 0)
			continue;
		least = at_least(lane->work[p] / (end - start));
		if (value - least * cheapest <= ctx->best ||
		    !may_host(ctx, &ctx->lone[w], start, least))
			continue;
		n = auc_job_workers(lane->work[p], end - start, job->chunks);
		if (!n)
			continue;
		for (h = ctx->lone[w].list; h < ctx->lone[w].list + ctx->lone[w].n; h++) {
			cost = (double)n * (h->sum[end] - h->sum[start]);
			if (value - cost <= ctx->best || !ready(ctx, h->server, start) ||
			    fits(h, start, end) < n || !fit_beside(ctx->m, w, p, h->server, n))
				continue;
			for (q = ctx->ps[p].list; q < ctx->ps[p].list + ctx->ps[p].n; q++)
				if (q->server == h->server && fits(q, start, end) >= 1 &&
				    value - cost - (q->sum[end] - q->sum[start]) > ctx->best)
					keep(ctx, w, p, true, start, end, value,
					     value - cost - (q->sum[end] - q->sum[start]), n, 1,
					     h->server);
		}
	}
}

/* The first slot from which on SERVER can be used; the number of slots: none. */
static unsigned ready_at(const struct auc_policy_ctx *ctx, unsigned server)
{
	unsigned upload = ctx->job->upload[server];
	auc_slot at = ctx->job->arrival + (auc_slot)upload - ctx->m->first;

	if (upload == UINT32_MAX || at >= (auc_slot)ctx->slots)
		return ctx->slots;
	return at > 0 ? (unsigned)at : 0;
}

/* The first slot from which on nothing more becomes ready. */
static void find_settled(struct auc_policy_ctx *ctx)
{
	unsigned s, at;

	ctx->settled = 0;
	for (s = 0; s < ctx->nservers; s++) {
		at = ready_at(ctx, s);
		if (at < ctx->slots && at > ctx->settled)
			ctx->settled = at;
	}
}

/* What PSs on one server can exchange at most, by first slot. */
static void find_served(struct auc_policy_ctx *ctx)
{
	const struct auc_market *m = ctx->m;
	const struct host *h;
	unsigned p, t, at;
	double mbps;

	memset(ctx->served, 0, (ctx->settled + 1) * sizeof(double));
	for (p = 0; p < m->nps_types; p++)
		for (h = ctx->ps[p].list;
		     h < ctx->ps[p].list + ctx->ps[p].n && ctx->job->ps_seconds[p] >= 0; h++) {
			at = ready_at(ctx, h->server);
			mbps = h->most * m->types[auc_ps_index(m, p)].bandwidth;
			if (at < ctx->slots)
				ctx->served[at] = fmax(ctx->served[at], mbps);
		}
	for (t = 1; t <= ctx->settled; t++)
		ctx->served[t] = fmax(ctx->served[t], ctx->served[t - 1]);
}

/* How many workers a schedule of LANE can have at most, by first slot. */
static void find_room(struct auc_policy_ctx *ctx, const struct lane *lane)
{
	const struct hosts *h =
		lane->colocated ? &ctx->lone[lane->worker] : &ctx->workers[lane->worker];
	double *room = ctx->room, before = 0, bandwidth = ctx->m->types[lane->worker].bandwidth;
	unsigned i, t, at;

	memset(room, 0, (ctx->settled + 1) * sizeof(double));
	for (i = 0; i < h->n; i++) {
		at = ready_at(ctx, h->list[i].server);
		if (at == ctx->slots)
			continue;
		room[at] = lane->colocated ? fmax(room[at], h->list[i].most)
					   : room[at] + h->list[i].most;
	}
	for (t = 0; t <= ctx->settled; t++) {
		before = lane->colocated ? fmax(before, room[t]) : before + room[t];
		room[t] = lane->colocated ? before
					  : fmin(before, ctx->served[t] / bandwidth * (1 + 1e-8));
	}
}

/* What the cheapest PS costs that the job may have: sums of the slots before. */
static void find_cheapest_ps(struct auc_policy_ctx *ctx)
{
	const struct auc_market *m = ctx->m;
	uint64_t mask = 0;
	double least;
	unsigned p, t;

	for (p = 0; p < m->nps_types; p++)
		if (ctx->job->ps_seconds[p] >= 0)
			mask |= UINT64_C(1) << p;
	if (mask == ctx->any_mask)
		return;
	ctx->any_mask = mask;
	for (t = 0; t < ctx->slots; t++) {
		least = INFINITY;
		for (p = 0; p < m->nps_types; p++)
			if (mask >> p & 1 && ctx->ps[p].n)
				least = fmin(least,
					     ctx->cheapest_ps[p][t + 1] - ctx->cheapest_ps[p][t]);
		ctx->cheapest_any[t + 1] = ctx->cheapest_any[t] + (isinf(least) ? 0 : least);
	}
	take_blocks(ctx->cheapest_any, ctx->slots, ctx->block_any);
}

/* True if there are schedules of W. */
static bool open_lane(struct auc_policy_ctx *ctx, struct lane *lane, unsigned w, bool colocated)
{
	const struct hosts *h = colocated ? &ctx->lone[w] : &ctx->workers[w];
	const struct auc_market *m = ctx->m;
	double highest = 0, most = 0, n;
	unsigned p, i;

	lane->worker = w;
	lane->colocated = colocated;
	lane->least = INFINITY;
	lane->pss = colocated ? 0 : INFINITY;
	lane->cheapest = colocated ? ctx->cheapest_lone[w] : &ctx->cheapest[w];
	lane->block = colocated ? ctx->block_lone[w] : ctx->block[w];
	for (p = 0; p < m->nps_types; p++)
		if (ctx->job->ps_seconds[p] >= 0) {
			lane->work[p] = auc_job_work(m, ctx->job, w, p, colocated);
			lane->least = fmin(lane->least, lane->work[p]);
			highest = fmax(highest, lane->work[p]);
			lane->pss = fmin(lane->pss, m->types[w].bandwidth /
							    m->types[auc_ps_index(m, p)].bandwidth *
							    (1 - 1e-8));
		}
	for (i = 0; i < h->n; i++) {
		n = m->cache[w].fit0[h->list[i].server];
		most = colocated ? fmax(most, n) : most + n;
	}
	most = fmin(most, (double)ctx->job->chunks);
	if (isinf(lane->least) || !(most > 0) || !(lane->least / most < ctx->slots))
		return false;
	lane->shortest = (unsigned)(lane->least / most * (1 - 1e-9));
	lane->shortest = lane->shortest ? lane->shortest : 1;
	lane->longest = highest < ctx->slots ? (unsigned)highest + 1 : ctx->slots;
	return true;
}

/*
 * The first duration from D on, up to LAST, of which a window that ends at C may be better than the
 * best; above LAST: none. As windows grow, they cost more by worker, and fewer are ready: whatever
 * needs no fewer workers than what has been ruled out is ruled out, too.
 */
static unsigned next_duration(const struct auc_policy_ctx *ctx, const struct lane *lane, unsigned c,
			      unsigned d, unsigned last, double value)
{
	double limit = value - ctx->best + SLACK * value, n, price, ps, cost, room, most, next;
	unsigned at, tier = 0;
	int32_t above = 0;

	while (d <= last) {
		at = c - d;
		n = at_least(lane->least / d);
		room = ctx->room[at < ctx->settled ? at : ctx->settled];
		if (lane->colocated)
			tier = tier_of(n, &above);
		price = lane->cheapest[tier][c] - lane->cheapest[tier][at];
		ps = ctx->cheapest_any[c] - ctx->cheapest_any[at];
		cost = n * price + (n * lane->pss > 1 ? n * lane->pss : 1) * ps;
		if (n <= room && cost < limit)
			return d;
		/* no more workers than that will do, until they are of another tier */
		most = n * lane->pss > 1 ? limit / (price + lane->pss * ps) : (limit - ps) / price;
		most = most > above ? most : above;
		most = most < room ? most : room;
		next = lane->least * (1 - SLACK) / most;
		d = !(next < last + 1) ? last + 1 : next > d + 1 ? (unsigned)next : d + 1;
	}
	return d;
}

static double least_in(const double *block, unsigned from, unsigned to)
{
	double least = INFINITY;

	for (unsigned i = from / BLOCK; i <= (to - 1) / BLOCK; i++)
		least = block[i] < least ? block[i] : least;
	return least;
}

/*
 * True if no window that ends at FROM to before TO is better than the best. VALUE: of FROM, so of
 * none of them more. Each has the worker-slots of the whole work, and none costs less than the
 * least price there; and each has those slots that the shortest ones share, with at least as many
 * workers as the longest needs.
 */
static bool rules_out(const struct auc_policy_ctx *ctx, const struct lane *lane, unsigned start0,
		      unsigned from, unsigned to, double value)
{
	double limit = (value - ctx->best + SLACK * value) * (1 + SLACK), ps, n;
	const double *worker = lane->cheapest[0], *any = ctx->cheapest_any;
	unsigned first = lane->longest < from - start0 ? from - lane->longest : start0, shared;

	ps = fmax(lane->least * lane->pss, lane->shortest);
	if (lane->least * least_in(lane->block, first, to) +
		    ps * least_in(ctx->block_any, first, to) >=
	    limit)
		return true;
	if (lane->shortest < to - from)
		return false;
	shared = to - 1 - lane->shortest;
	n = at_least(lane->least / lane->longest);
	return n * (worker[from] - worker[shared]) +
		       fmax(1, n * lane->pss) * (any[from] - any[shared]) >=
	       limit;
}

/* Windows of worker type W, earliest completion first, as long as the value is above the best
 * payoff. */
static void search(struct auc_policy_ctx *ctx, unsigned w, bool colocated, unsigned start0)
{
	struct lane lane;
	unsigned c, d, last, looked; /* completions before that are looked at one by one */
	double value;

	if (!open_lane(ctx, &lane, w, colocated))
		return;
	find_room(ctx, &lane);
	for (c = looked = start0 + lane.shortest; c <= ctx->slots; c++) {
		value = auc_utility_value(&ctx->job->utility,
					  (double)(ctx->m->first + c - ctx->job->arrival));
		if (value <= ctx->best)
			return;
		if (c == looked) {
			looked = ctx->slots - c < BLOCK ? ctx->slots + 1 : c + BLOCK;
			if (rules_out(ctx, &lane, start0, c, looked, value)) {
				c = looked - 1;
				continue;
			}
		}
		last = lane.longest < c - start0 ? lane.longest : c - start0;
		for (d = lane.shortest; (d = next_duration(ctx, &lane, c, d, last, value)) <= last;
		     d++) {
			if (colocated)
				try_colocated(ctx, &lane, c - d, c, value);
			else
				try_distributed(ctx, &lane, c - d, c, value);
			if (value <= ctx->best)
				return;
		}
	}
}

static void try_window(struct auc_policy_ctx *ctx, unsigned w, bool colocated, unsigned start,
		       unsigned end)
{
	struct lane lane;
	double value;

	if (w >= ctx->m->nworker_types || ctx->job->worker_seconds[w] < 0 || end > ctx->slots)
		return;
	if (!open_lane(ctx, &lane, w, colocated))
		return;
	value = auc_utility_value(&ctx->job->utility,
				  (double)(ctx->m->first + end - ctx->job->arrival));
	if (colocated)
		try_colocated(ctx, &lane, start, end, value);
	else
		try_distributed(ctx, &lane, start, end, value);
}

static enum auc_code make_plan(struct auc_policy_ctx *ctx, struct auc_err *err)
{
	struct auc_decision *d = ctx->decision;
	unsigned take[ctx->nservers + 1], s;
	enum auc_code rc;

	memset(take, 0, sizeof(take));
	d->accepted = true;
	d->reason = AUC_REASON_NONE;
	d->best_payoff = ctx->best;
	d->plan.worker_type = ctx->worker;
	d->plan.ps_type = ctx->psn;
	d->plan.colocated = ctx->colocated;
	d->plan.arrival = ctx->job->arrival;
	d->plan.start = ctx->m->first + ctx->start;
	d->plan.completion = ctx->m->first + ctx->completion;
	d->plan.value = ctx->value;
	if (ctx->colocated)
		take[ctx->ps_server] = (unsigned)ctx->n;
	else
		place(ctx, ctx->worker, ctx->start, ctx->completion, ctx->n, take);
	rc = auc_plan_add_run(&d->plan, d->plan.start, d->plan.completion - 1, err);
	for (s = 0; s < ctx->nservers && rc == AUC_OK; s++)
		if (take[s] || s == ctx->ps_server)
			rc = auc_plan_add_share(&d->plan, s, take[s],
						s == ctx->ps_server ? (unsigned)ctx->z : 0, err);
	return rc;
}

static enum auc_code pool_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err)
{
	auc_slot start = job->arrival > m->first ? job->arrival : m->first;
	unsigned w, s, least = UINT32_MAX;
	struct hint *hint;

	if (job->nshapes)
		return auc_pool_gang_quote(&ctx->gangs, m, job, decision, err);
	auc_decision_reset(decision);
	ctx->m = m;
	ctx->job = job;
	ctx->decision = decision;
	ctx->found = false;
	ctx->best = 0;
	decision->reason = AUC_REASON_PAYOFF;
	decision->best_payoff = 0;
	for (s = 0; s < m->nservers; s++)
		least = job->upload[s] < least ? job->upload[s] : least;
	if (least == UINT32_MAX || job->arrival + (auc_slot)least > auc_market_last(m))
		return AUC_OK;
	if (job->arrival + (auc_slot)least > start)
		start = job->arrival + (auc_slot)least;
	find_settled(ctx);
	find_served(ctx);
	find_cheapest_ps(ctx);
	hint = &ctx->hints[(uintptr_t)job / sizeof(*job) % HINTS];
	if (hint->job == job && hint->start >= (unsigned)(start - m->first))
		try_window(ctx, hint->worker, hint->colocated, hint->start, hint->completion);
	for (w = 0; w < m->nworker_types; w++)
		if (job->worker_seconds[w] >= 0) {
			search(ctx, w, false, (unsigned)(start - m->first));
			search(ctx, w, true, (unsigned)(start - m->first));
		}
	if (!ctx->found)
		return AUC_OK;
	*hint = (struct hint){job, ctx->worker, ctx->start, ctx->completion, ctx->colocated};
	return make_plan(ctx, err);
}
