/*
 * rearrange.h - a job that is sold and has not begun, placed anew where it costs less by now.
 *
 * Prices that are fitted again as the day goes on leave jobs in slots that have become dear, where
 * others would do as well that have become cheap. Such a job moves to them: it completes no later
 * and pays what it was sold for, and what it leaves is there for whoever is worth more. Where it
 * goes does not depend on what its bid says it is worth, so that no bid gains by saying something
 * else. It keeps its types of worker and PS, and its lead workers if it had some, as Slurm cannot
 * give a job that waits for GPUs others than it asked for, or none. And it needs no more than
 * before: no more nodes, workers or PSs at a time, nowhere more but for the lead, and no more slots
 * from its begin on, so that no limit of its owner ends what it would not have ended before.
 */
#ifndef AUC_REARRANGE_H
#define AUC_REARRANGE_H

#include "policy/policy.h"

struct auc_rearrange {
	struct auc_market *market;
	auc_slot from; /* the first slot that it may have */
	/* The decision on JOB in MARKET. */
	enum auc_code (*quote)(void *arg, struct auc_job *job, struct auc_decision *d,
			       struct auc_err *err);
	void *arg;
};

/*
 * The cheapest schedule for what was sold as OLD, which is booked in the market and begins in slot
 * FROM or later; JOB is as auc_job_resolve() makes it for OLD's arrival, and is changed. *FOUND: it
 * is worth moving there, and D->plan is that schedule, with arrival and cost of OLD and what it is
 * worth then. The market is as before in any case: the caller takes OLD out and books D->plan. An
 * error is QUOTE's.
 */
enum auc_code auc_rearrange(const struct auc_rearrange *x, struct auc_job *job,
			    const struct auc_plan *old, struct auc_decision *d, bool *found,
			    struct auc_err *err);

#endif
