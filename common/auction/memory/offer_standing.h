/*
 * offer_standing.h - offers that stand: a quote of posted prices can be bought for some time at its
 * price, even if the price has changed since.
 *
 * An offer holds a price, no capacity: otherwise a user could keep everybody out by asking, for
 * nothing. It is for one user, one job's work and one sale. The table is bounded, in all and by
 * user, and only in memory. Times are Unix time; a clock that is set back or ahead by an offer's
 * time ends it. Not thread-safe: auction.h locks around it.
 */
#ifndef AUC_OFFER_STANDING_H
#define AUC_OFFER_STANDING_H

#include <stdint.h>

#include "base/err.h"
#include "ledger/ledger.h"
#include "policy/policy.h"

#define AUC_OFFER_MAX      2048
#define AUC_OFFER_PER_USER 16 /* one more replaces the user's oldest */

enum auc_offer_standing_state {
	AUC_OFFER_EXPIRED,
	AUC_OFFER_OPEN,
	AUC_OFFER_SOLD,
	AUC_OFFER_VOID, /* the market is another one now */
};

/* What was offered. */
struct auc_standing_offer {
	uint64_t id; /* of all that this controller makes; not 0 */
	uint32_t uid;
	uint64_t work;        /* a hash of the job that it is for */
	double made, seconds; /* it stands so long */
	enum auc_offer_standing_state state;
	char sale[AUC_SALE_ID_LEN];   /* the last lien put for it; "": none yet */
	struct auc_decision decision; /* the policy's; its plan is empty when the offer is over */
};

struct auc_offer_standing;

/* NULL: no memory, or no random number to begin with. */
struct auc_offer_standing *auc_offer_standing_create(void);
void auc_offer_standing_destroy(struct auc_offer_standing *s);

/*
 * Has DECISION stand for SECONDS from NOW on, for UID and WORK; *ID names it. AUC_EFULL:
 * AUC_OFFER_MAX stand, none of them UID's oldest of too many; AUC_ENOMEM.
 */
enum auc_code auc_offer_standing_add(struct auc_offer_standing *s, uint32_t uid, uint64_t work,
				     const struct auc_decision *decision, double now,
				     double seconds, uint64_t *id, struct auc_err *err);

/*
 * The offer ID, if UID may take it for WORK at NOW, until the next call with S. AUC_ENOENT: not
 * known; AUC_EINVAL: another user's, or for another job; AUC_ESTATE: it is over, or sold. The
 * sentences are the user's.
 */
enum auc_code auc_offer_standing_find(struct auc_offer_standing *s, uint64_t id, uint32_t uid,
				      uint64_t work, double now, struct auc_standing_offer **offer,
				      struct auc_err *err);

/* SALE is the lien put for offer ID. As long as that is no job, the offer can be had again. */
void auc_offer_standing_take(struct auc_offer_standing *s, uint64_t id, const char *sale);
/* SALE is a job: the offer that it was put for, if there is one, is sold. */
void auc_offer_standing_sold(struct auc_offer_standing *s, const char *sale);

/* None of them stands any more. */
void auc_offer_standing_void(struct auc_offer_standing *s);

/* How many are kept, those that are over for a while, too: at most AUC_OFFER_MAX. */
unsigned auc_offer_standing_count(const struct auc_offer_standing *s);

#endif
