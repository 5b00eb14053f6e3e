/* test_board.c - the board of standard shapes: the price is what a bid pays, nothing is left of the
 * look, one look for each shape in a slot, and a reason where there is no price. */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "base/num.h"
#include "unit/support/world.h"

#define CONF                                                                                       \
	"Prices=given\nEta=gpu:v100=20,gpu:t4=8\nSlots=50\n"                                       \
	"Shape=two Nodes=1 GpusPerNode=2 Type=v100 Time=600\n"                                     \
	"Shape=one Nodes=1 GpusPerNode=1 Type=v100 Time=600\n"                                     \
	"Shape=any Nodes=2 GpusPerNode=1 Time=300\n"                                               \
	"Shape=huge Nodes=1 GpusPerNode=8 Type=v100 Time=600\n"                                    \
	"Shape=far Nodes=1 GpusPerNode=1 Time=600 Partition=cloud\n"                               \
	"Shape=long Nodes=1 GpusPerNode=1 Time=100000\n"                                           \
	"Shape=none Nodes=1 GpusPerNode=1 Type=h100 Time=600\n"
#define SHAPES 7

static struct auc_err err;

static int set_up(void **state)
{
	return world_auction_setup(state, CONF);
}

static unsigned steps(struct auc_auction *a, double now)
{
	unsigned n = 0;

	while (auc_auction_board_step(a, now))
		assert_true(++n <= 100);
	return n;
}

/* The row of SHAPE. */
static struct json_object *row(struct json_object *status, const char *shape)
{
	struct json_object *board = json_object_object_get(status, "board"), *o;

	for (size_t i = 0; i < json_object_array_length(board); i++) {
		o = json_object_array_get_idx(board, i);
		if (!strcmp(json_object_get_string(json_object_object_get(o, "shape")), shape))
			return o;
	}
	fail_msg("no row %s", shape);
	return NULL;
}

static const char *text(struct json_object *o, const char *a, const char *b)
{
	o = json_object_object_get(o, a);
	o = b ? json_object_object_get(o, b) : o;
	return o ? json_object_get_string(o) : "(none)";
}

/* ROW says under WHICH what BID is offered. */
static void same(struct auc_auction *a, const char *bid, struct json_object *row, const char *which)
{
	struct auc_offer o = world_offer(a, bid, NOW, false);
	struct json_object *price = json_object_object_get(row, which);
	char paid[AUC_MONEY_LEN];

	assert_true(o.accepted);
	assert_string_equal(text(row, which, "price"), auc_money_str(o.payment, paid));
	assert_true(json_object_get_double(json_object_object_get(price, "start")) == o.start);
	assert_true(json_object_get_double(json_object_object_get(price, "end")) == o.end);
	auc_offer_clear(&o);
}

static void test_a_price_is_what_a_bid_pays(void **state)
{
	struct auc_auction *a = ((struct world_auction *)*state)->a;
	struct json_object *status, *one;

	/* Half of each edge node for some slots: the soonest is dearer than what comes after. */
	for (uint32_t job = 1; job <= 4; job++)
		world_sell(a, "bid=10000 gang=1:1800:cpu=1,gpu:v100=1", job, NOW);
	assert_int_equal(steps(a, NOW), SHAPES);
	status = auc_auction_status(a, NOW);
	one = row(status, "one");
	/* The cheapest: as a bid that does not fall with time. The soonest: as one that is worth
	 * nothing later. */
	same(a, "bid=10000 gang=1:600:cpu=1,gpu:v100=1", one, "cheapest");
	same(a, "bid=deadline:10000,2 gang=1:600:cpu=1,gpu:v100=1", one, "soonest");
	assert_string_not_equal(text(one, "soonest", "price"), text(one, "cheapest", "price"));
	assert_string_equal(text(one, "why", NULL), "");
	assert_string_equal(text(row(status, "two"), "soonest", "partition"), "edge");
	assert_string_equal(text(row(status, "far"), "soonest", "partition"), "cloud");
	json_object_put(status);
}

