/* history.c - see history.h. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <libsmartcols.h>

#include "auction/memory/price_log.h"
#include "base/json.h"
#include "sprice/columns.h"
#include "sprice/filter.h"
#include "sprice/history.h"
#include "sprice/picture.h"

#define BIN_MAX 1e9

static const char *const lists[] = {"shapes", "classes"};

static bool add_line(struct json_object *classes, struct json_object *series, bool shape,
		     int64_t *first, int64_t *last);
static void print_heat(struct json_object *series, int width, int64_t first, int64_t last);
static void h_name(const struct row *r, FILE *f);
static void h_kind(const struct row *r, FILE *f);
static void h_slots(const struct row *r, FILE *f);
static void h_none(const struct row *r, FILE *f);
static void h_min(const struct row *r, FILE *f);
static void h_median(const struct row *r, FILE *f);
static void h_p90(const struct row *r, FILE *f);
static void h_max(const struct row *r, FILE *f);
static void h_bid50(const struct row *r, FILE *f);
static void h_bid90(const struct row *r, FILE *f);
static void h_bid100(const struct row *r, FILE *f);
static void h_now50(const struct row *r, FILE *f);
static void h_now90(const struct row *r, FILE *f);
static void h_now100(const struct row *r, FILE *f);
static void h_share(const struct row *r, FILE *f);
static void h_sharenow(const struct row *r, FILE *f);

const struct field columns_of_history[] = {
	{"name", "NAME", 0, h_name, "standard shape, or partition and kind of GPU"},
	{"kind", "KIND", 0, h_kind, "shape or class"},
	{"slots", "SLOTS", SCOLS_FL_RIGHT, h_slots, "in how many slots it was looked at"},
	{"none", "NONE%", SCOLS_FL_RIGHT, h_none, "in how many of them it could not be had"},
	{"min", "MIN", SCOLS_FL_RIGHT, h_min,
	 "lowest price, at the first start; of a class: of a unit"},
	{"median", "MEDIAN", SCOLS_FL_RIGHT, h_median, "it was no higher in half of the slots"},
	{"p90", "P90", SCOLS_FL_RIGHT, h_p90, "or in 90 % of them"},
	{"max", "MAX", SCOLS_FL_RIGHT, h_max, "highest price"},
	{"bid50", "BID50", SCOLS_FL_RIGHT, h_bid50,
	 "bid that would have bought it, for whatever start, in half of the slots"},
	{"bid90", "BID90", SCOLS_FL_RIGHT, h_bid90, "or in 90 % of them"},
	{"bid100", "BID100", SCOLS_FL_RIGHT, h_bid100, "or in all"},
	{"now50", "NOW50", SCOLS_FL_RIGHT, h_now50, "the same for the first start"},
	{"now90", "NOW90", SCOLS_FL_RIGHT, h_now90, "likewise"},
	{"now100", "NOW100", SCOLS_FL_RIGHT, h_now100, "likewise"},
	{"share", "BOUGHT%", SCOLS_FL_RIGHT, h_share,
	 "in how many slots --bid would have bought it, for whatever start"},
	{"sharenow", "ATONCE%", SCOLS_FL_RIGHT, h_sharenow, "or for the first start"},
	{NULL, NULL, 0, NULL, NULL},
};

/* -- columns -- */

static void h_name(const struct row *r, FILE *f)
{
	fputs(status_text(r->shape, "name"), f);
}

static void h_kind(const struct row *r, FILE *f)
{
	fputs(r->key, f);
}

static void h_slots(const struct row *r, FILE *f)
{
	print_digits(f, 6, status_number(r->value, "moments"));
}

static void h_none(const struct row *r, FILE *f)
{
	print_fixed(f, 0,
		    100 * status_number(r->value, "none") / status_number(r->value, "moments"));
}

/* The price that was not exceeded in so many PARTS of the slots in which there was one. */
static void print_part(FILE *f, const struct row *r, size_t parts)
{
	double price = status_item(status_within(r->value, "now"), parts);

	if (isnan(price))
		fputc('-', f);
	else
		print_fixed(f, 6, price);
}

static void h_min(const struct row *r, FILE *f)
{
	print_part(f, r, 0);
}

static void h_median(const struct row *r, FILE *f)
{
	print_part(f, r, AUC_PRICE_LOG_PARTS / 2);
}

