/*
 * dorm.h - Dorm by the integer program of its paper (dorm_program.h) in the place of the rule that
 * elastic.c has for it: to see how far the rule is from it, where the program can be solved.
 */
#ifndef SIM_DORM_H
#define SIM_DORM_H

#include "policy/stepper.h"

/*
 * Options: "seconds=N" of the processor for each program (1); "unfair=X" (0.1): jobs' dominant
 * shares may be off those of oasis-drf by X * 2 * TRES, in all. Where a program has no solution, or
 * none in time, the rule decides. Its remark says how often, and compares the use of the cluster.
 */
extern const struct auc_stepper dorm_milp;

#endif
