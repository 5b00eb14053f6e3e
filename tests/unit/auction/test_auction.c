/* test_auction.c - the facade: one bid's life, messages and their hints, refunds. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auction/memory/activity.h"
#include "unit/support/world.h"

static struct auc_err err;

static void test_one_life(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_sale_view view;
	struct auc_totals t;
	struct auc_receipt r;
	char *receipt = NULL;

	(void)state;
	/* 2 epochs x 1 chunk x 100 mini-batches x 3 s = 600 s = 2 slots on one worker */
	struct auc_offer o = world_offer(
		a, "300 epochs=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0", NOW, true);
	assert_true(o.accepted);
	assert_string_equal(
		o.message,
		"auction: offered: 1 x v100 on edge1 + 1 x ps.m on edge1, 1970-01-04T11:25:00 to "
		"1970-01-04T11:35:00 (slots 1001 to 1002), pays 0.000000 of value 300.00");
	assert_true(o.start == 1001 * SLOT && o.end == 1003 * SLOT);
	assert_int_equal(o.nparts, 1);
	assert_true(o.parts[0].lead);
	assert_string_equal(o.parts[0].server, "edge1");
	assert_string_equal(o.parts[0].partition, "edge");
	assert_int_equal(auc_receipt_parse(o.receipt, &r, &err), AUC_OK);
	assert_string_equal(r.state, "lien");
	auc_receipt_clear(&r);
	assert_false(auc_auction_owns(a, 7));

	assert_int_equal(auc_auction_confirm(a, o.sale, 7, &receipt, &err), AUC_OK);
	assert_true(auc_auction_owns(a, 7));
	assert_non_null(strstr(receipt, "\"state\":\"sold\""));
	free(receipt);
	assert_int_equal(auc_auction_confirm(a, o.sale, 7, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_confirm(a, o.sale, 8, NULL, &err), AUC_ESTATE);
	world_commit(a);
	assert_int_equal(auc_auction_start(a, 7, o.start, &receipt, &err), AUC_OK);
	assert_non_null(strstr(receipt, "\"state\":\"running\""));
	free(receipt);
	assert_int_equal(auc_auction_sale_of_job(a, 7, &view, &err), AUC_OK);
	assert_int_equal(view.state, AUC_SALE_RUNNING);
	assert_int_equal(view.nparts, 1);
	auc_sale_view_clear(&view);
	assert_int_equal(auc_auction_settle(a, 7, "completed", o.end - 10, &receipt, &err), AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_string_equal(r.state, "settled");
	assert_string_equal(r.why, "completed");
	auc_receipt_clear(&r);
	free(receipt);
	assert_int_equal(auc_auction_settle(a, 7, "completed", o.end, NULL, &err), AUC_ENOENT);
	assert_false(auc_auction_owns(a, 7));
	t = world_totals(a);
	assert_int_equal(t.bids, 1);
	assert_int_equal(t.sold, 1);
	assert_int_equal(t.settled, 1);
	world_commit(a);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* -- refusals and what they say would be accepted -- */

/* The words "as --OPTION=VALUE" of every line of MESSAGE, put in place of that option of TEXT: each
 * must be accepted. */
static unsigned try_hints(struct auc_auction *a, const char *text, const char *message)
{
	unsigned tried = 0;

	for (const char *p = message; (p = strstr(p, "as --")); p++) {
		char option[32], value[512], again[2048] = "";
		const char *equals = strchr(p, '=');
		struct auc_offer o;
		char *copy = strdup(text), *save = NULL;

		snprintf(option, sizeof(option), "%.*s=", (int)(equals - p - 5), p + 5);
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(equals + 1, " \n"), equals + 1);
		for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
			if (strncmp(w, option, strlen(option)))
				snprintf(again + strlen(again), sizeof(again) - strlen(again),
					 "%s ", w);
		snprintf(again + strlen(again), sizeof(again) - strlen(again), "%s%s", option,
			 value);
		o = world_offer(a, again, NOW, false);
		if (!o.accepted)
			fail_msg("hint '%s%s' is not true: %s", option, value, o.message);
		auc_offer_clear(&o);
		free(copy);
		tried++;
	}
	return tried;
}

/* Nothing is promised that no bid can say. */
static unsigned promises(const char *message)
{
	unsigned n = 0;

	for (const char *p = message; (p = strstr(p, "would be accepted: ")); p++)
		n++;
	return n;
}

static void test_hints_are_true(void **state)
{
	static const struct {
		const char *bid, *line; /* a line that the message must have */
		unsigned hints;         /* at least */
	} cases[] = {
		{"bid=100 epochs=20 chunks=4 minibatches=100 worker-time=v100=3s,t4=9s "
		 "ps-time=ps.m=0.1s",
		 "\nauction: would be accepted: a value higher by ", 2},
		{"bid=sigmoid:100,0.9,30 epochs=20 chunks=4 minibatches=100 "
		 "worker-time=v100=3s,t4=9s ps-time=ps.m=0.1s",
		 "\nauction: would be accepted: a higher value, as --bid=sigmoid:", 2},
		{"bid=linear:700,7 epochs=20 chunks=2 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0.1s",
		 "\nauction: would be accepted: the value that it has at once", 1},
		{"bid=inverse:60 epochs=20 chunks=4 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0.1s",
		 "\nauction: would be accepted: a value higher by ", 1},
		{"bid=deadline:50,5 epochs=3 chunks=2 gradient-mb=97.4 minibatches=100 "
		 "worker-time=v100=3s "
		 "ps-time=ps.m=0",
		 "\nauction: the best schedule comes after the deadline\nauction: would be "
		 "accepted: a higher value before it, as --bid=deadline:",
		 1},
		{"bid=deadline:0.01,400 epochs=80 chunks=3 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0",
		 "\nauction: would be accepted: a value higher by ", 1},
		{"bid=table:0=100,14=90,90=0 epochs=20 chunks=2 minibatches=100 "
		 "worker-time=v100=3s "
		 "ps-time=ps.m=0.1s",
		 "\nauction: would be accepted: a value higher by ", 1},
		/* Worth nothing whenever it may be done. */
		{"bid=linear:2.28719,356 epochs=20 chunks=2 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0",
		 "\nauction: would be accepted: a higher value, as --bid=linear:", 1},
		{"bid=linear:0,4 epochs=3 chunks=2 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0",
		 "\nauction: would be accepted: a higher value, as --bid=linear:", 1},
		{"bid=inverse:0.04,3 epochs=1 chunks=2 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0",
		 "\nauction: would be accepted: a higher value, as --bid=inverse:", 1},
		{"bid=inverse:0.04,2 epochs=20 chunks=2 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0",
		 "(payoff ", 0},
		{"bid=sigmoid:1,1e6,4 epochs=1 chunks=1 minibatches=100 "
		 "worker-time=v100=3s ps-time=ps.m=0",
		 "(payoff ", 0},
		{"bid=sigmoid:1,1e6,1 epochs=20 chunks=2 minibatches=100 "
		 "worker-time=v100=3s ps-time=ps.m=0",
		 "(payoff ", 0},
		{"bid=500 epochs=2000 chunks=2 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0.1s",
		 "refused: no schedule is possible at any price: it needs at least 7-04:15:00 (2067 "
		 "slots), and from its data's arrival to the end of the horizon there are 08:15:00 "
		 "(99)\nauction: would be accepted: at most ",
		 1},
	};
	struct auc_auction *a = world_open(
		"Prices=given\nEta=gpu:v100=90,gpu:t4=90,cpu=40\nSlots=100", world_dir, NOW);

	(void)state;
	world_load(a);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_offer o = world_offer(a, cases[i].bid, NOW, false);
		unsigned hints;

		if (o.accepted || !strstr(o.message, cases[i].line))
			fail_msg("case %u: %s\nwanted: %s", i, o.message, cases[i].line);
		hints = try_hints(a, cases[i].bid, o.message);
		if (hints < cases[i].hints)
			fail_msg("case %u: %u hints: %s", i, hints, o.message);
		if (hints != promises(o.message))
			fail_msg("case %u: promises more than %u hints: %s", i, hints, o.message);
		if (getenv("SHOW"))
			print_message("%s\n", o.message);
		auc_offer_clear(&o);
	}
	auc_auction_destroy(a);
}

