/*
 * The caches of a type that fits on few servers have those only; a server that gets room for it, or
 * for more workers than small numbers count, is as if it had always had that.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "market/plan.h"
#include "market/timeline.h"
#include "unit/support/caches.h"
#include "unit/support/tiny.h"

#define SERVERS 9
#define SLOTS   12
#define FIRST   100
#define MANY    70000 /* workers: more than 16 bits count */

static const struct auc_price price = {.neta = 2, .eta = {{"gpu", 16}, {"cpu", 3}}};

/* Each third server has a GPU or two; SERVER has GPUS of them and CPUS. */
static struct auc_market *make_market(unsigned server, double gpus, double cpus)
{
	static const struct auc_named worker[] = {{"gpu", 1}, {"cpu", 1}}, ps[] = {{"cpu", 1}};
	struct auc_market *m = auc_market_create(SLOTS, 300, FIRST);
	struct auc_named has[2] = {{"cpu", 0}, {"gpu", 0}};
	char name[AUC_NAME_MAX];

	for (unsigned s = 0; s < SERVERS; s++) {
		snprintf(name, sizeof(name), "n%u", s);
		has[0].value = s == server ? cpus : 4 + s % 2;
		has[1].value = s == server ? gpus : s % 3 == 1 ? 1 + s % 2 : 0;
		assert_int_equal(auc_market_add_server(m, name, "edge", false, 3, 0, has, 2, NULL),
				 AUC_OK);
	}
	assert_int_equal(auc_market_add_worker_type(m, "w", worker, 2, 100, NULL), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", ps, 1, 300, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, NULL), AUC_OK);
	return m;
}

/* Workers or PSs somewhere, where both A and B have room for them. */
static void sell(struct auc_market *a, struct auc_market *b, struct tiny_random *r)
{
	struct auc_plan p;
	bool ps;

	auc_plan_init(&p);
	for (unsigned i = 0; i < 40; i++) {
		auc_plan_reset(&p);
		p.start = a->first + tiny_int(r, 0, SLOTS - 4);
		p.completion = p.start + tiny_int(r, 1, 4);
		ps = tiny_int(r, 0, 1);
		assert_int_equal(auc_plan_add_run(&p, p.start, p.completion - 1, NULL), AUC_OK);
		assert_int_equal(auc_plan_add_share(&p, (unsigned)tiny_int(r, 0, SERVERS - 1), !ps,
						    ps, NULL),
				 AUC_OK);
		if (auc_market_book(a, &p, p.start, p.completion, NULL) != AUC_OK)
			continue;
		if (auc_market_book(b, &p, p.start, p.completion, NULL) != AUC_OK)
			assert_int_equal(auc_market_unbook(a, &p, p.start, p.completion, NULL),
					 AUC_OK);
	}
	auc_plan_clear(&p);
}

static void assert_same(const struct auc_market *a, const struct auc_market *b)
{
	int32_t fits[2][SERVERS];

	assert_true(caches_sound(a) && caches_sound(b));
	for (unsigned i = 0; i < 2; i++)
		for (unsigned row = 0; row < a->nrows; row++) {
			auc_type_fits(a, i, row, fits[0]);
			auc_type_fits(b, i, row, fits[1]);
			assert_memory_equal(fits[0], fits[1], sizeof(fits[0]));
			assert_true(auc_type_least(&a->cache[i], row) ==
				    auc_type_least(&b->cache[i], row));
			for (unsigned s = 0; s < SERVERS; s++) {
				assert_int_equal(auc_type_fit(&a->cache[i], row, s), fits[0][s]);
				assert_true(auc_type_price(&a->cache[i], row, s) ==
					    auc_type_price(&b->cache[i], row, s));
			}
		}
}

static void assert_ranks(const struct auc_market *m)
{
	uint32_t order[SERVERS], server;
	const struct auc_type_cache *c;
	double cost, before;
	unsigned r, nfit;
	int32_t fit;

	for (unsigned i = 0; i < 2; i++)
		for (unsigned row = 0; row < m->nrows; row++) {
			c = &m->cache[i];
			auc_type_order(m, i, row, order);
			before = 0;
			for (r = 0; auc_type_ranked(c, row, r, &server, &fit, &cost); r++) {
				assert_int_equal(server, order[r]);
				assert_int_equal(fit, auc_type_fit(c, row, server));
				assert_true(cost == auc_type_price(c, row, server) &&
					    cost >= before);
				before = cost;
			}
			nfit = r;
			for (unsigned s = 0; s < SERVERS; s++)
				nfit -= auc_type_fit(c, row, s) > 0;
			assert_int_equal(nfit, 0);
			for (; r < SERVERS; r++)
				assert_int_equal(auc_type_fit(c, row, order[r]), 0);
		}
}

static void test_few(void **state)
{
	struct auc_market *m = make_market(SERVERS, 0, 0), *other = make_market(SERVERS, 0, 0);
	struct tiny_random r = {3};

	(void)state;
	assert_int_equal(m->cache[0].n, 3);
	assert_int_equal(m->cache[1].n, SERVERS);
	for (unsigned i = 0; i < 5; i++) {
		sell(m, other, &r);
		assert_ranks(m);
		auc_market_advance(m, m->first + 3);
		auc_market_advance(other, m->first);
		assert_same(m, other);
		assert_true(auc_market_sound(m));
	}
	auc_market_destroy(m);
	auc_market_destroy(other);
}

/* SERVER gets GPUS and CPUS in a market where something is sold. WIDE: more than 16 bits count. */
static void grow(unsigned server, double gpus, double cpus, bool wide)
{
	const struct auc_named now[] = {{"cpu", cpus}, {"gpu", gpus}};
	struct auc_market *m = make_market(SERVERS, 0, 0);
	struct auc_market *other = make_market(server, gpus, cpus);
	struct tiny_random r = {server + 1};

	sell(m, other, &r);
	assert_int_equal(auc_market_set_capacity(m, server, now, 2, NULL), AUC_OK);
	assert_same(m, other);
	assert_ranks(m);
	assert_int_equal(m->cache[1].fit.wide != NULL, wide);
	sell(m, other, &r);
	auc_market_advance(m, m->first + 2);
	auc_market_advance(other, m->first);
	assert_same(m, other);
	auc_market_destroy(m);
	auc_market_destroy(other);
}

static void test_grow(void **state)
{
	(void)state;
	grow(1, 2, 5, false);   /* more of what it had */
	grow(3, 2, 5, false);   /* its first GPUs */
	grow(1, 2, MANY, true); /* more PSs */
	grow(3, 2, MANY, true); /* both */
	grow(6, 0, MANY, true);
}

/* A server that had a GPU is without, and has it again; columns stay. */
static void test_shrink(void **state)
{
	static const struct auc_named full[] = {{"cpu", 5}, {"gpu", 2}}, less[] = {{"cpu", 1}};
	struct auc_market *m = make_market(SERVERS, 0, 0), *other = make_market(1, 0, 1);
	struct auc_market *same = make_market(1, 2, 5);

	(void)state;
	assert_int_equal(auc_market_set_capacity(m, 1, less, 1, NULL), AUC_OK);
	assert_same(m, other);
	assert_ranks(m);
	assert_int_equal(auc_market_set_capacity(m, 1, full, 2, NULL), AUC_OK);
	assert_same(m, same);
	assert_int_equal(m->cache[0].n, 3);
	auc_market_destroy(m);
	auc_market_destroy(other);
	auc_market_destroy(same);
}

static void check_numbers(uint32_t largest)
{
	uint32_t in[20], out[20], least[20];
	struct auc_numbers a;

	assert_true(auc_numbers_make(&a, 40, largest));
	assert_int_equal(a.wide != NULL, largest > UINT16_MAX);
	assert_true(auc_numbers_hold(&a, largest));
	assert_int_equal(auc_numbers_hold(&a, UINT16_MAX + 1), largest > UINT16_MAX);
	for (unsigned i = 0; i < 20; i++) {
		in[i] = i % 2 ? largest - i : i;
		least[i] = 9;
	}
	auc_numbers_write(&a, 5, 20, in);
	auc_numbers_move(&a, 7, 5, 20);
	assert_true(!auc_numbers_equal(&a, 5, 7, 20));
	auc_numbers_read(&a, 7, 20, out);
	assert_memory_equal(in, out, sizeof(in));
	auc_number_set(&a, 8, largest);
	assert_int_equal(auc_number(&a, 8), largest);
	auc_numbers_write(&a, 7, 20, in);
	auc_numbers_lower(&a, 7, 20, least);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(least[i], in[i] < 9 ? in[i] : 9);
	auc_numbers_write(&a, 5, 7, in);
	auc_numbers_write(&a, 20, 7, in);
	assert_true(auc_numbers_equal(&a, 5, 20, 7));
	auc_numbers_free(&a);
}

static void test_numbers(void **state)
{
	(void)state;
	check_numbers(UINT16_MAX);
	check_numbers(UINT16_MAX + 1);
	check_numbers(1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_shrink),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
