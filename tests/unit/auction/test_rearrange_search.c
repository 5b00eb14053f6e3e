/*
 * test_rearrange_search.c - sold jobs placed anew together, on random small markets: promises are
 * kept, and what is found costs no more than the best of all orders in which the jobs could take
 * what is cheapest for them, one after the other.
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

#include "auction/auction-private.h"
#include "auction/sale_parts.h"
#include "market/timeline.h"
#include "unit/support/property.h"
#include "auction/rearrange_search.h"

#define MARKETS 400
#define SERVERS 5
#define SLOTS   14
#define SOLD    4
#define ROUNDS  100
#define TRIES   400 /* times as many, until each order of each few jobs has been tried */

/* A market, and what is sold there and has not begun at FROM. */
struct world {
	struct tiny_market t;
	struct auc_market *m;
	auc_slot from;
	unsigned n;
	struct tiny_job jobs[SOLD];
	struct auc_plan sold[SOLD];
	struct auc_policy_ctx *ctx;
};

static enum auc_code quote(void *arg, struct auc_market *m, struct auc_job *job,
			   struct auc_decision *d, struct auc_err *err)
{
	struct world *w = arg;

	return auc_policy_dps.quote(w->ctx, m, job, d, err);
}

static void book(struct world *w, const struct auc_plan *plan, bool book)
{
	auc_slot last = auc_market_last(w->m);

	assert_int_equal(
		(book ? auc_market_book : auc_market_unbook)(w->m, plan, w->t.first, last, NULL),
		AUC_OK);
}

