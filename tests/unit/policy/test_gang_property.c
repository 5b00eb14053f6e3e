/*
 * test_gang_property.c - gangs in policy dps against brute force on random tiny markets.
 *
 * The brute force shares nothing with the engine: it works on the integers of tiny.h, computes
 * prices and utilities itself, and tries every shape, start and set of servers, with budgets and
 * switches.
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
#include "policy/gang/gang.h"
#include "unit/support/property.h"
#include "unit/support/sound.h"

#define MARKETS 20000
#define SERVERS 6
#define SLOTS   9
#define SHAPES  4

/* A gang by integers: amounts and seconds in hundredths. */
struct gang {
	int64_t arrival;
	struct auc_utility utility;
	unsigned nshapes;
	struct {
		int64_t amount[TINY_TRES], seconds;
		unsigned nodes;
	} shape[SHAPES];
	bool within, limited, whole;
	int upload[SERVERS]; /* slots */
	long double budget;
};

struct found {
	bool feasible;
	long double payoff, value, cost;
	int64_t completion, start;
	unsigned nodes, shape, set; /* set: a bit for each server */
};

static const struct auc_closure *closed; /* at most one; NULL: none */

static struct {
	unsigned accepted, payoff, capacity, budget, several, within, second, cut, whole, soonest;
} seen;

static unsigned hundredths(struct tiny_random *r, const struct tiny_market *t, unsigned k)
{
	static const int gpu[] = {10, 30, 50, 100, 200, 30};

	if (k == 2)
		return 51200 * (unsigned)tiny_int(r, 1, 4);
	if (tiny_chance(r, 0.1)) /* all of some server */
		return (unsigned)t->capacity[tiny_int(r, 0, (int)t->nservers - 1)][k];
	return k == 1 ? 50 * (unsigned)tiny_int(r, 1, 8) : (unsigned)gpu[tiny_int(r, 0, 5)];
}

static void make_gang(struct gang *g, struct tiny_random *r, const struct tiny_market *t)
{
	struct tiny_job like;

	memset(g, 0, sizeof(*g));
	tiny_job_make(&like, r, t);
	g->arrival = like.arrival;
	g->utility = like.utility;
	g->nshapes = (unsigned)tiny_int(r, 1, SHAPES);
	for (unsigned i = 0; i < g->nshapes; i++) {
		bool any = false;

		for (unsigned k = 0; k < t->ntres; k++) {
			if (!tiny_chance(r, 0.6))
				continue;
			g->shape[i].amount[k] = hundredths(r, t, k);
			any = any || g->shape[i].amount[k];
		}
		if (!any)
			g->shape[i].amount[0] = 10;
		g->shape[i].nodes = (unsigned)tiny_int(r, 1, tiny_chance(r, 0.2) ? SERVERS + 1 : 3);
		g->shape[i].seconds = t->slot_seconds * tiny_int(r, 1, 450);
		if (tiny_chance(r, 0.3)) /* whole slots */
			g->shape[i].seconds = (int64_t)t->slot_seconds * 100 * tiny_int(r, 1, 4);
		/* Alike, as in a table of running times. */
		if (i && tiny_chance(r, 0.4))
			memcpy(g->shape[i].amount, g->shape[0].amount, sizeof(g->shape[i].amount));
	}
	g->whole = tiny_chance(r, 0.15);
	for (unsigned i = 0; i < g->nshapes && g->whole; i++) {
		const int64_t *all = t->capacity[tiny_int(r, 0, (int)t->nservers - 1)];
		int64_t any = 0;

		for (unsigned k = 0; k < t->ntres; k++)
			any |= all[k];
		if (any)
			memcpy(g->shape[i].amount, all, sizeof(g->shape[i].amount));
	}
	g->within = tiny_chance(r, 0.3);
	for (unsigned s = 0; s < t->nservers; s++)
		g->upload[s] = tiny_chance(r, 0.7) ? 0 : tiny_int(r, 0, 4);
	g->limited = tiny_chance(r, 0.5);
	g->budget = tiny_chance(r, 0.2) ? 0 : powl(10, 3 * tiny_real(r) - 2);
}

static void resolve(const struct auc_market *m, const struct tiny_market *t, const struct gang *g,
		    struct auc_job *job)
{
	static unsigned upload[SERVERS];
	struct auc_named named[TINY_TRES];
	struct auc_err err;

