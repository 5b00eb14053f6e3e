/*
 * eris.c - the sealed-bid policy Eris.
 *
 * J. Pang et al.: "Eris: An Online Auction for Scheduling Unbiased Distributed Learning Over Edge
 * Networks", IEEE TMC 2024: problem (7) at the prices (6), in place of Algorithms 2 and 3. The
 * chunks of a job lie at servers, which are its sites. A slot trains some of them in all epochs,
 * each where it lies or where it is moved to for that; k chunks at a site take ceil(epochs * k /
 * chunks_per_slot) workers there. A slot with workers has one PS, at one site. Moved chunks, and
 * what workers elsewhere than the PS exchange, are paid by the MB and come out of the budget of
 * the slot.
 *
 * What is left of the job after some slots is a number of chunks at every site, too many states for
 * a dynamic program. But where a moved chunk comes from matters to nobody: what counts is how many
 * are trained, and how many of those that lie at a site are trained there in all slots together.
 * So:
 * - The program runs over the number of chunks alone, with costs of a slot (eris_slot.c) as if all
 *   chunks lay there still, those at a site at a shadow price.
 * - Its path, how many chunks in which slot, is laid out slot by slot with what is really left, and
 *   what that costs is what counts. It is executed as it stands.
 * - The same is done as if nothing lay anywhere and all had to be moved: that costs too much, but
 *   what comes of it can be carried out as it is.
 * - Shadow prices rise where the path trains more than lies there, and it is done again, until the
 *   schedule costs what the program says, or enough has been tried.
 * So a schedule is always feasible and costs what it is charged, but it need not be the best one:
 * the property test and tests/bench/eris say by how much. In markets of a few servers and chunks
 * the program over all states is run as well, and the schedule is the best one. The time of a
 * decision is bounded by counting its work.
 *
 * A server is usable from arrival + Delta on, where the bid has a Delta. Jobs of very many chunks
 * are planned by lumps of them.
 *
 * Ties: the earliest completion goes first, the lowest worker type, the lowest PS type, the
 * schedule that trains early.
 *
 * Options: variant=best|paper; effort=N (1; 0 to 1000): how much is tried, in time and rounds;
 * exact=on|off (off: as if no market were small).
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "policy/eris-private.h"
#include "policy/option.h"

#define TIE        1e-12
#define ROUNDS     8
#define WORK_MOST  ((uint64_t)200000) /* steps of some 20 ns after which nothing else is tried */
#define CELLS_MOST 4000000.0          /* of the program: slots * units^2 / 2 */
#define UNITS_MOST 400
#define FEW        64 /* units for which the middle way of shunning traffic is tried */

/* gcc does not do it at -O2; the sums and comparisons are the same ones. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZED __attribute__((optimize("O3")))
#else
#define VECTORIZED
#endif

/* Numbers of memory. */
enum {
	READY = ERIS_OWN,
	CHUNKS,
	NEED,
	REACH,
	LOCAL,
	SHADOW,
	STAMP,
	COST,
	DONE,
	CHOICE,
	PATH,
	LEFT,
	OVER,
	NOWHERE,
	LIE,
	SLICES,
	BEST,
	ORDER,
	ONE_COST,
	ONE_CHOICE,
	MEMORIES_END
};
_Static_assert(MEMORIES_END <= ERIS_MEMORIES, "numbers of memory");

/* What the program found. */
struct route {
	bool found;
	unsigned completion; /* slot index */
	double value, cost;
};

static enum auc_code eris_create(const char *options, struct auc_policy_ctx **ctx,
				 struct auc_err *err);
static void eris_destroy(struct auc_policy_ctx *ctx);
static enum auc_code eris_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err);
static int64_t eris_least_slots(const struct auc_market *m, const struct auc_job *job,
				unsigned worker, unsigned ps, int64_t n);
static enum auc_code check_job(const struct auc_market *m, const struct auc_job *job,
			       struct auc_err *err);
static bool set_up(struct auc_policy_ctx *ctx);
static void set_types(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps);
static bool set_up_pair(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps, bool *possible);
static bool search(struct auc_policy_ctx *ctx);
static bool try_route(struct auc_policy_ctx *ctx, const unsigned *local, double sum,
		      struct route *route);
static bool forward(struct auc_policy_ctx *ctx, const unsigned *local, double sum,
		    struct route *route);
static unsigned pays(const struct auc_policy_ctx *ctx, unsigned slot, double limit);
static bool price_slot(struct auc_policy_ctx *ctx, unsigned slot, const unsigned *local,
		       const double *shadow, unsigned most, double *cost,
		       struct eris_choice *choice);
