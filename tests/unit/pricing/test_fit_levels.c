/*
 * test_fit_levels.c - bounds that the past teaches under policy oasis: what each day is replayed
 * with (bound_levels.h), and, in the auction, what the guard makes of periods and what is
 * published.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A fit is run by the auction: its market has the prices in force, which no call shows. */
#include "auction/auction-private.h"
#include "unit/support/fitting.h"
#include "pricing/bound_levels.h"
#include "unit/support/world.h"

#define GLOBAL "Policy=oasis\nSlots=40\nHistoryBids=300\n"
#define WORK                                                                                       \
	" epochs=4 chunks=4 minibatches=300 worker-time=v100=1s ps-time=ps.m=0 gradient-mb=0.01 "

static const char dear[] = "bid=linear:2000,10" WORK;
static const char cheap[] = "bid=linear:60,0.2" WORK;

static int flat_prices(void **state)
{
	return world_auction_setup(state, GLOBAL "Prices=flat");
}

static int learned_prices(void **state)
{
	return world_auction_setup(state, GLOBAL "Prices=learned");
}

/* Two periods and more, with more than there is room for, by far. */
static void crowd(struct auc_auction *a, double *now)
{
	double end = *now + 85 * SLOT;

	while (*now < end) {
		fitting_submit(a, cheap, 3, 100, now);
		fitting_submit(a, dear, 1, 100, now);
	}
}

/* *NOW is in the next slot then. */
static enum auc_code fit(struct auc_auction *a, double *now)
{
	enum auc_code rc = fitting_run(a, *now);

	*now += SLOT;
	auc_auction_tick(a, *now);
	return rc;
}

/* -- levels -- */

/* Days of claims of GPUs, each denser than the one before. */
#define DAYS 3
struct days {
	unsigned first[DAYS + 1];
	auc_slot slots[DAYS];
	struct auc_claim claims[64];
	double as_taught[DAYS]; /* L of what each was replayed with, at first */
	unsigned replays;
	double by_factor; /* what is worth most */
	double taught;    /* or what they are worth at any level */
};

static void add_days(struct days *d, struct auc_bound_days *past, unsigned ndays,
		     const unsigned *of)
{
	unsigned n = 0;

	memset(d, 0, sizeof(*d));
	for (unsigned i = 0; i < ndays; i++) {
		for (unsigned j = 0; j < 4 + 4 * of[i]; j++)
			d->claims[n++] = (struct auc_claim){
				.arrival = j,
				.value = 100 * (1 + of[i]) + 7 * j,
				.slots = {40, 10},
				.n = {1, 1},
				.amount = {{{"gpu:v100", 1}}, {{"cpu", 2}}},
			};
		d->slots[i] = 20;
		d->first[i + 1] = n;
	}
	*past = (struct auc_bound_days){ndays, d->first, d->slots, d->claims};
}

static double lower_of(const struct auc_price *p, const char *tres)
{
	for (unsigned k = 0; k < p->nbounds; k++)
		if (!strcmp(p->bounds[k].name, tres)) {
			assert_true(p->bounds[k].upper[AUC_PRICE_WORKER] ==
				    p->bounds[k].lower[AUC_PRICE_WORKER]);
			return exp(p->bounds[k].lower[AUC_PRICE_WORKER]);
		}
	fail();
	return 0;
}

static enum auc_code note(void *arg, enum auc_level_kind kind, const struct auc_price *price,
			  unsigned day, double *worth, struct auc_err *err)
{
	struct days *d = arg;
	double factor;

	(void)err;
	d->replays++;
	*worth = kind == AUC_LEVEL_NONE ? 50 : 60;
	if (kind != AUC_LEVEL_TAUGHT) {
		assert_null(price);
		return AUC_OK;
	}
	if (!(d->as_taught[day] > 0))
		d->as_taught[day] = lower_of(price, "gpu:v100");
	factor = lower_of(price, "gpu:v100") / d->as_taught[day];
	*worth = d->taught > 0 ? d->taught : 100 * exp(-fabs(log(factor / d->by_factor)));
	return AUC_OK;
}

/* Each day is replayed with what the others teach, as if these followed each other. */
static void test_left_out(void **state)
{
	struct world_auction *f = *state;
	static const unsigned all[] = {0, 1, 2}, without[DAYS][2] = {{1, 2}, {0, 2}, {0, 1}};
	static struct days days, others;
	struct auc_bound_days past;
	struct auc_bound_levels found;
	struct auc_price price;

	for (unsigned d = 0; d < DAYS; d++) {
		add_days(&days, &past, DAYS, all);
		days.by_factor = 1;
		assert_int_equal(auc_bound_levels_choose(f->a->market, &past, AUC_LEVEL_OF_DAY,
							 note, &days, &found, NULL),
				 AUC_OK);
		assert_true(found.kind == AUC_LEVEL_TAUGHT && found.factor == 1);
		assert_true(found.worth[AUC_LEVEL_NONE] == DAYS * 50 &&
			    found.worth[AUC_LEVEL_PUBLISHED] == DAYS * 60 &&
			    found.worth[AUC_LEVEL_TAUGHT] == DAYS * 100 && found.gain == 40);
		for (unsigned i = 0; i < past.first[DAYS]; i++) /* as they were */
			assert_true(days.claims[i].arrival < 20);
		add_days(&others, &past, DAYS - 1, without[d]);
		assert_int_equal(auc_bound_levels_teach(f->a->market, &past, 1, &price, NULL),
				 AUC_OK);
		assert_true(lower_of(&price, "gpu:v100") > 0);
		assert_float_equal(lower_of(&price, "gpu:v100"), days.as_taught[d], 1e-12);
	}
}

