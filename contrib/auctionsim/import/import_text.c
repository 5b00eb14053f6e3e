/* import_text.c - see import-private.h: files as bytes, as lines, and as tables of fields. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "auctionsim/import/import-private.h"
#include "base/num.h"
#include "auctionsim/io/output.h"

#define LINE_MAX_BYTES (16 << 20)
#define JOINED_MAX     64             /* lines of one record */
#define MARK           "\xEF\xBB\xBF" /* byte order mark */
#define FOUND_MAX      60             /* bytes of a bad value that an error repeats */

static enum auc_code read_line(struct import_text *t, char **buffer, size_t *alloc,
			       unsigned long *at, bool *more, struct auc_err *err);
static const char *packer_of(const char *line);
static enum auc_code take_header(struct import_table *tb, struct auc_err *err);
static enum auc_code whole_record(struct import_table *tb, char **line, struct auc_err *err);
static unsigned count_fields(const struct import_table *tb, const char *line);
static const char *after_separator(const struct import_table *tb, const char *line);
static bool begins_record(const struct import_table *tb, const char *line);
static enum auc_code split(const struct import_table *tb, char *line, char **fields,
			   unsigned *nfields, struct auc_err *err);
static bool is_header(const struct import_table *tb, const char *line);
static enum auc_code place_loose(struct import_table *tb, unsigned nfields, struct auc_err *err);
static enum auc_code check_header(const struct import_table *tb, struct auc_err *err);
static bool is_loose(const struct import_table *tb, const char *name);
static unsigned long field_column(const struct import_table *tb, unsigned field);

enum auc_code import_open(struct import_text *t, const char *path, struct auc_err *err)
{
	FILE *in;
	enum auc_code rc = input_open(path, &in, err);

	memset(t, 0, sizeof(*t));
	if (rc == AUC_OK)
		import_open_stream(t, in, path);
	return rc;
}

void import_open_stream(struct import_text *t, FILE *in, const char *name)
{
	*t = (struct import_text){.name = name, .in = in, .line = 1, .column = 1};
}

void import_close(struct import_text *t)
{
	input_close(t->in);
	free(t->buffer);
	free(t->ahead);
	memset(t, 0, sizeof(*t));
}

int import_get(struct import_text *t)
{
	int c = getc_unlocked(t->in);

	t->column = c == '\n' ? 1 : t->column + (c != EOF);
	t->line += c == '\n';
	return c;
}

int import_peek(struct import_text *t)
{
	int c;

	do {
		c = import_get(t);
		if (c == (unsigned char)MARK[0]) { /* whatever else begins so is no JSON */
			import_get(t);
			import_get(t);
			c = ' ';
		}
	} while (c == ' ' || c == '\t' || c == '\r' || c == '\n');
	if (c != EOF) {
		ungetc(c, t->in);
		t->column--;
	}
	return c;
}

enum auc_code import_ended(struct import_text *t, struct auc_err *err)
{
	if (ferror(t->in))
		return auc_err_set(err, AUC_EIO, "%.200s: line %lu: %s", t->name, t->line,
				   strerror(errno));
	return AUC_OK;
}

enum auc_code import_line(struct import_text *t, char **line, struct auc_err *err)
{
	char *buffer = t->buffer;
	size_t alloc = t->alloc;
	enum auc_code rc;
	bool more = true;

	*line = NULL;
	if (t->again) {
		t->again = false;
		*line = t->buffer;
		return AUC_OK;
	}
	if (t->have_ahead) {
		t->have_ahead = false;
		t->buffer = t->ahead;
		t->alloc = t->ahead_alloc;
		t->at = t->ahead_at;
		t->ahead = buffer;
		t->ahead_alloc = alloc;
	} else {
		rc = read_line(t, &t->buffer, &t->alloc, &t->at, &more, err);
		if (rc != AUC_OK)
			return rc;
	}
	*line = more ? t->buffer : NULL;
	return AUC_OK;
}

enum auc_code import_ahead(struct import_text *t, char **line, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	if (!t->have_ahead)
		rc = read_line(t, &t->ahead, &t->ahead_alloc, &t->ahead_at, &t->have_ahead, err);
	*line = rc == AUC_OK && t->have_ahead ? t->ahead : NULL;
	return rc;
}

