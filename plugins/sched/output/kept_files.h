/* kept_files.h - owner and mode of the files that the auction keeps: they are private. */
#ifndef AUC_KEPT_FILES_H
#define AUC_KEPT_FILES_H

#include "base/err.h"

/*
 * Checks each file that the auction keeps in the spool's directory DIR and in STATE_DIR, as far as
 * they exist. Each must belong to this process's user; its mode is set to 0600. DIR itself must
 * belong to that user or root and must not be writable by others. AUC_ESTATE: one is wrong, with
 * what to do; AUC_EIO. File I/O.
 */
enum auc_code auc_kept_files_check(const char *dir, const char *state_dir, struct auc_err *err);

#endif
