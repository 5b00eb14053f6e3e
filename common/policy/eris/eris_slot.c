/*
 * eris_slot.c - what it costs to train some chunks in one slot: problem (8) of Eris, in place of
 * Algorithm 3.
 *
 * With the PS at a given site, k chunks at a site cost its workers there, ceil(epochs * k /
 * chunks_per_slot), what these exchange if the PS is elsewhere, and what it takes to bring chunks
 * that do not lie there. The cost of a site is no convex function of k, so it is filled along the
 * lower hulls: the sites' parts by ascending price of a chunk, and what is left of a number of
 * chunks is put where it costs least. Where the budget of traffic ends that, the same is done with
 * traffic shunned: at a price that makes it as dear as workers, and at one beyond all.
 *
 * All PS sites are tried, or the most promising ones if there are many.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/eris/eris-private.h"

#define SPARE    8 /* sites beside those that are enough */
#define PS_SITES 8 /* that are tried in a slot, if there are few units; fewer if there are many */
#define REST     2 /* sites that are tried for what is left */

/* A way through the parts. */
struct fill {
	const struct eris_slot *s;
	const struct auc_policy_ctx *ctx;
	unsigned ps; /* site */
	unsigned nhome, at, at_home;
	unsigned n; /* units */
	double cost;
	int64_t bytes;
};

/* The next part, and where what is left of a number of units may go. */
struct rest {
	const struct eris_part *part;
	unsigned n, sites[REST];
	unsigned site; /* that is best; what it costs and sends more */
	double cost;
	int64_t bytes;
};

static bool choose_sites(struct auc_policy_ctx *ctx, const unsigned *local, const double *shadow);
static double shunned(const struct auc_policy_ctx *ctx, unsigned variant);
static void add_site(struct auc_policy_ctx *ctx, unsigned server, const unsigned *local,
		     const double *shadow);
static unsigned make_parts(const struct auc_policy_ctx *ctx, unsigned site, bool home,
			   struct eris_part *parts);
static double site_cost(const struct auc_policy_ctx *ctx, const struct eris_site *site, bool home,
			unsigned k, int64_t *bytes);
static unsigned holds(const struct auc_policy_ctx *ctx, unsigned workers);
static void merge(struct auc_policy_ctx *ctx);
static void sift(struct eris_slot *s, unsigned n, unsigned i);
static unsigned rank_ps(struct auc_policy_ctx *ctx, unsigned *list);
static double promise(const struct auc_policy_ctx *ctx, const struct eris_site *site, double rate);
static double gain(const struct auc_policy_ctx *ctx, const struct eris_site *site, bool home,
		   double rate);
static void start(struct auc_policy_ctx *ctx, struct fill *f, unsigned ps);
static const struct eris_part *next_part(const struct fill *f, unsigned *at, unsigned *at_home);
static bool can_take(const struct fill *f, unsigned site, unsigned k, double *cost, int64_t *bytes);
static bool next(struct fill *f, struct rest *rest);
static void find(const struct fill *f, struct rest *rest, unsigned more, bool others);
static void take_part(struct fill *f, const struct eris_part *part);
static void take(struct fill *f, unsigned site, unsigned k, double cost, int64_t bytes);

bool auc_eris_open(struct auc_policy_ctx *ctx, unsigned slot, const unsigned *local,
		   const double *shadow, unsigned most, unsigned variant)
{
	struct eris_slot *s = &ctx->slot;
	size_t parts;
	unsigned i;

	*s = (struct eris_slot){.slot = slot, .most = most};
	s->left = auc_traffic_left(ctx->m, slot);
	s->alpha = ctx->m->traffic.price[slot] / 1e6;
	if (!choose_sites(ctx, local, shadow))
		return false;
	parts = (size_t)s->nsites * (most + 1) + 1; /* a part has a unit at least */
	s->parts = auc_eris_memory(ctx, ERIS_PARTS, parts, sizeof(*s->parts));
	s->merged = auc_eris_memory(ctx, ERIS_MERGED, parts, sizeof(*s->merged));
	s->home = auc_eris_memory(ctx, ERIS_HOME, (size_t)most + 1, sizeof(*s->home));
	if (!s->parts || !s->merged || !s->home)
		return false;
	s->shun = shunned(ctx, variant);
	for (i = 0; i < s->nsites; i++) {
		s->sites[i].first = s->nparts;
		s->nparts += make_parts(ctx, i, false, s->parts + s->nparts);
		s->sites[i].last = s->nparts;
	}
	merge(ctx);
	ctx->work += s->nsites + s->nparts;
	return true;
}

