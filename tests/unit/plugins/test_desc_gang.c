/* test_desc_gang.c - Slurm's own options of a job as a gang, and the job again. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "adapter/desc_gang.h"

#define NOW 1000.0

static job_desc_msg_t desc;
static struct auc_bid bid;
static const struct auc_node_size *size;   /* of each node; NULL: not known */
static const struct auc_gang_reach *reach; /* NULL: its CPUs are handed out one by one */

/* A job of N nodes with 100 MB each, for an hour. */
static job_desc_msg_t *fresh(uint32_t n)
{
	slurm_init_job_desc_msg(&desc);
	desc.het_job_offset = NO_VAL;
	desc.min_cpus = 1;
	desc.pn_min_memory = 100;
	desc.time_limit = 60;
	if (n)
		desc.min_nodes = desc.max_nodes = n;
	memset(&bid, 0, sizeof(bid));
	bid.max_price = -1;
	bid.utility.form = AUC_FORM_CONSTANT;
	return &desc;
}

/* Frees what auc_desc_apply_gang() has set, and what was there before. */
static void release(void)
{
	AUC_XFREE(desc.tres_per_task);
	AUC_XFREE(desc.tres_per_node);
	AUC_XFREE(desc.req_nodes);
	AUC_XFREE(desc.partition);
	AUC_XFREE(desc.admin_comment);
	for (uint32_t i = 0; i < desc.env_size; i++)
		AUC_XFREE(desc.environment[i]);
	AUC_XFREE(desc.environment);
	desc.env_size = 0;
}

static double amount(unsigned shape, const char *tres)
{
	for (unsigned k = 0; k < bid.gang.ntres; k++)
		if (!strcmp(bid.gang.tres[k], tres))
			return bid.gang.shapes[shape].amount[k];
	return 0;
}

/* The shapes are N, the first one of NODES with CPU, MEM and GPUS of TRES. */
static void has(unsigned n, uint64_t nodes, double cpu, double mem, const char *tres, double gpus)
{
	struct auc_err err;

	if (auc_desc_gang(&desc, NOW, size, reach, &bid, &err) != AUC_OK)
		fail_msg("%s", err.text);
	assert_int_equal(bid.gang.nshapes, n);
	assert_int_equal(bid.gang.shapes[0].nodes, nodes);
	assert_true(amount(0, "cpu") == cpu);
	assert_true(amount(0, "mem") == mem);
	assert_true(amount(0, tres) == gpus);
}

static void refused(const char *said)
{
	struct auc_err err;

	assert_int_equal(auc_desc_gang(&desc, NOW, size, reach, &bid, &err), AUC_EINVAL);
	if (!strstr(err.text, said))
		fail_msg("'%s' is not in '%s'", said, err.text);
}

static void test_shapes(void **state)
{
	(void)state;
	/* sbatch --nodes=4 --gpus-per-node=8 --cpus-per-task=6 --mem=400G */
	fresh(4);
	desc.cpus_per_task = desc.pn_min_cpus = 6;
	desc.num_tasks = 4;
	desc.pn_min_memory = 400000;
	desc.tres_per_node = (char *)"gres:gpu:8";
	has(1, 4, 6, 400000, "gpu", 8);
	assert_true(bid.gang.shapes[0].seconds == 3600);
	/* Tasks on each node, a type, another GRES; as newer releases write it, too. */
	fresh(2);
	desc.ntasks_per_node = 4;
	desc.num_tasks = 8;
	desc.cpus_per_task = 2;
	desc.tres_per_task = (char *)"cpu=2,gres/gpu:a100=1";
	has(1, 2, 8, 100, "gpu:a100", 4);
	fresh(1);
	desc.tres_per_node = (char *)"gres/gpu:a100=2,gres/shard=3";
	has(1, 1, 1, 100, "gpu:a100", 2);
	assert_true(amount(0, "shard") == 3);
	/* Memory of a CPU and of a GPU, CPUs of a GPU. */
	fresh(1);
	desc.cpus_per_task = 3;
	desc.pn_min_memory = 10 | UINT64_C(0x8000000000000000);
	has(1, 1, 3, 30, "gpu", 0);
	fresh(1);
	desc.pn_min_memory = NO_VAL64;
	desc.tres_per_node = (char *)"gres:gpu:2";
	desc.mem_per_tres = (char *)"gres:gpu:4096";
	desc.cpus_per_tres = (char *)"gres:gpu:6";
	has(1, 1, 12, 8192, "gpu", 2);
	/* A node of each that is named. */
	fresh(0);
	desc.req_nodes = (char *)"n[1-3]";
	has(1, 3, 1, 100, "gpu", 0);
	assert_int_equal(bid.gang.nplaces, 3);
	assert_false(bid.gang.except);
}

