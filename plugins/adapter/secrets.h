/*
 * secrets.h - bids are private: once a bid is decided, it is removed from every text of the
 * submission that Slurm keeps.
 */
#ifndef AUC_SECRETS_H
#define AUC_SECRETS_H

#include "adapter/slurm_compat.h"

/*
 * Blanks the values of the secret options (auc_bid_key_is_secret()) wherever DESC has them: submit
 * line, lines of the script that begin with #SBATCH, environment, SPANK's environment. Options
 * count in each form that sbatch takes: abbreviated, quoted, with '=' or the value as the next
 * word. The text that auc_desc_bid() has returned is blank then, too.
 */
void auc_desc_forget_secrets(job_desc_msg_t *desc);

#endif
