/*
 * test_prices.c - prices that learn, in the auction: what is remembered of bids, what a fit makes
 * of it, when it is published, and what a restart, a crash and hostile records leave of it.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auction/auction-private.h"
#include "pricing/fit.h"
#include "unit/support/fitting.h"
#include "base/json.h"
#include "unit/support/splitmix.h"
#include "unit/support/world.h"

#define GLOBAL "Slots=40\nHistoryBids=200\n"

/* Two slots of two v100 that are worth much; all the edge's v100 are eight. */
static const char dear[] =
	"9000 epochs=2 chunks=2 minibatches=300 worker-time=v100=1s ps-time=ps.m=0 upload=0";
static const char cheap[] =
	"linear:60,1 epochs=8 chunks=2 minibatches=300 worker-time=v100=1s ps-time=ps.m=0 upload=0";

static int flat_prices(void **state)
{
	return world_auction_setup(state, GLOBAL "Prices=flat");
}

static int learned_prices(void **state)
{
	return world_auction_setup(state, GLOBAL "Prices=learned");
}

/* False: there was none to be made. */
static bool fit(struct auc_auction *a, double now)
{
	return auc_auction_fit_due(a, now) && fitting_run(a, now) == AUC_OK;
}

/* Mean price of a v100 on edge1 over the slots for sale. */
static double v100_price(struct auc_auction *a)
{
	auc_slot first = auc_market_first(a->market), last = auc_market_last(a->market);
	double sum = 0;

	for (auc_slot t = first; t <= last; t++)
		sum += fitting_v100_price(a, t);
	return sum / (double)(last - first + 1);
}

static double cost(struct auc_auction *a, const char *text, double now)
{
	struct auc_bid bid = world_bid(a, text);
	struct auc_offer o;
	double paid;

	assert_int_equal(auc_auction_bid(a, &bid, 1, now, false, &o, NULL), AUC_OK);
	paid = (double)o.payment;
	auc_offer_clear(&o);
	return paid;
}

/* Scarcity in the past makes prices; they change at a slot's begin only, and a lien keeps its own.
 */
static void test_scarcity(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	struct auc_bid bid;
	struct auc_tariff *t;
	struct auc_offer o;
	double now = NOW, before;
	char *why;

	assert_false(fit(a, now)); /* of nothing */
	fitting_submit(a, dear, 9, 20, &now);
	assert_false(auc_auction_fit_due(a, now));
	fitting_submit(a, dear, 120, 60, &now);
	before = v100_price(a); /* the published ones */
	assert_false(auc_auction_tariff(a, &t));
	assert_true(fit(a, now));
	assert_false(auc_auction_fit_due(a, now)); /* not before that one is out */
	auc_auction_tick(a, now);
	assert_true(v100_price(a) == before); /* not in this slot */

	bid = world_bid(a, dear);
	bid.utility = world_bid(a, "90000 worker-time=v100=1s").utility;
	assert_int_equal(auc_auction_bid(a, &bid, 7, now, true, &o, NULL), AUC_OK);
	now += SLOT;
	auc_auction_tick(a, now);
	assert_true(auc_auction_tariff(a, &t));
	assert_int_equal(t->kind, AUC_TARIFF_FLAT);
	assert_true(t->bids >= 100 && t->bound > 0 && t->slot == auc_slot_of(now, SLOT));
	why = auc_tariff_why(t);
	assert_non_null(strstr(why, "flat (flat x "));
	free(why);
	auc_tariff_free(t);
	assert_true(v100_price(a) > 1 && v100_price(a) < 9000);
	if (o.accepted)
		fitting_honoured(a, &o);
	auc_offer_clear(&o);
	before = v100_price(a);
	fitting_submit(a, cheap, 3, 1, &now); /* nothing that is bid or sold moves them */
	assert_true(v100_price(a) == before);
	for (unsigned i = 0; i < 60; i++, now += SLOT)
		auc_auction_tick(a, now); /* nor does time: new slots cost the same */
	assert_true(fabs(v100_price(a) - before) < 1e-9 * before);
}

