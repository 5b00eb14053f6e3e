/*
 * oasis_slot.c - what workers and their PSs cost in one slot, and on which servers they are then:
 * OASiS's problem (32).
 *
 * As long as no server hosts both, workers are cheapest on the servers of least price, and so are
 * PSs, whatever the number of the others: the market's order of servers says it all. Servers of
 * equal price are taken by index.
 *
 * The paper keeps servers of workers and of PSs apart. Where a server may host both, and their
 * types use the same TRES, they may be in each other's way. Then two walks along the order give a
 * lower bound, and the exact cost comes from a table over the servers where that can happen (tight
 * ones), by the number of workers and of PSs on them. A tight server matters only if fewer than
 * workers + PSs others are cheaper for both, as each of what is on it could go to one of those.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/oasis/oasis-private.h"

#define TABLE_CELLS ((size_t)8 << 20) /* beyond it the dearest tight servers are left out */

/* Numbers of memory. */
enum { PARTS, TIGHT, ANY, IN_TABLE, NEAREST, TABLE, LOOSE, LOOSE_PS };

/* Servers that host one type, taken in the order of price. */
struct walk {
	const struct auc_type_cache *cache;
	size_t cell; /* of the slot's first server */
	unsigned slot, rank;
	bool ps;
	const bool *without; /* by server; NULL: none */
	int64_t count;       /* on the servers taken */
	double cost;
	uint32_t server; /* the last one, and what is left on it */
	int64_t room;
	struct oasis_layout *parts; /* NULL, or a list of what was taken */
};

/* Servers where workers and PSs may be in each other's way. */
struct tight {
	unsigned n;
	uint32_t *servers;        /* those of the table, by ascending price */
	bool *any, *in_table;     /* by server; tight ones beyond the table host workers only */
	size_t workers, pss;      /* most of either, plus 1 */
	double *table;            /* cost by number of servers, workers, PSs on them */
	double *loose, *loose_ps; /* by number of workers, of PSs: cost on other servers */
};

static void start_walk(struct walk *w, const struct auc_policy_ctx *ctx, unsigned slot, bool ps);
static bool walk_to(struct walk *w, const struct auc_policy_ctx *ctx, int64_t count);
static void lay_out_apart(struct auc_policy_ctx *ctx, unsigned slot, int64_t workers, int64_t pss,
			  const struct tight *tight, struct oasis_layout *parts);
static void merge_parts(struct oasis_layout *layout, struct oasis_layout *parts);
static int64_t joint_fit(const struct auc_policy_ctx *ctx, unsigned slot, unsigned server,
			 int64_t pss);
static bool find_tight(struct auc_policy_ctx *ctx, unsigned slot, struct tight *tight);
static bool drop_dominated(struct auc_policy_ctx *ctx, unsigned slot, struct tight *tight);
static bool fill_table(struct auc_policy_ctx *ctx, unsigned slot, struct tight *tight);
static void fill_row(const struct auc_policy_ctx *ctx, unsigned slot, const struct tight *tight,
		     unsigned i);
static bool walk_loose(struct auc_policy_ctx *ctx, unsigned slot, struct tight *tight);
static double split(const struct oasis_pair *pair, const struct tight *tight, unsigned d,
		    size_t *workers, size_t *pss);
static void trace(const struct auc_policy_ctx *ctx, unsigned slot, const struct tight *tight,
		  size_t workers, size_t pss, struct oasis_layout *parts);

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
	if (!pair->shared || !*most)
		return OASIS_APART;
	/* A smaller option has on no server more workers or PSs than the largest one. */
	parts.shares =
		auc_oasis_memory(ctx, PARTS, 2 * (size_t)ctx->m->nservers, sizeof(*parts.shares));
	if (!parts.shares)
		return OASIS_NONE;
	parts.n = 0;
	lay_out_apart(ctx, slot, pair->workers[*most], pair->pss[*most], NULL, &parts);
	merge_parts(&parts, &parts);
	for (s = parts.shares; s < parts.shares + parts.n; s++)
		if (s->workers && s->ps && joint_fit(ctx, slot, s->server, s->ps) < s->workers)
			return OASIS_BOUND;
	return OASIS_APART;
}

