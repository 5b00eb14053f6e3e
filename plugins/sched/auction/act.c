/*
 * act.c - what Slurm is asked for a sale: exactly what its machine (exec.h) says, once the ledger's
 * side of it is on disk. All of it may be asked twice.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-private.h"
#include "desc.h"
#include "fence.h"
#include "receipts.h"
#include "site.h"
#include "writer.h"

#define RECEIPT_AGAIN 30.0 /* seconds before one that could not be written is tried again */
#define ACTIONS_MAX   64   /* of one sale in one cycle; the rest follows in the next */
#define AGAIN         2.0  /* seconds until jobs that are held are looked at again */

static void carry_out(struct auc_agent *a, struct auc_task *t,
		      const struct auc_exec_action *action);
static enum auc_code end_job(struct auc_agent *a, uint32_t job, bool pending, struct auc_err *err);
static enum auc_code nudge(const struct auc_task *t, unsigned part, struct auc_err *err);
static enum auc_code change(struct auc_task *t, enum auc_exec_ask ask, uint32_t job,
			    const struct auc_slice *slice, struct auc_err *err);
static enum auc_code submit(const struct auc_agent *a, struct auc_task *t, unsigned part,
			    const struct auc_slice *slice, uint32_t *id, struct auc_err *err);

void auc_act(struct auc_agent *a, struct auc_task *t, double now)
{
	struct auc_exec_action actions[ACTIONS_MAX];
	unsigned n;

	/* For whom members are submitted is in the lead's record. */
	if (!t->looked || !a->commit_ok || (!t->known && t->exec.booked != AUC_SALE_SETTLED))
		return;
	n = auc_exec_actions(&t->exec, &a->rules, now, actions, ACTIONS_MAX);
	for (unsigned i = 0; i < n; i++) {
		/* Who is told of a change reads the receipt. */
		if (actions[i].ask != AUC_ASK_NOTICE || !t->receipt)
			carry_out(a, t, &actions[i]);
	}
	/* What it holds was sold to it for now, and Slurm would give it to others. */
	for (unsigned i = 0; t->suspended && i < t->exec.nparts; i++)
		if (t->exec.jobs[i].id && t->exec.jobs[i].seen == AUC_SEEN_RUNNING)
			auc_control_resume(t->exec.jobs[i].id);
}

void auc_act_receipt(struct auc_agent *a, struct auc_task *t, double now)
{
	if (!t->looked || !a->commit_ok || !t->receipt || t->receipt_sent ||
	    now < t->receipt_next || t->exec.booked == AUC_SALE_LIEN ||
	    t->exec.booked == AUC_SALE_SETTLED)
		return;
	auc_receipts_put(t->exec.jobs[0].id, t->sale, t->receipt);
	t->receipt_sent = auc_writer_put(t->exec.jobs[0].id, t->sale, t->receipt);
}

void auc_act_receipts_written(struct auc_agent *a, double now)
{
	struct auc_written *w;

	while ((w = auc_writer_take())) {
		struct auc_task *t = auc_tasks_find(&a->tasks, w->sale);

		if (t)
			t->receipt_sent = false;
		if (w->code && w->code != AUC_ESTATE) {
			/* Who changes a job that the database has no row for waits for 5 s. */
			if (t)
				t->receipt_next = now + RECEIPT_AGAIN;
			auc_agent_complain(a, AUC_ERROR_RECEIPT, &w->err);
		} else if (t && t->receipt && !strcmp(t->receipt, w->text)) {
			/* A job that has ended gets its final receipt in the database. */
			free(t->receipt);
			t->receipt = NULL;
		}
		auc_written_free(w);
	}
}

void auc_act_kill_stray(struct auc_agent *a, const slurm_job_info_t *info)
{
	struct auc_err err;

	if (end_job(a, AUC_INFO_JOB_ID(info), auc_job_pending(info), &err))
		auc_agent_complain(a, AUC_ERROR_KILL, &err);
}

