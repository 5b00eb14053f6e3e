/*
 * follow.c - the launcher follows its plan: see launch-private.h
 *
 * A change has up to three moments. The notice: tasks are told that it comes, by a signal and the
 * group file, and those that will leave are marked: from now on they may end as they like. The
 * change itself, at the end of the slots with the present layout: leaving tasks get SIGTERM. The
 * join: when the new nodes' jobs run, their tasks are started, and when these have reported all are
 * told. A program that is not elastic, or whose PSs change, is stopped as a whole at the change and
 * started again with the new layout; if its tasks end by themselves after the notice, because
 * Slurm ends the steps of a node a little earlier or because they miss each other, it is stopped
 * then.
 *
 * The signal that the site sends is of use, but not needed: the clock brings notice and change by
 * the plan that is known, and each notice looks first whether there is a newer one.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/clock.h"
#include "base/num.h"
#include "slaunch/launch-private.h"
#include "slaunch/say.h"

#define HEARD_ONCE    2.0  /* seconds in which all of the lead's tasks hear of one signal */
#define LOOK_PATIENCE 3.0  /* seconds that a notice waits for a newer plan */
#define LOOK_OFTEN    0.5  /* seconds between looks while a layout forms */
#define LOOK_SELDOM   5.0  /* and once that takes longer than --wait */
#define CLOCK_STEP    10.0 /* seconds after which the time of day is looked at again */
#define SAME_TIME     1e-3 /* seconds */

static void change_run(struct launch *L);
static void change_pause(struct launch *L);
static void change_notice(struct launch *L, const struct leg *leg);
static void change_now(struct launch *L, const struct leg *leg);
static void change_turn(struct launch *L);
static void change_resize(struct launch *L, const struct leg *leg);
static void change_join(struct launch *L);
static void change_begin(struct launch *L, const struct leg *leg);
static void change_complete(struct launch *L);
static bool change_course(struct launch *L, const struct group *g);
static void change_mark(struct launch *L, const struct leg *leg);
static bool change_restarts(const struct launch *L, const struct leg *leg);
static bool node_replaced(const struct launch *L, const struct leg *leg, const char *node);
static void change_spend(struct launch *L, const struct leg *leg);
static double change_time(const struct launch *L);
static double notice_time(const struct launch *L);
static double now_in_layout(const struct launch *L);
static double now_in_pause(const struct launch *L);
static const struct leg *leg_next(const struct launch *L);

void follow_heard(struct launch *L, int sig)
{
	if (!L->opt->follow)
		return;
	if (L->opt->verbose)
		say("a change is announced: looking at the plan");
	L->heard = true;
	L->pass_on = sig;
}

void follow_step_heard(struct launch *L, const struct task *t, int sig)
{
	bool change = sig == L->opt->change_signal;
	double now = auc_clock_now();

	if (change)
		follow_heard(L, 0);
	if (strcmp(t->peer.node, L->layout.lead_node) != 0 ||
	    (sig == L->heard_sig && now < L->heard_at + HEARD_ONCE))
		return;
	L->heard_sig = sig;
	L->heard_at = now;
	for (unsigned i = 0; i < L->ntasks; i++) {
		struct task *other = &L->tasks[i];
		struct json_object *o;

		if (other->state != TASK_RUNNING || !strcmp(other->peer.node, L->layout.lead_node))
			continue;
		o = json_object_new_object();
		json_object_object_add(o, change ? "notify" : "signal", json_object_new_int(sig));
		wire_send(&other->wire, o);
	}
}

bool follow_broken(struct launch *L)
{
	const struct leg *leg;

	if (L->phase == PHASE_TURN)
		return true;
	leg = L->phase == PHASE_RUN && L->noticed > 0 ? leg_next(L) : NULL;
	if (!leg || !change_restarts(L, leg))
		return false;
	change_now(L, leg);
	return true;
}

