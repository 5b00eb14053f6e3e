/*
 * offline_oasis.c - the integer program of offline.c for schedules as of oasis, problem (1) of the
 * paper: workers and PSs vary from slot to slot.
 *
 * For each pair of types of a job the program has
 *
 *   x_c         1: it is complete at c, for each completion that is worth something
 *   y_ts, z_ts  workers and PSs on server s in slot t, whole numbers
 *
 * with the sum of all y = the work * the sum of x; in each slot no more workers than chunks, and
 * none if the job is complete before: the sum of y_t <= most * the sum of x_c, c > t; and PSs with
 * the bandwidth of the workers: B * the sum of z_t >= b * the sum of y_t. That asks for no fewer
 * PSs than the ceiling; if there are more, those that are too many are left out of the plan.
 */
#include "config.h"

#ifdef HAVE_GLPK

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "offline-private.h"

static void add_pair(struct offline *p, struct way *way, int row);
static void add_slot(struct offline *p, struct way *way, uint64_t slot, int work, int last);
static void start_plan(const struct scenario_job *job, const struct way *way, uint64_t slot,
		       struct outcome *o);
static bool read_slot(const struct offline *p, const struct way *way, unsigned t,
		      struct auc_share *shares);
static unsigned number(const struct offline *p, int column);

void offline_oasis_job(struct offline *p, unsigned index, int row)
{
	const struct scenario_job *job = &p->s->jobs[index];
	struct way way = {.job = index};

	for (way.worker = 0; way.worker < job->nworker_seconds; way.worker++)
		for (way.ps = 0; way.ps < job->nps_seconds; way.ps++)
			add_pair(p, &way, row);
}

/* Columns of a way: y and z of its first server and slot, and so on by server, then by slot. */
static void add_pair(struct offline *p, struct way *way, int row)
{
	const struct scenario_job *job = &p->s->jobs[way->job];
	uint64_t slot, completion = job->arrival;
	int work, last, column;
	long double units;
	double value;

	offline_types(p, way);
	way->from = job->arrival;
	way->to = p->s->slots;
	if (books_ps(way->worker_type, way->ps_type, 1) > 1)
		return;
	units = fmaxl(1, books_ceil(books_work(p->books, job, way->worker_type,
					       job->worker_seconds[way->worker].value, 0, false)));
	work = offline_row(p, GLP_FX, 0, 0);
	/* last + t - from: nothing in slot t but of jobs that are complete behind it */
	last = glp_add_rows(p->lp, (int)(way->to - way->from + 1));
	for (slot = way->from; slot <= way->to; slot++)
		glp_set_row_bnds(p->lp, last + (int)(slot - way->from), GLP_UP, 0, 0);
	way->n = (uint64_t)fminl(job->chunks, units);
	while (++completion <= p->s->slots + 1) {
		value = auc_utility_value(&job->utility, (double)(completion - job->arrival));
		if (!(value > 0))
			break;
		column = offline_column(p, 1, value);
		offline_entry(p, row, column, 1);
		offline_entry(p, work, column, -(double)units);
		for (slot = way->from; slot < completion; slot++)
			offline_entry(p, last + (int)(slot - way->from), column, -(double)way->n);
	}
	way->first_y = glp_get_num_cols(p->lp) + 1;
	for (slot = job->arrival; slot <= p->s->slots; slot++) {
		way->from = way->to = slot;
		add_slot(p, way, slot, work, last + (int)(slot - job->arrival));
	}
	way->from = job->arrival;
	offline_push(p, &p->ways, way);
}

