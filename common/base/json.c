/* json.c - see json.h */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/list.h"

static struct json_object *number(double value);
static enum auc_code parse(const char *text, size_t len, int depth, int flags,
			   struct json_object **o, size_t *end, const char **why);

bool auc_json_add(struct json_object *o, const char *key, struct json_object *value)
{
	if (value && !json_object_object_add(o, key, value))
		return true;
	json_object_put(value);
	return false;
}

bool auc_json_add_text(struct json_object *o, const char *key, const char *text)
{
	return auc_json_add(o, key, json_object_new_string(text));
}

bool auc_json_add_int(struct json_object *o, const char *key, int64_t value)
{
	return auc_json_add(o, key, json_object_new_int64(value));
}

bool auc_json_add_bool(struct json_object *o, const char *key, bool value)
{
	return auc_json_add(o, key, json_object_new_boolean(value));
}

bool auc_json_add_double(struct json_object *o, const char *key, double value)
{
	return auc_json_add(o, key, number(value));
}

bool auc_json_add_number(struct json_object *o, const char *key, double value)
{
	char text[AUC_NUMBER_LEN];

	/* + 0.0: no -0 */
	return auc_json_add(o, key,
			    json_object_new_double_s(value, auc_number_str(value + 0.0, text)));
}

bool auc_json_add_if(bool ok, struct json_object *o, const char *key, struct json_object *value)
{
	return auc_json_if(ok, value) && auc_json_add(o, key, value);
}

bool auc_json_push(struct json_object *array, struct json_object *element)
{
	if (element && !json_object_array_add(array, element))
		return true;
	json_object_put(element);
	return false;
}

bool auc_json_push_if(bool ok, struct json_object *array, struct json_object *element)
{
	return auc_json_if(ok, element) && auc_json_push(array, element);
}

struct json_object *auc_json_if(bool ok, struct json_object *o)
{
	if (ok)
		return o;
	json_object_put(o);
	return NULL;
}

bool auc_json_add_money(struct json_object *o, const char *key, auc_money value)
{
	char text[AUC_MONEY_LEN];

	return auc_json_add_text(o, key, auc_money_str(value, text));
}

enum auc_code auc_json_text(struct json_object *o, const char *key, char *text, size_t size,
			    struct auc_err *err)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string) ||
	    (size_t)json_object_get_string_len(v) >= size ||
	    strlen(json_object_get_string(v)) != (size_t)json_object_get_string_len(v))
		return auc_err_set(err, AUC_EINVAL, "%s: expected a text of at most %zu characters",
				   key, size - 1);
	strcpy(text, json_object_get_string(v));
	return AUC_OK;
}

enum auc_code auc_json_int(struct json_object *o, const char *key, int64_t min, int64_t max,
			   int64_t *value, struct auc_err *err)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_int) ||
	    json_object_get_int64(v) < min || json_object_get_int64(v) > max)
		return auc_err_set(err, AUC_EINVAL, "%s: expected a whole number from %lld to %lld",
				   key, (long long)min, (long long)max);
	*value = json_object_get_int64(v);
	return AUC_OK;
}

enum auc_code auc_json_bool(struct json_object *o, const char *key, bool *value,
			    struct auc_err *err)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_boolean))
		return auc_err_set(err, AUC_EINVAL, "%s: expected true or false", key);
	*value = json_object_get_boolean(v);
	return AUC_OK;
}

enum auc_code auc_json_double(struct json_object *o, const char *key, double min, double max,
			      double *value, struct auc_err *err)
{
	struct json_object *v;
	double d;

	if (!json_object_object_get_ex(o, key, &v) ||
	    !(json_object_is_type(v, json_type_double) || json_object_is_type(v, json_type_int)))
		return auc_err_set(err, AUC_EINVAL, "%s: expected a number", key);
	d = json_object_get_double(v);
	if (!(d >= min && d <= max))
		return auc_err_set(err, AUC_EINVAL, "%s: %g, expected a number from %g to %g", key,
				   d, min, max);
	*value = d;
	return AUC_OK;
}

enum auc_code auc_json_money(struct json_object *o, const char *key, auc_money *value,
			     struct auc_err *err)
{
	auc_money m;
	enum auc_code rc = auc_json_sum(o, key, &m, err);

	if (rc == AUC_OK && m > AUC_MONEY_MAX)
		return auc_err_set(err, AUC_EINVAL, "%s: expected at most 10^9 credits", key);
	if (rc == AUC_OK)
		*value = m;
	return rc;
}

