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
 *    f(completion - arrival), less what the work costs at the lowest prices of the slots up to
 *    where f alone is the best payoff, is no better than that.
 *  - Of all worker counts of one duration only the smallest matters: one less never costs more.
 *  - A window is looked at only if a lower bound of its cost leaves room for a better payoff, or
 *    for the same one if nothing that is known of it loses the tie. There are quick ones, by slot,
 *    with the PSs in dps_floor.c, and better ones: what the workers alone really cost,
 *    dps_reach.c, and by blocks of slots, dps_bounds.c.
 *  - In a crowded market most windows have no room for their workers: dps_room.c.
 *  - A window's prices are summed for the servers alone that are free in all of it: dps_windows.c.
 *  - In a window servers are taken by ascending sum of prices. For a PS server and a number of PSs
 *    the cost is convex in the number of workers there, so one layout for each number is enough.
 *
 * Departures from the print (policies.md): the job holds slots a..a+d-1; a server is usable from
 * arrival + Delta on; types may share TRES, so workers and PSs on one server fit jointly.
 *
 * Ties (dps_best.c): payoffs that differ by rounding only are equal. Then this decides: earliest
 * completion, fewest servers, lowest worker type, lowest PS type, co-located first, earliest start,
 * lowest PS server, most workers on it. Servers of equal price are filled by most room, then lowest
 * index.
 *
 * Options: variant=exact (auctionsim has the algorithms as printed); bounds=on|off (off:
 * every window, for tests).
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/dps/dps-private.h"
#include "policy/gang/gang.h"
#include "policy/option.h"

#define FLOORS_TRIED 64 /* windows of a quote, before it is known whether their floors help */
#define PS_COUNTS    32 /* workers beside PSs for which the least PSs are kept */
#define BLOCKS_FIRST 8  /* slots of the shortest windows whose blocks are asked first */
#define BLOCKS_AFTER 16 /* windows of a quote, before what blocks say is likely to be there */

struct options {
	unsigned variant, bounds;
};

/* The window of a completion with the lowest bound. */
struct likeliest {
	double bound, limit; /* INFINITY: none yet; from LIMIT on it is of no use */
	double open;         /* from there on no window will ever be */
	unsigned lane, d;
	bool floors; /* those are asked, too */
};

/* A PS type for a window: workers, what those cost at least, and what all of it does. */
struct ps_try {
	unsigned ps;
	int64_t n;
	double workers, bound;
};

static enum auc_code dps_create(const char *options, struct auc_policy_ctx **ctx,
				struct auc_err *err);
static void dps_destroy(struct auc_policy_ctx *ctx);
static enum auc_code dps_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err);
static int64_t dps_least_slots(const struct auc_market *m, const struct auc_job *job,
			       unsigned worker, unsigned ps, int64_t n);
static void set_up(struct auc_policy_ctx *ctx, const struct auc_market *m,
		   const struct auc_job *job);
static double search(struct auc_policy_ctx *ctx);
static bool nothing_better_from(struct auc_policy_ctx *ctx, unsigned completion, double value);
static double value_of(struct auc_policy_ctx *ctx, unsigned completion);
static bool costs(const struct auc_policy_ctx *ctx);
static void close_lanes(struct auc_policy_ctx *ctx);
static void try_likeliest(struct auc_policy_ctx *ctx, unsigned completion, double value);
static void find_likeliest(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion,
			   struct likeliest *likeliest);
static void try_marked(struct auc_policy_ctx *ctx, unsigned completion, double value);
static void try_all(struct auc_policy_ctx *ctx, unsigned completion, double value);
static bool try_types(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion, unsigned d,
		      double value);
static bool floor_rules_out(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion,
			    unsigned d, double workers, double limit);
static bool floors_help(const struct auc_policy_ctx *ctx);
static double workers_bound(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion,
			    unsigned d, double limit, int64_t *room);
static bool pays(const struct auc_job *job, const struct auc_decision *decision);
static enum auc_code quote_paid(struct auc_policy_ctx *ctx, struct auc_decision *decision,
				double *upper, struct auc_err *err);
