/*
 * oasis_slot.c - what workers and their PSs cost in one slot, and on which servers they are then:
 * OASiS's problem (32).
 *
 * As long as no server hosts both, workers are cheapest on the servers of least price, and so are
 * PSs, whatever the number of the others: the market's order of servers says it all. Servers of
 * equal price are taken by index.
 *
 * The paper keeps servers of workers and of PSs apart. Where a server may host both, and their
 * types use the same TRES, they may be in each other's way. Then the two walks along the order give
 * a lower bound. If they put more on a server than it holds, that server becomes a joint one: a
 * table over the joint servers, by the number of workers and of PSs on them, knows what they hold.
 * The others are walked as before. That is a better lower bound, and the exact cost once no other
 * server is in the way; until then the next ones become joint, too. Mostly few do. And as soon as
 * PSs first, then workers where there is room beside them, or the reverse, cost no more than the
 * bound, that is the cost. Once steps have run out, a slot costs what the cheaper of these two
 * does.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/oasis/oasis-private.h"

#define TABLE_CELLS ((size_t)16 << 20)

/* Numbers of memory. */
enum { PARTS, JOINT, IN_JOINT, REACH, TABLE, LOOSE, LOOSE_PS, TAKEN };
_Static_assert(TAKEN < OASIS_SLOT_MEMORIES, "numbers of memory");

/* Servers that host one type, taken in the order of price. */
struct walk {
	const struct auc_type_cache *cache;
	size_t cell; /* of the slot's first server */
	unsigned slot, rank;
	bool ps;
	const bool *without; /* by server; NULL: none */
	int64_t count;       /* on the servers taken */
	double cost;
	double price; /* on the last one, and what is left on it */
	int64_t room;
	struct oasis_layout *parts; /* NULL, or a list of what was taken */
};

/* A row of the table: no more workers and PSs than that are on the joint servers so far. */
struct reach {
	size_t workers, pss, at; /* at: its first cell */
};

/* Servers of which both workers and PSs are looked at together. */
struct joint {
	unsigned n;
	uint32_t *servers;         /* in the order in which they became joint */
	bool *in;                  /* by server */
	size_t workers, pss;       /* most of either, plus 1 */
	struct reach *reach;       /* by number of servers */
	double *table;             /* cost by that, workers, PSs on them, within reach */
	double *loose, *loose_ps;  /* by number of workers, of PSs: cost on other servers */
	size_t on_workers, on_pss; /* of the option at hand: on joint servers */
};

static void start_walk(struct walk *w, const struct auc_policy_ctx *ctx, unsigned slot, bool ps);
static bool walk_to(struct walk *w, const struct auc_policy_ctx *ctx, int64_t count);
static void lay_out_apart(struct auc_policy_ctx *ctx, unsigned slot, int64_t workers, int64_t pss,
			  const bool *without, struct oasis_layout *parts);
static void merge_parts(struct oasis_layout *layout, struct oasis_layout *parts);
static int64_t joint_fit(const struct auc_policy_ctx *ctx, unsigned slot, unsigned server,
			 int64_t pss);
static int64_t ps_beside(const struct auc_policy_ctx *ctx, unsigned slot, unsigned server,
			 int64_t workers);
static bool is_crowded(const struct auc_policy_ctx *ctx, unsigned slot, const struct auc_share *s);
static enum oasis_how solve(struct auc_policy_ctx *ctx, unsigned slot, unsigned d,
			    struct oasis_layout *parts, double *cost, double *low);
static double greedy(struct auc_policy_ctx *ctx, unsigned slot, unsigned d, bool ps_first,
		     struct oasis_layout *parts);
static double either_greedy(struct auc_policy_ctx *ctx, unsigned slot, unsigned d,
			    struct oasis_layout *parts);
static bool open_joint(struct auc_policy_ctx *ctx, unsigned d, struct joint *joint);
static unsigned add_crowded(struct auc_policy_ctx *ctx, unsigned slot, struct joint *joint,
			    const struct oasis_layout *layout);
