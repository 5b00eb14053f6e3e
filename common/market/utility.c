/* utility.c - see utility.h */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/list.h"
#include "market/utility.h"

#define TEXT_MAX 6144 /* AUC_TABLE_MAX points of two 17-digit numbers fit */
#define ARGS_MAX 3
#define RATE_MAX 1e9 /* decay per slot, slope in credits per slot */

/* How the words of a form look; indexed by enum auc_form. */
static const struct form {
	const char *name;
	const char *syntax;
	unsigned min_args, max_args;
} forms[] = {
	[AUC_FORM_CONSTANT] = {"constant", "constant:VALUE", 1, 1},
	[AUC_FORM_SIGMOID] = {"sigmoid", "sigmoid:SCALE,DECAY[,TARGET]", 2, 3},
	[AUC_FORM_LINEAR] = {"linear", "linear:INTERCEPT,SLOPE", 2, 2},
	[AUC_FORM_INVERSE] = {"inverse", "inverse:SCALE[,HORIZON]", 1, 2},
	[AUC_FORM_DEADLINE] = {"deadline", "deadline:VALUE,DEADLINE", 2, 2},
	[AUC_FORM_TABLE] = {"table", "table:TIME=VALUE,TIME=VALUE,...", 1, 1},
};
#define NFORMS (sizeof(forms) / sizeof(forms[0]))

/* What one parse needs everywhere. */
struct parse {
	double slot_seconds, horizon_slots;
	const char *what;
	struct auc_err *err;
};

static double table_value(const struct auc_utility *u, double x);
static enum auc_code check_range(double v, double min, double max, const char *what,
				 const char *part, struct auc_err *err);
static enum auc_code check_table(const struct auc_utility *u, const char *what,
				 struct auc_err *err);
static int find_form(const char *name);
static enum auc_code parse_form(const struct parse *p, char *args, struct auc_utility *u);
static enum auc_code parse_table(const struct parse *p, char *args, struct auc_utility *u);
static enum auc_code parse_credits(const struct parse *p, const char *s, const char *part,
				   double *value);
static enum auc_code parse_slots(const struct parse *p, const char *s, const char *part,
				 double *slots);
static enum auc_code parse_rate(const struct parse *p, char *s, const char *part, double *rate);
static void print_number(FILE *out, const char *before, double v);

double auc_utility_value(const struct auc_utility *u, double x)
{
	double v = 0;

	x += u->since;
	switch (u->form) {
	case AUC_FORM_CONSTANT:
		v = u->scale;
		break;
	case AUC_FORM_SIGMOID:
		v = u->scale / (1 + exp(u->decay * (x - u->target)));
		break;
	case AUC_FORM_LINEAR:
		v = u->scale - u->decay * x;
		break;
	case AUC_FORM_INVERSE:
		x = x < 1 ? 1 : x;
		v = u->scale * (u->target - x) / x;
		break;
	case AUC_FORM_DEADLINE:
		v = x <= u->target ? u->scale : 0;
		break;
	case AUC_FORM_TABLE:
		v = table_value(u, x);
		break;
	}
	return v > 0 ? v : 0;
}

struct auc_utility auc_utility_soonest(double limit, double slots)
{
	struct auc_utility u = {.form = AUC_FORM_LINEAR};

	/* A slot is worth more than all that may be spent. */
	u.decay = 2 * limit + 1e-6;
	u.scale = u.decay * (slots + 2);
	return u;
}

void auc_utility_multiply(struct auc_utility *u, double factor)
{
	u->scale *= factor;
	if (u->form == AUC_FORM_LINEAR)
		u->decay *= factor;
	for (unsigned i = 0; u->form == AUC_FORM_TABLE && i < u->npoints; i++)
		u->points[i].value *= factor;
}

double auc_utility_log(const struct auc_utility *u, double x)
{
	double z = u->decay * (x + u->since - u->target);

	/* 1 + e^z is e^z there, up to the last bit */
	if (u->form == AUC_FORM_SIGMOID && z > 100)
		return log(u->scale) - z;
	return log(auc_utility_value(u, x));
}

enum auc_code auc_utility_check(const struct auc_utility *u, const char *what, struct auc_err *err)
{
	enum auc_code rc;

	if ((unsigned)u->form >= NFORMS)
		return auc_err_set(err, AUC_EINVAL, "%s: form %d is not a utility", what,
				   (int)u->form);
	if (u->form == AUC_FORM_TABLE)
		return check_table(u, what, err);
	rc = check_range(u->scale, 0, AUC_VALUE_MAX, what, "value", err);
	if (rc == AUC_OK && (u->form == AUC_FORM_SIGMOID || u->form == AUC_FORM_LINEAR))
		rc = check_range(u->decay, 0, RATE_MAX, what,
				 u->form == AUC_FORM_LINEAR ? "slope" : "decay", err);
	if (rc == AUC_OK && u->form != AUC_FORM_CONSTANT && u->form != AUC_FORM_LINEAR)
		rc = check_range(u->target, 0, AUC_WAIT_MAX, what, "time", err);
	if (rc == AUC_OK && u->form == AUC_FORM_INVERSE)
		rc = check_range(auc_utility_value(u, 1), 0, AUC_VALUE_MAX, what,
				 "value after one slot", err);
	return rc;
}

