/*
 * check_oasis.c - see check-private.h: schedules of policy oasis. Workers and PSs vary from slot to
 * slot, and pause.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "check-private.h"

static void check_work(struct check *c, const struct sold *j);
static long double work_of(const struct check *c, const struct sold *j);

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
	uint64_t next = j->job->arrival;
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
				", the slot behind the plan's last, found %" PRIu64,
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

static long double work_of(const struct check *c, const struct sold *j)
{
	long double work =
		books_ceil(books_work(c->books, j->job, j->worker, j->worker_seconds, 0, false));

	return work > 1 ? work : 1;
}
