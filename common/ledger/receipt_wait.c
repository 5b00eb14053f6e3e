/* receipt_wait.c - receipts of bids that stand: see receipt.h and doc/receipt.md. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "ledger/receipt-private.h"

#define TIME_MAX  1e11
#define PRICE_MAX 1e9
#define TASKS_MAX 4000001 /* of an array: what MaxArraySize may be */

static struct json_object *begin(const struct auc_waiting *w, const char *state);
static char *print(struct json_object *o, bool ok);
static enum auc_code read_count(struct json_object *o, const char *key, unsigned *n,
				struct auc_err *err);

char *auc_receipt_print_waiting(const struct auc_waiting *w, const struct auc_seal *seal)
{
	struct json_object *o = begin(w, "waiting"), *secret = json_object_new_object();
	char *sealed = NULL;
	bool ok = o && seal && secret && auc_json_add_text(secret, "bid", w->bid) &&
		  auc_json_add_double(secret, "max_price", w->max_price);

	if (ok)
		sealed = auc_seal_close(
			seal, w->id,
			json_object_to_json_string_ext(
				secret, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	ok = sealed && auc_json_add_text(o, "sealed", sealed);
	free(sealed);
	json_object_put(secret);
	return print(o, ok);
}

char *auc_receipt_print_unsold(const struct auc_waiting *w, const char *why)
{
	struct json_object *o = begin(w, "unsold");

	return print(o, o && auc_json_add_text(o, "why", why));
}

enum auc_code auc_receipt_open_waiting(const char *text, const struct auc_seal *seal,
				       struct auc_waiting *w, struct auc_err *err)
{
	struct json_object *o = NULL, *secret = NULL, *bid = NULL, *sealed = NULL;
	char *opened = NULL;
	struct auc_receipt r;
	enum auc_code rc;

	memset(w, 0, sizeof(*w));
	rc = auc_receipt_parse(text, &r, err);
	if (rc == AUC_OK && strcmp(r.state, "waiting"))
		rc = auc_err_set(err, AUC_ESTATE, "receipt: state is '%s', expected waiting",
				 r.state);
	if (rc == AUC_OK) {
		strcpy(w->id, r.sale);
		w->since = r.since;
		w->until = r.until;
		w->tasks = r.tasks;
		o = auc_json_parse(text, strlen(text));
		if (seal && json_object_object_get_ex(o, "sealed", &sealed) &&
		    json_object_is_type(sealed, json_type_string))
			opened = auc_seal_open(seal, w->id, json_object_get_string(sealed));
		secret = opened ? auc_json_parse(opened, strlen(opened)) : NULL;
		if (rc == AUC_OK && (!secret || !json_object_object_get_ex(secret, "bid", &bid) ||
				     !json_object_is_type(bid, json_type_string)))
			rc = auc_err_set(err, AUC_EINVAL,
					 "receipt: sealed: expected a bid, sealed with the key of "
					 "this controller");
	}
	if (rc == AUC_OK)
		rc = auc_json_double(secret, "max_price", -1, PRICE_MAX, &w->max_price, err);
	if (rc == AUC_OK)
		rc = read_count(o, "at_once", &w->at_once, err);
	if (rc == AUC_OK && json_object_object_get_ex(o, "stays", NULL))
		rc = auc_json_bool(o, "stays", &w->stays, err);
	if (rc == AUC_OK && !(w->bid = strdup(json_object_get_string(bid))))
		rc = auc_err_set(err, AUC_ENOMEM, "out of memory for a bid that stands");
	free(opened);
	json_object_put(secret);
	json_object_put(o);
	auc_receipt_clear(&r);
	return rc;
}

bool auc_receipt_is_waiting(const struct auc_receipt *r)
{
	return !strcmp(r->state, "waiting") || !strcmp(r->state, "unsold");
}

enum auc_code auc_receipt_read_waiting(struct json_object *o, struct auc_receipt *r,
				       struct auc_err *err)
{
	enum auc_code rc = auc_json_double(o, "since", 0, TIME_MAX, &r->since, err);

	if (rc == AUC_OK)
		rc = auc_json_double(o, "until", 0, TIME_MAX, &r->until, err);
	if (rc == AUC_OK)
		rc = read_count(o, "tasks", &r->tasks, err);
	if (rc == AUC_OK && !strcmp(r->state, "unsold"))
		rc = auc_json_text(o, "why", r->why, sizeof(r->why), err);
	return rc;
}

/* 0: there is none. */
static enum auc_code read_count(struct json_object *o, const char *key, unsigned *n,
				struct auc_err *err)
{
	int64_t count = 0;
	enum auc_code rc = AUC_OK;

	if (json_object_object_get_ex(o, key, NULL))
		rc = auc_json_int(o, key, 1, TASKS_MAX, &count, err);
	*n = (unsigned)count;
	return rc;
}

static struct json_object *begin(const struct auc_waiting *w, const char *state)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_int(o, "auction", AUC_RECEIPT_VERSION) &&
	    auc_json_add_text(o, "sale", w->id) && auc_json_add_text(o, "state", state) &&
	    auc_json_add_double(o, "since", w->since) &&
	    auc_json_add_double(o, "until", w->until) &&
	    (!w->tasks || auc_json_add_int(o, "tasks", w->tasks)) &&
	    (!w->at_once || auc_json_add_int(o, "at_once", w->at_once)) &&
	    (!w->stays || auc_json_add_bool(o, "stays", true)))
		return o;
	json_object_put(o);
	return NULL;
}

/* Takes O over. */
static char *print(struct json_object *o, bool ok)
{
	char *text = ok ? strdup(json_object_to_json_string_ext(
				  o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE))
			: NULL;

	json_object_put(o);
	return text;
}
