/*
 * plot_read.h - what "auctionsim plot" is given: scenarios, and after each one the results that
 * were made of it.
 */
#ifndef SIM_PLOT_READ_H
#define SIM_PLOT_READ_H

#include "base/err.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

struct json_object;

/* A scenario and its results. */
struct plot_group {
	struct scenario *s;
	unsigned nresults;
	struct result *results;
};

struct plot_input {
	unsigned ngroups;
	struct plot_group *groups;
};

/*
 * Reads N files, each a scenario or one result or an array of them. A result belongs to the last
 * scenario before it. *INPUT is zeroed by the caller and cleared by plot_input_clear(), also after
 * an error. AUC_EINVAL, AUC_EIO, AUC_ENOMEM.
 */
enum auc_code plot_input_read(struct plot_input *input, char *const *files, unsigned n,
			      struct auc_err *err);
void plot_input_clear(struct plot_input *input);

/*
 * Reads ROOT, one result of S, into RESULT (zeroed by the caller; result_clear() frees it, also
 * after an error). Its plans lie within the horizon and name what the scenario has; the totals are
 * worked out from the jobs. NAME stands for the file, INDEX for the place in its array (-1: no
 * array).
 */
enum auc_code plot_result_read(const struct scenario *s, struct json_object *root, const char *name,
			       long index, struct result *result, struct auc_err *err);

#endif
