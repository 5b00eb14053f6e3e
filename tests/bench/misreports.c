/*
 * misreports.c - what a user gains by saying other than is true: the value, the time, the
 * time at most, a job in two parts, a bid later than it could be. Of the library's own decisions
 * and refunds.
 *
 *   misreports [-n TRIALS] [-s SEED] [-m MOVES]
 *
 * Each trial has a market of its own, partly sold, with prices that change from slot to slot, a job
 * and one wrong report of it. Gain: what the user has in the end (value less what is kept of the
 * payment) with the wrong report less with the right one. A job that takes longer than it says buys
 * one slot after the other (Overrun=extend), each of which somebody else may have bought with
 * chance BOUGHT. Of the time at most, the job takes other than it says as a rule: lognormal, with
 * its most as the quantile 0.95, and none longer. A bid that stands is decided again in each of
 * STANDS slots; from one to the next all prices move together, by MOVES (0.3) at random and on the
 * average by nothing, and others buy what is free, with chance TAKEN a slot and node. Exit status
 * 1: a kind of report gains on the mean by more than three standard errors.
 */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "ledger/refund.h"
#include "market/timeline.h"
#include "policy/policy.h"
#include "policy/registry.h"
#include "policy/time_range.h"

#define SLOT    300.0
#define SLOTS   24
#define SERVERS 4
#define FIRST   1000
#define BOUGHT  0.3
#define STANDS  12
#define TAKEN   0.05
#define FULL    1e9 /* price of what somebody has bought */

static struct auc_err err;
static double moves = 0.3; /* standard deviation of the logarithm of prices, from slot to slot */

enum kind {
	LESS_VALUE,
	MORE_VALUE,
	LESS_TIME,
	MORE_TIME,
	SPLIT,
	LATER,
	LESS_MOST,
	MORE_MOST,
	NO_MOST,
	MOST_ONLY,
	STANDS_LESS_VALUE,
	STANDS_MORE_VALUE,
	STANDS_SHORTER,
	STANDS_SPLIT,
	STANDS_LATER,
	STANDS_NOT,
	KINDS
};
static const char *const names[] = {"value understated",
				    "value overstated",
				    "time understated",
				    "time overstated",
				    "in two parts",
				    "later",
				    "most understated",
				    "most overstated",
				    "no most given",
				    "most as the time",
				    "stands, value understated",
				    "stands, value overstated",
				    "stands for less long",
				    "stands in two parts",
				    "stands from later on",
				    "does not stand"};

/* A job as it is. */
struct truth {
	struct auc_utility utility;
	double seconds; /* that it says it takes as a rule */
	double most;    /* and at most, as a factor of that; 1: always what it says */
	double real;    /* seconds that it takes */
	unsigned gpus;
	auc_slot arrival;
};

struct world {
	struct auc_market *m;
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
	struct auc_conf conf;
	struct auc_decision decision, best;
	struct auc_job job;
	double luck[SLOTS + 1]; /* by slot: below BOUGHT, it is bought by somebody */
	/* Of bids that stand: prices at first, by how much they have moved by slot, and when
	 * somebody buys a slot of a node. */
	double price[SERVERS][SLOTS], moved[SLOTS];
	unsigned taken[SERVERS][SLOTS];
};

static void must(enum auc_code rc)
{
	measure_must("misreports", rc, &err);
}

static void open_world(struct world *w)
{
	static const struct auc_named capacity = {"gpu", 4};
	static const struct auc_price price = {.neta = 0};
	char name[AUC_NAME_MAX];

	w->m = auc_market_create(SLOTS, SLOT, FIRST);
	for (unsigned i = 0; w->m && i < SERVERS; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		must(auc_market_add_server(w->m, name, "", false, 3, 0, &capacity, 1, &err));
	}
	must(w->m ? auc_market_ready(w->m, &price, &err) : AUC_ENOMEM);
	w->policy = auc_policy_find("dps");
	must(w->policy->create("", &w->ctx, &err));
	w->conf = (struct auc_conf){
		.slot_seconds = SLOT, .end_margin = 1, .refund_unused = AUC_REFUND_SECONDS};
	auc_decision_init(&w->decision);
	auc_decision_init(&w->best);
	w->job.upload = calloc(SERVERS, sizeof(*w->job.upload));
	must(w->job.upload ? AUC_OK : AUC_ENOMEM);
}

