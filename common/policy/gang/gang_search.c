/*
 * gang_search.c - the exact search for a gang: see gang.h.
 *
 * A gang is n equal nodes in d slots in a row; a shape says which n and d. For one shape and one
 * start the price of a server is the sum of its prices in those slots, whatever other servers the
 * gang has. So the n cheapest of the servers that are free in the whole window are the best set,
 * and with "gang_within": "switch" the best of the n cheapest on each switch. What remains is to go
 * through shapes and starts:
 *
 *  - Shapes whose nodes take the same are one kind, and are tried together, completions ascending.
 *    Utility does not increase and prices are not negative, so a kind is done where
 *    f(completion - arrival) is no better than the best payoff.
 *  - Of a kind each slot is glanced at once: which servers have room there, sixteen at a time by
 *    what the market keeps in a byte (timeline.h: full). So it is known, by server, from which slot
 *    on it is free.
 *  - The byte is not exact for every amount. For the servers that a schedule would take, and only
 *    for those, the exact use is looked up; if one of them has no room, the window is tried again.
 *  - A window is ruled out by what n nodes cost at the lowest prices of its slots, and by how many
 *    servers are free. Only on servers that are free in a window that is left, and on the few
 *    beside them, are the prices of its slots added up. A window's sum is the difference of two.
 *  - In a window the n cheapest are found only if n times the cheapest leaves room for a better
 *    payoff.
 *
 * A slot that costs more than what can matter costs as much as twice that here, so that a sum never
 * loses what small prices add. What is found is priced anew, as it will be charged.
 *
 * A quote may take a limited number of steps, shared equally among the kinds. When they run out,
 * the answer is the best schedule found so far and a bound of how much better another could be.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "policy/gang/gang-private.h"

#define TIE   1e-11
#define NEVER UINT32_MAX /* no server */
#define FAR   16         /* a sum of costs of so many times the value still tells ties (TIE) */

static void search_kinds(struct auc_gang *g);
static void search_kind(struct auc_gang *g, unsigned kind, uint64_t limit);
static bool may_be_best(struct auc_gang *g, const struct lane *l, unsigned completion,
			double value);
static void try_window(struct auc_gang *g, unsigned kind, const struct lane *l, unsigned completion,
		       double value);
static bool has_open(struct auc_gang *g, const struct choice *c, unsigned end);
static void try_switch(struct auc_gang *g, struct choice *c, unsigned end);
static bool take(struct auc_gang *g, const struct choice *c, unsigned n, int16_t *open,
		 double *cost);
static double limit_of(const struct auc_gang *g, const struct choice *c);
static double sum_of_least(double *x, unsigned n, unsigned k);
static void offer(struct auc_gang *g, const struct choice *c);
static int compare_ties(struct auc_gang *g, const struct choice *a, const struct choice *b);

/*
 * The earliest schedule is the first to beat: no slot that costs more than what it loses can be in
 * a better one. If that is far more than the job is worth, one of positive payoff is looked for
 * first, with what costs more than the job is worth cut as said above.
 */
void auc_gang_search(struct auc_gang *g)
{
	double most;

	g->found = g->none_pays = false;
	g->cap = INFINITY;
	if (!g->priced) {
		search_kinds(g);
		return;
	}
	g->priced = false;
	search_kinds(g);
	g->priced = true;
	most = g->start0 < g->m->slots ? auc_gang_value_at(g, g->start0 + 1) : 0;
	if (!g->found && g->steps > g->limit)
		g->upper = most;
	if (!g->found)
		return;
	g->found = false;
	g->floor = -INFINITY;
	g->best.value = auc_gang_value_at(g, g->best.completion);
	g->best.cost = auc_gang_choose(g, &g->best);
	if (auc_gang_is_paid(g->best.cost, g->budget))
		offer(g, &g->best);
	if (!g->found || g->best_payoff < -FAR * most) {
		g->floor = 0;
		g->cap = 2 * most;
		search_kinds(g);
		if (!isinf(g->budget) || g->best_payoff > 0)
			return;
		g->floor = -INFINITY;
		g->none_pays = g->upper < 0;
	}
	g->cap = 2 * (most + fmax(-g->best_payoff, 0));
	search_kinds(g);
}

static void search_kinds(struct auc_gang *g)
{
	uint64_t begun = g->steps, left = g->limit > begun ? g->limit - begun : 0;

	for (unsigned i = 0; i < g->nkinds; i++)
		search_kind(g, i, begun + left / g->nkinds * (i + 1));
}

