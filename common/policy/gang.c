/*
 * gang.c - see gang.h.
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
 *  - Of a kind each slot is looked at once, which gives, by server, the sum of prices so far and
 * the last slot without room. A window's sum is the difference of two.
 *  - Before that, a window is ruled out by what n nodes cost at the lowest prices of its slots, and
 *    by how many servers have room by what the market keeps in a byte (timeline.h: full), sixteen
 *    at a time. Only slots of windows that are left are looked at closely.
 *  - Of these slots, only servers that may have room from there to the end of the window are.
 *  - In a window the n cheapest are found only if n times the cheapest, or what n nodes cost at the
 *    lowest prices of its slots, leaves room for a better payoff.
 *
 * A slot that costs more than a job is worth costs as much as twice that here, so that a sum never
 * loses what small prices add. What is found is priced anew, as it will be charged.
 *
 * Of the steps that a quote may take, each kind has its part. Where they run out, what was found by
 * then is the answer, with how far it may be from the best.
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
#include "policy/gang.h"

#define TIE   1e-11
#define NEVER UINT32_MAX /* no server, no slot */

/* One shape. */
struct lane {
	unsigned shape, n, d; /* its index, nodes, slots */
};

/* Shapes whose nodes take the same. */
struct kind {
	const struct auc_shape *shape; /* the first of them */
	unsigned nused;                /* TRES that a node takes */
	unsigned used[AUC_TRES_MAX];
	double amount[AUC_TRES_MAX]; /* of those */
	unsigned first, nlanes;      /* its shapes */
	unsigned nlist;              /* servers that could hold a node if they were empty */
	uint32_t *list;              /* those, by switch if that matters, then by index */
	uint32_t *priced;            /* where their prices stand: a part has its whole's */
	uint8_t *most;               /* by TRES and server: how full it may be beside a node */
	bool plain;                  /* the list is all servers as they are, and they are equal */
	int64_t *room; /* by place in the list and TRES: what may be in use beside it */
};

/* One schedule. */
struct choice {
	double value, cost;
	unsigned completion, start; /* slot indices */
	unsigned kind, shape, nservers;
	unsigned first; /* place in the kind's list where its switch begins */
};

struct auc_gang {
	unsigned nservers, nshapes, ntres, slots; /* what the memory is made for */
	struct lane *lanes;                       /* by kind */
	struct kind *kinds;
	uint32_t *lists;
	int64_t *rooms;
	uint8_t *mosts;
	/* of the kind at hand */
	unsigned low, high; /* slots of which the sums are there, as if LOW were the first */
	uint16_t *open;     /* by server: from that slot index on there may be room */
	bool *wanted;       /* by shape: its window is to be looked at closely */
	double *sums;       /* by slot and place: prices of the slots before that have room */
	double *lowest;     /* by slot: the lowest prices of the slots before */
	uint32_t *since; /* by place: from that slot index on there is room, if OPEN says so, too */
	double *window;  /* scratch: sums of those that are free */
	double *fresh;   /* scratch: by place, the same made anew */
	uint32_t *ready, *order, *chosen, *places;
	/* of the quote at hand */
	const struct auc_market *m;
	const struct auc_job *job;
	bool priced, within_switch;
	double cap;    /* of the price of a node in a slot */
	double budget; /* INFINITY: no matter */
	unsigned nkinds, nlanes, start0;
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
static void add_kinds(struct auc_gang *g);
static void add_kind(struct auc_gang *g, const struct auc_shape *shape);
static void search(struct auc_gang *g);
static void search_kind(struct auc_gang *g, unsigned kind, uint64_t limit);
static double value_at(const struct auc_gang *g, unsigned completion);
static void glance(struct auc_gang *g, const struct kind *k, unsigned slot);
static unsigned may_hold(struct auc_gang *g, unsigned start);
static bool may_be_best(struct auc_gang *g, const struct lane *l, unsigned completion,
			double value);
static void enter_until(struct auc_gang *g, const struct kind *k, unsigned start,
			unsigned completion);
static void enter(struct auc_gang *g, const struct kind *k, unsigned slot);
static void try_window(struct auc_gang *g, unsigned kind, const struct lane *l, unsigned completion,
		       double value);
static void try_switch(struct auc_gang *g, struct choice *c, unsigned end);
static bool is_paid(struct auc_gang *g, struct choice *c);
static double limit_of(const struct auc_gang *g, const struct choice *c);
static double sum_of_least(double *x, unsigned n, unsigned k);
static void offer(struct auc_gang *g, const struct choice *c);
static int compare_ties(struct auc_gang *g, const struct choice *a, const struct choice *b);
static unsigned choose(struct auc_gang *g, const struct choice *c);
static double sum_at(struct auc_gang *g, const struct choice *c, unsigned j);
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
	g->limit = g->priced && decision->most_steps ? decision->most_steps : UINT64_MAX;
	g->upper = -INFINITY;
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
	search(g);
	if (g->found) {
		auc_plan_reset(&decision->plan);
		rc = make_plan(g, decision, err);
		auc_decision_by_payoff(decision);
	}
	if (!g->found || !decision->accepted) {
		decision->accepted = false;
		decision->reason = AUC_REASON_BUDGET;
		decision->best_payoff = 0; /* of what can be paid nothing better was found */
	}
	return rc;
}

