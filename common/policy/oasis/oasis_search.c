/*
 * oasis_search.c - the best schedule of a job with one pair of types: the least cost of its work by
 * completion, and the best completion.
 *
 * A completion C: all slots before it are open. Each slot has a cost by option (oasis_slot.c), and
 * below that its lower convex hull. The hulls' segments taken by ascending slope until they do the
 * work give the least cost of the relaxation, which is a lower bound, a slope lambda at which it
 * is reached, and options BASE that leave a rest to do. Option d of slot t is then dearer than its
 * work is at lambda by the excess
 *
 *     cost[t][d] - cost[t][base] - lambda * (d - base) >= 0,
 *
 * and the least cost is the bound + the least sum of excesses of options that do all the work. The
 * rest put into the one slot where that is cheapest gives a first such sum, the gap. Where it is 0
 * nothing remains to be done. Else a dynamic program over slots looks for less, by how much work
 * they do beyond their base. It is small:
 *
 *  - Only options with less excess than the gap count. The gap is at most what one slot's cost is
 *    above its hull.
 *  - A corner is an option from which one unit more costs more than one unit less saves. At most
 * one slot is not at a corner: with two, work moved from one to the other does, in one of the two
 *    directions, not raise the cost until one of them is at a corner.
 *  - Sums are looked at modulo a width, which is a relaxation. If that has nothing below the gap
 *    there is nothing; a coarser relaxation, where dear choices are of no slot, shows that sooner
 *    as a rule. Else sums within the width are looked at, and if they have nothing as good
 *    as the relaxation, twice the width, up to one beyond which no sum lies.
 *  - Slots that are alike are passed over once one more of them changes nothing.
 *
 * Over completions: later ones are worth no more and cost no more, so that value(first) -
 * bound(last) is an upper bound of the payoff of a range of completions. Ranges of growing
 * length are looked at, the last completion of each first, and halved as long as they may have
 * something better. What the last one costs is a lower bound for the others, and what would no
 * longer be better than the best so far is not looked for.
 *
 * Where the costs of a slot are lower bounds, what is found may be too good: the slots that it uses
 * are then looked at exactly, and it is searched again, until all that it uses are exact.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/oasis/oasis-private.h"

#define GROWTH    6                  /* of the ranges of completions */
#define PARTS     4                  /* fewer choices than that cost a gap's part or more each */
#define SUM_CELLS ((size_t)16 << 20) /* a gap that would need more stays */
#define HASTY     4                  /* looks at one completion, once steps ran out */

/* Numbers of memory. */
enum {
	NCORNERS = OASIS_SEARCH_MEMORY,
	CORNERS,
	SEGMENTS,
	SORTED,
	BASE,
	TRIAL,
	FREE,
	CHOICES,
	SUMS,
	DEAR,
	MEMORIES_END
};
_Static_assert(MEMORIES_END <= OASIS_MEMORIES, "numbers of memory");

/* A piece of the hull of a slot's costs. */
struct segment {
	double slope;
	unsigned slot, length;
};

/* The relaxation of the work before slot END. */
struct relaxed {
	unsigned end;
	double cost;      /* lower bound */
	double lambda;    /* of one unit */
	unsigned rest;    /* units that the base leaves to do: a part of ... */
	unsigned slot;    /* ... a segment of this slot ... */
	unsigned segment; /* ... of this length */
};

/* An option as a step away from the slot's base. */
struct choice {
	double excess;
	int64_t step;
};

/*
 * A slot that has choices beside its base: the corners by ascending excess, the base first, then
 * the others. Numbers of choices.
 */
struct free_slot {
	unsigned slot, first, corners, n;
};

struct choices {
	unsigned nslots;
	struct free_slot *slots;
	struct choice *list;
	int64_t longest; /* step */
	uint64_t reach;  /* of a step in each slot */
};

static bool is_spent(const struct auc_policy_ctx *ctx);
static bool gives_up(struct auc_policy_ctx *ctx, const struct oasis_schedule *best);
static bool make_room(struct auc_policy_ctx *ctx);
static unsigned first_completion(struct auc_policy_ctx *ctx);
static bool open_slots(struct auc_policy_ctx *ctx, unsigned end);
static bool repeat_slot(struct auc_policy_ctx *ctx, unsigned slot);
static void make_hull(struct auc_policy_ctx *ctx, unsigned slot);
static bool examine(struct auc_policy_ctx *ctx, struct oasis_schedule *best, unsigned first,
		    unsigned last, double least);
