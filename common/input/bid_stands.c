/* bid_stands.c - see bid_stands.h. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "input/bid_stands.h"
#include "input/conf.h"

#define NO_CONF_SLOT 300.0 /* slot length where no configuration says it */
#define SINCE_MAX    1e11  /* Unix time */

enum auc_code auc_bid_stands_word(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err)
{
	double slot = conf ? conf->slot_seconds : NO_CONF_SLOT, slots;
	enum auc_code rc = auc_parse_slots(value, slot, &slots, what, err);

	if (rc == AUC_OK)
		bid->stands = slots * slot;
	if (rc != AUC_OK || !conf || bid->stands <= conf->stands_max)
		return rc;
	if (conf->stands_max > 0)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: '%.80s', expected at most %g s (StandsMax)", what, value,
				   conf->stands_max);
	return auc_err_set(err, AUC_EINVAL,
			   "%s: given, expected none: no bids stand here (StandsMax=0)", what);
}

enum auc_code auc_bid_since_word(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	return auc_parse_number(value, 0, SINCE_MAX, &bid->since, what, err);
}

enum auc_code auc_bid_array_word(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err)
{
	double job;
	enum auc_code rc = auc_parse_number(value, 1, UINT32_MAX, &job, what, err);

	(void)conf;
	if (rc == AUC_OK)
		bid->array = (uint32_t)job;
	return rc;
}

bool auc_bid_is_of_array(const char *text, uint32_t job)
{
	static const char key[] = " array=";
	const char *at = strstr(text, key);

	return at && job && strtoul(at + sizeof(key) - 1, NULL, 10) == job;
}

void auc_bid_stands_print(FILE *out, const struct auc_bid *bid)
{
	char number[AUC_NUMBER_LEN];

	if (bid->since > 0)
		fprintf(out, " since=%s", auc_number_str(bid->since, number));
	if (bid->array)
		fprintf(out, " array=%" PRIu32, bid->array);
}

enum auc_code auc_bid_stands_check(const struct auc_bid *bid, const char *stepper,
				   struct auc_err *err)
{
	if (!(bid->stands > 0))
		return AUC_OK;
	if (stepper)
		return auc_err_set(err, AUC_EINVAL,
				   "--stands: given, expected none: policy %s refuses no job for "
				   "its price",
				   stepper);
	if (bid->quote || bid->accept)
		return auc_err_set(err, AUC_EINVAL,
				   "--stands: given with --%s, expected one of them",
				   bid->quote ? "quote" : "accept");
	return AUC_OK;
}
