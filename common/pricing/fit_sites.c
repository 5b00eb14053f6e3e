/* fit_sites.c - see fit_sites.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/fit-private.h"
#include "pricing/fit_sites.h"
#include "pricing/flat_prices.h"
#include "market/timeline.h"

#define KEEP    0.01 /* part of its worth that other prices must be better by */
#define MARGIN  0.05 /* and those that are taught better than the others */
#define LEVELS  7    /* for a bound: prices times 0 and 1/8 to 4 */
#define ROUNDED 1e-8 /* more than rounding takes of a sum */

/* A period that is replayed. */
struct day {
	const struct auc_fit_input *in;
	const struct auc_dual_job *jobs;
	unsigned n;
};

static enum auc_code find(struct day *d, struct auc_tariff *t, struct auc_err *err);
static enum auc_code compare(struct day *d, struct auc_tariff *t, struct auc_err *err);
static enum auc_code replay(const struct day *d, enum auc_tariff_kind kind,
			    const struct auc_tariff *t, double *worth, struct auc_err *err);
static auc_flat_prices_try try_flat;
static struct auc_flat_prices spread(const struct day *d);
static enum auc_code search(struct day *d, struct auc_tariff *t, struct auc_err *err);
static enum auc_code set_trace(const struct day *d, struct auc_tariff *t, struct auc_err *err);
static enum auc_code set_flat(struct auc_tariff *t, const struct auc_market *m,
			      const struct auc_flat_prices *f, struct auc_err *err);
static enum auc_code take_classes(struct auc_tariff *t, const struct auc_tariff *from,
				  struct auc_err *err);
static void drop_classes(struct auc_tariff *t);
static double payoff(const struct auc_market *m, const struct auc_job *job, const double *price,
		     double factor);
static double price_of(const struct auc_tariff *t, const char *tres);

enum auc_code auc_fit_sites_guard(const struct auc_fit_input *in, const struct auc_dual_job *jobs,
				  unsigned n, struct auc_tariff *t, struct auc_err *err)
{
	struct day day = {.in = in, .jobs = jobs, .n = n};
	enum auc_code rc;

	t->guard = (struct auc_tariff_guard){
		.flat = in->kind == AUC_TARIFF_FLAT, .days = 1, .bids = n, .time = in->now};
	t->kind = AUC_TARIFF_FLAT;
	rc = find(&day, t, err);
	if (rc == AUC_OK && in->kind != AUC_TARIFF_FLAT)
		rc = compare(&day, t, err);
	if (rc != AUC_OK)
		return rc;
	t->guard.bound = auc_fit_sites_bound(in->empty, jobs, n, t);
	t->guard.worth = t->guard.worth_of[t->kind];
	t->guard.choice = (struct auc_guard_choice){.kind = t->kind, .prices = t->choice};
	if (t->kind != AUC_TARIFF_FLAT)
		drop_classes(t);
	return AUC_OK;
}

enum auc_code auc_fit_sites_keep(const struct auc_fit_input *in, struct auc_tariff *t,
				 struct auc_err *err)
{
	if (!in->last || !in->last->guard.bids)
		return auc_err_set(err, AUC_ENOENT,
				   "too few bids in the last period, %d are needed",
				   AUC_FIT_BIDS_MIN);
	t->kind = in->last->kind;
	t->guard = in->last->guard;
	return take_classes(t, in->last, err);
}

/* -- the guard -- */

/* Prices that are more than a trace. */
static bool holds(const struct auc_tariff *last)
{
	return last && last->guard.bids && last->kind == AUC_TARIFF_FLAT && last->choice.factor > 0;
}

/* The best constant prices into T; where those that hold are hardly worse, these. */
static enum auc_code find(struct day *d, struct auc_tariff *t, struct auc_err *err)
{
	double *worth = &t->guard.worth_of[AUC_TARIFF_FLAT], now;
	enum auc_code rc = search(d, t, err);

	if (rc == AUC_OK)
		rc = replay(d, AUC_TARIFF_FLAT, t, worth, err);
	if (rc != AUC_OK || !holds(d->in->last))
		return rc;
	rc = replay(d, AUC_TARIFF_FLAT, d->in->last, &now, err);
	if (rc != AUC_OK || now < (1 - KEEP) * *worth)
		return rc;
	*worth = now;
	return take_classes(t, d->in->last, err);
}