static bool evaluate(struct auc_policy_ctx *ctx, struct oasis_schedule *best, unsigned first,
		     unsigned last, double *bound);
static double most_useful(const struct auc_policy_ctx *ctx, const struct oasis_schedule *best,
			  unsigned completion);
static bool may_be_better(const struct auc_policy_ctx *ctx, const struct oasis_schedule *best,
			  unsigned completion, double cost);
static double take(struct auc_policy_ctx *ctx, struct oasis_schedule *best, unsigned end);
static bool relax(struct auc_policy_ctx *ctx, struct relaxed *r);
static double select_slope(struct segment *s, size_t n, uint64_t units);
static double fill_rest(struct auc_policy_ctx *ctx, const struct relaxed *r);
static double excess(const struct auc_policy_ctx *ctx, const struct relaxed *r, unsigned slot,
		     int64_t step);
static bool close_gap(struct auc_policy_ctx *ctx, const struct relaxed *r, double least,
		      double most, bool *any);
static uint64_t sum_steps(const struct choices *c, size_t width);
static bool list_choices(struct auc_policy_ctx *ctx, const struct relaxed *r, double limit,
			 struct choices *c);
static bool same_slot(const struct auc_policy_ctx *ctx, unsigned a, unsigned b);
static unsigned sort_choices(const struct auc_policy_ctx *ctx, const struct relaxed *r,
			     unsigned slot, double limit, bool corners, struct choice *list);
static bool is_hopeless(struct auc_policy_ctx *ctx, const struct choices *c, double *sums,
			size_t width, size_t rest, double limit);
static void keep_least(double *least, size_t width, const struct choice *x, unsigned n);
static void add_least(double **from, double **to, const double *least, size_t width, double limit);
static double add_up(const struct choices *c, double *sums, size_t width, bool ring, size_t rest,
		     double limit);
static void add_choices(const double *from, double *to, size_t width, bool ring,
			const struct choice *x, unsigned n);
static void trace(struct auc_policy_ctx *ctx, const struct choices *c, const double *sums,
		  size_t width, size_t rest);

bool auc_oasis_search(struct auc_policy_ctx *ctx, struct oasis_schedule *best)
{
	unsigned first, last, n;

	best->found = false;
	if (!make_room(ctx))
		return false;
	first = first_completion(ctx);
	for (n = 1; first && first <= ctx->m->slots; first = last + 1, n *= GROWTH) {
		if (gives_up(ctx, best) || !may_be_better(ctx, best, first, 0))
			break;
		last = n <= ctx->m->slots - first ? first + n - 1 : ctx->m->slots;
		if (!examine(ctx, best, first, last, 0))
			return false;
	}
	return first != 0 || ctx->nopen == ctx->m->slots;
}

static bool is_spent(const struct auc_policy_ctx *ctx)
{
	return ctx->steps > ctx->limit;
}

/* Steps ran out: nothing else is looked at once there is something, or for long. */
static bool gives_up(struct auc_policy_ctx *ctx, const struct oasis_schedule *best)
{
	bool up = is_spent(ctx) && (best->found || ctx->steps / 2 > ctx->limit);

	ctx->cut = ctx->cut || up;
	return up;
}

/*
 * No schedule of the pair has a higher payoff: what jobs are worth at the first of some completions
 * less what they cost at least by the last, for ranges of them that double. -INFINITY: there is no
 * schedule. False: no memory.
 */
bool auc_oasis_upper(struct auc_policy_ctx *ctx, double *upper)
{
	double *cost = ctx->cost;
	struct relaxed r;
	unsigned slot, first, n;

	*upper = -INFINITY;
	if (!open_slots(ctx, ctx->m->slots))
		return false;
	ctx->cost = ctx->low;
	for (slot = ctx->start0; slot < ctx->nopen; slot++)
		make_hull(ctx, slot);
	for (first = ctx->start0 + 1, n = 1; first <= ctx->m->slots; first += n, n *= 2) {
		r.end = n <= ctx->m->slots - first ? first + n - 1 : ctx->m->slots;
		if (!relax(ctx, &r))
			return false;
		if (r.cost < INFINITY)
			*upper = fmax(*upper, auc_oasis_value_at(ctx, first) - r.cost);
	}
	ctx->cost = cost;
	return true;
}

