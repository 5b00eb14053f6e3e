/* why.c - see why.h. */
#include "config.h"

#include <string.h>

#include "ledger/why.h"

const struct auc_why auc_whys[] = {
	{AUC_WHY_COMPLETED, false},
	{AUC_WHY_FAILED, false},
	{AUC_WHY_TIMEOUT, false},
	{AUC_WHY_CANCELLED, false},
	{AUC_WHY_CHANGED, false},
	{AUC_WHY_EXPIRED, false},
	{AUC_WHY_WORTHLESS, false},
	/* Other jobs of the same user may have used up the limit. */
	{AUC_WHY_LIMIT, false},
	{AUC_WHY_OWN_JOB, false},
	{AUC_WHY_NODE_FAIL, true},
	{AUC_WHY_NODE_BUSY, true},
	{AUC_WHY_NOT_STARTED, true},
	{AUC_WHY_NOT_LAUNCHED, true},
	{AUC_WHY_NOT_MOVED, true},
	{AUC_WHY_REFUSED, true},
	{AUC_WHY_HELD, true},
	{AUC_WHY_BARRED, true},
	{AUC_WHY_PREEMPTED, true},
	{AUC_WHY_PARTITION_DOWN, true},
	{AUC_WHY_OUTAGE, true},
	{AUC_WHY_LOST, true},
	{AUC_WHY_VOID, true},
};
const unsigned auc_nwhys = sizeof(auc_whys) / sizeof(*auc_whys);

bool auc_why_refunds(const char *word)
{
	for (unsigned i = 0; i < auc_nwhys; i++)
		if (!strcmp(auc_whys[i].word, word))
			return auc_whys[i].refunds;
	return false;
}
