/*
 * quote.c - how long policy dps takes for one quote in a loaded market, and how much memory it
 * needs.
 *
 *   quote [-s SERVERS]... [-t SLOTS] [-q QUOTES] [-r REFERENCE_QUOTES] [-l LOAD] [-S SEED]
 *         [-p P99_MS] [-m MB] [-f] [-c]
 *
 * For each number of servers (default 50, 100, 300) a market of 150 slots, 5 worker types, 5 PS
 * types and 8 TRES is loaded by selling random jobs until LOAD (default 0.7) of the GPU-slots are
 * used; then fresh random jobs are quoted and not booked. The reference is the same exact search
 * without lower bounds ("bounds=off") on the first REFERENCE_QUOTES of the same jobs; both must
 * agree on every payoff. With -f the market is fragmented instead: workers on one server each for 1
 * to 40 slots at random times, as cancellations, fences and other prices leave it. With -c all jobs
 * are worth the same whenever they end, so that time never ends a search. Times are CPU time of the
 * thread, so that other programs on the machine do not count. Exit status 1 if a p99 is above
 * P99_MS or the memory grown above MB.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"
#include "policy/policy.h"

#define TYPES     5
#define TRIES_MAX 20000

struct options {
	unsigned slots, quotes, reference;
	double load, p99_ms, memory_mb;
	bool fragmented, constant;
};

/* One quote. */
struct sample {
	double seconds;
	enum auc_reason reason;
};

static void must(enum auc_code rc, const struct auc_err *err)
{
	measure_must("quote", rc, err);
}

static struct auc_named amount(const char *name, double value)
{
	struct auc_named n = {.value = value};

	strcpy(n.name, name);
	return n;
}

static const char *const gpus[TYPES] = {"gpu:a100", "gpu:v100", "gpu:p100", "gpu:t4", "gpu:k80"};

/* Edge servers with a few GPUs of one or two types; one in ten is of the cloud, with long uploads.
 */
static struct auc_market *make_market(unsigned servers, unsigned slots)
{
	struct auc_market *m = auc_market_create(slots, 3600, 1);
	struct auc_price price = {.neta = 8};
	struct auc_named list[8];
	struct auc_err err = {0};
	char name[AUC_NAME_MAX];
	unsigned i, k, n;
	bool cloud;

	for (i = 0; i < servers; i++) {
		cloud = i % 10 == 9;
		snprintf(name, sizeof(name), "%s%u", cloud ? "cloud" : "edge", i);
		n = 0;
		list[n++] = amount("cpu", cloud ? 256 : 16 * measure_pick(2, 6));
		list[n++] = amount("mem", cloud ? 1048576 : 65536 * measure_pick(2, 8));
		list[n++] = amount("disk", cloud ? 100000 : 1000 * measure_pick(1, 4));
		k = measure_pick(0, TYPES - 1);
		list[n++] = amount(gpus[k], cloud ? 32 : 2 * measure_pick(1, 4));
		if (measure_uniform() < 0.5)
			list[n++] = amount(gpus[(k + 1 + measure_pick(0, TYPES - 2)) % TYPES],
					   cloud ? 16 : 2 * measure_pick(1, 2));
		must(auc_market_add_server(m, name, cloud ? "cloud" : "edge", cloud,
					   AUC_ROLE_WORKER | AUC_ROLE_PS, cloud ? 8 : 0, list, n,
					   &err),
		     &err);
	}
	for (i = 0; i < TYPES; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		list[0] = amount("cpu", 2 + i % 3);
		list[1] = amount("mem", 8192 + 4096 * (i % 2));
		list[2] = amount(gpus[i], i == 4 ? 0.5 : 1);
		must(auc_market_add_worker_type(m, name, list, 3, 1024, &err), &err);
		snprintf(name, sizeof(name), "p%u", i);
		list[0] = amount("cpu", 1 + i);
		list[1] = amount("mem", 4096 * (1 + i));
		list[2] = amount("disk", 10);
		must(auc_market_add_ps_type(m, name, list, 3, 1024 * (2 + 2 * i), &err), &err);
	}
	price.eta[0] = amount("cpu", 2);
	price.eta[1] = amount("mem", 1.0002);
	price.eta[2] = amount("disk", 1.01);
	for (i = 0; i < TYPES; i++)
		price.eta[3 + i] = amount(gpus[i], 30 - 5 * i);
	must(auc_market_ready(m, &price, &err), &err);
	return m;
}