static void search_kind(struct auc_gang *g, unsigned kind, uint64_t limit)
{
	const struct kind *k = &g->kinds[kind];

	g->lowest[0] = 0;
	auc_gang_begin_open(g, k, g->open);
	auc_gang_begin_sure(g, kind);
	auc_gang_begin_sums(g);
	for (unsigned completion = g->start0 + 1; completion <= g->m->slots; completion++) {
		double value = auc_gang_value_at(g, completion);

		/* What is worth nothing is no better than what is there, whatever that is. */
		if (g->found && completion > g->best.completion &&
		    (value <= g->best_payoff || value <= 0))
			return;
		if (g->steps > limit) {
			g->upper = fmax(g->upper, g->none_pays ? 0 : value);
			return;
		}
		auc_gang_add_lowest(g, k, completion - 1);
		auc_gang_glance(g, k, completion - 1, g->open);
		for (unsigned i = k->first; i < k->first + k->nlanes; i++)
			if (may_be_best(g, &g->lanes[i], completion, value))
				try_window(g, kind, &g->lanes[i], completion, value);
	}
}

/* False if the window of L that ends at COMPLETION cannot become the best one. */
static bool may_be_best(struct auc_gang *g, const struct lane *l, unsigned completion, double value)
{
	struct choice c = {.value = value, .completion = completion};
	double lowest;

	if (completion < g->start0 + l->d)
		return false;
	c.start = completion - l->d;
	lowest = g->lowest[completion - g->start0] - g->lowest[c.start - g->start0];
	return lowest * l->n * (1 - AUC_QUOTE_SLACK) < limit_of(g, &c) &&
	       auc_gang_count_open(g, g->open, g->m->stride, c.start) >= l->n;
}

/* The window of a shape that ends at COMPLETION. */
static void try_window(struct auc_gang *g, unsigned kind, const struct lane *l, unsigned completion,
		       double value)
{
	const struct kind *k = &g->kinds[kind];
	struct choice c = {.value = value,
			   .completion = completion,
			   .start = completion - l->d,
			   .kind = kind,
			   .shape = l->shape,
			   .nservers = l->n};
	unsigned end;

	for (c.first = 0; c.first < k->nlist; c.first = end) {
		end = k->ends[c.first];
		if (end - c.first >= l->n && (!g->within_switch || has_open(g, &c, end)))
			try_switch(g, &c, end);
	}
}

/* Whether there may be room for C on its switch, which ends before END. */
static bool has_open(struct auc_gang *g, const struct choice *c, unsigned end)
{
	const uint32_t *list = g->kinds[c->kind].list + c->first;
	unsigned size = end - c->first;

	/* As a rule they are one after the other. */
	return list[size - 1] - list[0] != size - 1 ||
	       auc_gang_count_open(g, g->open + list[0], size, c->start) >= c->nservers;
}

/* The cheapest servers from place c->first to before END. */
static void try_switch(struct auc_gang *g, struct choice *c, unsigned end)
{
	double limit = limit_of(g, c), least, cost;
	unsigned n;

	do {
		n = auc_gang_gather(g, c, end, g->open, false);
		least = INFINITY;
		for (unsigned i = 0; i < n; i++)
			least = g->costs[i] < least ? g->costs[i] : least;
		if (n < c->nservers || least * c->nservers >= limit)
			return;
		memcpy(g->window, g->costs, n * sizeof(*g->window));
		c->cost = sum_of_least(g->window, n, c->nservers);
		if (c->cost >= limit)
			return;
	} while (!take(g, c, n, g->open, &cost));
	/* What is left of sums that were subtracted again is no price. */
	if (!isinf(g->budget))
		c->cost = auc_gang_choose(g, c);
	if (auc_gang_is_paid(c->cost, g->budget))
		offer(g, c);
}

/*
 * Of the N that auc_gang_gather() found, of which the cheapest are in front of the window, puts the
 * c->nservers cheapest servers to g->chosen, in their order, and what they cost to COST. False:
 * some of them have no room after all, and are not OPEN any more.
 */
