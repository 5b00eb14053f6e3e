/* registry.c - the table of policies: see registry.h. */
#include "config.h"

#include <string.h>

#include "policy/registry.h"

const struct auc_policy *const auc_policies[] = {&auc_policy_dps,     &auc_policy_oasis,
						 &auc_policy_eris,    &auc_policy_posted,
						 &auc_policy_aonline, NULL};

const struct auc_policy *auc_policy_find(const char *name)
{
	for (unsigned i = 0; auc_policies[i]; i++)
		if (!strcmp(auc_policies[i]->name, name))
			return auc_policies[i];
	return NULL;
}
