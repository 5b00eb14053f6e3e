/*
 * policy.h - the interface behind which each published system stands. One folder per policy;
 * registry.h lists them.
 */
#ifndef AUC_POLICY_H
#define AUC_POLICY_H

#include "market/market.h"
#include "market/plan.h"

enum auc_reason {
	AUC_REASON_NONE,     /* accepted */
	AUC_REASON_PAYOFF,   /* no schedule has positive payoff */
	AUC_REASON_CAPACITY, /* no feasible schedule at any price */
	AUC_REASON_PRICE,    /* the user refused a posted price */
	AUC_REASON_BUDGET,   /* there is one of positive payoff, and none that the budget pays */
	AUC_REASON_INVALID,
};
const char *auc_reason_word(enum auc_reason reason); /* "payoff", ... as in formats.md */

struct auc_decision {
	bool accepted;
	enum auc_reason reason;
	double best_payoff; /* value - cost of the best feasible schedule; only with reason none or
			       payoff */
	struct auc_plan
		plan; /* the best feasible schedule, also where its payoff is not positive */
	/* Of a policy that posts prices: it has an offer, at these prices of a worker and of a PS;
	 * the plan's cost is the sum. */
	bool offered;
	double offer[2];
	double idle[2]; /* workers and PSs of these types that were idle: answered() learns by it */
	/*
	 * Set by the caller: the most steps that a quote may take, 0: no limit. A step is some
	 * nanoseconds. Steps are counted, so that a quote is cut at the same place everywhere. Set
	 * by the quote: the steps it took, and whether it was cut. If so, PLAN is the best schedule
	 * that was found, and no schedule has a payoff above best_payoff by more than DISTANCE
	 * (INFINITY: nothing is proven); without a schedule there may still be one.
	 */
	uint64_t most_steps, steps;
	bool cut;
	/* Set by the caller: only a schedule of positive payoff matters to it. Where there is none
	 * a policy may say less of why, and be quicker. */
	bool must_pay;
	double distance;
};

/* The most steps of a decision on a bid: some 20 ms. slurmctld waits no longer, whatever the bid.
 */
#define AUC_MOST_STEPS UINT64_C(10000000)

#define AUC_ANSWER_SLOTS_MAX 1e9

/* What a policy that posts prices learns from one job; index 0: workers, 1: PSs. */
struct auc_answer {
	char type[2][AUC_NAME_MAX];
	unsigned count[2]; /* at least 1 */
	double price[2];   /* of one of each */
	double idle[2];    /* of these types, before the job */
	double slots;      /* how long it takes, 1 to AUC_ANSWER_SLOTS_MAX */
	auc_slot arrival;
	bool offered; /* false: there was no room for it */
	bool accepted;
};

/* What a quote may miss of the highest payoff, as a part of the job's highest value: rounding, and
 * ties decided by order. */
#define AUC_QUOTE_SLACK 1e-9

struct auc_stepper;
struct auc_policy_ctx; /* a policy's scratch memory and options, one per thread of decisions */

