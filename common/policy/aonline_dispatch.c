/*
 * aonline_dispatch.c - see aonline-private.h: Algorithm 2. Chunk by chunk, the worker that adds
 * least to the average training time,
 *   D Q(w) = Delta + W + p + D p sum 1/D',
 * W the slots that chunks ahead still need when the data are there, the sum over the chunks that
 * would be pushed back. The next chunk of the job finds the one before it ahead of it, so that a
 * worker's Q grows by p with each, and a heap of the workers is all that is needed.
 *
 * The guard looks at the whole job: slots until it is complete, and by how much that completes
 * others later, with the chunks where Algorithm 2 has them, with all of them at the edge, and with
 * all of them in the cloud. Nothing is in the way there, so that with every job the sum of all
 * completion times grows at most as if everything went to the cloud.
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/aonline-private.h"

#define NEVER INT64_MAX

/* A dispatch that is looked at: ctx->choices[].n, and this. */
struct ask {
	struct auc_stepper_ctx *ctx;
	const struct auc_market *m;
	struct aon_job *j;
	unsigned nchoices;
	unsigned ps[2];         /* servers that hold a PS and get data, nservers: none */
	struct aon_pool *cloud; /* the one it may use, or NULL */
	unsigned cloud_n;       /* chunks that go there */
	auc_slot own, cost;     /* slots until it is complete; and what others lose */
	unsigned npushed;
};

/* Workers by the Q of their next chunk. */
struct line {
	struct aon_next *heap, *again;
	unsigned n, first, last; /* of the heap; of again */
};

static bool look(struct ask *a, struct auc_err *err);
static void find_ps(struct ask *a);
static bool ps_somewhere(const struct ask *a, unsigned server);
static bool fits_with_ps(const struct auc_market *m, unsigned server, const struct auc_bundle *w,
			 const struct auc_bundle *ps);
static struct aon_choice first_choice(struct auc_stepper_ctx *ctx, const struct aon_job *j,
				      struct aon_worker *w);
static unsigned load_queue(struct auc_stepper_ctx *ctx, const struct aon_job *j,
			   const struct aon_worker *w, unsigned n);
static void run_queue(const auc_slot *ready, int64_t *left, auc_slot *ends, unsigned n,
		      auc_slot from, auc_slot until);
static void measure_storage(const struct ask *a);
static bool fill(struct ask *a, bool edge, bool cloud);
static inline struct aon_next choice_next(const struct aon_choice *choice, unsigned at,
					  const struct aon_job *j);
static void line_open(struct line *line, const struct ask *a, bool edge, double most);
static const struct aon_next *line_first(const struct line *line);
static void line_take(struct line *line, const struct aon_next *first);
static void line_again(struct line *line, struct aon_next next);
static inline bool before(const struct aon_next *a, const struct aon_next *b);
static void sift(struct aon_next *heap, unsigned n, unsigned i);
static void weigh(struct ask *a);
static bool choose(struct ask *a);
static enum auc_code commit(struct ask *a, struct auc_err *err);

enum auc_code aon_dispatch(struct auc_stepper_ctx *ctx, const struct auc_market *m,
			   struct aon_job *j, bool *placed, struct auc_err *err)
{
	struct ask a = {.ctx = ctx, .m = m, .j = j};

	*placed = false;
	if (!look(&a, err))
		return AUC_ENOMEM;
	if (!choose(&a))
		return AUC_OK;
	*placed = true;
	return commit(&a, err);
}

