/* user_share.c - see user_share.h */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pricing/dual/dual_prices.h"
#include "pricing/past/user_share.h"

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

double auc_user_share_factor(const unsigned *user, const double *amount, unsigned n, double enough,
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

struct bid {
	unsigned user;
	bool now;
};

static int by_user(const void *a, const void *b)
{
	const struct bid *x = a, *y = b;

	return x->user < y->user ? -1 : x->user > y->user;
}

static double change_of(const struct auc_user_share_level *level)
{
	return fabs(log(auc_dual_prices_ratio(level->now, level->before)));
}

enum auc_code auc_user_share_level(const unsigned *now, unsigned n, const unsigned *before,
				   unsigned m, double weight, struct auc_user_share_level *level,
				   struct auc_err *err)
{
	struct auc_user_share_level all = {n, m * weight}, others;
	struct bid *list = malloc(((size_t)n + m + 1) * sizeof(*list));
	size_t from, to, i;

	*level = all;
	if (!list)
		return auc_err_set(err, AUC_ENOMEM, "no memory to count bids");
	for (i = 0; i < (size_t)n + m; i++)
		list[i] = (struct bid){i < n ? now[i] : before[i - n], i < n};
	qsort(list, (size_t)n + m, sizeof(*list), by_user);
	for (from = 0; from < (size_t)n + m; from = to) {
		others = all;
		for (to = from; to < (size_t)n + m && list[to].user == list[from].user; to++)
			*(list[to].now ? &others.now : &others.before) -= list[to].now ? 1 : weight;
		if (list[from].user != AUC_USER_NONE && to - from < (size_t)n + m &&
		    change_of(&others) < change_of(level))
			*level = others;
	}
	free(list);
	return AUC_OK;
}
