/*
 * test_oasis_property.c - policy oasis against brute force on random tiny markets.
 *
 * The brute force shares nothing with the engine: it works on the integers of tiny.h, computes
 * prices, work and utilities itself, tries every way to put workers and PSs on the servers of a
 * slot, and every row of worker counts over the slots. It returns the best payoff, and the earliest
 * completion that has it. Where markets are too large for that, the search is held against the pass
 * over all units, bounds=off, which brute force proved on the small ones.
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

#include "input/bid_resolve.h"
#include "market/timeline.h"
#include "unit/support/property.h"

#define MARKETS 1000
#define SERVERS 4
#define SLOTS   5
#define CHUNKS  6
#define NEVER   1e300L /* what cannot be costs that; valgrind has no infinite long double */
#define TIE     4e-12L /* relative: payoffs that are equal, as oasis.c has it */

struct outcome {
	bool feasible;
	long double payoff;
	int64_t completion;
};

/* Schedules of several runs, and those with workers beside PSs. */
static struct {
	unsigned several, both;
} seen;

/* What is being enumerated: one pair of types. */
struct frame {
	const struct tiny_market *t;
	const struct tiny_job *j;
	unsigned w, p;
	int64_t work;
	long double cost[SLOTS][CHUNKS + 1]; /* by slot and workers; NEVER */
	struct outcome *best;
};

/* Seconds of a batch are a / 100 + 16 * (g / 10) / mbps. */
static int64_t work_of(const struct tiny_market *t, const struct tiny_job *j, unsigned w)
{
	__int128 mbps = t->worker_mbps[w],
		 batches = (__int128)j->epochs * j->chunks * j->minibatches;
	int64_t work =
		tiny_up(batches * (j->worker_seconds[w] * mbps + 160 * (__int128)j->gradient),
			100 * mbps * t->slot_seconds);

	return work > 1 ? work : 1;
}

static int64_t ps_of(const struct tiny_market *t, unsigned w, unsigned p, int64_t n)
{
	return tiny_up((__int128)t->worker_mbps[w] * n, t->ps_mbps[p]);
}

/* True if Y workers and Z PSs fit on server S in SLOT; adds their cost. */
static bool host(const struct frame *f, unsigned s, int64_t slot, int64_t y, int64_t z,
		 long double *cost)
{
	const struct tiny_market *t = f->t;
	int64_t amount;
	unsigned k;

	if (!y && !z)
		return true;
	if (t->first + slot < f->j->arrival + tiny_upload(t, f->j, s) ||
	    (y && !t->hosts_workers[s]) || (z && !t->hosts_ps[s]))
		return false;
	for (k = 0; k < t->ntres; k++) {
		amount = y * t->worker[f->w][k] + z * t->ps[f->p][k];
		if (amount > t->capacity[s][k] - t->used[s][k][slot])
			return false;
		*cost += amount * tiny_price(t, s, k, slot) / 100;
	}
	return true;
}

/* The cheapest way to put Y workers and Z PSs on the servers from S on. */
static long double cheapest(const struct frame *f, int64_t slot, unsigned s, int64_t y, int64_t z)
{
	long double least = NEVER, cost, rest;
	int64_t a, b;

	if (s == f->t->nservers)
		return y || z ? NEVER : 0;
	for (a = 0; a <= y; a++)
		for (b = 0; b <= z; b++) {
			cost = 0;
			if (!host(f, s, slot, a, b, &cost))
				break;
			rest = cheapest(f, slot, s + 1, y - a, z - b);
			least = fminl(least, cost + rest);
		}
	return least;
}

static void spread(struct frame *f, int64_t slot, int64_t done, long double cost)
{
	int64_t completion = f->t->first + slot;
	long double value = tiny_value(&f->j->utility, completion - f->j->arrival),
		    margin = TIE * (value + cost);
	struct outcome *best = f->best;
	int n;

	if (done >= f->work) {
		if (best->feasible &&
		    (value - cost < best->payoff - margin ||
		     (value - cost <= best->payoff + margin && completion >= best->completion)))
			return;
		*best = (struct outcome){true, value - cost, completion};
		return;
	}
	/* later it is worth no more, and costs no less */
	if (slot == f->t->nslots || (best->feasible && value - cost < best->payoff - margin))
		return;
	for (n = 0; n <= f->j->chunks; n++)
		if (f->cost[slot][n] < NEVER)
			spread(f, slot + 1, done + n, cost + f->cost[slot][n]);
}

