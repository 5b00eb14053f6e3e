/* ask.c - see ask.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/json.h"
#include "input/bid.h"
#include "sauction/ask.h"
#include "sauction/rows.h"

static void forget(const char *prefix, const char *but, const char *and);
static const char *without_prefix(const char *text);

struct json_object *ask_slurmctld(const char *what, const char *of)
{
	/* A slurmctld without the auction refuses the reservation: there is never a job. */
	const char *sbatch[8] = {"sbatch", "--wrap=true", "--reservation=auction-question"};
	struct json_object *o = NULL;
	char *line = NULL, *p, *told = NULL, account[256], question[32];
	size_t size = 0;
	FILE *in;
	pid_t pid;

	if (of) {
		snprintf(account, sizeof(account), "--account=%s", of);
		sbatch[3] = account;
	}
	/* Nothing but the question, whatever the user has in its environment: which cluster, and
	 * whose money. */
	for (unsigned key = 0; key < auc_bid_nkeys; key++)
		unsetenv(auc_bid_keys[key].env);
	forget("SBATCH_", "SBATCH_ACCOUNT", "SBATCH_CLUSTERS");
	snprintf(question, sizeof(question), "quote=%s", what);
	setenv(auc_bid_keys[0].env, question, 1);
	in = ask_run(sbatch, STDERR_FILENO, &pid);
	if (!in)
		return NULL;
	while (getline(&line, &size, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		p = strstr(line, "auction: {");
		if (p && !o) {
			o = auc_json_parse(strchr(p, '{'), strlen(strchr(p, '{')));
		} else if (!told) {
			told = strdup(line);
		}
	}
	fclose(in);
	ask_end(pid);
	if (!o && told && strstr(told, "reservation is invalid"))
		fail("slurmctld does not run the auction (JobSubmitPlugins of slurm.conf)");
	else if (!o)
		fail("%s", told ? without_prefix(told) : "sbatch says nothing");
	free(told);
	free(line);
	return o;
}

/* What sbatch says, to somebody who has not called it. */
static const char *without_prefix(const char *text)
{
	static const char *const prefixes[] = {"sbatch: ", "error: ", "auction: ", "--quote: "};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			text += strlen(prefixes[i]);
	return text;
}

/* Takes the variables whose names begin with PREFIX out of the environment, but those two. */
static void forget(const char *prefix, const char *but, const char *and)
{
	char name[64];

	for (char **p = environ; p && *p;) {
		size_t n = strcspn(*p, "=");

		if (n >= sizeof(name) || strncmp(*p, prefix, strlen(prefix))) {
			p++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)n, *p);
		if (!strcmp(name, but) || !strcmp(name, and) || unsetenv(name))
			p++;
	}
}

FILE *ask_run(const char *const *argv, int stream, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	FILE *in = NULL;
	int fd[2], rc;

	if (pipe2(fd, O_CLOEXEC)) {
		fail("pipe: %s", strerror(errno));
		return NULL;
	}
	/* What would change what squeue shows, and how times look. */
	forget("SQUEUE_", "", "");
	unsetenv("SLURM_TIME_FORMAT");
	rc = posix_spawn_file_actions_init(&actions);
	if (!rc) {
		rc = posix_spawn_file_actions_adddup2(&actions, fd[1], stream);
		if (!rc)
			rc = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv,
					  environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(fd[1]);
	if (!rc && !(in = fdopen(fd[0], "r")))
		rc = errno;
	if (!in) {
		fail("%s: %s", argv[0], strerror(rc));
		close(fd[0]);
	}
	return in;
}

int ask_end(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
