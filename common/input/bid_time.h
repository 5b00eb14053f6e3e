/* bid_time.h - what a bid says of times that may turn out other than stated. */
#ifndef AUC_BID_TIME_H
#define AUC_BID_TIME_H

#include "input/bid.h"

/* The words "overrun", "time-max", "planned", "profile", "requeue" and "notice" of a text, as the
 * functions in bid.c's table. */
enum auc_code auc_bid_overrun_word(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_time_max_word(const struct auc_conf *conf, const char *value,
				    struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_planned_word(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_profile_word(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_requeue_word(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err);
enum auc_code auc_bid_notice_word(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err);
/*
 * The seconds of --time-max become a factor of STATED, the seconds that BID states; <= 0: it states
 * none, as its plan decides how long it takes. AUC_EINVAL: the sentence is the user's.
 */
enum auc_code auc_bid_time_max_of(struct auc_bid *bid, double stated, struct auc_err *err);
/* Words of a text that is kept: " time-max=1.33x planned=1.2". */
void auc_bid_time_print(FILE *out, const struct auc_bid *bid);
/* AUC_EINVAL if BID says what policy NAME (NULL: any) does not sell: more slots, a longer plan. */
enum auc_code auc_bid_time_check(const struct auc_bid *bid, const char *name, struct auc_err *err);

#endif