static bool make_room(struct auc_policy_ctx *ctx)
{
	size_t slots = ctx->m->slots;

	ctx->ncorners = auc_oasis_memory(ctx, NCORNERS, slots, sizeof(*ctx->ncorners));
	ctx->corners =
		auc_oasis_memory(ctx, CORNERS, (slots - ctx->start0) * (ctx->pair.options + 1),
				 sizeof(*ctx->corners));
	ctx->base = auc_oasis_memory(ctx, BASE, slots, sizeof(*ctx->base));
	ctx->trial = auc_oasis_memory(ctx, TRIAL, slots, sizeof(*ctx->trial));
	ctx->nopen = ctx->start0;
	return ctx->ncorners && ctx->corners && ctx->base && ctx->trial;
}

/* The first completion by which all the work can be done; 0: there is none, or no memory. */
static unsigned first_completion(struct auc_policy_ctx *ctx)
{
	uint64_t sum = 0;

	while (ctx->nopen < ctx->m->slots) {
		if (!open_slots(ctx, ctx->nopen + 1))
			return 0;
		sum += ctx->most[ctx->nopen - 1];
		if (sum >= ctx->pair.units)
			return ctx->nopen;
	}
	return 0;
}

/* Prices all slots before END. False: no memory. */
static bool open_slots(struct auc_policy_ctx *ctx, unsigned end)
{
	for (; ctx->nopen < end; ctx->nopen++) {
		if (repeat_slot(ctx, ctx->nopen))
			continue;
		if (!auc_oasis_price_slot(ctx, ctx->nopen))
			return false;
		make_hull(ctx, ctx->nopen);
	}
	return true;
}

static unsigned *corners_of(const struct auc_policy_ctx *ctx, unsigned slot)
{
	return ctx->corners + (size_t)(slot - ctx->start0) * (ctx->pair.options + 1);
}

/* Takes everything from the slot before, if that is the same to the pair. */
static bool repeat_slot(struct auc_policy_ctx *ctx, unsigned slot)
{
	size_t options = ctx->pair.options + 1;

	ctx->steps += ctx->m->nservers / 4;
	if (slot == ctx->start0 || !auc_oasis_slot_repeats(ctx, slot))
		return false;
	ctx->steps += options / 2;
	ctx->costs[slot] = ctx->costs[slot - 1];
	ctx->same[slot] = ctx->same[slot - 1];
	ctx->stale[slot] = ctx->stale[slot - 1];
	ctx->most[slot] = ctx->most[slot - 1];
	ctx->ncorners[slot] = ctx->ncorners[slot - 1];
	memcpy(auc_oasis_cost_of(ctx, slot), auc_oasis_cost_of(ctx, slot - 1),
	       options * sizeof(double));
	memcpy(auc_oasis_low_of(ctx, slot), auc_oasis_low_of(ctx, slot - 1),
	       options * sizeof(double));
	memcpy(auc_oasis_how_of(ctx, slot), auc_oasis_how_of(ctx, slot - 1), options);
	memcpy(corners_of(ctx, slot), corners_of(ctx, slot - 1), options * sizeof(unsigned));
	return true;
}

static double slope(const double *cost, unsigned from, unsigned to)
{
	return (cost[to] - cost[from]) / (to - from);
}

/* The corners of the lower hull of a slot's costs: the slopes between them ascend. */
static void make_hull(struct auc_policy_ctx *ctx, unsigned slot)
{
	const double *cost = auc_oasis_cost_of(ctx, slot);
	unsigned *corner = corners_of(ctx, slot), n = 1, d;

	ctx->stale[slot] = 0;
	ctx->steps += 4 * (uint64_t)ctx->most[slot];
	corner[0] = 0;
	for (d = 1; d <= ctx->most[slot]; d++) {
		if (isinf(cost[d]))
			continue;
		while (n > 1 &&
		       slope(cost, corner[n - 2], corner[n - 1]) >= slope(cost, corner[n - 1], d))
			n--;
		corner[n++] = d;
	}
	ctx->ncorners[slot] = n;
}

