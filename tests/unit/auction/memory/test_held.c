/*
 * test_held.c - bids that stand: whose turn it is, when they are decided again, what they are worth
 * then, what they teach, and how many may stand.
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
#include "auction/memory/held_bids.h"
#include "ledger/why.h"
#include "unit/support/world.h"

#define LONG  "90000 epochs=99 minibatches=100 worker-time=v100=3s ps-time=ps.m=0"
#define SHORT " epochs=4 chunks=1 minibatches=100 worker-time=v100=3s ps-time=ps.m=0 stands=2h"
#define GANG  "deadline:900,20 gang=1:1200:cpu=4,mem=8192,gpu:v100=1 stands=2h"
#define POSTED                                                                                     \
	"epochs=10 chunks=2 minibatches=100 gradient-mb=1 worker-time=v100=1s ps-time=ps.m=10ms "  \
	"stands=2h"
#define GPUS 8 /* of the type that they want */

static struct auc_err err;

static void put(struct auc_held_bids *h, const char *id, uint32_t uid, uint32_t job, double since)
{
	struct auc_held_bid bid = {.uid = uid, .job_id = job, .since = since, .text = (char *)"3"};

	snprintf(bid.id, sizeof(bid.id), "%s", id);
	assert_int_equal(auc_held_bids_add(h, &bid, &err), AUC_OK);
}

/* Takes the turns of SLOT, and says whose they were. */
static const char *turns(struct auc_held_bids *h, auc_slot slot)
{
	static char text[256];
	struct auc_held_bid *bid;
	size_t len = 0;

	text[0] = '\0';
	while ((bid = auc_held_bids_next(h, slot))) {
		bid->slot = slot;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s ", bid->id);
	}
	return text;
}

static void test_turns(void **state)
{
	struct auc_held_bids *h = auc_held_bids_create();

	(void)state;
	put(h, "a1", 1, 11, 100);
	put(h, "a2", 1, 12, 200);
	put(h, "a3", 1, 13, 300);
	put(h, "c1", 3, 31, 250);
	put(h, "b1", 2, 21, 220);
	put(h, "x", 4, 0, 50); /* nobody has seen its job */
	assert_string_equal(turns(h, 5), "a1 b1 c1 a2 a3 ");
	assert_string_equal(turns(h, 5), "");
	assert_string_equal(turns(h, 6), "a1 b1 c1 a2 a3 ");
	/* Who has just been sold something does not come sooner with the next in this slot. */
	auc_held_bids_next(h, 7)->slot = 7;
	auc_held_bids_remove(h, "a1");
	assert_string_equal(turns(h, 7), "b1 c1 a2 a3 ");
	assert_string_equal(turns(h, 8), "a2 b1 c1 a3 ");
	/* The clock is set back. */
	assert_string_equal(turns(h, 3), "a2 b1 c1 a3 ");
	assert_string_equal(turns(h, 3), "");
	assert_string_equal(turns(h, 4), "a2 b1 c1 a3 ");
	assert_int_equal(auc_held_bids_of(h, 1), 2);
	assert_int_equal(auc_held_bids_count(h), 5);
	auc_held_bids_find(h, "x")->lapses = 10;
	auc_held_bids_lapse(h, 11);
	assert_null(auc_held_bids_find(h, "x"));
	assert_int_equal(auc_held_bids_count(h), 4);
	assert_string_equal(auc_held_bids_find_job(h, 31)->id, "c1");
	assert_null(auc_held_bids_find_job(h, 0));
	auc_held_bids_destroy(h);
}

/* All GPUs are sold for long, as jobs 1 to GPUS. */
static struct auc_auction *full(const char *globals)
{
	struct auc_auction *a = world_open(globals, world_dir, NOW);

	for (uint32_t i = 1; i <= GPUS; i++)
		world_sell(a, LONG, i, NOW);
	return a;
}

