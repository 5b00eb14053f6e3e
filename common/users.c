/* users.c - see users.h */
#include "config.h"

#include <stddef.h>

#include "users.h"

static double amount_of(const double *amount, unsigned i)
{
	return amount ? amount[i] : 1;
}

/* Who must have more than half, if anybody has (Boyer and Moore's vote, weighted). */
static unsigned likeliest(const unsigned *user, const double *amount, unsigned n)
{
	unsigned who = AUC_USER_NONE;
	double lead = 0;

	for (unsigned i = 0; i < n; i++) {
		if (user[i] == who && who != AUC_USER_NONE) {
			lead += amount_of(amount, i);
			continue;
		}
		lead -= amount_of(amount, i);
		if (lead >= 0)
			continue;
		who = user[i];
		lead = -lead;
	}
	return who;
}

double auc_users_share(const unsigned *user, const double *amount, unsigned n, double enough,
		       unsigned *who)
{
	double own = 0, others = 0;

	*who = likeliest(user, amount, n);
	if (*who == AUC_USER_NONE)
		return 1;
	for (unsigned i = 0; i < n; i++)
		*(user[i] == *who ? &own : &others) += amount_of(amount, i);
	if (others > 0 && own > others && own > enough)
		return (others > enough ? others : enough) / own;
	*who = AUC_USER_NONE;
	return 1;
}

double auc_users_sum(const unsigned *user, const double *amount, unsigned n)
{
	double sum = 0, share;
	unsigned who;

	share = auc_users_share(user, amount, n, 0, &who);
	for (unsigned i = 0; i < n; i++)
		sum += amount_of(amount, i) * (who != AUC_USER_NONE && user[i] == who ? share : 1);
	return sum;
}
