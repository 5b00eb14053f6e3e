/* test_bid_gang.c - a gang's bid against a market: features, whole servers. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "input/bid_gang.h"
#include "input/bid_resolve.h"
#include "unit/support/tiny.h"

#define SERVERS 6
#define KINDS   5 /* features there are */
#define ROUNDS  2000

static struct auc_job job;

static void must(enum auc_code rc, const struct auc_err *err)
{
	if (rc != AUC_OK)
		fail_msg("%s", err->text);
}

/* "f0,f3" of bits 0 and 3, with SEPARATOR between them. */
static void name_features(unsigned bits, char separator, char text[AUC_FEATURES_MAX])
{
	size_t n = 0;

	*text = '\0';
	for (unsigned i = 0; i < KINDS; i++)
		if (bits >> i & 1)
			n += (size_t)sprintf(text + n, "%.*sf%u", n ? 1 : 0, &separator, i);
}

static void resolve(const struct auc_market *m, const char *text)
{
	struct auc_err err;
	struct auc_bid bid;

	must(auc_bid_parse(NULL, text, &bid, &err), &err);
	must(auc_bid_resolve(m, &bid, auc_market_first(m), &job, &err), &err);
}

/* Server I has features HAS[i]. */
static struct auc_market *make_market(const unsigned *has)
{
	static const struct auc_named capacity[] = {{"cpu", 8}, {"mem", 100}, {"gpu:v100", 4}};
	struct auc_price price = {.neta = 0};
	struct auc_market *m = auc_market_create(10, 60, 0);
	char name[8], features[AUC_FEATURES_MAX];
	struct auc_err err;

	for (unsigned s = 0; s < SERVERS; s++) {
		snprintf(name, sizeof(name), "s%u", s);
		must(auc_market_add_server(m, name, "edge", false, 3, 0, capacity, 3, &err), &err);
		name_features(has[s], ',', features);
		must(auc_market_set_features(m, features, &err), &err);
	}
	must(auc_market_ready(m, &price, &err), &err);
	return m;
}

/* Servers without what is wanted are never ready; the others are at once. */
static void test_features(void **state)
{
	struct tiny_random r = {1};
	unsigned refused = 0, allowed = 0;

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned has[SERVERS], wanted = (unsigned)tiny_int(&r, 1, (1 << KINDS) - 1);
		bool all = tiny_chance(&r, 0.5);
		char text[AUC_FEATURES_MAX + 64], features[AUC_FEATURES_MAX];
		struct auc_market *m;

		for (unsigned s = 0; s < SERVERS; s++)
			has[s] = (unsigned)tiny_int(&r, 0, (1 << KINDS) - 1);
		m = make_market(has);
		name_features(wanted, all ? '&' : '|', features);
		snprintf(text, sizeof(text), "300 gang=1:60:cpu=1 features=%s", features);
		resolve(m, text);
		for (unsigned s = 0; s < SERVERS; s++) {
			/* Of one alone it does not matter how it would be joined. */
			bool fits = all ? (has[s] & wanted) == wanted : (has[s] & wanted) != 0;

			assert_int_equal(job.upload[s], fits ? 0 : UINT32_MAX);
			allowed += fits;
			refused += !fits;
		}
		auc_market_destroy(m);
	}
	assert_true(allowed > ROUNDS && refused > ROUNDS);
}

/* A name that begins like another is another. */
static void test_names(void **state)
{
	struct auc_price price = {.neta = 0};
	struct auc_market *m = auc_market_create(10, 60, 0);
	struct auc_named cpu = {"cpu", 1};
	struct auc_err err;

	(void)state;
	must(auc_market_add_server(m, "a", "edge", false, 3, 0, &cpu, 1, &err), &err);
	must(auc_market_set_features(m, "gpu80,ib", &err), &err);
	must(auc_market_add_server(m, "b", "edge", false, 3, 0, &cpu, 1, &err), &err);
	must(auc_market_ready(m, &price, &err), &err);
	resolve(m, "300 gang=1:60:cpu=1 features=gpu");
	assert_true(job.upload[0] == UINT32_MAX && job.upload[1] == UINT32_MAX);
	resolve(m, "300 gang=1:60:cpu=1 features=GPU80|ib");
	assert_true(job.upload[0] == 0 && job.upload[1] == UINT32_MAX);
	resolve(m, "300 gang=1:60:cpu=1");
	assert_true(job.upload[0] == 0 && job.upload[1] == 0);
	auc_market_destroy(m);
}

/* A TRES that is named in another case is the same. */
static void test_case(void **state)
{
	static const struct auc_named node[] = {
		{"cpu", 8}, {"gpu:V100", 2}, {"gpu:a100_1g.5gb", 7}, {"shard", 4}};
	struct auc_price price = {.neta = 0};
	struct auc_market *m = auc_market_create(10, 60, 0);
	struct auc_err err;

	(void)state;
	must(auc_market_add_server(m, "a", "edge", false, 3, 0, node, 4, &err), &err);
	must(auc_market_ready(m, &price, &err), &err);
	resolve(m, "300 gang=1:60:gpu:v100=1,gpu:A100_1G.5GB=2,shard=1");
	assert_int_equal(job.nshapes, 1);
	assert_true(job.shapes[0].amount[auc_market_find_tres(m, "gpu:V100")] == 1);
	assert_true(job.shapes[0].amount[auc_market_find_tres(m, "gpu:a100_1g.5gb")] == 2);
	resolve(m, "300 gang=1:60:gpu=1");
	assert_int_equal(job.nshapes, 2);
	auc_market_destroy(m);
}

