/*
 * hold_requeue.c - what becomes of a requeue that the auction asks for, by files in the directory
 * that $HOLD_REQUEUE names: with before-JOB it is not asked yet, with behind-JOB it is asked, and
 * what follows it is not yet, for as long as the file is there; with refuse-JOB it is refused.
 * Preloaded into slurmctld (restart-change.bats).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static bool has_file(const char *what, const char *job)
{
	const char *dir = getenv("HOLD_REQUEUE");
	char path[4096];

	return dir &&
	       snprintf(path, sizeof(path), "%s/%s-%s", dir, what, job) < (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

static void hold(const char *what, const char *job)
{
	while (has_file(what, job))
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

int slurm_requeue2(char *job, uint32_t flags, void **response)
{
	int (*next)(char *, uint32_t, void **) =
		(int (*)(char *, uint32_t, void **))dlsym(RTLD_NEXT, "slurm_requeue2");
	int rc;

	if (has_file("refuse", job)) {
		errno = EBUSY;
		return -1;
	}
	hold("before", job);
	rc = next(job, flags, response);
	hold("behind", job);
	return rc;
}
