/* price_log.c - see price_log.h. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auction/memory/price_log.h"
#include "base/json.h"
#include "base/list.h"

#define NAME_LEN  200
#define LINE_MAX  65536 /* bytes of a line */
#define TIME_MAX  1e11
#define PRICE_MAX 1e15

struct series {
	enum auc_price_log_kind kind;
	char name[NAME_LEN];
	float now[AUC_PRICE_LOG_MOMENTS], low[AUC_PRICE_LOG_MOMENTS]; /* as the times */
};

struct auc_price_log {
	unsigned first, n; /* a ring */
	double time[AUC_PRICE_LOG_MOMENTS];
	unsigned nseries;
	struct series *series[AUC_PRICE_LOG_SERIES];
};

static unsigned at(const struct auc_price_log *l, unsigned i);
static struct series *series_of(struct auc_price_log *l, enum auc_price_log_kind kind,
				const char *name);
static void print_moment(const struct auc_price_log *l, unsigned i, FILE *out);
static bool read_line(struct auc_price_log *l, const char *line, size_t len, double now);
static bool read_price(struct json_object *list, size_t i, double *price);
static struct json_object *report_of(const struct auc_price_log *l, enum auc_price_log_kind kind,
				     double now);
static bool add_period(struct json_object *o, const char *key, const struct auc_price_log *l,
		       const struct series *s, double since);
static struct json_object *quantiles(const struct auc_price_log *l, const float *price,
				     double since, float *sorted);
static struct json_object *line_of(const struct auc_price_log *l, const struct series *s,
				   double since);
static int by_price(const void *a, const void *b);
static struct json_object *in_short(double v);

struct auc_price_log *auc_price_log_create(void)
{
	return calloc(1, sizeof(struct auc_price_log));
}

void auc_price_log_destroy(struct auc_price_log *l)
{
	for (unsigned i = 0; l && i < l->nseries; i++)
		free(l->series[i]);
	free(l);
}

void auc_price_log_moment(struct auc_price_log *l, double time)
{
	unsigned k;

	while (l->n && l->time[at(l, l->n - 1)] >= time)
		l->n--;
	while (l->n &&
	       (l->time[l->first] < time - AUC_PRICE_LOG_WEEK || l->n == AUC_PRICE_LOG_MOMENTS)) {
		l->first = (l->first + 1) % AUC_PRICE_LOG_MOMENTS;
		l->n--;
	}
	k = at(l, l->n++);
	l->time[k] = time;
	for (unsigned i = 0; i < l->nseries; i++)
		l->series[i]->now[k] = l->series[i]->low[k] = -1;
}

void auc_price_log_add(struct auc_price_log *l, enum auc_price_log_kind kind, const char *name,
		       double now, double low)
{
	struct series *s = l->n ? series_of(l, kind, name) : NULL;
	unsigned k;

	if (!s)
		return;
	k = at(l, l->n - 1);
	s->now[k] = (float)now;
	s->low[k] = (float)low;
}

double auc_price_log_last(const struct auc_price_log *l)
{
	return l->n ? l->time[at(l, l->n - 1)] : 0;
}

unsigned auc_price_log_count(const struct auc_price_log *l)
{
	return l->n;
}

static unsigned at(const struct auc_price_log *l, unsigned i)
{
	return (l->first + i) % AUC_PRICE_LOG_MOMENTS;
}

/* A price below 0: of that nothing is known in the moment. One that is of no moment any more makes
 * room for another. */
static struct series *series_of(struct auc_price_log *l, enum auc_price_log_kind kind,
				const char *name)
{
	struct series *s;
	unsigned i, k;

	for (i = 0; i < l->nseries; i++)
		if (l->series[i]->kind == kind && !strcmp(l->series[i]->name, name))
			return l->series[i];
	if (strlen(name) >= NAME_LEN)
		return NULL;
	if (i == AUC_PRICE_LOG_SERIES) {
		for (i = 0; i < l->nseries; i++) {
			for (k = 0; k < l->n && l->series[i]->now[at(l, k)] < 0; k++)
				;
			if (k == l->n)
				break;
		}
		if (i == l->nseries)
			return NULL;
	}
	if (i == l->nseries) {
		s = malloc(sizeof(*s));
		if (!s)
			return NULL;
		l->series[l->nseries++] = s;
	}
	s = l->series[i];
	s->kind = kind;
	strcpy(s->name, name);
	for (k = 0; k < AUC_PRICE_LOG_MOMENTS; k++)
		s->now[k] = s->low[k] = -1;
	return s;
}

