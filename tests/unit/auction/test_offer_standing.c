/*
 * test_offer_standing.c - offers that stand: exactly what was offered is bought, once, by whom it
 * was offered to, for the job it was made for, in its time, whatever the price is by then; and
 * nothing is held for them.
 */
#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/auction-private.h"
#include "unit/support/cases.h"
#include "unit/support/world.h"

#define GLOBALS "Policy=posted,seed=4\nSlotSeconds=300\nSlots=100\nOfferTime=600\n"
#define TIME    600.0
#define JOB     "epochs=10 chunks=2 minibatches=100 gradient-mb=1 worker-time=v100=1s ps-time=ps.m=10ms"
#define ALL     "epochs=30 chunks=2 minibatches=100 gradient-mb=1 worker-time=v100=1s ps-time=ps.m=10ms"

/* -- the table -- */

static struct auc_decision decision; /* of some plan */

static int table_setup(void **state)
{
	auc_decision_init(&decision);
	decision.accepted = decision.offered = true;
	assert_int_equal(auc_plan_add_run(&decision.plan, 5, 6, NULL), AUC_OK);
	assert_int_equal(auc_plan_add_share(&decision.plan, 0, 1, 1, NULL), AUC_OK);
	*state = auc_offer_standing_create();
	return *state ? 0 : -1;
}

static int table_teardown(void **state)
{
	auc_offer_standing_destroy(*state);
	auc_decision_clear(&decision);
	return 0;
}

static uint64_t add(struct auc_offer_standing *s, uint32_t uid, double now)
{
	uint64_t id = 0;

	assert_int_equal(auc_offer_standing_add(s, uid, 7, &decision, now, 60, &id, NULL), AUC_OK);
	assert_true(id != 0);
	return id;
}

/* What is said to UID; SAYS "": nothing, he may have it. */
static void finds(struct auc_offer_standing *s, uint64_t id, uint32_t uid, uint64_t work,
		  double now, enum auc_code code, const char *says)
{
	struct auc_standing_offer *o;
	struct auc_err err = {.text = ""};
	char name[20];

	snprintf(name, sizeof(name), "%016" PRIx64, id);
	assert_int_equal(auc_offer_standing_find(s, id, uid, work, now, &o, &err), code);
	if (!strstr(err.text, says) ||
	    (*says && (!strstr(err.text, name) || !strstr(err.text, "--quote"))))
		fail_msg("'%s', not '%s'", err.text, says);
	if (code == AUC_OK) {
		assert_true(o->id == id && o->uid == uid && o->decision.plan.nshares == 1);
		assert_true(auc_plan_same(&o->decision.plan, &decision.plan));
	}
}

static void test_table(void **state)
{
	struct auc_offer_standing *s = *state;
	uint64_t id = add(s, 1, 1000), other = add(s, 2, 1000);

	assert_true(id != other);
	finds(s, id, 1, 7, 1000, AUC_OK, "");
	finds(s, id, 1, 7, 1059.9, AUC_OK, "");
	finds(s, id, 2, 7, 1000, AUC_EINVAL, "another user");
	finds(s, id, 1, 8, 1000, AUC_EINVAL, "another job");
	finds(s, id ^ 1, 1, 7, 1000, AUC_ENOENT, "not known");
	finds(s, 0, 1, 7, 1000, AUC_ENOENT, "not known");
	finds(s, other, 2, 7, 1060, AUC_ESTATE, "expired: it stood for 60 s");
	finds(s, other, 2, 7, 1000, AUC_ESTATE, "expired"); /* and never again */
	/* a lien is no job yet */
	auc_offer_standing_take(s, id, "sale-1");
	auc_offer_standing_sold(s, "sale-2");
	finds(s, id, 1, 7, 1010, AUC_OK, "");
	auc_offer_standing_take(s, id, "sale-2");
	auc_offer_standing_sold(s, "sale-1");
	finds(s, id, 1, 7, 1010, AUC_OK, "");
	auc_offer_standing_sold(s, "sale-2");
	finds(s, id, 1, 7, 1010, AUC_ESTATE, "for one only");
	finds(s, id, 1, 7, 2000, AUC_ESTATE, "for one only");
	auc_offer_standing_take(s, 12345, "sale-3");
	id = add(s, 1, 1000);
	auc_offer_standing_void(s);
	finds(s, id, 1, 7, 1010, AUC_ESTATE, "void");
	id = add(s, 1, 1000);
	finds(s, id, 1, 7, 1010, AUC_OK, "");
}

