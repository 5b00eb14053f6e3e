/* test_queue.c - FIFO and EASY backfill (auctionsim/baseline/queue.h): examples by hand, and small
 * queues against a simulation second by second that tries every set of nodes. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auctionsim/baseline/queue.h"
#include "unit/support/splitmix.h"

#define NODES 4
#define JOBS  12
#define TRES  2
#define FAR   2000 /* seconds: all is over by then */

struct small {
	unsigned nnodes, njobs, nshapes;
	int64_t capacity[NODES * TRES], amounts[2 * JOBS * TRES];
	struct queue_shape shapes[2 * JOBS];
	struct queue_job jobs[JOBS];
};

static struct queue queue_of(const struct small *s)
{
	return (struct queue){.ntres = TRES,
			      .nnodes = s->nnodes,
			      .njobs = s->njobs,
			      .nshapes = s->nshapes,
			      .capacity = s->capacity,
			      .amounts = s->amounts,
			      .shapes = s->shapes,
			      .jobs = s->jobs};
}

static void add_node(struct small *s, int64_t gpus, int64_t cpus)
{
	s->capacity[s->nnodes * TRES] = gpus;
	s->capacity[s->nnodes++ * TRES + 1] = cpus;
}

static void add_shape(struct small *s, unsigned nodes, int64_t gpus, int64_t cpus, double seconds,
		      double limit)
{
	s->amounts[s->nshapes * TRES] = gpus;
	s->amounts[s->nshapes * TRES + 1] = cpus;
	s->shapes[s->nshapes] = (struct queue_shape){nodes, s->nshapes * TRES, seconds, limit};
	s->nshapes++;
	s->jobs[s->njobs - 1].n++;
}

static void add_job(struct small *s, double submit, unsigned nodes, int64_t gpus, double seconds,
		    double limit)
{
	s->jobs[s->njobs++] = (struct queue_job){submit, s->nshapes, 0};
	add_shape(s, nodes, gpus, 0, seconds, limit);
}

static void run(const struct small *s, bool backfill, struct queue_outcome *out)
{
	struct queue q = queue_of(s);

	memset(out, 0, JOBS * sizeof(*out));
	assert_int_equal(queue_run(&q, backfill, out, NULL, NULL, NULL), 0);
}

/* -- the same, second by second -- */

struct slow {
	const struct small *s;
	bool running[JOBS], done[JOBS];
	unsigned shape[JOBS], nodes[JOBS]; /* nodes: a set of bits */
	int start[JOBS];
};

static const struct queue_shape *shape_of(const struct small *s, unsigned job, unsigned i)
{
	return &s->shapes[s->jobs[job].first + i];
}

/* Whether SHAPE fits on all of the nodes SET beside the jobs that LASTS says are there. */
static bool fits(const struct slow *w, const bool *there, const struct queue_shape *shape,
		 unsigned set)
{
	const struct small *s = w->s;

	for (unsigned n = 0; n < s->nnodes; n++) {
		if (!(set >> n & 1))
			continue;
		for (unsigned k = 0; k < TRES; k++) {
			int64_t left = s->capacity[n * TRES + k] - s->amounts[shape->amount + k];

			for (unsigned j = 0; j < s->njobs; j++)
				if (there[j] && w->nodes[j] >> n & 1)
					left -= s->amounts[shape_of(s, j, w->shape[j])->amount + k];
			if (left < 0)
				return false;
		}
	}
	return true;
}

/* Some set of as many nodes as SHAPE has. */
static bool fits_somewhere(const struct slow *w, const bool *there, const struct queue_shape *shape)
{
	for (unsigned set = 0; set < 1u << w->s->nnodes; set++)
		if ((unsigned)__builtin_popcount(set) == shape->nodes && fits(w, there, shape, set))
			return true;
	return false;
}

/* Who may still be there at time T. */
static void lasting(const struct slow *w, int t, bool *there)
{
	for (unsigned j = 0; j < w->s->njobs; j++)
		there[j] = w->running[j] && w->start[j] + shape_of(w->s, j, w->shape[j])->limit > t;
}

/* Where HEAD will start, and in which shape, if all take as long as they may. */
static int reserve(const struct slow *w, unsigned head, int now, const struct queue_shape **shape)
{
	bool there[JOBS];

	for (int t = now + 1; t < FAR; t++) {
		lasting(w, t, there);
		for (unsigned i = 0; i < w->s->jobs[head].n; i++) {
			*shape = shape_of(w->s, head, i);
			if (fits_somewhere(w, there, *shape))
				return t;
		}
	}
	fail_msg("job %u never starts", head);
	return FAR;
}

