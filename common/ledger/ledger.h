/*
 * ledger.h - what was sold to whom. A sale goes through
 *
 *   lien --confirm--> sold --start--> running --settle--> gone       (sold, running: change)
 *     \                 \--settle (cancelled: refund)--> gone
 *      \--lapse, drop--> gone
 *
 * Of a sale that is gone only the totals and its last event remain. Every change is an event: one
 * JSON object that the spool stores. Applied in order to an empty ledger, the events give the same
 * ledger again (doc/ledger.md). Liens are in memory only, because nothing is sold yet; lapsed ones
 * are counted. The ledger books and unbooks the market that it is given. Not thread-safe: auction.h
 * locks around it.
 */
#ifndef AUC_LEDGER_H
#define AUC_LEDGER_H

#include <stdint.h>

#include "base/err.h"
#include "ledger/accounts.h"
#include "market/market.h"
#include "base/num.h"
#include "market/plan.h"

struct json_object;

enum auc_sale_state { AUC_SALE_LIEN, AUC_SALE_SOLD, AUC_SALE_RUNNING, AUC_SALE_SETTLED };
const char *auc_sale_state_word(enum auc_sale_state s); /* "lien", "sold", "running", "settled" */

#define AUC_SALE_ID_LEN 40

struct auc_sale {
	/* Unique for ever: "<boot>-<n>", boot = 64 random bits in hex chosen at start. */
	char id[AUC_SALE_ID_LEN];
	enum auc_sale_state state;
	uint32_t job_id; /* 0 while a lien */
	uint32_t uid;
	double expires;           /* lien: Unix time at which it lapses */
	bool unclaimed;           /* lien: it was looked for, and there is no job of it */
	auc_money value, payment; /* payment: what was agreed at the sale */
	struct auc_payers payers; /* none: the mint pays */
	bool paid;                /* to be adopted: its receipt says that it was sold before */
	char policy[AUC_NAME_MAX];
	struct auc_plan plan;
	unsigned revision; /* of the plan: how often it was changed since it was read */
	char *bid;         /* canonical text */
};

/* Frees what a sale holds. */
void auc_sale_clear(struct auc_sale *sale);
/* Adds what makes a sale's record readable without the configuration: slot_seconds, worker_tres,
 * ps_tres. False: no memory. */
bool auc_sale_add_types(struct json_object *o, const struct auc_sale *s,
			const struct auc_market *m);

struct auc_totals {
	/* Counts since the ledger began; dropped liens count as lapsed. */
	uint64_t bids; /* outcomes: refused + lapsed + sold */
	uint64_t refused, lapsed, sold, settled;
	auc_money charged;  /* payments of all sales ever confirmed */
	auc_money refunded; /* given back at settlements */
	/* revenue = charged - refunded; live sales are in it with their full payment */
	auc_money settled_revenue; /* payments kept of settled sales */
};

/* Bytes of a sale's record: with what is put around it a line of the spool, and a receipt, hold it.
 */
#define AUC_RECORD_MAX ((1u << 20) - 4096)

struct auc_ledger;

/* An event sink: called inside the ledger operation with a new JSON object that it must put or
 * keep. */
typedef void (*auc_event_fn)(void *arg, struct json_object *event);

/* An empty ledger over M (borrowed). EMIT may be NULL. NULL: no memory. */
struct auc_ledger *auc_ledger_create(struct auc_market *m, auc_event_fn emit, void *arg);
void auc_ledger_destroy(struct auc_ledger *l);

/* Books PLAN until EXPIRES, and its payment with PAYERS (NULL: nobody pays); the sale's ID is
 * written to ID[AUC_SALE_ID_LEN]. AUC_EFULL if it does not fit any more, or its record would be
 * longer than AUC_RECORD_MAX; AUC_ELIMIT if they have not so much left. */
enum auc_code auc_ledger_hold(struct auc_ledger *l, const struct auc_plan *plan, const char *policy,
			      const char *bid, uint32_t uid, const struct auc_payers *payers,
			      double expires, char *id, struct auc_err *err);
/* Unbooks liens that lapsed by NOW, or have more than LONGEST left, as the clock was set back;
 * returns how many. */
unsigned auc_ledger_lapse(struct auc_ledger *l, double now, double longest);
/* Drops one lien at once. AUC_ENOENT, AUC_ESTATE. */
enum auc_code auc_ledger_drop(struct auc_ledger *l, const char *id, struct auc_err *err);
/* There was no job of lien ID when it was looked for; no lien of that ID: nothing happens. */
void auc_ledger_unclaim(struct auc_ledger *l, const char *id);
/*
 * Lien -> sold for JOB_ID. Repeating it with the same job is AUC_OK without an event; a second job
 * for the same sale is AUC_ESTATE; a lien that has lapsed is AUC_ENOENT (see auc_ledger_adopt()).
 */
enum auc_code auc_ledger_confirm(struct auc_ledger *l, const char *id, uint32_t job_id,
				 struct auc_err *err);
