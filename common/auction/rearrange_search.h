/*
 * rearrange_search.h - moves sold jobs that have not begun, several at a time, to where together
 * they cost less by now.
 *
 * As prices change, jobs stand in slots that have become dear while others that would do as well
 * have become cheap; and free slots nearby may be of no use to new bids any more (nearness.h). So
 * jobs move to cheaper slots and make room for each other. Each completes no later and pays what it
 * was sold for; the room that they leave is for sale again. Where jobs go does not depend on the
 * values in their bids, so no bid gains by a false one.
 *
 * There are too many ways to place jobs together, so this is a search. Each round takes a few jobs
 * out (of the same servers and time, of the same time, or any) and gives each in a random order the
 * place that is cheapest then. If they cost less together by a thousandth they stay there,
 * otherwise they go back. The same jobs, market and seed give the same places.
 *
 * A job whose lead has workers keeps their type, and workers on its lead, because Slurm cannot give
 * a waiting job other GPUs than it asked for, or none; so does one whose PSs have GPUs. Where
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

/* True if limits of Slurm let the I-th job that was added be at PLAN while the others are where
 * auc_rearrange_search_at() says. */
typedef bool auc_rearrange_search_allows(void *arg, const struct auc_rearrange_search *x,
					 unsigned i, const struct auc_plan *plan);

/*
 * A search in M, whose prices no booking changes, and which must stay: it has what is sold, and
 * afterwards what the search found. FROM is the first slot that a job may have. QUOTE and ALLOWS
 * (NULL: there are no limits) are called with ARG. NULL: no memory.
 */
struct auc_rearrange_search *auc_rearrange_search_create(struct auc_market *m, auc_slot from,
							 bool limited, uint64_t seed,
							 auc_rearrange_search_quote *quote,
							 auc_rearrange_search_allows *allows,
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
/* Where the I-th job is at this moment of a round; NULL: nowhere, it is being placed. */
const struct auc_plan *auc_rearrange_search_at(const struct auc_rearrange_search *x, unsigned i);
/* Where the I-th job that was added is now, with arrival and cost as sold, and what it is worth
 * there. NULL: it has not moved. */
const struct auc_plan *auc_rearrange_search_moved(const struct auc_rearrange_search *x, unsigned i);

#endif
