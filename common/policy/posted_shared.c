/*
 * posted_shared.c - the better posted price. The paper's bandit learns the demand of each of K + M
 * types for itself, over hundreds of prices, from one bit a job; and it gives the first jobs
 * everything for nothing. Here what all types have in common is learned in common:
 *
 * - A job is a *bundle*, worth B = s_k d_k + s_m d_m to the typical user: one scale for each type.
 *   Scales are learned by likelihood: a filter takes each answer as it comes, and all that is
 *   remembered is fitted anew (Fisher's scoring) whenever it has grown by a tenth, with a prior
 *   that pulls a type with little evidence toward the level that all share. The likelihood is a
 *   logistic at first, then the curve below, which knows where it is steep: with two modes a
 *   logistic hardly tells scales. A scale that sits on the wrong mode is looked for along its
 *   axis.
 * - One demand curve S(x) = P(v >= x B) for all types: the answers by ln x, isotonic, pulled
 *   toward the logistic.
 * - The offer is the x that maximises (x B - c) S(x), c the *bid price* of what the job takes from
 *   others: duration times lambda_k d_k + lambda_m d_m. A lambda rises while jobs of its type are
 *   expected to take more than there is, counting those that found no room too, and falls to 0
 *   where there is plenty (dual descent); it counts less where much is idle. A fixed price knows
 *   no durations: in scarcity this earns more than the best of those.
 * - A mild random draw around that x explores: wider at first, and as wide as ln B is in doubt,
 *   which finds the way out where the curve is flat; now and then it is drawn from farther above
 *   and below. Nothing is ever free.
 * - A likelihood test for a common factor (cumulative sums for factors up and down) finds shifts
 *   of demand, and moves all scales. Answers from before it keep what they said of the curve's
 *   shape.
 *
 * Nothing depends on a budget but by the answers. What it reaches, and where it falls short
 * (bimodal, and narrow or heavy-tailed budgets with room for all), is in tests/bench/posted.md.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/posted-private.h"

/* Chosen on markets of seeds 101 to 104; the report has others. */
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
#define AROUND         0.01 /* half the width of the draw, in the end */
#define AROUND_FIRST   0.3  /* more of it at first; goes with the root of the answers */
#define AROUND_ANSWERS 20.0
#define DOUBT          1.2 /* more of it by the deviation of ln B */
#define DOUBT_MAX      0.5
#define FAR            0.015 /* share of draws from far, in the end */
#define FAR_FIRST      0.3
#define FAR_ANSWERS    100.0
#define FAR_DOWN       0.6
#define FAR_UP         1.0
#define DUAL_STEP      0.05
#define DUAL_FILL      0.95  /* of what there is: jobs do not tile it */
#define CURVE_ANSWERS  300.0 /* before it is used to fit scales */
#define FIT_STEP       1.0
#define REACH          12 /* steps to either side, and how wide they are */
#define REACH_STEP     0.1
#define SURE           3.0 /* logarithm of how much likelier it must be */
#define SOFT           3   /* bins to either side of the softened curve */
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
	unsigned dim;                   /* types of both kinds */
	double mean[2 * AUC_TYPES_MAX]; /* ln s */
	double *cov;                    /* dim x dim */
	double spread, spread_var;      /* of the logistic: its logarithm */
	double level;                   /* what shifts have added so far */
	/* the curve */
	struct answer *memory;
	uint64_t answers; /* of all time; the last MEMORY are remembered */
	uint64_t binned;  /* answers when all were binned */
	uint64_t smoothed, searches;
	double taken[BINS], offered[BINS], curve[BINS];
	double soft[BINS], steep[BINS]; /* the curve without its corners, and how fast it falls */
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
static double draw_width(const struct shared *d, const struct auc_posted_ask *ask,
			 const double *part);
