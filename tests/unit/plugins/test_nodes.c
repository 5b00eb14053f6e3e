/* test_nodes.c - Slurm's nodes as servers, and what auction.conf says that does not fit them. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "adapter/nodes.h"

#ifndef CR_CORE /* newer releases call them so */
#define CR_CORE   SELECT_CORE
#define CR_CPU    SELECT_CPU
#define CR_MEMORY SELECT_MEMORY
#endif

static unsigned gres(const char *text, struct auc_named *tres)
{
	unsigned n = 0;
	struct auc_err err;

	assert_int_equal(auc_nodes_parse_gres(text, tres, &n, &err), AUC_OK);
	return n;
}

#define LONG_TYPE "nvidia_h100_80gb_hbm3_mig_1g.10gb_and_some_more_letters_of_63.b"
_Static_assert(sizeof(LONG_TYPE) == 64, "a type of 63 bytes");

static void test_gres(void **state)
{
	struct auc_named t[AUC_TRES_MAX];

	(void)state;
	assert_int_equal(gres("", t), 0);
	assert_int_equal(gres("(null)", t), 0);
	assert_int_equal(gres("gpu:v100:4", t), 1);
	assert_string_equal(t[0].name, "gpu:v100");
	assert_true(t[0].value == 4);
	assert_int_equal(gres("gpu:v100:4(S:0,1),gpu:t4:2(S:0-1),shard:8", t), 3);
	assert_string_equal(t[1].name, "gpu:t4");
	assert_true(t[1].value == 2);
	assert_string_equal(t[2].name, "shard");
	assert_true(t[2].value == 8);
	assert_int_equal(gres("gpu:2,gpu:3", t), 1);
	assert_true(t[0].value == 5);
	assert_int_equal(gres("gpu", t), 1);
	assert_true(t[0].value == 1);
	assert_int_equal(gres("bandwidth:lustre:no_consume:4G", t), 0);
	/* MIG, a type of 63 bytes, and types that differ in case only, which accounting has as one.
	 */
	assert_int_equal(gres("gpu:a100_1g.5gb:7(S:0),gpu:1g.10gb:2", t), 2);
	assert_string_equal(t[0].name, "gpu:a100_1g.5gb");
	assert_string_equal(t[1].name, "gpu:1g.10gb");
	assert_true(t[0].value == 7 && t[1].value == 2);
	assert_int_equal(gres("gpu:" LONG_TYPE ":1", t), 1);
	assert_string_equal(t[0].name, "gpu:" LONG_TYPE);
	assert_int_equal(gres("gpu:V100:1,gpu:v100:2", t), 1);
	assert_string_equal(t[0].name, "gpu:V100");
	assert_true(t[0].value == 3);
	assert_int_equal(gres("disk:2K", t), 1);
	assert_true(t[0].value == 2048);
}

static void test_gres_bad(void **state)
{
	struct auc_named t[AUC_TRES_MAX];
	char many[400] = "";
	struct auc_err err;
	unsigned n = 0;

	(void)state;
	assert_int_equal(auc_nodes_parse_gres("gpu:4x", t, &n, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "gpu:4x"));
	assert_int_equal(auc_nodes_parse_gres("gpu:4KK", t, &n, &err), AUC_EINVAL);
	for (unsigned i = 0; i <= AUC_TRES_MAX; i++)
		sprintf(many + strlen(many), "%sg%u:1", i ? "," : "", i);
	n = 0;
	assert_int_equal(auc_nodes_parse_gres(many, t, &n, &err), AUC_EINVAL);
	assert_int_equal(n, AUC_TRES_MAX);
}

static const char conf_text[] =
	"Policy=dps\nSlotSeconds=10\nSlots=10\nPrices=given\nEta=cpu=2\n"
	"PartitionName=edge Site=edge\nPartitionName=cloud Site=cloud\n"
	"WorkerType=w TRES=cpu=1,mem=1 Bandwidth=1\nPSType=p TRES=cpu=1,mem=1 "
	"Bandwidth=1\n";

/* e0 has 6 CPUs, 900 MB and 2 v100; both: 4 CPUs, 10 MB; c0, which is down, in the cloud: as much.
 */
