/* test_store.c - the facade and its spool: restarts, snapshots, what cannot be written or read.
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

#include "auction/auction-private.h"
#include "unit/support/world.h"

static struct auc_err err;

/* Without what outlives no process. */
static char *status_of(struct auc_auction *a, double now)
{
	struct json_object *o = auc_auction_status(a, now);
	char *text;

	json_object_object_del(o, "activity");
	json_object_object_del(o, "decisions");
	text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	return text;
}

/* The auction again from the spool in DIR, with the status BEFORE, which is freed. */
static struct auc_auction *reopen(const char *conf, const char *dir, char *before)
{
	struct auc_auction *a = world_open(conf, dir, NOW);
	char *after = status_of(a, NOW);

	assert_string_equal(before, after);
	free(before);
	free(after);
	return a;
}

static void test_restart(void **state)
{
	const char *conf = "Prices=learned\nHistoryBids=20\nEta=cpu=2\nSlots=100";
	struct auc_auction *a = world_open(conf, world_dir, NOW);
	char *before;

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
	a = reopen(conf, world_dir, before);
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
	char *before, path[128];
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
	assert_true(size >= 1 && size <= 1100000);
	snprintf(path, sizeof(path), "%s/state", world_dir);
	f = fopen(path, "r");
	fseek(f, 0, SEEK_END);
	assert_true(ftell(f) >= 5000 && ftell(f) <= 200000);
	fclose(f);
	a = reopen(conf, world_dir, before);
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

/* What prices learn from can be done without: what of it is of no use is left out, and said. */
static void test_useless_records(void **state)
{
	static const char *const records[] = {
		"{\"event\":\"answer\",\"arrival\":7,\"slots\":1e13,\"offered\":true,"
		"\"accepted\":false,\"worker_type\":\"v100\",\"workers\":2,"
		"\"worker_price\":0.5,\"idle_workers\":8,\"ps_type\":\"ps.m\",\"ps\":1,"
		"\"ps_price\":0.1,\"idle_ps\":4}",
		"{\"event\":\"claim\",\"slot\":7,\"value\":-1}",
		"{\"event\":\"ratios\",\"tres\":{\"cpu\":1e300}}",
		"{\"event\":\"bid\",\"time\":-1}",
		"{\"event\":\"prices\",\"kind\":\"odd\"}",
		"{\"event\":\"ratios\",\"tres\":{\"cpu\":3}}",
	};
	const char globals[] = "Prices=learned\nHistoryBids=20\nSlots=100";
	struct auc_auction *a = world_open(globals, world_dir, NOW);
	struct auc_spool_report report;
	struct json_object *o;
	char *status;

	(void)state;
	world_sell(a, "300 worker-time=v100=3s", 7, NOW);
	world_commit(a);
	for (unsigned i = 0; i < sizeof(records) / sizeof(*records); i++) {
		o = json_tokener_parse(records[i]);
		assert_int_equal(auc_spool_add(a->spool, o, &err), AUC_OK);
		json_object_put(o);
	}
	assert_int_equal(auc_spool_commit(a->spool, &err), AUC_OK);
	auc_auction_destroy(a);

	a = world_create(globals);
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	if (auc_auction_open_spool(a, world_dir, NOW, &report, &err) != AUC_OK)
		fail_msg("%s", err.text);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	assert_true(auc_auction_owns(a, 7));
	assert_int_equal(report.skipped, 5);
	assert_non_null(strstr(report.why, "/journal line "));
	assert_non_null(strstr(report.why, "event 'answer': slots: 1e+13, expected"));
	assert_int_equal(auc_price_history_count(a->price_history),
			 2); /* what job 7 said, and the last */
	status = status_of(a, NOW);
	assert_non_null(strstr(status, "\"warning\":\"5 records "));
	free(status);
	/* The next snapshot is without them. */
	a->snapshot_at = 0;
	world_commit(a);
	auc_auction_destroy(a);
	a = world_create(globals);
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, &report, &err), AUC_OK);
	assert_int_equal(report.skipped, 0);
	assert_int_equal(auc_price_history_count(a->price_history), 2);
	auc_auction_destroy(a);
}

/* -- bids as large and as small as they may be -- */

#define PICK(...)                                                                                  \
	({                                                                                         \
		static const char *const list_[] = {__VA_ARGS__};                                  \
		list_[(unsigned)rand_r(&seed) % (sizeof(list_) / sizeof(*list_))];                 \
	})
#define AS_LARGE "1", "2", "10", "1000", "1e6", "1e9"

static unsigned seed;

