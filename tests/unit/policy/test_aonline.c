/*
 * test_aonline.c - policy aonline: runs that can be followed by hand, the same dispatches and slots
 * as a plain reference, its distance from the optimum of tiny cases, and what its guard promises.
 */
#include "config.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auctionsim/baseline/registry.h"
#include "unit/support/aonref.h"
#include "unit/support/stepping.h"

#define SERVERS_MAX 4
#define JOBS_MAX    16
#define WORKERS_MAX 60
#define SLOTS       400
#define NEVER       (-1)

/* Workers by server, the last one is the cloud; PSs there. */
struct world {
	unsigned n;                                           /* servers of the edge */
	int workers[SERVERS_MAX], ps, storage, cloud_storage; /* storage: of the first */
};

struct wish {
	int arrival, chunks, apart, together;
	int delay[SERVERS_MAX + 1]; /* NEVER: it cannot go there; the last one is the cloud's */
};

struct run {
	struct auc_market *m;
	const struct auc_stepper *stepper;
	struct auc_stepper_ctx *ctx;
	struct auc_job job;
	auc_slot completion[JOBS_MAX];
	enum auc_reason reason[JOBS_MAX];
};

static void start(struct run *r, const struct world *w, const char *options)
{
	static const struct auc_named worker = {"gpu", 1}, ps = {"cpu", 1};
	static const struct auc_price none;
	struct auc_err err = {.text = ""};
	struct auc_named capacity[3];
	char name[20];
	unsigned s;

	memset(r, 0, sizeof(*r));
	r->m = auc_market_create(1, 10, 1);
	for (s = 0; s <= w->n; s++) {
		snprintf(name, sizeof(name), "s%u", s);
		capacity[0] = (struct auc_named){"gpu", s < w->n ? w->workers[s] : 1000};
		capacity[1] = (struct auc_named){"cpu", s < w->n ? w->ps : 1000};
		capacity[2] = (struct auc_named){"storage", s == w->n ? w->cloud_storage
							    : s       ? 0
								      : w->storage};
		assert_int_equal(auc_market_add_server(r->m, name, "g", s == w->n, 3, 0, capacity,
						       w->storage || w->cloud_storage ? 3 : 2,
						       &err),
				 AUC_OK);
	}
	auc_market_add_worker_type(r->m, "w", &worker, 1, 16, &err);
	auc_market_add_ps_type(r->m, "p", &ps, 1, 16, &err);
	assert_int_equal(auc_market_ready(r->m, &none, &err), AUC_OK);
	r->stepper = sim_stepper_find("aonline");
	assert_int_equal(r->stepper->create(options, &r->ctx, &err), AUC_OK);
	r->job.upload = calloc(w->n + 1, sizeof(*r->job.upload));
}

static void end_run(struct run *r)
{
	r->stepper->destroy(r->ctx);
	auc_market_destroy(r->m);
	free(r->job.upload);
}

static enum auc_code arrive(struct run *r, const struct world *w, const struct wish *wish,
			    uint64_t id)
{
	unsigned i;

	for (i = 0; i < AUC_TYPES_MAX; i++)
		r->job.worker_seconds[i] = r->job.ps_seconds[i] = -1;
	r->job.arrival = wish->arrival;
	r->job.epochs = r->job.minibatches = 1;
	r->job.chunks = (uint64_t)wish->chunks;
	r->job.worker_seconds[0] = 10.0 * wish->together;
	r->job.ps_seconds[0] = 0;
	r->job.gradient_mb = 10.0 * (wish->apart - wish->together);
	r->job.chunk_mb = 2;
	for (i = 0; i <= w->n; i++)
		r->job.upload[i] = wish->delay[i] == NEVER ? UINT_MAX : (unsigned)wish->delay[i];
	return r->stepper->arrive(r->ctx, r->m, id, &r->job, &r->reason[id], NULL);
}

