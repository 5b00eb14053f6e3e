/* exec.c - see exec.h and doc/executor.md. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec-private.h"
#include "ledger/why.h"

#define SELDOM      10  /* times as seldom */
#define PUT_OFF_MAX 100 /* times, where Slurm does not begin what was sold and says no reason */

static bool same_part(const struct auc_part *a, const struct auc_part *b);
static int job_for(const struct auc_exec *x, const struct auc_part *part);
static bool is_early(const struct auc_exec *x, const struct auc_exec_job *job,
		     const struct auc_part *part);
static double strayed(const struct auc_exec *x, const struct auc_exec_rules *rules, double now);
static void watch(struct auc_exec *x, const struct auc_exec_rules *rules, double now);
static struct auc_exec_booking step(struct auc_exec *x, const struct auc_exec_rules *rules,
				    double now);
static struct auc_exec_booking group(struct auc_exec *x, const struct auc_exec_rules *rules,
				     double now);
static bool is_kept(const struct auc_exec *x, unsigned part);
static int kept_part(const struct auc_exec *x, const struct auc_exec_rules *rules, double now);
static bool comes_later(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned on,
			double now);
static bool waits_for_others(const struct auc_exec *x);
static double missed(const struct auc_exec *x, const struct auc_exec_rules *rules, double now);
static double members_begun(const struct auc_exec *x, double start, double soonest);
static const char *broken(const struct auc_exec *x, const struct auc_exec_rules *rules,
			  unsigned part, double now);
static const char *why_not(const struct auc_exec *x, unsigned part);
static const char *why_over(const struct auc_exec *x, const struct auc_exec_rules *rules,
			    unsigned on, double now);
static struct auc_exec_booking at_end(struct auc_exec *x, const struct auc_exec_rules *rules,
				      unsigned on, double now);
static struct auc_exec_booking put_off(struct auc_exec *x, unsigned part, const char *why,
				       double when);
static int only_waited(const struct auc_exec *x, unsigned on, const char *why);
static unsigned missing_member(const struct auc_exec *x);
static bool is_of_node(const char *why, bool lead);
static bool is_held_up(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part,
		       double now);
static bool overdue(const struct auc_exec_job *job, const struct auc_exec_rules *rules, double now);
static bool movable(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part);
static bool needs_other(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part,
			double now);
static const char *why_ended(const struct auc_exec *x, const struct auc_exec_rules *rules);
static bool member_lost_its_node(const struct auc_exec *x);
static enum auc_exec_state state_of(const struct auc_exec *x, const struct auc_exec_rules *rules,
				    double now);
static bool stands(const struct auc_exec *x, const struct auc_exec_rules *rules, double now);

const char *auc_exec_state_word(enum auc_exec_state s)
{
	static const char *const words[AUC_EXEC_NSTATES] = {
		"lien", "sold", "waiting", "starting", "running", "changing", "ending", "settled"};

	return (unsigned)s < AUC_EXEC_NSTATES ? words[s] : "unknown";
}

enum auc_code auc_exec_init(struct auc_exec *x, const struct auc_part *parts, unsigned nparts,
			    struct auc_err *err)
{
	memset(x, 0, sizeof(*x));
	return auc_exec_take(x, parts, nparts, err);
}

enum auc_code auc_exec_take(struct auc_exec *x, const struct auc_part *parts, unsigned nparts,
			    struct auc_err *err)
{
	struct auc_exec_job *jobs = calloc(nparts, sizeof(*jobs));
	double *down = calloc(nparts, sizeof(*down));
	bool *closed = calloc(nparts, sizeof(*closed));
	bool *unheard = calloc(nparts, sizeof(*unheard));
	bool *stopped = calloc(nparts, sizeof(*stopped));
	bool *shut = calloc(nparts, sizeof(*shut));

	if (!jobs || !down || !closed || !unheard || !stopped || !shut) {
		free(jobs);
		free(down);
		free(closed);
		free(unheard);
		free(stopped);
		free(shut);
		return auc_err_set(err, AUC_ENOMEM, "out of memory for the jobs of a sale");
	}
	for (unsigned i = 0; i < nparts; i++) {
		jobs[i].part = -1;
		if (!parts[i].lead && job_for(x, &parts[i]) >= 0)
			jobs[i] = x->jobs[job_for(x, &parts[i])];
	}
	if (x->nparts) {
		jobs[0] = x->jobs[0];
		/* It is looked at again before anything is decided by its place, and has time to
		 * get there. */
		jobs[0].seen = AUC_SEEN_NOT;
		jobs[0].late = 0;
	}
	free(x->jobs);
	free(x->down);
	free(x->closed);
	free(x->unheard);
	free(x->stopped);
	free(x->shut);
	/* A gang has nothing to be told of: it has one layout, and its script may know no signal.
	 */
	x->tell = x->tell || (x->nparts && x->booked == AUC_SALE_RUNNING && !parts[0].nnodes);
	x->jobs = jobs;
	x->down = down;
	x->closed = closed;
	x->unheard = unheard;
	x->waits = false;
	x->after = 0;
	x->stopped = stopped;
	x->shut = shut;
	x->parts = parts;
	x->nparts = nparts;
	x->start = parts[0].start;
	x->end = 0;
	for (unsigned i = 0; i < nparts; i++)
		if (parts[i].end > x->end)
			x->end = parts[i].end;
	return AUC_OK;
}

