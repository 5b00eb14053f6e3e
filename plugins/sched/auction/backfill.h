/* backfill.h - Slurm's own sched/backfill, run inside ours for every job that is not the auction's.
 */
#ifndef AUC_BACKFILL_H
#define AUC_BACKFILL_H

#include "base/err.h"

/* Loads sched_backfill.so from PLUGINDIR (Slurm's list of directories), the first that is not named
 * SELF, our own, and starts it. AUC_ENOENT, AUC_EIO. */
enum auc_code auc_backfill_start(const char *plugindir, const char *self, struct auc_err *err);
void auc_backfill_reconfig(void);
void auc_backfill_stop(void);

#endif
