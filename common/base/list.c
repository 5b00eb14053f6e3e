/* list.c - see list.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/list.h"

#define LETTERS    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS     "0123456789"
#define NAME_CHARS LETTERS DIGITS "._:/+-"
#define OLD_NEVER  "4294967295" /* in bids of older spools, AUC_WAIT_MAX */

static enum auc_code parse_value(const char *s, const struct auc_list_rule *rule, double *value,
				 const char *what, struct auc_err *err);
static enum auc_code parse_entry(char *entry, const struct auc_list_rule *rule,
				 struct auc_named *list, unsigned *n, double *bare, bool *bare_seen,
				 const char *what, struct auc_err *err);

char *auc_number_str(double v, char *buf)
{
	size_t point, tail;
	int digits;

	for (digits = 15; digits <= 17; digits++) {
		snprintf(buf, AUC_NUMBER_LEN, "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	/* The decimal point is whatever the process's locale made of it, maybe several bytes. */
	point = strspn(buf, "+-" DIGITS);
	tail = point + strcspn(buf + point, "e" DIGITS);
	if (tail > point) {
		buf[point] = '.';
		memmove(buf + point + 1, buf + tail, strlen(buf + tail) + 1);
	}
	return buf;
}

bool auc_name_valid(const char *s)
{
	size_t len = strspn(s, NAME_CHARS);

	return len && !s[len] && len < AUC_NAME_MAX && strspn(s, LETTERS DIGITS);
}

enum auc_code auc_parse_slots(const char *s, double slot_seconds, double *slots, const char *what,
			      struct auc_err *err)
{
	double v, seconds;
	enum auc_code rc;

	if (auc_parse_number(s, -HUGE_VAL, HUGE_VAL, &v, what, NULL) != AUC_OK) {
		rc = auc_parse_span(s, slot_seconds, slot_seconds, &seconds, what, err);
		if (rc != AUC_OK)
			return rc;
		v = seconds / slot_seconds;
	}
	if (!(v >= 0 && v <= AUC_WAIT_MAX))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s' is out of range, expected 0 to %.15g slots", what,
				   s, AUC_WAIT_MAX);
	*slots = v;
	return AUC_OK;
}

enum auc_code auc_list_parse(const char *text, const struct auc_list_rule *rule,
			     struct auc_named *list, unsigned *n, double *bare, const char *what,
			     struct auc_err *err)
{
	bool bare_seen = false;
	enum auc_code rc = AUC_OK;
	char *copy, *rest, *entry;

	*n = 0;
	rest = copy = strdup(text);
	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", what);
	while (rc == AUC_OK && (entry = strsep(&rest, ",")))
		rc = parse_entry(entry, rule, list, n, bare, &bare_seen, what, err);
	free(copy);
	return rc;
}

void auc_list_print(FILE *out, const struct auc_named *list, unsigned n, const char *suffix)
{
	char number[AUC_NUMBER_LEN];
	unsigned i;

	for (i = 0; i < n; i++)
		fprintf(out, "%s%s=%s%s", i ? "," : "", list[i].name,
			auc_number_str(list[i].value, number), suffix);
}

const struct auc_named *auc_list_find(const struct auc_named *list, unsigned n, const char *name)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

const struct auc_named *auc_list_find_tres(const struct auc_named *list, unsigned n,
					   const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcasecmp(list[i].name, name))
			return &list[i];
	return NULL;
}

/* One "NAME=VALUE", or VALUE where BARE allows it. ENTRY is cut at the '='. */
static enum auc_code parse_entry(char *entry, const struct auc_list_rule *rule,
				 struct auc_named *list, unsigned *n, double *bare, bool *bare_seen,
				 const char *what, struct auc_err *err)
{
	char *equal = strchr(entry, '=');
	const char *name = entry;
	char where[256];

	if (!equal && bare && !*bare_seen) {
		*bare_seen = true;
		return parse_value(entry, rule, bare, what, err);
	}
	if (!equal)
		return auc_err_set(err, AUC_EINVAL, "%s: '%.80s' is not %s", what, entry,
				   rule->syntax);
	*equal = '\0';
	while (rule->tres && !strncmp(name, "gres/", 5))
		name += 5;
	if (!auc_name_valid(name))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s' is not a name, expected letters, digits and ._:/+-",
				   what, name);
	if (rule->tres ? auc_list_find_tres(list, *n, name) : auc_list_find(list, *n, name))
		return auc_err_set(err, AUC_EINVAL, "%s: '%s' is named twice", what, name);
	if (*n == rule->limit)
		return auc_err_set(err, AUC_EINVAL, "%s: '%s' is one too many, expected at most %u",
				   what, name, rule->limit);
	strcpy(list[*n].name, name);
	snprintf(where, sizeof(where), "%s: %s", what, name);
	if (parse_value(equal + 1, rule, &list[*n].value, where, err) != AUC_OK)
		return AUC_EINVAL;
	(*n)++;
	return AUC_OK;
}

static enum auc_code parse_value(const char *s, const struct auc_list_rule *rule, double *value,
				 const char *what, struct auc_err *err)
{
	enum auc_code rc;

	switch (rule->unit) {
	case AUC_UNIT_SLOTS:
		if (!strcmp(s, OLD_NEVER)) {
			*value = AUC_WAIT_MAX;
			return AUC_OK;
		}
		return auc_parse_slots(s, rule->slot_seconds, value, what, err);
	case AUC_UNIT_SECONDS:
		rc = auc_parse_span(s, 1, rule->slot_seconds, value, what, err);
		break;
	case AUC_UNIT_NONE:
	default:
		return auc_parse_number(s, rule->min, rule->max, value, what, err);
	}
	if (rc == AUC_OK && !(*value >= rule->min && *value <= rule->max))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s' is out of range, expected %.15g to %.15g s", what,
				   s, rule->min, rule->max);
	return rc;
}

void auc_list_lower(char *text)
{
	for (; *text; text++)
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text + 'a' - 'A');
}