enum auc_code import_join(struct import_text *t, char **line, struct auc_err *err)
{
	size_t len = strlen(t->buffer), more = strlen(t->ahead);
	char *grown;

	if (len + more + 2 > t->alloc) {
		grown = realloc(t->buffer, len + more + 2);
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "%.200s: no memory", t->name);
		t->buffer = grown;
		t->alloc = len + more + 2;
	}
	t->buffer[len] = ' ';
	memcpy(t->buffer + len + 1, t->ahead, more + 1);
	t->have_ahead = false;
	*line = t->buffer;
	return AUC_OK;
}

static enum auc_code read_line(struct import_text *t, char **buffer, size_t *alloc,
			       unsigned long *at, bool *more, struct auc_err *err)
{
	size_t len = 0;
	char *grown;
	int c;

	*more = false;
	for (;;) {
		if (!len)
			*at = t->line;
		c = import_get(t);
		if (c == '\n' || c == EOF) {
			len -= len && (*buffer)[len - 1] == '\r';
			if (len == 3 && !memcmp(*buffer, MARK, 3))
				len = 0;
			if (len || c == EOF)
				break;
			continue;
		}
		if (len + 1 >= *alloc) {
			grown = len < LINE_MAX_BYTES ? realloc(*buffer, 2 * *alloc + 4096) : NULL;
			if (!grown && len < LINE_MAX_BYTES)
				return auc_err_set(err, AUC_ENOMEM, "%.200s: no memory", t->name);
			if (!grown)
				return import_expected(t, t->line, t->column - 1, NULL, err,
						       "a line of less than %d bytes",
						       LINE_MAX_BYTES);
			*buffer = grown;
			*alloc = 2 * *alloc + 4096;
		}
		(*buffer)[len++] = c ? (char)c : 1;
	}
	if (!len)
		return import_ended(t, err);
	(*buffer)[len] = '\0';
	if (*at == 1 && (!strncmp(*buffer, "\xFF\xFE", 2) || !strncmp(*buffer, "\xFE\xFF", 2)))
		return import_expected(t, 1, 1, NULL, err,
				       "ASCII or UTF-8, found UTF-16: convert it with iconv");
	if (*at == 1 && packer_of(*buffer))
		return import_expected(t, 1, 1, NULL, err,
				       "text, found data packed by %s: unpack it first",
				       packer_of(*buffer));
	if (!strncmp(*buffer, MARK, 3))
		memmove(*buffer, *buffer + 3, len - 2);
	*more = true;
	return AUC_OK;
}

/* What has made the file whose first line is LINE; NULL: it is no packed one. */
static const char *packer_of(const char *line)
{
	static const struct {
		const char *magic, *name;
	} packers[] = {
		{"\x1F\x8B", "gzip (zcat)"},
		{"BZh", "bzip2 (bzcat)"},
		{"\xFD"
		 "7zXZ",
		 "xz (xzcat)"},
		{"\x28\xB5\x2F\xFD", "zstd (zstdcat)"},
		{"PK\x03\x04", "zip (unzip -p)"},
	};

	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++)
		if (!strncmp(line, packers[i].magic, strlen(packers[i].magic)))
			return packers[i].name;
	return NULL;
}

enum auc_code import_expected(const struct import_text *t, unsigned long line, unsigned long column,
			      const char *found, struct auc_err *err, const char *what, ...)
{
	char text[200], shown[FOUND_MAX + 8] = "";
	va_list ap;
	size_t i;

	va_start(ap, what);
	vsnprintf(text, sizeof(text), what, ap);
	va_end(ap);
	for (i = 0; found && found[i] && i < FOUND_MAX; i++)
		shown[i] = isprint((unsigned char)found[i]) ? found[i] : '?';
	shown[i] = '\0';
	if (found && found[i])
		strcpy(shown + i, "...");
	return auc_err_set(err, AUC_EINVAL, "%.160s: line %lu, column %lu: expected %s%s%s%s",
			   t->name, line, column, text, found ? ", found '" : "", shown,
			   found ? "'" : "");
}

enum auc_code import_table_open(struct import_table *tb, struct auc_err *err)
{
	enum auc_code rc;
	char *line;

