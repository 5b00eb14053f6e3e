/*
 * file.h - a file that is replaced as a whole: readers see the old text or the new one; and a
 * command's standard output.
 */
#ifndef AUC_FILE_H
#define AUC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * PATH gets the LEN bytes at TEXT and MODE, whatever the umask; "PATH.new" is used for it, anew: a
 * link there is not followed. With SYNC it is on the disk, name and all, when this returns.
 * AUC_EIO: "PATH: reason", and PATH is as it was (a sync of the directory that fails leaves the new
 * text there).
 */
enum auc_code auc_file_replace(const char *path, const char *text, size_t len, mode_t mode,
			       bool sync, struct auc_err *err);

/*
 * Opens PATH for reading if it is a regular file (or a link to one), and never waits, as open()
 * does where somebody has put a FIFO there. NULL with errno: EISDIR, EINVAL for other kinds.
 */
FILE *auc_file_open(const char *path);

/*
 * The file PATH, if it is there, becomes this process's alone: it has to be a regular file of its
 * user, and gets MODE. AUC_ESTATE: it is a link, another kind of file or another user's; AUC_EIO.
 */
enum auc_code auc_file_own(const char *path, mode_t mode, struct auc_err *err);
/*
 * AUC_OK if nobody but this process's user and root can put files into the directory PATH, or there
 * is none. AUC_ESTATE, AUC_EIO. Its mode stays.
 */
enum auc_code auc_dir_own(const char *path, struct auc_err *err);

/* Before a command opens anything: a standard stream that is closed must not become one of its
 * files, and to use it fails as before. */
void auc_output_begin(void);

/* At its end: AUC_EIO unless all that was printed to standard output has arrived. */
enum auc_code auc_output_end(struct auc_err *err);

#define AUC_EXIT_USAGE 2 /* of a command: an option that there is not */

#endif