/* A shape for each kind of server that has enough, which is all of it. */
static void test_whole(void **state)
{
	static const struct auc_named small[] = {{"cpu", 8}, {"mem", 100}, {"gpu:t4", 2}},
				      large[] = {{"cpu", 16}, {"mem", 100}, {"gpu:v100", 4}},
				      plain[] = {{"cpu", 64}, {"mem", 900}};
	struct auc_price price = {.neta = 0};
	struct auc_market *m = auc_market_create(10, 60, 0);
	int cpu, t4, v100;
	struct auc_err err;

	(void)state;
	must(auc_market_add_server(m, "a", "edge", false, 3, 0, small, 3, &err), &err);
	must(auc_market_add_server(m, "b", "edge", false, 3, 0, large, 3, &err), &err);
	must(auc_market_add_server(m, "c", "edge", false, 3, 0, small, 3, &err), &err);
	must(auc_market_add_server(m, "d", "edge", false, 3, 0, plain, 2, &err), &err);
	must(auc_market_add_server(m, "e", "edge", false, 2, 0, plain, 2, &err), &err);
	must(auc_market_ready(m, &price, &err), &err);
	cpu = auc_market_find_tres(m, "cpu");
	t4 = auc_market_find_tres(m, "gpu:t4");
	v100 = auc_market_find_tres(m, "gpu:v100");
	resolve(m, "300 gang=2:90:cpu=1 whole=yes");
	assert_true(job.whole);
	assert_int_equal(job.nshapes, 3);
	assert_int_equal(job.shapes[0].nodes, 2);
	assert_true(job.shapes[0].seconds == 90 && job.shapes[0].amount[cpu] == 8 &&
		    job.shapes[0].amount[t4] == 2 && job.shapes[0].amount[v100] == 0);
	assert_true(job.shapes[1].amount[cpu] == 16 && job.shapes[1].amount[v100] == 4);
	assert_true(job.shapes[2].amount[cpu] == 64);
	/* GPUs of any type; of one; and where it may be. */
	resolve(m, "300 gang=2:90:gpu=2 whole=yes");
	assert_int_equal(job.nshapes, 2);
	resolve(m, "300 gang=2:90:gpu:t4=1|1:90:cpu=9 whole=yes");
	assert_int_equal(job.nshapes, 3);
	assert_true(job.shapes[0].amount[t4] == 2 && job.shapes[1].amount[cpu] == 16);
	resolve(m, "300 gang=2:90:cpu=1 whole=yes only=a,d");
	assert_int_equal(job.nshapes, 2);
	/* Nobody has that much: what is asked for is what is refused. */
	resolve(m, "300 gang=2:90:cpu=65 whole=yes");
	assert_int_equal(job.nshapes, 1);
	assert_true(job.whole && job.shapes[0].amount[cpu] == 65);
	resolve(m, "300 gang=2:90:cpu=1");
	assert_false(job.whole);
	auc_market_destroy(m);
}

/* What a bid says of a block, there and back; and what it cannot say. */
static void test_block(void **state)
{
	static const char *const bad[] = {
		"no",       "yes,",     "yes,,2",         "yes,alice", "yes,2,", "yes,@", "yes,@a,",
		"yes,@a b", "yes,@a@b", "yes,1234567890", "yess",      "yes2",   ""};
	struct auc_bid bid, again;
	char text[AUC_BLOCK_USERS_MAX + 64], *printed;
	struct auc_err err;

	(void)state;
	must(auc_bid_parse(NULL, "300 gang=2:90:cpu=1 whole=yes block=yes,2002,@ml.x-1,3", &bid,
			   &err),
	     &err);
	assert_true(bid.gang.block);
	assert_string_equal(bid.gang.block_users, "2002,@ml.x-1,3");
	printed = auc_bid_print(&bid);
	assert_non_null(strstr(printed, " block=yes,2002,@ml.x-1,3"));
	must(auc_bid_parse(NULL, printed, &again, &err), &err);
	assert_memory_equal(&again.gang, &bid.gang, sizeof(bid.gang));
	free(printed);
	/* Before its shape is known. */
	must(auc_bid_parse(NULL, "300 block=yes", &bid, &err), &err);
	assert_true(bid.gang.block && bid.gang.open && !*bid.gang.block_users);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "300 block=%s", bad[i]);
		assert_int_equal(auc_bid_parse(NULL, text, &bid, &err), AUC_EINVAL);
	}
	snprintf(text, sizeof(text), "300 block=yes");
	while (strlen(text) < AUC_BLOCK_USERS_MAX + 20)
		strcat(text, ",2002");
	assert_int_equal(auc_bid_parse(NULL, text, &bid, &err), AUC_EINVAL);
	assert_int_equal(auc_bid_parse(NULL, "300 block=yes epochs=3", &bid, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "--epochs: given with --block"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features), cmocka_unit_test(test_names),
		cmocka_unit_test(test_case), cmocka_unit_test(test_whole),
		cmocka_unit_test(test_block)};
	int rc = cmocka_run_group_tests_name("bid-gang", tests, NULL, NULL);

	auc_job_clear(&job);
	return rc;
}
