/*
 * budget.h - whose money a bid spends (Budgets= of auction.conf), and what its user is told of it.
 * Pure; the ledger's lock is around it.
 */
#ifndef AUC_BUDGET_H
#define AUC_BUDGET_H

#include <stdio.h>

#include "input/bid.h"
#include "input/conf.h"
#include "ledger/accounts.h"

/*
 * Who pays for BID, of user UID, into PAYERS. Budgets=none, and root: the mint. user: the user.
 * account: the Slurm account, which is counted for all of those above it that are limited, too.
 * AUC_ESTATE: the account is not known; AUC_ELIMIT: too many are limited, or one has a name that
 * is no name here.
 */
enum auc_code auc_budget_payers(unsigned budgets, const struct auc_books *b, uint32_t uid,
				const struct auc_bid *bid, struct auc_payers *payers,
				struct auc_err *err);

/* "4.00 of 10.00 is left of user:1000 (5.00 spent, 1.00 held for bids)": the one that has least; of
 * what it had after its last refill, and what came in since. */
void auc_budget_print(FILE *out, const struct auc_books *b, const struct auc_payers *payers);
/*
 * The share of that which would be spent or held, of the one of PAYERS with the highest one,
 * if MORE were; 0: nobody is limited. *ACCOUNT gets its name.
 */
double auc_budget_share(const struct auc_books *b, const struct auc_payers *payers, auc_money more,
			const char **account);

#endif
