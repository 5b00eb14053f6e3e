/*
 * users.h - what a single user can make of the past: expected bids of one user are no more work
 * than those of all others together, or than the whole market can do if that is more; and in
 * counting how many bids come, one user is never more than the others. Where all bids are of one
 * user, they count as they are. Several users who act together are not seen.
 */
#ifndef AUC_USERS_H
#define AUC_USERS_H

#define AUC_USER_NONE 0 /* not known: a user of its own, who is never too large */

/*
 * AMOUNT[N] >= 0 (NULL: 1 each) is what the bids of USER[N] add up to. A user may have as much as
 * the others, or ENOUGH: returns by what the amounts of the one who has more are to be multiplied,
 * and who it is in *WHO; if there is none, 1 and AUC_USER_NONE.
 */
double auc_users_share(const unsigned *user, const double *amount, unsigned n, double enough,
		       unsigned *who);
/* What the amounts are together if no user has more than the others. */
double auc_users_sum(const unsigned *user, const double *amount, unsigned n);

#endif
