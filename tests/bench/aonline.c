/*
 * aonline.c - how long policy aonline takes for a job and for a slot.
 *
 *   aonline [-f FACTOR]... [-r REFERENCE_JOBS] [-w WORK] [-S SEED]
 *
 * The setting of its paper: 100 edge servers of 2 to 8 workers of 8 types, a cloud, 300 jobs that
 * arrive in 200 slots; and FACTOR (default 1 and 10) times as many servers and jobs. WORK (default
 * 0.1) scales the length of the jobs: at 1, the paper's, nearly all of them go to the cloud. What
 * is timed is every arrival, which dispatches all chunks of a job, and every slot. The reference is
 * the same algorithm without the guard, written plainly (unit/aonref.c), with the first
 * REFERENCE_JOBS (default 300) of the same jobs; both must agree on when each job is complete. The
 * floor is what no dispatch can do without, and nothing else: it remembers the job, its chunks and
 * times of transport, and looks once at each worker of its type, in memory of the same size, as
 * long as the policy.
 * Times are CPU time of the thread, so that other programs on the machine do not count.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/support/aonref.h"
#include "bench/measure.h"
#include "policy/aonline/aonline-private.h"

#define TYPES     8
#define SLOTS     9000
#define CLOUD     1000000
#define BANDWIDTH 1000

struct world {
	unsigned servers, jobs;
	double work;
	struct auc_market *m;
	unsigned nworkers;
	unsigned (*counts)[TYPES]; /* workers by server and type */
	unsigned *server, *type;   /* by worker, in the order of servers and types */
	struct auc_job *wishes;    /* in the order of arrival */
	unsigned *wish_type;
	auc_slot *completion;
};

struct times {
	double arrive, most, slots;
	unsigned n, nslots;
};

static void must(enum auc_code rc, const struct auc_err *err)
{
	measure_must("aonline", rc, err);
}

static void add_types(struct world *w)
{
	struct auc_err err = {.text = ""};
	struct auc_named tres = {.value = 1};
	unsigned k;

	for (k = 0; k < TYPES; k++) {
		snprintf(tres.name, sizeof(tres.name), "w%u", k);
		must(auc_market_add_worker_type(w->m, tres.name, &tres, 1, BANDWIDTH, &err), &err);
	}
	strcpy(tres.name, "p");
	must(auc_market_add_ps_type(w->m, "p", &tres, 1, BANDWIDTH, &err), &err);
}

static void make_workers(struct world *w)
{
	unsigned s, n, k;

	w->counts = calloc(w->servers + 1, sizeof(*w->counts));
	w->server = calloc(w->servers * 8, sizeof(*w->server));
	w->type = calloc(w->servers * 8, sizeof(*w->type));
	for (s = 0; s < w->servers; s++) {
		for (n = measure_pick(2, 8); n > 0; n--)
			w->counts[s][measure_pick(0, TYPES - 1)]++;
		for (k = 0; k < TYPES; k++)
			for (n = 0; n < w->counts[s][k]; n++) {
				w->server[w->nworkers] = s;
				w->type[w->nworkers++] = k;
			}
	}
}

/* Slot 1 alone; each run moves it on. */
static void make_market(struct world *w)
{
	static const struct auc_price none;
	struct auc_named capacity[TYPES + 1];
	struct auc_err err = {.text = ""};
	unsigned s, k;
	char name[20];

	auc_market_destroy(w->m);
	w->m = auc_market_create(1, 3600, 1);
	for (s = 0; s <= w->servers; s++) {
		for (k = 0; k < TYPES; k++) {
			snprintf(capacity[k].name, sizeof(capacity[k].name), "w%u", k);
			capacity[k].value = s < w->servers ? w->counts[s][k] : CLOUD;
		}
		capacity[TYPES] = (struct auc_named){"p", s < w->servers ? 100 : CLOUD};
		snprintf(name, sizeof(name), "s%u", s);
		must(auc_market_add_server(w->m, name, "g", s == w->servers, 3, 0, capacity,
					   TYPES + 1, &err),
		     &err);
	}
	add_types(w);
	must(auc_market_ready(w->m, &none, &err), &err);
	auc_market_begin_bulk(w->m);
}

