/* test_traffic.c - the budget of traffic of a market: what is booked, what it costs, what moves
 * with the window. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "market/timeline.h"
#include "market/plan.h"
#include "unit/support/sound.h"

#define SLOTS 6

/* Servers a and b; a MB costs 100^(share in use) - 1. */
static struct auc_market *market(double budget)
{
	struct auc_market *m = auc_market_create(SLOTS, 60, 1);
	struct auc_price price = {.kind = AUC_PRICE_ETA, .neta = 1};
	struct auc_named tres = {"cpu", 8};

	assert_non_null(m);
	strcpy(price.eta[0].name, AUC_TRANSFER);
	price.eta[0].value = 100;
	assert_int_equal(auc_market_add_server(m, "a", "e", false, 3, 0, &tres, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_add_server(m, "b", "e", false, 3, 0, &tres, 1, NULL), AUC_OK);
	tres.value = 1;
	assert_int_equal(auc_market_add_worker_type(m, "w", &tres, 1, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", &tres, 1, 1, NULL), AUC_OK);
	if (budget >= 0)
		assert_int_equal(auc_market_set_traffic(m, budget, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
	return m;
}

/* Slots 2 and 3: two workers beside the PS at a, three at b, which exchange 1.5 MB each; in slot 3
 * four chunks of 0.25 MB go to b. */
static void make_plan(struct auc_plan *p)
{
	auc_plan_init(p);
	p->chunk_mb = 0.25;
	p->exchange_mb = 1.5;
	p->start = 2;
	p->completion = 4;
	assert_int_equal(auc_plan_add_run(p, 2, 3, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(p, 0, 2, 1, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(p, 1, 3, 0, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_move(p, 3, 0, 1, 4, NULL), AUC_OK);
}

static void test_booking(void **state)
{
	struct auc_err err = {.text = ""};
	struct auc_market *m = market(10), *twin;
	struct auc_plan p, copy;

	(void)state;
	make_plan(&p);
	assert_true(auc_plan_traffic(&p, p.runs, 2) == 4.5);
	assert_true(auc_plan_traffic(&p, p.runs, 3) == 5.5);
	assert_true(auc_plan_cost(&p, m) == 0);
	assert_int_equal(auc_market_book(m, &p, 1, SLOTS, &err), AUC_OK);
	assert_true(auc_market_traffic_used(m, 1) == 0);
	assert_true(auc_market_traffic_used(m, 2) == 4.5);
	assert_true(auc_market_traffic_used(m, 3) == 5.5);
	assert_true(fabs(auc_market_traffic_price(m, 2) - (pow(100, 0.45) - 1)) < 1e-12);
	assert_true(fabs(auc_plan_cost(&p, m) - 4.5 * (pow(100, 0.45) - 1) -
			 5.5 * (pow(100, 0.55) - 1)) < 1e-9);
	/* once more fits in slot 2 alone, so that nothing is booked */
	assert_int_equal(auc_market_book(m, &p, 1, SLOTS, &err), AUC_EFULL);
	auc_plan_init(&copy);
	assert_int_equal(auc_plan_copy(&copy, &p, NULL), AUC_OK);
	assert_int_equal(copy.nmoves, 1);
	assert_int_equal(auc_market_reserve_traffic(m, 2, 3, 5, &err), AUC_EFULL);
	assert_string_equal(err.text, "slot 3: transfer: 5 MB wanted, 4.5 left");
	twin = auc_market_clone(m);
	assert_true(auc_market_traffic_used(twin, 3) == 5.5);
	auc_market_advance(twin, 3);
	assert_true(auc_market_traffic_used(twin, 3) == 5.5);
	assert_true(auc_market_traffic_used(twin, 4) == 0);
	assert_true(auc_market_traffic_price(twin, 2 + SLOTS) == 0);
	assert_true(auc_market_sound(twin));
	assert_int_equal(auc_market_unbook(m, &copy, 1, SLOTS, &err), AUC_OK);
	assert_true(auc_market_traffic_used(m, 3) == 0);
	assert_int_equal(auc_market_unbook(m, &copy, 1, SLOTS, &err), AUC_ESTATE);
	auc_market_destroy(twin);
	auc_market_destroy(m);
	auc_plan_clear(&p);
	auc_plan_clear(&copy);
}

static void test_limits(void **state)
{
	struct auc_err err = {.text = ""};
	struct auc_given_price given = {AUC_ANY_SERVER, 0, 2, 3, 7};
	struct auc_market *m = market(0);
	struct auc_plan p;

	(void)state;
	make_plan(&p);
	assert_int_equal(auc_market_book(m, &p, 1, SLOTS, &err), AUC_EFULL);
	assert_true(auc_market_traffic_price(m, 2) == 0);
	assert_int_equal(auc_market_set_traffic(m, 1, &err), AUC_ESTATE);
	auc_market_destroy(m);
	m = market(-1);
	assert_true(isinf(auc_market_traffic_budget(m)));
	assert_int_equal(auc_market_book(m, &p, 1, SLOTS, &err), AUC_OK);
	assert_true(auc_plan_cost(&p, m) == 0);
	assert_int_equal(auc_market_give_prices(m, &given, 1, &err), AUC_OK);
	assert_true(auc_plan_cost(&p, m) == 70);
	given.to = SLOTS + 5; /* for slots to come, too */
	assert_int_equal(auc_market_give_prices(m, &given, 1, &err), AUC_OK);
	auc_market_advance(m, 1 + SLOTS / 2);
	assert_true(auc_market_traffic_price(m, SLOTS + 1) == 7);
	given.to = SLOTS;
	assert_int_equal(auc_market_give_prices(m, &given, 1, &err), AUC_OK);
	auc_market_advance(m, 2 + SLOTS);
	assert_true(auc_market_traffic_price(m, 2 + SLOTS) == 0);
	auc_market_destroy(m);
	m = auc_market_create(SLOTS, 60, 1);
	assert_int_equal(auc_market_set_traffic(m, -1, &err), AUC_EINVAL);
	assert_int_equal(auc_market_set_traffic(m, (double)NAN, &err), AUC_EINVAL);
	auc_market_destroy(m);
	assert_int_equal(auc_plan_add_move(&p, 2, 0, 1, 4, &err), AUC_EINVAL); /* not in order */
	assert_int_equal(auc_plan_add_move(&p, 3, 1, 1, 4, &err), AUC_EINVAL);
	assert_int_equal(auc_plan_add_move(&p, 3, 1, 0, 0, &err), AUC_EINVAL);
	auc_plan_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_booking),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, sound_teardown);
}
