/* shape.c - the shapes of a gang: see market.h. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "market/timeline.h"

#define SECONDS_MAX 1e12

enum auc_code auc_job_add_shape(const struct auc_market *m, struct auc_job *job,
				const struct auc_named *per_node, unsigned n, uint64_t nodes,
				double seconds, struct auc_err *err)
{
	struct auc_shape *grown, *shape;
	enum auc_code rc;

	if (job->nshapes == AUC_SHAPES_MAX)
		return auc_err_set(err, AUC_EINVAL, "a gang has at most %d shapes", AUC_SHAPES_MAX);
	if (!nodes || nodes > UINT32_MAX || !(seconds > 0 && seconds <= SECONDS_MAX))
		return auc_err_set(err, AUC_EINVAL,
				   "%llu nodes for %g s: expected at least one node, and a time "
				   "above 0",
				   (unsigned long long)nodes, seconds);
	if (job->nshapes == job->shapes_alloc) {
		grown = realloc(job->shapes, (job->shapes_alloc * 2 + 1) * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "no memory for a gang");
		job->shapes = grown;
		job->shapes_alloc = job->shapes_alloc * 2 + 1;
	}
	shape = &job->shapes[job->nshapes];
	shape->nodes = (unsigned)nodes;
	shape->seconds = seconds;
	rc = auc_market_amounts(m, per_node, n, shape->amount, shape->units, &shape->never, err);
	if (rc == AUC_OK)
		job->nshapes++;
	return rc;
}

int64_t auc_shape_slots(const struct auc_market *m, const struct auc_shape *shape)
{
	int64_t d = auc_ceil(shape->seconds / m->slot_seconds);

	return d > 1 ? d : 1;
}

bool auc_shape_holds(const struct auc_market *m, unsigned server, const struct auc_job *job,
		     const struct auc_shape *shape)
{
	const int64_t *has = m->servers[server].units;

	for (unsigned k = 0; k < m->ntres; k++)
		if (has[k] < shape->units[k] || (job->whole && has[k] != shape->units[k]))
			return false;
	return true;
}

bool auc_job_fits_empty(const struct auc_market *m, const struct auc_job *job)
{
	for (unsigned i = 0; i < job->nshapes; i++) {
		const struct auc_shape *shape = &job->shapes[i];
		unsigned most = 0;

		if (shape->never)
			continue;
		for (unsigned s = 0; s < m->nservers; s++) {
			unsigned n = 0;

			/* Servers on the switch of S, or all. */
			for (unsigned o = job->within_switch ? s : 0; o < m->nservers; o++) {
				bool fits =
					auc_market_hosts(m, o) & AUC_ROLE_WORKER &&
					!m->servers[o].nparts &&
					(!job->within_switch ||
					 (m->servers[o].leaf_number &&
					  m->servers[o].leaf_number == m->servers[s].leaf_number));

				fits = fits && auc_shape_holds(m, o, job, shape);
				n += fits;
			}
			most = n > most ? n : most;
			if (!job->within_switch || most >= shape->nodes)
				break;
		}
		if (most >= shape->nodes)
			return true;
	}
	return false;
}