/* -- lines -- */

char *auc_price_log_print(const struct auc_price_log *l, bool all)
{
	char *text = NULL;
	size_t len;
	FILE *out = l->n ? open_memstream(&text, &len) : NULL;

	if (!out)
		return NULL;
	for (unsigned i = all ? 0 : l->n - 1; i < l->n; i++)
		print_moment(l, i, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void print_price(FILE *out, float price)
{
	if (isnan(price))
		fputs(",null", out);
	else
		fprintf(out, ",%.9g", (double)price);
}

static void print_moment(const struct auc_price_log *l, unsigned i, FILE *out)
{
	const char *comma = "";
	unsigned k = at(l, i);

	fprintf(out, "{\"t\":%.15g,\"p\":[", l->time[k]);
	for (unsigned n = 0; n < l->nseries; n++) {
		const struct series *s = l->series[n];

		if (s->now[k] < 0)
			continue;
		/* Names are those of auction.conf and of TRES: nothing in them needs an escape. */
		fprintf(out, "%s[%d,\"%s\"", comma, (int)s->kind, s->name);
		print_price(out, s->now[k]);
		print_price(out, s->low[k]);
		fputc(']', out);
		comma = ",";
	}
	fputs("]}\n", out);
}

unsigned auc_price_log_read(struct auc_price_log *l, const char *text, size_t len, double now)
{
	unsigned bad = 0;

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		bad += !end || !read_line(l, text, n, now);
		n += end != NULL;
		text += n;
		len -= n;
	}
	return bad;
}

static bool is_name(const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
			return false;
	return *name && strlen(name) < NAME_LEN;
}

static bool read_line(struct auc_price_log *l, const char *line, size_t len, double now)
{
	char *copy = len < LINE_MAX ? malloc(len + 1) : NULL;
	struct json_object *o, *list = NULL, *one, *name;
	double time, first, low;
	bool ok;

	if (!copy)
		return false;
	memcpy(copy, line, len);
	copy[len] = '\0';
	o = auc_json_parse(copy, len);
	ok = json_object_is_type(o, json_type_object) &&
	     auc_json_double(o, "t", 0, TIME_MAX, &time, NULL) == AUC_OK && time < now &&
	     time > auc_price_log_last(l) && json_object_object_get_ex(o, "p", &list) &&
	     json_object_is_type(list, json_type_array);
	if (ok)
		auc_price_log_moment(l, time);
	for (size_t i = 0; ok && i < json_object_array_length(list); i++) {
		one = json_object_array_get_idx(list, i);
		if (!json_object_is_type(one, json_type_array) ||
		    json_object_array_length(one) != 4)
			continue;
		name = json_object_array_get_idx(one, 1);
		if (!json_object_is_type(name, json_type_string) ||
		    !is_name(json_object_get_string(name)) || !read_price(one, 2, &first) ||
		    !read_price(one, 3, &low))
			continue;
		auc_price_log_add(l,
				  json_object_get_int(json_object_array_get_idx(one, 0))
					  ? AUC_PRICE_LOG_CLASS
					  : AUC_PRICE_LOG_SHAPE,
				  json_object_get_string(name), first, low);
	}
	json_object_put(o);
	free(copy);
	return ok;
}

static bool read_price(struct json_object *list, size_t i, double *price)
{
	struct json_object *v = json_object_array_get_idx(list, i);

	*price = NAN;
	if (!v)
		return true;
	if (!json_object_is_type(v, json_type_double) && !json_object_is_type(v, json_type_int))
		return false;
	*price = json_object_get_double(v);
	return *price >= 0 && *price <= PRICE_MAX;
}

/* -- the report -- */

struct json_object *auc_price_log_report(const struct auc_price_log *l, double now)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "format", AUC_PRICE_LOG_FORMAT) &&
	    auc_json_add_double(o, "time", now) &&
	    auc_json_add_double(o, "from", l->n ? l->time[l->first] : now) &&
	    auc_json_add_int(o, "moments", l->n) &&
	    auc_json_add(o, "shapes", report_of(l, AUC_PRICE_LOG_SHAPE, now)) &&
	    auc_json_add(o, "classes", report_of(l, AUC_PRICE_LOG_CLASS, now)))
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *report_of(const struct auc_price_log *l, enum auc_price_log_kind kind,
				     double now)
{
	struct json_object *list = json_object_new_array(), *o;
	bool ok = list;

	for (unsigned i = 0; ok && i < l->nseries; i++) {
		const struct series *s = l->series[i];

		if (s->kind != kind)
			continue;
		o = json_object_new_object();
		ok = o && auc_json_add_text(o, "name", s->name) &&
		     add_period(o, "day", l, s, now - AUC_PRICE_LOG_DAY) &&
		     add_period(o, "week", l, s, now - AUC_PRICE_LOG_WEEK) &&
		     auc_json_add(o, "line", line_of(l, s, now - AUC_PRICE_LOG_WEEK));
		ok = auc_json_push_if(ok, list, o);
	}
	return auc_json_if(ok, list);
}

