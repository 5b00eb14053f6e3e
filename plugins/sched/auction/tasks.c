/* tasks.c - see tasks.h. */
#include "config.h"

#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "adapter/desc.h"
#include "adapter/desc_gang.h"
#include "adapter/after/names.h"
#include "ledger/why.h"
#include "sched/auction/tasks.h"

#define LAUNCH 60 /* seconds that a launch may take until it fails: prologs */

static bool at_limit(uint32_t reason);
static int by_sale(const void *a, const void *b);
static int by_job(const void *a, const void *b);
static void task_free(struct auc_task *t);
static unsigned count_members(const struct auc_task *t);
static int part_of(const struct auc_task *t, const slurm_job_info_t *info, double now);
static void see_block(struct auc_task *t, struct auc_exec_job *j, const slurm_job_info_t *info,
		      double now);
static bool may_be_unlaunched(const slurm_job_info_t *info);
static void see_cancelled(struct auc_task *t, struct auc_exec_job *j, const slurm_job_info_t *info);
static bool was_requeued_by_exit(const slurm_job_info_t *info);
static bool is_listed(const char *list, unsigned long n);
static const char *why_waiting(uint32_t reason);
static const char *why_state(const slurm_job_info_t *info);

/* RequeueExit and RequeueExitHold: slurmctld frees its own when it reads slurm.conf again. */
static struct {
	pthread_mutex_t lock;
	char lists[2][1024];
} exits = {.lock = PTHREAD_MUTEX_INITIALIZER};

void auc_tasks_read_slurm_conf(void)
{
	const char *lists[] = {slurm_conf.requeue_exit, slurm_conf.requeue_exit_hold};

	pthread_mutex_lock(&exits.lock);
	for (unsigned i = 0; i < 2; i++)
		snprintf(exits.lists[i], sizeof(exits.lists[i]), "%s", lists[i] ? lists[i] : "");
	pthread_mutex_unlock(&exits.lock);
}

struct auc_task *auc_tasks_add(struct auc_tasks *tasks, struct auc_sale_view *view)
{
	struct auc_task *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	memcpy(t->sale, view->sale, sizeof(t->sale));
	if (auc_task_replan(t, view, NULL) || !tsearch(t, &tasks->by_sale, by_sale)) {
		task_free(t);
		return NULL;
	}
	t->uid = view->uid;
	t->exec.booked = view->state;
	t->exec.committed = view->state != AUC_SALE_LIEN;
	/* Before a restart, all that ran is taken to have stood. */
	t->exec.stood = view->state == AUC_SALE_RUNNING;
	t->exec.jobs[0].id = view->job_id;
	t->listed = true;
	t->next = tasks->list;
	tasks->list = t;
	return t;
}

enum auc_code auc_task_replan(struct auc_task *t, struct auc_sale_view *view, struct auc_err *err)
{
	struct auc_part *parts = view->parts;
	unsigned n = view->nparts, members = count_members(t);
	enum auc_code code;

	/* A plan whose names nobody knows any more has no parts; its lead is there all the same. */
	if (!n) {
		free(parts);
		parts = calloc(1, sizeof(*parts));
		if (!parts)
			return auc_err_set(err, AUC_ENOMEM, "out of memory for a sale");
		parts->lead = true;
		parts->start = view->start;
		parts->end = view->end;
		n = 1;
	}
	view->parts = NULL;
	view->nparts = 0;
	free(t->block_users);
	t->block_users = view->block_users;
	view->block_users = NULL;
	t->missed = view->missing;
	t->missing = t->missing > t->missed ? t->missing : t->missed;
	code = t->parts ? auc_exec_take(&t->exec, parts, n, err)
			: auc_exec_init(&t->exec, parts, n, err);
	if (code) {
		free(parts);
		return code;
	}
	free(t->parts);
	t->exec.slot = view->slot_seconds;
	t->exec.extend = view->extend;
	t->exec.goes_on = view->goes_on;
	t->exec.notice = view->notice || parts[0].block;
	t->exec.replanned = view->revision > 0;
	t->parts = parts;
	t->block = parts[0].block && t->block_users;
	t->revision = view->revision;
	t->marked = 0;
	t->whole |= count_members(t) < members;
	return AUC_OK;
}

struct auc_task *auc_tasks_find(const struct auc_tasks *tasks, const char *sale)
{
	struct auc_task key;
	void *node;

	snprintf(key.sale, sizeof(key.sale), "%s", sale);
	node = tfind(&key, &tasks->by_sale, by_sale);
	return node ? *(struct auc_task **)node : NULL;
}

