/*
 * check_oasis.c - see check-private.h: schedules of policy oasis. Workers and PSs vary from slot to
 * slot, and pause.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "auctionsim/check/check-private.h"

static void check_work(struct check *c, const struct sold *j);
static long double work_of(const struct check *c, const struct sold *j);
static long double work_with(const struct check *c, const struct scenario_job *job,
			     const struct scenario_type *worker, double seconds);
static long double most_work(const struct check *c, const struct scenario_job *job,
			     const struct scenario_type *worker, const struct scenario_type *ps);
static long double room(const struct check *c, const struct scenario_job *job,
			const struct scenario_type *type, unsigned role, uint64_t slot);
static bool may_collide(const struct check *c, const struct scenario_type *worker,
			const struct scenario_type *ps);

bool check_oasis(struct check *c, const struct sold *j)
{
	const struct run *run;

	if (j->colocated)
		check_violation(c, "colocated", j, "expected false");
	if (!check_times(c, j))
		return false;
	for (run = j->runs; run < j->runs + j->nruns; run++) {
		if (!check_pss(c, j, run))
			return false;
		check_uploads(c, j, run);
	}
	check_work(c, j);
	return true;
}

bool check_times(struct check *c, const struct sold *j)
{
	uint64_t next = j->when;
	const struct run *run;

	if (!j->nruns) {
		check_violation(c, "plan", j, "expected a run of slots, found none");
		return false;
	}
	for (run = j->runs; run < j->runs + j->nruns; next = run++->to + 1)
		if (run->from < next || run->from > run->to || run->to > c->s->slots) {
			check_violation(c, "plan", j,
					"expected slots in order from %" PRIu64 " to %" PRIu64
					", found %" PRIu64 " to %" PRIu64,
					next, c->s->slots, run->from, run->to);
			return false;
		}
	check_maximal(c, j);
	if (j->start != j->runs->from)
		check_violation(c, "start", j,
				"expected %" PRIu64 ", the plan's first slot, found %" PRIu64,
				j->runs->from, j->start);
	if (j->completion != next)
		check_violation(c, "completion", j,
				"expected %" PRIu64
				", the slot after the plan's last, found %" PRIu64,
				next, j->completion);
	return true;
}

/* At most one worker a chunk, ceil(workers * b / B) PSs, and no more than workers. */
bool check_pss(struct check *c, const struct sold *j, const struct run *run)
{
	uint64_t n = check_sum(run->workers, run->nworkers), z = check_sum(run->ps, run->nps);
	long double needed;

	if (!n || !z) {
		check_violation(c, "plan", j, "expected workers and PSs in every run, found none");
		return false;
	}
	needed = books_ps(j->worker, j->ps, n);
	if (n > j->job->chunks)
		check_violation(c, "plan", j,
				"expected at most %" PRIu64 " workers, one a chunk, found %" PRIu64,
				j->job->chunks, n);
	if (z != needed || z > n)
		check_violation(c, "plan", j,
				"expected %.0Lf PSs for %" PRIu64
				" workers, and no more than those, found %" PRIu64,
				needed, n, z);
	return true;
}

/* A job that is done has all its work and none too late, another one less; it may pause. */
void check_elastic(struct check *c, struct sold *j)
{
	uint64_t n = 0, done = 0;
	long double work = work_of(c, j);
	const struct run *run;

	if (j->colocated)
		check_violation(c, "colocated", j, "expected false");
	for (run = j->runs; run < j->runs + j->nruns; run++) {
		n = check_sum(run->workers, run->nworkers);
		done += n * (run->to - run->from + 1);
		if (run > j->runs && run->from > run[-1].to + 1)
			c->preemptions++;
	}
	if (j->completed ? done < work || done - n >= work : done >= work)
		check_violation(c, "plan", j,
				"expected %.0Lf worker-slots of a completed job and less of any "
				"other, found "
				"%" PRIu64,
				work, done);
	if (!j->completed && run[-1].to < c->s->slots)
		c->preemptions++;
}

