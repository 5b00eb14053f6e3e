/*
 * aonline_dispatch.c - see aonline-private.h: Algorithm 2. Chunk by chunk, the worker that adds
 * least to the average training time,
 *   D Q(w) = Delta + W + p + D p sum 1/D',
 * W the slots that chunks ahead still need when the data are there, the sum over the chunks that
 * would be pushed back. The next chunk of the job finds the one before it ahead of it, so that a
 * worker's Q grows by p with each, and the workers by the Q of their next chunk are all that is
 * needed (aonline_line.c).
 *
 * The guard looks at the whole job: slots until it is complete, and by how much that completes
 * others later, with the chunks where Algorithm 2 has them, with all of them at the edge, and with
 * all of them in the cloud. Nothing is in the way there, so that with every job the sum of all
 * completion times grows at most as if everything went to the cloud. The first two are one sequence
 * of workers, shorter or longer.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "policy/aonline/aonline-private.h"

/* A dispatch that is looked at: chunks from edge_n on are in the cloud. */
struct ask {
	struct auc_stepper_ctx *ctx;
	const struct auc_market *m;
	struct aon_job *j;
	unsigned ps[2];         /* servers that hold a PS and get data, nservers: none */
	struct aon_pool *cloud; /* the one it may use, or NULL */
	int64_t cloud_room;     /* chunks that can be stored there */
	struct aon_line line;
	unsigned edge_n;
	auc_slot own, others; /* slots until it is complete, and those that others lose */
	unsigned npushed;
};

static bool make_place(struct auc_stepper_ctx *ctx, const struct aon_job *j);
static void *renew(void *array, unsigned n, size_t size);
static void look(struct ask *a);
static void find_ps(struct ask *a);
static const bool *find_servers(const struct ask *a);
static bool fits_with_ps(const struct auc_market *m, unsigned server, const struct auc_bundle *w,
			 const struct auc_bundle *ps);
static void measure_storage(struct ask *a);
static const struct aon_next *find_next(struct ask *a);
static void place(struct ask *a, const struct aon_next *next);
static bool fill(struct ask *a, bool cloud);
static void go_back(struct ask *a, unsigned edge_n);
static void weigh(struct ask *a);
static void weigh_none(struct ask *a);
static void weigh_worker(struct ask *a, unsigned w);
static void weigh_pushed(struct ask *a, const struct aon_worker *w, unsigned place);
static bool choose(struct ask *a);
static void choose_whole(struct ask *a);
static enum auc_code commit(struct ask *a, struct auc_err *err);

enum auc_code aon_dispatch(struct auc_stepper_ctx *ctx, const struct auc_market *m,
			   struct aon_job *j, bool *placed, struct auc_err *err)
{
	struct ask a = {.ctx = ctx, .m = m, .j = j};

	*placed = false;
	if (!make_place(ctx, j))
		return auc_err_set(err, AUC_ENOMEM,
				   "no memory for a dispatch of %u chunks among %u workers", j->n,
				   j->kind->n);
	look(&a);
	if (!choose(&a))
		return AUC_OK;
	*placed = true;
	return commit(&a, err);
}

