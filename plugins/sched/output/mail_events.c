/*
 * mail_events.c - see mail.h: what users are mailed. --mail-type decides: BEGIN has the sale, END
 * how it ended and what was paid back, FAIL the same where it did not end as it should, each of
 * them the budget. BEGIN or REQUEUE has another plan. Of an array only the first task that is sold
 * is mailed of, and its end (mail_arrays.c), unless ARRAY_TASKS is among the types.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/receipt.h"
#include "ledger/why.h"
#include "sched/output/mail.h"
#include "sched/output/mail-private.h"

#define ANY      (MAIL_JOB_BEGIN | MAIL_JOB_END | MAIL_JOB_FAIL)
#define TOLD_MAX 256 /* accounts of which is known what was told */
#define ARRAYS   64  /* of which was mailed */

/* Of the agent's thread. */
static struct {
	char account[AUC_ACCOUNT_LEN];
	unsigned level;
	double share; /* when that was told, or since */
} told[TOLD_MAX];
static unsigned next_told;
static uint32_t arrays[ARRAYS];
static unsigned next_array;

static bool is_one(const struct auc_mail_to *to);
static bool is_first(const struct auc_mail_to *to);
static unsigned nodes_of(const struct auc_sale_view *v);
static double begin_of(const struct auc_sale_view *v, double now);
static void tell_budget(const struct auc_mail_to *to, struct auc_auction *a, const char *sale);
static bool has_risen(const struct auc_budget_use *use);

void auc_mail_sold(const struct auc_mail_to *to, struct auc_auction *a, const char *sale,
		   bool stood)
{
	struct auc_sale_view v;
	struct auc_mail_text text;
	struct auc_mail_job job;
	char cluster[AUC_MAIL_CLUSTER];

	if (auc_mail_wants(to, a, MAIL_JOB_BEGIN) && is_first(to) &&
	    !auc_auction_sale(a, sale, &v, NULL)) {
		job = auc_mail_job_of(to, cluster);
		auc_mail_text_sold(&text, &job, v.payment, v.start, v.end, nodes_of(&v), stood);
		auc_mail_put(to, "sale", &text);
		auc_sale_view_clear(&v);
	}
	/* Who is not mailed of sales may be mailed of the budget. */
	tell_budget(to, a, sale);
}

void auc_mail_moved(const struct auc_mail_to *to, struct auc_auction *a, const char *sale,
		    const char *why, double now)
{
	struct auc_sale_view v;
	struct auc_mail_text text;
	struct auc_mail_job job;
	char cluster[AUC_MAIL_CLUSTER];

	if (!auc_mail_wants(to, a, MAIL_JOB_BEGIN | MAIL_JOB_REQUEUE) || !is_one(to) ||
	    auc_auction_sale(a, sale, &v, NULL))
		return;
	job = auc_mail_job_of(to, cluster);
	auc_mail_text_moved(&text, &job, why, v.payment, begin_of(&v, now), v.end);
	auc_mail_put(to, "moved", &text);
	auc_sale_view_clear(&v);
}

void auc_mail_settled(const struct auc_mail_to *to, struct auc_auction *a, const char *receipt,
		      double now)
{
	struct auc_mail_text text;
	struct auc_mail_job job;
	char cluster[AUC_MAIL_CLUSTER];
	struct auc_receipt r;
	bool good;

	if (!receipt || !auc_mail_wants(to, a, MAIL_JOB_END | MAIL_JOB_FAIL) ||
	    auc_receipt_parse(receipt, &r, NULL))
		return;
	good = !strcmp(r.why, AUC_WHY_COMPLETED);
	if (!is_one(to)) {
		auc_mail_array_settled(to, &r);
	} else if ((to->types & MAIL_JOB_END) || !good) {
		job = auc_mail_job_of(to, cluster);
		auc_mail_text_settled(&text, &job, r.why, r.payment, r.refund, now);
		auc_mail_put(to, "refund", &text);
	}
	auc_receipt_clear(&r);
}

