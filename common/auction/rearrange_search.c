/* rearrange_search.c - see rearrange_search.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auction/sale_parts.h"
#include "market/timeline.h"
#include "auction/rearrange_search.h"

#define TOGETHER     8 /* jobs of a round at most */
#define ROUNDS_A_JOB 8
#define ROUNDING     1e-9  /* of a cost: what sums in another order may differ by, and more */
#define SAVES        0.001 /* of what jobs cost by now: less is not worth a move */

/* A sold job that has not begun. */
struct waiter {
	struct auc_job job; /* as if it had come in the first slot that it may have */
	struct auc_utility utility;
	struct auc_plan plan, sold; /* where it is; where it was */
	auc_slot latest;            /* completion */
	double cost;                /* of the place where it is */
	double least;               /* of any place, while no job that waits has one */
	bool moved;
	bool out;                    /* of its place, in a round */
	const struct auc_plan *made; /* where it is while it is out; NULL: nowhere yet */
};

struct auc_rearrange_search {
	struct auc_market *market;
	auc_slot from;
	bool limited;
	uint64_t random;
	auc_rearrange_search_quote *quote;
	auc_rearrange_search_allows *allows;
	void *arg;
	unsigned n, alloc;
	struct waiter *waiters;
	bool known; /* what places cost */
	/* of a round */
	unsigned nout;
	struct waiter *out[TOGETHER];
	struct auc_plan made[TOGETHER];
	struct auc_decision decision;
};

/* The most that a plan needs at a time. Its nodes are as many jobs of Slurm, the lead and others;
 * what the others are to have on one node, and what all have together. */
struct need {
	unsigned nodes, other_workers, other_ps, workers, ps;
	auc_slot slots;
};

static enum auc_code copy_job(struct auc_job *to, const struct auc_job *from, unsigned nservers,
			      struct auc_err *err);
static void begin_at(struct auc_job *job, unsigned nservers, auc_slot from);
static void keep_types(const struct auc_market *m, struct auc_job *job,
		       const struct auc_plan *plan);
static bool has_gpus(const struct auc_market *m, unsigned ps_type);
static enum auc_code find_costs(struct auc_rearrange_search *x, struct auc_err *err);
static enum auc_code take_all(struct auc_rearrange_search *x, bool book, struct auc_err *err);
static unsigned pick(struct auc_rearrange_search *x, unsigned n);
static void choose(struct auc_rearrange_search *x);
static bool meet(const struct auc_plan *a, const struct auc_plan *b, bool servers);
static void shuffle(struct auc_rearrange_search *x);
static enum auc_code put_anew(struct auc_rearrange_search *x, double before, double least,
			      bool *found, struct auc_err *err);
static enum auc_code stay_there(struct auc_rearrange_search *x, struct auc_err *err);
static enum auc_code place(struct auc_rearrange_search *x, unsigned i, double most, bool *found,
			   struct auc_err *err);
static enum auc_code ask(struct auc_rearrange_search *x, struct waiter *w, double most,
			 struct auc_err *err);
static bool may_be(const struct auc_rearrange_search *x, const struct auc_plan *plan,
		   const struct auc_plan *old);
static bool needs_no_more(const struct auc_plan *p, const struct auc_plan *old);
static struct need need_of(const struct auc_plan *p);
static unsigned umax(unsigned a, unsigned b);

struct auc_rearrange_search *auc_rearrange_search_create(struct auc_market *m, auc_slot from,
							 bool limited, uint64_t seed,
							 auc_rearrange_search_quote *quote,
							 auc_rearrange_search_allows *allows,
							 void *arg)
{
	struct auc_rearrange_search *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->market = m;
	x->from = from;
	x->limited = limited;
	x->random = seed;
	x->quote = quote;
	x->allows = allows;
	x->arg = arg;
	auc_decision_init(&x->decision);
	x->decision.must_pay = true;
	for (unsigned i = 0; i < TOGETHER; i++)
		auc_plan_init(&x->made[i]);
	return x;
}

void auc_rearrange_search_destroy(struct auc_rearrange_search *x)
{
	if (!x)
		return;
	for (unsigned i = 0; i < x->n; i++) {
		auc_job_clear(&x->waiters[i].job);
		auc_plan_clear(&x->waiters[i].plan);
		auc_plan_clear(&x->waiters[i].sold);
	}
	for (unsigned i = 0; i < TOGETHER; i++)
		auc_plan_clear(&x->made[i]);
	auc_decision_clear(&x->decision);
	free(x->waiters);
	free(x);
}