enum auc_code auc_utility_parse(const char *text, double slot_seconds, double horizon_slots,
				struct auc_utility *u, const char *what, struct auc_err *err)
{
	struct parse p = {slot_seconds, horizon_slots, what, err};
	struct auc_utility made = {.form = AUC_FORM_CONSTANT};
	char buf[TEXT_MAX], *colon;
	enum auc_code rc;
	int form;

	if (strlen(text) >= sizeof(buf))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.20s...' is too long, expected less than %d bytes", what,
				   text, TEXT_MAX);
	strcpy(buf, text);
	colon = strchr(buf, ':');
	if (colon)
		*colon = '\0';
	form = colon ? find_form(buf) : AUC_FORM_CONSTANT;
	if (form < 0 || (!colon && (!*buf || !strchr("+-.0123456789", *buf))))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s' is not a utility: expected a value in credits, "
				   "such as 300, or "
				   "sigmoid:, linear:, inverse:, deadline: or table:",
				   what, text);
	if (!colon && strchr(buf, ','))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s' has a comma: write a value in credits without one, "
				   "such as 1000 or 0.5, or name its form: sigmoid:, linear:, "
				   "inverse:, deadline: or table:",
				   what, text);
	made.form = (enum auc_form)form;
	rc = made.form == AUC_FORM_TABLE ? parse_table(&p, colon + 1, &made)
					 : parse_form(&p, colon ? colon + 1 : buf, &made);
	if (rc == AUC_OK)
		rc = auc_utility_check(&made, what, err);
	if (rc == AUC_OK)
		*u = made;
	return rc;
}

char *auc_utility_print(const struct auc_utility *u)
{
	char *text = NULL;
	size_t size;
	unsigned i;
	bool bad;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (u->form != AUC_FORM_CONSTANT)
		fprintf(out, "%s:", auc_form_name(u->form));
	if (u->form != AUC_FORM_TABLE)
		print_number(out, "", u->scale);
	if (u->form == AUC_FORM_SIGMOID || u->form == AUC_FORM_LINEAR)
		print_number(out, ",", u->decay);
	if (u->form == AUC_FORM_INVERSE || u->form == AUC_FORM_DEADLINE ||
	    (u->form == AUC_FORM_SIGMOID && u->target != 0))
		print_number(out, ",", u->target);
	for (i = 0; u->form == AUC_FORM_TABLE && i < u->npoints; i++) {
		print_number(out, i ? "," : "", u->points[i].x);
		print_number(out, "=", u->points[i].value);
	}
	bad = ferror(out);
	if (fclose(out) != 0 || bad) {
		free(text);
		return NULL;
	}
	return text;
}

const char *auc_form_name(enum auc_form form)
{
	return (unsigned)form < NFORMS ? forms[form].name : "unknown";
}

/* Every operation rounds monotonically, and the end of a segment is never below its last point, so
 * the whole never rises. */
static double table_value(const struct auc_utility *u, double x)
{
	double x0, v0, x1, v1, v;
	unsigned i;

	for (i = 0; i < u->npoints && u->points[i].x < x; i++)
		;
	if (i == u->npoints)
		return u->points[i - 1].value;
	if (i == 0)
		return u->points[0].value;
	x0 = u->points[i - 1].x;
	v0 = u->points[i - 1].value;
	x1 = u->points[i].x;
	v1 = u->points[i].value;
	v = v0 + (v1 - v0) * ((x - x0) / (x1 - x0));
	return v > v1 ? v : v1;
}

static enum auc_code check_range(double v, double min, double max, const char *what,
				 const char *part, struct auc_err *err)
{
	if (v >= min && v <= max)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL,
			   "%s: %s: '%.15g' is out of range, expected %.15g to %.15g", what, part,
			   v, min, max);
}

static enum auc_code check_table(const struct auc_utility *u, const char *what, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;

	if (u->npoints < 1 || u->npoints > AUC_TABLE_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: a table of %u points, expected 1 to %d points TIME=VALUE",
				   what, u->npoints, AUC_TABLE_MAX);
	for (i = 0; rc == AUC_OK && i < u->npoints; i++) {
		rc = check_range(u->points[i].x, 0, AUC_WAIT_MAX, what, "time", err);
		if (rc == AUC_OK)
			rc = check_range(u->points[i].value, 0, AUC_VALUE_MAX, what, "value", err);
		if (rc != AUC_OK || i == 0)
			continue;
		if (!(u->points[i].x > u->points[i - 1].x))
			rc = auc_err_set(
				err, AUC_EINVAL,
				"%s: time %.15g after %.15g (slots) in a table, expected times "
				"that rise",
				what, u->points[i].x, u->points[i - 1].x);
		else if (!(u->points[i].value <= u->points[i - 1].value))
			rc = auc_err_set(
				err, AUC_EINVAL,
				"%s: value %.15g after %.15g in a table, expected values that "
				"never rise with time",
				what, u->points[i].value, u->points[i - 1].value);
	}
	return rc;
}

