/* sauction.h - between the files of sauction: options, tables, and the commands of each file. */
#ifndef SAUCTION_H
#define SAUCTION_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

struct sauction {
	const char *spool, *format, *id, *by, *since, *until, *file;
	bool json, noheader, parsable, csv;
	double wait; /* seconds */
	char dir[4096];
};

#define COLUMNS_MAX 16

/* Rows of text by column; printed as a table, with '|' or ',' between, or as JSON. */
struct rows {
	unsigned ncolumns, nrows, alloc;
	const char *columns[COLUMNS_MAX]; /* borrowed */
	char **cells;
};
/* Adds a row of NCOLUMNS texts, which are copied. False: no memory, and said so. */
bool rows_add(struct rows *r, ...);
/* Prints what -o asks for, and frees the rows. An exit code. */
int rows_print(struct rows *r, const struct sauction *s);

int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* transfer.c. Exit codes, as of all commands. */
int command_grant(const struct sauction *s, int argc, char **argv);
int command_correct(const struct sauction *s, int argc, char **argv);
int command_pause(const struct sauction *s, int argc, char **argv);
int command_resume(const struct sauction *s, int argc, char **argv);
/* show.c */
int command_state(const struct sauction *s, int argc, char **argv);
int command_money(const struct sauction *s, int argc, char **argv);
int command_sales(const struct sauction *s, int argc, char **argv);
/* spool.c */
int command_spool(const struct sauction *s, int argc, char **argv);
/* report.c */
int command_report(const struct sauction *s, int argc, char **argv);

#endif
