/*
 * writer.h - receipts on their way into Slurm's records, in a thread of their own: slurmctld lets
 * who changes a job wait for seconds while it asks the database for the job's row, and the agent
 * has jobs to start meanwhile.
 */
#ifndef AUC_WRITER_H
#define AUC_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "ledger.h"

struct auc_written {
	struct auc_written *next; /* the writer's own */
	uint32_t job_id;
	char sale[AUC_SALE_ID_LEN];
	char *text;
	enum auc_code code; /* what came of it: see auc_control_set_receipt() */
	struct auc_err err;
};

/* Starts the thread, if it does not run. AUC_EIO. */
enum auc_code auc_writer_start(struct auc_err *err);
/* Ends it; false if it does not end in time. What was not written is forgotten. */
bool auc_writer_stop(void);

/* Has TEXT written into the record of JOB_ID; its result is to be taken. False: no memory. */
bool auc_writer_put(uint32_t job_id, const char *sale, const char *text);
/* The next result, in order, to be freed by auc_written_free(); NULL: none yet. */
struct auc_written *auc_writer_take(void);
void auc_written_free(struct auc_written *w);

#endif
