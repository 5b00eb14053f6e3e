/* kept_files.h - the files that the auction keeps are nobody else's to read or write. */
#ifndef AUC_KEPT_FILES_H
#define AUC_KEPT_FILES_H

#include "base/err.h"

/*
 * Checks each file that the auction keeps in the spool's directory DIR and in STATE_DIR, as far as
 * it is there: it belongs to this process's user, and its mode is set to 0600. DIR itself belongs to
 * that user or root, and nobody else may write to it. AUC_ESTATE: one is not so, with what to do;
 * AUC_EIO. File I/O.
 */
enum auc_code auc_kept_files_check(const char *dir, const char *state_dir, struct auc_err *err);

#endif
