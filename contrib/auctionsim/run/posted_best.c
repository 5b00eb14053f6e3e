/*
 * posted_best.c - the best fixed unit prices with full knowledge: see posted_world.h. The search is
 * a coordinate ascent. Where there is room for all, what is earned along one price is known exactly
 * at every price at which one more user goes: all of them are tried. Where there is not, every step
 * is a run: from those prices and from prices that clear the market, along common factors and along
 * each price, and then in random directions.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/option.h"
#include "auctionsim/run/posted_world.h"
#include "base/list.h"

#define PASSES      8
#define SIMPLEX_MAX 6000
#define CLEARINGS   40
#define WALKS       300

/* Prices under trial. */
struct best {
	const struct posted_world *w;
	const struct posted_rules *rules;
	unsigned n;
	double *prices, *trial;
	double earned; /* with PRICES */
	double *later; /* by job, and 0 at the end: see struct posted_rules */
	struct auc_err *err;
	enum auc_code rc;
	double mean_slots;
};

struct step {
	double at, units,
		rest; /* a user who goes above price AT, who buys UNITS and pays REST besides */
};

struct options {
	unsigned fit, placement, bandwidth;
};

static enum auc_code read_options(const char *options, struct options *o, struct auc_err *err);
static double earn(struct best *b, const double *prices);
static bool improve(struct best *b);
static void climb_room(struct best *b);
static double best_along(const struct best *b, unsigned kind, unsigned type, struct step *steps);
static int compare_steps(const void *a, const void *b);
static void climb_runs(struct best *b);
static void climb_from(struct best *b, const double *start);
static bool clear_market(const struct best *b, double *prices);
static void walk(struct best *b);
static enum auc_code simplex(struct best *b);
static double bound(const struct best *b, const double *prices);

enum auc_code posted_world_best(const struct posted_world *w, const struct posted_rules *rules,
				bool by_simplex, double *prices, struct auc_err *err)
{
	struct best b = {.w = w,
			 .rules = rules,
			 .n = w->ntypes[0] + w->ntypes[1],
			 .prices = prices,
			 .err = err};
	unsigned i, kind;

	b.trial = calloc(b.n + 1, sizeof(*b.trial));
	b.later = calloc(w->njobs + 1, sizeof(*b.later));
	if (!b.trial || !b.later) {
		free(b.trial);
		free(b.later);
		return auc_err_set(err, AUC_ENOMEM, "no memory for fixed prices");
	}
	for (i = 0; i < b.n; i++)
		prices[i] = 0;
	for (i = 0; i < w->njobs;
	     i++) /* a start: everybody's budget, evenly over what they ask for */
		for (kind = 0; kind < AUC_POSTED_KINDS; kind++) {
			b.mean_slots += w->users[i].ask.epochs * w->users[i].ask.seconds /
					w->slot_seconds / w->njobs / 2;
			prices[(kind ? w->ntypes[0] : 0) + w->users[i].ask.type[kind]] =
				0.5 * w->users[i].budget /
				(w->users[i].ask.count[0] + w->users[i].ask.count[1]);
		}
	climb_room(&b);
	if (by_simplex)
		b.rc = simplex(&b);
	else
		climb_runs(&b);
	free(b.trial);
	free(b.later);
	return b.rc;
}

enum auc_code posted_bfp_check_options(const char *options, struct auc_err *err)
{
	struct options o = {.placement = AUC_POSTED_PA};

	return read_options(options, &o, err);
}

enum auc_code posted_bfp_options(const struct scenario *s, const char *options, char **text,
				 struct auc_err *err)
{
	static const char *const placements[] = {"pa", "upa", "rs", "cha"};
	struct options o = {.placement = AUC_POSTED_PA};
	struct posted_rules rules = {0};
	double prices[2 * AUC_TYPES_MAX];
	char number[AUC_NUMBER_LEN];
	struct posted_world w;
	enum auc_code rc;
	size_t size;
	unsigned i;
	FILE *out;

