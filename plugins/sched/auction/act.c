/*
 * act.c - what Slurm is asked for a sale: exactly what its machine (exec.h) says, once the ledger's
 * side of it is on disk. All of it may be asked twice.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/auction/agent-private.h"
#include "sched/auction/block/block.h"
#include "sched/auction/job_change.h"
#include "adapter/desc.h"
#include "sched/auction/fence.h"
#include "sched/output/receipts.h"
#include "adapter/site.h"
#include "adapter/spending.h"
#include "ledger/why.h"

#define ACTIONS_MAX 64  /* of one sale in one cycle; the rest follows in the next */
#define AGAIN       2.0 /* seconds until jobs that are held are looked at again */

static void carry_out(struct auc_agent *a, struct auc_task *t, struct auc_exec_action *action);
static void carry_out_block(struct auc_agent *a, struct auc_task *t,
			    const struct auc_exec_action *action);
static enum auc_code end_part(struct auc_agent *a, const struct auc_task *t, unsigned part,
			      struct auc_err *err);
static enum auc_code end_job(struct auc_agent *a, uint32_t job, bool pending, bool held,
			     const char *receipt, struct auc_err *err);
static void say_time_is_over(const struct auc_task *t, unsigned part);
static bool is_held(const struct auc_task *t);
static void fill_slice(const struct auc_agent *a, const struct auc_task *t,
		       const struct auc_part *p, struct auc_slice *slice);
static enum auc_job_change change_for(const struct auc_task *t, enum auc_exec_ask ask);
static bool waits(const struct auc_agent *a, enum auc_exec_ask ask, uint32_t job);
static bool may_run(const struct auc_agent *a);
static void look_again(struct auc_agent *a);
static enum auc_code nudge(struct auc_agent *a, const struct auc_task *t, unsigned part,
			   struct auc_err *err);
static enum auc_code submit(const struct auc_agent *a, struct auc_task *t, unsigned part,
			    const struct auc_slice *slice, uint32_t *id, struct auc_err *err);

void auc_act(struct auc_agent *a, struct auc_task *t, double now)
{
	struct auc_exec_action actions[ACTIONS_MAX];
	unsigned n;

	/* For whom members are submitted is in the lead's record. */
	if (!t->looked || !t->exec.committed || (!t->known && t->exec.booked != AUC_SALE_SETTLED))
		return;
	n = auc_exec_actions(&t->exec, &a->rules, now, actions, ACTIONS_MAX);
	for (unsigned i = 0; i < n; i++) {
		/* A job that is told of a change reads its receipt. */
		if (t->block)
			carry_out_block(a, t, &actions[i]);
		else if (actions[i].ask != AUC_ASK_NOTICE || !t->receipt)
			carry_out(a, t, &actions[i]);
	}
	if (t->suspended && !t->resumed) {
		auc_agent_say(a,
			      "job %u is suspended; what it holds was sold to it for "
			      "now, so that it is resumed. To end it: scancel",
			      t->exec.jobs[0].id);
		a->stats.resumed++;
	}
	t->resumed = t->suspended;
	/* What it holds was sold to it for now, and Slurm would give it to others. */
	for (unsigned i = 0; t->suspended && i < t->exec.nparts; i++)
		if (t->exec.jobs[i].id && t->exec.jobs[i].seen == AUC_SEEN_RUNNING)
			auc_rpc_resume(t->exec.jobs[i].id);
}

void auc_act_receipt(struct auc_agent *a, struct auc_task *t, double now)
{
	/* By the receipt of a bid that stands its job is known as held for that; by that of one
	 * that is to end, why. */
	if (!t->looked || !a->commit_ok || !t->receipt || t->receipt_sent || is_held(t) ||
	    (t->exec.why && (may_run(a) || (t->lead && t->lead->priority == 0))) ||
	    now < t->receipt_next || t->exec.booked == AUC_SALE_LIEN ||
	    t->exec.booked == AUC_SALE_SETTLED)
		return;
	auc_receipts_put(t->exec.jobs[0].id, t->sale, t->receipt);
	t->receipt_sent = !auc_job_change_put(a, AUC_JOB_CHANGE_RECEIPT, t->exec.jobs[0].id,
					      t->sale, NULL, t->receipt, NULL);
}

void auc_act_kill_stray(struct auc_agent *a, const slurm_job_info_t *info, const char *receipt)
{
	bool bar = auc_job_pending(info) && may_run(a);
	uint32_t job = AUC_INFO_JOB_ID(info);
	enum auc_code code;
	struct auc_err err;

	if (receipt)
		code = auc_job_change_put(a, bar ? AUC_JOB_CHANGE_BAR : AUC_JOB_CHANGE_END, job,
					  NULL, NULL, receipt, &err);
	else
		code = end_job(a, job, auc_job_pending(info), info->priority == 0, NULL, &err);
	if (bar)
		look_again(a);
	if (code && code != AUC_ESTATE)
		auc_agent_complain(a, AUC_ERROR_KILL, &err);
}

