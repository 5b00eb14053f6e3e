/*
 * main.c - "auctionsim run|check|gen|plot|bound|policies": replays a scenario under the
 * policies of the controller, and verifies what came out. This file: the command line. See
 * auctionsim(1).
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/bound/bound.h"
#include "auctionsim/check/check.h"
#include "auctionsim/io/document.h"
#include "base/file.h"
#include "auctionsim/gen/gen.h"
#include "auctionsim/import/import.h"
#include "auctionsim/run/learned.h"
#include "auctionsim/run/margin.h"
#include "base/num.h"
#include "auctionsim/optimum/dorm.h"
#include "auctionsim/optimum/offline.h"
#include "auctionsim/io/output.h"
#include "auctionsim/io/progress.h"
#include "auctionsim/plot/plot.h"
#include "policy/policy.h"
#include "auctionsim/replay/replay_log.h"
#include "auctionsim/baseline/easy.h"
#include "auctionsim/baseline/registry.h"
#include "auctionsim/run/posted_world.h"
#include "policy/stepper.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/run/result.h"
#include "auctionsim/scenario/scenario.h"

#define POLICIES_MAX 64
#define HISTORY_MAX  64
#define SEED_MAX     9007199254740992ULL /* 2^53: exact in every JSON reader */

enum { EXIT_USAGE = 2 };

/* What a subcommand's words said. */
struct options {
	const char *policies[POLICIES_MAX];
	unsigned npolicies;
	const char *output;
	const char *overrun, *margin, *noise; /* NULL: not given */
	const char *prices, *priced;          /* NULL: the scenario's; do not write them */
	char *history[HISTORY_MAX];
	unsigned nhistory;
	uint64_t seed;
	bool json, stay;
};

static int command(int argc, char **argv);
static int command_run(int argc, char **argv);
static int command_check(int argc, char **argv);
static int command_gen(int argc, char **argv);
static int command_policies(int argc, char **argv);
static int options_parse(struct options *o, const char *letters, const struct option *options,
			 int argc, char **argv);
static enum auc_code run_all(const struct options *o, const char *path, struct auc_err *err);
static enum auc_code set_prices(const struct options *o, struct scenario *s, const char *policy,
				struct auc_err *err);
static enum auc_code print_results(const struct options *o, const struct scenario *s,
				   const struct result *results, struct auc_err *err);
static int complain(const struct auc_err *err);
static int usage(FILE *out);

/* What each command takes. */
static const struct option run_options[] = {
	{"policy", required_argument, NULL, 'p'},  {"json", no_argument, NULL, 'j'},
	{"seed", required_argument, NULL, 's'},    {"output", required_argument, NULL, 'o'},
	{"prices", required_argument, NULL, 'P'},  {"history", required_argument, NULL, 'H'},
	{"priced", required_argument, NULL, 'W'},  {"no-rearrange", no_argument, NULL, 'S'},
	{"overrun", required_argument, NULL, 'O'}, {"margin", required_argument, NULL, 'M'},
	{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};
static const struct option gen_options[] = {
	{"seed", required_argument, NULL, 's'},
	{"output", required_argument, NULL, 'o'},
	{"noise", required_argument, NULL, 'N'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};
static const struct option no_options[] = {
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"run", command_run},           {"check", command_check},   {"gen", command_gen},
	{"import", import_command},     {"plot", plot_command},     {"bound", bound_command},
	{"policies", command_policies}, {"replay", replay_command},
};

int main(int argc, char **argv)
{
	int code;

	auc_output_begin();
	code = output_end(command(argc, argv));
	progress_end();
	return code;
}

static int command(int argc, char **argv)
{
	static char name[] = "auctionsim: policies";
	unsigned i;

	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return usage(stdout);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("slurm-auction " PACKAGE_VERSION);
		return EXIT_SUCCESS;
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		/* The name that getopt's errors begin with. */
		snprintf(name, sizeof(name), "auctionsim: %s", commands[i].name);
		argv[1] = name;
		progress_begin(commands[i].name);
		return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "auctionsim: '%s' is no command\n", argv[1]);
	return usage(stderr);
}

