/*
 * refund.h - the refund rule: what of a payment comes back, and when. doc/ledger.md, "Refunds", is
 * what users and sites read of it; nobody else computes a refund.
 *
 * It is a function of the sale, the cause of its end (why.h), the time and two keys of auction.conf
 * (CancelFee, RefundUnused): no ledger, no lock, no clock.
 */
#ifndef AUC_REFUND_H
#define AUC_REFUND_H

#include "input/conf.h"
#include "ledger/ledger.h"

/*
 * The share, from 0 to 1, of its payment that is kept of S if it is cancelled at NOW (Unix time)
 * before its job has begun: what CancelFee says of the time that is left until the plan starts. 0:
 * the job is late (30 s after its first slot began), or lost slots by being put off.
 */
double auc_refund_cancel_share(const struct auc_conf *conf, const struct auc_sale *s, double now);

/*
 * What of its payment S, sold or running, gets back if it ends at NOW for WHY; from 0 to the whole
 * payment. Rounded to the micro-credit, in favour of the user before the start and down after it.
 */
auc_money auc_refund_due(const struct auc_conf *conf, const struct auc_sale *s, const char *why,
			 double now);

#endif
