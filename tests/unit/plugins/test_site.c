/* test_site.c - which partitions a job needs a bid for, above all while auction.conf cannot be
 * read. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "adapter/granted.h"
#include "adapter/partitions.h"
#include "adapter/patience.h"
#include "adapter/site.h"
#include "adapter/slurm_compat.h"

slurm_conf_t slurm_conf;
#ifndef WITHOUT_DEFAULT /* as in a slurmctld that has no such variable */
const char *default_part_name;
#endif

static char dir[] = "/tmp/auction-site-XXXXXX", conf_path[64], good_path[64], params[96],
	    spool_kept[96], kept[64];

static const char good_conf[] = "SlotSeconds=10\nSlots=100\n"
				"WorkerType=v100 TRES=cpu=2,mem=500,gpu:v100=1 Bandwidth=1000\n"
				"PSType=ps.m TRES=cpu=2,mem=400 Bandwidth=1000\n"
				"PartitionName=edge\nPartitionName=cloud Site=cloud\n";

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void at(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", dir, name);
}

static bool ours(const char *partition)
{
	return auc_site_is_ours(partition, strlen(partition));
}

/* slurm.conf: main has no GPUs, edge, cloud, gpu and mixed do. */
static const char slurm_lines[] =
	"ClusterName=x # a comment\n"
	"include nodes.conf\n"
	"PartitionName=DEFAULT Nodes=cpu[1-2] State=UP\n"
	"PartitionName=main Default=YES\n"
	"partitionname=edge nodes=edge[1-2]\n"
	"PartitionName=gpu \\\n  Nodes=\"edge2,cpu1\"\n"
	"PartitionName=all Nodes=ALL\n"
	"PartitionName=set Nodes=someset\n"
	"PartitionName=login Nodes=cpu1,\\\ncpu2 Default=NO # Nodes=edge1\n";
static const char node_lines[] = "NodeName=DEFAULT CPUs=2\nNodeName=cpu[1-3] RealMemory=1000\n"
				 "NodeName=edge[1-2] Gres=bandwidth:1,GPU:v100:4 CPUs=8\n";

static int make_files(void **state)
{
	char path[96];

	(void)state;
	assert_non_null(mkdtemp(dir));
	at("slurm.conf", conf_path, sizeof(conf_path));
	write_file(conf_path, slurm_lines);
	at("nodes.conf", path, sizeof(path));
	write_file(path, node_lines);
	at("site.conf", good_path, sizeof(good_path));
	at("auction.conf", kept, sizeof(kept));
	at("auction", path, sizeof(path));
	assert_int_equal(mkdir(path, 0700), 0);
	at("auction/auction.conf", spool_kept, sizeof(spool_kept));
	snprintf(params, sizeof(params), "auction_conf=%s", good_path);
	slurm_conf.slurm_conf = conf_path;
	slurm_conf.state_save_location = dir;
	slurm_conf.sched_params = params;
	return 0;
}

static int remove_files(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void begin(void)
{
	struct auc_err err;

	assert_int_equal(auc_site_get(SLURM_VERSION_NUMBER, &err), AUC_OK);
}

static void test_partitions(void **state)
{
	struct auc_partitions p;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_partitions_read(conf_path, &p, &err), AUC_OK);
	assert_int_equal(p.n, 6);
	assert_string_equal(p.default_name, "main");
	assert_true(auc_partitions_ordinary(&p, "main", 4));
	assert_true(auc_partitions_ordinary(&p, "login", 5));
	assert_false(auc_partitions_ordinary(&p, "edge", 4));
	assert_false(auc_partitions_ordinary(&p, "gpu", 3));
	assert_false(auc_partitions_ordinary(&p, "all", 3));
	assert_false(auc_partitions_ordinary(&p, "set", 3)); /* what is in it is not known */
	assert_false(auc_partitions_ordinary(&p, "mai", 3));
	assert_false(auc_partitions_ordinary(&p, "nowhere", 7));
	auc_partitions_clear(&p);
}

