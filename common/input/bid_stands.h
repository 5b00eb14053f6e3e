/* bid_stands.h - what a bid says of standing (--stands): for how long, and since when. */
#ifndef AUC_BID_STANDS_H
#define AUC_BID_STANDS_H

#include <stdio.h>

#include "input/bid.h"

/* The words "stands", "since" and "array" of a text, as the functions in bid.c's table. */
enum auc_code auc_bid_stands_word(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_since_word(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_array_word(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);
/* True if TEXT, as it is printed here, is of a task of the array JOB. */
bool auc_bid_is_of_array(const char *text, uint32_t job);
/* Prints the last two of BID, each behind a blank. */
void auc_bid_stands_print(FILE *out, const struct auc_bid *bid);
/* AUC_EINVAL if BID says that it stands and cannot. STEPPER: the policy, if it refuses nothing for
 * its price, else NULL. */
enum auc_code auc_bid_stands_check(const struct auc_bid *bid, const char *stepper,
				   struct auc_err *err);

#endif
