/* registry.c - the table of policies that a cluster may be run by: see registry.h. */
#include "config.h"

#include <string.h>

#include "policy/registry.h"

const struct auc_policy *const auc_policies[] = {
	&auc_policy_dps,      &auc_policy_oasis, &auc_policy_eris, &auc_policy_posted,
	&auc_policy_unpriced, &auc_policy_fifo,  &auc_policy_drf,  NULL};

const struct auc_policy *auc_policy_find(const char *name)
{
	unsigned i;

	for (i = 0; auc_policies[i]; i++)
		if (!strcmp(auc_policies[i]->name, name))
			return auc_policies[i];
	return NULL;
}

const struct auc_policy *auc_policy_of_cluster(const char *name)
{
	return strcmp(name, auc_policy_aonline.name) ? auc_policy_find(name) : &auc_policy_aonline;
}