/* -- completions -- */

/* Looks for what is better than BEST among the completions FIRST to LAST, by which the work costs
 * at LEAST so much. False: no memory. */
static bool examine(struct auc_policy_ctx *ctx, struct oasis_schedule *best, unsigned first,
		    unsigned last, double least)
{
	double bound = least;
	unsigned middle;

	if (!open_slots(ctx, last) || !evaluate(ctx, best, first, last, &bound))
		return false;
	if (first == last || gives_up(ctx, best) || !may_be_better(ctx, best, first, bound))
		return true;
	middle = first + (last - 1 - first) / 2;
	return examine(ctx, best, first, middle, bound) &&
	       (middle + 1 == last || examine(ctx, best, middle + 1, last - 1, bound));
}

/*
 * Raises *BOUND to what is found of the least cost of the work by LAST. If a completion from FIRST
 * to LAST may be better than BEST at that, it is exact, and BEST is changed if LAST is better.
 * False: no memory.
 */
static bool evaluate(struct auc_policy_ctx *ctx, struct oasis_schedule *best, unsigned first,
		     unsigned last, double *bound)
{
	double least = *bound, most = most_useful(ctx, best, first);
	struct relaxed r = {.end = last};
	bool changed = true, any;
	unsigned slot, hasty = 0;

	/* Once steps ran out, what it finds at last is good enough. */
	while (changed && hasty < HASTY) {
		hasty += is_spent(ctx);
		if (!relax(ctx, &r))
			return false;
		*bound = fmax(least, r.cost);
		if (!may_be_better(ctx, best, first, *bound) ||
		    !may_be_better(ctx, best, last, *bound))
			return true;
		changed = false;
		if (!close_gap(ctx, &r, least - r.cost, most - r.cost, &any))
			return false;
		if (!any) {
			*bound = fmax(least, most);
			return true;
		}
		if (!auc_oasis_make_exact(ctx, ctx->trial, last, &changed))
			return false;
		for (slot = ctx->start0; slot < last; slot++)
			if (ctx->stale[slot])
				make_hull(ctx, slot);
	}
	least = fmax(least, r.cost);
	most = take(ctx, best, last);
	*bound = ctx->cut ? least : fmax(least, most);
	return true;
}

/* At more than this cost nothing that completes from COMPLETION on is better than the best. */
static double most_useful(const struct auc_policy_ctx *ctx, const struct oasis_schedule *best,
			  unsigned completion)
{
	const struct oasis_schedule *b[] = {best, &ctx->best};
	double value = auc_oasis_value_at(ctx, completion), most = INFINITY, cost;
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (!b[i]->found)
			continue;
		cost = value - (b[i]->value - b[i]->cost);
		/* more than the margin of auc_oasis_is_better() */
		cost += 10 * OASIS_TIE * (value + fabs(cost) + b[i]->value + b[i]->cost) + DBL_MIN;
		most = fmin(most, cost);
	}
	return most;
}

/* A completion from COMPLETION on, if the work costs at least COST, may be better than the best. */
static bool may_be_better(const struct auc_policy_ctx *ctx, const struct oasis_schedule *best,
			  unsigned completion, double cost)
{
	struct oasis_schedule s = {true, completion, auc_oasis_value_at(ctx, completion), cost};

	return s.cost < INFINITY && auc_oasis_is_better(&s, best) &&
	       auc_oasis_is_better(&s, &ctx->best);
}

/* Takes the schedule in ctx->trial for BEST if it is better. Its cost. */
static double take(struct auc_policy_ctx *ctx, struct oasis_schedule *best, unsigned end)
{
	struct oasis_schedule s = {.found = true, .completion = end};
	unsigned slot;

	while (!ctx->trial[s.completion - 1])
		s.completion--;
	s.value = auc_oasis_value_at(ctx, s.completion);
	for (slot = ctx->start0; slot < s.completion; slot++)
		s.cost += auc_oasis_cost_of(ctx, slot)[ctx->trial[slot]];
	if (s.cost < INFINITY && auc_oasis_is_better(&s, best)) {
		*best = s;
		memcpy(ctx->path + ctx->start0, ctx->trial + ctx->start0,
		       (end - ctx->start0) * sizeof(*ctx->path));
	}
	return s.cost;
}