static void add_slot(struct auc_policy_ctx *ctx, unsigned slot);
static void relax(double *restrict to, const double *restrict from, double add, size_t n);
static void trace(struct auc_policy_ctx *ctx, const struct route *route);
static bool carry_out(struct auc_policy_ctx *ctx, bool *done);
static bool run_ahead(struct auc_policy_ctx *ctx);
static bool lay_out(struct auc_policy_ctx *ctx, unsigned slot, unsigned most, unsigned d,
		    const struct eris_choice *choice, double cost);
static bool shadow_prices(struct auc_policy_ctx *ctx, const struct route *route, double scale,
			  double *sum);
static bool settle(struct auc_policy_ctx *ctx);
static bool allot(struct auc_policy_ctx *ctx, const unsigned *order, unsigned n);
static enum auc_code make_plan(struct auc_policy_ctx *ctx, struct auc_plan *plan,
			       struct auc_err *err);
static enum auc_code add_moves(struct auc_policy_ctx *ctx, struct auc_plan *plan,
			       struct auc_err *err);
static enum auc_code no_memory(const struct auc_policy_ctx *ctx, struct auc_err *err);

const struct auc_policy auc_policy_eris = {
	.name = "eris",
	.summary = "sealed bids; data at sites, a priced budget of traffic (Eris, TMC'24)",
	.prices = AUC_PRICE_ETA,
	.sites = true,
	.create = eris_create,
	.destroy = eris_destroy,
	.quote = eris_quote,
	.least_slots = eris_least_slots,
};

struct options {
	unsigned variant, exact;
	uint64_t effort;
};

static enum auc_code eris_create(const char *options, struct auc_policy_ctx **ctx,
				 struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "variant",
		 .choices = "best|paper",
		 .offset = offsetof(struct options, variant)},
		{.key = "effort",
		 .type = AUC_OPTION_COUNT,
		 .max = 1000,
		 .offset = offsetof(struct options, effort)},
		{.key = "exact", .choices = "on|off", .offset = offsetof(struct options, exact)},
	};
	struct options o = {.effort = 1};
	enum auc_code rc = auc_options_read("eris", options, list, 3, &o, err);

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	*ctx = calloc(1, sizeof(**ctx));
	if (!*ctx)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy eris");
	(*ctx)->paper = o.variant == 1;
	(*ctx)->heuristic = o.exact == 1;
	(*ctx)->effort = (unsigned)o.effort;
	return AUC_OK;
}

static void eris_destroy(struct auc_policy_ctx *ctx)
{
	unsigned i;

	if (!ctx)
		return;
	for (i = 0; i < ERIS_MEMORIES; i++)
		free(ctx->memory[i].at);
	free(ctx);
}

static enum auc_code eris_quote(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_job *job, struct auc_decision *decision,
				struct auc_err *err)
{
	enum auc_code rc;
	bool possible;
	unsigned w, p;

	auc_decision_reset(decision);
	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	rc = check_job(m, job, err);
	if (rc != AUC_OK)
		return rc;
	ctx->m = m;
	ctx->job = job;
	if (!set_up(ctx))
		return no_memory(ctx, err);
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++) {
			if (job->worker_seconds[w] < 0 || job->ps_seconds[p] < 0)
				continue;
			if (!set_up_pair(ctx, w, p, &possible) ||
			    (possible && !(ctx->paper ? auc_eris_paper : search)(ctx)))
				return no_memory(ctx, err);
		}
	if (!ctx->found)
		return AUC_OK;
	rc = make_plan(ctx, &decision->plan, err);
	if (rc != AUC_OK)
		return rc;
	decision->best_payoff = decision->plan.value - decision->plan.cost;
	decision->accepted = decision->best_payoff > 0;
	decision->reason = decision->accepted ? AUC_REASON_NONE : AUC_REASON_PAYOFF;
	return AUC_OK;
}

/* N workers pass through N * P chunks at most. */
static int64_t eris_least_slots(const struct auc_market *m, const struct auc_job *job,
				unsigned worker, unsigned ps, int64_t n)
{
	double each = auc_job_chunks_per_slot(m, job, worker, ps);

	return auc_job_duration((double)job->epochs * (double)job->chunks / each, n);
}

static enum auc_code check_job(const struct auc_market *m, const struct auc_job *job,
			       struct auc_err *err)
{
	uint64_t sum = 0;
	unsigned i, w, p;

