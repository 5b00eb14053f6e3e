/*
 * replay.c - see replay.h. The decisions are the controller's: the same policies over the same
 * market. A job with types of its own is decided in a market of its own, which takes over what is
 * sold and what it costs; what it buys is then taken out of the common one.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "auctionsim/baseline/easy.h"
#include "auctionsim/baseline/registry.h"
#include "pricing/nearness.h"
#include "base/clock.h"
#include "auctionsim/optimum/dorm.h"
#include "base/num.h"
#include "auctionsim/optimum/offline.h"
#include "auctionsim/run/posted_world.h"
#include "auctionsim/run/prices.h"
#include "policy/option.h"
#include "policy/time_range.h"
#include "auction/rearrange_search.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/run/standing.h"
#include "auctionsim/run/steps.h"
#include "auctionsim/run/teacher.h"
#include "auctionsim/run/truth.h"
#include "auctionsim/scenario/scenario_market.h"

/* One run. */
struct replay {
	const struct scenario *s;
	const struct auc_policy *policy; /* or */
	const struct auc_stepper *stepper;
	bool offline, offline_oasis; /* it is policy offline, offline-oasis */
	bool easy;                   /* it is policy easy */
	bool sites;                  /* the policy is one of sites */
	const char *options;
	struct auc_policy_ctx *ctx;
	const struct result *made; /* decisions that are repeated; NULL: the policy decides */
	struct auc_market *market;
	struct prices *prices;     /* NULL: of a policy that prices nothing */
	auc_slot now;              /* the last slot that began */
	struct margin *margin;     /* of true times, else NULL */
	struct truth *truth;       /* the same */
	double planned;            /* for how many times what it says the job at hand is planned */
	struct standing *standing; /* of bids that stand, else NULL */
	unsigned *due;             /* the same: those that are decided again */
	auc_slot rearranged; /* in which sold jobs that wait were placed anew last; 0: never */
	struct auc_job job;
	double *left;                       /* by budget of the scenario: credits that are left */
	struct auc_decision decision, best; /* BEST: of several plans, up to now */
	unsigned *order;                    /* of arrival */
	double *us;                         /* time of each decision */
	struct result *result;
};

static void sort_arrivals(struct replay *p);
static enum auc_code refuse(const struct replay *p, const char *policy, struct auc_err *err);
static enum auc_code open_policy(struct replay *p, const char *text, struct auc_err *err);
static enum auc_code open_bfp(struct replay *p, struct auc_err *err);
static enum auc_code open_posted(struct replay *p, struct auc_err *err);
static enum auc_code repeat_all(struct replay *p, replay_look look, void *arg, struct auc_err *err);
static enum auc_code prepare(struct replay *p, struct auc_err *err);
static enum auc_code open_truth(struct replay *p, struct auc_err *err);
static void follow(struct replay *p, unsigned index, auc_slot now);
static enum auc_code resolve(struct replay *p, unsigned index, struct auc_err *err);
static enum auc_code pass_time(struct replay *p, uint64_t to, struct auc_err *err);
static enum auc_code ask_standing(struct replay *p, auc_slot now, struct auc_err *err);
static void hear_freed(void *arg, unsigned server, auc_slot from, auc_slot to);
static enum auc_code ask(struct replay *p, unsigned index, auc_slot now, struct auc_err *err);
static void age(struct auc_job *job, unsigned nservers, auc_slot now);
static enum auc_code decide(struct replay *p, unsigned index, struct auc_err *err);
static enum auc_code sell(struct replay *p, struct auc_market *own, unsigned index, auc_slot now,
			  struct auc_err *err);
static enum auc_code quote(struct replay *p, struct auc_market *m, unsigned index, auc_slot now,
			   struct auc_err *err);
static enum auc_code quote_as(struct replay *p, struct auc_market *m, unsigned index, auc_slot now,
			      double planned, struct auc_err *err);
static enum auc_code quote_range(struct replay *p, struct auc_market *m, unsigned index,
				 auc_slot now, struct auc_err *err);
static void hear_moved(struct replay *p, const struct auc_plan *plan);
static enum auc_code rearrange(struct replay *p, auc_slot now, struct auc_err *err);
static enum auc_code rearrange_waiting(struct replay *p, auc_slot now, struct auc_err *err);
static bool may_move(const struct replay *p, const struct outcome *o, auc_slot now);
static enum auc_code move_waiting(struct replay *p, struct auc_rearrange_search *x, auc_slot now,
				  struct auc_err *err);