static void add_slot(struct offline *p, struct way *way, uint64_t slot, int work, int last)
{
	int bandwidth = offline_row(p, GLP_LO, 0, 0), column;
	const struct scenario_job *job = &p->s->jobs[way->job];
	long double room, ps_room;
	unsigned s;

	for (s = 0; s < p->s->nservers; s++) {
		room = ps_room = 0;
		if (offline_ready(job, s) <= slot) {
			room = books_room(p->books, way->worker_type, AUC_ROLE_WORKER, s, slot,
					  slot, NULL, 0);
			ps_room = books_room(p->books, way->ps_type, AUC_ROLE_PS, s, slot, slot,
					     NULL, 0);
		}
		column = offline_column(p, (double)fminl(room, way->n), 0);
		offline_entry(p, work, column, 1);
		offline_entry(p, last, column, 1);
		offline_entry(p, bandwidth, column,
			      -way->worker_type->bandwidth_mbps / way->ps_type->bandwidth_mbps);
		offline_use(p, column, way, s, 1, 0);
		column = offline_column(p, (double)fminl(ps_room, way->n), 0);
		offline_entry(p, bandwidth, column, 1);
		offline_use(p, column, way, s, 0, 1);
	}
}

/* The plan of a job, if this is its pair: runs of slots with the same layout. */
enum auc_code offline_oasis_keep(struct offline *p, const struct way *way, struct auc_err *err)
{
	const struct scenario_job *job = &p->s->jobs[way->job];
	struct outcome *o = &p->result->jobs[way->job];
	size_t size = p->s->nservers * sizeof(struct auc_share);
	struct auc_share *now = calloc(2, size + 1), *before = now + p->s->nservers, *share;
	struct auc_plan *plan = &o->plan;
	enum auc_code rc = AUC_OK;
	uint64_t slot;

	if (!now)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", p->s->file);
	for (slot = job->arrival; slot <= p->s->slots && rc == AUC_OK; slot++) {
		memcpy(before, now, size);
		if (!read_slot(p, way, (unsigned)(slot - job->arrival), now))
			continue;
		if (!o->accepted)
			start_plan(job, way, slot, o);
		plan->completion = (auc_slot)slot + 1;
		if (plan->nruns && plan->runs[plan->nruns - 1].to + 1 == (auc_slot)slot &&
		    !memcmp(before, now, size)) {
			plan->runs[plan->nruns - 1].to++;
			continue;
		}
		rc = auc_plan_add_run(plan, (auc_slot)slot, (auc_slot)slot, err);
		for (share = now; share < now + p->s->nservers && rc == AUC_OK; share++)
			if (share->workers || share->ps)
				rc = auc_plan_add_share(plan, share->server, share->workers,
							share->ps, err);
	}
	if (o->accepted)
		o->value = plan->value = auc_utility_value(
			&job->utility, (double)(plan->completion - plan->arrival));
	free(now);
	return rc;
}

static void start_plan(const struct scenario_job *job, const struct way *way, uint64_t slot,
		       struct outcome *o)
{
	o->accepted = o->completed = true;
	o->reason = AUC_REASON_NONE;
	auc_plan_reset(&o->plan);
	o->plan.worker_type = job->worker_seconds[way->worker].index;
	o->plan.ps_type = job->ps_seconds[way->ps].index;
	o->plan.arrival = (auc_slot)job->arrival;
	o->plan.start = (auc_slot)slot;
}

/* What is on each server in slot arrival + T, with as many PSs as are needed. False: nothing. */
static bool read_slot(const struct offline *p, const struct way *way, unsigned t,
		      struct auc_share *shares)
{
	int column = way->first_y + (int)(2 * t * p->s->nservers);
	unsigned s;
	uint64_t n = 0, z;

	for (s = 0; s < p->s->nservers; s++, column += 2) {
		shares[s] = (struct auc_share){
			.server = s, .workers = number(p, column), .ps = number(p, column + 1)};
		n += shares[s].workers;
	}
	z = n ? (uint64_t)books_ps(way->worker_type, way->ps_type, n) : 0;
	for (s = 0; s < p->s->nservers; s++) {
		shares[s].ps = shares[s].ps < z ? shares[s].ps : (unsigned)z;
		z -= shares[s].ps;
	}
	return n > 0;
}

static unsigned number(const struct offline *p, int column)
{
	return (unsigned)llround(glp_mip_col_val(p->lp, column));
}

#endif
