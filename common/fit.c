/* fit.c - see fit.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fit.h"
#include "fit_sites.h"
#include "learn.h"
#include "winsor.h"

#define KEEP       0.01 /* part of its worth that other prices must be better by */
#define MARGIN     0.05 /* and those that are taught better than the others */
#define CANDIDATES 64
#define COST       100 /* times of what it took, until the guard looks again: 1 % */
#define FLOOR      0.2 /* of flat prices that no guard has looked at */
#define PARTS      4   /* of a period: the last one tells how many bids come now */

/* Prices that the guard looks at. */
struct candidate {
	enum auc_tariff_kind kind;
	struct auc_learn_choice choice; /* of kind flat or learned */
	double worth;
};

/* An expected bid. */
struct expected {
	struct auc_job job;
	double weight;
	bool day; /* of the last period */
};

struct fit {
	const struct auc_fit_input *in;
	struct expected *list;     /* by arrival */
	unsigned n, ndays;         /* ndays: of the last period */
	struct auc_job *later;     /* the same a period later; uploads are those of list */
	struct auc_dual_job *dual; /* scratch, 2 * n long */
	double seen, before;       /* bids of the last part of a period, and of the same part of one
				      before, on average */
	struct auc_tariff *t;
};

/* Which of the expected bids, and how often each. */
enum which { ALL, DAY, HALF_OF_DAY };

static enum auc_code forecast(struct fit *f, struct auc_err *err);
static void carry_over(struct fit *f);
static bool expect(const struct fit *f, const struct auc_past_bid *past, auc_slot arrival,
		   struct expected *e);
static enum auc_code winsorize(struct fit *f, struct auc_err *err);
static int by_arrival(const void *a, const void *b);
static bool guard_due(const struct fit *f);
static enum auc_code guard(struct fit *f, struct auc_err *err);
static unsigned list_candidates(const struct fit *f, struct candidate *list);
static void choose(struct fit *f, const struct candidate *list, unsigned n);
static enum auc_code certify(struct fit *f, struct auc_err *err);
static unsigned take(struct fit *f, enum which which);
static enum auc_code learn(struct fit *f, const struct auc_market *m, enum which which,
			   struct auc_learn **l, struct auc_err *err);
static enum auc_code go_on_learning(struct fit *f, struct auc_err *err);
static enum auc_code fit_sites(struct fit *f, struct auc_err *err);
static bool same_layout(const struct auc_market *a, const struct auc_market *b);
static bool same_types(const struct auc_market *a, const struct auc_market *b);
static enum auc_code replay(struct fit *f, const struct auc_learn *l, struct candidate *c,
			    struct auc_err *err);
static enum auc_code give(const struct fit *f, struct auc_market *m, const struct auc_learn *l,
			  const struct candidate *c, struct auc_err *err);
static double processor_seconds(void);

enum auc_code auc_fit(const struct auc_fit_input *in, struct auc_tariff **out, struct auc_err *err)
{
	struct fit f = {.in = in, .t = calloc(1, sizeof(*f.t))};
	double began = processor_seconds();
	struct auc_given_price *list = NULL;
	enum auc_code rc;
	size_t n;

	*out = NULL;
	rc = f.t ? forecast(&f, err) : auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	if (rc == AUC_OK)
		carry_over(&f);
	if (rc == AUC_OK && in->policy->sites)
		rc = fit_sites(&f, err);
	else if (rc == AUC_OK && guard_due(&f))
		rc = guard(&f, err);
	if (rc == AUC_OK && !in->policy->sites)
		rc = go_on_learning(&f, err);
	if (rc == AUC_OK && !in->policy->sites && f.t->kind >= AUC_TARIFF_FLAT) {
		rc = auc_learn_list(in->memory->learn, in->market, &f.t->choice, &list, &n, err);
		if (rc == AUC_OK)
			rc = auc_tariff_set(f.t, in->market, list, n, err);
		free(list);
	}
	if (rc == AUC_OK) {
		f.t->time = in->now;
		f.t->slot_seconds = in->conf->slot_seconds;
		if (!in->policy->sites)
			f.t->bound = auc_learn_bound(in->memory->learn);
		f.t->seconds = processor_seconds() - began;
		*out = f.t;
		f.t = NULL;
	}
	auc_tariff_free(f.t);
	if (rc == AUC_OK) {
		auc_market_destroy(in->memory->market);
		in->memory->market = in->market;
		in->memory->conf = in->conf;
	} else {
		auc_market_destroy(in->market);
		auc_fit_forget(in->memory);
	}
	for (unsigned i = 0; i < f.n; i++)
		auc_job_clear(&f.list[i].job);
	free(f.list);
	free(f.later);
	free(f.dual);
	return rc;
}

