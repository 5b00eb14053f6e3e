/*
 * test_budget.c - money that is scarce, in the whole auction: who pays, what is refused, that of
 * bids which together are more than a budget no more are sold than it pays, in threads too, and
 * that what any kill leaves on disk keeps to it.
 */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auction/auction-private.h"
#include "unit/support/world.h"

#define GIVEN "Prices=given\nEta=cpu=20,gpu:v100=50,gpu:t4=50\nSlots=100\n"
#define WORK  "epochs=4 chunks=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0"

static struct auc_err err;

/* What loads it is held to no budget. */
static struct auc_auction *open_loaded(const char *globals, const char *budgets)
{
	struct auc_auction *a = world_open(globals, world_dir, NOW);
	char text[512];

	world_load(a);
	snprintf(text, sizeof(text), "%s\nBudgets=%s", globals, budgets);
	assert_int_equal(auc_auction_reconfigure(a, world_conf(text), NOW, &err), AUC_OK);
	return a;
}

static void transfer(struct auc_auction *a, enum auc_transfer_code code, const char *account,
		     auc_money amount)
{
	static unsigned n;
	struct auc_transfer t = {.amount = amount, .code = code, .when = 1000, .period = -1};

	snprintf(t.id, sizeof(t.id), "by-hand-%u", n++);
	snprintf(t.account, sizeof(t.account), "%s", account);
	assert_int_equal(auc_auction_transfer(a, &t, &err), AUC_OK);
	assert_int_equal(auc_auction_transfer(a, &t, &err), AUC_EEXIST);
}

static void grant(struct auc_auction *a, const char *account, auc_money amount)
{
	transfer(a, AUC_TRANSFER_GRANT, account, amount);
}

