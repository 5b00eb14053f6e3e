/* winsor.c - see winsor.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "market-private.h"
#include "winsor.h"

#define PERCENTILE 0.8
#define GROUPS     5
#define GROUP_MIN  20 /* bids, or there are fewer groups */

struct worth {
	unsigned at;        /* of the list */
	double work, value; /* worker slots, and credits when it ends as soon as it can */
};

static struct worth worth_of(const struct auc_market *m, const struct auc_job *job);
static int by_work(const void *a, const void *b);
static int ascending(const void *a, const void *b);
static double percentile(double *list, unsigned n);
static void limit_group(const struct worth *list, unsigned n, double *scratch, double *factor);

enum auc_code auc_winsorize(const struct auc_market *m, const struct auc_job *const *jobs,
			    unsigned n, double *factor, struct auc_err *err)
{
	struct worth *list = calloc((size_t)n + 1, sizeof(*list));
	double *scratch = calloc((size_t)n + 1, sizeof(*scratch));
	unsigned groups = n / GROUP_MIN, count = 0, from;
	enum auc_code rc = AUC_OK;

	if (!list || !scratch)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for the bids of the past");
	for (unsigned i = 0; rc == AUC_OK && i < n; i++) {
		factor[i] = 1;
		list[count] = worth_of(m, jobs[i]);
		list[count].at = i;
		count += list[count].work > 0 && list[count].value > 0;
	}
	groups = groups < 1 ? 1 : groups > GROUPS ? GROUPS : groups;
	if (rc == AUC_OK)
		qsort(list, count, sizeof(*list), by_work);
	for (unsigned g = 0; rc == AUC_OK && g < groups; g++) {
		from = (unsigned)((size_t)count * g / groups);
		limit_group(list + from, (unsigned)((size_t)count * (g + 1) / groups) - from,
			    scratch, factor);
	}
	free(list);
	free(scratch);
	return rc;
}

static struct worth worth_of(const struct auc_market *m, const struct auc_job *job)
{
	double worker = INFINITY, ps = INFINITY, soonest;
	struct worth w = {0};
	unsigned upload = UINT32_MAX;

	for (unsigned i = 0; i < AUC_TYPES_MAX; i++) {
		if (job->worker_seconds[i] >= 0)
			worker = fmin(worker, job->worker_seconds[i]);
		if (job->ps_seconds[i] >= 0)
			ps = fmin(ps, job->ps_seconds[i]);
	}
	for (unsigned s = 0; s < m->nservers; s++)
		upload = job->upload[s] < upload ? job->upload[s] : upload;
	if (isinf(worker) || upload == UINT32_MAX)
		return w;
	w.work = (double)job->epochs * (double)job->chunks * (double)job->minibatches *
		 (worker + (isinf(ps) ? 0 : ps)) / m->slot_seconds;
	soonest = ceil(w.work / (double)job->chunks);
	w.value = auc_utility_value(&job->utility, upload + (soonest > 1 ? soonest : 1));
	return w;
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

static void limit_group(const struct worth *list, unsigned n, double *scratch, double *factor)
{
	double value, density;

	if (!n)
		return;
	for (unsigned i = 0; i < n; i++)
		scratch[i] = list[i].value;
	value = percentile(scratch, n);
	for (unsigned i = 0; i < n; i++)
		scratch[i] = list[i].value / list[i].work;
	density = percentile(scratch, n);
	for (unsigned i = 0; i < n; i++)
		factor[list[i].at] = fmin(1, fmax(value, density * list[i].work) / list[i].value);
}
