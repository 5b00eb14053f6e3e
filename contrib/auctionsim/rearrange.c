/* rearrange.c - see rearrange.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "rearrange.h"

/* A job that may make room. */
struct candidate {
	unsigned index;
	uint64_t slots; /* of servers that it has, and the new job would have if it could */
};

struct search {
	const struct rearrange *x;
	struct auc_job *job; /* the new one */
	double gain;         /* what the new job has of it so far, and */
	double slack;        /* what is no gain */
	unsigned which;
	unsigned n;
	struct candidate *list;
	struct auc_job other;              /* who makes room, and */
	struct auc_decision placed, again; /* what both have then */
	struct auc_decision best, best_again;
};

static enum auc_code look(struct search *s, double base, struct auc_err *err);
static enum auc_code take_out(const struct rearrange *x, unsigned from, unsigned to,
			      struct auc_err *err);
static enum auc_code put_back(const struct rearrange *x, unsigned from, unsigned to,
			      struct auc_err *err);
static void list_candidates(struct search *s);
static uint64_t common_slots(const struct auc_plan *a, const struct auc_plan *b);
static int compare_slots(const void *a, const void *b);
static enum auc_code try(struct search *s, unsigned i, double base, struct auc_err *err);
static enum auc_code place_again(struct search *s, unsigned i, double gain, struct auc_err *err);
static void begin_at(struct auc_job *job, unsigned nservers, auc_slot from);
static double payoff(const struct auc_decision *d);

enum auc_code rearrange(const struct rearrange *x, struct auc_job *job, struct auc_decision *d,
			unsigned *which, struct auc_plan *moved, struct auc_err *err)
{
	struct search s = {.x = x, .job = job, .which = REARRANGE_NONE};
	enum auc_code rc = AUC_OK;

	*which = REARRANGE_NONE;
	if (!x->n)
		return AUC_OK;
	auc_decision_init(&s.placed);
	auc_decision_init(&s.again);
	auc_decision_init(&s.best);
	auc_decision_init(&s.best_again);
	s.slack = AUC_QUOTE_SLACK * auc_utility_value(&job->utility, 0);
	s.list = calloc(x->n, sizeof(*s.list));
	if (!s.list)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for %u schedules", x->n);
	if (rc == AUC_OK)
		rc = look(&s, payoff(d), err);
	if (rc == AUC_OK && s.which != REARRANGE_NONE)
		rc = auc_plan_copy(moved, &s.best_again.plan, err);
	if (rc == AUC_OK && s.which != REARRANGE_NONE)
		rc = auc_decision_copy(d, &s.best, err);
	if (rc == AUC_OK)
		*which = s.which;
	auc_decision_clear(&s.placed);
	auc_decision_clear(&s.again);
	auc_decision_clear(&s.best);
	auc_decision_clear(&s.best_again);
	auc_job_clear(&s.other);
	free(s.list);
	return rc;
}

/* What would it have if none of the others were there? Whoever is in the way of that is tried. */
static enum auc_code look(struct search *s, double base, struct auc_err *err)
{
	enum auc_code rc = take_out(s->x, 0, s->x->n, err), back;

	if (rc != AUC_OK)
		return rc;
	rc = s->x->quote(s->x->arg, s->job, &s->placed, err);
	back = put_back(s->x, 0, s->x->n, err);
	if (rc == AUC_OK)
		rc = back;
	if (rc != AUC_OK || payoff(&s->placed) <= base + s->slack)
		return rc;
	list_candidates(s);
	for (unsigned i = 0; i < s->n && rc == AUC_OK; i++)
		rc = try(s, s->list[i].index, base, err);
	return rc;
}

static enum auc_code take_out(const struct rearrange *x, unsigned from, unsigned to,
			      struct auc_err *err)
{
	struct auc_err why;
	enum auc_code rc = AUC_OK;
	unsigned i;

	for (i = from; i < to && rc == AUC_OK; i++)
		rc = auc_market_unbook(x->market, x->plans[i], x->from, auc_market_last(x->market),
				       err);
	if (rc != AUC_OK)
		(void)put_back(x, from, i - 1, &why);
	return rc;
}

/* What has just been taken out has room. */
static enum auc_code put_back(const struct rearrange *x, unsigned from, unsigned to,
			      struct auc_err *err)
{
	enum auc_code rc = AUC_OK, one;

