/* group.c - see group.h */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef BUILT_FOR_SLURM
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#endif

#include "clock.h"
#include "group.h"
#include "receipt.h"
#include "say.h"

#ifdef BUILT_FOR_SLURM

/* Exported by libslurm, but in no public header. */
extern void slurm_xfree(void **item);

#define GROUP_POLL 0.5 /* seconds between two looks at the queue */

/* From 25.11 on a job's number is part of its step id. */
#ifdef HAVE_SLURM_JOB_INFO_T_JOB_ID
#define GROUP_JOB_ID(job) ((job)->job_id)
#else
#define GROUP_JOB_ID(job) ((job)->step_id.job_id)
#endif

static enum auc_code group_lead(const job_info_msg_t *jobs, uint32_t job_id, struct layout *l,
				struct auc_err *err);
static void group_members(const job_info_msg_t *jobs, struct layout *l, char *waiting, size_t size);
static const slurm_job_info_t *group_member_on(const job_info_msg_t *jobs, const struct layout *l,
					       const char *node);
static void group_free(job_info_msg_t *jobs);
static bool group_running(const slurm_job_info_t *job);
static const char *group_state(const slurm_job_info_t *job);

/*
 * All looks are at the user's jobs, even for the lead alone: the call that loads one job has
 * another argument from 26.05 on, this one is the same everywhere.
 */
enum auc_code group_load(uint32_t job_id, double wait, unsigned verbose, struct layout *l,
			 struct auc_err *err)
{
	double until = clock_now() + wait;
	bool have_plan = false, told = false;
	char waiting[300];

	slurm_init(NULL);
	for (;;) {
		job_info_msg_t *jobs = NULL;
		enum auc_code rc = AUC_OK;

		if (slurm_load_job_user(&jobs, getuid(), SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) {
			/* A controller that restarts comes back. */
			snprintf(waiting, sizeof(waiting), "Slurm does not answer: %s",
				 slurm_strerror(errno));
			if (wait < 0 || clock_now() >= until)
				rc = auc_err_set(err, AUC_EIO, "%s", waiting);
		} else {
			if (!have_plan)
				rc = group_lead(jobs, job_id, l, err);
			have_plan = rc == AUC_OK;
			if (have_plan)
				group_members(jobs, l, waiting, sizeof(waiting));
			group_free(jobs);
		}
		if (rc == AUC_OK && have_plan && (wait < 0 || layout_complete(l, NULL)))
			return AUC_OK;
		if (rc == AUC_OK && clock_now() >= until)
			rc = auc_err_set(err, AUC_ESTATE,
					 "after %g s (--wait) the group is not complete: %s", wait,
					 waiting);
		if (rc != AUC_OK) {
			if (have_plan)
				layout_clear(l);
			return rc;
		}
		if (verbose && !told)
			say("waiting for the group: %s", waiting);
		told = true;
		clock_sleep(GROUP_POLL);
	}
}

void group_node_addr(const char *node, char *buf, size_t size)
{
	node_info_msg_t *nodes = NULL;
	const char *addr = NULL;

	if (slurm_load_node_single(&nodes, (char *)node, SHOW_ALL) == SLURM_SUCCESS &&
	    nodes->record_count == 1)
		addr = nodes->node_array[0].node_addr;
	snprintf(buf, size, "%s", addr && *addr ? addr : node);
	slurm_free_node_info_msg(nodes);
}

/* Makes the layout from the lead's receipt. */
static enum auc_code group_lead(const job_info_msg_t *jobs, uint32_t job_id, struct layout *l,
				struct auc_err *err)
{
	const slurm_job_info_t *job = NULL;
	struct auc_receipt receipt;
	enum auc_code rc;