/* Options that say the same in several ways are one amount, as Slurm takes them. */
static void test_agreeing(void **state)
{
	(void)state;
	/* --nodes=2 --ntasks-per-node=2 --gpus-per-node=2 --gpus-per-task=1 */
	fresh(2);
	desc.ntasks_per_node = 2;
	desc.num_tasks = 4;
	desc.tres_per_node = (char *)"gres:gpu:2";
	desc.tres_per_task = (char *)"gres:gpu:1";
	has(1, 2, 2, 100, "gpu", 2);
	/* --nodes=2 --gpus-per-node=4 --gpus-per-task=2 --cpus-per-task=3: two tasks on each. */
	fresh(2);
	desc.num_tasks = 2;
	desc.cpus_per_task = 3;
	desc.tres_per_node = (char *)"gres:gpu:4";
	desc.tres_per_task = (char *)"gres:gpu:2";
	has(1, 2, 6, 100, "gpu", 4);
	desc.tres_per_task = (char *)"cpu=3,gres/gpu:2";
	has(1, 2, 6, 100, "gpu", 4);
	/* --nodes=2 --gpus=8 --gpus-per-node=4, of one type */
	fresh(2);
	desc.num_tasks = 2;
	desc.tres_per_job = (char *)"gres:gpu:a100:8";
	desc.tres_per_node = (char *)"gres:gpu:a100:4";
	has(1, 2, 1, 100, "gpu:a100", 4);
	/* --nodes=2 --ntasks=4 --gpus=4 --gpus-per-task=1 */
	fresh(2);
	desc.num_tasks = 4;
	desc.tres_per_job = (char *)"gres:gpu:4";
	desc.tres_per_task = (char *)"gres:gpu:1";
	has(1, 2, 2, 100, "gpu", 2);
	/* Without --nodes they say how many it has. */
	fresh(0);
	desc.tres_per_job = (char *)"gres:gpu:4";
	desc.tres_per_node = (char *)"gres:gpu:2";
	has(1, 2, 1, 100, "gpu", 2);
	fresh(0);
	desc.num_tasks = 6;
	desc.tres_per_node = (char *)"gres:gpu:2";
	desc.tres_per_task = (char *)"gres:gpu:1";
	has(1, 3, 2, 100, "gpu", 2);
	/* --gpus-per-node=3 --gres=gpu:2: of one of several Slurm takes the last; others count. */
	fresh(1);
	desc.tres_per_node = (char *)"gres:gpu:3,gres:gpu:2,gres:shard:1";
	has(1, 1, 1, 100, "gpu", 2);
	assert_true(amount(0, "shard") == 1);
	/* What Slurm would refuse. */
	fresh(2);
	desc.num_tasks = 2;
	desc.tres_per_job = (char *)"gres:gpu:6";
	desc.tres_per_node = (char *)"gres:gpu:2";
	refused("gpu: 6 on 2 nodes, and 2 on each, expected as many");
	fresh(2);
	desc.ntasks_per_node = 3;
	desc.tres_per_node = (char *)"gres:gpu:2";
	desc.tres_per_task = (char *)"gres:gpu:1";
	refused("gpu: 3 tasks on a node with 1 of each, expected 2 of each node");
	fresh(2);
	desc.tres_per_node = (char *)"gres:gpu:3";
	desc.tres_per_task = (char *)"gres:gpu:2";
	refused("gpu: 3 of a node, expected a multiple of 2, as each task has");
}

/* Where cores have two threads, and where each task has its own. */
static void test_cores(void **state)
{
	static const struct auc_gang_reach cores = {.cpu_step = 2, .task_step = 1},
					   tasks = {.cpu_step = 2, .task_step = 2};

	(void)state;
	reach = &cores;
	fresh(1);
	has(1, 1, 2, 100, "gpu", 0);
	fresh(2);
	desc.num_tasks = 6;
	has(1, 2, 4, 100, "gpu", 0);
	fresh(1);
	desc.cpus_per_task = 4;
	has(1, 1, 4, 100, "gpu", 0);
	/* Slurm gives memory for each CPU that it gives. */
	fresh(1);
	desc.cpus_per_task = 3;
	desc.pn_min_memory = 10 | UINT64_C(0x8000000000000000);
	has(1, 1, 4, 40, "gpu", 0);
	reach = &tasks;
	fresh(2);
	desc.num_tasks = 6;
	has(1, 2, 6, 100, "gpu", 0);
	fresh(1);
	desc.num_tasks = 2;
	desc.cpus_per_task = 3;
	has(1, 1, 8, 100, "gpu", 0);
	reach = NULL;
}

