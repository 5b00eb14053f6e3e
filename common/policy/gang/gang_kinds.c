/* gang_kinds.c - when a gang may start, and which shapes and servers it has: see gang-private.h. */
#include "config.h"

#include <string.h>

#include "policy/gang/gang-private.h"

static void order_servers(struct auc_gang *g);
static void add_kinds(struct auc_gang *g);
static void add_kind(struct auc_gang *g, const struct auc_shape *shape);
static void find_switches(const struct auc_gang *g, struct kind *k);

void auc_gang_set_up(struct auc_gang *g, auc_slot not_before)
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
	k->list = g->lists + base;
	k->ends = g->ends + base;
	k->room = g->rooms + base * g->ntres;
	for (const uint32_t *s = g->order; *s != UINT32_MAX; s++) {
		const struct auc_server *server = &m->servers[*s];
		int64_t *room = k->room + (size_t)*s * k->nused;
		bool fits = true;

		for (unsigned i = 0; i < k->nused; i++) {
			room[i] = server->units[k->used[i]] - shape->units[k->used[i]];
			fits = fits && room[i] >= 0;
		}
		fits = fits && auc_shape_holds(m, *s, g->job, shape);
		if (!fits)
			continue;
		k->list[k->nlist++] = *s;
	}
	k->most = g->mosts + (size_t)g->nkinds * g->ntres * (g->nservers + 15);
	k->plain = !g->within_switch;
	for (unsigned j = 0; j < k->nlist; j++) {
		uint32_t s = k->list[j];

		k->plain = k->plain && auc_gang_priced_at(m, s) == s;
		for (unsigned i = 0; i < k->nused; i++) {
			int64_t room = k->room[(size_t)s * k->nused + i];
			int64_t capacity = m->servers[s].units[k->used[i]];

			k->most[i * m->stride + s] = (uint8_t)(room * 255 / capacity);
			k->coarse[i] |= capacity > 255; /* else no two amounts are as full */
			k->any_coarse |= capacity > 255;
		}
	}
	find_switches(g, k);
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

/* All servers are on one if switches do not matter. */
static void find_switches(const struct auc_gang *g, struct kind *k)
{
	for (unsigned j = 0, first = 0; j < k->nlist; j++) {
		if (g->within_switch &&
		    auc_market_switch(g->m, k->list[j]) != auc_market_switch(g->m, k->list[first]))
			first = j;
		k->ends[first] = j + 1;
	}
}
