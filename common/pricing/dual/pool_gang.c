/* pool_gang.c - see pool_gang.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "market/plan.h"
#include "market/timeline.h"
#include "pricing/dual/pool_gang.h"

/* A shape on the servers that stand for others. */
struct view {
	const struct auc_market *m;
	const struct auc_shape *shape;
	const struct auc_pool_gang_look *at;
};

struct best {
	double payoff, value;
	unsigned start, completion;
	const struct auc_shape *shape;
};

static enum auc_code look(struct auc_pool_gang *g, struct view *v, struct auc_err *err);
static bool make_room(struct auc_pool_gang_look *l, const struct auc_market *m);
static void fill(struct auc_pool_gang_look *l, const struct auc_market *m,
		 const struct auc_shape *shape);
static double cost_of(const struct view *v, const struct auc_job *job, unsigned start, unsigned end,
		      unsigned *take);
static int64_t room_of(const struct view *v, unsigned server, unsigned start, unsigned end);
static void search(struct view *v, const struct auc_job *job, struct best *best);
static enum auc_code make_plan(struct view *v, const struct auc_job *job, const struct best *best,
			       struct auc_decision *d, struct auc_err *err);

void auc_pool_gang_forget(struct auc_pool_gang *g)
{
	g->n = 0;
}

void auc_pool_gang_clear(struct auc_pool_gang *g)
{
	for (unsigned i = 0; i < AUC_POOL_GANG_LOOKS; i++) {
		free(g->looks[i].sum);
		free(g->looks[i].fit);
	}
	memset(g, 0, sizeof(*g));
}

enum auc_code auc_pool_gang_quote(struct auc_pool_gang *g, const struct auc_market *m,
				  const struct auc_job *job, struct auc_decision *decision,
				  struct auc_err *err)
{
	struct view v = {.m = m};
	struct best best = {0};
	enum auc_code rc = AUC_OK;

	auc_decision_reset(decision);
	decision->reason = AUC_REASON_PAYOFF;
	for (unsigned i = 0; i < job->nshapes && rc == AUC_OK; i++) {
		v.shape = &job->shapes[i];
		if (v.shape->never)
			continue;
		rc = look(g, &v, err);
		if (rc == AUC_OK)
			search(&v, job, &best);
	}
	if (rc == AUC_OK && best.shape) {
		v.shape = best.shape;
		rc = look(g, &v, err);
		if (rc == AUC_OK)
			rc = make_plan(&v, job, &best, decision, err);
	}
	return rc;
}

/* What hosts workers alone stands for many servers; what hosts PSs, too, is one of those again. */
static bool stands_for_many(const struct auc_market *m, unsigned server)
{
	return m->servers[server].roles == AUC_ROLE_WORKER;
}

/* What V's shape finds, from before or anew. */
static enum auc_code look(struct auc_pool_gang *g, struct view *v, struct auc_err *err)
{
	const struct auc_market *m = v->m;
	struct auc_pool_gang_look *l;
	unsigned i;

	if (g->m != m)
		g->n = 0;
	g->m = m;
	for (i = 0; i < g->n; i++)
		if (!memcmp(g->looks[i].amount, v->shape->amount, m->ntres * sizeof(double)) &&
		    !memcmp(g->looks[i].units, v->shape->units, m->ntres * sizeof(int64_t)))
			break;
	if (i == g->n) {
		if (i == AUC_POOL_GANG_LOOKS)
			i = g->next++ % AUC_POOL_GANG_LOOKS;
		else
			g->n++;
		l = &g->looks[i];
		if (!make_room(l, m)) {
			g->n = 0;
			return auc_err_set(err, AUC_ENOMEM, "no memory for a gang in a pool");
		}
		fill(l, m, v->shape);
	}
	v->at = &g->looks[i];
	return AUC_OK;
}

static bool make_room(struct auc_pool_gang_look *l, const struct auc_market *m)
{
	size_t cells = (size_t)m->nservers * (m->slots + 1) + 1;
	double *sum;
	int64_t *fit;

	if (cells <= l->cells)
		return true;
	sum = realloc(l->sum, cells * sizeof(*sum));
	l->sum = sum ? sum : l->sum;
	fit = realloc(l->fit, 2 * cells * sizeof(*fit));
	if (fit) {
		l->fit = fit;
		l->from = fit + cells;
	}
	if (!sum || !fit)
		return false;
	l->cells = cells;
	return true;
}

