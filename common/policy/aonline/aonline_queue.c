/*
 * aonline_queue.c - see aonline-private.h: what waits at a worker, in its order: shorter jobs
 * first, then who came first. Jobs come in the order of their arrival, so that the newest goes
 * after all that are not longer.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "policy/aonline/aonline-private.h"

#define NEVER INT64_MAX

static void ask_serial(const struct aon_job *j, const struct aon_worker *w, int64_t delay,
		       struct aon_choice *choice);
static double part_of(const struct aon_entry *e, int64_t left);
static void ask_waiting(struct auc_stepper_ctx *ctx, const struct aon_job *j,
			const struct aon_worker *w, int64_t delay, struct aon_choice *choice);
static void end_serial(struct auc_stepper_ctx *ctx, const struct aon_job *j,
		       const struct aon_worker *w, const struct aon_choice *choice);
static void load_queue(struct auc_stepper_ctx *ctx, const struct aon_job *j,
		       const struct aon_worker *w, unsigned place, unsigned n);
static void run_queue(const auc_slot *ready, int64_t *left, auc_slot *ends, unsigned n,
		      auc_slot from, auc_slot until);

unsigned aon_queue_place(const struct aon_worker *w, int32_t length)
{
	unsigned place = w->n;

	while (place > 0 && w->queue[place - 1].length > length)
		place--;
	return place;
}

enum auc_code aon_queue_insert(struct auc_stepper_ctx *ctx, struct aon_job *j, unsigned w,
			       unsigned place, unsigned first, unsigned chunks, int64_t left,
			       struct auc_err *err)
{
	struct aon_worker *worker = &j->kind->workers[w];
	unsigned alloc = worker->alloc * 2 + 4;
	struct aon_entry *grown;

	if (worker->n == worker->alloc) {
		grown = realloc(worker->queue, alloc * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "no memory for a queue of chunks");
		worker->queue = grown;
		worker->alloc = alloc;
	}
	if (place < worker->n)
		memmove(&worker->queue[place + 1], &worker->queue[place],
			(worker->n - place) * sizeof(*worker->queue));
	worker->queue[place] = (struct aon_entry){
		.job = j,
		.ready = j->arrival + j->upload[worker->server],
		.length = j->length,
		.left = (int32_t)left,
		.chunks = (int32_t)chunks,
		/* a little less: Q is rounded, and the bound of it must not be above that */
		.weight = (int32_t)((1 << AON_WEIGHT_BITS) / j->n) - 1,
		.apart = (int32_t)j->apart,
		.nchunks = (int32_t)j->n,
		.part = (double)chunks / j->n,
		.chunk = first,
	};
	if (++worker->n > ctx->longest)
		ctx->longest = worker->n;
	aon_queue_changed(j->kind, worker);
	return AUC_OK;
}

void aon_queue_count(struct aon_entry *e, int32_t chunks)
{
	e->chunks = chunks;
	e->part = (double)chunks / e->nchunks;
}

void aon_queue_remove(struct aon_kind *kind, struct aon_worker *w, unsigned e)
{
	w->n--;
	if (e < w->n)
		memmove(&w->queue[e], &w->queue[e + 1], (w->n - e) * sizeof(*w->queue));
	aon_queue_changed(kind, w);
}

void aon_queue_trained(struct aon_kind *kind, const struct aon_worker *w)
{
	struct aon_brief *b = &kind->briefs[w - kind->workers];

	b->left--;
	b->first_left -= w->head == 0;
}

void aon_queue_changed(struct aon_kind *kind, const struct aon_worker *w)
{
	struct aon_brief *b = &kind->briefs[w - kind->workers];
	const struct aon_entry *first = w->queue, *e;
	int64_t all = 0;

	b->n = w->n;
	b->left = b->ready = b->all = 0;
	b->first_left = b->shortest = b->longest = b->last = 0;
	b->least = INT32_MAX;
	if (!w->n)
		return;
	for (e = first; e < first + w->n; e++) {
		b->left += e->left;
		b->ready = e->ready > b->ready ? e->ready : b->ready;
		b->least = e->weight < b->least ? e->weight : b->least;
		all += (int64_t)e->chunks * e->weight;
	}
	all -= (int64_t)(first->chunks - 1) * first->weight;
	b->all = (int32_t)(all < INT32_MAX ? all : INT32_MAX);
	b->first_left = first->left;
	b->shortest = first->length;
	b->longest = e[-1].length;
	b->last = w->n > 1 ? e[-1].chunks * e[-1].weight : 0;
}

