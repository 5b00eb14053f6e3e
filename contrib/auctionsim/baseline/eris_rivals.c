/*
 * sites.c - the baselines of Eris (IEEE TMC 2024, section VI-B), which decide slot by slot, in its
 * model: chunks at sites, a budget of traffic, one PS in every slot with workers. The paper says of
 * each how it orders jobs, and that every job has a fixed number of workers; which, it does not
 * say, so that it is an option. The rest is settled here.
 *
 * tiresias  In every slot the jobs with the least workers * work left first; it preempts.
 * antman    Jobs with a guarantee in the order of arrival, with all their workers; then the others,
 *           and those with a guarantee that have waited for PATIENCE slots, on whatever is free.
 * liquid    In the order of arrival; each job where network cost, what it sends by what its workers
 *           could send at most, less the share of its workers that it gets, is least.
 *
 * All have the same help in placing: with the PS at each of the likely sites, first workers there,
 * to which chunks are moved, as moves cost less than exchanges; then workers at sites where chunks
 * lie, those with most of them first; then at others. The PS site that trains most chunks is taken
 * (liquid: of least cost), then the one that sends least. A job with a fixed number of workers that
 * cannot have them waits, unless nobody else runs yet in that slot.
 *
 * Options: workers=N (default: "workers" of the job, else 1).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/option.h"
#include "policy/free_room.h"
#include "policy/stepper.h"

#define PATIENCE    3
#define WORKERS_MAX 1000000
#define SPARE_SITES 8 /* where no chunk lies, that are tried for the PS */

enum kind { TIRESIAS, ANTMAN, LIQUID };

struct job {
	uint64_t id, number; /* number: in the order of arrival */
	auc_slot arrival;
	unsigned worker_type, ps_type;
	struct auc_bundle worker, ps;
	unsigned *upload;            /* by server */
	double each, exchange, size; /* workers by chunk; MB of a worker, of a chunk */
	int64_t exchange_bytes, chunk_bytes;
	uint64_t todo, *left; /* chunks: in all, by server */
	int64_t fixed;
	bool guaranteed, done;
	unsigned waited; /* slots */
	unsigned nshares, nmoves, moves_alloc;
	struct auc_share *shares; /* by server, as many as there are */
	struct auc_move *moves;
};

/* What one way to place a job comes to. */
struct way {
	unsigned ps;
	uint64_t chunks;
	int64_t workers, bytes;
};

/* A site in the way at hand. */
struct at {
	int64_t workers;
	uint64_t chunks, local;
};

struct auc_stepper_ctx {
	enum kind kind;
	int64_t fixed; /* 0: as the job says */
	uint64_t arrived;
	unsigned n, alloc;
	struct job **jobs; /* at hand */
	struct auc_layout *layouts;
	struct auc_free_room room;
	int64_t budget; /* bytes left in the slot */
	unsigned servers_alloc;
	unsigned *order; /* sites by chunks that lie there, then by index */
	unsigned *fit;   /* by server: workers */
	struct at *at;   /* by server */
};

static enum auc_code make(enum kind kind, const char *name, const char *options,
			  struct auc_stepper_ctx **ctx, struct auc_err *err);
static void sites_destroy(struct auc_stepper_ctx *ctx);
static enum auc_code sites_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				  uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				  struct auc_err *err);
static enum auc_code sites_step(struct auc_stepper_ctx *ctx, const struct auc_market *m, auc_slot t,
				const struct auc_layout **layouts, unsigned *n,
				struct auc_err *err);
static enum auc_code sites_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err);
static enum auc_code make_job(const struct auc_market *m, uint64_t id, const struct auc_job *job,
			      struct job **made, struct auc_err *err);
static bool can_run(struct auc_stepper_ctx *ctx, const struct job *j);
static enum auc_code place(struct auc_stepper_ctx *ctx, struct job *j, auc_slot t, bool all,
			   struct auc_err *err);
static unsigned sort_sites(struct auc_stepper_ctx *ctx, const struct job *j, auc_slot t);
static struct way fill(struct auc_stepper_ctx *ctx, const struct job *j, unsigned ps, unsigned n);
static bool is_better(const struct auc_stepper_ctx *ctx, const struct job *j, const struct way *a,
		      const struct way *b);
static enum auc_code carry_out(struct auc_stepper_ctx *ctx, struct job *j, auc_slot t,
			       const struct way *way, struct auc_err *err);
static enum auc_code add_moves(struct auc_stepper_ctx *ctx, struct job *j, auc_slot t,
			       struct auc_err *err);
