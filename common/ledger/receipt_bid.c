/*
 * receipt_bid.c - see receipt-private.h. Anybody can read a receipt, so what its user bid is in it
 * sealed, for a controller that has lost its spool and kept its key; where the data lie is not
 * secret, and the launcher needs it.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/list.h"
#include "input/bid.h"
#include "ledger/receipt-private.h"

static bool add_sealed(struct json_object *o, const struct auc_sale *sale,
		       const struct auc_seal *seal);
static bool add_data(struct json_object *o, const char *text);
static bool add_planned(struct json_object *o, const char *text);
static struct json_object *open_sealed(struct json_object *o, const struct auc_seal *seal,
				       const char *sale);
static enum auc_code data_of_bid(const char *text, struct auc_receipt *r, struct auc_err *err);
static enum auc_code data_as_bid(struct json_object *o, char **text, struct auc_err *err);
static bool parse_data(const char *text, struct auc_bid *bid);

bool auc_receipt_add_bid(struct json_object *o, const struct auc_sale *sale,
			 const struct auc_seal *seal)
{
	bool settled = sale->state == AUC_SALE_SETTLED;

	if (json_object_object_get_ex(o, "transfers", NULL) && !add_data(o, sale->bid))
		return false;
	if (!add_planned(o, sale->bid))
		return false;
	return !seal || settled || !sale->bid || !*sale->bid || add_sealed(o, sale, seal);
}

/* For how many times what it states the job was planned, if its bid TEXT says that. */
static bool add_planned(struct json_object *o, const char *text)
{
	static const char word[] = " planned=";
	const char *at = text ? strstr(text, word) : NULL;
	double planned = at ? strtod(at + strlen(word), NULL) : 0;

	return !(planned > 0) || auc_json_add_number(o, "planned", planned);
}

enum auc_code auc_receipt_take_bid(struct json_object *o, const struct auc_seal *seal,
				   struct auc_sale *sale, struct auc_err *err)
{
	struct json_object *opened = NULL, *from = o, *bid;
	enum auc_code rc = AUC_OK;
	const char *text = "";

	sale->value = sale->payment;
	if (!json_object_object_get_ex(o, "bid", NULL))
		from = opened = open_sealed(o, seal, sale->id);
	if (from && json_object_object_get_ex(from, "bid", &bid)) {
		text = json_object_get_string(bid);
		rc = auc_json_money(from, "value", &sale->value, err);
	}
	if (rc == AUC_OK && sale->payment > sale->value)
		rc = auc_err_set(err, AUC_EINVAL, "payment: more than the value");
	if (rc == AUC_OK && !*text && json_object_object_get_ex(o, "transfers", NULL))
		rc = data_as_bid(o, &sale->bid, err);
	else if (rc == AUC_OK && !(sale->bid = strdup(text)))
		rc = auc_err_set(err, AUC_ENOMEM, "out of memory");
	json_object_put(opened);
	return rc;
}

enum auc_code auc_receipt_read_data(struct json_object *o, struct auc_receipt *r,
				    struct auc_err *err)
{
	struct json_object *list, *bid;
	enum auc_code rc = AUC_OK;
	size_t n;

	if (!json_object_object_get_ex(o, "data", &list)) {
		if (json_object_object_get_ex(o, "bid", &bid))
			return data_of_bid(json_object_get_string(bid), r, err);
		return auc_err_set(err, AUC_EINVAL, "data: expected where the chunks lie");
	}
	n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	if (!n || n > AUC_BID_DATA_MAX)
		return auc_err_set(err, AUC_EINVAL, "data: expected 1 to %d places",
				   AUC_BID_DATA_MAX);
	for (r->ndata = 0; rc == AUC_OK && r->ndata < n; r->ndata++) {
		struct json_object *place = json_object_array_get_idx(list, r->ndata);
		struct auc_named *to = &r->data[r->ndata];
		int64_t chunks = 0;

		rc = auc_json_text(place, "server", to->name, sizeof(to->name), err);
		if (rc == AUC_OK)
			rc = auc_json_int(place, "chunks", 1, AUC_WORK_MAX, &chunks, err);
		to->value = (double)chunks;
		if (rc == AUC_OK && auc_list_find(r->data, r->ndata, to->name))
			rc = auc_err_set(err, AUC_EINVAL, "%s: named twice, expected once",
					 to->name);
	}
	if (rc != AUC_OK)
		auc_err_prefix(err, "data");
	return rc;
}

