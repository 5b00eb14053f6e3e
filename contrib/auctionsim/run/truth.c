/* truth.c - see truth.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "market/timeline.h"
#include "auctionsim/run/truth.h"
#include "auctionsim/scenario/scenario_market.h"

/* What a job that was sold has come to. */
struct tale {
	bool started, ended;
	double said;          /* worker-slots, as the job says */
	double left;          /* worker-slots that it really needs behind its plan */
	auc_slot done;        /* in its plan: the slot after it was done; 0: it will not be */
	auc_slot until;       /* the last slot that it holds */
	unsigned more;        /* slots that it held behind its plan */
	double paid;          /* for those */
	unsigned waited;      /* slots since it held one */
	struct auc_plan spot; /* where it is, in its only run, once it has moved */
};

struct truth {
	struct truth_world w;
	unsigned *rank; /* by job: its place in the order of arrival */
	struct tale *tales;
	unsigned nlive;
	unsigned *live; /* that have been sold and not ended, by rank */
	struct auc_job job;
};

static enum auc_code begin(struct truth *t, unsigned index, struct auc_err *err);
static double work_in(const struct truth *t, const struct auc_market *m, const struct auc_job *job,
		      const struct auc_plan *plan, double factor);
static double plan_work(const struct auc_plan *plan);
static unsigned workers_of(const struct auc_plan *plan, const struct auc_run *run);
static void follow(struct tale *tale, const struct auc_plan *plan, double work);
static enum auc_code finish(struct truth *t, unsigned index, auc_slot now, struct auc_err *err);
static enum auc_code go_on(struct truth *t, unsigned index, auc_slot now, struct auc_err *err);
static enum auc_code end(struct truth *t, unsigned index, auc_slot now, bool killed,
			 struct auc_err *err);
static enum auc_code hold(struct truth *t, unsigned index, auc_slot now, bool *held,
			  struct auc_err *err);
static enum auc_code slot_alone(const struct auc_plan *plan, auc_slot now, struct auc_plan *one,
				struct auc_err *err);
static bool moves(const struct truth *t, const struct auc_plan *plan);
static enum auc_code elsewhere(const struct truth *t, unsigned index, const struct auc_market *m,
			       struct auc_plan *one, bool *found, struct auc_err *err);
static bool fits(const struct auc_market *m, const struct auc_plan *one, unsigned share,
		 unsigned server);
static int by_server(const void *a, const void *b);
static double worth(const struct truth *t, unsigned index, auc_slot completion);
static enum auc_code open_own(const struct truth *t, unsigned index, struct auc_market **m,
			      struct auc_err *err);
static enum auc_code close_own(const struct truth *t, struct auc_market *m, enum auc_code rc,
			       struct auc_err *err);
static unsigned slots_before(const struct auc_plan *plan, auc_slot t);

enum auc_code truth_open(const struct truth_world *w, struct truth **out, struct auc_err *err)
{
	struct truth *t = calloc(1, sizeof(*t));

	*out = t;
	if (t) {
		t->w = *w;
		t->rank = calloc(w->s->njobs + 1, sizeof(*t->rank));
		t->tales = calloc(w->s->njobs + 1, sizeof(*t->tales));
		t->live = calloc(w->s->njobs + 1, sizeof(*t->live));
	}
	if (!t || !t->rank || !t->tales || !t->live) {
		truth_close(t);
		*out = NULL;
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", w->s->file);
	}
	for (unsigned i = 0; i < w->s->njobs; i++)
		t->rank[w->order[i]] = i;
	return AUC_OK;
}

void truth_close(struct truth *t)
{
	if (!t)
		return;
	auc_job_clear(&t->job);
	for (unsigned i = 0; t->tales && i < t->w.s->njobs; i++)
		auc_plan_clear(&t->tales[i].spot);
	free(t->rank);
	free(t->tales);
	free(t->live);
	free(t);
}

void truth_sold(struct truth *t, unsigned index)
{
	struct outcome *o = &t->w.result->jobs[index];
	unsigned i;

	o->realised = (struct realised){.known = true};
	if (!o->plan.nruns)
		return;
	t->tales[index] = (struct tale){.until = o->plan.completion - 1};
	for (i = t->nlive++; i && t->rank[t->live[i - 1]] > t->rank[index]; i--)
		t->live[i] = t->live[i - 1];
	t->live[i] = index;
}

bool truth_ended(const struct truth *t, unsigned index)
{
	return t->tales[index].ended;
}

enum auc_code truth_slot(struct truth *t, auc_slot now, struct auc_err *err)
{
	const struct outcome *jobs = t->w.result->jobs;
	enum auc_code rc = AUC_OK;
	unsigned i, n = 0;

