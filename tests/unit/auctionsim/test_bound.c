/*
 * test_bound.c - on random small scenarios: no policy is better than offline, offline is no better
 * than the bound, the bound is verified by other code; and on the smallest offline is what brute
 * force finds.
 *
 * The brute force shares nothing with the others: it works on the integers of struct small (amounts
 * in tenths, durations as exact fractions), lists every schedule of every job, each split of the
 * workers over the servers apart, and tries all combinations.
 *
 * AUC_TEST_SCENARIOS and AUC_TEST_SEED in the environment, or two arguments, give the number of
 * scenarios and the first seed.
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

#include "pricing/dual/dual.h"
#include "pricing/dual/dual_prices.h"
#include "auctionsim/bound/proof.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"
#include "unit/support/tiny.h"
#include "auctionsim/bound/verify.h"
#include "auctionsim/scenario/scenario_market.h"

#define SCENARIOS 300
#define SERVERS   3
#define SLOTS     7
#define TYPES     2
#define JOBS      6
#define TRES      2 /* gpu, cpu */

static unsigned scenarios = SCENARIOS;
static uint64_t first_seed = 1, seed_now;

struct small_job {
	int arrival, form, scale, slope, deadline;
	int epochs, chunks, minibatches, gradient;    /* tenths of MB */
	int worker_seconds[TYPES], ps_seconds[TYPES]; /* tenths; < 0: not allowed */
	int upload[SERVERS];
	int own; /* the worker type that is this job's own; < 0: none */
};

struct small {
	int servers, slots, workers, ps, jobs;
	int capacity[SERVERS][TRES]; /* tenths */
	int used[SERVERS][TRES][SLOTS];
	int hosts_workers[SERVERS], hosts_ps[SERVERS];
	int worker[TYPES][TRES], pst[TYPES][TRES], worker_mbps[TYPES], ps_mbps[TYPES];
	struct small_job job[JOBS];
};

static const char *const tres_names[TRES] = {"gpu", "cpu"};

/* No two draws in one expression: their order would be the compiler's choice. */
static void make_job(struct small *m, struct small_job *j, struct tiny_random *r)
{
	int i;

	j->arrival = tiny_int(r, 1, m->slots - 1);
	if (tiny_chance(r, 0.03))
		j->arrival = m->slots + 1;
	j->form = tiny_int(r, 0, 2);
	j->scale = tiny_int(r, 1, 100);
	j->slope = tiny_int(r, 0, 20);
	j->deadline = tiny_int(r, 1, m->slots);
	j->epochs = tiny_int(r, 1, 3);
	j->chunks = tiny_int(r, 1, 4);
	j->minibatches = tiny_int(r, 1, 5);
	j->gradient = tiny_int(r, 0, 50);
	for (i = 0; i < TYPES; i++) {
		j->worker_seconds[i] = tiny_int(r, 1, 60);
		j->ps_seconds[i] = tiny_int(r, 0, 10);
	}
	if (tiny_chance(r, 0.3))
		j->worker_seconds[1] = -1;
	if (tiny_chance(r, 0.3))
		j->ps_seconds[0] = -1;
	for (i = 0; i < m->servers; i++)
		j->upload[i] = tiny_chance(r, 0.7) ? 0 : tiny_int(r, 1, 2);
	j->own = tiny_chance(r, 0.15) ? 0 : -1;
}