/* T becomes one of the others, unless its constant prices are better. */
static enum auc_code compare(struct day *d, struct auc_tariff *t, struct auc_err *err)
{
	double margin = holds(d->in->last) ? 0 : MARGIN, *worth = t->guard.worth_of, trace = 0,
	       base;
	enum auc_tariff_kind other = AUC_TARIFF_NONE;
	enum auc_code rc = replay(d, AUC_TARIFF_NONE, NULL, &worth[AUC_TARIFF_NONE], err);
	struct auc_tariff thrifty = {.kind = AUC_TARIFF_FLAT};

	if (rc == AUC_OK)
		rc = replay(d, AUC_TARIFF_PUBLISHED, NULL, &worth[AUC_TARIFF_PUBLISHED], err);
	if (rc == AUC_OK)
		rc = set_trace(d, &thrifty, err);
	if (rc == AUC_OK)
		rc = replay(d, AUC_TARIFF_FLAT, &thrifty, &trace, err);
	if (worth[AUC_TARIFF_PUBLISHED] > worth[AUC_TARIFF_NONE])
		other = AUC_TARIFF_PUBLISHED;
	base = fmax(trace, worth[other]);
	t->guard.gain = worth[AUC_TARIFF_FLAT] - base;
	t->guard.needed = margin * base;
	if (trace > worth[other]) {
		if (rc == AUC_OK && !(t->guard.gain > t->guard.needed)) {
			rc = take_classes(t, &thrifty, err);
			worth[AUC_TARIFF_FLAT] = trace;
		}
	} else if (!(t->guard.gain > t->guard.needed)) {
		t->kind = other;
	}
	drop_classes(&thrifty);
	return rc;
}

/* -- replays -- */

/* What the period is worth with prices of KIND, those of T if they are its own. */
static enum auc_code replay(const struct day *d, enum auc_tariff_kind kind,
			    const struct auc_tariff *t, double *worth, struct auc_err *err)
{
	struct auc_market *m = auc_market_clone(d->in->empty);
	enum auc_code rc;

	if (!m)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a replay");
	if (kind == AUC_TARIFF_PUBLISHED)
		rc = auc_market_set_price(m, d->in->published, err);
	else if (kind == AUC_TARIFF_NONE)
		rc = auc_market_give_prices(m, NULL, 0, err);
	else
		rc = auc_tariff_give(t, m, err);
	if (rc == AUC_OK)
		rc = auc_fit_sell(d->in, m, d->jobs, d->n, worth, err);
	auc_market_destroy(m);
	return rc;
}

static enum auc_code try_flat(void *arg, const struct auc_flat_prices *f, double *worth,
			      struct auc_err *err)
{
	struct auc_tariff t = {.kind = AUC_TARIFF_FLAT};
	struct day *d = arg;
	enum auc_code rc = set_flat(&t, d->in->empty, f, err);

	if (rc == AUC_OK)
		rc = replay(d, AUC_TARIFF_FLAT, &t, worth, err);
	drop_classes(&t);
	return rc;
}

/* Prices at which all there is would cost what all bids are worth if they were done at once. */
static struct auc_flat_prices spread(const struct day *d)
{
	const struct auc_market *m = d->in->empty;
	double budget = auc_market_traffic_budget(m), worth = 0;
	struct auc_flat_prices f = {.n = 0};

	for (unsigned s = 0; s < m->nservers; s++)
		for (unsigned k = 0; k < m->ntres; k++)
			if (m->servers[s].amount[k] > 0)
				auc_flat_prices_add(&f, m->tres[k].name, m->servers[s].amount[k]);
	if (isfinite(budget))
		auc_flat_prices_add(&f, AUC_TRANSFER, budget);
	for (unsigned i = 0; i < d->n; i++)
		worth += auc_utility_value(&d->jobs[i].job->utility, 1);
	auc_flat_prices_spread(&f, worth / m->slots);
	return f;
}

/* The best constant prices into T. */
static enum auc_code search(struct day *d, struct auc_tariff *t, struct auc_err *err)
{
	struct auc_flat_prices f = spread(d);
	enum auc_code rc = auc_flat_prices_search(&f, try_flat, d, err);

	return rc == AUC_OK ? set_flat(t, d->in->market, &f, err) : rc;
}

/* A trace of prices, which is told apart by a factor of 0. */
static enum auc_code set_trace(const struct day *d, struct auc_tariff *t, struct auc_err *err)
{
	struct auc_flat_prices f = spread(d);
	enum auc_code rc;

	auc_flat_prices_trace(&f);
	rc = set_flat(t, d->in->market, &f, err);
	t->choice.factor = 0;
	return rc;
}

/* -- prices -- */