/* Set back a little it changes nothing; by more than an offer's time, none stands, then or later.
 */
static void test_clock(void **state)
{
	struct auc_offer_standing *s = *state;
	uint64_t id = add(s, 1, 1000), before;

	finds(s, id, 1, 7, 999, AUC_OK, "");
	finds(s, id, 1, 7, 941, AUC_OK, "");
	finds(s, id, 1, 7, 940, AUC_ESTATE, "expired");
	finds(s, id, 1, 7, 1001, AUC_ESTATE, "expired");
	id = add(s, 1, 1000);
	before = add(s, 1, -1e9); /* what was made before is over with it */
	finds(s, before, 1, 7, -1e9, AUC_OK, "");
	finds(s, id, 1, 7, 1000, AUC_ESTATE, "expired");
	finds(s, before, 1, 7, 1e300, AUC_ESTATE, "expired");
}

/* A user's oldest makes room for his next, nobody's for another's. */
static void test_bounds(void **state)
{
	struct auc_offer_standing *s = *state;
	uint64_t mine[AUC_OFFER_PER_USER + 1], id;
	unsigned users = AUC_OFFER_MAX / AUC_OFFER_PER_USER;
	struct auc_err err;

	for (unsigned i = 0; i <= AUC_OFFER_PER_USER; i++)
		mine[i] = add(s, 1, 1000 + i / 100.);
	finds(s, mine[0], 1, 7, 1001, AUC_ENOENT, "not known");
	for (unsigned i = 1; i <= AUC_OFFER_PER_USER; i++)
		finds(s, mine[i], 1, 7, 1001, AUC_OK, "");
	assert_int_equal(auc_offer_standing_count(s), AUC_OFFER_PER_USER);
	for (unsigned u = 2; u <= users; u++)
		for (unsigned i = 0; i < AUC_OFFER_PER_USER; i++)
			add(s, u, 1001);
	assert_int_equal(auc_offer_standing_count(s), AUC_OFFER_MAX);
	assert_int_equal(auc_offer_standing_add(s, users + 1, 7, &decision, 1002, 60, &id, &err),
			 AUC_EFULL);
	finds(s, mine[1], 1, 7, 1002, AUC_OK, "");
	id = add(s, 1, 1002);
	finds(s, mine[1], 1, 7, 1002, AUC_ENOENT, "not known");
	finds(s, id, 1, 7, 1002, AUC_OK, "");
	/* one of them is sold: there is room for one */
	auc_offer_standing_take(s, id, "sale-1");
	auc_offer_standing_sold(s, "sale-1");
	add(s, users + 1, 1003);
	assert_int_equal(auc_offer_standing_add(s, users + 1, 7, &decision, 1003, 60, &id, &err),
			 AUC_EFULL);
	add(s, users + 1, 1100);
	assert_int_equal(auc_offer_standing_count(s), AUC_OFFER_MAX);
}

/* They come and go for ever: no name comes twice, and what is kept follows what stands. */
static void test_million(void **state)
{
	struct auc_offer_standing *s = *state;
	const unsigned n = cases(1000000, 100000);
	uint64_t seen = 0, id, first = 0;

	for (unsigned i = 0; i < n; i++) {
		id = add(s, i % 97, i);
		first = i ? first : id;
		assert_true(!i || id != first);
		seen ^= id;
		if (i % 10000 == 9999)
			finds(s, id, i % 97, 7, i + 59, AUC_OK, "");
		assert_true(auc_offer_standing_count(s) < 150);
	}
	assert_true(seen != 0);
}

