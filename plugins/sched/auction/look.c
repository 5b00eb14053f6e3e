/*
 * look.c - the agent looks at Slurm's job records. A record is trusted for what Slurm alone writes:
 * id, user, state, AdminComment. Which are looked at, and how often, look_pace.h says; a user's are
 * asked for one by one or all in a list, whatever is less work. At the start and now and then all
 * there are are looked at and brought into agreement with the ledger: a record with a receipt that
 * it does not know is sold again as it stood.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/auction/agent-private.h"
#include "sched/auction/block/block.h"
#include "base/clock.h"
#include "adapter/desc.h"
#include "adapter/desc_block.h"
#include "adapter/after/names.h"
#include "ledger/receipt.h"
#include "ledger/why.h"
#include "sched/auction/chain.h"
#include "sched/auction/job_change.h"
#include "sched/auction/start/orphans.h"
#include "sched/output/receipts.h"
#include "sched/rpc/job_names.h"
#include "adapter/site.h"

#define SEEK     0.25 /* seconds between the first looks for the job of a lien; then twice as many, */
#define SEEK_MAX 2.0 /* up to that */
#define STRAYS   5.0 /* seconds until jobs that are nobody's are looked at again */

static struct auc_look_pace_signs signs_of(const struct auc_agent *a, double now);
static bool count_wanted(struct auc_agent *a, enum auc_look kind, double now);
static bool is_wanted(const struct auc_agent *a, const struct auc_task *t, enum auc_look kind,
		      double now);
static struct auc_owner_jobs *owner(struct auc_agent *a, uint32_t uid);
static bool best_as_list(const struct auc_agent *a, const struct auc_owner_jobs *o);
static bool best_all(const struct auc_agent *a);
static enum auc_code load_all(struct auc_agent *a, struct auc_err *err);
static enum auc_code load_wanted(struct auc_agent *a, enum auc_look kind, double now,
				 struct auc_err *err);
static enum auc_code load_task(struct auc_agent *a, struct auc_task *t, struct auc_err *err);
static enum auc_code keep(struct auc_agent *a, job_info_msg_t *jobs, struct auc_err *err);
static void count_records(struct auc_agent *a);
static void begin(struct auc_task *t, double now);
static void see(struct auc_agent *a, const slurm_job_info_t *info, double now);
static void see_without(struct auc_agent *a, const struct auc_task_ref *ref,
			const slurm_job_info_t *info, double now);
static void mend_member(struct auc_agent *a, const struct auc_task *t,
			const slurm_job_info_t *info);
static bool has_tasks(const slurm_job_info_t *info);
static bool has_lien(const struct auc_agent *a, uint32_t uid);
static void see_nameless(struct auc_agent *a, const slurm_job_info_t *info, double now);
static void see_member(struct auc_agent *a, const slurm_job_info_t *info,
		       const struct auc_receipt *r, double now);
static bool take_member(struct auc_task *t, const slurm_job_info_t *info, double now);
static void see_lead(struct auc_agent *a, const slurm_job_info_t *info, const struct auc_receipt *r,
		     double now);
static void see_settled(struct auc_agent *a, const slurm_job_info_t *info,
			const struct auc_receipt *r, double now);
static void adopt(struct auc_agent *a, const slurm_job_info_t *info, const struct auc_receipt *r,
		  double now);
static void void_receipt(struct auc_agent *a, const slurm_job_info_t *info, const char *why);

enum auc_look auc_look_due(struct auc_agent *a, double now)
{
	if (auc_names_asked())
		auc_look_want_all(a, now);
	a->signs = signs_of(a, now);
	return auc_look_pace_due(&a->look_pace, &a->signs, now);
}

bool auc_look_near(const struct auc_agent *a, const struct auc_task *t, double now)
{
	if (t->exec.state == AUC_EXEC_LIEN)
		return now >= t->seek_next;
	/* What was due since it was looked at last is not over because the agent was busy. */
	return (t->receipt && !t->receipt_sent && now >= t->receipt_next) ||
	       auc_exec_due(&t->exec, &a->rules, t->looked_at, now + AUC_SOON) ||
	       auc_exec_busy(&t->exec, &a->rules, now, AUC_SOON);
}

