/* orphans.c - see orphans.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/site.h"
#include "ledger/receipt.h"
#include "sched/auction/job_change.h"
#include "sched/auction/start/orphans.h"
#include "sched/auction/start/settling.h"

#define AGAIN    0.5 /* seconds until slurmd is asked again, */
#define REGISTER 5.0 /* or until what is left ends only when its node registers */
/* Seconds until slurmd has forgotten a number. What begins in the second in which it was told to
 * would be refused. */
#define FORGET 2.0
#define RECENT 60.0 /* seconds before our start in which an end may not have reached its nodes */

enum state {
	SUSPECT, /* slurmd is to be asked */
	LEFT,    /* it has something of the job, which is being ended */
	TOLD,    /* it has nothing that runs, and is forgetting the number */
	CLEAR,   /* there is nothing of the job anywhere, or slurmctld sees to it itself */
};

struct orphan {
	uint32_t job;
	enum state state;
	double next; /* it stays so until then: auc_site_elapsed() */
	char nodes[];
};

struct auc_orphans {
	struct orphan **list; /* by job */
	unsigned n, alloc;
	unsigned open; /* so many are not CLEAR */
};

static unsigned last_begun(const struct auc_task *t, double began);
static bool is_known(const struct auc_task *t, unsigned part);
static bool runs(const struct auc_exec_job *j);
static bool runs_on(const slurm_job_info_t *info, const struct auc_part *p);
static bool was_due(const slurm_job_info_t *info, double began);
static bool waits(const slurm_job_info_t *info);
static void suspect_parts(struct auc_agent *a, uint32_t job, const struct auc_task *t,
			  unsigned part, bool before);
static void suspect_nodes(struct auc_agent *a, uint32_t job, const char *ranges);
static void add(struct auc_agent *a, uint32_t job, enum state state, const char *nodes);
static unsigned place_of(const struct auc_orphans *l, uint32_t job);
static struct orphan *find(const struct auc_agent *a, uint32_t job);
static void become(struct auc_agent *a, struct orphan *o, enum state state, double next);
static bool dismiss(struct auc_agent *a, uint32_t job);
static bool have_told(const struct auc_agent *a, const struct orphan *o);

void auc_orphans_see(struct auc_agent *a, const struct auc_task *t)
{
	double began = a->since + a->clock;
	unsigned lead = last_begun(t, began);
	bool put_off = t->exec.nparts && t->parts[lead].start > began, ran;

	/* It may have begun before its plan was put off, where Slurm still has it; or it did run,
	 * as the ledger knows, or nobody saw it before slurmctld was killed, and slurmd has its
	 * number where it begins again. */
	ran = put_off && (t->exec.booked == AUC_SALE_RUNNING || t->exec.replanned);
	if (t->lead && !a->heard && put_off &&
	    (was_due(t->lead, began) || (ran && waits(t->lead))))
		suspect_nodes(a, AUC_INFO_JOB_ID(t->lead), t->lead->req_nodes);
	for (unsigned i = 0; i < t->exec.nparts && !a->heard; i++) {
		const struct auc_part *p = &t->parts[i];
		const struct auc_exec_job *j = &t->exec.jobs[p->lead ? 0 : i];

		if (!j->id || (p->lead ? i != lead || put_off : p->start > began && !ran))
			continue;
		/* What Slurm sees to is not suspected later, either, as when it moves. */
		if (is_known(t, i)) {
			if (!dismiss(a, j->id))
				add(a, j->id, CLEAR, "");
		} else if (j->seen == AUC_SEEN_PENDING || p->end >= began - RECENT) {
			suspect_parts(a, j->id, t, i, p->lead && !runs(j));
		}
	}
}

void auc_orphans_see_record(struct auc_agent *a, const slurm_job_info_t *info)
{
	uint32_t job = AUC_INFO_JOB_ID(info);
	double began = a->since + a->clock;

	if (a->heard)
		return;
	if (auc_job_pending(info)
		    ? !was_due(info, began)
		    : !auc_job_finished(info) || (info->nodes && info->nodes[0]) ||
			      (double)info->end_time < began - RECENT)
		dismiss(a, job);
	else
		suspect_nodes(a, job, info->req_nodes);
}

void auc_orphans_keep(struct auc_agent *a)
{
	double elapsed = auc_site_elapsed();

	for (unsigned i = 0; a->orphans && i < a->orphans->n; i++) {
		struct orphan *o = a->orphans->list[i];

		if (o->state == CLEAR || elapsed < o->next)
			continue;
		if (o->state == TOLD) {
			become(a, o, CLEAR, 0);
		} else if (have_told(a, o)) {
			/* If it is out already, there will be an answer. */
			auc_job_change_put(a, AUC_JOB_CHANGE_FORGOTTEN, o->job, NULL, NULL,
					   o->nodes, NULL);
			o->next = elapsed + (o->state == LEFT && !AUC_HAS_ABORT ? REGISTER : AGAIN);
		}
	}
}