static void refuse_unpaid(struct auc_decision *decision);
static void try_distributed(struct auc_policy_ctx *ctx, struct choice *c, double workers_cost);
static unsigned list_ps_servers(struct auc_policy_ctx *ctx, const struct choice *c,
				const struct window *workers, const struct window *pss,
				double limit);
static unsigned least_servers(const struct auc_policy_ctx *ctx, const struct choice *c);
static void try_colocated(struct auc_policy_ctx *ctx, struct choice *c, double workers_cost);
static int64_t least_ps(const struct auc_policy_ctx *ctx, const struct choice *c, int64_t fit,
			int64_t *few);
static void try_ps_server(struct auc_policy_ctx *ctx, struct choice *c,
			  const struct window *workers, double ps_sum, int64_t ps_fit);
static int64_t joint_fit(struct auc_policy_ctx *ctx, const struct choice *c, int64_t fit,
			 int64_t z);
static enum auc_code make_plan(struct auc_policy_ctx *ctx, struct auc_decision *decision,
			       struct auc_err *err);

const struct auc_policy auc_policy_dps = {
	.name = "dps",
	.summary = "sealed bids; one window, co-located or distributed (DPS, TMC'23)",
	.gangs = true,
	.budgets = true,
	.rearranges = true,
	.create = dps_create,
	.destroy = dps_destroy,
	.quote = dps_quote,
	.least_slots = dps_least_slots,
};

static enum auc_code dps_create(const char *options, struct auc_policy_ctx **ctx,
				struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "variant", .choices = "exact", .offset = offsetof(struct options, variant)},
		{.key = "bounds", .choices = "on|off", .offset = offsetof(struct options, bounds)},
	};
	struct options o = {0};
	enum auc_code rc = auc_options_read("dps", options, list, 2, &o, err);
	struct auc_policy_ctx *made;

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	made = calloc(1, sizeof(*made));
	if (made)
		made->gang = auc_gang_create();
	if (!made || !made->gang) {
		dps_destroy(made);
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
	auc_dps_release(ctx);
	auc_gang_destroy(ctx->gang);
	free(ctx);
}

static enum auc_code dps_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err)
{
	enum auc_code rc;
	double upper;

	auc_decision_reset(decision);
	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	if (job->nshapes)
		return auc_gang_quote(ctx->gang, m, job, AUC_GANG_PAYOFF, job->arrival, decision,
				      err);
	rc = auc_dps_make_room(ctx, m, err);
	if (rc != AUC_OK)
		return rc;
	ctx->budget = INFINITY;
	ctx->must_pay = decision->must_pay;
	ctx->steps = 0;
	ctx->limit = decision->most_steps ? decision->most_steps : UINT64_MAX;
	set_up(ctx, m, job);
	upper = search(ctx);
	if (ctx->found)
		rc = make_plan(ctx, decision, err);
	if (ctx->found && rc == AUC_OK && !pays(job, decision))
		rc = quote_paid(ctx, decision, &upper, err);
	decision->steps = ctx->steps;
	auc_decision_cut(decision, upper);
	return rc;
}

/* True unless JOB's budget is all that stands against DECISION. */
static bool pays(const struct auc_job *job, const struct auc_decision *decision)
{
	return !decision->accepted || !job->limited ||
	       auc_gang_is_paid(decision->plan.cost, job->budget);
}

/* The best schedule costs more than the budget: the best one of those that do not. */
static enum auc_code quote_paid(struct auc_policy_ctx *ctx, struct auc_decision *decision,
				double *upper, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	ctx->budget = ctx->job->budget;
	set_up(ctx, ctx->m, ctx->job);
	*upper = search(ctx);
	if (ctx->found) {
		auc_plan_reset(&decision->plan);
		rc = make_plan(ctx, decision, err);
	}
	if (!ctx->found || !decision->accepted)
		refuse_unpaid(decision);
	return rc;
}

static void refuse_unpaid(struct auc_decision *decision)
{
	decision->accepted = false;
	decision->reason = AUC_REASON_BUDGET;
	decision->best_payoff = 0; /* of what can be paid nothing better was found */
}

