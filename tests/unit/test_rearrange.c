/*
 * test_rearrange.c - sold jobs placed anew when prices have changed, on random small markets:
 * against the cheapest schedule that completes no later, as a job asks for it that does not care.
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

#include "market-private.h"
#include "property.h"
#include "rearrange.h"

#define MARKETS 3000
#define SERVERS 5
#define SLOTS   14
#define SOLD    7

/* A market, and what is sold there and has not begun at FROM. */
struct world {
	struct tiny_market t;
	struct auc_market *m;
	auc_slot from;
	unsigned n;
	struct tiny_job jobs[SOLD];
	struct auc_plan sold[SOLD];
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
};

static enum auc_code quote(void *arg, struct auc_job *job, struct auc_decision *d,
			   struct auc_err *err)
{
	struct world *w = arg;

	return w->policy->quote(w->ctx, w->m, job, d, err);
}

static void book(struct world *w, const struct auc_plan *plan, bool book)
{
	auc_slot last = auc_market_last(w->m);

	assert_int_equal(
		(book ? auc_market_book : auc_market_unbook)(w->m, plan, w->t.first, last, NULL),
		AUC_OK);
}

/* Sells until SOLD jobs wait for a slot from FROM on. */
static void open_world(struct world *w, struct tiny_random *r, const struct auc_policy *policy,
		       bool given)
{
	struct auc_job job = {0};
	struct auc_decision d;

	memset(w, 0, sizeof(*w));
	tiny_market_make(&w->t, r, (unsigned)tiny_int(r, 1, SERVERS),
			 (unsigned)tiny_int(r, 4, SLOTS));
	w->m = tiny_build(&w->t);
	if (given)
		tiny_give_prices(&w->t, r, w->m);
	w->policy = policy;
	assert_int_equal(policy->create("", &w->ctx, NULL), AUC_OK);
	w->from = w->t.first + tiny_int(r, 0, 3);
	auc_decision_init(&d);
	for (unsigned i = 0; i < 3 * SOLD && w->n < SOLD; i++) {
		struct tiny_job *j = &w->jobs[w->n];

		tiny_job_make(j, r, &w->t);
		j->arrival = w->t.first + tiny_int(r, 0, (int)(w->from - w->t.first));
		tiny_resolve(w->m, j, &job);
		auc_utility_multiply(&job.utility, 100);
		auc_utility_multiply(&j->utility, 100);
		assert_int_equal(quote(w, &job, &d, NULL), AUC_OK);
		if (!d.accepted)
			continue;
		book(w, &d.plan, true);
		if (d.plan.start < w->from)
			continue;
		assert_int_equal(auc_plan_copy(&w->sold[w->n], &d.plan, NULL), AUC_OK);
		w->n++;
	}
	auc_decision_clear(&d);
	auc_job_clear(&job);
}

static void close_world(struct world *w)
{
	for (unsigned i = 0; i < SOLD; i++)
		auc_plan_clear(&w->sold[i]);
	w->policy->destroy(w->ctx);
	auc_market_destroy(w->m);
}

/* What is used where, in one number. */
static uint64_t fingerprint(const struct auc_market *m)
{
	uint64_t h = 1469598103934665603u;

	for (unsigned s = 0; s < auc_market_nservers(m); s++)
		for (unsigned k = 0; k < auc_market_ntres(m); k++)
			for (auc_slot t = m->first; t <= auc_market_last(m); t++)
				h = (h ^ (uint64_t)llround(100 * auc_market_used(m, s, k, t))) *
				    1099511628211u;
	return h;
}

/* The plans have one run each. */
static bool no_more(const struct auc_plan *p, const struct auc_plan *old)
{
	const struct auc_plan *const plans[] = {p, old};
	unsigned workers[2] = {0}, ps[2] = {0}, workers_most[2] = {0}, ps_most[2] = {0};

	assert_true(p->nruns == 1 && old->nruns == 1);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < plans[k]->nshares; i++) {
			const struct auc_share *s = &plans[k]->shares[i];

			workers[k] += s->workers;
			ps[k] += s->ps;
			if (k == 0 && s == auc_plan_lead(p))
				continue;
			workers_most[k] =
				s->workers > workers_most[k] ? s->workers : workers_most[k];
			ps_most[k] = s->ps > ps_most[k] ? s->ps : ps_most[k];
		}
	return p->nshares <= old->nshares && workers[0] <= workers[1] && ps[0] <= ps[1] &&
	       workers_most[0] <= workers_most[1] && ps_most[0] <= ps_most[1] &&
	       p->completion - p->start <= old->completion - old->start;
}

/* What a schedule costs at least that is as I's has to be, which costs COST and is taken out;
 * INFINITY: there is none. */