/* Nothing starts or moves its job. */
static void carry_out_block(struct auc_agent *a, struct auc_task *t,
			    const struct auc_exec_action *action)
{
	struct auc_err err;
	enum auc_code code = auc_block_act(a, t, action->ask, &err);

	if (code && code != AUC_ESTATE)
		auc_agent_complain(a, AUC_ERROR_KILL, &err);
	auc_exec_did(&t->exec, action, code, 0, &a->rules, auc_site_now());
}

static void carry_out(struct auc_agent *a, struct auc_task *t, struct auc_exec_action *action)
{
	static const enum auc_agent_error kinds[] = {
		[AUC_ASK_SUBMIT] = AUC_ERROR_SUBMIT, [AUC_ASK_NUDGE] = AUC_ERROR_START,
		[AUC_ASK_PLACE] = AUC_ERROR_MOVE,    [AUC_ASK_MOVE] = AUC_ERROR_MOVE,
		[AUC_ASK_LIMIT] = AUC_ERROR_MOVE,    [AUC_ASK_NOTICE] = AUC_ERROR_SIGNAL,
		[AUC_ASK_WARN] = AUC_ERROR_SIGNAL,   [AUC_ASK_KILL] = AUC_ERROR_KILL,
	};
	const struct auc_part *p = &t->parts[action->part];
	unsigned part = p->lead ? 0 : action->part;
	uint32_t job = t->exec.jobs[part].id, id = 0;
	enum auc_code code = AUC_OK;
	struct auc_slice slice;
	struct auc_err err;
	int sig;

	if (waits(a, action->ask, job))
		return;
	/* Its owner may have no more jobs than it has: members of the plan before are found, and
	 * end, first. */
	if (action->ask == AUC_ASK_SUBMIT && t->whole)
		return;
	switch (action->ask) {
	case AUC_ASK_SUBMIT:
		code = auc_slice_of(p, p->start, p->end, &slice, &err);
		if (!code)
			code = submit(a, t, action->part, &slice, &id, &err);
		/* It may be there all the same. */
		t->whole |= code == AUC_EIO;
		break;
	case AUC_ASK_NUDGE:
		code = nudge(a, t, part, &err);
		break;
	case AUC_ASK_MOVE:
		auc_agent_say(a, "job %u moves to %s, slot %.0f of its plan", job, p->server,
			      1 + (p->start - t->exec.start) / t->exec.slot);
		/* fall through */
	case AUC_ASK_PLACE:
	case AUC_ASK_LIMIT:
		code = auc_slice_of(p, p->start, p->end, &slice, &err);
		fill_slice(a, t, p, &slice);
		if (!code)
			code = auc_job_change_put(a, change_for(t, action->ask), job, t->sale,
						  &slice, NULL, &err);
		break;
	case AUC_ASK_NOTICE:
		sig = auc_conf_change_signal(auc_auction_conf(a->auction));
		if (sig)
			code = auc_rpc_signal(job, sig, &err);
		slurm_info("sched/auction: job %u is told that its %s", job,
			   p->nnodes ? "time ends" : "layout changes");
		break;
	case AUC_ASK_WARN:
		/* A gang's steps first, so that srun in its script does not kill them. */
		action->script = action->script || (p->nnodes && auc_rpc_stepless(job));
		say_time_is_over(t, part);
		auc_rpc_warn(job, action->script, NULL);
		break;
	case AUC_ASK_KILL:
		code = end_part(a, t, part, &err);
		break;
	}
	/* What came too late did no harm. */
	if (code && code != AUC_ESTATE)
		auc_agent_complain(a, kinds[action->ask], &err);
	auc_exec_did(&t->exec, action, code, id, &a->rules, auc_site_now());
	/* Other sales may keep the agent for a while. */
	if (id)
		auc_agent_protect(a);
}

/* If the lead is warned for that, in the words by which people look for it in its output. */
static void say_time_is_over(const struct auc_task *t, unsigned part)
{
	uint32_t job = t->exec.jobs[0].id;
	char text[128];

	if (part || t->exec.jobs[0].warned || !t->exec.why ||
	    strcmp(t->exec.why, AUC_WHY_TIMEOUT) != 0)
		return;
	snprintf(text, sizeof(text),
		 "*** JOB %u CANCELLED DUE TO TIME LIMIT: the time that it bought is over ***",
		 job);
	auc_rpc_say(job, text);
}

