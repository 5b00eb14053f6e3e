/*
 * gang_search.c - see gang_search.h.
 *
 * A gang is n equal nodes in d slots in a row; a shape says which n and d. For one shape and one
 * start the price of a server is the sum of its prices in those slots, whatever other servers the
 * gang has. So the n cheapest of the servers that are free in the whole window are the best set,
 * and with "gang_within": "switch" the best of the n cheapest on each switch. What remains is to go
 * through shapes and starts:
 *
 *  - Completions ascend, all shapes together. Utility does not increase and prices are not
 *    negative, so the search stops where f(completion - arrival) is no better than the best payoff.
 *  - A lane (one shape) keeps, by server, the sum over its window and the last slot in which it had
 *    no room. When the window moves by a slot both are brought up to date.
 *  - In a window the n cheapest are found only if n times the cheapest leaves room for a better
 *    payoff.
 *
 * A slot that costs more than a job is worth costs as much as twice that here, so that a sum never
 * loses what small prices add. What is found is priced anew, as it will be charged.
 *
 * Budgets: the best schedule is the answer if the budget pays it. Else the search runs again among
 * those that the budget pays.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "market/timeline.h"
#include "policy/gang_search.h"

#define TIE   1e-11
#define NEVER UINT32_MAX /* no server, no slot */

/* One shape. */
struct lane {
	const struct auc_shape *shape;
	unsigned index, n;
	unsigned d;     /* slots */
	unsigned nused; /* TRES that it takes */
	unsigned used[AUC_TRES_MAX];
	double amount[AUC_TRES_MAX]; /* of those */
	unsigned nlist;              /* servers that could hold a node if they were empty */
	uint32_t *list;              /* those, by switch if that matters, then by index */
	uint32_t *priced;            /* where their prices stand: a part has its whole's */
	int64_t *room;   /* by place in the list and TRES: what may be in use beside it */
	double *sum;     /* by place: prices of the slots of the window that have room */
	uint32_t *since; /* by place: from that slot index on there is room */
};

/* One schedule. */
struct choice {
	double value, cost;
	unsigned completion, start; /* slot indices */
	unsigned lane, shape, nservers;
	unsigned first; /* place in the lane's list where its switch begins */
};

struct auc_gang {
	unsigned nservers, nshapes, ntres; /* what the memory is made for */
	struct lane *lanes;
	uint32_t *lists;
	int64_t *rooms;
	double *sums;
	double *window; /* scratch: sums of those that are free */
	double *fresh;  /* scratch: by place, the same made anew */
	uint32_t *ready, *order, *chosen;
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
	bool priced, within_switch;
	double cap;    /* of the price of a node in a slot */
	double budget; /* INFINITY: no matter */
	unsigned nlanes, start0;
	bool found;
	struct choice best;
	uint32_t best_server; /* its lowest; NEVER: not known */
	double best_payoff, top_payoff;
	uint64_t steps, limit; /* so far; beyond LIMIT no other completion is looked at */
	double upper;          /* of what was not looked at: no payoff is above it */
};

static enum auc_code decide(struct auc_gang *g, struct auc_decision *decision, struct auc_err *err);
static enum auc_code make_room(struct auc_gang *g, const struct auc_market *m, unsigned nshapes,
			       struct auc_err *err);
static void release(struct auc_gang *g);
static void set_up(struct auc_gang *g, auc_slot not_before);
static void order_servers(struct auc_gang *g);
static void add_lane(struct auc_gang *g, unsigned shape);
static void rewind_lanes(struct auc_gang *g);
static void search(struct auc_gang *g);
static double value_at(const struct auc_gang *g, unsigned completion);
static void enter(struct auc_gang *g, struct lane *l, unsigned slot);
static void leave(struct auc_gang *g, struct lane *l, unsigned slot);
static void try_window(struct auc_gang *g, unsigned lane, unsigned completion, double value);
static void try_switch(struct auc_gang *g, struct choice *c, unsigned end);
static bool is_paid(struct auc_gang *g, struct choice *c);
static double limit_of(const struct auc_gang *g, const struct choice *c);
static double sum_of_least(double *x, unsigned n, unsigned k);
static void offer(struct auc_gang *g, const struct choice *c);
static int compare_ties(struct auc_gang *g, const struct choice *a, const struct choice *b);
static unsigned choose(struct auc_gang *g, const struct choice *c);
static double sum_at(const struct auc_gang *g, const struct choice *c, unsigned j);
static enum auc_code make_plan(struct auc_gang *g, struct auc_decision *decision,
			       struct auc_err *err);

