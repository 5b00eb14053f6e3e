/*
 * power.h - cloud nodes, which Slurm's power saving starts and stops, are up when their slot
 * begins. A sold node is powered up PowerUpLead= before its slot and kept up until then, because
 * SuspendTime may be shorter. After the sale Slurm powers it down by its own rules.
 */
#ifndef AUC_POWER_H
#define AUC_POWER_H

#include "sched/auction/agent-private.h"

/* Takes note of which nodes are powered down. */
void auc_power_look(struct auc_agent *a, const node_info_msg_t *nodes);
/* Powers up what is sold soon. */
void auc_power_keep(struct auc_agent *a, double now);
/* Seconds before its slot from which on a node is powered up; 0: none is ever powered down. */
double auc_power_lead(const struct auc_agent *a);
void auc_power_clear(struct auc_agent *a);

#endif
