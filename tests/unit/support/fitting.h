/* fitting.h - bids that teach prices, and fits, in the auction of world.h. */
#ifndef AUC_TEST_FITTING_H
#define AUC_TEST_FITTING_H

#include "auction/auction.h"

/*
 * N bids of TEXT, one in EVERY seconds from *NOW on, each followed by a tick; what is accepted is
 * confirmed. Each is of another user: of one they might be the same job again (bid_log.h). Returns
 * how many are accepted.
 */
unsigned fitting_submit(struct auc_auction *a, const char *text, unsigned n, double every,
			double *now);
/* A whole fit, which is due, as the agent's thread makes it: AUC_OK, or AUC_ENOENT if it found
 * nothing. Other errors fail the test. */
enum auc_code fitting_run(struct auc_auction *a, double now);
/* Fits that are stopped early give nothing: after 0, 1, FACTOR + 1, ... steps, below LIMIT. */
void fitting_stop(struct auc_auction *a, double now, unsigned factor, unsigned limit);
/* What a v100 of edge1 costs in SLOT. */
double fitting_v100_price(const struct auc_auction *a, auc_slot slot);
/* Fails the test unless the sale that O, which is held, made is at O's payment. */
void fitting_honoured(struct auc_auction *a, const struct auc_offer *o);

#endif
