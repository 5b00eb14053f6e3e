/*
 * orphans.h - jobs that may have begun although slurmctld does not say so. One that was killed
 * before it had saved their start comes back with them as pending, or does not know them. It ends
 * them as their nodes tell of them, but nothing of a job that was cancelled within the last
 * MessageTimeout, as by an owner who was quicker than the nodes; and not a step that begins just
 * then. What has ended by itself meanwhile, nodes do not tell; but slurmd keeps the number, and
 * refuses the job when it begins again. So slurmd is asked, until it has no step of such a job;
 * what is left there is ended, then slurmd is told to forget the number, and until then the nodes
 * stay in the reservation of settling.h.
 */
#ifndef AUC_ORPHANS_H
#define AUC_ORPHANS_H

#include "sched/auction/agent-private.h"

/* Looks for such jobs among T's, whose records were just seen. */
void auc_orphans_see(struct auc_agent *a, const struct auc_task *t);
/* INFO, of no sale that is live, has a receipt. */
void auc_orphans_see_record(struct auc_agent *a, const slurm_job_info_t *info);

/* Has slurmd asked whose nodes have all told slurmctld of their jobs. */
void auc_orphans_keep(struct auc_agent *a);
/* What came of that: AUC_OK, and what slurmd has of JOB. */
void auc_orphans_answer(struct auc_agent *a, uint32_t job, enum auc_code code,
			enum auc_forgotten what);
/* The nodes have settled, or had time enough: from now on only what was found is waited for. */
void auc_orphans_give_up(struct auc_agent *a);

bool auc_orphans_any(const struct auc_agent *a);
/* True if something may run on SERVER. */
bool auc_orphans_on(const struct auc_agent *a, const char *server);
/* The first node behind *AT, a list with commas, into NAME; *AT goes on behind it. False: none. */
bool auc_orphans_next_name(const char **at, char name[AUC_NAME_MAX]);
/* Of the Nth job the nodes, with commas; NULL: there are fewer. */
const char *auc_orphans_nodes(const struct auc_agent *a, unsigned n);
void auc_orphans_clear(struct auc_agent *a);

#endif
