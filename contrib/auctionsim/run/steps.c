/*
 * steps.c - see steps.h. The stepper is the controller's; here its layouts are booked in a market,
 * which refuses what does not fit, and written down as the plan of each job. The market has one
 * slot, the one at hand.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "auctionsim/baseline/registry.h"
#include "auctionsim/run/steps.h"
#include "auctionsim/scenario/scenario_market.h"

/* One run. */
struct steps {
	const struct scenario *s;
	const struct auc_stepper *stepper;
	struct auc_stepper_ctx *ctx;
	struct auc_market *market;
	struct auc_job job;
	struct auc_plan slot; /* scratch: a layout as a plan */
	struct result *result;
	double us; /* of the slot at hand */
	unsigned at_hand;
};

static enum auc_code run_slots(struct steps *p, const unsigned *order, replay_progress progress,
			       void *arg, double *us, struct auc_err *err);
static enum auc_code next_slot(struct steps *p, auc_slot t, struct auc_err *err);
static enum auc_code arrive(struct steps *p, auc_slot t, unsigned index, struct auc_err *err);
static enum auc_code step(struct steps *p, auc_slot t, struct auc_err *err);
static enum auc_code keep_layout(struct steps *p, auc_slot t, const struct auc_layout *layout,
				 struct auc_err *err);
static enum auc_code make_slot(struct auc_plan *plan, auc_slot from, auc_slot to,
			       const struct auc_layout *layout, struct auc_err *err);
static enum auc_code add_moves(struct auc_plan *plan, const struct auc_layout *layout,
			       struct auc_err *err);
static enum auc_code book_own(struct steps *p, auc_slot t, const struct scenario_job *job,
			      const struct auc_layout *layout, struct auc_err *err);
static enum auc_code take(struct steps *p, auc_slot t, unsigned server,
			  const struct scenario_type *type, unsigned n, struct auc_err *err);
static bool same_layout(const struct auc_plan *plan, const struct auc_layout *layout);
static enum auc_code keep_chunks(struct steps *p, unsigned index, struct auc_err *err);
static void count_preemptions(struct steps *p);

enum auc_code steps_run(const struct scenario *s, const struct auc_stepper *stepper,
			const char *options, const unsigned *order, replay_progress progress,
			void *arg, struct result *result, double *us, struct auc_err *err)
{
	struct steps p = {.s = s, .stepper = stepper, .result = result};
	enum auc_code rc = sim_stepper_create(stepper, options, &p.ctx, err);
	unsigned i;

	auc_plan_init(&p.slot);
	if (rc == AUC_OK)
		rc = scenario_market_slot(s, NULL, 1, &p.market, err);
	if (rc == AUC_OK)
		rc = run_slots(&p, order, progress, arg, us, err);
	for (i = 0; i < s->njobs && rc == AUC_OK; i++)
		if (result->jobs[i].accepted && !result->jobs[i].completed)
			rc = keep_chunks(&p, i, err);
	if (rc == AUC_OK)
		count_preemptions(&p);
	if (rc == AUC_OK && stepper->remark)
		result->remark = stepper->remark(p.ctx);
	if (p.ctx)
		stepper->destroy(p.ctx);
	auc_plan_clear(&p.slot);
	auc_job_clear(&p.job);
	auc_market_destroy(p.market);
	return rc;
}

static enum auc_code run_slots(struct steps *p, const unsigned *order, replay_progress progress,
			       void *arg, double *us, struct auc_err *err)
{
	auc_slot t, last = (auc_slot)p->s->slots;
	enum auc_code rc = AUC_OK;
	unsigned next = 0;
	bool came;

	for (t = 1; t <= last && rc == AUC_OK; t++) {
		p->us = 0;
		rc = next_slot(p, t, err);
		for (came = false; next < p->s->njobs && rc == AUC_OK; next++, came = true) {
			if ((auc_slot)p->s->jobs[order[next]].arrival > t)
				break;
			rc = arrive(p, t, order[next], err);
		}
		if (came || p->at_hand) {
			rc = rc == AUC_OK ? step(p, t, err) : rc;
			us[p->result->decisions++] = p->us;
		}
		if (rc == AUC_OK && progress && !progress(arg, (unsigned)t, (unsigned)last))
			rc = auc_err_set(err, AUC_ESTATE, "the work was stopped");
	}
	for (; next < p->s->njobs; next++)
		p->result->jobs[order[next]].reason = AUC_REASON_CAPACITY;
	return rc;
}

static enum auc_code next_slot(struct steps *p, auc_slot t, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	if (t > auc_market_first(p->market)) {
		auc_market_advance(p->market, t);
		if (p->s->nstate)
			rc = scenario_market_state(p->s, p->market, err);
	}
	/* Nobody asks for prices or for what fits from here on: the market need not keep them. */
	auc_market_begin_bulk(p->market);
	return rc;
}

