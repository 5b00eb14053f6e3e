/*
 * test_dps_property.c - policy dps against brute force on random tiny markets.
 *
 * The brute force shares nothing with the engine: it works on the integers of tiny.h (amounts in
 * hundredths, durations as exact fractions), computes prices and utilities itself, and tries every
 * start, worker count, split of the workers over the servers and PS server. It returns the best
 * payoff, and among the schedules of that payoff the earliest completion and the fewest servers on
 * it.
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

#include "market/timeline.h"
#include "unit/support/property.h"
#include "unit/support/sound.h"

#define MARKETS 20000
#define SERVERS 4
#define SLOTS   8

struct outcome {
	bool feasible;
	long double payoff;
	int64_t completion;
	unsigned nservers;
};

/* Decisions on schedules of these kinds. */
static struct {
	unsigned colocated, several, cheaper, unpaid;
} seen;

static long double budget = INFINITY; /* what the brute force may spend */

/* What one window offers, by server. */
struct view {
	int64_t start, end; /* slot indices, end exclusive */
	bool usable[SERVERS];
	int64_t left[SERVERS][TINY_TRES];
	long double price[SERVERS][TINY_TRES]; /* sum over the window */
};

/* What is being enumerated. */
struct frame {
	const struct tiny_market *t;
	const struct tiny_job *j;
	const struct view *v;
	unsigned w, p, n, ps_server;
	bool colocated;
	long double value;
	unsigned split[SERVERS];
	struct outcome *best;
};

/* Slots that N workers need: seconds of a batch are (a + b) / 100 + 16 * (g / 10) / mbps. */
static int64_t duration_of(const struct tiny_market *t, const struct tiny_job *j, unsigned w,
			   unsigned p, unsigned n, bool colocated)
{
	__int128 mbps = t->worker_mbps[w],
		 batches = (__int128)j->epochs * j->chunks * j->minibatches;
	__int128 time = (j->worker_seconds[w] + j->ps_seconds[p]) * mbps;
	int64_t d;

	if (!colocated)
		time += 160 * (__int128)j->gradient;
	d = tiny_up(batches * time, 100 * mbps * n * t->slot_seconds);
	return d > 1 ? d : 1;
}

static int64_t ps_of(const struct tiny_market *t, unsigned w, unsigned p, int64_t elsewhere)
{
	int64_t z = tiny_up((__int128)t->worker_mbps[w] * elsewhere, t->ps_mbps[p]);

	return z > 1 ? z : 1;
}

/* Same layout in all slots: what is left is the least of the window, the price its sum. */
static void look(struct view *v, const struct tiny_market *t, const struct tiny_job *j,
		 int64_t start, int64_t end)
{
	int64_t slot, left;
	unsigned s, k;

	memset(v, 0, sizeof(*v));
	v->start = start;
	v->end = end;
	for (s = 0; s < t->nservers; s++) {
		v->usable[s] = t->first + start >= j->arrival + tiny_upload(t, j, s);
		for (k = 0; k < t->ntres; k++) {
			v->left[s][k] = t->capacity[s][k];
			for (slot = start; slot < end; slot++) {
				left = t->capacity[s][k] - t->used[s][k][slot];
				if (left < v->left[s][k])
					v->left[s][k] = left;
				v->price[s][k] += tiny_price(t, s, k, slot);
			}
		}
	}
}

/* True if Y workers and Z PSs fit on server S; adds their cost. */
static bool host(const struct frame *f, unsigned s, int64_t y, int64_t z, long double *cost)
{
	const struct tiny_market *t = f->t;
	int64_t amount;
	unsigned k;

	if (!y && !z)
		return true;
	if (!f->v->usable[s] || (y && !t->hosts_workers[s]) || (z && !t->hosts_ps[s]))
		return false;
	for (k = 0; k < t->ntres; k++) {
		amount = y * t->worker[f->w][k] + z * t->ps[f->p][k];
		if (amount > f->v->left[s][k])
			return false;
		*cost += amount * f->v->price[s][k] / 100;
	}
	return true;
}