static void test_partitions_unreadable(void **state)
{
	char path[96];
	struct auc_partitions p;
	struct auc_err err;

	(void)state;
	at("loop.conf", path, sizeof(path));
	write_file(path, "PartitionName=main\ninclude loop.conf\n");
	assert_int_equal(auc_partitions_read(path, &p, &err), AUC_EINVAL);
	assert_int_equal(p.n, 0);
	write_file(path, "PartitionName=main\nInclude gone.conf\n");
	assert_int_equal(auc_partitions_read(path, &p, &err), AUC_EIO);
	assert_false(auc_partitions_ordinary(&p, "main", 4));
}

static void test_partitions_seen(void **state)
{
	node_info_t nodes[3] = {{.name = (char *)"c", .gres = NULL},
				{.name = (char *)"g", .gres = (char *)"shard:8,gpu:2"},
				{.name = (char *)"m", .gres = (char *)"gpumem:8"}};
	node_info_msg_t node_msg = {.record_count = 3, .node_array = nodes};
	int plain[] = {0, 0, 2, 2, -1}, all[] = {0, 2, -1};
	partition_info_t list[2] = {
		{.name = (char *)"main", .node_inx = plain, .flags = PART_FLAG_DEFAULT},
		{.name = (char *)"edge", .node_inx = all, .alternate = (char *)"main"}};
	partition_info_msg_t msg = {.record_count = 2, .partition_array = list};
	struct auc_partitions p;
	struct auc_err err;

	(void)state;
	assert_int_equal(auc_partitions_see(&node_msg, &msg, &p, &err), AUC_OK);
	assert_string_equal(p.default_name, "main");
	assert_true(auc_partitions_ordinary(&p, "main", 4));
	assert_false(auc_partitions_ordinary(&p, "edge", 4));
	assert_string_equal(auc_partitions_find(&p, "edge", 4)->alternate, "main");
	assert_string_equal(auc_partitions_find(&p, "main", 4)->alternate, "");
	auc_partitions_clear(&p);
}

static void test_good(void **state)
{
	struct auc_err err;

	(void)state;
	write_file(good_path, good_conf);
	begin();
	assert_true(ours("edge"));
	assert_true(ours("cloud"));
	assert_false(ours("gpu")); /* the administrator has not said that it is sold */
	assert_false(ours("main"));
	assert_int_equal(auc_site_keep(dir, &err), AUC_OK);
	assert_true(auc_site_put());
}

/* Missing, empty, or with an error: what was kept last says what is sold. */
static void test_kept(void **state)
{
	static const char *const broken[] = {NULL, "", "PartitionName=new\nSlots=many\n"};
	static const char *const kept_at[] = {kept, spool_kept};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		unlink(kept);
		unlink(spool_kept);
		write_file(kept_at[k], good_conf);
		for (unsigned i = 0; i < 3; i++) {
			unlink(good_path);
			if (broken[i])
				write_file(good_path, broken[i]);
			begin();
			assert_null(auc_site_enter(NULL));
			assert_true(ours("edge"));
			assert_true(ours("cloud"));
			assert_int_equal(ours("new"), i == 2);
			assert_false(ours("gpu"));
			assert_false(ours("main"));
			assert_true(auc_site_put());
		}
	}
}

/* slurmctld must not wait for who writes to it. */
static void test_fifo(void **state)
{
	(void)state;
	unlink(spool_kept);
	write_file(kept, good_conf);
	unlink(good_path);
	assert_int_equal(mkfifo(good_path, 0644), 0);
	alarm(60);
	begin();
	alarm(0);
	assert_null(auc_site_enter(NULL));
	assert_true(ours("edge"));
	assert_false(ours("main"));
	assert_true(auc_site_put());
	unlink(good_path);
}

/* A file that has no end, nor anything in it: what is beyond the first part is not looked at. */
static void test_huge(void **state)
{
	(void)state;
	write_file(kept, good_conf);
	write_file(good_path, "");
	assert_int_equal(truncate(good_path, (off_t)1 << 40), 0);
	alarm(60);
	begin();
	alarm(0);
	assert_true(ours("edge"));
	assert_false(ours("main"));
	assert_true(auc_site_put());
	unlink(good_path);
}