static enum auc_code quote_in(void *arg, struct auc_market *m, struct auc_job *job,
			      struct auc_decision *d, struct auc_err *err);
static enum auc_code posted_job(struct replay *p, unsigned index, struct auc_err *err);
static void ask_user(struct replay *p, const struct auc_market *m, const struct scenario_job *job);
static enum auc_code take_out(struct replay *p, const struct auc_market *own,
			      const struct auc_plan *plan, struct auc_err *err);
static enum auc_code keep_outcome(struct replay *p, const struct auc_market *m, struct outcome *o,
				  struct auc_err *err);
static void sum_up(struct replay *p);
static int compare_double(const void *a, const void *b);
static double quantile(const double *sorted, unsigned n, double q);

enum auc_code replay_run(const struct scenario *s, const char *policy, uint64_t seed,
			 replay_progress progress, void *arg, struct result *result,
			 struct auc_err *err)
{
	struct replay p = {.s = s, .result = result};
	enum auc_code rc;
	unsigned i;

	auc_decision_init(&p.decision);
	auc_decision_init(&p.best);
	result->seed = seed;
	result->policy = strdup(policy);
	result->jobs = calloc(s->njobs + 1, sizeof(*result->jobs));
	p.order = calloc(s->njobs + 1, sizeof(*p.order));
	p.us = calloc(s->njobs + s->slots + 1, sizeof(*p.us));
	p.left = calloc(s->nbudgets + 1, sizeof(*p.left));
	for (i = 0; i < s->nbudgets && p.left; i++)
		p.left[i] = s->budgets[i].value;
	rc = result->policy && result->jobs && p.order && p.us && p.left
		     ? AUC_OK
		     : auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	if (rc == AUC_OK) {
		result->njobs = s->njobs;
		sort_arrivals(&p);
		rc = open_policy(&p, policy, err);
	}
	if (rc == AUC_OK)
		rc = refuse(&p, policy, err);
	if (rc == AUC_OK && p.stepper)
		rc = steps_run(s, p.stepper, p.options, p.order, progress, arg, result, p.us, err);
	if (rc == AUC_OK && p.offline)
		rc = offline_run(s, p.offline_oasis, p.options, result, p.us, err);
	if (rc == AUC_OK && p.easy)
		rc = easy_run(s, p.options, p.order, result, p.us, err);
	if (rc == AUC_OK && p.policy)
		rc = prepare(&p, err);
	for (i = 0; i < s->njobs && p.policy && rc == AUC_OK; i++) {
		rc = decide(&p, p.order[i], err);
		if (rc == AUC_OK && progress && !progress(arg, i + 1, s->njobs))
			rc = auc_err_set(err, AUC_ESTATE, "the work was stopped");
	}
	if (rc == AUC_OK && p.policy)
		rc = pass_time(&p, s->slots + 1, err);
	if (rc == AUC_OK && auc_check_evidence())
		rc = auc_err_set(err, AUC_ECORRUPT, "a check of the program failed: %s",
				 auc_check_evidence());
	if (rc == AUC_OK)
		sum_up(&p);
	if (p.ctx)
		p.policy->destroy(p.ctx);
	auc_decision_clear(&p.decision);
	auc_decision_clear(&p.best);
	auc_job_clear(&p.job);
	auc_market_destroy(p.market);
	prices_close(p.prices);
	truth_close(p.truth);
	margin_close(p.margin);
	standing_close(p.standing);
	free(p.due);
	free(p.order);
	free(p.us);
	free(p.left);
	return rc;
}

/* What the policy does not take. */
static enum auc_code refuse(const struct replay *p, const char *policy, struct auc_err *err)
{
	bool offline = p->offline && !p->offline_oasis;
	enum auc_code rc = AUC_OK;

	if (!offline && !p->easy && !(p->policy && p->policy->gangs))
		rc = scenario_without_gangs(p->s, policy, err);
	if (rc == AUC_OK && !offline && !(p->policy && p->policy->budgets))
		rc = scenario_without_budgets(p->s, policy, err);
	if (rc == AUC_OK && !p->policy)
		rc = scenario_without_true_times(p->s, policy, err);
	if (rc == AUC_OK && !(p->policy && (auc_policy_is_priced(p->policy) ||
					    !strcmp(p->policy->name, "unpriced"))))
		rc = scenario_without_stands(p->s, policy, err);
	return rc;
}

