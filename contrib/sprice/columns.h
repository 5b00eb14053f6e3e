/*
 * columns.h - what the columns of sprice's tables are called and how a row's cell is printed.
 */
#ifndef SPRICE_COLUMNS_H
#define SPRICE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_object;

/* One row's data. What a view does not have is 0. */
struct row {
	const char *server, *partition;
	bool for_sale;
	struct json_object *tres;  /* prices; of a summary: a class */
	struct json_object *sale;  /* sales */
	struct json_object *shape; /* of the board, or of past prices */
	double bid;                /* past prices: one that is looked at */
	const char *key;           /* totals, learning */
	struct json_object *value; /* of a summary: one of the class's times */
	bool is_time;              /* the value, in Unix time */
	int64_t slot;              /* the present one */
	double slot_seconds;
};

struct field {
	const char *name, *heading;
	int flags; /* of libsmartcols */
	void (*print)(const struct row *row, FILE *out);
	const char *help;
};

/* Each ends with a field without a name. */
extern const struct field columns_of_summary[], columns_of_times[], columns_of_prices[],
	columns_of_classes[], columns_of_sales[], columns_of_totals[], columns_of_learning[],
	columns_of_board[], columns_of_history[];

/* V with so many DECIMALS, or DIGITS; nothing if it is none. */
void print_fixed(FILE *out, int decimals, double v);
void print_digits(FILE *out, int digits, double v);

/* NULL if there is nothing of that name, or null. */
struct json_object *status_within(struct json_object *o, const char *key);
/* "" if there is no such text. */
const char *status_text(struct json_object *o, const char *key);
/* NAN if there is no such number. */
double status_number(struct json_object *o, const char *key);
/* The same of a list's item; NAN if LIST is none. */
double status_item(struct json_object *list, size_t i);
/* The partition of a board's SHAPE, "" if it is free to use any, and what it is counted by. */
const char *shape_partition(struct json_object *shape);
const char *shape_type(struct json_object *shape);
/* The slot in which STATUS was written; false: it has no time that makes sense. */
bool status_slot(struct json_object *status, int64_t *slot);

#endif