static struct outcome brute_force(const struct tiny_market *t, const struct tiny_job *j)
{
	struct outcome best = {0};
	struct frame f = {.t = t, .j = j, .best = &best};
	int64_t from = j->arrival > t->first ? j->arrival - t->first : 0, slot;
	int n;

	for (f.w = 0; f.w < t->nworkers; f.w++)
		for (f.p = 0; f.p < t->nps; f.p++) {
			if (j->worker_seconds[f.w] < 0 || j->ps_seconds[f.p] < 0 ||
			    t->worker_mbps[f.w] > t->ps_mbps[f.p])
				continue;
			f.work = work_of(t, j, f.w);
			for (slot = from; slot < t->nslots; slot++)
				for (n = 0; n <= j->chunks; n++)
					f.cost[slot][n] = n > f.work
								  ? NEVER
								  : cheapest(&f, slot, 0, n,
									     ps_of(t, f.w, f.p, n));
			if (from < t->nslots)
				spread(&f, from, 0, 0);
		}
	return best;
}

/* A plan is what it says: of this job, feasible, with the cost and value that it names. */
static void assert_plan(const struct tiny_market *t, const struct tiny_job *j,
			const struct auc_plan *plan)
{
	struct frame f = {.t = t, .j = j, .w = plan->worker_type, .p = plan->ps_type};
	int64_t done = 0, slot, n, z;
	const struct auc_share *share;
	const struct auc_run *run;
	long double cost = 0;
	unsigned i;

	assert_true(plan->nruns >= 1);
	assert_int_equal(plan->arrival, j->arrival);
	assert_int_equal(plan->start, plan->runs[0].from);
	assert_int_equal(plan->completion, plan->runs[plan->nruns - 1].to + 1);
	assert_true(plan->start >= j->arrival && plan->start >= t->first);
	assert_true(plan->completion <= t->first + t->nslots);
	assert_true(j->worker_seconds[f.w] >= 0 && j->ps_seconds[f.p] >= 0);
	assert_false(plan->colocated);
	for (run = plan->runs; run < plan->runs + plan->nruns; run++) {
		assert_true(run->from <= run->to);
		if (run > plan->runs) {
			assert_true(run->from > run[-1].to);
			/* maximal: else it would be one run */
			if (run->from == run[-1].to + 1 && run->nshares == run[-1].nshares)
				assert_memory_not_equal(plan->shares + run->first_share,
							plan->shares + run[-1].first_share,
							run->nshares * sizeof(*share));
		}
		n = z = 0;
		for (i = 0; i < run->nshares; i++) {
			share = &plan->shares[run->first_share + i];
			if (i)
				assert_true(share->server > share[-1].server);
			for (slot = run->from; slot <= run->to; slot++)
				assert_true(host(&f, share->server, slot - t->first, share->workers,
						 share->ps, &cost));
			n += share->workers;
			z += share->ps;
		}
		assert_true(n >= 1 && n <= j->chunks);
		assert_int_equal(z, ps_of(t, f.w, f.p, n));
		assert_true(z <= n);
		done += n * (run->to - run->from + 1);
	}
	assert_int_equal(done, work_of(t, j, f.w));
	assert_close(plan->cost, cost, cost);
	assert_close(plan->value, tiny_value(&j->utility, plan->completion - j->arrival),
		     plan->value);
}

/* The search finds what the pass over all units finds; of schedules that are equal, maybe another.
 */
static void check_plain(struct engine *e, const struct auc_market *m)
{
	assert_int_equal(auc_policy_oasis.quote(e->plain, m, &e->job, &e->other, NULL), AUC_OK);
	assert_int_equal(e->other.reason, e->decision.reason);
	if (e->decision.reason == AUC_REASON_CAPACITY)
		return;
	assert_int_equal(e->other.plan.completion, e->decision.plan.completion);
	assert_close(e->other.best_payoff, e->decision.best_payoff,
		     e->other.plan.value + e->other.plan.cost);
}