static void carry_out(struct auc_agent *a, struct auc_task *t, const struct auc_exec_action *action)
{
	static const enum auc_agent_error kinds[] = {
		[AUC_ASK_SUBMIT] = AUC_ERROR_SUBMIT, [AUC_ASK_NUDGE] = AUC_ERROR_START,
		[AUC_ASK_PLACE] = AUC_ERROR_MOVE,    [AUC_ASK_MOVE] = AUC_ERROR_MOVE,
		[AUC_ASK_LIMIT] = AUC_ERROR_MOVE,    [AUC_ASK_NOTICE] = AUC_ERROR_SIGNAL,
		[AUC_ASK_WARN] = AUC_ERROR_SIGNAL,   [AUC_ASK_KILL] = AUC_ERROR_KILL,
	};
	const struct auc_part *p = &t->parts[action->part];
	uint32_t job = t->exec.jobs[p->lead ? 0 : action->part].id, id = 0;
	enum auc_code code = AUC_OK;
	struct auc_slice slice;
	struct auc_err err;
	int sig;

	switch (action->ask) {
	case AUC_ASK_SUBMIT:
		code = auc_slice_of(p, p->start, p->end, &slice, &err);
		if (!code)
			code = submit(a, t, action->part, &slice, &id, &err);
		/* It may be there all the same. */
		t->whole |= code == AUC_EIO;
		break;
	case AUC_ASK_NUDGE:
		code = nudge(t, p->lead ? 0 : action->part, &err);
		break;
	case AUC_ASK_PLACE:
	case AUC_ASK_MOVE:
	case AUC_ASK_LIMIT:
		code = auc_slice_of(p, p->start, p->end, &slice, &err);
		if (!code)
			code = change(t, action->ask, job, &slice, &err);
		break;
	case AUC_ASK_NOTICE:
		sig = auc_conf_change_signal(auc_auction_conf(a->auction));
		if (sig)
			code = auc_control_signal(job, sig, &err);
		slurm_info("sched/auction: job %u is told that its layout changes", job);
		break;
	case AUC_ASK_WARN:
		auc_control_warn(job, action->part == 0, NULL);
		break;
	case AUC_ASK_KILL:
		code = end_job(a, job,
			       t->exec.jobs[p->lead ? 0 : action->part].seen == AUC_SEEN_PENDING,
			       &err);
		break;
	}
	/* What came too late did no harm. */
	if (code && code != AUC_ESTATE)
		auc_agent_complain(a, kinds[action->ask], &err);
	auc_exec_did(&t->exec, action, code, id, &a->rules, auc_site_now());
}

/*
 * Ends JOB. A slurmctld that was killed may have forgotten that a job that it takes for PENDING
 * runs. It finds out when the node tells of it, and ends what it does not know; but not what it
 * takes for a job that has just been cancelled. Until then the job is held.
 */
static enum auc_code end_job(struct auc_agent *a, uint32_t job, bool pending, struct auc_err *err)
{
	if (!pending || a->heard || auc_site_elapsed() > a->since + AUC_SETTLING)
		return auc_control_kill(job, err);
	if (a->next_records > auc_site_now() + AGAIN)
		a->next_records = auc_site_now() + AGAIN;
	return auc_control_hold(job, err);
}

/*
 * Slurm tries pending jobs now and then; one whose slot has begun is not to wait. Only where its
 * record says otherwise is the job changed: slurmctld may let us wait for that.
 */
static enum auc_code nudge(const struct auc_task *t, unsigned part, struct auc_err *err)
{
	const struct auc_exec_job *j = &t->exec.jobs[part];
	/* A requeue that was cut short may have left it open to its owner. */
	bool open = !part && t->lead && t->lead->requeue;

	if (j->begin <= auc_site_now() && !open && auc_control_schedule())
		return AUC_OK;
	return auc_control_start_now(j->id, err);
}

static enum auc_code change(struct auc_task *t, enum auc_exec_ask ask, uint32_t job,
			    const struct auc_slice *slice, struct auc_err *err)
{
	if (ask == AUC_ASK_LIMIT)
		return auc_control_limit(job, slice->minutes, err);
	/* Each run of a job has a row of its own in the database: it gets the receipt again. */
	t->known = false;
	if (ask == AUC_ASK_PLACE)
		return auc_control_place(job, slice, err);
	slurm_info("sched/auction: job %u moves to %s", job, slice->node);
	return auc_control_move(job, slice, err);
}

static enum auc_code submit(const struct auc_agent *a, struct auc_task *t, unsigned part,
			    const struct auc_slice *slice, uint32_t *id, struct auc_err *err)
{
	struct auc_owner owner = {.uid = t->uid,
				  .gid = t->gid,
				  .account = t->account,
				  .qos = t->qos,
				  .reservation = auc_fence_of(a, t, part)};

	return auc_control_submit_member(&owner, slice, t->sale, t->exec.jobs[0].id, id, err);
}
