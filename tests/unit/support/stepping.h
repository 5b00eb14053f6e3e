/*
 * stepping.h - steppers in random small markets, whose types share resources and which are partly
 * used: what they do, and that it fits.
 */
#ifndef STEPPING_H
#define STEPPING_H

#include <stdio.h>

#include "policy/stepper.h"
#include "unit/support/tiny.h"

#define STEPPING_JOBS 8

/*
 * Shows STEPPER with OPTIONS the jobs LIST[N], N <= STEPPING_JOBS, over all slots of T. Layouts are
 * printed to OUT (NULL: not). Stops the program, saying why, if a layout cannot be booked, comes
 * before its data, or belongs to a job that is complete. Returns how many jobs are complete.
 */
unsigned stepping_run(const struct auc_stepper *stepper, const char *options,
		      const struct tiny_market *t, const struct tiny_job *list, unsigned n,
		      FILE *out);

#endif
