/*
 * test_limits.c - no user against all the others: bids and quotes a minute, liens, jobs, and dry
 * runs that make way for their user's next bid.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/memory/refusals.h"
#include "auction/memory/user_limits.h"
#include "unit/support/world.h"

#define BID "bid=900 epochs=4 chunks=1 minibatches=100 worker-time=v100=3s ps-time=ps.m=0"

static struct auc_err err;

/* What UID is told; "" if the bid or quote was decided on. SALE (may be NULL): its lien. */
static const char *ask(struct auc_auction *a, uint32_t uid, double now, bool hold, char *sale)
{
	struct auc_bid bid = world_bid(a, BID);
	struct auc_offer o;
	enum auc_code rc = auc_auction_bid(a, &bid, uid, now, hold, &o, &err);

	if (rc != AUC_OK) {
		assert_int_equal(rc, AUC_ELIMIT);
		return err.text;
	}
	assert_true(o.accepted || !hold);
	if (sale)
		strcpy(sale, o.sale);
	auc_offer_clear(&o);
	return "";
}

static void test_quotes(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1\nUserQuotes=6", world_dir, NOW);
	char sale[AUC_SALE_ID_LEN];
	const char *told;

	(void)state;
	for (int i = 0; i < 6; i++)
		assert_string_equal(ask(a, 1000, NOW, i % 2, NULL), "");
	told = ask(a, 1000, NOW, false, NULL);
	assert_non_null(strstr(told, "6 bids and quotes in a minute that became no jobs"));
	assert_non_null(strstr(told, "try again in 10 s"));
	/* nobody else: not who has the same last digits, nor root */
	assert_string_equal(ask(a, 1000 + 1024, NOW, false, NULL), "");
	assert_string_equal(ask(a, 1000 + 65536, NOW, false, NULL), "");
	for (int i = 0; i < 20; i++)
		assert_string_equal(ask(a, 0, NOW, false, NULL), "");
	/* in ten seconds there is one more, not two */
	assert_string_equal(ask(a, 1000, NOW + 10, false, NULL), "");
	assert_string_not_equal(ask(a, 1000, NOW + 10, false, NULL), "");
	/* bids that become jobs are as many as one likes */
	for (uint32_t i = 1; i < 7; i++) {
		double now = NOW + 20 + i * 0.01;

		assert_string_equal(ask(a, 1000, now, true, sale), "");
		assert_int_equal(auc_auction_confirm(a, sale, i, NULL, &err), AUC_OK);
	}
	/* a clock that is set back is no time, and no punishment either */
	assert_string_equal(ask(a, 1000, NOW + 5, false, NULL), "");
	assert_string_not_equal(ask(a, 1000, NOW + 5, false, NULL), "");
	assert_string_equal(ask(a, 1000, NOW + 15.1, false, NULL), "");
	auc_auction_destroy(a);
}

static unsigned liens(struct auc_auction *a)
{
	struct auc_sale_view *views;
	unsigned n, k = 0, i;

	assert_int_equal(auc_auction_sales(a, &views, &n, &err), AUC_OK);
	for (i = 0; i < n; i++) {
		k += views[i].state == AUC_SALE_LIEN;
		auc_sale_view_clear(&views[i]);
	}
	free(views);
	return k;
}

/* What held all of a market: a loop around sbatch --test-only. */
static void test_dry_runs(void **state)
{
	struct auc_auction *a =
		world_open("Prices=given\nEta=cpu=1\nUserLiens=3\nUserQuotes=0\nLienSeconds=10",
			   world_dir, NOW);
	char sale[4][AUC_SALE_ID_LEN], other[AUC_SALE_ID_LEN];
	const char *told;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_string_equal(ask(a, 1000, NOW + 0.1 * i, true, sale[i]), "");
	told = ask(a, 1000, NOW + 0.5, true, NULL);
	assert_non_null(strstr(told, "3 of your accepted bids wait until their jobs are seen"));
	assert_non_null(strstr(told, "10 at most"));
	assert_int_equal(liens(a), 3);
	assert_string_equal(ask(a, 1000, NOW + 0.5, false, NULL), ""); /* quotes hold nothing */
	assert_string_equal(ask(a, 2000, NOW + 0.5, true, other), "");
	/* A look too soon says nothing: the submission may not be through. */
	auc_auction_unclaimed(a, sale[0], NOW + 1.9);
	assert_string_not_equal(ask(a, 1000, NOW + 2, true, NULL), "");
	/* One that says that there is no job does, but only the same user's bid takes its place. */
	auc_auction_unclaimed(a, sale[0], NOW + 2.5);
	auc_auction_unclaimed(a, sale[1], NOW + 2.5);
	auc_auction_unclaimed(a, "nobody's", NOW + 2.5);
	assert_string_equal(ask(a, 2000, NOW + 3, true, NULL), "");
	assert_int_equal(liens(a), 5);
	assert_string_equal(ask(a, 1000, NOW + 3, true, sale[3]), "");
	assert_int_equal(liens(a), 4);
	/* A job that shows up after all has its sale as long as its lien is there. */
	assert_int_equal(auc_auction_confirm(a, sale[2], 7, NULL, &err), AUC_OK);
	auc_auction_unclaimed(a, sale[2], NOW + 9);
	auc_auction_unclaimed(a, sale[3], NOW + 9);
	assert_int_equal(auc_auction_confirm(a, sale[3], 8, NULL, &err), AUC_OK);
	assert_string_equal(ask(a, 1000, NOW + 9, true, NULL), "");
	assert_int_equal(liens(a), 3);
	assert_true(auc_auction_owns(a, 7) && auc_auction_owns(a, 8));
	auc_auction_destroy(a);
}

