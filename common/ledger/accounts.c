/*
 * accounts.c - see accounts.h. Every change of a balance goes through auc_books_credit() and
 * auc_books_debit(), which keep the sum over all accounts.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/check.h"
#include "base/list.h"
#include "ledger/accounts-private.h"

#define ONE_MAX (INT64_MAX / 4) /* what all debits, or all grants, of an account may be */

static const char user_prefix[] = "user:", account_prefix[] = "account:";

static bool grow(struct auc_books *b);
static unsigned slot_of(const struct auc_books *b, const char *name);
static enum auc_code open_payers(struct auc_books *b, const struct auc_payers *payers,
				 auc_money amount, struct auc_err *err);
static bool is_free(const struct auc_payers *payers);
static __int128 left_of(const struct auc_account *a);
static enum auc_code say_short(const struct auc_books *b, const struct auc_payers *payers,
			       auc_money amount, struct auc_err *err);
static void spend(struct auc_books *b, const struct auc_payers *payers, auc_money amount);
static bool keeps_to_limit(const struct auc_account *a);
static bool may_follow(const struct auc_transfer *t, int64_t last);
static bool is_sound(const struct auc_transfer *t);
static bool is_by_hand(const struct auc_transfer *t);
static bool knows_id(const struct auc_books *b, const char *id);
static enum auc_code check_transfer(const struct auc_books *b, const struct auc_transfer *t,
				    auc_money settled, struct auc_err *err);

/* -- names -- */

void auc_payers_none(struct auc_payers *p)
{
	memset(p, 0, sizeof(*p));
	p->n = 1;
	strcpy(p->name[0], AUC_MINT);
}

bool auc_payers_add(struct auc_payers *p, const char *name)
{
	if (p->n == AUC_PAYERS_MAX || !auc_account_is_name(name))
		return false;
	for (unsigned i = 0; i < p->n; i++)
		if (!strcmp(p->name[i], name))
			return true;
	strcpy(p->name[p->n++], name);
	return true;
}

bool auc_payers_same(const struct auc_payers *a, const struct auc_payers *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (strcmp(a->name[i], b->name[i]))
			return false;
	return true;
}

bool auc_account_is_name(const char *name)
{
	uint64_t uid;
	size_t user = sizeof(user_prefix) - 1, account = sizeof(account_prefix) - 1;

	if (strlen(name) >= AUC_ACCOUNT_LEN)
		return false;
	if (!strncmp(name, user_prefix, user))
		return name[user] >= '0' && name[user] <= '9' &&
		       (name[user] != '0' || !name[user + 1]) &&
		       strspn(name + user, "0123456789") == strlen(name + user) &&
		       auc_parse_count(name + user, 0, UINT32_MAX, &uid, "uid", NULL) == AUC_OK;
	return !strncmp(name, account_prefix, account) && auc_name_valid(name + account);
}

const char *auc_transfer_word(enum auc_transfer_code code)
{
	static const char *const words[AUC_TRANSFER_NCODES] = {"grant", "refill", "expire",
							       "correct", "return"};

	return (unsigned)code < AUC_TRANSFER_NCODES ? words[code] : "unknown";
}

/* -- life -- */

struct auc_books *auc_books_create(void)
{
	struct auc_books *b = calloc(1, sizeof(*b));

	if (b && auc_books_open(b, AUC_MINT) && auc_books_open(b, AUC_MARKET) &&
	    auc_books_open(b, AUC_TREE))
		return b;
	auc_books_destroy(b);
	return NULL;
}

struct auc_books *auc_books_copy(const struct auc_books *from)
{
	struct auc_books *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	*b = *from;
	b->accounts = malloc(b->alloc * sizeof(*b->accounts));
	b->table = malloc(2 * b->alloc * sizeof(*b->table));
	b->ids = b->nids ? malloc(AUC_IDS_MAX * sizeof(*b->ids)) : NULL;
	if (!b->accounts || !b->table || (b->nids && !b->ids)) {
		auc_books_destroy(b);
		return NULL;
	}
	memcpy(b->accounts, from->accounts, b->n * sizeof(*b->accounts));
	memcpy(b->table, from->table, 2 * b->alloc * sizeof(*b->table));
	if (b->nids)
		memcpy(b->ids, from->ids, AUC_IDS_MAX * sizeof(*b->ids));
	return b;
}