static void make(struct small *m, struct tiny_random *r)
{
	int s, k, t, i;

	memset(m, 0, sizeof(*m));
	m->servers = tiny_int(r, 1, SERVERS);
	m->slots = tiny_int(r, 2, SLOTS);
	m->workers = tiny_int(r, 1, TYPES);
	m->ps = tiny_int(r, 1, TYPES);
	m->jobs = tiny_int(r, 1, JOBS);
	for (s = 0; s < m->servers; s++) {
		m->capacity[s][0] = 3 * tiny_int(r, 1, 12);
		m->capacity[s][1] = 10 * tiny_int(r, 1, 8);
		m->hosts_workers[s] = tiny_chance(r, 0.9);
		m->hosts_ps[s] = !m->hosts_workers[s] || tiny_chance(r, 0.8);
		for (k = 0; k < TRES && tiny_chance(r, 0.3); k++)
			for (t = tiny_int(r, 0, m->slots - 1); t < m->slots; t++)
				m->used[s][k][t] = m->capacity[s][k] / 2;
	}
	for (i = 0; i < TYPES; i++) {
		m->worker[i][0] = tiny_chance(r, 0.5) ? 3 : 10;
		m->worker[i][1] = tiny_chance(r, 0.5) ? 10 : 5;
		m->pst[i][1] = 5 * tiny_int(r, 1, 3);
		m->worker_mbps[i] = 10 * tiny_int(r, 1, 4);
		m->ps_mbps[i] = 10 * tiny_int(r, 1, 8);
	}
	for (i = 0; i < m->jobs; i++)
		make_job(m, &m->job[i], r);
}

/* -- as a scenario -- */

static void print_type(FILE *f, const char *name, int i, const int *amount, int mbps)
{
	fprintf(f,
		"{\"name\": \"%s%d\", \"tres\": {\"gpu\": %d.%d, \"cpu\": %d.%d}, "
		"\"bandwidth_mbps\": %d}",
		name, i, amount[0] / 10, amount[0] % 10, amount[1] / 10, amount[1] % 10, mbps);
}

static void print_job(FILE *f, const struct small *m, const struct small_job *j, int index)
{
	const char *sep = "";
	int i;

	fprintf(f,
		"{\"id\": \"j%d\", \"arrival\": %d, \"epochs\": %d, \"chunks\": %d, "
		"\"minibatches\": %d, \"gradient_mb\": %d.%d, ",
		index, j->arrival, j->epochs, j->chunks, j->minibatches, j->gradient / 10,
		j->gradient % 10);
	if (j->form == 0)
		fprintf(f, "\"utility\": {\"form\": \"constant\", \"scale\": %d}, ", j->scale);
	else if (j->form == 1)
		fprintf(f,
			"\"utility\": {\"form\": \"linear\", \"intercept\": %d, \"slope\": %d}, ",
			j->scale, j->slope);
	else
		fprintf(f,
			"\"utility\": {\"form\": \"deadline\", \"scale\": %d, \"deadline\": %d}, ",
			j->scale, j->deadline);
	if (j->own >= 0) {
		fputs("\"worker_types\": [", f);
		print_type(f, "own", j->own, m->worker[j->own], m->worker_mbps[j->own]);
		fputs("], ", f);
	}
	fputs("\"worker_seconds\": {", f);
	for (i = 0; i < m->workers; i++)
		if (j->worker_seconds[i] >= 0) {
			fprintf(f, "%s\"%s%d\": %d.%d", sep, i == j->own ? "own" : "w", i,
				j->worker_seconds[i] / 10, j->worker_seconds[i] % 10);
			sep = ", ";
		}
	fputs("}, \"ps_seconds\": {", f);
	for (sep = "", i = 0; i < m->ps; i++)
		if (j->ps_seconds[i] >= 0) {
			fprintf(f, "%s\"p%d\": %d.%d", sep, i, j->ps_seconds[i] / 10,
				j->ps_seconds[i] % 10);
			sep = ", ";
		}
	fputs("}, \"upload_slots\": {", f);
	for (i = 0; i < m->servers; i++)
		fprintf(f, "%s\"s%d\": %d", i ? ", " : "", i, j->upload[i]);
	fputs("}}", f);
}

