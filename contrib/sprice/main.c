/*
 * main.c - "sprice": prices, sales and totals of the auction as tables. Reads the status that
 * sched/auction writes (doc/status.md); who may not read that is told prices in short by slurmctld,
 * on any host. It also looks into a spool directory. See sprice(1); the tables
 * are made in show.c, and what a column shows is in columns.c.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>
#ifdef BUILT_FOR_SLURM
#include <slurm/slurm.h>
#endif

#include "sprice/columns.h"
#include "input/conf.h"
#include "auction/memory/price_log.h"
#include "auction/summary.h"
#include "base/file.h"
#include "base/num.h"
#include "sauction/ask.h"
#include "sauction/given.h"
#include "sprice/metrics.h"
#include "sprice/show.h"
#include "ledger/spool.h"

#define FILE_MAX    (1 << 28)             /* bytes of a status file */
#define STATUS_FILE "auction/status.json" /* in StateSaveLocation */

enum {
	OPT_JSON = 256,
	OPT_METRICS,
	OPT_SPOOL,
	OPT_WATCH,
	OPT_PLOT,
	OPT_BOARD,
	OPT_HISTORY,
	OPT_BID,
	OPT_USAGE,
	OPT_HELP
};

/* Names of options. */
#define USAGE "Usage: sprice [OPTIONS]\n"
#define TABLE "format,noheader,parsable,file,watch,"
#define VIEWS "nodes,times,board,sales,totals,classes,learning"

struct options {
	struct show show;
	const char *file, *spool;
	bool json, metrics;
	double watch;   /* seconds; 0: once */
	uint64_t given; /* sauction/given.h */
};

