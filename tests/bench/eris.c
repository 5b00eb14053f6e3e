/*
 * eris.c - how long policy eris takes for a decision, and the printed algorithm beside it.
 *
 *   eris [-n SITES] [-t SLOTS] [-d CHUNKS] [-j JOBS] [-p PRINTED] [-S SEED]
 *
 * The setting of its paper: 50 sites, 150 slots, jobs of 150 chunks at 2 to 10 sites, prices of
 * gamma = 1000, 20 GB of traffic in a slot. JOBS (default 300) arrive one after the other and are
 * sold what they accept; the printed algorithm decides the first PRINTED of them (default 30) at
 * the same prices, and so does the policy with twenty times the effort. Then the same with
 * utilities that hardly fall, so that every slot of the horizon has to be looked at, with a
 * fiftieth of the traffic, and both. Times are CPU time of the thread, so that other programs on
 * the machine do not count.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auctionsim/baseline/registry.h"
#include "bench/measure.h"
#include "policy/policy.h"

#define TYPES 6

struct bench {
	unsigned sites, slots, chunks, jobs, printed;
	double budget, decay;
	struct auc_market *m;
	struct auc_policy_ctx *ours, *paper, *deep;
	struct auc_job job;
	struct auc_data *data;
};

static void must(enum auc_code rc, const struct auc_err *err)
{
	measure_must("eris", rc, err);
}

static void make_market(struct bench *b)
{
	static const char *const names[] = {"gpu", "cpu", "mem", AUC_TRANSFER};
	struct auc_price price = {.kind = AUC_PRICE_ETA, .neta = 4};
	struct auc_named tres[3];
	struct auc_err err = {.text = ""};
	unsigned i, k;
	char name[20];

	b->m = auc_market_create(b->slots, 1200, 1);
	for (k = 0; k < 4; k++) {
		strcpy(price.eta[k].name, names[k]);
		price.eta[k].value = 1000;
	}
	for (k = 0; k < 3; k++)
		strcpy(tres[k].name, names[k]);
	for (i = 0; i < b->sites; i++) {
		snprintf(name, sizeof(name), "site%u", i);
		tres[0].value = 4;
		tres[1].value = 24;
		tres[2].value = 32;
		must(auc_market_add_server(b->m, name, "edge", false, 3, 0, tres, 3, &err), &err);
	}
	for (i = 0; i < 2 * TYPES; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		tres[0].value = measure_pick(0, 1);
		tres[1].value = measure_pick(1, 3);
		tres[2].value = measure_pick(2, 6);
		must(i < TYPES ? auc_market_add_worker_type(b->m, name, tres, 3, 1, &err)
			       : auc_market_add_ps_type(b->m, name, tres, 3, 1, &err),
		     &err);
	}
	must(auc_market_set_traffic(b->m, b->budget, &err), &err);
	must(auc_market_ready(b->m, &price, &err), &err);
}

static int by_server(const void *a, const void *b)
{
	const struct auc_data *x = a, *y = b;

	return (x->server > y->server) - (x->server < y->server);
}

static void make_job(struct bench *b, unsigned i)
{
	struct auc_job *j = &b->job;
	unsigned n = measure_pick(2, 10), k, s, left = b->chunks;

	j->arrival = 1 + (auc_slot)i * b->slots / (2 * b->jobs);
	j->utility = (struct auc_utility){.form = AUC_FORM_SIGMOID,
					  .scale = 3000 * (1 + measure_uniform()),
					  .decay = b->decay};
	j->epochs = 20 + 10 * measure_pick(0, 1);
	j->chunks = b->chunks;
	j->chunk_mb = 2;
	j->exchange_mb = 50 + 500 * measure_uniform();
	j->chunks_per_slot = measure_pick(30, 90);
	for (k = 0; k < AUC_TYPES_MAX; k++)
		j->worker_seconds[k] = j->ps_seconds[k] = -1;
	j->worker_seconds[measure_pick(0, TYPES - 1)] = 0;
	j->ps_seconds[measure_pick(0, TYPES - 1)] = 0;
	j->ndata = 0;
	n = n < b->sites ? n : b->sites;
	while (j->ndata < n) {
		s = measure_pick(0, b->sites - 1);
		for (k = 0; k < j->ndata && b->data[k].server != s; k++)
			;
		if (k == j->ndata)
			b->data[j->ndata++] = (struct auc_data){s, 0};
	}
	for (; left; left--)
		b->data[measure_pick(0, n - 1)].chunks++;
	j->data = b->data;
	qsort(j->data, n, sizeof(*j->data), by_server);
}

static void print_times(const char *what, double *seconds, unsigned n, unsigned accepted)
{
	unsigned p99 = measure_sort(seconds, n);

	printf("  %-8s %5u decisions, %3.0f %% accepted: median %8.3f ms, p99 %8.3f ms, max %8.3f "
	       "ms\n",
	       what, n, 100.0 * accepted / n, 1e3 * seconds[n / 2], 1e3 * seconds[p99],
	       1e3 * seconds[n - 1]);
}

static void run(struct bench *b, const char *what)
{
	double *ours = calloc(b->jobs, sizeof(*ours)), *paper = calloc(b->jobs, sizeof(*paper));
	unsigned i, accepted = 0, printed = 0, n = 0;
	double deep = 0;
	struct auc_decision d, p;
	struct auc_err err = {.text = ""};
	double before, most = 0, lost = 0;

	auc_decision_init(&d);
	auc_decision_init(&p);
	make_market(b);
	for (i = 0; i < b->jobs; i++) {
		make_job(b, i);
		if (n < b->printed) {
			before = measure_cpu();
			must(auc_policy_eris.quote(b->paper, b->m, &b->job, &p, &err), &err);
			paper[n++] = measure_cpu() - before;
			printed += p.accepted;
			must(auc_policy_eris.quote(b->deep, b->m, &b->job, &p, &err), &err);
			deep = fmax(0, p.best_payoff);
		}
		before = measure_cpu();
		must(auc_policy_eris.quote(b->ours, b->m, &b->job, &d, &err), &err);
		ours[i] = measure_cpu() - before;
		accepted += d.accepted;
		if (i < n) {
			most += fmax(deep, d.best_payoff);
			lost += fmax(0, deep - fmax(0, d.best_payoff));
		}
		if (d.accepted)
			must(auc_market_book(b->m, &d.plan, 1, b->slots, &err), &err);
	}
	printf("%s\n", what);
	print_times("eris", ours, b->jobs, accepted);
	if (n)
		print_times("printed", paper, n, printed);
	if (most > 0)
		printf("  less payoff than with effort=20, of %u jobs: %.3f %%\n", n,
		       100 * lost / most);
	auc_market_destroy(b->m);
	auc_decision_clear(&d);
	auc_decision_clear(&p);
	free(ours);
	free(paper);
}

int main(int argc, char **argv)
{
	struct bench b = {.sites = 50, .slots = 150, .chunks = 150, .jobs = 300, .printed = 30};
	struct auc_err err = {.text = ""};
	uint64_t seed = 1;
	int c;

	while ((c = getopt(argc, argv, "n:t:d:j:p:S:")) != -1)
		switch (c) {
		case 'n':
			b.sites = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 't':
			b.slots = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'd':
			b.chunks = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'j':
			b.jobs = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'p':
			b.printed = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'S':
			seed = strtoull(optarg, NULL, 10);
			break;
		default:
			return 2;
		}
	if (!b.sites || !b.slots || !b.chunks || !b.jobs)
		return 2;
	must(auc_policy_eris.create("", &b.ours, &err), &err);
	must(sim_policy_eris_paper.create("variant=paper", &b.paper, &err), &err);
	must(auc_policy_eris.create("effort=20", &b.deep, &err), &err);
	b.data = calloc(b.sites + 10, sizeof(*b.data));
	b.job.upload = calloc(b.sites, sizeof(*b.job.upload));
	printf("%u sites, %u slots, %u chunks\n", b.sites, b.slots, b.chunks);
	for (c = 0; c < 4; c++) {
		measure_random = seed;
		b.budget = c & 2 ? 400 : 20480;
		b.decay = c & 1 ? 0.005 : 1.0 / 3;
		run(&b, c == 0   ? "published utilities and budget"
			: c == 1 ? "utilities that hardly fall"
			: c == 2 ? "a fiftieth of the budget"
				 : "both");
	}
	auc_policy_eris.destroy(b.ours);
	auc_policy_eris.destroy(b.paper);
	auc_policy_eris.destroy(b.deep);
	free(b.data);
	free(b.job.upload);
	return 0;
}
