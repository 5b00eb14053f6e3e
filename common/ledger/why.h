/* why.h - why a sale was settled: one word for each cause, listed in doc/receipt.md. */
#ifndef AUC_WHY_H
#define AUC_WHY_H

#include <stdbool.h>

struct auc_why {
	const char *word;
	bool refunds; /* all that was paid is paid back, whether it had begun or not: it is not its
			 owner's doing, nor can its owner bring it about */
	const char *says; /* what happened, for its owner to read; "": that needs no words */
};

extern const struct auc_why auc_whys[];
extern const unsigned auc_nwhys;

/* False for a word that there is not. */
bool auc_why_refunds(const char *word);
/* What WORD says to the owner of the job; "" for a word that there is not, too. */
const char *auc_why_says(const char *word);

#define AUC_WHY_COMPLETED      "completed"
#define AUC_WHY_FAILED         "failed"
#define AUC_WHY_TIMEOUT        "timeout"
#define AUC_WHY_CANCELLED      "cancelled"
#define AUC_WHY_CHANGED        "changed"
#define AUC_WHY_LIMIT          "limit"
#define AUC_WHY_OWN_JOB        "own_job"
#define AUC_WHY_NODE_FAIL      "node_fail"
#define AUC_WHY_NODE_BUSY      "node_busy"
#define AUC_WHY_NOT_STARTED    "not_started"
#define AUC_WHY_NOT_LAUNCHED   "not_launched"
#define AUC_WHY_NOT_MOVED      "not_moved"
#define AUC_WHY_REFUSED        "refused"
#define AUC_WHY_HELD           "held"
#define AUC_WHY_BARRED         "barred"
#define AUC_WHY_PREEMPTED      "preempted"
#define AUC_WHY_PARTITION_DOWN "partition_down"
#define AUC_WHY_OUTAGE         "outage"
#define AUC_WHY_LOST           "lost"
#define AUC_WHY_VOID           "void"
/* Of bids that stood and were not sold, which never paid anything. */
#define AUC_WHY_EXPIRED   "expired"
#define AUC_WHY_WORTHLESS "worthless"

#endif
