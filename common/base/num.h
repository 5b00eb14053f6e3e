/*
 * num.h - numbers as users write them and money as we count it.
 *
 * Whatever decides an integer follows one rule (formats.md section 5): a quotient within 1e-9
 * (relative) above an integer counts as that integer, and one within 1e-9 below an integer does so
 * too where a floor is taken.
 */
#ifndef AUC_NUM_H
#define AUC_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Of a function of loops over numbers: gcc makes vectors of them at -O2, too. The sums and
 * comparisons are the same ones. */
#if defined(__GNUC__) && !defined(__clang__)
#define AUC_VECTORIZED __attribute__((optimize("O3")))
#else
#define AUC_VECTORIZED
#endif

/* Money: an integer number of micro-credits. */
typedef int64_t auc_money;
#define AUC_CREDIT ((auc_money)1000000)
#define AUC_MONEY_MAX                                                                              \
	((auc_money)1000000000000000LL) /* 10^9 credits: what any one amount may reach */
#define AUC_MONEY_LEN 32                /* buffer for auc_money_str() */

/* Ceiling and floor of X >= 0 under the 1e-9 rule; INT64_MAX where the result would not fit or X is
 * NaN. */
int64_t auc_ceil(double x);
int64_t auc_floor(double x);

/* CREDITS (finite, |credits| <= 10^9) to the nearest micro-credit. */
auc_money auc_money_from(double credits);
/* The same as a double, for printing statistics only. */
double auc_money_to(auc_money m);
/* "12.600000", exact, always six decimals, into BUF of AUC_MONEY_LEN; returns BUF. */
char *auc_money_str(auc_money m, char *buf);
/*
 * Parses what auc_money_str() prints (at most six decimals), any auc_money: a total may exceed
 * AUC_MONEY_MAX. AUC_EINVAL otherwise. WHAT names it.
 */
enum auc_code auc_money_parse(const char *s, auc_money *m, const char *what, struct auc_err *err);

/*
 * Parses S as one plain decimal number ("3", "0.02", "1e3"; no hex, no inf, no nan, nothing after
 * it) in [MIN, MAX]. WHAT names the option in the error. Locale-independent.
 */
enum auc_code auc_parse_number(const char *s, double min, double max, double *value,
			       const char *what, struct auc_err *err);
/* The same for a whole number; accepts "1000" and "1e3". */
enum auc_code auc_parse_count(const char *s, uint64_t min, uint64_t max, uint64_t *value,
			      const char *what, struct auc_err *err);
/*
 * Parses a time span: a number and a unit: ms, s, m (or min), h, d, or "slots"/"slot" (needs
 * slot_seconds > 0). Without a unit it counts DEFAULT_UNIT_SECONDS each. Result in seconds, in [0,
 * 1e10].
 */
enum auc_code auc_parse_span(const char *s, double default_unit_seconds, double slot_seconds,
			     double *seconds, const char *what, struct auc_err *err);

/* The end of a word that there are N of: "s", but for 1. */
static inline const char *auc_plural(double n)
{
	return n > 1 || n < 1 ? "s" : "";
}

#endif
