/* test_partition_limits.c - what the cluster's rules allow a plan in a partition. */
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

#include "auction/caps.h"
#include "unit/support/world.h"

#define SLOT 300.0
#define NOW  (1000 * SLOT)

/* One worker for two slots, on either kind of node; edge is sooner. */
#define SHORT "300 epochs=2 minibatches=100 worker-time=v100=3s,t4=3s ps-time=ps.m=0"
/* Of edge alone, four workers at once. */
#define WIDE "deadline:900,3 epochs=2 chunks=4 minibatches=100 worker-time=v100=3s ps-time=ps.m=0"

static struct auc_err err;

static struct auc_partition_limit none(const char *partition)
{
	struct auc_partition_limit l = {.seconds = INFINITY,
					.nodes = UINT_MAX,
					.mem_per_cpu = INFINITY,
					.mem_per_node = INFINITY};

	strcpy(l.partition, partition);
	return l;
}

static void set(struct auc_auction *a, struct auc_partition_limit l)
{
	struct auc_partition_limit list[] = {l, none("cloud")};

	assert_int_equal(auc_auction_limit(a, list, 2, &err), AUC_OK);
}

/* TEXT is sold on a server of PARTITION. */
static void expect(struct auc_auction *a, const char *text, const char *partition)
{
	struct auc_offer o = world_offer(a, text, NOW, false);

	assert_true(o.accepted);
	assert_string_equal(o.parts[0].partition, partition);
	auc_offer_clear(&o);
}

static void refused(struct auc_auction *a, const char *text, const char *words)
{
	struct auc_bid bid = world_bid(a, text);
	struct auc_offer o;
	enum auc_code rc;

	strcpy(bid.partitions[bid.npartitions++], "edge");
	rc = auc_auction_bid(a, &bid, 1000, NOW, false, &o, &err);
	if (rc == AUC_OK) {
		assert_false(o.accepted);
		assert_non_null(strstr(o.message, words));
		auc_offer_clear(&o);
	} else {
		assert_int_equal(rc, AUC_EFULL);
		assert_non_null(strstr(err.text, words));
	}
}

#define GANG "linear:300,20 gang=1:600:gpu:v100=1,cpu=2 qos=normal accounts=lab,root"
#define LAB  "linear:300,20 gang=1:600:gpu:v100=1,cpu=2 qos=normal accounts=other,lab,root"

/* What TEXT of UID gets where CAPS hold: when it starts; 0: it breaks them, as WORDS say. */
static double start_of(struct auc_auction *a, const struct auc_caps *caps, const char *text,
		       uint32_t uid, bool hold, const char *words)
{
	struct auc_bid bid = world_bid(a, text);
	struct auc_offer o;
	enum auc_code rc;
	double start;

	bid.caps = caps;
	rc = auc_auction_bid(a, &bid, uid, NOW, hold, &o, &err);
	if (rc != AUC_OK) {
		assert_int_equal(rc, AUC_EFULL);
		assert_non_null(words);
		if (!strstr(err.text, words))
			fail_msg("%s", err.text);
		return 0;
	}
	assert_true(o.accepted);
	if (words && !strstr(o.message, words))
		fail_msg("%s", o.message);
	start = o.start;
	auc_offer_clear(&o);
	return start;
}

/* Limits on TRES of users, accounts and QOS: what is sold counts, as long as it lasts. */
static void test_caps_at_once(void **state)
{
	static struct auc_caps user = {.n = 1,
				       .cap = {{.kind = AUC_CAP_AT_ONCE,
						.text = "a limit",
						.tres = "gpu",
						.amount = 1,
						.own = true,
						.qos = "normal"}}};
	static struct auc_caps lab = {.n = 1,
				      .cap = {{.kind = AUC_CAP_AT_ONCE,
					       .text = "a limit",
					       .tres = "node",
					       .amount = 4,
					       .account = "lab"}}};
	struct auc_auction *a = *state;
	double first = start_of(a, &user, GANG, 1000, true, NULL);

	/* The second waits until the first is over, the third of both. */
	assert_true(start_of(a, &user, GANG, 1000, true, "not sooner: a limit") == first + 600);
	assert_true(start_of(a, &user, GANG, 1000, true, "would be 2") == first + 1200);
	/* Others, and what is of another QOS, do not. */
	assert_true(start_of(a, &user, GANG, 1001, true, NULL) == first);
	strcpy(user.cap[0].qos, "other");
	assert_true(start_of(a, &user, GANG, 1000, false, NULL) == first);
	/* Unless a partition has that QOS. */
	user.nown = 1;
	strcpy(user.own[0].partition, "edge");
	strcpy(user.own[0].qos, "other");
	assert_true(start_of(a, &user, GANG, 1000, false, NULL) == first + 1800);
	/* Accounts below count, two and one more at first. */
	assert_true(start_of(a, &lab, LAB, 1002, true, NULL) == first);
	assert_true(start_of(a, &lab, LAB, 1002, true, NULL) == first);
	assert_true(start_of(a, &lab, LAB, 1002, false, NULL) > first);
	lab.cap[0].exactly = true;
	assert_true(start_of(a, &lab, LAB, 1002, false, NULL) == first);
	/* No time helps. */
	lab.cap[0].amount = 0;
	start_of(a, &lab, LAB, 1002, false, "at once, and the best schedule has 1");
}

