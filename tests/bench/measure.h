/*
 * measure.h - what the benches share: a random stream that is the same everywhere, CPU time of the
 * thread (other programs on the machine do not count), the percentiles of samples, and the end of a
 * spool.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

#include "base/err.h"

/* State of the stream: set it to repeat a part. */
extern uint64_t measure_random;

double measure_uniform(void);                       /* in [0, 1) */
unsigned measure_pick(unsigned low, unsigned high); /* low to high, both possible */

double measure_cpu(void); /* seconds */
/* Seconds of fixed work that is like that of a quote, numbers looked up in an order: about a
 * millisecond, by which times are divided that shall not depend on the machine. */
double measure_loop(void);
/* Seconds to read 8 bytes of memory that no cache has, in order; the least of some passes. 0: there
 * is not enough memory. */
double measure_read(void);
double measure_resident_mb(void); /* memory of this process */

/* Sorts N > 0 times in SECONDS; index of the p99 among them. */
unsigned measure_sort(double *seconds, unsigned n);

/* The times of one call; seconds is to be freed. */
struct measure_series {
	const char *what;
	unsigned n, alloc;
	double *seconds;
};

void measure_add(struct measure_series *s, double seconds);
/* Sorts them and prints a line, if there are any. */
void measure_print(struct measure_series *s);

/* Removes the files of an auction that is gone, and DIR. */
void measure_remove_spool(const char *dir);

/* Ends the program with PROGRAM's name and the sentence in ERR unless RC is AUC_OK. */
void measure_must(const char *program, enum auc_code rc, const struct auc_err *err);

#endif