void auc_tasks_remove(struct auc_tasks *tasks, struct auc_task **at)
{
	struct auc_task *t = *at;

	*at = t->next;
	tdelete(t, &tasks->by_sale, by_sale);
	tasks->nrefs = 0;
	task_free(t);
}

void auc_tasks_clear(struct auc_tasks *tasks)
{
	while (tasks->list)
		auc_tasks_remove(tasks, &tasks->list);
	free(tasks->refs);
	memset(tasks, 0, sizeof(*tasks));
}

enum auc_code auc_tasks_index(struct auc_tasks *tasks, struct auc_err *err)
{
	unsigned n = 0;

	for (const struct auc_task *t = tasks->list; t; t = t->next)
		n += t->exec.nparts;
	tasks->nrefs = 0;
	if (n > tasks->refs_alloc) {
		struct auc_task_ref *refs = realloc(tasks->refs, 2 * n * sizeof(*refs));

		if (!refs)
			return auc_err_set(err, AUC_ENOMEM, "out of memory for the list of jobs");
		tasks->refs = refs;
		tasks->refs_alloc = 2 * n;
	}
	for (struct auc_task *t = tasks->list; t; t = t->next)
		for (unsigned i = 0; i < t->exec.nparts; i++)
			if (t->exec.jobs[i].id)
				tasks->refs[tasks->nrefs++] = (struct auc_task_ref){
					.job_id = t->exec.jobs[i].id, .task = t, .part = i};
	qsort(tasks->refs, tasks->nrefs, sizeof(*tasks->refs), by_job);
	return AUC_OK;
}

const struct auc_task_ref *auc_tasks_find_job(const struct auc_tasks *tasks, uint32_t job_id)
{
	struct auc_task_ref key = {.job_id = job_id};

	if (!tasks->nrefs)
		return NULL;
	return bsearch(&key, tasks->refs, tasks->nrefs, sizeof(key), by_job);
}

void auc_task_look(struct auc_task *t)
{
	t->looked = true;
	t->suspended = false;
	t->lead = NULL;
	for (unsigned i = 0; i < t->exec.nparts; i++)
		t->exec.jobs[i].seen = AUC_SEEN_GONE;
}

void auc_task_see(struct auc_task *t, unsigned part, const slurm_job_info_t *info, double now)
{
	struct auc_exec_job *j = &t->exec.jobs[part];

	j->why = NULL;
	j->ended = j->limit = j->began = 0;
	j->ran = j->unsure = j->quit = j->leaving = false;
	j->begin = (double)info->eligible_time; /* what Slurm calls so is BeginTime */
	if (auc_job_finished(info)) {
		j->seen = AUC_SEEN_ENDED;
		j->why = why_state(info);
		j->ended = (double)info->end_time;
		if (may_be_unlaunched(info))
			see_cancelled(t, j, info);
		/* One that is cancelled while it waits gets a start time, and no nodes. */
		j->ran = info->nodes && info->nodes[0] && info->start_time > 0 &&
			 info->start_time <= info->end_time;
	} else if (auc_job_pending(info)) {
		j->seen = AUC_SEEN_PENDING;
		j->why = why_waiting(info->state_reason);
		j->quit = was_requeued_by_exit(info);
		j->leaving = info->job_state & JOB_COMPLETING;
	} else {
		j->seen = info->job_state & JOB_CONFIGURING ? AUC_SEEN_STARTING : AUC_SEEN_RUNNING;
		j->limit = (double)info->end_time;
		j->began = (double)info->start_time;
		t->suspended |= (info->job_state & JOB_STATE_BASE) == JOB_SUSPENDED;
	}
	if (part)
		return;
	t->lead = info;
	t->array = info->array_job_id;
	t->name = auc_name_number(info->name);
	if (t->block)
		see_block(t, j, info, now);
	else
		j->part = part_of(t, info, now);
}

/* The job of a block only waits: it counts as running while what was bought can be used. */
static void see_block(struct auc_task *t, struct auc_exec_job *j, const slurm_job_info_t *info,
		      double now)
{
	double start = t->parts[0].start;

	j->part = 0;
	j->begin = start;
	if (j->seen == AUC_SEEN_ENDED)
		j->ran = j->ran || (t->reserved && j->ended > start);
	if (!auc_job_pending(info))
		return;
	j->why = NULL;
	j->quit = j->leaving = false;
	if (now < start || (!t->reserved && t->exec.booked != AUC_SALE_RUNNING))
		return;
	/* Nothing starts there: it is put off. */
	if (t->exec.stopped[0] && t->exec.booked == AUC_SALE_SOLD)
		return;
	/* Of one that slurmctld could not begin in time nobody had anything before it was there. */
	if (!(t->begun > 0))
		t->begun = t->exec.booked == AUC_SALE_SOLD && t->from > start ? t->from : start;
	j->seen = AUC_SEEN_RUNNING;
	j->began = t->begun > start ? t->begun : start;
}

