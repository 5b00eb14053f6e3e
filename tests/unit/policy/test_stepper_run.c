/*
 * test_stepper_run.c - plans of a stepper: what is decided slot by slot by one that lives all the
 * time is what comes out when it is made anew, from the plans alone, each time something happens;
 * and plans stand while nothing does.
 */
#include "config.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "policy/stepper_run.h"

#define SERVERS 4
#define JOBS    10
#define LAST    2000

static uint64_t seed;

static unsigned draw(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % n);
}

/* What one run of the test is about. */
struct world {
	struct auc_market *m; /* of one slot, as the simulator's */
	const char *options;
	unsigned n;
	struct auc_job jobs[JOBS];
	unsigned upload[JOBS][SERVERS + 1];
	bool refused[JOBS];
	struct auc_plan plans[JOBS]; /* of the stepper that lives all the time */
};

static const struct auc_stepper *stepper(void)
{
	return &auc_stepper_aonline;
}

static struct auc_market *make_market(unsigned edge, unsigned cloud, unsigned storage)
{
	static const struct auc_price none;
	static const struct auc_named worker[] = {{"gpu", 1}, {"cpu", 1}}, ps = {"cpu", 1};
	struct auc_market *m = auc_market_create(1, 10, 1);
	char name[] = "s0";
	struct auc_err err;

	for (unsigned s = 0; s < edge + cloud; s++) {
		struct auc_named capacity[] = {{"gpu", 1 + draw(2)},
					       {"cpu", 1 + draw(4)},
					       {"storage", s < edge ? storage : 0}};

		if (s >= edge)
			capacity[0].value = capacity[1].value = 2 + draw(40);
		name[1] = (char)('0' + s);
		assert_int_equal(auc_market_add_server(m, name, s < edge ? "e" : "c", s >= edge, 3,
						       0, capacity, storage ? 3 : 2, &err),
				 AUC_OK);
	}
	assert_int_equal(auc_market_add_worker_type(m, "w", worker, 2, 16, &err), AUC_OK);
	assert_int_equal(auc_market_add_ps_type(m, "p", &ps, 1, 16, &err), AUC_OK);
	assert_int_equal(auc_market_ready(m, &none, &err), AUC_OK);
	return m;
}

static void make_world(struct world *w)
{
	static const char *const options[] = {"", "guard=none", "site=edge", "site=cloud"};
	unsigned edge = 1 + draw(SERVERS - 1), cloud = draw(2), together;
	auc_slot t = 1;

	memset(w, 0, sizeof(*w));
	w->m = make_market(edge, cloud, draw(3) ? 0 : 4 + draw(20));
	w->options = options[draw(4)];
	w->n = 1 + draw(JOBS);
	for (unsigned i = 0; i < w->n; i++) {
		struct auc_job *j = &w->jobs[i];

		t += draw(3) ? draw(6) : 0;
		for (unsigned k = 0; k < AUC_TYPES_MAX; k++)
			j->worker_seconds[k] = j->ps_seconds[k] = -1;
		together = 1 + draw(5);
		j->arrival = t;
		j->epochs = j->minibatches = 1;
		j->chunks = 1 + draw(6);
		j->worker_seconds[0] = 10.0 * together;
		j->ps_seconds[0] = 0;
		j->gradient_mb = 10.0 * draw(4);
		j->chunk_mb = 2;
		j->upload = w->upload[i];
		for (unsigned s = 0; s < edge + cloud; s++)
			j->upload[s] = draw(8) ? draw(4) : UINT_MAX;
	}
}

static void clear_world(struct world *w)
{
	for (unsigned i = 0; i < w->n; i++)
		auc_plan_clear(&w->plans[i]);
	auc_market_destroy(w->m);
}

static void add_layout(struct auc_plan *plan, auc_slot t, const struct auc_layout *l)
{
	const struct auc_run *run = plan->nruns ? &plan->runs[plan->nruns - 1] : NULL;

	plan->completion = t + 1;
	if (run && run->to == t - 1 && run->nshares == l->nshares &&
	    !memcmp(plan->shares + run->first_share, l->shares, l->nshares * sizeof(*l->shares))) {
		plan->runs[plan->nruns - 1].to = t;
		return;
	}
	plan->start = plan->nruns ? plan->start : t;
	assert_int_equal(auc_plan_add_run(plan, t, t, NULL), AUC_OK);
	for (unsigned k = 0; k < l->nshares; k++)
		assert_int_equal(auc_plan_add_share(plan, l->shares[k].server, l->shares[k].workers,
						    l->shares[k].ps, NULL),
				 AUC_OK);
	plan->colocated = l->colocated;
}

