/* plot.c - see plot.h. This file: the command line and which pictures are made. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/num.h"
#include "auctionsim/io/output.h"
#include "auctionsim/io/progress.h"
#include "auctionsim/plot/plot.h"

#define SIZE_MIN   200
#define SIZE_LIMIT 8000 /* pixels */
#define NODES_MAX  400
#define NODES      30
#define DIRECTORY  "plots"

enum { EXIT_USAGE = 2, OPT_NO_PNG = 256 };

/* When a picture is made without being asked for. */
enum when {
	WHEN_ONE,     /* one scenario */
	WHEN_MANY,    /* several results */
	WHEN_JOBS,    /* scenarios with different numbers of jobs, */
	WHEN_SERVERS, /* of servers */
};

static const struct kind {
	const char *name;
	enum auc_code (*draw)(struct plot *p, struct auc_err *err);
	enum when when;
	const char *help;
} kinds[] = {
	{"policies", plot_policies, WHEN_MANY, "totals of several policies side by side"},
	{"welfare-jobs", plot_welfare_jobs, WHEN_JOBS, "welfare against the number of jobs"},
	{"welfare-servers", plot_welfare_servers, WHEN_SERVERS,
	 "welfare against the number of servers"},
	{"utilisation", plot_utilisation, WHEN_ONE, "what is sold of each TRES, edge and cloud"},
	{"prices", plot_prices, WHEN_ONE, "unit prices of each TRES, over servers"},
	{"gantt", plot_gantt, WHEN_ONE, "the plans, node by node"},
	{"payments", plot_payments, WHEN_ONE, "payments against values"},
};
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

struct words {
	bool wanted[NKINDS], any;
	struct picture_options options;
	unsigned nodes;
};

static int words_parse(struct words *w, int argc, char **argv);
static int parse_kinds(struct words *w, char *text);
static int parse_size(struct picture_options *o, const char *text);
static enum auc_code draw_all(struct plot *p, const struct words *w, struct auc_err *err);
static bool suits(const struct plot *p, enum when when);
static enum auc_code list_policies(struct plot *p, struct auc_err *err);
static int refuse(const char *option, const char *value, const char *expected);
static int usage(FILE *out);

int plot_command(int argc, char **argv)
{
	struct words w = {.options = {.directory = DIRECTORY, .draw = true}, .nodes = NODES};
	struct plot p = {.no_gnuplot = false};
	struct auc_err err = {0};
	enum auc_code rc;
	int code = words_parse(&w, argc, argv);

	if (code >= 0)
		return code;
	if (optind == argc)
		return usage(stderr);
	p.options = w.options;
	p.nodes = w.nodes;
	rc = plot_input_read(&p.input, argv + optind, (unsigned)(argc - optind), &err);
	if (rc == AUC_OK && mkdir(w.options.directory, 0777) && errno != EEXIST)
		rc = auc_err_set(&err, AUC_EIO, "--output: %s: %s", w.options.directory,
				 strerror(errno));
	if (rc == AUC_OK)
		rc = list_policies(&p, &err);
	if (rc == AUC_OK)
		rc = draw_all(&p, &w, &err);
	progress_hide();
	if (p.no_gnuplot)
		fprintf(stderr,
			"auctionsim: gnuplot is not installed: scripts and data are in %s; there "
			"'gnuplot *.gp' draws them\n",
			w.options.directory);
	plot_input_clear(&p.input);
	free(p.policies);
	if (rc == AUC_OK)
		return EXIT_SUCCESS;
	fprintf(stderr, "auctionsim: plot: %s\n", err.text);
	return EXIT_FAILURE;
}

unsigned plot_policy(const struct plot *p, const struct result *r)
{
	unsigned i;

	for (i = 0; i < p->npolicies && strcmp(p->policies[i], r->policy) != 0; i++)
		;
	return i;
}