/* Other prices, other sales, other luck. */
static void renew(struct world *w)
{
	struct auc_given_price list[SERVERS * SLOTS];
	double level = exp(3 * measure_uniform() - 1), wild = measure_uniform() < 0.3 ? 3 : 1;
	unsigned n = 0;

	for (unsigned s = 0; s < SERVERS; s++)
		for (auc_slot t = FIRST; t < FIRST + SLOTS; t++)
			list[n++] = (struct auc_given_price){
				.server = s,
				.from = t,
				.to = t,
				.price = measure_uniform() < 0.2
						 ? 0
						 : level * exp(wild * measure_uniform())};
	must(auc_market_give_prices(w->m, list, n, &err));
	for (unsigned i = 0; i <= SLOTS; i++)
		w->luck[i] = measure_uniform();
	for (unsigned i = 0; i < n; i++)
		w->price[list[i].server][list[i].from - FIRST] = list[i].price;
}

static double normal(void)
{
	double u = measure_uniform(), v = measure_uniform();

	return sqrt(-2 * log(1 - u)) * cos(2 * M_PI * v);
}

/* What happens in it from slot to slot. */
static void draw_time(struct world *w)
{
	double moved = 1;

	for (unsigned t = 0; t < SLOTS; t++) {
		w->moved[t] = moved;
		moved *= exp(moves * normal() - moves * moves / 2);
		for (unsigned s = 0; s < SERVERS; s++)
			w->taken[s][t] = (unsigned)(log(1 - measure_uniform()) / log(1 - TAKEN));
	}
}

/* It is slot NOW. */
static void set_time(struct world *w, auc_slot now)
{
	struct auc_given_price list[SERVERS * SLOTS];
	unsigned n = 0, passed = (unsigned)(now - FIRST);

	for (unsigned s = 0; s < SERVERS; s++)
		for (unsigned t = 0; t < SLOTS; t++)
			list[n++] = (struct auc_given_price){
				.server = s,
				.from = FIRST + t,
				.to = FIRST + t,
				.price = w->taken[s][t] < passed
						 ? FULL
						 : w->price[s][t] * w->moved[passed]};
	must(auc_market_give_prices(w->m, list, n, &err));
}

static void draw(struct truth *t)
{
	*t = (struct truth){.gpus = measure_pick(1, 4),
			    .seconds = 20 * exp(5 * measure_uniform()),
			    .arrival = FIRST + measure_pick(0, 4)};
	t->most = 1;
	t->real = t->seconds;
	t->utility.scale = t->gpus * (1 + t->seconds / SLOT) * exp(3 * measure_uniform());
	t->utility.form = measure_uniform() < 0.5 ? AUC_FORM_DEADLINE : AUC_FORM_LINEAR;
	t->utility.target = 1 + ceil(t->seconds / SLOT) + measure_pick(0, 8);
	t->utility.decay = t->utility.scale / (4 + 30 * measure_uniform());
}

/* The same of a job of which nobody knows exactly what it takes. */
static void draw_range(struct truth *t)
{
	draw(t);
	t->most = exp(0.1 + measure_uniform());
	t->real = t->seconds * fmin(pow(t->most, normal() / 1.6448536), t->most);
}

/* What the market sells for the report; false: nothing. */
static bool ask(struct world *w, const struct truth *t, double value, double seconds,
		auc_slot arrival)
{
	struct auc_job *job = &w->job;

	job->arrival = arrival;
	job->utility = t->utility;
	job->utility.since = (double)(arrival - t->arrival);
	auc_utility_multiply(&job->utility, value);
	job->nshapes = 0;
	must(auc_job_add_shape(w->m, job, &(struct auc_named){"gpu", t->gpus}, 1, 1, seconds,
			       &err));
	must(w->policy->quote(w->ctx, w->m, job, &w->decision, &err));
	return w->decision.accepted;
}

/* The same of a report that has a time at most, MOST times SECONDS. */
static bool ask_range(struct world *w, const struct truth *t, double seconds, double most)
{
	const struct auc_time_range range = {.most = most, .extends = true, .refunds = true};
	double factors[AUC_RANGE_PLANS], worth, best = 0;
	unsigned n = auc_range_factors(most, factors);
	bool found = false;

	for (unsigned i = 0; i < n; i++) {
		if (!ask(w, t, 1, factors[i] * seconds, t->arrival))
			continue;
		worth = auc_range_payoff(&range, factors[i], w->m, &w->job, &w->decision.plan);
		if (found && worth <= best)
			continue;
		found = true;
		best = worth;
		must(auc_decision_copy(&w->best, &w->decision, &err));
	}
	if (found)
		must(auc_decision_copy(&w->decision, &w->best, &err));
	return found;
}

