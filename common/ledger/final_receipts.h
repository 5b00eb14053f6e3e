/*
 * final_receipts.h - the file of receipts that are not in the accounting database for sure yet: one
 * JSON object
 *
 *   {"auction_receipts":1,"entries":[{"job":41,"sale":"ab12-7","since":1700000000.5,"text":"...",
 *    "done":false},...]}
 */
#ifndef AUC_FINAL_RECEIPTS_H
#define AUC_FINAL_RECEIPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

#define AUC_FINAL_TIME_MAX 1e11 /* Unix time, seconds */

struct auc_final {
	uint32_t job_id;         /* at least 1 */
	const char *sale, *text; /* an id, and what looks like a receipt (auc_receipt_is()) */
	double since;            /* 0 to AUC_FINAL_TIME_MAX */
	bool done;
};

/* Gets each entry, whose texts are borrowed. What is not AUC_OK ends the reading with that error.
 */
typedef enum auc_code (*auc_final_fn)(void *arg, const struct auc_final *f, struct auc_err *err);

/* Reads TEXT, LEN bytes and a NUL. AUC_ECORRUPT, which names the entry; AUC_ENOMEM; or what FN
 * returned. */
enum auc_code auc_finals_read(const char *text, size_t len, auc_final_fn fn, void *arg,
			      struct auc_err *err);

/* An entry as it stands in the file, but for "done" and what follows that; malloc'd. NULL: no
 * memory. */
char *auc_final_line(const struct auc_final *f);
/* The file: begin, each line with whether it is done, end. */
void auc_finals_begin(FILE *out);
void auc_finals_add(FILE *out, bool first, const char *line, bool done);
void auc_finals_end(FILE *out);

#endif
