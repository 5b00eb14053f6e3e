/*
 * settling.h - the time after a start of slurmctld, until the nodes have registered.
 *
 * slurmctld saves its state with some seconds of delay. So after a kill it may come back with
 * running jobs as pending, or with jobs on nodes where they ran before. It learns the truth when
 * the nodes register, and ends jobs there that it did not know of. Until then nothing may begin on
 * a node: a reservation keeps all jobs off nodes that have not registered, for AUC_SETTLING seconds
 * at most; then Slurm removes it by itself. Only nodes where slurmd itself says that something is
 * left of such a job (orphans.h) stay in it for longer. A node does not leave it before Slurm has
 * what was decided meanwhile: a job that was put off or ended is not to begin as it stood.
 */
#ifndef AUC_SETTLING_H
#define AUC_SETTLING_H

#include "sched/auction/agent-private.h"

#define AUC_SETTLING_NAME "auction-settling"

/* Looks at which of the auction's NODES have told by now, and closes those that have not; sets
 * a->heard when all have, and nothing is left of jobs that slurmctld had forgotten. */
void auc_settling_look(struct auc_agent *a, const node_info_msg_t *nodes);
/* At the end of a cycle: opens what has told, if nothing that was decided is still to be asked for
 * or has not been answered. */
void auc_settling_lift(struct auc_agent *a);
/* Starts Slurm's backfill (backfill.h) once the nodes are closed, or need not be, or cannot: it is
 * not to begin what may run already. For every turn. */
void auc_settling_start_backfill(struct auc_agent *a);
/* True if nodes have not told, or the reservation is there. */
bool auc_settling_lasts(const struct auc_agent *a);
/* True if SERVER has not told yet, or has something left of such a job. */
bool auc_settling_waits(const struct auc_agent *a, const char *server);
/* True if SERVER has not told yet. */
bool auc_settling_expects(const struct auc_agent *a, const char *server);
/* Seconds between two looks at nodes: as long as there may be such a server less than else,
 * OTHERWISE. */
double auc_settling_pace(const struct auc_agent *a, double otherwise);
/* True if the reservation is of more than has not told. */
bool auc_settling_opens(const struct auc_agent *a);
/* As before the first look. */
void auc_settling_clear(struct auc_agent *a);

#endif
