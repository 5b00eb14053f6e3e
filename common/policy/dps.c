/*
 * dps.c - the sealed-bid policy DPS. This file: the exact variant.
 *
 * R. Zhou, N. Wang, Y. Huang, J. Pang, H. Chen: "DPS: Dynamic Pricing and Scheduling for
 * Distributed Machine Learning Jobs in Edge-Cloud Networks", IEEE TMC 2023: problem (21)-(22) at
 * the prices (20), in place of Algorithms 2 to 4. A job gets one worker type, one PS type, one
 * window of slots and a fixed layout, either co-located (all workers and one PS on one server) or
 * distributed (all PSs on one server, at least one worker elsewhere).
 *
 * The printed Algorithms 3 and 4 are not optimal, so that truthfulness fails. This search is exact:
 *
 *  - Completions ascend. Utility does not increase and costs are >= 0, so the search stops where
 *    f(completion - arrival) less the lowest price of all slots <= best payoff.
 *  - Of all worker counts of one duration only the smallest matters: one less never costs more.
 *  - A window is looked at only if a lower bound of its cost leaves room for a better payoff. There
 *    are two, a quick one and a better one: dps_bounds.c.
 *  - In a window servers are taken by ascending sum of prices. For a PS server and a number of PSs
 *    the cost is convex in the number of workers there, so one layout for each number is enough.
 *
 * Departures from the print (policies.md): the job holds slots a..a+d-1; a server is usable from
 * arrival + Delta on; types may share TRES, so workers and PSs on one server fit jointly.
 *
 * Ties: payoffs that differ by less than TIE of value + cost differ by rounding only and are equal.
 * Then the order of compare_ties() decides: earliest completion, fewest servers, lowest worker
 * type, lowest PS type, co-located first, earliest start, lowest PS server, most workers on it.
 * Servers of equal price are filled by most room, then lowest index.
 *
 * Options: variant=exact|paper (paper: the algorithms as printed, dps_paper.c); bounds=on|off (off:
 * every window, for tests).
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "policy/dps-private.h"
#include "policy/dps_paper.h"
#include "policy/option.h"

#define TABLE_BYTES ((size_t)32 << 20)
#define TIE         1e-11

struct options {
	unsigned variant, bounds;
};

static enum auc_code dps_create(const char *options, struct auc_policy_ctx **ctx,
				struct auc_err *err);
static void dps_destroy(struct auc_policy_ctx *ctx);
static enum auc_code dps_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err);
static int64_t dps_least_slots(const struct auc_market *m, const struct auc_job *job,
			       unsigned worker, unsigned ps, int64_t n);
static enum auc_code make_room(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       struct auc_err *err);
static void release(struct auc_policy_ctx *ctx);
static void *reserve(struct auc_policy_ctx *ctx, size_t n, size_t size);
static void set_up(struct auc_policy_ctx *ctx, const struct auc_market *m,
		   const struct auc_job *job);
static void search(struct auc_policy_ctx *ctx);
static bool nothing_better_from(struct auc_policy_ctx *ctx, unsigned completion, double value);
static void try_likeliest(struct auc_policy_ctx *ctx, unsigned completion, double value);
static void try_all(struct auc_policy_ctx *ctx, unsigned completion, double value);
static void open_lanes(struct auc_policy_ctx *ctx, double value);
static bool next_duration(struct auc_policy_ctx *ctx, unsigned completion, unsigned d);
static void try_types(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion, unsigned d,
		      double value);
static double limit_of(const struct auc_policy_ctx *ctx, unsigned completion, double value);
static const struct window *window_at(struct auc_policy_ctx *ctx, unsigned type,
				      unsigned completion, unsigned d);
static void try_colocated(struct auc_policy_ctx *ctx, struct choice *c);
static void try_distributed(struct auc_policy_ctx *ctx, struct choice *c);
static void try_ps_server(struct auc_policy_ctx *ctx, struct choice *c,
			  const struct window *workers, double ps_sum, int64_t ps_fit);
static int64_t joint_fit(const struct auc_policy_ctx *ctx, const struct choice *c, int64_t fit,
			 int64_t z);
static void offer(struct auc_policy_ctx *ctx, const struct choice *c);
static int compare_ties(const struct choice *a, const struct choice *b);
static void start_filler(struct auc_policy_ctx *ctx, unsigned worker, unsigned completion,
			 unsigned d);
static bool fill(struct filler *f, int64_t n);
static unsigned rank_for(const struct filler *f, int64_t n);
static double fill_cost(struct filler *f, int64_t n, unsigned without, unsigned *nservers);
static int64_t cheaper_than(const struct filler *f, double sum);
static bool heap_before(const struct filler *f, uint32_t a, uint32_t b);
static void sift_down(struct filler *f, unsigned i);
static enum auc_code make_plan(struct auc_policy_ctx *ctx, struct auc_decision *decision,
			       struct auc_err *err);

const struct auc_policy auc_policy_dps = {
	.name = "dps",
	.summary = "sealed bids; one window, co-located or distributed (DPS, TMC'23)",
	.create = dps_create,
	.destroy = dps_destroy,
	.quote = dps_quote,
	.least_slots = dps_least_slots,
};

static enum auc_code dps_create(const char *options, struct auc_policy_ctx **ctx,
				struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "variant",
		 .choices = "exact|paper",
		 .offset = offsetof(struct options, variant)},
		{.key = "bounds", .choices = "on|off", .offset = offsetof(struct options, bounds)},
	};
	struct options o = {0};
	enum auc_code rc = auc_options_read("dps", options, list, 2, &o, err);
	struct auc_policy_ctx *made;

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	made = calloc(1, sizeof(*made));
	if (made && o.variant == 1)
		made->paper = auc_dps_paper_create();
	if (!made || (o.variant == 1 && !made->paper)) {
		free(made);
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy dps");
	}
	made->bounds = o.bounds == 0;
	*ctx = made;
	return AUC_OK;
}

static void dps_destroy(struct auc_policy_ctx *ctx)
{
	if (!ctx)
		return;
	release(ctx);
	auc_dps_paper_destroy(ctx->paper);
	free(ctx);
}

static enum auc_code dps_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err)
{
	enum auc_code rc;

	auc_decision_reset(decision);
	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	if (ctx->paper)
		return auc_dps_paper_quote(ctx->paper, m, job, decision, err);
	rc = make_room(ctx, m, err);
	if (rc != AUC_OK)
		return rc;
	set_up(ctx, m, job);
	search(ctx);
	return ctx->found ? make_plan(ctx, decision, err) : AUC_OK;
}

/* Without exchange, as if one server could hold them. */
static int64_t dps_least_slots(const struct auc_market *m, const struct auc_job *job,
			       unsigned worker, unsigned ps, int64_t n)
{
	return auc_job_duration(auc_job_work(m, job, worker, ps, true), n);
}