struct auc_gang *auc_gang_create(void)
{
	return calloc(1, sizeof(struct auc_gang));
}

void auc_gang_destroy(struct auc_gang *g)
{
	if (!g)
		return;
	release(g);
	free(g);
}

enum auc_code auc_gang_quote(struct auc_gang *g, const struct auc_market *m,
			     const struct auc_job *job, enum auc_gang_aim aim, auc_slot not_before,
			     struct auc_decision *decision, struct auc_err *err)
{
	enum auc_code rc;

	auc_decision_reset(decision);
	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	rc = make_room(g, m, job->nshapes, err);
	if (rc != AUC_OK)
		return rc;
	g->m = m;
	g->job = job;
	g->priced = aim == AUC_GANG_PAYOFF;
	g->within_switch = job->within_switch;
	g->budget = INFINITY;
	g->steps = 0;
	g->limit = decision->most_steps ? decision->most_steps : UINT64_MAX;
	set_up(g, not_before);
	search(g);
	rc = g->found ? decide(g, decision, err) : AUC_OK;
	decision->steps = g->steps;
	auc_decision_cut(decision, g->upper);
	return rc;
}

/* On the schedule that was found. */
static enum auc_code decide(struct auc_gang *g, struct auc_decision *decision, struct auc_err *err)
{
	enum auc_code rc = make_plan(g, decision, err);
	const struct auc_job *job = g->job;

	if (rc != AUC_OK || !g->priced) {
		decision->accepted = rc == AUC_OK;
		decision->reason = AUC_REASON_NONE;
		return rc;
	}
	auc_decision_by_payoff(decision);
	if (!decision->accepted || !job->limited ||
	    auc_gang_is_paid(decision->plan.cost, job->budget))
		return AUC_OK;
	g->budget = job->budget;
	rewind_lanes(g);
	search(g);
	if (g->found) {
		auc_plan_reset(&decision->plan);
		rc = make_plan(g, decision, err);
		auc_decision_by_payoff(decision);
	}
	if (!g->found || !decision->accepted) {
		decision->accepted = false;
		decision->reason = AUC_REASON_BUDGET;
	}
	return rc;
}

bool auc_gang_fits_empty(const struct auc_market *m, const struct auc_job *job)
{
	for (unsigned i = 0; i < job->nshapes; i++) {
		const struct auc_shape *shape = &job->shapes[i];
		unsigned most = 0;

		if (shape->never)
			continue;
		for (unsigned s = 0; s < m->nservers; s++) {
			unsigned n = 0;

			/* Servers on the switch of S, or all. */
			for (unsigned o = job->within_switch ? s : 0; o < m->nservers; o++) {
				bool fits =
					auc_market_hosts(m, o) & AUC_ROLE_WORKER &&
					!m->servers[o].nparts &&
					(!job->within_switch ||
					 (m->servers[o].leaf_number &&
					  m->servers[o].leaf_number == m->servers[s].leaf_number));

				for (unsigned k = 0; k < m->ntres && fits; k++)
					fits = m->servers[o].units[k] >= shape->units[k];
				n += fits;
			}
			most = n > most ? n : most;
			if (!job->within_switch || most >= shape->nodes)
				break;
		}
		if (most >= shape->nodes)
			return true;
	}
	return false;
}

/* Scratch memory for markets of M's size and gangs of NSHAPES shapes: made once, kept. */
static enum auc_code make_room(struct auc_gang *g, const struct auc_market *m, unsigned nshapes,
			       struct auc_err *err)
{
	size_t servers = (size_t)m->nservers + 1, lanes = nshapes, tres = m->ntres + 1;