bool auc_look_trouble(const struct auc_agent *a, const struct auc_task *t, double now)
{
	const struct auc_exec *x = &t->exec;

	if (x->booked == AUC_SALE_LIEN || x->booked == AUC_SALE_SETTLED)
		return false;
	if (!t->known || !x->committed || t->whole || t->suspended || x->why || x->replan > now)
		return true;
	for (unsigned i = 0; i < x->nparts; i++)
		if (x->jobs[i].late > 0 || x->jobs[i].unsure ||
		    (now < x->parts[i].end &&
		     (x->closed[i] ||
		      (x->down[i] > 0 && now >= x->parts[i].start - a->rules.ahead))))
			return true;
	return false;
}

bool auc_look_load(struct auc_agent *a, double now, enum auc_look kind)
{
	double began = auc_site_now(), own = auc_clock(CLOCK_THREAD_CPUTIME_ID), took;
	enum auc_code code;
	struct auc_err err;

	a->nloaded = 0;
	a->all = a->calm = false;
	a->loaded_at = auc_site_elapsed();
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		t->looked = false;
	if (kind == AUC_LOOK_ALL)
		code = load_all(a, &err);
	else
		code = load_wanted(a, kind, now, &err);
	if (code) {
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
		auc_look_free(a);
		return false;
	}
	took = auc_site_now() - began;
	auc_look_pace_did(&a->look_pace, kind, &a->signs, now, took,
			  auc_clock(CLOCK_THREAD_CPUTIME_ID) - own);
	if (kind == AUC_LOOK_ALL)
		a->next_records = now + a->look_pace.wait[AUC_LOOK_ALL];
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->looked)
			begin(t, now);
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
	auc_block_mark(a);
	for (unsigned i = 0; i < a->nloaded; i++)
		for (uint32_t k = 0; k < a->loaded[i]->record_count; k++)
			see(a, &a->loaded[i]->job_array[k], now);
	auc_chain_see(a, now);
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->looked && t->exec.booked == AUC_SALE_LIEN && !t->exec.jobs[0].id &&
		    !auc_array_splits(a, t->sale))
			auc_auction_unclaimed(a->auction, t->sale, now);
}

void auc_look_free(struct auc_agent *a)
{
	for (unsigned i = 0; i < a->nloaded; i++)
		auc_rpc_free_jobs(a->loaded[i]);
	a->nloaded = 0;
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		t->lead = NULL;
}

void auc_look_want_all(struct auc_agent *a, double at)
{
	at = auc_look_pace_all(&a->look_pace, at);
	if (a->next_records > at)
		a->next_records = at;
}

void auc_look_reset(struct auc_agent *a)
{
	memset(&a->look_pace, 0, sizeof(a->look_pace));
	a->next_records = 0;
	a->calm_until = 0;
	a->stand.next = 0;
}

void auc_look_protect(void)
{
	job_info_msg_t *jobs;
	uint32_t *ids;
	unsigned n = 0;

	if (auc_rpc_load_jobs(&jobs, NULL))
		return;
	ids = malloc((2 * jobs->record_count + 1) * sizeof(*ids));
	for (uint32_t i = 0; ids && i < jobs->record_count; i++) {
		const slurm_job_info_t *info = &jobs->job_array[i];

		if (info->admin_comment && auc_receipt_is(info->admin_comment) &&
		    !auc_job_finished(info)) {
			ids[n++] = AUC_INFO_JOB_ID(info);
			/* Its owner may name it by that. */
			ids[n++] = info->array_job_id;
		}
	}
	if (ids)
		auc_site_protect(ids, n, NULL);
	free(ids);
	auc_rpc_free_jobs(jobs);
}

