/*
 * test_exec_world.c - the machine that carries a sale out (exec.h) in a world of its own: a small
 * Slurm and a ledger that can crash, in which random things happen to random plans.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/sale_parts.h"
#include "exec/exec.h"
#include "unit/support/execmarket.h"
#include "unit/support/splitmix.h"

#define PARTS_MAX 64
#define ACTIONS   64

static const struct auc_exec_rules rules = {EXEC_RULES, .settle = 1};
static struct auc_err err;
static uint64_t seed;

static unsigned below(unsigned n)
{
	return (unsigned)(splitmix(&seed) % n);
}

#define SLOT            10.0
#define TICK            0.25
#define REARRANGE_AHEAD 10.0
#define SERVERS         4
#define JOBS            256

struct scenario_market_job {
	uint32_t id;
	bool lead, gone;
	enum auc_seen is; /* PENDING, RUNNING or ENDED */
	const char *why;
	struct auc_part part; /* what it is submitted for */
	struct auc_part left; /* lead: what it was before it moved, */
	double left_began;    /* and since when */
	double made, begin, began, ended, completing;
	/* what slurmctld has forgotten: */
	bool elsewhere;     /* it does not run where its record says */
	bool ghost, orphan; /* it runs on ghost_on; and has no record */
	unsigned ghost_on;
	double outside; /* a lead that cannot be moved: since when it has no slots where it runs */
};

static struct {
	struct auc_market *market;
	struct auc_part *parts, *disk_parts; /* the plan in memory and on disk */
	unsigned nparts, ndisk_parts;
	struct auc_exec x;
	/* the ledger, in memory and on disk */
	enum auc_sale_state booked, disk;
	unsigned charged, settled;
	/* Slurm */
	struct scenario_market_job jobs[JOBS];
	unsigned njobs;
	bool down[SERVERS];
	bool unheard[SERVERS];   /* slurmctld does not know what runs there */
	double told_at[SERVERS]; /* until then */
	double now, back;        /* back: the controller is away until then */
	double away;             /* since when jobs were not looked after */
	double end;              /* of the plan */
	double refuses;          /* no job can be changed until then */
	double moved;            /* when a job last began */
	struct auc_exec_rules rules;
	bool calm; /* nothing more goes wrong */
	unsigned notices, moves, changes, put_off, rearranged, stuck, forgotten;
} w;

/* A plan that begins in SLOT or soon after. */
static void random_parts(auc_slot slot, struct auc_part **parts, unsigned *nparts)
{
	struct auc_plan plan;

	slot += below(6);
	auc_plan_init(&plan);
	for (unsigned r = 1 + below(5); r > 0; r--) {
		auc_slot to = slot + below(3);
		unsigned ps = below(SERVERS);

		assert_int_equal(auc_plan_add_run(&plan, slot, to, &err), AUC_OK);
		for (unsigned s = 0; s < SERVERS; s++)
			if (s == ps || below(2))
				assert_int_equal(
					auc_plan_add_share(&plan, s, 1 + below(2), s == ps, &err),
					AUC_OK);
		slot = to + 1 + (below(4) ? 0 : 1 + below(2));
	}
	plan.start = plan.runs[0].from;
	plan.completion = plan.runs[plan.nruns - 1].to + 1;
	assert_int_equal(auc_plan_parts(w.market, &plan, parts, nparts, &err), AUC_OK);
	assert_true(*nparts <= PARTS_MAX);
	auc_plan_clear(&plan);
}

static unsigned server_of(const struct scenario_market_job *j)
{
	return (unsigned)(j->part.server[1] - '0');
}

static struct scenario_market_job *world_submit(const struct auc_part *part, bool lead)
{
	struct scenario_market_job *j = &w.jobs[w.njobs++];

	assert_true(w.njobs < JOBS);
	*j = (struct scenario_market_job){.id = w.njobs,
					  .lead = lead,
					  .is = AUC_SEEN_PENDING,
					  .part = *part,
					  .made = w.now,
					  .begin = part->start};
	return j;
}

static void end_job(struct scenario_market_job *j, const char *why)
{
	if (j->is == AUC_SEEN_ENDED)
		return;
	j->is = AUC_SEEN_ENDED;
	j->why = why;
	j->ended = w.now;
}

