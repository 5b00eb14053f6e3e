/*
 * slurm_rpc.h - the agent's requests to slurmctld, as ordinary RPCs to this very process. Each may
 * block for as long as slurmctld takes, so only the agent's threads call them, with no lock held.
 * Changes of job records may block for 5 s and go through job_change.h. Errors carry Slurm's own
 * text.
 */
#ifndef AUC_SLURM_RPC_H
#define AUC_SLURM_RPC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "adapter/desc.h"
#include "base/err.h"
#include "adapter/slurm_compat.h"

/* Nodes, partitions as they are now; free with Slurm's functions. */
enum auc_code auc_rpc_load_nodes(node_info_msg_t **nodes, struct auc_err *err);
enum auc_code auc_rpc_load_partitions(partition_info_msg_t **partitions, struct auc_err *err);
/* Slurm's lines on its switches or blocks (adapter/nodes.h), "" if it has none; malloc'd. */
enum auc_code auc_rpc_load_topology(char **text, struct auc_err *err);
/* Users, accounts and QOS, with what they use now; free with slurm_free_assoc_mgr_info_msg(). */
enum auc_code auc_rpc_load_accounts(assoc_mgr_info_msg_t **msg, struct auc_err *err);
/* All jobs, those of one user, or one, which is the first of the list: of an array it has all that
 * became jobs of their own, too. Free with auc_rpc_free_jobs(). AUC_ENOENT: there is no such job.
 */
enum auc_code auc_rpc_load_jobs(job_info_msg_t **jobs, struct auc_err *err);
enum auc_code auc_rpc_load_user_jobs(uint32_t uid, job_info_msg_t **jobs, struct auc_err *err);
enum auc_code auc_rpc_load_job(uint32_t job_id, job_info_msg_t **jobs, struct auc_err *err);
void auc_rpc_free_jobs(job_info_msg_t *jobs);
/* When slurmctld last changed any job, node, partition or reservation: Unix time, -1 if it does not
 * say. No RPC. */
enum auc_rpc_stamp {
	AUC_STAMP_JOBS,
	AUC_STAMP_NODES,
	AUC_STAMP_PARTITIONS,
	AUC_STAMP_RESERVATIONS,
	AUC_RPC_NSTAMPS
};
int64_t auc_rpc_changed(enum auc_rpc_stamp what);
/* Version text of the running slurmctld into BUF. */
enum auc_code auc_rpc_version(char *buf, size_t size, struct auc_err *err);

/* Whom a member is submitted for. */
struct auc_owner {
	uint32_t uid, gid;
	const char *account, *qos; /* may be NULL */
	const char *reservation;   /* likewise */
	const char *host;          /* likewise: where its lead was submitted */
};

/*
 * Submits SLICE as a placeholder batch job for OWNER, member of SALE with lead LEAD. Its time limit
 * and the agent end it. AUC_ELIMIT: a limit of the owner's association or QOS does not allow it;
 * AUC_EFULL: Slurm refuses it (and will again); AUC_EIO: Slurm could not be asked.
 */
enum auc_code auc_rpc_submit_member(const struct auc_owner *owner, const struct auc_slice *slice,
				    const char *sale, uint32_t lead, uint32_t *job_id,
				    struct auc_err *err);

/* Reservations; free with slurm_free_reservation_info_msg(). */
enum auc_code auc_rpc_load_reservations(reserve_info_msg_t **msg, struct auc_err *err);
/* One of NODES (names with commas) for jobs of UID, whatever runs there or is reserved there. */
enum auc_code auc_rpc_create_reservation(const char *name, const char *nodes, uint32_t uid,
					 time_t start, time_t end, struct auc_err *err);
/* Nothing starts on NODES until END, in reservations neither; what runs goes on. AUC_EEXIST: there
 * is one of that name. */
enum auc_code auc_rpc_close_nodes(const char *name, const char *nodes, time_t end,
				  struct auc_err *err);
enum auc_code auc_rpc_update_reservation(const char *name, const char *nodes, time_t end,
					 struct auc_err *err);
/* One of NODES for jobs of USERS ("2001,2002"); AUC_EINVAL: Slurm does not know one of them, or
 * they may not. For USER, too. START 0: it has begun. */
enum auc_code auc_rpc_create_block(const char *name, const char *nodes, const char *users,
				   time_t start, time_t end, struct auc_err *err);
enum auc_code auc_rpc_let_into_block(const char *name, const char *user, struct auc_err *err);
enum auc_code auc_rpc_update_block(const char *name, const char *nodes, time_t start, time_t end,
				   struct auc_err *err);
