/*
 * book.c - the ledger's side of a sale: what its machine (exec.h) says is booked, and made durable
 * before anything is asked of Slurm. A settlement's receipt is on disk before the settlement is.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "sched/auction/agent-private.h"
#include "sched/auction/block/block.h"
#include "adapter/desc.h"
#include "ledger/why.h"
#include "policy/registry.h"
#include "sched/auction/power.h"
#include "sched/output/admin_files.h"
#include "sched/output/mail.h"
#include "sched/output/receipts.h"
#include "sched/auction/slurm_rules.h"
#include "adapter/site.h"

static bool take_view(struct auc_agent *a, const struct auc_sale_view *view);
static bool take_revised(struct auc_agent *a, struct auc_task *t);
static bool take_plan(struct auc_agent *a, struct auc_task *t);
static bool array_lives(void *arg, uint32_t array);
static void confirm(struct auc_agent *a, struct auc_task *t, double now);
static bool takes_nodes(enum auc_exec_book book);
static bool was_changed(struct auc_agent *a, const struct auc_task *t);
static void know_own(struct auc_task *t, double now);
static void know_lead(struct auc_agent *a, struct auc_task *t);
static void start(struct auc_agent *a, struct auc_task *t, double now);
static bool change(struct auc_agent *a, struct auc_task *t, const struct auc_exec_booking *booking,
		   double now);
static void blame(struct auc_agent *a, struct auc_task *t, const struct auc_part *p, double now);
static bool holds(const struct auc_agent *a, const slurm_job_info_t *info, double now);
static bool node_of(const struct auc_part *p, const char *nodes, char name[AUC_NAME_MAX]);
static unsigned count_offence(struct auc_agent *a, uint32_t uid);
static double when_of(const struct auc_task *t, double when);
static const char *why_of(const struct auc_task *t, const char *why);
static void settle(struct auc_agent *a, struct auc_task *t, const struct auc_exec_booking *booking);
static void new_receipt(struct auc_task *t, char *receipt);

bool auc_book_sync(struct auc_agent *a)
{
	double began = auc_site_elapsed();
	uint64_t edition = auc_auction_edition(a->auction);
	struct auc_sale_view *views;
	struct auc_task **at, *t;
	struct auc_totals totals;
	struct auc_err err;
	bool good = true;
	unsigned n;

	if (edition && edition == a->edition) {
		a->listed_at = began;
		return true;
	}
	a->edition = 0;
	if (auc_auction_sales(a->auction, &views, &n, &err)) {
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		return false;
	}
	for (t = a->tasks.list; t; t = t->next)
		t->listed = false;
	for (unsigned i = 0; i < n; i++) {
		good &= take_view(a, &views[i]);
		auc_sale_view_clear(&views[i]);
	}
	free(views);
	for (at = &a->tasks.list; (t = *at);) {
		if (!t->listed && t->exec.booked == AUC_SALE_LIEN) {
			auc_tasks_remove(&a->tasks, at);
			continue;
		}
		if (!t->listed)
			t->exec.booked = AUC_SALE_SETTLED;
		at = &t->next;
	}
	/* A lien can lapse while its job's record is on the way, or before it was seen at all: look
	 * at all records soon, but not in a storm of dry runs. */
	auc_auction_totals(a->auction, &totals);
	if (totals.lapsed != a->lapsed)
		auc_look_want_all(a, auc_site_now() + 5);
	a->lapsed = totals.lapsed;
	if (good) {
		a->edition = edition;
		a->listed_at = began;
	}
	return true;
}

