/* price.c - the price function and what jobs say about its bases: see price.h. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "market/timeline.h"
#include "base/num.h"
#include "base/list.h"

static void shape_ratios(const struct auc_market *m, const struct auc_job *job,
			 const struct auc_shape *shape, unsigned upload, double *ratio);
static unsigned least_upload(const struct auc_market *m, const struct auc_job *job);
static void layout_ratios(const struct auc_market *m, const struct auc_job *job, unsigned w,
			  unsigned p, bool colocated, unsigned upload, double *ratio);
static bool may_raise(const struct auc_bundle *worker, const struct auc_bundle *ps, double work,
		      double ps_slots, double value, const double *ratio, unsigned ntres);

enum auc_code auc_price_curve_of(const struct auc_price *p, const char *name, unsigned roles,
				 struct auc_price_curve *curve, struct auc_err *err)
{
	const struct auc_price_bounds *b = auc_price_bounds_of(p, name);
	const struct auc_named *eta = auc_list_find(p->eta, p->neta, name);
	double limit = log(AUC_PRICE_LIMIT);
	unsigned r;

	*curve = (struct auc_price_curve){
		.kind = p->kind, .eta = 1, .lower = -INFINITY, .upper = -INFINITY};
	if (p->kind == AUC_PRICE_ETA && eta) {
		if (!(eta->value >= 1 && eta->value <= DBL_MAX))
			return auc_err_set(err, AUC_EINVAL, "Eta: %s=%g: expected a number >= 1",
					   name, eta->value);
		curve->eta = eta->value;
	}
	for (r = 0; p->kind == AUC_PRICE_BOUNDS && b && r < AUC_PRICE_ROLES; r++) {
		if (!(b->lower[r] <= b->upper[r] && b->upper[r] <= limit))
			return auc_err_set(err, AUC_EINVAL,
					   "bounds of %s: lower %g, upper %g: expected lower <= "
					   "upper <= %g",
					   name, exp(b->lower[r]), exp(b->upper[r]),
					   AUC_PRICE_LIMIT);
		if (roles == (r == AUC_PRICE_WORKER ? AUC_ROLE_PS : AUC_ROLE_WORKER) ||
		    isinf(b->upper[r]))
			continue;
		curve->lower = isinf(curve->upper) ? b->lower[r] : fmin(curve->lower, b->lower[r]);
		curve->upper = fmax(curve->upper, b->upper[r]);
	}
	return AUC_OK;
}

const struct auc_price_bounds *auc_price_bounds_of(const struct auc_price *p, const char *name)
{
	unsigned i;

	for (i = 0; i < p->nbounds; i++)
		if (!strcasecmp(p->bounds[i].name, name))
			return &p->bounds[i];
	return NULL;
}

void auc_price_raise(struct auc_price_bounds *b, const struct auc_price_bounds *least)
{
	unsigned r;

	for (r = 0; r < AUC_PRICE_ROLES; r++) {
		b->lower[r] = fmax(b->lower[r], least->lower[r]);
		b->upper[r] = fmax(b->upper[r], least->upper[r]);
	}
}

double auc_price_unit(const struct auc_price_curve *c, double used, double capacity)
{
	double x = used / capacity;

	if (c->kind == AUC_PRICE_ETA)
		return used <= 0 || c->eta == 1 ? 0 : pow(c->eta, x) - 1;
	if (x >= 1)
		return exp(c->upper);
	/* apart, as -INFINITY plus INFINITY is no number */
	return isinf(c->lower) ? 0 : exp(c->lower + (c->upper - c->lower) * x);
}

void auc_price_ratios(const struct auc_market *m, const struct auc_job *job, double *ratio)
{
	unsigned upload = least_upload(m, job);
	unsigned k, w, p;

	for (k = 0; k < m->ntres; k++)
		ratio[k] = 0;
	for (k = 0; k < job->nshapes; k++)
		shape_ratios(m, job, &job->shapes[k], upload, ratio);
	if (job->nshapes)
		return;
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++)
			if (job->worker_seconds[w] >= 0 && job->ps_seconds[p] >= 0) {
				layout_ratios(m, job, w, p, false, upload, ratio);
				layout_ratios(m, job, w, p, true, upload, ratio);
			}
}