/* Scratch memory for markets of M's size and gangs of NSHAPES shapes: made once, kept. */
static enum auc_code make_room(struct auc_gang *g, const struct auc_market *m, unsigned nshapes,
			       struct auc_err *err)
{
	size_t servers = (size_t)m->nservers + 1, lanes = nshapes, tres = m->ntres + 1;
	size_t slots = (size_t)m->slots + 1;

	if (g->nservers >= servers && g->nshapes >= lanes && g->ntres >= tres && g->slots >= slots)
		return AUC_OK;
	servers = servers > g->nservers ? servers : g->nservers;
	lanes = lanes > g->nshapes ? lanes : g->nshapes;
	tres = tres > g->ntres ? tres : g->ntres;
	slots = slots > g->slots ? slots : g->slots;
	release(g);
	g->lanes = calloc(lanes, sizeof(*g->lanes));
	g->kinds = calloc(lanes, sizeof(*g->kinds));
	g->lists = calloc(lanes * servers * 2, sizeof(*g->lists));
	g->rooms = calloc(lanes * servers * tres, sizeof(*g->rooms));
	g->mosts = calloc(lanes * tres * (servers + 15), sizeof(*g->mosts));
	g->open = calloc(servers + 15, sizeof(*g->open));
	g->wanted = calloc(lanes, sizeof(*g->wanted));
	g->sums = calloc(slots * servers, sizeof(*g->sums));
	g->lowest = calloc(slots, sizeof(*g->lowest));
	g->since = calloc(servers, sizeof(*g->since));
	g->window = calloc(servers, sizeof(*g->window));
	g->fresh = calloc(servers, sizeof(*g->fresh));
	g->ready = calloc(servers, sizeof(*g->ready));
	g->order = calloc(servers, sizeof(*g->order));
	g->chosen = calloc(servers, sizeof(*g->chosen));
	g->places = calloc(servers + 1, sizeof(*g->places));
	if (!g->mosts || !g->open || !g->wanted || !g->lanes || !g->kinds || !g->lists ||
	    !g->rooms || !g->sums || !g->lowest || !g->since || !g->window || !g->fresh ||
	    !g->ready || !g->order || !g->chosen || !g->places) {
		release(g);
		return auc_err_set(err, AUC_ENOMEM,
				   "no memory for the quote of a gang among %u servers",
				   m->nservers);
	}
	g->nservers = (unsigned)servers;
	g->nshapes = (unsigned)lanes;
	g->ntres = (unsigned)tres;
	g->slots = (unsigned)slots;
	return AUC_OK;
}

