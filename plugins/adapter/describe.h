/* describe.h - what Slurm's own options of a submission say beside its bid. */
#ifndef AUC_DESCRIBE_H
#define AUC_DESCRIBE_H

#include "adapter/desc.h"

/*
 * Adds to BID, of the submission DESC by SUBMIT_UID, what Slurm's own options say: a gang's shapes,
 * if it is one, and when what it depends on has ended. What a gang's DESC does not say and Slurm
 * has a default of, it says then: memory, CPUs and memory of each GPU, time. AUC_EINVAL,
 * AUC_ENOENT: options that no bid may have, or that say too little; AUC_EAGAIN: what it waits for
 * is not known yet.
 */
enum auc_code auc_describe(struct auc_auction *a, job_desc_msg_t *desc, uint32_t submit_uid,
			   struct auc_bid *bid, struct auc_err *err);

#endif
