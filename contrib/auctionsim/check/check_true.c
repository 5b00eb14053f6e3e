/*
 * check_true.c - jobs as they turn out, see check-private.h: when each is done, what it pays and is
 * worth then, worked out from the plans of the result alone. Slot by slot; in each one jobs that
 * are done give back the rest of their plans first, and then those whose plan is over go on, in the
 * order of arrival, while there is room.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/check/check-private.h"
#include "policy/time_range.h"

#define FACTOR_MAX 1e6

static enum auc_code read_completion(struct reader *r, struct json_object *v, const struct field *f,
				     void *target);
static enum auc_code read_overrun(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code read_margin(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_quantile(struct reader *r, struct json_object *v, const struct field *f,
				   void *target);
static long double work_of(const struct check *c, const struct sold *j, long double factor);
static long double plan_work(const struct sold *j);
static uint64_t workers_of(const struct run *run);
static void begin(struct check *c, struct sold *j);
static void finish(struct check *c, struct sold *j, uint64_t now);
static void go_on(struct check *c, struct sold *j, uint64_t now);
static bool hold(struct check *c, struct sold *j, uint64_t now);
static void end(struct check *c, struct sold *j, uint64_t now, bool killed);
static bool has_room(struct check *c, const struct sold *j, const struct run *run, uint64_t now);
static long double price_of(const struct check *c, const struct sold *j, const struct run *run,
			    uint64_t now);
static long double value_at(const struct check *c, const struct sold *j, uint64_t completion);
static uint64_t slots_before(const struct sold *j, uint64_t t);
static void compare(struct check *c, const struct sold *j);

static const struct field realised_fields[] = {
	{"completion", read_completion, 0, 1, 1e15, true},
	{"value", field_number, offsetof(struct sold, real_value), 0, 1e15, true},
	{"payment", field_number, offsetof(struct sold, real_payment), 0, 1e15, true},
};

static const struct field times_fields[] = {
	{"overrun", read_overrun, 0, 0, 0, true},
	{"margin", read_margin, 0, 0, FACTOR_MAX, false},
	{"quantile", read_quantile, 0, 0, 1, false},
};

enum auc_code check_read_realised(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	struct sold *j = target;

	(void)f;
	j->has_realised = true;
	return FIELDS_READ(r, v, realised_fields, j);
}

static enum auc_code read_completion(struct reader *r, struct json_object *v, const struct field *f,
				     void *target)
{
	struct sold *j = target;

	return v ? read_count(r, v, (uint64_t)f->min, (uint64_t)f->max, &j->real_completion)
		 : AUC_OK;
}

enum auc_code check_read_times(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct check *c = target;

	(void)f;
	return FIELDS_READ(r, v, times_fields, &c->times);
}

static enum auc_code read_overrun(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	struct scenario_times *times = target;
	const char *word;
	enum auc_code rc = read_text(r, v, "extend or kill", &word);

	(void)f;
	if (rc != AUC_OK)
		return rc;
	times->overrun = strcmp(word, "kill") ? SCENARIO_OVERRUN_EXTEND : SCENARIO_OVERRUN_KILL;
	return !strcmp(word, "kill") || !strcmp(word, "extend")
		       ? AUC_OK
		       : reader_expected(r, v, "extend or kill");
}

static enum auc_code read_margin(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct scenario_times *times = target;

	times->margin = SCENARIO_MARGIN_FIXED;
	return field_positive(r, v, f, &times->factor);
}

static enum auc_code read_quantile(struct reader *r, struct json_object *v, const struct field *f,
				   void *target)
{
	struct scenario_times *times = target;

	times->margin = SCENARIO_MARGIN_LEARNED;
	return field_positive(r, v, f, &times->quantile);
}

bool check_true_begin(struct check *c)
{
	struct scenario of = *c->s;

	if (!c->s->has_true_times)
		return true;
	of.times = c->times;
	c->margin = margin_open(&of);
	return c->margin != NULL;
}

long double check_true_planned(struct check *c, const struct sold *j)
{
	double factors[AUC_RANGE_PLANS];
	unsigned n, i = 0;

	if (!c->margin)
		return 1;
	if (!(j->job->time_max > 0) || c->posted)
		return margin_now(c->margin, j->job->user);
	if (!j->accepted)
		return 1;
	n = auc_range_factors(j->job->time_max, factors);
	while (i < n && !check_close(j->planned, factors[i]))
		i++;
	if (i == n)
		check_violation(c, "planned", j,
				"expected one of the plans for a time_max of %g, found %g",
				j->job->time_max, j->planned);
	return j->planned > 0 ? j->planned : 1;
}

void check_true_pass(struct check *c, uint64_t to)
{
	for (uint64_t t = c->now + 1; c->s->has_true_times && t <= to && t <= c->s->slots + 1;
	     t++) {
		c->now = t;
		for (unsigned i = 0; i < c->norder; i++) {
			struct sold *j = c->arrived[i];

			if (j->tale.live && !j->tale.started && j->start < t)
				begin(c, j);
			if (j->tale.live && j->tale.started && j->tale.done == t)
				finish(c, j, t);
		}
		for (unsigned i = 0; i < c->norder; i++)
			if (c->arrived[i]->tale.live && c->arrived[i]->tale.until + 1 == t &&
			    c->arrived[i]->tale.started)
				go_on(c, c->arrived[i], t);
	}
}

/* Its plan has been found to be one that can be followed, or it stands as it is. */
void check_true_sold(struct check *c, struct sold *j)
{
	uint64_t next = 1;

	if (!c->s->has_true_times) {
		if (j->has_realised)
			check_violation(c, "realised", j, "expected none without true times");
		return;
	}
	if (!j->has_realised) {
		check_violation(c, "realised", j, "expected completion, value and payment");
		return;
	}
	for (unsigned i = 0; i < j->nruns; next = j->runs[i++].to + 1)
		if (j->runs[i].from < next || j->runs[i].to < j->runs[i].from ||
		    j->runs[i].to > c->s->slots || !workers_of(&j->runs[i]))
			return;
	if (j->job->ngang ? !j->has_shape || j->shape >= j->job->ngang : j->nruns && !j->worker)
		return;
	j->tale.live = j->nruns > 0;
	j->tale.until = next - 1;
	if (!j->nruns)
		compare(c, j);
}

