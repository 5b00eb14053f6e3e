/*
 * accounts-private.h - the inside of the books, for accounts.c and accounts_record.c only.
 */
#ifndef AUC_ACCOUNTS_PRIVATE_H
#define AUC_ACCOUNTS_PRIVATE_H

#include "ledger/accounts.h"

#define AUC_IDS_MAX 4096u /* transfers whose ids are known */

struct auc_transfer_id {
	char id[AUC_TRANSFER_LEN];
	int64_t when;
};

struct auc_books {
	struct auc_account *accounts; /* mint, market and tree are the first three */
	unsigned n, alloc;
	unsigned *table; /* hash table of 2 * alloc: index + 1, 0: free */
	__int128 sum;    /* of credits less debits: 0 between changes */
	auc_money pending;
	auc_money returned;
	struct auc_transfer_id *ids; /* a ring of AUC_IDS_MAX */
	unsigned nids, first_id;
	int64_t forgotten; /* the latest WHEN of an id that is not known any more; 0: none */
};

enum { MINT, MARKET, TREE };

/* The account of that name, opened if there is none. NULL: no memory. */
struct auc_account *auc_books_open(struct auc_books *b, const char *name);
/* Money in and out, here and in the sum. */
void auc_books_credit(struct auc_books *b, struct auc_account *a, auc_money amount);
void auc_books_debit(struct auc_books *b, struct auc_account *a, auc_money amount);
/* Keeps an id, and forgets the oldest if there are too many. False: no memory. */
bool auc_books_remember(struct auc_books *b, const char *id, int64_t when);

#endif
