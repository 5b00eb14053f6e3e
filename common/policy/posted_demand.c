/* posted_demand.c - see posted_demand.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "policy/posted_demand.h"

/* Chosen on markets of seeds 201 to 204; the report has others. */
#define BINS          AUC_DEMAND_BINS
#define LEVELS        AUC_DEMAND_LEVELS
#define MEMORY        8192 /* answers */
#define LEVEL_SD      1.0  /* of what all scales share, before any evidence */
#define TYPE_SD       1.0  /* of one type against the others */
#define SPREAD        0.4  /* of the logistic, and what it may be */
#define SPREAD_SD     0.5
#define SPREAD_MIN    0.05
#define SPREAD_MAX    1.5
#define STEP_MAX      0.5  /* of a logarithm, by one answer or fit */
#define PULL          10.0 /* answers' worth of the logistic */
#define SMOOTHING     0.15 /* what a bin gives to either neighbour, in each round */
#define ROUNDS        3    /* of expectation and maximisation, at a time; */
#define ROUNDS_FITTED 5    /* when scales were fitted; */
#define ROUNDS_FIRST  15   /* the same, until there are as many answers as this: */
#define ROUNDS_UNTIL  3000
#define BLUR          0.25 /* of a bundle's doubt, in its answers: those of a type share it */
#define HALF_MAX      16   /* bins, of half a box that blurs */
#define NEAR          4    /* bins to either side that count as near */
#define CURVE_ANSWERS 1000 /* before the curve is used to fit scales */
#define EARLY         1500 /* answers; until then scales are fitted */
#define EARLY_FITS    3    /* so often at a time */
#define GROWN         5    /* all is fitted anew when answers have grown by this part, */
#define GROWN_CURVE   10   /* and the curve when by this */
#define CLIP          0.02 /* no answer is less likely */
#define WATCHED       300  /* answers before shifts are looked for */
#define ALARM         15.0 /* of a cumulative sum, ln */
#define FARTHEST      50   /* shifts looked at, to either side, and how many bins each is */
#define SHIFT_BINS    2
#define SHIFT_COST    0.02 /* ln, of each of these */
#define SETTLED       400  /* answers until a shift is done with */

const double auc_demand_sigma[LEVELS] = {0, 0.04, 0.08, 0.16, 0.32};
static const int shifts[AUC_DEMAND_SHIFTS] = {-80, -56, -34, -20, -10,
					      10,  20,  34,  56,  80}; /* bins */

static void set_mean(struct auc_demand *d, unsigned i, double mean);
static double scale_of(struct auc_demand *d, unsigned i);
static double clamp(double x, double low, double high);
static double logistic(const struct auc_demand *d, double z);
static double likely(const struct auc_demand *d, double z, double *steep);
static void learn_scales(struct auc_demand *d, const struct auc_demand_answer *a);
static void subtract(double *a, const double *column, unsigned n, double factor);
static void learn_spread(struct auc_demand *d, double z, bool accepted);
static void fit_scales(struct auc_demand *d);
static void add_answers(struct auc_demand *d, double *slope);
static void invert(double *a, unsigned n);
static unsigned bin_of(struct auc_demand *d, const struct auc_demand_answer *a, unsigned *level);
static unsigned bin_at(double z);
static unsigned moved_bin(unsigned bin, int by);
static void learn_curve(struct auc_demand *d, const struct auc_demand_answer *a);
static void bin_all(struct auc_demand *d);
static void make_curves(struct auc_demand *d, unsigned rounds);
static void add_users(const struct auc_demand *d, const double *accept, unsigned level,
		      double *users);
static void survive(const double *part, double *accept);
static void make_curve(const struct auc_demand *d, struct auc_demand_curve *c, double sigma);
static void find_unsure(struct auc_demand *d);
static void blur(const double *from, double *to, double sigma);
static bool watch(struct auc_demand *d, const struct auc_demand_answer *a);
static bool move_level(struct auc_demand *d);