void auc_book_step(struct auc_agent *a, struct auc_task *t, double now)
{
	const char *why = t->exec.why;
	struct auc_exec_booking b;

	if (!t->looked)
		return;
	if (t->lead && t->exec.booked != AUC_SALE_LIEN && !t->known)
		know_lead(a, t);
	know_own(t, now);
	b = auc_exec_step(&t->exec, &a->rules, now);
	if (takes_nodes(b.book)) {
		auc_agent_see_nodes(a, t, now);
		b = auc_exec_step(&t->exec, &a->rules, now);
	}
	switch (b.book) {
	case AUC_BOOK_NOTHING:
		break;
	case AUC_BOOK_CONFIRM:
		confirm(a, t, now);
		break;
	case AUC_BOOK_START:
		start(a, t, now);
		break;
	case AUC_BOOK_EXTEND:
	case AUC_BOOK_GO_ON:
	case AUC_BOOK_MOVE:
	case AUC_BOOK_PUT_OFF:
		if (!change(a, t, &b, now))
			auc_exec_refused(&t->exec, &b, &a->rules, now);
		break;
	case AUC_BOOK_SETTLE:
		if (b.why && !strcmp(b.why, AUC_WHY_LOST))
			auc_agent_say(a, "sale %s: job %u is gone from Slurm", t->sale,
				      t->exec.jobs[0].id);
		settle(a, t, &b);
		break;
	}
	if (t->exec.why && t->exec.why != why)
		slurm_info("sched/auction: job %u is ended: %s", t->exec.jobs[0].id, t->exec.why);
}

/* True if T cannot go on for what its owner may change himself: a coordinator lowers the limits of
 * his own account, or takes himself out of it. */
static bool bars_himself(struct auc_task *t, const struct auc_exec_job *lead)
{
	uint32_t reason = t->lead ? t->lead->state_reason : 0;

	if (!lead->why || strcmp(lead->why, AUC_WHY_BARRED) ||
	    (reason != WAIT_ASSOC_MAX_WALL_PER_JOB && reason != WAIT_ACCOUNT &&
	     reason != WAIT_QOS && reason != FAIL_ACCOUNT && reason != FAIL_QOS))
		return false;
	t->coordinates |= auc_slurm_rules_coordinates(t->uid, t->account);
	return t->coordinates;
}

/* A job that waits in its slots for a limit, or for other jobs, as its owner wants it. */
static void know_own(struct auc_task *t, double now)
{
	const struct auc_exec_job *lead = &t->exec.jobs[0];
	bool waits = lead->seen == AUC_SEEN_PENDING;

	if (waits && now >= t->exec.start && lead->why && !strcmp(lead->why, AUC_WHY_LIMIT))
		t->own = AUC_WHY_LIMIT;
	else if (waits && now >= t->exec.start && lead->why && !strcmp(lead->why, AUC_WHY_OWN_JOB))
		t->own = AUC_WHY_OWN_JOB;
	else if (bars_himself(t, lead))
		t->own = AUC_WHY_LIMIT;
	else if (waits && t->exec.after > 0)
		t->own = NULL;
	else if (lead->seen == AUC_SEEN_RUNNING && t->own && !strcmp(t->own, AUC_WHY_LIMIT))
		t->own = NULL;
}

void auc_book_revise(struct auc_agent *a, double now)
{
	struct auc_err err;
	unsigned changed;

	if (auc_auction_revise(a->auction, now, auc_power_lead(a),
			       slurm_conf.accounting_storage_enforce & AUC_ENFORCE_LIMITS, &changed,
			       &err))
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
	if (!changed)
		return;
	slurm_info("sched/auction: %u plan%s revised", changed, auc_plural(changed));
	a->changed = true;
	/* What is asked from here on is what the new plans say. */
	auc_book_sync(a);
}

/* Refill= and Return=. */
static void give_allowances(struct auc_agent *a)
{
	struct auc_err err;
	unsigned made;

	/* Not yet open is no error. */
	if (auc_auction_allowances(a->auction, auc_site_now(), &made, &err) &&
	    err.code != AUC_ESTATE)
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
	if (!made)
		return;
	slurm_info("sched/auction: %u transfer%s of Refill and Return", made, auc_plural(made));
	a->changed = true;
}

/* True if a task of ARRAY waits or has a sale. */
static bool array_lives(void *arg, uint32_t array)
{
	const struct auc_agent *a = arg;

	if (auc_array_has(a, array))
		return true;
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->array == array && t->exec.booked != AUC_SALE_SETTLED)
			return true;
	return false;
}