/* The offer to a bid of UID, for the accounts UP (NULL at the end), if any. */
static struct auc_offer offer_to(struct auc_auction *a, uint32_t uid, const char *value, bool hold,
				 const char *const *up)
{
	char text[256];
	struct auc_offer o;
	struct auc_bid bid;

	snprintf(text, sizeof(text), "bid=%s " WORK, value);
	bid = world_bid(a, text);
	for (; up && up[bid.naccounts]; bid.naccounts++)
		snprintf(bid.accounts[bid.naccounts], AUC_NAME_MAX, "%s", up[bid.naccounts]);
	if (auc_auction_bid(a, &bid, uid, NOW, hold, &o, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return o;
}

/* What it costs who is held to no budget. */
static auc_money price_of(struct auc_auction *a)
{
	struct auc_offer o = offer_to(a, 0, "9000", false, NULL);
	auc_money payment = o.payment;

	assert_true(o.accepted && payment > 0);
	auc_offer_clear(&o);
	return payment;
}

static const struct auc_account *account(const struct auc_auction *a, const char *name)
{
	return auc_books_find(auc_ledger_books(a->ledger), name);
}

static void assert_refused(struct auc_offer *o, const char *text)
{
	assert_false(o->accepted);
	assert_int_equal(o->reason, AUC_REASON_BUDGET);
	if (!strstr(o->message, text))
		fail_msg("'%s' is not in: %s", text, o->message);
	auc_offer_clear(o);
}

/* With nothing; with all it costs; with a micro-credit less something cheaper, or nothing. */
static void test_what_is_left(void **state)
{
	struct auc_auction *a = open_loaded(GIVEN, "user");
	auc_money price = price_of(a), left;
	struct auc_offer o;
	char text[64];

	(void)state;
	o = offer_to(a, 1001, "9000", true, NULL);
	assert_refused(&o, "user:1001 was granted nothing");
	grant(a, "user:1001", price - 1);
	o = offer_to(a, 1001, "9000", true, NULL);
	if (o.accepted) {
		assert_true(o.payment < price);
		assert_int_equal(auc_auction_drop(a, o.sale, &err), AUC_OK);
		auc_offer_clear(&o);
	} else {
		assert_refused(&o, " is left of user:1001 (0.00 spent, 0.00 held for bids)");
	}
	grant(a, "user:1001", 1);
	o = offer_to(a, 1001, "9000", true, NULL);
	assert_true(o.accepted);
	assert_int_equal(o.payment, price);
	assert_non_null(strstr(o.message, "auction: budget almost spent: with this 100 % of the "
					  "budget of user:1001 is spent or held"));
	auc_offer_clear(&o);
	left = auc_books_left(auc_ledger_books(a->ledger),
			      &auc_ledger_at(a->ledger, auc_ledger_count(a->ledger) - 1)->payers);
	assert_int_equal(left, 0);
	o = offer_to(a, 1001, "9000", true, NULL);
	snprintf(text, sizeof(text), "0.00 of ");
	assert_refused(&o, text);
	auc_auction_destroy(a);
}

/* Half a price more than one: of two bids one is sold, and when it lapses, the other. */
static void test_exactly_one(void **state)
{
	struct auc_auction *a = open_loaded(GIVEN, "user");
	struct auc_offer first, second;

	(void)state;
	grant(a, "user:1001", price_of(a));
	first = offer_to(a, 1001, "9000", true, NULL);
	assert_true(first.accepted);
	second = offer_to(a, 1001, "9000", true, NULL);
	assert_refused(&second, "refused: budget: the best schedule costs ");
	assert_int_equal(auc_auction_drop(a, first.sale, &err), AUC_OK);
	second = offer_to(a, 1001, "9000", true, NULL);
	assert_true(second.accepted);
	assert_int_equal(auc_auction_confirm(a, second.sale, 7, NULL, &err), AUC_OK);
	assert_int_equal(account(a, "user:1001")->debits, second.payment);
	assert_int_equal(account(a, "user:1001")->pending, 0);
	/* What comes back can be spent again. */
	assert_int_equal(auc_auction_settle(a, 7, "lost", NOW, NULL, &err), AUC_OK);
	auc_offer_clear(&first);
	first = offer_to(a, 1001, "9000", true, NULL);
	assert_true(first.accepted);
	auc_offer_clear(&first);
	auc_offer_clear(&second);
	auc_auction_destroy(a);
}

/* A lien that was not on disk is sold from its receipt, if its price is still left. */
static void test_kill(void **state)
{
	static const char conf[] = GIVEN "Budgets=user";
	struct auc_auction *a = open_loaded(GIVEN, "user");
	struct auc_offer lost;

	(void)state;
	grant(a, "user:1001", price_of(a));
	world_commit(a);
	lost = offer_to(a, 1001, "9000", true, NULL);
	assert_true(lost.accepted);
	auc_auction_destroy(a);
	a = world_open(conf, world_dir, NOW);
	assert_int_equal(account(a, "user:1001")->debits, 0);
	assert_int_equal(auc_auction_adopt(a, lost.receipt, 8, 1001, AUC_SALE_SOLD, &err), AUC_OK);
	assert_int_equal(account(a, "user:1001")->debits, lost.payment);
	assert_int_equal(auc_auction_adopt(a, lost.receipt, 8, 1001, AUC_SALE_SOLD, &err),
			 AUC_EEXIST);
	auc_auction_destroy(a);
	a = world_open(conf, world_dir, NOW);
	transfer(a, AUC_TRANSFER_CORRECT, "user:1001", 1);
	assert_int_equal(auc_auction_adopt(a, lost.receipt, 8, 1001, AUC_SALE_SOLD, &err),
			 AUC_ELIMIT);
	transfer(a, AUC_TRANSFER_GRANT, "user:1001", 1);
	assert_int_equal(auc_auction_adopt(a, lost.receipt, 8, 1001, AUC_SALE_SOLD, &err), AUC_OK);
	auc_offer_clear(&lost);
	auc_auction_destroy(a);
}

static void test_accounts(void **state)
{
	static const char *const up[] = {"ml", "physics", "root", NULL};
	struct auc_auction *a = open_loaded(GIVEN, "account");
	auc_money price = price_of(a);
	struct auc_offer o;
	struct auc_bid bid;

	(void)state;
	bid = world_bid(a, "bid=9000 " WORK);
	assert_int_equal(auc_auction_bid(a, &bid, 1001, NOW, true, &o, &err), AUC_ESTATE);
	strcpy(bid.stranger, "chem");
	assert_int_equal(auc_auction_bid(a, &bid, 1001, NOW, true, &o, &err), AUC_ESTATE);
	assert_non_null(strstr(err.text, "account 'chem' is not known as one of yours"));
	o = offer_to(a, 1001, "9000", true, up);
	assert_refused(&o, "account:ml was granted nothing");
	grant(a, "account:physics", price + price / 2);
	o = offer_to(a, 1001, "9000", true, up);
	assert_true(o.accepted);
	assert_int_equal(auc_auction_confirm(a, o.sale, 7, NULL, &err), AUC_OK);
	auc_offer_clear(&o);
	assert_int_equal(account(a, "account:ml")->debits, price);
	assert_int_equal(account(a, "account:physics")->debits, price);
	assert_int_equal(account(a, AUC_TREE)->credits, price);
	assert_null(account(a, "account:root"));
	/* A child with more than its parent has what the parent has. */
	grant(a, "account:ml", 100 * price);
	o = offer_to(a, 1001, "9000", true, up);
	assert_refused(&o, "of account:physics (");
	auc_auction_destroy(a);
}

static void assert_told(struct auc_auction *a, uint32_t uid, unsigned what, const char *text)
{
	struct auc_bid bid = {.ask = what};
	char *told = auc_auction_tell(a, &bid, uid, NOW);

	assert_non_null(told);
	if (!strstr(told, text))
		fail_msg("'%s' is not in: %s", text, told);
	free(told);
}

/* What a user asks is answered of its own money and bids. */
static void test_questions(void **state)
{
	struct auc_auction *a = open_loaded(GIVEN, "user");
	struct auc_offer o;

	(void)state;
	grant(a, "user:1001", 5);
	o = offer_to(a, 1001, "9000", true, NULL);
	assert_refused(&o, "refused: budget: ");
	assert_told(a, 1001, AUC_ASK_BALANCE,
		    "auction: {\"left\":\"0.000005\",\"problem\":\"\",\"accounts\":[{\"account\":"
		    "\"user:1001\",\"in\":\"0.000005\",");
	assert_told(a, 1001, AUC_ASK_WHY, "\"text\":\"auction: refused: budget: ");
	assert_told(a, 1002, AUC_ASK_WHY, "\"text\":\"\"");
	assert_told(a, 1001 + 4096, AUC_ASK_WHY, "\"text\":\"\"");
	assert_told(a, 1002, AUC_ASK_BALANCE, "\"left\":\"0.000000\"");
	assert_told(a, 0, AUC_ASK_BALANCE, "auction: {\"problem\":\"\",\"accounts\":[]}");
	auc_auction_destroy(a);
}

/* A policy that does not look for what can be paid says so. */
static void test_policy_without_budgets(void **state)
{
	struct auc_auction *a =
		open_loaded("Policy=oasis\nPrices=given\nLower=cpu=0.1,gpu:v100=1,gpu:t4=1\n"
			    "Upper=cpu=100,gpu:v100=900,gpu:t4=900\nSlots=100",
			    "user");
	struct auc_offer o;

	(void)state;
	grant(a, "user:1001", price_of(a) / 2);
	o = offer_to(a, 1001, "9000", true, NULL);
	assert_refused(&o, "; Policy=oasis looks for no cheaper one");
	auc_auction_destroy(a);
}

static void test_pause(void **state)
{
	struct auc_auction *a = open_loaded(GIVEN, "none");
	struct auc_bid bid = world_bid(a, "bid=9000 " WORK);
	struct auc_offer o;

	(void)state;
	world_sell(a, "bid=9000 " WORK, 7, NOW);
	auc_auction_pause(a, "maintenance");
	assert_int_equal(auc_auction_bid(a, &bid, 1001, NOW, true, &o, &err), AUC_ESTATE);
	assert_string_equal(err.text, "the auction is paused: maintenance");
	assert_int_equal(auc_auction_start(a, 7, NOW, NULL, &err), AUC_OK);
	auc_auction_pause(a, NULL);
	world_sell(a, "bid=9000 " WORK, 8, NOW);
	auc_auction_destroy(a);
}

/* -- threads -- */

#define BIDDERS 6
#define BIDS    120 /* by each */
#define USERS   3

static struct auc_auction *auction;
static atomic_uint next_job, bidding, failures, bought;

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			atomic_fetch_add(&failures, 1);                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                 \
		}                                                                                  \
	} while (0)

