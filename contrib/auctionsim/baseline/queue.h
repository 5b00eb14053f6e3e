/*
 * queue.h - what a batch system makes of jobs without an auction: a queue in the order of
 * submission, with or without EASY backfill (D. Lifka: "The ANL/IBM SP Scheduling System", JSSPP
 * 1995): the first job of the queue has a reservation, at the earliest time at which it would fit
 * if every running job took as long as it may; others start before it if they fit and do not delay
 * that. Jobs are nodes x amounts x time, on a clock without slots.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define QUEUE_UNITS 1e6 /* amounts are counted in millionths */

/* One way in which a job may run. */
struct queue_shape {
	unsigned nodes;
	unsigned amount; /* place in queue.amounts of what each node gives, by TRES */
	double seconds;  /* what it takes */
	double limit;    /* what it may take, all that is known beforehand: at least SECONDS */
};

struct queue_job {
	double submit;     /* seconds; ascending by job */
	unsigned first, n; /* its shapes */
};

struct queue {
	unsigned ntres, nnodes, njobs, nshapes;
	const int64_t *capacity; /* by node and TRES */
	const int64_t *amounts;
	const struct queue_shape *shapes;
	const struct queue_job *jobs;
};

struct queue_outcome {
	double start, end; /* seconds; < 0: it fits no empty cluster and never starts */
	unsigned shape;    /* of its own, from 0 */
	unsigned *nodes;   /* as many as the shape has, ascending; freed by queue_clear() */
};

typedef bool (*queue_progress)(void *arg, unsigned done, unsigned all);

/*
 * Runs the jobs of Q to their ends. OUT[q->njobs] is zeroed by the caller. Of nodes that hold a job
 * those with least left of its first TRES are taken, then those of low index; where it matters,
 * those first that the reservation does not need. BACKFILL false: no job starts before its
 * predecessor. PROGRESS may be NULL; false from it: AUC_ESTATE. AUC_ENOMEM.
 */
enum auc_code queue_run(const struct queue *q, bool backfill, struct queue_outcome *out,
			queue_progress progress, void *arg, struct auc_err *err);
void queue_clear(struct queue_outcome *out, unsigned n);

#endif