	if (g->nservers >= servers && g->nshapes >= lanes && g->ntres >= tres)
		return AUC_OK;
	servers = servers > g->nservers ? servers : g->nservers;
	lanes = lanes > g->nshapes ? lanes : g->nshapes;
	tres = tres > g->ntres ? tres : g->ntres;
	release(g);
	g->lanes = calloc(lanes, sizeof(*g->lanes));
	g->lists = calloc(lanes * servers * 3, sizeof(*g->lists));
	g->rooms = calloc(lanes * servers * tres, sizeof(*g->rooms));
	g->sums = calloc(lanes * servers, sizeof(*g->sums));
	g->window = calloc(servers, sizeof(*g->window));
	g->fresh = calloc(servers, sizeof(*g->fresh));
	g->ready = calloc(servers, sizeof(*g->ready));
	g->order = calloc(servers, sizeof(*g->order));
	g->chosen = calloc(servers, sizeof(*g->chosen));
	if (!g->lanes || !g->lists || !g->rooms || !g->sums || !g->window || !g->fresh ||
	    !g->ready || !g->order || !g->chosen) {
		release(g);
		return auc_err_set(err, AUC_ENOMEM,
				   "no memory for the quote of a gang among %u servers",
				   m->nservers);
	}
	g->nservers = (unsigned)servers;
	g->nshapes = (unsigned)lanes;
	g->ntres = (unsigned)tres;
	return AUC_OK;
}

static void release(struct auc_gang *g)
{
	free(g->lanes);
	free(g->lists);
	free(g->rooms);
	free(g->sums);
	free(g->window);
	free(g->fresh);
	free(g->ready);
	free(g->order);
	free(g->chosen);
	memset(g, 0, sizeof(*g));
}

static void set_up(struct auc_gang *g, auc_slot not_before)
{
	const struct auc_market *m = g->m;
	unsigned first = m->slots;

	g->start0 = auc_policy_ready(m, g->job, g->ready);
	for (unsigned s = 0; s < m->nservers; s++)
		first = g->ready[s] < first ? g->ready[s] : first;
	g->start0 = first > g->start0 ? first : g->start0;
	if (not_before > m->first + (auc_slot)g->start0)
		g->start0 = not_before > auc_market_last(m) ? m->slots
							    : (unsigned)(not_before - m->first);
	/* Later it is worth no more. */
	g->cap = g->start0 < m->slots ? 2 * value_at(g, g->start0 + 1) : 0;
	order_servers(g);
	g->nlanes = 0;
	for (unsigned i = 0; i < g->job->nshapes; i++)
		add_lane(g, i);
	rewind_lanes(g);
}

/* Those that may hold a node: by switch if that matters, else as they are; UINT32_MAX after the
 * last one. */
static void order_servers(struct auc_gang *g)
{
	const struct auc_market *m = g->m;
	unsigned n = 0, most = 0, count;

	for (unsigned s = 0; s < m->nservers; s++)
		if (auc_market_hosts(m, s) & AUC_ROLE_WORKER && !m->servers[s].nparts &&
		    (!g->within_switch || m->servers[s].leaf_number)) {
			g->order[n++] = s;
			most = m->servers[s].leaf_number > most ? m->servers[s].leaf_number : most;
		}
	g->order[n] = UINT32_MAX;
	if (!g->within_switch)
		return;
	/* By counting, stable: CHOSEN has where the next server of a switch goes. */
	memset(g->chosen, 0, ((size_t)most + 1) * sizeof(*g->chosen));
	for (unsigned i = 0; i < n; i++)
		g->chosen[m->servers[g->order[i]].leaf_number]++;
	count = 0;
	for (unsigned leaf = 0; leaf <= most; leaf++) {
		unsigned of_leaf = g->chosen[leaf];

		g->chosen[leaf] = count;
		count += of_leaf;
	}
	memcpy(g->lists, g->order, n * sizeof(*g->lists));
	for (unsigned i = 0; i < n; i++)
		g->order[g->chosen[m->servers[g->lists[i]].leaf_number]++] = g->lists[i];
}

