/* posted_place.c - placements PA and UPA, and how long a placed job takes: see posted-private.h. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/posted/posted-private.h"

/* Servers that are picked by looking through all of them; more than these come out of a heap. */
#define PICKS_MAX 12

#define COUNT_BITS 21 /* of a key: no server is taken to hold more than AUC_FIT_MAX = 2^20 */
#define INDEX_BITS (64 - 2 * COUNT_BITS)
#define INDEX_MASK ((1U << INDEX_BITS) - 1)

/* Servers in the order of a placement: as far as l->order has them they are known, the others are
 * found by key as they are asked for. */
struct order {
	struct auc_posted_layout *l;
	const struct auc_posted_room *room;
	unsigned known;
};

static int64_t total(const int32_t *idle, unsigned n);
static int find_one(const struct auc_posted_room *room, const struct auc_posted_ask *ask);
static int32_t most_where(const int32_t *values, const int32_t *others, int32_t low, int32_t high,
			  unsigned n);
static int32_t ps_beside(const struct auc_posted_room *room, unsigned server, unsigned workers);
static bool enough(const struct auc_posted_room *room, const struct auc_posted_ask *ask);
static bool place(struct order *o,
		  bool (*put)(struct order *o, int kind, const int32_t *idle, unsigned n),
		  const struct auc_posted_ask *ask);
static void make_keys(struct auc_posted_layout *l, const struct auc_posted_room *room);
static unsigned order_at(struct order *o, unsigned i);
static uint64_t highest(const uint64_t *key, unsigned n);
static void sift(uint64_t *heap, unsigned n, unsigned i, uint64_t key);
static bool fill(struct order *o, int kind, const int32_t *idle, unsigned n);
static bool spread(struct order *o, int kind, const int32_t *idle, unsigned n);
static void look_at_ps(struct auc_posted_layout *l, const struct auc_posted_room *room);
static void make_shares(struct auc_posted_layout *l, const struct order *o);

enum auc_code auc_posted_layout_open(struct auc_posted_layout *l, unsigned nservers,
				     struct auc_err *err)
{
	size_t n = (size_t)nservers + 1;

	auc_posted_layout_clear(l);
	l->shares = calloc(n, sizeof(*l->shares));
	l->key = calloc(n, sizeof(*l->key));
	l->order = calloc(n, sizeof(*l->order));
	l->sorted = calloc(n, sizeof(*l->sorted));
	l->ps_idle = calloc(n, sizeof(*l->ps_idle));
	l->count[0] = calloc(n, sizeof(*l->count[0]));
	l->count[1] = calloc(n, sizeof(*l->count[1]));
	l->nservers = nservers;
	if (l->shares && l->key && l->order && l->sorted && l->ps_idle && l->count[0] &&
	    l->count[1])
		return AUC_OK;
	auc_posted_layout_clear(l);
	return auc_err_set(err, AUC_ENOMEM, "no memory for a placement among %u servers", nservers);
}

void auc_posted_layout_clear(struct auc_posted_layout *l)
{
	free(l->shares);
	free(l->key);
	free(l->order);
	free(l->sorted);
	free(l->ps_idle);
	free(l->count[0]);
	free(l->count[1]);
	memset(l, 0, sizeof(*l));
}

bool auc_posted_place(struct auc_posted_layout *l, unsigned how, const struct auc_posted_room *room,
		      const struct auc_posted_ask *ask, uint64_t luck)
{
	const unsigned *d = ask->count;
	struct order o = {.l = l, .room = room};
	int one;

	(void)luck;
	l->n = 0;
	if (!enough(room, ask))
		return false;
	one = find_one(room, ask);
	if (one >= 0) {
		l->shares[l->n++] =
			(struct auc_share){(unsigned)one, d[AUC_POSTED_WORKER], d[AUC_POSTED_PS]};
		return true;
	}
	make_keys(l, room);
	return place(&o, how == AUC_POSTED_UPA ? spread : fill, ask);
}

bool auc_posted_fill(struct auc_posted_layout *l, const struct auc_posted_room *room,
		     const struct auc_posted_ask *ask)
{
	struct order o = {.l = l, .room = room, .known = room->nservers};

	l->n = 0;
	return enough(room, ask) && place(&o, fill, ask);
}

/* False: ASK is more than all servers have. */
static bool enough(const struct auc_posted_room *room, const struct auc_posted_ask *ask)
{
	return total(room->idle[AUC_POSTED_WORKER], room->nservers) >=
		       ask->count[AUC_POSTED_WORKER] &&
	       total(room->idle[AUC_POSTED_PS], room->nservers) >= ask->count[AUC_POSTED_PS];
}

