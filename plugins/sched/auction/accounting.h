/*
 * accounting.h - AdminComment in the accounting database, through slurmctld's own connection to
 * slurmdbd: opening a second one inside slurmctld takes the first one away. Calls may block for
 * seconds when slurmdbd is in trouble.
 */
#ifndef AUC_ACCOUNTING_H
#define AUC_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "ledger.h"

/* False where the site stores no accounts in slurmdbd: then there is nobody to tell. */
bool auc_accounting_present(void);
/* Sets the AdminComment of a job's row. AUC_ENOENT: there is no row; AUC_EIO: the database did not
 * answer. */
enum auc_code auc_accounting_set(uint32_t job_id, const char *text, struct auc_err *err);

/* What the database says of one job: its newest row. */
struct auc_account {
	uint32_t job_id;
	const char *text;           /* what AdminComment should be */
	char sale[AUC_SALE_ID_LEN]; /* whose receipt that is */
	bool found, ended, same;
	bool other; /* it has the receipt of another sale: the number was given again */
};
/* Looks N jobs up with one question, and fills found, ended (it has an end time), same and other.
 * AUC_EIO.
 */
enum auc_code auc_accounting_look(struct auc_account *jobs, unsigned n, struct auc_err *err);

#endif