void auc_agent_protect(struct auc_agent *a)
{
	uint32_t *ids;
	unsigned n = 0, max = 0;

	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		max += t->exec.nparts + 1;
	ids = calloc(max + 1, sizeof(*ids));
	if (!ids)
		return;
	for (const struct auc_task *t = a->tasks.list; t; t = t->next) {
		for (unsigned i = 0; i < t->exec.nparts; i++)
			if (t->exec.jobs[i].id)
				ids[n++] = t->exec.jobs[i].id;
		/* Its owner may name it by that. */
		if (t->array)
			ids[n++] = t->array;
	}
	if (a->protected && n == a->nprotected && !memcmp(ids, a->protected, n * sizeof(*ids))) {
		free(ids);
		return;
	}
	auc_site_protect(ids, n, NULL);
	free(a->protected);
	a->protected = ids;
	a->nprotected = n;
}

void auc_agent_drop_finished(struct auc_agent *a)
{
	struct auc_task **at, *t;

	for (at = &a->tasks.list; (t = *at);) {
		bool left = t->exec.booked != AUC_SALE_SETTLED || !t->looked;

		for (unsigned i = 0; i < t->exec.nparts && !left; i++)
			left = t->exec.jobs[i].id && (auc_job_change_out(a, t->exec.jobs[i].id) ||
						      (t->exec.jobs[i].seen != AUC_SEEN_GONE &&
						       t->exec.jobs[i].seen != AUC_SEEN_ENDED));
		if (left)
			at = &t->next;
		else
			auc_tasks_remove(&a->tasks, at);
	}
}

static struct auc_look_pace_signs signs_of(const struct auc_agent *a, double now)
{
	struct auc_look_pace_signs s = {.jobs = auc_rpc_changed(AUC_STAMP_JOBS),
					.nodes = auc_rpc_changed(AUC_STAMP_NODES),
					.all = now >= a->next_records};

	for (const struct auc_task *t = a->calm ? NULL : a->tasks.list; t; t = t->next) {
		s.near |= auc_look_near(a, t, now);
		s.trouble |= auc_look_trouble(a, t, now);
	}
	return s;
}

/* Counts, by owner, the jobs that a look of KIND is at. False: no memory. */
static bool count_wanted(struct auc_agent *a, enum auc_look kind, double now)
{
	for (unsigned i = 0; i < a->nowners; i++) {
		a->owners[i].wanted = 0;
		a->owners[i].whole = false;
	}
	for (const struct auc_task *t = a->tasks.list; t; t = t->next) {
		struct auc_owner_jobs *o;

		if (!is_wanted(a, t, kind, now))
			continue;
		o = owner(a, t->uid);
		if (!o)
			return false;
		o->whole |= t->whole || !t->exec.jobs[0].id;
		for (unsigned i = 0; i < t->exec.nparts; i++)
			o->wanted += t->exec.jobs[i].id && (!i || !t->parts[i].lead);
	}
	return true;
}

static bool is_wanted(const struct auc_agent *a, const struct auc_task *t, enum auc_look kind,
		      double now)
{
	if (kind >= AUC_LOOK_LIVE || auc_look_near(a, t, now))
		return true;
	return kind == AUC_LOOK_RUNNING &&
	       ((t->exec.state != AUC_EXEC_LIEN && t->exec.state != AUC_EXEC_WAITING) ||
		auc_look_trouble(a, t, now));
}

/* NULL: no memory. */
static struct auc_owner_jobs *owner(struct auc_agent *a, uint32_t uid)
{
	for (unsigned i = 0; i < a->nowners; i++)
		if (a->owners[i].uid == uid)
			return &a->owners[i];
	if (a->nowners == a->owners_alloc) {
		unsigned n = a->owners_alloc ? 2 * a->owners_alloc : 8;
		struct auc_owner_jobs *grown = realloc(a->owners, n * sizeof(*grown));

		if (!grown)
			return NULL;
		a->owners = grown;
		a->owners_alloc = n;
	}
	a->owners[a->nowners] = (struct auc_owner_jobs){.uid = uid};
	return &a->owners[a->nowners++];
}

static bool best_as_list(const struct auc_agent *a, const struct auc_owner_jobs *o)
{
	return o->whole || auc_look_pace_cost_single(o->wanted) >
				   auc_look_pace_cost_list(o->records, a->records);
}

