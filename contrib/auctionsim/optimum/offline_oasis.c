/*
 * offline_oasis.c - the integer program of offline.c for schedules as of oasis, problem (1) of the
 * paper: workers and PSs vary from slot to slot.
 *
 * For each pair of types of a job the program has
 *
 *   x_c         1: it is complete at c, for each completion that is worth something
 *   u_t         1: it is complete after slot t, so that it may use it: the sum of x_c, c > t
 *   y_ts, z_ts  workers and PSs on server s in slot t, whole numbers
 *
 * with the sum of all y = the work * the sum of x; in each slot no more workers than chunks: the
 * sum of y_t <= most_t * u_t; and PSs with the bandwidth of the workers: B * the sum of z_t >= b *
 * the sum of y_t. That asks for no fewer PSs than the ceiling; if there are more, those that are
 * too many are left out of the plan.
 *
 * The relaxation is made closer by what the job could have if it were alone: that is most_t, bounds
 * the workers of each server, too (y_ts <= room_ts * u_t), and rules early completions out.
 */
#include "config.h"

#ifdef HAVE_GLPK

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/optimum/offline-private.h"

/* A slot of a way: its column u, its most workers. */
struct moment {
	uint64_t slot, most;
	int u;
};

static void add_pair(struct offline *p, struct way *way, int row);
static long double units_of(const struct offline *p, const struct way *way);
static uint64_t alone(const struct offline *p, const struct way *way, uint64_t slot);
static int add_completions(struct offline *p, const struct way *way, struct moment *moments,
			   int row);
static void add_slot(struct offline *p, struct way *way, const struct moment *at, int work);
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
	struct moment *moments = calloc(p->s->slots + 1, sizeof(*moments)), *at;
	uint64_t slot;
	int work = 0;

	offline_types(p, way);
	p->memory = p->memory && moments;
	if (moments && books_ps(way->worker_type, way->ps_type, 1) <= 1) {
		way->n = (uint64_t)fminl(job->chunks, units_of(p, way));
		for (slot = job->arrival; slot <= p->s->slots; slot++)
			moments[slot - job->arrival] =
				(struct moment){.slot = slot, .most = alone(p, way, slot)};
		work = add_completions(p, way, moments, row);
	}
	way->first_y = glp_get_num_cols(p->lp) + 1;
	for (at = moments, slot = job->arrival; work && slot <= p->s->slots; slot++)
		add_slot(p, way, at++, work);
	free(moments);
	way->from = job->arrival;
	way->to = p->s->slots;
	if (work)
		offline_push(p, &p->ways, way);
}

/* The work in worker-slots. */
static long double units_of(const struct offline *p, const struct way *way)
{
	const struct scenario_job *job = &p->s->jobs[way->job];

	return fmaxl(1, books_ceil(books_work(p->books, job, way->worker_type,
					      job->worker_seconds[way->worker].value, 0, false)));
}

/* The most workers that the job could have in a slot if there were no other. */
static uint64_t alone(const struct offline *p, const struct way *way, uint64_t slot)
{
	long double room = 0, ps_room = 0, most;
	unsigned s;

	for (s = 0; s < p->s->nservers; s++) {
		if (offline_ready(&p->s->jobs[way->job], s) > slot)
			continue;
		room += books_room(p->books, way->worker_type, AUC_ROLE_WORKER, s, slot, slot, NULL,
				   0);
		ps_room += books_room(p->books, way->ps_type, AUC_ROLE_PS, s, slot, slot, NULL, 0);
	}
	most = fminl(room, way->n);
	while (most > 0 && books_ps(way->worker_type, way->ps_type, (uint64_t)most) > ps_room)
		most--;
	return (uint64_t)most;
}

/* The columns x and u; returns the row of the work, 0 if no completion is possible. */
static int add_completions(struct offline *p, const struct way *way, struct moment *moments,
			   int row)
{
	const struct scenario_job *job = &p->s->jobs[way->job];
	uint64_t n = p->s->slots + 1 - job->arrival, t, c;
	long double units = units_of(p, way), done = 0;
	int work = 0, first = 0, column;
	double value;

	for (c = 1; job->arrival <= p->s->slots && c <= n; c++) {
		value = auc_utility_value(&job->utility, (double)c);
		done += moments[c - 1].most;
		if (!(value > 0))
			break;
		if (done < units)
			continue;
		if (!work) {
			work = offline_row(p, GLP_FX, 0, 0);
			first = glp_add_rows(p->lp, (int)n); /* first + t: u - the sum of x = 0 */
			for (t = 0; t < n; t++)
				glp_set_row_bnds(p->lp, first + (int)t, GLP_FX, 0, 0);
		}
		column = offline_column(p, 1, value);
		offline_entry(p, row, column, 1);
		offline_entry(p, work, column, -(double)units);
		for (t = 0; t < c; t++)
			offline_entry(p, first + (int)t, column, -1);
	}
	for (t = 0; work && t < n; t++) {
		moments[t].u = offline_column(p, 1, 0);
		offline_entry(p, first + (int)t, moments[t].u, 1);
	}
	return work;
}

static void add_slot(struct offline *p, struct way *way, const struct moment *at, int work)
{
	int bandwidth = offline_row(p, GLP_LO, 0, 0), last = offline_row(p, GLP_UP, 0, 0), column;
	const struct scenario_job *job = &p->s->jobs[way->job];
	long double room, ps_room;
	unsigned s;
	int here;

	way->from = way->to = at->slot;
	offline_entry(p, last, at->u, -(double)at->most);
	for (s = 0; s < p->s->nservers; s++) {
		room = ps_room = 0;
		if (offline_ready(job, s) <= at->slot) {
			room = fminl(at->most,
				     books_room(p->books, way->worker_type, AUC_ROLE_WORKER, s,
						at->slot, at->slot, NULL, 0));
			ps_room = fminl(at->most, books_room(p->books, way->ps_type, AUC_ROLE_PS, s,
							     at->slot, at->slot, NULL, 0));
		}
		column = offline_column(p, (double)room, 0);
		offline_entry(p, work, column, 1);
		offline_entry(p, last, column, 1);
		offline_entry(p, bandwidth, column,
			      -way->worker_type->bandwidth_mbps / way->ps_type->bandwidth_mbps);
		offline_use(p, column, way, s, 1, 0);
		if (room > 0 && room < at->most) {
			here = offline_row(p, GLP_UP, 0, 0);
			offline_entry(p, here, column, 1);
			offline_entry(p, here, at->u, -(double)room);
		}
		column = offline_column(p, (double)ps_room, 0);
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