enum auc_code auc_rearrange_search_add(struct auc_rearrange_search *x, const struct auc_job *job,
				       const struct auc_plan *plan, struct auc_err *err)
{
	unsigned nservers = auc_market_nservers(x->market);
	struct waiter *w;
	enum auc_code rc;

	if (x->n == x->alloc) {
		unsigned alloc = 2 * x->alloc + 16;

		w = realloc(x->waiters, alloc * sizeof(*w));
		if (!w)
			return auc_err_set(err, AUC_ENOMEM, "no memory for jobs that wait");
		x->waiters = w;
		x->alloc = alloc;
	}
	w = &x->waiters[x->n];
	memset(w, 0, sizeof(*w));
	auc_plan_init(&w->plan);
	auc_plan_init(&w->sold);
	rc = copy_job(&w->job, job, nservers, err);
	if (rc != AUC_OK)
		return rc;
	x->n++;
	x->known = false;
	w->utility = job->utility;
	w->latest = plan->completion;
	begin_at(&w->job, nservers, x->from);
	keep_types(x->market, &w->job, plan);
	rc = auc_plan_copy(&w->plan, plan, err);
	return rc == AUC_OK ? auc_plan_copy(&w->sold, plan, err) : rc;
}

unsigned auc_rearrange_search_rounds(const struct auc_rearrange_search *x)
{
	return ROUNDS_A_JOB * x->n;
}

const struct auc_plan *auc_rearrange_search_at(const struct auc_rearrange_search *x, unsigned i)
{
	const struct waiter *w = &x->waiters[i];

	return w->out ? w->made : &w->plan;
}

const struct auc_plan *auc_rearrange_search_moved(const struct auc_rearrange_search *x, unsigned i)
{
	return x->waiters[i].moved ? &x->waiters[i].plan : NULL;
}

enum auc_code auc_rearrange_search_round(struct auc_rearrange_search *x, struct auc_err *err)
{
	auc_slot last = auc_market_last(x->market);
	double before = 0, least = 0;
	enum auc_code rc = AUC_OK;
	bool found = false;

	if (!x->n)
		return AUC_OK;
	if (!x->known)
		rc = find_costs(x, err);
	choose(x);
	for (unsigned i = 0; i < x->nout; i++) {
		before += x->out[i]->cost;
		least += x->out[i]->least;
	}
	shuffle(x);
	if (rc != AUC_OK || least >= (1 - SAVES) * before)
		return rc;
	for (unsigned i = 0; i < x->nout && rc == AUC_OK; i++) {
		x->out[i]->out = true;
		x->out[i]->made = NULL;
		rc = auc_market_unbook(x->market, &x->out[i]->plan, x->from, last, err);
	}
	if (rc == AUC_OK)
		rc = put_anew(x, before, least, &found, err);
	for (unsigned i = 0; i < x->nout; i++)
		x->out[i]->out = false;
	if (rc == AUC_OK && found)
		return stay_there(x, err);
	for (unsigned i = 0; i < x->nout && rc == AUC_OK; i++)
		rc = auc_market_book(x->market, &x->out[i]->plan, x->from, last, err);
	return rc;
}

/* -- jobs -- */

static enum auc_code copy_job(struct auc_job *to, const struct auc_job *from, unsigned nservers,
			      struct auc_err *err)
{
	unsigned *upload = malloc((nservers + 1) * sizeof(*upload));

	if (!upload)
		return auc_err_set(err, AUC_ENOMEM, "no memory for jobs that wait");
	memcpy(upload, from->upload, nservers * sizeof(*upload));
	*to = *from;
	to->upload = upload;
	to->upload_alloc = nservers;
	to->data = NULL;
	to->ndata = to->data_alloc = 0;
	return AUC_OK;
}

/* JOB, as if it had come in slot FROM: what of its data was on the way by then has come nearer. */
static void begin_at(struct auc_job *job, unsigned nservers, auc_slot from)
{
	auc_slot passed = from - job->arrival;

	if (passed <= 0)
		return;
	job->arrival = from;
	for (unsigned i = 0; i < nservers; i++)
		if (job->upload[i] != UINT32_MAX)
			job->upload[i] -=
				job->upload[i] > passed ? (unsigned)passed : job->upload[i];
}

