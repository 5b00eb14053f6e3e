/*
 * measure.h - what the benches share: a random stream that is the same everywhere, CPU time of the
 * thread (other programs on the machine do not count), and the percentiles of samples.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

#include "err.h"

/* State of the stream: set it to repeat a part. */
extern uint64_t measure_random;

double measure_uniform(void);                       /* in [0, 1) */
unsigned measure_pick(unsigned low, unsigned high); /* low to high, both possible */

double measure_cpu(void);         /* seconds */
double measure_resident_mb(void); /* memory of this process */

/* Sorts N > 0 times in SECONDS; index of the p99 among them. */
unsigned measure_sort(double *seconds, unsigned n);

/* Ends the program with PROGRAM's name and the sentence in ERR unless RC is AUC_OK. */
void measure_must(const char *program, enum auc_code rc, const struct auc_err *err);

#endif
