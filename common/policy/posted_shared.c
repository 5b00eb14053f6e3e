/*
 * posted_shared.c - the better posted price. The paper's bandit learns the demand of each of K + M
 * types for itself, over hundreds of prices, from one bit a job; and it gives the first jobs
 * everything for nothing. Here what all types have in common is learned in common:
 *
 * - A job is a *bundle*, worth B = s_k d_k + s_m d_m to the typical user: one scale for each type.
 * Scales are learned by likelihood (ln v = ln B + a logistic error), in one pass: an extended
 * Kalman filter over the logarithms of the scales and of the error's spread. Its prior pulls a type
 * with little evidence toward the level that all share.
 * - One demand curve S(x) = P(v >= x B) for all types: the answers by ln x, isotonic, pulled toward
 * the logistic. It has what a logistic has not: two modes, an edge, a heavy tail.
 * - The offer is the x that maximises (x B - c) S(x), c the *bid price* of what the job takes from
 * others: duration times lambda_k d_k + lambda_m d_m. A lambda rises while jobs of its type are
 * expected to take more than there is, counting those that found no room too, and falls to 0 where
 * there is plenty (dual descent); it counts less where much is idle.
 * - A mild random draw around that x explores, wider at first; now and then it is drawn from
 * farther above and below, so that a second mode is found. Nothing is ever free.
 * - A likelihood test for a common factor (cumulative sums for factors up and down) finds shifts of
 * demand, and moves all scales. Answers from before it keep what they said of the curve's shape.
 *
 * Nothing depends on a budget but by the answers.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/posted-private.h"

/* Chosen on markets of seeds 101 to 110; the report has others. */
#define BINS           120
#define BIN            0.04 /* of ln x */
#define LOWEST         (-2.4)
#define MEMORY         8192 /* answers */
#define UNIT           0.15 /* a scale before any evidence, of the ceiling */
#define LEVEL_SD       1.0  /* of what all scales share, before any evidence */
#define TYPE_SD        0.7  /* of one type against the others */
#define SPREAD         0.4  /* of the logistic, and what it may be */
#define SPREAD_SD      0.5
#define SPREAD_MIN     0.05
#define SPREAD_MAX     1.5
#define STEP_MAX       0.5  /* of a logarithm, by one answer */
#define PULL           2.0  /* answers' worth of the logistic in a bin */
#define AROUND         0.03 /* half the width of the draw, in the end */
#define AROUND_FIRST   0.4  /* more of it at first; goes with the root of the answers */
#define AROUND_ANSWERS 20.0
#define FAR            0.02 /* share of draws from far, in the end */
#define FAR_FIRST      0.3
#define FAR_ANSWERS    100.0
#define FAR_DOWN       0.6
#define FAR_UP         1.2
#define DUAL_STEP      0.05
#define DUAL_FILL      0.95 /* of what there is: jobs do not tile it */
#define SHIFTS         10
#define ALARM          12.0 /* of a cumulative sum, ln */
#define SHIFT_SD       0.3
#define CLIP           0.02 /* no answer is less likely */

struct answer {
	unsigned type[AUC_POSTED_KINDS], count[AUC_POSTED_KINDS];
	float price, level; /* logarithms */
	bool accepted;
};

struct shared {
	const struct auc_posted_terms *terms;
	unsigned dim; /* types of both kinds, and the spread */
	double mean[2 * AUC_TYPES_MAX + 1];
	double *cov;  /* dim x dim */
	double level; /* what shifts have added so far */
	/* the curve */
	struct answer *memory;
	uint64_t answers; /* of all time; the last MEMORY are remembered */
	uint64_t binned;  /* answers when all were binned */
	uint64_t smoothed;
	double taken[BINS], offered[BINS], curve[BINS];
	double log_yes[BINS], log_no[BINS], factor[BINS];
	double sum[SHIFTS];     /* cumulative, of a shift against none */
	uint64_t since[SHIFTS]; /* answers when it was 0 */
	/* bid prices */
	double lambda[AUC_POSTED_KINDS][AUC_TYPES_MAX], arrivals[AUC_POSTED_KINDS][AUC_TYPES_MAX];
	auc_slot last[AUC_POSTED_KINDS][AUC_TYPES_MAX];
	double slots[AUC_POSTED_KINDS][AUC_TYPES_MAX]; /* mean duration */
	uint64_t jobs;
};