static void test_caps_of_a_job(void **state)
{
	static struct auc_caps job = {
		.n = 1,
		.cap = {{.kind = AUC_CAP_JOB, .text = "a limit", .tres = "gpu", .amount = 3}}};
	static const char wide[] = "linear:300,20 gang=2:600:gpu:v100=2|1:1200:gpu:v100=2";
	struct auc_auction *a = *state;
	struct auc_offer o;
	struct auc_bid bid = world_bid(a, wide);

	/* Another shape is within it. */
	bid.caps = &job;
	assert_int_equal(auc_auction_bid(a, &bid, 1000, NOW, false, &o, &err), AUC_OK);
	assert_true(o.accepted);
	assert_int_equal(o.parts[0].nnodes, 1);
	auc_offer_clear(&o);
	job.cap[0].amount = 1;
	start_of(a, &job, wide, 1000, false,
		 "refused: a limit, and the best schedule has a job of");
	job.cap[0].kind = AUC_CAP_LEAST;
	job.cap[0].amount = 9;
	start_of(a, &job, wide, 1000, false, "refused: a limit");
	job.cap[0].kind = AUC_CAP_NODE;
	assert_true(start_of(a, &job, wide, 1000, false, NULL) > 0);
	job.cap[0].kind = AUC_CAP_MINUTES;
	start_of(a, &job, wide, 1000, false, "a job times its minutes");
	/* Elsewhere it does not hold. */
	strcpy(job.cap[0].partition, "cloud");
	assert_true(start_of(a, &job, wide, 1000, false, NULL) > 0);
	/* A job of workers and PSs. */
	strcpy(job.cap[0].tres, "cpu");
	job.cap[0].kind = AUC_CAP_JOB;
	job.cap[0].amount = 0;
	*job.cap[0].partition = '\0';
	start_of(a, &job, SHORT, 1000, false, "refused: a limit");
}

static int open_world(void **state)
{
	static char dir[64];

	world_mkdir(dir);
	*state = world_open("Prices=given\nEta=gpu:v100=20,gpu:t4=8\nSlots=50", dir, NOW);
	return 0;
}

static int close_world(void **state)
{
	auc_auction_destroy(*state);
	return 0;
}

static void test_paused(void **state)
{
	struct auc_partition_limit l = none("edge");

	expect(*state, SHORT, "edge");
	set(*state, l);
	expect(*state, SHORT, "edge");
	l.paused = true;
	set(*state, l);
	expect(*state, SHORT, "cloud");
	refused(*state, SHORT, "partition edge: nothing is sold there now");
	assert_int_equal(auc_auction_limit(*state, NULL, 0, &err), AUC_OK);
	expect(*state, SHORT, "edge");
}

/* Two slots are ten minutes. */
static void test_time(void **state)
{
	struct auc_partition_limit l = none("edge");

	l.seconds = 600;
	set(*state, l);
	expect(*state, SHORT, "edge");
	l.seconds = 599;
	set(*state, l);
	expect(*state, SHORT, "cloud");
	refused(*state, SHORT, "and the best schedule there takes 10");
}

/* Two workers fit on a node. */
static void test_nodes(void **state)
{
	struct auc_partition_limit l = none("edge");

	l.nodes = 2;
	set(*state, l);
	expect(*state, WIDE, "edge");
	l.nodes = 1;
	set(*state, l);
	refused(*state, WIDE, "partition edge: MaxNodes=1, and the best schedule there takes 2");
	expect(*state, SHORT, "edge");
}

