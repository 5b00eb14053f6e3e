/* floors.c - see floors.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "floors.h"
#include "replay.h"

#define LEVELS     8  /* from 2^(1 - LEVELS) of all worth up, doubling */
#define ROUNDS     3  /* over all prices with a step */
#define REPLAYS    64 /* of every day */
#define MARGIN_ONE 0.05
#define BEHIND     0.02 /* of the days so far: then the others are not replayed */
#define PRICES_MAX (AUC_TRES_MAX + 1)

/* What the past would have been worth. */
struct worth {
	double sum, *by_day;
};

struct search {
	const char *policy;
	unsigned ndays;
	struct scenario *const *days;
	unsigned n, replays; /* n: prices */
	struct auc_named price[PRICES_MAX], best[PRICES_MAX];
	struct worth none, published, floors, now;
};

static enum auc_code start(struct search *f, const struct scenario *s, struct auc_err *err);
static void add_price(struct search *f, const char *name, double amount);
static enum auc_code find_level(struct search *f, struct auc_err *err);
static enum auc_code climb(struct search *f, double step, struct auc_err *err);
static enum auc_code try_floors(struct search *f, bool *better, struct auc_err *err);
static enum auc_code replay(struct search *f, enum scenario_prices prices, struct worth *to,
			    const struct worth *best, struct auc_err *err);
static bool surely_better(const struct search *f, const struct worth *a, const struct worth *b);
static enum auc_code take(const struct search *f, struct scenario *s, bool flat, char **chosen,
			  struct auc_err *err);
static enum auc_code set_floors(struct scenario *s, const struct auc_named *price, unsigned n,
				struct auc_err *err);

enum auc_code floors_learn(struct scenario *s, const char *policy, struct scenario *const *days,
			   unsigned n, bool flat, char **chosen, struct auc_err *err)
{
	struct search f = {.policy = policy, .days = days, .ndays = n};
	struct worth *all[] = {&f.none, &f.published, &f.floors, &f.now};
	enum auc_code rc = AUC_OK;

	*chosen = NULL;
	for (unsigned i = 0; i < 4 && rc == AUC_OK; i++) {
		all[i]->by_day = calloc(n, sizeof(double));
		if (!all[i]->by_day)
			rc = auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	}
	if (rc == AUC_OK && !flat)
		rc = replay(&f, SCENARIO_PRICES_OFFLINE, &f.published, NULL, err);
	if (rc == AUC_OK)
		rc = start(&f, s, err);
	if (rc == AUC_OK)
		rc = find_level(&f, err);
	for (double step = 2; step > 1.1 && rc == AUC_OK; step = sqrt(step))
		rc = climb(&f, step, err);
	if (rc == AUC_OK)
		rc = take(&f, s, flat, chosen, err);
	for (unsigned i = 0; i < 4; i++)
		free(all[i]->by_day);
	return rc;
}

/* The prices at which all that a day has would cost what its jobs are worth if they were done at
 * once; and what the past is worth without prices. */
static enum auc_code start(struct search *f, const struct scenario *s, struct auc_err *err)
{
	const struct scenario_server *server;
	const struct scenario_job *j;
	double worth = 0, share;

	for (unsigned i = 0; i < f->ndays; i++)
		for (j = f->days[i]->jobs; j < f->days[i]->jobs + f->days[i]->njobs; j++)
			worth += auc_utility_value(&j->utility, 1) / f->ndays;
	share = worth / (double)s->slots;
	for (server = s->servers; server < s->servers + s->nservers; server++)
		for (unsigned k = 0; k < server->ncapacity; k++)
			add_price(f, server->capacity[k].name, server->capacity[k].value);
	if (s->transfer_mb_per_slot > 0)
		add_price(f, AUC_TRANSFER, s->transfer_mb_per_slot);
	for (unsigned k = 0; k < f->n; k++)
		f->price[k].value = f->price[k].value > 0 ? share / f->price[k].value : 0;
	return replay(f, SCENARIO_PRICES_GIVEN, &f->none, NULL, err);
}

static void add_price(struct search *f, const char *name, double amount)
{
	unsigned k = 0;

	while (k < f->n && strcmp(f->price[k].name, name) != 0)
		k++;
	if (k == PRICES_MAX)
		return;
	if (k == f->n)
		strcpy(f->price[f->n++].name, name);
	f->price[k].value += amount;
}

