/*
 * task_agent.h - "slaunch --task": what runs in the place of each task, on its node. It reports to
 * the launcher, waits for the list of all tasks, starts the program in its role and stays beside
 * it, so that the launcher learns at once how each task ended and can pass signals on; if the
 * launcher is gone, it ends the program.
 */
#ifndef SLAUNCH_TASK_AGENT_H
#define SLAUNCH_TASK_AGENT_H

#define AGENT_CONNECT "SLAUNCH_CONNECT" /* host:port of the launcher */
#define AGENT_TOKEN   "SLAUNCH_TOKEN"
#define AGENT_GRACE                                                                                \
	"SLAUNCH_GRACE" /* seconds between SIGTERM and SIGKILL once the launcher is gone */
#define AGENT_LABEL "SLAUNCH_LABEL" /* set: put "worker 3: " before each line of output */

/* A signal that the program ignores until it says otherwise: Slurm sends it to whole steps. */
#define AGENT_IGNORE "SLAUNCH_IGNORE"

/* TASK is "ROLE:RANK", RANK being that of this step's task 0. Returns the exit code. */
int task_agent_run(const char *task, char *const program[]);

#endif