void auc_exec_clear(struct auc_exec *x)
{
	free(x->jobs);
	free(x->down);
	free(x->closed);
	free(x->unheard);
	free(x->stopped);
	free(x->shut);
	memset(x, 0, sizeof(*x));
}

struct auc_exec_booking auc_exec_step(struct auc_exec *x, const struct auc_exec_rules *rules,
				      double now)
{
	struct auc_exec_booking booking = {.book = AUC_BOOK_NOTHING};

	if (x->booked != AUC_SALE_SETTLED && x->jobs[0].seen != AUC_SEEN_NOT) {
		watch(x, rules, now);
		booking = step(x, rules, now);
	}
	x->state = booking.book == AUC_BOOK_SETTLE ? AUC_EXEC_ENDING : state_of(x, rules, now);
	return booking;
}

void auc_exec_refused(struct auc_exec *x, const struct auc_exec_booking *booking,
		      const struct auc_exec_rules *rules, double now)
{
	if (booking->held && x->put_off)
		x->put_off--;
	if (booking->book == AUC_BOOK_EXTEND)
		x->extend = false;
	if (booking->book == AUC_BOOK_GO_ON)
		x->goes_on = false;
	if (booking->book == AUC_BOOK_PUT_OFF) {
		x->waits = false;
		/* While whole slots are left, it has these. */
		if (booking->when + x->slot > x->end)
			x->why = booking->why;
		x->replan = now + rules->ahead;
	}
	if (booking->book == AUC_BOOK_MOVE) {
		/* Slurm does not start it, and nobody says that it is its owner's fault: its server
		 * may still end somebody else's job. It waits, as in an outage. */
		x->waits = is_held_up(x, rules, booking->part, now);
		/* A node that is not needed yet may be repaired in time. */
		x->why = x->waits ? NULL : broken(x, rules, booking->part, now);
		x->replan = now + (now < x->parts[booking->part].start - rules->ahead
					   ? rules->ahead
					   : 4 * rules->again);
	}
	x->state = state_of(x, rules, now);
}

bool auc_exec_is_alive(const struct auc_exec_job *j)
{
	return j->id && j->seen != AUC_SEEN_NOT && j->seen != AUC_SEEN_GONE &&
	       j->seen != AUC_SEEN_ENDED;
}

void auc_exec_did(struct auc_exec *x, const struct auc_exec_action *action, enum auc_code result,
		  uint32_t id, const struct auc_exec_rules *rules, double now)
{
	/* The lead's job is that of part 0, whichever part it is to become. */
	const struct auc_part *p = &x->parts[action->part];
	struct auc_exec_job *j = &x->jobs[p->lead ? 0 : action->part];
	double change;

	switch (action->ask) {
	case AUC_ASK_SUBMIT:
		if (result == AUC_OK) {
			j->id = id;
			j->seen = AUC_SEEN_NOT;
			return;
		}
		/* Where it is one job too many, jobs of the layout before end first; and what was
		 * sold can be had once its owner has one job less. */
		if (result == AUC_ELIMIT && now < p->start &&
		    (p->start > x->start || x->replanned)) {
			j->next =
				now + (now < p->start - rules->ahead ? rules->ahead : rules->again);
			return;
		}
		j->why = result == AUC_ELIMIT  ? AUC_WHY_LIMIT
			 : result == AUC_EFULL ? AUC_WHY_REFUSED
					       : NULL;
		j->tries = result == AUC_EFULL || (j->why && p->start <= x->start) ? rules->tries
										   : j->tries + 1;
		break;
	case AUC_ASK_NOTICE:
		change = p->nnodes ? p->end : auc_exec_next_change(x, now);
		if (now >= change - rules->notice)
			x->told = change;
		x->tell = false;
		return;
	case AUC_ASK_WARN:
		j->warned = true;
		j->script_told = action->script;
		return;
	case AUC_ASK_MOVE:
		x->moved = now;
		/* fall through */
	case AUC_ASK_PLACE:
		j->warned = j->script_told = false;
		break;
	case AUC_ASK_KILL:
		j->killed = true;
		break;
	case AUC_ASK_NUDGE:
		/* Slurm begins it when those have ended: it may be long until then. */
		if (!action->part && waits_for_others(x)) {
			j->next = now + SELDOM * rules->again;
			return;
		}
		break;
	case AUC_ASK_LIMIT:
		break;
	}
	j->next = now + rules->again;
}

