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

static enum auc_code has_step(uint32_t job_id, const char *node, bool *found, struct auc_err *err);
static enum auc_code places_of(uint32_t job_id, auc_hostlist_t *places, struct auc_err *err);
static void end_on(uint32_t job_id, char *node, bool runs);

enum auc_code auc_rpc_end_forgotten(uint32_t job_id, const char *nodes, enum auc_forgotten *what,
				    struct auc_err *err)
{
	char *copy = strdup(nodes), *rest = NULL;
	auc_hostlist_t known = NULL;
	enum auc_code code = AUC_OK;
	bool left = false, none = true;

	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "no memory to ask nodes for job %u", job_id);
	for (char *n = strtok_r(copy, ",", &rest); n && !code && !left;
	     n = strtok_r(NULL, ",", &rest))
		code = has_step(job_id, n, &left, err);
	/* Slurm may have begun it since then; what there is, is of that. */
	if (!code)
		code = places_of(job_id, &known, err);
	strcpy(copy, nodes);
	for (char *n = code ? NULL : strtok_r(copy, ",", &rest); n; n = strtok_r(NULL, ",", &rest))
		if (!known || slurm_hostlist_find(known, n) < 0) {
			end_on(job_id, n, left);
			none = false;
		}
	*what = none ? AUC_FORGOTTEN_NOT : left ? AUC_FORGOTTEN_LEFT : AUC_FORGOTTEN_OVER;
	if (known)
		slurm_hostlist_destroy(known);
	free(copy);
	return code;
}

/* Where slurmctld says that the job runs; NULL: nowhere. */
static enum auc_code places_of(uint32_t job_id, auc_hostlist_t *places, struct auc_err *err)
{
	enum auc_code code;
	job_info_msg_t *jobs;

	code = auc_rpc_load_job(job_id, &jobs, err);
	if (code)
		return code == AUC_ENOENT ? AUC_OK : code;
	for (uint32_t i = 0; i < jobs->record_count && !*places; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];
		uint32_t base = job->job_state & JOB_STATE_BASE;

		if (AUC_INFO_JOB_ID(job) == job_id && job->nodes &&
		    (base == JOB_RUNNING || base == JOB_SUSPENDED))
			*places = slurm_hostlist_create(job->nodes);
	}
	auc_rpc_free_jobs(jobs);
	return AUC_OK;
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

#if AUC_HAS_ABORT

/* slurmctld knows the node by its table, which changes when slurm.conf is read again. */
static void end_on(uint32_t job_id, char *node, bool runs)
{
	struct locks {
		enum { NO_LOCK, READ_LOCK } conf, job, node, part, fed;
	} locks = {.node = READ_LOCK};
	void (*lock)(struct locks) = (void (*)(struct locks))dlsym(RTLD_DEFAULT, "lock_slurmctld");
	void (*unlock)(struct locks) =
		(void (*)(struct locks))dlsym(RTLD_DEFAULT, "unlock_slurmctld");
	void (*end)(uint32_t, void *, char *) =
		(void (*)(uint32_t, void *, char *))dlsym(RTLD_DEFAULT, "abort_job_on_node");

	(void)runs;
	if (!lock || !unlock || !end)
		return;
	lock(locks);
	end(job_id, NULL, node);
	unlock(locks);
}

#else

/* As a node registers slurmctld ends what runs there and should not. "Undrain" has it register and
 * changes nothing else of a node that is not drained. */
static void end_on(uint32_t job_id, char *node, bool runs)
{
	node_info_msg_t *nodes = NULL;
	update_node_msg_t update;

	(void)job_id;
	if (!runs || slurm_load_node_single(&nodes, node, SHOW_ALL))
		return;
	slurm_init_update_node_msg(&update);
	update.node_names = node;
	update.node_state = NODE_STATE_UNDRAIN;
	for (uint32_t i = 0; i < nodes->record_count; i++) {
		uint32_t state = nodes->node_array[i].node_state;

		if (nodes->node_array[i].name && !strcmp(nodes->node_array[i].name, node) &&
		    !(state & NODE_STATE_DRAIN) && (state & NODE_STATE_BASE) != NODE_STATE_DOWN)
			slurm_update_node(&update);
	}
	slurm_free_node_info_msg(nodes);
}

#endif