/* Only what --quote prints is an offer's name. */
static void test_names(void **state)
{
	static const char letters[] = "0123456789abcdefABCDEFgx-+ .\n";
	struct auc_bid bid;
	struct auc_err err;
	char text[24], word[64];
	unsigned good = 0;

	(void)state;
	srandom(3);
	for (unsigned i = 0; i < cases(200000, 10000); i++) {
		unsigned n = i % 3 ? 16 : (unsigned)random() % 20;
		unsigned of = i % 2 ? 16 : sizeof(letters) - 1;

		for (unsigned k = 0; k < n; k++)
			text[k] = letters[(unsigned)random() % of];
		text[n] = '\0';
		if (n == 16 && strspn(text, "0123456789abcdef") == 16) {
			assert_int_equal(auc_bid_check_word(NULL, "accept", text, &err), AUC_OK);
			snprintf(word, sizeof(word), "accept=%s", text);
			assert_int_equal(auc_bid_parse(NULL, word, &bid, &err), AUC_EINVAL);
			snprintf(word, sizeof(word), "300 accept=%s", text);
			assert_int_equal(auc_bid_parse(NULL, word, &bid, &err), AUC_OK);
			snprintf(word, sizeof(word), "%016" PRIx64, bid.accept);
			assert_string_equal(word, text);
			good++;
		} else if (auc_bid_check_word(NULL, "accept", text, &err) != AUC_EINVAL ||
			   !strstr(err.text, "--accept: '")) {
			fail_msg("'%s': %s", text, err.text);
		}
	}
	assert_true(good > cases(200000, 10000) / 4);
	assert_int_equal(auc_bid_check_word(NULL, "accept", "0000000000000000", &err), AUC_EINVAL);
}

/* -- the auction -- */

static int set_up(void **state)
{
	return world_auction_setup(state, GLOBALS);
}

static enum auc_code try(struct auc_auction *a, const char *text, uint64_t id, double limit,
			 uint32_t uid, double now, struct auc_offer *offer, struct auc_err *err)
{
	struct auc_bid bid = world_bid(a, text);

	bid.accept = id;
	bid.max_price = limit;
	return auc_auction_bid(a, &bid, uid, now, id || limit >= 0, offer, err);
}

/* A quote of user 1000; the caller clears it. */
static struct auc_offer quote(struct auc_auction *a, const char *text, double now)
{
	struct auc_offer o;
	struct auc_err err;

	if (try(a, text, 0, -1, 1000, now, &o, &err) != AUC_OK)
		fail_msg("%s", err.text);
	assert_true(o.accepted);
	return o;
}

static uint64_t quoted(struct auc_auction *a, const char *text, double now)
{
	struct auc_offer o = quote(a, text, now);
	uint64_t id = o.id;

	assert_true(id != 0);
	auc_offer_clear(&o);
	return id;
}

/* User 1000 takes ID for TEXT; SAYS NULL: he gets it. The caller clears it. */
static struct auc_offer take(struct auc_auction *a, const char *text, uint64_t id, double now,
			     const char *says)
{
	struct auc_offer o = {0};
	struct auc_err err = {.text = ""};
	enum auc_code rc = try(a, text, id, -1, 1000, now, &o, &err);

	if ((rc == AUC_OK) != !says || (says && !strstr(err.text, says)))
		fail_msg("'%s'", err.text);
	if (!says)
		assert_true(o.accepted && o.sale[0] && o.receipt);
	return o;
}

/* Others buy, one after the other, or ask and leave, until the price is another. */
static void move_price(struct auc_auction *a, auc_money price, double now)
{
	static uint32_t job = 1000;

	for (unsigned i = 0; i < 200; i++) {
		struct auc_offer o;
		bool moved;

		assert_int_equal(try(a, JOB, 0, i % 2 ? 0 : 1e6, 2000 + i, now, &o, NULL), AUC_OK);
		if (o.accepted) {
			assert_int_equal(auc_auction_confirm(a, o.sale, job, NULL, NULL), AUC_OK);
			assert_int_equal(auc_auction_settle(a, job++, "cancelled", now, NULL, NULL),
					 AUC_OK);
		}
		auc_offer_clear(&o);
		o = quote(a, JOB, now);
		moved = o.payment != price;
		auc_offer_clear(&o);
		if (moved)
			return;
	}
	fail_msg("the price stays");
}

