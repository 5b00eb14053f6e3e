/* job_change.c - see job_change.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/auction/job_change.h"
#include "adapter/desc.h"
#include "sched/auction/canceller.h"
#include "sched/rpc/rpc_threads.h"
#include "sched/auction/fence.h"
#include "sched/auction/start/orphans.h"
#include "sched/output/accounting.h"

#define THREADS       8 /* so many jobs may keep their askers waiting before others do, too */
#define BESIDE        (1ULL << 32) /* in a key, with the job's number: what others need not wait for */
#define TASK          33           /* from that bit on, a task of it and 1 */
#define RECEIPT_AGAIN 30.0         /* seconds before one that could not be written is tried again */

struct change {
	struct auc_rpc_task errand;
	enum auc_job_change what;
	char sale[AUC_SALE_ID_LEN];
	struct auc_slice slice; /* its names: */
	char partition[AUC_NAME_MAX];
	const slurm_job_info_t *array; /* whose task */
	uint32_t task;                 /* becomes a job of its own */
	time_t start;                  /* of the run that the accounting is asked for, */
	uint32_t uid;                  /* and its answer */
	enum auc_forgotten forgotten;  /* what slurmd has of a job that slurmctld forgot */
	char text[];                   /* and behind it the slice's node */
};

static struct change *change_new(enum auc_job_change what, uint32_t job, const char *sale,
				 const struct auc_slice *slice, const char *text);
static enum auc_code run(struct auc_rpc_task *e);
static void undo(struct auc_rpc_task *e);
static void done(struct auc_agent *a, const struct change *c);
static void receipt_done(struct auc_agent *a, const struct change *c, double now);

enum auc_code auc_job_change_start(struct auc_agent *a, struct auc_err *err)
{
	if (!a->changes)
		a->changes = auc_rpc_threads_start(THREADS, "auction_change", err);
	/* So that they do not keep others waiting. */
	if (a->changes && !a->writes)
		a->writes = auc_rpc_threads_start(1, "auction_writer", err);
	return a->changes && a->writes ? AUC_OK : AUC_EIO;
}

bool auc_job_change_stop(struct auc_agent *a, const struct timespec *until)
{
	if (!auc_rpc_threads_stop(a->changes, until))
		return false;
	a->changes = NULL;
	if (!auc_rpc_threads_stop(a->writes, until))
		return false;
	a->writes = NULL;
	return true;
}

bool auc_job_change_out(const struct auc_agent *a, uint32_t job)
{
	return auc_rpc_threads_has(a->changes, job);
}

static bool keeps(const struct auc_rpc_task *e)
{
	switch (((const struct change *)e)->what) {
	case AUC_JOB_CHANGE_HOLD:
	case AUC_JOB_CHANGE_PLACE:
	case AUC_JOB_CHANGE_RELEASE:
	case AUC_JOB_CHANGE_MOVE:
	case AUC_JOB_CHANGE_END:
	case AUC_JOB_CHANGE_BAR:
		return true;
	default:
		return false;
	}
}

bool auc_job_change_keeps_any(const struct auc_agent *a)
{
	return auc_rpc_threads_any(a->changes, keeps);
}

enum auc_code auc_job_change_put(struct auc_agent *a, enum auc_job_change what, uint32_t job,
				 const char *sale, const struct auc_slice *slice, const char *text,
				 struct auc_err *err)
{
	struct auc_rpc_threads *q = what == AUC_JOB_CHANGE_RECEIPT ? a->writes : a->changes;
	struct change *c = change_new(what, job, sale, slice, text);

	if (!c)
		return auc_err_set(err, AUC_ENOMEM, "no memory to change job %u", job);
	if (!auc_rpc_threads_put(q, &c->errand))
		return auc_err_set(err, AUC_ESTATE, "job %u is being changed", job);
	return AUC_OK;
}

enum auc_code auc_job_change_ask(struct auc_agent *a, uint32_t job, const char *sale, time_t start,
				 struct auc_err *err)
{
	struct change *c = change_new(AUC_JOB_CHANGE_ASK, job, sale, NULL, NULL);