/* Without exchange, as if one server could hold them. */
static int64_t dps_least_slots(const struct auc_market *m, const struct auc_job *job,
			       unsigned worker, unsigned ps, int64_t n)
{
	return auc_job_duration(auc_job_work(m, job, worker, ps, true), n);
}

/* Everything of the job that does not depend on a window. */
static void set_up(struct auc_policy_ctx *ctx, const struct auc_market *m,
		   const struct auc_job *job)
{
	unsigned first = m->slots, w, p, s, i;

	ctx->m = m;
	ctx->job = job;
	ctx->found = false;
	ctx->start0 = auc_policy_ready(m, job, ctx->ready);
	for (s = 0; s < m->nservers; s++)
		first = ctx->ready[s] < first ? ctx->ready[s] : first;
	ctx->start0 = first > ctx->start0 ? first : ctx->start0;
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++)
			for (i = 0; i < 2; i++)
				*dps_work_of(ctx, w, p, i) = auc_job_work(m, job, w, p, i);
	ctx->end = ctx->asked = ctx->ruled_out = ctx->bounded = 0;
	ctx->steps += 4 * (uint64_t)m->nservers;
	ctx->valued = ctx->start0;
	auc_dps_start_rows(ctx);
	auc_dps_start_series(ctx);
	ctx->nlanes = 0;
	ctx->marked = false;
	for (w = 0; w < m->nworker_types; w++) {
		auc_dps_add_lane(ctx, w, true);
		auc_dps_add_lane(ctx, w, false);
	}
	ctx->keep = 1 - DBL_EPSILON * (m->slots + 16);
	ctx->ps_bound[ctx->start0] = 0;
	memset(ctx->block_done, 0, (size_t)ctx->nlanes * m->nrows);
	memset(ctx->ps_offers_done, 0, m->nrows);
	ctx->window_ps_end = 0;
	for (i = 0; i < m->nworker_types + m->nps_types; i++)
		ctx->windows[i].d = ctx->window_offers[i].end = 0;
	ctx->filler.d = 0;
	auc_dps_start_room(ctx);
	for (i = 0; i < m->nworker_types; i++)
		ctx->reach[i].d = 0;
}

/*
 * Two passes. The first looks, for each completion, at the one window with the lowest bound, and so
 * finds a payoff close to the best; the second looks at every window that can still beat it.
 * Returned: no window that was left out, as steps ran out, has a higher payoff; -INFINITY: none
 * was.
 */
static double search(struct auc_policy_ctx *ctx)
{
	unsigned completion, last = ctx->nlanes ? ctx->slots : 0, bounded;
	uint64_t limit = ctx->limit;
	double value, upper = -INFINITY;

	if (ctx->bounds && limit != UINT64_MAX)
		ctx->limit = ctx->steps + (limit > ctx->steps ? (limit - ctx->steps) / 2 : 0);
	for (completion = ctx->start0 + 1; completion <= last; completion++) {
		value = value_of(ctx, completion);
		if (nothing_better_from(ctx, completion, value)) {
			last = completion - 1;
			break;
		}
		if (!ctx->bounds)
			continue;
		if (dps_is_spent(ctx))
			break;
		auc_dps_open_lanes(ctx, completion);
		auc_dps_add_bounds(ctx, completion - 1);
		try_likeliest(ctx, completion, value);
	}
	bounded = completion;
	ctx->limit = limit;
	if (ctx->bounds && completion <= last) {
		upper = auc_dps_upper_from(ctx, completion, bounded);
		last = completion - 1;
	}
	for (completion = ctx->start0 + 1; completion <= last; completion++) {
		value = ctx->value[completion];
		if (completion > ctx->best.completion &&
		    nothing_better_from(ctx, completion, value))
			return upper;
		if (dps_is_spent(ctx))
			break;
		if (!ctx->bounds)
			try_all(ctx, completion, value);
		else if (ctx->least[completion] < auc_dps_limit_of(ctx, completion, value))
			try_marked(ctx, completion, value);
	}
	/* Schedules of the completion before were not all tried. */
	if (dps_is_spent(ctx) && completion > ctx->start0 + 1)
		completion--;
	if (completion <= last)
		upper = fmax(upper, auc_dps_upper_from(ctx, completion, bounded));
	return upper;
}