static char *print_scenario(const struct small *m, bool dear)
{
	const char *sep = "";
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int i, k, t;

	fprintf(f,
		"{\"format\": \"auction-scenario/1\", \"name\": \"small\", \"slots\": %d, "
		"\"slot_seconds\": 10, \"worker_types\": [",
		m->slots);
	for (i = 0; i < m->workers; i++) {
		fputs(i ? ", " : "", f);
		print_type(f, "w", i, m->worker[i], m->worker_mbps[i]);
	}
	fputs("], \"ps_types\": [", f);
	for (i = 0; i < m->ps; i++) {
		fputs(i ? ", " : "", f);
		print_type(f, "p", i, m->pst[i], m->ps_mbps[i]);
	}
	fputs("], \"servers\": [", f);
	for (i = 0; i < m->servers; i++)
		fprintf(f,
			"%s{\"name\": \"s%d\", \"roles\": [%s%s%s], \"capacity\": {\"gpu\": %d.%d, "
			"\"cpu\": %d.%d}}",
			i ? ", " : "", i, m->hosts_workers[i] ? "\"worker\"" : "",
			m->hosts_workers[i] && m->hosts_ps[i] ? ", " : "",
			m->hosts_ps[i] ? "\"ps\"" : "", m->capacity[i][0] / 10,
			m->capacity[i][0] % 10, m->capacity[i][1] / 10, m->capacity[i][1] % 10);
	fputs("], \"jobs\": [", f);
	for (i = 0; i < m->jobs; i++) {
		fputs(i ? ", " : "", f);
		print_job(f, m, &m->job[i], i);
	}
	fputs("], \"state\": [", f);
	for (i = 0; i < m->servers; i++)
		for (k = 0; k < TRES; k++)
			for (t = 0; t < m->slots; t++)
				if (m->used[i][k][t]) {
					fprintf(f,
						"%s{\"server\": \"s%d\", \"tres\": \"%s\", "
						"\"from\": %d, \"to\": %d, \"used\": %d.%d}",
						sep, i, tres_names[k], t + 1, t + 1,
						m->used[i][k][t] / 10, m->used[i][k][t] % 10);
					sep = ", ";
				}
	fprintf(f, "]%s}",
		dear ? ", \"prices\": {\"mode\": \"eta\", \"eta\": {\"gpu\": 30, \"cpu\": 4}}"
		     : "");
	fclose(f);
	return text;
}

/* -- brute force -- */

/* What is left, and the best total so far. */
struct brute {
	const struct small *m;
	int left[SERVERS][TRES][SLOTS];
	double highest[JOBS + 1]; /* of the jobs from this one on, each alone */
	double best, total;
	int job, worker, ps, n, start, d, colocated, ps_server, split[SERVERS];
};

static int up(int64_t a, int64_t b)
{
	return (int)((a + b - 1) / b);
}

static double value_of(const struct small_job *j, int x)
{
	if (j->form == 0)
		return j->scale;
	if (j->form == 1)
		return j->scale > j->slope * x ? j->scale - j->slope * x : 0;
	return x <= j->deadline ? j->scale : 0;
}

/* Takes (by 1) or gives back (by -1) the schedule at hand. False, with nothing taken: it does not
 * fit. */
static bool take(struct brute *b, int by, int z)
{
	const struct small *m = b->m;
	int s, k, t, amount, pass;

	for (pass = by > 0 ? 0 : 1; pass < 2; pass++)
		for (s = 0; s < m->servers; s++)
			for (k = 0; k < TRES; k++) {
				amount = b->split[s] * m->worker[b->worker][k] +
					 (s == b->ps_server ? z * m->pst[b->ps][k] : 0);
				for (t = b->start - 1; t < b->start - 1 + b->d; t++)
					if (pass)
						b->left[s][k][t] -= by * amount;
					else if (amount > b->left[s][k][t])
						return false;
			}
	return true;
}

static void plan_from(struct brute *b, int job);

