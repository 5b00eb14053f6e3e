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

#include "layout.h"
#include "start.h"

/*
 * Runs it all. Returns the exit code: 0 if every worker's was 0, else the first failure's (128 +
 * signal if it was killed), 1 where the launcher itself failed.
 */
int launch_run(const struct layout *l, const struct start_options *opt);

#endif