static void test_unfit(const struct auc_server_spec *s, unsigned ns)
{
	static const struct {
		const char *types, *said;
	} cases[] = {
		{"WorkerType=a TRES=cpu=6,mem=900,gpu:v100=2\nPSType=p TRES=cpu=4,mem=1\n", ""},
		{"WorkerType=a TRES=cpu=7,mem=1\nWorkerType=b TRES=cpu=1,mem=1,gpu:t4=1\n"
		 "PSType=p TRES=cpu=1,mem=1\nPSType=q TRES=cpu=1,mem=901\n",
		 "WorkerType=a, WorkerType=b, PSType=q: no node of the auction can hold one"},
		{"PartitionName=cloud Roles=worker\nPartitionName=edge Roles=ps\n"
		 "WorkerType=a TRES=cpu=4,mem=10\nWorkerType=b TRES=cpu=5,mem=10\n"
		 "PSType=p TRES=cpu=6,mem=900\n",
		 "WorkerType=b: no node of the auction can hold one"},
		{"Eta=gpu=2,CPU=2,gpu:v10=3,gpu:V100=4\n",
		 "Eta=gpu:v10: no node of the auction has "
		 "such a TRES"},
		{"PartitionName=edge Cost=gpu:t4=1,gpu=2\nUpper=disk=3,gpu:v100=2\n",
		 "Upper=disk, Cost=gpu:t4: no node of the auction has such a TRES"},
		{"PartitionName=edge OneServer=yes\nWorkerType=a TRES=cpu=10,mem=910\n"
		 "WorkerType=b TRES=cpu=11,mem=910\nPSType=p TRES=cpu=6,mem=900\n",
		 "WorkerType=b: no node of the auction can hold one"},
	};
	char text[1024], said[256];
	struct auc_conf *conf;
	struct auc_err err;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), "Policy=dps\nPrices=none\n%s%s",
			 i < 2 || i == 3 ? "PartitionName=edge\nPartitionName=cloud\n" : "",
			 cases[i].types);
		if (auc_conf_parse(text, strlen(text), "test", &conf, &err) != AUC_OK)
			fail_msg("%s", err.text);
		*said = '\0';
		auc_nodes_unfit(conf, s, ns, said, sizeof(said));
		assert_string_equal(said, cases[i].said);
		strcpy(said, "before");
		auc_nodes_unfit(conf, s, ns, said, sizeof(said));
		assert_int_equal(strlen(said),
				 6 + (*cases[i].said ? 2 + strlen(cases[i].said) : 0));
		*said = '\0';
		auc_nodes_unfit(conf, s, 0, said, sizeof(said));
		assert_string_equal(said, "");
		auc_conf_free(conf);
	}
}

static void test_servers(void **state)
{
	int32_t edge[] = {0, 1, 3, 3, -1}, cloud[] = {1, 2, -1};
	partition_info_t parts[] = {
		{.name = (char *)"cloud", .node_inx = cloud},
		{.name = (char *)"edge", .node_inx = edge},
	};
	node_info_t nodes[] = {
		{.name = (char *)"e0",
		 .cpus = 8,
		 .cpus_efctv = 6,
		 .real_memory = 1000,
		 .mem_spec_limit = 100,
		 .gres = (char *)"gpu:v100:2",
		 .node_state = NODE_STATE_IDLE},
		{.name = (char *)"both",
		 .cpus = 4,
		 .real_memory = 10,
		 .node_state = NODE_STATE_MIXED},
		{.name = (char *)"c0",
		 .cpus = 4,
		 .real_memory = 10,
		 .node_state = NODE_STATE_IDLE | NODE_STATE_DRAIN},
		{.name = (char *)"bad", .cpus = 4, .gres = (char *)"gpu:x1:2x"},
		{.name = (char *)"other", .cpus = 4},
	};
	partition_info_msg_t p = {.record_count = 2, .partition_array = parts};
	node_info_msg_t n = {.record_count = 5, .node_array = nodes};
	struct auc_server_spec *s;
	struct auc_conf *conf;
	struct auc_err err;
	char missing[128];
	unsigned ns;

	(void)state;
	assert_int_equal(auc_conf_parse(conf_text, strlen(conf_text), "test", &conf, &err), AUC_OK);
	assert_int_equal(auc_nodes_servers(conf, &n, &p, &s, &ns, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "bad"));
	assert_int_equal(ns, 3);
	assert_string_equal(s[0].name, "e0");
	assert_string_equal(s[0].partition, "edge");
	assert_int_equal(s[0].ncapacity, 3);
	assert_true(s[0].capacity[0].value == 6 && s[0].capacity[1].value == 900);
	assert_string_equal(s[0].capacity[2].name, "gpu:v100");
	assert_false(s[0].down);
	/* In both partitions: the first of auction.conf has it. */
	assert_string_equal(s[1].partition, "edge");
	assert_string_equal(s[2].partition, "cloud");
	assert_true(s[2].down);
	test_unfit(s, ns);
	free(s);
	auc_nodes_missing(conf, &p, missing, sizeof(missing));
	assert_string_equal(missing, "");
	p.partition_array++;
	p.record_count = 1;
	auc_nodes_missing(conf, &p, missing, sizeof(missing));
	assert_string_equal(missing, "PartitionName=cloud: slurm.conf has no such partition");
	p.record_count = 0;
	auc_nodes_missing(conf, &p, missing, sizeof(missing));
	assert_string_equal(
		missing,
		"PartitionName=edge, PartitionName=cloud: slurm.conf has no such partition");
	auc_conf_free(conf);
}