	job->arrival = g->arrival;
	job->utility = g->utility;
	job->within_switch = g->within;
	job->whole = g->whole;
	job->limited = g->limited;
	job->budget = (double)g->budget;
	job->nshapes = 0;
	job->upload = upload;
	for (unsigned s = 0; s < t->nservers; s++)
		upload[s] = (unsigned)g->upload[s];
	for (unsigned i = 0; i < g->nshapes; i++) {
		unsigned n = 0;

		for (unsigned k = 0; k < t->ntres; k++)
			if (g->shape[i].amount[k]) {
				strcpy(named[n].name, tiny_tres_names[k]);
				named[n++].value = (double)g->shape[i].amount[k] / 100;
			}
		if (auc_job_add_shape(m, job, named, n, g->shape[i].nodes,
				      (double)g->shape[i].seconds / 100, &err) != AUC_OK)
			fail_msg("%s", err.text);
	}
}

/* Is X before Y, of equal payoff? */
static bool goes_first(const struct found *x, const struct found *y)
{
	if (x->completion != y->completion)
		return x->completion < y->completion;
	if (x->nodes != y->nodes)
		return x->nodes < y->nodes;
	if (x->shape != y->shape)
		return x->shape < y->shape;
	if (x->start != y->start)
		return x->start < y->start;
	/* The lower servers: the first one that is not in both. */
	return (x->set ^ y->set) & -(x->set ^ y->set) & x->set;
}

static void take(struct found *best, const struct found *c, long double budget)
{
	long double slack = 1e-10L * (c->value + c->cost + best->value + best->cost + 1e-6L);

	if (c->cost > budget * (1 + 1e-9L))
		return;
	if (best->feasible && (c->payoff < best->payoff - slack ||
			       (c->payoff <= best->payoff + slack && !goes_first(c, best))))
		return;
	*best = *c;
	best->feasible = true;
}

/* What a server costs in the window; < 0: it is not free. */
static long double cost_on(const struct tiny_market *t, const struct gang *g, unsigned shape,
			   unsigned s, int64_t start, int64_t end, bool priced)
{
	long double cost = 0;

	if (!t->hosts_workers[s] || t->first + start < g->arrival + g->upload[s])
		return -1;
	for (int64_t slot = start; slot < end; slot++) {
		if (closed && closed->server == s && t->first + slot >= closed->from &&
		    t->first + slot <= closed->to)
			return -1;
		for (unsigned k = 0; k < t->ntres; k++) {
			int64_t amount = g->shape[shape].amount[k];

			if (amount > t->capacity[s][k] - t->used[s][k][slot] ||
			    (g->whole && amount != t->capacity[s][k]))
				return -1;
			if (amount && priced)
				cost += tiny_price(t, s, k, slot) * amount / 100;
		}
	}
	return cost;
}

static bool one_switch(const struct tiny_market *t, unsigned set)
{
	int leaf = 0;

	for (unsigned s = 0; s < t->nservers; s++) {
		if (!(set >> s & 1))
			continue;
		if (!t->leaf[s] || (leaf && t->leaf[s] != leaf))
			return false;
		leaf = t->leaf[s];
	}
	return true;
}

static struct found brute(const struct tiny_market *t, const struct gang *g, long double budget,
			  bool priced, bool worthless)
{
	struct found best = {0}, c;

	for (unsigned i = 0; i < g->nshapes; i++) {
		int64_t d = tiny_up(g->shape[i].seconds, (int64_t)t->slot_seconds * 100);

		for (int64_t start = 0; start + d <= t->nslots; start++) {
			long double cost[SERVERS];

			for (unsigned s = 0; s < t->nservers; s++)
				cost[s] = cost_on(t, g, i, s, start, start + d, priced);
			for (unsigned set = 1; set < 1u << t->nservers; set++) {
				if ((unsigned)__builtin_popcount(set) != g->shape[i].nodes ||
				    (g->within && !one_switch(t, set)))
					continue;
				c = (struct found){.completion = t->first + start + d,
						   .start = t->first + start,
						   .nodes = g->shape[i].nodes,
						   .shape = i,
						   .set = set};
				for (unsigned s = 0; s < t->nservers && c.cost >= 0; s++)
					if (set >> s & 1)
						c.cost = cost[s] < 0 ? -1 : c.cost + cost[s];
				if (c.cost < 0)
					continue;
				if (priced)
					c.value =
						tiny_value(&g->utility, c.completion - g->arrival);
				if (!worthless && c.value <= 0)
					continue;
				c.payoff = c.value - c.cost;
				take(&best, &c, budget);
			}
		}
	}
	return best;
}

static unsigned set_of(const struct auc_plan *p)
{
	unsigned set = 0;

	for (unsigned i = 0; i < p->nshares; i++)
		set |= 1u << p->shares[i].server;
	return set;
}