void auc_fit_forget(struct auc_fit_memory *memory)
{
	auc_learn_destroy(memory->learn);
	auc_market_destroy(memory->market);
	*memory = (struct auc_fit_memory){0};
}

/* -- the forecast -- */

static enum auc_code forecast(struct fit *f, struct auc_err *err)
{
	const struct auc_fit_input *in = f->in;
	double seconds = in->conf->slot_seconds;
	unsigned count = auc_past_count(in->past), periods;
	auc_slot first = auc_market_first(in->market), period = in->conf->slots, oldest, span, at;
	double weight, rate = 1;
	enum auc_code rc;

	f->list = calloc((size_t)count + 1, sizeof(*f->list));
	f->later = calloc((size_t)count + 1, sizeof(*f->later));
	f->dual = calloc(2 * (size_t)count + 1, sizeof(*f->dual));
	if (!f->list || !f->later || !f->dual)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a forecast");
	oldest = count ? (auc_slot)floor(auc_past_at(in->past, 0)->time / seconds) : first;
	span = first > oldest ? first - oldest : 1;
	periods = (unsigned)(span / period);
	weight = periods                        ? 1.0 / periods
		 : auc_past_truncated(in->past) ? (double)period / (double)span
						: 1;
	for (unsigned i = 0; i < count; i++) {
		const struct auc_past_bid *b = auc_past_at(in->past, i);
		struct expected *e = &f->list[f->n];
		auc_slot age;

		at = (auc_slot)floor(b->time / seconds);
		age = first > at ? first - at : 0;
		if (periods && age >= (auc_slot)periods * period)
			continue;
		if (periods)
			at = first + (period - 1 - (age + period - 1) % period);
		else
			at = first + (at - oldest) * period / (span + 1);
		e->weight = weight;
		e->day = age < period;
		if (b->slot_seconds != seconds || !expect(f, b, at, e))
			continue;
		f->ndays += e->day;
		/* the slot that has begun is not over */
		if (age % period >= 1 && age % period <= period / PARTS)
			*(e->day ? &f->seen : &f->before) += 1;
		f->t->expected += e->weight;
		f->n++;
	}
	if (periods > 1) {
		f->before /= periods - 1;
		rate = auc_learn_rate(f->seen, f->before);
	}
	f->t->expected *= rate;
	f->t->bids = f->n;
	if (f->n < AUC_FIT_BIDS_MIN)
		return auc_err_set(err, AUC_ENOENT,
				   "%u past bids that mean something today, %d are needed", f->n,
				   AUC_FIT_BIDS_MIN);
	rc = winsorize(f, err);
	if (rc != AUC_OK)
		return rc;
	qsort(f->list, f->n, sizeof(*f->list), by_arrival);
	for (unsigned i = 0; i < f->n; i++) {
		f->list[i].weight *= rate;
		f->later[i] = f->list[i].job;
		f->later[i].arrival += period;
	}
	return AUC_OK;
}

/* What the guard took last, and found; if it has not looked, what is usual. */
static void carry_over(struct fit *f)
{
	static const struct auc_learn_choice flat = {AUC_LEARN_FLAT, FLOOR};
	const struct auc_fit_input *in = f->in;

	f->t->kind = in->kind;
	f->t->choice = in->kind == AUC_TARIFF_FLAT ? flat : auc_learn_usual;
	if (in->last && in->last->day_bids) {
		f->t->kind = in->last->kind;
		f->t->choice = in->last->choice;
		f->t->day_bids = in->last->day_bids;
		f->t->day_bound = in->last->day_bound;
		f->t->day_worth = in->last->day_worth;
		f->t->guard_time = in->last->guard_time;
		f->t->guard_seconds = in->last->guard_seconds;
		memcpy(f->t->worth, in->last->worth, sizeof(f->t->worth));
	}
}

/* False: the bid means nothing today. */
static bool expect(const struct fit *f, const struct auc_past_bid *past, auc_slot arrival,
		   struct expected *e)
{
	struct auc_bid bid;

