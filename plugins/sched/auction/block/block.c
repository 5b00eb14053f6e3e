/* block.c - see block.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/accounts.h"
#include "adapter/desc_block.h"
#include "adapter/desc_gang.h"
#include "adapter/site.h"
#include "sched/auction/block/block.h"

#define AGAIN    1.0 /* seconds until a reservation is tried again, */
#define LOST     5.0 /* and until jobs that lost theirs are looked for again */
#define PASS_MAX 0.5 /* seconds in which jobs of one block are ended; the rest follows */

/* A reservation. */
struct block {
	struct block *next;
	uint32_t job;
	time_t start, end; /* as Slurm has them */
	char *nodes;       /* likewise */
	bool made, there;
	bool cleared; /* it is not wanted, and jobs in it were looked for */
	const struct auc_task *wanted;
	bool live; /* it is one of a sale, on disk or not */
	double next_try;
	uint32_t *told; /* jobs in it whose scripts know that it ends, as they had no steps */
	size_t ntold;
};

struct auc_blocks {
	struct block *list;
	char (*names)[AUC_NAME_MAX]; /* servers of live blocks, in order */
	unsigned nnames, alloc;
};

/* Whom a block is for, as text. */
struct users {
	const struct auc_task *task;
	char *text;
};

/* What becomes of jobs in a block. */
enum end { TOLD_STEPS, TOLD_SCRIPTS, KILLED };

static struct block *find(struct auc_agent *a, uint32_t job);
static struct block *add(struct auc_agent *a, uint32_t job);
static void forget(struct block *x);
static bool is_live(const struct auc_task *t);
static void count_missing(struct auc_agent *a, struct auc_task *t, double now);
static void book_missing(struct auc_agent *a, struct auc_task *t);
static void list_names(struct auc_agent *a);
static bool bring_about(struct auc_agent *a, struct block *x, double now);
static bool is_right(const struct block *x, const struct auc_part *p, double now);
static enum auc_code make(struct block *x, const struct auc_task *t, struct auc_err *err);
static char *users_of(const struct auc_task *t);
static void write_users(const struct auc_rules *rules, const struct auc_accounts *accounts,
			void *arg);
static enum auc_code tell_inside(struct auc_agent *a, uint32_t job, double end,
				 struct auc_err *err);
static enum auc_code end_inside(struct auc_agent *a, uint32_t job, enum end how, bool lost,
				unsigned *left, struct auc_err *err);
static void tell_one(struct block *x, uint32_t id, bool script);
static bool knows(const struct block *x, uint32_t id);
static bool note(struct block *x, uint32_t id);

void auc_block_look(struct auc_agent *a)
{
	for (struct block *x = a->blocks ? a->blocks->list : NULL; x; x = x->next)
		x->there = false;
}

bool auc_block_take(struct auc_agent *a, const reserve_info_t *r)
{
	uint32_t job = auc_block_of(r->name);
	struct block *x = job ? find(a, job) : NULL;

	if (!job)
		return false;
	x = x ? x : add(a, job);
	if (!x)
		return true;
	x->made = x->there = true;
	x->start = r->start_time;
	x->end = r->end_time;
	free(x->nodes);
	x->nodes = strdup(r->node_list ? r->node_list : "");
	return true;
}

void auc_block_looked(struct auc_agent *a)
{
	for (struct block *x = a->blocks ? a->blocks->list : NULL; x; x = x->next) {
		if (x->there || !x->made)
			continue;
		/* Somebody else has taken it away, and what waited for it is held. */
		x->made = x->cleared = false;
		x->next_try = 0;
	}
}

void auc_block_keep(struct auc_agent *a, double now)
{
	struct block **at, *x;

	for (x = a->blocks ? a->blocks->list : NULL; x; x = x->next)
		x->wanted = NULL, x->live = false;
	for (struct auc_task *t = a->tasks.list; t; t = t->next) {
		if (!t->block || !is_live(t))
			continue;
		x = find(a, t->exec.jobs[0].id);
		x = x ? x : add(a, t->exec.jobs[0].id);
		/* Nothing is asked for what is not on disk. */
		if (x && t->exec.committed)
			x->wanted = t;
		if (x)
			x->live = true;
		count_missing(a, t, now);
		if (t->missing >= t->missed + 1)
			book_missing(a, t);
	}
	list_names(a);
	for (at = a->blocks ? &a->blocks->list : NULL; at && (x = *at);) {
		if (now < x->next_try || bring_about(a, x, now)) {
			at = &x->next;
			continue;
		}
		*at = x->next;
		forget(x);
	}
	auc_block_mark(a);
}