static void assert_is(const struct auc_plan *p, const struct found *f, bool sets)
{
	assert_true(p->gang);
	assert_int_equal(p->completion, f->completion);
	assert_int_equal(p->start, f->start);
	assert_int_equal(p->shape, f->shape);
	assert_int_equal(p->nshares, f->nodes);
	if (sets)
		assert_int_equal(set_of(p), f->set);
}

static void check(const struct tiny_market *t, const struct gang *g, const struct auc_decision *d)
{
	struct found free = brute(t, g, INFINITY, true, true), paid = free, best;

	if (!free.feasible) {
		assert_int_equal(d->reason, AUC_REASON_CAPACITY);
		seen.capacity++;
		return;
	}
	if (g->limited && free.payoff > 0)
		paid = brute(t, g, g->budget, true, true);
	if (free.payoff > 1e-9L && (!paid.feasible || paid.payoff < -1e-9L)) {
		assert_int_equal(d->reason, AUC_REASON_BUDGET);
		assert_false(d->accepted);
		seen.budget++;
		return;
	}
	if (fabsl(free.payoff) < 1e-9L || fabsl(paid.payoff) < 1e-9L)
		return; /* a matter of rounding */
	assert_int_equal(d->reason, free.payoff > 0 ? AUC_REASON_NONE : AUC_REASON_PAYOFF);
	assert_int_equal(d->accepted, free.payoff > 0);
	assert_true(d->best_payoff == d->plan.value - d->plan.cost);
	seen.payoff += !d->accepted;
	if (!d->accepted) {
		/* The best one of those that are worth something, else the earliest. */
		best = brute(t, g, INFINITY, true, false);
		if (best.feasible)
			assert_close(d->best_payoff, best.payoff, best.value + best.cost);
		assert_true(d->best_payoff < 1e-9);
		return;
	}
	assert_close(d->best_payoff, paid.payoff, paid.value + paid.cost);
	assert_close(d->plan.cost, paid.cost, paid.value + paid.cost);
	assert_is(&d->plan, &paid, paid.cost == 0);
	seen.accepted++;
	seen.several += paid.nodes > 1;
	seen.within += g->within && paid.nodes > 1;
	seen.whole += g->whole && paid.nodes > 1;
	seen.second += paid.cost < free.cost;
}

/* A quote that may not take all its steps says how much it may have missed. */
static void check_cut(struct auc_policy_ctx *ctx, const struct tiny_market *t,
		      const struct auc_market *m, const struct gang *g, struct auc_job *job,
		      struct auc_decision *d, struct tiny_random *r)
{
	uint64_t all = d->steps;
	bool accepted = d->accepted;
	double payoff = accepted ? d->best_payoff : 0;
	struct found best;

	assert_false(d->cut);
	d->most_steps = 1 + (uint64_t)((double)all * tiny_real(r));
	assert_int_equal(auc_policy_dps.quote(ctx, m, job, d, NULL), AUC_OK);
	d->most_steps = 0;
	best = brute(t, g, g->limited ? g->budget : INFINITY, true, true);
	if (d->cut && best.feasible)
		assert_true(best.payoff <= (d->accepted ? d->best_payoff : 0) + d->distance + 1e-9);
	if (!d->cut && d->steps >= all)
		assert_true(d->accepted == accepted && (!accepted || d->best_payoff == payoff));
	seen.cut += d->cut;
	assert_int_equal(auc_policy_dps.quote(ctx, m, job, d, NULL), AUC_OK);
	assert_true(d->steps == all && d->accepted == accepted);
}

/* Under a limit of the price the soonest that it pays for is bought, and of these the cheapest. */
static void check_soonest(struct auc_policy_ctx *ctx, const struct tiny_market *t,
			  const struct auc_market *m, const struct gang *g, struct auc_job *job,
			  struct auc_decision *d, struct tiny_random *r)
{
	double limit = pow(10, 4 * tiny_real(r) - 3);
	struct found best = {0};
	struct gang like = *g;

	job->utility = auc_utility_soonest(limit, (double)t->nslots);
	job->limited = true;
	job->budget = limit;
	assert_int_equal(auc_policy_dps.quote(ctx, m, job, d, NULL), AUC_OK);
	like.utility = (struct auc_utility){.form = AUC_FORM_DEADLINE, .scale = 2 * limit};
	for (int64_t end = t->first + 1; end <= t->first + t->nslots && !(best.value > 0); end++) {
		like.utility.target = (double)(end - g->arrival);
		best = brute(t, &like, limit, true, true);
	}
	if (best.value > 0 && fabsl(best.cost - limit) < 1e-8L * limit)
		return; /* a matter of rounding */
	assert_int_equal(d->accepted, best.value > 0);
	if (!d->accepted)
		return;
	assert_int_equal(d->plan.completion, best.completion);
	assert_true(d->plan.cost <= limit * (1 + 1e-9));
	assert_close(d->plan.cost, best.cost, 100 * limit * t->nslots);
	seen.soonest++;
}

