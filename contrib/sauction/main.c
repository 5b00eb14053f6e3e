/*
 * main.c - "sauction": the auction for its administrators: money, sales, reports, and the spool.
 * See sauction(1). It talks to slurmctld by files in the spool's directory (admin_files.h).
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef BUILT_FOR_SLURM
#include <slurm/slurm.h>
#endif

#include "base/file.h"
#include "base/num.h"
#include "input/conf.h"
#include "sauction/given.h"
#include "sauction/sauction.h"

enum {
	OPT_JSON = 256,
	OPT_CSV,
	OPT_SPOOL,
	OPT_ID,
	OPT_WAIT,
	OPT_BY,
	OPT_FOCUS,
	OPT_SINCE,
	OPT_UNTIL,
	OPT_USAGE,
};

#define USAGE "Usage: sauction [OPTIONS] COMMAND\n"
#define TABLE "format,noheader,parsable,json,csv"

static const struct command {
	const char *name;
	int (*run)(const struct sauction *s, int argc, char **argv);
	const char *takes; /* the names of its options */
} commands[] = {
	{"grant", command_grant, "id,wait,spool"},
	{"correct", command_correct, "id,wait,spool"},
	{"state", command_state, TABLE ",spool"},
	{"money", command_money, TABLE ",spool"},
	{"sales", command_sales, TABLE ",spool"},
	{"pause", command_pause, "spool"},
	{"resume", command_resume, "spool"},
	{"spool", command_spool, "spool"},
	{"explain", command_explain, "json,spool"},
	{"report", command_report, TABLE ",by,focus,since,until,spool"},
};

static const struct option options[] = {
	{"format", required_argument, NULL, 'o'},
	{"noheader", no_argument, NULL, 'n'},
	{"parsable", no_argument, NULL, 'P'},
	{"json", no_argument, NULL, OPT_JSON},
	{"csv", no_argument, NULL, OPT_CSV},
	{"spool", required_argument, NULL, OPT_SPOOL},
	{"id", required_argument, NULL, OPT_ID},
	{"wait", required_argument, NULL, OPT_WAIT},
	{"by", required_argument, NULL, OPT_BY},
	{"focus", no_argument, NULL, OPT_FOCUS},
	{"since", required_argument, NULL, OPT_SINCE},
	{"until", required_argument, NULL, OPT_UNTIL},
	{"version", no_argument, NULL, 'V'},
	{"usage", no_argument, NULL, OPT_USAGE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int run(struct sauction *s, const struct command *command, int argc, char **argv);
static int options_parse(struct sauction *s, int argc, char **argv);
static int options_refuse(const struct sauction *s, const struct command *command);
static int take_option(struct sauction *s, int c);
static void help(void);
static bool is_of_refusals(const struct sauction *s);
static int find_dir(struct sauction *s);

int main(int argc, char **argv)
{
	struct sauction s = {.wait = 10, .by = "user"};
	int code;

	auc_output_begin();
	code = options_parse(&s, argc, argv);
	if (code >= 0)
		return code;
	argc -= optind;
	argv += optind;
	if (!argc)
		return fail("a command is missing; sauction --help lists them");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[0], commands[i].name))
			return run(&s, &commands[i], argc - 1, argv + 1);
	return fail("'%s': no such command; sauction --help lists them", argv[0]);
}

static int run(struct sauction *s, const struct command *command, int argc, char **argv)
{
	bool of_spool = command->run != command_report || is_of_refusals(s);
	struct auc_err err;
	int code = options_refuse(s, command);

	if (!code && of_spool)
		code = find_dir(s);
	if (!code)
		code = command->run(s, argc, argv);
	if (auc_output_end(&err) != AUC_OK)
		return fail("%s", err.text);
	return code;
}

/* Of refusals the status knows, of the rest of a report sacct. */
static bool is_of_refusals(const struct sauction *s)
{
	return !strcmp(s->by, "reason");
}

/* What would change nothing. An exit code. */
static int options_refuse(const struct sauction *s, const struct command *command)
{
	const char *takes = command->takes, *what = command->name;

	if (command->run == command_report && is_of_refusals(s)) {
		takes = TABLE ",by,spool";
		what = "report --by=reason";
	} else if (command->run == command_report && s->focus) {
		takes = TABLE ",focus,since,until,spool";
		what = "report --focus";
	}
	if (given_refuse(options, s->given, takes, what) ||
	    given_one_of(options, s->given, "json,csv,parsable"))
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}

/* Returns an exit code, or -1 to go on. */
static int options_parse(struct sauction *s, int argc, char **argv)
{
	struct auc_err err;
	bool amounts = false;
	int c, code;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		amounts = amounts || !strcmp(argv[i], "grant") || !strcmp(argv[i], "correct");
		if (amounts && argv[i][0] == '-' && argv[i][1] >= '0' && argv[i][1] <= '9')
			return fail("the amount: '%s', expected credits, up to 10^9; correct takes "
				    "them back",
				    argv[i]);
	}
	while ((c = getopt_long(argc, argv, "o:nPVh", options, NULL)) != -1) {
		s->given |= given_bit(options, c);
		if (c == OPT_WAIT) {
			if (auc_parse_number(optarg, 0, 86400, &s->wait, "--wait", &err) != AUC_OK)
				return fail("%s", err.text);
			continue;
		}
		code = take_option(s, c);
		if (code >= 0)
			return code;
	}
	return -1;
}

