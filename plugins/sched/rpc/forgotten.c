/*
 * forgotten.c - jobs that slurmctld has forgotten (slurm_rpc.h): slurmd is asked for their steps,
 * and slurmctld is told to end them, as it does itself with what a node tells of when it registers.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/rpc/slurm_rpc.h"

/* slurmd is asked for one step at a time. What slurmctld has forgotten began some seconds ago, and
 * where there is a script it counts as a step, too. */
static const uint32_t steps[] = {
	SLURM_EXTERN_CONT, SLURM_BATCH_SCRIPT, SLURM_INTERACTIVE_STEP, 0, 1, 2, 3};

static bool runs(uint32_t job_id);
static enum auc_code has_step(uint32_t job_id, const char *node, bool *found, struct auc_err *err);
static void end_on(uint32_t job_id, char *node);

enum auc_code auc_rpc_end_forgotten(uint32_t job_id, const char *nodes, bool *found,
				    struct auc_err *err)
{
	char *copy = strdup(nodes), *rest = NULL;
	enum auc_code code = AUC_OK;

	*found = false;
	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "no memory to ask nodes for job %u", job_id);
	for (char *n = strtok_r(copy, ",", &rest); n && !code && !*found;
	     n = strtok_r(NULL, ",", &rest))
		code = has_step(job_id, n, found, err);
	strcpy(copy, nodes);
	/* Slurm may have begun it since then; what there is, is of that. */
	if (*found && runs(job_id))
		*found = false;
	for (char *n = *found ? strtok_r(copy, ",", &rest) : NULL; n;
	     n = strtok_r(NULL, ",", &rest))
		end_on(job_id, n);
	free(copy);
	return code;
}

static bool runs(uint32_t job_id)
{
	job_info_msg_t *jobs;
	bool is = false;

	if (auc_rpc_load_job(job_id, &jobs, NULL))
		return false;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		uint32_t base = jobs->job_array[i].job_state & JOB_STATE_BASE;

		is |= base == JOB_RUNNING || base == JOB_SUSPENDED;
	}
	auc_rpc_free_jobs(jobs);
	return is;
}

static enum auc_code has_step(uint32_t job_id, const char *node, bool *found, struct auc_err *err)
{
	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps) && !*found; i++) {
		slurm_step_id_t step = AUC_STEP_ID_NONE;
		job_step_pids_response_msg_t *response = NULL;
		int rc;

		step.job_id = job_id;
		step.step_id = steps[i];
		rc = slurm_job_step_get_pids(&step, (char *)node, &response);
		*found = response && response->pid_list && slurm_list_count(response->pid_list) > 0;
		slurm_job_step_pids_response_msg_free(response);
		if (!*found && rc && rc != ESLURM_INVALID_JOB_ID)
			return auc_err_set(err, AUC_EIO, "asking %s for job %u: %s (%d)", node,
					   job_id, slurm_strerror(rc), rc);
	}
	return AUC_OK;
}

/* It knows the node by its table, which changes when slurm.conf is read again. */
static void end_on(uint32_t job_id, char *node)
{
#if AUC_HAS_ABORT
	struct locks {
		enum { NO_LOCK, READ_LOCK } conf, job, node, part, fed;
	} locks = {.node = READ_LOCK};
	void (*lock)(struct locks) = (void (*)(struct locks))dlsym(RTLD_DEFAULT, "lock_slurmctld");
	void (*unlock)(struct locks) =
		(void (*)(struct locks))dlsym(RTLD_DEFAULT, "unlock_slurmctld");
	void (*end)(uint32_t, void *, char *) =
		(void (*)(uint32_t, void *, char *))dlsym(RTLD_DEFAULT, "abort_job_on_node");

	if (!lock || !unlock || !end)
		return;
	lock(locks);
	end(job_id, NULL, node);
	unlock(locks);
#else
	(void)job_id, (void)node;
#endif
}
