/*
 * document.c - see document.h. json-c parses; it keeps the last of two members with one name
 * without a word, so that the keys are looked through once more here.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "input/bid.h"
#include "auctionsim/io/document.h"
#include "auctionsim/io/output.h"
#include "auctionsim/io/progress.h"

#define DEPTH_MAX JSON_TOKENER_DEFAULT_DEPTH
#define FOUND_MAX 60 /* bytes of a bad value that an error repeats */

/* While keys are looked through: an object or array that is open. */
struct level {
	struct json_object *keys; /* seen so far; NULL: an array */
	size_t index;
	const char *key; /* the member at hand, quotes and all */
	size_t key_len;
	bool at_key;
};

static enum auc_code read_all(FILE *in, const char *path, char **text, size_t *len,
			      struct auc_err *err);
static enum auc_code syntax_error(const char *text, size_t at, const char *name, const char *why,
				  struct auc_err *err);
static const char *find_fault(const char *text, const char **why);
static const char *number_end(const char *p);
static const char *string_fault(const char *p, const char **why);
static bool is_utf8(const unsigned char *p);
static bool is_half(const char *p, const char *digits);
static enum auc_code check_keys(const char *text, const char *name, struct auc_err *err);
static enum auc_code see_key(struct level *levels, unsigned depth, const char *name,
			     struct auc_err *err);
static struct json_object *decode_key(const struct level *l);
static const char *string_end(const char *p);
static enum auc_code check_texts(struct json_object *v, const char *name, struct auc_err *err);
static void describe(struct json_object *v, char *text, size_t size);
static void append(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const struct field *find_field(const struct field *fields, unsigned n, const char *key);
static enum auc_code unknown_key(struct reader *r, const struct field *fields, unsigned n);

enum auc_code document_load(const char *path, struct json_object **root, struct auc_err *err)
{
	FILE *in;
	char *text = NULL;
	size_t len = 0;
	enum auc_code rc;

	*root = NULL;
	progress_say("reading %.120s", path);
	rc = input_open(path, &in, err);
	if (rc != AUC_OK)
		return rc;
	rc = read_all(in, path, &text, &len, err);
	input_close(in);
	if (rc == AUC_OK)
		rc = document_parse(text, len, path, root, err);
	free(text);
	return rc;
}

enum auc_code document_parse(const char *text, size_t len, const char *name,
			     struct json_object **root, struct auc_err *err)
{
	const char *fault, *why;
	enum auc_code rc;
	size_t end;

	*root = NULL;
	if (len >= INT_MAX)
		return auc_err_set(err, AUC_EINVAL, "%s: expected less than 2 GiB", name);
	rc = auc_json_parse_any(text, len, DEPTH_MAX, root, &end, &why);
	if (rc == AUC_ENOMEM)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
	if (rc != AUC_OK)
		rc = syntax_error(text, end, name, why, err);
	else if (end != len)
		rc = syntax_error(text, end, name, "something after the end", err);
	else if ((fault = find_fault(text, &why)))
		rc = syntax_error(text, (size_t)(fault - text), name, why, err);
	if (rc == AUC_OK)
		rc = check_keys(text, name, err);
	if (rc == AUC_OK)
		rc = check_texts(*root, name, err);
	if (rc != AUC_OK) {
		json_object_put(*root);
		*root = NULL;
	}
	return rc;
}

void reader_init(struct reader *r, const char *file, void *user, struct auc_err *err)
{
	*r = (struct reader){.file = file, .user = user, .err = err, .path = "$", .len = 1};
}

size_t reader_enter_key(struct reader *r, const char *key)
{
	size_t mark = r->len;
	const char *p;

	for (p = key; isalnum((unsigned char)*p) || *p == '_'; p++)
		;
	if (*key && !*p)
		append(r, ".%s", key);
	else
		append(r, "[\"%.80s\"]", key);
	return mark;
}

size_t reader_enter_index(struct reader *r, size_t index)
{
	size_t mark = r->len;

	append(r, "[%zu]", index);
	return mark;
}

void reader_leave(struct reader *r, size_t mark)
{
	r->len = mark;
	if (mark < sizeof(r->path))
		r->path[mark] = '\0';
}

enum auc_code reader_expected(struct reader *r, struct json_object *found, const char *what, ...)
{
	char text[256], shown[FOUND_MAX + 8];
	va_list ap;

	va_start(ap, what);
	vsnprintf(text, sizeof(text), what, ap);
	va_end(ap);
	describe(found, shown, sizeof(shown));
	return auc_err_set(r->err, AUC_EINVAL, "%.160s: %.200s: expected %s, found %s", r->file,
			   r->path, text, shown);
}

enum auc_code reader_fail(struct reader *r, enum auc_code code, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return auc_err_set(r->err, code, "%.160s: %.200s: %s", r->file, r->path, text);
}

enum auc_code fields_read(struct reader *r, struct json_object *o, const struct field *fields,
			  unsigned nfields, void *base)
{
	enum auc_code rc = AUC_OK;
	struct json_object *v;
	size_t mark;
	unsigned i;

	if (!json_object_is_type(o, json_type_object))
		return reader_expected(r, o, "an object");
	json_object_object_foreach(o, key, member)
	{
		if (find_field(fields, nfields, key))
			continue;
		(void)member;
		reader_enter_key(r, key);
		return unknown_key(r, fields, nfields);
	}
	for (i = 0; i < nfields && rc == AUC_OK; i++) {
		mark = reader_enter_key(r, fields[i].key);
		if (json_object_object_get_ex(o, fields[i].key, &v))
			rc = fields[i].read(r, v, &fields[i], (char *)base + fields[i].offset);
		else if (fields[i].required)
			rc = reader_fail(r, AUC_EINVAL, "expected this key, found none");
		reader_leave(r, mark);
	}
	return rc;
}

enum auc_code field_number(struct reader *r, struct json_object *v, const struct field *f,
			   void *target)
{
	return read_number(r, v, f->min, f->max, target);
}

enum auc_code field_positive(struct reader *r, struct json_object *v, const struct field *f,
			     void *target)
{
	double d;

	if (read_number(r, v, 0, f->max, &d) != AUC_OK || !(d > 0))
		return reader_expected(r, v, "a number above 0, at most %.15g", f->max);
	*(double *)target = d;
	return AUC_OK;
}

enum auc_code field_count(struct reader *r, struct json_object *v, const struct field *f,
			  void *target)
{
	return read_count(r, v, (uint64_t)f->min, (uint64_t)f->max, target);
}

enum auc_code field_bool(struct reader *r, struct json_object *v, const struct field *f,
			 void *target)
{
	(void)f;
	if (!json_object_is_type(v, json_type_boolean))
		return reader_expected(r, v, "true or false");
	*(bool *)target = json_object_get_boolean(v);
	return AUC_OK;
}

enum auc_code field_name(struct reader *r, struct json_object *v, const struct field *f,
			 void *target)
{
	const char *text;
	enum auc_code rc = read_text(r, v, "a name", &text);

	(void)f;
	if (rc == AUC_OK && strlen(text) >= AUC_NAME_MAX)
		return reader_expected(r, v, "a name of at most %d bytes", AUC_NAME_MAX - 1);
	if (rc == AUC_OK)
		strcpy(target, text);
	return rc;
}

enum auc_code field_text(struct reader *r, struct json_object *v, const struct field *f,
			 void *target)
{
	const char *text;
	enum auc_code rc = read_text(r, v, "a text", &text);

	(void)f;
	if (rc != AUC_OK)
		return rc;
	*(char **)target = strdup(text);
	return *(char **)target ? AUC_OK : reader_fail(r, AUC_ENOMEM, "no memory");
}

enum auc_code read_number(struct reader *r, struct json_object *v, double min, double max,
			  double *value)
{
	double d;

	if (json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double)) {
		d = json_object_get_double(v);
		if (d >= min && d <= max) {
			*value = d + 0.0; /* no negative zero */
			return AUC_OK;
		}
	}
	if (max >= DBL_MAX && min <= -DBL_MAX)
		return reader_expected(r, v, "a number");
	return reader_expected(r, v, "a number from %.15g to %.15g", min, max);
}

