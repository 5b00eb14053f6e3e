/* tariff.c - see tariff.h */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "base/json.h"
#include "market/price.h"
#include "pricing/tariff.h"
#include "base/list.h"

#define CLASSES_MAX 1024
#define AMOUNT_MAX  1e18
#define WORTH_MAX   1e30
#define TIME_MAX    1e11
#define COUNT_MAX   1000000000
#define TRAFFIC     "*" /* the group of what all servers may send each other: no partition's name */

static const char *const words[AUC_TARIFF_KINDS] = {"none", "published", "flat", "learned"};

static const char *const forms[AUC_PRICE_FORM_FORMS] = {"none",  "flat",  "level",
							"timed", "mixed", "bounds"};

static unsigned list_classes(struct auc_tariff *t, const struct auc_market *m, unsigned *of);
static unsigned list_class(struct auc_tariff *t, const char *group, const char *tres,
			   double capacity);
static const struct auc_tariff_class *traffic_of(const struct auc_tariff *t);
static unsigned give_runs(const struct auc_tariff *t, const struct auc_tariff_class *c,
			  unsigned server, unsigned tres, struct auc_given_price *list);
static const struct auc_tariff_class *
class_of(const struct auc_tariff *t, const struct auc_market *m, unsigned server, unsigned tres);
static unsigned add_runs(struct auc_tariff *t, struct auc_tariff_class *c, const double *price,
			 unsigned slots, auc_slot first, unsigned step);
static struct json_object *class_json(const struct auc_tariff *t, const struct auc_tariff_class *c);
static struct json_object *runs_json(const struct auc_tariff_run *r, unsigned n);
static bool add_guard(struct json_object *o, const struct auc_tariff_guard *g);
static void print_change(const struct auc_tariff *t, const char *held, char *to, size_t size);
static void print_choice(const struct auc_guard_choice *c, char *to, size_t size);
static void print_comparison(const struct auc_tariff_guard *g, char *to, size_t size);
static enum auc_code read_head(struct json_object *o, struct auc_tariff *t, struct auc_err *err);
static enum auc_code read_guard(struct json_object *o, struct auc_tariff *t, struct auc_err *err);
static enum auc_code read_verdict(struct json_object *o, struct json_object *chosen,
				  struct auc_tariff *t, struct auc_err *err);
static enum auc_code read_kind(struct json_object *o, enum auc_tariff_kind *kind,
			       struct auc_price_choice *prices, struct auc_err *err);
static enum auc_code read_word(struct json_object *o, const char *key, const char *const *list,
			       unsigned n, unsigned *which, struct auc_err *err);
static enum auc_code read_worth(struct json_object *o, struct auc_tariff *t, struct auc_err *err);
static enum auc_code read_count(struct json_object *o, const char *key, unsigned *n,
				struct auc_err *err);
static enum auc_code read_classes(struct json_object *o, struct auc_tariff *t, struct auc_err *err);
static enum auc_code read_class(struct json_object *o, struct auc_tariff *t, struct auc_err *err);
static enum auc_code read_runs(struct json_object *list, struct auc_tariff *t,
			       struct auc_tariff_class *c, struct auc_err *err);
static enum auc_code no_memory(struct auc_err *err);

const char *auc_tariff_word(enum auc_tariff_kind kind)
{
	return words[kind];
}

void auc_tariff_free(struct auc_tariff *t)
{
	if (!t)
		return;
	free(t->classes);
	free(t->runs);
	free(t);
}

struct auc_tariff *auc_tariff_copy(const struct auc_tariff *t)
{
	struct auc_tariff *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *t;
	copy->classes = calloc(t->nclasses + 1, sizeof(*t->classes));
	copy->runs = calloc(t->nruns + 1, sizeof(*t->runs));
	if (!copy->classes || !copy->runs) {
		auc_tariff_free(copy);
		return NULL;
	}
	for (unsigned i = 0; i < t->nclasses; i++)
		copy->classes[i] = t->classes[i];
	for (unsigned i = 0; i < t->nruns; i++)
		copy->runs[i] = t->runs[i];
	return copy;
}