static void check_job(struct engine *e, struct tiny_market *t, struct auc_market *m,
		      const struct tiny_job *j, struct tiny_random *r)
{
	const struct auc_decision *d = &e->decision;
	struct outcome best = brute_force(t, j);
	unsigned k;

	assert_int_equal(best.feasible, d->reason != AUC_REASON_CAPACITY);
	if (best.feasible) {
		assert_close(d->best_payoff, best.payoff, d->plan.value + d->plan.cost);
		assert_int_equal(d->plan.completion, best.completion);
		assert_plan(t, j, &d->plan);
	}
	check_plain(e, m);
	engine_check_paper(e, m);
	engine_check_truthful(e, m, j, r);
	seen.several += d->plan.nruns > 1;
	for (k = 0; k < d->plan.nshares; k++)
		if (d->plan.shares[k].workers && d->plan.shares[k].ps)
			break;
	seen.both += k < d->plan.nshares;
}

static void price(struct tiny_market *t, struct tiny_random *r, struct auc_market *m)
{
	if (tiny_chance(r, 0.2))
		tiny_give_prices(t, r, m);
	else if (tiny_chance(r, 0.8))
		tiny_set_bounds(t, r, m);
}

static void test_property(void **state)
{
	(void)state;
	property_small(&auc_policy_oasis, price, SERVERS, 3, SLOTS, check_job);
	print_message("%u of several runs, %u with workers beside PSs\n", seen.several, seen.both);
	if (property.markets >= 1000)
		assert_true(seen.several > property.markets / 10 &&
			    seen.both > property.markets / 10);
}

static void test_large(void **state)
{
	(void)state;
	property_large(&auc_policy_oasis, price, 40, check_plain);
}

static struct auc_named amount(const char *name, double value)
{
	struct auc_named n = {.value = value};

	strcpy(n.name, name);
	return n;
}

/*
 * Servers of workers and of PSs whose prices are nearly the same in all slots, and costs that are
 * far from convex because a PS serves several workers: what is cheapest as fractions is a long way
 * from what can be had, and much else is as good.
 */
static struct auc_market *make_uneven(struct tiny_random *r, double serves)
{
	static const double levels[] = {1, 1, 1, 1.0001, 1.01, 1.5, 0};
	unsigned slots = (unsigned)tiny_int(r, 4, TINY_SLOTS),
		 workers = (unsigned)tiny_int(r, 1, 3), pss = (unsigned)tiny_int(r, 1, 3), s, n = 0,
		 few = (unsigned)tiny_int(r, 0, 6);
	struct auc_given_price list[6 * TINY_SLOTS], *g;
	struct auc_price price = {.kind = AUC_PRICE_BOUNDS};
	double ps_price = pow(10, 2 * tiny_real(r) - 1);
	struct auc_market *m = auc_market_create(slots, 3600, 1);
	struct auc_err err = {0};
	struct auc_named tres;
	char name[AUC_NAME_MAX];
	auc_slot t;
	bool ps;

