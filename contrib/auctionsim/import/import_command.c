/* import_command.c - "auctionsim import": its command line. See auctionsim(1). */
#include "config.h"

#include <getopt.h>
#include <stdlib.h>

#include "auctionsim/import/import.h"
#include "base/num.h"
#include "auctionsim/io/output.h"
#include "auctionsim/io/progress.h"

#define SEED_MAX 9007199254740992ULL /* 2^53: exact in every JSON reader */

enum { EXIT_USAGE = 2 };

static int parse(struct import_options *o, const char **output, int argc, char **argv);
static int complain(const struct auc_err *err);
static int usage(FILE *out);

int import_command(int argc, char **argv)
{
	struct import_options o = {.seed = 1};
	const char *output = NULL;
	struct auc_err err = {0};
	int code = parse(&o, &output, argc, argv);
	struct output out;
	enum auc_code rc;

	if (code >= 0)
		return code;
	rc = output_open(&out, output, &err);
	if (rc == AUC_OK)
		rc = output_close(&out, import_write(&o, out.stream, stderr, &err), &err);
	return rc == AUC_OK ? EXIT_SUCCESS : complain(&err);
}

/* Returns an exit code, or -1 to go on. */
static int parse(struct import_options *o, const char **output, int argc, char **argv)
{
	static const struct option options[] = {
		{"nodes", required_argument, NULL, 'n'},
		{"conf", required_argument, NULL, 'c'},
		{"profiles", required_argument, NULL, 'p'},
		{"queue", required_argument, NULL, 'q'},
		{"type", required_argument, NULL, 't'},
		{"from", required_argument, NULL, 'F'},
		{"to", required_argument, NULL, 'T'},
		{"seed", required_argument, NULL, 's'},
		{"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct auc_err err = {0};
	int c;

	while ((c = getopt_long(argc, argv, "n:c:p:q:t:s:o:h", options, NULL)) != -1)
		switch (file_is_named(options, "ncpo", c) ? c : '?') {
		case 'n':
			o->nodes = optarg;
			break;
		case 'c':
			o->conf = optarg;
			break;
		case 'p':
			o->profiles = optarg;
			break;
		case 'q':
			o->queue = optarg;
			break;
		case 't':
			o->type = optarg;
			break;
		case 'F':
			o->from = optarg;
			break;
		case 'T':
			o->to = optarg;
			break;
		case 's':
			if (auc_parse_count(optarg, 0, SEED_MAX, &o->seed, "--seed", &err) !=
			    AUC_OK) {
				complain(&err);
				return EXIT_USAGE;
			}
			break;
		case 'o':
			*output = optarg;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	if (optind == argc || !o->nodes) {
		fprintf(stderr, "auctionsim: import: expected %s\n",
			o->nodes ? "a LOG" : "--nodes=FILE, the cluster that the jobs ran on");
		return usage(stderr);
	}
	o->jobs = argv[optind];
	o->parameters = argv + optind + 1;
	o->nparameters = (unsigned)(argc - optind - 1);
	return -1;
}

static int complain(const struct auc_err *err)
{
	progress_hide();
	fprintf(stderr, "auctionsim: %s\n", err->text);
	return EXIT_FAILURE;
}

static int usage(FILE *out)
{
	fputs("Usage: auctionsim import -n NODES [OPTION...] LOG [NAME=VALUE...]\n"
	      "\n"
	      "A scenario of what a cluster did. LOG is the output of sacct --json or sacct -P, or "
	      "a "
	      "trace (-: standard\ninput).\n"
	      "  -n, --nodes FILE     the output of scontrol -o show node, or a table of nodes\n"
	      "  -c, --conf FILE      auction.conf: what is sold, types, prices and models\n"
	      "  -p, --profiles FILE  how fast models train\n"
	      "  -q, --queue NAME     only the jobs of this partition or queue\n"
	      "  -t, --type NAME      of GPUs that jobs ran on whose log does not say\n"
	      "      --from, --to T   part of the log: a time span from its begin on, or a date\n"
	      "  -o, --output FILE    write there\n"
	      "  -s, --seed N         (1)\n",
	      out);
	if (out == stdout) {
		puts("\nParameters of import, their defaults and meaning");
		import_print_help(out);
	}
	return out == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}
