/*
 * output.h - where a command writes: to standard output, or to a file that gets all of it or, after
 * an error, is as it was. Also standard input, which can be read only once.
 */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct output {
	const char *path; /* NULL: standard output */
	FILE *stream;     /* write here */
	char *text;
	size_t len;
};

/*
 * Begins to write to PATH (NULL: standard output). What is there is not touched before
 * output_close(), which has to follow. AUC_ENOMEM: nothing to close.
 */
enum auc_code output_open(struct output *o, const char *path, struct auc_err *err);
/*
 * With RC AUC_OK puts the file there: a regular one is replaced as a whole. Returns RC, or what
 * goes wrong here: AUC_EIO "FILE: reason".
 */
enum auc_code output_close(struct output *o, enum auc_code rc, struct auc_err *err);

/* At the end of the program, with its exit code: a failure if standard output could not be written,
 * which it says. */
int output_end(int code);

/*
 * For getopt_long(), which has returned C of OPTIONS: false, with a sentence on standard error, if
 * C is one of FILES and names none.
 */
bool file_is_named(const struct option *options, const char *files, int c);
/*
 * Opens PATH for reading ("-": standard input, once). AUC_EINVAL, AUC_EIO: the sentence names PATH;
 * *IN is NULL then. Close with input_close().
 */
enum auc_code input_open(const char *path, FILE **in, struct auc_err *err);
void input_close(FILE *in);

#endif