/* Where nothing costs anything, what is refused is worth nothing: the refusal says so, and when. */
static void test_worthless(void **state)
{
	static const char work[] =
		" epochs=20 chunks=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0";
	static const struct {
		const char *value, *reason;
	} cases[] = {
		{"linear:700,350",
		 "\nauction: the bid is worth nothing from 1970-01-04T11:35:00 on, before the "
		 "schedule ends\n"},
		{"linear:0,4", "\nauction: the bid is worth nothing at any time\n"},
		{"table:0=100,2=0",
		 "\nauction: the bid is worth nothing from 1970-01-04T11:35:00 on, before "
		 "the schedule ends\n"},
		{"table:0=100,2=0,90=0",
		 "\nauction: the bid is worth nothing from 1970-01-04T11:35:00 on"},
		{"inverse:60,3",
		 "\nauction: the bid is worth nothing from 1970-01-04T11:40:00 on, before the "
		 "schedule ends\n"},
		{"deadline:60,3", "\nauction: the best schedule comes after the deadline\n"},
		{"0", "\nauction: the bid is worth nothing at any time\n"},
	};
	struct auc_auction *a = world_open("Prices=none\nSlots=100", world_dir, NOW);
	char bid[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_offer o;

		snprintf(bid, sizeof(bid), "bid=%s%s", cases[i].value, work);
		o = world_offer(a, bid, NOW, false);
		if (o.accepted || !strstr(o.message, cases[i].reason))
			fail_msg("%s: %s\nwanted: %s", cases[i].value, o.message, cases[i].reason);
		try_hints(a, bid, o.message);
		auc_offer_clear(&o);
	}
	auc_auction_destroy(a);
}

