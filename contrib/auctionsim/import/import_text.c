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

#define LINE_MAX_BYTES (1 << 20)
#define FOUND_MAX      60 /* bytes of a bad value that an error repeats */

static enum auc_code split(struct import_table *tb, char *line, struct auc_err *err);
static enum auc_code check_header(const struct import_table *tb, struct auc_err *err);
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

	do
		c = import_get(t);
	while (c == ' ' || c == '\t' || c == '\r' || c == '\n');
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
	size_t len = 0;
	char *grown;
	int c;

	*line = NULL;
	if (t->again) {
		t->again = false;
		*line = t->buffer;
		return AUC_OK;
	}
	for (;;) {
		if (!len)
			t->at = t->line;
		c = import_get(t);
		if (c == '\n' || c == EOF) {
			len -= len && t->buffer[len - 1] == '\r';
			if (len || c == EOF)
				break;
			continue;
		}
		if (!c)
			return import_expected(t, t->line, t->column - 1, NULL, err,
					       "text without a NUL byte");
		if (len + 1 >= t->alloc) {
			grown = len < LINE_MAX_BYTES ? realloc(t->buffer, 2 * t->alloc + 4096)
						     : NULL;
			if (!grown && len < LINE_MAX_BYTES)
				return auc_err_set(err, AUC_ENOMEM, "%.200s: no memory", t->name);
			if (!grown)
				return import_expected(t, t->line, t->column - 1, NULL, err,
						       "a line of less than %d bytes",
						       LINE_MAX_BYTES);
			t->buffer = grown;
			t->alloc = 2 * t->alloc + 4096;
		}
		t->buffer[len++] = (char)c;
	}
	if (!len)
		return import_ended(t, err);
	t->buffer[len] = '\0';
	*line = t->buffer;
	return AUC_OK;
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

enum auc_code import_table_open(struct import_table *tb, struct import_text *t, char separator,
				const struct import_column *columns, unsigned ncolumns,
				struct auc_err *err)
{
	enum auc_code rc;
	unsigned i, k;
	char *line;

	*tb = (struct import_table){
		.text = t, .separator = separator, .columns = columns, .ncolumns = ncolumns};
	rc = import_line(t, &line, err);
	if (rc == AUC_OK && !line)
		rc = import_expected(t, 1, 1, NULL, err, "a line with the names of columns");
	if (rc == AUC_OK)
		rc = split(tb, line, err);
	if (rc == AUC_OK)
		rc = check_header(tb, err);
	if (rc != AUC_OK)
		return rc;
	for (k = 0; k < ncolumns; k++) {
		for (i = 0; i < tb->nfields; i++)
			if (!strcasecmp(tb->fields[i], columns[k].name))
				tb->at[k] = i + 1;
		if (columns[k].required && !tb->at[k])
			return import_expected(t, t->at, 1, NULL, err, "a column %s in the header",
					       columns[k].name);
	}
	return AUC_OK;
}

enum auc_code import_table_next(struct import_table *tb, bool *more, struct auc_err *err)
{
	unsigned nfields = tb->nfields;
	enum auc_code rc;
	char *line;

	rc = import_line(tb->text, &line, err);
	*more = rc == AUC_OK && line;
	if (!*more)
		return rc;
	rc = split(tb, line, err);
	if (rc == AUC_OK && tb->nfields != nfields)
		rc = import_expected(tb->text, tb->text->at, 1, NULL, err,
				     "%u fields as in the header, found %u", nfields, tb->nfields);
	tb->nfields = nfields;
	return rc;
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

static enum auc_code split(struct import_table *tb, char *line, struct auc_err *err)
{
	char *p = line, *end;

	tb->nfields = 0;
	for (;;) {
		end = strchr(p, tb->separator);
		if (tb->nfields == IMPORT_FIELDS_MAX)
			return import_expected(tb->text, tb->text->at,
					       (unsigned long)(p - line) + 1, NULL, err,
					       "at most %d fields", IMPORT_FIELDS_MAX);
		if (*p == '"' && tb->separator == ',')
			return import_expected(tb->text, tb->text->at,
					       (unsigned long)(p - line) + 1, p, err,
					       "a field without quotes");
		tb->fields[tb->nfields++] = p;
		if (!end)
			return AUC_OK;
		*end = '\0';
		p = end + 1;
	}
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

static unsigned long field_column(const struct import_table *tb, unsigned field)
{
	return (unsigned long)(tb->fields[field] - tb->fields[0]) + 1;
}
