/*
 * test_drift.c - are the jobs that come now others (drift.h)? Hardly ever where they are not, soon
 * where they are, and never for what one user does.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "market/market.h"
#include "pricing/past/drift.h"
#include "pricing/past/user_share.h"

#define TYPES 3
#define JOBS  1200

static uint64_t seed = 7;
static unsigned upload[1];

/* Jobs of the past and of now: what was drawn last. */
static struct auc_job store[2][JOBS];
static const struct auc_job *list[2][JOBS];
static unsigned user[2][JOBS];
static struct auc_drift_jobs mix[2];

static double draw(double low, double high)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return low + (high - low) * (double)(seed >> 33) / (double)(UINT64_C(1) << 31);
}

static struct auc_market *market(void)
{
	static const struct auc_price none;
	static const char *const names[] = {"a", "b", "c"};
	struct auc_market *m = auc_market_create(100, 60, 1);
	struct auc_named capacity = {"a", 8};

	assert_int_equal(auc_market_add_server(m, "s", "p", false, AUC_ROLE_WORKER | AUC_ROLE_PS, 0,
					       &capacity, 1, NULL),
			 AUC_OK);
	for (unsigned i = 0; i < TYPES; i++) {
		struct auc_named gpu = {"", 1};

		strcpy(gpu.name, names[i]);
		assert_int_equal(auc_market_add_worker_type(m, names[i], &gpu, 1, 1000, NULL),
				 AUC_OK);
	}
	assert_int_equal(auc_market_ready(m, &none, NULL), AUC_OK);
	return m;
}

/* WORK at the best type, which the others need up to ten times, DENSITY by work. */
static void job_of(struct auc_job *job, double work, double density)
{
	*job = (struct auc_job){.utility = {.form = AUC_FORM_CONSTANT, .scale = density * work},
				.epochs = 1,
				.chunks = 10,
				.minibatches = 1,
				.upload = upload};
	for (unsigned i = 0; i < AUC_TYPES_MAX; i++)
		job->worker_seconds[i] = job->ps_seconds[i] = -1;
	for (unsigned i = 0; i < TYPES; i++)
		job->worker_seconds[i] = work * exp(draw(0, 2));
	job->worker_seconds[(unsigned)draw(0, TYPES)] = work;
}

/* One more job, of user WHO, to the past or to now. */
static struct auc_job *add(bool now, unsigned who, double work, double density)
{
	struct auc_drift_jobs *to = &mix[now];

	assert_true(to->n < JOBS);
	job_of(&store[now][to->n], work, density);
	list[now][to->n] = &store[now][to->n];
	user[now][to->n] = who;
	return &store[now][to->n++];
}

static void none_yet(void)
{
	for (unsigned now = 0; now < 2; now++)
		mix[now] = (struct auc_drift_jobs){list[now], user[now], 0};
}

static void add_usual(bool now, unsigned who)
{
	add(now, who, exp(draw(0, 4)), exp(draw(-1, 1)));
}

static double evidence(const struct auc_market *m)
{
	double e = -1;

	assert_int_equal(auc_drift_compare(m, &mix[1], &mix[0], &e, NULL), AUC_OK);
	assert_true(e >= 0);
	return e;
}

/* Five hundred days of usual jobs, two such days the past, looked at thirty times each. */
static void test_same(void **state)
{
	struct auc_market *m = market();
	unsigned alarms = 0;

	(void)state;
	for (unsigned day = 0; day < 500; day++) {
		bool alarm = false;

		none_yet();
		assert_true(evidence(m) == 0);
		for (unsigned look = 0; look < 30; look++) {
			for (unsigned i = 0; i < 3; i++) {
				add_usual(true, AUC_USER_NONE);
				add_usual(false, AUC_USER_NONE);
				add_usual(false, AUC_USER_NONE);
			}
			alarm = alarm || evidence(m) > 1;
		}
		alarms += alarm;
	}
	assert_true(alarms <= 2);
	auc_market_destroy(m);
}

/* Jobs that need other types, much more work, or are worth much more: after two dozen. */
static void test_other(void **state)
{
	struct auc_market *m = market();

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		double e;

		none_yet();
		for (unsigned i = 0; i < 24; i++) {
			struct auc_job *job;

			add_usual(false, 1 + i % 5);
			add_usual(false, AUC_USER_NONE);
			job = add(true, 1 + i % 5, exp(draw(0, 4) + (round % 3 == 1 ? 4 : 0)),
				  exp(draw(-1, 1) + (round % 3 == 2 ? 2 : 0)));
			if (round % 3)
				continue;
			for (unsigned k = 0; k < TYPES; k++)
				job->worker_seconds[k] = k ? -1 : 60;
		}
		e = evidence(m);
		assert_true(e > 1);
		/* the same of but one user, the only one */
		for (unsigned i = 0; i < 24; i++)
			user[1][i] = 7;
		for (unsigned i = 0; i < 48; i++)
			user[0][i] = 7;
		assert_true(fabs(evidence(m) - e) < 1e-9 * e || evidence(m) > e);
	}
	auc_market_destroy(m);
}

/* One user bids whatever he likes, now or in the past, as often as he likes: the others do not. */
static void test_one_user(void **state)
{
	struct auc_market *m = market();
	unsigned could = 0;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		bool now = round % 2, known = round % 3;
		unsigned n;

		none_yet();
		for (unsigned i = 0; i < 100; i++) {
			add_usual(true, i % 9 + 1);
			add_usual(false, i % 9 + 1);
			add_usual(false, AUC_USER_NONE);
		}
		n = (unsigned)draw(0, 1000);
		for (unsigned i = 0; i < n; i++)
			add(now, known ? 77 : AUC_USER_NONE, exp(draw(0, 9)), exp(draw(-9, 0)));
		assert_true(!known || evidence(m) <= 1);
		could += !known && evidence(m) > 1;
	}
	assert_true(could > 70); /* of the hundred rounds in which it is not known who that is */
	auc_market_destroy(m);
}

/* By day others than by night, for weeks, and then others: that, and since when, is seen. */
static void test_since(void **state)
{
	struct auc_market *m = market();
	auc_slot age[JOBS], since;
	unsigned late = 0;

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		unsigned changed = round % 2 ? 10 * (1 + round % 6) : 0;

		none_yet();
		for (unsigned i = 0; i < JOBS; i++) {
			double level = i / 3 % 40 < 20 ? 0 : 4;

			age[i] = i / 3;
			add(true, i % 7, exp(draw(level, level + 4)),
			    exp(draw(-1, 1) + (age[i] <= changed && changed ? 3 : 0)));
		}
		assert_int_equal(auc_drift_since(m, &mix[1], age, 40, 10, &since, NULL), AUC_OK);
		assert_true(changed ? since > 0 : since == 0);
		late += since != changed;
	}
	assert_true(late <= 3);
	mix[1].n = 0;
	assert_int_equal(auc_drift_since(m, &mix[1], age, 40, 10, &since, NULL), AUC_OK);
	assert_true(since == 0);
	auc_market_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_one_user),
		cmocka_unit_test(test_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