/* Other levels are taken where they are clearly better, up or down. */
static void test_factor(void **state)
{
	struct world_auction *f = *state;
	static const unsigned all[] = {0, 1, 2};
	static const double best[] = {1.01, 0.99, 1.4, 1.96, 1 / 1.4, 0.1};
	static const double taken[] = {1, 1, 1.4, 1.96, 1 / 1.4, 1 / (1.4 * 1.4 * 1.4 * 1.4)};
	static struct days days;
	struct auc_bound_days past;
	struct auc_bound_levels found;
	struct auc_price price, as_taught;

	for (unsigned i = 0; i < sizeof(best) / sizeof(best[0]); i++) {
		add_days(&days, &past, DAYS, all);
		days.by_factor = best[i];
		assert_int_equal(
			auc_bound_levels_choose(f->a->market, &past, 0, note, &days, &found, NULL),
			AUC_OK);
		assert_int_equal(found.kind, AUC_LEVEL_TAUGHT);
		assert_float_equal(found.factor, taken[i], 1e-9);
		assert_int_equal(auc_bound_levels_teach(f->a->market, &past, 1, &as_taught, NULL),
				 AUC_OK);
		assert_int_equal(
			auc_bound_levels_teach(f->a->market, &past, found.factor, &price, NULL),
			AUC_OK);
		assert_float_equal(lower_of(&price, "gpu:v100") / lower_of(&as_taught, "gpu:v100"),
				   found.factor, 1e-9);
	}
}

/* What is not taught is taken where it is worth more; of a single day, if it is not worth much
 * less. */
static void test_other_kinds(void **state)
{
	struct world_auction *f = *state;
	static const struct {
		unsigned ndays;
		double taught; /* worth of a day; what is published 60 */
		enum auc_level_kind kind;
	} cases[] = {
		{3, 61, AUC_LEVEL_TAUGHT},    {3, 59, AUC_LEVEL_TAUGHT},
		{3, 58, AUC_LEVEL_PUBLISHED}, {1, 61, AUC_LEVEL_PUBLISHED},
		{1, 64, AUC_LEVEL_TAUGHT},
	};
	static const unsigned all[] = {0, 1, 2};
	static struct days days;
	struct auc_bound_days past;
	struct auc_bound_levels found;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add_days(&days, &past, cases[i].ndays, all);
		days.taught = cases[i].taught;
		assert_int_equal(auc_bound_levels_choose(f->a->market, &past, AUC_LEVEL_OF_DAY,
							 note, &days, &found, NULL),
				 AUC_OK);
		assert_int_equal(found.kind, cases[i].kind);
		assert_true((found.kind == AUC_LEVEL_TAUGHT) == (found.gain > found.needed));
	}
}

/* -- in the auction -- */

/* Prices that refuse the cheap are worth more than none; they stand, whatever is sold. */
static void test_scarce(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	double now = NOW, gpu;
	struct auc_tariff *t;
	struct auc_offer o;
	char *why;

	crowd(a, &now);
	assert_int_equal(fit(a, &now), AUC_OK);
	assert_true(auc_auction_tariff(a, &t));
	assert_int_equal(t->kind, AUC_TARIFF_FLAT);
	assert_true(t->guard.days == 2 && t->bids > 200 && t->guard.bids == t->bids &&
		    t->guard.choice.prices.factor > 0);
	assert_true(t->guard.worth_of[AUC_TARIFF_PUBLISHED] > 0 &&
		    t->guard.worth > 1.5 * t->guard.worth_of[AUC_TARIFF_NONE]);
	assert_true(t->guard.worth <= t->guard.bound && t->bound > 0);
	why = auc_tariff_why(t);
	assert_non_null(strstr(why, "flat (bounds x "));
	assert_non_null(strstr(why, "; a loss of "));
	free(why);
	auc_tariff_free(t);
	gpu = fitting_v100_price(a, auc_market_first(a->market));
	o = world_offer(a, cheap, now, false);
	assert_false(o.accepted);
	auc_offer_clear(&o);
	assert_true(fitting_submit(a, dear, 9, 1, &now) > 0);
	for (unsigned i = 0; i < 50; i++, now += SLOT)
		auc_auction_tick(a, now);
	for (auc_slot s = auc_market_first(a->market); s <= auc_market_last(a->market); s++)
		assert_true(fitting_v100_price(a, s) == gpu);
}

