/*
 * look.c - the agent looks at Slurm's job records. A record is trusted for what Slurm alone writes:
 * id, user, state, AdminComment. At the start and once a minute all are looked at and brought into
 * agreement with the ledger: a record with a receipt that it does not know is sold again as it
 * stood.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-private.h"
#include "desc.h"
#include "receipt.h"
#include "receipts.h"
#include "site.h"

#define LOOK_EVERY 1.0 /* seconds between looks at jobs that only run, */
#define LOOK_SHARE                                                                                 \
	10 /* or so many times what a look takes, as of an owner with thousands of jobs, */
#define LOOK_MAX      5.0  /* but so many at most */
#define BUSY_SHARE    4    /* the same where something is about to happen */
#define RECORDS_EVERY 60.0 /* seconds between looks at all jobs */

static void see(struct auc_agent *a, const slurm_job_info_t *info, double now);
static bool has_lien(const struct auc_agent *a, uint32_t uid);
static void see_member(struct auc_agent *a, const slurm_job_info_t *info,
		       const struct auc_receipt *r, double now);
static void see_lead(struct auc_agent *a, const slurm_job_info_t *info, const struct auc_receipt *r,
		     double now);
static void adopt(struct auc_agent *a, const slurm_job_info_t *info, const struct auc_receipt *r,
		  double now);
static void void_receipt(struct auc_agent *a, const slurm_job_info_t *info, const char *why);

bool auc_look_load(struct auc_agent *a, double now, bool all)
{
	uint32_t users[AUC_USERS_MAX];
	double began = auc_site_now(), took, wait;
	unsigned nusers = 0;
	struct auc_err err;

	for (struct auc_task *t = a->tasks.list; t && !all; t = t->next) {
		unsigned i;

		for (i = 0; i < nusers && users[i] != t->uid; i++)
			;
		if (i == AUC_USERS_MAX)
			all = true;
		else if (i == nusers)
			users[nusers++] = t->uid;
	}
	a->nloaded = 0;
	if (all) {
		if (auc_control_load_jobs(&a->loaded[0], &err)) {
			auc_agent_complain(a, AUC_ERROR_LOOK, &err);
			return false;
		}
		a->nloaded = 1;
		a->next_records = now + RECORDS_EVERY;
	}
	for (unsigned i = 0; i < nusers && !all; i++) {
		if (auc_control_load_user_jobs(users[i], &a->loaded[a->nloaded], &err)) {
			auc_agent_complain(a, AUC_ERROR_LOOK, &err);
			auc_look_free(a);
			return false;
		}
		a->nloaded++;
	}
	took = auc_site_now() - began;
	wait = took * LOOK_SHARE < LOOK_MAX ? took * LOOK_SHARE : LOOK_MAX;
	a->next_look = now + (wait > LOOK_EVERY ? wait : LOOK_EVERY);
	a->next_busy_look = now + took * BUSY_SHARE;
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		auc_task_look(t);
	auc_series_add(&a->stats.looks, took);
	return true;
}

void auc_look_see(struct auc_agent *a, double now)
{
	struct auc_err err;

	if (auc_tasks_index(&a->tasks, &err)) {
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
		for (struct auc_task *t = a->tasks.list; t; t = t->next)
			t->looked = false;
		return;
	}
	for (unsigned i = 0; i < a->nloaded; i++)
		for (uint32_t k = 0; k < a->loaded[i]->record_count; k++)
			see(a, &a->loaded[i]->job_array[k], now);
}

void auc_look_free(struct auc_agent *a)
{
	for (unsigned i = 0; i < a->nloaded; i++)
		auc_control_free_jobs(a->loaded[i]);
	a->nloaded = 0;
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		t->lead = NULL;
}

void auc_look_protect(void)
{
	job_info_msg_t *jobs;
	uint32_t *ids;
	unsigned n = 0;

	if (auc_control_load_jobs(&jobs, NULL))
		return;
	ids = malloc((jobs->record_count + 1) * sizeof(*ids));
	for (uint32_t i = 0; ids && i < jobs->record_count; i++) {
		const slurm_job_info_t *info = &jobs->job_array[i];

		if (info->admin_comment && auc_receipt_is(info->admin_comment) &&
		    !auc_job_finished(info))
			ids[n++] = AUC_INFO_JOB_ID(info);
	}
	if (ids)
		auc_site_protect(ids, n, NULL);
	free(ids);
	auc_control_free_jobs(jobs);
}

/* Finds out which sale, if any, a record belongs to. */
static void see(struct auc_agent *a, const slurm_job_info_t *info, double now)
{
	const struct auc_task_ref *ref;
	struct auc_receipt r;
	struct auc_err err;

	if (!info->admin_comment || !auc_receipt_is(info->admin_comment))
		return;
	ref = auc_tasks_find_job(&a->tasks, AUC_INFO_JOB_ID(info));
	/* After a restart a job id alone is no proof: Slurm's state may have been wiped and its
	 * numbers begun again. */
	if (ref && (ref->task->known || ref->part)) {
		auc_task_see(ref->task, ref->part, info, now);
		return;
	}
	/* Slurm keeps the records of settled sales for a while. Only at the start can one be news.
	 */
	if (!ref && auc_job_finished(info) && a->opened && !has_lien(a, info->user_id))
		return;
	if (auc_receipt_parse(info->admin_comment, &r, &err)) {
		auc_err_prefix(&err, "job %u: receipt not understood", AUC_INFO_JOB_ID(info));
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
		return;
	}
	if (!strcmp(r.state, "member"))
		see_member(a, info, &r, now);
	else if (ref && !strcmp(ref->task->sale, r.sale))
		auc_task_see(ref->task, 0, info, now);
	else if (strcmp(r.state, "settled"))
		see_lead(a, info, &r, now);
	auc_receipt_clear(&r);
}

