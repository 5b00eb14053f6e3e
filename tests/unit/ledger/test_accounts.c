/*
 * test_accounts.c - the books: random lives of money, in which nothing is made or lost, no account
 * spends more than it has, and what is on disk gives the same books again.
 */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "ledger/accounts.h"
#include "unit/support/splitmix.h"

#define HOLDS 64

static struct auc_err err;
static uint64_t seed;

struct held {
	struct auc_payers payers;
	auc_money amount;
	bool sold;
};

static unsigned below(unsigned n)
{
	return (unsigned)(splitmix(&seed) % n);
}

static void keep(void *arg, struct json_object *record)
{
	json_object_array_add(arg, record);
}

static struct json_object *dump(const struct auc_books *b)
{
	struct json_object *records = json_object_new_array();

	assert_int_equal(auc_books_dump(b, keep, records, &err), AUC_OK);
	return records;
}

/* A copy, and what a dump is read back to, dump as B does. */
static void assert_same_again(const struct auc_books *b, auc_money settled)
{
	struct json_object *records = dump(b), *again;
	struct auc_books *copy = auc_books_copy(b), *read = auc_books_create();

	for (size_t i = 0; i < json_object_array_length(records); i++)
		assert_int_equal(
			auc_books_apply(read, json_object_array_get_idx(records, i), settled, &err),
			AUC_OK);
	assert_true(auc_books_balance(read, auc_books_find(read, AUC_MARKET)->credits -
						    auc_books_find(read, AUC_MARKET)->debits +
						    auc_books_returned(read)));
	again = dump(read);
	assert_string_equal(json_object_to_json_string(records), json_object_to_json_string(again));
	json_object_put(again);
	again = dump(copy);
	assert_string_equal(json_object_to_json_string(records), json_object_to_json_string(again));
	json_object_put(again);
	json_object_put(records);
	auc_books_destroy(copy);
	auc_books_destroy(read);
}

static void random_payers(struct auc_payers *p)
{
	char name[AUC_ACCOUNT_LEN];

	auc_payers_none(p);
	if (!below(8))
		return;
	memset(p, 0, sizeof(*p));
	if (below(2)) {
		snprintf(name, sizeof(name), "user:%u", below(6));
		assert_true(auc_payers_add(p, name));
		return;
	}
	/* A child, its parent, and the root. */
	snprintf(name, sizeof(name), "account:child%u", below(4));
	assert_true(auc_payers_add(p, name));
	snprintf(name, sizeof(name), "account:parent%u", below(2));
	assert_true(auc_payers_add(p, name));
	if (below(2))
		assert_true(auc_payers_add(p, "account:root"));
}

static void random_transfer(struct auc_transfer *t, unsigned step)
{
	memset(t, 0, sizeof(*t));
	t->code = below(AUC_TRANSFER_NCODES);
	t->amount = below(1000);
	t->when = 1 + step;
	t->period = t->code == AUC_TRANSFER_REFILL || t->code == AUC_TRANSFER_RETURN
			    ? (int64_t)below(20)
			    : -1;
	snprintf(t->id, sizeof(t->id), "t%u", below(3) ? step : below(step + 1));
	if (below(2))
		snprintf(t->account, sizeof(t->account), "user:%u", below(6));
	else
		snprintf(t->account, sizeof(t->account), "account:%s%u",
			 below(2) ? "child" : "parent", below(2));
}

static void assert_limits(const struct auc_books *b)
{
	for (unsigned i = 0; i < auc_books_count(b); i++) {
		const struct auc_account *a = auc_books_at(b, i);

		if (a->limited)
			assert_true(a->debits + a->pending <= a->credits);
	}
}

/* Holds, or sells at once, in a free place of LIST. */
static void buy(struct auc_books *b, struct held *h, auc_money *revenue)
{
	auc_money left;
	enum auc_code rc;
	bool now = below(4) == 0;

	random_payers(&h->payers);
	h->amount = below(400);
	left = auc_books_left(b, &h->payers);
	rc = now ? auc_books_pay(b, &h->payers, h->amount, false, &err)
		 : auc_books_hold(b, &h->payers, h->amount, &err);
	assert_int_equal(rc, h->amount > left ? AUC_ELIMIT : AUC_OK);
	h->sold = now;
	if (rc != AUC_OK)
		h->payers.n = 0;
	else if (now)
		*revenue += h->amount;
}

/* What is held is sold or lapses; what is sold is paid back in part. */
static void go_on(struct auc_books *b, struct held *h, auc_money *revenue, auc_money *settled)
{
	auc_money back;

	if (h->sold) {
		back = below((unsigned)h->amount + 1);
		auc_books_refund(b, &h->payers, back);
		*revenue -= back;
		*settled += h->amount - back;
		h->payers.n = 0;
	} else if (below(2)) {
		auc_books_post(b, &h->payers, h->amount);
		*revenue += h->amount;
		h->sold = true;
	} else {
		auc_books_void(b, &h->payers, h->amount);
		h->payers.n = 0;
	}
}