static bool any_unheard(void)
{
	for (unsigned s = 0; s < SERVERS; s++)
		if (w.unheard[s])
			return true;
	return false;
}

/* Ends J as the agent does: what pends is held until all nodes have told, as it may run. */
static void kill_job(struct scenario_market_job *j)
{
	if (j->is == AUC_SEEN_PENDING && any_unheard())
		j->begin = INFINITY;
	else
		end_job(j, "cancelled");
}

/*
 * A server tells of its jobs, and slurmctld ends there what it does not know of; but what it takes
 * for a job that has only just ended it leaves alone.
 */
static void servers_tell(void)
{
	for (unsigned s = 0; s < SERVERS; s++) {
		if (!w.unheard[s] || w.now < w.told_at[s])
			continue;
		w.unheard[s] = false;
		for (unsigned i = 0; i < w.njobs; i++) {
			struct scenario_market_job *j = &w.jobs[i];

			if (j->ghost && j->ghost_on == s &&
			    (j->orphan || j->is != AUC_SEEN_ENDED || w.now > j->ended + 10))
				j->ghost = false;
		}
	}
}

/* What was saved last was so some seconds ago: slurmctld comes back with that. */
static void forget_jobs(void)
{
	double saved = w.now - below(20) * TICK;

	for (unsigned i = 0; i < w.njobs; i++) {
		struct scenario_market_job *j = &w.jobs[i];

		if (j->is != AUC_SEEN_RUNNING || j->began < saved || j->ghost)
			continue;
		w.forgotten++;
		/* It is where it was before, and slurmctld takes it for what it was then. */
		if (j->lead && j->left_began > 0 && j->left_began < saved && !j->elsewhere &&
		    !strcmp(j->left.server, j->part.server)) {
			j->part = j->left;
			j->began = j->left_began;
			continue;
		}
		j->ghost = !j->elsewhere;
		j->ghost_on = server_of(j);
		if (!j->lead && j->made >= saved) {
			j->orphan = j->gone = true;
			j->is = AUC_SEEN_ENDED;
		} else if (j->lead && j->left_began > 0 && j->left_began < saved) {
			j->part = j->left;
			j->began = j->left_began;
			j->elsewhere = true;
		} else {
			j->is = AUC_SEEN_PENDING;
			j->begin = j->part.start;
		}
	}
	for (unsigned s = 0; s < SERVERS; s++) {
		w.unheard[s] = !w.down[s];
		w.told_at[s] = w.back + below(28) * TICK;
	}
}

/* What happens without the controller's asking. */
static void world_moves(void)
{
	bool taken[SERVERS] = {false};

	for (unsigned i = 0; i < w.njobs; i++)
		if (w.jobs[i].is == AUC_SEEN_RUNNING)
			taken[server_of(&w.jobs[i])] = true;
	for (unsigned i = 0; i < w.njobs && w.now >= w.back; i++) {
		struct scenario_market_job *j = &w.jobs[i];

		if (j->is != AUC_SEEN_PENDING || j->begin > w.now || j->completing > w.now ||
		    w.down[server_of(j)] || w.unheard[server_of(j)] || taken[server_of(j)] ||
		    !below(4))
			continue;
		j->is = AUC_SEEN_RUNNING;
		j->elsewhere = false;
		j->began = w.moved = w.now;
		taken[server_of(j)] = true;
	}
	if (w.calm)
		return;
	if (!below(300) && w.njobs) {
		struct scenario_market_job *j = &w.jobs[below(w.njobs)];

		/* A job that its owner cancels before slurmctld knows that it runs, runs on. */
		if (!j->ghost && !j->elsewhere)
			end_job(j, (const char *[]){"completed", "failed", "cancelled"}[below(3)]);
	}
	if (!below(400)) {
		unsigned s = below(SERVERS);

		w.down[s] = !w.down[s];
		for (unsigned i = 0; i < w.njobs; i++)
			if (w.down[s] && server_of(&w.jobs[i]) == s &&
			    w.jobs[i].is == AUC_SEEN_RUNNING && !w.jobs[i].elsewhere &&
			    !w.jobs[i].ghost)
				end_job(&w.jobs[i], "node_fail");
		for (unsigned i = 0; i < w.njobs; i++)
			if (w.down[s] && w.jobs[i].ghost && w.jobs[i].ghost_on == s)
				w.jobs[i].ghost = false;
		w.unheard[s] = w.unheard[s] && !w.down[s];
	}
}

