/* bid_resolve.h - a bid against a market: names become indices, and times slots. */
#ifndef AUC_BID_RESOLVE_H
#define AUC_BID_RESOLVE_H

#include "input/bid.h"
#include "market/market.h"

/*
 * Fills *JOB (zeroed or used before: its upload array is reused) from BID. AUC_ENOENT names a type,
 * server or group nobody has. Free with auc_job_clear().
 */
enum auc_code auc_bid_resolve(const struct auc_market *m, const struct auc_bid *bid,
			      auc_slot arrival, struct auc_job *job, struct auc_err *err);
/*
 * Says in BID's uploads what its partitions say: nothing outside them gets data, neither what M has
 * nor what it will have. The text of a bid has uploads, but no partitions. AUC_EFULL: it names too
 * many sites.
 */
enum auc_code auc_bid_confine(struct auc_bid *bid, const struct auc_market *m, struct auc_err *err);
/* Puts the names of M's servers where BID's data have those of groups of one server. */
void auc_bid_name_nodes(struct auc_bid *bid, const struct auc_market *m);

#endif
