/*
 * posted_scales.c - what a unit of each type is worth to the typical user: see posted_demand.h.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "policy/posted/posted_demand.h"

/* Chosen on markets of seeds 201 to 224; the report has others. */
#define GRID     AUC_DEMAND_GRID
#define LEVEL_SD 1.0 /* of what all scales of a kind share, before any evidence */
#define TYPE_SD  0.7 /* of one type against the others of its kind */
#define WIDEST   0.1 /* steps of a grid, */
#define FINEST   0.01
#define SPANS    10   /* and how many deviations all of them are */
#define LEAST    0.01 /* no answer is less likely */
#define SOFT     2400 /* ln(1 + exp(u)) is looked up from -12 to 12, */
#define SOFT_ONE 100  /* in so many steps each 1 */

static double at(const struct auc_demand *d, unsigned i, unsigned g);
static unsigned first_of(const struct auc_demand *d, unsigned kind);
static void start_type(struct auc_demand *d, unsigned i, double middle, double step);
static void end_type(struct auc_demand *d, unsigned i);
static void measure(struct auc_demand *d, unsigned i);
static double find_common(const struct auc_demand *d, unsigned kind);
static void lookup(const float *soft, float u, float by, float rest, int *bins);

enum auc_code auc_scales_open(struct auc_demand *d, struct auc_err *err)
{
	unsigned i, kind;

	d->soft = calloc(SOFT + 1, sizeof(*d->soft));
	if (!d->soft)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a pricing");
	for (i = 0; i <= SOFT; i++)
		d->soft[i] =
			(float)(log1p(exp(((double)i - SOFT / 2.0) / SOFT_ONE)) / AUC_DEMAND_BIN);
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		d->common[kind] = d->start;
		for (i = first_of(d, kind); i < first_of(d, kind + 1); i++) {
			start_type(d, i, d->start, WIDEST);
			end_type(d, i);
		}
	}
	return AUC_OK;
}

void auc_scales_clear(struct auc_demand *d)
{
	free(d->soft);
	d->soft = NULL;
}

double auc_demand_bundle(const struct auc_demand *d, const unsigned *type, const unsigned *count,
			 double part[AUC_POSTED_KINDS])
{
	part[AUC_POSTED_WORKER] = d->scale[type[AUC_POSTED_WORKER]] * count[AUC_POSTED_WORKER];
	part[AUC_POSTED_PS] = d->scale[d->nworker + type[AUC_POSTED_PS]] * count[AUC_POSTED_PS];
	return part[AUC_POSTED_WORKER] + part[AUC_POSTED_PS];
}

double auc_demand_doubt(const struct auc_demand *d, const unsigned *type, const double *part)
{
	double s = part[AUC_POSTED_WORKER] / (part[AUC_POSTED_WORKER] + part[AUC_POSTED_PS]);

	return sqrt(s * s * d->var[type[AUC_POSTED_WORKER]] +
		    (1 - s) * (1 - s) * d->var[d->nworker + type[AUC_POSTED_PS]]);
}

unsigned auc_scales_bins(const struct auc_demand *d, const struct auc_demand_answer *a,
			 unsigned kind, int bins[GRID])
{
	unsigned type[] = {a->type[AUC_POSTED_WORKER], d->nworker + a->type[AUC_POSTED_PS]};
	unsigned own = type[kind], other = type[!kind];
	double rest = d->scale[other] * a->count[!kind],
	       all = d->scale[own] * a->count[kind] + rest, ln_rest = log(rest),
	       u = at(d, own, 0) + log(a->count[kind]) - ln_rest;

	lookup(d->soft, (float)((u + SOFT / 2.0 / SOFT_ONE) * SOFT_ONE + 0.5),
	       (float)(d->step[own] * SOFT_ONE),
	       (float)((a->price + d->level - a->level - ln_rest - AUC_DEMAND_LOWEST) /
		       AUC_DEMAND_BIN),
	       bins);
	return auc_demand_level(rest / all * sqrt(d->var[other]));
}

/* BINS of REST less ln(1 + exp(.)), in steps BY of its argument from U on. */
AUC_VECTORIZED static void lookup(const float *restrict soft, float u, float by, float rest,
				  int *restrict bins)
{
	float v, z;
	unsigned g;

	for (g = 0; g < GRID; g++) {
		v = u + by * (float)g;
		z = v < SOFT ? soft[v > 0 ? (unsigned)v : 0]
			     : (v - SOFT / 2.0f) / (float)(SOFT_ONE * AUC_DEMAND_BIN);
		z = rest - z;
		bins[g] = z > 0 ? z < AUC_DEMAND_BINS ? (int)z : AUC_DEMAND_BINS - 1 : 0;
	}
}

