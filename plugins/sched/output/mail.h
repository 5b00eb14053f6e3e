/*
 * mail.h - mail to users by Slurm's MailProg (Mail= of auction.conf), from a thread of its own: it
 * is started without a shell, as Slurm does it (-s SUBJECT ADDRESS, with the body on standard
 * input), a few at a time, and killed if it does not end. A message is started at most once: none
 * is before what it tells of is on disk, and none is kept over a restart.
 */
#ifndef AUC_MAIL_H
#define AUC_MAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "adapter/slurm_compat.h"
#include "auction/auction.h"
#include "base/err.h"

/* Whom a job's mails go to, and which they are. */
struct auc_mail_to {
	uint32_t uid, job_id;
	uint32_t array, task; /* whose task it is, and which; 0: none */
	uint16_t types;       /* --mail-type, as Slurm has it; 0: none */
	char *name;           /* of the job; NULL: none */
	char *user;           /* --mail-user, as Slurm has it; NULL: the owner */
};

/* Takes MailProg and the like; only where slurmctld does not change them, as
 * auc_site_read_slurm_conf(). */
void auc_mail_read_slurm_conf(void);
enum auc_code auc_mail_start(struct auc_err *err);
/* False if the thread does not end before UNTIL (CLOCK_REALTIME). What has not been started is
 * dropped. */
bool auc_mail_stop(const struct timespec *until);

/* What INFO says. Without memory nobody is mailed. Clear it with auc_mail_clear(). */
void auc_mail_take(struct auc_mail_to *to, const slurm_job_info_t *info);
void auc_mail_clear(struct auc_mail_to *to);

/* Mails TO what became of it, if it wants that and CONF does, once auc_mail_release() is called.
 * SALE: just sold, and what that does to the budget; STOOD: its bid stood. RECEIPT: its last. */
void auc_mail_sold(const struct auc_mail_to *to, struct auc_auction *a, const char *sale,
		   bool stood);
void auc_mail_settled(const struct auc_mail_to *to, struct auc_auction *a, const char *receipt,
		      double now);
void auc_mail_unsold(const struct auc_mail_to *to, struct auc_auction *a, const char *why,
		     double now);
/* Another plan for SALE, of WHY: one word. */
void auc_mail_moved(const struct auc_mail_to *to, struct auc_auction *a, const char *sale,
		    const char *why, double now);
/* So many TASKS of an array, all that waited, are not sold. */
void auc_mail_array_unsold(const struct auc_mail_to *to, struct auc_auction *a, unsigned tasks);
/* Of arrays of which tasks have ended that were mailed of by none: LIVES says whether there are
 * more to come. */
void auc_mail_arrays(bool (*lives)(void *arg, uint32_t array), void *arg, double now);
/* What was put so far is on disk. */
void auc_mail_release(void);

#endif