static bool best_all(const struct auc_agent *a)
{
	double cost = 0;

	for (unsigned i = 0; i < a->nowners; i++) {
		const struct auc_owner_jobs *o = &a->owners[i];

		cost += best_as_list(a, o) ? auc_look_pace_cost_list(o->records, a->records)
					   : auc_look_pace_cost_single(o->wanted);
	}
	return cost > auc_look_pace_cost_list(a->records, a->records);
}

static enum auc_code load_all(struct auc_agent *a, struct auc_err *err)
{
	job_info_msg_t *jobs;
	enum auc_code code = auc_rpc_load_jobs(&jobs, err);

	if (!code)
		code = keep(a, jobs, err);
	if (code)
		return code;
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		t->looked = true;
	count_records(a);
	a->all = true;
	return AUC_OK;
}

static enum auc_code load_wanted(struct auc_agent *a, enum auc_look kind, double now,
				 struct auc_err *err)
{
	enum auc_code code = AUC_OK;
	struct auc_task *t;

	if (!count_wanted(a, kind, now))
		return auc_err_set(err, AUC_ENOMEM, "out of memory for the owners of sales");
	if (best_all(a))
		return load_all(a, err);
	for (unsigned i = 0; i < a->nowners && !code; i++) {
		struct auc_owner_jobs *o = &a->owners[i];
		job_info_msg_t *jobs;

		if ((!o->wanted && !o->whole) || !best_as_list(a, o))
			continue;
		code = auc_rpc_load_user_jobs(o->uid, &jobs, err);
		if (!code)
			code = keep(a, jobs, err);
		if (code)
			return code;
		o->records = jobs->record_count;
		for (t = a->tasks.list; t; t = t->next)
			t->looked |= t->uid == o->uid;
	}
	for (t = a->tasks.list; t && !code; t = t->next)
		if (!t->looked && is_wanted(a, t, kind, now))
			code = load_task(a, t, err);
	return code;
}

/* The jobs of T one by one. */
static enum auc_code load_task(struct auc_agent *a, struct auc_task *t, struct auc_err *err)
{
	for (unsigned i = 0; i < t->exec.nparts; i++) {
		job_info_msg_t *jobs;
		enum auc_code code;

		if (!t->exec.jobs[i].id || (i && t->parts[i].lead))
			continue;
		code = auc_rpc_load_job(t->exec.jobs[i].id, &jobs, err);
		if (!code)
			code = keep(a, jobs, err);
		if (code && code != AUC_ENOENT)
			return code;
	}
	t->looked = true;
	return AUC_OK;
}

/* Owns JOBS. */
static enum auc_code keep(struct auc_agent *a, job_info_msg_t *jobs, struct auc_err *err)
{
	if (a->nloaded == a->loaded_alloc) {
		unsigned n = a->loaded_alloc ? 2 * a->loaded_alloc : 16;
		job_info_msg_t **grown = realloc(a->loaded, n * sizeof(job_info_msg_t *));

		if (!grown) {
			auc_rpc_free_jobs(jobs);
			return auc_err_set(err, AUC_ENOMEM, "out of memory for lists of jobs");
		}
		a->loaded = grown;
		a->loaded_alloc = n;
	}
	a->loaded[a->nloaded++] = jobs;
	return AUC_OK;
}

/* How many jobs each owner has, and all together. Owners without sales are forgotten. */
static void count_records(struct auc_agent *a)
{
	const job_info_msg_t *jobs = a->loaded[0];
	unsigned n = 0;

	a->nowners = 0;
	a->records = jobs->record_count;
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		if (!owner(a, t->uid))
			return;
	for (uint32_t i = 0; i < jobs->record_count && a->nowners; i++) {
		/* Jobs of a user are often next to each other. */
		for (unsigned k = 0;
		     k < a->nowners && a->owners[n].uid != jobs->job_array[i].user_id; k++)
			n = (n + 1) % a->nowners;
		a->owners[n].records += a->owners[n].uid == jobs->job_array[i].user_id;
	}
}

/* Its jobs have been loaded, and are about to be seen. */
static void begin(struct auc_task *t, double now)
{
	auc_task_look(t);
	t->looked_at = now;
	t->whole = false;
	if (t->exec.state == AUC_EXEC_LIEN) {
		t->seek = t->seek > 0 ? 2 * t->seek : SEEK;
		t->seek_next = now + (t->seek < SEEK_MAX ? t->seek : SEEK_MAX);
	}
}