static void test_at_its_price(void **state)
{
	struct world_auction *f = *state;
	struct auc_offer offer = quote(f->a, JOB, NOW), bought;
	struct auc_sale_view v;
	char name[40], money[AUC_MONEY_LEN];
	unsigned answers;

	snprintf(name, sizeof(name), "--accept=%016" PRIx64 " buys", offer.id);
	assert_non_null(strstr(offer.message, name));
	assert_non_null(strstr(offer.message, "within 600 s"));
	assert_int_equal(auc_posted_answers_count(f->a->answers), 0);
	move_price(f->a, offer.payment, NOW);
	answers = auc_posted_answers_count(f->a->answers);
	bought = take(f->a, JOB, offer.id, NOW + 1, NULL);
	assert_int_equal(bought.payment, offer.payment);
	assert_int_equal(bought.value, offer.payment);
	assert_true(auc_plan_same(&bought.plan, &offer.plan));
	assert_non_null(strstr(bought.message, "offered: "));
	assert_non_null(strstr(bought.receipt, auc_money_str(offer.payment, money)));
	assert_null(strstr(bought.receipt, "accept="));
	assert_int_equal(auc_posted_answers_count(f->a->answers), answers);
	assert_int_equal(auc_auction_confirm(f->a, bought.sale, 5, NULL, NULL), AUC_OK);
	assert_int_equal(auc_auction_sale_of_job(f->a, 5, &v, NULL), AUC_OK);
	assert_int_equal(v.payment, offer.payment);
	auc_sale_view_clear(&v);
	/* it was a yes, at the offer's prices */
	assert_int_equal(auc_posted_answers_count(f->a->answers), answers + 1);
	assert_true(auc_posted_answers_at(f->a->answers, answers)->accepted);
	assert_true(auc_posted_answers_at(f->a->answers, answers)->price[0] ==
		    auc_posted_answers_at(f->a->answers, 0)->price[0]);
	auc_offer_clear(&bought);
	bought = take(f->a, JOB, offer.id, NOW + 1, "has become a job");
	auc_offer_clear(&offer);
	assert_true(auc_market_sound(f->a->market));
	world_commit(f->a);
}

static void test_who_and_what(void **state)
{
	struct world_auction *f = *state;
	uint64_t id = quoted(f->a, JOB, NOW);
	struct auc_bid bid = world_bid(f->a, JOB);
	struct auc_offer o;
	struct auc_err err;

	assert_int_equal(try(f->a, JOB, id, -1, 1001, NOW, &o, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "made to another user"));
	take(f->a, JOB " data-mb=5", id, NOW, "made for another job");
	take(f->a, ALL, id, NOW, "made for another job");
	bid.accept = id;
	bid.npartitions = 1;
	strcpy(bid.partitions[0], "edge");
	assert_int_equal(auc_auction_bid(f->a, &bid, 1000, NOW, true, &o, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "made for another job"));
	take(f->a, JOB, id + 1, NOW, "is not known");
	take(f->a, JOB, id, NOW + TIME, "has expired: it stood for 600 s");
	take(f->a, JOB, id, NOW, "has expired");
	assert_int_equal(auc_posted_answers_count(f->a->answers), 0);
	assert_int_equal(world_totals(f->a).bids, 0);
}

