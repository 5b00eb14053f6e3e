/*
 * gang_slots.c - which servers have room for a node of a gang, and what it costs on each, by slot:
 * see gang-private.h. These walk over all servers, several at a time.
 */
#include "config.h"

#include <string.h>

#include "policy/gang/gang-private.h"

#define NOT_OPEN 0x7f /* each byte of a slot index behind all of them */
_Static_assert(AUC_SLOTS_MAX < NOT_OPEN * 0x101, "slot indices and NOT_OPEN are apart");

typedef uint8_t bytes __attribute__((vector_size(16), aligned(1), may_alias));
typedef int8_t byte_masks __attribute__((vector_size(16)));
typedef int8_t byte_halves __attribute__((vector_size(8), aligned(1), may_alias));
typedef int16_t shorts __attribute__((vector_size(16), aligned(2), may_alias));
typedef double doubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t double_masks __attribute__((vector_size(32)));

static inline bool any(shorts mask);

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

unsigned auc_gang_count_open(struct auc_gang *g, unsigned start)
{
	shorts limit = {0}, count = {0};
	unsigned n = 0;

	limit += (int16_t)start;
	for (size_t s = 0; s < g->m->stride; s += 8)
		count -= *(const shorts *)(g->open + s) <= limit;
	for (unsigned i = 0; i < 8; i++)
		n += (unsigned)count[i];
	g->steps += g->m->stride / 16;
	return n;
}

unsigned auc_gang_gather(struct auc_gang *g, const struct choice *c, unsigned end,
			 const int16_t *open, const double *before, const double *after)
{
	const struct kind *k = &g->kinds[c->kind];
	shorts limit = {0};
	unsigned n = 0;

	if (!k->plain) {
		g->steps += end - c->first;
		for (unsigned j = c->first; j < end; j++) {
			uint32_t s = k->list[j], at = auc_gang_priced_at(g->m, s);

			g->places[n] = s;
			g->window[n] = after[at] - before[at];
			n += open[s] <= (int)c->start;
		}
		return n;
	}
	limit += (int16_t)c->start;
	for (unsigned first = 0; first < g->m->stride; first += 8) {
		shorts is_free = *(const shorts *)(open + first) <= limit;

		for (unsigned i = 0; i < 8 && any(is_free); i++) {
			g->places[n] = first + i;
			g->window[n] = after[first + i] - before[first + i];
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

void auc_gang_add_lowest(struct auc_gang *g, const struct kind *k, unsigned slot)
{
	const double *lowest = g->m->lowest + (size_t)slot * g->m->ntres;
	unsigned at = slot - g->start0;
	double price = 0;

	for (unsigned i = 0; i < k->nused && g->priced; i++)
		price += lowest[k->used[i]] * k->amount[i];
	g->lowest[at + 1] = g->lowest[at] + (price < g->cap ? price : g->cap);
}

void auc_gang_add_until(struct auc_gang *g, const struct kind *k, unsigned start,
			unsigned completion)
{
	if (start < g->low || start > g->high || g->low == g->high) {
		g->low = g->high = start;
		memset(g->sums + (size_t)(start - g->start0) * g->nservers, 0,
		       g->m->nservers * sizeof(*g->sums));
	}
	while (g->high < completion) {
		const double *sum = g->sums + (size_t)(g->high - g->start0) * g->nservers;

		auc_gang_add_prices(g, k, g->high++, sum, (double *)sum + g->nservers);
	}
}

/* TO is FROM and what a node costs on each server in SLOT. NUSED is k->nused, for the compiler. */
static inline __attribute__((always_inline)) void pass(const struct auc_gang *g,
						       const struct kind *k, unsigned slot,
						       const double *from, double *to,
						       unsigned nused)
{
	const struct auc_market *m = g->m;
	const double *unit = m->unit_price + auc_units(m, slot, 0);
	const double *of[AUC_TRES_MAX];
	doubles cap = {0};
	unsigned s = 0;

	cap += g->cap;
	for (unsigned i = 0; i < nused; i++)
		of[i] = unit + (size_t)k->used[i] * m->nservers;
	for (; s + 4 <= m->nservers; s += 4) {
		doubles price = {0};
		double_masks low;

		for (unsigned i = 0; i < nused; i++)
			price += *(const doubles *)(of[i] + s) * k->amount[i];
		low = price < cap;
		price = (doubles)(((double_masks)price & low) | ((double_masks)cap & ~low));
		*(doubles *)(to + s) = *(const doubles *)(from + s) + price;
	}
	for (; s < m->nservers; s++) {
		double price = 0;

		for (unsigned i = 0; i < nused; i++)
			price += of[i][s] * k->amount[i];
		to[s] = from[s] + (price < g->cap ? price : g->cap);
	}
}

void auc_gang_add_prices(struct auc_gang *g, const struct kind *k, unsigned slot,
			 const double *from, double *to)
{
	g->steps += (uint64_t)g->m->nservers * (1 + k->nused) / 2;
	if (k->nused == 1)
		pass(g, k, slot, from, to, 1);
	else if (k->nused == 2)
		pass(g, k, slot, from, to, 2);
	else if (k->nused == 3)
		pass(g, k, slot, from, to, 3);
	else
		pass(g, k, slot, from, to, k->nused);
}