/* Scratch memory for markets of M's size: made once, kept. */
static enum auc_code make_room(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       struct auc_err *err)
{
	size_t servers = m->nservers + 1, slots = m->slots + 1;
	size_t lanes = 2 * (size_t)m->nworker_types + 1, ps = m->nps_types + 1;
	size_t types = m->nworker_types + m->nps_types;
	struct filler *f = &ctx->filler;
	size_t i;

	if (ctx->nmemory && ctx->nservers == m->nservers && ctx->slots == m->slots &&
	    ctx->nworkers == m->nworker_types && ctx->nps == m->nps_types)
		return AUC_OK;
	release(ctx);
	ctx->nservers = m->nservers;
	ctx->slots = m->slots;
	ctx->nrows = m->nrows;
	ctx->nworkers = m->nworker_types;
	ctx->nps = m->nps_types;
	ctx->levels = DPS_LEVELS;
	while (ctx->levels > 4 &&
	       lanes * (slots + m->nrows) * ctx->levels * sizeof(double) > TABLE_BYTES)
		ctx->levels /= 2;

	ctx->ready = reserve(ctx, servers, sizeof(*ctx->ready));
	ctx->lanes = reserve(ctx, lanes, sizeof(*ctx->lanes));
	ctx->level_of = reserve(ctx, lanes * slots, sizeof(*ctx->level_of));
	ctx->ratio = reserve(ctx, lanes * slots, sizeof(*ctx->ratio));
	ctx->fewest = reserve(ctx, lanes * slots, sizeof(*ctx->fewest));
	ctx->bound = reserve(ctx, lanes * slots * ctx->levels, sizeof(*ctx->bound));
	ctx->block = reserve(ctx, lanes * m->nrows * ctx->levels, sizeof(*ctx->block));
	ctx->block_room = reserve(ctx, lanes * m->nrows, sizeof(*ctx->block_room));
	ctx->block_done = reserve(ctx, lanes * m->nrows, sizeof(*ctx->block_done));
	ctx->ps_block = reserve(ctx, ps * m->nrows, sizeof(*ctx->ps_block));
	ctx->ps_bound = reserve(ctx, slots, sizeof(*ctx->ps_bound));
	ctx->value = reserve(ctx, slots, sizeof(*ctx->value));
	ctx->least = reserve(ctx, slots, sizeof(*ctx->least));
	ctx->open = reserve(ctx, lanes, sizeof(*ctx->open));
	ctx->work = reserve(ctx, lanes * ps, sizeof(*ctx->work));
	ctx->windows = reserve(ctx, types + 1, sizeof(*ctx->windows));
	ctx->take = reserve(ctx, servers, sizeof(*ctx->take));
	f->heap = reserve(ctx, servers, sizeof(*f->heap));
	f->taken = reserve(ctx, servers, sizeof(*f->taken));
	f->workers = reserve(ctx, servers, sizeof(*f->workers));
	f->cost = reserve(ctx, servers, sizeof(*f->cost));
	f->rank = reserve(ctx, servers, sizeof(*f->rank));
	if (ctx->windows) {
		ctx->windows[0].sum = reserve(ctx, (types + 1) * servers, sizeof(double));
		ctx->windows[0].fit = reserve(ctx, (types + 1) * servers, sizeof(int32_t));
	}
	for (i = 0; i < ctx->nmemory; i++)
		if (!ctx->memory[i]) {
			release(ctx);
			return auc_err_set(err, AUC_ENOMEM,
					   "no memory for a quote among %u servers", m->nservers);
		}
	for (i = 1; i < types; i++) {
		ctx->windows[i].sum = ctx->windows[0].sum + i * servers;
		ctx->windows[i].fit = ctx->windows[0].fit + i * servers;
	}
	return AUC_OK;
}