/* The schedule at hand, if it is one, and then the jobs after it. */
static void try_schedule(struct brute *b)
{
	const struct small_job *j = &b->m->job[b->job];
	int elsewhere = b->n - b->split[b->ps_server], z = 1, s;
	double value = value_of(j, b->start + b->d - j->arrival);
	struct brute kept;

	if (b->colocated != !elsewhere || !(value > 0))
		return;
	if (elsewhere) {
		z = up((int64_t)b->m->worker_mbps[b->worker] * elsewhere, b->m->ps_mbps[b->ps]);
		z = z > 1 ? z : 1;
	}
	for (s = 0; s < b->m->servers; s++)
		if ((b->split[s] || s == b->ps_server) &&
		    (b->start < j->arrival + j->upload[s] ||
		     (b->split[s] && !b->m->hosts_workers[s]) ||
		     (s == b->ps_server && !b->m->hosts_ps[s])))
			return;
	if (!take(b, 1, z))
		return;
	kept = *b;
	b->total += value;
	plan_from(b, b->job + 1);
	kept.best = b->best;
	*b = kept;
	take(b, -1, z);
}

static void split_from(struct brute *b, int s, int left)
{
	if (s == b->m->servers) {
		for (b->ps_server = 0; !left && b->ps_server < b->m->servers; b->ps_server++)
			try_schedule(b);
		return;
	}
	for (b->split[s] = 0; b->split[s] <= left; b->split[s]++)
		split_from(b, s + 1, left - b->split[s]);
	b->split[s] = 0;
}

static void plan_from(struct brute *b, int job)
{
	const struct small_job *j = &b->m->job[job];
	int64_t time, mbps;

	if (b->total > b->best)
		b->best = b->total;
	if (job == b->m->jobs || b->total + b->highest[job] <= b->best)
		return;
	b->job = job;
	for (b->worker = 0; b->worker < b->m->workers; b->worker++)
		for (b->ps = 0; b->ps < b->m->ps; b->ps++)
			for (b->colocated = 0; b->colocated < 2; b->colocated++)
				for (b->n = 1; b->n <= j->chunks; b->n++) {
					if (j->worker_seconds[b->worker] < 0 ||
					    j->ps_seconds[b->ps] < 0)
						continue;
					mbps = b->m->worker_mbps[b->worker];
					time = (j->worker_seconds[b->worker] +
						j->ps_seconds[b->ps]) *
						       mbps +
					       (b->colocated ? 0 : 16 * j->gradient);
					b->d = up((int64_t)j->epochs * j->chunks * j->minibatches *
							  time,
						  10 * mbps * b->n * 10);
					b->d = b->d > 1 ? b->d : 1;
					for (b->start = j->arrival;
					     b->start + b->d <= b->m->slots + 1; b->start++)
						split_from(b, 0, b->n);
				}
	plan_from(b, job + 1);
}

static double brute_force(const struct small *m)
{
	struct brute b = {.m = m};
	int s, k, t, i;

	for (s = 0; s < m->servers; s++)
		for (k = 0; k < TRES; k++)
			for (t = 0; t < m->slots; t++)
				b.left[s][k][t] = m->capacity[s][k] - m->used[s][k][t];
	for (i = m->jobs - 1; i >= 0; i--)
		b.highest[i] = b.highest[i + 1] + value_of(&m->job[i], 1);
	plan_from(&b, 0);
	return b.best;
}

/* -- the others -- */

static void must(enum auc_code rc, const struct auc_err *err)
{
	if (rc != AUC_OK)
		fail_msg("seed %llu: %s", (unsigned long long)seed_now, err->text);
}

static double welfare(const struct scenario *s, const char *policy)
{
	struct result result = {0};
	struct auc_err err = {0};
	double sum;

	must(replay_run(s, policy, 1, NULL, NULL, &result, &err), &err);
	sum = result.welfare;
	result_clear(&result);
	return sum;
}

