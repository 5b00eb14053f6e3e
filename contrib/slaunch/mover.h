/*
 * mover.h - moves chunks of data to the nodes that train them, as the plan bought it: during the
 * slot of the move, so that they count against that slot's budget. A process beside the launcher;
 * it reports what it measured in the launcher's output.
 */
#ifndef SLAUNCH_MOVER_H
#define SLAUNCH_MOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DATA_DIR "AUCTION_DATA_DIR"

struct mover_options {
	const char *agent; /* path of this program, good on every node */
	const char *dir;   /* where chunks lie, as chunk.N; "%n" is the node's name */
	bool shared;       /* every node sees those of all others there */
	unsigned verbose;
};

/* DIR with the name of NODE for "%n", into PATH[SIZE]. False: it is too long. */
bool mover_dir(const char *dir, const char *node, char *path, size_t size);
/*
 * Follows the plan of the job JOB_ID in a child, which ends with the last move, or with this
 * process. -1: errno.
 */
pid_t mover_start(const struct mover_options *o, uint32_t job_id);

#endif
