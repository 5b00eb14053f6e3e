/* aonref.c - see aonref.h */
#include <stdlib.h>
#include <string.h>

#include "unit/support/aonref.h"

struct aonref *aonref_make(int workers)
{
	struct aonref *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->nworkers = workers;
	r->queues = calloc((size_t)workers + 1, sizeof(*r->queues));
	if (!r->queues)
		abort();
	return r;
}

static void clear(struct aonref *r)
{
	int w;

	for (w = 0; w < r->nworkers; w++)
		free(r->queues[w].chunks);
	free(r->queues);
	free(r->jobs);
	free(r->chunks);
	free(r->left);
}

void aonref_free(struct aonref *r)
{
	clear(r);
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
		r->left = realloc(r->left, (size_t)r->chunks_alloc * sizeof(*r->left));
	}
	if (!r->jobs || !r->chunks || !r->left)
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

static void put(struct aonref *r, int chunk, struct aonref_queue *q)
{
	int k;

	if (q->n == q->alloc) {
		q->alloc = q->alloc * 2 + 8;
		q->chunks = realloc(q->chunks, (size_t)q->alloc * sizeof(*q->chunks));
		if (!q->chunks)
			abort();
	}
	for (k = q->n++; k > 0 && before(r, chunk, q->chunks[k - 1]); k--)
		q->chunks[k] = q->chunks[k - 1];
	q->chunks[k] = chunk;
}

/* D times Q, equation (5), of chunk NEW (not yet placed) on WORKER. */
static double quantity(struct aonref *r, int new, int worker, int delay)
{
	const struct aonref_job *j = &r->jobs[r->chunks[new].job];
	const int *queue = r->queues[worker].chunks;
	int n = r->queues[worker].n, t, i, k, count;
	double wait = 0, pushed = 0;

	for (i = 0; i < n; i++)
		r->left[i] = r->chunks[queue[i]].left;
	for (t = j->arrival; t < j->arrival + delay; t++)
		for (i = 0; i < n; i++)
			if (r->left[i] && r->chunks[queue[i]].ready <= t) {
				r->left[i]--;
				break;
			}
	for (i = 0; i < n && !before(r, new, queue[i]); i++)
		wait += r->left[i];
	/* those of one job together, so that equal sums are equal to the last bit */
	for (; i < n; i = k) {
		for (k = i, count = 0; k < n; k++) {
			if (r->chunks[queue[k]].job != r->chunks[queue[i]].job)
				break;
			count += r->left[k] > 0;
		}
		pushed += (double)count / r->jobs[r->chunks[queue[i]].job].n;
	}
	return delay + wait + j->p + (double)j->n * j->p * pushed;
}

/* True if N more chunks are more than SITE (AONREF_CLOUD or a server) can store besides those of
 * jobs that are not complete. */
static bool full(const struct aonref *r, int site, int n, int t)
{
	int storage = site == AONREF_CLOUD ? r->cloud_storage : site ? 0 : r->storage;
	const struct aonref_chunk *c;

	if (!storage)
		return false;
	for (c = r->chunks; c < r->chunks + r->nchunks; c++)
		n += (c->worker == AONREF_CLOUD ? AONREF_CLOUD : r->server[c->worker]) == site &&
		     (!r->jobs[c->job].completion || r->jobs[c->job].completion > t);
	return n > storage;
}

/* Algorithm 2 with all workers, or those of a site. False: it stopped somewhere. */
static bool dispatch(struct aonref *r, const struct aonref_job *job, int together, const int *delay,
		     int cloud_delay, bool at_edge, bool in_cloud)
{
	struct aonref_job *j;
	struct aonref_chunk *c;
	double q, least = 0;
	int d, w, best, n = job->n, apart = job->p;
	bool cloud = false;

	make_room(r, n);
	j = &r->jobs[r->njobs];
	*j = *job;
	j->first_chunk = r->nchunks;
	for (d = 0; d < n; d++) {
		c = &r->chunks[r->nchunks];
		*c = (struct aonref_chunk){.job = r->njobs, .left = apart};
		best = -2;
		for (w = 0; w < r->nworkers && at_edge && !cloud; w++) {
			if (delay[w] == AONREF_FAR ||
			    (r->storage && full(r, r->server[w], 1, j->arrival)))
				continue;
			q = quantity(r, r->nchunks, w, delay[w]);
			if (best == -2 || q < least) {
				best = w;
				least = q;
			}
		}
		q = cloud_delay + (d ? apart : together);
		if (in_cloud && cloud_delay != AONREF_FAR &&
		    (cloud ||
		     ((best == -2 || q < least) && !full(r, AONREF_CLOUD, n - d, j->arrival)))) {
			cloud = true;
			best = AONREF_CLOUD;
			if (!d)
				j->p = together;
		}
		if (best == -2)
			return false;
		c->worker = best;
		c->left = j->p;
		c->ready = j->arrival + (cloud ? cloud_delay : delay[best]);
		if (!cloud)
			put(r, r->nchunks, &r->queues[best]);
		r->nchunks++;
	}
	r->njobs++;
	return true;
}

