/*
 * test_spool_formats.c - spools of format 1, as releases before the accounts wrote them: they are
 * read, written anew as a whole before anything else, and have the same money then; also if the
 * process ends in between.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auction/auction-private.h"
#include "unit/support/world.h"

static struct auc_err err;

static const char conf[] = "Prices=learned\nHistoryBids=20\nEta=cpu=2,gpu:v100=30\nSlots=100";

/* What both have: with all events in the journal, and with a snapshot in between. */
static const char *const spools[] = {"spool-1a", "spool-1b"};
#define CHARGED  553887439
#define REFUNDED 265051101
#define LIVE     6

static void copy_file(const char *from, const char *name)
{
	char path[256], text[32768];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", from, name);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text), f);
	assert_true(n < sizeof(text));
	fclose(f);
	snprintf(path, sizeof(path), "%s/%s", world_dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static void copy_spool(const char *name)
{
	char from[256];

	snprintf(from, sizeof(from), "%s/unit/ledger/%s", TESTS_DIR, name);
	copy_file(from, "journal");
	copy_file(from, "state");
}

static unsigned format_of(const char *name)
{
	char path[256], kind[32];
	unsigned format = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", world_dir, name);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*s %31s %u", kind, &format), 2);
	fclose(f);
	return format;
}

static auc_money balance(const struct auc_auction *a, const char *name)
{
	const struct auc_account *account = auc_books_find(auc_ledger_books(a->ledger), name);

	assert_non_null(account);
	return account->credits - account->debits;
}

static void assert_money(struct auc_auction *a)
{
	struct auc_totals t = world_totals(a);

	assert_int_equal(t.charged, CHARGED);
	assert_int_equal(t.refunded, REFUNDED);
	assert_int_equal(auc_ledger_count(a->ledger), LIVE);
	assert_int_equal(balance(a, AUC_MARKET), CHARGED - REFUNDED);
	assert_int_equal(balance(a, AUC_MINT), REFUNDED - CHARGED);
	assert_int_equal(balance(a, AUC_TREE), 0);
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_int_equal(auc_books_check(auc_ledger_books(a->ledger), &err), AUC_OK);
}

static void test_migration(void **state)
{
	struct auc_auction *a;

	(void)state;
	for (unsigned i = 0; i < sizeof(spools) / sizeof(*spools); i++) {
		copy_spool(spools[i]);
		a = world_open(conf, world_dir, NOW);
		assert_money(a);
		assert_int_equal(format_of("journal"), 1);
		/* Something new is not written after what is old. */
		world_sell(a, "bid=9000 epochs=4 chunks=2 minibatches=100 worker-time=t4=3s", 900,
			   NOW);
		world_commit(a);
		assert_int_equal(format_of("journal"), AUC_SPOOL_FORMAT);
		assert_int_equal(format_of("state"), AUC_SPOOL_FORMAT);
		assert_int_equal(auc_auction_settle(a, 900, "lost", NOW, NULL, &err), AUC_OK);
		world_commit(a);
		auc_auction_destroy(a);
		a = world_open(conf, world_dir, NOW);
		assert_false(auc_auction_owns(a, 900));
		assert_int_equal(world_totals(a).charged - world_totals(a).refunded,
				 CHARGED - REFUNDED);
		assert_int_equal(balance(a, AUC_MARKET), CHARGED - REFUNDED);
		auc_auction_destroy(a);
	}
}

/* The new state is there, the old journal still, as when the process ends between the two. */
static void test_half_way(void **state)
{
	struct auc_auction *a;
	char from[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(spools) / sizeof(*spools); i++) {
		copy_spool(spools[i]);
		a = world_open(conf, world_dir, NOW);
		world_commit(a);
		auc_auction_destroy(a);
		snprintf(from, sizeof(from), "%s/unit/ledger/%s", TESTS_DIR, spools[i]);
		copy_file(from, "journal");
		a = world_open(conf, world_dir, NOW);
		assert_money(a);
		world_commit(a);
		assert_int_equal(format_of("journal"), AUC_SPOOL_FORMAT);
		assert_money(a);
		auc_auction_destroy(a);
		a = world_open(conf, world_dir, NOW);
		assert_money(a);
		auc_auction_destroy(a);
	}
}

/* The spool itself takes nothing into an old journal, whatever its owner does. */
static enum auc_code nothing(void *arg, struct json_object *payload, struct auc_err *e)
{
	(void)arg;
	(void)payload;
	(void)e;
	return AUC_OK;
}

static void test_no_new_events_in_old_journals(void **state)
{
	struct json_object *event = json_tokener_parse("{\"event\":\"lapsed\"}");
	struct auc_spool_report report;
	struct auc_spool *s;

	(void)state;
	copy_spool(spools[1]);
	assert_int_equal(auc_spool_open(world_dir, nothing, NULL, &s, &report, &err), AUC_OK);
	assert_int_equal(report.format, 1);
	assert_int_equal(auc_spool_add(s, event, &err), AUC_OK);
	assert_int_equal(auc_spool_commit(s, &err), AUC_ESTATE);
	auc_spool_close(s);
	json_object_put(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_migration, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_half_way, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_no_new_events_in_old_journals, world_setup,
						world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
