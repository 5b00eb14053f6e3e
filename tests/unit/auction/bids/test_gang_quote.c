/* test_gang_quote.c - which nodes a gang may use, and what it names that it cannot have. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/world.h"

static struct auc_err err;

static const struct auc_server_spec servers[] = {
	{.name = "a",
	 .partition = "edge",
	 .ncapacity = 3,
	 .capacity = {{"cpu", 64}, {"mem", 1000}, {"gpu:v100", 4}}},
	{.name = "b",
	 .partition = "edge",
	 .ncapacity = 3,
	 .capacity = {{"cpu", 64}, {"gpu:v100", 4}, {"mem", 1000}}},
	{.name = "c",
	 .partition = "edge",
	 .ncapacity = 3,
	 .capacity = {{"cpu", 64}, {"mem", 2000}, {"gpu:a100", 8}}},
	{.name = "d", .partition = "edge", .ncapacity = 2, .capacity = {{"cpu", 8}, {"mem", 500}}},
};

/* A node of its shape has a GPU of any type. */
static void any_gpu(struct auc_bid_gang *g)
{
	g->except = true;
	g->nshapes = 1;
	g->ntres = 2;
	strcpy(g->tres[0], "cpu");
	strcpy(g->tres[1], "gpu");
	g->shapes[0].amount[0] = 1;
	g->shapes[0].amount[1] = 1;
}

/* What all of a node is, for --exclusive and --mem=0. */
static void test_node_size(void **state)
{
	struct auc_server_spec s[4];
	struct auc_auction *a = world_create("Prices=none\nSlots=100");
	struct auc_bid *bid = calloc(1, sizeof(*bid));
	struct auc_bid_gang *g = &bid->gang;
	struct auc_gang_reach reach;
	struct auc_node_size size;

	(void)state;
	memcpy(s, servers, sizeof(s));
	s[0].cpu_step = 2;
	s[1].cpu_step = 3;
	s[2].cpu_step = 5;
	assert_int_equal(auc_auction_set_servers(a, s, 4, NOW, NULL), AUC_OK);
	g->except = true;
	g->nshapes = 1;
	g->ntres = 2;
	strcpy(g->tres[0], "cpu");
	strcpy(g->tres[1], "gpu:v100");
	g->shapes[0].amount[0] = 1;
	g->shapes[0].amount[1] = 4;
	assert_int_equal(auc_auction_node_size(a, bid, &size, &err), AUC_OK);
	assert_int_equal(size.n, 3);
	assert_true(size.tres[1].value == 1000);
	/* Any GPU: a and c have different memory, without c all have the same. */
	strcpy(g->tres[1], "gpu");
	assert_int_equal(auc_auction_node_size(a, bid, &size, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "a and c have different amounts of memory (1000 and 2000 "
					 "MB); say how much (--mem)"));
	auc_auction_gang_reach(a, bid, &reach);
	assert_true(reach.gpu_kinds > 1);
	/* What else they have does not matter. */
	s[2].capacity[1].value = 1000;
	assert_int_equal(auc_auction_set_servers(a, s, 4, NOW, NULL), AUC_OK);
	assert_int_equal(auc_auction_node_size(a, bid, &size, &err), AUC_OK);
	assert_true(size.tres[1].value == 1000);
	s[2].capacity[1].value = 2000;
	assert_int_equal(auc_auction_set_servers(a, s, 4, NOW, NULL), AUC_OK);
	g->nplaces = 1;
	strcpy(g->places[0], "c");
	assert_int_equal(auc_auction_node_size(a, bid, &size, &err), AUC_OK);
	assert_true(size.tres[1].value == 1000);
	/* By how many CPUs they hand them out. */
	auc_auction_gang_reach(a, bid, &reach);
	assert_string_equal(reach.partition, "edge");
	assert_true(reach.cpu_step == 6 && reach.task_step == 1);
	assert_int_equal(reach.gpu_kinds, 1);
	assert_string_equal(reach.gpu, "gpu:v100");
	/* c alone; nowhere. */
	g->except = false;
	assert_int_equal(auc_auction_node_size(a, bid, &size, &err), AUC_OK);
	assert_true(size.tres[1].value == 2000);
	g->shapes[0].amount[1] = 9;
	assert_int_equal(auc_auction_node_size(a, bid, &size, &err), AUC_ENOENT);
	g->nplaces = 0;
	g->except = true;
	bid->npartitions = 1;
	strcpy(bid->partitions[0], "other");
	g->shapes[0].amount[1] = 1;
	assert_int_equal(auc_auction_node_size(a, bid, &size, &err), AUC_ENOENT);
	auc_auction_gang_reach(a, bid, &reach);
	assert_string_equal(reach.partition, "");
	assert_int_equal(reach.cpu_step, 1);
	assert_false(reach.enough);
	free(bid);
	auc_auction_destroy(a);
}

