/*
 * launch.h - starts all tasks of a layout, brings them together and watches over them until the
 * last one has ended.
 *
 *   gather   every step's srun (or, locally, every task's agent) is started; the agents report
 *   run      all are there: each gets the list of tasks and starts its program
 *   turn     the layout changes for a program that cannot go on meanwhile: all tasks are ending
 *   pause    nothing runs until the next layout may
 *   drain    all workers ended well: PSs and scheduler may end by themselves for the grace time
 *   stop     SIGTERM was sent to what still runs: after a drain, a failure or a signal
 *   kill     SIGKILL
 *
 * In "run", tasks of an elastic program leave and join. When the layout changes is known from the
 * legs (legs.h) by the clock, and from Slurm's queue when a signal announces a change or a layout
 * begins.
 */
#ifndef SLAUNCH_LAUNCH_H
#define SLAUNCH_LAUNCH_H

#include "slaunch/layout/legs.h"
#include "slaunch/layout/layout.h"
#include "slaunch/start.h"

/*
 * Runs layout L, and then what the course C (taken over) says. Returns the exit code: 0 if every
 * worker's was 0, else the first failure's (128 + signal if it was killed), 1 where the launcher
 * itself failed.
 */
int launch_run(const struct layout *l, struct legs *c, const struct start_options *opt);

#endif
