/*
 * show.c - see show.h. What a column shows is in columns.c.
 */
#include "config.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <json-c/json.h>
#include <libsmartcols.h>

#include "auction/memory/price_log.h"
#include "auction/summary.h"
#include "base/json.h"
#include "pricing/fit.h"
#include "sprice/columns.h"
#include "sauction/width.h"
#include "sprice/filter.h"
#include "sprice/history.h"
#include "sprice/picture.h"
#include "sprice/show.h"

#define FIELDS_MAX 32

/* Where the rows of a view go. */
struct table {
	const struct field *fields[FIELDS_MAX];
	int widths[FIELDS_MAX]; /* sauction/width.h */
	unsigned n;
	struct libscols_table *scols; /* NULL: parsable */
	bool open;                    /* it has all its columns */
	const struct show *show;
};

static int show_rows(const struct show *s, struct json_object *status, struct row *row,
		     const struct field *fields, const char *preset,
		     int (*add)(struct table *t, struct json_object *status, struct row *row));
static void say_nothing(const struct show *s, struct json_object *status, bool is_empty);
static int table_open(struct table *t, const struct show *s, const struct field *fields,
		      const char *preset);
static int table_field(struct table *t, const struct field *fields, char *name);
static void print_headings(const struct table *t, char between);
static int table_row(struct table *t, const struct row *row);
static int show_summary(const struct show *s, struct json_object *status, struct row *row);
static int add_summary(struct table *t, struct json_object *summary, struct row *row);
static int add_times(struct table *t, struct json_object *summary, struct row *row);
static int add_board(struct table *t, struct json_object *status, struct row *row);
static int show_history(const struct show *s, struct json_object *history, struct row *row);
static int add_history(struct table *t, struct json_object *history, struct row *row);
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

struct json_object *status_parse(const char *text, size_t len)
{
	struct json_object *status = auc_json_parse(text, len);

	if (status && (!strcmp(status_text(status, "format"), "auction-status/1") ||
		       !strcmp(status_text(status, "format"), AUC_SUMMARY_FORMAT)))
		return status;
	json_object_put(status);
	return NULL;
}

struct json_object *history_parse(const char *text, size_t len)
{
	struct json_object *history = auc_json_parse(text, len);

	if (history && !strcmp(status_text(history, "format"), AUC_PRICE_LOG_FORMAT))
		return history;
	json_object_put(history);
	return NULL;
}