/* A slot: arrivals in it, of N wishes, and the step. Booked, so that too much is noticed. */
static unsigned slot(struct run *r, const struct world *w, const struct wish *wishes, unsigned n,
		     auc_slot t)
{
	const struct auc_layout *layouts;
	struct auc_plan plan;
	unsigned i, k, count;

	auc_market_advance(r->m, t);
	for (i = 0; i < n; i++)
		if (wishes[i].arrival == t)
			assert_int_equal(arrive(r, w, &wishes[i], i), AUC_OK);
	assert_int_equal(r->stepper->step(r->ctx, r->m, t, &layouts, &count, NULL), AUC_OK);
	auc_plan_init(&plan);
	for (i = 0; i < count; i++) {
		auc_plan_reset(&plan);
		auc_plan_add_run(&plan, t, t, NULL);
		for (k = 0; k < layouts[i].nshares; k++)
			auc_plan_add_share(&plan, layouts[i].shares[k].server,
					   layouts[i].shares[k].workers, layouts[i].shares[k].ps,
					   NULL);
		assert_int_equal(auc_market_book(r->m, &plan, t, t, NULL), AUC_OK);
		if (layouts[i].last)
			r->completion[layouts[i].id] = t + 1;
	}
	auc_plan_clear(&plan);
	return count;
}

/* Until all are complete; returns the sum of their times. */
static long run_all(struct run *r, const struct world *w, const struct wish *wishes, unsigned n)
{
	unsigned done, i;
	auc_slot t;
	long sum = 0;

	for (t = 1, done = 0; done < n && t < SLOTS; t++) {
		slot(r, w, wishes, n, t);
		for (i = done = 0, sum = 0; i < n; i++) {
			done += r->completion[i] || r->reason[i] == AUC_REASON_CAPACITY;
			sum += r->completion[i] ? r->completion[i] - wishes[i].arrival : 0;
		}
	}
	assert_int_equal(done, n);
	return sum;
}

static const struct auc_chunk *chunks_of(struct run *r, uint64_t id, unsigned expected)
{
	const struct auc_chunk *chunks;
	unsigned n;

	assert_int_equal(r->stepper->chunks(r->ctx, id, &chunks, &n, NULL), AUC_OK);
	assert_int_equal(n, expected);
	return chunks;
}

/* One worker: the short job preempts the long one, which goes on where it was. */
static void test_preemption(void **state)
{
	static const struct world w = {.n = 1, .workers = {1}, .ps = 2};
	static const struct wish wishes[] = {{1, 1, 5, 5, {0, NEVER}}, {2, 1, 2, 2, {1, NEVER}}};
	const struct auc_chunk *c;
	struct run r;
	auc_slot t;

	(void)state;
	start(&r, &w, "guard=none");
	for (t = 1; t <= 6; t++)
		assert_int_equal(slot(&r, &w, wishes, 2, t), 1);
	c = chunks_of(&r, 0, 1);
	assert_int_equal(c->preemptions, 1);
	assert_int_equal(c->nruns, 2);
	assert_int_equal(c->runs[0].from, 1);
	assert_int_equal(c->runs[0].to, 2); /* the other's data come in slot 3 */
	assert_int_equal(c->runs[1].from, 5);
	assert_int_equal(r.completion[1], 5);
	slot(&r, &w, wishes, 2, 7);
	assert_int_equal(r.completion[0], 8);
	chunks_of(&r, 0, 1);
	assert_int_equal(slot(&r, &w, wishes, 2, 8), 0);
	assert_int_equal(r.stepper->leave(r.ctx, 0, NULL), AUC_ENOENT);
	end_run(&r);
}

/* Two PSs' worth of jobs, one PS: the longer job pauses; its workers train what comes next. */
static void test_no_ps(void **state)
{
	static const struct world w = {.n = 1, .workers = {3}, .ps = 1};
	static const struct wish wishes[] = {
		{1, 1, 6, 6, {0, NEVER}}, {2, 1, 2, 2, {0, NEVER}}, {3, 1, 9, 9, {0, NEVER}}};
	struct run r;
	auc_slot t;

	(void)state;
	start(&r, &w, "site=edge");
	for (t = 1; t <= 4; t++)
		assert_int_equal(slot(&r, &w, wishes, 3, t), 1);
	assert_int_equal(r.completion[1], 4);
	assert_int_equal(chunks_of(&r, 0, 1)->preemptions, 1);
	assert_int_equal(chunks_of(&r, 2, 1)->nruns, 0);
	assert_int_equal(chunks_of(&r, 0, 1)->runs[1].from, 4);
	end_run(&r);
}

