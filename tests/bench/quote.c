/*
 * quote.c - how long policy dps takes for one quote in a loaded market, and how much memory it
 * needs.
 *
 *   quote [-s SERVERS]... [-t SLOTS] [-q QUOTES] [-r REFERENCE_QUOTES] [-l LOAD] [-S SEED] [-n
 * PASSES]
 *         [-T TYPES] [-p P99_MS] [-x LOOPS] [-k STEPS] [-m MB] [-f] [-c] [-a] [-w] [-b]
 *
 * For each number of servers (default 50, 100, 300) a market of 150 slots, 5 worker types, 5 PS
 * types (-T: as many of each, 2 to 5) and 8 TRES is loaded by selling random jobs until LOAD
 * (default 0.7) of the GPU-slots are used; then fresh random jobs are quoted and not booked. The
 * reference is the same exact search without lower bounds ("bounds=off") on the first
 * REFERENCE_QUOTES of the same jobs; both must agree on every payoff. What quotes buy is booked and
 * taken out again, each timed. With -f the market is fragmented instead: workers on one server each
 * for 1 to 40 slots at random times, as cancellations, fences and other prices leave it. With -c
 * all jobs are worth the same whenever they end, so that time never ends a search. With -a each job
 * is an adversary's: the hardest of ADVERSARY that begin with a random one and change it at random,
 * keeping what takes more steps. With -w the market is woven of equal pieces of TILE_SERVERS and
 * TILE_SLOTS: large ones are ready in seconds. With -b workers on a random server are booked before
 * each quote and taken out after it, as between two quotes something changes.
 *
 * Times are CPU time of the thread, so that other programs on the machine do not count, and the
 * least of PASSES (3). As other programs still slow the memory down, each quote is also divided by
 * a loop of fixed work that is timed beside it. Steps (policy.h) are the same everywhere. The limit
 * of the machine is what it takes to read 8 bytes for each step from memory, one behind the other.
 *
 * Exit status 1 if a p99 is above P99_MS, LOOPS times the loop or STEPS, or the memory grown above
 * MB.
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

#define TYPES_MAX 5
#define TRIES_MAX 20000
#define BOOKINGS  300
#define ADVERSARY 12 /* jobs that are tried for one of the adversary's */

#define TILE_SERVERS 100
#define TILE_SLOTS   150

struct options {
	unsigned slots, quotes, reference, passes;
	double load, p99_ms, memory_mb, loops, steps;
	bool fragmented, constant, adversary, woven, busy;
};

/* One quote. */
struct sample {
	double seconds, loops, steps;
	enum auc_reason reason;
};

/* What is quoted: jobs drawn from SEED. */
struct jobs {
	uint64_t seed;
	unsigned n;
	bool constant, busy;
	uint64_t *hard; /* by job: where the stream stands for the adversary's; NULL: none is */
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

/* Of workers, and of PSs. */
static unsigned types = TYPES_MAX;

static const char *const gpus[TYPES_MAX] = {"gpu:a100", "gpu:v100", "gpu:p100", "gpu:t4",
					    "gpu:k80"};

/* Edge servers with a few GPUs of one or two types; one in ten is of the cloud, with long uploads.
 * After TILE of them the same come again. */
static struct auc_market *make_market(unsigned servers, unsigned slots, unsigned tile)
{
	struct auc_market *m = auc_market_create(slots, 3600, 1);
	struct auc_price price = {.neta = 8};
	struct auc_named list[8];
	struct auc_err err = {0};
	uint64_t first = measure_random;
	char name[AUC_NAME_MAX];
	unsigned i, k, n;
	bool cloud;