static void consider(struct frame *f)
{
	int64_t elsewhere = (int64_t)f->n - f->split[f->ps_server], z;
	int64_t completion = f->t->first + f->v->end;
	struct outcome *best = f->best;
	long double cost = 0, payoff, margin;
	unsigned s, nservers = 0;

	if (f->colocated != (elsewhere == 0))
		return;
	z = f->colocated ? 1 : ps_of(f->t, f->w, f->p, elsewhere);
	for (s = 0; s < f->t->nservers; s++) {
		if (!host(f, s, f->split[s], s == f->ps_server ? z : 0, &cost))
			return;
		nservers += f->split[s] || s == f->ps_server;
	}
	if (cost > budget * (1 + 1e-9L))
		return;
	payoff = f->value - cost;
	margin = 1e-10L * (f->value + cost);
	if (best->feasible && payoff < best->payoff - margin)
		return;
	if (best->feasible && payoff <= best->payoff + margin &&
	    (completion > best->completion ||
	     (completion == best->completion && nservers >= best->nservers)))
		return;
	*best = (struct outcome){true, payoff, completion, nservers};
}

static void split_workers(struct frame *f, unsigned s, unsigned left)
{
	unsigned y;

	if (s == f->t->nservers) {
		if (!left)
			for (f->ps_server = 0; f->ps_server < f->t->nservers; f->ps_server++)
				consider(f);
		return;
	}
	for (y = 0; y <= left; y++) {
		f->split[s] = y;
		split_workers(f, s + 1, left - y);
	}
	f->split[s] = 0;
}

static struct outcome brute_force(const struct tiny_market *t, const struct tiny_job *j)
{
	struct outcome best = {0};
	struct frame f = {.t = t, .j = j, .best = &best};
	struct view v;
	int64_t start, from = j->arrival > t->first ? j->arrival - t->first : 0, d;
	unsigned colocated;

	f.v = &v;
	for (f.w = 0; f.w < t->nworkers; f.w++)
		for (f.p = 0; f.p < t->nps; f.p++)
			for (colocated = 0; colocated < 2; colocated++)
				for (f.n = 1; f.n <= (unsigned)j->chunks; f.n++) {
					if (j->worker_seconds[f.w] < 0 || j->ps_seconds[f.p] < 0)
						continue;
					f.colocated = colocated;
					d = duration_of(t, j, f.w, f.p, f.n, colocated);
					for (start = from; start + d <= t->nslots; start++) {
						look(&v, t, j, start, start + d);
						f.value = tiny_value(&j->utility,
								     t->first + start + d -
									     j->arrival);
						split_workers(&f, 0, f.n);
					}
				}
	return best;
}

/* A plan is what it says: of this job, feasible, with the cost and value that it names. */
static void assert_plan(const struct tiny_market *t, const struct tiny_job *j,
			const struct auc_plan *plan)
{
	struct view v;
	struct frame f = {.t = t, .j = j, .v = &v, .w = plan->worker_type, .p = plan->ps_type};
	unsigned i, ps_servers = 0, elsewhere = 0, ps = 0;
	const struct auc_share *share;
	long double cost = 0;

	assert_int_equal(plan->nruns, 1);
	assert_int_equal(plan->runs[0].from, plan->start);
	assert_int_equal(plan->runs[0].to, plan->completion - 1);
	assert_int_equal(plan->runs[0].nshares, plan->nshares);
	assert_int_equal(plan->arrival, j->arrival);
	assert_true(plan->start >= j->arrival && plan->start >= t->first);
	assert_true(plan->completion <= t->first + t->nslots);
	assert_true(j->worker_seconds[f.w] >= 0 && j->ps_seconds[f.p] >= 0);
	look(&v, t, j, plan->start - t->first, plan->completion - t->first);
	for (i = 0; i < plan->nshares; i++) {
		share = &plan->shares[i];
		if (i)
			assert_true(share->server > plan->shares[i - 1].server);
		assert_true(host(&f, share->server, share->workers, share->ps, &cost));
		f.n += share->workers;
		ps += share->ps;
		ps_servers += share->ps > 0;
		elsewhere += share->ps ? 0 : share->workers;
	}
	assert_true(f.n >= 1 && f.n <= (unsigned)j->chunks);
	assert_int_equal(ps_servers, 1);
	assert_int_equal(plan->colocated, !elsewhere);
	assert_int_equal(ps, plan->colocated ? 1 : ps_of(t, f.w, f.p, elsewhere));
	assert_int_equal(duration_of(t, j, f.w, f.p, f.n, plan->colocated),
			 plan->completion - plan->start);
	assert_close(plan->cost, cost, cost);
	assert_close(plan->value, tiny_value(&j->utility, plan->completion - j->arrival),
		     plan->value);
	assert_true((long double)auc_plan_payment(plan) <=
		    (long double)plan->value * 1000000 + 1e-6L);
	if (plan->cost < plan->value - 1e-5)
		assert_true(fabs((double)auc_plan_payment(plan) - plan->cost * 1e6) <= 0.5 + 1e-3);
}

