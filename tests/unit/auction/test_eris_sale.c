/*
 * test_eris_sale.c - policy eris in the controller: chunks that lie at nodes, what moves in the
 * plan, the receipt and the spool, and a budget of traffic that is never sold twice.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <json-c/json.h>

#include "auction/auction-private.h"
#include "base/json.h"
#include "market/timeline.h"
#include "unit/support/world.h"

#define BUDGET 50
#define GLOBALS                                                                                    \
	"Policy=eris\nSlotSeconds=300\nSlots=60\nTransferBudget=50\nPrices=given\nEta=transfer=2," \
	"cpu=1.01\n"
/* A worker passes through nearly three chunks in a slot for one epoch: of two epochs, through one.
 */
#define WORK "epochs=2 minibatches=100 worker-time=v100=1s ps-time=ps.m=10ms "
#define BUSY "bid=linear:500,20 " WORK "data-mb=120 chunks=12 "

static int set_up(void **state)
{
	return world_auction_setup(state, GLOBALS);
}

/* Bytes of the budget that are booked, by slot of the window. */
static int64_t *booked(const struct auc_auction *a, unsigned slots)
{
	int64_t *used = calloc(slots, sizeof(*used));

	for (unsigned i = 0; i < slots; i++)
		used[i] = auc_traffic_bytes(
			auc_market_traffic_used(a->market, auc_market_first(a->market) + i));
	return used;
}

/* The same as the sales say it, counted from their moves and layouts. */
static void check_booked(const struct auc_auction *a, unsigned slots, double budget)
{
	int64_t *used = booked(a, slots);

	for (unsigned i = 0; i < slots; i++) {
		auc_slot t = auc_market_first(a->market) + i;
		int64_t sum = 0;

		for (unsigned k = 0; k < auc_ledger_count(a->ledger); k++) {
			const struct auc_plan *p = &auc_ledger_at(a->ledger, k)->plan;

			for (const struct auc_run *r = p->runs; r < p->runs + p->nruns; r++)
				for (unsigned s = 0; s < r->nshares && r->from <= t && t <= r->to;
				     s++) {
					const struct auc_share *h = &p->shares[r->first_share + s];

					sum += h->ps ? 0
						     : h->workers *
							       auc_traffic_bytes(p->exchange_mb);
				}
			for (unsigned v = 0; v < p->nmoves; v++)
				if (p->moves[v].slot == t)
					sum += p->moves[v].chunks * auc_traffic_bytes(p->chunk_mb);
		}
		assert_int_equal(used[i], sum);
		assert_true(used[i] <= auc_traffic_bytes(budget));
	}
	assert_true(auc_market_sound(a->market));
	free(used);
}

static bool sell(struct auc_auction *a, const char *text, double now, uint32_t job,
		 struct auc_offer *offer)
{
	struct auc_bid bid = world_bid(a, text);
	struct auc_err err;
	bool sold;

