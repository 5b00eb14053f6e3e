/*
 * homes.h - on which node each chunk of the data lies, where the plan says so (AUCTION_CHUNKS, see
 * slaunch(1)). Pure.
 */
#ifndef TRAIN_HOMES_H
#define TRAIN_HOMES_H

#include <stdint.h>

#include "base/err.h"

#define HOMES_CHUNKS_MAX 1000000
#define HOMES_NOWHERE    UINT32_MAX /* a node without chunks */

struct homes {
	uint64_t n;     /* chunks; 0: they may be anywhere */
	uint32_t *home; /* by chunk: its node */
	char **nodes;
	uint32_t nnodes;
};

/*
 * Reads "edge1=0,2;edge2=1": each chunk from 0 to the highest once. NULL: none. AUC_EINVAL names
 * the place. Free with homes_clear().
 */
enum auc_code homes_parse(struct homes *h, const char *text, struct auc_err *err);
void homes_clear(struct homes *h);
/* The number of NODE, or HOMES_NOWHERE. */
uint32_t homes_find(const struct homes *h, const char *node);

#endif
