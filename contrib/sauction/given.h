/* given.h - which options a command line has, so that what would change nothing is refused. */
#ifndef GIVEN_H
#define GIVEN_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/* True if LIST, names separated by commas, has NAME. */
bool given_lists(const char *list, const char *name);
/* The bit of the option with the value C in OPTIONS, as getopt_long() returns it; at most 64. */
uint64_t given_bit(const struct option *options, int c);
/*
 * Looks for the first option in GIVEN that is not one of TAKES, names separated by commas, and says
 * that WHAT does not take it. noheader goes with json wherever that is taken. EXIT_SUCCESS: there
 * is none; else EXIT_FAILURE.
 */
int given_refuse(const struct option *options, uint64_t given, const char *takes, const char *what);
/* The same if GIVEN has more than one of NAMES. */
int given_one_of(const struct option *options, uint64_t given, const char *names);

#endif