static void release(struct auc_policy_ctx *ctx)
{
	while (ctx->nmemory)
		free(ctx->memory[--ctx->nmemory]);
}

static void *reserve(struct auc_policy_ctx *ctx, size_t n, size_t size)
{
	return ctx->memory[ctx->nmemory++] = calloc(n, size);
}

/* Everything of the job that does not depend on a window. */
static void set_up(struct auc_policy_ctx *ctx, const struct auc_market *m,
		   const struct auc_job *job)
{
	auc_slot late = auc_market_last(m) + 1;
	unsigned w, p, s, i;
	auc_slot t;

	ctx->m = m;
	ctx->job = job;
	ctx->found = false;
	t = job->arrival > m->first ? job->arrival : m->first;
	ctx->start0 = t < late ? (unsigned)(t - m->first) : m->slots;
	for (s = 0; s < m->nservers; s++) {
		t = job->arrival < late ? job->arrival + (auc_slot)job->upload[s] : late;
		t = t < m->first ? m->first : t;
		ctx->ready[s] = t < late ? (uint32_t)(t - m->first) : m->slots;
	}
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++)
			for (i = 0; i < 2; i++)
				*dps_work_of(ctx, w, p, i) = auc_job_work(m, job, w, p, i);
	ctx->floor = -1;
	ctx->nlanes = 0;
	for (w = 0; w < m->nworker_types; w++) {
		auc_dps_add_lane(ctx, w, true);
		auc_dps_add_lane(ctx, w, false);
	}
	ctx->keep = 1 - DBL_EPSILON * (m->slots + 16);
	ctx->bounded = ctx->start0;
	ctx->ps_bound[ctx->start0] = 0;
	for (i = 0; i < ctx->nlanes; i++)
		memset(ctx->bound + ((size_t)i * (m->slots + 1) + ctx->start0) * ctx->levels, 0,
		       ctx->levels * sizeof(*ctx->bound));
	memset(ctx->block_done, 0, (size_t)ctx->nlanes * m->nrows);
	for (i = 0; i < m->nps_types * m->nrows; i++)
		ctx->ps_block[i] = -1;
	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		ctx->windows[i].d = 0;
	ctx->filler.d = 0;
}