static bool fill_rows(struct auc_policy_ctx *ctx, unsigned slot, struct joint *joint, unsigned more,
		      bool again);
static uint64_t fill_row(struct auc_policy_ctx *ctx, unsigned slot, const struct joint *joint,
			 unsigned i, bool only_count);
static void walk_loose(struct auc_policy_ctx *ctx, unsigned slot, struct joint *joint);
static double split(struct auc_policy_ctx *ctx, unsigned d, struct joint *joint);
static void trace(const struct auc_policy_ctx *ctx, unsigned slot, const struct joint *joint,
		  struct oasis_layout *parts);

enum oasis_costs auc_oasis_slot_bound(struct auc_policy_ctx *ctx, unsigned slot, double *cost,
				      unsigned *most)
{
	const struct oasis_pair *pair = &ctx->pair;
	struct oasis_layout parts;
	struct walk worker, ps;
	struct auc_share *s;
	unsigned d;

	start_walk(&worker, ctx, slot, false);
	start_walk(&ps, ctx, slot, true);
	cost[0] = 0;
	for (d = 1; d <= pair->options; d++) {
		if (!walk_to(&worker, ctx, pair->workers[d]) || !walk_to(&ps, ctx, pair->pss[d]))
			break;
		cost[d] = worker.cost + ps.cost;
	}
	*most = d - 1;
	for (; d <= pair->options; d++)
		cost[d] = INFINITY;
	ctx->steps += pair->options + 2 * (worker.rank + ps.rank);
	if (!pair->shared || !*most)
		return OASIS_APART;
	/* A smaller option has on no server more workers or PSs than the largest one. */
	parts.shares =
		auc_oasis_memory(ctx, PARTS, 2 * (size_t)ctx->m->nservers, sizeof(*parts.shares));
	if (!parts.shares)
		return OASIS_NONE;
	parts.n = 0;
	lay_out_apart(ctx, slot, pair->workers[*most], pair->pss[*most], NULL, &parts);
	ctx->steps += 16 * (uint64_t)parts.n;
	merge_parts(&parts, &parts);
	for (s = parts.shares; s < parts.shares + parts.n; s++)
		if (is_crowded(ctx, slot, s))
			return OASIS_BOUND;
	return OASIS_APART;
}

bool auc_oasis_slot_repeats(const struct auc_policy_ctx *ctx, unsigned slot)
{
	const struct auc_market *m = ctx->m;
	unsigned types[] = {ctx->pair.worker, auc_ps_index(m, ctx->pair.ps)}, i, s;
	size_t n = m->nservers, now, before;
	const struct auc_type_cache *c;

	for (i = 0; i < 2; i++) {
		c = &m->cache[types[i]];
		now = auc_type_row(c, slot);
		before = now - c->n;
		if (!auc_numbers_equal(&c->fit, now, before, c->n) ||
		    memcmp(c->price + now, c->price + before, c->n * sizeof(*c->price)))
			return false;
	}
	now = auc_cell(m, slot, 0);
	before = now - n;
	/* how many fit jointly */
	if (ctx->pair.shared && memcmp(m->used + now * m->ntres, m->used + before * m->ntres,
				       n * m->ntres * sizeof(*m->used)))
		return false;
	for (s = 0; s < n; s++)
		if (ctx->ready[s] == slot)
			return false;
	return true;
}

bool auc_oasis_slot_option(struct auc_policy_ctx *ctx, unsigned slot, unsigned d, double *low)
{
	double *cost = &auc_oasis_cost_of(ctx, slot)[d];
	enum oasis_how how = solve(ctx, slot, d, NULL, cost, low);

	auc_oasis_how_of(ctx, slot)[d] = (uint8_t)how;
	return how != OASIS_NOT_YET;
}

bool auc_oasis_slot_layout(struct auc_policy_ctx *ctx, unsigned slot, unsigned d,
			   struct oasis_layout *layout)
{
	enum oasis_how how = (enum oasis_how)auc_oasis_how_of(ctx, slot)[d];
	struct oasis_layout parts;
	double cost, low;