unsigned auc_exec_lead_part(const struct auc_exec *x, const struct auc_exec_rules *rules,
			    double now)
{
	/* What has not begun by then would be ended while it begins, which Slurm may take KillWait
	 * for. */
	double early = x->jobs[0].seen == AUC_SEEN_PENDING ? AUC_EXEC_CLOSE : 0;
	unsigned last = 0;

	for (unsigned i = 0; i < x->nparts; i++) {
		if (!x->parts[i].lead)
			continue;
		last = i;
		if (now < auc_exec_leaves(x, rules, i) - early)
			break;
	}
	return last;
}

bool auc_exec_busy(const struct auc_exec *x, const struct auc_exec_rules *rules, double now,
		   double soon)
{
	if (x->state == AUC_EXEC_LIEN || x->state == AUC_EXEC_SOLD ||
	    (x->state == AUC_EXEC_STARTING && !waits_for_others(x)) ||
	    x->state == AUC_EXEC_ENDING || x->state == AUC_EXEC_SETTLED || x->tell)
		return true;
	if (!x->why && now >= x->replan && missed(x, rules, now) > 0)
		return true;
	/* Jobs are slower than the clock: for a while after it they are watched. */
	if (auc_exec_due(x, rules, now - rules->again, now + soon))
		return true;
	if (x->state == AUC_EXEC_CHANGING && !stands(x, rules, now))
		return true;
	for (unsigned i = 1; i < x->nparts; i++)
		if (!x->parts[i].lead && !x->jobs[i].id && x->jobs[i].tries < rules->tries &&
		    now < x->parts[i].end &&
		    (x->parts[i].start <= x->start || now >= x->parts[i].start - rules->ahead))
			return true;
	return false;
}

void auc_exec_wrote(struct auc_exec *x, bool good, double now)
{
	if (x->booked == AUC_SALE_LIEN)
		return;
	if (!good && !x->committed && (!(x->unsaved > 0) || x->saved > 0)) {
		x->unsaved = now;
		x->saved = 0;
	}
	if (good && x->unsaved > 0 && !(x->saved > 0))
		x->saved = now;
	if (good)
		x->committed = true;
}

void auc_exec_shift(struct auc_exec *x, double step)
{
	x->unsaved = x->unsaved > 0 ? x->unsaved + step : 0;
	x->saved = x->saved > 0 ? x->saved + step : 0;
	for (unsigned i = 0; i < x->nparts; i++) {
		struct auc_exec_job *j = &x->jobs[i];

		j->next += step;
		j->late = j->late > 0 ? j->late + step : 0;
		x->down[i] = x->down[i] > 0 ? x->down[i] + step : 0;
	}
	x->replan += step;
	x->moved = x->moved > 0 ? x->moved + step : 0;
	x->astray = x->astray > 0 ? x->astray + step : 0;
}

bool auc_exec_part_due(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part,
		       double now)
{
	return now >= x->parts[part].start && now < auc_exec_leaves(x, rules, part);
}

/* Nodes and counts are what a member cannot change; its end it can. A gang has no members. */
static bool same_part(const struct auc_part *a, const struct auc_part *b)
{
	return !strcmp(a->server, b->server) && a->workers == b->workers && a->ps == b->ps;
}

/* The member that there is for PART of another plan; -1: none. */
static int job_for(const struct auc_exec *x, const struct auc_part *part)
{
	int found = -1;

	for (unsigned k = 0; k < x->nparts; k++) {
		if (x->parts[k].lead || !same_part(&x->parts[k], part))
			continue;
		if (x->parts[k].start == part->start)
			return (int)k;
		if (is_early(x, &x->jobs[k], part))
			found = (int)k;
	}
	return found;
}

/*
 * True if JOB runs in the slot before PART's first, which nobody else can have: it began late, and
 * its plan was put off. What runs and was to begin earlier had a clock that was set back.
 */
static bool is_early(const struct auc_exec *x, const struct auc_exec_job *job,
		     const struct auc_part *part)
{
	return job->seen == AUC_SEEN_RUNNING && job->began > part->start - x->slot &&
	       job->began < part->start - AUC_EXEC_CLOSE;
}