/* The bounds only save time. */
static void check_plain(struct engine *e, const struct auc_market *m)
{
	assert_int_equal(auc_policy_dps.quote(e->plain, m, &e->job, &e->other, NULL), AUC_OK);
	assert_int_equal(e->other.reason, e->decision.reason);
	if (e->decision.reason == AUC_REASON_CAPACITY)
		return;
	assert_true(engine_same_plan(&e->other.plan, &e->decision.plan));
	assert_true(e->other.best_payoff == e->decision.best_payoff);
}

/* What is kept from quotes before, or of markets before, changes nothing, not even the steps. */
static void check_fresh(struct engine *e, const struct auc_market *m)
{
	struct auc_policy_ctx *fresh;

	assert_int_equal(auc_policy_dps.create("", &fresh, NULL), AUC_OK);
	assert_int_equal(auc_policy_dps.quote(fresh, m, &e->job, &e->other, NULL), AUC_OK);
	auc_policy_dps.destroy(fresh);
	assert_int_equal(e->other.reason, e->decision.reason);
	assert_int_equal(e->other.steps, e->decision.steps);
	if (e->decision.reason != AUC_REASON_CAPACITY)
		assert_true(engine_same_plan(&e->other.plan, &e->decision.plan));
}

static void check_both(struct engine *e, const struct auc_market *m)
{
	check_plain(e, m);
	check_fresh(e, m);
}

/* The same with a budget that does not pay the best schedule. */
static void check_budget(struct engine *e, struct tiny_market *t, struct auc_market *m,
			 const struct tiny_job *j, struct tiny_random *r)
{
	const struct auc_decision *d = &e->other;
	struct outcome best;

	e->job.limited = true;
	e->job.budget = tiny_chance(r, 0.3) ? 0 : e->decision.plan.cost * 0.99 * tiny_real(r);
	budget = e->job.budget;
	best = brute_force(t, j);
	budget = INFINITY;
	for (unsigned plain = 0; plain < 2; plain++) {
		assert_int_equal(auc_policy_dps.quote(plain ? e->plain : e->ctx, m, &e->job,
						      &e->other, NULL),
				 AUC_OK);
		if (best.feasible && fabsl(best.payoff) < 1e-9L)
			continue;
		assert_int_equal(d->accepted, best.feasible && best.payoff > 0);
		if (!d->accepted) {
			assert_int_equal(d->reason, AUC_REASON_BUDGET);
			continue;
		}
		assert_close(d->best_payoff, best.payoff, d->plan.value + d->plan.cost);
		assert_int_equal(d->plan.completion, best.completion);
		assert_int_equal(d->plan.nshares, best.nservers);
	}
	e->job.limited = false;
	seen.cheaper += d->accepted;
	seen.unpaid += !d->accepted;
}

static void check_job(struct engine *e, struct tiny_market *t, struct auc_market *m,
		      const struct tiny_job *j, struct tiny_random *r)
{
	const struct auc_decision *d = &e->decision;
	struct outcome best = brute_force(t, j);

	assert_int_equal(best.feasible, d->reason != AUC_REASON_CAPACITY);
	if (best.feasible) {
		assert_close(d->best_payoff, best.payoff, d->plan.value + d->plan.cost);
		assert_int_equal(d->plan.completion, best.completion);
		assert_int_equal(d->plan.nshares, best.nservers);
		assert_plan(t, j, &d->plan);
	}
	check_plain(e, m);
	if (d->accepted && d->plan.cost > 1e-6)
		check_budget(e, t, m, j, r);
	engine_check_truthful(e, m, j, r);
	seen.colocated += d->reason != AUC_REASON_CAPACITY && d->plan.colocated;
	seen.several += d->plan.nshares > 1;
}

static void price(struct tiny_market *t, struct tiny_random *r, struct auc_market *m)
{
	if (tiny_chance(r, 0.2))
		tiny_give_prices(t, r, m);
}

static void test_property(void **state)
{
	(void)state;
	property_small(&auc_policy_dps, price, SERVERS, 4, SLOTS, check_job);
	print_message("%u co-located, %u on several servers\n", seen.colocated, seen.several);
	if (property.markets >= 1000)
		assert_true(seen.colocated > property.markets / 20 &&
			    seen.several > property.markets / 10 && seen.cheaper && seen.unpaid);
}

static void test_large(void **state)
{
	(void)state;
	property_large(&auc_policy_dps, price, 0, check_both);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_property),
		cmocka_unit_test(test_large),
	};

	property_arguments(argc, argv, MARKETS);
	return property_failed(
		cmocka_run_group_tests_name("dps_property", tests, NULL, sound_teardown));
}
