/*
 * spool.c - see spool.h; the format, the order of the writes and the recovery are those of
 * doc/spool.md.
 *
 * Everything that is read back goes through one line reader and one check per line (spool_scan.c);
 * everything that is written goes through pwrite_all() and publish_file(). Nothing else touches the
 * disk.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/num.h"
#include "ledger/spool-private.h"

/* -- constants and types -- */

#define JOURNAL    "journal"
#define STATE      "state"
#define LOCK       "lock"
#define NEW_SUFFIX ".new"
#define BEFORE     "before" /* a directory: the two files that a snapshot takes the place of */

struct buf {
	char *data;
	size_t len, alloc;
};

struct auc_spool {
	char *dir;
	int dir_fd, lock_fd, journal_fd;
	bool old;            /* the journal's format takes no events of ours */
	bool dir_unsynced;   /* a rename of the journal is not known to be durable */
	uint64_t seq;        /* last committed */
	uint64_t queued_seq; /* last queued */
	off_t header_end;    /* of the journal */
	off_t good_end;      /* after the last good commit */
	struct buf queue;    /* lines of the next commit */
	size_t queue_last;   /* where the last of them begins */
	struct buf snapshot; /* lines of a snapshot being made */
	uint64_t snapshot_records;
	bool in_snapshot;
};

struct recovery {
	struct sink sink;
	auc_spool_fn fn;
	void *arg;
	uint64_t skip_to;            /* events up to here are in the snapshot */
	struct json_object *pending; /* array: the commit being read */
	uint64_t delivered;
	struct auc_spool_report *report;
};

struct inspection {
	struct sink sink;
	FILE *out;
};

/* -- private prototypes -- */

static enum auc_code open_dir(struct auc_spool *s, struct auc_err *err);
static enum auc_code take_lock(struct auc_spool *s, struct auc_err *err);
static enum auc_code recover(struct auc_spool *s, auc_spool_fn fn, void *arg,
			     struct auc_spool_report *report, struct auc_err *err);
static enum auc_code recover_both(struct auc_spool *s, struct recovery *rv, struct reader *state,
				  struct reader *journal, struct auc_spool_report *report,
				  struct auc_err *err);
static enum auc_code recover_creation(struct auc_spool *s, struct recovery *rv,
				      struct reader *journal, struct auc_err *err);
static enum auc_code create_empty(struct auc_spool *s, struct auc_err *err);
static enum auc_code settle_files(struct auc_spool *s, const struct scan_journal *j, int state_fd,
				  struct auc_err *err);
static enum auc_code open_file(int dir_fd, const char *dir, const char *name, int flags, int *fd,
			       struct auc_err *err);
static enum auc_code recover_record(struct sink *sink, const struct reader *r,
				    const struct record *rec, struct auc_err *err);
static enum auc_code deliver_pending(struct recovery *rv, const struct reader *r,
				     struct auc_err *err);
static enum auc_code print_record(struct sink *sink, const struct reader *r,
				  const struct record *rec, struct auc_err *err);
static enum auc_code inspect_files(int dir_fd, const char *dir, FILE *out, struct auc_err *err);

static bool buf_reserve(struct buf *b, size_t more);
static enum auc_code buf_add_line(struct buf *b, struct auc_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static enum auc_code buf_add_record(struct buf *b, uint64_t number, struct json_object *payload,
				    struct auc_err *err);
static void seal(char *line, size_t len);
static void keep_commit_open(struct auc_spool *s);

static enum auc_code pwrite_all(int fd, const char *data, size_t len, off_t off);
static int sync_retrying(int (*sync_fn)(int), int fd);
static enum auc_code publish_file(struct auc_spool *s, const char *name, const char *data,
				  size_t len, int *fd, struct auc_err *err);
static enum auc_code restart_journal(struct auc_spool *s, struct auc_err *err);
static void keep_before(const struct auc_spool *s);

/* -- public functions -- */

enum auc_code auc_spool_open(const char *dir, auc_spool_fn fn, void *arg, struct auc_spool **spool,
			     struct auc_spool_report *report, struct auc_err *err)
{
	struct auc_spool_report unused;
	struct auc_spool *s;
	enum auc_code rc;

	*spool = NULL;
	if (!report)
		report = &unused;
	memset(report, 0, sizeof(*report));
	report->format = FORMAT_VERSION;
	s = calloc(1, sizeof(*s));
	if (!s || !(s->dir = strdup(dir))) {
		free(s);
		return auc_err_set(err, AUC_ENOMEM, "spool %s: out of memory", dir);
	}
	s->dir_fd = s->lock_fd = s->journal_fd = -1;
	rc = open_dir(s, err);
	if (rc == AUC_OK)
		rc = take_lock(s, err);
	if (rc == AUC_OK)
		rc = recover(s, fn, arg, report, err);
	if (rc != AUC_OK) {
		auc_spool_close(s);
		return rc;
	}
	*spool = s;
	return AUC_OK;
}

void auc_spool_close(struct auc_spool *s)
{
	if (!s)
		return;
	if (s->journal_fd >= 0)
		close(s->journal_fd);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->queue.data);
	free(s->snapshot.data);
	free(s->dir);
	free(s);
}