static void release(struct auc_gang *g)
{
	free(g->lanes);
	free(g->kinds);
	free(g->lists);
	free(g->rooms);
	free(g->mosts);
	free(g->open);
	free(g->wanted);
	free(g->sums);
	free(g->lowest);
	free(g->since);
	free(g->window);
	free(g->fresh);
	free(g->ready);
	free(g->order);
	free(g->chosen);
	free(g->places);
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
	add_kinds(g);
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

/* The shapes that can be had at all, by kind. */
static void add_kinds(struct auc_gang *g)
{
	const struct auc_job *job = g->job;

	g->nkinds = g->nlanes = 0;
	for (unsigned i = 0; i < job->nshapes; i++) {
		const struct auc_shape *shape = &job->shapes[i];
		unsigned before = 0;

		/* Of one that never fits, some of what it takes is not in the units. */
		while (before < i &&
		       (job->shapes[before].never ||
			memcmp(job->shapes[before].units, shape->units, sizeof(shape->units)) != 0))
			before++;
		if (before == i && !shape->never)
			add_kind(g, shape);
	}
}

static void add_kind(struct auc_gang *g, const struct auc_shape *shape)
{
	const struct auc_market *m = g->m;
	struct kind *k = &g->kinds[g->nkinds];
	size_t base = (size_t)g->nkinds * g->nservers;

	memset(k, 0, sizeof(*k));
	k->shape = shape;
	for (unsigned i = 0; i < m->ntres; i++)
		if (shape->units[i] > 0) {
			k->amount[k->nused] = shape->amount[i];
			k->used[k->nused++] = i;
		}
	k->list = g->lists + 2 * base;
	k->priced = k->list + g->nservers;
	k->room = g->rooms + base * g->ntres;
	for (const uint32_t *s = g->order; *s != NEVER; s++) {
		const struct auc_server *server = &m->servers[*s];
		int64_t *room = k->room + (size_t)k->nlist * k->nused;
		bool fits = true;

		for (unsigned i = 0; i < k->nused; i++) {
			room[i] = server->units[k->used[i]] - shape->units[k->used[i]];
			fits = fits && room[i] >= 0;
		}
		fits = fits && auc_shape_holds(m, *s, g->job, shape);
		if (!fits)
			continue;
		k->priced[k->nlist] = server->whole ? server->whole - 1 : *s;
		k->list[k->nlist++] = *s;
	}
	k->most = g->mosts + (size_t)g->nkinds * g->ntres * (g->nservers + 15);
	for (unsigned j = 0; j < k->nlist; j++)
		for (unsigned i = 0; i < k->nused; i++) {
			const int64_t room = k->room[(size_t)j * k->nused + i];
			int64_t capacity = m->servers[k->list[j]].units[k->used[i]];

			k->most[i * m->stride + k->list[j]] = (uint8_t)(room * 255 / capacity);
		}
	k->plain = k->nlist == m->nservers;
	for (unsigned j = 0; j < k->nlist && k->plain; j++)
		k->plain = k->list[j] == j && k->priced[j] == j &&
			   !memcmp(k->room, k->room + (size_t)j * k->nused,
				   k->nused * sizeof(*k->room));
	k->first = g->nlanes;
	for (unsigned i = 0; i < g->job->nshapes; i++) {
		const struct auc_shape *other = &g->job->shapes[i];
		int64_t d = auc_shape_slots(m, other);

		if (other->never || other->nodes > k->nlist || d > (int64_t)m->slots - g->start0 ||
		    memcmp(other->units, shape->units, sizeof(shape->units)) != 0)
			continue;
		g->lanes[g->nlanes++] =
			(struct lane){.shape = i, .n = other->nodes, .d = (unsigned)d};
	}
	k->nlanes = g->nlanes - k->first;
	g->nkinds += k->nlanes > 0;
}

/* Each kind has its part of the steps that are left. */
static void search(struct auc_gang *g)
{
	uint64_t begun = g->steps, left = g->limit > begun ? g->limit - begun : 0;

	g->found = false;
	for (unsigned i = 0; i < g->nkinds; i++)
		search_kind(g, i, begun + left / g->nkinds * (i + 1));
}

static void search_kind(struct auc_gang *g, unsigned kind, uint64_t limit)
{
	const struct kind *k = &g->kinds[kind];

	g->low = g->high = g->start0;
	g->lowest[0] = 0;
	memset(g->open, 0xff, (g->m->stride) * sizeof(*g->open));
	for (unsigned j = 0; j < k->nlist; j++)
		g->open[k->list[j]] = (uint16_t)g->ready[k->list[j]];
	for (unsigned completion = g->start0 + 1; completion <= g->m->slots; completion++) {
		double value = value_at(g, completion);
		unsigned first = completion;

		/* What is worth nothing is no better than what is there, whatever that is. */
		if (g->found && completion > g->best.completion &&
		    (value <= g->best_payoff || value <= 0))
			return;
		if (g->steps > limit) {
			g->upper = fmax(g->upper, value);
			return;
		}
		glance(g, k, completion - 1);
		for (unsigned i = k->first; i < k->first + k->nlanes; i++) {
			g->wanted[i] = may_be_best(g, &g->lanes[i], completion, value);
			if (g->wanted[i] && completion - g->lanes[i].d < first)
				first = completion - g->lanes[i].d;
		}
		if (first < completion)
			enter_until(g, k, first, completion);
		for (unsigned i = k->first; i < k->first + k->nlanes; i++)
			if (g->wanted[i])
				try_window(g, kind, &g->lanes[i], completion, value);
	}
}

typedef uint8_t bytes __attribute__((vector_size(16), aligned(1), may_alias));
typedef int8_t byte_masks __attribute__((vector_size(16)));
typedef uint16_t shorts __attribute__((vector_size(32), aligned(2), may_alias));
typedef int16_t short_masks __attribute__((vector_size(32)));

/* Which servers may have room in a slot, and the lowest prices there. */
static void glance(struct auc_gang *g, const struct kind *k, unsigned slot)
{
	const struct auc_market *m = g->m;
	const uint8_t *full = m->full + (size_t)slot * m->ntres * m->stride;
	const uint8_t *closed = m->closed ? m->closed + (size_t)slot * m->nservers : NULL;
	unsigned at = slot - g->start0;
	shorts later = {0};
	double price = 0;

	g->steps += m->stride / 8 + 8;
	for (unsigned i = 0; i < k->nused && g->priced; i++)
		price += m->lowest[(size_t)slot * m->ntres + k->used[i]] * k->amount[i];
	g->lowest[at + 1] = g->lowest[at] + (price < g->cap ? price : g->cap);
	later += (uint16_t)(slot + 1);
	for (size_t s = 0; s < m->stride; s += 16) {
		byte_masks fits = {0};
		short_masks stay;
		shorts *open = (shorts *)(g->open + s), now = *open;

		fits = ~fits;
		for (unsigned i = 0; i < k->nused; i++)
			fits &= *(const bytes *)(full + k->used[i] * m->stride + s) <=
				*(const bytes *)(k->most + i * m->stride + s);
		/* a server that is ready later stays so */
		stay = __builtin_convertvector(fits, short_masks) | (short_masks)(now > later);
		*open = (shorts)(((short_masks)now & stay) | ((short_masks)later & ~stay));
	}
	for (unsigned s = 0; s < m->nservers && closed; s++)
		if (closed[s] && g->open[s] <= slot)
			g->open[s] = (uint16_t)(slot + 1);
}

/* How many servers may have room from START on. */
static unsigned may_hold(struct auc_gang *g, unsigned start)
{
	shorts limit = {0}, count = {0};
	unsigned n = 0;

	limit += (uint16_t)start;
	for (size_t s = 0; s < g->m->stride; s += 16)
		count -= (shorts)(*(const shorts *)(g->open + s) <= limit);
	for (unsigned i = 0; i < 16; i++)
		n += count[i];
	g->steps += g->m->stride / 16;
	return n;
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
	       may_hold(g, c.start) >= l->n;
}

/* Brings the sums up to COMPLETION, for windows from START on. */
static void enter_until(struct auc_gang *g, const struct kind *k, unsigned start,
			unsigned completion)
{
	if (start < g->low || start > g->high || g->low == g->high) {
		g->low = g->high = start;
		memset(g->sums + (size_t)(start - g->start0) * g->nservers, 0,
		       k->nlist * sizeof(*g->sums));
		for (unsigned j = 0; j < k->nlist; j++)
			g->since[j] = g->ready[k->list[j]];
	}
	while (g->high < completion)
		enter(g, k, g->high++);
}

static double value_at(const struct auc_gang *g, unsigned completion)
{
	if (!g->priced)
		return 0;
	return auc_utility_value(&g->job->utility,
				 (double)(g->m->first + completion - g->job->arrival));
}

/* What a node costs at place J in a slot whose unit prices are UNIT. */
static inline double price_of(const struct auc_gang *g, const struct kind *k, const double *unit,
			      unsigned nused)
{
	double price = 0;

	for (unsigned i = 0; i < nused; i++)
		price += unit[k->used[i]] * k->amount[i];
	return price < g->cap ? price : g->cap;
}

static inline bool has_room(const struct kind *k, const int64_t *used, const int64_t *room,
			    unsigned nused)
{
	bool fits = true;

	for (unsigned i = 0; i < nused; i++)
		fits &= used[k->used[i]] <= room[i];
	return fits;
}

/* Adds a slot to the sums of those at PLACES[N]. NUSED is k->nused and PLAIN k->plain, for the
 * compiler; no branch depends on what a cell has, which is as good as random. */
static inline __attribute__((always_inline)) void pass(struct auc_gang *g, const struct kind *k,
						       unsigned slot, const uint32_t *places,
						       unsigned n, unsigned nused, bool plain)
{
	const struct auc_market *m = g->m;
	size_t row = (size_t)slot * m->nservers, at = slot - g->start0;
	const int64_t *used = m->used + row * m->ntres, *room = k->room;
	const double *unit = m->unit_price + row * m->ntres;
	double *sum = g->sums + (at + 1) * g->nservers;
	const uint8_t *closed = m->closed ? m->closed + row : NULL;

	for (unsigned i = 0; i < n; i++) {
		uint32_t j = places[i], s = plain ? j : k->list[j],
			 priced = plain ? j : k->priced[j];
		bool fits = has_room(k, used + (size_t)s * m->ntres,
				     plain ? room : room + (size_t)j * nused, nused);
		double price = price_of(g, k, unit + (size_t)priced * m->ntres, nused);
		uint32_t since = g->since[j];

		fits &= !closed || !closed[s];
		price = fits ? price : 0;
		g->since[j] = fits || since > slot ? since : slot + 1;
		sum[j] += price;
	}
}

/*
 * Only servers that may have room from that slot on until the last one that was glanced at matter:
 * others are in no window that has this slot and is still to come.
 */
static void enter(struct auc_gang *g, const struct kind *k, unsigned slot)
{
	size_t at = slot - g->start0;
	const double *before = g->sums + at * g->nservers;
	unsigned n = 0;

	memcpy(g->sums + (at + 1) * g->nservers, before, k->nlist * sizeof(*before));
	for (unsigned j = 0; j < k->nlist; j++) {
		g->places[n] = j;
		n += g->open[k->list[j]] <= slot;
	}
	g->steps += k->nlist + (uint64_t)n * (2 + k->nused);
	if (!k->plain)
		pass(g, k, slot, g->places, n, k->nused, false);
	else if (k->nused == 1)
		pass(g, k, slot, g->places, n, 1, true);
	else if (k->nused == 2)
		pass(g, k, slot, g->places, n, 2, true);
	else if (k->nused == 3)
		pass(g, k, slot, g->places, n, 3, true);
	else
		pass(g, k, slot, g->places, n, k->nused, true);
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
		end = k->nlist;
		if (g->within_switch)
			for (end = c.first + 1;
			     end < k->nlist && auc_market_switch(g->m, k->list[end]) ==
						       auc_market_switch(g->m, k->list[c.first]);)
				end++;
		if (end - c.first >= l->n)
			try_switch(g, &c, end);
	}
}