enum auc_code replay_repeat(const struct scenario *s, const struct result *made, replay_look look,
			    void *arg, struct auc_err *err)
{
	struct replay p = {.s = s, .made = made};
	enum auc_code rc;

	auc_decision_init(&p.decision);
	p.order = calloc(s->njobs + 1, sizeof(*p.order));
	if (p.order)
		sort_arrivals(&p);
	rc = p.order ? prepare(&p, err) : auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	if (rc == AUC_OK)
		rc = repeat_all(&p, look, arg, err);
	auc_decision_clear(&p.decision);
	auc_job_clear(&p.job);
	auc_market_destroy(p.market);
	prices_close(p.prices);
	free(p.order);
	return rc;
}

enum auc_code replay_check_options(const char *policy, struct auc_err *err)
{
	size_t len = strlen(POSTED_BFP_NAME);
	struct auc_stepper_ctx *ctx = NULL;
	struct result result = {0};
	struct replay p = {.result = &result};
	enum auc_code rc;

	/* which would look for the prices of a scenario */
	if (!strncmp(policy, POSTED_BFP_NAME, len) && (!policy[len] || policy[len] == ','))
		return posted_bfp_check_options(policy + len + (policy[len] == ','), err);
	rc = open_policy(&p, policy, err);
	if (rc == AUC_OK && p.stepper)
		rc = sim_stepper_create(p.stepper, p.options, &ctx, err);
	else if (rc == AUC_OK && p.offline)
		rc = offline_check_options(p.options, err);
	else if (rc == AUC_OK && p.easy)
		rc = easy_check_options(p.options, err);
	if (p.ctx)
		p.policy->destroy(p.ctx);
	if (ctx)
		p.stepper->destroy(ctx);
	return rc;
}

bool replay_is_priced(const char *policy)
{
	const struct auc_policy *found = sim_policy_of(policy);

	return found && auc_policy_is_priced(found);
}

void result_clear(struct result *r)
{
	unsigned i, k;

	for (i = 0; i < r->njobs; i++) {
		auc_plan_clear(&r->jobs[i].plan);
		for (k = 0; k < r->jobs[i].nchunks; k++)
			free((void *)r->jobs[i].chunks[k].runs);
		free(r->jobs[i].chunks);
	}
	free(r->jobs);
	free(r->policy);
	free(r->remark);
	memset(r, 0, sizeof(*r));
}

static enum auc_code open_policy(struct replay *p, const char *text, struct auc_err *err)
{
	size_t len = strcspn(text, ",");
	char *name = strndup(text, len);

	if (!name)
		return auc_err_set(err, AUC_ENOMEM, "--policy: no memory");
	p->policy = sim_policy_of(text);
	p->stepper = strcmp(name, dorm_milp.name) ? sim_stepper_find(name) : &dorm_milp;
	p->options = text + len + (text[len] == ',');
	p->offline_oasis = !strcmp(name, OFFLINE_OASIS_NAME);
	p->offline = p->offline_oasis || !strcmp(name, OFFLINE_NAME);
	p->easy = !strcmp(name, EASY_NAME);
	if (!strcmp(name, POSTED_BFP_NAME)) {
		free(name);
		return open_bfp(p, err);
	}
	free(name);
	if (p->stepper || p->offline || p->easy)
		return AUC_OK;
	if (!p->policy)
		return auc_err_set(err, AUC_ENOENT,
				   "--policy: '%.80s' is no policy, see 'auctionsim policies'",
				   text);
	return p->policy->posts ? open_posted(p, err) : p->policy->create(p->options, &p->ctx, err);
}

/* Posted prices that are found first, with all that the jobs would pay. */
static enum auc_code open_bfp(struct replay *p, struct auc_err *err)
{
	char *options;
	enum auc_code rc = posted_bfp_options(p->s, p->options, &options, err);

	p->policy = &sim_policy_posted;
	if (rc == AUC_OK)
		rc = p->policy->create(options, &p->ctx, err);
	free(options);
	return rc;
}

/* What is random in it follows the run's seed, unless the options name one. */
static enum auc_code open_posted(struct replay *p, struct auc_err *err)
{
	enum auc_code rc;
	char *options;

	if (auc_options_have(p->options, "seed"))
		return p->policy->create(p->options, &p->ctx, err);
	if (asprintf(&options, "seed=%llu,%s", (unsigned long long)p->result->seed, p->options) < 0)
		return auc_err_set(err, AUC_ENOMEM, "--policy: no memory");
	rc = p->policy->create(options, &p->ctx, err);
	free(options);
	return rc;
}

