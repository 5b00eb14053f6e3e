/* test_aggregate.c - a partition that is one large server of many nodes (OneServer=yes). */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/auction-private.h"
#include "market/timeline.h"
#include "market/replan.h"
#include "unit/support/caches.h"
#include "unit/support/world.h"

#define NODES 5

static struct auc_err err;
static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)((seed >> 33) % n);
}

/* Nodes n0 to n4 of a cloud, with 8 CPUs and 4 GPUs each; n3 has but one GPU. */
static struct auc_auction *make(const char *policy, struct auc_server_spec *specs, const char *dir)
{
	static const char conf_text[] = "Policy=%s Prices=given Eta=gpu=20,cpu=1.5 Lower=gpu=1 "
					"Upper=gpu=20 SlotSeconds=300 Slots=50\n"
					"PartitionName=cloud Site=cloud OneServer=yes\n"
					"PartitionName=edge\n"
					"WorkerType=w TRES=cpu=1,gpu=1 Bandwidth=1000\n"
					"PSType=p TRES=cpu=2 Bandwidth=2000\n";
	struct auc_auction *a;
	struct auc_conf *conf;
	char text[1024];

	snprintf(text, sizeof(text), conf_text, policy);
	if (auc_conf_parse(text, strlen(text), "auction.conf", &conf, &err) != AUC_OK ||
	    auc_auction_create(conf, &a, &err) != AUC_OK)
		fail_msg("%s", err.text);
	for (unsigned i = 0; i < NODES; i++) {
		specs[i] =
			(struct auc_server_spec){.partition = "cloud",
						 .ncapacity = 2,
						 .capacity = {{"cpu", 8}, {"gpu", i == 3 ? 1 : 4}}};
		snprintf(specs[i].name, sizeof(specs[i].name), "n%u", i);
	}
	assert_int_equal(auc_auction_set_servers(a, specs, NODES, NOW, &err), AUC_OK);
	if (auc_auction_open_spool(a, dir, NOW, NULL, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return a;
}

static bool is_open(const struct auc_market *m, unsigned server, auc_slot t)
{
	return auc_market_hosts(m, server) && !auc_market_is_closed(m, server, t);
}

/* What is used of the whole is what is used of its parts that can be had, and nothing too much. */
static void assert_sound(const struct auc_auction *a)
{
	const struct auc_market *m = a->market;
	int whole = auc_market_find_server(m, "cloud");

	assert_true(whole >= 0 && auc_market_is_whole(m, (unsigned)whole));
	assert_int_equal(auc_ledger_check(a->ledger, &err), AUC_OK);
	assert_true(auc_market_sound(m));
	assert_true(caches_sound(m));
	for (auc_slot t = auc_market_first(m); t <= auc_market_last(m); t++)
		for (unsigned k = 0; k < auc_market_ntres(m); k++) {
			double sum = 0;

			for (unsigned s = 0; s < auc_market_nservers(m); s++)
				if (auc_market_whole(m, s) == whole && is_open(m, s, t))
					sum += auc_market_used(m, s, k, t);
			assert_true(sum == auc_market_used(m, (unsigned)whole, k, t));
		}
}

/* Sells to JOB what TEXT asks for. False: refused. */
static bool sell(struct auc_auction *a, const char *text, uint32_t job, double now,
		 struct auc_offer *o)
{
	*o = world_offer(a, text, now, true);
	if (!o->accepted)
		return false;
	assert_int_equal(auc_auction_confirm(a, o->sale, job, NULL, &err), AUC_OK);
	return true;
}

static void test_spread(void **state)
{
	struct auc_server_spec specs[NODES];
	struct auc_auction *a;
	struct auc_offer o;
	unsigned workers = 0, ps = 0;
	char dir[64];

	(void)state;
	world_mkdir(dir);
	a = make("dps", specs, dir);
	assert_sound(a);
	/* Nine workers and their PS are on no one node, and co-located all the same: no exchange,
	 * so one slot. */
	assert_true(sell(a,
			 "1000 epochs=1 chunks=9 minibatches=100 gradient-mb=1000 worker-time=w=3s "
			 "ps-time=p=0",
			 1, NOW, &o));
	assert_true(o.plan.colocated);
	assert_int_equal(o.plan.completion - o.plan.start, 1);
	assert_true(o.nparts >= 3);
	for (unsigned i = 0; i < o.nparts; i++) {
		assert_string_not_equal(o.parts[i].server, "cloud");
		assert_string_equal(o.parts[i].partition, "cloud");
		assert_true(o.parts[i].workers <= (strcmp(o.parts[i].server, "n3") ? 4 : 1));
		workers += o.parts[i].workers;
		ps += o.parts[i].ps;
	}
	assert_int_equal(workers, 9);
	assert_int_equal(ps, 1);
	assert_true(o.parts[0].lead && o.parts[0].ps == 1);
	assert_sound(a);
	auc_offer_clear(&o);
	/* All of a node's part moves to others of the cloud. */
	specs[0].down = true;
	assert_int_equal(auc_auction_set_servers(a, specs, NODES, NOW, &err), AUC_OK);
	assert_int_equal(auc_auction_move(a, 1, "n0", NOW, NULL, &err), AUC_OK);
	assert_sound(a);
	/* What is on disk is on the nodes. */
	assert_int_equal(auc_auction_commit(a, &err), AUC_OK);
	auc_auction_destroy(a);
	a = make("dps", specs, dir);
	assert_sound(a);
	assert_true(auc_auction_owns(a, 1));
	auc_auction_destroy(a);
	world_rmdir(dir);
}

/* Three CPUs are free of each of four nodes: together enough for PSs of two that are on none. */
static void test_pieces(void **state)
{
	struct auc_server_spec specs[NODES];
	struct auc_auction *a;
	struct auc_offer o;
	char dir[64];

	(void)state;
	world_mkdir(dir);
	a = make("dps", specs, dir);
	for (unsigned i = 0; i < NODES; i++)
		assert_int_equal(auc_market_reserve(
					 a->market,
					 (unsigned)auc_market_find_server(a->market, specs[i].name),
					 (unsigned)auc_market_find_tres(a->market, "cpu"), 1000,
					 1049, 7, &err),
				 AUC_OK);
	/* A worker and a PS take three CPUs: the policy sees 40 free, the nodes have one each. */
	assert_false(sell(a, "1000 epochs=1 chunks=1 minibatches=100 worker-time=w=3s ps-time=p=0",
			  1, NOW, &o));
	assert_int_equal(o.reason, AUC_REASON_CAPACITY);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
	world_rmdir(dir);
}

/* Nodes that are down, or somebody else's for a time, are no part of what is sold, until they are
 * back. */
static void test_closed(void **state)
{
	static const char bid[] = "1000 epochs=1 chunks=9 minibatches=100 gradient-mb=0 "
				  "worker-time=w=3s ps-time=p=0";
	static const char *const policies[] = {"dps", "oasis"};

	(void)state;
	for (unsigned p = 0; p < 2; p++) {
		struct auc_closing other = {"n2", NOW, NOW + 30 * SLOT};
		struct auc_server_spec specs[NODES];
		struct auc_auction *a;
		struct auc_offer o;
		double price;
		int cloud;
		char dir[64];

		world_mkdir(dir);
		a = make(policies[p], specs, dir);
		cloud = auc_market_find_server(a->market, "cloud");
		price = auc_market_price(a->market, (unsigned)cloud, 0, 1010);
		/* Five GPUs are left, and as many workers. */
		specs[0].down = specs[1].down = true;
		assert_int_equal(auc_auction_set_servers(a, specs, NODES, NOW, &err), AUC_OK);
		assert_int_equal(auc_auction_close(a, &other, 1, &err), AUC_OK);
		cloud = auc_market_find_server(a->market, "cloud");
		assert_true(auc_market_price(a->market, (unsigned)cloud, 0, 1010) == price);
		assert_sound(a);
		if (!sell(a, bid, 1, NOW, &o))
			fail_msg("%s: %s", policies[p], o.message);
		for (unsigned i = 0; i < o.nparts; i++)
			assert_true(!strcmp(o.parts[i].server, "n3") ||
				    !strcmp(o.parts[i].server, "n4"));
		assert_true(o.plan.completion - o.plan.start >= 2);
		assert_sound(a);
		auc_offer_clear(&o);
		/* Slots that come into the window are without them, too. */
		auc_auction_tick(a, NOW + 20 * SLOT);
		assert_sound(a);
		/* All are back: nine at once. */
		specs[0].down = specs[1].down = false;
		assert_int_equal(auc_auction_set_servers(a, specs, NODES, NOW + 20 * SLOT, &err),
				 AUC_OK);
		assert_int_equal(auc_auction_close(a, &other, 0, &err), AUC_OK);
		assert_sound(a);
		assert_true(sell(a, bid, 2, NOW + 20 * SLOT, &o));
		assert_int_equal(o.plan.completion - o.plan.start, 1);
		auc_offer_clear(&o);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
}

/* Some nodes are somebody else's for some time. */
static enum auc_code close_some(struct auc_auction *a, const struct auc_server_spec *specs,
				double now)
{
	struct auc_closing list[NODES];
	unsigned n = below(NODES);

	memset(list, 0, sizeof(list));
	for (unsigned i = 0; i < n; i++) {
		strcpy(list[i].server, specs[below(NODES)].name);
		list[i].from = now + below(20) * SLOT;
		list[i].to = list[i].from + below(60) * SLOT;
	}
	return auc_auction_close(a, list, n, &err);
}

/* Random bids, nodes that go and come, moves, ends: always sound, all of a bid's workers are
 * somewhere. */
static void test_random(void **state)
{
	static const char *const policies[] = {"dps", "oasis"};
	unsigned sold = 0, on_many = 0, moved = 0;

	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		struct auc_server_spec specs[NODES];
		char dir[64], text[256];
		struct auc_auction *a;
		uint32_t jobs = 0;
		double now = NOW;

		seed = round;
		world_mkdir(dir);
		a = make(policies[round % 2], specs, dir);
		for (unsigned step = 0; step < 40; step++) {
			struct auc_sale_view v;
			struct auc_offer o;

			snprintf(text, sizeof(text),
				 "%u epochs=1 chunks=%u minibatches=%u gradient-mb=10 "
				 "worker-time=w=3s ps-time=p=0",
				 1 + below(2000), 1 + below(14), 50 + below(300));
			switch (below(6)) {
			case 5:
				assert_int_equal(close_some(a, specs, now), AUC_OK);
				break;
			case 0:
			case 1:
				if (sell(a, text, jobs + 1, now, &o)) {
					jobs++;
					sold++;
					on_many += o.plan.runs[0].nshares > 1;
				}
				auc_offer_clear(&o);
				break;
			case 2:
				specs[below(NODES)].down ^= true;
				assert_int_equal(
					auc_auction_set_servers(a, specs, NODES, now, &err),
					AUC_OK);
				break;
			case 3:
				if (jobs && auc_auction_sale_of_job(a, 1 + below(jobs), &v, NULL) ==
						    AUC_OK) {
					auc_money paid = v.payment;
					uint32_t job = v.job_id;

					if (v.nparts)
						moved += auc_auction_move(
								 a, job,
								 v.parts[below(v.nparts)].server,
								 now, NULL, &err) == AUC_OK;
					auc_sale_view_clear(&v);
					assert_int_equal(auc_auction_sale_of_job(a, job, &v, &err),
							 AUC_OK);
					assert_int_equal(v.payment, paid);
					auc_sale_view_clear(&v);
				}
				break;
			default:
				if (jobs && below(2))
					auc_auction_settle(a, 1 + below(jobs), "completed", now,
							   NULL, &err);
				now += 60;
				auc_auction_tick(a, now);
			}
			assert_sound(a);
		}
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
	/* All of it did happen. */
	assert_true(sold > 200 && on_many > 50 && moved > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