static void h_p90(const struct row *r, FILE *f)
{
	print_part(f, r, AUC_PRICE_LOG_PARTS * 9 / 10);
}

static void h_max(const struct row *r, FILE *f)
{
	print_part(f, r, AUC_PRICE_LOG_PARTS);
}

/* What had to be bid in PERCENT of all slots: a cent above the price, as a bid buys only what it is
 * worth more than. */
static void print_bid(FILE *f, const struct row *r, const char *which, double percent)
{
	double n = status_number(r->value, "moments"), m = n - status_number(r->value, "none");
	double need = ceil(percent * n / 100 - 1e-9), price;

	if (!status_within(r->value, "low") || !(n > 0) || isinf(n) || isnan(m)) {
		fputc('-', f);
		return;
	}
	if (!(m > 0) || need > m) {
		fputs("never", f);
		return;
	}
	price = status_item(status_within(r->value, which),
			    (size_t)ceil(AUC_PRICE_LOG_PARTS * need / m - 1e-9));
	print_fixed(f, 2, floor(price * 100 + 1e-6) / 100 + 0.01);
}

static void h_bid50(const struct row *r, FILE *f)
{
	print_bid(f, r, "low", 50);
}

static void h_bid90(const struct row *r, FILE *f)
{
	print_bid(f, r, "low", 90);
}

static void h_bid100(const struct row *r, FILE *f)
{
	print_bid(f, r, "low", 100);
}

static void h_now50(const struct row *r, FILE *f)
{
	print_bid(f, r, "now", 50);
}

static void h_now90(const struct row *r, FILE *f)
{
	print_bid(f, r, "now", 90);
}

static void h_now100(const struct row *r, FILE *f)
{
	print_bid(f, r, "now", 100);
}

/* To two parts in a hundred, rounded down. */
static void print_share(FILE *f, const struct row *r, const char *which)
{
	struct json_object *list = status_within(r->value, which);
	double n = status_number(r->value, "moments"), m = n - status_number(r->value, "none");
	size_t parts = 0;

	if (!status_within(r->value, "low") || !(n > 0) || r->bid < 0) {
		fputc('-', f);
		return;
	}
	while (parts < AUC_PRICE_LOG_PARTS && status_item(list, parts + 1) < r->bid)
		parts++;
	print_fixed(f, 0, 100.0 * (double)parts / AUC_PRICE_LOG_PARTS * m / n);
}

static void h_share(const struct row *r, FILE *f)
{
	print_share(f, r, "low");
}

static void h_sharenow(const struct row *r, FILE *f)
{
	print_share(f, r, "now");
}

/* -- in a terminal -- */

int history_heat(const struct show *s, struct json_object *history)
{
	double now = status_number(history, "time"), bin = AUC_PRICE_LOG_BIN;
	int64_t last = (int64_t)floor(now / bin);
	int64_t first =
		(int64_t)floor((now - (s->week ? AUC_PRICE_LOG_WEEK : AUC_PRICE_LOG_DAY)) / bin);
	struct json_object *list, *series;
	char from[32], to[32];
	int width = 0;

	if (!(now >= 0 && now < BIN_MAX * bin))
		return fail("--heat: these past prices are of no time");
	/* First how wide the names are, then their lines. */
	for (int pass = 0; pass < 2; pass++)
		for (unsigned k = 0; k < sizeof(lists) / sizeof(*lists); k++) {
			list = status_within(history, lists[k]);
			for (size_t i = 0; json_object_is_type(list, json_type_array) &&
					   i < json_object_array_length(list);
			     i++) {
				series = json_object_array_get_idx(list, i);
				if (k && !show_has_class(s, status_text(series, "name")))
					continue;
				if (pass)
					print_heat(series, width, first, last);
				else
					width = (int)fmax(width,
							  strlen(status_text(series, "name")));
			}
		}
	if (s->noheader)
		return EXIT_SUCCESS;
	printf("%*s %s to %s; a column is four hours, blank: not looked at\n", width, "",
	       picture_time((double)first * bin, from, sizeof(from)),
	       picture_time((double)(last + 1) * bin, to, sizeof(to)));
	picture_legend(width, "the number behind it, X it could not be had");
	return EXIT_SUCCESS;
}

