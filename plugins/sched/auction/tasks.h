/*
 * tasks.h - what the agent knows of each sale beyond the ledger: the jobs that carry it out and
 * what to do with them next. Kept by the agent's thread alone.
 */
#ifndef AUC_TASKS_H
#define AUC_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "auction.h"
#include "slurm_compat.h"

/* One single-node job of a group. */
struct auc_task_job {
	uint32_t id;                  /* 0: not submitted */
	const slurm_job_info_t *info; /* its record in the present cycle; NULL: not seen */
	unsigned cycle; /* when it was submitted: older lists of jobs do not have it */
	unsigned tries; /* submissions that failed */
	double next;    /* when to nudge or kill it again */
};

struct auc_task {
	struct auc_task *next;
	char sale[AUC_SALE_ID_LEN];
	enum auc_sale_state
		state; /* AUC_SALE_SETTLED: gone from the ledger, its jobs are being cleared away */
	uint32_t uid, gid;
	char *account, *qos; /* of the lead, NULL before it was seen */
	double start, end;   /* Unix time */
	unsigned njobs;      /* as many as parts; the lead first */
	struct auc_part *parts;
	struct auc_task_job *jobs;
	bool looked;     /* its user's jobs were loaded in this cycle */
	bool known;      /* its lead's record was compared with the sale */
	bool warned;     /* the plan's end is near and its processes were told */
	bool listed;     /* in the ledger in this cycle */
	char *receipt;   /* to be written once the sale's present state is committed */
	const char *why; /* we are ending it, for this reason */
};

/* Brings LIST in step with the ledger's live sales; returns the number of liens that have gone. */
unsigned auc_tasks_sync(struct auc_task **list, const struct auc_sale_view *views, unsigned nviews);
/* Adds one sale; NULL: no memory. */
struct auc_task *auc_tasks_add(struct auc_task **list, const struct auc_sale_view *view);
struct auc_task *auc_tasks_find(struct auc_task *list, const char *sale);
/* The task and the job in it that JOB_ID is; NULL: none. */
struct auc_task *auc_tasks_find_job(struct auc_task *list, uint32_t job_id,
				    struct auc_task_job **job);
void auc_task_free(struct auc_task *t);

/* States of a record. Slurm's flags (COMPLETING, CONFIGURING) sit above the state. */
bool auc_job_finished(const slurm_job_info_t *info);
bool auc_job_pending(const slurm_job_info_t *info);
bool auc_job_running(const slurm_job_info_t *info); /* its script runs or may run */

#endif