static double least_cost(struct world *w, unsigned i, double cost, bool *allowed)
{
	const struct auc_plan *old = &w->sold[i];
	struct auc_job job = {0};
	struct auc_decision d;
	double least = INFINITY;

	auc_decision_init(&d);
	tiny_resolve(w->m, &w->jobs[i], &job);
	for (unsigned s = 0; s < auc_market_nservers(w->m); s++)
		if (job.upload[s] != UINT32_MAX && job.arrival + job.upload[s] < w->from)
			job.upload[s] = (unsigned)(w->from - job.arrival);
	for (unsigned k = 0; k < AUC_TYPES_MAX; k++) {
		job.worker_seconds[k] = k == old->worker_type ? job.worker_seconds[k] : -1;
		job.ps_seconds[k] = k == old->ps_type ? job.ps_seconds[k] : -1;
	}
	job.utility = (struct auc_utility){.form = AUC_FORM_DEADLINE,
					   .scale = 2 * cost,
					   .target = (double)(old->completion - job.arrival)};
	assert_int_equal(quote(w, &job, &d, NULL), AUC_OK);
	if (d.accepted) {
		least = d.plan.cost;
		*allowed = (!auc_plan_lead(old)->workers || auc_plan_lead(&d.plan)->workers) &&
			   no_more(&d.plan, old);
	}
	auc_decision_clear(&d);
	auc_job_clear(&job);
	return least;
}

/* PLAN, found for the I-th, which is taken out, keeps all promises. */
static void check_found(const struct world *w, unsigned i, const struct auc_plan *plan)
{
	const struct auc_plan *old = &w->sold[i];

	assert_true(plan->start >= w->from && plan->completion <= old->completion);
	assert_true(plan->worker_type == old->worker_type && plan->ps_type == old->ps_type);
	assert_true(plan->arrival == old->arrival && plan->cost == old->cost);
	assert_true(!auc_plan_lead(old)->workers || auc_plan_lead(plan)->workers);
	assert_true(no_more(plan, old));
	assert_close(plan->value,
		     tiny_value(&w->jobs[i].utility,
				(long double)(plan->completion - w->jobs[i].arrival)),
		     auc_utility_value(&w->jobs[i].utility, 0));
	assert_int_equal(auc_market_has_room(w->m, plan, NULL), AUC_OK);
}

static void try_markets(const struct auc_policy *policy, bool given)
{
	unsigned moved = 0, tried = 0;

	for (property.seed = property.first_seed;
	     property.seed < property.first_seed + property.markets; property.seed++) {
		struct tiny_random r = {property.seed};
		struct auc_job job = {0};
		struct auc_decision d;
		struct world w;
		uint64_t before;
		bool found, allowed = false;

		open_world(&w, &r, policy, given);
		struct auc_rearrange x = {.market = w.m, .from = w.from, .quote = quote, .arg = &w};
		if (given)
			tiny_give_prices(&w.t, &r, w.m);
		auc_decision_init(&d);
		for (unsigned i = 0; i < w.n; i++) {
			const struct auc_plan *old = &w.sold[i];
			double cost, least;

			tiny_resolve(w.m, &w.jobs[i], &job);
			before = fingerprint(w.m);
			assert_int_equal(auc_rearrange(&x, &job, old, &d, &found, NULL), AUC_OK);
			assert_true(fingerprint(w.m) == before);
			book(&w, old, false);
			cost = auc_plan_cost(old, w.m);
			least = cost > 0 ? least_cost(&w, i, cost, &allowed) : 0;
			assert_true(least <= cost * (1 + 1e-9));
			tried++;
			moved += found;
			if (found) {
				check_found(&w, i, &d.plan);
				assert_close(auc_plan_cost(&d.plan, w.m), least, cost);
				assert_true(least < cost);
			} else if (least < 0.99 * cost) {
				assert_true(!allowed);
			}
			if (found)
				assert_int_equal(auc_plan_copy(&w.sold[i], &d.plan, NULL), AUC_OK);
			book(&w, &w.sold[i], true);
		}
		auc_decision_clear(&d);
		auc_job_clear(&job);
		close_world(&w);
	}
	print_message("%s, %s: %u of %u jobs moved\n", policy->name,
		      given ? "other prices" : "prices that follow", moved, tried);
	assert_true(!given || moved > tried / 10);
	assert_true(tried > property.markets);
}

static void test_other_prices(void **state)
{
	(void)state;
	try_markets(&auc_policy_dps, true);
}

static void test_prices_that_follow(void **state)
{
	(void)state;
	try_markets(&auc_policy_dps, false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_prices),
		cmocka_unit_test(test_prices_that_follow),
	};

	property_arguments(argc, argv, MARKETS);
	return property_failed(cmocka_run_group_tests(tests, NULL, NULL));
}