/* Whether GPUs of no type on a part's nodes are of the type that was bought. */
static void test_one_gpu_type(void **state)
{
	struct auc_auction *a = world_create("Prices=none\nSlots=100");
	struct auc_server_spec s[4];
	struct auc_part part = {.nnodes = 2, .nodes = "a,b"};

	(void)state;
	memcpy(s, servers, sizeof(s));
	strcpy(s[2].capacity[1].name, "gpu:t4");
	assert_int_equal(auc_auction_set_servers(a, s, 4, NOW, NULL), AUC_OK);
	assert_true(auc_auction_one_gpu_type(a, &part));
	part.nodes = "a,c";
	assert_false(auc_auction_one_gpu_type(a, &part));
	part.nodes = "a,gone";
	assert_false(auc_auction_one_gpu_type(a, &part));
	part.nodes = "d,b";
	assert_true(auc_auction_one_gpu_type(a, &part));
	auc_auction_destroy(a);
}

/* Whether some partition has as many nodes as a gang takes. */
static void test_enough(void **state)
{
	struct auc_auction *a = world_create("Prices=none\nSlots=100");
	struct auc_bid *bid = calloc(1, sizeof(*bid));
	struct auc_bid_gang *g = &bid->gang;
	struct auc_server_spec s[4];
	struct auc_gang_reach reach;

	(void)state;
	memcpy(s, servers, sizeof(s));
	assert_int_equal(auc_auction_set_servers(a, s, 4, NOW, NULL), AUC_OK);
	any_gpu(g);
	/* Three have a GPU. */
	g->shapes[0].nodes = 3;
	auc_auction_gang_reach(a, bid, &reach);
	assert_true(reach.enough);
	g->shapes[0].nodes = 4;
	auc_auction_gang_reach(a, bid, &reach);
	assert_false(reach.enough);
	assert_string_equal(reach.partition, "edge");
	g->shapes[0].nodes = 3;
	s[1].down = true;
	assert_int_equal(auc_auction_set_servers(a, s, 4, NOW, NULL), AUC_OK);
	auc_auction_gang_reach(a, bid, &reach);
	assert_false(reach.enough);
	free(bid);
	auc_auction_destroy(a);
}

/* Nodes and features that are not for sale. */
static void test_names(void **state)
{
	struct auc_auction *a = world_create("Prices=none\nSlots=100");
	struct auc_bid *bid = calloc(1, sizeof(*bid));
	struct auc_bid_gang *g = &bid->gang;
	struct auc_server_spec s[4];

	(void)state;
	memcpy(s, servers, sizeof(s));
	assert_int_equal(auc_auction_set_servers(a, s, 4, NOW, NULL), AUC_OK);
	any_gpu(g);
	assert_int_equal(auc_auction_gang_names(a, bid, &err), AUC_OK);
	g->except = false;
	g->nplaces = 2;
	strcpy(g->places[0], "c");
	strcpy(g->places[1], "zz");
	assert_int_equal(auc_auction_gang_names(a, bid, &err), AUC_ENOENT);
	assert_non_null(strstr(err.text, "--nodelist: zz is not for sale; "));
	g->nplaces = 1;
	assert_int_equal(auc_auction_gang_names(a, bid, &err), AUC_OK);
	bid->npartitions = 1;
	strcpy(bid->partitions[0], "other");
	assert_int_equal(auc_auction_gang_names(a, bid, &err), AUC_ENOENT);
	assert_non_null(strstr(err.text, "--nodelist: c is not for sale in --partition; "));
	g->nplaces = 0;
	g->except = true;
	strcpy(bid->partitions[0], "edge");
	strcpy(g->features, "ib");
	assert_int_equal(auc_auction_gang_names(a, bid, &err), AUC_ENOENT);
	assert_non_null(strstr(err.text, "--constraint=ib: no node for sale that the job may use"));
	strcpy(s[3].features, "fast,ib");
	assert_int_equal(auc_auction_set_servers(a, s, 4, NOW, NULL), AUC_OK);
	assert_int_equal(auc_auction_gang_names(a, bid, &err), AUC_OK);
	free(bid);
	auc_auction_destroy(a);
}

/* Refused at any price: the answer says what would fit. */
static void test_too_large(void **state)
{
	static const struct {
		const char *bid, *text;
	} cases[] = {
		/* Tasks that may lie on any number of nodes: not one node of all of them. */
		{"300 gang=1:60:cpu=200|4:60:cpu=50|20:60:cpu=10",
		 "it needs 4 nodes with cpu=50 each in one partition, and of the nodes that it may "
		 "use 2 are as large"},
		{"300 gang=1:60:cpu=999|2:60:cpu=500",
		 "it needs 1 node with cpu=999 in one partition, and of the nodes that it may use "
		 "0 are as large"},
		/* 100 slots of 300 s; the horizon begins at 1970-01-04T11:20:00. */
		{"300 gang=1:40000:cpu=1", ": expected a shorter --time, at most "},
		{"300 gang=1:3000:cpu=1 begin=329900",
		 ": expected an earlier start (--begin, --dependency), by 1970-01-04T18:50:00"},
		{"300 gang=1:3000:cpu=1 begin=400000",
		 ": expected an earlier start (--begin, --dependency), by 1970-01-04T18:50:00"},
	};
	struct auc_auction *a = world_open("Prices=none\nSlots=100", world_dir, NOW);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_offer o = world_offer(a, cases[i].bid, NOW, false);

		assert_false(o.accepted);
		if (!strstr(o.message, cases[i].text))
			fail_msg("%s: %s", cases[i].bid, o.message);
		auc_offer_clear(&o);
	}
	auc_auction_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_node_size, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_one_gpu_type, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_enough, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_names, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_too_large, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