static bool take(struct auc_gang *g, const struct choice *c, unsigned n, int16_t *open,
		 double *cost)
{
	const struct kind *k = &g->kinds[c->kind];
	unsigned left = c->nservers, taken = 0;
	bool sure = true;
	double last = 0;

	if (g->sure_kind != c->kind)
		auc_gang_begin_sure(g, c->kind);
	/* The highest sum that is taken, and how many of those that have it. */
	for (unsigned i = 0; i < c->nservers; i++)
		last = g->window[i] > last ? g->window[i] : last;
	for (unsigned i = 0; i < c->nservers; i++)
		left -= g->window[i] < last;
	*cost = 0;
	for (unsigned i = 0; i < n && taken < c->nservers; i++) {
		uint32_t s = g->places[i];

		if (g->costs[i] < last || (g->costs[i] == last && left && left--)) {
			g->chosen[taken++] = s;
			*cost += g->costs[i];
			sure &= auc_gang_is_sure(g, k, s, c->start, c->completion, open);
		}
	}
	return sure;
}

/* What C must cost less than to become the best one. */
static double limit_of(const struct auc_gang *g, const struct choice *c)
{
	double most = g->budget + AUC_QUOTE_SLACK * (g->budget + g->cap) + DBL_MIN, limit;

	if (!g->priced)
		return INFINITY;
	limit = c->value - fmax(g->found ? g->best_payoff : -INFINITY, g->floor) + DBL_MIN;
	if (g->found)
		limit += 4 * TIE * (c->value + g->best.value + g->best.cost);
	return limit < most ? limit : most;
}

/* The sum of the K least of X[N], which are put in another order. */
static double sum_of_least(double *x, unsigned n, unsigned k)
{
	unsigned low = 0, high = n;
	double sum = 0;

	/* Until the K least are in front: those before LOW are, those from HIGH on are not. */
	while (low < k && high - low > 1) {
		double a = x[low], b = x[low + (high - low) / 2], c = x[high - 1];
		double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
		unsigned less = low, i = low, more = high;

		while (i < more) {
			double y = x[i];

			if (y < pivot) {
				x[i++] = x[less];
				x[less++] = y;
			} else if (y > pivot) {
				x[i] = x[--more];
				x[more] = y;
			} else {
				i++;
			}
		}
		if (k <= less)
			high = less;
		else if (k >= more)
			low = more;
		else
			break;
	}
	for (unsigned i = 0; i < k; i++)
		sum += x[i];
	return sum;
}

/* Takes C as the best so far if it is: as dps.c's. */
static void offer(struct auc_gang *g, const struct choice *c)
{
	double payoff = c->value - c->cost, margin;

	if (g->found) {
		margin = TIE * (c->value + c->cost + g->best.value + g->best.cost);
		if (payoff < g->top_payoff - margin)
			return;
		if (payoff <= g->best_payoff + margin && compare_ties(g, c, &g->best) >= 0) {
			g->top_payoff = fmax(g->top_payoff, payoff);
			return;
		}
	}
	g->top_payoff = g->found ? fmax(g->top_payoff, payoff) : payoff;
	g->found = true;
	g->best = *c;
	g->best_server = NEVER;
	g->best_payoff = payoff;
}

/* Whether A goes before B, which is the best one, as their payoffs are equal; see gang.h. */
static int compare_ties(struct auc_gang *g, const struct choice *a, const struct choice *b)
{
	if (a->completion != b->completion)
		return a->completion < b->completion ? -1 : 1;
	if (a->nservers != b->nservers)
		return a->nservers < b->nservers ? -1 : 1;
	if (a->shape != b->shape)
		return a->shape < b->shape ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->first == b->first)
		return 0;
	/* On different switches. The best one is asked about again and again. */
	if (g->best_server == NEVER) {
		auc_gang_choose(g, b);
		g->best_server = g->chosen[0];
	}
	if (g->kinds[a->kind].list[a->first] > g->best_server)
		return 1;
	auc_gang_choose(g, a);
	return g->chosen[0] < g->best_server ? -1 : 1;
}

double auc_gang_choose(struct auc_gang *g, const struct choice *c)
{
	const struct kind *k = &g->kinds[c->kind];
	double cost;
	unsigned n;

	auc_gang_begin_open(g, k, g->anew);
	for (unsigned t = c->start; t < c->completion; t++)
		auc_gang_glance(g, k, t, g->anew);
	do {
		n = auc_gang_gather(g, c, k->ends[c->first], g->anew, true);
		memcpy(g->window, g->costs, n * sizeof(*g->window));
		sum_of_least(g->window, n, c->nservers);
	} while (!take(g, c, n, g->anew, &cost));
	return cost;
}
