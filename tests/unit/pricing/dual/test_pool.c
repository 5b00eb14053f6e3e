/*
 * test_pool.c - the pool of a market, and policy dps in it: on random markets its payoffs are those
 * of policy dps, where both may sell the same.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pricing/dual/dual_prices.h"
#include "market/market.h"
#include "pricing/dual/pool.h"
#include "pricing/dual/pool_dps.h"

#define SLOTS   12
#define MARKETS 2000
#define QUOTES  5
#define LEVELS  8   /* changes of a price at most */
#define LONG    150 /* slots of some markets: completions are ruled out by blocks there */

static uint64_t state;

/* 0 to N - 1. */
static unsigned draw(unsigned n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % n;
}

static void must(enum auc_code rc, const struct auc_err *err)
{
	if (rc != AUC_OK)
		print_error("%s\n", err->text);
	assert_int_equal(rc, AUC_OK);
}

/* One server gives workers, others host PSs; types share no TRES. Some of it is sold, some has a
 * price. */
static struct auc_market *random_market(unsigned slots)
{
	static const struct auc_price none;
	struct auc_market *m = auc_market_create(slots, 60, 1);
	struct auc_given_price list[4 * 3 * (1 + LEVELS)];
	struct auc_named gpu = {"gpu", 0}, cpu[2] = {{"cpu", 0}, {"big", 0}};
	struct auc_err err = {0};
	unsigned s, i, k, levels, n = 0;
	char name[16];
	auc_slot t;

	for (s = 0; s < 4; s++) {
		snprintf(name, sizeof(name), "s%u", s);
		gpu.value = 1 + draw(6);
		cpu[0].value = 1 + draw(4);
		cpu[1].value = 1 + draw(2);
		must(auc_market_add_server(m, name, s % 2 ? "a" : "b", false,
					   s < 2 ? AUC_ROLE_WORKER : AUC_ROLE_PS, 0,
					   s < 2 ? &gpu : cpu, s < 2 ? 1 : 2, &err),
		     &err);
	}
	gpu.value = 1;
	cpu[0].value = cpu[1].value = 1;
	must(auc_market_add_worker_type(m, "w", &gpu, 1, 100, &err), &err);
	gpu.value = 2;
	must(auc_market_add_worker_type(m, "v", &gpu, 1, 250, &err), &err);
	must(auc_market_add_ps_type(m, "p", &cpu[0], 1, 200 + draw(300), &err), &err);
	must(auc_market_add_ps_type(m, "q", &cpu[1], 1, 500, &err), &err);
	must(auc_market_ready(m, &none, &err), &err);
	for (s = 0; s < 4; s++)
		for (i = 0; i < 3; i++) {
			t = 1 + draw(slots);
			if (auc_market_capacity(m, s, i) <= 0)
				continue;
			if (draw(3) == 0)
				auc_market_reserve(m, s, i, t, t + draw(4), 1, &err);
			list[n++] = (struct auc_given_price){s, i, 1, slots, draw(50) / 10.0};
			levels = slots == SLOTS ? 1 : draw(LEVELS);
			for (k = 0; k < levels; k++) {
				t = 1 + draw(slots);
				list[n++] =
					(struct auc_given_price){s, i, t, slots, draw(50) / 10.0};
			}
		}
	must(auc_market_give_prices(m, list, n, &err), &err);
	return m;
}

static void random_job(struct auc_job *job, unsigned *upload, unsigned slots)
{
	unsigned i;

	*job = (struct auc_job){
		.arrival = 1 + draw(slots / 2),
		.utility = {.form = AUC_FORM_LINEAR,
			    .scale = 40 + draw(200),
			    .decay = draw(8) * (double)SLOTS / slots},
		.epochs = 1 + draw(4),
		.chunks = draw(3) ? 1 + draw(8) : 1,
		.minibatches = 1 + draw(slots / 2),
		.gradient_mb = draw(20),
		.upload = upload,
		.upload_alloc = 4,
	};
	for (i = 0; i < 4; i++)
		upload[i] = draw(8) ? draw(4) : UINT32_MAX;
	for (i = 0; i < AUC_TYPES_MAX; i++) {
		job->worker_seconds[i] = i < 2 && draw(5) ? 1 + (double)draw(40) : -1;
		job->ps_seconds[i] = i < 2 && draw(5) ? draw(10) / 10.0 : -1;
	}
}

static void test_same_payoffs(void **unused)
{
	struct auc_policy_ctx *fast, *exact;
	struct auc_decision a, b;
	struct auc_err err = {0};
	unsigned i, k, slots, upload[4], sold = 0;
	struct auc_market *m;
	struct auc_job job;
	double cost;

	(void)unused;
	auc_decision_init(&a);
	auc_decision_init(&b);
	must(auc_pool_dps.create("", &fast, &err), &err);
	must(auc_policy_dps.create("", &exact, &err), &err);
	for (i = 0; i < MARKETS; i++) {
		state = i + 1;
		slots = i % 2 ? SLOTS : LONG;
		m = random_market(slots);
		must(auc_pool_dps.look(fast, m, &err), &err);
		for (k = 0; k < QUOTES; k++) {
			random_job(&job, upload, slots);
			must(auc_pool_dps.quote(fast, m, &job, &a, &err), &err);
			must(auc_policy_dps.quote(exact, m, &job, &b, &err), &err);
			if (!a.accepted || !b.accepted) {
				/* of nothing either may be rounded to something */
				assert_true(!a.accepted || a.best_payoff < 1e-9);
				assert_true(!b.accepted || b.best_payoff < 1e-9);
				continue;
			}
			sold++;
			assert_true(fabs(a.best_payoff - b.best_payoff) < 1e-7);
			/* and it is a schedule: it costs what it says, and there is room for it */
			cost = auc_plan_cost(&a.plan, m);
			assert_true(fabs(a.plan.value - cost - a.best_payoff) < 1e-7);
			must(auc_market_book(m, &a.plan, 1, slots, &err), &err);
			must(auc_market_unbook(m, &a.plan, 1, slots, &err), &err);
		}
		auc_market_destroy(m);
	}
	assert_true(sold > MARKETS);
	auc_pool_dps.destroy(fast);
	auc_policy_dps.destroy(exact);
	auc_decision_clear(&a);
	auc_decision_clear(&b);
}