void follow_look(struct launch *L)
{
	enum auc_code rc = AUC_OK;
	struct auc_err err = {0};
	struct group g = {0};

	if (!queue_take(&L->look, &g, &rc, &err))
		return;
	if (rc != AUC_OK) {
		if (L->opt->verbose)
			say("%s", err.text);
		snprintf(L->waiting, sizeof(L->waiting), "%s", err.text);
	} else if (change_course(L, &g) && L->wait_until > 0) {
		group_fill(&g, &L->spent, &L->layout, L->waiting, sizeof(L->waiting));
	}
	group_clear(&g);
	/* Unless a newer look is wanted. */
	if (L->answer_by > 0 && L->look_at <= 0)
		L->answer_by = auc_clock_now();
	if (L->wait_until <= 0)
		return;
	/* A layout is forming. */
	if (L->phase == PHASE_RUN)
		change_join(L);
	else if (L->phase == PHASE_PAUSE)
		change_complete(L);
}

void follow_step(struct launch *L)
{
	double now = auc_clock_now();

	if (!L->opt->follow && L->legs.nlegs < 2)
		return;
	if (L->phase == PHASE_TURN && !launch_children(L)) {
		launch_forget(L);
		L->phase = PHASE_PAUSE;
		L->wait_until = 0;
	}
	if (L->phase == PHASE_RUN)
		change_run(L);
	else if (L->phase == PHASE_PAUSE)
		change_pause(L);
	if (L->look_at > 0 && now >= L->look_at && L->look.wire.fd < 0) {
		L->look_at = 0;
		if (L->layout.lead && !queue_start(&L->look, L->layout.lead))
			L->look_at = now + LOOK_OFTEN;
	}
}

double follow_next(const struct launch *L, double next)
{
	double now = auc_clock_now(), wall = auc_clock_wall(), at = 0;
	const struct leg *leg;

	if ((!L->opt->follow && L->legs.nlegs < 2) || L->phase >= PHASE_DRAIN)
		return next;
	if (L->look_at > 0 && L->look.wire.fd < 0)
		next = next > 0 ? fmin(next, L->look_at) : L->look_at;
	if (L->answer_by > 0)
		next = next > 0 ? fmin(next, L->answer_by) : L->answer_by;
	if (L->wait_until > 0 && !L->gave_up)
		next = next > 0 ? fmin(next, L->wait_until) : L->wait_until;
	leg = leg_next(L);
	if (L->phase == PHASE_RUN && leg) {
		at = change_time(L);
		if (fabs(L->noticed - at) > SAME_TIME && L->answer_by <= 0)
			at = notice_time(L);
	} else if (L->phase == PHASE_PAUSE && L->wait_until <= 0) {
		leg = legs_at(&L->legs, now_in_pause(L));
		at = leg ? fmax(leg->begin, L->turn_until) : wall;
	}
	if (at > 0) {
		at = now + fmax(0, fmin(at - wall, CLOCK_STEP));
		next = next > 0 ? fmin(next, at) : at;
	}
	return next;
}

struct json_object *follow_json(const struct launch *L, const struct task *t)
{
	const struct leg *leg = L->noticed > 0 ? leg_next(L) : NULL;
	struct json_object *o;
	const char *what = "resize";
	bool all;

	if (!leg)
		return NULL;
	all = change_restarts(L, leg);
	if (leg->elsewhere)
		what = "move";
	else if (leg->begin > L->noticed + SAME_TIME)
		what = "pause";
	else if (all)
		what = "restart";
	o = json_object_new_object();
	json_object_object_add(o, "at", json_object_new_double(L->noticed));
	json_object_object_add(o, "change", json_object_new_string(what));
	json_object_object_add(o, "begin", json_object_new_double(leg->begin));
	json_object_object_add(o, "workers", json_object_new_int64(leg->layout.nworkers));
	json_object_object_add(o, "ps", json_object_new_int64(leg->layout.nps));
	json_object_object_add(o, "leaves", json_object_new_boolean(all || t->leaving));
	return o;
}