static struct auc_part *copy_parts(const struct auc_part *parts, unsigned n)
{
	struct auc_part *copy = malloc(n * sizeof(*copy));

	assert_non_null(copy);
	memcpy(copy, parts, n * sizeof(*copy));
	return copy;
}

/* A commit that succeeds. */
static void to_disk(void)
{
	w.disk = w.booked;
	w.x.committed = w.booked != AUC_SALE_LIEN;
	free(w.disk_parts);
	w.disk_parts = copy_parts(w.parts, w.nparts);
	w.ndisk_parts = w.nparts;
}

/* What PART's server was to give from now on moves to one that is up and gives nothing. */
static bool change_plan(unsigned part)
{
	char server = w.parts[part].server[1], other = 0;
	double from = floor(w.now / SLOT) * SLOT;
	struct auc_part *made;
	unsigned n = 0;

	for (char s = '0'; s < '0' + SERVERS && !other; s++) {
		bool taken = w.down[s - '0'] || s == server;

		for (unsigned p = 0; p < w.nparts; p++)
			taken |= w.parts[p].end > from && w.parts[p].server[1] == s;
		other = taken ? 0 : s;
	}
	if (!other || w.nparts > PARTS_MAX / 2)
		return false;
	made = malloc(2 * w.nparts * sizeof(*made));
	assert_non_null(made);
	for (unsigned p = 0; p < w.nparts; p++) {
		made[n] = w.parts[p];
		if (w.parts[p].end <= from || w.parts[p].server[1] != server) {
			n++;
			continue;
		}
		if (w.parts[p].start < from) {
			made[n++].end = from;
			made[n] = w.parts[p];
			made[n].start = from;
		}
		made[n++].server[1] = other;
	}
	assert_int_equal(auc_exec_take(&w.x, made, n, &err), AUC_OK);
	free(w.parts);
	w.parts = made;
	w.nparts = n;
	w.changes++;
	return true;
}

/* All that comes with PART and after it begins at UNTIL or after. */
static bool put_off(unsigned part, double until)
{
	double from = w.parts[part].start, by = ceil((until - from) / SLOT) * SLOT;
	struct auc_part *made = copy_parts(w.parts, w.nparts);

	assert_true(by > 0);
	/* Now and then somebody else has it. */
	if (!below(4)) {
		free(made);
		return false;
	}
	for (unsigned p = 0; p < w.nparts; p++)
		if (made[p].start >= from) {
			made[p].start += by;
			made[p].end += by;
			w.end = made[p].end > w.end ? made[p].end : w.end;
		}
	assert_int_equal(auc_exec_take(&w.x, made, w.nparts, &err), AUC_OK);
	free(w.parts);
	w.parts = made;
	w.put_off++;
	w.away = w.now; /* as if: what runs by the old plan is found by the next look */
	return true;
}

/* A sale that waits is placed anew, sooner or later than before, where slurmctld has time to hear
 * of it. */
static void rearrange(void)
{
	struct auc_part *made;
	unsigned n;

	if (w.booked != AUC_SALE_SOLD || w.parts[0].start < w.now + REARRANGE_AHEAD)
		return;
	random_parts((auc_slot)ceil((w.now + REARRANGE_AHEAD) / SLOT), &made, &n);
	assert_int_equal(auc_exec_take(&w.x, made, n, &err), AUC_OK);
	w.x.replanned = true;
	w.x.committed = false;
	free(w.parts);
	w.parts = made;
	w.nparts = n;
	for (unsigned p = 0; p < n; p++)
		w.end = made[p].end > w.end ? made[p].end : w.end;
	w.rearranged++;
}

