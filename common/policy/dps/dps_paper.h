/* dps_paper.h - policy dps with variant=paper: for dps.c only */
#ifndef AUC_DPS_PAPER_H
#define AUC_DPS_PAPER_H

#include "policy/policy.h"

struct auc_dps_paper;

/* NULL: no memory. */
struct auc_dps_paper *auc_dps_paper_create(void);
void auc_dps_paper_destroy(struct auc_dps_paper *p);
/* As struct auc_policy's quote, but for the departures that dps_paper.c lists. */
enum auc_code auc_dps_paper_quote(struct auc_dps_paper *p, const struct auc_market *m,
				  const struct auc_job *job, struct auc_decision *decision,
				  struct auc_err *err);

#endif
