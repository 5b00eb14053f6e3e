/* drift.c - see drift.h */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "market/timeline.h"
#include "pricing/past/drift.h"
#include "pricing/past/user_share.h"
#include "pricing/past/winsorize.h"

#define ERROR  0.001 /* days on which chance alone may look like a change, */
#define LOOKS  30    /* at so many looks a day */
#define LEAST  0.5   /* difference that matters */
#define PARTS  32    /* that a change is looked for in */
#define LARGE  50    /* a user with one of so many jobs is looked at */
#define TRAITS (2 + 2 * AUC_TYPES_MAX)

/* A job, by what is compared. */
struct sample {
	double x;
	unsigned user;
	bool now;
};

struct test {
	unsigned ntraits, n;
	struct sample *list; /* ntraits times n long: those of each trait by ascending x */
	unsigned *users;     /* n long, ascending */
};

/* Bids by age. */
struct bids {
	const struct auc_market *m;
	const struct auc_drift_jobs *all;
	const auc_slot *age;
	struct auc_drift_jobs parts[2]; /* as they were split last: now, past */
	const struct auc_job **jobs;
	unsigned *user; /* both twice as long as all */
};

static enum auc_code compare_times(struct bids *b, auc_slot period, auc_slot part, double *evidence,
				   struct auc_err *err);
static enum auc_code compare_ages(struct bids *b, auc_slot age, double *evidence,
				  struct auc_err *err);
static void begin(struct bids *b);
static void take(struct bids *b, unsigned i, bool past);
static void fill(struct test *t, const struct auc_market *m, const struct auc_drift_jobs *mix,
		 bool now, unsigned from);
static void take_traits(const struct auc_market *m, const struct auc_job *job, double *x);
static double *take_speeds(const double *seconds, unsigned n, double *x);
static double evidence_without(const struct test *t, unsigned user);
static double strength_without(const struct sample *list, unsigned n, unsigned user);
static int by_x(const void *a, const void *b);
static int by_number(const void *a, const void *b);

enum auc_code auc_drift_compare(const struct auc_market *m, const struct auc_drift_jobs *now,
				const struct auc_drift_jobs *past, double *evidence,
				struct auc_err *err)
{
	struct test t = {.ntraits = 2 + m->nworker_types + m->nps_types, .n = now->n + past->n};
	unsigned from, to;
	double least;

	t.list = calloc((size_t)t.ntraits * t.n + 1, sizeof(*t.list));
	t.users = calloc((size_t)t.n + 1, sizeof(*t.users));
	if (!t.list || !t.users) {
		free(t.list);
		free(t.users);
		return auc_err_set(err, AUC_ENOMEM, "no memory to compare jobs with the past");
	}
	fill(&t, m, now, true, 0);
	fill(&t, m, past, false, now->n);
	for (unsigned k = 0; k < t.ntraits; k++)
		qsort(t.list + (size_t)k * t.n, t.n, sizeof(*t.list), by_x);
	qsort(t.users, t.n, sizeof(*t.users), by_number);
	least = evidence_without(&t, AUC_USER_NONE);
	for (from = 0; from < t.n && least > 1; from = to) {
		for (to = from + 1; to < t.n && t.users[to] == t.users[from]; to++)
			;
		/* A user who is alone is as good as not known. */
		if (t.users[from] != AUC_USER_NONE && to - from < t.n &&
		    LARGE * (to - from) >= (now->n < past->n ? now->n : past->n))
			least = fmin(least, evidence_without(&t, t.users[from]));
	}
	*evidence = least;
	free(t.list);
	free(t.users);
	return AUC_OK;
}

enum auc_code auc_drift_since(const struct auc_market *m, const struct auc_drift_jobs *bids,
			      const auc_slot *age, auc_slot period, auc_slot part, auc_slot *since,
			      struct auc_err *err)
{
	struct bids b = {.m = m, .all = bids, .age = age};
	double evidence = 0, most = 0;
	enum auc_code rc = AUC_OK;

	*since = 0;
	b.jobs = calloc(2 * (size_t)bids->n + 1, sizeof(*b.jobs));
	b.user = calloc(2 * (size_t)bids->n + 1, sizeof(*b.user));
	if (!b.jobs || !b.user)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory to compare jobs with the past");
	if (rc == AUC_OK)
		rc = compare_times(&b, period, part, &evidence, err);
	for (unsigned k = 1; k <= PARTS && rc == AUC_OK && evidence > 1; k++) {
		double at = 0;

		rc = compare_ages(&b, k * part, &at, err);
		if (at > most) {
			most = at;
			*since = k * part;
		}
	}
	free(b.jobs);
	free(b.user);
	return rc;
}