/* Where it is dear now and free later, a deadline that is missed is moved as little as will do: to
 * the end of the schedule that is shown. */
static void test_least_deadline(void **state)
{
	static const char *const bids[] = {
		"bid=deadline:100000,1 epochs=20 chunks=2 minibatches=100 "
		"worker-time=v100=3s ps-time=ps.m=0",
		"bid=linear:100000,100000 epochs=20 chunks=2 minibatches=100 "
		"worker-time=v100=3s ps-time=ps.m=0",
		"bid=deadline:100000,1 gang=2:1200:gpu:v100=1,cpu=1",
	};
	struct auc_auction *a =
		world_open("Prices=given\nEta=gpu:v100=90,cpu=40\nSlots=200", world_dir, NOW);

	(void)state;
	world_load(a);
	for (unsigned i = 0; i < sizeof(bids) / sizeof(*bids); i++) {
		struct auc_offer o = world_offer(a, bids[i], NOW, false);
		char end[64] = "", until[64] = "";
		const char *shown = strstr(o.message, " to 1970-"),
			   *hint = strstr(o.message, "that it has at once (100000.00) until ");

		if (o.accepted || !shown || !hint)
			fail_msg("%s: %s", bids[i], o.message);
		sscanf(shown, " to %63[^ ]", end);
		sscanf(hint, "that it has at once (100000.00) until %63[^,]", until);
		if (strcmp(end, until))
			fail_msg("%s: shown until %s, hint until %s: %s", bids[i], end, until,
				 o.message);
		try_hints(a, bids[i], o.message);
		auc_offer_clear(&o);
	}
	auc_auction_destroy(a);
}

static int64_t count_of(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(o, key, &v))
		fail_msg("no key %s", key);
	return json_object_get_int64(v);
}

static struct json_object *part_of(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(o, key, &v))
		fail_msg("no key %s", key);
	return v;
}

/* The status counts bids by what became of them, and quotes only in times. */
static void test_activity(void **state)
{
	static const char work[] =
		"epochs=20 chunks=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0";
	static const char *const bids[] = {"bid=1000", "bid=0", "bid=linear:700,350",
					   "bid=deadline:500,40"};
	struct auc_auction *a = world_open("Prices=none\nSlots=100", world_dir, NOW);
	struct json_object *o, *y, *times, *room;
	double asked = 0;
	char text[256];
	struct auc_offer offer;
	struct auc_bid bid;

	(void)state;
	for (unsigned i = 0; i < sizeof(bids) / sizeof(*bids); i++) {
		snprintf(text, sizeof(text), "%s %s", bids[i], work);
		for (unsigned hold = 0; hold < 2; hold++) {
			offer = world_offer(a, text, NOW, hold);
			auc_offer_clear(&offer);
		}
	}
	asked = 1000 + 0 + 700 + 500;
	snprintf(text, sizeof(text), "bid=1000 %s", work);
	bid = world_bid(a, text);
	auc_auction_break(a, "for a test");
	assert_int_equal(auc_auction_bid(a, &bid, 1000, NOW, true, &offer, NULL), AUC_ESTATE);
	auc_auction_break(a, NULL);
	o = auc_auction_status(a, NOW);
	y = part_of(o, "activity");
	assert_int_equal(count_of(y, "accepted"), 2);
	assert_int_equal(count_of(part_of(y, "refused"), "payoff"), 2);
	assert_int_equal(count_of(part_of(y, "refused"), "capacity"), 0);
	assert_int_equal(count_of(part_of(y, "failed"), "state"), 1);
	assert_true(json_object_get_double(part_of(y, "value_asked")) == asked);
	assert_true(json_object_get_double(part_of(y, "value_sold")) == 1500);
	times = part_of(part_of(y, "decision"), "counts");
	assert_int_equal(json_object_array_length(times), AUC_TIMES_BOUNDS + 1);
	for (unsigned i = asked = 0; i < json_object_array_length(times); i++)
		asked += json_object_get_double(json_object_array_get_idx(times, i));
	assert_true(asked == 9);
	assert_true(json_object_get_double(part_of(part_of(y, "lock_held"), "sum")) >=
		    json_object_get_double(part_of(part_of(y, "decision"), "sum")));
	room = json_object_array_get_idx(part_of(o, "room"), 0);
	assert_string_equal(json_object_get_string(part_of(room, "role")), "worker");
	assert_true(count_of(room, "fit") > 0 && count_of(room, "fit") <= count_of(room, "pooled"));
	json_object_put(o);
	auc_auction_destroy(a);
}