/* The status says what holds, and the runs of servers what it costs now, next, and on average. */
static void check_status(struct auc_auction *a, const struct auc_tariff *t, double now)
{
	struct json_object *o = auc_auction_status(a, now), *learning, *v;

	assert_true(json_object_object_get_ex(o, "learning", &learning));
	assert_true(json_object_object_get_ex(learning, "kind", &v));
	assert_string_equal(json_object_get_string(v), auc_tariff_word(t->kind));
	assert_true(json_object_object_get_ex(learning, "gap", &v));
	assert_true(fabs(json_object_get_double(v) - auc_tariff_gap(t)) < 1e-12);
	assert_true(json_object_object_get_ex(learning, "why", &v));
	assert_true(json_object_object_get_ex(learning, "kept", &v));
	assert_int_equal(json_object_get_int(v), auc_bid_log_count(a->bid_log));
	assert_false(json_object_object_get_ex(learning, "event", &v));
	json_object_put(o);
}

/* Where nothing is scarce the guard takes what costs nobody anything. */
static void test_guard(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	struct auc_tariff *t;
	double now = NOW, bid_log;
	char *why;

	fitting_submit(a, cheap, 12, 900, &now);
	assert_true(fit(a, now));
	now += SLOT;
	auc_auction_tick(a, now);
	assert_true(auc_auction_tariff(a, &t));
	assert_true(t->guard.bids == 12);
	for (unsigned k = 0; k < AUC_TARIFF_KINDS; k++)
		assert_true(1.05 * t->guard.worth >= t->guard.worth_of[k]);
	assert_true(t->guard.worth > 0 && t->guard.bound >= t->guard.worth);
	assert_true(t->kind <= AUC_TARIFF_PUBLISHED); /* what learns would gain nothing */
	assert_true(auc_tariff_gap(t) >= 0 && auc_tariff_gap(t) < 0.2);
	why = auc_tariff_why(t);
	assert_non_null(strstr(why, "the last 12 bids are worth"));
	free(why);
	bid_log = t->guard.time;
	check_status(a, t, now);
	auc_tariff_free(t);

	/* It does not look again for every bid. */
	fitting_submit(a, cheap, 2, 400, &now);
	assert_true(fit(a, now));
	auc_auction_tick(a, now + SLOT);
	assert_true(auc_auction_tariff(a, &t) && t->guard.time == bid_log);
	auc_tariff_free(t);
}

/* Scarce and mixed: what the guard takes is worth more, replayed, than doing without. */
static void test_worth(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	struct auc_tariff *t;
	double now = NOW;

	for (unsigned i = 0; i < 40; i++) {
		fitting_submit(a, cheap, 2, 100, &now);
		fitting_submit(a, dear, 2, 50, &now);
	}
	assert_true(fit(a, now));
	auc_auction_tick(a, now + SLOT);
	assert_true(auc_auction_tariff(a, &t));
	assert_true(t->kind == AUC_TARIFF_FLAT || t->kind == AUC_TARIFF_LEARNED);
	assert_true(t->guard.worth > t->guard.worth_of[AUC_TARIFF_NONE] &&
		    t->guard.worth > t->guard.worth_of[AUC_TARIFF_PUBLISHED]);
	assert_true(t->guard.worth <= t->guard.bound && auc_tariff_gap(t) < 0.5);
	auc_tariff_free(t);
}

/* Not byte by byte: there is padding. */
static void assert_same_guard(const struct auc_tariff_guard *a, const struct auc_tariff_guard *b)
{
	assert_true(a->flat == b->flat && a->choice.again == b->choice.again);
	assert_int_equal(a->choice.kind, b->choice.kind);
	assert_int_equal(a->choice.prices.form, b->choice.prices.form);
	assert_true(a->choice.prices.factor == b->choice.prices.factor);
	assert_true(a->days == b->days && a->bids == b->bids);
	assert_true(a->worth == b->worth && a->bound == b->bound);
	assert_memory_equal(a->worth_of, b->worth_of, sizeof(a->worth_of));
	assert_true(a->gain == b->gain && a->error == b->error && a->needed == b->needed);
	assert_true(a->time == b->time && a->seconds == b->seconds);
}

