/*
 * slurm_rules.h - the agent reads Slurm's rules of the partitions that are sold (State, limits, who
 * may use them), users' groups and accounts, and publishes them: to job_submit (site.h), to the
 * auction (limits of plans) and to the machines of sales whose jobs Slurm does not start now.
 */
#ifndef AUC_SLURM_RULES_H
#define AUC_SLURM_RULES_H

#include "sched/auction/agent-private.h"

/* a->partitions was just loaded; CHANGED is when slurmctld had last changed one, read at NOW,
 * before. While there may have been a later change in the same second, job_submit takes nothing for
 * known.
 */
void auc_slurm_rules_look(struct auc_agent *a, int64_t changed, double now);
/* What else there is to read: groups that somebody waits for, accounts. Never waits for the
 * system's databases. */
void auc_slurm_rules_keep(struct auc_agent *a, double now);
/* There are more jobs: what accounts have of their limits is to be looked at soon. */
void auc_slurm_rules_count(struct auc_agent *a);
/* True if UID may change what ACCOUNT (NULL: none) allows its users. */
bool auc_slurm_rules_coordinates(uint32_t uid, const char *account);
/* True if Slurm starts no job in PARTITION now; if it takes no new one. */
bool auc_slurm_rules_stopped(const struct auc_agent *a, const char *partition);
bool auc_slurm_rules_shut(const struct auc_agent *a, const char *partition);
/* Ends the thread. False: it does not end before UNTIL; this may be called again. */
bool auc_slurm_rules_stop(struct auc_agent *a, const struct timespec *until);

#endif
