/* summary.c - see summary.h. */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auction/summary.h"
#include "base/json.h"
#include "base/list.h"

struct span {
	double free, sum, weight, low, high; /* FREE: units times slots */
};

struct class
{
	const char *partition, *tres; /* borrowed of the status */
	unsigned nodes;
	double units;
	struct span spans[AUC_SUMMARY_TIMES];
};

struct summary {
	int64_t first, last;
	unsigned nspans, n;
	int64_t from[AUC_SUMMARY_TIMES + 1]; /* of each span, and one after the last slot */
	struct class classes[AUC_SUMMARY_CLASSES];
};

static bool cut(struct summary *s, struct json_object *status);
static void add_server(struct summary *s, struct json_object *server);
static struct class *class_of(struct summary *s, const char *partition, const char *tres);
static void add_runs(struct summary *s, struct class *c, struct json_object *runs, double capacity);
static void add_run(struct summary *s, struct class *c, struct json_object *run, double capacity);
static struct json_object *classes(const struct summary *s);
static struct json_object *times(const struct summary *s, const struct class *c);
static struct json_object *brief(double v);
static struct json_object *get(struct json_object *o, const char *key, json_type type);
static int by_name(const void *a, const void *b);

struct json_object *auc_summary_of(struct json_object *status)
{
	static const char *const kept[] = {"time",   "ready",        "reason", "warning", "policy",
					   "prices", "slot_seconds", "first",  "last",    "board"};
	struct json_object *o = json_object_new_object(), *v;
	struct summary *s = calloc(1, sizeof(*s));
	struct json_object *servers = get(status, "servers", json_type_array);
	bool ok = o && s && auc_json_add_text(o, "format", AUC_SUMMARY_FORMAT);

	for (size_t i = 0; ok && i < sizeof(kept) / sizeof(*kept); i++)
		if (json_object_object_get_ex(status, kept[i], &v))
			ok = auc_json_add(o, kept[i], json_object_get(v));
	if (ok && cut(s, status)) {
		for (size_t i = 0; servers && i < json_object_array_length(servers); i++)
			add_server(s, json_object_array_get_idx(servers, i));
		qsort(s->classes, s->n, sizeof(*s->classes), by_name);
		ok = auc_json_add(o, "classes", classes(s));
	}
	free(s);
	return auc_json_if(ok, o);
}

/* NULL: there is none of that type. */
static struct json_object *get(struct json_object *o, const char *key, json_type type)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, type) ? v : NULL;
}

/* The spans of time. False: the status has no slots. */
static bool cut(struct summary *s, struct json_object *status)
{
	int64_t step, rest;

	if (auc_json_int(status, "first", 0, INT64_MAX / 2, &s->first, NULL) != AUC_OK ||
	    auc_json_int(status, "last", s->first, INT64_MAX / 2, &s->last, NULL) != AUC_OK)
		return false;
	/* The first two slots have spans of their own. */
	rest = s->last - s->first - 1;
	step = rest > 0 ? (rest + AUC_SUMMARY_TIMES - 3) / (AUC_SUMMARY_TIMES - 2) : 1;
	for (int64_t t = s->first; t <= s->last && s->nspans < AUC_SUMMARY_TIMES;
	     t += s->nspans < 3 ? 1 : step)
		s->from[s->nspans++] = t;
	s->from[s->nspans] = s->last + 1;
	return true;
}

static void add_server(struct summary *s, struct json_object *server)
{
	struct json_object *list = get(server, "tres", json_type_array), *t, *runs;
	const char *partition = json_object_get_string(get(server, "partition", json_type_string));
	const char *name;
	double capacity;
	bool gpus = false, has;

	/* What nodes send together is no node. */
	if (!list || !partition || !*partition || json_object_object_get(server, "hidden") ||
	    !json_object_get_boolean(json_object_object_get(server, "for_sale")))
		return;
	for (size_t k = 0; k < 2 * json_object_array_length(list); k++) {
		bool again = k >= json_object_array_length(list); /* a node without GPUs has CPUs */

		t = json_object_array_get_idx(list, k % json_object_array_length(list));
		name = json_object_get_string(get(t, "name", json_type_string));
		runs = get(t, "runs", json_type_array);
		if (!name || !runs ||
		    auc_json_double(t, "capacity", 0, 1e15, &capacity, NULL) != AUC_OK)
			continue;
		has = !strncmp(name, "gpu", 3);
		gpus |= has;
		if (again ? gpus || strcmp(name, "cpu") != 0 : !has)
			continue;
		add_runs(s, class_of(s, partition, name), runs, capacity);
	}
}

