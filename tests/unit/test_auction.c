/* test_auction.c - the facade: one bid's life, messages and their hints, refunds, restarts,
 * changing nodes. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "auction-private.h"
#include "text.h"
#include "world.h"

static char dir[64];
static struct auc_err err;

static int setup(void **state)
{
	(void)state;
	world_mkdir(dir);
	setenv("TZ", "UTC", 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	world_rmdir(dir);
	return 0;
}

static struct auc_offer offer_of(struct auc_auction *a, const char *text, double now, bool hold)
{
	struct auc_bid bid = world_bid(a, text);
	struct auc_offer offer;

	if (auc_auction_bid(a, &bid, 1000, now, hold, &offer, &err) != AUC_OK)
		fail_msg("%s: %s", text, err.text);
	return offer;
}

static void commit(struct auc_auction *a)
{
	if (auc_auction_commit(a, &err) != AUC_OK)
		fail_msg("%s", err.text);
}

/* Sells to JOB what TEXT asks for. */
static void sell(struct auc_auction *a, const char *text, uint32_t job, double now)
{
	struct auc_offer o = offer_of(a, text, now, true);

	if (!o.accepted)
		fail_msg("%s", o.message);
	assert_int_equal(auc_auction_confirm(a, o.sale, job, NULL, &err), AUC_OK);
	auc_offer_clear(&o);
}

static struct auc_totals totals_of(struct auc_auction *a)
{
	struct auc_totals t;

	auc_auction_totals(a, &t);
	return t;
}

static void test_one_life(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", dir, NOW);
	struct auc_sale_view view;
	struct auc_totals t;
	struct auc_receipt r;
	char *receipt = NULL;

	(void)state;
	/* 2 epochs x 1 chunk x 100 mini-batches x 3 s = 600 s = 2 slots on one worker */
	struct auc_offer o = offer_of(
		a, "300 epochs=2 minibatches=100 worker-time=v100=3s ps-time=ps.m=0", NOW, true);
	assert_true(o.accepted);
	assert_string_equal(
		o.message,
		"auction: accepted: 1 x v100 on edge1 + 1 x ps.m on edge1, slots 1001 to 1002 "
		"(start 1970-01-04T11:25:00, end 1970-01-04T11:35:00), pays 0.000000 of value "
		"300.000000");
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
	commit(a);
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
	t = totals_of(a);
	assert_int_equal(t.bids, 1);
	assert_int_equal(t.sold, 1);
	assert_int_equal(t.settled, 1);
	commit(a);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* -- refusals and what they say would be accepted -- */

/* Sells one GPU of every node for all of a horizon of 100 slots, so that nothing is free of charge.
 */
static void load_market(struct auc_auction *a)
{
	char text[256];
	uint32_t job = 100;

	for (unsigned i = 0; i < world_nservers; i++) {
		const struct auc_server_spec *s = &world_servers[i];

		snprintf(text, sizeof(text),
			 "90000 epochs=99 minibatches=100 worker-time=%s=3s ps-time=ps.m=0 "
			 "upload=%s=1000,%s=0",
			 strcmp(s->partition, "edge") ? "t4" : "v100", s->partition, s->name);
		sell(a, text, job++, NOW);
	}
}

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
		o = offer_of(a, again, NOW, false);
		if (!o.accepted)
			fail_msg("hint '%s%s' is not true: %s", option, value, o.message);
		auc_offer_clear(&o);
		free(copy);
		tried++;
	}
	return tried;
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
		 "\nauction: would be accepted: a value higher by ", 2},
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
		{"bid=500 epochs=2000 chunks=2 minibatches=100 worker-time=v100=3s "
		 "ps-time=ps.m=0.1s",
		 "refused: no schedule is possible at any price: it needs at least 2067 slots, and "
		 "from its data's arrival to the "
		 "end of the horizon there are 99\nauction: would be accepted: at most ",
		 1},
	};
	struct auc_auction *a =
		world_open("Prices=given\nEta=gpu:v100=90,gpu:t4=90,cpu=40\nSlots=100", dir, NOW);

	(void)state;
	a->hint_seconds = 1e9; /* also under a sanitizer on a busy machine */
	load_market(a);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_offer o = offer_of(a, cases[i].bid, NOW, false);
		unsigned hints;

		if (o.accepted || !strstr(o.message, cases[i].line))
			fail_msg("case %u: %s\nwanted: %s", i, o.message, cases[i].line);
		hints = try_hints(a, cases[i].bid, o.message);
		if (hints < cases[i].hints)
			fail_msg("case %u: %u hints: %s", i, hints, o.message);
		if (getenv("SHOW"))
			print_message("%s\n", o.message);
		auc_offer_clear(&o);
	}
	auc_auction_destroy(a);
}