enum auc_code auc_demand_open(struct auc_demand *d, const unsigned types[AUC_POSTED_KINDS],
			      double unit, struct auc_err *err)
{
	unsigned i, k;

	memset(d, 0, sizeof(*d));
	d->nworker = types[AUC_POSTED_WORKER];
	d->n = d->nworker + types[AUC_POSTED_PS];
	d->start = log(unit);
	d->cov = calloc((size_t)d->n * d->n + 1, sizeof(*d->cov));
	d->memory = calloc(MEMORY, sizeof(*d->memory));
	if (!d->cov || !d->memory) {
		auc_demand_clear(d);
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");
	}
	for (i = 0; i < d->n; i++) {
		set_mean(d, i, d->start);
		for (k = 0; k < d->n; k++)
			d->cov[i * d->n + k] =
				LEVEL_SD * LEVEL_SD + (i == k ? TYPE_SD * TYPE_SD : 0);
	}
	d->spread = log(SPREAD);
	d->spread_var = SPREAD_SD * SPREAD_SD;
	d->settle = UINT64_MAX;
	for (i = 0; i < BINS; i++) {
		d->factor[i] = exp(AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * (i + 0.5));
		d->part[i] =
			logistic(d, AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * i) -
			(i + 1 < BINS ? logistic(d, AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * (i + 1))
				      : 0);
	}
	make_curves(d, ROUNDS);
	return AUC_OK;
}

void auc_demand_clear(struct auc_demand *d)
{
	free(d->cov);
	free(d->memory);
	d->cov = NULL;
	d->memory = NULL;
}

double auc_demand_bundle(struct auc_demand *d, const unsigned *type, const unsigned *count,
			 double part[AUC_POSTED_KINDS])
{
	part[AUC_POSTED_WORKER] = scale_of(d, type[AUC_POSTED_WORKER]) * count[AUC_POSTED_WORKER];
	part[AUC_POSTED_PS] = scale_of(d, d->nworker + type[AUC_POSTED_PS]) * count[AUC_POSTED_PS];
	return part[AUC_POSTED_WORKER] + part[AUC_POSTED_PS];
}

double auc_demand_doubt(const struct auc_demand *d, const unsigned *type, const double *part)
{
	unsigned k = type[AUC_POSTED_WORKER], m = d->nworker + type[AUC_POSTED_PS];
	double s = part[AUC_POSTED_WORKER] / (part[AUC_POSTED_WORKER] + part[AUC_POSTED_PS]);

	return sqrt(fmax(0, s * s * d->cov[k * d->n + k] + 2 * s * (1 - s) * d->cov[k * d->n + m] +
				    (1 - s) * (1 - s) * d->cov[m * d->n + m]));
}

unsigned auc_demand_level(double sigma)
{
	unsigned level = 0;

	while (level + 1 < LEVELS &&
	       sigma > (auc_demand_sigma[level] + auc_demand_sigma[level + 1]) / 2)
		level++;
	return level;
}

void auc_demand_learn(struct auc_demand *d, const unsigned *type, const unsigned *count,
		      double price, bool accepted)
{
	struct auc_demand_answer a = {.type = {type[0], type[1]},
				      .count = {count[0], count[1]},
				      .price = (float)log(price),
				      .accepted = accepted};

	a.level = (float)d->level;
	if (watch(d, &a))
		a.level = (float)d->level;
	else
		learn_scales(d, &a);
	learn_curve(d, &a);
}

/* -- scales -- */

static void set_mean(struct auc_demand *d, unsigned i, double mean)
{
	d->mean[i] = mean;
	d->stale[i] = true;
}

static double scale_of(struct auc_demand *d, unsigned i)
{
	if (d->stale[i]) {
		d->scale[i] = exp(d->mean[i]);
		d->stale[i] = false;
	}
	return d->scale[i];
}

static double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* How likely a yes is at the price exp(Z) B, by the logistic. */
static double logistic(const struct auc_demand *d, double z)
{
	return 1 / (1 + exp(z / exp(d->spread)));
}