void check_true_end(struct check *c)
{
	const struct totals *t = &c->totals;
	long double welfare = 0, revenue = 0, killed = 0;
	bool some = c->s->has_true_times;

	check_true_pass(c, c->s->slots + 1);
	if (some != !isnan(t->realised_welfare) || some != !isnan(t->realised_revenue) ||
	    some != !isnan(t->killed)) {
		check_violation(c, "totals", NULL,
				some ? "expected realised_welfare, realised_revenue and killed"
				     : "expected no realised_welfare, realised_revenue and killed "
				       "without true times");
		return;
	}
	if (!some)
		return;
	for (unsigned i = 0; i < c->norder; i++) {
		const struct sold *j = c->arrived[i];

		welfare += j->has_realised ? j->real_value : 0;
		revenue += j->has_realised ? j->real_payment : 0;
		killed += j->has_realised && j->nruns && !j->real_completion;
	}
	if (!check_close(t->realised_welfare, welfare))
		check_violation(c, "totals.realised_welfare", NULL, "expected %.17Lg, found %.17g",
				welfare, t->realised_welfare);
	if (!check_close(t->realised_revenue, revenue))
		check_violation(c, "totals.realised_revenue", NULL, "expected %.17Lg, found %.17g",
				revenue, t->realised_revenue);
	if (t->killed != (double)killed)
		check_violation(c, "totals.killed", NULL, "expected %.0Lf, found %.17g", killed,
				t->killed);
}

