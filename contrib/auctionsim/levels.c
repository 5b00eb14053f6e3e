/*
 * levels.c - see levels.h.
 *
 * The lower bound L that past days teach is what each TRES is worth on the servers of either role:
 * the dual price of all their jobs, packed as fractions (common/bounds.c). It stands all day. How
 * steeply prices rise from there as a server fills, U / L, and how much of L is best, say replays:
 * where everything is scarce the level alone is best, where little is, it costs nothing to rise.
 * But a few days are decided by luck, too: of 50 jobs, on the mean of twelve days, no level within
 * a factor of four is better than another by 1 %, and on each day another one is best. So L as it
 * is taught, and U the same, is kept unless the replays are clearly against it.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "levels.h"
#include "replay.h"
#include "world.h"

#define STEP       1.4  /* of levels */
#define STEPS      4    /* up or down */
#define AHEAD      10   /* slots behind the last arrival of a day, before the next day begins */
#define BEHIND     0.02 /* of the days so far: then the others are not replayed */
#define MARGIN     0.02 /* chosen on seeds 801 to 812 of tests/bench/oasis, 50 to 200 jobs */
#define MARGIN_ONE 0.05

enum kind { NONE, PUBLISHED, OF_DAY, TAUGHT, KINDS };

/* Bounds that are taught: how much of L is taken, and U / L. */
struct level {
	double factor, ratio;
};

struct search {
	const struct auc_policy *policy;
	const char *text;
	struct scenario *const *days;
	unsigned ndays;
	unsigned *first;          /* by day: of claims; and behind the last */
	struct auc_claim *claims; /* of all days, one behind the other */
	struct auc_price *taught; /* by day: what the others teach; behind the last: all */
	double worth[KINDS];      /* of the past, with the best of each kind */
	struct level best;        /* of those that are taught */
	double as_taught;         /* what the past is worth with L as it is taught, U the same */
	double *now, *by_day;     /* what each day was worth at last, and with the best level */
};

static enum auc_code hear(struct search *f, struct auc_err *err);
static enum auc_code hear_day(struct search *f, unsigned day, auc_slot *at, struct auc_err *err);
static enum auc_code teach(struct search *f, const struct scenario *s, unsigned without,
			   struct auc_err *err);
static enum auc_code find_level(struct search *f, bool flat, struct auc_err *err);
static enum auc_code try_level(struct search *f, struct level level, bool *better,
			       struct auc_err *err);
static enum auc_code replay(struct search *f, enum kind kind, const struct level *level,
			    double *worth, struct auc_err *err);
static enum kind choose(const struct search *f, bool flat);
static enum auc_code set_prices(struct scenario *s, enum kind kind, const struct level *level,
				const struct auc_price *taught, struct auc_err *err);
static enum auc_code set_role(struct scenario_bounds *to, const struct auc_price *taught,
			      unsigned role, const struct level *level, struct auc_err *err);
static char *explain(const struct search *f, enum kind kind);
static enum auc_code no_memory(struct auc_err *err);

enum auc_code levels_learn(struct scenario *s, const struct auc_policy *policy, const char *text,
			   struct scenario *const *days, unsigned n, bool flat, char **chosen,
			   struct auc_err *err)
{
	struct search f = {.policy = policy, .text = text, .days = days, .ndays = n};
	enum auc_code rc = hear(&f, err);
	enum kind kind = TAUGHT;

	*chosen = NULL;
	for (unsigned i = 0; i <= n && rc == AUC_OK; i++)
		rc = teach(&f, s, i, err);
	for (unsigned k = NONE; k < TAUGHT && !flat && rc == AUC_OK; k++)
		rc = replay(&f, k, NULL, &f.worth[k], err);
	if (rc == AUC_OK)
		rc = find_level(&f, flat, err);
	if (rc == AUC_OK) {
		kind = choose(&f, flat);
		rc = set_prices(s, kind, &f.best, &f.taught[n], err);
	}
	if (rc == AUC_OK) {
		*chosen = explain(&f, kind);
		rc = *chosen ? AUC_OK : no_memory(err);
	}
	free(f.first);
	free(f.claims);
	free(f.taught);
	free(f.now);
	free(f.by_day);
	return rc;
}

/* -- what the days teach -- */

