/*
 * user_limits.h - how many bids and quotes a user may make: so many in a minute. One that becomes a
 * job is not counted. And how often a user is believed who leaves an offer. In memory only. Not
 * thread-safe: auction.h locks around it.
 *
 * Each user has a purse of as many tokens as the limit, which fills up again within a minute; each
 * decision takes one, and each that becomes a job gives its one back.
 */
#ifndef AUC_USER_LIMITS_H
#define AUC_USER_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#define AUC_USER_LIMITS_MAX 65536 /* users that are known at a time */

struct auc_user_limits;

/* NULL: no memory. */
struct auc_user_limits *auc_user_limits_create(void);
void auc_user_limits_destroy(struct auc_user_limits *l);

/*
 * UID makes a bid or quote at Unix time NOW, of PER_MINUTE (0: no limit). 0: it may; else the
 * seconds to wait until it may. A clock that is set back counts as no time. A user for whom there
 * is no memory has no limit.
 */
double auc_user_limits_take(struct auc_user_limits *l, uint32_t uid, double now,
			    unsigned per_minute);
/* A bid of UID has become a job. */
void auc_user_limits_give_back(struct auc_user_limits *l, uint32_t uid);
/*
 * UID leaves an offer at NOW. Leaving costs nothing, so all of a user's refusals weigh as one: true
 * if it is the first since its last bid that became a job, or the last that was believed is a day
 * ago. False also if there is no memory for it.
 */
bool auc_user_limits_believe(struct auc_user_limits *l, uint32_t uid, double now);
/* How many users are known. */
unsigned auc_user_limits_count(const struct auc_user_limits *l);

#endif
