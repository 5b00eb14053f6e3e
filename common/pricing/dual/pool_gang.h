/*
 * pool_gang.h - a gang in a pool (pool.h): as policy dps would sell it there, with as many nodes on
 * a server that stands for many as there is room for.
 */
#ifndef AUC_POOL_GANG_H
#define AUC_POOL_GANG_H

#include "policy/policy.h"

/*
 * The best schedule of JOB, a gang of pool M, as pool_dps's quote() leaves it; a share may have
 * several nodes. Switches do not count: the pool does not know them. AUC_ENOMEM.
 */
enum auc_code auc_pool_gang_quote(const struct auc_market *m, const struct auc_job *job,
				  struct auc_decision *decision, struct auc_err *err);

#endif
