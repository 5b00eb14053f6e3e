/*
 * rearrange.h - room for a new job by placing another one anew, which is sold and has not begun.
 *
 * A schedule that was the best when it was sold stands in the way of better ones later. Where a
 * bid finds no schedule that is as good as if those jobs were not there, each of them that is in
 * the way is taken out of the market in turn; if the new job can be placed then, and the other one
 * again so that it completes no later, at less than what the new job gains by it, both are.
 * Whoever is placed anew is worth as much as before or more, and pays what it was sold for. The
 * new job pays for its own schedule, and what the other's costs more at today's prices than the
 * one that it had. That price does not depend on its bid.
 */
#ifndef SIM_REARRANGE_H
#define SIM_REARRANGE_H

#include "policy/policy.h"

#define REARRANGE_TRIES 8 /* jobs that are taken out for one bid, those most in the way first */
#define REARRANGE_NONE  (~0u)

struct rearrange {
	struct auc_market *market;
	/* Jobs that may be placed anew, not before slot FROM: their plans are in the market and
	 * begin there or later. */
	auc_slot from;
	unsigned n;
	const struct auc_plan *const *plans;
	/* Who has plans[I], as auc_job_resolve() makes it for plans[I]->arrival. Not AUC_OK: it
	 * stays where it is. */
	enum auc_code (*job)(void *arg, unsigned i, struct auc_job *job, struct auc_err *err);
	/* The decision on JOB in the market as it is. */
	enum auc_code (*quote)(void *arg, struct auc_job *job, struct auc_decision *d,
			       struct auc_err *err);
	void *arg;
};

/*
 * D: the decision on JOB. Where a better one can be had, it becomes D, with all that JOB pays in
 * the plan's cost, *WHICH the index of who makes room, and MOVED its new plan, with arrival and
 * cost of the old one. Else *WHICH is REARRANGE_NONE, and D stays. The market is as before in
 * both cases: the caller takes the old plan out, and books both. An error is one of the callbacks',
 * or AUC_ENOMEM.
 */
enum auc_code rearrange(const struct rearrange *x, struct auc_job *job, struct auc_decision *d,
			unsigned *which, struct auc_plan *moved, struct auc_err *err);

#endif