static int compare_arrival(const void *a, const void *b)
{
	const struct auc_job *x = a, *y = b;

	return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

static void make_jobs(struct world *w)
{
	static const unsigned chunks[] = {27, 115, 60};
	struct auc_job *j;
	unsigned i, k;

	w->wishes = calloc(w->jobs, sizeof(*w->wishes));
	w->wish_type = calloc(w->jobs, sizeof(*w->wish_type));
	w->completion = calloc(w->jobs, sizeof(*w->completion));
	for (i = 0; i < w->jobs; i++) {
		j = &w->wishes[i];
		j->arrival = measure_pick(1, 200);
		j->epochs = measure_pick(20, 60);
		j->chunks = chunks[measure_pick(0, 2)];
		j->minibatches = 58;
		j->gradient_mb = measure_pick(30, 575);
		j->chunk_mb = 2;
		for (k = 0; k < AUC_TYPES_MAX; k++)
			j->worker_seconds[k] = j->ps_seconds[k] = -1;
		j->worker_seconds[measure_pick(0, TYPES - 1)] =
			w->work * 3600 * (0.001 + 0.049 * measure_uniform());
		j->ps_seconds[0] = 0.01 + 0.09 * measure_uniform();
		j->upload = calloc(w->servers + 1, sizeof(*j->upload));
		for (k = 0; k < w->servers; k++)
			j->upload[k] = measure_pick(1, 4);
		j->upload[w->servers] = measure_pick(10, 15);
	}
	qsort(w->wishes, w->jobs, sizeof(*w->wishes), compare_arrival);
	for (i = 0; i < w->jobs; i++)
		while (w->wishes[i].worker_seconds[w->wish_type[i]] < 0)
			w->wish_type[i]++;
}

static void run_policy(struct world *w, unsigned jobs, const char *options, struct times *times)
{
	const struct auc_layout *layouts;
	struct auc_stepper_ctx *ctx;
	struct auc_err err = {.text = ""};
	enum auc_reason reason;
	unsigned next = 0, done = 0, i, n, came;
	double before, after;
	auc_slot t;

	make_market(w);
	must(auc_stepper_aonline.create(options, &ctx, &err), &err);
	for (t = 1; done < jobs && t < SLOTS; t++) {
		for (came = next; came < jobs && w->wishes[came].arrival == t; came++)
			;
		before = measure_cpu();
		for (; next < came; next++) {
			must(auc_stepper_aonline.arrive(ctx, w->m, next, &w->wishes[next], &reason,
							&err),
			     &err);
			if (reason != AUC_REASON_NONE)
				must(AUC_EFULL, &err);
		}
		after = measure_cpu();
		times->arrive += after - before;
		must(auc_stepper_aonline.step(ctx, w->m, t, &layouts, &n, &err), &err);
		times->slots += measure_cpu() - after;
		for (i = 0; i < n; i++)
			if (layouts[i].last) {
				w->completion[layouts[i].id] = t + 1;
				done++;
			}
		auc_market_advance(w->m, t + 1);
	}
	times->n += jobs;
	times->nslots += (unsigned)t - 1;
	auc_stepper_aonline.destroy(ctx);
}

/* Slots of a chunk. */
static int chunk_slots(const struct world *w, unsigned job, bool together)
{
	const struct auc_job *j = &w->wishes[job];
	double seconds = j->worker_seconds[w->wish_type[job]] + j->ps_seconds[0];

	if (!together)
		seconds += 2 * j->gradient_mb * 8 / BANDWIDTH;
	return (int)fmax(1,
			 ceil((double)j->epochs * (double)j->minibatches * seconds / 3600 - 1e-9));
}

static void run_reference(struct world *w, unsigned jobs, struct times *times, unsigned *differ)
{
	struct aonref *ref = aonref_make((int)w->nworkers);
	int *delay = calloc(w->nworkers + 1, sizeof(*delay)), t;
	unsigned next = 0, i;
	double before;
	bool busy = true;

	for (t = 1; t < SLOTS && busy; t++) {
		for (; next < jobs && w->wishes[next].arrival == t; next++) {
			for (i = 0; i < w->nworkers; i++)
				delay[i] = w->type[i] == w->wish_type[next]
						   ? (int)w->wishes[next].upload[w->server[i]]
						   : AONREF_FAR;
			before = measure_cpu();
			aonref_arrive(ref, t, (int)w->wishes[next].chunks,
				      chunk_slots(w, next, false), chunk_slots(w, next, true),
				      delay, (int)w->wishes[next].upload[w->servers]);
			times->arrive += measure_cpu() - before;
		}
		before = measure_cpu();
		aonref_step(ref, t);
		times->slots += measure_cpu() - before;
		for (i = 0, busy = next < jobs; i < next; i++)
			busy = busy || !ref->jobs[i].completion;
	}
	times->n += jobs;
	times->nslots += (unsigned)t - 1;
	for (i = 0; i < jobs; i++)
		*differ += ref->jobs[i].completion != w->completion[i];
	free(delay);
	aonref_free(ref);
}

/* What is remembered of job I. */
static struct aon_job *remember(const struct world *w, unsigned i)
{
	size_t chunks = w->wishes[i].chunks * sizeof(struct aon_chunk);
	size_t uploads = (w->servers + 1) * sizeof(unsigned);
	struct aon_job *j = malloc(sizeof(*j) + chunks + uploads);

	if (!j)
		exit(EXIT_FAILURE);
	memset(j, 0, sizeof(*j) + chunks);
	j->chunks = (struct aon_chunk *)(j + 1);
	j->upload = memcpy(j->chunks + w->wishes[i].chunks, w->wishes[i].upload, uploads);
	return j;
}

/* All workers, those of each type one after the other: TYPES + 1 places in FIRST. */
static struct aon_brief *make_briefs(const struct world *w, unsigned *first)
{
	struct aon_brief *briefs = calloc(w->nworkers, sizeof(*briefs));
	unsigned i, k, n = 0;

	for (k = 0; k < TYPES; k++) {
		first[k] = n;
		for (i = 0; i < w->nworkers; i++)
			if (w->type[i] == k)
				briefs[n++].server = w->server[i];
	}
	first[TYPES] = n;
	return briefs;
}

/* Jobs come, and go when they were complete. */
static void run_floor(const struct world *w, struct times *times)
{
	struct aon_job **jobs = calloc(w->jobs, sizeof(struct aon_job *));
	unsigned first[TYPES + 1], i, k, came = 0;
	struct aon_brief *briefs = make_briefs(w, first);
	volatile int64_t sink;
	int64_t sum, left;
	double before;
	auc_slot t;

	for (t = 1; t < SLOTS && came < w->jobs; t++) {
		before = measure_cpu();
		for (; came < w->jobs && w->wishes[came].arrival == t; came++) {
			jobs[came] = remember(w, came);
			sum = 0;
			for (k = first[w->wish_type[came]]; k < first[w->wish_type[came] + 1];
			     k++) {
				left = briefs[k].left + jobs[came]->upload[briefs[k].server];
				sum += left < briefs[k].all ? left : briefs[k].ready;
			}
			sink = sum;
		}
		times->arrive += measure_cpu() - before;
		for (i = 0; i < came; i++)
			if (w->completion[i] == t + 1) {
				free(jobs[i]);
				jobs[i] = NULL;
			}
	}
	(void)sink;
	times->n += w->jobs;
	times->nslots += (unsigned)t - 1;
	for (i = 0; i < w->jobs; i++)
		free(jobs[i]);
	free(jobs);
	free(briefs);
}

static void report(const char *what, const struct times *t)
{
	printf("  %-34s %5u jobs: %9.2f us a job, %9.2f us a slot\n", what, t->n,
	       t->arrive * 1e6 / t->n, t->slots * 1e6 / t->nslots);
}

static unsigned bench(unsigned factor, unsigned reference, double work)
{
	struct world w = {.servers = 100 * factor, .jobs = 300 * factor, .work = work};
	struct times guarded = {0}, printed = {0}, short_run = {0}, plain = {0}, bare = {0};
	unsigned differ = 0, i;

	make_workers(&w);
	make_jobs(&w);
	run_policy(&w, w.jobs, "", &guarded);
	run_floor(&w, &bare);
	run_policy(&w, w.jobs, "guard=none", &printed);
	if (reference > w.jobs)
		reference = w.jobs;
	run_policy(&w, reference, "guard=none", &short_run);
	run_reference(&w, reference, &plain, &differ);
	printf("%u servers, %u workers, %u jobs, %u and %u slots\n", w.servers, w.nworkers, w.jobs,
	       guarded.nslots, printed.nslots);
	report("aonline", &guarded);
	report("aonline,guard=none", &printed);
	report("aonline,guard=none", &short_run);
	report("reference", &plain);
	report("floor", &bare);
	if (differ)
		printf("  %u jobs are complete at another time than in the reference\n", differ);
	for (i = 0; i < w.jobs; i++)
		free(w.wishes[i].upload);
	free(w.wishes);
	free(w.wish_type);
	free(w.completion);
	free(w.counts);
	free(w.server);
	free(w.type);
	auc_market_destroy(w.m);
	return differ;
}

int main(int argc, char **argv)
{
	unsigned factors[16], nfactors = 0, reference = 300, differ = 0, i;
	uint64_t seed = 1;
	double work = 0.1;
	int c;

	while ((c = getopt(argc, argv, "f:r:w:S:")) != -1)
		switch (c) {
		case 'f':
			if (nfactors < 16 && strtoul(optarg, NULL, 10))
				factors[nfactors++] = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'r':
			reference = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'w':
			work = strtod(optarg, NULL);
			break;
		case 'S':
			seed = strtoull(optarg, NULL, 10);
			break;
		default:
			fprintf(stderr, "usage: aonline [-f FACTOR]... [-r REFERENCE_JOBS] "
					"[-w WORK] [-S SEED]\n");
			return 2;
		}
	if (!nfactors) {
		factors[nfactors++] = 1;
		factors[nfactors++] = 10;
	}
	for (i = 0; i < nfactors; i++) {
		measure_random = seed;
		differ += bench(factors[i], reference, work);
	}
	return differ ? EXIT_FAILURE : EXIT_SUCCESS;
}
