/*
 * test_guard.c - which prices are chosen for what they were worth (guard.h), against the rule in
 * plain words, on days made by chance.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pricing/guard.h"

static uint64_t seed = 7;

static double draw(double low, double high)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return low + (high - low) * (double)(seed >> 33) / (double)(UINT64_C(1) << 31);
}

#define DAYS_MAX   5
#define CANDIDATES 32

/* What each candidate is worth on each day, in the order in which they are asked for. */
struct past {
	unsigned ndays, n, fail_at, asked;
	struct auc_guard_choice choice[CANDIDATES];
	double worth[CANDIDATES][DAYS_MAX];
	double others, taught, spread; /* of the worth of these kinds */
};

static void assert_same(const struct auc_guard_choice *a, const struct auc_guard_choice *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->prices.form, b->prices.form);
	assert_true(a->prices.factor == b->prices.factor && a->again == b->again);
}

static enum auc_code replay(void *arg, const struct auc_guard_choice *c, unsigned day,
			    double *worth, struct auc_err *err)
{
	struct past *p = arg;
	double level = c->kind >= AUC_TARIFF_FLAT ? p->taught : p->others;

	if (++p->asked == p->fail_at)
		return auc_err_set(err, AUC_ESTATE, "stopped");
	assert_true(day < p->ndays);
	if (!day)
		p->choice[p->n++] = *c;
	assert_true(p->n <= CANDIDATES);
	assert_same(&p->choice[p->n - 1], c);
	*worth = level + (p->spread > 0 ? draw(-p->spread, p->spread) : 0);
	p->worth[p->n - 1][day] = *worth;
	return AUC_OK;
}

static double total(const struct past *p, unsigned i)
{
	double sum = 0;

	for (unsigned d = 0; d < p->ndays; d++)
		sum += p->worth[i][d];
	return sum;
}

static bool alike(const struct auc_guard_choice *a, const struct auc_guard_choice *b)
{
	return a->kind == b->kind && a->prices.form == b->prices.form && a->again == b->again;
}

/* Half of it the mean of itself and its neighbours. */
static double smoothed(const struct past *p, unsigned i)
{
	double sum = 2 * total(p, i), weight = 2;

	if (p->choice[i].kind < AUC_TARIFF_FLAT)
		return total(p, i);
	if (i && alike(&p->choice[i - 1], &p->choice[i]))
		sum += total(p, i - 1), weight++;
	if (i + 1 < p->n && alike(&p->choice[i + 1], &p->choice[i]))
		sum += total(p, i + 1), weight++;
	return sum / weight;
}

static unsigned best(const struct past *p, bool taught)
{
	unsigned at = CANDIDATES;

	for (unsigned i = 0; i < p->n; i++)
		if ((p->choice[i].kind >= AUC_TARIFF_FLAT) == taught &&
		    (at == CANDIDATES || smoothed(p, i) > smoothed(p, at)))
			at = i;
	return at;
}

static bool surely_better(const struct past *p, unsigned a, unsigned b)
{
	double mean = (total(p, a) - total(p, b)) / p->ndays, variance = 0;

	if (p->ndays == 1)
		return mean > 0.05 * total(p, b);
	for (unsigned d = 0; d < p->ndays; d++)
		variance += pow(p->worth[a][d] - p->worth[b][d] - mean, 2) / (p->ndays - 1);
	return mean > 0.005 * total(p, b) / p->ndays + 0.5 * sqrt(variance / p->ndays);
}

static void test_rule(void **state)
{
	struct auc_guard_verdict v;
	unsigned taken[2] = {0, 0}, again = 0, usual = 0;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct past p = {.ndays = 1 + round % DAYS_MAX,
				 .others = 100,
				 .taught = draw(95, 108),
				 .spread = draw(0, 12)};
		unsigned of[2];
		bool sure;

		assert_int_equal(auc_guard_choose(p.ndays, false, replay, &p, &v, NULL), AUC_OK);
		of[0] = best(&p, false);
		of[1] = best(&p, true);
		if (p.choice[p.n - 1].again && surely_better(&p, p.n - 1, of[0]) &&
		    !surely_better(&p, of[1], p.n - 1)) {
			usual += of[1] != p.n - 1;
			of[1] = p.n - 1;
		}
		sure = surely_better(&p, of[1], of[0]);
		assert_same(&v.choice, &p.choice[of[sure]]);
		assert_true(v.worth == total(&p, of[sure]));
		assert_true((v.gain > v.needed) == sure && v.error >= 0);
		assert_true(v.worth >= v.worth_of[AUC_TARIFF_NONE] * (1 - 1e-12) &&
			    v.worth >= v.worth_of[AUC_TARIFF_PUBLISHED] * (1 - 1e-12));
		for (unsigned i = 0; i < p.n; i++)
			assert_true(v.worth_of[p.choice[i].kind] >= smoothed(&p, i));
		taken[sure]++;
		again += p.choice[p.n - 1].again;
		/* Fits during the day are looked at where prices that learn are better at all. */
		assert_true(!sure || p.choice[p.n - 1].again);
	}
	assert_true(taken[0] > 500 && taken[1] > 500 && again >= taken[1] && again < 3000);
	assert_true(usual > 100);
}

