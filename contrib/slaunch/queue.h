/*
 * queue.h - looks at Slurm's queue for a group of jobs. The only file of the launcher that calls
 * Slurm. Slurm may take many seconds to report that its controller is down, so a launcher with
 * running tasks has a child do it.
 */
#ifndef SLAUNCH_QUEUE_H
#define SLAUNCH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "slaunch/layout/group.h"
#include "slaunch/wire.h"

/*
 * Sees the group whose lead is JOB_ID, a job of the caller. AUC_ENOENT: no such job; AUC_EIO: Slurm
 * does not answer. Free with group_clear().
 */
enum auc_code queue_now(uint32_t job_id, struct group *g, struct auc_err *err);
/*
 * Makes the layout that is current (layout_make()), with the jobs of all nodes, waiting up to WAIT
 * seconds for them to run; WAIT < 0: takes what there is, missing jobs stay 0. AUC_ESTATE: its time
 * is over, or members are not running (the sentence names them); otherwise as queue_now() and
 * group_legs().
 */
enum auc_code queue_wait(uint32_t job_id, double wait, unsigned verbose, struct layout *l,
			 struct legs *c, struct auc_err *err);
/* The address by which NODE is reached (its NodeAddr), into BUF; the node's name if Slurm does not
 * say. */
void queue_node_addr(const char *node, char *buf, size_t size);

/* A child that looks; wire.fd -1: there is none. */
struct look {
	struct wire wire; /* poll it for input, then queue_take() */
	pid_t pid;
};

/* False: it could not start; errno. */
bool queue_start(struct look *k, uint32_t job_id);
/* Takes what has come. True: the look is over; *RC is AUC_OK with the group in G, or says what went
 * wrong. */
bool queue_take(struct look *k, struct group *g, enum auc_code *rc, struct auc_err *err);
/* Gives it up. */
void queue_end(struct look *k);

#endif
