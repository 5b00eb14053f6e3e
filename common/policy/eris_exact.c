/*
 * eris_exact.c - policy eris in small markets, exactly: the dynamic program over the chunks that
 * are left at every site. In each slot every set of chunks to train is tried with every site for
 * the PS and every way to spread the chunks over the servers.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "policy/eris-private.h"

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

static double ways(const struct auc_policy_ctx *ctx, unsigned states);
static void open_slot(struct spread *s, struct auc_policy_ctx *ctx, unsigned slot);
static double train(struct spread *s, unsigned taken, const unsigned char *digits);
static void spread(struct spread *s, unsigned server, unsigned n, double cost, int64_t bytes);
static bool trace(struct auc_policy_ctx *ctx, unsigned completion, unsigned states,
		  const unsigned *taken, const unsigned char *digits);

bool auc_eris_exact(struct auc_policy_ctx *ctx)
{
	unsigned states = 1, all, slot, i, k, u, n = ctx->job->ndata, *taken;
	double *cost, *before, *after, value, sum;
	const unsigned char *a, *b;
	unsigned char *digits;
	struct spread s;

	if (ctx->m->nservers > SERVERS_MOST || ctx->lump > 1 || ctx->units > 100)
		return true;
	for (i = 0; i < n; i++)
		states *= ctx->local[ctx->job->data[i].server] + 1;
	if (ways(ctx, states) > WORK_MOST)
		return true;
	all = states - 1;
	cost = auc_eris_memory(ctx, ERIS_EXACT_COST, states, sizeof(*cost));
	before = auc_eris_memory(ctx, ERIS_EXACT_DONE, 2 * (size_t)states, sizeof(*before));
	taken = auc_eris_memory(ctx, ERIS_TAKEN, (size_t)states * ctx->m->slots, sizeof(*taken));
	digits = auc_eris_memory(ctx, ERIS_DIGITS, (size_t)states * n, sizeof(*digits));
	if (!cost || !before || !taken || !digits)
		return false;
	for (i = 0; i < states; i++)
		for (k = 0, u = i; k < n; u /= ctx->local[ctx->job->data[k++].server] + 1)
			digits[i * n + k] =
				(unsigned char)(u % (ctx->local[ctx->job->data[k].server] + 1));
	after = before + states;
	for (i = 0; i < states; i++)
		before[i] = i ? INFINITY : 0;
	for (slot = ctx->start0; slot < ctx->m->slots; slot++) {
		value = auc_eris_value(ctx, slot + 1);
		if (ctx->found && value <= ctx->best_payoff)
			break;
		open_slot(&s, ctx, slot);
		for (u = 0; u < states; u++)
			cost[u] = u ? train(&s, u, digits) : 0;
		for (i = 0; i < states; i++) {
			after[i] = before[i];
			taken[(size_t)slot * states + i] = 0;
		}
		for (i = 0; i < states; i++)
			for (u = 1; u < states - i && !isinf(before[i]); u++) {
				a = digits + (size_t)i * n;
				b = digits + (size_t)u * n;
				for (k = 0;
				     k < n &&
				     a[k] + b[k] <= (int)ctx->local[ctx->job->data[k].server];
				     k++)
					;
				sum = before[i] + cost[u];
				if (k < n || !(sum < after[i + u]))
					continue;
				after[i + u] = sum;
				taken[(size_t)slot * states + i + u] = u;
			}
		memcpy(before, after, states * sizeof(*before));
		if (isinf(before[all]) ||
		    (ctx->found &&
		     value - before[all] <= ctx->best_payoff + ERIS_TIE * (value + before[all])))
			continue;
		if (!trace(ctx, slot + 1, states, taken, digits))
			return false;
	}
	return true;
}

/* How many there are, in all slots. */
static double ways(const struct auc_policy_ctx *ctx, unsigned states)
{
	double n = ctx->m->nservers, spreads = 1, i;

	for (i = 1; i < n; i++)
		spreads *= (ctx->units + i) / i;
	return states * (states + spreads * n) * (ctx->m->slots - ctx->start0);
}

static void open_slot(struct spread *s, struct auc_policy_ctx *ctx, unsigned slot)
{
	const struct auc_market *m = ctx->m;
	const struct auc_type_cache *w = &m->cache[ctx->worker];
	int64_t home;
	size_t cell;
	unsigned i;

	*s = (struct spread){.ctx = ctx, .slot = slot, .servers = m->nservers};
	s->alpha = m->transfer.price[slot] * 1e-6;
	s->left = auc_transfer_left(m, slot);
	for (i = 0; i < m->nservers; i++) {
		cell = auc_cell(m, slot, i);
		s->home[i] = UINT32_MAX; /* no PS */
		if (ctx->ready[i] > slot)
			continue;
		s->fit[i] = (unsigned)w->fit[cell];
		s->price[i] = s->fit[i] ? w->price[cell] : 0;
		home = auc_eris_home(ctx, slot, i);
		if (home >= 0)
			s->home[i] = (unsigned)home;
	}
}

/* The least cost of training the set TAKEN, which stays in S. */
static double train(struct spread *s, unsigned taken, const unsigned char *digits)
{
	const struct auc_job *job = s->ctx->job;
	const struct auc_market *m = s->ctx->m;
	unsigned i, n = 0;

	memset(s->taken, 0, sizeof(s->taken));
	for (i = 0; i < job->ndata; i++) {
		s->taken[job->data[i].server] = digits[(size_t)taken * job->ndata + i];
		n += s->taken[job->data[i].server];
	}
	s->least = INFINITY;
	for (s->ps = 0; s->ps < s->servers; s->ps++)
		if (s->home[s->ps] != UINT32_MAX)
			spread(s, 0, n,
			       m->cache[auc_ps_index(m, s->ctx->ps)]
				       .price[auc_cell(m, s->slot, s->ps)],
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
static bool trace(struct auc_policy_ctx *ctx, unsigned completion, unsigned states,
		  const unsigned *taken, const unsigned char *digits)
{
	unsigned state = states - 1, slot, u, i, k;
	struct spread s;

	if (!auc_eris_start_slices(ctx))
		return false;
	for (slot = completion; slot-- > ctx->start0; state -= u) {
		u = taken[(size_t)slot * states + state];
		if (!u)
			continue;
		open_slot(&s, ctx, slot);
		train(&s, u, digits);
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
