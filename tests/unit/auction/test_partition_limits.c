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

/* Of jobs there is one for each node, and one for a gang. */
static void test_caps_on_jobs(void **state)
{
	static struct auc_caps jobs = {.n = 1,
				       .cap = {{.kind = AUC_CAP_AT_ONCE,
						.text = "MaxJobs is 2",
						.tres = "job",
						.amount = 2,
						.account = "lab"}}};
	static const char wide[] =
		"linear:300,20 gang=2:600:gpu:v100=1,cpu=2 qos=normal accounts=lab";
	struct auc_auction *a = *state;
	double first = start_of(a, &jobs, wide, 1000, true, NULL);
	struct auc_offer o;
	struct auc_bid bid;

	/* Another's is the second; then both are full. */
	assert_true(start_of(a, &jobs, GANG, 1001, true, NULL) == first);
	assert_true(start_of(a, &jobs, GANG, 1002, true, "not sooner: MaxJobs is 2 at once") ==
		    first + 600);
	/* Two nodes at once, which are worth nothing when there is room for them. */
	bid = world_bid(a, WIDE " qos=normal accounts=lab");
	bid.caps = &jobs;
	assert_int_equal(auc_auction_bid(a, &bid, 1003, NOW, false, &o, &err), AUC_OK);
	assert_false(o.accepted);
	if (!strstr(o.message, "MaxJobs is 2 at once, and with what is sold already it would be 4"))
		fail_msg("%s", o.message);
	auc_offer_clear(&o);
	jobs.cap[0].amount = 1;
	start_of(a, &jobs, WIDE " qos=normal accounts=lab", 1003, false,
		 "refused: MaxJobs is 2 at once, and the best schedule has 2");
	jobs.cap[0].amount = 0;
	start_of(a, &jobs, GANG, 1003, false, "and the best schedule has 1");
	/* It is of a partition, and counts what is sold there. */
	jobs.cap[0] = (struct auc_cap){.kind = AUC_CAP_AT_ONCE,
				       .text = "a limit",
				       .tres = "job",
				       .amount = 3,
				       .partition = "edge",
				       .there = true,
				       .account = "lab"};
	assert_true(start_of(a, &jobs, GANG, 1003, false, NULL) == first);
	strcpy(jobs.cap[0].partition, "cloud");
	jobs.cap[0].amount = 0;
	assert_true(start_of(a, &jobs, GANG, 1003, false, NULL) == first);
}

/* Each job has its minutes ahead of it when it starts, and fewer later. */
static void test_caps_ahead(void **state)
{
	static struct auc_caps ahead = {.n = 1,
					.cap = {{.kind = AUC_CAP_AHEAD,
						 .text = "a limit",
						 .tres = "cpu",
						 .amount = 34,
						 .account = "lab"}}};
	static const char shapes[] =
		"linear:300,20 gang=1:1200:gpu:v100=1,cpu=2|1:600:gpu:v100=1,cpu=2 "
		"qos=normal accounts=lab";
	struct auc_auction *a = *state;
	/* 2 CPUs for 10 minutes: 20, and 10 after a slot. */
	double first = start_of(a, &ahead, GANG, 1000, true, NULL);
	char text[256];

	assert_true(start_of(a, &ahead, GANG, 1001, false, "not sooner: a limit") == first + 300);
	/* Slurm sees what has passed so many minutes later. */
	ahead.cap[0].lag = 5;
	assert_true(start_of(a, &ahead, GANG, 1001, false, "would be 40") == first + 600);
	ahead.cap[0].lag = INFINITY;
	assert_true(start_of(a, &ahead, GANG, 1001, false, NULL) == first + 600);
	ahead.cap[0].amount = 40;
	assert_true(start_of(a, &ahead, GANG, 1001, true, NULL) == first);
	/* What begins before one that is sold has something ahead of it then. */
	ahead.cap[0].lag = 0;
	snprintf(text, sizeof(text), GANG " begin=%.0f", first + 900);
	assert_true(start_of(a, &ahead, text, 1001, true, NULL) == first + 900);
	snprintf(text, sizeof(text), GANG " begin=%.0f", first + 600);
	ahead.cap[0].amount = 29;
	assert_true(start_of(a, &ahead, text, 1001, false, "would be 30") == first + 1500);
	/* The larger shape needs more than there is room for at any time. */
	assert_true(start_of(a, &ahead, shapes, 1001, false, NULL) > 0);
	ahead.cap[0].amount = 19;
	start_of(a, &ahead, GANG, 1001, false,
		 "refused: a limit at once, and the best schedule has 20");
}