/* The cheapest servers from place c->first to before END. */
static void try_switch(struct auc_gang *g, struct choice *c, unsigned end)
{
	const double *before = g->sums + (size_t)(c->start - g->start0) * g->nservers;
	const double *after = g->sums + (size_t)(c->completion - g->start0) * g->nservers;
	const struct kind *k = &g->kinds[c->kind];
	double limit = limit_of(g, c), least = INFINITY;
	unsigned n = 0;

	g->steps += end - c->first;
	for (unsigned j = c->first; j < end; j++)
		if (g->since[j] <= c->start && g->open[k->list[j]] <= c->start) {
			double sum = after[j] - before[j];

			g->window[n++] = sum;
			least = sum < least ? sum : least;
		}
	if (n < c->nservers || least * c->nservers >= limit)
		return;
	c->cost = c->nservers == 1 ? least : sum_of_least(g->window, n, c->nservers);
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
		if (g->kinds[c->kind].list[j] == g->chosen[i]) {
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
		choose(g, b);
		g->best_server = g->chosen[0];
	}
	if (g->kinds[a->kind].list[a->first] > g->best_server)
		return 1;
	choose(g, a);
	return g->chosen[0] < g->best_server ? -1 : 1;
}

/* Puts the servers of C, ascending, to g->chosen; their number. Their sums are made anew, so that
 * equal prices make equal sums. */
