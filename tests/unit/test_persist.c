/* test_persist.c - the facade and its spool: restarts, snapshots, what cannot be written or read.
 */
#include "config.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auction-private.h"
#include "world.h"

static struct auc_err err;

static char *status_of(struct auc_auction *a, double now)
{
	struct json_object *o = auc_auction_status(a, now);
	char *text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));

	json_object_put(o);
	return text;
}

static void test_restart(void **state)
{
	const char *conf = "Prices=learned\nHistoryBids=20\nEta=cpu=2\nSlots=100";
	struct auc_auction *a = world_open(conf, world_dir, NOW);
	char *before, *after;

	(void)state;
	world_load(a);
	assert_int_equal(auc_auction_start(a, 100, NOW + SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_settle(a, 101, "cancelled", NOW + 5, NULL, &err), AUC_OK);
	for (int i = 0; i < 30; i++) {
		char bid[128];
		struct auc_offer o;

		snprintf(bid, sizeof(bid), "bid=%d.25 epochs=900 worker-time=v100=3s", 7 * i);
		o = world_offer(a, bid, NOW, true);
		if (o.accepted)
			auc_auction_drop(a, o.sale, NULL);
		auc_offer_clear(&o);
	}
	world_commit(a);
	auc_auction_tick(a, NOW); /* the prices that recovery will find */
	before = status_of(a, NOW);
	auc_auction_destroy(a);
	a = world_open(conf, world_dir, NOW);
	after = status_of(a, NOW);
	assert_string_equal(before, after);
	free(before);
	free(after);
	/* The events that are not committed are lost, and nothing else. */
	assert_int_equal(auc_auction_settle(a, 102, "cancelled", NOW + 5, NULL, &err), AUC_OK);
	auc_auction_destroy(a);
	a = world_open(conf, world_dir, NOW);
	assert_true(auc_auction_owns(a, 102));
	auc_auction_destroy(a);
}

/* Enough commits for some snapshots. */
static void test_snapshots(void **state)
{
	const char *conf = "Prices=learned\nHistoryBids=50\nEta=cpu=2\nSlots=100";
	struct auc_auction *a = world_open(conf, world_dir, NOW);
	char *before, *after, path[128];
	FILE *f;
	long size;

	(void)state;
	world_load(a);
	for (uint32_t i = 0; i < 1500; i++) {
		world_sell(a, "bid=9000 minibatches=10 worker-time=t4=3s", 1000 + i, NOW);
		assert_int_equal(auc_auction_settle(a, 1000 + i, "cancelled", NOW, NULL, &err),
				 AUC_OK);
		if (i % 10 == 9)
			world_commit(a);
	}
	world_commit(a);
	auc_auction_tick(a, NOW); /* the prices that recovery will find */
	before = status_of(a, NOW);
	auc_auction_destroy(a);
	snprintf(path, sizeof(path), "%s/journal", world_dir);
	f = fopen(path, "r");
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	fclose(f);
	assert_in_range(size, 1, 1100000);
	snprintf(path, sizeof(path), "%s/state", world_dir);
	f = fopen(path, "r");
	fseek(f, 0, SEEK_END);
	assert_in_range(ftell(f), 5000, 200000);
	fclose(f);
	a = world_open(conf, world_dir, NOW);
	after = status_of(a, NOW);
	assert_string_equal(before, after);
	free(before);
	free(after);
	auc_auction_destroy(a);
}

static void test_not_ready(void **state)
{
	struct auc_auction *a = world_create("Prices=given\nEta=cpu=1");
	struct auc_bid bid = world_bid(a, "5 worker-time=v100=3s");
	char path[128], *text;
	struct auc_offer o;
	FILE *f;

	(void)state;
	assert_int_equal(auc_auction_bid(a, &bid, 1, NOW, true, &o, &err), AUC_ESTATE);
	assert_string_equal(err.text,
			    "the auction is not open yet: the cluster's nodes are not known");
	assert_int_equal(auc_auction_confirm(a, "x-1", 1, NULL, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_commit(a, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_ESTATE);
	text = status_of(a, NOW);
	assert_non_null(strstr(text, "\"ready\":false"));
	free(text);
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_ready(a, &err), AUC_ESTATE);
	assert_string_equal(err.text, "the auction is not open yet: its state is not recovered");
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	auc_auction_break(a, "an administrator closed it");
	assert_int_equal(auc_auction_bid(a, &bid, 1, NOW, true, &o, &err), AUC_ESTATE);
	assert_string_equal(err.text, "the auction is closed: an administrator closed it");
	auc_auction_break(a, NULL);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	world_sell(a, "5 worker-time=v100=3s", 1, NOW);
	world_commit(a);
	auc_auction_destroy(a);

	/* A damaged journal: closed, with the reason, and nothing else happens. */
	snprintf(path, sizeof(path), "%s/journal", world_dir);
	f = fopen(path, "r+");
	fseek(f, 60, SEEK_SET);
	fputc('#', f);
	fclose(f);
	a = world_create("Prices=given\nEta=cpu=1");
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_ECORRUPT);
	assert_int_equal(auc_auction_bid(a, &bid, 1, NOW, true, &o, &err), AUC_ESTATE);
	assert_non_null(strstr(err.text, "the auction is closed: spool "));
	assert_non_null(strstr(err.text, "/journal line 2: checksum "));
	assert_int_equal(auc_auction_tick(a, NOW), 0);
	assert_int_equal(auc_auction_set_servers(a, world_servers, 2, NOW, &err), AUC_OK);
	auc_auction_destroy(a);
}

/* A full disk closes the auction until it can write again, and loses nothing. */
static void test_cannot_write(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1", world_dir, NOW);
	struct rlimit limit, tight;
	struct auc_totals before, after;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	tight = limit;
	tight.rlim_cur = 600;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	for (uint32_t job = 1; job <= 3; job++)
		world_sell(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", job, NOW);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(auc_auction_commit(a, &err), AUC_EIO);
		assert_non_null(strstr(err.text, "/journal: cannot write: File too large"));
		assert_int_equal(auc_auction_ready(a, &err), AUC_ESTATE);
		assert_non_null(
			strstr(err.text, "the auction is closed until it can write: spool "));
		/* What is sold goes its way. */
		assert_int_equal(auc_auction_start(a, (uint32_t)i + 1, NOW + SLOT, NULL, &err),
				 AUC_OK);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	world_commit(a);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	before = world_totals(a);
	auc_auction_destroy(a);
	a = world_open("Prices=given\nEta=cpu=1", world_dir, NOW);
	after = world_totals(a);
	assert_memory_equal(&before, &after, sizeof(before));
	for (uint32_t job = 1; job <= 3; job++) {
		struct auc_sale_view v;

		assert_int_equal(auc_auction_sale_of_job(a, job, &v, &err), AUC_OK);
		assert_int_equal(v.state, AUC_SALE_RUNNING);
		auc_sale_view_clear(&v);
	}
	auc_auction_destroy(a);
}

/* An event that makes no sense stops the opening: it is not skipped. */
static void test_state_of_another(void **state)
{
	struct auc_auction *a;
	struct auc_spool *s;
	struct json_object *o =
		json_tokener_parse("{\"event\":\"running\",\"sale\":\"x-1\",\"when\":1}");

	(void)state;
	assert_int_equal(auc_spool_open(world_dir, NULL, NULL, &s, NULL, &err), AUC_OK);
	assert_int_equal(auc_spool_add(s, o, &err), AUC_OK);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	auc_spool_close(s);
	json_object_put(o);
	a = world_create("Prices=given\nEta=cpu=1");
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_ECORRUPT);
	assert_non_null(
		strstr(err.text,
		       "/journal line 2: event 'running': sale x-1: is not one that could start"));
	auc_auction_destroy(a);
}

/* A controller that gives way and comes back knows what the other one sold in between. */
static void test_close_spool(void **state)
{
	const char globals[] = "Prices=given\nEta=gpu:v100=20",
		   bid[] = "300 worker-time=v100=3s ps-time=ps.m=0";
	struct auc_auction *a = world_open(globals, world_dir, NOW), *b;
	struct auc_bid refused = world_bid(a, bid);
	struct auc_spool_report report;
	struct auc_offer offer;

	(void)state;
	world_sell(a, bid, 7, NOW);
	world_commit(a);
	world_sell(a, bid, 8, NOW); /* not committed: lost */
	auc_auction_close_spool(a);
	assert_int_equal(auc_auction_bid(a, &refused, 1, NOW, false, &offer, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_commit(a, &err), AUC_ESTATE);
	b = world_open(globals, world_dir, NOW);
	assert_int_equal(world_totals(b).sold, 1);
	world_sell(b, bid, 9, NOW);
	world_commit(b);
	auc_auction_destroy(b);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, &report, &err), AUC_OK);
	assert_int_equal(world_totals(a).sold, 2);
	assert_true(auc_auction_owns(a, 7) && auc_auction_owns(a, 9));
	assert_false(auc_auction_owns(a, 8));
	world_sell(a, bid, 10, NOW);
	world_commit(a);
	auc_auction_destroy(a);
}

