/* easy.c - see easy.h */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/baseline/easy.h"
#include "auctionsim/baseline/queue_jobs.h"
#include "auctionsim/scenario/scenario_market.h"
#include "base/clock.h"
#include "policy/option.h"

struct easy {
	unsigned strict; /* no backfill */
	const struct scenario *s;
	struct auc_market *market;
	struct queue_jobs list;
	struct queue_outcome *out;
	struct entry {
		double submit; /* seconds */
		unsigned job, rank;
	} * entries; /* by submission */
	unsigned n;
};

static enum auc_code read_options(struct easy *e, const char *options, struct auc_err *err);
static enum auc_code check_scenario(const struct scenario *s, struct auc_err *err);
static enum auc_code gather(struct easy *e, const unsigned *order, struct result *result,
			    struct auc_err *err);
static enum auc_code keep(struct easy *e, unsigned place, struct outcome *o, struct auc_err *err);

enum auc_code easy_run(const struct scenario *s, const char *options, const unsigned *order,
		       struct result *result, double *us, struct auc_err *err)
{
	struct easy e = {.s = s};
	double before = auc_clock(CLOCK_THREAD_CPUTIME_ID);
	enum auc_code rc = read_options(&e, options, err);

	if (rc == AUC_OK)
		rc = check_scenario(s, err);
	if (rc == AUC_OK)
		rc = scenario_market_create(s, NULL, &e.market, err);
	if (rc == AUC_OK)
		rc = queue_jobs_open(&e.list, s, err);
	if (rc == AUC_OK)
		rc = gather(&e, order, result, err);
	if (rc == AUC_OK)
		rc = queue_run(&e.list.q, !e.strict, e.out, NULL, NULL, err);
	for (unsigned i = 0; i < e.n && rc == AUC_OK; i++)
		rc = keep(&e, i, &result->jobs[e.entries[i].job], err);
	us[0] = (auc_clock(CLOCK_THREAD_CPUTIME_ID) - before) * 1e6;
	result->decisions = s->njobs > 0;
	queue_clear(e.out, e.out ? e.n : 0);
	free(e.out);
	free(e.entries);
	queue_jobs_clear(&e.list);
	auc_market_destroy(e.market);
	return rc;
}

enum auc_code easy_check_options(const char *options, struct auc_err *err)
{
	struct easy e = {0};

	return read_options(&e, options, err);
}

static enum auc_code read_options(struct easy *e, const char *options, struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "backfill", .choices = "yes|no", .offset = offsetof(struct easy, strict)},
	};

	return auc_options_read(EASY_NAME, options, list, 1, e, err);
}

static enum auc_code check_scenario(const struct scenario *s, struct auc_err *err)
{
	if (s->nstate)
		return auc_err_set(err, AUC_EINVAL,
				   "%s: $.state: policy easy cannot begin with what is sold",
				   s->file);
	for (unsigned i = 0; i < s->njobs; i++)
		if (!s->jobs[i].ngang || s->jobs[i].within_switch)
			return auc_err_set(
				err, AUC_EINVAL,
				"%s: $.jobs[%u]: job %.80s is %s, which policy easy does "
				"not take",
				s->file, i, s->jobs[i].id,
				s->jobs[i].ngang ? "bound to one switch" : "no gang");
	return AUC_OK;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->submit < y->submit || x->submit > y->submit)
		return x->submit < y->submit ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The jobs as the queue has them. */
static enum auc_code gather(struct easy *e, const unsigned *order, struct result *result,
			    struct auc_err *err)
{
	const struct scenario *s = e->s;
	enum auc_code rc = AUC_OK;
	unsigned i, k;

	e->entries = calloc((size_t)s->njobs + 1, sizeof(*e->entries));
	e->out = calloc((size_t)s->njobs + 1, sizeof(*e->out));
	if (!e->entries || !e->out)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	for (i = 0; i < s->njobs; i++) {
		const struct scenario_job *job = &s->jobs[order[i]];
		double wait = 0;

		if (job->arrival > s->slots) {
			result->jobs[order[i]].reason = AUC_REASON_CAPACITY;
			continue;
		}
		for (k = 0; k < s->nservers; k++)
			wait = fmax(wait, ceil(scenario_upload(job, k)));
		e->entries[e->n++] = (struct entry){
			((double)job->arrival - 1 + wait) * s->slot_seconds, order[i], i};
	}
	qsort(e->entries, e->n, sizeof(*e->entries), compare_entries);
	for (i = 0; i < e->n && rc == AUC_OK; i++)
		rc = queue_jobs_add(&e->list, &s->jobs[e->entries[i].job], e->entries[i].submit,
				    s->slot_seconds, 0, err);
	return rc;
}

/* What became of the job at PLACE of the queue. */
static enum auc_code keep(struct easy *e, unsigned place, struct outcome *o, struct auc_err *err)
{
	const struct scenario_job *job = &e->s->jobs[e->entries[place].job];
	const struct queue_outcome *made = &e->out[place];
	struct auc_plan *plan = &o->plan;
	const struct scenario_shape *shape;
	double from, to;
	enum auc_code rc;

	if (made->start < 0) {
		o->reason = AUC_REASON_CAPACITY;
		return AUC_OK;
	}
	o->accepted = true;
	from = round(made->start / e->s->slot_seconds) + 1;
	to = round(made->end / e->s->slot_seconds);
	if (to > (double)e->s->slots)
		return AUC_OK;
	shape = &job->gang[made->shape];
	plan->gang = true;
	plan->shape = made->shape;
	for (unsigned k = 0; k < shape->nper_node; k++)
		plan->amount[auc_market_find_tres(e->market, shape->per_node[k].name)] =
			shape->per_node[k].value;
	plan->arrival = (auc_slot)job->arrival;
	plan->start = (auc_slot)from;
	plan->completion = (auc_slot)to + 1;
	rc = auc_plan_add_run(plan, plan->start, plan->completion - 1, err);
	for (unsigned i = 0; i < shape->nodes && rc == AUC_OK; i++)
		rc = auc_plan_add_share(plan, made->nodes[i], 1, 0, err);
	o->completed = true;
	o->value = auc_utility_value(&job->utility, (double)(plan->completion - plan->arrival));
	plan->value = o->value;
	return rc;
}
