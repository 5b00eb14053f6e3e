/*
 * gang.c - see gang.h: what a quote of a gang is made of. The search is in gang_search.c.
 *
 * Budgets: the best schedule is the answer if the budget pays it. Else the search runs again among
 * those that the budget pays.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/gang/gang-private.h"

static enum auc_code decide(struct auc_gang *g, struct auc_decision *decision, struct auc_err *err);
static enum auc_code make_room(struct auc_gang *g, const struct auc_market *m, unsigned nshapes,
			       struct auc_err *err);
static void release(struct auc_gang *g);
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
	auc_gang_set_up(g, not_before);
	auc_gang_search(g);
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
	auc_gang_search(g);
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
	/* Servers are taken eight at a time. */
	size_t servers = ((size_t)m->nservers + 8) & ~(size_t)7, lanes = nshapes;
	size_t slots = (size_t)m->slots + 1, tres = m->ntres + 1;

	if (g->nservers >= servers && g->nshapes >= lanes && g->ntres >= tres && g->slots >= slots)
		return AUC_OK;
	servers = servers > g->nservers ? servers : g->nservers;
	lanes = lanes > g->nshapes ? lanes : g->nshapes;
	tres = tres > g->ntres ? tres : g->ntres;
	slots = slots > g->slots ? slots : g->slots;
	release(g);
	g->lanes = calloc(lanes, sizeof(*g->lanes));
	g->kinds = calloc(lanes, sizeof(*g->kinds));
	g->lists = calloc(lanes * servers, sizeof(*g->lists));
	g->ends = calloc(lanes * servers, sizeof(*g->ends));
	g->rooms = calloc(lanes * servers * tres, sizeof(*g->rooms));
	g->mosts = calloc(lanes * tres * (servers + 15), sizeof(*g->mosts));
	g->open = calloc(servers + 15, sizeof(*g->open));
	g->summed = calloc(servers / 8, sizeof(*g->summed));
	g->sums = calloc(slots * servers, sizeof(*g->sums));
	g->lowest = calloc(slots, sizeof(*g->lowest));
	g->costs = calloc(servers, sizeof(*g->costs));
	g->window = calloc(servers, sizeof(*g->window));
	g->sure = calloc(servers, sizeof(*g->sure));
	g->anew = calloc(servers + 15, sizeof(*g->anew));
	g->ready = calloc(servers, sizeof(*g->ready));
	g->order = calloc(servers, sizeof(*g->order));
	g->chosen = calloc(servers, sizeof(*g->chosen));
	g->places = calloc(servers, sizeof(*g->places));
	if (!g->mosts || !g->open || !g->summed || !g->lanes || !g->kinds || !g->lists ||
	    !g->ends || !g->rooms || !g->sums || !g->lowest || !g->costs || !g->window ||
	    !g->sure || !g->anew || !g->ready || !g->order || !g->chosen || !g->places) {
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
	free(g->ends);
	free(g->rooms);
	free(g->mosts);
	free(g->open);
	free(g->summed);
	free(g->sums);
	free(g->lowest);
	free(g->costs);
	free(g->window);
	free(g->sure);
	free(g->anew);
	free(g->ready);
	free(g->order);
	free(g->chosen);
	free(g->places);
	memset(g, 0, sizeof(*g));
}

/* Lays the best schedule out and prices it as it will be charged. */
static enum auc_code make_plan(struct auc_gang *g, struct auc_decision *decision,
			       struct auc_err *err)
{
	const struct choice *c = &g->best;
	struct auc_plan *plan = &decision->plan;
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
	auc_gang_choose(g, c);
	rc = auc_plan_add_run(plan, plan->start, plan->completion - 1, err);
	for (unsigned i = 0; i < c->nservers && rc == AUC_OK; i++)
		rc = auc_plan_add_share(plan, g->chosen[i], 1, 0, err);
	plan->cost = auc_plan_cost(plan, g->m);
	decision->best_payoff = plan->value - plan->cost;
	return rc;
}