/*
 * True if INFO is of a job that slurmd may have cancelled because it could not launch it: it got
 * its nodes, and soon after it was cancelled with nothing of it having run, as far as the record
 * says. Its owner can bring about the same, so that it counts who cancelled it.
 */
static bool may_be_unlaunched(const slurm_job_info_t *info)
{
	return (info->job_state & JOB_STATE_BASE) == JOB_CANCELLED && info->nodes &&
	       info->nodes[0] && info->start_time > 0 && info->end_time >= info->start_time &&
	       info->end_time <= info->start_time + LAUNCH && !info->exit_code;
}

static void see_cancelled(struct auc_task *t, struct auc_exec_job *j, const slurm_job_info_t *info)
{
	uint32_t id = AUC_INFO_JOB_ID(info);

	if (t->canceller.job != id || t->canceller.start != info->start_time) {
		/* Another one is asked for first. */
		j->unsure = true;
		if (t->canceller.job && t->canceller.who == AUC_CANCELLER_UNKNOWN)
			return;
		memset(&t->canceller, 0, sizeof(t->canceller));
		t->canceller.job = id;
		t->canceller.start = info->start_time;
	}
	j->unsure = t->canceller.who == AUC_CANCELLER_UNKNOWN;
	if (t->canceller.who == AUC_CANCELLER_SLURM)
		j->why = AUC_WHY_NOT_LAUNCHED;
}

/*
 * True if INFO is of a job that waits since its script ended with an exit code for which the site
 * has jobs requeued (RequeueExit), or held (RequeueExitHold): Slurm does so whatever the job says.
 */
static bool was_requeued_by_exit(const slurm_job_info_t *info)
{
	int code = (int)info->exit_code;
	bool is = false;

	if (!info->restart_cnt || !WIFEXITED(code) || !WEXITSTATUS(code))
		return false;
	pthread_mutex_lock(&exits.lock);
	for (unsigned i = 0; i < 2; i++)
		is |= is_listed(exits.lists[i], (unsigned long)WEXITSTATUS(code));
	pthread_mutex_unlock(&exits.lock);
	return is;
}

/* True if N is in LIST, as "1,5-9". */
static bool is_listed(const char *list, unsigned long n)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
		char *end;
		unsigned long from = strtoul(p, &end, 10), to = from;

		if (end != p && *end == '-')
			to = strtoul(end + 1, NULL, 10);
		if (end != p && from <= n && n <= to)
			return true;
	}
	return false;
}

/* Of a job that waits: a limit of its association or QOS keeps it. */
static bool at_limit(uint32_t reason)
{
	static const struct {
		uint32_t from, to;
	} limits[] = {
		{WAIT_ASSOC_JOB_LIMIT, WAIT_ASSOC_TIME_LIMIT},
		{WAIT_QOS_THRES, WAIT_QOS_TIME_LIMIT},
		{WAIT_QOS_GRP_CPU, WAIT_ASSOC_MAX_SUB_JOB},
		{WAIT_ASSOC_GRP_UNK, WAIT_QOS_MIN_BB},
		{WAIT_QOS_MAX_BB_PER_ACCT, WAIT_QOS_MAX_UNK_PER_ACCT},
		{WAIT_ACCOUNT_POLICY, WAIT_QOS_MAX_SUB_JOB_PER_ACCT},
		{WAIT_ASSOC_GRP_BILLING, WAIT_QOS_MIN_BILLING},
	};

	for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (reason >= limits[i].from && reason <= limits[i].to)
			return true;
	return false;
}

bool auc_job_finished(const slurm_job_info_t *info)
{
	return (info->job_state & JOB_STATE_BASE) > JOB_SUSPENDED;
}

bool auc_job_pending(const slurm_job_info_t *info)
{
	return (info->job_state & JOB_STATE_BASE) == JOB_PENDING;
}

static int by_sale(const void *a, const void *b)
{
	const struct auc_task *x = a, *y = b;

	return strcmp(x->sale, y->sale);
}