/* Job by job; before each one, the slots that have passed since the last one are shown. */
static enum auc_code repeat_all(struct replay *p, replay_look look, void *arg, struct auc_err *err)
{
	uint64_t shown = 0, passed;
	enum auc_code rc = AUC_OK;
	unsigned i;

	for (i = 0; i <= p->s->njobs && rc == AUC_OK; i++) {
		passed = i < p->s->njobs ? p->s->jobs[p->order[i]].arrival - 1 : p->s->slots;
		passed = passed < p->s->slots ? passed : p->s->slots;
		if (passed > shown)
			look(arg, p->market, (auc_slot)shown + 1, (auc_slot)passed);
		shown = passed;
		if (i < p->s->njobs)
			rc = decide(p, p->order[i], err);
		if (rc != AUC_OK)
			auc_err_prefix(err, "%s: job %.80s", p->s->file,
				       p->s->jobs[p->order[i]].id);
	}
	return rc;
}

static int compare_arrival(const void *a, const void *b, void *arg)
{
	unsigned i = *(const unsigned *)a, j = *(const unsigned *)b;
	const struct scenario *s = arg;

	if (s->jobs[i].arrival != s->jobs[j].arrival)
		return s->jobs[i].arrival < s->jobs[j].arrival ? -1 : 1;
	return (i > j) - (i < j);
}

static void sort_arrivals(struct replay *p)
{
	unsigned i;

	for (i = 0; i < p->s->njobs; i++)
		p->order[i] = i;
	qsort_r(p->order, p->s->njobs, sizeof(*p->order), compare_arrival, (void *)p->s);
}

static enum auc_code prepare(struct replay *p, struct auc_err *err)
{
	const struct auc_policy *policy = p->made ? sim_policy_of(p->made->policy) : p->policy;
	enum auc_code rc;

	rc = scenario_market_create(p->s, NULL, &p->market, err);
	if (rc == AUC_OK)
		rc = scenario_market_state(p->s, p->market, err);
	p->sites = policy && policy->sites;
	if (rc == AUC_OK && policy && auc_policy_is_priced(policy))
		rc = prices_open(p->s, policy, p->market, &p->prices, err);
	if (rc == AUC_OK && p->s->has_true_times && !p->made)
		rc = open_truth(p, err);
	if (rc == AUC_OK && p->s->has_stands && !p->made) {
		p->due = calloc(p->s->njobs + 1, sizeof(*p->due));
		rc = p->due ? standing_open(p->s, p->order, &p->standing, err)
			    : auc_err_set(err, AUC_ENOMEM, "%s: no memory", p->s->file);
	}
	return rc;
}

/* The jobs have true times. */
static enum auc_code open_truth(struct replay *p, struct auc_err *err)
{
	struct truth_world w = {.s = p->s,
				.policy = p->policy,
				.market = p->market,
				.result = p->result,
				.order = p->order,
				.left = p->left,
				.freed = hear_freed,
				.arg = p};

	w.margin = p->margin = margin_open(p->s);
	if (!p->margin)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", p->s->file);
	return truth_open(&w, &p->truth, err);
}

static void hear_freed(void *arg, unsigned server, auc_slot from, auc_slot to)
{
	struct replay *p = arg;

	(void)from;
	(void)to;
	if (p->standing)
		standing_freed(p->standing, server);
}

/* The slots up to TO begin, one after the other: what jobs that have run leave in them, and bids
 * that stand. */
static enum auc_code pass_time(struct replay *p, uint64_t to, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	if (!p->truth && !p->standing)
		return AUC_OK;
	while ((uint64_t)p->now < to && rc == AUC_OK) {
		p->now++;
		if (p->truth)
			rc = truth_slot(p->truth, p->now, err);
		if (rc == AUC_OK && p->standing && p->now <= (auc_slot)p->s->slots)
			rc = ask_standing(p, p->now, err);
	}
	return rc;
}

/* Slot NOW, before its jobs: the bids that stand. */
static enum auc_code ask_standing(struct replay *p, auc_slot now, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	bool changed = false;
	unsigned n;

	if (!standing_any(p->standing, now))
		return AUC_OK;
	if (p->prices)
		rc = prices_before(p->prices, p->market, now, &changed, err);
	if (changed)
		standing_priced(p->standing);
	n = rc == AUC_OK ? standing_due(p->standing, p->market, now, p->left, p->due) : 0;
	for (unsigned i = 0; i < n && rc == AUC_OK; i++)
		rc = ask(p, p->due[i], now, err);
	return rc;
}

