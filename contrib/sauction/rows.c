/* rows.c - see rows.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <libsmartcols.h>

#include "sauction/rows.h"

static int choose(const struct rows *r, const char *format, unsigned *columns, unsigned *n);
static int print_table(const struct rows *r, const struct rows_options *s, const unsigned *columns,
		       unsigned n);
static void print_line(char *const *cells, const unsigned *columns, unsigned n, char between);
static void print_json(const struct rows *r, const unsigned *columns, unsigned n);

bool rows_add(struct rows *r, ...)
{
	va_list ap;
	bool good = true;

	if (r->nrows == r->alloc) {
		unsigned alloc = r->alloc ? 2 * r->alloc : 64;
		char **cells = realloc(r->cells, (size_t)alloc * r->ncolumns * sizeof(*cells));

		if (!cells)
			return !fail("out of memory");
		r->cells = cells;
		r->alloc = alloc;
	}
	va_start(ap, r);
	for (unsigned c = 0; c < r->ncolumns; c++) {
		char *text = strdup(va_arg(ap, const char *));

		r->cells[(size_t)r->nrows * r->ncolumns + c] = text;
		good = good && text;
	}
	va_end(ap);
	r->nrows++;
	return good || !fail("out of memory");
}

int rows_print(struct rows *r, const struct rows_options *s)
{
	unsigned columns[COLUMNS_MAX], n = 0;
	int code = choose(r, s->format, columns, &n);
	char between = s->csv ? ',' : '|';

	if (code) {
		/* said */
	} else if (s->json) {
		print_json(r, columns, n);
	} else if (s->parsable || s->csv) {
		if (!s->noheader)
			print_line((char *const *)r->columns, columns, n, between);
		for (unsigned i = 0; i < r->nrows; i++)
			print_line(r->cells + (size_t)i * r->ncolumns, columns, n, between);
	} else {
		code = print_table(r, s, columns, n);
	}
	rows_free(r);
	return code;
}

void rows_free(struct rows *r)
{
	for (size_t i = 0; i < (size_t)r->nrows * r->ncolumns; i++)
		free(r->cells[i]);
	free(r->cells);
	r->cells = NULL;
	r->nrows = r->alloc = 0;
}

/* The columns of FORMAT, by index; NULL: all. */
static int choose(const struct rows *r, const char *format, unsigned *columns, unsigned *n)
{
	const char *p = format;

	while (!format && *n < r->ncolumns) {
		columns[*n] = *n;
		(*n)++;
	}
	while (p && *p) {
		size_t len = strcspn(p, ",");
		unsigned c = 0;

		while (c < r->ncolumns &&
		       (strlen(r->columns[c]) != len || strncmp(p, r->columns[c], len)))
			c++;
		if (c == r->ncolumns || *n == COLUMNS_MAX) {
			char names[512] = "";

			for (c = 0; c < r->ncolumns; c++)
				snprintf(names + strlen(names), sizeof(names) - strlen(names),
					 " %s", r->columns[c]);
			return fail("--format: '%.*s' is no column here:%s", (int)len, p, names);
		}
		columns[(*n)++] = c;
		p += len + (p[len] == ',');
	}
	return *n ? 0 : fail("--format: expected names of columns, separated by commas");
}

/* With commas: what has one, a quote or a line's end in it is quoted. */
static void print_line(char *const *cells, const unsigned *columns, unsigned n, char between)
{
	const char special[] = {between, '"', '\n', '\r', 0};

	for (unsigned i = 0; i < n; i++) {
		const char *text = cells[columns[i]];

		if (i)
			putchar(between);
		if (between != ',' || !strpbrk(text, special)) {
			fputs(text, stdout);
			continue;
		}
		putchar('"');
		for (; *text; text++) {
			if (*text == '"')
				putchar('"');
			putchar(*text);
		}
		putchar('"');
	}
	putchar('\n');
}

static int print_table(const struct rows *r, const struct rows_options *s, const unsigned *columns,
		       unsigned n)
{
	struct libscols_table *t = scols_new_table();
	bool good = t;

	for (unsigned i = 0; good && i < n; i++)
		good = scols_table_new_column(t, r->columns[columns[i]], 0, 0);
	for (unsigned k = 0; good && k < r->nrows; k++) {
		struct libscols_line *line = scols_table_new_line(t, NULL);

		for (unsigned i = 0; (good = good && line) && i < n; i++)
			good = !scols_line_set_data(line, i,
						    r->cells[(size_t)k * r->ncolumns + columns[i]]);
	}
	scols_table_enable_noheadings(t, s->noheader);
	/* Of an empty table libsmartcols prints nothing. */
	if (good && !r->nrows && !s->noheader)
		print_line((char *const *)r->columns, columns, n, ' ');
	else if (good)
		good = !scols_print_table(t);
	scols_unref_table(t);
	return good ? 0 : fail("out of memory");
}

static void print_json(const struct rows *r, const unsigned *columns, unsigned n)
{
	struct json_object *list = json_object_new_array();

	for (unsigned k = 0; k < r->nrows; k++) {
		struct json_object *o = json_object_new_object();

		for (unsigned i = 0; i < n; i++)
			json_object_object_add(
				o, r->columns[columns[i]],
				json_object_new_string(
					r->cells[(size_t)k * r->ncolumns + columns[i]]));
		json_object_array_add(list, o);
	}
	puts(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PRETTY));
	json_object_put(list);
}
