/* test_market.c - the timeline, its prices and caches; bids resolved against it (market.h) */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "input/bid_resolve.h"
#include "market/timeline.h"
#include "market/plan.h"
#include "unit/support/caches.h"
#include "unit/support/tiny.h"
#include "unit/support/sound.h"

static const struct auc_named edge[] = {{"gpu", 0.3}, {"cpu", 8}};
static const struct auc_named cloud[] = {{"gpu", 4}, {"cpu", 64}, {"mem", 4194304}};
static const struct auc_named worker[] = {{"gpu", 0.1}, {"cpu", 2}};
static const struct auc_named ps[] = {{"cpu", 1}};
static const struct auc_named tpu[] = {{"tpu", 1}};

static struct auc_market *open_market(void)
{
	struct auc_market *m = auc_market_create(10, 300, 100);

	assert_non_null(m);
	assert_int_equal(auc_market_add_server(m, "e1", "edge", false, 3, 0, edge, 2, NULL),
			 AUC_OK);
	assert_int_equal(auc_market_add_server(m, "c1", "cloud", true, 3, 2.5, cloud, 3, NULL),
			 AUC_OK);
	assert_int_equal(auc_market_add_worker_type(m, "w", worker, 2, 100, NULL), AUC_OK);
	assert_int_equal(auc_market_add_worker_type(m, "none", tpu, 1, 100, NULL), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", ps, 1, 300, NULL), AUC_OK);
	return m;
}

static struct auc_market *make_market(void)
{
	static const struct auc_price price = {.neta = 2, .eta = {{"gpu", 16}, {"nobody has", 9}}};
	struct auc_market *m = open_market();

	assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
	return m;
}

static void make_plan(struct auc_plan *p, auc_slot from, auc_slot to, unsigned server,
		      unsigned workers, unsigned nps)
{
	auc_plan_reset(p);
	p->start = from;
	p->completion = to + 1;
	assert_int_equal(auc_plan_add_run(p, from, to, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(p, server, workers, nps, NULL), AUC_OK);
}

static void test_book(void **state)
{
	struct auc_market *m = make_market();
	struct auc_err err;
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	make_plan(&p, 102, 104, 0, 2, 1);
	assert_int_equal(auc_market_book(m, &p, 102, 104, NULL), AUC_OK);
	assert_true(auc_market_used(m, 0, 0, 103) == 0.2);
	assert_true(auc_market_used(m, 0, 1, 104) == 5);
	assert_true(auc_market_used(m, 0, 0, 105) == 0);
	assert_true(auc_market_used(m, 0, 0, 99) == 0);
	assert_true(fabs(auc_market_price(m, 0, 0, 103) - (pow(16, 2.0 / 3) - 1)) < 1e-12);
	assert_true(auc_market_price(m, 0, 1, 103) == 0); /* no base: free */
	assert_true(auc_market_price(m, 0, 0, 105) == 0);

	/* the third tenth fills 0.3 exactly, a fourth is too much */
	make_plan(&p, 104, 106, 0, 2, 1);
	assert_int_equal(auc_market_book(m, &p, 104, 106, &err), AUC_EFULL);
	assert_string_equal(err.text,
			    "server e1, slot 104: gpu: 2 workers and 1 PS need more than 0.1 left");
	assert_true(auc_market_used(m, 0, 0, 105) == 0);
	make_plan(&p, 104, 106, 0, 1, 1);
	assert_int_equal(auc_market_book(m, &p, 104, 106, NULL), AUC_OK);
	assert_true(auc_market_price(m, 0, 0, 104) == 15);
	assert_true(auc_market_sound(m) && caches_sound(m));

	/* only the rest of a plan is given back, and not more than is in use */
	assert_int_equal(auc_market_unbook(m, &p, 105, 1000, NULL), AUC_OK);
	assert_true(auc_market_used(m, 0, 0, 104) == 0.3 && auc_market_used(m, 0, 0, 106) == 0);
	assert_int_equal(auc_market_unbook(m, &p, 104, 106, &err), AUC_ESTATE);
	assert_true(auc_market_used(m, 0, 0, 104) == 0.3);

	make_plan(&p, 104, 104, 0, UINT32_MAX, UINT32_MAX);
	assert_int_equal(auc_market_book(m, &p, 104, 104, NULL), AUC_EFULL);
	make_plan(&p, 104, 104, 1, 1, 0);
	p.worker_type = 1;
	assert_int_equal(auc_market_book(m, &p, 104, 104, NULL), AUC_EFULL); /* nobody has a tpu */
	p.worker_type = 2;
	assert_int_equal(auc_market_book(m, &p, 104, 104, NULL), AUC_EINVAL);
	make_plan(&p, 104, 104, 2, 1, 0);
	assert_int_equal(auc_market_book(m, &p, 104, 104, NULL), AUC_EINVAL);
	assert_true(auc_market_sound(m) && caches_sound(m));
	auc_plan_clear(&p);
	auc_market_destroy(m);
}

/* Sells something in A if it fits, and the same in B. False if it does not fit in B alone. */
static bool sell_in_both(struct auc_market *a, struct auc_market *b, struct tiny_random *r,
			 struct auc_plan *p)
{
	auc_slot from = 100 + tiny_int(r, 0, 9);

	make_plan(p, from, from + tiny_int(r, 0, 4), (unsigned)tiny_int(r, 0, 1),
		  (unsigned)tiny_int(r, 0, 2), (unsigned)tiny_int(r, 1, 2));
	return auc_market_book(a, p, 100, 109, NULL) != AUC_OK ||
	       auc_market_book(b, p, 100, 109, NULL) == AUC_OK;
}

static void assert_same_markets(const struct auc_market *a, const struct auc_market *b)
{
	assert_true(auc_market_sound(a) && caches_sound(a));
	for (unsigned s = 0; s < auc_market_nservers(a); s++)
		for (unsigned k = 0; k < auc_market_ntres(a); k++) {
			assert_true(auc_market_capacity(a, s, k) == auc_market_capacity(b, s, k));
			for (auc_slot t = 100; t < 110; t++)
				assert_true(auc_market_price(a, s, k, t) ==
					    auc_market_price(b, s, k, t));
		}
	for (unsigned i = 0; i < a->nworker_types + a->nps_types; i++) {
		assert_int_equal(a->cache[i].total0, b->cache[i].total0);
		assert_int_equal(a->cache[i].max0, b->cache[i].max0);
		for (unsigned row = 0; row < a->nrows; row++)
			for (unsigned s = 0; s < a->nservers; s++) {
				assert_int_equal(auc_type_fit(&a->cache[i], row, s),
						 auc_type_fit(&b->cache[i], row, s));
				assert_true(auc_type_price(&a->cache[i], row, s) ==
					    auc_type_price(&b->cache[i], row, s));
			}
	}
}

/* A server whose capacity changes is as if it had always had that; what is booked stays. */
static void test_set_capacity(void **state)
{
	static const struct auc_price price = {.neta = 2, .eta = {{"gpu", 16}, {"cpu", 3}}};
	struct auc_named now[] = {{"gpu", 0.3}, {"cpu", 8}};
	unsigned nfit = 0;
	struct auc_market *a, *b;
	struct tiny_random r = {1};
	struct auc_plan p;
	bool fits;

	(void)state;
	auc_plan_init(&p);
	for (int round = 0; round < 300; round++) {
		a = open_market();
		assert_int_equal(auc_market_ready(a, &price, NULL), AUC_OK);
		now[0].value = 0.1 * tiny_int(&r, 1, 5);
		now[1].value = tiny_int(&r, 1, 10);
		b = auc_market_create(10, 300, 100);
		assert_int_equal(auc_market_add_server(b, "e1", "edge", false, 3, 0, now, 2, NULL),
				 AUC_OK);
		assert_int_equal(
			auc_market_add_server(b, "c1", "cloud", true, 3, 2.5, cloud, 3, NULL),
			AUC_OK);
		assert_int_equal(auc_market_add_worker_type(b, "w", worker, 2, 100, NULL), AUC_OK);
		assert_int_equal(auc_market_add_worker_type(b, "none", tpu, 1, 100, NULL), AUC_OK);
		assert_int_equal(auc_market_add_ps_type(b, "p", ps, 1, 300, NULL), AUC_OK);
		assert_int_equal(auc_market_ready(b, &price, NULL), AUC_OK);
		fits = true;
		for (int i = tiny_int(&r, 0, 3); i > 0; i--)
			fits = sell_in_both(a, b, &r, &p) && fits;
		assert_int_equal(auc_market_set_capacity(a, 0, now, 2, NULL),
				 fits ? AUC_OK : AUC_EFULL);
		if (fits) {
			assert_same_markets(a, b);
			assert_true(sell_in_both(a, b, &r, &p));
			assert_same_markets(a, b);
		} else {
			assert_true(auc_market_capacity(a, 0, 0) == 0.3);
			assert_true(caches_sound(a));
		}
		nfit += fits;
		auc_market_destroy(a);
		auc_market_destroy(b);
	}
	assert_true(nfit > 100 && nfit < 290);
	auc_plan_clear(&p);
}

/* Where another market would count in other units, or have other TRES, it has to be made anew. */
static void test_set_capacity_refused(void **state)
{
	static const struct auc_named huge[] = {{"gpu", 0.3}, {"cpu", 1e9}},
				      other[] = {{"fpga", 1}};
	struct auc_market *m = make_market();
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_market_set_capacity(m, 0, huge, 2, &err), AUC_ESTATE);
	assert_string_equal(err.text, "server e1: cpu is counted otherwise");
	assert_int_equal(auc_market_set_capacity(m, 0, other, 1, &err), AUC_ESTATE);
	assert_string_equal(err.text, "server e1: fpga=1 is new here");
	assert_true(auc_market_capacity(m, 0, 1) == 8 && caches_sound(m));
	auc_market_destroy(m);
}

/* The case of TRES does not count, and is kept as servers have it. */
static void test_case(void **state)
{
	static const struct auc_named type[] = {{"gpu:v100", 1}, {"cpu", 1}},
				      node[] = {{"cpu", 8}, {"gpu:V100", 4}},
				      other[] = {{"cpu", 8}, {"gpu:v100", 2}},
				      twice[] = {{"gpu:v100", 1}, {"GPU:V100", 1}};
	struct auc_price price = {.neta = 1, .eta = {{"Gpu:v100", 6}}};
	struct auc_market *m = auc_market_create(4, 60, 0);
	struct auc_err err;
	int k;

	(void)state;
	assert_int_equal(auc_market_add_worker_type(m, "w", type, 2, 1, &err), AUC_OK);
	assert_int_equal(auc_market_add_server(m, "a", "g", false, 3, 0, node, 2, &err), AUC_OK);
	assert_int_equal(auc_market_add_server(m, "b", "g", false, 3, 0, other, 2, &err), AUC_OK);
	assert_int_equal(auc_market_add_server(m, "c", "g", false, 3, 0, twice, 2, &err),
			 AUC_EEXIST);
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	assert_int_equal(auc_market_ntres(m), 2);
	k = auc_market_find_tres(m, "GPU:V100");
	assert_true(k >= 0);
	assert_string_equal(auc_market_tres_name(m, (unsigned)k), "gpu:V100");
	assert_true(auc_market_capacity(m, 0, (unsigned)k) == 4);
	assert_true(auc_market_capacity(m, 1, (unsigned)k) == 2);
	assert_true(auc_market_worker_amount(m, 0, (unsigned)k) == 1);
	assert_int_equal(auc_market_find_tres(m, "gpu:v10"), -1);
	auc_market_destroy(m);
}

static void test_advance(void **state)
{
	struct auc_market *m = make_market();
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	make_plan(&p, 98, 112, 1, 3, 1);
	assert_int_equal(auc_market_book(m, &p, 98, 112, NULL),
			 AUC_OK); /* 100..109 are in the window */
	auc_market_advance(m, 99);
	assert_int_equal(auc_market_first(m), 100);
	auc_market_advance(m, 104);
	assert_int_equal(auc_market_last(m), 113);
	assert_true(fabs(auc_market_used(m, 1, 0, 109) - 0.3) < 1e-12);
	assert_true(auc_market_used(m, 1, 0, 110) == 0 && auc_market_used(m, 1, 0, 103) == 0);
	assert_true(caches_sound(m));
	assert_int_equal(auc_market_unbook(m, &p, 98, 109, NULL), AUC_OK);
	assert_true(auc_market_used(m, 1, 0, 109) == 0);
	assert_int_equal(auc_market_book(m, &p, 98, 112, NULL), AUC_OK);
	auc_market_advance(m, INT64_C(1) << 40);
	assert_true(auc_market_used(m, 1, 0, auc_market_first(m)) == 0);
	assert_true(auc_market_sound(m) && caches_sound(m));
	auc_plan_clear(&p);
	auc_market_destroy(m);
}

/* A clone is the same market, and goes its own way from then on. */
static void test_clone(void **state)
{
	static const struct auc_closure closed = {0, 106, 108};
	struct auc_market *m = make_market(), *clone;
	struct auc_plan p;
	auc_slot t;

	(void)state;
	auc_plan_init(&p);
	make_plan(&p, 100, 104, 0, 1, 1);
	assert_int_equal(auc_market_book(m, &p, 100, 104, NULL), AUC_OK);
	assert_int_equal(auc_market_close(m, &closed, 1, NULL), AUC_OK);
	clone = auc_market_clone(m);
	assert_non_null(clone);
	assert_true(auc_market_sound(clone) && caches_sound(clone));
	for (t = 100; t < 110; t++) {
		assert_true(auc_market_used(clone, 0, 0, t) == auc_market_used(m, 0, 0, t));
		assert_true(auc_market_price(clone, 0, 0, t) == auc_market_price(m, 0, 0, t));
	}
	assert_int_equal(auc_type_fit(&clone->cache[0], 6, 0), 0);
	assert_int_equal(auc_market_unbook(clone, &p, 100, 104, NULL), AUC_OK);
	assert_true(auc_market_used(m, 0, 0, 100) > 0);
	auc_market_destroy(m);
	auc_market_advance(clone, 103);
	assert_int_equal(auc_type_fit(&clone->cache[0], 3, 0), 0);
	assert_true(auc_market_sound(clone) && caches_sound(clone));
	auc_plan_clear(&p);
	auc_market_destroy(clone);
}

/* Servers that go and come leave the caches as they would be if made anew, also for slots that the
 * window has not reached yet; what is booked stays. */
static void test_set_roles(void **state)
{
	static const unsigned both = AUC_ROLE_WORKER | AUC_ROLE_PS;
	const unsigned up[] = {both, both}, down[] = {both, 0};
	struct auc_market *m = make_market(), *other = make_market();
	struct auc_plan p;

	(void)state;
	auc_plan_init(&p);
	make_plan(&p, 98, 112, 1, 3, 1);
	for (auc_slot first = 100; first < 160; first++) {
		make_plan(&p, first, first + 5, first % 2, 1, 1);
		(void)auc_market_book(m, &p, first, first + 5, NULL);
		/* Long enough apart for slots that were beyond the window to come into it. */
		if (first % 15 == 0)
			auc_market_set_roles(m, first % 2 ? down : up);
		assert_int_equal(auc_market_roles(m, 1), first / 15 % 2 ? 0 : both);
		assert_true(auc_market_sound(m) && caches_sound(m));
		auc_market_advance(m, first + 1);
		assert_true(caches_sound(m));
	}
	assert_true(auc_market_used(m, 1, 0, 161) > 0);

	/* Many bookings at once end in the same as one by one. */
	make_plan(&p, 101, 107, 1, 2, 1);
	auc_market_begin_bulk(other);
	assert_int_equal(auc_market_book(other, &p, 101, 107, NULL), AUC_OK);
	make_plan(&p, 103, 109, 0, 1, 1);
	assert_int_equal(auc_market_book(other, &p, 103, 109, NULL), AUC_OK);
	make_plan(&p, 105, 105, 0, 3, 1);
	assert_int_equal(auc_market_book(other, &p, 105, 105, NULL), AUC_EFULL);
	auc_market_end_bulk(other);
	assert_true(auc_market_sound(other) && caches_sound(other));
	auc_plan_clear(&p);
	auc_market_destroy(m);
	auc_market_destroy(other);
}

static void test_reserve(void **state)
{
	struct auc_market *m = make_market();
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_market_reserve(m, 1, 0, 0, 101, 3.5, NULL), AUC_OK);
	assert_true(auc_market_used(m, 1, 0, 101) == 3.5 && auc_market_used(m, 1, 0, 102) == 0);
	assert_int_equal(auc_market_reserve(m, 1, 0, 100, 105, 0.6, &err), AUC_EFULL);
	assert_string_equal(err.text, "server c1, slot 100: gpu=0.6 wanted, 0.5 left");
	assert_true(auc_market_used(m, 1, 0, 102) == 0);
	assert_int_equal(auc_market_reserve(m, 1, 0, 100, 105, -1, NULL), AUC_EINVAL);
	assert_int_equal(auc_market_reserve(m, 1, 0, 100, 105, NAN, NULL), AUC_EINVAL);
	assert_int_equal(auc_market_reserve(m, 9, 0, 100, 105, 1, NULL), AUC_ENOENT);
	assert_true(caches_sound(m));
	auc_market_destroy(m);
}

