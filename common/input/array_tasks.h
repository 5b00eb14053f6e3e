/*
 * array_tasks.h - the tasks of a job array, as "sbatch --array=0-9%2" and Slurm's "123_4,7-9" name
 * them.
 */
#ifndef AUC_ARRAY_TASKS_H
#define AUC_ARRAY_TASKS_H

#include <stdint.h>

#include "base/err.h"

struct auc_array_tasks {
	unsigned n;
	uint32_t *ids;    /* ascending, each once; malloc'd */
	unsigned at_once; /* so many run at a time (%N); 0: any number */
};

/*
 * Reads TEXT, such as "0-9", "1,3,5-9:2%4" or, in brackets, the same, into *T, whose IDS are to be
 * freed. MOST: task ids are below that. AUC_EINVAL: what was expected; AUC_ENOMEM.
 */
enum auc_code auc_array_read(const char *text, uint32_t most, struct auc_array_tasks *t,
			     struct auc_err *err);
/* N of IDS, ascending, as "0-4,7", malloc'd; NULL: no memory. */
char *auc_array_print(const uint32_t *ids, unsigned n);

#endif