static int by_job(const void *a, const void *b)
{
	const struct auc_task_ref *x = a, *y = b;

	return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

static void task_free(struct auc_task *t)
{
	auc_exec_clear(&t->exec);
	free(t->account);
	free(t->qos);
	free(t->host);
	auc_mail_clear(&t->mail);
	free(t->block_users);
	free(t->parts);
	free(t->receipt);
	free(t);
}

/* Members that are known to be there. Those that a new plan has no part for are nobody's. */
static unsigned count_members(const struct auc_task *t)
{
	unsigned n = 0;

	for (unsigned i = 1; i < t->exec.nparts; i++)
		n += t->exec.jobs[i].id != 0;
	return n;
}

/*
 * The lead's part that the record is of; -1: none. A plan can come back to what it had before a
 * pause: then a job that runs is of the last part that began before it, one that waits is of the
 * next.
 */
static int part_of(const struct auc_task *t, const slurm_job_info_t *info, double now)
{
	bool pending = auc_job_pending(info);
	double when = pending ? now : (double)info->start_time + 1;
	struct auc_slice slice;
	int found = -1, node = -1;

	/* It is still as it was while its bid stood. */
	if (auc_job_is_held(info))
		return -1;
	for (unsigned i = 0; i < t->exec.nparts; i++) {
		const struct auc_part *p = &t->parts[i];

		if (!p->lead || auc_slice_of(p, p->start, p->end, &slice, NULL))
			continue;
		if (p->start <= when && when < p->end && info->req_nodes &&
		    auc_same_nodes(info->req_nodes, slice.node))
			node = (int)i;
		/* Slurm may not begin one whose limit is too long, for what comes after it. */
		if (!auc_slice_fits(&slice, info) ||
		    (pending && info->time_limit > slice.minutes) ||
		    (found >= 0 && (pending ? t->parts[found].end > when : p->start > when)))
			continue;
		found = (int)i;
	}
	/* One that runs is not requeued for the way its amounts are written. */
	return found < 0 && !pending ? node : found;
}

/* Why a job that waits in its slots does, as far as Slurm says; NULL: it does not. */
static const char *why_waiting(uint32_t reason)
{
	switch (reason) {
	case WAIT_HELD:
	case WAIT_HELD_USER:
		return AUC_WHY_HELD;
	case WAIT_PART_DOWN:
	case WAIT_PART_INACTIVE:
		return AUC_WHY_PARTITION_DOWN;
	/* What it was to come after has ended otherwise, as its owner has said. */
	case WAIT_DEP_INVALID:
		return AUC_WHY_CANCELLED;
	/* It has bought what comes after that, which its owner has made longer; if not, chain.c
	 * says so. */
	case WAIT_DEPENDENCY:
		return AUC_WHY_OWN_JOB;
	/* Looked at before the sale. */
	case WAIT_ASSOC_MAX_WALL_PER_JOB:
	case WAIT_QOS_MAX_WALL_PER_JOB:
	case WAIT_PART_NODE_LIMIT:
	case WAIT_PART_TIME_LIMIT:
	case WAIT_ACCOUNT:
	case WAIT_QOS:
	/* These are not there any more. */
	case FAIL_ACCOUNT:
	case FAIL_QOS:
		return AUC_WHY_BARRED;
	case WAIT_NODE_NOT_AVAIL:
		return AUC_WHY_NODE_FAIL;
	/* What it waits for was sold to it alone: who had it before has not left. */
	case WAIT_RESOURCES:
		return AUC_WHY_NODE_BUSY;
	default:
		/* Jobs are counted before they are sold, so that others have come since; what they
		 * use is not, so that its owner may have chosen a job that is too large. */
		return at_limit(reason) ? AUC_WHY_LIMIT : NULL;
	}
}

/* Why a job that has ended did. */
static const char *why_state(const slurm_job_info_t *info)
{
	switch (info->job_state & JOB_STATE_BASE) {
	case JOB_COMPLETE:
		return AUC_WHY_COMPLETED;
	case JOB_CANCELLED:
	/* Not of its node: no bid has features for which slurmctld would set nodes up. Its owner
	 * may ask for it (slurm_requeue() with JOB_RECONFIG_FAIL). */
	case JOB_BOOT_FAIL:
		return AUC_WHY_CANCELLED;
	case JOB_TIMEOUT:
	case JOB_DEADLINE:
		return AUC_WHY_TIMEOUT;
	case JOB_NODE_FAIL:
		return AUC_WHY_NODE_FAIL;
	case JOB_PREEMPTED:
		return AUC_WHY_PREEMPTED;
	default:
		break;
	}
	/* Administrators have taken away what it was in. */
	switch (info->state_reason) {
	case FAIL_DOWN_PARTITION:
		return AUC_WHY_PARTITION_DOWN;
	case FAIL_DOWN_NODE:
		return AUC_WHY_NODE_FAIL;
	case FAIL_ACCOUNT:
	case FAIL_QOS:
		return AUC_WHY_BARRED;
	default:
		return AUC_WHY_FAILED;
	}
}