	if (auc_auction_bid(a, &bid, 1000, now, true, offer, &err) != AUC_OK)
		fail_msg("%s: %s", text, err.text);
	sold = offer->accepted;
	if (sold && auc_auction_confirm(a, offer->sale, job, NULL, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return sold;
}

static void refused(struct auc_auction *a, const char *text, const char *why)
{
	struct auc_bid bid = world_bid(a, text);
	struct auc_offer offer;
	struct auc_err err = {0};

	assert_int_not_equal(auc_auction_bid(a, &bid, 1000, NOW, true, &offer, &err), AUC_OK);
	assert_string_equal(err.text, why);
}

/* All chunks lie on one node of two workers: some are brought to others, and the receipt says it.
 */
static void test_moves(void **state)
{
	struct world_auction *f = *state;
	struct auc_offer offer;
	struct auc_receipt r;
	struct auc_err err;
	uint64_t moved = 0;

	assert_true(sell(f->a, BUSY "data=edge1=12", NOW, 7, &offer));
	if (auc_receipt_parse(offer.receipt, &r, &err) != AUC_OK)
		fail_msg("%s", err.text);
	assert_int_equal(r.chunk_bytes, 10000000);
	assert_int_equal(r.ndata, 1);
	assert_string_equal(r.data[0].name, "edge1");
	assert_true(r.nmoves > 0);
	for (unsigned i = 0; i < r.nmoves; i++) {
		assert_string_equal(r.moves[i].from, "edge1");
		moved += r.moves[i].chunks;
	}
	assert_true(moved < 12);
	assert_int_equal(offer.payment, auc_money_from(offer.plan.cost));
	assert_true(auc_plan_traffic_cost(&offer.plan, f->a->market) > 0);
	check_booked(f->a, 60, BUDGET);
	auc_receipt_clear(&r);
	auc_offer_clear(&offer);
}

/* A name of a partition is that of its node, and unknown ones are refused. */
static void test_places(void **state)
{
	static const struct auc_server_spec one[] = {
		{.name = "n1",
		 .partition = "edge",
		 .ncapacity = 3,
		 .capacity = {{"cpu", 24}, {"mem", 65536}, {"gpu:v100", 2}}},
		{.name = "n2",
		 .partition = "cloud",
		 .ncapacity = 3,
		 .capacity = {{"cpu", 24}, {"mem", 65536}, {"gpu:v100", 2}}},
	};
	struct world_auction *f = *state;
	struct auc_offer offer;

	refused(f->a, BUSY "data=edge=12", "--data: 'edge' has 4 nodes, expected the name of one");
	refused(f->a, BUSY "data=nowhere=5,edge1=7",
		"--data: 'nowhere' is no node or site of this cluster");
	assert_int_equal(auc_auction_set_servers(f->a, one, 2, NOW, NULL), AUC_OK);
	refused(f->a, BUSY "data=edge=5,n1=7", "--data: node 'n1' is named twice");
	assert_true(sell(f->a, BUSY "data=cloud=5,edge=7", NOW, 9, &offer));
	assert_non_null(strstr(offer.receipt, "\"data\":[{\"server\":\"n2\",\"chunks\":5},"
					      "{\"server\":\"n1\",\"chunks\":7}]"));
	assert_null(strstr(offer.receipt, "bid"));
	auc_offer_clear(&offer);
}

static struct auc_auction *restart(struct world_auction *f, const char *globals, double now)
{
	assert_int_equal(auc_auction_commit(f->a, NULL), AUC_OK);
	auc_auction_destroy(f->a);
	return world_open(globals, f->dir, now);
}

/* Random jobs, until the budget is what refuses them; jobs end early; the controller restarts. */
static void test_never_oversold(void **state)
{
	struct world_auction *f = *state;
	unsigned sold = 0, moves = 0, job = 100;
	struct auc_offer offer;
	char text[400];

	srand(5);
	for (unsigned round = 0; round < 60; round++) {
		double now = NOW + SLOT * (round / 10);
		unsigned a = 1 + rand() % 8, b = 1 + rand() % 8;

		snprintf(text, sizeof(text),
			 "bid=linear:%d,%d " WORK "data-mb=%d chunks=%u data=edge%d=%u,big1=%u",
			 200 + rand() % 800, rand() % 20, (int)(a + b) * (1 + rand() % 12), a + b,
			 1 + rand() % 4, a, b);
		if (sell(f->a, text, now, ++job, &offer)) {
			sold++;
			moves += offer.plan.nmoves;
		}
		auc_offer_clear(&offer);
		check_booked(f->a, 50, BUDGET);
		if (round % 7 == 6 && auc_ledger_count(f->a->ledger)) {
			uint32_t some = auc_ledger_at(f->a->ledger, 0)->job_id;

			assert_int_equal(auc_auction_start(f->a, some, now, NULL, NULL), AUC_OK);
			assert_int_equal(
				auc_auction_settle(f->a, some, "completed", now, NULL, NULL),
				AUC_OK);
		}
		if (round % 10 == 9) {
			int64_t *before = booked(f->a, 50), *after;

			f->a = restart(f, GLOBALS, now);
			after = booked(f->a, 50);
			assert_memory_equal(before, after, 50 * sizeof(*before));
			check_booked(f->a, 50, BUDGET);
			free(before);
			free(after);
		}
	}
	assert_true(sold > 15);
	assert_true(moves > 10);
}

/* A budget that has become smaller: what does not fit is not booked, and comes back with the old
 * one; nothing more is sold meanwhile than is left. */
static void test_smaller_budget(void **state)
{
	static const char small[] = "Policy=eris\nSlotSeconds=300\nSlots=60\nTransferBudget=15\n"
				    "Prices=given\nEta=transfer=2,cpu=1.01\n";
	struct world_auction *f = *state;
	int64_t *before, *after;
	struct auc_offer offer;

	for (uint32_t job = 1; job <= 6; job++) {
		sell(f->a, BUSY "data=edge1=12", NOW, job, &offer);
		auc_offer_clear(&offer);
	}
	before = booked(f->a, 60);
	assert_int_equal(auc_auction_reconfigure(f->a, world_conf(small), NOW, NULL), AUC_EFULL);
	assert_true(auc_market_sound(f->a->market));
	after = booked(f->a, 60);
	for (unsigned i = 0; i < 60; i++)
		assert_true(after[i] <= 15000000 && after[i] <= before[i]);
	free(after);
	sell(f->a, BUSY "data=edge1=12", NOW, 50, &offer);
	auc_offer_clear(&offer);
	assert_true(auc_market_sound(f->a->market));
	assert_int_equal(auc_auction_settle(f->a, 50, "cancelled", NOW, NULL, NULL), AUC_OK);
	assert_int_equal(auc_auction_reconfigure(f->a, world_conf(GLOBALS), NOW, NULL), AUC_OK);
	after = booked(f->a, 60);
	assert_memory_equal(before, after, 60 * sizeof(*before));
	free(before);
	free(after);
}

/* A sale that a node has no room for any more is booked in pieces: what it sends once, and given
 * back whole. */
static void test_pieces(void **state)
{
	struct auc_server_spec *specs = malloc(world_nservers * sizeof(*specs));
	struct world_auction *f = *state;
	int64_t *before, *after;
	struct auc_offer offer;

	assert_true(sell(f->a, BUSY "gradient-mb=0.01 data=edge1=12", NOW, 7, &offer));
	assert_true(offer.plan.nmoves > 0 && offer.plan.exchange_mb > 0);
	auc_offer_clear(&offer);
	before = booked(f->a, 60);
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	for (unsigned k = 0; k < specs[0].ncapacity; k++)
		if (!strcmp(specs[0].capacity[k].name, "gpu:v100"))
			specs[0].capacity[k].value = 0;
	assert_int_equal(auc_auction_set_servers(f->a, specs, world_nservers, NOW, NULL),
			 AUC_EFULL);
	after = booked(f->a, 60);
	assert_memory_equal(before, after, 60 * sizeof(*before));
	free(after);
	assert_int_equal(auc_auction_settle(f->a, 7, "cancelled", NOW, NULL, NULL), AUC_OK);
	after = booked(f->a, 60);
	for (unsigned i = 0; i < 60; i++)
		assert_int_equal(after[i], 0);
	assert_true(auc_market_sound(f->a->market));
	free(before);
	free(after);
	free(specs);
}

/* What lies on a node that fails cannot be trained elsewhere. */
static void test_node_fails(void **state)
{
	struct world_auction *f = *state;
	struct auc_offer offer;
	struct auc_err err;

	assert_true(sell(f->a, BUSY "data=edge1=12", NOW, 7, &offer));
	assert_int_equal(auc_auction_start(f->a, 7, NOW, NULL, NULL), AUC_OK);
	assert_int_equal(auc_auction_move(f->a, 7, "edge1", NOW, NULL, &err), AUC_EFULL);
	assert_string_equal(err.text, "chunks of job 7 lie on server edge1");
	auc_offer_clear(&offer);
}

/* Records with moves that no plan can have are refused; those of before have none. */
static void test_hostile(void **state)
{
	static const struct {
		const char *transfers, *why;
	} bad[] = {
		{"7", "transfers: expected an array"},
		{"[7]", NULL},
		{"[{\"slot\":1001,\"from\":\"edge1\",\"to\":\"edge2\"}]", NULL},
		{"[{\"slot\":1001,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":0}]", NULL},
		{"[{\"slot\":1001,\"from\":\"edge1\",\"to\":\"edge1\",\"chunks\":1}]", NULL},
		{"[{\"slot\":1001,\"from\":\"nine\",\"to\":\"edge2\",\"chunks\":1}]", NULL},
		{"[{\"slot\":2001,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":1}]", NULL},
		{"[{\"slot\":1001,\"from\":\"edge1\",\"to\":\"edge3\",\"chunks\":1}]",
		 "transfers: slot 1001: expected moves to servers that have workers then, 'edge3' "
		 "has none"},
		{"[{\"slot\":1002,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":1},"
		 "{\"slot\":1001,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":1}]",
		 NULL},
		{"[{\"slot\":1001,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":1000000000}]",
		 "transfers: expected 1e+12 MB at most in one slot"},
	};
	static const char head[] =
		"{\"worker_type\":\"v100\",\"ps_type\":\"ps.m\",\"colocated\":false,"
		"\"arrival\":1001,\"start\":1001,\"completion\":1003,\"plan\":[{\"from\":1001,"
		"\"to\":1002,\"workers\":{\"edge2\":1},\"ps\":{\"edge2\":1}}]";
	static const char good[] =
		"[{\"slot\":1001,\"from\":\"edge1\",\"to\":\"edge2\",\"chunks\":2}]";
	struct world_auction *f = *state;
	struct json_object *o;
	struct auc_plan plan;
	struct auc_err err;
	char text[1000];

	auc_plan_init(&plan);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text),
			 "%s,\"chunk_mb\":1e6,\"exchange_mb\":0,\"transfers\":%s}", head,
			 bad[i].transfers);
		o = json_tokener_parse(text);
		assert_non_null(o);
		assert_int_not_equal(auc_plan_from_json(o, f->a->market, &plan, &err), AUC_OK);
		if (bad[i].why)
			assert_string_equal(err.text, bad[i].why);
		json_object_put(o);
	}
	snprintf(text, sizeof(text), "%s,\"chunk_mb\":2,\"exchange_mb\":0.5,\"transfers\":%s}",
		 head, good);
	o = json_tokener_parse(text);
	assert_int_equal(auc_plan_from_json(o, f->a->market, &plan, &err), AUC_OK);
	assert_true(plan.nmoves == 1 && plan.chunk_mb == 2 && plan.exchange_mb == 0.5);
	json_object_put(o);
	o = auc_plan_to_json(&plan, f->a->market);
	assert_non_null(strstr(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN), good));
	json_object_put(o);
	snprintf(text, sizeof(text), "%s}", head);
	o = json_tokener_parse(text);
	assert_int_equal(auc_plan_from_json(o, f->a->market, &plan, &err), AUC_OK);
	assert_true(plan.nmoves == 0 && plan.chunk_mb == 0);
	json_object_put(o);
	auc_plan_clear(&plan);
}

