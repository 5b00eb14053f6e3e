/*
 * main.c - "slaunch PROGRAM ARGS" in the script of a job that was bought at auction: starts the
 * PSs and workers of the whole group, each in its role. This file: the command line. See
 * slaunch(1).
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slaunch/task_agent.h"
#include "slaunch/chunkfile.h"
#include "base/clock.h"
#include "input/conf.h"
#include "slaunch/layout/legs.h"
#include "base/file.h"
#include "slaunch/launch.h"
#include "slaunch/layout/layout.h"
#include "slaunch/queue.h"
#include "slaunch/mover.h"
#include "base/num.h"
#include "slaunch/say.h"
#include "slaunch/start.h"

#define DEFAULT_WAIT   60.0
#define DEFAULT_GRACE  30.0
#define DEFAULT_NOTICE 30.0

enum {
	OPT_LOCAL = 256,
	OPT_SCHEDULER,
	OPT_DRY_RUN,
	OPT_TASK,
	OPT_ELASTIC,
	OPT_CHANGE_SIGNAL,
	OPT_NOTICE,
	OPT_THEN,
	OPT_PLAN,
	OPT_DATA_DIR,
	OPT_DATA_SHARED,
	OPT_CHUNK
};

struct options {
	struct start_options start;
	bool local, dry_run;
	struct legs legs;  /* --local, --then, --plan */
	double then;       /* seconds of the last --then */
	const char *task;  /* --task: be an agent */
	const char *chunk; /* --chunk: look after a chunk on this node */
	struct mover_options data;
};

static int options_parse(struct options *o, int argc, char **argv);
static enum auc_code options_check(struct options *o, struct auc_err *err);
static enum auc_code options_then(struct options *o, const char *text, struct auc_err *err);
static enum auc_code options_signal(const char *text, int *sig, struct auc_err *err);
static enum auc_code options_data(const char *text, struct auc_err *err);
static void hold_changes(struct start_options *opt);
static pid_t start_mover(const struct layout *l, struct options *o);
static enum auc_code layout_find(struct layout *l, struct options *o, char *host, size_t size,
				 struct auc_err *err);
static void help(void);
static int written(void);