/* What is bought of a core's other thread, and is not said by the tasks. */
static void test_apply_cores(void **state)
{
	struct auc_slice slice = {.node = "n[1-2]",
				  .partition = "p",
				  .nnodes = 2,
				  .cpus = 4,
				  .mem_mb = 100,
				  .minutes = 60,
				  .gres = "gres:gpu:a100:1"};
	slurm_job_info_t info = {.num_tasks = 2,
				 .ntasks_per_node = NO_VAL16,
				 .cpus_per_task = 3,
				 .ntasks_per_tres = NO_VAL16,
				 .pn_min_memory = 100,
				 .tres_per_node = (char *)"gres:gpu:a100:1",
				 .shared = NO_VAL16,
				 .bitflags = JOB_NTASKS_SET};
	job_desc_msg_t update;

	(void)state;
	/* --nodes=2 --ntasks=2 --cpus-per-task=3: newer releases give one task no more than 3. */
	fresh(2);
	desc.num_tasks = 2;
	desc.cpus_per_task = 3;
	desc.bitflags = JOB_NTASKS_SET;
	desc.tres_per_node = slurm_xstrdup("gres:gpu:1");
	auc_desc_apply_gang(&desc, &slice, "{}");
	assert_int_equal(desc.pn_min_cpus, AUC_TASKS_BOUND_CPUS ? 3 : 4);
	info.pn_min_cpus = desc.pn_min_cpus;
	assert_true(auc_gang_takes(&slice, &info));
	slurm_init_job_desc_msg(&update);
	auc_gang_update(&info, &slice, &update);
	assert_int_equal(update.pn_min_cpus, desc.pn_min_cpus);
	auc_gang_update_clear(&update);
	release();
	/* --nodes=2 --cpus-per-task=3: nobody said how many tasks. */
	fresh(2);
	desc.num_tasks = 2;
	desc.cpus_per_task = 3;
	desc.tres_per_node = slurm_xstrdup("gres:gpu:1");
	auc_desc_apply_gang(&desc, &slice, "{}");
	assert_int_equal(desc.pn_min_cpus, 4);
	release();
}

static void test_no_gpus(void **state)
{
	(void)state;
	/* --gpus-per-node=0: it has none, and its record says so. */
	slurm_job_info_t none = {.shared = NO_VAL16,
				 .pn_min_cpus = 1,
				 .pn_min_memory = 100,
				 .tres_per_node = (char *)"gres:gpu:0",
				 .tres_req_str = (char *)"cpu=1,mem=100M,node=1"};
	struct auc_slice bare = {.nnodes = 1, .cpus = 1, .mem_mb = 100};

	assert_true(auc_gang_takes(&bare, &none));
	none.tres_per_node = (char *)"gres:gpu:1";
	assert_false(auc_gang_takes(&bare, &none));
}

/* What a script says of tasks, GPUs and whole nodes. */
static void test_whole_nodes(void **state)
{
	static const struct auc_node_size node = {
		.n = 4, .tres = {{"cpu", 64}, {"mem", 256000}, {"gpu:a100", 8}, {"shard", 0}}};

	(void)state;
	/* --mem=0 is all the memory of a node, also --mem-per-cpu=0, but not the 0 of
	 * --mem-per-gpu. */
	fresh(2);
	assert_false(auc_desc_whole(&desc));
	desc.pn_min_memory = 0;
	assert_true(auc_desc_whole(&desc));
	has(1, 2, 1, 1, "gpu", 0);
	size = &node;
	has(1, 2, 1, 256000, "gpu", 0);
	desc.pn_min_memory = UINT64_C(0x8000000000000000);
	has(1, 2, 1, 256000, "gpu", 0);
	desc.pn_min_memory = 0;
	desc.mem_per_tres = (char *)"gres:gpu:100";
	desc.tres_per_node = (char *)"gres:gpu:2";
	assert_false(auc_desc_whole(&desc));
	has(1, 2, 1, 200, "gpu", 2);
	/* Its record has the cluster's default beside. */
	slurm_job_info_t info = {.shared = NO_VAL16,
				 .pn_min_cpus = 1,
				 .pn_min_memory = UINT64_C(0x8000000000000064),
				 .mem_per_tres = (char *)"gres:gpu:100",
				 .tres_per_node = (char *)"gres:gpu:a100:2",
				 .tres_req_str = (char *)"cpu=2,mem=200M,node=2"};
	struct auc_slice sold = {.nnodes = 2, .cpus = 1, .mem_mb = 200, .gres = "gres:gpu:a100:2"};

	assert_true(auc_gang_takes(&sold, &info));
	/* Or the job said --mem, and DefMemPerGPU is beside it. */
	sold.mem_mb = 100;
	assert_true(auc_gang_takes(&sold, &info));
	sold.mem_mb = 300;
	assert_false(auc_gang_takes(&sold, &info));
	/* --exclusive --gpus-per-task=1 --ntasks=4 --mem=1000: that is the least of it. */
	fresh(2);
	desc.shared = 0;
	desc.num_tasks = 4;
	desc.pn_min_memory = 1000;
	desc.tres_per_task = slurm_xstrdup("gres:gpu:1");
	size = NULL;
	has(1, 2, 2, 1000, "gpu", 2);
	assert_true(bid.gang.whole);
	assert_false(auc_desc_whole(&desc));
	auc_desc_apply_gang(&desc,
			    &(struct auc_slice){.node = "n1,n2",
						.partition = "p",
						.nnodes = 2,
						.whole = true,
						.cpus = 64,
						.mem_mb = 256000,
						.minutes = 60,
						.gres = "gres:gpu:a100:8"},
			    "{}");
	/* It stays as it is: Slurm gives it all of its nodes. */
	assert_int_equal(desc.shared, 0);
	assert_null(desc.tres_per_node);
	assert_string_equal(desc.tres_per_task, "gres:gpu:1");
	assert_string_equal(desc.req_nodes, "n1,n2");
	assert_int_equal(desc.num_tasks, 4);
	assert_int_equal(desc.pn_min_memory, 1000);
	release();
	/* --ntasks=8 --ntasks-per-gpu=2: as many GPUs as that takes. */
	fresh(0);
	desc.num_tasks = 8;
	desc.ntasks_per_tres = 2;
	has(3, 1, 8, 100, "gpu", 4);
	/* As newer releases write --cpus-per-task=1, too. */
	desc.tres_per_task = (char *)"cpu=1";
	has(3, 1, 8, 100, "gpu", 4);
	desc.tres_per_task = NULL;
	desc.min_nodes = desc.max_nodes = 4;
	has(1, 4, 2, 100, "gpu", 1);
	auc_desc_apply_gang(&desc,
			    &(struct auc_slice){.node = "n[1-4]",
						.partition = "p",
						.nnodes = 4,
						.cpus = 2,
						.mem_mb = 100,
						.minutes = 60,
						.gres = "gres:gpu:a100:1"},
			    "{}");
	assert_string_equal(desc.tres_per_node, "gres:gpu:a100:1");
	release();
	fresh(8);
	desc.num_tasks = 8;
	desc.ntasks_per_tres = 2;
	refused("--ntasks-per-gpu=2: 1 task on a node, expected a multiple of it");
	/* As many tasks as are asked for, whatever fits: --nodes=2 --ntasks=2 --ntasks-per-node=2.
	 */
	fresh(2);
	desc.num_tasks = 2;
	desc.ntasks_per_node = 2;
	has(1, 2, 2, 100, "gpu", 0);
}

