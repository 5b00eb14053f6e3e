/*
 * test_dorm.c - Dorm's integer program against brute force on random tiny clusters: every layout of
 * every job is tried with every one of the others.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auctionsim/optimum/dorm_program.h"
#include "unit/support/tiny.h"

#define PROGRAMS 400
#define SERVERS  3
#define TRES     2
#define JOBS     3

struct tiny_program {
	struct dorm_program p;
	struct dorm_job jobs[JOBS];
	int64_t left[SERVERS * TRES], worker[JOBS][TRES], ps[JOBS][TRES];
	double total[TRES];
	bool on[JOBS][2][SERVERS];
	unsigned before[JOBS][2][SERVERS], now[JOBS][2][SERVERS];
};

static unsigned total_of(const unsigned *list, unsigned n)
{
	return n ? list[0] + total_of(list + 1, n - 1) : 0;
}

static void take(const struct tiny_program *t, int64_t *left, unsigned i,
		 const unsigned n[2][SERVERS], int sign)
{
	unsigned s, k;

	for (s = 0; s < t->p.nservers; s++)
		for (k = 0; k < t->p.ntres; k++)
			left[s * t->p.ntres + k] -=
				sign * (n[0][s] * t->worker[i][k] + n[1][s] * t->ps[i][k]);
}

static bool is_over(const struct tiny_program *t, const int64_t *left)
{
	unsigned i;

	for (i = 0; i < t->p.nservers * t->p.ntres; i++)
		if (left[i] < 0)
			return true;
	return false;
}

/* What the layout N of job I is worth; -1: it is none. Adds to *CHANGES and *UNFAIR. */
static double value_of(const struct tiny_program *t, unsigned i, const unsigned n[2][SERVERS],
		       unsigned *changes, double *unfair)
{
	const struct dorm_job *j = &t->jobs[i];
	unsigned workers = total_of(n[0], t->p.nservers), pss = total_of(n[1], t->p.nservers), s, k;
	bool same = j->runs && !memcmp(n, t->before[i], sizeof(t->before[i]));
	double use = 0;

	if (pss != (unsigned)ceil(j->bandwidth * workers / j->ps_bandwidth) ||
	    (!same && workers > j->most))
		return -1;
	for (s = 0; s < t->p.nservers; s++)
		if ((n[0][s] && !j->worker_on[s]) || (n[1][s] && !j->ps_on[s]))
			return -1;
	for (k = 0; k < t->p.ntres; k++)
		use += (double)(workers * t->worker[i][k] + pss * t->ps[i][k]) / t->total[k];
	*changes += j->runs && !same;
	*unfair += fabs(workers * j->share - j->fair);
	return use;
}

static double try_jobs(const struct tiny_program *t, unsigned i, int64_t *left, unsigned changes,
		       double unfair);

/* All numbers for job I from cell C of its layout on. */
static double try_cells(const struct tiny_program *t, unsigned i, unsigned c,
			unsigned n[2][SERVERS], int64_t *left, unsigned changes, double unfair)
{
	unsigned s = c / 2, ps = c % 2;
	double best = -1, use, rest;

	if (s == t->p.nservers) {
		use = value_of(t, i, (const unsigned(*)[SERVERS])n, &changes, &unfair);
		if (use < 0)
			return -1;
		take(t, left, i, (const unsigned(*)[SERVERS])n, 1);
		rest = is_over(t, left) ? -1 : try_jobs(t, i + 1, left, changes, unfair);
		take(t, left, i, (const unsigned(*)[SERVERS])n, -1);
		return rest < 0 ? -1 : use + rest;
	}
	for (n[ps][s] = 0; n[ps][s] <= 3; n[ps][s]++)
		best = fmax(best, try_cells(t, i, c + 1, n, left, changes, unfair));
	n[ps][s] = 0;
	return best;
}

/* The most use of the jobs from I on; -1: there is none within the limits. */
static double try_jobs(const struct tiny_program *t, unsigned i, int64_t *left, unsigned changes,
		       double unfair)
{
	unsigned n[2][SERVERS] = {{0}};

	if (changes > t->p.changes || unfair > t->p.unfair)
		return -1;
	return i == t->p.njobs ? 0 : try_cells(t, i, 0, n, left, changes, unfair);
}