	for (i = 0; i < t->nlive && rc == AUC_OK; i++) {
		struct tale *tale = &t->tales[t->live[i]];

		if (!tale->started && jobs[t->live[i]].plan.start < now)
			rc = begin(t, t->live[i], err);
		if (rc == AUC_OK && tale->started && tale->done == now)
			rc = finish(t, t->live[i], now, err);
	}
	for (i = 0; i < t->nlive && rc == AUC_OK; i++) {
		struct tale *tale = &t->tales[t->live[i]];

		if (!tale->ended && tale->started && tale->until + 1 == now)
			rc = go_on(t, t->live[i], now, err);
	}
	for (i = 0; i < t->nlive; i++)
		if (!t->tales[t->live[i]].ended)
			t->live[n++] = t->live[i];
	t->nlive = n;
	return rc;
}

/* Its plan stands from now on: how far that takes it. */
static enum auc_code begin(struct truth *t, unsigned index, struct auc_err *err)
{
	const struct scenario_job *job = &t->w.s->jobs[index];
	const struct auc_plan *plan = &t->w.result->jobs[index].plan;
	struct tale *tale = &t->tales[index];
	struct auc_market *own = NULL, *m = t->w.market;
	enum auc_code rc = AUC_OK;

	if (scenario_market_is_own(job))
		rc = scenario_market_create(t->w.s, job, &own, err);
	m = own ? own : m;
	if (rc == AUC_OK)
		rc = t->w.policy->sites ? scenario_market_site_job(t->w.s, job, &t->job, err)
					: scenario_market_task(t->w.s, job, m, &t->job, err);
	if (rc == AUC_OK) {
		tale->said = work_in(t, m, &t->job, plan, 1);
		auc_job_stretch(&t->job, job->true_time);
		tale->started = true;
		tale->until = plan->completion - 1;
		follow(tale, plan, work_in(t, m, &t->job, plan, job->true_time));
	}
	auc_market_destroy(own);
	return rc;
}

/* Worker-slots that JOB, which is FACTOR times as long as it says, needs on the types of PLAN. */
static double work_in(const struct truth *t, const struct auc_market *m, const struct auc_job *job,
		      const struct auc_plan *plan, double factor)
{
	if (plan->gang)
		return job->shapes[plan->shape].seconds / t->w.s->slot_seconds *
		       workers_of(plan, plan->runs);
	if (t->w.policy->sites || t->w.policy->posts)
		return plan_work(plan) * factor; /* where chunks lie, and places, make it up */
	if (t->w.policy->prices == AUC_PRICE_BOUNDS)
		return (double)auc_job_worker_slots(m, job, plan->worker_type);
	return auc_job_work(m, job, plan->worker_type, plan->ps_type, plan->colocated);
}

static double plan_work(const struct auc_plan *plan)
{
	const struct auc_run *run;
	double sum = 0;

	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		sum += (double)(run->to - run->from + 1) * workers_of(plan, run);
	return sum;
}

static unsigned workers_of(const struct auc_plan *plan, const struct auc_run *run)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < run->nshares; i++)
		sum += plan->shares[run->first_share + i].workers;
	return sum;
}

/* When WORK is done in PLAN, or what of it is left behind it. */
static void follow(struct tale *tale, const struct auc_plan *plan, double work)
{
	const struct auc_run *run;
	unsigned n;

	tale->done = 0;
	for (run = plan->runs; run < plan->runs + plan->nruns; run++) {
		int64_t slots = run->to - run->from + 1, needed;

		n = workers_of(plan, run);
		needed = n ? auc_job_duration(work, n) : slots + 1;
		if (needed <= slots) {
			tale->done = run->from + needed;
			return;
		}
		work -= (double)slots * n;
	}
	tale->left = work;
}

/* It is done, and NOW is the first slot that it does not need. */
static enum auc_code finish(struct truth *t, unsigned index, auc_slot now, struct auc_err *err)
{
	struct outcome *o = &t->w.result->jobs[index];
	struct auc_market *own = NULL;
	enum auc_code rc = AUC_OK;

	if (now < o->plan.completion) {
		rc = open_own(t, index, &own, err);
		if (rc == AUC_OK)
			rc = auc_market_unbook(own ? own : t->w.market, &o->plan, now,
					       (auc_slot)t->w.s->slots, err);
		rc = close_own(t, own, rc, err);
		for (unsigned i = 0; i < o->plan.nruns && rc == AUC_OK && t->w.freed; i++) {
			const struct auc_run *run = &o->plan.runs[i];

			for (unsigned k = 0; k < run->nshares && run->to >= now; k++)
				t->w.freed(t->w.arg, o->plan.shares[run->first_share + k].server,
					   run->from > now ? run->from : now, run->to);
		}
	}
	return rc == AUC_OK ? end(t, index, now, false, err) : rc;
}

