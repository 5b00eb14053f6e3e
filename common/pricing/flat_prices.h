/*
 * flat_prices.h - constant prices for a market of sites (policy eris): one of each TRES and one of
 * an MB of traffic, at which the past, replayed, is worth most.
 *
 * For a policy that may miss the best schedule, or depends on where data lie, a dual in a pool
 * (dual_prices.h) says little about prices. So they are searched for: first one level of all, up to
 * the prices at which everything would cost what all bids are worth; then each by itself, higher
 * and lower, by shrinking steps, in a bounded number of replays. Many prices are nearly as good as
 * the best ones, which are lucky; so their mean is taken.
 */
#ifndef AUC_FLAT_PRICES_H
#define AUC_FLAT_PRICES_H

#include "input/bid.h"
#include "base/err.h"
#include "market/market.h"

#define AUC_FLAT_PRICES_REPLAYS 62 /* that a search takes at most */

struct auc_flat_prices {
	unsigned n;
	struct auc_named price[AUC_TRES_MAX + 1]; /* credits per unit and slot, and per MB */
};

/* Adds AMOUNT of NAME to what there is in all in a slot: what F's numbers are at first. */
void auc_flat_prices_add(struct auc_flat_prices *f, const char *name, double amount);
/* Prices in the place of the amounts: all there is in a slot costs WORTH, each part the same. */
void auc_flat_prices_spread(struct auc_flat_prices *f, double worth);

/*
 * So little of the prices of F, of auc_flat_prices_spread(), that they refuse nobody: where nothing
 * costs, schedules are worth the same whatever they take; at a trace of prices the thrifty one is
 * best, which leaves more to others.
 */
void auc_flat_prices_trace(struct auc_flat_prices *f);

/* What the past is WORTH with the prices of F; of one that is far behind the best, less will do. */
typedef enum auc_code auc_flat_prices_try(void *arg, const struct auc_flat_prices *f, double *worth,
					  struct auc_err *err);
/* From the prices of F, of auc_flat_prices_spread(), to those that are taken. AUC_OK, or what TRY
 * says. */
enum auc_code auc_flat_prices_search(struct auc_flat_prices *f, auc_flat_prices_try *try, void *arg,
				     struct auc_err *err);

#endif