static void random_life(unsigned steps)
{
	struct auc_books *b = auc_books_create();
	struct held held[HOLDS] = {0};
	auc_money revenue = 0, settled = 0, before;
	struct auc_transfer t;
	struct json_object *event;
	enum auc_code rc;

	for (unsigned step = 0; step < steps; step++) {
		struct held *h = &held[below(HOLDS)];

		if (!below(3)) {
			random_transfer(&t, step);
			t.opening = auc_books_opening(b, &t);
			before = auc_books_returned(b);
			rc = auc_books_transfer(b, &t, settled, &err);
			assert_true(rc == AUC_OK || rc == AUC_EEXIST || rc == AUC_ELIMIT ||
				    rc == AUC_ENOENT);
			if (rc == AUC_OK && t.code == AUC_TRANSFER_RETURN)
				assert_int_equal(auc_books_returned(b), before + t.amount);
			/* A repeat of what is made by hand, or of a refill, does nothing. */
			if (rc == AUC_OK && t.code != AUC_TRANSFER_EXPIRE &&
			    t.code != AUC_TRANSFER_RETURN) {
				event = auc_transfer_event(&t);
				assert_int_equal(auc_books_apply(b, event, settled, &err),
						 AUC_EEXIST);
				json_object_put(event);
			}
		} else if (!h->payers.n) {
			buy(b, h, &revenue);
		} else {
			go_on(b, h, &revenue, &settled);
		}
		assert_true(auc_books_balance(b, revenue));
		assert_int_equal(auc_books_check(b, &err), AUC_OK);
		assert_limits(b);
		if (step % 64 == 63)
			assert_same_again(b, settled);
	}
	auc_books_destroy(b);
}

static void test_random_lives(void **state)
{
	(void)state;
	for (uint64_t s = 0; s < 300; s++) {
		seed = s;
		random_life(600);
	}
}

static struct auc_payers payers_of(const char *a, const char *b)
{
	struct auc_payers p = {0};

	assert_true(auc_payers_add(&p, a));
	if (b)
		assert_true(auc_payers_add(&p, b));
	return p;
}

static enum auc_code grant(struct auc_books *b, const char *id, const char *account,
			   auc_money amount, int64_t when)
{
	struct auc_transfer t = {
		.amount = amount, .code = AUC_TRANSFER_GRANT, .when = when, .period = -1};

	snprintf(t.id, sizeof(t.id), "%s", id);
	snprintf(t.account, sizeof(t.account), "%s", account);
	t.opening = auc_books_opening(b, &t);
	return auc_books_transfer(b, &t, 0, &err);
}

/* Of two that together are more than there is, one. */
static void test_pending_counts(void **state)
{
	struct auc_books *b = auc_books_create();
	struct auc_payers p = payers_of("user:1000", NULL);

	(void)state;
	assert_int_equal(auc_books_left(b, &p), 0);
	assert_int_equal(auc_books_hold(b, &p, 1, &err), AUC_ELIMIT);
	assert_string_equal(err.text, "user:1000: was granted nothing, and 0.000001 is needed");
	assert_int_equal(grant(b, "a", "user:1000", 10 * AUC_CREDIT, 5), AUC_OK);
	assert_int_equal(grant(b, "a", "user:1000", 10 * AUC_CREDIT, 5), AUC_EEXIST);
	assert_int_equal(auc_books_hold(b, &p, 6 * AUC_CREDIT, &err), AUC_OK);
	assert_int_equal(auc_books_hold(b, &p, 6 * AUC_CREDIT, &err), AUC_ELIMIT);
	assert_string_equal(err.text,
			    "user:1000: 4.000000 of 10.000000 is left (0.000000 spent, 6.000000 "
			    "held for bids), and 6.000000 is needed");
	assert_int_equal(auc_books_hold(b, &p, 4 * AUC_CREDIT, &err), AUC_OK);
	auc_books_post(b, &p, 6 * AUC_CREDIT);
	auc_books_void(b, &p, 4 * AUC_CREDIT);
	assert_int_equal(auc_books_left(b, &p), 4 * AUC_CREDIT);
	/* What was sold before stays sold, and nothing is left then. */
	assert_int_equal(auc_books_pay(b, &p, 9 * AUC_CREDIT, true, &err), AUC_OK);
	assert_int_equal(auc_books_left(b, &p), 0);
	assert_true(auc_books_balance(b, 15 * AUC_CREDIT));
	auc_books_destroy(b);
}