	parts.n = 0;
	parts.shares =
		auc_oasis_memory(ctx, PARTS, 3 * (size_t)ctx->m->nservers, sizeof(*parts.shares));
	if (!parts.shares)
		return false;
	if (ctx->costs[slot] == OASIS_APART)
		lay_out_apart(ctx, slot, ctx->pair.workers[d], ctx->pair.pss[d], NULL, &parts);
	else if (how == OASIS_GREEDY)
		either_greedy(ctx, slot, d, &parts);
	else if (solve(ctx, slot, d, &parts, &cost, &low) == OASIS_NOT_YET)
		return false;
	merge_parts(layout, &parts);
	return true;
}

static void start_walk(struct walk *w, const struct auc_policy_ctx *ctx, unsigned slot, bool ps)
{
	unsigned type = ps ? auc_ps_index(ctx->m, ctx->pair.ps) : ctx->pair.worker;

	*w = (struct walk){.cache = &ctx->m->cache[type], .slot = slot, .ps = ps};
}

/* Takes the next cheapest servers until they hold COUNT. False if all do not. */
static bool walk_to(struct walk *w, const struct auc_policy_ctx *ctx, int64_t count)
{
	int64_t take;
	int32_t fit;
	uint32_t s;

	while (w->count < count) {
		while (!w->room) {
			if (w->rank == ctx->m->nservers)
				return false;
			if (!auc_type_ranked(w->cache, w->slot, w->rank++, &s, &fit, &w->price))
				return false; /* neither do those after it */
			if (ctx->ready[s] > w->slot || (w->without && w->without[s]))
				continue;
			w->room = fit;
			if (w->parts)
				w->parts->shares[w->parts->n++] = (struct auc_share){.server = s};
		}
		take = w->room < count - w->count ? w->room : count - w->count;
		w->room -= take;
		w->count += take;
		w->cost += (double)take * w->price;
		if (w->parts && w->ps)
			w->parts->shares[w->parts->n - 1].ps += (unsigned)take;
		else if (w->parts)
			w->parts->shares[w->parts->n - 1].workers += (unsigned)take;
	}
	return true;
}

/* Adds to PARTS the cheapest servers of either type, without some. */
static void lay_out_apart(struct auc_policy_ctx *ctx, unsigned slot, int64_t workers, int64_t pss,
			  const bool *without, struct oasis_layout *parts)
{
	struct walk w;

	start_walk(&w, ctx, slot, false);
	w.parts = parts;
	w.without = without;
	walk_to(&w, ctx, workers);
	start_walk(&w, ctx, slot, true);
	w.parts = parts;
	w.without = without;
	walk_to(&w, ctx, pss);
}

static int by_server(const void *a, const void *b)
{
	const struct auc_share *x = a, *y = b;

	return (x->server > y->server) - (x->server < y->server);
}

/* One share for each server of PARTS, which is sorted; LAYOUT may be PARTS. */
static void merge_parts(struct oasis_layout *layout, struct oasis_layout *parts)
{
	struct auc_share *s, *to = layout->shares;

	qsort(parts->shares, parts->n, sizeof(*s), by_server);
	for (s = parts->shares; s < parts->shares + parts->n; s++) {
		if (to > layout->shares && to[-1].server == s->server) {
			to[-1].workers += s->workers;
			to[-1].ps += s->ps;
		} else {
			*to++ = *s;
		}
	}
	layout->n = (unsigned)(to - layout->shares);
}

/* -- servers where workers and PSs are in each other's way -- */

