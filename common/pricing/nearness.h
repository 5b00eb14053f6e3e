/*
 * nearness.h - what a near slot is still worth to later bids.
 *
 * A job cannot use a slot before its data are there, and a job of several slots in a row needs all
 * of them. Of the windows of D slots that contain the slot N slots away, only those that begin
 * FIRST slots from now or later can still be bought: N - FIRST + 1 of D. So what is left in near
 * slots is worth little to others, and in the next slots of a cloud nothing; jobs that are sold
 * already may use it. FIRST and D are measured for each partition from the plans bought there: the
 * fewest slots ahead, and the mean length.
 */
#ifndef AUC_NEARNESS_H
#define AUC_NEARNESS_H

#include "market/market.h"
#include "market/plan.h"

/* Of a partition of which fewer plans are known, nothing is. */
#define AUC_NEARNESS_PLANS 10
/* The least share: no more is taken of what nobody else can use than is needed. */
#define AUC_NEARNESS_LEAST 0.01

struct auc_nearness;

/* For the partitions of M. NULL: no memory. */
struct auc_nearness *auc_nearness_create(const struct auc_market *m);
void auc_nearness_destroy(struct auc_nearness *a);
/* PLAN, for servers of M, was bought by a job that came in its slot of arrival. */
void auc_nearness_add(struct auc_nearness *a, const struct auc_plan *plan);
/* What is left of the worth of SERVER's slot N slots ahead: AUC_NEARNESS_LEAST to 1; 1 where
 * nothing is known. */
double auc_nearness_share(const struct auc_nearness *a, unsigned server, auc_slot n);
/* Multiplies the prices of M, which has the servers that A was made for, by that, as it is slot
 * NOW. Bookings do not change them from then on. */
void auc_nearness_discount(const struct auc_nearness *a, struct auc_market *m, auc_slot now);

#endif