/* "A value higher by X" is the least: X is enough, and a hair less is not. */
static void test_value_is_exact(void **state)
{
	struct auc_auction *a =
		world_open("Prices=given\nEta=gpu:v100=90,cpu=40\nSlots=100", dir, NOW);
	const char *rest =
		"epochs=20 chunks=4 minibatches=100 worker-time=v100=3s,t4=9s ps-time=ps.m=0.1s";
	char text[512];
	struct auc_offer o;
	double higher;

	(void)state;
	load_market(a);
	snprintf(text, sizeof(text), "bid=0.5 %s", rest);
	o = offer_of(a, text, NOW, false);
	assert_int_equal(o.reason, AUC_REASON_PAYOFF);
	assert_true(o.best_payoff < 0);
	assert_int_equal(sscanf(strstr(o.message, "higher by "), "higher by %lf", &higher), 1);
	auc_offer_clear(&o);
	snprintf(text, sizeof(text), "bid=%.6f %s", 0.5 + higher, rest);
	o = offer_of(a, text, NOW, false);
	assert_true(o.accepted && o.payment <= o.value);
	auc_offer_clear(&o);
	snprintf(text, sizeof(text), "bid=%.6f %s", 0.5 + higher - 3e-6, rest);
	o = offer_of(a, text, NOW, false);
	assert_false(o.accepted);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

static void test_capacity_messages(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1\nSlots=10\nWorkerType=huge "
					   "TRES=cpu=100,gpu:v100=1 Bandwidth=1",
					   dir, NOW);
	struct auc_offer o;

	(void)state;
	o = offer_of(a, "5 worker-time=huge=1s", NOW, false);
	assert_int_equal(o.reason, AUC_REASON_CAPACITY);
	assert_string_equal(o.message, "auction: refused: no schedule is possible at any price: no "
				       "node it may use can hold "
				       "one worker (huge: cpu=100 gpu:v100=1)");
	auc_offer_clear(&o);
	for (uint32_t job = 1; job <= 8; job++)
		sell(a, "5 epochs=9 minibatches=100 worker-time=v100=3s", job, NOW);
	o = offer_of(a, "5 epochs=2 minibatches=100 worker-time=v100=3s", NOW, false);
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
	struct auc_auction *a = world_open("Prices=learned", dir, NOW);
	struct json_object *before, *after;
	struct auc_offer o;

	(void)state;
	before = auc_auction_status(a, NOW);
	for (int i = 0; i < 20; i++) {
		o = offer_of(a, "900 epochs=4 chunks=8 minibatches=100 worker-time=v100=3s", NOW,
			     false);
		assert_true(o.accepted);
		assert_null(o.receipt);
		assert_string_equal(o.sale, "");
		assert_non_null(strstr(o.message, "auction: would be accepted: "));
		auc_offer_clear(&o);
	}
	after = auc_auction_status(a, NOW);
	assert_string_equal(json_object_to_json_string(before), json_object_to_json_string(after));
	json_object_put(before);
	json_object_put(after);
	auc_auction_destroy(a);
}

static void test_lien_lapses(void **state)
{
	struct auc_auction *a =
		world_open("Prices=given\nEta=cpu=1\nSlots=10\nLienSeconds=10", dir, NOW);
	struct auc_offer o[8], more;
	struct auc_sale_view *views;
	unsigned n;

	(void)state;
	for (int i = 0; i < 8; i++) {
		o[i] = offer_of(a, "5 epochs=9 minibatches=100 worker-time=v100=3s", NOW, true);
		assert_true(o[i].accepted);
	}
	more = offer_of(a, "5 minibatches=100 worker-time=v100=3s", NOW + 9, true);
	assert_int_equal(more.reason, AUC_REASON_CAPACITY);
	auc_offer_clear(&more);
	assert_int_equal(auc_auction_tick(a, NOW + 9), 0);
	assert_int_equal(auc_auction_sales(a, &views, &n, &err), AUC_OK);
	assert_int_equal(n, 8);
	while (n)
		auc_sale_view_clear(&views[--n]);
	free(views);
	assert_int_equal(auc_auction_drop(a, o[0].sale, &err), AUC_OK);
	assert_int_equal(auc_auction_tick(a, NOW + 9.9), 0);
	more = offer_of(a, "5 minibatches=100 worker-time=v100=3s", NOW + 10, false);
	assert_true(more.accepted);
	auc_offer_clear(&more);
	assert_int_equal(totals_of(a).lapsed, 8);
	assert_int_equal(auc_auction_tick(a, NOW + 10), 0);
	assert_int_equal(auc_auction_confirm(a, o[1].sale, 5, NULL, &err), AUC_ENOENT);
	/* The job was there after all: its receipt sells it again as it stood, once. */
	assert_int_equal(auc_auction_adopt(a, o[1].receipt, 5, 1000, AUC_SALE_SOLD, &err), AUC_OK);
	assert_int_equal(auc_auction_adopt(a, o[1].receipt, 5, 1000, AUC_SALE_SOLD, &err),
			 AUC_EEXIST);
	assert_true(auc_auction_owns(a, 5));
	for (int i = 0; i < 8; i++)
		auc_offer_clear(&o[i]);
	struct auc_totals t = totals_of(a);

	assert_int_equal(t.bids, t.refused + t.lapsed + t.sold);
	auc_auction_destroy(a);
}

/* -- refunds -- */