	if (auc_bid_parse(f->in->conf, past->text, &bid, NULL) != AUC_OK)
		return false;
	bid.npartitions = past->npartitions;
	memcpy(bid.partitions, past->partitions ? (const void *)past->partitions : "",
	       past->npartitions * sizeof(*past->partitions));
	if (auc_job_resolve(f->in->market, &bid, arrival, &e->job, NULL) == AUC_OK)
		return true;
	auc_job_clear(&e->job);
	return false;
}

/* Takes from values what is above what others bid (winsor.h). */
static enum auc_code winsorize(struct fit *f, struct auc_err *err)
{
	const struct auc_job **jobs = calloc((size_t)f->n + 1, sizeof(struct auc_job *));
	double *factor = calloc((size_t)f->n + 1, sizeof(*factor));
	enum auc_code rc = AUC_OK;

	if (!jobs || !factor)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for a forecast");
	for (unsigned i = 0; rc == AUC_OK && i < f->n; i++)
		jobs[i] = &f->list[i].job;
	if (rc == AUC_OK)
		rc = auc_winsorize(f->in->market, jobs, f->n, factor, err);
	for (unsigned i = 0; rc == AUC_OK && i < f->n; i++)
		auc_utility_multiply(&f->list[i].job.utility, factor[i]);
	free(jobs);
	free(factor);
	return rc;
}

static int by_arrival(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	return x->job.arrival < y->job.arrival ? -1 : x->job.arrival > y->job.arrival;
}

/* -- the guard -- */

static bool guard_due(const struct fit *f)
{
	double period = f->in->conf->slots * f->in->conf->slot_seconds;

	bool changed = f->before > 0 && auc_learn_level_changed(f->seen, f->before) &&
		       f->in->now >= f->t->guard_time + period / PARTS;

	return !f->t->day_bids || ((f->in->now >= f->t->guard_time + period || changed ||
				    f->ndays >= 2 * f->t->day_bids) &&
				   f->in->now >= f->t->guard_time + COST * f->t->guard_seconds);
}

static enum auc_code guard(struct fit *f, struct auc_err *err)
{
	struct candidate list[CANDIDATES];
	double began = processor_seconds();
	struct auc_learn *l = NULL;
	enum auc_code rc;
	unsigned n;

	if (f->ndays < AUC_FIT_BIDS_MIN)
		return AUC_OK; /* a day without bids says nothing */
	n = list_candidates(f, list);
	rc = learn(f, f->in->empty, HALF_OF_DAY, &l, err);
	for (unsigned i = 0; i < n && rc == AUC_OK; i++)
		rc = replay(f, l, &list[i], err);
	auc_learn_destroy(l);
	if (rc == AUC_OK)
		rc = certify(f, err);
	if (rc == AUC_OK)
		choose(f, list, n);
	f->t->guard_seconds = processor_seconds() - began;
	return rc;
}

/* In the order of preference where they are worth the same. */
static unsigned list_candidates(const struct fit *f, struct candidate *list)
{
	static const double floors[] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1};
	static const double factors[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.15, 1.3};
	bool flat = f->in->kind == AUC_TARIFF_FLAT;
	unsigned n = 0;

	if (!flat) {
		list[n++] = (struct candidate){.kind = AUC_TARIFF_NONE};
		list[n++] = (struct candidate){.kind = AUC_TARIFF_PUBLISHED};
	}
	for (unsigned i = 0; i < sizeof(floors) / sizeof(floors[0]); i++)
		list[n++] = (struct candidate){.kind = AUC_TARIFF_FLAT,
					       .choice = {AUC_LEARN_FLAT, floors[i]}};
	for (unsigned form = AUC_LEARN_LEVEL; form < AUC_LEARN_FORMS && !flat; form++)
		for (unsigned i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
			list[n++] = (struct candidate){.kind = AUC_TARIFF_LEARNED,
						       .choice = {form, factors[i]}};
	return n;
}

/*
 * What was worth most. Prices that are taught must be better than the others by MARGIN, as one
 * period may be chance; not if they hold already. What holds stays where it is worth nearly as
 * much as its like.
 */