/* What says how Slurm is to lay a job out is harmless where all of its nodes are its own. */
static void test_own_nodes(void **state)
{
	struct auc_err err;

	(void)state;
	/* --exclusive --overcommit: CPUs of one task of a node, or of --ntasks-per-node. */
	fresh(2);
	desc.shared = 0;
	desc.overcommit = 1;
	desc.ntasks_per_node = 16;
	desc.cpus_per_task = 3;
	assert_int_equal(auc_desc_check(&desc, true, &err), AUC_OK);
	has(1, 2, 48, 100, "gpu", 0);
	desc.ntasks_per_node = NO_VAL16;
	desc.num_tasks = 32;
	has(1, 2, AUC_OVERCOMMIT_TAKES_CPUS ? 48 : 3, 100, "gpu", 0);
	auc_desc_apply_gang(&desc,
			    &(struct auc_slice){.node = "n1,n2",
						.partition = "p",
						.nnodes = 2,
						.whole = true,
						.cpus = 8,
						.mem_mb = 1000,
						.minutes = 60},
			    "{}");
	/* Slurm would want a CPU for each of them. */
	assert_int_equal(desc.ntasks_per_node, NO_VAL16);
	assert_int_equal(desc.num_tasks, 32);
	release();
	assert_int_equal(auc_desc_check(&desc, false, &err), AUC_EINVAL);
	/* Of a node that others are on Slurm would give it one task's. */
	desc.shared = NO_VAL16;
	assert_int_equal(auc_desc_check(&desc, true, &err), AUC_EINVAL);
	assert_non_null(strstr(err.text, "--overcommit without --exclusive cannot be combined"));
	/* GPUs that do not divide: it has all of both nodes. */
	fresh(2);
	desc.shared = 0;
	desc.tres_per_job = (char *)"gres:gpu:7";
	has(1, 2, 1, 100, "gpu", 4);
	/* One node is contiguous. */
	fresh(1);
	desc.contiguous = 1;
	assert_int_equal(auc_desc_check(&desc, true, &err), AUC_OK);
	assert_int_equal(auc_desc_check(&desc, false, &err), AUC_EINVAL);
	has(1, 1, 1, 100, "gpu", 0);
	fresh(0);
	desc.contiguous = 1;
	desc.num_tasks = 12;
	has(1, 1, 12, 100, "gpu", 0);
	fresh(2);
	desc.contiguous = 1;
	refused("--contiguous: 2 nodes, expected 1, or no --contiguous: the nodes that are bought "
		"need not be neighbours");
}

