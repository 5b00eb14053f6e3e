/*
 * easy.h - the baseline "easy": gangs in a batch system's queue with EASY backfill (queue.h), in
 * whole slots. It prices nothing and admits every job that fits an empty cluster.
 */
#ifndef SIM_EASY_H
#define SIM_EASY_H

#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

#define EASY_NAME    "easy"
#define EASY_SUMMARY "baseline: gangs in the order of arrival, with EASY backfill"

/*
 * Runs the jobs of S, all of them gangs. OPTIONS: backfill=yes (default) or backfill=no (no job
 * starts before its predecessor). ORDER: the jobs by arrival. A job's uploads are over before it is
 * in the queue. Fills in RESULT->jobs; one decision, US[0] its time. A job that is not done by the
 * last slot is accepted with a plan without runs. AUC_EINVAL: options, or a scenario with other
 * jobs, with gangs within a switch, or of which something is sold already; AUC_ENOMEM.
 */
enum auc_code easy_run(const struct scenario *s, const char *options, const unsigned *order,
		       struct result *result, double *us, struct auc_err *err);
/* Whether it takes OPTIONS. AUC_EINVAL. */
enum auc_code easy_check_options(const char *options, struct auc_err *err);

#endif
