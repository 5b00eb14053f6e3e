/* test_desc_commands.c - GPUs in the records of jobs that are no script: srun's and salloc's. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "adapter/desc_gang.h"
#include "adapter/gres_types.h"

static job_desc_msg_t desc;

/* A job of N nodes with 100 MB each, for an hour. */
static void fresh(uint32_t n)
{
	slurm_init_job_desc_msg(&desc);
	desc.het_job_offset = NO_VAL;
	desc.min_cpus = 1;
	desc.pn_min_memory = 100;
	desc.time_limit = 60;
	desc.min_nodes = desc.max_nodes = n;
}

/* Of auc_desc_apply_gang(), and what was there before. */
static void release(void)
{
	AUC_XFREE(desc.tres_per_task);
	AUC_XFREE(desc.tres_per_node);
	AUC_XFREE(desc.req_nodes);
	AUC_XFREE(desc.partition);
	AUC_XFREE(desc.admin_comment);
}

static void is_text(const char *text, const char *expected)
{
	if (expected && text)
		assert_string_equal(text, expected);
	assert_int_equal(!text, !expected);
}

static void test_commands(void **state)
{
	struct auc_slice slice = {.node = "n1,n2,n3",
				  .nnodes = 3,
				  .partition = "p",
				  .cpus = 4,
				  .mem_mb = 100,
				  .gres = "gres:gpu:a100:2"};

	static const struct {
		const char *line, *node, *task, *made_node, *made_task; /* NULL: none */
		uint32_t tasks;
	} cases[] = {
		{"srun -N3", "gres:gpu:2", "gres:gpu:1", "gres:gpu:2", "gres:gpu:1", 6},
		{"/usr/bin/salloc -N3", NULL, "gres/gpu=1", NULL, "gres/gpu=1", 6},
		{"srun -N3", "gres/gpu:A100:2", "gres/gpu:A100=1", "gres/gpu:a100:2",
		 "gres/gpu:a100=1", 6},
		/* They do not divide. */
		{"srun -N3", NULL, "gres:gpu:1", "gres:gpu:2", NULL, 5},
	};
	slurm_job_info_t info = {.num_tasks = 6,
				 .ntasks_per_node = 2,
				 .pn_min_cpus = 4,
				 .pn_min_memory = 100,
				 .shared = NO_VAL16};

	(void)state;
	/* The step of srun asks for what the record says, too, and that says what its owner did. */
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool by_node = AUC_TASKS_BOUND_CPUS || cases[i].made_task;

		fresh(3);
		slice.one_gpu_type = true;
		desc.submit_line = (char *)cases[i].line;
		desc.num_tasks = cases[i].tasks;
		desc.tres_per_node = cases[i].node ? slurm_xstrdup(cases[i].node) : NULL;
		desc.tres_per_task = slurm_xstrdup(cases[i].task);
		auc_desc_apply_gang(&desc, &slice, "receipt");
		is_text(desc.tres_per_node, by_node ? cases[i].made_node : NULL);
		is_text(desc.tres_per_task, by_node ? cases[i].made_task : cases[i].task);
		release();
	}
	/* It stays so on other nodes of one type; that of a script, and on nodes of several, has
	 * the type that was bought. The tasks of a script that stood have what their nodes have. */
	for (unsigned i = 0; i < 8; i++) {
		bool several = i / 2 % 2, of_tasks = i / 4;
		job_desc_msg_t update;

		info.batch_flag = i % 2;
		slice.one_gpu_type = !several;
		info.tres_per_node = (char *)(of_tasks ? NULL : "gres:gpu:2");
		info.tres_per_task = (char *)(of_tasks ? "gres:gpu:1" : NULL);
		assert_int_equal(auc_gang_takes(&slice, &info), of_tasks || !info.batch_flag);
		slurm_init_job_desc_msg(&update);
		auc_gang_update(&info, &slice, &update);
		is_text(update.tres_per_node,
			!of_tasks && (several || info.batch_flag) ? "gres:gpu:a100:2" : NULL);
		is_text(update.tres_per_task,
			of_tasks && several && !info.batch_flag ? "gres:gpu:a100:1" : NULL);
		auc_gang_update_clear(&update);
	}
}

static void test_types(void **state)
{
	static const struct {
		const char *text, *stripped;
		bool typed, names;
	} cases[] = {
		{"gres:gpu:a100:2", "gres:gpu:2", true, true},
		{"gres/gpu=2", "gres/gpu=2", false, false},
		{"gpu:1g.5gb:1,gres/shard=4", "gpu:1,gres/shard=4", true, true},
		{"gres:gpu:2,gres:gpu:t4:1", "gres:gpu:2,gres:gpu:1", false, true},
		{"gpu:a100", "gpu", true, true},
		{"", "", true, false},
	};
	char text[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].text);
		assert_int_equal(auc_gpus_typed(text), cases[i].typed);
		assert_int_equal(auc_gres_names_type(text), cases[i].names);
		auc_gres_strip(text);
		assert_string_equal(text, cases[i].stripped);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