static enum auc_code decide(struct replay *p, unsigned index, struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[index];
	enum auc_code rc = AUC_OK;
	bool changed = false;

	if (job->arrival > p->s->slots) {
		if (!p->made)
			p->result->jobs[index].reason = AUC_REASON_CAPACITY;
		return AUC_OK;
	}
	rc = pass_time(p, job->arrival, err);
	if (rc == AUC_OK && p->prices)
		rc = prices_before(p->prices, p->market, (auc_slot)job->arrival, &changed, err);
	if (rc == AUC_OK && p->s->teacher && !p->made && p->policy->rearranges && !p->s->stays &&
	    p->rearranged < (auc_slot)job->arrival)
		rc = rearrange(p, p->rearranged = (auc_slot)job->arrival, err);
	if (changed && p->standing)
		standing_priced(p->standing);
	return rc == AUC_OK ? ask(p, index, (auc_slot)job->arrival, err) : rc;
}

/* Decides on the job of INDEX in slot NOW: its arrival, or one in which it stands. */
static enum auc_code ask(struct replay *p, unsigned index, auc_slot now, struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[index];
	bool again = now > (auc_slot)job->arrival;
	struct auc_market *own = NULL;
	enum auc_code rc = AUC_OK;

	if (scenario_market_is_own(job)) {
		rc = scenario_market_create(p->s, job, &own, err);
		if (rc == AUC_OK)
			rc = auc_market_copy_state(own, p->market, err);
	}
	if (rc == AUC_OK)
		rc = quote(p, own ? own : p->market, index, now, err);
	if (rc == AUC_OK && !p->made && p->policy->posts)
		ask_user(p, own ? own : p->market, job);
	if (rc == AUC_OK)
		rc = sell(p, own, index, now, err);
	if (rc == AUC_OK && p->truth && p->prices && !again)
		rc = resolve(p, index, err); /* prices learn from what it says */
	if (rc == AUC_OK && p->prices && !again)
		rc = prices_learn(p->prices, own ? own : p->market, &p->job, job->user, p->market,
				  err);
	if (p->standing && !again && p->s->prices == SCENARIO_PRICES_LEARNED)
		standing_priced(p->standing);
	auc_market_destroy(own);
	return rc;
}

/* Books what was decided on the job of INDEX, in OWN if it has types of its own, and keeps it. */
static enum auc_code sell(struct replay *p, struct auc_market *own, unsigned index, auc_slot now,
			  struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[index];
	enum auc_code rc = AUC_OK;

	if (p->decision.accepted && p->decision.plan.nruns)
		rc = own ? take_out(p, own, &p->decision.plan, err)
			 : auc_market_book(p->market, &p->decision.plan, 1, (auc_slot)p->s->slots,
					   err);
	if (rc == AUC_OK && !p->made && (p->decision.accepted || now == (auc_slot)job->arrival))
		rc = keep_outcome(p, own ? own : p->market, &p->result->jobs[index], err);
	if (rc == AUC_OK && p->standing)
		follow(p, index, now);
	if (rc == AUC_OK && !p->made && p->decision.accepted && job->purse)
		p->left[job->purse - 1] = fmax(0, p->left[job->purse - 1] - p->decision.plan.cost);
	if (rc == AUC_OK && p->truth && p->decision.accepted)
		truth_sold(p->truth, index);
	if (rc == AUC_OK && !p->made && p->decision.accepted && p->policy->booked)
		p->policy->booked(p->ctx, own ? own : p->market, &p->job, &p->decision);
	return rc;
}

/* What was decided on the job of INDEX in slot NOW, as far as it stands. */
static void follow(struct replay *p, unsigned index, auc_slot now)
{
	const struct scenario_job *job = &p->s->jobs[index];

	if (p->decision.accepted && now > (auc_slot)job->arrival) {
		p->result->jobs[index].decided = now;
		standing_accepted(p->standing, index);
	}
	if (!p->decision.accepted && job->stands && now == (auc_slot)job->arrival)
		standing_add(p->standing, index, job->purse ? p->left[job->purse - 1] : 0);
}

