/*
 * test_posted_sale.c - posted prices in the controller: the offer comes before the limit, which is
 * compared and in nothing that is kept; quotes teach nothing.
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
#include "unit/support/edited.h"
#include "unit/support/world.h"

#define GLOBALS "Policy=posted,seed=4\nSlotSeconds=300\nSlots=100\n"
#define JOB     "epochs=10 chunks=2 minibatches=100 gradient-mb=1 worker-time=v100=1s ps-time=ps.m=10ms"
#define LIMIT   "77.123457"

static int set_up(void **state)
{
	return world_auction_setup(state, GLOBALS);
}

/* Asks with LIMIT credits; < 0: a quote. What was asked for, and the answer in *ACCEPTED; SALE, if
 * not NULL, is the lien. */
static auc_money say(struct auc_auction *a, double limit, double now, bool *accepted, char *sale)
{
	struct auc_bid bid = world_bid(a, JOB);
	struct auc_offer offer;
	struct auc_err err;
	auc_money payment;

	bid.max_price = limit;
	if (auc_auction_bid(a, &bid, 1000, now, limit >= 0, &offer, &err) != AUC_OK)
		fail_msg("%s", err.text);
	*accepted = offer.accepted;
	assert_int_equal(offer.reason, offer.accepted ? AUC_REASON_NONE : AUC_REASON_PRICE);
	assert_true(offer.payment > 0);
	payment = offer.payment;
	if (limit >= 0)
		assert_int_equal(offer.accepted, payment <= auc_money_from(limit));
	if (sale)
		snprintf(sale, AUC_SALE_ID_LEN, "%s", offer.sale);
	auc_offer_clear(&offer);
	return payment;
}

/* The same, and a yes becomes a job. */
static auc_money ask(struct auc_auction *a, double limit, double now, bool *accepted)
{
	static uint32_t job = 100;
	char sale[AUC_SALE_ID_LEN];
	auc_money payment = say(a, limit, now, accepted, sale);

	if (limit >= 0 && *accepted)
		assert_int_equal(auc_auction_confirm(a, sale, job++, NULL, NULL), AUC_OK);
	return payment;
}

static void test_exactly_the_offer(void **state)
{
	struct world_auction *f = *state;
	bool yes;
	auc_money price = ask(f->a, -1, NOW, &yes);

	assert_true(yes);
	assert_int_equal(ask(f->a, -1, NOW, &yes),
			 price); /* a quote teaches nothing, and draws nothing */
	assert_int_equal(ask(f->a, auc_money_to(price), NOW, &yes), price);
	assert_true(yes);
	price = ask(f->a, -1, NOW, &yes);
	assert_int_equal(ask(f->a, auc_money_to(price - 1), NOW, &yes), price);
	assert_false(yes);
	assert_true(auc_market_sound(f->a->market));
}

/* Whatever the limits, as long as the answers are the same; and a new configuration forgets
 * nothing. */
static void test_offers_follow_answers(void **state)
{
	struct world_auction *f = *state;
	struct auc_auction *b = world_create(GLOBALS);
	char dir[64];
	unsigned answers[2] = {0, 0}, differ = 0;
	auc_money last = 0;

	world_mkdir(dir);
	assert_int_equal(auc_auction_set_servers(b, world_servers, world_nservers, NOW, NULL),
			 AUC_OK);
	assert_int_equal(auc_auction_open_spool(b, dir, NOW, NULL, NULL), AUC_OK);
	for (unsigned i = 0; i < 60; i++) {
		double now = NOW + 5 * SLOT * i;
		bool yes, other;
		auc_money price = ask(f->a, -1, now, &yes);
		double offer = auc_money_to(price);

		/* every third leaves it: just below or far below; others pay just that, or would
		 * pay a fortune */
		assert_int_equal(ask(f->a, i % 3 ? offer : offer * 0.999, now, &yes), price);
		assert_int_equal(ask(b, i % 3 ? offer + 1000 : offer * 0.2, now, &other), price);
		assert_int_equal(yes, other);
		answers[yes]++;
		differ += price != last;
		last = price;
		if (i == 30)
			assert_int_equal(
				auc_auction_reconfigure(b, world_conf(GLOBALS "LienSeconds=7\n"),
							now, NULL),
				AUC_OK);
	}
	assert_true(answers[0] >= 20 && answers[1] >= 30 && differ > 30);
	auc_auction_destroy(b);
	world_rmdir(dir);
}