	*text = NULL;
	rc = read_options(options, &o, err);
	if (rc != AUC_OK)
		return rc;
	rules.placement = o.placement;
	rules.dynamic = o.bandwidth == 1;
	rc = posted_world_open(s, 0, 1, &w, err);
	if (rc != AUC_OK)
		return rc;
	rc = posted_world_best(&w, &rules, o.fit == 1, prices, err);
	out = rc == AUC_OK ? open_memstream(text, &size) : NULL;
	for (i = 0; out && i < w.ntypes[0] + w.ntypes[1]; i++)
		fprintf(out, "%s%s", i ? "/" : "fixed=", auc_number_str(prices[i], number));
	if (out)
		fprintf(out, ",placement=%s,bandwidth=%s", placements[rules.placement],
			rules.dynamic ? "dynamic" : "static");
	posted_world_close(&w);
	if (rc == AUC_OK && (!out || fclose(out)))
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy bfp");
	return rc;
}

static enum auc_code read_options(const char *options, struct options *o, struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "fit",
		 .choices = "search|simplex",
		 .offset = offsetof(struct options, fit)},
		{.key = "placement",
		 .choices = "pa|upa|rs|cha",
		 .offset = offsetof(struct options, placement)},
		{.key = "bandwidth",
		 .choices = "static|dynamic",
		 .offset = offsetof(struct options, bandwidth)},
	};

	return auc_options_read("bfp", options, list, 3, o, err);
}

/* What PRICES earn; something lower if that is not more than what is earned now. */
static double earn(struct best *b, const double *prices)
{
	struct posted_rules rules = *b->rules;
	struct posted_run run = {.revenue = 0};
	double asked;
	unsigned i;

	rules.fixed = prices;
	rules.later = b->later;
	rules.beat = b->earned * (1 - 1e-9); /* sums of another order */
	for (i = b->w->njobs; i-- > 0;) {
		asked = posted_world_asked(b->w, prices, i);
		b->later[i] = b->later[i + 1] + (asked <= b->w->users[i].budget ? asked : 0);
	}
	if (b->rc == AUC_OK)
		b->rc = posted_world_run(b->w, &rules, &run, b->err);
	return b->rc == AUC_OK ? run.revenue : 0;
}

/* Takes the trial if it earns more. */
static bool improve(struct best *b)
{
	double earned = earn(b, b->trial);

	if (!(earned > b->earned))
		return false;
	b->earned = earned;
	memcpy(b->prices, b->trial, b->n * sizeof(*b->prices));
	return true;
}

/* As if there were room for all. */
static void climb_room(struct best *b)
{
	struct step *steps = calloc(b->w->njobs + 1, sizeof(*steps));
	unsigned pass, kind, i;

	if (!steps) {
		b->rc = auc_err_set(b->err, AUC_ENOMEM, "no memory for fixed prices");
		return;
	}
	for (pass = 0; pass < PASSES; pass++)
		for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
			for (i = 0; i < b->w->ntypes[kind]; i++)
				b->prices[(kind ? b->w->ntypes[0] : 0) + i] =
					best_along(b, kind, i, steps);
	free(steps);
}

static double best_along(const struct best *b, unsigned kind, unsigned type, struct step *steps)
{
	unsigned n = 0, i, base = b->w->ntypes[0];
	double units = 0, rest = 0, most = -1, at = 0;
	const struct posted_user *u;

	for (u = b->w->users; u < b->w->users + b->w->njobs; u++) {
		if (u->ask.type[kind] != type)
			continue;
		steps[n].units = u->ask.count[kind];
		steps[n].rest = kind ? b->prices[u->ask.type[0]] * u->ask.count[0]
				     : b->prices[base + u->ask.type[1]] * u->ask.count[1];
		steps[n].at = (u->budget - steps[n].rest) / steps[n].units;
		n += steps[n].at >= 0;
	}
	qsort(steps, n, sizeof(*steps), compare_steps);
	for (i = 0; i < n; i++) {
		units += steps[i].units;
		rest += steps[i].rest;
		if (steps[i].at * units + rest > most) {
			most = steps[i].at * units + rest;
			at = steps[i].at;
		}
	}
	return at * (1 - 1e-12); /* nobody goes for rounding */
}

