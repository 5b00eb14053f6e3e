/* test_checks.c - invariants that fail at run time (base/check.h), and what the auction does then.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

/* The ledger and the market are made wrong behind the backs of their own functions. */
#include "auction/auction-private.h"
#include "base/check.h"
#include "ledger/ledger-private.h"
#include "market/timeline.h"
#include "unit/support/world.h"

static const char bid[] = "bid=300 epochs=10 worker-time=v100=300s,t4=600s";
static struct auc_err err;

static int setup(void **state)
{
	auc_check_forget();
	return world_auction_setup(state, "Prices=none\n");
}

static int teardown(void **state)
{
	auc_check_forget();
	return world_auction_teardown(state);
}

static void test_first(void **state)
{
	(void)state;
	auc_check_forget();
	assert_true(AUC_CHECK(1 + 1 == 2, "sums"));
	assert_null(auc_check_evidence());
	assert_false(AUC_CHECK(1 + 1 == 3, "sale %d", 7));
	assert_false(AUC_CHECK(false, "later"));
	assert_non_null(strstr(auc_check_evidence(), "test_checks.c:"));
	assert_non_null(strstr(auc_check_evidence(), ": 1 + 1 == 3: sale 7"));
	auc_check_forget();
	assert_null(auc_check_evidence());
}

/* No bid is taken, nobody is told why but the log, and what is sold goes on. */
static void assert_closed(struct auc_auction *a, uint32_t sold)
{
	struct auc_bid b = world_bid(a, bid);
	struct auc_offer o = {0};
	struct json_object *status, *value;

	assert_non_null(auc_check_evidence());
	assert_int_equal(auc_auction_bid(a, &b, 1000, NOW, true, &o, &err), AUC_ESTATE);
	assert_non_null(strstr(err.text, "the auction is closed: a check of its books failed"));
	assert_null(strstr(err.text, auc_check_evidence()));
	status = auc_auction_status(a, NOW);
	assert_non_null(status);
	assert_true(json_object_object_get_ex(status, "ready", &value) &&
		    !json_object_get_boolean(value));
	assert_null(strstr(json_object_to_json_string(status), auc_check_evidence()));
	json_object_put(status);
	assert_int_equal(auc_ledger_start(a->ledger, sold, NOW, &err), AUC_OK);
	assert_int_equal(auc_ledger_settle(a->ledger, sold, 1001, 0, "ended", &err), AUC_OK);
	assert_null(auc_ledger_find_job(a->ledger, sold));
}

static void test_books(void **state)
{
	struct auc_auction *a = ((struct world_auction *)*state)->a;

	world_sell(a, bid, 1, NOW);
	world_sell(a, bid, 2, NOW);
	assert_null(auc_check_evidence());
	a->ledger->live++;
	assert_int_equal(auc_ledger_start(a->ledger, 1, NOW, &err), AUC_OK);
	assert_non_null(strstr(auc_check_evidence(), "ledger.c:"));
	assert_non_null(strstr(auc_check_evidence(), "micro-credits"));
	assert_closed(a, 2);
}

/* Less is in use than a sale has booked. */
static void test_booking(void **state)
{
	struct auc_auction *a = ((struct world_auction *)*state)->a;
	struct auc_market *m = a->market;

	world_sell(a, bid, 1, NOW);
	world_sell(a, bid, 2, NOW);
	for (unsigned t = 0; t < m->slots; t++)
		for (unsigned s = 0; s < m->nservers; s++)
			memset(&m->used[auc_cell(m, t, s) * m->ntres], 0,
			       m->ntres * sizeof(*m->used));
	assert_int_equal(auc_ledger_settle(a->ledger, 1, 1000, 0, "ended", &err), AUC_OK);
	assert_non_null(strstr(auc_check_evidence(), "sale.c:"));
	assert_non_null(strstr(auc_check_evidence(), "in use"));
	assert_closed(a, 2);
}

/* A sale that is not where it belongs stays, and takes no other with it. */
static void test_order(void **state)
{
	struct auc_auction *a = ((struct world_auction *)*state)->a;
	struct auc_ledger *l;
	struct auc_entry *e;

	world_sell(a, bid, 1, NOW);
	world_sell(a, bid, 2, NOW);
	world_sell(a, bid, 3, NOW);
	l = a->ledger;
	e = l->entries[0];
	e->order = l->entries[1]->order;
	l->entries[0] = l->entries[1];
	l->entries[1] = e;
	(void)auc_ledger_settle(l, l->entries[1]->sale.job_id, 1000, 0, "ended", &err);
	assert_non_null(strstr(auc_check_evidence(), "not where it belongs"));
	assert_int_equal(l->count, 3);
	assert_non_null(auc_ledger_find_job(l, 3));
	assert_closed(a, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test_setup_teardown(test_books, setup, teardown),
		cmocka_unit_test_setup_teardown(test_booking, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