static void drop_done(struct auc_stepper_ctx *ctx);
static void free_job(struct job *j);

static enum auc_code tiresias_create(const char *options, struct auc_stepper_ctx **ctx,
				     struct auc_err *err)
{
	return make(TIRESIAS, "tiresias", options, ctx, err);
}

static enum auc_code antman_create(const char *options, struct auc_stepper_ctx **ctx,
				   struct auc_err *err)
{
	return make(ANTMAN, "antman", options, ctx, err);
}

static enum auc_code liquid_create(const char *options, struct auc_stepper_ctx **ctx,
				   struct auc_err *err)
{
	return make(LIQUID, "liquid", options, ctx, err);
}

#define STEPPER(word, text, function)                                                              \
	{                                                                                          \
		.name = word, .summary = text, .sites = true, .create = function,                  \
		.destroy = sites_destroy, .arrive = sites_arrive, .step = sites_step,              \
		.leave = sites_leave,                                                              \
	}

const struct auc_stepper sim_stepper_tiresias =
	STEPPER("tiresias", "baseline of eris: least workers * work left first", tiresias_create);
const struct auc_stepper sim_stepper_antman =
	STEPPER("antman", "baseline of eris: jobs with a guarantee first", antman_create);
const struct auc_stepper sim_stepper_liquid =
	STEPPER("liquid", "baseline of eris: network cost against workers", liquid_create);

static enum auc_code make(enum kind kind, const char *name, const char *options,
			  struct auc_stepper_ctx **ctx, struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "workers", .type = AUC_OPTION_COUNT, .min = 1, .max = WORKERS_MAX},
	};
	uint64_t workers = 0;
	enum auc_code rc = auc_options_read(name, options, list, 1, &workers, err);

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	*ctx = calloc(1, sizeof(**ctx));
	if (!*ctx)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy %s", name);
	(*ctx)->kind = kind;
	(*ctx)->fixed = (int64_t)workers;
	return AUC_OK;
}

static void sites_destroy(struct auc_stepper_ctx *ctx)
{
	unsigned i;

	if (!ctx)
		return;
	for (i = 0; i < ctx->n; i++)
		free_job(ctx->jobs[i]);
	free(ctx->jobs);
	free(ctx->layouts);
	free(ctx->order);
	free(ctx->fit);
	free(ctx->at);
	auc_free_room_clear(&ctx->room);
	free(ctx);
}

static void free_job(struct job *j)
{
	if (!j)
		return;
	free(j->upload);
	free(j->left);
	free(j->shares);
	free(j->moves);
	free(j);
}

/* Workers of K chunks at one site, and the most chunks of N workers. */
static int64_t workers_of(const struct job *j, uint64_t k)
{
	return auc_ceil(j->each * (double)k);
}

static uint64_t chunks_of(const struct job *j, int64_t n, uint64_t most)
{
	uint64_t k = n > 0 ? (uint64_t)((double)n / j->each) + 1 : 0;

	k = k < most ? k : most;
	while (k && workers_of(j, k) > n)
		k--;
	return k;
}

/* -- jobs -- */

static bool grow(struct auc_stepper_ctx *ctx, unsigned nservers)
{
	unsigned more = ctx->alloc * 2 + 16;
	struct auc_layout *layouts;
	struct job **jobs;

	if (ctx->servers_alloc < nservers) {
		free(ctx->order);
		free(ctx->fit);
		free(ctx->at);
		ctx->order = calloc(nservers, sizeof(*ctx->order));
		ctx->fit = calloc(nservers, sizeof(*ctx->fit));
		ctx->at = calloc(nservers, sizeof(*ctx->at));
		ctx->servers_alloc = nservers;
		if (!ctx->order || !ctx->fit || !ctx->at) {
			ctx->servers_alloc = 0;
			return false;
		}
	}
	if (ctx->n < ctx->alloc)
		return true;
	jobs = realloc(ctx->jobs, more * sizeof(*jobs));
	if (jobs)
		ctx->jobs = jobs;
	layouts = realloc(ctx->layouts, more * sizeof(*layouts));
	if (layouts)
		ctx->layouts = layouts;
	if (!jobs || !layouts)
		return false;
	ctx->alloc = more;
	return true;
}

static enum auc_code sites_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				  uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				  struct auc_err *err)
{
	struct job *j = NULL;
	enum auc_code rc;

