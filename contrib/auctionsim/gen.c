/*
 * gen.c - see gen.h. A setting is a table of parameters, each a range to draw from, and a function
 * that writes the scenario. What is drawn is rounded to a few decimals, so that the file says
 * exactly what a policy computes with.
 */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "bid.h"
#include "gen.h"
#include "jsonio.h"
#include "num.h"
#include "scenario.h"
#include "text.h"

#define PARAMETERS_MAX 40

/* A range, or where low is high a number, or one of several words (the index of it). */
struct value {
	double low, high;
};

struct parameter {
	const char *name;
	struct value preset;
	double min, max;
	bool range; /* may be LOW:HIGH */
	bool whole;
	const char *const *words; /* NULL: numbers */
	const char *help;
};

struct gen {
	const struct gen_setting *setting;
	struct value values[PARAMETERS_MAX];
	uint64_t random;
	FILE *out;
};

struct gen_setting {
	const char *name;
	const struct parameter *parameters;
	unsigned nparameters;
	bool (*write)(struct gen *g); /* false: no memory */
};

static bool write_dps(struct gen *g);
static struct json_object *dps_type(struct gen *g, bool ps, unsigned i);
static struct json_object *dps_server(struct gen *g, unsigned i, bool cloud);
static struct json_object *dps_job(struct gen *g, unsigned i);
static struct json_object *dps_utility(struct gen *g, double work);
static struct json_object *dps_seconds(struct gen *g, bool ps);
static struct json_object *dps_upload(struct gen *g);
static enum auc_code set_parameter(struct gen *g, const char *text, struct auc_err *err);
static enum auc_code set_word(const struct parameter *p, const char *text, struct value *v,
			      struct auc_err *err);
static enum auc_code set_range(const struct parameter *p, const char *text, struct value *v,
			       struct auc_err *err);
static double draw(struct gen *g, unsigned parameter, unsigned decimals);
static double uniform(struct gen *g);
static unsigned pick(struct gen *g, unsigned n);
static bool put(struct gen *g, const char *before, struct json_object *o);
static bool add_number(struct json_object *o, const char *key, double value);
static bool add_named(struct json_object *o, const char *prefix, unsigned i, double value);

/* R. Zhou et al.: "DPS: Dynamic Pricing and Scheduling for Distributed Machine Learning Jobs in
 * Edge-Cloud Networks", IEEE TMC 2023, section 6.1. */
enum {
	SERVERS,
	JOBS,
	SLOTS,
	SLOT_SECONDS,
	TYPES,
	PS_TYPES,
	ARRIVAL,
	EPOCHS,
	CHUNKS,
	MINIBATCHES,
	WORKER_SLOTS,
	PS_MS,
	GRADIENT,
	UPLOAD,
	CLOUD_UPLOAD,
	UTILITY,
	KAPPA,
	LINEAR_A,
	LINEAR_B,
	INVERSE_A,
	BANDWIDTH,
	PS_BANDWIDTH,
	EDGE_WORKERS,
	EDGE_PS,
	CLOUD_WORKERS,
	CLOUD_PS,
	SPREAD,
	DPS_PARAMETERS
};

static const char *const utilities[] = {"sigmoid", "linear", "inverse", NULL};
static const char *const spreads[] = {"each", "one", NULL};

