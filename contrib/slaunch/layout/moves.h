/*
 * moves.h - which chunks of a job's data are moved when, and where each is trained, by a receipt
 * that counts them only: the chunks are numbered in the order in which the bid says where they lie,
 * and those that leave a node are its last ones, in the order of the plan. Pure: no Slurm, no I/O.
 */
#ifndef SLAUNCH_MOVES_H
#define SLAUNCH_MOVES_H

#include <stdint.h>

#include "base/err.h"
#include "ledger/receipt.h"

#define MOVES_CHUNKS_MAX 16384 /* of a job: their list is one environment variable */

/* One chunk; the names are the receipt's. */
struct move {
	int64_t slot;
	uint64_t chunk;
	const char *from, *to;
};

/* *LIST is malloc'd, by slot. AUC_EINVAL: more than MOVES_CHUNKS_MAX chunks; AUC_ENOMEM. */
enum auc_code moves_make(const struct auc_receipt *r, struct move **list, unsigned *n,
			 struct auc_err *err);
/*
 * "edge1=0,2;edge2=1": where each chunk is trained, malloc'd. NULL: the receipt does not say where
 * chunks lie, there are more than MOVES_CHUNKS_MAX, or no memory.
 */
char *moves_places(const struct auc_receipt *r);

#endif