/*
 * Two passes. The first looks, for each completion, at the one window with the lowest bound, and so
 * finds a payoff close to the best; the second looks at every window that can still beat it.
 */
static void search(struct auc_policy_ctx *ctx)
{
	unsigned completion, last = ctx->slots;
	double value;

	for (completion = ctx->start0 + 1; completion <= last; completion++) {
		value = auc_utility_value(&ctx->job->utility,
					  (double)(ctx->m->first + completion - ctx->job->arrival));
		ctx->value[completion] = value;
		if (nothing_better_from(ctx, completion, value)) {
			last = completion - 1;
			break;
		}
		if (!ctx->bounds)
			continue;
		auc_dps_extend_bounds(ctx, completion - 1);
		try_likeliest(ctx, completion, value);
	}
	for (completion = ctx->start0 + 1; completion <= last; completion++) {
		value = ctx->value[completion];
		if (completion > ctx->best.completion &&
		    nothing_better_from(ctx, completion, value))
			return;
		if (!ctx->bounds || ctx->least[completion] < limit_of(ctx, completion, value))
			try_all(ctx, completion, value);
	}
}

/* True if no schedule that completes at COMPLETION, which is worth VALUE, or later can become the
 * best one, as none costs less than the floor. */
static bool nothing_better_from(struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	if (!ctx->found)
		return false;
	if (value <= ctx->best_payoff)
		return true;
	if (!ctx->bounds || !(ctx->best.cost > 0))
		return false;
	if (ctx->floor < 0)
		auc_dps_find_floor(ctx);
	return ctx->floor >= limit_of(ctx, completion, value);
}

/* Notes the lowest bound of the windows that end at COMPLETION and tries that window. */
static void try_likeliest(struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	unsigned d, i, lane, best_d = 0, best_lane = 0;
	double bound, ps, least = INFINITY;

	open_lanes(ctx, value);
	for (d = 1; next_duration(ctx, completion, d); d++) {
		ps = dps_least_ps(ctx, completion, d);
		for (i = 0; i < ctx->nopen; i++) {
			lane = ctx->open[i];
			if (d < ctx->lanes[lane].dmin ||
			    ctx->fewest[(size_t)lane * (ctx->slots + 1) + d] >
				    ctx->lanes[lane].room)
				continue;
			bound = dps_bound_of(ctx, lane, completion, d) + ps;
			if (bound < least) {
				least = bound;
				best_d = d;
				best_lane = lane;
			}
		}
	}
	ctx->least[completion] = least;
	if (least < limit_of(ctx, completion, value))
		try_types(ctx, best_lane, completion, best_d, value);
}