	for (s = 0; s < workers + pss; s++) {
		ps = s >= workers;
		snprintf(name, sizeof(name), "s%u", s);
		tres = amount(ps ? "p" : "w", tiny_int(r, 1, ps ? 8 : 15));
		assert_int_equal(auc_market_add_server(m, name, "", false,
						       ps ? AUC_ROLE_PS : AUC_ROLE_WORKER, 0, &tres,
						       1, &err),
				 AUC_OK);
	}
	tres = amount("w", 1);
	assert_int_equal(auc_market_add_worker_type(m, "w", &tres, 1, 1000, &err), AUC_OK);
	tres = amount("p", 1);
	assert_int_equal(auc_market_add_ps_type(m, "p", &tres, 1, 1000 * serves, &err), AUC_OK);
	assert_int_equal(auc_market_ready(m, &price, &err), AUC_OK);
	for (s = 0; s < workers + pss; s++)
		for (t = 1; t <= slots; t++) {
			g = &list[n++];
			*g = (struct auc_given_price){.server = s, .from = t, .to = t};
			g->tres = (unsigned)auc_market_find_tres(m, s < workers ? "w" : "p");
			g->price = levels[tiny_int(r, 0, (int)few)] * (s < workers ? 1 : ps_price);
		}
	assert_int_equal(auc_market_give_prices(m, list, n, &err), AUC_OK);
	for (n = (unsigned)tiny_int(r, 0, 6); n; n--) {
		s = (unsigned)tiny_int(r, 0, (int)(workers + pss) - 1);
		t = tiny_int(r, 1, (int)slots);
		auc_market_reserve(m, s, (unsigned)auc_market_find_tres(m, s < workers ? "w" : "p"),
				   1, t, 1, &err);
	}
	return m;
}

/* Falling in every way there is: never, at once, in one step late or early, slowly, for nothing. */
static void make_utility(struct auc_utility *u, struct tiny_random *r, unsigned slots)
{
	memset(u, 0, sizeof(*u));
	u->scale = tiny_chance(r, 0.3) ? 1e-9 : pow(10, 4 * tiny_real(r) - 1);
	switch (tiny_int(r, 0, 4)) {
	case 0:
		u->form = AUC_FORM_CONSTANT;
		break;
	case 1:
		u->form = AUC_FORM_DEADLINE;
		u->target = tiny_int(r, 1, (int)slots);
		break;
	case 2:
		u->form = AUC_FORM_LINEAR;
		u->decay = u->scale * tiny_real(r) / slots;
		break;
	case 3:
		u->form = AUC_FORM_TABLE; /* flat, and then all at once, to something */
		u->npoints = 2;
		u->points[0].x = tiny_int(r, 1, (int)slots);
		u->points[1].x = u->points[0].x + 0.5;
		u->points[0].value = u->scale;
		u->points[1].value = u->scale * tiny_real(r);
		break;
	default:
		u->form = AUC_FORM_SIGMOID;
		u->decay = pow(10, 3 * tiny_real(r) - 2);
		u->target = tiny_int(r, 0, (int)slots);
	}
}

static void test_uneven(void **state)
{
	static const double serves[] = {1, 1.5, 2, 3, 3.7, 5, 7.3, 10, 40};
	struct auc_bid bid = {0};
	struct tiny_random r;
	struct auc_market *m;
	struct auc_err err = {0};
	struct engine e;
	unsigned i, slots;

	(void)state;
	engine_start(&e, &auc_policy_oasis);
	bid.nworkers = bid.nps = 1;
	bid.worker_seconds[0] = amount("w", 3600);
	bid.ps_seconds[0] = amount("p", 0);
	bid.upload_default = -1;
	bid.epochs = 1;
	for (i = 0; i < property.markets; i++) {
		r.state = property.seed = property.first_seed + i;
		m = make_uneven(&r, serves[tiny_int(&r, 0, 8)]);
		slots = (unsigned)auc_market_last(m);
		for (property.job = 0; property.job < 3; property.job++) {
			make_utility(&bid.utility, &r, slots);
			bid.chunks = (uint64_t)tiny_int(&r, 1, 45);
			bid.minibatches = (uint64_t)tiny_int(&r, 1, (int)slots);
			assert_int_equal(auc_bid_resolve(m, &bid, 1, &e.job, &err), AUC_OK);
			assert_int_equal(
				auc_policy_oasis.quote(e.ctx, m, &e.job, &e.decision, NULL),
				AUC_OK);
			check_plain(&e, m);
			if (e.decision.reason != AUC_REASON_CAPACITY)
				assert_true(e.decision.plan.cost ==
					    auc_plan_cost(&e.decision.plan, m));
		}
		auc_market_destroy(m);
	}
	engine_stop(&e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_property),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_uneven),
	};

	property_arguments(argc, argv, MARKETS);
	return property_failed(cmocka_run_group_tests_name("oasis_property", tests, NULL, NULL));
}
