/*
 * steps.h - what a stepper (policy/stepper.h) does with the jobs of a scenario, slot by slot.
 */
#ifndef SIM_STEPS_H
#define SIM_STEPS_H

#include "base/err.h"
#include "policy/stepper.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario.h"

/*
 * Runs STEPPER over S from slot 1 to the last; it is shown a job in the slot of its arrival. ORDER:
 * the jobs by arrival. Fills in RESULT->jobs and RESULT->preemptions. A decision is a slot with
 * jobs at hand: its arrivals and its step; RESULT->decisions counts them, US[] (one for each slot)
 * says how many microseconds each took.
 */
enum auc_code steps_run(const struct scenario *s, const struct auc_stepper *stepper,
			const char *options, const unsigned *order, replay_progress progress,
			void *arg, struct result *result, double *us, struct auc_err *err);

#endif
