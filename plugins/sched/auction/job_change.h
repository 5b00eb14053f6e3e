/*
 * job_change.h - changes of job records are made by threads of their own (rpc_threads.h), because
 * slurmctld may block them for up to 5 s while it asks the database for the job's row, and the
 * agent has other jobs to start. A job has one change at a time. The next one is asked only after
 * the agent has seen the result, so it acts on a record that was read after the change. What the
 * database is asked for itself, they ask as well.
 */
#ifndef AUC_JOB_CHANGE_H
#define AUC_JOB_CHANGE_H

#include "sched/auction/agent-private.h"

enum auc_job_change {
	AUC_JOB_CHANGE_HOLD,    /* TEXT: a receipt, or none; auc_rpc_hold(), */
	AUC_JOB_CHANGE_START,   /* auc_rpc_start_now() */
	AUC_JOB_CHANGE_LIMIT,   /* and so on; the slice's limit */
	AUC_JOB_CHANGE_PLACE,   /* to the slice */
	AUC_JOB_CHANGE_RELEASE, /* likewise, of one that was held while its bid stood */
	AUC_JOB_CHANGE_MOVE,    /* likewise */
	AUC_JOB_CHANGE_SPLIT,   /* auc_job_change_split() */
	AUC_JOB_CHANGE_END,     /* TEXT: its last receipt, with which it is cancelled, */
	AUC_JOB_CHANGE_BAR,     /* or held */
	/* Beside any other change: */
	AUC_JOB_CHANGE_RESERVE,   /* TEXT: the reservation */
	AUC_JOB_CHANGE_RECEIPT,   /* TEXT */
	AUC_JOB_CHANGE_ASK,       /* auc_job_change_ask() */
	AUC_JOB_CHANGE_FORGOTTEN, /* TEXT: nodes; auc_rpc_end_forgotten() */
};

/* Starts the threads, if they do not run. */
enum auc_code auc_job_change_start(struct auc_agent *a, struct auc_err *err);
/* Ends them; false if they do not end before UNTIL. What has not begun is forgotten. */
bool auc_job_change_stop(struct auc_agent *a, const struct timespec *until);

/* True if a change of JOB is under way, but for those beside others. */
bool auc_job_change_out(const struct auc_agent *a, uint32_t job);
/* True if a change is under way by which a job begins elsewhere, later or never. */
bool auc_job_change_keeps_any(const struct auc_agent *a);
/*
 * Has JOB changed; SALE, SLICE and TEXT may be NULL where the change has none, and are copied.
 * AUC_ESTATE: another is under way. AUC_ENOMEM.
 */
enum auc_code auc_job_change_put(struct auc_agent *a, enum auc_job_change what, uint32_t job,
				 const char *sale, const struct auc_slice *slice, const char *text,
				 struct auc_err *err);
/* Has the accounting asked who cancelled JOB in its run from START; the answer goes to
 * auc_canceller_answered(). AUC_ESTATE: that is under way. AUC_ENOMEM. */
enum auc_code auc_job_change_ask(struct auc_agent *a, uint32_t job, const char *sale, time_t start,
				 struct auc_err *err);
/* Has TASK of ARRAY made a job of its own, as auc_rpc_split(); ARRAY stays until the answer went to
 * auc_array_split_done(). AUC_ESTATE: that is under way. AUC_ENOMEM. */
enum auc_code auc_job_change_split(struct auc_agent *a, const slurm_job_info_t *array,
				   uint32_t task, const char *sale, const struct auc_slice *slice,
				   const char *receipt, struct auc_err *err);
/* JOB is about to be killed: what was to change it does not come after that. */
void auc_job_change_overtake(struct auc_agent *a, uint32_t job);
/* Takes note of the changes that are through. */
void auc_job_change_done(struct auc_agent *a, double now);

#endif