/* Chunks of a job stay stored until it is complete; what is full is skipped. */
static void test_storage(void **state)
{
	static const struct world w = {.n = 2, .workers = {2, 1}, .ps = 9, .storage = 5};
	static const struct wish wishes[] = {{1, 2, 3, 3, {0, NEVER, NEVER}},
					     {2, 1, 1, 1, {0, 2, NEVER}},
					     {3, 1, 1, 1, {0, NEVER, NEVER}},
					     {4, 1, 1, 1, {0, NEVER, NEVER}}};
	struct run r;

	(void)state;
	start(&r, &w, "guard=none");
	run_all(&r, &w, wishes, 4);
	assert_int_equal(r.reason[2], AUC_REASON_CAPACITY); /* both chunks of 0 are still there */
	assert_int_equal(r.completion[1], 5);               /* on the other server */
	assert_int_equal(r.completion[3], 5);
	end_run(&r);
}

/* The guard: a job that waits for less in the cloud goes there as a whole. */
static void test_guard(void **state)
{
	static const struct world w = {.n = 1, .workers = {1}, .ps = 9};
	static const struct wish wish = {1, 4, 3, 2, {0, 6}};
	struct run r;

	(void)state;
	/* Q of the first chunk is 3 here and 8 there: they go here until 3 + 3 n > 9 */
	start(&r, &w, "guard=none");
	assert_int_equal(run_all(&r, &w, &wish, 1), 9);
	assert_int_equal(r.completion[0], 10);
	end_run(&r);
	start(&r, &w, "");
	assert_int_equal(run_all(&r, &w, &wish, 1), 8);
	end_run(&r);
	start(&r, &w, "site=edge");
	assert_int_equal(run_all(&r, &w, &wish, 1), 12);
	end_run(&r);
	start(&r, &w, "site=cloud");
	assert_int_equal(run_all(&r, &w, &wish, 1), 8);
	end_run(&r);
}

/* The guard knows when a shorter job's data come: a job that is complete by then stays. */
static void test_guard_waits(void **state)
{
	static const struct world w = {.n = 1, .workers = {1}, .ps = 9};
	static const struct wish wishes[] = {{1, 1, 5, 5, {10, NEVER}}, {2, 3, 2, 2, {0, 7}}};
	struct run r;

	(void)state;
	start(&r, &w, "");
	run_all(&r, &w, wishes, 2);
	assert_int_equal(r.completion[0], 16);
	assert_int_equal(r.completion[1], 8); /* 11 in the cloud */
	end_run(&r);
}

/*
 * The same where the cloud has room for some chunks only: the second one of the short job would be
 * there by its Q, 5 against 4 slots and a third of 4 slots that the long job's chunk waits; but
 * that job is complete no later, for its other worker has two of its chunks.
 */
static void test_guard_part(void **state)
{
	static const struct world w = {.n = 2, .workers = {1, 1}, .ps = 9, .cloud_storage = 2};
	static const struct wish wishes[] = {{1, 3, 10, 10, {0, 0, NEVER}},
					     {2, 2, 2, 1, {NEVER, 0, 3}}};
	struct run r;

	(void)state;
	start(&r, &w, "guard=none");
	run_all(&r, &w, wishes, 2);
	assert_int_equal(r.completion[0], 21);
	assert_int_equal(r.completion[1], 7);
	end_run(&r);
	start(&r, &w, "");
	run_all(&r, &w, wishes, 2);
	assert_int_equal(r.completion[0], 21);
	assert_int_equal(r.completion[1], 6);
	end_run(&r);
}

