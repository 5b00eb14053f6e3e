/*
 * group.h - the group of jobs that a sold plan is, as Slurm knows it: the lead's receipt, the
 * members, the nodes' addresses. The only file of the launcher that calls Slurm.
 */
#ifndef SLAUNCH_GROUP_H
#define SLAUNCH_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "layout.h"

/*
 * Makes the layout of the group whose lead is JOB_ID (the caller's own job), with the jobs of all
 * nodes, waiting up to WAIT seconds for them to run; WAIT < 0: takes what there is, missing jobs
 * stay 0. AUC_ENOENT: no such job; AUC_EINVAL: not an auction job; AUC_ESTATE: its time is over, or
 * members are not running (the sentence names them); AUC_EIO: Slurm does not answer.
 */
enum auc_code group_load(uint32_t job_id, double wait, unsigned verbose, struct layout *l,
			 struct auc_err *err);

/* The address by which NODE is reached (its NodeAddr), into BUF; the node's name if Slurm does not
 * say. */
void group_node_addr(const char *node, char *buf, size_t size);

#endif
