/*
 * ckpt.h - the checkpoint: all parameters and the progress of the training, so that it can go on
 * with other numbers of workers and PSs. Written to a temporary file, synced and renamed: there is
 * always a complete one.
 */
#ifndef TRAIN_CKPT_H
#define TRAIN_CKPT_H

#include <stdint.h>

#include "base/err.h"
#include "train/model/model.h"
#include "train/train.h"

/* How far training is. */
struct ckpt {
	uint64_t epochs;      /* behind */
	uint64_t minibatches; /* and of the next one (synchronous training): the first so many */
	uint64_t *passes;     /* asynchronous: by chunk how often it was done; NULL: synchronous */
	struct metrics sum;   /* over what is behind of the next one */
};

/* AUC_EIO. */
enum auc_code ckpt_write(const char *file, const struct train_options *opt, const struct ckpt *c,
			 const double *params, uint64_t n, struct auc_err *err);
/*
 * Reads FILE into *C and PARAMS[N]; free C->passes. AUC_ENOENT: there is none; AUC_ECORRUPT: it is
 * not whole; AUC_EINVAL: it was made with other options (the sentence says which).
 */
enum auc_code ckpt_read(const char *file, const struct train_options *opt, struct ckpt *c,
			double *params, uint64_t n, struct auc_err *err);

#endif