/* As the simulator does it. */
static void live(struct world *w)
{
	struct auc_market *m = auc_market_clone(w->m);
	const struct auc_layout *layouts;
	struct auc_stepper_ctx *ctx;
	enum auc_reason reason;
	unsigned next = 0, at_hand = 0, n;

	assert_int_equal(stepper()->create(w->options, &ctx, NULL), AUC_OK);
	for (auc_slot t = 1; next < w->n || at_hand; t++) {
		assert_true(t < LAST);
		auc_market_advance(m, t);
		for (; next < w->n && w->jobs[next].arrival == t; next++) {
			assert_int_equal(
				stepper()->arrive(ctx, m, next, &w->jobs[next], &reason, NULL),
				AUC_OK);
			w->refused[next] = reason != AUC_REASON_NONE;
			w->plans[next].arrival = t;
			at_hand += !w->refused[next];
		}
		assert_int_equal(stepper()->step(ctx, m, t, &layouts, &n, NULL), AUC_OK);
		for (unsigned i = 0; i < n; i++)
			add_layout(&w->plans[layouts[i].id], t, &layouts[i]);
		for (unsigned i = 0; i < n; i++) {
			if (!layouts[i].last)
				continue;
			at_hand--;
			assert_int_equal(
				stepper()->keep(ctx, layouts[i].id, &w->plans[layouts[i].id], NULL),
				AUC_OK);
		}
	}
	stepper()->destroy(ctx);
	auc_market_destroy(m);
}

/* A plan as the spool would bring it back. */
static void through_json(const struct world *w, struct auc_plan *plan)
{
	struct json_object *o = auc_plan_to_json(plan, w->m);
	struct auc_plan read;
	struct auc_err err = {.text = ""};

	auc_plan_init(&read);
	assert_non_null(o);
	if (auc_plan_from_json(o, w->m, &read, &err) != AUC_OK)
		fail_msg("%s", err.text);
	json_object_put(o);
	assert_true(auc_plan_same(plan, &read));
	auc_plan_clear(plan);
	*plan = read;
}

/* Revises PLANS of the jobs before N, of which those from KNOWN on come in slot T. */
static bool revise(struct world *w, struct auc_plan *plans, auc_slot t, unsigned known, unsigned n)
{
	struct auc_stepper_run_job list[JOBS];
	unsigned index[JOBS];
	struct auc_stepper_run c = {
		.stepper = stepper(), .options = w->options, .from = t, .to = LAST, .jobs = list};
	struct auc_market *m = auc_market_outline(w->m, t, 1);
	struct auc_err err = {.text = ""};
	bool changed = false;

	memset(list, 0, sizeof(list));
	for (unsigned i = 0; i < n; i++) {
		if (i < known ? w->refused[i] || plans[i].completion <= t : false)
			continue;
		index[c.n] = i;
		list[c.n].job = w->jobs[i];
		list[c.n].fresh = i >= known;
		list[c.n++].plan = &plans[i];
	}
	if (auc_stepper_run(&c, m, false, &err) != AUC_OK)
		fail_msg("%s", err.text);
	for (unsigned k = 0; k < c.n; k++) {
		struct auc_plan *plan = &plans[index[k]];

		assert_true(list[k].fresh || !list[k].left_out);
		if (list[k].left_out) {
			assert_true(w->refused[index[k]]);
			auc_plan_clear(&list[k].made);
			continue;
		}
		changed = changed || !auc_plan_same(plan, &list[k].made);
		auc_plan_clear(plan);
		*plan = list[k].made;
		through_json(w, plan);
	}
	auc_market_destroy(m);
	return changed;
}

/* Revised when jobs come, and now and then for no reason, the plans are those of the stepper that
 * lived. */
static void test_same_as_live(void **state)
{
	unsigned preempted = 0, paused = 0, clouds = 0;

	(void)state;
	for (seed = 1; seed < 3000 * UINT64_C(7919); seed += 7919) {
		uint64_t kept = seed;
		struct auc_plan plans[JOBS];
		struct world w;
		unsigned known = 0, n;

		make_world(&w);
		live(&w);
		memset(plans, 0, sizeof(plans));
		for (auc_slot t = 1; t < 80; t++) {
			for (n = known; n < w.n && w.jobs[n].arrival == t; n++)
				;
			if (n > known)
				revise(&w, plans, t, known, n);
			else if (!draw(4))
				assert_false(revise(&w, plans, t, known, n));
			known = n;
		}
		for (unsigned i = 0; i < w.n; i++) {
			if (w.refused[i])
				continue;
			if (!auc_plan_same(&plans[i], &w.plans[i]))
				fail_msg("seed %llu, job %u: another plan",
					 (unsigned long long)kept, i);
			preempted += plans[i].nspans > plans[i].nchunks;
			clouds += plans[i].colocated;
			for (unsigned k = 1; k < plans[i].nruns; k++)
				paused += plans[i].runs[k].from > plans[i].runs[k - 1].to + 1;
			auc_plan_clear(&plans[i]);
		}
		clear_world(&w);
		seed = kept;
	}
	/* The worlds are such that it matters. */
	print_message("%u jobs were preempted, %u paused, %u were all in the cloud\n", preempted,
		      paused, clouds);
	assert_true(preempted > 500 && paused > 500 && clouds > 500);
}

