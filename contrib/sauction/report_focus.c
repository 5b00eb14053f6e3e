/* report_focus.c - "sauction report --focus": a line for each job, with those columns of FOCUS (the
 * FinOps specification of cost and usage) that a sale has something to say in. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ledger/receipt.h"
#include "sauction/sauction.h"

static const char *utc(double when, char *text, size_t size);
static void month_of(const char *submitted, char *from, char *to, size_t size);

void focus_begin(struct rows *r)
{
	static const char *const columns[] = {
		"BilledCost",      "EffectiveCost",      "BillingCurrency",   "BillingAccountId",
		"SubAccountId",    "BillingPeriodStart", "BillingPeriodEnd",  "ChargePeriodStart",
		"ChargePeriodEnd", "ChargeCategory",     "ChargeDescription", "ConsumedQuantity",
		"ConsumedUnit",    "ResourceId",         "ResourceType",      "RegionId",
		"ServiceCategory", "ServiceName",        "ProviderName",      "SkuId"};

	r->ncolumns = sizeof(columns) / sizeof(*columns);
	memcpy(r->columns, columns, sizeof(columns));
}

bool focus_add(struct rows *r, char **field, const struct auc_receipt *receipt, const char *gpu,
	       double hours)
{
	char cost[AUC_MONEY_LEN], refund[AUC_MONEY_LEN], from[32], to[32], month[32], next[32];
	char quantity[40], what[160];

	auc_money_str(receipt->payment, cost);
	month_of(field[4], month, next, sizeof(month));
	snprintf(quantity, sizeof(quantity), "%.6f", hours);
	if (receipt->refund)
		snprintf(what, sizeof(what), "sale %s, %s paid back", receipt->sale,
			 auc_money_str(receipt->refund, refund));
	else
		snprintf(what, sizeof(what), "sale %s", receipt->sale);
	return rows_add(r, cost, cost, "credits", field[2], field[1], month, next,
			utc(receipt->slot_seconds * (double)receipt->start, from, sizeof(from)),
			utc(receipt->slot_seconds * (double)receipt->completion, to, sizeof(to)),
			"Usage", what, quantity, "GPU-Hours", field[0], "Job", field[3], "Compute",
			"GPU time", "slurm-auction", gpu);
}

static const char *utc(double when, char *text, size_t size)
{
	time_t t = (time_t)when;
	struct tm tm;

	text[0] = '\0';
	if (gmtime_r(&t, &tm))
		strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

/* The month that a job was submitted in ("2026-11-..."), as a half-open time. */
static void month_of(const char *submitted, char *from, char *to, size_t size)
{
	int year = 1970, month = 1;

	if (sscanf(submitted, "%4d-%2d", &year, &month) != 2 || month < 1 || month > 12) {
		year = 1970;
		month = 1;
	}
	snprintf(from, size, "%04d-%02d-01T00:00:00Z", year, month);
	snprintf(to, size, "%04d-%02d-01T00:00:00Z", year + month / 12, month % 12 + 1);
}
