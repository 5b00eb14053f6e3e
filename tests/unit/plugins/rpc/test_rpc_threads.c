/* test_rpc_threads.c - the queue of what is asked by threads of their own
 * (plugins/sched/rpc/rpc_threads.h), with errands of its own. */
#include "config.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "sched/rpc/rpc_threads.h"

#define KEYS    7
#define ERRANDS 2000

/* What the errands of one test share. */
struct world {
	sem_t begun, go;
	atomic_int ran, undone;
	atomic_bool inside[KEYS]; /* an errand with that key is being run */
	atomic_bool overlap;
};

struct errand {
	struct auc_rpc_task e;
	struct world *w;
	unsigned number;
};

static struct auc_rpc_threads *world_start(struct world *w, unsigned threads);
static struct auc_rpc_threads *world_busy(struct world *w);
static void world_end(struct world *w, struct auc_rpc_threads *q);
static struct auc_rpc_task *errand(struct world *w, uint64_t key,
				   enum auc_code (*run)(struct auc_rpc_task *e));
static struct auc_rpc_task *take_one(struct auc_rpc_threads *q);
static void note(struct auc_rpc_task *e, unsigned *back, unsigned *taken);
static struct timespec in(double seconds);
static bool is_2(const struct auc_rpc_task *e);
static bool is_4(const struct auc_rpc_task *e);
static enum auc_code count(struct auc_rpc_task *e);
static enum auc_code wait_for_go(struct auc_rpc_task *e);
static enum auc_code look_around(struct auc_rpc_task *e);
static void undo(struct auc_rpc_task *e);

static void test_result_comes_back(void **state)
{
	struct auc_rpc_task *e;
	struct world w;
	struct auc_rpc_threads *q = world_start(&w, 3);

	(void)state;
	assert_null(auc_rpc_threads_take(q));
	assert_false(auc_rpc_threads_has(q, 5));
	assert_true(auc_rpc_threads_put(q, errand(&w, 5, count)));
	e = take_one(q);
	assert_int_equal(e->key, 5);
	assert_int_equal(e->code, AUC_EFULL);
	assert_string_equal(e->err.text, "the 1st");
	assert_int_equal(atomic_load(&w.undone), 0);
	free(e);
	assert_false(auc_rpc_threads_has(q, 5));
	world_end(&w, q);
}

static void test_slow_ones_keep_only_their_threads(void **state)
{
	struct auc_rpc_task *e;
	struct world w;
	struct auc_rpc_threads *q = world_start(&w, 3);

	(void)state;
	assert_true(auc_rpc_threads_put(q, errand(&w, 1, wait_for_go)));
	assert_true(auc_rpc_threads_put(q, errand(&w, 2, wait_for_go)));
	for (uint64_t key = 3; key < 10; key++)
		assert_true(auc_rpc_threads_put(q, errand(&w, key, count)));
	/* In order, as one thread is left. */
	for (uint64_t key = 3; key < 10; key++) {
		e = take_one(q);
		assert_int_equal(e->key, key);
		free(e);
	}
	assert_null(auc_rpc_threads_take(q));
	assert_true(auc_rpc_threads_has(q, 1) && auc_rpc_threads_has(q, 2));
	sem_post(&w.go);
	sem_post(&w.go);
	free(take_one(q));
	free(take_one(q));
	world_end(&w, q);
}

/* Waiting, being run, or run and not taken yet. */
static void test_one_of_a_key_at_a_time(void **state)
{
	struct auc_rpc_task *e;
	struct world w;
	struct auc_rpc_threads *q = world_busy(&w);

	(void)state;
	assert_true(auc_rpc_threads_put(q, errand(&w, 2, wait_for_go)));
	assert_false(auc_rpc_threads_put(q, errand(&w, 1, count)));
	assert_false(auc_rpc_threads_put(q, errand(&w, 2, count)));
	sem_post(&w.go);
	sem_wait(&w.begun); /* the second, so the first is done */
	assert_true(auc_rpc_threads_has(q, 1));
	assert_false(auc_rpc_threads_put(q, errand(&w, 1, count)));
	e = take_one(q);
	assert_int_equal(e->key, 1);
	free(e);
	assert_true(auc_rpc_threads_put(q, errand(&w, 1, count)));
	sem_post(&w.go);
	free(take_one(q));
	free(take_one(q));
	assert_int_equal(atomic_load(&w.ran), 1);
	world_end(&w, q);
}