/* Tries all windows that end at COMPLETION, short ones first: their sums grow slot by slot. */
static void try_all(struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	double bound = 0, ps = 0;
	unsigned d, i, lane;

	open_lanes(ctx, value);
	for (d = 1; next_duration(ctx, completion, d); d++) {
		if (ctx->bounds)
			ps = dps_least_ps(ctx, completion, d);
		for (i = 0; i < ctx->nopen; i++) {
			lane = ctx->open[i];
			if (d < ctx->lanes[lane].dmin ||
			    ctx->fewest[(size_t)lane * (ctx->slots + 1) + d] >
				    ctx->lanes[lane].room)
				continue;
			if (ctx->bounds)
				bound = dps_bound_of(ctx, lane, completion, d);
			if (bound + ps < limit_of(ctx, completion, value))
				try_types(ctx, lane, completion, d, value);
		}
	}
}

/* Begins with the windows of another completion: all lanes are open whose floor leaves room for a
 * better payoff, or for a tie with whatever is found later. */
static void open_lanes(struct auc_policy_ctx *ctx, double value)
{
	double limit = ctx->floor < 0 ? INFINITY : value - ctx->best_payoff + 16 * TIE * value;
	unsigned i;

	ctx->nopen = 0;
	for (i = 0; i < ctx->nlanes; i++) {
		if (ctx->lanes[i].floor > limit)
			continue;
		ctx->open[ctx->nopen++] = i;
		ctx->lanes[i].room = INT64_MAX;
	}
}

/*
 * Brings the lanes' room up to the window of D slots, one longer than the last, and closes those
 * that cannot have it. False if none is left.
 */
static bool next_duration(struct auc_policy_ctx *ctx, unsigned completion, unsigned d)
{
	struct lane *l;
	unsigned i, n = 0;
	int64_t room;

	if (d > completion - ctx->start0)
		return false;
	for (i = 0; i < ctx->nopen; i++) {
		l = &ctx->lanes[ctx->open[i]];
		if (ctx->bounds) {
			room = ctx->block_room[(size_t)ctx->open[i] * ctx->nrows + completion - d];
			l->room = room < l->room ? room : l->room;
		}
		if (d <= l->dmax && l->level[0] <= l->room)
			ctx->open[n++] = ctx->open[i];
	}
	ctx->nopen = n;
	return n > 0;
}

/* The PS types of one window. */
static void try_types(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion, unsigned d,
		      double value)
{
	const struct lane *l = &ctx->lanes[lane];
	int64_t fewest = ctx->fewest[(size_t)lane * (ctx->slots + 1) + d], room = INT64_MAX;
	struct choice c = {.value = value,
			   .completion = completion,
			   .start = completion - d,
			   .worker = l->worker,
			   .colocated = l->colocated};
	double work, bound = 0;
	unsigned p;

	if (ctx->bounds) {
		bound = auc_dps_block_bound(ctx, lane, c.start, completion, &room);
		if (fewest > room ||
		    bound + dps_least_ps(ctx, completion, d) >= limit_of(ctx, completion, value))
			return;
	}
	for (p = 0; p < ctx->nps; p++) {
		if (ctx->job->ps_seconds[p] < 0)
			continue;
		work = *dps_work_of(ctx, l->worker, p, l->colocated);
		c.n = auc_job_workers(work, d, ctx->job->chunks);
		if (!c.n || c.n > room || auc_job_duration(work, c.n) != d)
			continue;
		if (ctx->bounds &&
		    bound * ((double)c.n / (double)fewest) +
				    auc_dps_ps_block_bound(ctx, p, c.start, completion) >=
			    limit_of(ctx, completion, value))
			continue;
		c.ps = p;
		if (l->colocated)
			try_colocated(ctx, &c);
		else
			try_distributed(ctx, &c);
	}
}

/*
 * A schedule that completes then and costs this or more cannot become the best one. At the best
 * one's own completion ties are still open, so the limit is above them; later, ties are lost.
 */
static double limit_of(const struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	double limit;

	if (!ctx->found)
		return INFINITY;
	limit = value - ctx->best_payoff;
	if (completion <= ctx->best.completion)
		return limit + 4 * TIE * (value + ctx->best.value + ctx->best.cost) + DBL_MIN;
	return limit - TIE * (value + ctx->best.value + ctx->best.cost);
}