void auc_book_commit(struct auc_agent *a)
{
	struct auc_err err;
	enum auc_code code = auc_receipts_save(&err);

	if (auc_admin_look(a->dir, a->auction, auc_site_now()))
		a->changed = true;
	give_allowances(a);
	auc_mail_arrays(array_lives, a, auc_site_now());
	/* Nothing is written before they are, so nothing more is sold. */
	if (code)
		auc_err_prefix(&err, "final receipts cannot be saved");
	auc_auction_break(a->auction, code ? err.text : NULL);
	if (!code)
		code = auc_auction_commit(a->auction, &err);
	a->commit_ok = !code;
	if (code) {
		auc_agent_complain(a, AUC_ERROR_COMMIT, &err);
		a->unsaved = true;
		for (struct auc_task *t = a->tasks.list; t; t = t->next)
			auc_exec_wrote(&t->exec, false, auc_site_now());
		return;
	}
	if (a->unsaved)
		slurm_info("sched/auction: what was decided is on disk again");
	a->unsaved = false;
	auc_admin_committed(a->dir);
	auc_receipts_release();
	auc_mail_release();
	for (struct auc_task *t = a->calm ? NULL : a->tasks.list; t; t = t->next)
		auc_exec_wrote(&t->exec, true, auc_site_now());
}

/* One live sale, as the ledger has it now. False: it is to be taken again. */
static bool take_view(struct auc_agent *a, const struct auc_sale_view *view)
{
	struct auc_task *t = auc_tasks_find(&a->tasks, view->sale);
	struct auc_sale_view whole;
	struct auc_err err;

	if (!t) {
		/* Liens may have lapsed since. */
		if (auc_auction_sale(a->auction, view->sale, &whole, NULL))
			return false;
		t = auc_tasks_add(&a->tasks, &whole);
		auc_sale_view_clear(&whole);
		if (!t) {
			auc_err_set(&err, AUC_ENOMEM, "out of memory for a sale");
			auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
			return false;
		}
	} else if (t->revision != view->revision && !take_revised(a, t)) {
		return false;
	}
	t->listed = true;
	t->exec.booked = view->state;
	if (view->job_id)
		t->exec.jobs[0].id = view->job_id;
	return true;
}

/* The plan of T was changed by others' bids: its owner hears of it if it begins later. */
static bool take_revised(struct auc_agent *a, struct auc_task *t)
{
	double begin = t->exec.start;

	if (!take_plan(a, t))
		return false;
	/* Where plans are decided slot by slot, none is more than what is thought now. */
	if (t->exec.booked == AUC_SALE_SOLD && t->exec.start > begin &&
	    !auc_policy_find(auc_auction_conf(a->auction)->policy)->stepper)
		auc_mail_moved(&t->mail, a->auction, t->sale, "rearranged", auc_site_now());
	return true;
}

/* The plan of T has changed. */
static bool take_plan(struct auc_agent *a, struct auc_task *t)
{
	struct auc_sale_view view;
	char *receipt = NULL;
	struct auc_err err;
	bool good;

	if (auc_auction_sale(a->auction, t->sale, &view, &err)) {
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		return false;
	}
	good = !auc_task_replan(t, &view, &err);
	if (!good)
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
	auc_sale_view_clear(&view);
	/* One that is sold already keeps what it says, and this is the text of it. */
	if (good && t->exec.booked != AUC_SALE_LIEN &&
	    !auc_auction_confirm(a->auction, t->sale, t->exec.jobs[0].id, &receipt, NULL)) {
		t->exec.committed = false;
		new_receipt(t, receipt);
	}
	return good;
}

/* The lien's job exists: it is sold. */
static void confirm(struct auc_agent *a, struct auc_task *t, double now)
{
	char *receipt = NULL;
	struct auc_err err;
	enum auc_code code;

	code = auc_auction_confirm(a->auction, t->sale, t->exec.jobs[0].id, &receipt, &err);
	if (code) {
		/* Lapsed just now: the record is adopted when all records are looked at. */
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		a->next_records = 0;
		return;
	}
	a->changed = true;
	auc_slurm_rules_count(a);
	t->exec.booked = AUC_SALE_SOLD;
	t->exec.committed = false;
	t->exec.state = AUC_EXEC_SOLD;
	t->sold = now;
	new_receipt(t, receipt);
	know_lead(a, t);
	auc_mail_sold(&t->mail, a->auction, t->sale, false);
	slurm_info("sched/auction: job %u: sale %s confirmed, %u part%s", t->exec.jobs[0].id,
		   t->sale, t->exec.nparts, auc_plural(t->exec.nparts));
	auc_book_check(a, t);
}

