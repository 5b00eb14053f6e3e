/* rows.h - tables of text, as sauction and sbid print them. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>

#define COLUMNS_MAX 32

struct rows_options {
	const char *format; /* columns, separated by commas; NULL: all */
	bool json, noheader, parsable, csv;
};

/* Rows of text by column; printed as a table, with '|' or ',' between, or as JSON. */
struct rows {
	unsigned ncolumns, nrows, alloc;
	const char *columns[COLUMNS_MAX]; /* borrowed */
	const char *nothing; /* what readers of a table are told if it has no rows; NULL: nothing */
	char **cells;
};
/* Adds a row of NCOLUMNS texts, which are copied. False: no memory, and said so. */
bool rows_add(struct rows *r, ...);
/* Prints what O asks for, and frees the rows. An exit code. That a table with headings has no rows
 * is said on standard error: it is no failure. */
int rows_print(struct rows *r, const struct rows_options *o);
/* Frees rows that are not printed. */
void rows_free(struct rows *r);

/* The program's: prints a sentence behind its name to standard error. EXIT_FAILURE. */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