static const struct parameter dps_parameters[] = {
	[SERVERS] = {"servers", {100, 100}, 0, 100000, false, true, NULL, "edge servers"},
	[JOBS] = {"jobs", {100, 100}, 0, 1000000, false, true, NULL, "jobs"},
	[SLOTS] = {"slots", {150, 150}, 1, AUC_SLOTS_MAX, false, true, NULL, "slots T"},
	[SLOT_SECONDS] = {"slot_seconds", {3600, 3600}, 1, 1e6, false, true, NULL, "seconds"},
	[TYPES] = {"worker_types", {5, 5}, 1, 8, false, true, NULL, "worker types"},
	[PS_TYPES] = {"ps_types", {5, 5}, 1, 8, false, true, NULL, "PS types"},
	[ARRIVAL] = {"arrival",
		     {0, 0},
		     0,
		     AUC_SLOTS_MAX,
		     true,
		     true,
		     NULL,
		     "slot of arrival; 0: 1 to T"},
	[EPOCHS] = {"epochs", {20, 60}, 1, 1e6, true, true, NULL, "E_j"},
	[CHUNKS] = {"chunks", {27, 115}, 1, 1e6, true, true, NULL, "D_j"},
	[MINIBATCHES] = {"minibatches", {10, 58}, 1, 1e6, true, true, NULL, "M_j"},
	[WORKER_SLOTS] =
		{"worker_slots", {0.001, 0.05}, 0, 1e4, true, false, NULL, "e_j^w, in slots"},
	[PS_MS] = {"ps_ms", {10, 100}, 0, 1e9, true, true, NULL, "g_j^p, in ms"},
	[GRADIENT] = {"gradient_mb", {30, 575}, 0, 1e6, true, false, NULL, "m_j, in MB"},
	[UPLOAD] = {"upload", {1, 4}, 0, 1e6, true, true, NULL, "slots until data are at the edge"},
	[CLOUD_UPLOAD] = {"cloud_upload", {10, 15}, 0, 1e6, true, true, NULL, "and in the cloud"},
	[UTILITY] = {"utility",
		     {0, 0},
		     0,
		     0,
		     false,
		     false,
		     utilities,
		     "sigmoid 100 kappa / (1 + e^(0.02 x)), linear a T - b x, "
		     "inverse a E D M (T - x) / x"},
	[KAPPA] = {"kappa", {1, 5}, 0, 1e6, true, false, NULL, "of the sigmoid"},
	[LINEAR_A] = {"linear_a", {10, 20}, 0, 1e4, true, false, NULL, "a of the linear form"},
	[LINEAR_B] = {"linear_b", {1, 5}, 0, 1e6, true, false, NULL, "b of the linear form"},
	[INVERSE_A] = {"inverse_a", {1, 5}, 0, 10, true, false, NULL, "a of the inverse form"},
	[BANDWIDTH] = {"bandwidth", {100, 5120}, 1, 1e9, true, true, NULL, "b_w, Mbit/s"},
	[PS_BANDWIDTH] = {"ps_bandwidth", {5120, 20480}, 1, 1e9, true, true, NULL, "b_p, Mbit/s"},
	[EDGE_WORKERS] = {"workers", {1, 5}, 0, 1e6, true, true, NULL, "C_sw of an edge server"},
	[EDGE_PS] = {"ps", {1, 3}, 0, 1e6, true, true, NULL, "C_sp of an edge server"},
	[CLOUD_WORKERS] =
		{"cloud_workers",
		 {100, 100},
		 0,
		 1e6,
		 true,
		 true,
		 NULL,
		 "C_sw of the cloud (the paper does not say); 0 and cloud_ps=0: no cloud"},
	[CLOUD_PS] = {"cloud_ps", {50, 50}, 0, 1e6, true, true, NULL, "C_sp of the cloud"},
	[SPREAD] = {"spread",
		    {0, 0},
		    0,
		    0,
		    false,
		    false,
		    spreads,
		    "an edge server has that many of each type, or of one worker type and one PS "
		    "type"},
};

static const struct gen_setting settings[] = {
	{"dps", dps_parameters, DPS_PARAMETERS, write_dps},
};

const struct gen_setting *gen_find(const char *name)
{
	unsigned i;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (!strcmp(settings[i].name, name))
			return &settings[i];
	return NULL;
}

const struct gen_setting *gen_at(unsigned i)
{
	return i < sizeof(settings) / sizeof(settings[0]) ? &settings[i] : NULL;
}

const char *gen_name(const struct gen_setting *g)
{
	return g->name;
}

