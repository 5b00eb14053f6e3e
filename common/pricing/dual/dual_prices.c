/* dual_prices.c - see dual_prices.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/dual/dual_prices.h"
#include "market/timeline.h"
#include "pricing/dual/pool_dps.h"

#define FIRST_STEP    0.2
#define AGAIN_STEP    0.01
#define LAST_STEP     0.001
#define RATE_PRIOR    10 /* jobs that are believed in beside those seen */
#define LEVEL_CHANGED 1.25
#define SURE          2 /* standard deviations, of counts of independent arrivals */

struct auc_dual_prices {
	const struct auc_policy *policy, *quotes; /* quotes: in the pool */
	char *options;
	const struct auc_cancel *cancel;
	const struct auc_dual_prices *origin; /* NULL: none */
	struct auc_pool *pool;
	/* the fit under way, or the last one */
	struct auc_dual *dual;
	struct auc_market *pooled;
	struct auc_job *jobs;
	struct auc_dual_job *dual_jobs;
	unsigned njobs;
	auc_slot first, last; /* for which it has jobs */
	/* of the last fit that ended */
	bool ready;
	double bound;
	auc_slot ended_first, ended_last;
	double *exact; /* by class and slot */
	double *timed; /* the same, smoothed */
	double *level; /* by class */
	double *flat;  /* by class */
};

static bool one_server(const struct auc_policy *policy);
static enum auc_code take_jobs(struct auc_dual_prices *l, const struct auc_market *m,
			       const struct auc_dual_job *jobs, unsigned njobs, auc_slot from,
			       struct auc_err *err);
static enum auc_code open_dual(struct auc_dual_prices *l, const struct auc_market *m, auc_slot from,
			       unsigned iterations, bool again, struct auc_err *err);
static void drop_jobs(struct auc_dual_prices *l);
static enum auc_code finish(struct auc_dual_prices *l, struct auc_err *err);
static bool grow(double **list, size_t n);
static int tres_of(const struct auc_dual_prices *l, unsigned class);
static void smooth(const double *price, auc_slot n, auc_slot width, double *to);

enum auc_code auc_dual_prices_create(const struct auc_market *m, const struct auc_policy *policy,
				     const char *options, struct auc_dual_prices **out,
				     struct auc_err *err)
{
	struct auc_dual_prices *l;
	enum auc_code rc;

	*out = NULL;
	if (!auc_policy_is_priced(policy) || policy->sites)
		return auc_err_set(err, AUC_EINVAL,
				   "policy %s: expected one that sells, and not by where data lie",
				   policy->name);
	l = calloc(1, sizeof(*l));
	if (!l)
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	l->policy = policy;
	l->quotes = strcmp(policy->name, auc_policy_dps.name) ? policy : &auc_pool_dps;
	l->options = strdup(options);
	rc = l->options ? auc_pool_create(m, one_server(policy), &l->pool, err)
			: auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	if (rc == AUC_OK)
		*out = l;
	else
		auc_dual_prices_destroy(l);
	return rc;
}

void auc_dual_prices_destroy(struct auc_dual_prices *l)
{
	if (!l)
		return;
	auc_dual_destroy(l->dual);
	auc_market_destroy(l->pooled);
	drop_jobs(l);
	auc_pool_destroy(l->pool);
	free(l->options);
	free(l->exact);
	free(l->timed);
	free(l->level);
	free(l->flat);
	free(l);
}

void auc_dual_prices_follow(struct auc_dual_prices *l, const struct auc_dual_prices *origin)
{
	l->origin = origin;
}

void auc_dual_prices_set_cancel(struct auc_dual_prices *l, const struct auc_cancel *w)
{
	l->cancel = w;
}

/* OASiS spreads PSs over servers, the others do not. */
static bool one_server(const struct auc_policy *policy)
{
	return policy->prices != AUC_PRICE_BOUNDS;
}

/* -- a fit -- */