	*reason = AUC_REASON_CAPACITY;
	drop_done(ctx);
	if (!job->ndata || !(job->chunks_per_slot > 0))
		return auc_err_set(err, AUC_EINVAL,
				   "expected a job that says where its chunks lie and how many a "
				   "worker trains in a slot");
	if (!auc_traffic_counts(job, job->chunks_per_slot, job->exchange_mb))
		return auc_err_set(err, AUC_EINVAL, "expected a job that sends 1e12 MB at most");
	if (!grow(ctx, m->nservers))
		return auc_err_set(err, AUC_ENOMEM, "no memory for a job");
	rc = make_job(m, id, job, &j, err);
	if (rc == AUC_OK)
		rc = auc_free_room_open_empty(&ctx->room, m, err);
	if (rc != AUC_OK || !can_run(ctx, j)) {
		free_job(j);
		return rc;
	}
	if (ctx->fixed)
		j->fixed = ctx->fixed;
	j->number = ctx->arrived++;
	ctx->jobs[ctx->n++] = j;
	*reason = AUC_REASON_NONE;
	return AUC_OK;
}

static enum auc_code make_job(const struct auc_market *m, uint64_t id, const struct auc_job *job,
			      struct job **made, struct auc_err *err)
{
	struct job *j = calloc(1, sizeof(*j));
	size_t n = m->nservers;
	unsigned i;

	*made = j;
	if (j) {
		j->upload = calloc(n + 1, sizeof(*j->upload));
		j->left = calloc(n + 1, sizeof(*j->left));
		j->shares = calloc(n + 1, sizeof(*j->shares));
	}
	if (!j || !j->upload || !j->left || !j->shares)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a job");
	while (j->worker_type < m->nworker_types && job->worker_seconds[j->worker_type] < 0)
		j->worker_type++;
	while (j->ps_type < m->nps_types && job->ps_seconds[j->ps_type] < 0)
		j->ps_type++;
	if (j->worker_type == m->nworker_types || j->ps_type == m->nps_types)
		return auc_err_set(err, AUC_EINVAL, "expected a job with a worker and a PS type");
	j->id = id;
	j->arrival = job->arrival;
	j->worker = m->types[j->worker_type];
	j->ps = m->types[auc_ps_index(m, j->ps_type)];
	memcpy(j->upload, job->upload, n * sizeof(*j->upload));
	j->each = (double)job->epochs / job->chunks_per_slot;
	j->exchange = job->exchange_mb;
	j->size = job->chunk_mb;
	j->exchange_bytes = auc_traffic_bytes(j->exchange);
	j->chunk_bytes = auc_traffic_bytes(j->size);
	j->todo = job->chunks;
	for (i = 0; i < job->ndata; i++)
		j->left[job->data[i].server] = job->data[i].chunks;
	j->fixed = job->workers ? (int64_t)job->workers : 1;
	j->guaranteed = job->guaranteed;
	return AUC_OK;
}

/* An empty cluster has a place for the PS, and one for the workers of a chunk. */
static bool can_run(struct auc_stepper_ctx *ctx, const struct job *j)
{
	bool ps = false, worker = false;
	unsigned s;

	for (s = 0; s < ctx->room.m->nservers; s++) {
		ps = ps || auc_free_room_fit(&ctx->room, s, &j->ps);
		worker = worker || auc_free_room_fit(&ctx->room, s, &j->worker) >= workers_of(j, 1);
	}
	return ps && worker;
}

static enum auc_code sites_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err)
{
	unsigned i;

	for (i = 0; i < ctx->n; i++)
		if (ctx->jobs[i]->id == id && !ctx->jobs[i]->done) {
			ctx->jobs[i]->done = true;
			drop_done(ctx);
			return AUC_OK;
		}
	return auc_err_set(err, AUC_ENOENT, "job %llu: is not there", (unsigned long long)id);
}

static void drop_done(struct auc_stepper_ctx *ctx)
{
	unsigned i, kept = 0;

	for (i = 0; i < ctx->n; i++)
		if (ctx->jobs[i]->done)
			free_job(ctx->jobs[i]);
		else
			ctx->jobs[kept++] = ctx->jobs[i];
	ctx->n = kept;
}

/* -- a slot -- */

static int by_arrival(const void *a, const void *b)
{
	const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;

	return (x->number > y->number) - (x->number < y->number);
}

static int by_work(const void *a, const void *b)
{
	const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
	double p = (double)x->fixed * x->each * (double)x->todo;
	double q = (double)y->fixed * y->each * (double)y->todo;

	return p != q ? (p < q ? -1 : 1) : by_arrival(a, b);
}

/* May take part of its workers. */
static bool is_opportunistic(const struct auc_stepper_ctx *ctx, const struct job *j)
{
	return ctx->kind == ANTMAN && (!j->guaranteed || j->waited >= PATIENCE);
}

