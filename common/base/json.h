/*
 * json.h - members of JSON objects, written and read with checks: what events, receipts and the
 * status share. For libauction itself, over json-c.
 */
#ifndef AUC_JSON_H
#define AUC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/named.h"
#include "base/num.h"

struct json_object;

/* Gives VALUE (NULL: no memory) to O under KEY. False, with VALUE put, if there is no memory. */
bool auc_json_add(struct json_object *o, const char *key, struct json_object *value);
bool auc_json_add_text(struct json_object *o, const char *key, const char *text);
bool auc_json_add_int(struct json_object *o, const char *key, int64_t value);
bool auc_json_add_bool(struct json_object *o, const char *key, bool value);
bool auc_json_add_double(struct json_object *o, const char *key, double value);
/* The same as the shortest text that reads back to the same double. */
bool auc_json_add_number(struct json_object *o, const char *key, double value);
bool auc_json_add_money(struct json_object *o, const char *key, auc_money value);
/* auc_json_add() if OK, which says that VALUE is whole; else VALUE (or NULL) is put. False if OK
 * was, or there is no memory. */
bool auc_json_add_if(bool ok, struct json_object *o, const char *key, struct json_object *value);
/* Gives ELEMENT (NULL: no memory) to ARRAY. False, with ELEMENT put, if there is no memory. */
bool auc_json_push(struct json_object *array, struct json_object *element);
/* The same if OK, which says that ELEMENT is whole; else ELEMENT (or NULL) is put. False if OK was,
 * or there is no memory. */
bool auc_json_push_if(bool ok, struct json_object *array, struct json_object *element);
/* O if OK, which says that it is whole; else NULL, and O (or NULL) is put. */
struct json_object *auc_json_if(bool ok, struct json_object *o);

/* Reads a member that must be there, of that type and in that range. AUC_EINVAL names the key and
 * what was expected. */
enum auc_code auc_json_text(struct json_object *o, const char *key, char *text, size_t size,
			    struct auc_err *err);
enum auc_code auc_json_int(struct json_object *o, const char *key, int64_t min, int64_t max,
			   int64_t *value, struct auc_err *err);
enum auc_code auc_json_bool(struct json_object *o, const char *key, bool *value,
			    struct auc_err *err);
enum auc_code auc_json_double(struct json_object *o, const char *key, double min, double max,
			      double *value, struct auc_err *err);
/* Money from 0 to AUC_MONEY_MAX, as text. */
enum auc_code auc_json_money(struct json_object *o, const char *key, auc_money *value,
			     struct auc_err *err);
/* The same up to INT64_MAX: sums. */
enum auc_code auc_json_sum(struct json_object *o, const char *key, auc_money *value,
			   struct auc_err *err);
/* An object of at most MAX amounts >= 0 by name. */
enum auc_code auc_json_amounts(struct json_object *o, const char *key, unsigned max,
			       struct auc_named *list, unsigned *n, struct auc_err *err);

/* The one JSON object that TEXT, LEN bytes and a NUL, consists of, to the last byte. NULL: it is
 * something else, or no memory. */
struct json_object *auc_json_parse(const char *text, size_t len);

/*
 * *O: the JSON value at the beginning of TEXT, LEN bytes (below 2 GiB) and a NUL, in at most DEPTH
 * levels; *END: where it ends. JSON as its standard has it, but that bytes above 127 are taken as
 * they are in texts, UTF-8 or not. AUC_EINVAL: *END is where something is wrong, and *WHY says
 * what; AUC_ENOMEM: neither is set. *O is NULL then.
 */
enum auc_code auc_json_parse_any(const char *text, size_t len, int depth, struct json_object **o,
				 size_t *end, const char **why);

#endif