enum auc_code auc_dual_prices_begin(struct auc_dual_prices *l, const struct auc_market *m,
				    const struct auc_dual_job *jobs, unsigned njobs, auc_slot from,
				    unsigned iterations, struct auc_err *err)
{
	const struct auc_dual *from_dual = l->dual ? l->dual : l->origin ? l->origin->dual : NULL;
	struct auc_dual *before = l->dual;
	bool gangs_only = njobs > 0;
	enum auc_code rc;

	l->dual = NULL;
	auc_market_destroy(l->pooled);
	l->pooled = NULL;
	drop_jobs(l);
	from = from > m->first ? from : m->first;
	for (unsigned i = 0; i < njobs; i++) {
		gangs_only &= !jobs[i].own && jobs[i].job->nshapes;
		if (jobs[i].own)
			auc_pool_add_types(l->pool, jobs[i].own);
		else if (jobs[i].job->nshapes)
			auc_pool_add_gangs(l->pool);
	}
	rc = auc_pool_market(l->pool, m, from, gangs_only, &l->pooled, err);
	if (rc == AUC_OK)
		rc = take_jobs(l, m, jobs, njobs, from, err);
	if (rc == AUC_OK)
		rc = open_dual(l, m, from, iterations, from_dual != NULL, err);
	if (rc == AUC_OK && from_dual)
		rc = auc_dual_continue(l->dual, from_dual, err);
	auc_dual_destroy(before);
	l->first = from;
	l->last = auc_market_last(m);
	return rc;
}

enum auc_code auc_dual_prices_step(struct auc_dual_prices *l, struct auc_err *err)
{
	enum auc_code rc = l->dual ? auc_dual_step(l->dual, err)
				   : auc_err_set(err, AUC_ESTATE, "no fit has begun");

	if (rc == AUC_OK && !auc_dual_left(l->dual)) {
		rc = finish(l, err);
		drop_jobs(l); /* a later fit needs the prices alone */
	}
	return rc;
}

unsigned auc_dual_prices_left(const struct auc_dual_prices *l)
{
	return l->dual ? auc_dual_left(l->dual) : 0;
}

bool auc_dual_prices_ready(const struct auc_dual_prices *l)
{
	return l->ready;
}

enum auc_code auc_dual_prices_fit(struct auc_dual_prices *l, const struct auc_market *m,
				  const struct auc_dual_job *jobs, unsigned njobs, auc_slot from,
				  unsigned iterations, struct auc_err *err)
{
	enum auc_code rc = auc_dual_prices_begin(l, m, jobs, njobs, from, iterations, err);

	while (rc == AUC_OK && auc_dual_prices_left(l))
		rc = auc_dual_prices_step(l, err);
	return rc;
}

/* Jobs as the pool sees them, in markets of their own if they have types of their own. */
static enum auc_code take_jobs(struct auc_dual_prices *l, const struct auc_market *m,
			       const struct auc_dual_job *jobs, unsigned njobs, auc_slot from,
			       struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct auc_dual_job *to;
	unsigned i;

	l->jobs = calloc((size_t)njobs + 1, sizeof(*l->jobs));
	l->dual_jobs = calloc((size_t)njobs + 1, sizeof(*l->dual_jobs));
	if (!l->jobs || !l->dual_jobs)
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	for (i = 0; i < njobs && rc == AUC_OK; i++) {
		if (jobs[i].job->arrival < from)
			continue;
		to = &l->dual_jobs[l->njobs];
		rc = auc_pool_job(l->pool, jobs[i].own ? jobs[i].own : m, l->pooled, jobs[i].job,
				  &l->jobs[l->njobs], err);
		if (rc != AUC_OK) {
			auc_job_clear(&l->jobs[l->njobs]);
			break;
		}
		*to = (struct auc_dual_job){.job = &l->jobs[l->njobs], .weight = jobs[i].weight};
		l->njobs++;
		if (jobs[i].own)
			rc = auc_pool_market(l->pool, jobs[i].own, auc_market_last(jobs[i].own) + 1,
					     false, &to->own, err);
	}
	return rc;
}

static void drop_jobs(struct auc_dual_prices *l)
{
	unsigned i;

	for (i = 0; i < l->njobs; i++) {
		auc_job_clear(&l->jobs[i]);
		auc_market_destroy(l->dual_jobs[i].own);
	}
	free(l->jobs);
	free(l->dual_jobs);
	l->jobs = NULL;
	l->dual_jobs = NULL;
	l->njobs = 0;
}