/* Sells until SOLD jobs wait for a slot from FROM on; then other prices hold. */
static void open_world(struct world *w, struct tiny_random *r)
{
	struct auc_job job = {0};
	struct auc_decision d;

	memset(w, 0, sizeof(*w));
	tiny_market_make(&w->t, r, (unsigned)tiny_int(r, 1, SERVERS),
			 (unsigned)tiny_int(r, 4, SLOTS));
	w->m = tiny_build(&w->t);
	tiny_give_prices(&w->t, r, w->m);
	assert_int_equal(auc_policy_dps.create("", &w->ctx, NULL), AUC_OK);
	w->from = w->t.first + tiny_int(r, 0, 3);
	auc_decision_init(&d);
	for (unsigned i = 0; i < 3 * SOLD && w->n < SOLD; i++) {
		struct tiny_job *j = &w->jobs[w->n];

		tiny_job_make(j, r, &w->t);
		j->arrival = w->t.first + tiny_int(r, 0, (int)(w->from - w->t.first));
		tiny_resolve(w->m, j, &job);
		auc_utility_multiply(&job.utility, 100);
		auc_utility_multiply(&j->utility, 100);
		assert_int_equal(quote(w, w->m, &job, &d, NULL), AUC_OK);
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
	tiny_give_prices(&w->t, r, w->m);
}

static void close_world(struct world *w)
{
	for (unsigned i = 0; i < SOLD; i++)
		auc_plan_clear(&w->sold[i]);
	auc_policy_dps.destroy(w->ctx);
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
	return p->worker_type == old->worker_type && p->ps_type == old->ps_type &&
	       p->nshares <= old->nshares && workers[0] <= workers[1] && ps[0] <= ps[1] &&
	       workers_most[0] <= workers_most[1] && ps_most[0] <= ps_most[1] &&
	       p->completion - p->start <= old->completion - old->start;
}

static bool lead_is_allowed(const struct auc_plan *plan, const struct auc_plan *old)
{
	return !auc_plan_lead(old)->workers ||
	       (auc_plan_lead(plan)->workers && plan->worker_type == old->worker_type);
}

static bool has_gpus(const struct world *w, unsigned ps_type)
{
	const int64_t *amount = w->t.ps[ps_type];

	return amount[0] || (w->t.ntres > 3 && amount[3]); /* gpu, gpu:t4 */
}

/* The cheapest schedule of the I-th, whose plan is taken out, as it has to be; false: none. */
static bool cheapest(struct world *w, unsigned i, bool limited, struct auc_decision *d)
{
	const struct auc_plan *old = &w->sold[i];
	struct auc_job job = {0};
	bool found;

	tiny_resolve(w->m, &w->jobs[i], &job);
	for (unsigned s = 0; s < auc_market_nservers(w->m); s++)
		if (job.upload[s] != UINT32_MAX && job.arrival + job.upload[s] < w->from)
			job.upload[s] = (unsigned)(w->from - job.arrival);
	for (unsigned k = 0; auc_plan_lead(old)->workers && k < AUC_TYPES_MAX; k++)
		job.worker_seconds[k] = k == old->worker_type ? job.worker_seconds[k] : -1;
	for (unsigned k = 0; k < w->t.nps; k++)
		if (k != old->ps_type && (has_gpus(w, k) || has_gpus(w, old->ps_type)))
			job.ps_seconds[k] = -1;
	job.utility = (struct auc_utility){.form = AUC_FORM_DEADLINE,
					   .scale = 1e6,
					   .target = (double)(old->completion - job.arrival)};
	assert_int_equal(quote(w, w->m, &job, d, NULL), AUC_OK);
	found = d->accepted && lead_is_allowed(&d->plan, old) &&
		(!limited || no_more(&d->plan, old));
	auc_job_clear(&job);
	return found;
}

/* The least that all jobs cost if they take what is cheapest for them in some order, all being
 * taken out but those that have done so; LEFT: a set of those that have not. */
static double best_order(struct world *w, unsigned left, bool limited)
{
	double least = left ? INFINITY : 0;
	struct auc_decision d;

	auc_decision_init(&d);
	for (unsigned i = 0; i < w->n; i++) {
		if (!(left & 1u << i) || !cheapest(w, i, limited, &d))
			continue;
		book(w, &d.plan, true);
		least = fmin(least, d.plan.cost + best_order(w, left & ~(1u << i), limited));
		book(w, &d.plan, false);
	}
	auc_decision_clear(&d);
	return least;
}

/* The I-th is at PLAN now, and all promises are kept. */
static void check_moved(const struct world *w, unsigned i, const struct auc_plan *plan,
			bool limited)
{
	const struct auc_plan *old = &w->sold[i];

	assert_true(plan->start >= w->from && plan->completion <= old->completion);
	assert_true(plan->arrival == old->arrival && plan->cost == old->cost);
	assert_true(lead_is_allowed(plan, old));
	assert_true(plan->ps_type == old->ps_type ||
		    (!has_gpus(w, plan->ps_type) && !has_gpus(w, old->ps_type)));
	assert_true(!limited || no_more(plan, old));
	assert_close(plan->value,
		     tiny_value(&w->jobs[i].utility,
				(long double)(plan->completion - w->jobs[i].arrival)),
		     auc_utility_value(&w->jobs[i].utility, 0));
}

static struct auc_rearrange_search *search(struct world *w, bool limited, uint64_t seed,
					   auc_rearrange_search_allows *allows)
{
	struct auc_rearrange_search *x =
		auc_rearrange_search_create(w->m, w->from, limited, seed, quote, allows, w);
	struct auc_job job = {0};

	assert_non_null(x);
	for (unsigned i = 0; i < w->n; i++) {
		tiny_resolve(w->m, &w->jobs[i], &job);
		assert_int_equal(auc_rearrange_search_add(x, &job, &w->sold[i], NULL), AUC_OK);
	}
	auc_job_clear(&job);
	return x;
}

/* What all jobs cost, where they are now. */
static double cost_of(const struct world *w, const struct auc_rearrange_search *x)
{
	double sum = 0;

	for (unsigned i = 0; i < w->n; i++) {
		const struct auc_plan *plan = auc_rearrange_search_moved(x, i);

		sum += auc_plan_cost(plan ? plan : &w->sold[i], w->m);
	}
	return sum;
}

static void try_market(struct world *w, bool limited, unsigned *moved, unsigned *together)
{
	double before = 0, after, least, alone = 0;
	struct auc_rearrange_search *x;
	uint64_t empty;

	for (unsigned i = 0; i < w->n; i++) {
		before += auc_plan_cost(&w->sold[i], w->m);
		book(w, &w->sold[i], false);
	}
	empty = fingerprint(w->m);
	least = best_order(w, (1u << w->n) - 1, limited);
	assert_true(fingerprint(w->m) == empty);
	for (unsigned i = 0; i < w->n; i++)
		book(w, &w->sold[i], true);
	for (unsigned i = 0; i < w->n; i++) {
		struct auc_decision d;
		double cost;

		auc_decision_init(&d);
		book(w, &w->sold[i], false);
		cost = auc_plan_cost(&w->sold[i], w->m);
		if (cheapest(w, i, limited, &d) && d.plan.cost < 0.99 * cost)
			alone += cost - d.plan.cost;
		book(w, &w->sold[i], true);
		auc_decision_clear(&d);
	}

	x = search(w, limited, property.seed, NULL);
	for (unsigned i = 0; i < TRIES && (!i || cost_of(w, x) > least * 1.002 + 1e-9); i++)
		for (unsigned k = 0; k < ROUNDS; k++)
			assert_int_equal(auc_rearrange_search_round(x, NULL), AUC_OK);
	assert_true(auc_market_sound(w->m));
	after = cost_of(w, x);
	for (unsigned i = 0; i < w->n; i++) {
		const struct auc_plan *plan = auc_rearrange_search_moved(x, i);

		*moved += plan != NULL;
		if (plan)
			check_moved(w, i, plan, limited);
		book(w, plan ? plan : &w->sold[i], false);
	}
	/* The market has just these. */
	assert_true(fingerprint(w->m) == empty);
	assert_true(after <= before * (1 + 1e-9));
	assert_true(after <= least * 1.002 + 1e-9);
	*together += alone == 0 && after < 0.99 * before;
	auc_rearrange_search_destroy(x);
}

static void try_markets(bool limited)
{
	unsigned moved = 0, tried = 0, together = 0;

	for (property.seed = property.first_seed;
	     property.seed < property.first_seed + property.markets; property.seed++) {
		struct tiny_random r = {property.seed};
		struct world w;

		open_world(&w, &r);
		tried += w.n;
		try_market(&w, limited, &moved, &together);
		close_world(&w);
	}
	print_message("%s: %u of %u jobs moved; in %u markets they could only together\n",
		      limited ? "limited" : "unlimited", moved, tried, together);
	assert_true(moved > tried / 10);
	assert_true(tried > property.markets);
	assert_true(limited || together || property.markets < 100);
}

static void test_unlimited(void **state)
{
	(void)state;
	try_markets(false);
}

static void test_limited(void **state)
{
	(void)state;
	try_markets(true);
}

/* -- limits of Slurm on what they have together -- */

/* One for jobs, one for what is ahead of them, as many as were sold at once. */
static struct auc_caps caps = {.n = 2,
			       .cap = {{.kind = AUC_CAP_AT_ONCE, .text = "jobs", .tres = "job"},
				       {.kind = AUC_CAP_AHEAD, .text = "ahead", .tres = "node"}}};

struct others {
	const struct world *w;
	const struct auc_rearrange_search *x;
	unsigned but;
};

static bool other(const void *arg, unsigned i, struct auc_cap_sale *sale)
{
	const struct others *o = arg;
	const struct auc_plan *plan = auc_rearrange_search_at(o->x, i);

	if (i == o->but || !plan)
		return false;
	*sale = (struct auc_cap_sale){0, "", plan};
	return true;
}

static bool allows(void *arg, const struct auc_rearrange_search *x, unsigned i,
		   const struct auc_plan *plan)
{
	const struct world *w = arg;
	struct others others = {w, x, i};
	struct auc_cap_look look = {.market = w->m,
				    .caps = &caps,
				    .plan = plan,
				    .from = w->t.first,
				    .n = w->n,
				    .other = other,
				    .arg = &others};
	struct auc_cap_break b;

	return !auc_cap_is_broken(&look, &b);
}

/* The most jobs at one time, and slots of them that are ahead then; X NULL: as they were sold. */
static void most_of(const struct world *w, const struct auc_rearrange_search *x, double most[2])
{
	most[0] = most[1] = 0;
	for (auc_slot t = w->t.first; t <= auc_market_last(w->m); t++) {
		double sum[2] = {0};

		for (unsigned i = 0; i < w->n; i++) {
			const struct auc_plan *p = x ? auc_rearrange_search_moved(x, i) : NULL;

			p = p ? p : &w->sold[i];
			if (t < p->start || t >= p->completion)
				continue;
			sum[0] += p->nshares;
			sum[1] += p->nshares * (double)(p->completion - t);
		}
		most[0] = fmax(most[0], sum[0]);
		most[1] = fmax(most[1], sum[1]);
	}
}

/* No move breaks them; without them some do. */
static void test_limits(void **state)
{
	unsigned moved[2] = {0}, more[2] = {0};

	(void)state;
	for (property.seed = property.first_seed;
	     property.seed < property.first_seed + property.markets; property.seed++) {
		for (unsigned k = 0; k < 2; k++) {
			struct tiny_random r = {property.seed};
			struct auc_rearrange_search *x;
			double sold[2], now[2];
			struct world w;

			open_world(&w, &r);
			most_of(&w, NULL, sold);
			caps.cap[0].amount = sold[0];
			/* In minutes. */
			caps.cap[1].amount = sold[1] * auc_market_slot_seconds(w.m) / 60;
			x = search(&w, false, property.seed, k ? allows : NULL);
			for (unsigned i = auc_rearrange_search_rounds(x); i; i--)
				assert_int_equal(auc_rearrange_search_round(x, NULL), AUC_OK);
			most_of(&w, x, now);
			more[k] += now[0] > sold[0] || now[1] > sold[1];
			for (unsigned i = 0; i < w.n; i++)
				moved[k] += auc_rearrange_search_moved(x, i) != NULL;
			assert_true(auc_market_sound(w.m));
			auc_rearrange_search_destroy(x);
			close_world(&w);
		}
	}
	print_message("%u and with limits %u moved; limits broken in %u and %u markets\n", moved[0],
		      moved[1], more[0], more[1]);
	assert_true(more[0] >= property.markets / 20 && !more[1] && moved[1] >= moved[0] / 5);
}

/* The same seed moves the same jobs to the same places; another one may not. */
static void test_alike(void **state)
{
	(void)state;
	for (property.seed = 1; property.seed < 30; property.seed++) {
		struct auc_rearrange_search *x[2];
		struct world w[2];

		for (unsigned k = 0; k < 2; k++) {
			struct tiny_random r = {property.seed};

			open_world(&w[k], &r);
			x[k] = search(&w[k], false, 7, NULL);
			for (unsigned i = auc_rearrange_search_rounds(x[k]); i; i--)
				assert_int_equal(auc_rearrange_search_round(x[k], NULL), AUC_OK);
		}
		for (unsigned i = 0; i < w[0].n; i++) {
			const struct auc_plan *a = auc_rearrange_search_moved(x[0], i),
					      *b = auc_rearrange_search_moved(x[1], i);

			assert_true(!a == !b && (!a || auc_plan_same(a, b)));
		}
		assert_true(fingerprint(w[0].m) == fingerprint(w[1].m));
		for (unsigned k = 0; k < 2; k++) {
			auc_rearrange_search_destroy(x[k]);
			close_world(&w[k]);
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unlimited),
		cmocka_unit_test(test_limited),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_alike),
	};

	property_arguments(argc, argv, MARKETS);
	return property_failed(cmocka_run_group_tests(tests, NULL, NULL));
}