/* Neither the receipt, nor the message, nor a byte of the spool has it. */
static void test_limit_is_kept_nowhere(void **state)
{
	struct world_auction *f = *state;
	struct auc_bid bid = world_bid(f->a, JOB " max-price=" LIMIT);
	static const char *const files[] = {"journal", "state"};
	struct auc_offer offer;
	char path[128], *text;
	size_t n;
	FILE *in;

	assert_true(bid.max_price > 77.1 && bid.max_price < 77.2);
	assert_int_equal(auc_auction_bid(f->a, &bid, 1000, NOW, true, &offer, NULL), AUC_OK);
	assert_true(offer.accepted && offer.value == offer.payment);
	assert_null(strstr(offer.receipt, "77.12"));
	assert_null(strstr(offer.receipt, "max-price"));
	assert_null(strstr(offer.message, "77.12"));
	assert_int_equal(auc_auction_confirm(f->a, offer.sale, 5, NULL, NULL), AUC_OK);
	auc_offer_clear(&offer);
	assert_int_equal(auc_auction_commit(f->a, NULL), AUC_OK);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, files[i]);
		in = fopen(path, "re");
		if (!in)
			continue;
		text = calloc(1, 1 << 20);
		n = fread(text, 1, (1 << 20) - 1, in);
		fclose(in);
		for (size_t k = 0; k < n; k++)
			text[k] = text[k] ? text[k] : ' ';
		assert_true(n > 0);
		assert_null(strstr(text, "77.12"));
		assert_null(strstr(text, "max-price"));
		free(text);
	}
}

/*
 * Whoever leaves what is offered again and again moves the price once, until one of its bids is a
 * job or a day is over. Limits that nobody means, and dry runs, move nothing; other users are not
 * kept from being believed.
 */
static void test_leaving_teaches_once(void **state)
{
	struct world_auction *f = *state;
	auc_money once, price;
	double now = NOW + 200 * SLOT, half;
	unsigned n = 30;
	bool yes;

	for (unsigned i = 0; i < 30; i++)
		ask(f->a, 1e6, NOW + 5 * SLOT * i, &yes);
	price = ask(f->a, -1, now, &yes);
	half = auc_money_to(price) / 2;
	/* The attack: a loop around sbatch --test-only --max-price=0. */
	for (unsigned i = 0; i < 50; i++)
		ask(f->a, 0, now, &yes);
	assert_int_equal(auc_posted_answers_count(f->a->answers), n);
	assert_int_equal(ask(f->a, -1, now, &yes), price);
	ask(f->a, half, now, &yes);
	once = ask(f->a, -1, now, &yes);
	assert_int_equal(auc_posted_answers_count(f->a->answers), ++n);
	for (unsigned i = 0; i < 100; i++, now += SLOT)
		ask(f->a, half, now, &yes);
	assert_int_equal(ask(f->a, -1, now, &yes), once);
	assert_int_equal(auc_posted_answers_count(f->a->answers), n);
	/* after a purchase */
	ask(f->a, 1e6, now, &yes);
	assert_true(yes);
	now += 10 * SLOT;
	half = auc_money_to(ask(f->a, -1, now, &yes)) / 2;
	ask(f->a, half, now, &yes);
	assert_int_equal(auc_posted_answers_count(f->a->answers), n += 2);
	/* a day later */
	ask(f->a, half, now + 86399, &yes);
	assert_int_equal(auc_posted_answers_count(f->a->answers), n);
	ask(f->a, half, now + 86401, &yes);
	assert_int_equal(auc_posted_answers_count(f->a->answers), n + 1);
}

/* A yes without a job, as of a dry run, teaches nothing, however often it is said; that of a job
 * does, once. */
static void test_yes_teaches_with_its_job(void **state)
{
	char sale[AUC_SALE_ID_LEN], other[AUC_SALE_ID_LEN];
	struct world_auction *f = *state;
	double now = NOW;
	auc_money price;
	bool yes;

	for (unsigned i = 0; i < 30; i++, now += 5 * SLOT)
		ask(f->a, 1e6, now, &yes);
	assert_int_equal(auc_posted_answers_count(f->a->answers), 30);
	price = ask(f->a, -1, now, &yes);
	for (unsigned i = 0; i < 200; i++, now += 5 * SLOT)
		assert_int_equal(say(f->a, 1e6, now, &yes, other), price);
	assert_int_equal(auc_posted_answers_count(f->a->answers), 30);
	assert_int_equal(auc_auction_tick(f->a, now), 1);
	assert_int_equal(auc_auction_confirm(f->a, other, 7, NULL, NULL), AUC_ENOENT);
	/* the next ones of them never become a job */
	say(f->a, 1e6, now, &yes, other);
	assert_int_equal(auc_auction_drop(f->a, other, NULL), AUC_OK);
	assert_int_equal(ask(f->a, -1, now, &yes), price);
	say(f->a, 1e6, now, &yes, other);
	say(f->a, 1e6, now, &yes, sale);
	assert_int_equal(auc_auction_confirm(f->a, sale, 8, NULL, NULL), AUC_OK);
	assert_int_equal(auc_posted_answers_count(f->a->answers), 31);
	assert_true(auc_posted_answers_at(f->a->answers, 30)->accepted);
	price = ask(f->a, -1, now, &yes);
	assert_int_equal(auc_auction_confirm(f->a, sale, 8, NULL, NULL), AUC_OK);
	assert_int_equal(auc_posted_answers_count(f->a->answers), 31);
	assert_int_equal(ask(f->a, -1, now, &yes), price);
	assert_int_equal(auc_auction_confirm(f->a, other, 9, NULL, NULL), AUC_OK);
	assert_int_equal(auc_posted_answers_count(f->a->answers), 32);
}