void auc_orphans_answer(struct auc_agent *a, uint32_t job, enum auc_code code,
			enum auc_forgotten what)
{
	struct orphan *o = find(a, job);

	if (!o || code || o->state == TOLD || o->state == CLEAR)
		return;
	switch (what) {
	case AUC_FORGOTTEN_LEFT:
		if (o->state != LEFT)
			slurm_info("sched/auction: job %u, which slurmctld has forgotten, still "
				   "runs on %s; it is ended, and nothing begins there before it is "
				   "gone",
				   job, o->nodes);
		become(a, o, LEFT, o->next);
		break;
	case AUC_FORGOTTEN_OVER:
		if (o->state == LEFT)
			slurm_info("sched/auction: job %u is off %s", job, o->nodes);
		become(a, o, TOLD, auc_site_elapsed() + FORGET);
		break;
	case AUC_FORGOTTEN_NOT:
		become(a, o, CLEAR, 0);
		break;
	}
}

void auc_orphans_give_up(struct auc_agent *a)
{
	struct auc_orphans *l = a->orphans;
	unsigned left = 0;

	for (unsigned i = 0; l && i < l->n; i++)
		if (l->list[i]->state == LEFT || l->list[i]->state == TOLD)
			l->list[left++] = l->list[i];
		else
			free(l->list[i]);
	if (l)
		l->n = l->open = left;
}

bool auc_orphans_any(const struct auc_agent *a)
{
	return a->orphans && a->orphans->open;
}

bool auc_orphans_on(const struct auc_agent *a, const char *server)
{
	const char *at;

	for (unsigned i = 0; (at = auc_orphans_nodes(a, i)); i++)
		for (char name[AUC_NAME_MAX]; auc_orphans_next_name(&at, name);)
			if (!strcmp(name, server))
				return true;
	return false;
}

bool auc_orphans_next_name(const char **at, char name[AUC_NAME_MAX])
{
	size_t len = strcspn(*at, ",");

	if (!len || len >= AUC_NAME_MAX)
		return false;
	memcpy(name, *at, len);
	name[len] = '\0';
	*at += len + ((*at)[len] == ',');
	return true;
}

const char *auc_orphans_nodes(const struct auc_agent *a, unsigned n)
{
	const struct auc_orphans *l = a->orphans;

	for (unsigned i = 0; l && n < l->open && i < l->n; i++)
		if (l->list[i]->state != CLEAR && !n--)
			return l->list[i]->nodes;
	return NULL;
}

void auc_orphans_clear(struct auc_agent *a)
{
	for (unsigned i = 0; a->orphans && i < a->orphans->n; i++)
		free(a->orphans->list[i]);
	if (a->orphans)
		free(a->orphans->list);
	free(a->orphans);
	a->orphans = NULL;
}

/* The lead's part. Any, if none has begun. */
static unsigned last_begun(const struct auc_task *t, double began)
{
	unsigned last = 0;

	for (unsigned i = 0; i < t->exec.nparts; i++)
		if (t->parts[i].lead && t->parts[i].start <= began &&
		    (!t->parts[last].lead || t->parts[i].start > t->parts[last].start))
			last = i;
	return last;
}

/* True if slurmctld says of the job of PART, which has begun, that it runs there, or ends or ended
 * after it ran. A lead that runs elsewhere may have begun to move, which only its next node knows.
 */
static bool is_known(const struct auc_task *t, unsigned part)
{
	const struct auc_part *p = &t->parts[part];
	const struct auc_exec_job *j = &t->exec.jobs[p->lead ? 0 : part];
	const slurm_job_info_t *lead = p->lead ? t->lead : NULL;

	if (runs(j))
		return !lead || runs_on(lead, p);
	return j->seen == AUC_SEEN_PENDING ? j->leaving : j->seen == AUC_SEEN_ENDED && j->ran;
}

static bool runs(const struct auc_exec_job *j)
{
	return j->seen == AUC_SEEN_STARTING || j->seen == AUC_SEEN_RUNNING;
}

static bool runs_on(const slurm_job_info_t *info, const struct auc_part *p)
{
	auc_hostlist_t list = info->nodes ? slurm_hostlist_create(info->nodes) : NULL;
	bool is = list && slurm_hostlist_find(list, p->server) >= 0;

	if (list)
		slurm_hostlist_destroy(list);
	return is;
}

