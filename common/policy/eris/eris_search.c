/*
 * eris_search.c - the search of policy eris for one pair of types: how many units of a job are
 * trained in which slot. eris.c says how it goes about it.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "policy/eris/eris-private.h"

#define ROUNDS    8
#define WORK_MOST ((uint64_t)200000) /* after which no other round is tried */
#define FEW       64 /* units for which the middle way of shunning traffic is tried */

/* gcc does not do it at -O2; the sums and comparisons are the same ones. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZED __attribute__((optimize("O3")))
#else
#define VECTORIZED
#endif

/* What the program found. */
struct route {
	bool found;
	unsigned completion; /* slot index */
	double value, cost;
};

static bool try_route(struct auc_policy_ctx *ctx, const unsigned *local, double sum,
		      struct route *route);
static bool forward(struct auc_policy_ctx *ctx, const unsigned *local, double sum,
		    struct route *route);
static unsigned pays(const struct auc_policy_ctx *ctx, unsigned slot, double limit);
static bool price_slot(struct auc_policy_ctx *ctx, unsigned slot, const unsigned *local,
		       const double *shadow, unsigned most, double *cost,
		       struct eris_choice *choice);
static void add_slot(struct auc_policy_ctx *ctx, unsigned slot);
static void relax(double *restrict to, const double *restrict from, double add, size_t n);
static void trace(struct auc_policy_ctx *ctx, const struct route *route);
static bool carry_out(struct auc_policy_ctx *ctx, bool *done);
static bool run_ahead(struct auc_policy_ctx *ctx);
static bool lay_out(struct auc_policy_ctx *ctx, unsigned slot, unsigned most, unsigned d,
		    const struct eris_choice *choice, double cost);
static bool shadow_prices(struct auc_policy_ctx *ctx, const struct route *route, double scale,
			  double *sum);

/* Finds a route, carries it out and keeps what comes of it. False: no memory. */
static bool try_route(struct auc_policy_ctx *ctx, const unsigned *local, double sum,
		      struct route *route)
{
	bool done;

	if (!forward(ctx, local, sum, route))
		return false;
	if (!route->found)
		return true;
	trace(ctx, route);
	return carry_out(ctx, &done) && (!done || auc_eris_keep(ctx));
}

/*
 * The best schedule of the pair that is found: as if all chunks lay where they lie in every slot,
 * which costs too little; as if all had to be moved, which costs too much, but whose schedules can
 * be carried out as they are; and with shadow prices, while there is time. The first one comes
 * before the second, as it looks at the slots until it has found something, and what came of it
 * ends the other early. False: no memory.
 */
bool auc_eris_search(struct auc_policy_ctx *ctx)
{
	uint64_t limit = ctx->effort * WORK_MOST, before, pass;
	struct route route, moved;
	double sum = 0;
	unsigned round;

	memset(ctx->shadow, 0, ctx->m->nservers * sizeof(*ctx->shadow));
	memset(ctx->nowhere, 0, ctx->m->nservers * sizeof(*ctx->nowhere));
	for (round = 0; round <= ROUNDS * ctx->effort && !auc_eris_is_spent(ctx); round++) {
		before = ctx->work;
		if (!try_route(ctx, ctx->local, sum, &route))
			return false;
		pass = ctx->work - before;
		if (route.found && ctx->found &&
		    route.value - route.cost + sum <=
			    ctx->best_payoff + ERIS_TIE * (route.value + route.cost))
			break;
		if ((route.found && !shadow_prices(ctx, &route, 1.0 / (1 + round / 2), &sum)) ||
		    (!round && !try_route(ctx, ctx->nowhere, 0, &moved)))
			return false;
		if (!route.found || sum == 0 || ctx->work + pass > limit)
			break;
	}
	if (auc_eris_is_spent(ctx) && ctx->found)
		return true;
	return run_ahead(ctx) && (ctx->heuristic || auc_eris_exact(ctx));
}

static double *cost_of(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->cost + (size_t)(slot - ctx->start0) * (ctx->units + 1);
}

static struct eris_choice *choice_of(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->choice + (size_t)(slot - ctx->start0) * (ctx->units + 1);
}

static double *done_before(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->done + (size_t)(slot - ctx->start0) * (ctx->units + 1);
}

/* The least cost of all chunks by completion, and the best completion. LOCAL units lie at each
 * server; SUM: what they are worth at shadow prices. */
static bool forward(struct auc_policy_ctx *ctx, const unsigned *local, double sum,
		    struct route *route)
{
	unsigned slot, k, most;
	double value, cost, best;

