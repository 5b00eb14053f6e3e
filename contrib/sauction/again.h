/*
 * again.h - a decision of the past made again: the auction as the spool says it was when a bid
 * came, in a spool of its own, asked once more by the same code.
 */
#ifndef SAUCTION_AGAIN_H
#define SAUCTION_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "auction/auction.h"

struct json_object;

/* Records of a spool, in their order. */
struct again_records {
	unsigned n, alloc, snapshot; /* the first SNAPSHOT are those of the snapshot */
	struct json_object **list;
};
/* Reads the spool in DIR without changing it. AUC_EIO, AUC_ENOENT, AUC_ECORRUPT, AUC_ENOMEM. */
enum auc_code again_read(const char *dir, struct again_records *r, struct auc_err *err);
void again_clear(struct again_records *r);

/*
 * The auction at the moment of the decision that record POS of R, a "sold", is of: what the spool
 * kept of that time, with auction.conf CONF (owned) and the nodes of STATUS (doc/status.md) as they
 * are now. *NOW: the Unix time that it is asked at, within a slot of the true one. AUC_EINVAL,
 * AUC_EIO, AUC_ESTATE, or as auc_auction_open_spool().
 */
enum auc_code again_make(const struct again_records *r, unsigned pos, struct auc_conf *conf,
			 struct json_object *status, struct auc_auction **a, double *now,
			 struct auc_err *err);
/* The bid of SOLD, a record, with the accounts that paid; confined to PARTITION unless NULL. */
enum auc_code again_bid(const struct auc_conf *conf, struct json_object *sold,
			const char *partition, struct auc_bid *bid, struct auc_err *err);

#endif
