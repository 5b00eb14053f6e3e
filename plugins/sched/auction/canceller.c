/* canceller.c - see canceller.h. */
#include "config.h"

#include "sched/auction/canceller.h"
#include "adapter/site.h"
#include "sched/auction/job_change.h"
#include "sched/output/accounting.h"

#define EVERY 1.0 /* seconds between two questions */

void auc_canceller_keep(struct auc_agent *a, struct auc_task *t)
{
	double now = auc_site_elapsed();
	struct auc_err err;

	if (!t->canceller.job || t->canceller.who != AUC_CANCELLER_UNKNOWN ||
	    now < t->canceller.next)
		return;
	if (!t->canceller.since)
		t->canceller.since = now;
	t->canceller.next = now + EVERY;
	if (!auc_accounting_present() || now > t->canceller.since + AUC_CANCELLER_WAIT) {
		slurm_info("sched/auction: job %u: who cancelled it is not known; it counts as its "
			   "owner",
			   t->canceller.job);
		t->canceller.who = AUC_CANCELLER_OTHER;
	} else if (auc_job_change_ask(a, t->canceller.job, t->sale, t->canceller.start, &err) ==
		   AUC_ENOMEM) {
		auc_agent_complain(a, AUC_ERROR_LOOK, &err);
	}
}

void auc_canceller_answered(struct auc_task *t, uint32_t job, uint32_t uid, enum auc_code code)
{
	/* One that is not there yet is asked for again. */
	if (code || t->canceller.job != job || t->canceller.who != AUC_CANCELLER_UNKNOWN)
		return;
	/* The agent itself cancels as SlurmUser. */
	t->canceller.who = (uid == 0 || uid == slurm_conf.slurmd_user_id) && uid != t->uid
				   ? AUC_CANCELLER_SLURM
				   : AUC_CANCELLER_OTHER;
	if (t->canceller.who == AUC_CANCELLER_SLURM)
		slurm_info("sched/auction: job %u was cancelled by root: by somebody, or as it "
			   "could not be launched",
			   job);
}