enum auc_code auc_tariff_set(struct auc_tariff *t, const struct auc_market *m,
			     const struct auc_given_price *list, size_t n, struct auc_err *err)
{
	auc_slot first = auc_market_first(m), last = auc_market_last(m);
	unsigned slots = (unsigned)(last - first) + 1, step, rows, i;
	unsigned ntres = auc_market_ntres(m);
	unsigned cells = auc_market_nservers(m) * ntres + 1; /* the last is traffic's */
	unsigned *of = calloc((size_t)cells + 1, sizeof(*of));
	double *price;

	t->classes = calloc((size_t)cells + 1, sizeof(*t->classes));
	rows = of && t->classes ? list_classes(t, m, of) : 0;
	price = calloc((size_t)rows * slots + 1, sizeof(*price));
	t->runs = calloc(AUC_TARIFF_RUNS + (size_t)rows, sizeof(*t->runs));
	if (!of || !t->classes || !price || !t->runs) {
		free(of);
		free(price);
		return no_memory(err);
	}
	for (size_t k = 0; k < n; k++) {
		unsigned cell = list[k].server == AUC_ANY_SERVER
					? cells - 1
					: list[k].server * ntres + list[k].tres;
		auc_slot from = list[k].from > first ? list[k].from : first;

		for (; of[cell] && from <= list[k].to && from <= last; from++)
			price[(size_t)(of[cell] - 1) * slots + (size_t)(from - first)] =
				list[k].price;
	}
	step = 1;
	while ((size_t)rows * ((slots + step - 1) / step) > AUC_TARIFF_RUNS)
		step++;
	for (i = 0; i < rows; i++)
		t->nruns +=
			add_runs(t, &t->classes[i], price + (size_t)i * slots, slots, first, step);
	free(of);
	free(price);
	return AUC_OK;
}

enum auc_code auc_tariff_give(const struct auc_tariff *t, struct auc_market *m, struct auc_err *err)
{
	unsigned servers = auc_market_nservers(m), ntres = auc_market_ntres(m), s, k;
	const struct auc_tariff_class *traffic = traffic_of(t), *c;
	struct auc_given_price *list;
	size_t n = traffic ? traffic->nruns : 0;
	enum auc_code rc;

	for (s = 0; s < servers; s++)
		for (k = 0; k < ntres; k++)
			n += (c = class_of(t, m, s, k)) ? c->nruns : 0;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return no_memory(err);
	for (n = 0, s = 0; s < servers; s++)
		for (k = 0; k < ntres; k++)
			if ((c = class_of(t, m, s, k)))
				n += give_runs(t, c, s, k, list + n);
	if (traffic)
		n += give_runs(t, traffic, AUC_ANY_SERVER, 0, list + n);
	rc = auc_market_give_prices(m, list, n, err);
	free(list);
	return rc;
}

double auc_tariff_gap(const struct auc_tariff *t)
{
	if (!t->guard.bids || !(t->guard.bound > 0))
		return NAN;
	return 1 - t->guard.worth / t->guard.bound;
}

char *auc_tariff_why(const struct auc_tariff *t)
{
	const struct auc_tariff_guard *g = &t->guard;
	char *text = NULL, what[256] = "", compared[256] = "", taken[64], held[64];
	int n;

	print_choice(&g->choice, held, sizeof(held));
	print_choice(&(struct auc_guard_choice){t->kind, t->choice, g->choice.again || t->moved},
		     taken, sizeof(taken));
	print_change(t, held, what, sizeof(what));
	if (g->bids && !g->flat)
		print_comparison(g, compared, sizeof(compared));
	if (!g->bids)
		n = asprintf(&text, "%s%s: too few bids to compare", taken, what);
	else
		n = asprintf(
			&text,
			"%s%s: replayed, the last %u bids are worth %.6g with %s, %.6g "
			"without prices, %.6g with the published, %.6g with flat and %.6g with "
			"learned ones; at most %.6g%s",
			taken, what, g->bids, g->worth, t->moved ? held : "these",
			g->worth_of[AUC_TARIFF_NONE], g->worth_of[AUC_TARIFF_PUBLISHED],
			g->worth_of[AUC_TARIFF_FLAT], g->worth_of[AUC_TARIFF_LEARNED], g->bound,
			compared);
	return n < 0 ? NULL : text;
}

