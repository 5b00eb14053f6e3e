/*
 * dorm_program.h - the integer program of Dorm (P. Sun et al., "Towards Distributed Machine
 * Learning in Shared Clusters: A Dynamically-Partitioned Approach", 2017): most use of a cluster in
 * one slot, within limits of unfairness and of how many running jobs change.
 */
#ifndef SIM_DORM_PROGRAM_H
#define SIM_DORM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* One job; arrays by TRES or by server. */
struct dorm_job {
	const int64_t *worker, *ps;     /* units of each TRES that one takes */
	const bool *worker_on, *ps_on;  /* servers that may have them */
	double bandwidth, ps_bandwidth; /* of a worker, of a PS: ceil(workers * b / B) PSs */
	unsigned most;                  /* workers */
	double share;                   /* dominant share of the cluster that one worker takes */
	double fair;                    /* the share that it should have */
	bool runs;                      /* with the workers and PSs below; others have none */
	unsigned *workers, *pss;        /* in and out */
};

struct dorm_program {
	unsigned nservers, ntres, njobs;
	const int64_t *left; /* by server and TRES, in units, before any of these jobs */
	const double *total; /* by TRES: units of the cluster; use is the sum of used / total */
	struct dorm_job *jobs;
	double unfair;    /* the sum over jobs of |share - fair| is at most that */
	unsigned changes; /* of the layouts of jobs that run, at most */
	double seconds;   /* of the processor */
};

enum dorm_found {
	DORM_BEST, /* the best that there is, to GLPK's tolerance */
	DORM_SOME, /* the best that was found in time */
	DORM_NONE, /* nothing: there is nothing, or it was not found in time, or no memory */
};

/*
 * Changes the workers and PSs of P's jobs to the layout with the most use. If none was found they
 * stay as they are. A program built without GLPK finds none.
 */
enum dorm_found dorm_solve(const struct dorm_program *p);
/* The use that P's jobs make as they are. */
double dorm_use(const struct dorm_program *p);
/* PSs that N workers of J need. */
unsigned dorm_pss(const struct dorm_job *j, unsigned n);

#endif
