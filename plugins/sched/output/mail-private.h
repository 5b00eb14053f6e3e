/* mail-private.h - mail.c (messages on their way) to mail_events.c (what they say). */
#ifndef AUC_MAIL_PRIVATE_H
#define AUC_MAIL_PRIVATE_H

#include "exec/mail_text.h"
#include "sched/output/mail.h"

/* Keeps a message of the event WORD, one word, until it is released. Where too many wait, it is
 * dropped. */
void auc_mail_put(const struct auc_mail_to *to, const char *word, const struct auc_mail_text *text);
/* ClusterName. */
void auc_mail_cluster(char *name, unsigned size);

#endif
