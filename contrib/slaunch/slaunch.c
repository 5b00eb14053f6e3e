/*
 * slaunch.c - "slaunch PROGRAM ARGS" in the script of a job that was bought at auction: starts the
 * PSs and workers of the whole group, each in its role. This file: the command line. See
 * slaunch(1).
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "group.h"
#include "launch.h"
#include "layout.h"
#include "num.h"
#include "say.h"
#include "start.h"

#define DEFAULT_WAIT  60.0
#define DEFAULT_GRACE 30.0
#define LOCAL_MAX     256 /* processes of --local, workers and PSs each */

enum { OPT_LOCAL = 256, OPT_SCHEDULER, OPT_DRY_RUN, OPT_TASK };

struct options {
	struct start_options start;
	bool local, dry_run;
	uint64_t workers, ps;
	const char *task; /* --task: be an agent */
};

static int options_parse(struct options *o, int argc, char **argv);
static enum auc_code options_local(struct options *o, const char *text, struct auc_err *err);
static enum auc_code options_number(const char *text, const char *what, uint64_t *value,
				    struct auc_err *err);
static enum auc_code layout_find(struct layout *l, const struct options *o, char *host, size_t size,
				 struct auc_err *err);
static void help(void);

int main(int argc, char **argv)
{
	struct options o = {.start = {.wait = DEFAULT_WAIT, .grace = DEFAULT_GRACE}};
	char self[PATH_MAX], host[256];
	struct auc_err err = {0};
	struct layout layout;
	ssize_t n;
	int code;

	code = options_parse(&o, argc, argv);
	if (code >= 0)
		return code;
	if (o.task)
		return agent_run(o.task, o.start.program);

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0) {
		say("/proc/self/exe: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	self[n] = '\0';
	o.start.agent = self;
	if (layout_find(&layout, &o, host, sizeof(host), &err) != AUC_OK) {
		say("%s", err.text);
		return EXIT_FAILURE;
	}
	o.start.host = host;
	code = EXIT_SUCCESS;
	if (o.dry_run)
		start_print(&layout, &o.start);
	else
		code = launch_run(&layout, &o.start);
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
		{"dry-run", no_argument, NULL, OPT_DRY_RUN},
		{"verbose", no_argument, NULL, 'v'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{"task", required_argument, NULL, OPT_TASK},
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
			o->local = true;
			rc = options_local(o, optarg, &err);
			break;
		case OPT_DRY_RUN:
			o->dry_run = true;
			break;
		case OPT_TASK:
			o->task = optarg;
			break;
		case 'v':
			o->start.verbose++;
			break;
		case 'V':
			printf("slurm-auction %s\n", PACKAGE_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			help();
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "Try \"slaunch --help\" for more information\n");
			return EXIT_FAILURE;
		}
	}
	if (rc == AUC_OK && optind >= argc)
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

/* WORKERS[:PS] */
static enum auc_code options_local(struct options *o, const char *text, struct auc_err *err)
{
	const char *colon = strchr(text, ':');
	char workers[16];
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	enum auc_code rc = AUC_EINVAL;

	if (n < sizeof(workers)) {
		memcpy(workers, text, n);
		workers[n] = '\0';
		rc = options_number(workers, "workers", &o->workers, err);
		if (rc == AUC_OK && colon)
			rc = options_number(colon + 1, "PSs", &o->ps, err);
	}
	if (rc != AUC_OK || !o->workers)
		return auc_err_set(
			err, AUC_EINVAL,
			"--local=%s: expected WORKERS[:PS], 1 to %d workers and at most %d PSs",
			text, LOCAL_MAX, LOCAL_MAX);
	return AUC_OK;
}

static enum auc_code options_number(const char *text, const char *what, uint64_t *value,
				    struct auc_err *err)
{
	return auc_parse_count(text, 0, LOCAL_MAX, value, what, err);
}

static enum auc_code layout_find(struct layout *l, const struct options *o, char *host, size_t size,
				 struct auc_err *err)
{
	const char *job = getenv("SLURM_JOB_ID");
	uint64_t job_id;
	enum auc_code rc;

	if (o->local) {
		snprintf(host, size, "127.0.0.1");
		return layout_local(l, o->workers, o->ps, "localhost", err);
	}
	if (!job)
		return auc_err_set(err, AUC_EINVAL,
				   "not in a job (SLURM_JOB_ID is not set): submit a script with "
				   "sbatch --bid that calls slaunch, "
				   "or try your program out with --local WORKERS:PS");
	rc = auc_parse_count(job, 1, UINT32_MAX, &job_id, "SLURM_JOB_ID", err);
	if (rc != AUC_OK)
		return rc;
	rc = group_load(job_id, o->dry_run ? -1 : o->start.wait, o->start.verbose, l, err);
	if (rc == AUC_OK)
		group_node_addr(l->lead_node, host, size);
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
	      "      --local=W[:P]    W workers and P PSs on this machine, without Slurm\n"
	      "      --dry-run        print the srun commands and stop\n"
	      "  -v, --verbose        say what is done (twice: more)\n"
	      "  -V, --version        print the version and stop\n"
	      "  -h, --help           print this and stop\n"
	      "\n"
	      "TIME is a number of seconds or has a unit: 500ms, 20s, 2m.\n",
	      stdout);
}
