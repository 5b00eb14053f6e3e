/* learn.c - see learn.h */
#include "config.h"

#include <stdlib.h>

#include "learn.h"

#define FIRST_STEP 0.2
#define LAST_STEP  0.001

static enum auc_code fit(struct auc_dual *d, unsigned iterations, struct auc_err *err);
static size_t smooth(const struct auc_market *m, const struct auc_dual *d, unsigned server,
		     unsigned tres, double *price, struct auc_given_price *list);

enum auc_code auc_learn_prices(const struct auc_market *m, const struct auc_policy *policy,
			       const struct auc_dual_job *jobs, unsigned njobs, unsigned iterations,
			       const struct auc_watch *watch, struct auc_given_price **list,
			       size_t *n, double *bound, struct auc_err *err)
{
	size_t slots = (size_t)(auc_market_last(m) - auc_market_first(m)) + 1;
	size_t rows = (size_t)auc_market_nservers(m) * auc_market_ntres(m);
	double *price = calloc(slots, sizeof(*price));
	struct auc_dual *d = NULL;
	enum auc_code rc;
	unsigned s, k;

	*n = 0;
	*list = calloc(rows * slots + 1, sizeof(**list));
	rc = price && *list ? auc_dual_create(m, policy, "", jobs, njobs, &d, err)
			    : auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	if (rc == AUC_OK) {
		auc_dual_watch(d, watch);
		rc = fit(d, iterations, err);
	}
	for (s = 0; s < auc_market_nservers(m) && rc == AUC_OK; s++)
		for (k = 0; k < auc_market_ntres(m); k++)
			*n += smooth(m, d, s, k, price, *list + *n);
	if (rc == AUC_OK) {
		*bound = auc_dual_bound(d);
	} else {
		free(*list);
		*list = NULL;
	}
	auc_dual_destroy(d);
	free(price);
	return rc;
}

static enum auc_code fit(struct auc_dual *d, unsigned iterations, struct auc_err *err)
{
	struct auc_dual_phase phase = {AUC_DUAL_CLASSES, iterations, FIRST_STEP, LAST_STEP};
	enum auc_code rc = auc_dual_begin(d, &phase, err);

	while (rc == AUC_OK && auc_dual_left(d))
		rc = auc_dual_step(d, err);
	return rc;
}

/* The mean of the slots within the length of a job; equal prices in one entry. Returns how many
 * entries there are. */
static size_t smooth(const struct auc_market *m, const struct auc_dual *d, unsigned server,
		     unsigned tres, double *price, struct auc_given_price *list)
{
	auc_slot first = auc_market_first(m), last = auc_market_last(m), t, from, to, i;
	auc_slot width = (auc_slot)auc_dual_duration(d);
	size_t n = 0;
	double sum;

	for (t = first; t <= last; t++) {
		from = t - width < first ? first : t - width;
		to = t + width > last ? last : t + width;
		for (sum = 0, i = from; i <= to; i++)
			sum += auc_dual_price(d, server, tres, i);
		price[t - first] = sum / (double)(to - from + 1);
	}
	for (t = first; t <= last; t++) {
		if (!(price[t - first] > 0))
			continue;
		if (n && list[n - 1].to == t - 1 && list[n - 1].price == price[t - first])
			list[n - 1].to = t;
		else
			list[n++] = (struct auc_given_price){server, tres, t, t, price[t - first]};
	}
	return n;
}
