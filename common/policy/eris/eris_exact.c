/*
 * eris_exact.c - policy eris in small markets, exactly: the dynamic program over the chunks that
 * are left at every site. In each slot every set of chunks to train is tried with every site for
 * the PS and every way to spread the chunks over the servers.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "policy/eris/eris-private.h"

#define SERVERS_MOST 4
#define WORK_MOST    400000.0 /* ways that are looked at */

/* One slot: the ways to train a set of chunks. */
struct spread {
	const struct auc_policy_ctx *ctx;
	unsigned slot, ps, servers;
	unsigned taken[SERVERS_MOST]; /* of those that lie at each server */
	unsigned fit[SERVERS_MOST], home[SERVERS_MOST];
	unsigned here[SERVERS_MOST]; /* chunks trained there */
	double price[SERVERS_MOST], alpha;
	int64_t left;
	double least; /* and how */
	unsigned best[SERVERS_MOST], best_ps;
};

/* Every set of chunks, by how many of each site are in it. */
struct sets {
	unsigned n;            /* of sets; the last one is all chunks */
	double *cost, *done;   /* of training it in the slot at hand; until then, and scratch */
	unsigned *taken;       /* by slot and set: of these the ones that are trained there */
	unsigned char *digits; /* by set and site: chunks */
};

static bool open_sets(struct auc_policy_ctx *ctx, struct sets *t, bool *few);
static unsigned lie_at(const struct auc_policy_ctx *ctx, unsigned i);
static void add_slot(struct auc_policy_ctx *ctx, struct sets *t, unsigned slot);
static bool disjoint(const struct auc_policy_ctx *ctx, const struct sets *t, unsigned a,
		     unsigned b);
static double ways(const struct auc_policy_ctx *ctx, unsigned sets);
static void open_slot(struct spread *s, struct auc_policy_ctx *ctx, unsigned slot);
static double train(struct spread *s, unsigned taken, const struct sets *t);
static void spread(struct spread *s, unsigned server, unsigned n, double cost, int64_t bytes);
static bool trace(struct auc_policy_ctx *ctx, unsigned completion, const struct sets *t);

bool auc_eris_exact(struct auc_policy_ctx *ctx)
{
	unsigned slot, all, u;
	struct spread s;
	struct sets t;
	double value;
	bool few;

	if (!open_sets(ctx, &t, &few))
		return false;
	all = t.n - 1;
	for (slot = ctx->start0; slot < ctx->m->slots && few; slot++) {
		value = auc_eris_value(ctx, slot + 1);
		if (ctx->found && value <= ctx->best_payoff)
			break;
		open_slot(&s, ctx, slot);
		for (u = 0; u < t.n; u++)
			t.cost[u] = u ? train(&s, u, &t) : 0;
		add_slot(ctx, &t, slot);
		if (isinf(t.done[all]) ||
		    (ctx->found &&
		     value - t.done[all] <= ctx->best_payoff + ERIS_TIE * (value + t.done[all])))
			continue;
		if (!trace(ctx, slot + 1, &t))
			return false;
	}
	return true;
}

/* The tables, with nothing trained; *FEW: there are few enough sets for them. False: no memory. */
static bool open_sets(struct auc_policy_ctx *ctx, struct sets *t, bool *few)
{
	unsigned i, k, u, all, n = ctx->job->ndata;

	*few = false;
	*t = (struct sets){.n = 1};
	if (ctx->m->nservers > SERVERS_MOST || ctx->lump > 1 || ctx->units > 100)
		return true;
	for (i = 0; i < n; i++)
		t->n *= lie_at(ctx, i) + 1;
	if (ways(ctx, t->n) > WORK_MOST)
		return true;
	*few = true;
	t->cost = auc_eris_memory(ctx, ERIS_EXACT_COST, t->n, sizeof(*t->cost));
	t->done = auc_eris_memory(ctx, ERIS_EXACT_DONE, 2 * (size_t)t->n, sizeof(*t->done));
	t->taken =
		auc_eris_memory(ctx, ERIS_TAKEN, (size_t)t->n * ctx->m->slots, sizeof(*t->taken));
	t->digits = auc_eris_memory(ctx, ERIS_DIGITS, (size_t)t->n * n, sizeof(*t->digits));
	if (!t->cost || !t->done || !t->taken || !t->digits)
		return false;
	for (i = 0; i < t->n; i++) {
		t->done[i] = i ? INFINITY : 0;
		for (k = 0, u = i; k < n; k++, u /= all) {
			all = lie_at(ctx, k) + 1;
			t->digits[i * n + k] = (unsigned char)(u % all);
		}
	}
	return true;
}

static unsigned lie_at(const struct auc_policy_ctx *ctx, unsigned i)
{
	return ctx->local[ctx->job->data[i].server];
}