static void test_leave(void **state)
{
	static const struct world w = {.n = 1, .workers = {1}, .ps = 9, .storage = 2};
	static const struct wish wishes[] = {
		{1, 1, 9, 9, {0, NEVER}}, {3, 1, 2, 2, {0, NEVER}}, {1, 2, 5, 5, {NEVER, 0}}};
	const struct auc_chunk *chunks;
	struct run r;
	unsigned n;

	(void)state;
	start(&r, &w, "");
	slot(&r, &w, wishes, 1, 1);
	assert_int_equal(arrive(&r, &w, &wishes[2], 2), AUC_OK);
	slot(&r, &w, wishes, 0, 2);
	assert_int_equal(r.stepper->leave(r.ctx, 0, NULL), AUC_OK);
	assert_int_equal(r.stepper->leave(r.ctx, 2, NULL), AUC_OK);
	assert_int_equal(r.stepper->leave(r.ctx, 0, NULL), AUC_ENOENT);
	assert_int_equal(r.stepper->chunks(r.ctx, 0, &chunks, &n, NULL), AUC_ENOENT);
	slot(&r, &w, wishes, 2, 3); /* the storage is free again */
	slot(&r, &w, wishes, 2, 4);
	assert_int_equal(r.completion[1], 5);
	end_run(&r);
}

static void test_refused(void **state)
{
	static const struct world w = {.n = 1, .workers = {1}, .ps = 0};
	static const char *const bad[] = {"guard", "guard=jobs", "guard=job,", "site=moon", ","};
	struct wish wish = {1, 1, 3, 3, {0, NEVER}};
	struct auc_stepper_ctx *ctx;
	struct auc_err err = {.text = ""};
	struct run r;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (auc_stepper_aonline.create(bad[i], &ctx, &err) == AUC_EINVAL) {
			assert_null(ctx);
			assert_non_null(strstr(err.text, "expected guard=job|none"));
			continue;
		}
		assert_int_equal(i, 2); /* an end that ends in a comma */
		auc_stepper_aonline.destroy(ctx);
	}
	start(&r, &w, "");
	arrive(&r, &w, &wish, 0);
	assert_int_equal(r.reason[0], AUC_REASON_CAPACITY); /* no PS anywhere */
	wish.delay[1] = 4;
	arrive(&r, &w, &wish, 0);
	assert_int_equal(r.reason[0], AUC_REASON_NONE);
	wish.apart = AUC_SLOTS_MAX + 1;
	arrive(&r, &w, &wish, 1);
	assert_int_equal(r.reason[1], AUC_REASON_CAPACITY);
	wish.chunks = 70000;
	assert_int_equal(arrive(&r, &w, &wish, 1), AUC_EINVAL);
	end_run(&r);
}

static void make_world(struct tiny_random *random, struct world *w, unsigned servers, int workers)
{
	unsigned s;

	*w = (struct world){.n = (unsigned)tiny_int(random, 1, (int)servers), .ps = 500};
	for (s = 0; s < w->n; s++)
		w->workers[s] = tiny_int(random, 1, workers);
}

static void make_wishes(struct tiny_random *random, const struct world *w, struct wish *wishes,
			unsigned n, int chunks, int slots, int gap, bool cloud)
{
	unsigned i, s;
	int t = 1;

	for (i = 0; i < n; i++) {
		wishes[i].arrival = t += tiny_int(random, 0, gap);
		wishes[i].chunks = tiny_int(random, 1, chunks);
		wishes[i].together = tiny_int(random, 1, slots);
		wishes[i].apart = wishes[i].together + tiny_int(random, 0, 1);
		for (s = 0; s < w->n; s++)
			wishes[i].delay[s] = tiny_int(random, 0, 3);
		if (tiny_chance(random, 0.1) && w->n > 1)
			wishes[i].delay[0] = NEVER;
		wishes[i].delay[w->n] = cloud ? tiny_int(random, 2, 9) : NEVER;
	}
}

/* True if each chunk of job I was on the same worker in the same slots. */
static void compare_chunks(struct run *r, const struct world *w, const struct wish *wishes,
			   const struct aonref *ref, unsigned i)
{
	const struct auc_chunk *chunk = chunks_of(r, i, (unsigned)wishes[i].chunks);
	const struct aonref_chunk *c;
	unsigned s;
	int k, first;

	/* the reference has only jobs that have a place */
	for (s = 0, c = ref->chunks; s < i; s++)
		c += r->reason[s] == AUC_REASON_NONE ? wishes[s].chunks : 0;
	for (k = 0; k < wishes[i].chunks; k++, chunk++, c++) {
		for (s = 0, first = 0; s < chunk->server; s++)
			first += w->workers[s];
		if (c->worker == AONREF_CLOUD)
			assert_int_equal(chunk->server, w->n);
		else
			assert_int_equal(first + (int)chunk->worker, c->worker);
		assert_int_equal(chunk->nruns, c->runs);
		assert_int_equal(chunk->preemptions, c->runs - 1);
		assert_int_equal(chunk->runs[0].from, c->first);
		assert_int_equal(chunk->runs[c->runs - 1].to, c->last);
	}
}