/* Classes are by group and, of what PSs use, by size; capacity is what is left, from a slot on. */
static void test_pool(void **unused)
{
	struct auc_named all[2] = {{"gpu", 2}, {"cpu", 8}};
	struct auc_market *m = auc_market_create(SLOTS, 60, 1), *pooled;
	static const struct auc_price none;
	struct auc_err err = {0};
	struct auc_pool *p;
	double *capacity;
	unsigned s;
	char name[16];
	int c;

	(void)unused;
	for (s = 0; s < 6; s++) {
		snprintf(name, sizeof(name), "s%u", s);
		all[0].value = 1 + s % 3;
		all[1].value = s < 3 ? 8 : 16;
		must(auc_market_add_server(m, name, "a", false, AUC_ROLE_WORKER | AUC_ROLE_PS, 0,
					   all, 2, &err),
		     &err);
	}
	all[0].value = all[1].value = 1;
	must(auc_market_add_worker_type(m, "w", &all[0], 1, 100, &err), &err);
	must(auc_market_add_ps_type(m, "p", &all[1], 1, 100, &err), &err);
	must(auc_market_ready(m, &none, &err), &err);
	must(auc_market_reserve(m, 1, 0, 3, 4, 2, &err), &err);
	must(auc_pool_create(m, true, &p, &err), &err);
	assert_int_equal(auc_pool_nclasses(p), 3); /* GPUs; CPUs of 8, of 16 */
	must(auc_pool_capacity(p, m, 2, &capacity, &err), &err);
	c = auc_pool_class_of(p, 0, 0);
	assert_true(c >= 0 && auc_pool_class(p, (unsigned)c)->nservers == 6);
	assert_true(capacity[c * SLOTS] == 0 && capacity[c * SLOTS + 1] == 12 &&
		    capacity[c * SLOTS + 2] == 10);
	must(auc_pool_market(p, m, 2, false, &pooled, &err), &err);
	/* one that gives workers, and one of each size */
	assert_int_equal(auc_market_nservers(pooled), 3);
	assert_true(auc_market_capacity(pooled, 0, 0) == 12 &&
		    auc_market_used(pooled, 0, 0, 3) == 2 && auc_market_used(pooled, 0, 0, 2) == 0);
	free(capacity);
	auc_pool_destroy(p);
	auc_market_destroy(pooled);
	auc_market_destroy(m);
}

/* The bound of a fit for 20 jobs that all like PSs of type p, of which there are few, better than
 * those of type q, and for one of weight RARE that needs q. */
static double fitted_bound(double rare)
{
	static const struct auc_price none;
	struct auc_market *m = auc_market_create(SLOTS, 60, 1);
	struct auc_named gpu = {"gpu", 8}, cpu[2] = {{"cpu", 1}, {"big", 1}};
	struct auc_dual_job jobs[21];
	struct auc_job list[21];
	unsigned upload[2] = {0}, i, k;
	struct auc_err err = {0};
	struct auc_dual_prices *l;
	double bound;

	must(auc_market_add_server(m, "s", "a", false, AUC_ROLE_WORKER, 0, &gpu, 1, &err), &err);
	must(auc_market_add_server(m, "t", "a", false, AUC_ROLE_PS, 0, cpu, 2, &err), &err);
	gpu.value = cpu[0].value = cpu[1].value = 1;
	must(auc_market_add_worker_type(m, "w", &gpu, 1, 100, &err), &err);
	must(auc_market_add_ps_type(m, "p", &cpu[0], 1, 1000, &err), &err);
	must(auc_market_add_ps_type(m, "q", &cpu[1], 1, 1000, &err), &err);
	must(auc_market_ready(m, &none, &err), &err);
	for (i = 0; i < 21; i++) {
		list[i] = (struct auc_job){
			.arrival = 1,
			.utility = {.form = AUC_FORM_LINEAR, .scale = 50 + 5 * i},
			.epochs = 1,
			.chunks = 2,
			.minibatches = 2,
			.upload = upload,
			.upload_alloc = 2,
		};
		for (k = 0; k < AUC_TYPES_MAX; k++)
			list[i].worker_seconds[k] = list[i].ps_seconds[k] = -1;
		list[i].worker_seconds[0] = 60;
		list[i].ps_seconds[1] = 20;
		if (i < 20)
			list[i].ps_seconds[0] = 0;
		jobs[i] = (struct auc_dual_job){.job = &list[i], .weight = i == 20 ? rare : 1};
	}
	must(auc_dual_prices_create(m, &auc_policy_dps, "", &l, &err), &err);
	must(auc_dual_prices_fit(l, m, jobs, 21, 1, AUC_DUAL_PRICES_ITERATIONS, &err), &err);
	bound = auc_dual_prices_bound(l);
	auc_dual_prices_destroy(l);
	auc_market_destroy(m);
	return bound;
}

/* Prices of what is hardly used do not keep a fit from finding the others. */
static void test_hardly_used(void **unused)
{
	(void)unused;
	assert_true(fitted_bound(1e-4) < 1.01 * fitted_bound(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_payoffs),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_hardly_used),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
