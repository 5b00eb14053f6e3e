/* bid_limits.c - see bid_limits.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "input/bid_limits.h"

static bool first_name(const char *text, const char *word, char name[AUC_NAME_MAX]);
static bool has_name(const char *list, const char *name, bool first);

enum auc_code auc_bid_qos_word(const struct auc_conf *conf, const char *value, struct auc_bid *bid,
			       const char *what, struct auc_err *err)
{
	(void)conf;
	if (!*value || strlen(value) >= sizeof(bid->qos))
		return auc_err_set(err, AUC_EINVAL, "%s: '%.80s' is not a name", what, value);
	strcpy(bid->qos, value);
	return AUC_OK;
}

enum auc_code auc_bid_accounts_word(const struct auc_conf *conf, const char *value,
				    struct auc_bid *bid, const char *what, struct auc_err *err)
{
	(void)conf;
	for (bid->naccounts = 0; *value; bid->naccounts++) {
		size_t len = strcspn(value, ",");

		if (!len || len >= AUC_NAME_MAX || bid->naccounts == AUC_BID_ACCOUNTS_MAX)
			return auc_err_set(err, AUC_EINVAL, "%s: '%.80s' is no list of accounts",
					   what, value);
		memcpy(bid->accounts[bid->naccounts], value, len);
		bid->accounts[bid->naccounts][len] = '\0';
		value += len + (value[len] == ',');
	}
	return AUC_OK;
}

void auc_bid_limits_print(FILE *out, const struct auc_bid *bid)
{
	if (!*bid->qos)
		return;
	fprintf(out, " qos=%s", bid->qos);
	for (unsigned i = 0; i < bid->naccounts; i++)
		fprintf(out, "%s%s", i ? "," : " accounts=", bid->accounts[i]);
}

bool auc_bid_limits_of(const char *text, char account[AUC_NAME_MAX], char qos[AUC_NAME_MAX])
{
	if (!first_name(text, " accounts=", account))
		*account = '\0';
	return first_name(text, " qos=", qos);
}

/* The first name behind WORD. */
static bool first_name(const char *text, const char *word, char name[AUC_NAME_MAX])
{
	const char *at = strstr(text, word);
	size_t len = at ? strcspn(at + strlen(word), ", ") : 0;

	if (!len || len >= AUC_NAME_MAX)
		return false;
	memcpy(name, at + strlen(word), len);
	name[len] = '\0';
	return true;
}

bool auc_bid_is_of_qos(const char *text, const char *qos)
{
	const char *at = strstr(text, " qos=");

	return at && has_name(at + strlen(" qos="), qos, true);
}

bool auc_bid_is_of_account(const char *text, const char *account, bool exactly)
{
	const char *at = strstr(text, " accounts=");

	return at && has_name(at + strlen(" accounts="), account, exactly);
}

/* LIST ends at white space. FIRST: its first name only. */
static bool has_name(const char *list, const char *name, bool first)
{
	size_t len;

	do {
		len = strcspn(list, ", ");
		if (len == strlen(name) && !memcmp(list, name, len))
			return true;
		list += len + 1;
	} while (!first && list[-1] == ',');
	return false;
}
