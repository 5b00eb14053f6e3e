/*
 * desc_after.h - what a job waits for (--dependency): when that is over, so that its time is bought
 * after it.
 */
#ifndef AUC_DESC_AFTER_H
#define AUC_DESC_AFTER_H

#include "adapter/slurm_compat.h"
#include "base/err.h"

/* What is known of other jobs; each gets ARG. */
struct auc_desc_others {
	/* When JOB_ID, or the last task of that array, begins and has ended by its plan (Unix
	 * time); false: nobody knows. */
	bool (*times)(void *arg, uint32_t job_id, double *start, double *end);
	/* When all jobs of UID with the name NAME that there are now have ended, 0: there are none.
	 * Any code but AUC_OK: nobody knows, and ERR says of which. */
	enum auc_code (*named)(void *arg, uint32_t uid, const char *name, double *end,
			       struct auc_err *err);
	void *arg;
};

/*
 * From when on (Unix time) what DESC waits for is over by the plans of those jobs, into *END, 0 if
 * it waits for nothing. AUC_ENOENT: on a job that OTHERS does not know; AUC_EINVAL: on something
 * that no plan tells; or as NAMED says.
 */
enum auc_code auc_desc_after(const job_desc_msg_t *desc, const struct auc_desc_others *others,
			     double *end, struct auc_err *err);

#endif