/* Nothing is gained: everything stays free. */
static void test_equal(void **state)
{
	struct past p = {.ndays = 2, .others = 100, .taught = 100};
	struct auc_guard_verdict v;

	(void)state;
	assert_int_equal(auc_guard_choose(2, false, replay, &p, &v, NULL), AUC_OK);
	assert_true(v.choice.kind == AUC_TARIFF_NONE && v.gain == 0 && v.error == 0);
	p = (struct past){.ndays = 1, .others = 100, .taught = 104};
	assert_int_equal(auc_guard_choose(1, false, replay, &p, &v, NULL), AUC_OK);
	assert_true(v.choice.kind == AUC_TARIFF_NONE); /* one day may be chance */
	p = (struct past){.ndays = 2, .others = 100, .taught = 104};
	assert_int_equal(auc_guard_choose(2, false, replay, &p, &v, NULL), AUC_OK);
	assert_true(v.gain == 4 && v.error == 0);
	assert_same(&v.choice, &auc_guard_usual); /* nothing is better than they */
	/* A past that is worth nothing teaches nothing. */
	p = (struct past){.ndays = 2};
	assert_int_equal(auc_guard_choose(2, false, replay, &p, &v, NULL), AUC_OK);
	assert_true(v.choice.kind == AUC_TARIFF_NONE);
}

static void test_flat(void **state)
{
	struct past p = {.ndays = 3, .taught = 100, .spread = 5};
	struct auc_guard_verdict v;

	(void)state;
	assert_int_equal(auc_guard_choose(3, true, replay, &p, &v, NULL), AUC_OK);
	for (unsigned i = 0; i < p.n; i++)
		assert_true(p.choice[i].kind == AUC_TARIFF_FLAT && !p.choice[i].again);
	assert_same(&v.choice, &p.choice[best(&p, true)]);
}

static void test_stopped(void **state)
{
	struct auc_guard_verdict v;
	unsigned all;

	(void)state;
	{
		struct past p = {.ndays = 2, .others = 1, .taught = 2};

		assert_int_equal(auc_guard_choose(2, false, replay, &p, &v, NULL), AUC_OK);
		all = p.asked;
	}
	for (unsigned i = 1; i <= all; i++) {
		struct past p = {.ndays = 2, .others = 1, .taught = 2, .fail_at = i};

		assert_int_equal(auc_guard_choose(2, false, replay, &p, &v, NULL), AUC_ESTATE);
		assert_int_equal(p.asked, i);
	}
}

static void test_moved(void **state)
{
	const struct auc_guard_choice none = {.kind = AUC_TARIFF_NONE},
				      level = {AUC_TARIFF_LEARNED,
					       {AUC_PRICE_FORM_LEVEL, 0.7},
					       false},
				      flat = {AUC_TARIFF_FLAT, {AUC_PRICE_FORM_FLAT, 0.1}, false};

	(void)state;
	assert_false(auc_guard_moved(&none, 100, 100));
	assert_false(auc_guard_moved(&level, 115, 100));
	assert_true(auc_guard_moved(&none, 200, 100));
	assert_true(auc_guard_moved(&level, 50, 100));
	assert_false(auc_guard_moved(&none, 50, 100)); /* nothing is free already */
	assert_int_equal(auc_guard_again(&none).form, auc_guard_usual.prices.form);
	assert_int_equal(auc_guard_again(&flat).form, auc_guard_usual.prices.form);
	assert_true(auc_guard_again(&level).factor == 0.7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),  cmocka_unit_test(test_equal),
		cmocka_unit_test(test_flat),  cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
