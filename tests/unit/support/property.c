/*
 * property.c - see property.h.
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

#include "auctionsim/baseline/registry.h"
#include "market/timeline.h"
#include "unit/support/caches.h"
#include "unit/support/property.h"

struct property property;

static void scale_utility(struct auc_utility *u, double by);

void property_arguments(int argc, char **argv, unsigned markets)
{
	const char *n = argc > 1 ? argv[1] : getenv("AUC_TEST_MARKETS");
	const char *seed = argc > 2 ? argv[2] : getenv("AUC_TEST_SEED");

	property.markets = n ? (unsigned)strtoul(n, NULL, 10) : markets;
	property.first_seed = seed ? strtoull(seed, NULL, 10) : 1;
}

int property_failed(int failed)
{
	if (failed)
		printf("it was the market of seed %llu, job %u\n",
		       (unsigned long long)property.seed, property.job);
	return failed;
}

void assert_close(long double a, long double b, long double size)
{
	if (fabsl(a - b) > 1e-9L * (size + 1e-3L))
		fail_msg("%.17Lg is not %.17Lg", a, b);
}

void engine_start(struct engine *e, const struct auc_policy *policy)
{
	memset(e, 0, sizeof(*e));
	e->policy = policy;
	assert_int_equal(policy->create("", &e->ctx, NULL), AUC_OK);
	assert_int_equal(policy->create("variant=exact,bounds=off", &e->plain, NULL), AUC_OK);
	e->printed = sim_policy_of(strcmp(policy->name, "dps") ? "oasis,variant=paper"
							       : "dps,variant=paper");
	assert_int_equal(e->printed->create("variant=paper", &e->paper, NULL), AUC_OK);
	auc_decision_init(&e->decision);
	auc_decision_init(&e->other);
}

void engine_stop(struct engine *e)
{
	e->policy->destroy(e->ctx);
	e->policy->destroy(e->plain);
	e->printed->destroy(e->paper);
	auc_decision_clear(&e->decision);
	auc_decision_clear(&e->other);
	auc_job_clear(&e->job);
}

void engine_decide(struct engine *e, const struct auc_market *m, const struct tiny_job *j)
{
	const struct auc_decision *d = &e->decision;

	tiny_resolve(m, j, &e->job);
	/* As many steps as a bid may take are enough for any of them. */
	e->decision.most_steps = AUC_MOST_STEPS;
	assert_int_equal(e->policy->quote(e->ctx, m, &e->job, &e->decision, NULL), AUC_OK);
	assert_true(!d->cut && d->steps > 0);
	assert_int_equal(d->accepted, d->reason == AUC_REASON_NONE);
	if (d->reason == AUC_REASON_CAPACITY)
		return;
	assert_true(d->best_payoff == d->plan.value - d->plan.cost);
	assert_int_equal(d->accepted, d->best_payoff > 0);
}

void engine_check_paper(struct engine *e, struct auc_market *m)
{
	const struct auc_plan *plan = &e->other.plan;

	assert_int_equal(e->printed->quote(e->paper, m, &e->job, &e->other, NULL), AUC_OK);
	if (e->other.reason == AUC_REASON_CAPACITY)
		return;
	assert_int_not_equal(e->decision.reason, AUC_REASON_CAPACITY);
	assert_true(plan->value - plan->cost <=
		    e->decision.best_payoff + 1e-9 * (plan->value + plan->cost));
	assert_true(plan->cost == auc_plan_cost(plan, m));
	assert_int_equal(auc_market_book(m, plan, plan->start, plan->completion, NULL), AUC_OK);
	assert_int_equal(auc_market_unbook(m, plan, plan->start, plan->completion, NULL), AUC_OK);
}

void engine_check_truthful(struct engine *e, const struct auc_market *m, const struct tiny_job *j,
			   struct tiny_random *r)
{
	double truth = e->decision.accepted ? e->decision.best_payoff : 0, gain,
	       by = pow(10, 2 * tiny_real(r) - 1);
	const struct auc_plan *plan = &e->other.plan;

	scale_utility(&e->job.utility, by);
	assert_int_equal(e->policy->quote(e->ctx, m, &e->job, &e->other, NULL), AUC_OK);
	assert_int_equal(e->other.reason == AUC_REASON_CAPACITY,
			 e->decision.reason == AUC_REASON_CAPACITY);
	if (e->other.reason == AUC_REASON_CAPACITY)
		return;
	if (engine_same_plan(plan, &e->decision.plan))
		assert_true(plan->cost == e->decision.plan.cost);
	gain = auc_utility_value(&j->utility, (double)(plan->completion - plan->arrival)) -
	       plan->cost;
	if (e->other.accepted)
		assert_true(gain <= truth + 1e-9 * (1 + plan->value / by + plan->cost));
}

