/*
 * spool_scan.c - reads the spool's two files: one line reader, one check per line.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <xxhash.h>

#include "base/json.h"
#include "ledger/spool-private.h"

enum next { NEXT_LINE, NEXT_END, NEXT_TORN, NEXT_ERROR };

static enum next reader_next(struct reader *r, struct auc_err *err);
static enum auc_code corrupt(const struct reader *r, struct auc_err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static enum auc_code read_header(struct reader *r, const char *name, unsigned *format,
				 uint64_t *base, struct auc_err *err);
static enum auc_code parse_record(const struct reader *r, struct record *rec, struct auc_err *err);
static bool parse_u64(const char **p, uint64_t *value);

enum auc_code auc_spool_scan_state(struct reader *r, struct sink *sink, struct scan_state *found,
				   struct auc_err *err)
{
	struct record rec;
	enum auc_code rc;
	enum next next;
	char expected[32];

	memset(found, 0, sizeof(*found));
	rc = read_header(r, "auction-state", &found->format, &found->base, err);
	if (rc != AUC_OK)
		return rc;
	while ((next = reader_next(r, err)) == NEXT_LINE) {
		snprintf(expected, sizeof(expected), "end %" PRIu64, found->records);
		if (!strcmp(r->text, expected)) {
			next = reader_next(r, err);
			if (next == NEXT_ERROR)
				return r->error;
			return next == NEXT_END ? AUC_OK
						: corrupt(r, err, "something after the end line");
		}
		if ((rc = parse_record(r, &rec, err)) != AUC_OK)
			return rc;
		found->records++;
		if (rec.number != found->records || rec.mark != COMMIT_ENDS)
			rc = corrupt(r, err, "record %" PRIu64 " '%c', expected %" PRIu64 " '%c'",
				     rec.number, rec.mark, found->records, COMMIT_ENDS);
		else
			rc = sink->record(sink, r, &rec, err);
		json_object_put(rec.payload);
		if (rc != AUC_OK)
			return rc;
	}
	if (next == NEXT_ERROR)
		return r->error;
	return corrupt(r, err, "the end line is missing");
}

enum auc_code auc_spool_scan_journal(struct reader *r, struct sink *sink,
				     struct scan_journal *found, struct auc_err *err)
{
	struct record rec;
	enum auc_code rc;
	enum next next;

	memset(found, 0, sizeof(*found));
	rc = read_header(r, "auction-journal", &found->format, &found->base, err);
	if (rc != AUC_OK)
		return rc;
	found->header_end = found->good_end = found->file_end = r->next_off;
	found->last = found->base;
	uint64_t last = found->base, open_records = 0;

	while ((next = reader_next(r, err)) == NEXT_LINE) {
		found->file_end = r->next_off;
		if ((rc = parse_record(r, &rec, err)) != AUC_OK)
			return rc;
		if (rec.number != last + 1)
			rc = corrupt(r, err, "event %" PRIu64 ", expected %" PRIu64, rec.number,
				     last + 1);
		else
			rc = sink->record(sink, r, &rec, err);
		json_object_put(rec.payload);
		if (rc != AUC_OK)
			return rc;
		last++;
		open_records++;
		if (rec.mark != COMMIT_ENDS)
			continue;
		found->last = last;
		found->records += open_records;
		found->good_end = r->next_off;
		open_records = 0;
	}
	if (next == NEXT_ERROR)
		return r->error;
	if (next == NEXT_TORN)
		found->file_end = r->next_off;
	return AUC_OK;
}

enum auc_code auc_spool_check_bases(const struct reader *state, const struct scan_state *st,
				    const struct scan_journal *j, struct auc_err *err)
{
	if (st->base >= j->base && st->base <= j->last)
		return AUC_OK;
	return auc_err_set(err, AUC_ECORRUPT,
			   "%s line 1: holds events up to %" PRIu64
			   ", but the journal has those from %" PRIu64 " to %" PRIu64,
			   state->path, st->base, j->base + 1, j->last);
}

static enum auc_code read_header(struct reader *r, const char *name, unsigned *format,
				 uint64_t *base, struct auc_err *err)
{
	enum next next = reader_next(r, err);
	size_t n = strlen(name);
	uint64_t version;
	const char *p;

	if (next == NEXT_ERROR)
		return r->error;
	if (next != NEXT_LINE)
		return corrupt(r, err, "no complete header line");
	p = r->text + n + 1;
	if (strncmp(r->text, name, n) || r->text[n] != ' ' || !parse_u64(&p, &version))
		return corrupt(r, err, "not a header of %s", name);
	if (version < FORMAT_OLDEST || version > FORMAT_VERSION)
		return corrupt(r, err,
			       "format version %" PRIu64 ", this program reads versions %u to %u",
			       version, FORMAT_OLDEST, FORMAT_VERSION);
	*format = (unsigned)version;
	if (*p++ != ' ' || !parse_u64(&p, base) || *p)
		return corrupt(r, err, "not a header of %s", name);
	return AUC_OK;
}

/* PAYLOAD is a new reference. */
static enum auc_code parse_record(const struct reader *r, struct record *rec, struct auc_err *err)
{
	const char *p = r->text;

