/*
 * schedule.c - a good schedule for all jobs of a scenario together, known in advance: what online
 * policies are compared with where no program finds the best one.
 *
 *   schedule [-t SECONDS] [-s SEED] [-o RESULT] SCENARIO
 *
 * Prints its welfare; RESULT, for "auctionsim check", is one of policy offline. Prices are those of
 * the dual of the pool (common/pricing/dual/dual_prices.h) of just these jobs. Each job is worth
 * its payoff at them; in this order, at several levels of the prices, jobs take what is free and
 * best for them. Then, for SECONDS (10) of CPU time, some jobs are taken out, those near each other
 * in time and place or any, and they and some that have nothing yet take what is free again, in an
 * order that is shuffled a bit; what is worth less than before is undone, but for a little less at
 * first. A search: it proves nothing.
 */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/dual/dual_prices.h"
#include "bench/measure.h"
#include "auctionsim/run/result.h"
#include "auctionsim/scenario/scenario_market.h"

#define FIT_ITERATIONS 300
#define TAKEN_OUT_MAX  16    /* jobs in a round */
#define TRIED_MAX      24    /* of those that have nothing, in a round */
#define HEAT           0.002 /* of the welfare: what may be lost at first */
#define ROUNDS_A_LEVEL 25    /* rounds between changes of the level of the prices */

static const double levels[] = {0.5, 0.7, 0.85, 1, 1.15};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

struct search {
	struct scenario *s;
	struct auc_market *market;
	struct auc_policy_ctx *policy;
	struct auc_job *jobs;
	struct auc_plan *plans; /* no runs: none */
	double *payoff;         /* at the prices, where all is free: what is taken of the others */
	double welfare;
	struct auc_given_price *prices, *scaled;
	size_t nprices;
	struct auc_decision decision;
	/* of a round */
	unsigned nout, out[TAKEN_OUT_MAX];
	struct auc_plan before[TAKEN_OUT_MAX];
	unsigned nlist, *list; /* jobs that are tried, */
	double *key;           /* by job: first those of the highest */
	unsigned nin, *in;     /* jobs that got something */
};

static struct auc_err err;

static void must(enum auc_code rc)
{
	measure_must("schedule", rc, &err);
}

static void *memory(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		must(auc_err_set(&err, AUC_ENOMEM, "no memory"));
	return p;
}

static void set_level(struct search *x, double level)
{
	for (size_t i = 0; i < x->nprices; i++) {
		x->scaled[i] = x->prices[i];
		x->scaled[i].price *= level;
	}
	must(auc_market_give_prices(x->market, x->scaled, x->nprices, &err));
}

static void quote(struct search *x, unsigned job)
{
	must(auc_policy_dps.quote(x->policy, x->market, &x->jobs[job], &x->decision, &err));
}

static void learn_prices(struct search *x)
{
	static const struct auc_price_choice timed = {AUC_PRICE_FORM_TIMED, 1};
	struct auc_dual_job *list = memory(x->s->njobs, sizeof(*list));
	struct auc_dual_prices *l;
	unsigned i;

	for (i = 0; i < x->s->njobs; i++)
		list[i] = (struct auc_dual_job){.job = &x->jobs[i], .weight = 1};
	must(auc_dual_prices_create(x->market, &auc_policy_dps, "", &l, &err));
	must(auc_dual_prices_fit(l, x->market, list, x->s->njobs, auc_market_first(x->market),
				 FIT_ITERATIONS, &err));
	must(auc_dual_prices_list(l, x->market, &timed, &x->prices, &x->nprices, &err));
	auc_dual_prices_destroy(l);
	free(list);
	x->scaled = memory(x->nprices, sizeof(*x->scaled));
	set_level(x, 1);
	for (i = 0; i < x->s->njobs; i++) {
		quote(x, i);
		x->payoff[i] = x->decision.plan.nruns ? x->decision.best_payoff : -INFINITY;
	}
}

static void open_search(struct search *x, const char *path)
{
	unsigned i;

	must(scenario_load(path, &x->s, &err));
	x->jobs = memory(x->s->njobs, sizeof(*x->jobs));
	x->plans = memory(x->s->njobs, sizeof(*x->plans));
	x->payoff = memory(x->s->njobs, sizeof(*x->payoff));
	x->key = memory(x->s->njobs, sizeof(*x->key));
	x->list = memory(x->s->njobs, sizeof(*x->list));
	x->in = memory(x->s->njobs, sizeof(*x->in));
	must(scenario_market_create(x->s, NULL, &x->market, &err));
	must(scenario_market_state(x->s, x->market, &err));
	must(auc_policy_dps.create("", &x->policy, &err));
	auc_decision_init(&x->decision);
	for (i = 0; i < x->s->njobs; i++) {
		if (scenario_market_is_own(&x->s->jobs[i]))
			must(auc_err_set(&err, AUC_EINVAL, "%s: $.jobs[%u]: has types of its own",
					 path, i));
		must(scenario_market_job(x->s, &x->s->jobs[i], x->market, &x->jobs[i], &err));
		auc_plan_init(&x->plans[i]);
	}
	for (i = 0; i < TAKEN_OUT_MAX; i++)
		auc_plan_init(&x->before[i]);
	learn_prices(x);
}

