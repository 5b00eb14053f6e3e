/*
 * patience.h - for how long users are told to ask again. sbatch, salloc and srun do so by
 * themselves, for up to two minutes; a cause that should have gone away in a second or two and has
 * not is a refusal, so that nobody sits before one for long.
 */
#ifndef AUC_PATIENCE_H
#define AUC_PATIENCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define AUC_PATIENCE_USERS 64 /* that are told so at once; of more the first are forgotten */

/* All zero but the lock to begin with. */
struct auc_patience {
	pthread_mutex_t lock;
	struct auc_patience_user {
		uint32_t uid;
		double since, last; /* when UID was first and last told so; 0: never */
	} users[AUC_PATIENCE_USERS];
};

/* True if UID, who asks at NOW (seconds of a clock that nobody sets, above 0), may be told to ask
 * again; false: has been for ten seconds without a pause as no client makes one. */
bool auc_patience_lasts(struct auc_patience *p, uint32_t uid, double now);

#endif