enum auc_code read_count(struct reader *r, struct json_object *v, uint64_t min, uint64_t max,
			 uint64_t *value)
{
	double d;

	if (json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double)) {
		d = json_object_get_double(v);
		if (d == floor(d) && d >= (double)min && d <= (double)max) {
			*value = (uint64_t)d;
			return AUC_OK;
		}
	}
	return reader_expected(r, v, "a whole number from %llu to %llu", (unsigned long long)min,
			       (unsigned long long)max);
}

enum auc_code read_text(struct reader *r, struct json_object *v, const char *what,
			const char **text)
{
	if (!json_object_is_type(v, json_type_string) || !json_object_get_string_len(v))
		return reader_expected(r, v, "%s", what);
	*text = json_object_get_string(v);
	return AUC_OK;
}

enum auc_code
read_array(struct reader *r, struct json_object *v, size_t size, void **list, unsigned *n,
	   enum auc_code (*read)(struct reader *r, struct json_object *v, void *element))
{
	enum auc_code rc = AUC_OK;
	size_t count, i, mark;

	if (!json_object_is_type(v, json_type_array))
		return reader_expected(r, v, "an array");
	count = json_object_array_length(v);
	*list = calloc(count ? count : 1, size);
	if (!*list)
		return reader_fail(r, AUC_ENOMEM, "no memory");
	for (i = 0; i < count && rc == AUC_OK; i++) {
		mark = reader_enter_index(r, i);
		*n = (unsigned)i + 1;
		rc = read(r, json_object_array_get_idx(v, i), (char *)*list + i * size);
		reader_leave(r, mark);
	}
	return rc;
}