/* Sells again "as it stood" a sale that only a receipt knows, at its price; AUC_EFULL, AUC_EEXIST;
 * AUC_ELIMIT: it was not paid before, and its payers have not so much left. STATE sold or running.
 */
enum auc_code auc_ledger_adopt(struct auc_ledger *l, const struct auc_sale *sale,
			       struct auc_err *err);
/* Sold -> running. */
enum auc_code auc_ledger_start(struct auc_ledger *l, uint32_t job_id, double when,
			       struct auc_err *err);
/*
 * Ends a sale: slots from FREE_FROM on go back on sale, REFUND (0..payment) is given back, WHY is
 * one word
 * (a word of why.h). The sale is gone
 * afterwards.
 */
enum auc_code auc_ledger_settle(struct auc_ledger *l, uint32_t job_id, auc_slot free_from,
				auc_money refund, const char *why, struct auc_err *err);
/*
 * Gives the sale of JOB_ID another plan, with the same past, and what it is worth and costs then:
 * PAYMENT is not below what was agreed, nor above VALUE. AUC_EFULL: it does not fit, AUC_ELIMIT:
 * its payers have not so much left, and nothing has changed.
 */
enum auc_code auc_ledger_change(struct auc_ledger *l, uint32_t job_id, const struct auc_plan *plan,
				auc_money value, auc_money payment, struct auc_err *err);
/*
 * The same for several sales at once, whose payment stays: all, or none (AUC_EFULL: what is booked
 * besides them leaves no room). An event for each.
 */
struct auc_revision {
	uint32_t job_id;
	const struct auc_plan *plan; /* borrowed */
	auc_money value;             /* what it is worth there; less than before is not said */
};
enum auc_code auc_ledger_revise(struct auc_ledger *l, const struct auc_revision *list, unsigned n,
				struct auc_err *err);
/* Counts a refused bid (an event, so that totals survive). */
void auc_ledger_refuse(struct auc_ledger *l, const char *reason);
/* Makes a transfer by hand, a refill or a return: as auc_books_transfer(), with an event. */
enum auc_code auc_ledger_transfer(struct auc_ledger *l, const struct auc_transfer *t,
				  struct auc_err *err);
/* Who has how much; borrowed. */
const struct auc_books *auc_ledger_books(const struct auc_ledger *l);

/* Look-ups; pointers stay valid until the next change. NULL: none. */
const struct auc_sale *auc_ledger_find(const struct auc_ledger *l, const char *id);
const struct auc_sale *auc_ledger_find_job(const struct auc_ledger *l, uint32_t job_id);
/* True if all that the sale of JOB_ID takes is booked: its nodes still have it. */
bool auc_ledger_is_booked(const struct auc_ledger *l, uint32_t job_id);
unsigned auc_ledger_count(const struct auc_ledger *l);
/* I from 0 to count - 1, in order of sale. */
const struct auc_sale *auc_ledger_at(const struct auc_ledger *l, unsigned i);
/* Another with each change of L; not 0. */
uint64_t auc_ledger_edition(const struct auc_ledger *l);
const struct auc_totals *auc_ledger_totals(const struct auc_ledger *l);

/*
 * Applies one stored event (or snapshot record) silently. AUC_ECORRUPT with the reason. A sale
 * whose plan the market cannot take any more (a name that is gone, no room) is kept all the same,
 * see auc_ledger_rebase(), which is to be called after the last event.
 */
enum auc_code auc_ledger_apply(struct auc_ledger *l, struct json_object *event,
			       struct auc_err *err);
/*
 * A copy to look at and to dump, over the same market, without events, for when L is behind a lock:
 * nothing may change it. NULL: no memory.
 */
struct auc_ledger *auc_ledger_copy(const struct auc_ledger *l);
/* Emits records that rebuild the whole ledger (liens excluded) through FN: totals first, then every
 * live sale. AUC_ENOMEM. */
enum auc_code auc_ledger_dump(const struct auc_ledger *l, auc_event_fn fn, void *arg,
			      struct auc_err *err);

/*
 * Moves the ledger to another market, empty and ready, and books all live sales and liens there by
 * name, as far as they fit. Liens that do not fit are dropped. AUC_EFULL names a sale that does not
 * fit whole and counts them: the rest is done. AUC_ENOENT, AUC_ESTATE, AUC_ENOMEM: a sale names
 * what TO does not have, or was sold in slots of another length; nothing has changed then and the
 * ledger still uses its old market.
 */
enum auc_code auc_ledger_rebase(struct auc_ledger *l, struct auc_market *to, struct auc_err *err);
/* AUC_ECORRUPT unless the money adds up: charged - refunded = settled_revenue + payments of live
 * sales, that is what the market has got, and the sum over all accounts is 0. */
enum auc_code auc_ledger_check(const struct auc_ledger *l, struct auc_err *err);
/* The same from every account anew: when a spool was read. */
enum auc_code auc_ledger_audit(const struct auc_ledger *l, struct auc_err *err);

#endif
