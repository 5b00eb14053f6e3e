/* job_names.c - see job_names.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "input/array_tasks.h"
#include "sched/rpc/job_names.h"

/* In no public header; a bitstr_t is made of int64_t. */
extern int slurm_bit_test(int64_t *bits, int64_t i);
extern int64_t slurm_bit_size(int64_t *bits);

static int by_number(const void *a, const void *b);

/* Numbers of arrays, and those that tasks have as jobs of their own, ascending. */
static struct {
	pthread_mutex_t lock;
	uint32_t *list;
	unsigned n, alloc;
} arrays = {.lock = PTHREAD_MUTEX_INITIALIZER};

void auc_job_names_see(const job_info_msg_t *jobs, bool all)
{
	unsigned n;

	pthread_mutex_lock(&arrays.lock);
	if (all)
		arrays.n = 0;
	n = arrays.n;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		uint32_t id = AUC_INFO_JOB_ID(&jobs->job_array[i]);

		if (!jobs->job_array[i].array_job_id ||
		    (n && bsearch(&id, arrays.list, n, sizeof(id), by_number)))
			continue;
		if (arrays.n == arrays.alloc) {
			unsigned alloc = arrays.alloc ? 2 * arrays.alloc : 16;
			uint32_t *grown = realloc(arrays.list, alloc * sizeof(*grown));

			if (!grown)
				break;
			arrays.list = grown;
			arrays.alloc = alloc;
		}
		arrays.list[arrays.n++] = id;
	}
	if (arrays.n > n)
		qsort(arrays.list, arrays.n, sizeof(*arrays.list), by_number);
	pthread_mutex_unlock(&arrays.lock);
}

bool auc_job_names_of_array(uint32_t job_id)
{
	bool is;

	pthread_mutex_lock(&arrays.lock);
	is = arrays.n && bsearch(&job_id, arrays.list, arrays.n, sizeof(job_id), by_number);
	pthread_mutex_unlock(&arrays.lock);
	return is;
}

bool auc_job_names_first(job_info_msg_t *jobs, uint32_t job_id)
{
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		slurm_job_info_t found = jobs->job_array[i];

		if (AUC_INFO_JOB_ID(&found) != job_id)
			continue;
		jobs->job_array[i] = jobs->job_array[0];
		jobs->job_array[0] = found;
		return true;
	}
	return false;
}

char *auc_job_names_tasks(const slurm_job_info_t *info, uint32_t **ids, unsigned *n)
{
	int64_t *bits = info->array_bitmap, size = 0;
	uint32_t *list;
	char *text;

	*n = 0;
	if (info->array_task_id == NO_VAL && bits)
		size = slurm_bit_size(bits);
	list = malloc(((size_t)size + 1) * sizeof(*list));
	if (!list)
		return NULL;
	for (int64_t i = 0; i < size; i++)
		if (slurm_bit_test(bits, i))
			list[(*n)++] = (uint32_t)i;
	if (info->array_task_id != NO_VAL)
		list[(*n)++] = info->array_task_id;
	text = auc_array_print(list, *n);
	if (ids)
		*ids = list;
	else
		free(list);
	return text;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}