void auc_book_check(struct auc_agent *a, struct auc_task *t)
{
	if (!was_changed(a, t))
		return;
	slurm_info("sched/auction: job %u was changed after its bid; cancelled",
		   t->exec.jobs[0].id);
	t->exec.why = AUC_WHY_CHANGED;
}

/* True if what comes of it depends on which nodes are up and nobody else's. */
static bool takes_nodes(enum auc_exec_book book)
{
	return book == AUC_BOOK_EXTEND || book == AUC_BOOK_GO_ON || book == AUC_BOOK_MOVE ||
	       book == AUC_BOOK_PUT_OFF;
}

/* Until a sale is confirmed its owner can change its job, also after the agent has looked at it in
 * this cycle. From then on job_submit/auction allows no change, so that what is loaded now is what
 * will run. A task of an array never was its owner's to change. */
static bool was_changed(struct auc_agent *a, const struct auc_task *t)
{
	const struct auc_part *p = t->parts;
	const slurm_job_info_t *job = t->lead;
	job_info_msg_t *jobs = NULL;
	struct auc_slice slice;
	struct auc_err err;
	bool changed;

	if (!t->array && auc_rpc_load_job(t->exec.jobs[0].id, &jobs, &err))
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
	else if (jobs && jobs->record_count)
		job = jobs->job_array;
	changed = !auc_job_finished(job) && (auc_slice_of(p, p->start, p->end, &slice, &err) ||
					     !auc_slice_matches(&slice, job));
	if (jobs)
		auc_rpc_free_jobs(jobs);
	return changed;
}

/* First look at a sale's job: for whom members are submitted, and whether the receipt it shows is
 * the right one. */
static void know_lead(struct auc_agent *a, struct auc_task *t)
{
	char *receipt = NULL;

	t->known = t->shown = true;
	t->gid = t->lead->group_id;
	auc_mail_take(&t->mail, t->lead);
	free(t->account);
	free(t->qos);
	free(t->host);
	t->account = t->lead->account ? strdup(t->lead->account) : NULL;
	t->qos = t->lead->qos ? strdup(t->lead->qos) : NULL;
	t->host = t->lead->alloc_node ? strdup(t->lead->alloc_node) : NULL;
	t->coordinates |= auc_slurm_rules_coordinates(t->uid, t->account);
	/* It was to be ended, and slurmctld was, too. */
	if (!t->exec.why && t->lead->priority == 0 && auc_job_pending(t->lead) &&
	    t->lead->admin_comment)
		t->exec.why = auc_receipt_ends(t->lead->admin_comment);
	if (t->receipt)
		return;
	/* After a restart: what the ledger says goes to record and database again, whatever they
	 * got before. */
	if (!auc_auction_confirm(a->auction, t->sale, t->exec.jobs[0].id, &receipt, NULL))
		new_receipt(t, receipt);
}

static void start(struct auc_agent *a, struct auc_task *t, double now)
{
	double began = t->exec.start > t->sold ? t->exec.start : t->sold;
	char *receipt = NULL;
	struct auc_err err;

	if (auc_auction_start(a->auction, t->exec.jobs[0].id, now, &receipt, &err)) {
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		return;
	}
	a->changed = true;
	/* Its plan is what it was: what is asked for that does not wait until this is on disk. */
	t->exec.booked = AUC_SALE_RUNNING;
	new_receipt(t, receipt);
	/* A start that nobody saw, while slurmctld was down, says nothing. */
	if (t->sold > 0)
		auc_series_add(&a->stats.starts, t->lead->start_time > began
							 ? (double)t->lead->start_time - began
							 : 0);
	slurm_info("sched/auction: job %u runs, seen %.2f s after its slot began",
		   t->exec.jobs[0].id, now - t->exec.start);
}

/*
 * Says whose jobs still hold P's nodes, so that what T has there cannot start, and how often it was
 * theirs; and takes note if they are all of T's own owner, who is not to gain by that.
 */