static void keep_types(const struct auc_market *m, struct auc_job *job, const struct auc_plan *plan)
{
	bool workers = auc_plan_lead(plan)->workers, gpus = has_gpus(m, plan->ps_type);

	for (unsigned i = 0; i < auc_market_nworker_types(m); i++)
		if (workers && i != plan->worker_type)
			job->worker_seconds[i] = -1;
	for (unsigned i = 0; i < auc_market_nps_types(m); i++)
		if ((gpus || has_gpus(m, i)) && i != plan->ps_type)
			job->ps_seconds[i] = -1;
}

static bool has_gpus(const struct auc_market *m, unsigned ps_type)
{
	for (unsigned k = 0; k < auc_market_ntres(m); k++)
		if (auc_market_ps_amount(m, ps_type, k) > 0 &&
		    (!strcmp(auc_market_tres_name(m, k), "gpu") ||
		     !strncmp(auc_market_tres_name(m, k), "gpu:", 4)))
			return true;
	return false;
}

/* -- costs -- */

/* What jobs cost where they are, and what they do at least: no other one that waits is in their
 * way, so no round finds a cheaper place. */
static enum auc_code find_costs(struct auc_rearrange_search *x, struct auc_err *err)
{
	enum auc_code rc = take_all(x, false, err);

	for (unsigned i = 0; i < x->n && rc == AUC_OK; i++) {
		struct waiter *w = &x->waiters[i];

		w->cost = w->least = auc_plan_cost(&w->plan, x->market);
		rc = ask(x, w, w->cost, err);
		if (rc == AUC_OK && x->decision.accepted && x->decision.plan.cost < w->cost)
			w->least = x->decision.plan.cost;
		w->least -= ROUNDING * w->least;
	}
	x->known = true;
	return rc == AUC_OK ? take_all(x, true, err) : rc;
}

/* Books all jobs that wait, or takes them out. */
static enum auc_code take_all(struct auc_rearrange_search *x, bool book, struct auc_err *err)
{
	auc_slot last = auc_market_last(x->market);
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < x->n && rc == AUC_OK; i++)
		rc = (book ? auc_market_book : auc_market_unbook)(x->market, &x->waiters[i].plan,
								  x->from, last, err);
	return rc;
}

/* -- a round -- */

/* 0 to N - 1 */
static unsigned pick(struct auc_rearrange_search *x, unsigned n)
{
	uint64_t z = x->random += 0x9e3779b97f4a7c15u;

	/* splitmix64 (S. Vigna): alike everywhere */
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)(((z ^ (z >> 31)) >> 32) * n >> 32);
}

/* Some jobs: one, and of the others those that are in its way, those of its time, or any. */
static void choose(struct auc_rearrange_search *x)
{
	unsigned wanted = 1 + pick(x, TOGETHER), kind = pick(x, 3), at = pick(x, x->n);
	struct waiter *first = &x->waiters[pick(x, x->n)];

	x->nout = 0;
	x->out[x->nout++] = first;
	for (unsigned i = 0; i < x->n && x->nout < wanted; i++) {
		struct waiter *w = &x->waiters[(at + i) % x->n];

		if (w == first || (kind < 2 && !meet(&w->plan, &first->plan, kind == 0)) ||
		    (kind == 2 && pick(x, 3)))
			continue;
		x->out[x->nout++] = w;
	}
}

/* Whether two plans have slots in common, and, SERVERS, servers, too. */
static bool meet(const struct auc_plan *a, const struct auc_plan *b, bool servers)
{
	if (a->start >= b->completion || b->start >= a->completion)
		return false;
	for (unsigned i = 0; servers && i < a->nshares; i++)
		for (unsigned k = 0; k < b->nshares; k++)
			if (a->shares[i].server == b->shares[k].server)
				return true;
	return !servers;
}

static void shuffle(struct auc_rearrange_search *x)
{
	for (unsigned i = x->nout; i > 1; i--) {
		unsigned k = pick(x, i);
		struct waiter *w = x->out[k];

		x->out[k] = x->out[i - 1];
		x->out[i - 1] = w;
	}
}

/*
 * Books those that are out where each is cheapest, which cost BEFORE, and LEAST at least, in all.
 * Not *FOUND, with none of them booked: they would not cost less by what counts.
 */
