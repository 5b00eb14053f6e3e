/*
 * admin_files.h - what administrators ask of the auction by files in the spool's directory, as
 * sauction writes them. Nobody but slurmctld's user and root can put files there, they outlast a
 * slurmctld that is down, and no RPC of Slurm carries them.
 *
 *   transfers/ID.json     a transfer by hand (doc/ledger.md, event "transfer"), taken up once
 *   transfers/ID.refused  why it was not made
 *   paused                nothing new is sold as long as it is there; its first line says why
 */
#ifndef AUC_ADMIN_FILES_H
#define AUC_ADMIN_FILES_H

#include <stdbool.h>

#include "auction/auction.h"

#define AUC_TRANSFERS_DIR "transfers"
#define AUC_PAUSED_FILE   "paused"

/* Takes up what is new in DIR, before a commit: true if the auction has changed. The agent's thread
 * only. File I/O. */
bool auc_admin_look(const char *dir, struct auc_auction *a, double now);
/* After a commit that has succeeded: the files of what was taken up go. */
void auc_admin_committed(const char *dir);

#endif
