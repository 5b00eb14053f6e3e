/* stepper_run.c - see stepper_run.h */
#include "config.h"

#include <string.h>

#include "policy/stepper_run.h"

struct run {
	struct auc_stepper_run *c;
	struct auc_market *m;
	bool alone;
	struct auc_stepper_ctx *ctx;
	unsigned at_hand;
};

static enum auc_code begin(struct run *r, struct auc_err *err);
static enum auc_code enter(struct run *r, unsigned i, struct auc_err *err);
static enum auc_code keep_past(struct auc_stepper_run_job *j, auc_slot from, struct auc_err *err);
static enum auc_code slot(struct run *r, auc_slot t, struct auc_err *err);
static void book(const struct run *r, const struct auc_plan *plan, auc_slot t);
static enum auc_code add(struct auc_stepper_run_job *j, auc_slot t, const struct auc_layout *layout,
			 struct auc_err *err);
static bool goes_on(const struct auc_plan *plan, auc_slot t, const struct auc_layout *layout);

enum auc_code auc_stepper_run(struct auc_stepper_run *c, struct auc_market *m, bool alone,
			      struct auc_err *err)
{
	struct run r = {.c = c, .m = m, .alone = alone};
	uint64_t work = 4 * (uint64_t)auc_market_nservers(m); /* of a slot, in steps */
	enum auc_code rc;
	auc_slot t;

	for (unsigned i = 0; i < c->n; i++)
		auc_plan_init(&c->jobs[i].made);
	rc = c->stepper->create(c->options, &r.ctx, err);
	if (rc == AUC_OK)
		rc = begin(&r, err);
	for (unsigned i = 0; i < c->n; i++)
		work += c->jobs[i].left_out ? 0 : c->jobs[i].job.chunks;
	c->steps = work;
	for (t = c->from; rc == AUC_OK && r.at_hand && t <= c->to; t++) {
		c->steps += work;
		if (c->limit && c->steps > c->limit)
			break;
		rc = slot(&r, t, err);
	}
	if (rc == AUC_OK && r.at_hand)
		rc = auc_err_set(err, AUC_EFULL, "%s: %u job%s not done by the end of the horizon",
				 c->stepper->name, r.at_hand, r.at_hand == 1 ? " is" : "s are");
	if (r.ctx)
		c->stepper->destroy(r.ctx);
	return rc;
}

static enum auc_code begin(struct run *r, struct auc_err *err)
{
	struct auc_stepper_run *c = r->c;
	enum auc_code rc = AUC_OK;

	if (!r->alone) {
		auc_market_begin_bulk(r->m);
		for (unsigned i = 0; i < c->nothers; i++)
			book(r, c->others[i], c->from);
	}
	for (int fresh = 0; fresh < 2; fresh++)
		for (unsigned i = 0; i < c->n && rc == AUC_OK; i++)
			if (c->jobs[i].fresh == fresh)
				rc = enter(r, i, err);
	for (unsigned i = 0; i < c->n && !r->alone && rc == AUC_OK; i++)
		if (c->jobs[i].left_out && c->jobs[i].plan)
			book(r, c->jobs[i].plan, c->from);
	return rc;
}

static enum auc_code enter(struct run *r, unsigned i, struct auc_err *err)
{
	struct auc_stepper_run_job *j = &r->c->jobs[i];
	enum auc_reason reason = AUC_REASON_NONE;
	enum auc_code rc;

	if (j->fresh)
		rc = r->c->stepper->arrive(r->ctx, r->m, i, &j->job, &reason, err);
	else
		rc = r->c->stepper->resume(r->ctx, r->m, i, &j->job, j->plan, r->c->from, err);
	j->left_out = rc == AUC_ESTATE || reason != AUC_REASON_NONE;
	if (j->left_out)
		return AUC_OK;
	r->at_hand += rc == AUC_OK;
	return rc == AUC_OK ? keep_past(j, r->c->from, err) : rc;
}

