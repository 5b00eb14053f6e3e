/* test_desc_block.c - blocks in job descriptions and records: names, marks, the held job. */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapter/desc_block.h"

#define END 1700003600.0

slurm_conf_t slurm_conf; /* slurmctld's, where the plugin is loaded */

static job_desc_msg_t desc;
static struct auc_bid bid;

static void fresh(void)
{
	slurm_init_job_desc_msg(&desc);
	memset(&bid, 0, sizeof(bid));
	bid.max_price = -1;
	bid.gang.block = true;
	desc.script = (char *)"#!/bin/sh\n";
	desc.min_nodes = desc.max_nodes = 2;
}

static void refused(const char *said)
{
	struct auc_err err;

	assert_int_equal(auc_block_check(&desc, &bid, &err), AUC_EINVAL);
	if (!strstr(err.text, said))
		fail_msg("'%s' is not in '%s'", said, err.text);
}

static void test_names(void **state)
{
	static const char *const others[] = {"",
					     "auction_block_",
					     "auction_block_0",
					     "auction_block_1x",
					     "auction_block_ 1",
					     "auction_block_-1",
					     "auction_block_1,",
					     "auction_block_4294967295",
					     "auction_block_99999999999",
					     "my_auction_block_1",
					     "auction-0123456789abcdef-1-2"};
	char name[AUC_BLOCK_NAME_MAX];

	(void)state;
	auc_block_name(name, 4294967290u);
	assert_string_equal(name, "auction_block_4294967290");
	assert_int_equal(auc_block_of("auction_block_17"), 17);
	assert_int_equal(auc_block_of(NULL), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(auc_block_of(others[i]), 0);
	assert_true(auc_block_among("site,auction_block_7"));
	assert_true(auc_block_among("auction_block_7"));
	assert_false(auc_block_among("site,auction_block_7b,"));
	assert_false(auc_block_among(""));
}

/* Whole nodes, and nothing that a job that never runs cannot have. */
static void test_check(void **state)
{
	struct auc_err err;

	(void)state;
	fresh();
	assert_int_equal(auc_block_check(&desc, &bid, &err), AUC_OK);
	assert_int_equal(desc.shared, 0);
	bid.stands = 60;
	refused("--stands: given, expected none with a block");
	fresh();
	bid.extend = true;
	refused("--overrun=extend: ");
	fresh();
	bid.gang.nspeedup = 1;
	refused("--speedup: ");
	fresh();
	bid.gang.ngpu_time = 1;
	refused("--gpu-time: ");
	fresh();
	desc.dependency = (char *)"afterok:1";
	refused("--dependency: ");
	fresh();
	desc.array_inx = (char *)"1-3";
	refused("--array: ");
	fresh();
	desc.script = NULL;
	refused("a block is bought by sbid block");
}

/* It is what was bought, held, and begins never before its end. */
static void test_apply(void **state)
{
	const struct auc_slice slice = {.node = "n1,n2",
					.partition = "edge",
					.nnodes = 2,
					.whole = true,
					.cpus = 8,
					.mem_mb = 1000,
					.begin = 1700000000,
					.minutes = 60,
					.gres = "gres:gpu:a100:4"};

	(void)state;
	fresh();
	desc.shared = 0;
	auc_block_apply(&desc, &slice, END, "receipt");
	assert_int_equal(desc.priority, 0);
	assert_int_equal(desc.begin_time, 1700003600);
	assert_int_equal(desc.requeue, 0);
	assert_int_equal(desc.time_limit, 60);
	assert_string_equal(desc.req_nodes, "n1,n2");
	assert_string_equal(desc.partition, "edge");
	assert_string_equal(desc.admin_comment, "receipt");
	AUC_XFREE(desc.req_nodes);
	AUC_XFREE(desc.partition);
	AUC_XFREE(desc.admin_comment);
}

static uint32_t entered(const char *reservation, const char *comment)
{
	slurm_job_info_t info = {.resv_name = (char *)reservation,
				 .admin_comment = (char *)comment};

	return auc_block_entered(&info);
}

static bool told(const char *comment)
{
	slurm_job_info_t info = {.admin_comment = (char *)comment};

	return auc_block_told(&info);
}

/* A job of a block is known, also when it has lost its reservation. */
static void test_enter(void **state)
{
	(void)state;
	fresh();
	auc_block_enter(&desc, 17, "edge", SIGUSR1);
	assert_string_equal(desc.admin_comment, "in auction_block_17");
	assert_string_equal(desc.partition, "edge");
	assert_int_equal(entered(NULL, desc.admin_comment), 17);
	AUC_XFREE(desc.partition);
	desc.partition = slurm_xstrdup("cloud");
	auc_block_enter(&desc, 18, "edge", SIGUSR1);
	assert_string_equal(desc.admin_comment, "in auction_block_17; in auction_block_18");
	assert_string_equal(desc.partition, "cloud");
	assert_int_equal(entered(NULL, desc.admin_comment), 18);
	assert_int_equal(entered("auction_block_19", desc.admin_comment), 19);
	assert_int_equal(entered("site", NULL), 0);
	assert_int_equal(entered(NULL, "in auction_block_17, they say"), 0);
	assert_false(told(desc.admin_comment));
	desc.script = slurm_xstrdup("#!/bin/sh\ntrap : USR1\n");
	auc_block_enter(&desc, 20, "edge", SIGUSR1);
	assert_int_equal(entered(NULL, desc.admin_comment), 20);
	assert_true(told(desc.admin_comment));
	/* Its user has said what comes when. */
	AUC_XFREE(desc.admin_comment);
	desc.warn_signal = SIGUSR2;
	auc_block_enter(&desc, 20, "edge", SIGUSR1);
	assert_false(told(desc.admin_comment));
	AUC_XFREE(desc.script);
	assert_int_equal(entered(NULL, NULL), 0);
	AUC_XFREE(desc.partition);
	AUC_XFREE(desc.admin_comment);
}

static void test_users(void **state)
{
	(void)state;
	assert_false(auc_block_user(5));
	for (uint32_t i = 0; i < 1000; i++)
		auc_block_user_add((i * 7919) % 1009 * 2);
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(auc_block_user((i * 7919) % 1009 * 2));
	assert_false(auc_block_user(5));
	auc_block_user_add(5);
	assert_true(auc_block_user(5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_check),
		cmocka_unit_test(test_apply), cmocka_unit_test(test_enter),
		cmocka_unit_test(test_users)};

	return cmocka_run_group_tests_name("desc-block", tests, NULL, NULL);
}