/* True if slurmctld could begin it, and does not say that it did. */
static bool was_due(const slurm_job_info_t *info, double began)
{
	return waits(info) && (double)info->eligible_time <= began;
}

static bool waits(const slurm_job_info_t *info)
{
	return auc_job_pending(info) && !(info->job_state & JOB_COMPLETING);
}

/* JOB may be on the nodes of PART; with BEFORE, also of the lead's parts before that. */
static void suspect_parts(struct auc_agent *a, uint32_t job, const struct auc_task *t,
			  unsigned part, bool before)
{
	char *names, name[AUC_NAME_MAX];
	size_t len = 0, size = 1;

	if (find(a, job))
		return;
	for (unsigned i = 0; i < t->exec.nparts; i++)
		size += (t->parts[i].nnodes + 1) * (AUC_NAME_MAX + 1);
	names = calloc(1, size);
	for (unsigned i = 0; names && i < t->exec.nparts; i++) {
		const struct auc_part *p = &t->parts[i];
		const char *at = NULL;

		if (i != part && !(before && p->lead && p->start <= t->parts[part].start))
			continue;
		while (auc_part_next_node(p, &at, name))
			len += (size_t)sprintf(names + len, "%s%s", len ? "," : "", name);
	}
	if (len)
		add(a, job, SUSPECT, names);
	free(names);
}

/* RANGES: of nodes, as Slurm writes them; may be NULL. */
static void suspect_nodes(struct auc_agent *a, uint32_t job, const char *ranges)
{
	auc_hostlist_t list = ranges && !find(a, job) ? slurm_hostlist_create(ranges) : NULL;
	char *names, *name;
	size_t len = 0;

	if (!list)
		return;
	names = calloc((size_t)slurm_hostlist_count(list) + 1, AUC_NAME_MAX + 1);
	while (names && (name = slurm_hostlist_shift(list))) {
		len += (size_t)sprintf(names + len, "%s%.*s", len ? "," : "", AUC_NAME_MAX - 1,
				       name);
		free(name);
	}
	slurm_hostlist_destroy(list);
	if (len)
		add(a, job, SUSPECT, names);
	free(names);
}

/* JOB is not listed yet; without memory it is not. */
static void add(struct auc_agent *a, uint32_t job, enum state state, const char *nodes)
{
	struct auc_orphans *l = a->orphans ? a->orphans : calloc(1, sizeof(*l));
	struct orphan *o = calloc(1, sizeof(*o) + strlen(nodes) + 1);
	unsigned at;

	a->orphans = l;
	if (l && l->n == l->alloc) {
		unsigned alloc = l->alloc ? 2 * l->alloc : 64;
		struct orphan **grown = realloc(l->list, alloc * sizeof(struct orphan *));

		if (grown) {
			l->list = grown;
			l->alloc = alloc;
		}
	}
	if (!l || !o || l->n == l->alloc) {
		free(o);
		return;
	}
	at = place_of(l, job);
	memmove(&l->list[at + 1], &l->list[at], (l->n++ - at) * sizeof(struct orphan *));
	l->list[at] = o;
	o->job = job;
	o->state = CLEAR;
	strcpy(o->nodes, nodes);
	become(a, o, state, 0);
}

/* Where it is in the list, or is to be. */
static unsigned place_of(const struct auc_orphans *l, uint32_t job)
{
	unsigned from = 0, to = l->n;

	while (from < to) {
		unsigned mid = (from + to) / 2;

		if (l->list[mid]->job < job)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static struct orphan *find(const struct auc_agent *a, uint32_t job)
{
	const struct auc_orphans *l = a->orphans;
	unsigned at = l ? place_of(l, job) : 0;

	return l && at < l->n && l->list[at]->job == job ? l->list[at] : NULL;
}

static void become(struct auc_agent *a, struct orphan *o, enum state state, double next)
{
	a->orphans->open += (state != CLEAR) - (o->state != CLEAR);
	o->state = state;
	o->next = next;
}

/* False: it was never suspected. */
static bool dismiss(struct auc_agent *a, uint32_t job)
{
	struct orphan *o = find(a, job);

	if (o)
		become(a, o, CLEAR, 0);
	return o;
}

/* slurmctld has had its time to end what they told it of. */
static bool have_told(const struct auc_agent *a, const struct orphan *o)
{
	const char *at = o->nodes;

	for (char name[AUC_NAME_MAX]; auc_orphans_next_name(&at, name);)
		if (auc_settling_expects(a, name))
			return false;
	return true;
}
