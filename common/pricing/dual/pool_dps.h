/*
 * pool_dps.h - policy dps in a pool (pool.h): the same schedules and payoffs as policy/dps.c finds
 * there, many times faster, as a pool has few servers and is mostly unsold.
 *
 * Servers that host workers only give workers to distributed schedules; those that host both are
 * servers of true size: they host PSs, or a co-located job. Not for sale by: without the ties'
 * order of policy dps.
 */
#ifndef AUC_POOL_DPS_H
#define AUC_POOL_DPS_H

#include "policy/policy.h"

extern const struct auc_policy auc_pool_dps;

#endif