/* What is not as it was; HELD: what the guard chose. */
static void print_change(const struct auc_tariff *t, const char *held, char *to, size_t size)
{
	time_t since = (time_t)t->other_since;
	char at[32] = "";
	struct tm tm;

	if (since > 0 && localtime_r(&since, &tm))
		strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &tm);
	if (!t->moved && !at[0])
		return;
	snprintf(to, size, "%s%s, as %s%s%s", t->moved ? " instead of " : "", t->moved ? held : "",
		 at[0] ? "since " : "far more or far fewer bids come than before", at,
		 at[0] ? " other bids come than before, and only these are expected" : "");
}

/* "none", "learned (mixed x 0.85, fitted again)" */
static void print_choice(const struct auc_guard_choice *c, char *to, size_t size)
{
	if (c->kind < AUC_TARIFF_FLAT)
		snprintf(to, size, "%s", words[c->kind]);
	else
		snprintf(to, size, "%s (%s x %g%s)", words[c->kind], forms[c->prices.form],
			 c->prices.factor, c->again ? ", fitted again" : "");
}

/* Whether prices that learn were surely better. */
static void print_comparison(const struct auc_tariff_guard *g, char *to, size_t size)
{
	const char *in = g->days > 1 ? "a period" : "the period";
	char error[64] = "";

	if (g->days > 1 && g->error > 0)
		snprintf(error, sizeof(error), " (standard error %.6g)", g->error);
	if (g->needed < 0)
		snprintf(to, size,
			 "; in %s learned prices would have gained %.6g; a loss of %.6g "
			 "is allowed",
			 in, g->gain, -g->needed);
	else
		snprintf(to, size,
			 "; in %s learned prices would have gained %.6g%s; more than %.6g is "
			 "required",
			 in, g->gain, error, g->needed);
}

struct json_object *auc_tariff_event(const struct auc_tariff *t)
{
	struct json_object *o = json_object_new_object(), *worth = json_object_new_object(),
			   *classes = json_object_new_array();
	bool ok = o && worth && classes && auc_json_add_text(o, "event", "prices") &&
		  auc_json_add_text(o, "kind", words[t->kind]) &&
		  auc_json_add_text(o, "form", forms[t->choice.form]) &&
		  auc_json_add_double(o, "factor", t->choice.factor) &&
		  auc_json_add_double(o, "slot_seconds", t->slot_seconds) &&
		  auc_json_add_double(o, "time", t->time) && auc_json_add_int(o, "slot", t->slot) &&
		  auc_json_add_int(o, "bids", t->bids) &&
		  auc_json_add_double(o, "expected", t->expected) &&
		  auc_json_add_double(o, "bound", t->bound) &&
		  (t->other_since == 0 || auc_json_add_double(o, "other_since", t->other_since)) &&
		  auc_json_add_bool(o, "moved", t->moved) && add_guard(o, &t->guard) &&
		  auc_json_add_double(o, "seconds", t->seconds);

	for (unsigned i = 0; ok && i < AUC_TARIFF_KINDS; i++)
		ok = auc_json_add_double(worth, words[i], t->guard.worth_of[i]);
	for (unsigned i = 0; ok && i < t->nclasses; i++)
		ok = auc_json_push(classes, class_json(t, &t->classes[i]));
	if (ok && auc_json_add(o, "worth", json_object_get(worth)) &&
	    auc_json_add(o, "classes", json_object_get(classes))) {
		json_object_put(worth);
		json_object_put(classes);
		return o;
	}
	json_object_put(o);
	json_object_put(worth);
	json_object_put(classes);
	return NULL;
}

