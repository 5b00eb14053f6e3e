/* aonref.c - see aonref.h */
#include <stdlib.h>
#include <string.h>

#include "aonref.h"

struct aonref *aonref_make(int workers)
{
	struct aonref *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->nworkers = workers;
	return r;
}

void aonref_free(struct aonref *r)
{
	free(r->jobs);
	free(r->chunks);
	free(r->queue);
	free(r->left);
	free(r);
}

static void make_room(struct aonref *r, int chunks)
{
	if (r->njobs == r->jobs_alloc) {
		r->jobs_alloc = r->jobs_alloc * 2 + 8;
		r->jobs = realloc(r->jobs, (size_t)r->jobs_alloc * sizeof(*r->jobs));
	}
	while (r->nchunks + chunks > r->chunks_alloc) {
		r->chunks_alloc = r->chunks_alloc * 2 + 64;
		r->chunks = realloc(r->chunks, (size_t)r->chunks_alloc * sizeof(*r->chunks));
		r->queue = realloc(r->queue, (size_t)r->chunks_alloc * sizeof(*r->queue));
		r->left = realloc(r->left, (size_t)r->chunks_alloc * sizeof(*r->left));
	}
	if (!r->jobs || !r->chunks || !r->queue || !r->left)
		abort();
}

/* True if chunk A goes before chunk B: shorter jobs, then earlier ones. */
static bool before(const struct aonref *r, int a, int b)
{
	const struct aonref_job *x = &r->jobs[r->chunks[a].job], *y = &r->jobs[r->chunks[b].job];

	if (x->n * x->p != y->n * y->p)
		return x->n * x->p < y->n * y->p;
	return a < b;
}

/* Pending chunks of a worker, in their order. */
static int pending(struct aonref *r, int worker)
{
	int n = 0, i, k;

	for (i = 0; i < r->nchunks; i++) {
		if (r->chunks[i].worker != worker || !r->chunks[i].left)
			continue;
		for (k = n++; k > 0 && before(r, i, r->queue[k - 1]); k--)
			r->queue[k] = r->queue[k - 1];
		r->queue[k] = i;
	}
	return n;
}

/* D times Q, equation (5), of chunk NEW (not yet placed) on WORKER. */
static double quantity(struct aonref *r, int new, int worker, int delay)
{
	const struct aonref_job *j = &r->jobs[r->chunks[new].job];
	int n = pending(r, worker), t, i, k, count;
	double wait = 0, pushed = 0;

	for (i = 0; i < n; i++)
		r->left[i] = r->chunks[r->queue[i]].left;
	for (t = j->arrival; t < j->arrival + delay; t++)
		for (i = 0; i < n; i++)
			if (r->left[i] && r->chunks[r->queue[i]].ready <= t) {
				r->left[i]--;
				break;
			}
	for (i = 0; i < n && !before(r, new, r->queue[i]); i++)
		wait += r->left[i];
	/* those of one job together, so that equal sums are equal to the last bit */
	for (; i < n; i = k) {
		for (k = i, count = 0; k < n; k++) {
			if (r->chunks[r->queue[k]].job != r->chunks[r->queue[i]].job)
				break;
			count += r->left[k] > 0;
		}
		pushed += (double)count / r->jobs[r->chunks[r->queue[i]].job].n;
	}
	return delay + wait + j->p + (double)j->n * j->p * pushed;
}

bool aonref_arrive(struct aonref *r, int arrival, int n, int apart, int together, const int *delay,
		   int cloud_delay)
{
	struct aonref_job *j;
	struct aonref_chunk *c;
	double q, least = 0;
	int d, w, best;
	bool cloud = false;

	make_room(r, n);
	j = &r->jobs[r->njobs];
	*j = (struct aonref_job){arrival, n, apart, r->nchunks, n, 0};
	for (d = 0; d < n; d++) {
		c = &r->chunks[r->nchunks];
		*c = (struct aonref_chunk){.job = r->njobs, .left = apart};
		best = -2;
		for (w = 0; w < r->nworkers && !cloud; w++) {
			if (delay[w] == AONREF_FAR)
				continue;
			q = quantity(r, r->nchunks, w, delay[w]);
			if (best == -2 || q < least) {
				best = w;
				least = q;
			}
		}
		q = cloud_delay + (d ? apart : together);
		if (cloud_delay != AONREF_FAR && (cloud || best == -2 || q < least)) {
			cloud = true;
			best = AONREF_CLOUD;
			if (!d)
				j->p = together;
		}
		if (best == -2)
			return false;
		c->worker = best;
		c->left = j->p;
		c->ready = arrival + (cloud ? cloud_delay : delay[best]);
		r->nchunks++;
	}
	r->njobs++;
	return true;
}

static void train(struct aonref *r, struct aonref_chunk *c, int t)
{
	struct aonref_job *j = &r->jobs[c->job];

	if (!c->runs)
		c->first = t;
	if (!c->runs || c->last != t - 1)
		c->runs++;
	c->last = t;
	if (--c->left || --j->undone)
		return;
	j->completion = t + 1;
}

void aonref_step(struct aonref *r, int t)
{
	int w, i, n;

	for (w = 0; w < r->nworkers; w++) {
		n = pending(r, w);
		for (i = 0; i < n; i++)
			if (r->chunks[r->queue[i]].ready <= t) {
				train(r, &r->chunks[r->queue[i]], t);
				break;
			}
	}
	for (i = 0; i < r->nchunks; i++)
		if (r->chunks[i].worker == AONREF_CLOUD && r->chunks[i].left &&
		    r->chunks[i].ready <= t)
			train(r, &r->chunks[i], t);
}