	if (!job->ndata)
		return auc_err_set(err, AUC_EINVAL,
				   "policy eris: expected a job that says where its chunks lie");
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++)
			if (job->worker_seconds[w] >= 0 && job->ps_seconds[p] >= 0 &&
			    !auc_transfer_counts(job, auc_job_chunks_per_slot(m, job, w, p),
						 auc_job_exchange_mb(m, job, w, p)))
				return auc_err_set(err, AUC_EINVAL,
						   "policy eris: expected a job that sends 1e12 MB "
						   "at most");
	for (i = 0; i < job->ndata; i++) {
		if (job->data[i].server >= m->nservers || job->data[i].chunks > job->chunks ||
		    (i && job->data[i].server <= job->data[i - 1].server))
			return auc_err_set(err, AUC_EINVAL,
					   "chunks of the job: expected servers of the market in "
					   "order, with no more than all chunks");
		sum += job->data[i].chunks;
	}
	if (sum != job->chunks)
		return auc_err_set(err, AUC_EINVAL,
				   "chunks of the job: expected %llu in all, found %llu",
				   (unsigned long long)job->chunks, (unsigned long long)sum);
	return AUC_OK;
}

void *auc_eris_memory(struct auc_policy_ctx *ctx, unsigned i, size_t n, size_t size)
{
	struct eris_memory *memory = &ctx->memory[i];

	if (n * size <= memory->bytes)
		return memory->at;
	free(memory->at);
	memory->bytes = n * size + n * size / 4 + 64;
	memory->at = calloc(1, memory->bytes);
	if (!memory->at)
		memory->bytes = 0;
	return memory->at;
}

/* What does not depend on the pair of types. False: no memory. */
static bool set_up(struct auc_policy_ctx *ctx)
{
	const struct auc_market *m = ctx->m;
	const struct auc_job *job = ctx->job;
	auc_slot late = auc_market_last(m) + 1, t;
	size_t n = (size_t)m->nservers + 1;
	unsigned s, i;

	ctx->found = false;
	ctx->work = 0;
	t = job->arrival > m->first ? job->arrival : m->first;
	ctx->start0 = t < late ? (unsigned)(t - m->first) : m->slots;
	ctx->ready = auc_eris_memory(ctx, READY, n, sizeof(*ctx->ready));
	ctx->chunks = auc_eris_memory(ctx, CHUNKS, n, sizeof(*ctx->chunks));
	ctx->local = auc_eris_memory(ctx, LOCAL, n, sizeof(*ctx->local));
	ctx->shadow = auc_eris_memory(ctx, SHADOW, n, sizeof(*ctx->shadow));
	ctx->stamp = auc_eris_memory(ctx, STAMP, n, sizeof(*ctx->stamp));
	ctx->left = auc_eris_memory(ctx, LEFT, n, sizeof(*ctx->left));
	ctx->over = auc_eris_memory(ctx, OVER, n, sizeof(*ctx->over));
	ctx->nowhere = auc_eris_memory(ctx, NOWHERE, n, sizeof(*ctx->nowhere));
	ctx->lie = auc_eris_memory(ctx, LIE, n, sizeof(*ctx->lie));
	if (!ctx->ready || !ctx->chunks || !ctx->local || !ctx->shadow || !ctx->stamp ||
	    !ctx->left || !ctx->over || !ctx->lie || !ctx->nowhere)
		return false;
	memset(ctx->chunks, 0, n * sizeof(*ctx->chunks));
	for (i = 0; i < job->ndata; i++)
		ctx->chunks[job->data[i].server] = job->data[i].chunks;
	for (s = 0; s < m->nservers; s++) {
		t = job->arrival < late ? job->arrival + (auc_slot)job->upload[s] : late;
		t = t < m->first ? m->first : t;
		ctx->ready[s] = t < late ? (uint32_t)(t - m->first) : m->slots;
	}
	return true;
}