void aon_queue_ask(struct auc_stepper_ctx *ctx, const struct aon_job *j, unsigned w,
		   struct aon_choice *choice)
{
	const struct aon_worker *worker = &j->kind->workers[w];
	int64_t delay = j->upload[worker->server];

	choice->n = 0;
	choice->ahead = 0;
	choice->pushed = 0;
	if (choice->serial)
		ask_serial(j, worker, delay, choice);
	else
		ask_waiting(ctx, j, worker, delay, choice);
	choice->behind = worker->n - choice->place;
}

/* One after the other: those ahead, then, as long as the data of J are not there, the others. */
static void ask_serial(const struct aon_job *j, const struct aon_worker *w, int64_t delay,
		       struct aon_choice *choice)
{
	const struct aon_entry *e = w->queue;
	int64_t ahead = 0, gap;
	double pushed = 0;
	unsigned i;

	for (i = 0; i < w->n && e[i].length <= j->length; i++)
		ahead += e[i].left;
	choice->place = i;
	choice->ahead = ahead;
	choice->slots = (ahead > delay ? ahead : delay) + j->apart;
	for (gap = delay - ahead; i < w->n && gap > 0; i++) {
		if (e[i].left > gap)
			pushed += part_of(&e[i], e[i].left - gap);
		gap -= e[i].left;
	}
	for (; i < w->n; i++)
		pushed += e[i].part;
	choice->pushed = pushed * (double)j->length;
}

/* Those of E's chunks, by all of its job's, that take the last LEFT slots of it. */
static double part_of(const struct aon_entry *e, int64_t left)
{
	return (double)((left + e->apart - 1) / e->apart) / e->nchunks;
}

/* The same where data are under way. */
static void ask_waiting(struct auc_stepper_ctx *ctx, const struct aon_job *j,
			const struct aon_worker *w, int64_t delay, struct aon_choice *choice)
{
	unsigned i;

	choice->place = aon_queue_place(w, j->length);
	choice->slots = delay + j->apart;
	load_queue(ctx, j, w, choice->place, 0);
	run_queue(ctx->ready, ctx->left, ctx->ends, w->n, j->arrival, j->arrival + delay);
	for (i = 0; i < choice->place; i++)
		choice->slots += ctx->left[i];
	for (; i < w->n; i++)
		choice->pushed += part_of(&w->queue[i], ctx->left[i]);
	choice->pushed *= (double)j->length;
}

auc_slot aon_queue_ends(struct auc_stepper_ctx *ctx, const struct aon_job *j, unsigned w,
			const struct aon_choice *choice)
{
	const struct aon_worker *worker = &j->kind->workers[w];

	if (choice->serial) {
		if (choice->behind)
			end_serial(ctx, j, worker, choice);
		return j->arrival + choice->slots + (choice->n - 1) * j->apart;
	}
	load_queue(ctx, j, worker, choice->place, choice->n);
	run_queue(ctx->ready, ctx->left, ctx->ends, worker->n + 1, j->arrival, NEVER);
	return ctx->ends[choice->place];
}

/* Those that have time before the data of J are there are not pushed back. */
static void end_serial(struct auc_stepper_ctx *ctx, const struct aon_job *j,
		       const struct aon_worker *w, const struct aon_choice *choice)
{
	auc_slot ready = j->arrival + j->upload[w->server], end = j->arrival + choice->ahead;
	unsigned i;

	for (i = choice->place; i < w->n; i++) {
		end += w->queue[i].left;
		ctx->ends[i + 1] = end <= ready ? end : end + choice->n * j->apart;
	}
}

/* W's queue in ctx->ready and ctx->left, with N chunks of J at PLACE if N > 0. */
static void load_queue(struct auc_stepper_ctx *ctx, const struct aon_job *j,
		       const struct aon_worker *w, unsigned place, unsigned n)
{
	unsigned i, to;

	for (i = 0; i < w->n; i++) {
		to = i + (n > 0 && i >= place);
		ctx->ready[to] = w->queue[i].ready;
		ctx->left[to] = w->queue[i].left;
	}
	if (n) {
		ctx->ready[place] = j->arrival + j->upload[w->server];
		ctx->left[place] = n * j->apart;
	}
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
