/* test_nearness.c - how far ahead slots are bought, and what that makes of prices. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pricing/nearness.h"
#include "market/timeline.h"
#include "market/price.h"
#include "unit/support/caches.h"
#include "unit/support/property.h"

#define FIRST 100
#define SLOTS 20

static struct auc_err err;

/* Servers 0 and 1 in one partition, 2 in another. */
static struct auc_market *market(void)
{
	static const struct auc_named gpu[] = {{"gpu", 4}}, one[] = {{"gpu", 1}};
	struct auc_market *m = auc_market_create(SLOTS, 600, FIRST);
	struct auc_given_price prices[3];

	assert_non_null(m);
	for (unsigned s = 0; s < 3; s++) {
		const char *const names[] = {"edge1", "edge2", "cloud1"};

		assert_int_equal(auc_market_add_server(m, names[s], s < 2 ? "edge" : "cloud",
						       s == 2, AUC_ROLES_ALL, 0, gpu, 1, &err),
				 AUC_OK);
		prices[s] = (struct auc_given_price){s, 0, FIRST, FIRST + SLOTS - 1, 8};
	}
	assert_int_equal(auc_market_add_worker_type(m, "w", one, 1, 100, &err), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", one, 1, 100, &err), AUC_OK);
	assert_int_equal(auc_market_ready(m, &(struct auc_price){.kind = AUC_PRICE_ETA}, &err),
			 AUC_OK);
	assert_int_equal(auc_market_give_prices(m, prices, 3, &err), AUC_OK);
	return m;
}

/* A plan of WORKERS on SERVER in slots FROM to TO, bought in slot 100. */
static void add(struct auc_nearness *a, unsigned server, unsigned workers, auc_slot from,
		auc_slot to)
{
	struct auc_plan p;

	auc_plan_init(&p);
	p.arrival = FIRST;
	p.start = from;
	p.completion = to + 1;
	assert_int_equal(auc_plan_add_run(&p, from, to, &err), AUC_OK);
	assert_int_equal(auc_plan_add_share(&p, server, workers, 0, &err), AUC_OK);
	auc_nearness_add(a, &p);
	auc_plan_clear(&p);
}

static void test_share(void **state)
{
	struct auc_market *m = market();
	struct auc_nearness *a = auc_nearness_create(m);

	(void)state;
	assert_non_null(a);
	for (unsigned i = 0; i < AUC_NEARNESS_PLANS; i++) {
		assert_close(auc_nearness_share(a, 0, 0), 1, 1);
		/* half of them 2 and 3 slots ahead, half of them 6 to 11: four on the mean */
		add(a, i % 2, 1, FIRST + (i % 2 ? 6 : 2), FIRST + (i % 2 ? 11 : 3));
	}
	for (unsigned s = 0; s < 2; s++) {
		assert_close(auc_nearness_share(a, s, -5), AUC_NEARNESS_LEAST, 1);
		assert_close(auc_nearness_share(a, s, 1), AUC_NEARNESS_LEAST, 1);
		assert_close(auc_nearness_share(a, s, 2), 0.25, 1);
		assert_close(auc_nearness_share(a, s, 3), 0.5, 1);
		assert_close(auc_nearness_share(a, s, 5), 1, 1);
		assert_close(auc_nearness_share(a, s, 1000), 1, 1);
	}
	assert_close(auc_nearness_share(a, 2, 0), 1, 1); /* nothing is known of it */
	auc_nearness_destroy(a);
	auc_market_destroy(m);
}

static void test_discount(void **state)
{
	struct auc_market *m = market();
	struct auc_nearness *a = auc_nearness_create(m);

	(void)state;
	assert_non_null(a);
	for (unsigned i = 0; i < AUC_NEARNESS_PLANS; i++)
		add(a, 1, 1, FIRST + 4, FIRST + 5);
	/* on a server that is not there: nothing happens */
	add(a, 7, 1, FIRST, FIRST);
	auc_nearness_discount(a, m, FIRST + 3);
	assert_true(caches_sound(m));
	for (unsigned s = 0; s < 3; s++)
		for (auc_slot t = FIRST; t < FIRST + SLOTS; t++)
			assert_close(auc_market_price(m, s, 0, t),
				     8 * (s == 2 ? 1 : auc_nearness_share(a, s, t - FIRST - 3)), 8);
	assert_close(auc_market_price(m, 0, 0, FIRST + 6), 0.08, 8);
	assert_close(auc_market_price(m, 0, 0, FIRST + 7), 4, 8);
	assert_close(auc_market_price(m, 0, 0, FIRST + 8), 8, 8);
	auc_nearness_destroy(a);
	auc_market_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_discount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
