/*
 * check_steps.c - see check-private.h: results of policies that decide slot by slot. Their jobs run
 * in any slots, may be unfinished at the end, and pay nothing.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "auctionsim/check/check-private.h"

static void check_head(struct check *c, const struct sold *j);
static bool check_runs(struct check *c, const struct sold *j);
static bool same_groups(const struct group *a, unsigned n, const struct group *b, unsigned m);
static void check_gang(struct check *c, struct sold *j);
static bool is_together(const struct run *run);
static long double chunk_slots(struct check *c, const struct sold *j, bool together);

static const struct check_steps policies[] = {
	{"aonline", check_chunks, check_chunks_end, true, false, false},
	{"antman", check_eris_steps, NULL, false, true, false},
	{"batchsche", check_gang, NULL, false, false, false},
	{"dorm", check_elastic, NULL, false, false, true},
	{"dorm-milp", check_elastic, NULL, false, false, true},
	{"liquid", check_eris_steps, NULL, false, true, false},
	{"oasis-drf", check_elastic, NULL, false, false, true},
	{"oasis-fifo", check_elastic, NULL, false, false, true},
	{"rrh", check_elastic, NULL, false, false, true},
	{"srtf", check_gang, NULL, false, false, false},
	{"tiresias", check_eris_steps, NULL, false, true, false},
	{"tiresias-l", check_gang, NULL, false, false, false},
};

const struct check_steps *check_steps_find(const char *policy)
{
	size_t len = strcspn(policy, ",");
	unsigned i;

	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (strlen(policies[i].name) == len && !strncmp(policies[i].name, policy, len))
			return &policies[i];
	return NULL;
}

void check_steps_job(struct check *c, struct sold *j)
{
	unsigned i;

	j->completed = j->completion > 0;
	check_head(c, j);
	if (!j->nruns) {
		if (j->completed || j->start || j->worker_type || j->ps_type || j->has_colocated)
			check_violation(c, NULL, j,
					"expected no schedule of a job that never runs");
		return;
	}
	if (!check_types(c, j) || !check_runs(c, j))
		return;
	for (i = 0; i < j->nruns; i++) {
		check_uploads(c, j, &j->runs[i]);
		check_book(c, j, &j->runs[i]);
	}
	c->steps->work(c, j);
}

/* Keys, times and money. */
static void check_head(struct check *c, const struct sold *j)
{
	long double value = 0;

	if (j->reason || !isnan(j->best_payoff))
		check_violation(c, "reason", j, "expected none of an accepted job");
	if (!j->has_plan || !j->has_transfers || (j->nruns && !j->has_colocated))
		check_violation(c, "plan", j,
				"expected colocated, plan and transfers of an accepted job");
	if (c->steps->chunks != j->has_chunks)
		check_violation(c, "chunks", j, "expected %s",
				c->steps->chunks ? "an array" : "none of this policy");
	if (j->has_offer)
		check_violation(c, "offer", j, "expected none of this policy");
	if (j->ntransfers && !c->steps->sites)
		check_violation(c, "transfers", j, "expected none, found %u", j->ntransfers);
	if (j->completed && j->job->has_utility)
		value = books_value(&j->job->utility, (long double)j->completion - j->job->arrival);
	if (!check_close(j->value, value))
		check_violation(c, "value", j, "expected %.17Lg, found %.17g", value, j->value);
	if (j->payment != 0)
		check_violation(c, "payment", j, "expected 0, found %.17g", j->payment);
	if (j->payoff != j->value)
		check_violation(c, "payoff", j, "expected the value, found %.17g", j->payoff);
	if (j->nruns && j->start != j->runs[0].from)
		check_violation(c, "start", j,
				"expected %" PRIu64 ", the plan's first slot, found %" PRIu64,
				j->runs[0].from, j->start);
	if (j->nruns && j->completed && j->completion != j->runs[j->nruns - 1].to + 1)
		check_violation(c, "completion", j,
				"expected %" PRIu64
				", the slot after the plan's last, found %" PRIu64,
				j->runs[j->nruns - 1].to + 1, j->completion);
}