static double doubt(const struct shared *d, const struct auc_posted_ask *ask, const double *part);
static double explore(const struct shared *d, unsigned bin, double width);
static void learn_scales(struct shared *d, const struct answer *a);
static double likely(const struct shared *d, double z, double *steep);
static void fit_scales(struct shared *d);
static void search_scales(struct shared *d);
static double search_scale(const struct shared *d, unsigned kind, unsigned type, unsigned at);
static void invert(double *a, unsigned n);
static void learn_spread(struct shared *d, double z, bool accepted);
static void learn_curve(struct shared *d, const struct answer *a);
static void learn_lambda(struct shared *d, const struct auc_posted_offer *offer);
static bool watch(struct shared *d, struct answer *a);
static void bin_all(struct shared *d);
static void smooth(struct shared *d);
static void soften(struct shared *d);
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
		d->dim = terms->ntypes[AUC_POSTED_WORKER] + terms->ntypes[AUC_POSTED_PS];
		d->cov = calloc((size_t)d->dim * d->dim, sizeof(*d->cov));
		d->memory = calloc(MEMORY, sizeof(*d->memory));
	}
	if (!d || !d->cov || !d->memory) {
		shared_destroy(d);
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");
	}
	d->terms = terms;
	for (i = 0; i < d->dim; i++) {
		d->mean[i] = log(UNIT * terms->ceiling);
		for (k = 0; k < d->dim; k++)
			d->cov[i * d->dim + k] =
				LEVEL_SD * LEVEL_SD + (i == k ? TYPE_SD * TYPE_SD : 0);
	}
	d->spread = log(SPREAD);
	d->spread_var = SPREAD_SD * SPREAD_SD;
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
	double part[AUC_POSTED_KINDS], b = bundle(d, offer->ask.type, offer->ask.count, part), x,
				       width;
	unsigned kind;

	width = draw_width(d, &offer->ask, part);
	x = explore(d, best_bin(d, b, bid_price(d, offer)), width);
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

/* Half the width of the draw around the best x: of the offers so far, and of how well B is known.
 */
static double draw_width(const struct shared *d, const struct auc_posted_ask *ask,
			 const double *part)
{
	return AROUND + AROUND_FIRST / sqrt(1 + (double)d->answers / AROUND_ANSWERS) +
	       fmin(DOUBT_MAX, DOUBT * doubt(d, ask, part));
}

/* The standard deviation of ln B, as far as that is known. */
static double doubt(const struct shared *d, const struct auc_posted_ask *ask, const double *part)
{
	unsigned k = ask->type[AUC_POSTED_WORKER],
		 m = d->terms->ntypes[AUC_POSTED_WORKER] + ask->type[AUC_POSTED_PS];
	double s = part[AUC_POSTED_WORKER] / (part[AUC_POSTED_WORKER] + part[AUC_POSTED_PS]);

	return sqrt(fmax(0, s * s * d->cov[k * d->dim + k] +
				    2 * s * (1 - s) * d->cov[k * d->dim + m] +
				    (1 - s) * (1 - s) * d->cov[m * d->dim + m]));
}

/* x, drawn around BIN or from farther off. */
static double explore(const struct shared *d, unsigned bin, double width)
{
	double n = (double)d->answers, z = LOWEST + BIN * (bin + 0.5);
	double luck = auc_posted_luck(d->terms->seed, 2 * d->jobs);

	if (auc_posted_luck(d->terms->seed, 2 * d->jobs + 1) <
	    FAR + FAR_FIRST / (1 + n / FAR_ANSWERS))
		return exp(z - FAR_DOWN + (FAR_DOWN + FAR_UP) * luck);
	return exp(z + (2 * luck - 1) * width);
}

/* How likely a yes is at Z = ln B - ln price, and how fast that rises with Z: by the curve, once
 * that is known. */
static double likely(const struct shared *d, double z, double *steep)
{
	double spread, p, bin = floor((-z - LOWEST) / BIN);
	int i = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (int)bin;

	if (d->answers >= CURVE_ANSWERS) {
		*steep = d->steep[i];
		return fmin(fmax(d->soft[i], CLIP), 1 - CLIP);
	}
	spread = exp(d->spread);
	p = 1 / (1 + exp(-z / spread));
	*steep = p * (1 - p) / spread;
	return fmin(fmax(p, 1e-6), 1 - 1e-6);
}