static enum auc_code resolve(struct replay *p, unsigned index, struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[index];

	return p->sites ? scenario_market_site_job(p->s, job, &p->job, err)
			: scenario_market_job(p->s, job, p->market, &p->job, err);
}

static enum auc_code quote(struct replay *p, struct auc_market *m, unsigned index, auc_slot now,
			   struct auc_err *err)
{
	double before = auc_clock(CLOCK_THREAD_CPUTIME_ID);
	const struct scenario_job *job = &p->s->jobs[index];
	enum auc_code rc;

	if (p->made) {
		rc = p->prices ? resolve(p, index, err) : AUC_OK;
		if (rc != AUC_OK)
			return rc;
		p->decision.accepted = p->made->jobs[index].accepted;
		return auc_plan_copy(&p->decision.plan, &p->made->jobs[index].plan, err);
	}
	if (p->margin && job->time_max > 0 && !p->policy->posts)
		rc = quote_range(p, m, index, now, err);
	else
		rc = quote_as(p, m, index, now, p->margin ? margin_now(p->margin, job->user) : 1,
			      err);
	if (rc == AUC_OK && now == (auc_slot)job->arrival)
		p->us[p->result->decisions++] = (auc_clock(CLOCK_THREAD_CPUTIME_ID) - before) * 1e6;
	p->decision.plan.arrival = (auc_slot)job->arrival;
	return rc;
}

/* Planned for PLANNED times what it says. */
static enum auc_code quote_as(struct replay *p, struct auc_market *m, unsigned index, auc_slot now,
			      double planned, struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[index];
	enum auc_code rc = p->policy->posts ? posted_job(p, index, err) : resolve(p, index, err);

	if (rc != AUC_OK)
		return rc;
	p->planned = planned;
	if (p->margin)
		auc_job_stretch(&p->job, planned);
	age(&p->job, p->s->nservers, now);
	p->job.limited = job->purse > 0;
	if (p->job.limited)
		p->job.budget = p->left[job->purse - 1];
	return p->policy->quote(p->ctx, m, &p->job, &p->decision, err);
}

/* Of the plans for what its user says that it takes at most, the one that is worth most. */
static enum auc_code quote_range(struct replay *p, struct auc_market *m, unsigned index,
				 auc_slot now, struct auc_err *err)
{
	const struct auc_time_range range = {.most = p->s->jobs[index].time_max,
					     .extends =
						     p->s->times.overrun != SCENARIO_OVERRUN_KILL,
					     .refunds = true};
	double factors[AUC_RANGE_PLANS], worth, most = 0, planned = 1;
	unsigned n = auc_range_factors(range.most, factors);
	enum auc_code rc = AUC_OK;
	bool found = false;

	for (unsigned i = 0; i < n && rc == AUC_OK; i++) {
		rc = quote_as(p, m, index, now, factors[i], err);
		if (rc != AUC_OK || (i && !p->decision.accepted))
			continue;
		worth = p->decision.accepted ? auc_range_payoff(&range, factors[i], m, &p->job,
								&p->decision.plan)
					     : 0;
		if (found && worth <= most + 1e-9 * fabs(most))
			continue;
		found = p->decision.accepted;
		most = worth;
		planned = factors[i];
		rc = auc_decision_copy(&p->best, &p->decision, err);
	}
	p->planned = planned;
	return rc == AUC_OK ? auc_decision_copy(&p->decision, &p->best, err) : rc;
}

/* JOB stands and it is slot NOW: it cannot begin before, and what it is worth goes on counting. */
static void age(struct auc_job *job, unsigned nservers, auc_slot now)
{
	auc_slot passed = now - job->arrival;

	if (passed <= 0)
		return;
	for (unsigned s = 0; s < nservers; s++)
		if (job->upload[s] != UINT32_MAX)
			job->upload[s] -=
				job->upload[s] < passed ? job->upload[s] : (unsigned)passed;
	job->utility.since = (double)passed;
	job->arrival = now;
}

/* PLAN was taken out of the market. */
static void hear_moved(struct replay *p, const struct auc_plan *plan)
{
	for (unsigned i = 0; i < plan->nshares; i++)
		hear_freed(p, plan->shares[i].server, plan->start, plan->completion - 1);
}

/* Whether the plan of the job that O is of may move: it waits in slot NOW, and a gang stays where
 * it is. */
static bool may_move(const struct replay *p, const struct outcome *o, auc_slot now)
{
	return o->completed && o->plan.start > now &&
	       !scenario_market_is_own(&p->s->jobs[o - p->result->jobs]) && !o->plan.gang;
}

