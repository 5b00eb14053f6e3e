/* pool_gang.c - see pool_gang.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "market/plan.h"
#include "market/timeline.h"
#include "pricing/dual/pool_gang.h"

/* A shape on the servers that stand for others; rows by server, then by slot. */
struct view {
	const struct auc_market *m;
	const struct auc_shape *shape;
	double *sum;    /* prices of a node in the slots before slot i; slots + 1 a row */
	int64_t *fit;   /* nodes that there is room for */
	int64_t *never; /* by server: from that slot on there is room for all nodes */
};

struct best {
	double payoff, value;
	unsigned start, completion;
	const struct auc_shape *shape;
};

static void look(struct view *v);
static double cost_of(const struct view *v, const struct auc_job *job, unsigned start, unsigned end,
		      unsigned *take);
static int64_t room_of(const struct view *v, unsigned server, unsigned start, unsigned end);
static void search(struct view *v, const struct auc_job *job, struct best *best);
static enum auc_code make_plan(struct view *v, const struct auc_job *job, const struct best *best,
			       struct auc_decision *d, struct auc_err *err);

enum auc_code auc_pool_gang_quote(const struct auc_market *m, const struct auc_job *job,
				  struct auc_decision *decision, struct auc_err *err)
{
	size_t cells = (size_t)m->nservers * (m->slots + 1) + 1;
	struct view v = {.m = m,
			 .sum = malloc(cells * sizeof(*v.sum)),
			 .fit = malloc(cells * sizeof(*v.fit)),
			 .never = malloc(((size_t)m->nservers + 1) * sizeof(*v.never))};
	struct best best = {0};
	enum auc_code rc = AUC_OK;

	auc_decision_reset(decision);
	decision->reason = AUC_REASON_PAYOFF;
	if (!v.sum || !v.fit || !v.never)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for a gang in a pool");
	for (unsigned i = 0; i < job->nshapes && rc == AUC_OK; i++) {
		v.shape = &job->shapes[i];
		if (v.shape->never)
			continue;
		look(&v);
		search(&v, job, &best);
	}
	if (rc == AUC_OK && best.shape) {
		v.shape = best.shape;
		look(&v);
		rc = make_plan(&v, job, &best, decision, err);
	}
	free(v.sum);
	free(v.fit);
	free(v.never);
	return rc;
}

/* What hosts workers alone stands for many servers; what hosts PSs, too, is one of those again. */
static bool stands_for_many(const struct auc_market *m, unsigned server)
{
	return m->servers[server].roles == AUC_ROLE_WORKER;
}

static void look(struct view *v)
{
	const struct auc_market *m = v->m;

	for (unsigned s = 0; s < m->nservers; s++) {
		double *sum = v->sum + (size_t)s * (m->slots + 1);
		int64_t *fit = v->fit + (size_t)s * (m->slots + 1);

		v->never[s] = 0;
		sum[0] = 0;
		for (unsigned t = 0; t < m->slots && stands_for_many(m, s); t++) {
			size_t cell = auc_cell(m, t, s);
			double price = 0;

			fit[t] = v->shape->nodes;
			for (unsigned k = 0; k < m->ntres; k++) {
				int64_t units = v->shape->units[k], left;

				if (!units)
					continue;
				left = m->servers[s].units[k] - m->used[cell * m->ntres + k];
				fit[t] = left / units < fit[t] ? left / units : fit[t];
				price += m->unit_price[auc_units(m, t, s) +
						       (size_t)k * m->nservers] *
					 v->shape->amount[k];
			}
			sum[t + 1] = sum[t] + price;
			if (fit[t] < v->shape->nodes)
				v->never[s] = t + 1;
		}
	}
}

/* Nodes for which SERVER has room in slot indices START to before END. */
static int64_t room_of(const struct view *v, unsigned server, unsigned start, unsigned end)
{
	const int64_t *fit = v->fit + (size_t)server * (v->m->slots + 1);
	int64_t room = v->shape->nodes;

	if (start >= v->never[server])
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
			const double *sum = v->sum + (size_t)s * (m->slots + 1);
			double price = stands_for_many(m, s) ? sum[end] - sum[start] : INFINITY;

			if (price > above && price < least)
				least = price;
		}
		if (isinf(least))
			return INFINITY;
		for (unsigned s = 0; s < m->nservers && left > 0; s++) {
			const double *sum = v->sum + (size_t)s * (m->slots + 1);
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
