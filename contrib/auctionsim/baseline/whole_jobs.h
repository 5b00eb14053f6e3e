/*
 * whole_jobs.h - shared by steppers whose jobs run with all of their workers or not at all, wherever
 * there is room. A job may be paused and moved between slots at no cost. Its data are on a server
 * from arrival + upload on, on all of them.
 */
#ifndef SIM_WHOLE_JOBS_H
#define SIM_WHOLE_JOBS_H

#include "policy/free_room.h"
#include "policy/stepper.h"

enum whole_job_site {
	WHOLE_JOB_ANY,
	WHOLE_JOB_EDGE,
	WHOLE_JOB_CLOUD,
};
#define WHOLE_JOB_SITES "any|edge" /* those that an option may name */

struct whole_job {
	uint64_t id, number; /* number: in the order of arrival */
	auc_slot arrival;    /* its data are sent from then on */
	unsigned worker_type, ps_type;
	struct auc_bundle worker, ps;
	unsigned *upload; /* by server */
	uint64_t chunks;
	int64_t n; /* workers when it runs */
	/* Slots of one chunk on one worker, with the exchange and without. */
	int64_t apart, together;
	/* Work in parts of a chunk: a worker does "together" of them in a slot with the exchange,
	 * "apart" without. */
	int64_t left;
	int64_t served; /* worker-slots it had so far */
	/* The policy's: what it is compared by; it is not placed; where it may be. */
	unsigned class;
	bool waits;
	enum whole_job_site site;
	int64_t edge_fit, cloud_fit; /* workers that all of the empty edge, or one cloud, holds */
	bool running, done;          /* in the latest slot */
	unsigned ps_server;          /* of the latest slot it ran in */
	unsigned nshares;            /* the same: its layout */
	struct auc_share *shares;
};

struct whole_jobs {
	unsigned site; /* where new jobs may be: an whole_job_site */
	uint64_t arrived;
	unsigned n, alloc;
	struct whole_job **jobs; /* those at hand */
	struct auc_layout *layouts;
	struct auc_free_room room;
	/* by server, of the layout at hand */
	unsigned servers_alloc;
	unsigned *fit, *order, *take;
};

void whole_jobs_clear(struct whole_jobs *g);
/*
 * As auc_stepper's. The job asks for as many workers as it has chunks, or for JOB->workers if they
 * are fewer; it gets at most as many as an empty cluster holds.
 */
enum auc_code whole_jobs_arrive(struct whole_jobs *g, const struct auc_market *m, uint64_t id,
				const struct auc_job *job, enum auc_reason *reason,
				struct auc_err *err);
/* Jobs are placed in the order of COMPARE (qsort's, of two struct whole_job *), each if it still
 * fits. */
enum auc_code whole_jobs_step(struct whole_jobs *g, const struct auc_market *m, auc_slot t,
			      int (*compare)(const void *, const void *),
			      const struct auc_layout **layouts, unsigned *n, struct auc_err *err);
enum auc_code whole_jobs_leave(struct whole_jobs *g, uint64_t id, struct auc_err *err);

#endif