/* -- no memory for an event -- */

/* Which of all additions to arrays fail; libauction's find this one first. */
static struct {
	unsigned seen, from, to;
} additions;

int json_object_array_add(struct json_object *array, struct json_object *value)
{
	int (*next)(struct json_object *, struct json_object *) =
		(int (*)(struct json_object *, struct json_object *))dlsym(RTLD_NEXT,
									   "json_object_array_add");

	additions.seen++;
	if (additions.seen >= additions.from && additions.seen < additions.to)
		return -1;
	return next(array, value);
}

/* Sales, starts, settlements and commits, whatever becomes of them. */
static void live(struct auc_auction *a)
{
	for (uint32_t job = 1; job <= 4; job++) {
		struct auc_bid bid = world_bid(a, "9000 minibatches=100 worker-time=t4=3s");
		struct auc_offer o;

		if (auc_auction_bid(a, &bid, 1000, NOW, true, &o, &err) == AUC_OK) {
			if (o.accepted && auc_auction_confirm(a, o.sale, job, NULL, &err) != AUC_OK)
				auc_auction_drop(a, o.sale, NULL);
			auc_offer_clear(&o);
		}
		if (job > 1)
			auc_auction_start(a, job - 1, NOW + SLOT, NULL, &err);
		if (job % 2)
			auc_auction_commit(a, &err);
		if (job > 2)
			auc_auction_settle(a, job - 2, "cancelled", NOW + SLOT, NULL, &err);
	}
	auc_auction_commit(a, &err);
}