/* Workers of ASK, and then PSs, go to servers of O as PUT has it. */
static bool place(struct order *o,
		  bool (*put)(struct order *o, int kind, const int32_t *idle, unsigned n),
		  const struct auc_posted_ask *ask)
{
	const struct auc_posted_room *room = o->room;
	const int32_t *ps_idle = room->idle[AUC_POSTED_PS];
	struct auc_posted_layout *l = o->l;
	bool fits = put(o, AUC_POSTED_WORKER, room->idle[AUC_POSTED_WORKER],
			ask->count[AUC_POSTED_WORKER]);

	if (fits && room->beside) {
		look_at_ps(l, room);
		ps_idle = l->ps_idle;
	}
	fits = fits && put(o, AUC_POSTED_PS, ps_idle, ask->count[AUC_POSTED_PS]);
	make_shares(l, o);
	if (!fits)
		l->n = 0;
	return fits;
}

double auc_posted_seconds(const struct auc_posted_ask *ask, const struct auc_posted_speed *speed,
			  const struct auc_share *shares, unsigned n)
{
	double h = speed->bandwidth[AUC_POSTED_WORKER], H = speed->bandwidth[AUC_POSTED_PS], b;
	unsigned dk = ask->count[AUC_POSTED_WORKER], dm = ask->count[AUC_POSTED_PS], i;
	double exchange = 16 * ask->gradient_mb; /* Mbit, there and back */

	if (n == 1)
		return ask->epochs * ask->seconds;
	if (!speed->dynamic)
		return ask->epochs * (ask->seconds + exchange / fmin(h, H / dk));
	b = INFINITY;
	for (i = 0; i < n; i++) {
		if (shares[i].workers && shares[i].ps < dm)
			b = fmin(b, h / (dm - shares[i].ps));
		if (shares[i].ps && shares[i].workers < dk)
			b = fmin(b, H / (dk - shares[i].workers));
	}
	return ask->epochs * (ask->seconds + exchange / (dm * b));
}

int64_t auc_posted_slots(double seconds, double slot_seconds)
{
	int64_t slots = auc_ceil(seconds / slot_seconds);

	return slots > 1 ? slots : 1;
}

AUC_VECTORIZED static int64_t total(const int32_t *idle, unsigned n)
{
	int64_t sum = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sum += idle[i];
	return sum;
}

/* The first server in PA's order that holds all, or -1. */
static int find_one(const struct auc_posted_room *room, const struct auc_posted_ask *ask)
{
	const int32_t *w = room->idle[AUC_POSTED_WORKER], *p = room->idle[AUC_POSTED_PS];
	int32_t dk = (int32_t)ask->count[AUC_POSTED_WORKER],
		dm = (int32_t)ask->count[AUC_POSTED_PS], most, ps;
	int best = -1;
	unsigned s;

	if (!room->beside) {
		most = most_where(w, p, dm, INT32_MAX, room->nservers);
		if (most < dk)
			return -1;
		ps = most_where(p, w, most, most, room->nservers);
		for (s = 0; w[s] != most || p[s] != ps; s++)
			;
		return (int)s;
	}
	for (s = 0; s < room->nservers; s++) {
		if (w[s] < dk || p[s] < dm)
			continue;
		if (best >= 0 && (w[s] < w[best] || (w[s] == w[best] && p[s] <= p[best])))
			continue;
		if (ps_beside(room, s, (unsigned)dk) >= dm)
			best = (int)s;
	}
	return best;
}

/* The highest of N VALUES, none below 0, where OTHERS are LOW to HIGH; else -1. */
AUC_VECTORIZED static int32_t most_where(const int32_t *values, const int32_t *others, int32_t low,
					 int32_t high, unsigned n)
{
	int32_t most = -1, value, within;
	unsigned i;

	for (i = 0; i < n; i++) {
		within = -(int32_t)((others[i] >= low) & (others[i] <= high));
		value = (values[i] & within) | ~within; /* no branch: vectors are made of it */
		most = value > most ? value : most;
	}
	return most;
}

static int32_t ps_beside(const struct auc_posted_room *room, unsigned server, unsigned workers)
{
	return room->beside && workers ? room->beside(room, server, workers)
				       : room->idle[AUC_POSTED_PS][server];
}

static void make_keys(struct auc_posted_layout *l, const struct auc_posted_room *room)
{
	const int32_t *w = room->idle[AUC_POSTED_WORKER], *p = room->idle[AUC_POSTED_PS];

	for (unsigned i = 0; i < room->nservers; i++)
		l->key[i] = (uint64_t)(uint32_t)w[i] << (COUNT_BITS + INDEX_BITS) |
			    (uint64_t)(uint32_t)p[i] << INDEX_BITS | (INDEX_MASK - i);
}

