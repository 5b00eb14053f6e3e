/*
 * stand.c - bids that stand (--stands, auction.h): Slurm has their jobs, held, with the bids sealed
 * in their receipts, and nothing of them is on disk here. The agent sees these jobs, decides a bid
 * again when its turn has come, by what job_submit decides by (adapter/decide.h), and makes the job
 * that of its sale; what is sold is carried out like any other sale, whose first act is to release
 * the job. One whose time is over is cancelled, with a receipt that says why.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "adapter/decide.h"
#include "adapter/site.h"
#include "ledger/receipt.h"
#include "ledger/why.h"
#include "sched/auction/agent-private.h"
#include "sched/auction/job_change.h"
#include "sched/auction/slurm_rules.h"
#include "sched/output/mail.h"
#include "sched/output/receipts.h"

#define SEEK     0.25 /* seconds between the first looks for the jobs of new bids; then longer, */
#define SEEK_MAX 2.0  /* up to that */
#define TURNS    0.05 /* seconds of a cycle in which turns are taken; the rest follows in the next */

static void look_for(struct auc_agent *a, const struct auc_held_view *list, unsigned n, double now);
static bool look_at_user(struct auc_agent *a, uint32_t uid, const struct auc_held_view *list,
			 unsigned n, double now);
static void mail_end(struct auc_agent *a, uint32_t job_id, const char *why, double now);
static bool take_turn(struct auc_agent *a, const struct auc_held_view *v, struct auc_bid *bid,
		      double now);
static bool hold_again(struct auc_agent *a, const slurm_job_info_t *info);
static bool is_task(const slurm_job_info_t *info);
static void sell(struct auc_agent *a, const slurm_job_info_t *info, const struct auc_held_view *v,
		 const struct auc_offer *offer, double now);

void auc_stand_see(struct auc_agent *a, const slurm_job_info_t *info, double now)
{
	struct auc_held_view v = {.uid = info->user_id, .job_id = AUC_INFO_JOB_ID(info)};
	struct auc_receipt r;
	struct auc_err err;
	enum auc_code code;
	char *settled;

	if (auc_receipt_parse(info->admin_comment, &r, &err)) {
		if (auc_job_finished(info))
			return;
		auc_err_prefix(&err, "job %u: receipt not understood", v.job_id);
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
		return;
	}
	memcpy(v.id, r.sale, sizeof(v.id));
	if (is_task(info)) {
		/* Split off, but not placed: the array is another job. */
		if (!auc_job_finished(info))
			auc_act_kill_stray(a, info, NULL);
		auc_receipt_clear(&r);
		return;
	}
	settled = auc_receipts_settled(r.sale);
	if (auc_job_finished(info)) {
		/* Its owner may be quicker than the first look. */
		auc_stand_end(a, &v, AUC_WHY_CANCELLED, now);
	} else if (settled || !strcmp(r.state, "unsold")) {
		/* It came back from before that, or was not cancelled. */
		auc_act_kill_stray(a, info, settled);
	} else if (hold_again(a, info)) {
		; /* a look at it follows */
	} else if (!auc_job_is_held(info)) {
		auc_agent_say(a,
			      "job %u stands as a bid and is not held any more; "
			      "cancelled",
			      v.job_id);
		auc_auction_held_seen(a->auction, info->admin_comment, v.job_id, v.uid, NULL);
		auc_stand_end(a, &v, AUC_WHY_CHANGED, now);
	} else {
		code = auc_auction_held_seen(a->auction, info->admin_comment, v.job_id, v.uid,
					     &err);
		/* Of an array the database has rows of its tasks, too. */
		if (!code && !r.tasks)
			auc_receipts_put(v.job_id, v.id, info->admin_comment);
		if (code && code != AUC_EEXIST) {
			auc_agent_say(a, "job %u: its bid cannot stand: %s; cancelled", v.job_id,
				      err.text);
			auc_act_kill_stray(a, info, NULL);
		}
	}
	free(settled);
	auc_receipt_clear(&r);
}

/*
 * True if the job of INFO, which stands, is released and is to wait on. An administrator may
 * release all jobs that wait, after an outage for example. That starts none of these: their begin
 * is when their bids end.
 */
static bool hold_again(struct auc_agent *a, const slurm_job_info_t *info)
{
	uint32_t job = AUC_INFO_JOB_ID(info);
	struct auc_err err;
	enum auc_code code;

	if (info->priority == 0 || (info->job_state & JOB_STATE_BASE) != JOB_PENDING)
		return false;
	code = auc_job_change_put(a, AUC_JOB_CHANGE_HOLD, job, NULL, NULL, NULL, &err);
	if (!code)
		auc_agent_say(a,
			      "job %u stands as a bid and was released; it is held again (scancel "
			      "ends the bid)",
			      job);
	return !code || code == AUC_ESTATE;
}