/* Units and tables; *POSSIBLE: there may be schedules. */
static bool set_up_pair(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps, bool *possible)
{
	const struct auc_market *m = ctx->m;
	const struct auc_job *job = ctx->job;
	size_t slots = m->slots - ctx->start0;
	double each, most;
	unsigned k, s;

	set_types(ctx, worker, ps);
	each = (double)job->epochs / ctx->chunks_per_slot;
	*possible = slots && m->cache[worker].max0 && m->cache[auc_ps_index(m, ps)].max0;
	if (!*possible)
		return true;
	most = fmax(1, fmin(UNITS_MOST, floor(sqrt(2 * CELLS_MOST / (double)slots))));
	ctx->lump = (uint64_t)ceil((double)job->chunks / most);
	ctx->units = (unsigned)((job->chunks + ctx->lump - 1) / ctx->lump);
	ctx->move_bytes = auc_transfer_bytes(job->chunk_mb) * (int64_t)ctx->lump;
	ctx->exchange_bytes = auc_transfer_bytes(ctx->exchange_mb);
	ctx->need = auc_eris_memory(ctx, NEED, (size_t)ctx->units + 1, sizeof(*ctx->need));
	ctx->reach = auc_eris_memory(ctx, REACH, (size_t)ctx->units + 2, sizeof(*ctx->reach));
	ctx->cost = auc_eris_memory(ctx, COST, slots * (ctx->units + 1), sizeof(*ctx->cost));
	ctx->choice = auc_eris_memory(ctx, CHOICE, slots * (ctx->units + 1), sizeof(*ctx->choice));
	ctx->done = auc_eris_memory(ctx, DONE, (slots + 1) * (ctx->units + 1), sizeof(*ctx->done));
	ctx->path = auc_eris_memory(ctx, PATH, m->slots, sizeof(*ctx->path));
	if (!ctx->need || !ctx->reach || !ctx->cost || !ctx->choice || !ctx->done || !ctx->path)
		return false;
	for (k = 0; k <= ctx->units; k++)
		ctx->need[k] = (uint64_t)auc_ceil(each * (double)k * (double)ctx->lump);
	for (k = ctx->units; k > 0; k--)
		ctx->reach[k] =
			k < ctx->units && ctx->need[k + 1] == ctx->need[k] ? ctx->reach[k + 1] : k;
	for (s = 0; s < m->nservers; s++)
		ctx->local[s] = (unsigned)(ctx->chunks[s] / ctx->lump);
	return true;
}

static void set_types(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps)
{
	ctx->worker = worker;
	ctx->ps = ps;
	ctx->chunks_per_slot = auc_job_chunks_per_slot(ctx->m, ctx->job, worker, ps);
	ctx->exchange_mb = auc_job_exchange_mb(ctx->m, ctx->job, worker, ps);
}

double auc_eris_value(const struct auc_policy_ctx *ctx, unsigned completion)
{
	return auc_utility_value(&ctx->job->utility,
				 (double)(ctx->m->first + completion - ctx->job->arrival));
}

/* Finds a route, carries it out and keeps what comes of it. False: no memory. */
static bool try_route(struct auc_policy_ctx *ctx, const unsigned *local, double sum,
		      struct route *route)
{
	bool done;

	if (!forward(ctx, local, sum, route))
		return false;
	if (!route->found)
		return true;
	trace(ctx, route);
	return carry_out(ctx, &done) && (!done || auc_eris_keep(ctx));
}

/*
 * The best schedule of the pair that is found: as if all chunks lay where they lie in every slot,
 * which costs too little; as if all had to be moved, which costs too much, but whose schedules can
 * be carried out as they are; and with shadow prices, while there is time. The first one comes
 * before the second, as it looks at the slots until it has found something, and what came of it
 * ends the other early. False: no memory.
 */
static bool search(struct auc_policy_ctx *ctx)
{
	uint64_t limit = ctx->effort * WORK_MOST, before, pass;
	struct route route, moved;
	double sum = 0;
	unsigned round;

	memset(ctx->shadow, 0, ctx->m->nservers * sizeof(*ctx->shadow));
	memset(ctx->nowhere, 0, ctx->m->nservers * sizeof(*ctx->nowhere));
	for (round = 0; round <= ROUNDS * ctx->effort; round++) {
		before = ctx->work;
		if (!try_route(ctx, ctx->local, sum, &route))
			return false;
		pass = ctx->work - before;
		if (route.found && ctx->found &&
		    route.value - route.cost + sum <=
			    ctx->best_payoff + TIE * (route.value + route.cost))
			break;
		if ((route.found && !shadow_prices(ctx, &route, 1.0 / (1 + round / 2), &sum)) ||
		    (!round && !try_route(ctx, ctx->nowhere, 0, &moved)))
			return false;
		if (!route.found || sum == 0 || ctx->work + pass > limit)
			break;
	}
	return run_ahead(ctx) && (ctx->heuristic || auc_eris_exact(ctx));
}

static double *cost_of(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->cost + (size_t)(slot - ctx->start0) * (ctx->units + 1);
}

static struct eris_choice *choice_of(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->choice + (size_t)(slot - ctx->start0) * (ctx->units + 1);
}

static double *done_before(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->done + (size_t)(slot - ctx->start0) * (ctx->units + 1);
}

/* The least cost of all chunks by completion, and the best completion. LOCAL units lie at each
 * server; SUM: what they are worth at shadow prices. */
static bool forward(struct auc_policy_ctx *ctx, const unsigned *local, double sum,
		    struct route *route)
{
	unsigned slot, k, most;
	double value, cost, best;

