/*
 * groupfile.h - the file in which a task finds its group: who is in it now, and what change comes.
 *
 * It has no place on any disk: the agent holds it in memory and names it as a file of /proc, so
 * that nothing stays behind. Each version is a new file under the same name: a reader sees one or
 * the other, whole. slaunch(1) describes what is in it.
 */
#ifndef SLAUNCH_GROUPFILE_H
#define SLAUNCH_GROUPFILE_H

#include <sys/types.h>

#include "base/err.h"
#include "slaunch/layout/layout.h"

struct json_object;

struct groupfile {
	int fd; /* -1: not written yet */
};

/* Writes the version that message O of the launcher describes, for the task with this role and id.
 * AUC_EINVAL: the message is malformed; AUC_EIO. */
enum auc_code groupfile_write(struct groupfile *f, struct json_object *o, enum role role,
			      unsigned id, struct auc_err *err);
/* Puts its name, into this process's environment. */
enum auc_code groupfile_set(const struct groupfile *f, struct auc_err *err);
void groupfile_clear(struct groupfile *f);

/*
 * Sends SIG to those processes of process group GROUP that have a handler for it: others it would
 * only end.
 */
void catch_kill(pid_t group, int sig);
/* Kills (SIGKILL) the processes whose parent is PARENT, but for those of process group BUT; how many
 * there were. */
unsigned kill_children(pid_t parent, pid_t but);

#endif
