/* queue_jobs.c - see queue_jobs.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/baseline/queue_jobs.h"
#include "base/num.h"

static void add_tres(struct queue_jobs *l, const struct scenario *s, bool gpus);
static unsigned find_tres(const struct queue_jobs *l, const char *name);
static bool grow(void **list, unsigned n, unsigned *alloc, size_t size);

enum auc_code queue_jobs_open(struct queue_jobs *l, const struct scenario *s, struct auc_err *err)
{
	unsigned all = 1, i, k, at;

	memset(l, 0, sizeof(*l));
	for (i = 0; i < s->nservers; i++)
		all += s->servers[i].ncapacity;
	l->tres = calloc(all, sizeof(*l->tres));
	if (!l->tres)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	add_tres(l, s, true); /* what nodes are chosen by */
	add_tres(l, s, false);
	l->q.ntres++; /* what no node has */
	l->q.nnodes = s->nservers;
	l->capacity = calloc((size_t)s->nservers * l->q.ntres + 1, sizeof(*l->capacity));
	if (!l->capacity)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	for (i = 0; i < s->nservers; i++)
		for (k = 0; s->servers[i].roles & AUC_ROLE_WORKER && k < s->servers[i].ncapacity;
		     k++) {
			at = i * l->q.ntres + find_tres(l, s->servers[i].capacity[k].name);
			l->capacity[at] = llround(s->servers[i].capacity[k].value * QUEUE_UNITS);
		}
	l->q.capacity = l->capacity;
	return AUC_OK;
}

enum auc_code queue_jobs_add(struct queue_jobs *l, const struct scenario_job *job, double submit,
			     double unit, double limit, struct auc_err *err)
{
	struct queue_job *j;
	struct queue_shape *s;
	unsigned i, k, at;

	if (!grow((void **)&l->jobs, l->q.njobs, &l->jobs_alloc, sizeof(*l->jobs)))
		return auc_err_set(err, AUC_ENOMEM, "no memory for %u jobs", l->q.njobs);
	j = &l->jobs[l->q.njobs];
	*j = (struct queue_job){.submit = submit, .first = l->q.nshapes, .n = job->ngang};
	for (i = 0; i < job->ngang; i++) {
		if (!grow((void **)&l->shapes, l->q.nshapes, &l->shapes_alloc,
			  sizeof(*l->shapes)) ||
		    !grow((void **)&l->amounts, l->namounts + l->q.ntres, &l->amounts_alloc,
			  sizeof(*l->amounts)))
			return auc_err_set(err, AUC_ENOMEM, "no memory for %u jobs", l->q.njobs);
		s = &l->shapes[l->q.nshapes++];
		*s = (struct queue_shape){
			.nodes = (unsigned)fmin((double)job->gang[i].nodes, UINT32_MAX - 1),
			.amount = l->namounts,
			.seconds = job->gang[i].seconds};
		if (unit > 0)
			s->seconds = unit * fmax(1, (double)auc_ceil(s->seconds / unit));
		s->limit = s->seconds;
		if (limit > job->gang[0].seconds)
			s->limit = fmax(s->seconds,
					limit * job->gang[i].seconds / job->gang[0].seconds);
		memset(l->amounts + l->namounts, 0, l->q.ntres * sizeof(*l->amounts));
		for (k = 0; k < job->gang[i].nper_node; k++) {
			at = l->namounts + find_tres(l, job->gang[i].per_node[k].name);
			l->amounts[at] = llround(job->gang[i].per_node[k].value * QUEUE_UNITS);
		}
		l->namounts += l->q.ntres;
	}
	l->q.njobs++;
	l->q.jobs = l->jobs;
	l->q.shapes = l->shapes;
	l->q.amounts = l->amounts;
	return AUC_OK;
}

void queue_jobs_clear(struct queue_jobs *l)
{
	free(l->tres);
	free(l->capacity);
	free(l->amounts);
	free(l->shapes);
	free(l->jobs);
	memset(l, 0, sizeof(*l));
}

static void add_tres(struct queue_jobs *l, const struct scenario *s, bool gpus)
{
	const struct scenario_server *v;

	for (v = s->servers; v < s->servers + s->nservers; v++)
		for (unsigned k = 0; k < v->ncapacity; k++) {
			const char *name = v->capacity[k].name;

			if (!strncmp(name, "gpu", 3) == gpus && find_tres(l, name) == l->q.ntres)
				strcpy(l->tres[l->q.ntres++], name);
		}
}

/* Its place; one more than the last: no node has it. */
static unsigned find_tres(const struct queue_jobs *l, const char *name)
{
	unsigned known = l->capacity ? l->q.ntres - 1 : l->q.ntres, k;

	for (k = 0; k < known && strcmp(l->tres[k], name) != 0; k++)
		;
	return k;
}

/* *LIST with room for one more than N. */
static bool grow(void **list, unsigned n, unsigned *alloc, size_t size)
{
	void *grown;
	unsigned more = n + n / 2 + 64;

	if (n < *alloc)
		return true;
	grown = more > n ? reallocarray(*list, more, size) : NULL;
	if (!grown)
		return false;
	*list = grown;
	*alloc = more;
	return true;
}
