/*
 * offline.h - the schedules that are worth most together, all jobs known in advance: the optimum
 * that policies are measured by, of scenarios small enough for an integer program. It is solved by
 * GLPK.
 */
#ifndef SIM_OFFLINE_H
#define SIM_OFFLINE_H

#include <stdbool.h>

#include "base/err.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

#define OFFLINE_NAME "offline"
#define OFFLINE_SUMMARY                                                                            \
	"baseline: the optimum of schedules as of dps, all jobs known in advance (small "          \
	"scenarios)"

#define OFFLINE_OASIS_NAME    "offline-oasis"
#define OFFLINE_OASIS_SUMMARY "baseline: the same of schedules as of oasis"

/*
 * Plans all jobs of S with schedules as of dps or of OASIS. OPTIONS: "seconds=N" (stop then, of the
 * processor's time; the result is the best schedule so far, and RESULT->remark says what it may
 * miss), "columns=N" (the
 * largest program that is tried), "keep=yes" (it is
 * written to the scenario's file name and ".lp", in CPLEX's format).
 * Fills in RESULT->jobs; one decision, US[0] its time. AUC_EINVAL: options, a job without a key
 * that it needs, too large; AUC_ESTATE: built without GLPK, or it failed; AUC_ENOMEM.
 */
enum auc_code offline_run(const struct scenario *s, bool oasis, const char *options,
			  struct result *result, double *us, struct auc_err *err);
/* Whether it takes OPTIONS; without GLPK, any. AUC_EINVAL, AUC_ENOMEM. */
enum auc_code offline_check_options(const char *options, struct auc_err *err);

#endif