/* For all that is looked at; nothing of it lasts. */
static bool make_place(struct auc_stepper_ctx *ctx, const struct aon_job *j)
{
	unsigned n;

	if (ctx->workers_alloc <= j->kind->n) {
		n = j->kind->n + 1;
		ctx->choices = renew(ctx->choices, n, sizeof(*ctx->choices));
		ctx->behind = renew(ctx->behind, n, sizeof(*ctx->behind));
		ctx->run = renew(ctx->run, n, sizeof(*ctx->run));
		ctx->heap = renew(ctx->heap, n, sizeof(*ctx->heap));
		ctx->workers_alloc = ctx->choices && ctx->behind && ctx->run && ctx->heap ? n : 0;
	}
	if (ctx->chunks_alloc < j->n) {
		ctx->again = renew(ctx->again, j->n, sizeof(*ctx->again));
		ctx->order = renew(ctx->order, j->n, sizeof(*ctx->order));
		ctx->touched = renew(ctx->touched, j->n, sizeof(*ctx->touched));
		ctx->chunks_alloc = ctx->again && ctx->order && ctx->touched ? j->n : 0;
	}
	if (ctx->queue_alloc <= ctx->longest) {
		n = 2 * ctx->longest + 16;
		ctx->left = renew(ctx->left, n, sizeof(*ctx->left));
		ctx->ready = renew(ctx->ready, n, sizeof(*ctx->ready));
		ctx->ends = renew(ctx->ends, n, sizeof(*ctx->ends));
		ctx->queue_alloc = ctx->left && ctx->ready && ctx->ends ? n : 0;
	}
	return ctx->workers_alloc && ctx->chunks_alloc && ctx->queue_alloc;
}

static void *renew(void *array, unsigned n, size_t size)
{
	free(array);
	return calloc(n, size);
}

/* Every worker that the job may use stands in line, and the cloud is known. */
static void look(struct ask *a)
{
	struct auc_stepper_ctx *ctx = a->ctx;
	const struct aon_job *j = a->j;
	const int32_t *fit = a->m->cache[j->worker_type].fit0;
	struct aon_pool *pool;

	find_ps(a);
	ctx->ntouched = 0;
	for (pool = j->kind->pools; pool < j->kind->pools + j->kind->npools; pool++)
		if (ctx->site != AON_EDGE && j->upload[pool->server] != UINT_MAX &&
		    fit[pool->server] > 0 &&
		    fits_with_ps(a->m, pool->server, &j->kind->bundle, j->ps) &&
		    (!a->cloud || j->upload[pool->server] < j->upload[a->cloud->server]))
			a->cloud = pool;
	if (ctx->site == AON_CLOUD)
		aon_line_none(&a->line);
	else
		aon_line_open(&a->line, ctx, j, fit, find_servers(a));
	measure_storage(a);
}

/* The first two servers where a PS may be without a worker beside it. */
static void find_ps(struct ask *a)
{
	const int32_t *fit = a->m->cache[auc_ps_index(a->m, a->j->ps_type)].fit0;
	unsigned s, n = 0;

	a->ps[0] = a->ps[1] = a->m->nservers;
	for (s = 0; s < a->m->nservers && n < 2; s++)
		if (fit[s] > 0 && a->j->upload[s] != UINT_MAX &&
		    !(a->ctx->site == AON_EDGE && a->m->servers[s].cloud))
			a->ps[n++] = s;
}

/* Those whose workers have a PS, beside them or on another server; NULL: all. */
static const bool *find_servers(const struct ask *a)
{
	const int32_t *fit = a->m->cache[auc_ps_index(a->m, a->j->ps_type)].fit0;
	bool *servers = a->ctx->servers;
	unsigned s;

	if (a->ps[1] < a->m->nservers)
		return NULL;
	for (s = 0; s < a->m->nservers; s++)
		servers[s] = (a->ps[0] != s && a->ps[0] < a->m->nservers) ||
			     (fit[s] > 0 && fits_with_ps(a->m, s, &a->j->kind->bundle, a->j->ps));
	return servers;
}

/* One worker and one PS, on an empty server. */
static bool fits_with_ps(const struct auc_market *m, unsigned server, const struct auc_bundle *w,
			 const struct auc_bundle *ps)
{
	const struct auc_server *s = &m->servers[server];
	unsigned k;

	for (k = 0; k < m->ntres; k++)
		if (w->units[k] + ps->units[k] > s->units[k])
			return false;
	return (s->roles & AUC_ROLE_WORKER) && (s->roles & AUC_ROLE_PS);
}

