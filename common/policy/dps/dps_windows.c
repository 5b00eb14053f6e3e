/*
 * dps_windows.c - what a window of slots offers by server, and the cheapest servers for a number of
 * workers in it.
 *
 * Sums and minima come from the largest blocks of slots that make up the window (timeline.h),
 * and are made of those servers only that are free in all of them: of a busy market few are. Of PSs
 * most fit everywhere, so there servers that cost too much are dropped as soon as that is seen.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "policy/dps/dps-private.h"

static void list_hosts(struct auc_policy_ctx *ctx, unsigned type, unsigned nrows,
		       struct window *win);
static void sum_all(const struct auc_policy_ctx *ctx, unsigned type, unsigned nrows,
		    struct window *win);
static void drop_dear(struct auc_policy_ctx *ctx, unsigned type, unsigned row, struct window *win);
static void sum_listed(struct auc_policy_ctx *ctx, unsigned type, unsigned nrows,
		       struct window *win);
static unsigned rank_for(const struct filler *f, int64_t n);
static bool heap_before(const struct filler *f, uint32_t a, uint32_t b);
static void sift_down(struct filler *f, unsigned i);

const struct window *auc_dps_window(struct auc_policy_ctx *ctx, unsigned type, unsigned completion,
				    unsigned d)
{
	return auc_dps_window_below(ctx, type, completion, d, INFINITY);
}

const struct window *auc_dps_window_below(struct auc_policy_ctx *ctx, unsigned type,
					  unsigned completion, unsigned d, double limit)
{
	struct window *win = &ctx->windows[type];
	unsigned at = completion - d, largest = 0, length = 0, slot, n = 0;

	if (win->d == d && win->completion == completion && win->limit >= limit)
		return win;
	win->completion = completion;
	win->d = d;
	win->limit = limit;
	while (at < completion) {
		slot = at;
		ctx->rows[n++] = auc_dps_next_block(ctx->m, &at, completion);
		if (at - slot > length) {
			length = at - slot;
			largest = ctx->rows[n - 1];
		}
	}
	list_hosts(ctx, type, n, win);
	ctx->steps += (uint64_t)n * ctx->words + ctx->nservers / 8;
	if (isfinite(limit))
		drop_dear(ctx, type, largest, win);
	if (2 * win->n > ctx->nservers && isinf(limit)) {
		ctx->steps += (uint64_t)n * ctx->nservers / 2;
		sum_all(ctx, type, n, win);
	} else {
		sum_listed(ctx, type, n, win);
	}
	return win;
}

/* Drops the servers that cost WIN's limit or more in the block of ROW alone. */
static void drop_dear(struct auc_policy_ctx *ctx, unsigned type, unsigned row, struct window *win)
{
	const struct auc_type_cache *c = &ctx->m->cache[type];
	const double *price = c->price + auc_type_row(c, row);
	unsigned n = 0, k;

	ctx->steps += win->n;
	for (k = 0; k < win->n; k++) {
		win->list[n] = win->list[k];
		n += price[c->column[win->list[k]]] < win->limit;
	}
	win->n = n;
}

/* The servers that can host TYPE in all of ctx->rows[NROWS]. */
static void list_hosts(struct auc_policy_ctx *ctx, unsigned type, unsigned nrows,
		       struct window *win)
{
	unsigned start = win->completion - win->d, i, k, s;
	const uint64_t *hosts;
	uint64_t word;

	memcpy(ctx->common, auc_dps_hosts(ctx, type, ctx->rows[0]),
	       ctx->words * sizeof(*ctx->common));
	for (i = 1; i < nrows; i++) {
		hosts = auc_dps_hosts(ctx, type, ctx->rows[i]);
		for (k = 0; k < ctx->words; k++)
			ctx->common[k] &= hosts[k];
	}
	win->n = 0;
	for (k = 0; k < ctx->words; k++)
		for (word = ctx->common[k]; word; word &= word - 1) {
			s = 64 * k + (unsigned)__builtin_ctzll(word);
			if (ctx->ready[s] <= start)
				win->list[win->n++] = s;
		}
}

/* Of a type that fits on more than half of the servers: each has a column. */
static void sum_all(const struct auc_policy_ctx *ctx, unsigned type, unsigned nrows,
		    struct window *win)
{
	unsigned start = win->completion - win->d, n = ctx->nservers, i, s;
	const struct auc_type_cache *c = &ctx->m->cache[type];
	const double *price;

	auc_type_fits(ctx->m, type, ctx->rows[0], win->fit);
	memcpy(win->sum, c->price + auc_type_row(c, ctx->rows[0]), n * sizeof(*win->sum));
	for (i = 1; i < nrows; i++) {
		price = c->price + auc_type_row(c, ctx->rows[i]);
		for (s = 0; s < n; s++)
			win->sum[s] += price[s];
		auc_numbers_lower(&c->fit, auc_type_row(c, ctx->rows[i]), n, (uint32_t *)win->fit);
	}
	for (s = 0; s < n; s++)
		if (ctx->ready[s] > start)
			win->fit[s] = 0;
}

