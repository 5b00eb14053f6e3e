/* receipt.c - see receipt.h; the format is doc/receipt.md. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "base/packed.h"
#include "ledger/receipt-private.h"
#include "base/list.h"

#define SLOT_LIMIT (INT64_C(1) << 52)
#define MB_MAX     1e12 /* of one chunk */
#define TEXT_MAX   (1u << 20)

static enum auc_code parse(const char *text, struct json_object **o, struct auc_err *err);
static enum auc_code read_sale(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_old(struct json_object *o, const struct auc_receipt *r,
			      struct auc_err *err);
static enum auc_code read_runs(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_chunks(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_moves(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_move(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code check_moves(const struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_run(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_types(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_shape(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_nodes(struct json_object *o, struct auc_receipt *r, struct auc_err *err);
static enum auc_code read_counts(struct json_object *o, const char *key, bool ps,
				 struct auc_receipt *r, struct auc_err *err);
static struct auc_receipt_share *share_of(struct auc_receipt *r, const char *server);
static bool grow(void **array, unsigned n, size_t size);
static bool add_plan(struct json_object *o, const struct auc_sale *sale,
		     const struct auc_market *m);
static char *print(struct json_object *o);
static char *print_packed(struct json_object *o);
static enum auc_code unpack(struct json_object *o, struct auc_err *err);
static bool move_long(struct json_object *from, struct json_object *to);
static const char *text_of(struct json_object *o);

/* -- public functions -- */

bool auc_receipt_is(const char *text)
{
	static const char key[] = "\"auction\"";

	if (!text)
		return false;
	text += strspn(text, " \t\r\n");
	if (*text++ != '{')
		return false;
	text += strspn(text, " \t\r\n");
	return !strncmp(text, key, sizeof(key) - 1);
}

bool auc_receipt_says(const char *text, const char *state)
{
	static const char key[] = "\"state\":\"";
	const char *at = auc_receipt_is(text) ? strstr(text, key) : NULL;
	size_t len = strlen(state);

	return at && !strncmp(at + sizeof(key) - 1, state, len) && at[sizeof(key) - 1 + len] == '"';
}

enum auc_code auc_receipt_parse(const char *text, struct auc_receipt *r, struct auc_err *err)
{
	struct json_object *o;
	enum auc_code rc;
	int64_t lead;

	memset(r, 0, sizeof(*r));
	rc = parse(text, &o, err);
	if (rc != AUC_OK)
		return rc;
	rc = auc_json_text(o, "sale", r->sale, sizeof(r->sale), err);
	if (rc == AUC_OK && !r->sale[0])
		rc = auc_err_set(err, AUC_EINVAL,
				 "sale: expected a text of at least one character");
	if (rc == AUC_OK)
		rc = auc_json_text(o, "state", r->state, sizeof(r->state), err);
	if (rc == AUC_OK && !strcmp(r->state, "member")) {
		rc = auc_json_int(o, "lead", 1, UINT32_MAX, &lead, err);
		if (rc == AUC_OK)
			r->lead = (uint32_t)lead;
	} else if (rc == AUC_OK && auc_receipt_is_waiting(r)) {
		rc = auc_receipt_read_waiting(o, r, err);
	} else if (rc == AUC_OK) {
		rc = read_sale(o, r, err);
	}
	json_object_put(o);
	if (rc != AUC_OK) {
		auc_receipt_clear(r);
		auc_err_prefix(err, "receipt");
	}
	return rc;
}

void auc_receipt_clear(struct auc_receipt *r)
{
	free(r->runs);
	free(r->shares);
	free(r->chunks);
	free(r->moves);
	memset(r, 0, sizeof(*r));
}

char *auc_receipt_print(const struct auc_sale *sale, const struct auc_market *m,
			const struct auc_seal *seal, auc_money refund, const char *why)
{
	bool settled = sale->state == AUC_SALE_SETTLED;
	struct json_object *o = json_object_new_object();
	bool ok = o && auc_json_add_int(o, "auction", AUC_RECEIPT_VERSION) &&
		  auc_json_add_text(o, "sale", sale->id) &&
		  auc_json_add_text(o, "state", auc_sale_state_word(sale->state)) &&
		  auc_json_add_text(o, "policy", sale->policy) &&
		  auc_json_add_money(o, "payment",
				     settled ? sale->payment - refund : sale->payment) &&
		  auc_payers_write(o, &sale->payers) && add_plan(o, sale, m) &&
		  auc_sale_add_types(o, sale, m) && auc_receipt_add_bid(o, sale, seal);

	if (ok && settled)
		ok = auc_json_add_money(o, "refund", refund) &&
		     auc_json_add_text(o, "why", why ? why : "");
	if (ok)
		return print(o);
	json_object_put(o);
	return NULL;
}

char *auc_receipt_print_member(const char *sale_id, uint32_t lead)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_int(o, "auction", AUC_RECEIPT_VERSION) &&
	    auc_json_add_text(o, "sale", sale_id) && auc_json_add_text(o, "state", "member") &&
	    auc_json_add_int(o, "lead", lead))
		return print(o);
	json_object_put(o);
	return NULL;
}

enum auc_code auc_receipt_to_sale(const char *text, const struct auc_market *m,
				  const struct auc_seal *seal, struct auc_sale *sale,
				  struct auc_err *err)
{
	struct auc_receipt r;
	struct json_object *o;
	enum auc_code rc;

	memset(sale, 0, sizeof(*sale));
	auc_plan_init(&sale->plan);
	rc = auc_receipt_parse(text, &r, err);
	if (rc != AUC_OK)
		return rc;
	if (!strcmp(r.state, "member") || !strcmp(r.state, "settled") || auc_receipt_is_waiting(&r))
		rc = auc_err_set(err, AUC_ESTATE,
				 "receipt: state is '%s', expected lien, sold or running", r.state);
	else if (r.slot_seconds != auc_market_slot_seconds(m))
		rc = auc_err_set(err, AUC_ESTATE, "receipt: slot_seconds is %g, expected %g",
				 r.slot_seconds, auc_market_slot_seconds(m));
	else
		rc = parse(text, &o, err);
	if (rc != AUC_OK) {
		auc_receipt_clear(&r);
		return rc;
	}
	strcpy(sale->id, r.sale);
	strcpy(sale->policy, r.policy);
	sale->payment = r.payment;
	sale->state = !strcmp(r.state, "running") ? AUC_SALE_RUNNING
		      : !strcmp(r.state, "sold")  ? AUC_SALE_SOLD
						  : AUC_SALE_LIEN;
	rc = auc_plan_from_json(o, m, &sale->plan, err);
	if (rc == AUC_OK)
		rc = auc_plan_match_types(&sale->plan, m, o, err);
	if (rc == AUC_OK)
		rc = auc_receipt_take_bid(o, seal, sale, err);
	if (rc == AUC_OK)
		rc = auc_payers_read(o, &sale->payers, err);
	sale->paid = sale->state != AUC_SALE_LIEN;
	sale->plan.value = auc_money_to(sale->value);
	sale->plan.cost = auc_money_to(r.payment);
	if (rc != AUC_OK)
		auc_err_prefix(err, "receipt");
	json_object_put(o);
	auc_receipt_clear(&r);
	if (rc != AUC_OK)
		auc_sale_clear(sale);
	return rc;
}

/* -- reading -- */

static enum auc_code parse(const char *text, struct json_object **o, struct auc_err *err)
{
	size_t len = text ? strlen(text) : 0;
	int64_t version;
	enum auc_code rc;

	*o = len && len <= TEXT_MAX ? auc_json_parse(text, len) : NULL;
	if (!*o)
		return auc_err_set(err, AUC_EINVAL, "receipt: not one JSON object");
	rc = auc_json_int(*o, "auction", AUC_RECEIPT_VERSION, AUC_RECEIPT_VERSION, &version, err);
	if (rc == AUC_OK)
		rc = unpack(*o, err);
	if (rc != AUC_OK) {
		auc_err_prefix(err, "receipt");
		json_object_put(*o);
	}
	return rc;
}

/* Puts what is packed in O where it would be otherwise. */
static enum auc_code unpack(struct json_object *o, struct auc_err *err)
{
	struct json_object *packed, *whole;
	bool ok;
	char *text;

	if (!json_object_object_get_ex(o, "packed", &packed))
		return AUC_OK;
	text = json_object_is_type(packed, json_type_string)
		       ? auc_unpack(json_object_get_string(packed), TEXT_MAX)
		       : NULL;
	whole = text ? auc_json_parse(text, strlen(text)) : NULL;
	free(text);
	ok = whole && move_long(whole, o);
	json_object_put(whole);
	json_object_object_del(o, "packed");
	return ok ? AUC_OK
		  : auc_err_set(err, AUC_EINVAL, "packed: expected base64 of gzip of an object");
}

static enum auc_code read_sale(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	bool settled = !strcmp(r->state, "settled");
	enum auc_code rc;

	if (!settled && strcmp(r->state, "lien") && strcmp(r->state, "sold") &&
	    strcmp(r->state, "running"))
		return auc_err_set(err, AUC_EINVAL,
				   "state: '%s', expected lien, sold, running, settled, member, "
				   "waiting or unsold",
				   r->state);
	rc = auc_json_text(o, "policy", r->policy, sizeof(r->policy), err);
	if (rc == AUC_OK)
		rc = auc_json_money(o, "payment", &r->payment, err);
	if (rc == AUC_OK)
		rc = read_old(o, r, err);
	if (rc == AUC_OK)
		rc = auc_json_double(o, "slot_seconds", 1e-6, 1e9, &r->slot_seconds, err);
	r->gang = auc_plan_json_is_gang(o);
	if (rc == AUC_OK)
		rc = (r->gang ? read_shape : read_types)(o, r, err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "arrival", -SLOT_LIMIT, SLOT_LIMIT, &r->arrival, err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "start", -SLOT_LIMIT, SLOT_LIMIT, &r->start, err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "completion", -SLOT_LIMIT, SLOT_LIMIT, &r->completion, err);
	if (rc == AUC_OK && json_object_object_get_ex(o, "planned", NULL))
		rc = auc_json_double(o, "planned", 1e-3, 1e3, &r->planned, err);
	if (rc == AUC_OK && settled)
		rc = auc_json_money(o, "refund", &r->refund, err);
	if (rc == AUC_OK && settled)
		rc = auc_json_text(o, "why", r->why, sizeof(r->why), err);
	if (rc == AUC_OK)
		rc = read_runs(o, r, err);
	if (rc == AUC_OK)
		rc = read_chunks(o, r, err);
	return rc == AUC_OK ? read_moves(o, r, err) : rc;
}

static enum auc_code read_types(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	enum auc_code rc =
		auc_json_text(o, "worker_type", r->worker_type, sizeof(r->worker_type), err);

	if (rc == AUC_OK)
		rc = auc_json_text(o, "ps_type", r->ps_type, sizeof(r->ps_type), err);
	if (rc == AUC_OK)
		rc = auc_json_bool(o, "colocated", &r->colocated, err);
	if (rc == AUC_OK)
		rc = auc_json_amounts(o, "worker_tres", AUC_TRES_MAX, r->worker_tres,
				      &r->nworker_tres, err);
	if (rc == AUC_OK)
		rc = auc_json_amounts(o, "ps_tres", AUC_TRES_MAX, r->ps_tres, &r->nps_tres, err);
	return rc;
}

static enum auc_code read_shape(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	char within[AUC_NAME_MAX] = "";
	int64_t shape = 0;
	enum auc_code rc = auc_json_int(o, "shape", 0, AUC_SHAPES_MAX - 1, &shape, err);

	r->shape = (unsigned)shape;
	if (rc == AUC_OK)
		rc = auc_json_amounts(o, "per_node", AUC_TRES_MAX, r->per_node, &r->nper_node, err);
	r->within_switch = json_object_object_get_ex(o, "gang_within", NULL);
	if (rc == AUC_OK && r->within_switch)
		rc = auc_json_text(o, "gang_within", within, sizeof(within), err);
	if (rc == AUC_OK && r->within_switch && strcmp(within, "switch"))
		rc = auc_err_set(err, AUC_EINVAL, "gang_within: '%s', expected switch", within);
	if (rc == AUC_OK && json_object_object_get_ex(o, "gang_block", NULL))
		rc = auc_json_bool(o, "gang_block", &r->block, err);
	return rc;
}

/* Receipts of before had the value and the bid in the clear. */
static enum auc_code read_old(struct json_object *o, const struct auc_receipt *r,
			      struct auc_err *err)
{
	struct json_object *bid;
	auc_money value = 0;
	enum auc_code rc;

	if (!json_object_object_get_ex(o, "bid", &bid))
		return AUC_OK;
	if (!json_object_is_type(bid, json_type_string))
		return auc_err_set(err, AUC_EINVAL, "bid: expected a text");
	rc = auc_json_money(o, "value", &value, err);
	if (rc == AUC_OK && r->payment > value)
		rc = auc_err_set(err, AUC_EINVAL, "payment: more than the value");
	return rc;
}

static enum auc_code read_chunks(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	struct json_object *chunks;
	enum auc_code rc = AUC_OK;
	size_t n;

	if (!json_object_object_get_ex(o, "chunks", &chunks))
		return AUC_OK;
	if (!json_object_is_type(chunks, json_type_array))
		return auc_err_set(err, AUC_EINVAL, "chunks: expected an array");
	n = json_object_array_length(chunks);
	r->chunks = calloc(n + 1, sizeof(*r->chunks));
	if (!r->chunks)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	while (r->nchunks < n && rc == AUC_OK) {
		rc = auc_json_text(json_object_array_get_idx(chunks, r->nchunks), "server",
				   r->chunks[r->nchunks], sizeof(*r->chunks), err);
		r->nchunks++;
	}
	if (rc != AUC_OK)
		auc_err_prefix(err, "chunks");
	return rc;
}

static enum auc_code read_moves(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	struct json_object *list;
	double mb = 0;
	enum auc_code rc;
	size_t n;

	if (!json_object_object_get_ex(o, "transfers", &list))
		return AUC_OK;
	if (!json_object_is_type(list, json_type_array))
		return auc_err_set(err, AUC_EINVAL, "transfers: expected an array");
	rc = auc_json_double(o, "chunk_mb", 0, MB_MAX, &mb, err);
	r->chunk_bytes = (uint64_t)llround(mb * 1e6);
	n = json_object_array_length(list);
	r->moves = calloc(n + 1, sizeof(*r->moves));
	if (!r->moves)
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	while (rc == AUC_OK && r->nmoves < n)
		rc = read_move(json_object_array_get_idx(list, r->nmoves), r, err);
	if (rc == AUC_OK)
		rc = auc_receipt_read_data(o, r, err);
	if (rc == AUC_OK)
		rc = check_moves(r, err);
	if (rc != AUC_OK)
		auc_err_prefix(err, "transfers");
	return rc;
}

static enum auc_code read_move(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	struct auc_receipt_move *move = &r->moves[r->nmoves];
	int64_t chunks = 0;
	enum auc_code rc = auc_json_int(o, "slot", -SLOT_LIMIT, SLOT_LIMIT, &move->slot, err);

	if (rc == AUC_OK)
		rc = auc_json_text(o, "from", move->from, sizeof(move->from), err);
	if (rc == AUC_OK)
		rc = auc_json_text(o, "to", move->to, sizeof(move->to), err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "chunks", 1, AUC_WORK_MAX, &chunks, err);
	move->chunks = (uint64_t)chunks;
	if (rc == AUC_OK && r->nmoves && move->slot < move[-1].slot)
		rc = auc_err_set(err, AUC_EINVAL, "expected them by slot");
	r->nmoves++;
	return rc;
}

/* No more leaves a node than lies there. */
static enum auc_code check_moves(const struct auc_receipt *r, struct auc_err *err)
{
	const struct auc_named *site;
	uint64_t out;

	for (unsigned i = 0; i < r->nmoves; i++) {
		out = 0;
		for (unsigned k = 0; k <= i; k++)
			if (!strcmp(r->moves[k].from, r->moves[i].from))
				out += r->moves[k].chunks;
		site = auc_list_find(r->data, r->ndata, r->moves[i].from);
		if (!site || out > (uint64_t)site->value)
			return auc_err_set(err, AUC_EINVAL,
					   "slot %lld: %llu chunks leave '%s' in all, expected no "
					   "more than lie there by the bid's data=",
					   (long long)r->moves[i].slot, (unsigned long long)out,
					   r->moves[i].from);
	}
	return AUC_OK;
}

static enum auc_code read_runs(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	struct json_object *runs;
	enum auc_code rc = AUC_OK;
	size_t n;

	if (!json_object_object_get_ex(o, "plan", &runs) ||
	    !json_object_is_type(runs, json_type_array) || !(n = json_object_array_length(runs)))
		return auc_err_set(err, AUC_EINVAL, "plan: expected an array of runs");
	for (size_t i = 0; i < n && rc == AUC_OK; i++)
		rc = read_run(json_object_array_get_idx(runs, i), r, err);
	if (rc != AUC_OK)
		return rc;
	if (r->arrival > r->start || r->start != r->runs[0].from ||
	    r->completion != r->runs[r->nruns - 1].to + 1)
		return auc_err_set(err, AUC_EINVAL,
				   "plan: does not agree with arrival, start and completion");
	return AUC_OK;
}

static enum auc_code read_run(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	struct auc_receipt_run *run;
	enum auc_code rc;

	if (!json_object_is_type(o, json_type_object))
		return auc_err_set(err, AUC_EINVAL, "plan: expected an object for each run");
	if (!grow((void **)&r->runs, r->nruns, sizeof(*r->runs)))
		return auc_err_set(err, AUC_ENOMEM, "out of memory");
	run = &r->runs[r->nruns++];
	memset(run, 0, sizeof(*run));
	run->first_share = r->nshares;
	rc = auc_json_int(o, "from", -SLOT_LIMIT, SLOT_LIMIT, &run->from, err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "to", -SLOT_LIMIT, SLOT_LIMIT, &run->to, err);
	if (rc == AUC_OK && (run->from > run->to || (r->nruns > 1 && run->from <= run[-1].to)))
		rc = auc_err_set(err, AUC_EINVAL, "plan: runs are not in order");
	if (rc == AUC_OK && r->gang)
		return read_nodes(o, r, err);
	if (rc == AUC_OK)
		rc = read_counts(o, "workers", false, r, err);
	if (rc == AUC_OK)
		rc = read_counts(o, "ps", true, r, err);
	return rc;
}

static enum auc_code read_nodes(struct json_object *o, struct auc_receipt *r, struct auc_err *err)
{
	struct json_object *nodes, *name;
	struct auc_receipt_share *share;
	size_t n;

	if (!json_object_object_get_ex(o, "nodes", &nodes) ||
	    !json_object_is_type(nodes, json_type_array) || !(n = json_object_array_length(nodes)))
		return auc_err_set(err, AUC_EINVAL, "nodes: expected an array of servers");
	for (size_t i = 0; i < n; i++) {
		int len;

		name = json_object_array_get_idx(nodes, i);
		len = json_object_is_type(name, json_type_string) ? json_object_get_string_len(name)
								  : 0;
		if (len < 1 || len >= AUC_NAME_MAX)
			return auc_err_set(err, AUC_EINVAL,
					   "nodes: a server's name has 1 to %d characters",
					   AUC_NAME_MAX - 1);
		share = share_of(r, json_object_get_string(name));
		if (!share)
			return auc_err_set(err, AUC_ENOMEM, "out of memory");
		if (share->workers)
			return auc_err_set(err, AUC_EINVAL, "nodes: '%s' is there twice",
					   share->server);
		share->workers = 1;
	}
	return AUC_OK;
}

static enum auc_code read_counts(struct json_object *o, const char *key, bool ps,
				 struct auc_receipt *r, struct auc_err *err)
{
	struct auc_receipt_share *share;
	struct json_object *counts;
	int64_t count;
	enum auc_code rc;

	if (!json_object_object_get_ex(o, key, &counts) ||
	    !json_object_is_type(counts, json_type_object) || !json_object_object_length(counts))
		return auc_err_set(err, AUC_EINVAL, "%s: expected counts by server", key);
	json_object_object_foreach(counts, server, v)
	{
		(void)v;
		if (!*server || strlen(server) >= AUC_NAME_MAX)
			return auc_err_set(err, AUC_EINVAL,
					   "%s: a server's name has 1 to %d characters", key,
					   AUC_NAME_MAX - 1);
		rc = auc_json_int(counts, server, 1, INT32_MAX, &count, err);
		if (rc != AUC_OK) {
			auc_err_prefix(err, "%s", key);
			return rc;
		}
		share = share_of(r, server);
		if (!share)
			return auc_err_set(err, AUC_ENOMEM, "out of memory");
		*(ps ? &share->ps : &share->workers) = (unsigned)count;
	}
	return AUC_OK;
}

/* The share on SERVER in the last run, made if there is none. NULL: no memory. */
static struct auc_receipt_share *share_of(struct auc_receipt *r, const char *server)
{
	struct auc_receipt_run *run = &r->runs[r->nruns - 1];
	struct auc_receipt_share *share;

	for (unsigned i = run->first_share; i < r->nshares; i++)
		if (!strcmp(r->shares[i].server, server))
			return &r->shares[i];
	if (!grow((void **)&r->shares, r->nshares, sizeof(*r->shares)))
		return NULL;
	share = &r->shares[r->nshares++];
	memset(share, 0, sizeof(*share));
	strcpy(share->server, server);
	run->nshares++;
	return share;
}

/* Makes room for element N; the array is full whenever N is a power of two. */
static bool grow(void **array, unsigned n, size_t size)
{
	void *grown;

	if (n & (n - 1))
		return true;
	grown = realloc(*array, (n ? 2 * (size_t)n : 1) * size);
	if (!grown)
		return false;
	*array = grown;
	return true;
}

/* -- writing -- */

/* The plan's members stand in the receipt itself. */
static bool add_plan(struct json_object *o, const struct auc_sale *sale, const struct auc_market *m)
{
	struct json_object *plan = auc_plan_to_json(&sale->plan, m);
	bool ok = plan;

	if (!ok)
		return false;
	json_object_object_foreach(plan, key, v)
	{
		ok = ok && auc_json_add(o, key, json_object_get(v));
	}
	json_object_put(plan);
	return ok;
}

/* Takes O over. */
static char *print(struct json_object *o)
{
	const char *text = text_of(o);
	char *copy = !text ? NULL : strlen(text) > AUC_RECEIPT_MAX ? print_packed(o) : strdup(text);

	json_object_put(o);
	return copy;
}

static char *print_packed(struct json_object *o)
{
	struct json_object *whole = json_object_new_object();
	const char *text = whole && move_long(o, whole) ? text_of(whole) : NULL;
	char *packed = text ? auc_pack(text) : NULL;
	bool ok = packed && auc_json_add_text(o, "packed", packed);

	free(packed);
	json_object_put(whole);
	text = ok ? text_of(o) : NULL;
	return text ? strdup(text) : NULL;
}

/* What makes a receipt long. */
static bool move_long(struct json_object *from, struct json_object *to)
{
	static const char *const keys[] = {"plan", "chunks", "transfers"};
	struct json_object *v;

	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!json_object_object_get_ex(from, keys[i], &v))
			continue;
		if (!auc_json_add(to, keys[i], json_object_get(v)))
			return false;
		json_object_object_del(from, keys[i]);
	}
	return true;
}

/* O's own. */
static const char *text_of(struct json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
}
