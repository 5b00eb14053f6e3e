/*
 * price.h - the unit price of a TRES as a function of what is already sold, in credits per unit and
 * slot. Two kinds:
 *
 *   eta      DPS, equation (20): eta ^ (used / capacity) - 1
 *            one base eta >= 1 for each TRES
 *   bounds   OASiS, equation (22): lower * (upper / lower) ^ (used / capacity)
 *            L <= U for each TRES and role of the server
 *
 * L and U are kept as logarithms, because L comes from the value of an urgent job at the end of the
 * horizon, which may be too small for a double. cells.c caches these prices; prices that are given
 * or fitted (pricing/tariff.h) take their place.
 */
#ifndef AUC_PRICE_H
#define AUC_PRICE_H

#include "base/err.h"
#include "base/limits.h"
#include "base/named.h"

struct auc_market;
struct auc_job;

enum auc_price_kind {
	AUC_PRICE_ETA,
	AUC_PRICE_BOUNDS,
};

/* What bounds are kept for: servers of workers, servers of PSs. One that hosts both takes the lower
 * L and the higher U. */
enum auc_price_role { AUC_PRICE_WORKER, AUC_PRICE_PS, AUC_PRICE_ROLES };

/* ln L and ln U of one TRES by role; -INFINITY is 0, and a role with U 0 says nothing. */
struct auc_price_bounds {
	char name[AUC_NAME_MAX];
	double lower[AUC_PRICE_ROLES], upper[AUC_PRICE_ROLES];
};

struct auc_price {
	enum auc_price_kind kind;
	unsigned neta;
	struct auc_named eta[AUC_TRES_MAX]; /* by TRES name; a TRES not named has eta 1 (free) */
	unsigned nbounds;
	struct auc_price_bounds bounds[AUC_TRES_MAX]; /* a TRES not named is free */
};

/* The function of one TRES on one kind of server. */
struct auc_price_curve {
	enum auc_price_kind kind;
	double eta;
	double lower, upper; /* logarithms */
};

#define AUC_PRICE_LIMIT 1e15 /* no unit price is higher: sums over a plan stay finite */

/*
 * The function that P has for the TRES NAME on servers of ROLES (AUC_ROLE_*; 0 counts as both).
 * AUC_EINVAL if what P says of it cannot be.
 */
enum auc_code auc_price_curve_of(const struct auc_price *p, const char *name, unsigned roles,
				 struct auc_price_curve *curve, struct auc_err *err);
/* Used and capacity in the same unit, capacity > 0. Kind eta: exactly 0 at used 0 or eta 1. */
double auc_price_unit(const struct auc_price_curve *c, double used, double capacity);

/* The bounds that P has for the TRES NAME; NULL: none. */
const struct auc_price_bounds *auc_price_bounds_of(const struct auc_price *p, const char *name);
/* Raises the bounds B, of either role, to those of LEAST. */
void auc_price_raise(struct auc_price_bounds *b, const struct auc_price_bounds *least);

/*
 * What one job says about the bases (DPS section 4.2, per TRES): ratio[k] = max over its worker
 * type, PS type, placement and worker count of f(Delta_min + d) / (TRES k units x slots of that
 * schedule), 0 where it cannot use k. A schedule is one that the empty servers hold all together
 * and that ends by the last slot, with the fewest PSs; whether they are those that have its data
 * first, Delta_min after its arrival, is not asked: at most, not just, the paper's maximum. eta_k
 * is the maximum over jobs of the ratio, plus 1. RATIO has auc_market_ntres() entries.
 */
void auc_price_ratios(const struct auc_market *m, const struct auc_job *job, double *ratio);
/*
 * The same of Eris (section IV.B, which says only that gamma - 1 is at least what a job is worth
 * per unit): RATIO[k] = max over its types of f(1) / (TRES k of the fewest worker-slots that its
 * chunks take, and of one PS). Returned: f(1) by the MB that all those workers exchange, or, where
 * they exchange nothing, by those of all chunks; 0 if there are none.
 */
double auc_price_site_ratios(const struct auc_market *m, const struct auc_job *job, double *ratio);

#endif