bool auc_oasis_slot_repeats(const struct auc_policy_ctx *ctx, unsigned slot)
{
	const struct auc_market *m = ctx->m;
	unsigned types[] = {ctx->pair.worker, auc_ps_index(m, ctx->pair.ps)}, i, s;
	size_t n = m->nservers, now = auc_cell(m, slot, 0), before = now - n;
	const struct auc_type_cache *c;

	for (i = 0; i < 2; i++) {
		c = &m->cache[types[i]];
		if (memcmp(c->fit + now, c->fit + before, n * sizeof(*c->fit)) ||
		    memcmp(c->price + now, c->price + before, n * sizeof(*c->price)))
			return false;
	}
	/* how many fit jointly */
	if (ctx->pair.shared && memcmp(m->used + now * m->ntres, m->used + before * m->ntres,
				       n * m->ntres * sizeof(*m->used)))
		return false;
	for (s = 0; s < n; s++)
		if (ctx->ready[s] == slot)
			return false;
	return true;
}

enum oasis_costs auc_oasis_slot_cost(struct auc_policy_ctx *ctx, unsigned slot, double *cost,
				     unsigned *most)
{
	const struct oasis_pair *pair = &ctx->pair;
	struct tight tight;
	size_t workers, pss;
	unsigned d;

	if (!find_tight(ctx, slot, &tight) || !fill_table(ctx, slot, &tight) ||
	    !walk_loose(ctx, slot, &tight))
		return OASIS_NONE;
	*most = 0;
	for (d = 1; d <= pair->options; d++) {
		cost[d] = split(pair, &tight, d, &workers, &pss);
		if (isfinite(cost[d]))
			*most = d;
	}
	return OASIS_JOINT;
}

bool auc_oasis_slot_layout(struct auc_policy_ctx *ctx, unsigned slot, unsigned d,
			   enum oasis_costs costs, struct oasis_layout *layout)
{
	int64_t n = ctx->pair.workers[d], z = ctx->pair.pss[d];
	size_t workers = 0, pss = 0;
	struct oasis_layout parts;
	struct tight tight;

	parts.n = 0;
	parts.shares =
		auc_oasis_memory(ctx, PARTS, 3 * (size_t)ctx->m->nservers, sizeof(*parts.shares));
	if (!parts.shares)
		return false;
	if (costs == OASIS_APART) {
		lay_out_apart(ctx, slot, n, z, NULL, &parts);
	} else {
		if (!find_tight(ctx, slot, &tight) || !fill_table(ctx, slot, &tight) ||
		    !walk_loose(ctx, slot, &tight))
			return false;
		split(&ctx->pair, &tight, d, &workers, &pss);
		trace(ctx, slot, &tight, workers, pss, &parts);
		lay_out_apart(ctx, slot, n - (int64_t)workers, z - (int64_t)pss, &tight, &parts);
	}
	merge_parts(layout, &parts);
	return true;
}

static void start_walk(struct walk *w, const struct auc_policy_ctx *ctx, unsigned slot, bool ps)
{
	unsigned type = ps ? auc_ps_index(ctx->m, ctx->pair.ps) : ctx->pair.worker;

	*w = (struct walk){.cache = &ctx->m->cache[type],
			   .cell = auc_cell(ctx->m, slot, 0),
			   .slot = slot,
			   .ps = ps};
}

/* Takes the next cheapest servers until they hold COUNT. False if all do not. */
static bool walk_to(struct walk *w, const struct auc_policy_ctx *ctx, int64_t count)
{
	int64_t take;
	uint32_t s;

	while (w->count < count) {
		while (!w->room) {
			if (w->rank == ctx->m->nservers)
				return false;
			s = w->cache->order[w->cell + w->rank++];
			if (!w->cache->fit[w->cell + s])
				return false; /* neither do those after it */
			if (ctx->ready[s] > w->slot || (w->without && w->without[s]))
				continue;
			w->server = s;
			w->room = w->cache->fit[w->cell + s];
			if (w->parts)
				w->parts->shares[w->parts->n++] = (struct auc_share){.server = s};
		}
		take = w->room < count - w->count ? w->room : count - w->count;
		w->room -= take;
		w->count += take;
		w->cost += (double)take * w->cache->price[w->cell + w->server];
		if (w->parts && w->ps)
			w->parts->shares[w->parts->n - 1].ps += (unsigned)take;
		else if (w->parts)
			w->parts->shares[w->parts->n - 1].workers += (unsigned)take;
	}
	return true;
}

/* Adds to PARTS the cheapest servers of either type, without the tight ones. */
static void lay_out_apart(struct auc_policy_ctx *ctx, unsigned slot, int64_t workers, int64_t pss,
			  const struct tight *tight, struct oasis_layout *parts)
{
	struct walk w;

	start_walk(&w, ctx, slot, false);
	w.parts = parts;
	w.without = tight ? tight->in_table : NULL;
	walk_to(&w, ctx, workers);
	start_walk(&w, ctx, slot, true);
	w.parts = parts;
	w.without = tight ? tight->any : NULL;
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
	int64_t fit = m->cache[ctx->pair.worker].fit[cell], left;
	unsigned i, k;

	for (i = 0; i < worker->nused; i++) {
		k = worker->used[i];
		left = m->servers[server].units[k] - used[k] - pss * ps->units[k];
		if (left / worker->units[k] < fit)
			fit = left / worker->units[k];
	}
	return fit;
}

