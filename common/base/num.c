/*
 * num.c - see num.h. Own parsers instead of strtod() alone, because strtod() follows the locale and
 * takes hex, "inf", leading space and trailing rubbish, none of which a bid may hold.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define SLACK        1e-9               /* relative: what counts as the integer itself */
#define INT_LIMIT    9.2e18             /* above it a double does not fit an int64_t for sure */
#define EXACT_LIMIT  9007199254740992.0 /* 2^53: up to here every integer is a double */
#define SPAN_MAX     1e10               /* seconds */
#define MONEY_DIGITS 6
#define SHOWN        "%.80s" /* how much of a bad value an error repeats */

struct unit {
	const char *word;
	double seconds; /* 0: the slot's length */
};

static const struct unit units[] = {
	{"ms", 0.001}, {"s", 1},     {"m", 60},   {"min", 60},
	{"h", 3600},   {"d", 86400}, {"slot", 0}, {"slots", 0},
};

static size_t number_length(const char *s);
static enum auc_code number_value(const char *s, size_t len, double *value);
static const struct unit *find_unit(const char *word);

int64_t auc_ceil(double x)
{
	int64_t down;

	if (isnan(x) || x >= INT_LIMIT)
		return INT64_MAX;
	if (x <= 0)
		return 0;
	down = (int64_t)x;
	return x - (double)down <= SLACK * x ? down : down + 1;
}

int64_t auc_floor(double x)
{
	int64_t down;

	if (isnan(x) || x >= INT_LIMIT)
		return INT64_MAX;
	if (x <= 0)
		return 0;
	down = (int64_t)x;
	if ((double)down == x)
		return down;
	return (double)(down + 1) - x <= SLACK * x ? down + 1 : down;
}

auc_money auc_money_from(double credits)
{
	double micro = credits * (double)AUC_CREDIT;

	if (!(micro > -(double)AUC_MONEY_MAX))
		return isnan(micro) ? 0 : -AUC_MONEY_MAX;
	if (micro >= (double)AUC_MONEY_MAX)
		return AUC_MONEY_MAX;
	return (auc_money)llround(micro);
}

double auc_money_to(auc_money m)
{
	return (double)m / (double)AUC_CREDIT;
}

char *auc_money_str(auc_money m, char *buf)
{
	uint64_t abs = m < 0 ? -(uint64_t)m : (uint64_t)m;

	snprintf(buf, AUC_MONEY_LEN, "%s%" PRIu64 ".%06" PRIu64, m < 0 ? "-" : "",
		 abs / (uint64_t)AUC_CREDIT, abs % (uint64_t)AUC_CREDIT);
	return buf;
}

enum auc_code auc_money_parse(const char *s, auc_money *m, const char *what, struct auc_err *err)
{
	const char *p = s;
	bool negative = *p == '-';
	int64_t value = 0;
	int decimals = -1; /* none seen, nor the point */
	bool ok;

	p += negative;
	ok = isdigit((unsigned char)*p);
	for (; ok && *p; p++) {
		if (*p == '.' && decimals < 0 && isdigit((unsigned char)p[1])) {
			decimals = 0;
			continue;
		}
		ok = isdigit((unsigned char)*p) && decimals < MONEY_DIGITS &&
		     !__builtin_mul_overflow(value, 10, &value) &&
		     !__builtin_add_overflow(value, *p - '0', &value);
		decimals += decimals >= 0;
	}
	for (decimals = decimals < 0 ? 0 : decimals; ok && decimals < MONEY_DIGITS; decimals++)
		ok = !__builtin_mul_overflow(value, 10, &value);
	if (!ok)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '" SHOWN "' is not an amount of money such as 12.600000",
				   what, s);
	*m = negative ? -value : value;
	return AUC_OK;
}

enum auc_code auc_parse_number(const char *s, double min, double max, double *value,
			       const char *what, struct auc_err *err)
{
	size_t len = number_length(s);
	double v;

	if (!len || s[len])
		return auc_err_set(err, AUC_EINVAL, "%s: '" SHOWN "' is not a decimal number", what,
				   s);
	if (number_value(s, len, &v) != AUC_OK)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", what);
	if (!(v >= min && v <= max))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '" SHOWN "' is out of range, expected %.15g to %.15g", what,
				   s, min, max);
	*value = v;
	return AUC_OK;
}

