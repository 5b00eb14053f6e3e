/*
 * receipt.h - what stands in a job's AdminComment, which users cannot write: one JSON object on one
 * line (doc/receipt.md).
 *
 *   {"auction":1,"sale":"ab12-7","state":"lien|sold|running|settled","policy":"dps","payment":"12.600000",
 *    "slot_seconds":300,"worker_type":"v100","ps_type":"ps.m","colocated":false,"arrival":..,
 *    "start":..,"completion":..,"plan":[{"from":..,"to":..,"workers":{"edge1":2},"ps":{"edge1":1}}],
 *    "worker_tres":{"cpu":4,...},"ps_tres":{...},"sealed":"...","refund":"0.000000","why":"completed"}
 *
 * A gang's has "shape":0,"per_node":{"cpu":4,...} and, if all its nodes are to be on one switch,
 * "gang_within":"switch", and of a block "gang_block":true, in place of what is said of types, and
 * "nodes":["edge1",...] in its run.
 *
 * Anybody can read it, so "sealed" has the value and the bid, for the controller alone (seal.h).
 *
 * "payment" is what is paid in that state (agreed, or after the refund once settled). A member has
 *   {"auction":1,"sale":"ab12-7","state":"member","lead":123}
 * and a bid that stands, or stood and was not sold,
 *   {"auction":1,"sale":"w-...","state":"waiting|unsold","since":..,"until":..,"sealed":"...","why":..}
 * An array whose tasks are decided has "tasks":10,"at_once":2 in it, too.
 */
#ifndef AUC_RECEIPT_H
#define AUC_RECEIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/seal.h"
#include "ledger/ledger.h"
#include "market/market.h"

/* Bytes that the accounting keeps of a receipt: what MySQL's "text" holds. */
#define AUC_RECEIPT_MAX 65535

/* What a receipt says without a market: for the launcher, the commands and the tests. Names, not
 * indices. */
struct auc_receipt_share {
	char server[AUC_NAME_MAX];
	unsigned workers, ps; /* a node of a gang: 1 and 0 */
};
struct auc_receipt_run {
	auc_slot from, to;
	unsigned first_share, nshares;
};
/* Chunks that are moved in that slot, to be trained elsewhere. */
struct auc_receipt_move {
	auc_slot slot;
	char from[AUC_NAME_MAX], to[AUC_NAME_MAX];
	uint64_t chunks;
};
struct auc_receipt {
	char sale[AUC_SALE_ID_LEN];
	char state[16]; /* "lien", "sold", "running", "settled", "member", "waiting", "unsold" */
	double since, until; /* the last two only: Unix time */
	unsigned tasks;      /* of them: how many tasks of an array; 0: it is none */
	uint32_t lead;       /* member only */
	char policy[AUC_NAME_MAX], worker_type[AUC_NAME_MAX], ps_type[AUC_NAME_MAX];
	bool colocated;
	bool gang; /* then without types, and with */
	bool within_switch;
	bool block;
	unsigned shape, nper_node;
	struct auc_named per_node[AUC_TRES_MAX]; /* of each node */
	double slot_seconds;
	auc_slot arrival, start, completion;
	double planned; /* for how many times what it states the job was planned; 0: as it states */
	auc_money payment, refund;
	char why[24];
	unsigned nworker_tres, nps_tres;
	struct auc_named worker_tres[AUC_TRES_MAX],
		ps_tres[AUC_TRES_MAX]; /* of one worker, of one PS */
	unsigned nruns, nshares, nchunks;
	struct auc_receipt_run *runs;
	struct auc_receipt_share *shares;
	char (*chunks)[AUC_NAME_MAX]; /* by chunk: the server it stays on; of policies that say so
				       */
	/* Of policies that move chunks: the bytes that one may have, what is moved, by slot, and
	 * where the chunks lie at first: the first data[0].value ones on data[0].name, and so on.
	 */
	uint64_t chunk_bytes;
	unsigned nmoves, ndata;
	struct auc_receipt_move *moves;
	struct auc_named data[AUC_BID_DATA_MAX];
};

/* True if TEXT looks like one of ours (begins with {"auction":): what job_submit must not let a
 * user send. */
bool auc_receipt_is(const char *text);
/* True if TEXT, a receipt as it is printed here, says STATE: what it costs to find out is next to
 * nothing. */
bool auc_receipt_says(const char *text, const char *state);
/* Parses and checks everything. Free with auc_receipt_clear(). AUC_EINVAL. */
enum auc_code auc_receipt_parse(const char *text, struct auc_receipt *r, struct auc_err *err);
void auc_receipt_clear(struct auc_receipt *r);

/*
 * Text of a sale's receipt, malloc'd; REFUND and WHY only for state settled. Value and bid are
 * sealed with SEAL; NULL leaves them out, as a settled sale does. NULL: no memory. Where
 * it would have more than AUC_RECEIPT_MAX bytes, plan, chunks and transfers are packed (packed.h),
 * as one object; if that is not enough, it is longer.
 */
char *auc_receipt_print(const struct auc_sale *sale, const struct auc_market *m,
			const struct auc_seal *seal, auc_money refund, const char *why);
/* A bid that stands: what its value counts from, until when it does, and itself. */
struct auc_waiting {
	char id[AUC_SALE_ID_LEN]; /* unique for ever; of no sale */
	double since, until;      /* Unix time */
	char *bid;                /* its canonical text */
	double max_price;         /* where prices are posted; < 0: none */
	unsigned tasks;           /* of an array, all or those that were not sold; 0: it is none */
	unsigned at_once;         /* so many of them run at a time; 0: any number */
	bool stays;               /* those that are refused are decided again until then */
};
/* Its receipt, with the bid sealed with SEAL; the one that it gets when it ends unsold for WHY.
 * malloc'd; NULL: no memory, or no SEAL. */
char *auc_receipt_print_waiting(const struct auc_waiting *w, const struct auc_seal *seal);
char *auc_receipt_print_unsold(const struct auc_waiting *w, const char *why);
/* Reads the first; W->bid is malloc'd. AUC_EINVAL: it cannot be read or opened; AUC_ESTATE: it is
 * another receipt. */
enum auc_code auc_receipt_open_waiting(const char *text, const struct auc_seal *seal,
				       struct auc_waiting *w, struct auc_err *err);
/* True if R is one of the two. */
bool auc_receipt_is_waiting(const struct auc_receipt *r);
char *auc_receipt_print_member(const char *sale_id, uint32_t lead);
/*
 * The sale a receipt stands for, resolved against M, without job and user (for auc_ledger_adopt());
 * clear with auc_sale_clear(). AUC_EINVAL; AUC_ENOENT: it names what M does not have; AUC_ESTATE:
 * it is settled, a member's, or in slots of another length. If SEAL (may be NULL) is not the one
 * that it was made with, the sale is worth what it pays and its bid is "", or says only where its
 * data lie.
 */
enum auc_code auc_receipt_to_sale(const char *text, const struct auc_market *m,
				  const struct auc_seal *seal, struct auc_sale *sale,
				  struct auc_err *err);

#endif
