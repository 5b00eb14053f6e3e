/*
 * spent - runs a command and says what it cost.
 *
 *	spent FILE COMMAND [ARGUMENT...]
 *
 * Appends one line to FILE: seconds by the clock, processor seconds in user mode and in the kernel,
 * and the last argument. Daemons that the command started and ended are included, which no shell
 * can measure: whatever loses its parent meanwhile becomes a child of this process.
 *
 * Exits as the command does: with its code, or 128 and the signal's number; 127 if it cannot be
 * run, 126 if FILE cannot be written. SIGTERM is passed on to the command, and when that has ended,
 * whatever it left running is ended, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t command;
static volatile sig_atomic_t stopped;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void pass_on(int signal)
{
	stopped = 1;
	kill(command, signal);
}

/* Waits for the command, and for whatever else ends before it. Returns its exit code as a shell has
 * it. */
static int wait_for_command(void)
{
	int status;

	while (true) {
		pid_t pid = wait(&status);

		if (pid < 0 && errno != EINTR)
			return 127;
		if (pid == command)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
}

/* Those that ended in the same moment; the ones that still run stay. */
static void reap_rest(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* The children of this process, and whatever becomes its child as its parent ends. */
static void kill_rest(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	do {
		FILE *file = fopen(path, "r");
		int pid;

		while (file && fscanf(file, "%d", &pid) == 1)
			kill(pid, SIGKILL);
		if (file)
			fclose(file);
	} while (wait(NULL) > 0);
}

static bool write_line(const char *path, double wall, const char *name)
{
	FILE *file = fopen(path, "a");
	struct rusage used;
	bool written;

	getrusage(RUSAGE_CHILDREN, &used);
	if (!file)
		return false;
	written = fprintf(file, "%.3f %.3f %.3f %s\n", wall, seconds(&used.ru_utime),
			  seconds(&used.ru_stime), name) > 0;
	return fclose(file) == 0 && written;
}

int main(int argc, char **argv)
{
	double start = now();
	int code;

	if (argc < 3) {
		fprintf(stderr, "Usage: spent FILE COMMAND [ARGUMENT...]\n");
		return 2;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
	command = fork();
	if (command == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (command < 0) {
		perror("spent");
		return 127;
	}
	signal(SIGTERM, pass_on);
	code = wait_for_command();
	if (stopped)
		kill_rest();
	reap_rest();
	if (!write_line(argv[1], now() - start, argv[argc - 1])) {
		perror(argv[1]);
		return 126;
	}
	return code;
}
