/*
 * fuzz_receipt.c - any bytes as a receipt, as it is and with its long members packed or unpacked,
 * alone and against small markets of dps, gangs and eris. What is accepted must be within its
 * bounds; a sale that comes out of it must be printed and read back as the same sale.
 */
#include "config.h"

#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/packed.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_receipt.h"

#define TEXT_MAX (1u << 20) /* of a receipt, and of what is packed in one */

static void try_packed(const char *text);
static void try_text(const char *text);
static void try_other_form(const char *text);
static bool move_long(struct json_object *from, struct json_object *to);
static void try_sale(const char *text, const struct auc_market *m, const struct auc_receipt *r);
static void same_again(const struct auc_sale *sale, const struct auc_market *m,
		       const struct auc_seal *seal);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	try_packed(text);
	try_text(text);
	try_other_form(text);
	free(text);
	return 0;
}

/* As what is packed, and as something to be packed. */
static void try_packed(const char *text)
{
	static const char shell[] = "{\"auction\":1,\"sale\":\"a-1\",\"state\":\"sold\",\"packed\":"
				    "\"%s\"}";
	char *unpacked = auc_unpack(text, 5000), *packed, *again, *whole;
	struct auc_receipt r;
	struct auc_err err;
	size_t len = strlen(text);

	if (unpacked) {
		REQUIRE(strlen(unpacked) <= 5000);
		packed = auc_pack(unpacked);
		again = packed ? auc_unpack(packed, strlen(unpacked)) : NULL;
		REQUIRE(again && !strcmp(again, unpacked));
		free(again);
		free(packed);
		free(unpacked);
	}
	packed = auc_pack(text);
	REQUIRE(packed);
	again = auc_unpack(packed, len);
	REQUIRE(again && !strcmp(again, text));
	REQUIRE(!len || !auc_unpack(packed, len - 1));
	whole = malloc(sizeof(shell) + strlen(packed));
	REQUIRE(whole);
	sprintf(whole, shell, packed);
	REQUIRE(auc_receipt_parse(whole, &r, &err) == AUC_EINVAL && !r.runs && !r.shares);
	free(whole);
	free(again);
	free(packed);
}

static void try_text(const char *text)
{
	struct auc_err err = {.text = ""};
	struct auc_receipt r;
	enum auc_code rc = auc_receipt_parse(text, &r, &err);

	if (rc != AUC_OK) {
		static const struct auc_receipt none;

		REQUIRE(rc == AUC_EINVAL && err.code == rc && !strncmp(err.text, "receipt: ", 9));
		REQUIRE(!memcmp(&r, &none, sizeof(r)));
		return;
	}
	receipt_check(&r);
	for (unsigned i = 0; i < FUZZ_MARKETS; i++)
		try_sale(text, fuzz_market(i), &r);
	auc_receipt_clear(&r);
}

/* What is packed unpacked, and the reverse: the same receipt, or the same refusal. */
static void try_other_form(const char *text)
{
	size_t len = strlen(text);
	struct json_object *o = len && len < TEXT_MAX / 2 ? auc_json_parse(text, len) : NULL, *v;
	struct json_object *whole = json_object_new_object();
	struct auc_receipt plain, other;
	char *packed = NULL;
	const char *made;
	bool ok = o && !json_object_object_get_ex(o, "packed", &v) && move_long(o, whole);

	if (ok) {
		packed = auc_pack(json_object_to_json_string_ext(whole, JSON_C_TO_STRING_PLAIN));
		REQUIRE(packed && auc_json_add_text(o, "packed", packed));
		made = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
		if (auc_receipt_parse(text, &plain, NULL) == AUC_OK) {
			REQUIRE(auc_receipt_parse(made, &other, NULL) == AUC_OK);
			REQUIRE(plain.nruns == other.nruns && plain.nshares == other.nshares &&
				plain.nchunks == other.nchunks && plain.nmoves == other.nmoves);
			REQUIRE(!plain.nruns ||
				!memcmp(plain.runs, other.runs, plain.nruns * sizeof(*plain.runs)));
			auc_receipt_clear(&plain);
			auc_receipt_clear(&other);
			try_text(made);
		} else {
			REQUIRE(auc_receipt_parse(made, &other, NULL) != AUC_OK);
		}
	}
	free(packed);
	json_object_put(whole);
	json_object_put(o);
}

static bool move_long(struct json_object *from, struct json_object *to)
{
	static const char *const keys[] = {"plan", "chunks", "transfers"};
	struct json_object *v;

	for (unsigned i = 0; i < 3; i++) {
		if (!json_object_object_get_ex(from, keys[i], &v))
			continue;
		if (json_object_object_add(to, keys[i], json_object_get(v)))
			return false;
		json_object_object_del(from, keys[i]);
	}
	return true;
}

static void try_sale(const char *text, const struct auc_market *m, const struct auc_receipt *r)
{
	struct auc_err err = {.text = ""};
	const struct auc_run *run;
	struct auc_sale sale;
	enum auc_code rc = auc_receipt_to_sale(text, m, fuzz_seal(), &sale, &err);

	if (rc != AUC_OK) {
		REQUIRE((rc == AUC_EINVAL || rc == AUC_ENOENT || rc == AUC_ESTATE) && *err.text);
		REQUIRE(!sale.bid && !sale.plan.runs && !sale.plan.shares);
		return;
	}
	REQUIRE(!strcmp(sale.id, r->sale) && sale.payment == r->payment &&
		sale.payment <= sale.value && sale.value <= AUC_MONEY_MAX && sale.bid);
	REQUIRE(sale.state != AUC_SALE_SETTLED &&
		!strcmp(auc_sale_state_word(sale.state), r->state));
	REQUIRE(auc_plan_check(&sale.plan, NULL) == AUC_OK);
	REQUIRE(sale.plan.nruns == r->nruns && sale.plan.gang == r->gang);
	for (unsigned i = 0; i < r->nruns; i++) {
		run = &sale.plan.runs[i];
		REQUIRE(run->from == r->runs[i].from && run->to == r->runs[i].to &&
			run->nshares == r->runs[i].nshares);
		for (unsigned k = 0; k < run->nshares; k++)
			REQUIRE(sale.plan.shares[run->first_share + k].server <
				auc_market_nservers(m));
	}
	same_again(&sale, m, fuzz_seal());
	same_again(&sale, m, NULL);
	auc_sale_clear(&sale);
}

/* Printed and read back it is the same sale, with its value and bid for the holder of the key. */
static void same_again(const struct auc_sale *sale, const struct auc_market *m,
		       const struct auc_seal *seal)
{
	char *text = auc_receipt_print(sale, m, seal, 0, NULL), *twice;
	struct auc_err err = {.text = ""};
	struct auc_sale back;

	REQUIRE(text && !strchr(text, '\n') && auc_receipt_is(text));
	if (auc_receipt_to_sale(text, m, seal, &back, &err) != AUC_OK) {
		fprintf(stderr, "%s\n%s\n", text, err.text);
		REQUIRE(false);
	}
	REQUIRE(auc_plan_same(&sale->plan, &back.plan) && back.payment == sale->payment);
	if (seal && *sale->bid)
		REQUIRE(back.value == sale->value && !strcmp(back.bid, sale->bid));
	else
		REQUIRE(back.value == back.payment &&
			(!*back.bid || back.plan.nmoves || strstr(text, "\"transfers\"")));
	twice = auc_receipt_print(&back, m, seal, 0, NULL);
	REQUIRE(twice && !strcmp(text, twice));
	free(twice);
	free(text);
	auc_sale_clear(&back);
}
