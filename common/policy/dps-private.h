/*
 * dps-private.h - the inside of policy dps, for dps.c, which searches, and dps_bounds.c, which
 * tells it what a window costs at least.
 */
#ifndef AUC_DPS_PRIVATE_H
#define AUC_DPS_PRIVATE_H

#include "market-private.h"
#include "policy/policy.h"

/* Worker counts per lane for which bounds are tabled; fewer if the tables would be too large. */
#define DPS_LEVELS 64

/* One worker type and placement: what bounds are kept for. */
struct lane {
	unsigned worker;
	bool colocated;
	unsigned dmin, dmax; /* durations that any PS type can give */
	double slots;        /* workers times duration, the least of all durations */
	double floor;        /* what any of its schedules costs at least, if the quote's is there */
	unsigned nlevels;
	int64_t level[DPS_LEVELS]; /* worker counts, ascending */
	int64_t room; /* while windows of one completion are gone through: workers that fit */
};

/* By server: sums of price and minima of fit of one type over [completion - d, completion - 1]. */
struct window {
	unsigned completion, d; /* slot indices; d 0: empty */
	double *sum;
	int32_t *fit;
};

/* The servers usable in a window by ascending (sum, -fit, index), as far as they were needed. */
struct filler {
	unsigned worker, completion, d;
	const double *sum;
	const int32_t *fit;
	unsigned nheap, ntaken;
	uint32_t *heap, *taken;
	int64_t *workers; /* by rank: workers that the servers up to this one hold */
	double *cost;     /* by rank: what those cost */
	uint32_t *rank;   /* by server: 1 + rank, 0 not taken */
};

/* One schedule. */
struct choice {
	double value, cost;
	unsigned completion, start; /* slot indices */
	unsigned nservers, worker, ps;
	bool colocated;
	unsigned ps_server;
	int64_t n, here, z; /* workers, those on the PS server, PSs */
};

struct auc_policy_ctx {
	struct auc_dps_paper *paper; /* variant=paper; NULL: exact */
	bool bounds;
	/* dimensions the memory is made for */
	unsigned nservers, slots, nrows, nworkers, nps, levels;
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
	unsigned start0; /* first slot index the job may use */
	uint32_t *ready; /* by server: first slot index at which it is usable */
	bool found;
	struct choice best;
	double best_payoff;
	double top_payoff; /* the highest seen: the best one is as good but for rounding */
	unsigned nlanes;
	struct lane *lanes;
	/* by lane and d: the fewest workers of that duration, the largest level below, count /
	 * level */
	int64_t *fewest;
	uint8_t *level_of;
	double *ratio;
	double *bound; /* by lane, slot index and level: cost of the slots before (prefix sums) */
	double *block; /* by lane, row of the market and level: cost in that block alone */
	int64_t *block_room;    /* by lane and row: no more workers than that fit */
	uint8_t *block_done;    /* by lane and row: both are there */
	double *ps_block;       /* by PS type and row: cheapest PS; < 0 not there yet */
	double *ps_bound;       /* by slot index: cheapest PS of any type (prefix sums) */
	double floor;           /* what any schedule costs at least; < 0: not there yet */
	double keep;            /* factor that takes off bounds what rounding may have added */
	double *value;          /* by completion: utility */
	double *least;          /* by completion: lowest bound of a window */
	unsigned nopen, *open;  /* lanes at hand */
	unsigned bounded;       /* slot indices below this have their bounds */
	double *work;           /* by worker type, PS type, placement */
	struct window *windows; /* by type */
	struct filler filler;
	unsigned *take; /* by server: workers of the final layout */
	void *memory[32];
	unsigned nmemory;
};

/* Adds the lane of one worker type and placement if the job may use it. */
void auc_dps_add_lane(struct auc_policy_ctx *ctx, unsigned worker, bool colocated);
/* Brings the bounds up to slot index SLOT. */
void auc_dps_extend_bounds(struct auc_policy_ctx *ctx, unsigned slot);
/* Finds the floors: what schedules cost at least, at the lowest prices of all slots. */
void auc_dps_find_floor(struct auc_policy_ctx *ctx);
/* A better bound than dps_bound_of(): workers change servers at the borders of blocks only. *ROOM:
 * no more workers than that fit. */
double auc_dps_block_bound(struct auc_policy_ctx *ctx, unsigned lane, unsigned start, unsigned end,
			   int64_t *room);
/* The same for one PS. */
double auc_dps_ps_block_bound(struct auc_policy_ctx *ctx, unsigned ps, unsigned start,
			      unsigned end);

static inline double *dps_work_of(struct auc_policy_ctx *ctx, unsigned worker, unsigned ps,
				  bool colocated)
{
	return &ctx->work[(worker * ctx->nps + ps) * 2 + colocated];
}

/* What the fewest workers of a lane cost at least in the window. */
static inline double dps_bound_of(const struct auc_policy_ctx *ctx, unsigned lane,
				  unsigned completion, unsigned d)
{
	size_t base = (size_t)lane * (ctx->slots + 1);
	unsigned level = ctx->level_of[base + d];

	return (ctx->bound[(base + completion) * ctx->levels + level] * ctx->keep -
		ctx->bound[(base + completion - d) * ctx->levels + level]) *
	       ctx->ratio[base + d];
}

/* What one PS of any type costs at least in the window. */
static inline double dps_least_ps(const struct auc_policy_ctx *ctx, unsigned completion, unsigned d)
{
	double ps = ctx->ps_bound[completion] * ctx->keep - ctx->ps_bound[completion - d];

	return ps > 0 ? ps : 0;
}

#endif
