/*
 * corrupt.h - for tests of the checker: results of a policy as trees that went through the writer,
 * changed at will, and what the checker says of them.
 */
#ifndef TEST_CORRUPT_H
#define TEST_CORRUPT_H

#include "auctionsim/scenario/scenario.h"

struct json_object;

/* In the result of POLICY, the member at POINTER becomes NEW (NULL: goes away): a violation is
 * found that says SAYS. */
struct corruption {
	const char *policy, *pointer, *new, *says;
};

struct scenario *corrupt_scenario(const char *json);
/* The result of POLICY as a tree that went through the writer. */
struct json_object *corrupt_result(const struct scenario *s, const char *policy);
void corrupt_put(struct json_object **root, const char *pointer, const char *new);
/* Number of violations; their text, malloc'd. */
unsigned corrupt_check(const struct scenario *s, struct json_object *root, char **said);
/* The result of POLICY is correct. */
void corrupt_none(const struct scenario *s, const char *policy);
/* Each of N corruptions is found. */
void corrupt_all(const struct scenario *s, const struct corruption *list, unsigned n);

#endif
