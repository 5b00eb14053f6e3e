/*
 * oasis.c - the sealed-bid policy OASiS.
 *
 * Y. Bao, Y. Peng, C. Wu, Z. Li: "Online Job Scheduling in Distributed Machine Learning Clusters",
 * IEEE INFOCOM 2018: problem (27) at the prices (22), in place of Algorithm 2. A job gets one
 * worker type, one PS type, and in every slot as many workers as pay, at most one a chunk, with as
 * many PSs as their bandwidth asks for: ceil(b * workers / B), never more than workers.
 *
 * The work is W = ceil(epochs * chunks * minibatches * (worker_seconds + exchange) / slot_seconds)
 * worker-slots, the exchange being 2 * 8 * gradient_mb / bandwidth seconds. Over worker-slots a
 * dynamic program is exact: done[t][w], the least cost of w worker-slots before slot t, is the
 * least over n of done[t-1][w-n] + cost of n workers in slot t-1, and one pass forward serves all
 * completions. That is what bounds=off does. But as the work may be tens of thousands of
 * worker-slots, it takes up to 0.3 s; the search of oasis_search.c finds the same in
 * milliseconds. The cost of a slot comes from oasis_slot.c.
 *
 * Algorithm 2 itself counts in passes over a chunk and rounds up to whole worker-slots in each
 * slot (line 24): a chunk cannot go on in the next slot. That is auctionsim's variant=paper: the
 * same recursion over the same costs, with another unit of work, and all completions up to the end
 * of the horizon. It is otherwise repaired only in that the job may use slots up to the last one
 * and is complete after its last, as everywhere here, and in that tables that no memory holds are
 * refused.
 *
 * A server is usable from arrival + Delta on, where the bid has a Delta. A PS type that has less
 * bandwidth than the worker type is not used.
 *
 * Ties: payoffs that differ by less than OASIS_TIE of value + cost differ by rounding only and are
 * equal. Then the earliest completion goes first, the lowest worker type, the lowest PS type, the
 * schedule that does its work earliest, and in a slot the servers of the lowest index.
 *
 * Options: variant=exact; bounds=on|off (off: the pass looks at everything, for tests).
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/oasis/oasis-private.h"
#include "policy/option.h"

#define OPTION_CELLS (INT64_C(4) << 20) /* slots x options of the search */

/* gcc does not do it at -O2; the sums and comparisons are the same ones. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZED __attribute__((optimize("O3")))
#else
#define VECTORIZED
#endif

/* Numbers of memory. */
enum {
	READY = OASIS_SLOT_MEMORIES,
	WORKERS,
	PSS,
	COSTS,
	SAME,
	STALE,
	COST,
	LOW,
	HOW,
	MOST,
	REACHED,
	DONE,
	PATH,
	LAYOUT,
	BEFORE,
	MEMORIES_END
};
_Static_assert(MEMORIES_END <= OASIS_SEARCH_MEMORY, "numbers of memory");

struct options {
	unsigned variant, bounds;
};

static enum auc_code oasis_create(const char *options, struct auc_policy_ctx **ctx,
				  struct auc_err *err);
static void oasis_destroy(struct auc_policy_ctx *ctx);
static enum auc_code oasis_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				 const struct auc_job *job, struct auc_decision *decision,
				 struct auc_err *err);
static int64_t oasis_least_slots(const struct auc_market *m, const struct auc_job *job,
				 unsigned worker, unsigned ps, int64_t n);
static void give_steps(struct auc_policy_ctx *ctx, uint64_t most, unsigned pairs);
static bool set_up(struct auc_policy_ctx *ctx);
static enum auc_code try_pair(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps,
			      struct auc_decision *decision, struct auc_err *err);
static double quick_upper(struct auc_policy_ctx *ctx);
static bool set_up_pair(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps, bool *possible);
static bool size_exact(struct auc_policy_ctx *ctx, int64_t most, double *unit);
static bool make_room(struct auc_policy_ctx *ctx);
static bool search_all(struct auc_policy_ctx *ctx, struct oasis_schedule *best);
static bool forward(struct auc_policy_ctx *ctx, struct oasis_schedule *best);
static void add_slot(struct auc_policy_ctx *ctx, unsigned slot);
static void trace(struct auc_policy_ctx *ctx, const struct oasis_schedule *best);
static bool find_out(struct auc_policy_ctx *ctx, unsigned slot, unsigned d);
static void copy_option(struct auc_policy_ctx *ctx, unsigned from, unsigned to, unsigned d);
static bool lay_out(struct auc_policy_ctx *ctx, unsigned slot);
static enum auc_code make_plan(struct auc_policy_ctx *ctx, const struct oasis_schedule *s,
			       struct auc_plan *plan, struct auc_err *err);