	*route = (struct route){.found = false};
	done_before(ctx, ctx->start0)[0] = 0;
	for (k = 1; k <= ctx->units; k++)
		done_before(ctx, ctx->start0)[k] = INFINITY;
	for (slot = ctx->start0; slot < ctx->m->slots; slot++) {
		value = auc_eris_value(ctx, slot + 1);
		best = ctx->found ? ctx->best_payoff : -INFINITY;
		if (!sum && route->found)
			best = fmax(best, route->value - route->cost);
		if (value <= best)
			break;
		most = pays(ctx, slot, value - fmax(0, best) + sum);
		if (!price_slot(ctx, slot, local, ctx->shadow, most, cost_of(ctx, slot),
				choice_of(ctx, slot)))
			return false;
		for (k = most + 1; k <= ctx->units; k++)
			cost_of(ctx, slot)[k] = INFINITY;
		add_slot(ctx, slot);
		cost = done_before(ctx, slot + 1)[ctx->units];
		if (isinf(cost))
			continue;
		if (!route->found ||
		    value - cost > route->value - route->cost + 4 * TIE * (value + cost))
			*route = (struct route){true, slot + 1, value, cost};
	}
	return true;
}

/* The units of a slot that cost less than LIMIT with the cheapest workers: nothing else pays. */
static unsigned pays(const struct auc_policy_ctx *ctx, unsigned slot, double limit)
{
	const struct auc_market *m = ctx->m;
	const struct auc_type_cache *w = &m->cache[ctx->worker];
	size_t cell = auc_cell(m, slot, 0);
	double price = w->price[cell + w->order[cell]];
	unsigned most = ctx->units;

	if (isinf(price) ||
	    isinf(m->cache[auc_ps_index(m, ctx->ps)]
			  .price[cell + m->cache[auc_ps_index(m, ctx->ps)].order[cell]]))
		return 0;
	while (most && price * (double)ctx->need[most] >= limit)
		most--;
	return most;
}

/* COST and CHOICE of 0 to MOST units in a slot. */
static bool price_slot(struct auc_policy_ctx *ctx, unsigned slot, const unsigned *local,
		       const double *shadow, unsigned most, double *cost,
		       struct eris_choice *choice)
{
	unsigned variant, k;

	cost[0] = 0;
	for (k = 1; k <= most; k++)
		cost[k] = INFINITY;
	for (variant = 0; variant < ERIS_VARIANTS && most; variant++) {
		if (!auc_eris_open(ctx, slot, local, shadow, most, variant))
			return false;
		auc_eris_price(ctx, variant, cost, choice);
		ctx->tight = ctx->tight || ctx->slot.tight;
		if (!ctx->slot.tight)
			break;
		variant += most > FEW && !variant;
	}
	return true;
}

/* done[] behind a slot, from done[] before it. */
static void add_slot(struct auc_policy_ctx *ctx, unsigned slot)
{
	const double *before = done_before(ctx, slot), *cost = cost_of(ctx, slot);
	double *after = done_before(ctx, slot + 1);
	unsigned d;

	memcpy(after, before, ((size_t)ctx->units + 1) * sizeof(*after));
	for (d = 1; d <= ctx->units; d++)
		if (!isinf(cost[d]))
			relax(after + d, before, cost[d], ctx->units - d + 1);
	ctx->work += (uint64_t)ctx->units * ctx->units / 8;
}

VECTORIZED static void relax(double *restrict to, const double *restrict from, double add, size_t n)
{
	double sum;
	size_t i;

	for (i = 0; i < n; i++) {
		sum = from[i] + add;
		to[i] = sum < to[i] ? sum : to[i];
	}
}

/* Units by slot: in each one the fewest that leave no more to pay, so that work is done early. */
static void trace(struct auc_policy_ctx *ctx, const struct route *route)
{
	double margin = TIE * (route->value + route->cost), have;
	unsigned left = ctx->units, slot, d;
	const double *before, *cost;

	for (slot = route->completion; slot < ctx->m->slots; slot++)
		ctx->path[slot] = 0;
	for (slot = route->completion; slot-- > ctx->start0;) {
		before = done_before(ctx, slot);
		cost = cost_of(ctx, slot);
		have = done_before(ctx, slot + 1)[left] + margin;
		for (d = 0; before[left - d] + cost[d] > have; d++)
			;
		ctx->path[slot] = d;
		left -= d;
	}
}

bool auc_eris_start_slices(struct auc_policy_ctx *ctx)
{
	size_t n = (size_t)ctx->units + ctx->m->slots + 1;

	ctx->slices_most = (unsigned)n;
	ctx->slices = auc_eris_memory(ctx, SLICES, n, sizeof(*ctx->slices));
	ctx->nslices = 0;
	memcpy(ctx->left, ctx->local, ctx->m->nservers * sizeof(*ctx->left));
	return ctx->slices != NULL;
}