	rc = import_line(tb->text, &line, err);
	if (rc == AUC_OK && !line)
		rc = auc_err_set(err, AUC_EINVAL, "%.160s: the file is empty", tb->text->name);
	if (rc == AUC_OK)
		rc = split(tb, line, tb->fields, &tb->nfields, err);
	return rc == AUC_OK ? take_header(tb, err) : rc;
}

static enum auc_code take_header(struct import_table *tb, struct auc_err *err)
{
	enum auc_code rc = check_header(tb, err);
	unsigned i, k;

	if (rc != AUC_OK)
		return rc;
	tb->loose_first = tb->loose_last = 0;
	for (i = 0; i < tb->nfields; i++)
		if (is_loose(tb, tb->fields[i])) {
			tb->loose_first = tb->loose_first ? tb->loose_first : i + 1;
			tb->loose_last = i + 1;
		}
	for (k = 0; k < tb->ncolumns; k++) {
		tb->at[k] = 0;
		for (i = 0; i < tb->nfields; i++)
			if (!strcasecmp(tb->fields[i], tb->columns[k].name))
				tb->at[k] = i + 1;
		if (tb->columns[k].required && !tb->at[k])
			return import_expected(
				tb->text, tb->text->at, 1, tb->nfields == 1 ? tb->fields[0] : NULL,
				err, "a column %s in the header%s", tb->columns[k].name, tb->hint);
	}
	return AUC_OK;
}

enum auc_code import_table_next(struct import_table *tb, bool *more, struct auc_err *fault,
				struct auc_err *err)
{
	unsigned nfields;
	enum auc_code rc;
	bool header;
	char *line;

	do {
		rc = whole_record(tb, &line, err);
		*more = rc == AUC_OK && line;
		header = *more && is_header(tb, line);
		if (!*more || split(tb, line, tb->fields, &nfields, fault) != AUC_OK)
			return rc;
		if (header) {
			tb->nfields = nfields;
			rc = take_header(tb, err);
		}
		if (rc != AUC_OK)
			return rc;
	} while (header);
	if (nfields > tb->nfields && tb->loose_first)
		place_loose(tb, nfields, fault);
	else if (nfields != tb->nfields)
		import_expected(tb->text, tb->text->at, 1, NULL, fault,
				"%u fields as in the header, found %u", tb->nfields, nfields);
	return AUC_OK;
}

/*
 * The next line; together with those after it, if a loose text before the last column ends lines.
 * If the last column is loose, what comes after a record and is none is the rest of its text.
 */
static enum auc_code whole_record(struct import_table *tb, char **line, struct auc_err *err)
{
	unsigned n, joined;
	enum auc_code rc;
	char *next;

	for (;;) {
		rc = import_line(tb->text, line, err);
		if (rc != AUC_OK || !*line || !tb->loose_first)
			return rc;
		n = count_fields(tb, *line);
		if (is_header(tb, *line))
			return AUC_OK;
		if (n >= tb->nfields || begins_record(tb, *line))
			break;
		tb->continued++;
	}
	for (joined = 0; n < tb->nfields && n >= tb->loose_first && joined < JOINED_MAX; joined++) {
		rc = import_ahead(tb->text, &next, err);
		if (rc != AUC_OK || !next || count_fields(tb, next) >= tb->nfields)
			break;
		rc = import_join(tb->text, line, err);
		if (rc != AUC_OK)
			break;
		n = count_fields(tb, *line);
	}
	return rc;
}

static unsigned count_fields(const struct import_table *tb, const char *line)
{
	unsigned n = 1;

	while ((line = strchr(line, tb->separator))) {
		n++;
		line++;
	}
	return n;
}

/* What follows the next separator of LINE; NULL: it has none. */
static const char *after_separator(const struct import_table *tb, const char *line)
{
	line = strchr(line, tb->separator);
	return line ? line + 1 : NULL;
}

/* Ids begin with a digit. */
static bool begins_record(const struct import_table *tb, const char *line)
{
	unsigned i;

	for (i = 1; line && i < tb->at[0]; i++)
		line = after_separator(tb, line);
	return line && isdigit((unsigned char)*line) && strchr(line, tb->separator);
}

