/*
 * sprice.c - "sprice": prices, sales and totals of the auction as tables. Reads the status that
 * sched/auction writes (doc/status.md), and looks into a spool directory. See sprice(1).
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <json-c/json.h>
#include <libsmartcols.h>
#ifdef BUILT_FOR_SLURM
#include <slurm/slurm.h>
#endif

#include "jsonio.h"
#include "spool.h"

#define FILE_MAX    (1 << 28) /* bytes of a status file */
#define FIELDS_MAX  32
#define STATUS_FILE "auction/status.json" /* in StateSaveLocation */

enum { OPT_JSON = 256, OPT_SPOOL, OPT_HELP };
enum view { VIEW_PRICES, VIEW_CLASSES, VIEW_SALES, VIEW_TOTALS, VIEW_LEARNING };

struct options {
	enum view view;
	const char *file, *spool, *format;
	bool json, noheader, parsable;
};

/* One row's data. What a view does not have is 0. */
struct row {
	const char *server, *partition;
	bool for_sale;
	struct json_object *tres; /* prices */
	struct json_object *sale; /* sales */
	const char *key;          /* totals, learning */
	struct json_object *value;
	bool is_time; /* the value, in Unix time */
	int64_t slot; /* the present one */
	double slot_seconds;
};

struct field {
	const char *name, *heading;
	bool right;
	void (*print)(const struct row *row, FILE *out);
	const char *help;
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

static const char *text_of(struct json_object *o, const char *key);
static double number_of(struct json_object *o, const char *key);
static bool run_at(const struct row *row, int64_t slot, double *used, double *price);
static void print_at(const struct row *row, FILE *out, int64_t slot, bool price);
static void print_over_runs(const struct row *row, FILE *out,
			    double (*fold)(double sum, double x, double slots), bool price,
			    bool mean);
static double fold_sum(double sum, double x, double slots);
static double fold_max(double sum, double x, double slots);
static void print_time(FILE *out, double when);
static struct json_object *counts_of(const struct row *row, const char *role);
static void print_counts(const struct row *row, FILE *out, const char *role, const char *type);

static void p_server(const struct row *r, FILE *f);
static void p_partition(const struct row *r, FILE *f);
static void p_sells(const struct row *r, FILE *f);
static void p_tres(const struct row *r, FILE *f);
static void p_capacity(const struct row *r, FILE *f);
static void p_used(const struct row *r, FILE *f);
static void p_load(const struct row *r, FILE *f);
static void p_now(const struct row *r, FILE *f);
static void p_next(const struct row *r, FILE *f);
static void p_mean(const struct row *r, FILE *f);
static void p_max(const struct row *r, FILE *f);
static void c_servers(const struct row *r, FILE *f);
static void s_sale(const struct row *r, FILE *f);
static void s_job(const struct row *r, FILE *f);
static void s_user(const struct row *r, FILE *f);
static void s_state(const struct row *r, FILE *f);
static void s_start(const struct row *r, FILE *f);
static void s_end(const struct row *r, FILE *f);
static void s_payment(const struct row *r, FILE *f);
static void s_value(const struct row *r, FILE *f);
static void s_workers(const struct row *r, FILE *f);
static void s_ps(const struct row *r, FILE *f);
static void s_nodes(const struct row *r, FILE *f);
static void t_name(const struct row *r, FILE *f);
static void t_value(const struct row *r, FILE *f);

static const struct field price_fields[] = {
	{"server", "SERVER", false, p_server, "node"},
	{"partition", "PARTITION", false, p_partition, "its partition"},
	{"sells", "SELLS", false, p_sells, "yes, or no while it is down"},
	{"tres", "TRES", false, p_tres, "trackable resource"},
	{"capacity", "CAPACITY", true, p_capacity, "how much of it the node has"},
	{"used", "USED", true, p_used, "how much is sold in the present slot"},
	{"load", "LOAD%", true, p_load, "share that is sold, mean over all slots for sale"},
	{"now", "NOW", true, p_now, "price in the present slot, credits per unit and slot"},
	{"next", "NEXT", true, p_next, "price in the next slot"},
	{"mean", "MEAN", true, p_mean, "price, mean over all slots for sale"},
	{"max", "MAX", true, p_max, "highest price in any slot for sale"},
	{0},
};
static const struct field sale_fields[] = {
	{"job", "JOBID", true, s_job, "lead job; 0 for a lien"},
	{"state", "STATE", false, s_state, "lien, sold or running"},
	{"user", "USER", false, s_user, "who bought it"},
	{"start", "START", false, s_start, "when its first slot begins"},
	{"end", "END", false, s_end, "when its last slot ends"},
	{"workers", "WORKERS", false, s_workers, "how many workers of which type"},
	{"ps", "PS", false, s_ps, "how many PSs of which type"},
	{"nodes", "NODES", false, s_nodes, "the plan's nodes, that of the PSs first"},
	{"payment", "PAYMENT", true, s_payment, "what it pays, credits"},
	{"value", "VALUE", true, s_value, "what it is worth to the buyer, credits"},
	{"sale", "SALE", false, s_sale, "id of the sale"},
	{0},
};
static const struct field class_fields[] = {
	{"partition", "PARTITION", false, p_partition, "partition of the nodes"},
	{"tres", "TRES", false, p_tres, "trackable resource"},
	{"capacity", "CAPACITY", true, p_capacity, "how much of it each node has"},
	{"nodes", "NODES", true, c_servers, "how many such nodes there are"},
	{"now", "NOW", true, p_now, "price in the present slot, credits per unit and slot"},
	{"next", "NEXT", true, p_next, "price in the next slot"},
	{"mean", "MEAN", true, p_mean, "price, mean over all slots for sale"},
	{"max", "MAX", true, p_max, "highest price in any slot for sale"},
	{0},
};
static const struct field total_fields[] = {
	{"name", "TOTAL", false, t_name, "what is counted"},
	{"value", "VALUE", true, t_value, "how many, or credits"},
	{0},
};
static const char *const total_names[] = {"bids",     "refused", "lapsed",         "sold",
					  "settled",  "live",    "liens",          "charged",
					  "refunded", "revenue", "settled_revenue"};
/* What --learning shows: keys of "learning", "worth" of each kind. */
static const struct {
	const char *name, *key, *worth;
	bool is_time, guard; /* guard: only once it has looked */
} learning_rows[] = {
	{"kind", "kind", NULL, false, false},
	{"form", "form", NULL, false, false},
	{"factor", "factor", NULL, false, false},
	{"why", "why", NULL, false, false},
	{"gap", "gap", NULL, false, true},
	{"chosen", "guard_time", NULL, true, true},
	{"day_bids", "day_bids", NULL, false, true},
	{"day_worth", "day_worth", NULL, false, true},
	{"day_bound", "day_bound", NULL, false, true},
	{"worth_none", "worth", "none", false, true},
	{"worth_published", "worth", "published", false, true},
	{"worth_flat", "worth", "flat", false, true},
	{"worth_learned", "worth", "learned", false, true},
	{"fitted", "time", NULL, true, false},
	{"seconds", "seconds", NULL, false, false},
	{"bids", "bids", NULL, false, false},
	{"expected", "expected", NULL, false, false},
	{"bound", "bound", NULL, false, false},
	{"kept", "kept", NULL, false, false},
};

int main(int argc, char **argv)
{
	struct options o = {0};
	struct json_object *status;
	struct auc_err err;
	int code;

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
		case OPT_SPOOL:
			o->spool = optarg;
			break;
		case 'V':
			printf("slurm-auction %s\n", PACKAGE_VERSION);
			return EXIT_SUCCESS;
		case OPT_HELP:
			help();
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "Try \"sprice --help\" for more information\n");
			return EXIT_FAILURE;
		}
	}
	if (optind < argc)
		return fail("'%s': no argument was expected", argv[optind]);
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
	      "  -f, --file=FILE      status file (default: SPRICE_FILE, else " STATUS_FILE "\n"
	      "                       in Slurm's StateSaveLocation)\n"
	      "      --spool=DIR      verifies a spool directory and prints all its records\n"
	      "  -V, --version\n"
	      "      --help\n"
	      "\n"
	      "Columns of prices:\n",
	      stdout);
	help_fields(price_fields);
	puts("Columns of classes:");
	help_fields(class_fields);
	puts("Columns of sales:");
	help_fields(sale_fields);
	puts("Columns of totals and learning:");
	help_fields(total_fields);
}

