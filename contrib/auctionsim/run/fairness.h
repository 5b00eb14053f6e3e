/*
 * fairness.h - how what was sold is spread: over users, and over short jobs. Of jobs with true
 * times it is what they were really worth.
 */
#ifndef SIM_FAIRNESS_H
#define SIM_FAIRNESS_H

#include "base/err.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

#define FAIRNESS_SHORT 300.0 /* seconds: a job that takes less is short */

struct fairness {
	unsigned users, nothing; /* users with jobs; those of whom none was accepted */
	/* Of what each user's jobs got in all over what they asked for: 0, all got the same share,
	 * to
	 * 1. Asked for is what they were worth a slot after their arrival. */
	double gini;
	unsigned short_jobs, short_accepted;
	double kept; /* value less payment */
};

/* Jobs of no user are nobody's, but count else. AUC_ENOMEM. */
enum auc_code fairness_of(const struct scenario *s, const struct result *r, struct fairness *f,
			  struct auc_err *err);
/* Whether some job has a user. */
bool fairness_has_users(const struct scenario *s);
/* Seconds that JOB says it takes, all its workers side by side, on its fastest types. 0: it does
 * not say. */
double fairness_seconds(const struct scenario_job *job);

#endif