static void sum_listed(struct auc_policy_ctx *ctx, unsigned type, unsigned nrows,
		       struct window *win)
{
	const struct auc_type_cache *c = &ctx->m->cache[type];
	unsigned i, k, n;
	size_t first, at;
	int32_t fit;
	uint32_t s;

	memset(win->fit, 0, ctx->nservers * sizeof(*win->fit));
	for (k = 0; k < win->n; k++) {
		win->sum[win->list[k]] = 0;
		win->fit[win->list[k]] = INT32_MAX;
	}
	for (i = 0; i < nrows; i++) {
		first = auc_type_row(c, ctx->rows[i]);
		ctx->steps += 2 * (uint64_t)win->n;
		for (n = 0, k = 0; k < win->n; k++) {
			s = win->list[k];
			at = first + c->column[s];
			fit = (int32_t)auc_number(&c->fit, at);
			win->sum[s] += c->price[at];
			win->fit[s] = fit < win->fit[s] ? fit : win->fit[s];
			if (win->sum[s] < win->limit)
				win->list[n++] = s;
			else
				win->fit[s] = 0;
		}
		win->n = n;
	}
}

void auc_dps_start_filler(struct auc_policy_ctx *ctx, unsigned worker, unsigned completion,
			  unsigned d)
{
	const struct window *win = auc_dps_window(ctx, worker, completion, d);
	struct filler *f = &ctx->filler;
	unsigned s;

	if (f->d == d && f->completion == completion && f->worker == worker)
		return;
	f->worker = worker;
	f->completion = completion;
	f->d = d;
	f->sum = win->sum;
	f->fit = win->fit;
	f->ntaken = 0;
	ctx->steps += ctx->nservers / 8 + 4 * (uint64_t)win->n;
	memset(f->rank, 0, ctx->nservers * sizeof(*f->rank));
	memcpy(f->heap, win->list, win->n * sizeof(*f->heap));
	f->nheap = win->n;
	for (s = f->nheap / 2; s--;)
		sift_down(f, s);
}

bool auc_dps_fill(struct filler *f, int64_t n)
{
	int64_t workers = f->ntaken ? f->workers[f->ntaken - 1] : 0;
	double cost = f->ntaken ? f->cost[f->ntaken - 1] : 0;
	uint32_t s;

	while (workers < n && f->nheap) {
		s = f->heap[0];
		f->heap[0] = f->heap[--f->nheap];
		sift_down(f, 0);
		workers += f->fit[s];
		cost += f->fit[s] * f->sum[s];
		f->taken[f->ntaken] = s;
		f->workers[f->ntaken] = workers;
		f->cost[f->ntaken] = cost;
		f->rank[s] = ++f->ntaken;
	}
	return workers >= n;
}

/* The least rank up to which N >= 1 workers are held; they are. */
static unsigned rank_for(const struct filler *f, int64_t n)
{
	unsigned low = 0, high = f->ntaken - 1, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (f->workers[mid] >= n)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

double auc_dps_fill_cost(struct filler *f, int64_t n, unsigned without, unsigned *nservers)
{
	double cost = 0;
	unsigned r, used, skipped;

	if (!auc_dps_fill(f, n))
		return INFINITY;
	r = rank_for(f, n);
	skipped = without != UINT32_MAX && f->rank[without] && f->rank[without] <= r + 1;
	if (skipped) {
		n += f->fit[without];
		if (!auc_dps_fill(f, n))
			return INFINITY;
		r = rank_for(f, n);
		cost = -(double)f->fit[without] * f->sum[without];
	}
	used = r + 1 - skipped;
	if (nservers)
		*nservers = used;
	if (!r)
		return (double)n * f->sum[f->taken[0]];
	return f->cost[r - 1] + (double)(n - f->workers[r - 1]) * f->sum[f->taken[r]] + cost;
}

int64_t auc_dps_cheaper_than(const struct filler *f, double sum)
{
	unsigned low = 0, high = f->ntaken, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (f->sum[f->taken[mid]] < sum)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? f->workers[low - 1] : 0;
}

static bool heap_before(const struct filler *f, uint32_t a, uint32_t b)
{
	if (f->sum[a] != f->sum[b])
		return f->sum[a] < f->sum[b];
	if (f->fit[a] != f->fit[b])
		return f->fit[a] > f->fit[b];
	return a < b;
}

static void sift_down(struct filler *f, unsigned i)
{
	uint32_t s = f->heap[i];
	unsigned child;

	for (; (child = 2 * i + 1) < f->nheap; i = child) {
		if (child + 1 < f->nheap && heap_before(f, f->heap[child + 1], f->heap[child]))
			child++;
		if (!heap_before(f, f->heap[child], s))
			break;
		f->heap[i] = f->heap[child];
	}
	f->heap[i] = s;
}
