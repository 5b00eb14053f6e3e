/*
 * main.c - "sprice": prices, sales and totals of the auction as tables. Reads the status that
 * sched/auction writes (doc/status.md), and looks into a spool directory. See sprice(1); what a
 * column shows is in columns.c.
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
#include <unistd.h>

#include <json-c/json.h>
#include <libsmartcols.h>
#ifdef BUILT_FOR_SLURM
#include <slurm/slurm.h>
#endif

#include "sprice/columns.h"
#include "input/conf.h"
#include "base/file.h"
#include "base/json.h"
#include "sprice/metrics.h"
#include "ledger/spool.h"

#define FILE_MAX    (1 << 28) /* bytes of a status file */
#define FIELDS_MAX  32
#define STATUS_FILE "auction/status.json" /* in StateSaveLocation */

enum { OPT_JSON = 256, OPT_METRICS, OPT_SPOOL, OPT_HELP };
enum view { VIEW_PRICES, VIEW_CLASSES, VIEW_SALES, VIEW_TOTALS, VIEW_LEARNING };

struct options {
	enum view view;
	const char *file, *spool, *format;
	bool json, metrics, noheader, parsable;
};

/* Where the rows of a view go. */
struct table {
	const struct options *o;
	const struct field *fields[FIELDS_MAX];
	unsigned n;
	struct libscols_table *scols; /* NULL: parsable */
};

static int options_parse(struct options *o, int argc, char **argv);
static void help(void);
static void help_fields(const struct field *fields);
static int written(void);
static int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *default_file(char *path, size_t size);
#ifdef BUILT_FOR_SLURM
static void no_slurm(void);
static void find_file(const slurm_conf_t *slurm, char *path, size_t size);
#endif
static char *read_file(const char *path);
static struct json_object *status_load(const struct options *o);
static int show(const struct options *o, struct json_object *status);
static int table_open(struct table *t, const struct options *o, const struct field *fields,
		      const char *preset);
static int table_row(struct table *t, const struct row *row);
static int table_close(struct table *t);
static int add_prices(struct table *t, struct json_object *status, struct row *row);
static int add_sales(struct table *t, struct json_object *status, struct row *row);
static int add_totals(struct table *t, struct json_object *status, struct row *row);
static int add_classes(struct table *t, struct json_object *status, struct row *row);
static int add_class(struct table *t, struct json_object *class, struct row *row, int64_t first,
		     int64_t last);
static struct json_object *runs_for_sale(struct json_object *class, int64_t first, int64_t last);
static int add_learning(struct table *t, struct json_object *status, struct row *row);
static struct json_object *learning_of(struct json_object *status);

static const char *const total_names[] = {"bids",     "refused", "lapsed",         "sold",
					  "settled",  "live",    "liens",          "charged",
					  "refunded", "revenue", "settled_revenue"};
/* What --learning shows: keys of "learning", or of an object there. */
static const struct {
	const char *name, *key, *within;
	bool is_time, guard; /* guard: only once it has looked */
} learning_rows[] = {
	{"kind", "kind", NULL, false, false},
	{"form", "form", NULL, false, false},
	{"factor", "factor", NULL, false, false},
	{"moved", "moved", NULL, false, false},
	{"other_since", "other_since", NULL, true, false},
	{"why", "why", NULL, false, false},
	{"gap", "gap", NULL, false, true},
	{"chosen", "guard_time", NULL, true, true},
	{"periods", "periods", "guard", false, true},
	{"day_bids", "day_bids", NULL, false, true},
	{"day_worth", "day_worth", NULL, false, true},
	{"day_bound", "day_bound", NULL, false, true},
	{"worth_none", "none", "worth", false, true},
	{"worth_published", "published", "worth", false, true},
	{"worth_flat", "flat", "worth", false, true},
	{"worth_learned", "learned", "worth", false, true},
	{"gain", "gain", "guard", false, true},
	{"gain_error", "error", "guard", false, true},
	{"gain_needed", "needed", "guard", false, true},
	{"fitted_again", "again", "guard", false, true},
	{"fitted", "time", NULL, true, false},
	{"seconds", "seconds", NULL, false, false},
	{"bids", "bids", NULL, false, false},
	{"expected", "expected", NULL, false, false},
	{"bound", "bound", NULL, false, false},
	{"kept", "kept", NULL, false, false},
};

#ifdef BUILT_FOR_SLURM
static bool unconfigured; /* libslurm looks for its configuration */
#endif

int main(int argc, char **argv)
{
	struct options o = {0};
	struct json_object *status;
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
	status = status_load(&o);
	if (!status)
		return EXIT_FAILURE;
	if (o.json) {
		puts(json_object_to_json_string_ext(status, JSON_C_TO_STRING_PRETTY));
		code = EXIT_SUCCESS;
	} else if (o.metrics) {
		metrics_print(status);
		code = EXIT_SUCCESS;
	} else {
		code = show(&o, status);
	}
	json_object_put(status);
	return code ? code : written();
}

