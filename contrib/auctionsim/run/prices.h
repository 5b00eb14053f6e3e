/*
 * prices.h - what a replay sells by: the prices that its scenario asks for, and what the jobs
 * teach.
 */
#ifndef SIM_PRICES_H
#define SIM_PRICES_H

#include "base/err.h"
#include "market/market.h"
#include "policy/policy.h"
#include "auctionsim/scenario/scenario.h"

struct prices;

/*
 * Gives M, a market of S, the prices of S for POLICY. AUC_EINVAL: the scenario's are of another
 * kind than POLICY sells by; one of sites sells by either. Free with prices_close(), also on
 * failure.
 */
enum auc_code prices_open(const struct scenario *s, const struct auc_policy *policy,
			  struct auc_market *m, struct prices **p, struct auc_err *err);
void prices_close(struct prices *p);
/* It is slot NOW, whose jobs are to be decided next. *CHANGED: M has other prices now. */
enum auc_code prices_before(struct prices *p, struct auc_market *m, auc_slot now, bool *changed,
			    struct auc_err *err);
/* JOB, of USER (user_share.h), was decided in WHERE (M, or a market of its own): M's prices learn
 * from it, if they do. */
enum auc_code prices_learn(struct prices *p, const struct auc_market *where,
			   const struct auc_job *job, unsigned user, struct auc_market *m,
			   struct auc_err *err);

#endif
