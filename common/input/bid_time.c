/* bid_time.c - see bid_time.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "input/bid_time.h"
#include "input/conf.h"
#include "policy/policy.h"
#include "policy/registry.h"
#include "policy/time_range.h"

#define NO_CONF_SLOT 300.0 /* slot length where no configuration says it */
#define MINUTE       60.0
#define HOUR         3600.0
#define DAY          86400.0
#define PART_MAX     1e7
#define PLANNED_MAX  100.0

static enum auc_code parse_clock(const char *text, double *seconds, const char *what,
				 struct auc_err *err);

enum auc_code auc_bid_overrun_word(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	bid->extend = !strcmp(value, "extend");
	bid->kill = !strcmp(value, "kill");
	if (bid->extend || bid->kill)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL, "%s: '%.80s', expected kill or extend", what, value);
}

enum auc_code auc_bid_time_max_word(const struct auc_conf *conf, const char *value,
				    struct auc_bid *bid, const char *what, struct auc_err *err)
{
	size_t len = strlen(value);
	char number[AUC_NUMBER_LEN];
	enum auc_code rc;

	if (len > 1 && value[len - 1] == 'x' && len <= sizeof(number)) {
		snprintf(number, sizeof(number), "%.*s", (int)(len - 1), value);
		return auc_parse_number(number, 1, AUC_RANGE_MOST, &bid->most, what, err);
	}
	rc = strchr(value, ':') || strchr(value, '-')
		     ? parse_clock(value, &bid->time_max, what, err)
		     : auc_parse_span(value, MINUTE, conf ? conf->slot_seconds : NO_CONF_SLOT,
				      &bid->time_max, what, err);
	if (rc == AUC_OK && !(bid->time_max > 0))
		rc = auc_err_set(err, AUC_EINVAL, "%s: '%.80s', expected more than 0", what, value);
	return rc;
}

/* As Slurm writes it: DAYS-HOURS[:MINUTES[:SECONDS]], HOURS:MINUTES:SECONDS, MINUTES:SECONDS. */
static enum auc_code parse_clock(const char *text, double *seconds, const char *what,
				 struct auc_err *err)
{
	static const double units[] = {HOUR, MINUTE, 1};
	const char *rest = strchr(text, '-'), *whole = text;
	unsigned long days = 0;
	const double *unit;
	unsigned parts = 1;
	double part;
	char *end;

	*seconds = 0;
	if (rest) {
		days = strtoul(text, &end, 10);
		if (end != rest || *text < '0' || *text > '9' || days > PART_MAX / DAY)
			goto bad;
		*seconds = (double)days * DAY;
		text = rest + 1;
	}
	for (const char *p = text; *p; p++)
		parts += *p == ':';
	if (parts > 3)
		goto bad;
	unit = rest ? units : units + (3 - parts);
	for (unsigned i = 0; i < parts; i++, text = *end ? end + 1 : end) {
		if (*text < '0' || *text > '9')
			goto bad;
		part = (double)strtoul(text, &end, 10);
		if ((*end && *end != ':') || part > PART_MAX)
			goto bad;
		*seconds += part * unit[i];
	}
	return AUC_OK;
bad:
	return auc_err_set(err, AUC_EINVAL,
			   "%s: '%.80s', expected a time such as 8h, 480 (minutes), 8:00:00 or "
			   "1-12, at most %g days, or a factor of --time such as 1.3x",
			   what, whole, floor(PART_MAX / DAY));
}

enum auc_code auc_bid_planned_word(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return auc_parse_number(value, 1 / PLANNED_MAX, PLANNED_MAX, &bid->planned, what, err);
}

/* It need not be one of this cluster any more. */
enum auc_code auc_bid_profile_word(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	if (!auc_name_valid(value))
		return auc_err_set(err, AUC_EINVAL, "%s: '%.80s' is not a name", what, value);
	strcpy(bid->profile, value);
	return AUC_OK;
}

static enum auc_code read_yes(const char *value, bool *yes, const char *what, struct auc_err *err)
{
	*yes = !strcmp(value, "yes");
	if (*yes)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL, "%s: '%.80s', expected yes", what, value);
}

enum auc_code auc_bid_requeue_word(const struct auc_conf *conf, const char *value,
				   struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return read_yes(value, &bid->requeue, what, err);
}

enum auc_code auc_bid_notice_word(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return read_yes(value, &bid->notice, what, err);
}

enum auc_code auc_bid_time_max_of(struct auc_bid *bid, double stated, struct auc_err *err)
{
	if (!(bid->time_max > 0))
		return AUC_OK;
	if (!(stated > 0))
		return auc_err_set(err, AUC_EINVAL,
				   "--time-max: %.15g s, expected a factor such as 1.3x: the plan "
				   "of a job of workers and PSs decides how long it runs",
				   bid->time_max);
	bid->most = bid->time_max / stated;
	if (bid->most < 1)
		return auc_err_set(
			err, AUC_EINVAL,
			"--time-max: %.15g s, expected at least the %.15g s that the "
			"job takes as a rule (--time, which Slurm takes in whole minutes)",
			bid->time_max, stated);
	if (bid->most > AUC_RANGE_MOST)
		return auc_err_set(
			err, AUC_EINVAL,
			"--time-max: %.15g s, expected at most %g times the %.15g s that "
			"the job takes as a rule (--time)",
			bid->time_max, AUC_RANGE_MOST, stated);
	bid->time_max = 0;
	return AUC_OK;
}

void auc_bid_time_print(FILE *out, const struct auc_bid *bid)
{
	char number[AUC_NUMBER_LEN];

	if (bid->extend || bid->kill)
		fprintf(out, " overrun=%s", bid->extend ? "extend" : "kill");
	if (bid->time_max > 0)
		fprintf(out, " time-max=%ss", auc_number_str(bid->time_max, number));
	else if (bid->most > 0)
		fprintf(out, " time-max=%sx", auc_number_str(bid->most, number));
	if (bid->planned > 0)
		fprintf(out, " planned=%s", auc_number_str(bid->planned, number));
	if (*bid->profile)
		fprintf(out, " profile=%s", bid->profile);
	if (bid->requeue)
		fprintf(out, " requeue=yes");
	if (bid->notice)
		fprintf(out, " notice=yes");
}

enum auc_code auc_bid_time_check(const struct auc_bid *bid, const char *name, struct auc_err *err)
{
	const struct auc_policy *policy = name ? auc_policy_find(name) : NULL;

	if (!policy || (!policy->stepper && !policy->posts))
		return AUC_OK;
	if (bid->extend)
		return auc_err_set(err, AUC_EINVAL,
				   "--overrun: 'extend', expected kill: policy %s sells no slots",
				   name);
	if (bid->time_max > 0 || bid->most > 0)
		return auc_err_set(err, AUC_EINVAL,
				   "--time-max: given, expected none: policy %s sells no longer "
				   "plans",
				   name);
	return AUC_OK;
}