static const int shifts[SHIFTS] = {-40, -28, -17, -10, -5, 5, 10, 17, 28, 40}; /* bins */

static enum auc_code shared_create(const struct auc_posted_terms *terms, void **self,
				   struct auc_err *err);
static void shared_destroy(void *self);
static void shared_offer(void *self, struct auc_posted_offer *offer);
static void shared_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			    bool accepted);
static double bundle(const struct shared *d, const unsigned *type, const unsigned *count,
		     double *part);
static double bid_price(const struct shared *d, const struct auc_posted_offer *offer);
static unsigned best_bin(const struct shared *d, double b, double cost);
static double explore(const struct shared *d, unsigned bin);
static void learn_scales(struct shared *d, const struct answer *a);
static void learn_curve(struct shared *d, const struct answer *a);
static void learn_lambda(struct shared *d, const struct auc_posted_offer *offer);
static bool watch(struct shared *d, struct answer *a);
static void bin_all(struct shared *d);
static void smooth(struct shared *d);
static int bin_of(const struct shared *d, const struct answer *a);

const struct auc_posted_pricing auc_posted_shared = {
	.word = "shared",
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
	unsigned i, k;

	*self = NULL;
	if (d) {
		d->dim = terms->ntypes[AUC_POSTED_WORKER] + terms->ntypes[AUC_POSTED_PS] + 1;
		d->cov = calloc((size_t)d->dim * d->dim, sizeof(*d->cov));
		d->memory = calloc(MEMORY, sizeof(*d->memory));
	}
	if (!d || !d->cov || !d->memory) {
		shared_destroy(d);
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");
	}
	d->terms = terms;
	for (i = 0; i + 1 < d->dim; i++) {
		d->mean[i] = log(UNIT * terms->ceiling);
		for (k = 0; k + 1 < d->dim; k++)
			d->cov[i * d->dim + k] =
				LEVEL_SD * LEVEL_SD + (i == k ? TYPE_SD * TYPE_SD : 0);
	}
	d->mean[d->dim - 1] = log(SPREAD);
	d->cov[d->dim * d->dim - 1] = SPREAD_SD * SPREAD_SD;
	for (i = 0; i < BINS; i++)
		d->factor[i] = exp(LOWEST + BIN * (i + 0.5));
	smooth(d);
	*self = d;
	return AUC_OK;
}

static void shared_destroy(void *self)
{
	struct shared *d = self;

	if (!d)
		return;
	free(d->cov);
	free(d->memory);
	free(d);
}

static void shared_offer(void *self, struct auc_posted_offer *offer)
{
	const struct shared *d = self;
	double part[AUC_POSTED_KINDS], b = bundle(d, offer->ask.type, offer->ask.count, part), x;
	unsigned kind;

	x = explore(d, best_bin(d, b, bid_price(d, offer)));
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		offer->price[kind] = x * part[kind] / offer->ask.count[kind];
}

static void shared_answered(void *self, const struct auc_posted_offer *offer, bool offered,
			    bool accepted)
{
	struct shared *d = self;
	double price = 0;
	struct answer a;
	unsigned kind;

	d->jobs++;
	learn_lambda(d, offer);
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		a.type[kind] = offer->ask.type[kind];
		a.count[kind] = offer->ask.count[kind];
		price += offer->price[kind] * offer->ask.count[kind];
	}
	if (!offered || !(price > 0))
		return;
	a.price = (float)log(price);
	a.level = (float)d->level;
	a.accepted = accepted;
	if (!watch(d, &a))
		learn_scales(d, &a);
	learn_curve(d, &a);
}