/* True if INFO is of a task of an array that has another number than the array. */
static bool is_task(const slurm_job_info_t *info)
{
	return info->array_job_id && info->array_job_id != AUC_INFO_JOB_ID(info);
}

void auc_stand_keep(struct auc_agent *a, double now)
{
	double until = auc_site_now() + TURNS;
	struct auc_held_view *list, v;
	enum auc_held_turn turn;
	struct auc_bid *bid;
	struct auc_err err;
	unsigned n;

	if (auc_auction_held(a->auction, now, &list, &n, &err)) {
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		return;
	}
	if (n)
		look_for(a, list, n, now);
	for (unsigned i = 0; i < n; i++)
		if (list[i].job_id && list[i].until <= now && !auc_array_is_out(a, list[i].job_id))
			auc_stand_end(a, &list[i], AUC_WHY_EXPIRED, now);
	free(list);
	auc_array_next_cycle(a, now);
	bid = n ? malloc(sizeof(*bid)) : NULL;
	while (bid && auc_site_now() < until) {
		turn = auc_auction_held_next(a->auction, now, &v, bid);
		if (turn == AUC_HELD_NONE || (turn == AUC_HELD_DUE && !take_turn(a, &v, bid, now)))
			break;
		if (turn == AUC_HELD_WORTHLESS && !auc_array_is_out(a, v.job_id))
			auc_stand_end(a, &v, AUC_WHY_WORTHLESS, now);
	}
	free(bid);
}

/* At the jobs of one user: of one whose bid was not seen as a job yet, or, as slurmctld has changed
 * jobs, whoever comes next. */
static void look_for(struct auc_agent *a, const struct auc_held_view *list, unsigned n, double now)
{
	struct auc_stand_look *look = &a->stand;
	int64_t stamp = auc_rpc_changed(AUC_STAMP_JOBS);
	const struct auc_held_view *next = NULL;

	for (unsigned i = 0; i < n && !next; i++)
		if (!list[i].job_id)
			next = &list[i];
	if (next) {
		look->wait = look->wait > 0 && look->wait < SEEK_MAX ? 2 * look->wait : SEEK;
		if (now >= look->next && look_at_user(a, next->uid, list, n, now))
			look->next = now + look->wait;
		return;
	}
	look->wait = look->next = 0;
	if (stamp == look->done && stamp >= 0)
		return;
	for (unsigned i = 0; i < n; i++)
		if (list[i].uid > look->uid && (!next || list[i].uid < next->uid))
			next = &list[i];
	if (!next) {
		/* A second may see more than one change. */
		look->done = look->stamp;
		look->stamp = stamp < (int64_t)now ? stamp : stamp - 1;
		look->uid = 0;
		return;
	}
	if (look_at_user(a, next->uid, list, n, now))
		look->uid = next->uid;
}

/* At all of UID's, and which of those in LIST are gone. */
static bool look_at_user(struct auc_agent *a, uint32_t uid, const struct auc_held_view *list,
			 unsigned n, double now)
{
	job_info_msg_t *jobs;
	struct auc_err err;

	if (auc_rpc_load_user_jobs(uid, &jobs, &err)) {
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
		return false;
	}
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *info = &jobs->job_array[i];

		if (info->admin_comment && auc_receipt_says(info->admin_comment, "waiting") &&
		    !auc_auction_owns(a->auction, AUC_INFO_JOB_ID(info)))
			auc_stand_see(a, info, now);
	}
	for (unsigned i = 0; i < n; i++) {
		bool found = list[i].uid != uid || !list[i].job_id;

		for (uint32_t k = 0; k < jobs->record_count && !found; k++)
			found = AUC_INFO_JOB_ID(&jobs->job_array[k]) == list[i].job_id;
		if (!found)
			auc_stand_end(a, &list[i], AUC_WHY_LOST, now);
	}
	auc_rpc_free_jobs(jobs);
	return true;
}

void auc_stand_end(struct auc_agent *a, const struct auc_held_view *v, const char *why, double now)
{
	char *receipt = auc_auction_held_end(a->auction, v->id, why, now);
	struct auc_err err;

	auc_array_forget(a, v->job_id);
	if (!receipt)
		return;
	slurm_info("sched/auction: job %u: bid %s ended unsold: %s", v->job_id, v->id, why);
	if (auc_receipts_put_final(v->job_id, v->id, receipt, &err))
		auc_agent_complain(a, AUC_ERROR_RECEIPT, &err);
	if (strcmp(why, AUC_WHY_CANCELLED) && strcmp(why, AUC_WHY_LOST) &&
	    auc_job_change_put(a, AUC_JOB_CHANGE_END, v->job_id, NULL, NULL, receipt, &err) &&
	    err.code != AUC_ESTATE)
		auc_agent_complain(a, AUC_ERROR_KILL, &err);
	free(receipt);
	a->changed = true;
	mail_end(a, v->job_id, why, now);
}

