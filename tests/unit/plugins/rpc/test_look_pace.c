/*
 * test_look_pace.c - when the agent looks at Slurm's records (look_pace.h): nothing that changes is
 * overlooked for longer than the bounds say, and looks that cost much are far apart.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/rpc/look_pace.h"
#include "unit/support/splitmix.h"

static uint64_t seed;

/* A stamp is whole seconds: a look in the same second, or the next, may have come too early. */
static void test_stamps(void **state)
{
	struct auc_stamp s = auc_stamp_of(1000, 1000.9);

	(void)state;
	assert_true(auc_stamp_moved(&s, 1000));
	s = auc_stamp_of(1000, 1001.5);
	assert_true(auc_stamp_moved(&s, 1000));
	s = auc_stamp_of(1000, 1002.0);
	assert_false(auc_stamp_moved(&s, 1000));
	assert_true(auc_stamp_moved(&s, 1002));
	/* The clock was set back. */
	assert_true(auc_stamp_moved(&s, 900));
	s = auc_stamp_of(1000, 950);
	assert_true(auc_stamp_moved(&s, 1000));
	/* slurmctld does not say. */
	s = auc_stamp_of(-1, 2000);
	assert_true(auc_stamp_moved(&s, -1));
}

/* Which look each sign asks for, with all of them due, and who goes first. */
static void test_signs(void **state)
{
	const struct auc_look_pace_signs quiet = {.jobs = 100, .nodes = 100};
	struct auc_look_pace_signs s = quiet;
	struct auc_look_pace p = {0};

	(void)state;
	s.all = true;
	assert_int_equal(auc_look_pace_due(&p, &s, 1000), AUC_LOOK_ALL);
	auc_look_pace_did(&p, AUC_LOOK_ALL, &quiet, 1000, 0.001, 0.0001);
	assert_true(p.wait[AUC_LOOK_ALL] == 60);
	assert_int_equal(auc_look_pace_due(&p, &quiet, 1029.9), AUC_LOOK_NONE);
	assert_int_equal(auc_look_pace_due(&p, &quiet, 1030.1), AUC_LOOK_LIVE);
	s = quiet;
	s.near = true;
	assert_int_equal(auc_look_pace_due(&p, &s, 1000.001), AUC_LOOK_NONE);
	assert_int_equal(auc_look_pace_due(&p, &s, 1000.25), AUC_LOOK_NEAR);
	s.trouble = true;
	assert_int_equal(auc_look_pace_due(&p, &s, 1000.25), AUC_LOOK_NEAR);
	assert_int_equal(auc_look_pace_due(&p, &s, 1001), AUC_LOOK_RUNNING);
	s = quiet;
	s.nodes = 1000;
	assert_int_equal(auc_look_pace_due(&p, &s, 1001), AUC_LOOK_RUNNING);
	s.jobs = 1000;
	assert_int_equal(auc_look_pace_due(&p, &s, 1001), AUC_LOOK_LIVE);
	s.jobs = s.nodes = -1;
	assert_int_equal(auc_look_pace_due(&p, &s, 1001), AUC_LOOK_LIVE);
}

