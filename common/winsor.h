/*
 * winsor.h - no bid of the past counts for much more than others of its size.
 *
 * What a bid says of its value is its owner's word, and who was asked too little yesterday may have
 * said too much. So values are winsorized: bids are grouped by their work, and in each group one
 * that is above the 80th percentile, both in value and in value per work, counts for the higher of
 * these two percentiles. A user with less than a fifth of the bids of a size cannot raise what they
 * are worth beyond what others bid.
 */
#ifndef AUC_WINSOR_H
#define AUC_WINSOR_H

#include "err.h"
#include "market.h"

/* FACTOR[I], 0 < FACTOR <= 1: by how much the value of JOBS[I], one of M, is to be multiplied.
 * AUC_ENOMEM. */
enum auc_code auc_winsorize(const struct auc_market *m, const struct auc_job *const *jobs,
			    unsigned n, double *factor, struct auc_err *err);

#endif
