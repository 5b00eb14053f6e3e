/* flat_days.c - see flat_days.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/flat_prices.h"
#include "auctionsim/run/flat_days.h"
#include "auctionsim/run/replay.h"

#define MARGIN_ONE 0.05
#define BEHIND     0.02 /* of the days so far: then the others are not replayed */

/* What the past would have been worth. */
struct worth {
	double sum, *by_day;
};

struct search {
	const char *policy;
	unsigned ndays;
	struct scenario *const *days;
	struct auc_flat_prices best, trace;
	struct worth none, published, trace_worth, floors, now;
};

static void start(struct search *f, const struct scenario *s);
static enum auc_code replay_floors(struct search *f, const struct auc_flat_prices *flat,
				   struct worth *to, const struct worth *best, struct auc_err *err);
static auc_flat_prices_try try_floors;
static enum auc_code replay(struct search *f, enum scenario_prices prices, struct worth *to,
			    const struct worth *best, struct auc_err *err);
static bool surely_better(const struct search *f, const struct worth *a, const struct worth *b);
static enum auc_code take(const struct search *f, struct scenario *s, bool flat, char **chosen,
			  struct auc_err *err);
static enum auc_code set_floors(struct scenario *s, const struct auc_flat_prices *flat,
				struct auc_err *err);

enum auc_code flat_days_learn(struct scenario *s, const char *policy, struct scenario *const *days,
			      unsigned n, bool flat, char **chosen, struct auc_err *err)
{
	struct search f = {.policy = policy, .days = days, .ndays = n};
	struct worth *all[] = {&f.none, &f.published, &f.trace_worth, &f.floors, &f.now};
	enum auc_code rc = AUC_OK;

	*chosen = NULL;
	for (unsigned i = 0; i < 5 && rc == AUC_OK; i++) {
		all[i]->by_day = calloc(n, sizeof(double));
		if (!all[i]->by_day)
			rc = auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	}
	if (rc == AUC_OK && !flat)
		rc = replay(&f, SCENARIO_PRICES_OFFLINE, &f.published, NULL, err);
	if (rc == AUC_OK)
		rc = replay(&f, SCENARIO_PRICES_GIVEN, &f.none, NULL, err);
	start(&f, s);
	if (rc == AUC_OK)
		rc = replay_floors(&f, &f.trace, &f.trace_worth, NULL, err);
	if (rc == AUC_OK)
		rc = auc_flat_prices_search(&f.best, try_floors, &f, err);
	if (rc == AUC_OK)
		rc = replay_floors(&f, &f.best, &f.floors, NULL, err);
	if (rc == AUC_OK)
		rc = take(&f, s, flat, chosen, err);
	for (unsigned i = 0; i < 5; i++)
		free(all[i]->by_day);
	return rc;
}

/* The prices at which all that a day has would cost what its jobs are worth if they were done at
 * once. */
static void start(struct search *f, const struct scenario *s)
{
	const struct scenario_server *server;
	const struct scenario_job *j;
	double worth = 0;

	for (unsigned i = 0; i < f->ndays; i++)
		for (j = f->days[i]->jobs; j < f->days[i]->jobs + f->days[i]->njobs; j++)
			worth += auc_utility_value(&j->utility, 1) / f->ndays;
	for (server = s->servers; server < s->servers + s->nservers; server++)
		for (unsigned k = 0; k < server->ncapacity; k++)
			auc_flat_prices_add(&f->best, server->capacity[k].name,
					    server->capacity[k].value);
	if (s->transfer_mb_per_slot > 0)
		auc_flat_prices_add(&f->best, AUC_TRANSFER, s->transfer_mb_per_slot);
	auc_flat_prices_spread(&f->best, worth / (double)s->slots);
	f->trace = f->best;
	auc_flat_prices_trace(&f->trace);
}

static enum auc_code replay_floors(struct search *f, const struct auc_flat_prices *flat,
				   struct worth *to, const struct worth *best, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < f->ndays && rc == AUC_OK; i++)
		rc = set_floors(f->days[i], flat, err);
	return rc == AUC_OK ? replay(f, SCENARIO_PRICES_BOUNDS, to, best, err) : rc;
}

static enum auc_code try_floors(void *arg, const struct auc_flat_prices *flat, double *worth,
				struct auc_err *err)
{
	struct search *f = arg;
	enum auc_code rc = replay_floors(f, flat, &f->now, &f->floors, err);
	struct worth kept;

