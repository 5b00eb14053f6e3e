/*
 * canceller.h - who cancelled a job. A slurmd that cannot launch a job whose owner does not let it
 * be requeued cancels it as root; its record is then the same as that of a job that its owner
 * cancelled before its script began. The accounting alone knows who it was.
 */
#ifndef AUC_CANCELLER_H
#define AUC_CANCELLER_H

#include "sched/auction/agent-private.h"

/*
 * Asks the accounting, if T waits for that, once a second and without waiting for the answer. What
 * the accounting does not say within AUC_CANCELLER_WAIT seconds, or where there is none, counts as
 * the owner's doing.
 */
void auc_canceller_keep(struct auc_agent *a, struct auc_task *t);
/* The accounting says, or does not (CODE), that UID cancelled JOB. */
void auc_canceller_answered(struct auc_task *t, uint32_t job, uint32_t uid, enum auc_code code);

#define AUC_CANCELLER_WAIT 60.0

#endif
