/*
 * gang_slots.c - which servers have room for a node of a gang, and what it costs on each, by slot:
 * see gang-private.h. These walk over all servers, several at a time.
 */
#include "config.h"

#include <limits.h>
#include <string.h>

#include "policy/gang/gang-private.h"

#define NOT_OPEN 0x7f /* each byte of a slot index behind all of them */
_Static_assert(AUC_SLOTS_MAX < NOT_OPEN * 0x101, "slot indices and NOT_OPEN are apart");

typedef uint8_t bytes __attribute__((vector_size(16), aligned(1), may_alias));
typedef int8_t byte_masks __attribute__((vector_size(16)));
typedef int8_t byte_halves __attribute__((vector_size(8), aligned(1), may_alias));
typedef int16_t shorts __attribute__((vector_size(16), aligned(2), may_alias));
typedef double doubles __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t double_masks __attribute__((vector_size(16)));

static inline bool any(shorts mask);
static void sum_up(struct auc_gang *g, const struct choice *c, unsigned eight, bool anew,
		   double sum[8]);
static void add_prices(struct auc_gang *g, const struct kind *k, unsigned eight, unsigned slot,
		       const double *from, double *to);
static inline void add_capped(const double *from, doubles price, doubles cap, double *to);

void auc_gang_begin_open(const struct auc_gang *g, const struct kind *k, int16_t *open)
{
	memset(open, NOT_OPEN, g->m->stride * sizeof(*open));
	for (unsigned j = 0; j < k->nlist; j++)
		open[k->list[j]] = (int16_t)g->ready[k->list[j]];
}

void auc_gang_glance(struct auc_gang *g, const struct kind *k, unsigned slot, int16_t *open)
{
	const struct auc_market *m = g->m;
	const uint8_t *full = m->full + (size_t)slot * m->ntres * m->stride;
	const uint8_t *closed = m->closed ? m->closed + (size_t)slot * m->nservers : NULL;
	shorts later = {0};

	g->steps += m->stride / 8 + 8;
	later += (int16_t)(slot + 1);
	for (size_t s = 0; s < m->stride; s += 16) {
		byte_masks fits = {0};

		fits = ~fits;
		for (unsigned i = 0; i < k->nused; i++)
			fits &= *(const bytes *)(full + k->used[i] * m->stride + s) <=
				*(const bytes *)(k->most + i * m->stride + s);
		for (unsigned half = 0; half < 2; half++) {
			shorts *to = (shorts *)(open + s + 8 * half), now = *to, stay;

			stay = __builtin_convertvector(((byte_halves *)&fits)[half], shorts);
			stay |= now > later; /* a server that is ready later stays so */
			*to = (now & stay) | (later & ~stay);
		}
	}
	for (unsigned s = 0; s < m->nservers && closed; s++)
		if (closed[s] && open[s] <= (int)slot)
			open[s] = (int16_t)(slot + 1);
}

void auc_gang_begin_sure(struct auc_gang *g, unsigned kind)
{
	g->sure_kind = kind;
	for (unsigned s = 0; s < g->m->nservers; s++)
		g->sure[s] = (struct span){1, 0};
}

bool auc_gang_is_sure(struct auc_gang *g, const struct kind *k, uint32_t server, unsigned start,
		      unsigned end, int16_t *open)
{
	const struct auc_market *m = g->m;
	const int64_t *room = k->room + (size_t)server * k->nused;
	struct span *sure = &g->sure[server];
	bool known = start >= sure->from && start <= sure->to;

	for (unsigned t = end, low = known ? sure->to : start; t > low && k->any_coarse;) {
		const int64_t *used = m->used + auc_cell(m, --t, server) * m->ntres;
		const uint8_t *full = m->full + (size_t)t * m->ntres * m->stride + server;

		g->steps += 2;
		for (unsigned i = 0; i < k->nused; i++)
			if (k->coarse[i] &&
			    full[k->used[i] * m->stride] == k->most[i * m->stride + server] &&
			    used[k->used[i]] > room[i]) {
				open[server] = (int16_t)(t + 1);
				return false;
			}
	}
	if (!known)
		*sure = (struct span){start, end};
	else if (end > sure->to)
		sure->to = end;
	return true;
}

unsigned auc_gang_count_open(struct auc_gang *g, const int16_t *open, size_t n, unsigned start)
{
	shorts limit = {0}, count = {0};
	unsigned found = 0;
	size_t s = 0;

	limit += (int16_t)start;
	for (; s + 8 <= n; s += 8)
		count -= *(const shorts *)(open + s) <= limit;
	for (unsigned i = 0; i < 8; i++)
		found += (unsigned)count[i];
	for (; s < n; s++)
		found += open[s] <= (int)start;
	g->steps += n / 16;
	return found;
}

void auc_gang_add_lowest(struct auc_gang *g, const struct kind *k, unsigned slot)
{
	const double *lowest = g->m->lowest + (size_t)slot * g->m->ntres;
	unsigned at = slot - g->start0;
	double price = 0;

	for (unsigned i = 0; i < k->nused && g->priced; i++)
		price += lowest[k->used[i]] * k->amount[i];
	g->lowest[at + 1] = g->lowest[at] + (price < g->cap ? price : g->cap);
}