static void forget(void)
{
	free(w.parts);
	w.parts = copy_parts(w.disk_parts, w.ndisk_parts);
	w.nparts = w.ndisk_parts;
	auc_exec_clear(&w.x);
	assert_int_equal(auc_exec_init(&w.x, w.parts, w.nparts, &err), AUC_OK);
	w.x.slot = SLOT;
	w.booked = w.disk;
}

/* The controller dies: what is not on disk never was. The lien's job is adopted by its receipt. */
static void crash(void)
{
	if (w.booked != AUC_SALE_LIEN && w.disk == AUC_SALE_LIEN)
		w.charged--;
	if (w.booked == AUC_SALE_SETTLED && w.disk != AUC_SALE_SETTLED)
		w.settled--;
	forget();
	w.back = w.rules.since = w.rules.from = w.now + below(40) * 0.5;
	if (below(2))
		forget_jobs();
}

static void look(void)
{
	for (unsigned i = 0; i < w.nparts; i++) {
		w.x.jobs[i].seen = AUC_SEEN_GONE;
		w.x.unheard[i] = w.unheard[w.parts[i].server[1] - '0'];
		if (!w.down[w.parts[i].server[1] - '0'])
			w.x.down[i] = 0;
		else if (!(w.x.down[i] > 0))
			w.x.down[i] = w.now;
	}
	for (unsigned k = 0; k < w.njobs; k++) {
		struct scenario_market_job *j = &w.jobs[k];
		unsigned i;

		if (j->gone)
			continue;
		for (i = 0; i < w.nparts && w.x.jobs[i].id != j->id; i++)
			;
		if (i == w.nparts && j->lead) {
			i = 0;
			w.x.jobs[0].id = j->id;
		}
		/* A member from before the crash. */
		for (unsigned p = 1; i == w.nparts && p < w.nparts; p++)
			if (!w.parts[p].lead && !w.x.jobs[p].id && j->is != AUC_SEEN_ENDED &&
			    w.booked != AUC_SALE_SETTLED && w.now < w.parts[p].end &&
			    !strcmp(w.parts[p].server, j->part.server) &&
			    w.parts[p].workers == j->part.workers && w.parts[p].ps == j->part.ps &&
			    (j->is == AUC_SEEN_RUNNING
				     ? j->began > w.parts[p].start - SLOT &&
					       j->began < w.parts[p].end
				     : j->begin >= w.parts[p].start && j->begin < w.parts[p].end)) {
				w.x.jobs[p].id = j->id;
				i = p;
			}
		if (i == w.nparts) {
			kill_job(j);
			continue;
		}
		w.x.jobs[i].seen = j->is;
		w.x.jobs[i].why = j->why;
		w.x.jobs[i].ended = j->ended;
		w.x.jobs[i].began = j->is == AUC_SEEN_RUNNING ? j->began : 0;
		w.x.jobs[i].begin = j->begin;
		if (!j->lead)
			continue;
		w.x.jobs[i].part = -1;
		for (unsigned p = 0; p < w.nparts; p++)
			if (w.parts[p].lead && !strcmp(w.parts[p].server, j->part.server) &&
			    w.parts[p].workers == j->part.workers &&
			    w.parts[p].start == j->part.start)
				w.x.jobs[i].part = (int)p;
	}
}

static void book(void)
{
	struct auc_exec_booking b = auc_exec_step(&w.x, &w.rules, w.now);

	switch (b.book) {
	case AUC_BOOK_NOTHING:
		return;
	case AUC_BOOK_CONFIRM:
		assert_int_equal(w.booked, AUC_SALE_LIEN);
		w.booked = AUC_SALE_SOLD;
		w.charged++;
		break;
	case AUC_BOOK_START:
		assert_int_equal(w.booked, AUC_SALE_SOLD);
		w.booked = AUC_SALE_RUNNING;
		break;
	case AUC_BOOK_SETTLE:
		assert_true(w.booked == AUC_SALE_SOLD || w.booked == AUC_SALE_RUNNING);
		assert_non_null(b.why);
		assert_true(b.when <= w.now);
		w.booked = AUC_SALE_SETTLED;
		w.settled++;
		break;
	case AUC_BOOK_MOVE:
	case AUC_BOOK_PUT_OFF:
		if (b.book == AUC_BOOK_MOVE ? change_plan(b.part) : put_off(b.part, b.when))
			break;
		/* fall through */
	case AUC_BOOK_EXTEND:
	case AUC_BOOK_GO_ON:
		auc_exec_refused(&w.x, &b, &w.rules, w.now);
		return;
	}
	w.x.committed = false;
}