static int take_option(struct sauction *s, int c)
{
	struct auc_err err;

	switch (c) {
	case 'o':
		s->table.format = optarg;
		break;
	case 'n':
		s->table.noheader = true;
		break;
	case 'P':
		s->table.parsable = true;
		break;
	case OPT_JSON:
		s->table.json = true;
		break;
	case OPT_CSV:
		s->table.csv = true;
		break;
	case OPT_SPOOL:
		s->spool = optarg;
		break;
	case OPT_ID:
		s->id = optarg;
		break;
	case OPT_BY:
		s->by = optarg;
		break;
	case OPT_FOCUS:
		s->focus = true;
		break;
	case OPT_SINCE:
		s->since = optarg;
		break;
	case OPT_UNTIL:
		s->until = optarg;
		break;
	case 'V':
		printf("slurm-auction %s\n", PACKAGE_VERSION);
		return auc_output_end(&err) == AUC_OK ? EXIT_SUCCESS : fail("%s", err.text);
	case OPT_USAGE:
	case 'h':
		fputs(USAGE, stdout);
		if (c == 'h')
			help();
		return auc_output_end(&err) == AUC_OK ? EXIT_SUCCESS : fail("%s", err.text);
	default:
		fprintf(stderr, "Try \"sauction --help\" for more information\n");
		return AUC_EXIT_USAGE;
	}
	return -1;
}

static void help(void)
{
	fputs("The auction for its administrators.\n"
	      "\n"
	      "  grant ACCOUNT|user:NAME AMOUNT    gives credits to a Slurm account or a user\n"
	      "  correct ACCOUNT|user:NAME AMOUNT  takes credits back\n"
	      "  money                             accounts: what came in, went out, is left\n"
	      "  sales                             live sales and liens\n"
	      "  explain SALE|JOB                  why a sale is where it is, decided once more\n"
	      "  state                             whether bids are taken; counts and sums\n"
	      "  pause [REASON], resume            sells nothing new; sells again\n"
	      "  report                            what was paid, from Slurm's accounting\n"
	      "  spool check|dump|export           verifies the spool; prints its records\n"
	      "  spool import                      makes a spool of exported records\n"
	      "\n"
	      "  -o, --format=LIST    columns, by name, separated by commas;\n"
	      "                       NAME%WIDTH: that wide, as sacct takes it\n"
	      "  -n, --noheader       no line of headings\n"
	      "  -P, --parsable       columns separated by '|'\n"
	      "      --csv            columns separated by ','\n"
	      "      --json           the same as JSON\n"
	      "      --by=LIST        report: one line for each user, account, partition, month,\n"
	      "                       gpu; or, alone, reason: refusals\n"
	      "      --focus          report: one line for each job, with the columns of FOCUS\n"
	      "      --since=TIME     report: of jobs from then on, as sacct takes it\n"
	      "      --until=TIME     report: of jobs until then\n"
	      "      --id=ID          grant, correct: a name of its own; a repeat does nothing\n"
	      "      --wait=SECONDS   grant, correct: how long to wait for slurmctld (10)\n"
	      "      --spool=DIR      the spool's directory (default: SAUCTION_SPOOL, else what\n"
	      "                       Slurm and auction.conf say)\n"
	      "  -V, --version\n"
	      "      --usage          one line of this\n"
	      "  -h, --help\n",
	      stdout);
}

int fail(const char *fmt, ...)
{
	va_list ap;

	fputs("sauction: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_FAILURE;
}

/* Into s->dir. */
static int find_dir(struct sauction *s)
{
	const char *dir = s->spool ? s->spool : getenv("SAUCTION_SPOOL");
#ifdef BUILT_FOR_SLURM
	const char *slurm = getenv("SLURM_CONF");
	struct auc_conf *conf = NULL;
	slurm_conf_t *ctl;
	struct auc_err err;
#endif

	if (dir && *dir) {
		snprintf(s->dir, sizeof(s->dir), "%s", dir);
		return 0;
	}
#ifdef BUILT_FOR_SLURM
	if (slurm && access(slurm, R_OK)) /* libslurm would wait a minute for it */
		return fail("SLURM_CONF=%s: %s; where is the spool? Give --spool=DIR", slurm,
			    strerror(errno));
	slurm_init(NULL);
	if (slurm_load_ctl_conf((time_t)0, &ctl) == 0) {
		auc_conf_path(ctl->sched_params, ctl->slurm_conf, s->dir, sizeof(s->dir));
		auc_conf_load(s->dir, &conf, &err); /* NULL: what is usual */
		if (conf && conf->spool_dir)
			snprintf(s->dir, sizeof(s->dir), "%s", conf->spool_dir);
		else
			snprintf(s->dir, sizeof(s->dir), "%s/auction", ctl->state_save_location);
		auc_conf_free(conf);
		slurm_free_ctl_conf(ctl);
		return 0;
	}
	return fail("slurmctld does not answer: %s; where is the spool? Give --spool=DIR",
		    slurm_strerror(errno));
#else
	return fail("where is the spool? This is built without Slurm; give --spool=DIR");
#endif
}