	for (unsigned i = from; i < to; i++) {
		one = auc_market_book(x->market, x->plans[i], x->from, auc_market_last(x->market),
				      err);
		if (rc == AUC_OK)
			rc = one;
	}
	return rc;
}

static void list_candidates(struct search *s)
{
	for (unsigned i = 0; i < s->x->n; i++) {
		s->list[s->n].index = i;
		s->list[s->n].slots = common_slots(s->x->plans[i], &s->placed.plan);
		s->n += s->list[s->n].slots > 0;
	}
	qsort(s->list, s->n, sizeof(*s->list), compare_slots);
	if (s->n > REARRANGE_TRIES)
		s->n = REARRANGE_TRIES;
}

static uint64_t common_slots(const struct auc_plan *a, const struct auc_plan *b)
{
	uint64_t found = 0;

	for (const struct auc_run *r = a->runs; r < a->runs + a->nruns; r++)
		for (const struct auc_run *q = b->runs; q < b->runs + b->nruns; q++) {
			auc_slot from = r->from > q->from ? r->from : q->from;
			auc_slot to = r->to < q->to ? r->to : q->to;
			const struct auc_share *x = a->shares + r->first_share;
			const struct auc_share *y = b->shares + q->first_share;

			while (from <= to && x < a->shares + r->first_share + r->nshares &&
			       y < b->shares + q->first_share + q->nshares) {
				if (x->server == y->server)
					found += (uint64_t)(to - from + 1);
				if (x->server <= y->server)
					x++;
				else
					y++;
			}
		}
	return found;
}

static int compare_slots(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->slots != y->slots)
		return x->slots > y->slots ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Without the I-th. */
static enum auc_code try(struct search *s, unsigned i, double base, struct auc_err *err)
{
	const struct rearrange *x = s->x;
	auc_slot last = auc_market_last(x->market);
	enum auc_code rc = take_out(x, i, i + 1, err), back;
	double gain;

	if (rc != AUC_OK)
		return rc;
	rc = x->quote(x->arg, s->job, &s->placed, err);
	gain = payoff(&s->placed) - base;
	if (rc == AUC_OK && gain > s->gain + s->slack) {
		rc = auc_market_book(x->market, &s->placed.plan, x->from, last, err);
		if (rc == AUC_OK) {
			rc = place_again(s, i, gain, err);
			back = auc_market_unbook(x->market, &s->placed.plan, x->from, last, err);
			if (rc == AUC_OK)
				rc = back;
		}
	}
	back = put_back(x, i, i + 1, err);
	return rc == AUC_OK ? back : rc;
}

/* The I-th, if that costs less than GAIN more. */
static enum auc_code place_again(struct search *s, unsigned i, double gain, struct auc_err *err)
{
	const struct rearrange *x = s->x;
	const struct auc_plan *old = x->plans[i];
	struct auc_plan *plan = &s->again.plan;
	double cost = auc_plan_cost(old, x->market), more;
	struct auc_utility utility;
	enum auc_code rc;

	if (x->job(x->arg, i, &s->other, NULL) != AUC_OK)
		return AUC_OK;
	utility = s->other.utility;
	begin_at(&s->other, auc_market_nservers(x->market), x->from);
	s->other.utility = (struct auc_utility){.form = AUC_FORM_DEADLINE,
						.scale = cost + gain - s->gain,
						.target = (double)(old->completion - x->from)};
	rc = x->quote(x->arg, &s->other, &s->again, err);
	if (rc != AUC_OK || !s->again.accepted)
		return rc;
	more = plan->cost > cost ? plan->cost - cost : 0;
	if (gain - more <= s->gain + s->slack)
		return AUC_OK;
	s->gain = gain - more;
	s->which = i;
	plan->arrival = old->arrival;
	plan->cost = old->cost;
	plan->value = auc_utility_value(&utility, (double)(plan->completion - plan->arrival));
	rc = auc_decision_copy(&s->best_again, &s->again, err);
	if (rc == AUC_OK)
		rc = auc_decision_copy(&s->best, &s->placed, err);
	s->best.plan.cost += more;
	s->best.best_payoff = payoff(&s->best);
	return rc;
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

static double payoff(const struct auc_decision *d)
{
	return d->accepted ? d->plan.value - d->plan.cost : 0;
}
