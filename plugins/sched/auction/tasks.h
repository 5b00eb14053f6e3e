/*
 * tasks.h - the agent's list of sales: for each, its user and how far it is carried out (exec.h),
 * which the ledger does not have. Used by the agent's thread alone.
 */
#ifndef AUC_TASKS_H
#define AUC_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "auction/auction.h"
#include "exec/exec.h"
#include "adapter/slurm_compat.h"
#include "sched/output/mail.h"

/* Who cancelled a job that Slurm may have failed to launch. */
enum auc_canceller {
	AUC_CANCELLER_UNKNOWN, /* asked for (canceller.h) */
	AUC_CANCELLER_SLURM,   /* a daemon of Slurm's, or root */
	AUC_CANCELLER_OTHER,   /* anybody else, or nobody can say */
};

struct auc_task {
	struct auc_task *next;
	char sale[AUC_SALE_ID_LEN];
	uint32_t uid, gid;
	char *account, *qos;     /* of the lead, NULL before it was seen */
	char *host;              /* where it was submitted; likewise */
	struct auc_mail_to mail; /* likewise */
	uint32_t array;          /* the number of the array whose task its job is; 0: none yet */
	uint64_t name;           /* of the lead, as a number (adapter/after/names.h); 0: none yet */
	bool extended;           /* more was bought at its end, since this start */
	unsigned revision;       /* of the plan that parts are of */
	unsigned marked;         /* which list of nodes says what is down; 0: none yet */
	struct auc_part *parts;
	bool block;        /* its nodes are reserved, and its job never runs */
	bool reserved;     /* and they are, as far as is known */
	double begun;      /* since when they could be used, if that is not its start */
	double from;       /* when slurmctld was started */
	char *block_users; /* whom they are for beside its owner */
	/* For how many slots nodes of it could not be used: in all, as the ledger has it, and when
	 * that was last looked at. */
	double missing, missed, missing_at;
	struct auc_exec exec;         /* borrows them */
	const slurm_job_info_t *lead; /* its record in the present cycle; NULL: not seen */
	double sold;                  /* when the agent confirmed it; 0: before its time */
	bool looked;                  /* its jobs were loaded in this cycle */
	double looked_at;             /* when they last were */
	bool whole;                   /* all of its user's jobs are to be loaded once */
	double seek, seek_next;       /* lien: between two looks for its job, and the next */
	bool known;                   /* its lead's record was compared with the sale */
	bool shown;                   /* that record had its receipt, since this start */
	/* What its owner has done that keeps it from beginning (why.h), as far as was seen; or
	 * NULL.
	 */
	const char *own;
	bool coordinates; /* he may change what his account allows, or might when last looked at */
	bool suspended;   /* one of its jobs is; from 26.05 on owners can do that */
	bool resumed;     /* and that has been said, and undone */
	bool listed;      /* in the ledger in this cycle */
	struct {
		uint32_t job; /* the last that was asked for; 0: none */
		time_t start; /* of its run */
		enum auc_canceller who;
		double since,
			next; /* auc_site_elapsed(): first asked, not again before; 0: never */
	} canceller;
	double receipt_next; /* not tried again before */
	bool receipt_sent;   /* one is on its way; the next follows when it has arrived */
	char *receipt;       /* to be written once the sale's present state is committed */
};

struct auc_tasks {
	struct auc_task *list;
	void *by_sale; /* tsearch(3) */
	/* by job, in order of its number: made by auc_tasks_index() */
	struct auc_task_ref *refs;
	unsigned nrefs, refs_alloc;
};
struct auc_task_ref {
	uint32_t job_id;
	struct auc_task *task;
	unsigned part;
};

/* Takes note of the exit codes for which the site has jobs requeued; only where slurmctld does not
 * change them, as auc_site_read_slurm_conf(). */
void auc_tasks_read_slurm_conf(void);

/* Adds one sale and takes its parts over; NULL: no memory. */
struct auc_task *auc_tasks_add(struct auc_tasks *tasks, struct auc_sale_view *view);
/* Gives T the plan of VIEW and takes its parts over. */
enum auc_code auc_task_replan(struct auc_task *t, struct auc_sale_view *view, struct auc_err *err);
struct auc_task *auc_tasks_find(const struct auc_tasks *tasks, const char *sale);
/* Unlinks and frees *AT, which is one of the list. */
void auc_tasks_remove(struct auc_tasks *tasks, struct auc_task **at);
void auc_tasks_clear(struct auc_tasks *tasks);

/* Makes the index of jobs anew; NULL from a look-up: no task has the job. */
enum auc_code auc_tasks_index(struct auc_tasks *tasks, struct auc_err *err);
const struct auc_task_ref *auc_tasks_find_job(const struct auc_tasks *tasks, uint32_t job_id);

/* Records are about to be seen: jobs that have none are gone. */
void auc_task_look(struct auc_task *t);
/* INFO is the record of PART's job (0: the lead's). */
void auc_task_see(struct auc_task *t, unsigned part, const slurm_job_info_t *info, double now);

/* States of a record. Slurm's flags (COMPLETING, CONFIGURING) sit above the state. */
bool auc_job_finished(const slurm_job_info_t *info);
bool auc_job_pending(const slurm_job_info_t *info);

#endif