	for (i = 0; i < servers; i++) {
		if (i % tile == 0)
			measure_random = first;
		cloud = i % 10 == 9;
		snprintf(name, sizeof(name), "%s%u", cloud ? "cloud" : "edge", i);
		n = 0;
		list[n++] = amount("cpu", cloud ? 256 : 16 * measure_pick(2, 6));
		list[n++] = amount("mem", cloud ? 1048576 : 65536 * measure_pick(2, 8));
		list[n++] = amount("disk", cloud ? 100000 : 1000 * measure_pick(1, 4));
		k = measure_pick(0, types - 1);
		list[n++] = amount(gpus[k], cloud ? 32 : 2 * measure_pick(1, 4));
		if (measure_uniform() < 0.5)
			list[n++] = amount(gpus[(k + 1 + measure_pick(0, types - 2)) % types],
					   cloud ? 16 : 2 * measure_pick(1, 2));
		must(auc_market_add_server(m, name, cloud ? "cloud" : "edge", cloud,
					   AUC_ROLE_WORKER | AUC_ROLE_PS, cloud ? 8 : 0, list, n,
					   &err),
		     &err);
	}
	for (i = 0; i < types; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		list[0] = amount("cpu", 2 + i % 3);
		list[1] = amount("mem", 8192 + 4096 * (i % 2));
		list[2] = amount(gpus[i], i == TYPES_MAX - 1 ? 0.5 : 1);
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
	for (i = 0; i < types; i++)
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
	for (i = 0; i < types; i++) {
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

/* GPU-slots of the market, and of PLAN. */
static double gpus_of_market(const struct auc_market *m)
{
	unsigned slots = (unsigned)(auc_market_last(m) - auc_market_first(m)) + 1;
	double all = 0;
	int k;

	for (unsigned i = 0; i < types; i++) {
		k = auc_market_find_tres(m, gpus[i]);
		for (unsigned s = 0; k >= 0 && s < auc_market_nservers(m); s++)
			all += auc_market_capacity(m, s, (unsigned)k) * slots;
	}
	return all;
}

static double gpus_of_plan(const struct auc_plan *plan)
{
	double each = plan->worker_type == TYPES_MAX - 1 ? 0.5 : 1, all = 0;

	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];

		for (unsigned i = 0; i < run->nshares; i++)
			all += each * plan->shares[run->first_share + i].workers *
			       (double)(run->to - run->from + 1);
	}
	return all;
}

/* Workers on one server for some slots. */
static void draw_piece(struct auc_plan *plan, const struct auc_market *m)
{
	unsigned slots = (unsigned)(auc_market_last(m) - auc_market_first(m)) + 1;
	unsigned d = measure_pick(1, slots < 40 ? slots : 40);
	struct auc_err err = {0};

	auc_plan_reset(plan);
	plan->worker_type = measure_pick(0, types - 1);
	plan->ps_type = 0;
	plan->start = auc_market_first(m) + measure_pick(0, slots - d);
	plan->completion = plan->start + d;
	must(auc_plan_add_run(plan, plan->start, plan->completion - 1, &err), &err);
	must(auc_plan_add_share(plan, measure_pick(0, auc_market_nservers(m) - 1),
				measure_pick(1, 4), 0, &err),
	     &err);
}

/* Reserves such until LOAD of the GPU-slots are used. */
static void fragment(struct auc_market *m, double load)
{
	unsigned slots = (unsigned)(auc_market_last(m) - auc_market_first(m)) + 1;
	double all = gpus_of_market(m), used = 0;
	struct auc_plan plan;

	auc_plan_init(&plan);
	auc_market_begin_bulk(m);
	while (used < load * all) {
		draw_piece(&plan, m);
		if (auc_market_book(m, &plan, plan.start, plan.completion, NULL) == AUC_OK)
			used += gpus_of_plan(&plan);
	}
	auc_market_end_bulk(m);
	auc_plan_clear(&plan);
	printf("%u servers x %u slots x %u x %u types, %u TRES: fragmented, %.0f %% of GPU-slots "
	       "used\n",
	       auc_market_nservers(m), slots, types, types, auc_market_ntres(m), 100 * used / all);
}

static int by(double x, double y)
{
	return (x > y) - (x < y);
}

static int by_seconds(const void *a, const void *b)
{
	return by(((const struct sample *)a)->seconds, ((const struct sample *)b)->seconds);
}

static int by_loops(const void *a, const void *b)
{
	return by(((const struct sample *)a)->loops, ((const struct sample *)b)->loops);
}

static int by_steps(const void *a, const void *b)
{
	return by(((const struct sample *)a)->steps, ((const struct sample *)b)->steps);
}

/* Books PLAN of a piece in all pieces of M that are whole. */
static void weave(struct auc_market *m, const struct auc_plan *plan)
{
	unsigned slots = (unsigned)(auc_market_last(m) - auc_market_first(m)) + 1, s, t, i;
	struct auc_plan copy;
	struct auc_err err = {0};

	auc_plan_init(&copy);
	for (s = 0; s + TILE_SERVERS <= auc_market_nservers(m); s += TILE_SERVERS)
		for (t = 0; t + TILE_SLOTS <= slots; t += TILE_SLOTS) {
			must(auc_plan_copy(&copy, plan, &err), &err);
			for (i = 0; i < copy.nshares; i++)
				copy.shares[i].server += s;
			for (i = 0; i < copy.nruns; i++) {
				copy.runs[i].from += t;
				copy.runs[i].to += t;
			}
			must(auc_market_book(m, &copy, plan->start + t, plan->completion + t, &err),
			     &err);
		}
	auc_plan_clear(&copy);
}

/* Sells random jobs until LOAD of the GPU-slots are used; each in WOVEN, too, if that is not NULL.
 */
static void sell(struct auc_market *m, struct auc_policy_ctx *ctx, struct auc_job *job, double load,
		 struct auc_market *woven)
{
	struct auc_err err = {0};
	struct auc_decision d;
	double start, booking = 0, all = gpus_of_market(m), used = 0;
	unsigned tries, sold = 0;