enum auc_code auc_spool_add(struct auc_spool *s, struct json_object *payload, struct auc_err *err)
{
	size_t begin = s->queue.len;
	enum auc_code rc;

	rc = buf_add_record(&s->queue, s->queued_seq + 1, payload, err);
	if (rc != AUC_OK)
		return rc;
	if (begin)
		keep_commit_open(s);
	AUC_CHECK(s->queue.len > begin && s->queue.data[s->queue.len - 1] == '\n',
		  "spool: event %" PRIu64 " is no line", s->queued_seq + 1);
	s->queue_last = begin;
	s->queued_seq++;
	AUC_CHECK(s->queued_seq > s->seq, "spool: event %" PRIu64 " queued after %" PRIu64,
		  s->queued_seq, s->seq);
	return AUC_OK;
}

enum auc_code auc_spool_commit(struct auc_spool *s, struct auc_err *err)
{
	const char *what = NULL;

	if (!s->queue.len)
		return AUC_OK;
	if (s->old)
		return auc_err_set(err, AUC_ESTATE,
				   "spool %s: its format is an older one, a snapshot comes first",
				   s->dir);
	AUC_CHECK(s->queued_seq > s->seq, "spool: %zu bytes of no event", s->queue.len);
	AUC_CHECK(s->good_end >= s->header_end, "spool: the journal ends at %lld, its head at %lld",
		  (long long)s->good_end, (long long)s->header_end);
	if (s->dir_unsynced) {
		if (sync_retrying(fsync, s->dir_fd))
			return auc_spool_io_error(s->dir, ".", "cannot sync", err);
		s->dir_unsynced = false;
	}
	if (pwrite_all(s->journal_fd, s->queue.data, s->queue.len, s->good_end) != AUC_OK)
		what = "cannot write";
	else if (sync_retrying(fdatasync, s->journal_fd))
		what = "cannot sync";
	if (what) {
		int saved = errno;

		/* Best effort: the next attempt overwrites the same bytes in any case
		 * (doc/spool.md, "A commit"). */
		while (ftruncate(s->journal_fd, s->good_end) && errno == EINTR)
			;
		errno = saved;
		return auc_spool_io_error(s->dir, JOURNAL, what, err);
	}
	s->good_end += (off_t)s->queue.len;
	s->seq = s->queued_seq;
	s->queue.len = 0;
	return AUC_OK;
}

uint64_t auc_spool_journal_bytes(const struct auc_spool *s)
{
	return (uint64_t)(s->good_end - s->header_end);
}

enum auc_code auc_spool_snapshot_begin(struct auc_spool *s, struct auc_err *err)
{
	if (s->queue.len)
		return auc_err_set(err, AUC_ESTATE, "spool %s: a snapshot needs a commit first",
				   s->dir);
	AUC_CHECK(s->queued_seq == s->seq, "spool: event %" PRIu64 " queued, %" PRIu64 " committed",
		  s->queued_seq, s->seq);
	s->snapshot.len = 0;
	s->snapshot_records = 0;
	s->in_snapshot = false;
	if (buf_add_line(&s->snapshot, err, "auction-state %u %" PRIu64, FORMAT_VERSION, s->seq) !=
	    AUC_OK)
		return AUC_ENOMEM;
	s->in_snapshot = true;
	return AUC_OK;
}

enum auc_code auc_spool_snapshot_add(struct auc_spool *s, struct json_object *payload,
				     struct auc_err *err)
{
	enum auc_code rc;

