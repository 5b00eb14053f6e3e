/*
 * block.h - blocks that were bought (adapter/desc_block.h): for each, a reservation of its nodes
 * from its first slot to its last, for its owner and those it names. Nothing else of a block is in
 * Slurm but its own job, which is held. Jobs in a reservation whose block has ended are ended, then
 * the reservation is removed; one that somebody else has removed is made again.
 */
#ifndef AUC_BLOCK_H
#define AUC_BLOCK_H

#include "sched/auction/agent-private.h"

/* Slurm's reservations are listed: forgets what it knows of ours; the reservation R is one of
 * ours (false: it is not); all of them have been taken. */
void auc_block_look(struct auc_agent *a);
bool auc_block_take(struct auc_agent *a, const reserve_info_t *r);
void auc_block_looked(struct auc_agent *a);
/* Makes, changes and removes reservations as the sales want them. */
void auc_block_keep(struct auc_agent *a, double now);
/* Tells the machines of blocks whether their reservations are there. */
void auc_block_mark(struct auc_agent *a);
/* T, a block, is about to be settled: what nodes of it could not be used until UNTIL is booked. */
void auc_block_settle(struct auc_agent *a, struct auc_task *t, double until);
/* Does what the machine of T, a block, asks of Slurm. */
enum auc_code auc_block_act(struct auc_agent *a, struct auc_task *t, enum auc_exec_ask ask,
			    struct auc_err *err);
/* INFO is of a job that was submitted for BLOCK, or is in it: ended, if that is over, or if it is
 * not in its reservation any more. */
void auc_block_see(struct auc_agent *a, const slurm_job_info_t *info, uint32_t block);
/* True if something is bought as a block on SERVER. */
bool auc_block_on(const struct auc_agent *a, const char *server);
/* The clock was set by STEP seconds. */
void auc_block_shift(struct auc_agent *a, double step);
void auc_block_clear(struct auc_agent *a);

#endif
