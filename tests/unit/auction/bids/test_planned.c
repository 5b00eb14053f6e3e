/* test_planned.c - bids that say how long their jobs take at most: for how long they are planned.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/auction-private.h"
#include "ledger/why.h"
#include "unit/support/world.h"

static struct auc_err err;

/* One worker and one PS on one node for two slots, as a rule. */
#define TWO_SLOTS " epochs=2 minibatches=100 chunks=1 worker-time=v100=3s ps-time=ps.m=0"

static unsigned slots_of(const struct auc_offer *o)
{
	return (unsigned)((o->end - o->start) / SLOT);
}

/* All of it, as what is not used is paid back; its user and its receipt are told. */
static void test_longest(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_offer o = world_offer(a, "100" TWO_SLOTS, NOW, true);
	struct auc_sale_view v;
	struct auc_receipt r;
	double start, end;
	char *receipt;

	(void)state;
	assert_int_equal(slots_of(&o), 2);
	assert_null(strstr(o.message, "planned for"));
	assert_null(strstr(o.receipt, "planned"));
	auc_offer_clear(&o);
	o = world_offer(a, "100 time-max=2x" TWO_SLOTS, NOW, true);
	assert_true(o.accepted);
	assert_int_equal(slots_of(&o), 4);
	assert_non_null(strstr(o.message, "planned for 2 times the time that it states"));
	assert_int_equal(auc_receipt_parse(o.receipt, &r, &err), AUC_OK);
	assert_true(r.planned == 2);
	auc_receipt_clear(&r);
	assert_int_equal(auc_auction_confirm(a, o.sale, 7, NULL, &err), AUC_OK);
	assert_int_equal(auc_auction_start(a, 7, o.start, &receipt, &err), AUC_OK);
	free(receipt);
	start = o.start;
	end = o.end;
	auc_offer_clear(&o);
	/* On disk, too, and the settled receipt says it. */
	world_commit(a);
	auc_auction_destroy(a);
	a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	assert_int_equal(auc_auction_sale_of_job(a, 7, &v, &err), AUC_OK);
	assert_true(v.end == end);
	auc_sale_view_clear(&v);
	assert_int_equal(
		auc_auction_settle(a, 7, AUC_WHY_COMPLETED, start + 2 * SLOT, &receipt, &err),
		AUC_OK);
	assert_int_equal(auc_receipt_parse(receipt, &r, &err), AUC_OK);
	assert_true(r.planned == 2);
	auc_receipt_clear(&r);
	free(receipt);
	auc_auction_destroy(a);
}

/* Where the longest is worth nothing when it is over, a shorter plan is bought; where only what is
 * stated is possible, that. A refusal speaks of what is stated. */