static enum auc_code add_run(const struct auc_policy_ctx *ctx, struct auc_plan *plan, unsigned from,
			     unsigned to, struct auc_err *err);
static enum auc_code no_memory(const struct auc_policy_ctx *ctx, struct auc_err *err);

const struct auc_policy auc_policy_oasis = {
	.name = "oasis",
	.summary = "sealed bids; workers and PSs vary from slot to slot (OASiS, INFOCOM'18)",
	.prices = AUC_PRICE_BOUNDS,
	.create = oasis_create,
	.destroy = oasis_destroy,
	.quote = oasis_quote,
	.least_slots = oasis_least_slots,
};

static enum auc_code oasis_create(const char *options, struct auc_policy_ctx **ctx,
				  struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "variant", .choices = "exact", .offset = offsetof(struct options, variant)},
		{.key = "bounds", .choices = "on|off", .offset = offsetof(struct options, bounds)},
	};
	struct options o = {0};
	enum auc_code rc = auc_options_read("oasis", options, list, 2, &o, err);

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	*ctx = calloc(1, sizeof(**ctx));
	if (!*ctx)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy oasis");
	(*ctx)->size = size_exact;
	(*ctx)->bounds = o.bounds == 0;
	return AUC_OK;
}

static void oasis_destroy(struct auc_policy_ctx *ctx)
{
	unsigned i;

	if (!ctx)
		return;
	for (i = 0; i < OASIS_MEMORIES; i++)
		free(ctx->memory[i].at);
	free(ctx);
}

static enum auc_code oasis_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				 const struct auc_job *job, struct auc_decision *decision,
				 struct auc_err *err)
{
	unsigned w, p, pairs = 0;
	enum auc_code rc = AUC_OK;

	auc_decision_reset(decision);
	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	ctx->m = m;
	ctx->job = job;
	if (!set_up(ctx))
		return no_memory(ctx, err);
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++)
			pairs += job->worker_seconds[w] >= 0 && job->ps_seconds[p] >= 0;
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types && rc == AUC_OK; p++) {
			if (job->worker_seconds[w] < 0 || job->ps_seconds[p] < 0)
				continue;
			give_steps(ctx, decision->most_steps, pairs--);
			rc = try_pair(ctx, w, p, decision, err);
		}
	decision->steps = ctx->steps;
	if (rc != AUC_OK)
		return rc;
	if (ctx->best.found)
		auc_decision_by_payoff(decision);
	auc_decision_cut(decision, ctx->upper);
	return AUC_OK;
}

/* Of what is left of MOST steps (0: no limit) the next of PAIRS gets half, so that a hard one does
 * not leave the others without. */
static void give_steps(struct auc_policy_ctx *ctx, uint64_t most, unsigned pairs)
{
	uint64_t left = most > ctx->steps ? most - ctx->steps : 0;

	ctx->cut = false;
	ctx->limit = !most ? UINT64_MAX : ctx->steps + (pairs > 1 ? left / 2 : left);
}

static int64_t oasis_least_slots(const struct auc_market *m, const struct auc_job *job,
				 unsigned worker, unsigned ps, int64_t n)
{
	if (auc_job_ps(m, worker, ps, 1) > 1)
		return INT64_MAX;
	return auc_job_duration((double)auc_job_worker_slots(m, job, worker), n);
}

void *auc_oasis_memory(struct auc_policy_ctx *ctx, unsigned i, size_t n, size_t size)
{
	struct oasis_memory *memory = &ctx->memory[i];

	if (memory->bytes >= n * size && memory->at)
		return memory->at;
	free(memory->at);
	memory->bytes = n * size + 64;
	memory->at = malloc(memory->bytes);
	if (!memory->at)
		memory->bytes = 0;
	return memory->at;
}

void *auc_oasis_grow(struct auc_policy_ctx *ctx, unsigned i, size_t n, size_t size)
{
	struct oasis_memory *memory = &ctx->memory[i];
	size_t bytes = n * size + 64;
	void *at;

	if (memory->at && memory->bytes >= n * size)
		return memory->at;
	if (bytes < 2 * memory->bytes)
		bytes = 2 * memory->bytes;
	at = realloc(memory->at, bytes);
	if (!at)
		return NULL;
	memory->at = at;
	memory->bytes = bytes;
	return at;
}