/* What is used up does not come back. */
static void test_caps_in_all(void **state)
{
	static struct auc_caps total = {.n = 1,
					.cap = {{.kind = AUC_CAP_TOTAL,
						 .text = "a limit",
						 .tres = "cpu",
						 .amount = 100,
						 .used = 45,
						 .account = "lab"}}};
	static const char shapes[] =
		"linear:300,20 gang=2:600:gpu:v100=1,cpu=2|1:600:gpu:v100=1,cpu=2 "
		"qos=normal accounts=lab";
	struct auc_auction *a = *state;
	struct auc_offer o;
	struct auc_bid bid = world_bid(a, shapes);
	double first = start_of(a, &total, GANG, 1000, true, NULL);

	/* 65 of 100: the wide shape does not fit, the other does. */
	bid.caps = &total;
	assert_int_equal(auc_auction_bid(a, &bid, 1001, NOW, true, &o, &err), AUC_OK);
	assert_true(o.accepted && o.parts[0].nnodes == 1 && o.start == first);
	auc_offer_clear(&o);
	start_of(a, &total, GANG, 1002, false,
		 "refused: a limit in all: 45 minutes are used, 40 are sold already, and the best "
		 "schedule has 20");
	/* What is sold counts from where it is not in what is used. */
	total.cap[0].since = first + 300;
	assert_true(start_of(a, &total, GANG, 1002, false, NULL) == first);
	total.cap[0].since = first;
	start_of(a, &total, GANG, 1002, false, "refused: ");
	/* As wall time. */
	strcpy(total.cap[0].tres, "job");
	assert_true(start_of(a, &total, GANG, 1002, false, NULL) == first);
	total.cap[0].amount = 70;
	start_of(a, &total, GANG, 1002, false, "20 are sold already, and the best schedule has 10");
}

/* The parts of all that was sold. */
struct sold {
	struct auc_part parts[512];
	unsigned n;
};

static double has(const struct auc_part *p, const char *tres)
{
	for (unsigned k = 0; k < p->ntres; k++)
		if (!strcmp(p->tres[k].name, tres))
			return p->tres[k].value * (p->nnodes ? p->nnodes : 1);
	return 0;
}

/* As Slurm counts them whenever a job starts: jobs, GPUs, CPUs times minutes ahead; and in all. */
static void check_sums(const struct sold *sold, const struct auc_caps *caps)
{
	double total = 0;

	for (unsigned i = 0; i < sold->n; i++) {
		const struct auc_part *now = &sold->parts[i];
		double jobs = 0, gpus = 0, ahead = 0;

		for (unsigned k = 0; k < sold->n; k++) {
			const struct auc_part *p = &sold->parts[k];

			if (p->start > now->start || p->end <= now->start)
				continue;
			jobs++;
			gpus += has(p, "gpu:v100") + has(p, "gpu:t4");
			ahead += has(p, "cpu") * (p->end - now->start) / 60;
		}
		total += has(now, "cpu") * (now->end - now->start) / 60;
		assert_true(jobs <= caps->cap[0].amount);
		assert_true(gpus <= caps->cap[1].amount);
		assert_true(ahead <= caps->cap[2].amount + 1e-6);
	}
	assert_true(total <= caps->cap[3].amount + 1e-6);
}

/* Random bids: what is sold keeps to all limits in every slot. */
static void test_sums(void **state)
{
	static struct auc_caps caps = {
		.n = 4,
		.cap = {{.kind = AUC_CAP_AT_ONCE, .text = "jobs", .tres = "job", .amount = 5},
			{.kind = AUC_CAP_AT_ONCE, .text = "gpus", .tres = "gpu", .amount = 6},
			{.kind = AUC_CAP_AHEAD, .text = "ahead", .tres = "cpu", .amount = 240},
			{.kind = AUC_CAP_TOTAL, .text = "total", .tres = "cpu", .amount = 3000}}};
	static struct sold sold;
	unsigned kept[3] = {0};

	srandom(7);
	for (unsigned i = 0; i < 120; i++) {
		struct auc_auction *a = *state;
		struct auc_bid bid;
		struct auc_offer o;
		char text[256];

		if (random() % 2)
			snprintf(text, sizeof(text),
				 "linear:3000,20 gang=%ld:%ld:gpu:v100=%ld,cpu=%ld qos=normal "
				 "accounts=lab",
				 1 + random() % 2, 300 * (1 + random() % 6), 1 + random() % 2,
				 1 + random() % 4);
		else
			snprintf(text, sizeof(text),
				 "linear:3000,20 epochs=%ld chunks=%ld minibatches=100 "
				 "worker-time=v100=3s,t4=3s ps-time=ps.m=0 qos=normal accounts=lab",
				 1 + random() % 6, 1 + random() % 4);
		bid = world_bid(a, text);
		bid.caps = &caps;
		if (auc_auction_bid(a, &bid, 1000 + i, NOW, true, &o, &err) != AUC_OK) {
			kept[2]++;
			continue;
		}
		kept[o.accepted]++;
		for (unsigned k = 0; o.accepted && k < o.nparts; k++) {
			assert_true(sold.n < sizeof(sold.parts) / sizeof(*sold.parts));
			sold.parts[sold.n++] = o.parts[k];
		}
		auc_offer_clear(&o);
		check_sums(&sold, &caps);
	}
	/* Enough was sold, and refused, that it says something. */
	if (kept[1] < 20 || kept[0] + kept[2] < 20)
		fail_msg("%u sold, %u not worth it, %u refused", kept[1], kept[0], kept[2]);
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

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_paused),       WORLD_TEST(test_time),
		WORLD_TEST(test_nodes),        WORLD_TEST(test_memory),
		WORLD_TEST(test_sold_before),  WORLD_TEST(test_status),
		WORLD_TEST(test_caps_at_once), WORLD_TEST(test_caps_of_a_job),
		WORLD_TEST(test_caps_on_jobs), WORLD_TEST(test_caps_ahead),
		WORLD_TEST(test_caps_in_all),  cmocka_unit_test(test_at_once),
		WORLD_TEST(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