static enum auc_code open_dual(struct auc_dual_prices *l, const struct auc_market *m, auc_slot from,
			       unsigned iterations, bool again, struct auc_err *err)
{
	struct auc_dual_phase phase = {AUC_DUAL_POOL, iterations, again ? AGAIN_STEP : FIRST_STEP,
				       LAST_STEP};
	unsigned n = auc_pool_nclasses(l->pool), i, *tres = calloc((size_t)n + 1, sizeof(*tres));
	double *capacity = NULL;
	uint32_t *group = NULL;
	enum auc_code rc = tres ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "no memory for prices");

	if (rc == AUC_OK)
		rc = auc_pool_capacity(l->pool, m, from, &capacity, err);
	if (rc == AUC_OK)
		rc = auc_pool_groups(l->pool, m, l->pooled, &group, err);
	if (rc == AUC_OK)
		rc = auc_dual_create(l->pooled, l->quotes, l->quotes == l->policy ? l->options : "",
				     l->dual_jobs, l->njobs, &l->dual, err);
	for (i = 0; i < n && rc == AUC_OK; i++)
		tres[i] = tres_of(l, i) < 0 ? 0 : (unsigned)tres_of(l, i);
	if (rc == AUC_OK)
		rc = auc_dual_set_pool(
			l->dual,
			&(struct auc_dual_pool){
				.ngroups = n, .group = group, .tres = tres, .capacity = capacity},
			err);
	if (rc == AUC_OK)
		rc = auc_dual_begin(l->dual, &phase, err);
	if (rc == AUC_OK)
		auc_dual_set_cancel(l->dual, l->cancel);
	free(tres);
	free(capacity);
	free(group);
	return rc;
}

/* -- its prices -- */

static enum auc_code finish(struct auc_dual_prices *l, struct auc_err *err)
{
	auc_slot slots = l->last - auc_market_first(l->pooled) + 1, n = l->last - l->first + 1, t;
	auc_slot width = (auc_slot)(auc_dual_duration(l->dual) + 0.5);
	unsigned classes = auc_pool_nclasses(l->pool), c;
	size_t cells = (size_t)classes * (size_t)slots;
	double *price;
	int tres;

	if (!grow(&l->exact, cells) || !grow(&l->timed, cells) || !grow(&l->level, classes) ||
	    !grow(&l->flat, classes)) {
		l->ready = false;
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	}
	for (c = 0; c < classes; c++) {
		price = l->exact + (size_t)c * (size_t)n;
		l->level[c] = 0;
		for (t = 0; t < n; t++) {
			price[t] = auc_dual_group_price(l->dual, c, l->first + t);
			l->level[c] += price[t] / (double)n;
		}
		smooth(price, n, width, l->timed + (size_t)c * (size_t)n);
		tres = tres_of(l, c);
		l->flat[c] = tres < 0 ? 0 : auc_dual_scale(l->dual, (unsigned)tres);
	}
	l->bound = auc_dual_bound(l->dual);
	l->ended_first = l->first;
	l->ended_last = l->last;
	l->ready = true;
	return AUC_OK;
}

/* False: no memory for N at LIST. */
static bool grow(double **list, size_t n)
{
	double *grown = realloc(*list, (n + 1) * sizeof(*grown));

	*list = grown ? grown : *list;
	return grown;
}

/* TO: the mean of the slots within WIDTH. */
static void smooth(const double *price, auc_slot n, auc_slot width, double *to)
{
	auc_slot t, from, until, i;
	double sum;

	for (t = 0; t < n; t++) {
		from = t > width ? t - width : 0;
		until = t + width < n ? t + width : n - 1;
		for (sum = 0, i = from; i <= until; i++)
			sum += price[i];
		to[t] = sum / (double)(until - from + 1);
	}
}

/* The pool's index of a class's TRES, -1: no type takes of it. */
static int tres_of(const struct auc_dual_prices *l, unsigned class)
{
	return auc_market_find_tres(l->pooled, auc_pool_class(l->pool, class)->name);
}

double auc_dual_prices_bound(const struct auc_dual_prices *l)
{
	return l->bound;
}

