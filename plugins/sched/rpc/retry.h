/*
 * retry.h - when the agent tries a failed step again, and when it logs the same error, or the same
 * fact that it sees again and again, once more. Knows neither Slurm nor the clock.
 */
#ifndef AUC_RETRY_H
#define AUC_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds until what has just failed is tried again, where LAST were waited before it; 0: it was
 * the first attempt. */
double auc_retry_wait(double last);

#define AUC_RETRY_TEXTS 1024  /* that are remembered */
#define AUC_RETRY_SAID  600.0 /* seconds in which none of them is said again */

struct auc_retry_said {
	struct {
		double at; /* 0: nothing */
		uint64_t text;
	} said[AUC_RETRY_TEXTS];
};
/* True if TEXT is to be said at NOW, seconds above 0 of a clock that nobody sets; it counts as said
 * then. */
bool auc_retry_say(struct auc_retry_said *s, const char *text, double now);

#endif