/* -- the relaxation -- */

/* Sets R of R->end, and ctx->base. Cost infinite: the work cannot be done. False: no memory. */
static bool relax(struct auc_policy_ctx *ctx, struct relaxed *r)
{
	struct segment *all, *sorted, *s, *end;
	unsigned slot, i, *corner;
	const double *cost;
	uint64_t units = 0;
	size_t n = 0;

	for (slot = ctx->start0; slot < r->end; slot++) {
		n += ctx->ncorners[slot] - 1;
		units += corners_of(ctx, slot)[ctx->ncorners[slot] - 1];
		ctx->base[slot] = 0;
	}
	ctx->steps += 8 * n + 4 * (r->end - ctx->start0);
	all = auc_oasis_memory(ctx, SEGMENTS, n, sizeof(*all));
	sorted = auc_oasis_memory(ctx, SORTED, n, sizeof(*sorted));
	if (!all || !sorted)
		return false;
	r->cost = INFINITY;
	if (units < ctx->pair.units)
		return true;
	for (end = all, slot = ctx->start0; slot < r->end; slot++) {
		corner = corners_of(ctx, slot);
		cost = auc_oasis_cost_of(ctx, slot);
		for (i = 1; i < ctx->ncorners[slot]; i++)
			*end++ = (struct segment){slope(cost, corner[i - 1], corner[i]), slot,
						  corner[i] - corner[i - 1]};
	}
	memcpy(sorted, all, n * sizeof(*all));
	r->lambda = select_slope(sorted, n, ctx->pair.units);
	r->rest = ctx->pair.units;
	for (s = all; s < end; s++)
		if (s->slope < r->lambda) {
			ctx->base[s->slot] += s->length;
			r->rest -= s->length;
		}
	r->segment = 0;
	for (s = all; s < end; s++)
		if (s->slope == r->lambda && s->length <= r->rest) {
			ctx->base[s->slot] += s->length;
			r->rest -= s->length;
		} else if (s->slope == r->lambda && !r->segment) {
			r->slot = s->slot;
			r->segment = s->length;
		}
	r->cost = r->rest * r->lambda;
	for (slot = ctx->start0; slot < r->end; slot++)
		r->cost += auc_oasis_cost_of(ctx, slot)[ctx->base[slot]];
	return true;
}

/* The least slope such that the segments up to it have UNITS. Reorders them. */
static double select_slope(struct segment *s, size_t n, uint64_t units)
{
	struct segment swap;
	uint64_t less, equal;
	size_t i, low, high;
	double pivot;

	for (;;) {
		pivot = s[n / 2].slope;
		less = equal = 0;
		for (i = low = 0, high = n; i < high;) {
			if (s[i].slope == pivot) {
				equal += s[i++].length;
				continue;
			}
			swap = s[i];
			if (swap.slope < pivot) {
				less += swap.length;
				s[i++] = s[low];
				s[low++] = swap;
			} else {
				s[i] = s[--high];
				s[high] = swap;
			}
		}
		if (units <= less) {
			n = low;
		} else if (units <= less + equal) {
			return pivot;
		} else {
			units -= less + equal;
			s += high;
			n -= high;
		}
	}
}

/* By how much a slot is dearer than the work is at lambda if it does STEP units beyond its base. */
static double excess(const struct auc_policy_ctx *ctx, const struct relaxed *r, unsigned slot,
		     int64_t step)
{
	const double *cost = auc_oasis_cost_of(ctx, slot);
	int64_t base = ctx->base[slot];

	if (base + step < 0 || base + step > ctx->most[slot])
		return INFINITY;
	return fmax(0, cost[base + step] - cost[base] - r->lambda * (double)step);
}

/*
 * Sets ctx->trial: the rest goes into one slot, the cheapest one, or the whole segment of which it
 * is a part, and one slot does that much less. By how much that is dearer than the bound. Of equal
 * ones the one that does more work early.
 */