void auc_books_destroy(struct auc_books *b)
{
	if (!b)
		return;
	free(b->accounts);
	free(b->table);
	free(b->ids);
	free(b);
}

struct auc_account *auc_books_open(struct auc_books *b, const char *name)
{
	struct auc_account *a;
	unsigned slot;

	if (b->alloc && b->table[slot_of(b, name)])
		return &b->accounts[b->table[slot_of(b, name)] - 1];
	if (b->n == b->alloc && !grow(b))
		return NULL;
	slot = slot_of(b, name);
	a = &b->accounts[b->n++];
	memset(a, 0, sizeof(*a));
	snprintf(a->name, sizeof(a->name), "%s", name);
	a->period = a->return_period = -1;
	b->table[slot] = b->n;
	return a;
}

static bool grow(struct auc_books *b)
{
	unsigned alloc = b->alloc ? 2 * b->alloc : 16;
	struct auc_account *accounts = realloc(b->accounts, alloc * sizeof(*accounts));
	unsigned *table;

	if (!accounts)
		return false;
	b->accounts = accounts;
	table = calloc(2 * (size_t)alloc, sizeof(*table));
	if (!table)
		return false;
	free(b->table);
	b->table = table;
	b->alloc = alloc;
	for (unsigned i = 0; i < b->n; i++)
		table[slot_of(b, b->accounts[i].name)] = i + 1;
	return true;
}

/* Where NAME is in the table, or would be. */
static unsigned slot_of(const struct auc_books *b, const char *name)
{
	unsigned size = 2 * b->alloc, i = (unsigned)(XXH3_64bits(name, strlen(name)) % size);

	while (b->table[i] && strcmp(b->accounts[b->table[i] - 1].name, name))
		i = (i + 1) % size;
	return i;
}

const struct auc_account *auc_books_find(const struct auc_books *b, const char *name)
{
	unsigned i = b->table[slot_of(b, name)];

	return i ? &b->accounts[i - 1] : NULL;
}

unsigned auc_books_count(const struct auc_books *b)
{
	return b->n;
}

const struct auc_account *auc_books_at(const struct auc_books *b, unsigned i)
{
	return i < b->n ? &b->accounts[i] : NULL;
}

auc_money auc_books_returned(const struct auc_books *b)
{
	return b->returned;
}

/* -- what sales pay -- */

static bool is_free(const struct auc_payers *payers)
{
	return !strcmp(payers->name[0], AUC_MINT);
}

static __int128 left_of(const struct auc_account *a)
{
	return (__int128)a->credits - a->debits - a->pending;
}

auc_money auc_books_left(const struct auc_books *b, const struct auc_payers *payers)
{
	__int128 left = AUC_UNLIMITED;
	bool limited = false;

	if (is_free(payers))
		return AUC_UNLIMITED;
	for (unsigned i = 0; i < payers->n; i++) {
		const struct auc_account *a = auc_books_find(b, payers->name[i]);

		if (!a || !a->limited)
			continue;
		limited = true;
		if (left_of(a) < left)
			left = left_of(a);
	}
	return limited && left > 0 ? (auc_money)left : 0;
}

/* All that can fail before AMOUNT is taken: afterwards each of PAYERS has an account, and room for
 * it. */
static enum auc_code open_payers(struct auc_books *b, const struct auc_payers *payers,
				 auc_money amount, struct auc_err *err)
{
	const struct auc_account *tree;
	auc_money most = is_free(payers) ? INT64_MAX : ONE_MAX;

	for (unsigned i = 0; i < payers->n; i++) {
		const struct auc_account *a = auc_books_open(b, payers->name[i]);

		if (!a)
			return auc_err_set(err, AUC_ENOMEM, "accounts: out of memory");
		if (a->debits > most - a->pending - amount)
			return auc_err_set(err, AUC_EFULL, "the books of %s are full", a->name);
	}
	tree = &b->accounts[TREE];
	if (b->accounts[MARKET].credits > INT64_MAX - amount ||
	    (payers->n > 1 && (tree->credits > INT64_MAX - (auc_money)payers->n * AUC_MONEY_MAX ||
			       amount > AUC_MONEY_MAX)))
		return auc_err_set(err, AUC_EFULL, "the ledger's books are full");
	return AUC_OK;
}

