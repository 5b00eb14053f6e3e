/*
 * aonref.h - the algorithms of policy aonline as plainly as they can be written, chunk by chunk and
 * slot by slot, with PSs for everybody: what the policy is compared with, in results and in speed.
 * The guard tries a dispatch on a copy of all there is and runs that to the end.
 */
#ifndef AONREF_H
#define AONREF_H

#include <stdbool.h>

#define AONREF_CLOUD (-1)
#define AONREF_FAR   (-1) /* a delay: the job cannot use it */

struct aonref_chunk {
	int job; /* in the order of arrival */
	int worker;
	int ready, left;
	int runs, first, last; /* how often it was begun, its first and last slot */
};

struct aonref_job {
	int arrival, n, p; /* p: slots of a chunk as it goes */
	int first_chunk, undone, completion;
};

struct aonref {
	bool guard;
	const int *server; /* by worker */
	int storage;       /* chunks that server 0 has room for; 0: it has no limit */
	int cloud_storage; /* the same of the cloud */
	int nworkers, njobs, nchunks, jobs_alloc, chunks_alloc;
	struct aonref_job *jobs;
	struct aonref_chunk *chunks;
	int *left;            /* scratch */
	struct aonref_queue { /* by worker */
		int n, alloc;
		int *chunks; /* pending, in their order */
	} * queues;
};

/* Without guard and limits; those may be set before the first job comes. */
struct aonref *aonref_make(int workers);
void aonref_free(struct aonref *r);
/* Dispatches the next job; DELAY by worker. False: no place, and it is not there. */
bool aonref_arrive(struct aonref *r, int arrival, int n, int apart, int together, const int *delay,
		   int cloud_delay);
/* What runs in slot T. */
void aonref_step(struct aonref *r, int t);

#endif