/* Without a job of it, as of a dry run, it stands; a quote of it makes it stand no longer. */
static void test_one_job(void **state)
{
	struct world_auction *f = *state;
	uint64_t id = quoted(f->a, JOB, NOW);
	struct auc_bid bid = world_bid(f->a, JOB);
	struct auc_offer o = take(f->a, JOB, id, NOW, NULL);

	take(f->a, JOB, id, NOW + 0.5,
	     "is held for a submission, and is for one job only; where that becomes none, as with "
	     "--test-only, it can be had again in 10 s");
	assert_int_equal(auc_auction_drop(f->a, o.sale, NULL), AUC_OK);
	auc_offer_clear(&o);
	o = take(f->a, JOB, id, NOW + 1, NULL);
	auc_offer_clear(&o);
	assert_int_equal(auc_auction_tick(f->a, NOW + 50), 1);
	bid.accept = id;
	assert_int_equal(auc_auction_bid(f->a, &bid, 1000, NOW + 50, false, &o, NULL), AUC_OK);
	assert_true(o.accepted && !o.id);
	auc_offer_clear(&o);
	o = take(f->a, JOB, id, NOW + 60, NULL);
	assert_int_equal(auc_auction_confirm(f->a, o.sale, 5, NULL, NULL), AUC_OK);
	auc_offer_clear(&o);
	/* nor when the job is over */
	assert_int_equal(auc_auction_settle(f->a, 5, "cancelled", NOW + 61, NULL, NULL), AUC_OK);
	take(f->a, JOB, id, NOW + 62, "has become a job");
}

/* A job that the agent sees too late for its lien is one, too. */
static void test_late_job(void **state)
{
	struct world_auction *f = *state;
	uint64_t id = quoted(f->a, JOB, NOW);
	struct auc_offer o = take(f->a, JOB, id, NOW, NULL);

	assert_int_equal(auc_auction_tick(f->a, NOW + 50), 1);
	assert_int_equal(auc_auction_adopt(f->a, o.receipt, 5, 1000, AUC_SALE_SOLD, NULL), AUC_OK);
	auc_offer_clear(&o);
	take(f->a, JOB, id, NOW + 51, "has become a job");
}

/* The slots that have begun nobody can have: the same comes as much later. */
static void test_later(void **state)
{
	struct world_auction *f = *state;
	struct auc_offer offer = quote(f->a, JOB, NOW), o;

	o = take(f->a, JOB, offer.id, NOW + SLOT, NULL);
	assert_int_equal(o.plan.start, offer.plan.start + 1);
	assert_int_equal(o.plan.arrival, offer.plan.arrival + 1);
	assert_int_equal(o.plan.completion, offer.plan.completion + 1);
	assert_int_equal(o.plan.runs[0].from, offer.plan.runs[0].from + 1);
	assert_int_equal(o.plan.runs[0].to, offer.plan.runs[0].to + 1);
	assert_int_equal(o.payment, offer.payment);
	assert_memory_equal(o.plan.shares, offer.plan.shares,
			    offer.plan.nshares * sizeof(*offer.plan.shares));
	auc_offer_clear(&o);
	auc_offer_clear(&offer);
}

/* An offer holds nothing. */
static void test_place_gone(void **state)
{
	struct world_auction *f = *state;
	struct auc_offer offer = quote(f->a, JOB, NOW), o;
	struct auc_server_spec specs[8];
	struct auc_closing closed = {.from = NOW, .to = NOW + 100 * SLOT};
	const char *server = auc_market_server_name(f->a->market, offer.plan.shares[0].server);

	strcpy(closed.server, server);
	assert_int_equal(auc_auction_close(f->a, &closed, 1, NULL), AUC_OK);
	take(f->a, JOB, offer.id, NOW, "its place is gone");
	assert_int_equal(auc_auction_close(f->a, NULL, 0, NULL), AUC_OK);
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	for (unsigned i = 0; i < world_nservers; i++)
		specs[i].down = !strcmp(specs[i].name, server);
	assert_int_equal(auc_auction_set_servers(f->a, specs, world_nservers, NOW, NULL), AUC_OK);
	take(f->a, JOB, offer.id, NOW, "not for sale");
	assert_int_equal(auc_auction_set_servers(f->a, world_servers, world_nservers, NOW, NULL),
			 AUC_OK);
	for (uint32_t job = 1; job <= 4; job++) {
		assert_int_equal(try(f->a, ALL, 0, 1e6, 2000 + job, NOW, &o, NULL), AUC_OK);
		assert_true(o.accepted);
		assert_int_equal(auc_auction_confirm(f->a, o.sale, job, NULL, NULL), AUC_OK);
		auc_offer_clear(&o);
	}
	take(f->a, JOB, offer.id, NOW, "stands with its price, but its place is gone");
	take(f->a, JOB, offer.id, NOW + SLOT, "its place is gone");
	/* who has it gives it back */
	for (uint32_t job = 1; job <= 4; job++)
		assert_int_equal(auc_auction_settle(f->a, job, "cancelled", NOW, NULL, NULL),
				 AUC_OK);
	o = take(f->a, JOB, offer.id, NOW, NULL);
	assert_int_equal(o.payment, offer.payment);
	auc_offer_clear(&o);
	auc_offer_clear(&offer);
}