	*route = (struct route){.found = false};
	done_before(ctx, ctx->start0)[0] = 0;
	for (k = 1; k <= ctx->units; k++)
		done_before(ctx, ctx->start0)[k] = INFINITY;
	for (slot = ctx->start0; slot < ctx->m->slots; slot++) {
		value = auc_eris_value(ctx, slot + 1);
		best = ctx->found ? ctx->best_payoff : -INFINITY;
		if (!sum && route->found)
			best = fmax(best, route->value - route->cost);
		if (value <= best || auc_eris_is_spent(ctx))
			break;
		most = ctx->most[slot] = pays(ctx, slot, value - fmax(0, best) + sum);
		if (!price_slot(ctx, slot, local, ctx->shadow, most, cost_of(ctx, slot),
				choice_of(ctx, slot)))
			return false;
		for (k = most + 1; k <= ctx->units; k++)
			cost_of(ctx, slot)[k] = INFINITY;
		add_slot(ctx, slot);
		cost = done_before(ctx, slot + 1)[ctx->units];
		if (isinf(cost))
			continue;
		if (!route->found ||
		    value - cost > route->value - route->cost + 4 * ERIS_TIE * (value + cost))
			*route = (struct route){true, slot + 1, value, cost};
	}
	return true;
}

/* The units of a slot that cost less than LIMIT with the cheapest workers: nothing else pays. */
static unsigned pays(const struct auc_policy_ctx *ctx, unsigned slot, double limit)
{
	const struct auc_market *m = ctx->m;
	double price = auc_type_least(&m->cache[ctx->worker], slot);
	unsigned most = ctx->units;

	if (isinf(price) || isinf(auc_type_least(&m->cache[auc_ps_index(m, ctx->ps)], slot)))
		return 0;
	while (most && price * (double)ctx->need[most] >= limit)
		most--;
	return most;
}

/* COST and CHOICE of 0 to MOST units in a slot. */
static bool price_slot(struct auc_policy_ctx *ctx, unsigned slot, const unsigned *local,
		       const double *shadow, unsigned most, double *cost,
		       struct eris_choice *choice)
{
	unsigned variant, k;

	cost[0] = 0;
	for (k = 1; k <= most; k++)
		cost[k] = INFINITY;
	for (variant = 0; variant < ERIS_VARIANTS && most; variant++) {
		if (!auc_eris_open(ctx, slot, local, shadow, most, variant))
			return false;
		auc_eris_price(ctx, variant, cost, choice);
		if (!ctx->slot.tight)
			break;
		variant += most > FEW && !variant;
	}
	return true;
}

/* done[] after a slot, from done[] before it. */
static void add_slot(struct auc_policy_ctx *ctx, unsigned slot)
{
	const double *before = done_before(ctx, slot), *cost = cost_of(ctx, slot);
	double *after = done_before(ctx, slot + 1);
	unsigned d;

	memcpy(after, before, ((size_t)ctx->units + 1) * sizeof(*after));
	for (d = 1; d <= ctx->units; d++)
		if (!isinf(cost[d]))
			relax(after + d, before, cost[d], ctx->units - d + 1);
	ctx->work += (uint64_t)ctx->units * ctx->units / 8;
}

VECTORIZED static void relax(double *restrict to, const double *restrict from, double add, size_t n)
{
	double sum;
	size_t i;

	for (i = 0; i < n; i++) {
		sum = from[i] + add;
		to[i] = sum < to[i] ? sum : to[i];
	}
}

/* Units by slot: in each one the fewest that leave no more to pay, so that work is done early. */
static void trace(struct auc_policy_ctx *ctx, const struct route *route)
{
	double margin = ERIS_TIE * (route->value + route->cost), have;
	unsigned left = ctx->units, slot, d;
	const double *before, *cost;

	for (slot = route->completion; slot < ctx->m->slots; slot++)
		ctx->path[slot] = 0;
	for (slot = route->completion; slot-- > ctx->start0;) {
		before = done_before(ctx, slot);
		cost = cost_of(ctx, slot);
		have = done_before(ctx, slot + 1)[left] + margin;
		for (d = 0; before[left - d] + cost[d] > have; d++)
			;
		ctx->path[slot] = d;
		left -= d;
	}
}

/*
 * Lays the path out with what is left in each slot; what turns out not to fit is done as early as
 * it does after that slot. *DONE: it is possible. False: no memory.
 */
