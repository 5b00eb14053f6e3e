/*
 * granted.h - jobs of bids that were accepted, until it is known that Slurm's own counts have them:
 * that takes as long as the agent needs to submit all members, and to read the counts anew. Not
 * thread-safe.
 */
#ifndef AUC_GRANTED_H
#define AUC_GRANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "auction/auction.h"

#define AUC_GRANTED_MAX     256  /* of more the first are forgotten */
#define AUC_GRANTED_LONGEST 30.0 /* seconds: what Slurm has not taken by then it may never take */

/* All zero to begin with. */
struct auc_granted {
	unsigned next;
	struct auc_grant {
		char sale[AUC_SALE_ID_LEN];
		uint32_t uid;
		unsigned jobs; /* 0: none */
		double at;
	} list[AUC_GRANTED_MAX]; /* a ring */
};

/* UID was sold SALE at NOW (auc_site_elapsed()), which takes JOBS more than there are. */
void auc_granted_add(struct auc_granted *g, const char *sale, uint32_t uid, unsigned jobs,
		     double now);
/* How many jobs may be on their way at NOW, of UID or (ALL) of all. */
unsigned auc_granted_jobs(const struct auc_granted *g, uint32_t uid, bool all, double now);
/* True if the jobs of SALE, which was granted at AT, were there before ARG's count was read, or
 * never will be. */
typedef bool auc_granted_is_counted(const void *arg, const char *sale, double at);
/* Forgets those that are counted. True if any is left at NOW. */
bool auc_granted_sweep(struct auc_granted *g, auc_granted_is_counted *is_counted, const void *arg,
		       double now);

#endif
