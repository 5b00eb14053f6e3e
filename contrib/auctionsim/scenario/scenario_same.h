/*
 * scenario_same.h - do two scenarios sell the same? What was learned from one is of no use to
 * another market.
 */
#ifndef SIM_SCENARIO_SAME_H
#define SIM_SCENARIO_SAME_H

#include "base/err.h"
#include "auctionsim/scenario/scenario.h"

/*
 * AUC_OK if B has the servers, types, slots and budget of A; else AUC_EINVAL, and the sentence says
 * what the first difference is: "$.slots: expected 288, found 276".
 */
enum auc_code scenario_same_market(const struct scenario *a, const struct scenario *b,
				   struct auc_err *err);

#endif