	rec->payload = NULL;
	if (!parse_u64(&p, &rec->number) || p[0] != ' ' ||
	    (p[1] != COMMIT_ENDS && p[1] != COMMIT_GOES_ON) || p[2] != ' ')
		return corrupt(r, err,
			       "not a record: expected a number, '%c' or '%c', and a payload",
			       COMMIT_ENDS, COMMIT_GOES_ON);
	rec->mark = p[1];
	p += 3;
	rec->payload = auc_json_parse(p, r->text_len - (size_t)(p - r->text));
	if (!rec->payload)
		return corrupt(r, err, "the payload is not one JSON object");
	return AUC_OK;
}

static bool parse_u64(const char **p, uint64_t *value)
{
	const char *q = *p;
	uint64_t v = 0;

	if (*q < '0' || *q > '9' || (*q == '0' && q[1] >= '0' && q[1] <= '9'))
		return false;
	for (; *q >= '0' && *q <= '9'; q++) {
		if (v > ((uint64_t)INT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(*q - '0');
	}
	*p = q;
	*value = v;
	return true;
}

enum auc_code auc_spool_reader_open(struct reader *r, const char *dir, const char *name, int fd,
				    struct auc_err *err)
{
	char *path;

	memset(r, 0, sizeof(*r));
	r->fd = fd;
	if (fd < 0)
		return auc_spool_io_error(dir, name, "cannot open", err);
	path = malloc(strlen(dir) + strlen(name) + sizeof("spool /"));
	r->data = malloc(LINE_MAX_BYTES + 1);
	if (!path || !r->data) {
		free(path);
		auc_spool_reader_close(r);
		return auc_err_set(err, AUC_ENOMEM, "spool %s: out of memory", dir);
	}
	sprintf(path, "spool %s/%s", dir, name);
	r->path = path;
	return AUC_OK;
}

void auc_spool_reader_close(struct reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	free(r->data);
	r->data = NULL;
	free((char *)r->path);
	r->path = NULL;
}

/*
 * The next line, verified against its sum. NEXT_TORN: bytes without LF at the end of the file,
 * next_off is after them. NEXT_ERROR: ERR is set.
 */
static enum next reader_next(struct reader *r, struct auc_err *err)
{
	char sum[SUM_LEN + 1];
	char *begin, *lf;
	size_t len;

	for (;;) {
		begin = r->data + r->begin;
		lf = memchr(begin, '\n', r->end - r->begin);
		if (lf || r->eof)
			break;
		if (r->begin) {
			memmove(r->data, begin, r->end - r->begin);
			r->end -= r->begin;
			r->begin = 0;
		}
		if (r->end == LINE_MAX_BYTES) {
			r->line++;
			r->error = corrupt(r, err, "longer than %u bytes", LINE_MAX_BYTES);
			return NEXT_ERROR;
		}
		ssize_t n = pread(r->fd, r->data + r->end, LINE_MAX_BYTES - r->end,
				  r->next_off + (off_t)(r->end - r->begin));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			r->error = auc_err_set(err, AUC_EIO, "%s: cannot read: %s", r->path,
					       strerror(errno));
			return NEXT_ERROR;
		}
		r->eof = n == 0;
		r->end += (size_t)n;
	}
	r->line++;
	len = lf ? (size_t)(lf - begin) + 1 : r->end - r->begin;
	r->next_off += (off_t)len;
	r->begin += len;
	if (!lf)
		return len ? NEXT_TORN : NEXT_END;
	*lf = 0;
	len--;
	if (len <= SUM_LEN || begin[SUM_LEN] != ' ' || strlen(begin) != len) {
		r->error = corrupt(r, err, "not a line of ours: expected a checksum and a text");
		return NEXT_ERROR;
	}
	r->text = begin + SUM_LEN + 1;
	r->text_len = len - SUM_LEN - 1;
	snprintf(sum, sizeof(sum), "%016" PRIx64, (uint64_t)XXH3_64bits(r->text, r->text_len));
	if (memcmp(sum, begin, SUM_LEN)) {
		r->error = corrupt(r, err, "checksum %.16s, but the text has %s", begin, sum);
		return NEXT_ERROR;
	}
	return NEXT_LINE;
}

static enum auc_code corrupt(const struct reader *r, struct auc_err *err, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return auc_err_set(err, AUC_ECORRUPT, "%s line %" PRIu64 ": %s", r->path, r->line, what);
}