/* Each node is bought as large as the one with the most tasks. */
static void test_uneven(void **state)
{
	struct auc_slice slice = {.node = "n[1-2]",
				  .partition = "p",
				  .nnodes = 2,
				  .cpus = 4,
				  .mem_mb = 100,
				  .minutes = 60,
				  .gres = "gres:gpu:a100:2"};

	(void)state;
	/* --nodes=2 --ntasks=3 --cpus-per-task=2 --gpus-per-task=1 */
	fresh(2);
	desc.num_tasks = 3;
	desc.cpus_per_task = 2;
	desc.tres_per_task = (char *)"gres:gpu:1";
	has(1, 2, 4, 100, "gpu", 2);
	desc.tres_per_task = slurm_xstrdup("gres:gpu:1");
	auc_desc_apply_gang(&desc, &slice, "{}");
	assert_int_equal(desc.num_tasks, 3);
	assert_int_equal(desc.ntasks_per_node, NO_VAL16);
	assert_int_equal(desc.pn_min_cpus, 4);
	release();
	/* --nodes=2-3, whether they divide or not; of nodes that would be empty there are none. */
	fresh(2);
	desc.max_nodes = 3;
	desc.num_tasks = 9;
	has(2, 2, 5, 100, "gpu", 0);
	assert_int_equal(bid.gang.shapes[1].nodes, 3);
	assert_true(amount(1, "cpu") == 3);
	desc.num_tasks = 7;
	has(2, 2, 4, 100, "gpu", 0);
	assert_int_equal(bid.gang.shapes[1].nodes, 3);
	/* A prime number of them, on any number of nodes. */
	fresh(0);
	desc.num_tasks = 17;
	has(8, 1, 17, 100, "gpu", 0);
	assert_int_equal(bid.gang.shapes[2].nodes, 3);
	assert_true(amount(2, "cpu") == 6);
	assert_int_equal(bid.gang.shapes[7].nodes, 17);
	/* So many that there is no room for all numbers: those that divide them are there. */
	fresh(0);
	desc.num_tasks = 4096;
	has(64, 1, 4096, 100, "gpu", 0);
	assert_int_equal(bid.gang.shapes[63].nodes, 4096);
	for (unsigned i = 1; i < 64; i++)
		assert_true(bid.gang.shapes[i].nodes > bid.gang.shapes[i - 1].nodes);
	/* --nodes=5-6: on five two would be enough for all. */
	fresh(5);
	desc.max_nodes = 6;
	desc.num_tasks = 7;
	has(1, 5, 2, 100, "gpu", 0);
	fresh(2);
	desc.max_nodes = 3;
	desc.num_tasks = 7;
	/* A table takes any number of nodes, which leaves the tasks as many as they are. */
	bid.gang.nspeedup = 1;
	strcpy(bid.gang.speedup[0].name, "3");
	bid.gang.speedup[0].value = 3600;
	has(1, 3, 3, 100, "gpu", 0);
	slice.node = "n[1-3]";
	slice.nnodes = 3;
	slice.cpus = 3;
	*slice.gres = '\0';
	auc_desc_apply_gang(&desc, &slice, "{}");
	assert_int_equal(desc.num_tasks, 7);
	assert_int_equal(desc.ntasks_per_node, NO_VAL16);
	release();
}

static void test_alternatives(void **state)
{
	(void)state;
	/* Tasks without nodes. */
	fresh(0);
	desc.num_tasks = 8;
	desc.tres_per_task = (char *)"gres:gpu:1";
	has(5, 1, 8, 100, "gpu", 8);
	assert_int_equal(bid.gang.shapes[1].nodes, 2);
	assert_int_equal(bid.gang.shapes[4].nodes, 8);
	assert_true(amount(4, "gpu") == 1);
	/* --nodes=2-4: as few as will do, with as many tasks on each as are asked for. */
	fresh(2);
	desc.max_nodes = 4;
	desc.num_tasks = 2;
	has(1, 2, 1, 100, "gpu", 0);
	desc.ntasks_per_node = 2;
	desc.num_tasks = 6;
	has(1, 3, 2, 100, "gpu", 0);
	desc.num_tasks = 2;
	has(1, 2, 2, 100, "gpu", 0);
	/* Tasks that say no place, and GPUs of the job: each number that divides them. */
	fresh(1);
	desc.max_nodes = 3;
	desc.num_tasks = 6;
	has(3, 1, 6, 100, "gpu", 0);
	fresh(1);
	desc.max_nodes = 3;
	desc.num_tasks = 1;
	desc.tres_per_job = (char *)"gres:gpu:4";
	has(2, 1, 1, 100, "gpu", 4);
	/* GPUs of the job. */
	fresh(0);
	desc.tres_per_job = (char *)"gres:gpu:6";
	has(4, 1, 1, 100, "gpu", 6);
	assert_int_equal(bid.gang.shapes[2].nodes, 3);
	/* A table, and one by type. */
	fresh(2);
	desc.max_nodes = 8;
	desc.num_tasks = 2;
	bid.gang.nspeedup = 2;
	strcpy(bid.gang.speedup[0].name, "2");
	strcpy(bid.gang.speedup[1].name, "8");
	bid.gang.speedup[0].value = 3600;
	bid.gang.speedup[1].value = 1200;
	has(2, 2, 1, 100, "gpu", 0);
	assert_true(bid.gang.shapes[1].nodes == 8 && bid.gang.shapes[1].seconds == 1200);
	desc.max_nodes = 4;
	refused("--speedup: '8' nodes, expected 2 to 4, as --nodes allows");
	fresh(1);
	desc.tres_per_node = (char *)"gres:gpu:1";
	bid.gang.ngpu_time = 2;
	strcpy(bid.gang.gpu_time[0].name, "h100");
	strcpy(bid.gang.gpu_time[1].name, "a100");
	bid.gang.gpu_time[0].value = 100;
	bid.gang.gpu_time[1].value = 200;
	has(2, 1, 1, 100, "gpu:h100", 1);
	assert_true(amount(0, "gpu:a100") == 0 && amount(1, "gpu:a100") == 1);
	assert_true(bid.gang.shapes[1].seconds == 200);
	bid.gang.gpu_time[0].value = 3601;
	refused("--time: 3600 s, expected none, or as long");
}