/* What the job is worth at COMPLETION; worked out when first asked for. */
static double value_of(struct auc_policy_ctx *ctx, unsigned completion)
{
	double slots;

	while (ctx->valued < completion) {
		slots = (double)(ctx->m->first + ++ctx->valued - ctx->job->arrival);
		ctx->value[ctx->valued] = auc_utility_value(&ctx->job->utility, slots);
	}
	return ctx->value[completion];
}

/* True if no schedule that completes at COMPLETION, which is worth VALUE, or later can become the
 * best one. */
static bool nothing_better_from(struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	if (!ctx->found)
		return ctx->must_pay && value <= 0;
	if (value <= ctx->best_payoff)
		return true;
	if (!costs(ctx))
		return false;
	if (ctx->moved)
		close_lanes(ctx);
	return completion >= ctx->end;
}

/* True if schedules may be ruled out by what they cost. */
static bool costs(const struct auc_policy_ctx *ctx)
{
	return ctx->bounds && ctx->found && ctx->best.cost > 0;
}

/* Finds the completions from which on no schedule of a lane, or of any, can become the best one. */
static void close_lanes(struct auc_policy_ctx *ctx)
{
	unsigned end = ctx->end, i;
	struct lane *l;

	if (!end) { /* the first time: later ones are worth no more than what is there */
		end = ctx->best.completion;
		while (end <= ctx->slots && value_of(ctx, end) > ctx->best_payoff)
			end++;
		auc_dps_find_floors(ctx, end - 1);
	}
	ctx->end = ctx->start0 + 1;
	for (i = 0; i < ctx->nlanes; i++) {
		l = &ctx->lanes[i];
		l->closed = l->closed < end ? l->closed : end;
		while (l->closed > ctx->start0 + 1 &&
		       l->floor >= auc_dps_limit_of(ctx, l->closed - 1, ctx->value[l->closed - 1]))
			l->closed--;
		ctx->end = l->closed > ctx->end ? l->closed : ctx->end;
	}
	ctx->moved = false;
}

/* Notes the lowest bound of the open lanes' windows that end at COMPLETION and tries that window.
 */
static void try_likeliest(struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	struct likeliest l = {.bound = INFINITY, .limit = auc_dps_limit_of(ctx, completion, value)};
	unsigned i;

	l.floors = floors_help(ctx);
	l.open = auc_dps_limit_open(ctx, value);
	for (i = 0; i < ctx->nopen; i++)
		find_likeliest(ctx, ctx->open[i], completion, &l);
	ctx->least[completion] = l.bound;
	ctx->tried[completion] = 0;
	if (l.bound >= l.limit)
		return;
	ctx->tried[completion] = (size_t)l.lane * (ctx->slots + 1) + l.d;
	try_types(ctx, l.lane, completion, l.d, value);
}

/* Looks at the windows of LANE: of those for as many workers the shortest has the lowest bound.
 * Marks those that may have to be looked at once more. */
static void find_likeliest(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion,
			   struct likeliest *likeliest)
{
	const struct lane *l = &ctx->lanes[lane];
	size_t base = (size_t)lane * (ctx->slots + 1);
	const unsigned *first = ctx->first + base;
	const int64_t *rooms = ctx->block_room + (size_t)lane * ctx->nrows;
	const int32_t *known = dps_rooms(&ctx->room[l->worker], completion);
	const unsigned *narrow = ctx->narrow + base;
	unsigned longest = completion - ctx->start0, nnarrow = l->nnarrow, i, d;
	int64_t room, most = INT64_MAX;
	double workers, bound;

