/*
 * import_window.h - the part of a log that becomes a scenario, or one for each of its days.
 */
#ifndef SIM_IMPORT_WINDOW_H
#define SIM_IMPORT_WINDOW_H

#include "auctionsim/import/import-private.h"
#include "auctionsim/import/import_types.h"

/* What is written. */
struct import_window {
	struct import *im;
	struct import_types types;
	double slot_seconds; /* 0: what the parameters say */
	double from;         /* of the log */
	double day_seconds;  /* 0: one scenario; else arrivals count from the begin of their day */
	uint64_t slots;      /* 0: what the parameters say */
	unsigned njobs;
	unsigned *jobs; /* by submission */
	double gpu_seconds;
};

/* Chooses jobs and types of what IM has read; the caller sets im, and what is not to be 0. REPORT
 * (NULL: nowhere) is told. AUC_EINVAL: no job is left, and why. */
enum auc_code import_window_open(struct import_window *w, FILE *report, struct auc_err *err);
/* Prints the scenario of the jobs of W to w->im->g.out. */
enum auc_code import_window_write(struct import_window *w, struct auc_err *err);
void import_window_summarise(const struct import_window *w, struct import_summary *s);
void import_window_clear(struct import_window *w);

#endif