/* The dearest first. */
static int compare_steps(const void *a, const void *b)
{
	double x = ((const struct step *)a)->at, y = ((const struct step *)b)->at;

	return (x < y) - (x > y);
}

static void climb_runs(struct best *b)
{
	double *room = malloc(2 * (b->n + 1) * sizeof(*room)), *first = room + b->n, earned;

	if (!room) {
		b->rc = auc_err_set(b->err, AUC_ENOMEM, "no memory for fixed prices");
		return;
	}
	memcpy(room, b->prices, b->n * sizeof(*room));
	climb_from(b, room);
	earned = b->earned;
	memcpy(first, b->prices, b->n * sizeof(*first));
	if (clear_market(b, room)) {
		climb_from(b, room);
		if (b->earned < earned) {
			b->earned = earned;
			memcpy(b->prices, first, b->n * sizeof(*first));
		}
	}
	walk(b);
	free(room);
}

/* By common factors of START, and then along each price in turn. */
static void climb_from(struct best *b, const double *start)
{
	static const double factors[] = {0.7,  0.8,  0.87, 0.93, 0.97, 1.03, 1.07, 1.14,
					 1.22, 1.32, 1.45, 1.6,  1.8,  2.1,  2.5,  3};
	static const double steps[][4] = {{0.85, 0.93, 1.07, 1.16}, {0.96, 0.98, 1.02, 1.04}};
	unsigned i, k, pass;

	memcpy(b->prices, start, b->n * sizeof(*start));
	b->earned = 0;
	b->earned = earn(b, b->prices);
	for (k = 0; k < sizeof(factors) / sizeof(factors[0]); k++) {
		for (i = 0; i < b->n; i++)
			b->trial[i] = start[i] * factors[k];
		(void)improve(b);
	}
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < b->n && b->rc == AUC_OK; i++)
			for (k = 0; k < 4; k++) {
				memcpy(b->trial, b->prices, b->n * sizeof(*b->trial));
				b->trial[i] *= steps[pass][k];
				if (improve(b) && k == 1)
					break; /* it is below: not above, too */
			}
}

/* Raises PRICES type by type until those who pay them ask for no more than there is. False: that is
 * so already. */
static bool clear_market(const struct best *b, double *prices)
{
	const struct posted_world *w = b->w;
	double asked[AUC_POSTED_KINDS][AUC_TYPES_MAX], slots, there, over;
	const struct posted_user *u;
	unsigned round, kind, i;
	bool raised = false;

	for (round = 0; round < CLEARINGS; round++) {
		memset(asked, 0, sizeof(asked));
		for (u = w->users; u < w->users + w->njobs; u++) {
			if (prices[u->ask.type[0]] * u->ask.count[0] +
				    prices[w->ntypes[0] + u->ask.type[1]] * u->ask.count[1] >
			    u->budget)
				continue;
			slots = fmax(1, u->ask.epochs * u->ask.seconds / w->slot_seconds);
			for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
				asked[kind][u->ask.type[kind]] += slots * u->ask.count[kind];
		}
		for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
			for (i = 0; i < w->ntypes[kind]; i++) {
				there = w->total[kind][i] * w->slots;
				over = there > 0 ? asked[kind][i] / there : 1;
				if (!(over > 1))
					continue;
				prices[(kind ? w->ntypes[0] : 0) + i] *= pow(fmin(over, 10), 0.2);
				raised = true;
			}
	}
	return raised;
}

/* All prices at once, by chance: steps that grow where they help and shrink where they do not. */
static void walk(struct best *b)
{
	double step = 0.05;
	unsigned round, i;

	for (round = 0; round < WALKS && b->rc == AUC_OK; round++) {
		for (i = 0; i < b->n; i++)
			b->trial[i] = b->prices[i] *
				      exp(step * (2 * auc_posted_luck(round, i) - 1) * sqrt(3));
		step *= improve(b) ? 1.5 : 0.95;
		step = fmax(step, 0.003);
	}
}