/* Several periods: each is taught by the others, and what the guard found outlives the process. */
static void test_periods(void **state)
{
	struct auc_auction *a;
	struct auc_tariff *t, *back;
	double now = NOW;
	char dir[64];

	(void)state;
	world_mkdir(dir);
	a = world_open("Slots=40\nHistoryBids=2000\nPrices=flat", dir, now);
	for (unsigned i = 0; i < 3 * 40; i++) {
		fitting_submit(a, cheap, 1, SLOT / 2, &now);
		fitting_submit(a, i % 5 ? cheap : dear, 1, SLOT / 2, &now);
	}
	assert_true(fit(a, now));
	auc_auction_tick(a, now + SLOT);
	assert_true(auc_auction_tariff(a, &t));
	assert_true(t->guard.flat && t->guard.choice.kind == AUC_TARIFF_FLAT);
	auc_tariff_free(t);

	/* It looks at once when it may choose among more. */
	assert_int_equal(
		auc_auction_reconfigure(a, world_conf("Slots=40\nHistoryBids=2000\nPrices=learned"),
					now, NULL),
		AUC_OK);
	a->fit_seconds = 0; /* however slow this machine is */
	assert_true(fit(a, now));
	auc_auction_tick(a, now + SLOT);
	assert_true(auc_auction_tariff(a, &t));
	assert_true(!t->guard.flat && t->guard.days >= 2 && t->guard.bids >= 150);
	assert_true(t->guard.worth_of[AUC_TARIFF_NONE] > 0 &&
		    t->guard.worth <= t->guard.bound * (1 + 1e-9));
	assert_true((t->guard.gain > t->guard.needed) == (t->guard.choice.kind >= AUC_TARIFF_FLAT));
	assert_int_equal(t->moved ? AUC_TARIFF_LEARNED : t->guard.choice.kind, t->kind);
	assert_int_equal(auc_auction_commit(a, NULL), AUC_OK);
	auc_auction_destroy(a);
	a = world_open("Slots=40\nHistoryBids=2000\nPrices=learned", dir, now);
	assert_true(auc_auction_tariff(a, &back));
	assert_same_guard(&back->guard, &t->guard);
	auc_tariff_free(back);
	auc_tariff_free(t);
	auc_auction_destroy(a);
	world_rmdir(dir);
}

/* As many periods as there are, but no more than seven, and of many bids fewer; two always. */
static void test_days(void **state)
{
	static const struct {
		unsigned bids[8], days;
	} cases[] = {
		{{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}, 5}, /* 5 times 5000 */
		{{1001, 1000, 1000, 1000, 1000, 1000, 1000, 1000}, 4},
		{{510, 510, 510, 510, 510, 510, 510, 510}, 7},
		{{10, 10, 9000, 10, 10, 10, 10, 10}, 2},
		{{0, 0, 0, 0, 0, 0, 0, 0}, 7},
		{{5000, 5000, 0, 0, 0, 0, 0, 0}, 2},
		{{UINT32_MAX / 2, UINT32_MAX / 2, 0, 0, 0, 0, 0, 0}, 2},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(auc_fit_days(cases[i].bids, 8), cases[i].days);
		for (unsigned periods = 0; periods < 8; periods++)
			assert_int_equal(auc_fit_days(cases[i].bids, periods),
					 periods < 1               ? 1
					 : periods < cases[i].days ? periods
								   : cases[i].days);
	}
}

/* History and prices outlive the process, in the journal and in a snapshot, and a reconfiguration.
 */