struct auc_policy {
	const char *name;
	const char *summary;
	enum auc_price_kind prices; /* what it sells by */
	/*
	 * NULL, or who decides slot by slot: nothing is priced, a job need not say what it is
	 * worth, quote() gives it a place of its own in what is free, and what the stepper says
	 * when it sees all jobs replaces that (auc_auction_revise()).
	 */
	const struct auc_stepper *stepper;
	bool gangs;      /* it takes jobs that are gangs, too */
	bool budgets;    /* it keeps to the budget of a job that is limited */
	bool sites;      /* it reads where chunks of a job lie, and what it sends: not how long
			    mini-batches take */
	bool rearranges; /* what is sold and has not begun may be placed anew (rearrange_search.h)
			  */
	bool baseline;   /* prices nothing: to compare with, not to sell by. Its market must be free
			    of prices */
	/*
	 * It posts prices: a quote does not look at the job's utility; ACCEPTED says that there is
	 * an offer, which the user takes or leaves. The plan has no value, and its cost is the
	 * offer's, not auc_plan_cost(). The caller passes the answer to answered().
	 */
	bool posts;
	/* OPTIONS is "key=value,..." or ""; unknown options are errors. */
	enum auc_code (*create)(const char *options, struct auc_policy_ctx **ctx,
				struct auc_err *err);
	void (*destroy)(struct auc_policy_ctx *ctx);
	/* NULL, or called before the first quote in M and each time M's prices or bookings have
	 * changed. */
	enum auc_code (*look)(struct auc_policy_ctx *ctx, const struct auc_market *m,
			      struct auc_err *err);
	/*
	 * The best schedule of JOB at M's prices: maximises value - cost. Payoffs that differ by
	 * rounding only are ties, decided by earliest completion, then by an order that the
	 * policy's file gives and that does not look at the bid. No schedule has a payoff that is
	 * above both 0 and best_payoff by more than AUC_QUOTE_SLACK of the job's highest value, but
	 * for policies that say in their file that they may miss it (eris). Reads only. DECISION's
	 * plan memory is reused. The plan's cost is auc_plan_cost(). The same market and job give
	 * the same decision, bit by bit, on every compiler and level. Nothing is allocated once CTX
	 * has seen a market and a job of this size.
	 */
	enum auc_code (*quote)(struct auc_policy_ctx *ctx, const struct auc_market *m,
			       const struct auc_job *job, struct auc_decision *decision,
			       struct auc_err *err);
	/*
	 * A bound from below, for what a user is told: the slots that N workers of type WORKER,
	 * which fit, take for JOB with PSs of type PS; INT64_MAX: these types never do. NULL of
	 * baselines.
	 */
	int64_t (*least_slots)(const struct auc_market *m, const struct auc_job *job,
			       unsigned worker, unsigned ps, int64_t n);
	/* NULL, or told of each decision that was booked, in the order of booking: baselines look
	 * back. */
	void (*booked)(struct auc_policy_ctx *ctx, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_decision *decision);
	/*
	 * Of a policy that posts prices, else NULL: told of the decision on each job that really
	 * came, whether its user took the offer; false where there was none. That is all it ever
	 * learns of what users would pay. A quote that nobody answers teaches nothing.
	 */
	void (*answered)(struct auc_policy_ctx *ctx, const struct auc_market *m,
			 const struct auc_job *job, const struct auc_decision *decision,
			 bool accepted);
	/* The same decision, put down in *ANSWER; false: nothing is to be learned from it. */
	bool (*answer)(const struct auc_policy_ctx *ctx, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_decision *decision,
		       bool accepted, struct auc_answer *answer);
	/* Learns what answer() put down, even before CTX was made; of types that M does not have,
	 * or later than M: nothing. */
	enum auc_code (*recall)(struct auc_policy_ctx *ctx, const struct auc_market *m,
				const struct auc_answer *answer, struct auc_err *err);
};

extern const struct auc_policy auc_policy_dps, auc_policy_oasis, auc_policy_eris, auc_policy_posted,
	auc_policy_aonline;
/* Does it sell by the market's prices? */
static inline bool auc_policy_is_priced(const struct auc_policy *policy)
{
	return !policy->baseline && !policy->posts;
}

/*
 * To READY, by server: the slot index of M from which on JOB may use it, once its data are there;
 * M's number of slots if that is too late. Returns the same for a server that has the data at once.
 */
unsigned auc_policy_ready(const struct auc_market *m, const struct auc_job *job, uint32_t *ready);

/*
 * Why no cluster is run by a word of OPTIONS that only auctionsim knows (the algorithm as printed,
 * baselines), with the first such WORD; NULL: there is none.
 */
const char *auc_policy_only_simulated(const char *options, char *word, size_t size);

void auc_decision_init(struct auc_decision *d);
/* No schedule (reason capacity), memory kept: what a quote begins with. */
void auc_decision_reset(struct auc_decision *d);
void auc_decision_clear(struct auc_decision *d);
/* D has a whole plan: it is taken if its value is more than its cost. */
void auc_decision_by_payoff(struct auc_decision *d);
/* D, decided, was cut, and no schedule has a payoff above UPPER; -INFINITY: it was not, or there is
 * no schedule. */
void auc_decision_cut(struct auc_decision *d, double upper);
/* AUC_ENOMEM: *TO may only be reset or cleared. */
enum auc_code auc_decision_copy(struct auc_decision *to, const struct auc_decision *from,
				struct auc_err *err);

#endif