/* While tasks run: notice and change, when they are due. */
static void change_run(struct launch *L)
{
	const struct leg *leg = leg_next(L);
	double now = auc_clock_now(), wall = auc_clock_wall();
	bool due;

	if (leg && wall >= change_time(L)) {
		change_now(L, leg);
		return;
	}
	due = L->heard ||
	      (leg && wall >= notice_time(L) && fabs(L->noticed - change_time(L)) > SAME_TIME);
	if (due && L->layout.lead && L->answer_by <= 0) {
		L->answer_by = now + LOOK_PATIENCE;
		L->look_at = now;
		return;
	}
	if (due && now >= L->answer_by) {
		if (L->opt->plan_file && L->heard) {
			change_course(L, NULL);
			leg = leg_next(L);
		}
		if (leg && wall < change_time(L))
			change_notice(L, leg);
		else if (!leg && L->pass_on)
			launch_send(L, "notify", L->pass_on, true);
		L->heard = false;
		L->answer_by = 0;
	}
	if (L->wait_until > 0 && now >= L->wait_until && !L->gave_up) {
		L->gave_up = true;
		if (launch_count(L, ROLE_WORKER, TASK_RUNNING))
			say("after %g s (--wait) the group is not complete: %s; going on without",
			    L->opt->wait, L->waiting);
		else
			launch_fail(L, EXIT_FAILURE,
				    "after %g s (--wait) the group is not complete: %s",
				    L->opt->wait, L->waiting);
	}
}

/* While nothing runs. */
static void change_pause(struct launch *L)
{
	const struct leg *leg;
	double now = auc_clock_now();

	if (L->heard && L->layout.lead)
		L->look_at = now;
	if (L->heard && L->opt->plan_file)
		change_course(L, NULL);
	L->heard = false;
	if (L->wait_until > 0) {
		if (now >= L->wait_until)
			launch_fail(L, EXIT_FAILURE,
				    "after %g s (--wait) the group is not complete: %s",
				    L->opt->wait, L->waiting);
		return;
	}
	leg = legs_at(&L->legs, now_in_pause(L));
	if (!leg)
		launch_fail(L, EXIT_FAILURE, "the plan is over");
	else if (auc_clock_wall() >= fmax(leg->begin, L->turn_until))
		change_begin(L, leg);
}

/* Tells the tasks that LEG comes. */
static void change_notice(struct launch *L, const struct leg *leg)
{
	L->noticed = change_time(L);
	if (!leg->elsewhere)
		change_mark(L, leg);
	if (L->opt->verbose)
		say("the layout changes in %.1f s", L->noticed - auc_clock_wall());
	launch_tell(L);
}

static void change_now(struct launch *L, const struct leg *leg)
{
	change_mark(L, leg);
	change_spend(L, leg);
	L->heard = false;
	L->answer_by = 0;
	if (change_restarts(L, leg))
		change_turn(L);
	else
		change_resize(L, leg);
	L->noticed = 0;
}

/* Everything stops; the next layout is seen to when all have ended. */
static void change_turn(struct launch *L)
{
	if (L->opt->verbose)
		say("the layout changes: ending all tasks");
	for (unsigned i = 0; i < L->ntasks; i++)
		L->tasks[i].leaving = true;
	launch_leave(L);
	L->phase = PHASE_TURN;
	L->turn_until = change_time(L);
	L->look_at = L->wait_until = 0;
}

/* Some go, some may come. */
static void change_resize(struct launch *L, const struct leg *leg)
{
	struct layout next;

	if (layout_copy(&next, &leg->layout, NULL) != AUC_OK) {
		launch_fail(L, EXIT_FAILURE, "out of memory");
		return;
	}
	if (L->opt->verbose)
		say("the layout changes to %u worker%s and %u PS%s", next.nworkers,
		    auc_plural(next.nworkers), next.nps, auc_plural(next.nps));
	for (unsigned i = 0; i < L->nprocs; i++)
		for (unsigned k = 0; k < L->procs[i].ntasks; k++)
			if (!L->tasks[L->procs[i].first_task + k].leaving)
				layout_set_job(&next, L->procs[i].node, L->procs[i].job_id);
	launch_leave(L);
	layout_clear(&L->layout);
	L->layout = next;
	launch_forget(L);
	start_export(&L->layout, L->opt, L->address, L->token);
	launch_form(L);
	L->gave_up = false;
	L->wait_until = auc_clock_now() + L->opt->wait;
	change_join(L);
}

