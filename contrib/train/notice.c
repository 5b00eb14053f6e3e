/* notice.c - see notice.h */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "train/notice.h"

static void nothing(int sig);

enum auc_code notice_open(struct notice *n, struct auc_err *err)
{
	/* slaunch sends the signal of a change only if there is a handler. */
	struct sigaction action = {.sa_handler = nothing};
	sigset_t mask;

	*n = (struct notice){.fd = -1};
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	n->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (n->fd < 0)
		return auc_err_set(err, AUC_EIO, "signalfd: %s", strerror(errno));
	return AUC_OK;
}

void notice_read(struct notice *n)
{
	struct signalfd_siginfo info;

	while (read(n->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTERM)
			n->stop = true;
		else
			n->change = true;
	}
}

void notice_die(const struct notice *n)
{
	sigset_t mask;

	close(n->fd);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	_exit(EXIT_FAILURE);
}

static void nothing(int sig)
{
	(void)sig;
}