/*
 * Lays the path out with what is left in each slot; what turns out not to fit is done as early as
 * it does behind that slot. *DONE: it is possible. False: no memory.
 */
static bool carry_out(struct auc_policy_ctx *ctx, bool *done)
{
	/* The tables of slots up to the last one are not needed any more, but for their choices. */
	struct eris_choice *choice =
		auc_eris_memory(ctx, ONE_CHOICE, (size_t)ctx->units + 1, sizeof(*choice));
	double *cost = auc_eris_memory(ctx, ONE_COST, (size_t)ctx->units + 1, sizeof(*cost));
	unsigned slot, d, most, over = 0, todo = ctx->units;

	if (!choice || !cost || !auc_eris_start_slices(ctx))
		return false;
	for (slot = ctx->start0; slot < ctx->m->slots && todo; slot++) {
		most = ctx->path[slot] + over;
		if (!most)
			continue;
		if (!price_slot(ctx, slot, ctx->left, NULL, most, cost, choice))
			return false;
		for (d = most; d && isinf(cost[d]); d--)
			;
		if (d && !lay_out(ctx, slot, most, d, &choice[d], cost[d]))
			return false;
		over = most - d;
		todo -= d;
	}
	*done = !todo;
	return true;
}

/* Where no path can be carried out: in every slot as many as can be. False: no memory. */
static bool run_ahead(struct auc_policy_ctx *ctx)
{
	bool done;

	memset(ctx->path, 0, ctx->m->slots * sizeof(*ctx->path));
	if (ctx->start0 < ctx->m->slots)
		ctx->path[ctx->start0] = ctx->units;
	return carry_out(ctx, &done) && (!done || auc_eris_keep(ctx));
}

/* Adds the slices of D units in a slot, priced for up to MOST. False: no memory. */
static bool lay_out(struct auc_policy_ctx *ctx, unsigned slot, unsigned most, unsigned d,
		    const struct eris_choice *choice, double cost)
{
	struct eris_slot *s = &ctx->slot;
	struct eris_site *site;
	unsigned local;
	bool ps;

	if (!auc_eris_open(ctx, slot, ctx->left, NULL, most, choice->variant) ||
	    !auc_eris_lay_out(ctx, choice->ps, d, cost))
		return false;
	for (site = s->sites; site < s->sites + s->nsites; site++) {
		ps = site->server == choice->ps;
		if (!site->taken && !ps)
			continue;
		local = site->taken < site->local ? site->taken : site->local;
		ctx->left[site->server] -= local;
		ctx->slices[ctx->nslices++] =
			(struct eris_slice){slot, site->server, site->taken, local, ps, 0};
	}
	return true;
}

/*
 * Raises or lowers the shadow prices by what the route uses of the chunks at a site; *SUM: what all
 * of them are worth. False: no memory.
 */
static bool shadow_prices(struct auc_policy_ctx *ctx, const struct route *route, double scale,
			  double *sum)
{
	const struct auc_job *job = ctx->job;
	double unit = route->cost / ctx->units, step, most = 0;
	const struct eris_choice *choice;
	const struct eris_site *site;
	unsigned slot, d, s, i;

	memset(ctx->over, 0, ctx->m->nservers * sizeof(*ctx->over));
	for (slot = ctx->start0; slot < route->completion; slot++) {
		d = ctx->path[slot];
		if (!d)
			continue;
		choice = &choice_of(ctx, slot)[d];
		if (!auc_eris_open(ctx, slot, ctx->local, ctx->shadow, ctx->units,
				   choice->variant) ||
		    !auc_eris_lay_out(ctx, choice->ps, d, cost_of(ctx, slot)[d]))
			return false;
		for (site = ctx->slot.sites; site < ctx->slot.sites + ctx->slot.nsites; site++)
			ctx->over[site->server] +=
				site->taken < site->local ? site->taken : site->local;
		most = fmax(most, ctx->m->transfer.price[slot]);
	}
	/* A chunk that lies there is worth a move, but no more than its part of the job; more,
	 * where moves do not fit. */
	step = fmin(most * 1e-6 * (double)ctx->move_bytes, route->value / ctx->units) +
	       (ctx->found ? 0 : unit);
	*sum = 0;
	for (i = 0; i < job->ndata; i++) {
		s = job->data[i].server;
		if (!ctx->local[s])
			continue;
		ctx->shadow[s] +=
			scale * step * ((double)ctx->over[s] - ctx->local[s]) / ctx->local[s];
		ctx->shadow[s] = fmax(0, ctx->shadow[s]);
		*sum += ctx->shadow[s] * ctx->local[s];
	}
	return true;
}