/* A job of 1 to some hundred worker-slots; VALUE scales what it is worth. */
static void make_job(struct auc_job *job, const struct auc_market *m, double value)
{
	unsigned slots = (unsigned)(auc_market_last(m) - auc_market_first(m) + 1), i, target;
	struct auc_utility *u = &job->utility;
	double work = exp(log(400) * measure_uniform());

	memset(u, 0, sizeof(*u));
	job->arrival = auc_market_first(m) + measure_pick(0, slots * 2 / 3);
	job->epochs = measure_pick(5, 50);
	job->chunks = measure_pick(4, 100);
	job->minibatches = measure_pick(10, 100);
	job->gradient_mb = 10 + 500 * measure_uniform();
	for (i = 0; i < TYPES; i++) {
		job->worker_seconds[i] = work * 3600 /
					 (double)(job->epochs * job->chunks * job->minibatches) *
					 (0.5 + 0.4 * i) * (0.8 + 0.4 * measure_uniform());
		job->ps_seconds[i] = job->worker_seconds[0] * 0.2 * measure_uniform() / (1 + i);
	}
	for (i = 0; i < auc_market_nservers(m); i++)
		job->upload[i] = strcmp(auc_market_server_group(m, i), "cloud")
					 ? measure_pick(0, 2)
					 : measure_pick(4, 12);
	target = measure_pick(5, 60);
	u->form = (enum auc_form)measure_pick(0, AUC_FORM_TABLE);
	u->scale = value * work * 12 * (0.3 + measure_uniform());
	switch (u->form) {
	case AUC_FORM_SIGMOID:
		u->decay = 0.02 + 0.3 * measure_uniform();
		u->target = target;
		break;
	case AUC_FORM_LINEAR:
		u->decay = u->scale / (2 * target);
		break;
	case AUC_FORM_INVERSE:
		u->target = slots;
		break;
	case AUC_FORM_DEADLINE:
		u->target = target;
		break;
	case AUC_FORM_TABLE:
		u->npoints = 3;
		for (i = 0; i < 3; i++) {
			u->points[i].x = (i + 1) * target / 2.0;
			u->points[i].value = u->scale * (3 - i) / 3;
		}
		break;
	case AUC_FORM_CONSTANT:
		break;
	}
}

static double gpu_load(const struct auc_market *m)
{
	double used = 0, capacity = 0;
	unsigned s, i;
	auc_slot t;
	int k;

	for (i = 0; i < TYPES; i++) {
		k = auc_market_find_tres(m, gpus[i]);
		for (s = 0; k >= 0 && s < auc_market_nservers(m); s++)
			for (t = auc_market_first(m); t <= auc_market_last(m); t++) {
				used += auc_market_used(m, s, (unsigned)k, t);
				capacity += auc_market_capacity(m, s, (unsigned)k);
			}
	}
	return used / capacity;
}

