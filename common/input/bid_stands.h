/* bid_stands.h - what a bid says of standing (--stands): for how long, and since when. */
#ifndef AUC_BID_STANDS_H
#define AUC_BID_STANDS_H

#include "input/bid.h"

/* The words "stands" and "since" of a text, as the functions in bid.c's table. */
enum auc_code auc_bid_stands_word(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_since_word(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);
/* AUC_EINVAL if BID says that it stands and cannot. STEPPER: the policy, if it refuses nothing for
 * its price, else NULL. */
enum auc_code auc_bid_stands_check(const struct auc_bid *bid, const char *stepper,
				   struct auc_err *err);

#endif