/* Bids of the last PART slots, but for the one that has begun, and those of that time before. */
static enum auc_code compare_times(struct bids *b, auc_slot period, auc_slot part, double *evidence,
				   struct auc_err *err)
{
	begin(b);
	for (unsigned i = 0; i < b->all->n; i++)
		if (b->age[i] % period >= 1 && b->age[i] % period <= part)
			take(b, i, b->age[i] > period);
	return auc_drift_compare(b->m, &b->parts[0], &b->parts[1], evidence, err);
}

/* Bids up to that AGE, and older ones. */
static enum auc_code compare_ages(struct bids *b, auc_slot age, double *evidence,
				  struct auc_err *err)
{
	begin(b);
	for (unsigned i = 0; i < b->all->n; i++)
		take(b, i, b->age[i] > age);
	return auc_drift_compare(b->m, &b->parts[0], &b->parts[1], evidence, err);
}

static void begin(struct bids *b)
{
	b->parts[0] = (struct auc_drift_jobs){b->jobs, b->user, 0};
	b->parts[1] = (struct auc_drift_jobs){b->jobs + b->all->n, b->user + b->all->n, 0};
}

/* Bid I, as one of the past or of now. */
static void take(struct bids *b, unsigned i, bool past)
{
	unsigned at = b->parts[past].n++ + (past ? b->all->n : 0);

	b->jobs[at] = b->all->jobs[i];
	b->user[at] = b->all->user[i];
}

static void fill(struct test *t, const struct auc_market *m, const struct auc_drift_jobs *mix,
		 bool now, unsigned from)
{
	double x[TRAITS];

	for (unsigned i = 0; i < mix->n; i++) {
		take_traits(m, mix->jobs[i], x);
		t->users[from + i] = mix->user[i];
		for (unsigned k = 0; k < t->ntraits; k++)
			t->list[(size_t)k * t->n + from + i] =
				(struct sample){x[k], mix->user[i], now};
	}
}

static void take_traits(const struct auc_market *m, const struct auc_job *job, double *x)
{
	double work = auc_winsorize_work(m, job);

	*x++ = work;
	*x++ = work > 0 ? auc_winsorize_value(m, job) / work : 0;
	x = take_speeds(job->worker_seconds, m->nworker_types, x);
	take_speeds(job->ps_seconds, m->nps_types, x);
}

/* How many times as long as the best of N types each takes; returns what is after X[N]. */
static double *take_speeds(const double *seconds, unsigned n, double *x)
{
	double best = INFINITY;

	for (unsigned i = 0; i < n; i++)
		if (seconds[i] >= 0)
			best = fmin(best, seconds[i]);
	for (unsigned i = 0; i < n; i++)
		*x++ = seconds[i] < 0 ? INFINITY : seconds[i] <= best ? 1 : seconds[i] / best;
	return x;
}

/* That jobs are others, without those of USER; AUC_USER_NONE: with all. */
static double evidence_without(const struct test *t, unsigned user)
{
	/* any of the traits may differ by chance, at any look, and either way */
	double needed = log(2.0 * t->ntraits * LOOKS / ERROR) / 2, most = 0;

	for (unsigned k = 0; k < t->ntraits; k++)
		most = fmax(most, strength_without(t->list + (size_t)k * t->n, t->n, user));
	return most / needed;
}

/* D^2 n m / (n + m); 0: D is too small. LIST[N] ascends. */
static double strength_without(const struct sample *list, unsigned n, unsigned user)
{
	double of[2] = {0, 0}, below[2] = {0, 0}, gap = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		of[list[i].now] += user == AUC_USER_NONE || list[i].user != user;
	if (!of[0] || !of[1])
		return 0;
	for (i = 0; i < n; i++) {
		below[list[i].now] += user == AUC_USER_NONE || list[i].user != user;
		if (i + 1 == n || list[i + 1].x > list[i].x)
			gap = fmax(gap, fabs(below[0] / of[0] - below[1] / of[1]));
	}
	return gap < LEAST ? 0 : gap * gap * of[0] * of[1] / (of[0] + of[1]);
}

static int by_x(const void *a, const void *b)
{
	const struct sample *p = a, *q = b;

	return p->x < q->x ? -1 : p->x > q->x;
}

static int by_number(const void *a, const void *b)
{
	const unsigned *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}