/* Of a node what the rule goes by: nodes that the head needs last, then the fullest. */
static int64_t rank(const struct slow *w, unsigned job, const struct queue_shape *shape, unsigned n,
		    const struct queue_shape *wants, int when)
{
	bool there[JOBS], harms = false;
	int64_t left;
	unsigned k = w->s->amounts[shape->amount] ? 0 : 1;

	if (wants) {
		lasting(w, when, there);
		harms = fits(w, there, wants, 1u << n);
		for (unsigned i = 0; i < TRES; i++) {
			left = w->s->capacity[n * TRES + i] - w->s->amounts[shape->amount + i] -
			       w->s->amounts[wants->amount + i];
			for (unsigned j = 0; j < w->s->njobs; j++)
				if (there[j] && j != job && w->nodes[j] >> n & 1)
					left -= w->s->amounts[shape_of(w->s, j, w->shape[j])
								      ->amount +
							      i];
			if (left < 0)
				break;
			if (i + 1 == TRES)
				harms = false;
		}
	}
	left = w->s->capacity[n * TRES + k];
	for (unsigned j = 0; j < w->s->njobs; j++)
		if (w->running[j] && w->nodes[j] >> n & 1)
			left -= w->s->amounts[shape_of(w->s, j, w->shape[j])->amount + k];
	return (harms ? 1000000 : 0) + left * 100 + n;
}

/* Starts JOB if it fits now, and with WANTS if the head still fits at WHEN. */
static bool try_start(struct slow *w, unsigned job, int now, const struct queue_shape *wants,
		      int when)
{
	bool there[JOBS];

	for (unsigned i = 0; i < w->s->jobs[job].n; i++) {
		const struct queue_shape *shape = shape_of(w->s, job, i);
		bool stays = wants && now + shape->limit > when;
		unsigned best = 0;
		int64_t least = INT64_MAX;

		for (unsigned set = 1; set < 1u << w->s->nnodes; set++) {
			int64_t sum = 0;
			bool ok = (unsigned)__builtin_popcount(set) == shape->nodes &&
				  fits(w, w->running, shape, set);

			if (ok && stays) {
				w->running[job] = true;
				w->nodes[job] = set;
				w->shape[job] = i;
				w->start[job] = now;
				lasting(w, when, there);
				ok = fits_somewhere(w, there, wants);
				w->running[job] = false;
				w->nodes[job] = 0;
			}
			if (!ok)
				continue;
			/* The rule takes the first in order: their ranks' sum is the least. */
			for (unsigned n = 0; n < w->s->nnodes; n++)
				if (set >> n & 1)
					sum += rank(w, job, shape, n, stays ? wants : NULL, when);
			if (sum < least) {
				least = sum;
				best = set;
			}
		}
		if (!best)
			continue;
		w->running[job] = true;
		w->nodes[job] = best;
		w->shape[job] = i;
		w->start[job] = now;
		return true;
	}
	return false;
}

static void run_slowly(struct slow *w, bool backfill)
{
	const struct small *s = w->s;
	const struct queue_shape *wants;
	bool nobody[JOBS] = {0};
	int when;

	for (unsigned j = 0; j < s->njobs; j++) {
		bool ever = false;

		w->start[j] = -1;
		for (unsigned i = 0; i < s->jobs[j].n; i++)
			ever |= fits_somewhere(w, nobody, shape_of(s, j, i));
		w->done[j] = !ever;
	}
	for (int t = 0; t < FAR; t++) {
		unsigned head = JOBS;

		for (unsigned j = 0; j < s->njobs; j++)
			if (w->running[j] &&
			    w->start[j] + shape_of(s, j, w->shape[j])->seconds <= t) {
				w->running[j] = false;
				w->done[j] = true;
			}
		for (unsigned j = 0; j < s->njobs && s->jobs[j].submit <= t; j++) {
			if (w->running[j] || w->done[j])
				continue;
			if (head == JOBS) {
				if (!try_start(w, j, t, NULL, 0)) {
					head = j;
					if (!backfill)
						break;
					when = reserve(w, head, t, &wants);
				}
				continue;
			}
			try_start(w, j, t, wants, when);
		}
	}
}

/* -- tests -- */

static void test_by_hand(void **state)
{
	struct queue_outcome out[JOBS];
	struct small s = {0};

	(void)state;
	add_node(&s, 4, 0);
	add_job(&s, 0, 1, 3, 8, 10);  /* runs, and may until 10 */
	add_job(&s, 1, 1, 4, 10, 10); /* the head: reserved at 10 */
	add_job(&s, 2, 1, 1, 9, 9);   /* would end at 11: it may not */
	add_job(&s, 2, 1, 1, 5, 8);   /* may end at 10 */
	add_job(&s, 3, 2, 1, 5, 5);   /* no two nodes: never */
	run(&s, true, out);
	assert_true(out[0].start == 0 && out[3].start == 2 && out[4].start < 0);
	assert_true(out[1].start == 8); /* the first job ended early, the fourth at 7 */
	assert_true(out[2].start == 18);
	queue_clear(out, s.njobs);
	run(&s, false, out);
	assert_true(out[1].start == 8 && out[2].start == 18 && out[3].start == 18);
	queue_clear(out, s.njobs);
}