/* The bound at the dual's prices by the other code. */
static double verified(const struct scenario *s, const struct auc_market *m,
		       const struct auc_dual *d)
{
	struct proof *p = proof_create(s, auc_market_nservers(m) * auc_market_ntres(m));
	struct auc_err err = {0};
	struct proof_row *row;
	unsigned i, k, t, wrong;
	long double bound;

	assert_non_null(p);
	p->policy = strdup("dps");
	for (row = p->rows, i = 0; i < auc_market_nservers(m); i++)
		for (k = 0; k < auc_market_ntres(m); k++, row++) {
			row->server = i;
			strcpy(row->tres, auc_market_tres_name(m, k));
			for (t = 0; t < s->slots; t++)
				row->price[t] = auc_dual_price(d, i, k, (auc_slot)t + 1);
		}
	must(verify_bound(s, p, &bound, &wrong, &err), &err); /* payoffs are 0: all is searched */
	proof_free(p);
	return (double)bound;
}

static double bound_of(const struct scenario *s)
{
	static const struct auc_dual_phase phases[] = {{AUC_DUAL_CLASSES, 12, 0.05, 0.01},
						       {AUC_DUAL_SERVERS, 12, 0.02, 0.005}};
	struct auc_dual_job jobs[JOBS] = {{0}};
	struct auc_job resolved[JOBS] = {{0}};
	struct auc_market *m = NULL;
	struct auc_dual *d = NULL;
	struct auc_err err = {0};
	unsigned i, phase;
	double bound, again, before = INFINITY;

	must(scenario_market_create(s, NULL, &m, &err), &err);
	must(scenario_market_state(s, m, &err), &err);
	for (i = 0; i < s->njobs; i++) {
		must(scenario_market_job(s, &s->jobs[i], m, &resolved[i], &err), &err);
		jobs[i] = (struct auc_dual_job){.job = &resolved[i], .weight = 1};
		if (scenario_market_is_own(&s->jobs[i]))
			must(scenario_market_create(s, &s->jobs[i], &jobs[i].own, &err), &err);
	}
	must(auc_dual_create(m, &auc_policy_dps, "", jobs, s->njobs, &d, &err), &err);
	for (phase = 0; phase < 2; phase++) {
		must(auc_dual_begin(d, &phases[phase], &err), &err);
		while (auc_dual_left(d)) {
			must(auc_dual_step(d, &err), &err);
			assert_true(auc_dual_bound(d) <= before);
			before = auc_dual_bound(d);
		}
	}
	bound = auc_dual_bound(d);
	again = verified(s, m, d);
	/* the dual's is certified by margins, so that it is the higher one, but not by much */
	assert_true(again <= bound);
	assert_true(again >= bound - 1e-6 * (1 + bound));
	auc_dual_destroy(d);
	for (i = 0; i < s->njobs; i++) {
		auc_job_clear(&resolved[i]);
		auc_market_destroy(jobs[i].own);
	}
	auc_market_destroy(m);
	return bound;
}