/* Wherever memory is short, for one addition or for some: a commit that succeeds has all that is.
 */
static void test_no_memory(void **state)
{
	const char *conf = "Prices=learned\nHistoryBids=20\nEta=cpu=2\nSlots=100";
	static const unsigned widths[] = {1, 9};
	unsigned closed = 0, total = 1;
	char *before, *after;

	(void)state;
	for (unsigned w = 0; w < sizeof(widths) / sizeof(*widths); w++)
		for (unsigned k = 1; k <= total; k++) {
			char dir[64];
			struct auc_auction *a;

			world_mkdir(dir);
			a = world_open(conf, dir, NOW);
			additions.seen = 0;
			additions.from = k;
			additions.to = k + widths[w];
			live(a);
			total = additions.seen;
			additions.to = 0;
			if (auc_auction_ready(a, &err) != AUC_OK) {
				assert_non_null(strstr(err.text, "out of memory"));
				closed++;
			}
			world_commit(a);
			assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
			auc_auction_tick(a, NOW);
			before = status_of(a, NOW);
			auc_auction_destroy(a);
			a = world_open(conf, dir, NOW);
			after = status_of(a, NOW);
			assert_string_equal(before, after);
			free(before);
			free(after);
			auc_auction_destroy(a);
			world_rmdir(dir);
		}
	assert_true(total > 20 && closed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_restart, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_snapshots, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_not_ready, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_cannot_write, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_state_of_another, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_close_spool, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