/* Sums and minima of TYPE over the window. Windows of one completion only grow, so they are
 * continued, not begun anew. */
static const struct window *window_at(struct auc_policy_ctx *ctx, unsigned type,
				      unsigned completion, unsigned d)
{
	const struct auc_type_cache *c = &ctx->m->cache[type];
	struct window *win = &ctx->windows[type];
	unsigned n = ctx->nservers, s;
	double *sum = win->sum;
	int32_t *fit = win->fit;
	const double *price;
	const int32_t *now;

	if (!win->d || win->completion != completion || win->d > d) {
		win->completion = completion;
		win->d = 1;
		memcpy(sum, c->price + auc_cell(ctx->m, completion - 1, 0), n * sizeof(*sum));
		memcpy(fit, c->fit + auc_cell(ctx->m, completion - 1, 0), n * sizeof(*fit));
	}
	for (; win->d < d; win->d++) {
		price = c->price + auc_cell(ctx->m, completion - 1 - win->d, 0);
		now = c->fit + auc_cell(ctx->m, completion - 1 - win->d, 0);
		for (s = 0; s < n; s++)
			sum[s] += price[s];
		for (s = 0; s < n; s++)
			fit[s] = now[s] < fit[s] ? now[s] : fit[s];
	}
	return win;
}

/* All workers and one PS on one server. */
static void try_colocated(struct auc_policy_ctx *ctx, struct choice *c)
{
	unsigned d = c->completion - c->start, s;
	const struct window *workers = window_at(ctx, c->worker, c->completion, d);
	const struct window *pss = window_at(ctx, auc_ps_index(ctx->m, c->ps), c->completion, d);
	double limit = limit_of(ctx, c->completion, c->value);

	c->nservers = 1;
	c->z = 1;
	c->here = c->n;
	for (s = 0; s < ctx->nservers; s++) {
		if (workers->fit[s] < c->n || pss->fit[s] < 1 || ctx->ready[s] > c->start)
			continue;
		c->cost = (double)c->n * workers->sum[s] + pss->sum[s];
		if (c->cost >= limit)
			continue;
		c->ps_server = s;
		if (joint_fit(ctx, c, workers->fit[s], 1) < c->n)
			continue;
		offer(ctx, c);
		limit = limit_of(ctx, c->completion, c->value);
	}
}

/* Each PS server in turn, the other workers on the cheapest other servers. */
static void try_distributed(struct auc_policy_ctx *ctx, struct choice *c)
{
	unsigned d = c->completion - c->start, s;
	const struct window *workers = window_at(ctx, c->worker, c->completion, d);
	const struct window *pss;
	double least, limit = limit_of(ctx, c->completion, c->value);

	start_filler(ctx, c->worker, c->completion, d);
	least = fill_cost(&ctx->filler, c->n, UINT32_MAX, NULL);
	if (least >= limit)
		return;
	pss = window_at(ctx, auc_ps_index(ctx->m, c->ps), c->completion, d);
	for (s = 0; s < ctx->nservers; s++) {
		if (pss->fit[s] < 1 || ctx->ready[s] > c->start || least + pss->sum[s] >= limit)
			continue;
		c->ps_server = s;
		try_ps_server(ctx, c, workers, pss->sum[s], pss->fit[s]);
		limit = limit_of(ctx, c->completion, c->value);
	}
}

/*
 * PSs on c->ps_server. Without PSs the cheapest number of workers there is BEST (of equals the
 * largest, which needs the fewest servers), and the workers' cost is convex around it. The PS count
 * is a step function of the workers elsewhere; on each step the cheapest number is the one next to
 * BEST. Steps are tried from few PSs to many, until one reaches down to BEST: behind that both
 * costs only grow.
 */
