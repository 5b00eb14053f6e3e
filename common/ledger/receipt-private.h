/* receipt-private.h - between the files of receipts: what of a bid stands in one, and how. */
#ifndef AUC_RECEIPT_PRIVATE_H
#define AUC_RECEIPT_PRIVATE_H

#include "ledger/receipt.h"

struct json_object;

/* Adds "sealed", the value and the bid of SALE, if there is a SEAL; and "data", where the chunks
 * lie at first, to a receipt with transfers. False: no memory. */
bool auc_receipt_add_bid(struct json_object *o, const struct auc_sale *sale,
			 const struct auc_seal *seal);
/*
 * Sets value and bid of SALE, whose payment is set, from the receipt O: in the clear, as older
 * receipts have them, or sealed. If they cannot be read the sale is worth what it pays and its bid
 * is "": nothing of it will be changed any more. AUC_EINVAL, AUC_ENOMEM.
 */
enum auc_code auc_receipt_take_bid(struct json_object *o, const struct auc_seal *seal,
				   struct auc_sale *sale, struct auc_err *err);
#define AUC_RECEIPT_VERSION 1

/* What O, of a bid that stands or stood, says, into R, whose state is set. AUC_EINVAL. */
enum auc_code auc_receipt_read_waiting(struct json_object *o, struct auc_receipt *r,
				       struct auc_err *err);
/* Where the chunks lie at first, into R. AUC_EINVAL. */
enum auc_code auc_receipt_read_data(struct json_object *o, struct auc_receipt *r,
				    struct auc_err *err);

#endif
