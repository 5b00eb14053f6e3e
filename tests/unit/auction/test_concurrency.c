/*
 * test_concurrency.c - eight threads bid, confirm, start, settle, drop and adopt, one lets time
 * pass, one changes nodes and configuration, one commits, one looks, all at once. No (node, TRES,
 * slot) is ever used beyond its capacity, the money always adds up, everything ends, and what was
 * written is what there was. Built with --enable-sanitizers=thread it must be silent.
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
#include "base/cancel.h"
#include "unit/support/world.h"

#define BIDDERS 8
#define BIDS    150 /* by each */

static struct auc_auction *auction;
static atomic_uint next_job = 1;
static atomic_uint bidding = BIDDERS;
static atomic_uint clock_ms; /* since NOW */
static atomic_uint accepted, failures, fits;
static struct auc_bid bids[6];

static const char *const texts[] = {
	"9000 epochs=4 minibatches=100 worker-time=v100=3s ps-time=ps.m=0",
	("sigmoid:5000,0.3,9 epochs=6 chunks=4 minibatches=100 gradient-mb=97 "
	 "worker-time=v100=3s,t4=5s ps-time=ps.m=0.1s"),
	"deadline:800,12 epochs=9 chunks=3 minibatches=100 worker-time=t4=3s ps-time=ps.m=0",
	"linear:4000,40 epochs=20 chunks=8 minibatches=100 worker-time=t4=3s ps-time=ps.m=0",
	"0.5 epochs=40 chunks=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0",
	"700 epochs=2 minibatches=50 worker-time=v100=3s,t4=3s ps-time=ps.m=0",
};

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			atomic_fetch_add(&failures, 1);                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                 \
		}                                                                                  \
	} while (0)

static double now(void)
{
	return NOW + atomic_load(&clock_ms) / 1000.0;
}

/* What job_submit and the scheduler's thread would do with one job. */
static void live(struct auc_offer *o, unsigned which)
{
	uint32_t job = atomic_fetch_add(&next_job, 1);
	struct auc_sale_view v;
	char *receipt = NULL;
	enum auc_code rc;

	if (which % 5 == 0) {
		rc = auc_auction_drop(auction, o->sale, NULL);
		CHECK(rc == AUC_OK || rc == AUC_ENOENT);
		return;
	}
	if (which % 7 == 0)
		return; /* lapses */
	rc = auc_auction_confirm(auction, o->sale, job, &receipt, NULL);
	CHECK(rc == AUC_OK || rc == AUC_ENOENT);
	free(receipt);
	if (rc == AUC_ENOENT) {
		rc = auc_auction_adopt(auction, o->receipt, job, 1, AUC_SALE_SOLD, NULL);
		CHECK(rc == AUC_OK || rc == AUC_EFULL);
		if (rc != AUC_OK)
			return;
	}
	CHECK(auc_auction_owns(auction, job));
	rc = auc_auction_sale_of_job(auction, job, &v, NULL);
	CHECK(rc == AUC_OK && v.payment <= v.value && v.nparts > 0 && v.parts[0].lead);
	auc_sale_view_clear(&v);
	if (which % 3) {
		receipt = NULL;
		CHECK(auc_auction_start(auction, job, now(), &receipt, NULL) == AUC_OK);
		free(receipt);
	}
	if (which % 4) {
		receipt = NULL;
		CHECK(auc_auction_settle(auction, job, which % 2 ? "completed" : "node_fail", now(),
					 &receipt, NULL) == AUC_OK);
		free(receipt);
		CHECK(!auc_auction_owns(auction, job));
	}
}

static void *bidder(void *arg)
{
	unsigned id = (unsigned)(size_t)arg;

	for (unsigned i = 0; i < BIDS; i++) {
		struct auc_offer o;
		enum auc_code rc = auc_auction_bid(auction, &bids[(i + id) % 6], id, now(),
						   i % 4 != 3, &o, NULL);

		CHECK(rc == AUC_OK);
		if (rc == AUC_OK && o.accepted && o.sale[0]) {
			atomic_fetch_add(&accepted, 1);
			live(&o, i + 3 * id);
		}
		if (rc == AUC_OK)
			auc_offer_clear(&o);
	}
	atomic_fetch_sub(&bidding, 1);
	return NULL;
}

static void *timekeeper(void *arg)
{
	(void)arg;
	while (atomic_load(&bidding)) {
		atomic_fetch_add(&clock_ms, 700);
		auc_auction_tick(auction, now());
		sched_yield();
	}
	return NULL;
}

