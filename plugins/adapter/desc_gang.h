/*
 * desc_gang.h - a gang is a job as its owner wrote it: Slurm's own options say how many nodes it
 * takes, what of each, and for how long. Here they become shapes of a bid, and the shape that was
 * bought becomes the job again, which stays one ordinary job of several nodes.
 */
#ifndef AUC_DESC_GANG_H
#define AUC_DESC_GANG_H

#include "adapter/desc.h"
#include "input/bid.h"

/* True if DESC says how many nodes, tasks, CPUs, GPUs, how much memory or how much time its job
 * takes. */
bool auc_desc_has_shape(const job_desc_msg_t *desc);
/* True if it takes all memory of a node (--mem=0), and not all of the node: auc_desc_gang() has to
 * be told how much that is. */
bool auc_desc_whole(const job_desc_msg_t *desc);
/*
 * Fills BID->gang from DESC, submitted at NOW (Unix time). SIZE: what each node has that the job
 * may use; NULL: it is not known, and of a job that takes all of a node's memory the shapes say
 * what it takes at least, as they do of one that takes all of a node. REACH: by how many CPUs its
 * nodes hand them out, to which the shapes are rounded up; NULL: one by one. Options that its bid
 * cannot have are auc_desc_check()'s. AUC_EINVAL: what is missing or contradicts, all in one
 * sentence.
 */
enum auc_code auc_desc_gang(const job_desc_msg_t *desc, double now,
			    const struct auc_node_size *size, const struct auc_gang_reach *reach,
			    struct auc_bid *bid, struct auc_err *err);
/* True if DESC is of Slurm's command NAME, as its command line says. */
bool auc_desc_is_from(const job_desc_msg_t *desc, const char *name);
/* Makes DESC the job on the nodes of SLICE, a gang's, with RECEIPT; its script stays as it is. */
void auc_desc_apply_gang(job_desc_msg_t *desc, const struct auc_slice *slice, const char *receipt);
/* True if the job record INFO takes of each of SLICE's nodes what SLICE, a gang's, says. */
bool auc_gang_takes(const struct auc_slice *slice, const slurm_job_info_t *info);
/*
 * Makes UPDATE, as slurm_init_job_desc_msg() leaves it, what turns the pending gang INFO, held
 * until now, into one on SLICE's nodes with SLICE's amounts; free with auc_gang_update_clear().
 */
void auc_gang_update(const slurm_job_info_t *info, const struct auc_slice *slice,
		     job_desc_msg_t *update);
void auc_gang_update_clear(job_desc_msg_t *update);
/* True if A and B, lists of nodes as Slurm writes them, have the same nodes. */
bool auc_same_nodes(const char *a, const char *b);
/* What TRES_PER_TASK asks for beside CPUs, borrowed, or NULL: newer releases say there, too, what
 * cpus_per_task does. */
const char *auc_task_gres(const char *tres_per_task);

#endif
