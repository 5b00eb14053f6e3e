/*
 * dual_prices.h - learned prices: what each resource will be worth in each slot, judged by past
 * jobs.
 *
 * The past jobs stand for those to come. At the prices of their dual (dual.h) in the pool of the
 * market (pool.h) they just fill what is not sold yet. Smoothed over the length of a job, these
 * prices keep scarce resources from jobs that could do without them. They depend on the past, on
 * what is booked and on the clock, never on the bid that they are offered to.
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

#include "pricing/dual/dual.h"
#include "base/err.h"
#include "market/market.h"
#include "policy/policy.h"
#include "pricing/dual/pool.h"

struct auc_dual_prices;

#define AUC_DUAL_PRICES_ITERATIONS 100 /* of a first fit */
#define AUC_DUAL_PRICES_AGAIN      15  /* of one that goes on */
/*
 * Expected jobs are best counted that many times: fractions of jobs, which a dual takes for
 * possible, fill the gaps that whole jobs leave.
 */
#define AUC_DUAL_PRICES_WEIGHT 1.5

/* Which prices are made of a fit. */
enum auc_price_form {
	AUC_PRICE_FORM_NONE,   /* 0 */
	AUC_PRICE_FORM_FLAT,   /* one price of each TRES: what a unit of it earned on average if all
			     was   free */
	AUC_PRICE_FORM_LEVEL,  /* one price of each class: the mean of its dual prices over time */
	AUC_PRICE_FORM_TIMED,  /* the dual prices by class and slot, smoothed */
	AUC_PRICE_FORM_MIXED,  /* half of each of the last two */
	AUC_PRICE_FORM_BOUNDS, /* one price of each TRES and role: those of bound_levels.h, not of a
				  fit */
	AUC_PRICE_FORM_FORMS,
	AUC_PRICE_FORM_DUAL = AUC_PRICE_FORM_FORMS /* the dual prices themselves: not to sell by */
};

struct auc_price_choice {
	enum auc_price_form form;
	double factor; /* by which they are multiplied, >= 0 */
};

/* For the servers, types and window length of M, sold by POLICY with OPTIONS. AUC_EINVAL: a
 * baseline; AUC_ENOMEM. */
enum auc_code auc_dual_prices_create(const struct auc_market *m, const struct auc_policy *policy,
				     const char *options, struct auc_dual_prices **l,
				     struct auc_err *err);
void auc_dual_prices_destroy(struct auc_dual_prices *l);
/* L's first fit goes on from the last one of ORIGIN, which was created for the same servers and
 * must stay. */
void auc_dual_prices_follow(struct auc_dual_prices *l, const struct auc_dual_prices *origin);
/* From now on W (NULL: nobody; must stay) is asked before each quote; it can stop a step:
 * AUC_ESTATE. */
void auc_dual_prices_set_cancel(struct auc_dual_prices *l, const struct auc_cancel *w);

/*
 * Begins a fit of ITERATIONS for M, which has the servers and types L was created for, as it is
 * booked now: from slot FROM on, JOBS[N] (dual.h) are expected, each as often as its weight says;
 * those that arrive before FROM are left out. Afterwards neither is needed any more.
 */
enum auc_code auc_dual_prices_begin(struct auc_dual_prices *l, const struct auc_market *m,
				    const struct auc_dual_job *jobs, unsigned njobs, auc_slot from,
				    unsigned iterations, struct auc_err *err);
enum auc_code auc_dual_prices_step(struct auc_dual_prices *l, struct auc_err *err);
/* Steps that are left. */
unsigned auc_dual_prices_left(const struct auc_dual_prices *l);
/* True once a fit has ended: there are prices. */
bool auc_dual_prices_ready(const struct auc_dual_prices *l);
/* Begins, and takes all steps. */
enum auc_code auc_dual_prices_fit(struct auc_dual_prices *l, const struct auc_market *m,
				  const struct auc_dual_job *jobs, unsigned njobs, auc_slot from,
				  unsigned iterations, struct auc_err *err);

/* Of the last fit that ended: what the jobs expected are worth at most, in the pool. */
double auc_dual_prices_bound(const struct auc_dual_prices *l);
/* What a unit of TRES of the market earned per slot on average when all was free. */
double auc_dual_prices_scale(const struct auc_dual_prices *l, unsigned tres);
double auc_dual_prices_at(const struct auc_dual_prices *l, const struct auc_price_choice *choice,
			  unsigned class, auc_slot t);
/*
 * The prices of CHOICE by the last fit that ended; *LIST is malloc'd, for auc_market_give_prices().
 * AUC_ENOMEM; AUC_ESTATE: no fit has ended.
 */
enum auc_code auc_dual_prices_list(const struct auc_dual_prices *l, const struct auc_market *m,
				   const struct auc_price_choice *choice,
				   struct auc_given_price **list, size_t *n, struct auc_err *err);

/*
 * All of the above at once: the prices of form AUC_PRICE_FORM_TIMED after ITERATIONS of one fit
 * from M's first slot on. *BOUND is that of the fit. WATCH (NULL: nobody) can stop it: AUC_ESTATE.
 * AUC_EINVAL: the policy does not sell; AUC_ENOMEM.
 */
enum auc_code auc_dual_prices_once(const struct auc_market *m, const struct auc_policy *policy,
				   const struct auc_dual_job *jobs, unsigned njobs,
				   unsigned iterations, const struct auc_cancel *cancel,
				   struct auc_given_price **list, size_t *n, double *bound,
				   struct auc_err *err);

/*
 * How many times as many jobs as before are to be expected, if SEEN have come since the day began
 * and EXPECTED had come by this time on a day of the past: 1, unless chance alone would hardly be
 * that far off.
 */
double auc_dual_prices_rate(double seen, double expected);
/* The same, chance or not. */
double auc_dual_prices_ratio(double seen, double expected);
/* True if that is far from 1. */
bool auc_dual_prices_level_changed(double seen, double expected);

#endif