/* What a look costs puts off the next of its kind, and no other. */
static void test_costs(void **state)
{
	const struct auc_look_pace_signs old = {.jobs = 100, .nodes = 100};
	const struct auc_look_pace_signs s = {.jobs = 1100, .nodes = 1100, .near = true};
	struct auc_look_pace p = {0};

	(void)state;
	auc_look_pace_did(&p, AUC_LOOK_ALL, &old, 1000, 1, 0.032);
	assert_int_equal(auc_look_pace_due(&p, &s, 1001), AUC_LOOK_LIVE);
	assert_true(p.wait[AUC_LOOK_ALL] == 600);
	/* One that is asked for: not at once. */
	assert_true(auc_look_pace_all(&p, 1005) == 1016);
	assert_true(auc_look_pace_all(&p, 1100) == 1100);
	auc_look_pace_did(&p, AUC_LOOK_LIVE, &old, 1001, 0.03, 0.002);
	assert_int_equal(auc_look_pace_due(&p, &s, 1001.1), AUC_LOOK_NONE);
	assert_int_equal(auc_look_pace_due(&p, &s, 1001.2), AUC_LOOK_NEAR);
	assert_int_equal(auc_look_pace_due(&p, &s, 1002.1), AUC_LOOK_RUNNING);
	auc_look_pace_did(&p, AUC_LOOK_RUNNING, &old, 1002.1, 0.02, 0.001);
	assert_int_equal(auc_look_pace_due(&p, &s, 1004), AUC_LOOK_NEAR);
	assert_int_equal(auc_look_pace_due(&p, &s, 1004.2), AUC_LOOK_RUNNING);
	assert_int_equal(auc_look_pace_due(&p, &s, 1021.1), AUC_LOOK_LIVE);
	/* slurmctld is slow to answer: at most 5 s for that. */
	auc_look_pace_did(&p, AUC_LOOK_RUNNING, &old, 2000, 20, 0.001);
	assert_true(p.wait[AUC_LOOK_RUNNING] == 5);
}

/*
 * A random slurmctld, which changes jobs and nodes now and then: each change of a node is seen
 * within 5 s and a cycle, each change of a job within 30 s, and as soon as that in a cluster where
 * looks cost next to nothing; and of the processor looks take no more than the bounds allow.
 */
static void test_random(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 200; run++) {
		double own, rate, now = 1e6, end = now + 2000, spent = 0;
		double jobs = 0, nodes = 0; /* since when a change waits to be seen; 0: none does */
		struct auc_look_pace_signs s = {.jobs = 999000, .nodes = 999000};
		struct auc_look_pace p = {0};
		enum auc_look kind;

		seed = run;
		own = pow(10, -5 + 3 * splitmix_real(&seed));
		rate = pow(10, -3 + 3 * splitmix_real(&seed));
		auc_look_pace_did(&p, AUC_LOOK_ALL, &s, now, own, own);
		for (; now < end; now += 0.5) {
			if (splitmix_real(&seed) < rate) {
				s.jobs = (int64_t)now;
				jobs = jobs > 0 ? jobs : now;
			}
			if (splitmix_real(&seed) < rate / 10) {
				s.nodes = (int64_t)now;
				nodes = nodes > 0 ? nodes : now;
			}
			kind = auc_look_pace_due(&p, &s, now);
			/* slurmctld's clock is in whole seconds, and what was changed in this one
			 * may be seen too late. */
			if (nodes > 0)
				assert_true(kind >= AUC_LOOK_RUNNING || now < nodes + 5);
			if (jobs > 0)
				assert_true(kind >= AUC_LOOK_LIVE ||
					    now < jobs + fmin(30, fmax(1, 10000 * own)) + 0.5);
			if (kind == AUC_LOOK_NONE)
				continue;
			spent += own;
			auc_look_pace_did(&p, kind, &s, now, own, own);
			if (kind >= AUC_LOOK_RUNNING)
				nodes = 0;
			if (kind >= AUC_LOOK_LIVE)
				jobs = 0;
		}
		assert_true(spent <= 2000 * fmax(own / 5, 1.0 / 2000) + 2000 * own / 30 +
					     2000.0 / 10000 + own);
	}
}

static void test_costs_of_lists(void **state)
{
	(void)state;
	/* A hundred jobs of a user who has no others; of one with ten thousand; three of either. */
	assert_true(auc_look_pace_cost_single(100) > auc_look_pace_cost_list(100, 10000));
	assert_true(auc_look_pace_cost_single(100) < auc_look_pace_cost_list(10000, 10000));
	assert_true(auc_look_pace_cost_single(3) < auc_look_pace_cost_list(100, 10000));
	assert_true(auc_look_pace_cost_single(1) <= auc_look_pace_cost_list(1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamps),         cmocka_unit_test(test_signs),
		cmocka_unit_test(test_costs),          cmocka_unit_test(test_random),
		cmocka_unit_test(test_costs_of_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