void auc_gang_begin_sums(struct auc_gang *g)
{
	for (unsigned eight = 0; eight <= g->m->nservers / 8; eight++)
		g->summed[eight] = (struct span){1, 0};
}

unsigned auc_gang_gather(struct auc_gang *g, const struct choice *c, unsigned end,
			 const int16_t *open, bool anew)
{
	const struct kind *k = &g->kinds[c->kind];
	unsigned n = 0, eight = UINT_MAX;
	shorts limit = {0};
	double sum[8];

	if (!k->plain) {
		g->steps += end - c->first;
		for (unsigned j = c->first; j < end; j++) {
			uint32_t s = k->list[j], at = auc_gang_priced_at(g->m, s);

			if (open[s] > (int)c->start)
				continue;
			if (at / 8 != eight)
				sum_up(g, c, eight = at / 8, anew, sum);
			g->places[n] = s;
			g->costs[n++] = sum[at % 8];
		}
		return n;
	}
	limit += (int16_t)c->start;
	for (eight = 0; eight < g->m->stride / 8; eight++) {
		shorts is_free = *(const shorts *)(open + 8 * eight) <= limit;

		if (!any(is_free))
			continue;
		sum_up(g, c, eight, anew, sum);
		for (unsigned i = 0; i < 8; i++) {
			g->places[n] = 8 * eight + i;
			g->costs[n] = sum[i];
			n += is_free[i] & 1;
		}
	}
	g->steps += g->m->stride / 16 + n;
	return n;
}

static inline bool any(shorts mask)
{
	union {
		shorts mask;
		uint64_t halves[2];
	} u = {mask};

	return u.halves[0] | u.halves[1];
}

/* What a node costs in the window of C on each of the servers of EIGHT; as auc_gang_gather(). */
static void sum_up(struct auc_gang *g, const struct choice *c, unsigned eight, bool anew,
		   double sum[8])
{
	const struct kind *k = &g->kinds[c->kind];
	double *sums = g->sums + 8 * eight;
	struct span *summed = &g->summed[eight];

	memset(sum, 0, 8 * sizeof(*sum));
	if (!g->priced)
		return;
	if (anew) {
		for (unsigned t = c->start; t < c->completion; t++)
			add_prices(g, k, eight, t, sum, sum);
		return;
	}
	if (c->start < summed->from || c->start > summed->to) {
		memset(sums + (size_t)c->start * g->nservers, 0, 8 * sizeof(*sum));
		summed->from = summed->to = (uint16_t)c->start;
	}
	for (; summed->to < c->completion; summed->to++) {
		double *from = sums + (size_t)summed->to * g->nservers;

		add_prices(g, k, eight, summed->to, from, from + g->nservers);
	}
	for (unsigned i = 0; i < 8; i++)
		sum[i] = sums[(size_t)c->completion * g->nservers + i] -
			 sums[(size_t)c->start * g->nservers + i];
}

/* TO is FROM and what a node costs in SLOT on each of the servers of EIGHT. */
static void add_prices(struct auc_gang *g, const struct kind *k, unsigned eight, unsigned slot,
		       const double *from, double *to)
{
	const struct auc_market *m = g->m;
	const double *unit = m->unit_price + auc_units(m, slot, 8 * eight);
	unsigned n = m->nservers - 8 * eight;
	doubles cap = {g->cap, g->cap}, price[4] = {{0}, {0}, {0}, {0}};

	g->steps += 4 + 4 * k->nused;
	if (n < 8) {
		for (unsigned s = 0; s < n; s++) {
			double alone = 0;

			for (unsigned i = 0; i < k->nused; i++)
				alone += unit[(size_t)k->used[i] * m->nservers + s] * k->amount[i];
			to[s] = from[s] + (alone < g->cap ? alone : g->cap);
		}
		return;
	}
	for (unsigned i = 0; i < k->nused; i++) {
		const doubles *of = (const doubles *)(unit + (size_t)k->used[i] * m->nservers);
		doubles amount = {k->amount[i], k->amount[i]};

		/* As a loop, gcc keeps them in memory. */
		price[0] += of[0] * amount;
		price[1] += of[1] * amount;
		price[2] += of[2] * amount;
		price[3] += of[3] * amount;
	}
	add_capped(from, price[0], cap, to);
	add_capped(from + 2, price[1], cap, to + 2);
	add_capped(from + 4, price[2], cap, to + 4);
	add_capped(from + 6, price[3], cap, to + 6);
}

/* TO is FROM and PRICE, at most CAP each. */
static inline void add_capped(const double *from, doubles price, doubles cap, double *to)
{
	double_masks low = price < cap;

	price = (doubles)(((double_masks)price & low) | ((double_masks)cap & ~low));
	*(doubles *)to = *(const doubles *)from + price;
}