/* Nor does a bid after it pay another price. */
static void test_nothing_is_left_of_a_look(void **state)
{
	struct auc_auction *a = ((struct world_auction *)*state)->a;
	struct json_object *before = auc_auction_status(a, NOW), *after;

	assert_int_equal(steps(a, NOW), SHAPES);
	after = auc_auction_status(a, NOW);
	json_object_object_del(before, "board");
	json_object_object_del(after, "board");
	assert_string_equal(json_object_to_json_string(before), json_object_to_json_string(after));
	json_object_put(before);
	json_object_put(after);
}

static void test_each_shape_once_in_a_slot(void **state)
{
	struct auc_auction *a = ((struct world_auction *)*state)->a;

	assert_int_equal(steps(a, NOW), SHAPES);
	assert_int_equal(steps(a, NOW + SLOT - 1), 0);
	assert_int_equal(steps(a, NOW + SLOT), SHAPES);
	/* Another configuration has other shapes, or none. */
	assert_int_equal(auc_auction_reconfigure(a, world_conf("Shape=one GpusPerNode=1 Time=300"),
						 NOW + SLOT, &err),
			 AUC_OK);
	assert_int_equal(steps(a, NOW + SLOT), 1);
	assert_int_equal(auc_auction_reconfigure(a, world_conf(""), NOW + SLOT, &err), AUC_OK);
	assert_int_equal(steps(a, NOW + SLOT), 0);
	auc_auction_break(a, "a disk is full");
	assert_int_equal(steps(a, NOW + 2 * SLOT), 0);
}

static void test_reasons(void **state)
{
	struct auc_auction *a = ((struct world_auction *)*state)->a;
	struct auc_partition_limit l = {.partition = "cloud",
					.paused = true,
					.seconds = INFINITY,
					.nodes = UINT_MAX,
					.mem_per_cpu = INFINITY,
					.mem_per_node = INFINITY};
	struct json_object *status;

	assert_int_equal(auc_auction_limit(a, &l, 1, &err), AUC_OK);
	/* All of the edge, for all there is. */
	for (uint32_t job = 1; job <= 4; job++)
		world_sell(a, "bid=100000000 gang=1:14700:cpu=1,gpu:v100=2", job, NOW);
	steps(a, NOW);
	status = auc_auction_status(a, NOW);
	assert_string_equal(text(row(status, "two"), "soonest", "price"), "(none)");
	assert_non_null(strstr(text(row(status, "two"), "why", NULL), "is sold or closed until "));
	assert_string_equal(text(row(status, "huge"), "why", NULL),
			    "0 nodes of those that are up are large enough");
	assert_non_null(strstr(text(row(status, "far"), "why", NULL), "nothing is sold there now"));
	assert_non_null(strstr(text(row(status, "none"), "why", NULL), "h100"));
	assert_true(*text(row(status, "long"), "why", NULL));
	json_object_put(status);
}

/* Of a policy without gangs the board says so, and one that posts prices has them there. */
static void test_policies(void **state)
{
	struct json_object *status;
	struct world_auction w;
	void *p = &w;

	(void)state;
	assert_int_equal(world_auction_setup(&p, "Policy=oasis\nPrices=published\n"
						 "Shape=one GpusPerNode=1 Time=300\n"),
			 0);
	assert_int_equal(steps(((struct world_auction *)p)->a, NOW), 1);
	status = auc_auction_status(((struct world_auction *)p)->a, NOW);
	assert_non_null(strstr(text(row(status, "one"), "why", NULL), "oasis"));
	json_object_put(status);
	world_auction_teardown(&p);
	assert_int_equal(world_auction_setup(&p, "Policy=posted\n"
						 "Shape=one GpusPerNode=1 Time=300\n"),
			 0);
	assert_int_equal(steps(((struct world_auction *)p)->a, NOW), 1);
	status = auc_auction_status(((struct world_auction *)p)->a, NOW);
	assert_string_equal(text(row(status, "one"), "why", NULL), "");
	assert_true(strcmp(text(row(status, "one"), "soonest", "price"), "0.000000") > 0);
	json_object_put(status);
	world_auction_teardown(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_price_is_what_a_bid_pays, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_left_of_a_look, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_each_shape_once_in_a_slot, set_up,
						world_auction_teardown),
		cmocka_unit_test_setup_teardown(test_reasons, set_up, world_auction_teardown),
		cmocka_unit_test(test_policies),
	};

	return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