static double number(struct json_object *o, unsigned i)
{
	return json_object_get_double(json_object_array_get_idx(o, i));
}

/* What is sold of the budget, and its price, for all to see: as of one more server. */
static void test_status(void **state)
{
	struct world_auction *f = *state;
	struct json_object *o, *servers, *last, *tres, *runs, *run;
	struct auc_offer offer;

	assert_true(sell(f->a, BUSY "data=edge1=12", NOW, 7, &offer));
	o = auc_auction_status(f->a, NOW);
	assert_true(json_object_object_get_ex(o, "servers", &servers));
	last = json_object_array_get_idx(servers, world_nservers);
	assert_string_equal(json_object_get_string(json_object_object_get(last, "name")), "*");
	tres = json_object_array_get_idx(json_object_object_get(last, "tres"), 0);
	assert_true(json_object_get_double(json_object_object_get(tres, "capacity")) == BUDGET);
	runs = json_object_object_get(tres, "runs");
	assert_true(json_object_array_length(runs) > 1);
	for (unsigned i = 0; i < json_object_array_length(runs); i++) {
		run = json_object_array_get_idx(runs, i);
		for (auc_slot t = (auc_slot)number(run, 0); t <= (auc_slot)number(run, 1); t++) {
			assert_true(auc_market_traffic_used(f->a->market, t) == number(run, 2));
			assert_true(auc_market_traffic_price(f->a->market, t) == number(run, 3));
		}
	}
	json_object_put(o);
	auc_offer_clear(&offer);
}