/* Its bid stood, and it is still as it waited. */
static bool is_held(const struct auc_task *t)
{
	return t->lead && auc_job_is_held(t->lead);
}

/* What auc_slice_of() leaves out of SLICE, for the lead. */
static void fill_slice(const struct auc_agent *a, const struct auc_task *t,
		       const struct auc_part *p, struct auc_slice *slice)
{
	struct auc_sale_view view;

	slice->one_gpu_type = p->nnodes && auc_auction_one_gpu_type(a->auction, p);
	if (!is_held(t) || auc_auction_sale(a->auction, t->sale, &view, NULL))
		return;
	slice->cents = auc_spending_of(view.payment, view.parts, view.nparts);
	auc_sale_view_clear(&view);
}

/* What ASK is, which changes the lead's or a member's place or limit. */
static enum auc_job_change change_for(const struct auc_task *t, enum auc_exec_ask ask)
{
	if (ask == AUC_ASK_MOVE)
		return AUC_JOB_CHANGE_MOVE;
	if (ask == AUC_ASK_LIMIT)
		return AUC_JOB_CHANGE_LIMIT;
	return is_held(t) ? AUC_JOB_CHANGE_RELEASE : AUC_JOB_CHANGE_PLACE;
}

/* While JOB is being changed, what its record says is not what it will be. */
static bool waits(const struct auc_agent *a, enum auc_exec_ask ask, uint32_t job)
{
	return ask != AUC_ASK_SUBMIT && ask != AUC_ASK_WARN && ask != AUC_ASK_KILL &&
	       auc_job_change_out(a, job);
}

/*
 * A slurmctld that was killed may have forgotten that a job that it takes for pending runs. It
 * finds out when the node tells of it, and ends what it does not know; but not what it takes for a
 * job that has just been cancelled. Until then jobs that pend are held.
 */
static bool may_run(const struct auc_agent *a)
{
	return !a->heard;
}

static void look_again(struct auc_agent *a)
{
	if (a->next_records > auc_site_now() + AGAIN)
		a->next_records = auc_site_now() + AGAIN;
}

/* A lead that is held says why it is to end, if this slurmctld is not there to see it. */
static enum auc_code end_part(struct auc_agent *a, const struct auc_task *t, unsigned part,
			      struct auc_err *err)
{
	const slurm_job_info_t *lead = part ? NULL : t->lead;
	char *receipt = lead && t->exec.why && lead->admin_comment
				? auc_receipt_ending(lead->admin_comment, t->exec.why)
				: NULL;
	bool held = lead && lead->priority == 0;
	enum auc_code code;

	/* A receipt that was on its way then may have come after it. */
	if (held && receipt && !is_held(t) && !auc_receipt_ends(lead->admin_comment))
		held = false;
	code = end_job(a, t->exec.jobs[part].id, t->exec.jobs[part].seen == AUC_SEEN_PENDING, held,
		       receipt, err);
	free(receipt);
	return code;
}

/* HELD: its record says that it is. RECEIPT, or NULL: what it shows while it is. */
static enum auc_code end_job(struct auc_agent *a, uint32_t job, bool pending, bool held,
			     const char *receipt, struct auc_err *err)
{
	if (!pending || !may_run(a)) {
		auc_job_change_overtake(a, job);
		return auc_rpc_kill(job, err);
	}
	look_again(a);
	if (held)
		return AUC_OK;
	return auc_job_change_put(a, AUC_JOB_CHANGE_HOLD, job, NULL, NULL, receipt, err);
}

/*
 * Slurm tries pending jobs now and then; one whose slot has begun is not to wait. Only where its
 * record says otherwise is the job changed: slurmctld may let who asks for that wait.
 */
static enum auc_code nudge(struct auc_agent *a, const struct auc_task *t, unsigned part,
			   struct auc_err *err)
{
	const struct auc_exec_job *j = &t->exec.jobs[part];
	/* A requeue that was cut short may have left it open to its owner. */
	bool open = !part && t->lead && t->lead->requeue;

	if (j->begin <= auc_site_now() && !open && auc_rpc_schedule())
		return AUC_OK;
	return auc_job_change_put(a, AUC_JOB_CHANGE_START, j->id, t->sale, NULL, NULL, err);
}

static enum auc_code submit(const struct auc_agent *a, struct auc_task *t, unsigned part,
			    const struct auc_slice *slice, uint32_t *id, struct auc_err *err)
{
	struct auc_owner owner = {.uid = t->uid,
				  .gid = t->gid,
				  .account = t->account,
				  .qos = t->qos,
				  .host = t->host,
				  .reservation = auc_fence_of(a, t, part)};

	return auc_rpc_submit_member(&owner, slice, t->sale, t->exec.jobs[0].id, id, err);
}