static void *bidder(void *arg)
{
	unsigned id = (unsigned)(size_t)arg;
	struct auc_bid bid = world_bid(auction, "bid=9000 " WORK);

	for (unsigned i = 0; i < BIDS; i++) {
		uint32_t job = atomic_fetch_add(&next_job, 1);
		struct auc_offer o;

		if (auc_auction_bid(auction, &bid, 1000 + id % USERS, NOW, true, &o, NULL) !=
		    AUC_OK) {
			CHECK(!"a bid is decided");
			break;
		}
		CHECK(o.accepted || o.reason == AUC_REASON_BUDGET ||
		      o.reason == AUC_REASON_PAYOFF || o.reason == AUC_REASON_CAPACITY);
		if (o.accepted && i % 5 == 4) {
			CHECK(auc_auction_drop(auction, o.sale, NULL) == AUC_OK);
		} else if (o.accepted) {
			atomic_fetch_add(&bought, 1);
			CHECK(auc_auction_confirm(auction, o.sale, job, NULL, NULL) == AUC_OK);
			if (i % 3)
				CHECK(auc_auction_settle(auction, job,
							 i % 3 == 1 ? "lost" : "cancelled", NOW,
							 NULL, NULL) == AUC_OK);
		}
		auc_offer_clear(&o);
	}
	atomic_fetch_sub(&bidding, 1);
	return NULL;
}