/*
 * The sites of the slot at hand: those of the data, the cheapest ones for workers until they are
 * enough, and some more, and the cheapest ones for the PS. False: no memory.
 */
static bool choose_sites(struct auc_policy_ctx *ctx, const unsigned *local, const double *shadow)
{
	const struct auc_market *m = ctx->m;
	const struct auc_type_cache *w = &m->cache[ctx->worker];
	const struct auc_type_cache *p = &m->cache[auc_ps_index(m, ctx->ps)];
	struct eris_slot *s = &ctx->slot;
	size_t sites = ctx->job->ndata + s->most + 2 * SPARE;
	unsigned i, enough = 0, spare = 0;
	uint32_t server;
	double price;
	int32_t fit;

	sites = sites < m->nservers ? sites : m->nservers;
	s->sites = auc_eris_memory(ctx, ERIS_SITES, sites + 1, sizeof(*s->sites));
	s->heap = auc_eris_memory(ctx, ERIS_HEAP, sites + 1, sizeof(*s->heap));
	if (!s->sites || !s->heap)
		return false;
	ctx->stamp_now++;
	for (i = 0; i < ctx->job->ndata; i++)
		add_site(ctx, ctx->job->data[i].server, local, shadow);
	for (i = 0; spare < SPARE && auc_type_ranked(w, s->slot, i, &server, &fit, &price); i++) {
		if (ctx->ready[server] > s->slot || ctx->stamp[server] == ctx->stamp_now)
			continue;
		add_site(ctx, server, local, shadow);
		if (enough < s->most && s->nsites < ctx->job->ndata + s->most)
			enough += holds(ctx, s->sites[s->nsites - 1].fit);
		else
			spare++;
	}
	ctx->walked += 8 * (uint64_t)i + 8 * (uint64_t)s->nsites;
	spare = 0;
	for (i = 0; spare < SPARE && auc_type_ranked(p, s->slot, i, &server, &fit, &price); i++) {
		if (ctx->ready[server] > s->slot)
			continue;
		add_site(ctx, server, local, shadow);
		spare++;
	}
	ctx->walked += 8 * (uint64_t)i;
	return true;
}

/* What is added to the price of a byte: nothing, what makes traffic as dear as workers, or more
 * than all else. */
static double shunned(const struct auc_policy_ctx *ctx, unsigned variant)
{
	const struct eris_slot *s = &ctx->slot;
	double price = 0;
	unsigned i;

	for (i = 0; i < s->nsites; i++)
		if (s->sites[i].fit)
			price = fmax(price, s->sites[i].price);
	if (variant == 1)
		return price / (double)(1 + ctx->exchange_bytes) +
		       price / (double)(1 + ctx->move_bytes);
	return variant == 2 ? 1e6 * (price + s->alpha + 1) : 0;
}

static void add_site(struct auc_policy_ctx *ctx, unsigned server, const unsigned *local,
		     const double *shadow)
{
	const struct auc_market *m = ctx->m;
	struct eris_slot *s = &ctx->slot;
	const struct auc_type_cache *w = &m->cache[ctx->worker];
	const struct auc_type_cache *p = &m->cache[auc_ps_index(m, ctx->ps)];
	struct eris_site *site = &s->sites[s->nsites];
	int32_t fit = auc_type_fit(w, s->slot, server);
	int64_t home;

	if (ctx->ready[server] > s->slot || ctx->stamp[server] == ctx->stamp_now ||
	    (!fit && !auc_type_fit(p, s->slot, server)))
		return;
	ctx->stamp[server] = ctx->stamp_now;
	s->nsites++;
	home = auc_eris_home(ctx, s->slot, server);
	*site = (struct eris_site){
		.server = server,
		.fit = (unsigned)fit,
		.hosts_ps = home >= 0,
		.price = fit ? auc_type_price(w, s->slot, server) : 0,
		.ps = home >= 0 ? auc_type_price(p, s->slot, server) : 0,
		.local = local[server],
		.shadow = shadow ? shadow[server] : 0,
	};
	if (home > 0)
		site->home = home < site->fit ? (unsigned)home : site->fit;
}

