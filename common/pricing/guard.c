/* guard.c - see guard.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "pricing/guard.h"

#define CANDIDATES 32
#define MARGIN     0.005 /* of what the past was worth */
#define MARGIN_ONE 0.05  /* the same if there is but one day, so that chance is not known */
#define SURE       0.5   /* standard errors */

struct candidate {
	struct auc_guard_choice choice;
	double worth; /* of all days */
	double *by_day;
};

struct guard {
	unsigned ndays;
	auc_guard_replay *replay;
	void *arg;
	unsigned n;
	struct candidate list[CANDIDATES];
};

const struct auc_guard_choice auc_guard_usual = {
	AUC_TARIFF_LEARNED, {AUC_PRICE_FORM_MIXED, 0.85}, true};
const struct auc_guard_choice auc_guard_usual_flat = {
	AUC_TARIFF_FLAT, {AUC_PRICE_FORM_FLAT, 0.2}, false};

static void list_candidates(struct guard *g, bool flat);
static void add(struct guard *g, enum auc_tariff_kind kind, enum auc_price_form form,
		double factor);
static enum auc_code rehearse(struct guard *g, struct candidate *c, struct auc_err *err);
static const struct candidate *best_of(const struct guard *g, bool taught);
static enum auc_code prefer_usual(struct guard *g, const struct candidate *other,
				  const struct candidate **best, struct auc_guard_verdict *v,
				  struct auc_err *err);
static bool is_better(const struct guard *g, const struct candidate *c,
		      const struct candidate *base, struct auc_guard_verdict *v);
static double worth_of(const struct guard *g, const struct candidate *c);

enum auc_code auc_guard_choose(unsigned ndays, bool flat, auc_guard_replay *replay, void *arg,
			       struct auc_guard_verdict *v, struct auc_err *err)
{
	struct guard g = {.ndays = ndays, .replay = replay, .arg = arg};
	const struct candidate *best, *other;
	enum auc_code rc = AUC_OK;

	*v = (struct auc_guard_verdict){0};
	list_candidates(&g, flat);
	for (unsigned i = 0; i < g.n && rc == AUC_OK; i++)
		rc = rehearse(&g, &g.list[i], err);
	best = best_of(&g, true);
	if (rc == AUC_OK && !flat) {
		other = best_of(&g, false);
		if (is_better(&g, best, other, v))
			rc = prefer_usual(&g, other, &best, v, err);
		if (rc == AUC_OK && !is_better(&g, best, other, v))
			best = other;
	}
	for (const struct candidate *c = g.list; rc == AUC_OK && c < g.list + g.n; c++)
		v->worth_of[c->choice.kind] = fmax(v->worth_of[c->choice.kind], worth_of(&g, c));
	v->choice = best->choice;
	v->worth = best->worth;
	for (unsigned i = 0; i < g.n; i++)
		free(g.list[i].by_day);
	return rc;
}

static void list_candidates(struct guard *g, bool flat)
{
	static const double floors[] = {0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5};
	static const double factors[] = {0.6, 0.7, 0.85, 1};

	if (!flat) {
		add(g, AUC_TARIFF_NONE, AUC_PRICE_FORM_NONE, 0);
		add(g, AUC_TARIFF_PUBLISHED, AUC_PRICE_FORM_NONE, 0);
	}
	for (unsigned i = 0; i < sizeof(floors) / sizeof(floors[0]); i++)
		add(g, AUC_TARIFF_FLAT, AUC_PRICE_FORM_FLAT, floors[i]);
	for (unsigned form = AUC_PRICE_FORM_LEVEL; form <= AUC_PRICE_FORM_MIXED && !flat; form++)
		for (unsigned i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
			add(g, AUC_TARIFF_LEARNED, form, factors[i]);
}

static void add(struct guard *g, enum auc_tariff_kind kind, enum auc_price_form form, double factor)
{
	g->list[g->n++] = (struct candidate){.choice = {.kind = kind, .prices = {form, factor}}};
}

static enum auc_code rehearse(struct guard *g, struct candidate *c, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	c->worth = 0;
	c->by_day = calloc(g->ndays, sizeof(double));
	if (!c->by_day)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a replay");
	for (unsigned i = 0; i < g->ndays && rc == AUC_OK; i++) {
		rc = g->replay(g->arg, &c->choice, i, &c->by_day[i], err);
		c->worth += c->by_day[i];
	}
	return rc;
}

/* The best of those that are TAUGHT, or of the others. NULL: none. */
static const struct candidate *best_of(const struct guard *g, bool taught)
{
	const struct candidate *best = NULL, *c;

	for (c = g->list; c < g->list + g->n; c++)
		if ((c->choice.kind >= AUC_TARIFF_FLAT) == taught &&
		    (!best || worth_of(g, c) > worth_of(g, best)))
			best = c;
	return best;
}

/* *BEST of all that are taught: the usual ones, if they are better than OTHER and the best of all
 * are not better than they. */
static enum auc_code prefer_usual(struct guard *g, const struct candidate *other,
				  const struct candidate **best, struct auc_guard_verdict *v,
				  struct auc_err *err)
{
	struct candidate *usual = &g->list[g->n++];
	enum auc_code rc;

	*usual = (struct candidate){.choice = auc_guard_usual};
	rc = rehearse(g, usual, err);
	if (rc != AUC_OK)
		return rc;
	*best = best_of(g, true);
	if (is_better(g, usual, other, v) && !is_better(g, *best, usual, v))
		*best = usual;
	return AUC_OK;
}

/*
 * Whether C are better than BASE, and not by chance. Half a standard error, no more, as prices will
 * be better than that: each day of the past is taught by the others, today by them all.
 */
static bool is_better(const struct guard *g, const struct candidate *c,
		      const struct candidate *base, struct auc_guard_verdict *v)
{
	double square = 0, gain;

	v->gain = (c->worth - base->worth) / g->ndays;
	v->error = 0;
	v->needed = MARGIN_ONE * base->worth;
	if (g->ndays == 1)
		return v->gain > v->needed;
	for (unsigned i = 0; i < g->ndays; i++) {
		gain = c->by_day[i] - base->by_day[i];
		square += (gain - v->gain) * (gain - v->gain);
	}
	v->error = sqrt(square / (g->ndays - 1) / g->ndays);
	v->needed = MARGIN * base->worth / g->ndays + SURE * v->error;
	return v->gain > v->needed;
}

/* What C is taken to be worth. */
static double worth_of(const struct guard *g, const struct candidate *c)
{
	const struct candidate *next[] = {c - 1, c + 1};
	double sum = 2 * c->worth, weight = 2;

	for (unsigned i = 0; i < 2; i++)
		if (c->choice.kind >= AUC_TARIFF_FLAT && next[i] >= g->list &&
		    next[i] < g->list + g->n && next[i]->choice.kind == c->choice.kind &&
		    next[i]->choice.prices.form == c->choice.prices.form &&
		    next[i]->choice.again == c->choice.again) {
			sum += next[i]->worth;
			weight++;
		}
	return sum / weight;
}

/* -- a day that is not like the others -- */

bool auc_guard_moved(const struct auc_guard_choice *choice, double seen, double expected)
{
	return (seen > expected || choice->prices.form != AUC_PRICE_FORM_NONE) &&
	       auc_dual_prices_level_changed(seen, expected);
}

struct auc_price_choice auc_guard_again(const struct auc_guard_choice *choice)
{
	return choice->prices.form < AUC_PRICE_FORM_LEVEL ? auc_guard_usual.prices : choice->prices;
}