void auc_scales_learn(struct auc_demand *d, const struct auc_demand_answer *a)
{
	const double *accept;
	unsigned kind, g, own;
	double p, sum, *q;
	int bins[GRID];

	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		own = first_of(d, kind) + a->type[kind];
		q = d->q[own];
		accept = d->curve[auc_scales_bins(d, a, kind, bins)].accept;
		for (g = 0, sum = 0; g < GRID; g++) {
			p = a->accepted ? accept[bins[g]] : 1 - accept[bins[g]];
			q[g] *= p > LEAST ? p : LEAST;
			sum += q[g];
		}
		for (g = 0; g < GRID; g++)
			q[g] /= sum;
		measure(d, own);
	}
}

void auc_scales_fit(struct auc_demand *d, double heat)
{
	uint64_t kept = auc_demand_kept(d), r;
	unsigned kind, g, i, own, level;
	int bins[GRID];
	double weight[2][AUC_DEMAND_LEVELS][AUC_DEMAND_BINS], p;

	for (level = 0; level < AUC_DEMAND_LEVELS; level++)
		for (i = 0; i < AUC_DEMAND_BINS; i++) {
			p = fmin(fmax(d->curve[level].accept[i], LEAST), 1 - LEAST);
			weight[0][level][i] = heat * log(1 - p);
			weight[1][level][i] = heat * log(p);
		}
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		d->common[kind] = find_common(d, kind);
		for (i = first_of(d, kind); i < first_of(d, kind + 1); i++)
			start_type(d, i, d->mean[i],
				   fmin(fmax(sqrt(d->var[i]) * SPANS / GRID, FINEST), WIDEST));
		for (r = 0; r < kept; r++) {
			const struct auc_demand_answer *a = &d->memory[r];
			const double *here;

			own = first_of(d, kind) + a->type[kind];
			here = weight[a->accepted][auc_scales_bins(d, a, kind, bins)];
			for (g = 0; g < GRID; g++)
				d->q[own][g] += here[bins[g]];
		}
		for (i = first_of(d, kind); i < first_of(d, kind + 1); i++)
			end_type(d, i);
	}
}

void auc_scales_move(struct auc_demand *d, double by)
{
	unsigned i;

	for (i = 0; i < d->n; i++) {
		d->middle[i] += by;
		measure(d, i);
	}
}

/* ln s at point G of type I. */
static double at(const struct auc_demand *d, unsigned i, unsigned g)
{
	return d->middle[i] + d->step[i] * (g + 0.5 - GRID / 2.0);
}

/* Where the types of KIND begin, and those of the one before it end. */
static unsigned first_of(const struct auc_demand *d, unsigned kind)
{
	return kind == AUC_POSTED_WORKER ? 0 : kind == AUC_POSTED_PS ? d->nworker : d->n;
}

/* Type I on another grid: the logarithm of what is known without any answer. */
static void start_type(struct auc_demand *d, unsigned i, double middle, double step)
{
	double z;
	unsigned g;

	d->middle[i] = middle;
	d->step[i] = step;
	for (g = 0; g < GRID; g++) {
		z = (at(d, i, g) - d->common[i >= d->nworker]) / TYPE_SD;
		d->q[i][g] = -z * z / 2;
	}
}

/* From logarithms to probabilities. */
static void end_type(struct auc_demand *d, unsigned i)
{
	double *q = d->q[i], most = q[0], sum = 0;
	unsigned g;

	for (g = 1; g < GRID; g++)
		most = fmax(most, q[g]);
	for (g = 0; g < GRID; g++) {
		q[g] = exp(q[g] - most);
		sum += q[g];
	}
	for (g = 0; g < GRID; g++)
		q[g] /= sum;
	measure(d, i);
}

/* The moments of type I. */
static void measure(struct auc_demand *d, unsigned i)
{
	double mean = 0, square = 0;
	unsigned g;

	for (g = 0; g < GRID; g++) {
		mean += d->q[i][g] * g;
		square += d->q[i][g] * g * g;
	}
	d->mean[i] = at(d, i, 0) + d->step[i] * mean;
	d->var[i] = (fmax(0, square - mean * mean) + 1.0 / 12) * d->step[i] * d->step[i];
	d->scale[i] = exp(d->mean[i]);
}

/* The likeliest mean of the types of KIND. */
static double find_common(const struct auc_demand *d, unsigned kind)
{
	unsigned from = first_of(d, kind), to = first_of(d, kind + 1), i;
	double own = 1 / (TYPE_SD * TYPE_SD), all = 1 / (LEVEL_SD * LEVEL_SD),
	       sum = all * (d->start + d->level);

	for (i = from; i < to; i++)
		sum += own * d->mean[i];
	return sum / (all + own * (to - from));
}