/* What all jobs of the past say. */
static enum auc_code hear(struct search *f, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	auc_slot at = 0;
	size_t n = 0;

	for (unsigned i = 0; i < f->ndays; i++)
		n += f->days[i]->njobs;
	f->first = calloc((size_t)f->ndays + 1, sizeof(*f->first));
	f->claims = calloc(n + 1, sizeof(*f->claims));
	f->taught = calloc((size_t)f->ndays + 1, sizeof(*f->taught));
	f->now = calloc(f->ndays, sizeof(*f->now));
	f->by_day = calloc(f->ndays, sizeof(*f->by_day));
	if (!f->first || !f->claims || !f->taught || !f->now || !f->by_day)
		return no_memory(err);
	for (unsigned i = 0; i < f->ndays && rc == AUC_OK; i++)
		rc = hear_day(f, i, &at, err);
	return rc;
}

/* *AT: where its arrivals begin, so that days follow each other without a gap. */
static enum auc_code hear_day(struct search *f, unsigned day, auc_slot *at, struct auc_err *err)
{
	const struct scenario *s = f->days[day];
	struct auc_claim *c, *from = f->claims + f->first[day], *end = from;
	auc_slot first = INT64_MAX, last = INT64_MIN;
	struct auc_job job = {0};
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < s->njobs && rc == AUC_OK; i++) {
		struct auc_market *m = NULL;

		rc = world_slot(s, &s->jobs[i], 1, &m, err);
		if (rc == AUC_OK)
			rc = world_job(s, &s->jobs[i], &job, err);
		if (rc == AUC_OK && auc_claim_make(m, &job, end)) {
			first = end->arrival < first ? end->arrival : first;
			last = end->arrival > last ? end->arrival : last;
			end++;
		}
		auc_market_destroy(m);
	}
	for (c = from; c < end; c++)
		c->arrival += *at - first;
	*at += end > from ? last - first + 1 + AHEAD : 0;
	f->first[day + 1] = (unsigned)(end - f->claims);
	auc_job_clear(&job);
	return rc;
}

/* The bounds that all days teach but WITHOUT. */
static enum auc_code teach(struct search *f, const struct scenario *s, unsigned without,
			   struct auc_err *err)
{
	unsigned n = f->first[f->ndays], count = 0;
	bool half = f->ndays == 1 && without == 0;
	const struct auc_claim **list = calloc((size_t)n + 2, sizeof(*list));
	struct auc_market *m = NULL;
	enum auc_code rc = list ? world_market(s, NULL, &m, err) : no_memory(err);

	for (unsigned i = 0; i < n && rc == AUC_OK; i += half ? 2 : 1)
		if (half) {
			list[count++] = &f->claims[i];
			list[count++] = &f->claims[i];
		} else if (without == f->ndays || i < f->first[without] ||
			   i >= f->first[without + 1]) {
			list[count++] = &f->claims[i];
		}
	if (rc == AUC_OK)
		rc = auc_bounds_learn(m, list, count, &f->taught[without], err);
	auc_market_destroy(m);
	free(list);
	return rc;
}

/* -- what is best -- */

/* The best U / L first, then the level, up or down as long as that is better. */
static enum auc_code find_level(struct search *f, bool flat, struct auc_err *err)
{
	static const double ratios[] = {1, 10, 100};
	unsigned n = flat ? 1 : sizeof(ratios) / sizeof(ratios[0]);
	enum auc_code rc = AUC_OK;
	bool better, moved = false;

	for (unsigned i = 0; i < n && rc == AUC_OK; i++)
		rc = try_level(f, (struct level){1, ratios[i]}, &better, err);
	for (unsigned up = 0; up < 2 && !moved; up++) {
		better = true;
		for (unsigned i = 0; i < STEPS && better && rc == AUC_OK; i++) {
			struct level next = f->best;

			next.factor *= up ? STEP : 1 / STEP;
			rc = try_level(f, next, &better, err);
			moved = moved || better;
		}
	}
	return rc;
}

static enum auc_code try_level(struct search *f, struct level level, bool *better,
			       struct auc_err *err)
{
	double worth = 0;
	enum auc_code rc = replay(f, TAUGHT, &level, &worth, err);

	*better = rc == AUC_OK && worth > f->worth[TAUGHT] && worth > f->as_taught * (1 + MARGIN);
	if (*better || !(f->best.factor > 0)) {
		if (!(f->best.factor > 0))
			f->as_taught = worth;
		f->worth[TAUGHT] = worth;
		f->best = level;
		memcpy(f->by_day, f->now, f->ndays * sizeof(*f->now));
	}
	return rc;
}