/* It is slot NOW: jobs that wait move to where they cost less by now. Those of this very slot have
 * been told that they begin. */
static enum auc_code rearrange(struct replay *p, auc_slot now, struct auc_err *err)
{
	unsigned i = 0;

	while (i < p->s->njobs && !may_move(p, &p->result->jobs[i], now))
		i++;
	return i < p->s->njobs ? rearrange_waiting(p, now, err) : AUC_OK;
}

static enum auc_code rearrange_waiting(struct replay *p, auc_slot now, struct auc_err *err)
{
	struct auc_market *m = auc_market_clone(p->market);
	struct auc_nearness *ahead = auc_nearness_create(p->market);
	struct auc_rearrange_search *x =
		m ? auc_rearrange_search_create(m, now + 1, false, (uint64_t)now, quote_in, NULL, p)
		  : NULL;
	struct auc_given_price *list = NULL;
	enum auc_code rc = AUC_OK;
	size_t n = 0;

	if (!m || !ahead || !x)
		rc = auc_err_set(err, AUC_ENOMEM, "%s: no memory", p->s->file);
	if (rc == AUC_OK)
		rc = teacher_costs(p->s->teacher, m, &list, &n, err);
	if (rc == AUC_OK && n) {
		for (unsigned i = 0; i < p->s->njobs; i++)
			if (p->result->jobs[i].completed &&
			    p->result->jobs[i].plan.completion > now &&
			    !(p->truth && truth_ended(p->truth, i)))
				auc_nearness_add(ahead, &p->result->jobs[i].plan);
		rc = auc_market_give_prices(m, list, n, err);
		if (rc == AUC_OK)
			auc_nearness_discount(ahead, m, now);
		if (rc == AUC_OK)
			rc = move_waiting(p, x, now, err);
	}
	free(list);
	auc_rearrange_search_destroy(x);
	auc_nearness_destroy(ahead);
	auc_market_destroy(m);
	return rc;
}

static enum auc_code move_waiting(struct replay *p, struct auc_rearrange_search *x, auc_slot now,
				  struct auc_err *err)
{
	auc_slot last = (auc_slot)p->s->slots;
	struct outcome **waiting = calloc((size_t)p->s->njobs + 1, sizeof(struct outcome *)), *o;
	enum auc_code rc =
		waiting ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "%s: no memory", p->s->file);
	const struct auc_plan *plan;
	unsigned n = 0, i;

	for (i = 0; i < p->s->njobs && rc == AUC_OK; i++) {
		const struct scenario_job *job = &p->s->jobs[p->order[i]];

		o = &p->result->jobs[p->order[i]];
		if (!may_move(p, o, now))
			continue;
		rc = scenario_market_job(p->s, job, p->market, &p->job, err);
		if (rc == AUC_OK && p->truth)
			auc_job_stretch(&p->job, o->planned);
		if (rc == AUC_OK)
			rc = auc_rearrange_search_add(x, &p->job, &o->plan, err);
		waiting[n++] = o;
	}
	for (i = auc_rearrange_search_rounds(x); i && rc == AUC_OK; i--)
		rc = auc_rearrange_search_round(x, err);
	for (i = 0; i < n && rc == AUC_OK; i++)
		if (auc_rearrange_search_moved(x, i)) {
			rc = auc_market_unbook(p->market, &waiting[i]->plan, 1, last, err);
			hear_moved(p, &waiting[i]->plan);
		}
	for (i = 0; i < n && rc == AUC_OK; i++) {
		plan = auc_rearrange_search_moved(x, i);
		if (!plan)
			continue;
		p->result->rearranged++;
		rc = auc_plan_copy(&waiting[i]->plan, plan, err);
		if (rc == AUC_OK)
			rc = auc_market_book(p->market, plan, 1, last, err);
		waiting[i]->value = plan->value;
		waiting[i]->cost = auc_plan_floor(plan, p->market);
	}
	free(waiting);
	return rc;
}

static enum auc_code quote_in(void *arg, struct auc_market *m, struct auc_job *job,
			      struct auc_decision *d, struct auc_err *err)
{
	struct replay *p = arg;

	return p->policy->quote(p->ctx, m, job, d, err);
}