static void close_search(struct search *x)
{
	unsigned i;

	for (i = 0; i < x->s->njobs; i++) {
		auc_job_clear(&x->jobs[i]);
		auc_plan_clear(&x->plans[i]);
	}
	for (i = 0; i < TAKEN_OUT_MAX; i++)
		auc_plan_clear(&x->before[i]);
	auc_decision_clear(&x->decision);
	auc_policy_dps.destroy(x->policy);
	auc_market_destroy(x->market);
	free(x->jobs);
	free(x->plans);
	free(x->payoff);
	free(x->key);
	free(x->list);
	free(x->in);
	free(x->prices);
	free(x->scaled);
	scenario_free(x->s);
}

/* -- jobs take and give back -- */

static void book(struct search *x, unsigned job, const struct auc_plan *plan)
{
	must(auc_plan_copy(&x->plans[job], plan, &err));
	must(auc_market_book(x->market, plan, auc_market_first(x->market),
			     auc_market_last(x->market), &err));
	x->welfare += plan->value;
}

static void unbook(struct search *x, unsigned job)
{
	struct auc_plan *plan = &x->plans[job];

	must(auc_market_unbook(x->market, plan, auc_market_first(x->market),
			       auc_market_last(x->market), &err));
	x->welfare -= plan->value;
	auc_plan_reset(plan);
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct search *x = arg;
	unsigned i = *(const unsigned *)a, j = *(const unsigned *)b;

	if (x->key[i] != x->key[j])
		return x->key[i] > x->key[j] ? -1 : 1;
	return (i > j) - (i < j);
}

/* Those of the list take the schedule that is best for them, whose payoff is at least LEAST. */
static void fill(struct search *x, double least)
{
	unsigned i, job;

	qsort_r(x->list, x->nlist, sizeof(*x->list), by_key, x);
	for (i = 0; i < x->nlist; i++) {
		job = x->list[i];
		if (x->plans[job].nruns)
			continue;
		quote(x, job);
		if (!x->decision.plan.nruns || x->decision.best_payoff < least ||
		    !(x->decision.plan.value > 0))
			continue;
		book(x, job, &x->decision.plan);
		x->in[x->nin++] = job;
	}
}

/* The whole day at each level of the prices, and again at the best of them. */
static void start(struct search *x)
{
	double best = -1, best_level = 1;
	unsigned i, k;

	for (k = 0; k <= LEVELS; k++) {
		for (i = 0; i < x->s->njobs; i++)
			if (x->plans[i].nruns)
				unbook(x, i);
		set_level(x, k < LEVELS ? levels[k] : best_level);
		for (x->nin = x->nlist = 0; x->nlist < x->s->njobs; x->nlist++) {
			x->list[x->nlist] = x->nlist;
			x->key[x->nlist] = x->payoff[x->nlist];
		}
		fill(x, 0);
		fill(x, -INFINITY);
		if (x->welfare > best) {
			best = x->welfare;
			best_level = levels[k < LEVELS ? k : 0];
		}
	}
}

/* -- rounds -- */

static bool near(const struct auc_plan *a, const struct auc_plan *b)
{
	unsigned i, k;

	if (a->start >= b->completion || b->start >= a->completion)
		return false;
	for (i = 0; i < a->nshares; i++)
		for (k = 0; k < b->nshares; k++)
			if (a->shares[i].server == b->shares[k].server)
				return true;
	return false;
}

static void take_out(struct search *x, unsigned job)
{
	must(auc_plan_copy(&x->before[x->nout], &x->plans[job], &err));
	x->out[x->nout++] = job;
	unbook(x, job);
}

/* Some jobs that have something: of those near one of them, of the same time, or any. */
static void choose_out(struct search *x)
{
	unsigned wanted = measure_pick(1, TAKEN_OUT_MAX), kind = measure_pick(0, 2);
	unsigned n = x->s->njobs, first = measure_pick(0, n - 1), at, i;
	const struct auc_plan *seed = &x->before[0];

	for (x->nout = i = 0; i < n && !x->nout; i++)
		if (x->plans[(first + i) % n].nruns)
			take_out(x, (first + i) % n);
	for (first = measure_pick(0, n - 1), i = 0; i < n && x->nout && x->nout < wanted; i++) {
		const struct auc_plan *plan = &x->plans[at = (first + i) % n];

		if (!plan->nruns || (kind == 0 && !near(plan, seed)) ||
		    (kind == 1 && llabs(plan->start - seed->start) > 10))
			continue;
		if (kind != 2 || measure_pick(0, 3) == 0)
			take_out(x, at);
	}
}