/* The same by what is used to fit scales, and how fast it falls with Z. */
static double likely(const struct auc_demand *d, double z, double *steep)
{
	unsigned bin = bin_at(z);
	double p;

	if (d->answers >= CURVE_ANSWERS) {
		*steep = d->curve[0].steep[bin];
		return clamp(d->curve[0].accept[bin], CLIP, 1 - CLIP);
	}
	p = logistic(d, z);
	*steep = p * (1 - p) / exp(d->spread);
	return clamp(p, 1e-6, 1 - 1e-6);
}

/* One step of the filter. */
static void learn_scales(struct auc_demand *d, const struct auc_demand_answer *a)
{
	unsigned n = d->n, at[AUC_POSTED_KINDS] = {a->type[0], d->nworker + a->type[1]}, i;
	double part[AUC_POSTED_KINDS], b = auc_demand_bundle(d, a->type, a->count, part),
				       z = a->price - log(b);
	double column[2 * AUC_TYPES_MAX] = {0}, steep, p, all, gain, step,
			  share[AUC_POSTED_KINDS] = {part[0] / b, part[1] / b};

	if (d->answers < CURVE_ANSWERS)
		learn_spread(d, z, a->accepted);
	p = likely(d, z, &steep);
	if (!(steep > 0))
		return;
	for (i = 0; i < n; i++)
		column[i] = d->cov[at[0] * n + i] * share[0] + d->cov[at[1] * n + i] * share[1];
	all = share[0] * column[at[0]] + share[1] * column[at[1]];
	gain = 1 / (p * (1 - p) + steep * steep * all);
	step = gain * steep * ((a->accepted ? 1 : 0) - p);
	for (i = 0; i < n; i++)
		set_mean(d, i, d->mean[i] + clamp(step * column[i], -STEP_MAX, STEP_MAX));
	subtract(d->cov, column, n, steep * steep * gain);
}

/* A, N x N, less FACTOR times the outer product of COLUMN. */
AUC_VECTORIZED static void subtract(double *restrict a, const double *restrict column, unsigned n,
				    double factor)
{
	unsigned i, k;
	double down;

	for (i = 0; i < n; i++, a += n) {
		down = factor * column[i];
		for (k = 0; k < n; k++)
			a[k] -= down * column[k];
	}
}

/* The spread of the logistic that fits best. */
static void learn_spread(struct auc_demand *d, double z, bool accepted)
{
	double logit = -z / exp(d->spread), p = 1 / (1 + exp(-logit)),
	       weight = p * (1 - p) * logit * logit;
	double gain = d->spread_var / (1 + weight * d->spread_var);

	d->spread -= clamp(gain * logit * ((accepted ? 1 : 0) - p), -STEP_MAX, STEP_MAX);
	d->spread_var = gain;
	d->spread = fmin(fmax(d->spread, log(SPREAD_MIN)), log(SPREAD_MAX));
}

/*
 * The same from all that is remembered: a step of Fisher's scoring toward the most likely scales,
 * given the curve and the prior. The filter goes on from there.
 */
static void fit_scales(struct auc_demand *d)
{
	unsigned n = d->n, i, k;
	double slope[2 * AUC_TYPES_MAX], step[2 * AUC_TYPES_MAX], sum = 0, mean = 0;
	double own = 1 / (TYPE_SD * TYPE_SD),
	       common = own * LEVEL_SD * LEVEL_SD / (TYPE_SD * TYPE_SD + n * LEVEL_SD * LEVEL_SD);
	double start = d->start + d->level;

	for (i = 0; i < n; i++)
		sum += d->mean[i] - start;
	for (i = 0; i < n; i++) {
		slope[i] = common * sum - own * (d->mean[i] - start);
		for (k = 0; k < n; k++)
			d->cov[i * n + k] = (i == k ? own : 0) - common;
	}
	add_answers(d, slope);
	invert(d->cov, n);
	for (i = 0; i < n; i++) {
		for (k = 0, step[i] = 0; k < n; k++)
			step[i] += d->cov[i * n + k] * slope[k];
		step[i] = clamp(step[i], -STEP_MAX, STEP_MAX);
		mean += i < d->nworker ? step[i] / d->nworker : 0;
	}
	for (i = 0; i < n; i++)
		set_mean(d, i, d->mean[i] + step[i] - (d->answers >= CURVE_ANSWERS ? mean : 0));
}