enum auc_code auc_parse_count(const char *s, uint64_t min, uint64_t max, uint64_t *value,
			      const char *what, struct auc_err *err)
{
	size_t len = number_length(s);
	uint64_t v = 0;
	bool whole = true, fits;
	double d;

	if (!len || s[len])
		return auc_err_set(err, AUC_EINVAL, "%s: '" SHOWN "' is not a whole number", what,
				   s);
	if (strspn(s, "0123456789") == len) {
		errno = 0;
		v = strtoull(s, NULL, 10);
		fits = !errno;
	} else {
		if (number_value(s, len, &d) != AUC_OK)
			return auc_err_set(err, AUC_ENOMEM, "%s: no memory", what);
		whole = d == floor(d) || isinf(d);
		fits = d >= 0 && d <= EXACT_LIMIT;
		if (fits)
			v = (uint64_t)d;
	}
	if (!whole)
		return auc_err_set(err, AUC_EINVAL, "%s: '" SHOWN "' is not a whole number", what,
				   s);
	if (!fits || v < min || v > max)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '" SHOWN "' is out of range, expected %" PRIu64
				   " to %" PRIu64,
				   what, s, min, max);
	*value = v;
	return AUC_OK;
}

enum auc_code auc_parse_span(const char *s, double default_unit_seconds, double slot_seconds,
			     double *seconds, const char *what, struct auc_err *err)
{
	size_t len = number_length(s);
	double v, scale = default_unit_seconds;
	const struct unit *u;

	u = len && s[len] ? find_unit(s + len) : NULL;
	if (!len || (s[len] && !u))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '" SHOWN
				   "' is not a time, expected a number and ms, s, m, h%s",
				   what, s, slot_seconds > 0 ? ", d or slots" : " or d");
	if (u)
		scale = u->seconds > 0 ? u->seconds : slot_seconds;
	if (!(scale > 0))
		return auc_err_set(
			err, AUC_EINVAL,
			"%s: '" SHOWN
			"' cannot be in slots here, expected a number and ms, s, m, h or d",
			what, s);
	if (number_value(s, len, &v) != AUC_OK)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", what);
	/* 50 ms is 50 / 1000, not 50 * 0.001: the nearest double to what was written */
	v = scale == 0.001 ? v / 1000 : v * scale;
	if (!(v >= 0 && v <= SPAN_MAX))
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '" SHOWN "' is out of range, expected 0 to %.15g s", what,
				   s, SPAN_MAX);
	*seconds = v;
	return AUC_OK;
}

/* Length of the longest prefix of S that is a plain decimal number; 0: none. */
static size_t number_length(const char *s)
{
	const char *p = s + (*s == '-' || *s == '+');
	size_t whole = strspn(p, "0123456789");
	size_t part = 0, exponent;
	const char *e;

	p += whole;
	if (*p == '.') {
		part = strspn(p + 1, "0123456789");
		p += 1 + part;
	}
	if (!whole && !part)
		return 0;
	if (*p == 'e' || *p == 'E') {
		e = p + 1 + (p[1] == '-' || p[1] == '+');
		exponent = strspn(e, "0123456789");
		if (exponent)
			p = e + exponent;
	}
	return (size_t)(p - s);
}

/* Value of the number of LEN bytes at S, which number_length() has passed. strtod() goes no further
 * than it. */
static enum auc_code number_value(const char *s, size_t len, double *value)
{
	locale_t c =
		newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a static object in glibc and musl */
	char *end;

	if (!c)
		return AUC_ENOMEM;
	*value = strtod_l(s, &end, c) + 0.0; /* no negative zero */
	freelocale(c);
	return end == s + len ? AUC_OK : AUC_EINVAL;
}

static const struct unit *find_unit(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(word, units[i].word))
			return &units[i];
	return NULL;
}