static enum auc_code arrive(struct steps *p, auc_slot t, unsigned index, struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[index];
	struct outcome *o = &p->result->jobs[index];
	struct auc_market *own = NULL;
	enum auc_code rc = AUC_OK;
	double before;

	if (scenario_market_is_own(job))
		rc = scenario_market_slot(p->s, job, t, &own, err);
	if (rc == AUC_OK)
		rc = p->stepper->sites
			     ? scenario_market_site_job(p->s, job, &p->job, err)
			     : scenario_market_task(p->s, job, own ? own : p->market, &p->job, err);
	if (rc == AUC_OK) {
		before = auc_clock(CLOCK_THREAD_CPUTIME_ID);
		rc = p->stepper->arrive(p->ctx, own ? own : p->market, index, &p->job, &o->reason,
					err);
		if (rc != AUC_OK)
			auc_err_prefix(err, "%s: $.jobs[%u]", p->s->file, index);
		p->us += (auc_clock(CLOCK_THREAD_CPUTIME_ID) - before) * 1e6;
	}
	auc_market_destroy(own);
	if (rc != AUC_OK)
		return rc;
	o->accepted = o->reason == AUC_REASON_NONE;
	o->plan.arrival = p->job.arrival;
	p->at_hand += o->accepted;
	return AUC_OK;
}

static enum auc_code step(struct steps *p, auc_slot t, struct auc_err *err)
{
	const struct auc_layout *layouts;
	double before = auc_clock(CLOCK_THREAD_CPUTIME_ID);
	enum auc_code rc;
	unsigned i, n;

	rc = p->stepper->step(p->ctx, p->market, t, &layouts, &n, err);
	p->us += (auc_clock(CLOCK_THREAD_CPUTIME_ID) - before) * 1e6;
	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = keep_layout(p, t, &layouts[i], err);
	for (i = 0; i < n && rc == AUC_OK; i++)
		if (layouts[i].last)
			rc = keep_chunks(p, (unsigned)layouts[i].id, err);
	return rc;
}

/* Books it and adds it to the job's plan. */
static enum auc_code keep_layout(struct steps *p, auc_slot t, const struct auc_layout *layout,
				 struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[layout->id];
	struct outcome *o = &p->result->jobs[layout->id];
	struct auc_plan *plan = &o->plan;
	enum auc_code rc;

	auc_plan_reset(&p->slot);
	p->slot.worker_type = layout->worker_type;
	p->slot.ps_type = layout->ps_type;
	rc = make_slot(&p->slot, t, t, layout, err);
	if (rc == AUC_OK)
		rc = scenario_market_is_own(job) ? book_own(p, t, job, layout, err)
						 : auc_market_book(p->market, &p->slot, t, t, err);
	if (rc != AUC_OK) {
		auc_err_prefix(err, "policy %s, job %.80s", p->stepper->name, job->id);
		return rc;
	}
	if (!plan->nruns) {
		plan->start = t;
		plan->worker_type = layout->worker_type;
		plan->ps_type = layout->ps_type;
		plan->colocated = true;
	}
	plan->colocated = plan->colocated && layout->colocated;
	if (plan->nruns && plan->runs[plan->nruns - 1].to == t - 1 && same_layout(plan, layout)) {
		plan->runs[plan->nruns - 1].to = t;
		rc = add_moves(plan, layout, err);
	} else {
		rc = make_slot(plan, t, t, layout, err);
	}
	if (!layout->last)
		return rc;
	p->at_hand--;
	o->completed = true;
	plan->completion = t + 1;
	plan->value = auc_utility_value(&job->utility, (double)(t + 1 - plan->arrival));
	o->value = plan->value;
	return rc;
}

/* Adds a run of slots with the shares of LAYOUT. */
static enum auc_code make_slot(struct auc_plan *plan, auc_slot from, auc_slot to,
			       const struct auc_layout *layout, struct auc_err *err)
{
	enum auc_code rc = auc_plan_add_run(plan, from, to, err);
	const struct auc_share *share;

	for (share = layout->shares; share < layout->shares + layout->nshares && rc == AUC_OK;
	     share++)
		rc = auc_plan_add_share(plan, share->server, share->workers, share->ps, err);
	return rc == AUC_OK ? add_moves(plan, layout, err) : rc;
}