static void test_shorter(void **state)
{
	struct auc_auction *a = world_open("Prices=given\nEta=gpu:v100=20", world_dir, NOW);
	struct auc_offer o = world_offer(a, "deadline:100,3 time-max=2x" TWO_SLOTS, NOW, false);

	(void)state;
	assert_true(o.accepted);
	assert_int_equal(slots_of(&o), 3);
	auc_offer_clear(&o);
	o = world_offer(a, "deadline:100,2 time-max=2x" TWO_SLOTS, NOW, false);
	assert_true(o.accepted);
	assert_int_equal(slots_of(&o), 2);
	assert_null(strstr(o.message, "planned for"));
	auc_offer_clear(&o);
	o = world_offer(a, "deadline:100,1 time-max=2x" TWO_SLOTS, NOW, false);
	assert_false(o.accepted);
	assert_int_equal(slots_of(&o), 2);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* Where it is refused it may stand, and prices learn from what it states. */
static void test_kept(void **state)
{
	struct auc_auction *a = world_open("Prices=learned", world_dir, NOW);
	struct auc_bid_log *log = a->bid_log;
	struct auc_offer o = world_offer(a, "100 time-max=2x" TWO_SLOTS, NOW, true);

	(void)state;
	assert_true(o.accepted);
	assert_int_equal(auc_auction_confirm(a, o.sale, 7, NULL, &err), AUC_OK);
	auc_offer_clear(&o);
	assert_true(auc_bid_log_count(log) > 0);
	for (unsigned i = 0; i < auc_bid_log_count(log); i++)
		assert_null(strstr(auc_bid_log_at(log, i)->text, "planned"));
	auc_auction_destroy(a);
}

/* One job after the other that takes FACTOR of the two slots that it states. */
static void run(struct auc_auction *a, uint32_t first, unsigned n, double factor)
{
	for (unsigned i = 0; i < n; i++) {
		struct auc_offer o = world_offer(a, "100 overrun=kill" TWO_SLOTS, NOW, true);
		double end = o.start + 2 * SLOT * factor;

		assert_true(o.accepted);
		assert_int_equal(auc_auction_confirm(a, o.sale, first + i, NULL, &err), AUC_OK);
		assert_int_equal(auc_auction_start(a, first + i, o.start, NULL, &err), AUC_OK);
		assert_int_equal(
			auc_auction_settle(a, first + i,
					   end < o.end ? AUC_WHY_COMPLETED : AUC_WHY_TIMEOUT,
					   end < o.end ? end : o.end, NULL, &err),
			AUC_OK);
		auc_offer_clear(&o);
	}
}

/* The margin is no less than what is stated, and no more than twice that, whatever jobs took; it is
 * known after a restart; a bid that is only accepted as stated is. */
static void test_learned(void **state)
{
	static const char conf[] = "Prices=none\nMargin=learned:0.9";
	struct auc_auction *a = world_open(conf, world_dir, NOW);
	struct auc_offer o;

	(void)state;
	/* Nobody is exact. */
	o = world_offer(a, "100" TWO_SLOTS, NOW, false);
	assert_int_equal(slots_of(&o), 3);
	assert_non_null(strstr(o.message, "(as jobs before took longer, too)"));
	auc_offer_clear(&o);
	o = world_offer(a, "deadline:100,2" TWO_SLOTS, NOW, false);
	assert_true(o.accepted);
	assert_int_equal(slots_of(&o), 2);
	assert_null(strstr(o.message, "planned for"));
	auc_offer_clear(&o);
	/* Who says how long it takes at most has said it. */
	o = world_offer(a, "100 time-max=1x" TWO_SLOTS, NOW, false);
	assert_int_equal(slots_of(&o), 2);
	auc_offer_clear(&o);
	run(a, 1, 40, 0.2);
	/* As all are of one user. */
	assert_int_equal(auc_job_times_count(a->job_times), 17);
	o = world_offer(a, "100" TWO_SLOTS, NOW, false);
	assert_int_equal(slots_of(&o), 2);
	auc_offer_clear(&o);
	run(a, 1000, 60, 9);
	o = world_offer(a, "100" TWO_SLOTS, NOW, false);
	assert_true(o.accepted);
	assert_int_equal(slots_of(&o), 4);
	auc_offer_clear(&o);
	world_commit(a);
	auc_auction_destroy(a);
	a = world_open(conf, world_dir, NOW);
	assert_int_equal(auc_job_times_count(a->job_times), 17);
	o = world_offer(a, "100" TWO_SLOTS, NOW, false);
	assert_int_equal(slots_of(&o), 4);
	auc_offer_clear(&o);
	auc_auction_destroy(a);
	/* A site that plans by a number. */
	a = world_open("Prices=none\nMargin=1.5", world_dir, NOW);
	o = world_offer(a, "100" TWO_SLOTS, NOW, false);
	assert_int_equal(slots_of(&o), 3);
	assert_non_null(strstr(o.message, "(Margin of this cluster)"));
	auc_offer_clear(&o);
	auc_auction_destroy(a);
}

/* No margin is another one as somebody bids more. */
static void test_sealed(void **state)
{
	static const char *const bids[] = {"1", "100", "1e6", "deadline:30,60", "linear:100,1"};
	struct auc_auction *a = world_open("Prices=none\nMargin=learned", world_dir, NOW);
	char text[256];

	(void)state;
	run(a, 1, 30, 1.4);
	for (size_t i = 0; i < sizeof(bids) / sizeof(bids[0]); i++) {
		struct auc_offer o;

		snprintf(text, sizeof(text), "%s" TWO_SLOTS, bids[i]);
		o = world_offer(a, text, NOW, false);
		assert_true(o.accepted);
		assert_int_equal(slots_of(&o), 3);
		assert_non_null(strstr(o.message, "planned for 1.4 times"));
		auc_offer_clear(&o);
	}
	auc_auction_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_longest, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_shorter, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_kept, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_learned, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_sealed, world_setup, world_teardown),
	};

	return cmocka_run_group_tests_name("planned", tests, NULL, NULL);
}