/* AUC_ESTATE: a job is in it; AUC_ENOENT: there is none. */
enum auc_code auc_rpc_delete_reservation(const char *name, struct auc_err *err);
/* Puts a pending job into a reservation ("": into none). AUC_ESTATE: it is not pending any more. */
enum auc_code auc_rpc_reserve(uint32_t job_id, const char *reservation, struct auc_err *err);

/* Has Slurm's ResumeProgram start NODE; makes an idle one look busy a moment ago, so that
 * SuspendTime begins anew. */
enum auc_code auc_rpc_power_up(const char *node, struct auc_err *err);
enum auc_code auc_rpc_keep_awake(const char *node, struct auc_err *err);

/* AUC_ESTATE: the job has ended. */
enum auc_code auc_rpc_set_receipt(uint32_t job_id, const char *receipt, struct auc_err *err);
/* A pending job does not start, and has RECEIPT (NULL, "": the one that it had). */
enum auc_code auc_rpc_hold(uint32_t job_id, const char *receipt, struct auc_err *err);
/* Has slurmctld look soon at the jobs that wait, without asking it anything. False: it cannot be
 * told. */
bool auc_rpc_schedule(void);
/* Starts a pending job as soon as its resources are free. AUC_ESTATE: it is not pending any more.
 */
enum auc_code auc_rpc_start_now(uint32_t job_id, struct auc_err *err);
/* A job that pends becomes SLICE, to begin with it. AUC_ESTATE: it does not pend. */
enum auc_code auc_rpc_place(uint32_t job_id, const struct auc_slice *slice, struct auc_err *err);
/* The same of a job that was held while its bid stood: it is what SLICE says and not held any
 * more. AUC_ESTATE: it does not wait like that any more. */
enum auc_code auc_rpc_release(uint32_t job_id, const struct auc_slice *slice, struct auc_err *err);
/*
 * TASK of the array whose record ARRAY is becomes a job of its own: SLICE, a gang's, with RECEIPT
 * and not held any more. AUC_ESTATE: it does not wait any more.
 */
enum auc_code auc_rpc_split(const slurm_job_info_t *array, uint32_t task,
			    const struct auc_slice *slice, const char *receipt,
			    struct auc_err *err);
/*
 * A job that runs is requeued to become SLICE. Slurm gives a job that leaves its nodes a begin time
 * of its own, so that it is to be placed again. AUC_ESTATE: it does not run.
 */
enum auc_code auc_rpc_move(uint32_t job_id, const struct auc_slice *slice, struct auc_err *err);
enum auc_code auc_rpc_limit(uint32_t job_id, uint32_t minutes, struct auc_err *err);
/* A signal to the job's script: to its process alone, as "sbatch --signal=B:" does. */
enum auc_code auc_rpc_signal(uint32_t job_id, int sig, struct auc_err *err);
/* Lets a suspended job go on; nothing happens to others. */
void auc_rpc_resume(uint32_t job_id);
/* True if the job runs no step, as far as slurmctld says: its script alone does not count, and what
 * cannot be asked may have some. */
bool auc_rpc_stepless(uint32_t job_id);
/* SIGTERM to the job's steps, or, with SCRIPT, to its script and what that has started: srun among
 * it kills its step's tasks then. */
enum auc_code auc_rpc_warn(uint32_t job_id, bool script, struct auc_err *err);
/* A line of the job's output, or of its salloc's or srun's. */
void auc_rpc_say(uint32_t job_id, const char *text);
/* What slurmd has of a job that slurmctld may have forgotten. */
enum auc_forgotten {
	AUC_FORGOTTEN_LEFT, /* something, which is being ended */
	AUC_FORGOTTEN_OVER, /* nothing that runs; and it was told to forget the job's number */
	AUC_FORGOTTEN_NOT,  /* what slurmctld knows to run there */
};
/*
 * Asks slurmd on NODES (names with commas), which has registered, for a job that slurmctld takes
 * for not running there. What runs is ended: at once, or where slurmctld cannot be told to (from
 * 25.11 on) when the node has registered again, which it is asked to unless it is drained. Where
 * nothing runs slurmd may still have the job's number, and would refuse a job with it: up to 25.05
 * it forgets that within a second. AUC_EIO: a node or slurmctld did not say.
 */
enum auc_code auc_rpc_end_forgotten(uint32_t job_id, const char *nodes, enum auc_forgotten *what,
				    struct auc_err *err);
/* Ends a job at once: SIGKILL first, so that Slurm need not wait KillWait for a job that ignores
 * SIGTERM. */
enum auc_code auc_rpc_kill(uint32_t job_id, struct auc_err *err);

#endif