/* Something is there as long as its result was not taken: it waits, runs or has run. */
static void test_any(void **state)
{
	struct auc_rpc_task *e;
	struct world w;
	struct auc_rpc_threads *q = world_busy(&w);

	(void)state;
	assert_false(auc_rpc_threads_any(q, is_2));
	assert_true(auc_rpc_threads_put(q, errand(&w, 2, wait_for_go)));
	assert_true(auc_rpc_threads_any(q, is_2));
	sem_post(&w.go);
	free(take_one(q));
	sem_wait(&w.begun);
	assert_true(auc_rpc_threads_any(q, is_2));
	assert_false(auc_rpc_threads_any(q, is_4));
	sem_post(&w.go);
	e = take_one(q);
	assert_int_equal(e->key, 2);
	free(e);
	assert_false(auc_rpc_threads_any(q, is_2));
	world_end(&w, q);
}

static bool is_2(const struct auc_rpc_task *e)
{
	return e->key == 2;
}

static bool is_4(const struct auc_rpc_task *e)
{
	return e->key == 4;
}

static void test_overtaken(void **state)
{
	struct auc_rpc_task *e;
	struct world w;
	struct auc_rpc_threads *q = world_busy(&w);

	(void)state;
	assert_true(auc_rpc_threads_put(q, errand(&w, 2, count)));
	assert_true(auc_rpc_threads_put(q, errand(&w, 3, count)));
	auc_rpc_threads_overtake(q, 3); /* the last of the queue */
	auc_rpc_threads_overtake(q, 2);
	auc_rpc_threads_overtake(q, 1);
	auc_rpc_threads_overtake(q, 4); /* nothing */
	assert_false(auc_rpc_threads_has(q, 2) || auc_rpc_threads_has(q, 3));
	assert_true(auc_rpc_threads_put(q, errand(&w, 3, count)));
	assert_int_equal(atomic_load(&w.undone), 0);
	sem_post(&w.go);
	e = take_one(q);
	assert_int_equal(e->key, 1);
	assert_int_equal(atomic_load(&w.undone), 1);
	/* It is done, so that nothing comes after any more. */
	auc_rpc_threads_overtake(q, 1);
	free(e);
	e = take_one(q);
	assert_int_equal(e->key, 3);
	free(e);
	assert_int_equal(atomic_load(&w.ran), 1);
	assert_int_equal(atomic_load(&w.undone), 1);
	world_end(&w, q);
}

static void test_stop(void **state)
{
	struct timespec until = in(0.05);
	struct world w;
	struct auc_rpc_threads *q = world_start(&w, 4);

	(void)state;
	assert_true(auc_rpc_threads_stop(NULL, &until));
	for (uint64_t key = 1; key < 5; key++)
		assert_true(auc_rpc_threads_put(q, errand(&w, key, wait_for_go)));
	for (unsigned i = 0; i < 4; i++)
		sem_wait(&w.begun);
	assert_true(auc_rpc_threads_put(q, errand(&w, 9, count)));
	assert_false(auc_rpc_threads_stop(q, &until));
	for (unsigned i = 0; i < 4; i++)
		sem_post(&w.go);
	world_end(&w, q);
	/* What waited is forgotten. */
	assert_int_equal(atomic_load(&w.ran), 0);
}

