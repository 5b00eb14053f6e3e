/* rearrange.c - see rearrange.h */
#include "config.h"

#include "rearrange.h"

#define SAVES 0.001 /* of what the old schedule costs by now: less is not worth a move */

static void begin_at(struct auc_job *job, unsigned nservers, auc_slot from);
static void keep_types(struct auc_job *job, const struct auc_plan *plan);

enum auc_code auc_rearrange(const struct auc_rearrange *x, struct auc_job *job,
			    const struct auc_plan *old, struct auc_decision *d, bool *found,
			    struct auc_err *err)
{
	auc_slot last = auc_market_last(x->market);
	struct auc_utility utility = job->utility;
	struct auc_plan *plan = &d->plan;
	enum auc_code rc, back;
	double cost;

	*found = false;
	rc = auc_market_unbook(x->market, old, x->from, last, err);
	if (rc != AUC_OK)
		return rc;
	cost = auc_plan_cost(old, x->market);
	/* Whatever completes in time is worth what the old one costs, less what must be saved. */
	begin_at(job, auc_market_nservers(x->market), x->from);
	keep_types(job, old);
	job->utility = (struct auc_utility){
		.form = AUC_FORM_DEADLINE,
		.scale = (1 - SAVES) * cost,
		.target = (double)(old->completion - job->arrival),
	};
	if (cost > 0)
		rc = x->quote(x->arg, job, d, err);
	back = auc_market_book(x->market, old, x->from, last, err);
	if (rc != AUC_OK || back != AUC_OK)
		return rc != AUC_OK ? rc : back;
	*found = cost > 0 && d->accepted &&
		 (!auc_plan_lead(old)->workers || auc_plan_lead(plan)->workers);
	plan->arrival = old->arrival;
	plan->cost = old->cost;
	plan->value = auc_utility_value(&utility, (double)(plan->completion - plan->arrival));
	return AUC_OK;
}

/* JOB, as if it had come in slot FROM: what of its data was on the way by then has come nearer. */
static void begin_at(struct auc_job *job, unsigned nservers, auc_slot from)
{
	auc_slot passed = from - job->arrival;

	if (passed <= 0)
		return;
	job->arrival = from;
	for (unsigned i = 0; i < nservers; i++)
		if (job->upload[i] != UINT32_MAX)
			job->upload[i] -=
				job->upload[i] > passed ? (unsigned)passed : job->upload[i];
}

static void keep_types(struct auc_job *job, const struct auc_plan *plan)
{
	for (unsigned i = 0; i < AUC_TYPES_MAX; i++) {
		if (i != plan->worker_type)
			job->worker_seconds[i] = -1;
		if (i != plan->ps_type)
			job->ps_seconds[i] = -1;
	}
}
