/*
 * fitter.h - the thread that fits prices (auction.h, "Prices that learn"): it copies what it
 * needs, works without any lock, Slurm's or the auction's, at a low priority, and hands over what
 * it found.
 */
#ifndef AUC_FITTER_H
#define AUC_FITTER_H

#include <stdbool.h>
#include <time.h>

#include "auction/auction.h"

/* Starts the thread for A, if it does not run. AUC_EIO: no thread. */
enum auc_code auc_fitter_start(struct auc_auction *a, struct auc_err *err);
/* There is something to fit (auc_auction_fit_due()). */
void auc_fitter_ask(void);
/* Ends it, in the midst of a fit, too. False: it does not end before UNTIL (CLOCK_REALTIME) and is
 * left behind. */
bool auc_fitter_stop(const struct timespec *until);

#endif