static enum auc_code find_level(struct search *f, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	bool better;

	for (unsigned k = 0; k < f->n; k++)
		f->price[k].value = ldexp(f->price[k].value, -LEVELS);
	for (unsigned i = 0; i < LEVELS && rc == AUC_OK; i++) {
		for (unsigned k = 0; k < f->n; k++)
			f->price[k].value *= 2;
		rc = try_floors(f, &better, err);
	}
	return rc;
}

/* Each price higher and lower by STEP, as long as that is better. */
static enum auc_code climb(struct search *f, double step, struct auc_err *err)
{
	bool better, moved = true;
	enum auc_code rc = AUC_OK;

	for (unsigned round = 0; moved && round < ROUNDS; round++) {
		moved = false;
		for (unsigned k = 0; k < 2 * f->n; k++)
			for (better = true; better;) {
				if (rc != AUC_OK || f->replays == REPLAYS)
					return rc;
				memcpy(f->price, f->best, sizeof(f->price));
				f->price[k / 2].value *= k % 2 ? 1 / step : step;
				rc = try_floors(f, &better, err);
				moved = moved || better;
			}
	}
	return rc;
}

/* Keeps f->price if the past is worth more with it than with the best so far. */
static enum auc_code try_floors(struct search *f, bool *better, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	struct worth kept;

	for (unsigned i = 0; i < f->ndays && rc == AUC_OK; i++)
		rc = set_floors(f->days[i], f->price, f->n, err);
	if (rc == AUC_OK)
		rc = replay(f, SCENARIO_PRICES_BOUNDS, &f->now, &f->floors, err);
	*better = rc == AUC_OK && f->now.sum > f->floors.sum;
	if (!*better)
		return rc;
	kept = f->floors;
	f->floors = f->now;
	f->now = kept;
	memcpy(f->best, f->price, sizeof(f->best));
	return AUC_OK;
}

/* What the past is worth at PRICES; less, if that is far behind BEST (NULL: none). */
static enum auc_code replay(struct search *f, enum scenario_prices prices, struct worth *to,
			    const struct worth *best, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	double least = 0;

	f->replays++;
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
	enum auc_code rc = AUC_OK;
	char what[2048];
	size_t len;

	if (surely_better(f, &f->floors, other)) {
		rc = set_floors(s, f->best, f->n, err);
		len = (size_t)snprintf(what, sizeof(what), "learned prices:");
		for (unsigned k = 0; k < f->n && len < sizeof(what); k++)
			len += (size_t)snprintf(what + len, sizeof(what) - len, "%s %.40s %.4g",
						k ? "," : "", f->best[k].name, f->best[k].value);
	} else {
		s->prices = published ? SCENARIO_PRICES_OFFLINE : SCENARIO_PRICES_GIVEN;
		s->nvalues = 0;
		snprintf(what, sizeof(what), "%s prices", published ? "the published" : "no");
	}
	if (rc == AUC_OK &&
	    asprintf(chosen,
		     "%.40s: %s: the past would have been worth %.2f without prices, %.2f with the "
		     "published, %.2f with learned ones",
		     f->policy, what, f->none.sum, f->published.sum, f->floors.sum) < 0) {
		*chosen = NULL;
		rc = auc_err_set(err, AUC_ENOMEM, "--history: no memory");
	}
	return rc;
}

/* Constant prices: a lower bound that is the upper one, too. */
static enum auc_code set_floors(struct scenario *s, const struct auc_named *price, unsigned n,
				struct auc_err *err)
{
	struct scenario_amounts *const to[] = {&s->both.lower, &s->both.upper};

	for (unsigned i = 0; i < 2; i++) {
		struct auc_named *list = calloc(n + 1, sizeof(*list));

		if (!list)
			return auc_err_set(err, AUC_ENOMEM, "--history: no memory");
		free(to[i]->list);
		to[i]->list = list;
		to[i]->n = 0;
		for (unsigned k = 0; k < n; k++)
			if (price[k].value > 0)
				list[to[i]->n++] = price[k];
	}
	for (unsigned r = 0; r < 2; r++) {
		struct scenario_bounds *one = r ? &s->ps_bounds : &s->worker;

		one->lower.n = one->upper.n = 0;
	}
	s->prices = SCENARIO_PRICES_BOUNDS;
	return AUC_OK;
}