/* All the work, and none that would not be missed: not even the last slot's workers. */
static void check_work(struct check *c, const struct sold *j)
{
	long double work = work_of(c, j), done = 0, last = 0;
	const struct run *run;

	for (run = j->runs; run < j->runs + j->nruns; run++) {
		last = check_sum(run->workers, run->nworkers);
		done += last * (run->to - run->from + 1);
	}
	if (done < work || done - last >= work)
		check_violation(c, "plan", j, "expected %.0Lf worker-slots, found %.0Lf", work,
				done);
}

void check_oasis_refused(struct check *c, const struct sold *j)
{
	bool capacity = !strcmp(j->reason, "capacity"), maybe = false;
	const struct scenario_job *job = j->job;
	const struct scenario_type *worker, *ps;
	long double work, most, least = INFINITY;
	unsigned i, k;

	for (i = 0; i < job->nworker_seconds; i++)
		for (k = 0; k < job->nps_seconds; k++) {
			worker = books_type(c->s->worker_types, c->s->nworker_types,
					    job->worker_types, job->worker_seconds[i].index);
			ps = books_type(c->s->ps_types, c->s->nps_types, job->ps_types,
					job->ps_seconds[k].index);
			work = work_with(c, job, worker, job->worker_seconds[i].value);
			least = fminl(least, work);
			most = most_work(c, job, worker, ps);
			if (most < work)
				continue;
			maybe = true;
			if (capacity && !may_collide(c, worker, ps)) {
				check_violation(c, "reason", j,
						"expected payoff, for %.0Lf worker-slots of them "
						"fit, found capacity",
						work);
				return;
			}
		}
	if (!capacity && !maybe)
		check_violation(c, "reason", j,
				"expected capacity, for %.0Lf worker-slots do not fit, found "
				"payoff",
				least);
}

/* Worker-slots that the job could have, if no server had to hold both of its types. */
static long double most_work(const struct check *c, const struct scenario_job *job,
			     const struct scenario_type *worker, const struct scenario_type *ps)
{
	long double sum = 0, n, z;
	uint64_t t;

	if (books_ps(worker, ps, 1) > 1)
		return 0;
	for (t = job->arrival; t <= c->s->slots; t++) {
		n = fminl(room(c, job, worker, AUC_ROLE_WORKER, t), job->chunks);
		z = room(c, job, ps, AUC_ROLE_PS, t);
		if (books_ps(worker, ps, n) > z)
			n = books_floor(z * ps->bandwidth_mbps / worker->bandwidth_mbps);
		sum += n;
	}
	return sum;
}

/* How many of TYPE fit in a slot, where the job's data are there. */
static long double room(const struct check *c, const struct scenario_job *job,
			const struct scenario_type *type, unsigned role, uint64_t slot)
{
	long double sum = 0;
	unsigned s;

	for (s = 0; s < c->s->nservers; s++)
		if (job->arrival + books_ceil(scenario_upload(job, s)) <= slot)
			sum += books_room(c->books, type, role, s, slot, slot, NULL, 0);
	return sum;
}

/* What one of a type takes may be in the way of the other. */
static bool may_collide(const struct check *c, const struct scenario_type *worker,
			const struct scenario_type *ps)
{
	unsigned s, i, k;

	for (s = 0; s < c->s->nservers; s++)
		for (i = 0;
		     c->s->servers[s].roles == (AUC_ROLE_WORKER | AUC_ROLE_PS) && i < worker->ntres;
		     i++)
			for (k = 0; k < ps->ntres; k++)
				if (!strcmp(worker->tres[i].name, ps->tres[k].name) &&
				    worker->tres[i].value > 0 && ps->tres[k].value > 0)
					return true;
	return false;
}

long double check_oasis_work(const struct check *c, const struct sold *j, long double factor)
{
	return fmaxl(1, books_ceil(factor * books_work(c->books, j->job, j->worker,
						       j->worker_seconds, 0, false)));
}

static long double work_of(const struct check *c, const struct sold *j)
{
	return work_with(c, j->job, j->worker, j->worker_seconds);
}

static long double work_with(const struct check *c, const struct scenario_job *job,
			     const struct scenario_type *worker, double seconds)
{
	return fmaxl(1,
		     books_ceil(c->stretch * books_work(c->books, job, worker, seconds, 0, false)));
}
