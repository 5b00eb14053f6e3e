/* why.c - see why.h. */
#include "config.h"

#include <string.h>

#include "ledger/why.h"

const struct auc_why auc_whys[] = {
	{AUC_WHY_COMPLETED, false, ""},
	{AUC_WHY_FAILED, false, "it ended by itself, and not with exit code 0"},
	{AUC_WHY_TIMEOUT, false,
	 "its time was over; next time, bid for a longer one (--time, --time-max) or for more "
	 "work"},
	{AUC_WHY_CANCELLED, false, "somebody cancelled it, or a member of it"},
	{AUC_WHY_CHANGED, false, "it was changed between the bid and the sale"},
	{AUC_WHY_EXPIRED, false, "its time was over before it could be sold"},
	{AUC_WHY_WORTHLESS, false,
	 "it would have been worth nothing, even if it had been done at once"},
	/* Other jobs of the same user may have used up the limit. */
	{AUC_WHY_LIMIT, false, "a limit of its association or QOS kept it from starting"},
	{AUC_WHY_OWN_JOB, false, "other jobs of its owner held a node, or it waited for them"},
	{AUC_WHY_NODE_FAIL, true, "a node failed, was drained or reserved"},
	{AUC_WHY_NODE_BUSY, true, "what others ran on a node before had not left"},
	{AUC_WHY_NOT_STARTED, true, "Slurm did not start it in its slots"},
	{AUC_WHY_NOT_LAUNCHED, true, "its script could not be launched"},
	{AUC_WHY_NOT_MOVED, true, "Slurm did not move it to where its plan went on"},
	{AUC_WHY_REFUSED, true, "Slurm refused a part of it"},
	{AUC_WHY_HELD, true, "an administrator held it"},
	{AUC_WHY_BARRED, true, "what its partition, account or QOS allows was changed"},
	{AUC_WHY_PREEMPTED, true, "Slurm preempted it"},
	{AUC_WHY_PARTITION_DOWN, true, "its partition was down"},
	{AUC_WHY_OUTAGE, true, "slurmctld was away when it was to begin"},
	{AUC_WHY_LOST, true, "Slurm does not know it any more"},
	{AUC_WHY_VOID, true, "its sale was never written down, and nothing was paid"},
};
const unsigned auc_nwhys = sizeof(auc_whys) / sizeof(*auc_whys);

static const struct auc_why *find(const char *word)
{
	for (unsigned i = 0; i < auc_nwhys; i++)
		if (!strcmp(auc_whys[i].word, word))
			return &auc_whys[i];
	return NULL;
}

bool auc_why_refunds(const char *word)
{
	const struct auc_why *why = find(word);

	return why && why->refunds;
}

const char *auc_why_says(const char *word)
{
	const struct auc_why *why = find(word);

	return why ? why->says : "";
}
