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

#define AGAIN  0.5  /* seconds until slurmd is asked again */
#define RECENT 60.0 /* seconds before our start in which an end may not have reached its nodes */

struct orphan {
	struct orphan *next;
	uint32_t job;
	double ask; /* not before: auc_site_elapsed() */
	bool found; /* slurmd has something of it */
	bool gone;  /* it has nothing: not asked again, however long it waits */
	char nodes[];
};

struct auc_orphans {
	struct orphan *list;
};

static char *nodes_of(const struct auc_agent *a, const struct auc_task *t, unsigned part);
static void drop(struct auc_agent *a, uint32_t job);
static struct orphan *find(const struct auc_agent *a, uint32_t job);
static bool have_told(const struct auc_agent *a, const struct orphan *o);

void auc_orphans_suspect(struct auc_agent *a, uint32_t job, const char *nodes)
{
	struct orphan *o;

	if (!job || !nodes || !*nodes || a->heard || find(a, job))
		return;
	if (!a->orphans)
		a->orphans = calloc(1, sizeof(*a->orphans));
	o = a->orphans ? calloc(1, sizeof(*o) + strlen(nodes) + 1) : NULL;
	if (!o)
		return;
	o->job = job;
	strcpy(o->nodes, nodes);
	o->next = a->orphans->list;
	a->orphans->list = o;
}

void auc_orphans_see(struct auc_agent *a, const struct auc_task *t)
{
	double began = a->since + a->clock;

	for (unsigned i = 0; i < t->exec.nparts && !a->heard; i++) {
		const struct auc_part *p = &t->parts[i];
		const struct auc_exec_job *j = &t->exec.jobs[p->lead ? 0 : i];
		char *nodes;

		if (!j->id || p->start > began || p->end < began - RECENT)
			continue;
		/* Slurm sees to the end of what it knows to have run. */
		if (j->seen == AUC_SEEN_STARTING || j->seen == AUC_SEEN_RUNNING ||
		    (j->seen == AUC_SEEN_ENDED && j->ran)) {
			drop(a, j->id);
			continue;
		}
		nodes = nodes_of(a, t, i);
		auc_orphans_suspect(a, j->id, nodes);
		free(nodes);
	}
}

void auc_orphans_see_record(struct auc_agent *a, const slurm_job_info_t *info)
{
	uint32_t job = AUC_INFO_JOB_ID(info);
	double began = a->since + a->clock;
	auc_hostlist_t list;
	char *names, *name;
	size_t len = 0;

	if (a->heard)
		return;
	if (auc_job_pending(info) ? (double)info->eligible_time > began
				  : !auc_job_finished(info) || (info->nodes && info->nodes[0]) ||
					    (double)info->end_time < began - RECENT) {
		drop(a, job);
		return;
	}
	list = info->req_nodes ? slurm_hostlist_create(info->req_nodes) : NULL;
	if (!list)
		return;
	names = calloc((size_t)slurm_hostlist_count(list) + 1, AUC_NAME_MAX + 1);
	while (names && (name = slurm_hostlist_shift(list))) {
		len += (size_t)sprintf(names + len, "%s%.*s", len ? "," : "", AUC_NAME_MAX - 1,
				       name);
		free(name);
	}
	slurm_hostlist_destroy(list);
	auc_orphans_suspect(a, job, names);
	free(names);
}

void auc_orphans_keep(struct auc_agent *a)
{
	double elapsed = auc_site_elapsed();

	for (struct orphan *o = a->orphans ? a->orphans->list : NULL; o; o = o->next)
		if (!o->gone && elapsed >= o->ask && have_told(a, o)) {
			/* If it is out already, there will be an answer. */
			auc_job_change_put(a, AUC_JOB_CHANGE_FORGOTTEN, o->job, NULL, NULL,
					   o->nodes, NULL);
			o->ask = elapsed + AGAIN;
		}
}

void auc_orphans_answer(struct auc_agent *a, uint32_t job, enum auc_code code, bool found)
{
	struct orphan *o = find(a, job);

	if (!o || code)
		return;
	if (!found) {
		if (o->found)
			slurm_info("sched/auction: job %u is off %s", job, o->nodes);
		o->gone = true;
	} else if (!o->found) {
		o->found = true;
		slurm_info("sched/auction: job %u, which slurmctld has forgotten, still runs on "
			   "%s; it is ended, and nothing begins there before it is gone",
			   job, o->nodes);
	}
}

void auc_orphans_give_up(struct auc_agent *a)
{
	struct orphan *next;

	for (struct orphan *o = a->orphans ? a->orphans->list : NULL; o; o = next) {
		next = o->next;
		if (!o->found)
			drop(a, o->job);
	}
}

bool auc_orphans_any(const struct auc_agent *a)
{
	return auc_orphans_nodes(a, 0);
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
	const struct orphan *o = a->orphans ? a->orphans->list : NULL;

	while (o && (o->gone || n--))
		o = o->next;
	return o ? o->nodes : NULL;
}

void auc_orphans_clear(struct auc_agent *a)
{
	while (a->orphans && a->orphans->list)
		drop(a, a->orphans->list->job);
	free(a->orphans);
	a->orphans = NULL;
}

/* Of PART; of the lead's, of all of its parts that have begun. NULL: no memory. */
static char *nodes_of(const struct auc_agent *a, const struct auc_task *t, unsigned part)
{
	size_t len = 0, size = 1;
	char *names;

	for (unsigned i = 0; i < t->exec.nparts; i++)
		size += (t->parts[i].nnodes + 1) * (AUC_NAME_MAX + 1);
	names = calloc(1, size);
	for (unsigned i = 0; names && i < t->exec.nparts; i++) {
		const struct auc_part *p = &t->parts[i];
		char name[AUC_NAME_MAX];
		const char *at = NULL;

		if (i != part &&
		    !(p->lead && t->parts[part].lead && p->start <= a->since + a->clock))
			continue;
		while (auc_part_next_node(p, &at, name))
			len += (size_t)sprintf(names + len, "%s%s", len ? "," : "", name);
	}
	return names;
}

static void drop(struct auc_agent *a, uint32_t job)
{
	for (struct orphan **at = a->orphans ? &a->orphans->list : NULL, *o; at && (o = *at);
	     at = &o->next)
		if (o->job == job) {
			*at = o->next;
			free(o);
			return;
		}
}

static struct orphan *find(const struct auc_agent *a, uint32_t job)
{
	struct orphan *o = a->orphans ? a->orphans->list : NULL;

	while (o && o->job != job)
		o = o->next;
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
