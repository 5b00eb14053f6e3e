/* start.c - see start.h */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "slaunch/task_agent.h"
#include "base/num.h"
#include "slaunch/say.h"
#include "slaunch/start.h"
#include "slaunch/wire.h"

extern char **environ;

static void start_exec(const struct layout *l, const struct start_options *opt,
		       const struct layout_step *s, const struct start_inherit *inherit);
static char **start_argv(const struct layout *l, const struct start_options *opt,
			 const struct layout_step *s);
static void print_quoted(const char *word);

void start_export(const struct layout *l, const struct start_options *opt, const char *address,
		  const char *token)
{
	char buf[64];

	setenv(AGENT_CONNECT, address, 1);
	setenv(AGENT_TOKEN, token, 1);
	snprintf(buf, sizeof(buf), "%.3f", opt->grace);
	setenv(AGENT_GRACE, buf, 1);
	if (opt->label)
		setenv(AGENT_LABEL, "1", 1);
	else
		unsetenv(AGENT_LABEL);
	snprintf(buf, sizeof(buf), "%d", opt->change_signal);
	if (opt->direct || opt->handled)
		unsetenv(AGENT_IGNORE);
	else
		setenv(AGENT_IGNORE, buf, 1);
	if (opt->elastic)
		setenv("AUCTION_ELASTIC", "1", 1);
	else
		unsetenv("AUCTION_ELASTIC");
	if (!l->lead)
		return;
	snprintf(buf, sizeof(buf), "%" PRIu32, l->lead);
	setenv("AUCTION_JOB_ID", buf, 1);
	setenv("AUCTION_SALE", l->sale, 1);
	setenv("AUCTION_WORKER_TYPE", l->worker_type, 1);
	setenv("AUCTION_PS_TYPE", l->ps_type, 1);
	if (l->chunks)
		setenv("AUCTION_CHUNKS", l->chunks, 1);
	else
		unsetenv("AUCTION_CHUNKS");
	snprintf(buf, sizeof(buf), "%g", l->slot_seconds);
	setenv("AUCTION_SLOT_SECONDS", buf, 1);
	snprintf(buf, sizeof(buf), "%.0f", l->begin);
	setenv("AUCTION_SLOT_START", buf, 1);
	snprintf(buf, sizeof(buf), "%.0f", l->end);
	setenv("AUCTION_SLOT_END", buf, 1);
}

void start_export_secret(void)
{
	char secret[WIRE_TOKEN_LEN];

	/* Not the launcher's own, which admits to it. */
	if (wire_token(secret))
		setenv("AUCTION_TOKEN", secret, 1);
}

void start_export_restarts(unsigned restarts)
{
	const char *requeued = getenv("SLURM_RESTART_COUNT");
	uint64_t n = 0;
	char buf[32];

	if (requeued)
		auc_parse_count(requeued, 0, UINT32_MAX, &n, "SLURM_RESTART_COUNT", NULL);
	snprintf(buf, sizeof(buf), "%" PRIu64, n + restarts);
	setenv("AUCTION_RESTARTS", buf, 1);
}

pid_t start_child(const struct layout *l, const struct start_options *opt,
		  const struct layout_step *s, const struct start_inherit *inherit)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* srun ends its step on SIGTERM, an agent its program once it is alone. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() == parent)
			start_exec(l, opt, s, inherit);
		_exit(127);
	}
	if (pid > 0)
		setpgid(pid, pid);
	return pid;
}

void start_print(const struct layout *l, const struct start_options *opt)
{
	for (unsigned i = 0; i < l->nsteps; i++) {
		char **argv = start_argv(l, opt, &l->steps[i]);

		for (char **p = argv; p && *p; p++) {
			print_quoted(*p);
			putchar(p[1] ? ' ' : '\n');
		}
		layout_argv_free(argv);
	}
}

/* In the child: returns only if it failed. */
static void start_exec(const struct layout *l, const struct start_options *opt,
		       const struct layout_step *s, const struct start_inherit *inherit)
{
	char **argv = start_argv(l, opt, s);
	int null = open("/dev/null", O_RDONLY);

	/* A process group of its own: what is typed at a terminal reaches it through us only. */
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &inherit->mask, NULL);
	setrlimit(RLIMIT_NOFILE, &inherit->files);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (!argv)
		return;
	if (strcmp(argv[0], "srun") == 0) {
		start_clear_slurm_env();
	} else {
		/* Not started by srun: whatever step we are in ourselves is not the task's. */
		unsetenv("SLURM_PROCID");
		if (!opt->direct)
			setenv("CUDA_VISIBLE_DEVICES", "", 1);
	}
	execvp(argv[0], argv);
	say("%s: %s", argv[0], strerror(errno));
}

/* The command of a child: a step's srun, or an agent. */
static char **start_argv(const struct layout *l, const struct start_options *opt,
			 const struct layout_step *s)
{
	char task[48], **agent, **argv = NULL;
	unsigned n = 0;

	while (opt->program[n])
		n++;
	agent = calloc((size_t)n + 4, sizeof(*agent));
	if (!agent)
		return NULL;
	snprintf(task, sizeof(task), "--task=%s:%u", role_name(s->role), s->first_rank);
	agent[0] = (char *)opt->agent;
	agent[1] = task;
	agent[2] = (char *)"--";
	memcpy(agent + 3, opt->program, n * sizeof(*agent));
	if (!opt->direct && s->role != ROLE_SCHEDULER) {
		argv = layout_srun(l, s, agent);
	} else {
		argv = calloc((size_t)n + 4, sizeof(*argv));
		for (unsigned k = 0; argv && k < n + 3; k++)
			argv[k] = strdup(agent[k]);
	}
	free(agent);
	return argv;
}

void start_clear_slurm_env(void)
{
	static const char *const prefixes[] = {"SLURM_", "_SLURM_", "SLURMD_", "SPANK_"};
	char name[256];

	for (char **e = environ; *e;) {
		size_t len = strcspn(*e, "=");
		bool ours = false;

		for (unsigned i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
			ours |= strncmp(*e, prefixes[i], strlen(prefixes[i])) == 0;
		if (!ours || len >= sizeof(name) || strncmp(*e, "SLURM_CONF=", 11) == 0) {
			e++;
			continue;
		}
		memcpy(name, *e, len);
		name[len] = '\0';
		/* The rest of the list moves up. */
		if (unsetenv(name) != 0)
			e++;
	}
}

static void print_quoted(const char *word)
{
	if (*word && !word[strcspn(word, " \t\n\\'\"$`*?[]<>|&;()#~{}!")]) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, stdout);
	putchar('\'');
}