/* The policy and the plain algorithm side by side: wishes are in the order of arrival. */
static void compare_with_reference(const struct world *w, const struct wish *wishes, unsigned n,
				   bool guard)
{
	int delay[WORKERS_MAX], server[WORKERS_MAX], k, workers = 0;
	struct aonref *ref;
	struct run r;
	unsigned i, done = 0;
	bool placed;
	auc_slot t;

	for (i = 0; i < w->n; i++)
		for (k = 0; k < w->workers[i]; k++)
			server[workers++] = (int)i;
	ref = aonref_make(workers);
	ref->guard = guard;
	ref->server = server;
	ref->storage = w->storage / 2;
	ref->cloud_storage = w->cloud_storage / 2;
	start(&r, w, guard ? "" : "guard=none");
	for (t = 1; done < n; t++) {
		assert_true(t < 20 * SLOTS);
		slot(&r, w, wishes, n, t);
		for (i = 0; i < n; i++) {
			if (wishes[i].arrival != t)
				continue;
			for (k = 0; k < workers; k++)
				delay[k] = wishes[i].delay[server[k]];
			placed = aonref_arrive(ref, (int)t, wishes[i].chunks, wishes[i].apart,
					       wishes[i].together, delay, wishes[i].delay[w->n]);
			assert_int_equal(placed, r.reason[i] == AUC_REASON_NONE);
			done += !placed;
		}
		aonref_step(ref, (int)t);
		for (i = 0; i < n; i++)
			if (r.completion[i] == t + 1) {
				compare_chunks(&r, w, wishes, ref, i);
				done++;
			}
	}
	aonref_free(ref);
	end_run(&r);
}

/* The same chunks on the same workers in the same slots as the plain algorithm has them. */
static void test_reference(void **state)
{
	struct tiny_random random = {7};
	struct wish wishes[JOBS_MAX];
	struct world w;
	unsigned round, n;

	(void)state;
	for (round = 0; round < 900; round++) {
		make_world(&random, &w, SERVERS_MAX, 3);
		n = (unsigned)tiny_int(&random, 1, JOBS_MAX);
		make_wishes(&random, &w, wishes, n, 6, 5, 3, tiny_chance(&random, 0.7));
		if (tiny_chance(&random, 0.25))
			w.storage = 2 * tiny_int(&random, 1, 12);
		if (tiny_chance(&random, 0.25))
			w.cloud_storage = 2 * tiny_int(&random, 1, 12);
		compare_with_reference(&w, wishes, n, round % 2);
	}
}

/* The same with many workers, large jobs and data that are under way for long. */
static void test_reference_large(void **state)
{
	struct tiny_random random = {29};
	struct wish wishes[JOBS_MAX];
	struct world w;
	unsigned round, i, s;
	bool far;

	(void)state;
	for (round = 0; round < 60; round++) {
		make_world(&random, &w, SERVERS_MAX, WORKERS_MAX / SERVERS_MAX);
		make_wishes(&random, &w, wishes, JOBS_MAX, 40, 6, 2, tiny_chance(&random, 0.7));
		far = tiny_chance(&random, 0.3);
		for (i = 0; i < JOBS_MAX && far; i++)
			for (s = 0; s <= w.n; s++)
				if (wishes[i].delay[s] != NEVER)
					wishes[i].delay[s] *= tiny_int(&random, 1, 9);
		if (tiny_chance(&random, 0.2))
			w.storage = 2 * tiny_int(&random, 10, 200);
		if (tiny_chance(&random, 0.2))
			w.cloud_storage = 2 * tiny_int(&random, 10, 200);
		compare_with_reference(&w, wishes, JOBS_MAX, round % 2);
	}
}

