/* bid_ask.c - see bid_ask.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "input/bid_ask.h"

#define OFFER_DIGITS 16

enum auc_code auc_bid_quote_word(const struct auc_conf *conf, const char *value,
				 struct auc_bid *bid, const char *what, struct auc_err *err)
{
	static const char *const asks[] = {"", "balance", "why", "prices", "history"};

	(void)conf;
	for (unsigned i = AUC_ASK_BALANCE; i <= AUC_ASK_HISTORY; i++)
		bid->ask = strcmp(value, asks[i]) ? bid->ask : i;
	bid->quote = bid->ask || !strcmp(value, "yes") || !strcmp(value, "1");
	if (!bid->quote && strcmp(value, "no") != 0 && strcmp(value, "0") != 0)
		return auc_err_set(err, AUC_EINVAL, "%s: '%.80s' is not yes or no", what, value);
	return AUC_OK;
}

enum auc_code auc_bid_accept_word(const struct auc_conf *conf, const char *value,
				  struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	if (strlen(value) == OFFER_DIGITS && strspn(value, "0123456789abcdef") == OFFER_DIGITS)
		bid->accept = strtoull(value, NULL, 16);
	if (bid->accept)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL,
			   "%s: '%.80s' is no offer, expected its %d digits, such as "
			   "05c83f6d94a0be17, as --quote has said them",
			   what, value, OFFER_DIGITS);
}

enum auc_code auc_bid_accept_check(const struct auc_bid *bid, const char *policy,
				   struct auc_err *err)
{
	if (bid->accept && bid->quote)
		return auc_err_set(err, AUC_EINVAL,
				   "--accept: given with --quote, expected one of them");
	if (bid->accept && policy)
		return auc_err_set(
			err, AUC_EINVAL,
			"--accept: given, expected --bid instead: policy %s posts no prices",
			policy);
	return AUC_OK;
}
