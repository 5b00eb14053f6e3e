/*
 * eris-private.h - the inside of policy eris: eris.c sets up a quote, eris_search.c spreads the
 * chunks over slots, eris_slot.c says what training some of them costs in one slot, eris_plan.c
 * keeps the best schedule and makes it a plan, and eris_exact.c finds it in small markets.
 */
#ifndef AUC_ERIS_PRIVATE_H
#define AUC_ERIS_PRIVATE_H

#include "market/timeline.h"
#include "policy/policy.h"

#define ERIS_VARIANTS 3     /* how much a slot's traffic is shunned beyond its price */
#define ERIS_STEPS    3     /* of a decision's budget in a piece of work */
#define ERIS_TIE      1e-12 /* payoffs that differ by less, relatively, are alike */

/* An array that is made anew when a larger one is needed. */
struct eris_memory {
	void *at;
	size_t bytes;
};

/* Their numbers. */
enum {
	ERIS_READY,
	ERIS_CHUNKS,
	ERIS_LOCAL,
	ERIS_SHADOW,
	ERIS_STAMP,
	ERIS_LEFT,
	ERIS_OVER,
	ERIS_NOWHERE,
	ERIS_LIE,
	ERIS_NEED,
	ERIS_REACH,
	ERIS_COST,
	ERIS_CHOICE,
	ERIS_DONE,
	ERIS_PATH,
	ERIS_MOST,
	ERIS_SLICES,
	ERIS_BEST,
	ERIS_ORDER,
	/* of eris_search.c */
	ERIS_ONE_COST,
	ERIS_ONE_CHOICE,
	/* of eris_slot.c */
	ERIS_SITES,
	ERIS_PARTS,
	ERIS_HOME,
	ERIS_MERGED,
	ERIS_HEAP,
	/* of eris_exact.c */
	ERIS_EXACT_COST,
	ERIS_EXACT_DONE,
	ERIS_TAKEN,
	ERIS_DIGITS,
	/* of the simulator's eris_paper.c */
	ERIS_PAIRS,
	ERIS_HERE,
	ERIS_MEMORIES
};

/* Units FROM to TO of a site, on the lower hull of what they cost there. */
struct eris_part {
	unsigned site, from, to;
	double rate; /* of a unit */
};

/* A server that one slot may use. */
struct eris_site {
	unsigned server;
	unsigned fit, home; /* workers; beside a PS */
	bool hosts_ps;
	double price, ps;     /* of a worker, of the PS */
	double shadow;        /* what a unit that lies here is worth for other slots */
	unsigned local;       /* units that lie here */
	unsigned first, last; /* its parts, away from the PS */
	unsigned taken;       /* units, scratch of a fill; what they cost and send */
	double cost;
	int64_t bytes;
	bool full; /* no more fits, the same */
};

/* How a slot trains some units. */
struct eris_choice {
	unsigned ps; /* server of the PS */
	unsigned variant;
};

/* One slot that is being looked at. */
struct eris_slot {
	unsigned slot, most; /* units that are asked for */
	double alpha;        /* price of a byte */
	double shun;         /* what is added to it when ways are compared */
	int64_t left;        /* bytes of the budget */
	bool tight;          /* some way would have sent more than that */
	unsigned nsites, nparts, nmerged;
	struct eris_site *sites;
	struct eris_part *parts, *home; /* by site; of the PS's site */
	struct eris_part *merged;       /* cheapest first, as far as may be needed */
	unsigned *heap;
};

/* A schedule: units by slot, and where. */
struct eris_slice {
	unsigned slot, site;    /* index, server */
	unsigned chunks, local; /* in units until the schedule is kept */
	bool ps;
	unsigned planned;
};