void auc_block_mark(struct auc_agent *a)
{
	for (struct auc_task *t = a->tasks.list; t; t = t->next) {
		const struct block *x = t->block ? find(a, t->exec.jobs[0].id) : NULL;

		t->reserved = x && x->made;
		t->from = a->rules.from;
	}
}

void auc_block_settle(struct auc_agent *a, struct auc_task *t, double until)
{
	count_missing(a, t, until);
	if (t->missing > t->missed)
		book_missing(a, t);
}

enum auc_code auc_block_act(struct auc_agent *a, struct auc_task *t, enum auc_exec_ask ask,
			    struct auc_err *err)
{
	uint32_t job = t->exec.jobs[0].id;
	enum auc_code code = AUC_OK;
	unsigned left;

	/* Its reservation needs no more than the clock. */
	if (ask == AUC_ASK_NOTICE)
		code = tell_inside(a, job, t->parts[0].end, err);
	if (ask == AUC_ASK_WARN)
		code = end_inside(a, job, t->exec.jobs[0].warned ? TOLD_SCRIPTS : TOLD_STEPS, false,
				  &left, err);
	if (ask == AUC_ASK_KILL)
		code = end_inside(a, job, KILLED, false, &left, err);
	/* What is left is ended with its reservation. */
	return ask == AUC_ASK_KILL ? auc_rpc_kill(job, err) : code;
}

void auc_block_see(struct auc_agent *a, const slurm_job_info_t *info, uint32_t block)
{
	const struct auc_task_ref *ref = auc_tasks_find_job(&a->tasks, block);
	struct auc_err err;

	if (auc_job_finished(info))
		return;
	auc_block_user_add(info->user_id);
	if (ref && ref->task->block && is_live(ref->task) && auc_block_of(info->resv_name) == block)
		return;
	/* Its block may be sold again in this look. */
	if (!a->opened) {
		auc_look_want_all(a, auc_site_now() + LOST);
		return;
	}
	slurm_info("sched/auction: job %u is of block %u, which is over, or has lost its "
		   "reservation; cancelled",
		   AUC_INFO_JOB_ID(info), block);
	if (auc_rpc_kill(AUC_INFO_JOB_ID(info), &err))
		auc_agent_complain(a, AUC_ERROR_KILL, &err);
}

bool auc_block_on(const struct auc_agent *a, const char *server)
{
	const struct auc_blocks *b = a->blocks;

	return b && b->nnames &&
	       bsearch(server, b->names, b->nnames, sizeof(*b->names),
		       (int (*)(const void *, const void *))strcmp);
}

void auc_block_shift(struct auc_agent *a, double step)
{
	for (struct block *x = a->blocks ? a->blocks->list : NULL; x; x = x->next)
		x->next_try += step;
}

void auc_block_clear(struct auc_agent *a)
{
	struct block *x;

	if (!a->blocks)
		return;
	while ((x = a->blocks->list)) {
		a->blocks->list = x->next;
		forget(x);
	}
	free(a->blocks->names);
	free(a->blocks);
	a->blocks = NULL;
}

static struct block *find(struct auc_agent *a, uint32_t job)
{
	struct block *x = a->blocks ? a->blocks->list : NULL;

	while (x && x->job != job)
		x = x->next;
	return x;
}

/* NULL: no memory. */
static struct block *add(struct auc_agent *a, uint32_t job)
{
	struct block *x = NULL;

	if (!a->blocks)
		a->blocks = calloc(1, sizeof(*a->blocks));
	if (a->blocks)
		x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->job = job;
	x->next = a->blocks->list;
	a->blocks->list = x;
	return x;
}

static void forget(struct block *x)
{
	free(x->nodes);
	free(x->told);
	free(x);
}

static bool is_live(const struct auc_task *t)
{
	return t->exec.jobs[0].id &&
	       (t->exec.booked == AUC_SALE_SOLD || t->exec.booked == AUC_SALE_RUNNING);
}

/* A node that fails under a block is not replaced, but its time is not paid; nor is that in which
 * Slurm begins nothing in its partition. A node that is away for a moment, as all are after a
 * restart of slurmctld, was there. */
static void count_missing(struct auc_agent *a, struct auc_task *t, double now)
{
	bool runs = t->exec.booked == AUC_SALE_RUNNING, stopped = t->exec.stopped[0];
	double since = t->exec.down[0], from = t->missing_at;

	if (!runs || (!(since > 0) && !stopped))
		t->missing_at = now;
	if (!runs || (!stopped && (!(since > 0) || now < since + a->rules.patience)))
		return;
	/* For how long a partition was stopped while nobody looked is not known. */
	if (stopped && !(from > 0))
		from = now;
	else if (!stopped && from < since)
		from = since;
	from = from > t->parts[0].start ? from : t->parts[0].start;
	now = now < t->parts[0].end ? now : t->parts[0].end;
	if (now > from)
		t->missing += (now - from) / t->exec.slot *
			      (stopped ? t->parts[0].nnodes : auc_agent_count_down(a, t->parts));
	t->missing_at = now > from ? now : from;
}