/* One step of the filter. */
static void learn_scales(struct shared *d, const struct answer *a)
{
	unsigned n = d->dim, at[AUC_POSTED_KINDS], i, k;
	double part[AUC_POSTED_KINDS], b = bundle(d, a->type, a->count, part),
				       z = log(b) - a->price;
	double column[2 * AUC_TYPES_MAX], steep, p, all, gain, step,
		share[AUC_POSTED_KINDS] = {part[0] / b, part[1] / b};

	learn_spread(d, z, a->accepted);
	p = likely(d, z, &steep);
	at[0] = a->type[AUC_POSTED_WORKER];
	at[1] = d->terms->ntypes[AUC_POSTED_WORKER] + a->type[AUC_POSTED_PS];
	for (i = 0; i < n; i++)
		column[i] = d->cov[at[0] * n + i] * share[0] + d->cov[at[1] * n + i] * share[1];
	all = share[0] * column[at[0]] + share[1] * column[at[1]];
	gain = 1 / (p * (1 - p) + steep * steep * all);
	step = gain * steep * ((a->accepted ? 1 : 0) - p);
	for (i = 0; i < n; i++) {
		d->mean[i] += fmin(fmax(step * column[i], -STEP_MAX), STEP_MAX);
		for (k = 0; k < n; k++)
			d->cov[i * n + k] -= steep * steep * gain * column[i] * column[k];
	}
}

/*
 * The same from all that is remembered: a step of Fisher's scoring toward the most likely scales,
 * given the curve and the prior. The filter goes on from there.
 */
static void fit_scales(struct shared *d)
{
	unsigned n = d->dim, at[AUC_POSTED_KINDS], i, k;
	uint64_t kept = d->answers < MEMORY ? d->answers : MEMORY, r;
	double part[AUC_POSTED_KINDS], share[AUC_POSTED_KINDS], slope[2 * AUC_TYPES_MAX], b, p,
		steep, push, step, sum = 0;
	double own = 1 / (TYPE_SD * TYPE_SD),
	       common = own * LEVEL_SD * LEVEL_SD / (TYPE_SD * TYPE_SD + n * LEVEL_SD * LEVEL_SD);
	double start = log(UNIT * d->terms->ceiling) + d->level;
	const struct answer *a;

	for (i = 0; i < n; i++)
		sum += d->mean[i] - start;
	for (i = 0; i < n; i++) {
		slope[i] = common * sum - own * (d->mean[i] - start);
		for (k = 0; k < n; k++)
			d->cov[i * n + k] = (i == k ? own : 0) - common;
	}
	for (r = 0; r < kept; r++) {
		a = &d->memory[r];
		b = bundle(d, a->type, a->count, part);
		p = likely(d, log(b) - a->price - d->level + a->level, &steep);
		push = steep / (p * (1 - p));
		at[0] = a->type[AUC_POSTED_WORKER];
		at[1] = d->terms->ntypes[AUC_POSTED_WORKER] + a->type[AUC_POSTED_PS];
		for (i = 0; i < AUC_POSTED_KINDS; i++) {
			share[i] = part[i] / b;
			slope[at[i]] += push * ((a->accepted ? 1 : 0) - p) * share[i];
		}
		for (i = 0; i < AUC_POSTED_KINDS; i++)
			for (k = 0; k < AUC_POSTED_KINDS; k++)
				d->cov[at[i] * n + at[k]] += push * steep * share[i] * share[k];
	}
	invert(d->cov, n);
	for (i = 0; i < n; i++) {
		for (k = 0, step = 0; k < n; k++)
			step += d->cov[i * n + k] * slope[k];
		d->mean[i] += fmin(fmax(FIT_STEP * step, -STEP_MAX), STEP_MAX);
	}
}

/*
 * A scale may sit on the wrong mode: looks along that of one type, far to either side, for what the
 * answers of its jobs make more likely. One of either kind at a time, in turn.
 */
static void search_scales(struct shared *d)
{
	unsigned kind, type, first = 0;

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		type = (unsigned)(d->searches % d->terms->ntypes[kind]);
		d->mean[first + type] += search_scale(d, kind, type, first + type);
		first += d->terms->ntypes[kind];
	}
	d->searches++;
}

