/* day_bounds.c - see day_bounds.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/run/day_bounds.h"
#include "pricing/bound_levels.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario_market.h"

#define AHEAD 10 /* slots after the last arrival of a day, before the next day begins */

struct search {
	const char *policy;
	struct scenario *const *days;
	struct auc_bound_days past;
};

static enum auc_code hear(struct search *f, unsigned n, struct auc_err *err);
static enum auc_code hear_day(struct search *f, unsigned day, struct auc_err *err);
static auc_bound_levels_replay replay;
static enum auc_code set_prices(struct scenario *s, enum auc_level_kind kind,
				const struct auc_price *price, struct auc_err *err);
static enum auc_code set_role(struct scenario_bounds *to, const struct auc_price *price,
			      unsigned role, struct auc_err *err);
static char *explain(const struct search *f, const struct auc_bound_levels *found, bool flat);
static enum auc_code no_memory(struct auc_err *err);

enum auc_code day_bounds_learn(struct scenario *s, const char *policy, struct scenario *const *days,
			       unsigned n, bool flat, char **chosen, struct auc_err *err)
{
	struct search f = {.policy = policy, .days = days};
	struct auc_market *m = NULL;
	struct auc_bound_levels found;
	struct auc_price price;
	enum auc_code rc = hear(&f, n, err);

	*chosen = NULL;
	if (rc == AUC_OK)
		rc = scenario_market_create(s, NULL, &m, err);
	if (rc == AUC_OK)
		rc = auc_bound_levels_choose(m, &f.past, flat ? 0 : AUC_LEVEL_TAUGHT, replay, &f,
					     &found, err);
	if (rc == AUC_OK)
		rc = auc_bound_levels_teach(m, &f.past, found.factor, &price, err);
	if (rc == AUC_OK)
		rc = set_prices(s, found.kind, &price, err);
	if (rc == AUC_OK && !(*chosen = explain(&f, &found, flat)))
		rc = no_memory(err);
	auc_market_destroy(m);
	free(f.past.first);
	free(f.past.slots);
	free(f.past.claims);
	return rc;
}

/* -- what the days say -- */

static enum auc_code hear(struct search *f, unsigned n, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	size_t jobs = 0;

	for (unsigned d = 0; d < n; d++)
		jobs += f->days[d]->njobs;
	f->past.ndays = n;
	f->past.first = calloc((size_t)n + 1, sizeof(*f->past.first));
	f->past.slots = calloc((size_t)n + 1, sizeof(*f->past.slots));
	f->past.claims = calloc(jobs + 1, sizeof(*f->past.claims));
	if (!f->past.first || !f->past.slots || !f->past.claims)
		return no_memory(err);
	for (unsigned d = 0; d < n && rc == AUC_OK; d++)
		rc = hear_day(f, d, err);
	return rc;
}

static enum auc_code hear_day(struct search *f, unsigned day, struct auc_err *err)
{
	const struct scenario *s = f->days[day];
	struct auc_claim *c, *from = f->past.claims + f->past.first[day], *end = from;
	auc_slot first = INT64_MAX, last = INT64_MIN;
	struct auc_job job = {0};
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < s->njobs && rc == AUC_OK; i++) {
		struct auc_market *m = NULL;

		rc = scenario_market_slot(s, &s->jobs[i], 1, &m, err);
		if (rc == AUC_OK)
			rc = scenario_market_job(s, &s->jobs[i], m, &job, err);
		if (rc == AUC_OK && auc_claim_make(m, &job, end)) {
			first = end->arrival < first ? end->arrival : first;
			last = end->arrival > last ? end->arrival : last;
			end++;
		}
		auc_market_destroy(m);
	}
	for (c = from; c < end; c++)
		c->arrival -= first;
	f->past.slots[day] = end > from ? last - first + 1 + AHEAD : 0;
	f->past.first[day + 1] = (unsigned)(end - f->past.claims);
	auc_job_clear(&job);
	return rc;
}

