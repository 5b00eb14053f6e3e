/* fitting.c - see fitting.h */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A fit is run by the auction: its market has the prices in force, which no call shows. */
#include "auction/auction-private.h"
#include "pricing/fit.h"
#include "unit/support/fitting.h"
#include "unit/support/world.h"

unsigned fitting_submit(struct auc_auction *a, const char *text, unsigned n, double every,
			double *now)
{
	struct auc_bid bid = world_bid(a, text);
	static uint32_t job = 1, uid = 1000;
	unsigned accepted = 0;
	struct auc_offer o;

	for (unsigned i = 0; i < n; i++, *now += every) {
		assert_int_equal(auc_auction_bid(a, &bid, uid++, *now, true, &o, NULL), AUC_OK);
		accepted += o.accepted;
		if (o.accepted)
			assert_int_equal(auc_auction_confirm(a, o.sale, job++, NULL, NULL), AUC_OK);
		auc_offer_clear(&o);
		auc_auction_tick(a, *now);
	}
	return accepted;
}

enum auc_code fitting_run(struct auc_auction *a, double now)
{
	struct auc_fit_job *j;
	struct auc_tariff *t;
	struct auc_err err;
	enum auc_code rc;

	/* How long this machine took for the last fit delays the next: not what is tested here. */
	a->fit_seconds = 0;
	assert_true(auc_auction_fit_due(a, now));
	if (auc_auction_fit_begin(a, now, &j, &err) != AUC_OK)
		fail_msg("%s", err.text);
	rc = auc_fit_job_run(j, NULL, &t, &err);
	if (rc != AUC_OK && rc != AUC_ENOENT)
		fail_msg("%s", err.text);
	auc_auction_fit_end(a, j, t);
	return rc;
}

static bool stop_at(void *arg)
{
	unsigned *left = arg;

	return (*left)-- > 0;
}

void fitting_stop(struct auc_auction *a, double now, unsigned factor, unsigned limit)
{
	unsigned left;
	struct auc_cancel cancel = {stop_at, &left};
	struct auc_fit_job *j;
	struct auc_tariff *t;

	for (unsigned i = 0; i < limit; i = factor * i + 1) {
		left = i;
		assert_int_equal(auc_auction_fit_begin(a, now, &j, NULL), AUC_OK);
		assert_int_equal(auc_fit_job_run(j, &cancel, &t, NULL), AUC_ESTATE);
		assert_null(t);
		auc_auction_fit_end(a, j, t);
	}
}

double fitting_v100_price(const struct auc_auction *a, auc_slot slot)
{
	int s = auc_market_find_server(a->market, "edge1"),
	    k = auc_market_find_tres(a->market, "gpu:v100");

	return auc_market_price(a->market, (unsigned)s, (unsigned)k, slot);
}

void fitting_honoured(struct auc_auction *a, const struct auc_offer *o)
{
	struct auc_sale_view v;

	assert_int_equal(auc_auction_sale(a, o->sale, &v, NULL), AUC_OK);
	assert_true(v.payment == o->payment);
	auc_sale_view_clear(&v);
}
