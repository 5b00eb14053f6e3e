/*
 * oasis-private.h - the inside of policy oasis, for oasis.c, oasis_search.c, which spreads the work
 * over slots, and oasis_slot.c, which says what workers cost in one slot.
 */
#ifndef AUC_OASIS_PRIVATE_H
#define AUC_OASIS_PRIVATE_H

#include "market/timeline.h"
#include "policy/policy.h"

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
	OASIS_BOUND, /* lower bounds */
	OASIS_JOINT, /* exact, where such servers matter */
};

/* An array that is made anew when a larger one is needed. */
struct oasis_memory {
	void *at;
	size_t bytes;
};

#define OASIS_SLOT_MEMORIES 8  /* the first ones are oasis_slot.c's */
#define OASIS_SEARCH_MEMORY 21 /* and from here on those of oasis_search.c */
#define OASIS_MEMORIES      31

#define OASIS_TIE 1e-12 /* payoffs that differ by less than that part of value + cost are equal */

struct oasis_schedule {
	bool found;
	unsigned completion; /* slot index */
	double value, cost;
};

struct auc_policy_ctx {
	bool paper, bounds;
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
	unsigned start0; /* first slot index the job may use */
	uint32_t *ready; /* by server: first slot index at which it is usable */
	struct oasis_pair pair;
	/* of the pair at hand, by slot index (and option, INFINITY where that is not possible) */
	enum oasis_costs *costs;
	double *cost;
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

/* oasis.c: what the job is worth if it completes there. */
double auc_oasis_value_at(const struct auc_policy_ctx *ctx, unsigned completion);
/* Lowers TO[N] to FROM[N] + ADD where that is less: nearly all the time of a decision. */
void auc_oasis_lower(double *restrict to, const double *restrict from, double add, size_t n);
/* Whether A goes before B, which may be none: a better payoff, or the same one earlier. */
bool auc_oasis_is_better(const struct oasis_schedule *a, const struct oasis_schedule *b);
/* Sees to it that the costs of a slot are there, bounds or exact. False: no memory. */
bool auc_oasis_price_slot(struct auc_policy_ctx *ctx, unsigned slot);
/*
 * Makes the costs of the slots before END exact that PATH uses. *CHANGED: what it uses costs more
 * than its lower bound. False: no memory.
 */
bool auc_oasis_make_exact(struct auc_policy_ctx *ctx, const unsigned *path, unsigned end,
			  bool *changed);

/* oasis_search.c: the best schedule of the pair, its options in ctx->path; none if not found or not
 * better than ctx->best. False: no memory. */
bool auc_oasis_search(struct auc_policy_ctx *ctx, struct oasis_schedule *best);

/*
 * oasis_slot.c.
 * What the pair's options cost in a slot, COST[0..options], and the largest that is possible:
 * OASIS_APART or OASIS_BOUND, OASIS_NONE: no memory.
 */
enum oasis_costs auc_oasis_slot_bound(struct auc_policy_ctx *ctx, unsigned slot, double *cost,
				      unsigned *most);
/* Whether all servers are in SLOT as they were in the one before, as far as the pair sees. */
bool auc_oasis_slot_repeats(const struct auc_policy_ctx *ctx, unsigned slot);
/* The same where that gave a bound: OASIS_JOINT. */
enum oasis_costs auc_oasis_slot_cost(struct auc_policy_ctx *ctx, unsigned slot, double *cost,
				     unsigned *most);
/* Lays out option D of a slot whose costs are COSTS. False: no memory. */
bool auc_oasis_slot_layout(struct auc_policy_ctx *ctx, unsigned slot, unsigned d,
			   enum oasis_costs costs, struct oasis_layout *layout);

#endif
