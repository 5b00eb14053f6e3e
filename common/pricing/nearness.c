/* nearness.c - see nearness.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricing/nearness.h"
#include "market/timeline.h"
#include "market/cells.h"

/* Of one partition. */
struct group {
	unsigned plans;
	auc_slot first; /* least slots ahead */
	double slots;   /* of all plans together */
	bool seen;      /* in the plan at hand */
};

struct auc_nearness {
	unsigned servers, ngroups;
	unsigned *group_of; /* by server */
	struct group *groups;
};

static unsigned list_groups(const struct auc_market *m, unsigned *group_of);

struct auc_nearness *auc_nearness_create(const struct auc_market *m)
{
	struct auc_nearness *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->servers = auc_market_nservers(m);
	a->group_of = calloc((size_t)a->servers + 1, sizeof(*a->group_of));
	a->ngroups = a->group_of ? list_groups(m, a->group_of) : 0;
	a->groups = calloc((size_t)a->ngroups + 1, sizeof(*a->groups));
	if (a->group_of && a->groups)
		return a;
	auc_nearness_destroy(a);
	return NULL;
}

void auc_nearness_destroy(struct auc_nearness *a)
{
	if (!a)
		return;
	free(a->group_of);
	free(a->groups);
	free(a);
}

/* Numbers the partitions; returns how many there are. Servers of one mostly follow each other. */
static unsigned list_groups(const struct auc_market *m, unsigned *group_of)
{
	unsigned n = 0;

	for (unsigned s = 0; s < auc_market_nservers(m); s++) {
		const char *name = auc_market_server_group(m, s);
		unsigned k = s;

		while (k && strcmp(auc_market_server_group(m, k - 1), name) != 0)
			k--;
		group_of[s] = k ? group_of[k - 1] : n++;
	}
	return n;
}

void auc_nearness_add(struct auc_nearness *a, const struct auc_plan *plan)
{
	auc_slot first = plan->start - plan->arrival;

	for (unsigned g = 0; g < a->ngroups; g++)
		a->groups[g].seen = false;
	for (const struct auc_share *s = plan->shares; s < plan->shares + plan->nshares; s++) {
		struct group *g;

		if (s->server >= a->servers || (g = &a->groups[a->group_of[s->server]])->seen)
			continue;
		g->seen = true;
		g->first = g->plans && g->first < first ? g->first : first;
		g->slots += (double)(plan->completion - plan->start);
		g->plans++;
	}
}

double auc_nearness_share(const struct auc_nearness *a, unsigned server, auc_slot n)
{
	const struct group *g = &a->groups[a->group_of[server]];

	if (g->plans < AUC_NEARNESS_PLANS)
		return 1;
	return fmin(fmax((double)(n - g->first + 1) * g->plans / g->slots, AUC_NEARNESS_LEAST), 1);
}

void auc_nearness_discount(const struct auc_nearness *a, struct auc_market *m, auc_slot now)
{
	for (unsigned t = 0; t < m->slots; t++)
		for (unsigned s = 0; s < m->nservers; s++) {
			double share = auc_nearness_share(a, s, m->first + t - now);

			for (unsigned k = 0; k < m->ntres; k++)
				m->unit_price[auc_units(m, t, s) + (size_t)k * m->nservers] *=
					share;
		}
	m->given = true;
	auc_cells_refresh_lowest(m);
	auc_cells_refresh_all(m);
}
