/*
 * user_share.h - bounds the influence of a single user on the forecast. The expected bids of one
 * user are at most as much work as those of all others together, or as the whole market can do if
 * that is more. More or fewer bids come than before only if that is true without any one user, too.
 * If all bids are of one user, they count as they are. Users who act together are not seen.
 */
#ifndef AUC_USER_SHARE_H
#define AUC_USER_SHARE_H

#include "base/err.h"

#define AUC_USER_NONE 0 /* not known: a user of its own, who is never too large */

/*
 * AMOUNT[N] >= 0 (NULL: 1 each) is what the bids of USER[N] add up to. A user may have as much as
 * the others, or ENOUGH: returns by what the amounts of the one who has more are to be multiplied,
 * and who it is in *WHO; if there is none, 1 and AUC_USER_NONE.
 */
double auc_user_share_factor(const unsigned *user, const double *amount, unsigned n, double enough,
			     unsigned *who);

struct auc_user_share_level {
	double now, before; /* bids */
};

/*
 * How many bids have come, those of NOW[N], and came before, those of BEFORE[M], WEIGHT each: all
 * of them, or all but one user's where that changes their number least (dual_prices.h). So nobody
 * alone makes it look as if more or fewer came; where all are of one user, they count as they are.
 * AUC_ENOMEM.
 */
enum auc_code auc_user_share_level(const unsigned *now, unsigned n, const unsigned *before,
				   unsigned m, double weight, struct auc_user_share_level *level,
				   struct auc_err *err);

#endif