/* A job that outlasts the reservation may take what the head leaves. */
static void test_spare_nodes(void **state)
{
	struct queue_outcome out[JOBS];
	struct small s = {0};

	(void)state;
	for (unsigned n = 0; n < 3; n++)
		add_node(&s, 4, 0);
	add_job(&s, 0, 2, 4, 10, 10); /* nodes 0 and 1 */
	add_job(&s, 1, 2, 4, 10, 10); /* the head: 2 of 3 nodes at 10 */
	add_job(&s, 2, 1, 2, 99, 99); /* node 2, beside which two are left */
	add_job(&s, 3, 1, 1, 99, 99); /* the same node: no harm any more */
	add_job(&s, 4, 1, 2, 9, 9);   /* does not fit beside them */
	run(&s, true, out);
	assert_true(out[1].start == 10 && out[2].start == 2 && out[3].start == 3);
	assert_true(out[3].nodes[0] == 2 && out[4].start >= 10);
	queue_clear(out, s.njobs);
}

/* Of the nodes that are to spare each is given away once. */
static void test_spare_nodes_run_out(void **state)
{
	struct queue_outcome out[JOBS];
	struct small s = {0};

	(void)state;
	for (unsigned n = 0; n < 3; n++)
		add_node(&s, 4, 0);
	add_job(&s, 0, 3, 3, 10, 10);
	add_job(&s, 1, 1, 4, 10, 10); /* the head: one of three nodes at 10 */
	for (unsigned n = 0; n < 3; n++)
		add_job(&s, 2, 1, 1, 99, 99);
	run(&s, true, out);
	assert_true(out[1].start == 10);
	assert_true(out[2].start == 2 && out[3].start == 2 && out[4].start == 10);
	queue_clear(out, s.njobs);
}

static struct small draw(uint64_t *r)
{
	struct small s = {0};
	unsigned n = 1 + splitmix(r) % NODES, jobs = 2 + splitmix(r) % (JOBS - 1), kind, nodes;
	double submit = 0, seconds;

	while (s.nnodes < n)
		add_node(&s, splitmix(r) % 4 ? 4 : 2, 8);
	while (s.njobs < jobs) {
		submit += (double)(splitmix(r) % 6);
		s.jobs[s.njobs++] = (struct queue_job){submit, s.nshapes, 0};
		for (kind = splitmix(r) % 5 ? 1 : 2; kind; kind--) {
			seconds = (double)(1 + splitmix(r) % 20);
			nodes = 1 + (splitmix(r) % 3 ? 0 : (unsigned)(splitmix(r) % NODES));
			add_shape(&s, nodes, (int64_t)(splitmix(r) % 5),
				  (int64_t)(1 + splitmix(r) % 6), seconds,
				  seconds + (double)(splitmix(r) % 3 ? 0 : splitmix(r) % 20));
		}
	}
	return s;
}

static void test_property(void **state)
{
	unsigned backfilled = 0, never = 0;
	struct queue_outcome out[JOBS];
	uint64_t r = 7;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		struct small s = draw(&r);

		for (unsigned backfill = 0; backfill < 2; backfill++) {
			struct slow w = {.s = &s};

			run(&s, backfill, out);
			run_slowly(&w, backfill);
			for (unsigned j = 0; j < s.njobs; j++) {
				unsigned set = 0;

				if ((int)out[j].start != w.start[j])
					fail_msg("round %u, job %u: starts at %g, expected %d",
						 round, j, out[j].start, w.start[j]);
				never += w.start[j] < 0;
				if (w.start[j] < 0)
					continue;
				for (unsigned i = 0; i < shape_of(&s, j, out[j].shape)->nodes; i++)
					set |= 1u << out[j].nodes[i];
				assert_int_equal(out[j].shape, w.shape[j]);
				assert_int_equal(set, w.nodes[j]);
				for (unsigned i = 0; i < j && backfill; i++)
					backfilled += out[i].start > out[j].start;
			}
			queue_clear(out, s.njobs);
		}
	}
	assert_true(backfilled > 100);
	assert_true(never > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_spare_nodes),
		cmocka_unit_test(test_spare_nodes_run_out),
		cmocka_unit_test(test_property),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
