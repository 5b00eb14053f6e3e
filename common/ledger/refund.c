/* refund.c - see refund.h. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "ledger/refund.h"
#include "ledger/why.h"

#define LATE_FREE                                                                                  \
	30.0 /* seconds after its slot began: a job that has not begun is cancelled free */

static auc_money of_slots(const struct auc_conf *conf, const struct auc_sale *s, auc_slot next);

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
	/* Who uses up a limit with other jobs gives the sale back as by cancelling it. */
	bool owner = !strcmp(why, AUC_WHY_CANCELLED) || !strcmp(why, AUC_WHY_CHANGED) ||
		     !strcmp(why, AUC_WHY_LIMIT);

	/* The cluster's doing, or nobody's: it never ran. */
	if (auc_why_refunds(why) || (s->state != AUC_SALE_RUNNING && !owner))
		return s->payment;
	if (s->state != AUC_SALE_RUNNING)
		return s->payment -
		       (auc_money)(auc_refund_cancel_share(conf, s, now) * (double)s->payment);
	return of_slots(conf, s, auc_slot_from(now, conf->slot_seconds));
}

/* For the slots that S lost and, with RefundUnused, for those from NEXT on. */
static auc_money of_slots(const struct auc_conf *conf, const struct auc_sale *s, auc_slot next)
{
	auc_slot all = s->plan.lost, back = s->plan.lost;

	for (const struct auc_run *r = s->plan.runs; r < s->plan.runs + s->plan.nruns; r++) {
		all += r->to - r->from + 1;
		if (r->to >= next && conf->refund_unused)
			back += r->to - (r->from > next ? r->from : next) + 1;
	}
	return all ? (auc_money)((__int128)s->payment * back / all) : 0;
}