/* One server with one worker; a job of two slots, there alone. */
static void one_job(struct world *w, struct auc_market **m)
{
	memset(w, 0, sizeof(*w));
	seed = 3;
	w->m = make_market(1, 0, 0);
	w->options = "guard=none";
	w->n = 1;
	for (unsigned k = 0; k < AUC_TYPES_MAX; k++)
		w->jobs[0].worker_seconds[k] = w->jobs[0].ps_seconds[k] = -1;
	w->jobs[0].arrival = 5;
	w->jobs[0].epochs = w->jobs[0].minibatches = w->jobs[0].chunks = 1;
	w->jobs[0].worker_seconds[0] = 20;
	w->jobs[0].ps_seconds[0] = 0;
	w->jobs[0].upload = w->upload[0];
	*m = auc_market_outline(w->m, 5, 1);
}

/* What is on its way to a plan that is not the job's is refused, and leaves the stepper usable. */
static void test_resume_refuses(void **state)
{
	struct auc_stepper_run_job job;
	struct auc_stepper_run c = {
		.stepper = stepper(), .from = 5, .to = 50, .n = 1, .jobs = &job};
	struct auc_stepper_ctx *ctx;
	struct auc_plan plan;
	struct auc_market *m;
	struct world w;

	(void)state;
	one_job(&w, &m);
	c.options = w.options;
	memset(&job, 0, sizeof(job));
	job.job = w.jobs[0];
	job.fresh = true;
	assert_int_equal(auc_stepper_run(&c, m, false, NULL), AUC_OK);
	assert_int_equal(job.made.completion, 7);
	assert_int_equal(job.made.nchunks, 1);
	assert_int_equal(stepper()->create("", &ctx, NULL), AUC_OK);
	auc_plan_init(&plan);

#define REFUSED(T, CHANGE)                                                                         \
	do {                                                                                       \
		assert_int_equal(auc_plan_copy(&plan, &job.made, NULL), AUC_OK);                   \
		CHANGE;                                                                            \
		assert_int_equal(stepper()->resume(ctx, m, 0, &w.jobs[0], &plan, (T), NULL),       \
				 AUC_ESTATE);                                                      \
	} while (0)
	REFUSED(5, plan.nchunks = 0);
	REFUSED(5, plan.chunks[0].worker = 7);
	REFUSED(5, plan.chunks[0].server = 1);
	REFUSED(5, plan.worker_type = 1);
	REFUSED(5, plan.ps_type = 1);
	REFUSED(7, (void)plan); /* it is done */
	REFUSED(9, plan.spans[0].to = 8);
	REFUSED(9, plan.spans[0].to = INT64_C(1) << 40);
#undef REFUSED
	assert_int_equal(auc_plan_copy(&plan, &job.made, NULL), AUC_OK);
	assert_int_equal(stepper()->resume(ctx, m, 0, &w.jobs[0], &plan, 6, NULL), AUC_OK);
	stepper()->destroy(ctx);
	auc_plan_clear(&plan);
	auc_plan_clear(&job.made);
	auc_market_destroy(m);
	clear_world(&w);
}

/* What others hold is left to them, a closed time is; and what does not end is said. */
static void test_others(void **state)
{
	struct auc_stepper_run_job job;
	struct auc_plan held;
	const struct auc_plan *others[] = {&held};
	struct auc_stepper_run c = {.stepper = stepper(),
				    .from = 5,
				    .to = 50,
				    .n = 1,
				    .jobs = &job,
				    .nothers = 1,
				    .others = others};
	struct auc_closure closed = {.server = 0, .from = 9, .to = 10};
	struct auc_market *m;
	struct world w;

	(void)state;
	one_job(&w, &m);
	c.options = w.options;
	auc_plan_init(&held);
	assert_int_equal(auc_plan_add_run(&held, 6, 8, NULL), AUC_OK);
	assert_int_equal(
		auc_plan_add_share(&held, 0, (unsigned)auc_market_capacity(m, 0, 0), 0, NULL),
		AUC_OK);
	held.start = 6;
	held.completion = 9;
	assert_int_equal(auc_market_close(m, &closed, 1, NULL), AUC_OK);
	memset(&job, 0, sizeof(job));
	job.job = w.jobs[0];
	job.fresh = true;
	assert_int_equal(auc_stepper_run(&c, m, false, NULL), AUC_OK);
	assert_int_equal(job.made.nruns, 2);
	assert_int_equal(job.made.runs[0].to, 5);
	assert_int_equal(job.made.runs[1].from, 11);
	auc_plan_clear(&job.made);
	auc_market_destroy(m);
	m = auc_market_outline(w.m, 5, 1);
	c.to = 8;
	assert_int_equal(auc_stepper_run(&c, m, false, NULL), AUC_EFULL);
	auc_plan_clear(&job.made);
	auc_plan_clear(&held);
	auc_market_destroy(m);
	clear_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_live),
		cmocka_unit_test(test_resume_refuses),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