/* The servers that cannot hold all workers and PSs that they might get; which of them go into the
 * table. */
static bool find_tight(struct auc_policy_ctx *ctx, unsigned slot, struct tight *tight)
{
	const struct oasis_pair *pair = &ctx->pair;
	const struct auc_market *m = ctx->m;
	size_t cell = auc_cell(m, slot, 0);
	const int32_t *fit = m->cache[pair->worker].fit + cell;
	const int32_t *ps_fit = m->cache[auc_ps_index(m, pair->ps)].fit + cell;
	int64_t n = pair->workers[pair->options], z = pair->pss[pair->options], most;
	unsigned s;

	tight->n = 0;
	tight->workers = (size_t)n + 1;
	tight->pss = (size_t)z + 1;
	tight->servers = auc_oasis_memory(ctx, TIGHT, m->nservers, sizeof(*tight->servers));
	tight->any = auc_oasis_memory(ctx, ANY, m->nservers, sizeof(*tight->any));
	tight->in_table = auc_oasis_memory(ctx, IN_TABLE, m->nservers, sizeof(*tight->in_table));
	if (!tight->servers || !tight->any || !tight->in_table)
		return false;
	for (s = 0; s < m->nservers; s++) {
		tight->any[s] = tight->in_table[s] = false;
		if (!fit[s] || !ps_fit[s] || ctx->ready[s] > slot)
			continue;
		most = joint_fit(ctx, slot, s, ps_fit[s] < z ? ps_fit[s] : z);
		if (most >= n || most >= fit[s])
			continue;
		tight->any[s] = true;
		tight->servers[tight->n++] = s;
	}
	if (!drop_dominated(ctx, slot, tight))
		return false;
	while (tight->n && (tight->n + 1) * tight->workers * tight->pss > TABLE_CELLS)
		tight->n--;
	for (s = 0; s < tight->n; s++)
		tight->in_table[tight->servers[s]] = true;
	return true;
}

struct prices {
	const double *worker, *ps;
};

static int compare_prices(const void *a, const void *b, void *arg)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct prices *p = arg;

	if (p->worker[i] != p->worker[j])
		return p->worker[i] < p->worker[j] ? -1 : 1;
	if (p->ps[i] != p->ps[j])
		return p->ps[i] < p->ps[j] ? -1 : 1;
	return (i > j) - (i < j);
}

/*
 * Sorts the tight servers by price and drops those for which workers + PSs others are no dearer in
 * either way. NEAREST has the cheapest prices of a PS so far, as many as that, ascending.
 */
static bool drop_dominated(struct auc_policy_ctx *ctx, unsigned slot, struct tight *tight)
{
	size_t enough = tight->workers + tight->pss - 2, n = 0, at;
	const struct auc_market *m = ctx->m;
	size_t cell = auc_cell(m, slot, 0);
	struct prices p = {m->cache[ctx->pair.worker].price + cell,
			   m->cache[auc_ps_index(m, ctx->pair.ps)].price + cell};
	double *nearest = auc_oasis_memory(ctx, NEAREST, enough + 1, sizeof(*nearest));
	unsigned i, kept = 0;
	double price;

	if (!nearest)
		return false;
	qsort_r(tight->servers, tight->n, sizeof(*tight->servers), compare_prices, &p);
	for (i = 0; i < tight->n; i++) {
		price = p.ps[tight->servers[i]];
		if (n == enough && nearest[n - 1] <= price)
			continue;
		tight->servers[kept++] = tight->servers[i];
		for (at = n < enough ? n++ : n - 1; at && nearest[at - 1] > price; at--)
			nearest[at] = nearest[at - 1];
		nearest[at] = price;
	}
	tight->n = kept;
	return true;
}

/* The least cost by the number of tight servers used from the first on, of workers and of PSs. */
static bool fill_table(struct auc_policy_ctx *ctx, unsigned slot, struct tight *tight)
{
	size_t row = tight->workers * tight->pss, i;

	tight->table = auc_oasis_memory(ctx, TABLE, (tight->n + 1) * row, sizeof(*tight->table));
	if (!tight->table)
		return false;
	tight->table[0] = 0;
	for (i = 1; i < row; i++)
		tight->table[i] = INFINITY;
	for (i = 0; i < tight->n; i++)
		fill_row(ctx, slot, tight, (unsigned)i);
	return true;
}