/* -- the optimum of a tiny case: every way to assign chunks, every way to order them -- */

#define CHUNKS_MAX 5
#define STATES     1024 /* 4 ^ CHUNKS_MAX: at most 3 slots left of each */
#define HORIZON    40

struct search {
	const struct wish *wishes;
	unsigned n;
	int nchunks, nworkers;
	int job[CHUNKS_MAX], at[CHUNKS_MAX], ready[CHUNKS_MAX];
	short best[HORIZON][STATES]; /* sum of times from then on; -1: not known */
};

static int time_left(struct search *s, int t, unsigned left);

/* The least over what worker W and those after it may do in slot T. */
static int try_worker(struct search *s, int t, unsigned left, unsigned after, int w)
{
	int c, value, least = INT_MAX;

	if (w == s->nworkers)
		return time_left(s, t + 1, after);
	for (c = 0; c < s->nchunks; c++) {
		if (s->at[c] != w || !(left >> 2 * c & 3) || s->ready[c] > t)
			continue;
		value = try_worker(s, t, left, after - (1u << 2 * c), w + 1);
		if (value < least)
			least = value;
	}
	return least < INT_MAX ? least : try_worker(s, t, left, after, w + 1);
}

/* LEFT: two bits for each chunk that is on a worker of the edge; those of the cloud are counted
 * apart. */
static int time_left(struct search *s, int t, unsigned left)
{
	unsigned i, waiting = 0;
	int c;

	if (!left)
		return 0;
	assert_true(t < HORIZON);
	if (s->best[t][left] >= 0)
		return s->best[t][left];
	for (i = 0; i < s->n; i++)
		for (c = 0; c < s->nchunks; c++)
			if (s->job[c] == (int)i && left >> 2 * c & 3) {
				waiting += s->wishes[i].arrival <= t;
				break;
			}
	return s->best[t][left] = (short)(try_worker(s, t, left, left, 0) + (int)waiting);
}

/*
 * A job whose chunks are partly in the cloud is complete at the later of both, which the sum over
 * slots does not see: such a chunk counts as one on a worker of its own.
 */
static int optimum(struct search *s, const struct world *w)
{
	int server[CHUNKS_MAX + 16], best = INT_MAX, sum, c, p, k, ways = 1, way, workers = 0;
	unsigned left, i, in_cloud;
	bool possible;

	for (i = 0; i < w->n; i++)
		for (k = 0; k < w->workers[i]; k++)
			server[workers++] = (int)i;
	for (c = 0; c < s->nchunks; c++)
		ways *= workers + 1;
	for (way = 0; way < ways; way++) {
		for (c = 0, k = way; c < s->nchunks; c++, k /= workers + 1)
			s->at[c] = k % (workers + 1);
		possible = true;
		for (c = 0, left = 0; c < s->nchunks; c++) {
			i = (unsigned)s->job[c];
			for (k = 0, in_cloud = 0; k < s->nchunks; k++)
				in_cloud += s->job[k] == (int)i && s->at[k] == workers;
			p = (int)in_cloud == s->wishes[i].chunks ? s->wishes[i].together
								 : s->wishes[i].apart;
			k = s->wishes[i].delay[s->at[c] == workers ? (int)w->n : server[s->at[c]]];
			possible = possible && k != NEVER;
			s->ready[c] = s->wishes[i].arrival + k;
			left |= (unsigned)p << 2 * c;
		}
		if (!possible)
			continue;
		for (c = 0, s->nworkers = workers; c < s->nchunks; c++)
			if (s->at[c] == workers)
				s->at[c] = -1;
		for (c = 0; c < s->nchunks; c++)
			if (s->at[c] < 0)
				s->at[c] = s->nworkers++;
		memset(s->best, -1, sizeof(s->best));
		sum = time_left(s, 1, left);
		if (sum < best)
			best = sum;
	}
	return best;
}