/*
 * The I-th server; each call asks for one that is known, or for the next. The first ones are
 * picked, and their keys then 0; more of them come out of a heap of the others.
 */
static unsigned order_at(struct order *o, unsigned i)
{
	struct auc_posted_layout *l = o->l;
	unsigned n = o->room->nservers, k, s;

	if (i < o->known)
		return l->order[i];
	for (k = n / 2; i == PICKS_MAX && k > 0; k--)
		sift(l->key, n, k - 1, l->key[k - 1]);
	if (i < PICKS_MAX) {
		s = INDEX_MASK - (unsigned)(highest(l->key, n) & INDEX_MASK);
		l->key[s] = 0;
	} else {
		s = INDEX_MASK - (unsigned)(l->key[0] & INDEX_MASK);
		sift(l->key, n, 0, 0);
	}
	l->order[i] = s;
	o->known = i + 1;
	return s;
}

/* The highest of N keys; in four rows, so that none waits for the one before it. */
static uint64_t highest(const uint64_t *key, unsigned n)
{
	uint64_t most[4] = {0};
	unsigned i, k;

	for (i = 0; i + 4 <= n; i += 4)
		for (k = 0; k < 4; k++)
			most[k] = key[i + k] > most[k] ? key[i + k] : most[k];
	for (; i < n; i++)
		most[0] = key[i] > most[0] ? key[i] : most[0];
	for (k = 1; k < 4; k++)
		most[0] = most[k] > most[0] ? most[k] : most[0];
	return most[0];
}

/* Puts KEY at I of a heap of N, the highest first, or below. */
static void sift(uint64_t *heap, unsigned n, unsigned i, uint64_t key)
{
	unsigned child;

	while ((child = 2 * i + 1) < n) {
		child += child + 1 < n && heap[child + 1] > heap[child];
		if (heap[child] <= key)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = key;
}

/* Servers in order, each as full as it gets. */
static bool fill(struct order *o, int kind, const int32_t *idle, unsigned n)
{
	unsigned i, s, take;

	for (i = 0; i < o->room->nservers && n; i++) {
		s = order_at(o, i);
		take = idle[s] < (int32_t)n ? (unsigned)(idle[s] > 0 ? idle[s] : 0) : n;
		o->l->count[kind][s] = take;
		n -= take;
	}
	return !n;
}

static int compare_idle(const void *a, const void *b, void *arg)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const int32_t *idle = arg;

	if (idle[i] != idle[j])
		return idle[i] < idle[j] ? -1 : 1;
	return (i < j) - (i > j);
}

/* The shortest prefix that holds N: the scarcest server first gets its share of what is left, or
 * all it has. */
static bool spread(struct order *o, int kind, const int32_t *idle, unsigned n)
{
	uint32_t *sorted = o->l->sorted;
	unsigned c = 0, i, share;
	int64_t total = 0;

	while (total < (int64_t)n && c < o->room->nservers) {
		sorted[c] = order_at(o, c);
		total += idle[sorted[c++]];
	}
	if (total < (int64_t)n)
		return false;
	qsort_r(sorted, c, sizeof(*sorted), compare_idle, (void *)idle);
	for (i = 0; i < c; i++) {
		share = n / (c - i);
		if (idle[sorted[i]] < (int32_t)share)
			share = (unsigned)idle[sorted[i]];
		o->l->count[kind][sorted[i]] = share;
		n -= share;
	}
	return true;
}

/* What is left for PSs beside the workers. */
static void look_at_ps(struct auc_posted_layout *l, const struct auc_posted_room *room)
{
	unsigned s;

	for (s = 0; s < room->nservers; s++)
		l->ps_idle[s] = ps_beside(room, s, l->count[AUC_POSTED_WORKER][s]);
}

/* Writes down what the servers of O got, ascending, and forgets it. */
static void make_shares(struct auc_posted_layout *l, const struct order *o)
{
	unsigned i, k, s, *workers = l->count[AUC_POSTED_WORKER], *ps = l->count[AUC_POSTED_PS];

	for (i = 0; i < o->known; i++) {
		s = l->order[i];
		if (!workers[s] && !ps[s])
			continue;
		for (k = l->n++; k && l->shares[k - 1].server > s; k--)
			l->shares[k] = l->shares[k - 1];
		l->shares[k] = (struct auc_share){s, workers[s], ps[s]};
		workers[s] = ps[s] = 0;
	}
}
