/* fit.c - see fit.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fit.h"
#include "learn.h"

#define KEEP 0.01 /* part of its worth that other prices must be better by */

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
	struct auc_tariff *t;
};

/* Which of the expected bids, and how often each. */
enum choice { ALL, DAY, HALF_OF_DAY };

/* What was learned: prices for a market. */
struct prices {
	struct auc_given_price *list;
	size_t n;
	double bound;
};

static enum auc_code forecast(struct fit *f, struct auc_err *err);
static bool expect(const struct fit *f, const struct auc_past_bid *past, auc_slot arrival,
		   struct expected *e);
static int by_arrival(const void *a, const void *b);
static bool guard_due(const struct fit *f);
static enum auc_code guard(struct fit *f, struct auc_err *err);
static enum auc_tariff_kind best_kind(const struct fit *f);
static enum auc_code learn(struct fit *f, const struct auc_market *m, enum choice which,
			   struct prices *p, struct auc_err *err);
static enum auc_code replay(struct fit *f, enum auc_tariff_kind kind, const struct prices *p,
			    struct auc_err *err);
static enum auc_code give(const struct fit *f, struct auc_market *m, enum auc_tariff_kind kind,
			  const struct prices *p, struct auc_err *err);
static double processor_seconds(void);
static enum auc_code stopped(struct auc_err *err);

enum auc_code auc_fit(const struct auc_fit_input *in, struct auc_tariff **out, struct auc_err *err)
{
	struct fit f = {.in = in, .t = calloc(1, sizeof(*f.t))};
	double began = processor_seconds();
	struct prices p = {0};
	enum auc_code rc;

	*out = NULL;
	rc = f.t ? forecast(&f, err) : auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	if (rc == AUC_OK && in->kind == AUC_TARIFF_LEARNED && guard_due(&f))
		rc = guard(&f, err);
	if (rc == AUC_OK)
		rc = learn(&f, in->market, ALL, &p, err);
	if (rc == AUC_OK && (f.t->kind == AUC_TARIFF_LEARNED || f.t->kind == AUC_TARIFF_FLAT))
		rc = auc_tariff_set(f.t, in->market, p.list, p.n, f.t->kind == AUC_TARIFF_FLAT,
				    err);
	if (rc == AUC_OK) {
		f.t->time = in->now;
		f.t->slot_seconds = in->conf->slot_seconds;
		f.t->bound = p.bound;
		f.t->seconds = processor_seconds() - began;
		*out = f.t;
		f.t = NULL;
	}
	free(p.list);
	auc_tariff_free(f.t);
	for (unsigned i = 0; i < f.n; i++)
		auc_job_clear(&f.list[i].job);
	free(f.list);
	free(f.later);
	free(f.dual);
	return rc;
}

/* -- the forecast -- */

static enum auc_code forecast(struct fit *f, struct auc_err *err)
{
	const struct auc_fit_input *in = f->in;
	double seconds = in->conf->slot_seconds;
	unsigned count = auc_past_count(in->past), periods;
	auc_slot first = auc_market_first(in->market), period = in->conf->slots, oldest, span, at;
	double weight;

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
		f->t->expected += e->weight;
		f->n++;
	}
	f->t->bids = f->n;
	if (f->n < AUC_FIT_BIDS_MIN)
		return auc_err_set(err, AUC_ENOENT,
				   "%u past bids that mean something today, %d are needed", f->n,
				   AUC_FIT_BIDS_MIN);
	qsort(f->list, f->n, sizeof(*f->list), by_arrival);
	for (unsigned i = 0; i < f->n; i++) {
		f->later[i] = f->list[i].job;
		f->later[i].arrival += period;
	}
	f->t->kind = in->kind;
	if (in->last && in->kind == AUC_TARIFF_LEARNED) {
		f->t->kind = in->last->day_bids ? in->last->kind : in->kind;
		f->t->day_bids = in->last->day_bids;
		f->t->day_bound = in->last->day_bound;
		f->t->guard_time = in->last->guard_time;
		memcpy(f->t->worth, in->last->worth, sizeof(f->t->worth));
	}
	return AUC_OK;
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

static int by_arrival(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	return x->job.arrival < y->job.arrival ? -1 : x->job.arrival > y->job.arrival;
}

/* -- the guard -- */

static bool guard_due(const struct fit *f)
{
	double period = f->in->conf->slots * f->in->conf->slot_seconds;

	return !f->t->day_bids || f->in->now >= f->t->guard_time + period ||
	       f->ndays >= 2 * f->t->day_bids;
}

static enum auc_code guard(struct fit *f, struct auc_err *err)
{
	struct prices p = {0}, all = {0};
	enum auc_code rc;

