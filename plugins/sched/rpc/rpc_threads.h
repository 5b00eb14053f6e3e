/*
 * rpc_threads.h - a pool of threads for calls that may block, so that the caller need not wait. At
 * most one call for each key runs at a time. Knows nothing of Slurm.
 */
#ifndef AUC_RPC_THREADS_H
#define AUC_RPC_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"

/* The first member of what is asked, which is one piece of malloc's. */
struct auc_rpc_task {
	struct auc_rpc_task *next; /* the queues' own, as is OVERTAKEN */
	bool overtaken;
	uint64_t key; /* what it is about */
	/* Asks; called once, by any of the threads, with no lock held. */
	enum auc_code (*run)(struct auc_rpc_task *e);
	/* Called likewise after a RUN that was overtaken meanwhile. NULL: nothing is to be done.
	 */
	void (*undo)(struct auc_rpc_task *e);
	enum auc_code code; /* what came of it: the result of RUN, which fills ERR in */
	struct auc_err err;
};

struct auc_rpc_threads;

/* Starts THREADS (1 to 64) threads called NAME; NULL: not all could be started (AUC_EIO,
 * AUC_ENOMEM). */
struct auc_rpc_threads *auc_rpc_threads_start(unsigned threads, const char *name,
					      struct auc_err *err);
/*
 * Ends the threads and frees Q with all that is in it: what has not begun is forgotten. False: one
 * does not end before UNTIL (CLOCK_REALTIME); Q is still there, and this may be called again. NULL
 * for Q is fine.
 */
bool auc_rpc_threads_stop(struct auc_rpc_threads *q, const struct timespec *until);

/*
 * Takes E over. False, with E freed: something with its key was put already, and what came of that
 * was not taken yet.
 */
bool auc_rpc_threads_put(struct auc_rpc_threads *q, struct auc_rpc_task *e);
/* True if something with KEY was put, and what came of it was not taken yet. */
bool auc_rpc_threads_has(struct auc_rpc_threads *q, uint64_t key);
/* True if it is so with something that IS says true of. */
bool auc_rpc_threads_any(struct auc_rpc_threads *q, bool (*is)(const struct auc_rpc_task *e));
/*
 * What cannot wait is about to be done, and nothing older with KEY may come after it:
 * what has not begun is forgotten, what is being run is undone when it returns.
 */
void auc_rpc_threads_overtake(struct auc_rpc_threads *q, uint64_t key);
/* The next one that was run, to be freed with free(); NULL: none yet. */
struct auc_rpc_task *auc_rpc_threads_take(struct auc_rpc_threads *q);

#endif