/* What does not depend on the pair of types. False: no memory. */
static bool set_up(struct auc_policy_ctx *ctx)
{
	const struct auc_market *m = ctx->m;

	ctx->best.found = false;
	ctx->steps = 2 * (uint64_t)m->nservers;
	ctx->upper = -INFINITY;
	ctx->ready = auc_oasis_memory(ctx, READY, m->nservers, sizeof(*ctx->ready));
	ctx->layout.shares =
		auc_oasis_memory(ctx, LAYOUT, m->nservers, sizeof(*ctx->layout.shares));
	ctx->before.shares =
		auc_oasis_memory(ctx, BEFORE, m->nservers, sizeof(*ctx->before.shares));
	if (!ctx->ready || !ctx->layout.shares || !ctx->before.shares)
		return false;
	ctx->start0 = auc_policy_ready(m, ctx->job, ctx->ready);
	return true;
}

static enum auc_code try_pair(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps,
			      struct auc_decision *decision, struct auc_err *err)
{
	struct oasis_schedule s = {.found = false};
	bool possible = false, all = !ctx->bounds;
	enum auc_code rc = AUC_OK;
	double upper;

	if (!set_up_pair(ctx, worker, ps, &possible))
		return no_memory(ctx, err);
	if (!possible)
		return AUC_OK;
	upper = quick_upper(ctx);
	/* What it takes to look at it at all is too much by now. */
	if (ctx->steps >= ctx->limit && ctx->best.found) {
		ctx->upper = fmax(ctx->upper, upper);
		return AUC_OK;
	}
	if (!make_room(ctx) || !(all ? search_all : auc_oasis_search)(ctx, &s))
		return no_memory(ctx, err);
	if (auc_oasis_is_better(&s, &ctx->best))
		rc = make_plan(ctx, &s, &decision->plan, err);
	if (rc != AUC_OK || !ctx->cut)
		return rc;
	if (!all && ctx->steps / 2 < ctx->limit && !auc_oasis_upper(ctx, &upper))
		return no_memory(ctx, err);
	ctx->upper = fmax(ctx->upper, upper);
	return AUC_OK;
}

/* No schedule of the pair has a higher payoff: it is done as soon as if all options were possible,
 * at the lowest price of a worker. */
static double quick_upper(struct auc_policy_ctx *ctx)
{
	const struct auc_type_cache *c = &ctx->m->cache[ctx->pair.worker];
	unsigned slot, least = (ctx->pair.units + ctx->pair.options - 1) / ctx->pair.options;
	bool printed = ctx->size != size_exact;
	int64_t work = printed ? ctx->pair.units
			       : auc_job_worker_slots(ctx->m, ctx->job, ctx->pair.worker);
	double price = INFINITY;

	for (slot = ctx->start0; slot < ctx->m->slots; slot++)
		price = fmin(price, auc_type_least(c, slot));
	ctx->steps += ctx->m->slots - ctx->start0;
	if (printed) /* a unit may be less than a worker */
		price = 0;
	return auc_oasis_value_at(ctx, ctx->start0 + least) - price * (double)work;
}

/* The units of work and the options of a slot; *POSSIBLE: there may be schedules. */
static bool set_up_pair(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps, bool *possible)
{
	const struct auc_market *m = ctx->m;
	const struct auc_job *job = ctx->job;
	struct oasis_pair *pair = &ctx->pair;
	const struct auc_bundle *w = &m->types[worker], *p = &m->types[auc_ps_index(m, ps)];
	int64_t most = m->cache[worker].total0;
	unsigned d, k;
	double unit;

	if ((uint64_t)most > job->chunks)
		most = (int64_t)job->chunks;
	pair->worker = worker;
	pair->ps = ps;
	if (!most || auc_job_ps(m, worker, ps, 1) > 1 || !ctx->size(ctx, most, &unit))
		return true;
	*possible = true;
	pair->workers = auc_oasis_memory(ctx, WORKERS, pair->options + 1, sizeof(*pair->workers));
	pair->pss = auc_oasis_memory(ctx, PSS, pair->options + 1, sizeof(*pair->pss));
	if (!pair->workers || !pair->pss)
		return false;
	pair->workers[0] = pair->pss[0] = 0;
	for (d = 1; d <= pair->options; d++) {
		pair->workers[d] = auc_ceil(d * unit);
		if (!pair->workers[d])
			pair->workers[d] = 1;
		pair->pss[d] = auc_job_ps(m, worker, ps, pair->workers[d]);
	}
	pair->shared = false;
	for (k = 0; k < m->ntres; k++)
		pair->shared = pair->shared || (w->units[k] && p->units[k]);
	return true;
}

