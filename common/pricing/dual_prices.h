/*
 * dual_prices.h - prices that are learned: from jobs of the past, what each resource will be worth in
 * each slot.
 *
 * The past jobs stand for those that are to come. At the prices of their dual (dual.h) in the pool
 * of the market (pool.h) all of them together just fill what is not sold yet; smoothed over the
 * length of a job these prices keep a resource that will be scarce from being spent on jobs that
 * could do without it. They come from the past, from what is booked and from the clock, never from
 * the bid they are offered to.
 *
 * Use: create; then, as often as there is time, begin - step until nothing is left - prices. A
 * later fit goes on from the prices of the one before. Between begin and the last step neither the
 * market nor the jobs are looked at again: a fit can be worked at in another thread, a step at a
 * time; a step is one quote of each job in the pool.
 *
 * No I/O, no threads, nothing global.
 */
#ifndef AUC_DUAL_PRICES_H
#define AUC_DUAL_PRICES_H

#include "pricing/dual.h"
#include "base/err.h"
#include "market/market.h"
#include "policy/policy.h"
#include "pricing/pool.h"

struct auc_learn;

#define AUC_LEARN_ITERATIONS 100 /* of a first fit */
#define AUC_LEARN_AGAIN      15  /* of one that goes on */
/*
 * Expected jobs are best counted that many times: fractions of jobs, which a dual takes for
 * possible, fill the gaps that whole jobs leave.
 */
#define AUC_LEARN_WEIGHT 1.5

/* Which prices are made of a fit. */
enum auc_learn_form {
	AUC_LEARN_NONE,   /* 0 */
	AUC_LEARN_FLAT,   /* one price of each TRES: what a unit of it earned on average if all was
			     free */
	AUC_LEARN_LEVEL,  /* one price of each class: the mean of its dual prices over time */
	AUC_LEARN_TIMED,  /* the dual prices by class and slot, smoothed */
	AUC_LEARN_MIXED,  /* half of each of the last two */
	AUC_LEARN_BOUNDS, /* one price of each TRES and role: those of bound_levels.h, not of a fit */
	AUC_LEARN_FORMS,
	AUC_LEARN_DUAL = AUC_LEARN_FORMS /* the dual prices themselves: not to sell by */
};

struct auc_learn_choice {
	enum auc_learn_form form;
	double factor; /* by which they are multiplied, >= 0 */
};

/* For the servers, types and window length of M, sold by POLICY with OPTIONS. AUC_EINVAL: a
 * baseline; AUC_ENOMEM. */
enum auc_code auc_learn_create(const struct auc_market *m, const struct auc_policy *policy,
			       const char *options, struct auc_learn **l, struct auc_err *err);
void auc_learn_destroy(struct auc_learn *l);
/* L's first fit goes on from the last one of ORIGIN, which was created for the same servers and
 * must stay. */
void auc_learn_follow(struct auc_learn *l, const struct auc_learn *origin);
/* From now on W (NULL: nobody; must stay) is asked before each quote; it can stop a step:
 * AUC_ESTATE. */
void auc_learn_watch(struct auc_learn *l, const struct auc_watch *w);

/*
 * Begins a fit of ITERATIONS for M, which has the servers and types L was created for, as it is
 * booked now: from slot FROM on, JOBS[N] (dual.h) are expected, each as often as its weight says;
 * those that arrive before FROM are left out. Afterwards neither is needed any more.
 */
enum auc_code auc_learn_begin(struct auc_learn *l, const struct auc_market *m,
			      const struct auc_dual_job *jobs, unsigned njobs, auc_slot from,
			      unsigned iterations, struct auc_err *err);
enum auc_code auc_learn_step(struct auc_learn *l, struct auc_err *err);
/* Steps that are left. */
unsigned auc_learn_left(const struct auc_learn *l);
/* True once a fit has ended: there are prices. */
bool auc_learn_ready(const struct auc_learn *l);
/* Begins, and takes all steps. */
enum auc_code auc_learn_fit(struct auc_learn *l, const struct auc_market *m,
			    const struct auc_dual_job *jobs, unsigned njobs, auc_slot from,
			    unsigned iterations, struct auc_err *err);

/* Of the last fit that ended: what the jobs expected are worth at most, in the pool. */
double auc_learn_bound(const struct auc_learn *l);
/* The classes that have prices, and their price in slot T (0: none yet). */
const struct auc_pool *auc_learn_pool(const struct auc_learn *l);
/* What a unit of TRES of the market earned per slot on average when all was free. */
double auc_learn_scale(const struct auc_learn *l, unsigned tres);
double auc_learn_price(const struct auc_learn *l, const struct auc_learn_choice *choice,
		       unsigned class, auc_slot t);
/*
 * The prices of CHOICE by the last fit that ended; *LIST is malloc'd, for auc_market_give_prices().
 * AUC_ENOMEM; AUC_ESTATE: no fit has ended.
 */
enum auc_code auc_learn_list(const struct auc_learn *l, const struct auc_market *m,
			     const struct auc_learn_choice *choice, struct auc_given_price **list,
			     size_t *n, struct auc_err *err);

/*
 * All of the above at once: the prices of form AUC_LEARN_TIMED after ITERATIONS of one fit from M's
 * first slot on. *BOUND is that of the fit. WATCH (NULL: nobody) can stop it: AUC_ESTATE.
 * AUC_EINVAL: the policy does not sell; AUC_ENOMEM.
 */
enum auc_code auc_learn_prices(const struct auc_market *m, const struct auc_policy *policy,
			       const struct auc_dual_job *jobs, unsigned njobs, unsigned iterations,
			       const struct auc_watch *watch, struct auc_given_price **list,
			       size_t *n, double *bound, struct auc_err *err);

/*
 * How many times as many jobs as before are to be expected, if SEEN have come since the day began
 * and EXPECTED had come by this time on a day of the past: 1, unless chance alone would hardly be
 * that far off.
 */
double auc_learn_rate(double seen, double expected);
/* The same, chance or not. */
double auc_learn_ratio(double seen, double expected);
/* True if that is far from 1. */
bool auc_learn_level_changed(double seen, double expected);

#endif
