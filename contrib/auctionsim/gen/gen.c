/*
 * gen.c - see gen.h: parameters, drawing and printing. What is drawn is rounded to a few decimals,
 * so that the file says exactly what a policy computes with.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/gen/gen-private.h"
#include "base/json.h"
#include "base/num.h"
#include "base/list.h"

static void spread_arrivals(struct gen *g);
static enum auc_code set_parameter(struct gen *g, const char *text, struct auc_err *err);
static enum auc_code set_word(const struct parameter *p, const char *text, struct value *v,
			      struct auc_err *err);
static enum auc_code set_range(const struct parameter *p, const char *text, struct value *v,
			       struct auc_err *err);

static const struct gen_setting *const settings[] = {&gen_dps,     &gen_oasis,  &gen_eris,
						     &gen_aonline, &gen_posted, &gen_gangs};

const struct gen_setting *gen_find(const char *name)
{
	unsigned i;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (!strcmp(settings[i]->name, name))
			return settings[i];
	return NULL;
}

const struct gen_setting *gen_at(unsigned i)
{
	return i < sizeof(settings) / sizeof(settings[0]) ? settings[i] : NULL;
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
			uint64_t seed, struct noise *noise, FILE *out, struct auc_err *err)
{
	struct gen g = {.setting = setting, .random = seed, .noise = noise, .out = out};
	enum auc_code rc = gen_set(&g, parameters, n, err);

	if (rc != AUC_OK)
		return rc;
	if (!setting->write(&g))
		return auc_err_set(err, AUC_ENOMEM, "no memory for a scenario");
	return ferror(out) ? auc_err_set(err, AUC_EIO, "the scenario could not be written")
			   : AUC_OK;
}

/* -- parameters -- */

enum auc_code gen_set(struct gen *g, char *const *parameters, unsigned n, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;

	for (i = 0; i < g->setting->nparameters; i++)
		g->values[i] = g->setting->parameters[i].preset;
	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = set_parameter(g, parameters[i], err);
	spread_arrivals(g);
	return rc;
}

/* Arrivals of 0 are any slot. */
static void spread_arrivals(struct gen *g)
{
	struct value *arrival = NULL;
	const struct value *slots = NULL;

	for (unsigned i = 0; i < g->setting->nparameters; i++) {
		if (!strcmp(g->setting->parameters[i].name, "arrival"))
			arrival = &g->values[i];
		if (!strcmp(g->setting->parameters[i].name, "slots"))
			slots = &g->values[i];
	}
	if (arrival && slots && !arrival->high)
		*arrival = (struct value){1, slots->low};
}

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
			   "'%.80s' is no parameter of %s, expected NAME=VALUE with a NAME that "
			   "--help lists",
			   text, s->name);
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

double gen_draw(struct gen *g, unsigned parameter, unsigned decimals)
{
	const struct value *v = &g->values[parameter];
	double u = gen_uniform(g), scale = pow(10, decimals);

	if (g->setting->parameters[parameter].whole)
		return v->low + floor(u * (v->high - v->low + 1));
	return round((v->low + u * (v->high - v->low)) * scale) / scale;
}

double gen_uniform(struct gen *g)
{
	return gen_random(&g->random);
}

/* S. Vigna's splitmix64. */
double gen_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

unsigned gen_pick(struct gen *g, unsigned n)
{
	return (unsigned)(gen_uniform(g) * n);
}

bool gen_put(struct gen *g, const char *before, struct json_object *o)
{
	const char *text = o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_SPACED) : NULL;

	if (text)
		fprintf(g->out, "%s%s", before, text);
	json_object_put(o);
	return text != NULL;
}

bool gen_put_job(struct gen *g, const char *before, struct json_object *o)
{
	if (o && g->noise && !gen_add_number(o, "true_time", noise_draw(g->noise))) {
		json_object_put(o);
		return false;
	}
	return gen_put(g, before, o);
}

bool gen_add_number(struct json_object *o, const char *key, double value)
{
	return auc_json_add_number(o, key, value);
}

bool gen_add_named(struct json_object *o, const char *prefix, unsigned i, double value)
{
	char name[AUC_NAME_MAX];

	snprintf(name, sizeof(name), "%s%u", prefix, i);
	return gen_add_number(o, name, value);
}
