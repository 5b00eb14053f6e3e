/* fit_levels.c - see fit_levels.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/conf_prices.h"
#include "pricing/fit-private.h"
#include "pricing/fit_levels.h"
#include "pricing/bound_levels.h"
#include "market/timeline.h"

const struct auc_guard_choice auc_fit_levels_usual = {
	AUC_TARIFF_FLAT, {AUC_PRICE_FORM_BOUNDS, 1}, false};

/* Periods that are replayed. */
struct replay {
	const struct auc_fit_input *in;
	const struct auc_fit_days *days;
};

static enum auc_code hear(const struct auc_fit_input *in, const struct auc_fit_days *days,
			  struct auc_bound_days *past, struct auc_err *err);
static void forget(struct auc_bound_days *past);
static auc_bound_levels_replay replay;
static enum auc_code list_prices(const struct auc_fit_input *in, const struct auc_market *m,
				 const struct auc_price *price, struct auc_given_price **list,
				 size_t *n, struct auc_err *err);

enum auc_code auc_fit_levels_guard(const struct auc_fit_input *in, const struct auc_fit_days *days,
				   struct auc_tariff *t, struct auc_err *err)
{
	struct auc_tariff_guard *g = &t->guard;
	struct replay r = {in, days};
	struct auc_bound_days past;
	struct auc_bound_levels found;
	enum auc_code rc = hear(in, days, &past, err);
	double worth;

	if (rc == AUC_OK)
		rc = auc_bound_levels_choose(in->empty, &past, g->flat ? 0 : AUC_LEVEL_OF_DAY,
					     replay, &r, &found, err);
	forget(&past);
	if (rc != AUC_OK)
		return rc;
	worth = found.worth[AUC_LEVEL_TAUGHT];
	g->worth_of[AUC_TARIFF_FLAT] = fmax(g->worth_of[AUC_TARIFF_FLAT], worth);
	if (found.kind != AUC_LEVEL_TAUGHT || (g->choice.kind >= AUC_TARIFF_FLAT &&
					       auc_bound_levels_outdone(&found, days->n, g->worth)))
		return AUC_OK;
	g->choice = (struct auc_guard_choice){
		AUC_TARIFF_FLAT, {AUC_PRICE_FORM_BOUNDS, found.factor}, false};
	g->worth = worth;
	g->gain = found.gain;
	g->error = 0;
	g->needed = found.needed;
	return AUC_OK;
}

enum auc_code auc_fit_levels_set(const struct auc_fit_input *in, const struct auc_fit_days *days,
				 struct auc_tariff *t, struct auc_err *err)
{
	struct auc_given_price *list = NULL;
	struct auc_bound_days past;
	struct auc_price price;
	enum auc_code rc = hear(in, days, &past, err);
	size_t n = 0;

	if (rc == AUC_OK)
		rc = auc_bound_levels_teach(in->empty, &past, t->choice.factor, &price, err);
	if (rc == AUC_OK)
		rc = list_prices(in, in->market, &price, &list, &n, err);
	if (rc == AUC_OK)
		rc = auc_tariff_set(t, in->market, list, n, err);
	free(list);
	forget(&past);
	return rc;
}

/* -- what bids say -- */

/* *PAST is to be forgotten. */
static enum auc_code hear(const struct auc_fit_input *in, const struct auc_fit_days *days,
			  struct auc_bound_days *past, struct auc_err *err)
{
	unsigned bids = days->first[days->n], n = 0;

	*past = (struct auc_bound_days){.ndays = days->n};
	past->first = calloc((size_t)days->n + 1, sizeof(*past->first));
	past->slots = calloc((size_t)days->n + 1, sizeof(*past->slots));
	past->claims = calloc((size_t)bids + 1, sizeof(*past->claims));
	if (!past->first || !past->slots || !past->claims)
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	for (unsigned d = 0; d < days->n; d++) {
		for (unsigned i = days->first[d]; i < days->first[d + 1]; i++) {
			const struct auc_dual_job *j = &days->jobs[i];
			struct auc_claim *c = &past->claims[n];

			if (!auc_claim_make(in->empty, j->job, c))
				continue;
			c->arrival -= auc_market_first(in->empty);
			/* part of a job: as much for a unit, but fewer units */
			c->value *= j->weight;
			for (unsigned r = 0; r < AUC_PRICE_ROLES; r++)
				c->slots[r] *= j->weight;
			n += j->weight > 0;
		}
		past->slots[d] = in->conf->slots;
		past->first[d + 1] = n;
	}
	return AUC_OK;
}

static void forget(struct auc_bound_days *past)
{
	free(past->first);
	free(past->slots);
	free(past->claims);
}

/* -- a period again -- */

static enum auc_code replay(void *arg, enum auc_level_kind kind, const struct auc_price *price,
			    unsigned day, double *worth, struct auc_err *err)
{
	const struct replay *r = arg;
	const unsigned *first = r->days->first + day;
	struct auc_market *m = auc_market_clone(r->in->empty);
	struct auc_given_price *list = NULL;
	enum auc_code rc = AUC_OK;
	size_t n = 0;

	if (!m)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a replay");
	if (kind == AUC_LEVEL_PUBLISHED)
		rc = auc_market_set_price(m, r->in->published, err);
	else if (kind == AUC_LEVEL_TAUGHT)
		rc = list_prices(r->in, m, price, &list, &n, err);
	if (rc == AUC_OK && kind != AUC_LEVEL_PUBLISHED)
		rc = auc_market_give_prices(m, list, n, err);
	if (rc == AUC_OK)
		rc = auc_fit_sell(r->in, m, r->days->jobs + first[0], first[1] - first[0], worth,
				  err);
	free(list);
	auc_market_destroy(m);
	return rc;
}

/* -- prices -- */

/* L of PRICE, or what the configuration asks for at least, on all servers of M in all slots;
 * *LIST is malloc'd. */
static enum auc_code list_prices(const struct auc_fit_input *in, const struct auc_market *m,
				 const struct auc_price *price, struct auc_given_price **list,
				 size_t *n, struct auc_err *err)
{
	auc_slot first = auc_market_first(m), last = auc_market_last(m);
	struct auc_price least;

	*n = 0;
	*list = calloc((size_t)m->nservers * m->ntres + 1, sizeof(**list));
	if (!*list)
		return auc_err_set(err, AUC_ENOMEM, "no memory for prices");
	auc_conf_price(in->conf, AUC_PRICE_BOUNDS, m, &least);
	for (unsigned s = 0; s < m->nservers; s++)
		for (unsigned k = 0; k < m->ntres; k++) {
			const char *name = auc_market_tres_name(m, k);
			unsigned roles = auc_market_hosts(m, s);
			struct auc_price_curve taught, asked;
			enum auc_code rc = auc_price_curve_of(price, name, roles, &taught, err);

			if (rc == AUC_OK)
				rc = auc_price_curve_of(&least, name, roles, &asked, err);
			if (rc != AUC_OK)
				return rc;
			(*list)[(*n)++] = (struct auc_given_price){
				s, k, first, last, exp(fmax(taught.lower, asked.lower))};
		}
	return AUC_OK;
}