	if (!s->in_snapshot)
		return auc_err_set(err, AUC_ESTATE, "spool %s: no snapshot was begun", s->dir);
	rc = buf_add_record(&s->snapshot, s->snapshot_records + 1, payload, err);
	if (rc == AUC_OK)
		s->snapshot_records++;
	else
		s->in_snapshot = false; /* one record short is no snapshot */
	return rc;
}

enum auc_code auc_spool_snapshot_end(struct auc_spool *s, struct auc_err *err)
{
	enum auc_code rc;

	if (!s->in_snapshot || s->queue.len)
		return auc_err_set(err, AUC_ESTATE,
				   "spool %s: no snapshot was begun, or events came in between",
				   s->dir);
	s->in_snapshot = false;
	rc = buf_add_line(&s->snapshot, err, "end %" PRIu64, s->snapshot_records);
	keep_before(s);
	if (rc == AUC_OK)
		rc = publish_file(s, STATE, s->snapshot.data, s->snapshot.len, NULL, err);
	if (rc == AUC_OK)
		rc = restart_journal(s, err);
	if (rc == AUC_OK) {
		AUC_CHECK(s->good_end == s->header_end, "spool: a new journal has %lld bytes",
			  (long long)(s->good_end - s->header_end));
		AUC_CHECK(s->queued_seq == s->seq,
			  "spool: %" PRIu64 " queued, %" PRIu64 " committed", s->queued_seq,
			  s->seq);
	}
	return rc;
}

enum auc_code auc_spool_inspect(const char *dir, FILE *out, struct auc_err *err)
{
	enum auc_code rc;
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return auc_err_set(
			err, AUC_EIO, "spool %s: cannot open: %s%s", dir, strerror(errno),
			errno == EACCES ? "; this is for administrators, on the controller's host"
					: "");
	rc = inspect_files(dir_fd, dir, out, err);
	close(dir_fd);
	return rc;
}

/* -- opening and recovery -- */

static enum auc_code open_dir(struct auc_spool *s, struct auc_err *err)
{
	int parent_fd, rc;

	if (mkdir(s->dir, 0700)) {
		if (errno != EEXIST)
			return auc_spool_io_error(s->dir, NULL, "cannot make the directory", err);
	} else {
		/* The new entry lies in the parent. */
		char *path = malloc(strlen(s->dir) + sizeof("/.."));

		if (!path)
			return auc_err_set(err, AUC_ENOMEM, "spool %s: out of memory", s->dir);
		sprintf(path, "%s/..", s->dir);
		parent_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		free(path);
		if (parent_fd < 0)
			return auc_spool_io_error(s->dir, NULL, "cannot open the directory above",
						  err);
		rc = sync_retrying(fsync, parent_fd);
		close(parent_fd);
		if (rc)
			return auc_spool_io_error(s->dir, NULL, "cannot sync the directory above",
						  err);
	}
	s->dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return auc_spool_io_error(s->dir, NULL, "cannot open", err);
	return AUC_OK;
}

static enum auc_code take_lock(struct auc_spool *s, struct auc_err *err)
{
	int rc;

	s->lock_fd = openat(s->dir_fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock_fd < 0)
		return auc_spool_io_error(s->dir, LOCK, "cannot open", err);
	while ((rc = flock(s->lock_fd, LOCK_EX | LOCK_NB)) && errno == EINTR)
		;
	if (rc && errno == EWOULDBLOCK)
		return auc_err_set(err, AUC_EEXIST, "spool %s: another process has it open",
				   s->dir);
	if (rc)
		return auc_spool_io_error(s->dir, LOCK, "cannot lock", err);
	return AUC_OK;
}

static enum auc_code recover(struct auc_spool *s, auc_spool_fn fn, void *arg,
			     struct auc_spool_report *report, struct auc_err *err)
{
	struct recovery rv = {
		.sink.record = recover_record, .fn = fn, .arg = arg, .report = report};
	struct reader state = {.fd = -1}, journal = {.fd = -1};
	enum auc_code rc, src;
	int fd;

