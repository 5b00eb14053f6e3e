/*
 * start.h - the children of the launcher: one srun for each step, or, without Slurm and for the
 * scheduler, an agent itself. Child number i is step i of the layout; the one after the last is the
 * scheduler.
 */
#ifndef SLAUNCH_START_H
#define SLAUNCH_START_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "layout.h"

struct start_options {
	const char *agent;     /* path of this program, good on every node */
	const char *host;      /* name or address under which the other nodes reach this one */
	bool direct;           /* without srun: all tasks are children of this process */
	bool label, scheduler; /* --label, --scheduler */
	unsigned verbose;
	double wait, grace; /* seconds */
	char *const *program;
};

/*
 * Puts into this process's environment what all tasks find in theirs: where the launcher listens
 * and its token (for the agents), the sale and its slots, a secret for the program.
 */
void start_export(const struct layout *l, const struct start_options *opt, const char *address,
		  const char *token);

/* What the launcher changed for itself and its children get as it was. */
struct start_inherit {
	sigset_t mask;
	struct rlimit files;
};

/*
 * Starts child I, in a process group of its own; it gets SIGTERM if this process dies. -1: errno.
 */
pid_t start_child(const struct layout *l, const struct start_options *opt, unsigned i,
		  const struct start_inherit *inherit);

/* Prints the commands of the layout's steps, one a line, quoted for the shell. */
void start_print(const struct layout *l, const struct start_options *opt);

#endif