static void choose(struct fit *f, const struct candidate *list, unsigned n)
{
	const struct auc_tariff *last = f->in->last;
	const struct candidate *of[2] = {NULL, NULL}, *best, *c, *now = NULL;
	bool looked = last && last->day_bids;
	double margin = looked && last->kind >= AUC_TARIFF_FLAT ? 0 : MARGIN;

	memset(f->t->worth, 0, sizeof(f->t->worth));
	for (c = list; c < list + n; c++) {
		const struct candidate **to = &of[c->kind >= AUC_TARIFF_FLAT];

		f->t->worth[c->kind] = fmax(f->t->worth[c->kind], c->worth);
		if (!*to || c->worth > (*to)->worth)
			*to = c;
		if (looked && c->kind == last->kind &&
		    (c->kind <= AUC_TARIFF_PUBLISHED || (c->choice.form == last->choice.form &&
							 c->choice.factor == last->choice.factor)))
			now = c;
	}
	best = !of[0] || of[1]->worth > (1 + margin) * of[0]->worth ? of[1] : of[0];
	if (now && (now->kind >= AUC_TARIFF_FLAT) == (best->kind >= AUC_TARIFF_FLAT) &&
	    now->worth >= (1 - KEEP) * best->worth)
		best = now;
	f->t->kind = best->kind;
	f->t->choice = best->choice;
	f->t->day_worth = best->worth;
	f->t->day_bids = f->ndays;
	f->t->guard_time = f->in->now;
}

/*
 * The bound of the last period: for any prices one holds (dual.h), so for those of the fit that
 * knows the whole of it, in the market itself and not in a pool.
 */
static enum auc_code certify(struct fit *f, struct auc_err *err)
{
	static const struct auc_learn_choice choices[] = {{AUC_LEARN_DUAL, 1},
							  {AUC_LEARN_TIMED, 1},
							  {AUC_LEARN_MIXED, 1},
							  {AUC_LEARN_LEVEL, 1}};
	struct auc_given_price *list = NULL;
	struct auc_learn *l = NULL;
	struct auc_dual *d = NULL;
	enum auc_code rc;
	double bound;
	size_t n;

	f->t->day_bound = INFINITY;
	rc = learn(f, f->in->empty, DAY, &l, err);
	if (rc == AUC_OK)
		rc = auc_dual_create(f->in->empty, f->in->policy, f->in->options, f->dual,
				     take(f, DAY), &d, err);
	if (rc == AUC_OK)
		auc_dual_watch(d, f->in->watch);
	for (unsigned i = 0; i < sizeof(choices) / sizeof(choices[0]) && rc == AUC_OK; i++) {
		rc = auc_learn_list(l, f->in->empty, &choices[i], &list, &n, err);
		if (rc == AUC_OK)
			rc = auc_dual_bound_at(d, list, n, &bound, err);
		if (rc == AUC_OK)
			f->t->day_bound = fmin(f->t->day_bound, bound);
		free(list);
		list = NULL;
	}
	auc_dual_destroy(d);
	auc_learn_destroy(l);
	return rc;
}

/* Puts the bids that are meant in F's scratch; returns how many. */
static unsigned take(struct fit *f, enum which which)
{
	unsigned n = 0, day = 0;

	for (unsigned i = 0; i < f->n; i++) {
		const struct expected *e = &f->list[i];
		double weight = which == ALL   ? e->weight * AUC_LEARN_WEIGHT
				: which == DAY ? 1
					       : 2 * AUC_LEARN_WEIGHT;

		day += e->day;
		if (which != ALL && (!e->day || (which == HALF_OF_DAY && day % 2 == 0)))
			continue;
		f->dual[n++] = (struct auc_dual_job){.job = &e->job, .weight = weight};
		if (which == ALL)
			f->dual[n++] = (struct auc_dual_job){.job = &f->later[i], .weight = weight};
	}
	return n;
}

/* *L is to be destroyed. */
static enum auc_code learn(struct fit *f, const struct auc_market *m, enum which which,
			   struct auc_learn **l, struct auc_err *err)
{
	enum auc_code rc = auc_learn_create(m, f->in->policy, f->in->options, l, err);

	if (rc != AUC_OK)
		return rc;
	auc_learn_watch(*l, f->in->watch);
	return auc_learn_fit(*l, m, f->dual, take(f, which), auc_market_first(m),
			     AUC_LEARN_ITERATIONS, err);
}

/* From all bids for the market, from the last fit's prices on where there is one. */
static enum auc_code go_on_learning(struct fit *f, struct auc_err *err)
{
	struct auc_fit_memory *memory = f->in->memory;
	const struct auc_market *m = f->in->market;