/* -- schedules in chunks -- */

static uint64_t workers_of(const struct auc_policy_ctx *ctx, uint64_t chunks)
{
	return (uint64_t)auc_ceil((double)ctx->job->epochs / ctx->chunks_per_slot * (double)chunks);
}

double auc_eris_cost(const struct auc_policy_ctx *ctx, const struct eris_slice *slices, unsigned n)
{
	const struct auc_market *m = ctx->m;
	const struct eris_slice *e;
	double cost = 0, mb, workers;
	size_t cell;

	for (e = slices; e < slices + n; e++) {
		cell = auc_cell(m, e->slot, e->site);
		workers = (double)workers_of(ctx, e->chunks);
		if (e->chunks)
			cost += workers * m->cache[ctx->worker].price[cell];
		if (e->ps)
			cost += m->cache[auc_ps_index(m, ctx->ps)].price[cell];
		mb = (e->ps ? 0 : workers) * ctx->exchange_mb +
		     (double)(e->chunks - e->local) * ctx->job->chunk_mb;
		cost += mb * m->transfer.price[e->slot];
	}
	return cost;
}

static int by_place(const void *a, const void *b)
{
	const struct eris_slice *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

bool auc_eris_keep(struct auc_policy_ctx *ctx)
{
	unsigned completion;
	double value, cost;

	qsort(ctx->slices, ctx->nslices, sizeof(*ctx->slices), by_place);
	if (!settle(ctx))
		return true;
	completion = ctx->slices[ctx->nslices - 1].slot + 1;
	value = auc_eris_value(ctx, completion);
	cost = auc_eris_cost(ctx, ctx->slices, ctx->nslices);
	if (ctx->found && value - cost <= ctx->best_payoff + 4 * TIE * (value + cost))
		return true;
	ctx->best = auc_eris_memory(ctx, BEST, ctx->slices_most, sizeof(*ctx->best));
	if (!ctx->best)
		return false;
	memcpy(ctx->best, ctx->slices, ctx->nslices * sizeof(*ctx->best));
	ctx->nbest = ctx->nslices;
	ctx->found = true;
	ctx->best_payoff = value - cost;
	ctx->best_completion = completion;
	ctx->best_worker = ctx->worker;
	ctx->best_ps = ctx->ps;
	return true;
}

static int by_transfer(const void *a, const void *b, void *arg)
{
	const struct auc_policy_ctx *ctx = arg;
	unsigned i = *(const unsigned *)a, j = *(const unsigned *)b;
	double x = ctx->m->transfer.price[ctx->slices[i].slot];
	double y = ctx->m->transfer.price[ctx->slices[j].slot];

	if (x != y)
		return x > y ? -1 : 1;
	return (i > j) - (i < j);
}

/*
 * Turns units into chunks, and says which of them are trained where they lie: as far as the budgets
 * allow it, in the slots in which a move costs most. Where a moved chunk comes from does not
 * matter. False: some slot would send more than its budget.
 */
static bool settle(struct auc_policy_ctx *ctx)
{
	unsigned *order = auc_eris_memory(ctx, ORDER, ctx->slices_most, sizeof(*order)), i;
	struct eris_slice *e;
	uint64_t sum = 0;

	for (i = 0; i < ctx->nslices; i++) {
		ctx->slices[i].planned = ctx->slices[i].local;
		ctx->slices[i].chunks *= (unsigned)ctx->lump;
		sum += ctx->slices[i].chunks;
	}
	for (i = ctx->nslices; sum > ctx->job->chunks; i--)
		if (ctx->slices[i - 1].chunks) {
			ctx->slices[i - 1].chunks -= (unsigned)(sum - ctx->job->chunks);
			break;
		}
	for (i = 0; i < ctx->nslices && order; i++)
		order[i] = i;
	if (order)
		qsort_r(order, ctx->nslices, sizeof(*order), by_transfer, ctx);
	if (order && allot(ctx, order, ctx->nslices))
		return true;
	for (i = 0; i < ctx->nslices; i++) {
		e = &ctx->slices[i];
		e->local = e->planned * (unsigned)ctx->lump;
		e->local = e->local < e->chunks ? e->local : e->chunks;
	}
	return allot(ctx, NULL, ctx->nslices);
}

/* Chunks that lie at a site go to its slices in ORDER; NULL: they stay as they are. False: some
 * slot would send more than its budget. */
static bool allot(struct auc_policy_ctx *ctx, const unsigned *order, unsigned n)
{
	int64_t away, moved, exchange = ctx->exchange_bytes,
			     move = auc_transfer_bytes(ctx->job->chunk_mb);
	struct eris_slice *e, *end = ctx->slices + n;
	unsigned i, slot;

	memcpy(ctx->lie, ctx->chunks, ctx->m->nservers * sizeof(*ctx->lie));
	for (i = 0; i < n && order; i++) {
		e = &ctx->slices[order[i]];
		e->local = e->chunks < ctx->lie[e->site] ? e->chunks : (unsigned)ctx->lie[e->site];
		ctx->lie[e->site] -= e->local;
	}
	for (e = ctx->slices; e < end;) {
		slot = e->slot;
		away = moved = 0;
		for (; e < end && e->slot == slot; e++) {
			away += e->ps ? 0 : (int64_t)workers_of(ctx, e->chunks);
			moved += e->chunks - e->local;
		}
		if (away * exchange + moved * move > auc_transfer_left(ctx->m, slot))
			return false;
	}
	return true;
}

static bool same_layout(const struct eris_slice *a, unsigned n, const struct eris_slice *b,
			unsigned k, const struct auc_policy_ctx *ctx)
{
	unsigned i;

	if (n != k)
		return false;
	for (i = 0; i < n; i++)
		if (a[i].site != b[i].site || a[i].ps != b[i].ps ||
		    workers_of(ctx, a[i].chunks) != workers_of(ctx, b[i].chunks))
			return false;
	return true;
}

/* The best schedule as a plan, priced as it will be charged. */
static enum auc_code make_plan(struct auc_policy_ctx *ctx, struct auc_plan *plan,
			       struct auc_err *err)
{
	const struct eris_slice *e = ctx->best, *end = e + ctx->nbest, *next, *last = NULL, *s;
	auc_slot first = ctx->m->first;
	enum auc_code rc = AUC_OK;
	unsigned before = 0;
	bool home = true;

	auc_plan_reset(plan);
	set_types(ctx, ctx->best_worker, ctx->best_ps);
	plan->worker_type = ctx->worker;
	plan->ps_type = ctx->ps;
	plan->arrival = ctx->job->arrival;
	plan->chunk_mb = ctx->job->chunk_mb;
	plan->exchange_mb = ctx->exchange_mb;
	for (; e < end && rc == AUC_OK; e = next) {
		for (next = e; next < end && next->slot == e->slot; next++)
			home = home && (next->ps || !next->chunks);
		if (last && last->slot + 1 == e->slot &&
		    same_layout(last, before, e, (unsigned)(next - e), ctx)) {
			plan->runs[plan->nruns - 1].to++;
		} else {
			rc = auc_plan_add_run(plan, first + e->slot, first + e->slot, err);
			for (s = e; s < next && rc == AUC_OK; s++)
				rc = auc_plan_add_share(plan, s->site,
							(unsigned)workers_of(ctx, s->chunks), s->ps,
							err);
		}
		last = e;
		before = (unsigned)(next - e);
	}
	if (rc == AUC_OK)
		rc = add_moves(ctx, plan, err);
	if (rc != AUC_OK)
		return rc;
	plan->colocated = home;
	plan->start = plan->runs[0].from;
	plan->completion = plan->runs[plan->nruns - 1].to + 1;
	plan->value =
		auc_utility_value(&ctx->job->utility, (double)(plan->completion - plan->arrival));
	plan->cost = auc_plan_cost(plan, ctx->m);
	return AUC_OK;
}

/* From the sites, in order, whose chunks are not all trained there. */
static enum auc_code add_moves(struct auc_policy_ctx *ctx, struct auc_plan *plan,
			       struct auc_err *err)
{
	const struct auc_data *data = ctx->job->data, *from = data;
	const struct eris_slice *e, *end = ctx->best + ctx->nbest;
	enum auc_code rc = AUC_OK;
	uint64_t left, n;

	memcpy(ctx->lie, ctx->chunks, ctx->m->nservers * sizeof(*ctx->lie));
	for (e = ctx->best; e < end; e++)
		ctx->lie[e->site] -= e->local;
	for (e = ctx->best; e < end; e++)
		for (left = e->chunks - e->local; left && rc == AUC_OK; left -= n) {
			while (!ctx->lie[from->server])
				from++;
			n = left < ctx->lie[from->server] ? left : ctx->lie[from->server];
			ctx->lie[from->server] -= n;
			rc = auc_plan_add_move(plan, ctx->m->first + e->slot, from->server, e->site,
					       (unsigned)n, err);
		}
	return rc;
}

static enum auc_code no_memory(const struct auc_policy_ctx *ctx, struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "no memory for a quote among %u servers",
			   ctx->m->nservers);
}