int64_t auc_eris_home(const struct auc_policy_ctx *ctx, unsigned slot, unsigned server)
{
	const struct auc_market *m = ctx->m;
	const struct auc_bundle *worker = &m->types[ctx->worker];
	const struct auc_bundle *ps = &m->types[auc_ps_index(m, ctx->ps)];
	size_t cell = auc_cell(m, slot, server);
	const int64_t *used = m->used + cell * m->ntres;
	int64_t fit = auc_type_fit(&m->cache[ctx->worker], slot, server), left;
	unsigned i, k;

	if (!auc_type_fit(&m->cache[auc_ps_index(m, ctx->ps)], slot, server))
		return -1;
	for (i = 0; i < worker->nused; i++) {
		k = worker->used[i];
		left = m->servers[server].units[k] - used[k] - ps->units[k];
		if (left / worker->units[k] < fit)
			fit = left / worker->units[k];
	}
	return fit > 0 ? fit : 0;
}

/* K units at SITE, and what they send. Their shadow is part of the cost. */
static double site_cost(const struct auc_policy_ctx *ctx, const struct eris_site *site, bool home,
			unsigned k, int64_t *bytes)
{
	unsigned moved = k > site->local ? k - site->local : 0;
	double workers = (double)ctx->need[k];

	*bytes = (int64_t)moved * ctx->move_bytes;
	if (!home)
		*bytes += (int64_t)ctx->need[k] * ctx->exchange_bytes;
	return workers * site->price + (double)(k - moved) * site->shadow +
	       (double)*bytes * ctx->slot.alpha;
}

/* The units that WORKERS can train. */
static unsigned holds(const struct auc_policy_ctx *ctx, unsigned workers)
{
	unsigned low = 0, high = ctx->units, k;

	while (low < high) {
		k = (low + high + 1) / 2;
		if (ctx->need[k] <= workers)
			low = k;
		else
			high = k - 1;
	}
	return low;
}

/* The lower hull of a site's cost, with traffic shunned; returns the number of its parts. */
static unsigned make_parts(const struct auc_policy_ctx *ctx, unsigned index, bool home,
			   struct eris_part *parts)
{
	const struct eris_site *site = &ctx->slot.sites[index];
	unsigned n = 0, k, before, most = holds(ctx, home ? site->home : site->fit);
	double cost, from_cost, shun = ctx->slot.shun;
	int64_t bytes, from_bytes;
	struct eris_part part;

	most = most < ctx->slot.most ? most : ctx->slot.most;
	for (before = 0; before < most; before = k) {
		k = ctx->reach[before + 1] < most ? ctx->reach[before + 1] : most;
		if (before < site->local && k > site->local)
			k = site->local;
		cost = site_cost(ctx, site, home, k, &bytes);
		cost += (double)bytes * shun;
		part = (struct eris_part){.site = index, .from = before, .to = k};
		for (;;) {
			from_cost = site_cost(ctx, site, home, part.from, &from_bytes);
			from_cost += (double)from_bytes * shun;
			part.rate = (cost - from_cost) / (part.to - part.from);
			if (!n || parts[n - 1].rate < part.rate)
				break;
			part.from = parts[--n].from;
		}
		parts[n++] = part;
	}
	return n;
}

/* The parts of all sites, cheapest first, until without any one site there are enough. */
static void merge(struct auc_policy_ctx *ctx)
{
	struct eris_slot *s = &ctx->slot;
	unsigned n = 0, i, sum = 0, largest = 0;
	struct eris_site *site;
	struct eris_part *part;

	for (i = 0; i < s->nsites; i++) {
		s->sites[i].taken = 0; /* here: parts that are merged */
		if (s->sites[i].first < s->sites[i].last)
			s->heap[n++] = i;
	}
	for (i = n / 2; i-- > 0;)
		sift(s, n, i);
	s->nmerged = 0;
	while (n && sum < s->most + largest) {
		site = &s->sites[s->heap[0]];
		part = &s->parts[site->first + site->taken++];
		s->merged[s->nmerged++] = *part;
		sum += part->to - part->from;
		largest = part->to > largest ? part->to : largest;
		if (site->first + site->taken == site->last)
			s->heap[0] = s->heap[--n];
		sift(s, n, 0);
	}
}