/* The lane of a shape that can be had at all. */
static void add_lane(struct auc_gang *g, unsigned shape)
{
	const struct auc_market *m = g->m;
	struct lane *l = &g->lanes[g->nlanes];
	size_t base = (size_t)g->nlanes * g->nservers;
	int64_t d;

	memset(l, 0, sizeof(*l));
	l->shape = &g->job->shapes[shape];
	l->index = shape;
	l->n = l->shape->nodes;
	d = auc_shape_slots(m, l->shape);
	if (l->shape->never || d > (int64_t)m->slots - g->start0)
		return;
	l->d = (unsigned)d;
	for (unsigned k = 0; k < m->ntres; k++)
		if (l->shape->units[k] > 0) {
			l->amount[l->nused] = l->shape->amount[k];
			l->used[l->nused++] = k;
		}
	l->list = g->lists + 3 * base;
	l->priced = l->list + g->nservers;
	l->since = l->priced + g->nservers;
	l->room = g->rooms + base * g->ntres;
	l->sum = g->sums + base;
	for (const uint32_t *s = g->order; *s != UINT32_MAX; s++) {
		const struct auc_server *server = &m->servers[*s];
		int64_t *room = l->room + (size_t)l->nlist * l->nused;
		bool fits = true;

		for (unsigned i = 0; i < l->nused; i++) {
			room[i] = server->units[l->used[i]] - l->shape->units[l->used[i]];
			fits = fits && room[i] >= 0;
		}
		if (!fits)
			continue;
		l->priced[l->nlist] = server->whole ? server->whole - 1 : *s;
		l->list[l->nlist++] = *s;
	}
	if (l->nlist >= l->n)
		g->nlanes++;
}

static void rewind_lanes(struct auc_gang *g)
{
	g->found = false;
	for (struct lane *l = g->lanes; l < g->lanes + g->nlanes; l++)
		for (unsigned j = 0; j < l->nlist; j++) {
			l->sum[j] = 0;
			l->since[j] = g->ready[l->list[j]];
		}
}

static void search(struct auc_gang *g)
{
	unsigned last = g->nlanes ? g->m->slots : 0;

	g->upper = -INFINITY;
	for (unsigned completion = g->start0 + 1; completion <= last; completion++) {
		double value = value_at(g, completion);

		/* What is worth nothing is no better than what is there, whatever that is. */
		if (g->found && (value <= g->best_payoff || value <= 0))
			return;
		if (g->steps > g->limit) {
			g->upper = g->priced ? value : INFINITY;
			return;
		}
		for (unsigned i = 0; i < g->nlanes; i++) {
			struct lane *l = &g->lanes[i];

			g->steps += (uint64_t)l->nlist * (l->nused + 4);
			enter(g, l, completion - 1);
			if (completion > g->start0 + l->d)
				leave(g, l, completion - 1 - l->d);
			if (completion >= g->start0 + l->d)
				try_window(g, i, completion, value);
		}
	}
}

static double value_at(const struct auc_gang *g, unsigned completion)
{
	if (!g->priced)
		return 0;
	return auc_utility_value(&g->job->utility,
				 (double)(g->m->first + completion - g->job->arrival));
}

/* What a node costs at place J in a slot whose unit prices are UNIT. */
static inline double price_of(const struct auc_gang *g, const struct lane *l, const double *unit,
			      unsigned nused)
{
	double price = 0;

	for (unsigned i = 0; i < nused; i++)
		price += unit[l->used[i]] * l->amount[i];
	return price < g->cap ? price : g->cap;
}

static inline bool has_room(const struct lane *l, const int64_t *used, const int64_t *room,
			    unsigned nused)
{
	bool fits = true;

	for (unsigned i = 0; i < nused; i++)
		fits &= used[l->used[i]] <= room[i];
	return fits;
}