	rc = open_file(s->dir_fd, s->dir, JOURNAL, O_RDWR, &s->journal_fd, err);
	if (rc != AUC_OK && rc != AUC_ENOENT)
		return rc;
	src = open_file(s->dir_fd, s->dir, STATE, O_RDONLY, &fd, err);
	if (src != AUC_OK && src != AUC_ENOENT)
		return src;
	if (src == AUC_OK &&
	    (src = auc_spool_reader_open(&state, s->dir, STATE, fd, err)) != AUC_OK)
		return src;
	if (rc == AUC_OK) {
		fd = fcntl(s->journal_fd, F_DUPFD_CLOEXEC, 0);
		rc = auc_spool_reader_open(&journal, s->dir, JOURNAL, fd, err);
		if (rc == AUC_OK && !(rv.pending = json_object_new_array()))
			rc = auc_err_set(err, AUC_ENOMEM, "spool %s: out of memory", s->dir);
		if (rc == AUC_OK && src == AUC_OK)
			rc = recover_both(s, &rv, &state, &journal, report, err);
		else if (rc == AUC_OK)
			rc = recover_creation(s, &rv, &journal, err);
	} else if (src == AUC_OK) {
		rc = auc_err_set(err, AUC_ECORRUPT, "spool %s/%s: missing, but there is a %s",
				 s->dir, JOURNAL, STATE);
	} else {
		rc = create_empty(s, err);
	}
	json_object_put(rv.pending);
	auc_spool_reader_close(&state);
	auc_spool_reader_close(&journal);
	return rc;
}

static enum auc_code recover_both(struct auc_spool *s, struct recovery *rv, struct reader *state,
				  struct reader *journal, struct auc_spool_report *report,
				  struct auc_err *err)
{
	struct scan_state st;
	struct scan_journal j;
	enum auc_code rc;

	rc = auc_spool_scan_state(state, &rv->sink, &st, err);
	if (rc != AUC_OK)
		return rc;
	rv->delivered = 0;
	rv->skip_to = st.base;
	rc = auc_spool_scan_journal(journal, &rv->sink, &j, err);
	if (rc == AUC_OK)
		rc = auc_spool_check_bases(state, &st, &j, err);
	if (rc == AUC_OK)
		rc = settle_files(s, &j, state->fd, err);
	if (rc != AUC_OK)
		return rc;
	report->format = st.format < j.format ? st.format : j.format;
	s->old = report->format < FORMAT_VERSION;
	report->snapshot_records = st.records;
	report->journal_records = rv->delivered;
	report->last_seq = j.last;
	report->torn_bytes = (uint64_t)(j.file_end - j.good_end);
	s->seq = s->queued_seq = j.last;
	s->header_end = j.header_end;
	s->good_end = j.good_end;
	return AUC_OK;
}

/* There is no state: that is a creation which was interrupted, unless the journal has events. */
static enum auc_code recover_creation(struct auc_spool *s, struct recovery *rv,
				      struct reader *journal, struct auc_err *err)
{
	struct scan_journal j;
	enum auc_code rc;

	rv->fn = NULL;
	rc = auc_spool_scan_journal(journal, &rv->sink, &j, err);
	if (rc != AUC_OK)
		return rc;
	if (j.base || j.file_end != j.header_end)
		return auc_err_set(err, AUC_ECORRUPT,
				   "spool %s/%s: missing, but there is a %s with events", s->dir,
				   STATE, JOURNAL);
	return create_empty(s, err);
}

/* The journal first: see rule 2 of doc/spool.md. */
static enum auc_code create_empty(struct auc_spool *s, struct auc_err *err)
{
	enum auc_code rc = restart_journal(s, err);

	if (rc == AUC_OK && s->dir_unsynced)
		rc = auc_err_set(err, AUC_EIO, "spool %s: cannot sync the directory", s->dir);
	if (rc == AUC_OK)
		rc = auc_spool_snapshot_begin(s, err);
	if (rc == AUC_OK)
		rc = buf_add_line(&s->snapshot, err, "end 0");
	s->in_snapshot = false;
	if (rc == AUC_OK)
		rc = publish_file(s, STATE, s->snapshot.data, s->snapshot.len, NULL, err);
	return rc;
}

/*
 * Makes what was read the truth: cuts off the journal's incomplete end, removes what was never
 * finished, and syncs everything, since a process that died before its sync leaves what it wrote in
 * the system's memory only.
 */