	ctx->marks[base + completion] = 0;
	for (i = 0; i < l->ncounts; i++) {
		d = dps_lasting(ctx, lane, first[i]);
		ctx->steps += 2;
		if (!d)
			continue;
		if (d > longest)
			break;
		while (nnarrow && narrow[nnarrow - 1] >= completion - d)
			most = rooms[narrow[--nnarrow]];
		room = dps_room_of(known, d);
		room = room < most ? room : most;
		if (l->level[0] > room)
			break;
		if (ctx->fewest[base + d] > room)
			continue;
		ctx->steps += 2;
		workers = dps_bound_of(ctx, lane, completion, d);
		bound = workers + dps_least_ps(ctx, completion, d);
		if (bound < likeliest->open)
			auc_dps_mark(ctx, lane, completion, i);
		if (likeliest->floors && bound < likeliest->bound && bound < likeliest->limit)
			bound = auc_dps_window_floor(ctx, lane, completion, d, workers,
						     likeliest->bound);
		if (bound < likeliest->bound || (bound == likeliest->bound && d < likeliest->d)) {
			likeliest->bound = bound;
			likeliest->d = d;
			likeliest->lane = lane;
		}
	}
}

/* Tries the windows that end at COMPLETION and are marked, short ones first: their sums grow slot
 * by slot. */
static void try_marked(struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	unsigned lane;
	struct lane *l;
	double bound;
	bool out;

	auc_dps_open_lanes(ctx, completion);
	auc_dps_first_windows(ctx, completion);
	while (!dps_is_spent(ctx) && (l = auc_dps_next_window(ctx))) {
		lane = (unsigned)(l - ctx->lanes);
		bound = dps_bound_of(ctx, lane, completion, l->next) +
			dps_least_ps(ctx, completion, l->next);
		out = bound >= auc_dps_limit_of(ctx, completion, value);
		if (!out && ctx->tried[completion] != (size_t)lane * (ctx->slots + 1) + l->next)
			out = try_types(ctx, lane, completion, l->next, value);
		auc_dps_pass_window(ctx, l, completion, out);
	}
}

/* Tries all windows that end at COMPLETION, whatever they cost at least. */
static void try_all(struct auc_policy_ctx *ctx, unsigned completion, double value)
{
	unsigned d, lane;

	for (d = 1; d <= completion - ctx->start0; d++)
		for (lane = 0; lane < ctx->nlanes && !dps_is_spent(ctx); lane++)
			if (d >= ctx->lanes[lane].dmin && d <= ctx->lanes[lane].dmax)
				try_types(ctx, lane, completion, d, value);
}

/* True if the window's floor is LIMIT or more. Not asked where that is hardly ever so, as among
 * servers that are all but full: it would only take time. */
static bool floor_rules_out(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion,
			    unsigned d, double workers, double limit)
{
	bool out;

	if (!floors_help(ctx))
		return false;
	out = auc_dps_window_floor(ctx, lane, completion, d, workers, limit) >= limit;
	ctx->asked++;
	ctx->ruled_out += out;
	return out;
}

static bool floors_help(const struct auc_policy_ctx *ctx)
{
	return costs(ctx) && (ctx->asked < FLOORS_TRIED || ctx->ruled_out * 16 >= ctx->asked);
}

/*
 * What the window's workers cost at least; LIMIT and more need not be told apart. No more than
 * *ROOM fit, nor in longer windows that end with it. In a quote of many windows blocks of slots
 * nearly always say enough of a long one, in a few steps; what the workers really cost takes
 * servers times slots.
 */
static double workers_bound(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion,
			    unsigned d, double limit, int64_t *room)
{
	int64_t fewest = ctx->fewest[(size_t)lane * (ctx->slots + 1) + d];
	struct lane *l = &ctx->lanes[lane];
	bool first = ++ctx->bounded > BLOCKS_AFTER && d >= BLOCKS_FIRST;
	double blocks = 0, reach;

	*room = INT64_MAX;
	if (first)
		blocks = auc_dps_block_bound(ctx, lane, completion - d, completion, room);
	if (fewest > *room)
		l->room = *room;
	if (fewest > *room || blocks >= limit)
		return blocks;
	reach = auc_dps_reach(ctx, lane, completion, d, &l->room);
	if (!first && reach < limit)
		blocks = auc_dps_block_bound(ctx, lane, completion - d, completion, room);
	return fmax(reach, blocks);
}

/* The PS types of one window, by ascending bound. True: longer windows for as many workers that end
 * with it cannot hold the best schedule. */