/* Halves of nodes are free: on one node they would hold twice as many. */
static void test_room(void **state)
{
	struct auc_auction *a = world_create("Prices=none\nSlots=100");
	const struct auc_server_spec s[] = {
		{"n1",
		 "edge",
		 3,
		 {{"cpu", 100}, {"mem", 1e6}, {"gpu:v100", 1}},
		 false,
		 "",
		 "",
		 0,
		 0},
		{"n2",
		 "edge",
		 3,
		 {{"cpu", 0.5}, {"mem", 1e6}, {"gpu:v100", 3}},
		 false,
		 "",
		 "",
		 0,
		 0},
	};
	struct json_object *o, *room;

	(void)state;
	assert_int_equal(auc_auction_set_servers(a, s, 2, NOW, NULL), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, NULL), AUC_OK);
	o = auc_auction_status(a, NOW);
	room = json_object_array_get_idx(part_of(o, "room"), 0);
	assert_string_equal(json_object_get_string(part_of(room, "type")), "v100");
	assert_int_equal(count_of(room, "fit"), 1);
	assert_int_equal(count_of(room, "pooled"), 4);
	json_object_put(o);
	auc_auction_destroy(a);
}

/* A value of any form. */
static void random_value(char *text, size_t size, unsigned *seed)
{
	double value = ldexp(1, (int)(rand_r(seed) % 16) - 4),
	       decay = ldexp(1, (int)(rand_r(seed) % 14) - 7);
	double time = 1 + rand_r(seed) % 300 / 10.;

	switch (rand_r(seed) % 7) {
	case 0:
		snprintf(text, size, "bid=%.4f", value);
		break;
	case 1:
		snprintf(text, size, "bid=linear:%.4f,%.4f", value, decay);
		break;
	case 2:
		snprintf(text, size, "bid=sigmoid:%.4f,%.4f,%.1f", value, decay, time);
		break;
	case 3:
		snprintf(text, size, "bid=inverse:%.4f", value);
		break;
	case 4:
		snprintf(text, size, "bid=inverse:%.4f,%.1f", value, time);
		break;
	case 5:
		snprintf(text, size, "bid=deadline:%.4f,%.1f", value, time);
		break;
	default:
		snprintf(text, size, "bid=table:%.1f=%.4f,%.1f=%.4f", time, value, time + 5,
			 value / 3);
		break;
	}
}

static void test_hints_at_random(void **state)
{
	struct auc_auction *a = world_open(
		"Prices=given\nEta=gpu:v100=90,gpu:t4=90,cpu=40\nSlots=100", world_dir, NOW);
	unsigned seed = 1, refused = 0, tried = 0;

	(void)state;
	world_load(a);
	for (unsigned i = 0; i < 400; i++) {
		char text[512];
		struct auc_offer o;
		unsigned hints;

		random_value(text, sizeof(text), &seed);
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " epochs=%u chunks=%u minibatches=100 worker-time=v100=3s,t4=9s "
			 "ps-time=ps.m=0.1s gradient-mb=%u",
			 1 + rand_r(&seed) % 40, 1 + rand_r(&seed) % 6, rand_r(&seed) % 50);
		o = world_offer(a, text, NOW, false);
		if (!o.accepted) {
			refused++;
			hints = try_hints(a, text, o.message);
			if (hints != promises(o.message))
				fail_msg("%s: promises more than %u hints: %s", text, hints,
					 o.message);
			tried += hints;
		}
		auc_offer_clear(&o);
	}
	assert_true(refused > 100 && tried > 100);
	auc_auction_destroy(a);
}

