/*
 * ckpt.h - the checkpoint: all parameters and how many epochs they have behind them, whatever the
 * number of workers and PSs was, so that training goes on with another. Written to a temporary
 * file, synced and renamed: there is always a complete one.
 */
#ifndef TRAIN_CKPT_H
#define TRAIN_CKPT_H

#include <stdint.h>

#include "err.h"
#include "train.h"

/* AUC_EIO. */
enum auc_code ckpt_write(const char *file, const struct train_options *opt, uint64_t epochs,
			 const double *params, uint64_t n, struct auc_err *err);
/*
 * Reads FILE into PARAMS[N]. AUC_ENOENT: there is none; AUC_ECORRUPT: it is not whole; AUC_EINVAL:
 * it was made with other options (the sentence says which).
 */
enum auc_code ckpt_read(const char *file, const struct train_options *opt, uint64_t *epochs,
			double *params, uint64_t n, struct auc_err *err);

#endif
