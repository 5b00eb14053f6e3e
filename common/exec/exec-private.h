/* exec-private.h - what the files of the executor share about a sale and its jobs. */
#ifndef AUC_EXEC_PRIVATE_H
#define AUC_EXEC_PRIVATE_H

#include "exec/exec.h"

#define AUC_EXEC_CLOSE 1.0 /* seconds: what Slurm rounds times to */
/* When a gang's script is told that its time is over: that part of EndMargin before its end. */
#define AUC_EXEC_SCRIPT 0.75

/* The job is known to be there and has not ended. */
bool auc_exec_is_alive(const struct auc_exec_job *j);
/* True if the lead runs where its plan is not, or will not be in a moment. */
bool auc_exec_is_astray(const struct auc_exec *x, const struct auc_exec_rules *rules, double now);
/*
 * True if the lead may run elsewhere than its record says: where it was to be next, maybe by a plan
 * that has changed since, before that node has told slurmctld. What it tells, slurmctld ends there,
 * but not if the job's record has just ended.
 */
bool auc_exec_is_elsewhere(const struct auc_exec *x, double now);
/* When PART's job is taken away. */
double auc_exec_leaves(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part);
/* When the layout next changes after NOW, before the end of all; INFINITY: never. */
double auc_exec_next_change(const struct auc_exec *x, double now);
/* From when on the lead may be told of a change: a signal before its script has set its trap would
 * end it. */
double auc_exec_told_from(const struct auc_exec *x, const struct auc_exec_rules *rules);

#endif
