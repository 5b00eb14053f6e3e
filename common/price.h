/*
 * price.h - the unit price of a TRES as a function of what is already sold, DPS equation (20):
 *
 *   price(used) = eta ^ (used / capacity) - 1        credits per unit and slot
 *
 * with one base eta >= 1 per TRES. This is the one place where prices are computed; market.c caches them.
 */
#ifndef AUC_PRICE_H
#define AUC_PRICE_H

#include "conf.h"
#include "err.h"

struct auc_market;
struct auc_job;

struct auc_price {
	unsigned neta;
	struct auc_named eta[AUC_TRES_MAX]; /* by TRES name; a TRES not named has eta 1 (free) */
};

/* eta^(used/capacity) - 1, used and capacity in the same unit, capacity > 0; exactly 0 at used 0 or eta 1. */
double auc_price_unit(double eta, double used, double capacity);

/*
 * What one job says about the bases (DPS section 4.2, per TRES): ratio[k] = max over its worker type, PS type, placement and
 * worker count of f(Delta_min + d) / (TRES k units x slots of that schedule), 0 where it cannot use k. eta_k is the maximum over
 * jobs of the ratio, plus 1. RATIO has auc_market_ntres() entries.
 */
void auc_price_ratios(const struct auc_market *m, const struct auc_job *job, double *ratio);

#endif