static void test_property(void **state)
{
	static const char *const policies[] = {"dps",  "dps,variant=paper",      "unpriced",
					       "fifo", "fifo,reading=reserving", "drf"};
	unsigned i, k, brute = 0, below = 0, tight = 0;
	struct tiny_random r;
	struct auc_err err = {0};
	struct scenario *s;
	struct small m;
	double best = 0, bound, got, truth;
	char *text;

	(void)state;
	for (i = 0; i < scenarios; i++) {
		r.state = seed_now = first_seed + i;
		make(&m, &r);
		text = print_scenario(&m, tiny_chance(&r, 0.5));
		must(scenario_parse(text, strlen(text), "small", &s, &err), &err);
		free(text);
		bound = bound_of(s);
#ifdef HAVE_GLPK
		best = welfare(s, "offline");
		if (best > bound)
			fail_msg("offline %.17g is above the bound %.17g", best, bound);
		tight += best > bound * (1 - 1e-6);
#endif
		for (k = 0; k < sizeof(policies) / sizeof(policies[0]); k++) {
			got = welfare(s, policies[k]);
#ifdef HAVE_GLPK
			if (got > best + 1e-6 * (1 + best))
				fail_msg("%s: %.17g is above offline %.17g", policies[k], got,
					 best);
			below += got < best - 1e-6 * (1 + best);
#endif
			if (got > bound)
				fail_msg("%s: %.17g is above the bound %.17g", policies[k], got,
					 bound);
		}
		if (m.jobs <= 3 && m.slots <= 5) {
			brute++;
			truth = brute_force(&m);
			assert_true(truth <= bound);
#ifdef HAVE_GLPK
			if (fabs(truth - best) > 1e-6 * (1 + best))
				fail_msg("offline %.17g, brute force %.17g", best, truth);
#endif
		}
		scenario_free(s);
	}
	print_message("%u scenarios, %u of them also by brute force; %u times a policy was below "
		      "the optimum, %u times the bound was the optimum\n",
		      scenarios, brute, below, tight);
	/* the test is worth something only if it sees all kinds */
	if (scenarios >= 100) {
		assert_true(brute > scenarios / 20);
#ifdef HAVE_GLPK
		assert_true(below > scenarios / 4);
		assert_true(tight > scenarios / 20);
#endif
	}
}

/* N jobs that take the one GPU for 4 of 8 slots each, and a CPU of many. */
static struct scenario *queue_of(unsigned n)
{
	struct scenario *s = NULL;
	struct auc_err err = {0};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	unsigned i;

	fputs("{\"format\": \"auction-scenario/1\", \"name\": \"queue\", \"slots\": 8, "
	      "\"slot_seconds\": 10, \"worker_types\": [{\"name\": \"w\", \"tres\": {\"gpu\": "
	      "1}, \"bandwidth_mbps\": 100}], \"ps_types\": [{\"name\": \"p\", \"tres\": {\"cpu\": "
	      "1}, \"bandwidth_mbps\": 100}], \"servers\": [{\"name\": \"s\", \"capacity\": "
	      "{\"gpu\": 1, \"cpu\": 64}}], \"jobs\": [",
	      f);
	for (i = 0; i < n; i++)
		fprintf(f,
			"%s{\"id\": \"j%u\", \"arrival\": 1, \"utility\": {\"form\": "
			"\"constant\", \"scale\": 100}, \"epochs\": 4, \"chunks\": 1, "
			"\"minibatches\": 1, \"gradient_mb\": 1, \"worker_seconds\": {\"w\": 10}, "
			"\"ps_seconds\": {\"p\": 0}}",
			i ? ", " : "", i);
	fputs("]}", f);
	fclose(f);
	must(scenario_parse(text, strlen(text), "queue", &s, &err), &err);
	free(text);
	return s;
}

/* Adds up the prices that N of these jobs teach, by TRES. */
static void learn_from(unsigned n, double weight, double *sums)
{
	struct scenario *s = queue_of(n);
	struct auc_dual_job jobs[JOBS] = {{0}};
	struct auc_job resolved[JOBS] = {{0}};
	struct auc_given_price *list = NULL;
	struct auc_market *m = NULL;
	struct auc_err err = {0};
	double bound;
	size_t nlist, i;

	must(scenario_market_create(s, NULL, &m, &err), &err);
	for (i = 0; i < n; i++) {
		must(scenario_market_job(s, &s->jobs[i], m, &resolved[i], &err), &err);
		jobs[i] = (struct auc_dual_job){.job = &resolved[i], .weight = weight};
	}
	must(auc_dual_prices_once(m, &auc_policy_dps, jobs, n, 100, NULL, &list, &nlist, &bound,
				  &err),
	     &err);
	memset(sums, 0, TRES * sizeof(*sums));
	for (i = 0; i < nlist; i++) {
		assert_true(list[i].from <= list[i].to && list[i].from >= 1 && list[i].to <= 8);
		sums[!strcmp(auc_market_tres_name(m, list[i].tres), "cpu")] +=
			list[i].price * (double)(list[i].to - list[i].from + 1);
	}
	must(auc_market_give_prices(m, list, nlist, &err), &err);
	free(list);
	for (i = 0; i < n; i++)
		auc_job_clear(&resolved[i]);
	auc_market_destroy(m);
	scenario_free(s);
}