static void test_restart(void **state)
{
	struct auc_auction *a;
	double now = NOW, price, paid;
	unsigned count;
	char dir[64];

	(void)state;
	for (unsigned snapshot = 0; snapshot < 2; snapshot++) {
		now = NOW;
		world_mkdir(dir);
		a = world_open(GLOBAL "Prices=flat", dir, now);
		fitting_submit(a, dear, 100, 60, &now);
		assert_true(fit(a, now));
		now += SLOT;
		auc_auction_tick(a, now);
		assert_true(auc_auction_fit_due(a, now + SLOT) == false); /* no new bid */
		if (snapshot)
			a->snapshot_at = 1;
		assert_int_equal(auc_auction_commit(a, NULL), AUC_OK);
		price = v100_price(a);
		paid = cost(a, dear, now);
		count = auc_bid_log_count(a->bid_log);
		auc_auction_destroy(a);

		a = world_open(GLOBAL "Prices=flat", dir, now);
		assert_int_equal(auc_bid_log_count(a->bid_log), count);
		assert_true(v100_price(a) == price && cost(a, dear, now) == paid && price > 0);
		assert_true(auc_auction_fit_due(a, now)); /* what was read is to be looked at */

		/* Other words in auction.conf hold at once, and what was learned waits. */
		assert_int_equal(
			auc_auction_reconfigure(a, world_conf(GLOBAL "Prices=none"), now, NULL),
			AUC_OK);
		assert_true(v100_price(a) == 0 && !auc_auction_fit_due(a, now));
		assert_int_equal(
			auc_auction_reconfigure(
				a, world_conf(GLOBAL "Prices=given\nEta=gpu:v100=2"), now, NULL),
			AUC_OK);
		assert_true(v100_price(a) < price);
		assert_int_equal(
			auc_auction_reconfigure(a, world_conf(GLOBAL "Prices=flat"), now, NULL),
			AUC_OK);
		assert_true(v100_price(a) == price);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
}

/* Nodes that change keep the prices of their class. */
static void test_nodes(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	struct auc_server_spec specs[8];
	double now = NOW, price;

	fitting_submit(a, dear, 100, 60, &now);
	assert_true(fit(a, now));
	now += SLOT;
	auc_auction_tick(a, now);
	price = v100_price(a);
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	specs[world_nservers] = specs[0];
	strcpy(specs[world_nservers].name, "edge9");
	specs[0].capacity[2].value = 3; /* the nearest class */
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers + 1, now, NULL), AUC_OK);
	assert_true(fabs(v100_price(a) - price) < 1e-9 * price);
	assert_true(auc_market_price(a->market,
				     (unsigned)auc_market_find_server(a->market, "edge9"),
				     (unsigned)auc_market_find_tres(a->market, "gpu:v100"),
				     auc_market_first(a->market)) > 0);
}

static void test_stop(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	double now = NOW;

	fitting_submit(a, dear, 20, 60, &now);
	fitting_stop(a, now, 3, 3000);
}

/* Who is refused and bids again each slot says the same as who bids once. */
static void test_bid_again(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	struct auc_offer o;

	for (unsigned i = 0; i < 8; i++) {
		o = world_offer(a,
				"9000 epochs=100000 chunks=2 minibatches=300 worker-time=v100=1s "
				"ps-time=ps.m=0 upload=0",
				NOW + i * SLOT, true);
		assert_false(o.accepted);
		auc_offer_clear(&o);
	}
	assert_int_equal(auc_bid_log_count(a->bid_log), 1);
	assert_int_equal(auc_price_history_count(a->price_history), 1);
}

/* A bid of which no job comes teaches no fit. */
static void test_dry_run(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *a = f->a;
	struct auc_offer o = world_offer(a, dear, NOW, true);

	assert_true(o.accepted);
	assert_int_equal(auc_bid_log_count(a->bid_log), 0);
	auc_offer_clear(&o);
	auc_auction_tick(a, NOW + 10 * SLOT);
	o = world_offer(a, dear, NOW + 10 * SLOT, true);
	assert_true(o.accepted);
	assert_int_equal(auc_bid_log_count(a->bid_log), 0);
	assert_int_equal(auc_auction_confirm(a, o.sale, 77, NULL, NULL), AUC_OK);
	assert_int_equal(auc_bid_log_count(a->bid_log), 1);
	assert_true(auc_bid_log_at(a->bid_log, 0)->accepted &&
		    auc_bid_log_at(a->bid_log, 0)->time == NOW + 10 * SLOT);
	/* a confirmation that comes twice changes nothing */
	(void)auc_auction_confirm(a, o.sale, 77, NULL, NULL);
	assert_int_equal(auc_bid_log_count(a->bid_log), 1);
	auc_offer_clear(&o);
}

