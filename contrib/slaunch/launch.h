/*
 * launch.h - starts all tasks of a layout, brings them together and watches over them until the
 * last one has ended.
 *
 *   gather   every step's srun (or, locally, every task's agent) is started; the agents report
 *   run      all are there: each gets the list of tasks and starts its program
 *   drain    all workers ended well: PSs and scheduler may end by themselves for the grace time
 *   stop     SIGTERM was sent to what still runs: after a drain, a failure or a signal to the
 * launcher kill     SIGKILL
 */
#ifndef SLAUNCH_LAUNCH_H
#define SLAUNCH_LAUNCH_H

#include <stdbool.h>

#include "layout.h"

struct launch_options {
	const char *agent;     /* path of this program, good on every node */
	const char *host;      /* name or address under which the other nodes reach this one */
	bool direct;           /* without srun: all tasks are children of this process */
	bool label, scheduler; /* --label, --scheduler */
	unsigned verbose;
	double wait, grace; /* seconds */
	char *const *program;
};

/*
 * Runs it all. Returns the exit code: 0 if every worker's was 0, else the first failure's (128 +
 * signal if it was killed), 1 where the launcher itself failed.
 */
int launch_run(const struct layout *l, const struct launch_options *opt);

/* Prints the commands that launch_run() would run, one a line, quoted for the shell. */
void launch_print(const struct layout *l, const struct launch_options *opt);

#endif