/* Starts the tasks of the jobs that are known by now, and looks for the others. */
static void change_join(struct launch *L)
{
	double now = auc_clock_now();

	if (!L->finished)
		launch_start_missing(L, now + L->opt->wait);
	if (L->finished || !L->layout.lead || layout_complete(&L->layout, NULL))
		L->wait_until = 0;
	else
		L->look_at = now + (L->gave_up ? LOOK_SELDOM : LOOK_OFTEN);
}

/* LEG may begin: waits for its jobs. */
static void change_begin(struct launch *L, const struct leg *leg)
{
	double now = auc_clock_now();

	if (leg->elsewhere) {
		if (L->opt->verbose)
			say("the plan continues on another node: waiting for Slurm to move this "
			    "job");
		snprintf(L->waiting, sizeof(L->waiting),
			 "the plan continues on another node, but job %" PRIu32 " is on %s",
			 L->layout.lead, L->layout.lead_node);
	} else {
		layout_clear(&L->layout);
		if (layout_copy(&L->layout, &leg->layout, NULL) != AUC_OK) {
			launch_fail(L, EXIT_FAILURE, "out of memory");
			return;
		}
	}
	L->gave_up = false;
	L->wait_until = now + L->opt->wait;
	L->look_at = now;
	change_complete(L);
}

/* Starts all tasks once all jobs run. */
static void change_complete(struct launch *L)
{
	const struct leg *leg = legs_at(&L->legs, now_in_pause(L));

	if (leg && (leg->elsewhere || (L->layout.lead && !layout_complete(&L->layout, NULL)))) {
		if (L->look_at <= 0)
			L->look_at = auc_clock_now() + LOOK_OFTEN;
		return;
	}
	L->wait_until = L->look_at = 0;
	L->finished = false;
	start_export(&L->layout, L->opt, L->address, L->token);
	start_export_restarts(++L->restarts);
	L->phase = PHASE_GATHER;
	L->deadline = auc_clock_now() + L->opt->wait;
	launch_start_missing(L, 0);
}

/*
 * Takes over the plan of G, or of the file; the old one stays where the new one cannot be read. In
 * a layout that forms, another leg than the one it was made for starts it over. False: nothing to
 * fill.
 */
static bool change_course(struct launch *L, const struct group *g)
{
	struct auc_err err = {0};
	struct legs c;
	enum auc_code rc;

	if (g)
		rc = group_legs(g, now_in_layout(L), &c, &err);
	else
		rc = legs_read(&c, L->opt->plan_file, L->opt->plan_start, &err);
	if (rc != AUC_OK) {
		say("%s", err.text);
		return true;
	}
	legs_clear(&L->legs);
	L->legs = c;
	if (L->phase == PHASE_PAUSE && L->wait_until > 0) {
		const struct leg *leg = legs_at(&c, now_in_pause(L));

		if (!leg || auc_clock_wall() < leg->begin ||
		    (!leg->elsewhere && !layout_same(&L->layout, &leg->layout, ROLES))) {
			L->wait_until = 0;
			return false;
		}
	}
	return true;
}

/*
 * Marks who leaves when LEG begins: the tasks on nodes that leave, those of a member that is
 * replaced by one of another size, and what is too many on a node, the latest first.
 */
