/*
 * accounts_record.c - accounts and transfers as events and records of the spool (doc/ledger.md).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/json.h"
#include "ledger/accounts-private.h"

#define IDS_OF_A_RECORD 512

static enum auc_code apply_account(struct auc_books *b, struct json_object *o, struct auc_err *err);
static enum auc_code apply_ids(struct auc_books *b, struct json_object *o, struct auc_err *err);
static int by_name(const void *a, const void *b);
static struct json_object *new_record(const char *word);
static struct json_object *account_record(const struct auc_account *a);
static struct json_object *ids_record(const struct auc_books *b, unsigned from, unsigned n);
static struct json_object *id_pair(const struct auc_transfer_id *id);

struct json_object *auc_transfer_event(const struct auc_transfer *t)
{
	struct json_object *o = new_record("transfer");

	if (o && auc_json_add_text(o, "id", t->id) && auc_json_add_text(o, "account", t->account) &&
	    auc_json_add_money(o, "amount", t->amount) &&
	    auc_json_add_text(o, "code", auc_transfer_word(t->code)) &&
	    auc_json_add_int(o, "when", t->when) &&
	    (!t->opening || auc_json_add_money(o, "opening", t->opening)) &&
	    (t->period < 0 || auc_json_add_int(o, "period", t->period)))
		return o;
	json_object_put(o);
	return NULL;
}

enum auc_code auc_transfer_read(struct json_object *o, struct auc_transfer *t, struct auc_err *err)
{
	char code[16];
	enum auc_code rc;

	memset(t, 0, sizeof(*t));
	t->period = -1;
	rc = auc_json_text(o, "id", t->id, sizeof(t->id), err);
	if (rc == AUC_OK)
		rc = auc_json_text(o, "account", t->account, sizeof(t->account), err);
	if (rc == AUC_OK)
		rc = auc_json_money(o, "amount", &t->amount, err);
	if (rc == AUC_OK)
		rc = auc_json_text(o, "code", code, sizeof(code), err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "when", 1, INT64_MAX, &t->when, err);
	if (rc == AUC_OK && json_object_object_get_ex(o, "opening", NULL))
		rc = auc_json_sum(o, "opening", &t->opening, err);
	if (rc != AUC_OK)
		return rc;
	while ((unsigned)t->code < AUC_TRANSFER_NCODES && strcmp(code, auc_transfer_word(t->code)))
		t->code++;
	if (t->code == AUC_TRANSFER_NCODES || !t->id[0])
		return auc_err_set(err, AUC_EINVAL,
				   "transfer '%s': expected an id, and a code of grant, refill, "
				   "expire, correct, return",
				   t->id);
	if (!auc_account_is_name(t->account))
		return auc_err_set(err, AUC_EINVAL,
				   "account: '%s', expected user:UID or account:NAME", t->account);
	return t->code == AUC_TRANSFER_REFILL || t->code == AUC_TRANSFER_RETURN
		       ? auc_json_int(o, "period", 0, INT64_MAX, &t->period, err)
		       : AUC_OK;
}

bool auc_payers_write(struct json_object *o, const struct auc_payers *p)
{
	struct json_object *list;

	if (!p->n || !strcmp(p->name[0], AUC_MINT))
		return true;
	list = json_object_new_array();
	for (unsigned i = 0; list && i < p->n; i++) {
		struct json_object *name = json_object_new_string(p->name[i]);

		if (!auc_json_push(list, name)) {
			json_object_put(list);
			return false;
		}
	}
	return auc_json_add(o, "payers", list);
}

enum auc_code auc_payers_read(struct json_object *o, struct auc_payers *p, struct auc_err *err)
{
	struct json_object *list, *name;
	size_t n;

	auc_payers_none(p);
	if (!json_object_object_get_ex(o, "payers", &list))
		return AUC_OK;
	n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	p->n = 0;
	for (size_t i = 0; i < n; i++) {
		name = json_object_array_get_idx(list, i);
		if (!json_object_is_type(name, json_type_string) ||
		    !auc_payers_add(p, json_object_get_string(name)))
			break;
	}
	if (n && p->n == n)
		return AUC_OK;
	auc_payers_none(p);
	return auc_err_set(err, AUC_EINVAL,
			   "payers: expected 1 to %d of user:UID and account:NAME, each once",
			   AUC_PAYERS_MAX);
}

enum auc_code auc_books_dump(const struct auc_books *b,
			     void (*fn)(void *arg, struct json_object *record), void *arg,
			     struct auc_err *err)
{
	const struct auc_account **list = malloc(b->n * sizeof(*list));
	struct json_object *o = NULL;
	unsigned n = 0;

	/* One that only liens had is not there after a restart. */
	for (unsigned i = 0; list && i < b->n; i++)
		if (i <= TREE || b->accounts[i].credits || b->accounts[i].debits ||
		    b->accounts[i].limited)
			list[n++] = &b->accounts[i];
	if (list)
		qsort(list, n, sizeof(*list), by_name);
	for (unsigned i = 0; i < n && (o = account_record(list[i])); i++)
		fn(arg, o);
	free(list);
	if (!list || (n && !o))
		return auc_err_set(err, AUC_ENOMEM, "accounts: out of memory");
	/* One at least, for what else is in it. */
	for (unsigned i = 0; i == 0 || i < b->nids; i += IDS_OF_A_RECORD) {
		unsigned left = b->nids - i;

		o = ids_record(b, i, left < IDS_OF_A_RECORD ? left : IDS_OF_A_RECORD);
		if (!o)
			return auc_err_set(err, AUC_ENOMEM, "accounts: out of memory");
		fn(arg, o);
	}
	return AUC_OK;
}