static void help_fields(const struct field *fields)
{
	for (const struct field *f = fields; f->name; f++)
		printf("  %-10s %s\n", f->name, f->help);
}

/* An exit code: whether all output arrived. */
static int written(void)
{
	if (fflush(stdout) || ferror(stdout))
		return fail("cannot write: %s", strerror(errno));
	return EXIT_SUCCESS;
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
	slurm_conf_t *conf;
#endif

	if (file && *file)
		return file;
#ifdef BUILT_FOR_SLURM
	slurm_init(NULL);
	if (slurm_load_ctl_conf((time_t)0, &conf) == 0) {
		snprintf(path, size, "%s/" STATUS_FILE, conf->state_save_location);
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

static char *read_file(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t n = 0;

	if (!f || fstat(fileno(f), &st)) {
		fail("%s: %s", path, strerror(errno));
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
	if (status && !strcmp(text_of(status, "format"), "auction-status/1"))
		return status;
	fail("%s: not a status file: \"format\" is not auction-status/1", file);
	json_object_put(status);
	return NULL;
}

static int show(const struct options *o, struct json_object *status)
{
	struct row row = {.slot_seconds = number_of(status, "slot_seconds")};
	struct json_object *ready;
	struct table t;
	int code = EXIT_FAILURE;

	if (json_object_object_get_ex(status, "ready", &ready) && !json_object_get_boolean(ready))
		fail("the auction is closed: %s", text_of(status, "reason"));
	if (!(row.slot_seconds > 0) || !(number_of(status, "time") >= 0))
		return fail("the status has no time or no slot_seconds");
	row.slot = (int64_t)floor(number_of(status, "time") / row.slot_seconds);
	switch (o->view) {
	case VIEW_PRICES:
		code = table_open(&t, o, price_fields,
				  "server,partition,tres,capacity,used,load,now,next,mean");
		return code ? code : add_prices(&t, status, &row) | table_close(&t);
	case VIEW_SALES:
		code = table_open(&t, o, sale_fields,
				  "job,state,user,start,end,workers,ps,nodes,payment,value");
		return code ? code : add_sales(&t, status, &row) | table_close(&t);
	case VIEW_TOTALS:
		code = table_open(&t, o, total_fields, "name,value");
		return code ? code : add_totals(&t, status, &row) | table_close(&t);
	case VIEW_CLASSES:
		code = table_open(&t, o, class_fields,
				  "partition,tres,capacity,nodes,now,next,mean,max");
		return code ? code : add_classes(&t, status, &row) | table_close(&t);
	case VIEW_LEARNING:
		code = table_open(&t, o, total_fields, "name,value");
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
					    t->fields[i]->right ? SCOLS_FL_RIGHT : 0))
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
		row->server = text_of(server, "name");
		row->partition = text_of(server, "partition");
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
	struct json_object *totals;
	int code = EXIT_SUCCESS;

	if (!json_object_object_get_ex(status, "totals", &totals))
		return EXIT_SUCCESS;
	for (size_t i = 0; i < sizeof(total_names) / sizeof(*total_names) && !code; i++) {
		row->key = total_names[i];
		if (json_object_object_get_ex(totals, row->key, &row->value))
			code = table_row(t, row);
	}
	return code;
}

static int add_classes(struct table *t, struct json_object *status, struct row *row)
{
	struct json_object *learning = learning_of(status), *classes;
	double first = number_of(status, "first"), last = number_of(status, "last");
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

	if (!tres || !auc_json_add_text(tres, "name", text_of(class, "tres")) ||
	    !auc_json_add_double(tres, "capacity", number_of(class, "capacity")) ||
	    !auc_json_add_double(tres, "servers", number_of(class, "servers")) ||
	    !auc_json_add(tres, "runs", runs_for_sale(class, first, last))) {
		json_object_put(tres);
		return fail("out of memory");
	}
	row->partition = text_of(class, "partition");
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
	struct json_object *learning = learning_of(status);
	int code = EXIT_SUCCESS;
	bool looked;

	if (!learning)
		return EXIT_FAILURE;
	looked = number_of(learning, "day_bids") > 0;
	for (size_t i = 0; i < sizeof(learning_rows) / sizeof(*learning_rows) && !code; i++) {
		row->key = learning_rows[i].name;
		row->is_time = learning_rows[i].is_time;
		if ((looked || !learning_rows[i].guard) &&
		    json_object_object_get_ex(learning, learning_rows[i].key, &row->value) &&
		    (!learning_rows[i].worth ||
		     json_object_object_get_ex(row->value, learning_rows[i].worth, &row->value)))
			code = table_row(t, row);
	}
	return code;
}

/* NULL, and said why: prices are not fitted. */
static struct json_object *learning_of(struct json_object *status)
{
	struct json_object *learning;

	if (json_object_object_get_ex(status, "learning", &learning))
		return learning;
	fail("prices are not fitted: Prices=%s", text_of(status, "prices"));
	return NULL;
}

/* -- reading cells -- */

/* "" if there is no such text. */
static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string)
		       ? json_object_get_string(v)
		       : "";
}