/* Every worker that the job may use, with the Q of its first chunk there, and the cloud. */
static bool look(struct ask *a, struct auc_err *err)
{
	struct auc_stepper_ctx *ctx = a->ctx;
	const struct aon_job *j = a->j;
	struct aon_kind *kind = j->kind;
	const int32_t *fit = a->m->cache[j->worker_type].fit0;
	struct aon_choice *choices;
	struct aon_worker *w;
	struct aon_pool *pool;
	unsigned server = UINT_MAX;
	bool usable = false;

	if (ctx->longest + 1 > ctx->queue_alloc) {
		free(ctx->left);
		free(ctx->ready);
		free(ctx->ends);
		ctx->queue_alloc = 2 * ctx->longest + 16;
		ctx->left = calloc(ctx->queue_alloc, sizeof(*ctx->left));
		ctx->ready = calloc(ctx->queue_alloc, sizeof(*ctx->ready));
		ctx->ends = calloc(ctx->queue_alloc, sizeof(*ctx->ends));
	}
	if (kind->n > ctx->choices_alloc) {
		choices = realloc(ctx->choices, kind->n * sizeof(*choices));
		if (choices)
			ctx->choices = choices;
		free(ctx->heap);
		ctx->heap = calloc(kind->n, sizeof(*ctx->heap));
		ctx->choices_alloc = choices && ctx->heap ? kind->n : 0;
	}
	if (j->n > ctx->again_alloc) {
		free(ctx->again);
		ctx->again = calloc(j->n, sizeof(*ctx->again));
		ctx->again_alloc = ctx->again ? j->n : 0;
	}
	if (j->n > ctx->again_alloc || kind->n > ctx->choices_alloc || !ctx->left || !ctx->ready ||
	    !ctx->ends) {
		ctx->queue_alloc = 0;
		auc_err_set(err, AUC_ENOMEM, "no memory for a dispatch among %u workers", kind->n);
		return false;
	}
	find_ps(a);
	for (w = kind->workers; w < kind->workers + kind->n && ctx->site != AON_CLOUD; w++) {
		if (w->server != server)
			usable = j->upload[w->server] != UINT_MAX && ps_somewhere(a, w->server);
		server = w->server;
		if (usable && (int32_t)w->index < fit[server])
			ctx->choices[a->nchoices++] = first_choice(ctx, j, w);
	}
	for (pool = kind->pools; pool < kind->pools + kind->npools && ctx->site != AON_EDGE; pool++)
		if (j->upload[pool->server] != UINT_MAX && fit[pool->server] > 0 &&
		    fits_with_ps(a->m, pool->server, &kind->bundle, &j->ps) &&
		    (!a->cloud || j->upload[pool->server] < j->upload[a->cloud->server]))
			a->cloud = pool;
	return true;
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

/* Beside a worker on SERVER, or on another one. */
static bool ps_somewhere(const struct ask *a, unsigned server)
{
	return a->ps[a->ps[0] == server] < a->m->nservers ||
	       (a->m->cache[auc_ps_index(a->m, a->j->ps_type)].fit0[server] > 0 &&
		fits_with_ps(a->m, server, &a->j->kind->bundle, &a->j->ps));
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

static struct aon_choice first_choice(struct auc_stepper_ctx *ctx, const struct aon_job *j,
				      struct aon_worker *w)
{
	struct aon_choice choice = {.slots = j->upload[w->server] + j->apart, .worker = w};
	const struct aon_entry *e;
	unsigned i, before;
	int64_t chunks;

	if (w->n) {
		before = load_queue(ctx, j, w, 0);
		run_queue(ctx->ready, ctx->left, ctx->ends, w->n, j->arrival,
			  j->arrival + j->upload[w->server]);
		for (i = 0; i < before; i++)
			choice.slots += ctx->left[i];
		for (; i < w->n; i++) {
			e = &w->queue[i];
			chunks = ctx->left[i] <= e->apart
					 ? ctx->left[i] > 0
					 : (ctx->left[i] + e->apart - 1) / e->apart;
			choice.pushed += (double)chunks / e->nchunks;
		}
		choice.pushed *= (double)j->length;
	}
	return choice;
}

/*
 * W's queue in ctx->ready and ctx->left, with N chunks of J in their place if N > 0. Returns the
 * place of J.
 */
static unsigned load_queue(struct auc_stepper_ctx *ctx, const struct aon_job *j,
			   const struct aon_worker *w, unsigned n)
{
	unsigned i, to = 0, place = w->n;

	for (i = 0; i < w->n; i++) {
		if (place == w->n && aon_before(j, w->queue[i].length, w->queue[i].number)) {
			place = i;
			to += n > 0;
		}
		ctx->ready[to] = w->queue[i].ready;
		ctx->left[to++] = w->queue[i].left;
	}
	if (n) {
		ctx->ready[place] = j->arrival + j->upload[w->server];
		ctx->left[place] = n * j->apart;
	}
	return place;
}

/*
 * What a worker does with a queue from slot FROM until the start of slot UNTIL: in each slot the
 * first that has data. LEFT goes down, ENDS says when it came to 0.
 */
static void run_queue(const auc_slot *ready, int64_t *left, auc_slot *ends, unsigned n,
		      auc_slot from, auc_slot until)
{
	auc_slot t = from, next, slots;
	unsigned first = 0, i;

	while (t < until) {
		while (first < n && !left[first])
			first++;
		next = until;
		for (i = first; i < n; i++) {
			if (left[i] && ready[i] <= t)
				break;
			if (left[i] && ready[i] < next)
				next = ready[i];
		}
		if (first == n)
			return;
		if (i == n) {
			t = next;
			continue;
		}
		slots = left[i] < next - t ? left[i] : next - t;
		left[i] -= slots;
		t += slots;
		if (!left[i])
			ends[i] = t;
	}
}

/* Chunks that each server still has room to store. */
static void measure_storage(const struct ask *a)
{
	auc_slot t = a->j->arrival;
	int64_t units, used;
	unsigned s;
	int k;

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
}

/* Algorithm 2, among edge workers, the cloud, or both. False: there is no place for all chunks. */
static bool fill(struct ask *a, bool edge, bool cloud)
{
	struct auc_stepper_ctx *ctx = a->ctx;
	struct aon_choice *choice;
	struct aon_job *j = a->j;
	bool limited = ctx->any_limited;
	double first = 0, later = 0;
	const struct aon_next *next;
	struct line line;
	unsigned i, at;

	measure_storage(a);
	cloud = cloud && a->cloud;
	if (cloud) {
		first = (double)(j->upload[a->cloud->server] + j->together);
		later = (double)(j->upload[a->cloud->server] + j->apart);
	}
	a->cloud_n = 0;
	for (i = 0; i < a->nchoices; i++)
		ctx->choices[i].n = 0;
	/* Without storage limits the cloud takes all that would wait for more. */
	line_open(&line, a, edge, limited || !cloud ? INFINITY : later);
	for (i = 0; i < j->n; i++) {
		while ((next = line_first(&line)) && limited &&
		       ctx->storage[ctx->choices[next->choice].worker->server] <= 0)
			line_take(&line, next);
		if (cloud && (!limited || ctx->storage[a->cloud->server] >= j->n - i) &&
		    (!next || next->q > (i ? later : first))) {
			a->cloud_n = j->n - i;
			return true;
		}
		if (!next)
			return false;
		at = j->chunks[i].next = next->choice;
		line_take(&line, next);
		choice = &ctx->choices[at];
		if (limited)
			ctx->storage[choice->worker->server]--;
		choice->n++;
		line_again(&line, choice_next(choice, at, j));
	}
	return true;
}

/* The quantity of the next chunk of J at CHOICE, the one at AT. */
static inline struct aon_next choice_next(const struct aon_choice *choice, unsigned at,
					  const struct aon_job *j)
{
	return (struct aon_next){(double)(choice->slots + choice->n * j->apart) + choice->pushed,
				 at};
}

/*
 * Workers by the Q of their next chunk. Those that have got none are in a heap; the others stand in
 * a line behind it, for with each chunk all of them grow by the same: who comes back is the last.
 */
static void line_open(struct line *line, const struct ask *a, bool edge, double most)
{
	const struct aon_choice *choices = a->ctx->choices;
	struct aon_next *heap = a->ctx->heap;
	unsigned n = 0, i;

	for (i = 0; i < a->nchoices && edge; i++) {
		heap[n] = choice_next(&choices[i], i, a->j);
		n += heap[n].q <= most;
	}
	for (i = n / 2; i > 0; i--)
		sift(heap, n, i - 1);
	*line = (struct line){.heap = heap, .n = n, .again = a->ctx->again};
}

/* The next one, NULL: nobody. */
static const struct aon_next *line_first(const struct line *line)
{
	const struct aon_next *back = &line->again[line->first];

	if (line->first == line->last)
		return line->n ? line->heap : NULL;
	return line->n && before(line->heap, back) ? line->heap : back;
}

/* Takes out who is the FIRST. */
static void line_take(struct line *line, const struct aon_next *first)
{
	if (first != line->heap) {
		line->first++;
		return;
	}
	line->heap[0] = line->heap[--line->n];
	sift(line->heap, line->n, 0);
}

/* NEXT comes back; rounding may make it a little less than, or equal to, who is before it. */
static void line_again(struct line *line, struct aon_next next)
{
	unsigned i;

	for (i = line->last++; i > line->first && before(&next, &line->again[i - 1]); i--)
		line->again[i] = line->again[i - 1];
	line->again[i] = next;
}

/* Equal ones are in the order of the workers. */
static inline bool before(const struct aon_next *a, const struct aon_next *b)
{
	return a->q != b->q ? a->q < b->q : a->choice < b->choice;
}

/* Lets element I of the heap sink to its place. */
static void sift(struct aon_next *heap, unsigned n, unsigned i)
{
	struct aon_next moved;
	unsigned least;

	if (i >= n)
		return;
	for (moved = heap[i]; 2 * i + 1 < n; i = least) {
		least = 2 * i + 1;
		least += least + 1 < n && before(&heap[least + 1], &heap[least]);
		if (before(&moved, &heap[least]))
			break;
		heap[i] = heap[least];
	}
	heap[i] = moved;
}

/* What the dispatch at hand costs: ctx->pushed are the jobs that it makes later. */
static void weigh(struct ask *a)
{
	struct auc_stepper_ctx *ctx = a->ctx;
	struct aon_choice *choice;
	struct aon_job *j = a->j, *other;
	unsigned i, place;

	a->npushed = 0;
	a->own = 0;
	ctx->marks++;
	if (a->cloud_n)
		a->own =
			j->upload[a->cloud->server] + (a->cloud_n == j->n ? j->together : j->apart);
	for (unsigned k = 0; k < a->nchoices; k++) {
		choice = &ctx->choices[k];
		if (!choice->n)
			continue;
		place = load_queue(ctx, j, choice->worker, choice->n);
		run_queue(ctx->ready, ctx->left, ctx->ends, choice->worker->n + 1, j->arrival,
			  NEVER);
		if (ctx->ends[place] - j->arrival > a->own)
			a->own = ctx->ends[place] - j->arrival;
		for (i = place; i < choice->worker->n; i++) {
			other = choice->worker->queue[i].job;
			if (other->mark != ctx->marks) {
				other->mark = ctx->marks;
				other->pushed = other->end;
				ctx->pushed[a->npushed++] = other;
			}
			if (ctx->ends[i + 1] > other->pushed)
				other->pushed = ctx->ends[i + 1];
		}
	}
	a->cost = a->own;
	for (i = 0; i < a->npushed; i++)
		a->cost += ctx->pushed[i]->pushed - ctx->pushed[i]->end;
}

/* The dispatch to be committed. False: there is none. */
static bool choose(struct ask *a)
{
	static const struct {
		bool edge, cloud;
	} ways[] = {{true, true}, {false, true}, {true, false}};
	unsigned best = 0, latest = 0;
	auc_slot least;
	bool split;

	if (!fill(a, a->ctx->site != AON_CLOUD, a->ctx->site != AON_EDGE))
		return false;
	if (!a->ctx->guard)
		return true;
	weigh(a);
	least = a->cost;
	split = a->cloud_n && a->cloud_n < a->j->n;
	/* The cloud wins a tie: nobody can push the job back there. */
	if (a->cloud && a->cloud_n < a->j->n &&
	    a->j->upload[a->cloud->server] + a->j->together <= least) {
		latest = 1;
		if (fill(a, false, true)) {
			weigh(a);
			best = 1;
			least = a->cost;
		}
	}
	if (split) {
		latest = 2;
		if (fill(a, true, false)) {
			weigh(a);
			best = a->cost < least ? 2 : best;
		}
	}
	if (best != latest) {
		fill(a, ways[best].edge, ways[best].cloud);
		weigh(a);
	}
	return true;
}

static enum auc_code commit(struct ask *a, struct auc_err *err)
{
	struct auc_stepper_ctx *ctx = a->ctx;
	struct aon_job *j = a->j;
	enum auc_code rc = AUC_OK;
	unsigned i;

	j->first_cloud = j->n - a->cloud_n;
	j->cloud_undone = a->cloud_n;
	j->colocated = a->cloud_n == j->n;
	j->cloud = a->cloud_n ? a->cloud : NULL;
	if (j->colocated)
		j->length = j->n * j->together;
	for (i = 0; i < j->n && rc == AUC_OK; i++) {
		j->chunks[i].left = (int32_t)(j->colocated ? j->together : j->apart);
		if (i < j->first_cloud)
			rc = aon_put_chunk(ctx, j, ctx->choices[j->chunks[i].next].worker, i, err);
		else
			j->chunks[i].server = j->cloud->server;
		if (ctx->limited[j->chunks[i].server])
			ctx->held[j->chunks[i].server] += j->chunk_units;
	}
	if (!ctx->guard)
		return rc;
	j->end = j->arrival + a->own;
	for (i = 0; i < a->npushed; i++)
		ctx->pushed[i]->end = ctx->pushed[i]->pushed;
	return rc;
}

enum auc_code aon_put_chunk(struct auc_stepper_ctx *ctx, struct aon_job *j, struct aon_worker *w,
			    unsigned chunk, struct auc_err *err)
{
	struct aon_chunk *c = &j->chunks[chunk], *last;
	unsigned i = 0, alloc = w->alloc * 2 + 4;
	struct aon_entry *grown;

	c->server = w->server;
	c->worker = w->index;
	c->next = UINT_MAX;
	while (i < w->n && w->queue[i].job != j &&
	       !aon_before(j, w->queue[i].length, w->queue[i].number))
		i++;
	if (i < w->n && w->queue[i].job == j) {
		for (last = &j->chunks[w->queue[i].chunk]; last->next != UINT_MAX;)
			last = &j->chunks[last->next];
		last->next = chunk;
		w->queue[i].left += c->left;
		return AUC_OK;
	}
	if (w->n == w->alloc) {
		grown = realloc(w->queue, alloc * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "no memory for a queue of chunks");
		w->queue = grown;
		w->alloc = alloc;
	}
	memmove(&w->queue[i + 1], &w->queue[i], (w->n++ - i) * sizeof(*w->queue));
	w->queue[i] = (struct aon_entry){
		.job = j,
		.length = j->length,
		.number = j->number,
		.apart = (int32_t)j->apart,
		.nchunks = (int32_t)j->n,
		.ready = j->arrival + j->upload[w->server],
		.chunk = chunk,
		.left = c->left,
	};
	if (w->n > ctx->longest)
		ctx->longest = w->n;
	return AUC_OK;
}