static void book(struct tiny_market *t, struct auc_market *m, const struct gang *g,
		 const struct auc_plan *p)
{
	assert_int_equal(auc_market_book(m, p, p->start, p->completion - 1, NULL), AUC_OK);
	for (unsigned i = 0; i < p->nshares; i++)
		for (unsigned k = 0; k < t->ntres; k++)
			for (auc_slot at = p->start; at < p->completion; at++)
				t->used[p->shares[i].server][k][at - t->first] +=
					g->shape[p->shape].amount[k];
}

static void one_market(struct auc_policy_ctx *ctx, struct auc_gang *search, struct auc_decision *d,
		       struct auc_job *job)
{
	struct tiny_random r = {property.seed};
	unsigned servers = (unsigned)tiny_int(&r, 1, SERVERS);
	static struct tiny_market t;
	struct auc_closure closure;
	struct auc_market *m;
	struct found first;
	struct gang g;

	tiny_market_make(&t, &r, servers, (unsigned)tiny_int(&r, 2, SLOTS));
	for (unsigned s = 0; s < t.nservers; s++)
		t.leaf[s] = tiny_int(&r, 0, 3);
	tiny_costs(&t, &r);
	t.hours = servers % 2;
	m = tiny_build(&t);
	if (tiny_chance(&r, 0.5))
		tiny_give_prices(&t, &r, m);
	closed = tiny_chance(&r, 0.3) ? &closure : NULL;
	closure.server = (unsigned)tiny_int(&r, 0, (int)servers - 1);
	closure.from = t.first + tiny_int(&r, -1, (int)t.nslots);
	closure.to = closure.from + tiny_int(&r, 0, 3);
	if (closed)
		assert_int_equal(auc_market_close(m, closed, 1, NULL), AUC_OK);
	for (property.job = 0; property.job < 2; property.job++) {
		make_gang(&g, &r, &t);
		resolve(m, &t, &g, job);
		first = brute(&t, &g, INFINITY, false, true);
		assert_int_equal(
			auc_gang_quote(search, m, job, AUC_GANG_EARLIEST, g.arrival, d, NULL),
			AUC_OK);
		assert_int_equal(d->accepted, first.feasible);
		if (first.feasible)
			assert_is(&d->plan, &first, true);
		if (first.feasible)
			assert_true(auc_job_fits_empty(m, job));
		assert_int_equal(auc_policy_dps.quote(ctx, m, job, d, NULL), AUC_OK);
		check(&t, &g, d);
		check_cut(ctx, &t, m, &g, job, d, &r);
		if (d->accepted)
			book(&t, m, &g, &d->plan);
		assert_true(auc_market_sound(m));
		if (!d->accepted || tiny_chance(&r, 0.3))
			check_soonest(ctx, &t, m, &g, job, d, &r);
		job->upload = NULL;
	}
	auc_market_destroy(m);
}

static void test_brute(void **state)
{
	struct auc_gang *search = auc_gang_create();
	struct auc_policy_ctx *ctx;
	struct auc_decision d;
	struct auc_job job = {0};

	(void)state;
	assert_int_equal(auc_policy_dps.create("", &ctx, NULL), AUC_OK);
	auc_decision_init(&d);
	for (unsigned i = 0; i < property.markets; i++) {
		property.seed = property.first_seed + i;
		one_market(ctx, search, &d, &job);
	}
	if (property.markets >= 200)
		assert_true(seen.accepted && seen.payoff && seen.capacity && seen.budget &&
			    seen.several && seen.within && seen.second && seen.cut && seen.whole &&
			    seen.soonest);
	printf("%u accepted, %u of several nodes, %u on one switch, %u whole, %u cheaper for their "
	       "budget; "
	       "refused %u for payoff, %u for capacity, %u for budget\n",
	       seen.accepted, seen.several, seen.within, seen.whole, seen.second, seen.payoff,
	       seen.capacity, seen.budget);
	auc_decision_clear(&d);
	auc_job_clear(&job);
	auc_policy_dps.destroy(ctx);
	auc_gang_destroy(search);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_brute)};

	property_arguments(argc, argv, MARKETS);
	return property_failed(
		cmocka_run_group_tests_name("gang-property", tests, NULL, sound_teardown));
}
