/*
 * receipts.h - receipts on their way to the accounting database, where sacct shows them.
 *
 * slurmdbd may be slow or down, so a separate thread writes them, the newest for each job, until
 * the database has them. At a job's end slurmctld overwrites the row with its own copy of
 * AdminComment, so a final receipt is written after that and read back.
 *
 * Final receipts are kept in a file (DIR/receipts, JSON, replaced atomically) from before their
 * settlement is committed until some time after the database has them: a crash in between loses
 * none, and a job record that slurmctld brings back from before the settlement is not sold again.
 */
#ifndef AUC_RECEIPTS_H
#define AUC_RECEIPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"

struct json_object;

/* Reads the file and starts the thread. AUC_ECORRUPT: the file is not ours; AUC_EIO, AUC_ENOMEM. */
enum auc_code auc_receipts_start(const char *dir, struct auc_err *err);
/* Ends the thread; false if it does not end before UNTIL (CLOCK_REALTIME). What is not delivered
 * yet is in the file. */
bool auc_receipts_stop(const struct timespec *until);

/* Queues a receipt of a live sale. */
void auc_receipts_put(uint32_t job_id, const char *sale, const char *text);
/* Takes a final receipt; nothing is durable or sent before auc_receipts_save(). */
enum auc_code auc_receipts_put_final(uint32_t job_id, const char *sale, const char *text,
				     struct auc_err *err);
/* Writes the file if there is anything new. */
enum auc_code auc_receipts_save(struct auc_err *err);
/* Lets final receipts saved so far go to the database: their settlements are committed. */
void auc_receipts_release(void);
/* Forgets the final receipt of SALE: a crash came between its saving and the commit, and it is not
 * settled yet. */
void auc_receipts_forget(const char *sale);

/* Looks again whether the database has the final receipt of SALE: its job came back and ends once
 * more. */
void auc_receipts_recheck(const char *sale);
/* Text of the final receipt of SALE, malloc'd, or NULL: not settled lately. */
char *auc_receipts_settled(const char *sale);
/* How many wait for the database, and how many final ones of them. */
void auc_receipts_counts(unsigned *waiting, unsigned *final);

#endif
