/* posted_gang.c - see posted_gang.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "market/timeline.h"
#include "policy/gang/gang.h"
#include "policy/posted/posted_gang.h"

#define PARTS 8.0 /* of the largest server, a unit */

struct auc_posted_gangs {
	struct auc_gang *search;
	const struct auc_posted_pricing *pricing;
	struct auc_posted_terms terms;
	void *self; /* what the pricing knows; NULL: no market was seen */
	char names[AUC_TRES_MAX][AUC_NAME_MAX];
	double unit[AUC_TRES_MAX];
};

static enum auc_code prepare(struct auc_posted_gangs *g, const struct auc_market *m,
			     struct auc_err *err);
static bool same_tres(const struct auc_posted_gangs *g, const struct auc_market *m);
static void measure(struct auc_posted_gangs *g, const struct auc_market *m);
static void make_offer(const struct auc_posted_gangs *g, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_shape *shape, auc_slot start,
		       struct auc_posted_offer *offer);

struct auc_posted_gangs *auc_posted_gangs_create(const struct auc_posted_pricing *pricing,
						 const struct auc_posted_terms *terms)
{
	struct auc_posted_gangs *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->pricing = pricing;
	g->terms = *terms;
	g->search = auc_gang_create();
	if (g->search)
		return g;
	free(g);
	return NULL;
}

void auc_posted_gangs_destroy(struct auc_posted_gangs *g)
{
	if (!g)
		return;
	if (g->self)
		g->pricing->destroy(g->self);
	auc_gang_destroy(g->search);
	free(g);
}

enum auc_code auc_posted_gangs_quote(struct auc_posted_gangs *g, const struct auc_market *m,
				     const struct auc_job *job, struct auc_decision *decision,
				     struct auc_err *err)
{
	struct auc_posted_offer offer;
	enum auc_code rc = prepare(g, m, err);

	if (rc == AUC_OK)
		rc = auc_gang_quote(g->search, m, job, AUC_GANG_EARLIEST, job->arrival, decision,
				    err);
	if (rc != AUC_OK || !decision->accepted)
		return rc;
	make_offer(g, m, job, &job->shapes[decision->plan.shape], decision->plan.start, &offer);
	g->pricing->offer(g->self, &offer);
	decision->offered = true;
	decision->plan.cost = 0;
	for (unsigned kind = 0; kind < AUC_POSTED_KINDS; kind++) {
		decision->plan.cost += offer.price[kind] * offer.ask.count[kind];
		decision->idle[kind] = offer.idle[kind];
	}
	decision->plan.cost = fmax(decision->plan.cost, auc_plan_floor(&decision->plan, m));
	decision->offer[AUC_POSTED_WORKER] = decision->plan.cost;
	decision->offer[AUC_POSTED_PS] = 0;
	return AUC_OK;
}

void auc_posted_gangs_answered(struct auc_posted_gangs *g, const struct auc_market *m,
			       const struct auc_job *job, const struct auc_decision *decision,
			       bool accepted)
{
	struct auc_posted_offer offer;

	if (!g->self || !same_tres(g, m) || !g->pricing->answered)
		return;
	make_offer(g, m, job, &job->shapes[decision->offered ? decision->plan.shape : 0],
		   decision->offered ? decision->plan.start : job->arrival, &offer);
	offer.price[AUC_POSTED_WORKER] =
		decision->offer[AUC_POSTED_WORKER] / offer.ask.count[AUC_POSTED_WORKER];
	for (unsigned kind = 0; kind < AUC_POSTED_KINDS && decision->offered; kind++)
		offer.idle[kind] = decision->idle[kind];
	g->pricing->answered(g->self, &offer, decision->offered, accepted);
}

/* What the market has today; a pricing is made anew only where the TRES are others. */
static enum auc_code prepare(struct auc_posted_gangs *g, const struct auc_market *m,
			     struct auc_err *err)
{
	if (g->self && same_tres(g, m)) {
		measure(g, m);
		return AUC_OK;
	}
	if (g->self)
		g->pricing->destroy(g->self);
	g->self = NULL;
	g->terms.slots = m->slots;
	g->terms.first = m->first;
	g->terms.ntypes[AUC_POSTED_WORKER] = m->ntres;
	g->terms.ntypes[AUC_POSTED_PS] = 1;
	for (unsigned k = 0; k < m->ntres; k++)
		memcpy(g->names[k], m->tres[k].name, AUC_NAME_MAX);
	measure(g, m);
	return g->pricing->create(&g->terms, &g->self, err);
}

static bool same_tres(const struct auc_posted_gangs *g, const struct auc_market *m)
{
	if (g->terms.ntypes[AUC_POSTED_WORKER] != m->ntres)
		return false;
	for (unsigned k = 0; k < m->ntres; k++)
		if (strcmp(g->names[k], m->tres[k].name) != 0)
			return false;
	return true;
}

/* Units and how many there are. */
static void measure(struct auc_posted_gangs *g, const struct auc_market *m)
{
	for (unsigned k = 0; k < m->ntres; k++) {
		double most = 0, sum = 0, here;

		for (unsigned s = 0; s < m->nservers; s++) {
			if (m->servers[s].nparts)
				continue;
			here = (double)m->servers[s].units[k] / m->tres[k].scale;
			most = here > most ? here : most;
			sum += here;
		}
		g->unit[k] = most >= PARTS ? most / PARTS : most >= 1 || !(most > 0) ? 1 : most;
		g->terms.capacity[AUC_POSTED_WORKER][k] = sum / g->unit[k];
	}
	g->terms.capacity[AUC_POSTED_PS][0] = AUC_FIT_MAX;
}

/* What JOB asks for in SHAPE from slot START on; its slots are in the count. */
static void make_offer(const struct auc_posted_gangs *g, const struct auc_market *m,
		       const struct auc_job *job, const struct auc_shape *shape, auc_slot start,
		       struct auc_posted_offer *offer)
{
	double slots = (double)auc_shape_slots(m, shape), part, most = 0, count;
	unsigned main = 0;

	for (unsigned k = 0; k < m->ntres; k++) {
		part = g->terms.capacity[AUC_POSTED_WORKER][k];
		part = part > 0 ? shape->amount[k] * shape->nodes / g->unit[k] / part : 0;
		if (part > most) {
			most = part;
			main = k;
		}
	}
	count = round(shape->amount[main] * shape->nodes * slots / g->unit[main]);
	*offer = (struct auc_posted_offer){.slots = 1};
	offer->ask.arrival = job->arrival;
	offer->ask.epochs = offer->ask.seconds = 1;
	offer->ask.type[AUC_POSTED_WORKER] = main;
	offer->ask.count[AUC_POSTED_WORKER] = (unsigned)fmin(fmax(count, 1), (double)AUC_FIT_MAX);
	offer->ask.count[AUC_POSTED_PS] = 1;
	offer->idle[AUC_POSTED_PS] = AUC_FIT_MAX;
	if (start < m->first || start > auc_market_last(m))
		return;
	for (unsigned s = 0; s < m->nservers; s++)
		if (!m->servers[s].nparts)
			offer->idle[AUC_POSTED_WORKER] +=
				(double)(m->servers[s].units[main] -
					 m->used[auc_cell(m, (unsigned)(start - m->first), s) *
							 m->ntres +
						 main]) /
				m->tres[main].scale / g->unit[main];
}