/* It runs for SECONDS in the plan that was sold: what is paid, and *DONE, the slot after it. 0: it
 * was ended before. */
static double carry_out(struct world *w, double value, double seconds, auc_slot *done)
{
	struct auc_sale sale = {.state = AUC_SALE_RUNNING};
	struct auc_plan *plan = &w->decision.plan, more;
	double end = (double)plan->start * SLOT + seconds, paid, price;

	*done = auc_slot_from(end, SLOT);
	sale.plan = *plan;
	sale.plan.front = auc_plan_front(plan, w->m);
	sale.payment = auc_plan_payment(plan);
	paid = (double)(sale.payment - auc_refund_due(&w->conf, &sale, "completed", end)) /
	       AUC_CREDIT;
	if (*done <= plan->completion)
		return paid;
	paid = (double)sale.payment / AUC_CREDIT;
	auc_plan_init(&more);
	must(auc_plan_copy(&more, plan, &err));
	for (auc_slot t = plan->completion; t < *done; t++) {
		if (t >= FIRST + SLOTS || w->luck[t - FIRST] < BOUGHT) {
			*done = 0;
			break;
		}
		more.runs[0].from = more.runs[0].to = t;
		price = auc_plan_cost(&more, w->m);
		/* the slot in which it ends, it uses for some seconds */
		if (t == *done - 1)
			price *= end / SLOT - (double)t;
		paid += fmin(price, fmax(0, value - paid));
	}
	auc_plan_clear(&more);
	return paid;
}

static double worth(const struct truth *t, auc_slot done)
{
	return done ? auc_utility_value(&t->utility, (double)(done - t->arrival)) : 0;
}

/* What the user has of one report: VALUE and TIME are factors. */
static double outcome(struct world *w, const struct truth *t, double value, double time,
		      auc_slot arrival)
{
	auc_slot done;
	double paid;

	if (arrival >= FIRST + SLOTS || !ask(w, t, value, time * t->seconds, arrival))
		return 0;
	paid = carry_out(w, w->decision.plan.value, t->real, &done);
	return worth(t, done) - paid;
}

/* The same with a time at most: SECONDS and MOST are what is said. */
static double outcome_range(struct world *w, const struct truth *t, double seconds, double most)
{
	auc_slot done;
	double paid;

	if (!ask_range(w, t, seconds, most))
		return 0;
	paid = carry_out(w, w->decision.plan.value, t->real, &done);
	return worth(t, done) - paid;
}

/* Two jobs of half the time and half the value, the second behind the first. */
static double in_two(struct world *w, const struct truth *t)
{
	auc_slot done, second;
	double paid;

	if (!ask(w, t, 0.5, t->seconds / 2, t->arrival))
		return 0;
	paid = carry_out(w, w->decision.plan.value, t->seconds / 2, &done);
	second = done;
	if (second >= FIRST + SLOTS || !ask(w, t, 0.5, t->seconds / 2, second))
		return -paid;
	paid += carry_out(w, w->decision.plan.value, t->seconds / 2, &done);
	return worth(t, done) - paid;
}

/* The first of slots FROM to TO in which PART of the job is accepted for VALUE times PART of what
 * it is worth: what is paid, and *DONE; 0: in none. */
static double stand(struct world *w, const struct truth *t, double value, double part,
		    auc_slot from, auc_slot to, auc_slot *done)
{
	*done = 0;
	for (auc_slot now = from; now <= to && now < FIRST + SLOTS; now++) {
		set_time(w, now);
		if (ask(w, t, value * part, part * t->seconds, now))
			return carry_out(w, w->decision.plan.value, part * t->real, done);
	}
	return 0;
}

static double outcome_stands(struct world *w, const struct truth *t, double value, unsigned wait,
			     unsigned stands)
{
	auc_slot done;
	double paid = stand(w, t, value, 1, t->arrival + wait, t->arrival + stands, &done);

	return worth(t, done) - paid;
}

/* Two bids of half the job, the second from when the first is done: both have to be. */
static double stands_in_two(struct world *w, const struct truth *t)
{
	auc_slot one, two;
	double paid = stand(w, t, 1, 0.5, t->arrival, t->arrival + STANDS, &one);

	if (!one)
		return -paid;
	paid += stand(w, t, 1, 0.5, one, t->arrival + STANDS, &two);
	return (two ? worth(t, two) : 0) - paid;
}

