/* pairs.c - see pairs.h. */
#include "config.h"

#include "market/timeline.h"
#include "policy/pairs.h"

bool auc_pairs_fastest(const struct auc_market *m, const struct auc_job *job, unsigned *worker,
		       unsigned *ps)
{
	double work, least = 0;
	bool found = false;
	unsigned w, p;

	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++) {
			if (job->worker_seconds[w] < 0 || job->ps_seconds[p] < 0 ||
			    !m->cache[w].total0 || !m->cache[auc_ps_index(m, p)].total0)
				continue;
			work = auc_job_work(m, job, w, p, false);
			if (found && work >= least)
				continue;
			found = true;
			least = work;
			*worker = w;
			*ps = p;
		}
	return found;
}
