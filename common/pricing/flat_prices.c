/* flat_prices.c - see flat_prices.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/flat_prices.h"

#define LEVELS    8 /* from 2^(1 - LEVELS) of all worth up, doubling */
#define TRACE     (-14)
#define ROUNDS    3   /* over all prices with a step */
#define STEP      2.0 /* by which a price is raised or lowered, and its root, and so on */
#define STEP_LAST 1.1
#define NEAR      0.005 /* part of its worth by which prices may be behind the best to count, too */

struct one {
	struct auc_flat_prices flat;
	double worth;
};

struct search {
	auc_flat_prices_try *try;
	void *arg;
	struct one *tried; /* AUC_FLAT_PRICES_REPLAYS long */
	unsigned n, best;
};

static enum auc_code find_level(struct search *s, const struct auc_flat_prices *f,
				struct auc_err *err);
static enum auc_code climb(struct search *s, double step, struct auc_err *err);
static bool has_replays(const struct search *s);
static enum auc_code try_one(struct search *s, const struct auc_flat_prices *f, bool *better,
			     struct auc_err *err);
static enum auc_code take_mean(struct search *s, struct auc_flat_prices *f, struct auc_err *err);

void auc_flat_prices_add(struct auc_flat_prices *f, const char *name, double amount)
{
	unsigned k = 0;

	while (k < f->n && strcmp(f->price[k].name, name) != 0)
		k++;
	if (k == sizeof(f->price) / sizeof(f->price[0]))
		return;
	if (k == f->n) {
		strcpy(f->price[k].name, name);
		f->price[k].value = 0;
		f->n++;
	}
	f->price[k].value += amount;
}

void auc_flat_prices_spread(struct auc_flat_prices *f, double worth)
{
	for (unsigned k = 0; k < f->n; k++)
		f->price[k].value = f->price[k].value > 0 ? worth / f->price[k].value : 0;
}

void auc_flat_prices_trace(struct auc_flat_prices *f)
{
	for (unsigned k = 0; k < f->n; k++)
		f->price[k].value = ldexp(f->price[k].value, TRACE);
}

enum auc_code auc_flat_prices_search(struct auc_flat_prices *f, auc_flat_prices_try *try, void *arg,
				     struct auc_err *err)
{
	struct search s = {.try = try, .arg = arg};
	enum auc_code rc;

	s.tried = calloc(AUC_FLAT_PRICES_REPLAYS, sizeof(*s.tried));
	rc = s.tried ? find_level(&s, f, err)
		     : auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	for (double step = STEP; step > STEP_LAST && rc == AUC_OK; step = sqrt(step))
		rc = climb(&s, step, err);
	if (rc == AUC_OK)
		rc = take_mean(&s, f, err);
	free(s.tried);
	return rc;
}

static enum auc_code find_level(struct search *s, const struct auc_flat_prices *f,
				struct auc_err *err)
{
	struct auc_flat_prices at = *f;
	enum auc_code rc = AUC_OK;
	bool better;

	for (int level = 1 - LEVELS; level <= 0 && rc == AUC_OK; level++) {
		for (unsigned k = 0; k < f->n; k++)
			at.price[k].value = ldexp(f->price[k].value, level);
		rc = try_one(s, &at, &better, err);
	}
	return rc;
}

/* Each price higher and lower by STEP, as long as that is better. */
static enum auc_code climb(struct search *s, double step, struct auc_err *err)
{
	bool better, moved = true;
	enum auc_code rc = AUC_OK;
	struct auc_flat_prices at;

	for (unsigned round = 0; moved && round < ROUNDS; round++) {
		moved = false;
		for (unsigned k = 0; k < 2 * s->tried[0].flat.n; k++)
			for (better = true; better;) {
				if (!has_replays(s))
					return AUC_OK;
				at = s->tried[s->best].flat;
				at.price[k / 2].value *= k % 2 ? 1 / step : step;
				rc = try_one(s, &at, &better, err);
				if (rc != AUC_OK)
					return rc;
				moved = moved || better;
			}
	}
	return rc;
}

/* One is left for the mean. */
static bool has_replays(const struct search *s)
{
	return s->n + 1 < AUC_FLAT_PRICES_REPLAYS;
}

static enum auc_code try_one(struct search *s, const struct auc_flat_prices *f, bool *better,
			     struct auc_err *err)
{
	struct one *to = &s->tried[s->n];
	enum auc_code rc;

	*better = false;
	to->flat = *f;
	rc = s->try(s->arg, f, &to->worth, err);
	if (rc != AUC_OK)
		return rc;
	*better = !s->n || to->worth > s->tried[s->best].worth;
	if (*better)
		s->best = s->n;
	s->n++;
	return AUC_OK;
}

/* The geometric mean of those that are near the best, if it is near, too; else the best. */
static enum auc_code take_mean(struct search *s, struct auc_flat_prices *f, struct auc_err *err)
{
	double least = (1 - NEAR) * s->tried[s->best].worth, worth, sum;
	unsigned count, i, k;
	enum auc_code rc;

	for (k = 0; k < f->n; k++) {
		for (sum = 0, count = 0, i = 0; i < s->n; i++)
			if (s->tried[i].worth >= least) {
				sum += log(s->tried[i].flat.price[k].value);
				count++;
			}
		f->price[k].value = exp(sum / count); /* of 0: 0 */
	}
	rc = s->try(s->arg, f, &worth, err);
	if (rc == AUC_OK && worth < least)
		*f = s->tried[s->best].flat;
	return rc;
}
