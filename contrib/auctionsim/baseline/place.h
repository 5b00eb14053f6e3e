/*
 * place.h - what the baselines fifo and drf share: they price nothing, admit every job in the
 * order of arrival, and place a fixed number of workers as early as possible.
 */
#ifndef SIM_PLACE_H
#define SIM_PLACE_H

#include "policy/policy.h"

#define BASELINE_READINGS "blocking|reserving"

struct baseline {
	unsigned reserving;  /* the reading; blocking: no job starts before its predecessor */
	bool started;        /* some job has started */
	auc_slot last_start; /* the latest start so far */
	/* by server, of the window at hand */
	unsigned alloc;
	int32_t *fit, *ps_fit;
	uint32_t *order;
	unsigned *workers;
};

void baseline_clear(struct baseline *b);
/*
 * Places N workers of these types: the earliest start at which they fit for as long as they need
 * and are done by the last slot, co-located if one server holds them, else on the servers with most
 * room. At least MIN_PS PSs, and as many as constraint (12) asks for. A job that would fit an empty
 * cluster and finds no window is accepted with a plan without runs: it is admitted, and never done.
 * One that would not is refused with reason capacity.
 */
enum auc_code baseline_place(struct baseline *b, const struct auc_market *m,
			     const struct auc_job *job, unsigned worker, unsigned ps, int64_t n,
			     int64_t min_ps, struct auc_decision *decision, struct auc_err *err);
/* Is told what was booked. */
void baseline_booked(struct baseline *b, const struct auc_decision *decision);

#endif
