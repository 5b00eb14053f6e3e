/*
 * desc.h - between Slurm's job descriptions and the auction: the bid in a submission, one part of a
 * plan as a single-node job, and what a user may not ask for together with a bid.
 */
#ifndef AUC_DESC_H
#define AUC_DESC_H

#include <stdbool.h>
#include <stdint.h>

#include "auction/auction.h"
#include "base/err.h"
#include "adapter/slurm_compat.h"

#define AUC_ENV_BID                                                                                \
	"SLURM_AUCTION_BID" /* the bid's text, from our SPANK plugin or from the user              \
			     */
#define AUC_ENV_SALE  "SLURM_AUCTION_SALE"  /* set for an accepted job: the sale's name */
#define AUC_ENV_START "SLURM_AUCTION_START" /* Unix time of the plan's first slot */
#define AUC_ENV_END   "SLURM_AUCTION_END"   /* Unix time after the plan's last slot */

/*
 * Text of the bid that comes with a submission, borrowed from DESC: spank_job_env first (the
 * command line of sbatch, srun, salloc), then the job's environment (REST). NULL: none; an empty
 * one is none. Looks at a bounded number of variables.
 */
const char *auc_desc_bid(const job_desc_msg_t *desc);
/* The command line says that it is sbatch --test-only. It may be one without saying so. */
bool auc_desc_is_dry_run(const job_desc_msg_t *desc);
/* The job that DESC asks to change, as slurmctld finds it. 0: it is not named by a number (from
 * 25.11 on it may be by a SLUID). */
uint32_t auc_desc_job_id(const job_desc_msg_t *desc);

/* Confines BID to the partitions that the submission names, if it names any. AUC_EINVAL: too many.
 */
enum auc_code auc_desc_confine(const job_desc_msg_t *desc, struct auc_bid *bid,
			       struct auc_err *err);

/* Reservations that keep other jobs out of what was sold: AUC_FENCE_PREFIX<sale>-<start in Unix
 * time>. */
#define AUC_FENCE_PREFIX   "auction-"
#define AUC_FENCE_NAME_MAX (sizeof(AUC_FENCE_PREFIX) + AUC_SALE_ID_LEN + 24)
/* True if NAME is made like that; a list of names is if one of them is. */
bool auc_fence_is_ours(const char *name);

/* One part of a plan in Slurm's units. */
struct auc_slice {
	const char *node, *partition; /* borrowed from the part; a gang's NODE is all of its nodes,
					 with commas */
	unsigned nnodes;              /* of a gang; else 0 */
	bool whole;                   /* of a gang: its nodes are its own */
	bool one_gpu_type; /* none of its nodes has GPUs of several types; false: not known,
			      as auc_slice_of() leaves it */
	uint32_t cpus;
	uint64_t mem_mb;
	time_t begin;
	uint32_t minutes; /* reaches to the plan's end for a job that starts as late as its last
			     slot's end allows */
	uint32_t spare;   /* seconds by which that is longer than the plan, which ends first */
	char gres[512];   /* tres_per_node, "" for none */
	uint32_t cents;   /* of spending.h, of a lead that is being sold; else 0 */
};
/* AUC_EINVAL where Slurm cannot express it (a job too large for its fields). START, END: Unix time
 * of the plan. */
enum auc_code auc_slice_of(const struct auc_part *part, double start, double end,
			   struct auc_slice *slice, struct auc_err *err);

/*
 * AUC_EINVAL, with the option named, if the user asks for something in DESC that the plan decides
 * or that could keep the job from starting in its slot. GANG: its own options are what is sold
 * (desc_gang.h), and what nobody can tell the amount of is refused.
 */
enum auc_code auc_desc_check(const job_desc_msg_t *desc, bool gang, struct auc_err *err);

/* Where each core is one CPU: --hint=nomultithread or multithread, --threads-per-core=1 and
 * --ntasks-per-core=1, which many scripts have, say nothing then, and are taken out of DESC. */
void auc_desc_one_thread(job_desc_msg_t *desc);
/* True if DESC says what each of its GPUs brings along: CPUs, memory or tasks. Slurm keeps its
 * GPUs in the record of a job that is held then. */
bool auc_desc_is_per_gpu(const job_desc_msg_t *desc);
/* True if DESC says --overcommit. */
bool auc_desc_overcommits(const job_desc_msg_t *desc);
/* True if the job is to get SIG before its time is over: its script handles it, and its user has
 * not said by --signal what comes when. */
bool auc_desc_wants_notice(const job_desc_msg_t *desc, int sig);
/* --signal=SIG@TIME counts from the time limit of SLICE: from the end of its plan from now on. */
void auc_desc_warn_time(job_desc_msg_t *desc, const struct auc_slice *slice);
/* Makes DESC (owned by Slurm, its strings by Slurm's allocator) the single-node job SLICE with
 * RECEIPT. */
void auc_desc_apply(job_desc_msg_t *desc, const struct auc_slice *slice, const char *receipt);
/*
 * Makes DESC a job that waits held while BID stands, until UNTIL (Unix time, which is what the
 * accounting lists it by), in the partitions that BID may use, or all of
 * CONF's: a gang as its user wrote it (an array without its GPUs), else one node and next to
 * nothing of it. Its environment loses what auc_desc_environment() takes away.
 */
void auc_desc_hold(job_desc_msg_t *desc, const struct auc_bid *bid, const struct auc_conf *conf,
		   double until, const char *receipt);
/* True if the job of the record INFO waits like that. */
bool auc_job_is_held(const slurm_job_info_t *info);
/* Removes the bid's variables from the job's environment, so that a submission inside the job is
 * not a bid, and those of a sale inside whose job it was submitted; adds ours. */
void auc_desc_environment(job_desc_msg_t *desc, const char *sale, double start, double end);
/* The same for a job that is none of the auction's: only what it has of a sale inside whose job it
 * was submitted. And it must not start in what is reserved for a sale. */
void auc_desc_make_ordinary(job_desc_msg_t *desc);

/*
 * Has a shell script in DESC live through signal SIG, the notice of a change, which the script's
 * process gets: a line "trap : SIG" after its first. A trap of its own replaces that. Other
 * interpreters see to it themselves.
 */
void auc_desc_trap(job_desc_msg_t *desc, int sig);

/* True if the job record INFO still is what SLICE made it; fits: if it is for the same node with
 * the same amounts, whenever and for how long. */
bool auc_slice_matches(const struct auc_slice *slice, const slurm_job_info_t *info);
bool auc_slice_fits(const struct auc_slice *slice, const slurm_job_info_t *info);

/*
 * Text of RECEIPT as a sale of which nothing is paid (state settled, payment 0, the refund all of
 * it), for a job whose sale could not be kept. malloc'd; NULL: no memory or not a receipt.
 */
char *auc_receipt_void(const char *receipt, const char *why);
/*
 * Text of RECEIPT, of a sale that is to end for WHY as soon as its job can be cancelled. Likewise.
 * And the word in such a text; NULL: it is none.
 */
char *auc_receipt_ending(const char *receipt, const char *why);
const char *auc_receipt_ends(const char *receipt);

#endif
