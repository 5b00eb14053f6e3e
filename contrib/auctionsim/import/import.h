/*
 * import.h - scenarios from what a cluster logged: sacct's output, public traces, node lists, and
 * auction.conf. What a log does not say comes from rules with named parameters; see auctionsim(1).
 */
#ifndef SIM_IMPORT_H
#define SIM_IMPORT_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct import_options {
	const char *jobs;     /* sacct --json, sacct -P or a trace; "-": standard input */
	const char *nodes;    /* scontrol -o show node, or a node file */
	const char *conf;     /* auction.conf; NULL: types are made of the nodes */
	const char *profiles; /* training speeds; NULL: none */
	const char *queue;    /* only jobs of this partition or queue; NULL: all */
	const char *type;     /* of the GPUs of jobs whose log names none; NULL: any */
	const char *from;     /* of the log, a time span or a date; NULL: all of it */
	const char *to;
	char *const *parameters; /* "name=value" */
	unsigned nparameters;
	uint64_t seed;
};

/*
 * Writes a scenario to OUT, and to REPORT (NULL: nowhere) what became of the jobs that were read.
 * Errors name the file, the line or JSON path, the column and what was expected. AUC_EINVAL,
 * AUC_ENOENT, AUC_EIO, AUC_ENOMEM.
 */
enum auc_code import_write(const struct import_options *o, FILE *out, FILE *report,
			   struct auc_err *err);
/* Prints the parameters with defaults and meaning, one a line. */
void import_print_help(FILE *out);
/* "auctionsim import": the command line; returns an exit code. */
int import_command(int argc, char **argv);

#endif
