/* test_job_names.c - by which name slurmctld takes one task of an array. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/rpc/job_names.h"

/* Slurm's own, of a bitmap that is so many numbers here: its size, then the bits that are set. */
extern int slurm_bit_test(int64_t *bits, int64_t i);
extern int64_t slurm_bit_size(int64_t *bits);

int slurm_bit_test(int64_t *bits, int64_t i)
{
	for (int64_t *b = bits + 1; *b >= 0; b++)
		if (*b == i)
			return 1;
	return 0;
}

int64_t slurm_bit_size(int64_t *bits)
{
	return *bits;
}

static slurm_job_info_t record(uint32_t job, uint32_t array, uint32_t task)
{
	slurm_job_info_t info;

	memset(&info, 0, sizeof(info));
	AUC_INFO_JOB_ID(&info) = job;
	info.array_job_id = array;
	info.array_task_id = task;
	return info;
}

static void test_arrays_are_known(void **state)
{
	slurm_job_info_t jobs[] = {record(5, 0, NO_VAL), record(8, 7, 1), record(7, 7, NO_VAL)};
	job_info_msg_t msg = {.record_count = 3, .job_array = jobs};

	(void)state;
	assert_false(auc_job_names_of_array(7));
	auc_job_names_see(&msg, false);
	assert_true(auc_job_names_of_array(7));
	/* A task with a number of its own, and a job. */
	assert_true(auc_job_names_of_array(8));
	assert_false(auc_job_names_of_array(5));
	/* Numbers come again: those that all records do not have are forgotten. */
	for (uint32_t i = 0; i < 100; i++) {
		jobs[1] = record(100 - i, 100 - i, NO_VAL);
		auc_job_names_see(&msg, false);
	}
	for (uint32_t i = 1; i <= 100; i++)
		assert_true(auc_job_names_of_array(i));
	msg.record_count = 1;
	auc_job_names_see(&msg, true);
	assert_false(auc_job_names_of_array(7));
}

static void test_first(void **state)
{
	slurm_job_info_t jobs[] = {record(8, 7, 1), record(9, 7, 2), record(7, 7, NO_VAL)};
	job_info_msg_t msg = {.record_count = 3, .job_array = jobs};

	(void)state;
	assert_true(auc_job_names_first(&msg, 7));
	assert_int_equal(AUC_INFO_JOB_ID(&jobs[0]), 7);
	assert_int_equal(AUC_INFO_JOB_ID(&jobs[1]), 9);
	assert_int_equal(AUC_INFO_JOB_ID(&jobs[2]), 8);
	assert_true(auc_job_names_first(&msg, 7));
	assert_int_equal(AUC_INFO_JOB_ID(&jobs[0]), 7);
	assert_false(auc_job_names_first(&msg, 6));
}

static void test_tasks(void **state)
{
	int64_t bits[] = {12, 3, 4, 5, 9, 11, -1};
	slurm_job_info_t waits = record(7, 7, NO_VAL), last = record(7, 7, 4);
	uint32_t *ids;
	unsigned n;
	char *text;

	(void)state;
	waits.array_bitmap = bits;
	text = auc_job_names_tasks(&waits, &ids, &n);
	assert_string_equal(text, "3-5,9,11");
	assert_int_equal(n, 5);
	assert_int_equal(ids[3], 9);
	free(text);
	free(ids);
	/* The last one that is left. */
	text = auc_job_names_tasks(&last, NULL, &n);
	assert_string_equal(text, "4");
	assert_int_equal(n, 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrays_are_known),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