/* Finds out which sale, if any, a record belongs to. */
static void see(struct auc_agent *a, const slurm_job_info_t *info, double now)
{
	const struct auc_task_ref *ref;
	uint32_t block = auc_block_entered(info);
	struct auc_receipt r;
	struct auc_err err;

	if (block)
		auc_block_see(a, info, block);
	if (block)
		return;
	ref = auc_tasks_find_job(&a->tasks, AUC_INFO_JOB_ID(info));
	if (!info->admin_comment || !auc_receipt_is(info->admin_comment)) {
		if (ref)
			see_without(a, ref, info, now);
		else
			see_nameless(a, info, now);
		return;
	}
	if (auc_receipt_says(info->admin_comment, "waiting") ||
	    auc_receipt_says(info->admin_comment, "unsold")) {
		/* One that has been sold gets the sale's receipt once it is placed. A record of
		 * several tasks is from before they were split off, and the sale's job is gone. */
		if (!ref || has_tasks(info))
			auc_stand_see(a, info, now);
		else if (!ref->part && ref->task->uid == info->user_id)
			auc_task_see(ref->task, 0, info, now);
		return;
	}
	/* After a restart a job id alone is no proof: Slurm's state may have been wiped and its
	 * numbers begun again. */
	if (ref && (ref->task->known || ref->part)) {
		auc_task_see(ref->task, ref->part, info, now);
		if (ref->part && ref->task->uid == info->user_id)
			mend_member(a, ref->task, info);
		return;
	}
	if (!ref)
		auc_orphans_see_record(a, info);
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
	else
		see_settled(a, info, &r, now);
	auc_receipt_clear(&r);
}

/* An administrator has written over the receipt of a job that had it. It is as it was sold, and
 * gets its receipt again. */
static void see_without(struct auc_agent *a, const struct auc_task_ref *ref,
			const slurm_job_info_t *info, double now)
{
	struct auc_task *t = ref->task;

	if (!t->shown || t->uid != info->user_id)
		return;
	auc_task_see(t, ref->part, info, now);
	if (ref->part)
		mend_member(a, t, info);
	else if (!auc_job_finished(info))
		t->known = false;
}

/*
 * Likewise of INFO, a member of T. A slurmctld that starts knows members by their receipts alone:
 * another job would be submitted, and this one would run beside it.
 */
static void mend_member(struct auc_agent *a, const struct auc_task *t, const slurm_job_info_t *info)
{
	const char *text = info->admin_comment ? info->admin_comment : "";
	char *receipt;

	if (auc_job_finished(info) || AUC_INFO_JOB_ID(info) == t->exec.jobs[0].id ||
	    (auc_receipt_is(text) && auc_receipt_says(text, "member") && strstr(text, t->sale)))
		return;
	receipt = auc_receipt_print_member(t->sale, t->exec.jobs[0].id);
	if (receipt)
		auc_job_change_put(a, AUC_JOB_CHANGE_RECEIPT, AUC_INFO_JOB_ID(info), NULL, NULL,
				   receipt, NULL);
	free(receipt);
}

/* More than one, which are not jobs of their own yet. */
static bool has_tasks(const slurm_job_info_t *info)
{
	uint32_t *ids = NULL;
	unsigned n = 0;

	if (!info->array_task_str || !*info->array_task_str)
		return false;
	free(auc_job_names_tasks(info, &ids, &n));
	free(ids);
	return n > 1;
}

static bool has_lien(const struct auc_agent *a, uint32_t uid)
{
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->exec.booked == AUC_SALE_LIEN && t->uid == uid)
			return true;
	return false;
}

/*
 * INFO has no receipt, and no part has it. After a restart this may be a member whose receipt was
 * overwritten just before; its name tells which lead it belongs to (auc_rpc_submit_member()).
 */
