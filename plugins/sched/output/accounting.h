/*
 * accounting.h - AdminComment in the accounting database, through slurmctld's own connection to
 * slurmdbd: opening a second one inside slurmctld takes the first one away. Calls may block for
 * seconds when slurmdbd is in trouble.
 */
#ifndef AUC_ACCOUNTING_H
#define AUC_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "ledger/ledger.h"

/* Takes note of the parts of slurm.conf that are used here; only where slurmctld does not change
 * them, as auc_site_read_slurm_conf(). */
void auc_accounting_read_slurm_conf(void);
/* False if the site does not use slurmdbd. */
bool auc_accounting_present(void);
/* The database may be asked from now on; */
void auc_accounting_open(void);
/* or not any more: slurmctld is about to unload what it asks the database with. Waits for the
 * questions that are out, UNTIL then; one that comes back later still finds that code in memory. */
void auc_accounting_close(const struct timespec *until);
/*
 * What the database says of one job: its newest row. slurmctld may have forgotten the job and given
 * its number again: then its newest row lies behind another job's.
 */
struct auc_accounting_row {
	uint32_t job_id;
	const char *text;           /* what AdminComment should be */
	char sale[AUC_SALE_ID_LEN]; /* whose receipt that is */
	double settled; /* when that was: who came later is another job; 0: it is not settled */
	bool found, ended, same;
	bool other; /* the number's newest row is another job's; without BEHIND there is no row for
		       the sale, or none that can be told apart */
	uint64_t row; /* names the row that was found, where Slurm can; else 0 */
	bool behind;  /* the sale's row is ROW, or BEFORE and called NAME */
	time_t before;
	char name[64];
	/* It has the number of an array: by that the database takes the rows of all tasks. ROWS:
	 * there are others; TASK: which it is of, NO_VAL: of those that never became jobs, or that
	 * the database has not heard which one is left. */
	bool rows;
	uint32_t task;
};
/* Looks N jobs up with one question, and fills in what follows SALE; ENDED: the row has an end
 * time, or nobody will give it one any more. AUC_EIO. */
enum auc_code auc_accounting_look(struct auc_accounting_row *jobs, unsigned n, struct auc_err *err);
/* Sets the AdminComment of the row that was found. AUC_ENOENT: there is no row; AUC_EIO: the
 * database did not answer; AUC_ESTATE: it cannot be told apart from those of other tasks. */
enum auc_code auc_accounting_set(const struct auc_accounting_row *job, struct auc_err *err);

/*
 * Who cancelled JOB_ID, in the run that began at START; NO_VAL: nobody is named. AUC_ENOENT: the
 * database does not know yet that it is cancelled; AUC_EIO.
 */
enum auc_code auc_accounting_canceller(uint32_t job_id, time_t start, uint32_t *uid,
				       struct auc_err *err);

#endif