/* T's prices are those of F, on all servers of M. */
static enum auc_code set_flat(struct auc_tariff *t, const struct auc_market *m,
			      const struct auc_flat_prices *f, struct auc_err *err)
{
	auc_slot first = auc_market_first(m), last = auc_market_last(m);
	struct auc_given_price *list = calloc((size_t)m->nservers * f->n + f->n + 1, sizeof(*list));
	enum auc_code rc;
	size_t n = 0;
	int k;

	if (!list)
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	for (unsigned i = 0; i < f->n; i++) {
		double price = fmin(f->price[i].value, AUC_PRICE_LIMIT);

		k = auc_market_find_tres(m, f->price[i].name);
		for (unsigned s = 0; k >= 0 && s < m->nservers; s++)
			list[n++] = (struct auc_given_price){s, (unsigned)k, first, last, price};
		if (k < 0)
			list[n++] = (struct auc_given_price){AUC_ANY_SERVER, 0, first, last, price};
	}
	drop_classes(t);
	t->choice = (struct auc_price_choice){AUC_PRICE_FORM_FLAT, 1};
	rc = auc_tariff_set(t, m, list, n, err);
	free(list);
	return rc;
}

/* T's classes are copies of FROM's. */
static enum auc_code take_classes(struct auc_tariff *t, const struct auc_tariff *from,
				  struct auc_err *err)
{
	struct auc_tariff *copy = auc_tariff_copy(from);

	if (!copy)
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	drop_classes(t);
	t->choice = copy->choice;
	t->nclasses = copy->nclasses;
	t->nruns = copy->nruns;
	t->classes = copy->classes;
	t->runs = copy->runs;
	free(copy);
	return AUC_OK;
}

static void drop_classes(struct auc_tariff *t)
{
	free(t->classes);
	free(t->runs);
	t->classes = NULL;
	t->runs = NULL;
	t->nclasses = t->nruns = 0;
}

/* -- the bound -- */

double auc_fit_sites_bound(const struct auc_market *m, const struct auc_dual_job *jobs, unsigned n,
			   const struct auc_tariff *t)
{
	double best = INFINITY, unsold[AUC_TRES_MAX] = {0}, price[AUC_TRES_MAX] = {0};
	size_t cells = (size_t)m->slots * m->nservers;

	for (unsigned k = 0; k < m->ntres; k++) {
		price[k] = price_of(t, m->tres[k].name);
		for (size_t cell = 0; cell < cells; cell++)
			unsold[k] += (double)(m->servers[cell % m->nservers].units[k] -
					      m->used[cell * m->ntres + k]) /
				     (double)m->tres[k].scale;
	}
	for (unsigned level = 0; level < LEVELS; level++) {
		double factor = level ? ldexp(1, (int)level - 4) : 0, sum = 0;

		for (unsigned k = 0; k < m->ntres; k++)
			sum += factor * price[k] * unsold[k];
		for (unsigned i = 0; i < n; i++)
			sum += jobs[i].weight * payoff(m, jobs[i].job, price, factor);
		best = fmin(best, sum);
	}
	return best * (1 + ROUNDED);
}

/* What JOB gains at most, if a unit of each TRES costs FACTOR times PRICE. */
static double payoff(const struct auc_market *m, const struct auc_job *job, const double *price,
		     double factor)
{
	unsigned upload = UINT32_MAX, w, p, k;
	double best = 0, slots, work, cost;

	for (unsigned s = 0; s < m->nservers; s++)
		upload = job->upload[s] < upload ? job->upload[s] : upload;
	for (w = 0; w < m->nworker_types && upload < UINT32_MAX; w++)
		for (p = 0; p < m->nps_types; p++) {
			if (job->worker_seconds[w] < 0 || job->ps_seconds[p] < 0 ||
			    !m->cache[w].max0 || !m->cache[auc_ps_index(m, p)].max0)
				continue;
			work = (1 - ROUNDED) * (double)job->epochs * (double)job->chunks /
			       auc_job_chunks_per_slot(m, job, w, p);
			slots = fmax(1, ceil(work / (double)m->cache[w].total0));
			for (cost = 0, k = 0; k < m->ntres; k++)
				cost += price[k] * (work * auc_market_worker_amount(m, w, k) +
						    slots * auc_market_ps_amount(m, p, k));
			best = fmax(best, auc_utility_value(&job->utility, upload + slots) -
						  factor * cost);
		}
	return best;
}

/* The lowest one of TRES in T. */
static double price_of(const struct auc_tariff *t, const char *tres)
{
	double least = INFINITY;

	for (unsigned i = 0; i < t->nclasses; i++)
		for (unsigned r = 0;
		     r < t->classes[i].nruns && !strcasecmp(t->classes[i].tres, tres); r++)
			least = fmin(least, t->runs[t->classes[i].first_run + r].price);
	return isinf(least) ? 0 : least;
}