static unsigned choose(struct auc_gang *g, const struct choice *c)
{
	const struct kind *k = &g->kinds[c->kind];
	unsigned leaf = auc_market_switch(g->m, k->list[c->first]), end, n = 0, left, taken = 0;
	double last = 0;

	for (end = c->first; end < k->nlist; end++) {
		if (g->within_switch && auc_market_switch(g->m, k->list[end]) != leaf)
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
			g->chosen[taken++] = k->list[j];
	return taken;
}

/* What the window of C costs on the server at place J; INFINITY: it is not free in all of it. */
static double sum_at(struct auc_gang *g, const struct choice *c, unsigned j)
{
	const struct auc_market *m = g->m;
	const struct kind *k = &g->kinds[c->kind];
	uint32_t s = k->list[j];
	double sum = 0;

	if (g->ready[s] > c->start)
		return INFINITY;
	g->steps += 4 * (uint64_t)(c->completion - c->start);
	for (unsigned t = c->start; t < c->completion; t++) {
		if ((m->closed && m->closed[auc_cell(m, t, s)]) ||
		    !has_room(k, m->used + auc_cell(m, t, s) * m->ntres,
			      k->room + (size_t)j * k->nused, k->nused))
			return INFINITY;
		if (g->priced)
			sum += price_of(g, k,
					m->unit_price + auc_cell(m, t, k->priced[j]) * m->ntres,
					k->nused);
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
	plan->whole = g->job->whole;
	plan->shape = c->shape;
	memcpy(plan->amount, g->kinds[c->kind].shape->amount, sizeof(plan->amount));
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
