/*
 * eris_paper.c - variant=paper of policy eris: Algorithms 2 and 3 as printed, repaired only so far
 * that they can run.
 *
 * - The program over numbers of chunks takes every slot's cost from Algorithm 3 with all chunks
 *   still at their sites, since it knows no other state. Half of its schedules could not be carried
 *   out: chunks are trained twice or never. Here the numbers of chunks by slot are what is taken
 *   from it, and Algorithm 3 runs once more, slot by slot, on the chunks that are left. A
 *   completion for which that fails is dropped.
 * - Line 4 ranks a move by the price of a chunk and of workers alone, as printed; the sum in (10)
 *   that says how much is still to be trained counts what is at a site before.
 * - Lines 14 and 17 take one ceiling of a sum: here it is one a site. A site has no more workers
 *   than its chunks ask for.
 * - Line 16 puts the PS where the most workers are, whether it fits or not: here at the site with
 *   the most workers among those where it fits.
 * - The payment is what the schedule uses at the prices, not the cost that the program added up.
 */
#include "config.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "auctionsim/baseline/registry.h"
#include "policy/eris/eris-private.h"
#include "policy/option.h"

struct pair {
	unsigned from, to;
	double gain; /* Omega of (9), less than 0 where a move pays */
};

/* Algorithm 3 in one slot. */
struct deploy {
	unsigned slot, npairs;
	struct pair *pairs;
	unsigned *order; /* sites by price of a worker, dearest last; then by index */
	unsigned *here;  /* by server: chunks trained there, scratch; after it those that came */
};

static enum auc_code paper_create(const char *options, struct auc_policy_ctx **ctx,
				  struct auc_err *err);
static void paper_destroy(struct auc_policy_ctx *ctx);
static enum auc_code paper_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				 const struct auc_job *job, struct auc_decision *decision,
				 struct auc_err *err);
static int64_t paper_least_slots(const struct auc_market *m, const struct auc_job *job,
				 unsigned worker, unsigned ps, int64_t n);
static bool paper_search(struct auc_policy_ctx *ctx);
static bool open_deploy(struct auc_policy_ctx *ctx, struct deploy *d, unsigned slot);
static double deploy(struct auc_policy_ctx *ctx, struct deploy *d, unsigned n, bool keep);
static bool place(const struct auc_policy_ctx *ctx, struct deploy *d, unsigned n);
static unsigned place_ps(const struct auc_policy_ctx *ctx, const struct deploy *d);
static void keep_slices(struct auc_policy_ctx *ctx, struct deploy *d, unsigned ps);
static void move_chunks(struct auc_policy_ctx *ctx, struct deploy *d, unsigned n);
static unsigned room_for(const struct auc_policy_ctx *ctx, const struct deploy *d, unsigned server);
static bool price_slots(struct auc_policy_ctx *ctx);
static bool carry_out(struct auc_policy_ctx *ctx, unsigned completion, bool *done);

static double *row(double *table, const struct auc_policy_ctx *ctx, unsigned slot)
{
	return table + (size_t)(slot - ctx->start0) * (ctx->units + 1);
}

const struct auc_policy sim_policy_eris_paper = {
	.name = "eris",
	.summary = "eris as printed",
	.prices = AUC_PRICE_ETA,
	.sites = true,
	.create = paper_create,
	.destroy = paper_destroy,
	.quote = paper_quote,
	.least_slots = paper_least_slots,
};

/* Its options but "variant" are read as eris reads them, and change nothing. */
static enum auc_code paper_create(const char *options, struct auc_policy_ctx **ctx,
				  struct auc_err *err)
{
	struct values {
		unsigned variant, exact;
		uint64_t effort;
	} values = {0};
	static const struct auc_option list[] = {
		{.key = "variant",
		 .choices = "best|paper",
		 .offset = offsetof(struct values, variant)},
		{.key = "effort",
		 .type = AUC_OPTION_COUNT,
		 .max = 1000,
		 .offset = offsetof(struct values, effort)},
		{.key = "exact", .choices = "on|off", .offset = offsetof(struct values, exact)},
	};
	enum auc_code rc = auc_options_read("eris", options, list, 3, &values, err);

	*ctx = NULL;
	if (rc == AUC_OK)
		rc = auc_policy_eris.create("", ctx, err);
	if (rc == AUC_OK)
		(*ctx)->search = paper_search;
	return rc;
}

static void paper_destroy(struct auc_policy_ctx *ctx)
{
	auc_policy_eris.destroy(ctx);
}

static enum auc_code paper_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				 const struct auc_job *job, struct auc_decision *decision,
				 struct auc_err *err)
{
	return auc_policy_eris.quote(ctx, m, job, decision, err);
}

static int64_t paper_least_slots(const struct auc_market *m, const struct auc_job *job,
				 unsigned worker, unsigned ps, int64_t n)
{
	return auc_policy_eris.least_slots(m, job, worker, ps, n);
}

