/*
 * gang.h - the best schedule of a gang, for every policy that takes gangs: over all shapes,
 * starts and sets of servers, exactly.
 */
#ifndef AUC_GANG_H
#define AUC_GANG_H

#include "policy/policy.h"

struct auc_gang; /* scratch memory, one per thread of decisions */

enum auc_gang_aim {
	AUC_GANG_PAYOFF,   /* the highest value - cost at the market's prices */
	AUC_GANG_EARLIEST, /* the earliest completion, whatever it costs and is worth */
};

/* NULL: no memory. */
struct auc_gang *auc_gang_create(void);
void auc_gang_destroy(struct auc_gang *g);

/*
 * The best schedule of JOB, which is a gang, that does not start before slot NOT_BEFORE, in
 * DECISION as auc_policy.quote() leaves it: payoffs that differ by rounding only are ties, decided
 * by earliest completion, fewest servers, lowest index of the shape, earliest start, servers in
 * their order. Of schedules without a positive payoff it is the best of those that are worth
 * something, else the earliest. If JOB is limited and there is a schedule of positive payoff, but
 * none that its budget pays, the reason is budget. AUC_GANG_EARLIEST looks at no prices and no
 * budget; a schedule is accepted then, if there is one. Allocates nothing once G has seen a market
 * and a gang of this size. AUC_ENOMEM, AUC_ESTATE: M is not laid out.
 */
enum auc_code auc_gang_quote(struct auc_gang *g, const struct auc_market *m,
			     const struct auc_job *job, enum auc_gang_aim aim, auc_slot not_before,
			     struct auc_decision *decision, struct auc_err *err);
/* True if BUDGET pays COST: what is above it by rounding only does not count. */
static inline bool auc_gang_is_paid(double cost, double budget)
{
	return cost <= budget + AUC_QUOTE_SLACK * budget;
}

#endif