const char *import_field(const struct import_table *tb, unsigned column)
{
	return tb->at[column] ? tb->fields[tb->at[column] - 1] : "";
}

enum auc_code import_field_number(const struct import_table *tb, unsigned column, double min,
				  double max, double *value, struct auc_err *err)
{
	const char *text = import_field(tb, column);

	if (!*text || auc_parse_number(text, min, max, value, "", NULL) == AUC_OK)
		return AUC_OK;
	return import_field_expected(tb, column, err, "a number from %.15g to %.15g", min, max);
}

enum auc_code import_field_expected(const struct import_table *tb, unsigned column,
				    struct auc_err *err, const char *what, ...)
{
	unsigned field = tb->at[column] ? tb->at[column] - 1 : 0;
	char text[160];
	va_list ap;

	va_start(ap, what);
	vsnprintf(text, sizeof(text), what, ap);
	va_end(ap);
	return import_expected(tb->text, tb->text->at, field_column(tb, field),
			       import_field(tb, column), err, "%s as %s", text,
			       tb->columns[column].name);
}

static enum auc_code split(const struct import_table *tb, char *line, char **fields,
			   unsigned *nfields, struct auc_err *err)
{
	char *p = line, *end;

	*nfields = 0;
	for (;;) {
		end = strchr(p, tb->separator);
		if (*nfields == IMPORT_FIELDS_MAX)
			return import_expected(tb->text, tb->text->at,
					       (unsigned long)(p - line) + 1, NULL, err,
					       "at most %d fields", IMPORT_FIELDS_MAX);
		if (*p == '"' && tb->separator == ',')
			return import_expected(tb->text, tb->text->at,
					       (unsigned long)(p - line) + 1, p, err,
					       "a field without quotes");
		fields[(*nfields)++] = p;
		if (!end)
			return AUC_OK;
		*end = '\0';
		p = end + 1;
	}
}

/* Whether LINE, not split yet, names all columns that are needed. */
static bool is_header(const struct import_table *tb, const char *line)
{
	const char *name, *p;
	unsigned k;
	size_t len;

	for (k = 0; k < tb->ncolumns; k++) {
		if (!tb->columns[k].required)
			continue;
		name = tb->columns[k].name;
		len = strlen(name);
		for (p = line; p; p = after_separator(tb, p))
			if (!strncasecmp(p, name, len) && (!p[len] || p[len] == tb->separator))
				break;
		if (!p)
			return false;
	}
	return true;
}

/* The separators too many are in loose columns. Fields before the first and after the last of these
 * columns are where they are; a column between two of them could be anywhere. */
static enum auc_code place_loose(struct import_table *tb, unsigned nfields, struct auc_err *err)
{
	unsigned extra = nfields - tb->nfields, i, k;

	for (k = 0; k < tb->ncolumns; k++)
		if (tb->at[k] > tb->loose_first && tb->at[k] < tb->loose_last)
			return import_expected(tb->text, tb->text->at, 1, NULL, err,
					       "%u fields as in the header, found %u", tb->nfields,
					       nfields);
	for (i = 0; tb->loose_first == tb->loose_last && i < extra; i++)
		tb->fields[tb->loose_first + i][-1] = tb->separator;
	for (i = tb->loose_last; i < tb->nfields; i++)
		tb->fields[i] = tb->fields[i + extra];
	return AUC_OK;
}

static enum auc_code check_header(const struct import_table *tb, struct auc_err *err)
{
	unsigned i, k;

	for (i = 0; i < tb->nfields; i++)
		for (k = 0; k < i; k++)
			if (!strcasecmp(tb->fields[i], tb->fields[k]))
				return import_expected(tb->text, tb->text->at, field_column(tb, i),
						       tb->fields[i], err, "each column once");
	return AUC_OK;
}

static bool is_loose(const struct import_table *tb, const char *name)
{
	const char *const *l;

	for (l = tb->loose; l && *l; l++)
		if (!strcasecmp(*l, name))
			return true;
	return false;
}

static unsigned long field_column(const struct import_table *tb, unsigned field)
{
	return (unsigned long)(tb->fields[field] - tb->fields[0]) + 1;
}
