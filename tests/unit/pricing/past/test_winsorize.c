/*
 * test_winsorize.c - what a bid of the past may count for at most (winsorize.h): whoever raises
 * some bids gains what others bid, no more; nobody else's change; a large job may be worth much.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pricing/dual/dual_prices.h"
#include "market/market.h"
#include "pricing/past/user_share.h"
#include "pricing/past/winsorize.h"

#define BIDS 200

static uint64_t seed = 7;

static double draw(double low, double high)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return low + (high - low) * (double)(seed >> 33) / (double)(UINT64_C(1) << 31);
}

static unsigned upload[1];
static const unsigned nobody[BIDS];

/* WORK worker slots, at most ten at a time. */
static struct auc_job job_of(double work, double value)
{
	struct auc_job job = {.utility = {.form = AUC_FORM_CONSTANT, .scale = value},
			      .epochs = 1,
			      .chunks = 10,
			      .minibatches = 1,
			      .upload = upload};

	for (unsigned i = 0; i < AUC_TYPES_MAX; i++)
		job.worker_seconds[i] = job.ps_seconds[i] = -1;
	job.worker_seconds[0] = 6 * work;
	job.ps_seconds[0] = 0;
	return job;
}

static struct auc_market *market(void)
{
	static const struct auc_price none;
	struct auc_market *m = auc_market_create(100, 60, 1);
	struct auc_named gpu = {"gpu", 8};

	assert_int_equal(auc_market_add_server(m, "s", "a", false, AUC_ROLE_WORKER | AUC_ROLE_PS, 0,
					       &gpu, 1, NULL),
			 AUC_OK);
	assert_int_equal(auc_market_ready(m, &none, NULL), AUC_OK);
	return m;
}

/* Values of 100 to 500 whatever the work is; every tenth is ten times that. */
static void test_raised(void **state)
{
	struct auc_market *m = market();
	struct auc_job jobs[BIDS];
	const struct auc_job *list[BIDS];
	double factor[BIDS], value[BIDS], most = 0;

	(void)state;
	for (unsigned i = 0; i < BIDS; i++) {
		value[i] = draw(100, 500);
		jobs[i] = job_of(exp(draw(0, 5)), i % 10 ? value[i] : 10 * value[i]);
		list[i] = &jobs[i];
	}
	assert_int_equal(auc_winsorize(m, list, nobody, BIDS, factor, NULL), AUC_OK);
	for (unsigned i = 0; i < BIDS; i++) {
		assert_true(factor[i] > 0 && factor[i] <= 1);
		if (i % 10)
			assert_true(factor[i] > 0.75);
		else
			most = fmax(most, factor[i] * jobs[i].utility.scale);
	}
	/* The groups are a factor e wide in work: so much more may a dense one be worth. */
	assert_true(most < 500 * exp(1));
	for (unsigned i = 0; i < BIDS; i++)
		jobs[i].utility.scale = value[i];
	assert_int_equal(auc_winsorize(m, list, nobody, BIDS, factor, NULL), AUC_OK);
	for (unsigned i = 0; i < BIDS; i++)
		assert_true(factor[i] * value[i] > 0.75 * value[i]);
	auc_market_destroy(m);
}

/* Worth as much as work: the largest is no exception. One that asks for nothing the market has, or
 * is worth nothing, is left alone. */
static void test_large(void **state)
{
	struct auc_market *m = market();
	struct auc_job jobs[BIDS];
	const struct auc_job *list[BIDS];
	double factor[BIDS];

	(void)state;
	for (unsigned i = 0; i < BIDS; i++) {
		double work = i ? exp(draw(0, 2)) : 1e5;

		jobs[i] = job_of(work, 7 * work);
		list[i] = &jobs[i];
	}
	jobs[1].worker_seconds[0] = -1;
	jobs[2].utility.scale = 0;
	assert_int_equal(auc_winsorize(m, list, nobody, BIDS, factor, NULL), AUC_OK);
	for (unsigned i = 0; i < BIDS; i++)
		assert_true(fabs(factor[i] - 1) < 1e-9);
	assert_int_equal(auc_winsorize(m, list, nobody, 0, factor, NULL), AUC_OK);
	auc_market_destroy(m);
}

/*
 * Whatever one user bids, however often: none of it counts for more, both in value and in value per
 * work, than something that another user bid. And what is known of no user is taken as it was.
 */
static void test_one_user(void **state)
{
	struct auc_market *m = market();
	struct auc_job jobs[BIDS];
	const struct auc_job *list[BIDS];
	double factor[BIDS], plain[BIDS], work[BIDS];
	unsigned user[BIDS], n, raised = 0;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		double share = draw(0, 1), most = 0, densest = 0;
		unsigned others = 0;

		n = 2 + (unsigned)draw(0, BIDS - 2);
		for (unsigned i = 0; i < n; i++) {
			bool his = draw(0, 1) < share;

			work[i] = exp(draw(0, 4));
			user[i] = his ? 7 : draw(0, 1) < 0.5 ? AUC_USER_NONE : 8 + i % 3;
			jobs[i] = job_of(work[i], draw(100, 500) * (his ? exp(draw(0, 9)) : 1));
			list[i] = &jobs[i];
			if (his)
				continue;
			others++;
			most = fmax(most, jobs[i].utility.scale);
			densest = fmax(densest, jobs[i].utility.scale / work[i]);
		}
		if (!others || others == n)
			continue;
		assert_int_equal(auc_winsorize(m, list, user, n, factor, NULL), AUC_OK);
		assert_int_equal(auc_winsorize(m, list, nobody, n, plain, NULL), AUC_OK);
		for (unsigned i = 0; i < n; i++) {
			double value = factor[i] * jobs[i].utility.scale;

			assert_true(factor[i] > 0 && factor[i] <= 1);
			if (user[i] != 7)
				continue;
			assert_true(value <= most * (1 + 1e-9) ||
				    value <= densest * work[i] * (1 + 1e-9));
			raised += plain[i] * jobs[i].utility.scale > fmax(most, densest * work[i]);
		}
	}
	assert_true(raised > 1000); /* without, he could */
	auc_market_destroy(m);
}

