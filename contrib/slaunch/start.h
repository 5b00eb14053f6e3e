/*
 * start.h - the children of the launcher: one srun for each step, or, without Slurm and for the
 * scheduler, an agent itself.
 */
#ifndef SLAUNCH_START_H
#define SLAUNCH_START_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "slaunch/layout/layout.h"

struct start_options {
	const char *agent;     /* path of this program, good on every node */
	const char *host;      /* name or address under which the other nodes reach this one */
	bool direct;           /* without srun: all tasks are children of this process */
	bool label, scheduler; /* --label, --scheduler */
	unsigned verbose;
	double wait, grace; /* seconds */
	bool follow;        /* the plan may change: it is looked at */
	bool elastic;       /* workers may come and go while the program runs */
	int change_signal;
	sigset_t mask; /* as it was before the change signal was blocked */
	bool handled;  /* the program has a handler for it from the start, or wants to die of it */
	double notice; /* seconds before a change in which the tasks are told */
	const char *plan_file; /* --plan: read again when a change is announced; NULL: none */
	double plan_start;     /* Unix time from which it counts */
	char *const *program;
};

/*
 * Puts into this process's environment what all tasks find in theirs: where the launcher listens
 * and its token (for the agents), the sale and its slots. To be repeated with each layout.
 */
void start_export(const struct layout *l, const struct start_options *opt, const char *address,
		  const char *token);

/* The same for a secret that all tasks of the program share. */
void start_export_secret(void);
/* And for how often the program was started before in this job. */
void start_export_restarts(unsigned restarts);

/* What the launcher changed for itself and its children get as it was. */
struct start_inherit {
	sigset_t mask;
	struct rlimit files;
};

/*
 * Starts the child of step S (its first_rank is the id of its first task), in a process group of
 * its own; it gets SIGTERM if this process dies. -1: errno.
 */
pid_t start_child(const struct layout *l, const struct start_options *opt,
		  const struct layout_step *s, const struct start_inherit *inherit);

/*
 * For a child that becomes an srun. The batch script's variables describe the lead's allocation,
 * and srun takes many of them for options: the lead's memory would be asked of a member, its bid be
 * taken for a bid. Only where Slurm's configuration is stays.
 */
void start_clear_slurm_env(void);

/* Prints the commands of the layout's steps, one a line, quoted for the shell. */
void start_print(const struct layout *l, const struct start_options *opt);

#endif
