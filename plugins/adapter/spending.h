/*
 * spending.h - what sold jobs pay, as a licence that each holds while it runs, so that Slurm's own
 * reports add it up by user and account (sreport --tres=license/auction_cents): so many that an
 * hour of a licence is a hundredth of a credit. A site has it if Licenses of slurm.conf has
 * AUC_CENTS with AUC_CENTS_LEAST or more, which is so many that none is ever waited for.
 */
#ifndef AUC_SPENDING_H
#define AUC_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "auction/auction.h"

#define AUC_CENTS       "auction_cents"
#define AUC_CENTS_SIZE  (sizeof(AUC_CENTS) + 16)
#define AUC_CENTS_LEAST 1000000000L
#define AUC_CENTS_MOST  (AUC_CENTS_LEAST / 1000) /* of one job */

/* True if LICENSES of slurm.conf (NULL: none) has enough of it. */
bool auc_spending_shows(const char *licenses);
/* True if it may be among a job's LICENSES, or the TRES of its tasks (NULL: none): nobody but the
 * auction asks for it. */
bool auc_spending_named(const char *licenses);
/* How many a job holds that pays PAYMENT for PARTS, in those that are its lead's, at most
 * AUC_CENTS_MOST. */
uint32_t auc_spending_of(auc_money payment, const struct auc_part *parts, unsigned nparts);
/* CENTS of it into TEXT, as Slurm's licenses are written; "" for 0. */
void auc_spending_print(uint32_t cents, char text[AUC_CENTS_SIZE]);

#endif