	for (uint32_t i = 0; i < jobs->record_count; i++)
		if (GROUP_JOB_ID(&jobs->job_array[i]) == job_id)
			job = &jobs->job_array[i];
	if (!job)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 " is not among your jobs",
				   job_id);
	if (!job->admin_comment || !auc_receipt_is(job->admin_comment))
		return auc_err_set(err, AUC_EINVAL,
				   "job %" PRIu32
				   " was not sold by the auction: submit it with sbatch --bid, "
				   "or try your program out with slaunch --local",
				   job_id);
	rc = auc_receipt_parse(job->admin_comment, &receipt, err);
	if (rc != AUC_OK)
		return rc;
	rc = layout_make(l, &receipt, job_id, job->nodes ? job->nodes : "", time(NULL), err);
	auc_receipt_clear(&receipt);
	return rc;
}

/* Fills in the jobs of the nodes whose member runs; WAITING says what the others are doing. */
static void group_members(const job_info_msg_t *jobs, struct layout *l, char *waiting, size_t size)
{
	size_t n = 0;

	*waiting = '\0';
	for (unsigned i = 0; i < l->nsteps; i++) {
		const struct layout_step *s = &l->steps[i];
		const slurm_job_info_t *job;

		if (s->job_id == l->lead || (i && strcmp(s->node, s[-1].node) == 0))
			continue;
		job = group_member_on(jobs, l, s->node);
		if (job && group_running(job)) {
			layout_set_job(l, s->node, GROUP_JOB_ID(job));
			continue;
		}
		layout_set_job(l, s->node, 0);
		if (n >= size)
			continue;
		if (job)
			n += snprintf(waiting + n, size - n, "%s%s (job %" PRIu32 " is %s)",
				      n ? ", " : "", s->node, GROUP_JOB_ID(job), group_state(job));
		else
			n += snprintf(waiting + n, size - n, "%s%s (no member job)", n ? ", " : "",
				      s->node);
	}
}

/* The member of the group on NODE that is running, or else is waiting to; ended ones stay listed
 * for a while. */
static const slurm_job_info_t *group_member_on(const job_info_msg_t *jobs, const struct layout *l,
					       const char *node)
{
	const slurm_job_info_t *found = NULL;

	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];
		const char *on = job->nodes && *job->nodes ? job->nodes : job->req_nodes;
		struct auc_receipt receipt;
		bool ours;

		if ((job->job_state & JOB_STATE_BASE) > JOB_SUSPENDED || !on ||
		    strcmp(on, node) != 0 || !job->admin_comment ||
		    auc_receipt_parse(job->admin_comment, &receipt, NULL) != AUC_OK)
			continue;
		ours = strcmp(receipt.state, "member") == 0 && receipt.lead == l->lead &&
		       strcmp(receipt.sale, l->sale) == 0;
		auc_receipt_clear(&receipt);
		if (ours && (!found || group_running(job)))
			found = job;
	}
	return found;
}

/* Slurm 22.05 leaks every AdminComment; where it does not, it finds NULL. */
static void group_free(job_info_msg_t *jobs)
{
	for (uint32_t i = 0; i < jobs->record_count; i++)
		slurm_xfree((void **)&jobs->job_array[i].admin_comment);
	slurm_free_job_info_msg(jobs);
}

static bool group_running(const slurm_job_info_t *job)
{
	return (job->job_state & JOB_STATE_BASE) == JOB_RUNNING &&
	       !(job->job_state & (JOB_CONFIGURING | JOB_COMPLETING));
}

/* The word for the states in which a member is waited for. */
static const char *group_state(const slurm_job_info_t *job)
{
	if (job->job_state & JOB_COMPLETING)
		return "COMPLETING";
	if (job->job_state & JOB_CONFIGURING)
		return "CONFIGURING";
	switch (job->job_state & JOB_STATE_BASE) {
	case JOB_PENDING:
		return "PENDING";
	case JOB_SUSPENDED:
		return "SUSPENDED";
	default:
		return "RUNNING";
	}
}

#else /* without Slurm there is --local only */

enum auc_code group_load(uint32_t job_id, double wait, unsigned verbose, struct layout *l,
			 struct auc_err *err)
{
	(void)job_id, (void)wait, (void)verbose, (void)l;
	return auc_err_set(err, AUC_ESTATE, "this slaunch was built without Slurm: --local only");
}

void group_node_addr(const char *node, char *buf, size_t size)
{
	snprintf(buf, size, "%s", node);
}

#endif
