/*
 * posted_shared.c - the better posted price. The paper's bandit learns the demand of each of K + M
 * types for itself, over hundreds of prices, from one bit a job; and it gives the first jobs
 * everything for nothing. Here what all types have in common is learned in common
 * (posted_demand.h): a job is a bundle that is worth B to the typical user, and one curve S(x) says
 * how many users accept x B. On top of that:
 *
 * - The offer is the x that maximises (x B - c) S(x), c the *bid price* of what the job takes from
 *   others: duration times lambda_k d_k + lambda_m d_m. A lambda rises while jobs of its type are
 *   expected to take more than there is, counting those that found no room too, and falls to 0
 *   where there is plenty (dual descent); it counts less where much is idle. A fixed price knows
 *   no durations: in scarcity this earns more than the best of those.
 * - An answer says as much of a cheap job as of a dear one, and costs less. So the offer is drawn
 *   from all x that lose no more than a small part of the best, the more the cheaper the job is
 *   against others, and preferably where answers say much of B. To what x earns is added what its
 *   answer is worth to later jobs of the type (it makes B surer, and a surer B earns more), and how
 *   little is known of S there. Nothing is ever free.
 *
 * Nothing depends on a budget but by the answers. What it reaches, and where it falls short (two
 * kinds of users far apart, with room for all), is in tests/bench/posted.md.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/posted/posted_demand.h"

/* Chosen on markets of seeds 201 to 224; the report has others. */
#define UNIT          0.15  /* a scale before any evidence, of the ceiling */
#define LOSE          0.002 /* the part of the best that an offer may lose, in the end; */
#define LOSE_FIRST    0.02  /* more of it at first, which goes with the root of the answers; */
#define LOSE_ANSWERS  20.0
#define LOSE_DOUBT    0.05 /* more of it by the deviation of ln B; */
#define LOSE_MAX      0.5  /* at most */
#define CHEAP         0.1  /* a job worth less than this part of the mean counts as that */
#define MEAN_JOBS     200  /* how many that mean looks back */
#define UNSURE        0.1  /* deviations of S that are hoped for */
#define LATER         0.5  /* of what an answer is worth to later jobs, by one step ahead; */
#define LATER_MAX     3.0  /* of the best, what an answer may be worth to later jobs */
#define RANDOM        0.03 /* weight of any offer against the one that says most */
#define DUAL_STEP     0.05
#define DUAL_FILL     0.95 /* of what there is: jobs do not tile it */
#define DURATION_JOBS 100  /* how many the mean duration looks back */

#define BINS AUC_DEMAND_BINS

struct shared {
	const struct auc_posted_terms *terms;
	struct auc_demand demand;
	double bundle; /* mean B */
	double level;  /* of demand, when that was worked out */
	uint64_t jobs;
	/* bid prices */
	double lambda[AUC_POSTED_KINDS][AUC_TYPES_MAX], arrivals[AUC_POSTED_KINDS][AUC_TYPES_MAX];
	auc_slot last[AUC_POSTED_KINDS][AUC_TYPES_MAX];
	double slots[AUC_POSTED_KINDS][AUC_TYPES_MAX]; /* mean duration */
};

static enum auc_code shared_create(const struct auc_posted_terms *terms, void **self,
				   struct auc_err *err);
static void shared_destroy(void *self);
static void shared_offer(void *self, struct auc_posted_offer *offer);
static void shared_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			    bool accepted);
static double bid_price(const struct shared *d, const struct auc_posted_offer *offer);
static double draw(const struct shared *d, const struct auc_posted_ask *ask, double b, double sigma,
		   double cost);
static double later(const struct shared *d, unsigned type, unsigned level, double sigma,
		    double cheap);
static void rate(const struct auc_demand *m, const struct auc_demand_curve *c, double cost,
		 double worth, double unsure, double *score, double *hope);
static double highest(const double *value);
static double pick(const struct shared *d, const unsigned *set, unsigned n, const double *info);
static double best_accept(const struct shared *d, double cost);
static void follow_shift(struct shared *d);
static void learn_lambda(struct shared *d, const struct auc_posted_offer *offer, double b,
			 const double *part);