static double gain_stands(struct world *w, enum kind kind, double by, double *truth)
{
	struct truth t;

	draw(&t);
	draw_time(w);
	*truth = outcome_stands(w, &t, 1, 0, STANDS);
	switch (kind) {
	case STANDS_LESS_VALUE:
		return outcome_stands(w, &t, 1 / by, 0, STANDS) - *truth;
	case STANDS_MORE_VALUE:
		return outcome_stands(w, &t, by, 0, STANDS) - *truth;
	case STANDS_SHORTER:
		return outcome_stands(w, &t, 1, 0, (unsigned)measure_pick(0, STANDS - 1)) - *truth;
	case STANDS_SPLIT:
		return stands_in_two(w, &t) - *truth;
	case STANDS_LATER:
		return outcome_stands(w, &t, 1, (unsigned)measure_pick(1, 6), STANDS) - *truth;
	default:
		return outcome_stands(w, &t, 1, 0, 0) - *truth;
	}
}

static double gain_of(struct world *w, enum kind kind, double *truth)
{
	double by = 1.1 + 3 * measure_uniform() * measure_uniform();
	struct truth t;

	renew(w);
	if (kind >= STANDS_LESS_VALUE)
		return gain_stands(w, kind, by, truth);
	if (kind >= LESS_MOST) {
		draw_range(&t);
		*truth = outcome_range(w, &t, t.seconds, t.most);
	} else {
		draw(&t);
		*truth = outcome(w, &t, 1, 1, t.arrival);
	}
	switch (kind) {
	case LESS_MOST:
		return outcome_range(w, &t, t.seconds, fmax(1, t.most / by)) - *truth;
	case MORE_MOST:
		return outcome_range(w, &t, t.seconds, fmin(AUC_RANGE_MOST, t.most * by)) - *truth;
	case NO_MOST:
		return outcome_range(w, &t, t.seconds, 1) - *truth;
	case MOST_ONLY:
		return outcome_range(w, &t, t.seconds * t.most, 1) - *truth;
	case LESS_VALUE:
		return outcome(w, &t, 1 / by, 1, t.arrival) - *truth;
	case MORE_VALUE:
		return outcome(w, &t, by, 1, t.arrival) - *truth;
	case LESS_TIME:
		return outcome(w, &t, 1, 1 / by, t.arrival) - *truth;
	case MORE_TIME:
		return outcome(w, &t, 1, by, t.arrival) - *truth;
	case SPLIT:
		return in_two(w, &t) - *truth;
	default:
		return outcome(w, &t, 1, 1, t.arrival + measure_pick(1, 6)) - *truth;
	}
}

int main(int argc, char **argv)
{
	unsigned trials = 100000;
	bool systematic = false;
	struct world w = {0};
	int o;

	measure_random = 1;
	while ((o = getopt(argc, argv, "n:s:m:")) != -1) {
		if (o == 'n')
			trials = (unsigned)strtoul(optarg, NULL, 10);
		else if (o == 'm')
			moves = strtod(optarg, NULL);
		else if (o == 's')
			measure_random = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	open_world(&w);
	printf("| report | mean gain, %% of truth | standard error | better, %% | worse, %% | best "
	       "gain, "
	       "%% of the mean truth |\n| --- | --: | --: | --: | --: | --: |\n");
	for (unsigned kind = 0; kind < KINDS; kind++) {
		double sum = 0, square = 0, truths = 0, best = 0, truth, gain, mean, error;
		unsigned better = 0, worse = 0;

		for (unsigned i = 0; i < trials; i++) {
			gain = gain_of(&w, kind, &truth);
			sum += gain;
			square += gain * gain;
			truths += truth;
			best = fmax(best, gain);
			better += gain > 1e-5;
			worse += gain < -1e-5;
		}
		mean = sum / trials;
		error = sqrt(fmax(0, square / trials - mean * mean) / trials);
		systematic = systematic || mean > 3 * error + 1e-9;
		truths /= trials;
		printf("| %s | %.2f | %.2f | %.2f | %.2f | %.0f |\n", names[kind],
		       100 * mean / truths, 100 * error / truths, 100. * better / trials,
		       100. * worse / trials, 100 * best / truths);
	}
	auc_decision_clear(&w.decision);
	auc_decision_clear(&w.best);
	w.policy->destroy(w.ctx);
	auc_job_clear(&w.job);
	auc_market_destroy(w.m);
	return systematic;
}
