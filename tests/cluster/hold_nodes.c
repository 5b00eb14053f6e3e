/*
 * hold_nodes.c - slurmctld answers nobody who asks for the nodes, as long as the file that
 * $HOLD_NODES names is there; who asks says so by a file of that name and ".asked". As long as one
 * of that name and ".unanswered" is there, who asks has waited in vain. Preloaded into slurmctld
 * (closed.bats, failover.bats, restart-begin.bats).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int slurm_load_node(time_t since, void **nodes, uint16_t show)
{
	int (*next)(time_t, void **, uint16_t) =
		(int (*)(time_t, void **, uint16_t))dlsym(RTLD_NEXT, "slurm_load_node");
	const char *held = getenv("HOLD_NODES");
	char asked[4096], unanswered[4096];
	int fd;

	snprintf(unanswered, sizeof(unanswered), "%s.unanswered", held ? held : "");
	if (held && (access(held, F_OK) == 0 || access(unanswered, F_OK) == 0)) {
		snprintf(asked, sizeof(asked), "%s.asked", held);
		fd = open(asked, O_CREAT | O_WRONLY, 0644);
		if (fd >= 0)
			close(fd);
		if (access(unanswered, F_OK) == 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		while (access(held, F_OK) == 0)
			nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	}
	return next(since, nodes, show);
}