/* 8192 MB for 4 CPUs and 4096 for 2. */
static void test_memory(void **state)
{
	struct auc_partition_limit l = none("edge");

	l.mem_per_cpu = 2048;
	l.mem_per_node = 12288;
	set(*state, l);
	expect(*state, SHORT, "edge");
	l.mem_per_cpu = 2047;
	set(*state, l);
	expect(*state, SHORT, "cloud");
	refused(*state, SHORT, "12288 MB for 6 CPUs are more than MaxMemPerCPU allows");
	l = none("edge");
	l.mem_per_node = 12287;
	set(*state, l);
	refused(*state, SHORT, "MaxMemPerNode");
}

/* A sale stays what it is, but gets no slot more. */
static void test_sold_before(void **state)
{
	struct auc_partition_limit l = none("edge");
	struct auc_sale_view view;

	world_sell(*state, SHORT " overrun=extend", 7, NOW);
	assert_int_equal(auc_auction_start(*state, 7, NOW + SLOT, NULL, &err), AUC_OK);
	l.seconds = 600;
	set(*state, l);
	assert_int_equal(auc_auction_extend(*state, 7, NULL, &err), AUC_EFULL);
	l.seconds = INFINITY;
	l.paused = true;
	set(*state, l);
	assert_int_equal(auc_auction_extend(*state, 7, NULL, &err), AUC_EFULL);
	assert_non_null(strstr(err.text, "nothing is sold there now"));
	assert_int_equal(auc_auction_sale_of_job(*state, 7, &view, &err), AUC_OK);
	assert_string_equal(view.parts[0].partition, "edge");
	auc_sale_view_clear(&view);
	/* It can be put off within it, though. */
	assert_int_equal(auc_auction_put_off(*state, 7, NOW + SLOT, NOW + 2 * SLOT, NULL, &err),
			 AUC_OK);
	set(*state, none("edge"));
	assert_int_equal(auc_auction_extend(*state, 7, NULL, &err), AUC_OK);
}

/* What the status says of the servers of a partition. */
static bool says(struct auc_auction *a, const char *partition, const char *key)
{
	struct json_object *o = auc_auction_status(a, NOW), *servers, *s, *v;
	bool yes = false;

	assert_true(json_object_object_get_ex(o, "servers", &servers));
	for (size_t i = 0; i < json_object_array_length(servers); i++) {
		s = json_object_array_get_idx(servers, i);
		assert_true(json_object_object_get_ex(s, "partition", &v));
		if (strcmp(json_object_get_string(v), partition))
			continue;
		yes = json_object_object_get_ex(s, key, &v) && json_object_get_boolean(v);
		break;
	}
	json_object_put(o);
	return yes;
}

static void test_status(void **state)
{
	struct auc_partition_limit l = none("edge");

	set(*state, l);
	assert_true(says(*state, "edge", "for_sale") && !says(*state, "edge", "hidden"));
	l.paused = l.hidden = true;
	set(*state, l);
	assert_true(!says(*state, "edge", "for_sale") && says(*state, "edge", "hidden"));
	assert_true(says(*state, "cloud", "for_sale") && !says(*state, "cloud", "hidden"));
}

/* A node that leaves as another comes is not there with it. */
static void test_at_once(void **state)
{
	struct auc_part parts[] = {
		{.start = 0, .end = 30},  {.start = 0, .end = 10},  {.start = 10, .end = 20},
		{.start = 10, .end = 30}, {.start = 20, .end = 30},
	};

	(void)state;
	assert_int_equal(auc_parts_at_once(parts, 0), 0);
	assert_int_equal(auc_parts_at_once(parts, 1), 1);
	assert_int_equal(auc_parts_at_once(parts, 3), 2);
	assert_int_equal(auc_parts_at_once(parts, 5), 3);
}

static void test_nodes_of(void **state)
{
	struct auc_sale_view v;

	world_sell(*state, WIDE, 7, NOW);
	assert_int_equal(auc_auction_sale_of_job(*state, 7, &v, &err), AUC_OK);
	assert_int_equal(auc_auction_nodes_of(*state, 1000, v.start, v.end), 2);
	assert_int_equal(auc_auction_nodes_of(*state, 1000, v.end, v.end + SLOT), 0);
	assert_int_equal(auc_auction_nodes_of(*state, 1000, v.start - SLOT, v.start), 0);
	assert_int_equal(auc_auction_nodes_of(*state, 1001, v.start, v.end), 0);
	auc_sale_view_clear(&v);
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_paused),        WORLD_TEST(test_time),
		WORLD_TEST(test_nodes),         WORLD_TEST(test_memory),
		WORLD_TEST(test_sold_before),   WORLD_TEST(test_status),
		WORLD_TEST(test_nodes_of),      WORLD_TEST(test_caps_at_once),
		WORLD_TEST(test_caps_of_a_job), cmocka_unit_test(test_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
