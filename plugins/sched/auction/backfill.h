/* backfill.h - Slurm's own sched/backfill, run inside ours for every job that is not the auction's.
 */
#ifndef AUC_BACKFILL_H
#define AUC_BACKFILL_H

#include "base/err.h"

/* Loads sched_backfill.so from PLUGINDIR (Slurm's list of directories), the first that is not named
 * SELF, our own. It begins no job before auc_backfill_start(). AUC_ENOENT, AUC_EIO. */
enum auc_code auc_backfill_load(const char *plugindir, const char *self, struct auc_err *err);
/* Starts what was loaded, once; after auc_backfill_stop() not before it is loaded again. For all
 * threads. AUC_EIO: it does not start. */
enum auc_code auc_backfill_start(struct auc_err *err);
/* For the thread that loads it. */
void auc_backfill_reconfig(void);
void auc_backfill_stop(void);

#endif
