/*
 * activity.h - what the auction has done with bids since the process began: counts, sums and
 * times, for metrics. Nothing of it outlives the process. It is not public: if there was one bid
 * between two readings, their difference shows its value, which is secret.
 */
#ifndef AUC_ACTIVITY_H
#define AUC_ACTIVITY_H

#include <stdint.h>

#include "base/err.h"
#include "policy/policy.h"

struct json_object;

#define AUC_TIMES_BOUNDS 16

/* Durations, counted by size. */
struct auc_times {
	uint64_t n[AUC_TIMES_BOUNDS + 1]; /* up to each bound of auc_times_bounds, the last: more */
	double sum;                       /* seconds */
};

/* Seconds, ascending. */
extern const double auc_times_bounds[AUC_TIMES_BOUNDS];

struct auc_activity {
	double since; /* Unix time */
	uint64_t accepted, refused[AUC_REASON_INVALID + 1];
	uint64_t failed[AUC_ELIMIT + 1]; /* bids that there was no decision on, by code */
	double asked, sold;              /* credits: see auc_activity_bid() */
	struct auc_times wait;           /* for the lock */
	struct auc_times decision;
	struct auc_times held; /* the lock, by a bid: the decision, hints and the lien */
};

void auc_times_add(struct auc_times *t, double seconds);
/*
 * A bid (no quote) was decided, for REASON; RC other than AUC_OK: it was not. ASKED is its value if
 * its job ended at once, SOLD the value of the plan if it was accepted, in credits.
 */
void auc_activity_bid(struct auc_activity *y, enum auc_code rc, enum auc_reason reason,
		      double asked, double sold);
/* The key "activity" of doc/status.md; NULL: no memory. */
struct json_object *auc_activity_to_json(const struct auc_activity *y);

#endif