/* Its plan is over, and it is not done. */
static enum auc_code go_on(struct truth *t, unsigned index, auc_slot now, struct auc_err *err)
{
	const struct auc_plan *plan = &t->w.result->jobs[index].plan;
	struct tale *tale = &t->tales[index];
	unsigned n = workers_of(plan, &plan->runs[plan->nruns - 1]);
	enum auc_code rc;
	bool held = false;

	if (tale->more && n && auc_ceil(tale->left / n) <= tale->more)
		return end(t, index, now, false, err);
	if (t->w.s->times.overrun == SCENARIO_OVERRUN_KILL || now > (auc_slot)t->w.s->slots || !n)
		return end(t, index, now, true, err);
	rc = hold(t, index, now, &held, err);
	if (rc != AUC_OK || held)
		return rc;
	if (!moves(t, plan) || ++tale->waited == SCENARIO_OVERRUN_AHEAD ||
	    !(worth(t, index, now + 1) > 0))
		return end(t, index, now, true, err);
	tale->until = now;
	return AUC_OK;
}

/* Slot NOW on what it had in its last one, or elsewhere. */
static enum auc_code hold(struct truth *t, unsigned index, auc_slot now, bool *held,
			  struct auc_err *err)
{
	struct outcome *o = &t->w.result->jobs[index];
	const struct scenario_job *job = &t->w.s->jobs[index];
	struct tale *tale = &t->tales[index];
	double value = worth(t, index, now + 1), price;
	struct auc_market *own = NULL, *m;
	bool moved = false;
	struct auc_plan one;
	enum auc_code rc;

	if (!(value > 0))
		return AUC_OK;
	auc_plan_init(&one);
	rc = slot_alone(tale->spot.nruns ? &tale->spot : &o->plan, now, &one, err);
	if (rc == AUC_OK)
		rc = open_own(t, index, &own, err);
	m = own ? own : t->w.market;
	*held = rc == AUC_OK && auc_market_has_room(m, &one, NULL) == AUC_OK;
	if (rc == AUC_OK && !*held && moves(t, &o->plan)) {
		rc = elsewhere(t, index, m, &one, &moved, err);
		*held = rc == AUC_OK && moved;
	}
	if (*held) {
		price = t->w.policy->posts ? o->payment / slots_before(&o->plan, now)
			: auc_policy_is_priced(t->w.policy) ? auc_plan_cost(&one, m)
							    : 0;
		price = fmin(price, fmax(0, value - o->payment - tale->paid));
		if (job->purse)
			price = fmin(price, t->w.left[job->purse - 1]);
		rc = auc_market_book(m, &one, now, now, err);
		if (rc == AUC_OK && job->purse)
			t->w.left[job->purse - 1] -= price;
		if (rc == AUC_OK && moved)
			rc = auc_plan_copy(&tale->spot, &one, err);
		o->realised.moves += moved;
		tale->paid += price;
		tale->more++;
		tale->until = now;
		tale->waited = 0;
	}
	rc = close_own(t, own, rc, err);
	auc_plan_clear(&one);
	return rc;
}

/* ONE (initialised) becomes slot NOW with the layout of PLAN's last run. */
static enum auc_code slot_alone(const struct auc_plan *plan, auc_slot now, struct auc_plan *one,
				struct auc_err *err)
{
	const struct auc_run *run = &plan->runs[plan->nruns - 1];
	enum auc_code rc = auc_plan_copy(one, plan, err);

	one->nruns = one->nshares = one->nmoves = 0;
	one->start = now;
	one->completion = now + 1;
	if (rc == AUC_OK)
		rc = auc_plan_add_run(one, now, now, err);
	for (unsigned i = 0; i < run->nshares && rc == AUC_OK; i++) {
		const struct auc_share *share = &plan->shares[run->first_share + i];

		rc = auc_plan_add_share(one, share->server, share->workers, share->ps, err);
	}
	return rc;
}

/* True if what is sold as PLAN may go on elsewhere: where chunks lie, or a price was taken for a
 * place, it may not, nor behind one switch. */
static bool moves(const struct truth *t, const struct auc_plan *plan)
{
	return t->w.s->times.overrun == SCENARIO_OVERRUN_MOVE && !t->w.policy->sites &&
	       !t->w.policy->posts && !plan->within_switch;
}

/* Puts what of ONE, which is a slot, has no room where it is on other servers. */
static enum auc_code elsewhere(const struct truth *t, unsigned index, const struct auc_market *m,
			       struct auc_plan *one, bool *found, struct auc_err *err)
{
	const struct scenario_job *job = &t->w.s->jobs[index];
	bool *taken = calloc(t->w.s->nservers + 1, sizeof(*taken));
	bool *stays = calloc(one->nshares + 1, sizeof(*stays));
	unsigned k;

