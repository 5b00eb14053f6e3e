/* command.c - "auctionsim replay": its command line. See auctionsim(1). */
#include "config.h"

#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>

#include "auctionsim/io/output.h"
#include "auctionsim/io/progress.h"
#include "auctionsim/replay/auction_days.h"
#include "auctionsim/replay/replay_log.h"
#include "base/file.h"
#include "base/num.h"

#define SEED_MAX     9007199254740992ULL /* 2^53: exact in every JSON reader */
#define HISTORY_DAYS 3

enum { EXIT_USAGE = 2 };

struct words {
	struct import_options o;
	struct replay_rows rows;
	const char *page;
	uint64_t history;
	bool json;
};

static int parse(struct words *w, int argc, char **argv);
static int set(struct words *w, int c);
static bool print_days_done(void *arg);
static enum auc_code print(const struct words *w, const struct replay_rows *rows,
			   struct auc_err *err);
static int complain(const struct auc_err *err);
static int usage(FILE *out);

int replay_command(int argc, char **argv)
{
	struct words w = {.o = {.seed = 1}, .history = HISTORY_DAYS};
	struct auc_err err = {0};
	int code = parse(&w, argc, argv);
	enum auc_code rc;

	if (code >= 0)
		return code;
	progress_at_stop(print_days_done, &w);
	rc = replay_log(&w.o, (unsigned)w.history, stderr, &w.rows, &err);
	progress_at_stop(NULL, NULL);
	progress_hide();
	if (rc == AUC_OK)
		rc = print(&w, &w.rows, &err);
	rows_clear(&w.rows);
	return rc == AUC_OK ? EXIT_SUCCESS : complain(&err);
}

static const struct option options[] = {
	{"nodes", required_argument, NULL, 'n'},   {"conf", required_argument, NULL, 'c'},
	{"config", required_argument, NULL, 'c'},  {"profiles", required_argument, NULL, 'p'},
	{"queue", required_argument, NULL, 'q'},   {"type", required_argument, NULL, 't'},
	{"from", required_argument, NULL, 'F'},    {"to", required_argument, NULL, 'T'},
	{"history", required_argument, NULL, 'H'}, {"json", no_argument, NULL, 'j'},
	{"output", required_argument, NULL, 'o'},  {"seed", required_argument, NULL, 's'},
	{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

/* Returns an exit code, or -1 to go on. */
static int parse(struct words *w, int argc, char **argv)
{
	int c, code = -1;

	while (code < 0 && (c = getopt_long(argc, argv, "n:c:p:q:t:jo:s:h", options, NULL)) != -1)
		code = set(w, file_is_named(options, "ncpo", c) ? c : '?');
	if (code >= 0)
		return code;
	if (optind == argc || !w->o.nodes) {
		fprintf(stderr, "auctionsim: replay: expected %s\n",
			w->o.nodes ? "a LOG" : "--nodes=FILE, the cluster that the jobs ran on");
		return usage(stderr);
	}
	w->o.jobs = argv[optind];
	w->o.parameters = argv + optind + 1;
	w->o.nparameters = (unsigned)(argc - optind - 1);
	return -1;
}

static int set(struct words *w, int c)
{
	struct auc_err err = {0};
	enum auc_code rc = AUC_OK;

	switch (c) {
	case 'n':
		w->o.nodes = optarg;
		break;
	case 'c':
		w->o.conf = optarg;
		break;
	case 'p':
		w->o.profiles = optarg;
		break;
	case 'q':
		w->o.queue = optarg;
		break;
	case 't':
		w->o.type = optarg;
		break;
	case 'F':
		w->o.from = optarg;
		break;
	case 'T':
		w->o.to = optarg;
		break;
	case 'H':
		rc = auc_parse_count(optarg, 0, AUCTION_PAST_MAX, &w->history, "--history", &err);
		break;
	case 's':
		rc = auc_parse_count(optarg, 0, SEED_MAX, &w->o.seed, "--seed", &err);
		break;
	case 'j':
		w->json = true;
		break;
	case 'o':
		w->page = optarg;
		break;
	case 'h':
		return usage(stdout);
	default:
		return usage(stderr);
	}
	if (rc == AUC_OK)
		return -1;
	complain(&err);
	return EXIT_USAGE;
}

/* In the thread of the signal, which ends the process then. Another signal does at once. */
static bool print_days_done(void *arg)
{
	struct words *w = arg;
	struct auc_err err = {0};
	enum auc_code rc;

	if (!w->rows.done.days)
		return true;
	pthread_sigmask(SIG_SETMASK, progress_old_mask(), NULL);
	progress_clear();
	rc = rows_finish_early(&w->rows, &err);
	if (rc == AUC_OK)
		rc = print(w, &w->rows, &err);
	if (rc == AUC_OK)
		rc = auc_output_end(&err);
	if (rc != AUC_OK)
		complain(&err);
	return true;
}

/* The page first: what standard output says is complete then. */
static enum auc_code print(const struct words *w, const struct replay_rows *rows,
			   struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct output out;

	if (w->page) {
		rc = output_open(&out, w->page, err);
		if (rc == AUC_OK)
			rc = output_close(&out, rows_print_page(out.stream, rows, err), err);
	}
	if (rc != AUC_OK)
		return rc;
	return w->json ? rows_print_json(stdout, rows, err) : rows_print_table(stdout, rows, err);
}

static int complain(const struct auc_err *err)
{
	fprintf(stderr, "auctionsim: %s\n", err->text);
	return EXIT_FAILURE;
}

static int usage(FILE *out)
{
	fputs("Usage: auctionsim replay -n NODES [OPTION...] LOG [NAME=VALUE...]\n"
	      "\n"
	      "What the auction would have made of a cluster's own log, day by day, beside FIFO "
	      "and "
	      "EASY backfill.\n"
	      "LOG is the output of sacct --json or sacct -P, or a trace (-: standard input).\n"
	      "  -n, --nodes FILE     the output of scontrol -o show node, or a table of nodes\n"
	      "  -c, --conf FILE      auction.conf: what is sold, policy and prices\n"
	      "      --history N      prices are learned from the last N days (3)\n"
	      "  -o, --output FILE    write a page of HTML with pictures there\n"
	      "  -j, --json           print auction-replay/1, not a table\n"
	      "  -p, -q, -t, -s, --from, --to and NAME=VALUE as for import\n",
	      out);
	return out == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}