/* A child spends from its parent, too; one that was granted nothing has its parent's limit. */
static void test_tree(void **state)
{
	struct auc_books *b = auc_books_create();
	struct auc_payers both = payers_of("account:ml", "account:physics");

	(void)state;
	assert_int_equal(grant(b, "a", "account:physics", 10, 1), AUC_OK);
	assert_int_equal(auc_books_left(b, &both), 10);
	assert_int_equal(auc_books_hold(b, &both, 3, &err), AUC_OK);
	auc_books_post(b, &both, 3);
	assert_int_equal(auc_books_left(b, &both), 7);
	/* What it spent before is made good: what it is granted is what it has. */
	assert_int_equal(grant(b, "b", "account:ml", 5, 1), AUC_OK);
	assert_int_equal(auc_books_left(b, &both), 5);
	assert_int_equal(auc_books_find(b, "account:ml")->credits, 8);
	auc_books_refund(b, &both, 3);
	assert_int_equal(auc_books_left(b, &both), 8);
	assert_true(auc_books_balance(b, 0));
	assert_int_equal(auc_books_find(b, AUC_TREE)->credits, 3);
	assert_int_equal(auc_books_find(b, AUC_TREE)->debits, 3);
	auc_books_destroy(b);
}

/* More grants than ids are kept: an old one may be a repeat, a new one is not. */
static void test_forgotten(void **state)
{
	struct auc_books *b = auc_books_create();
	char id[AUC_TRANSFER_LEN];

	(void)state;
	for (int i = 1; i <= 5000; i++) {
		snprintf(id, sizeof(id), "g%d", i);
		assert_int_equal(grant(b, id, "user:1", 1, i), AUC_OK);
	}
	assert_int_equal(grant(b, "g5000", "user:1", 1, 5000), AUC_EEXIST);
	assert_int_equal(grant(b, "g3", "user:1", 1, 3), AUC_ESTATE);
	assert_int_equal(grant(b, "g5001", "user:1", 1, 5000), AUC_OK);
	assert_int_equal(auc_books_find(b, "user:1")->credits, 5001);
	assert_same_again(b, 0);
	auc_books_destroy(b);
}

static void test_names(void **state)
{
	static const char *const good[] = {"user:0", "user:4294967295", "account:a_b", "account:x"};
	static const char *const bad[] = {"user:",      "user:-1",  "user:01", "user:4294967296",
					  "user:1e3",   "account:", "mint",    "market",
					  "account: x", "group:x",  "",        "user:1 "};
	struct auc_payers p = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(auc_account_is_name(good[i]));
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(auc_account_is_name(bad[i]));
	assert_true(auc_payers_add(&p, "user:1"));
	assert_true(auc_payers_add(&p, "user:1"));
	assert_int_equal(p.n, 1);
	assert_false(auc_payers_add(&p, "mint"));
}

/* What stands in a file is looked at. */
static void test_bad_records(void **state)
{
	static const char *const bad[] = {
		"{\"event\":\"transfer\"}",
		"{\"event\":\"transfer\",\"id\":\"\",\"account\":\"user:1\",\"amount\":\"1."
		"000000\","
		"\"code\":\"grant\",\"when\":1}",
		"{\"event\":\"transfer\",\"id\":\"x\",\"account\":\"mint\",\"amount\":\"1.000000\","
		"\"code\":\"grant\",\"when\":1}",
		"{\"event\":\"transfer\",\"id\":\"x\",\"account\":\"user:1\",\"amount\":\"1."
		"000000\","
		"\"code\":\"gift\",\"when\":1}",
		"{\"event\":\"transfer\",\"id\":\"x\",\"account\":\"user:1\",\"amount\":\"-1."
		"000000\","
		"\"code\":\"grant\",\"when\":1}",
		"{\"event\":\"transfer\",\"id\":\"x\",\"account\":\"user:1\",\"amount\":\"1."
		"000000\","
		"\"code\":\"grant\",\"when\":0}",
		"{\"event\":\"account\",\"name\":\"moon\",\"credits\":\"1.000000\",\"debits\":"
		"\"0.000000\",\"limited\":true,\"period\":-1}",
		"{\"event\":\"account\",\"name\":\"user:1\",\"credits\":1,\"debits\":\"0.000000\","
		"\"limited\":true,\"period\":-1}",
		"{\"event\":\"transfers\",\"returned\":\"0.000000\",\"forgotten\":0,\"ids\":3}",
		"{\"event\":\"transfers\",\"returned\":\"0.000000\",\"forgotten\":0,\"ids\":[3]}",
	};
	struct auc_books *b = auc_books_create();
	struct json_object *o;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		o = json_tokener_parse(bad[i]);
		assert_non_null(o);
		assert_int_equal(auc_books_apply(b, o, 0, &err), AUC_EINVAL);
		json_object_put(o);
	}
	auc_books_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_lives), cmocka_unit_test(test_pending_counts),
		cmocka_unit_test(test_tree),         cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_names),        cmocka_unit_test(test_bad_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