	*worth = f->now.sum;
	if (rc == AUC_OK && f->now.sum > f->floors.sum) {
		kept = f->floors;
		f->floors = f->now;
		f->now = kept;
	}
	return rc;
}

/* What the past is worth at PRICES; less, if that is far behind BEST (NULL: none). */
static enum auc_code replay(struct search *f, enum scenario_prices prices, struct worth *to,
			    const struct worth *best, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	double least = 0;

	to->sum = 0;
	for (unsigned i = 0; i < f->ndays && to->sum >= least && rc == AUC_OK; i++) {
		struct result result = {0};

		f->days[i]->prices = prices;
		if (prices == SCENARIO_PRICES_GIVEN)
			f->days[i]->nvalues = 0;
		rc = replay_run(f->days[i], f->policy, 1, NULL, NULL, &result, err);
		to->by_day[i] = result.welfare;
		to->sum += result.welfare;
		least += best ? (1 - BEHIND) * best->by_day[i] : 0;
		result_clear(&result);
	}
	return rc;
}

static bool surely_better(const struct search *f, const struct worth *a, const struct worth *b)
{
	double mean = (a->sum - b->sum) / f->ndays, square = 0, gain;

	for (unsigned i = 0; i < f->ndays; i++) {
		gain = a->by_day[i] - b->by_day[i];
		square += (gain - mean) * (gain - mean);
	}
	if (f->ndays == 1)
		return mean > MARGIN_ONE * b->sum;
	return mean > sqrt(square / (f->ndays - 1) / f->ndays);
}

/* Gives S what won, and says so. */
static enum auc_code take(const struct search *f, struct scenario *s, bool flat, char **chosen,
			  struct auc_err *err)
{
	bool published = !flat && f->published.sum > f->none.sum;
	const struct worth *other = published ? &f->published : &f->none;
	bool trace = f->trace_worth.sum > other->sum;
	enum auc_code rc = AUC_OK;
	char what[2048], also[400] = "";
	size_t len;

	if (trace)
		other = &f->trace_worth;
	if (surely_better(f, &f->floors, other)) {
		rc = set_floors(s, &f->best, err);
		len = (size_t)snprintf(what, sizeof(what), "learned prices:");
		for (unsigned k = 0; k < f->best.n && len < sizeof(what); k++)
			len += (size_t)snprintf(what + len, sizeof(what) - len, "%s %.40s %.4g",
						k ? "," : "", f->best.price[k].name,
						f->best.price[k].value);
	} else if (trace) {
		rc = set_floors(s, &f->trace, err);
		strcpy(what, "a trace of prices");
	} else {
		s->prices = published ? SCENARIO_PRICES_OFFLINE : SCENARIO_PRICES_GIVEN;
		s->nvalues = 0;
		snprintf(what, sizeof(what), "%s prices", published ? "the published" : "no");
	}
	if (!flat) /* else they were not replayed */
		snprintf(also, sizeof(also), "%.2f with the published, ", f->published.sum);
	if (rc == AUC_OK && asprintf(chosen,
				     "%.40s: %s: the past would have been worth %.2f without "
				     "prices, %s%.2f with learned ones",
				     f->policy, what, f->none.sum, also, f->floors.sum) < 0) {
		*chosen = NULL;
		rc = auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	}
	return rc;
}

/* Constant prices: a lower bound that is the upper one, too. */
static enum auc_code set_floors(struct scenario *s, const struct auc_flat_prices *flat,
				struct auc_err *err)
{
	struct scenario_amounts *const to[] = {&s->both.lower, &s->both.upper};

	for (unsigned i = 0; i < 2; i++) {
		struct auc_named *list = calloc(flat->n + 1, sizeof(*list));

		if (!list)
			return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
		free(to[i]->list);
		to[i]->list = list;
		to[i]->n = 0;
		for (unsigned k = 0; k < flat->n; k++)
			if (flat->price[k].value > 0)
				list[to[i]->n++] = flat->price[k];
	}
	for (unsigned r = 0; r < 2; r++) {
		struct scenario_bounds *one = r ? &s->ps_bounds : &s->worker;

		one->lower.n = one->upper.n = 0;
	}
	s->prices = SCENARIO_PRICES_BOUNDS;
	return AUC_OK;
}
