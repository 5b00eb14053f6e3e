/* test_allowance.c - money that comes by itself: when periods begin, refills, returns. */
#define _DEFAULT_SOURCE
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "ledger/allowance.h"
#include "ledger/budget.h"
#include "unit/support/splitmix.h"

#define HOUR 3600
#define DAY  (24 * HOUR)
#define NOW  1795699800.0 /* Thu 2026-11-26 13:30:00 UTC */

static struct auc_err err;

static const char head[] = "Policy=dps\nSlotSeconds=60\nSlots=10\nPartitionName=p\n"
			   "WorkerType=w TRES=cpu=1\nPSType=s TRES=cpu=1\n";

static struct auc_conf *conf_of(const char *lines)
{
	struct auc_conf *conf;
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", head, lines);
	if (auc_conf_parse(text, strlen(text), "c", &conf, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return conf;
}

static void refused(const char *lines, const char *said)
{
	struct auc_conf *conf;
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", head, lines);
	assert_int_not_equal(auc_conf_parse(text, strlen(text), "c", &conf, &err), AUC_OK);
	if (!strstr(err.text, said))
		fail_msg("%s", err.text);
}

/* Makes all that is due to NAME; what it has left then, in credits. */
static double refill(const struct auc_conf *conf, struct auc_books *b, const char *name, double now)
{
	struct auc_transfer t;
	const struct auc_account *a;

	for (unsigned i = 0; auc_allowance_refill(conf, b, name, now, &t); i++) {
		assert_true(i < 2);
		t.opening = auc_books_opening(b, &t);
		assert_int_equal(auc_books_transfer(b, &t, 0, &err), AUC_OK);
	}
	a = auc_books_find(b, name);
	return a ? auc_money_to(a->credits - a->debits - a->pending) : -1;
}

/* Makes all that Return= says, or only MOST of it. */
static void give_back(const struct auc_conf *conf, struct auc_books *b, double settled, double now,
		      unsigned most)
{
	struct auc_transfer t;

	while (most-- && auc_allowance_return(conf, b, auc_money_from(settled), now, &t))
		assert_int_equal(auc_books_transfer(b, &t, auc_money_from(settled), &err), AUC_OK);
}

static void spend(struct auc_books *b, const char *name, double amount)
{
	struct auc_payers p = {.n = 0};

	assert_true(auc_payers_add(&p, name));
	assert_int_equal(auc_books_pay(b, &p, auc_money_from(amount), false, &err), AUC_OK);
}

static double left(const struct auc_books *b, const char *name)
{
	const struct auc_account *a = auc_books_find(b, name);

	return auc_money_to(a->credits - a->debits - a->pending);
}

/* Against the calendar of the C library. */
static void test_periods(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		time_t t = (time_t)(splitmix(&seed) % 4102444800), at;
		struct tm tm;

		gmtime_r(&t, &tm);
		tm.tm_min = tm.tm_sec = 0;
		assert_int_equal(auc_allowance_period(AUC_EVERY_HOUR, (double)t + 0.5),
				 timegm(&tm));
		tm.tm_hour = 0;
		at = timegm(&tm);
		assert_int_equal(auc_allowance_period(AUC_EVERY_DAY, (double)t), at);
		at -= (tm.tm_wday + 6) % 7 * DAY;
		assert_int_equal(auc_allowance_period(AUC_EVERY_WEEK, (double)t), at > 0 ? at : 0);
		tm.tm_mday = 1;
		assert_int_equal(auc_allowance_period(AUC_EVERY_MONTH, (double)t), timegm(&tm));
	}
}

/* What its user is told of NAME, and how much of the budget is gone. */
static void told(const struct auc_books *b, const char *name, const char *expected, double share)
{
	struct auc_payers p = {.n = 0};
	const char *account;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_true(auc_payers_add(&p, name));
	auc_budget_print(out, b, &p);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	assert_true(fabs(auc_budget_share(b, &p, 0, &account) - share) < 1e-12);
}

static void test_refill(void **state)
{
	struct auc_conf *conf = conf_of("Budgets=user\nRefill=user=7 Amount=10 Every=day\n"
					"Refill=user=8 Amount=5 Every=hour Carry=yes\n"
					"Refill=user=* Amount=1\n");
	struct auc_books *b = auc_books_create();
	struct auc_payers p = {.n = 0};
	struct auc_transfer t;

	(void)state;
	assert_true(refill(conf, b, "user:7", NOW) == 10);
	assert_true(refill(conf, b, "user:7", NOW + 10 * HOUR) == 10);
	spend(b, "user:7", 4);
	assert_true(refill(conf, b, "user:7", NOW + 10 * HOUR) == 6);
	/* What bids hold is kept; the rest is not carried over. */
	assert_true(auc_payers_add(&p, "user:7"));
	assert_int_equal(auc_books_hold(b, &p, auc_money_from(2), &err), AUC_OK);
	assert_true(refill(conf, b, "user:7", NOW + DAY) == 10);
	auc_books_void(b, &p, auc_money_from(2));
	assert_true(left(b, "user:7") == 12);
	/* Nothing is made up for. */
	assert_true(refill(conf, b, "user:7", NOW + 9 * DAY) == 10);
	/* The clock is set back: nothing comes, and the next day all is as ever. */
	spend(b, "user:7", 1);
	assert_true(refill(conf, b, "user:7", NOW + DAY) == 9);
	told(b, "user:7", "9.00 of 10.00 is left of user:7 (1.00 spent, 0.00 held for bids)", 0.1);
	assert_true(refill(conf, b, "user:7", NOW + DAY) == 9);
	assert_true(refill(conf, b, "user:7", NOW + 2 * DAY) == 10);
	/* By a step over midnight nothing comes twice. */
	spend(b, "user:7", 1);
	assert_true(refill(conf, b, "user:7", NOW + 1 * DAY) == 9);
	assert_true(refill(conf, b, "user:7", NOW + 2 * DAY) == 9);

	assert_true(refill(conf, b, "user:8", NOW) == 5);
	assert_true(refill(conf, b, "user:8", NOW + HOUR) == 10);
	spend(b, "user:8", 3);
	assert_true(refill(conf, b, "user:8", NOW + 2 * HOUR) == 12);

	assert_true(refill(conf, b, "user:9", NOW) == 1);
	/* Nobody else, nor those who do not pay. */
	assert_null(auc_conf_refill(conf, AUC_MINT));
	assert_false(auc_allowance_refill(conf, b, "account:x", NOW, &t));
	assert_int_equal(auc_books_check(b, &err), AUC_OK);
	auc_books_destroy(b);
	auc_conf_free(conf);
}

static void copy_record(void *arg, struct json_object *record)
{
	assert_int_equal(auc_books_apply(arg, record, 0, &err), AUC_OK);
	json_object_put(record);
}

/* The budget is what there was at the last refill, and came since: neither what was spent before,
 * nor what expired, nor what came back counts as spent. */
static void test_budget_of_a_period(void **state)
{
	struct auc_conf *conf = conf_of("Budgets=user\nRefill=user=7 Amount=10 Every=day\n"
					"Refill=user=8 Amount=5 Every=hour Carry=yes\n");
	struct auc_transfer by_hand = {.id = "g", .account = "user:7", .when = 1, .period = -1};
	struct auc_books *b = auc_books_create(), *again = auc_books_create();
	struct auc_payers p = {.n = 0};

	(void)state;
	assert_true(auc_payers_add(&p, "user:7"));
	refill(conf, b, "user:7", NOW);
	spend(b, "user:7", 4);
	told(b, "user:7", "6.00 of 10.00 is left of user:7 (4.00 spent, 0.00 held for bids)", 0.4);
	auc_books_refund(b, &p, auc_money_from(3));
	told(b, "user:7", "9.00 of 10.00 is left of user:7 (1.00 spent, 0.00 held for bids)", 0.1);
	/* The next day. */
	refill(conf, b, "user:7", NOW + DAY);
	told(b, "user:7", "10.00 of 10.00 is left of user:7 (0.00 spent, 0.00 held for bids)", 0);
	auc_books_refund(b, &p, auc_money_from(1));
	told(b, "user:7", "11.00 of 11.00 is left of user:7 (0.00 spent, 0.00 held for bids)", 0);
	by_hand.code = AUC_TRANSFER_CORRECT;
	by_hand.amount = auc_money_from(2);
	assert_int_equal(auc_books_transfer(b, &by_hand, 0, &err), AUC_OK);
	spend(b, "user:7", 6.75);
	told(b, "user:7", "2.25 of 9.00 is left of user:7 (6.75 spent, 0.00 held for bids)", 0.75);
	/* So it is after a restart. */
	assert_int_equal(auc_books_dump(b, copy_record, again, &err), AUC_OK);
	told(again, "user:7", "2.25 of 9.00 is left of user:7 (6.75 spent, 0.00 held for bids)",
	     0.75);
	/* What is carried over is of the new period. */
	refill(conf, b, "user:8", NOW);
	spend(b, "user:8", 3);
	refill(conf, b, "user:8", NOW + HOUR);
	told(b, "user:8", "7.00 of 7.00 is left of user:8 (0.00 spent, 0.00 held for bids)", 0);
	/* A grant by hand is more of the same budget. */
	spend(b, "user:8", 3.5);
	by_hand = (struct auc_transfer){.id = "h",
					.account = "user:8",
					.when = 1,
					.period = -1,
					.amount = auc_money_from(3)};
	assert_int_equal(auc_books_transfer(b, &by_hand, 0, &err), AUC_OK);
	told(b, "user:8", "6.50 of 10.00 is left of user:8 (3.50 spent, 0.00 held for bids)", 0.35);
	assert_int_equal(auc_books_check(b, &err), AUC_OK);
	auc_books_destroy(again);
	auc_books_destroy(b);
	auc_conf_free(conf);
}

static void test_return(void **state)
{
	struct auc_conf *conf = conf_of("Budgets=user\nReturn=equal\nReturnEvery=day\n"
					"Refill=user=* Amount=100 Carry=yes\n");
	struct auc_books *b = auc_books_create(), *half;

	(void)state;
	refill(conf, b, "user:1", NOW);
	refill(conf, b, "user:2", NOW);
	spend(b, "user:1", 30);
	/* They are noted; that day nothing comes. */
	give_back(conf, b, 30, NOW, -1);
	assert_true(left(b, "user:1") == 70 && left(b, "user:2") == 100);
	refill(conf, b, "user:3", NOW + HOUR);
	give_back(conf, b, 30, NOW + HOUR, -1);
	/* Next day each of three gets a third of what was earned, once. */
	give_back(conf, b, 30, NOW + DAY, -1);
	give_back(conf, b, 40, NOW + DAY + HOUR, -1);
	assert_true(left(b, "user:1") == 80 && left(b, "user:2") == 110 &&
		    left(b, "user:3") == 110);
	/* Broken off in the middle, and gone on with. */
	half = auc_books_copy(b);
	assert_non_null(half);
	spend(half, "user:1", 60);
	give_back(conf, half, 90, NOW + 2 * DAY, 1);
	give_back(conf, half, 90, NOW + 2 * DAY, -1);
	assert_true(left(half, "user:1") == 40 && left(half, "user:2") == 130 &&
		    left(half, "user:3") == 130);
	assert_int_equal(auc_books_check(half, &err), AUC_OK);
	/* The clock was a month ahead: what was earned comes again from the next day on, to all. */
	give_back(conf, half, 120, NOW + 32 * DAY, -1);
	assert_true(left(half, "user:2") == 140);
	give_back(conf, half, 150, NOW + 3 * DAY, -1);
	assert_true(left(half, "user:2") == 140);
	give_back(conf, half, 150, NOW + 4 * DAY, -1);
	assert_true(left(half, "user:1") == 60 && left(half, "user:2") == 150);
	assert_int_equal(auc_books_check(half, &err), AUC_OK);
	auc_books_destroy(half);
	auc_books_destroy(b);
	auc_conf_free(conf);
}

static void test_shares(void **state)
{
	struct auc_conf *conf = conf_of("Budgets=account\nReturn=shares\nReturnEvery=week\n"
					"Refill=account=a Amount=30 Carry=yes\n"
					"Refill=account=b Amount=10 Carry=yes\n");
	struct auc_conf *any = conf_of("Budgets=account\nRefill=account=* Amount=1\n"
				       "Refill=account=Physics Amount=2\n");
	struct auc_transfer grant = {.id = "g", .account = "account:c", .when = 1, .period = -1};
	struct auc_books *b = auc_books_create();

	(void)state;
	refill(conf, b, "account:a", NOW);
	refill(conf, b, "account:b", NOW);
	assert_int_equal(auc_books_transfer(b, &grant, 0, &err), AUC_OK);
	give_back(conf, b, 0, NOW, -1);
	spend(b, "account:a", 20);
	give_back(conf, b, 20, NOW + 7 * DAY, -1);
	assert_true(left(b, "account:a") == 25 && left(b, "account:b") == 15 &&
		    left(b, "account:c") == 0);
	assert_non_null(auc_conf_refill(any, "account:c"));
	assert_null(auc_conf_refill(any, AUC_MINT));
	/* Slurm has small letters in names of accounts. */
	assert_true(auc_conf_refill(any, "account:physics")->amount == 2);
	auc_conf_free(any);
	auc_books_destroy(b);
	auc_conf_free(conf);
}

/* Ten a day is as much as seventy a week. */
static void test_shares_by_time(void **state)
{
	struct auc_conf *conf = conf_of("Budgets=user\nReturn=shares\nReturnEvery=week\n"
					"Refill=user=1 Amount=10 Every=day Carry=yes\n"
					"Refill=user=2 Amount=70 Every=week Carry=yes\n");
	struct auc_books *b = auc_books_create();

	(void)state;
	refill(conf, b, "user:1", NOW);
	refill(conf, b, "user:2", NOW);
	give_back(conf, b, 0, NOW, -1);
	spend(b, "user:2", 20);
	give_back(conf, b, 20, NOW + 7 * DAY, -1);
	assert_true(left(b, "user:1") == 20 && left(b, "user:2") == 60);
	auc_books_destroy(b);
	auc_conf_free(conf);
}

/* Whoever they are and whatever they spend, no more comes back than came in, and the rest of a
 * division is less than a millionth of a credit for each. */
static void test_random_returns(void **state)
{
	struct auc_conf *conf = conf_of("Budgets=user\nReturn=equal\nReturnEvery=hour\n"
					"Refill=user=* Amount=1000 Every=day\n");
	uint64_t seed = 9;

	(void)state;
	for (unsigned life = 0; life < 50; life++) {
		struct auc_books *b = auc_books_create();
		unsigned users = 1 + (unsigned)(splitmix(&seed) % 7);
		double settled = 0;
		char name[32];

		for (unsigned hour = 0; hour < 60; hour++) {
			for (unsigned u = 1; u <= users; u++) {
				double amount = (double)(splitmix(&seed) % 1000) / 100;

				snprintf(name, sizeof(name), "user:%u", u);
				if (refill(conf, b, name, NOW + hour * HOUR) < amount)
					continue;
				spend(b, name, amount);
				settled += amount;
			}
			give_back(conf, b, settled, NOW + hour * HOUR,
				  splitmix(&seed) % 5 ? -1U : 1);
			give_back(conf, b, settled, NOW + hour * HOUR, -1);
			assert_true(auc_books_returned(b) <= auc_money_from(settled));
			if (hour)
				assert_true(auc_money_from(settled) - auc_books_returned(b) <=
					    (auc_money)users + 1);
			assert_int_equal(auc_books_check(b, &err), AUC_OK);
		}
		auc_books_destroy(b);
	}
	auc_conf_free(conf);
}

static void test_conf(void **state)
{
	(void)state;
	refused("Refill=user=7 Amount=1\n", "Refill=: expected none with Budgets=none");
	refused("Return=equal\n", "Return=: expected none with Budgets=none");
	refused("Budgets=user\nRefill=account=x Amount=1\n", "expected user=..., as Budgets says");
	refused("Budgets=user\nRefill=user=0 Amount=1\n", "expected user=NAME, account=NAME");
	refused("Budgets=user\nRefill=user=4294967296 Amount=1\n",
		"expected user=NAME, account=NAME");
	refused("Budgets=user\nRefill=user=a,b Amount=1\n", "expected user=NAME, account=NAME");
	refused("Budgets=user\nRefill=user=7\n", "expected Amount= on this line");
	refused("Budgets=user\nRefill=user=7 Amount=1\nRefill=user=7 Amount=2\n",
		"Refill=user:7: expected once");
	refused("Budgets=user\nRefill=user=7 Amount=1 Every=year\n", "hour|day|week|month");
}

static bool find_user(const char *name, uint32_t *uid)
{
	*uid = !strcmp(name, "alice") ? 7 : 0;
	return strcmp(name, "nobody-of-that-name") != 0;
}

static void test_names(void **state)
{
	struct auc_conf *conf = conf_of("Budgets=user\nRefill=user=alice Amount=10\n"
					"Refill=user=root Amount=5\nRefill=user=8 Amount=4\n"
					"Refill=user=nobody-of-that-name Amount=3\n"
					"Refill=user=* Amount=1\n");
	const char *unknown = NULL;

	(void)state;
	assert_true(auc_conf_refill(conf, "user:7")->amount == 1);
	assert_int_equal(auc_conf_name_users(conf, find_user, &unknown), 2);
	assert_string_equal(unknown, "root");
	assert_true(auc_conf_refill(conf, "user:7")->amount == 10);
	assert_true(auc_conf_refill(conf, "user:8")->amount == 4);
	assert_true(auc_conf_refill(conf, "user:9")->amount == 1);
	auc_conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_periods),        cmocka_unit_test(test_refill),
		cmocka_unit_test(test_return),         cmocka_unit_test(test_shares),
		cmocka_unit_test(test_random_returns), cmocka_unit_test(test_conf),
		cmocka_unit_test(test_names),          cmocka_unit_test(test_budget_of_a_period),
		cmocka_unit_test(test_shares_by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