/* Worker-slots that it takes, FACTOR times as long as it says. */
static long double work_of(const struct check *c, const struct sold *j, long double factor)
{
	const struct run *run = j->runs;

	if (j->job->ngang)
		return factor * j->job->gang[j->shape].seconds / c->s->slot_seconds *
		       workers_of(run);
	if (c->sites || c->posted)
		return factor * plan_work(j);
	if (c->elastic)
		return check_oasis_work(c, j, factor);
	return factor * books_work(c->books, j->job, j->worker, j->worker_seconds, j->ps_seconds,
				   j->colocated);
}

static long double plan_work(const struct sold *j)
{
	long double sum = 0;

	for (unsigned i = 0; i < j->nruns; i++)
		sum += (long double)(j->runs[i].to - j->runs[i].from + 1) * workers_of(&j->runs[i]);
	return sum;
}

static uint64_t workers_of(const struct run *run)
{
	return check_sum(run->workers, run->nworkers);
}

static void begin(struct check *c, struct sold *j)
{
	long double work = work_of(c, j, j->job->true_time), needed;

	j->tale.started = true;
	j->tale.said = work_of(c, j, 1);
	for (unsigned i = 0; i < j->nruns; i++) {
		const struct run *run = &j->runs[i];

		needed = books_duration(work, workers_of(run));
		if (needed <= run->to - run->from + 1) {
			j->tale.done = run->from + (uint64_t)needed;
			return;
		}
		work -= (long double)(run->to - run->from + 1) * workers_of(run);
	}
	j->tale.left = work;
}

static void finish(struct check *c, struct sold *j, uint64_t now)
{
	struct scenario_type node;

	if (j->job->ngang)
		node = books_node(&j->job->gang[j->shape]);
	for (unsigned i = 0; i < j->nruns; i++) {
		const struct run *run = &j->runs[i];
		uint64_t from = run->from > now ? run->from : now;

		for (unsigned k = 0; k < run->nworkers && from <= run->to; k++)
			books_remove(c->books, j->job->ngang ? &node : j->worker,
				     run->workers[k].server, from, run->to, run->workers[k].count);
		for (unsigned k = 0; k < run->nps && from <= run->to; k++)
			books_remove(c->books, j->ps, run->ps[k].server, from, run->to,
				     run->ps[k].count);
		for (uint64_t t = from; t <= run->to && c->sites; t++)
			books_traffic(c->books, t, -check_sent(j, run, t));
	}
	end(c, j, now, false);
}

static void go_on(struct check *c, struct sold *j, uint64_t now)
{
	uint64_t n = workers_of(&j->runs[j->nruns - 1]);

	if (j->tale.more && books_ceil(j->tale.left / n) <= j->tale.more)
		end(c, j, now, false);
	else if (c->times.overrun == SCENARIO_OVERRUN_KILL || now > c->s->slots || !hold(c, j, now))
		end(c, j, now, true);
}

/* Slot NOW on what it had in its last one; false: it cannot. */
static bool hold(struct check *c, struct sold *j, uint64_t now)
{
	const struct run *run = &j->runs[j->nruns - 1];
	long double value = value_at(c, j, now + 1), price;
	struct scenario_type node;
	uint64_t slot;

	if (!(value > 0) || !has_room(c, j, run, now))
		return false;
	if (c->posted)
		price = (long double)j->payment / slots_before(j, now);
	else
		price = c->priced ? price_of(c, j, run, now) : 0;
	price = fminl(price, fmaxl(0, value - j->payment - j->tale.paid));
	if (j->job->purse) {
		price = fminl(price, c->left[j->job->purse - 1]);
		c->left[j->job->purse - 1] -= (double)price;
	}
	if (j->job->ngang)
		node = books_node(&j->job->gang[j->shape]);
	for (unsigned k = 0; k < run->nworkers; k++)
		books_add(c->books, j->job->ngang ? &node : j->worker, run->workers[k].server, now,
			  now, run->workers[k].count, &slot);
	for (unsigned k = 0; k < run->nps; k++)
		books_add(c->books, j->ps, run->ps[k].server, now, now, run->ps[k].count, &slot);
	if (c->sites)
		books_traffic(c->books, now, check_sent(j, run, now));
	j->tale.paid += price;
	j->tale.more++;
	j->tale.until = now;
	return true;
}

