/*
 * registry.h - the table of policies that a cluster may be run by: the only file of the policies
 * that knows all of them.
 */
#ifndef AUC_REGISTRY_H
#define AUC_REGISTRY_H

#include "policy/policy.h"

extern const struct auc_policy *const auc_policies[]; /* NULL-terminated */
/* NULL: there is none. */
const struct auc_policy *auc_policy_find(const char *name);

#endif