double auc_dual_prices_scale(const struct auc_dual_prices *l, unsigned tres)
{
	for (unsigned c = 0; l->ready && c < auc_pool_nclasses(l->pool); c++)
		if (auc_pool_class(l->pool, c)->tres == tres)
			return l->flat[c];
	return 0;
}

double auc_dual_prices_at(const struct auc_dual_prices *l, const struct auc_price_choice *choice,
			  unsigned class, auc_slot t)
{
	auc_slot n = l->ended_last - l->ended_first + 1;
	size_t cell;

	if (!l->ready || t < l->ended_first || t > l->ended_last)
		return 0;
	cell = (size_t) class * (size_t)n + (size_t)(t - l->ended_first);
	switch (choice->form) {
	case AUC_PRICE_FORM_FLAT:
		return choice->factor * l->flat[class];
	case AUC_PRICE_FORM_LEVEL:
		return choice->factor * l->level[class];
	case AUC_PRICE_FORM_TIMED:
		return choice->factor * l->timed[cell];
	case AUC_PRICE_FORM_MIXED:
		return choice->factor * (l->timed[cell] + l->level[class]) / 2;
	case AUC_PRICE_FORM_DUAL:
		return choice->factor * l->exact[cell];
	default:
		return 0;
	}
}

enum auc_code auc_dual_prices_list(const struct auc_dual_prices *l, const struct auc_market *m,
				   const struct auc_price_choice *choice,
				   struct auc_given_price **list, size_t *n, struct auc_err *err)
{
	size_t rows = (size_t)m->nservers * m->ntres;
	unsigned s, k;
	double price;
	auc_slot t;
	size_t row;
	int class;

	*n = 0;
	*list = NULL;
	if (!l->ready)
		return auc_err_set(err, AUC_ESTATE, "no prices have been learned yet");
	*list = calloc(rows * m->slots + 1, sizeof(**list));
	if (!*list)
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	for (s = 0; s < m->nservers; s++)
		for (k = 0; k < m->ntres; k++) {
			class = auc_pool_class_of(l->pool, s, k);
			for (row = *n, t = l->ended_first; class >= 0 && t <= l->ended_last; t++) {
				price = fmin(auc_dual_prices_at(l, choice, (unsigned)class, t),
					     AUC_PRICE_LIMIT);
				if (!(price > 0))
					continue;
				if (*n > row && (*list)[*n - 1].to == t - 1 &&
				    (*list)[*n - 1].price == price)
					(*list)[*n - 1].to = t;
				else
					(*list)[(*n)++] =
						(struct auc_given_price){s, k, t, t, price};
			}
		}
	return AUC_OK;
}

enum auc_code auc_dual_prices_once(const struct auc_market *m, const struct auc_policy *policy,
				   const struct auc_dual_job *jobs, unsigned njobs,
				   unsigned iterations, const struct auc_cancel *cancel,
				   struct auc_given_price **list, size_t *n, double *bound,
				   struct auc_err *err)
{
	static const struct auc_price_choice timed = {AUC_PRICE_FORM_TIMED, 1};
	struct auc_dual_prices *l;
	enum auc_code rc = auc_dual_prices_create(m, policy, "", &l, err);

	*list = NULL;
	*n = 0;
	if (rc != AUC_OK)
		return rc;
	auc_dual_prices_set_cancel(l, cancel);
	rc = auc_dual_prices_fit(l, m, jobs, njobs, auc_market_first(m), iterations, err);
	if (rc == AUC_OK)
		rc = auc_dual_prices_list(l, m, &timed, list, n, err);
	if (rc == AUC_OK)
		*bound = auc_dual_prices_bound(l);
	auc_dual_prices_destroy(l);
	return rc;
}

double auc_dual_prices_ratio(double seen, double expected)
{
	return (seen + RATE_PRIOR) / (expected + RATE_PRIOR);
}

double auc_dual_prices_rate(double seen, double expected)
{
	bool chance = fabs(seen - expected) <= SURE * sqrt(fmax(seen, expected));

	return chance ? 1 : auc_dual_prices_ratio(seen, expected);
}

bool auc_dual_prices_level_changed(double seen, double expected)
{
	double rate = auc_dual_prices_rate(seen, expected);

	return fmax(rate, 1 / rate) > LEVEL_CHANGED;
}
