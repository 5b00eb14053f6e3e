/*
 * property.h - what the property tests of policies share: how many markets and from which seed, a
 * policy in its variants, and what must hold of every policy that has prices.
 */
#ifndef AUC_TEST_PROPERTY_H
#define AUC_TEST_PROPERTY_H

#include "policy/policy.h"
#include "unit/support/tiny.h"

/* Of the run: what was asked for, and the market and job at hand, for when one fails. */
extern struct property {
	unsigned markets;
	uint64_t first_seed, seed;
	unsigned job;
} property;

/* AUC_TEST_MARKETS and AUC_TEST_SEED in the environment, or two arguments; else MARKETS from 1. */
void property_arguments(int argc, char **argv, unsigned markets);
/* Says where it was if FAILED; returns it. */
int property_failed(int failed);

void assert_close(long double a, long double b, long double size);

struct engine {
	const struct auc_policy *policy;
	const struct auc_policy *printed;           /* the same as printed */
	struct auc_policy_ctx *ctx, *plain, *paper; /* as it is, bounds=off, of printed */
	struct auc_decision decision, other;        /* of ctx; of the variant at hand */
	struct auc_job job;
};

void engine_start(struct engine *e, const struct auc_policy *policy);
void engine_stop(struct engine *e);
/* E's decision on J. */
void engine_decide(struct engine *e, const struct auc_market *m, const struct tiny_job *j);
/* What the paper's algorithms find can be executed, and is never better. */
void engine_check_paper(struct engine *e, struct auc_market *m);
/* Whatever value is reported instead, the schedule that comes of it is worth no more; and the same
 * schedule costs the same. */
void engine_check_truthful(struct engine *e, const struct auc_market *m, const struct tiny_job *j,
			   struct tiny_random *r);
bool engine_same_plan(const struct auc_plan *a, const struct auc_plan *b);

/*
 * Markets of 2 to SERVERS servers and MIN_SLOTS to MAX_SLOTS slots, with prices from PRICE, and two
 * jobs in each: CHECK looks at the decision on J, which is then booked. Of many there must be some
 * that are accepted and some that are refused for either reason.
 */
void property_small(const struct auc_policy *policy,
		    void (*price)(struct tiny_market *t, struct tiny_random *r,
				  struct auc_market *m),
		    unsigned servers, unsigned min_slots, unsigned max_slots,
		    void (*check)(struct engine *e, struct tiny_market *t, struct auc_market *m,
				  const struct tiny_job *j, struct tiny_random *r));

/*
 * Markets too large for brute force, moving through time, with prices from PRICE and jobs of up to
 * CHUNKS chunks (0: as they are drawn): CHECK compares with bounds=off.
 */
void property_large(const struct auc_policy *policy,
		    void (*price)(struct tiny_market *t, struct tiny_random *r,
				  struct auc_market *m),
		    int chunks, void (*check)(struct engine *e, const struct auc_market *m));

#endif