/* What slurmctld refuses while its database does not answer for the job. */
static bool is_change(enum auc_exec_ask ask)
{
	return ask == AUC_ASK_NUDGE || ask == AUC_ASK_PLACE || ask == AUC_ASK_MOVE ||
	       ask == AUC_ASK_LIMIT;
}

static void act(void)
{
	struct auc_exec_action actions[ACTIONS];
	unsigned n = auc_exec_actions(&w.x, &w.rules, w.now, actions, ACTIONS);

	assert_true(!n || w.booked == w.disk);
	for (unsigned i = 0; i < n; i++) {
		unsigned p = actions[i].part;
		uint32_t id = w.x.jobs[w.parts[p].lead ? 0 : p].id;
		struct scenario_market_job *j = id ? &w.jobs[id - 1] : NULL;
		enum auc_code rc = AUC_OK;

		/* Some calls fail, and some that fail have been carried out. */
		if (!w.calm && !below(20)) {
			rc = below(4) ? AUC_EIO : AUC_EFULL;
			if (actions[i].ask != AUC_ASK_SUBMIT && below(2))
				rc = AUC_OK;
			else
				w.away = w.now; /* as if: it is asked for again */
		}
		if (w.now < w.refuses && is_change(actions[i].ask)) {
			rc = AUC_EIO;
			w.x.stuck |= actions[i].ask == AUC_ASK_MOVE;
		}
		if (rc == AUC_OK)
			switch (actions[i].ask) {
			case AUC_ASK_SUBMIT:
				assert_false(w.parts[p].lead);
				id = world_submit(&w.parts[p], false)->id;
				break;
			case AUC_ASK_NUDGE:
				assert_true(w.now >= w.parts[p].start);
				if (j->is == AUC_SEEN_PENDING)
					j->begin = w.now;
				break;
			case AUC_ASK_MOVE:
				if (j->is != AUC_SEEN_RUNNING)
					break;
				j->is = AUC_SEEN_PENDING;
				j->left = j->part;
				j->left_began = j->began;
				j->completing = w.now + 0.6;
				w.moves++;
				if (!w.calm && !below(10))
					break; /* Slurm was asked the first half only */
					       /* fall through */
			case AUC_ASK_PLACE:
				if (j->is != AUC_SEEN_PENDING)
					break;
				j->part = w.parts[p];
				j->begin = w.parts[p].start;
				break;
			case AUC_ASK_NOTICE:
				assert_true(j->is != AUC_SEEN_RUNNING || w.now >= j->began + 1);
				w.notices++;
				break;
			case AUC_ASK_LIMIT:
			case AUC_ASK_WARN:
				break;
			case AUC_ASK_KILL:
				kill_job(j);
				break;
			}
		auc_exec_did(&w.x, &actions[i], rc, rc == AUC_OK ? id : 0, &w.rules, w.now);
	}
}

/* Slurm's requeue comes with a begin time of its own, when the job is out of the way. */
static void requeue_rule(void)
{
	for (unsigned i = 0; i < w.njobs; i++)
		if (w.jobs[i].completing && w.jobs[i].completing <= w.now) {
			w.jobs[i].completing = 0;
			w.jobs[i].begin = w.now + 6;
		}
}