/* NULL: there are too many. */
static struct class *class_of(struct summary *s, const char *partition, const char *tres)
{
	struct class *c;

	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->classes[i].partition, partition) &&
		    !strcmp(s->classes[i].tres, tres))
			return &s->classes[i];
	if (s->n == AUC_SUMMARY_CLASSES)
		return NULL;
	c = &s->classes[s->n++];
	c->partition = partition;
	c->tres = tres;
	return c;
}

static void add_runs(struct summary *s, struct class *c, struct json_object *runs, double capacity)
{
	if (!c)
		return;
	c->nodes++;
	c->units += capacity;
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *run = json_object_array_get_idx(runs, i);

		if (json_object_is_type(run, json_type_array) && json_object_array_length(run) >= 4)
			add_run(s, c, run, capacity);
	}
}

static void add_run(struct summary *s, struct class *c, struct json_object *run, double capacity)
{
	int64_t from = json_object_get_int64(json_object_array_get_idx(run, 0));
	int64_t to = json_object_get_int64(json_object_array_get_idx(run, 1));
	double used = json_object_get_double(json_object_array_get_idx(run, 2));
	double price = json_object_get_double(json_object_array_get_idx(run, 3));

	for (unsigned k = 0; k < s->nspans && s->from[k] <= to; k++) {
		struct span *p = &c->spans[k];
		int64_t a = from > s->from[k] ? from : s->from[k];
		int64_t b = to < s->from[k + 1] - 1 ? to : s->from[k + 1] - 1;
		double slots = (double)(b - a + 1);

		if (b < a)
			continue;
		p->low = p->weight > 0 ? fmin(p->low, price) : price;
		p->high = p->weight > 0 ? fmax(p->high, price) : price;
		p->free += fmax(0, capacity - used) * slots;
		p->sum += price * capacity * slots;
		p->weight += capacity * slots;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct class *x = a, *y = b;
	int d = strcmp(x->partition, y->partition);

	return d ? d : strcmp(x->tres, y->tres);
}

static struct json_object *classes(const struct summary *s)
{
	struct json_object *list = json_object_new_array(), *o;
	bool ok = list;

	for (unsigned i = 0; i < s->n && ok; i++) {
		const struct class *c = &s->classes[i];

		o = json_object_new_object();
		ok = o && auc_json_add_text(o, "partition", c->partition) &&
		     auc_json_add_text(o, "tres", c->tres) &&
		     auc_json_add_int(o, "nodes", c->nodes) &&
		     auc_json_add_number(o, "units", c->units) &&
		     auc_json_add(o, "times", times(s, c));
		ok = auc_json_push_if(ok, list, o);
	}
	return auc_json_if(ok, list);
}

/* With as many digits as anybody reads. */
static struct json_object *brief(double v)
{
	char text[AUC_NUMBER_LEN];

	v = isfinite(v) ? v : 0;
	if (fabs(v) < 1e9)
		v = round(v * 1e6) / 1e6;
	return json_object_new_double_s(v, auc_number_str(v + 0.0, text));
}

static struct json_object *times(const struct summary *s, const struct class *c)
{
	struct json_object *list = json_object_new_array(), *o;
	bool ok = list;

	for (unsigned k = 0; k < s->nspans && ok; k++) {
		const struct span *p = &c->spans[k];
		double slots = (double)(s->from[k + 1] - s->from[k]);
		double mean = p->weight > 0 ? p->sum / p->weight : 0;

		o = json_object_new_array();
		ok = o && auc_json_push(o, json_object_new_int64(s->from[k])) &&
		     auc_json_push(o, json_object_new_int64(s->from[k + 1] - 1)) &&
		     auc_json_push(o, brief(p->free / slots)) && auc_json_push(o, brief(p->low)) &&
		     auc_json_push(o, brief(mean)) && auc_json_push(o, brief(p->high));
		ok = auc_json_push_if(ok, list, o);
	}
	return auc_json_if(ok, list);
}
