/*
 * posted_demand.h - what jobs are worth to their users, learned from offers that were taken or
 * left.
 *
 * A job is a *bundle*, worth B = s_k d_k + s_m d_m to the typical user: one scale s for each type.
 * One curve for all: S(x) = P(v >= x B), over bins of ln x. Scales are known to a covariance of
 * their logarithms only; of a job of which ln B has the standard deviation sigma, users accept with
 * S blurred by sigma, and that is what is looked at for it.
 *
 * - The curve is the distribution of the users' v / B in bins, by expectation and maximisation over
 *   answers that say no more than above or below, with a light pull toward a logistic and a light
 *   smoothing. Each answer is blurred by a part of the doubt about its B, so that S is nearly that
 *   of known scales: by all of it, as if the doubt were another one for each answer and not the
 *   same for all of a type, two kinds of users far apart would long look like one.
 * - The scales are those that are likeliest: a filter takes each answer as it comes, and all that
 * is remembered is fitted anew (Fisher's scoring) whenever it has grown by a fifth. The likelihood
 * is of a logistic at first; then of the curve, which knows where it is steep. From then on the
 * mean scale stays: how high demand is, is in the curve.
 * - A likelihood test for a common factor (cumulative sums for factors up and down) finds shifts of
 *   demand; the likeliest factor moves all scales, and is corrected as more answers come. Answers
 *   from before keep what they said of the shape of the curve and of the types.
 */
#ifndef AUC_POSTED_DEMAND_H
#define AUC_POSTED_DEMAND_H

#include "policy/posted-private.h"

enum {
	AUC_DEMAND_BINS = 240,
	AUC_DEMAND_LEVELS = 5, /* of sigma: auc_demand_sigma[] */
	AUC_DEMAND_SHIFTS = 10,
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

/* For posted_demand.c alone to change. */
struct auc_demand {
	unsigned nworker, n;            /* types: workers, and PSs after them */
	double start;                   /* ln of a scale before any evidence */
	double mean[2 * AUC_TYPES_MAX]; /* ln s */
	double scale[2 * AUC_TYPES_MAX];
	bool stale[2 * AUC_TYPES_MAX]; /* that scale is of another mean */
	double *cov;                   /* n x n */
	double spread, spread_var;     /* of the logistic: its logarithm */
	double level;                  /* what shifts have added so far */
	uint64_t answers;              /* of all time; the last are remembered */
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
double auc_demand_bundle(struct auc_demand *d, const unsigned *type, const unsigned *count,
			 double part[AUC_POSTED_KINDS]);
/* The standard deviation of ln B, as far as that is known; PART as above. */
double auc_demand_doubt(const struct auc_demand *d, const unsigned *type, const double *part);
/* Which of the curves is that of SIGMA. */
unsigned auc_demand_level(double sigma);
/* COUNT of TYPE were offered at PRICE > 0 in all; the user accepted or not. */
void auc_demand_learn(struct auc_demand *d, const unsigned *type, const unsigned *count,
		      double price, bool accepted);

#endif
