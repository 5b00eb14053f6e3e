/* winsorize.c - see winsorize.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "market/timeline.h"
#include "pricing/past/user_share.h"
#include "pricing/past/winsorize.h"

#define PERCENTILE 0.8
#define GROUPS     5
#define GROUP_MIN  20 /* bids, or there are fewer groups */
#define LARGE      5  /* a user with one in so many bids of a group could move its percentile */
#define OTHERS_MIN 5  /* bids that such a user's are measured by */

struct worth {
	unsigned at, user;  /* at: of the list */
	double work, value; /* worker slots, and credits when it ends as soon as it can */
};

/* Bids by ascending work. */
struct bids {
	const struct worth *list;
	unsigned n;
};

/* What a bid may be worth: the one or the other. */
struct limit {
	double value, density;
};

static double work_of_gang(const struct auc_market *m, const struct auc_job *job);
static double soonest_of(const struct auc_market *m, const struct auc_job *job);
static int by_work(const void *a, const void *b);
static int ascending(const void *a, const void *b);
static double percentile(double *list, unsigned n);
static void limit_group(struct bids group, struct bids all, double *scratch, double *factor);
static void apply(struct bids group, unsigned user, struct limit limit, double *factor);
static unsigned limit_of(struct bids bids, unsigned without, double *scratch, struct limit *limit);
static bool seen_before(struct bids bids, unsigned i);

enum auc_code auc_winsorize(const struct auc_market *m, const struct auc_job *const *jobs,
			    const unsigned *user, unsigned n, double *factor, struct auc_err *err)
{
	struct worth *list = calloc((size_t)n + 1, sizeof(*list));
	double *scratch = calloc((size_t)n + 1, sizeof(*scratch));
	unsigned groups = n / GROUP_MIN, count = 0, from;
	enum auc_code rc = AUC_OK;

	if (!list || !scratch)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for the bids of the past");
	for (unsigned i = 0; rc == AUC_OK && i < n; i++) {
		factor[i] = 1;
		list[count] = (struct worth){i, user[i], auc_winsorize_work(m, jobs[i]),
					     auc_winsorize_value(m, jobs[i])};
		count += list[count].work > 0 && list[count].value > 0;
	}
	groups = groups < 1 ? 1 : groups > GROUPS ? GROUPS : groups;
	if (rc == AUC_OK)
		qsort(list, count, sizeof(*list), by_work);
	for (unsigned g = 0; rc == AUC_OK && g < groups; g++) {
		from = (unsigned)((size_t)count * g / groups);
		limit_group((struct bids){list + from,
					  (unsigned)((size_t)count * (g + 1) / groups) - from},
			    (struct bids){list, count}, scratch, factor);
	}
	free(list);
	free(scratch);
	return rc;
}

double auc_winsorize_value(const struct auc_market *m, const struct auc_job *job)
{
	double work = auc_winsorize_work(m, job), soonest;
	unsigned upload = UINT32_MAX;

	for (unsigned s = 0; s < m->nservers; s++)
		upload = job->upload[s] < upload ? job->upload[s] : upload;
	if (!(work > 0) || upload == UINT32_MAX)
		return 0;
	soonest = job->nshapes ? soonest_of(m, job) : ceil(work / (double)job->chunks);
	return auc_utility_value(&job->utility, upload + (soonest > 1 ? soonest : 1));
}

double auc_winsorize_work(const struct auc_market *m, const struct auc_job *job)
{
	double worker = INFINITY, ps = INFINITY;

	if (job->nshapes)
		return work_of_gang(m, job);
	for (unsigned i = 0; i < AUC_TYPES_MAX; i++) {
		if (job->worker_seconds[i] >= 0)
			worker = fmin(worker, job->worker_seconds[i]);
		if (job->ps_seconds[i] >= 0)
			ps = fmin(ps, job->ps_seconds[i]);
	}
	if (isinf(worker))
		return 0;
	return (double)job->epochs * (double)job->chunks * (double)job->minibatches *
	       (worker + (isinf(ps) ? 0 : ps)) / m->slot_seconds;
}

/* The least of its shapes, in workers: a node counts as that part of the most workers of a type on
 * a server which it takes of the largest server; without types, of a server. */