void gen_print_help(const struct gen_setting *g, FILE *out)
{
	const struct parameter *p;
	char text[80], low[AUC_NUMBER_LEN], high[AUC_NUMBER_LEN];

	for (p = g->parameters; p < g->parameters + g->nparameters; p++) {
		auc_number_str(p->preset.low, low);
		auc_number_str(p->preset.high, high);
		if (p->words)
			snprintf(text, sizeof(text), "%s", p->words[(unsigned)p->preset.low]);
		else if (strcmp(low, high) != 0)
			snprintf(text, sizeof(text), "%s:%s", low, high);
		else
			snprintf(text, sizeof(text), "%s", low);
		fprintf(out, "  %-14s %-12s %s\n", p->name, text, p->help);
	}
}

enum auc_code gen_write(const struct gen_setting *setting, char *const *parameters, unsigned n,
			uint64_t seed, FILE *out, struct auc_err *err)
{
	struct gen g = {.setting = setting, .random = seed, .out = out};
	enum auc_code rc = AUC_OK;
	unsigned i;

	for (i = 0; i < setting->nparameters; i++)
		g.values[i] = setting->parameters[i].preset;
	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = set_parameter(&g, parameters[i], err);
	if (rc != AUC_OK)
		return rc;
	if (!setting->write(&g))
		return auc_err_set(err, AUC_ENOMEM, "no memory for a scenario");
	return ferror(out) ? auc_err_set(err, AUC_EIO, "the scenario could not be written")
			   : AUC_OK;
}

static bool write_dps(struct gen *g)
{
	unsigned nworker = (unsigned)g->values[TYPES].low, nps = (unsigned)g->values[PS_TYPES].low;
	unsigned servers = (unsigned)g->values[SERVERS].low, jobs = (unsigned)g->values[JOBS].low;
	bool ok = true, cloud = g->values[CLOUD_WORKERS].high > 0 || g->values[CLOUD_PS].high > 0;
	unsigned i;

	fprintf(g->out,
		"{\"format\": \"" SCENARIO_FORMAT "\", \"name\": \"dps-s%u-j%u\", \"slots\": %.0f, "
		"\"slot_seconds\": %.0f,\n\"worker_types\": [\n",
		servers, jobs, g->values[SLOTS].low, g->values[SLOT_SECONDS].low);
	for (i = 0; i < nworker && ok; i++)
		ok = put(g, i ? ",\n" : "", dps_type(g, false, i));
	fputs("],\n\"ps_types\": [\n", g->out);
	for (i = 0; i < nps && ok; i++)
		ok = put(g, i ? ",\n" : "", dps_type(g, true, i));
	fputs("],\n\"servers\": [\n", g->out);
	for (i = 0; i < servers && ok; i++)
		ok = put(g, i ? ",\n" : "", dps_server(g, i, false));
	if (ok && cloud)
		ok = put(g, servers ? ",\n" : "", dps_server(g, servers, true));
	fputs("],\n\"jobs\": [\n", g->out);
	for (i = 0; i < jobs && ok; i++)
		ok = put(g, i ? ",\n" : "", dps_job(g, i));
	fputs("]}\n", g->out);
	return ok;
}