/* At any time no account has spent or held more than it got, and all of them together nothing. */
static void look_at_books(const struct auc_books *b)
{
	CHECK(auc_books_check(b, NULL) == AUC_OK);
	for (unsigned i = 0; i < auc_books_count(b); i++) {
		const struct auc_account *a = auc_books_at(b, i);

		CHECK(!a->limited || a->debits + a->pending <= a->credits);
	}
}

static void *looker(void *arg)
{
	(void)arg;
	while (atomic_load(&bidding)) {
		pthread_mutex_lock(&auction->lock);
		look_at_books(auc_ledger_books(auction->ledger));
		pthread_mutex_unlock(&auction->lock);
		sched_yield();
	}
	return NULL;
}

/* What a kill here would leave. */
static void copy_spool(const char *to)
{
	static const char *const names[] = {"state", "journal"};
	char path[192], data[4096];
	size_t n;

	for (unsigned i = 0; i < 2; i++) {
		FILE *in, *out;

		snprintf(path, sizeof(path), "%s/%s", world_dir, names[i]);
		in = fopen(path, "re");
		snprintf(path, sizeof(path), "%s/%s", to, names[i]);
		out = fopen(path, "we");
		CHECK(in && out);
		while ((n = fread(data, 1, sizeof(data), in)) > 0)
			fwrite(data, 1, n, out);
		fclose(in);
		fclose(out);
	}
}