bool auc_exec_is_astray(const struct auc_exec *x, const struct auc_exec_rules *rules, double now)
{
	const struct auc_exec_job *lead = &x->jobs[0];

	/* Where nobody knows its names any more, it stays. */
	if (lead->seen != AUC_SEEN_RUNNING || !x->parts[0].server[0])
		return false;
	if (lead->part < 0 || (unsigned)lead->part < auc_exec_lead_part(x, rules, now))
		return true;
	/* Slurm starts a requeued job by a rule of its own, when nobody looks too early. */
	return now < x->parts[lead->part].start - AUC_EXEC_CLOSE &&
	       !(lead->part == 0 && is_early(x, lead, x->parts));
}

/* For how long it has been seen so, after the end of its slots there; 0: it is not. */
static double strayed(const struct auc_exec *x, const struct auc_exec_rules *rules, double now)
{
	int part = x->jobs[0].part;
	double since = x->astray;

	if (!(since > 0))
		return 0;
	if (part >= 0 && (unsigned)part < auc_exec_lead_part(x, rules, now))
		since = fmax(since, x->parts[part].end);
	return fmax(now - since, 0);
}

bool auc_exec_is_elsewhere(const struct auc_exec *x, double now)
{
	const struct auc_exec_job *lead = &x->jobs[0];

	if (lead->seen != AUC_SEEN_STARTING && lead->seen != AUC_SEEN_RUNNING)
		return false;
	for (unsigned i = 0; i < x->nparts && x->parts[i].start <= now; i++)
		if (x->unheard[i] && (int)i != lead->part)
			return true;
	return false;
}

double auc_exec_leaves(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part)
{
	return x->parts[part].end - rules->end_margin / 2;
}

/* Takes note of what should run and does not. */
static void watch(struct auc_exec *x, const struct auc_exec_rules *rules, double now)
{
	unsigned on = auc_exec_lead_part(x, rules, now);

	for (unsigned i = 0; i < x->nparts; i++) {
		struct auc_exec_job *j = &x->jobs[i];

		if (i && x->parts[i].lead)
			continue;
		if (!auc_exec_part_due(x, rules, i ? i : on, now) || j->seen == AUC_SEEN_RUNNING ||
		    x->unheard[i ? i : on] || is_kept(x, i ? i : on) || !x->committed)
			j->late = 0;
		else if (!j->late)
			j->late = now;
	}
	/* A script may take its time to leave, but its own: it is not late meanwhile. */
	if (x->jobs[0].seen == AUC_SEEN_RUNNING)
		x->lingers = false;
	if (x->jobs[0].seen == AUC_SEEN_RUNNING && x->jobs[0].began > x->moved)
		x->moved = 0;
	if (x->jobs[0].seen == AUC_SEEN_PENDING && x->jobs[0].leaving && x->jobs[0].late > 0) {
		x->lingers = true;
		x->jobs[0].late = 0;
	}
	if (stands(x, rules, now)) {
		x->stood = true;
		x->put_off = 0;
	}
	if (!auc_exec_is_astray(x, rules, now) || auc_exec_is_elsewhere(x, now)) {
		x->astray = 0;
		x->stuck = false;
	} else if (!(x->astray > 0)) {
		x->astray = now;
	}
}

static struct auc_exec_booking step(struct auc_exec *x, const struct auc_exec_rules *rules,
				    double now)
{
	const struct auc_exec_job *lead = &x->jobs[0];
	struct auc_exec_booking b = {.book = AUC_BOOK_NOTHING};

	if (x->booked == AUC_SALE_LIEN) {
		if (lead->seen != AUC_SEEN_GONE)
			b.book = AUC_BOOK_CONFIRM;
		return b;
	}
	if (lead->seen == AUC_SEEN_ENDED && lead->unsure && !x->why)
		return b;
	/* What Slurm's record says counts, also where nobody saw the job run. */
	if (x->booked == AUC_SALE_SOLD && lead->seen == AUC_SEEN_ENDED && lead->ran) {
		b.book = AUC_BOOK_START;
		return b;
	}
	if (lead->seen == AUC_SEEN_GONE || lead->seen == AUC_SEEN_ENDED) {
		b.book = AUC_BOOK_SETTLE;
		b.why = lead->seen == AUC_SEEN_GONE ? AUC_WHY_LOST : why_ended(x, rules);
		b.when = lead->seen == AUC_SEEN_ENDED && lead->ended > 0 && lead->ended < now
				 ? lead->ended
				 : now;
		return b;
	}
	if (x->booked == AUC_SALE_SOLD && lead->seen == AUC_SEEN_RUNNING && !x->why) {
		b.book = AUC_BOOK_START;
		return b;
	}
	/* How a script ends that is told to make way for a move is not its own choice. */
	if (lead->seen == AUC_SEEN_PENDING && lead->quit && !x->why && !(x->moved > 0) &&
	    x->booked == AUC_SALE_RUNNING &&
	    auc_exec_part_due(x, rules, auc_exec_lead_part(x, rules, now), now))
		x->why = AUC_WHY_FAILED;
	return x->why ? b : group(x, rules, now);
}