/* -- the command line -- */

/* Returns an exit code, or -1 to go on. */
static int options_parse(struct options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{"file", required_argument, NULL, 'f'},
		{"format", required_argument, NULL, 'o'},
		{"noheader", no_argument, NULL, 'h'},
		{"parsable", no_argument, NULL, 'P'},
		{"sales", no_argument, NULL, 's'},
		{"totals", no_argument, NULL, 't'},
		{"classes", no_argument, NULL, 'c'},
		{"learning", no_argument, NULL, 'l'},
		{"json", no_argument, NULL, OPT_JSON},
		{"metrics", no_argument, NULL, OPT_METRICS},
		{"spool", required_argument, NULL, OPT_SPOOL},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, OPT_HELP},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "f:o:hPsctlV", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			o->file = optarg;
			break;
		case 'o':
			o->format = optarg;
			break;
		case 'h':
			o->noheader = true;
			break;
		case 'P':
			o->parsable = true;
			break;
		case 's':
			o->view = VIEW_SALES;
			break;
		case 't':
			o->view = VIEW_TOTALS;
			break;
		case 'c':
			o->view = VIEW_CLASSES;
			break;
		case 'l':
			o->view = VIEW_LEARNING;
			break;
		case OPT_JSON:
			o->json = true;
			break;
		case OPT_METRICS:
			o->metrics = true;
			break;
		case OPT_SPOOL:
			o->spool = optarg;
			break;
		case 'V':
			printf("slurm-auction %s\n", PACKAGE_VERSION);
			return written();
		case OPT_HELP:
			help();
			return written();
		default:
			fprintf(stderr, "Try \"sprice --help\" for more information\n");
			return EXIT_FAILURE;
		}
	}
	if (optind < argc)
		return fail("'%s': no argument was expected", argv[optind]);
	if (o->file && !*o->file)
		return fail("--file=: expected the name of a file");
	if (o->spool && !*o->spool)
		return fail("--spool=: expected the name of a directory");
	return -1;
}

