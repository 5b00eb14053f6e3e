/* spending.c - see spending.h. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/spending.h"

#define MICRO_PER_CENT 1e4

bool auc_spending_shows(const char *licenses)
{
	size_t n = strlen(AUC_CENTS);
	const char *at = licenses;

	while (at && (at = strstr(at, AUC_CENTS))) {
		if ((at == licenses || strchr(",;", at[-1])) && (at[n] == ':' || at[n] == '='))
			return strtoll(at + n + 1, NULL, 10) >= AUC_CENTS_LEAST;
		at += n;
	}
	return false;
}

bool auc_spending_named(const char *licenses)
{
	return licenses && strstr(licenses, AUC_CENTS);
}

uint32_t auc_spending_of(auc_money payment, const struct auc_part *parts, unsigned nparts)
{
	double seconds = 0, until = -INFINITY, cents;

	/* By start; several may be the lead's at a time. */
	for (unsigned i = 0; i < nparts; i++) {
		if (!parts[i].lead || parts[i].end <= until)
			continue;
		seconds += parts[i].end - fmax(parts[i].start, until);
		until = parts[i].end;
	}
	if (seconds <= 0 || payment <= 0)
		return 0;
	cents = round((double)payment / MICRO_PER_CENT * 3600 / seconds);
	return (uint32_t)fmin(cents, AUC_CENTS_MOST);
}

void auc_spending_print(uint32_t cents, char text[AUC_CENTS_SIZE])
{
	*text = '\0';
	if (cents)
		snprintf(text, AUC_CENTS_SIZE, AUC_CENTS ":%u", cents);
}