static int command_run(int argc, char **argv)
{
	struct options o = {.seed = 1};
	struct auc_err err = {0};
	int code = options_parse(&o, "p:js:o:h", run_options, argc, argv);

	if (code >= 0)
		return code;
	if (!o.npolicies)
		o.policies[o.npolicies++] = "dps";
	if (optind != argc - 1) {
		fprintf(stderr, "auctionsim: run: expected one SCENARIO\n");
		return usage(stderr);
	}
	if (o.priced && !strcmp(argv[optind], "-")) {
		fprintf(stderr, "auctionsim: run: --priced: SCENARIO is -, standard input, "
				"expected the name of a file: it is read twice\n");
		return EXIT_USAGE;
	}
	return run_all(&o, argv[optind], &err) == AUC_OK ? EXIT_SUCCESS : complain(&err);
}

static int command_check(int argc, char **argv)
{
	struct json_object *root = NULL;
	struct options o = {.seed = 1};
	struct scenario *s = NULL;
	struct auc_err err = {0};
	unsigned violations = 0;
	enum auc_code rc;
	int code = options_parse(&o, "h", no_options, argc, argv);

	if (code >= 0)
		return code;
	if (optind != argc - 2) {
		fprintf(stderr, "auctionsim: check: expected a SCENARIO and a RESULT\n");
		return usage(stderr);
	}
	rc = scenario_load(argv[optind], &s, &err);
	if (rc == AUC_OK)
		rc = document_load(argv[optind + 1], &root, &err);
	progress_say("checking jobs");
	if (rc == AUC_OK)
		rc = check_result(s, root, argv[optind + 1], stdout, &violations, &err);
	json_object_put(root);
	scenario_free(s);
	if (rc != AUC_OK)
		return complain(&err);
	return violations ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int command_gen(int argc, char **argv)
{
	const struct gen_setting *g = argc > 1 ? gen_find(argv[1]) : NULL;
	struct options o = {.seed = 1};
	struct auc_err err = {0};
	struct noise noise;
	struct output out;
	enum auc_code rc;
	int code;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage(stdout);
	if (!g) {
		fputs("auctionsim: gen: ", stderr);
		if (argc > 1)
			fprintf(stderr, "'%s' is no setting, ", argv[1]);
		fputs("expected", stderr);
		for (code = 0; gen_at((unsigned)code); code++)
			fprintf(stderr, "%s %s", code ? "," : "", gen_name(gen_at((unsigned)code)));
		fputs(" first\n", stderr);
		return EXIT_USAGE;
	}
	argv[1] = argv[0];
	code = options_parse(&o, "s:o:h", gen_options, argc - 1, argv + 1);
	if (code == EXIT_SUCCESS) {
		printf("\nParameters of setting %s, their defaults and meaning\n", gen_name(g));
		gen_print_help(g, stdout);
	}
	if (code >= 0)
		return code;
	rc = o.noise ? noise_read(o.noise, o.seed, &noise, &err) : AUC_OK;
	if (rc == AUC_OK)
		rc = output_open(&out, o.output, &err);
	if (rc == AUC_OK) {
		rc = gen_write(g, argv + 1 + optind, (unsigned)(argc - 1 - optind), o.seed,
			       o.noise ? &noise : NULL, out.stream, &err);
		rc = output_close(&out, rc, &err);
	}
	return rc == AUC_OK ? EXIT_SUCCESS : complain(&err);
}

static int command_policies(int argc, char **argv)
{
	struct options o = {.seed = 1};
	unsigned i;
	int code = options_parse(&o, "h", no_options, argc, argv);

	if (code >= 0)
		return code;
	if (optind != argc) {
		fprintf(stderr, "auctionsim: policies: '%s', expected no argument\n", argv[optind]);
		return usage(stderr);
	}
	for (i = 0; sim_policies[i]; i++)
		printf("%-10s %s\n", sim_policies[i]->name, sim_policies[i]->summary);
	for (i = 0; sim_steppers[i]; i++)
		printf("%-10s %s\n", sim_steppers[i]->name, sim_steppers[i]->summary);
	printf("%-10s %s\n", EASY_NAME, EASY_SUMMARY);
	printf("%-10s %s\n", dorm_milp.name, dorm_milp.summary);
	printf("%-10s %s\n", OFFLINE_NAME, OFFLINE_SUMMARY);
	printf("%-10s %s\n", OFFLINE_OASIS_NAME, OFFLINE_OASIS_SUMMARY);
	printf("%-10s %s\n", POSTED_BFP_NAME, POSTED_BFP_SUMMARY);
	return EXIT_SUCCESS;
}

/* Returns an exit code, or -1 to go on. */
static int options_parse(struct options *o, const char *letters, const struct option *options,
			 int argc, char **argv)
{
	struct auc_err err = {0};
	int c;

	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1)
		switch (file_is_named(options, "oWH", c) ? c : '?') {
		case 'p':
			if (o->npolicies == POLICIES_MAX) {
				fprintf(stderr, "auctionsim: --policy: more than %d\n",
					POLICIES_MAX);
				return EXIT_USAGE;
			}
			o->policies[o->npolicies++] = optarg;
			break;
		case 'j':
			o->json = true;
			break;
		case 's':
			if (auc_parse_count(optarg, 0, SEED_MAX, &o->seed, "--seed", &err) !=
			    AUC_OK) {
				complain(&err);
				return EXIT_USAGE;
			}
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'P':
			o->prices = optarg;
			break;
		case 'W':
			o->priced = optarg;
			break;
		case 'S':
			o->stay = true;
			break;
		case 'O':
			o->overrun = optarg;
			break;
		case 'M':
			o->margin = optarg;
			break;
		case 'N':
			o->noise = optarg;
			break;
		case 'H':
			if (o->nhistory == HISTORY_MAX) {
				fprintf(stderr, "auctionsim: --history: more than %d\n",
					HISTORY_MAX);
				return EXIT_USAGE;
			}
			o->history[o->nhistory++] = optarg;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	return -1;
}

static enum auc_code run_all(const struct options *o, const char *path, struct auc_err *err)
{
	struct result results[POLICIES_MAX] = {0};
	struct scenario *s;
	enum auc_code rc = scenario_load(path, &s, err);
	bool moved = false;
	unsigned i;

	if (rc == AUC_OK) {
		s->stays = o->stay;
		rc = margin_read(o->overrun, o->margin, &s->times, err);
	}
	if (rc == AUC_OK && s->has_true_times && o->nhistory)
		rc = margin_load(s, o->history, o->nhistory, err);
	for (i = 0; i < o->npolicies && rc == AUC_OK; i++) {
		rc = set_prices(o, s, o->policies[i], err);
		if (rc != AUC_OK)
			break;
		progress_say("%.40s", o->policies[i]);
		rc = replay_run(s, o->policies[i], o->seed, progress_show, NULL, &results[i], err);
		progress_hide();
		if (results[i].remark)
			fprintf(stderr, "auctionsim: %s\n", results[i].remark);
	}
	for (i = 0; i < o->npolicies; i++)
		moved |= results[i].rearranged > 0;
	if (rc == AUC_OK && o->priced)
		rc = learned_write(path, s, moved, o->priced, err);
	if (rc == AUC_OK)
		rc = print_results(o, s, results, err);
	for (i = 0; i < o->npolicies; i++)
		result_clear(&results[i]);
	if (s)
		learned_forget(s);
	scenario_free(s);
	return rc;
}

/* Prices that the words ask for, if they do. */
static enum auc_code set_prices(const struct options *o, struct scenario *s, const char *policy,
				struct auc_err *err)
{
	struct learned_day *past;
	enum auc_code rc;
	char *chosen;

	if (!o->prices)
		return AUC_OK;
	past = calloc((size_t)o->nhistory + 1, sizeof(*past));
	if (!past)
		return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	for (unsigned i = 0; i < o->nhistory; i++)
		past[i].name = o->history[i];
	progress_head("%.40s", policy);
	rc = learned_prices(s, o->prices, policy, past, o->nhistory, &chosen, err);
	progress_hide();
	free(past);
	if (rc == AUC_OK && chosen)
		fprintf(stderr, "auctionsim: %s\n", chosen);
	free(chosen);
	return rc;
}

static enum auc_code print_results(const struct options *o, const struct scenario *s,
				   const struct result *results, struct auc_err *err)
{
	struct output out;
	enum auc_code rc = output_open(&out, o->output, err);

	if (rc != AUC_OK)
		return rc;
	rc = o->json ? result_print_json(out.stream, s, results, o->npolicies, err)
		     : result_print_table(out.stream, s, results, o->npolicies, err);
	return output_close(&out, rc, err);
}

static int complain(const struct auc_err *err)
{
	progress_hide();
	fprintf(stderr, "auctionsim: %s\n", err->text);
	return EXIT_FAILURE;
}

static int usage(FILE *out)
{
	fputs("Usage: auctionsim run [OPTION...] SCENARIO\n"
	      "       auctionsim check SCENARIO RESULT\n"
	      "       auctionsim gen SETTING [OPTION...] [NAME=VALUE...]\n"
	      "       auctionsim import -n NODES [OPTION...] LOG [NAME=VALUE...]\n"
	      "       auctionsim replay -n NODES [OPTION...] LOG [NAME=VALUE...]\n"
	      "       auctionsim plot [OPTION...] SCENARIO RESULT...\n"
	      "       auctionsim bound [OPTION...] SCENARIO\n"
	      "       auctionsim policies\n"
	      "\n"
	      "run: what policies do with a scenario (auction-scenario/1; -: standard input)\n"
	      "  -p, --policy NAME[,OPTION=VALUE...]  default dps; more than once: side by side\n"
	      "  -j, --json         print auction-result/1 (several policies: an array), not a "
	      "table\n"
	      "  -o, --output FILE  write there\n"
	      "  -s, --seed N       of what is random in a policy (1)\n"
	      "      --prices WORD  published, none, flat or learned, not the scenario's\n"
	      "      --history FILE for flat and learned: a day before; may be given several "
	      "times\n"
	      "      --priced FILE  write the scenario with these prices, for check and plot\n"
	      "      --no-rearrange with learned: what is sold stays where it was sold\n"
	      "      --overrun WORD of true times, at the end of a plan: extend (default),\n"
	      "                     kill or move\n"
	      "      --margin WORD  of true times: learned[:QUANTILE] (default, 0.95) or a factor, "
	      "of\n"
	      "                     how long jobs are planned\n"
	      "\n"
	      "check: does a result keep to its scenario and policy? A line for each violation; "
	      "exit 1\n"
	      "\n"
	      "gen: a scenario of a published setting: dps, oasis, eris, aonline or posted; or of "
	      "gangs\n"
	      "  'gen dps --help' lists the parameters of setting dps\n"
	      "  -o, --output FILE  write there\n"
	      "  -s, --seed N       (1)\n"
	      "      --noise WORD   true times: lognormal:0.1, uniform:5% or slower:5%, and\n"
	      "                     stragglers:2%x3 behind a comma or alone\n"
	      "\n"
	      "import: a scenario of what a cluster did; 'import --help' says more\n"
	      "replay: what the auction would have made of a cluster's log; 'replay --help' says "
	      "more\n"
	      "plot: pictures of results; 'plot --help' says more\n"
	      "bound: how far policies are from the best; 'bound --help' says more\n"
	      "policies: the names of all policies\n",
	      out);
	return out == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}