/* Where the spool is elsewhere, the broken file may say so. */
static void test_kept_elsewhere(void **state)
{
	char path[96], text[160];

	(void)state;
	unlink(kept);
	unlink(spool_kept);
	at("elsewhere", path, sizeof(path));
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(text, sizeof(text), "Slots=many\nSpoolDir=%s # there\n", path);
	write_file(good_path, text);
	at("elsewhere/auction.conf", path, sizeof(path));
	write_file(path, good_conf);
	begin();
	assert_true(ours("cloud"));
	assert_false(ours("main"));
	assert_true(auc_site_put());
}

/* Nobody knows what is sold: what has GPUs, or is not known, needs a bid. */
static void test_nothing_known(void **state)
{
	struct auc_partitions seen = {0};
	char names[128];

	(void)state;
	unlink(kept);
	unlink(spool_kept);
	unlink(good_path);
	begin();
	assert_true(ours("edge"));
	assert_true(ours("gpu"));
	assert_true(ours("made-since"));
	assert_false(ours("main"));
	assert_false(ours("login"));
	auc_site_partitions(names, sizeof(names));
	assert_non_null(strstr(names, "all with GPUs"));
	/* What the agent sees counts. */
	seen.list = calloc(1, sizeof(*seen.list));
	strcpy(seen.list[0].name, "made-since");
	seen.n = 1;
	auc_site_set_partitions(&seen);
	assert_int_equal(seen.n, 0);
	assert_false(ours("made-since"));
	assert_true(ours("main"));
	assert_true(auc_site_put());
	/* An administrator has decided. */
	write_file(good_path, good_conf);
	begin();
	assert_false(ours("gpu"));
	assert_true(auc_site_put());
}

static enum auc_diverts way(const char *partition)
{
	char sold[AUC_NAME_MAX];

	return auc_site_diverts(partition, strlen(partition), sold);
}

/* Partitions of which each sends jobs to the next while it is shut: main to gpu to edge, which is
 * sold; a and b to each other. */
static void see_alternates(bool main_submits, bool gpu_submits)
{
	static const char *const names[] = {"main", "gpu", "edge", "a", "b"};
	static const char *const next[] = {"gpu", "edge", "", "b", "a"};
	struct auc_partitions seen = {.n = 5};

	seen.list = calloc(seen.n, sizeof(*seen.list));
	for (unsigned i = 0; i < seen.n; i++) {
		strcpy(seen.list[i].name, names[i]);
		strcpy(seen.list[i].alternate, next[i]);
		seen.list[i].submits = i == 0 ? main_submits : i == 1 ? gpu_submits : i == 2;
	}
	auc_site_set_partitions(&seen);
}

static void test_alternates(void **state)
{
	partition_info_msg_t none = {.record_count = 0};
	struct auc_rules *rules;
	struct auc_conf *conf;
	struct auc_err err;

	(void)state;
	write_file(good_path, good_conf);
	begin();
	see_alternates(true, true);
	/* Nobody has looked yet. */
	assert_int_equal(way("main"), AUC_MAY_BE_DIVERTED);
	assert_int_equal(way("gpu"), AUC_MAY_BE_DIVERTED);
	assert_int_equal(way("a"), AUC_STAYS);
	assert_int_equal(way("nowhere"), AUC_STAYS);
	assert_int_equal(auc_conf_load(good_path, &conf, &err), AUC_OK);
	assert_int_equal(auc_rules_make(conf, &none, &rules, &err), AUC_OK);
	auc_conf_free(conf);
	auc_site_set_rules(rules, auc_partitions_changed());
	assert_int_equal(way("main"), AUC_STAYS);
	see_alternates(false, true);
	assert_int_equal(way("main"), AUC_STAYS);
	see_alternates(false, false);
	assert_int_equal(way("main"), AUC_DIVERTED);
	assert_int_equal(way("gpu"), AUC_DIVERTED);
	see_alternates(true, false);
	assert_int_equal(way("main"), AUC_STAYS);
	assert_true(auc_site_put());
}

