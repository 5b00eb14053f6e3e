/* chain.c - see chain.h. */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapter/after/names.h"
#include "sched/auction/agent-private.h"
#include "sched/auction/chain.h"

/* slurmctld ends a job at its time limit when it next looks at all. */
#define LIMIT_LATE 60.0

/* What a job waits for: sales that are late are over at AT; OWN: something else, too. */
struct wait {
	const struct auc_tasks *tasks;
	const struct auc_task *waits;
	double now, at;
	bool own;
};

static void publish_sold(struct auc_agent *a);
static void publish_others(const struct auc_agent *a, double now);
static double over_at(const slurm_job_info_t *info, double now);
static void count_job(struct wait *w, uint32_t job_id, bool begun, double delay);
static void count_sale(struct wait *w, const struct auc_task *t, double over);
static void count_named(struct wait *w);
static bool is_other(void *arg, const struct auc_job_name *job);

void auc_chain_see(struct auc_agent *a, double now)
{
	publish_sold(a);
	if (a->all)
		publish_others(a, now);
	for (struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->looked && t->lead)
			auc_chain_mark(&a->tasks, t, now);
}

void auc_chain_mark(const struct auc_tasks *tasks, struct auc_task *t, double now)
{
	const char *p = t->lead->dependency ? t->lead->dependency : "";
	struct wait w = {.tasks = tasks, .waits = t, .now = now};

	t->exec.after = 0;
	if (!auc_job_pending(t->lead) || t->lead->state_reason != WAIT_DEPENDENCY)
		return;
	for (; *p; p += strcspn(p, ",?"), p += *p != '\0') {
		const char *id = strchr(p, ':'), *delay = p + strcspn(p, "+,?");

		if (!strncasecmp(p, "singleton", 9))
			count_named(&w);
		else if (id && isdigit((unsigned char)id[1]))
			count_job(&w, (uint32_t)strtoul(id + 1, NULL, 10),
				  !strncasecmp(p, "after:", 6),
				  *delay == '+' ? 60 * strtod(delay + 1, NULL) : 0);
		else
			w.own = true;
	}
	if (w.own || !(w.at > 0))
		return;
	t->exec.after = w.at;
	t->exec.jobs[0].why = NULL;
}

/* The leads of sales and their names, if something is new. */
static void publish_sold(struct auc_agent *a)
{
	struct auc_job_name *list;
	uint64_t sum = 1;
	unsigned n = 0;

	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->name && t->exec.jobs[0].id && t->exec.booked != AUC_SALE_SETTLED) {
			sum = (sum ^ t->name) * UINT64_C(0x9e3779b97f4a7c15);
			sum = (sum ^ t->exec.jobs[0].id) * UINT64_C(0x9e3779b97f4a7c15);
			n++;
		}
	if (sum == a->named)
		return;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return;
	n = 0;
	for (const struct auc_task *t = a->tasks.list; t; t = t->next)
		if (t->name && t->exec.jobs[0].id && t->exec.booked != AUC_SALE_SETTLED)
			list[n++] = (struct auc_job_name){
				.uid = t->uid, .job_id = t->exec.jobs[0].id, .name = t->name};
	auc_names_set(AUC_NAMED_SOLD, list, n, a->loaded_at);
	a->named = sum;
}

/* What all records that there are have beside sales. */
static void publish_others(const struct auc_agent *a, double now)
{
	const job_info_msg_t *jobs = a->loaded[0];
	struct auc_job_name *list = calloc(jobs->record_count + 1, sizeof(*list));
	unsigned n = 0;

	for (uint32_t i = 0; list && i < jobs->record_count; i++) {
		const slurm_job_info_t *info = &jobs->job_array[i];

		if (auc_job_finished(info) || auc_tasks_find_job(&a->tasks, AUC_INFO_JOB_ID(info)))
			continue;
		list[n++] = (struct auc_job_name){.uid = info->user_id,
						  .job_id = AUC_INFO_JOB_ID(info),
						  .name = auc_name_number(info->name),
						  .end = over_at(info, now)};
	}
	if (list)
		auc_names_set(AUC_NAMED_OTHERS, list, n, a->loaded_at);
}

/* A job that runs is over with its time limit, as Slurm's own backfill takes it. */
static double over_at(const slurm_job_info_t *info, double now)
{
	if ((info->job_state & JOB_STATE_BASE) != JOB_RUNNING || info->time_limit >= INFINITE ||
	    (double)info->end_time <= now || slurm_conf.over_time_limit)
		return INFINITY;
	return (double)info->end_time + LIMIT_LATE;
}

/* The end of JOB_ID, or of the tasks of that array; or DELAY seconds after it has BEGUN. */
static void count_job(struct wait *w, uint32_t job_id, bool begun, double delay)
{
	bool found = false;

	for (const struct auc_task *t = w->tasks->list; t; t = t->next) {
		if (t->exec.booked == AUC_SALE_SETTLED ||
		    (t->exec.jobs[0].id != job_id && t->array != job_id))
			continue;
		found = true;
		count_sale(w, t, begun ? t->exec.start + delay : t->exec.end);
	}
	w->own |= !found;
}

/* What OVER says is only ahead if the plan has changed, or its owner has bought more. */
static void count_sale(struct wait *w, const struct auc_task *t, double over)
{
	if (t->exec.booked == AUC_SALE_LIEN || t->extended || t->own || over <= w->now)
		w->own = true;
	else
		w->at = fmax(w->at, over);
}

/* What has the same name and is before it: those that run, and those that came earlier. */
static void count_named(struct wait *w)
{
	uint32_t id = AUC_INFO_JOB_ID(w->waits->lead);

	w->own |= !auc_names_each(AUC_NAMED_OTHERS, w->waits->uid, w->waits->name, is_other, &id);
	for (const struct auc_task *t = w->tasks->list; t; t = t->next) {
		const struct auc_exec_job *j = &t->exec.jobs[0];

		if (t == w->waits || t->uid != w->waits->uid || t->name != w->waits->name ||
		    t->exec.booked == AUC_SALE_SETTLED ||
		    (j->seen == AUC_SEEN_PENDING && j->id > id))
			continue;
		if (j->id > id)
			w->own = true;
		else
			count_sale(w, t, t->exec.end);
	}
}

/* False if the job is before the one whose number ARG is. */
static bool is_other(void *arg, const struct auc_job_name *job)
{
	return job->job_id > *(const uint32_t *)arg && !(job->end < INFINITY);
}