/* Chunks that each server still has room to store. */
static void measure_storage(struct ask *a)
{
	auc_slot t = a->j->arrival;
	int64_t units, used;
	unsigned s;
	int k;

	a->cloud_room = INT64_MAX;
	if (!a->ctx->any_limited)
		return;
	k = auc_market_find_tres(a->m, "storage");
	for (s = 0; s < a->m->nservers; s++) {
		a->ctx->storage[s] = INT64_MAX;
		if (k < 0 || !a->ctx->limited[s] || !a->j->chunk_units)
			continue;
		units = a->m->servers[s].units[k];
		used = t < a->m->first || t > auc_market_last(a->m)
			       ? 0
			       : a->m->used[auc_cell(a->m, (unsigned)(t - a->m->first), s) *
						    a->m->ntres +
					    (unsigned)k];
		a->ctx->storage[s] = (units - used - a->ctx->held[s]) / a->j->chunk_units;
	}
	if (a->cloud)
		a->cloud_room = a->ctx->storage[a->cloud->server];
}

/* The worker for the next chunk, NULL: there is none with room to store it. */
static const struct aon_next *find_next(struct ask *a)
{
	const struct aon_next *next;

	while ((next = aon_line_first(a->ctx, &a->line)) && a->ctx->any_limited &&
	       a->ctx->storage[a->j->kind->workers[next->worker].server] <= 0)
		aon_line_take(&a->line, next);
	return next;
}

/* The next chunk goes to NEXT. */
static void place(struct ask *a, const struct aon_next *next)
{
	struct auc_stepper_ctx *ctx = a->ctx;
	unsigned w = next->worker;

	ctx->order[a->edge_n++] = w;
	aon_line_take(&a->line, next);
	if (ctx->any_limited)
		ctx->storage[a->j->kind->workers[w].server]--;
	if (!ctx->choices[w].n++)
		ctx->touched[ctx->ntouched++] = w;
	aon_line_again(ctx, &a->line, w);
}

/*
 * Algorithm 2, from chunk edge_n on: all of them go to workers at the edge, or with CLOUD those
 * from the first one on that is better off there. False: there is no place for them.
 */
static bool fill(struct ask *a, bool cloud)
{
	const struct aon_job *j = a->j;
	const struct aon_next *next;
	int64_t most;

	while (a->edge_n < j->n) {
		next = find_next(a);
		if (cloud && a->cloud_room >= j->n - a->edge_n) {
			most = j->upload[a->cloud->server] + (a->edge_n ? j->apart : j->together);
			if (!next || next->q > (double)most)
				return true;
		}
		if (!next)
			return false;
		place(a, next);
	}
	return true;
}

/* Only the first EDGE_N chunks stay at the edge; there is no way forward again. */
static void go_back(struct ask *a, unsigned edge_n)
{
	while (a->edge_n > edge_n) {
		a->edge_n--;
		a->ctx->ntouched -= !--a->ctx->choices[a->ctx->order[a->edge_n]].n;
	}
}

/* What the dispatch at hand costs: ctx->pushed are the jobs that it makes later. */
static void weigh(struct ask *a)
{
	const struct aon_job *j = a->j;
	unsigned i;

	weigh_none(a);
	if (a->edge_n < j->n)
		a->own = j->upload[a->cloud->server] + (a->edge_n ? j->apart : j->together);
	for (i = 0; i < a->ctx->ntouched; i++)
		weigh_worker(a, a->ctx->touched[i]);
}

static void weigh_none(struct ask *a)
{
	a->npushed = 0;
	a->own = a->others = 0;
	a->ctx->marks++;
}

/* Also worker W, or W again with more chunks than it was weighed with. */
static void weigh_worker(struct ask *a, unsigned w)
{
	const struct aon_choice *choice = &a->ctx->choices[w];
	auc_slot end = aon_queue_ends(a->ctx, a->j, w, choice) - a->j->arrival;

	if (end > a->own)
		a->own = end;
	if (choice->behind)
		weigh_pushed(a, &a->j->kind->workers[w], choice->place);
}

