/*
 * srun_line.h - the command line of srun, which slurmctld keeps with the step, and the accounting
 * shows to all users: a bid is taken out of it.
 */
#ifndef AUC_SRUN_LINE_H
#define AUC_SRUN_LINE_H

#include <stddef.h>

/*
 * Blanks secret options in the copy of its command line that this srun sends with its job and with
 * its step. COMMAND: the words of that line, each with a NUL, LEN bytes in all. A copy that is not
 * found stays as it is.
 */
void auc_srun_forget_line(const char *command, size_t len);

#endif