/* By how much the logarithm of that scale is to be moved. */
static double search_scale(const struct shared *d, unsigned kind, unsigned type, unsigned at)
{
	uint64_t kept = d->answers < MEMORY ? d->answers : MEMORY, r;
	double gain[2 * REACH + 1], factor[2 * REACH + 1], part[AUC_POSTED_KINDS], away, z;
	const struct answer *a;
	int i, bin, best = REACH;

	away = d->mean[at] - log(UNIT * d->terms->ceiling) - d->level;
	for (i = 0; i <= 2 * REACH; i++) {
		z = (i - REACH) * REACH_STEP;
		factor[i] = exp(z);
		gain[i] = -0.5 * ((away + z) * (away + z) - away * away) / (LEVEL_SD * LEVEL_SD);
	}
	for (r = 0; r < kept; r++) {
		a = &d->memory[r];
		if (a->type[kind] != type)
			continue;
		(void)bundle(d, a->type, a->count, part);
		for (i = 0; i <= 2 * REACH; i++) {
			z = a->price - log(part[!kind] + part[kind] * factor[i]) + d->level -
			    a->level;
			bin = (int)fmin(fmax((z - LOWEST) / BIN, 0), BINS - 1);
			gain[i] += a->accepted ? d->log_yes[bin] : d->log_no[bin];
		}
	}
	for (i = 0; i <= 2 * REACH; i++)
		best = gain[i] > gain[best] + 1e-9 ? i : best;
	return gain[best] > gain[REACH] + SURE ? (best - REACH) * REACH_STEP : 0;
}

/* Inverts A, N x N, symmetric and positive definite, in place (Gauss and Jordan: no pivoting is
 * needed). */
static void invert(double *a, unsigned n)
{
	unsigned i, k, c;
	double pivot, factor;

	for (c = 0; c < n; c++) {
		pivot = 1 / a[c * n + c];
		a[c * n + c] = 1;
		for (k = 0; k < n; k++)
			a[c * n + k] *= pivot;
		for (i = 0; i < n; i++) {
			if (i == c)
				continue;
			factor = a[i * n + c];
			a[i * n + c] = 0;
			for (k = 0; k < n; k++)
				a[i * n + k] -= factor * a[c * n + k];
		}
	}
}

/* The spread of the logistic that fits best: Z is ln B less the logarithm of what was asked. */
static void learn_spread(struct shared *d, double z, bool accepted)
{
	double logit = z / exp(d->spread), p = 1 / (1 + exp(-logit)),
	       weight = p * (1 - p) * logit * logit;
	double gain = d->spread_var / (1 + weight * d->spread_var);

	d->spread -= fmin(fmax(gain * logit * ((accepted ? 1 : 0) - p), -STEP_MAX), STEP_MAX);
	d->spread_var = gain;
	d->spread = fmin(fmax(d->spread, log(SPREAD_MIN)), log(SPREAD_MAX));
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
	if (d->answers - d->binned > kept / 10) {
		search_scales(d);
		fit_scales(d);
		bin_all(d);
	} else if (d->answers - d->smoothed > kept / 50) {
		smooth(d);
	}
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
	double weight[BINS], value[BINS], spread = exp(d->spread), p;
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
	soften(d);
	d->smoothed = d->answers;
}

/* A triangle's mean of the curve, and its slope. */
static void soften(struct shared *d)
{
	int i, k, at;
	double sum, lower, higher;

	for (i = 0; i < BINS; i++) {
		for (k = -SOFT, sum = 0; k <= SOFT; k++) {
			at = i + k < 0 ? 0 : i + k >= BINS ? BINS - 1 : i + k;
			sum += d->curve[at] * (SOFT + 1 - abs(k));
		}
		d->soft[i] = sum / ((SOFT + 1) * (SOFT + 1));
	}
	for (i = 0; i < BINS; i++) {
		lower = d->soft[i > 0 ? i - 1 : 0];
		higher = d->soft[i + 1 < BINS ? i + 1 : BINS - 1];
		d->steep[i] = fmax(0, lower - higher) / (2 * BIN);
	}
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
	for (k = 0; k < d->dim; k++) {
		d->mean[k] += shifts[best] * BIN;
		for (i = 0; i < (int)d->dim; i++)
			d->cov[k * d->dim + (unsigned)i] += SHIFT_SD * SHIFT_SD;
	}
	a->level = (float)d->level;
	for (from = d->since[best]; from < d->answers; from++)
		d->memory[from % MEMORY].level = (float)d->level;
	memset(d->sum, 0, sizeof(d->sum));
	bin_all(d);
	return true;
}