/* How many workers fit beside PSS PSs, which fit; -1 never comes of that. */
static int64_t joint_fit(const struct auc_policy_ctx *ctx, unsigned slot, unsigned server,
			 int64_t pss)
{
	const struct auc_market *m = ctx->m;
	const struct auc_bundle *worker = &m->types[ctx->pair.worker];
	const struct auc_bundle *ps = &m->types[auc_ps_index(m, ctx->pair.ps)];
	size_t cell = auc_cell(m, slot, server);
	const int64_t *used = m->used + cell * m->ntres;
	int64_t fit = auc_type_fit(&m->cache[ctx->pair.worker], slot, server), left;
	unsigned i, k;

	for (i = 0; i < worker->nused; i++) {
		k = worker->used[i];
		left = m->servers[server].units[k] - used[k] - pss * ps->units[k];
		if (left / worker->units[k] < fit)
			fit = left / worker->units[k];
	}
	return fit;
}

/* How many PSs fit beside WORKERS workers, which fit. */
static int64_t ps_beside(const struct auc_policy_ctx *ctx, unsigned slot, unsigned server,
			 int64_t workers)
{
	const struct auc_market *m = ctx->m;
	const struct auc_bundle *worker = &m->types[ctx->pair.worker];
	const struct auc_bundle *ps = &m->types[auc_ps_index(m, ctx->pair.ps)];
	size_t cell = auc_cell(m, slot, server);
	const int64_t *used = m->used + cell * m->ntres;
	int64_t fit = auc_type_fit(&m->cache[auc_ps_index(m, ctx->pair.ps)], slot, server), left;
	unsigned i, k;

	for (i = 0; i < ps->nused; i++) {
		k = ps->used[i];
		left = m->servers[server].units[k] - used[k] - workers * worker->units[k];
		if (left / ps->units[k] < fit)
			fit = left / ps->units[k];
	}
	return fit;
}

static bool is_crowded(const struct auc_policy_ctx *ctx, unsigned slot, const struct auc_share *s)
{
	return s->workers && s->ps && joint_fit(ctx, slot, s->server, s->ps) < s->workers;
}

/*
 * The cost of option D, and its layout to PARTS if that is not NULL. GREEDY: steps ran out,
 * and it may cost less, but not less than *LOW; that is only said where PARTS is NULL.
 */
static enum oasis_how solve(struct auc_policy_ctx *ctx, unsigned slot, unsigned d,
			    struct oasis_layout *parts, double *cost, double *low)
{
	struct oasis_layout own = {0};
	double upper = either_greedy(ctx, slot, d, NULL);
	struct joint joint;
	unsigned more;

	own.shares =
		auc_oasis_memory(ctx, TAKEN, 3 * (size_t)ctx->m->nservers, sizeof(*own.shares));
	if (!own.shares || !open_joint(ctx, d, &joint))
		return OASIS_NOT_YET;
	for (;;) {
		walk_loose(ctx, slot, &joint);
		*low = split(ctx, d, &joint);
		if (upper <= *low * (1 + OASIS_TIE) || isinf(*low)) {
			*cost = isinf(*low) ? *low : upper;
			if (parts)
				either_greedy(ctx, slot, d, parts);
			return OASIS_EXACT;
		}
		own.n = 0;
		trace(ctx, slot, &joint, &own);
		lay_out_apart(ctx, slot, ctx->pair.workers[d] - (int64_t)joint.on_workers,
			      ctx->pair.pss[d] - (int64_t)joint.on_pss, joint.in, &own);
		ctx->steps += 16 * (uint64_t)own.n;
		merge_parts(&own, &own);
		more = add_crowded(ctx, slot, &joint, &own);
		if (!more)
			break;
		if (!fill_rows(ctx, slot, &joint, more, parts != NULL)) {
			*cost = upper;
			ctx->cut = true;
			return OASIS_GREEDY;
		}
	}
	*cost = *low;
	if (parts) {
		memcpy(parts->shares, own.shares, own.n * sizeof(*own.shares));
		parts->n = own.n;
	}
	return OASIS_EXACT;
}

/*
 * One type on its cheapest servers, the other on the cheapest that have room beside it. The cost,
 * INFINITY if there is no room; what is where to PARTS if that is not NULL.
 */
