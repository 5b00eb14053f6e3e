/* mail-private.h - mail.c (messages on their way), mail_events.c and mail_arrays.c (what they say).
 */
#ifndef AUC_MAIL_PRIVATE_H
#define AUC_MAIL_PRIVATE_H

#include "exec/mail_text.h"
#include "ledger/receipt.h"
#include "sched/output/mail.h"

/* Keeps a message of the event WORD, one word, until it is released. Where too many wait, it is
 * dropped. */
void auc_mail_put(const struct auc_mail_to *to, const char *word, const struct auc_mail_text *text);
/* True if TO is to be mailed of any of TYPES. */
bool auc_mail_wants(const struct auc_mail_to *to, struct auc_auction *a, unsigned types);
/* What mails to TO call its job; with CLUSTER, which it borrows. */
#define AUC_MAIL_CLUSTER 256
struct auc_mail_job auc_mail_job_of(const struct auc_mail_to *to, char cluster[AUC_MAIL_CLUSTER]);
/* TO's task has ended with RECEIPT, which is told at the end of its array. */
void auc_mail_array_settled(const struct auc_mail_to *to, const struct auc_receipt *receipt);
/* ClusterName. */
void auc_mail_cluster(char *name, unsigned size);

#endif