/* The right-hand side of (3); where jobs are longer than the market, there is no supply. */
static double bound(const struct best *b, const double *prices)
{
	double demand = 0, supply = 0, asked, mu = fmax(0, b->w->slots - b->mean_slots);
	const struct posted_user *u;
	unsigned kind, i;

	for (i = 0; i < b->n; i++)
		if (prices[i] < 0)
			return -INFINITY; /* worse than any */
	for (u = b->w->users; u < b->w->users + b->w->njobs; u++) {
		asked = prices[u->ask.type[0]] * u->ask.count[0] +
			prices[b->w->ntypes[0] + u->ask.type[1]] * u->ask.count[1];
		demand += asked <= u->budget ? asked : 0;
	}
	for (kind = 0; kind < AUC_POSTED_KINDS; kind++)
		for (i = 0; i < b->w->ntypes[kind]; i++)
			supply += prices[(kind ? b->w->ntypes[0] : 0) + i] * b->w->total[kind][i] *
				  mu;
	return fmin(demand, supply);
}

/*
 * Nelder and Mead, with the coefficients for many dimensions (Gao and Han 2012), from half of what
 * the search would begin with: the paper says no more. It sees steps where users go, and a bound
 * that hardly ever binds.
 */
static enum auc_code simplex(struct best *b)
{
	unsigned n = b->n, i, k, low, high, next, round;
	double grow = 1 + 2.0 / n, shrink = 0.75 - 0.5 / n, all = 1 - 1.0 / n, value, more;
	double *points = malloc((size_t)(n + 1) * n * sizeof(*points)),
	       *values = malloc((n + 1) * sizeof(*values));
	double *centre = malloc(2 * (size_t)n * sizeof(*centre)), *far = centre ? centre + n : NULL;

	if (!points || !values || !centre) {
		free(points);
		free(values);
		free(centre);
		return auc_err_set(b->err, AUC_ENOMEM, "no memory for fixed prices");
	}
	for (i = 0; i <= n; i++) {
		for (k = 0; k < n; k++)
			points[i * n + k] = 0.5 * b->prices[k] * (i == k + 1 ? 1.5 : 1);
		values[i] = bound(b, points + i * n);
	}
	for (round = 0; round < SIMPLEX_MAX; round++) {
		for (i = 1, low = high = 0; i <= n; i++) {
			low = values[i] < values[low] ? i : low;
			high = values[i] > values[high] ? i : high;
		}
		for (i = 0, next = high; i <= n; i++)
			next = i != low && values[i] < values[next] ? i : next;
		memset(centre, 0, n * sizeof(*centre));
		for (i = 0; i <= n; i++)
			for (k = 0; k < n && i != low; k++)
				centre[k] += points[i * n + k] / n;
		for (k = 0; k < n; k++)
			b->trial[k] = 2 * centre[k] - points[low * n + k];
		value = bound(b, b->trial);
		if (value > values[high]) {
			for (k = 0; k < n; k++)
				far[k] = centre[k] + grow * (b->trial[k] - centre[k]);
			more = bound(b, far);
			memcpy(points + low * n, more > value ? far : b->trial, n * sizeof(*far));
			values[low] = fmax(more, value);
			continue;
		}
		if (value > values[next]) {
			memcpy(points + low * n, b->trial, n * sizeof(*far));
			values[low] = value;
			continue;
		}
		for (k = 0; k < n; k++)
			far[k] = centre[k] + shrink * ((value > values[low] ? b->trial[k]
									    : points[low * n + k]) -
						       centre[k]);
		more = bound(b, far);
		if (more > fmax(value, values[low])) {
			memcpy(points + low * n, far, n * sizeof(*far));
			values[low] = more;
			continue;
		}
		for (i = 0; i <= n; i++)
			for (k = 0; k < n && i != high; k++)
				points[i * n + k] =
					points[high * n + k] +
					all * (points[i * n + k] - points[high * n + k]);
		for (i = 0; i <= n; i++)
			values[i] = bound(b, points + i * n);
	}
	for (i = 1, high = 0; i <= n; i++)
		high = values[i] > values[high] ? i : high;
	memcpy(b->prices, points + high * n, n * sizeof(*b->prices));
	free(points);
	free(values);
	free(centre);
	return AUC_OK;
}