static void try_ps_server(struct auc_policy_ctx *ctx, struct choice *c,
			  const struct window *workers, double ps_sum, int64_t ps_fit)
{
	struct filler *f = &ctx->filler;
	double sum = workers->sum[c->ps_server];
	int64_t fit = workers->fit[c->ps_server];
	int64_t most = fit < c->n ? fit : c->n - 1; /* one worker at least is elsewhere */
	int64_t best = 0, elsewhere, served, low, high;

	if (fit) {
		best = c->n - cheaper_than(f, sum);
		best = best < 0 ? 0 : best > most ? most : best;
	}
	for (elsewhere = c->n - most; elsewhere <= c->n; elsewhere = served + 1) {
		c->z = auc_job_ps(ctx->m, c->worker, c->ps, elsewhere);
		if (c->z > ps_fit)
			return;
		served = auc_job_served(ctx->m, c->worker, c->ps, c->z);
		if (served < elsewhere)
			served = elsewhere;
		low = c->n > served ? c->n - served : 0;
		high = joint_fit(ctx, c, c->n - elsewhere, c->z);
		if (high < low)
			continue;
		c->here = best < low ? low : best > high ? high : best;
		c->cost = fill_cost(f, c->n - c->here, c->ps_server, &c->nservers);
		c->cost += (double)c->z * ps_sum;
		if (c->here)
			c->cost += (double)c->here * sum;
		c->nservers++;
		if (c->cost < limit_of(ctx, c->completion, c->value))
			offer(ctx, c);
		if (low <= best)
			return;
	}
}

/* How many of FIT workers fit on c->ps_server beside Z PSs all the window; -1: not even the PSs. */
static int64_t joint_fit(const struct auc_policy_ctx *ctx, const struct choice *c, int64_t fit,
			 int64_t z)
{
	const struct auc_market *m = ctx->m;
	const struct auc_bundle *worker = &m->types[c->worker],
				*ps = &m->types[auc_ps_index(m, c->ps)];
	int64_t capacity, least, used;
	unsigned i, k, t;

	for (i = 0; i < worker->nused; i++) {
		k = worker->used[i];
		if (!ps->units[k])
			continue;
		capacity = m->servers[c->ps_server].units[k];
		least = capacity;
		for (t = c->start; t < c->completion; t++) {
			used = m->used[auc_cell(m, t, c->ps_server) * m->ntres + k];
			if (capacity - used < least)
				least = capacity - used;
		}
		least -= z * ps->units[k];
		if (least < 0)
			return -1;
		if (least / worker->units[k] < fit)
			fit = least / worker->units[k];
	}
	return fit;
}

/*
 * Takes C as the best so far if it is. Measured by the highest payoff seen, too, so that one tie
 * after the other never goes down by more than one margin.
 */
static void offer(struct auc_policy_ctx *ctx, const struct choice *c)
{
	double payoff = c->value - c->cost, margin;

	if (ctx->found) {
		margin = TIE * (c->value + c->cost + ctx->best.value + ctx->best.cost);
		if (payoff < ctx->top_payoff - margin)
			return;
		if (payoff <= ctx->best_payoff + margin && compare_ties(c, &ctx->best) >= 0) {
			ctx->top_payoff = fmax(ctx->top_payoff, payoff);
			return;
		}
	}
	ctx->top_payoff = ctx->found ? fmax(ctx->top_payoff, payoff) : payoff;
	ctx->found = true;
	ctx->best = *c;
	ctx->best_payoff = payoff;
}

/* Which of two schedules of equal payoff goes first; see policy.h. */
static int compare_ties(const struct choice *a, const struct choice *b)
{
	if (a->completion != b->completion)
		return a->completion < b->completion ? -1 : 1;
	if (a->nservers != b->nservers)
		return a->nservers < b->nservers ? -1 : 1;
	if (a->worker != b->worker)
		return a->worker < b->worker ? -1 : 1;
	if (a->ps != b->ps)
		return a->ps < b->ps ? -1 : 1;
	if (a->colocated != b->colocated)
		return a->colocated ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->ps_server != b->ps_server)
		return a->ps_server < b->ps_server ? -1 : 1;
	if (a->here != b->here)
		return a->here > b->here ? -1 : 1;
	return 0;
}