static bool before(const struct eris_slot *s, unsigned a, unsigned b)
{
	double x = s->parts[s->sites[a].first + s->sites[a].taken].rate;
	double y = s->parts[s->sites[b].first + s->sites[b].taken].rate;

	return x < y || (x == y && s->sites[a].server < s->sites[b].server);
}

static void sift(struct eris_slot *s, unsigned n, unsigned i)
{
	unsigned child, kept;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!before(s, s->heap[child], s->heap[i]))
			return;
		kept = s->heap[i];
		s->heap[i] = s->heap[child];
		s->heap[child] = kept;
		i = child;
	}
}

void auc_eris_price(struct auc_policy_ctx *ctx, unsigned variant, double *cost,
		    struct eris_choice *choice)
{
	struct eris_slot *s = &ctx->slot;
	unsigned list[PS_SITES], n = rank_ps(ctx, list), i, d, last;
	struct rest rest;
	struct fill f;
	double sum;

	for (i = 0; i < n; i++) {
		start(ctx, &f, list[i]);
		while (f.n < s->most && next(&f, &rest)) {
			last = f.n + rest.part->to - rest.part->from;
			for (d = f.n + 1; d <= last && d <= s->most; d++) {
				find(&f, &rest, d - f.n, d < last);
				sum = f.cost + rest.cost + s->sites[f.ps].ps;
				if (sum < cost[d]) {
					cost[d] = sum;
					choice[d] = (struct eris_choice){s->sites[f.ps].server,
									 variant};
				}
			}
			take_part(&f, rest.part);
			s->tight = s->tight || s->sites[rest.part->site].full;
		}
	}
	ctx->work += (uint64_t)n * s->most * REST;
}

bool auc_eris_lay_out(struct auc_policy_ctx *ctx, unsigned ps, unsigned d, double whole)
{
	struct eris_slot *s = &ctx->slot;
	unsigned site = 0, last;
	struct rest rest;
	struct fill f;

	while (site < s->nsites && s->sites[site].server != ps)
		site++;
	start(ctx, &f, site);
	while (f.n < d) {
		if (!next(&f, &rest))
			return false;
		last = f.n + rest.part->to - rest.part->from;
		if (d <= last) {
			find(&f, &rest, d - f.n, d < last);
			if (f.cost + rest.cost + s->sites[site].ps <= whole) {
				take(&f, rest.site, s->sites[rest.site].taken + d - f.n, rest.cost,
				     rest.bytes);
				return true;
			}
		}
		take_part(&f, rest.part);
	}
	return true;
}

/* How many sites are tried for the PS, so that the time of a slot hardly depends on the units. */
static unsigned ps_sites(unsigned units)
{
	unsigned n = 256 / (units + 1);

	return n < 2 ? 2 : n > PS_SITES ? PS_SITES : n;
}

/* Sites for the PS, into LIST. */
static unsigned rank_ps(struct auc_policy_ctx *ctx, unsigned *list)
{
	struct eris_slot *s = &ctx->slot;
	double promises[PS_SITES], p, rate = s->nmerged ? s->merged[s->nmerged - 1].rate : 0;
	unsigned most = ps_sites(s->most);
	unsigned n = 0, i, k, sum = 0;

	for (i = 0; i < s->nmerged && sum < s->most; i++) {
		rate = s->merged[i].rate;
		sum += s->merged[i].to - s->merged[i].from;
	}
	for (i = 0; i < s->nsites; i++) {
		if (!s->sites[i].hosts_ps)
			continue;
		p = promise(ctx, &s->sites[i], rate);
		for (k = n < most ? n : most; k && promises[k - 1] > p; k--)
			if (k < most) {
				promises[k] = promises[k - 1];
				list[k] = list[k - 1];
			}
		if (k < most) {
			promises[k] = p;
			list[k] = i;
		}
		n += n < most;
	}
	return n;
}

/* What a PS there costs, less what it saves where a unit costs RATE elsewhere. */
static double promise(const struct auc_policy_ctx *ctx, const struct eris_site *site, double rate)
{
	return site->ps + gain(ctx, site, true, rate) - gain(ctx, site, false, rate);
}

