/*
 * spool.h - the price state on disk. Format, commit and recovery: doc/spool.md, written before this
 * code.
 *
 * A directory with a snapshot ("state") and a journal ("journal"). Every record is one line:
 * checksum (XXH3-64 of the rest of the line), sequence number, a mark that ends a commit or
 * continues it, payload (one JSON object). A commit is one pwrite() and one fdatasync(), and is
 * there whole or not at all. A snapshot is written to a temporary file, synced, renamed, the
 * directory synced, and only then the journal restarted. Recovery: a journal whose last commit is
 * incomplete (a line without newline, or its last line missing) lost a commit that nobody was told
 * of: it is cut off and reported. Anything else that does not verify is AUC_ECORRUPT and nothing is
 * changed on disk. One process at a time (flock; AUC_EEXIST otherwise). No Slurm, no locks: the
 * caller's thread only.
 */
#ifndef AUC_SPOOL_H
#define AUC_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct json_object;
struct auc_spool;

/* Gets each recovered record's payload in order. AUC_EINVAL: it is of no use, and can be left out;
 * anything else but AUC_OK stops the opening with that error. */
typedef enum auc_code (*auc_spool_fn)(void *arg, struct json_object *payload, struct auc_err *err);

#define AUC_SPOOL_FORMAT 2u /* is written; 1 is read, too */

struct auc_spool_report {
	unsigned format; /* the older one of the two files */
	uint64_t snapshot_records, journal_records, last_seq;
	uint64_t torn_bytes; /* cut off the journal's end */
	uint64_t skipped;    /* records that FN left out, */
	char why[512];       /* and where the first of them stands and why */
};

/*
 * Opens (creating DIR, mode 0700, and an empty state where there is none), recovers through FN.
 * AUC_EEXIST: another process has it; AUC_ECORRUPT, AUC_EIO, AUC_ENOMEM, or what FN returned.
 * *SPOOL is NULL then. REPORT may be NULL.
 */
enum auc_code auc_spool_open(const char *dir, auc_spool_fn fn, void *arg, struct auc_spool **spool,
			     struct auc_spool_report *report, struct auc_err *err);
void auc_spool_close(struct auc_spool *s);

/*
 * Queues one payload (borrowed, a JSON object) for the next commit; commits what is queued, durable
 * when it returns AUC_OK. After AUC_EIO everything is still queued and the commit can be tried
 * again. AUC_EINVAL: a payload longer than a line may be; AUC_ESTATE: the spool has an older format,
 * and a snapshot comes first.
 */
enum auc_code auc_spool_add(struct auc_spool *s, struct json_object *payload, struct auc_err *err);
enum auc_code auc_spool_commit(struct auc_spool *s, struct auc_err *err);
/* Bytes in the journal since the last snapshot: the caller decides when to take one. */
uint64_t auc_spool_journal_bytes(const struct auc_spool *s);
/*
 * Writes a snapshot: begin, add() for each record, end. AUC_ESTATE from begin if events are queued.
 * Nothing is written before end; on an error the old state stands, or (the journal could not be
 * restarted) the new one with the old journal, which is as good.
 */
enum auc_code auc_spool_snapshot_begin(struct auc_spool *s, struct auc_err *err);
enum auc_code auc_spool_snapshot_add(struct auc_spool *s, struct json_object *payload,
				     struct auc_err *err);
enum auc_code auc_spool_snapshot_end(struct auc_spool *s, struct auc_err *err);

/* Reads DIR without changing or locking it and prints every record and verdict to OUT: what sprice
 * --spool shows. */
enum auc_code auc_spool_inspect(const char *dir, FILE *out, struct auc_err *err);

#endif
