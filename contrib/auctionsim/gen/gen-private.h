/*
 * gen-private.h - what gen.c and the settings share, one file each (gen_dps.c, ...). A setting is a
 * table of parameters, each a range to draw from, and a function that writes the scenario.
 */
#ifndef SIM_GEN_PRIVATE_H
#define SIM_GEN_PRIVATE_H

#include <stdbool.h>

#include "auctionsim/gen/gen.h"

#define GEN_PARAMETERS_MAX 48 /* of one setting */

struct json_object;

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

/* Rows of a setting's table: one number, a range of them; the same of whole numbers; one of WORDS.
 */
/* clang-format off */
#define GEN_NUMBER(name, value, min, max, help)     {name, {value, value}, min, max, false, false, NULL, help}
#define GEN_RANGE(name, low, high, min, max, help)  {name, {low, high}, min, max, true, false, NULL, help}
#define GEN_COUNT(name, value, min, max, help)      {name, {value, value}, min, max, false, true, NULL, help}
#define GEN_COUNTS(name, low, high, min, max, help) {name, {low, high}, min, max, true, true, NULL, help}
#define GEN_WORD(name, words, value, help)          {name, {value, value}, 0, 0, false, false, words, help}
/* clang-format on */

struct gen {
	const struct gen_setting *setting;
	struct value values[GEN_PARAMETERS_MAX];
	uint64_t random;
	struct noise *noise; /* of true times; NULL: none */
	FILE *out;
};

struct gen_setting {
	const char *name;
	const struct parameter *parameters;
	unsigned nparameters;
	bool (*write)(struct gen *g); /* false: no memory */
};

extern const struct gen_setting gen_aonline, gen_dps, gen_eris, gen_gangs, gen_oasis, gen_posted;

/* Sets g->values to the setting's defaults and then to what PARAMETERS (N of them) say. AUC_EINVAL
 * names the parameter. */
enum auc_code gen_set(struct gen *g, char *const *parameters, unsigned n, struct auc_err *err);
/* Uniform in the parameter's range, rounded to DECIMALS; of whole numbers each is as likely. */
double gen_draw(struct gen *g, unsigned parameter, unsigned decimals);
/* Uniform in [0, 1); a whole number below N. */
double gen_uniform(struct gen *g);
double gen_random(uint64_t *state);
unsigned gen_pick(struct gen *g, unsigned n);

/* Prints BEFORE and O (NULL: no memory) on one line and gives O up. */
bool gen_put(struct gen *g, const char *before, struct json_object *o);
/* The same of a job, with its true time if there is noise. */
bool gen_put_job(struct gen *g, const char *before, struct json_object *o);
/* A member KEY, or PREFIX with the number I; exactly as few digits as say VALUE. */
bool gen_add_number(struct json_object *o, const char *key, double value);
bool gen_add_named(struct json_object *o, const char *prefix, unsigned i, double value);

#endif
