/*
 * stepper_run.h - what a stepper (policy/stepper.h) does from a slot on if nothing else happens, as
 * the plans of its jobs: doc/executor.md, "Plans that are decided slot by slot".
 */
#ifndef AUC_STEPPER_RUN_H
#define AUC_STEPPER_RUN_H

#include "policy/stepper.h"

struct auc_stepper_run_job {
	struct auc_job job;          /* arrival: of the plan; FRESH: the course's first slot */
	bool fresh;                  /* it comes now */
	const struct auc_plan *plan; /* borrowed: the one it has; FRESH: may be NULL */
	/* the answer */
	bool left_out;        /* the stepper cannot take it: it keeps what it has */
	struct auc_plan made; /* what is before the first slot is PLAN's */
};

struct auc_stepper_run {
	const struct auc_stepper *stepper; /* one with resume() */
	const char *options;               /* its */
	auc_slot from, to;                 /* the first that it decides, the last that it may use */
	unsigned n;
	struct auc_stepper_run_job *jobs; /* in the order in which they came */
	/* Plans of others, booked in the market of the slot at hand; what does not fit is not. */
	unsigned nothers;
	const struct auc_plan *const *others;
	uint64_t limit, steps; /* it gives up beyond so many (0: never), and what it took */
};

/*
 * Fills C's answers. M: with ALONE the market as it is, and the stepper gets what is free there;
 * else one of a single slot, C->from (auc_market_outline()), which is moved along and in which
 * others, and those left out, are booked. AUC_EFULL: some job is not done by C->to, or
 * within C->limit. Free each
 * job's answer with auc_plan_clear(), whatever this returns.
 */
enum auc_code auc_stepper_run(struct auc_stepper_run *c, struct auc_market *m, bool alone,
			      struct auc_err *err);

#endif