static double greedy(struct auc_policy_ctx *ctx, unsigned slot, unsigned d, bool ps_first,
		     struct oasis_layout *parts)
{
	const struct auc_market *m = ctx->m;
	const struct auc_type_cache *c =
		&m->cache[ps_first ? ctx->pair.worker : auc_ps_index(m, ctx->pair.ps)];
	int64_t left = ps_first ? ctx->pair.workers[d] : ctx->pair.pss[d], room;
	struct oasis_layout own = {.shares = auc_oasis_memory(ctx, PARTS, 3 * (size_t)m->nservers,
							      sizeof(*own.shares))};
	struct oasis_layout *at = parts ? parts : &own;
	int32_t *taken = auc_oasis_memory(ctx, IN_JOINT, m->nservers, sizeof(*taken));
	struct walk w;
	unsigned r, i;
	double price;
	int32_t fit;
	uint32_t s;

	if (!at->shares || !taken)
		return INFINITY;
	at->n = 0;
	start_walk(&w, ctx, slot, ps_first);
	w.parts = at;
	if (!walk_to(&w, ctx, ps_first ? ctx->pair.pss[d] : ctx->pair.workers[d]))
		return INFINITY;
	memset(taken, 0, m->nservers * sizeof(*taken));
	for (i = 0; i < at->n; i++)
		taken[at->shares[i].server] =
			(int32_t)(ps_first ? at->shares[i].ps : at->shares[i].workers);
	for (r = 0; left && auc_type_ranked(c, slot, r, &s, &fit, &price); r++) {
		if (ctx->ready[s] > slot)
			continue;
		room = !taken[s]  ? fit
		       : ps_first ? joint_fit(ctx, slot, s, taken[s])
				  : ps_beside(ctx, slot, s, taken[s]);
		room = room < left ? room : left;
		if (room <= 0)
			continue;
		w.cost += (double)room * price;
		left -= room;
		at->shares[at->n++] = (struct auc_share){.server = s,
							 .workers = ps_first ? (unsigned)room : 0,
							 .ps = ps_first ? 0 : (unsigned)room};
	}
	ctx->steps += w.rank + 4 * (uint64_t)r + m->nservers / 4;
	return left ? INFINITY : w.cost;
}

static double either_greedy(struct auc_policy_ctx *ctx, unsigned slot, unsigned d,
			    struct oasis_layout *parts)
{
	double ps_first = greedy(ctx, slot, d, true, NULL), workers_first;

	workers_first = greedy(ctx, slot, d, false, NULL);
	if (!parts)
		return fmin(ps_first, workers_first);
	return greedy(ctx, slot, d, ps_first <= workers_first, parts);
}

/* No joint servers, for up to option D. False: no memory. */
static bool open_joint(struct auc_policy_ctx *ctx, unsigned d, struct joint *joint)
{
	unsigned n = ctx->m->nservers;

	*joint = (struct joint){.workers = (size_t)ctx->pair.workers[d] + 1,
				.pss = (size_t)ctx->pair.pss[d] + 1};
	joint->servers = auc_oasis_memory(ctx, JOINT, n, sizeof(*joint->servers));
	/* greedy() has done with it */
	joint->in = auc_oasis_memory(ctx, IN_JOINT, n, sizeof(int32_t));
	joint->reach = auc_oasis_memory(ctx, REACH, (size_t)n + 1, sizeof(*joint->reach));
	joint->loose = auc_oasis_memory(ctx, LOOSE, joint->workers, sizeof(double));
	joint->loose_ps = auc_oasis_memory(ctx, LOOSE_PS, joint->pss, sizeof(double));
	joint->table = auc_oasis_memory(ctx, TABLE, 1, sizeof(double));
	if (!joint->servers || !joint->in || !joint->reach || !joint->loose || !joint->loose_ps ||
	    !joint->table)
		return false;
	memset(joint->in, 0, n * sizeof(*joint->in));
	joint->reach[0] = (struct reach){0, 0, 0};
	joint->table[0] = 0;
	return true;
}