/* How far from the optimum, and that the guard keeps what it promises. */
static void test_optimum(void **state)
{
	static const char *const options[] = {"", "guard=none", "site=cloud"};
	static struct search s;
	struct tiny_random random = {11};
	double ratio, sum[3] = {0}, worst[3] = {0};
	struct wish wishes[JOBS_MAX];
	struct world w;
	struct run r;
	long total[3];
	unsigned round, i, k, rounds = 150;
	int best, c;

	(void)state;
	for (round = 0; round < rounds; round++) {
		make_world(&random, &w, 2, 1);
		s.n = (unsigned)tiny_int(&random, 2, 3);
		do {
			make_wishes(&random, &w, wishes, s.n, 2, 2, 2, true);
			for (i = 0, s.nchunks = 0; i < s.n; i++)
				for (c = 0; c < wishes[i].chunks && s.nchunks < CHUNKS_MAX; c++)
					s.job[s.nchunks++] = (int)i;
			for (i = 0, c = 0; i < s.n; i++)
				c += wishes[i].chunks;
		} while (c > CHUNKS_MAX);
		s.wishes = wishes;
		best = optimum(&s, &w);
		for (k = 0; k < 3; k++) {
			start(&r, &w, options[k]);
			total[k] = run_all(&r, &w, wishes, s.n);
			end_run(&r);
			assert_true(total[k] >= best);
			ratio = (double)total[k] / best;
			sum[k] += ratio;
			worst[k] = ratio > worst[k] ? ratio : worst[k];
		}
		assert_true(total[0] <= total[2]);
	}
	for (k = 0; k < 3; k++)
		print_message("total time to completion over the optimum, %-10s: mean %.3f, at "
			      "most %.3f\n",
			      *options[k] ? options[k] : "default", sum[k] / rounds, worst[k]);
	assert_true(sum[0] <= sum[1]);
	assert_true(worst[0] < 2);
}

/* With any number of jobs: never later in sum than if all of them went to the cloud. */
static void test_guard_sum(void **state)
{
	struct tiny_random random = {23};
	struct wish wishes[JOBS_MAX];
	struct world w;
	struct run r;
	long total, cloud;
	unsigned round, n, i;

	(void)state;
	for (round = 0; round < 600; round++) {
		make_world(&random, &w, SERVERS_MAX, 3);
		n = (unsigned)tiny_int(&random, 1, JOBS_MAX);
		make_wishes(&random, &w, wishes, n, 6, 5, 3, true);
		start(&r, &w, "");
		total = run_all(&r, &w, wishes, n);
		end_run(&r);
		for (i = 0, cloud = 0; i < n; i++)
			cloud += wishes[i].delay[w.n] + wishes[i].together;
		assert_true(total <= cloud);
	}
}

/* Every stepper, where types and PSs share resources and others have some: all that it does fits.
 */
static void test_shared(void **state)
{
	static const char *const options[] = {"guard=job", "guard=none", "site=edge", "site=cloud"};
	struct tiny_job list[STEPPING_JOBS];
	static struct tiny_market t;
	struct tiny_random random;
	unsigned round, servers, slots, i, done = 0;

	(void)state;
	for (round = 0; round < 400; round++) {
		random.state = 1000 + round;
		servers = (unsigned)tiny_int(&random, 1, 8);
		slots = (unsigned)tiny_int(&random, 4, TINY_SLOTS);
		tiny_market_make(&t, &random, servers, slots);
		for (i = 0; i < STEPPING_JOBS; i++)
			tiny_job_make(&list[i], &random, &t);
		for (i = 0; sim_steppers[i]; i++)
			if (!sim_steppers[i]->sites) /* these jobs have no chunks at sites */
				done += stepping_run(sim_steppers[i], "", &t, list, STEPPING_JOBS,
						     NULL);
		for (i = 0; i < 4; i++)
			done += stepping_run(&auc_stepper_aonline, options[i], &t, list,
					     STEPPING_JOBS, NULL);
	}
	assert_true(done > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preemption),  cmocka_unit_test(test_no_ps),
		cmocka_unit_test(test_storage),     cmocka_unit_test(test_guard),
		cmocka_unit_test(test_guard_waits), cmocka_unit_test(test_guard_part),
		cmocka_unit_test(test_leave),       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_reference),   cmocka_unit_test(test_reference_large),
		cmocka_unit_test(test_optimum),     cmocka_unit_test(test_guard_sum),
		cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