static void blame(struct auc_agent *a, struct auc_task *t, const struct auc_part *p, double now)
{
	unsigned own = 0, others = 0;
	job_info_msg_t *jobs;

	if (auc_rpc_load_jobs(&jobs, NULL))
		return;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *info = &jobs->job_array[i];
		bool ends = info->job_state & JOB_COMPLETING;
		char node[AUC_NAME_MAX], text[256];

		if (!holds(a, info, now) || !node_of(p, info->nodes, node))
			continue;
		*(info->user_id == t->uid ? &own : &others) += 1;
		/* One delay, however often it is tried to get around it. */
		snprintf(text, sizeof(text), "job %u waits: %s still %s job %u of uid %u%s",
			 t->exec.jobs[0].id, node, ends ? "ends" : "has", AUC_INFO_JOB_ID(info),
			 info->user_id, ends ? ", which left processes behind" : "");
		if (auc_retry_say(&a->said, text, auc_site_elapsed()))
			slurm_info("sched/auction: %s; of this user, delay %u since the start",
				   text, count_offence(a, info->user_id));
	}
	auc_rpc_free_jobs(jobs);
	t->own = own && !others ? AUC_WHY_OWN_JOB : NULL;
}

/* True if INFO's job has nodes that it should not have: it ends, it is of nobody's sale, or of one
 * whose slots there are over. */
static bool holds(const struct auc_agent *a, const slurm_job_info_t *info, double now)
{
	const struct auc_task_ref *ref = auc_tasks_find_job(&a->tasks, AUC_INFO_JOB_ID(info));

	if (info->job_state & JOB_COMPLETING)
		return true;
	if (auc_job_pending(info) || auc_job_finished(info))
		return false;
	return !ref || ref->task->parts[ref->part].end <= now;
}

/* The first of P's nodes that is among NODES, as Slurm writes them, into NAME. False: none. */
static bool node_of(const struct auc_part *p, const char *nodes, char name[AUC_NAME_MAX])
{
	auc_hostlist_t list = nodes && *nodes ? slurm_hostlist_create(nodes) : NULL;
	const char *at = NULL;
	bool found = false;

	while (list && !found && auc_part_next_node(p, &at, name))
		found = slurm_hostlist_find(list, name) >= 0;
	if (list)
		slurm_hostlist_destroy(list);
	return found;
}

/* How often UID's jobs have delayed others', this one among them. Where there is no room, who did
 * so least is forgotten. */
static unsigned count_offence(struct auc_agent *a, uint32_t uid)
{
	struct auc_offender *o = a->offenders;

	for (struct auc_offender *p = o; p < a->offenders + AUC_OFFENDERS_MAX; p++) {
		if (p->times && p->uid == uid)
			return ++p->times;
		if (p->times < o->times)
			o = p;
	}
	*o = (struct auc_offender){.uid = uid, .times = 1};
	return 1;
}

/* The sale gets more slots, another server instead of one that fails, or later what it missed.
 */
