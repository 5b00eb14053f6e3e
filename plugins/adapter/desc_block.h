/*
 * desc_block.h - blocks in Slurm's terms: whole nodes that are bought for a time, in which their
 * owner and those it names run what they like. The block's own job is the record of the sale. It
 * waits, held, and never runs; its nodes are in a reservation (AUC_BLOCK_PREFIX<job>), and jobs
 * that name that need no bid.
 */
#ifndef AUC_DESC_BLOCK_H
#define AUC_DESC_BLOCK_H

#include "adapter/desc.h"

#define AUC_BLOCK_PREFIX   "auction_block_"
#define AUC_BLOCK_NAME_MAX (sizeof(AUC_BLOCK_PREFIX) + 10)

/* The reservation of the block JOB, into NAME. */
void auc_block_name(char name[AUC_BLOCK_NAME_MAX], uint32_t job);
/* The block's job if NAME, one name, is made like that; else 0. */
uint32_t auc_block_of(const char *name);
/* True if one of NAMES, with commas, is. */
bool auc_block_among(const char *names);

/*
 * DESC, whose bid is for a block, asks for whole nodes from now on. AUC_EINVAL: it asks for what a
 * block cannot have.
 */
enum auc_code auc_block_check(job_desc_msg_t *desc, const struct auc_bid *bid, struct auc_err *err);
/* Makes DESC the held job of the block that is SLICE, with RECEIPT, until END (Unix time). */
void auc_block_apply(job_desc_msg_t *desc, const struct auc_slice *slice, double end,
		     const char *receipt);

/*
 * DESC, which names the reservation of the block JOB, is a job in it: it says so in a text that its
 * user cannot change, and gets PARTITION if it names none. The text says, too, whether it gets SIG
 * before the block ends (auc_desc_wants_notice()).
 */
void auc_block_enter(job_desc_msg_t *desc, uint32_t job, const char *partition, int sig);
/* True if the text of the job of the record INFO says so. */
bool auc_block_told(const slurm_job_info_t *info);
/* The block that the job of the record INFO was submitted for, or is in; 0: none. */
uint32_t auc_block_entered(const slurm_job_info_t *info);

/*
 * Users that have had jobs in blocks since slurmctld started: they change no job's reservation, as
 * one that loses its block would be a job without a bid in a partition that is sold.
 */
void auc_block_user_add(uint32_t uid);
bool auc_block_user(uint32_t uid);

#endif