	*found = taken && stays;
	for (unsigned i = 0; i < one->nshares && *found; i++) {
		k = one->shares[i].server;
		stays[i] = fits(m, one, i, k);
		taken[k] = stays[i];
	}
	for (unsigned i = 0; i < one->nshares && *found; i++) {
		if (stays[i])
			continue;
		for (k = 0; k < t->w.s->nservers; k++)
			if (!taken[k] &&
			    (double)job->arrival + scenario_upload(job, k) <= (double)one->start &&
			    fits(m, one, i, k))
				break;
		*found = k < t->w.s->nservers;
		if (*found) {
			one->shares[i].server = k;
			taken[k] = true;
		}
	}
	qsort(one->shares, one->nshares, sizeof(*one->shares), by_server);
	if (!taken || !stays)
		auc_err_set(err, AUC_ENOMEM, "%s: no memory", t->w.s->file);
	k = taken && stays;
	free(taken);
	free(stays);
	return k ? AUC_OK : AUC_ENOMEM;
}

/* True if SERVER has room for SHARE of ONE. */
static bool fits(const struct auc_market *m, const struct auc_plan *one, unsigned share,
		 unsigned server)
{
	struct auc_run run = {.from = one->start, .to = one->start, .nshares = 1};
	struct auc_share alone = one->shares[share];
	struct auc_plan plan = *one;

	alone.server = server;
	plan.runs = &run;
	plan.nruns = 1;
	plan.shares = &alone;
	plan.nshares = 1;
	return auc_market_has_room(m, &plan, NULL) == AUC_OK;
}

static int by_server(const void *a, const void *b)
{
	const struct auc_share *x = a, *y = b;

	return (x->server > y->server) - (x->server < y->server);
}

/* It has ended, and NOW is the first slot that it does not hold. */
static enum auc_code end(struct truth *t, unsigned index, auc_slot now, bool killed,
			 struct auc_err *err)
{
	const struct scenario_job *job = &t->w.s->jobs[index];
	struct outcome *o = &t->w.result->jobs[index];
	struct tale *tale = &t->tales[index];
	unsigned all = slots_before(&o->plan, o->plan.completion);
	unsigned used = slots_before(&o->plan, now), n;
	double had = plan_work(&o->plan);

	tale->ended = true;
	n = workers_of(&o->plan, &o->plan.runs[o->plan.nruns - 1]);
	o->realised.payment = tale->paid + (used < all ? o->payment * used / all : o->payment);
	if (job->purse)
		t->w.left[job->purse - 1] += used < all ? o->payment - o->payment * used / all : 0;
	if (killed) {
		t->w.result->killed++;
		return margin_heard(t->w.margin, job->user, (had + tale->more * n) / tale->said,
				    true, err);
	}
	o->realised.completion = now;
	o->realised.value = worth(t, index, now);
	return margin_heard(t->w.margin, job->user, job->true_time, false, err);
}

/* What the job of INDEX is worth if it is complete in slot COMPLETION. */
static double worth(const struct truth *t, unsigned index, auc_slot completion)
{
	const struct scenario_job *job = &t->w.s->jobs[index];

	if (t->w.policy->posts && job->budget >= 0)
		return job->budget;
	return auc_utility_value(&job->utility, (double)(completion - (auc_slot)job->arrival));
}

/* A market with JOB's own types, if it has any; its state goes back to the common one. */
static enum auc_code open_own(const struct truth *t, unsigned index, struct auc_market **m,
			      struct auc_err *err)
{
	const struct scenario_job *job = &t->w.s->jobs[index];
	enum auc_code rc = AUC_OK;

	*m = NULL;
	if (!scenario_market_is_own(job))
		return AUC_OK;
	rc = scenario_market_create(t->w.s, job, m, err);
	return rc == AUC_OK ? auc_market_copy_state(*m, t->w.market, err) : rc;
}

/* M may be NULL; RC: what came of it so far. */
static enum auc_code close_own(const struct truth *t, struct auc_market *m, enum auc_code rc,
			       struct auc_err *err)
{
	if (m && rc == AUC_OK)
		rc = auc_market_copy_state(t->w.market, m, err);
	auc_market_destroy(m);
	return rc;
}

/* Slots of PLAN before slot T. */
static unsigned slots_before(const struct auc_plan *plan, auc_slot t)
{
	const struct auc_run *run;
	unsigned sum = 0;

	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		if (run->from < t)
			sum += (unsigned)((run->to < t ? run->to : t - 1) - run->from + 1);
	return sum;
}