static bool paper_search(struct auc_policy_ctx *ctx)
{
	double *before, *after, *cost, sum, value;
	unsigned slot, d, k;
	bool done;

	if (!price_slots(ctx))
		return false;
	for (k = 0; k <= ctx->units; k++)
		ctx->done[k] = k ? INFINITY : 0;
	for (slot = ctx->start0; slot < ctx->m->slots && !auc_eris_is_spent(ctx); slot++) {
		ctx->walked += (uint64_t)ctx->units * ctx->units / 2;
		before = row(ctx->done, ctx, slot);
		after = row(ctx->done, ctx, slot + 1);
		cost = row(ctx->cost, ctx, slot);
		for (k = 0; k <= ctx->units; k++) {
			after[k] = INFINITY;
			for (d = 0; d <= k; d++) {
				sum = before[k - d] + cost[d];
				after[k] = sum < after[k] ? sum : after[k];
			}
		}
		value = auc_eris_value(ctx, slot + 1);
		if (isinf(after[ctx->units]) ||
		    (ctx->found && value - after[ctx->units] <= ctx->best_payoff))
			continue;
		if (!carry_out(ctx, slot + 1, &done) || (done && !auc_eris_keep(ctx)))
			return false;
	}
	return true;
}

/* Algorithm 3 for every slot and number of chunks, all of which lie where they lay. */
static bool price_slots(struct auc_policy_ctx *ctx)
{
	struct deploy d;
	unsigned slot, n;

	for (slot = ctx->start0; slot < ctx->m->slots; slot++) {
		memcpy(ctx->left, ctx->local, ctx->m->nservers * sizeof(*ctx->left));
		if (!open_deploy(ctx, &d, slot))
			return false;
		ctx->walked += (uint64_t)ctx->units * (ctx->m->nservers + d.npairs);
		for (n = 0; n <= ctx->units; n++)
			row(ctx->cost, ctx, slot)[n] = !n ? 0
						       : auc_eris_is_spent(ctx)
							       ? INFINITY
							       : deploy(ctx, &d, n, false);
	}
	return true;
}

/* The numbers of chunks that lead to a completion, carried out from the first slot on. */
static bool carry_out(struct auc_policy_ctx *ctx, unsigned completion, bool *done)
{
	unsigned slot, n, left = ctx->units;
	const double *before, *cost;
	struct deploy d;

	*done = false;
	if (!auc_eris_start_slices(ctx))
		return false;
	for (slot = completion; slot-- > ctx->start0; left -= n) {
		before = row(ctx->done, ctx, slot);
		cost = row(ctx->cost, ctx, slot);
		for (n = 0;
		     n < left && before[left - n] + cost[n] > row(ctx->done, ctx, slot + 1)[left];
		     n++)
			;
		ctx->path[slot] = n;
	}
	for (slot = ctx->start0; slot < completion; slot++) {
		if (!ctx->path[slot])
			continue;
		if (!open_deploy(ctx, &d, slot))
			return false;
		if (isinf(deploy(ctx, &d, ctx->path[slot], true)))
			return true;
	}
	*done = true;
	return true;
}

