/*
 * launch-private.h - the launcher at work, as its two files share it: launch.c starts tasks and
 * watches over them, follow.c has them follow the plan.
 */
#ifndef SLAUNCH_LAUNCH_PRIVATE_H
#define SLAUNCH_LAUNCH_PRIVATE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "slaunch/layout/legs.h"
#include "slaunch/layout/group.h"
#include "slaunch/launch.h"
#include "slaunch/queue.h"
#include "slaunch/start.h"
#include "slaunch/layout/taskenv.h"
#include "slaunch/wire.h"

#define GUESTS_MAX   64  /* connections that have not said who they are */
#define LAST_SECONDS 5.0 /* between the last SIGKILLs */

enum phase {
	PHASE_GATHER,
	PHASE_RUN,
	PHASE_TURN,
	PHASE_PAUSE,
	PHASE_DRAIN,
	PHASE_STOP,
	PHASE_KILL,
	PHASE_GIVE_UP
};

enum task_state {
	TASK_ABSENT,
	TASK_HERE,    /* has reported */
	TASK_RUNNING, /* has the list and was told to go */
	TASK_LOST,    /* its connection broke; how it ended is not known */
	TASK_ENDED,
};

struct task {
	struct peer peer;
	enum task_state state;
	struct wire wire; /* open in HERE and RUNNING */
	double lost_at;
	bool told;    /* has got its first list of tasks */
	bool leaving; /* goes with a change: however it ends is fine */
	bool stopped; /* was told to end for it */
};

/* A child of ours: the srun of a step, or one agent. */
struct proc {
	pid_t pid; /* 0: has ended */
	int code;  /* as a shell gives it */
	enum role role;
	char node[AUC_NAME_MAX];
	uint32_t job_id;
	unsigned first_task, ntasks;
	double gather_by; /* joins a running group: when its tasks must have reported; 0: they have
			   */
	double kill_at; /* some of its tasks leave: when the patience with them ends; 0: not set */
	bool killed;
};

struct guest {
	struct wire wire; /* fd -1: free */
	double deadline;
};

struct launch {
	const struct start_options *opt;
	struct layout layout; /* of the tasks that run, or are to */
	enum phase phase;
	double deadline; /* of the phase; 0: none */
	bool failed;
	int code; /* the first failure's */
	bool interrupted;
	bool finished; /* a worker has ended well by itself: nobody joins any more */
	int listen_fd, sigfd;
	char address[TASKENV_HOST_MAX + 16];
	char token[WIRE_TOKEN_LEN];
	struct start_inherit old;
	unsigned ntasks, nprocs;
	struct task *tasks;
	struct proc *procs;
	unsigned next_id[ROLES];
	double form_by; /* when those who have reported to join wait no longer for others; 0: no one
			 */
	unsigned generation; /* how often a list of tasks was sent */
	struct guest guests[GUESTS_MAX];
	struct pollfd *poll;

	struct legs legs;
	struct look look;
	unsigned restarts; /* of the whole program, by us */
	double turn_until; /* Unix time before which a stopped program does not start again; 0: none
			    */
	double noticed;    /* Unix time of the change that the tasks know of; 0: none */
	bool heard;        /* something has announced a change */
	int heard_sig;     /* the signal that the lead's tasks heard last, */
	double heard_at;   /* and when */
	int pass_on;       /* the signal that did, to be passed on if none comes; 0: none */
	double answer_by;  /* until then a notice waits for a newer plan; 0: not waiting */
	double look_at;    /* when to look again at the group; 0: no need */
	/* While a layout forms: */
	double wait_until; /* when the patience with members that do not run ends; 0: complete */
	bool gave_up;      /* it has ended */
	char waiting[512]; /* what they do instead */
	struct group_spent spent;
};

/* launch.c */

/* Adds a step's child and its N tasks to the tables; false: no memory, and it has failed. */
bool launch_add(struct launch *L, enum role role, unsigned n, const char *node, uint32_t job_id);
/* Adds and starts the missing tasks of all steps whose job is known, and the scheduler; returns how
 * many tasks. */
unsigned launch_start_missing(struct launch *L, double gather_by);
/* Forgets what has ended. */
void launch_forget(struct launch *L);
/* The tasks that have reported form a group with those that run: tells all of them. */
void launch_form(struct launch *L);
/* Tells all running tasks who they are and what comes. */
void launch_tell(struct launch *L);
/* Ends the tasks that leave and do not know it yet. */
void launch_leave(struct launch *L);
/* Sends {WHAT: SIG} to the running tasks, workers among them only if WORKERS. */
void launch_send(struct launch *L, const char *what, int sig, bool workers);
/* Children that have not ended. */
unsigned launch_children(const struct launch *L);
/* Tasks of ROLE (ROLES: of any) in STATE. */
unsigned launch_count(const struct launch *L, enum role role, enum task_state state);
/* The first failure decides the exit code and ends everything. */
void launch_fail(struct launch *L, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* follow.c */

/* A signal that may announce a change: SIG is passed on if none comes. */
void follow_heard(struct launch *L, int sig);
/*
 * Slurm has sent SIG to T's step: by scancel -s or --signal, which are meant for the whole job, but
 * reach the lead's steps alone. The tasks on its other nodes get it from here, once for all who
 * heard it. What could announce a change is for those that handle it.
 */
void follow_step_heard(struct launch *L, const struct task *t, int sig);
/*
 * A task has failed, or one that leaves has ended. True if the tasks know that the program is to be
 * stopped for a change: then it is now, and that is no failure.
 */
bool follow_broken(struct launch *L);
/* What has come of a look at the group. */
void follow_look(struct launch *L);
/* What follows from the plan and the time. */
void follow_step(struct launch *L);
/* The earlier of NEXT (0: never) and the time of auc_clock_now() at which follow_step() has to do
 * something. */
double follow_next(const struct launch *L, double next);
/* What a task is told of the change that comes; NULL: none is known. */
struct json_object *follow_json(const struct launch *L, const struct task *t);

#endif