/* Slurm gives no name of a node that it hides, and does not say why it does. */
static void test_hidden(void **state)
{
	int32_t edge[] = {0, 1, -1};
	partition_info_t parts[] = {{.name = (char *)"edge", .node_inx = edge}};
	node_info_t nodes[] = {{.name = (char *)"n0", .cpus = 1}, {.cpus = 1}, {.cpus = 1}};
	partition_info_msg_t p = {.record_count = 1, .partition_array = parts};
	node_info_msg_t n = {.record_count = 3, .node_array = nodes};
	struct auc_server_spec *s;
	struct auc_conf *conf;
	struct auc_err err;
	unsigned ns;

	(void)state;
	assert_int_equal(auc_conf_parse(conf_text, strlen(conf_text), "test", &conf, &err), AUC_OK);
	assert_int_equal(auc_nodes_servers(conf, &n, &p, &s, &ns, &err), AUC_EINVAL);
	assert_string_equal(err.text,
			    "1 node is hidden, and so not for sale: it is FUTURE, or powered "
			    "down, and PrivateData=cloud in slurm.conf shows those");
	assert_int_equal(ns, 1);
	free(s);
	auc_conf_free(conf);
}

static void test_features(void **state)
{
	int32_t edge[] = {0, 2, -1};
	partition_info_t parts[] = {{.name = (char *)"edge", .node_inx = edge}};
	char many[2 * AUC_FEATURES_MAX] = "a0";
	node_info_t nodes[] = {
		{.name = (char *)"n0", .cpus = 1, .features = (char *)"gpu,ib"},
		{.name = (char *)"n1",
		 .cpus = 1,
		 .features = (char *)"knl,snc4",
		 .features_act = (char *)"knl"},
		{.name = (char *)"n2", .cpus = 1, .features = many},
	};
	partition_info_msg_t p = {.record_count = 1, .partition_array = parts};
	node_info_msg_t n = {.record_count = 3, .node_array = nodes};
	struct auc_server_spec *s;
	struct auc_conf *conf;
	struct auc_err err;
	unsigned ns;

	(void)state;
	while (strlen(many) < AUC_FEATURES_MAX)
		strcat(many, ",feature");
	assert_int_equal(auc_conf_parse(conf_text, strlen(conf_text), "test", &conf, &err), AUC_OK);
	assert_int_equal(auc_nodes_servers(conf, &n, &p, &s, &ns, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "node n2: features of more than"));
	assert_int_equal(ns, 3);
	assert_string_equal(s[0].features, "gpu,ib");
	assert_string_equal(s[1].features, "knl");
	/* Whole names only. */
	assert_true(strlen(s[2].features) < AUC_FEATURES_MAX);
	assert_string_equal(s[2].features + strlen(s[2].features) - 8, ",feature");
	free(s);
	auc_conf_free(conf);
}

/* CPUs that Slurm hands out at once, and what it says of types that take fewer. */
static void test_cores(void **state)
{
	int32_t edge[] = {0, 2, -1};
	partition_info_t parts[] = {{.name = (char *)"edge", .node_inx = edge}};
	node_info_t nodes[] = {
		{.name = (char *)"n0", .cpus = 16, .sockets = 2, .cores = 4, .threads = 2},
		{.name = (char *)"n1", .cpus = 8, .sockets = 2, .cores = 4, .threads = 2},
		{.name = (char *)"n2", .cpus = 8, .sockets = 1, .cores = 8, .threads = 1},
	};
	static const struct {
		uint16_t how;
		unsigned cpus[3], tasks[3];
	} cases[] = {
		{CR_CORE | CR_MEMORY, {2, 1, 1}, {1, 1, 1}},
		{CR_CPU, {2, 1, 1}, {1, 1, 1}},
		{CR_CORE | AUC_SELECT_ONE_TASK_PER_CORE, {2, 1, 1}, {2, 1, 1}},
		{AUC_SELECT_SOCKET, {8, 4, 8}, {1, 1, 1}},
	};
	static const char text[] = "PartitionName=edge\nPrices=none\n"
				   "WorkerType=odd TRES=cpu=3,mem=1\nWorkerType=even "
				   "TRES=cpu=2,mem=1\nPSType=one TRES=cpu=1,mem=1\n";
	partition_info_msg_t p = {.record_count = 1, .partition_array = parts};
	node_info_msg_t n = {.record_count = 3, .node_array = nodes};
	char said[512] = "";
	struct auc_server_spec *s;
	struct auc_conf *conf;
	struct auc_err err;
	unsigned ns;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		nodes[i].real_memory = 10;
	assert_int_equal(auc_conf_parse(text, strlen(text), "test", &conf, &err), AUC_OK);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		slurm_conf.select_type_param = cases[i].how;
		assert_int_equal(auc_nodes_servers(conf, &n, &p, &s, &ns, &err), AUC_OK);
		for (unsigned k = 0; k < 3; k++) {
			assert_int_equal(s[k].cpu_step, cases[i].cpus[k]);
			assert_int_equal(s[k].task_step, cases[i].tasks[k]);
		}
		if (i == 0)
			auc_nodes_unfit(conf, s, ns, said, sizeof(said));
		free(s);
	}
	assert_non_null(strstr(said, "WorkerType=odd, PSType=one: cpu is no multiple of 2"));
	assert_null(strstr(said, "even"));
	slurm_conf.select_type_param = 0;
	auc_conf_free(conf);
}

