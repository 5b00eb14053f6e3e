/* posted_demand.c - see posted_demand.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/posted/posted_demand.h"

/* Chosen on markets of seeds 201 to 224; the report has others. */
#define BINS         AUC_DEMAND_BINS
#define LEVELS       AUC_DEMAND_LEVELS
#define GRID         AUC_DEMAND_GRID
#define MEMORY       AUC_DEMAND_MEMORY
#define SPREAD       0.4   /* of the logistic */
#define PULL         2.0   /* answers' worth of it */
#define SMOOTHING    0.015 /* what a bin gives to either neighbour, in each round */
#define ROUNDS       3     /* of expectation and maximisation, at a time; */
#define ROUNDS_FIT   5     /* when scales were fitted; */
#define ROUNDS_FIRST 10    /* the same, until there are as many answers as this: */
#define ROUNDS_UNTIL 3000
#define BLUR         0.25 /* of a bundle's doubt, where shifts are looked for */
#define HALF_MAX     16   /* bins, of half a box that blurs */
#define NEAR         4    /* bins to either side that count as near */
#define EARLY        1500 /* answers; until then scales and curve are fitted */
#define EARLY_FITS   6    /* so often at a time, */
#define HEAT         0.05 /* with answers weighing more than this, and 1 in the end */
#define GROWN        5    /* all is fitted anew when answers have grown by this part, */
#define GROWN_CURVE  10   /* and the curve when by this */
#define CLIP         0.04 /* no answer is less likely */
#define WATCHED      300  /* answers before shifts are looked for */
#define ALARM        20.0 /* of a cumulative sum, ln */
#define FARTHEST     50   /* shifts looked at, to either side, and how many bins each is */
#define SHIFT_BINS   2
#define SHIFT_COST   0.02 /* ln, of each of these */
#define SETTLED      400  /* answers until a shift is done with */

const double auc_demand_sigma[LEVELS] = {0, 0.04, 0.08, 0.16, 0.32};
static const int shifts[AUC_DEMAND_SHIFTS] = {-80, -56, -34, -20, -10,
					      10,  20,  34,  56,  80}; /* bins */

static double clamp(double x, double low, double high);
static double logistic(double z);
static unsigned bin_of(struct auc_demand *d, const struct auc_demand_answer *a, unsigned *level);
static unsigned bin_at(double z);
static unsigned moved_bin(unsigned bin, int by);
static void learn_curve(struct auc_demand *d, const struct auc_demand_answer *a);
static void count(struct auc_demand *d, const struct auc_demand_answer *a);
static void fit_all(struct auc_demand *d);
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
	enum auc_code rc;
	unsigned i;

	memset(d, 0, sizeof(*d));
	d->nworker = types[AUC_POSTED_WORKER];
	d->n = d->nworker + types[AUC_POSTED_PS];
	d->start = log(unit);
	d->memory = calloc(MEMORY, sizeof(*d->memory));
	rc = d->memory ? auc_scales_open(d, err)
		       : auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");
	if (rc != AUC_OK) {
		auc_demand_clear(d);
		return rc;
	}
	d->settle = UINT64_MAX;
	for (i = 0; i < BINS; i++) {
		d->factor[i] = exp(AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * (i + 0.5));
		d->part[i] =
			logistic(AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * i) -
			(i + 1 < BINS ? logistic(AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * (i + 1)) : 0);
	}
	make_curves(d, ROUNDS);
	return AUC_OK;
}

void auc_demand_clear(struct auc_demand *d)
{
	auc_scales_clear(d);
	free(d->memory);
	d->memory = NULL;
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
		auc_scales_learn(d, &a);
	learn_curve(d, &a);
}

static double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* How likely a yes is at the price exp(Z) B, before any evidence. */
static double logistic(double z)
{
	return 1 / (1 + exp(z / SPREAD));
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

/* Remembers A. Scales move: all that is remembered is fitted anew from time to time. */
static void learn_curve(struct auc_demand *d, const struct auc_demand_answer *a)
{
	d->memory[d->answers++ % MEMORY] = *a;
	count(d, a);
	if (d->answers - d->binned > auc_demand_kept(d) / GROWN)
		fit_all(d);
	else if (d->answers - d->smoothed > auc_demand_kept(d) / GROWN_CURVE)
		make_curves(d, ROUNDS);
}

/* A is in each bin by how likely its worker type's scale is one that puts it there. */
static void count(struct auc_demand *d, const struct auc_demand_answer *a)
{
	const double *q = d->q[a->type[AUC_POSTED_WORKER]];
	int bins[GRID];
	unsigned level = auc_scales_bins(d, a, AUC_POSTED_WORKER, bins), g;

	for (g = 0; g < GRID; g++)
		d->offered[level][bins[g]] += q[g];
	for (g = 0; g < GRID && a->accepted; g++)
		d->taken[level][bins[g]] += q[g];
}

/* Scales and curve, in turns. */
static void fit_all(struct auc_demand *d)
{
	unsigned fits = d->answers < EARLY ? EARLY_FITS : 1, i;

	for (i = 1; i <= fits; i++) {
		auc_scales_fit(d, HEAT + (1 - HEAT) * i / fits);
		bin_all(d);
	}
}

static void bin_all(struct auc_demand *d)
{
	uint64_t kept = auc_demand_kept(d), i;

	memset(d->taken, 0, sizeof(d->taken));
	memset(d->offered, 0, sizeof(d->offered));
	for (i = 0; i < kept; i++)
		count(d, &d->memory[i]);
	d->binned = d->answers;
	make_curves(d, d->answers > ROUNDS_UNTIL ? ROUNDS_FIT : ROUNDS_FIRST);
}

/* ROUNDS of expectation and maximisation, from where the last ended. */
static void make_curves(struct auc_demand *d, unsigned rounds)
{
	double accept[BINS], users[BINS], base[BINS], sum, kept = PULL;
	unsigned i, level, round;

	for (i = 0; i < BINS; i++) {
		base[i] = logistic(AUC_DEMAND_LOWEST + AUC_DEMAND_BIN * i);
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
		yes = taken[i] / (expected[i] > 1e-9 ? expected[i] : 1e-9);
		speak[i] = above + yes / 2;
		above += yes;
	}
	for (i = BINS; i-- > 0;) {
		no = (offered[i] - taken[i]) / (1 - expected[i] > 1e-9 ? 1 - expected[i] : 1e-9);
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
	unsigned bin, level;

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
	auc_scales_move(d, by);
	for (r = first; r < d->answers; r++)
		d->memory[r % MEMORY].level = (float)d->level;
	bin_all(d);
	return true;
}
