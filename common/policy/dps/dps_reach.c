/*
 * dps_reach.c - what the workers of a window cost if nothing but they counts.
 *
 * Windows that end at one completion are looked at from the shortest on. The servers where a worker
 * fits in all of a window are among those of the window that begins a slot later, so a list of them
 * only shrinks, and their sums grow by one slot. In a fragmented market it is soon short: a slot
 * more costs less than what bounds by blocks of slots do, which let workers change their servers
 * and there say little.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "policy/dps/dps-private.h"

#define STRIDE 12 /* slots that are cheaper to add one by one than to begin anew */

static void begin(struct auc_policy_ctx *ctx, struct reach *r, unsigned worker, unsigned completion,
		  unsigned d);
static void add_slot(struct auc_policy_ctx *ctx, struct reach *r, unsigned worker);
static void sort_in(struct reach *r, unsigned n, uint32_t server);
static double cost_of(const struct reach *r, int64_t workers, int64_t *room);
static double cost_on_one(const struct reach *r, int64_t workers, int64_t *room);

double auc_dps_reach(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion, unsigned d,
		     int64_t *room)
{
	const struct lane *l = &ctx->lanes[lane];
	struct reach *r = &ctx->reach[l->worker];
	int64_t n = ctx->fewest[(size_t)lane * (ctx->slots + 1) + d];

	if (!r->d || r->completion != completion || d < r->d || d - r->d > STRIDE)
		begin(ctx, r, l->worker, completion, d);
	while (r->d < d)
		add_slot(ctx, r, l->worker);
	*room = INT64_MAX;
	ctx->steps += r->n;
	return (l->colocated ? cost_on_one(r, n, room) : cost_of(r, n, room)) * ctx->keep;
}

static void begin(struct auc_policy_ctx *ctx, struct reach *r, unsigned worker, unsigned completion,
		  unsigned d)
{
	const struct window *win = auc_dps_window(ctx, worker, completion, d);
	unsigned i;
	uint32_t s;

	r->completion = completion;
	r->d = d;
	r->n = 0;
	ctx->steps += 8 * (uint64_t)win->n;
	for (i = 0; i < win->n; i++) {
		s = win->list[i];
		r->sum[s] = win->sum[s];
		r->fit[s] = win->fit[s];
		sort_in(r, r->n++, s);
	}
}

/* The slot before those that are in it. */
static void add_slot(struct auc_policy_ctx *ctx, struct reach *r, unsigned worker)
{
	const struct auc_type_cache *c = &ctx->m->cache[worker];
	unsigned slot = r->completion - ++r->d, n = r->n, i;
	size_t first = auc_type_row(c, slot), at;
	int32_t fit;
	uint32_t s;

	ctx->steps += 3 * (uint64_t)n;
	r->n = 0;
	for (i = 0; i < n; i++) {
		s = r->list[i];
		at = first + c->column[s];
		fit = (int32_t)auc_number(&c->fit, at);
		if (!fit || ctx->ready[s] > slot)
			continue;
		r->sum[s] += c->price[at];
		r->fit[s] = fit < r->fit[s] ? fit : r->fit[s];
		sort_in(r, r->n++, s);
	}
}

/* Puts SERVER into the first N of the list, which are in order. */
static void sort_in(struct reach *r, unsigned n, uint32_t server)
{
	for (; n && r->sum[r->list[n - 1]] > r->sum[server]; n--)
		r->list[n] = r->list[n - 1];
	r->list[n] = server;
}

static double cost_of(const struct reach *r, int64_t workers, int64_t *room)
{
	int64_t n, left = workers;
	double cost = 0;
	unsigned i;

	for (i = 0; i < r->n && left; i++) {
		n = r->fit[r->list[i]] < left ? r->fit[r->list[i]] : left;
		cost += (double)n * r->sum[r->list[i]];
		left -= n;
	}
	if (!left)
		return cost;
	*room = workers - left;
	return INFINITY;
}

static double cost_on_one(const struct reach *r, int64_t workers, int64_t *room)
{
	int64_t most = 0;
	unsigned i;

	for (i = 0; i < r->n; i++) {
		most = r->fit[r->list[i]] > most ? r->fit[r->list[i]] : most;
		if (most >= workers)
			return (double)workers * r->sum[r->list[i]];
	}
	*room = most;
	return INFINITY;
}