/* TEXT of UID is refused at NOW_ and stands; its job JOB is seen. Its id in *ID. */
static enum auc_code stand(struct auc_auction *a, const char *text, uint32_t uid, uint32_t job,
			   double now, char *id, char **receipt)
{
	struct auc_bid bid = world_bid(a, text);
	char *made = NULL;
	struct auc_offer o;
	struct auc_receipt r;
	enum auc_code rc;

	assert_int_equal(auc_auction_bid(a, &bid, uid, now, true, &o, &err), AUC_OK);
	assert_false(o.accepted);
	rc = auc_auction_held_add(a, &bid, uid, now, o.message, NULL, &made, &err);
	auc_offer_clear(&o);
	if (rc != AUC_OK)
		return rc;
	assert_int_equal(auc_receipt_parse(made, &r, &err), AUC_OK);
	assert_string_equal(r.state, "waiting");
	assert_true(r.until == now + bid.stands);
	strcpy(id, r.sale);
	assert_int_equal(auc_auction_held_seen(a, made, job, uid, &err), AUC_OK);
	assert_int_equal(auc_auction_held_seen(a, made, job, uid, &err), AUC_EEXIST);
	assert_int_equal(auc_auction_held_seen(a, made, job + 1, uid, &err), AUC_EINVAL);
	if (receipt)
		*receipt = made;
	else
		free(made);
	return AUC_OK;
}

static enum auc_held_turn turn(struct auc_auction *a, double now, char *id, struct auc_bid *bid)
{
	struct auc_held_view v;
	enum auc_held_turn t = auc_auction_held_next(a, now, &v, bid);

	if (t != AUC_HELD_NONE)
		strcpy(id, v.id);
	return t;
}