static int by_name(const void *a, const void *b)
{
	const struct auc_account *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

bool auc_books_know(const char *word)
{
	return !strcmp(word, "transfer") || !strcmp(word, "account") || !strcmp(word, "transfers");
}

enum auc_code auc_books_apply(struct auc_books *b, struct json_object *o, auc_money settled,
			      struct auc_err *err)
{
	struct auc_transfer t;
	enum auc_code rc;
	char word[16];

	rc = auc_json_text(o, "event", word, sizeof(word), err);
	if (rc != AUC_OK)
		return rc;
	if (!strcmp(word, "account"))
		return apply_account(b, o, err);
	if (!strcmp(word, "transfers"))
		return apply_ids(b, o, err);
	rc = auc_transfer_read(o, &t, err);
	return rc == AUC_OK ? auc_books_transfer(b, &t, settled, err) : rc;
}

void auc_books_begin(struct auc_books *b, auc_money charged, auc_money refunded)
{
	auc_books_debit(b, &b->accounts[MINT], charged);
	auc_books_credit(b, &b->accounts[MARKET], charged);
	auc_books_debit(b, &b->accounts[MARKET], refunded);
	auc_books_credit(b, &b->accounts[MINT], refunded);
}

/* As it was when the snapshot was taken, whatever it is now. */
static enum auc_code apply_account(struct auc_books *b, struct json_object *o, struct auc_err *err)
{
	struct auc_account *a, read = {.return_period = -1};
	enum auc_code rc = auc_json_text(o, "name", read.name, sizeof(read.name), err);

	if (rc == AUC_OK)
		rc = auc_json_sum(o, "credits", &read.credits, err);
	if (rc == AUC_OK)
		rc = auc_json_sum(o, "debits", &read.debits, err);
	if (rc == AUC_OK)
		rc = auc_json_bool(o, "limited", &read.limited, err);
	if (rc == AUC_OK)
		rc = auc_json_int(o, "period", -1, INT64_MAX, &read.period, err);
	if (rc == AUC_OK && json_object_object_get_ex(o, "return_period", NULL))
		rc = auc_json_int(o, "return_period", -1, INT64_MAX, &read.return_period, err);
	if (rc == AUC_OK && json_object_object_get_ex(o, "past", NULL))
		rc = auc_json_sum(o, "past", &read.past, err);
	if (rc != AUC_OK)
		return rc;
	if (!auc_account_is_name(read.name) && strcmp(read.name, AUC_MINT) &&
	    strcmp(read.name, AUC_MARKET) && strcmp(read.name, AUC_TREE))
		return auc_err_set(err, AUC_EINVAL, "account '%s': no name of one", read.name);
	if (read.past > read.debits)
		return auc_err_set(err, AUC_EINVAL, "account %s: past: more than its debits",
				   read.name);
	a = auc_books_open(b, read.name);
	if (!a)
		return auc_err_set(err, AUC_ENOMEM, "accounts: out of memory");
	b->sum += (__int128)read.credits - read.debits - a->credits + a->debits;
	a->credits = read.credits;
	a->debits = read.debits;
	a->past = read.past;
	a->limited = read.limited;
	a->period = read.period;
	a->return_period = read.return_period;
	return AUC_OK;
}

static enum auc_code apply_ids(struct auc_books *b, struct json_object *o, struct auc_err *err)
{
	struct json_object *list, *pair;
	struct auc_transfer_id id;
	enum auc_code rc = auc_json_sum(o, "returned", &b->returned, err);

	if (rc == AUC_OK)
		rc = auc_json_int(o, "forgotten", 0, INT64_MAX, &b->forgotten, err);
	if (rc == AUC_OK && (!json_object_object_get_ex(o, "ids", &list) ||
			     !json_object_is_type(list, json_type_array)))
		rc = auc_err_set(err, AUC_EINVAL, "ids: expected a list");
	for (size_t i = 0; rc == AUC_OK && i < json_object_array_length(list); i++) {
		pair = json_object_array_get_idx(list, i);
		rc = auc_json_text(pair, "id", id.id, sizeof(id.id), err);
		if (rc == AUC_OK)
			rc = auc_json_int(pair, "when", 1, INT64_MAX, &id.when, err);
		if (rc == AUC_OK && !auc_books_remember(b, id.id, id.when))
			rc = auc_err_set(err, AUC_ENOMEM, "accounts: out of memory");
	}
	return rc;
}

static struct json_object *new_record(const char *word)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "event", word))
		return o;
	json_object_put(o);
	return NULL;
}