/* NAN if there is no such number. */
static double number_of(struct json_object *o, const char *key)
{
	double value;

	return auc_json_double(o, key, -1e18, 1e18, &value, NULL) == AUC_OK ? value : NAN;
}

/* What the run of SLOT says. */
static bool run_at(const struct row *row, int64_t slot, double *used, double *price)
{
	struct json_object *runs, *run;

	if (!json_object_object_get_ex(row->tres, "runs", &runs) ||
	    !json_object_is_type(runs, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (!json_object_is_type(run, json_type_array) ||
		    json_object_array_length(run) != 4 ||
		    json_object_get_int64(json_object_array_get_idx(run, 0)) > slot ||
		    json_object_get_int64(json_object_array_get_idx(run, 1)) < slot)
			continue;
		*used = json_object_get_double(json_object_array_get_idx(run, 2));
		*price = json_object_get_double(json_object_array_get_idx(run, 3));
		return true;
	}
	return false;
}

static void print_at(const struct row *row, FILE *out, int64_t slot, bool price)
{
	double used, unit;

	if (!run_at(row, slot, &used, &unit))
		fputs("-", out);
	else if (price)
		fprintf(out, "%.6f", unit);
	else
		fprintf(out, "%.10g", used);
}

/* FOLD over all slots of use or price; MEAN: divided by the slots. Use is shown in percent of the
 * capacity. */
static void print_over_runs(const struct row *row, FILE *out,
			    double (*fold)(double sum, double x, double slots), bool price,
			    bool mean)
{
	struct json_object *runs, *run;
	double sum = 0, slots = 0, n;

	if (!json_object_object_get_ex(row->tres, "runs", &runs) ||
	    !json_object_is_type(runs, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		if (!json_object_is_type(run, json_type_array) ||
		    json_object_array_length(run) != 4)
			continue;
		n = (double)(json_object_get_int64(json_object_array_get_idx(run, 1)) -
			     json_object_get_int64(json_object_array_get_idx(run, 0)) + 1);
		sum = fold(sum,
			   json_object_get_double(json_object_array_get_idx(run, price ? 3 : 2)),
			   n);
		slots += n;
	}
	if (mean)
		sum = slots > 0 ? sum / slots : 0;
	if (price)
		fprintf(out, "%.6f", sum);
	else
		fprintf(out, "%.1f", 100 * sum / number_of(row->tres, "capacity"));
}

static double fold_sum(double sum, double x, double slots)
{
	return sum + x * slots;
}

static double fold_max(double sum, double x, double slots)
{
	(void)slots;
	return x > sum ? x : sum;
}

/* Like squeue. */
static void print_time(FILE *out, double when)
{
	time_t t = when >= 0 && when < 1e12 ? (time_t)when : -1;
	char text[32];
	struct tm tm;

	if (t >= 0 && localtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		fputs(text, out);
}

/* The counts by node of a role in the first run; NULL: none. */
static struct json_object *counts_of(const struct row *row, const char *role)
{
	struct json_object *plan, *counts;

	if (json_object_object_get_ex(row->sale, "plan", &plan) &&
	    json_object_is_type(plan, json_type_array) &&
	    json_object_object_get_ex(json_object_array_get_idx(plan, 0), role, &counts) &&
	    json_object_is_type(counts, json_type_object))
		return counts;
	return NULL;
}

/* "3 x v100" */
static void print_counts(const struct row *row, FILE *out, const char *role, const char *type)
{
	struct json_object *counts = counts_of(row, role);
	int64_t sum = 0;

	if (!counts)
		return;
	json_object_object_foreach(counts, server, count)
	{
		(void)server;
		sum += json_object_get_int64(count);
	}
	fprintf(out, "%" PRId64 " x %s", sum, text_of(row->sale, type));
}

/* -- columns -- */

static void p_server(const struct row *r, FILE *f)
{
	fputs(r->server, f);
}

static void p_partition(const struct row *r, FILE *f)
{
	fputs(r->partition, f);
}

static void p_sells(const struct row *r, FILE *f)
{
	fputs(r->for_sale ? "yes" : "no", f);
}

static void p_tres(const struct row *r, FILE *f)
{
	fputs(text_of(r->tres, "name"), f);
}

static void p_capacity(const struct row *r, FILE *f)
{
	fprintf(f, "%.10g", number_of(r->tres, "capacity"));
}

static void p_used(const struct row *r, FILE *f)
{
	print_at(r, f, r->slot, false);
}

static void p_load(const struct row *r, FILE *f)
{
	print_over_runs(r, f, fold_sum, false, true);
}

static void p_now(const struct row *r, FILE *f)
{
	print_at(r, f, r->slot, true);
}

static void p_next(const struct row *r, FILE *f)
{
	print_at(r, f, r->slot + 1, true);
}

static void p_mean(const struct row *r, FILE *f)
{
	print_over_runs(r, f, fold_sum, true, true);
}

static void p_max(const struct row *r, FILE *f)
{
	print_over_runs(r, f, fold_max, true, false);
}

static void c_servers(const struct row *r, FILE *f)
{
	fprintf(f, "%.0f", number_of(r->tres, "servers"));
}

static void s_sale(const struct row *r, FILE *f)
{
	fputs(text_of(r->sale, "sale"), f);
}

static void s_job(const struct row *r, FILE *f)
{
	fprintf(f, "%.0f", number_of(r->sale, "job"));
}

static void s_user(const struct row *r, FILE *f)
{
	double uid = number_of(r->sale, "uid");
	struct passwd *pw = uid >= 0 && uid <= UINT32_MAX ? getpwuid((uid_t)uid) : NULL;

	if (pw)
		fputs(pw->pw_name, f);
	else
		fprintf(f, "%.0f", uid);
}

static void s_state(const struct row *r, FILE *f)
{
	fputs(text_of(r->sale, "state"), f);
}

static void s_start(const struct row *r, FILE *f)
{
	print_time(f, number_of(r->sale, "start") * r->slot_seconds);
}

static void s_end(const struct row *r, FILE *f)
{
	print_time(f, number_of(r->sale, "completion") * r->slot_seconds);
}

static void s_payment(const struct row *r, FILE *f)
{
	fputs(text_of(r->sale, "payment"), f);
}

static void s_value(const struct row *r, FILE *f)
{
	fputs(text_of(r->sale, "value"), f);
}

static void s_workers(const struct row *r, FILE *f)
{
	print_counts(r, f, "workers", "worker_type");
}

static void s_ps(const struct row *r, FILE *f)
{
	print_counts(r, f, "ps", "ps_type");
}

static void s_nodes(const struct row *r, FILE *f)
{
	static const char *const roles[] = {"ps", "workers"};
	struct json_object *ps = counts_of(r, roles[0]), *counts;
	const char *comma = "";

	for (unsigned i = 0; i < 2; i++) {
		if (!(counts = counts_of(r, roles[i])))
			continue;
		json_object_object_foreach(counts, server, count)
		{
			(void)count;
			if (i && ps && json_object_object_get_ex(ps, server, NULL))
				continue;
			fprintf(f, "%s%s", comma, server);
			comma = ",";
		}
	}
}

static void t_name(const struct row *r, FILE *f)
{
	fputs(r->key, f);
}

static void t_value(const struct row *r, FILE *f)
{
	if (r->is_time)
		print_time(f, json_object_get_double(r->value));
	else if (json_object_is_type(r->value, json_type_double))
		fprintf(f, "%.6g", json_object_get_double(r->value));
	else
		fputs(json_object_get_string(r->value), f);
}
