/*
 * allowance.h - money that comes by itself: Refill= and Return= of auction.conf. Whoever holds the
 * ledger's lock asks what is due, makes that transfer, and asks again until nothing is.
 *
 * Refill. When a period begins, what is left of the one before goes back to the mint, unless it is
 * carried over, and the account gets its amount. Of a period that nobody was there for nothing is
 * made up.
 *
 * Return. When a period begins, what the market has earned (settled sales, less what was returned
 * before) is divided among the accounts that were asked in one before; one that is new is noted,
 * and has its share of the next. If it is broken off in the middle, the others divide the rest.
 *
 * Pure; not thread-safe.
 */
#ifndef AUC_LEDGER_ALLOWANCE_H
#define AUC_LEDGER_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "input/conf.h"
#include "ledger/accounts.h"

/* Unix time at which the period of NOW (Unix time, >= 0) began; EVERY is an enum auc_every. */
int64_t auc_allowance_period(unsigned every, double now);

/* The next transfer for account NAME that Refill= says at NOW into *T; false: there is none. */
bool auc_allowance_refill(const struct auc_conf *conf, const struct auc_books *b, const char *name,
			  double now, struct auc_transfer *t);
/* The next one that Return= says. SETTLED: what settled sales have brought. */
bool auc_allowance_return(const struct auc_conf *conf, const struct auc_books *b, auc_money settled,
			  double now, struct auc_transfer *t);

#endif