	auc_decision_init(&d);
	for (tries = 0; tries < TRIES_MAX && used < load * all; tries++) {
		make_job(job, m, 10);
		must(auc_policy_dps.quote(ctx, m, job, &d, &err), &err);
		if (!d.accepted)
			continue;
		sold++;
		start = measure_cpu();
		must(auc_market_book(m, &d.plan, d.plan.start, d.plan.completion, &err), &err);
		booking += measure_cpu() - start;
		used += gpus_of_plan(&d.plan);
		if (woven)
			weave(woven, &d.plan);
	}
	printf("%u servers x %.0f slots x %u x %u types, %u TRES: %u jobs sold, %.0f %% of "
	       "GPU-slots used\n",
	       auc_market_nservers(m), (double)(auc_market_last(m) - auc_market_first(m) + 1),
	       types, types, auc_market_ntres(m), sold, 100 * used / all);
	printf("  booking a plan %.1f us on average\n", sold ? 1e6 * booking / sold : 0);
	auc_decision_clear(&d);
}

/* The same in a piece of M. */
static void sell_woven(struct auc_market *m, struct auc_policy_ctx *ctx, struct auc_job *job,
		       double load, uint64_t seed)
{
	uint64_t random = measure_random;
	struct auc_market *piece;

	measure_random = seed;
	piece = make_market(TILE_SERVERS, TILE_SLOTS, TILE_SERVERS);
	measure_random = random;
	auc_market_begin_bulk(m);
	sell(piece, ctx, job, load, m);
	auc_market_end_bulk(m);
	auc_market_destroy(piece);
	printf("  woven to %u servers x %.0f slots\n", auc_market_nservers(m),
	       (double)(auc_market_last(m) - auc_market_first(m) + 1));
}

/* The job I of JOBS; the stream stands where the one before left it. */
static void next_job(struct auc_job *job, const struct auc_market *m, const struct jobs *jobs,
		     unsigned i)
{
	if (jobs->hard)
		measure_random = jobs->hard[i];
	make_job(job, m, 1);
	if (jobs->constant)
		job->utility.form = AUC_FORM_CONSTANT;
	if (jobs->hard)
		job->arrival = auc_market_first(m);
}

/* Finds the adversary's jobs. */
static void find_hard(struct auc_market *m, struct auc_policy_ctx *ctx, struct auc_job *job,
		      struct jobs *jobs)
{
	struct auc_err err = {0};
	struct auc_decision d;
	uint64_t most, at;

