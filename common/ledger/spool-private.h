/*
 * spool-private.h - the spool's files as they are read, for spool.c and spool_scan.c only.
 */
#ifndef AUC_SPOOL_PRIVATE_H
#define AUC_SPOOL_PRIVATE_H

#include <sys/types.h>

#include "ledger/spool.h"

#define LINE_MAX_BYTES (1u << 20)
#define SUM_LEN        16u /* hexadecimal digits; one space follows */
#define FORMAT_VERSION AUC_SPOOL_FORMAT
#define FORMAT_OLDEST  1u /* is read, and written anew as a snapshot */

enum { COMMIT_ENDS = '.', COMMIT_GOES_ON = '+' };

/* Reads one file line by line, keeping count for errors. */
struct reader {
	const char *path; /* for errors */
	int fd;
	char *data; /* LINE_MAX_BYTES + 1 */
	size_t begin, end;
	bool eof;
	enum auc_code error; /* after NEXT_ERROR */
	uint64_t line;       /* number of the line last returned, from 1 */
	off_t next_off;      /* where the next one begins */
	char *text;          /* the line without SUM and LF, NUL-terminated in place */
	size_t text_len;     /* without the NUL */
};

/* One record as it was read. */
struct record {
	uint64_t number;
	char mark;
	struct json_object *payload;
};

/* What reads the records of a file: recovery, or inspection. */
struct sink {
	enum auc_code (*record)(struct sink *sink, const struct reader *r, const struct record *rec,
				struct auc_err *err);
};

/* What scanning the two files found. */
struct scan_state {
	unsigned format;
	uint64_t base, records;
};
struct scan_journal {
	unsigned format;
	uint64_t base, last, records;
	off_t header_end, good_end, file_end;
};

/* Takes FD over, also when it fails. */
enum auc_code auc_spool_reader_open(struct reader *r, const char *dir, const char *name, int fd,
				    struct auc_err *err);
void auc_spool_reader_close(struct reader *r);
/* The whole file, each record that is sound to SINK. An incomplete commit at the end of a journal
 * is no error: it lies between good_end and file_end. */
enum auc_code auc_spool_scan_state(struct reader *r, struct sink *sink, struct scan_state *found,
				   struct auc_err *err);
enum auc_code auc_spool_scan_journal(struct reader *r, struct sink *sink,
				     struct scan_journal *found, struct auc_err *err);
/* Whether the snapshot and the journal are of one another. */
enum auc_code auc_spool_check_bases(const struct reader *state, const struct scan_state *st,
				    const struct scan_journal *j, struct auc_err *err);
/* "spool DIR[/NAME]: WHAT: reason" from errno. */
enum auc_code auc_spool_io_error(const char *dir, const char *name, const char *what,
				 struct auc_err *err);

#endif
