/*
 * queue.c - see queue.h. Time goes from event to event: jobs that end, then jobs that come, then a
 * pass over the queue. Within a pass what is free only shrinks, so that a shape that did not fit
 * need not be tried again for the next job that has the same.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/baseline/queue.h"

#define NONE UINT32_MAX

/* Shapes that ask for the same; what is known of them in the pass at hand. */
struct kind {
	unsigned nodes, amount;
	uint64_t full;     /* the pass in which it did not fit now */
	uint64_t delaying; /* the pass in which it did not fit beside the reservation */
};

struct candidate {
	int64_t left; /* of the first TRES */
	unsigned node;
	bool harms; /* the reservation may need it */
};

struct world {
	const struct queue *q;
	struct queue_outcome *out;
	double now;
	uint64_t pass;
	unsigned nkinds;
	struct kind *kinds;
	unsigned *kind_of; /* by shape */
	int64_t *free;     /* by node and TRES */
	/* waiting, in the order of submission */
	unsigned head, tail, *next;
	/* running: by the end, and by the end that is known beforehand */
	unsigned nrunning, *ends, *limits;
	double *limit; /* by job */
	/* the reservation: of a shape, at a time when the nodes have LATER free */
	bool reserved;
	double when;
	const struct queue_shape *wants;
	int64_t *later;
	unsigned spare; /* nodes more than it needs */
	struct candidate *list;
};

static enum auc_code make(struct world *w, struct auc_err *err);
static void release(struct world *w);
static void make_kinds(struct world *w);
static void come(struct world *w, unsigned job);
static void end_first(struct world *w);
static enum auc_code pass(struct world *w, bool backfill, struct auc_err *err);
static bool start_first(struct world *w, unsigned job, enum auc_code *rc, struct auc_err *err);
static bool backfill_one(struct world *w, unsigned job, enum auc_code *rc, struct auc_err *err);
static void reserve(struct world *w, unsigned job);
static unsigned count_fits(const struct world *w, const int64_t *free, const struct queue_shape *s);
static bool fits(const struct world *w, const int64_t *node, const struct queue_shape *s);
static unsigned choose(struct world *w, const struct queue_shape *s, bool careful);
static enum auc_code start(struct world *w, unsigned job, unsigned shape, bool stays,
			   struct auc_err *err);
static void take(const struct world *w, int64_t *free, unsigned job, int sign);
static void insert(const struct world *w, unsigned *list, unsigned n, unsigned job, bool by_limit);
static void remove_job(unsigned *list, unsigned n, unsigned job);

enum auc_code queue_run(const struct queue *q, bool backfill, struct queue_outcome *out,
			queue_progress progress, void *arg, struct auc_err *err)
{
	struct world w = {.q = q, .out = out, .head = NONE, .tail = NONE};
	enum auc_code rc = make(&w, err);
	unsigned next = 0;
	double when;

	while (rc == AUC_OK && (next < q->njobs || w.nrunning)) {
		when = w.nrunning ? out[w.ends[0]].end : INFINITY;
		if (next < q->njobs)
			when = fmin(when, q->jobs[next].submit);
		w.now = when;
		while (w.nrunning && out[w.ends[0]].end <= when)
			end_first(&w);
		while (next < q->njobs && q->jobs[next].submit <= when)
			come(&w, next++);
		if (rc == AUC_OK)
			rc = pass(&w, backfill, err);
		if (rc == AUC_OK && progress && !progress(arg, next, q->njobs))
			rc = auc_err_set(err, AUC_ESTATE, "the work was stopped");
	}
	release(&w);
	return rc;
}

void queue_clear(struct queue_outcome *out, unsigned n)
{
	for (unsigned i = 0; out && i < n; i++)
		free(out[i].nodes);
}

/* -- memory -- */

static enum auc_code make(struct world *w, struct auc_err *err)
{
	const struct queue *q = w->q;
	size_t cells = (size_t)q->nnodes * q->ntres + 1, jobs = (size_t)q->njobs + 1;

	w->kinds = calloc((size_t)q->nshapes + 1, sizeof(*w->kinds));
	w->kind_of = calloc((size_t)q->nshapes + 1, sizeof(*w->kind_of));
	w->free = calloc(cells, sizeof(*w->free));
	w->later = calloc(cells, sizeof(*w->later));
	w->next = calloc(jobs, sizeof(*w->next));
	w->ends = calloc(jobs, sizeof(*w->ends));
	w->limits = calloc(jobs, sizeof(*w->limits));
	w->limit = calloc(jobs, sizeof(*w->limit));
	w->list = calloc((size_t)q->nnodes + 1, sizeof(*w->list));
	if (!w->kinds || !w->kind_of || !w->free || !w->later || !w->next || !w->ends ||
	    !w->limits || !w->limit || !w->list)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a queue of %u jobs", q->njobs);
	memcpy(w->free, q->capacity, (cells - 1) * sizeof(*w->free));
	make_kinds(w);
	return AUC_OK;
}