int main(int argc, char **argv)
{
	struct options o = {.start = {.wait = DEFAULT_WAIT,
				      .grace = DEFAULT_GRACE,
				      .notice = DEFAULT_NOTICE,
				      .change_signal = SIGUSR1,
				      .plan_start = auc_clock_wall()}};
	char self[PATH_MAX], host[256];
	struct auc_err err = {0};
	struct layout layout;
	pid_t mover;
	ssize_t n;
	int code;

	auc_output_begin();
	code = options_parse(&o, argc, argv);
	if (code >= 0) {
		legs_clear(&o.legs);
		return code;
	}
	if (o.task)
		return task_agent_run(o.task, o.start.program);
	if (o.chunk)
		return chunkfile_run(o.chunk, o.start.program);

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0) {
		say("/proc/self/exe: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	self[n] = '\0';
	o.start.agent = self;
	hold_changes(&o.start);
	if (layout_find(&layout, &o, host, sizeof(host), &err) != AUC_OK) {
		say("%s", err.text);
		legs_clear(&o.legs);
		return EXIT_FAILURE;
	}
	o.start.host = host;
	code = EXIT_SUCCESS;
	if (o.dry_run) {
		start_print(&layout, &o.start);
		code = written();
	} else {
		mover = start_mover(&layout, &o);
		code = launch_run(&layout, &o.legs, &o.start);
		if (mover > 0)
			kill(mover, SIGTERM);
	}
	legs_clear(&o.legs);
	layout_clear(&layout);
	return code;
}

/* Returns an exit code, or -1 to go on. */
static int options_parse(struct options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{"wait", required_argument, NULL, 'W'},
		{"grace", required_argument, NULL, 'g'},
		{"label", no_argument, NULL, 'l'},
		{"scheduler", no_argument, NULL, OPT_SCHEDULER},
		{"local", required_argument, NULL, OPT_LOCAL},
		{"elastic", no_argument, NULL, OPT_ELASTIC},
		{"change-signal", required_argument, NULL, OPT_CHANGE_SIGNAL},
		{"notice", required_argument, NULL, OPT_NOTICE},
		{"then", required_argument, NULL, OPT_THEN},
		{"plan", required_argument, NULL, OPT_PLAN},
		{"dry-run", no_argument, NULL, OPT_DRY_RUN},
		{"verbose", no_argument, NULL, 'v'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{"data-dir", required_argument, NULL, OPT_DATA_DIR},
		{"data-shared", no_argument, NULL, OPT_DATA_SHARED},
		{"task", required_argument, NULL, OPT_TASK},
		{"chunk", required_argument, NULL, OPT_CHUNK},
		{NULL, 0, NULL, 0},
	};
	struct auc_err err = {0};
	enum auc_code rc = AUC_OK;
	int c;

	/* "+": what follows the program is the program's. */
	while (rc == AUC_OK && (c = getopt_long(argc, argv, "+W:g:lvVh", options, NULL)) != -1) {
		switch (c) {
		case 'W':
			rc = auc_parse_span(optarg, 1, 0, &o->start.wait, "--wait", &err);
			break;
		case 'g':
			rc = auc_parse_span(optarg, 1, 0, &o->start.grace, "--grace", &err);
			break;
		case 'l':
			o->start.label = true;
			break;
		case OPT_SCHEDULER:
			o->start.scheduler = true;
			break;
		case OPT_LOCAL:
			rc = o->local
				     ? auc_err_set(&err, AUC_EINVAL,
						   "--local=%s: expected only once; "
						   "--then=TIME:WORKERS[:PS] says what comes later",
						   optarg)
				     : legs_add_local(&o->legs, o->start.plan_start, optarg,
						      "--local=", &err);
			o->local = true;
			break;
		case OPT_ELASTIC:
			o->start.elastic = true;
			break;
		case OPT_CHANGE_SIGNAL:
			rc = options_signal(optarg, &o->start.change_signal, &err);
			o->start.handled = true;
			break;
		case OPT_NOTICE:
			rc = auc_parse_span(optarg, 1, 0, &o->start.notice, "--notice", &err);
			break;
		case OPT_THEN:
			rc = options_then(o, optarg, &err);
			break;
		case OPT_PLAN:
			o->start.plan_file = optarg;
			break;
		case OPT_DRY_RUN:
			o->dry_run = true;
			break;
		case OPT_TASK:
			o->task = optarg;
			break;
		case OPT_CHUNK:
			o->chunk = optarg;
			break;
		case OPT_DATA_DIR:
			rc = options_data(optarg, &err);
			break;
		case OPT_DATA_SHARED:
			o->data.shared = true;
			break;
		case 'v':
			o->start.verbose++;
			break;
		case 'V':
			printf("slurm-auction %s\n", PACKAGE_VERSION);
			return written();
		case 'h':
			help();
			return written();
		default:
			fprintf(stderr, "Try \"slaunch --help\" for more information\n");
			return AUC_EXIT_USAGE;
		}
	}
	if (rc == AUC_OK)
		rc = options_check(o, &err);
	if (rc == AUC_OK && (optind >= argc || !*argv[optind]))
		rc = auc_err_set(&err, AUC_EINVAL,
				 "no program given: slaunch [OPTIONS] PROGRAM [ARGUMENTS]");
	if (rc != AUC_OK) {
		say("%s", err.text);
		return EXIT_FAILURE;
	}
	o->start.program = argv + optind;
	o->start.direct = o->local;
	return -1;
}

/* What the options are together. */
static enum auc_code options_check(struct options *o, struct auc_err *err)
{
	o->start.follow = !o->local || o->start.plan_file;
	if (!o->start.plan_file)
		return AUC_OK;
	if (o->local)
		return auc_err_set(err, AUC_EINVAL,
				   "--plan=%s: not together with --local or --then",
				   o->start.plan_file);
	o->local = true;
	return legs_read(&o->legs, o->start.plan_file, o->start.plan_start, err);
}

/* TIME:WORKERS[:PS] */
static enum auc_code options_then(struct options *o, const char *text, struct auc_err *err)
{
	const char *colon = strchr(text, ':');
	char span[40], what[64];
	double t;

	if (!o->local)
		return auc_err_set(err, AUC_EINVAL, "--then=%s: only after --local", text);
	if (!colon || (size_t)(colon - text) >= sizeof(span))
		return auc_err_set(err, AUC_EINVAL, "--then=%s: expected TIME:WORKERS[:PS]", text);
	memcpy(span, text, colon - text);
	span[colon - text] = '\0';
	if (auc_parse_span(span, 1, 0, &t, "--then", err) != AUC_OK)
		return AUC_EINVAL;
	o->then += t;
	snprintf(what, sizeof(what), "--then=%s:", span);
	return legs_add_local(&o->legs, o->start.plan_start + o->then, colon + 1, what, err);
}

/* "USR1", "SIGUSR1" or a number. */
static enum auc_code options_signal(const char *text, int *sig, struct auc_err *err)
{
	const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
	uint64_t n = 0;

	for (int i = 1; i < NSIG; i++)
		if (sigabbrev_np(i) && strcasecmp(sigabbrev_np(i), name) == 0)
			n = i;
	if (!n)
		auc_parse_count(text, 1, SIGRTMAX, &n, "--change-signal", NULL);
	if (!n || !auc_change_signal_fits((int)n))
		return auc_err_set(err, AUC_EINVAL,
				   "--change-signal=%s: expected a signal that ends no task, such "
				   "as USR1, USR2 or URG",
				   text);
	*sig = n;
	return AUC_OK;
}

/* Tasks find it in their environment, too. */
static enum auc_code options_data(const char *text, struct auc_err *err)
{
	if (*text != '/')
		return auc_err_set(err, AUC_EINVAL, "--data-dir=%s: expected an absolute path",
				   text);
	return setenv(DATA_DIR, text, 1) == 0 ? AUC_OK
					      : auc_err_set(err, AUC_ENOMEM, "out of memory");
}

/* A change may be announced while the group is waited for: launch_run() hears of it then. */
static void hold_changes(struct start_options *opt)
{
	sigset_t announced;

	sigemptyset(&announced);
	sigaddset(&announced, opt->change_signal);
	sigprocmask(SIG_BLOCK, &announced, &opt->mask);
}

/* The process that moves chunks, if the plan moves any; 0: none. */
static pid_t start_mover(const struct layout *l, struct options *o)
{
	o->data.agent = o->start.agent;
	o->data.dir = getenv(DATA_DIR);
	if (!l->nmoves)
		return 0;
	if (o->data.dir && *o->data.dir)
		return mover_start(&o->data, l->lead);
	say("the plan moves chunks, but --data-dir is not set: none is moved");
	return 0;
}

static enum auc_code layout_find(struct layout *l, struct options *o, char *host, size_t size,
				 struct auc_err *err)
{
	const char *job = getenv("SLURM_JOB_ID");
	uint64_t job_id;
	enum auc_code rc;

	if (o->local) {
		snprintf(host, size, "127.0.0.1");
		return layout_copy(l, &o->legs.legs[0].layout, err);
	}
	if (!job)
		return auc_err_set(err, AUC_EINVAL,
				   "not in a job (SLURM_JOB_ID is not set): submit a script with "
				   "sbatch --bid that calls slaunch, "
				   "or try your program out with --local WORKERS:PS");
	rc = auc_parse_count(job, 1, UINT32_MAX, &job_id, "SLURM_JOB_ID", err);
	if (rc != AUC_OK)
		return rc;
	rc = queue_wait(job_id, o->dry_run ? -1 : o->start.wait, o->start.verbose, l, &o->legs,
			err);
	if (rc == AUC_OK)
		queue_node_addr(l->lead_node, host, size);
	return rc;
}

static void help(void)
{
	fputs("Usage: slaunch [OPTIONS] PROGRAM [ARGUMENTS]\n"
	      "Starts PROGRAM as every PS and worker of the auction job whose script calls it.\n"
	      "\n"
	      "  -W, --wait=TIME      how long to wait for the group's nodes, and again for all\n"
	      "                       tasks to start (default: 60s)\n"
	      "  -g, --grace=TIME     from SIGTERM to SIGKILL, and from the last worker's end\n"
	      "                       to the PSs' SIGTERM (default: 30s)\n"
	      "  -l, --label          put \"worker 3: \" before each line of output\n"
	      "      --scheduler      start PROGRAM once more as scheduler (MXNet, BytePS)\n"
	      "      --elastic        the program goes on while workers join and leave; without "
	      "it\n"
	      "                       it is stopped and started again when the layout changes\n"
	      "      --change-signal=SIGNAL  what announces a change, to slaunch and to the\n"
	      "                       tasks (default: USR1)\n"
	      "      --notice=TIME    how long before a change the tasks are told (30s)\n"
	      "      --local=W[:P]    W workers and P PSs on this machine, without Slurm\n"
	      "      --then=TIME:W[:P]  so many from TIME later on (with --local; repeatable)\n"
	      "      --plan=FILE      like --local, --then: lines \"TIME W[:P]\"\n"
	      "      --data-dir=DIR   where the chunks of the data lie on each node, as chunk.0,\n"
	      "                       chunk.1, ...; %n is the node's name (AUCTION_DATA_DIR)\n"
	      "      --data-shared    each node sees those of all others there\n"
	      "      --dry-run        print the srun commands and stop\n"
	      "  -v, --verbose        say what is done (twice: more)\n"
	      "  -V, --version        print the version and stop\n"
	      "  -h, --help           print this and stop\n"
	      "\n"
	      "TIME is a number of seconds or has a unit: 500ms, 20s, 2m.\n",
	      stdout);
}

/* An exit code: whether all output arrived. */
static int written(void)
{
	struct auc_err err;

	if (auc_output_end(&err) == AUC_OK)
		return EXIT_SUCCESS;
	say("%s", err.text);
	return EXIT_FAILURE;
}