static bool add_sealed(struct json_object *o, const struct auc_sale *sale,
		       const struct auc_seal *seal)
{
	struct json_object *secret = json_object_new_object();
	char *sealed = NULL;
	bool ok;

	if (secret && auc_json_add_money(secret, "value", sale->value) &&
	    auc_json_add_text(secret, "bid", sale->bid))
		sealed = auc_seal_close(
			seal, sale->id,
			json_object_to_json_string_ext(
				secret, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	ok = sealed && auc_json_add_text(o, "sealed", sealed);
	free(sealed);
	json_object_put(secret);
	return ok;
}

static bool add_data(struct json_object *o, const char *text)
{
	struct auc_bid *bid = malloc(sizeof(*bid));
	struct json_object *list = json_object_new_array(), *place;
	bool ok = bid && list && parse_data(text ? text : "", bid);

	for (unsigned i = 0; ok && i < bid->ndata; i++) {
		place = json_object_new_object();
		ok = place && auc_json_add_text(place, "server", bid->data[i].name) &&
		     auc_json_add_int(place, "chunks", (int64_t)bid->data[i].value);
		ok = auc_json_push_if(ok, list, place);
	}
	free(bid);
	if (ok)
		return auc_json_add(o, "data", list);
	json_object_put(list);
	return false;
}

/* NULL: there is nothing sealed, or it cannot be opened. */
static struct json_object *open_sealed(struct json_object *o, const struct auc_seal *seal,
				       const char *sale)
{
	struct json_object *sealed, *opened;
	char *text;

	if (!seal || !json_object_object_get_ex(o, "sealed", &sealed) ||
	    !json_object_is_type(sealed, json_type_string))
		return NULL;
	text = auc_seal_open(seal, sale, json_object_get_string(sealed));
	opened = text ? auc_json_parse(text, strlen(text)) : NULL;
	free(text);
	return opened;
}

/*
 * Where the data of O lie, as words of a bid, for a sale whose bid nobody can read any more: the
 * launcher needs them when the receipt is printed again. The text has no value, so it is no bid.
 */
static enum auc_code data_as_bid(struct json_object *o, char **text, struct auc_err *err)
{
	struct auc_receipt *r = calloc(1, sizeof(*r));
	struct auc_bid *bid = malloc(sizeof(*bid));
	enum auc_code rc = r && bid ? auc_receipt_read_data(o, r, err)
				    : auc_err_set(err, AUC_ENOMEM, "out of memory");
	uint64_t chunks = 0;
	size_t size;
	FILE *out = rc == AUC_OK ? open_memstream(text, &size) : NULL;

	if (rc == AUC_OK && !out)
		rc = auc_err_set(err, AUC_ENOMEM, "out of memory");
	for (unsigned i = 0; out && i < r->ndata; i++)
		chunks += (uint64_t)r->data[i].value;
	if (out)
		fprintf(out, "chunks=%" PRIu64 " data=", chunks);
	for (unsigned i = 0; out && i < r->ndata; i++)
		fprintf(out, "%s%s=%.0f", i ? "," : "", r->data[i].name, r->data[i].value);
	if (out && fclose(out))
		rc = auc_err_set(err, AUC_ENOMEM, "out of memory");
	if (rc == AUC_OK && !parse_data(*text, bid))
		rc = auc_err_set(err, AUC_EINVAL, "data: expected servers and chunks as in a bid");
	if (rc != AUC_OK && out) {
		free(*text);
		*text = NULL;
	}
	free(bid);
	free(r);
	return rc;
}

/* A bid, or what data_as_bid() has made. */
static bool parse_data(const char *text, struct auc_bid *bid)
{
	char *with;
	bool ok = auc_bid_parse(NULL, text, bid, NULL) == AUC_OK;

	if (ok || asprintf(&with, "bid=0 %s", text) < 0)
		return ok;
	ok = auc_bid_parse(NULL, with, bid, NULL) == AUC_OK;
	free(with);
	return ok;
}

static enum auc_code data_of_bid(const char *text, struct auc_receipt *r, struct auc_err *err)
{
	struct auc_bid *bid = malloc(sizeof(*bid));
	enum auc_code rc;

	if (!bid)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	rc = auc_bid_parse(NULL, text, bid, err);
	if (rc == AUC_OK) {
		r->ndata = bid->ndata;
		memcpy(r->data, bid->data, sizeof(r->data));
		if (!r->ndata)
			rc = auc_err_set(err, AUC_EINVAL, "bid: expected where the chunks lie");
	}
	free(bid);
	return rc;
}