	jobs->hard = calloc(jobs->n, sizeof(*jobs->hard));
	if (!jobs->hard)
		exit(1);
	auc_decision_init(&d);
	for (unsigned i = 0; i < jobs->n; i++) {
		most = 0;
		for (unsigned tried = 0; tried < ADVERSARY; tried++) {
			at = jobs->hard[i];
			jobs->hard[i] = jobs->seed + (uint64_t)i * ADVERSARY + tried;
			next_job(job, m, jobs, i);
			must(auc_policy_dps.quote(ctx, m, job, &d, &err), &err);
			if (d.steps < most)
				jobs->hard[i] = at;
			else
				most = d.steps;
		}
	}
	auc_decision_clear(&d);
}

/* Quotes the first N of JOBS; PAYOFF is filled, or compared with if CHECK. The least time of this
 * pass and those before. */
static void run(struct auc_market *m, struct auc_policy_ctx *ctx, struct auc_job *job,
		const struct jobs *jobs, unsigned n, struct sample *samples, double *payoff,
		bool check)
{
	struct auc_err err = {0};
	struct auc_decision d;
	struct auc_plan piece;
	double start, got, seconds, loop = 0;
	unsigned i;
	bool booked;

	auc_decision_init(&d);
	auc_plan_init(&piece);
	measure_random = jobs->seed;
	for (i = 0; i < n; i++) {
		if (i % 16 == 0)
			loop = measure_loop();
		next_job(job, m, jobs, i);
		if (jobs->busy)
			draw_piece(&piece, m);
		booked = jobs->busy &&
			 auc_market_book(m, &piece, piece.start, piece.completion, NULL) == AUC_OK;
		start = measure_cpu();
		must(auc_policy_dps.quote(ctx, m, job, &d, &err), &err);
		seconds = measure_cpu() - start;
		if (booked)
			must(auc_market_unbook(m, &piece, piece.start, piece.completion, &err),
			     &err);
		samples[i].seconds = fmin(samples[i].seconds, seconds);
		samples[i].loops = fmin(samples[i].loops, seconds / loop);
		samples[i].steps = (double)d.steps;
		samples[i].reason = d.reason;
		got = d.reason == AUC_REASON_CAPACITY ? -INFINITY : d.best_payoff;
		if (check && got != payoff[i]) {
			fprintf(stderr, "quote: job %u: the reference says %.17g, not %.17g\n", i,
				got, payoff[i]);
			exit(1);
		}
		payoff[i] = got;
	}
	auc_plan_clear(&piece);
	auc_decision_clear(&d);
}

/* The same PASSES times, from the beginning. */
static void run_all(struct auc_market *m, struct auc_policy_ctx *ctx, struct auc_job *job,
		    const struct jobs *jobs, unsigned n, struct sample *samples, double *payoff,
		    bool check, unsigned passes)
{
	for (unsigned i = 0; i < n; i++)
		samples[i].seconds = samples[i].loops = INFINITY;
	for (unsigned i = 0; i < passes; i++)
		run(m, ctx, job, jobs, n, samples, payoff, check || i);
}

/* Books what the first N of JOBS buy and takes it out again: with what is quoted above, all of
 * that is the same afterwards. Both are timed as one. */
static void book(struct auc_market *m, struct auc_policy_ctx *ctx, struct auc_job *job,
		 const struct jobs *jobs, unsigned n)
{
	struct measure_series times = {.what = "booking, 2"};
	struct auc_err err = {0};
	struct auc_decision d;
	double start;

	auc_decision_init(&d);
	measure_random = jobs->seed;
	for (unsigned i = 0; i < n; i++) {
		next_job(job, m, jobs, i);
		must(auc_policy_dps.quote(ctx, m, job, &d, &err), &err);
		if (!d.accepted)
			continue;
		start = measure_cpu();
		must(auc_market_book(m, &d.plan, d.plan.start, d.plan.completion, &err), &err);
		must(auc_market_unbook(m, &d.plan, d.plan.start, d.plan.completion, &err), &err);
		measure_add(&times, measure_cpu() - start);
	}
	measure_print(&times);
	free(times.seconds);
	auc_decision_clear(&d);
}

/* Prints what N samples say; the p99 of each of their numbers. *TOTAL is their sum. */
static struct sample report(const char *what, struct sample *samples, unsigned n, double *total)
{
	unsigned counts[AUC_REASON_CAPACITY + 1] = {0}, i, p99 = (n * 99 + 99) / 100 - 1;
	struct sample at = {0};