/* Of the first one that cannot pay AMOUNT. */
static enum auc_code say_short(const struct auc_books *b, const struct auc_payers *payers,
			       auc_money amount, struct auc_err *err)
{
	char need[AUC_MONEY_LEN], left[AUC_MONEY_LEN], given[AUC_MONEY_LEN], spent[AUC_MONEY_LEN],
		held[AUC_MONEY_LEN];
	const struct auc_account *a;

	auc_money_str(amount, need);
	for (unsigned i = 0; i < payers->n; i++) {
		a = auc_books_find(b, payers->name[i]);
		if (!a || !a->limited || left_of(a) >= amount)
			continue;
		return auc_err_set(err, AUC_ELIMIT,
				   "%s: %s of %s is left (%s spent, %s held for bids), and %s is "
				   "needed",
				   a->name,
				   auc_money_str(left_of(a) > 0 ? (auc_money)left_of(a) : 0, left),
				   auc_money_str(auc_account_budget(a), given),
				   auc_money_str(auc_account_spent(a), spent),
				   auc_money_str(a->pending, held), need);
	}
	return auc_err_set(err, AUC_ELIMIT, "%s: was granted nothing, and %s is needed",
			   payers->name[0], need);
}

enum auc_code auc_books_hold(struct auc_books *b, const struct auc_payers *payers, auc_money amount,
			     struct auc_err *err)
{
	enum auc_code rc = open_payers(b, payers, amount, err);

	if (rc != AUC_OK)
		return rc;
	if (amount > auc_books_left(b, payers))
		return say_short(b, payers, amount, err);
	for (unsigned i = 0; i < payers->n; i++) {
		struct auc_account *a = auc_books_open(b, payers->name[i]);

		a->pending += amount;
		b->pending += amount;
		AUC_CHECK(keeps_to_limit(a), "%s: more is held than is left", a->name);
	}
	return AUC_OK;
}

void auc_books_void(struct auc_books *b, const struct auc_payers *payers, auc_money amount)
{
	for (unsigned i = 0; i < payers->n; i++) {
		struct auc_account *a = auc_books_open(b, payers->name[i]);

		if (!AUC_CHECK(a && a->pending >= amount, "%s: %" PRId64 " is not held",
			       payers->name[i], amount))
			return;
		a->pending -= amount;
		b->pending -= amount;
	}
}

void auc_books_post(struct auc_books *b, const struct auc_payers *payers, auc_money amount)
{
	auc_books_void(b, payers, amount);
	spend(b, payers, amount);
}

enum auc_code auc_books_pay(struct auc_books *b, const struct auc_payers *payers, auc_money amount,
			    bool forced, struct auc_err *err)
{
	enum auc_code rc = open_payers(b, payers, amount, err);

	if (rc != AUC_OK)
		return rc;
	if (!forced && amount > auc_books_left(b, payers))
		return say_short(b, payers, amount, err);
	spend(b, payers, amount);
	return AUC_OK;
}

/* They all have accounts. */
static void spend(struct auc_books *b, const struct auc_payers *payers, auc_money amount)
{
	for (unsigned i = 0; i < payers->n; i++) {
		struct auc_account *a = auc_books_open(b, payers->name[i]);

		if (!AUC_CHECK(a, "%s: has no account, and pays", payers->name[i]))
			return;
		auc_books_debit(b, a, amount);
		auc_books_credit(b, &b->accounts[i ? TREE : MARKET], amount);
	}
}