/* Makes those servers of LAYOUT joint that do not hold what they are to. Returns how many. */
static unsigned add_crowded(struct auc_policy_ctx *ctx, unsigned slot, struct joint *joint,
			    const struct oasis_layout *layout)
{
	const struct auc_share *s;
	unsigned n = 0;

	for (s = layout->shares; s < layout->shares + layout->n; s++)
		if (!joint->in[s->server] && is_crowded(ctx, slot, s)) {
			joint->in[s->server] = true;
			joint->servers[joint->n + n++] = s->server;
		}
	ctx->steps += layout->n;
	return n;
}

/*
 * Adds the rows of MORE joint servers. False: that takes more steps than are left, or more
 * memory than is allowed. AGAIN: it was not, and is done once more.
 */
static bool fill_rows(struct auc_policy_ctx *ctx, unsigned slot, struct joint *joint, unsigned more,
		      bool again)
{
	const struct auc_market *m = ctx->m;
	const struct auc_type_cache *worker = &m->cache[ctx->pair.worker];
	const struct auc_type_cache *ps = &m->cache[auc_ps_index(m, ctx->pair.ps)];
	struct reach *from = &joint->reach[joint->n], *to;
	uint64_t steps = 0;
	size_t cells = 0;
	unsigned i, s;

	for (i = 0; i < more; i++, from = to) {
		s = joint->servers[joint->n + i];
		to = from + 1;
		to->at = from->at + (from->workers + 1) * (from->pss + 1);
		to->workers = from->workers + (size_t)auc_type_fit(worker, slot, s);
		to->pss = from->pss + (size_t)auc_type_fit(ps, slot, s);
		to->workers = to->workers < joint->workers ? to->workers : joint->workers - 1;
		to->pss = to->pss < joint->pss ? to->pss : joint->pss - 1;
		cells = to->at + (to->workers + 1) * (to->pss + 1);
		steps += fill_row(ctx, slot, joint, joint->n + i, true);
		if (cells > TABLE_CELLS || (!again && ctx->steps + 2 * steps > ctx->limit))
			return false;
	}
	joint->table = auc_oasis_grow(ctx, TABLE, cells, sizeof(*joint->table));
	if (!joint->table)
		return false;
	/* what is done once must be done again for the layout */
	ctx->steps += again ? 0 : 2 * steps;
	for (i = 0; i < more; i++)
		fill_row(ctx, slot, joint, joint->n + i, false);
	joint->n += more;
	return true;
}

/* The row of joint server I, or only what steps it takes. */
static uint64_t fill_row(struct auc_policy_ctx *ctx, unsigned slot, const struct joint *joint,
			 unsigned i, bool only_count)
{
	const struct reach *a = &joint->reach[i], *b = a + 1;
	const double *from = joint->table + a->at;
	double *to = joint->table + b->at, cost;
	unsigned s = joint->servers[i];
	size_t y, z, w, most, width;
	const struct auc_type_cache *worker = &ctx->m->cache[ctx->pair.worker];
	const struct auc_type_cache *ps = &ctx->m->cache[auc_ps_index(ctx->m, ctx->pair.ps)];
	uint64_t steps = (b->workers + 1) * (b->pss + 1) / 2;

	for (w = 0; w <= b->workers && !only_count; w++)
		for (z = 0; z <= b->pss; z++)
			to[w * (b->pss + 1) + z] = w <= a->workers && z <= a->pss
							   ? from[w * (a->pss + 1) + z]
							   : INFINITY;
	for (z = 0; z <= b->pss && z <= (size_t)auc_type_fit(ps, slot, s); z++) {
		most = (size_t)joint_fit(ctx, slot, s, (int64_t)z);
		width = (a->pss < b->pss - z ? a->pss : b->pss - z) + 1;
		for (y = 0; y <= b->workers && y <= most; y++) {
			w = (a->workers < b->workers - y ? a->workers : b->workers - y) + 1;
			steps += w * (width / 4 + 2);
			if (only_count || (!y && !z))
				continue;
			cost = (double)y * auc_type_price(worker, slot, s) +
			       (double)z * auc_type_price(ps, slot, s);
			while (w-- > 0)
				auc_oasis_lower(to + (w + y) * (b->pss + 1) + z,
						from + w * (a->pss + 1), cost, width);
		}
	}
	return steps;
}

