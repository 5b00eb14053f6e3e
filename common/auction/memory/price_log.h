/*
 * price_log.h - what standard shapes, and a unit of each class of nodes, cost in the slots of the
 * last week: as lines of text, one for each moment, that outlive the process; and as a report for
 * all users. Bounded: so many moments and series; what is older or more is left out. Knows no
 * clock.
 */
#ifndef AUC_PRICE_LOG_H
#define AUC_PRICE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#define AUC_PRICE_LOG_FORMAT  "auction-history/1"
#define AUC_PRICE_LOG_MOMENTS 4096
#define AUC_PRICE_LOG_SERIES  96
#define AUC_PRICE_LOG_WEEK    604800.0 /* seconds that are kept */
#define AUC_PRICE_LOG_DAY     86400.0
#define AUC_PRICE_LOG_PARTS   50      /* quantiles of a report, and one */
#define AUC_PRICE_LOG_BIN     14400.0 /* seconds of a point of its lines */

struct json_object;
struct auc_price_log;

enum auc_price_log_kind { AUC_PRICE_LOG_SHAPE, AUC_PRICE_LOG_CLASS };

struct auc_price_log *auc_price_log_create(void); /* NULL: no memory */
void auc_price_log_destroy(struct auc_price_log *l);

/* Begins a moment at TIME (Unix time); those at or after it, of a clock that was ahead, are
 * forgotten, and those of more than a week before. */
void auc_price_log_moment(struct auc_price_log *l, double time);
/* In the moment begun last NAME, of KIND, cost NOW at its first start and LOW at its cheapest (of a
 * class: the mean of a unit, and as much); NAN: it could not be had. Where there is no room, or no
 * memory, for another series, it is left out. */
void auc_price_log_add(struct auc_price_log *l, enum auc_price_log_kind kind, const char *name,
		       double now, double low);
/* Time of the last moment; 0: there is none. */
double auc_price_log_last(const struct auc_price_log *l);
unsigned auc_price_log_count(const struct auc_price_log *l);

/* The last moment as a line with its '\n', or (ALL) every one, malloc'd; NULL: there is none, or no
 * memory. */
char *auc_price_log_print(const struct auc_price_log *l, bool all);
/* Takes the lines of TEXT, LEN bytes of whatever there is, that are moments, in order of time,
 * before NOW; how many lines are none. */
unsigned auc_price_log_read(struct auc_price_log *l, const char *text, size_t len, double now);

/*
 * format, time, from (the first moment's time), moments; shapes[] and classes[]: name; day and
 * week: moments, none (those in which it could not be had), now[] and, of shapes, low[]: quantiles
 * from 0 to 1 in AUC_PRICE_LOG_PARTS steps of the others; line[]: [bin, moments, low, mean, high]
 * by the AUC_PRICE_LOG_BIN seconds since 1970. New reference; NULL: no memory.
 */
struct json_object *auc_price_log_report(const struct auc_price_log *l, double now);

#endif