/* auc_money_parse() bounds single amounts; a sum over all sales may be larger. */
enum auc_code auc_json_sum(struct json_object *o, const char *key, auc_money *value,
			   struct auc_err *err)
{
	char text[AUC_MONEY_LEN], again[AUC_MONEY_LEN];
	unsigned long long whole;
	unsigned micro;
	auc_money m;
	enum auc_code rc = auc_json_text(o, key, text, sizeof(text), err);

	if (rc != AUC_OK)
		return rc;
	/* Only what auc_money_str() prints: read, print again, compare. */
	if (sscanf(text, "%13llu.%6u", &whole, &micro) != 2 ||
	    whole > (unsigned long long)(INT64_MAX / AUC_CREDIT) - 1)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%s', expected an amount with six decimals", key, text);
	m = (auc_money)whole * AUC_CREDIT + micro;
	if (strcmp(text, auc_money_str(m, again)))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%s', expected an amount with six decimals", key, text);
	*value = m;
	return AUC_OK;
}

enum auc_code auc_json_amounts(struct json_object *o, const char *key, unsigned max,
			       struct auc_named *list, unsigned *n, struct auc_err *err)
{
	struct json_object *v;
	enum auc_code rc;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_object) ||
	    json_object_object_length(v) > (int)max)
		return auc_err_set(err, AUC_EINVAL, "%s: expected an object of at most %u amounts",
				   key, max);
	*n = 0;
	json_object_object_foreach(v, name, amount)
	{
		(void)amount;
		if (!*name || strlen(name) >= AUC_NAME_MAX)
			return auc_err_set(err, AUC_EINVAL, "%s: a name has 1 to %d characters",
					   key, AUC_NAME_MAX - 1);
		rc = auc_json_double(v, name, 0, 1e15, &list[*n].value, err);
		if (rc != AUC_OK) {
			auc_err_prefix(err, "%s", key);
			return rc;
		}
		strcpy(list[(*n)++].name, name);
	}
	return AUC_OK;
}

struct json_object *auc_json_parse(const char *text, size_t len)
{
	struct json_object *o;
	const char *why;
	size_t end;

	if (auc_json_parse_any(text, len, JSON_TOKENER_DEFAULT_DEPTH, &o, &end, &why) == AUC_OK &&
	    json_object_is_type(o, json_type_object) && end == len)
		return o;
	json_object_put(o);
	return NULL;
}

/*
 * json-c 0.18 takes bytes above 127 for control characters where it is to be strict. So the grammar
 * is looked at with letters in their places, and the values are read without.
 */
enum auc_code auc_json_parse_any(const char *text, size_t len, int depth, struct json_object **o,
				 size_t *end, const char **why)
{
	enum auc_code rc = AUC_ENOMEM;
	char *letters;
	size_t i;

	for (i = 0; i < len && !((unsigned char)text[i] & 0x80); i++)
		;
	if (i == len)
		return parse(text, len, depth, JSON_TOKENER_STRICT, o, end, why);
	*o = NULL;
	letters = malloc(len + 1);
	if (letters) {
		for (i = 0; i <= len; i++)
			letters[i] = (unsigned char)text[i] & 0x80 ? 'x' : text[i];
		rc = parse(letters, len, depth, JSON_TOKENER_STRICT, o, end, why);
		free(letters);
	}
	if (rc != AUC_OK)
		return rc;
	json_object_put(*o);
	return parse(text, len, depth, 0, o, end, why);
}

static enum auc_code parse(const char *text, size_t len, int depth, int flags,
			   struct json_object **o, size_t *end, const char **why)
{
	struct json_tokener *tok = len < INT_MAX ? json_tokener_new_ex(depth) : NULL;
	enum json_tokener_error bad;

	*o = NULL;
	if (!tok)
		return AUC_ENOMEM;
	json_tokener_set_flags(tok, flags);
	/* With its NUL: only then does the tokener know that a value is complete. */
	*o = json_tokener_parse_ex(tok, text, (int)len + 1);
	bad = json_tokener_get_error(tok);
	*why = json_tokener_error_desc(bad);
	*end = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	return bad == json_tokener_success ? AUC_OK : AUC_EINVAL;
}

/* Whole numbers without a decimal point, as people write them. */
static struct json_object *number(double value)
{
	if (value == floor(value) && fabs(value) < 1e15)
		return json_object_new_int64((int64_t)value);
	return json_object_new_double(value);
}