/* What all units that fit on a site cost, less RATE for each; 0 if that is more. */
static double gain(const struct auc_policy_ctx *ctx, const struct eris_site *site, bool home,
		   double rate)
{
	unsigned k = holds(ctx, home ? site->home : site->fit);
	int64_t bytes;
	double cost;

	k = k < ctx->slot.most ? k : ctx->slot.most;
	cost = site_cost(ctx, site, home, k, &bytes);
	return fmin(0, cost + (double)bytes * ctx->slot.shun - rate * k);
}

/* Nothing is taken yet; the PS is at site PS. */
static void start(struct auc_policy_ctx *ctx, struct fill *f, unsigned ps)
{
	struct eris_slot *s = &ctx->slot;
	unsigned i;

	*f = (struct fill){.s = s, .ctx = ctx, .ps = ps};
	f->nhome = make_parts(ctx, ps, true, s->home);
	for (i = 0; i < s->nsites; i++) {
		s->sites[i].taken = 0;
		s->sites[i].cost = 0;
		s->sites[i].bytes = 0;
		s->sites[i].full = false;
	}
}

/* The cheapest part from *AT and *AT_HOME on, which go after it. */
static const struct eris_part *next_part(const struct fill *f, unsigned *at, unsigned *at_home)
{
	const struct eris_slot *s = f->s;
	const struct eris_part *away, *home;

	while (*at < s->nmerged &&
	       (s->merged[*at].site == f->ps || s->sites[s->merged[*at].site].full))
		++*at;
	away = *at < s->nmerged ? &s->merged[*at] : NULL;
	home = *at_home < f->nhome && !s->sites[f->ps].full ? &s->home[*at_home] : NULL;
	if (home && (!away || home->rate <= away->rate)) {
		++*at_home;
		return home;
	}
	*at += away != NULL;
	return away;
}

/* What it costs and sends to have K units in all at SITE instead of those there. False: it does not
 * fit. */
static bool can_take(const struct fill *f, unsigned index, unsigned k, double *cost, int64_t *bytes)
{
	const struct eris_site *site = &f->s->sites[index];
	bool home = index == f->ps;

	if (k > f->ctx->units || f->ctx->need[k] > (home ? site->home : site->fit))
		return false;
	*cost = site_cost(f->ctx, site, home, k, bytes) - site->cost;
	*bytes -= site->bytes;
	return f->bytes + *bytes <= f->s->left;
}

/* Goes on to the next part. False: there is none. */
static bool next(struct fill *f, struct rest *rest)
{
	const struct eris_part *part = next_part(f, &f->at, &f->at_home);
	unsigned at = f->at, at_home = f->at_home;

	rest->part = part;
	for (rest->n = 0; part && rest->n < REST; part = next_part(f, &at, &at_home))
		rest->sites[rest->n++] = part->site;
	return rest->n > 0;
}

/* Where MORE units cost least: at the part's site, or, if OTHERS, at one of the next ones. */
static void find(const struct fill *f, struct rest *rest, unsigned more, bool others)
{
	double least = INFINITY, sum, cost;
	int64_t bytes;
	unsigned i, site;

	rest->cost = INFINITY;
	for (i = 0; i < rest->n && (!i || others); i++) {
		site = rest->sites[i];
		if (!can_take(f, site, f->s->sites[site].taken + more, &cost, &bytes))
			continue;
		sum = cost + (double)bytes * f->s->shun;
		if (sum >= least)
			continue;
		least = sum;
		rest->site = site;
		rest->cost = cost;
		rest->bytes = bytes;
	}
}

/* All of it, or what the budget leaves of it. */
static void take_part(struct fill *f, const struct eris_part *part)
{
	struct eris_site *site = &f->ctx->slot.sites[part->site];
	unsigned k = part->to;
	double cost;
	int64_t bytes;

	while (k > site->taken && !can_take(f, part->site, k, &cost, &bytes))
		k--;
	if (k > site->taken)
		take(f, part->site, k, cost, bytes);
	site->full = k < part->to;
}

static void take(struct fill *f, unsigned site, unsigned k, double cost, int64_t bytes)
{
	struct eris_site *to = &f->ctx->slot.sites[site];

	f->n += k - to->taken;
	f->cost += cost;
	f->bytes += bytes;
	to->taken = k;
	to->cost += cost;
	to->bytes += bytes;
}
