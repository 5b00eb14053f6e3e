/*
 * notice.h - signals as something to read: SIGTERM asks a task to end, SIGUSR1 (or whatever slaunch
 * --change-signal says) tells it that its group changes.
 */
#ifndef TRAIN_NOTICE_H
#define TRAIN_NOTICE_H

#include <stdbool.h>

#include "base/err.h"

struct notice {
	int fd;
	bool stop, change; /* as seen by notice_read(); the reader takes change back */
};

/* From now on signals wait until they are read. AUC_EIO. */
enum auc_code notice_open(struct notice *n, struct auc_err *err);
/* Takes what has come. */
void notice_read(struct notice *n);
/* Ends this process as SIGTERM would have. */
void notice_die(const struct notice *n) __attribute__((noreturn));

#endif