/* Reserves workers on one server at a time until LOAD of the GPU-slots are used. */
static void fragment(struct auc_market *m, double load)
{
	unsigned slots = (unsigned)(auc_market_last(m) - auc_market_first(m)) + 1, tries;
	struct auc_plan plan;
	struct auc_err err = {0};

	auc_plan_init(&plan);
	for (tries = 0; tries % 64 || gpu_load(m) < load; tries++) {
		unsigned d = measure_pick(1, slots < 40 ? slots : 40);

		auc_plan_reset(&plan);
		plan.worker_type = measure_pick(0, TYPES - 1);
		plan.ps_type = 0;
		plan.start = auc_market_first(m) + measure_pick(0, slots - d);
		plan.completion = plan.start + d;
		must(auc_plan_add_run(&plan, plan.start, plan.completion - 1, &err), &err);
		must(auc_plan_add_share(&plan, measure_pick(0, auc_market_nservers(m) - 1),
					measure_pick(1, 4), 0, &err),
		     &err);
		(void)auc_market_book(m, &plan, plan.start, plan.completion, NULL);
	}
	auc_plan_clear(&plan);
	printf("%u servers x %u slots x %d x %d types, %u TRES: fragmented, %.0f %% of GPU-slots "
	       "used\n",
	       auc_market_nservers(m), slots, TYPES, TYPES, auc_market_ntres(m), 100 * gpu_load(m));
}