	if (!c)
		return auc_err_set(err, AUC_ENOMEM, "no memory to ask for job %u", job);
	c->start = start;
	if (!auc_rpc_threads_put(a->writes, &c->errand))
		return auc_err_set(err, AUC_ESTATE, "job %u is being asked for", job);
	return AUC_OK;
}

enum auc_code auc_job_change_split(struct auc_agent *a, const slurm_job_info_t *array,
				   uint32_t task, const char *sale, const struct auc_slice *slice,
				   const char *receipt, struct auc_err *err)
{
	uint32_t job = AUC_INFO_JOB_ID(array);
	struct change *c = change_new(AUC_JOB_CHANGE_SPLIT, job, sale, slice, receipt);

	if (!c)
		return auc_err_set(err, AUC_ENOMEM, "no memory to split job %u", job);
	c->errand.key |= ((uint64_t)task + 1) << TASK;
	c->errand.undo = NULL;
	c->array = array;
	c->task = task;
	if (!auc_rpc_threads_put(a->changes, &c->errand))
		return auc_err_set(err, AUC_ESTATE, "task %u of job %u is being split off", task,
				   job);
	return AUC_OK;
}

void auc_job_change_overtake(struct auc_agent *a, uint32_t job)
{
	auc_rpc_threads_overtake(a->changes, job);
}

void auc_job_change_done(struct auc_agent *a, double now)
{
	struct auc_rpc_task *e;

	while ((e = auc_rpc_threads_take(a->changes))) {
		a->calm_until = 0;
		done(a, (struct change *)e);
		free(e);
	}
	while ((e = auc_rpc_threads_take(a->writes))) {
		a->calm_until = 0;
		receipt_done(a, (struct change *)e, now);
		free(e);
	}
}

static struct change *change_new(enum auc_job_change what, uint32_t job, const char *sale,
				 const struct auc_slice *slice, const char *text)
{
	size_t len = text ? strlen(text) : 0, nodes = slice ? strlen(slice->node) : 0;
	struct change *c = calloc(1, sizeof(*c) + len + 1 + nodes + 1);

	if (!c)
		return NULL;
	c->errand.key =
		what == AUC_JOB_CHANGE_RESERVE || what >= AUC_JOB_CHANGE_ASK ? job | BESIDE : job;
	c->errand.run = run;
	c->errand.undo = undo;
	c->what = what;
	snprintf(c->sale, sizeof(c->sale), "%s", sale ? sale : "");
	if (slice) {
		c->slice = *slice;
		snprintf(c->partition, sizeof(c->partition), "%s", slice->partition);
		c->slice.node = memcpy(c->text + len + 1, slice->node, nodes);
		c->slice.partition = c->partition;
	}
	if (text)
		memcpy(c->text, text, len);
	return c;
}

static enum auc_code run(struct auc_rpc_task *e)
{
	struct change *c = (struct change *)e;
	uint32_t job = (uint32_t)e->key; /* without BESIDE */

	switch (c->what) {
	case AUC_JOB_CHANGE_HOLD:
		return auc_rpc_hold(job, c->text, &e->err);
	case AUC_JOB_CHANGE_START:
		return auc_rpc_start_now(job, &e->err);
	case AUC_JOB_CHANGE_LIMIT:
		return auc_rpc_limit(job, c->slice.minutes, &e->err);
	case AUC_JOB_CHANGE_PLACE:
		return auc_rpc_place(job, &c->slice, &e->err);
	case AUC_JOB_CHANGE_RELEASE:
		return auc_rpc_release(job, &c->slice, &e->err);
	case AUC_JOB_CHANGE_MOVE:
		return auc_rpc_move(job, &c->slice, &e->err);
	case AUC_JOB_CHANGE_SPLIT:
		return auc_rpc_split(c->array, c->task, &c->slice, c->text, &e->err);
	case AUC_JOB_CHANGE_RESERVE:
		return auc_rpc_reserve(job, c->text, &e->err);
	case AUC_JOB_CHANGE_END:
		auc_rpc_set_receipt(job, c->text, NULL);
		return auc_rpc_kill(job, &e->err);
	case AUC_JOB_CHANGE_BAR:
		auc_rpc_set_receipt(job, c->text, NULL);
		return auc_rpc_hold(job, NULL, &e->err);
	case AUC_JOB_CHANGE_RECEIPT:
		return auc_rpc_set_receipt(job, c->text, &e->err);
	case AUC_JOB_CHANGE_ASK:
		return auc_accounting_canceller(job, c->start, &c->uid, &e->err);
	case AUC_JOB_CHANGE_FORGOTTEN:
		return auc_rpc_end_forgotten(job, c->text, &c->forgotten, &e->err);
	}
	return AUC_OK;
}