/* Worker-slots, or as many of them at a time as the tables ask for. */
static bool size_exact(struct auc_policy_ctx *ctx, int64_t most, double *unit)
{
	int64_t all = auc_job_worker_slots(ctx->m, ctx->job, ctx->pair.worker);
	int64_t slots = (int64_t)ctx->m->slots - ctx->start0, each;

	if (all / most > slots)
		return false;
	most = most < all ? most : all;
	if (ctx->bounds)
		each = most / (OPTION_CELLS / (slots + 1)) + 1;
	else
		each = all / (OASIS_TABLE_CELLS / (slots + 1)) + 1;
	each = each < most ? each : most;
	ctx->pair.units = (unsigned)((all + each - 1) / each);
	ctx->pair.options = (unsigned)(most / each);
	*unit = (double)each;
	return true;
}

/* The tables of the pair, by slot index from the first one usable on. False: no memory. */
static bool make_room(struct auc_policy_ctx *ctx)
{
	const struct oasis_pair *pair = &ctx->pair;
	size_t slots = ctx->m->slots, used = slots - ctx->start0 + 1;
	unsigned t;

	ctx->costs = auc_oasis_memory(ctx, COSTS, slots, sizeof(*ctx->costs));
	ctx->most = auc_oasis_memory(ctx, MOST, slots, sizeof(*ctx->most));
	ctx->path = auc_oasis_memory(ctx, PATH, slots, sizeof(*ctx->path));
	ctx->same = auc_oasis_memory(ctx, SAME, slots, sizeof(*ctx->same));
	ctx->stale = auc_oasis_memory(ctx, STALE, slots, sizeof(*ctx->stale));
	ctx->cost = auc_oasis_memory(ctx, COST, used * (pair->options + 1), sizeof(*ctx->cost));
	ctx->low = auc_oasis_memory(ctx, LOW, used * (pair->options + 1), sizeof(*ctx->low));
	ctx->how = auc_oasis_memory(ctx, HOW, used * (pair->options + 1), sizeof(*ctx->how));
	if (!ctx->costs || !ctx->most || !ctx->path || !ctx->same || !ctx->stale || !ctx->cost ||
	    !ctx->low || !ctx->how)
		return false;
	for (t = 0; t < slots; t++)
		ctx->costs[t] = OASIS_NONE;
	return true;
}

static double *done_before(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->done + (size_t)(slot - ctx->start0) * ((size_t)ctx->pair.units + 1);
}

/*
 * The best schedule of the pair; its options by slot are in ctx->path. Where the costs of a slot
 * are lower bounds, what is found may be too good: the slots that it uses are then looked at
 * exactly, and it is searched again, until all that it uses are exact. False: no memory.
 */
static bool search_all(struct auc_policy_ctx *ctx, struct oasis_schedule *best)
{
	size_t slots = ctx->m->slots - ctx->start0 + 1;
	uint64_t steps = (uint64_t)slots * ctx->pair.units * ctx->pair.options;
	bool changed;

	/* There is no half of it. */
	ctx->cut = steps > ctx->limit - ctx->steps;
	if (ctx->cut)
		return true;
	ctx->steps += steps;
	ctx->reached = auc_oasis_memory(ctx, REACHED, ctx->m->slots + 1, sizeof(*ctx->reached));
	ctx->done = auc_oasis_memory(ctx, DONE, slots * ((size_t)ctx->pair.units + 1),
				     sizeof(*ctx->done));
	if (!ctx->reached || !ctx->done)
		return false;
	do {
		changed = false;
		if (!forward(ctx, best))
			return false;
		if (!best->found)
			break;
		trace(ctx, best);
		if (!auc_oasis_make_exact(ctx, ctx->path, best->completion, &changed))
			return false;
	} while (changed);
	return true;
}

