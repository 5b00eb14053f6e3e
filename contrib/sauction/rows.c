/* rows.c - see rows.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <libsmartcols.h>

#include "sauction/rows.h"
#include "sauction/width.h"

/* What is printed of a row: columns by index, and how wide (sauction/width.h). */
struct chosen {
	unsigned n, columns[COLUMNS_MAX];
	int widths[COLUMNS_MAX];
};

static int choose(const struct rows *r, const char *format, struct chosen *chosen);
static int choose_word(const struct rows *r, char *word, struct chosen *chosen);
static int print_table(const struct rows *r, const struct rows_options *s,
		       const struct chosen *chosen);
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
	struct chosen chosen = {0};
	int code = choose(r, s->format, &chosen);
	char between = s->csv ? ',' : '|';

	if (code) {
		/* said */
	} else if (s->json) {
		print_json(r, chosen.columns, chosen.n);
	} else if (s->parsable || s->csv) {
		if (!s->noheader)
			print_line((char *const *)r->columns, chosen.columns, chosen.n, between);
		for (unsigned i = 0; i < r->nrows; i++)
			print_line(r->cells + (size_t)i * r->ncolumns, chosen.columns, chosen.n,
				   between);
	} else {
		code = print_table(r, s, &chosen);
		if (!code && !r->nrows && r->nothing && !s->noheader) {
			fflush(stdout);
			fail("%s", r->nothing);
		}
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

/* The columns of FORMAT; NULL: all. */
static int choose(const struct rows *r, const char *format, struct chosen *chosen)
{
	char *list = strdup(format ? format : ""), *save = NULL;
	int code = list ? EXIT_SUCCESS : fail("out of memory");

	for (unsigned i = 0; !format && i < r->ncolumns; i++)
		chosen->columns[chosen->n++] = i;
	for (char *word = list ? strtok_r(list, ",", &save) : NULL; word && !code;
	     word = strtok_r(NULL, ",", &save))
		code = choose_word(r, word, chosen);
	free(list);
	if (!code && !chosen->n)
		code = fail("--format: expected names of columns, separated by commas");
	return code;
}

static int choose_word(const struct rows *r, char *word, struct chosen *chosen)
{
	char names[512] = "";
	unsigned c = 0;
	int width;

	if (!width_take(word, &width))
		return fail("--format: '%s', expected a width from 1 to %d behind the '%%'", word,
			    WIDTH_MAX);
	while (c < r->ncolumns && strcmp(word, r->columns[c]) != 0)
		c++;
	if (c == r->ncolumns || chosen->n == COLUMNS_MAX) {
		for (c = 0; c < r->ncolumns; c++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s",
				 r->columns[c]);
		return fail("--format: '%s' is no column here:%s", word, names);
	}
	chosen->widths[chosen->n] = width;
	chosen->columns[chosen->n++] = c;
	return EXIT_SUCCESS;
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

static int print_table(const struct rows *r, const struct rows_options *s,
		       const struct chosen *chosen)
{
	struct libscols_table *t = scols_new_table();
	bool good = t;
	char *text;

	for (unsigned i = 0; good && i < chosen->n; i++) {
		text = width_fit(r->columns[chosen->columns[i]], chosen->widths[i]);
		good = text && scols_table_new_column(t, text, 0, 0);
		free(text);
	}
	for (unsigned k = 0; good && k < r->nrows; k++) {
		struct libscols_line *line = scols_table_new_line(t, NULL);

		for (unsigned i = 0; (good = good && line) && i < chosen->n; i++) {
			text = width_fit(r->cells[(size_t)k * r->ncolumns + chosen->columns[i]],
					 chosen->widths[i]);
			good = text && !scols_line_set_data(line, i, text);
			free(text);
		}
	}
	scols_table_enable_noheadings(t, s->noheader);
	/* Of an empty table libsmartcols prints nothing. */
	if (good && !r->nrows && !s->noheader)
		print_line((char *const *)r->columns, chosen->columns, chosen->n, ' ');
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