static enum auc_code read_all(FILE *in, const char *path, char **text, size_t *len,
			      struct auc_err *err)
{
	size_t alloc = 0, n;
	char *grown;

	do {
		if (alloc - *len < 2) {
			alloc = alloc ? 2 * alloc : 65536;
			grown = alloc < INT_MAX ? realloc(*text, alloc) : NULL;
			if (!grown)
				return auc_err_set(err, AUC_ENOMEM, "%s: too large", path);
			*text = grown;
		}
		n = fread(*text + *len, 1, alloc - *len - 1, in);
		*len += n;
	} while (n);
	if (ferror(in))
		return auc_err_set(err, AUC_EIO, "%s: %s", path, strerror(errno));
	(*text)[*len] = '\0';
	return AUC_OK;
}

static enum auc_code syntax_error(const char *text, size_t at, const char *name, const char *why,
				  struct auc_err *err)
{
	size_t line = 1, column = 1, i;

	for (i = 0; i < at; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return auc_err_set(err, AUC_EINVAL,
			   "%.160s: line %zu, column %zu: expected one JSON value, found: %s", name,
			   line, column, why);
}

/* What json-c takes in TEXT and JSON does not know, and WHY; NULL: nothing. */
static const char *find_fault(const char *text, const char **why)
{
	const char *p = text, *fault;

	while (*p) {
		if (*p == '"') {
			fault = string_fault(p, why);
			if (fault)
				return fault;
			p = string_end(p) + 1;
		} else if (isdigit((unsigned char)*p) || (*p == '-' && p[1] != 'I')) {
			*why = "a number that is not written as in JSON";
			fault = p;
			p = number_end(p);
			if (!p)
				return fault;
		} else {
			p++; /* infinity and NaN are left to who knows their path */
		}
	}
	return NULL;
}

/* NULL: it is none. */
static const char *number_end(const char *p)
{
	static const char digits[] = "0123456789";
	size_t n;

	p += *p == '-';
	n = *p == '0' ? 1 : strspn(p, digits);
	if (!n)
		return NULL;
	p += n;
	if (*p == '.') {
		n = strspn(p + 1, digits);
		if (!n)
			return NULL;
		p += 1 + n;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '+' || *p == '-';
		n = strspn(p, digits);
		if (!n)
			return NULL;
		p += n;
	}
	return isdigit((unsigned char)*p) ? NULL : p;
}

/* In the string that P opens, whose bytes json-c has looked at one by one. */
static const char *string_fault(const char *p, const char **why)
{
	static const char first[] = "89ab", second[] = "cdef";

	for (p++; *p != '"'; p++) {
		*why = "a control character within a text";
		if ((unsigned char)*p < 0x20)
			return p;
		*why = "bytes that are not UTF-8";
		if (!is_utf8((const unsigned char *)p))
			return p;
		if (*p != '\\')
			continue;
		*why = "half a character";
		if (is_half(p, second) || (is_half(p, first) && !is_half(p + 6, second)))
			return p;
		p += is_half(p, first) ? 7 : 1; /* then come digits */
	}
	return NULL;
}

/* Of what has the right number of bytes: nothing too long, no half of a pair, nothing too large. */
static bool is_utf8(const unsigned char *p)
{
	return !(p[0] == 0xc0 || p[0] == 0xc1 || p[0] > 0xf4 || (p[0] == 0xe0 && p[1] < 0xa0) ||
		 (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
		 (p[0] == 0xf4 && p[1] > 0x8f));
}

/* P writes a half of a surrogate pair, whose second digit is one of DIGITS. */
static bool is_half(const char *p, const char *digits)
{
	return p[0] == '\\' && p[1] == 'u' && tolower((unsigned char)p[2]) == 'd' && p[3] &&
	       strchr(digits, tolower((unsigned char)p[3]));
}

/* TEXT has been parsed: it is sound and not too deep. */
static enum auc_code check_keys(const char *text, const char *name, struct auc_err *err)
{
	struct level levels[DEPTH_MAX + 1], *l = levels;
	enum auc_code rc = AUC_OK;
	const char *p, *end;

	memset(levels, 0, sizeof(levels));
	for (p = text; *p && rc == AUC_OK; p++) {
		switch (*p) {
		case '"':
			end = string_end(p);
			if (l->at_key) {
				l->key = p;
				l->key_len = (size_t)(end - p) + 1;
				l->at_key = false;
				rc = see_key(levels, (unsigned)(l - levels), name, err);
			}
			p = end;
			break;
		case '{':
		case '[':
			l++;
			memset(l, 0, sizeof(*l));
			l->at_key = *p == '{';
			l->keys = *p == '{' ? json_object_new_object() : NULL;
			if (*p == '{' && !l->keys)
				rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
			break;
		case '}':
		case ']':
			json_object_put(l->keys);
			l->keys = NULL;
			l--;
			break;
		case ',':
			l->index++;
			l->at_key = l->keys != NULL;
			break;
		}
	}
	for (; l > levels; l--)
		json_object_put(l->keys);
	return rc;
}

static enum auc_code see_key(struct level *levels, unsigned depth, const char *name,
			     struct auc_err *err)
{
	struct json_object *key = decode_key(&levels[depth]), *k;
	const char *text = key ? json_object_get_string(key) : NULL;
	enum auc_code rc = AUC_OK;
	struct reader r;
	unsigned i;

	if (!text) {
		json_object_put(key);
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
	}
	if (json_object_object_get_ex(levels[depth].keys, text, NULL)) {
		reader_init(&r, name, NULL, err);
		for (i = 1; i <= depth; i++) {
			if (!levels[i].keys) {
				reader_enter_index(&r, levels[i].index);
				continue;
			}
			k = decode_key(&levels[i]);
			reader_enter_key(&r, k ? json_object_get_string(k) : "?");
			json_object_put(k);
		}
		rc = reader_fail(&r, AUC_EINVAL, "expected each key once, found it twice");
	} else if (json_object_object_add(levels[depth].keys, text, NULL)) {
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
	}
	json_object_put(key);
	return rc;
}

/* The key at hand as a JSON text. */
static struct json_object *decode_key(const struct level *l)
{
	struct json_tokener *tok;
	struct json_object *key;

	if (!memchr(l->key, '\\', l->key_len))
		return json_object_new_string_len(l->key + 1, (int)l->key_len - 2);
	tok = json_tokener_new();
	if (!tok)
		return NULL;
	key = json_tokener_parse_ex(tok, l->key, (int)l->key_len);
	json_tokener_free(tok);
	return key;
}

/* The closing quote of the string that P opens. */
static const char *string_end(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		p += *p == '\\' && p[1];
	return p;
}

/* Texts become C strings: one with a NUL would be cut. */
static enum auc_code check_texts(struct json_object *v, const char *name, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	size_t i;

	if (json_object_is_type(v, json_type_string) &&
	    strlen(json_object_get_string(v)) != (size_t)json_object_get_string_len(v))
		return auc_err_set(err, AUC_EINVAL,
				   "%.160s: '%.80s...': expected no NUL within a text", name,
				   json_object_get_string(v));
	if (json_object_is_type(v, json_type_array))
		for (i = 0; i < json_object_array_length(v) && rc == AUC_OK; i++)
			rc = check_texts(json_object_array_get_idx(v, i), name, err);
	if (json_object_is_type(v, json_type_object)) {
		json_object_object_foreach(v, key, member)
		{
			(void)key;
			if (rc == AUC_OK)
				rc = check_texts(member, name, err);
		}
	}
	return rc;
}

static void describe(struct json_object *v, char *text, size_t size)
{
	const char *json;
	size_t i;

	if (json_object_is_type(v, json_type_object)) {
		snprintf(text, size, "an object");
		return;
	}
	if (json_object_is_type(v, json_type_array)) {
		snprintf(text, size, "an array of %zu", json_object_array_length(v));
		return;
	}
	json = json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
	snprintf(text, size, "%.*s%s", FOUND_MAX, json ? json : "null",
		 json && strlen(json) > FOUND_MAX ? "..." : "");
	for (i = 0; text[i]; i++) /* a value cut within a character */
		if ((unsigned char)text[i] >= 0x80 && strlen(json) > FOUND_MAX)
			text[i] = '?';
}

static void append(struct reader *r, const char *fmt, ...)
{
	size_t room = r->len < sizeof(r->path) ? sizeof(r->path) - r->len : 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? r->path + r->len : NULL, room, fmt, ap);
	va_end(ap);
	r->len += n > 0 ? (size_t)n : 0;
}

static const struct field *find_field(const struct field *fields, unsigned n, const char *key)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(fields[i].key, key))
			return &fields[i];
	return NULL;
}

static enum auc_code unknown_key(struct reader *r, const struct field *fields, unsigned n)
{
	char keys[400] = "";
	size_t len = 0;
	unsigned i;

	for (i = 0; i < n && len < sizeof(keys); i++)
		len += (size_t)snprintf(keys + len, sizeof(keys) - len, "%s%s", i ? ", " : "",
					fields[i].key);
	return auc_err_set(r->err, AUC_EINVAL, "%.160s: %.200s: unknown key, expected one of %s",
			   r->file, r->path, keys);
}