	if (f->ndays < AUC_FIT_BIDS_MIN)
		return AUC_OK; /* a day without bids says nothing */
	rc = learn(f, f->in->empty, DAY, &all, err);
	if (rc == AUC_OK)
		rc = learn(f, f->in->empty, HALF_OF_DAY, &p, err);
	for (unsigned k = 0; k < AUC_TARIFF_KINDS && rc == AUC_OK; k++)
		rc = replay(f, k, &p, err);
	if (rc == AUC_OK) {
		f->t->kind = best_kind(f);
		f->t->day_bids = f->ndays;
		f->t->day_bound = all.bound;
		f->t->guard_time = f->in->now;
	}
	free(p.list);
	free(all.list);
	return rc;
}

static enum auc_tariff_kind best_kind(const struct fit *f)
{
	const double *worth = f->t->worth;
	enum auc_tariff_kind best = AUC_TARIFF_NONE;

	for (unsigned k = 1; k < AUC_TARIFF_KINDS; k++)
		if (worth[k] > worth[best])
			best = k;
	if (f->in->last && f->in->last->day_bids &&
	    worth[f->in->last->kind] >= (1 - KEEP) * worth[best])
		best = f->in->last->kind;
	return best;
}

/* Learns prices for M from the bids that are meant. P's list is to be freed. */
static enum auc_code learn(struct fit *f, const struct auc_market *m, enum choice which,
			   struct prices *p, struct auc_err *err)
{
	unsigned n = 0, day = 0;

	for (unsigned i = 0; i < f->n; i++) {
		const struct expected *e = &f->list[i];

		day += e->day;
		if (which == ALL)
			f->dual[n++] = (struct auc_dual_job){
				.job = &e->job, .weight = e->weight * AUC_LEARN_WEIGHT};
		if (which == ALL)
			f->dual[n++] = (struct auc_dual_job){
				.job = &f->later[i], .weight = e->weight * AUC_LEARN_WEIGHT};
		else if (e->day && which == DAY)
			f->dual[n++] = (struct auc_dual_job){.job = &e->job, .weight = 1};
		else if (e->day && day % 2)
			f->dual[n++] = (struct auc_dual_job){.job = &e->job,
							     .weight = 2 * AUC_LEARN_WEIGHT};
	}
	return auc_learn_prices(m, f->in->policy, f->dual, n, AUC_LEARN_ITERATIONS, f->in->watch,
				&p->list, &p->n, &p->bound, err);
}

/* What the last period is worth with the prices of KIND, P those that were learned. */
static enum auc_code replay(struct fit *f, enum auc_tariff_kind kind, const struct prices *p,
			    struct auc_err *err)
{
	struct auc_market *m = auc_market_clone(f->in->empty);
	struct auc_policy_ctx *ctx = NULL;
	struct auc_decision d;
	enum auc_code rc;

	auc_decision_init(&d);
	f->t->worth[kind] = 0;
	rc = m ? f->in->policy->create(f->in->options, &ctx, err)
	       : auc_err_set(err, AUC_ENOMEM, "no memory for a replay");
	if (rc == AUC_OK)
		rc = give(f, m, kind, p, err);
	for (unsigned i = 0; i < f->n && rc == AUC_OK; i++) {
		if (!f->list[i].day)
			continue;
		if (!auc_watch_goes_on(f->in->watch))
			rc = stopped(err);
		if (rc == AUC_OK)
			rc = f->in->policy->quote(ctx, m, &f->list[i].job, &d, err);
		if (rc != AUC_OK || !d.accepted)
			continue;
		rc = auc_market_book(m, &d.plan, d.plan.start, d.plan.completion - 1, err);
		f->t->worth[kind] += d.plan.value;
	}
	auc_decision_clear(&d);
	if (ctx)
		f->in->policy->destroy(ctx);
	auc_market_destroy(m);
	return rc;
}

static enum auc_code give(const struct fit *f, struct auc_market *m, enum auc_tariff_kind kind,
			  const struct prices *p, struct auc_err *err)
{
	struct auc_tariff flat = {0};
	enum auc_code rc;

	switch (kind) {
	case AUC_TARIFF_PUBLISHED:
		return auc_market_set_price(m, f->in->published, err);
	case AUC_TARIFF_LEARNED:
		return auc_market_give_prices(m, p->list, p->n, err);
	case AUC_TARIFF_FLAT:
		rc = auc_tariff_set(&flat, m, p->list, p->n, true, err);
		if (rc == AUC_OK)
			rc = auc_tariff_give(&flat, m, err);
		free(flat.classes);
		free(flat.runs);
		return rc;
	default:
		return auc_market_give_prices(m, NULL, 0, err);
	}
}

static double processor_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum auc_code stopped(struct auc_err *err)
{
	return auc_err_set(err, AUC_ESTATE, "the fit was stopped");
}