/* Its lien lapsed before the job was seen: the receipt says whose yes it was. */
static void test_late_job_teaches(void **state)
{
	struct world_auction *f = *state;
	struct auc_bid bid = world_bid(f->a, JOB " max-price=1000000");
	struct auc_offer offer;

	assert_int_equal(auc_auction_bid(f->a, &bid, 1000, NOW, true, &offer, NULL), AUC_OK);
	assert_true(offer.accepted);
	assert_int_equal(auc_auction_tick(f->a, NOW + 100), 1);
	assert_int_equal(auc_posted_answers_count(f->a->answers), 0);
	for (unsigned i = 0; i < 2; i++) {
		(void)auc_auction_adopt(f->a, offer.receipt, 20, 1000, AUC_SALE_SOLD, NULL);
		assert_int_equal(auc_posted_answers_count(f->a->answers), 1);
	}
	auc_offer_clear(&offer);
}

/* Of more than are kept the oldest go. */
static void test_waiting(void **state)
{
	struct auc_posted_answers *l = auc_posted_answers_create();
	struct auc_answer a = {.slots = 0};
	char sale[AUC_SALE_ID_LEN];

	(void)state;
	for (unsigned i = 0; i < AUC_POSTED_ANSWERS_MAX + 10; i++) {
		a.slots = i;
		snprintf(sale, sizeof(sale), "s-%u", i);
		assert_int_equal(auc_posted_answers_wait(l, sale, &a, NULL), AUC_OK);
	}
	assert_int_equal(auc_posted_answers_count(l), 0);
	assert_false(auc_posted_answers_take(l, "s-9", &a));
	assert_true(auc_posted_answers_take(l, "s-10", &a));
	assert_true(a.slots == 10);
	assert_false(auc_posted_answers_take(l, "s-10", &a));
	assert_false(auc_posted_answers_take(l, "", &a));
	assert_true(auc_posted_answers_take(l, "s-4001", &a));
	assert_true(a.slots == 4001);
	auc_posted_answers_destroy(l);
}

/* What was learned survives: the next controller asks for the same. */
static void test_restart(void **state)
{
	struct world_auction *f = *state;
	double now = NOW;
	auc_money price, fresh;
	struct auc_auction *b;
	bool yes;

	fresh = ask(f->a, -1, NOW, &yes);
	for (unsigned i = 0; i < 200; i++, now += 5 * SLOT) {
		price = ask(f->a, -1, now, &yes);
		ask(f->a, auc_money_to(price) * (i % 4 ? 1 : 0.5), now, &yes);
		if (i == 100) /* some of it from a snapshot */
			f->a->snapshot_at = 0;
		if (i % 10 == 0)
			assert_int_equal(auc_auction_commit(f->a, NULL), AUC_OK);
	}
	assert_int_equal(auc_auction_commit(f->a, NULL), AUC_OK);
	price = ask(f->a, -1, now, &yes);
	assert_true(price != fresh);
	auc_auction_destroy(f->a);
	f->a = b = world_open(GLOBALS, f->dir, now);
	assert_int_equal(auc_posted_answers_count(b->answers), 200);
	assert_int_equal(ask(b, -1, now, &yes), price);
}