static enum auc_code add_moves(struct auc_plan *plan, const struct auc_layout *layout,
			       struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	plan->chunk_mb = layout->chunk_mb;
	plan->exchange_mb = layout->exchange_mb;
	for (unsigned i = 0; i < layout->nmoves && rc == AUC_OK; i++) {
		const struct auc_move *move = &layout->moves[i];

		rc = auc_plan_add_move(plan, move->slot, move->from, move->to, move->chunks, err);
	}
	return rc;
}

/* The market does not know the types of JOB's own. */
static enum auc_code book_own(struct steps *p, auc_slot t, const struct scenario_job *job,
			      const struct auc_layout *layout, struct auc_err *err)
{
	unsigned w = layout->worker_type, z = layout->ps_type;
	const struct scenario *s = p->s;
	const struct scenario_type *worker = w < s->nworker_types
						     ? &s->worker_types[w]
						     : &job->worker_types[w - s->nworker_types];
	const struct scenario_type *ps =
		z < s->nps_types ? &s->ps_types[z] : &job->ps_types[z - s->nps_types];
	const struct auc_share *share;
	enum auc_code rc = AUC_OK;

	for (share = layout->shares; share < layout->shares + layout->nshares && rc == AUC_OK;
	     share++) {
		rc = take(p, t, share->server, worker, share->workers, err);
		if (rc == AUC_OK)
			rc = take(p, t, share->server, ps, share->ps, err);
	}
	if (rc == AUC_OK)
		rc = auc_market_reserve_traffic(p->market, t, t,
						auc_plan_traffic(&p->slot, p->slot.runs, t), err);
	return rc;
}

static enum auc_code take(struct steps *p, auc_slot t, unsigned server,
			  const struct scenario_type *type, unsigned n, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;
	int tres;

	for (i = 0; i < type->ntres && n && rc == AUC_OK; i++) {
		tres = auc_market_find_tres(p->market, type->tres[i].name);
		if (tres >= 0)
			rc = auc_market_reserve(p->market, server, (unsigned)tres, t, t,
						n * type->tres[i].value, err);
		else if (type->tres[i].value > 0)
			rc = auc_err_set(err, AUC_EFULL, "no server has %s", type->tres[i].name);
	}
	return rc;
}

/* As in the last run of PLAN. */
static bool same_layout(const struct auc_plan *plan, const struct auc_layout *layout)
{
	const struct auc_run *run = &plan->runs[plan->nruns - 1];
	const struct auc_share *a = plan->shares + run->first_share, *b = layout->shares;
	unsigned i;

	if (run->nshares != layout->nshares)
		return false;
	for (i = 0; i < run->nshares; i++)
		if (a[i].server != b[i].server || a[i].workers != b[i].workers ||
		    a[i].ps != b[i].ps)
			return false;
	return true;
}

/* What became of each chunk, of policies that know it. */
static enum auc_code keep_chunks(struct steps *p, unsigned index, struct auc_err *err)
{
	struct outcome *o = &p->result->jobs[index];
	const struct auc_chunk *chunks;
	enum auc_code rc;
	size_t runs;
	unsigned i, n;

	if (!p->stepper->chunks)
		return AUC_OK;
	rc = p->stepper->chunks(p->ctx, index, &chunks, &n, err);
	if (rc != AUC_OK)
		return rc;
	o->chunks = calloc(n + 1, sizeof(*o->chunks));
	for (i = 0; i < n && o->chunks; i++) {
		runs = chunks[i].nruns * sizeof(*chunks[i].runs);
		o->chunks[i] = chunks[i];
		o->chunks[i].runs = malloc(runs + 1);
		o->nchunks = i + 1;
		if (!o->chunks[i].runs)
			break;
		memcpy((void *)o->chunks[i].runs, chunks[i].runs, runs);
	}
	return o->chunks && i == n ? AUC_OK
				   : auc_err_set(err, AUC_ENOMEM, "%s: no memory", p->s->file);
}

/*
 * How often a job, or each chunk of one that is trained by chunks, was stopped before its work was
 * done; that the horizon ends is no preemption.
 */
static void count_preemptions(struct steps *p)
{
	auc_slot last = (auc_slot)p->s->slots;
	const struct auc_chunk *chunk;
	const struct auc_run *run;
	const struct outcome *o;
	unsigned i;

	for (o = p->result->jobs; o < p->result->jobs + p->result->njobs; o++) {
		for (chunk = o->chunks; chunk && chunk < o->chunks + o->nchunks; chunk++)
			p->result->preemptions += chunk->preemptions;
		if (o->chunks || !o->plan.nruns)
			continue;
		run = o->plan.runs;
		for (i = 1; i < o->plan.nruns; i++)
			p->result->preemptions += run[i].from > run[i - 1].to + 1;
		if (!o->completed && run[o->plan.nruns - 1].to < last)
			p->result->preemptions++;
	}
}