const struct auc_posted_pricing auc_posted_shared = {
	.summary = "bundles, one demand curve, bid prices",
	.create = shared_create,
	.destroy = shared_destroy,
	.offer = shared_offer,
	.answered = shared_answered,
};

static enum auc_code shared_create(const struct auc_posted_terms *terms, void **self,
				   struct auc_err *err)
{
	struct shared *d = calloc(1, sizeof(*d));
	enum auc_code rc =
		d ? auc_demand_open(&d->demand, terms->ntypes, UNIT * terms->ceiling, err)
		  : auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");

	*self = NULL;
	if (rc != AUC_OK) {
		free(d);
		return rc;
	}
	d->terms = terms;
	*self = d;
	return AUC_OK;
}

static void shared_destroy(void *self)
{
	struct shared *d = self;

	auc_demand_clear(&d->demand);
	free(d);
}

static void shared_offer(void *self, struct auc_posted_offer *offer)
{
	struct shared *d = self;
	const struct auc_posted_ask *ask = &offer->ask;
	double part[AUC_POSTED_KINDS],
		b = auc_demand_bundle(&d->demand, ask->type, ask->count, part), x;
	unsigned kind;

	x = draw(d, ask, b, auc_demand_doubt(&d->demand, ask->type, part), bid_price(d, offer) / b);
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		offer->price[kind] = x * part[kind] / ask->count[kind];
}

static void shared_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			    bool accepted)
{
	struct shared *d = self;
	const struct auc_posted_ask *ask = &offer->ask;
	double part[AUC_POSTED_KINDS],
		b = auc_demand_bundle(&d->demand, ask->type, ask->count, part), price = 0;
	unsigned kind;

	d->jobs++;
	d->bundle += (b - d->bundle) / fmin((double)d->jobs, MEAN_JOBS);
	learn_lambda(d, offer, b, part);
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		price += offer->price[kind] * ask->count[kind];
	if (offered && price > 0) {
		auc_demand_learn(&d->demand, ask->type, ask->count, price, accepted);
		follow_shift(d);
	}
}

static double bid_price(const struct shared *d, const struct auc_posted_offer *offer)
{
	double cost = 0, capacity, busy;
	unsigned kind, type;

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		type = offer->ask.type[kind];
		capacity = d->terms->capacity[kind][type];
		busy = capacity > 0 ? 1 - offer->idle[kind] / capacity : 1;
		cost += d->lambda[kind][type] * offer->ask.count[kind] * (0.5 + 0.5 * busy);
	}
	return cost * offer->slots;
}

/* x for a job worth B, whose logarithm is known to SIGMA, and that costs others COST B. */
static double draw(const struct shared *d, const struct auc_posted_ask *ask, double b, double sigma,
		   double cost)
{
	const struct auc_demand *m = &d->demand;
	unsigned level = auc_demand_level(sigma), set[BINS + 1], n = 0, i;
	const struct auc_demand_curve *c = &m->curve[level];
	double cheap = 1 / fmax(d->jobs ? b / d->bundle : 1, CHEAP), best, lose;
	double worth = later(d, ask->type[AUC_POSTED_WORKER], level, sigma, cheap);
	double score[BINS], hope[BINS];

	rate(m, c, cost, worth, UNSURE * cheap, score, hope);
	best = fmax(0, highest(score));
	lose = LOSE + LOSE_FIRST / sqrt(1 + (double)m->answers / LOSE_ANSWERS) + LOSE_DOUBT * sigma;
	best *= 1 - fmin(lose * cheap * sqrt(cheap), LOSE_MAX);
	for (i = 0; i < BINS; i++) {
		set[n] = i;
		n += hope[i] >= best;
	}
	if (!n)
		set[n++] = BINS - 1; /* it costs others more than anybody pays */
	return pick(d, set, n, c->info);
}

/* What x of each bin earns, and what its answer is WORTH; HOPE: with UNSURE deviations of S more.
 */
AUC_VECTORIZED static void rate(const struct auc_demand *m, const struct auc_demand_curve *c,
				double cost, double worth, double unsure, double *restrict score,
				double *restrict hope)
{
	double most = LATER_MAX * m->curve[0].best, more;
	unsigned i;

	for (i = 0; i < BINS; i++) {
		more = worth * c->info[i];
		score[i] = (m->factor[i] - cost) * c->accept[i] + (more < most ? more : most);
		hope[i] = score[i] + (m->factor[i] - cost) * unsure * m->unsure[i];
	}
}