	if (memory->learn && memory->conf == f->in->conf && same_layout(m, memory->market)) {
		auc_learn_watch(memory->learn, f->in->watch);
		return auc_learn_fit(memory->learn, m, f->dual, take(f, ALL), auc_market_first(m),
				     AUC_LEARN_AGAIN, err);
	}
	auc_fit_forget(memory);
	return learn(f, m, ALL, &memory->learn, err);
}

/* Of a policy of sites: what the guard found, as long as it does not look again. */
static enum auc_code fit_sites(struct fit *f, struct auc_err *err)
{
	double began = processor_seconds();
	enum auc_code rc;

	auc_fit_forget(f->in->memory);
	if (guard_due(f) && f->ndays >= AUC_FIT_BIDS_MIN) {
		rc = auc_sites_guard(f->in, f->dual, take(f, DAY), f->t, err);
		f->t->guard_seconds = processor_seconds() - began;
	} else {
		rc = auc_sites_keep(f->in, f->t, err);
	}
	if (rc == AUC_OK)
		f->t->bound = auc_sites_bound(f->in->market, f->dual, take(f, ALL), f->t);
	return rc;
}

/* Do they have the same servers and types? */
static bool same_layout(const struct auc_market *a, const struct auc_market *b)
{
	if (auc_market_nservers(a) != auc_market_nservers(b) ||
	    auc_market_ntres(a) != auc_market_ntres(b) || !same_types(a, b) ||
	    auc_market_last(a) - auc_market_first(a) != auc_market_last(b) - auc_market_first(b))
		return false;
	for (unsigned k = 0; k < auc_market_ntres(a); k++)
		if (strcmp(auc_market_tres_name(a, k), auc_market_tres_name(b, k)) != 0)
			return false;
	for (unsigned s = 0; s < auc_market_nservers(a); s++) {
		if (strcmp(auc_market_server_name(a, s), auc_market_server_name(b, s)) != 0 ||
		    auc_market_roles(a, s) != auc_market_roles(b, s))
			return false;
		for (unsigned k = 0; k < auc_market_ntres(a); k++)
			if (auc_market_capacity(a, s, k) != auc_market_capacity(b, s, k))
				return false;
	}
	return true;
}

/* Those of the same configuration differ by what old sales add only. */
static bool same_types(const struct auc_market *a, const struct auc_market *b)
{
	return auc_market_nworker_types(a) == auc_market_nworker_types(b) &&
	       auc_market_nps_types(a) == auc_market_nps_types(b);
}

/* What the last period is worth with the prices of C, L being what was learned. */
static enum auc_code replay(struct fit *f, const struct auc_learn *l, struct candidate *c,
			    struct auc_err *err)
{
	struct auc_market *m = auc_market_clone(f->in->empty);
	struct auc_policy_ctx *ctx = NULL;
	struct auc_decision d;
	enum auc_code rc;

	auc_decision_init(&d);
	c->worth = 0;
	rc = m ? f->in->policy->create(f->in->options, &ctx, err)
	       : auc_err_set(err, AUC_ENOMEM, "no memory for a replay");
	if (rc == AUC_OK)
		rc = give(f, m, l, c, err);
	for (unsigned i = 0; i < f->n && rc == AUC_OK; i++) {
		if (!f->list[i].day)
			continue;
		if (!auc_watch_goes_on(f->in->watch))
			rc = auc_err_set(err, AUC_ESTATE, "the fit was stopped");
		if (rc == AUC_OK)
			rc = f->in->policy->quote(ctx, m, &f->list[i].job, &d, err);
		if (rc != AUC_OK || !d.accepted)
			continue;
		rc = auc_market_book(m, &d.plan, d.plan.start, d.plan.completion - 1, err);
		c->worth += d.plan.value;
	}
	auc_decision_clear(&d);
	if (ctx)
		f->in->policy->destroy(ctx);
	auc_market_destroy(m);
	return rc;
}

static enum auc_code give(const struct fit *f, struct auc_market *m, const struct auc_learn *l,
			  const struct candidate *c, struct auc_err *err)
{
	struct auc_given_price *list = NULL;
	enum auc_code rc = AUC_OK;
	size_t n = 0;

	if (c->kind == AUC_TARIFF_PUBLISHED)
		return auc_market_set_price(m, f->in->published, err);
	if (c->kind != AUC_TARIFF_NONE)
		rc = auc_learn_list(l, m, &c->choice, &list, &n, err);
	if (rc == AUC_OK)
		rc = auc_market_give_prices(m, list, n, err);
	free(list);
	return rc;
}

static double processor_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
