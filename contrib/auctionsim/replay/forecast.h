/*
 * forecast.h - how long a replay takes, known before it begins: what is done most often is timed
 * once, on a day of the log, and counted for all days.
 */
#ifndef SIM_FORECAST_H
#define SIM_FORECAST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Seconds on this machine, as busy as it is. */
struct forecast {
	double sell; /* a day that is sold, its market included */
	double look; /* a step of a fit of prices, of a day's jobs */
	double pool; /* the part of that which does not grow with jobs */
	unsigned jobs;
};

/* Times them on the day whose scenario is TEXT, of LEN bytes with a NUL after them, which has jobs,
 * for POLICY ("NAME[,option=value...]"). AUC_EINVAL: the policy cannot take it; AUC_ENOMEM. */
enum auc_code forecast_measure(const char *text, size_t len, const char *policy, struct forecast *f,
			       struct auc_err *err);
/* Seconds for DAYS days like that one: sold without prices, and if LEARNED also by prices that are
 * learned from HISTORY days before each. */
double forecast_seconds(const struct forecast *f, unsigned days, bool learned, unsigned history);

#endif