static auc_money refund_of(struct auc_auction *a, uint32_t job, bool start, const char *why,
			   double now)
{
	auc_money before = totals_of(a).refunded, refund;
	struct auc_receipt r;
	char *receipt;

	if (start)
		assert_int_equal(auc_auction_start(a, job, NOW + SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_settle(a, job, why, now, &receipt, &err), AUC_OK);
	refund = totals_of(a).refunded - before;
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_int_equal(r.refund, refund);
	assert_string_equal(r.why, why);
	auc_receipt_clear(&r);
	free(receipt);
	return refund;
}

static void test_refunds(void **state)
{
	static const struct {
		bool unused, start;
		const char *why;
		double after; /* slots after the start of the first */
		double share; /* of the payment, paid back; four slots were bought */
	} cases[] = {
		{false, false, "cancelled", -0.5, 1}, {false, true, "completed", 1.2, 0},
		{false, true, "node_fail", 3.5, 1},   {false, true, "lost", 3.5, 1},
		{true, true, "completed", 1.2, 0.5},  {true, true, "completed", 2, 0.5},
		{true, true, "timeout", 4, 0},        {true, true, "cancelled", 0.001, 0.75},
		{true, false, "cancelled", 2.5, 1},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_auction *a;
		struct auc_sale_view v;

		a = world_open(cases[i].unused ? "Prices=given\nEta=cpu=9\nRefundUnused=yes"
					       : "Prices=given\nEta=cpu=9",
			       dir, NOW);
		/* The second sale on edge1 pays for what the first has taken. */
		for (uint32_t job = 3; job <= 4; job++)
			sell(a,
			     "deadline:9999,4 epochs=4 minibatches=100 worker-time=v100=3s "
			     "upload=edge=50,edge1=0",
			     job, NOW);
		assert_int_equal(auc_auction_sale_of_job(a, 4, &v, &err), AUC_OK);
		assert_true(v.payment > AUC_CREDIT);
		assert_true(v.end - v.start == 4 * SLOT);
		auc_money refund = refund_of(a, 4, cases[i].start, cases[i].why,
					     v.start + cases[i].after * SLOT);

		if (refund != (auc_money)((double)v.payment * cases[i].share))
			fail_msg("case %u: %lld of %lld paid back", i, (long long)refund,
				 (long long)v.payment);
		auc_sale_view_clear(&v);
		auc_auction_destroy(a);
		world_rmdir(dir);
	}
}

/* -- restarts and changes -- */

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
	struct auc_auction *a = world_open(conf, dir, NOW);
	char *before, *after;

	(void)state;
	load_market(a);
	assert_int_equal(auc_auction_start(a, 100, NOW + SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_settle(a, 101, "cancelled", NOW + 5, NULL, &err), AUC_OK);
	for (int i = 0; i < 30; i++) {
		char bid[128];
		struct auc_offer o;

		snprintf(bid, sizeof(bid), "bid=%d.25 epochs=900 worker-time=v100=3s", 7 * i);
		o = offer_of(a, bid, NOW, true);
		if (o.accepted)
			auc_auction_drop(a, o.sale, NULL);
		auc_offer_clear(&o);
	}
	commit(a);
	auc_auction_tick(a, NOW); /* the prices that recovery will find */
	before = status_of(a, NOW);
	auc_auction_destroy(a);
	a = world_open(conf, dir, NOW);
	after = status_of(a, NOW);
	assert_string_equal(before, after);
	free(before);
	free(after);
	/* The events that are not committed are lost, and nothing else. */
	assert_int_equal(auc_auction_settle(a, 102, "cancelled", NOW + 5, NULL, &err), AUC_OK);
	auc_auction_destroy(a);
	a = world_open(conf, dir, NOW);
	assert_true(auc_auction_owns(a, 102));
	auc_auction_destroy(a);
}

/* Enough commits for some snapshots. */
static void test_snapshots(void **state)
{
	const char *conf = "Prices=learned\nHistoryBids=50\nEta=cpu=2\nSlots=100";
	struct auc_auction *a = world_open(conf, dir, NOW);
	char *before, *after, path[128];
	FILE *f;
	long size;

	(void)state;
	load_market(a);
	for (uint32_t i = 0; i < 1500; i++) {
		sell(a, "bid=9000 minibatches=10 worker-time=t4=3s", 1000 + i, NOW);
		assert_int_equal(auc_auction_settle(a, 1000 + i, "cancelled", NOW, NULL, &err),
				 AUC_OK);
		if (i % 10 == 9)
			commit(a);
	}
	commit(a);
	auc_auction_tick(a, NOW); /* the prices that recovery will find */
	before = status_of(a, NOW);
	auc_auction_destroy(a);
	snprintf(path, sizeof(path), "%s/journal", dir);
	f = fopen(path, "r");
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	fclose(f);
	assert_in_range(size, 1, 1100000);
	snprintf(path, sizeof(path), "%s/state", dir);
	f = fopen(path, "r");
	fseek(f, 0, SEEK_END);
	assert_in_range(ftell(f), 5000, 200000);
	fclose(f);
	a = world_open(conf, dir, NOW);
	after = status_of(a, NOW);
	assert_string_equal(before, after);
	free(before);
	free(after);
	auc_auction_destroy(a);
}

/* Nodes go, come back, shrink; sales stay, what is gone sells nothing new. */
static void test_nodes_change(void **state)
{
	struct auc_server_spec specs[8];
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1", dir, NOW);
	struct auc_sale_view v;
	struct auc_offer o;

	(void)state;
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	sell(a, "5 epochs=4 chunks=2 minibatches=100 worker-time=v100=3s gradient-mb=0", 1, NOW);
	assert_int_equal(auc_auction_sale_of_job(a, 1, &v, &err), AUC_OK);
	assert_int_equal(v.nparts, 1);
	assert_string_equal(v.parts[0].server, "edge1");
	auc_sale_view_clear(&v);

	/* Down: the sale stays booked, nothing new goes there, nor to an idle one that is down. */
	specs[0].down = specs[1].down = true;
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err), AUC_OK);
	o = offer_of(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_string_equal(o.parts[0].server, "edge3");
	auc_offer_clear(&o);
	specs[1].down = false;

	/* Gone: the sale does not fit, and is reported, but still there. */
	assert_int_equal(auc_auction_set_servers(a, specs + 1, world_nservers - 1, NOW, &err),
			 AUC_EFULL);
	assert_non_null(strstr(err.text, "1 sales no longer fit: sale "));
	assert_int_equal(auc_auction_sale_of_job(a, 1, &v, &err), AUC_OK);
	assert_string_equal(v.parts[0].server, "edge1");
	assert_string_equal(v.parts[0].partition, "");
	auc_sale_view_clear(&v);
	o = offer_of(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_string_equal(o.parts[0].server, "edge2");
	auc_offer_clear(&o);
	commit(a);
	auc_auction_destroy(a);

	/* So it is after a restart without the node. */
	a = world_create("Prices=given\nEta=cpu=1");
	assert_int_equal(auc_auction_set_servers(a, specs + 1, world_nservers - 1, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_EFULL);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	assert_true(auc_auction_owns(a, 1));

	/* Back again: booked again. */
	specs[0].down = false;
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err), AUC_OK);
	o = offer_of(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_string_equal(o.parts[0].server, "edge2"); /* edge1's two GPUs are sold */
	auc_offer_clear(&o);
	assert_int_equal(auc_auction_settle(a, 1, "lost", NOW, NULL, &err), AUC_OK);
	o = offer_of(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_string_equal(o.parts[0].server, "edge1");
	auc_offer_clear(&o);

	strcpy(specs[1].partition, "nowhere");
	assert_int_equal(auc_auction_set_servers(a, specs, world_nservers, NOW, &err), AUC_EINVAL);
	assert_string_equal(err.text, "node edge2: partition nowhere is not one of auction.conf");
	assert_int_equal(auc_auction_set_servers(a, specs, 1, NOW, &err), AUC_OK);
	auc_auction_destroy(a);
}

static void test_reconfigure(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=4\nSlots=50", dir, NOW);
	const struct auc_conf *old = auc_auction_conf(a);
	struct auc_bid bid = world_bid(a, "5 epochs=4 minibatches=100 worker-time=v100=3s");
	struct auc_conf *conf;
	struct auc_offer o;
	struct auc_sale_view v;

	(void)state;
	sell(a, "5 epochs=40 minibatches=100 worker-time=v100=3s", 1, NOW);
	assert_int_equal(auc_auction_reconfigure(
				 a, world_conf("Prices=given\nEta=cpu=1\nSlots=50\nSlotSeconds=60"),
				 NOW, &err),
			 AUC_ESTATE);
	assert_non_null(strstr(err.text, "was sold in slots of 300 s, but SlotSeconds=60 now"));
	assert_ptr_equal(auc_auction_conf(a), old);
	assert_true(auc_auction_owns(a, 1));

	/* A shorter horizon than the sale, and its type is gone from the file. */
	conf = world_conf("Prices=given\nEta=cpu=1\nSlots=5");
	strcpy(conf->worker_types[0].name, "other");
	assert_int_equal(auc_auction_reconfigure(a, conf, NOW, &err), AUC_OK);
	assert_true(old->slots == 50); /* still readable */
	assert_int_equal(auc_auction_sale_of_job(a, 1, &v, &err), AUC_OK);
	assert_int_equal(v.nparts, 1);
	assert_true(v.end - v.start == 40 * SLOT);
	auc_sale_view_clear(&v);
	assert_int_equal(auc_auction_tick(a, NOW + 20 * SLOT), 0);
	/* The GPU stays sold to the end of its window: the other one of edge1 is free, and then
	 * edge2. */
	for (int i = 0; i < 2; i++) {
		o = offer_of(a, "5 epochs=4 minibatches=100 worker-time=other=3s", NOW + 20 * SLOT,
			     true);
		assert_true(o.accepted);
		assert_string_equal(o.parts[0].server, i ? "edge2" : "edge1");
		auc_offer_clear(&o);
	}
	/* The old type's name is of no use to new bids, once parsed against the new configuration;
	 * and old bids end well. */
	(void)auc_auction_bid(a, &bid, 1, NOW, false, &o, &err);
	auc_offer_clear(&o);
	assert_int_equal(auc_auction_settle(a, 1, "lost", NOW + 20 * SLOT, NULL, &err), AUC_OK);
	auc_auction_destroy(a);
}

/* The amount of TRES in the first part of JOB's sale. */
static double sold_amount(struct auc_auction *a, uint32_t job, const char *tres)
{
	const struct auc_named *found;
	struct auc_sale_view v;
	double value;

	assert_int_equal(auc_auction_sale_of_job(a, job, &v, &err), AUC_OK);
	found = auc_find_named(v.parts[0].tres, v.parts[0].ntres, tres);
	value = found ? found->value : 0;
	auc_sale_view_clear(&v);
	return value;
}

/* A type that takes something else from now on changes nothing of what was sold of it. */
static void test_types_change(void **state)
{
	static const char globals[] = "Prices=given\nEta=cpu=4";
	static const char bid[] = "5 epochs=4 minibatches=100 worker-time=v100=3s";
	struct auc_auction *a = world_open(globals, dir, NOW);
	struct auc_conf *conf;
	struct auc_offer o;
	struct auc_receipt r;
	char *receipt;

	(void)state;
	sell(a, bid, 1, NOW);
	assert_true(sold_amount(a, 1, "cpu") == 4 + 2);
	conf = world_conf(globals);
	conf->worker_types[0].tres[0].value = 9;
	conf->ps_types[0].tres[0].value = 1;
	assert_int_equal(auc_auction_reconfigure(a, conf, NOW, &err), AUC_OK);
	assert_true(sold_amount(a, 1, "cpu") == 4 + 2);
	assert_true(auc_market_used(a->market, 0, (unsigned)auc_market_find_tres(a->market, "cpu"),
				    1001) == 4 + 2);
	/* New sales are of the new type, those of the old one start as they were sold. */
	sell(a, bid, 2, NOW);
	assert_true(sold_amount(a, 2, "cpu") == 9 + 1);
	assert_int_equal(auc_auction_start(a, 1, NOW + SLOT, &receipt, &err), AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_string_equal(r.worker_type, "v100");
	assert_true(auc_find_named(r.worker_tres, r.nworker_tres, "cpu")->value == 4);
	auc_receipt_clear(&r);
	commit(a);
	auc_auction_destroy(a);

	/* The same after a restart; a receipt of the old type is still good while it is known. */
	a = world_create(globals);
	conf = world_conf(globals);
	conf->worker_types[0].tres[0].value = 9;
	conf->ps_types[0].tres[0].value = 1;
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_reconfigure(a, conf, NOW, &err), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_OK);
	assert_true(sold_amount(a, 1, "cpu") == 4 + 2);
	assert_true(sold_amount(a, 2, "cpu") == 9 + 1);
	assert_int_equal(auc_auction_settle(a, 1, "lost", NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_adopt(a, receipt, 3, 1000, AUC_SALE_RUNNING, &err), AUC_OK);
	assert_true(sold_amount(a, 3, "cpu") == 4 + 2);

	/* Without a sale it is forgotten, and what is not known cannot be sold again. */
	assert_int_equal(auc_auction_settle(a, 3, "lost", NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers - 1, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_adopt(a, receipt, 3, 1000, AUC_SALE_RUNNING, &err),
			 AUC_ENOENT);
	assert_string_equal(err.text, "receipt: worker_type: 'v100' was another one when it was "
				      "sold");
	o = offer_of(a, bid, NOW, false);
	assert_true(o.accepted);
	auc_offer_clear(&o);
	free(receipt);
	auc_auction_destroy(a);
}

/* A clock that was ahead and is set right: what is sold stays sold, and the present is for sale
 * again. */
static void test_clock_set_back(void **state)
{
	static const char bid[] =
		"5 epochs=4 minibatches=100 worker-time=v100=3s upload=edge=99,edge1=0";
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1\nSlots=20", dir, NOW);
	struct auc_offer o;

	(void)state;
	sell(a, bid, 1, NOW);
	sell(a, bid, 2, NOW); /* edge1's second GPU */
	auc_auction_tick(a, NOW + 1e6 * SLOT);
	auc_auction_tick(a, NOW);
	o = offer_of(a, bid, NOW, false);
	assert_true(o.accepted);
	/* Slots 1001 to 1004 are sold. */
	assert_int_equal(o.plan.start, 1005);
	auc_offer_clear(&o);
	assert_true(auc_auction_owns(a, 1) && auc_auction_owns(a, 2));
	/* A second or so is nothing: slots that have begun do not come back. */
	auc_auction_tick(a, NOW + SLOT);
	auc_auction_tick(a, NOW);
	assert_int_equal(auc_market_first(a->market), 1001);
	auc_auction_destroy(a);
}

/* A schedule over more nodes than one job can be made of is no offer: its record would not fit a
 * line of the spool, which would then never take anything again. */
static void test_too_many_parts(void **state)
{
	enum { N = AUC_PARTS_MAX + 50 };
	struct auc_auction *a = world_create("Prices=given\nEta=cpu=1\nSlots=2");
	struct auc_server_spec *specs = calloc(N, sizeof(*specs));
	struct auc_bid bid;
	struct auc_offer o;
	char text[128];

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		specs[i] = world_servers[0];
		snprintf(specs[i].name, sizeof(specs[i].name), "n%u", i);
		specs[i].capacity[2].value = 1;
	}
	specs[0].capacity[0].value = 10000; /* room for the PSs */
	specs[0].capacity[1].value = 1e7;
	assert_int_equal(auc_auction_set_servers(a, specs, N, NOW, &err), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_OK);
	snprintf(text, sizeof(text), "500 chunks=%d minibatches=100 worker-time=v100=3s", N);
	bid = world_bid(a, text);
	assert_int_equal(auc_auction_bid(a, &bid, 1000, NOW, true, &o, &err), AUC_EFULL);
	assert_string_equal(err.text, "the best schedule is on 1074 nodes, at most 1024 can be one "
				      "job; lower --chunks");
	assert_int_equal(totals_of(a).bids, 0);
	snprintf(text, sizeof(text), "500 chunks=%d minibatches=100 worker-time=v100=3s",
		 AUC_PARTS_MAX);
	sell(a, text, 1, NOW);
	commit(a);
	free(specs);
	auc_auction_destroy(a);
}

/* -- prices -- */

static double gpu_eta(struct auc_auction *a)
{
	struct json_object *s = auc_auction_status(a, NOW), *eta, *v;
	double value;

	assert_true(json_object_object_get_ex(s, "eta", &eta) &&
		    json_object_object_get_ex(eta, "gpu:v100", &v));
	value = json_object_get_double(v);
	json_object_put(s);
	return value;
}

static void test_learned_prices(void **state)
{
	struct auc_auction *a =
		world_open("Prices=learned\nHistoryBids=3\nEta=gpu:v100=5", dir, NOW);
	struct auc_offer o, again;

	(void)state;
	/* The first bids pay nothing, however high: the price does not know them. */
	sell(a, "1000 epochs=4 minibatches=100 worker-time=v100=3s", 1, NOW);
	assert_true(gpu_eta(a) == 5); /* and it changes at the next tick only */
	auc_auction_tick(a, NOW);
	/* 1000 for one GPU over 4 slots: 250 a unit and slot, plus 1 */
	assert_true(gpu_eta(a) == 251);
	/* The next one on the same node does, and the value it names does not change that. */
	o = offer_of(a,
		     "deadline:1000,4 epochs=4 minibatches=100 worker-time=v100=3s "
		     "upload=edge=50,edge1=0",
		     NOW, false);
	again = offer_of(a,
			 "deadline:9000,4 epochs=4 minibatches=100 worker-time=v100=3s "
			 "upload=edge=50,edge1=0",
			 NOW, false);
	assert_true(o.accepted && again.accepted);
	if (!(o.payment > 0 && o.payment == again.payment))
		fail_msg("%s\n%s", o.message, again.message);
	auc_offer_clear(&o);
	auc_offer_clear(&again);
	/* One that is not worth the price is told it, though a free schedule after its deadline is
	 * the best. */
	o = offer_of(a,
		     "deadline:0.01,4 epochs=4 minibatches=100 worker-time=v100=3s "
		     "upload=edge=50,edge1=0",
		     NOW, false);
	assert_false(o.accepted);
	assert_true(o.plan.value == 0 && o.plan.cost == 0);
	assert_non_null(strstr(o.message, "a higher value before it, as --bid=deadline:"));
	auc_offer_clear(&o);
	/* Three smaller bids later the first is forgotten. */
	for (int i = 0; i < 3; i++) {
		o = offer_of(a, "40 epochs=4 minibatches=100 worker-time=v100=3s", NOW, true);
		auc_offer_clear(&o);
	}
	auc_auction_tick(a, NOW);
	assert_true(gpu_eta(a) == 11);
	auc_auction_destroy(a);
}

/* -- workers that vary -- */

/* Roles=: PSs on edge servers and workers in the cloud only, also after nodes went and came back.
 */
static void test_roles(void **state)
{
	static const char text[] = "Policy=oasis\nPrices=none\n"
				   "PartitionName=edge Roles=ps\nPartitionName=cloud Roles=worker\n"
				   "WorkerType=v100 TRES=cpu=4,gpu:v100=1\n"
				   "WorkerType=t4 TRES=cpu=4,gpu:t4=1\nPSType=ps.m TRES=cpu=2\n";
	static const char bid[] = "300 epochs=2 chunks=1 minibatches=100 worker-time=t4=3s";
	struct auc_server_spec specs[6];
	struct auc_auction *a;
	struct auc_conf *conf;
	struct auc_offer o;

	(void)state;
	assert_int_equal(auc_conf_parse(text, strlen(text), "auction.conf", &conf, &err), AUC_OK);
	assert_int_equal(auc_auction_create(conf, &a, &err), AUC_OK);
	assert_int_equal(world_nservers, 6);
	memcpy(specs, world_servers, sizeof(specs));
	specs[4].down = true;
	assert_int_equal(auc_auction_set_servers(a, specs, 6, NOW, &err), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	o = offer_of(a, bid, NOW, false);
	assert_non_null(strstr(o.message, "1 x t4 on big2 + 1 x ps.m on edge1"));
	auc_offer_clear(&o);
	specs[4].down = false;
	specs[0].down = true;
	assert_int_equal(auc_auction_set_servers(a, specs, 6, NOW, &err), AUC_OK);
	o = offer_of(a, bid, NOW, false);
	assert_non_null(strstr(o.message, "1 x t4 on big1 + 1 x ps.m on edge2"));
	auc_offer_clear(&o);
	o = offer_of(a, "300 epochs=2 chunks=1 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_false(o.accepted);
	assert_non_null(strstr(o.message, "no node it may use can hold one worker (v100:"));
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* Policy oasis with its own kind of prices: what is sold around a job makes it change and pause,
 * and everything that a sale goes through knows of all its runs. */
static void test_oasis(void **state)
{
	static const char globals[] = "Policy=oasis\nPrices=given\nRefundUnused=yes\n"
				      "Lower=gpu:v100=1,gpu:t4=1\nUpper=gpu:v100=100,gpu:t4=100";
	static const char bid[] =
		"linear:1000,1 epochs=9 chunks=2 minibatches=100 worker-time=v100=3s "
		"upload=edge=50,edge1=0";
	struct auc_auction *a = world_open(globals, dir, NOW);
	struct auc_sale_view before, after;
	struct json_object *status, *o;
	struct auc_receipt r;
	struct auc_offer of;
	char *receipt = NULL;
	auc_money payment;

	(void)state;
	/* Slots 1003 and 1004 of edge1 are sold out. */
	sell(a,
	     "9000 epochs=4 minibatches=100 chunks=2 worker-time=v100=1.5s upload=edge=50,edge1=2",
	     1, NOW);
	of = offer_of(a, bid, NOW, true);
	if (!of.accepted)
		fail_msg("%s", of.message);
	/* 18 worker-slots on the two GPUs of edge1: 1001, 1002, 1005 to 1011 */
	assert_int_equal(of.plan.nruns, 2);
	assert_true(of.plan.start == 1001 && of.plan.runs[0].to == 1002);
	assert_true(of.plan.runs[1].from == 1005 && of.plan.completion == 1012);
	assert_non_null(
		strstr(of.message,
		       "at first, 2 layouts of 2 workers, 2 slots of pause, slots 1001 to 1011"));
	assert_int_equal(of.payment, auc_money_from(18)); /* idle GPUs: L is 1 */
	payment = of.payment;
	assert_int_equal(auc_receipt_parse(of.receipt, &r, &err), AUC_OK);
	assert_string_equal(r.policy, "oasis");
	auc_receipt_clear(&r);
	assert_int_equal(auc_auction_confirm(a, of.sale, 2, &receipt, &err), AUC_OK);
	auc_offer_clear(&of);
	commit(a);
	assert_int_equal(auc_auction_sale_of_job(a, 2, &before, &err), AUC_OK);
	/* what the pause leaves free is free, what the runs take is not */
	of = offer_of(a, "1 minibatches=100 worker-time=v100=3s upload=edge=50,edge1=0", NOW,
		      false);
	assert_false(of.accepted);
	assert_non_null(strstr(of.message, "would cost"));
	auc_offer_clear(&of);
	status = auc_auction_status(a, NOW);
	assert_true(json_object_object_get_ex(status, "bounds", &o) &&
		    json_object_object_get_ex(o, "gpu:v100", &o) &&
		    json_object_object_get_ex(o, "worker", &o));
	assert_true(fabs(json_object_get_double(json_object_array_get_idx(o, 1)) - 100) < 1e-9);
	json_object_put(status);
	auc_auction_destroy(a);

	/* it survives a restart, and a spool that knows nothing of it */
	a = world_open(globals, dir, NOW + SLOT);
	assert_int_equal(auc_auction_sale_of_job(a, 2, &after, &err), AUC_OK);
	assert_int_equal(before.nparts, after.nparts);
	assert_memory_equal(before.parts, after.parts, after.nparts * sizeof(*after.parts));
	auc_sale_view_clear(&after);
	auc_auction_destroy(a);
	world_rmdir(dir);
	world_mkdir(dir);
	a = world_open(globals, dir, NOW + SLOT);
	assert_int_equal(auc_auction_adopt(a, receipt, 2, 7, AUC_SALE_SOLD, &err), AUC_OK);
	free(receipt);
	assert_int_equal(auc_auction_sale_of_job(a, 2, &after, &err), AUC_OK);
	assert_int_equal(before.nparts, after.nparts);
	assert_memory_equal(before.parts, after.parts, after.nparts * sizeof(*after.parts));
	auc_sale_view_clear(&before);
	auc_sale_view_clear(&after);
	/* it ends in the pause: 2 of its 9 slots are used */
	assert_int_equal(auc_auction_start(a, 2, 1001 * SLOT, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_settle(a, 2, "completed", 1003.5 * SLOT, &receipt, &err),
			 AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_int_equal(r.refund, payment * 7 / 9);
	auc_receipt_clear(&r);
	free(receipt);
	auc_auction_destroy(a);
}

/* Bounds are learned from the bids before, and a bid never moves its own price. */
static void test_learned_bounds(void **state)
{
	static const char globals[] = "Policy=oasis\nHistoryBids=3";
	static const char bid[] = "1000 epochs=4 minibatches=100 worker-time=v100=3s";
	struct auc_auction *a = world_open(globals, dir, NOW);
	struct auc_offer o;
	auc_money payment;

	(void)state;
	o = offer_of(a, bid, NOW, true);
	assert_true(o.accepted && o.payment == 0);
	auc_offer_clear(&o);
	auc_auction_tick(a, NOW);
	o = offer_of(a, bid, NOW, false);
	assert_true(o.accepted && o.payment > 0);
	payment = o.payment;
	auc_offer_clear(&o);
	o = offer_of(a, "900 epochs=4 minibatches=100 worker-time=v100=3s", NOW, true);
	assert_true(o.accepted && o.payment == payment);
	auc_offer_clear(&o);
	commit(a);
	auc_auction_destroy(a);
	/* what was learned is in the spool; the liens are not */
	a = world_open(globals, dir, NOW);
	o = offer_of(a, "900 epochs=4 minibatches=100 worker-time=v100=3s", NOW, false);
	assert_true(o.accepted && o.payment > 0);
	auc_offer_clear(&o);
	/* types that no schedule suits are said to be so */
	o = offer_of(a, "5 worker-time=v100=99999999s", NOW, false);
	assert_non_null(strstr(o.message, "it needs at least"));
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* -- what is not ready -- */

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
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_ESTATE);
	text = status_of(a, NOW);
	assert_non_null(strstr(text, "\"ready\":false"));
	free(text);
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_ready(a, &err), AUC_ESTATE);
	assert_string_equal(err.text, "the auction is not open yet: its state is not recovered");
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	auc_auction_break(a, "an administrator closed it");
	assert_int_equal(auc_auction_bid(a, &bid, 1, NOW, true, &o, &err), AUC_ESTATE);
	assert_string_equal(err.text, "the auction is closed: an administrator closed it");
	auc_auction_break(a, NULL);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	sell(a, "5 worker-time=v100=3s", 1, NOW);
	commit(a);
	auc_auction_destroy(a);

	/* A damaged journal: closed, with the reason, and nothing else happens. */
	snprintf(path, sizeof(path), "%s/journal", dir);
	f = fopen(path, "r+");
	fseek(f, 60, SEEK_SET);
	fputc('#', f);
	fclose(f);
	a = world_create("Prices=given\nEta=cpu=1");
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_ECORRUPT);
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
	struct auc_auction *a = world_open("Prices=given\nEta=cpu=1", dir, NOW);
	struct rlimit limit, tight;
	struct auc_totals before, after;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	tight = limit;
	tight.rlim_cur = 600;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	for (uint32_t job = 1; job <= 3; job++)
		sell(a, "5 epochs=4 minibatches=100 worker-time=v100=3s", job, NOW);
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
	commit(a);
	assert_int_equal(auc_auction_ready(a, &err), AUC_OK);
	before = totals_of(a);
	auc_auction_destroy(a);
	a = world_open("Prices=given\nEta=cpu=1", dir, NOW);
	after = totals_of(a);
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
	assert_int_equal(auc_spool_open(dir, NULL, NULL, &s, NULL, &err), AUC_OK);
	assert_int_equal(auc_spool_add(s, o, &err), AUC_OK);
	assert_int_equal(auc_spool_commit(s, &err), AUC_OK);
	auc_spool_close(s);
	json_object_put(o);
	a = world_create("Prices=given\nEta=cpu=1");
	assert_int_equal(auc_auction_set_servers(a, world_servers, world_nservers, NOW, &err),
			 AUC_OK);
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, NULL, &err), AUC_ECORRUPT);
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
	struct auc_auction *a = world_open(globals, dir, NOW), *b;
	struct auc_bid refused = world_bid(a, bid);
	struct auc_spool_report report;
	struct auc_offer offer;

	(void)state;
	sell(a, bid, 7, NOW);
	commit(a);
	sell(a, bid, 8, NOW); /* not committed: lost */
	auc_auction_close_spool(a);
	assert_int_equal(auc_auction_bid(a, &refused, 1, NOW, false, &offer, &err), AUC_ESTATE);
	assert_int_equal(auc_auction_commit(a, &err), AUC_ESTATE);
	b = world_open(globals, dir, NOW);
	assert_int_equal(totals_of(b).sold, 1);
	sell(b, bid, 9, NOW);
	commit(b);
	auc_auction_destroy(b);
	assert_int_equal(auc_auction_open_spool(a, dir, NOW, &report, &err), AUC_OK);
	assert_int_equal(totals_of(a).sold, 2);
	assert_true(auc_auction_owns(a, 7) && auc_auction_owns(a, 9));
	assert_false(auc_auction_owns(a, 8));
	sell(a, bid, 10, NOW);
	commit(a);
	auc_auction_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_close_spool, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_life, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hints_are_true, setup, teardown),
		cmocka_unit_test_setup_teardown(test_value_is_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(test_capacity_messages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quote_sells_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lien_lapses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refunds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_snapshots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nodes_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reconfigure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_types_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_set_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_learned_prices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_roles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_oasis, setup, teardown),
		cmocka_unit_test_setup_teardown(test_learned_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_ready, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cannot_write, setup, teardown),
		cmocka_unit_test_setup_teardown(test_state_of_another, setup, teardown),
	};

	return cmocka_run_group_tests_name("auction", tests, NULL, NULL);
}