static void test_hostile(void **state)
{
	static const char *const bids[] = {
		"{\"event\":\"bid\"}",
		"{\"event\":\"bid\",\"time\":-1,\"slot_seconds\":1,\"accepted\":true,\"bid\":"
		"\"1\"}",
		"{\"event\":\"bid\",\"time\":5,\"last\":4,\"slot_seconds\":1,\"accepted\":true,"
		"\"bid\":\"1\"}",
		"{\"event\":\"bid\",\"time\":1,\"slot_seconds\":0,\"accepted\":true,\"bid\":\"1\"}",
		"{\"event\":\"bid\",\"time\":1,\"slot_seconds\":1,\"accepted\":1,\"bid\":\"1\"}",
		"{\"event\":\"bid\",\"time\":1,\"slot_seconds\":1,\"accepted\":true,\"bid\":\"\"}",
		"{\"event\":\"bid\",\"time\":1,\"slot_seconds\":1,\"accepted\":true,\"bid\":"
		"\"a\\u0001\"}",
		"{\"event\":\"bid\",\"time\":1,\"slot_seconds\":1,\"accepted\":true,\"bid\":\"1\","
		"\"partitions\":[]}",
		"{\"event\":\"bid\",\"time\":1,\"slot_seconds\":1,\"accepted\":true,\"bid\":\"1\","
		"\"user\":0}",
		"{\"event\":\"bid\",\"time\":1,\"slot_seconds\":1,\"accepted\":true,\"bid\":\"1\","
		"\"partitions\":[7]}",
		"{\"event\":\"bid\",\"time\":1,\"slot_seconds\":1,\"accepted\":true,\"bid\":\"1\","
		"\"partitions\":[\"a b\"]}",
	};
#define HEAD                                                                                       \
	"{\"event\":\"prices\",\"kind\":\"flat\",\"form\":\"flat\",\"factor\":0.5,\"slot_"         \
	"seconds\":300,\"time\":1,\"slot\":2,"                                                     \
	"\"bids\":3,\"expected\":3,\"bound\":4,\"day_bids\":0,\"day_worth\":0,\"day_bound\":0,"    \
	"\"guard_time\":0,\"guard_seconds\":0,"                                                    \
	"\"seconds\":1,\"worth\":{\"none\":0,\"published\":0,\"flat\":0,\"learned\":0},"           \
	"\"classes\":"
#define GUARD                                                                                      \
	"{\"kind\":\"none\",\"form\":\"none\",\"factor\":0,\"again\":false,\"flat\":false,"        \
	"\"periods\":2,\"gain\":-3,\"error\":1,\"needed\":2}"
#define CLASS "{\"partition\":\"e\",\"tres\":\"cpu\",\"capacity\":2,\"servers\":1,\"runs\":"
	static const char *const prices[] = {
		"{\"event\":\"prices\"}",
		HEAD "7}",
		HEAD "[7]}",
		HEAD "[" CLASS "7}]}",
		HEAD "[" CLASS "[[1,2]]}]}",
		HEAD "[" CLASS "[[2,1,1]]}]}",
		HEAD "[" CLASS "[[1,2,-1]]}]}",
		HEAD "[" CLASS "[[1,2,1e300]]}]}",
		HEAD "[" CLASS "[[1,9007199254740993,1]]}]}",
		HEAD "[" CLASS "[[1,2,1],[2,3,1]]}]}",
		HEAD "[],\"guard\":7,\"moved\":false}",
		HEAD "[],\"guard\":{},\"moved\":false}",
		HEAD "[],\"guard\":" GUARD "}",
		HEAD "[],\"guard\":{\"kind\":\"dear\"},\"moved\":false}",
	};
	struct auc_bid_log *p = auc_bid_log_create(3);
	struct auc_tariff *t;
	struct json_object *o;
	struct auc_err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(bids) / sizeof(*bids); i++) {
		assert_non_null(o = auc_json_parse(bids[i], strlen(bids[i])));
		if (auc_bid_log_apply(p, o, &err) != AUC_ECORRUPT)
			fail_msg("%s", bids[i]);
		json_object_put(o);
	}
	assert_int_equal(auc_bid_log_count(p), 0);
	auc_bid_log_destroy(p);
	for (unsigned i = 0; i < sizeof(prices) / sizeof(*prices); i++) {
		assert_non_null(o = auc_json_parse(prices[i], strlen(prices[i])));
		if (auc_tariff_read(o, &t, &err) != AUC_ECORRUPT || t)
			fail_msg("%s", prices[i]);
		json_object_put(o);
	}
	o = auc_json_parse(HEAD "[],\"moved\":true,\"guard\":" GUARD "}",
			   strlen(HEAD "[],\"moved\":true,\"guard\":" GUARD "}"));
	assert_int_equal(auc_tariff_read(o, &t, NULL), AUC_OK);
	assert_true(t->moved && t->guard.days == 2 && t->guard.gain == -3);
	auc_tariff_free(t);
	json_object_put(o);
	o = auc_json_parse(HEAD "[]}", strlen(HEAD "[]}"));
	assert_int_equal(auc_tariff_read(o, &t, NULL), AUC_OK);
	assert_true(t->kind == AUC_TARIFF_FLAT && t->nclasses == 0 && t->bids == 3);
	assert_true(t->guard.choice.kind == AUC_TARIFF_FLAT && t->guard.flat && t->guard.days == 0);
	auc_tariff_free(t);
	json_object_put(o);
}