enum auc_code plot_begin(const struct plot *p, struct picture *pic, const char *kind, unsigned page,
			 unsigned pages, unsigned width, unsigned height, struct auc_err *err)
{
	char name[40];

	if (pages > 1)
		snprintf(name, sizeof(name), "%.20s-%u", kind, page + 1);
	else
		snprintf(name, sizeof(name), "%.20s", kind);
	return picture_open(pic, &p->options, name, width, height, err);
}

enum auc_code plot_end(struct plot *p, struct picture *pic, enum auc_code rc, struct auc_err *err)
{
	if (rc != AUC_OK) {
		picture_abandon(pic);
		return rc;
	}
	rc = picture_close(pic, err);
	p->no_gnuplot |= p->options.draw && rc == AUC_OK && !pic->has_gnuplot;
	progress_hide();
	if (rc == AUC_OK && p->options.format != PICTURE_TEXT)
		printf("%s/%s.%s\n", p->options.directory, pic->name,
		       pic->has_gnuplot ? picture_suffix(pic) : "gp");
	return rc;
}

unsigned plot_slots(const struct plot_group *g)
{
	const struct auc_plan *plan;
	uint64_t last = 1;
	unsigned i, k;

	for (i = 0; i < g->s->njobs; i++) {
		if (g->s->jobs[i].arrival <= g->s->slots && g->s->jobs[i].arrival > last)
			last = g->s->jobs[i].arrival;
		for (k = 0; k < g->nresults; k++) {
			plan = &g->results[k].jobs[i].plan;
			if (plan->nruns && (uint64_t)plan->runs[plan->nruns - 1].to > last)
				last = (uint64_t)plan->runs[plan->nruns - 1].to;
		}
	}
	return (unsigned)last;
}

unsigned plot_servers(const struct scenario *s)
{
	unsigned edge = 0, i;

	for (i = 0; i < s->nservers; i++)
		edge += !s->servers[i].cloud;
	return edge ? edge : s->nservers;
}

