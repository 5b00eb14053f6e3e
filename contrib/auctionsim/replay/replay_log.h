/*
 * replay_log.h - "auctionsim replay": a cluster's own log under the auction and under what it would
 * have had without one.
 */
#ifndef SIM_REPLAY_LOG_H
#define SIM_REPLAY_LOG_H

#include "auctionsim/replay/rows.h"

/*
 * Runs the log of O, prices learned from at most HISTORY days. *ROWS is zeroed by the caller and
 * cleared with rows_clear(). REPORT (NULL: nowhere) is told what became of the records. What was
 * set by progress_at_stop() finds ROWS with whole days only, those of ROWS->done, and is not asked
 * any more when all are in. AUC_EINVAL, AUC_EIO, AUC_ENOENT, AUC_ENOMEM.
 */
enum auc_code replay_log(const struct import_options *o, unsigned history, FILE *report,
			 struct replay_rows *rows, struct auc_err *err);
/* "auctionsim replay": the command line; returns an exit code. */
int replay_command(int argc, char **argv);

#endif
