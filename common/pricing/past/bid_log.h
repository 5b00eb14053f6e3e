/*
 * bid_log.h - the last bids, accepted and refused, without names. A fit (fit.h) takes them for the
 * bids to come. Users are numbered as they come, so that the influence of one user can be bounded
 * (user_share.h); only this process knows which user has which number, and a restart gives new
 * numbers. The log is bounded by count and by bytes. The oldest bids go first; if a user has nine
 * tenths of them, that user's, so nobody can drive out the others' bids.
 *
 * Users resubmit refused bids, sometimes in a loop. Such repeats count as one job: it is kept once,
 * with the time of the first and the words of the last (auc_bid_log_set_period()). An accepted bid
 * counts once its job exists; before that it waits (auc_bid_log_wait()), because sbatch --test-only
 * and limits of Slurm's make bids without jobs.
 */
#ifndef AUC_BID_LOG_H
#define AUC_BID_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "input/bid.h"
#include "base/err.h"
#include "ledger/ledger.h"
#include "pricing/past/user_share.h"

struct json_object;
struct auc_bid_log;

#define AUC_BID_LOG_BYTES (4u << 20) /* of the texts of all bids together */

struct auc_logged_bid {
	double time;         /* Unix time of its decision, the first one */
	double last;         /* and of the last one, if it was made again */
	double slot_seconds; /* of the slots that its times are in */
	bool accepted;
	unsigned user; /* user_share.h: the same for the same user, since this process began */
	bool known;    /* whose it is, UID: never written */
	uint32_t uid;
	char *text;    /* canonical text of the bid (bid.h) */
	uint64_t work; /* a hash of what is in it but the utility */
	unsigned npartitions;
	char (*partitions)[AUC_NAME_MAX]; /* to which it was confined */
};

/* Keeps the last LIMIT bids. NULL: no memory, or LIMIT is 0. */
struct auc_bid_log *auc_bid_log_create(unsigned limit);
void auc_bid_log_destroy(struct auc_bid_log *p);
/* Takes another limit >= 1, forgetting the oldest where it is lower. AUC_ENOMEM: as before. */
enum auc_code auc_bid_log_set_limit(struct auc_bid_log *p, unsigned limit, struct auc_err *err);
/*
 * From now on a bid of the same user for the same work is a refused one made again, if that was
 * made (again) a slot's length before it at least and AUC_BID_LOG_AGAIN of SECONDS at most, and
 * less than SECONDS before it for the first time. 0, as it begins: none is.
 */
void auc_bid_log_set_period(struct auc_bid_log *p, double seconds);
#define AUC_BID_LOG_AGAIN 0.25

unsigned auc_bid_log_count(const struct auc_bid_log *p);
/* How many bids were ever added, those made again, too: what is new since a fit. */
unsigned long long auc_bid_log_added(const struct auc_bid_log *p);
/* True if older bids than the first were forgotten. */
bool auc_bid_log_truncated(const struct auc_bid_log *p);
/* Bid I, 0 the oldest; stays valid until the next change. */
const struct auc_logged_bid *auc_bid_log_at(const struct auc_bid_log *p, unsigned i);

/* Remembers BID, whose canonical text is TEXT, of user UID, which was decided at TIME in slots of
 * SLOT_SECONDS. AUC_ENOMEM. */
enum auc_code auc_bid_log_add(struct auc_bid_log *p, const struct auc_bid *bid, const char *text,
			      uint32_t uid, double time, double slot_seconds, bool accepted,
			      struct auc_err *err);
/*
 * The same, accepted, once there is a job of SALE, a lien: until then it is in memory alone, and is
 * gone when AUC_BID_LOG_WAITING others wait, or AUC_BID_LOG_BYTES of text. AUC_ENOMEM.
 */
enum auc_code auc_bid_log_wait(struct auc_bid_log *p, const char *sale, const struct auc_bid *bid,
			       const char *text, uint32_t uid, double time, double slot_seconds,
			       struct auc_err *err);
#define AUC_BID_LOG_WAITING 4096
/* The job of SALE exists: its bid is logged, by time. False: nothing waits for SALE, or no memory.
 */
bool auc_bid_log_take(struct auc_bid_log *p, const char *sale);
/* Whether the bid that was added last was one made again; and that bid as an event "bid", which has
 * the same effect on a log that is replayed (new reference, NULL: no memory). Call them before any
 * other change. */
bool auc_bid_log_was_again(const struct auc_bid_log *p);
struct json_object *auc_bid_log_added_event(const struct auc_bid_log *p);
/* A copy of all. NULL: no memory. */
struct auc_bid_log *auc_bid_log_copy(const struct auc_bid_log *p);

/* Bid I as an event "bid" (doc/ledger.md); new reference, NULL: no memory. */
struct json_object *auc_bid_log_event(const struct auc_bid_log *p, unsigned i);
/* True if EVENT is one of these. */
bool auc_bid_log_knows(struct json_object *event);
/* Remembers what such an event says. AUC_ECORRUPT. */
enum auc_code auc_bid_log_apply(struct auc_bid_log *p, struct json_object *event,
				struct auc_err *err);

#endif