static double fill_rest(struct auc_policy_ctx *ctx, const struct relaxed *r)
{
	int64_t more = r->rest, less = (int64_t)r->rest - r->segment, step = 0;
	double least = INFINITY, e;
	unsigned slot, at = 0;

	memcpy(ctx->trial + ctx->start0, ctx->base + ctx->start0,
	       (r->end - ctx->start0) * sizeof(*ctx->trial));
	if (!more)
		return 0;
	for (slot = ctx->start0; slot < r->end; slot++) {
		e = excess(ctx, r, slot, more);
		if (e < least) {
			least = e;
			at = slot;
			step = more;
		}
	}
	for (slot = r->end; slot-- > ctx->start0;) {
		e = slot == r->slot ? INFINITY : excess(ctx, r, slot, less);
		if (e < least) {
			least = e;
			at = slot;
			step = less;
		}
	}
	ctx->trial[at] = (unsigned)(ctx->trial[at] + step);
	if (step < 0)
		ctx->trial[r->slot] += r->segment;
	return least;
}

/* -- the gap between the relaxation and a schedule -- */

/*
 * Sets ctx->trial to the cheapest schedule, which is known to be by at least LEAST dearer than R.
 * *ANY false: none is by less than MOST, and ctx->trial is not used. False: no memory.
 */
static bool close_gap(struct auc_policy_ctx *ctx, const struct relaxed *r, double least,
		      double most, bool *any)
{
	size_t whole = 2 * (size_t)ctx->pair.units + 2, width, cells;
	double gap = fill_rest(ctx, r), limit = gap, sum, *sums;
	struct choices c;
	bool all;

	if (gap < INFINITY)
		limit -= OASIS_TIE * (r->cost + gap);
	*any = gap < INFINITY && limit <= most;
	limit = fmin(limit, most);
	ctx->steps += 4 * (r->end - ctx->start0);
	if (limit <= 0 || limit <= least)
		return true;
	if (is_spent(ctx)) {
		ctx->cut = true;
		return true;
	}
	if (!list_choices(ctx, r, limit, &c))
		return false;
	width = (((size_t)c.longest + r->rest) / r->segment + 1) * 2 * r->segment;
	for (;; width *= 2) {
		width = width < whole ? width : whole;
		cells = (c.nslots + 1) * 2 * width;
		if (cells > SUM_CELLS)
			return true;
		sums = auc_oasis_memory(ctx, SUMS, cells, sizeof(*sums));
		if (!sums)
			return false;
		if (ctx->steps + 2 * sum_steps(&c, width) > ctx->limit) {
			ctx->cut = true;
			return true;
		}
		ctx->steps += 2 * sum_steps(&c, width);
		if (is_hopeless(ctx, &c, sums, width, r->rest, limit))
			return true;
		all = width == whole || c.reach < width / 2;
		if (!all && add_up(&c, sums, width, true, r->rest, limit) >= limit)
			return true;
		sum = add_up(&c, sums, width, false, r->rest, limit);
		if (sum < limit) {
			trace(ctx, &c, sums, width, r->rest);
			*any = true;
			limit = sum - OASIS_TIE * (r->cost + sum);
		}
		if (all || limit <= 0)
			return true;
	}
}

/* Steps to add up all choices once within WIDTH. */
static uint64_t sum_steps(const struct choices *c, size_t width)
{
	uint64_t n = 0;
	unsigned k;

	for (k = 0; k < c->nslots; k++)
		n += 4 + (k && c->slots[k].first == c->slots[k - 1].first ? 0 : c->slots[k].n);
	/* choices of all slots together: PARTS + 1 times, of WIDTH steps each */
	return width / 4 * (n + (PARTS + 1) * width / 4);
}

/* The options with an excess below LIMIT. False: no memory. */
static bool list_choices(struct auc_policy_ctx *ctx, const struct relaxed *r, double limit,
			 struct choices *c)
{
	size_t room = (size_t)(r->end - ctx->start0) * (ctx->pair.options + 1);
	struct free_slot *f;
	int64_t longest, step;
	unsigned slot, used = 0, i;