static void *committer(void *arg)
{
	(void)arg;
	while (atomic_load(&bidding)) {
		CHECK(auc_auction_commit(auction, NULL) == AUC_OK);
		CHECK(auc_auction_ready(auction, NULL) == AUC_OK);
	}
	return NULL;
}

/* A node goes down and comes back; the configuration is read again. */
static void *administrator(void *arg)
{
	struct auc_server_spec specs[8];
	enum auc_code rc;

	(void)arg;
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	for (unsigned i = 0; atomic_load(&bidding); i++) {
		specs[1].down = i % 2;
		rc = auc_auction_set_servers(auction, specs, world_nservers, now(), NULL);
		CHECK(rc == AUC_OK);
		if (i % 8 == 7) {
			rc = auc_auction_reconfigure(
				auction, world_conf("Prices=learned\nHistoryBids=30\nSlots=100"),
				now(), NULL);
			CHECK(rc == AUC_OK);
		}
		CHECK(auc_auction_conf(auction)->slots == 100);
		sched_yield();
	}
	return NULL;
}

/* The first fit is made to the end. */
static bool still_bidding(void *arg)
{
	(void)arg;
	return atomic_load(&bidding) || !atomic_load(&fits);
}

/* As the plugin's thread, without its patience. */
static void *learner(void *arg)
{
	const struct auc_cancel cancel = {.go_on = still_bidding};
	struct auc_fit_job *job;
	struct auc_tariff *t;
	enum auc_code rc;

	(void)arg;
	while (still_bidding(NULL)) {
		(void)auc_auction_fit_due(auction, now());
		if (auc_auction_fit_begin(auction, now(), &job, NULL) == AUC_OK) {
			rc = auc_fit_job_run(job, &cancel, &t, NULL);
			CHECK(rc == AUC_OK || rc == AUC_ENOENT || rc == AUC_ESTATE);
			atomic_fetch_add(&fits, rc == AUC_OK);
			auc_auction_fit_end(auction, job, t);
			auc_auction_tick(auction, now() + 300); /* a slot later: it holds */
		}
		if (auc_auction_tariff(auction, &t))
			auc_tariff_free(t);
		sched_yield();
	}
	return NULL;
}

static void *looker(void *arg)
{
	struct auc_sale_view *views;
	struct auc_totals totals;
	unsigned n;

	(void)arg;
	while (atomic_load(&bidding)) {
		pthread_mutex_lock(&auction->lock);
		CHECK(auc_market_sound(auction->market));
		CHECK(auc_ledger_check(auction->ledger, NULL) == AUC_OK);
		pthread_mutex_unlock(&auction->lock);
		CHECK(auc_auction_sales(auction, &views, &n, NULL) == AUC_OK);
		while (n)
			auc_sale_view_clear(&views[--n]);
		free(views);
		auc_auction_totals(auction, &totals);
		CHECK(totals.bids == totals.refused + totals.lapsed + totals.sold);
		json_object_put(auc_auction_status(auction, now()));
		sched_yield();
	}
	return NULL;
}

static void test_all_at_once(void **state)
{
	void *(*const others[])(void *) = {timekeeper, committer, administrator, learner, looker};
	pthread_t threads[BIDDERS + 5];
	struct auc_totals before, after;
	char dir[64];
	unsigned n = 0;

	(void)state;
	world_mkdir(dir);
	auction = world_open("Prices=learned\nHistoryBids=30\nSlots=100", dir, NOW);
	for (unsigned i = 0; i < 6; i++)
		bids[i] = world_bid(auction, texts[i]);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(pthread_create(&threads[n++], NULL, others[i], NULL), 0);
	for (size_t i = 0; i < BIDDERS; i++)
		assert_int_equal(pthread_create(&threads[n++], NULL, bidder, (void *)i), 0);
	while (n)
		pthread_join(threads[--n], NULL);
	assert_int_equal(atomic_load(&failures), 0);
	assert_true(atomic_load(&accepted) > BIDS);
	assert_int_equal(auc_auction_commit(auction, NULL), AUC_OK);
	auc_auction_tick(auction, now() + 1000);
	assert_true(auction->tariff && !auction->next_tariff);
	assert_int_equal(auc_auction_commit(auction, NULL), AUC_OK);
	auc_auction_totals(auction, &before);
	auc_auction_destroy(auction);
	auction = world_open("Prices=learned\nHistoryBids=30\nSlots=100", dir, now() + 1000);
	auc_auction_totals(auction, &after);
	assert_non_null(auction->tariff);
	assert_memory_equal(&before, &after, sizeof(before));
	auc_auction_destroy(auction);
	world_rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_at_once)};

	return cmocka_run_group_tests_name("concurrency", tests, NULL, NULL);
}
