/*
 * metrics.h - the status as OpenMetrics text, for a collector of time series: what is sold and for
 * sale, prices by node or class, what was learned.
 */
#ifndef SPRICE_METRICS_H
#define SPRICE_METRICS_H

struct json_object;

/* Prints STATUS (doc/status.md) to standard output. What it does not have is left out. */
void metrics_print(struct json_object *status);

#endif