static void test_decided_again(void **state)
{
	struct auc_auction *a = full("Prices=none");
	char id[AUC_SALE_ID_LEN], whose[AUC_SALE_ID_LEN] = "";
	struct auc_bid bid;
	struct auc_offer o;
	struct auc_sale_view view;
	double t = NOW;

	(void)state;
	assert_int_equal(stand(a, GANG, 1000, 50, t, id, NULL), AUC_OK);
	assert_true(auc_auction_is_held(a, 50));
	/* Not again in the same slot, nor for nothing in the next. */
	assert_int_equal(turn(a, t, whose, &bid), AUC_HELD_NONE);
	t += SLOT;
	assert_int_equal(turn(a, t, whose, &bid), AUC_HELD_PASSED);
	assert_int_equal(turn(a, t, whose, &bid), AUC_HELD_NONE);
	/* Room of another kind is no change that it could use. */
	world_sell(a, "90000 epochs=99 minibatches=100 worker-time=t4=3s ps-time=ps.m=0", 90, t);
	assert_int_equal(auc_auction_settle(a, 90, AUC_WHY_CANCELLED, t, NULL, &err), AUC_OK);
	t += SLOT;
	assert_int_equal(turn(a, t, whose, &bid), AUC_HELD_PASSED);
	/* Its own is. */
	assert_int_equal(auc_auction_settle(a, 3, AUC_WHY_FAILED, t, NULL, &err), AUC_OK);
	t += SLOT;
	assert_int_equal(turn(a, t, whose, &bid), AUC_HELD_DUE);
	assert_string_equal(whose, id);
	assert_int_equal(auc_auction_bid_again(a, id, &bid, t, &o, &err), AUC_OK);
	assert_true(o.accepted);
	assert_int_equal(auc_auction_confirm(a, o.sale, 50, NULL, &err), AUC_OK);
	assert_null(auc_auction_held_end(a, id, NULL, t));
	assert_false(auc_auction_is_held(a, 50));
	assert_int_equal(auc_auction_sale_of_job(a, 50, &view, &err), AUC_OK);
	assert_true(view.start == t + SLOT && view.end == t + 5 * SLOT);
	auc_sale_view_clear(&view);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* The value counts from the submission: what it was worth then it is not worth later. */
static void test_value(void **state)
{
	struct auc_auction *a = full("Prices=none");
	char id[AUC_SALE_ID_LEN], late[AUC_SALE_ID_LEN], whose[AUC_SALE_ID_LEN];
	struct auc_bid bid;
	struct auc_offer o;
	char *last;

	(void)state;
	/* 5 credits less each slot; it takes four. */
	assert_int_equal(stand(a, "linear:100,5" SHORT, 1000, 50, NOW, id, NULL), AUC_OK);
	assert_int_equal(stand(a, "deadline:100,9" SHORT, 1001, 51, NOW, late, NULL), AUC_OK);
	assert_int_equal(auc_auction_settle(a, 3, AUC_WHY_FAILED, NOW, NULL, &err), AUC_OK);
	assert_int_equal(turn(a, NOW + 6 * SLOT, whose, &bid), AUC_HELD_DUE);
	assert_string_equal(whose, id);
	assert_int_equal(auc_auction_bid_again(a, id, &bid, NOW + 6 * SLOT, &o, &err), AUC_OK);
	assert_true(o.accepted);
	assert_int_equal(o.value, auc_money_from(100 - 5 * 10));
	auc_auction_drop(a, o.sale, NULL);
	auc_offer_clear(&o);
	/* Six slots later there are three left of nine: too few for four. */
	assert_int_equal(turn(a, NOW + 6 * SLOT, whose, &bid), AUC_HELD_DUE);
	assert_string_equal(whose, late);
	assert_int_equal(auc_auction_bid_again(a, late, &bid, NOW + 6 * SLOT, &o, &err), AUC_OK);
	assert_false(o.accepted);
	auc_offer_clear(&o);
	auc_auction_held_end(a, id, NULL, NOW);
	assert_int_equal(turn(a, NOW + 9 * SLOT, whose, &bid), AUC_HELD_WORTHLESS);
	last = auc_auction_held_end(a, late, AUC_WHY_WORTHLESS, NOW + 9 * SLOT);
	assert_non_null(strstr(last, "\"state\":\"unsold\""));
	assert_non_null(strstr(last, "\"why\":\"worthless\""));
	free(last);
	bid.ask = AUC_ASK_WHY;
	last = auc_auction_tell(a, &bid, 1001, NOW + 9 * SLOT);
	assert_non_null(strstr(last, "job 51: the bid stood and was not sold"));
	free(last);
	auc_auction_destroy(a);
}

static void test_limits(void **state)
{
	struct auc_auction *a = full("Prices=none\nUserQuotes=0\nUserStands=2\nStands=3");
	char id[AUC_SALE_ID_LEN];

	(void)state;
	assert_int_equal(stand(a, "deadline:9,20" SHORT, 1000, 50, NOW, id, NULL), AUC_OK);
	assert_int_equal(stand(a, "deadline:9,20" SHORT, 1000, 51, NOW, id, NULL), AUC_OK);
	assert_int_equal(stand(a, "deadline:9,20" SHORT, 1000, 52, NOW, id, NULL), AUC_ELIMIT);
	assert_non_null(strstr(err.text, "2 of your bids stand (UserStands=2)"));
	assert_int_equal(stand(a, "deadline:9,20" SHORT, 1001, 53, NOW, id, NULL), AUC_OK);
	assert_int_equal(stand(a, "deadline:9,20" SHORT, 1002, 54, NOW, id, NULL), AUC_ELIMIT);
	assert_non_null(strstr(err.text, "3 bids of all users stand (Stands=3)"));
	free(auc_auction_held_end(a, id, AUC_WHY_CANCELLED, NOW));
	assert_int_equal(stand(a, "deadline:9,20" SHORT, 1002, 54, NOW, id, NULL), AUC_OK);
	auc_auction_destroy(a);
}

/* After a restart it is known by its job's receipt, which others cannot read or make. */
static void test_restart(void **state)
{
	struct auc_auction *a = full("Prices=none");
	char id[AUC_SALE_ID_LEN], whose[AUC_SALE_ID_LEN];
	struct auc_bid bid;
	char *receipt, *forged;

	(void)state;
	assert_int_equal(stand(a, "deadline:987654,20" SHORT, 1000, 50, NOW, id, &receipt), AUC_OK);
	assert_null(strstr(receipt, "987654"));
	auc_auction_destroy(a);
	a = world_open("Prices=none", world_dir, NOW);
	assert_false(auc_auction_is_held(a, 50));
	forged = strdup(receipt);
	forged[strlen(forged) - 8] ^= 1;
	assert_int_equal(auc_auction_held_seen(a, forged, 50, 1000, &err), AUC_EINVAL);
	assert_int_equal(auc_auction_held_seen(a, receipt, 50, 1000, &err), AUC_OK);
	/* What has changed meanwhile is not known. */
	assert_int_equal(turn(a, NOW + SLOT, whose, &bid), AUC_HELD_DUE);
	assert_string_equal(whose, id);
	/* The first slot that it could have had. */
	assert_true(bid.since == NOW + SLOT);
	free(forged);
	free(receipt);
	auc_auction_destroy(a);
}

/* How many bids are kept for prices to learn from. */
static int64_t kept(struct auc_auction *a, double now)
{
	struct json_object *o = auc_auction_status(a, now), *learned = NULL, *n = NULL;
	int64_t bids;

	assert_true(json_object_object_get_ex(o, "learning", &learned));
	assert_true(json_object_object_get_ex(learned, "kept", &n));
	bids = json_object_get_int64(n);
	json_object_put(o);
	return bids;
}

/* However often it is refused, prices learn from it once, and the totals count one refusal. */
static void test_teaches_once(void **state)
{
	struct auc_auction *a = full("Prices=learned");
	char id[AUC_SALE_ID_LEN], whose[AUC_SALE_ID_LEN];
	uint64_t refused;
	struct auc_bid bid;
	struct auc_offer o;

	(void)state;
	assert_int_equal(stand(a, "deadline:900,20" SHORT, 1000, 50, NOW, id, NULL), AUC_OK);
	refused = world_totals(a).refused;
	for (int i = 1; i < 9; i++) {
		double t = NOW + i * SLOT;

		auc_auction_held_again(a, id, t, true);
		assert_int_equal(turn(a, t, whose, &bid), AUC_HELD_DUE);
		assert_int_equal(auc_auction_bid_again(a, id, &bid, t, &o, &err), AUC_OK);
		assert_false(o.accepted);
		assert_null(o.message);
		auc_offer_clear(&o);
	}
	assert_int_equal(world_totals(a).refused, refused);
	assert_int_equal(kept(a, NOW + 9 * SLOT), GPUS + 1);
	auc_auction_destroy(a);
}

/* Refused for want of money it stands, and money is a change. */
static void test_money(void **state)
{
	struct auc_transfer t = {.id = "by-hand",
				 .code = AUC_TRANSFER_GRANT,
				 .when = 1000,
				 .period = -1,
				 .account = "user:1000",
				 .amount = 100000000};
	/* Every GPU costs two credits a slot. */
	struct auc_auction *a =
		world_open("Policy=oasis\nPrices=given\nLower=gpu:v100=2\nUpper=gpu:v100=2\n"
			   "Budgets=user",
			   world_dir, NOW);
	char id[AUC_SALE_ID_LEN], whose[AUC_SALE_ID_LEN];
	struct auc_bid bid;
	struct auc_offer o;

	(void)state;
	assert_int_equal(stand(a, "deadline:900,30" SHORT, 1000, 50, NOW, id, NULL), AUC_OK);
	assert_int_equal(turn(a, NOW + SLOT, whose, &bid), AUC_HELD_PASSED);
	assert_int_equal(auc_auction_transfer(a, &t, &err), AUC_OK);
	assert_int_equal(turn(a, NOW + 2 * SLOT, whose, &bid), AUC_HELD_DUE);
	assert_int_equal(auc_auction_bid_again(a, id, &bid, NOW + 2 * SLOT, &o, &err), AUC_OK);
	assert_true(o.accepted && o.payment == 8000000);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* Where prices are posted, a limit that stands is one answer, and its purchase none. */
static void test_posted(void **state)
{
	struct auc_auction *a = world_open("Policy=posted,seed=4\nSlots=100", world_dir, NOW);
	char id[AUC_SALE_ID_LEN];
	struct auc_bid bid = world_bid(a, POSTED);
	char *receipt;
	struct auc_offer o;
	unsigned n;

	(void)state;
	assert_int_equal(auc_auction_bid(a, &bid, 1000, NOW, false, &o, &err), AUC_OK);
	bid.max_price = auc_money_to(o.payment) / 2;
	auc_offer_clear(&o);
	assert_int_equal(auc_auction_bid(a, &bid, 1000, NOW, true, &o, &err), AUC_OK);
	assert_false(o.accepted);
	assert_int_equal(auc_auction_held_add(a, &bid, 1000, NOW, o.message, NULL, &receipt, &err),
			 AUC_OK);
	auc_offer_clear(&o);
	assert_int_equal(auc_auction_held_seen(a, receipt, 50, 1000, &err), AUC_OK);
	free(receipt);
	n = auc_posted_answers_count(a->answers);
	assert_int_equal(n, 1);
	for (int i = 1; i < 9; i++) {
		double limit = bid.max_price;

		assert_int_equal(turn(a, NOW + i * SLOT, id, &bid), AUC_HELD_DUE);
		assert_true(bid.max_price == limit);
		assert_int_equal(auc_auction_bid_again(a, id, &bid, NOW + i * SLOT, &o, &err),
				 AUC_OK);
		assert_false(o.accepted);
		auc_offer_clear(&o);
	}
	assert_int_equal(auc_posted_answers_count(a->answers), n);
	assert_int_equal(turn(a, NOW + 9 * SLOT, id, &bid), AUC_HELD_DUE);
	bid.max_price = 1e6;
	assert_int_equal(auc_auction_bid_again(a, id, &bid, NOW + 9 * SLOT, &o, &err), AUC_OK);
	assert_true(o.accepted);
	assert_int_equal(auc_auction_confirm(a, o.sale, 50, NULL, &err), AUC_OK);
	assert_int_equal(auc_posted_answers_count(a->answers), n);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* TEXT for each task of an array of N, of which AT_ONCE may run at a time; its job 50 is seen. */
static char *stand_array(struct auc_auction *a, const char *text, unsigned n, unsigned at_once,
			 char *id)
{
	struct auc_array_tasks array = {.n = n, .at_once = at_once};
	struct auc_bid bid = world_bid(a, text);
	struct auc_receipt r;
	char *receipt;

	assert_int_equal(auc_auction_held_add(a, &bid, 1000, NOW, NULL, &array, &receipt, &err),
			 AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_int_equal(r.tasks, n);
	strcpy(id, r.sale);
	assert_int_equal(auc_auction_held_seen(a, receipt, 50, 1000, &err), AUC_OK);
	return receipt;
}

/* The tasks of an array are due at once, and again as often as it is asked for; each that pays is
 * held, whatever its user's other limits, until one does not. */
static void test_array(void **state)
{
	struct auc_auction *a = world_open("UserQuotes=1\nUserLiens=1\n", world_dir, NOW);
	char id[AUC_SALE_ID_LEN], name[AUC_SALE_ID_LEN], *receipt;
	struct auc_held_view v;
	struct auc_bid bid;
	struct auc_offer o;
	unsigned sold = 0;

	(void)state;
	free(stand_array(a, LONG, 20, 0, id));
	assert_int_equal(turn(a, NOW, name, &bid), AUC_HELD_DUE);
	assert_string_equal(name, id);
	assert_int_equal(turn(a, NOW, name, &bid), AUC_HELD_NONE);
	auc_auction_held_again(a, id, NOW, true);
	assert_int_equal(auc_auction_held_next(a, NOW, &v, &bid), AUC_HELD_DUE);
	assert_int_equal(v.tasks, 20);
	assert_int_equal(v.at_once, 0);
	assert_false(v.stays);
	for (; sold < 20; sold++) {
		assert_int_equal(auc_auction_bid_task(a, id, &bid, NOW, &o, &err), AUC_OK);
		if (!o.accepted)
			break;
		assert_non_null(o.receipt);
		auc_offer_clear(&o);
	}
	assert_int_equal(sold, 2 * GPUS);
	/* Why not is for who has asked for all of them. */
	assert_non_null(strstr(o.message, "auction: refused: "));
	auc_offer_clear(&o);
	receipt = auc_auction_array_end(a, id, 20 - sold, "refused", "auction: job 50: ...", NOW);
	assert_non_null(strstr(receipt, "\"state\":\"unsold\""));
	assert_non_null(strstr(receipt, "\"tasks\":4,\"why\":\"refused\""));
	free(receipt);
	assert_false(auc_auction_is_held(a, 50));
	assert_int_equal(auc_auction_bid_task(a, id, &bid, NOW, &o, &err), AUC_ENOENT);
	bid.ask = AUC_ASK_WHY;
	receipt = auc_auction_tell(a, &bid, 1000, NOW);
	assert_non_null(strstr(receipt, "auction: job 50: ..."));
	free(receipt);
	auc_auction_destroy(a);
}

/* When an array ends is known once no task of it waits: with the last of its sales. */
static void test_array_ends(void **state)
{
	struct auc_auction *a = world_open("", world_dir, NOW);
	char id[AUC_SALE_ID_LEN];
	struct auc_held_view v;
	struct auc_bid bid;
	double from, end, last = 0;

	(void)state;
	free(stand_array(a, LONG, GPUS + 1, 0, id));
	assert_int_equal(auc_auction_held_next(a, NOW, &v, &bid), AUC_HELD_DUE);
	for (uint32_t i = 0; i <= GPUS; i++) {
		struct auc_offer o;

		assert_int_equal(auc_auction_bid_task(a, id, &bid, NOW, &o, &err), AUC_OK);
		assert_true(o.accepted && o.end >= last);
		last = o.end;
		/* The last one has the array's own number, as in Slurm. */
		assert_int_equal(auc_auction_confirm(a, o.sale, i < GPUS ? 51 + i : 50, NULL, &err),
				 AUC_OK);
		auc_offer_clear(&o);
	}
	assert_true(auc_auction_decides(a, 1000));
	assert_false(auc_auction_decides(a, 1001));
	assert_false(auc_auction_times(a, 50, &from, &end));
	free(auc_auction_held_end(a, id, NULL, NOW));
	assert_false(auc_auction_decides(a, 1000));
	/* The one with that number is over, others are not. */
	assert_int_equal(auc_auction_settle(a, 50, "cancelled", NOW, NULL, &err), AUC_OK);
	assert_true(auc_auction_times(a, 50, &from, &end));
	assert_true(end > NOW && from > NOW - 60 && from < end);
	assert_true(auc_auction_times(a, 51, &from, &last));
	assert_true(end == last);
	/* Its own end, not the array's. */
	assert_true(auc_auction_job_ends(a, 51, &last));
	assert_true(last <= end && last > NOW);
	assert_false(auc_auction_job_ends(a, 50, &last));
	assert_false(auc_auction_times(a, 5, &from, &end));
	auc_auction_destroy(a);
}

/* After a restart the receipt says what there is to know of an array. */
static void test_array_again(void **state)
{
	struct auc_auction *a = world_open("StandsMax=1h\n", world_dir, NOW);
	char id[AUC_SALE_ID_LEN], *receipt;
	struct auc_held_view v;
	struct auc_bid bid;

	(void)state;
	receipt = stand_array(a, LONG " stands=100s", 7, 2, id);
	free(auc_auction_held_end(a, id, NULL, NOW));
	assert_int_equal(auc_auction_held_next(a, NOW, &v, &bid), AUC_HELD_NONE);
	assert_int_equal(auc_auction_held_seen(a, receipt, 50, 1000, &err), AUC_OK);
	assert_int_equal(auc_auction_held_next(a, NOW, &v, &bid), AUC_HELD_DUE);
	assert_string_equal(v.id, id);
	assert_int_equal(v.tasks, 7);
	assert_int_equal(v.at_once, 2);
	assert_true(v.stays);
	/* Its sales say so: other jobs may wait for all of them. */
	assert_int_equal(bid.array, 50);
	free(receipt);
	auc_auction_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test_setup_teardown(test_decided_again, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_value, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_limits, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_restart, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_money, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_posted, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_array, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_array_ends, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_array_again, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_teaches_once, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
