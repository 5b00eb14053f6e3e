/*
 * plan.h - a schedule: which worker type and PS type, how many of each on which servers, in which
 * slots, and what it is worth and costs. Layouts are runs of slots with the same shares (dps: one
 * run).
 */
#ifndef AUC_PLAN_H
#define AUC_PLAN_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "market/market.h"
#include "base/num.h"

struct auc_share {
	unsigned server;
	unsigned workers, ps; /* not both 0; a node of a gang: 1 and 0 */
};

struct auc_run {
	auc_slot from, to; /* inclusive */
	unsigned first_share, nshares;
};

/* Chunks that are moved to be trained elsewhere in that slot. */
struct auc_move {
	auc_slot slot;
	unsigned from, to; /* servers */
	unsigned chunks;
};

/* Slots, inclusive. */
struct auc_span {
	auc_slot from, to;
};

/* One chunk of a job whose chunks are bound to workers: it never leaves its server. */
struct auc_plan_chunk {
	unsigned server, worker; /* worker: which of its type on that server, from 0 */
	unsigned first_span,
		nspans; /* of the plan's: the slots it is trained in, ascending, maximal */
};

struct auc_plan {
	/*
	 * A gang's: each share is a node that gives AMOUNT, by TRES of the market; SHAPE is which
	 * of the job's shapes that is. It has no types, and one run until it moves.
	 */
	bool gang;
	bool within_switch; /* all of its nodes are on one switch, and stay so */
	bool whole;         /* all that its nodes have is its own: AMOUNT is that */
	bool block;         /* it is no job: its nodes are reserved, for jobs of its owner's */
	/* Of a block: for how many slots nodes of it could not be used, in all, since it began. */
	double missing;
	unsigned shape;
	double amount[AUC_TRES_MAX];
	unsigned worker_type, ps_type;
	bool colocated;
	auc_slot arrival, start, completion; /* completion = last slot used + 1 */
	unsigned lost; /* slots of it that could not be had, and are paid back at its settlement */
	double value;  /* f(completion - arrival), credits */
	double cost;   /* sum of unit prices x amounts over the plan: what was minimised */
	/* Credits: the most that its first slots, however many of them, cost on the mean when it
	 * was sold; 0: no more than all of them. Who needs but those pays for them by this. */
	double front;
	unsigned nruns, runs_alloc;
	struct auc_run *runs;
	unsigned nshares, shares_alloc;
	struct auc_share *shares; /* by run, ascending server index */
	double chunk_mb,
		exchange_mb; /* what a moved chunk sends; a worker where no PS is, in a slot */
	unsigned nmoves, moves_alloc;
	struct auc_move *moves; /* ascending by slot, from, to */
	/* Of a plan that a stepper gives (stepper.h); else none. */
	unsigned nchunks, chunks_alloc;
	struct auc_plan_chunk *chunks;
	unsigned nspans, spans_alloc;
	struct auc_span *spans; /* by chunk */
	auc_slot due; /* by when the stepper counts on it; 0: it has not seen the job among others
			 yet */
};

/* Zeroes a plan; makes it empty but keeps its memory; frees what it holds. */
void auc_plan_init(struct auc_plan *p);
void auc_plan_reset(struct auc_plan *p);
void auc_plan_clear(struct auc_plan *p);
enum auc_code auc_plan_copy(struct auc_plan *to, const struct auc_plan *from, struct auc_err *err);
/* Building: a run, then its shares in ascending server order. */
enum auc_code auc_plan_add_run(struct auc_plan *p, auc_slot from, auc_slot to, struct auc_err *err);
enum auc_code auc_plan_add_share(struct auc_plan *p, unsigned server, unsigned workers, unsigned ps,
				 struct auc_err *err);
/* Its chunks, and the slots in which the last one is trained (a span that follows the last one
 * without a gap joins it). */
enum auc_code auc_plan_add_chunk(struct auc_plan *p, unsigned server, unsigned worker,
				 struct auc_err *err);
enum auc_code auc_plan_add_span(struct auc_plan *p, auc_slot from, auc_slot to,
				struct auc_err *err);
/* True if runs, chunks and all else that a plan says of slots are the same. */
bool auc_plan_same(const struct auc_plan *a, const struct auc_plan *b);
enum auc_code auc_plan_add_move(struct auc_plan *p, auc_slot slot, unsigned from, unsigned to,
				unsigned chunks, struct auc_err *err);
/* AUC_EINVAL unless P's arrival, start and completion agree with its runs. */
enum auc_code auc_plan_check(const struct auc_plan *p, struct auc_err *err);
/* What WORKERS and PSS of P's types take of TRES; if P is a gang's, what WORKERS nodes of it do. */
double auc_plan_amount(const struct auc_plan *p, const struct auc_market *m, unsigned workers,
		       unsigned pss, unsigned tres);
/* MB that P sends in slot T of RUN. */
double auc_plan_traffic(const struct auc_plan *p, const struct auc_run *run, auc_slot t);
/* Recomputes the cost at the market's present prices, slot by slot, ascending server and TRES, then
 * what it sends: the definition of payment. */
double auc_plan_cost(const struct auc_plan *p, const struct auc_market *m);
/* What its slots cost their owner (auc_market_set_cost()): no less is paid for it, if it is worth
 * that. */
double auc_plan_floor(const struct auc_plan *p, const struct auc_market *m);
/* FRONT at the market's present prices. */
double auc_plan_front(const struct auc_plan *p, const struct auc_market *m);
/* The money to charge: cost to the nearest micro-credit, never above the value (rounded down),
 * never negative. */
auc_money auc_plan_payment(const struct auc_plan *p);
auc_money auc_plan_value(const struct auc_plan *p); /* value rounded down to micro-credits */

struct json_object;
/*
 * JSON of the plan, names instead of indices:
 * {"worker_type","ps_type","colocated","arrival","start","completion",
 * "plan":[{"from","to","workers":{server:n},"ps":{server:n}}]}, where slots were lost "lost", where
 * the first slots cost more than the others "front", with
 * chunks "due" and "chunks":[{"server","worker","runs":[[from,to],...]}]; of chunks that lie
 * somewhere "chunk_mb", "exchange_mb" and "transfers":[{"slot","from","to","chunks"}]. A gang's has
 * "shape", "per_node":{TRES:amount}, where it must be so "gang_within":"switch", "gang_block",
 * "gang_missing", and "plan":[{"from","to","nodes":[server,...]}] in place of types, "colocated"
 * and such runs. New reference; NULL: no memory.
 */
struct json_object *auc_plan_to_json(const struct auc_plan *p, const struct auc_market *m);
/* The reverse, everything checked (names exist, counts > 0, runs ordered and disjoint,
 * start/completion agree). */
enum auc_code auc_plan_from_json(struct json_object *o, const struct auc_market *m,
				 struct auc_plan *p, struct auc_err *err);
/* plan_gang.c: the members of a gang's plan that others do not have; the reverse. */
bool auc_plan_add_gang(struct json_object *o, const struct auc_plan *p, const struct auc_market *m);
enum auc_code auc_plan_read_gang(struct json_object *o, const struct auc_market *m,
				 struct auc_plan *p, struct auc_err *err);
/* True if O says that it is a gang's. */
bool auc_plan_json_is_gang(struct json_object *o);
/*
 * Of the types of the names that P has in M, takes those whose amounts are the ones in O:
 * "worker_tres" and "ps_tres", as a record or receipt of a sale has them. AUC_ENOENT: a type was
 * another one then.
 */
enum auc_code auc_plan_match_types(struct auc_plan *p, const struct auc_market *m,
				   struct json_object *o, struct auc_err *err);

#endif