static void test_refused(void **state)
{
	/* Also where nothing says how many nodes. */
	fresh(0);
	desc.time_limit = NO_VAL;
	refused("--time: not given");
	(void)state;
	fresh(2);
	desc.time_limit = NO_VAL;
	desc.pn_min_memory = NO_VAL64;
	refused("--time: not given");
	fresh(2);
	desc.time_limit = INFINITE;
	refused("--time: no limit (0 or UNLIMITED), expected how long the job runs at most");
	fresh(2);
	desc.pn_min_memory = NO_VAL64;
	refused("--mem: not given");
	fresh(2);
	desc.num_tasks = 5;
	desc.ntasks_per_node = 2;
	refused("--ntasks=5 with --ntasks-per-node=2 on 2 nodes: expected at most 4 tasks, or "
		"--nodes=3");
	fresh(1);
	desc.max_nodes = 2;
	desc.num_tasks = 12;
	desc.ntasks_per_node = 4;
	refused("--ntasks=12 with --ntasks-per-node=4: that is 3 nodes, expected as many as");
	if (AUC_TASKS_BOUND_CPUS) {
		fresh(2);
		desc.num_tasks = 4;
		desc.pn_min_cpus = 5;
		refused("--mincpus=5: Slurm gives the tasks on a node no more CPUs than these "
			"have, which is 2; expected --cpus-per-task=3");
		desc.cpus_per_tres = (char *)"gres:gpu:5";
		desc.tres_per_node = (char *)"gres:gpu:1";
		has(1, 2, 5, 100, "gpu", 1);
		fresh(2);
		desc.num_tasks = 2;
		desc.pn_min_cpus = 5;
		has(1, 2, 5, 100, "gpu", 0);
	}
	/* Slurm decides which node has fewer GPUs. */
	fresh(2);
	desc.tres_per_job = (char *)"gres:gpu:3";
	refused("gpu: 3 on 2 nodes, expected as many of each node, as in --gpus-per-node=2");
	fresh(2);
	desc.num_tasks = 3;
	desc.ntasks_per_tres = 1;
	refused("--ntasks-per-gpu=1: 3 tasks on 2 nodes, expected as many on each");
	fresh(4);
	desc.req_nodes = (char *)"n[1-3]";
	refused("--nodelist: 3 nodes, expected as many as --nodes=4");
	fresh(1);
	desc.req_nodes = (char *)"n%d,n1";
	refused("--nodelist: 'n%d' is not the name of a node, expected names such as node1 or "
		"node[1-4]");
	desc.req_nodes = NULL;
	desc.exc_nodes = (char *)"n[1-129]";
	refused("--exclude: 'n129' is one node too many, expected at most 128");
	fresh(1);
	desc.req_switch = 2;
	refused("--switches=2: expected 1");
	fresh(1);
	desc.deadline = 5000;
	bid.utility.form = AUC_FORM_SIGMOID;
	refused("--deadline");
	fresh(1);
	bid.gang.ngpu_time = 1;
	strcpy(bid.gang.gpu_time[0].name, "h100");
	bid.gang.gpu_time[0].value = 100;
	refused("--gpu-time: given, expected GPUs");
}

static void test_kinds(void **state)
{
	(void)state;
	fresh(2);
	desc.features = (char *)"gpu&ib";
	has(1, 2, 1, 100, "gpu", 0);
	assert_string_equal(bid.gang.features, "gpu&ib");
	assert_false(bid.gang.whole);
	desc.features = NULL;
	has(1, 2, 1, 100, "gpu", 0);
	assert_string_equal(bid.gang.features, "");
	desc.features = (char *)"[rack1|rack2]";
	refused("--constraint: '[rack1|rack2]', expected features with & between all of them");
	desc.features = (char *)"gpu*2";
	refused("--constraint: 'gpu*2'");
	desc.features = (char *)"a&b|c";
	refused("both together are not sold");
	/* Whole nodes: memory need not be named, and 0 is all of it. */
	fresh(2);
	desc.shared = 0;
	desc.pn_min_memory = 0;
	has(1, 2, 1, 1, "gpu", 0);
	assert_true(bid.gang.whole);
	fresh(2);
	desc.shared = 1;
	has(1, 2, 1, 100, "gpu", 0);
	assert_false(bid.gang.whole);
}

