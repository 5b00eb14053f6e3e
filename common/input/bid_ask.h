/* bid_ask.h - what a bid asks before anything is bought (--quote), and the answer to it (--accept).
 */
#ifndef AUC_BID_ASK_H
#define AUC_BID_ASK_H

#include "input/bid.h"

/* The words "quote" and "accept" of a text, as the functions in bid.c's table. */
enum auc_code auc_bid_quote_word(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_accept_word(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err);
/* AUC_EINVAL if BID accepts an offer and cannot. POLICY: its name, if it makes no offers, else
 * NULL. */
enum auc_code auc_bid_accept_check(const struct auc_bid *bid, const char *policy,
				   struct auc_err *err);

#endif