void auc_books_refund(struct auc_books *b, const struct auc_payers *payers, auc_money amount)
{
	for (unsigned i = 0; i < payers->n; i++) {
		struct auc_account *a = auc_books_open(b, payers->name[i]);

		if (!AUC_CHECK(a && a->debits >= amount, "%s: is paid back what it did not pay",
			       payers->name[i]))
			return;
		auc_books_debit(b, &b->accounts[i ? TREE : MARKET], amount);
		auc_books_credit(b, a, amount);
		a->past = amount < auc_account_spent(a) ? a->past + amount : a->debits;
	}
}

void auc_books_credit(struct auc_books *b, struct auc_account *a, auc_money amount)
{
	a->credits += amount;
	b->sum += amount;
}

void auc_books_debit(struct auc_books *b, struct auc_account *a, auc_money amount)
{
	a->debits += amount;
	b->sum -= amount;
}

static bool keeps_to_limit(const struct auc_account *a)
{
	return !a->limited || left_of(a) >= 0;
}

/* -- transfers -- */

enum auc_code auc_books_transfer(struct auc_books *b, const struct auc_transfer *t,
				 auc_money settled, struct auc_err *err)
{
	enum auc_code rc = check_transfer(b, t, settled, err);
	struct auc_account *a, *from, *to;
	bool begins = false;

	if (rc != AUC_OK)
		return rc;
	a = auc_books_open(b, t->account);
	if (!a || (is_by_hand(t) && !auc_books_remember(b, t->id, t->when)))
		return auc_err_set(err, AUC_ENOMEM, "accounts: out of memory");
	switch (t->code) {
	case AUC_TRANSFER_EXPIRE:
	case AUC_TRANSFER_CORRECT:
		from = a;
		to = &b->accounts[MINT];
		break;
	case AUC_TRANSFER_RETURN:
		from = &b->accounts[MARKET];
		to = a;
		b->returned += t->amount;
		a->return_period = t->period;
		break;
	default:
		from = &b->accounts[MINT];
		to = a;
		begins = t->code == AUC_TRANSFER_REFILL ? t->period > a->period : !a->limited;
		a->limited = true;
	}
	auc_books_debit(b, from, t->amount + t->opening);
	auc_books_credit(b, to, t->amount + t->opening);
	if (begins)
		a->past = a->debits;
	else if (from == a)
		a->past += t->amount;
	if (t->code == AUC_TRANSFER_REFILL)
		a->period = t->period;
	return AUC_OK;
}

auc_money auc_books_opening(const struct auc_books *b, const struct auc_transfer *t)
{
	const struct auc_account *a = auc_books_find(b, t->account);

	if ((t->code != AUC_TRANSFER_GRANT && t->code != AUC_TRANSFER_REFILL) || !a || a->limited)
		return 0;
	return left_of(a) < 0 ? (auc_money)-left_of(a) : 0;
}

static enum auc_code check_transfer(const struct auc_books *b, const struct auc_transfer *t,
				    auc_money settled, struct auc_err *err)
{
	const struct auc_account *a = auc_books_find(b, t->account);
	bool takes = t->code == AUC_TRANSFER_EXPIRE || t->code == AUC_TRANSFER_CORRECT;
	char amount[AUC_MONEY_LEN], left[AUC_MONEY_LEN];

	if (!is_sound(t))
		return auc_err_set(err, AUC_EINVAL, "transfer %s: not one that can be made", t->id);
	if ((is_by_hand(t) && knows_id(b, t->id)) ||
	    (t->code == AUC_TRANSFER_REFILL && a && !may_follow(t, a->period)) ||
	    (t->code == AUC_TRANSFER_RETURN && a && !may_follow(t, a->return_period)))
		return auc_err_set(err, AUC_EEXIST, "transfer %s: was made already", t->id);
	if (is_by_hand(t) && t->when <= b->forgotten)
		return auc_err_set(err, AUC_ESTATE,
				   "transfer %s: is older than transfers whose ids are kept; it "
				   "may have been made already",
				   t->id);
	if (takes && a && left_of(a) < t->amount)
		return auc_err_set(err, AUC_ELIMIT, "%s: %s is left, and %s is to be taken",
				   t->account,
				   auc_money_str(left_of(a) > 0 ? (auc_money)left_of(a) : 0, left),
				   auc_money_str(t->amount, amount));
	if (takes && !a)
		return auc_err_set(err, AUC_ENOENT, "%s: has no account", t->account);
	if (t->code == AUC_TRANSFER_RETURN && settled - b->returned < t->amount)
		return auc_err_set(err, AUC_ELIMIT, "the market has earned less than %s",
				   auc_money_str(t->amount, amount));
	if (!takes && ((a && a->credits > ONE_MAX - t->amount - t->opening) ||
		       b->accounts[MINT].debits > ONE_MAX - t->amount - t->opening))
		return auc_err_set(err, AUC_EFULL, "the books of %s are full", t->account);
	return AUC_OK;
}