void auc_mail_unsold(const struct auc_mail_to *to, struct auc_auction *a, const char *why,
		     double now)
{
	struct auc_mail_text text;
	struct auc_mail_job job;
	char cluster[AUC_MAIL_CLUSTER];

	if (!auc_mail_wants(to, a, MAIL_JOB_END | MAIL_JOB_FAIL) || !is_one(to))
		return;
	job = auc_mail_job_of(to, cluster);
	auc_mail_text_unsold(&text, &job, why, now);
	auc_mail_put(to, "unsold", &text);
}

bool auc_mail_wants(const struct auc_mail_to *to, struct auc_auction *a, unsigned types)
{
	return to->job_id && (to->types & types) && auc_auction_conf(a)->mail;
}

/* No task of an array, or each is to be mailed of. */
static bool is_one(const struct auc_mail_to *to)
{
	return !to->array || (to->types & MAIL_ARRAY_TASKS);
}

/* The same, or the first of its array that is sold. */
static bool is_first(const struct auc_mail_to *to)
{
	if (is_one(to))
		return true;
	for (unsigned i = 0; i < ARRAYS; i++)
		if (arrays[i] == to->array)
			return false;
	arrays[next_array] = to->array;
	next_array = (next_array + 1) % ARRAYS;
	return true;
}

struct auc_mail_job auc_mail_job_of(const struct auc_mail_to *to, char cluster[AUC_MAIL_CLUSTER])
{
	auc_mail_cluster(cluster, AUC_MAIL_CLUSTER);
	return (struct auc_mail_job){.id = to->job_id,
				     .array = to->array,
				     .task = to->task,
				     .name = to->name,
				     .cluster = cluster};
}

static unsigned nodes_of(const struct auc_sale_view *v)
{
	return v->nparts && v->parts[0].nnodes ? v->parts[0].nnodes
					       : auc_parts_at_once(v->parts, v->nparts);
}

/* When it begins, or where it has begun what comes next does, at NOW. */
static double begin_of(const struct auc_sale_view *v, double now)
{
	double begin = v->start;

	for (unsigned i = 0; i < v->nparts && begin <= now; i++)
		if (v->parts[i].lead && v->parts[i].start > begin)
			begin = v->parts[i].start;
	return begin;
}

/* Of the account that has least, the owner of the sale that made it so. */
static void tell_budget(const struct auc_mail_to *to, struct auc_auction *a, const char *sale)
{
	struct auc_budget_use use;
	struct auc_mail_text text;
	struct auc_mail_job job;
	char cluster[AUC_MAIL_CLUSTER];

	if (!auc_auction_budget_use(a, sale, &use) || !has_risen(&use) ||
	    !auc_mail_wants(to, a, ANY))
		return;
	job = auc_mail_job_of(to, cluster);
	auc_mail_text_budget(&text, &job, use.account, use.share, use.left, use.granted);
	auc_mail_put(to, "budget", &text);
}

/*
 * True once for each time that a level is reached. After a restart what the sale found counts as
 * told. USE may count sales that come here later: they find no more than was told.
 */
static bool has_risen(const struct auc_budget_use *use)
{
	unsigned level = auc_mail_budget_level(use->share), i;
	unsigned before = auc_mail_budget_level(use->before), was;

	for (i = 0; i < TOLD_MAX && strcmp(told[i].account, use->account); i++)
		;
	if (i == TOLD_MAX) {
		i = next_told;
		next_told = (next_told + 1) % TOLD_MAX;
		memcpy(told[i].account, use->account, sizeof(told[i].account));
		told[i].level = before;
		told[i].share = 0;
	}
	was = told[i].level;
	/* It may have fallen since. */
	if (use->share > told[i].share && was > before)
		was = before;
	told[i].level = level;
	told[i].share = use->share;
	return level > was;
}