static void fill_row(const struct auc_policy_ctx *ctx, unsigned slot, const struct tight *tight,
		     unsigned i)
{
	size_t row = tight->workers * tight->pss, y, z, workers, pss, most;
	const double *from = tight->table + i * row;
	double *to = tight->table + (i + 1) * row, *at, cost;
	unsigned s = tight->servers[i];
	size_t cell = auc_cell(ctx->m, slot, s);
	const struct auc_type_cache *w = &ctx->m->cache[ctx->pair.worker];
	const struct auc_type_cache *p = &ctx->m->cache[auc_ps_index(ctx->m, ctx->pair.ps)];

	memcpy(to, from, row * sizeof(*to));
	for (z = 0; z < tight->pss && z <= (size_t)p->fit[cell]; z++) {
		most = (size_t)joint_fit(ctx, slot, s, (int64_t)z);
		for (y = 0; y < tight->workers && y <= most; y++) {
			if (!y && !z)
				continue;
			cost = (double)y * w->price[cell] + (double)z * p->price[cell];
			for (workers = y; workers < tight->workers; workers++)
				for (pss = z; pss < tight->pss; pss++) {
					at = &to[workers * tight->pss + pss];
					*at = fmin(*at, from[(workers - y) * tight->pss + pss - z] +
								cost);
				}
		}
	}
}

/* What numbers of workers and of PSs cost on the other servers. */
static bool walk_loose(struct auc_policy_ctx *ctx, unsigned slot, struct tight *tight)
{
	double *cost;
	struct walk w;
	size_t i, n;
	bool ps;

	tight->loose = auc_oasis_memory(ctx, LOOSE, tight->workers, sizeof(double));
	tight->loose_ps = auc_oasis_memory(ctx, LOOSE_PS, tight->pss, sizeof(double));
	if (!tight->loose || !tight->loose_ps)
		return false;
	for (i = 0; i < 2; i++) {
		ps = i == 1;
		start_walk(&w, ctx, slot, ps);
		w.without = ps ? tight->any : tight->in_table;
		cost = ps ? tight->loose_ps : tight->loose;
		for (n = 0; n < (ps ? tight->pss : tight->workers); n++)
			cost[n] = walk_to(&w, ctx, (int64_t)n) ? w.cost : INFINITY;
	}
	return true;
}

/* The least cost of option D, and how many workers and PSs are on tight servers then. */
static double split(const struct oasis_pair *pair, const struct tight *tight, unsigned d,
		    size_t *workers, size_t *pss)
{
	const double *table = tight->table + tight->n * tight->workers * tight->pss;
	size_t n = (size_t)pair->workers[d], z = (size_t)pair->pss[d], y, v;
	double least = INFINITY, cost;

	for (y = 0; y <= n; y++)
		for (v = 0; v <= z; v++) {
			cost = table[y * tight->pss + v] + tight->loose[n - y] +
			       tight->loose_ps[z - v];
			if (cost >= least)
				continue;
			least = cost;
			*workers = y;
			*pss = v;
		}
	return least;
}

/* Adds to PARTS what the table has on tight servers for that number of workers and PSs. */
static void trace(const struct auc_policy_ctx *ctx, unsigned slot, const struct tight *tight,
		  size_t workers, size_t pss, struct oasis_layout *parts)
{
	const struct auc_type_cache *w = &ctx->m->cache[ctx->pair.worker];
	const struct auc_type_cache *p = &ctx->m->cache[auc_ps_index(ctx->m, ctx->pair.ps)];
	size_t row = tight->workers * tight->pss, y, z, cell;
	const double *from;
	struct auc_share *s;
	double cost;
	unsigned i;
	int64_t most;
	bool found;

	for (i = tight->n; i--;) {
		from = tight->table + i * row;
		cost = from[row + workers * tight->pss + pss];
		if (from[workers * tight->pss + pss] == cost)
			continue;
		s = &parts->shares[parts->n++];
		s->server = tight->servers[i];
		cell = auc_cell(ctx->m, slot, s->server);
		found = false;
		for (z = 0; z <= pss && z <= (size_t)p->fit[cell] && !found; z++) {
			most = joint_fit(ctx, slot, s->server, (int64_t)z);
			for (y = 0; y <= workers && (int64_t)y <= most && !found; y++) {
				found = from[(workers - y) * tight->pss + pss - z] +
						((double)y * w->price[cell] +
						 (double)z * p->price[cell]) ==
					cost;
				s->workers = (unsigned)y;
				s->ps = (unsigned)z;
			}
		}
		workers -= s->workers;
		pss -= s->ps;
	}
}