/* At random: of a key one thing at a time, and everything that was taken over comes back once. */
static void test_random(void **state)
{
	unsigned put = 0, taken = 0, back[ERRANDS] = {0};
	struct world w;
	struct auc_rpc_threads *q = world_start(&w, 4);

	(void)state;
	srandom(4);
	for (unsigned i = 0; i < ERRANDS; i++) {
		struct auc_rpc_task *e = errand(&w, (uint64_t)random() % KEYS, look_around);

		((struct errand *)e)->number = i;
		/* Refused: so there is one to wait for. */
		if (auc_rpc_threads_put(q, e))
			put++;
		else
			note(take_one(q), back, &taken);
		while (random() % 2 && (e = auc_rpc_threads_take(q)))
			note(e, back, &taken);
	}
	while (taken < put)
		note(take_one(q), back, &taken);
	assert_null(auc_rpc_threads_take(q));
	for (unsigned i = 0; i < ERRANDS; i++)
		assert_true(back[i] <= 1);
	assert_true(put > ERRANDS / 4);
	assert_int_equal(atomic_load(&w.ran), put);
	assert_false(atomic_load(&w.overlap));
	world_end(&w, q);
}

static struct auc_rpc_threads *world_start(struct world *w, unsigned threads)
{
	struct auc_rpc_threads *q = auc_rpc_threads_start(threads, "test", NULL);

	*w = (struct world){.ran = 0};
	sem_init(&w->begun, 0, 0);
	sem_init(&w->go, 0, 0);
	assert_non_null(q);
	return q;
}

/* One thread, which runs errand 1 until w->go. */
static struct auc_rpc_threads *world_busy(struct world *w)
{
	struct auc_rpc_threads *q = world_start(w, 1);

	assert_true(auc_rpc_threads_put(q, errand(w, 1, wait_for_go)));
	sem_wait(&w->begun);
	return q;
}

static void world_end(struct world *w, struct auc_rpc_threads *q)
{
	struct timespec until = in(60);

	assert_true(auc_rpc_threads_stop(q, &until));
	sem_destroy(&w->begun);
	sem_destroy(&w->go);
}

static struct auc_rpc_task *errand(struct world *w, uint64_t key,
				   enum auc_code (*run)(struct auc_rpc_task *e))
{
	struct errand *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->e.key = key;
	e->e.run = run;
	e->e.undo = undo;
	e->w = w;
	return &e->e;
}

static struct auc_rpc_task *take_one(struct auc_rpc_threads *q)
{
	struct auc_rpc_task *e;

	while (!(e = auc_rpc_threads_take(q)))
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	return e;
}

static void note(struct auc_rpc_task *e, unsigned *back, unsigned *taken)
{
	back[((struct errand *)e)->number]++;
	++*taken;
	free(e);
}

static struct timespec in(double seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += (long)(seconds * 1e9);
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static enum auc_code count(struct auc_rpc_task *e)
{
	struct world *w = ((struct errand *)e)->w;

	if (atomic_fetch_add(&w->ran, 1) > 0)
		return AUC_OK;
	return auc_err_set(&e->err, AUC_EFULL, "the 1st");
}

static enum auc_code wait_for_go(struct auc_rpc_task *e)
{
	struct world *w = ((struct errand *)e)->w;

	sem_post(&w->begun);
	sem_wait(&w->go);
	return AUC_OK;
}

static enum auc_code look_around(struct auc_rpc_task *e)
{
	struct world *w = ((struct errand *)e)->w;

	if (atomic_exchange(&w->inside[e->key], true))
		atomic_store(&w->overlap, true);
	atomic_fetch_add(&w->ran, 1);
	atomic_store(&w->inside[e->key], false);
	return AUC_OK;
}

static void undo(struct auc_rpc_task *e)
{
	atomic_fetch_add(&((struct errand *)e)->w->undone, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result_comes_back),
		cmocka_unit_test(test_slow_ones_keep_only_their_threads),
		cmocka_unit_test(test_one_of_a_key_at_a_time),
		cmocka_unit_test(test_overtaken),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
