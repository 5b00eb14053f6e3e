/*
 * test_fit_sites.c - prices that learn under policy eris, in the auction: what of a bid is kept,
 * what the guard makes of a period, one price of each TRES and of traffic, and how far the bound
 * holds.
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
#include <json-c/json.h>

/* A fit is run by the auction: its market has the prices in force, which no call shows. */
#include "auction/auction-private.h"
#include "unit/support/fitting.h"
#include "unit/support/world.h"

#define GLOBAL "Policy=eris\nSlots=40\nTransferBudget=60\nHistoryBids=300\n"
/* A worker passes through nearly three chunks in a slot for one epoch; workers are eight. */
#define WORK                                                                                       \
	" epochs=2 minibatches=100 worker-time=v100=1s ps-time=ps.m=10ms data-mb=120 chunks=12 "

static const char dear[] = "bid=linear:2000,150" WORK "data=edge1=10,edge2=2";
static const char cheap[] = "bid=linear:60,0.5" WORK "data=edge3=12";

static int flat_prices(void **state)
{
	return world_auction_setup(state, GLOBAL "Prices=flat");
}

static int learned_prices(void **state)
{
	return world_auction_setup(state, GLOBAL "Prices=learned");
}

/* More than there is room for, by a third. */
static void crowd(struct auc_auction *a, double *now)
{
	for (unsigned i = 0; i < 25; i++) {
		fitting_submit(a, cheap, 2, 100, now);
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

static double traffic_price(const struct auc_auction *a, auc_slot slot)
{
	return auc_market_traffic_price(a->market, slot);
}

static const struct auc_tariff_class *traffic_class(const struct auc_tariff *t)
{
	for (unsigned i = 0; i < t->nclasses; i++)
		if (!strcmp(t->classes[i].group, "*"))
			return &t->classes[i];
	return NULL;
}

/* Prices that refuse the cheap are worth more than none; traffic has one, too, in all slots, which
 * nothing moves. */
static void test_scarce(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	const struct auc_tariff_class *traffic;
	double now = NOW, gpu, mb;
	struct auc_tariff *t;
	struct auc_offer o;

	crowd(a, &now);
	o = world_offer(a, dear, now, true);
	assert_int_equal(fit(a, &now), AUC_OK);
	assert_true(auc_auction_tariff(a, &t));
	assert_int_equal(t->kind, AUC_TARIFF_FLAT);
	assert_true(t->guard.bids == 76 && t->bids == 76);
	assert_true(t->guard.worth > 1.05 * fmax(t->guard.worth_of[AUC_TARIFF_NONE],
						 t->guard.worth_of[AUC_TARIFF_PUBLISHED]));
	assert_true(t->guard.worth_of[AUC_TARIFF_LEARNED] == 0 &&
		    t->guard.worth == t->guard.worth_of[AUC_TARIFF_FLAT]);
	assert_true(t->guard.worth <= t->guard.bound && t->bound > t->guard.bound);
	assert_non_null(traffic = traffic_class(t));
	assert_string_equal(traffic->tres, "transfer");
	assert_true(traffic->capacity == 60 && traffic->nruns == 1);
	gpu = fitting_v100_price(a, 1000 + 30);
	mb = traffic_price(a, 1000 + 30);
	assert_true(gpu > 0 && mb == t->runs[traffic->first_run].price && mb > 0);
	auc_tariff_free(t);
	if (o.accepted) /* what was quoted before */
		fitting_honoured(a, &o);
	auc_offer_clear(&o);

	/* Neither bids nor time change them; slots that come on sale cost the same. */
	fitting_submit(a, dear, 2, 1, &now);
	for (unsigned i = 0; i < 50; i++, now += SLOT)
		auc_auction_tick(a, now);
	for (auc_slot s = auc_market_first(a->market); s <= auc_market_last(a->market); s++)
		assert_true(fitting_v100_price(a, s) == gpu && traffic_price(a, s) == mb);
}

/* Where there is room for all, nothing costs; with Prices=flat there are prices all the same. */
static void test_plenty(void **state)
{
	(void)state;
	for (unsigned flat = 0; flat < 2; flat++) {
		struct auc_auction *a;
		struct auc_tariff *t;
		double now = NOW;
		char dir[64], *why;

		world_mkdir(dir);
		a = world_open(flat ? GLOBAL "Prices=flat" : GLOBAL "Prices=learned", dir, now);
		fitting_submit(a, cheap, 9, 900, &now);
		assert_false(auc_auction_fit_due(a, now));
		fitting_submit(a, cheap, 1, 900, &now);
		assert_int_equal(fit(a, &now), AUC_OK);
		assert_true(auc_auction_tariff(a, &t));
		assert_int_equal(t->kind, flat ? AUC_TARIFF_FLAT : AUC_TARIFF_NONE);
		assert_true(flat == (traffic_class(t) != NULL));
		assert_true(t->guard.worth > 0 && auc_tariff_gap(t) >= 0 &&
			    auc_tariff_gap(t) < 0.2);
		why = auc_tariff_why(t);
		assert_non_null(strstr(why, "the last 10 bids are worth"));
		free(why);
		auc_tariff_free(t);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
}

/* What the guard found holds until it looks again, and then, too, where another is worth hardly
 * more. */
static void test_holds(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	double now = NOW, gpu, looked;

	while (now < NOW + 45 * SLOT)
		crowd(a, &now);
	assert_int_equal(fit(a, &now), AUC_OK);
	gpu = fitting_v100_price(a, auc_market_first(a->market));
	looked = a->tariff->guard.time;
	crowd(a, &now);
	assert_int_equal(fit(a, &now), AUC_OK);
	assert_true(a->tariff->guard.time == looked);
	assert_true(fitting_v100_price(a, auc_market_first(a->market)) == gpu);
	while (now < looked + 50 * SLOT)
		crowd(a, &now);
	assert_int_equal(fit(a, &now), AUC_OK);
	assert_true(a->tariff->guard.time > looked);
	assert_true(fitting_v100_price(a, auc_market_first(a->market)) == gpu);
}

/* A quiet period without prices that hold teaches nothing. */
static void test_quiet(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	double now = NOW;

	fitting_submit(a, cheap, 12, 60, &now);
	now += 60 * SLOT;
	fitting_submit(a, cheap, 2, 60, &now);
	assert_int_equal(fit(a, &now), AUC_ENOENT);
	assert_null(a->tariff);
}

/* The spool keeps what a bid says of its data, and the price of traffic, in journal and snapshot.
 */
static void test_restart(void **state)
{
	(void)state;
	for (unsigned snapshot = 0; snapshot < 2; snapshot++) {
		struct auc_auction *a;
		double now = NOW, gpu, mb;
		unsigned count;
		char dir[64];

		world_mkdir(dir);
		a = world_open(GLOBAL "Prices=flat", dir, now);
		crowd(a, &now);
		assert_int_equal(fit(a, &now), AUC_OK);
		if (snapshot)
			a->snapshot_at = 1;
		assert_int_equal(auc_auction_commit(a, NULL), AUC_OK);
		gpu = fitting_v100_price(a, 1000 + 35);
		mb = traffic_price(a, 1000 + 35);
		count = auc_bid_log_count(a->bid_log);
		assert_true(mb > 0);
		auc_auction_destroy(a);

		a = world_open(GLOBAL "Prices=flat", dir, now);
		assert_int_equal(auc_bid_log_count(a->bid_log), count);
		assert_non_null(strstr(auc_bid_log_at(a->bid_log, 2)->text,
				       " data-mb=120 data=edge1=10,edge2=2"));
		assert_true(fitting_v100_price(a, 1000 + 35) == gpu &&
			    traffic_price(a, 1000 + 35) == mb);
		assert_int_equal(fit(a, &now), AUC_OK);
		/* Without a budget traffic has no price; with another one the same. */
		assert_int_equal(
			auc_auction_reconfigure(
				a, world_conf("Policy=eris\nSlots=40\nPrices=flat\n"), now, NULL),
			AUC_OK);
		assert_true(fitting_v100_price(a, 1000 + 36) == gpu);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
}

static void test_stop(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	double now = NOW;

	fitting_submit(a, dear, 20, 60, &now);
	fitting_stop(a, now, 4, 1000);
}

/* Bids of all sorts: whatever they are sold by, they are worth no more than the bound says. Where
 * prices would hardly bring more, a trace of them may. */
static void test_bound(void **state)
{
	struct auc_auction *a;
	struct auc_tariff *t;
	char dir[64], text[512];
	unsigned traces = 0;
	double now;

	(void)state;
	srand(11);
	for (unsigned round = 0; round < 5; round++) {
		now = NOW;
		world_mkdir(dir);
		a = world_open(GLOBAL "Prices=learned", dir, now);
		for (unsigned i = 0; i < 12 + 9 * round; i++) {
			int on1 = 1 + rand() % 6, on3 = 1 + rand() % 6;

			snprintf(text, sizeof(text),
				 "bid=sigmoid:%d,0.%d,%d epochs=%d minibatches=100 "
				 "worker-time=v100=%d,t4=3s "
				 "ps-time=ps.m=10ms gradient-mb=0.0%d data-mb=60 chunks=%d "
				 "data=edge1=%d,big2=%d",
				 100 + rand() % 900, 1 + rand() % 8, 3 + rand() % 9, 1 + rand() % 3,
				 1 + rand() % 2, 1 + rand() % 9, on1 + on3, on1, on3);
			fitting_submit(a, text, 1, rand() % 400, &now);
		}
		assert_int_equal(fit(a, &now), AUC_OK);
		assert_true(auc_auction_tariff(a, &t));
		for (unsigned k = 0; k < AUC_TARIFF_KINDS; k++)
			assert_true(t->guard.worth_of[k] <= t->guard.bound);
		assert_true(t->guard.worth > 0 && t->guard.bound < 1000 * t->guard.bids);
		if (t->kind == AUC_TARIFF_FLAT && t->choice.factor == 0) {
			traces++;
			assert_true(t->guard.worth > t->guard.worth_of[AUC_TARIFF_NONE] &&
				    t->guard.worth > t->guard.worth_of[AUC_TARIFF_PUBLISHED]);
			assert_true(fitting_v100_price(a, auc_market_first(a->market)) > 0);
			assert_true(fitting_v100_price(a, auc_market_first(a->market)) < 0.01);
		}
		auc_tariff_free(t);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
	assert_true(traces > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_scarce, learned_prices,
						world_auction_teardown),
		cmocka_unit_test(test_plenty),
		cmocka_unit_test_setup_teardown(test_holds, flat_prices, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_quiet, learned_prices, world_auction_teardown),
		cmocka_unit_test(test_restart),
		cmocka_unit_test_setup_teardown(test_stop, learned_prices, world_auction_teardown),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
