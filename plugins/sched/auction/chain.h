/*
 * chain.h - jobs that wait for others (--dependency). They have bought what comes after these. Here
 * job_submit is told which jobs there are of a name, and the machine of a sale whose job waits all
 * the same, whether its owner can help it: it is put off only where the sales that it waits for
 * were.
 */
#ifndef AUC_CHAIN_H
#define AUC_CHAIN_H

#include "sched/auction/tasks.h"

struct auc_agent;

/* After a look, before anything is booked. */
void auc_chain_see(struct auc_agent *a, double now);
/* Tells the machine of T, whose lead was seen, when the sales of TASKS that it waits for are over,
 * if nothing else keeps it. */
void auc_chain_mark(const struct auc_tasks *tasks, struct auc_task *t, double now);

#endif