/* Another market, and no offer of the old one holds; a controller knows its own. */
static void test_other_market(void **state)
{
	struct world_auction *f = *state;
	uint64_t id = quoted(f->a, JOB, NOW);

	assert_int_equal(
		auc_auction_set_servers(f->a, world_servers, world_nservers - 1, NOW, NULL),
		AUC_OK);
	take(f->a, JOB, id, NOW, "is void");
	id = quoted(f->a, JOB, NOW);
	assert_int_equal(
		auc_auction_reconfigure(f->a, world_conf(GLOBALS "LienSeconds=7\n"), NOW, NULL),
		AUC_OK);
	take(f->a, JOB, id, NOW, "is void");
	id = quoted(f->a, JOB, NOW);
	world_commit(f->a);
	auc_auction_destroy(f->a);
	f->a = world_open("Policy=posted\nOfferTime=0\n", f->dir, NOW);
	take(f->a, JOB, id, NOW, "slurmctld was started since");
	{
		struct auc_offer o = quote(f->a, JOB, NOW);

		assert_int_equal(o.id, 0);
		assert_null(strstr(o.message, "--accept"));
		assert_non_null(strstr(o.message, "--max-price"));
		auc_offer_clear(&o);
	}
}

/* A limit is compared with it, as with any price. */
static void test_limit(void **state)
{
	struct world_auction *f = *state;
	struct auc_offer offer = quote(f->a, JOB, NOW), o;
	double price = auc_money_to(offer.payment);

	assert_int_equal(try(f->a, JOB, offer.id, price - 1e-6, 1000, NOW, &o, NULL), AUC_OK);
	assert_false(o.accepted);
	assert_int_equal(o.reason, AUC_REASON_PRICE);
	assert_int_equal(o.payment, offer.payment);
	assert_non_null(strstr(o.message, "the price is above --max-price"));
	auc_offer_clear(&o);
	assert_int_equal(try(f->a, JOB, offer.id, price, 1000, NOW, &o, NULL), AUC_OK);
	assert_true(o.accepted && o.payment == offer.payment);
	auc_offer_clear(&o);
	auc_offer_clear(&offer);
}

static void test_words(void **state)
{
	static const struct {
		const char *globals, *text, *says;
	} wrong[] = {
		{GLOBALS, JOB " accept=05c83f6d94a0be17 quote", "--accept: given with --quote"},
		{GLOBALS, JOB " accept=05C83F6D94A0BE17", "is no offer"},
		{GLOBALS, JOB " accept=", "is no offer"},
		{GLOBALS, JOB " accept", "expected accept=OFFER"},
		{"", JOB " bid=300 accept=05c83f6d94a0be17", "policy dps posts no prices"},
		{"OfferTime=-1\n", JOB " bid=300", NULL},
		{"OfferTime=2h\n", JOB " bid=300", NULL},
	};
	struct auc_conf *conf;
	struct auc_bid bid;
	struct auc_err err;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (!wrong[i].says) {
			assert_int_equal(auc_conf_parse(wrong[i].globals, strlen(wrong[i].globals),
							"auction.conf", &conf, &err),
					 AUC_EINVAL);
			assert_non_null(strstr(err.text, "a time from 0 s to 3600 s"));
			continue;
		}
		conf = world_conf(wrong[i].globals);
		assert_int_equal(auc_bid_parse(conf, wrong[i].text, &bid, &err), AUC_EINVAL);
		if (!strstr(err.text, wrong[i].says))
			fail_msg("%s: %s", wrong[i].text, err.text);
		auc_conf_free(conf);
	}
	conf = world_conf("");
	assert_true(conf->offer_seconds == 60);
	auc_conf_free(conf);
}