/* The highest of BINS values; in four rows, so that none waits for the one before it. */
static double highest(const double *value)
{
	double most[4] = {value[0], value[1], value[2], value[3]};
	unsigned i, k;

	for (i = 4; i < BINS; i += 4)
		for (k = 0; k < 4; k++)
			most[k] = value[i + k] > most[k] ? value[i + k] : most[k];
	return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

/*
 * What one unit of information about ln B is worth to later jobs of that type, by B of this one:
 * there will be as many as there were, the variance falls by its square times the information, and
 * what is earned rises as the variance falls.
 */
static double later(const struct shared *d, unsigned type, unsigned level, double sigma,
		    double cheap)
{
	const struct auc_demand_curve *curve = d->demand.curve;
	unsigned at = level ? level : 1;
	double lost = fmax(0, curve[0].best - curve[at].best) /
		      (auc_demand_sigma[at] * auc_demand_sigma[at]);

	return LATER * d->arrivals[AUC_POSTED_WORKER][type] * cheap * lost * sigma * sigma * sigma *
	       sigma;
}

/* Any x of the N bins of SET, rather where an answer says much. */
static double pick(const struct shared *d, const unsigned *set, unsigned n, const double *info)
{
	double most = 1e-12, sum = 0, luck = auc_posted_luck(d->terms->seed, d->jobs), weight[BINS];
	unsigned i;

	for (i = 0; i < n; i++)
		most = info[set[i]] > most ? info[set[i]] : most;
	for (i = 0; i < n; i++) {
		weight[i] = RANDOM + info[set[i]] / most;
		sum += weight[i];
	}
	luck *= sum;
	for (i = 0; i < n && luck >= weight[i]; i++)
		luck -= weight[i];
	if (i == n)
		luck = 0, i--;
	return exp(AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * (set[i] + luck / weight[i]));
}

/* S at the best x. */
static double best_accept(const struct shared *d, double cost)
{
	const struct auc_demand *m = &d->demand;
	double gain[BINS], best;
	unsigned i;

	if (!(cost > 0))
		return m->curve[0].accept[m->curve[0].at];
	for (i = 0; i < BINS; i++)
		gain[i] = (m->factor[i] - cost) * m->curve[0].accept[i];
	best = highest(gain);
	for (i = 0; i + 1 < BINS && gain[i] < best; i++)
		;
	return m->curve[0].accept[i];
}

/* After a shift of demand all that is counted in credits is so many times what it was. */
static void follow_shift(struct shared *d)
{
	double by = exp(d->demand.level - d->level);
	unsigned kind, type;

	if (d->demand.level == d->level)
		return;
	d->level = d->demand.level;
	d->bundle *= by;
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		for (type = 0; type < d->terms->ntypes[kind]; type++)
			d->lambda[kind][type] *= by;
}

/* Dual descent: what jobs of these types, such as this one of B, are expected to take against what
 * there is since the last one. */
static void learn_lambda(struct shared *d, const struct auc_posted_offer *offer, double b,
			 const double *part)
{
	double sold = best_accept(d, bid_price(d, offer) / b) * offer->slots, there, gap, unit,
	       *slots, *lambda;
	unsigned kind, type;

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		type = offer->ask.type[kind];
		slots = &d->slots[kind][type];
		lambda = &d->lambda[kind][type];
		gap = fmax(0, (double)(offer->ask.arrival - (d->arrivals[kind][type] > 0
								     ? d->last[kind][type]
								     : d->terms->first)));
		d->last[kind][type] = offer->ask.arrival;
		d->arrivals[kind][type]++;
		*slots += (offer->slots - *slots) / fmin(d->arrivals[kind][type], DURATION_JOBS);
		unit = part[kind] / offer->ask.count[kind] / fmax(1, *slots);
		there = d->terms->capacity[kind][type] * DUAL_FILL;
		if (there > 0)
			*lambda += DUAL_STEP * unit *
				   (sold * offer->ask.count[kind] / there - gap) /
				   fmax(1, (double)(offer->ask.arrival - d->terms->first + 1) /
						   d->arrivals[kind][type]);
		*lambda = fmax(*lambda, 0);
	}
}