static enum auc_code settle_files(struct auc_spool *s, const struct scan_journal *j, int state_fd,
				  struct auc_err *err)
{
	int rc = 0;

	if (j->file_end != j->good_end)
		while ((rc = ftruncate(s->journal_fd, j->good_end)) && errno == EINTR)
			;
	if (rc)
		return auc_spool_io_error(s->dir, JOURNAL, "cannot cut off the incomplete end",
					  err);
	unlinkat(s->dir_fd, STATE NEW_SUFFIX, 0);
	unlinkat(s->dir_fd, JOURNAL NEW_SUFFIX, 0);
	if (sync_retrying(fsync, s->journal_fd))
		return auc_spool_io_error(s->dir, JOURNAL, "cannot sync", err);
	if (sync_retrying(fsync, state_fd))
		return auc_spool_io_error(s->dir, STATE, "cannot sync", err);
	if (sync_retrying(fsync, s->dir_fd))
		return auc_spool_io_error(s->dir, ".", "cannot sync", err);
	return AUC_OK;
}

/* AUC_ENOENT without a sentence if there is no such file. */
static enum auc_code open_file(int dir_fd, const char *dir, const char *name, int flags, int *fd,
			       struct auc_err *err)
{
	struct stat st;

	*fd = openat(dir_fd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0)
		return errno == ENOENT ? AUC_ENOENT
				       : auc_spool_io_error(dir, name, "cannot open", err);
	if (fstat(*fd, &st) || !S_ISREG(st.st_mode)) {
		close(*fd);
		*fd = -1;
		return auc_err_set(err, AUC_ECORRUPT, "spool %s/%s: not a regular file", dir, name);
	}
	return AUC_OK;
}

static enum auc_code recover_record(struct sink *sink, const struct reader *r,
				    const struct record *rec, struct auc_err *err)
{
	struct recovery *rv = (struct recovery *)sink;

	if (rec->number > rv->skip_to &&
	    json_object_array_add(rv->pending, json_object_get(rec->payload))) {
		json_object_put(rec->payload);
		return auc_err_set(err, AUC_ENOMEM, "%s: out of memory", r->path);
	}
	return rec->mark == COMMIT_ENDS ? deliver_pending(rv, r, err) : AUC_OK;
}

/* A commit is complete: now, and not before, its events count. */
static enum auc_code deliver_pending(struct recovery *rv, const struct reader *r,
				     struct auc_err *err)
{
	size_t n = json_object_array_length(rv->pending);
	struct auc_err why = {0};
	enum auc_code rc;

	for (size_t i = 0; i < n; i++) {
		rc = rv->fn ? rv->fn(rv->arg, json_object_array_get_idx(rv->pending, i), &why)
			    : AUC_OK;
		if (rc != AUC_OK)
			auc_err_prefix(&why, "%s line %" PRIu64, r->path, r->line - (n - 1 - i));
		if (rc == AUC_EINVAL && !rv->report->skipped++)
			strcpy(rv->report->why, why.text);
		if (rc != AUC_OK && rc != AUC_EINVAL)
			return auc_err_set(err, rc, "%s", why.text);
		rv->delivered++;
	}
	json_object_array_del_idx(rv->pending, 0, n);
	return AUC_OK;
}

/* -- inspection -- */

static enum auc_code print_record(struct sink *sink, const struct reader *r,
				  const struct record *rec, struct auc_err *err)
{
	struct inspection *in = (struct inspection *)sink;

	(void)r;
	(void)err;
	fprintf(in->out, "%" PRIu64 " %c %s\n", rec->number, rec->mark,
		json_object_to_json_string_ext(rec->payload, JSON_C_TO_STRING_PLAIN));
	return AUC_OK;
}

static enum auc_code inspect_files(int dir_fd, const char *dir, FILE *out, struct auc_err *err)
{
	struct inspection in = {.sink.record = print_record, .out = out};
	struct reader state = {.fd = -1}, journal = {.fd = -1};
	struct scan_state st;
	struct scan_journal j;
	struct auc_err own;
	enum auc_code rc;
	int fd;