int fail(const char *fmt, ...)
{
	va_list ap;

	fputs("sprice: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_FAILURE;
}

int status_show(const struct show *s, struct json_object *status)
{
	struct row row = {.slot_seconds = status_number(status, "slot_seconds")};
	struct json_object *ready = status_within(status, "ready");

	if (s->view == VIEW_HISTORY)
		return show_history(s, status, &row);
	if (ready && !json_object_get_boolean(ready)) {
		fail("the auction is closed: %s", status_text(status, "reason"));
		if (!status_within(status, "policy"))
			return EXIT_SUCCESS; /* without auction.conf there is nothing else */
	}
	if (*status_text(status, "warning"))
		fail("warning: %s", status_text(status, "warning"));
	if (s->view <= VIEW_PRICES && s->view != VIEW_BOARD &&
	    !strcmp(status_text(status, "policy"), "posted"))
		fail("each job is offered a price of its own: sbatch --quote says that of yours");
	if (!status_slot(status, &row.slot))
		return fail("the status has no time or no slot_seconds that make sense");
	if (s->view >= VIEW_PRICES && !strcmp(status_text(status, "format"), AUC_SUMMARY_FORMAT))
		return fail("this needs a status file, and slurmctld tells all users prices in "
			    "short only; PublicStatus of auction.conf names a file for them");
	if (s->view >= VIEW_BOARD && filter_check(s, status))
		return EXIT_FAILURE;
	switch (s->view) {
	case VIEW_SUMMARY:
	case VIEW_TIMES:
	case VIEW_HEAT:
		return show_summary(s, status, &row);
	case VIEW_BOARD:
		if (!status_within(status, "board"))
			return fail("there is no board: auction.conf has no line Shape=, or its "
				    "prices are not known yet");
		return show_rows(s, status, &row, columns_of_board,
				 "shape,price,start,partition,low,when,why", add_board);
	case VIEW_HISTORY:
	case VIEW_PRICES:
		break;
	case VIEW_SALES:
		if (status_within(status, "servers") && !status_within(status, "sales"))
			return fail("--sales: this status is the public one, which has none");
		return show_rows(s, status, &row, columns_of_sales,
				 "job,state,user,start,end,workers,ps,nodes,payment,value",
				 add_sales);
	case VIEW_TOTALS:
		return show_rows(s, status, &row, columns_of_totals, "name,value", add_totals);
	case VIEW_CLASSES:
		return show_rows(s, status, &row, columns_of_classes,
				 "partition,tres,capacity,nodes,now,next,mean,max", add_classes);
	case VIEW_LEARNING:
		return show_rows(s, status, &row, columns_of_learning, "name,value", add_learning);
	}
	return show_rows(s, status, &row, columns_of_prices,
			 "server,partition,tres,capacity,used,load,now,next,mean", add_prices);
}

static int show_summary(const struct show *s, struct json_object *status, struct row *row)
{
	bool is_one = !strcmp(status_text(status, "format"), AUC_SUMMARY_FORMAT);
	struct json_object *summary = is_one ? json_object_get(status) : auc_summary_of(status);
	struct json_object *classes;
	int code;

	if (!summary)
		return fail("out of memory");
	classes = status_within(summary, "classes");
	if (json_object_is_type(classes, json_type_array) && !json_object_array_length(classes))
		fail("nothing is for sale now; sinfo shows the state of partitions and nodes");
	if (filter_check(s, summary))
		code = EXIT_FAILURE;
	else if (s->plot)
		code = picture_plot(s, summary, s->plot);
	else if (s->view == VIEW_HEAT)
		code = picture_heat(s, summary);
	else if (s->view == VIEW_TIMES)
		code = show_rows(s, summary, row, columns_of_times,
				 "start,end,partition,gpu,free,low,mean,high", add_times);
	else
		code = show_rows(s, summary, row, columns_of_summary,
				 "partition,gpu,nodes,units,free,now,next,low,when", add_summary);
	json_object_put(summary);
	return code;
}

/* -- tables -- */

static int add_summary(struct table *t, struct json_object *summary, struct row *row)
{
	struct json_object *list = status_within(summary, "classes");
	int code = EXIT_SUCCESS;

	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list) && !code;
	     i++) {
		row->tres = json_object_array_get_idx(list, i);
		row->partition = status_text(row->tres, "partition");
		if (show_has(t->show, row->partition, status_text(row->tres, "tres")))
			code = table_row(t, row);
	}
	return code;
}

static int add_times(struct table *t, struct json_object *summary, struct row *row)
{
	struct json_object *list = status_within(summary, "classes"), *times;
	int code = EXIT_SUCCESS;

	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list) && !code;
	     i++) {
		row->tres = json_object_array_get_idx(list, i);
		row->partition = status_text(row->tres, "partition");
		times = status_within(row->tres, "times");
		if (!show_has(t->show, row->partition, status_text(row->tres, "tres")) ||
		    !json_object_is_type(times, json_type_array))
			continue;
		for (size_t k = 0; k < json_object_array_length(times) && !code; k++) {
			row->value = json_object_array_get_idx(times, k);
			code = table_row(t, row);
		}
	}
	return code;
}

/* What ADD gives the table comes out even if it says that something is missing. */
static int show_rows(const struct show *s, struct json_object *status, struct row *row,
		     const struct field *fields, const char *preset,
		     int (*add)(struct table *t, struct json_object *status, struct row *row))
{
	struct table t;
	int code = table_open(&t, s, fields, preset);

	if (!code)
		code = add(&t, status, row);
	/* Of an empty table libsmartcols prints nothing. */
	if (t.scols && t.open && scols_table_get_nlines(t.scols))
		scols_print_table(t.scols);
	else if (t.scols && t.open && !code)
		print_headings(&t, ' ');
	if (t.scols && !code && !s->noheader)
		say_nothing(s, status, !scols_table_get_nlines(t.scols));
	scols_unref_table(t.scols);
	return code;
}

/* Why a table has headings only, or next to nothing: no failure, so it is said beside it. */
static void say_nothing(const struct show *s, struct json_object *status, bool is_empty)
{
	struct json_object *learning = status_within(status, "learning");

	fflush(stdout);
	if (s->view == VIEW_SALES && is_empty)
		fail("nothing is sold or offered now");
	if ((s->view == VIEW_CLASSES && is_empty) ||
	    (s->view == VIEW_LEARNING && !status_within(learning, "kind")))
		fail("nothing is fitted yet: that takes %d bids that mean something today, and "
		     "%.0f are kept",
		     AUC_FIT_BIDS_MIN, status_number(learning, "kept"));
}