/* The lead lives: does the rest, and is there time? */
static struct auc_exec_booking group(struct auc_exec *x, const struct auc_exec_rules *rules,
				     double now)
{
	struct auc_exec_booking b = {.book = AUC_BOOK_NOTHING};
	unsigned on = auc_exec_lead_part(x, rules, now);
	double begun = missed(x, rules, now);
	int kept = kept_part(x, rules, now);

	if (kept >= 0) {
		if (now < x->replan)
			return b;
		b.book = AUC_BOOK_PUT_OFF;
		b.part = (unsigned)kept;
		b.why = AUC_WHY_PARTITION_DOWN;
		b.when = now - rules->late;
		return b;
	}
	if (comes_later(x, rules, on, now)) {
		if (now < x->replan)
			return b;
		b.book = AUC_BOOK_PUT_OFF;
		b.part = on;
		b.why = AUC_WHY_NOT_STARTED;
		b.when = x->after;
		return b;
	}
	if (begun > 0 && now >= x->replan) {
		b.book = AUC_BOOK_PUT_OFF;
		b.part = x->booked == AUC_SALE_SOLD ? 0 : on;
		b.why = AUC_WHY_OUTAGE;
		b.when = begun - rules->late;
		return b;
	}
	if (now >= x->end - rules->end_margin)
		return at_end(x, rules, on, now);
	/* Before those whose slots these are count as late. */
	if (strayed(x, rules, now) > (x->stuck ? rules->grace / 2 : rules->grace))
		x->why = AUC_WHY_NOT_MOVED;
	for (unsigned i = 0; i < x->nparts && !x->why; i++) {
		const char *why = broken(x, rules, i, now);
		bool held = is_held_up(x, rules, i, now);

		/* Another node takes over what one that fails was to give. */
		if (!(held && x->put_off >= PUT_OFF_MAX) &&
		    (why ? is_of_node(why, x->parts[i].lead) && movable(x, rules, i)
			 : needs_other(x, rules, i, now))) {
			if (now < x->replan && !x->waits)
				continue;
			if (x->waits && held)
				return put_off(x, i, why, now - rules->late);
			b.book = AUC_BOOK_MOVE;
			b.part = i;
			b.held = held;
			x->put_off += held;
			return b;
		}
		x->why = why;
	}
	return b;
}

/* The plan is over, or nearly; ON is the lead's part. */
static struct auc_exec_booking at_end(struct auc_exec *x, const struct auc_exec_rules *rules,
				      unsigned on, double now)
{
	struct auc_exec_booking b = {.book = AUC_BOOK_NOTHING};
	const char *why = why_over(x, rules, on, now);
	int waited = only_waited(x, on, why);

	/* It buys no more time before all of it runs. */
	if (waited >= 0 && x->put_off < PUT_OFF_MAX)
		return put_off(x, (unsigned)waited, why, now);
	if (x->jobs[0].seen == AUC_SEEN_RUNNING && (x->extend || x->goes_on) && now < x->end)
		b.book = x->extend ? AUC_BOOK_EXTEND : AUC_BOOK_GO_ON;
	else
		x->why = why;
	return b;
}

/* True if PART's job does not run because its partition starts none, or takes none. */
static bool is_kept(const struct auc_exec *x, unsigned part)
{
	const struct auc_exec_job *j = &x->jobs[x->parts[part].lead ? 0 : part];

	return (x->stopped[part] && (j->seen == AUC_SEEN_PENDING || !j->id)) ||
	       (x->shut[part] && !j->id);
}

/*
 * The part that is to run by now and is kept from it by the state of its partition, too late for
 * its slot; -1: none. It is put off slot by slot: nobody knows for how long.
 */
static int kept_part(const struct auc_exec *x, const struct auc_exec_rules *rules, double now)
{
	unsigned on = auc_exec_lead_part(x, rules, now);

	for (unsigned i = 0; i < x->nparts; i++)
		if ((x->parts[i].lead ? i == on : i > 0) && auc_exec_part_due(x, rules, i, now) &&
		    now > x->parts[i].start + rules->late && is_kept(x, i))
			return (int)i;
	return -1;
}