	if (!err)
		err = &own;
	/* Both before reading, the journal first: a snapshot of a live writer then cannot come in
	 * between. */
	rc = open_file(dir_fd, dir, JOURNAL, O_RDONLY, &fd, err);
	if (rc == AUC_OK)
		rc = auc_spool_reader_open(&journal, dir, JOURNAL, fd, err);
	if (rc == AUC_OK)
		rc = open_file(dir_fd, dir, STATE, O_RDONLY, &fd, err);
	if (rc == AUC_OK)
		rc = auc_spool_reader_open(&state, dir, STATE, fd, err);
	if (rc == AUC_ENOENT)
		rc = auc_err_set(
			err, AUC_ENOENT,
			"spool %s: no state or no journal in it; slurmctld writes them once "
			"it takes bids",
			dir);
	if (rc == AUC_OK) {
		fprintf(out, "# %s\n", state.path);
		rc = auc_spool_scan_state(&state, &in.sink, &st, err);
	}
	if (rc == AUC_OK) {
		fprintf(out, "# %" PRIu64 " record%s up to event %" PRIu64 ", verified\n# %s\n",
			st.records, auc_plural((double)st.records), st.base, journal.path);
		rc = auc_spool_scan_journal(&journal, &in.sink, &j, err);
	}
	if (rc == AUC_OK)
		rc = auc_spool_check_bases(&state, &st, &j, err);
	if (rc == AUC_OK)
		fprintf(out,
			"# %" PRIu64 " event%s up to %" PRIu64
			", verified; %lld bytes of an incomplete commit after %s\n",
			j.records, auc_plural((double)j.records), j.last,
			(long long)(j.file_end - j.good_end), j.records == 1 ? "it" : "them");
	else
		fprintf(out, "# %s\n", err->text);
	auc_spool_reader_close(&state);
	auc_spool_reader_close(&journal);
	return rc;
}

/* -- lines, writing -- */

static bool buf_reserve(struct buf *b, size_t more)
{
	size_t alloc = b->alloc ? b->alloc : 4096;
	char *data;

	if (b->len + more <= b->alloc)
		return true;
	while (alloc < b->len + more)
		alloc *= 2;
	data = realloc(b->data, alloc);
	if (!data)
		return false;
	b->data = data;
	b->alloc = alloc;
	return true;
}

/* Appends one short sealed line. */
static enum auc_code buf_add_line(struct buf *b, struct auc_err *err, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!buf_reserve(b, SUM_LEN + 1 + (size_t)n + 2))
		return auc_err_set(err, AUC_ENOMEM, "spool: out of memory");
	char *line = b->data + b->len;
	size_t len = SUM_LEN + 1 + (size_t)n + 1;

	memcpy(line + SUM_LEN + 1, text, (size_t)n);
	seal(line, len);
	b->len += len;
	return AUC_OK;
}

/* Appends one record's line as the end of a commit. */
static enum auc_code buf_add_record(struct buf *b, uint64_t number, struct json_object *payload,
				    struct auc_err *err)
{
	size_t text_len, len;
	const char *text;
	char head[32];
	int n;

	text = json_object_to_json_string_length(payload, JSON_C_TO_STRING_PLAIN, &text_len);
	if (!text)
		return auc_err_set(err, AUC_ENOMEM, "spool: out of memory");
	n = snprintf(head, sizeof(head), "%" PRIu64 " %c ", number, COMMIT_ENDS);
	len = SUM_LEN + 1 + (size_t)n + text_len + 1;
	if (len > LINE_MAX_BYTES)
		return auc_err_set(err, AUC_EINVAL,
				   "spool: a record of %zu bytes, at most %u fit in a line", len,
				   LINE_MAX_BYTES);
	if (!buf_reserve(b, len))
		return auc_err_set(err, AUC_ENOMEM, "spool: out of memory");
	char *line = b->data + b->len;

	memcpy(line + SUM_LEN + 1, head, (size_t)n);
	memcpy(line + SUM_LEN + 1 + n, text, text_len);
	seal(line, len);
	b->len += len;
	return AUC_OK;
}

/* Puts the sum in front and the LF after the text of a line of LEN bytes. */
static void seal(char *line, size_t len)
{
	char sum[SUM_LEN + 1];

	snprintf(sum, sizeof(sum), "%016" PRIx64,
		 (uint64_t)XXH3_64bits(line + SUM_LEN + 1, len - SUM_LEN - 2));
	memcpy(line, sum, SUM_LEN);
	line[SUM_LEN] = ' ';
	line[len - 1] = '\n';
}