/* Not where its owner knows, or it is gone. */
static void mail_end(struct auc_agent *a, uint32_t job_id, const char *why, double now)
{
	struct auc_mail_to to = {0};
	job_info_msg_t *jobs;

	if (!strcmp(why, AUC_WHY_CANCELLED) || !strcmp(why, AUC_WHY_LOST) ||
	    !auc_auction_conf(a->auction)->mail || auc_rpc_load_job(job_id, &jobs, NULL))
		return;
	if (jobs->record_count) {
		auc_mail_take(&to, jobs->job_array);
		auc_mail_unsold(&to, a->auction, why, now);
		auc_mail_clear(&to);
	}
	auc_rpc_free_jobs(jobs);
}

/* False: it cannot be decided now, nor can others. */
static bool take_turn(struct auc_agent *a, const struct auc_held_view *v, struct auc_bid *bid,
		      double now)
{
	struct auc_offer offer = {0};
	job_info_msg_t *jobs;
	enum auc_code code;
	char barred[512];
	struct auc_err err;
	bool unknown;

	if (v->tasks)
		return auc_array_turn(a, v, bid, now);
	code = auc_rpc_load_job(v->job_id, &jobs, &err);
	if (code == AUC_ENOENT)
		auc_stand_end(a, v, AUC_WHY_LOST, now);
	if (code == AUC_ENOENT)
		return true;
	if (code) {
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
		auc_auction_held_again(a->auction, v->id, now, true);
		return false;
	}
	if (!jobs->record_count || !auc_job_is_held(jobs->job_array)) {
		if (jobs->record_count)
			auc_stand_see(a, jobs->job_array, now);
		auc_rpc_free_jobs(jobs);
		return true;
	}
	code = auc_stand_decide(a, jobs->job_array, v, bid, &offer, barred, sizeof(barred), &err);
	if (!code && offer.accepted)
		sell(a, jobs->job_array, v, &offer, now);
	unknown = code == AUC_EAGAIN || code == AUC_ESTATE;
	/* No refusal: what its user may is being looked at, or is less than it takes just now. */
	if (code)
		auc_auction_held_again(a->auction, v->id, now, unknown);
	auc_offer_clear(&offer);
	auc_rpc_free_jobs(jobs);
	return !unknown;
}

enum auc_code auc_stand_decide(struct auc_agent *a, const slurm_job_info_t *info,
			       const struct auc_held_view *v, struct auc_bid *bid,
			       struct auc_offer *offer, char *barred, size_t size,
			       struct auc_err *err)
{
	job_desc_msg_t desc;

	/* As job_submit saw it. */
	slurm_init_job_desc_msg(&desc);
	desc.user_id = info->user_id;
	desc.group_id = info->group_id;
	desc.account = info->account;
	desc.qos = info->qos;
	desc.partition = info->partition;
	desc.alloc_node = info->alloc_node;
	return auc_decide(a->auction, &desc, info->user_id, bid, v->id, v->tasks > 0, offer, barred,
			  size, err);
}

/* The job of V has bought OFFER. It is changed when that is on disk (act.c). */
static void sell(struct auc_agent *a, const slurm_job_info_t *info, const struct auc_held_view *v,
		 const struct auc_offer *offer, double now)
{
	struct auc_sale_view view;
	char *receipt = NULL;
	struct auc_task *t;
	struct auc_err err;

	if (auc_auction_confirm(a->auction, offer->sale, v->job_id, &receipt, &err) ||
	    auc_auction_sale_of_job(a->auction, v->job_id, &view, &err)) {
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		free(receipt);
		return;
	}
	auc_auction_held_end(a->auction, v->id, NULL, now);
	slurm_info("sched/auction: job %u: bid %s, which stood, is sold as %s", v->job_id, v->id,
		   offer->sale);
	a->changed = true;
	t = auc_tasks_add(&a->tasks, &view);
	auc_sale_view_clear(&view);
	if (t) {
		auc_mail_take(&t->mail, info);
		auc_mail_sold(&t->mail, a->auction, t->sale, true);
	}
	if (!t) {
		free(receipt);
		return; /* the next look at the ledger finds it */
	}
	t->exec.committed = false;
	t->exec.state = AUC_EXEC_SOLD;
	t->sold = now;
	t->receipt = receipt;
	auc_slurm_rules_count(a);
}