struct auc_policy_ctx {
	/* Looks for a pair of types: auc_eris_search(), or the simulator's printed algorithm. */
	bool (*search)(struct auc_policy_ctx *ctx);
	bool heuristic; /*  also where the exact program is small */
	unsigned effort;
	uint64_t work;   /* so far, in pieces of ERIS_STEPS steps */
	uint64_t walked; /* other steps so far */
	uint64_t limit;  /* of steps: beyond it nothing else is tried */
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
	unsigned start0;                     /* first slot index the job may use */
	uint32_t *ready;                     /* by server: first slot index at which it is usable */
	uint64_t *chunks;                    /* by server: that lie there */
	unsigned worker, ps;                 /* types; ps: index among PS types */
	double chunks_per_slot, exchange_mb; /* P and lambda with these types */
	uint64_t lump;                       /* chunks in a unit */
	unsigned units;                      /* of all the work; the last one may be smaller */
	uint64_t *need;                      /* workers by units */
	unsigned *reach;                     /* by units: how many no more workers can train */
	int64_t move_bytes, exchange_bytes;  /* of a unit, of a worker away from the PS */
	unsigned *local;                     /* by server: units that lie there */
	double *shadow;                      /* by server */
	uint64_t *stamp, stamp_now;          /* by server: it is a site of the slot */
	struct eris_slot slot;
	/* by slot index and units */
	double *cost, *done;
	struct eris_choice *choice;
	unsigned *path;    /* units by slot index */
	unsigned *most;    /* the same: that the slot was priced for */
	unsigned *left;    /* by server: units that no slot has trained where they lie */
	unsigned *nowhere; /* by server: 0 */
	unsigned *over;    /* by server: units of that kind that the path uses */
	uint64_t *lie;     /* by server: chunks, scratch */
	/* the schedule at hand, and the best one */
	unsigned nslices, nbest;
	struct eris_slice *slices, *best;
	unsigned *order, slices_most; /* scratch of as many numbers as slices */
	bool found;
	double best_payoff;
	unsigned best_completion; /* slot index */
	unsigned best_worker, best_ps;
	struct eris_memory memory[ERIS_MEMORIES];
};

static inline uint64_t auc_eris_steps(const struct auc_policy_ctx *ctx)
{
	return ctx->work * ERIS_STEPS + ctx->walked;
}

static inline bool auc_eris_is_spent(const struct auc_policy_ctx *ctx)
{
	return auc_eris_steps(ctx) > ctx->limit;
}

/* Memory number I for N elements of SIZE; what was in it is lost if it has to grow. NULL: none. */
void *auc_eris_memory(struct auc_policy_ctx *ctx, unsigned i, size_t n, size_t size);

/*
 * Looks at SLOT, with LOCAL units lying at each server and SHADOW their worth (NULL: none), for up
 * to MOST units. False: no memory.
 */
bool auc_eris_open(struct auc_policy_ctx *ctx, unsigned slot, const unsigned *local,
		   const double *shadow, unsigned most, unsigned variant);
/* Lowers COST[1..most] and sets CHOICE to what the slot at hand costs, where that is less. */
void auc_eris_price(struct auc_policy_ctx *ctx, unsigned variant, double *cost,
		    struct eris_choice *choice);
/* Lays out D units that cost COST with the PS at PS, as auc_eris_price() had it: taken of all
 * sites. */
bool auc_eris_lay_out(struct auc_policy_ctx *ctx, unsigned ps, unsigned d, double cost);

/* The best schedule of the pair of types that is found is kept. False: no memory. */
bool auc_eris_search(struct auc_policy_ctx *ctx);
/* All schedules, if there are few enough of them, the same. */
bool auc_eris_exact(struct auc_policy_ctx *ctx);

/* Begins a schedule in ctx->slices, with all units left: one slice for each unit at most, and one
 * for each slot whose PS has no worker beside it. False: no memory. */
bool auc_eris_start_slices(struct auc_policy_ctx *ctx);
/* The schedule in ctx->slices is kept if it is the best one so far. False: no memory. */
bool auc_eris_keep(struct auc_policy_ctx *ctx);
/* The kept schedule as a plan, priced as it will be charged. */
enum auc_code auc_eris_plan(struct auc_policy_ctx *ctx, struct auc_plan *plan, struct auc_err *err);

void auc_eris_set_types(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps);
/* What the job is worth when its last slot is the one before index COMPLETION. */
double auc_eris_value(const struct auc_policy_ctx *ctx, unsigned completion);
/* How many workers fit on SERVER beside a PS; -1: the PS does not fit. */
int64_t auc_eris_home(const struct auc_policy_ctx *ctx, unsigned slot, unsigned server);

#endif