/* One more event follows in this commit: the line that was last no longer ends it. */
static void keep_commit_open(struct auc_spool *s)
{
	char *line = s->queue.data + s->queue_last;
	char *lf = memchr(line, '\n', s->queue.len - s->queue_last);
	/* after the number; there always is one */
	char *mark = (char *)memchr(line + SUM_LEN + 1, ' ', (size_t)(lf - line) - SUM_LEN - 1) + 1;

	*mark = COMMIT_GOES_ON;
	seal(line, (size_t)(lf - line) + 1);
}

/* -- the disk -- */

/* AUC_EIO with errno set. */
static enum auc_code pwrite_all(int fd, const char *data, size_t len, off_t off)
{
	while (len) {
		ssize_t n = pwrite(fd, data, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return AUC_EIO;
		data += n;
		len -= (size_t)n;
		off += n;
	}
	return AUC_OK;
}

static int sync_retrying(int (*sync_fn)(int), int fd)
{
	int rc;

	while ((rc = sync_fn(fd)) && errno == EINTR)
		;
	return rc;
}

/*
 * Makes NAME anew with the given contents ("A new file" in doc/spool.md). With FD it stays open
 * there; then a failed sync of the directory, with NAME already renamed, is not an error but noted
 * in dir_unsynced: the caller must use the new file.
 */
static enum auc_code publish_file(struct auc_spool *s, const char *name, const char *data,
				  size_t len, int *fd, struct auc_err *err)
{
	char temp[32];
	enum auc_code rc = AUC_OK;
	int out;

	snprintf(temp, sizeof(temp), "%s" NEW_SUFFIX, name);
	out = openat(s->dir_fd, temp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out < 0)
		return auc_spool_io_error(s->dir, temp, "cannot create", err);
	if (pwrite_all(out, data, len, 0) != AUC_OK)
		rc = auc_spool_io_error(s->dir, temp, "cannot write", err);
	else if (sync_retrying(fsync, out))
		rc = auc_spool_io_error(s->dir, temp, "cannot sync", err);
	else if (renameat(s->dir_fd, temp, s->dir_fd, name))
		rc = auc_spool_io_error(s->dir, name, "cannot rename the new file", err);
	if (rc != AUC_OK)
		unlinkat(s->dir_fd, temp, 0);
	if (rc != AUC_OK || !fd)
		close(out);
	else
		*fd = out;
	if (rc == AUC_OK && sync_retrying(fsync, s->dir_fd)) {
		if (!fd)
			return auc_spool_io_error(s->dir, ".", "cannot sync", err);
		s->dir_unsynced = true;
	}
	return rc;
}

/* An empty journal that begins after the last committed event. */
static enum auc_code restart_journal(struct auc_spool *s, struct auc_err *err)
{
	struct buf header = {0};
	enum auc_code rc;
	int fd;

	rc = buf_add_line(&header, err, "auction-journal %u %" PRIu64, FORMAT_VERSION, s->seq);
	if (rc == AUC_OK)
		rc = publish_file(s, JOURNAL, header.data, header.len, &fd, err);
	if (rc == AUC_OK) {
		if (s->journal_fd >= 0)
			close(s->journal_fd);
		s->journal_fd = fd;
		s->header_end = s->good_end = (off_t)header.len;
		s->old = false;
	}
	free(header.data);
	return rc;
}

enum auc_code auc_spool_io_error(const char *dir, const char *name, const char *what,
				 struct auc_err *err)
{
	return auc_err_set(err, AUC_EIO, "spool %s%s%s: %s: %s", dir, name ? "/" : "",
			   name ? name : "", what, strerror(errno));
}

/* For who looks back. Nothing depends on it: what cannot be kept is not kept. */
static void keep_before(const struct auc_spool *s)
{
	static const char *const names[] = {STATE, JOURNAL};
	size_t size = strlen(s->dir) + sizeof("/" BEFORE "/" JOURNAL);
	char *path = malloc(size);

	(void)!mkdirat(s->dir_fd, BEFORE, 0700);
	for (unsigned i = 0; path && i < 2; i++) {
		snprintf(path, size, "%s/" BEFORE "/%s", s->dir, names[i]);
		unlink(path);
		(void)!linkat(s->dir_fd, names[i], AT_FDCWD, path, 0);
	}
	free(path);
}
