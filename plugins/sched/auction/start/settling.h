/*
 * settling.h - the time after a start of slurmctld, until the nodes have registered.
 *
 * slurmctld saves its state with some seconds of delay. So after a kill it may come back with
 * running jobs as pending, or with jobs on nodes where they ran before. It learns the truth when
 * the nodes register, and ends jobs there that it did not know of. Until then nothing may begin on
 * a node: a reservation keeps all jobs off nodes that have not registered, for AUC_SETTLING seconds
 * at most; then Slurm removes it by itself. Only nodes where slurmd itself says that something is
 * left of such a job (orphans.h) stay in it for longer.
 */
#ifndef AUC_SETTLING_H
#define AUC_SETTLING_H

#include "sched/auction/agent-private.h"

#define AUC_SETTLING_NAME "auction-settling"

/* Looks at which of the auction's NODES have told by now, and brings the reservation up to date;
 * sets a->heard when all have, and nothing is left of jobs that slurmctld had forgotten. */
void auc_settling_look(struct auc_agent *a, const node_info_msg_t *nodes);
/* True if SERVER has not told yet, or has something left of such a job. */
bool auc_settling_waits(const struct auc_agent *a, const char *server);
/* True if SERVER has not told yet. */
bool auc_settling_expects(const struct auc_agent *a, const char *server);
/* Seconds between two looks at nodes: as long as there may be such a server less than else,
 * OTHERWISE. */
double auc_settling_pace(const struct auc_agent *a, double otherwise);
/* As before the first look. */
void auc_settling_clear(struct auc_agent *a);

#endif
