/*
 * chunkdata.h - chunks of the training set as files chunk.N in a directory of their node: samples
 * one after the other, each DATA_INPUTS inputs and its label as doubles, little-endian.
 */
#ifndef TRAIN_CHUNKDATA_H
#define TRAIN_CHUNKDATA_H

#include <stdint.h>

#include "train/model/data.h"
#include "base/err.h"
#include "train/train.h"

#define CHUNK_SAMPLE  (DATA_INPUTS + 1) /* doubles */
#define CHUNKDATA_MAX 16384             /* chunks: a worker sends which of them it has */

/* Writes the chunks of OPT's generated set into DIR, which is made if it is not there. AUC_EIO. */
enum auc_code chunkdata_write(const char *dir, const struct train_options *opt,
			      struct auc_err *err);
/* Bytes of one. */
uint64_t chunkdata_size(const struct train_options *opt);
/* Reads chunk N into SAMPLES[chunkdata_size()]. AUC_EIO: it is not there, or not of that size. */
enum auc_code chunkdata_read(const char *dir, uint64_t n, const struct train_options *opt,
			     double *samples, struct auc_err *err);
/* The chunks below N that are in DIR: as doubles, into LIST[N]. Returns how many. */
uint64_t chunkdata_here(const char *dir, uint64_t n, double *list);

#endif