static int by_guarantee(const void *a, const void *b)
{
	const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
	bool p = !x->guaranteed || x->waited >= PATIENCE;
	bool q = !y->guaranteed || y->waited >= PATIENCE;

	return p != q ? (p > q) - (p < q) : by_arrival(a, b);
}

static enum auc_code sites_step(struct auc_stepper_ctx *ctx, const struct auc_market *m, auc_slot t,
				const struct auc_layout **layouts, unsigned *n, struct auc_err *err)
{
	enum auc_code rc = auc_free_room_open(&ctx->room, m, t, err);
	struct auc_layout *to;
	struct job *j;
	unsigned i;

	*layouts = ctx->layouts;
	*n = 0;
	if (rc != AUC_OK)
		return rc;
	drop_done(ctx);
	ctx->budget = auc_traffic_left(m, (unsigned)(t - m->first));
	qsort(ctx->jobs, ctx->n, sizeof(*ctx->jobs),
	      ctx->kind == TIRESIAS ? by_work
	      : ctx->kind == ANTMAN ? by_guarantee
				    : by_arrival);
	for (i = 0; i < ctx->n && rc == AUC_OK; i++) {
		j = ctx->jobs[i];
		rc = place(ctx, j, t, *n && !is_opportunistic(ctx, j), err);
		j->waited = j->nshares ? 0 : j->waited + 1;
		if (!j->nshares)
			continue;
		to = &ctx->layouts[(*n)++];
		*to = (struct auc_layout){.id = j->id,
					  .worker_type = j->worker_type,
					  .ps_type = j->ps_type,
					  .colocated = j->nshares == 1,
					  .last = !j->todo,
					  .nshares = j->nshares,
					  .shares = j->shares,
					  .chunk_mb = j->size,
					  .exchange_mb = j->exchange,
					  .nmoves = j->nmoves,
					  .moves = j->moves};
		j->done = !j->todo;
	}
	return rc;
}

/* Gives J its workers of slot T; ALL: or none, if it cannot have all that are of use to it. */
static enum auc_code place(struct auc_stepper_ctx *ctx, struct job *j, auc_slot t, bool all,
			   struct auc_err *err)
{
	unsigned n = sort_sites(ctx, j, t), i, k = 0, ps;
	struct way best = {0}, way;

	j->nshares = j->nmoves = 0;
	while (k < n && j->left[ctx->order[k]])
		k++;
	for (i = 0; i < n && i < k + SPARE_SITES; i++) {
		ps = ctx->order[i];
		if (!auc_free_room_fit(&ctx->room, ps, &j->ps))
			continue;
		way = fill(ctx, j, ps, n);
		if (way.chunks && (!best.chunks || is_better(ctx, j, &way, &best)))
			best = way;
	}
	if (!best.chunks || (all && best.workers < j->fixed && best.chunks < j->todo))
		return AUC_OK;
	return carry_out(ctx, j, t, &best, err);
}

struct order {
	const struct auc_stepper_ctx *ctx;
	const struct job *j;
};

static int by_chunks(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	if (o->j->left[x] != o->j->left[y])
		return o->j->left[x] > o->j->left[y] ? -1 : 1;
	if (o->ctx->fit[x] != o->ctx->fit[y])
		return o->ctx->fit[x] > o->ctx->fit[y] ? -1 : 1;
	return (x > y) - (x < y);
}

/* The servers that are ready for J into ctx->order; returns their number. */
static unsigned sort_sites(struct auc_stepper_ctx *ctx, const struct job *j, auc_slot t)
{
	struct order o = {ctx, j};
	unsigned s, n = 0;

	for (s = 0; s < ctx->room.m->nservers; s++) {
		if (t < j->arrival + (auc_slot)j->upload[s])
			continue;
		ctx->fit[s] = auc_free_room_fit(&ctx->room, s, &j->worker);
		ctx->order[n++] = s;
	}
	qsort_r(ctx->order, n, sizeof(*ctx->order), by_chunks, &o);
	return n;
}

