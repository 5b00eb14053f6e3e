/*
 * rearrange_search.h - sold jobs that have not begun, placed anew, several at a time, where
 * together they cost less by now.
 *
 * Prices that are fitted again as the day goes on leave jobs in slots that have become dear, where
 * others would do as well that have become cheap; and what is free near by may be nobody else's any
 * more (nearness.h). So jobs move to cheaper slots, and make room for each other: each completes no
 * later and pays what it was sold for, and the room that they leave is for sale again.
 * Where they go does not depend on what their bids say they are worth, so that no bid gains by
 * saying something else.
 *
 * A search, as there are too many ways to place jobs together: in each round a few jobs are taken
 * out, those that use the same servers at the same time, those of the same time, or any, and take
 * what is then the cheapest for them, one after the other in a random order. If all together cost
 * less by a thousandth they stay there, else they go back. The same jobs, market and seed give the
 * same places.
 *
 * A job whose lead has workers keeps their type, and workers on its lead, as Slurm cannot give a
 * job that waits for GPUs others than it asked for, or none; so does one whose PSs have GPUs. Where
 * limits of its owner may end it (LIMITED), it needs no more than before: no more nodes, workers or
 * PSs at a time, nowhere more but for the lead, and no more slots from its begin on.
 */
#ifndef AUC_REARRANGE_SEARCH_H
#define AUC_REARRANGE_SEARCH_H

#include "policy/policy.h"

struct auc_rearrange_search;

/* The decision on JOB in MARKET. */
typedef enum auc_code auc_rearrange_search_quote(void *arg, struct auc_market *market,
						 struct auc_job *job, struct auc_decision *d,
						 struct auc_err *err);

/*
 * A search in M, whose prices no booking changes, and which must stay: it has what is sold, and
 * afterwards what the search found. FROM is the first slot that a job may have. QUOTE is called
 * with ARG. NULL: no memory.
 */
struct auc_rearrange_search *auc_rearrange_search_create(struct auc_market *m, auc_slot from,
							 bool limited, uint64_t seed,
							 auc_rearrange_search_quote *quote,
							 void *arg);
void auc_rearrange_search_destroy(struct auc_rearrange_search *x);
/*
 * JOB, as auc_bid_resolve() makes it for the arrival of PLAN, was sold PLAN, which is booked in the
 * market, has one run, and begins in slot FROM or later. Both are copied. AUC_ENOMEM.
 */
enum auc_code auc_rearrange_search_add(struct auc_rearrange_search *x, const struct auc_job *job,
				       const struct auc_plan *plan, struct auc_err *err);
/* How many rounds are worth their time. */
unsigned auc_rearrange_search_rounds(const struct auc_rearrange_search *x);
/* One round. An error is QUOTE's, or AUC_ENOMEM: the market must not be used after that. */
enum auc_code auc_rearrange_search_round(struct auc_rearrange_search *x, struct auc_err *err);
/* Where the I-th job that was added is now, with arrival and cost as sold, and what it is worth
 * there. NULL: it has not moved. */
const struct auc_plan *auc_rearrange_search_moved(const struct auc_rearrange_search *x, unsigned i);

#endif
