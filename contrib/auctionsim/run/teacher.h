/*
 * teacher.h - what the days of the past, and the jobs of the day so far, teach about prices
 * (common/pricing/dual/dual_prices.h), for one scenario.
 */
#ifndef SIM_TEACHER_H
#define SIM_TEACHER_H

#include "base/err.h"
#include "pricing/guard.h"
#include "pricing/dual/dual_prices.h"
#include "market/market.h"
#include "policy/policy.h"
#include "auctionsim/scenario/scenario.h"

struct teacher;

/*
 * For scenario S sold by POLICY, from the jobs of DAYS[N] but that of index WITHOUT (N: none is
 * left out); if that is the only one, from every other of its jobs, counted twice. None left: from
 * the day's own jobs alone, as they come, and the fewer there are, the lower are prices. DAYS must
 * stay. AUC_EINVAL: a job with types of its own, which teaches nothing.
 */
enum auc_code teacher_create(const struct scenario *s, const struct auc_policy *policy,
			     struct scenario *const *days, unsigned n, unsigned without,
			     struct teacher **t, struct auc_err *err);
void teacher_destroy(struct teacher *t);
void teacher_choose(struct teacher *t, const struct auc_guard_choice *choice);
/* Does the choice give prices that hold all day? */
bool teacher_is_fixed(const struct teacher *t);
/*
 * From now on, once many more or fewer jobs have come than in the past, prices are fitted again as
 * the day goes on, whatever was chosen, and once they are other jobs (drift.h), as if there was no
 * past; did that happen?
 */
void teacher_watch(struct teacher *t);
bool teacher_moved(const struct teacher *t);
/* The prices that the choice begins the day with; *LIST is malloc'd. */
enum auc_code teacher_list(const struct teacher *t, const struct auc_market *m,
			   struct auc_given_price **list, size_t *n, struct auc_err *err);

/* The day begins in M: gives it prices, if the scenario's are taught. */
enum auc_code teacher_open(struct teacher *t, struct auc_market *m, struct auc_err *err);
/* It is slot NOW, whose jobs are to be decided next: gives M other prices, if there are any, and
 * makes *CHANGED true. */
enum auc_code teacher_before(struct teacher *t, struct auc_market *m, auc_slot now, bool *changed,
			     struct auc_err *err);
/* What slots cost by the last fit, for jobs that wait (rearrange_search.h), not to sell by. *LIST
 * is malloc'd; none where nothing was fitted yet, or the day does not sell by what fits find. */
enum auc_code teacher_costs(const struct teacher *t, const struct auc_market *m,
			    struct auc_given_price **list, size_t *n, struct auc_err *err);
/* JOB, of USER (user_share.h), was decided. */
enum auc_code teacher_heard(struct teacher *t, const struct auc_job *job, unsigned user,
			    struct auc_err *err);

#endif
