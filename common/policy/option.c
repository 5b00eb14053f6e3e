/*
 * option.c - see option.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/option.h"

static bool take(const struct auc_option *o, char *value, void *values);
static enum auc_code read_word(const char *policy, const char *at, size_t key, size_t len,
			       const struct auc_option *list, unsigned n, void *values,
			       struct auc_err *err);
static int shown(size_t len);
static bool choose(const char *choices, const char *value, unsigned *chosen);
static enum auc_code refuse(const char *policy, const char *word, size_t len,
			    const struct auc_option *list, unsigned n, struct auc_err *err);

enum auc_code auc_options_read(const char *policy, const char *options,
			       const struct auc_option *list, unsigned n, void *values,
			       struct auc_err *err)
{
	const char *at, *before;
	enum auc_code rc = AUC_OK;
	size_t len, key;

	for (at = options; *at && rc == AUC_OK; at += len + (at[len] == ',')) {
		len = strcspn(at, ",");
		key = strcspn(at, "=,");
		if (key == len)
			return refuse(policy, at, len, list, n, err);
		for (before = options; before < at; before += strcspn(before, ",") + 1)
			if (!strncmp(before, at, key + 1))
				return auc_err_set(err, AUC_EINVAL,
						   "Policy=%s: '%.*s': expected %.*s once", policy,
						   shown(len), at, shown(key), at);
		rc = read_word(policy, at, key, len, list, n, values, err);
	}
	return rc;
}

bool auc_options_have(const char *options, const char *key)
{
	size_t n = strlen(key);

	for (; *options; options += *options == ',') {
		if (!strncmp(options, key, n) && options[n] == '=')
			return true;
		options += strcspn(options, ",");
	}
	return false;
}

/* "KEY=VALUE", LEN characters at AT. */
static enum auc_code read_word(const char *policy, const char *at, size_t key, size_t len,
			       const struct auc_option *list, unsigned n, void *values,
			       struct auc_err *err)
{
	char *word = strndup(at, len);
	unsigned i;

	if (!word)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy %s", policy);
	word[key] = '\0';
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].key, word) && take(&list[i], word + key + 1, values))
			break;
	free(word);
	return i < n ? AUC_OK : refuse(policy, at, len, list, n, err);
}

/* How much of a piece of LEN characters an error repeats. */
static int shown(size_t len)
{
	return len < 80 ? (int)len : 80;
}

static bool take(const struct auc_option *o, char *value, void *values)
{
	void *to = (char *)values + o->offset;

	switch (o->type) {
	case AUC_OPTION_CHOICE:
		return choose(o->choices, value, to);
	case AUC_OPTION_COUNT:
		return auc_parse_count(value, (uint64_t)o->min, (uint64_t)o->max, to, o->key,
				       NULL) == AUC_OK;
	case AUC_OPTION_TEXT:
		return *value && (*(char **)to = strdup(value));
	case AUC_OPTION_NUMBER:
		return auc_parse_number(value, o->min, o->max, to, o->key, NULL) == AUC_OK;
	}
	return false;
}

static bool choose(const char *choices, const char *value, unsigned *chosen)
{
	size_t len = strlen(value), n;

	for (unsigned i = 0;; i++, choices += n + 1) {
		n = strcspn(choices, "|");
		if (n == len && !strncmp(choices, value, len)) {
			*chosen = i;
			return true;
		}
		if (!choices[n])
			return false;
	}
}

/* "Policy=POLICY: 'WORD' is no option, expected a=x|y, b=1 to 9 or c=z" */
static enum auc_code refuse(const char *policy, const char *word, size_t len,
			    const struct auc_option *list, unsigned n, struct auc_err *err)
{
	char expected[sizeof(err->text)] = "none";
	size_t at = 0;

	for (unsigned i = 0; i < n && at < sizeof(expected); i++) {
		const char *join = !i ? "" : i + 1 < n ? ", " : " or ";
		char *to = expected + at;
		size_t room = sizeof(expected) - at;

		at += (size_t)(list[i].choices ? snprintf(to, room, "%s%s=%s", join, list[i].key,
							  list[i].choices)
					       : snprintf(to, room, "%s%s=%.15g to %.15g", join,
							  list[i].key, list[i].min, list[i].max));
	}
	return auc_err_set(err, AUC_EINVAL, "Policy=%s: '%.*s' is no option, expected %s", policy,
			   shown(len), word, expected);
}
