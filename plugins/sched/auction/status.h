/* status.h - DIR/status.json: the market, the sales and the agent's own state, for sprice, the demo
 * and the tests. */
#ifndef AUC_STATUS_H
#define AUC_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "auction.h"
#include "err.h"

/* Length of the agent's cycles. */
struct auc_cycle_stats {
	uint64_t count;
	double last, sum, max; /* seconds */
};
void auc_cycle_stats_add(struct auc_cycle_stats *s, double seconds);

/*
 * Replaces the file, at most once a second, if CHANGED or bids came in or the slot is a new one.
 * Returns 1 if it did, 0 if there was no need, -1 on an error; ERR is filled then and has code
 * AUC_OK otherwise.
 */
int auc_status_write(const char *dir, struct auc_auction *a, double now, bool changed,
		     const struct auc_cycle_stats *cycles, struct auc_err *err);

#endif
