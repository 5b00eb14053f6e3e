/*
 * test_rearrange.c - room for a new job by placing a sold one anew, against all that can be tried,
 * on random small markets.
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
#define SOLD    7 /* at most REARRANGE_TRIES: all that are in the way are tried */
#define RICH    1e6

/* A market, and what is sold there and has not begun at FROM. */
struct world {
	struct tiny_market t;
	struct auc_market *m;
	auc_slot from;
	unsigned n;
	struct tiny_job jobs[SOLD];
	struct auc_plan sold[SOLD];
	const struct auc_plan *plans[SOLD];
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
};

static enum auc_code sold_job(void *arg, unsigned i, struct auc_job *job, struct auc_err *err)
{
	struct world *w = arg;

	(void)err;
	tiny_resolve(w->m, &w->jobs[i], job);
	return AUC_OK;
}

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
		w->plans[w->n] = &w->sold[w->n];
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

static double payoff(const struct auc_decision *d)
{
	return d->accepted ? d->plan.value - d->plan.cost : 0;
}

static bool meet(const struct auc_plan *a, const struct auc_plan *b)
{
	for (unsigned i = 0; i < a->nshares; i++)
		for (unsigned k = 0; k < b->nshares; k++)
			if (a->shares[i].server == b->shares[k].server &&
			    a->start < b->completion && b->start < a->completion)
				return true;
	return false;
}

/*
 * What JOB gains if the I-th makes room, for which the cheapest schedule is taken that completes no
 * later; 0: nothing. The I-th is asked as someone to whom all of them are worth the same.
 */
static double gain_of(struct world *w, struct auc_job *job, unsigned i, double base)
{
	const struct auc_plan *old = w->plans[i];
	struct auc_decision d, again;
	struct auc_job other = {0};
	double gain = 0, more;

	auc_decision_init(&d);
	auc_decision_init(&again);
	book(w, old, false);
	assert_int_equal(quote(w, job, &d, NULL), AUC_OK);
	if (d.accepted && payoff(&d) > base) {
		book(w, &d.plan, true);
		tiny_resolve(w->m, &w->jobs[i], &other);
		/* not before FROM, and not after its completion */
		for (unsigned s = 0; s < auc_market_nservers(w->m); s++)
			if (other.upload[s] != UINT32_MAX &&
			    other.arrival + other.upload[s] < w->from)
				other.upload[s] = (unsigned)(w->from - other.arrival);
		other.utility =
			(struct auc_utility){.form = AUC_FORM_DEADLINE,
					     .scale = RICH,
					     .target = (double)(old->completion - other.arrival)};
		assert_int_equal(quote(w, &other, &again, NULL), AUC_OK);
		if (again.accepted) {
			more = again.plan.cost - auc_plan_cost(old, w->m);
			gain = payoff(&d) - base - (more > 0 ? more : 0);
		}
		book(w, &d.plan, false);
	}
	book(w, old, true);
	auc_decision_clear(&d);
	auc_decision_clear(&again);
	auc_job_clear(&other);
	return gain;
}

