/*
 * agent.h - the thread that carries sales out: it confirms them, submits their members, starts them
 * at their slot, ends and settles them, and keeps spool, Slurm's jobs and the accounting database
 * in agreement. agent.c says how.
 */
#ifndef AUC_AGENT_H
#define AUC_AGENT_H

#include <stdint.h>

#include "base/err.h"

/* Starts the thread for a plugin built with Slurm version BUILT. AUC_ESTATE, also while one that
 * was left behind has not ended; AUC_EIO. */
enum auc_code auc_agent_start(uint32_t built, struct auc_err *err);
/* Ends it, after a last commit. If it hangs in an RPC it is left behind, and what it uses with it;
 * that is free once it has ended. */
void auc_agent_stop(void);
/* auction.conf, nodes and partitions may have changed: the thread looks at them soon. */
void auc_agent_reconfigure(void);

#endif
