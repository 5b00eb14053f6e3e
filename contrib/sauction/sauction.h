/* sauction.h - between the files of sauction: options, and the commands of each file. */
#ifndef SAUCTION_H
#define SAUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sauction/rows.h"

struct sauction {
	const char *spool, *id, *by, *since, *until;
	uint64_t given; /* options: given.h */
	bool focus;     /* report: one line for each job, with the columns of FOCUS */
	struct rows_options table;
	double wait; /* seconds */
	char dir[4096];
};

/* transfer.c. Exit codes, as of all commands. */
int command_grant(const struct sauction *s, int argc, char **argv);
int command_correct(const struct sauction *s, int argc, char **argv);
int command_pause(const struct sauction *s, int argc, char **argv);
int command_resume(const struct sauction *s, int argc, char **argv);
/* What to say behind strerror(ERROR) of a file in the spool's directory: the way out, or "". */
const char *kept_hint(int error);
/* show.c */
int command_state(const struct sauction *s, int argc, char **argv);
int command_money(const struct sauction *s, int argc, char **argv);
int command_sales(const struct sauction *s, int argc, char **argv);
int report_refusals(const struct sauction *s);
/* spool.c */
int command_spool(const struct sauction *s, int argc, char **argv);
/* explain.c */
int command_explain(const struct sauction *s, int argc, char **argv);
/* report.c */
int command_report(const struct sauction *s, int argc, char **argv);
/* report_focus.c: adds a line for a job; FIELD as sacct prints it (report.c), GPU and HOURS of its
 * plan. False: no memory, and said so. The columns: see FOCUS, focus.finops.org. */
struct auc_receipt;
void focus_begin(struct rows *r);
bool focus_add(struct rows *r, char **field, const struct auc_receipt *receipt, const char *gpu,
	       double hours);

#endif