	*total = 0;
	for (i = 0; i < n; i++) {
		counts[samples[i].reason]++;
		*total += samples[i].seconds;
	}
	qsort(samples, n, sizeof(*samples), by_loops);
	at.loops = samples[p99].loops;
	qsort(samples, n, sizeof(*samples), by_steps);
	at.steps = samples[p99].steps;
	qsort(samples, n, sizeof(*samples), by_seconds);
	at.seconds = samples[p99].seconds;
	printf("  %-10s median %8.1f us  p99 %8.1f us, %.2f loops, %.0f steps  worst %8.1f us  "
	       "mean %8.1f us  (%u quotes: %u accepted, %u payoff, %u capacity)\n",
	       what, 1e6 * samples[n / 2].seconds, 1e6 * at.seconds, at.loops, at.steps,
	       1e6 * samples[n - 1].seconds, 1e6 * *total / n, n, counts[AUC_REASON_NONE],
	       counts[AUC_REASON_PAYOFF], counts[AUC_REASON_CAPACITY]);
	return at;
}

/* True if within the limits. */
static bool bench(const struct options *o, unsigned servers)
{
	struct sample *samples = calloc(o->quotes, sizeof(*samples));
	double *payoff = calloc(o->quotes, sizeof(*payoff));
	double memory = measure_resident_mb(), total, reference;
	struct auc_policy_ctx *ctx, *plain;
	struct auc_job job = {.upload = calloc(servers, sizeof(unsigned)), .upload_alloc = servers};
	struct auc_err err = {0};
	uint64_t seed = measure_random;
	struct auc_market *m = make_market(servers, o->slots, o->woven ? TILE_SERVERS : servers);
	unsigned few = o->reference < o->quotes ? o->reference : o->quotes;
	struct jobs jobs = {.n = o->quotes, .constant = o->constant, .busy = o->busy};
	struct sample p99;

	must(auc_policy_dps.create("", &ctx, &err), &err);
	must(auc_policy_dps.create("bounds=off", &plain, &err), &err);
	if (o->fragmented)
		fragment(m, o->load);
	else if (o->woven)
		sell_woven(m, ctx, &job, o->load, seed);
	else
		sell(m, ctx, &job, o->load, NULL);
	jobs.seed = measure_random;
	if (o->adversary)
		find_hard(m, ctx, &job, &jobs);
	run_all(m, ctx, &job, &jobs, o->quotes, samples, payoff, false, o->passes);
	memory = measure_resident_mb() - memory;
	p99 = report("quote", samples, o->quotes, &total);
	printf("  limit: reading 8 bytes takes %.2f ns, the p99's time a step %.2f ns\n",
	       1e9 * measure_read(), 1e9 * p99.seconds / p99.steps);
	if (few) {
		run_all(m, plain, &job, &jobs, few, samples, payoff, true, 1);
		report("reference", samples, few, &reference);
		run_all(m, ctx, &job, &jobs, few, samples, payoff, true, 1);
		report("same jobs", samples, few, &total);
		printf("  reference / quote: %.1f on average\n", reference / total);
	}
	book(m, ctx, &job, &jobs, o->quotes < BOOKINGS ? o->quotes : BOOKINGS);
	printf("  memory grown by %.1f MB\n", memory);
	auc_policy_dps.destroy(ctx);
	auc_policy_dps.destroy(plain);
	auc_job_clear(&job);
	auc_market_destroy(m);
	free(jobs.hard);
	free(samples);
	free(payoff);
	return p99.seconds * 1e3 <= o->p99_ms && p99.loops <= o->loops && p99.steps <= o->steps &&
	       memory <= o->memory_mb;
}

static bool can_be(const struct options *o, unsigned servers)
{
	if (o->woven && (servers < TILE_SERVERS || o->slots < TILE_SLOTS))
		return false;
	return o->slots && o->slots <= AUC_SLOTS_MAX && o->quotes && o->passes && types >= 2 &&
	       types <= TYPES_MAX;
}

int main(int argc, char **argv)
{
	struct options o = {.slots = 150,
			    .quotes = 2000,
			    .reference = 100,
			    .passes = 3,
			    .load = 0.7,
			    .loops = INFINITY,
			    .steps = INFINITY,
			    .p99_ms = INFINITY,
			    .memory_mb = INFINITY};
	unsigned servers[16] = {50, 100, 300}, nservers = 0, i;
	bool ok = true;
	int c;

	while ((c = getopt(argc, argv, "s:t:T:q:r:l:S:n:p:x:k:m:fcawb")) != -1) {
		if (c == 's' && nservers < 16)
			servers[nservers++] = (unsigned)atoi(optarg);
		else if (c == 't')
			o.slots = (unsigned)atoi(optarg);
		else if (c == 'T')
			types = (unsigned)atoi(optarg);
		else if (c == 'q')
			o.quotes = (unsigned)atoi(optarg);
		else if (c == 'r')
			o.reference = (unsigned)atoi(optarg);
		else if (c == 'f')
			o.fragmented = true;
		else if (c == 'c')
			o.constant = true;
		else if (c == 'a')
			o.adversary = true;
		else if (c == 'n')
			o.passes = (unsigned)atoi(optarg);
		else if (c == 'w')
			o.woven = true;
		else if (c == 'b')
			o.busy = true;
		else if (c == 'x')
			o.loops = atof(optarg);
		else if (c == 'k')
			o.steps = atof(optarg);
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
	nservers = nservers ? nservers : 3;
	for (i = 0; i < nservers; i++)
		if (!can_be(&o, servers[i]))
			return 2;
	for (i = 0; i < nservers; i++)
		ok = bench(&o, servers[i]) && ok;
	return ok ? 0 : 1;
}