/* The spool is believed only where it makes sense, and holds no more than it may. */
static void test_answers_read(void **state)
{
	static const char good[] =
		"{\"event\":\"answer\",\"arrival\":7,\"slots\":2,\"offered\":true,"
		"\"accepted\":false,\"worker_type\":\"v100\",\"workers\":2,"
		"\"worker_price\":0.5,\"idle_workers\":8,\"ps_type\":\"ps.m\",\"ps\":1,"
		"\"ps_price\":0.1,\"idle_ps\":4}";
	static const char *const wrong[][2] = {
		{"\"arrival\":7", "\"arrival\":-1"},
		{"\"slots\":2", "\"slots\":0"},
		{"\"offered\":true", "\"offered\":1"},
		{"\"offered\":true,\"accepted\":false", "\"offered\":false,\"accepted\":true"},
		{"\"v100\"", "\"v 100\""},
		{"\"v100\"", "7"},
		{"\"workers\":2", "\"workers\":0"},
		{"\"workers\":2", "\"workers\":99999999999"},
		{"\"worker_price\":0.5", "\"worker_price\":-0.5"},
		{"\"ps_price\":0.1", "\"ps_price\":1e300"},
		{"\"idle_ps\":4", "\"idle_pq\":4"},
	};
	struct auc_posted_answers *l = auc_posted_answers_create(), *copy;
	struct json_object *o = json_tokener_parse(good), *again;
	struct auc_err err;

	(void)state;
	assert_true(auc_posted_answers_knows(o));
	assert_int_equal(auc_posted_answers_apply(l, o, &err), AUC_OK);
	again = auc_posted_answers_event(l, 0);
	assert_true(json_object_equal(o, again));
	json_object_put(again);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char *text = edited(good, wrong[i][0], wrong[i][1]);

		again = json_tokener_parse(text);
		assert_non_null(again);
		if (auc_posted_answers_apply(l, again, &err) != AUC_ECORRUPT)
			fail_msg("%s", text);
		json_object_put(again);
		free(text);
	}
	for (unsigned i = 1; i < AUC_POSTED_ANSWERS_MAX + 10; i++) {
		json_object_object_add(o, "arrival", json_object_new_int64(i));
		assert_int_equal(auc_posted_answers_apply(l, o, &err), AUC_OK);
	}
	copy = auc_posted_answers_copy(l);
	assert_int_equal(auc_posted_answers_count(copy), AUC_POSTED_ANSWERS_MAX);
	assert_int_equal(auc_posted_answers_at(copy, 0)->arrival, 10);
	assert_int_equal(auc_posted_answers_at(copy, AUC_POSTED_ANSWERS_MAX - 1)->arrival,
			 AUC_POSTED_ANSWERS_MAX + 9);
	auc_posted_answers_destroy(copy);
	auc_posted_answers_destroy(l);
	json_object_put(o);
}

static void test_words(void **state)
{
	static const struct {
		const char *globals, *text, *says;
	} wrong[] = {
		{GLOBALS, JOB " bid=300", "expected --max-price instead"},
		{GLOBALS, JOB " max-price=-1", "--max-price"},
		{GLOBALS, JOB " max-price=1 max-price=2", "expected once"},
		{GLOBALS, JOB " max-price=1 overrun=extend", "--overrun"},
		{"", JOB " bid=300 max-price=3", "given with --bid, expected one of them"},
	};
	struct world_auction *f = *state;
	struct auc_offer offer;
	struct auc_bid bid;
	struct auc_err err;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct auc_conf *conf = world_conf(wrong[i].globals);

		assert_int_equal(auc_bid_parse(conf, wrong[i].text, &bid, &err), AUC_EINVAL);
		if (!strstr(err.text, wrong[i].says))
			fail_msg("%s: %s", wrong[i].text, err.text);
		auc_conf_free(conf);
	}
	bid = world_bid(f->a, JOB);
	assert_int_equal(auc_auction_bid(f->a, &bid, 1000, NOW, true, &offer, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "--max-price: not given"));
	/* no room: no price either */
	bid = world_bid(f->a, "epochs=10 chunks=90 minibatches=100 worker-time=v100=1s "
			      "ps-time=ps.m=10ms max-price=1");
	assert_int_equal(auc_auction_bid(f->a, &bid, 1000, NOW, true, &offer, &err), AUC_OK);
	assert_int_equal(offer.reason, AUC_REASON_CAPACITY);
	assert_non_null(strstr(offer.message, "the nodes it may use cannot hold it: 90 x v100, a "
					      "worker for each of --chunks=90, expected at most"));
	auc_offer_clear(&offer);
	/* room, but not for so long */
	bid = world_bid(f->a, "epochs=1000000 chunks=2 minibatches=100 worker-time=v100=1s "
			      "ps-time=ps.m=10ms max-price=1");
	assert_int_equal(auc_auction_bid(f->a, &bid, 1000, NOW, true, &offer, &err), AUC_OK);
	assert_int_equal(offer.reason, AUC_REASON_CAPACITY);
	assert_non_null(strstr(offer.message, "what is free now cannot hold it for as long as it "
					      "takes: 2 x v100 and 1 x ps.m, a worker for each of "
					      "--chunks=2"));
	auc_offer_clear(&offer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_exactly_the_offer, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_offers_follow_answers, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_limit_is_kept_nowhere, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_leaving_teaches_once, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_yes_teaches_with_its_job, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_late_job_teaches, set_up,
						world_auction_teardown),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test_setup_teardown(test_restart, set_up, world_auction_teardown),
		cmocka_unit_test(test_answers_read),
		cmocka_unit_test_setup_teardown(test_words, set_up, world_auction_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
