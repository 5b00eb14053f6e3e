/* granted.c - see granted.h. */
#include "config.h"

#include <stdio.h>

#include "adapter/granted.h"

static bool lasts(const struct auc_grant *grant, double now);

void auc_granted_add(struct auc_granted *g, const char *sale, uint32_t uid, unsigned jobs,
		     double now)
{
	struct auc_grant *grant = &g->list[g->next];

	if (!jobs)
		return;
	*grant = (struct auc_grant){.uid = uid, .jobs = jobs, .at = now};
	snprintf(grant->sale, sizeof(grant->sale), "%s", sale);
	g->next = (g->next + 1) % AUC_GRANTED_MAX;
}

unsigned auc_granted_jobs(const struct auc_granted *g, uint32_t uid, bool all, double now)
{
	unsigned n = 0;

	for (unsigned i = 0; i < AUC_GRANTED_MAX; i++)
		if (lasts(&g->list[i], now) && (all || g->list[i].uid == uid))
			n += g->list[i].jobs;
	return n;
}

bool auc_granted_sweep(struct auc_granted *g, auc_granted_is_counted *is_counted, const void *arg,
		       double now)
{
	bool left = false;

	for (unsigned i = 0; i < AUC_GRANTED_MAX; i++) {
		struct auc_grant *grant = &g->list[i];

		if (!lasts(grant, now))
			continue;
		if (is_counted(arg, grant->sale, grant->at))
			grant->jobs = 0;
		else
			left = true;
	}
	return left;
}

static bool lasts(const struct auc_grant *grant, double now)
{
	return grant->jobs && now - grant->at < AUC_GRANTED_LONGEST;
}