/* Types become those that nodes have, as they spell them. */
static void test_types(void **state)
{
	static const struct {
		const char *asked, *sold, *made;
	} cases[] = {
		{"gres:gpu:4", "gres:gpu:V100:4", "gres:gpu:V100:4"},
		{"gres:gpu:v100:4", "gres:gpu:V100:4", "gres:gpu:V100:4"},
		{"gres/gpu:v100=4,gres/shard=2", "gres/shard:2,gres/gpu:V100:4",
		 "gres/gpu:V100=4,gres/shard=2"},
		{"gres:gpu:1G.5GB:2,gres:gpu:a100", "gres:gpu:1g.5gb:2,gres:gpu:a100:1",
		 "gres:gpu:1g.5gb:2,gres:gpu:a100"},
		{"gres:gpu", "gres:gpu:a100_1g.5gb:1", "gres:gpu:a100_1g.5gb"},
		{"gres:shard:3", "gres:shard:3", "gres:shard:3"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auc_slice slice = {.node = "n1", .nnodes = 1, .partition = "p", .cpus = 1};

		snprintf(slice.gres, sizeof(slice.gres), "%s", cases[i].sold);
		fresh(1);
		desc.tres_per_node = slurm_xstrdup(cases[i].asked);
		auc_desc_apply_gang(&desc, &slice, "receipt");
		assert_string_equal(desc.tres_per_node, cases[i].made);
		release();
	}
	/* Steps ask for what the variables say. */
	struct auc_slice slice = {
		.node = "n1", .nnodes = 1, .partition = "p", .cpus = 1, .gres = "gres:gpu:V100:2"};

	fresh(1);
	desc.env_size = 2;
	desc.environment = NULL;
	AUC_XRECALLOC(desc.environment, 3);
	desc.environment[0] = slurm_xstrdup("SLURM_GPUS_PER_NODE=v100:2");
	desc.environment[1] = slurm_xstrdup("SLURM_GPUS=2");
	desc.tres_per_node = slurm_xstrdup("gres:gpu:v100:2");
	auc_desc_apply_gang(&desc, &slice, "receipt");
	assert_string_equal(desc.environment[0], "SLURM_GPUS_PER_NODE=V100:2");
	assert_string_equal(desc.environment[1], "SLURM_GPUS=2");
	release();
}

/* Of whole nodes what its owner asked for stays, and the rest comes with it. */
static void test_apply_whole(void **state)
{
	struct auc_slice slice = {.node = "n1,n2",
				  .nnodes = 2,
				  .whole = true,
				  .partition = "p",
				  .cpus = 8,
				  .mem_mb = 16000,
				  .begin = 5000,
				  .minutes = 61,
				  .gres = "gres:gpu:a100:4"};
	slurm_job_info_t info = {.num_tasks = 2,
				 .cpus_per_task = 1,
				 .pn_min_cpus = 8,
				 .pn_min_memory = 100,
				 .time_limit = 61,
				 .req_nodes = (char *)"n[1-2]",
				 .partition = (char *)"p",
				 .job_state = JOB_PENDING};

	(void)state;
	fresh(2);
	desc.shared = 0;
	auc_desc_apply_gang(&desc, &slice, "receipt");
	assert_int_equal(desc.pn_min_memory, 100);
	assert_int_equal(desc.shared, 0);
	release();
	/* All of the memory, as Slurm itself says it. */
	fresh(2);
	desc.shared = 0;
	desc.pn_min_memory = 0;
	auc_desc_apply_gang(&desc, &slice, "receipt");
	assert_int_equal(desc.pn_min_memory, 0);
	release();
	assert_true(auc_slice_matches(&slice, &info));
	info.shared = NO_VAL16;
	assert_false(auc_slice_matches(&slice, &info));
}

static void test_times(void **state)
{
	(void)state;
	fresh(1);
	desc.begin_time = 1500;
	desc.deadline = 9000;
	desc.req_switch = 1;
	has(1, 1, 1, 100, "gpu", 0);
	assert_true(bid.gang.begin == 1500 && bid.gang.end == 9000 && bid.gang.within_switch);
	fresh(1);
	desc.begin_time = 900;
	has(1, 1, 1, 100, "gpu", 0);
	assert_true(bid.gang.begin == 0 && bid.gang.end == 0 && !bid.gang.within_switch);
	assert_true(auc_desc_has_shape(fresh(1)));
	fresh(0);
	desc.pn_min_memory = NO_VAL64;
	desc.time_limit = NO_VAL;
	assert_false(auc_desc_has_shape(&desc));
}

/* The job that is bought, of three nodes with two GPUs each. */
static void test_apply(void **state)
{
	struct auc_slice slice = {.node = "n1,n2,n3",
				  .nnodes = 3,
				  .partition = "p",
				  .cpus = 4,
				  .mem_mb = 100,
				  .begin = 5000,
				  .minutes = 61,
				  .spare = 20,
				  .gres = "gres:gpu:a100:2"};
	slurm_job_info_t info = {.num_tasks = 6,
				 .ntasks_per_node = 2,
				 .cpus_per_task = 2,
				 .ntasks_per_tres = NO_VAL16,
				 .pn_min_cpus = 4,
				 .pn_min_memory = 100,
				 .tres_per_task = (char *)"gres:gpu:a100:1",
				 .time_limit = 61,
				 .req_nodes = (char *)"n[1-3]",
				 .partition = (char *)"p",
				 .job_state = JOB_PENDING};
	job_desc_msg_t update;

	(void)state;
	fresh(2);
	desc.ntasks_per_node = 2;
	desc.num_tasks = 4;
	desc.cpus_per_task = 2;
	desc.tres_per_task = slurm_xstrdup("gres:gpu:1");
	desc.exc_nodes = slurm_xstrdup("n9");
	desc.deadline = 90000;
	desc.env_size = 2;
	desc.environment = NULL;
	AUC_XRECALLOC(desc.environment, 3);
	desc.environment[0] = slurm_xstrdup("SLURM_NTASKS=4");
	desc.environment[1] = slurm_xstrdup("HOME=/");
	desc.warn_signal = SIGUSR1;
	desc.warn_time = 90;
	auc_desc_apply_gang(&desc, &slice, "receipt");
	assert_int_equal(desc.min_nodes, 3);
	assert_int_equal(desc.max_nodes, 3);
	assert_int_equal(desc.num_tasks, 6);
	assert_int_equal(desc.ntasks_per_node, 2);
	assert_int_equal(desc.cpus_per_task, 2);
	assert_int_equal(desc.pn_min_cpus, 4);
	assert_int_equal(desc.pn_min_memory, 100);
	if (AUC_TASKS_BOUND_CPUS)
		assert_string_equal(desc.tres_per_node, "gres:gpu:a100:2");
	else
		assert_string_equal(desc.tres_per_task, "gres:gpu:a100:1");
	assert_string_equal(desc.req_nodes, "n1,n2,n3");
	assert_null(desc.exc_nodes);
	assert_int_equal(desc.deadline, 0);
	assert_int_equal(desc.time_limit, 61);
	/* --signal=USR1@90 before the plan ends, not before the limit. */
	assert_int_equal(desc.warn_time, 110);
	assert_int_equal(desc.begin_time, 5000);
	assert_int_equal(desc.requeue, 0);
	assert_string_equal(desc.admin_comment, "receipt");
	assert_string_equal(desc.environment[0], "SLURM_NTASKS=6");
	release();
	/* And its record, until somebody changes it. */
	info.shared = NO_VAL16;
	assert_true(auc_slice_matches(&slice, &info));
	info.pn_min_memory = 200;
	assert_false(auc_slice_matches(&slice, &info));
	assert_true(auc_slice_fits(&slice, &info));
	info.pn_min_memory = 100;
	info.tres_per_task = (char *)"gres:gpu:a100:2";
	assert_false(auc_slice_matches(&slice, &info));
	info.tres_per_task = (char *)"gres:gpu:t4:1";
	assert_false(auc_slice_matches(&slice, &info));
	/* One of a script that has stood has no type, and is given none. */
	info.batch_flag = 1;
	info.tres_per_task = (char *)"gres:gpu:1";
	assert_true(auc_slice_matches(&slice, &info));
	slurm_init_job_desc_msg(&update);
	auc_gang_update(&info, &slice, &update);
	assert_null(update.tres_per_task);
	assert_null(update.tres_per_node);
	auc_gang_update_clear(&update);
	info.tres_per_task = (char *)"gres:gpu:2";
	assert_false(auc_slice_matches(&slice, &info));
	info.req_nodes = (char *)"n[1-2,4]";
	assert_false(auc_slice_fits(&slice, &info));
	/* GPUs of all nodes together are asked of each. */
	fresh(3);
	desc.tres_per_job = slurm_xstrdup("gres:gpu:6");
	auc_desc_apply_gang(&desc, &slice, "receipt");
	assert_null(desc.tres_per_job);
	assert_string_equal(desc.tres_per_node, "gres:gpu:a100:2");
	release();
	/* What has a type keeps it. */
	fresh(3);
	desc.tres_per_node = slurm_xstrdup("gres:gpu:a100:2,gres:shard:1");
	auc_desc_apply_gang(&desc, &slice, "receipt");
	assert_string_equal(desc.tres_per_node, "gres:gpu:a100:2,gres:shard:1");
	release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_gpus), cmocka_unit_test(test_whole_nodes),
		cmocka_unit_test(test_own_nodes),
		cmocka_unit_test(test_shapes),  cmocka_unit_test(test_agreeing),
		cmocka_unit_test(test_uneven),  cmocka_unit_test(test_alternatives),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_types),   cmocka_unit_test(test_apply_whole),
		cmocka_unit_test(test_times),   cmocka_unit_test(test_apply),
		cmocka_unit_test(test_cores),   cmocka_unit_test(test_apply_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