static void change_mark(struct launch *L, const struct leg *leg)
{
	for (unsigned i = 0; i < L->nprocs; i++) {
		const struct proc *p = &L->procs[i];
		unsigned stay, before = 0;

		if (p->role == ROLE_SCHEDULER)
			continue;
		for (unsigned j = 0; j < i; j++) {
			const struct proc *q = &L->procs[j];

			if (q->role != p->role || q->job_id != p->job_id ||
			    strcmp(q->node, p->node) != 0)
				continue;
			for (unsigned k = 0; k < q->ntasks; k++)
				before += !L->tasks[q->first_task + k].leaving;
		}
		stay = layout_count(&leg->layout, p->node, p->role);
		stay = node_replaced(L, leg, p->node) || stay < before ? 0 : stay - before;
		for (unsigned k = 0; k < p->ntasks; k++) {
			struct task *t = &L->tasks[p->first_task + k];

			if (t->stopped || t->state == TASK_ENDED)
				continue;
			t->leaving = !stay;
			stay -= stay > 0;
		}
	}
}

/* True if no task can live through the change to LEG. */
static bool change_restarts(const struct launch *L, const struct leg *leg)
{
	if (!L->opt->elastic || leg->elsewhere || leg->begin > change_time(L) + SAME_TIME ||
	    !layout_same(&L->layout, &leg->layout, ROLE_PS))
		return true;
	for (unsigned i = 0; i < L->layout.nsteps; i++)
		if (L->layout.steps[i].role == ROLE_PS &&
		    node_replaced(L, leg, L->layout.steps[i].node))
			return true;
	return false;
}

/* A member has what its tasks need, exactly: for other numbers of them it is replaced. The lead is
 * the same job, and nothing is replaced without Slurm. */
static bool node_replaced(const struct launch *L, const struct leg *leg, const char *node)
{
	return L->layout.lead && strcmp(node, L->layout.lead_node) != 0 &&
	       (layout_count(&L->layout, node, ROLE_PS) !=
			layout_count(&leg->layout, node, ROLE_PS) ||
		layout_count(&L->layout, node, ROLE_WORKER) !=
			layout_count(&leg->layout, node, ROLE_WORKER));
}

/* The members that are replaced or leave are not waited for again. */
static void change_spend(struct launch *L, const struct leg *leg)
{
	uint32_t *jobs = realloc(L->spent.jobs, (L->spent.n + L->nprocs + 1) * sizeof(*jobs));

	if (!jobs)
		return;
	L->spent.jobs = jobs;
	for (unsigned i = 0; i < L->nprocs; i++) {
		const struct proc *p = &L->procs[i];
		bool known = p->job_id == L->layout.lead || !node_replaced(L, leg, p->node);

		for (unsigned k = 0; k < L->spent.n; k++)
			known = known || jobs[k] == p->job_id;
		if (!known)
			jobs[L->spent.n++] = p->job_id;
	}
}

/*
 * The leg that follows the present layout: the next one, or one that should be there already
 * because the plan was made anew. NULL: none.
 */
static const struct leg *leg_next(const struct launch *L)
{
	double t = now_in_layout(L);
	const struct leg *leg = legs_at(&L->legs, t);

	if (!leg || leg->begin > t + SAME_TIME || leg->elsewhere ||
	    !layout_same(&L->layout, &leg->layout, ROLES))
		return leg;
	return legs_after(&L->legs, t);
}

/* Unix time at which the present layout ends. */
static double change_time(const struct launch *L)
{
	double t = now_in_layout(L);
	const struct leg *leg = legs_at(&L->legs, t);

	if (!leg || leg->begin > t + SAME_TIME || leg->elsewhere ||
	    !layout_same(&L->layout, &leg->layout, ROLES))
		return fmin(t, auc_clock_wall());
	return leg->end;
}

/* Unix time at which the tasks are to be told of it: not in the first half of a leg. */
static double notice_time(const struct launch *L)
{
	double end = change_time(L), begin = L->layout.begin;

	return fmax(end - L->opt->notice, begin + (end - begin) / 2);
}

/* The time of day, but not before the layout begins: the job may have started a little early. */
static double now_in_layout(const struct launch *L)
{
	return fmax(auc_clock_wall(), L->layout.begin);
}

/* The time of day, but not before the layout that has been stopped was to end. */
static double now_in_pause(const struct launch *L)
{
	return fmax(auc_clock_wall(), L->turn_until);
}