/* Adds to SLOPE and to the covariance, which is an information so far. */
static void add_answers(struct auc_demand *d, double *slope)
{
	uint64_t kept = d->answers < MEMORY ? d->answers : MEMORY, r;
	double part[AUC_POSTED_KINDS], share, b, p, steep, push;
	unsigned at[AUC_POSTED_KINDS], i, k;
	const struct auc_demand_answer *a;

	for (r = 0; r < kept; r++) {
		a = &d->memory[r];
		b = auc_demand_bundle(d, a->type, a->count, part);
		p = likely(d, a->price - log(b) + d->level - a->level, &steep);
		push = steep / (p * (1 - p));
		at[0] = a->type[AUC_POSTED_WORKER];
		at[1] = d->nworker + a->type[AUC_POSTED_PS];
		for (i = 0; i < AUC_POSTED_KINDS; i++) {
			share = part[i] / b;
			slope[at[i]] += push * ((a->accepted ? 1 : 0) - p) * share;
			for (k = 0; k < AUC_POSTED_KINDS; k++)
				d->cov[at[i] * d->n + at[k]] += push * steep * share * part[k] / b;
		}
	}
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

/* -- the curve -- */

/* Where A is, as scales are now. */
static unsigned bin_of(struct auc_demand *d, const struct auc_demand_answer *a, unsigned *level)
{
	double part[AUC_POSTED_KINDS], b = auc_demand_bundle(d, a->type, a->count, part);

	*level = auc_demand_level(BLUR * auc_demand_doubt(d, a->type, part));
	return bin_at(a->price - log(b) + d->level - a->level);
}

/* That of ln x = Z, the first or last where it is beyond. */
static unsigned bin_at(double z)
{
	double bin = (z - AUC_DEMAND_LOWEST) / AUC_DEMAND_BIN;

	return !(bin > 0) ? 0 : bin >= BINS ? BINS - 1 : (unsigned)bin;
}

static unsigned moved_bin(unsigned bin, int by)
{
	int to = (int)bin + by;

	return to < 0 ? 0 : to >= BINS ? BINS - 1 : (unsigned)to;
}

/* Remembers A. Scales move: all that is remembered is binned anew from time to time. */
static void learn_curve(struct auc_demand *d, const struct auc_demand_answer *a)
{
	uint64_t kept = d->answers < MEMORY ? d->answers : MEMORY;
	unsigned level, bin = bin_of(d, a, &level), fits;

	d->memory[d->answers++ % MEMORY] = *a;
	d->offered[level][bin]++;
	d->taken[level][bin] += a->accepted;
	if (d->answers - d->binned > kept / GROWN) {
		for (fits = d->answers < EARLY ? EARLY_FITS : 1; fits; fits--)
			fit_scales(d);
		bin_all(d);
	} else if (d->answers - d->smoothed > kept / GROWN_CURVE) {
		make_curves(d, ROUNDS);
	}
}

static void bin_all(struct auc_demand *d)
{
	uint64_t kept = d->answers < MEMORY ? d->answers : MEMORY, i;
	unsigned bin, level;

	memset(d->taken, 0, sizeof(d->taken));
	memset(d->offered, 0, sizeof(d->offered));
	for (i = 0; i < kept; i++) {
		bin = bin_of(d, &d->memory[i], &level);
		d->offered[level][bin]++;
		d->taken[level][bin] += d->memory[i].accepted;
	}
	d->binned = d->answers;
	make_curves(d, d->answers > ROUNDS_UNTIL ? ROUNDS_FITTED : ROUNDS_FIRST);
}

/* ROUNDS of expectation and maximisation, from where the last ended. */
static void make_curves(struct auc_demand *d, unsigned rounds)
{
	double accept[BINS], users[BINS], base[BINS], sum, kept = PULL;
	unsigned i, level, round;

	for (i = 0; i < BINS; i++) {
		base[i] = logistic(d, AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * i);
		for (level = 0; level < LEVELS; level++)
			kept += d->offered[level][i];
	}
	for (i = 0; i < BINS; i++)
		base[i] -= i + 1 < BINS ? base[i + 1] : 0;
	for (round = 0; round < rounds; round++) {
		survive(d->part, accept);
		memset(users, 0, sizeof(users));
		for (level = 0; level < LEVELS; level++)
			add_users(d, accept, level, users);
		for (i = 0; i < BINS; i++)
			users[i] = (d->part[i] * users[i] + PULL * base[i]) / kept;
		for (i = 0, sum = 0; i < BINS; i++) {
			d->part[i] = (1 - 2 * SMOOTHING) * users[i] +
				     SMOOTHING * (users[moved_bin(i, -1)] + users[moved_bin(i, 1)]);
			sum += d->part[i];
		}
		for (i = 0; i < BINS; i++)
			d->part[i] /= sum;
	}
	for (level = 0; level < LEVELS; level++)
		make_curve(d, &d->curve[level], auc_demand_sigma[level]);
	find_unsure(d);
	d->smoothed = d->answers;
}

/* The expectation: by how much the answers of LEVEL speak for each bin, against what ACCEPT says.
 */
static void add_users(const struct auc_demand *d, const double *accept, unsigned level,
		      double *users)
{
	const double *taken = d->taken[level], *offered = d->offered[level];
	double expected[BINS], speak[BINS], yes, no, above = 0, below = 0;
	bool any = false;
	unsigned i;

	for (i = 0; i < BINS && !any; i++)
		any = offered[i] > 0;
	if (!any)
		return;
	blur(accept, expected, auc_demand_sigma[level]);
	for (i = 0; i < BINS; i++) {
		yes = taken[i] / fmax(expected[i], 1e-9);
		speak[i] = above + yes / 2;
		above += yes;
	}
	for (i = BINS; i-- > 0;) {
		no = (offered[i] - taken[i]) / fmax(1 - expected[i], 1e-9);
		speak[i] += below + no / 2;
		below += no;
	}
	blur(speak, expected, auc_demand_sigma[level]);
	for (i = 0; i < BINS; i++)
		users[i] += expected[i];
}

/* S in the middle of each bin. */
static void survive(const double *part, double *accept)
{
	double above = 0;
	unsigned i;

	for (i = BINS; i-- > 0;) {
		accept[i] = above + part[i] / 2;
		above += part[i];
	}
}

static void make_curve(const struct auc_demand *d, struct auc_demand_curve *c, double sigma)
{
	double accept[BINS], p;
	unsigned i;

	survive(d->part, accept);
	blur(accept, c->accept, sigma);
	blur(d->part, c->steep, sigma);
	for (i = 0, c->best = 0, c->at = 0; i < BINS; i++) {
		if (d->factor[i] * c->accept[i] > c->best) {
			c->best = d->factor[i] * c->accept[i];
			c->at = i;
		}
		p = clamp(c->accept[i], CLIP, 1 - CLIP);
		c->steep[i] /= AUC_DEMAND_BIN;
		c->info[i] = c->steep[i] * c->steep[i] / (p * (1 - p));
		c->log[0][i] = log(1 - p);
		c->log[1][i] = log(p);
	}
}

static void find_unsure(struct auc_demand *d)
{
	double near, p;
	unsigned level;
	int i, k;

	for (i = 0; i < BINS; i++) {
		for (k = i - NEAR, near = 0; k <= i + NEAR; k++)
			for (level = 0; level < LEVELS && k >= 0 && k < BINS; level++)
				near += d->offered[level][k];
		p = fmin(fmax(d->curve[0].accept[i], 1 / (2 + near)), 1 - 1 / (2 + near));
		d->unsure[i] = sqrt(p * (1 - p) / (1 + near));
	}
}

/* FROM after a noise of SIGMA: three means over boxes. The ends go on for ever. */
static void blur(const double *from, double *to, double sigma)
{
	double copy[BINS + 2 * HALF_MAX + 1], sum;
	int half = (int)floor(sigma / AUC_DEMAND_BIN + 0.5), i, pass;

	memcpy(to, from, BINS * sizeof(*to));
	for (pass = 0; pass < 3 && half; pass++) {
		for (i = 0; i < half; i++)
			copy[i] = to[0];
		memcpy(copy + half, to, BINS * sizeof(*to));
		for (i = BINS + half; i <= BINS + 2 * half; i++)
			copy[i] = to[BINS - 1];
		for (i = 0, sum = 0; i <= 2 * half; i++)
			sum += copy[i];
		for (i = 0; i < BINS; i++) {
			to[i] = sum / (2 * half + 1);
			sum += copy[i + 2 * half + 1] - copy[i];
		}
	}
}

/* -- shifts -- */

/* True if all scales have just moved. */
static bool watch(struct auc_demand *d, const struct auc_demand_answer *a)
{
	unsigned level, bin, i;
	const double *table;
	int best = -1;

	if (d->answers < WATCHED)
		return false;
	bin = bin_of(d, a, &level);
	table = d->curve[level].log[a->accepted];
	for (i = 0; i < AUC_DEMAND_SHIFTS; i++) {
		if (!(d->sum[i] > 0))
			d->since[i] = d->answers;
		d->sum[i] = fmax(0, d->sum[i] + table[moved_bin(bin, -shifts[i])] - table[bin]);
		if (d->sum[i] > ALARM && (best < 0 || d->sum[i] > d->sum[best]))
			best = (int)i;
	}
	if (best >= 0) {
		d->moved = d->since[best];
		d->settle = d->answers;
		memset(d->sum, 0, sizeof(d->sum));
	}
	if (d->answers < d->settle)
		return false;
	d->settle = d->answers - d->moved > SETTLED ? UINT64_MAX
						    : d->answers + (d->answers - d->moved) / 2 + 8;
	return move_level(d);
}

/* Moves all scales by what makes the answers since the shift likeliest. */
static bool move_level(struct auc_demand *d)
{
	uint64_t first = d->answers > MEMORY ? d->answers - MEMORY : 0, r;
	double gain[2 * FARTHEST + 1], by;
	int i, best = FARTHEST;
	unsigned bin, level, k;

	first = d->moved > first ? d->moved : first;
	for (i = 0; i <= 2 * FARTHEST; i++)
		gain[i] = -SHIFT_COST * abs(i - FARTHEST);
	for (r = first; r < d->answers; r++) {
		const struct auc_demand_answer *a = &d->memory[r % MEMORY];

		bin = bin_of(d, a, &level);
		for (i = 0; i <= 2 * FARTHEST; i++)
			gain[i] += d->curve[level].log[a->accepted]
						      [moved_bin(bin, (FARTHEST - i) * SHIFT_BINS)];
	}
	for (i = 0; i <= 2 * FARTHEST; i++)
		best = gain[i] > gain[best] ? i : best;
	if (best == FARTHEST)
		return false;
	by = (best - FARTHEST) * SHIFT_BINS * AUC_DEMAND_BIN;
	d->level += by;
	for (k = 0; k < d->n; k++)
		set_mean(d, k, d->mean[k] + by);
	for (r = first; r < d->answers; r++)
		d->memory[r % MEMORY].level = (float)d->level;
	bin_all(d);
	return true;
}