static int by_seconds(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Sells random jobs until LOAD of the GPU-slots are used. */
static void sell(struct auc_market *m, struct auc_policy_ctx *ctx, struct auc_job *job, double load)
{
	struct auc_err err = {0};
	struct auc_decision d;
	double start, booking = 0;
	unsigned tries, sold = 0;

	auc_decision_init(&d);
	for (tries = 0; tries < TRIES_MAX && (tries % 16 || gpu_load(m) < load); tries++) {
		make_job(job, m, 10);
		must(auc_policy_dps.quote(ctx, m, job, &d, &err), &err);
		if (!d.accepted)
			continue;
		sold++;
		start = measure_cpu();
		must(auc_market_book(m, &d.plan, d.plan.start, d.plan.completion, &err), &err);
		booking += measure_cpu() - start;
	}
	printf("%u servers x %.0f slots x %d x %d types, %u TRES: %u jobs sold, %.0f %% of "
	       "GPU-slots used\n",
	       auc_market_nservers(m), (double)(auc_market_last(m) - auc_market_first(m) + 1),
	       TYPES, TYPES, auc_market_ntres(m), sold, 100 * gpu_load(m));
	printf("  booking a plan %.1f us on average\n", sold ? 1e6 * booking / sold : 0);
	auc_decision_clear(&d);
}

/* Quotes N jobs drawn from SEED; PAYOFF is filled, or compared with if CHECK. */
static void run(struct auc_market *m, struct auc_policy_ctx *ctx, struct auc_job *job,
		uint64_t seed, unsigned n, struct sample *samples, double *payoff, bool check,
		bool constant)
{
	struct auc_err err = {0};
	struct auc_decision d;
	double start, got;
	unsigned i;

	auc_decision_init(&d);
	measure_random = seed;
	for (i = 0; i < n; i++) {
		make_job(job, m, 1);
		if (constant)
			job->utility.form = AUC_FORM_CONSTANT;
		start = measure_cpu();
		must(auc_policy_dps.quote(ctx, m, job, &d, &err), &err);
		samples[i].seconds = measure_cpu() - start;
		samples[i].reason = d.reason;
		got = d.reason == AUC_REASON_CAPACITY ? -INFINITY : d.best_payoff;
		if (check && got != payoff[i]) {
			fprintf(stderr, "quote: job %u: the reference says %.17g, not %.17g\n", i,
				got, payoff[i]);
			exit(1);
		}
		payoff[i] = got;
	}
	auc_decision_clear(&d);
}

/* Prints what N samples say, sorts them, returns their p99; *TOTAL is their sum. */
static double report(const char *what, struct sample *samples, unsigned n, double *total)
{
	unsigned counts[AUC_REASON_CAPACITY + 1] = {0}, i, p99 = (n * 99 + 99) / 100 - 1;

	*total = 0;
	for (i = 0; i < n; i++) {
		counts[samples[i].reason]++;
		*total += samples[i].seconds;
	}
	qsort(samples, n, sizeof(*samples), by_seconds);
	printf("  %-10s median %8.1f us  p99 %8.1f us  worst %8.1f us  mean %8.1f us  "
	       "(%u quotes: %u accepted, %u payoff, %u capacity)\n",
	       what, 1e6 * samples[n / 2].seconds, 1e6 * samples[p99].seconds,
	       1e6 * samples[n - 1].seconds, 1e6 * *total / n, n, counts[AUC_REASON_NONE],
	       counts[AUC_REASON_PAYOFF], counts[AUC_REASON_CAPACITY]);
	return samples[p99].seconds;
}

/* True if within the limits. */
static bool bench(const struct options *o, unsigned servers)
{
	struct sample *samples = calloc(o->quotes, sizeof(*samples));
	double *payoff = calloc(o->quotes, sizeof(*payoff));
	double memory = measure_resident_mb(), p99, total, reference;
	struct auc_policy_ctx *ctx, *plain;
	struct auc_job job = {.upload = calloc(servers, sizeof(unsigned)), .upload_alloc = servers};
	struct auc_err err = {0};
	struct auc_market *m = make_market(servers, o->slots);
	unsigned few = o->reference < o->quotes ? o->reference : o->quotes;
	uint64_t seed;

	must(auc_policy_dps.create("", &ctx, &err), &err);
	must(auc_policy_dps.create("bounds=off", &plain, &err), &err);
	if (o->fragmented)
		fragment(m, o->load);
	else
		sell(m, ctx, &job, o->load);
	seed = measure_random;
	run(m, ctx, &job, seed, o->quotes, samples, payoff, false, o->constant);
	memory = measure_resident_mb() - memory;
	p99 = report("quote", samples, o->quotes, &total);
	if (few) {
		run(m, plain, &job, seed, few, samples, payoff, true, o->constant);
		report("reference", samples, few, &reference);
		run(m, ctx, &job, seed, few, samples, payoff, true, o->constant);
		report("same jobs", samples, few, &total);
		printf("  reference / quote: %.1f on average\n", reference / total);
	}
	printf("  memory grown by %.1f MB\n", memory);
	auc_policy_dps.destroy(ctx);
	auc_policy_dps.destroy(plain);
	auc_job_clear(&job);
	auc_market_destroy(m);
	free(samples);
	free(payoff);
	return p99 * 1e3 <= o->p99_ms && memory <= o->memory_mb;
}

int main(int argc, char **argv)
{
	struct options o = {.slots = 150,
			    .quotes = 2000,
			    .reference = 100,
			    .load = 0.7,
			    .p99_ms = INFINITY,
			    .memory_mb = INFINITY};
	unsigned servers[16] = {50, 100, 300}, nservers = 0, i;
	bool ok = true;
	int c;

	while ((c = getopt(argc, argv, "s:t:q:r:l:S:p:m:fc")) != -1) {
		if (c == 's' && nservers < 16)
			servers[nservers++] = (unsigned)atoi(optarg);
		else if (c == 't')
			o.slots = (unsigned)atoi(optarg);
		else if (c == 'q')
			o.quotes = (unsigned)atoi(optarg);
		else if (c == 'r')
			o.reference = (unsigned)atoi(optarg);
		else if (c == 'f')
			o.fragmented = true;
		else if (c == 'c')
			o.constant = true;
		else if (c == 'l')
			o.load = atof(optarg);
		else if (c == 'S')
			measure_random = strtoull(optarg, NULL, 10);
		else if (c == 'p')
			o.p99_ms = atof(optarg);
		else if (c == 'm')
			o.memory_mb = atof(optarg);
		else
			return 2;
	}
	if (!o.slots || o.slots > AUC_SLOTS_MAX || !o.quotes)
		return 2;
	for (i = 0; i < (nservers ? nservers : 3); i++)
		ok = bench(&o, servers[i]) && ok;
	return ok ? 0 : 1;
}