/* done[] after a slot, from done[] before it. */
static void add_slot(struct auc_policy_ctx *ctx, struct sets *t, unsigned slot)
{
	unsigned *taken = t->taken + (size_t)slot * t->n, i, u;
	double *after = t->done + t->n, sum;

	memcpy(after, t->done, t->n * sizeof(*after));
	memset(taken, 0, t->n * sizeof(*taken));
	for (i = 0; i < t->n; i++)
		for (u = 1; u < t->n - i && !isinf(t->done[i]); u++) {
			sum = t->done[i] + t->cost[u];
			if (!(sum < after[i + u]) || !disjoint(ctx, t, i, u))
				continue;
			after[i + u] = sum;
			taken[i + u] = u;
		}
	memcpy(t->done, after, t->n * sizeof(*after));
}

/* The sets A and B together are a set: no site has more chunks in both than lie there. */
static bool disjoint(const struct auc_policy_ctx *ctx, const struct sets *t, unsigned a, unsigned b)
{
	unsigned n = ctx->job->ndata, k;

	for (k = 0; k < n; k++)
		if ((unsigned)t->digits[(size_t)a * n + k] + t->digits[(size_t)b * n + k] >
		    lie_at(ctx, k))
			return false;
	return true;
}

/* How many there are, in all slots. */
static double ways(const struct auc_policy_ctx *ctx, unsigned sets)
{
	double n = ctx->m->nservers, spreads = 1, i;

	for (i = 1; i < n; i++)
		spreads *= (ctx->units + i) / i;
	return sets * (sets + spreads * n) * (ctx->m->slots - ctx->start0);
}

static void open_slot(struct spread *s, struct auc_policy_ctx *ctx, unsigned slot)
{
	const struct auc_market *m = ctx->m;
	const struct auc_type_cache *w = &m->cache[ctx->worker];
	int64_t home;
	unsigned i;

	*s = (struct spread){.ctx = ctx, .slot = slot, .servers = m->nservers};
	s->alpha = m->traffic.price[slot] * 1e-6;
	s->left = auc_traffic_left(m, slot);
	for (i = 0; i < m->nservers; i++) {
		s->home[i] = UINT32_MAX; /* no PS */
		if (ctx->ready[i] > slot)
			continue;
		s->fit[i] = (unsigned)auc_type_fit(w, slot, i);
		s->price[i] = s->fit[i] ? auc_type_price(w, slot, i) : 0;
		home = auc_eris_home(ctx, slot, i);
		if (home >= 0)
			s->home[i] = (unsigned)home;
	}
}

/* The least cost of training the set TAKEN, which stays in S. */
static double train(struct spread *s, unsigned taken, const struct sets *t)
{
	const struct auc_job *job = s->ctx->job;
	const struct auc_market *m = s->ctx->m;
	unsigned i, n = 0;

	memset(s->taken, 0, sizeof(s->taken));
	for (i = 0; i < job->ndata; i++) {
		s->taken[job->data[i].server] = t->digits[(size_t)taken * job->ndata + i];
		n += s->taken[job->data[i].server];
	}
	s->least = INFINITY;
	for (s->ps = 0; s->ps < s->servers; s->ps++)
		if (s->home[s->ps] != UINT32_MAX)
			spread(s, 0, n,
			       auc_type_price(&m->cache[auc_ps_index(m, s->ctx->ps)], s->slot,
					      s->ps),
			       0);
	return s->least;
}

/* Tries all ways to put N chunks on the servers from SERVER on. */
static void spread(struct spread *s, unsigned server, unsigned n, double cost, int64_t bytes)
{
	const struct auc_policy_ctx *ctx = s->ctx;
	unsigned k, fit;
	int64_t more;

	if (bytes > s->left || cost + (double)bytes * s->alpha >= s->least)
		return;
	if (server == s->servers) {
		if (n)
			return;
		s->least = cost + (double)bytes * s->alpha;
		memcpy(s->best, s->here, sizeof(s->best));
		s->best_ps = s->ps;
		return;
	}
	fit = server == s->ps ? s->home[server] : s->fit[server];
	for (k = 0; k <= n && ctx->need[k] <= fit; k++) {
		s->here[server] = k;
		more = k > s->taken[server] ? (k - s->taken[server]) * ctx->move_bytes : 0;
		if (server != s->ps)
			more += (int64_t)ctx->need[k] * ctx->exchange_bytes;
		spread(s, server + 1, n - k, cost + (double)ctx->need[k] * s->price[server],
		       bytes + more);
	}
}

/* The schedule that has trained all before COMPLETION, kept if it is the best one. */
static bool trace(struct auc_policy_ctx *ctx, unsigned completion, const struct sets *t)
{
	unsigned state = t->n - 1, slot, u, i, k;
	struct spread s;

	if (!auc_eris_start_slices(ctx))
		return false;
	for (slot = completion; slot-- > ctx->start0; state -= u) {
		u = t->taken[(size_t)slot * t->n + state];
		if (!u)
			continue;
		open_slot(&s, ctx, slot);
		train(&s, u, t);
		for (i = 0; i < s.servers; i++) {
			if (!s.best[i] && i != s.best_ps)
				continue;
			k = s.best[i] < s.taken[i] ? s.best[i] : s.taken[i];
			ctx->slices[ctx->nslices++] =
				(struct eris_slice){slot, i, s.best[i], k, i == s.best_ps, 0};
		}
	}
	return auc_eris_keep(ctx);
}