/* B, and what of it are workers and PSs. */
static double bundle(const struct shared *d, const unsigned *type, const unsigned *count,
		     double *part)
{
	part[AUC_POSTED_WORKER] = exp(d->mean[type[AUC_POSTED_WORKER]]) * count[AUC_POSTED_WORKER];
	part[AUC_POSTED_PS] =
		exp(d->mean[d->terms->ntypes[AUC_POSTED_WORKER] + type[AUC_POSTED_PS]]) *
		count[AUC_POSTED_PS];
	return part[AUC_POSTED_WORKER] + part[AUC_POSTED_PS];
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

static unsigned best_bin(const struct shared *d, double b, double cost)
{
	double best = -INFINITY, gain;
	unsigned i, at = BINS - 1;

	cost /= b;
	for (i = 0; i < BINS; i++) {
		gain = (d->factor[i] - cost) * d->curve[i];
		if (gain > best) {
			best = gain;
			at = i;
		}
	}
	return at;
}

/* x, drawn around BIN or from farther off. */
static double explore(const struct shared *d, unsigned bin)
{
	double n = (double)d->answers, z = LOWEST + BIN * (bin + 0.5);
	double luck = auc_posted_luck(d->terms->seed, 2 * d->jobs);

	if (auc_posted_luck(d->terms->seed, 2 * d->jobs + 1) <
	    FAR + FAR_FIRST / (1 + n / FAR_ANSWERS))
		return exp(z - FAR_DOWN + (FAR_DOWN + FAR_UP) * luck);
	return exp(z + (2 * luck - 1) * (AROUND + AROUND_FIRST / sqrt(1 + n / AROUND_ANSWERS)));
}

/* One step of the filter: the logit of yes is (ln B - ln price) / spread. */
static void learn_scales(struct shared *d, const struct answer *a)
{
	unsigned n = d->dim, at[3], i, k;
	double part[AUC_POSTED_KINDS], b = bundle(d, a->type, a->count, part),
				       spread = exp(d->mean[n - 1]);
	double logit = (log(b) - a->price) / spread, p = 1 / (1 + exp(-logit)),
	       weight = p * (1 - p), all = 0, gain, step;
	double slope[3] = {part[0] / b / spread, part[1] / b / spread, -logit},
	       column[2 * AUC_TYPES_MAX + 1];

	at[0] = a->type[AUC_POSTED_WORKER];
	at[1] = d->terms->ntypes[AUC_POSTED_WORKER] + a->type[AUC_POSTED_PS];
	at[2] = n - 1;
	for (i = 0; i < n; i++)
		column[i] = d->cov[at[0] * n + i] * slope[0] + d->cov[at[1] * n + i] * slope[1] +
			    d->cov[at[2] * n + i] * slope[2];
	for (k = 0; k < 3; k++)
		all += slope[k] * column[at[k]];
	gain = 1 / (1 + weight * all);
	for (i = 0; i < n; i++) {
		step = gain * column[i] * ((a->accepted ? 1 : 0) - p);
		d->mean[i] += fmin(fmax(step, -STEP_MAX), STEP_MAX);
		for (k = 0; k < n; k++)
			d->cov[i * n + k] -= weight * gain * column[i] * column[k];
	}
	d->mean[n - 1] = fmin(fmax(d->mean[n - 1], log(SPREAD_MIN)), log(SPREAD_MAX));
}

/* Remembers A. Scales move: all that is remembered is binned anew whenever it has grown by a tenth.
 */
static void learn_curve(struct shared *d, const struct answer *a)
{
	uint64_t kept = d->answers < MEMORY ? d->answers : MEMORY;
	int bin = bin_of(d, a);

	d->memory[d->answers++ % MEMORY] = *a;
	d->offered[bin]++;
	d->taken[bin] += a->accepted;
	if (d->answers - d->binned > kept / 10)
		bin_all(d);
	else if (d->answers - d->smoothed > kept / 50)
		smooth(d);
}

static int bin_of(const struct shared *d, const struct answer *a)
{
	double part[AUC_POSTED_KINDS],
		z = a->price - log(bundle(d, a->type, a->count, part)) + d->level - a->level;
	double bin = floor((z - LOWEST) / BIN);

	return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (int)bin;
}

static void bin_all(struct shared *d)
{
	uint64_t n = d->answers < MEMORY ? d->answers : MEMORY, i;
	int bin;

	memset(d->taken, 0, sizeof(d->taken));
	memset(d->offered, 0, sizeof(d->offered));
	for (i = 0; i < n; i++) {
		bin = bin_of(d, &d->memory[i]);
		d->offered[bin]++;
		d->taken[bin] += d->memory[i].accepted;
	}
	d->binned = d->answers;
	smooth(d);
}

/* The curve: pools neighbours that rise (isotonic regression), with PULL answers as the logistic
 * has them in every bin. */
static void smooth(struct shared *d)
{
	double weight[BINS], value[BINS], spread = exp(d->mean[d->dim - 1]), p;
	unsigned size[BINS], n = 0, i, k;

	for (i = 0; i < BINS; i++) {
		p = 1 / (1 + exp((LOWEST + BIN * (i + 0.5)) / spread));
		weight[n] = d->offered[i] + PULL;
		value[n] = (d->taken[i] + PULL * p) / weight[n];
		size[n++] = 1;
		while (n > 1 && value[n - 1] > value[n - 2]) {
			value[n - 2] =
				(value[n - 2] * weight[n - 2] + value[n - 1] * weight[n - 1]) /
				(weight[n - 2] + weight[n - 1]);
			weight[n - 2] += weight[n - 1];
			size[n - 2] += size[n - 1];
			n--;
		}
	}
	for (i = 0, k = 0; i < n; i++)
		for (; size[i]; size[i]--) {
			d->curve[k] = value[i];
			p = fmin(fmax(value[i], CLIP), 1 - CLIP);
			d->log_yes[k] = log(p);
			d->log_no[k++] = log(1 - p);
		}
	d->smoothed = d->answers;
}

/* Dual descent: what jobs of these types are expected to take against what there is since the last
 * one. */
static void learn_lambda(struct shared *d, const struct auc_posted_offer *offer)
{
	double part[AUC_POSTED_KINDS], b = bundle(d, offer->ask.type, offer->ask.count, part), sold,
				       there, gap, unit, *slots, *lambda;
	unsigned kind, type;

	sold = d->curve[best_bin(d, b, bid_price(d, offer))] * offer->slots;
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		type = offer->ask.type[kind];
		slots = &d->slots[kind][type];
		lambda = &d->lambda[kind][type];
		gap = (double)(offer->ask.arrival - (d->arrivals[kind][type] > 0
							     ? d->last[kind][type]
							     : d->terms->first));
		d->last[kind][type] = offer->ask.arrival;
		d->arrivals[kind][type]++;
		*slots += (offer->slots - *slots) / fmin(d->arrivals[kind][type], 100);
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

/* True if demand has shifted: all scales are moved; A and the answers that told so are of the new
 * demand. */
static bool watch(struct shared *d, struct answer *a)
{
	const double *table = a->accepted ? d->log_yes : d->log_no;
	int bin = bin_of(d, a), moved, best = -1, i;
	uint64_t from;
	unsigned k;

	for (i = 0; i < SHIFTS; i++) {
		moved = bin - shifts[i];
		moved = moved < 0 ? 0 : moved >= BINS ? BINS - 1 : moved;
		if (!(d->sum[i] > 0))
			d->since[i] = d->answers;
		d->sum[i] = fmax(0, d->sum[i] + table[moved] - table[bin]);
		if (d->sum[i] > ALARM && (best < 0 || d->sum[i] > d->sum[best]))
			best = i;
	}
	if (best < 0)
		return false;
	d->level += shifts[best] * BIN;
	for (k = 0; k + 1 < d->dim; k++) {
		d->mean[k] += shifts[best] * BIN;
		for (i = 0; i + 1 < (int)d->dim; i++)
			d->cov[k * d->dim + (unsigned)i] += SHIFT_SD * SHIFT_SD;
	}
	a->level = (float)d->level;
	for (from = d->since[best]; from < d->answers; from++)
		d->memory[from % MEMORY].level = (float)d->level;
	memset(d->sum, 0, sizeof(d->sum));
	bin_all(d);
	return true;
}