static int find_form(const char *name)
{
	unsigned i;

	for (i = 0; i < NFORMS; i++)
		if (!strcmp(name, forms[i].name))
			return (int)i;
	return -1;
}

/* Every form but the table; ARGS is cut at its commas. */
static enum auc_code parse_form(const struct parse *p, char *args, struct auc_utility *u)
{
	const struct form *form = &forms[u->form];
	char *arg[ARGS_MAX + 1];
	char *rest = args;
	unsigned n = 0;
	enum auc_code rc;

	while (rest && n <= ARGS_MAX)
		arg[n++] = strsep(&rest, ",");
	if (n < form->min_args || n > form->max_args)
		return auc_err_set(p->err, AUC_EINVAL, "%s: %s has %s values, expected %s", p->what,
				   form->name, n < form->min_args ? "too few" : "too many",
				   form->syntax);
	rc = parse_credits(p, arg[0], "value", &u->scale);
	if (rc != AUC_OK)
		return rc;
	switch (u->form) {
	case AUC_FORM_SIGMOID:
		rc = parse_rate(p, arg[1], "decay", &u->decay);
		if (rc == AUC_OK && n > 2)
			rc = parse_slots(p, arg[2], "target", &u->target);
		break;
	case AUC_FORM_LINEAR:
		rc = parse_rate(p, arg[1], "slope", &u->decay);
		break;
	case AUC_FORM_INVERSE:
		u->target = p->horizon_slots;
		if (n > 1)
			rc = parse_slots(p, arg[1], "horizon", &u->target);
		break;
	case AUC_FORM_DEADLINE:
		rc = parse_slots(p, arg[1], "deadline", &u->target);
		break;
	case AUC_FORM_CONSTANT:
	case AUC_FORM_TABLE:
		break;
	}
	return rc;
}

static enum auc_code parse_table(const struct parse *p, char *args, struct auc_utility *u)
{
	enum auc_code rc = AUC_OK;
	char *rest = args, *point, *equal;

	while (rc == AUC_OK && (point = strsep(&rest, ","))) {
		equal = strchr(point, '=');
		if (!equal)
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s: '%.80s' is not a point of a table, expected %s",
					   p->what, point, forms[AUC_FORM_TABLE].syntax);
		if (u->npoints == AUC_TABLE_MAX)
			return auc_err_set(p->err, AUC_EINVAL,
					   "%s: '%.80s' is one point too many, expected at most %d",
					   p->what, point, AUC_TABLE_MAX);
		*equal = '\0';
		rc = parse_slots(p, point, "time", &u->points[u->npoints].x);
		if (rc == AUC_OK)
			rc = parse_credits(p, equal + 1, "value", &u->points[u->npoints].value);
		u->npoints++;
	}
	return rc;
}

static enum auc_code parse_credits(const struct parse *p, const char *s, const char *part,
				   double *value)
{
	char what[128];

	snprintf(what, sizeof(what), "%s: %s", p->what, part);
	return auc_parse_number(s, 0, AUC_VALUE_MAX, value, what, p->err);
}

static enum auc_code parse_slots(const struct parse *p, const char *s, const char *part,
				 double *slots)
{
	char what[128];

	snprintf(what, sizeof(what), "%s: %s", p->what, part);
	return auc_parse_slots(s, p->slot_seconds, slots, what, p->err);
}

/* "0.02" per slot, or "0.5/h" per any unit of time. */
static enum auc_code parse_rate(const struct parse *p, char *s, const char *part, double *rate)
{
	char *slash = strchr(s, '/');
	double v, slots = 1;
	char what[128], span[16];
	enum auc_code rc;

	snprintf(what, sizeof(what), "%s: %s", p->what, part);
	if (slash) {
		*slash = '\0';
		snprintf(span, sizeof(span), "1%s", slash + 1);
		if (auc_parse_slots(span, p->slot_seconds, &slots, what, NULL) != AUC_OK ||
		    slash[1] == '\0' || strchr("0123456789.eE", slash[1]) || !(slots > 0))
			return auc_err_set(
				p->err, AUC_EINVAL,
				"%s: '/%.80s' is not a unit, expected /s, /m, /h, /d or /slot",
				what, slash + 1);
	}
	rc = auc_parse_number(s, 0, RATE_MAX, &v, what, p->err);
	if (rc == AUC_OK)
		*rate = v / slots;
	return rc;
}

static void print_number(FILE *out, const char *before, double v)
{
	char buf[AUC_NUMBER_LEN];

	fprintf(out, "%s%s", before, auc_number_str(v, buf));
}
