/* job.c - how fast a job runs: see timeline.h. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "base/num.h"
#include "base/list.h"

static bool could_hold(const struct auc_market *m, const struct auc_job *job, unsigned server);
static bool holds(const struct auc_market *m, unsigned server, const int64_t *units);
static int64_t fewest(double work, int64_t d, int64_t low, int64_t high);

void auc_job_clear(struct auc_job *job)
{
	free(job->upload);
	free(job->data);
	free(job->shapes);
	memset(job, 0, sizeof(*job));
}

enum auc_code auc_job_copy(struct auc_job *to, const struct auc_job *from, unsigned nservers,
			   struct auc_err *err)
{
	size_t shapes = from->nshapes * sizeof(*from->shapes);

	*to = *from;
	to->data = NULL;
	to->ndata = to->data_alloc = 0;
	to->upload = malloc(((size_t)nservers + 1) * sizeof(*to->upload));
	to->shapes = shapes ? malloc(shapes) : NULL;
	to->upload_alloc = nservers;
	to->shapes_alloc = to->nshapes;
	if (!to->upload || (shapes && !to->shapes)) {
		auc_job_clear(to);
		return auc_err_set(err, AUC_ENOMEM, "no memory for a job");
	}
	memcpy(to->upload, from->upload, nservers * sizeof(*to->upload));
	if (shapes)
		memcpy(to->shapes, from->shapes, shapes);
	return AUC_OK;
}

bool auc_job_may_gain(const struct auc_market *m, const struct auc_job *job, uint64_t seen)
{
	for (unsigned s = 0; s < m->nservers; s++)
		if (m->freed[s] > seen && could_hold(m, job, s))
			return true;
	return false;
}

/* Whether SERVER, empty, holds a worker, a PS or a node of JOB. */
static bool could_hold(const struct auc_market *m, const struct auc_job *job, unsigned server)
{
	if (job->upload[server] == UINT32_MAX)
		return false;
	for (unsigned i = 0; i < job->nshapes; i++)
		if (!job->shapes[i].never && holds(m, server, job->shapes[i].units))
			return true;
	for (unsigned k = 0; k < m->nworker_types && !job->nshapes; k++)
		if (job->worker_seconds[k] >= 0 && holds(m, server, m->types[k].units))
			return true;
	for (unsigned k = 0; k < m->nps_types && !job->nshapes; k++)
		if (job->ps_seconds[k] >= 0 && holds(m, server, m->ps_types[k].units))
			return true;
	return false;
}

static bool holds(const struct auc_market *m, unsigned server, const int64_t *units)
{
	for (unsigned k = 0; k < m->ntres; k++)
		if (units[k] > m->servers[server].units[k])
			return false;
	return true;
}

void auc_job_stretch(struct auc_job *job, double factor)
{
	for (unsigned i = 0; i < AUC_TYPES_MAX; i++) {
		if (job->worker_seconds[i] > 0)
			job->worker_seconds[i] *= factor;
		if (job->ps_seconds[i] > 0)
			job->ps_seconds[i] *= factor;
	}
	job->compute_seconds *= factor;
	job->gradient_mb *= factor;
	job->chunks_per_slot /= factor;
	for (unsigned i = 0; i < job->nshapes; i++)
		job->shapes[i].seconds *= factor;
}

double auc_job_work(const struct auc_market *m, const struct auc_job *job, unsigned worker_type,
		    unsigned ps_type, bool colocated)
{
	double seconds = job->worker_seconds[worker_type] + job->ps_seconds[ps_type];

	if (!colocated)
		seconds += 2 * job->gradient_mb * 8 / m->types[worker_type].bandwidth;
	return (double)job->epochs * (double)job->chunks * (double)job->minibatches * seconds /
	       m->slot_seconds;
}

double auc_job_chunks_per_slot(const struct auc_market *m, const struct auc_job *job,
			       unsigned worker_type, unsigned ps_type)
{
	double seconds = job->worker_seconds[worker_type] + job->ps_seconds[ps_type] +
			 2 * job->gradient_mb * 8 / m->types[worker_type].bandwidth;

	if (job->chunks_per_slot > 0)
		return job->chunks_per_slot;
	return m->slot_seconds / ((double)job->minibatches * seconds);
}

double auc_job_exchange_mb(const struct auc_market *m, const struct auc_job *job,
			   unsigned worker_type, unsigned ps_type)
{
	if (job->chunks_per_slot > 0)
		return job->exchange_mb;
	return 2 * job->gradient_mb * (double)job->minibatches *
	       auc_job_chunks_per_slot(m, job, worker_type, ps_type);
}

int64_t auc_job_worker_slots(const struct auc_market *m, const struct auc_job *job,
			     unsigned worker_type)
{
	double seconds = job->worker_seconds[worker_type] +
			 2 * job->gradient_mb * 8 / m->types[worker_type].bandwidth;
	int64_t work = auc_ceil((double)job->epochs * (double)job->chunks *
				(double)job->minibatches * seconds / m->slot_seconds);

	return work > 1 ? work : 1;
}

int64_t auc_job_duration(double work, int64_t n)
{
	int64_t d = auc_ceil(work / (double)n);

	return d > 1 ? d : 1;
}

int64_t auc_job_workers(double work, int64_t d, uint64_t chunks)
{
	int64_t n = auc_ceil(work / (double)d), most = (int64_t)chunks;

	if (!most)
		return 0;
	n = n < 1 ? 1 : n < most ? n : most;
	/* the 1e-9 rule on work/d and on work/n may differ, as a rule by a worker:
	 * auc_job_duration() decides */
	if (auc_job_duration(work, n) <= d)
		return n == 1 || auc_job_duration(work, n - 1) > d ? n : fewest(work, d, 1, n - 1);
	if (n < most && auc_job_duration(work, n + 1) <= d)
		return n + 1;
	return auc_job_duration(work, most) > d ? 0 : fewest(work, d, n + 2, most);
}

int64_t auc_job_ps(const struct auc_market *m, unsigned worker_type, unsigned ps_type,
		   int64_t elsewhere)
{
	int64_t z = auc_ceil(m->types[worker_type].bandwidth * (double)elsewhere /
			     m->types[auc_ps_index(m, ps_type)].bandwidth);

	return z > 1 ? z : 1;
}

int64_t auc_job_served(const struct auc_market *m, unsigned worker_type, unsigned ps_type,
		       int64_t z)
{
	int64_t n = auc_floor((double)z * m->types[auc_ps_index(m, ps_type)].bandwidth /
			      m->types[worker_type].bandwidth);

	if (n >= INT64_C(1) << 52)
		return n;
	if (n > 0 && auc_job_ps(m, worker_type, ps_type, n) > z)
		n--;
	if (auc_job_ps(m, worker_type, ps_type, n + 1) <= z)
		n++;
	return n;
}

/* The fewest workers, from LOW to HIGH, that need at most D slots; HIGH do. */
static int64_t fewest(double work, int64_t d, int64_t low, int64_t high)
{
	int64_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (auc_job_duration(work, middle) <= d)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
