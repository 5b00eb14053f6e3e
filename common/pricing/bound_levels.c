/* bound_levels.c - see bound_levels.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/bound_levels.h"

#define STEP       1.4  /* of levels */
#define STEPS      4    /* up or down */
#define BEHIND     0.02 /* of the days so far: then the others are not replayed */
#define MARGIN     0.02 /* chosen on seeds 801 to 812 of auctionsim gen oasis, 50 to 200 jobs */
#define MARGIN_ONE 0.05

struct search {
	const struct auc_market *m;
	const struct auc_bound_days *past;
	auc_bound_levels_replay *replay;
	void *arg;
	struct auc_price *taught; /* by day: what the others teach */
	struct auc_bound_levels *found;
	double as_taught;     /* what the past is worth with L as it is taught */
	double *now, *by_day; /* what each day was worth at last, and with the best level */
};

static enum auc_code find_level(struct search *f, struct auc_err *err);
static enum auc_code try_level(struct search *f, double factor, bool *better, struct auc_err *err);
static enum auc_code replay(struct search *f, enum auc_level_kind kind, double factor,
			    double *worth, struct auc_err *err);
static void choose(struct search *f, unsigned others);
static enum auc_code teach(const struct auc_market *m, const struct auc_bound_days *past,
			   unsigned without, struct auc_price *price, struct auc_err *err);
static void move(const struct auc_bound_days *past, unsigned without, int sign);
static void multiply(struct auc_price *price, double factor);

enum auc_code auc_bound_levels_choose(const struct auc_market *m, const struct auc_bound_days *past,
				      unsigned others, auc_bound_levels_replay *replay_day,
				      void *arg, struct auc_bound_levels *found,
				      struct auc_err *err)
{
	struct search f = {m, past, replay_day, arg, .found = found};
	enum auc_code rc = AUC_OK;

	*found = (struct auc_bound_levels){.kind = AUC_LEVEL_TAUGHT};
	f.taught = calloc(past->ndays, sizeof(*f.taught));
	f.now = calloc(past->ndays, sizeof(*f.now));
	f.by_day = calloc(past->ndays, sizeof(*f.by_day));
	if (!f.taught || !f.now || !f.by_day)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	for (unsigned d = 0; d < past->ndays && rc == AUC_OK; d++)
		rc = teach(m, past, d, &f.taught[d], err);
	for (enum auc_level_kind k = AUC_LEVEL_NONE; k < others && rc == AUC_OK; k++)
		rc = replay(&f, k, 0, &found->worth[k], err);
	if (rc == AUC_OK)
		rc = find_level(&f, err);
	if (rc == AUC_OK)
		choose(&f, others);
	free(f.taught);
	free(f.now);
	free(f.by_day);
	return rc;
}

bool auc_bound_levels_outdone(const struct auc_bound_levels *found, unsigned ndays, double worth)
{
	return worth > (1 + (ndays == 1 ? MARGIN_ONE : MARGIN)) * found->worth[found->kind];
}

enum auc_code auc_bound_levels_teach(const struct auc_market *m, const struct auc_bound_days *past,
				     double factor, struct auc_price *price, struct auc_err *err)
{
	enum auc_code rc = teach(m, past, past->ndays, price, err);

	if (rc == AUC_OK)
		multiply(price, factor);
	return rc;
}

/* -- what is best -- */

/* As it is taught first; then up or down, as long as that is better. */
static enum auc_code find_level(struct search *f, struct auc_err *err)
{
	bool better, moved = false;
	enum auc_code rc = try_level(f, 1, &better, err);

	for (unsigned up = 0; up < 2 && !moved; up++) {
		better = true;
		for (unsigned i = 0; i < STEPS && better && rc == AUC_OK; i++) {
			rc = try_level(f, f->found->factor * (up ? STEP : 1 / STEP), &better, err);
			moved = moved || better;
		}
	}
	return rc;
}

