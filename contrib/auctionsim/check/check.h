/*
 * check.h - is a result what its scenario and policy allow? Every constraint, capacity, value,
 * payment and total is worked out again from the two files, without libauction's market and
 * policies (books.h). That a schedule is the best one is not looked at.
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include <stdio.h>

#include "base/err.h"
#include "auctionsim/scenario/scenario.h"

struct json_object;

/*
 * Checks ROOT, a result of S or an array of them, and prints a line for each violation to OUT: the
 * JSON path, the job's id, what was expected and what was found. NAME stands for the result's file.
 * *VIOLATIONS counts them. AUC_ENOMEM.
 */
enum auc_code check_result(const struct scenario *s, struct json_object *root, const char *name,
			   FILE *out, unsigned *violations, struct auc_err *err);

#endif