static bool add_guard(struct json_object *o, const struct auc_tariff_guard *g)
{
	struct json_object *chosen = json_object_new_object();
	bool ok = chosen && auc_json_add_int(o, "day_bids", g->bids) &&
		  auc_json_add_double(o, "day_worth", g->worth) &&
		  auc_json_add_double(o, "day_bound", g->bound) &&
		  auc_json_add_double(o, "guard_time", g->time) &&
		  auc_json_add_double(o, "guard_seconds", g->seconds) &&
		  auc_json_add_text(chosen, "kind", words[g->choice.kind]) &&
		  auc_json_add_text(chosen, "form", forms[g->choice.prices.form]) &&
		  auc_json_add_double(chosen, "factor", g->choice.prices.factor) &&
		  auc_json_add_bool(chosen, "again", g->choice.again) &&
		  auc_json_add_bool(chosen, "flat", g->flat) &&
		  auc_json_add_int(chosen, "periods", g->days) &&
		  auc_json_add_double(chosen, "gain", g->gain) &&
		  auc_json_add_double(chosen, "error", g->error) &&
		  auc_json_add_double(chosen, "needed", g->needed) &&
		  auc_json_add(o, "guard", json_object_get(chosen));

	json_object_put(chosen);
	return ok;
}

bool auc_tariff_knows(struct json_object *event)
{
	struct json_object *word;

	return json_object_object_get_ex(event, "event", &word) &&
	       json_object_is_type(word, json_type_string) &&
	       !strcmp(json_object_get_string(word), "prices");
}

enum auc_code auc_tariff_read(struct json_object *event, struct auc_tariff **out,
			      struct auc_err *err)
{
	struct auc_tariff *t = calloc(1, sizeof(*t));
	struct auc_err why = {0};
	enum auc_code rc;

	*out = NULL;
	if (!t)
		return no_memory(err);
	rc = read_head(event, t, &why);
	if (rc == AUC_OK)
		rc = read_worth(event, t, &why);
	if (rc == AUC_OK)
		rc = read_classes(event, t, &why);
	if (rc == AUC_OK) {
		*out = t;
		return rc;
	}
	auc_tariff_free(t);
	return rc == AUC_ENOMEM ? no_memory(err)
				: auc_err_set(err, AUC_ECORRUPT, "event 'prices': %s", why.text);
}

/* OF: by server and TRES, and after them of traffic, the index of its class + 1; 0: there is none.
 * Returns how many there are. */
static unsigned list_classes(struct auc_tariff *t, const struct auc_market *m, unsigned *of)
{
	unsigned s, k, ntres = auc_market_ntres(m);
	double budget = auc_market_traffic_budget(m);

	for (s = 0; s < auc_market_nservers(m); s++)
		for (k = 0; k < ntres; k++)
			of[s * ntres + k] = list_class(t, auc_market_server_group(m, s),
						       auc_market_tres_name(m, k),
						       auc_market_capacity(m, s, k));
	if (isfinite(budget))
		of[s * ntres] = list_class(t, TRAFFIC, AUC_TRANSFER, budget);
	return t->nclasses;
}

/* The index + 1 of the class of what a server has, which is made if there is none; 0: it has
 * nothing. */
static unsigned list_class(struct auc_tariff *t, const char *group, const char *tres,
			   double capacity)
{
	struct auc_tariff_class *c = t->classes;

	if (!(capacity > 0))
		return 0;
	while (c < t->classes + t->nclasses &&
	       (c->capacity != capacity || strcasecmp(c->tres, tres) || strcmp(c->group, group)))
		c++;
	if (c == t->classes + t->nclasses) {
		if (t->nclasses == CLASSES_MAX)
			return 0;
		t->nclasses++;
		strcpy(c->group, group);
		strcpy(c->tres, tres);
		c->capacity = capacity;
	}
	c->servers++;
	return (unsigned)(c - t->classes) + 1;
}

/* The class of traffic; NULL: none. */
static const struct auc_tariff_class *traffic_of(const struct auc_tariff *t)
{
	for (unsigned i = 0; i < t->nclasses; i++)
		if (!strcmp(t->classes[i].group, TRAFFIC))
			return &t->classes[i];
	return NULL;
}

