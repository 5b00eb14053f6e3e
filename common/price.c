/* price.c - the price function and what jobs say about its bases: see price.h. */
#include "config.h"

#include <math.h>

#include "market-private.h"

static unsigned least_upload(const struct auc_market *m, const struct auc_job *job);
static void layout_ratios(const struct auc_market *m, const struct auc_job *job, unsigned w,
			  unsigned p, bool colocated, unsigned upload, double *ratio);
static bool may_raise(const struct auc_bundle *worker, const struct auc_bundle *ps, double work,
		      double ps_slots, double value, const double *ratio, unsigned ntres);

double auc_price_unit(double eta, double used, double capacity)
{
	if (used <= 0 || eta == 1)
		return 0;
	return pow(eta, used / capacity) - 1;
}

void auc_price_ratios(const struct auc_market *m, const struct auc_job *job, double *ratio)
{
	unsigned upload = least_upload(m, job);
	unsigned k, w, p;

	for (k = 0; k < m->ntres; k++)
		ratio[k] = 0;
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++)
			if (job->worker_seconds[w] >= 0 && job->ps_seconds[p] >= 0) {
				layout_ratios(m, job, w, p, false, upload, ratio);
				layout_ratios(m, job, w, p, true, upload, ratio);
			}
}

static unsigned least_upload(const struct auc_market *m, const struct auc_job *job)
{
	unsigned s, least = UINT32_MAX;

	for (s = 0; s < m->nservers; s++)
		if (job->upload[s] < least)
			least = job->upload[s];
	return least;
}

/*
 * Raises RATIO by the schedules of one type pair and placement. Worker counts beyond what the empty
 * cluster holds are no schedules. Distributed, the fewest PSs are those for one worker elsewhere.
 */
static void layout_ratios(const struct auc_market *m, const struct auc_job *job, unsigned w,
			  unsigned p, bool colocated, unsigned upload, double *ratio)
{
	const struct auc_bundle *worker = &m->types[w], *ps = &m->types[auc_ps_index(m, p)];
	double work = auc_job_work(m, job, w, p, colocated);
	int64_t most = colocated ? m->cache[w].max0 : m->cache[w].total0;
	int64_t n, z = colocated ? 1 : auc_job_ps(m, w, p, 1);
	double value, units;
	unsigned d, k;

	if (z > m->cache[auc_ps_index(m, p)].max0)
		return;
	for (d = 1; d <= m->slots; d++) {
		value = auc_utility_value(&job->utility, (double)upload + d);
		if (!may_raise(worker, ps, work, (double)z * d, value, ratio, m->ntres))
			return;
		n = auc_job_workers(work, d, job->chunks);
		if (!n || n > most || auc_job_duration(work, n) != d)
			continue;
		for (k = 0; k < m->ntres; k++) {
			units = ((double)n * worker->amount[k] + (double)z * ps->amount[k]) * d;
			if (units > 0 && value / units > ratio[k])
				ratio[k] = value / units;
		}
		if (n == 1)
			return;
	}
}

/* False if neither this duration nor a longer one can raise RATIO: they take WORK worker-slots and
 * these PS-slots at least. */
static bool may_raise(const struct auc_bundle *worker, const struct auc_bundle *ps, double work,
		      double ps_slots, double value, const double *ratio, unsigned ntres)
{
	double units;
	unsigned k;

	for (k = 0; k < ntres; k++) {
		units = (1 - 1e-8) * work * worker->amount[k] + ps_slots * ps->amount[k];
		if (units > 0 && value > ratio[k] * units)
			return true;
	}
	return false;
}