/* What the past is worth; of a level less, if it falls behind the best one so far. */
static enum auc_code replay(struct search *f, enum kind kind, const struct level *level,
			    double *worth, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	double least = 0;

	*worth = 0;
	for (unsigned i = 0; i < f->ndays && *worth >= least && rc == AUC_OK; i++) {
		struct result result = {0};

		rc = set_prices(f->days[i], kind, level, &f->taught[i], err);
		if (rc == AUC_OK)
			rc = replay_run(f->days[i], f->text, 1, NULL, NULL, &result, err);
		f->now[i] = result.welfare;
		*worth += result.welfare;
		least += kind == TAUGHT ? (1 - BEHIND) * f->by_day[i] : 0;
		result_clear(&result);
	}
	return rc;
}

static enum kind choose(const struct search *f, bool flat)
{
	enum kind best = NONE;

	if (flat)
		return TAUGHT;
	for (enum kind k = NONE; k < TAUGHT; k++)
		if (f->worth[k] > f->worth[best])
			best = k;
	return f->worth[TAUGHT] > f->worth[best] * (f->ndays == 1 ? 1 + MARGIN_ONE : 1 - MARGIN)
		       ? TAUGHT
		       : best;
}

/* -- prices of a scenario -- */

static enum auc_code set_prices(struct scenario *s, enum kind kind, const struct level *level,
				const struct auc_price *taught, struct auc_err *err)
{
	static const enum scenario_prices prices[KINDS] = {
		[NONE] = SCENARIO_PRICES_GIVEN,
		[PUBLISHED] = SCENARIO_PRICES_OFFLINE,
		[OF_DAY] = SCENARIO_PRICES_LEARNED,
		[TAUGHT] = SCENARIO_PRICES_BOUNDS,
	};
	enum auc_code rc;

	s->prices = prices[kind];
	s->nvalues = 0;
	if (kind != TAUGHT)
		return AUC_OK;
	s->both.lower.n = s->both.upper.n = 0;
	rc = set_role(&s->worker, taught, AUC_PRICE_WORKER, level, err);
	return rc == AUC_OK ? set_role(&s->ps_bounds, taught, AUC_PRICE_PS, level, err) : rc;
}

static enum auc_code set_role(struct scenario_bounds *to, const struct auc_price *taught,
			      unsigned role, const struct level *level, struct auc_err *err)
{
	struct scenario_amounts *const amounts[] = {&to->lower, &to->upper};
	double lower, price[2];

	for (unsigned i = 0; i < 2; i++) {
		free(amounts[i]->list);
		amounts[i]->n = 0;
		amounts[i]->list = calloc(taught->nbounds + 1, sizeof(*amounts[i]->list));
		if (!amounts[i]->list)
			return no_memory(err);
	}
	for (unsigned k = 0; k < taught->nbounds; k++) {
		lower = exp(taught->bounds[k].lower[role]);
		price[0] = fmin(level->factor * lower, AUC_PRICE_LIMIT);
		price[1] = fmin(price[0] * level->ratio, AUC_PRICE_LIMIT);
		for (unsigned i = 0; i < 2 && lower > 0; i++) {
			struct auc_named *a = &amounts[i]->list[amounts[i]->n++];

			strcpy(a->name, taught->bounds[k].name);
			a->value = price[i];
		}
	}
	return AUC_OK;
}

static char *explain(const struct search *f, enum kind kind)
{
	static const char *const words[] = {
		[NONE] = "no prices",
		[PUBLISHED] = "the published prices",
		[OF_DAY] = "bounds that the day's jobs teach",
	};
	char what[80], *text = NULL;

	if (kind == TAUGHT)
		snprintf(what, sizeof(what), "learned prices: bounds times %.3g, U / L %g",
			 f->best.factor, f->best.ratio);
	else
		snprintf(what, sizeof(what), "%s", words[kind]);
	if (asprintf(&text,
		     "%.40s: %s: the past would have been worth %.2f without prices, %.2f with the "
		     "published, %.2f with bounds that its jobs teach as they come, %.2f with "
		     "learned ones",
		     f->text, what, f->worth[NONE], f->worth[PUBLISHED], f->worth[OF_DAY],
		     f->worth[TAUGHT]) < 0)
		return NULL;
	return text;
}

static enum auc_code no_memory(struct auc_err *err)
{
	return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
}