/* True if the lead, which is to be on part ON by now, waits for sales that are late: what it has
 * bought comes after them. */
static bool comes_later(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned on,
			double now)
{
	return x->jobs[0].seen == AUC_SEEN_PENDING && auc_exec_part_due(x, rules, on, now) &&
	       now > x->parts[on].start + rules->late && x->after > x->parts[on].start;
}

/* True if the lead waits for other jobs, which may be late by its owner's doing: then what is left
 * of its slots is still its own. */
static bool waits_for_others(const struct auc_exec *x)
{
	const struct auc_exec_job *lead = &x->jobs[0];

	return lead->seen == AUC_SEEN_PENDING &&
	       (x->after > 0 || (lead->why && !strcmp(lead->why, AUC_WHY_OWN_JOB)));
}

/*
 * When the lead, or a member that is to begin with it, begins or could, if that is too late because
 * nobody looked after it when its plan began, or went on after a pause, or because nothing could be
 * asked for it; else 0.
 */
static double missed(const struct auc_exec *x, const struct auc_exec_rules *rules, double now)
{
	unsigned part = x->booked == AUC_SALE_SOLD ? 0 : auc_exec_lead_part(x, rules, now);
	const struct auc_exec_job *lead = &x->jobs[0];
	const struct auc_part *p = &x->parts[part];
	double soonest = now + (x->unheard[part] ? rules->begins : 0);
	double begun = lead->seen == AUC_SEEN_RUNNING ? lead->began : soonest;
	bool unsaved = p->start < x->saved;
	double from = unsaved ? x->unsaved : rules->from;

	if ((lead->seen != AUC_SEEN_RUNNING && lead->seen != AUC_SEEN_PENDING) ||
	    (p->start >= rules->since && !unsaved))
		return 0;
	if (unsaved)
		begun = fmax(begun, members_begun(x, p->start, soonest));
	if (begun <= p->start + rules->late)
		return 0;
	/* It was late, but it began while somebody looked. */
	if (lead->seen == AUC_SEEN_RUNNING && begun < from - AUC_EXEC_CLOSE)
		return 0;
	/* It ran until then, somewhere else. */
	for (unsigned i = 0; i < x->nparts; i++)
		if (x->parts[i].lead && x->parts[i].end == p->start)
			return 0;
	return lead->seen == AUC_SEEN_PENDING || lead->part == (int)part ? begun : 0;
}

/* When the last of the members that are to begin at START does, or could, at SOONEST; 0: there are
 * none. */
static double members_begun(const struct auc_exec *x, double start, double soonest)
{
	double last = 0;

	for (unsigned i = 1; i < x->nparts; i++)
		if (!x->parts[i].lead && x->parts[i].start == start)
			last = fmax(last, x->jobs[i].seen == AUC_SEEN_RUNNING ? x->jobs[i].began
									      : soonest);
	return last;
}

/*
 * Why the group cannot go on with PART as it is, or NULL. Paid back is only what its owner cannot
 * bring about, who may cancel a member or kill what runs in it.
 */
static const char *broken(const struct auc_exec *x, const struct auc_exec_rules *rules,
			  unsigned part, double now)
{
	bool lead = x->parts[part].lead;
	const struct auc_exec_job *j = &x->jobs[lead ? 0 : part];
	const char *why = why_not(x, part);

	if (now >= x->parts[part].end - rules->end_margin)
		return NULL;
	if (lead && waits_for_others(x))
		return NULL;
	if (lead)
		return j->seen == AUC_SEEN_PENDING && overdue(j, rules, now) &&
				       part == auc_exec_lead_part(x, rules, now)
			       ? why
			       : NULL;
	if (j->tries >= rules->tries)
		return why;
	if (!j->id || j->seen == AUC_SEEN_NOT)
		return NULL;
	if (j->seen == AUC_SEEN_GONE)
		return AUC_WHY_LOST;
	if (j->seen == AUC_SEEN_ENDED)
		return j->unsure ? NULL : j->why;
	return overdue(j, rules, now) && x->jobs[0].seen == AUC_SEEN_RUNNING ? why : NULL;
}

/* Why PART's job does not run. Where its owner can bring that about, that comes first. */
static const char *why_not(const struct auc_exec *x, unsigned part)
{
	const struct auc_exec_job *j = &x->jobs[x->parts[part].lead ? 0 : part];
	const char *why = j->seen != AUC_SEEN_ENDED ? j->why : NULL;

	if (why && !auc_why_refunds(why))
		return why;
	if (is_kept(x, part))
		return AUC_WHY_PARTITION_DOWN;
	if (x->down[part] > 0 || x->closed[part])
		return AUC_WHY_NODE_FAIL;
	if (x->parts[part].lead && x->lingers && (!why || !strcmp(why, AUC_WHY_NODE_BUSY)))
		return AUC_WHY_TIMEOUT;
	return why ? why : AUC_WHY_NOT_STARTED;
}