/* What its plan has before slot FROM. */
static enum auc_code keep_past(struct auc_stepper_run_job *j, auc_slot from, struct auc_err *err)
{
	const struct auc_share *s;
	enum auc_code rc = AUC_OK;

	j->made.arrival = j->job.arrival;
	if (j->fresh)
		return AUC_OK;
	for (const struct auc_run *run = j->plan->runs; run < j->plan->runs + j->plan->nruns;
	     run++) {
		if (run->from >= from || rc != AUC_OK)
			break;
		rc = auc_plan_add_run(&j->made, run->from, run->to < from ? run->to : from - 1,
				      err);
		for (s = j->plan->shares + run->first_share;
		     s < j->plan->shares + run->first_share + run->nshares && rc == AUC_OK; s++)
			rc = auc_plan_add_share(&j->made, s->server, s->workers, s->ps, err);
	}
	j->made.start = j->plan->start;
	j->made.worker_type = j->plan->worker_type;
	j->made.ps_type = j->plan->ps_type;
	j->made.colocated = j->plan->colocated;
	return rc;
}

static enum auc_code slot(struct run *r, auc_slot t, struct auc_err *err)
{
	struct auc_stepper_run *c = r->c;
	const struct auc_layout *layouts;
	enum auc_code rc;
	unsigned n;

	if (!r->alone && t > c->from) {
		auc_market_advance(r->m, t);
		auc_market_begin_bulk(r->m);
		for (unsigned i = 0; i < c->nothers; i++)
			book(r, c->others[i], t);
		for (unsigned i = 0; i < c->n; i++)
			if (c->jobs[i].left_out && c->jobs[i].plan)
				book(r, c->jobs[i].plan, t);
	}
	rc = c->stepper->step(r->ctx, r->m, t, &layouts, &n, err);
	for (unsigned i = 0; i < n && rc == AUC_OK; i++)
		rc = add(&c->jobs[layouts[i].id], t, &layouts[i], err);
	for (unsigned i = 0; i < n && rc == AUC_OK; i++) {
		if (!layouts[i].last)
			continue;
		r->at_hand--;
		rc = c->stepper->keep(r->ctx, layouts[i].id, &c->jobs[layouts[i].id].made, err);
	}
	return rc;
}

static void book(const struct run *r, const struct auc_plan *plan, auc_slot t)
{
	if (t >= plan->start && t < plan->completion)
		(void)auc_market_book(r->m, plan, t, t, NULL);
}

/* Slot T, after what J has, is LAYOUT's. */
static enum auc_code add(struct auc_stepper_run_job *j, auc_slot t, const struct auc_layout *layout,
			 struct auc_err *err)
{
	struct auc_plan *plan = &j->made;
	enum auc_code rc = AUC_OK;

	plan->completion = t + 1;
	if (goes_on(plan, t, layout)) {
		plan->runs[plan->nruns - 1].to = t;
		return AUC_OK;
	}
	if (!plan->nruns) {
		plan->start = t;
		plan->worker_type = layout->worker_type;
		plan->ps_type = layout->ps_type;
		plan->colocated = layout->colocated;
	}
	rc = auc_plan_add_run(plan, t, t, err);
	for (unsigned i = 0; i < layout->nshares && rc == AUC_OK; i++)
		rc = auc_plan_add_share(plan, layout->shares[i].server, layout->shares[i].workers,
					layout->shares[i].ps, err);
	return rc;
}

static bool goes_on(const struct auc_plan *plan, auc_slot t, const struct auc_layout *layout)
{
	const struct auc_run *run = plan->nruns ? &plan->runs[plan->nruns - 1] : NULL;

	return run && run->to == t - 1 && run->nshares == layout->nshares &&
	       !memcmp(plan->shares + run->first_share, layout->shares,
		       layout->nshares * sizeof(*layout->shares));
}
