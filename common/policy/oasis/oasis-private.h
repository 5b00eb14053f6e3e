/*
 * oasis-private.h - the inside of policy oasis, for oasis.c, oasis_search.c, which spreads the work
 * over slots, and oasis_slot.c, which says what workers cost in one slot.
 */
#ifndef AUC_OASIS_PRIVATE_H
#define AUC_OASIS_PRIVATE_H

#include "market/timeline.h"
#include "policy/policy.h"

#define OASIS_TABLE_CELLS (INT64_C(16) << 20) /* of done[] */

/*
 * One pair of types. Work is done in units: option d of a slot, 1 <= d <= options, does d units
 * with workers[d] workers and pss[d] PSs. A unit is a worker-slot, so that workers[d] is d; where
 * that would make the tables too large it is several of them; with variant=paper it is one pass
 * over a chunk.
 */
struct oasis_pair {
	unsigned worker, ps; /* types; ps: index among PS types */
	unsigned units;      /* of all the work */
	unsigned options;
	int64_t *workers, *pss; /* by option, ascending; none for option 0 */
	bool shared;            /* there is a TRES that both types use */
};

/* One slot's workers and PSs, by ascending server. */
struct oasis_layout {
	unsigned n;
	struct auc_share *shares;
};

/* What the costs of a slot are. */
enum oasis_costs {
	OASIS_NONE,  /* not there yet */
	OASIS_APART, /* exact: no server has both workers and PSs that are in each other's way */
	OASIS_BOUND, /* lower bounds, or what oasis_how says of an option */
};

/* What is known of one option where there are such servers. */
enum oasis_how {
	OASIS_NOT_YET, /* a lower bound */
	OASIS_EXACT,
	OASIS_GREEDY, /* steps ran out: it can be had for that, and may cost less */
};

/* An array that is made anew when a larger one is needed. */
struct oasis_memory {
	void *at;
	size_t bytes;
};

#define OASIS_SLOT_MEMORIES 8  /* the first ones are oasis_slot.c's */
#define OASIS_SEARCH_MEMORY 25 /* and from here on those of oasis_search.c */
#define OASIS_MEMORIES      35

#define OASIS_TIE 1e-12 /* payoffs that differ by less than that part of value + cost are equal */

struct oasis_schedule {
	bool found;
	unsigned completion; /* slot index */
	double value, cost;
};

struct auc_policy_ctx {
	/* The units of work and the options of a slot of the pair at hand, up to MOST workers;
	 * false: it cannot be. The exact ones, or the simulator's printed ones. */
	bool (*size)(struct auc_policy_ctx *ctx, int64_t most, double *unit);
	bool bounds;
	/* the steps of the quote at hand; beyond LIMIT, of the pair at hand, nothing else is tried
	 */
	uint64_t steps, limit;
	bool cut;     /* LIMIT was met: by the pair at hand */
	double upper; /* of pairs that were cut: no payoff is above that */
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
	unsigned start0; /* first slot index the job may use */
	uint32_t *ready; /* by server: first slot index at which it is usable */
	struct oasis_pair pair;
	/* of the pair at hand, by slot index (and option, INFINITY where that is not possible) */
	enum oasis_costs *costs;
	unsigned *same; /* the first slot of those before it without a gap that are the same */
	uint8_t *stale; /* its costs changed since it got its hull */
	double *cost;
	double *low;    /* what they cost at least; the same but for enum oasis_how, GREEDY */
	uint8_t *how;   /* enum oasis_how */
	unsigned *most; /* the largest option that is possible */
	unsigned *path; /* the option taken */
	/* of the pass over all units */
	unsigned *reached; /* the most units that can be done before a slot */
	double *done;      /* and by units: the least cost of having done them before that slot */
	/* of the search */
	unsigned nopen;         /* the slots before it are priced and have a hull */
	unsigned *ncorners;     /* by slot index: corners of the hull of its costs */
	unsigned *corners;      /* those options, ascending; options + 1 places a slot */
	unsigned *base, *trial; /* options: of the relaxation, of a schedule */
	struct oasis_layout layout, before;
	/* the best schedule so far, whose plan is in the decision */
	struct oasis_schedule best;
	struct oasis_memory memory[OASIS_MEMORIES];
};

/* Memory number I for N elements of SIZE; what was in it is lost if it has to grow. NULL: none. */
void *auc_oasis_memory(struct auc_policy_ctx *ctx, unsigned i, size_t n, size_t size);

/* What the pair's options cost in a slot that is priced. */
static inline double *auc_oasis_cost_of(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->cost + (size_t)(slot - ctx->start0) * (ctx->pair.options + 1);
}

static inline double *auc_oasis_low_of(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->low + (size_t)(slot - ctx->start0) * (ctx->pair.options + 1);
}

static inline uint8_t *auc_oasis_how_of(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->how + (size_t)(slot - ctx->start0) * (ctx->pair.options + 1);
}

/* The same with what was in it kept. */
void *auc_oasis_grow(struct auc_policy_ctx *ctx, unsigned i, size_t n, size_t size);
/* oasis.c: what the job is worth if it completes there. */
double auc_oasis_value_at(const struct auc_policy_ctx *ctx, unsigned completion);
/* Lowers TO[N] to FROM[N] + ADD where that is less: nearly all the time of a decision. */
void auc_oasis_lower(double *restrict to, const double *restrict from, double add, size_t n);
/* Whether A goes before B, which may be none: a better payoff, or the same one earlier. */
bool auc_oasis_is_better(const struct oasis_schedule *a, const struct oasis_schedule *b);
/* Sees to it that the costs of a slot are there, bounds or exact. False: no memory. */
bool auc_oasis_price_slot(struct auc_policy_ctx *ctx, unsigned slot);
/*
 * Makes the costs exact that PATH uses in slots before END. *CHANGED: what it uses costs more than
 * its lower bound. False: no memory.
 */
bool auc_oasis_make_exact(struct auc_policy_ctx *ctx, const unsigned *path, unsigned end,
			  bool *changed);

/* oasis_search.c: the best schedule of the pair, its options in ctx->path; none if not found or not
 * better than ctx->best. False: no memory. */
bool auc_oasis_search(struct auc_policy_ctx *ctx, struct oasis_schedule *best);

/* Of the pair that was searched last, no payoff is above *UPPER. False: no memory. */
bool auc_oasis_upper(struct auc_policy_ctx *ctx, double *upper);

/*
 * oasis_slot.c.
 * What the pair's options cost in a slot, COST[0..options], and the largest that is possible:
 * OASIS_APART or OASIS_BOUND, OASIS_NONE: no memory.
 */
enum oasis_costs auc_oasis_slot_bound(struct auc_policy_ctx *ctx, unsigned slot, double *cost,
				      unsigned *most);
/* Whether all servers are in SLOT as they were in the one before, as far as the pair sees. */
bool auc_oasis_slot_repeats(const struct auc_policy_ctx *ctx, unsigned slot);
/* The same of one option where that gave a bound, which may be too low: exact, or what is found
 * within the limit of steps and, in *LOW, what it costs at least. False: no memory. */
bool auc_oasis_slot_option(struct auc_policy_ctx *ctx, unsigned slot, unsigned d, double *low);
/* On which servers option D of a slot is, whose cost is known. False: no memory. */
bool auc_oasis_slot_layout(struct auc_policy_ctx *ctx, unsigned slot, unsigned d,
			   struct oasis_layout *layout);

#endif