/* In order, within the horizon, not before the arrival, each different from the one before it. */
static bool check_runs(struct check *c, const struct sold *j)
{
	const struct run *run, *before;

	for (run = j->runs; run < j->runs + j->nruns; run++) {
		before = run > j->runs ? run - 1 : NULL;
		if (run->from > run->to || run->to > c->s->slots || run->from < j->job->arrival ||
		    (before && run->from <= before->to)) {
			check_violation(c, "plan", j,
					"expected slots in order from the arrival %" PRIu64
					" to %" PRIu64 ", found %" PRIu64 " to %" PRIu64,
					j->job->arrival, c->s->slots, run->from, run->to);
			return false;
		}
		if (c->steps->spread ? !check_pss(c, j, run) : !check_groups(c, j, run))
			return false;
		if (!c->steps->spread && run->ps->count != 1)
			check_violation(c, "plan", j, "expected 1 PS, found %" PRIu64,
					run->ps->count);
	}
	check_maximal(c, j);
	return true;
}

void check_maximal(struct check *c, const struct sold *j)
{
	const struct run *run;

	for (run = j->runs + 1; run < j->runs + j->nruns; run++)
		if (run[-1].to + 1 == run->from &&
		    same_groups(run[-1].workers, run[-1].nworkers, run->workers, run->nworkers) &&
		    same_groups(run[-1].ps, run[-1].nps, run->ps, run->nps))
			check_violation(c, "plan", j,
					"expected one run of slots with one layout, found another "
					"from %" PRIu64,
					run->from);
}

static bool same_groups(const struct group *a, unsigned n, const struct group *b, unsigned m)
{
	unsigned i, k;

	if (n != m)
		return false;
	for (i = 0; i < n; i++) {
		for (k = 0; k < m && b[k].server != a[i].server; k++)
			;
		if (k == m || b[k].count != a[i].count)
			return false;
	}
	return true;
}

/*
 * A job that runs with all of its workers or not at all. A worker does 1/p0 of a chunk in a slot,
 * or 1/p1 if one server holds the whole layout.
 */
static void check_gang(struct check *c, struct sold *j)
{
	long double apart = chunk_slots(c, j, false), together = chunk_slots(c, j, true);
	long double all = (long double)j->job->chunks * apart * together, done = 0, rate = 0;
	uint64_t n = 0, most = check_sum(j->runs[0].workers, j->runs[0].nworkers);
	const struct run *run;
	bool one_server = true;

	for (run = j->runs; run < j->runs + j->nruns; run++) {
		one_server = one_server && is_together(run);
		n = check_sum(run->workers, run->nworkers);
		rate = is_together(run) ? apart : together;
		done += rate * n * (run->to - run->from + 1);
		if (n > most || n > j->job->chunks ||
		    (n < most && (run->from < run->to || run + 1 < j->runs + j->nruns)))
			check_violation(c, "plan", j,
					"expected %" PRIu64
					" workers in every slot but the last, found "
					"%" PRIu64,
					most, n);
		if (run > j->runs && run->from > run[-1].to + 1)
			c->preemptions++;
	}
	if (j->colocated != one_server)
		check_violation(c, "colocated", j, "expected %s", one_server ? "true" : "false");
	if (j->completed ? done < all || done - rate * n >= all : done >= all)
		check_violation(c, "plan", j,
				"expected %.17Lg parts of chunks of a completed job and less of "
				"any other, found %.17Lg",
				all, done);
	if (n && done - rate * (n - 1) >= all && n > 1)
		check_violation(c, "plan", j, "expected no idle worker in the last slot");
	if (!j->completed && run[-1].to < c->s->slots)
		c->preemptions++;
}

/* Does one server hold all of it? */
static bool is_together(const struct run *run)
{
	return run->nworkers == 1 && run->workers->server == run->ps->server;
}

/* Slots of one chunk on one worker. */
static long double chunk_slots(struct check *c, const struct sold *j, bool together)
{
	long double work =
		books_work(c->books, j->job, j->worker, j->worker_seconds, j->ps_seconds, together);

	return books_duration(work / j->job->chunks, 1);
}
