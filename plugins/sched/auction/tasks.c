/* tasks.c - see tasks.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks.h"

unsigned auc_tasks_sync(struct auc_task **list, const struct auc_sale_view *views, unsigned nviews)
{
	struct auc_task **at, *t;
	unsigned lapsed = 0;

	for (t = *list; t; t = t->next)
		t->listed = false;
	for (unsigned i = 0; i < nviews; i++) {
		t = auc_tasks_find(*list, views[i].sale);
		if (!t)
			t = auc_tasks_add(list, &views[i]);
		if (!t)
			continue;
		t->listed = true;
		t->state = views[i].state;
		if (views[i].job_id)
			t->jobs[0].id = views[i].job_id;
	}
	for (at = list; (t = *at);) {
		if (t->listed || t->state == AUC_SALE_SETTLED) {
			at = &t->next;
			continue;
		}
		if (t->state != AUC_SALE_LIEN) {
			t->state = AUC_SALE_SETTLED;
			continue;
		}
		lapsed++;
		*at = t->next;
		auc_task_free(t);
	}
	return lapsed;
}

struct auc_task *auc_tasks_add(struct auc_task **list, const struct auc_sale_view *view)
{
	struct auc_task *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->njobs = view->nparts ? view->nparts : 1;
	t->parts = calloc(t->njobs, sizeof(*t->parts));
	t->jobs = calloc(t->njobs, sizeof(*t->jobs));
	if (!t->parts || !t->jobs) {
		auc_task_free(t);
		return NULL;
	}
	if (view->nparts)
		memcpy(t->parts, view->parts, view->nparts * sizeof(*t->parts));
	memcpy(t->sale, view->sale, sizeof(t->sale));
	t->state = view->state;
	t->uid = view->uid;
	t->start = view->start;
	t->end = view->end;
	t->jobs[0].id = view->job_id;
	t->listed = true;
	t->next = *list;
	*list = t;
	return t;
}

struct auc_task *auc_tasks_find(struct auc_task *list, const char *sale)
{
	while (list && strcmp(list->sale, sale))
		list = list->next;
	return list;
}

struct auc_task *auc_tasks_find_job(struct auc_task *list, uint32_t job_id,
				    struct auc_task_job **job)
{
	for (; list; list = list->next) {
		for (unsigned i = 0; i < list->njobs; i++) {
			if (list->jobs[i].id != job_id)
				continue;
			*job = &list->jobs[i];
			return list;
		}
	}
	return NULL;
}

void auc_task_free(struct auc_task *t)
{
	if (!t)
		return;
	free(t->account);
	free(t->qos);
	free(t->parts);
	free(t->jobs);
	free(t->receipt);
	free(t);
}

bool auc_job_finished(const slurm_job_info_t *info)
{
	return (info->job_state & JOB_STATE_BASE) > JOB_SUSPENDED;
}

bool auc_job_pending(const slurm_job_info_t *info)
{
	return (info->job_state & JOB_STATE_BASE) == JOB_PENDING;
}

bool auc_job_running(const slurm_job_info_t *info)
{
	return !auc_job_finished(info) && !auc_job_pending(info) &&
	       !(info->job_state & JOB_CONFIGURING);
}