static void start_filler(struct auc_policy_ctx *ctx, unsigned worker, unsigned completion,
			 unsigned d)
{
	const struct window *win = window_at(ctx, worker, completion, d);
	struct filler *f = &ctx->filler;
	unsigned s;

	if (f->d == d && f->completion == completion && f->worker == worker)
		return;
	f->worker = worker;
	f->completion = completion;
	f->d = d;
	f->sum = win->sum;
	f->fit = win->fit;
	f->nheap = f->ntaken = 0;
	for (s = 0; s < ctx->nservers; s++) {
		f->rank[s] = 0;
		if (win->fit[s] && ctx->ready[s] <= completion - d)
			f->heap[f->nheap++] = s;
	}
	for (s = f->nheap / 2; s--;)
		sift_down(f, s);
}

/* Takes servers until they hold N workers; false if all together do not. */
static bool fill(struct filler *f, int64_t n)
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

/*
 * What N workers cost at least with none on server WITHOUT (UINT32_MAX: any), INFINITY if they do
 * not fit; *NSERVERS (may be NULL) is on how many servers they are. If WITHOUT is among the servers
 * used, its place is taken by the next ones.
 */
static double fill_cost(struct filler *f, int64_t n, unsigned without, unsigned *nservers)
{
	double cost = 0;
	unsigned r, used, skipped;

	if (!fill(f, n))
		return INFINITY;
	r = rank_for(f, n);
	skipped = without != UINT32_MAX && f->rank[without] && f->rank[without] <= r + 1;
	if (skipped) {
		n += f->fit[without];
		if (!fill(f, n))
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

/* Workers on servers cheaper than SUM, as far as servers are taken: the others cost no less. */
static int64_t cheaper_than(const struct filler *f, double sum)
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

/* Lays the best schedule out and prices it as it will be charged. */
static enum auc_code make_plan(struct auc_policy_ctx *ctx, struct auc_decision *decision,
			       struct auc_err *err)
{
	const struct choice *c = &ctx->best;
	struct auc_plan *plan = &decision->plan;
	struct filler *f = &ctx->filler;
	int64_t left = c->n - c->here;
	enum auc_code rc;
	unsigned r, s;

	plan->worker_type = c->worker;
	plan->ps_type = c->ps;
	plan->colocated = c->colocated;
	plan->arrival = ctx->job->arrival;
	plan->start = ctx->m->first + c->start;
	plan->completion = ctx->m->first + c->completion;
	plan->value = c->value;
	memset(ctx->take, 0, ctx->nservers * sizeof(*ctx->take));
	ctx->take[c->ps_server] = (unsigned)c->here;
	if (left) {
		start_filler(ctx, c->worker, c->completion, c->completion - c->start);
		fill(f, left + f->fit[c->ps_server]);
		for (r = 0; left && r < f->ntaken; r++) {
			s = f->taken[r];
			if (s == c->ps_server)
				continue;
			ctx->take[s] = (unsigned)(left < f->fit[s] ? left : f->fit[s]);
			left -= ctx->take[s];
		}
	}
	rc = auc_plan_add_run(plan, plan->start, plan->completion - 1, err);
	for (s = 0; s < ctx->nservers && rc == AUC_OK; s++)
		if (ctx->take[s] || s == c->ps_server)
			rc = auc_plan_add_share(plan, s, ctx->take[s],
						s == c->ps_server ? (unsigned)c->z : 0, err);
	if (rc != AUC_OK)
		return rc;
	plan->cost = auc_plan_cost(plan, ctx->m);
	decision->best_payoff = plan->value - plan->cost;
	decision->accepted = decision->best_payoff > 0;
	decision->reason = decision->accepted ? AUC_REASON_NONE : AUC_REASON_PAYOFF;
	return AUC_OK;
}