/* A chunk that no slot can carry, and that cannot be trained where it lies. */
static void test_too_large(void **state)
{
	struct world_auction *f = *state;
	struct auc_bid bid = world_bid(f->a, "9 " WORK "data-mb=120 data=edge1=1,big1=1");
	struct auc_offer offer;

	assert_int_equal(auc_auction_bid(f->a, &bid, 1000, NOW, false, &offer, NULL), AUC_OK);
	assert_false(offer.accepted);
	assert_non_null(strstr(offer.message,
			       "no schedule is possible at any price: a chunk of 60 MB is "
			       "more than nodes may send in a slot (50 MB)"));
	auc_offer_clear(&offer);
}

/* Prices=published: what past bids say of the traffic, too; as nothing is sold, nothing costs. */
static void test_published(void **state)
{
	static const char globals[] =
		"Policy=eris\nSlotSeconds=300\nSlots=60\nTransferBudget=50\nPrices=published\n";
	struct world_auction *f = *state;
	struct auc_offer offer;

	assert_int_equal(auc_auction_reconfigure(f->a, world_conf(globals), NOW, NULL), AUC_OK);
	assert_true(sell(f->a, BUSY "data=edge1=12", NOW, 1, &offer));
	auc_offer_clear(&offer);
	auc_auction_tick(f->a, NOW);
	assert_true(auc_market_traffic_price(f->a->market, 1001) > 0);
	f->a = restart(f, globals, NOW);
	assert_true(auc_market_traffic_price(f->a->market, 1001) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_moves, set_up, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_places, set_up, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_never_oversold, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_smaller_budget, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_pieces, set_up, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_node_fails, set_up, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_hostile, set_up, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_published, set_up, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_status, set_up, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_too_large, set_up, world_auction_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
