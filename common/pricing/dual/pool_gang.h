/*
 * pool_gang.h - a gang in a pool (pool.h): as policy dps would sell it there, with as many nodes on
 * a server that stands for many as there is room for.
 */
#ifndef AUC_POOL_GANG_H
#define AUC_POOL_GANG_H

#include "policy/policy.h"

#define AUC_POOL_GANG_LOOKS 64

/* What nodes of a shape find; rows by server, of slots + 1. */
struct auc_pool_gang_look {
	double amount[AUC_TRES_MAX];
	int64_t units[AUC_TRES_MAX];
	size_t cells;  /* there is memory for */
	double *sum;   /* prices of a node in the slots before slot i */
	int64_t *fit;  /* nodes that there is room for */
	int64_t *from; /* the least of these from slot i on; behind FIT, in its memory */
};

/* What quotes at the same prices and bookings have in common. Zeroed at first. */
struct auc_pool_gang {
	const struct auc_market *m; /* compared only */
	unsigned n, next;
	struct auc_pool_gang_look looks[AUC_POOL_GANG_LOOKS];
};

/* To be called when prices or bookings of a market have changed that was quoted in. */
void auc_pool_gang_forget(struct auc_pool_gang *g);
/* Frees what G points to; it is as zeroed. */
void auc_pool_gang_clear(struct auc_pool_gang *g);

/*
 * The best schedule of JOB, a gang of pool M, as pool_dps's quote() leaves it; a share may have
 * several nodes. Switches do not count: the pool does not know them. AUC_ENOMEM.
 */
enum auc_code auc_pool_gang_quote(struct auc_pool_gang *g, const struct auc_market *m,
				  const struct auc_job *job, struct auc_decision *decision,
				  struct auc_err *err);

#endif