static void book_missing(struct auc_agent *a, struct auc_task *t)
{
	struct auc_err err;

	if (auc_auction_miss(a->auction, t->exec.jobs[0].id, t->missing, &err)) {
		auc_agent_complain(a, AUC_ERROR_LEDGER, &err);
		return;
	}
	slurm_info("sched/auction: block %u: nodes of it could not be used for %.1f slots so far",
		   t->exec.jobs[0].id, t->missing);
	t->missed = t->missing;
	a->changed = true;
}

/* Without memory the old ones stay. */
static void list_names(struct auc_agent *a)
{
	struct auc_blocks *b = a->blocks;
	unsigned n = 0;

	if (!b)
		return;
	for (const struct block *x = b->list; x; x = x->next)
		n += x->wanted ? x->wanted->parts[0].nnodes : 0;
	if (n > b->alloc) {
		void *grown = realloc(b->names, n * sizeof(*b->names));

		if (!grown)
			return;
		b->names = grown;
		b->alloc = n;
	}
	b->nnames = 0;
	for (const struct block *x = b->list; x; x = x->next) {
		const char *at = NULL;

		while (x->wanted && b->nnames < n &&
		       auc_part_next_node(x->wanted->parts, &at, b->names[b->nnames]))
			b->nnames++;
	}
	qsort(b->names, b->nnames, sizeof(*b->names), (int (*)(const void *, const void *))strcmp);
}

/* Makes X what is wanted of it; false: it is gone. */
static bool bring_about(struct auc_agent *a, struct block *x, double now)
{
	const struct auc_task *t = x->wanted;
	char name[AUC_BLOCK_NAME_MAX];
	enum auc_code code = AUC_OK;
	struct auc_err err;
	unsigned left = 0;

	auc_block_name(name, x->job);
	/* Until all job records were seen once, a block that the spool has not may yet be a sale.
	 */
	if (t ? x->made && is_right(x, t->parts, now) : x->live || !a->opened)
		return true;
	x->next_try = now + AGAIN;
	if (!t) {
		code = end_inside(a, x->job, KILLED, false, &left, &err);
		if (!code && !left && x->made)
			code = auc_rpc_delete_reservation(name, &err);
		if (code && code != AUC_ENOENT && code != AUC_ESTATE)
			auc_agent_complain(a, AUC_ERROR_FENCE, &err);
		return left || (code && code != AUC_ENOENT);
	}
	if (!x->made && !x->cleared)
		code = end_inside(a, x->job, KILLED, true, &left, &err);
	x->cleared = !code && !left;
	if (!code)
		code = x->made ? auc_rpc_update_block(
					 name, t->parts[0].nodes,
					 x->start > (time_t)now ? (time_t)t->parts[0].start : 0,
					 (time_t)t->parts[0].end, &err)
			       : make(x, t, &err);
	if (code) {
		auc_agent_complain(a, AUC_ERROR_FENCE, &err);
		return true;
	}
	x->made = true;
	if (x->start > (time_t)now || !x->start)
		x->start = (time_t)t->parts[0].start;
	x->end = (time_t)t->parts[0].end;
	free(x->nodes);
	x->nodes = strdup(t->parts[0].nodes);
	x->next_try = 0;
	return true;
}

/* One that has begun keeps its begin. */
static bool is_right(const struct block *x, const struct auc_part *p, double now)
{
	return x->nodes && auc_same_nodes(x->nodes, p->nodes) && x->end == (time_t)p->end &&
	       (x->start <= (time_t)now || x->start == (time_t)p->start);
}

static enum auc_code make(struct block *x, const struct auc_task *t, struct auc_err *err)
{
	char name[AUC_BLOCK_NAME_MAX], *users = users_of(t), *others;
	const struct auc_part *p = t->parts;
	enum auc_code code;
	struct auc_err why;

	if (!users)
		return auc_err_set(err, AUC_ENOMEM, "no memory for the users of a block");
	auc_block_name(name, x->job);
	code = auc_rpc_create_block(name, p->nodes, users, (time_t)p->start, (time_t)p->end, err);
	/* There was one before slurmctld was started. */
	if (code == AUC_EEXIST)
		code = AUC_OK;
	/* Its owner first, whom Slurm knows, then each of the others whom it does. */
	others = strchr(users, ',');
	if (code == AUC_EINVAL && others) {
		*others++ = '\0';
		code = auc_rpc_create_block(name, p->nodes, users, (time_t)p->start, (time_t)p->end,
					    err);
		for (char *one; !code && (one = strsep(&others, ","));)
			if (auc_rpc_let_into_block(name, one, &why))
				slurm_error("sched/auction: block %u is not for user %s: %s",
					    x->job, one, why.text);
	}
	free(users);
	if (!code)
		slurm_info("sched/auction: block %u: reservation %s of %s", x->job, name, p->nodes);
	return code;
}

