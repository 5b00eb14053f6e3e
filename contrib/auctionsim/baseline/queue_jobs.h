/*
 * queue_jobs.h - the gangs of scenarios as jobs of a batch system's queue (queue.h).
 */
#ifndef SIM_QUEUE_JOBS_H
#define SIM_QUEUE_JOBS_H

#include "auctionsim/baseline/queue.h"
#include "auctionsim/scenario/scenario.h"

struct queue_jobs {
	struct queue q; /* whose arrays are these */
	char (*tres)[AUC_NAME_MAX];
	int64_t *capacity, *amounts;
	struct queue_shape *shapes;
	struct queue_job *jobs;
	unsigned namounts, amounts_alloc, shapes_alloc, jobs_alloc;
};

/* Servers of S as nodes. Cleared by queue_jobs_clear(), also after an error. AUC_ENOMEM. */
enum auc_code queue_jobs_open(struct queue_jobs *l, const struct scenario *s, struct auc_err *err);
/*
 * Adds JOB, a gang of a scenario with the same servers, submitted at SUBMIT, not before the one
 * added last. It takes what its shapes say, rounded up to multiples of UNIT seconds (0: not at
 * all). LIMIT, if more, is what it may take in its first shape; others in proportion. AUC_ENOMEM.
 */
enum auc_code queue_jobs_add(struct queue_jobs *l, const struct scenario_job *job, double submit,
			     double unit, double limit, struct auc_err *err);
void queue_jobs_clear(struct queue_jobs *l);

#endif
