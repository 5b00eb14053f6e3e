/* status.h - DIR/status.json: the market, the sales and the agent's own state, for sprice, the demo
 * and the tests; and PublicStatus of auction.conf: the market alone, for all users. */
#ifndef AUC_STATUS_H
#define AUC_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "auction/auction.h"
#include "base/err.h"

#include "exec/exec.h"

/* Times of one kind of thing, as sdiag shows them. Seconds. */
struct auc_series {
	uint64_t count;
	double last, sum, max;
};
void auc_series_add(struct auc_series *s, double seconds);

/* What went wrong, by what was being done. */
enum auc_agent_error {
	AUC_ERROR_LOOK,    /* reading jobs, or what their receipts say */
	AUC_ERROR_NODES,   /* reading nodes and partitions */
	AUC_ERROR_LEDGER,  /* the ledger refused what has happened */
	AUC_ERROR_COMMIT,  /* writing to disk */
	AUC_ERROR_RECEIPT, /* AdminComment of a job */
	AUC_ERROR_SUBMIT,  /* a member */
	AUC_ERROR_START,
	AUC_ERROR_MOVE, /* the lead, or a time limit */
	AUC_ERROR_SIGNAL,
	AUC_ERROR_KILL,
	AUC_ERROR_FENCE, /* reservations */
	AUC_ERROR_NKINDS
};

struct auc_agent_stats {
	struct auc_series cycles; /* whole cycles */
	struct auc_series looks;  /* of them, loading jobs */
	struct auc_series starts; /* how long after its slot, or its sale, a lead started */
	uint64_t errors[AUC_ERROR_NKINDS];
	unsigned states[AUC_EXEC_NSTATES]; /* sales by state of their machine */
	uint64_t resumed;                  /* how often jobs were suspended, which was undone */
	unsigned postponed;                /* sales that the last cycle had no time for */
};

/* Where it goes, DIR/status.json and PUBLIC (NULL: nowhere), and what it warns of if the auction
 * itself does not ("": nothing). */
struct auc_status_files {
	const char *dir, *public, *warning;
};

/*
 * Replaces the files, at once if bids are taken and were not or the other way round, else at most
 * once a second and if CHANGED or bids came in or the slot is a new one. Without an auction (A is
 * NULL) they say why there is none. A file that says the wrong thing of that and cannot be replaced
 * is removed, and one without market and sales takes its place, if there is room for that. Returns
 * 1 if it did, 0 if there was no need, -1 on an error; ERR says which, also if it is only the
 * public one that could not be written, and has code AUC_OK otherwise.
 */
int auc_status_write(const struct auc_status_files *files, struct auc_auction *a, double now,
		     bool changed, const struct auc_agent_stats *stats, struct auc_err *err);
/*
 * Makes the files that were written last say that no bids are taken and why, if the gate is closed,
 * where the thread that writes them may be at an RPC that nobody answers. If it is writing just
 * now, nothing is done, as its disk may hang. An error is logged.
 */
void auc_status_shut(void);

#endif