static void end(struct check *c, struct sold *j, uint64_t now, bool killed)
{
	uint64_t n = workers_of(&j->runs[j->nruns - 1]);

	uint64_t all = slots_before(j, j->runs[j->nruns - 1].to + 1);
	uint64_t used = slots_before(j, now);

	j->tale.live = false;
	j->tale.payment = j->tale.paid + (long double)j->payment * used / all;
	if (j->job->purse)
		c->left[j->job->purse - 1] += j->payment - j->payment * (double)used / (double)all;
	j->tale.killed = killed;
	if (!killed) {
		j->tale.completion = now;
		j->tale.value = value_at(c, j, now);
	}
	if (margin_heard(c->margin, j->job->user,
			 killed ? (double)((plan_work(j) + j->tale.more * n) / j->tale.said)
				: j->job->true_time,
			 killed, NULL) != AUC_OK)
		c->no_memory = true;
	compare(c, j);
}

static bool has_room(struct check *c, const struct sold *j, const struct run *run, uint64_t now)
{
	struct scenario_type node;

	if (j->job->ngang)
		node = books_node(&j->job->gang[j->shape]);
	for (unsigned k = 0; k < run->nworkers; k++)
		if (books_room(c->books, j->job->ngang ? &node : j->worker, AUC_ROLE_WORKER,
			       run->workers[k].server, now, now, NULL, 0) < run->workers[k].count)
			return false;
	for (unsigned k = 0; k < run->nps; k++) {
		uint64_t beside = 0;

		for (unsigned i = 0; i < run->nworkers; i++)
			if (run->workers[i].server == run->ps[k].server)
				beside = run->workers[i].count;
		if (books_room(c->books, j->ps, AUC_ROLE_PS, run->ps[k].server, now, now, j->worker,
			       beside) < run->ps[k].count)
			return false;
	}
	if (c->sites) {
		bool fits = books_traffic(c->books, now, check_sent(j, run, now));

		books_traffic(c->books, now, -check_sent(j, run, now));
		return fits;
	}
	return true;
}

static long double price_of(const struct check *c, const struct sold *j, const struct run *run,
			    uint64_t now)
{
	struct scenario_type node;
	long double sum = 0;

	if (j->job->ngang)
		node = books_node(&j->job->gang[j->shape]);
	for (unsigned k = 0; k < run->nworkers; k++)
		sum += books_cost(c->books, j->job->ngang ? &node : j->worker,
				  run->workers[k].server, now, now, run->workers[k].count);
	for (unsigned k = 0; k < run->nps; k++)
		sum += books_cost(c->books, j->ps, run->ps[k].server, now, now, run->ps[k].count);
	if (c->sites)
		sum += books_traffic_cost(c->books, now, check_sent(j, run, now));
	return sum;
}

static long double value_at(const struct check *c, const struct sold *j, uint64_t completion)
{
	return c->posted && j->job->budget >= 0
		       ? (long double)j->value
		       : books_value(&j->job->utility, (long double)completion - j->job->arrival);
}

/* Slots of its plan before slot T. */
static uint64_t slots_before(const struct sold *j, uint64_t t)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < j->nruns; i++)
		if (j->runs[i].from < t)
			sum += (j->runs[i].to < t ? j->runs[i].to : t - 1) - j->runs[i].from + 1;
	return sum;
}

static void compare(struct check *c, const struct sold *j)
{
	const struct tale *t = &j->tale;

	if (j->real_completion != t->completion)
		check_violation(c, "realised.completion", j,
				"expected %" PRIu64 ", found %" PRIu64 ", where 0 is none",
				t->completion, j->real_completion);
	if (!check_close(j->real_value, t->value))
		check_violation(c, "realised.value", j, "expected %.17Lg, found %.17g", t->value,
				j->real_value);
	if (!check_close(j->real_payment, t->payment))
		check_violation(c, "realised.payment", j, "expected %.17Lg, found %.17g",
				t->payment, j->real_payment);
}