/* Many reservations at once leave the market as one after the other do. */
static void test_reserve_bulk(void **state)
{
	struct auc_market *m = make_market(), *other = make_market();
	unsigned i;

	(void)state;
	auc_market_begin_bulk(m);
	for (i = 0; i < 5; i++) {
		assert_int_equal(auc_market_reserve(m, i % 2, 0, 100 + i, 109, 0.1, NULL), AUC_OK);
		assert_int_equal(auc_market_reserve(other, i % 2, 0, 100 + i, 109, 0.1, NULL),
				 AUC_OK);
	}
	assert_int_equal(auc_market_reserve(m, 0, 0, 100, 109, 0.1, NULL), AUC_EFULL);
	auc_market_end_bulk(m);
	assert_true(auc_market_sound(m) && caches_sound(m));
	assert_true(auc_market_used(m, 0, 0, 109) == auc_market_used(other, 0, 0, 109));
	assert_true(auc_market_price(m, 0, 0, 109) == auc_market_price(other, 0, 0, 109));
	auc_market_destroy(m);
	auc_market_destroy(other);
}

static void test_set_price(void **state)
{
	struct auc_price price = {.neta = 2, .eta = {{"cpu", 4}, {"gpu", 1}}};
	struct auc_market *m = make_market();
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_market_reserve(m, 0, 0, 100, 105, 0.3, NULL), AUC_OK);
	assert_int_equal(auc_market_reserve(m, 0, 1, 103, 105, 4, NULL), AUC_OK);
	assert_true(auc_market_price(m, 0, 0, 100) == 15);
	assert_int_equal(auc_market_set_price(m, &price, NULL), AUC_OK);
	assert_true(auc_market_price(m, 0, 0, 100) == 0);
	assert_true(auc_market_price(m, 0, 1, 103) == 1);
	assert_true(caches_sound(m));
	price.eta[0].value = 0.5;
	assert_int_equal(auc_market_set_price(m, &price, &err), AUC_EINVAL);
	assert_string_equal(err.text, "Eta: cpu=0.5: expected a number >= 1");
	price.eta[0].value = NAN;
	assert_int_equal(auc_market_set_price(m, &price, NULL), AUC_EINVAL);
	assert_true(auc_market_price(m, 0, 1, 103) == 1);
	auc_market_destroy(m);
}