/* C's runs to LIST; returns how many. */
static unsigned give_runs(const struct auc_tariff *t, const struct auc_tariff_class *c,
			  unsigned server, unsigned tres, struct auc_given_price *list)
{
	for (unsigned r = 0; r < c->nruns; r++) {
		const struct auc_tariff_run *run = &t->runs[c->first_run + r];

		list[r] = (struct auc_given_price){server, tres, run->from, run->to, run->price};
	}
	return c->nruns;
}

/* The class of SERVER and TRES, or that of its partition with the nearest amount; NULL: none. */
static const struct auc_tariff_class *
class_of(const struct auc_tariff *t, const struct auc_market *m, unsigned server, unsigned tres)
{
	const char *group = auc_market_server_group(m, server),
		   *name = auc_market_tres_name(m, tres);
	double capacity = auc_market_capacity(m, server, tres);
	const struct auc_tariff_class *best = NULL, *c;

	for (unsigned i = 0; i < t->nclasses && capacity > 0; i++) {
		c = &t->classes[i];
		if (!strcasecmp(c->tres, name) && !strcmp(c->group, group) &&
		    (!best || fabs(c->capacity - capacity) < fabs(best->capacity - capacity)))
			best = c;
	}
	return best;
}

/* The prices of C as runs, each the mean of STEP slots; returns how many. */
static unsigned add_runs(struct auc_tariff *t, struct auc_tariff_class *c, const double *price,
			 unsigned slots, auc_slot first, unsigned step)
{
	struct auc_tariff_run *run = NULL;
	unsigned i, k, n;
	double mean;

	c->first_run = t->nruns;
	for (i = 0; i < slots; i += step) {
		n = slots - i < step ? slots - i : step;
		for (mean = 0, k = 0; k < n; k++)
			mean += price[i + k];
		mean /= n;
		if (run && run->price == mean)
			run->to += n;
		else {
			run = &t->runs[c->first_run + c->nruns++];
			*run = (struct auc_tariff_run){first + i, first + i + n - 1, mean};
		}
	}
	if (run)
		run->to = AUC_TARIFF_OPEN;
	return c->nruns;
}

static struct json_object *class_json(const struct auc_tariff *t, const struct auc_tariff_class *c)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "partition", c->group) &&
	    auc_json_add_text(o, "tres", c->tres) &&
	    auc_json_add_double(o, "capacity", c->capacity) &&
	    auc_json_add_int(o, "servers", c->servers) &&
	    auc_json_add(o, "runs", runs_json(t->runs + c->first_run, c->nruns)))
		return o;
	json_object_put(o);
	return NULL;
}

/* [[from, to, price], ...] */
static struct json_object *runs_json(const struct auc_tariff_run *r, unsigned n)
{
	struct json_object *list = json_object_new_array(), *run;
	char text[AUC_NUMBER_LEN];
	bool ok = list;

	for (; ok && n--; r++) {
		run = json_object_new_array();
		ok = run && auc_json_push(run, json_object_new_int64(r->from)) &&
		     auc_json_push(run, json_object_new_int64(r->to)) &&
		     auc_json_push(run, json_object_new_double_s(r->price,
								 auc_number_str(r->price, text)));
		if (ok)
			ok = auc_json_push(list, run);
		else
			json_object_put(run);
	}
	return auc_json_if(ok, list);
}

static enum auc_code read_head(struct json_object *o, struct auc_tariff *t, struct auc_err *err)
{
	enum auc_code rc = read_kind(o, &t->kind, &t->choice, err);
	struct json_object *since;

	if (rc == AUC_OK)
		rc = auc_json_double(o, "slot_seconds", 1e-3, 1e9, &t->slot_seconds, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "time", 0, TIME_MAX, &t->time, err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "slot", -AUC_TARIFF_OPEN, AUC_TARIFF_OPEN, &t->slot, err);
	if (rc == AUC_OK)
		rc = read_count(o, "bids", &t->bids, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "expected", 0, COUNT_MAX, &t->expected, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "bound", 0, WORTH_MAX, &t->bound, err);
	if (rc == AUC_OK && json_object_object_get_ex(o, "other_since", &since))
		rc = auc_json_double(o, "other_since", 0, TIME_MAX, &t->other_since, err);
	if (rc == AUC_OK)
		rc = read_guard(o, t, err);
	return rc == AUC_OK ? auc_json_double(o, "seconds", 0, TIME_MAX, &t->seconds, err) : rc;
}