static const struct option options[] = {
	{"file", required_argument, NULL, 'f'},
	{"format", required_argument, NULL, 'o'},
	{"noheader", no_argument, NULL, 'n'},
	{"parsable", no_argument, NULL, 'P'},
	{"nodes", no_argument, NULL, 'N'},
	{"times", no_argument, NULL, 'T'},
	{"heat", no_argument, NULL, 'H'},
	{"board", no_argument, NULL, OPT_BOARD},
	{"history", optional_argument, NULL, OPT_HISTORY},
	{"bid", required_argument, NULL, OPT_BID},
	{"partition", required_argument, NULL, 'p'},
	{"gpu", required_argument, NULL, 'g'},
	{"watch", optional_argument, NULL, OPT_WATCH},
	{"plot", required_argument, NULL, OPT_PLOT},
	{"sales", no_argument, NULL, 's'},
	{"totals", no_argument, NULL, 't'},
	{"classes", no_argument, NULL, 'c'},
	{"learning", no_argument, NULL, 'l'},
	{"json", no_argument, NULL, OPT_JSON},
	{"metrics", no_argument, NULL, OPT_METRICS},
	{"spool", required_argument, NULL, OPT_SPOOL},
	{"version", no_argument, NULL, 'V'},
	{"usage", no_argument, NULL, OPT_USAGE},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static int options_parse(struct options *o, int argc, char **argv);
static int options_refuse(const struct options *o);
static int take_option(struct options *o, int c);
static int take_history(struct options *o, const char *period);
static int show_once(const struct options *o);
static int watch(const struct options *o);
static void help(void);
static void help_fields(const struct field *fields);
static int written(void);
static const char *default_file(char *path, size_t size);
#ifdef BUILT_FOR_SLURM
static void no_slurm(void);
static void find_file(const slurm_conf_t *slurm, char *path, size_t size);
#endif
static char *read_file(const char *path);
static struct json_object *status_load(const struct options *o);
static struct json_object *status_ask(void);
static struct json_object *history_load(const char *file);

#ifdef BUILT_FOR_SLURM
static bool unconfigured; /* libslurm looks for its configuration */
#endif

int main(int argc, char **argv)
{
	struct options o = {.show.bid = -1};
	struct auc_err err;
	int code;

	auc_output_begin();
	code = options_parse(&o, argc, argv);
	if (code >= 0)
		return code;
	if (o.spool) {
		if (auc_spool_inspect(o.spool, stdout, &err) != AUC_OK)
			return fail("%s", err.text);
		return written();
	}
	code = o.watch > 0 ? watch(&o) : show_once(&o);
	return code ? code : written();
}

static int show_once(const struct options *o)
{
	struct json_object *status = status_load(o);
	int code = EXIT_SUCCESS;

	if (!status)
		return EXIT_FAILURE;
	if (o->json)
		puts(json_object_to_json_string_ext(status, JSON_C_TO_STRING_PRETTY));
	else if (o->metrics && status_within(status, "servers") == NULL &&
		 !strcmp(status_text(status, "format"), AUC_SUMMARY_FORMAT))
		code = fail(
			"--metrics: this needs a status file; PublicStatus of auction.conf names "
			"one for all users");
	else if (o->metrics)
		metrics_print(status);
	else
		code = status_show(&o->show, status);
	json_object_put(status);
	return code;
}

/* Until somebody ends it, or its output goes nowhere. */
static int watch(const struct options *o)
{
	struct timespec wait = {.tv_sec = (time_t)o->watch,
				.tv_nsec = (long)(1e9 * (o->watch - floor(o->watch)))};
	bool terminal = isatty(STDOUT_FILENO);
	int code;

	for (;;) {
		if (terminal)
			fputs("\033[H\033[2J", stdout);
		code = show_once(o);
		if (fflush(stdout) || ferror(stdout))
			return code ? code : EXIT_FAILURE;
		nanosleep(&wait, NULL);
	}
}

/* -- the command line -- */

/* Returns an exit code, or -1 to go on. */
static int options_parse(struct options *o, int argc, char **argv)
{
	struct auc_err err;
	int c, code;

	while ((c = getopt_long(argc, argv, "f:o:hnNTHp:g:PsctlV", options, NULL)) != -1) {
		o->given |= given_bit(options, c == 'h' ? 'n' : c);
		switch (c) {
		case 'V':
			printf("slurm-auction %s\n", PACKAGE_VERSION);
			return written();
		case OPT_USAGE:
		case OPT_HELP:
			fputs(USAGE, stdout);
			if (c == OPT_HELP)
				help();
			return written();
		case OPT_WATCH:
			o->watch = 10;
			if (optarg && auc_parse_number(optarg, 0.1, 86400, &o->watch, "--watch",
						       &err) != AUC_OK)
				return fail("%s", err.text);
			break;
		default:
			code = take_option(o, c);
			if (code >= 0)
				return code;
		}
	}
	if (optind < argc)
		return fail("'%s': no argument was expected", argv[optind]);
	if (o->file && !*o->file)
		return fail("--file=: expected the name of a file");
	if (o->spool && !*o->spool)
		return fail("--spool=: expected the name of a directory");
	if (o->show.bid >= 0 && o->show.view != VIEW_HISTORY)
		return fail("--bid: expected with --history only");
	return options_refuse(o) ? EXIT_FAILURE : -1;
}

/* What would change nothing. An exit code. */
static int options_refuse(const struct options *o)
{
	const char *takes, *what = "a table without prices";
	enum view view = o->show.view;

	if (o->spool) {
		takes = "spool";
		what = "--spool";
	} else if (o->metrics) {
		takes = "metrics,file,watch";
		what = "--metrics";
	} else if (o->json) {
		takes = "json,file,watch,history," VIEWS;
		what = "--json";
	} else if (o->show.plot) {
		takes = "plot,file,watch,partition,gpu,history";
		what = "--plot";
	} else if (o->show.heat) {
		takes = "heat,file,watch,partition,gpu,history,noheader";
		what = "--heat";
	} else if (view == VIEW_SALES || view == VIEW_TOTALS || view == VIEW_LEARNING) {
		takes = TABLE VIEWS;
	} else if (view == VIEW_HISTORY) {
		takes = TABLE "history,bid,partition,gpu," VIEWS;
		what = "--history";
	} else {
		takes = TABLE "partition,gpu," VIEWS;
		what = "a table of present prices";
	}
	if (given_refuse(options, o->given, takes, what) ||
	    given_one_of(options, o->given, "history," VIEWS))
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}

/* Those that only say something. Returns an exit code, or -1 to go on. */
static int take_option(struct options *o, int c)
{
	static const struct {
		int c;
		enum view view;
	} views[] = {{'N', VIEW_PRICES},     {'T', VIEW_TIMES},   {'s', VIEW_SALES},
		     {'t', VIEW_TOTALS},     {'c', VIEW_CLASSES}, {'l', VIEW_LEARNING},
		     {OPT_BOARD, VIEW_BOARD}};
	struct auc_err err;

	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (views[i].c == c) {
			o->show.view = views[i].view;
			return -1;
		}
	switch (c) {
	case 'f':
		o->file = optarg;
		return -1;
	case 'o':
		o->show.format = optarg;
		return -1;
	case 'h': /* as it was called before */
	case 'n':
		o->show.noheader = true;
		return -1;
	case 'P':
		o->show.parsable = true;
		return -1;
	case 'H':
		o->show.heat = true;
		if (o->show.view != VIEW_HISTORY)
			o->show.view = VIEW_HEAT;
		return -1;
	case 'p':
		o->show.partitions = optarg;
		return -1;
	case 'g':
		o->show.gpus = optarg;
		return -1;
	case OPT_PLOT:
		o->show.plot = optarg;
		return -1;
	case OPT_HISTORY:
		return take_history(o, optarg);
	case OPT_BID:
		if (auc_parse_number(optarg, 0, 1e12, &o->show.bid, "--bid", &err) != AUC_OK)
			return fail("%s", err.text);
		return -1;
	case OPT_JSON:
		o->json = true;
		return -1;
	case OPT_METRICS:
		o->metrics = true;
		return -1;
	case OPT_SPOOL:
		o->spool = optarg;
		return -1;
	default:
		fprintf(stderr, "Try \"sprice --help\" for more information\n");
		return AUC_EXIT_USAGE;
	}
}

static int take_history(struct options *o, const char *period)
{
	o->show.view = VIEW_HISTORY;
	o->show.week = !period || !strcmp(period, "7d");
	if (o->show.week || !strcmp(period, "1d"))
		return -1;
	return fail("--history: '%s', expected 1d or 7d", period);
}

static void help(void)
{
	fputs("Shows the auction: prices by partition and kind of GPU, or by time or node; what "
	      "is\n"
	      "sold; totals.\n"
	      "\n"
	      "  -N, --nodes          prices by node and resource\n"
	      "  -T, --times          prices by time\n"
	      "  -H, --heat           the same as a map of letters: the darker, the dearer;\n"
	      "                       with --history past prices, by four hours\n"
	      "      --plot=FILE      the same as a picture (SVG)\n"
	      "      --board          the standard shapes of the site: price, first start\n"
	      "      --history[=1d|7d] past prices: of shapes, and by partition and kind of GPU\n"
	      "      --bid=CREDITS    with --history: how often it would have bought each shape\n"
	      "  -p, --partition=LIST only prices of these partitions\n"
	      "  -g, --gpu=LIST       only prices of these kinds of GPU (or cpu, mem, ...)\n"
	      "      --watch[=SECONDS] again and again, every 10 seconds\n"
	      "  -c, --classes        fitted prices by class of nodes instead of by node\n"
	      "  -l, --learning       what prices were fitted to, what was chosen and why\n"
	      "  -s, --sales          live sales and liens instead of prices\n"
	      "  -t, --totals         counts and money since the auction began\n"
	      "  -o, --format=LIST    columns, by name, separated by commas;\n"
	      "                       NAME%WIDTH: that wide, as sacct takes it\n"
	      "  -n, --noheader       no line of headings\n"
	      "  -P, --parsable       columns separated by '|'\n"
	      "      --json           the whole status as JSON\n"
	      "      --metrics        the same as OpenMetrics text, for a collector of time "
	      "series\n"
	      "  -f, --file=FILE      status file (default: SPRICE_FILE, else " STATUS_FILE "\n"
	      "                       in Slurm's StateSaveLocation, or PublicStatus of "
	      "auction.conf,\n"
	      "                       or what slurmctld tells all users)\n"
	      "      --spool=DIR      verifies a spool directory and prints all its records\n"
	      "  -V, --version\n"
	      "      --usage          one line of this\n"
	      "      --help\n"
	      "\n"
	      "Columns of prices:\n",
	      stdout);
	help_fields(columns_of_summary);
	puts("Columns of the board:");
	help_fields(columns_of_board);
	puts("Columns of past prices:");
	help_fields(columns_of_history);
	puts("Columns by time:");
	help_fields(columns_of_times);
	puts("Columns by node:");
	help_fields(columns_of_prices);
	puts("Columns of classes:");
	help_fields(columns_of_classes);
	puts("Columns of sales:");
	help_fields(columns_of_sales);
	puts("Columns of totals:");
	help_fields(columns_of_totals);
	puts("Columns of learning:");
	help_fields(columns_of_learning);
}

static void help_fields(const struct field *fields)
{
	for (const struct field *f = fields; f->name; f++)
		printf("  %-10s %s\n", f->name, f->help);
}

/* An exit code: whether all output arrived. */
static int written(void)
{
	struct auc_err err;

	return auc_output_end(&err) == AUC_OK ? EXIT_SUCCESS : fail("%s", err.text);
}

/* -- the status -- */

/* NULL, and said why, if there is none. */
static const char *default_file(char *path, size_t size)
{
	const char *file = getenv("SPRICE_FILE");
#ifdef BUILT_FOR_SLURM
	const char *slurm = getenv("SLURM_CONF");
	slurm_conf_t *conf;
#endif

	if (file && *file)
		return file;
#ifdef BUILT_FOR_SLURM
	if (slurm && access(slurm, R_OK)) { /* libslurm would wait a minute for it */
		fail("SLURM_CONF=%s: %s; where is the status? Give --file=FILE", slurm,
		     strerror(errno));
		return NULL;
	}
	unconfigured = true;
	atexit(no_slurm);
	slurm_init(NULL);
	unconfigured = false;
	if (slurm_load_ctl_conf((time_t)0, &conf) == 0) {
		find_file(conf, path, size);
		slurm_free_ctl_conf(conf);
		return path;
	}
	fail("slurmctld does not answer: %s; where is the status? Give --file=FILE",
	     slurm_strerror(errno));
#else
	(void)path;
	(void)size;
	fail("where is the status? This is built without Slurm; give --file=FILE");
#endif
	return NULL;
}

#ifdef BUILT_FOR_SLURM
/* libslurm ends a program that it finds no configuration for. */
static void no_slurm(void)
{
	const char *slurm = getenv("SLURM_CONF");

	if (!unconfigured)
		return;
	if (slurm)
		fail("where is the status? %s (SLURM_CONF) is no configuration of Slurm; give "
		     "--file=FILE",
		     slurm);
	else
		fail("where is the status? Slurm finds no slurm.conf and SLURM_CONF is not set; "
		     "give --file=FILE");
}

/* The whole status, or, if that may not be read, the public one, where auction.conf names it. */
static void find_file(const slurm_conf_t *slurm, char *path, size_t size)
{
	struct auc_conf *conf = NULL;
	struct auc_err err;

	auc_conf_path(slurm->sched_params, slurm->slurm_conf, path, size);
	auc_conf_load(path, &conf, &err); /* NULL: what is usual */
	if (conf && conf->spool_dir)
		snprintf(path, size, "%s/status.json", conf->spool_dir);
	else
		snprintf(path, size, "%s/" STATUS_FILE, slurm->state_save_location);
	if (conf && conf->public_status && access(path, R_OK))
		snprintf(path, size, "%s", conf->public_status);
	auc_conf_free(conf);
}
#endif

static char *read_file(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t n = 0;

	if (!f || fstat(fileno(f), &st)) {
		fail("%s: %s%s", path, strerror(errno),
		     errno == EACCES ? "; without --file users are told what is public" : "");
	} else if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
		fail("%s: not a status file", path);
	} else if ((text = malloc((size_t)st.st_size + 1))) {
		n = fread(text, 1, (size_t)st.st_size, f);
		text[n] = '\0';
	} else {
		fail("%s: out of memory", path);
	}
	if (f)
		fclose(f);
	return text;
}