/* Returns an exit code, or -1 to go on. */
static int words_parse(struct words *w, int argc, char **argv)
{
	static const struct option options[] = {
		{"kind", required_argument, NULL, 'k'},   {"output", required_argument, NULL, 'o'},
		{"format", required_argument, NULL, 'f'}, {"size", required_argument, NULL, 'z'},
		{"nodes", required_argument, NULL, 'n'},  {"no-png", no_argument, NULL, OPT_NO_PNG},
		{"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
	};
	static const char *const formats[] = {"png", "svg", "text"};
	struct auc_err err = {0};
	uint64_t n;
	int c, code = -1;
	unsigned i;

	while (code < 0 && (c = getopt_long(argc, argv, "k:o:f:z:n:h", options, NULL)) != -1)
		switch (file_is_named(options, "o", c) ? c : '?') {
		case 'k':
			code = parse_kinds(w, optarg);
			break;
		case 'o':
			w->options.directory = optarg;
			break;
		case 'f':
			for (i = 0; i < 3 && strcmp(formats[i], optarg) != 0; i++)
				;
			w->options.format = (enum picture_format)i;
			if (i == 3)
				code = refuse("--format", optarg, "png, svg or text");
			break;
		case 'z':
			code = parse_size(&w->options, optarg);
			break;
		case 'n':
			if (auc_parse_count(optarg, 1, NODES_MAX, &n, "--nodes", &err) != AUC_OK) {
				fprintf(stderr, "auctionsim: plot: %s\n", err.text);
				return EXIT_USAGE;
			}
			w->nodes = (unsigned)n;
			break;
		case OPT_NO_PNG:
			w->options.draw = false;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	return code;
}

/* KIND,KIND... */
static int parse_kinds(struct words *w, char *text)
{
	char *word, *next = text;
	unsigned i;

	while ((word = strsep(&next, ","))) {
		for (i = 0; i < NKINDS && strcmp(kinds[i].name, word) != 0; i++)
			;
		if (i == NKINDS)
			return refuse("--kind", word, "a kind of 'auctionsim plot --help'");
		w->wanted[i] = w->any = true;
	}
	return -1;
}

static int parse_size(struct picture_options *o, const char *text)
{
	const char *x = strchr(text, 'x');
	char width[16] = "";
	uint64_t w, h;

	if (x && (size_t)(x - text) < sizeof(width))
		memcpy(width, text, (size_t)(x - text));
	if (!*width || auc_parse_count(width, SIZE_MIN, SIZE_LIMIT, &w, "--size", NULL) != AUC_OK ||
	    auc_parse_count(x + 1, SIZE_MIN, SIZE_LIMIT, &h, "--size", NULL) != AUC_OK)
		return refuse("--size", text, "WIDTHxHEIGHT, each 200 to 8000 pixels");
	o->width = (unsigned)w;
	o->height = (unsigned)h;
	return -1;
}

/* What was asked for; without that all that suits the input. */
static enum auc_code draw_all(struct plot *p, const struct words *w, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;

	for (i = 0; i < NKINDS && rc == AUC_OK; i++) {
		if (w->any ? !w->wanted[i] : !suits(p, kinds[i].when))
			continue;
		if (kinds[i].when == WHEN_ONE && p->input.ngroups > 1)
			rc = auc_err_set(err, AUC_EINVAL, "--kind: %s: expected one scenario",
					 kinds[i].name);
		else {
			progress_say("drawing %s", kinds[i].name);
			rc = kinds[i].draw(p, err);
		}
	}
	return rc;
}

static bool suits(const struct plot *p, enum when when)
{
	const struct plot_input *in = &p->input;
	const struct scenario *first = in->groups[0].s, *s;
	unsigned i, results = 0;
	bool jobs = false, servers = false;

	for (i = 0; i < in->ngroups; i++) {
		s = in->groups[i].s;
		results += in->groups[i].nresults;
		jobs |= s->njobs != first->njobs;
		servers |= plot_servers(s) != plot_servers(first);
	}
	switch (when) {
	case WHEN_ONE:
		return in->ngroups == 1;
	case WHEN_MANY:
		return results > 1;
	case WHEN_JOBS:
		return jobs;
	case WHEN_SERVERS:
		return servers;
	}
	return false;
}

static enum auc_code list_policies(struct plot *p, struct auc_err *err)
{
	const struct plot_group *g;
	const char **grown;
	unsigned i;

	for (g = p->input.groups; g < p->input.groups + p->input.ngroups; g++)
		for (i = 0; i < g->nresults; i++) {
			if (plot_policy(p, &g->results[i]) < p->npolicies)
				continue;
			grown = realloc(p->policies, (p->npolicies + 1) * sizeof(*grown));
			if (!grown)
				return auc_err_set(err, AUC_ENOMEM, "no memory");
			p->policies = grown;
			grown[p->npolicies++] = g->results[i].policy;
		}
	return AUC_OK;
}

static int refuse(const char *option, const char *value, const char *expected)
{
	fprintf(stderr, "auctionsim: plot: %s: '%.80s', expected %s\n", option, value, expected);
	return EXIT_USAGE;
}

static int usage(FILE *out)
{
	unsigned i;

	fputs("Usage: auctionsim plot [OPTION...] SCENARIO RESULT... [SCENARIO RESULT...]...\n"
	      "\n"
	      "Pictures, with the gnuplot scripts and data they are made from\n"
	      "  -k, --kind KIND[,KIND...]  which; without it all that suit what is given\n"
	      "  -o, --output DIR           write there (" DIRECTORY "), made if it is missing\n"
	      "  -f, --format png|svg|text  text: for a terminal, also on standard output\n"
	      "  -z, --size WIDTHxHEIGHT    pixels\n"
	      "  -n, --nodes N              nodes in a Gantt chart at most, the busiest (30)\n"
	      "      --no-png               only scripts and data\n"
	      "\n"
	      "Kinds\n",
	      out);
	for (i = 0; i < NKINDS; i++)
		fprintf(out, "  %-16s %s\n", kinds[i].name, kinds[i].help);
	return out == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}