static enum auc_code read_guard(struct json_object *o, struct auc_tariff *t, struct auc_err *err)
{
	struct auc_tariff_guard *g = &t->guard;
	enum auc_code rc = read_count(o, "day_bids", &g->bids, err);
	struct json_object *chosen;

	if (rc == AUC_OK)
		rc = auc_json_double(o, "day_worth", 0, WORTH_MAX, &g->worth, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "day_bound", 0, WORTH_MAX, &g->bound, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "guard_time", 0, TIME_MAX, &g->time, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "guard_seconds", 0, TIME_MAX, &g->seconds, err);
	if (rc != AUC_OK)
		return rc;
	if (json_object_object_get_ex(o, "guard", &chosen))
		return read_verdict(o, chosen, t, err);
	/* Older records have one period, and only prices that are fitted again. */
	g->days = g->bids > 0;
	g->flat = t->kind == AUC_TARIFF_FLAT;
	g->choice = (struct auc_guard_choice){t->kind, t->choice, true};
	return AUC_OK;
}

static enum auc_code read_verdict(struct json_object *o, struct json_object *chosen,
				  struct auc_tariff *t, struct auc_err *err)
{
	struct auc_tariff_guard *g = &t->guard;
	enum auc_code rc = auc_json_bool(o, "moved", &t->moved, err);

	if (rc == AUC_OK && !json_object_is_type(chosen, json_type_object))
		rc = auc_err_set(err, AUC_EINVAL, "guard: expected an object");
	if (rc == AUC_OK)
		rc = read_kind(chosen, &g->choice.kind, &g->choice.prices, err);
	if (rc == AUC_OK)
		rc = auc_json_bool(chosen, "again", &g->choice.again, err);
	if (rc == AUC_OK)
		rc = auc_json_bool(chosen, "flat", &g->flat, err);
	if (rc == AUC_OK)
		rc = read_count(chosen, "periods", &g->days, err);
	if (rc == AUC_OK)
		rc = auc_json_double(chosen, "gain", -WORTH_MAX, WORTH_MAX, &g->gain, err);
	if (rc == AUC_OK)
		rc = auc_json_double(chosen, "error", 0, WORTH_MAX, &g->error, err);
	return rc == AUC_OK
		       ? auc_json_double(chosen, "needed", -WORTH_MAX, WORTH_MAX, &g->needed, err)
		       : rc;
}

static enum auc_code read_kind(struct json_object *o, enum auc_tariff_kind *kind,
			       struct auc_price_choice *prices, struct auc_err *err)
{
	unsigned word = 0, form = 0;
	enum auc_code rc = read_word(o, "kind", words, AUC_TARIFF_KINDS, &word, err);

	if (rc == AUC_OK)
		rc = read_word(o, "form", forms, AUC_PRICE_FORM_FORMS, &form, err);
	*kind = word;
	prices->form = form;
	return rc == AUC_OK ? auc_json_double(o, "factor", 0, 1e6, &prices->factor, err) : rc;
}

/* Which of LIST[N] stands there. */
static enum auc_code read_word(struct json_object *o, const char *key, const char *const *list,
			       unsigned n, unsigned *which, struct auc_err *err)
{
	char word[AUC_NAME_MAX];
	enum auc_code rc = auc_json_text(o, key, word, sizeof(word), err);

	for (*which = 0; rc == AUC_OK && *which < n; ++*which)
		if (!strcmp(word, list[*which]))
			return AUC_OK;
	*which = 0;
	return rc == AUC_OK ? auc_err_set(err, AUC_EINVAL, "%s: '%s' is none", key, word) : rc;
}

