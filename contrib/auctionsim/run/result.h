/*
 * result.h - results on paper: auction-result/1 (doc/formats.md) and a table for people.
 */
#ifndef SIM_RESULT_H
#define SIM_RESULT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

#define RESULT_FORMAT "auction-result/1"

/*
 * Prints N results of S as JSON: one object, or an array of them if N > 1. Numbers read back to the
 * same doubles; equal results print to equal bytes but for "timing". AUC_ENOMEM, AUC_EIO.
 */
enum auc_code result_print_json(FILE *out, const struct scenario *s, const struct result *results,
				unsigned n, struct auc_err *err);
/* Prints N results side by side, a line for each policy. AUC_ENOMEM. */
enum auc_code result_print_table(FILE *out, const struct scenario *s, const struct result *results,
				 unsigned n, struct auc_err *err);

#endif
