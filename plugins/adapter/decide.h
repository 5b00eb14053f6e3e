/*
 * decide.h - the decision on the bid of a job that Slurm has a description of: by what rules,
 * accounts and limits of Slurm allow its user. At its submission, and again while it stands.
 */
#ifndef AUC_DECIDE_H
#define AUC_DECIDE_H

#include "adapter/desc.h"

/*
 * Decides on BID, of the submission DESC by SUBMIT_UID: as auc_auction_bid(), which holds unless it
 * is a quote, or where HELD (else NULL) names it among those that stand auc_auction_bid_again(), or
 * auc_auction_bid_task() if that is an array (TASK).
 * BARRED[SIZE]: partitions that the job may not enter, and why. Besides their codes AUC_EAGAIN: it
 * cannot be told yet what it may enter; AUC_ESTATE: nor could it for as long as its user may ask
 * again (patience.h); AUC_EFULL: it is more jobs than its user may have (nothing
 * is held then).
 */
enum auc_code auc_decide(struct auc_auction *a, const job_desc_msg_t *desc, uint32_t submit_uid,
			 struct auc_bid *bid, const char *held, bool task, struct auc_offer *offer,
			 char *barred, size_t size, struct auc_err *err);

/* An auc_caps_source (auction.h): the limits of associations and QOS that hold for a sale in any
 * partition, as the site knows them now. */
enum auc_code auc_decide_caps(void *arg, uint32_t uid, const char *account, const char *qos,
			      struct auc_caps **caps, struct auc_err *err);

#endif
