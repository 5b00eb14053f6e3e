/*
 * past.h - the last bids, accepted and refused, as they were made but without names: what a fit
 * (fit.h) takes for the bids that are to come. Users are numbered as they come, so that what one of
 * them can make of it is bounded (users.h); which user that is, only this process knows, and after
 * a restart the numbers go on with new ones. Bounded by count and by bytes; the oldest go first, of
 * a user with nine tenths of them before the others': nobody drives out what others bid.
 */
#ifndef AUC_PAST_H
#define AUC_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "bid.h"
#include "err.h"
#include "users.h"

struct json_object;
struct auc_past;

#define AUC_PAST_BYTES (4u << 20) /* of the texts of all bids together */

struct auc_past_bid {
	double time;         /* Unix time of its decision */
	double slot_seconds; /* of the slots that its times are in */
	bool accepted;
	unsigned user; /* users.h: the same for the same user, since this process began */
	bool known;    /* whose it is, UID: never written */
	uint32_t uid;
	char *text; /* canonical text of the bid (bid.h) */
	unsigned npartitions;
	char (*partitions)[AUC_NAME_MAX]; /* to which it was confined */
};

/* Keeps the last LIMIT bids. NULL: no memory, or LIMIT is 0. */
struct auc_past *auc_past_create(unsigned limit);
void auc_past_destroy(struct auc_past *p);
/* Takes another limit >= 1, forgetting the oldest where it is lower. AUC_ENOMEM: as before. */
enum auc_code auc_past_set_limit(struct auc_past *p, unsigned limit, struct auc_err *err);
unsigned auc_past_count(const struct auc_past *p);
/* How many bids were ever added: what is new since a fit. */
unsigned long long auc_past_added(const struct auc_past *p);
/* True if older bids than the first were forgotten. */
bool auc_past_truncated(const struct auc_past *p);
/* Bid I, 0 the oldest; stays valid until the next change. */
const struct auc_past_bid *auc_past_at(const struct auc_past *p, unsigned i);

/* Remembers BID of user UID, which was decided at TIME in slots of SLOT_SECONDS. AUC_ENOMEM. */
enum auc_code auc_past_add(struct auc_past *p, const struct auc_bid *bid, uint32_t uid, double time,
			   double slot_seconds, bool accepted, struct auc_err *err);
/* A copy of all. NULL: no memory. */
struct auc_past *auc_past_copy(const struct auc_past *p);

/* Bid I as an event "bid" (doc/ledger.md); new reference, NULL: no memory. */
struct json_object *auc_past_event(const struct auc_past *p, unsigned i);
/* True if EVENT is one of these. */
bool auc_past_knows(struct json_object *event);
/* Remembers what such an event says. AUC_ECORRUPT. */
enum auc_code auc_past_apply(struct auc_past *p, struct json_object *event, struct auc_err *err);

#endif
