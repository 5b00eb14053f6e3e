/*
 * hold_writes.c - while the file that $HOLD_WRITES names is there, pwrite() does not begin: a disk
 * that hangs. Preloaded into slurmctld (restart-states.bats), where only the auction's spool uses
 * it.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t at)
{
	const char *path = getenv("HOLD_WRITES");

	while (path && access(path, F_OK) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	return syscall(SYS_pwrite64, fd, buf, n, at);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	return pwrite64(fd, buf, n, at);
}