/* The budget stays here: the policy sees the rest. */
static enum auc_code posted_job(struct replay *p, unsigned index, struct auc_err *err)
{
	if (p->s->jobs[index].budget < 0 &&
	    !(p->s->jobs[index].ngang && p->s->jobs[index].has_utility))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: $.jobs[%u]: expected the key budget, found none",
				   p->s->file, index);
	return scenario_market_task(p->s, &p->s->jobs[index], p->market, &p->job, err);
}

/* The user takes an offer that is within the budget. */
static void ask_user(struct replay *p, const struct auc_market *m, const struct scenario_job *job)
{
	struct auc_decision *d = &p->decision;

	if (d->offered) {
		/* a gang that names no budget pays what it is worth */
		if (job->budget >= 0)
			d->plan.value = job->budget;
		d->accepted = d->plan.cost <= d->plan.value;
		d->reason = d->accepted ? AUC_REASON_NONE : AUC_REASON_PRICE;
		if (d->accepted && p->job.limited && d->plan.cost > p->job.budget) {
			d->accepted = false;
			d->reason = AUC_REASON_BUDGET;
		}
	}
	p->policy->answered(p->ctx, m, &p->job, d, d->accepted);
}

/* Takes what PLAN, of market OWN, uses out of the common market. */
static enum auc_code take_out(struct replay *p, const struct auc_market *own,
			      const struct auc_plan *plan, struct auc_err *err)
{
	const struct auc_share *share;
	const struct auc_run *run;
	enum auc_code rc = AUC_OK;
	unsigned i, k;
	double amount;
	auc_slot t;

	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		for (i = 0; i < run->nshares; i++) {
			share = &plan->shares[run->first_share + i];
			for (k = 0; k < auc_market_ntres(own) && rc == AUC_OK; k++) {
				amount = auc_plan_amount(plan, own, share->workers, share->ps, k);
				if (amount > 0)
					rc = auc_market_reserve(
						p->market, share->server,
						(unsigned)auc_market_find_tres(
							p->market, auc_market_tres_name(own, k)),
						run->from, run->to, amount, err);
			}
		}
	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		for (t = run->from; t <= run->to && rc == AUC_OK; t++)
			rc = auc_market_reserve_traffic(p->market, t, t,
							auc_plan_traffic(plan, run, t), err);
	return rc;
}

static enum auc_code keep_outcome(struct replay *p, const struct auc_market *m, struct outcome *o,
				  struct auc_err *err)
{
	const struct auc_decision *d = &p->decision;

	o->accepted = d->accepted;
	o->reason = d->reason;
	o->has_best = d->reason == AUC_REASON_PAYOFF;
	o->best_payoff = d->best_payoff;
	o->offered = d->offered;
	memcpy(o->offer, d->offer, sizeof(o->offer));
	o->value = d->offered ? d->plan.value : 0;
	if (!d->accepted)
		return AUC_OK;
	o->completed = d->plan.nruns > 0;
	o->planned = p->planned;
	o->value = o->completed ? d->plan.value : 0;
	o->payment = d->plan.cost;
	o->cost = auc_plan_floor(&d->plan, m);
	return auc_plan_copy(&o->plan, &d->plan, err);
}

static void sum_up(struct replay *p)
{
	struct result *r = p->result;
	const struct outcome *o;
	double jct = 0;

	for (o = r->jobs; o < r->jobs + r->njobs; o++) {
		r->accepted += o->accepted;
		r->completed += o->completed;
		r->revenue += o->payment;
		r->cost += o->cost;
		r->realised_welfare += o->realised.value;
		r->realised_revenue += o->realised.payment;
		if (!o->completed)
			continue;
		r->welfare += o->value;
		jct += (double)(o->plan.completion - o->plan.arrival);
	}
	if (r->rearranged && asprintf(&r->remark,
				      "%.40s: %u times a sold job that waited moved to where it "
				      "cost less by then",
				      r->policy, r->rearranged) < 0)
		r->remark = NULL;
	r->mean_jct_slots = r->completed ? jct / r->completed : 0;
	qsort(p->us, r->decisions, sizeof(*p->us), compare_double);
	r->p50_us = quantile(p->us, r->decisions, 0.5);
	r->p99_us = quantile(p->us, r->decisions, 0.99);
	r->max_us = quantile(p->us, r->decisions, 1);
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The least value that a part Q of all do not exceed. */
static double quantile(const double *sorted, unsigned n, double q)
{
	int64_t rank = auc_ceil(q * n);

	return n ? sorted[rank > 0 ? rank - 1 : 0] : 0;
}
