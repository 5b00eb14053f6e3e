/*
 * answered.h - whether slurmctld, which this process is, still answers. As it is told to stop it
 * ceases to, some time before it tells its plugins. Up to 23.11 it closes its ports; what is asked
 * then would be tried again for MessageTimeout, longer than a stop may take. From 24.05 on they
 * stay open, and whoever asks is not heard: that is only known when the plugins are told.
 */
#ifndef AUC_ANSWERED_H
#define AUC_ANSWERED_H

#include <stdbool.h>

/* It listens at COUNT ports from FIRST on. */
void auc_rpc_answered_at(unsigned first, unsigned count);
/* False: it was seen to listen there, and does no more; or it was told that it will not. Takes
 * microseconds; for all threads. */
bool auc_rpc_answered(void);
/* It will not answer until auc_rpc_answered_at(). Whoever waits for that hears at once that the
 * connection is closed; who was just about to ask does after the next call. */
void auc_rpc_answered_no_more(void);

#endif