/* Puts up to WORKERS on S with chunks that lie there, and MOVE others. */
static void put(struct auc_stepper_ctx *ctx, const struct job *j, unsigned s, int64_t workers,
		bool move, struct way *way)
{
	uint64_t todo = j->todo - way->chunks, k, local;
	bool home = s == way->ps;
	struct at *at = &ctx->at[s];
	int64_t left = ctx->budget - way->bytes, bytes;

	if (!home && j->exchange_bytes && workers > left / j->exchange_bytes)
		workers = left / j->exchange_bytes;
	local = j->left[s] < todo ? j->left[s] : todo;
	k = chunks_of(j, workers, move ? todo : local);
	for (;; k--) {
		local = k < j->left[s] ? k : j->left[s];
		bytes = (int64_t)(k - local) * j->chunk_bytes +
			(home ? 0 : workers_of(j, k) * j->exchange_bytes);
		if (!k || bytes <= left)
			break;
	}
	if (!k)
		return;
	*at = (struct at){workers_of(j, k), k, local};
	way->chunks += k;
	way->workers += at->workers;
	way->bytes += bytes;
}

/* A way with the PS at PS, on the first N of the sorted sites; in ctx->at. */
static struct way fill(struct auc_stepper_ctx *ctx, const struct job *j, unsigned ps, unsigned n)
{
	struct way way = {.ps = ps};
	unsigned i, pass, s;
	int64_t fit;

	memset(ctx->at, 0, ctx->room.m->nservers * sizeof(*ctx->at));
	auc_free_room_take(&ctx->room, ps, &j->ps, 1);
	fit = auc_free_room_fit(&ctx->room, ps, &j->worker);
	auc_free_room_give(&ctx->room, ps, &j->ps, 1);
	put(ctx, j, ps, fit < j->fixed ? fit : j->fixed, true, &way);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < n && way.chunks < j->todo && way.workers < j->fixed; i++) {
			s = ctx->order[i];
			if (s == ps || ctx->at[s].chunks || (pass == 0) != (j->left[s] > 0))
				continue;
			fit = ctx->fit[s];
			if (fit > j->fixed - way.workers)
				fit = j->fixed - way.workers;
			put(ctx, j, s, fit, pass == 1, &way);
		}
	return way;
}

static bool is_better(const struct auc_stepper_ctx *ctx, const struct job *j, const struct way *a,
		      const struct way *b)
{
	double most = (double)j->fixed * (double)(j->exchange_bytes + j->chunk_bytes + 1), x, y;

	x = (double)a->bytes / most - (double)a->workers / (double)j->fixed;
	y = (double)b->bytes / most - (double)b->workers / (double)j->fixed;
	if (ctx->kind == LIQUID && x != y)
		return x < y;
	return a->chunks != b->chunks ? a->chunks > b->chunks : a->bytes < b->bytes;
}

static enum auc_code carry_out(struct auc_stepper_ctx *ctx, struct job *j, auc_slot t,
			       const struct way *way, struct auc_err *err)
{
	unsigned n = ctx->room.m->nservers, s;
	enum auc_code rc;

	fill(ctx, j, way->ps, sort_sites(ctx, j, t));
	for (s = 0; s < n; s++) {
		if (!ctx->at[s].chunks && s != way->ps)
			continue;
		j->shares[j->nshares++] = (struct auc_share){
			.server = s, .workers = (unsigned)ctx->at[s].workers, .ps = s == way->ps};
		auc_free_room_take(&ctx->room, s, &j->worker, (unsigned)ctx->at[s].workers);
		if (s == way->ps)
			auc_free_room_take(&ctx->room, s, &j->ps, 1);
		j->left[s] -= ctx->at[s].local;
	}
	rc = add_moves(ctx, j, t, err);
	j->todo -= way->chunks;
	ctx->budget -= way->bytes;
	return rc;
}

/* Chunks that are moved come from where most are left, so that all sites go on as long as they can.
 */
static enum auc_code add_moves(struct auc_stepper_ctx *ctx, struct job *j, auc_slot t,
			       struct auc_err *err)
{
	unsigned n = ctx->room.m->nservers, to, s, from;
	uint64_t need, k;
	struct auc_move *grown;

	for (to = 0; to < n; to++)
		for (need = ctx->at[to].chunks - ctx->at[to].local; need; need -= k) {
			for (from = s = 0; s < n; s++)
				if (j->left[s] > j->left[from])
					from = s;
			if (j->nmoves == j->moves_alloc) {
				grown = realloc(j->moves,
						(j->moves_alloc * 2 + 8) * sizeof(*grown));
				if (!grown)
					return auc_err_set(err, AUC_ENOMEM, "no memory for moves");
				j->moves = grown;
				j->moves_alloc = j->moves_alloc * 2 + 8;
			}
			k = need < j->left[from] ? need : j->left[from];
			j->left[from] -= k;
			j->moves[j->nmoves++] = (struct auc_move){t, from, to, (unsigned)k};
		}
	return AUC_OK;
}