/* A slot comes into the window (or leaves it: SIGN -1). NUSED is l->nused, for the compiler. */
static inline __attribute__((always_inline)) void pass(struct auc_gang *g, struct lane *l,
						       unsigned slot, unsigned nused, double sign)
{
	const struct auc_market *m = g->m;
	size_t row = (size_t)slot * m->nservers;
	const int64_t *used = m->used + row * m->ntres, *room = l->room;
	const double *unit = m->unit_price + row * m->ntres;
	const uint8_t *closed = m->closed ? m->closed + row : NULL;

	for (unsigned j = 0; j < l->nlist; j++, room += nused) {
		uint32_t s = l->list[j];

		if ((closed && closed[s]) ||
		    !has_room(l, used + (size_t)s * m->ntres, room, nused)) {
			if (sign > 0)
				l->since[j] = slot + 1 > l->since[j] ? slot + 1 : l->since[j];
			continue;
		}
		if (g->priced)
			l->sum[j] += sign *
				     price_of(g, l, unit + (size_t)l->priced[j] * m->ntres, nused);
	}
}

static void enter(struct auc_gang *g, struct lane *l, unsigned slot)
{
	switch (l->nused) {
	case 1:
		pass(g, l, slot, 1, 1);
		return;
	case 2:
		pass(g, l, slot, 2, 1);
		return;
	case 3:
		pass(g, l, slot, 3, 1);
		return;
	case 4:
		pass(g, l, slot, 4, 1);
		return;
	default:
		pass(g, l, slot, l->nused, 1);
	}
}

static void leave(struct auc_gang *g, struct lane *l, unsigned slot)
{
	if (!g->priced)
		return;
	switch (l->nused) {
	case 1:
		pass(g, l, slot, 1, -1);
		return;
	case 2:
		pass(g, l, slot, 2, -1);
		return;
	case 3:
		pass(g, l, slot, 3, -1);
		return;
	case 4:
		pass(g, l, slot, 4, -1);
		return;
	default:
		pass(g, l, slot, l->nused, -1);
	}
}

/* The window of a lane that ends at COMPLETION. */
static void try_window(struct auc_gang *g, unsigned lane, unsigned completion, double value)
{
	const struct lane *l = &g->lanes[lane];
	struct choice c = {.value = value,
			   .completion = completion,
			   .start = completion - l->d,
			   .lane = lane,
			   .shape = l->index,
			   .nservers = l->n};
	unsigned end;

	for (c.first = 0; c.first < l->nlist; c.first = end) {
		end = l->nlist;
		if (g->within_switch)
			for (end = c.first + 1;
			     end < l->nlist && auc_market_switch(g->m, l->list[end]) ==
						       auc_market_switch(g->m, l->list[c.first]);)
				end++;
		if (end - c.first >= l->n)
			try_switch(g, &c, end);
	}
}

/* The cheapest servers from place c->first to before END. */
static void try_switch(struct auc_gang *g, struct choice *c, unsigned end)
{
	const struct lane *l = &g->lanes[c->lane];
	double limit = limit_of(g, c), least = INFINITY;
	unsigned n = 0;

	for (unsigned j = c->first; j < end; j++)
		if (l->since[j] <= c->start) {
			double sum = l->sum[j] > 0 ? l->sum[j] : 0;

			g->window[n++] = sum;
			least = sum < least ? sum : least;
		}
	if (n < l->n || least * l->n >= limit)
		return;
	c->cost = sum_of_least(g->window, n, l->n);
	if (c->cost < limit && (isinf(g->budget) || is_paid(g, c)))
		offer(g, c);
}

/* True if the budget pays C, whose cost is made anew: what is left of sums that were subtracted
 * again is no price. */
static bool is_paid(struct auc_gang *g, struct choice *c)
{
	unsigned n = choose(g, c), j = c->first;

	c->cost = 0;
	for (unsigned i = 0; i < n; j++)
		if (g->lanes[c->lane].list[j] == g->chosen[i]) {
			c->cost += g->fresh[j];
			i++;
		}
	return auc_gang_is_paid(c->cost, g->budget);
}

