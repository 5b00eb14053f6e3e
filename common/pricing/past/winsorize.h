/*
 * winsorize.h - no bid of the past counts for much more than others of its size.
 *
 * The value of a bid is only its owner's word, and at low prices it costs little to say too much.
 * So values are winsorized: bids are grouped by their work; a bid above the 80th percentile of its
 * group, both in value and in value per work, counts as the higher of these two percentiles. A user
 * with less than a fifth of the bids of a group cannot raise the percentiles beyond what others
 * bid. The bids of a user with more are measured by the percentiles of the others in the group
 * (with fewer than five there, by those of all that they bid). So no bid counts for more, both in
 * value and in value per work, than some bid of another user, if there is one.
 */
#ifndef AUC_WINSORIZE_H
#define AUC_WINSORIZE_H

#include "base/err.h"
#include "market/market.h"

/* FACTOR[I], 0 < FACTOR <= 1: by how much the value of JOBS[I], one of M and of USER[I]
 * (user_share.h), is to be multiplied. AUC_ENOMEM. */
enum auc_code auc_winsorize(const struct auc_market *m, const struct auc_job *const *jobs,
			    const unsigned *user, unsigned n, double *factor, struct auc_err *err);
/* Worker slots that JOB, one of M, takes on the types it is fastest on. */
double auc_winsorize_work(const struct auc_market *m, const struct auc_job *job);
/* What JOB, one of M, is worth if it ends as soon as it can; 0: it cannot be done. */
double auc_winsorize_value(const struct auc_market *m, const struct auc_job *job);
/* Worker slots that M, in which nothing is booked, has in all. */
double auc_winsorize_room(const struct auc_market *m);

#endif