static void weigh_pushed(struct ask *a, const struct aon_worker *w, unsigned place)
{
	struct auc_stepper_ctx *ctx = a->ctx;
	struct aon_job *other;
	unsigned i;

	for (i = place; i < w->n; i++) {
		other = w->queue[i].job;
		if (other->mark != ctx->marks) {
			other->mark = ctx->marks;
			other->pushed = other->end;
			ctx->pushed[a->npushed++] = other;
		}
		if (ctx->ends[i + 1] > other->pushed) {
			a->others += ctx->ends[i + 1] - other->pushed;
			other->pushed = ctx->ends[i + 1];
		}
	}
}

/* The dispatch to be committed. False: there is none. */
static bool choose(struct ask *a)
{
	const struct aon_job *j = a->j;
	auc_slot least;
	unsigned printed;

	if (a->ctx->guard && a->cloud && a->cloud_room >= j->n) {
		choose_whole(a);
		return true;
	}
	if (!fill(a, a->cloud != NULL))
		return false;
	if (!a->ctx->guard)
		return true;
	weigh(a);
	printed = a->edge_n;
	least = a->own + a->others;
	if (printed < j->n) {
		if (fill(a, false)) {
			weigh(a);
			if (a->own + a->others < least)
				return true;
		}
		go_back(a, printed);
		weigh(a);
	}
	return true;
}

/*
 * The guard where the cloud has room: a job that has chunks there and at the edge is complete no
 * sooner than all of it there, so that it is all here or all there. With every chunk it costs more
 * here, so that it is weighed chunk by chunk, until that is too much. The cloud wins a tie: nobody
 * can push the job back there.
 */
static void choose_whole(struct ask *a)
{
	const struct aon_job *j = a->j;
	auc_slot cloud = j->upload[a->cloud->server] + j->together;
	const struct aon_next *next;
	unsigned w;

	weigh_none(a);
	while (a->edge_n < j->n) {
		next = find_next(a);
		if (!next || (!a->edge_n && next->q > (double)cloud))
			break;
		w = next->worker;
		place(a, next);
		weigh_worker(a, w);
		if (a->own + a->others >= cloud)
			break;
	}
	if (a->edge_n == j->n && a->own + a->others < cloud)
		return;
	go_back(a, 0);
	weigh(a);
}

static enum auc_code commit(struct ask *a, struct auc_err *err)
{
	struct auc_stepper_ctx *ctx = a->ctx;
	struct aon_job *j = a->j;
	enum auc_code rc = AUC_OK;
	struct aon_choice *choice;
	struct aon_chunk *c;
	unsigned i, w;

	j->first_cloud = a->edge_n;
	j->cloud_undone = j->n - a->edge_n;
	j->colocated = a->edge_n == 0;
	j->cloud = j->cloud_undone ? a->cloud : NULL;
	if (j->colocated)
		j->length = (int32_t)(j->n * j->together);
	for (i = 0; i < ctx->ntouched; i++)
		ctx->choices[ctx->touched[i]].first = UINT_MAX;
	for (i = j->n; i-- > 0;) {
		c = &j->chunks[i];
		c->left = (int32_t)(j->colocated ? j->together : j->apart);
		if (i < j->first_cloud) {
			w = ctx->order[i];
			choice = &ctx->choices[w];
			c->server = j->kind->workers[w].server;
			c->worker = j->kind->workers[w].index;
			c->next = choice->first;
			choice->first = i;
		} else {
			c->server = j->cloud->server;
		}
		if (j->chunk_units && ctx->limited[c->server])
			ctx->held[c->server] += j->chunk_units;
	}
	for (i = 0; i < ctx->ntouched && rc == AUC_OK; i++) {
		w = ctx->touched[i];
		choice = &ctx->choices[w];
		rc = aon_queue_insert(ctx, j, w, choice->place, choice->first, choice->n,
				      choice->n * j->apart, err);
	}
	if (!ctx->guard)
		return rc;
	j->end = j->arrival + a->own;
	for (i = 0; i < a->npushed; i++)
		ctx->pushed[i]->end = ctx->pushed[i]->pushed;
	return rc;
}
