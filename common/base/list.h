/*
 * list.h - what the parsers of bids and of auction.conf share: names, lists "NAME=VALUE,..." and
 * numbers as text.
 */
#ifndef AUC_LIST_H
#define AUC_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/named.h"

#define AUC_NUMBER_LEN 32  /* buffer for auc_number_str() */
#define AUC_WAIT_MAX   1e6 /* slots: the longest time that a bid may name; an upload of it: never */

/* Shortest decimal text that reads back as V (finite), with '.' in every locale, into BUF of
 * AUC_NUMBER_LEN; returns BUF. */
char *auc_number_str(double v, char *buf);

/* True for a name of a type, server, TRES...: 1 to AUC_NAME_MAX - 1 of letters, digits and
 * "._:/+-", the first no sign. */
bool auc_name_valid(const char *s);

/*
 * Parses a time in slots, in [0, AUC_WAIT_MAX]: a bare number is slots exactly as written, one with
 * a unit is divided by SLOT_SECONDS > 0. WHAT names the option in the error.
 */
enum auc_code auc_parse_slots(const char *s, double slot_seconds, double *slots, const char *what,
			      struct auc_err *err);

enum auc_unit {
	AUC_UNIT_NONE,    /* plain numbers */
	AUC_UNIT_SECONDS, /* time spans; a bare number is seconds; result in seconds */
	AUC_UNIT_SLOTS,   /* time spans; a bare number is slots; result in slots */
};

/* What a list "NAME=VALUE,..." may hold. */
struct auc_list_rule {
	const char *syntax; /* "TYPE=TIME" for errors */
	enum auc_unit unit;
	double min, max;     /* bounds of each value, in the unit */
	double slot_seconds; /* > 0 if times may be in slots */
	unsigned limit;      /* entries at most */
	bool tres;           /* names are TRES: "gres/gpu:v100" is stored as "gpu:v100" */
};

/*
 * Parses TEXT into LIST[rule->limit] and *N, in the order written. Repeated names are errors. If
 * BARE is not NULL one VALUE without a name is allowed and goes there (else *BARE is left as it
 * is).
 */
enum auc_code auc_list_parse(const char *text, const struct auc_list_rule *rule,
			     struct auc_named *list, unsigned *n, double *bare, const char *what,
			     struct auc_err *err);
/* Prints N entries as "NAME=VALUE,...", SUFFIX after each number ("" or "s"). */
void auc_list_print(FILE *out, const struct auc_named *list, unsigned n, const char *suffix);
/* The one of LIST that means the TRES called NAME, or NULL: Slurm's accounting lowers the names of
 * TRES, so their case does not count. */
const struct auc_named *auc_list_find_tres(const struct auc_named *list, unsigned n,
					   const char *name);
/* ASCII letters of TEXT become small ones, whatever the locale is. */
void auc_list_lower(char *text);
/* Entry of LIST called NAME, or NULL. */
const struct auc_named *auc_list_find(const struct auc_named *list, unsigned n, const char *name);

#endif