double auc_price_site_ratios(const struct auc_market *m, const struct auc_job *job, double *ratio)
{
	double value = auc_utility_value(&job->utility, 1), units, mb, traffic = 0, workers;
	unsigned k, w, p;

	for (k = 0; k < m->ntres; k++)
		ratio[k] = 0;
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++) {
			if (job->worker_seconds[w] < 0 || job->ps_seconds[p] < 0)
				continue;
			workers = (double)auc_ceil((double)job->epochs * (double)job->chunks /
						   auc_job_chunks_per_slot(m, job, w, p));
			for (k = 0; k < m->ntres; k++) {
				units = workers * m->types[w].amount[k] +
					m->types[auc_ps_index(m, p)].amount[k];
				if (units > 0)
					ratio[k] = fmax(ratio[k], value / units);
			}
			mb = workers * auc_job_exchange_mb(m, job, w, p);
			if (!(mb > 0))
				mb = (double)job->chunks * job->chunk_mb;
			if (mb > 0)
				traffic = fmax(traffic, value / mb);
		}
	return traffic;
}

static unsigned least_upload(const struct auc_market *m, const struct auc_job *job)
{
	unsigned s, least = UINT32_MAX;

	for (s = 0; s < m->nservers; s++)
		if (job->upload[s] < least)
			least = job->upload[s];
	return least;
}

/* Raises RATIO by a gang's shape, if there are servers for it and slots. */
static void shape_ratios(const struct auc_market *m, const struct auc_job *job,
			 const struct auc_shape *shape, unsigned upload, double *ratio)
{
	int64_t d = auc_shape_slots(m, shape);
	unsigned n = 0, k, s;
	double value, units;

	if (shape->never || d > auc_market_last(m) - job->arrival - (auc_slot)upload + 1)
		return;
	for (s = 0; s < m->nservers; s++) {
		bool fits = m->servers[s].roles & AUC_ROLE_WORKER;

		for (k = 0; k < m->ntres && fits; k++)
			fits = m->servers[s].units[k] >= shape->units[k];
		n += fits;
	}
	if (n < shape->nodes)
		return;
	value = auc_utility_value(&job->utility, (double)upload + (double)d);
	for (k = 0; k < m->ntres; k++) {
		units = shape->amount[k] * shape->nodes * (double)d;
		if (units > 0 && value / units > ratio[k])
			ratio[k] = value / units;
	}
}

/*
 * Raises RATIO by the schedules of one type pair and placement. Worker counts beyond what the empty
 * cluster holds are no schedules, nor are durations beyond the last slot. Distributed, the fewest
 * PSs are those for one worker elsewhere.
 */
static void layout_ratios(const struct auc_market *m, const struct auc_job *job, unsigned w,
			  unsigned p, bool colocated, unsigned upload, double *ratio)
{
	const struct auc_bundle *worker = &m->types[w], *ps = &m->types[auc_ps_index(m, p)];
	double work = auc_job_work(m, job, w, p, colocated);
	int64_t most = colocated ? m->cache[w].max0 : m->cache[w].total0;
	int64_t n, z = colocated ? 1 : auc_job_ps(m, w, p, 1);
	auc_slot d, longest = auc_market_last(m) - job->arrival - upload + 1;
	double value, units;
	unsigned k;

	if (z > m->cache[auc_ps_index(m, p)].max0)
		return;
	for (d = 1; d <= m->slots && d <= longest; d++) {
		value = auc_utility_value(&job->utility, (double)upload + (double)d);
		if (!may_raise(worker, ps, work, (double)z * (double)d, value, ratio, m->ntres))
			return;
		n = auc_job_workers(work, d, job->chunks);
		if (!n || n > most || auc_job_duration(work, n) != d)
			continue;
		for (k = 0; k < m->ntres; k++) {
			units = ((double)n * worker->amount[k] + (double)z * ps->amount[k]) *
				(double)d;
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
