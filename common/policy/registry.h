/* registry.h - the table of policies: the only file of the policies that knows all of them. */
#ifndef AUC_REGISTRY_H
#define AUC_REGISTRY_H

#include "policy/policy.h"

extern const struct auc_policy *const auc_policies[]; /* NULL-terminated */
const struct auc_policy *auc_policy_find(const char *name);
/* What a cluster is run by under that name: one of them, or auc_policy_aonline, which the simulator
 * does not need. NULL. */
const struct auc_policy *auc_policy_of_cluster(const char *name);

#endif
