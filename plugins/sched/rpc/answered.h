/*
 * answered.h - whether slurmctld, which this process is, still answers. It closes its ports as it
 * is told to stop, some time before it tells its plugins. What is asked then would be tried again
 * for MessageTimeout, longer than a stop may take.
 */
#ifndef AUC_ANSWERED_H
#define AUC_ANSWERED_H

#include <stdbool.h>

/* It listens at COUNT ports from FIRST on. */
void auc_rpc_answered_at(unsigned first, unsigned count);
/* False: it was seen to listen there, and does no more. Takes microseconds; for all threads. */
bool auc_rpc_answered(void);

#endif