static struct json_object *account_record(const struct auc_account *a)
{
	struct json_object *o = new_record("account");

	if (o && auc_json_add_text(o, "name", a->name) &&
	    auc_json_add_money(o, "credits", a->credits) &&
	    auc_json_add_money(o, "debits", a->debits) &&
	    auc_json_add_bool(o, "limited", a->limited) &&
	    auc_json_add_int(o, "period", a->period) &&
	    (!a->past || auc_json_add_money(o, "past", a->past)) &&
	    (a->return_period < 0 || auc_json_add_int(o, "return_period", a->return_period)))
		return o;
	json_object_put(o);
	return NULL;
}

/* N ids, in the order in which they came, of which FROM come before. */
static struct json_object *ids_record(const struct auc_books *b, unsigned from, unsigned n)
{
	struct json_object *o = new_record("transfers"), *list = json_object_new_array();
	bool good = o && list && auc_json_add_money(o, "returned", b->returned) &&
		    auc_json_add_int(o, "forgotten", b->forgotten);

	if (good)
		good = auc_json_add(o, "ids", list);
	else
		json_object_put(list);
	for (unsigned i = 0; good && i < n; i++)
		good = auc_json_push(list,
				     id_pair(&b->ids[(b->first_id + from + i) % AUC_IDS_MAX]));
	return auc_json_if(good, o);
}

static struct json_object *id_pair(const struct auc_transfer_id *id)
{
	struct json_object *o = json_object_new_object();

	if (o && auc_json_add_text(o, "id", id->id) && auc_json_add_int(o, "when", id->when))
		return o;
	json_object_put(o);
	return NULL;
}
