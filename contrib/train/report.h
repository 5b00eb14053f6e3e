/* report.h - what auction-train prints of the training. */
#ifndef TRAIN_REPORT_H
#define TRAIN_REPORT_H

#include "train/ckpt.h"
#include "train/model/model.h"
#include "train/train.h"

/* "epoch=3 loss=... accuracy=... seconds=..." */
void report_epoch(uint64_t epochs, const struct metrics *m, double seconds);
/* WHAT ("checkpoint", "resumed") and how far training is, with the loss on held-out samples. */
void report_state(const char *what, const struct train_options *opt, const struct ckpt *c,
		  const double *params);
/* The model at the end, on held-out samples. */
void report_final(const struct train_options *opt, uint64_t epochs, const double *params);

/* A chunk with a home has been trained on for the PASSth time. */
void report_chunk(uint64_t chunk, uint64_t pass, const char *node, const struct metrics *m);

#endif
