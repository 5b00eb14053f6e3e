/*
 * posted_world.h - the jobs of a scenario under posted prices, without a timeline: what is idle
 * now, and who is done when. Far faster than the market that replay.h runs, and with the same
 * placements and pricings: for what needs thousands of runs.
 */
#ifndef SIM_POSTED_WORLD_H
#define SIM_POSTED_WORLD_H

#include "base/err.h"
#include "auctionsim/baseline/posted_rivals.h"
#include "auctionsim/scenario/scenario.h"

/* A job, and what nobody but its user knows. */
struct posted_user {
	struct auc_posted_ask ask;
	double budget;
	unsigned index; /* in the scenario */
};

struct posted_world {
	unsigned nservers, ntypes[AUC_POSTED_KINDS], njobs;
	double slots, slot_seconds;
	double bandwidth[AUC_POSTED_KINDS][AUC_TYPES_MAX];
	double total[AUC_POSTED_KINDS][AUC_TYPES_MAX];
	int32_t *capacity[AUC_POSTED_KINDS]; /* by type and server */
	struct posted_user *users;           /* by arrival */
};

/*
 * The market of S, with each STRIDE-th of its jobs from job FIRST on. AUC_EINVAL: types share TRES,
 * something is sold already, a job has types of its own, more than one, uploads, or lacks a key
 * that posted prices need.
 */
enum auc_code posted_world_open(const struct scenario *s, unsigned first, unsigned stride,
				struct posted_world *w, struct auc_err *err);
void posted_world_close(struct posted_world *w);

/* What came of a run. */
struct posted_run {
	double revenue, welfare, runtime; /* runtime: slots of all jobs that ran */
	double exchanged_gb;              /* between servers */
	unsigned accepted, refused, blocked;
	double *earned, *ran; /* NULL, or by slot (0 is slot 1): what arrivals until then paid, and
				 how long they take */
	double *price;        /* NULL, or by job: what was asked for it; NAN: nothing */
};

struct posted_rules {
	const struct auc_posted_pricing *pricing;
	unsigned placement; /* of sim_posted_place() */
	bool dynamic;
	double theta;
	double delta; /* 0, or by how much the steps between the bandit's prices are multiplied */
	bool paper;
	uint64_t seed;
	const double *fixed; /* not NULL: unit prices, of workers and then of PSs; no pricing */
	/* Not NULL, with fixed prices: revenue alone is asked for, and only if it is above BEAT. By
	 * job: what it and those after it pay if there is room for all. */
	const double *later;
	double beat;
};

/* What JOB is asked for at FIXED unit prices. */
double posted_world_asked(const struct posted_world *w, const double *fixed, unsigned job);

enum auc_code posted_world_run(const struct posted_world *w, const struct posted_rules *rules,
			       struct posted_run *run, struct auc_err *err);

/*
 * The best fixed unit prices with full knowledge, PRICES[K + M]. SIMPLEX: as the paper has them,
 * Nelder and Mead on the right-hand side of (3). Else by search: along each price in turn the exact
 * best where there is room for all, then by runs from these prices and from such as clear the
 * market: over common factors, along each price again, and in random directions.
 */
enum auc_code posted_world_best(const struct posted_world *w, const struct posted_rules *rules,
				bool simplex, double *prices, struct auc_err *err);

#define POSTED_BFP_NAME    "bfp"
#define POSTED_BFP_SUMMARY "baseline: posted at the best fixed prices, all budgets known in advance"
/*
 * What policy posted has to be told to be BFP on S: *TEXT is malloc'd. OPTIONS: fit=search
 * (default) or fit=simplex, and placement and bandwidth as of posted. AUC_EINVAL: other options, or
 * a scenario that posted_world_open() does not take.
 */
enum auc_code posted_bfp_options(const struct scenario *s, const char *options, char **text,
				 struct auc_err *err);
/* Whether it takes OPTIONS. AUC_EINVAL, AUC_ENOMEM. */
enum auc_code posted_bfp_check_options(const char *options, struct auc_err *err);

#endif