static bool try_types(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion, unsigned d,
		      double value)
{
	const struct lane *l = &ctx->lanes[lane];
	int64_t fewest = ctx->fewest[(size_t)lane * (ctx->slots + 1) + d], room = INT64_MAX;
	struct choice c = {.value = value,
			   .completion = completion,
			   .start = completion - d,
			   .worker = l->worker,
			   .colocated = l->colocated,
			   .n = fewest,
			   .here = INT64_MAX};
	struct ps_try tries[AUC_TYPES_MAX], t;
	double work, workers, bound = 0, limit, one;
	unsigned n = 0, p, i;

	ctx->steps += 16 + 4 * (uint64_t)ctx->nps;
	c.nservers = least_servers(ctx, &c);
	if (ctx->bounds) {
		limit = auc_dps_limit_for(ctx, &c);
		one = dps_least_ps(ctx, completion, d);
		workers = dps_bound_of(ctx, lane, completion, d);
		if (workers + one >= limit ||
		    floor_rules_out(ctx, lane, completion, d, workers, limit))
			return false;
		bound = workers_bound(ctx, lane, completion, d, limit - one, &room);
		if (fewest > room || bound + one >= limit)
			return fewest > room ||
			       bound + one >= auc_dps_limit_of(ctx, completion, value);
		if (auc_dps_all_too_dear(ctx, &c, bound, limit))
			return false;
	}
	for (p = 0; p < ctx->nps; p++) {
		if (ctx->job->ps_seconds[p] < 0)
			continue;
		work = *dps_work_of(ctx, l->worker, p, l->colocated);
		c.n = auc_job_workers(work, d, ctx->job->chunks);
		if (!c.n || c.n > room || auc_job_duration(work, c.n) != d)
			continue;
		c.ps = p;
		t = (struct ps_try){p, c.n, bound * ((double)c.n / (double)fewest), 0};
		if (ctx->bounds)
			t.bound = auc_dps_type_bound(ctx, &c, t.workers);
		for (i = n++; i && tries[i - 1].bound > t.bound; i--)
			tries[i] = tries[i - 1];
		tries[i] = t;
	}
	for (i = 0; i < n; i++) {
		c.ps = tries[i].ps;
		c.n = tries[i].n;
		c.ps_server = 0;
		c.here = INT64_MAX;
		c.nservers = least_servers(ctx, &c);
		if (ctx->bounds && tries[i].bound >= auc_dps_limit_for(ctx, &c))
			continue;
		if (l->colocated)
			try_colocated(ctx, &c, tries[i].workers);
		else
			try_distributed(ctx, &c, tries[i].workers);
	}
	return false;
}

/* On how many servers C's workers are at least. */
static unsigned least_servers(const struct auc_policy_ctx *ctx, const struct choice *c)
{
	int64_t most = ctx->m->cache[c->worker].max0, n;

	if (c->colocated || most < 1)
		return 1;
	n = (c->n + most - 1) / most;
	return n < 2 ? 2 : n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
}

/* All workers and one PS on one server. WORKERS_COST: what the workers cost at least. */
static void try_colocated(struct auc_policy_ctx *ctx, struct choice *c, double workers_cost)
{
	unsigned d = c->completion - c->start, i, s;
	const struct window *workers = auc_dps_window(ctx, c->worker, c->completion, d), *pss;
	double limit;

	c->nservers = 1;
	c->z = 1;
	c->here = c->n;
	limit = auc_dps_limit_for(ctx, c);
	pss = auc_dps_window_below(ctx, auc_ps_index(ctx->m, c->ps), c->completion, d,
				   limit - workers_cost);
	ctx->steps += 2 * (uint64_t)workers->n;
	for (i = 0; i < workers->n; i++) {
		s = workers->list[i];
		if (workers->fit[s] < c->n || pss->fit[s] < 1)
			continue;
		c->cost = (double)c->n * workers->sum[s] + pss->sum[s];
		if (c->cost >= limit)
			continue;
		c->ps_server = s;
		if (joint_fit(ctx, c, workers->fit[s], 1) < c->n)
			continue;
		auc_dps_offer(ctx, c);
		limit = auc_dps_limit_for(ctx, c);
	}
}