static enum auc_code replay(void *arg, enum auc_level_kind kind, const struct auc_price *price,
			    unsigned day, double *worth, struct auc_err *err)
{
	struct search *f = arg;
	struct result result = {0};
	enum auc_code rc = set_prices(f->days[day], kind, price, err);

	if (rc == AUC_OK)
		rc = replay_run(f->days[day], f->policy, 1, NULL, NULL, &result, err);
	*worth = result.welfare;
	result_clear(&result);
	return rc;
}

/* -- prices of a scenario -- */

/* PRICE: of those that are taught. */
static enum auc_code set_prices(struct scenario *s, enum auc_level_kind kind,
				const struct auc_price *price, struct auc_err *err)
{
	static const enum scenario_prices prices[AUC_LEVEL_KINDS] = {
		[AUC_LEVEL_NONE] = SCENARIO_PRICES_GIVEN,
		[AUC_LEVEL_PUBLISHED] = SCENARIO_PRICES_OFFLINE,
		[AUC_LEVEL_OF_DAY] = SCENARIO_PRICES_LEARNED,
		[AUC_LEVEL_TAUGHT] = SCENARIO_PRICES_BOUNDS,
	};
	enum auc_code rc;

	s->prices = prices[kind];
	s->nvalues = 0;
	if (kind != AUC_LEVEL_TAUGHT)
		return AUC_OK;
	s->both.lower.n = s->both.upper.n = 0;
	rc = set_role(&s->worker, price, AUC_PRICE_WORKER, err);
	return rc == AUC_OK ? set_role(&s->ps_bounds, price, AUC_PRICE_PS, err) : rc;
}

static enum auc_code set_role(struct scenario_bounds *to, const struct auc_price *price,
			      unsigned role, struct auc_err *err)
{
	struct scenario_amounts *const amounts[] = {&to->lower, &to->upper};

	for (unsigned i = 0; i < 2; i++) {
		free(amounts[i]->list);
		amounts[i]->n = 0;
		amounts[i]->list = calloc(price->nbounds + 1, sizeof(*amounts[i]->list));
		if (!amounts[i]->list)
			return no_memory(err);
		for (unsigned k = 0; k < price->nbounds; k++) {
			const struct auc_price_bounds *b = &price->bounds[k];
			struct auc_named *a = &amounts[i]->list[amounts[i]->n];

			a->value = exp(i ? b->upper[role] : b->lower[role]);
			strcpy(a->name, b->name);
			amounts[i]->n += a->value > 0;
		}
	}
	return AUC_OK;
}

static char *explain(const struct search *f, const struct auc_bound_levels *found, bool flat)
{
	static const char *const words[] = {
		[AUC_LEVEL_NONE] = "no prices",
		[AUC_LEVEL_PUBLISHED] = "the published prices",
		[AUC_LEVEL_OF_DAY] = "bounds that the day's jobs teach",
	};
	const double *worth = found->worth;
	char what[80], others[1100] = "", *text = NULL;

	if (found->kind == AUC_LEVEL_TAUGHT)
		snprintf(what, sizeof(what), "learned prices: bounds times %.3g", found->factor);
	else
		snprintf(what, sizeof(what), "%s", words[found->kind]);
	if (!flat) /* else they were not replayed */
		snprintf(others, sizeof(others),
			 "%.2f without prices, %.2f with the published, %.2f with bounds that its "
			 "jobs teach as they come, ",
			 worth[AUC_LEVEL_NONE], worth[AUC_LEVEL_PUBLISHED],
			 worth[AUC_LEVEL_OF_DAY]);
	if (asprintf(&text, "%.40s: %s: the past would have been worth %s%.2f with learned ones",
		     f->policy, what, others, worth[AUC_LEVEL_TAUGHT]) < 0)
		return NULL;
	return text;
}

static enum auc_code no_memory(struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
}
