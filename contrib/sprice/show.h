/*
 * show.h - a status as a table, in one of sprice's views.
 */
#ifndef SPRICE_SHOW_H
#define SPRICE_SHOW_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

enum view {
	VIEW_SUMMARY,
	VIEW_TIMES,
	VIEW_HEAT,
	VIEW_BOARD,
	VIEW_HISTORY, /* of a history (auction/memory/price_log.h), not a status */
	VIEW_PRICES,  /* of each node; this one and what follows need the whole status */
	VIEW_CLASSES,
	VIEW_SALES,
	VIEW_TOTALS,
	VIEW_LEARNING
};

/* How a view is printed. */
struct show {
	enum view view;
	const char *format; /* names of columns, separated by commas; NULL: the view's own */
	bool noheader, parsable;
	const char *partitions, *gpus; /* only these, names separated by commas; NULL: all */
	const char *plot;              /* a picture of prices goes to this file; NULL: none */
	bool heat;                     /* past prices as a map of letters */
	bool week;                     /* past prices: of a week, else of a day */
	double bid;                    /* what it would have bought; < 0: not asked */
};

/* The status, or its summary (auction/summary.h), in TEXT, LEN bytes and a NUL (new reference);
 * NULL: it is neither. */
struct json_object *status_parse(const char *text, size_t len);
/* A history in TEXT, likewise. */
struct json_object *history_parse(const char *text, size_t len);
/* Prints STATUS to standard output. Returns an exit code; what is wrong is said to stderr. */
int status_show(const struct show *s, struct json_object *status);
/* "sprice: SENTENCE" to stderr; returns EXIT_FAILURE. */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