/* What C must cost less than to become the best one. */
static double limit_of(const struct auc_gang *g, const struct choice *c)
{
	double most = g->budget + AUC_QUOTE_SLACK * (g->budget + g->cap) + DBL_MIN, limit;

	if (!g->found)
		return most;
	limit = c->value - g->best_payoff + 4 * TIE * (c->value + g->best.value + g->best.cost) +
		DBL_MIN;
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

/* Whether A goes before B, which is the best one, as their payoffs are equal; see gang_search.h. */
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
		choose(g, b);
		g->best_server = g->chosen[0];
	}
	if (g->lanes[a->lane].list[a->first] > g->best_server)
		return 1;
	choose(g, a);
	return g->chosen[0] < g->best_server ? -1 : 1;
}

/* Puts the servers of C, ascending, to g->chosen; their number. Their sums are made anew, so that
 * equal prices make equal sums. */
static unsigned choose(struct auc_gang *g, const struct choice *c)
{
	const struct lane *l = &g->lanes[c->lane];
	unsigned leaf = auc_market_switch(g->m, l->list[c->first]), end, n = 0, left, taken = 0;
	double last = 0;

	for (end = c->first; end < l->nlist; end++) {
		if (g->within_switch && auc_market_switch(g->m, l->list[end]) != leaf)
			break;
		g->fresh[end] = sum_at(g, c, end);
		if (isfinite(g->fresh[end]))
			g->window[n++] = g->fresh[end];
	}
	/* The highest sum that is taken, and how many of those that have it. */
	sum_of_least(g->window, n, c->nservers);
	for (unsigned i = 0; i < c->nservers; i++)
		last = g->window[i] > last ? g->window[i] : last;
	left = c->nservers;
	for (unsigned i = 0; i < c->nservers; i++)
		left -= g->window[i] < last;
	for (unsigned j = c->first; j < end && taken < c->nservers; j++)
		if (g->fresh[j] < last || (g->fresh[j] == last && left && left--))
			g->chosen[taken++] = l->list[j];
	return taken;
}

/* What the window of C costs on the server at place J; INFINITY: it is not free in all of it. */
static double sum_at(const struct auc_gang *g, const struct choice *c, unsigned j)
{
	const struct auc_market *m = g->m;
	const struct lane *l = &g->lanes[c->lane];
	uint32_t s = l->list[j];
	double sum = 0;

	if (g->ready[s] > c->start)
		return INFINITY;
	for (unsigned t = c->start; t < c->completion; t++) {
		if ((m->closed && m->closed[auc_cell(m, t, s)]) ||
		    !has_room(l, m->used + auc_cell(m, t, s) * m->ntres,
			      l->room + (size_t)j * l->nused, l->nused))
			return INFINITY;
		if (g->priced)
			sum += price_of(g, l,
					m->unit_price + auc_cell(m, t, l->priced[j]) * m->ntres,
					l->nused);
	}
	return sum;
}

/* Lays the best schedule out and prices it as it will be charged. */
static enum auc_code make_plan(struct auc_gang *g, struct auc_decision *decision,
			       struct auc_err *err)
{
	const struct choice *c = &g->best;
	struct auc_plan *plan = &decision->plan;
	unsigned n = choose(g, c);
	enum auc_code rc;

	plan->gang = true;
	plan->within_switch = g->within_switch;
	plan->shape = c->shape;
	memcpy(plan->amount, g->lanes[c->lane].shape->amount, sizeof(plan->amount));
	plan->arrival = g->job->arrival;
	plan->start = g->m->first + c->start;
	plan->completion = g->m->first + c->completion;
	plan->value =
		auc_utility_value(&g->job->utility, (double)(plan->completion - g->job->arrival));
	rc = auc_plan_add_run(plan, plan->start, plan->completion - 1, err);
	for (unsigned i = 0; i < n && rc == AUC_OK; i++)
		rc = auc_plan_add_share(plan, g->chosen[i], 1, 0, err);
	plan->cost = auc_plan_cost(plan, g->m);
	decision->best_payoff = plan->value - plan->cost;
	return rc;
}