/* Never two jobs on one node, never a job outside of what was bought while somebody looks. */
static void check(void)
{
	const struct scenario_market_job *on[SERVERS] = {NULL};

	assert_true(w.charged <= 1 && w.settled <= w.charged);
	for (unsigned i = 0; i < w.njobs; i++) {
		struct scenario_market_job *j = &w.jobs[i];
		double outside = j->outside;
		bool bought = false;

		j->outside = 0;
		if (j->ghost) {
			assert_null(on[j->ghost_on]);
			on[j->ghost_on] = j;
			/* slurmctld has ended it when the server told. */
			if (!w.unheard[j->ghost_on])
				fail_msg("at %g job %u still runs on s%u", w.now, j->id,
					 j->ghost_on);
		}
		if (j->is != AUC_SEEN_RUNNING || j->elsewhere)
			continue;
		assert_null(on[server_of(j)]);
		on[server_of(j)] = j;
		/* Slurm starts what pends, and ends nothing, while the controller is away. */
		if (w.now < w.away + 1.5)
			continue;
		for (unsigned p = 0; p < w.nparts; p++)
			bought |=
				!strcmp(w.parts[p].server, j->part.server) &&
				w.parts[p].workers == j->part.workers &&
				w.now < w.parts[p].end + 2 * TICK &&
				(w.now >= w.parts[p].start || (j->began > w.parts[p].start - SLOT &&
							       j->began < w.parts[p].start));
		if (bought)
			continue;
		/* One that cannot be moved is ended soon. */
		j->outside = outside > 0 ? outside : w.now;
		w.stuck += outside > 0;
		if (!j->lead || w.now > w.refuses + 1 ||
		    w.now > j->outside + w.rules.grace / 2 + 4 * TICK)
			fail_msg("at %g job %u runs on %s, which it did not buy", w.now, j->id,
				 j->part.server);
	}
}

static void live(uint64_t number)
{
	memset(&w, 0, sizeof(w));
	seed = number;
	w.rules = rules;
	w.market = execmarket_make();
	random_parts(2, &w.parts, &w.nparts);
	for (unsigned i = 0; i < w.nparts; i++)
		w.end = w.parts[i].end > w.end ? w.parts[i].end : w.end;
	to_disk();
	forget();
	world_submit(&w.parts[0], true);
	for (w.now = below(20); w.now < w.end + 40; w.now += TICK) {
		w.calm = w.now > w.end + 10;
		requeue_rule();
		servers_tell();
		world_moves();
		if (!w.calm && !below(w.now < w.moved + 5 ? 50 : 300))
			crash();
		if (!w.calm && !below(200))
			w.refuses = w.now + below(80) * TICK;
		if (w.now < w.back || (!w.calm && !below(30))) {
			w.away = w.now;
			continue;
		}
		/* The clock is set, by some seconds. */
		if (!w.calm && !below(500)) {
			w.now += below(12);
			w.away = w.now;
		}
		if (any_unheard())
			w.away = w.rules.since = w.now;
		w.x.booked = w.booked;
		look();
		book();
		w.x.booked = w.booked;
		if (!w.calm && !below(60))
			rearrange();
		/* Now and then the disk does not take it. */
		if (w.calm || below(20)) {
			to_disk();
		} else {
			w.away = w.now;
		}
		act();
		check();
	}
	assert_int_equal(w.booked, AUC_SALE_SETTLED);
	assert_int_equal(w.disk, AUC_SALE_SETTLED);
	assert_int_equal(w.x.state, AUC_EXEC_SETTLED);
	assert_int_equal(w.charged, 1);
	assert_int_equal(w.settled, 1);
	for (unsigned i = 0; i < w.njobs; i++)
		assert_int_equal(w.jobs[i].is, AUC_SEEN_ENDED);
	auc_exec_clear(&w.x);
	free(w.parts);
	free(w.disk_parts);
	auc_market_destroy(w.market);
}

static void test_worlds(void **state)
{
	const char *text = getenv("AUC_TEST_WORLDS");
	unsigned n = text ? (unsigned)atoi(text) : 300, notices = 0, moves = 0, changes = 0;
	unsigned later = 0, rearranged = 0, stuck = 0, forgotten = 0;

	(void)state;
	for (unsigned i = 1; i <= n; i++) {
		seed = i;
		live(i);
		notices += w.notices;
		moves += w.moves;
		changes += w.changes;
		later += w.put_off;
		rearranged += w.rearranged;
		stuck += w.stuck;
		forgotten += w.forgotten;
	}
	/* Otherwise nothing was tested. */
	assert_true(notices > n / 4 && moves > n / 8 && changes > n / 20 && later > n / 100 &&
		    rearranged > n / 2 && stuck > n / 20 && forgotten > n / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worlds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