static int by_gain(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain < y->gain ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Line 2: the pairs between which a move pays, and line 12. */
static bool open_deploy(struct auc_policy_ctx *ctx, struct deploy *d, unsigned slot)
{
	const struct auc_market *m = ctx->m;
	const struct auc_type_cache *w = &m->cache[ctx->worker];
	size_t n = m->nservers;
	double each = (double)ctx->job->epochs / ctx->chunks_per_slot * (double)ctx->lump, gain;
	unsigned i, from, to;

	*d = (struct deploy){.slot = slot};
	d->pairs = auc_eris_memory(ctx, ERIS_PAIRS, ctx->job->ndata * n + 1, sizeof(*d->pairs));
	d->here = auc_eris_memory(ctx, ERIS_HERE, 3 * n + 1, sizeof(*d->here));
	d->order = d->here ? d->here + 2 * n : NULL;
	if (!d->pairs || !d->here)
		return false;
	auc_type_order(m, ctx->worker, slot, d->order);
	for (i = 0; i < ctx->job->ndata; i++) {
		from = ctx->job->data[i].server;
		for (to = 0; to < n && ctx->left[from]; to++) {
			if (to == from || !auc_type_fit(w, slot, to) || ctx->ready[to] > slot)
				continue;
			gain = m->traffic.price[slot] * 1e-6 * (double)ctx->move_bytes -
			       each * ((auc_type_fit(w, slot, from) ? auc_type_price(w, slot, from)
								    : 0) -
				       auc_type_price(w, slot, to));
			if (gain < 0)
				d->pairs[d->npairs++] = (struct pair){from, to, gain};
		}
	}
	qsort(d->pairs, d->npairs, sizeof(*d->pairs), by_gain);
	return true;
}

/* What N units cost in the slot; INFINITY: they do not fit. KEEP: they are trained. */
static double deploy(struct auc_policy_ctx *ctx, struct deploy *d, unsigned n, bool keep)
{
	const struct auc_market *m = ctx->m;
	const struct auc_type_cache *w = &m->cache[ctx->worker];
	const struct auc_type_cache *p = &m->cache[auc_ps_index(m, ctx->ps)];
	unsigned *here = d->here, *came = d->here + m->nservers, s, ps;
	int64_t bytes = 0;
	double cost = 0;

	memset(here, 0, 2 * (size_t)m->nservers * sizeof(*here));
	move_chunks(ctx, d, n);
	if (!place(ctx, d, n))
		return INFINITY;
	ps = place_ps(ctx, d);
	if (ps == m->nservers)
		return INFINITY;
	for (s = 0; s < m->nservers; s++) {
		if (!here[s])
			continue;
		cost += (double)ctx->need[here[s]] * auc_type_price(w, d->slot, s);
		bytes += (s == ps ? 0 : (int64_t)ctx->need[here[s]] * ctx->exchange_bytes) +
			 came[s] * ctx->move_bytes;
	}
	if (bytes > auc_traffic_left(m, d->slot))
		return INFINITY;
	if (keep)
		keep_slices(ctx, d, ps);
	return cost + auc_type_price(p, d->slot, ps) +
	       (double)bytes * 1e-6 * m->traffic.price[d->slot];
}

/* Lines 12 to 15: the cheapest sites first. False: N units do not fit. */
static bool place(const struct auc_policy_ctx *ctx, struct deploy *d, unsigned n)
{
	unsigned servers = ctx->m->nservers, *here = d->here, *came = d->here + servers;
	unsigned i, s, k, room, left = n;

	for (i = 0; i < servers && left; i++) {
		s = d->order[i];
		room = room_for(ctx, d, s);
		k = here[s] + came[s];
		k = k < room ? k : room;
		k = k < left ? k : left;
		came[s] = k > here[s] ? k - here[s] : 0; /* those that lie there go first */
		here[s] = k;
		left -= k;
	}
	for (; i < servers; i++)
		here[d->order[i]] = 0;
	return !left;
}

/* Line 16. The number of servers: it fits nowhere. */
static unsigned place_ps(const struct auc_policy_ctx *ctx, const struct deploy *d)
{
	const unsigned *here = d->here;
	unsigned s, ps = ctx->m->nservers;

	for (s = 0; s < ctx->m->nservers; s++)
		if (here[s] && auc_eris_home(ctx, d->slot, s) >= (int64_t)ctx->need[here[s]] &&
		    (ps == ctx->m->nservers || ctx->need[here[s]] > ctx->need[here[ps]]))
			ps = s;
	return ps;
}

static void keep_slices(struct auc_policy_ctx *ctx, struct deploy *d, unsigned ps)
{
	unsigned *here = d->here, *came = d->here + ctx->m->nservers, i, k, s;

	for (s = 0; s < ctx->m->nservers; s++) {
		if (!here[s])
			continue;
		ctx->slices[ctx->nslices++] =
			(struct eris_slice){d->slot, s, here[s], here[s] - came[s], s == ps, 0};
		ctx->left[s] -= here[s] - came[s];
		/* those that came are no longer where they lay */
		for (i = 0; i < d->npairs && came[s]; i++) {
			k = d->pairs[i].to == s ? ctx->left[d->pairs[i].from] : 0;
			k = k < came[s] ? k : came[s];
			ctx->left[d->pairs[i].from] -= k;
			came[s] -= k;
		}
	}
}

/* Lines 3 to 11 with (10): what lies at a site, in HERE, and what comes there. */
static void move_chunks(struct auc_policy_ctx *ctx, struct deploy *d, unsigned n)
{
	unsigned *here = d->here, *came = d->here + ctx->m->nservers, i, s, sum = 0, k, room;
	int64_t budget = auc_traffic_left(ctx->m, d->slot), moves;
	const struct pair *pair;

	for (i = 0; i < ctx->job->ndata; i++) {
		s = ctx->job->data[i].server;
		here[s] = ctx->left[s];
	}
	for (pair = d->pairs; pair < d->pairs + d->npairs; pair++) {
		room = room_for(ctx, d, pair->to);
		if (room <= here[pair->to] + came[pair->to] || sum >= n)
			continue;
		k = room - here[pair->to] - came[pair->to];
		k = k < here[pair->from] ? k : here[pair->from];
		k = k < n - sum ? k : n - sum;
		moves = ctx->move_bytes ? budget / ctx->move_bytes : INT64_MAX;
		k = (int64_t)k < moves ? k : (unsigned)moves;
		here[pair->from] -= k;
		came[pair->to] += k;
		sum += k;
		budget -= (int64_t)k * ctx->move_bytes;
	}
}

/* Units that the workers which fit on a server train, beside the PS where that fits: its share is
 * kept free at every site. */
static unsigned room_for(const struct auc_policy_ctx *ctx, const struct deploy *d, unsigned server)
{
	int64_t fit = auc_eris_home(ctx, d->slot, server);
	unsigned k = 0;

	if (ctx->ready[server] > d->slot)
		return 0;
	if (fit < 0)
		fit = auc_type_fit(&ctx->m->cache[ctx->worker], d->slot, server);
	while (k < ctx->units && (int64_t)ctx->need[k + 1] <= fit)
		k++;
	return k;
}