/* Two jobs fit: what they use is free. Of four, or of one that is expected four times, half can
 * have the GPU, so that its slots cost together what these two jobs are worth; the CPUs are free.
 */
static void test_learn(void **state)
{
	double few[TRES], many[TRES], weighted[TRES];

	(void)state;
	learn_from(2, 1, few);
	learn_from(4, 1, many);
	learn_from(1, 4, weighted);
	assert_true(few[0] < 20);
	assert_true(fabs(many[0] - 200) < 10 && many[1] < 1);
	assert_true(fabs(weighted[0] - 200) < 10 && weighted[1] < 1);
}

/* The bound of the first iteration, from no prices or from those of the pool. */
static double first_bound(bool start)
{
	static const struct auc_price_choice exact = {AUC_PRICE_FORM_DUAL, 1};
	static const struct auc_dual_phase phase = {AUC_DUAL_CLASSES, 1, 0.01, 0.01};
	struct scenario *s = queue_of(4);
	struct auc_dual_job jobs[JOBS] = {{0}};
	struct auc_job resolved[JOBS] = {{0}};
	struct auc_given_price *list = NULL;
	double scale[TRES], bound;
	struct auc_market *m = NULL;
	struct auc_err err = {0};
	struct auc_dual_prices *l;
	struct auc_dual *d;
	size_t n;

	must(scenario_market_create(s, NULL, &m, &err), &err);
	for (unsigned i = 0; i < 4; i++) {
		must(scenario_market_job(s, &s->jobs[i], m, &resolved[i], &err), &err);
		jobs[i] = (struct auc_dual_job){.job = &resolved[i], .weight = 1};
	}
	must(auc_dual_prices_create(m, &auc_policy_dps, "", &l, &err), &err);
	must(auc_dual_prices_fit(l, m, jobs, 4, 1, 100, &err), &err);
	must(auc_dual_prices_list(l, m, &exact, &list, &n, &err), &err);
	for (unsigned k = 0; k < TRES; k++)
		scale[k] = auc_dual_prices_scale(l, k);
	must(auc_dual_create(m, &auc_policy_dps, "", jobs, 4, &d, &err), &err);
	must(auc_dual_begin(d, &phase, &err), &err);
	if (start)
		auc_dual_start(d, list, n, scale);
	must(auc_dual_step(d, &err), &err);
	bound = auc_dual_bound(d);
	auc_dual_destroy(d);
	auc_dual_prices_destroy(l);
	free(list);
	for (unsigned i = 0; i < 4; i++)
		auc_job_clear(&resolved[i]);
	auc_market_destroy(m);
	scenario_free(s);
	return bound;
}

/* Of the four jobs, each worth 100, two fit. */
static void test_start(void **state)
{
	(void)state;
	assert_true(fabs(first_bound(false) - 400) < 1);
	assert_true(first_bound(true) > 200 && first_bound(true) < 210);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_property),
		cmocka_unit_test(test_learn),
		cmocka_unit_test(test_start),
	};
	const char *n = argc > 1 ? argv[1] : getenv("AUC_TEST_SCENARIOS");
	const char *seed = argc > 2 ? argv[2] : getenv("AUC_TEST_SEED");
	int failed;

	if (n)
		scenarios = (unsigned)strtoul(n, NULL, 10);
	if (seed)
		first_seed = strtoull(seed, NULL, 10);
	failed = cmocka_run_group_tests_name("bound", tests, NULL, NULL);
	if (failed)
		printf("it was the scenario of seed %llu\n", (unsigned long long)seed_now);
	return failed;
}