static bool carry_out(struct auc_policy_ctx *ctx, bool *done)
{
	/* The tables of slots up to the last one are not needed any more, but for their choices. */
	struct eris_choice *choice =
		auc_eris_memory(ctx, ERIS_ONE_CHOICE, (size_t)ctx->units + 1, sizeof(*choice));
	double *cost = auc_eris_memory(ctx, ERIS_ONE_COST, (size_t)ctx->units + 1, sizeof(*cost));
	unsigned slot, d, most, over = 0, todo = ctx->units;

	if (!choice || !cost || !auc_eris_start_slices(ctx))
		return false;
	for (slot = ctx->start0; slot < ctx->m->slots && todo; slot++) {
		most = ctx->path[slot] + over;
		if (!most)
			continue;
		if (!price_slot(ctx, slot, ctx->left, NULL, most, cost, choice))
			return false;
		for (d = most; d && isinf(cost[d]); d--)
			;
		if (d && !lay_out(ctx, slot, most, d, &choice[d], cost[d]))
			return false;
		over = most - d;
		todo -= d;
	}
	*done = !todo;
	return true;
}

/* Where no path can be carried out: in every slot as many as can be. False: no memory. */
static bool run_ahead(struct auc_policy_ctx *ctx)
{
	bool done;

	memset(ctx->path, 0, ctx->m->slots * sizeof(*ctx->path));
	if (ctx->start0 < ctx->m->slots)
		ctx->path[ctx->start0] = ctx->units;
	return carry_out(ctx, &done) && (!done || auc_eris_keep(ctx));
}

/* Adds the slices of D units in a slot, priced for up to MOST. False: no memory. */
static bool lay_out(struct auc_policy_ctx *ctx, unsigned slot, unsigned most, unsigned d,
		    const struct eris_choice *choice, double cost)
{
	struct eris_slot *s = &ctx->slot;
	struct eris_site *site;
	unsigned local;
	bool ps;

	if (!auc_eris_open(ctx, slot, ctx->left, NULL, most, choice->variant) ||
	    !auc_eris_lay_out(ctx, choice->ps, d, cost))
		return false;
	for (site = s->sites; site < s->sites + s->nsites; site++) {
		ps = site->server == choice->ps;
		if (!site->taken && !ps)
			continue;
		local = site->taken < site->local ? site->taken : site->local;
		ctx->left[site->server] -= local;
		ctx->slices[ctx->nslices++] =
			(struct eris_slice){slot, site->server, site->taken, local, ps, 0};
	}
	return true;
}

/*
 * Raises or lowers the shadow prices by what the route uses of the chunks at a site; *SUM: what all
 * of them are worth. False: no memory.
 */
static bool shadow_prices(struct auc_policy_ctx *ctx, const struct route *route, double scale,
			  double *sum)
{
	const struct auc_job *job = ctx->job;
	double unit = route->cost / ctx->units, step, most = 0;
	const struct eris_choice *choice;
	const struct eris_site *site;
	unsigned slot, d, s, i;

	memset(ctx->over, 0, ctx->m->nservers * sizeof(*ctx->over));
	for (slot = ctx->start0; slot < route->completion; slot++) {
		d = ctx->path[slot];
		if (!d)
			continue;
		choice = &choice_of(ctx, slot)[d];
		if (!auc_eris_open(ctx, slot, ctx->local, ctx->shadow, ctx->most[slot],
				   choice->variant) ||
		    !auc_eris_lay_out(ctx, choice->ps, d, cost_of(ctx, slot)[d]))
			return false;
		for (site = ctx->slot.sites; site < ctx->slot.sites + ctx->slot.nsites; site++)
			ctx->over[site->server] +=
				site->taken < site->local ? site->taken : site->local;
		most = fmax(most, ctx->m->traffic.price[slot]);
	}
	/* A chunk that lies there is worth a move, but no more than its part of the job; more,
	 * where moves do not fit. */
	step = fmin(most * 1e-6 * (double)ctx->move_bytes, route->value / ctx->units) +
	       (ctx->found ? 0 : unit);
	*sum = 0;
	for (i = 0; i < job->ndata; i++) {
		s = job->data[i].server;
		if (!ctx->local[s])
			continue;
		ctx->shadow[s] +=
			scale * step * ((double)ctx->over[s] - ctx->local[s]) / ctx->local[s];
		ctx->shadow[s] = fmax(0, ctx->shadow[s]);
		*sum += ctx->shadow[s] * ctx->local[s];
	}
	return true;
}