	ctx->steps += 2 * room;
	*c = (struct choices){
		.slots = auc_oasis_memory(ctx, FREE, r->end - ctx->start0, sizeof(*c->slots)),
		.list = auc_oasis_memory(ctx, CHOICES, room, sizeof(*c->list))};
	if (!c->slots || !c->list)
		return false;
	for (slot = ctx->start0; slot < r->end; slot++) {
		f = &c->slots[c->nslots];
		if (c->nslots && same_slot(ctx, f[-1].slot, slot)) {
			*f = f[-1];
		} else {
			f->first = used;
			f->corners = sort_choices(ctx, r, slot, limit, true, c->list + used);
			f->n = f->corners + sort_choices(ctx, r, slot, limit, false,
							 c->list + used + f->corners);
		}
		if (f->n == 1)
			continue;
		used = f->first + f->n;
		f->slot = slot;
		for (longest = 0, i = f->first; i < used; i++) {
			step = llabs(c->list[i].step);
			longest = step > longest ? step : longest;
		}
		c->reach += (uint64_t)longest;
		c->longest = longest > c->longest ? longest : c->longest;
		c->nslots++;
	}
	return true;
}

static bool same_slot(const struct auc_policy_ctx *ctx, unsigned a, unsigned b)
{
	return ctx->base[a] == ctx->base[b] && ctx->most[a] == ctx->most[b] &&
	       !memcmp(auc_oasis_cost_of(ctx, a), auc_oasis_cost_of(ctx, b),
		       ((size_t)ctx->most[a] + 1) * sizeof(double));
}

/* From there on one unit more costs more than one less saves. */
static bool is_corner(const double *cost, unsigned d, unsigned most)
{
	return !d || d == most ||
	       cost[d + 1] - cost[d] > cost[d] - cost[d - 1] + 8 * DBL_EPSILON * cost[d];
}

/* Lists the corners, the base first, or the other options, by ascending excess. Their number. */
static unsigned sort_choices(const struct auc_policy_ctx *ctx, const struct relaxed *r,
			     unsigned slot, double limit, bool corners, struct choice *list)
{
	const double *cost = auc_oasis_cost_of(ctx, slot);
	unsigned n = 0, fixed = corners, d, at;
	struct choice c;

	if (corners)
		list[n++] = (struct choice){0, 0};
	for (d = 0; d <= ctx->most[slot]; d++) {
		c.step = (int64_t)d - ctx->base[slot];
		c.excess = excess(ctx, r, slot, c.step);
		if (!c.step || c.excess >= limit || is_corner(cost, d, ctx->most[slot]) != corners)
			continue;
		for (at = n++; at > fixed && list[at - 1].excess > c.excess; at--)
			list[at] = list[at - 1];
		list[at] = c;
	}
	return n;
}

/*
 * True if there is no sum of excesses below LIMIT whose steps make REST. It is a relaxation beyond
 * that of add_up() with RING, and much faster where choices are many: below LIMIT are at most
 * PARTS - 1 choices of LIMIT / PARTS or more, and at most one that is no corner. Those are taken
 * from all slots together, whatever else is chosen there.
 */
static bool is_hopeless(struct auc_policy_ctx *ctx, const struct choices *c, double *sums,
			size_t width, size_t rest, double limit)
{
	double *corners = auc_oasis_memory(ctx, DEAR, 2 * width, sizeof(*corners)), *from = sums,
	       *to = sums + width, *others, *swap;
	bool settled = false;
	const struct choice *x;
	unsigned k, cheap;
	size_t i;

	if (!corners)
		return false;
	others = corners + width;
	for (i = 0; i < width; i++)
		from[i] = corners[i] = others[i] = limit; /* there is none */
	from[0] = 0;
	for (k = 0; k < c->nslots; k++) {
		const struct free_slot *f = &c->slots[k];
		bool again = k && f->first == f[-1].first;

		if (again && settled)
			continue;
		x = c->list + f->first;
		for (cheap = 1; cheap < f->corners && x[cheap].excess < limit / PARTS; cheap++)
			;
		if (!again) {
			keep_least(corners, width, x + cheap, f->corners - cheap);
			keep_least(others, width, x + f->corners, f->n - f->corners);
		}
		memcpy(to, from, width * sizeof(*to));
		add_choices(from, to, width, true, x + 1, cheap - 1);
		settled = !memcmp(from, to, width * sizeof(*to));
		swap = from;
		from = to;
		to = swap;
	}
	for (k = 1; k < PARTS; k++)
		add_least(&from, &to, corners, width, limit);
	add_least(&from, &to, others, width, limit);
	return from[rest % width] >= limit;
}