/* NULL, and said why, if it cannot be read. */
static struct json_object *status_load(const struct options *o)
{
	char path[PATH_MAX], *text;
	const char *file = o->file                        ? o->file
			   : o->show.view == VIEW_HISTORY ? NULL
							  : default_file(path, sizeof(path));
	struct json_object *status;

	if (o->show.view == VIEW_HISTORY)
		return history_load(file);
	/* Users may not read the file, and other hosts have none. */
	if (file == path && access(path, R_OK))
		return status_ask();
	if (!file || !(text = read_file(file)))
		return NULL;
	status = status_parse(text, strlen(text));
	if (!status)
		fail("%s: not a status file: \"format\" is not auction-status/1", file);
	free(text);
	return status;
}

/* From FILE, or (NULL) what slurmctld tells all users; NULL, and said why. */
static struct json_object *history_load(const char *file)
{
	struct json_object *o;
	char *text;

	if (!file) {
		o = ask_slurmctld("history", NULL);
		if (!o || !strcmp(status_text(o, "format"), AUC_PRICE_LOG_FORMAT))
			return o;
		json_object_put(o);
		fail("slurmctld has not looked at prices yet; try again in a moment");
		return NULL;
	}
	text = read_file(file);
	o = text ? history_parse(text, strlen(text)) : NULL;
	if (text && !o)
		fail("%s: not a history: \"format\" is not " AUC_PRICE_LOG_FORMAT, file);
	free(text);
	return o;
}

/* What slurmctld tells all users; NULL, and said why. */
static struct json_object *status_ask(void)
{
	struct json_object *status = ask_slurmctld("prices", NULL);

	if (!status || !strcmp(status_text(status, "format"), AUC_SUMMARY_FORMAT))
		return status;
	json_object_put(status);
	fail("slurmctld has not looked at prices yet; try again in a moment");
	return NULL;
}
