/*
 * posted_demand.h - what jobs are worth to their users, learned from offers that were taken or
 * left.
 *
 * A job is a *bundle*, worth B = s_k d_k + s_m d_m to the typical user: one scale s for each type.
 * One curve for all: S(x) = P(v >= x B), over bins of ln x. Scales are known to a distribution
 * only; of a job of which ln B has the standard deviation sigma, users accept with S blurred by
 * sigma, and that is what is looked at for it.
 *
 * Both are learned from all that is remembered, together, whenever it has grown by a fifth:
 *
 * - The curve is the distribution of the users' v / B in bins, by expectation and maximisation over
 *   answers that say no more than above or below, with a light pull toward a logistic. Where an
 *   answer is on the curve depends on its type's scale: it counts at each x by how likely that is,
 *   given all answers of the type. So the doubt is one doubt for all of them, and two kinds of
 * users far apart do not look like one.
 * - A scale has a distribution over a grid of its logarithm, which moves and narrows: the
 * likelihood of all answers of its type by the curve, the other scale of each bundle being as it is
 * likeliest but for a blur, and what scales of its kind have in common for a prior. A normal
 * distribution would not do: with two kinds of users a type can be under either.
 * - Neither is right before the other is, and a wrong curve makes scales that confirm it. So while
 *   answers are few the two are made in turns, with the answers weighing little at first and all in
 *   the end (annealing): what was taken for sure is in doubt again each time.
 *
 * Besides:
 *
 * - Each new answer changes the scales of its two types at once.
 * - A likelihood test for a common factor (cumulative sums for factors up and down) finds shifts of
 *   demand; the likeliest factor moves all scales, and is corrected as more answers come. Answers
 *   from before keep what they said of the shape of the curve and of the types.
 */
#ifndef AUC_POSTED_DEMAND_H
#define AUC_POSTED_DEMAND_H

#include "policy/posted/posted-private.h"

enum {
	AUC_DEMAND_BINS = 240,
	AUC_DEMAND_LEVELS = 5, /* of sigma: auc_demand_sigma[] */
	AUC_DEMAND_SHIFTS = 10,
	AUC_DEMAND_GRID = 64,     /* what a scale may be */
	AUC_DEMAND_MEMORY = 8192, /* answers */
};
#define AUC_DEMAND_BIN    0.02 /* of ln x */
#define AUC_DEMAND_LOWEST (-2.4)

extern const double auc_demand_sigma[AUC_DEMAND_LEVELS];

struct auc_demand_answer {
	unsigned type[AUC_POSTED_KINDS], count[AUC_POSTED_KINDS];
	float price, level; /* logarithms */
	bool accepted;
};

/* The curve for one sigma, by bin. */
struct auc_demand_curve {
	double best;                    /* the highest of x S(x) */
	unsigned at;                    /* its bin */
	double accept[AUC_DEMAND_BINS]; /* S */
	double steep[AUC_DEMAND_BINS];  /* - dS / d ln x */
	double info[AUC_DEMAND_BINS];   /* of an answer about ln B: steep^2 / (S (1 - S)) */
	double log[2][AUC_DEMAND_BINS]; /* of the probabilities of no and yes */
};

/* For posted_demand.c and posted_scales.c alone to change. */
struct auc_demand {
	unsigned nworker, n; /* types: workers, and PSs after them */
	double start;        /* ln of a scale before any evidence */
	/* of ln s: its moments, the grid, and how likely each point is */
	double mean[2 * AUC_TYPES_MAX], var[2 * AUC_TYPES_MAX];
	double middle[2 * AUC_TYPES_MAX], step[2 * AUC_TYPES_MAX];
	double q[2 * AUC_TYPES_MAX][AUC_DEMAND_GRID];
	double scale[2 * AUC_TYPES_MAX]; /* exp(mean) */
	double common[AUC_POSTED_KINDS]; /* what the means have in common */
	float *soft;                     /* ln(1 + exp(.)) in bins */
	double level;                    /* what shifts have added so far */
	uint64_t answers;                /* of all time; the last are remembered */
	struct auc_demand_answer *memory;
	uint64_t binned, smoothed; /* answers when all were binned, and when the curve was made */
	double taken[AUC_DEMAND_LEVELS][AUC_DEMAND_BINS];
	double offered[AUC_DEMAND_LEVELS][AUC_DEMAND_BINS];
	double part[AUC_DEMAND_BINS];   /* of users, in each bin */
	double factor[AUC_DEMAND_BINS]; /* x in the middle of a bin */
	double unsure[AUC_DEMAND_BINS]; /* the standard deviation of S by answers near it */
	struct auc_demand_curve curve[AUC_DEMAND_LEVELS];
	double sum[AUC_DEMAND_SHIFTS];     /* cumulative, of a shift against none */
	uint64_t since[AUC_DEMAND_SHIFTS]; /* answers when it was 0 */
	uint64_t moved, settle; /* the first answer of the demand of today; when to look again */
};

/* TYPES workers' and PSs' types, whose scales are about UNIT. AUC_ENOMEM. */
enum auc_code auc_demand_open(struct auc_demand *d, const unsigned types[AUC_POSTED_KINDS],
			      double unit, struct auc_err *err);
void auc_demand_clear(struct auc_demand *d);

/* B of COUNT of TYPE, and what of it are workers and PSs. */
double auc_demand_bundle(const struct auc_demand *d, const unsigned *type, const unsigned *count,
			 double part[AUC_POSTED_KINDS]);
/* The standard deviation of ln B, as far as that is known; PART as above. */
double auc_demand_doubt(const struct auc_demand *d, const unsigned *type, const double *part);
/* Which of the curves is that of SIGMA. */
unsigned auc_demand_level(double sigma);
/* COUNT of TYPE were offered at PRICE > 0 in all; the user accepted or not. */
void auc_demand_learn(struct auc_demand *d, const unsigned *type, const unsigned *count,
		      double price, bool accepted);

/* -- posted_scales.c, for posted_demand.c -- */

/* How many answers are remembered. */
static inline uint64_t auc_demand_kept(const struct auc_demand *d)
{
	return d->answers < AUC_DEMAND_MEMORY ? d->answers : AUC_DEMAND_MEMORY;
}
/* What is known of scales before any answer. AUC_ENOMEM. */
enum auc_code auc_scales_open(struct auc_demand *d, struct auc_err *err);
void auc_scales_clear(struct auc_demand *d);
/* The bin that A is in, if the scale of its type of KIND is this or that of its grid. Returns the
 * level of the doubt about the other type's. */
unsigned auc_scales_bins(const struct auc_demand *d, const struct auc_demand_answer *a,
			 unsigned kind, int bins[AUC_DEMAND_GRID]);
/* What A says of its two types. */
void auc_scales_learn(struct auc_demand *d, const struct auc_demand_answer *a);
/* All scales anew from all that is remembered, each answer weighing HEAT in (0, 1]. */
void auc_scales_fit(struct auc_demand *d, double heat);
/* All scales are exp(BY) times what they were. */
void auc_scales_move(struct auc_demand *d, double by);

#endif