static void *copy(const void *data, size_t n)
{
	void *made = malloc(n + 1);

	if (!made)
		abort();
	return n ? memcpy(made, data, n) : made;
}

static struct aonref *copy_all(const struct aonref *r)
{
	struct aonref *made = copy(r, sizeof(*r));
	int w;

	made->jobs = copy(r->jobs, (size_t)r->jobs_alloc * sizeof(*r->jobs));
	made->chunks = copy(r->chunks, (size_t)r->chunks_alloc * sizeof(*r->chunks));
	made->left = copy(r->left, (size_t)r->chunks_alloc * sizeof(*r->left));
	made->queues = copy(r->queues, (size_t)r->nworkers * sizeof(*r->queues));
	for (w = 0; w < r->nworkers; w++)
		made->queues[w].chunks =
			copy(r->queues[w].chunks, (size_t)r->queues[w].alloc * sizeof(int));
	return made;
}

/* The sum of all completions if nobody else comes after slot T began. */
static long run_out(const struct aonref *r, int t)
{
	struct aonref *tried = copy_all(r);
	long sum;
	int i;
	bool busy = true;

	for (; busy; t++) {
		aonref_step(tried, t);
		for (i = 0, busy = false, sum = 0; i < tried->njobs; i++) {
			busy = busy || !tried->jobs[i].completion;
			sum += tried->jobs[i].completion;
		}
	}
	aonref_free(tried);
	return sum;
}

/* What TRIED holds, if it is better than R by more than nothing, or BEST has none yet. */
static void keep_better(struct aonref **best, long *least, struct aonref *tried, int t, bool tie)
{
	long sum = run_out(tried, t);

	if (*best && (tie ? sum > *least : sum >= *least)) {
		aonref_free(tried);
		return;
	}
	if (*best)
		aonref_free(*best);
	*best = tried;
	*least = sum;
}

bool aonref_arrive(struct aonref *r, int arrival, int n, int apart, int together, const int *delay,
		   int cloud_delay)
{
	struct aonref_job job = {arrival, n, apart, 0, n, 0};
	struct aonref *best = NULL, *tried;
	long least = 0;
	bool split;
	int k, at_edge;

	if (!r->guard && !r->storage && !r->cloud_storage)
		return dispatch(r, &job, together, delay, cloud_delay, true, true);
	tried = copy_all(r);
	if (!dispatch(tried, &job, together, delay, cloud_delay, true, true)) {
		aonref_free(tried);
		return false;
	}
	for (k = 0, at_edge = 0; k < n; k++)
		at_edge += tried->chunks[r->nchunks + k].worker != AONREF_CLOUD;
	split = at_edge && at_edge < n;
	keep_better(&best, &least, tried, arrival, false);
	tried = r->guard ? copy_all(r) : NULL;
	if (tried && dispatch(tried, &job, together, delay, cloud_delay, false, true))
		keep_better(&best, &least, tried, arrival, true);
	else if (tried)
		aonref_free(tried);
	tried = r->guard && split ? copy_all(r) : NULL;
	if (tried && dispatch(tried, &job, together, delay, cloud_delay, true, false))
		keep_better(&best, &least, tried, arrival, false);
	else if (tried)
		aonref_free(tried);
	clear(r);
	*r = *best;
	free(best);
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
	struct aonref_queue *q;
	struct aonref_chunk *c;
	int i;

	for (q = r->queues; q < r->queues + r->nworkers; q++)
		for (i = 0; i < q->n; i++) {
			c = &r->chunks[q->chunks[i]];
			if (c->ready > t)
				continue;
			train(r, c, t);
			if (!c->left)
				memmove(&q->chunks[i], &q->chunks[i + 1],
					(size_t)(--q->n - i) * sizeof(*q->chunks));
			break;
		}
	for (i = 0; i < r->nchunks; i++)
		if (r->chunks[i].worker == AONREF_CLOUD && r->chunks[i].left &&
		    r->chunks[i].ready <= t)
			train(r, &r->chunks[i], t);
}