static enum auc_code put_anew(struct auc_rearrange_search *x, double before, double least,
			      bool *found, struct auc_err *err)
{
	auc_slot last = auc_market_last(x->market);
	double left = (1 - SAVES) * before;
	enum auc_code rc = AUC_OK;
	unsigned booked = 0;

	*found = true;
	while (booked < x->nout && rc == AUC_OK && *found) {
		least -= x->out[booked]->least; /* of those behind it */
		rc = place(x, booked, left - least + ROUNDING * before, found, err);
		if (rc != AUC_OK || !*found)
			break;
		left -= x->made[booked].cost;
		*found = left > 0;
		if (!*found)
			break;
		rc = auc_market_book(x->market, &x->made[booked], x->from, last, err);
		x->out[booked]->made = &x->made[booked];
		booked += rc == AUC_OK;
	}
	while (booked && rc == AUC_OK && !*found)
		rc = auc_market_unbook(x->market, &x->made[--booked], x->from, last, err);
	return rc;
}

static enum auc_code stay_there(struct auc_rearrange_search *x, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	for (unsigned i = 0; i < x->nout && rc == AUC_OK; i++) {
		struct waiter *w = x->out[i];

		w->cost = x->made[i].cost;
		x->made[i].arrival = w->sold.arrival;
		x->made[i].cost = w->sold.cost;
		x->made[i].value = auc_utility_value(
			&w->utility, (double)(x->made[i].completion - w->sold.arrival));
		rc = auc_plan_copy(&w->plan, &x->made[i], err);
		w->moved = !auc_plan_same(&w->plan, &w->sold) ||
			   w->plan.worker_type != w->sold.worker_type ||
			   w->plan.ps_type != w->sold.ps_type;
	}
	return rc;
}

/* The cheapest place for the I-th that is out, for less than MOST, into x->made[I]. */
static enum auc_code place(struct auc_rearrange_search *x, unsigned i, double most, bool *found,
			   struct auc_err *err)
{
	struct waiter *w = x->out[i];
	enum auc_code rc;

	*found = false;
	if (!(most > 0))
		return AUC_OK;
	rc = ask(x, w, most, err);
	if (rc != AUC_OK || !x->decision.accepted || !may_be(x, &x->decision.plan, &w->sold) ||
	    (x->allows && !x->allows(x->arg, x, (unsigned)(w - x->waiters), &x->decision.plan)))
		return rc;
	*found = true;
	return auc_plan_copy(&x->made[i], &x->decision.plan, err);
}

/* For the cheapest place of W, if that costs less than MOST; whatever completes in time is worth
 * the same. */
static enum auc_code ask(struct auc_rearrange_search *x, struct waiter *w, double most,
			 struct auc_err *err)
{
	w->job.utility = (struct auc_utility){
		.form = AUC_FORM_DEADLINE,
		.scale = most,
		.target = (double)(w->latest - w->job.arrival),
	};
	return x->quote(x->arg, x->market, &w->job, &x->decision, err);
}

static bool may_be(const struct auc_rearrange_search *x, const struct auc_plan *plan,
		   const struct auc_plan *old)
{
	return (!auc_plan_lead(old)->workers || auc_plan_lead(plan)->workers) &&
	       (!x->limited || needs_no_more(plan, old));
}

/*
 * A limit of its owner that lets the old plan run is not to end the new one, which nobody asked
 * for. Of the lead only the number and the sum of all count: it is there, and a change of it by
 * slurmctld's own user is not held against its limits.
 */
static bool needs_no_more(const struct auc_plan *p, const struct auc_plan *old)
{
	const struct auc_share *lead = auc_plan_lead(old);
	struct need a = need_of(p), b = need_of(old);

	return p->worker_type == old->worker_type && p->ps_type == old->ps_type &&
	       a.nodes <= b.nodes && a.workers <= b.workers && a.ps <= b.ps &&
	       a.other_workers <= umax(b.other_workers, lead->workers) &&
	       a.other_ps <= umax(b.other_ps, lead->ps) && a.slots <= b.slots;
}

static struct need need_of(const struct auc_plan *p)
{
	const struct auc_share *lead = auc_plan_lead(p);
	struct need most = {.slots = p->completion - p->start};

	for (const struct auc_run *r = p->runs; r < p->runs + p->nruns; r++) {
		unsigned workers = 0, ps = 0;

		for (unsigned i = r->first_share; i < r->first_share + r->nshares; i++) {
			const struct auc_share *s = &p->shares[i];

			workers += s->workers;
			ps += s->ps;
			if (s == lead)
				continue;
			most.other_workers = umax(most.other_workers, s->workers);
			most.other_ps = umax(most.other_ps, s->ps);
		}
		most.nodes = umax(most.nodes, r->nshares);
		most.workers = umax(most.workers, workers);
		most.ps = umax(most.ps, ps);
	}
	return most;
}

static unsigned umax(unsigned a, unsigned b)
{
	return a > b ? a : b;
}