/* They, and some of the others, in the order of what they are worth, shuffled. */
static void choose_in(struct search *x)
{
	double spread = measure_uniform() * x->welfare / x->s->njobs;
	unsigned n = x->s->njobs, i, job, tried = measure_pick(0, TRIED_MAX);

	memcpy(x->list, x->out, x->nout * sizeof(*x->list));
	x->nlist = x->nout;
	for (i = 0; i < 2 * n && tried; i++) {
		job = measure_pick(0, n - 1);
		/* what is far from being worth it is seldom tried */
		if (x->plans[job].nruns || measure_uniform() > exp(x->payoff[job] / (spread + 1)))
			continue;
		x->list[x->nlist++] = job;
		if (x->nlist == n)
			break;
		tried--;
	}
	for (i = 0; i < x->nlist; i++)
		x->key[x->list[i]] = x->payoff[x->list[i]] + spread * (2 * measure_uniform() - 1);
}

/* ALLOWED: how much less may come out. */
static void round_of(struct search *x, double allowed)
{
	double before = x->welfare;
	unsigned i;

	choose_out(x);
	choose_in(x);
	x->nin = 0;
	fill(x, 0);
	fill(x, -INFINITY);
	if (x->welfare >= before - allowed)
		return;
	for (i = 0; i < x->nin; i++)
		unbook(x, x->in[i]);
	for (i = 0; i < x->nout; i++)
		book(x, x->out[i], &x->before[i]);
	x->welfare = before;
}

static void keep_all(const struct search *x, struct result *r)
{
	struct outcome *o;
	unsigned i;

	r->accepted = 0;
	r->welfare = r->mean_jct_slots = 0;
	for (i = 0; i < x->s->njobs; i++) {
		o = &r->jobs[i];
		o->accepted = o->completed = x->plans[i].nruns > 0;
		o->reason = o->accepted ? AUC_REASON_NONE : AUC_REASON_CAPACITY;
		o->value = o->accepted ? x->plans[i].value : 0;
		must(auc_plan_copy(&o->plan, &x->plans[i], &err));
		r->accepted += o->accepted;
		r->welfare += o->value;
		r->mean_jct_slots +=
			o->accepted ? (double)(o->plan.completion - o->plan.arrival) : 0;
	}
	r->completed = r->accepted;
	r->mean_jct_slots /= r->accepted ? r->accepted : 1;
}

static void write_result(const struct search *x, const struct result *r, const char *path)
{
	FILE *f = path ? fopen(path, "we") : NULL;

	if (f)
		must(result_print_json(f, x->s, r, 1, &err));
	if (path && (!f || fclose(f)))
		must(auc_err_set(&err, AUC_EIO, "%s: cannot be written", path));
}

static void search(struct search *x, double seconds, struct result *best)
{
	double began = measure_cpu(), passed;
	unsigned rounds = 0;

	start(x);
	keep_all(x, best);
	while ((passed = measure_cpu() - began) < seconds && x->s->njobs) {
		if (rounds++ % ROUNDS_A_LEVEL == 0)
			set_level(x, levels[measure_pick(0, LEVELS - 1)]);
		round_of(x, -log(1 - measure_uniform()) * HEAT * (1 - passed / seconds) *
				    (1 - passed / seconds) * best->welfare / 10);
		if (x->welfare > best->welfare * (1 + 1e-9))
			keep_all(x, best);
	}
}

int main(int argc, char **argv)
{
	struct search x = {0};
	struct result r = {.policy = strdup("offline"), .seed = 1};
	const char *output = NULL;
	double seconds = 10;
	int c;

	measure_random = 1;
	while ((c = getopt(argc, argv, "t:s:o:")) != -1)
		switch (c) {
		case 't':
			seconds = strtod(optarg, NULL);
			break;
		case 's':
			measure_random = strtoull(optarg, NULL, 10);
			break;
		case 'o':
			output = optarg;
			break;
		default:
			return 2;
		}
	if (optind != argc - 1) {
		fprintf(stderr, "usage: schedule [-t SECONDS] [-s SEED] [-o RESULT] SCENARIO\n");
		return 2;
	}
	open_search(&x, argv[optind]);
	r.njobs = x.s->njobs;
	r.jobs = memory(r.njobs, sizeof(*r.jobs));
	search(&x, seconds, &r);
	write_result(&x, &r, output);
	printf("%.17g\n", r.welfare);
	close_search(&x);
	result_clear(&r);
	return 0;
}
