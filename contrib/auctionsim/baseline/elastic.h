/*
 * elastic.h - the inside of the baselines of OASiS (elastic.c), for elastic.c and for the
 * simulator, which has Dorm's integer program beside its rule.
 */
#ifndef SIM_ELASTIC_H
#define SIM_ELASTIC_H

#include "policy/free_room.h"
#include "policy/stepper.h"

#define DORM_CHANGED 0.2 /* share of the running jobs that dorm may change at a time */

enum elastic_kind { ELASTIC_FIFO, ELASTIC_DRF, ELASTIC_RRH, ELASTIC_DORM };

struct elastic_job {
	uint64_t id, number; /* number: in the order of arrival */
	auc_slot arrival;
	struct auc_utility utility;
	unsigned worker_type, ps_type;
	struct auc_bundle worker, ps;
	unsigned *upload; /* by server */
	int64_t left;     /* worker-slots */
	int64_t chunks, fixed;
	double share; /* dominant share of the cluster that one worker takes, with its part of a PS
		       */
	int64_t n;    /* workers, on the shares below */
	unsigned nshares;
	struct auc_share *shares; /* by server, as many as there are */
	double rank;              /* of the slot at hand: what it is sorted by */
	bool again;               /* gets workers anew */
	bool done;
};

struct auc_stepper_ctx {
	enum elastic_kind kind;
	/* In the place of dorm's rule: gives the jobs at hand workers in slot T, whose room is
	 * open. NULL: the rule */
	enum auc_code (*instead)(struct auc_stepper_ctx *ctx, auc_slot t, struct auc_err *err);
	void *arg; /* its own */
	uint64_t arrived;
	unsigned n, alloc;
	struct elastic_job **jobs; /* at hand, in the order of arrival */
	struct auc_layout *layouts;
	struct auc_free_room room;
	unsigned next, next_ps; /* servers at which the round goes on */
	bool changed;           /* a job came or went */
};

/* The rules of drf and of dorm, by kind, for slot T, whose room is open. */
void elastic_fair(struct auc_stepper_ctx *ctx, auc_slot t);
/* J keeps its layout of the slot before. False, and it has none, if others are in its place. */
bool elastic_hold(struct auc_stepper_ctx *ctx, struct elastic_job *j);

#endif