static double work_of_gang(const struct auc_market *m, const struct auc_job *job)
{
	double least = INFINITY, most[AUC_TRES_MAX] = {0};
	int32_t workers = !m->nworker_types;

	for (unsigned w = 0; w < m->nworker_types; w++)
		workers = m->cache[w].max0 > workers ? m->cache[w].max0 : workers;
	for (unsigned s = 0; s < m->nservers; s++)
		for (unsigned k = 0; k < m->ntres; k++)
			most[k] = fmax(most[k], m->servers[s].amount[k]);
	for (unsigned i = 0; i < job->nshapes; i++) {
		const struct auc_shape *shape = &job->shapes[i];
		double part = 0;

		for (unsigned k = 0; k < m->ntres; k++)
			if (shape->amount[k] > 0 && most[k] > 0)
				part = fmax(part, shape->amount[k] / most[k]);
		if (!shape->never && part > 0 && part <= 1)
			least = fmin(least, part * shape->nodes * shape->seconds / m->slot_seconds);
	}
	return isinf(least) ? 0 : least * workers;
}

static double soonest_of(const struct auc_market *m, const struct auc_job *job)
{
	int64_t least = INT64_MAX;

	for (unsigned i = 0; i < job->nshapes; i++) {
		int64_t d = auc_shape_slots(m, &job->shapes[i]);

		least = d < least ? d : least;
	}
	return (double)least;
}

double auc_winsorize_room(const struct auc_market *m)
{
	double room = 0;

	for (size_t cell = 0; cell < (size_t)m->slots * m->nservers; cell++) {
		/* where there are no types, a server counts as one */
		int32_t most =
			!m->nworker_types && m->servers[cell % m->nservers].roles & AUC_ROLE_WORKER;

		for (unsigned w = 0; w < m->nworker_types; w++) {
			int32_t fit = auc_market_fits(m, w, cell);

			most = fit > most ? fit : most;
		}
		room += most;
	}
	return room;
}

static int by_work(const void *a, const void *b)
{
	const struct worth *x = a, *y = b;

	if (x->work != y->work)
		return x->work < y->work ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double percentile(double *list, unsigned n)
{
	qsort(list, n, sizeof(*list), ascending);
	return list[(unsigned)(PERCENTILE * (n - 1))];
}

/* ALL: of all groups. */
static void limit_group(struct bids group, struct bids all, double *scratch, double *factor)
{
	struct limit limit;
	unsigned i, k, own, user;

	if (!group.n)
		return;
	limit_of(group, AUC_USER_NONE, scratch, &limit);
	apply(group, AUC_USER_NONE, limit, factor);
	for (i = 0; i < group.n; i++) {
		user = group.list[i].user;
		if (user == AUC_USER_NONE || seen_before(group, i))
			continue;
		for (own = 0, k = i; k < group.n; k++)
			own += group.list[k].user == user;
		if (own * LARGE < group.n)
			continue;
		if (group.n - own >= OTHERS_MIN ? limit_of(group, user, scratch, &limit)
						: limit_of(all, user, scratch, &limit))
			apply(group, user, limit, factor);
	}
}

/* To the bids of USER, or AUC_USER_NONE: to all. */
static void apply(struct bids group, unsigned user, struct limit limit, double *factor)
{
	const struct worth *w;

	for (w = group.list; w < group.list + group.n; w++)
		if (user == AUC_USER_NONE || w->user == user)
			factor[w->at] =
				fmin(1, fmax(limit.value, limit.density * w->work) / w->value);
}

/* By BIDS but those of user WITHOUT (AUC_USER_NONE: by all); returns how many they are, and if none
 * leaves LIMIT alone. */
static unsigned limit_of(struct bids bids, unsigned without, double *scratch, struct limit *limit)
{
	unsigned n = 0, i;

	for (i = 0; i < bids.n; i++)
		if (without == AUC_USER_NONE || bids.list[i].user != without)
			scratch[n++] = bids.list[i].value;
	if (!n)
		return 0;
	limit->value = percentile(scratch, n);
	for (i = 0, n = 0; i < bids.n; i++)
		if (without == AUC_USER_NONE || bids.list[i].user != without)
			scratch[n++] = bids.list[i].value / bids.list[i].work;
	limit->density = percentile(scratch, n);
	return n;
}

static bool seen_before(struct bids bids, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (bids.list[k].user == bids.list[i].user)
			return true;
	return false;
}