static void scale_utility(struct auc_utility *u, double by)
{
	unsigned i;

	u->scale *= by;
	if (u->form == AUC_FORM_LINEAR)
		u->decay *= by;
	for (i = 0; i < u->npoints; i++)
		u->points[i].value *= by;
}

bool engine_same_plan(const struct auc_plan *a, const struct auc_plan *b)
{
	return a->worker_type == b->worker_type && a->ps_type == b->ps_type &&
	       a->colocated == b->colocated && a->start == b->start &&
	       a->completion == b->completion && a->nruns == b->nruns &&
	       !memcmp(a->runs, b->runs, a->nruns * sizeof(a->runs[0])) &&
	       a->nshares == b->nshares &&
	       !memcmp(a->shares, b->shares, a->nshares * sizeof(a->shares[0]));
}

void property_small(const struct auc_policy *policy,
		    void (*price)(struct tiny_market *t, struct tiny_random *r,
				  struct auc_market *m),
		    unsigned servers, unsigned min_slots, unsigned max_slots,
		    void (*check)(struct engine *e, struct tiny_market *t, struct auc_market *m,
				  const struct tiny_job *j, struct tiny_random *r))
{
	unsigned i, n, slots, counts[3] = {0};
	struct tiny_market t;
	struct tiny_random r;
	struct auc_market *m;
	struct tiny_job j;
	struct engine e;

	engine_start(&e, policy);
	for (i = 0; i < property.markets; i++) {
		r.state = property.seed = property.first_seed + i;
		n = (unsigned)tiny_int(&r, 2, (int)servers);
		slots = (unsigned)tiny_int(&r, (int)min_slots, (int)max_slots);
		tiny_market_make(&t, &r, n, slots);
		tiny_costs(&t, &r);
		m = tiny_build(&t);
		price(&t, &r, m);
		for (property.job = 0; property.job < 2; property.job++) {
			tiny_job_make(&j, &r, &t);
			engine_decide(&e, m, &j);
			check(&e, &t, m, &j, &r);
			if (e.decision.accepted)
				tiny_book(&t, m, &e.decision.plan);
			assert_true(auc_market_sound(m));
			assert_true(caches_sound(m));
			counts[e.decision.reason]++;
		}
		auc_market_destroy(m);
	}
	engine_stop(&e);
	print_message("%u markets: %u accepted, %u refused for payoff, %u for capacity\n",
		      property.markets, counts[AUC_REASON_NONE], counts[AUC_REASON_PAYOFF],
		      counts[AUC_REASON_CAPACITY]);
	/* the test is worth something only if it sees all kinds */
	if (property.markets >= 1000) {
		assert_true(counts[AUC_REASON_NONE] > property.markets / 5);
		assert_true(counts[AUC_REASON_PAYOFF] > property.markets / 20);
		assert_true(counts[AUC_REASON_CAPACITY] > property.markets / 20);
	}
}

void property_large(const struct auc_policy *policy,
		    void (*price)(struct tiny_market *t, struct tiny_random *r,
				  struct auc_market *m),
		    int chunks, void (*check)(struct engine *e, const struct auc_market *m))
{
	struct tiny_market t;
	struct tiny_random r;
	struct auc_market *m;
	struct tiny_job j;
	struct engine e;
	unsigned i, n, servers, slots;

	engine_start(&e, policy);
	for (i = 0; i < property.markets / 25; i++) {
		r.state = property.seed = property.first_seed + i;
		servers = (unsigned)tiny_int(&r, 5, TINY_SERVERS);
		slots = (unsigned)tiny_int(&r, 9, TINY_SLOTS);
		tiny_market_make(&t, &r, servers, slots);
		tiny_costs(&t, &r);
		m = tiny_build(&t);
		price(&t, &r, m);
		for (property.job = n = 0; n < 10; property.job = ++n) {
			const struct auc_plan *plan = &e.decision.plan;

			tiny_job_make(&j, &r, &t);
			if (chunks)
				j.chunks = tiny_int(&r, 1, chunks);
			tiny_resolve(m, &j, &e.job);
			e.job.arrival += auc_market_first(m) - t.first;
			assert_int_equal(policy->quote(e.ctx, m, &e.job, &e.decision, NULL),
					 AUC_OK);
			check(&e, m);
			engine_check_paper(&e, m);
			if (e.decision.accepted)
				assert_int_equal(auc_market_book(m, plan, plan->start,
								 plan->completion, NULL),
						 AUC_OK);
			auc_market_advance(m, auc_market_first(m) + tiny_int(&r, 0, 5));
		}
		assert_true(auc_market_sound(m) && caches_sound(m));
		auc_market_destroy(m);
	}
	engine_stop(&e);
}