/* No partition is named: not known is sold. */
#ifdef WITHOUT_DEFAULT
static void test_default(void **state)
{
	struct auc_partitions seen = {0};

	(void)state;
	write_file(good_path, good_conf);
	begin();
	assert_false(auc_site_default_is_ours()); /* as slurm.conf has it */
	strcpy(seen.default_name, "edge");
	auc_site_set_partitions(&seen);
	assert_true(auc_site_default_is_ours());
	auc_site_set_partitions(&seen); /* nobody knows */
	assert_true(auc_site_default_is_ours());
	assert_true(auc_site_put());
}
#else
static void test_default(void **state)
{
	(void)state;
	write_file(good_path, good_conf);
	default_part_name = "edge";
	begin();
	assert_true(auc_site_default_is_ours());
	default_part_name = "main"; /* an administrator's scontrol counts at once */
	assert_false(auc_site_default_is_ours());
	default_part_name = NULL; /* Slurm itself refuses the job */
	assert_false(auc_site_default_is_ours());
	assert_true(auc_site_put());
}
#endif

static void test_patience(void **state)
{
	struct auc_patience p = {.lock = PTHREAD_MUTEX_INITIALIZER};

	(void)state;
	/* As sbatch asks: after 1, 2, 3, 4, ... seconds. */
	assert_true(auc_patience_lasts(&p, 7, 100) && auc_patience_lasts(&p, 7, 101) &&
		    auc_patience_lasts(&p, 7, 103) && auc_patience_lasts(&p, 7, 106) &&
		    auc_patience_lasts(&p, 7, 110));
	assert_false(auc_patience_lasts(&p, 7, 115));
	assert_true(auc_patience_lasts(&p, 8, 115));
	assert_true(auc_patience_lasts(&p, 0, 115));
	assert_false(auc_patience_lasts(&p, 7, 116));
	/* Another cause, some time later. */
	assert_true(auc_patience_lasts(&p, 7, 125));
	/* Of more users than there is room for the first is forgotten: 8 here. */
	for (uint32_t uid = 1000; uid < 1000 + AUC_PATIENCE_USERS - 2; uid++)
		assert_true(auc_patience_lasts(&p, uid, 126));
	assert_true(auc_patience_lasts(&p, 8, 127));
	assert_true(auc_patience_lasts(&p, 7, 128));
}

/* Whether it is one of the sales of a list. */
static bool is_listed(const void *arg, const char *sale, double at)
{
	(void)at;
	return strstr(arg, sale);
}

static void test_granted(void **state)
{
	struct auc_granted g = {0};
	char sale[8];

	(void)state;
	auc_granted_add(&g, "a", 7, 3, 100);
	auc_granted_add(&g, "b", 8, 1, 101);
	auc_granted_add(&g, "c", 7, 1, 101);
	auc_granted_add(&g, "d", 7, 0, 101);
	assert_int_equal(auc_granted_jobs(&g, 7, false, 102), 4);
	assert_int_equal(auc_granted_jobs(&g, 7, true, 102), 5);
	/* What is counted is not once more on its way; what is slow still is. */
	assert_true(auc_granted_sweep(&g, is_listed, "b c", 115));
	assert_int_equal(auc_granted_jobs(&g, 7, false, 115), 3);
	assert_int_equal(auc_granted_jobs(&g, 7, true, 115), 3);
	assert_false(auc_granted_sweep(&g, is_listed, "a", 116));
	assert_int_equal(auc_granted_jobs(&g, 7, true, 116), 0);
	/* Not for ever. */
	auc_granted_add(&g, "e", 7, 2, 120);
	assert_int_equal(auc_granted_jobs(&g, 7, false, 120 + AUC_GRANTED_LONGEST - 1), 2);
	assert_int_equal(auc_granted_jobs(&g, 7, false, 120 + AUC_GRANTED_LONGEST), 0);
	assert_false(auc_granted_sweep(&g, is_listed, "", 120 + AUC_GRANTED_LONGEST));
	/* Of more than there is room for the last count. */
	for (unsigned i = 0; i < AUC_GRANTED_MAX + 9; i++) {
		snprintf(sale, sizeof(sale), "s%u", i);
		auc_granted_add(&g, sale, 9, 1, 200);
	}
	assert_int_equal(auc_granted_jobs(&g, 9, false, 200), AUC_GRANTED_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_partitions_unreadable),
		cmocka_unit_test(test_partitions_seen),
		cmocka_unit_test(test_alternates),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_fifo),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_kept_elsewhere),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_granted),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