/* A column for each bin from FIRST to LAST, then what the darkest is of. */
static void print_heat(struct json_object *series, int width, int64_t first, int64_t last)
{
	struct json_object *line = status_within(series, "line"), *bin;
	size_t n = json_object_is_type(line, json_type_array) ? json_object_array_length(line) : 0;
	char columns[(int)(AUC_PRICE_LOG_WEEK / AUC_PRICE_LOG_BIN) + 3];
	double most = 0, at;

	memset(columns, ' ', sizeof(columns));
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++) {
			bin = json_object_array_get_idx(line, i);
			at = status_item(bin, 0);
			if (!(at >= (double)first && at <= (double)last))
				continue;
			if (pass)
				columns[(int64_t)at - first] = picture_shade(
					status_item(bin, 3), most, !(status_item(bin, 1) > 0));
			else if (status_item(bin, 1) > 0)
				most = fmax(most, status_item(bin, 3));
		}
	printf("%-*s %.*s %.6f\n", width, status_text(series, "name"), (int)(last - first + 1),
	       columns, most);
}

/* -- the picture -- */

/* The shapes, or the classes of nodes where there are none, as a summary, for its picture. */
int history_plot(const struct show *s, struct json_object *history)
{
	struct json_object *o = json_object_new_object(), *classes = json_object_new_array();
	struct json_object *list = status_within(history, "shapes");
	bool shape = json_object_is_type(list, json_type_array) && json_object_array_length(list);
	int64_t first = INT64_MAX, last = 0;
	bool ok = o && classes;
	int code;

	if (!shape)
		list = status_within(history, "classes");
	for (size_t i = 0;
	     ok && json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
	     i++)
		ok = add_line(classes, json_object_array_get_idx(list, i), shape, &first, &last);
	ok = ok && auc_json_add_double(o, "slot_seconds", AUC_PRICE_LOG_BIN) &&
	     auc_json_add_int(o, "first", first) && auc_json_add_int(o, "last", last) &&
	     auc_json_add_text(o, "unit", shape ? "credits" : "") &&
	     auc_json_add(o, "classes", json_object_get(classes));
	code = !ok            ? fail("out of memory")
	       : first > last ? fail("--plot: there are no past prices yet")
			      : picture_plot(s, o, s->plot);
	json_object_put(classes);
	json_object_put(o);
	return code;
}

static bool add_line(struct json_object *classes, struct json_object *series, bool shape,
		     int64_t *first, int64_t *last)
{
	struct json_object *line = status_within(series, "line"), *o = json_object_new_object();
	struct json_object *times = json_object_new_array(), *t, *bin;
	const char *name = status_text(series, "name");
	char partition[256];
	bool ok = o && times;

	snprintf(partition, sizeof(partition), "%.*s", (int)strcspn(name, "/"), name);
	for (size_t i = 0;
	     ok && json_object_is_type(line, json_type_array) && i < json_object_array_length(line);
	     i++) {
		int64_t at;

		bin = json_object_array_get_idx(line, i);
		if (!(status_item(bin, 1) > 0) || !(status_item(bin, 0) >= 0) ||
		    status_item(bin, 0) > BIN_MAX)
			continue;
		at = (int64_t)status_item(bin, 0);
		*first = at < *first ? at : *first;
		*last = at > *last ? at : *last;
		t = json_object_new_array();
		ok = t && auc_json_push(t, json_object_new_int64(at)) &&
		     auc_json_push(t, json_object_new_int64(at)) &&
		     auc_json_push(t, json_object_new_double(status_item(bin, 1))) &&
		     auc_json_push(t, json_object_new_double(status_item(bin, 2))) &&
		     auc_json_push(t, json_object_new_double(status_item(bin, 3))) &&
		     auc_json_push(t, json_object_new_double(status_item(bin, 4))) &&
		     auc_json_push(times, t);
	}
	ok = ok && auc_json_add_text(o, "partition", shape ? "shape" : partition) &&
	     auc_json_add_text(o, "tres", shape ? name : name + strcspn(name, "/") + 1) &&
	     auc_json_add(o, "times", json_object_get(times)) &&
	     auc_json_push(classes, json_object_get(o));
	json_object_put(times);
	json_object_put(o);
	return ok;
}
