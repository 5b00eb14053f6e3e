/*
 * users.h - what a single user can make of the past: no user counts for more than all the others
 * together. However much one bids, expected bids at most double for it; who leaves halves them at
 * most. Where all bids are of one user, they count as they are. Several users who act together are
 * not seen.
 */
#ifndef AUC_USERS_H
#define AUC_USERS_H

#define AUC_USER_NONE 0 /* not known: a user of its own, who is never too large */

/*
 * AMOUNT[N] >= 0 (NULL: 1 each) is what the bids of USER[N] add up to. Returns by what the amounts
 * of the one user who has more than half of it all are to be multiplied, and who it is in *WHO;
 * if there is none, 1 and AUC_USER_NONE.
 */
double auc_users_share(const unsigned *user, const double *amount, unsigned n, unsigned *who);
/* What the amounts are together if those of that user are multiplied so. */
double auc_users_sum(const unsigned *user, const double *amount, unsigned n);

#endif