static void *committer(void *arg)
{
	struct auc_auction *a;

	for (unsigned i = 0; atomic_load(&bidding); i++) {
		CHECK(auc_auction_commit(auction, NULL) == AUC_OK);
		if (i % 8)
			continue;
		copy_spool(arg);
		a = world_open(GIVEN "Budgets=user", arg, NOW);
		look_at_books(auc_ledger_books(a->ledger));
		auc_auction_destroy(a);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[BIDDERS + 2];
	char copy[64], name[AUC_ACCOUNT_LEN];
	auc_money price;

	(void)state;
	world_mkdir(copy);
	auction = open_loaded(GIVEN, "user");
	price = price_of(auction);
	for (unsigned i = 0; i < USERS; i++) {
		snprintf(name, sizeof(name), "user:%u", 1000 + i);
		grant(auction, name, 3 * price + (auc_money)i);
	}
	world_commit(auction);
	atomic_store(&next_job, 1000);
	atomic_store(&bidding, BIDDERS);
	for (size_t i = 0; i < BIDDERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, bidder, (void *)i), 0);
	assert_int_equal(pthread_create(&threads[BIDDERS], NULL, looker, NULL), 0);
	assert_int_equal(pthread_create(&threads[BIDDERS + 1], NULL, committer, copy), 0);
	for (unsigned i = 0; i < BIDDERS + 2; i++)
		pthread_join(threads[i], NULL);
	assert_true(atomic_load(&bought) > 0);
	look_at_books(auc_ledger_books(auction->ledger));
	assert_int_equal(auc_ledger_audit(auction->ledger, &err), AUC_OK);
	assert_int_equal(atomic_load(&failures), 0);
	auc_auction_destroy(auction);
	world_rmdir(copy);
}

/* Calls until nothing is due any more; how many transfers there were. */
static unsigned allowances(struct auc_auction *a, double now, unsigned most)
{
	unsigned made, sum = 0, calls = 0;

	do {
		assert_int_equal(auc_auction_allowances(a, now, &made, &err), AUC_OK);
		assert_true(++calls <= most);
		sum += made;
	} while (made);
	return sum;
}

/* Money that comes by itself: to who bids at once, to all others some at a time, once. */
static void test_refills(void **state)
{
	struct auc_auction *a =
		open_loaded(GIVEN, "user\nRefill=user=* Amount=9000 Every=day\nReturn=equal");
	char name[AUC_ACCOUNT_LEN];
	struct auc_offer o;

	(void)state;
	o = offer_to(a, 1001, "9000", false, NULL);
	assert_true(o.accepted);
	auc_offer_clear(&o);
	assert_true(account(a, "user:1001")->credits == auc_money_from(9000));
	/* One is refilled, and noted for a return. */
	assert_int_equal(allowances(a, NOW, 3), 1);
	for (unsigned i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "user:%u", 2000 + i);
		grant(a, name, AUC_CREDIT);
	}
	assert_int_equal(allowances(a, NOW, 1), 0);
	/* Within the lock no more than some at a time. */
	assert_int_equal(auc_auction_reconfigure(
				 a,
				 world_conf(GIVEN "\nBudgets=user\nRefill=user=* Amount=9000 "
						  "Every=day\nReturn=equal"),
				 NOW, &err),
			 AUC_OK);
	assert_int_equal(allowances(a, NOW, 8), 1000);
	assert_true(account(a, "user:2499")->credits == auc_money_from(9001));
	/* Root is held to no budget, and no account of that kind is refilled for it. */
	assert_int_equal(auc_auction_reconfigure(
				 a,
				 world_conf(GIVEN "\nBudgets=account\nRefill=account=* Amount=5"),
				 NOW, &err),
			 AUC_OK);
	o = offer_to(a, 0, "9000", false, NULL);
	assert_true(o.accepted);
	auc_offer_clear(&o);
	assert_int_equal(allowances(a, NOW, 1), 0);
	assert_int_equal(auc_ledger_audit(a->ledger, &err), AUC_OK);
	auc_auction_destroy(a);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_what_is_left),
		T(test_exactly_one),
		T(test_kill),
		T(test_accounts),
		T(test_policy_without_budgets),
		T(test_pause),
		T(test_questions),
		T(test_threads),
		T(test_refills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