/* A tariff reads back as it was written, and long ones are put together. */
static void test_tariff(void **state)
{
	struct auc_price free_of_charge = {0};
	const struct auc_named gpu = {"gpu", 4};
	struct auc_market *m = auc_market_create(AUC_SLOTS_MAX, 300, 1000);
	struct auc_tariff *t = calloc(1, sizeof(*t)), *back;
	struct auc_given_price *list = calloc(2 * AUC_SLOTS_MAX, sizeof(*list));
	double sum = 0, all = 0;
	struct json_object *o;

	(void)state;
	assert_int_equal(auc_market_add_server(m, "a", "east", false, 3, 0, &gpu, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_add_server(m, "b", "west", false, 3, 0, &gpu, 1, NULL), AUC_OK);
	assert_int_equal(auc_market_ready(m, &free_of_charge, NULL), AUC_OK);
	for (unsigned i = 0; i < AUC_SLOTS_MAX; i++) {
		list[i] = (struct auc_given_price){0, 0, 1000 + i, 1000 + i, i % 7 + 0.1};
		list[AUC_SLOTS_MAX + i] = (struct auc_given_price){1, 0, 1000 + i, 1000 + i, i};
		sum += i % 7 + 0.1;
	}
	assert_int_equal(auc_tariff_set(t, m, list, 2 * AUC_SLOTS_MAX, NULL), AUC_OK);
	assert_true(t->nclasses == 2 && t->nruns <= AUC_TARIFF_RUNS && t->nruns > 1000);
	t->kind = AUC_TARIFF_LEARNED;
	t->slot_seconds = 300;
	assert_non_null(o = auc_tariff_event(t));
	assert_true(auc_tariff_knows(o));
	assert_int_equal(auc_tariff_read(o, &back, NULL), AUC_OK);
	json_object_put(o);
	assert_memory_equal(back->runs, t->runs, t->nruns * sizeof(*t->runs));
	assert_int_equal(auc_tariff_give(back, m, NULL), AUC_OK);
	for (unsigned i = 0; i < AUC_SLOTS_MAX; i++)
		all += auc_market_price(m, 0, 0, 1000 + i);
	assert_true(fabs(all - sum) < 1e-3 * sum);
	auc_tariff_free(back);
	auc_tariff_free(t);
	free(list);
	auc_market_destroy(m);
}

/* In the last quarter of the third period there are three times as many bids as before: more are
 * expected than came. */
static void test_level(void **state)
{
	double expected[2];

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct auc_auction *a;
		struct auc_tariff *t;
		double now = NOW;
		char dir[64];

		world_mkdir(dir);
		a = world_open("Slots=40\nHistoryBids=2000\nPrices=flat", dir, now);
		fitting_submit(a, cheap, 111, SLOT, &now);
		fitting_submit(a, cheap, more ? 33 : 11, more ? SLOT / 3 : SLOT, &now);
		assert_true(fit(a, now));
		auc_auction_tick(a, now + SLOT);
		assert_true(auc_auction_tariff(a, &t));
		expected[more] = t->expected;
		auc_tariff_free(t);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
	assert_true(fabs(expected[0] - 40) < 2);
	/* a third of 142 bids, times (30 + 10) / (10 + 10) */
	assert_true(fabs(expected[1] - 95) < 4);
}

/* As many bids come in the last quarter of the fourth period as ever, but others: these alone are
 * expected, four times as often as they came, and prices are fitted again whatever was chosen. A
 * period later all that came in it. */
static void test_other_jobs(void **state)
{
	struct auc_auction *a;
	struct auc_tariff *t, *back;
	struct json_object *o;
	double now = NOW, since;
	char dir[64], *why;

	(void)state;
	world_mkdir(dir);
	a = world_open("Slots=40\nHistoryBids=2000\nPrices=learned", dir, now);
	fitting_submit(a, cheap, 450, SLOT / 3, &now);
	assert_true(fit(a, now));
	auc_auction_tick(a, now + SLOT);
	assert_true(auc_auction_tariff(a, &t));
	assert_true(!t->moved && t->bids > 350 && fabs(t->expected - 120) < 4);
	assert_true(t->other_since == 0);
	auc_tariff_free(t);
	since = now;
	fitting_submit(a, dear, 30, SLOT / 3, &now);
	assert_true(fit(a, now));
	auc_auction_tick(a, now + SLOT);
	assert_true(auc_auction_tariff(a, &t));
	assert_true(t->bids >= 28 && t->bids <= 34 && fabs(t->expected - 120) < 12);
	assert_true(t->moved || t->guard.choice.again);
	assert_int_equal(t->kind, AUC_TARIFF_LEARNED);
	assert_true(fabs(t->other_since - since) <= 2 * SLOT);
	why = auc_tariff_why(t);
	assert_non_null(strstr(why, " other bids come than before, and only these are expected"));
	free(why);
	o = auc_tariff_event(t);
	assert_int_equal(auc_tariff_read(o, &back, NULL), AUC_OK);
	assert_true(back->other_since == t->other_since && back->moved == t->moved);
	json_object_object_add(o, "other_since", json_object_new_string("noon"));
	auc_tariff_free(back);
	assert_int_equal(auc_tariff_read(o, &back, NULL), AUC_ECORRUPT);
	json_object_put(o);
	auc_tariff_free(t);
	fitting_submit(a, dear, 100, SLOT / 3, &now);
	assert_true(fit(a, now));
	auc_auction_tick(a, now + SLOT);
	assert_true(auc_auction_tariff(a, &t));
	assert_true(t->bids >= 116 && t->bids <= 124 && fabs(t->expected - 120) < 4);
	auc_tariff_free(t);
	auc_auction_destroy(a);
	world_rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_tariff),
		cmocka_unit_test_setup_teardown(test_scarcity, flat_prices, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_bid_again, flat_prices,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_dry_run, flat_prices, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_guard, learned_prices, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_worth, learned_prices, world_auction_teardown),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_days),
		cmocka_unit_test(test_restart),
		cmocka_unit_test_setup_teardown(test_nodes, flat_prices, world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_stop, learned_prices, world_auction_teardown),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_other_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