static void fill(struct auc_pool_gang_look *l, const struct auc_market *m,
		 const struct auc_shape *shape)
{
	memcpy(l->amount, shape->amount, sizeof(l->amount));
	memcpy(l->units, shape->units, sizeof(l->units));
	for (unsigned s = 0; s < m->nservers; s++) {
		size_t row = (size_t)s * (m->slots + 1);
		double *sum = l->sum + row;
		int64_t *fit = l->fit + row, *from = l->from + row;

		sum[0] = 0;
		from[m->slots] = INT64_MAX;
		for (unsigned t = 0; t < m->slots && stands_for_many(m, s); t++) {
			size_t cell = auc_cell(m, t, s);
			double price = 0;

			fit[t] = INT64_MAX;
			for (unsigned k = 0; k < m->ntres; k++) {
				int64_t units = shape->units[k], left;

				if (!units)
					continue;
				left = m->servers[s].units[k] - m->used[cell * m->ntres + k];
				fit[t] = left / units < fit[t] ? left / units : fit[t];
				price += m->unit_price[auc_units(m, t, s) +
						       (size_t)k * m->nservers] *
					 shape->amount[k];
			}
			sum[t + 1] = sum[t] + price;
		}
		for (unsigned t = m->slots; t-- > 0 && stands_for_many(m, s);)
			from[t] = fit[t] < from[t + 1] ? fit[t] : from[t + 1];
	}
}

/* Nodes for which SERVER has room in slot indices START to before END. */
static int64_t room_of(const struct view *v, unsigned server, unsigned start, unsigned end)
{
	size_t row = (size_t)server * (v->m->slots + 1);
	const int64_t *fit = v->at->fit + row;
	int64_t room = v->shape->nodes;

	if (v->at->from[row + start] >= room)
		return room;
	for (unsigned t = start; t < end; t++)
		room = fit[t] < room ? fit[t] : room;
	return room > 0 ? room : 0;
}

/* What all nodes cost, INFINITY: there is no room. TAKE (NULL, or zeroes): nodes by server. */
static double cost_of(const struct view *v, const struct auc_job *job, unsigned start, unsigned end,
		      unsigned *take)
{
	const struct auc_market *m = v->m;
	int64_t left = v->shape->nodes;
	double cost = 0, above = -1;

	/* Servers by ascending price: there are few. */
	while (left > 0) {
		double least = INFINITY;

		for (unsigned s = 0; s < m->nservers; s++) {
			const double *sum = v->at->sum + (size_t)s * (m->slots + 1);
			double price = stands_for_many(m, s) ? sum[end] - sum[start] : INFINITY;

			if (price > above && price < least)
				least = price;
		}
		if (isinf(least))
			return INFINITY;
		for (unsigned s = 0; s < m->nservers && left > 0; s++) {
			const double *sum = v->at->sum + (size_t)s * (m->slots + 1);
			int64_t n;

			if (!stands_for_many(m, s) || sum[end] - sum[start] != least ||
			    job->upload[s] == UINT32_MAX ||
			    job->arrival + (auc_slot)job->upload[s] > m->first + (auc_slot)start)
				continue;
			n = room_of(v, s, start, end);
			n = n < left ? n : left;
			left -= n;
			cost += least * (double)n;
			if (take)
				take[s] += (unsigned)n;
		}
		above = least;
	}
	return cost;
}

static void search(struct view *v, const struct auc_job *job, struct best *best)
{
	const struct auc_market *m = v->m;
	int64_t d = auc_shape_slots(m, v->shape);
	auc_slot first = job->arrival > m->first ? job->arrival : m->first;

	for (auc_slot at = first - m->first; at + d <= (auc_slot)m->slots; at++) {
		unsigned start = (unsigned)at, end = start + (unsigned)d;
		double value =
			auc_utility_value(&job->utility, (double)(m->first + end - job->arrival));
		double payoff;

		if (value <= best->payoff)
			return;
		payoff = value - cost_of(v, job, start, end, NULL);
		if (payoff > best->payoff)
			*best = (struct best){payoff, value, start, end, v->shape};
	}
}

static enum auc_code make_plan(struct view *v, const struct auc_job *job, const struct best *best,
			       struct auc_decision *d, struct auc_err *err)
{
	unsigned *take = calloc((size_t)v->m->nservers + 1, sizeof(*take));
	enum auc_code rc;

	if (!take)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a gang in a pool");
	cost_of(v, job, best->start, best->completion, take);
	d->accepted = true;
	d->reason = AUC_REASON_NONE;
	d->best_payoff = best->payoff;
	d->plan.gang = true;
	d->plan.shape = (unsigned)(best->shape - job->shapes);
	memcpy(d->plan.amount, best->shape->amount, sizeof(d->plan.amount));
	d->plan.arrival = job->arrival;
	d->plan.start = v->m->first + best->start;
	d->plan.completion = v->m->first + best->completion;
	d->plan.value = best->value;
	rc = auc_plan_add_run(&d->plan, d->plan.start, d->plan.completion - 1, err);
	for (unsigned s = 0; s < v->m->nservers && rc == AUC_OK; s++)
		if (take[s])
			rc = auc_plan_add_share(&d->plan, s, take[s], 0, err);
	free(take);
	return rc;
}