/* A bid as POLICY takes it. */
static void extreme_bid(const char *policy, char *text, size_t size)
{
	bool eris = !strcmp(policy, "eris"), posted = !strcmp(policy, "posted");
	const char *worth =
		posted ? PICK("max-price=0", "max-price=1e-6", "max-price=1000", "max-price=1e9")
		       : PICK("bid=1e9", "bid=999999999.9999999", "bid=1e-7", "bid=sigmoid:1e9,0",
			      "bid=sigmoid:1e9,1e6,1e6", "bid=linear:1e9,1e-9", "bid=inverse:100",
			      "bid=deadline:1e9,1e6", "bid=table:0=1e9,1e6=0");

	if (!strcmp(policy, "aonline"))
		worth = "";
	snprintf(
		text, size,
		"%s epochs=%s minibatches=%s gradient-mb=%s worker-time=%s ps-time=ps.m=%s %s%s %s",
		worth, PICK(AS_LARGE), PICK(AS_LARGE), PICK("0", "1e-9", "50", "1e9"),
		PICK("t4=1e-9s", "v100=1e-9s,t4=1e-9s", "v100=1e-6s", "v100=1s", "t4=1e9s"),
		PICK("0", "1e-9s", "1s", "1e9s"), eris ? "data=" : "chunks=",
		eris ? PICK("edge1=2", "edge1=1,edge2=3", "edge4=7,big1=4", "edge1=1e9",
			    "edge1=1e9,big1=1e9")
		     : PICK(AS_LARGE),
		eris ? PICK("data-mb=1e-9", "data-mb=1000", "data-mb=1e12")
		     : PICK("", "data-mb=1e12", "upload=1e6", "upload=0", "upload=edge=1e6"));
}

/* Whatever is sold or refused, what is put down of it is read back, all of it. */
static void test_extreme_bids(void **state)
{
	static const struct {
		const char *policy, *globals;
	} kinds[] = {
		{"dps", "Prices=learned\nHistoryBids=400"},
		{"dps", "Prices=published\nHistoryBids=400"},
		{"dps", "Prices=given\nEta=cpu=2,gpu:v100=1e12"},
		{"oasis", "Prices=learned\nHistoryBids=400"},
		{"oasis", "Prices=published\nHistoryBids=400"},
		{"eris", "Prices=learned\nHistoryBids=400\nTransferBudget=4e9"},
		{"eris", "Prices=published\nHistoryBids=400"},
		{"posted", ""},
		{"aonline", ""},
	};

	(void)state;
	for (unsigned k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		char globals[256], dir[64], text[512];
		struct auc_totals before, after;
		struct auc_spool_report report;
		unsigned answers, bid_log, ratios, sales;
		struct auc_auction *a;
		uint32_t job = 1;

		seed = k + 1;
		snprintf(globals, sizeof(globals), "Policy=%s\n%s\nSlots=60", kinds[k].policy,
			 kinds[k].globals);
		world_mkdir(dir);
		a = world_open(globals, dir, NOW);
		for (unsigned i = 0; i < 300; i++) {
			double now = NOW + i * SLOT / 2;
			struct auc_bid bid;
			struct auc_offer o;

			extreme_bid(kinds[k].policy, text, sizeof(text));
			bid = world_bid(a, text);
			if (i % 4 == 0 && strcmp(kinds[k].policy, "eris") != 0) {
				bid.npartitions = 1;
				strcpy(bid.partitions[0], i % 8 ? "edge" : "cloud");
			}
			if (auc_auction_bid(a, &bid, 1000 + i, now, true, &o, &err) != AUC_OK)
				continue;
			if (o.accepted &&
			    auc_auction_confirm(a, o.sale, job++, NULL, &err) != AUC_OK)
				fail_msg("%s: %s", text, err.text);
			auc_offer_clear(&o);
		}
		world_commit(a);
		assert_true(job > 5);
		before = world_totals(a);
		answers = auc_posted_answers_count(a->answers);
		bid_log = auc_bid_log_count(a->bid_log);
		ratios = auc_price_history_count(a->price_history);
		sales = auc_ledger_count(a->ledger);
		auc_auction_destroy(a);

		a = world_create(globals);
		assert_int_equal(
			auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			AUC_OK);
		if (auc_auction_open_spool(a, dir, NOW, &report, &err) != AUC_OK)
			fail_msg("%s: %s", globals, err.text);
		if (report.skipped)
			fail_msg("%s: %s", globals, report.why);
		after = world_totals(a);
		assert_memory_equal(&before, &after, sizeof(before));
		assert_int_equal(auc_posted_answers_count(a->answers), answers);
		assert_int_equal(auc_bid_log_count(a->bid_log), bid_log);
		assert_int_equal(auc_price_history_count(a->price_history), ratios);
		assert_int_equal(auc_ledger_count(a->ledger), sales);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
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
	char *before;

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
			a = reopen(conf, dir, before);
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
		cmocka_unit_test_setup_teardown(test_useless_records, world_setup, world_teardown),
		cmocka_unit_test(test_extreme_bids),
		cmocka_unit_test_setup_teardown(test_close_spool, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