/* Each PS server in turn, the other workers on the cheapest other servers. */
static void try_distributed(struct auc_policy_ctx *ctx, struct choice *c, double workers_cost)
{
	unsigned d = c->completion - c->start, ps = auc_ps_index(ctx->m, c->ps), i, s;
	const struct window *workers = auc_dps_window(ctx, c->worker, c->completion, d);
	const struct window *pss;
	struct choice open = *c; /* what is known of all of them */
	double least, limit = auc_dps_limit_for(ctx, &open);
	unsigned n;

	auc_dps_start_filler(ctx, c->worker, c->completion, d);
	least = auc_dps_fill_cost(&ctx->filler, c->n, UINT32_MAX, NULL);
	if (least >= limit)
		return;
	workers_cost = fmax(workers_cost, least * ctx->keep);
	pss = auc_dps_window_below(ctx, ps, c->completion, d, limit - workers_cost);
	n = list_ps_servers(ctx, c, workers, pss, limit - workers_cost);
	ctx->steps += 2 * (uint64_t)pss->n + n;
	for (i = 0; i < n && least < limit; i++) {
		s = ctx->ps_servers[i];
		if (least + ctx->ps_cost[i] >= limit)
			continue;
		c->ps_server = open.ps_server = s;
		try_ps_server(ctx, c, workers, pss->sum[s], pss->fit[s]);
		limit = auc_dps_limit_for(ctx, &open);
	}
}

/* Lists the servers that can hold all PSs of C for less than LIMIT, with what they cost at least:
 * with as many workers beside them as fit. */
static unsigned list_ps_servers(struct auc_policy_ctx *ctx, const struct choice *c,
				const struct window *workers, const struct window *pss,
				double limit)
{
	int64_t few[PS_COUNTS] = {0}, z; /* PSs at least, by the workers beside them */
	unsigned n = 0, i, s;

	for (i = 0; i < pss->n; i++) {
		s = pss->list[i];
		if (pss->sum[s] >= limit)
			continue;
		z = least_ps(ctx, c, workers->fit[s], few);
		if (z > pss->fit[s] || (double)z * pss->sum[s] >= limit)
			continue;
		ctx->ps_servers[n] = s;
		ctx->ps_cost[n++] = (double)z * pss->sum[s];
	}
	return n;
}

/* PSs that C needs at least if FIT workers fit beside them; FEW has those that are known. */
static int64_t least_ps(const struct auc_policy_ctx *ctx, const struct choice *c, int64_t fit,
			int64_t *few)
{
	int64_t beside = fit < c->n ? fit : c->n - 1;

	if (beside >= PS_COUNTS)
		return auc_job_ps(ctx->m, c->worker, c->ps, c->n - beside);
	if (!few[beside])
		few[beside] = auc_job_ps(ctx->m, c->worker, c->ps, c->n - beside);
	return few[beside];
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
		best = c->n - auc_dps_cheaper_than(f, sum);
		best = best < 0 ? 0 : best > most ? most : best;
	}
	for (elsewhere = c->n - most; elsewhere <= c->n; elsewhere = served + 1) {
		ctx->steps += 32;
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
		c->cost = auc_dps_fill_cost(f, c->n - c->here, c->ps_server, &c->nservers);
		c->cost += (double)c->z * ps_sum;
		if (c->here)
			c->cost += (double)c->here * sum;
		c->nservers++;
		if (c->cost < auc_dps_limit_for(ctx, c))
			auc_dps_offer(ctx, c);
		if (low <= best)
			return;
	}
}

/* How many of FIT workers fit on c->ps_server beside Z PSs all the window; -1: not even the PSs. */
static int64_t joint_fit(struct auc_policy_ctx *ctx, const struct choice *c, int64_t fit, int64_t z)
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
		ctx->steps += 2 * (uint64_t)(c->completion - c->start);
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
		auc_dps_start_filler(ctx, c->worker, c->completion, c->completion - c->start);
		auc_dps_fill(f, left + f->fit[c->ps_server]);
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
	auc_decision_by_payoff(decision);
	return AUC_OK;
}