static bool change(struct auc_agent *a, struct auc_task *t, const struct auc_exec_booking *booking,
		   double now)
{
	static const char *const refused[] = {[AUC_BOOK_EXTEND] = "no other slot",
					      [AUC_BOOK_GO_ON] = "none elsewhere",
					      [AUC_BOOK_MOVE] = "not moved",
					      [AUC_BOOK_PUT_OFF] = "not put off"};
	const struct auc_part *p = &t->parts[booking->part];
	uint32_t id = t->exec.jobs[0].id;
	char server[AUC_NAME_MAX];
	struct auc_err err;
	enum auc_code code;

	auc_agent_bad_node(a, p, server);
	if (booking->held)
		blame(a, t, p, now);
	if (booking->book == AUC_BOOK_EXTEND) {
		code = auc_auction_extend(a->auction, id, NULL, &err);
	} else if (booking->book == AUC_BOOK_GO_ON) {
		code = auc_auction_go_on(a->auction, id, NULL, &err);
	} else if (booking->held && booking->book == AUC_BOOK_PUT_OFF && t->own) {
		/* It waits in its slots. */
		code = auc_err_set(&err, AUC_ESTATE, "its owner's own jobs are in its way");
	} else if (booking->book == AUC_BOOK_PUT_OFF) {
		code = auc_auction_put_off(a->auction, id, p->start, booking->when, NULL, &err);
	} else {
		/* What it gives before PART may run well: a node that is drained lets its jobs end.
		 */
		code = auc_auction_move(a->auction, id, server, p->start > now ? p->start : now,
					NULL, &err);
	}
	if (code) {
		auc_agent_say(a, "job %u: %s: %s", id, refused[booking->book], err.text);
		return false;
	}
	if (booking->book == AUC_BOOK_EXTEND)
		slurm_info("sched/auction: job %u: bought another slot", id);
	else if (booking->book == AUC_BOOK_GO_ON)
		slurm_info("sched/auction: job %u: is late, and bought slots elsewhere", id);
	else if (booking->book == AUC_BOOK_PUT_OFF)
		slurm_info("sched/auction: job %u: what it missed (%s) comes later or is paid back",
			   id, booking->why);
	else
		slurm_info("sched/auction: job %u: what %s was to give moves to another node", id,
			   server);
	a->changed = true;
	t->extended |= booking->book == AUC_BOOK_EXTEND || booking->book == AUC_BOOK_GO_ON;
	if (booking->book != AUC_BOOK_EXTEND)
		auc_mail_moved(&t->mail, a->auction, t->sale,
			       booking->book == AUC_BOOK_GO_ON  ? "late"
			       : booking->book == AUC_BOOK_MOVE ? AUC_WHY_NODE_FAIL
								: booking->why,
			       now);
	/* If this fails, the next look at the ledger tries it again. */
	take_plan(a, t);
	return true;
}

/*
 * Until when T has used its plan, if it ended at WHEN. It may have run before it: Slurm began it
 * just as it was put off, since it was late. That is not for nothing: it counts as so much of the
 * plan.
 */
static double when_of(const struct auc_task *t, double when)
{
	double began = t->lead ? (double)t->lead->start_time : 0;

	if (t->block || t->exec.booked != AUC_SALE_RUNNING || !(began > 0) ||
	    began >= t->exec.start || when <= began)
		return when;
	return fmax(when, fmin(t->exec.start + (when - began), t->exec.end));
}

/*
 * The cause of T's end, WHY as its machine has it. What its owner has done himself is no outage,
 * nor may he cancel for nothing what is late by that.
 */
static const char *why_of(const struct auc_task *t, const char *why)
{
	bool waited = !strcmp(why, AUC_WHY_NODE_BUSY) || !strcmp(why, AUC_WHY_NOT_STARTED) ||
		      !strcmp(why, AUC_WHY_BARRED) ||
		      (!strcmp(why, AUC_WHY_CANCELLED) && t->exec.booked != AUC_SALE_RUNNING);

	return t->own && waited ? t->own : why;
}

/* Ends a sale in the ledger; its final receipt goes out once that is committed. */
static void settle(struct auc_agent *a, struct auc_task *t, const struct auc_exec_booking *booking)
{
	const char *why = why_of(t, booking->why);
	uint32_t id = t->exec.jobs[0].id;
	char *receipt = NULL;
	struct auc_err err;

	if (t->block)
		auc_block_settle(a, t, booking->when);
	if (auc_auction_settle(a->auction, id, why, when_of(t, booking->when), &receipt, &err)) {
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		return;
	}
	slurm_info("sched/auction: job %u: sale %s settled: %s", id, t->sale, why);
	if (receipt && auc_receipts_put_final(id, t->sale, receipt, &err))
		auc_agent_complain(a, AUC_ERROR_RECEIPT, &err);
	if (t->lead)
		auc_mail_take(&t->mail, t->lead);
	auc_mail_settled(&t->mail, a->auction, receipt, booking->when);
	free(receipt);
	new_receipt(t, NULL);
	t->exec.booked = AUC_SALE_SETTLED;
	t->exec.committed = false;
	t->exec.state = AUC_EXEC_SETTLED;
	a->changed = true;
}

/* RECEIPT is to be written once the sale's state is committed. */
static void new_receipt(struct auc_task *t, char *receipt)
{
	free(t->receipt);
	t->receipt = receipt;
}