static bool forward(struct auc_policy_ctx *ctx, struct oasis_schedule *best)
{
	unsigned units = ctx->pair.units, slot;
	struct oasis_schedule s = {.found = true};

	best->found = false;
	done_before(ctx, ctx->start0)[0] = 0;
	ctx->reached[ctx->start0] = 0;
	for (slot = ctx->start0; slot < ctx->m->slots; slot++) {
		if (!auc_oasis_price_slot(ctx, slot))
			return false;
		add_slot(ctx, slot);
		if (ctx->reached[slot + 1] < units)
			continue;
		s.completion = slot + 1;
		s.value = auc_oasis_value_at(ctx, s.completion);
		s.cost = done_before(ctx, s.completion)[units];
		if (s.cost < INFINITY && auc_oasis_is_better(&s, best))
			*best = s;
	}
	return true;
}

double auc_oasis_value_at(const struct auc_policy_ctx *ctx, unsigned completion)
{
	return auc_utility_value(&ctx->job->utility,
				 (double)(ctx->m->first + completion - ctx->job->arrival));
}

bool auc_oasis_price_slot(struct auc_policy_ctx *ctx, unsigned slot)
{
	size_t options = ctx->pair.options + 1;
	double *cost = auc_oasis_cost_of(ctx, slot);

	if (ctx->costs[slot] != OASIS_NONE)
		return true;
	ctx->costs[slot] = auc_oasis_slot_bound(ctx, slot, cost, &ctx->most[slot]);
	ctx->same[slot] = slot;
	ctx->stale[slot] = 0;
	memcpy(auc_oasis_low_of(ctx, slot), cost, options * sizeof(*cost));
	memset(auc_oasis_how_of(ctx, slot), OASIS_NOT_YET, options);
	return ctx->costs[slot] != OASIS_NONE;
}

/* done[] after a slot, from done[] before it. */
static void add_slot(struct auc_policy_ctx *ctx, unsigned slot)
{
	const double *before = done_before(ctx, slot), *cost = auc_oasis_cost_of(ctx, slot);
	double *after = done_before(ctx, slot + 1);
	unsigned units = ctx->pair.units, reached = ctx->reached[slot], most = ctx->most[slot];
	unsigned d, w, last;

	last = most < units - reached ? reached + most : units;
	ctx->reached[slot + 1] = last;
	memcpy(after, before, ((size_t)reached + 1) * sizeof(*after));
	for (w = reached + 1; w <= last; w++)
		after[w] = INFINITY;
	for (d = 1; d <= most && d <= units; d++) {
		last = reached < units - d ? reached : units - d;
		auc_oasis_lower(after + d, before, cost[d], (size_t)last + 1);
	}
}

VECTORIZED void auc_oasis_lower(double *restrict to, const double *restrict from, double add,
				size_t n)
{
	double sum;
	size_t i;

	for (i = 0; i < n; i++) {
		sum = from[i] + add;
		to[i] = sum < to[i] ? sum : to[i];
	}
}

/*
 * The options that lead to BEST, from its completion back: in each slot the least work that leaves
 * no more to pay for what was done before, so that work is done early.
 */
static void trace(struct auc_policy_ctx *ctx, const struct oasis_schedule *best)
{
	double margin = OASIS_TIE * (best->value + best->cost), have;
	unsigned left = ctx->pair.units, slot, d;
	const double *before, *cost;

	for (slot = best->completion; slot-- > ctx->start0;) {
		before = done_before(ctx, slot);
		cost = auc_oasis_cost_of(ctx, slot);
		have = done_before(ctx, slot + 1)[left] + margin;
		d = left > ctx->reached[slot] ? left - ctx->reached[slot] : 0;
		while (before[left - d] + cost[d] > have)
			d++;
		ctx->path[slot] = d;
		left -= d;
	}
}

bool auc_oasis_make_exact(struct auc_policy_ctx *ctx, const unsigned *path, unsigned end,
			  bool *changed)
{
	double *cost, bound;
	unsigned slot, d;

	for (slot = ctx->start0; slot < end; slot++) {
		d = path[slot];
		if (!d || ctx->costs[slot] != OASIS_BOUND || auc_oasis_how_of(ctx, slot)[d])
			continue;
		cost = &auc_oasis_cost_of(ctx, slot)[d];
		bound = *cost;
		if (!find_out(ctx, ctx->same[slot], d))
			return false;
		copy_option(ctx, ctx->same[slot], slot, d);
		*changed = *changed || *cost > bound * (1 + OASIS_TIE);
	}
	return true;
}

