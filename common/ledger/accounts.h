/*
 * accounts.h - who has how much money: accounts, and transfers between them.
 *
 * Money is never made nor lost: a transfer takes an amount from one account and gives it to
 * another, so the sum over all accounts is 0 after each. The accounts are
 *
 *   mint           where money comes from: what it has given is what it owes
 *   market         what sales have brought, less refunds and what was returned
 *   tree           the other side of what a parent is counted for when a child of it spends
 *   user:UID       a user's own
 *   account:NAME   a Slurm account's
 *
 * A lien is a pending debit of those who pay for it, a sale posts it, a lapse voids it, and a
 * refund is a transfer back. An account that was ever granted anything is limited: its debits,
 * pending ones among them, do not exceed its credits; what it spent before that is made good with
 * the first grant, so that the grant is what it has left. Transfers by hand have an id that their
 * maker chose, so that a repeat is known and does nothing; nothing is corrected but by another
 * transfer.
 *
 * Pure: no I/O, no clock. Not thread-safe: the ledger's lock is around it.
 */
#ifndef AUC_LEDGER_ACCOUNTS_H
#define AUC_LEDGER_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/named.h"
#include "base/num.h"

struct json_object;

#define AUC_ACCOUNT_LEN  (AUC_NAME_MAX + 16) /* of an account's name, with the NUL */
#define AUC_PAYERS_MAX   8                   /* accounts that one sale is counted for */
#define AUC_TRANSFER_LEN 64                  /* of a transfer's id, with the NUL */
#define AUC_MINT         "mint"
#define AUC_MARKET       "market"
#define AUC_TREE         "tree"
#define AUC_UNLIMITED    INT64_MAX

struct auc_account {
	char name[AUC_ACCOUNT_LEN];
	auc_money credits, debits; /* posted: all that ever came in, and went out */
	auc_money pending;         /* debits of liens */
	/* Of both: what was before the last refill, and has gone without being spent. The budget
	 * now is credits - past, of which debits - past is spent. */
	auc_money past;
	bool limited;          /* debits + pending are at most the credits */
	int64_t period;        /* the last for which it was refilled; -1: none */
	int64_t return_period; /* the last in which it was asked for a return; -1: none */
};

/* The budget since the last refill: what came in, and how much of that is spent. */
static inline auc_money auc_account_budget(const struct auc_account *a)
{
	return a->credits - a->past;
}

static inline auc_money auc_account_spent(const struct auc_account *a)
{
	return a->debits - a->past;
}

/* Who pays for a sale: the first pays, the others are counted for it. The mint alone: nobody. */
struct auc_payers {
	unsigned n;
	char name[AUC_PAYERS_MAX][AUC_ACCOUNT_LEN];
};
/* The mint pays. */
void auc_payers_none(struct auc_payers *p);
/* False: NAME is no account that can pay, or there are too many. */
bool auc_payers_add(struct auc_payers *p, const char *name);
bool auc_payers_same(const struct auc_payers *a, const struct auc_payers *b);
/* "user:UID" or "account:NAME": what a payer may be called. */
bool auc_account_is_name(const char *name);

enum auc_transfer_code {
	AUC_TRANSFER_GRANT,   /* from the mint, by hand */
	AUC_TRANSFER_REFILL,  /* the same, as auction.conf says; once in a period */
	AUC_TRANSFER_EXPIRE,  /* back to the mint: not carried over to the next period */
	AUC_TRANSFER_CORRECT, /* back to the mint, by hand */
	AUC_TRANSFER_RETURN,  /* of what the market has earned */
	AUC_TRANSFER_NCODES
};
const char *auc_transfer_word(enum auc_transfer_code code); /* "grant", ... */

struct auc_transfer {
	char id[AUC_TRANSFER_LEN];
	char account[AUC_ACCOUNT_LEN]; /* the other side is the mint or the market */
	auc_money amount;              /* 0 (makes the account limited) to AUC_MONEY_MAX */
	enum auc_transfer_code code;
	int64_t when; /* Unix time at which its maker made it, > 0 */
	/* What it gives besides to an account that it makes limited: what that has spent or holds
	 * and has not got; see auc_books_opening(). */
	auc_money opening;
	int64_t period; /* of a refill or return, later than that of its account, or of
			 * no amount; else -1 */
};

