/*
 * fence.h - keeps ordinary jobs out of what was sold, on nodes that are in an ordinary partition,
 * too: by an advanced reservation of the whole node, which the sale's jobs are in. Conversely, a
 * node is not sold for times in which it is in another reservation or runs an ordinary job.
 *
 * Each reservation that Slurm has to look at makes its scheduler slower, so not every sold window
 * has one. A job that would run into a later window of a node also runs into the next: fenced are,
 * on each node, the windows that have begun and the first that has not.
 *
 * Ours are known by their names (auc_fence_is_ours()) and made again from the ledger after a
 * restart; others are never touched.
 */
#ifndef AUC_FENCE_H
#define AUC_FENCE_H

#include "sched/auction/agent-private.h"

/*
 * Looks at nodes, reservations and jobs: which servers are fenced (Fence= in auction.conf), which
 * fences there are, and in which times others have the servers, which are closed in the auction.
 * FRESH: reservations are loaded again; else they are as they were.
 */
void auc_fence_look(struct auc_agent *a, const node_info_msg_t *nodes, bool fresh);
/* Makes, changes and removes fences as the sales want them, and puts the jobs that wait inside. */
void auc_fence_keep(struct auc_agent *a, double now);
/* The fence that PART of T's plan is behind, as there is one now; NULL: none. */
const char *auc_fence_of(const struct auc_agent *a, const struct auc_task *t, unsigned part);
/* JOB, a member, could not be put inside its fence: it is tried again. */
void auc_fence_outside(struct auc_agent *a, uint32_t job);
/* True if others have SERVER at some time from FROM to TO. */
bool auc_fence_closes(const struct auc_agent *a, const char *server, double from, double to);
/* The clock was set by STEP seconds. */
void auc_fence_shift(struct auc_agent *a, double step);
void auc_fence_clear(struct auc_agent *a);

#endif