/* No user counts for more than all the others, or enough; nothing else changes. */
static void test_share(void **state)
{
	unsigned user[BIDS], who, large = 0;
	double amount[BIDS];

	(void)state;
	for (unsigned round = 0; round < 5000; round++) {
		double of[5] = {0}, all = 0, share, enough = round % 2 ? draw(0, 9) : 0;
		unsigned n = (unsigned)draw(0, 12);

		for (unsigned i = 0; i < n; i++) {
			user[i] = (unsigned)draw(0, 5);
			amount[i] = draw(0, 1) < 0.1 ? 0 : exp(draw(-5, 5));
			of[user[i]] += amount[i];
			all += amount[i];
		}
		share = auc_user_share_factor(user, amount, n, enough, &who);
		assert_true(share > 0 && share <= 1);
		for (unsigned u = 0; u < 5; u++) {
			double others = all - of[u], own = of[u] * (u == who && who ? share : 1);

			double most = fmax(others, enough);

			if (u != AUC_USER_NONE && others > 1e-9 * all)
				assert_true(own <= most * (1 + 1e-9));
			assert_true(own == of[u] || (u == who && of[u] > most));
		}
		large += who != AUC_USER_NONE;
	}
	assert_true(large > 500);
	for (unsigned i = 0; i < 9; i++)
		user[i] = i ? 3 : 4;
	assert_true(auc_user_share_factor(user, NULL, 9, 0, &who) == 1.0 / 8 && who == 3);
	assert_true(auc_user_share_factor(user, NULL, 9, 4, &who) == 0.5 && who == 3);
	assert_true(auc_user_share_factor(user + 1, NULL, 8, 0, &who) == 1); /* nobody else */
}

/*
 * Of many users as often now as before one bids as he likes, now or before: what counts is what the
 * others bid. Where all bid more, that is seen; one who is alone, or not known, counts as he is.
 */
static void test_counts(void **state)
{
	unsigned now[BIDS], before[BIDS], n, m, most;
	struct auc_user_share_level level;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		unsigned *flood = round % 2 ? now : before, *size = round % 2 ? &n : &m;

		for (n = 0; n < 40; n++)
			now[n] = before[n] = n % 8;
		m = n;
		most = n + (unsigned)draw(0, BIDS - 40);
		while (*size < most)
			flood[(*size)++] = 9;
		assert_int_equal(auc_user_share_level(now, n, before, m, 1, &level, NULL), AUC_OK);
		assert_true(level.now == 40 && level.before == 40);
	}
	for (n = m = 0; n < BIDS; n++)
		now[n] = 1 + n % 10;
	for (; m < BIDS / 2; m++)
		before[m] = 1 + m % 10;
	assert_int_equal(auc_user_share_level(now, n, before, m, 0.5, &level, NULL), AUC_OK);
	assert_true(level.now == 0.9 * BIDS && level.before == 0.9 * BIDS / 4);
	assert_int_equal(auc_user_share_level(nobody, n, nobody, m, 0.5, &level, NULL), AUC_OK);
	assert_true(level.now == BIDS && level.before == BIDS / 4.0);
	for (n = 0; n < BIDS; n++)
		now[n] = before[n] = 7;
	assert_int_equal(auc_user_share_level(now, n, before, m, 1, &level, NULL), AUC_OK);
	assert_true(level.now == BIDS && level.before == BIDS / 2.0);
}

/* All values, at each time. */
static void test_multiply(void **state)
{
	static const char *const texts[] = {
		"300",          "sigmoid:100,0.5,8", "linear:60,1",
		"inverse:5,40", "deadline:100,4",    "table:1=90,5=40,9=10"};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct auc_utility u, less;

		assert_int_equal(auc_utility_parse(texts[i], 60, 40, &u, "bid", NULL), AUC_OK);
		less = u;
		auc_utility_multiply(&less, 0.25);
		for (double x = 0; x < 70; x += 0.5)
			assert_true(fabs(auc_utility_value(&less, x) -
					 auc_utility_value(&u, x) / 4) < 1e-12 * 300);
	}
}

/* Chance is no change of level; twice as many are, once there are enough. */
static void test_level(void **state)
{
	(void)state;
	assert_false(auc_dual_prices_level_changed(0, 0));
	assert_false(auc_dual_prices_level_changed(10, 5));
	assert_false(auc_dual_prices_level_changed(115, 100));
	assert_false(auc_dual_prices_level_changed(1200, 1000));
	assert_true(auc_dual_prices_level_changed(40, 20));
	assert_true(auc_dual_prices_level_changed(20, 40));
	assert_true(auc_dual_prices_rate(100, 100) == 1 && auc_dual_prices_rate(40, 20) > 1.5);
	assert_true(auc_dual_prices_rate(115, 100) == 1 && auc_dual_prices_rate(1200, 1000) > 1.15);
	assert_true(auc_dual_prices_ratio(115, 100) > 1.1 && auc_dual_prices_rate(20, 40) < 0.7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raised),   cmocka_unit_test(test_large),
		cmocka_unit_test(test_one_user), cmocka_unit_test(test_share),
		cmocka_unit_test(test_multiply), cmocka_unit_test(test_level),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
