/* budget.c - see budget.h. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/list.h"
#include "ledger/budget.h"

static enum auc_code account_payers(const struct auc_books *b, const struct auc_bid *bid,
				    struct auc_payers *payers, struct auc_err *err);
static const char *credits(auc_money m, char text[AUC_MONEY_LEN]);

enum auc_code auc_budget_payers(unsigned budgets, const struct auc_books *b, uint32_t uid,
				const struct auc_bid *bid, struct auc_payers *payers,
				struct auc_err *err)
{
	auc_payers_none(payers);
	if (budgets == AUC_BUDGETS_NONE || !uid)
		return AUC_OK;
	payers->n = 0;
	if (budgets == AUC_BUDGETS_ACCOUNT)
		return account_payers(b, bid, payers, err);
	snprintf(payers->name[payers->n++], AUC_ACCOUNT_LEN, "user:%" PRIu32, uid);
	return AUC_OK;
}

static enum auc_code account_payers(const struct auc_books *b, const struct auc_bid *bid,
				    struct auc_payers *payers, struct auc_err *err)
{
	char name[AUC_ACCOUNT_LEN];
	const struct auc_account *a;

	if (!bid->naccounts && bid->stranger[0])
		return auc_err_set(
			err, AUC_ESTATE,
			"account '%s' is not known as one of yours, and pays for nothing "
			"(Budgets=account); name another with --account, or try again in "
			"a moment if it is new",
			bid->stranger);
	if (!bid->naccounts)
		return auc_err_set(err, AUC_ESTATE,
				   "the account that pays is not known (Budgets=account); name one "
				   "with --account, or try again in a moment");
	for (unsigned i = 0; i < bid->naccounts; i++) {
		snprintf(name, sizeof(name), "account:%s", bid->accounts[i]);
		auc_list_lower(name);
		a = auc_books_find(b, name);
		if (i && (!a || !a->limited))
			continue;
		if (!auc_payers_add(payers, name))
			return auc_err_set(err, AUC_ELIMIT,
					   "account '%s': cannot pay: expected a name of letters, "
					   "digits and ._:/+-, and at most %d accounts above each "
					   "other that were granted something",
					   bid->accounts[i], AUC_PAYERS_MAX);
	}
	return AUC_OK;
}

void auc_budget_print(FILE *out, const struct auc_books *b, const struct auc_payers *payers)
{
	char left[AUC_MONEY_LEN], in[AUC_MONEY_LEN], spent[AUC_MONEY_LEN], held[AUC_MONEY_LEN];
	const struct auc_account *least = NULL, *a;
	auc_money l;

	for (unsigned i = 0; i < payers->n; i++) {
		a = auc_books_find(b, payers->name[i]);
		if (a && a->limited &&
		    (!least || a->credits - a->debits - a->pending <
				       least->credits - least->debits - least->pending))
			least = a;
	}
	if (!least) {
		fprintf(out, "%s was granted nothing", payers->name[0]);
		return;
	}
	l = least->credits - least->debits - least->pending;
	fprintf(out, "%s of %s is left of %s (%s spent, %s held for bids)",
		credits(l > 0 ? l : 0, left), credits(auc_account_budget(least), in), least->name,
		credits(auc_account_spent(least), spent), credits(least->pending, held));
}

double auc_budget_share(const struct auc_books *b, const struct auc_payers *payers, auc_money more,
			const char **account)
{
	double share, most = 0;

	*account = NULL;
	for (unsigned i = 0; i < payers->n; i++) {
		const struct auc_account *a = auc_books_find(b, payers->name[i]);

		if (!a || !a->limited || auc_account_budget(a) <= 0)
			continue;
		share = ((double)auc_account_spent(a) + (double)a->pending + (double)more) /
			(double)auc_account_budget(a);
		if (share >= most) {
			most = share;
			*account = a->name;
		}
	}
	return most;
}

/* Two decimals, or all of them where that would not be exact. */
static const char *credits(auc_money m, char text[AUC_MONEY_LEN])
{
	size_t n;

	auc_money_str(m, text);
	n = strlen(text);
	if (m % (AUC_CREDIT / 100) == 0)
		text[n - 4] = '\0';
	return text;
}