static void test_jobs(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1\nUserJobs=2", world_dir, NOW);
	char sale[AUC_SALE_ID_LEN];

	(void)state;
	for (uint32_t job = 1; job <= 2; job++) {
		assert_string_equal(ask(a, 1000, NOW, true, sale), "");
		assert_int_equal(auc_auction_confirm(a, sale, job, NULL, &err), AUC_OK);
	}
	assert_non_null(strstr(ask(a, 1000, NOW, true, NULL), "you have bought 2 jobs"));
	assert_string_equal(ask(a, 1001, NOW, true, NULL), "");
	assert_int_equal(auc_auction_settle(a, 1, "completed", NOW + 1, NULL, &err), AUC_OK);
	assert_string_equal(ask(a, 1000, NOW + 1, true, NULL), "");
	auc_auction_destroy(a);
}

/* The table keeps each user apart, forgets those who have a full purse, and is bounded. */
static void test_table(void **state)
{
	struct auc_user_limits *l = auc_user_limits_create();
	uint32_t uid;

	(void)state;
	for (uid = 0; uid < 60000; uid++)
		assert_true(auc_user_limits_take(l, 7 * uid, NOW, 1) == 0);
	for (uid = 0; uid < 60000; uid++)
		assert_int_equal(lround(auc_user_limits_take(l, 7 * uid, NOW + 1, 1)), 59);
	for (uid = 1; uid < 200000; uid++)
		auc_user_limits_take(l, 7 * uid + 1, NOW + 2, 1);
	assert_true(auc_user_limits_count(l) <= AUC_USER_LIMITS_MAX);
	assert_int_equal(lround(auc_user_limits_take(l, 7, NOW + 2, 1)), 58);
	for (uid = 0; uid < 60000; uid++)
		auc_user_limits_take(l, 7 * uid + 2, NOW + 300, 1);
	assert_true(auc_user_limits_count(l) <= AUC_USER_LIMITS_MAX);
	assert_int_equal(lround(auc_user_limits_take(l, 2, NOW + 301, 1)), 59);
	auc_user_limits_give_back(l, 2);
	assert_true(auc_user_limits_take(l, 2, NOW + 301, 1) == 0);
	auc_user_limits_destroy(l);
}

/* What users were told goes through a file, line by line, and newer words win. */
static void test_refusals(void **state)
{
	struct auc_refusals *r = auc_refusals_create(), *again = auc_refusals_create();
	uint64_t edition = auc_refusals_edition(r);
	char *text, *longer = malloc(AUC_REFUSAL_MAX + 100);
	double when;

	(void)state;
	memset(longer, 'x', AUC_REFUSAL_MAX + 99);
	longer[AUC_REFUSAL_MAX + 99] = '\0';
	auc_refusals_keep(r, 7, 100, "refused: \"budget\"\nsecond line");
	auc_refusals_keep(r, 8, 101.5, longer);
	assert_true(auc_refusals_edition(r) != edition);
	text = auc_refusals_print(r);
	auc_refusals_keep(again, 8, 102, "newer");
	auc_refusals_read(again,
			  "no object\n{\"uid\":-1,\"when\":5,\"text\":\"x\"}\n{\"uid\":9}\n\n");
	auc_refusals_read(again, text);
	assert_string_equal(auc_refusals_find(again, 7, &when), "refused: \"budget\"\nsecond line");
	assert_true(when == 100);
	assert_string_equal(auc_refusals_find(again, 8, &when), "newer");
	assert_null(auc_refusals_find(again, 9, &when));
	auc_refusals_destroy(again);
	again = auc_refusals_create();
	auc_refusals_read(again, text);
	assert_int_equal(strlen(auc_refusals_find(again, 8, &when)), AUC_REFUSAL_MAX);
	assert_true(when == 101.5);
	free(text);
	free(longer);
	auc_refusals_destroy(again);
	auc_refusals_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_quotes, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_dry_runs, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_jobs, world_setup, world_teardown),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
