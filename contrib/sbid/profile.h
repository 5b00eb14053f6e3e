/*
 * profile.h - "sbid profile": a short trial of a program, whose mini-batches are timed, and the
 * options of a bid that say so, with a range.
 *
 * The protocol: for each mini-batch (or step) that it has done the program prints a line that
 * begins with "auction-minibatch" on standard output. If a number of seconds follows, that is how
 * long it took; else it is the time since the line before, and the first line begins the clock.
 * All other lines are passed on to standard error. A program that prints no such line is timed as
 * a whole, if it ends by itself.
 */
#ifndef SBID_PROFILE_H
#define SBID_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#define PROFILE_WORD "auction-minibatch"
#define PROFILE_SKIP 0.1 /* of what was timed, and one at least: a program warms up */

/* Seconds of mini-batches, as they came. */
struct profile_times {
	size_t n, alloc;
	double *seconds;
};

/* What they say. LOW to HIGH: the mean is there, 95 times of a hundred. */
struct profile_range {
	size_t n; /* that count */
	double mean, low, high;
	double p50, p95;
};

/* LINE, without its end: true if it is of the protocol; *SECONDS is what it says, -1 if it
 * says none, NAN if what it says is none. */
bool profile_line(const char *line, double *seconds);
/* False: T has none that count, which takes two and more. */
bool profile_sum_up(const struct profile_times *t, struct profile_range *r);

/* The command, ARGV behind the word profile; returns an exit code. */
int profile_command(bool json, int argc, char **argv);

#endif
