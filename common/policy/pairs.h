/* pairs.h - which worker type goes with which PS type, for policies that do not choose. */
#ifndef AUC_PAIRS_H
#define AUC_PAIRS_H

#include "market/market.h"

/*
 * The type pair with the least time of a mini-batch k (workers and PS apart), of the types that
 * some server can hold; ties: the lowest types. False: the job may use none.
 */
bool auc_pairs_fastest(const struct auc_market *m, const struct auc_job *job, unsigned *worker,
		       unsigned *ps);

#endif
