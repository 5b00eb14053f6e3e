/*
 * flat_days.h - constant prices that days of the past teach, for policies of sites: one of each
 * TRES and one of an MB of traffic, found by replaying the past.
 */
#ifndef SIM_FLAT_DAYS_H
#define SIM_FLAT_DAYS_H

#include <stdbool.h>

#include "base/err.h"
#include "auctionsim/scenario/scenario.h"

/*
 * Puts into S what common/pricing/flat_prices.h finds best for DAYS[N], n > 0, days of the same
 * market, under POLICY ("NAME[,option=value...]"), one of sites that sells. By a standard error of
 * what the days say (by five percent of a single day) it must be better for them than no prices,
 * than a trace of these and, unless FLAT, than the published ones; else S gets the best of these.
 * *CHOSEN says what and why; malloc'd. The prices of DAYS change. AUC_ENOMEM, or what a replay
 * says.
 */
enum auc_code flat_days_learn(struct scenario *s, const char *policy, struct scenario *const *days,
			      unsigned n, bool flat, char **chosen, struct auc_err *err);

#endif