static enum auc_code try_level(struct search *f, double factor, bool *better, struct auc_err *err)
{
	bool first = !(f->found->factor > 0);
	double worth = 0, *best = &f->found->worth[AUC_LEVEL_TAUGHT];
	enum auc_code rc = replay(f, AUC_LEVEL_TAUGHT, factor, &worth, err);

	*better = rc == AUC_OK && worth > *best && worth > f->as_taught * (1 + MARGIN);
	if (*better || first) {
		if (first)
			f->as_taught = worth;
		*best = worth;
		f->found->factor = factor;
		memcpy(f->by_day, f->now, f->past->ndays * sizeof(*f->now));
	}
	return rc;
}

/* What the past is worth; of a level less, if it falls behind the best one so far. */
static enum auc_code replay(struct search *f, enum auc_level_kind kind, double factor,
			    double *worth, struct auc_err *err)
{
	bool taught = kind == AUC_LEVEL_TAUGHT;
	enum auc_code rc = AUC_OK;
	double least = 0;

	*worth = 0;
	for (unsigned d = 0; d < f->past->ndays && *worth >= least && rc == AUC_OK; d++) {
		struct auc_price price = f->taught[d];

		if (taught)
			multiply(&price, factor);
		rc = f->replay(f->arg, kind, taught ? &price : NULL, d, &f->now[d], err);
		*worth += f->now[d];
		least += taught ? (1 - BEHIND) * f->by_day[d] : 0;
	}
	return rc;
}

static void choose(struct search *f, unsigned others)
{
	enum auc_level_kind best = AUC_LEVEL_NONE;
	struct auc_bound_levels *found = f->found;
	unsigned days = f->past->ndays;

	if (!others)
		return;
	for (enum auc_level_kind k = AUC_LEVEL_NONE; k < others; k++)
		if (found->worth[k] > found->worth[best])
			best = k;
	found->gain = (found->worth[AUC_LEVEL_TAUGHT] - found->worth[best]) / days;
	found->needed = (days == 1 ? MARGIN_ONE : -MARGIN) * found->worth[best] / days;
	if (!(found->gain > found->needed))
		found->kind = best;
}

/* -- what days teach -- */

/* The bounds that all days teach but WITHOUT, as if the others followed each other. */
static enum auc_code teach(const struct auc_market *m, const struct auc_bound_days *past,
			   unsigned without, struct auc_price *price, struct auc_err *err)
{
	bool half = past->ndays == 1 && without == 0;
	const struct auc_claim **list = calloc((size_t)past->first[past->ndays] + 2, sizeof(*list));
	unsigned n = 0;
	enum auc_code rc;

	if (!list)
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	move(past, without, 1);
	for (unsigned d = 0; d < past->ndays; d++)
		for (unsigned i = past->first[d]; i < past->first[d + 1]; i++)
			for (unsigned times = d != without         ? 1
					      : half && i % 2 == 0 ? 2
								   : 0;
			     times; times--)
				list[n++] = &past->claims[i];
	rc = auc_oasis_bounds_learn(m, list, n, price, err);
	move(past, without, -1);
	free(list);
	return rc;
}

/* Moves each day after those before it, but for WITHOUT; or back. */
static void move(const struct auc_bound_days *past, unsigned without, int sign)
{
	auc_slot at = 0;

	for (unsigned d = 0; d < past->ndays; d++) {
		for (unsigned i = past->first[d]; i < past->first[d + 1]; i++)
			past->claims[i].arrival += sign * at;
		at += d != without ? past->slots[d] : 0;
	}
}

/* L times FACTOR, and U the same. */
static void multiply(struct auc_price *price, double factor)
{
	for (unsigned k = 0; k < price->nbounds; k++)
		for (unsigned r = 0; r < AUC_PRICE_ROLES; r++) {
			double *lower = &price->bounds[k].lower[r];

			*lower = fmin(*lower + log(factor), log(AUC_PRICE_LIMIT));
			price->bounds[k].upper[r] = *lower;
		}
}