/* Why all of it ends at the end of the plan, ON being the lead's part. */
static const char *why_over(const struct auc_exec *x, const struct auc_exec_rules *rules,
			    unsigned on, double now)
{
	if (x->jobs[0].seen != AUC_SEEN_RUNNING)
		return x->committed ? why_not(x, on) : AUC_WHY_OUTAGE;
	if (strayed(x, rules, now) > 0)
		return AUC_WHY_NOT_MOVED;
	if (!x->stood && missing_member(x))
		return why_not(x, missing_member(x));
	return x->stood ? AUC_WHY_TIMEOUT : AUC_WHY_NOT_STARTED;
}

/* PART's job only waits: what begins with it begins at WHEN. */
static struct auc_exec_booking put_off(struct auc_exec *x, unsigned part, const char *why,
				       double when)
{
	x->put_off++;
	return (struct auc_exec_booking){
		.book = AUC_BOOK_PUT_OFF, .part = part, .why = why, .when = when, .held = true};
}

/*
 * The part from which on a plan comes later that is over and never stood, as a job of it has done
 * nothing but wait, for WHY, and its owner cannot help that: the lead, which is to be on part ON,
 * or a member that was to begin with it, which may not be submitted yet. It was too short for that
 * job to count as late. -1: none.
 */
static int only_waited(const struct auc_exec *x, unsigned on, const char *why)
{
	bool sold = x->booked == AUC_SALE_SOLD;
	unsigned part = sold ? on : missing_member(x);
	bool lead = x->parts[part].lead;
	const struct auc_exec_job *j = &x->jobs[lead ? 0 : part];
	bool waits = j->seen == AUC_SEEN_PENDING || (!lead && j->seen == AUC_SEEN_NOT);

	if (!x->committed || x->stood || !waits || x->down[part] > 0 || x->closed[part] ||
	    waits_for_others(x) || !is_of_node(why, lead))
		return -1;
	if (sold)
		return 0;
	return part && x->jobs[0].seen == AUC_SEEN_RUNNING && x->parts[part].start == x->start
		       ? (int)part
		       : -1;
}

/* The first member that does not run; 0: all do. */
static unsigned missing_member(const struct auc_exec *x)
{
	for (unsigned i = 1; i < x->nparts; i++)
		if (!x->parts[i].lead && x->jobs[i].seen != AUC_SEEN_RUNNING)
			return i;
	return 0;
}

/* Another node may be of use. A member that is held makes way for another; the LEAD stays held. */
static bool is_of_node(const char *why, bool lead)
{
	static const char *const words[] = {AUC_WHY_NODE_FAIL,   AUC_WHY_NODE_BUSY,
					    AUC_WHY_NOT_STARTED, AUC_WHY_NOT_LAUNCHED,
					    AUC_WHY_PREEMPTED,   AUC_WHY_LOST};

	if (!lead && !strcmp(why, AUC_WHY_HELD))
		return true;
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(why, words[i]))
			return true;
	return false;
}

/* True if PART is to run and its job only waits, for a cause that is not its owner's. */
static bool is_held_up(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part,
		       double now)
{
	const struct auc_exec_job *j = &x->jobs[x->parts[part].lead ? 0 : part];
	const char *why = broken(x, rules, part, now);

	return j->seen == AUC_SEEN_PENDING && why && is_of_node(why, x->parts[part].lead) &&
	       !(x->down[part] > 0) && !x->closed[part];
}

/* One that has its node waits for it to boot, as long as Slurm lets it. */
static bool overdue(const struct auc_exec_job *job, const struct auc_exec_rules *rules, double now)
{
	return job->late && now > job->late + rules->grace && job->seen != AUC_SEEN_STARTING;
}

/* False if it is not the node's fault: Slurm refuses the member. */
static bool movable(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part)
{
	return x->parts[part].lead || x->jobs[part].tries < rules->tries || x->down[part] > 0;
}

/*
 * True if PART does not run and cannot: its server is not to be used and PART begins soon or has
 * begun, or its server is somebody else's then, which is known long before.
 */
