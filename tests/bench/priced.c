/*
 * priced.c - are quotes of policy dps slower at prices than without any?
 *
 *   priced [-p MODE] SCENARIO [HISTORY...]
 *
 * Replays SCENARIO at its own prices, or those called MODE as by "auctionsim run --prices", taught
 * by the days HISTORY. Each job is quoted in three markets: the one that is sold at these prices;
 * the same one, as it is sold, with no prices; and one that sells without prices. Each three times
 * in turn, of which the shortest counts. Times are CPU time of the thread. Prints of each the
 * median and the mean, in microseconds, and the ratios of the first to the others.
 */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "auctionsim/run/learned.h"
#include "bench/measure.h"
#include "auctionsim/run/prices.h"
#include "auctionsim/scenario/scenario_market.h"

#define TURNS 3

enum { PRICED, SAME, FREE, MARKETS };

struct bench {
	struct scenario *s;
	struct auc_market *market[MARKETS];
	struct prices *prices;
	struct auc_policy_ctx *policy;
	struct auc_decision decision[MARKETS];
	struct auc_job job;
	unsigned n; /* jobs so far */
	double *seconds[MARKETS], sum[MARKETS];
};

static struct auc_err err;

static void must(enum auc_code rc)
{
	measure_must("priced", rc, &err);
}

static void open_bench(struct bench *b, const char *path, const char *mode, char *const *past,
		       unsigned npast)
{
	char *chosen = NULL;

	must(scenario_load(path, &b->s, &err));
	if (mode)
		must(learned_prices(b->s, mode, "dps", past, npast, &chosen, &err));
	printf("%s: %s\n", path, chosen ? chosen : mode ? mode : "its own prices");
	free(chosen);
	must(auc_policy_dps.create("", &b->policy, &err));
	for (unsigned i = 0; i < MARKETS; i++) {
		must(world_market(b->s, NULL, &b->market[i], &err));
		must(world_state(b->s, b->market[i], &err));
		auc_decision_init(&b->decision[i]);
		b->seconds[i] = calloc(b->s->njobs + 1, sizeof(double));
		if (!b->seconds[i])
			must(auc_err_set(&err, AUC_ENOMEM, "no memory"));
		if (i != PRICED)
			must(auc_market_give_prices(b->market[i], NULL, 0, &err));
	}
	must(prices_open(b->s, &auc_policy_dps, b->market[PRICED], &b->prices, &err));
}

static void close_bench(struct bench *b)
{
	prices_close(b->prices);
	for (unsigned i = 0; i < MARKETS; i++) {
		auc_market_destroy(b->market[i]);
		auc_decision_clear(&b->decision[i]);
		free(b->seconds[i]);
	}
	auc_policy_dps.destroy(b->policy);
	auc_job_clear(&b->job);
	scenario_free(b->s);
}

static void quote(struct bench *b, unsigned market)
{
	double *least = &b->seconds[market][b->n], began = measure_cpu(), took;

	must(auc_policy_dps.quote(b->policy, b->market[market], &b->job, &b->decision[market],
				  &err));
	took = measure_cpu() - began;
	if (!(*least > 0) || took < *least)
		*least = took;
}

static void sell(struct bench *b, unsigned market, const struct auc_decision *d)
{
	if (d->accepted)
		must(auc_market_book(b->market[market], &d->plan, 1, (auc_slot)b->s->slots, &err));
}

static void decide(struct bench *b, const struct scenario_job *job)
{
	bool changed;

	must(prices_before(b->prices, b->market[PRICED], (auc_slot)job->arrival, &changed, &err));
	must(world_job(b->s, job, &b->job, &err));
	for (unsigned i = 0; i < TURNS * MARKETS; i++)
		quote(b, i % MARKETS);
	for (unsigned i = 0; i < MARKETS; i++) {
		b->sum[i] += b->seconds[i][b->n];
		sell(b, i, &b->decision[i == SAME ? PRICED : i]);
	}
	must(prices_learn(b->prices, b->market[PRICED], &b->job, job->user, b->market[PRICED],
			  &err));
	b->n++;
}

static void report(struct bench *b)
{
	static const char *const names[MARKETS] = {"at these prices", "same market, none",
						   "sold without prices"};
	double median[MARKETS];

	for (unsigned i = 0; i < MARKETS && b->n; i++) {
		measure_sort(b->seconds[i], b->n);
		median[i] = b->seconds[i][b->n / 2];
		printf("  %-20s median %7.1f us  mean %7.1f us", names[i], 1e6 * median[i],
		       1e6 * b->sum[i] / b->n);
		if (i)
			printf("  ratio: %.2f of medians, %.2f of means", median[0] / median[i],
			       b->sum[0] / b->sum[i]);
		printf("\n");
	}
}

static int by_arrival(const void *a, const void *b)
{
	const struct scenario_job *x = *(const struct scenario_job *const *)a,
				  *y = *(const struct scenario_job *const *)b;

	if (x->arrival != y->arrival)
		return x->arrival < y->arrival ? -1 : 1;
	return (x > y) - (x < y);
}

static void replay(struct bench *b)
{
	const struct scenario_job **order = calloc(b->s->njobs + 1, sizeof(*order));

	if (!order)
		must(auc_err_set(&err, AUC_ENOMEM, "no memory"));
	for (unsigned i = 0; i < b->s->njobs; i++)
		order[i] = &b->s->jobs[i];
	qsort(order, b->s->njobs, sizeof(*order), by_arrival);
	for (unsigned i = 0; i < b->s->njobs && order[i]->arrival <= b->s->slots; i++)
		decide(b, order[i]);
	free(order);
}

static int usage(void)
{
	fprintf(stderr, "Usage: priced [-p MODE] SCENARIO [HISTORY...]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	const char *mode = NULL;
	int c;

	while ((c = getopt(argc, argv, "p:")) != -1) {
		if (c != 'p')
			return usage();
		mode = optarg;
	}
	if (optind == argc)
		return usage();
	open_bench(&b, argv[optind], mode, argv + optind + 1, (unsigned)(argc - optind - 1));
	replay(&b);
	report(&b);
	close_bench(&b);
	return 0;
}
