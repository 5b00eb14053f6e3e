/*
 * job_names.h - how slurmctld is to be told which job is meant. A job's number is the job, but for
 * tasks of arrays: by the number of the array slurmctld takes all of them, and by the number that a
 * task has as a job some releases (22.05) find nothing to signal. Its name is "123_4" or, of those
 * that are not jobs of their own yet, "123_4,7-9".
 */
#ifndef AUC_JOB_NAMES_H
#define AUC_JOB_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "adapter/slurm_compat.h"

/* Takes note of which of JOBS are of arrays; ALL: these are all there are. */
void auc_job_names_see(const job_info_msg_t *jobs, bool all);
/* True if JOB_ID was seen to be an array's, or a task's. */
bool auc_job_names_of_array(uint32_t job_id);
/* Brings the record of JOB_ID to the front of JOBS; false: it is not there. */
bool auc_job_names_first(job_info_msg_t *jobs, uint32_t job_id);
/* The task ids that INFO, with the number of its array, is for: "4" or "4,7-9", malloc'd; NULL: no
 * memory. *IDS (may be NULL): their ids, *N of them, malloc'd. */
char *auc_job_names_tasks(const slurm_job_info_t *info, uint32_t **ids, unsigned *n);

#endif