static void test_bad_lists(void **state)
{
	static const struct auc_named twice[] = {{"gpu", 1}, {"gpu", 2}},
				      negative[] = {{"gpu", -1}}, nan[] = {{"gpu", NAN}},
				      tiny[] = {{"gpu", 1e-12}};
	static const struct auc_price price = {0};
	struct auc_market *m = open_market();
	struct auc_err err;

	(void)state;
	assert_null(auc_market_create(0, 300, 1));
	assert_null(auc_market_create(AUC_SLOTS_MAX + 1, 300, 1));
	assert_int_equal(auc_market_add_server(m, "e1", "edge", false, 3, 0, edge, 2, &err),
			 AUC_EEXIST);
	assert_int_equal(auc_market_add_server(m, "", "edge", false, 3, 0, edge, 2, &err),
			 AUC_EINVAL);
	assert_int_equal(auc_market_add_server(m, "x", "edge", false, 3, -1, edge, 2, &err),
			 AUC_EINVAL);
	assert_int_equal(auc_market_add_server(m, "x", "edge", false, 3, 0, twice, 2, &err),
			 AUC_EEXIST);
	assert_int_equal(auc_market_add_server(m, "x", "edge", false, 3, 0, negative, 1, &err),
			 AUC_EINVAL);
	assert_int_equal(auc_market_add_server(m, "x", "edge", false, 3, 0, nan, 1, &err),
			 AUC_EINVAL);
	assert_int_equal(auc_market_nservers(m), 2);
	assert_int_equal(auc_market_add_worker_type(m, "w", worker, 2, 1, &err), AUC_EEXIST);
	assert_int_equal(auc_market_add_worker_type(m, "x", worker, 0, 1, &err), AUC_EINVAL);
	assert_string_equal(err.text, "worker type x: uses no TRES");
	assert_int_equal(auc_market_add_ps_type(m, "x", ps, 1, 0, &err), AUC_EINVAL);
	assert_int_equal(auc_market_add_ps_type(m, "x", ps, 1, NAN, &err), AUC_EINVAL);
	assert_int_equal(auc_market_add_worker_type(m, "small", tiny, 1, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_EINVAL);
	assert_string_equal(err.text, "small: gpu=1e-12: too small to count, the least is 1e-09");
	auc_market_destroy(m);
}

/* 2^22 MB and nanounits of a GPU side by side: each TRES has a scale of its own. */
static void test_scales(void **state)
{
	static const struct auc_named huge[] = {{"mem", 1e15}, {"gpu", 1}},
				      some[] = {{"mem", 1}, {"gpu", 1e-9}};
	static const struct auc_price price = {0};
	struct auc_market *m = auc_market_create(3, 1, 1);

	(void)state;
	assert_int_equal(auc_market_add_server(m, "s", "", false, 3, 0, huge, 2, NULL), AUC_OK);
	assert_int_equal(auc_market_add_worker_type(m, "w", some, 2, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
	assert_true(auc_market_capacity(m, 0, 0) == 1e15);
	assert_true(auc_market_worker_amount(m, 0, 1) == 1e-9);
	assert_int_equal(m->cache[0].fit0[0], AUC_FIT_MAX);
	auc_market_destroy(m);
}

static void test_resolve(void **state)
{
	struct auc_bid bid = {.epochs = 1,
			      .chunks = 2,
			      .minibatches = 3,
			      .nworkers = 1,
			      .nps = 1,
			      .upload_default = -1};
	struct auc_market *m = make_market();
	struct auc_job job = {0};
	struct auc_err err;

	(void)state;
	bid.worker_seconds[0] = (struct auc_named){"w", 2};
	bid.ps_seconds[0] = (struct auc_named){"p", 0};
	assert_int_equal(auc_bid_resolve(m, &bid, 101, &job, NULL), AUC_OK);
	assert_int_equal(job.arrival, 101);
	assert_true(job.worker_seconds[0] == 2 && job.worker_seconds[1] < 0 &&
		    job.ps_seconds[0] == 0);
	assert_int_equal(job.upload[0], 0);
	assert_int_equal(job.upload[1], 3); /* 2.5 of the server itself, whole slots */
	bid.upload_default = 1;
	bid.nupload = 2;
	bid.upload[0] = (struct auc_named){"c1", 0.2};
	bid.upload[1] = (struct auc_named){"cloud", 7};
	assert_int_equal(auc_bid_resolve(m, &bid, 101, &job, NULL), AUC_OK);
	assert_int_equal(job.upload[0], 1);
	assert_int_equal(job.upload[1], 1); /* its name goes before its group */
	bid.npartitions = 1;
	strcpy(bid.partitions[0], "cloud");
	assert_int_equal(auc_bid_resolve(m, &bid, 101, &job, NULL), AUC_OK);
	assert_int_equal(job.upload[0], UINT32_MAX); /* not confined to its partition */
	assert_int_equal(job.upload[1], 1);
	strcpy(bid.partitions[0], "attic");
	assert_int_equal(auc_bid_resolve(m, &bid, 101, &job, &err), AUC_ENOENT);
	assert_string_equal(
		err.text,
		"--partition: 'attic' is no partition with nodes for sale of this cluster");
	bid.npartitions = 0;
	strcpy(bid.upload[1].name, "moon");
	assert_int_equal(auc_bid_resolve(m, &bid, 101, &job, &err), AUC_ENOENT);
	assert_string_equal(err.text, "--upload: 'moon' is no server or site of this cluster");
	strcpy(bid.worker_seconds[0].name, "x");
	assert_int_equal(auc_bid_resolve(m, &bid, 101, &job, &err), AUC_ENOENT);
	assert_string_equal(err.text, "--worker-time: 'x' is no worker type of this cluster");
	auc_job_clear(&job);
	auc_market_destroy(m);
}

/* A bid that is confined never gets to a partition that it does not name, also when it is resolved
 * later, when there are others, and to those that it names as before. */
static void test_confine(void **state)
{
	static const struct auc_price price = {0};
	static const struct {
		struct auc_bid bid; /* its uploads and data */
		const char *partition;
		unsigned upload[2];
	} cases[] = {
		{{.upload_default = -1}, "edge", {0, UINT32_MAX}},
		{{.upload_default = -1}, "cloud", {UINT32_MAX, 3}},
		{{.upload_default = 5}, "cloud", {UINT32_MAX, 5}},
		{{.upload_default = -1, .data_mb = 11300}, "cloud", {UINT32_MAX, 4}},
		{{.upload_default = -1, .nupload = 2, .upload = {{"c1", 0.2}, {"edge", 7}}},
		 "cloud",
		 {UINT32_MAX, 1}},
		{{.upload_default = -1, .nupload = 2, .upload = {{"c1", 0.2}, {"edge", 7}}},
		 "edge",
		 {7, UINT32_MAX}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_bid bid = cases[i].bid;
		struct auc_market *m = open_market();
		struct auc_job job = {0};

		auc_market_set_bandwidth(m, 80);
		assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
		bid.epochs = bid.chunks = bid.minibatches = 1;
		bid.nworkers = bid.nps = 1;
		bid.worker_seconds[0] = (struct auc_named){"w", 2};
		bid.ps_seconds[0] = (struct auc_named){"p", 0};
		bid.npartitions = 1;
		strcpy(bid.partitions[0], cases[i].partition);
		assert_int_equal(auc_bid_confine(&bid, m, NULL), AUC_OK);
		auc_market_destroy(m);
		m = open_market();
		auc_market_set_bandwidth(m, 80);
		assert_int_equal(auc_market_add_server(m, "n1", "new", false, 3, 0, edge, 2, NULL),
				 AUC_OK);
		assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
		bid.npartitions = 0;
		assert_int_equal(auc_bid_resolve(m, &bid, 100, &job, NULL), AUC_OK);
		assert_int_equal(job.upload[0], cases[i].upload[0]);
		assert_int_equal(job.upload[1], cases[i].upload[1]);
		assert_int_equal(job.upload[2], UINT32_MAX);
		auc_job_clear(&job);
		auc_market_destroy(m);
	}
}

/* f = 60. Work: 6 batches of 100 s, 2 worker-slots of 300 s: 1 worker x 2 slots or 2 x 1; 1 PS. */
/* Data take their size over the bandwidth of the server that says one, unless the bid gives the
 * time. */
static void test_data(void **state)
{
	struct auc_bid bid = {.epochs = 1,
			      .chunks = 1,
			      .minibatches = 1,
			      .nworkers = 1,
			      .nps = 1,
			      .upload_default = -1,
			      .data_mb = 11300};
	struct auc_market *m = open_market();
	struct auc_job job = {0};

	(void)state;
	auc_market_set_bandwidth(m, 80);
	assert_int_equal(auc_market_ready(m, &(struct auc_price){0}, NULL), AUC_OK);
	bid.worker_seconds[0] = (struct auc_named){"w", 2};
	bid.ps_seconds[0] = (struct auc_named){"p", 0};
	assert_int_equal(auc_bid_resolve(m, &bid, 100, &job, NULL), AUC_OK);
	assert_int_equal(job.upload[0], 0);
	assert_int_equal(job.upload[1], 4); /* 1130 s */
	bid.data_mb = 0;
	assert_int_equal(auc_bid_resolve(m, &bid, 100, &job, NULL), AUC_OK);
	assert_int_equal(job.upload[1], 3);
	bid.data_mb = 11300;
	bid.upload_default = 1;
	assert_int_equal(auc_bid_resolve(m, &bid, 100, &job, NULL), AUC_OK);
	assert_int_equal(job.upload[1], 1);
	auc_job_clear(&job);
	auc_market_destroy(m);
}

static void test_ratios(void **state)
{
	struct auc_job job = {.arrival = 100,
			      .utility = {.form = AUC_FORM_CONSTANT, .scale = 60},
			      .epochs = 1,
			      .chunks = 2,
			      .minibatches = 3};
	struct auc_market *m = make_market();
	unsigned upload[2] = {0, 3};
	double ratio[AUC_TRES_MAX];
	unsigned i;

	(void)state;
	job.upload = upload;
	for (i = 0; i < AUC_TYPES_MAX; i++)
		job.worker_seconds[i] = job.ps_seconds[i] = -1;
	job.worker_seconds[0] = 100;
	job.ps_seconds[0] = 0;
	auc_price_ratios(m, &job, ratio);
	assert_true(fabs(ratio[0] - 60 / 0.2) < 1e-9); /* 0.1 gpu x 2 slots */
	assert_true(fabs(ratio[1] - 60 / 5.0) < 1e-9); /* (2 x 2 + 1) cpu x 1 slot */
	assert_true(ratio[2] == 0 && ratio[3] == 0);   /* no mem, no tpu in it */
	auc_market_destroy(m);
}

/* The fewest workers, whatever the size of the work: whoever goes through them one by one does not
 * come back from here. */
static void test_workers(void **state)
{
	static const int64_t slots[] = {1, 2, 3, 7, 150, 288, 10000};
	static const uint64_t most[] = {0, 1, 2, 3, 1000, AUC_FIT_MAX, AUC_WORK_MAX};
	struct tiny_random r = {11};
	double work;
	int64_t n, d;
	uint64_t chunks;

	(void)state;
	alarm(60);
	for (unsigned i = 0; i < 200000; i++) {
		work = exp2(140 * tiny_real(&r) - 40);
		if (tiny_chance(&r, 0.3)) /* whole, or as good as */
			work = floor(work) * (1 + (tiny_real(&r) - 0.5) * 4e-9);
		d = slots[tiny_int(&r, 0, sizeof(slots) / sizeof(*slots) - 1)];
		chunks = most[tiny_int(&r, 0, sizeof(most) / sizeof(*most) - 1)];
		n = auc_job_workers(work, d, chunks);
		if (n) {
			assert_true(n >= 1 && (uint64_t)n <= chunks);
			assert_true(auc_job_duration(work, n) <= d);
			assert_true(n == 1 || auc_job_duration(work, n - 1) > d);
		} else if (chunks) {
			assert_true(auc_job_duration(work, (int64_t)chunks) > d);
		}
	}
	alarm(0);
}

static void test_price_unit(void **state)
{
	struct auc_price_curve c = {.kind = AUC_PRICE_ETA, .eta = 25};

	(void)state;
	assert_true(auc_price_unit(&c, 0, 4) == 0);
	assert_true(auc_price_unit(&c, 4, 4) == 24);
	assert_true(fabs(auc_price_unit(&c, 2, 4) - 4) < 1e-12);
	c.eta = 1;
	assert_true(auc_price_unit(&c, 4, 4) == 0);
	c = (struct auc_price_curve){AUC_PRICE_BOUNDS, 1, log(0.01), log(100)};
	assert_true(fabs(auc_price_unit(&c, 0, 4) - 0.01) < 1e-12);
	assert_true(fabs(auc_price_unit(&c, 2, 4) - 1) < 1e-12);
	assert_true(fabs(auc_price_unit(&c, 4, 4) - 100) < 1e-9);
	c.lower = -2000; /* what no double can hold */
	assert_true(auc_price_unit(&c, 0, 4) == 0);
	assert_true(auc_price_unit(&c, 3.999, 4) > 60);
	c.lower = -INFINITY;
	assert_true(auc_price_unit(&c, 3.999, 4) == 0);
	assert_true(fabs(auc_price_unit(&c, 4, 4) - 100) < 1e-9);
	c.upper = -INFINITY; /* free */
	assert_true(auc_price_unit(&c, 0, 4) == 0 && auc_price_unit(&c, 4, 4) == 0);
}

/* A server's roles say which bounds hold there; slots that come into the window have L as their
 * price. */
static void test_bounds(void **state)
{
	struct auc_price price = {
		.kind = AUC_PRICE_BOUNDS,
		.nbounds = 2,
		.bounds = {{"cpu", {log(1), log(2)}, {log(100), log(50)}},
			   {"gpu", {log(4), -INFINITY}, {log(9), -INFINITY}}},
	};
	struct auc_named amounts[] = {{"cpu", 10}, {"gpu", 2}}, one[] = {{"cpu", 1}, {"gpu", 1}};
	static const char *const names[] = {"w", "p", "both"};
	struct auc_market *m = auc_market_create(5, 10, 100), *other;
	struct auc_err err = {0};
	unsigned roles[3], i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(
			auc_market_add_server(m, names[i], "", false, i + 1, 0, amounts, 2, NULL),
			AUC_OK);
	assert_int_equal(auc_market_add_worker_type(m, "w", one, 2, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", one, 1, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
	assert_true(caches_sound(m));
	for (i = 0; i < 2; i++, auc_market_advance(m, 103)) {
		assert_true(auc_market_price(m, 0, 0, 104) == 1);
		assert_true(fabs(auc_market_price(m, 1, 0, 104) - 2) < 1e-12);
		assert_true(auc_market_price(m, 2, 0, 104) == 1); /* the lower of both */
		assert_true(fabs(auc_market_price(m, 0, 1, 104) - 4) < 1e-12);
		assert_true(auc_market_price(m, 1, 1, 104) == 0); /* no PS uses any */
		assert_true(fabs(auc_market_price(m, 2, 1, 104) - 4) < 1e-12);
		assert_true(caches_sound(m));
	}
	assert_true(auc_market_price(m, 0, 0, 107) == 1);
	assert_int_equal(auc_market_reserve(m, 0, 0, 104, 107, 5, NULL), AUC_OK);
	assert_int_equal(auc_market_reserve(m, 1, 0, 104, 104, 10, NULL), AUC_OK);
	assert_int_equal(auc_market_reserve(m, 2, 0, 104, 104, 10, NULL), AUC_OK);
	assert_true(fabs(auc_market_price(m, 0, 0, 107) - 10) < 1e-12);
	assert_true(fabs(auc_market_price(m, 1, 0, 104) - 50) < 1e-12);
	assert_true(fabs(auc_market_price(m, 2, 0, 104) - 100) < 1e-12); /* the higher */
	assert_true(caches_sound(m));

	other = auc_market_create(5, 10, 103);
	for (i = 0; i < 3; i++)
		auc_market_add_server(other, names[i], "", false, i + 1, 0, amounts, 2, NULL);
	auc_market_add_worker_type(other, "own", one + 1, 1, 1, NULL);
	assert_int_equal(auc_market_ready(other, &(struct auc_price){0}, NULL), AUC_OK);
	assert_int_equal(auc_market_copy_state(other, m, NULL), AUC_OK);
	assert_true(fabs(auc_market_price(other, 0, 0, 107) - 10) < 1e-12);
	assert_true(caches_sound(other));
	auc_market_advance(other, 110);
	assert_true(fabs(auc_market_price(other, 0, 1, 114) - 4) < 1e-12);
	assert_true(caches_sound(other));
	auc_market_destroy(other);

	for (i = 0; i < 3; i++)
		roles[i] = AUC_ROLE_PS;
	auc_market_set_roles(m, roles);
	assert_true(fabs(auc_market_price(m, 0, 0, 103) - 2) < 1e-12);
	assert_true(fabs(auc_market_price(m, 0, 0, 107) - 10) < 1e-12); /* sqrt(2 x 50) */
	assert_true(caches_sound(m));

	price.bounds[0].upper[0] = log(0.5);
	assert_int_equal(auc_market_set_price(m, &price, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "cpu"));
	price.bounds[0].upper[0] = 40;
	assert_int_equal(auc_market_set_price(m, &price, &err), AUC_EINVAL);
	price.bounds[0].upper[0] = NAN;
	assert_int_equal(auc_market_set_price(m, &price, &err), AUC_EINVAL);
	price = (struct auc_price){.neta = 1, .eta = {{"cpu", 4}}};
	assert_int_equal(auc_market_set_price(m, &price, NULL), AUC_OK);
	assert_true(fabs(auc_market_price(m, 0, 0, 107) - 1) < 1e-12);
	assert_true(auc_market_price(m, 0, 0, 103) == 0);
	assert_true(caches_sound(m));
	auc_market_destroy(m);
}

static void test_given(void **state)
{
	static const struct auc_price price = {.neta = 1, .eta = {{"gpu", 16}}};
	struct auc_given_price list[] = {
		{0, 0, 100, 109, 2}, {0, 0, 105, 200, 3}, {1, 1, 90, 100, 1}};
	struct auc_market *m = make_market(), *other = make_market(), *clone;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_market_reserve(m, 0, 0, 100, 109, 0.3, NULL), AUC_OK);
	assert_true(auc_market_price(m, 0, 0, 100) == 15);
	assert_int_equal(auc_market_give_prices(m, list, 3, NULL), AUC_OK);
	assert_true(auc_market_price(m, 0, 0, 104) == 2);
	assert_true(auc_market_price(m, 0, 0, 105) == 3); /* the later one holds */
	assert_true(auc_market_price(m, 1, 1, 100) == 1 && auc_market_price(m, 1, 1, 101) == 0);
	assert_int_equal(auc_market_reserve(m, 0, 1, 100, 109, 8, NULL), AUC_OK);
	assert_true(auc_market_price(m, 0, 1, 100) == 0); /* sold out and still free */
	assert_true(caches_sound(m));

	assert_int_equal(auc_market_copy_state(other, m, NULL), AUC_OK);
	assert_true(auc_market_price(other, 0, 0, 105) == 3);
	assert_true(auc_market_used(other, 0, 1, 109) == 8);
	assert_true(caches_sound(other));
	auc_market_advance(m, 101);
	assert_int_equal(auc_market_copy_state(other, m, NULL), AUC_ESTATE);
	/* The price after the window holds in slots that come into it. */
	auc_market_advance(m, 103);
	assert_true(auc_market_price(m, 0, 0, 112) == 3 && auc_market_price(m, 1, 1, 112) == 0);
	assert_true(caches_sound(m));
	clone = auc_market_clone(m);
	auc_market_advance(clone, 120);
	assert_true(auc_market_price(clone, 0, 0, 120) == 3 && caches_sound(clone));
	auc_market_destroy(clone);

	assert_int_equal(auc_market_set_price(m, &price, NULL), AUC_OK); /* computed again */
	assert_true(auc_market_price(m, 0, 0, 103) == 15 && auc_market_price(m, 1, 1, 103) == 0);
	assert_true(caches_sound(m));
	list[1].price = -1;
	assert_int_equal(auc_market_give_prices(m, list, 3, &err), AUC_EINVAL);
	list[1] = (struct auc_given_price){.server = 2};
	assert_int_equal(auc_market_give_prices(m, list, 3, &err), AUC_ENOENT);
	auc_market_destroy(m);
	auc_market_destroy(other);
}

/* Random reservations and advances leave the caches as if made anew. */
static void test_caches(void **state)
{
	struct tiny_random r = {7};
	struct tiny_market t;
	struct auc_market *m;
	unsigned i, n, s, k;
	auc_slot from, to;

	(void)state;
	for (i = 0; i < 50; i++) {
		s = (unsigned)tiny_int(&r, 1, 8);
		k = (unsigned)tiny_int(&r, 1, 20);
		tiny_market_make(&t, &r, s, k);
		t.hours = i % 2;
		m = tiny_build(&t);
		for (n = 0; n < 20; n++) {
			from = auc_market_first(m) + tiny_int(&r, 0, 20);
			to = from + tiny_int(&r, 0, 10);
			s = (unsigned)tiny_int(&r, 0, (int)t.nservers - 1);
			k = (unsigned)tiny_int(&r, 0, (int)auc_market_ntres(m) - 1);
			auc_market_reserve(m, s, k, from, to,
					   auc_market_capacity(m, s, k) * tiny_real(&r), NULL);
			if (tiny_chance(&r, 0.2))
				auc_market_advance(m, auc_market_first(m) + tiny_int(&r, 0, 3));
			assert_true(auc_market_sound(m) && caches_sound(m));
		}
		auc_market_destroy(m);
	}
}

/* What nobody has bought costs its owner, by the hour of the day in which a slot begins, as the
 * window moves on, whatever is given or booked; what a plan costs its owner is the sum. */
static void test_cost_hours(void **state)
{
	static const struct auc_named cost = {"gpu", 12};
	static const struct auc_price price = {.neta = 0};
	double hour[AUC_DAY_HOURS] = {0};
	struct auc_given_price given = {.server = 0, .from = 0, .to = 1000, .price = 0.6};
	/* A slot is half an hour; slot 44 begins at ten in the evening. */
	struct auc_market *m = auc_market_create(6, 1800, 44);
	struct auc_plan p;

	(void)state;
	for (unsigned h = 0; h < AUC_DAY_HOURS; h++)
		hour[h] = h == 22 ? 2 : h == 0 ? 0.5 : 1;
	assert_int_equal(auc_market_add_server(m, "e1", "edge", false, 3, 0, edge, 2, NULL),
			 AUC_OK);
	assert_int_equal(auc_market_add_worker_type(m, "w", worker, 2, 100, NULL), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", ps, 1, 300, NULL), AUC_OK);
	assert_int_equal(auc_market_set_cost(m, &cost, 1, NULL), AUC_OK);
	hour[3] = -1;
	assert_int_equal(auc_market_set_cost_hours(m, hour, NULL), AUC_EINVAL);
	hour[3] = 1;
	assert_int_equal(auc_market_set_cost_hours(m, hour, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
	given.tres = (unsigned)auc_market_find_tres(m, "gpu");
	for (unsigned pass = 0; pass < 2; pass++) {
		assert_true(caches_sound(m) && auc_market_sound(m));
		for (auc_slot t = auc_market_first(m); t <= auc_market_last(m); t++)
			assert_true(auc_market_price(m, 0, given.tres, t) ==
				    fmax(6 * hour[t / 2 % 24], pass ? given.price : 0));
		auc_market_advance(m, 46 + 3 * pass);
		assert_true(caches_sound(m));
		for (auc_slot t = auc_market_first(m); t <= auc_market_last(m); t++)
			assert_true(auc_market_price(m, 0, given.tres, t) ==
				    fmax(6 * hour[t / 2 % 24], pass ? given.price : 0));
		given.price = 4;
		assert_int_equal(auc_market_give_prices(m, &given, 1, NULL), AUC_OK);
	}
	auc_plan_init(&p);
	make_plan(&p, 45, 49, 0, 1, 1);
	/* 22:30, 23:00, 23:30, 0:00 and 0:30, a tenth of a GPU */
	assert_true(fabs(auc_plan_floor(&p, m) - 0.1 * 6 * (2 + 1 + 1 + 0.5 + 0.5)) < 1e-9);
	auc_plan_clear(&p);
	auc_market_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clone),        cmocka_unit_test(test_book),
		cmocka_unit_test(test_set_capacity), cmocka_unit_test(test_set_capacity_refused),
		cmocka_unit_test(test_case),         cmocka_unit_test(test_advance),
		cmocka_unit_test(test_set_roles),    cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_scales),       cmocka_unit_test(test_set_price),
		cmocka_unit_test(test_bad_lists),    cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_price_unit),   cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_ratios),       cmocka_unit_test(test_data),
		cmocka_unit_test(test_confine),      cmocka_unit_test(test_caches),
		cmocka_unit_test(test_given),        cmocka_unit_test(test_reserve_bulk),
		cmocka_unit_test(test_workers),      cmocka_unit_test(test_cost_hours),
	};

	return cmocka_run_group_tests_name("market", tests, NULL, sound_teardown);
}