/* What numbers of workers and of PSs cost on the other servers. */
static void walk_loose(struct auc_policy_ctx *ctx, unsigned slot, struct joint *joint)
{
	double *cost;
	struct walk w;
	size_t i, n;
	bool ps;

	for (i = 0; i < 2; i++) {
		ps = i == 1;
		start_walk(&w, ctx, slot, ps);
		w.without = joint->in;
		cost = ps ? joint->loose_ps : joint->loose;
		for (n = 0; n < (ps ? joint->pss : joint->workers); n++)
			cost[n] = walk_to(&w, ctx, (int64_t)n) ? w.cost : INFINITY;
		ctx->steps += n + 2 * (uint64_t)w.rank;
	}
}

/* The least cost of option D, and how many workers and PSs are on joint servers then. */
static double split(struct auc_policy_ctx *ctx, unsigned d, struct joint *joint)
{
	const struct reach *r = &joint->reach[joint->n];
	const double *table = joint->table + r->at;
	size_t n = (size_t)ctx->pair.workers[d], z = (size_t)ctx->pair.pss[d], y, v;
	double least = INFINITY, cost;

	joint->on_workers = joint->on_pss = 0;
	for (y = 0; y <= n && y <= r->workers; y++)
		for (v = 0; v <= z && v <= r->pss; v++) {
			cost = table[y * (r->pss + 1) + v] + joint->loose[n - y] +
			       joint->loose_ps[z - v];
			if (cost >= least)
				continue;
			least = cost;
			joint->on_workers = y;
			joint->on_pss = v;
		}
	ctx->steps += (uint64_t)y * (z < r->pss ? z + 1 : r->pss + 1);
	return least;
}

/* Adds to PARTS what the table has on joint servers for the option at hand. */
static void trace(const struct auc_policy_ctx *ctx, unsigned slot, const struct joint *joint,
		  struct oasis_layout *parts)
{
	const struct auc_type_cache *w = &ctx->m->cache[ctx->pair.worker];
	const struct auc_type_cache *p = &ctx->m->cache[auc_ps_index(ctx->m, ctx->pair.ps)];
	size_t workers = joint->on_workers, pss = joint->on_pss, y, z;
	const struct reach *a;
	const double *from;
	struct auc_share *s;
	double cost, price, ps_price;
	size_t ps_fit;
	int64_t most;
	unsigned i;
	bool found;

	for (i = joint->n; i--;) {
		a = &joint->reach[i];
		from = joint->table + a->at;
		cost = joint->table[a[1].at + workers * (a[1].pss + 1) + pss];
		if (workers <= a->workers && pss <= a->pss &&
		    from[workers * (a->pss + 1) + pss] == cost)
			continue;
		s = &parts->shares[parts->n++];
		s->server = joint->servers[i];
		price = auc_type_price(w, slot, s->server);
		ps_price = auc_type_price(p, slot, s->server);
		ps_fit = (size_t)auc_type_fit(p, slot, s->server);
		found = false;
		for (z = 0; z <= pss && z <= ps_fit && !found; z++) {
			most = joint_fit(ctx, slot, s->server, (int64_t)z);
			for (y = 0; y <= workers && (int64_t)y <= most && !found; y++) {
				if (workers - y > a->workers || pss - z > a->pss)
					continue;
				found = from[(workers - y) * (a->pss + 1) + pss - z] +
						((double)y * price + (double)z * ps_price) ==
					cost;
				s->workers = (unsigned)y;
				s->ps = (unsigned)z;
			}
		}
		workers -= s->workers;
		pss -= s->ps;
	}
}