/* A type has a resource of its own: C_sw and C_sp are counts. */
static struct json_object *dps_type(struct gen *g, bool ps, unsigned i)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_object();
	char name[AUC_NAME_MAX];
	bool ok = o && tres;

	snprintf(name, sizeof(name), "%s%u", ps ? "p" : "w", i + 1);
	ok = ok && auc_json_add_text(o, "name", name) && auc_json_add_int(tres, name, 1) &&
	     auc_json_add(o, "tres", json_object_get(tres)) &&
	     add_number(o, "bandwidth_mbps", draw(g, ps ? PS_BANDWIDTH : BANDWIDTH, 0));
	json_object_put(tres);
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *dps_server(struct gen *g, unsigned i, bool cloud)
{
	struct json_object *o = json_object_new_object(), *capacity = json_object_new_object();
	unsigned nworker = (unsigned)g->values[TYPES].low, nps = (unsigned)g->values[PS_TYPES].low;
	bool one = g->values[SPREAD].low == 1 && !cloud, ok = o && capacity;
	unsigned only_w = one ? pick(g, nworker) : 0, only_p = one ? pick(g, nps) : 0, k;
	char name[AUC_NAME_MAX] = "cloud";

	if (!cloud)
		snprintf(name, sizeof(name), "edge%u", i + 1);
	for (k = 0; k < nworker && ok; k++)
		if (!one || k == only_w)
			ok = add_named(capacity, "w", k + 1,
				       draw(g, cloud ? CLOUD_WORKERS : EDGE_WORKERS, 0));
	for (k = 0; k < nps && ok; k++)
		if (!one || k == only_p)
			ok = add_named(capacity, "p", k + 1,
				       draw(g, cloud ? CLOUD_PS : EDGE_PS, 0));
	ok = ok && auc_json_add_text(o, "name", name) &&
	     auc_json_add_text(o, "site", cloud ? "cloud" : "edge") &&
	     auc_json_add(o, "capacity", json_object_get(capacity));
	json_object_put(capacity);
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *dps_job(struct gen *g, unsigned i)
{
	struct json_object *o = json_object_new_object();
	struct value *arrival = &g->values[ARRIVAL];
	double e, d, m;
	char id[32];
	bool ok = o != NULL;

	if (!arrival->high)
		*arrival = (struct value){1, g->values[SLOTS].low};
	snprintf(id, sizeof(id), "j%u", i + 1);
	ok = ok && auc_json_add_text(o, "id", id) &&
	     add_number(o, "arrival", fmax(1, draw(g, ARRIVAL, 0)));
	e = draw(g, EPOCHS, 0);
	d = draw(g, CHUNKS, 0);
	m = draw(g, MINIBATCHES, 0);
	ok = ok && auc_json_add(o, "utility", dps_utility(g, e * d * m)) &&
	     add_number(o, "epochs", e) && add_number(o, "chunks", d) &&
	     add_number(o, "minibatches", m) &&
	     add_number(o, "gradient_mb", draw(g, GRADIENT, 1)) &&
	     auc_json_add(o, "worker_seconds", dps_seconds(g, false)) &&
	     auc_json_add(o, "ps_seconds", dps_seconds(g, true)) &&
	     auc_json_add(o, "upload_slots", dps_upload(g));
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *dps_utility(struct gen *g, double work)
{
	struct json_object *o = json_object_new_object();
	unsigned form = (unsigned)g->values[UTILITY].low;
	bool ok = o && auc_json_add_text(o, "form", utilities[form]);

	if (form == 0)
		ok = ok && add_number(o, "scale", round(100 * draw(g, KAPPA, 4) * 100) / 100) &&
		     add_number(o, "decay", 0.02);
	else if (form == 1)
		ok = ok &&
		     add_number(o, "intercept",
				round(draw(g, LINEAR_A, 4) * g->values[SLOTS].low * 1e4) / 1e4) &&
		     add_number(o, "slope", draw(g, LINEAR_B, 4));
	else
		ok = ok && add_number(o, "scale", round(draw(g, INVERSE_A, 4) * work));
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *dps_seconds(struct gen *g, bool ps)
{
	struct json_object *o = json_object_new_object();
	unsigned n = (unsigned)g->values[ps ? PS_TYPES : TYPES].low, i;
	double seconds, slot = g->values[SLOT_SECONDS].low;
	bool ok = o != NULL;

	for (i = 0; i < n && ok; i++) {
		seconds = ps ? draw(g, PS_MS, 0) / 1000
			     : round(draw(g, WORKER_SLOTS, 9) * slot * 1000) / 1000;
		ok = add_named(o, ps ? "p" : "w", i + 1, seconds);
	}
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *dps_upload(struct gen *g)
{
	struct json_object *o = json_object_new_object();
	unsigned servers = (unsigned)g->values[SERVERS].low, i;
	bool ok = o != NULL;

	for (i = 0; i < servers && ok; i++)
		ok = add_named(o, "edge", i + 1, draw(g, UPLOAD, 0));
	if (ok && (g->values[CLOUD_WORKERS].high > 0 || g->values[CLOUD_PS].high > 0))
		ok = add_number(o, "cloud", draw(g, CLOUD_UPLOAD, 0));
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

/* -- parameters -- */

static enum auc_code set_parameter(struct gen *g, const char *text, struct auc_err *err)
{
	const struct gen_setting *s = g->setting;
	size_t len = strcspn(text, "=");
	const struct parameter *p;
	unsigned i;

	for (i = 0; i < s->nparameters; i++) {
		p = &s->parameters[i];
		if (text[len] != '=' || strlen(p->name) != len || strncmp(p->name, text, len) != 0)
			continue;
		return p->words ? set_word(p, text + len + 1, &g->values[i], err)
				: set_range(p, text + len + 1, &g->values[i], err);
	}
	return auc_err_set(err, AUC_EINVAL,
			   "'%.80s' is no parameter of setting %s, expected NAME=VALUE, see "
			   "'auctionsim gen %s --help'",
			   text, s->name, s->name);
}

static enum auc_code set_word(const struct parameter *p, const char *text, struct value *v,
			      struct auc_err *err)
{
	char words[100] = "";
	size_t len = 0;
	unsigned i;

	for (i = 0; p->words[i]; i++) {
		if (!strcmp(p->words[i], text)) {
			v->low = v->high = i;
			return AUC_OK;
		}
		len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%s", i ? ", " : "",
					p->words[i]);
	}
	return auc_err_set(err, AUC_EINVAL, "%s: '%.80s', expected one of %s", p->name, text,
			   words);
}

static enum auc_code set_range(const struct parameter *p, const char *text, struct value *v,
			       struct auc_err *err)
{
	const char *colon = strchr(text, ':');
	struct value made;
	enum auc_code rc;
	char low[64];

	snprintf(low, sizeof(low), "%.*s", (int)(colon ? colon - text : 60), text);
	rc = auc_parse_number(low, p->min, p->max, &made.low, p->name, err);
	made.high = made.low;
	if (rc == AUC_OK && colon)
		rc = auc_parse_number(colon + 1, p->min, p->max, &made.high, p->name, err);
	if (rc != AUC_OK)
		return rc;
	if (made.low > made.high || (colon && !p->range) ||
	    (p->whole && (made.low != floor(made.low) || made.high != floor(made.high))))
		return auc_err_set(err, AUC_EINVAL, "%s: '%.80s', expected %s%s", p->name, text,
				   p->whole ? "a whole number" : "a number",
				   p->range ? " or LOW:HIGH" : "");
	*v = made;
	return AUC_OK;
}

/* -- drawing and printing -- */

/* Uniform in the parameter's range, rounded to DECIMALS; of whole numbers each is as likely. */
static double draw(struct gen *g, unsigned parameter, unsigned decimals)
{
	const struct value *v = &g->values[parameter];
	double u = uniform(g), scale = pow(10, decimals);

	if (g->setting->parameters[parameter].whole)
		return v->low + floor(u * (v->high - v->low + 1));
	return round((v->low + u * (v->high - v->low)) * scale) / scale;
}

/* [0, 1): S. Vigna's splitmix64. */
static double uniform(struct gen *g)
{
	uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static unsigned pick(struct gen *g, unsigned n)
{
	return (unsigned)(uniform(g) * n);
}

/* Prints O (NULL: no memory) on one line and gives it up. */
static bool put(struct gen *g, const char *before, struct json_object *o)
{
	const char *text = o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_SPACED) : NULL;

	if (text)
		fprintf(g->out, "%s%s", before, text);
	json_object_put(o);
	return text != NULL;
}

static bool add_number(struct json_object *o, const char *key, double value)
{
	char text[AUC_NUMBER_LEN];

	return auc_json_add(o, key, json_object_new_double_s(value, auc_number_str(value, text)));
}

static bool add_named(struct json_object *o, const char *prefix, unsigned i, double value)
{
	char name[AUC_NAME_MAX];

	snprintf(name, sizeof(name), "%s%u", prefix, i);
	return add_number(o, name, value);
}
