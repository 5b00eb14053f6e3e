/* bid_limits.h - whose limits of Slurm a sale counts against: its QOS, and its accounts. */
#ifndef AUC_BID_LIMITS_H
#define AUC_BID_LIMITS_H

#include <stdio.h>

#include "input/bid.h"

/* The words "qos" and "accounts" of a text that is kept, as the functions in bid.c's table. */
enum auc_code auc_bid_qos_word(const struct auc_conf *conf, const char *value, struct auc_bid *bid,
			       const char *what, struct auc_err *err);
enum auc_code auc_bid_accounts_word(const struct auc_conf *conf, const char *value,
				    struct auc_bid *bid, const char *what, struct auc_err *err);
/* Those words: " qos=normal accounts=lab,root"; nothing where BID has no QOS. */
void auc_bid_limits_print(FILE *out, const struct auc_bid *bid);
/* The account ("": it has none) and the QOS of the bid TEXT; false: it has no QOS. */
bool auc_bid_limits_of(const char *text, char account[AUC_NAME_MAX], char qos[AUC_NAME_MAX]);
/* True if the bid TEXT is of QOS; of ACCOUNT or, unless EXACTLY, one below it. */
bool auc_bid_is_of_qos(const char *text, const char *qos);
bool auc_bid_is_of_account(const char *text, const char *account, bool exactly);

#endif
