/*
 * settling.h - after a start of slurmctld. It saves what becomes of jobs some seconds late, so one
 * that was killed comes back with jobs as pending that run, and with jobs as running where they ran
 * before. It finds out when the nodes tell of their jobs, and ends there what it did not know of.
 * Until then nothing is to begin on a node: a reservation keeps everybody off those that have not
 * told yet, for AUC_SETTLING seconds at most, after which Slurm removes it by itself.
 */
#ifndef AUC_SETTLING_H
#define AUC_SETTLING_H

#include "sched/auction/agent-private.h"

/* Between two looks at nodes while they settle. */
#define AUC_SETTLING_EVERY 0.5
#define AUC_SETTLING_NAME  "auction-settling"

/* Looks at which of the auction's NODES have told by now, and brings the reservation up to date;
 * sets a->heard when all have. */
void auc_settling_look(struct auc_agent *a, const node_info_msg_t *nodes);
/* True if SERVER has not told yet. */
bool auc_settling_waits(const struct auc_agent *a, const char *server);
/* As before the first look. */
void auc_settling_clear(struct auc_agent *a);

#endif
