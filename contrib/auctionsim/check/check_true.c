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
#include <stdlib.h>
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
static bool moves(const struct check *c, const struct sold *j);
static bool move(struct check *c, struct sold *j, const struct run *run, uint64_t now);
static bool take_spot(struct check *c, struct sold *j, const struct run *run, const unsigned *to);
static uint64_t count_on(const struct group *list, unsigned n, unsigned server);
static bool has_room_on(const struct check *c, const struct sold *j, unsigned server,
			uint64_t workers, uint64_t ps, uint64_t now);
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
	{"moves", field_count, offsetof(struct sold, real_moves), 1, 1e15, false},
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
	enum auc_code rc = read_text(r, v, "extend, kill or move", &word);

	(void)f;
	if (rc == AUC_OK && !scenario_overrun_find(word, &times->overrun))
		rc = reader_expected(r, v, "extend, kill or move");
	return rc;
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
	else if (c->times.overrun == SCENARIO_OVERRUN_KILL || now > c->s->slots)
		end(c, j, now, true);
	else if (hold(c, j, now))
		j->tale.waited = 0;
	else if (!moves(c, j) || ++j->tale.waited == SCENARIO_OVERRUN_AHEAD ||
		 !(value_at(c, j, now + 1) > 0))
		end(c, j, now, true);
	else
		j->tale.until = now;
}

/* Slot NOW on what it had in its last one, or elsewhere; false: it cannot. */
static bool hold(struct check *c, struct sold *j, uint64_t now)
{
	const struct run *run = j->tale.moves ? &j->tale.spot : &j->runs[j->nruns - 1];
	long double value = value_at(c, j, now + 1), price;
	struct scenario_type node;
	uint64_t slot;

	if (!(value > 0))
		return false;
	if (!has_room(c, j, run, now)) {
		if (!moves(c, j) || !move(c, j, run, now))
			return false;
		run = &j->tale.spot;
	}
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

static bool moves(const struct check *c, const struct sold *j)
{
	return c->times.overrun == SCENARIO_OVERRUN_MOVE && !c->sites && !c->posted &&
	       !j->job->within_switch;
}

/*
 * J goes on elsewhere in slot NOW: what of RUN has no room where it is goes to the first server
 * that has and that nothing else of it is on. False: there is none, and nothing changes.
 */
static bool move(struct check *c, struct sold *j, const struct run *run, uint64_t now)
{
	unsigned n = c->s->nservers, s, k;
	bool *taken = calloc(n + 1, sizeof(*taken)), found = true;
	unsigned *to = calloc(n + 1, sizeof(*to)); /* by server; n: it is to be found */
	uint64_t workers, ps;

	if (!taken || !to) {
		c->no_memory = true;
		found = false;
	}
	for (s = 0; s < n && found; s++) {
		workers = count_on(run->workers, run->nworkers, s);
		ps = count_on(run->ps, run->nps, s);
		taken[s] = (workers || ps) && has_room_on(c, j, s, workers, ps, now);
		to[s] = taken[s] ? s : n;
	}
	for (s = 0; s < n && found; s++) {
		workers = count_on(run->workers, run->nworkers, s);
		ps = count_on(run->ps, run->nps, s);
		if (to[s] < n || (!workers && !ps))
			continue;
		for (k = 0; k < n; k++)
			if (!taken[k] &&
			    (double)j->job->arrival + scenario_upload(j->job, k) <= (double)now &&
			    has_room_on(c, j, k, workers, ps, now))
				break;
		found = k < n;
		to[s] = k;
		taken[k] = true;
	}
	found = found && take_spot(c, j, run, to);
	free(taken);
	free(to);
	return found;
}

/* J is from now on where RUN was, each server being the one that TO says. */
static bool take_spot(struct check *c, struct sold *j, const struct run *run, const unsigned *to)
{
	struct run *spot = &j->tale.spot;

	if (!j->tale.moves) {
		*spot = *run;
		spot->workers = calloc(run->nworkers + 1, sizeof(*spot->workers));
		spot->ps = calloc(run->nps + 1, sizeof(*spot->ps));
		if (!spot->workers || !spot->ps) {
			free(spot->workers);
			free(spot->ps);
			c->no_memory = true;
			return false;
		}
		memcpy(spot->workers, run->workers, run->nworkers * sizeof(*spot->workers));
		memcpy(spot->ps, run->ps, run->nps * sizeof(*spot->ps));
	}
	j->tale.moves++;
	for (unsigned k = 0; k < spot->nworkers; k++)
		spot->workers[k].server = to[spot->workers[k].server];
	for (unsigned k = 0; k < spot->nps; k++)
		spot->ps[k].server = to[spot->ps[k].server];
	return true;
}

static uint64_t count_on(const struct group *list, unsigned n, unsigned server)
{
	for (unsigned k = 0; k < n; k++)
		if (list[k].server == server)
			return list[k].count;
	return 0;
}

static bool has_room(struct check *c, const struct sold *j, const struct run *run, uint64_t now)
{
	bool fits = true;

	for (unsigned k = 0; k < run->nworkers && fits; k++)
		fits = has_room_on(c, j, run->workers[k].server, run->workers[k].count, 0, now);
	for (unsigned k = 0; k < run->nps && fits; k++)
		fits = has_room_on(c, j, run->ps[k].server,
				   count_on(run->workers, run->nworkers, run->ps[k].server),
				   run->ps[k].count, now);
	if (fits && c->sites) {
		fits = books_traffic(c->books, now, check_sent(j, run, now));
		books_traffic(c->books, now, -check_sent(j, run, now));
	}
	return fits;
}

/* True if SERVER has room for so many in slot NOW. */
static bool has_room_on(const struct check *c, const struct sold *j, unsigned server,
			uint64_t workers, uint64_t ps, uint64_t now)
{
	struct scenario_type node;

	if (j->job->ngang)
		node = books_node(&j->job->gang[j->shape]);
	if (workers && books_room(c->books, j->job->ngang ? &node : j->worker, AUC_ROLE_WORKER,
				  server, now, now, NULL, 0) < workers)
		return false;
	return !ps || books_room(c->books, j->ps, AUC_ROLE_PS, server, now, now,
				 workers ? j->worker : NULL, workers) >= ps;
}

static void end(struct check *c, struct sold *j, uint64_t now, bool killed)
{
	uint64_t n = workers_of(&j->runs[j->nruns - 1]);

	uint64_t all = slots_before(j, j->runs[j->nruns - 1].to + 1);
	uint64_t used = slots_before(j, now);

	j->tale.live = false;
	if (j->tale.moves) {
		free(j->tale.spot.workers);
		free(j->tale.spot.ps);
	}
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
	if (j->real_moves != t->moves)
		check_violation(c, "realised.moves", j,
				"expected %" PRIu64 ", found %" PRIu64 ", where 0 is not there",
				t->moves, j->real_moves);
	if (!check_close(j->real_value, t->value))
		check_violation(c, "realised.value", j, "expected %.17Lg, found %.17g", t->value,
				j->real_value);
	if (!check_close(j->real_payment, t->payment))
		check_violation(c, "realised.payment", j, "expected %.17Lg, found %.17g",
				t->payment, j->real_payment);
}
