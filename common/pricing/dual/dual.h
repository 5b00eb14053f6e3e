/*
 * dual.h - how much all jobs together could be worth at most: the Lagrangian dual of a market and
 * a weighted list of jobs.
 *
 * For any prices lambda >= 0 of (server, TRES, slot), and u_j = the best payoff of job j at these
 * prices in a market where nobody else is,
 *
 *   sum over jobs of weight_j * max(0, u_j)  +  sum of lambda * (capacity - booked)
 *
 * is at least the welfare of every plan for these jobs: a plan's value is what its jobs gain at
 * lambda plus what they pay, and nobody can pay for more than there is. The inner maximum is a
 * quote of the policy itself at given prices, so that whatever the policy can sell is bounded, and
 * nothing else: roles, uploads, arrivals and what is booked count as they do for a sale, and a job
 * that arrives after the window counts nothing.
 *
 * The bound is certified, not estimated. A quote is the maximum but for AUC_QUOTE_SLACK (policy.h)
 * of the job's highest value, which is added for each job; all terms are >= 0, so their sum is off
 * by less than one rounding a term, and is raised by as many.
 *
 * Prices are improved by a subgradient method (Adam on the slack relative to capacity, steps that
 * shrink geometrically); the best bound that was seen is kept, and its prices. First servers share
 * prices by class: a group (edge, cloud) and how much they have of the TRES; this is fast and
 * close. Then each server has its own, but for servers that no job can tell apart.
 *
 * Nothing here is global, and the market that is given is only read while the dual is made: a dual
 * can be worked at in another thread, a step at a time.
 */
#ifndef AUC_DUAL_H
#define AUC_DUAL_H

#include <stdio.h>

#include "base/err.h"
#include "market/market.h"
#include "policy/policy.h"
#include "base/cancel.h"

struct auc_dual;

struct auc_dual_job {
	const struct auc_job *job;
	double weight; /* how many of it there are; >= 0 */
	/*
	 * NULL, or a market with the same servers and window in which the job's types are known
	 * (those that are its own); its bookings and prices become the dual's.
	 */
	struct auc_market *own;
};

enum auc_dual_level {
	AUC_DUAL_CLASSES,
	AUC_DUAL_SERVERS,
	AUC_DUAL_POOL, /* of auc_dual_set_pool() */
};

/*
 * What stands behind a market of a few servers that represent many: groups of (server, TRES) that
 * share prices, and how much there is of each. A job may take from a group what its servers in the
 * market hold, all jobs together what CAPACITY says. Such a bound is one of the pool's own.
 */
struct auc_dual_pool {
	unsigned ngroups;
	const uint32_t *group;  /* by server and TRES; AUC_DUAL_NO_GROUP where a server has none */
	const unsigned *tres;   /* by group */
	const double *capacity; /* by group and slot of the market; 0: the price stands still */
};
#define AUC_DUAL_NO_GROUP UINT32_MAX

/* A stretch of iterations. */
struct auc_dual_phase {
	enum auc_dual_level level;
	unsigned iterations;
	double first_step, last_step; /* of the scale of prices: what a unit earned on average when
					 all was free */
};

/*
 * A dual of M as it is booked now. POLICY with OPTIONS quotes; a baseline has no quote that
 * maximises and is refused (AUC_EINVAL). JOBS, what they point to and POLICY are only borrowed and
 * must stay. All prices are 0 at first.
 */
enum auc_code auc_dual_create(const struct auc_market *m, const struct auc_policy *policy,
			      const char *options, const struct auc_dual_job *jobs, unsigned njobs,
			      struct auc_dual **d, struct auc_err *err);
void auc_dual_destroy(struct auc_dual *d);
/* From now on W (NULL: nobody; must stay) is asked before each quote. */
void auc_dual_set_cancel(struct auc_dual *d, const struct auc_cancel *w);

/* Copies POOL, for phases of level AUC_DUAL_POOL. AUC_ENOMEM. */
enum auc_code auc_dual_set_pool(struct auc_dual *d, const struct auc_dual_pool *pool,
				struct auc_err *err);
/*
 * D, whose phase has just begun, goes on from the best prices of FROM, which has the same groups
 * and TRES: by absolute slot; slots that FROM did not have take its last ones. AUC_EINVAL: other
 * groups.
 */
enum auc_code auc_dual_continue(struct auc_dual *d, const struct auc_dual *from,
				struct auc_err *err);

/*
 * D, whose phase has just begun, starts from the prices of LIST[N] (market.h): a group from those
 * of its first server. SCALE, by TRES: what a unit earns when all is free (auc_dual_scale()).
 */
void auc_dual_start(struct auc_dual *d, const struct auc_given_price *list, size_t n,
		    const double *scale);

/* Begins a phase at the best prices so far. AUC_ENOMEM, or AUC_EINVAL: no sensible phase. */
enum auc_code auc_dual_begin(struct auc_dual *d, const struct auc_dual_phase *phase,
			     struct auc_err *err);
/* One iteration: one quote of each job. */
enum auc_code auc_dual_step(struct auc_dual *d, struct auc_err *err);
/* Iterations of the phase that are left. The last one looks at the mean of the second half. */
unsigned auc_dual_left(const struct auc_dual *d);
/* The best bound so far; INFINITY before the first step. */
double auc_dual_bound(const struct auc_dual *d);
/* What a unit of TRES earned per slot on average when all was free; 0 before the first step. */
double auc_dual_scale(const struct auc_dual *d, unsigned tres);
/* The price of that bound, in credits per unit and slot. */
double auc_dual_price(const struct auc_dual *d, unsigned server, unsigned tres, auc_slot t);
/* The same of a group of the pool's. */
double auc_dual_group_price(const struct auc_dual *d, unsigned group, auc_slot t);
/* The best payoff of a job at the prices of that bound, as it is counted in it: >= 0, rounding
 * included. */
double auc_dual_payoff(const struct auc_dual *d, unsigned job);
/* The mean length in slots of the jobs' best schedules at the prices that were looked at last; 0:
 * there were none. */
double auc_dual_duration(const struct auc_dual *d);
/* The bound at the prices of LIST[N] (market.h); does not change the phase. */
enum auc_code auc_dual_bound_at(struct auc_dual *d, const struct auc_given_price *list, size_t n,
				double *bound, struct auc_err *err);

/*
 * Writes and reads where the work stands: the next step of the one that was read is that of the one
 * that was written, to the last bit. The market, the jobs and the policy are not in it; what was
 * written for others is refused (AUC_ECORRUPT) as far as their numbers differ, and so is what is
 * damaged.
 */
enum auc_code auc_dual_save(const struct auc_dual *d, FILE *out, struct auc_err *err);
enum auc_code auc_dual_load(struct auc_dual *d, FILE *in, struct auc_err *err);

#endif