/* -- at once -- */

#define THREADS 6
#define ROUNDS  400
#define SHARED  64

static struct auc_auction *auction;
static atomic_ullong ids[SHARED]; /* of the last quotes, anybody's */
static atomic_uint jobs, failures, taken, running;

/* Quotes, and takes one of those that are known, as its user, who is one of four. */
static void *user(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	for (unsigned i = 0; i < ROUNDS; i++) {
		double now = NOW + i / 10.;
		unsigned at = (unsigned)rand_r(&seed) % SHARED;
		struct auc_offer o, again;
		uint64_t id;

		if (try(auction, JOB, 0, -1, at % 4, now, &o, NULL) == AUC_OK) {
			atomic_store(&ids[at], o.id);
			auc_offer_clear(&o);
		}
		at = (unsigned)rand_r(&seed) % SHARED;
		id = atomic_load(&ids[at]);
		if (!id || try(auction, JOB, id, -1, at % 4, now, &o, NULL) != AUC_OK)
			continue;
		if (i % 3) {
			uint32_t job = atomic_fetch_add(&jobs, 1) + 1;

			if (auc_auction_confirm(auction, o.sale, job, NULL, NULL) == AUC_OK) {
				atomic_fetch_add(&taken, 1);
				if (try(auction, JOB, id, -1, at % 4, now, &again, NULL) == AUC_OK)
					atomic_fetch_add(&failures, 1);
				auc_auction_settle(auction, job, "cancelled", now, NULL, NULL);
			}
		} else {
			auc_auction_drop(auction, o.sale, NULL);
		}
		auc_offer_clear(&o);
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void *others(void *arg)
{
	struct auc_server_spec specs[8];

	(void)arg;
	memcpy(specs, world_servers, world_nservers * sizeof(*specs));
	for (unsigned i = 0; atomic_load(&running); i++) {
		specs[1].down = i % 2;
		auc_auction_set_servers(auction, specs, world_nservers - (i % 64 == 63), NOW, NULL);
		auc_auction_tick(auction, NOW);
		if (auc_auction_commit(auction, NULL) != AUC_OK)
			atomic_fetch_add(&failures, 1);
	}
	return NULL;
}

static void test_at_once(void **state)
{
	struct world_auction *f = *state;
	pthread_t threads[THREADS + 1];

	auction = f->a;
	atomic_store(&running, THREADS);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, user, (void *)(i + 1)), 0);
	assert_int_equal(pthread_create(&threads[THREADS], NULL, others, NULL), 0);
	for (unsigned i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&failures), 0);
	assert_true(atomic_load(&taken) > 0);
	assert_true(auc_market_sound(f->a->market));
	assert_int_equal(auc_ledger_check(f->a->ledger, NULL), AUC_OK);
}

#define TABLE(test)  cmocka_unit_test_setup_teardown(test, table_setup, table_teardown)
#define MARKET(test) cmocka_unit_test_setup_teardown(test, set_up, world_auction_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE(test_table),
		TABLE(test_clock),
		TABLE(test_bounds),
		TABLE(test_million),
		cmocka_unit_test(test_names),
		MARKET(test_at_its_price),
		MARKET(test_who_and_what),
		MARKET(test_one_job),
		MARKET(test_late_job),
		MARKET(test_later),
		MARKET(test_place_gone),
		MARKET(test_other_market),
		MARKET(test_limit),
		cmocka_unit_test(test_words),
		MARKET(test_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