/* "A value higher by X" is the least: X is enough, and a hair less is not. */
static void test_value_is_exact(void **state)
{
	struct auc_auction *a =
		world_open("Prices=given\nEta=gpu:v100=90,cpu=40\nSlots=100", world_dir, NOW);
	const char *rest =
		"epochs=20 chunks=4 minibatches=100 worker-time=v100=3s,t4=9s ps-time=ps.m=0.1s";
	char text[512];
	struct auc_offer o;
	double higher;

	(void)state;
	world_load(a);
	snprintf(text, sizeof(text), "bid=0.5 %s", rest);
	o = world_offer(a, text, NOW, false);
	assert_int_equal(o.reason, AUC_REASON_PAYOFF);
	assert_true(o.best_payoff < 0);
	assert_int_equal(sscanf(strstr(o.message, "higher by "), "higher by %lf", &higher), 1);
	auc_offer_clear(&o);
	snprintf(text, sizeof(text), "bid=%.6f %s", 0.5 + higher, rest);
	o = world_offer(a, text, NOW, false);
	assert_true(o.accepted && o.payment <= o.value);
	auc_offer_clear(&o);
	snprintf(text, sizeof(text), "bid=%.6f %s", 0.5 + higher - 3e-6, rest);
	o = world_offer(a, text, NOW, false);
	assert_false(o.accepted);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

static void test_capacity_messages(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1\nSlots=10\nWorkerType=huge "
					   "TRES=cpu=100,gpu:v100=1 Bandwidth=1",
					   world_dir, NOW);
	struct auc_offer o;

	(void)state;
	o = world_offer(a, "5 worker-time=huge=1s", NOW, false);
	assert_int_equal(o.reason, AUC_REASON_CAPACITY);
	assert_string_equal(o.message, "auction: refused: no schedule is possible at any price: no "
				       "node it may use can hold "
				       "one worker (huge: cpu=100 gpu:v100=1)");
	auc_offer_clear(&o);
	for (uint32_t job = 1; job <= 8; job++)
		world_sell(a, "5 epochs=9 minibatches=100 worker-time=v100=3s", job, NOW);
	o = world_offer(a, "5 epochs=2 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_int_equal(o.reason, AUC_REASON_CAPACITY);
	assert_string_equal(
		o.message,
		"auction: refused: no schedule is possible at any price: what is free until "
		"1970-01-04T12:10:00 cannot hold it for as long as it takes");
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* -- quotes, liens -- */

static void test_quote_sells_nothing(void **state)
{
	struct auc_auction *a = world_open("Prices=learned", world_dir, NOW);
	struct json_object *before, *after;
	struct auc_offer o;

	(void)state;
	before = auc_auction_status(a, NOW);
	for (int i = 0; i < 20; i++) {
		o = world_offer(a, "900 epochs=4 chunks=8 minibatches=100 worker-time=v100=3s", NOW,
				false);
		assert_true(o.accepted);
		assert_null(o.receipt);
		assert_string_equal(o.sale, "");
		assert_non_null(strstr(o.message, "auction: would be accepted: "));
		auc_offer_clear(&o);
	}
	after = auc_auction_status(a, NOW);
	/* but that it is counted */
	json_object_object_del(before, "decisions");
	json_object_object_del(after, "decisions");
	json_object_object_del(before, "activity");
	json_object_object_del(after, "activity");
	assert_string_equal(json_object_to_json_string(before), json_object_to_json_string(after));
	json_object_put(before);
	json_object_put(after);
	auc_auction_destroy(a);
}

static void test_lien_lapses(void **state)
{
	struct auc_auction *a =
		world_open("Prices=given\nEta=cpu=1\nSlots=10\nLienSeconds=10", world_dir, NOW);
	struct auc_offer o[8], more;
	struct auc_sale_view *views;
	unsigned n;

	(void)state;
	for (int i = 0; i < 8; i++) {
		o[i] = world_offer(a, "5 epochs=9 minibatches=100 worker-time=v100=3s", NOW, true);
		assert_true(o[i].accepted);
	}
	more = world_offer(a, "5 minibatches=100 worker-time=v100=3s", NOW + 9, true);
	assert_int_equal(more.reason, AUC_REASON_CAPACITY);
	auc_offer_clear(&more);
	assert_int_equal(auc_auction_tick(a, NOW + 9), 0);
	assert_true(auc_auction_awaits(a, 1000));
	assert_false(auc_auction_awaits(a, 1001));
	assert_int_equal(auc_auction_sales(a, &views, &n, &err), AUC_OK);
	assert_int_equal(n, 8);
	while (n)
		auc_sale_view_clear(&views[--n]);
	free(views);
	assert_int_equal(auc_auction_drop(a, o[0].sale, &err), AUC_OK);
	assert_int_equal(auc_auction_tick(a, NOW + 9.9), 0);
	more = world_offer(a, "5 minibatches=100 worker-time=v100=3s", NOW + 10, false);
	assert_true(more.accepted);
	auc_offer_clear(&more);
	assert_int_equal(world_totals(a).lapsed, 8);
	assert_int_equal(auc_auction_tick(a, NOW + 10), 0);
	assert_false(auc_auction_awaits(a, 1000));
	assert_int_equal(auc_auction_confirm(a, o[1].sale, 5, NULL, &err), AUC_ENOENT);
	/* The job was there after all: its receipt sells it again as it stood, once. */
	assert_int_equal(auc_auction_adopt(a, o[1].receipt, 5, 1000, AUC_SALE_SOLD, &err), AUC_OK);
	assert_int_equal(auc_auction_adopt(a, o[1].receipt, 5, 1000, AUC_SALE_SOLD, &err),
			 AUC_EEXIST);
	assert_true(auc_auction_owns(a, 5));
	assert_false(auc_auction_awaits(a, 1000));
	for (int i = 0; i < 8; i++)
		auc_offer_clear(&o[i]);
	struct auc_totals t = world_totals(a);

	assert_int_equal(t.bids, t.refused + t.lapsed + t.sold);
	auc_auction_destroy(a);
}

/* Its time was by another clock: for as long as that is ahead, nobody is to wait. */
static void test_lien_clock_back(void **state)
{
	struct auc_auction *a =
		world_open("Prices=given\nEta=cpu=1\nLienSeconds=10", world_dir, NOW);
	struct auc_offer o = world_offer(a, "5 worker-time=v100=3s", NOW, true);

	(void)state;
	assert_true(o.accepted);
	auc_offer_clear(&o);
	/* Whoever waited for the lock comes with an older time. */
	assert_int_equal(auc_auction_tick(a, NOW - 1), 0);
	o = world_offer(a, "5 worker-time=v100=3s", NOW - 1, true);
	assert_true(o.accepted);
	auc_offer_clear(&o);
	assert_int_equal(auc_auction_tick(a, NOW - 10.5), 1);
	assert_int_equal(auc_auction_tick(a, NOW - 3600), 1);
	assert_int_equal(auc_auction_tick(a, NOW + 10), 0);
	auc_auction_destroy(a);
}

/* -- refunds -- */

static auc_money refund_of(struct auc_auction *a, uint32_t job, bool start, const char *why,
			   double now)
{
	auc_money before = world_totals(a).refunded, refund;
	struct auc_receipt r;
	char *receipt;

	if (start)
		assert_int_equal(auc_auction_start(a, job, NOW + SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_settle(a, job, why, now, &receipt, &err), AUC_OK);
	refund = world_totals(a).refunded - before;
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_int_equal(r.refund, refund);
	assert_string_equal(r.why, why);
	auc_receipt_clear(&r);
	free(receipt);
	return refund;
}

/* What the rule says (test_refund.c) is what is paid back, by the auction's own keys. */
static void test_refunds(void **state)
{
	static const struct {
		bool unused, start;
		const char *why;
		double after; /* slots after the start of the first */
		double share; /* of the payment, paid back; four slots were bought */
	} cases[] = {
		{false, false, "cancelled", -2, 0.75},
		{false, true, "completed", 1.2, 0},
		{true, true, "completed", 1.2, 0.5},
		{false, true, "node_fail", 3.5, 1},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_auction *a;
		struct auc_sale_view v;

		a = world_open(cases[i].unused ? "Prices=given\nEta=cpu=9\nRefundUnused=yes"
					       : "Prices=given\nEta=cpu=9\nRefundUnused=no",
			       world_dir, NOW);
		/* The second sale on edge1 pays for what the first has taken. */
		for (uint32_t job = 3; job <= 4; job++)
			world_sell(a,
				   "deadline:9999,4 epochs=4 minibatches=100 worker-time=v100=3s "
				   "upload=edge=50,edge1=0",
				   job, NOW);
		assert_int_equal(auc_auction_sale_of_job(a, 4, &v, &err), AUC_OK);
		assert_true(v.payment > AUC_CREDIT);
		assert_true(v.end - v.start == 4 * SLOT);
		auc_money refund = refund_of(a, 4, cases[i].start, cases[i].why,
					     v.start + cases[i].after * SLOT);

		/* of what is kept and what is paid back one is rounded down */
		if (refund != (auc_money)((double)v.payment * cases[i].share) &&
		    refund != v.payment - (auc_money)((double)v.payment * (1 - cases[i].share)))
			fail_msg("case %u: %lld of %lld paid back", i, (long long)refund,
				 (long long)v.payment);
		auc_sale_view_clear(&v);
		auc_auction_destroy(a);
		world_rmdir(world_dir);
	}
}

/* -- restarts and changes -- */

/* N nodes of one GPU, the first with room for the PSs; to be named and freed. */
static struct auc_server_spec *single_gpus(unsigned n)
{
	struct auc_server_spec *specs = calloc(n, sizeof(*specs));

	assert_non_null(specs);
	for (unsigned i = 0; i < n; i++) {
		specs[i] = world_servers[0];
		specs[i].capacity[2].value = 1;
	}
	specs[0].capacity[0].value = 10000;
	specs[0].capacity[1].value = 1e7;
	return specs;
}

/* A bid for all of N single GPUs at once. */
static const char *wide_bid(unsigned n)
{
	static char text[128];

	snprintf(text, sizeof(text), "500 chunks=%u minibatches=100 worker-time=v100=3s", n);
	return text;
}

/* An auction of the N SPECS, in which a schedule on all of them is no offer: why is in err. */
static struct auc_auction *refuse_all(const struct auc_server_spec *specs, unsigned n)
{
	struct auc_auction *a = world_create("Prices=given\nEta=cpu=1\nSlots=2");
	struct auc_bid bid;
	struct auc_offer o;

	assert_int_equal(auc_auction_set_servers(a, specs, n, NOW, &err), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, world_dir, NOW, NULL, &err), AUC_OK);
	bid = world_bid(a, wide_bid(n));
	assert_int_equal(auc_auction_bid(a, &bid, 1000, NOW, true, &o, &err), AUC_EFULL);
	return a;
}

/* A schedule over more nodes than one job can be made of is no offer: its record would not fit a
 * line of the spool, which would then never take anything again. */
static void test_too_many_parts(void **state)
{
	enum { N = AUC_PARTS_MAX + 50 };
	struct auc_server_spec *specs = single_gpus(N);
	struct auc_auction *a;

	(void)state;
	for (unsigned i = 0; i < N; i++)
		snprintf(specs[i].name, sizeof(specs[i].name), "n%u", i);
	a = refuse_all(specs, N);
	assert_string_equal(err.text, "the best schedule is on 1074 nodes, at most 1024 can be one "
				      "job; lower --chunks");
	assert_int_equal(world_totals(a).bids, 0);
	world_sell(a, wide_bid(AUC_PARTS_MAX), 1, NOW);
	world_commit(a);
	free(specs);
	auc_auction_destroy(a);
}

/* Names in which no letter follows from another cannot be made shorter: with as many nodes as one
 * job may have, the accounting would cut the receipt. */
static void test_receipt_too_long(void **state)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	enum { N = AUC_PARTS_MAX };
	struct auc_server_spec *specs = single_gpus(N);
	struct auc_auction *a;
	uint64_t random = 1;

	(void)state;
	for (unsigned i = 0; i < N; i++)
		for (unsigned k = 0; k < AUC_NAME_MAX - 1; k++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			specs[i].name[k] = letters[random >> 58];
		}
	a = refuse_all(specs, N);
	assert_non_null(strstr(err.text, "the receipt of the best schedule has "));
	assert_non_null(strstr(err.text, " bytes, the accounting keeps 65535; lower --chunks"));
	assert_int_equal(world_totals(a).sold, 0);
	/* Nothing of it is held, so that others have these nodes. */
	world_sell(a, wide_bid(N - 300), 1, NOW);
	world_commit(a);
	free(specs);
	auc_auction_destroy(a);
}

/* -- prices -- */

/* -- workers that vary -- */

/* -- what is not ready -- */

/* A block is whole nodes that nobody adds slots to; whose it is outlives a restart. */
static void test_block(void **state)
{
	static const char text[] = "300 gang=2:600:gpu=1 whole=yes block=yes,2002,@ml";
	struct auc_auction *a = world_open("Prices=none\nOverrun=extend", world_dir, NOW);
	char partition[AUC_NAME_MAX], *receipt = NULL;
	struct auc_sale_view view;
	struct auc_receipt r;
	struct auc_offer o = world_offer(a, text, NOW, true);

	(void)state;
	assert_true(o.accepted);
	assert_non_null(strstr(o.message, "auction: offered: a block of 2 whole nodes, edge1, "
					  "edge2, all of it: cpu="));
	assert_true(o.parts[0].block && o.parts[0].whole);
	assert_int_equal(auc_receipt_parse(o.receipt, &r, &err), AUC_OK);
	assert_true(r.block);
	auc_receipt_clear(&r);
	assert_false(auc_auction_has_block(a, 7, partition));
	assert_int_equal(auc_auction_confirm(a, o.sale, 7, &receipt, &err), AUC_OK);
	assert_null(strstr(receipt, "2002"));
	assert_true(auc_auction_has_block(a, 7, partition));
	assert_string_equal(partition, "edge");
	assert_false(auc_auction_has_block(a, 0, partition));
	world_commit(a);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
	a = world_open("Prices=none\nOverrun=extend", world_dir, NOW);
	assert_int_equal(auc_auction_sale_of_job(a, 7, &view, &err), AUC_OK);
	assert_string_equal(view.block_users, "2002,@ml");
	assert_true(view.parts[0].block && !view.extend);
	auc_sale_view_clear(&view);
	assert_int_equal(auc_auction_start(a, 7, NOW + SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_extend(a, 7, NULL, &err), AUC_ESTATE);
	/* Half of the time of one of its nodes it did not have; what is said last counts. */
	assert_int_equal(auc_auction_miss(a, 7, 1, &err), AUC_OK);
	assert_int_equal(auc_auction_miss(a, 7, 0.5, &err), AUC_OK);
	assert_int_equal(auc_auction_miss(a, 8, 1, &err), AUC_ENOENT);
	world_commit(a);
	auc_auction_destroy(a);
	a = world_open("Prices=none\nOverrun=extend", world_dir, NOW);
	assert_int_equal(auc_auction_sale_of_job(a, 7, &view, &err), AUC_OK);
	assert_true(view.missing == 1);
	auc_sale_view_clear(&view);
	assert_int_equal(auc_auction_settle(a, 7, "cancelled", NOW + 2 * SLOT, NULL, &err), AUC_OK);
	assert_false(auc_auction_has_block(a, 7, partition));
	/* Without names it is its owner's; a gang is no block. */
	world_sell(a, "300 gang=1:600:gpu=1 whole=yes block=yes", 8, NOW);
	assert_int_equal(auc_auction_sale_of_job(a, 8, &view, &err), AUC_OK);
	assert_string_equal(view.block_users, "");
	free(receipt);
	assert_int_equal(auc_auction_confirm(a, view.sale, 8, &receipt, &err), AUC_OK);
	auc_sale_view_clear(&view);
	world_sell(a, "300 gang=1:600:gpu=1 whole=yes", 9, NOW);
	assert_false(auc_auction_has_block(a, 9, partition));
	assert_int_equal(auc_auction_sale_of_job(a, 9, &view, &err), AUC_OK);
	assert_true(!view.block_users && !view.parts[0].block && view.extend);
	auc_sale_view_clear(&view);
	/* Its receipt is enough to sell it again. */
	assert_int_equal(auc_auction_settle(a, 8, "void", NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_settle(a, 9, "void", NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_adopt(a, receipt, 8, 1000, AUC_SALE_SOLD, &err), AUC_OK);
	assert_true(auc_auction_has_block(a, 8, partition));
	free(receipt);
	auc_auction_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_block, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_one_life, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_hints_at_random, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_hints_are_true, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_worthless, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_least_deadline, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_activity, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_room, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_value_is_exact, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_capacity_messages, world_setup,
						world_teardown),
		cmocka_unit_test_setup_teardown(test_quote_sells_nothing, world_setup,
						world_teardown),
		cmocka_unit_test_setup_teardown(test_lien_lapses, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_lien_clock_back, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_refunds, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_too_many_parts, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_receipt_too_long, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