/* "2001,2002": with those of the accounts that T names, who Slurm would ask to use them for each
 * job; malloc'd, NULL: no memory. */
static char *users_of(const struct auc_task *t)
{
	struct users u = {.task = t};

	auc_site_with_rules(write_users, &u);
	return u.text;
}

static void write_users(const struct auc_rules *rules, const struct auc_accounts *accounts,
			void *arg)
{
	struct users *u = arg;
	const char *p = u->task->block_users;
	char account[AUC_NAME_MAX];
	size_t size;
	FILE *out = open_memstream(&u->text, &size);

	(void)rules;
	if (!out)
		return;
	fprintf(out, "%u", u->task->uid);
	for (size_t n; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		if (*p != '@') {
			fprintf(out, ",%.*s", (int)n, p);
			continue;
		}
		snprintf(account, sizeof(account), "%.*s", (int)n - 1, p + 1);
		auc_accounts_print_members(accounts, account, out);
	}
	if (fclose(out)) {
		free(u->text);
		u->text = NULL;
	}
}

/*
 * The steps of jobs of the block JOB get SIGTERM, or their scripts do, or they are ended; LOST:
 * those that are not in its reservation any more. *LEFT: how many there were no time for.
 */
static enum auc_code end_inside(struct auc_agent *a, uint32_t job, enum end how, bool lost,
				unsigned *left, struct auc_err *err)
{
	double until = auc_site_now() + PASS_MAX;
	job_info_msg_t *jobs;
	enum auc_code code = auc_rpc_load_jobs(&jobs, err);

	*left = 0;
	if (code)
		return code;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *info = &jobs->job_array[i];
		uint32_t id = AUC_INFO_JOB_ID(info);
		struct auc_err why;

		if (auc_job_finished(info) || auc_block_entered(info) != job ||
		    (lost && auc_block_of(info->resv_name) == job))
			continue;
		if (auc_site_now() > until)
			++*left;
		else if (how != KILLED)
			tell_one(find(a, job), id, how == TOLD_SCRIPTS);
		else if (auc_rpc_kill(id, &why))
			auc_agent_complain(a, AUC_ERROR_KILL, &why);
		else
			slurm_info("sched/auction: job %u ends with block %u", id, job);
	}
	auc_rpc_free_jobs(jobs);
	return AUC_OK;
}

/* The steps of the job ID in X get SIGTERM, or its script does, which is told once: at once if it
 * runs no step. */
static void tell_one(struct block *x, uint32_t id, bool script)
{
	if (knows(x, id))
		return;
	if (!script && x && auc_rpc_stepless(id))
		script = note(x, id);
	auc_rpc_warn(id, script, NULL);
}

static bool knows(const struct block *x, uint32_t id)
{
	for (size_t i = 0; x && i < x->ntold; i++)
		if (x->told[i] == id)
			return true;
	return false;
}

/* False without memory. */
static bool note(struct block *x, uint32_t id)
{
	uint32_t *told = realloc(x->told, (x->ntold + 1) * sizeof(*told));

	if (!told)
		return false;
	told[x->ntold++] = id;
	x->told = told;
	return true;
}

/* Those in the block JOB that END cuts off, and whose scripts handle it, get their notice. */
static enum auc_code tell_inside(struct auc_agent *a, uint32_t job, double end, struct auc_err *err)
{
	int sig = auc_conf_change_signal(auc_auction_conf(a->auction));
	double until = auc_site_now() + PASS_MAX;
	job_info_msg_t *jobs;
	enum auc_code code = sig ? auc_rpc_load_jobs(&jobs, err) : AUC_OK;

	if (code || !sig)
		return code;
	for (uint32_t i = 0; i < jobs->record_count && auc_site_now() < until; i++) {
		const slurm_job_info_t *info = &jobs->job_array[i];
		uint32_t id = AUC_INFO_JOB_ID(info);

		if ((info->job_state & JOB_STATE_BASE) != JOB_RUNNING ||
		    auc_block_of(info->resv_name) != job || !auc_block_told(info) ||
		    (double)info->end_time < end)
			continue;
		slurm_info("sched/auction: job %u is told that its block %u ends", id, job);
		auc_rpc_signal(id, sig, NULL);
	}
	auc_rpc_free_jobs(jobs);
	return AUC_OK;
}
