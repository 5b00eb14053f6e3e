/*
 * offline_gang.c - gangs in the integer program of policy offline: see offline-private.h. A way is
 * a shape in a window, where all nodes are to be on one switch on that switch; it has a column, and
 * one for each server that may be a node, of which as many are 1 as it has nodes.
 */
#include "config.h"

#ifdef HAVE_GLPK

#include <math.h>
#include <string.h>

#include "auctionsim/optimum/offline-private.h"

static const struct scenario_type nothing; /* that a gang has as a PS */

static void add_windows(struct offline *p, struct way *way, int row);
static void add_switches(struct offline *p, struct way *way, int row);
static void add_way(struct offline *p, struct way *way, int row);
static bool may_use(const struct offline *p, const struct way *way, unsigned server);

void offline_gang_job(struct offline *p, unsigned index, int row)
{
	const struct scenario_job *job = &p->s->jobs[index];
	struct way way = {.job = index, .ps_type = &nothing};
	struct scenario_type *node;

	for (way.shape = 0; way.shape < job->ngang; way.shape++) {
		const struct scenario_shape *shape = &job->gang[way.shape];

		node = &p->nodes[p->nnodes++];
		node->ntres = shape->nper_node;
		node->tres = shape->per_node;
		way.worker_type = node;
		way.n = shape->nodes;
		add_windows(p, &way, row);
		if ((uint64_t)glp_get_num_cols(p->lp) > p->max_columns)
			return;
	}
}

static void add_windows(struct offline *p, struct way *way, int row)
{
	const struct scenario_job *job = &p->s->jobs[way->job];
	long double d =
		books_duration((long double)job->gang[way->shape].seconds / p->s->slot_seconds, 1);

	for (way->from = job->arrival; way->from + d <= p->s->slots + 1; way->from++) {
		way->to = way->from + (uint64_t)d - 1;
		way->value = auc_utility_value(&job->utility, (double)(way->to + 1 - job->arrival));
		if (!(way->value > 0))
			return;
		way->leaf = NULL;
		if (job->within_switch)
			add_switches(p, way, row);
		else
			add_way(p, way, row);
	}
}

/* Each switch once, when its first server is met. */
static void add_switches(struct offline *p, struct way *way, int row)
{
	unsigned s, before;

	for (s = 0; s < p->s->nservers; s++) {
		way->leaf = p->s->servers[s].leaf;
		for (before = 0; before < s; before++)
			if (!strcmp(p->s->servers[before].leaf, way->leaf))
				break;
		if (*way->leaf && before == s)
			add_way(p, way, row);
	}
}

static void add_way(struct offline *p, struct way *way, int row)
{
	struct choice c = {.way = (unsigned)p->ways.n};
	long double room = 0;
	int column, y;
	unsigned s;

	for (s = 0; s < p->s->nservers; s++)
		room += may_use(p, way, s) &&
			books_room(p->books, way->worker_type, AUC_ROLE_WORKER, s, way->from,
				   way->to, NULL, 0) >= 1;
	if (room < way->n)
		return;
	way->row = offline_row(p, GLP_FX, 0, 0);
	way->first_y = 0;
	column = offline_column(p, 1, way->value);
	offline_entry(p, row, column, 1);
	offline_entry(p, way->row, column, -(double)way->n);
	for (s = 0; s < p->s->nservers; s++) {
		if (!may_use(p, way, s))
			continue;
		y = offline_column(p,
				   books_room(p->books, way->worker_type, AUC_ROLE_WORKER, s,
					      way->from, way->to, NULL, 0) >= 1,
				   0);
		way->first_y = way->first_y ? way->first_y : y;
		offline_entry(p, way->row, y, 1);
		offline_use(p, y, way, s, 1, 0);
	}
	if (offline_push(p, &p->ways, way) && offline_push(p, &p->choices, &c))
		offline_push(p, &p->columns, &column);
}

/* But for what is sold: columns are of those that may. */
static bool may_use(const struct offline *p, const struct way *way, unsigned server)
{
	const struct scenario_server *s = &p->s->servers[server];

	return s->roles & AUC_ROLE_WORKER &&
	       offline_ready(&p->s->jobs[way->job], server) <= way->from &&
	       (!way->leaf || !strcmp(s->leaf, way->leaf));
}

enum auc_code offline_gang_keep(struct offline *p, const struct way *way, struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[way->job];
	struct outcome *o = &p->result->jobs[way->job];
	int column = way->first_y;
	int64_t units[AUC_TRES_MAX];
	const char *over = NULL;
	uint64_t slot;
	bool never;
	enum auc_code rc;

	o->accepted = o->completed = true;
	o->reason = AUC_REASON_NONE;
	o->value = way->value;
	auc_plan_reset(&o->plan);
	o->plan.gang = true;
	o->plan.within_switch = job->within_switch;
	o->plan.shape = way->shape;
	rc = auc_market_amounts(p->market, way->worker_type->tres, way->worker_type->ntres,
				o->plan.amount, units, &never, err);
	o->plan.arrival = (auc_slot)job->arrival;
	o->plan.start = (auc_slot)way->from;
	o->plan.completion = (auc_slot)way->to + 1;
	o->plan.value = way->value;
	if (rc == AUC_OK)
		rc = auc_plan_add_run(&o->plan, (auc_slot)way->from, (auc_slot)way->to, err);
	for (unsigned s = 0; s < p->s->nservers && rc == AUC_OK; s++) {
		if (!may_use(p, way, s) || glp_mip_col_val(p->lp, column++) < 0.5)
			continue;
		rc = auc_plan_add_share(&o->plan, s, 1, 0, err);
		over = books_add(p->books, way->worker_type, s, way->from, way->to, 1, &slot);
		if (rc == AUC_OK && over)
			rc = auc_err_set(err, AUC_ESTATE,
					 "%s: job %.80s: what GLPK found takes more %s than server "
					 "%s has in slot %llu",
					 p->s->file, job->id, over, p->s->servers[s].name,
					 (unsigned long long)slot);
	}
	return rc;
}

#endif