static bool needs_other(const struct auc_exec *x, const struct auc_exec_rules *rules, unsigned part,
			double now)
{
	const struct auc_part *p = &x->parts[part];
	const struct auc_exec_job *j = &x->jobs[p->lead ? 0 : part];

	bool down = x->down[part] > 0 && now >= x->down[part] + rules->patience &&
		    now >= p->start - rules->ahead;

	if ((!down && !x->closed[part]) || now >= p->end - rules->end_margin)
		return false;
	/* Members that are not there yet, nobody looks for. */
	if (j->seen == AUC_SEEN_NOT && (p->lead || j->id || !x->closed[part]))
		return false;
	if (p->lead && part != auc_exec_lead_part(x, rules, now))
		return now < p->start;
	return j->seen != AUC_SEEN_RUNNING && j->seen != AUC_SEEN_STARTING;
}

static const char *why_ended(const struct auc_exec *x, const struct auc_exec_rules *rules)
{
	const char *why = x->jobs[0].why;

	if (x->why)
		/* A job that heeds the warning before its end and exits well has completed. */
		return strcmp(x->why, AUC_WHY_TIMEOUT) || strcmp(why, AUC_WHY_COMPLETED) ? x->why
											 : why;
	/* It was ended with its plan, by who has since been restarted. */
	if (x->booked == AUC_SALE_RUNNING && x->jobs[0].ended >= x->end - rules->end_margin &&
	    (!strcmp(why, AUC_WHY_CANCELLED) || !strcmp(why, AUC_WHY_FAILED)))
		return AUC_WHY_TIMEOUT;
	/* It was called off since it could not begin in time, by who has since been restarted. */
	if (x->booked == AUC_SALE_SOLD && !x->jobs[0].ran && !strcmp(why, AUC_WHY_CANCELLED) &&
	    x->jobs[0].ended > x->parts[0].start + rules->late && x->jobs[0].ended < rules->from)
		return AUC_WHY_OUTAGE;
	/* Its program does not outlive the node of another part, of which its owner is not guilty.
	 */
	if (!strcmp(why, AUC_WHY_FAILED) && member_lost_its_node(x))
		return AUC_WHY_NODE_FAIL;
	return why;
}

static bool member_lost_its_node(const struct auc_exec *x)
{
	for (unsigned i = 1; i < x->nparts; i++)
		if (!x->parts[i].lead && x->jobs[i].seen == AUC_SEEN_ENDED && x->jobs[i].why &&
		    !strcmp(x->jobs[i].why, AUC_WHY_NODE_FAIL))
			return true;
	return false;
}

static enum auc_exec_state state_of(const struct auc_exec *x, const struct auc_exec_rules *rules,
				    double now)
{
	bool due = false;

	if (x->booked == AUC_SALE_SETTLED)
		return AUC_EXEC_SETTLED;
	if (x->booked == AUC_SALE_LIEN)
		return AUC_EXEC_LIEN;
	if (!x->committed)
		return x->state > AUC_EXEC_SOLD ? x->state : AUC_EXEC_SOLD;
	if (x->why)
		return AUC_EXEC_ENDING;
	for (unsigned i = 0; i < x->nparts && !due; i++)
		due = auc_exec_part_due(x, rules, i, now);
	if (!due && x->jobs[0].seen != AUC_SEEN_RUNNING)
		return AUC_EXEC_WAITING;
	if (!x->stood)
		return AUC_EXEC_STARTING;
	if (now >= auc_exec_next_change(x, now) - rules->notice || !stands(x, rules, now))
		return AUC_EXEC_CHANGING;
	return AUC_EXEC_RUNNING;
}

/* True if all that is due runs, and the lead where it belongs. */
static bool stands(const struct auc_exec *x, const struct auc_exec_rules *rules, double now)
{
	const struct auc_exec_job *lead = &x->jobs[0];

	if (lead->seen != AUC_SEEN_RUNNING || lead->part != (int)auc_exec_lead_part(x, rules, now))
		return false;
	for (unsigned i = 1; i < x->nparts; i++)
		if (!x->parts[i].lead && auc_exec_part_due(x, rules, i, now) &&
		    x->jobs[i].seen != AUC_SEEN_RUNNING)
			return false;
	return true;
}

double auc_exec_told_from(const struct auc_exec *x, const struct auc_exec_rules *rules)
{
	const struct auc_exec_job *lead = &x->jobs[0];

	return lead->seen == AUC_SEEN_RUNNING ? lead->began + rules->settle : -INFINITY;
}

double auc_exec_next_change(const struct auc_exec *x, double now)
{
	double next = INFINITY;

	for (unsigned i = 0; i < x->nparts; i++) {
		if (x->parts[i].start > now && x->parts[i].start > x->start &&
		    x->parts[i].start < next)
			next = x->parts[i].start;
		if (x->parts[i].end > now && x->parts[i].end < x->end && x->parts[i].end < next)
			next = x->parts[i].end;
	}
	return next;
}
