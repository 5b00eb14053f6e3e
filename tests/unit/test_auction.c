/* test_auction.c - the facade: one bid's life, messages and their hints, refunds, restarts,
 * changing nodes. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_life, setup, teardown),
	};
	(void)sell;
	return cmocka_run_group_tests_name("auction", tests, NULL, NULL);
}