struct auc_books;
struct auc_books *auc_books_create(void); /* NULL: no memory */
struct auc_books *auc_books_copy(const struct auc_books *b);
void auc_books_destroy(struct auc_books *b);

/* What PAYERS can still spend: the least of those that are limited, not below 0; 0 if none is;
 * AUC_UNLIMITED if the mint pays. */
auc_money auc_books_left(const struct auc_books *b, const struct auc_payers *payers);

/*
 * Holds AMOUNT until one of the two below. AUC_ELIMIT: there is not so much left; the sentence says
 * of whom, and what was given, spent and held. AUC_ENOMEM, AUC_EFULL: the books are full.
 */
enum auc_code auc_books_hold(struct auc_books *b, const struct auc_payers *payers, auc_money amount,
			     struct auc_err *err);
void auc_books_post(struct auc_books *b, const struct auc_payers *payers, auc_money amount);
void auc_books_void(struct auc_books *b, const struct auc_payers *payers, auc_money amount);
/* Spends AMOUNT at once. FORCED: whatever is left, as what was sold before stays sold. */
enum auc_code auc_books_pay(struct auc_books *b, const struct auc_payers *payers, auc_money amount,
			    bool forced, struct auc_err *err);
/* AMOUNT that they have paid goes back. */
void auc_books_refund(struct auc_books *b, const struct auc_payers *payers, auc_money amount);

/*
 * Makes a transfer. AUC_EEXIST: there was one of that id, and nothing happens; AUC_ELIMIT: its
 * account has less, or what the market has earned of settled sales is less (SETTLED, less what was
 * returned); AUC_ESTATE: it was made before others whose ids are forgotten, so that nobody can tell
 * whether it is a repeat; AUC_EINVAL, AUC_ENOMEM, AUC_EFULL.
 */
enum auc_code auc_books_transfer(struct auc_books *b, const struct auc_transfer *t,
				 auc_money settled, struct auc_err *err);
/* The opening of the grant or refill T if it is made now. */
auc_money auc_books_opening(const struct auc_books *b, const struct auc_transfer *t);
/* NULL: there is none of that name. Valid until the next change. */
const struct auc_account *auc_books_find(const struct auc_books *b, const char *name);
unsigned auc_books_count(const struct auc_books *b);
/* In the order in which they were opened: mint, market and tree first. */
const struct auc_account *auc_books_at(const struct auc_books *b, unsigned i);
/* What of the market's earnings was returned so far. */
auc_money auc_books_returned(const struct auc_books *b);

/* What is checked with each change: the sum over all accounts is 0, and the market has REVENUE less
 * what was returned. False: it is not so. */
bool auc_books_balance(const struct auc_books *b, auc_money revenue);
/* The same from every account anew, and what is pending is HELD for liens. AUC_ECORRUPT. */
enum auc_code auc_books_check(const struct auc_books *b, struct auc_err *err);

/* -- accounts_record.c: on disk -- */

/* NULL: no memory. */
struct json_object *auc_transfer_event(const struct auc_transfer *t);
enum auc_code auc_transfer_read(struct json_object *o, struct auc_transfer *t, struct auc_err *err);
/* Writes "payers" into O if there are payers; reads them back. Without the key there are none. */
bool auc_payers_write(struct json_object *o, const struct auc_payers *p);
enum auc_code auc_payers_read(struct json_object *o, struct auc_payers *p, struct auc_err *err);
/* The records of a snapshot through FN, without what is pending; AUC_ENOMEM. */
enum auc_code auc_books_dump(const struct auc_books *b,
			     void (*fn)(void *arg, struct json_object *record), void *arg,
			     struct auc_err *err);
/* True if the word of an event or record is of accounts; takes it over into the books silently.
 * AUC_EINVAL, AUC_ENOMEM, or as auc_books_transfer(). */
bool auc_books_know(const char *word);
enum auc_code auc_books_apply(struct auc_books *b, struct json_object *o, auc_money settled,
			      struct auc_err *err);
/* A snapshot of format 1 has no accounts: all that was charged came from the mint. */
void auc_books_begin(struct auc_books *b, auc_money charged, auc_money refunded);

#endif
