/*
 * heaps.c - what of slurmctld's heaps is in use: writes malloc_info(3) each second to
 * $HEAPS_DIR/heaps.PID. Once $HEAPS_DIR/trim is there, gives back before what glibc keeps for
 * later. Preloaded into slurmctld (memory), which forks before it makes its first thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static void *report(void *arg)
{
	const char *dir = getenv("HEAPS_DIR");
	char to[4096], made[4096], trim[4096];
	FILE *f;

	snprintf(to, sizeof(to), "%s/heaps.%d", dir, (int)getpid());
	snprintf(made, sizeof(made), "%.4000s.new", to);
	snprintf(trim, sizeof(trim), "%s/trim", dir);
	for (;; sleep(1)) {
		if (!access(trim, F_OK))
			malloc_trim(0);
		f = fopen(made, "w");
		if (!f)
			continue;
		malloc_info(0, f);
		fclose(f);
		rename(made, to);
	}
	return arg;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	static create_fn *create;
	pthread_t own;

	if (!create) {
		create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
		if (getenv("HEAPS_DIR") && !strcmp(program_invocation_short_name, "slurmctld"))
			create(&own, NULL, report, NULL);
	}
	return create(thread, attr, start, arg);
}