static bool add_period(struct json_object *o, const char *key, const struct auc_price_log *l,
		       const struct series *s, double since)
{
	struct json_object *p = json_object_new_object();
	float *sorted = malloc((l->n + 1) * sizeof(*sorted));
	unsigned n = 0, none = 0;
	bool ok;

	for (unsigned i = 0; i < l->n; i++) {
		float price = s->now[at(l, i)];

		if (l->time[at(l, i)] < since || price < 0)
			continue;
		n++;
		none += isnan(price);
	}
	ok = p && sorted && auc_json_add_int(p, "moments", n) &&
	     auc_json_add_int(p, "none", none) &&
	     auc_json_add(p, "now", quantiles(l, s->now, since, sorted)) &&
	     (s->kind != AUC_PRICE_LOG_SHAPE ||
	      auc_json_add(p, "low", quantiles(l, s->low, since, sorted)));
	free(sorted);
	if (ok)
		return auc_json_add(o, key, p);
	json_object_put(p);
	return false;
}

/* By rank: each is a price that there was. */
static struct json_object *quantiles(const struct auc_price_log *l, const float *price,
				     double since, float *sorted)
{
	struct json_object *list = json_object_new_array();
	unsigned n = 0, rank;

	for (unsigned i = 0; i < l->n; i++)
		if (l->time[at(l, i)] >= since && price[at(l, i)] >= 0)
			sorted[n++] = price[at(l, i)];
	qsort(sorted, n, sizeof(*sorted), by_price);
	for (unsigned i = 0; list && n && i <= AUC_PRICE_LOG_PARTS; i++) {
		rank = (i * n + AUC_PRICE_LOG_PARTS - 1) / AUC_PRICE_LOG_PARTS;
		if (auc_json_push(list, in_short((double)sorted[rank ? rank - 1 : 0])))
			continue;
		json_object_put(list);
		return NULL;
	}
	return list;
}

static int by_price(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static bool push_bin(struct json_object *list, int64_t bin, unsigned n, double low, double sum,
		     double high)
{
	struct json_object *o = json_object_new_array();
	bool ok = o && auc_json_push(o, json_object_new_int64(bin)) &&
		  auc_json_push(o, json_object_new_int64(n)) &&
		  auc_json_push(o, in_short(n ? low : 0)) &&
		  auc_json_push(o, in_short(n ? sum / n : 0)) &&
		  auc_json_push(o, in_short(n ? high : 0));

	if (ok)
		return auc_json_push(list, o);
	json_object_put(o);
	return false;
}

static struct json_object *line_of(const struct auc_price_log *l, const struct series *s,
				   double since)
{
	struct json_object *list = json_object_new_array();
	int64_t bin = 0, here;
	unsigned n = 0;
	double low = 0, sum = 0, high = 0;
	bool ok = list, open = false;

	for (unsigned i = 0; ok && i < l->n; i++) {
		double price = (double)s->now[at(l, i)];

		if (l->time[at(l, i)] < since || price < 0)
			continue;
		here = (int64_t)(l->time[at(l, i)] / AUC_PRICE_LOG_BIN);
		if (open && here != bin) {
			ok = push_bin(list, bin, n, low, sum, high);
			open = false;
		}
		if (!open) {
			open = true;
			bin = here;
			n = 0;
			low = sum = high = 0;
		}
		if (isnan(price))
			continue;
		low = n ? fmin(low, price) : price;
		high = n ? fmax(high, price) : price;
		sum += price;
		n++;
	}
	return auc_json_if(ok && (!open || push_bin(list, bin, n, low, sum, high)), list);
}

/* Prices are kept as floats, which have no more digits. */
static struct json_object *in_short(double v)
{
	char text[AUC_NUMBER_LEN];

	if (v < 1e9)
		v = round(v * 1e6) / 1e6;
	snprintf(text, sizeof(text), "%.7g", v);
	return json_object_new_double_s(v, text);
}