static int table_open(struct table *t, const struct show *s, const struct field *fields,
		      const char *preset)
{
	char *list = strdup(s->format ? s->format : preset), *save = NULL;
	int code = list ? EXIT_SUCCESS : fail("out of memory");

	memset(t, 0, sizeof(*t));
	t->show = s;
	for (char *name = list ? strtok_r(list, ",", &save) : NULL; name && !code;
	     name = strtok_r(NULL, ",", &save))
		code = table_field(t, fields, name);
	free(list);
	if (code)
		return code;
	if (!t->n)
		return fail("--format: expected names of columns, separated by commas");
	if (s->parsable) {
		print_headings(t, '|');
		return EXIT_SUCCESS;
	}
	t->scols = scols_new_table();
	if (!t->scols)
		return fail("out of memory");
	scols_table_enable_noheadings(t->scols, s->noheader);
	for (unsigned i = 0; i < t->n; i++) {
		char *heading = width_fit(t->fields[i]->heading, t->widths[i]);
		/* What has a width is aligned by it. */
		bool good =
			heading && scols_table_new_column(t->scols, heading, 0,
							  t->widths[i] ? 0 : t->fields[i]->flags);

		free(heading);
		if (!good)
			return fail("out of memory");
	}
	t->open = true;
	return EXIT_SUCCESS;
}

/* NAME of --format, one of FIELDS. */
static int table_field(struct table *t, const struct field *fields, char *name)
{
	const struct field *f;
	int width;

	if (!width_take(name, &width))
		return fail("--format: '%s', expected a width from 1 to %d behind the '%%'", name,
			    WIDTH_MAX);
	for (f = fields; f->name && strcasecmp(f->name, name); f++)
		;
	if (!f->name || t->n == FIELDS_MAX)
		return fail("--format: '%s' is no column here; sprice --help lists them", name);
	t->widths[t->n] = width;
	t->fields[t->n++] = f;
	return EXIT_SUCCESS;
}

static void print_headings(const struct table *t, char between)
{
	for (unsigned i = 0; i < t->n && !t->show->noheader; i++)
		printf("%s%c", t->fields[i]->heading, i + 1 < t->n ? between : '\n');
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
		if (!t->scols) {
			printf("%s%s", cell, i + 1 < t->n ? "|" : "\n");
		} else {
			char *text = width_fit(cell, t->widths[i]);

			rc = !text || scols_line_set_data(line, i, text);
			free(text);
		}
		free(cell);
		if (rc)
			return fail("out of memory");
	}
	return EXIT_SUCCESS;
}

static int add_board(struct table *t, struct json_object *status, struct row *row)
{
	struct json_object *list = status_within(status, "board");
	int code = EXIT_SUCCESS;

	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list) && !code;
	     i++) {
		row->shape = json_object_array_get_idx(list, i);
		row->partition = shape_partition(row->shape);
		if (show_has(t->show, row->partition, shape_type(row->shape)))
			code = table_row(t, row);
	}
	return code;
}

/* -- past prices -- */

static int show_history(const struct show *s, struct json_object *history, struct row *row)
{
	if (filter_check(s, history))
		return EXIT_FAILURE;
	if (s->plot)
		return history_plot(s, history);
	if (s->heat)
		return history_heat(s, history);
	row->bid = s->bid;
	return show_rows(s, history, row, columns_of_history,
			 s->bid < 0 ? "name,slots,none,min,median,p90,max,bid50,bid90,bid100"
				    : "name,slots,none,min,median,p90,max,share,sharenow",
			 add_history);
}

static int add_history(struct table *t, struct json_object *history, struct row *row)
{
	static const char *const lists[] = {"shapes", "classes"};
	int code = EXIT_SUCCESS;

	for (unsigned k = 0; k < 2; k++) {
		struct json_object *list = status_within(history, lists[k]);

		for (size_t i = 0; json_object_is_type(list, json_type_array) &&
				   i < json_object_array_length(list) && !code;
		     i++) {
			row->shape = json_object_array_get_idx(list, i);
			row->key = k ? "class" : "shape";
			row->value = status_within(row->shape, t->show->week ? "week" : "day");
			if (k == 0 || show_has_class(t->show, status_text(row->shape, "name")))
				code = table_row(t, row);
		}
	}
	return code;
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
			if (show_has(t->show, row->partition, status_text(row->tres, "name")))
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
	code = show_has(t->show, row->partition, status_text(tres, "name")) ? table_row(t, row)
									    : EXIT_SUCCESS;
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
		if (!auc_json_push(list, one))
			continue;
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