/* By itself, whatever there is. */
static bool is_sound(const struct auc_transfer *t)
{
	bool gives = t->code == AUC_TRANSFER_GRANT || t->code == AUC_TRANSFER_REFILL;
	bool once = t->code == AUC_TRANSFER_REFILL || t->code == AUC_TRANSFER_RETURN;

	return t->id[0] && auc_account_is_name(t->account) && t->when > 0 && t->amount >= 0 &&
	       t->amount <= AUC_MONEY_MAX && (unsigned)t->code < AUC_TRANSFER_NCODES &&
	       t->opening >= 0 && t->opening <= (gives ? ONE_MAX : 0) && (!once || t->period >= 0);
}

/* Behind one of the period LAST: money of a later one only; but none sets a period that was never
 * reached right. */
static bool may_follow(const struct auc_transfer *t, int64_t last)
{
	return t->period > last || (t->period < last && !t->amount && !t->opening);
}

/* The others cannot be repeated, whatever their ids are. */
static bool is_by_hand(const struct auc_transfer *t)
{
	return t->code == AUC_TRANSFER_GRANT || t->code == AUC_TRANSFER_CORRECT;
}

static bool knows_id(const struct auc_books *b, const char *id)
{
	for (unsigned i = 0; i < b->nids; i++)
		if (!strcmp(b->ids[i].id, id))
			return true;
	return false;
}

bool auc_books_remember(struct auc_books *b, const char *id, int64_t when)
{
	struct auc_transfer_id *at;

	if (!b->ids && !(b->ids = malloc(AUC_IDS_MAX * sizeof(*b->ids))))
		return false;
	if (b->nids == AUC_IDS_MAX) {
		at = &b->ids[b->first_id];
		b->first_id = (b->first_id + 1) % AUC_IDS_MAX;
		if (at->when > b->forgotten)
			b->forgotten = at->when;
	} else {
		at = &b->ids[b->nids++];
	}
	snprintf(at->id, sizeof(at->id), "%s", id);
	at->when = when;
	return true;
}

/* -- checks -- */

bool auc_books_balance(const struct auc_books *b, auc_money revenue)
{
	const struct auc_account *market = &b->accounts[MARKET];

	return b->sum == 0 && market->credits - market->debits == revenue - b->returned;
}

enum auc_code auc_books_check(const struct auc_books *b, struct auc_err *err)
{
	__int128 sum = 0, pending = 0;

	for (unsigned i = 0; i < b->n; i++) {
		const struct auc_account *a = &b->accounts[i];

		sum += (__int128)a->credits - a->debits;
		pending += a->pending;
		if (a->credits < 0 || a->debits < 0 || a->pending < 0)
			return auc_err_set(err, AUC_ECORRUPT, "account %s: a sum below 0", a->name);
	}
	if (sum || b->sum)
		return auc_err_set(err, AUC_ECORRUPT,
				   "accounts: the sum over all of them is %lld micro-credits, "
				   "expected 0",
				   (long long)(sum ? sum : b->sum));
	if (pending != b->pending)
		return auc_err_set(err, AUC_ECORRUPT,
				   "accounts: %lld micro-credits are held, expected %" PRId64,
				   (long long)pending, b->pending);
	return AUC_OK;
}
