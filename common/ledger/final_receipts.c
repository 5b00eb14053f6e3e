/* final_receipts.c - see final_receipts.h. */
#include "config.h"

#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "ledger/final_receipts.h"
#include "ledger/receipt.h"

#define FORMAT         "auction_receipts"
#define FORMAT_VERSION 1

static enum auc_code read_entry(struct json_object *o, auc_final_fn fn, void *arg,
				struct auc_err *err);

enum auc_code auc_finals_read(const char *text, size_t len, auc_final_fn fn, void *arg,
			      struct auc_err *err)
{
	struct json_object *o = auc_json_parse(text, len), *entries;
	enum auc_code rc = AUC_OK;
	int64_t version;

	if (!o ||
	    auc_json_int(o, FORMAT, FORMAT_VERSION, FORMAT_VERSION, &version, NULL) != AUC_OK ||
	    !json_object_object_get_ex(o, "entries", &entries) ||
	    !json_object_is_type(entries, json_type_array))
		rc = auc_err_set(err, AUC_ECORRUPT, "not a file of final receipts (format %d)",
				 FORMAT_VERSION);
	for (size_t i = 0; rc == AUC_OK && i < json_object_array_length(entries); i++) {
		rc = read_entry(json_object_array_get_idx(entries, i), fn, arg, err);
		if (rc != AUC_OK)
			auc_err_prefix(err, "entry %zu", i);
	}
	json_object_put(o);
	return rc;
}

static enum auc_code read_entry(struct json_object *o, auc_final_fn fn, void *arg,
				struct auc_err *err)
{
	struct auc_final f = {.job_id = 0};
	char sale[AUC_SALE_ID_LEN] = "";
	struct json_object *text;
	struct auc_err why;
	int64_t job = 0;
	enum auc_code rc = auc_json_int(o, "job", 1, UINT32_MAX, &job, &why);

	if (rc == AUC_OK)
		rc = auc_json_text(o, "sale", sale, sizeof(sale), &why);
	if (rc == AUC_OK && !*sale)
		rc = auc_err_set(&why, AUC_EINVAL, "sale: expected an id");
	if (rc == AUC_OK)
		rc = auc_json_double(o, "since", 0, AUC_FINAL_TIME_MAX, &f.since, &why);
	if (rc == AUC_OK)
		rc = auc_json_bool(o, "done", &f.done, &why);
	if (rc == AUC_OK &&
	    (!json_object_object_get_ex(o, "text", &text) ||
	     !json_object_is_type(text, json_type_string) ||
	     !auc_receipt_is(json_object_get_string(text)) ||
	     strlen(json_object_get_string(text)) != (size_t)json_object_get_string_len(text)))
		rc = auc_err_set(&why, AUC_EINVAL, "text: expected a receipt");
	if (rc != AUC_OK)
		return auc_err_set(err, AUC_ECORRUPT, "%s", why.text);
	f.job_id = (uint32_t)job;
	f.sale = sale;
	f.text = json_object_get_string(text);
	return fn(arg, &f, err);
}

char *auc_final_line(const struct auc_final *f)
{
	struct json_object *o = json_object_new_object();
	char *line = NULL;
	const char *text;
	size_t len;

	if (o && auc_json_add_int(o, "job", f->job_id) && auc_json_add_text(o, "sale", f->sale) &&
	    auc_json_add(o, "since", json_object_new_double(f->since)) &&
	    auc_json_add_text(o, "text", f->text)) {
		text = json_object_to_json_string_length(
			o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
		if (text)
			line = strndup(text, len - 1); /* without the last brace */
	}
	json_object_put(o);
	return line;
}

void auc_finals_begin(FILE *out)
{
	fprintf(out, "{\"%s\":%d,\"entries\":[", FORMAT, FORMAT_VERSION);
}

void auc_finals_add(FILE *out, bool first, const char *line, bool done)
{
	fprintf(out, "%s%s,\"done\":%s}", first ? "" : ",", line, done ? "true" : "false");
}

void auc_finals_end(FILE *out)
{
	fputs("]}", out);
}
