/* test_closures.c - servers that are closed for a time, in the market and in the auction
 * (closures.c)
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "market/timeline.h"
#include "unit/support/caches.h"
#include "unit/support/tiny.h"
#include "unit/support/world.h"

static struct auc_err err;

static bool is_closed(const struct auc_closure *list, unsigned n, unsigned server, auc_slot t)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].server == server && list[i].from <= t && t <= list[i].to)
			return true;
	return false;
}

/* What is closed takes nothing; all else takes what it would take in a market where nothing is
 * closed. */
static void check(const struct auc_market *m, const struct auc_market *open,
		  const struct auc_closure *list, unsigned n)
{
	assert_true(auc_market_sound(m) && caches_sound(m));
	for (unsigned t = 0; t < m->slots; t++)
		for (unsigned s = 0; s < m->nservers; s++)
			for (unsigned i = 0; i < m->nworker_types + m->nps_types; i++) {
				const struct auc_type_cache *c = &m->cache[i], *o = &open->cache[i];

				if (is_closed(list, n, s, m->first + t)) {
					assert_int_equal(auc_type_fit(c, t, s), 0);
					assert_true(isinf(auc_type_price(c, t, s)));
				} else {
					assert_int_equal(auc_type_fit(c, t, s),
							 auc_type_fit(o, t, s));
					assert_true(auc_type_price(c, t, s) ==
						    auc_type_price(o, t, s));
				}
			}
}

static void test_market(void **state)
{
	struct tiny_random r = {11};
	struct auc_market *m, *open;
	struct auc_closure list[4];
	struct tiny_market t;
	unsigned n = 0, s, k;
	auc_slot from;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		s = (unsigned)tiny_int(&r, 1, 8);
		k = (unsigned)tiny_int(&r, 1, 40);
		tiny_market_make(&t, &r, s, k);
		m = tiny_build(&t);
		open = tiny_build(&t);
		for (unsigned step = 0; step < 12; step++) {
			for (n = 0; n < (unsigned)tiny_int(&r, 0, 4); n++) {
				from = auc_market_first(m) + tiny_int(&r, -5, 40);
				list[n] = (struct auc_closure){
					.server = (unsigned)tiny_int(&r, 0, (int)t.nservers - 1),
					.from = from,
					.to = tiny_chance(&r, 0.2) ? INT64_MAX
								   : from + tiny_int(&r, 0, 20)};
			}
			assert_int_equal(auc_market_close(m, list, n, &err), AUC_OK);
			check(m, open, list, n);
			/* What is booked is booked, closed or not. */
			s = (unsigned)tiny_int(&r, 0, (int)t.nservers - 1);
			k = (unsigned)tiny_int(&r, 0, (int)auc_market_ntres(m) - 1);
			from = auc_market_first(m) + tiny_int(&r, 0, 20);
			assert_int_equal(auc_market_reserve(m, s, k, from, from + 3,
							    auc_market_capacity(m, s, k) / 8, NULL),
					 auc_market_reserve(open, s, k, from, from + 3,
							    auc_market_capacity(m, s, k) / 8,
							    NULL));
			check(m, open, list, n);
			from = auc_market_first(m) + tiny_int(&r, 0, 5);
			auc_market_advance(m, from);
			auc_market_advance(open, from);
			check(m, open, list, n);
		}
		assert_int_equal(auc_market_close(m, NULL, 0, &err), AUC_OK);
		check(m, open, NULL, 0);
		auc_market_destroy(m);
		auc_market_destroy(open);
	}
}

static void test_bad_server(void **state)
{
	struct tiny_random r = {3};
	struct auc_closure closed = {.server = 2, .from = 0, .to = 1};
	struct tiny_market t;
	struct auc_market *m;

	(void)state;
	tiny_market_make(&t, &r, 2, 5);
	m = tiny_build(&t);
	assert_int_equal(auc_market_close(m, &closed, 1, &err), AUC_ENOENT);
	assert_string_equal(err.text, "closed server 2: not in the market");
	auc_market_destroy(m);
}

/* Where and when the best schedule of one worker for two slots is. */
static void expect(struct auc_auction *a, const char *server, double start)
{
	struct auc_bid bid =
		world_bid(a, "300 epochs=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0");
	struct auc_offer o;

	assert_int_equal(auc_auction_bid(a, &bid, 1000, NOW, false, &o, &err), AUC_OK);
	assert_true(o.nparts == 1);
	assert_string_equal(o.parts[0].server, server);
	assert_true(o.start == start);
	auc_offer_clear(&o);
}

static void test_auction(void **state)
{
	struct auc_closing list[] = {
		{.server = "edge1", .from = NOW + 2.5 * SLOT, .to = NOW + 2.6 * SLOT},
		{.server = "edge2", .from = NOW, .to = INFINITY},
		{.server = "edge3", .from = NOW, .to = INFINITY},
		{.server = "edge4", .from = NOW - 9 * SLOT, .to = NOW + 3.5 * SLOT},
		{.server = "gone", .from = NOW, .to = INFINITY}};
	struct auc_auction *a;
	char dir[64];

	(void)state;
	world_mkdir(dir);
	a = world_open("Prices=given\nEta=gpu:v100=20", dir, NOW);
	expect(a, "edge1", 1001 * SLOT);
	/* A slot that is touched is closed; two slots are free on edge1 from 1003 on, on edge4 from
	 * 1004 on. */
	assert_int_equal(auc_auction_close(a, list, 5, &err), AUC_OK);
	expect(a, "edge1", 1003 * SLOT);
	list[0].from = NOW + 2 * SLOT;
	list[0].to = INFINITY;
	assert_int_equal(auc_auction_close(a, list, 5, &err), AUC_OK);
	expect(a, "edge4", 1004 * SLOT);
	/* It outlives the market, with slots of another length, too. */
	assert_int_equal(
		auc_auction_reconfigure(a, world_conf("Prices=given\nEta=gpu:v100=20\nSlots=100"),
					NOW, &err),
		AUC_OK);
	expect(a, "edge4", 1004 * SLOT);
	assert_int_equal(
		auc_auction_reconfigure(
			a, world_conf("Prices=given\nEta=gpu:v100=20\nSlots=100\nSlotSeconds=150"),
			NOW, &err),
		AUC_OK);
	expect(a, "edge4", 2007 * SLOT / 2);
	assert_int_equal(auc_auction_close(a, list, 0, &err), AUC_OK);
	expect(a, "edge1", 2001 * SLOT / 2);
	auc_auction_destroy(a);
	world_rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_market),
		cmocka_unit_test(test_bad_server),
		cmocka_unit_test(test_auction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