static void make_job(struct tiny_program *t, unsigned i, struct tiny_random *r, int64_t *left)
{
	struct dorm_job *j = &t->jobs[i];
	unsigned k, s, changes = 0;
	double unfair = 0;

	for (k = 0; k < t->p.ntres; k++) {
		t->worker[i][k] = tiny_int(r, k > 0, 2);
		t->ps[i][k] = tiny_int(r, k == 0, 2);
	}
	for (s = 0; s < t->p.nservers; s++) {
		t->on[i][0][s] = tiny_chance(r, 0.7);
		t->on[i][1][s] = tiny_chance(r, 0.7);
	}
	*j = (struct dorm_job){.worker = t->worker[i],
			       .ps = t->ps[i],
			       .worker_on = t->on[i][0],
			       .ps_on = t->on[i][1],
			       .bandwidth = tiny_int(r, 1, 4),
			       .ps_bandwidth = tiny_int(r, 4, 6),
			       .most = (unsigned)tiny_int(r, 0, 3),
			       .share = tiny_int(r, 1, 4) / 8.0,
			       .fair = tiny_int(r, 0, 8) / 8.0,
			       .runs = true,
			       .workers = t->now[i][0],
			       .pss = t->now[i][1]};
	/* some run already; what they had may be more than they can use now */
	if (tiny_chance(r, 0.6)) {
		t->before[i][0][tiny_int(r, 0, (int)t->p.nservers - 1)] =
			(unsigned)tiny_int(r, 1, 2);
		t->before[i][1][tiny_int(r, 0, (int)t->p.nservers - 1)] = 1;
	}
	take(t, left, i, (const unsigned(*)[SERVERS])t->before[i], 1);
	if (is_over(t, left) || !total_of(t->before[i][0], t->p.nservers) ||
	    value_of(t, i, (const unsigned(*)[SERVERS])t->before[i], &changes, &unfair) < 0) {
		take(t, left, i, (const unsigned(*)[SERVERS])t->before[i], -1);
		memset(t->before[i], 0, sizeof(t->before[i]));
		j->runs = false;
	}
}

static void make(struct tiny_program *t, struct tiny_random *r)
{
	int64_t left[SERVERS * TRES];
	unsigned i, k;

	memset(t, 0, sizeof(*t));
	t->p = (struct dorm_program){.nservers = (unsigned)tiny_int(r, 1, 2),
				     .ntres = TRES,
				     .njobs = (unsigned)tiny_int(r, 1, JOBS),
				     .left = t->left,
				     .total = t->total,
				     .jobs = t->jobs,
				     .changes = (unsigned)tiny_int(r, 0, 2),
				     .unfair = tiny_int(r, 4, 20) / 8.0 + 0.01,
				     .seconds = 60};
	if (t->p.njobs == 1)
		t->p.nservers = SERVERS;
	for (i = 0; i < t->p.nservers * t->p.ntres; i++) {
		k = i % t->p.ntres;
		left[i] = t->left[i] = tiny_int(r, 0, 4);
		t->total[k] += (double)t->left[i];
	}
	for (k = 0; k < t->p.ntres; k++)
		t->total[k] += 1; /* what is not left, of servers that are in use */
	for (i = 0; i < t->p.njobs; i++)
		make_job(t, i, r, left);
	memcpy(t->now, t->before, sizeof(t->now));
}

/* What was found is within all limits. */
static void assert_layouts(const struct tiny_program *t)
{
	unsigned changes = 0, i;
	int64_t left[SERVERS * TRES];
	double unfair = 0;

	memcpy(left, t->left, sizeof(left));
	for (i = 0; i < t->p.njobs; i++) {
		assert_true(value_of(t, i, (const unsigned(*)[SERVERS])t->now[i], &changes,
				     &unfair) >= 0);
		take(t, left, i, (const unsigned(*)[SERVERS])t->now[i], 1);
	}
	assert_false(is_over(t, left));
	assert_true(changes <= t->p.changes && unfair <= t->p.unfair);
}

static void test_brute_force(void **state)
{
	unsigned i, none = 0, better = 0;
	int64_t left[SERVERS * TRES];
	enum dorm_found found;
	struct tiny_program t;
	struct tiny_random r;
	double best, before;

	(void)state;
#ifndef HAVE_GLPK
	skip();
#endif
	for (i = 0; i < PROGRAMS; i++) {
		r.state = 1000 + i;
		make(&t, &r);
		memcpy(left, t.left, sizeof(left));
		best = try_jobs(&t, 0, left, 0, 0);
		before = dorm_use(&t.p);
		found = dorm_solve(&t.p);
		if (best < 0) {
			assert_int_equal(found, DORM_NONE);
			assert_memory_equal(t.now, t.before, sizeof(t.now));
			none++;
			continue;
		}
		assert_int_equal(found, DORM_BEST);
		assert_layouts(&t);
		if (fabs(dorm_use(&t.p) - best) > 1e-6)
			fail_msg("program %u: %.9g used, brute force %.9g", i, dorm_use(&t.p),
				 best);
		better += best > before + 1e-6;
	}
	print_message("%u programs, %u without a solution, %u better than what there was\n",
		      PROGRAMS, none, better);
	/* the test is worth something only if it sees all kinds */
	assert_true(none > PROGRAMS / 20 && none < PROGRAMS / 2 && better > PROGRAMS / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brute_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