/* What option D of a slot costs, which is not the same as the slot before it. False: no memory. */
static bool find_out(struct auc_policy_ctx *ctx, unsigned slot, unsigned d)
{
	double *cost = &auc_oasis_cost_of(ctx, slot)[d], *low = &auc_oasis_low_of(ctx, slot)[d],
	       more;

	if (auc_oasis_how_of(ctx, slot)[d])
		return true;
	if (!auc_oasis_slot_option(ctx, slot, d, &more))
		return false;
	*low = auc_oasis_how_of(ctx, slot)[d] == OASIS_EXACT ? *cost : fmax(*low, more);
	ctx->stale[slot] = 1;
	return true;
}

static void copy_option(struct auc_policy_ctx *ctx, unsigned from, unsigned to, unsigned d)
{
	auc_oasis_cost_of(ctx, to)[d] = auc_oasis_cost_of(ctx, from)[d];
	auc_oasis_low_of(ctx, to)[d] = auc_oasis_low_of(ctx, from)[d];
	auc_oasis_how_of(ctx, to)[d] = auc_oasis_how_of(ctx, from)[d];
	ctx->stale[to] = 1;
}

bool auc_oasis_is_better(const struct oasis_schedule *a, const struct oasis_schedule *b)
{
	double margin, more = a->value - a->cost - (b->value - b->cost);

	if (!a->found || !b->found)
		return a->found;
	margin = 4 * OASIS_TIE * (a->value + a->cost + b->value + b->cost);
	return fabs(more) > margin ? more > 0 : a->completion < b->completion;
}

/* Lays the path out and prices it as it will be charged. */
static enum auc_code make_plan(struct auc_policy_ctx *ctx, const struct oasis_schedule *s,
			       struct auc_plan *plan, struct auc_err *err)
{
	struct oasis_layout other;
	unsigned slot, from = 0;
	enum auc_code rc = AUC_OK;

	ctx->best = *s;
	auc_plan_reset(plan);
	plan->worker_type = ctx->pair.worker;
	plan->ps_type = ctx->pair.ps;
	plan->arrival = ctx->job->arrival;
	ctx->before.n = 0;
	for (slot = ctx->start0; slot <= s->completion && rc == AUC_OK; slot++) {
		ctx->layout.n = 0;
		if (slot < s->completion && ctx->path[slot] && !lay_out(ctx, slot))
			return no_memory(ctx, err);
		if (ctx->layout.n == ctx->before.n &&
		    !memcmp(ctx->layout.shares, ctx->before.shares,
			    ctx->layout.n * sizeof(*ctx->layout.shares)))
			continue;
		if (ctx->before.n)
			rc = add_run(ctx, plan, from, slot - 1, err);
		other = ctx->before;
		ctx->before = ctx->layout;
		ctx->layout = other;
		from = slot;
	}
	if (rc != AUC_OK)
		return rc;
	plan->start = plan->runs[0].from;
	plan->completion = plan->runs[plan->nruns - 1].to + 1;
	plan->value =
		auc_utility_value(&ctx->job->utility, (double)(plan->completion - plan->arrival));
	plan->cost = auc_plan_cost(plan, ctx->m);
	return AUC_OK;
}

/* What the path has in a slot: that of the slot before it, if both are the same. */
static bool lay_out(struct auc_policy_ctx *ctx, unsigned slot)
{
	if (slot == ctx->start0 || ctx->same[slot] == slot ||
	    ctx->path[slot] != ctx->path[slot - 1])
		return auc_oasis_slot_layout(ctx, slot, ctx->path[slot], &ctx->layout);
	memcpy(ctx->layout.shares, ctx->before.shares, ctx->before.n * sizeof(*ctx->before.shares));
	ctx->layout.n = ctx->before.n;
	return true;
}

/* A run of the layout in ctx->before. */
static enum auc_code add_run(const struct auc_policy_ctx *ctx, struct auc_plan *plan, unsigned from,
			     unsigned to, struct auc_err *err)
{
	const struct auc_share *s;
	enum auc_code rc = auc_plan_add_run(plan, ctx->m->first + from, ctx->m->first + to, err);

	for (s = ctx->before.shares; s < ctx->before.shares + ctx->before.n && rc == AUC_OK; s++)
		rc = auc_plan_add_share(plan, s->server, s->workers, s->ps, err);
	return rc;
}

static enum auc_code no_memory(const struct auc_policy_ctx *ctx, struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "no memory for a quote among %u servers",
			   ctx->m->nservers);
}