/* Where there is room for all, nothing costs; with Prices=flat there are prices all the same. */
static void test_plenty(void **state)
{
	(void)state;
	for (unsigned flat = 0; flat < 2; flat++) {
		struct auc_auction *a;
		struct auc_tariff *t;
		double now = NOW;
		char dir[64];

		world_mkdir(dir);
		a = world_open(flat ? GLOBAL "Prices=flat" : GLOBAL "Prices=learned", dir, now);
		fitting_submit(a, cheap, 10, 900, &now);
		assert_int_equal(fit(a, &now), AUC_OK);
		assert_true(auc_auction_tariff(a, &t));
		assert_int_equal(t->kind, flat ? AUC_TARIFF_FLAT : AUC_TARIFF_NONE);
		assert_true((t->nclasses > 0) == flat);
		auc_tariff_free(t);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
}

/* Each fit learns them anew from all bids; the guard looks once in a period. */
static void test_goes_on(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	double now = NOW, before, looked;

	crowd(a, &now);
	assert_int_equal(fit(a, &now), AUC_OK);
	before = fitting_v100_price(a, auc_market_first(a->market));
	looked = a->tariff->guard.time;
	fitting_submit(a, dear, 40, 20, &now);
	assert_int_equal(fit(a, &now), AUC_OK);
	assert_true(a->tariff->guard.time == looked);
	assert_true(fitting_v100_price(a, auc_market_first(a->market)) > before);
}

/* Where bids may choose among types, prices by class are worth more, and taken. */
static void test_types(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	double now = NOW;
	char text[256];

	srand(1);
	for (unsigned i = 0; i < 200; i++) {
		double worth = pow(10, 1 + 2 * (rand() % 1000) / 1000.0);

		snprintf(text, sizeof(text),
			 "bid=sigmoid:%.2f,0.5,%d epochs=%d chunks=%d minibatches=100 "
			 "worker-time=v100=%.2fs,t4=%.2fs ps-time=ps.m=0 gradient-mb=0.01",
			 worth, 3 + rand() % 12, 1 + rand() % 6, 2 + rand() % 7,
			 0.5 + rand() % 100 / 50.0, 1 + rand() % 100 / 25.0);
		fitting_submit(a, text, 1, 130, &now);
	}
	assert_int_equal(fit(a, &now), AUC_OK);
	assert_int_equal(a->tariff->guard.choice.kind, AUC_TARIFF_LEARNED);
	assert_true(a->tariff->guard.choice.prices.form >= AUC_PRICE_FORM_LEVEL &&
		    a->tariff->guard.choice.prices.form <= AUC_PRICE_FORM_MIXED);
	assert_true(a->tariff->guard.worth > 1.02 * a->tariff->guard.worth_of[AUC_TARIFF_FLAT]);
}

/* Lower= is the least. */
static void test_least(void **state)
{
	struct auc_auction *a;
	double now = NOW;
	char dir[64];

	(void)state;
	world_mkdir(dir);
	a = world_open(GLOBAL "Prices=learned\nLower=gpu:v100=90\nUpper=gpu:v100=600\n", dir, now);
	crowd(a, &now);
	assert_int_equal(fit(a, &now), AUC_OK);
	assert_int_equal(a->tariff->choice.form, AUC_PRICE_FORM_BOUNDS);
	assert_float_equal(fitting_v100_price(a, auc_market_first(a->market)), 90, 1e-9);
	auc_auction_destroy(a);
	world_rmdir(dir);
}

/* The spool keeps them, and what the guard chose. */
static void test_restart(void **state)
{
	struct auc_auction *a;
	double now = NOW, gpu;
	char dir[64];

	(void)state;
	world_mkdir(dir);
	a = world_open(GLOBAL "Prices=learned", dir, now);
	crowd(a, &now);
	assert_int_equal(fit(a, &now), AUC_OK);
	gpu = fitting_v100_price(a, auc_market_first(a->market));
	assert_int_equal(auc_auction_commit(a, NULL), AUC_OK);
	auc_auction_destroy(a);
	a = world_open(GLOBAL "Prices=learned", dir, now);
	assert_true(fitting_v100_price(a, auc_market_first(a->market)) == gpu && gpu > 0);
	fitting_submit(a, dear, 1, 1, &now);
	now += SLOT;
	assert_int_equal(fit(a, &now), AUC_OK);
	assert_true(a->tariff->guard.time < a->tariff->time);
	assert_int_equal(a->tariff->choice.form, AUC_PRICE_FORM_BOUNDS);
	gpu /= fitting_v100_price(a, auc_market_first(a->market));
	assert_true(gpu > 0.8 && gpu < 1.25);
	auc_auction_destroy(a);
	world_rmdir(dir);
}

static void test_stop(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	double now = NOW;

	fitting_submit(a, dear, 20, 60, &now);
	fitting_stop(a, now, 4, 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_left_out, flat_prices, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_factor, flat_prices, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_other_kinds, flat_prices,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_scarce, learned_prices,
						world_auction_teardown),
		cmocka_unit_test(test_plenty),
		cmocka_unit_test_setup_teardown(test_goes_on, learned_prices,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_types, learned_prices, world_auction_teardown),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_restart),
		cmocka_unit_test_setup_teardown(test_stop, learned_prices, world_auction_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