/* Only a kill overtakes; a move that it came into the midst of would bring the job back. */
static void undo(struct auc_rpc_task *e)
{
	auc_rpc_kill((uint32_t)e->key, NULL);
}

static void done(struct auc_agent *a, const struct change *c)
{
	static const enum auc_agent_error kinds[] = {
		[AUC_JOB_CHANGE_HOLD] = AUC_ERROR_KILL,
		[AUC_JOB_CHANGE_START] = AUC_ERROR_START,
		[AUC_JOB_CHANGE_LIMIT] = AUC_ERROR_MOVE,
		[AUC_JOB_CHANGE_PLACE] = AUC_ERROR_MOVE,
		[AUC_JOB_CHANGE_RELEASE] = AUC_ERROR_MOVE,
		[AUC_JOB_CHANGE_MOVE] = AUC_ERROR_MOVE,
		[AUC_JOB_CHANGE_SPLIT] = AUC_ERROR_MOVE,
		[AUC_JOB_CHANGE_RESERVE] = AUC_ERROR_FENCE,
		[AUC_JOB_CHANGE_END] = AUC_ERROR_KILL,
		[AUC_JOB_CHANGE_BAR] = AUC_ERROR_KILL,
		[AUC_JOB_CHANGE_RECEIPT] = AUC_ERROR_RECEIPT,
	};
	struct auc_task *t = auc_tasks_find(&a->tasks, c->sale);
	const struct auc_rpc_task *e = &c->errand;

	if (c->what == AUC_JOB_CHANGE_FORGOTTEN) {
		auc_orphans_answer(a, (uint32_t)e->key, e->code, c->forgotten);
		return;
	}
	/* What is due of it waits for a look at what it is now. */
	if (t)
		t->looked_at = 0;
	if (c->what == AUC_JOB_CHANGE_SPLIT)
		auc_array_split_done(a, (uint32_t)e->key, c->sale, !e->code);
	/* What came too late did no harm. */
	if (e->code && e->code != AUC_ESTATE) {
		auc_agent_complain(a, kinds[c->what], &e->err);
		if (t && c->what == AUC_JOB_CHANGE_MOVE)
			t->exec.stuck = true;
		if (c->what == AUC_JOB_CHANGE_RESERVE)
			auc_fence_outside(a, (uint32_t)e->key);
		return;
	}
	/* Each run of a job has a row of its own in the database: it gets the receipt again. */
	if (t && (c->what == AUC_JOB_CHANGE_PLACE || c->what == AUC_JOB_CHANGE_RELEASE ||
		  c->what == AUC_JOB_CHANGE_MOVE))
		t->known = false;
}

static void receipt_done(struct auc_agent *a, const struct change *c, double now)
{
	struct auc_task *t = auc_tasks_find(&a->tasks, c->sale);
	const struct auc_rpc_task *e = &c->errand;

	if (c->what == AUC_JOB_CHANGE_ASK) {
		if (t)
			auc_canceller_answered(t, (uint32_t)e->key, c->uid, e->code);
		return;
	}
	if (t)
		t->receipt_sent = false;
	if (e->code && e->code != AUC_ESTATE) {
		/* A change of a job without a row in the database blocks for 5 s. */
		if (t)
			t->receipt_next = now + RECEIPT_AGAIN;
		auc_agent_complain(a, AUC_ERROR_RECEIPT, &e->err);
	} else if (t && t->receipt && !strcmp(t->receipt, c->text)) {
		/* A job that has ended gets its final receipt in the database. */
		free(t->receipt);
		t->receipt = NULL;
	}
}
