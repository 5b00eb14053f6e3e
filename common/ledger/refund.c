/* refund.c - see refund.h. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "ledger/refund.h"
#include "ledger/why.h"

#define MS 1000.0
#define LATE_FREE                                                                                  \
	30.0 /* seconds after its slot began: a job that has not begun is cancelled free */

static auc_money of_time(const struct auc_conf *conf, const struct auc_sale *s, double now);
static auc_money of_missing(const struct auc_sale *s, auc_money kept, int64_t slot, int64_t used);
static int64_t used_of(const struct auc_conf *conf, const struct auc_sale *s, double now);

double auc_refund_cancel_share(const struct auc_conf *conf, const struct auc_sale *s, double now)
{
	double before = (double)s->plan.start * conf->slot_seconds - now;
	unsigned i = conf->ncancel;

	/* The job should have begun; a user who gives up waiting pays no fee. */
	if (before < -LATE_FREE || s->plan.lost)
		return 0;
	/* The first step has no bound: it is for all that is nearer than the second. */
	while (i > 1 && fmax(0, before) < conf->cancel[i - 1].seconds)
		i--;
	return i ? conf->cancel[i - 1].share : 0;
}

auc_money auc_refund_due(const struct auc_conf *conf, const struct auc_sale *s, const char *why,
			 double now)
{
	/* Who uses up a limit, or a node, with other jobs gives the sale back as by cancelling it;
	 * that it did not begin in time is no excuse then. */
	bool own = !strcmp(why, AUC_WHY_LIMIT) || !strcmp(why, AUC_WHY_OWN_JOB);
	bool owner = own || !strcmp(why, AUC_WHY_CANCELLED) || !strcmp(why, AUC_WHY_CHANGED);

	/* The cluster's doing, or nobody's: it never ran. */
	if (auc_why_refunds(why) || (s->state != AUC_SALE_RUNNING && !owner))
		return s->payment;
	if (s->state != AUC_SALE_RUNNING && own)
		now = fmin(now, (double)s->plan.start * conf->slot_seconds);
	if (s->state != AUC_SALE_RUNNING)
		return s->payment -
		       (auc_money)(auc_refund_cancel_share(conf, s, now) * (double)s->payment);
	return of_time(conf, s, now);
}

/*
 * For the nodes that failed in a block, for the slots that S lost and, with RefundUnused, for the
 * time after NOW. What was used costs its share of the payment, and no less than the same time
 * would have cost if S had bought no more.
 */
static auc_money of_time(const struct auc_conf *conf, const struct auc_sale *s, double now)
{
	int64_t slot = llround(conf->slot_seconds * MS), bought = 0, all, used;
	auc_money lost, kept, least;
	double front;

	for (const struct auc_run *r = s->plan.runs; r < s->plan.runs + s->plan.nruns; r++)
		bought += (r->to - r->from + 1) * slot;
	all = bought + s->plan.lost * slot;
	if (!all)
		return 0;
	used = conf->refund_unused == AUC_REFUND_NO ? bought : used_of(conf, s, now);
	kept = s->payment - (auc_money)((__int128)s->payment * (all - used) / all);
	front = s->plan.front * (double)AUC_CREDIT * ((double)used / (double)slot);
	lost = (auc_money)((__int128)s->payment * (all - bought) / all);
	least = front < (double)(s->payment - lost) ? (auc_money)ceil(front) : s->payment - lost;
	kept = kept > least ? kept : least;
	return s->payment - kept + of_missing(s, kept, slot, used);
}

/* What of KEPT, for USED ms of S's time, is of nodes that could not be used. */
static auc_money of_missing(const struct auc_sale *s, auc_money kept, int64_t slot, int64_t used)
{
	double all = (double)used * s->plan.nshares, missing = s->plan.missing * (double)slot;

	if (!(missing > 0) || !(all > 0))
		return 0;
	return (auc_money)((double)kept * fmin(missing / all, 1));
}

/* Milliseconds of S's slots before NOW. A job that has kept its nodes until EndMargin before the
 * end, when it must leave, has used all. */
static int64_t used_of(const struct auc_conf *conf, const struct auc_sale *s, double now)
{
	double sum = 0, from, length;

	if (conf->refund_unused == AUC_REFUND_SLOTS)
		now = (double)auc_slot_from(now, conf->slot_seconds) * conf->slot_seconds;
	else if (now >= (double)s->plan.completion * conf->slot_seconds - conf->end_margin)
		now = (double)s->plan.completion * conf->slot_seconds;
	for (const struct auc_run *r = s->plan.runs; r < s->plan.runs + s->plan.nruns; r++) {
		from = (double)r->from * conf->slot_seconds;
		length = (double)(r->to - r->from + 1) * conf->slot_seconds;
		sum += fmin(fmax(now - from, 0), length);
	}
	return llround(sum * MS);
}