/* JOB in the market without those that may make room. */
static void quote_alone(struct world *w, struct auc_job *job, struct auc_decision *d)
{
	for (unsigned i = 0; i < w->n; i++)
		book(w, w->plans[i], false);
	assert_int_equal(quote(w, job, d, NULL), AUC_OK);
	for (unsigned i = 0; i < w->n; i++)
		book(w, w->plans[i], true);
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

/* What was found keeps all promises. */
static void check_found(struct world *w, const struct auc_decision *d, double base, unsigned which,
			const struct auc_plan *moved)
{
	const struct auc_plan *old = w->plans[which];
	double cost, again, before;

	assert_true(d->accepted && d->best_payoff == payoff(d) && payoff(d) > base);
	assert_true(moved->start >= w->from && moved->completion <= old->completion);
	assert_true(moved->arrival == old->arrival && moved->cost == old->cost);
	assert_true(moved->value >= old->value * (1 - 1e-12));
	assert_close(moved->value,
		     tiny_value(&w->jobs[which].utility,
				(long double)(moved->completion - w->jobs[which].arrival)),
		     moved->value);
	book(w, old, false);
	assert_int_equal(auc_market_has_room(w->m, &d->plan, NULL), AUC_OK);
	cost = auc_plan_cost(&d->plan, w->m);
	book(w, &d->plan, true);
	assert_int_equal(auc_market_has_room(w->m, moved, NULL), AUC_OK);
	again = auc_plan_cost(moved, w->m);
	before = auc_plan_cost(old, w->m);
	assert_close(d->plan.cost, cost + (again > before ? again - before : 0), d->plan.value);
	book(w, &d->plan, false);
	book(w, old, true);
}

static void try_markets(const struct auc_policy *policy, bool given)
{
	unsigned found = 0, tried = 0;

	for (property.seed = property.first_seed;
	     property.seed < property.first_seed + property.markets; property.seed++) {
		struct tiny_random r = {property.seed};
		struct auc_decision d, alone;
		struct auc_plan moved;
		struct auc_job job = {0};
		struct tiny_job j;
		struct world w;
		double base, size, best = 0, gain, in_way = 0;
		unsigned which;
		uint64_t before;

		open_world(&w, &r, policy, given);
		struct rearrange x = {.market = w.m,
				      .from = w.from,
				      .n = w.n,
				      .plans = w.plans,
				      .job = sold_job,
				      .quote = quote,
				      .arg = &w};
		tiny_job_make(&j, &r, &w.t);
		j.arrival = w.from;
		auc_utility_multiply(&j.utility, 100);
		tiny_resolve(w.m, &j, &job);
		auc_decision_init(&d);
		auc_decision_init(&alone);
		auc_plan_init(&moved);
		assert_int_equal(quote(&w, &job, &d, NULL), AUC_OK);
		base = payoff(&d);
		size = auc_utility_value(&job.utility, 0);
		before = fingerprint(w.m);
		quote_alone(&w, &job, &alone);
		for (unsigned i = 0; i < w.n; i++) {
			gain = gain_of(&w, &job, i, base);
			best = fmax(best, gain);
			if (meet(&alone.plan, w.plans[i]))
				in_way = fmax(in_way, gain);
		}
		assert_int_equal(rearrange(&x, &job, &d, &which, &moved, NULL), AUC_OK);
		assert_true(fingerprint(w.m) == before);
		tried += w.n > 0;
		if (which == REARRANGE_NONE) {
			assert_true(payoff(&d) == base);
		} else {
			found++;
			check_found(&w, &d, base, which, &moved);
		}
		gain = payoff(&d) - base;
		assert_true(gain <= best + 1e-9 * size);
		assert_true(gain >= in_way - 1e-8 * size);
		auc_plan_clear(&moved);
		auc_decision_clear(&d);
		auc_decision_clear(&alone);
		auc_job_clear(&job);
		close_world(&w);
	}
	print_message("%s, %s: %u of %u jobs found room\n", policy->name,
		      given ? "fixed prices" : "prices that follow", found, tried);
	assert_true(found > tried / 100);
}

static void test_fixed_prices(void **state)
{
	(void)state;
	try_markets(&auc_policy_dps, true);
}

static void test_prices_that_follow(void **state)
{
	(void)state;
	try_markets(&auc_policy_dps, false);
}

static void test_nobody_waits(void **state)
{
	struct tiny_random r = {7};
	struct auc_decision d;
	struct auc_plan moved;
	struct auc_job job = {0};
	struct tiny_job j;
	struct world w;
	unsigned which;

	(void)state;
	open_world(&w, &r, &auc_policy_dps, true);
	struct rearrange x = {.market = w.m, .from = w.from, .quote = quote, .arg = &w};

	tiny_job_make(&j, &r, &w.t);
	tiny_resolve(w.m, &j, &job);
	auc_decision_init(&d);
	auc_plan_init(&moved);
	assert_int_equal(quote(&w, &job, &d, NULL), AUC_OK);
	assert_int_equal(rearrange(&x, &job, &d, &which, &moved, NULL), AUC_OK);
	assert_int_equal(which, REARRANGE_NONE);
	auc_decision_clear(&d);
	auc_plan_clear(&moved);
	auc_job_clear(&job);
	close_world(&w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_prices),
		cmocka_unit_test(test_prices_that_follow),
		cmocka_unit_test(test_nobody_waits),
	};

	property_arguments(argc, argv, MARKETS);
	return property_failed(cmocka_run_group_tests(tests, NULL, NULL));
}
