/* print.c - see rows.h: the table, and auction-replay/1 (doc/formats.md). */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/replay/rows.h"
#include "base/json.h"
#include "base/list.h"
#include "base/num.h"

#define WIDTH 96

static void print_wrapped(FILE *out, const char *text);
static struct json_object *row_object(const struct replay_rows *r, const struct row *row);
static struct json_object *numbers(const double *list, unsigned n);

enum auc_code rows_print_table(FILE *out, const struct replay_rows *r, struct auc_err *err)
{
	const struct import_log_facts *f = &r->facts;
	enum advice advice;
	char *text;
	enum auc_code rc = verdict_of(r, &advice, &text, err);
	const struct row *row;
	char missing[100];
	unsigned users;

	if (rc != AUC_OK)
		return rc;
	rows_missing(r, missing, sizeof(missing));
	fprintf(out, "%s%s", missing, *missing ? "\n" : "");
	fprintf(out,
		"%u job%s, %u day%s, %u server%s with %g GPU%s; the jobs are %.0f %% of that\n\n",
		f->njobs, auc_plural(f->njobs), f->days, auc_plural(f->days), f->servers,
		auc_plural(f->servers), f->gpus, auc_plural(f->gpus),
		100 * f->gpu_seconds /
			fmax(1e-9, f->gpus * f->days * (double)f->day_slots * f->slot_seconds));
	fprintf(out, "%-10s %7s %8s %9s %9s %8s %8s %8s %7s %7s\n", "", "jobs", "welfare", "users",
		"users", "users'", "wait h", "wait h", "GPUs", "users");
	fprintf(out, "%-10s %7s %8s %9s %9s %8s %8s %8s %7s %7s\n", "", "served", "% of max",
		"gain", "pay", "part %", "mean", "90 %", "used %", "unserved");
	for (row = r->rows; row < r->rows + r->n; row++) {
		double value = row->welfare + row->cost;

		users = row->users_served + row->users_without;
		fprintf(out, "%-10s %7u %8.1f %9.0f %9.0f %8.1f %8.2f %8.2f %7.1f ", row->name,
			row->completed, r->potential > 0 ? 100 * row->welfare / r->potential : 0,
			row_kept(row), row->revenue, value > 0 ? 100 * row_kept(row) / value : 0,
			row->wait_mean, row->wait_p90, 100 * row->used);
		if (users)
			fprintf(out, "%6.1f%%\n", 100.0 * row->users_without / users);
		else
			fputs("     -\n", out);
	}
	fputs("\n", out);
	for (row = r->rows; row < r->rows + r->n; row++)
		fprintf(out, "%-10s %s\n", row->name, row->label);
	for (row = r->rows; row < r->rows + r->n && r->costs; row++)
		fprintf(out, "%s %s %.0f%s",
			row == r->rows ? "\nWelfare is less what nodes cost:" : ",", row->name,
			row->cost, row == r->rows + r->n - 1 ? ".\n" : "");
	fputs("\n", out);
	print_wrapped(out, text);
	print_wrapped(out, r->values);
	free(text);
	return AUC_OK;
}

/* Paragraphs, a line each, in lines of WIDTH. */
static void print_wrapped(FILE *out, const char *text)
{
	size_t len, column = 0;

	while (*text) {
		len = strcspn(text, " \n");
		if (column && column + 1 + len > WIDTH) {
			fputs("\n", out);
			column = 0;
		}
		fprintf(out, "%s%.*s", column ? " " : "", (int)len, text);
		column += len + (column > 0);
		text += len;
		if (*text == '\n') {
			fputs("\n", out);
			column = 0;
		}
		text += *text != '\0';
	}
	if (column)
		fputs("\n", out);
}

enum auc_code rows_print_json(FILE *out, const struct replay_rows *r, struct auc_err *err)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array(), *one;
	const struct import_log_facts *f = &r->facts;
	enum advice advice;
	char *text;
	enum auc_code rc = verdict_of(r, &advice, &text, err);
	bool ok = rc == AUC_OK && o && list;

	ok = ok && auc_json_add_text(o, "format", "auction-replay/1") &&
	     auc_json_add_text(o, "log", r->log) && auc_json_add_double(o, "days", f->days) &&
	     auc_json_add_double(o, "days_of_log", r->whole.days) &&
	     auc_json_add_double(o, "jobs", f->njobs) &&
	     auc_json_add_double(o, "users", f->nusers) &&
	     auc_json_add_double(o, "limits", f->nlimits) &&
	     auc_json_add_double(o, "servers", f->servers) &&
	     auc_json_add_double(o, "gpus", f->gpus) &&
	     auc_json_add_double(o, "slot_seconds", f->slot_seconds) &&
	     auc_json_add_double(o, "slots", (double)f->slots) &&
	     auc_json_add_double(o, "gpu_hours", f->gpu_seconds / 3600) &&
	     auc_json_add_double(o, "gpu_hours_left_out", f->lost_seconds / 3600) &&
	     auc_json_add_double(o, "history", r->history) &&
	     auc_json_add_double(o, "potential", r->potential) &&
	     auc_json_add_text(o, "values", r->values);
	for (unsigned i = 0; ok && i < r->n; i++) {
		one = row_object(r, &r->rows[i]);
		ok = one && !json_object_array_add(list, one);
	}
	ok = ok && auc_json_add(o, "rows", json_object_get(list)) &&
	     auc_json_add_text(o, "advice", verdict_word(advice)) &&
	     auc_json_add_text(o, "recommendation", text);
	if (ok)
		fprintf(out, "%s\n",
			json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
								  JSON_C_TO_STRING_SPACED |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(list);
	json_object_put(o);
	free(text);
	return rc != AUC_OK || ok ? rc : auc_err_set(err, AUC_ENOMEM, "no memory for a result");
}

static struct json_object *row_object(const struct replay_rows *r, const struct row *row)
{
	struct json_object *o = json_object_new_object();
	unsigned users = row->users_served + row->users_without;
	bool ok = o && auc_json_add_text(o, "name", row->name) &&
		  auc_json_add_text(o, "label", row->label) &&
		  auc_json_add_text(o, "prices", row->prices) &&
		  auc_json_add_double(o, "completed", row->completed) &&
		  auc_json_add_double(o, "welfare", row->welfare) &&
		  auc_json_add_double(o, "paid", row->revenue) &&
		  auc_json_add_double(o, "kept", row_kept(row)) &&
		  (!r->costs || auc_json_add_double(o, "cost", row->cost)) &&
		  auc_json_add_double(o, "wait_mean_h", row->wait_mean) &&
		  auc_json_add_double(o, "wait_median_h", row->wait_median) &&
		  auc_json_add_double(o, "wait_p90_h", row->wait_p90) &&
		  auc_json_add_double(o, "utilisation", row->used);

	ok = ok &&
	     (users ? auc_json_add_double(o, "users_unserved", (double)row->users_without / users)
		    : !json_object_object_add(o, "users_unserved", NULL));
	ok = ok && auc_json_add(o, "welfare_by_day", numbers(row->day_welfare, r->facts.days));
	return auc_json_if(ok, o);
}

static struct json_object *numbers(const double *list, unsigned n)
{
	struct json_object *o = json_object_new_array();
	char text[AUC_NUMBER_LEN];

	for (unsigned i = 0; o && i < n; i++)
		json_object_array_add(
			o, json_object_new_double_s(list[i], auc_number_str(list[i], text)));
	return o;
}