static enum auc_code read_worth(struct json_object *o, struct auc_tariff *t, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct json_object *worth;

	if (!json_object_object_get_ex(o, "worth", &worth))
		return auc_err_set(err, AUC_EINVAL, "worth: is missing");
	for (unsigned i = 0; rc == AUC_OK && i < AUC_TARIFF_KINDS; i++)
		rc = auc_json_double(worth, words[i], 0, WORTH_MAX, &t->guard.worth_of[i], err);
	return rc;
}

static enum auc_code read_count(struct json_object *o, const char *key, unsigned *n,
				struct auc_err *err)
{
	int64_t value = 0;
	enum auc_code rc = auc_json_int(o, key, 0, COUNT_MAX, &value, err);

	*n = (unsigned)value;
	return rc;
}

static enum auc_code read_classes(struct json_object *o, struct auc_tariff *t, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct json_object *list;
	size_t n;

	if (!json_object_object_get_ex(o, "classes", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    (n = json_object_array_length(list)) > CLASSES_MAX)
		return auc_err_set(err, AUC_EINVAL, "classes: expected a list of at most %d",
				   CLASSES_MAX);
	t->classes = calloc(n + 1, sizeof(*t->classes));
	t->runs = calloc(AUC_TARIFF_RUNS + n, sizeof(*t->runs));
	if (!t->classes || !t->runs)
		return no_memory(err);
	for (size_t i = 0; rc == AUC_OK && i < n; i++)
		rc = read_class(json_object_array_get_idx(list, i), t, err);
	return rc;
}

static enum auc_code read_class(struct json_object *o, struct auc_tariff *t, struct auc_err *err)
{
	struct auc_tariff_class *c = &t->classes[t->nclasses++];
	struct json_object *runs = NULL;
	enum auc_code rc;

	if (!json_object_is_type(o, json_type_object))
		return auc_err_set(err, AUC_EINVAL, "classes: expected objects");
	rc = auc_json_text(o, "partition", c->group, sizeof(c->group), err);
	if (rc == AUC_OK)
		rc = auc_json_text(o, "tres", c->tres, sizeof(c->tres), err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "capacity", 0, AMOUNT_MAX, &c->capacity, err);
	if (rc == AUC_OK)
		rc = read_count(o, "servers", &c->servers, err);
	if (rc == AUC_OK && (!json_object_object_get_ex(o, "runs", &runs) ||
			     !json_object_is_type(runs, json_type_array)))
		rc = auc_err_set(err, AUC_EINVAL, "runs: expected a list");
	return rc == AUC_OK ? read_runs(runs, t, c, err) : rc;
}

static enum auc_code read_runs(struct json_object *list, struct auc_tariff *t,
			       struct auc_tariff_class *c, struct auc_err *err)
{
	size_t n = json_object_array_length(list);

	c->first_run = t->nruns;
	if (n > AUC_TARIFF_RUNS || t->nruns + n > AUC_TARIFF_RUNS)
		return auc_err_set(err, AUC_EINVAL, "runs: more than %d", AUC_TARIFF_RUNS);
	for (size_t i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		struct auc_tariff_run *r = &t->runs[t->nruns];
		bool ok = json_object_is_type(one, json_type_array) &&
			  json_object_array_length(one) == 3;

		r->from = ok ? json_object_get_int64(json_object_array_get_idx(one, 0)) : 0;
		r->to = ok ? json_object_get_int64(json_object_array_get_idx(one, 1)) : 0;
		r->price = ok ? json_object_get_double(json_object_array_get_idx(one, 2)) : NAN;
		if (!(r->price >= 0 && r->price <= AUC_PRICE_LIMIT) || r->from < -AUC_TARIFF_OPEN ||
		    r->to < r->from || r->to > AUC_TARIFF_OPEN || (i && r->from <= r[-1].to))
			return auc_err_set(err, AUC_EINVAL,
					   "runs: entry %zu: expected [from, to, price], ascending",
					   i);
		t->nruns++;
		c->nruns++;
	}
	return AUC_OK;
}

static enum auc_code no_memory(struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
}