static void see_nameless(struct auc_agent *a, const slurm_job_info_t *info, double now)
{
	const struct auc_task_ref *lead;
	unsigned id;
	int end = 0;

	if (!info->name || auc_job_finished(info) ||
	    sscanf(info->name, "auction-%u-%n", &id, &end) != 1 || !end)
		return;
	lead = auc_tasks_find_job(&a->tasks, id);
	if (lead && !lead->part && take_member(lead->task, info, now))
		mend_member(a, lead->task, info);
}

/* A member that no part has yet: submitted before a restart, or for a plan that has changed. */
static void see_member(struct auc_agent *a, const slurm_job_info_t *info,
		       const struct auc_receipt *r, double now)
{
	struct auc_task *t = auc_tasks_find(&a->tasks, r->sale);

	if (auc_job_finished(info) ||
	    (t && t->exec.jobs[0].id == r->lead && take_member(t, info, now)))
		return;
	auc_agent_say(a,
		      "job %u is a member of sale %s, which does not need it; "
		      "cancelled",
		      AUC_INFO_JOB_ID(info), r->sale);
	auc_act_kill_stray(a, info, NULL);
	auc_look_want_all(a, now + STRAYS);
}

/* Gives T's first part that INFO fits and that has no job INFO; false: there is none. */
static bool take_member(struct auc_task *t, const slurm_job_info_t *info, double now)
{
	bool waits = auc_job_pending(info);
	double begin = (double)(waits ? info->eligible_time : info->start_time);
	struct auc_slice slice;

	if (t->exec.booked == AUC_SALE_SETTLED || t->uid != info->user_id)
		return false;
	for (unsigned i = 1; i < t->exec.nparts; i++) {
		const struct auc_part *p = &t->parts[i];

		/* The same share may come back after a pause; one that was put off may begin within
		 * the slot before. */
		if (p->lead || t->exec.jobs[i].id || p->end <= now ||
		    begin < p->start - (waits ? 1 : t->exec.slot) || begin >= p->end ||
		    auc_slice_of(p, p->start, p->end, &slice, NULL) ||
		    !auc_slice_fits(&slice, info))
			continue;
		t->exec.jobs[i].id = AUC_INFO_JOB_ID(info);
		auc_task_see(t, i, info, now);
		return true;
	}
	return false;
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
			auc_agent_say(a,
				      "job %u shows the receipt of sale %s, which is "
				      "job %u; cancelled",
				      id, r->sale, t->exec.jobs[0].id);
			/* It is none that anything is paid for. */
			settled = auc_receipt_void(info->admin_comment, AUC_WHY_VOID);
			auc_act_kill_stray(a, info, settled);
			auc_look_want_all(a, now + STRAYS);
			free(settled);
		}
		return;
	}
	settled = auc_receipts_settled(r->sale);
	if (settled && !auc_job_finished(info)) {
		auc_agent_say(a, "job %u came back from before its settlement; cancelled", id);
		auc_receipts_recheck(r->sale);
		auc_act_kill_stray(a, info, settled);
		auc_look_want_all(a, now + STRAYS);
	} else if (!settled) {
		adopt(a, info, r, now);
	}
	free(settled);
}

/*
 * What is settled has ended. A job that shows that it is and has not came back from before, got its
 * last receipt and was held; or somebody requeued it.
 */
static void see_settled(struct auc_agent *a, const slurm_job_info_t *info,
			const struct auc_receipt *r, double now)
{
	if (auc_job_finished(info))
		return;
	auc_agent_say(a, "job %u is in the queue after its settlement; cancelled",
		      AUC_INFO_JOB_ID(info));
	auc_receipts_recheck(r->sale);
	auc_act_kill_stray(a, info, NULL);
	auc_look_want_all(a, now + STRAYS);
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
		auc_err_prefix(&err,
			       "job %u: sale %s is not in the spool and cannot be sold "
			       "again as it stood",
			       id, r->sale);
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		void_receipt(a, info, AUC_WHY_VOID);
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
	/* From when its lien lapsed until now its owner could change it. */
	if (!strcmp(r->state, "lien"))
		auc_book_check(a, t);
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
	if (!auc_job_finished(info))
		auc_act_kill_stray(a, info, text);
	free(text);
}