static void release(struct world *w)
{
	free(w->kinds);
	free(w->kind_of);
	free(w->free);
	free(w->later);
	free(w->next);
	free(w->ends);
	free(w->limits);
	free(w->limit);
	free(w->list);
}

static void make_kinds(struct world *w)
{
	const struct queue *q = w->q;
	const struct queue_shape *s;
	struct kind *k;
	unsigned i, j;

	for (i = 0; i < q->nshapes; i++) {
		s = &q->shapes[i];
		for (j = 0; j < w->nkinds; j++) {
			k = &w->kinds[j];
			if (k->nodes == s->nodes &&
			    !memcmp(q->amounts + k->amount, q->amounts + s->amount,
				    q->ntres * sizeof(*q->amounts)))
				break;
		}
		if (j == w->nkinds)
			w->kinds[w->nkinds++] =
				(struct kind){.nodes = s->nodes, .amount = s->amount};
		w->kind_of[i] = j;
	}
}

/* -- events -- */

static void come(struct world *w, unsigned job)
{
	const struct queue_job *j = &w->q->jobs[job];
	bool ever = false;

	for (unsigned i = 0; i < j->n && !ever; i++) {
		const struct queue_shape *s = &w->q->shapes[j->first + i];

		ever = count_fits(w, w->q->capacity, s) >= s->nodes;
	}
	if (!ever) {
		w->out[job].start = w->out[job].end = -1;
		return;
	}
	w->next[job] = NONE;
	if (w->tail == NONE)
		w->head = job;
	else
		w->next[w->tail] = job;
	w->tail = job;
}

static void end_first(struct world *w)
{
	unsigned job = w->ends[0];

	take(w, w->free, job, 1);
	remove_job(w->ends, w->nrunning, job);
	remove_job(w->limits, w->nrunning, job);
	w->nrunning--;
}

/* -- a pass over the queue -- */

static enum auc_code pass(struct world *w, bool backfill, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned job, before;

	w->pass++;
	w->reserved = false;
	while (w->head != NONE && start_first(w, w->head, &rc, err)) {
		w->head = w->next[w->head];
		if (w->head == NONE)
			w->tail = NONE;
	}
	if (rc != AUC_OK || w->head == NONE || w->next[w->head] == NONE || !backfill)
		return rc;
	reserve(w, w->head);
	for (before = w->head; w->next[before] != NONE && rc == AUC_OK;) {
		job = w->next[before];
		if (!backfill_one(w, job, &rc, err)) {
			before = job;
			continue;
		}
		w->next[before] = w->next[job];
		if (w->tail == job)
			w->tail = before;
	}
	return rc;
}

static bool start_first(struct world *w, unsigned job, enum auc_code *rc, struct auc_err *err)
{
	const struct queue_job *j = &w->q->jobs[job];

	for (unsigned i = 0; i < j->n && *rc == AUC_OK; i++) {
		const struct queue_shape *s = &w->q->shapes[j->first + i];

		if (choose(w, s, false) < s->nodes)
			continue;
		*rc = start(w, job, i, false, err);
		return *rc == AUC_OK;
	}
	return false;
}

static bool backfill_one(struct world *w, unsigned job, enum auc_code *rc, struct auc_err *err)
{
	const struct queue_job *j = &w->q->jobs[job];

	for (unsigned i = 0; i < j->n; i++) {
		const struct queue_shape *s = &w->q->shapes[j->first + i];
		struct kind *k = &w->kinds[w->kind_of[j->first + i]];
		bool stays = w->now + s->limit > w->when;
		unsigned harmed = 0, n;

		if (k->full == w->pass || (stays && k->delaying == w->pass))
			continue;
		if (choose(w, s, stays) < s->nodes) {
			k->full = w->pass;
			continue;
		}
		for (n = 0; stays && n < s->nodes; n++)
			harmed += w->list[n].harms;
		if (harmed > w->spare) {
			k->delaying = w->pass;
			continue;
		}
		*rc = start(w, job, i, stays, err);
		return *rc == AUC_OK;
	}
	return false;
}

/* When JOB will fit: running jobs are let go in the order in which they may end at the latest. */
static void reserve(struct world *w, unsigned job)
{
	const struct queue *q = w->q;
	const struct queue_job *j = &q->jobs[job];
	const struct queue_shape *s;
	unsigned i, r;

	memcpy(w->later, w->free, (size_t)q->nnodes * q->ntres * sizeof(*w->later));
	for (r = 0; r < w->nrunning;) {
		w->when = w->limit[w->limits[r]];
		for (; r < w->nrunning && w->limit[w->limits[r]] <= w->when; r++)
			take(w, w->later, w->limits[r], 1);
		for (i = 0; i < j->n; i++) {
			s = &q->shapes[j->first + i];
			w->spare = count_fits(w, w->later, s);
			if (w->spare < s->nodes)
				continue;
			w->spare -= s->nodes;
			w->wants = s;
			w->reserved = true;
			return;
		}
	}
}

