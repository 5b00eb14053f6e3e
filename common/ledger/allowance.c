/* allowance.c - see allowance.h */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ledger/allowance.h"

#define HOUR 3600
#define DAY  (24 * HOUR)

static bool is_due(const struct auc_conf *conf, const struct auc_account *a, double now);
static double weight_of(const struct auc_conf *conf, const struct auc_account *a, double now);
static bool is_ahead(int64_t had, unsigned every, double now);
static double seconds_of(unsigned every);
static void fill(struct auc_transfer *t, enum auc_transfer_code code, const char *account,
		 int64_t period, double now);

int64_t auc_allowance_period(unsigned every, double now)
{
	int64_t t = (int64_t)now, day = t / DAY;
	time_t unix_time = (time_t)t;
	struct tm tm;

	switch (every) {
	case AUC_EVERY_HOUR:
		return t / HOUR * HOUR;
	case AUC_EVERY_DAY:
		return day * DAY;
	case AUC_EVERY_WEEK: /* the first of 1970 was a Thursday */
		return day < 4 ? 0 : (day - (day + 3) % 7) * DAY;
	default:
		gmtime_r(&unix_time, &tm);
		return (day - tm.tm_mday + 1) * DAY;
	}
}

bool auc_allowance_refill(const struct auc_conf *conf, const struct auc_books *b, const char *name,
			  double now, struct auc_transfer *t)
{
	const struct auc_conf_refill *refill = auc_conf_refill(conf, name);
	const struct auc_account *a = auc_books_find(b, name);
	int64_t period;

	if (!refill)
		return false;
	period = auc_allowance_period(refill->every, now);
	if (a && is_ahead(a->period, refill->every, now)) {
		fill(t, AUC_TRANSFER_REFILL, name, period, now);
		return true;
	}
	if (a && a->period >= period)
		return false;
	if (a && a->limited && a->period >= 0 && !refill->carry) {
		fill(t, AUC_TRANSFER_EXPIRE, name, -1, now);
		t->amount = a->credits - a->debits - a->pending;
		if (t->amount > AUC_MONEY_MAX)
			t->amount = AUC_MONEY_MAX; /* the rest is asked for next */
		if (t->amount > 0)
			return true;
	}
	fill(t, AUC_TRANSFER_REFILL, name, period, now);
	t->amount = auc_money_from(refill->amount);
	return true;
}

bool auc_allowance_return(const struct auc_conf *conf, const struct auc_books *b, auc_money settled,
			  double now, struct auc_transfer *t)
{
	int64_t period = auc_allowance_period(conf->return_every, now);
	const struct auc_account *due = NULL;
	auc_money pool = settled - auc_books_returned(b);
	double weight, sum = 0;

	if (conf->give_back == AUC_RETURN_NONE)
		return false;
	for (unsigned i = 0; i < auc_books_count(b); i++) {
		const struct auc_account *a = auc_books_at(b, i);

		if (!is_due(conf, a, now))
			continue;
		due = due ? due : a;
		sum += weight_of(conf, a, now);
	}
	if (!due)
		return false;
	fill(t, AUC_TRANSFER_RETURN, due->name, period, now);
	weight = weight_of(conf, due, now);
	if (pool > 0 && weight > 0)
		t->amount = (auc_money)floor((double)pool * (weight / sum));
	if (t->amount > pool)
		t->amount = pool;
	if (t->amount > AUC_MONEY_MAX)
		t->amount = AUC_MONEY_MAX;
	return true;
}

/* Of the kind that pays, and not asked in this period yet. */
static bool is_due(const struct auc_conf *conf, const struct auc_account *a, double now)
{
	int64_t period = auc_allowance_period(conf->return_every, now);
	const char *kind = conf->budgets == AUC_BUDGETS_USER ? "user:" : "account:";

	return a->limited && !strncmp(a->name, kind, strlen(kind)) &&
	       (a->return_period < period || is_ahead(a->return_period, conf->return_every, now));
}

/* 0: it was not there yet when the period before began, or was given in one that is to come. */
static double weight_of(const struct auc_conf *conf, const struct auc_account *a, double now)
{
	const struct auc_conf_refill *refill = auc_conf_refill(conf, a->name);

	if (a->return_period < 0 || is_ahead(a->return_period, conf->return_every, now))
		return 0;
	if (conf->give_back == AUC_RETURN_EQUAL)
		return 1;
	return refill ? refill->amount / seconds_of(refill->every) : 0;
}

/* The last period that was HAD is further away than the next: the clock was ahead, and was set
 * back. What is given then is of no amount, so that money comes again from the next period on. A
 * clock that goes back by less has had the next period only, and gives nothing twice. */
static bool is_ahead(int64_t had, unsigned every, double now)
{
	return had > auc_allowance_period(every, now + seconds_of(every));
}

static double seconds_of(unsigned every)
{
	switch (every) {
	case AUC_EVERY_HOUR:
		return HOUR;
	case AUC_EVERY_DAY:
		return DAY;
	case AUC_EVERY_WEEK:
		return 7 * DAY;
	default:
		return 365.2425 / 12 * DAY;
	}
}

static void fill(struct auc_transfer *t, enum auc_transfer_code code, const char *account,
		 int64_t period, double now)
{
	memset(t, 0, sizeof(*t));
	snprintf(t->id, sizeof(t->id), "%s-%" PRId64, auc_transfer_word(code),
		 period >= 0 ? period : (int64_t)now);
	snprintf(t->account, sizeof(t->account), "%s", account);
	t->code = code;
	t->when = (int64_t)now;
	t->period = period;
}
