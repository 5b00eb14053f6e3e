/*
 * truth.h - jobs as they turn out: how long each really takes, what happens at the end of its plan,
 * what goes back on sale. Policies see none of it but bookings, and what jobs that have ended took.
 *
 * In each slot, before its jobs are decided: first the jobs that are done give back what is left of
 * their plans, and get the same part of their payment back; then those whose plan is over go on for
 * a slot on what they have, in the order of arrival, if nobody else has bought it, or are ended.
 * With SCENARIO_OVERRUN_MOVE they go on elsewhere instead: what of their last layout has no room
 * where it is goes to the first servers that have, all of a server to one; where there are none
 * they wait, and try again in each slot, twelve in all, until they are ended. A slot more costs
 * what it costs then, but what a job pays in all is never above what it is worth when that slot is
 * over, nor above what its user has left.
 */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include "base/err.h"
#include "market/market.h"
#include "policy/policy.h"
#include "auctionsim/run/margin.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

struct truth;

/* Told of slots FROM to TO of SERVER, where there is room that there was not before. */
typedef void (*truth_freed)(void *arg, unsigned server, auc_slot from, auc_slot to);

struct truth_world {
	const struct scenario *s;
	const struct auc_policy *policy;
	struct auc_market *market;
	struct result *result;
	const unsigned *order; /* of arrival */
	double *left;          /* by budget of the scenario */
	struct margin *margin; /* hears what jobs took */
	truth_freed freed;     /* NULL, or told */
	void *arg;
};

/* W is copied, what it points to stays. AUC_ENOMEM. */
enum auc_code truth_open(const struct truth_world *w, struct truth **t, struct auc_err *err);
void truth_close(struct truth *t);
/* The job of INDEX has been sold its plan. */
void truth_sold(struct truth *t, unsigned index);
/* Slot NOW begins; each one is told, in order, the one after the last, too. */
enum auc_code truth_slot(struct truth *t, auc_slot now, struct auc_err *err);
/* True if the job of INDEX has ended. */
bool truth_ended(const struct truth *t, unsigned index);

#endif