/* -- nodes -- */

static unsigned count_fits(const struct world *w, const int64_t *free, const struct queue_shape *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->q->nnodes; i++)
		n += fits(w, free + (size_t)i * w->q->ntres, s);
	return n;
}

static bool fits(const struct world *w, const int64_t *node, const struct queue_shape *s)
{
	const int64_t *amount = w->q->amounts + s->amount;

	for (unsigned k = 0; k < w->q->ntres; k++)
		if (amount[k] > node[k])
			return false;
	return true;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->harms != y->harms)
		return x->harms ? 1 : -1;
	if (x->left != y->left)
		return x->left < y->left ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Puts the nodes that hold S now into the list, the best first; returns their number. CAREFUL: S is
 * still there when the reservation begins. */
static unsigned choose(struct world *w, const struct queue_shape *s, bool careful)
{
	const int64_t *amount = w->q->amounts + s->amount;
	unsigned ntres = w->q->ntres, first = 0, n = 0, i, k;

	while (first + 1 < ntres && !amount[first])
		first++;
	for (i = 0; i < w->q->nnodes; i++) {
		const int64_t *node = w->free + (size_t)i * ntres;
		const int64_t *later = w->later + (size_t)i * ntres;
		struct candidate *c = &w->list[n];

		if (!fits(w, node, s))
			continue;
		n++;
		*c = (struct candidate){.left = node[first], .node = i};
		if (!careful || !fits(w, later, w->wants))
			continue;
		for (k = 0; k < ntres; k++)
			c->harms |= w->q->amounts[w->wants->amount + k] > later[k] - amount[k];
	}
	if (n >= s->nodes)
		qsort(w->list, n, sizeof(*w->list), compare_candidates);
	return n;
}

static int compare_nodes(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* JOB starts on the first nodes of the list. STAYS: it is still there when the reservation begins.
 */
static enum auc_code start(struct world *w, unsigned job, unsigned shape, bool stays,
			   struct auc_err *err)
{
	const struct queue_shape *s = &w->q->shapes[w->q->jobs[job].first + shape];
	struct queue_outcome *o = &w->out[job];
	unsigned i;

	o->nodes = calloc((size_t)s->nodes + 1, sizeof(*o->nodes));
	if (!o->nodes)
		return auc_err_set(err, AUC_ENOMEM, "no memory for %u nodes", s->nodes);
	for (i = 0; i < s->nodes; i++) {
		o->nodes[i] = w->list[i].node;
		w->spare -= stays && w->list[i].harms;
	}
	qsort(o->nodes, s->nodes, sizeof(*o->nodes), compare_nodes);
	o->shape = shape;
	o->start = w->now;
	o->end = w->now + s->seconds;
	w->limit[job] = fmax(w->now + s->limit, o->end);
	take(w, w->free, job, -1);
	if (stays)
		take(w, w->later, job, -1);
	insert(w, w->ends, w->nrunning, job, false);
	insert(w, w->limits, w->nrunning, job, true);
	w->nrunning++;
	return AUC_OK;
}

/* What JOB holds is added to FREE, or taken from it. */
static void take(const struct world *w, int64_t *free, unsigned job, int sign)
{
	const struct queue_outcome *o = &w->out[job];
	const struct queue_shape *s = &w->q->shapes[w->q->jobs[job].first + o->shape];

	for (unsigned i = 0; i < s->nodes; i++)
		for (unsigned k = 0; k < w->q->ntres; k++)
			free[(size_t)o->nodes[i] * w->q->ntres + k] +=
				sign * w->q->amounts[s->amount + k];
}

/* -- lists of running jobs, ascending by time, then by job -- */

static void insert(const struct world *w, unsigned *list, unsigned n, unsigned job, bool by_limit)
{
	double mine = by_limit ? w->limit[job] : w->out[job].end, other;

	for (; n > 0; n--) {
		other = by_limit ? w->limit[list[n - 1]] : w->out[list[n - 1]].end;
		if (other < mine || (other <= mine && list[n - 1] < job))
			break;
		list[n] = list[n - 1];
	}
	list[n] = job;
}

static void remove_job(unsigned *list, unsigned n, unsigned job)
{
	unsigned i = 0;

	while (i < n && list[i] != job)
		i++;
	memmove(list + i, list + i + 1, (n - i - 1) * sizeof(*list));
}
