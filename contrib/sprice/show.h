/*
 * show.h - a status as a table, in one of sprice's views.
 */
#ifndef SPRICE_SHOW_H
#define SPRICE_SHOW_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

enum view { VIEW_PRICES, VIEW_CLASSES, VIEW_SALES, VIEW_TOTALS, VIEW_LEARNING };

/* How a view is printed. */
struct show {
	enum view view;
	const char *format; /* names of columns, separated by commas; NULL: the view's own */
	bool noheader, parsable;
};

/* The status in TEXT, LEN bytes and a NUL (new reference); NULL: it is no status. */
struct json_object *status_parse(const char *text, size_t len);
/* Prints STATUS to standard output. Returns an exit code; what is wrong is said to stderr. */
int status_show(const struct show *s, struct json_object *status);
/* "sprice: SENTENCE" to stderr; returns EXIT_FAILURE. */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
