/*
 * answered.h - whether slurmctld, which this process is, still answers. Told to stop, it ceases to
 * some time before it tells its plugins. 22.05 closes its ports then, and an RPC would be tried
 * again for MessageTimeout, longer than a stop may take. 24.11 and 26.05 leave them open and accept
 * nothing, so an RPC waits for its answer until the plugins, too, are told to stop.
 */
#ifndef AUC_ANSWERED_H
#define AUC_ANSWERED_H

#include <stdbool.h>

/* It listens at COUNT ports from FIRST on. */
void auc_rpc_answered_at(unsigned first, unsigned count);
/* False: it was seen to listen there, and does no more; or it was told that it will not. Takes
 * microseconds; for all threads. */
bool auc_rpc_answered(void);
/* Waits until it listens there, half a minute at most, as it loads its plugins before it reads its
 * state. Who asks before may have to wait for longer. */
void auc_rpc_answered_await(void);
/* It will not answer until auc_rpc_answered_at(). RPCs that wait for an answer fail at once; one
 * that begins meanwhile fails at the next call, so call again until none is left. */
void auc_rpc_answered_no_more(void);

#endif
