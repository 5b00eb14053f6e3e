/*
 * mail_arrays.c - see mail.h: the one mail at the end of a job array whose tasks are not mailed of
 * each: how many completed, what they paid. Of an array that slurmctld has taken over from another
 * it has what ended since.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/why.h"
#include "sched/output/mail.h"
#include "sched/output/mail-private.h"

#define ARRAYS 64 /* of so many at a time; those that began last */

struct sums {
	struct auc_mail_to to; /* job_id 0: nobody's */
	struct auc_mail_array what;
};

/* Of the agent's thread. */
static struct sums arrays[ARRAYS];
static unsigned next;

static struct sums *sums_of(const struct auc_mail_to *to, uint32_t array);

void auc_mail_array_settled(const struct auc_mail_to *to, const struct auc_receipt *receipt)
{
	struct sums *s = sums_of(to, to->array);

	if (!s)
		return;
	*(strcmp(receipt->why, AUC_WHY_COMPLETED) ? &s->what.others : &s->what.completed) += 1;
	s->what.paid += receipt->payment;
	s->what.back += receipt->refund;
}

void auc_mail_array_unsold(const struct auc_mail_to *to, struct auc_auction *a, unsigned tasks)
{
	struct sums *s;

	if (!auc_mail_wants(to, a, MAIL_JOB_END | MAIL_JOB_FAIL) || (to->types & MAIL_ARRAY_TASKS))
		return;
	s = sums_of(to, to->job_id);
	if (s)
		s->what.unsold += tasks;
}

void auc_mail_arrays(bool (*lives)(void *arg, uint32_t array), void *arg, double now)
{
	struct auc_mail_text text;
	struct auc_mail_job job;
	char cluster[AUC_MAIL_CLUSTER];

	for (struct sums *s = arrays; s < arrays + ARRAYS; s++) {
		if (!s->to.job_id || lives(arg, s->to.job_id))
			continue;
		if ((s->to.types & MAIL_JOB_END) || s->what.others || s->what.unsold) {
			job = auc_mail_job_of(&s->to, cluster);
			auc_mail_text_array(&text, &job, &s->what, now);
			auc_mail_put(&s->to, "array", &text);
		}
		auc_mail_clear(&s->to);
	}
}

/* What is known of ARRAY, to which TO belongs; NULL: no memory. */
static struct sums *sums_of(const struct auc_mail_to *to, uint32_t array)
{
	struct sums *s;

	for (s = arrays; s < arrays + ARRAYS; s++)
		if (s->to.job_id == array)
			return s;
	s = &arrays[next];
	next = (next + 1) % ARRAYS;
	auc_mail_clear(&s->to);
	memset(&s->what, 0, sizeof(s->what));
	s->to = (struct auc_mail_to){.uid = to->uid, .job_id = array, .types = to->types};
	s->to.name = to->name ? strdup(to->name) : NULL;
	s->to.user = to->user ? strdup(to->user) : NULL;
	if (!to->user || s->to.user)
		return s;
	/* Not to another than it was asked for. */
	auc_mail_clear(&s->to);
	return NULL;
}