/* Of each step, modulo WIDTH, the least excess. */
static void keep_least(double *least, size_t width, const struct choice *x, unsigned n)
{
	for (; n--; x++) {
		size_t up = (size_t)(x->step < 0 ? x->step + (int64_t)width : x->step);

		least[up] = fmin(least[up], x->excess);
	}
}

/* One of LEAST more, or none: *TO becomes *FROM. */
static void add_least(double **from, double **to, const double *least, size_t width, double limit)
{
	double *sums = *from;
	size_t i;

	memcpy(*to, sums, width * sizeof(**to));
	for (i = 0; i < width; i++)
		if (least[i] < limit) {
			auc_oasis_lower(*to + i, sums, least[i], width - i);
			auc_oasis_lower(*to, sums + (width - i), least[i], i);
		}
	*from = *to;
	*to = sums;
}

/*
 * The least sum of excesses, one choice of each slot and at most one that is no corner, whose steps
 * make REST; all that is not below LIMIT is left out. SUMS: by number of slots, by whether one was
 * no corner, and by sum of steps + WIDTH / 2, those of less than that. RING: sums are taken
 * modulo WIDTH, and SUMS is for two numbers of slots.
 */
static double add_up(const struct choices *c, double *sums, size_t width, bool ring, size_t rest,
		     double limit)
{
	double *from = sums, *to = sums;
	const struct free_slot *f;
	bool settled = false; /* one more of the same choices changes nothing */
	const struct choice *x;
	unsigned k;
	size_t i;

	for (i = 0; i < 2 * width; i++)
		from[i] = limit; /* there is none */
	from[width / 2] = 0;
	for (k = 0; k < c->nslots; k++, from = to) {
		f = &c->slots[k];
		x = c->list + f->first;
		to = sums + (ring ? (k + 1) % 2 : k + 1) * 2 * width;
		memcpy(to, from, 2 * width * sizeof(*to));
		if (settled && f->first == f[-1].first)
			continue;
		add_choices(from, to, width, ring, x + 1, f->corners - 1);
		add_choices(from + width, to + width, width, ring, x + 1, f->corners - 1);
		add_choices(from, to + width, width, ring, x + f->corners, f->n - f->corners);
		settled = !memcmp(from, to, 2 * width * sizeof(*to));
	}
	i = (width / 2 + rest) % width;
	return fmin(from[i], from[width + i]);
}

/* Lowers TO to what comes of FROM and one of the choices, whose steps are less than WIDTH. */
static void add_choices(const double *from, double *to, size_t width, bool ring,
			const struct choice *x, unsigned n)
{
	unsigned k;
	size_t up;

	for (k = 0; k < n; k++) {
		/* modulo the width each step goes up */
		up = (size_t)(x[k].step < 0 ? x[k].step + (int64_t)width : x[k].step);
		if (ring || x[k].step > 0)
			auc_oasis_lower(to + up, from, x[k].excess, width - up);
		if (ring || x[k].step < 0)
			auc_oasis_lower(to, from + (width - up), x[k].excess, up);
	}
}

/* Sets ctx->trial to what makes REST. */
static void trace(struct auc_policy_ctx *ctx, const struct choices *c, const double *sums,
		  size_t width, size_t rest)
{
	const double *to = sums + c->nslots * 2 * width, *from;
	size_t at = width / 2 + rest, before;
	const struct choice *x, *corners;
	bool other = to[width + at] < to[at]; /* one is no corner */
	double sum = to[other * width + at];
	unsigned k, slot;

	memcpy(ctx->trial, ctx->base, ctx->nopen * sizeof(*ctx->trial));
	for (k = c->nslots; k--; at = before) {
		from = sums + k * 2 * width;
		x = c->list + c->slots[k].first;
		for (corners = x + c->slots[k].corners;; x++) {
			before = at - (size_t)x->step;
			if (before < width &&
			    from[(other && x < corners) * width + before] + x->excess == sum)
				break;
		}
		other = other && x < corners;
		sum = from[other * width + before];
		slot = c->slots[k].slot;
		ctx->trial[slot] = (unsigned)(ctx->trial[slot] + x->step);
	}
}
