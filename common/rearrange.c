/* rearrange.c - see rearrange.h */
#include "config.h"

#include "rearrange.h"

#define SAVES 0.001 /* of what the old schedule costs by now: less is not worth a move */

/* The most that a plan needs at a time. Its nodes are as many jobs of Slurm, the lead and others;
 * what the others are to have on one node, and what all have together. */
struct need {
	unsigned nodes, other_workers, other_ps, workers, ps;
	auc_slot slots;
};

static struct need need_of(const struct auc_plan *p);
static bool needs_no_more(const struct auc_plan *p, const struct auc_plan *old);
static unsigned umax(unsigned a, unsigned b);
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
	*found = cost > 0 && d->accepted && needs_no_more(plan, old) &&
		 (!auc_plan_lead(old)->workers || auc_plan_lead(plan)->workers);
	plan->arrival = old->arrival;
	plan->cost = old->cost;
	plan->value = auc_utility_value(&utility, (double)(plan->completion - plan->arrival));
	return AUC_OK;
}

/*
 * A limit of its owner that lets the old plan run is not to end the new one, which nobody asked
 * for. Of the lead only the number and the sum of all count: it is there, and a change of it by
 * slurmctld's own user is not held against its limits.
 */
static bool needs_no_more(const struct auc_plan *p, const struct auc_plan *old)
{
	const struct auc_share *lead = auc_plan_lead(old);
	struct need a = need_of(p), b = need_of(old);

	return a.nodes <= b.nodes && a.workers <= b.workers && a.ps <= b.ps &&
	       a.other_workers <= umax(b.other_workers, lead->workers) &&
	       a.other_ps <= umax(b.other_ps, lead->ps) && a.slots <= b.slots;
}

static struct need need_of(const struct auc_plan *p)
{
	const struct auc_share *lead = auc_plan_lead(p);
	struct need most = {.slots = p->completion - p->start};

	for (const struct auc_run *r = p->runs; r < p->runs + p->nruns; r++) {
		unsigned workers = 0, ps = 0;

		for (unsigned i = r->first_share; i < r->first_share + r->nshares; i++) {
			const struct auc_share *s = &p->shares[i];

			workers += s->workers;
			ps += s->ps;
			if (s == lead)
				continue;
			most.other_workers = umax(most.other_workers, s->workers);
			most.other_ps = umax(most.other_ps, s->ps);
		}
		most.nodes = umax(most.nodes, r->nshares);
		most.workers = umax(most.workers, workers);
		most.ps = umax(most.ps, ps);
	}
	return most;
}

static unsigned umax(unsigned a, unsigned b)
{
	return a > b ? a : b;
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
