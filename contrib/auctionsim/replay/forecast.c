/* forecast.c - see forecast.h. The counts are those of learned.c and teacher.c. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "auctionsim/baseline/registry.h"
#include "auctionsim/replay/forecast.h"
#include "auctionsim/run/replay.h"
#include "auctionsim/scenario/scenario_market.h"
#include "base/clock.h"
#include "pricing/dual/dual_prices.h"
#include "pricing/guard.h"

#define STEPS      4    /* of the fit that is timed */
#define CANDIDATES 22   /* prices that the guard compares */
#define LEVELS     64   /* replays of a past day by which bounds are chosen */
#define FIRST_JOBS 10.0 /* a day without a past: prices are fitted from so many jobs on, */
#define GROWTH     1.1  /* and again whenever there are that many times as many */

static enum auc_code time_sale(struct scenario *s, const char *policy, struct forecast *f,
			       struct auc_err *err);
static enum auc_code time_fit(const struct scenario *s, const struct auc_policy *policy,
			      unsigned njobs, double *seconds, struct auc_err *err);
static double fit(const struct forecast *f, double days, unsigned steps);

enum auc_code forecast_measure(const char *text, size_t len, const char *policy, struct forecast *f,
			       struct auc_err *err)
{
	const struct auc_policy *found = sim_policy_of(policy);
	struct scenario *s = NULL;
	enum auc_code rc = scenario_parse(text, len, "the day", &s, err);

	*f = (struct forecast){0};
	if (rc == AUC_OK) {
		f->jobs = s->njobs;
		rc = time_sale(s, policy, f, err);
	}
	if (rc == AUC_OK && found && found->prices == AUC_PRICE_ETA && !found->sites) {
		rc = time_fit(s, found, 1, &f->pool, err);
		if (rc == AUC_OK)
			rc = time_fit(s, found, s->njobs, &f->look, err);
		f->pool = fmin(f->pool, f->look);
	}
	scenario_free(s);
	return rc;
}

static enum auc_code time_sale(struct scenario *s, const char *policy, struct forecast *f,
			       struct auc_err *err)
{
	double began = auc_clock_now();
	struct result result = {0};
	enum auc_code rc;

	s->nvalues = 0;
	s->prices = SCENARIO_PRICES_GIVEN;
	rc = replay_run(s, policy, 1, NULL, NULL, &result, err);
	result_clear(&result);
	f->sell = auc_clock_now() - began;
	return rc;
}

/* A step of a fit to the first NJOBS jobs. */
static enum auc_code time_fit(const struct scenario *s, const struct auc_policy *policy,
			      unsigned njobs, double *seconds, struct auc_err *err)
{
	struct auc_job *jobs = calloc((size_t)njobs + 1, sizeof(*jobs));
	struct auc_dual_job *list = calloc((size_t)njobs + 1, sizeof(*list));
	struct auc_dual_prices *prices = NULL;
	struct auc_market *m = NULL;
	enum auc_code rc;
	double began = 0;

	rc = jobs && list ? scenario_market_create(s, NULL, &m, err)
			  : auc_err_set(err, AUC_ENOMEM, "no memory for a fit");
	for (unsigned i = 0; i < njobs && rc == AUC_OK; i++) {
		rc = scenario_market_job(s, &s->jobs[i], m, &jobs[i], err);
		list[i] = (struct auc_dual_job){.job = &jobs[i], .weight = 1};
	}
	if (rc == AUC_OK)
		rc = auc_dual_prices_create(m, policy, "", &prices, err);
	if (rc == AUC_OK)
		rc = auc_dual_prices_begin(prices, m, list, njobs, 1, STEPS, err);
	began = auc_clock_now();
	while (rc == AUC_OK && auc_dual_prices_left(prices))
		rc = auc_dual_prices_step(prices, err);
	*seconds = (auc_clock_now() - began) / (STEPS + 1);
	for (unsigned i = 0; jobs && i < njobs; i++)
		auc_job_clear(&jobs[i]);
	auc_dual_prices_destroy(prices);
	auc_market_destroy(m);
	free(jobs);
	free(list);
	return rc;
}

double forecast_seconds(const struct forecast *f, unsigned days, bool learned, unsigned history)
{
	double sum = days * f->sell, others, fits;

	for (unsigned d = 0; d < days && learned; d++) {
		unsigned past = d < history ? d : history;

		if (!(f->look > 0)) {
			sum += (past * LEVELS + 1) * f->sell;
			continue;
		}
		if (!past) {
			fits = fmax(0, log(f->jobs / FIRST_JOBS) / log(GROWTH));
			sum += fits * fit(f, 1, AUC_DUAL_PRICES_AGAIN) + 4 * f->sell;
			continue;
		}
		others = past > 1 ? past - 1 : 0.5;
		/* each day of the past is taught by the others, and replayed; one candidate is
		 * fitted again as the day goes on; the same of the day itself */
		sum += past * (fit(f, others, AUC_DUAL_PRICES_ITERATIONS) + CANDIDATES * f->sell +
			       AUC_GUARD_FITS_A_DAY * fit(f, others, AUC_DUAL_PRICES_AGAIN));
		sum += fit(f, past, AUC_DUAL_PRICES_ITERATIONS) + f->sell +
		       AUC_GUARD_FITS_A_DAY * fit(f, past, AUC_DUAL_PRICES_AGAIN);
	}
	return sum;
}

/* Of the jobs of so many DAYS. */
static double fit(const struct forecast *f, double days, unsigned steps)
{
	return (steps + 1) * (f->pool + days * (f->look - f->pool));
}
