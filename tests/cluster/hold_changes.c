/*
 * hold_changes.c - while the file that $HOLD_CHANGES names is there, no change of a job that the
 * auction asks for is made. Preloaded into slurmctld (restart-begin.bats).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int slurm_update_job2(void *desc, void **response)
{
	int (*next)(void *, void **) =
		(int (*)(void *, void **))dlsym(RTLD_NEXT, "slurm_update_job2");
	const char *path = getenv("HOLD_CHANGES");

	while (path && access(path, F_OK) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	return next(desc, response);
}