/* Shares of GPUs are sold in place of the GPUs, on that node alone. */
static void test_shares(void **state)
{
	int32_t edge[] = {0, 2, -1};
	partition_info_t parts[] = {{.name = (char *)"edge", .node_inx = edge}};
	node_info_t nodes[] = {
		{.name = (char *)"n0", .cpus = 1, .gres = (char *)"gpu:v100:4(S:0),shard:16"},
		{.name = (char *)"n1", .cpus = 1, .gres = (char *)"gpu:v100:4"},
		{.name = (char *)"n2",
		 .cpus = 1,
		 .gres = (char *)"disk:3,gpu:2,shard:t4:6(S:0),shard:v100:2,gpu:t4:1"},
	};
	partition_info_msg_t p = {.record_count = 1, .partition_array = parts};
	node_info_msg_t n = {.record_count = 3, .node_array = nodes};
	struct auc_server_spec *s;
	struct auc_conf *conf;
	struct auc_err err;
	unsigned ns;

	(void)state;
	assert_int_equal(auc_conf_parse(conf_text, strlen(conf_text), "test", &conf, &err), AUC_OK);
	assert_int_equal(auc_nodes_servers(conf, &n, &p, &s, &ns, &err), AUC_OK);
	assert_int_equal(s[0].ncapacity, 3);
	assert_string_equal(s[0].capacity[2].name, "shard");
	assert_true(s[0].capacity[2].value == 16);
	assert_int_equal(s[1].ncapacity, 3);
	assert_string_equal(s[1].capacity[2].name, "gpu:v100");
	assert_int_equal(s[2].ncapacity, 4);
	assert_string_equal(s[2].capacity[2].name, "disk");
	assert_string_equal(s[2].capacity[3].name, "shard");
	assert_true(s[2].capacity[3].value == 8);
	free(s);
	auc_conf_free(conf);
}

static void test_switches(void **state)
{
	struct auc_server_spec s[3] = {{.name = "n2"}, {.name = "n10"}, {.name = "n1"}};
	struct auc_err err;

	(void)state;
	assert_int_equal(
		auc_nodes_set_switches(s, 3,
				       "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
				       "SwitchName=leaf2 Level=0 Nodes=n[2-9],x\n"
				       "SwitchName=spine Level=1 Nodes=n[1-10] "
				       "Switches=leaf[1-2]\n",
				       &err),
		AUC_OK);
	assert_string_equal(s[0].leaf, "leaf1");
	assert_string_equal(s[1].leaf, "");
	assert_string_equal(s[2].leaf, "leaf1");
	memset(s, 0, sizeof(s));
	strcpy(s[0].name, "n2");
	assert_int_equal(
		auc_nodes_set_switches(
			s, 1, "BlockName=b1 BlockIndex=0 Nodes=n[1-18] BlockSize=18\n", &err),
		AUC_OK);
	assert_string_equal(s[0].leaf, "b1");
	/* Without a topology all nodes are as near as can be. */
	memset(s[0].leaf, 0, sizeof(s[0].leaf));
	assert_int_equal(auc_nodes_set_switches(s, 2, "", &err), AUC_OK);
	assert_string_equal(s[0].leaf, s[1].leaf);
	assert_string_equal(s[0].leaf, "all");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gres),     cmocka_unit_test(test_gres_bad),
		cmocka_unit_test(test_features), cmocka_unit_test(test_cores),
		cmocka_unit_test(test_shares),   cmocka_unit_test(test_switches),
		cmocka_unit_test(test_servers),  cmocka_unit_test(test_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
