/*
 * stepper.h - the second kind of policy: systems that price nothing and decide anew, slot by slot,
 * which jobs run where. They may pause, resize, move and preempt; nothing is promised to a job
 * beyond the slot at hand. One file per system.
 *
 * The caller keeps the clock. For each slot t, ascending (slots may be left out where nothing is
 * to run), it calls
 *   arrive()  for each job that came, in the order of arrival: a stepper sees no job before,
 *   step()    once: the layout of slot t of every job that runs in it,
 * and then books what step() said, or carries it out. A stepper reads the market and never writes
 * it: what others hold there in slot t (reservations, sales) counts as taken, and roles are obeyed.
 * It assumes that each layout is carried out. A job belongs to it until the step that says "last",
 * or until leave().
 */
#ifndef AUC_STEPPER_H
#define AUC_STEPPER_H

#include "market/market.h"
#include "market/plan.h"
#include "policy/policy.h"

/* What one job gets in one slot. */
struct auc_layout {
	uint64_t id;
	unsigned worker_type, ps_type; /* indices in the market that the job arrived with */
	bool colocated;                /* it needs no exchange in this slot */
	bool last;                     /* all its work is done when the slot ends */
	unsigned nshares;
	const struct auc_share *shares; /* ascending by server */
	/* Of steppers of sites, as in a plan: what is sent. */
	double chunk_mb, exchange_mb;
	unsigned nmoves;
	const struct auc_move *moves;
};

/* One chunk of a job whose chunks are bound to workers. */
struct auc_chunk {
	unsigned server, worker; /* worker: which of its type on that server, from 0 */
	unsigned preemptions;    /* how often it was stopped before it was done */
	unsigned nruns;
	const struct auc_span *runs; /* the slots it was trained in, ascending, maximal */
};

struct auc_stepper_ctx; /* all that a stepper knows, its jobs too; one for each market */

struct auc_stepper {
	const char *name;
	const char *summary;
	bool sites; /* it reads where chunks of a job lie: see policy.h */
	/* OPTIONS is "key=value,..." or ""; unknown options are errors. */
	enum auc_code (*create)(const char *options, struct auc_stepper_ctx **ctx,
				struct auc_err *err);
	void (*destroy)(struct auc_stepper_ctx *ctx);
	/*
	 * A job comes at the start of the next slot to be stepped, JOB->arrival. ID is the
	 * caller's, unique among the jobs at hand. M is the market, or one with the same servers,
	 * slots and TRES whose further TRES and types are JOB's own; neither is looked at after the
	 * call. *REASON: none, and it is admitted; or capacity, for it would not run on an empty
	 * cluster.
	 */
	enum auc_code (*arrive)(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				struct auc_err *err);
	/*
	 * Decides slot T, later than any before. *LAYOUTS (*N of them, in an order that depends on
	 * nothing but the calls so far) are valid until the next call. Together they fit in what is
	 * free in slot T of M, the market. The same calls give the same layouts on every compiler
	 * and level.
	 */
	enum auc_code (*step)(struct auc_stepper_ctx *ctx, const struct auc_market *m, auc_slot t,
			      const struct auc_layout **layouts, unsigned *n, struct auc_err *err);
	/* A job goes before its work is done. AUC_ENOENT: there is none of that id. */
	enum auc_code (*leave)(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err);
	/*
	 * NULL: its jobs are not chunk by chunk. Else the chunks of a job at hand, or of one whose
	 * last layout the latest step gave; valid until the next call. AUC_ENOENT.
	 */
	enum auc_code (*chunks)(struct auc_stepper_ctx *ctx, uint64_t id,
				const struct auc_chunk **chunks, unsigned *n, struct auc_err *err);
	/*
	 * NULL of both: it cannot go on from a plan. keep() puts the chunks of a job that chunks()
	 * has, and what else is to be known, into PLAN, which has none. resume(), instead of
	 * arrive(), takes JOB, of arrival PLAN->arrival, as PLAN says it stands when slot T, the
	 * next to be stepped, begins; jobs are resumed in the order in which they arrived and
	 * before others arrive. What follows is the same as if the stepper had had the job all the
	 * time. AUC_ESTATE: PLAN is not one of this JOB in this M.
	 */
	enum auc_code (*keep)(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_plan *plan,
			      struct auc_err *err);
	enum auc_code (*resume)(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				uint64_t id, const struct auc_job *job, const struct auc_plan *plan,
				auc_slot t, struct auc_err *err);
	/* NULL: it has none. A sentence about how it decided so far, malloc'd; NULL: no memory. */
	char *(*remark)(const struct auc_stepper_ctx *ctx);
};

extern const struct auc_stepper auc_stepper_aonline;

#endif