static bool has_lien(const struct auc_agent *a, uint32_t uid)
{
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->exec.booked == AUC_SALE_LIEN && t->uid == uid)
			return true;
	return false;
}

/* A member that no part has yet: submitted before a restart, or for a plan that has changed. */
static void see_member(struct auc_agent *a, const slurm_job_info_t *info,
		       const struct auc_receipt *r, double now)
{
	struct auc_task *t = auc_tasks_find(&a->tasks, r->sale);
	struct auc_slice slice;

	if (auc_job_finished(info))
		return;
	if (t && t->exec.booked != AUC_SALE_SETTLED && t->exec.jobs[0].id == r->lead &&
	    t->uid == info->user_id) {
		for (unsigned i = 1; i < t->exec.nparts; i++) {
			const struct auc_part *p = &t->parts[i];
			double begin = (double)info->eligible_time;

			/* The same share may come back behind a pause. */
			if (p->lead || t->exec.jobs[i].id || p->end <= now ||
			    begin < p->start - 1 || begin >= p->end ||
			    auc_slice_of(p, p->start, p->end, &slice, NULL) ||
			    !auc_slice_fits(&slice, info))
				continue;
			t->exec.jobs[i].id = AUC_INFO_JOB_ID(info);
			auc_task_see(t, i, info, now);
			return;
		}
	}
	slurm_info("sched/auction: job %u is a member of sale %s, which does not need it; "
		   "cancelled",
		   AUC_INFO_JOB_ID(info), r->sale);
	auc_act_kill_stray(a, info);
}

/* A job with the receipt of a sale that is not tied to it yet. */
static void see_lead(struct auc_agent *a, const slurm_job_info_t *info, const struct auc_receipt *r,
		     double now)
{
	struct auc_task *t = auc_tasks_find(&a->tasks, r->sale);
	uint32_t id = AUC_INFO_JOB_ID(info);
	char *settled;

	if (t && t->exec.booked == AUC_SALE_LIEN && t->uid == info->user_id) {
		t->exec.jobs[0].id = id;
		auc_task_see(t, 0, info, now);
		return;
	}
	if (t && t->exec.booked != AUC_SALE_SETTLED) {
		if (!auc_job_finished(info)) {
			slurm_error("sched/auction: job %u shows the receipt of sale %s, which is "
				    "job %u; cancelled",
				    id, r->sale, t->exec.jobs[0].id);
			auc_act_kill_stray(a, info);
		}
		return;
	}
	settled = auc_receipts_settled(r->sale);
	if (settled && !auc_job_finished(info)) {
		slurm_info("sched/auction: job %u came back from before its settlement; cancelled",
			   id);
		auc_control_set_receipt(id, settled, NULL);
		auc_receipts_recheck(r->sale);
		auc_act_kill_stray(a, info);
	} else if (!settled) {
		adopt(a, info, r, now);
	}
	free(settled);
}

/* Sells again, as it stood, what only a record knows. */
static void adopt(struct auc_agent *a, const slurm_job_info_t *info, const struct auc_receipt *r,
		  double now)
{
	enum auc_sale_state state = auc_job_pending(info) ? AUC_SALE_SOLD : AUC_SALE_RUNNING;
	uint32_t id = AUC_INFO_JOB_ID(info);
	struct auc_sale_view view;
	enum auc_code code;
	struct auc_err err;
	struct auc_task *t;

	/* A job that was cancelled before it got a node never ran; one that pauses did. */
	if (auc_job_finished(info) && (!info->nodes || !info->nodes[0]))
		state = AUC_SALE_SOLD;
	if (!strcmp(r->state, "running"))
		state = AUC_SALE_RUNNING;
	code = auc_auction_adopt(a->auction, info->admin_comment, id, info->user_id, state, &err);
	if (code == AUC_EEXIST)
		return; /* it is in the ledger after all: the next cycle knows it */
	if (code) {
		slurm_error("sched/auction: job %u: sale %s is not in the spool and cannot be sold "
			    "again as it stood: %s",
			    id, r->sale, err.text);
		void_receipt(a, info, "lost");
		return;
	}
	slurm_info(
		"sched/auction: job %u: sale %s was not in the spool and is sold again as it stood",
		id, r->sale);
	a->changed = true;
	if (auc_auction_sale_of_job(a->auction, id, &view, &err)) {
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		return;
	}
	t = auc_tasks_add(&a->tasks, &view);
	auc_sale_view_clear(&view);
	if (!t)
		return;
	t->exec.committed = false;
	auc_task_look(t);
	auc_task_see(t, 0, info, now);
}

/* The job loses what it was sold: it is cancelled and its receipt says that nothing is paid. */
static void void_receipt(struct auc_agent *a, const slurm_job_info_t *info, const char *why)
{
	char *text = auc_receipt_void(info->admin_comment, why);
	uint32_t id = AUC_INFO_JOB_ID(info);
	struct auc_receipt r;
	struct auc_err err;

	if (text && !auc_receipt_parse(text, &r, &err)) {
		if (auc_receipts_put_final(id, r.sale, text, &err))
			auc_agent_complain(a, AUC_ERROR_RECEIPT, &err);
		auc_receipt_clear(&r);
	}
	if (!auc_job_finished(info)) {
		if (text)
			auc_control_set_receipt(id, text, NULL);
		auc_act_kill_stray(a, info);
	}
	free(text);
}