static void help(void)
{
	fputs("Usage: sprice [OPTIONS]\n"
	      "Shows the auction: prices by node and resource, or what is sold, or totals.\n"
	      "\n"
	      "  -c, --classes        fitted prices by class of nodes instead of by node\n"
	      "  -l, --learning       what prices were fitted to, what was chosen and why\n"
	      "  -s, --sales          live sales and liens instead of prices\n"
	      "  -t, --totals         counts and money since the auction began\n"
	      "  -o, --format=LIST    columns, by name, separated by commas\n"
	      "  -h, --noheader       no line of headings\n"
	      "  -P, --parsable       columns separated by '|'\n"
	      "      --json           the whole status as JSON\n"
	      "      --metrics        the same as OpenMetrics text, for a collector of time "
	      "series\n"
	      "  -f, --file=FILE      status file (default: SPRICE_FILE, else " STATUS_FILE "\n"
	      "                       in Slurm's StateSaveLocation, or PublicStatus of "
	      "auction.conf)\n"
	      "      --spool=DIR      verifies a spool directory and prints all its records\n"
	      "  -V, --version\n"
	      "      --help\n"
	      "\n"
	      "Columns of prices:\n",
	      stdout);
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

static int fail(const char *fmt, ...)
{
	va_list ap;

	fputs("sprice: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_FAILURE;
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
#else
	(void)path;
	(void)size;
#endif
	fail("where is the status? Slurm's controller does not say; give --file=FILE");
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
		     errno == EACCES ? "; users can read the one of PublicStatus in auction.conf, "
				       "if the administrator has set that"
				     : "");
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
	const char *file = o->file ? o->file : default_file(path, sizeof(path));
	struct json_object *status;

	if (!file || !(text = read_file(file)))
		return NULL;
	status = auc_json_parse(text, strlen(text));
	free(text);
	if (status && !strcmp(status_text(status, "format"), "auction-status/1"))
		return status;
	fail("%s: not a status file: \"format\" is not auction-status/1", file);
	json_object_put(status);
	return NULL;
}

static int show(const struct options *o, struct json_object *status)
{
	struct row row = {.slot_seconds = status_number(status, "slot_seconds")};
	struct json_object *ready = status_within(status, "ready");
	struct table t;
	int code = EXIT_FAILURE;

	if (ready && !json_object_get_boolean(ready)) {
		fail("the auction is closed: %s", status_text(status, "reason"));
		if (!status_within(status, "policy"))
			return EXIT_SUCCESS; /* without auction.conf there is nothing else */
	}
	if (*status_text(status, "warning"))
		fail("warning: %s", status_text(status, "warning"));
	if (!status_slot(status, &row.slot))
		return fail("the status has no time or no slot_seconds that make sense");
	switch (o->view) {
	case VIEW_PRICES:
		code = table_open(&t, o, columns_of_prices,
				  "server,partition,tres,capacity,used,load,now,next,mean");
		return code ? code : add_prices(&t, status, &row) | table_close(&t);
	case VIEW_SALES:
		if (status_within(status, "servers") && !status_within(status, "sales"))
			return fail("--sales: this status is the public one, which has none");
		code = table_open(&t, o, columns_of_sales,
				  "job,state,user,start,end,workers,ps,nodes,payment,value");
		return code ? code : add_sales(&t, status, &row) | table_close(&t);
	case VIEW_TOTALS:
		code = table_open(&t, o, columns_of_totals, "name,value");
		return code ? code : add_totals(&t, status, &row) | table_close(&t);
	case VIEW_CLASSES:
		code = table_open(&t, o, columns_of_classes,
				  "partition,tres,capacity,nodes,now,next,mean,max");
		return code ? code : add_classes(&t, status, &row) | table_close(&t);
	case VIEW_LEARNING:
		code = table_open(&t, o, columns_of_learning, "name,value");
		return code ? code : add_learning(&t, status, &row) | table_close(&t);
	}
	return code;
}

/* -- tables -- */

static int table_open(struct table *t, const struct options *o, const struct field *fields,
		      const char *preset)
{
	char *list = strdup(o->format ? o->format : preset), *save = NULL;
	const struct field *f;

	memset(t, 0, sizeof(*t));
	t->o = o;
	for (char *name = list ? strtok_r(list, ",", &save) : NULL; name;
	     name = strtok_r(NULL, ",", &save)) {
		for (f = fields; f->name && strcasecmp(f->name, name); f++)
			;
		if (!f->name || t->n == FIELDS_MAX) {
			fail("--format: '%s' is no column here; sprice --help lists them", name);
			free(list);
			return EXIT_FAILURE;
		}
		t->fields[t->n++] = f;
	}
	free(list);
	if (!t->n)
		return fail("--format: expected names of columns, separated by commas");
	if (o->parsable) {
		for (unsigned i = 0; i < t->n && !o->noheader; i++)
			printf("%s%s", t->fields[i]->heading, i + 1 < t->n ? "|" : "\n");
		return EXIT_SUCCESS;
	}
	t->scols = scols_new_table();
	if (!t->scols)
		return fail("out of memory");
	scols_table_enable_noheadings(t->scols, o->noheader);
	for (unsigned i = 0; i < t->n; i++)
		if (!scols_table_new_column(t->scols, t->fields[i]->heading, 0,
					    t->fields[i]->flags))
			return fail("out of memory");
	return EXIT_SUCCESS;
}

static int table_row(struct table *t, const struct row *row)
{
	struct libscols_line *line = t->scols ? scols_table_new_line(t->scols, NULL) : NULL;

	if (t->scols && !line)
		return fail("out of memory");
	for (unsigned i = 0; i < t->n; i++) {
		char *cell = NULL;
		size_t len;
		FILE *out = open_memstream(&cell, &len);
		int rc = 0;

		if (!out)
			return fail("out of memory");
		t->fields[i]->print(row, out);
		if (fclose(out)) {
			free(cell);
			return fail("out of memory");
		}
		if (!t->scols)
			printf("%s%s", cell, i + 1 < t->n ? "|" : "\n");
		else
			rc = scols_line_set_data(line, i, cell);
		free(cell);
		if (rc)
			return fail("out of memory");
	}
	return EXIT_SUCCESS;
}

static int table_close(struct table *t)
{
	if (!t->scols)
		return EXIT_SUCCESS;
	scols_print_table(t->scols);
	scols_unref_table(t->scols);
	return EXIT_SUCCESS;
}

static int add_prices(struct table *t, struct json_object *status, struct row *row)
{
	struct json_object *servers, *server, *tres, *sells;
	int code = EXIT_SUCCESS;

	if (!json_object_object_get_ex(status, "servers", &servers) ||
	    !json_object_is_type(servers, json_type_array))
		return EXIT_SUCCESS; /* no nodes yet */
	for (size_t i = 0; i < json_object_array_length(servers); i++) {
		server = json_object_array_get_idx(servers, i);
		row->server = status_text(server, "name");
		row->partition = status_text(server, "partition");
		row->for_sale = json_object_object_get_ex(server, "for_sale", &sells) &&
				json_object_get_boolean(sells);
		if (!json_object_object_get_ex(server, "tres", &tres) ||
		    !json_object_is_type(tres, json_type_array))
			continue;
		for (size_t k = 0; k < json_object_array_length(tres) && !code; k++) {
			row->tres = json_object_array_get_idx(tres, k);
			code = table_row(t, row);
		}
	}
	return code;
}

static int add_sales(struct table *t, struct json_object *status, struct row *row)
{
	struct json_object *sales;
	int code = EXIT_SUCCESS;

	if (!json_object_object_get_ex(status, "sales", &sales) ||
	    !json_object_is_type(sales, json_type_array))
		return EXIT_SUCCESS;
	for (size_t i = 0; i < json_object_array_length(sales) && !code; i++) {
		row->sale = json_object_array_get_idx(sales, i);
		code = table_row(t, row);
	}
	return code;
}

static int add_totals(struct table *t, struct json_object *status, struct row *row)
{
	struct json_object *totals = status_within(status, "totals");
	int code = EXIT_SUCCESS;

	for (size_t i = 0; i < sizeof(total_names) / sizeof(*total_names) && !code; i++) {
		row->key = total_names[i];
		row->value = status_within(totals, row->key);
		if (row->value)
			code = table_row(t, row);
	}
	return code;
}

static int add_classes(struct table *t, struct json_object *status, struct row *row)
{
	struct json_object *learning = learning_of(status), *classes;
	double first = status_number(status, "first"), last = status_number(status, "last");
	int code = EXIT_SUCCESS;

	if (!learning)
		return EXIT_FAILURE;
	if (!json_object_object_get_ex(learning, "classes", &classes) ||
	    !json_object_is_type(classes, json_type_array) || !(first <= last))
		return code; /* nothing is fitted yet */
	for (size_t i = 0; i < json_object_array_length(classes) && !code; i++)
		code = add_class(t, json_object_array_get_idx(classes, i), row, (int64_t)first,
				 (int64_t)last);
	return code;
}

static int add_class(struct table *t, struct json_object *class, struct row *row, int64_t first,
		     int64_t last)
{
	struct json_object *tres = json_object_new_object();
	int code;

	if (!tres || !auc_json_add_text(tres, "name", status_text(class, "tres")) ||
	    !auc_json_add_double(tres, "capacity", status_number(class, "capacity")) ||
	    !auc_json_add_double(tres, "servers", status_number(class, "servers")) ||
	    !auc_json_add(tres, "runs", runs_for_sale(class, first, last))) {
		json_object_put(tres);
		return fail("out of memory");
	}
	row->partition = status_text(class, "partition");
	row->tres = tres;
	code = table_row(t, row);
	json_object_put(tres);
	return code;
}

/* A class's runs from FIRST to LAST, in the form that those of a node have. NULL: no memory. */
static struct json_object *runs_for_sale(struct json_object *class, int64_t first, int64_t last)
{
	struct json_object *list = json_object_new_array(), *runs, *run, *one;

	if (!list || !json_object_object_get_ex(class, "runs", &runs) ||
	    !json_object_is_type(runs, json_type_array))
		return list;
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		int64_t from, to;

		run = json_object_array_get_idx(runs, i);
		if (!json_object_is_type(run, json_type_array) ||
		    json_object_array_length(run) != 3)
			continue;
		from = json_object_get_int64(json_object_array_get_idx(run, 0));
		to = json_object_get_int64(json_object_array_get_idx(run, 1));
		if (to < first || from > last)
			continue;
		one = json_object_new_array();
		if (!one || json_object_array_add(list, one)) {
			json_object_put(one);
			continue;
		}
		json_object_array_add(one, json_object_new_int64(from < first ? first : from));
		json_object_array_add(one, json_object_new_int64(to > last ? last : to));
		json_object_array_add(one, json_object_new_int64(0));
		json_object_array_add(one, json_object_get(json_object_array_get_idx(run, 2)));
	}
	return list;
}

static int add_learning(struct table *t, struct json_object *status, struct row *row)
{
	struct json_object *learning = learning_of(status), *within;
	int code = EXIT_SUCCESS;
	bool looked;

	if (!learning)
		return EXIT_FAILURE;
	looked = status_number(learning, "day_bids") > 0;
	for (size_t i = 0; i < sizeof(learning_rows) / sizeof(*learning_rows) && !code; i++) {
		row->key = learning_rows[i].name;
		row->is_time = learning_rows[i].is_time;
		within = learning;
		if (learning_rows[i].within)
			within = status_within(learning, learning_rows[i].within);
		row->value = status_within(within, learning_rows[i].key);
		if (row->value && (looked || !learning_rows[i].guard))
			code = table_row(t, row);
	}
	return code;
}

/* NULL, and said why: prices are not fitted. */
static struct json_object *learning_of(struct json_object *status)
{
	struct json_object *learning = status_within(status, "learning");

	if (!learning)
		fail("prices are not fitted: Prices=%s", status_text(status, "prices"));
	return learning;
}
