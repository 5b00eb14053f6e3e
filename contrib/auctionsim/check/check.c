/* check.c - see check.h */
#include "config.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "input/bid.h"
#include "auctionsim/check/check-private.h"
#include "policy/time_range.h"
#include "auctionsim/io/progress.h"
#include "base/num.h"
#include "auctionsim/run/replay.h"

#define COUNT_MAX 1e9
#define SLOT_MAX  1e15
#define TIE       1e-9L /* relative: two ways to compute one number */

static bool check_one(struct check *c, struct json_object *o);
static bool is_named(const struct check *c, const char *name);
static void read_policy(struct check *c);
static bool read_jobs(struct check *c);
static void read_one_job(struct check *c, struct json_object *o, size_t index,
			 struct json_object *ids);
static void check_job(struct check *c, struct sold *j);
static void check_refused(struct check *c, struct sold *j);
static bool has_schedule(const struct sold *j);
static void check_unfinished(struct check *c, const struct sold *j);
static void check_keys(struct check *c, const struct sold *j);
static bool check_plan(struct check *c, const struct sold *j);
static void check_placement(struct check *c, const struct sold *j);
static void check_money(struct check *c, const struct sold *j);
static void check_totals(struct check *c);
static void check_timing(struct check *c);
static void sold_clear(struct sold *j);

static enum auc_code read_runs(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_run(struct reader *r, struct json_object *v, void *element);
static enum auc_code read_groups(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_colocated(struct reader *r, struct json_object *v, const struct field *f,
				    void *target);
static enum auc_code read_offer(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code read_price(struct reader *r, struct json_object *v, void *element);
static enum auc_code check_format(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code check_scenario(struct reader *r, struct json_object *v, const struct field *f,
				    void *target);
static enum auc_code check_seed(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code keep_jobs(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_totals(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_timing(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);

static const struct field result_fields[] = {
	{"format", check_format, 0, 0, 0, true},
	{"scenario", check_scenario, 0, 0, 0, true},
	{"policy", field_text, offsetof(struct check, policy), 0, 0, true},
	{"seed", check_seed, 0, 0, SLOT_MAX * 10, true},
	{"jobs", keep_jobs, 0, 0, 0, true},
	{"totals", read_totals, 0, 0, 0, true},
	{"timing", read_timing, 0, 0, 0, false},
	{"times", check_read_times, 0, 0, 0, false},
	{"fairness", check_read_fairness, 0, 0, 0, false},
};

#define NUMBER(type, key)                                                                          \
	{                                                                                          \
#key, field_number, offsetof(struct type, key), -DBL_MAX, DBL_MAX, true            \
	}
#define MAYBE(type, key)                                                                           \
	{                                                                                          \
#key, field_number, offsetof(struct type, key), -DBL_MAX, DBL_MAX, false           \
	}
#define WHOLE(type, key)                                                                           \
	{                                                                                          \
#key, field_count, offsetof(struct type, key), 0, SLOT_MAX, true                   \
	}
static const struct field totals_fields[] = {
	WHOLE(totals, jobs),
	WHOLE(totals, accepted),
	WHOLE(totals, completed),
	NUMBER(totals, welfare),
	NUMBER(totals, revenue),
	NUMBER(totals, mean_jct_slots),
	WHOLE(totals, preemptions),
	MAYBE(totals, cost),
	MAYBE(totals, realised_welfare),
	MAYBE(totals, realised_revenue),
	MAYBE(totals, killed),
};

static const struct field timing_fields[] = {
	WHOLE(timing, decisions),
	NUMBER(timing, p50_us),
	NUMBER(timing, p99_us),
	NUMBER(timing, max_us),
};

static const struct field job_fields[] = {
	{"id", field_text, offsetof(struct sold, id), 0, 0, true},
	{"accepted", field_bool, offsetof(struct sold, accepted), 0, 0, true},
	{"reason", field_text, offsetof(struct sold, reason), 0, 0, false},
	MAYBE(sold, best_payoff),
	MAYBE(sold, value),
	MAYBE(sold, payment),
	MAYBE(sold, payoff),
	{"decided", field_count, offsetof(struct sold, decided), 1, SLOT_MAX, false},
	{"planned", field_positive, offsetof(struct sold, planned), 0, AUC_RANGE_MOST, false},
	{"realised", check_read_realised, 0, 0, 0, false},
	{"start", field_count, offsetof(struct sold, start), 1, SLOT_MAX, false},
	{"completion", field_count, offsetof(struct sold, completion), 1, SLOT_MAX, false},
	{"worker_type", field_text, offsetof(struct sold, worker_type), 0, 0, false},
	{"ps_type", field_text, offsetof(struct sold, ps_type), 0, 0, false},
	{"colocated", read_colocated, 0, 0, 0, false},
	{"shape", check_read_shape, 0, 0, AUC_SHAPES_MAX - 1, false},
	{"plan", read_runs, 0, 0, 0, false},
	{"transfers", check_read_transfers, 0, 0, 0, false},
	{"chunks", check_read_chunks, 0, 0, 0, false},
	{"offer", read_offer, 0, 0, DBL_MAX, false},
};

static const struct field run_fields[] = {
	{"from", field_count, offsetof(struct run, from), 1, SLOT_MAX, true},
	{"to", field_count, offsetof(struct run, to), 1, SLOT_MAX, true},
	{"workers", read_groups, 0, 0, COUNT_MAX, false},
	{"ps", read_groups, 0, 0, COUNT_MAX, false},
	{"nodes", check_read_nodes, 0, 0, 0, false},
};

enum auc_code check_result(const struct scenario *s, struct json_object *root, const char *name,
			   FILE *out, unsigned *violations, struct auc_err *err)
{
	bool many = json_object_is_type(root, json_type_array), ok = true;
	size_t n = many ? json_object_array_length(root) : 1, i;
	struct check c;
	unsigned k;

	*violations = 0;
	for (i = 0; i < n && ok; i++) {
		c = (struct check){.s = s, .name = name, .out = out};
		reader_init(&c.r, name, &c, &c.why);
		if (many)
			reader_enter_index(&c.r, i);
		c.totals.cost = c.totals.realised_welfare = c.totals.realised_revenue =
			c.totals.killed = (double)NAN;
		c.times = s->times;
		c.stretch = 1;
		c.sold = calloc(s->njobs + 1, sizeof(*c.sold));
		c.order = calloc(s->njobs + 1, sizeof(*c.order));
		c.arrived = calloc(s->njobs + 1, sizeof(*c.arrived));
		c.books = books_open(s);
		c.left = calloc(s->nbudgets + 1, sizeof(*c.left));
		for (k = 0; c.left && k < s->nbudgets; k++)
			c.left[k] = s->budgets[k].value;
		ok = c.sold && c.order && c.arrived && c.books && c.left &&
		     check_one(&c, many ? json_object_array_get_idx(root, i) : root);
		*violations += c.violations;
		for (k = 0; c.sold && k < s->njobs; k++)
			sold_clear(&c.sold[k]);
		free(c.sold);
		free(c.order);
		free(c.arrived);
		margin_close(c.margin);
		free(c.left);
		free(c.policy);
		books_close(c.books);
	}
	return ok ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "%s: no memory", name);
}

static int compare_arrival(const void *a, const void *b)
{
	const struct sold *x = *(struct sold *const *)a, *y = *(struct sold *const *)b;

	if (x->job->arrival != y->job->arrival)
		return x->job->arrival < y->job->arrival ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

/* False: no memory. */
static bool check_one(struct check *c, struct json_object *o)
{
	size_t mark = c->r.len;
	unsigned i, n = 0;
	bool good = FIELDS_READ(&c->r, o, result_fields, c) == AUC_OK;

	reader_leave(&c->r, mark);
	if (!good) {
		check_violation(c, NULL, NULL, "%s", c->why.text);
		if (!c->policy || !c->jobs)
			return true;
	}
	read_policy(c);
	if (!read_jobs(c))
		return false;
	for (i = 0; i < c->s->njobs; i++)
		if (c->sold[i].job)
			c->order[n++] = &c->sold[i];
		else
			check_violation(c, "jobs", NULL, "job %.80s: expected once, found nowhere",
					c->s->jobs[i].id);
	qsort(c->order, n, sizeof(struct sold *), compare_arrival);
	c->norder = n;
	if (!check_stands_order(c) || !check_true_begin(c))
		return false;
	if (c->priced && !books_set_prices(c->books, c->sites     ? BOOKS_ERIS
						     : c->elastic ? BOOKS_OASIS
								  : BOOKS_DPS))
		return false;
	for (i = 0; i < n; i++) {
		progress_count(i, n);
		check_true_pass(c, c->order[i]->when);
		check_job(c, c->order[i]);
	}
	check_true_end(c);
	if (c->steps && c->steps->end)
		c->steps->end(c);
	check_totals(c);
	if (!check_fairness(c))
		c->no_memory = true;
	if (c->has_timing)
		check_timing(c);
	return !c->no_memory;
}

static bool is_named(const struct check *c, const char *name)
{
	size_t len = strcspn(c->policy, ",");

	return len == strlen(name) && !strncmp(c->policy, name, len);
}

/* What the rules are. */
static void read_policy(struct check *c)
{
	bool dps = is_named(c, "dps");
	bool unpriced = is_named(c, "unpriced");
	bool offline = is_named(c, "offline");

	bool offline_oasis = is_named(c, "offline-oasis");

	c->elastic = is_named(c, "oasis");
	c->sites = is_named(c, "eris");
	c->priced = dps || c->elastic || c->sites;
	c->elastic = c->elastic || offline_oasis;
	offline = offline || offline_oasis;
	c->gangs = dps || unpriced || offline || is_named(c, "fifo") || is_named(c, "easy");
	c->own_reckoning = strstr(c->policy, "variant=paper") != NULL;
	c->admits_all = is_named(c, "fifo") || is_named(c, "drf") || is_named(c, "easy");
	c->posted = is_named(c, "posted");
	c->gangs = c->gangs || c->posted;
	c->posted = c->posted || is_named(c, "bfp");
	c->steps = check_steps_find(c->policy);
	c->admits_all = c->admits_all || c->steps;
	c->sites = c->sites || (c->steps && c->steps->sites);
	if (!c->priced && !unpriced && !offline && !c->posted && !c->admits_all)
		check_violation(c, "policy", NULL,
				"expected a policy that this program can check, found %.80s",
				c->policy);
	else if (replay_check_options(c->policy, &c->why) != AUC_OK)
		check_violation(c, "policy", NULL, "%s", c->why.text);
}

/* -- reading jobs -- */

static bool read_jobs(struct check *c)
{
	struct json_object *ids = json_object_new_object(), *index;
	bool ok = ids != NULL;
	unsigned i;
	size_t k;

	for (i = 0; i < c->s->njobs && ok; i++) {
		index = json_object_new_int64(i);
		ok = index && !json_object_object_add(ids, c->s->jobs[i].id, index);
	}
	for (k = 0; ok && k < json_object_array_length(c->jobs); k++)
		read_one_job(c, json_object_array_get_idx(c->jobs, k), k, ids);
	json_object_put(ids);
	return ok;
}

/* Into the place of its scenario's job, unless that is taken. */
static void read_one_job(struct check *c, struct json_object *o, size_t index,
			 struct json_object *ids)
{
	size_t mark = reader_enter_key(&c->r, "jobs");
	struct sold j = {.index = index}, *place = NULL;
	struct json_object *found;

	j.value = j.payment = j.payoff = j.best_payoff = (double)NAN;
	j.real_value = j.real_payment = (double)NAN;
	reader_enter_index(&c->r, index);
	j.sound = FIELDS_READ(&c->r, o, job_fields, &j) == AUC_OK;
	reader_leave(&c->r, mark);
	if (!j.sound)
		check_violation(c, NULL, NULL, "%s", c->why.text);
	if (j.id && json_object_object_get_ex(ids, j.id, &found))
		place = &c->sold[json_object_get_int64(found)];
	if (j.id && !place)
		check_violation(c, "id", &j, "expected a job of the scenario");
	if (place && place->job)
		check_violation(c, "id", &j, "expected each job once, found this one twice");
	if (!place || place->job) {
		sold_clear(&j);
		return;
	}
	j.job = &c->s->jobs[place - c->sold];
	*place = j;
}

static enum auc_code read_runs(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct sold *j = target;

	(void)f;
	j->has_plan = true;
	return read_array(r, v, sizeof(*j->runs), (void **)&j->runs, &j->nruns, read_run);
}

static enum auc_code read_run(struct reader *r, struct json_object *v, void *element)
{
	enum auc_code rc = FIELDS_READ(r, v, run_fields, element);
	const struct run *run = element;

	if (rc == AUC_OK &&
	    (run->has_nodes ? run->has_workers || run->has_ps : !run->has_workers || !run->has_ps))
		rc = reader_fail(r, AUC_EINVAL, "expected workers and ps, or nodes");
	return rc;
}

/* The key says which of the two. */
static enum auc_code read_groups(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct check *c = r->user;
	struct run *run = target;
	bool ps = !strcmp(f->key, "ps");
	unsigned *n = ps ? &run->nps : &run->nworkers, s;
	struct group **list = ps ? &run->ps : &run->workers, *g;
	enum auc_code rc = AUC_OK;
	size_t mark;

	*(ps ? &run->has_ps : &run->has_workers) = true;
	if (!json_object_is_type(v, json_type_object))
		return reader_expected(r, v, "counts by server");
	*list = calloc((size_t)json_object_object_length(v) + 1, sizeof(**list));
	if (!*list)
		return reader_fail(r, AUC_ENOMEM, "no memory");
	json_object_object_foreach(v, name, count)
	{
		if (rc != AUC_OK)
			break;
		mark = reader_enter_key(r, name);
		for (s = 0; s < c->s->nservers && strcmp(c->s->servers[s].name, name) != 0; s++)
			;
		g = &(*list)[*n];
		g->server = s;
		rc = s < c->s->nservers
			     ? read_count(r, count, 1, (uint64_t)f->max, &g->count)
			     : reader_fail(r, AUC_EINVAL,
					   "expected a server of the scenario, found '%.80s'",
					   name);
		if (rc == AUC_OK) {
			(*n)++;
			reader_leave(r, mark);
		}
	}
	return rc;
}

static enum auc_code read_colocated(struct reader *r, struct json_object *v, const struct field *f,
				    void *target)
{
	struct sold *j = target;

	j->has_colocated = true;
	return field_bool(r, v, f, &j->colocated);
}

static enum auc_code read_offer(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	struct sold *j = target;
	enum auc_code rc;
	double *price;
	unsigned n;

	rc = read_array(r, v, sizeof(*price), (void **)&price, &n, read_price);
	if (rc == AUC_OK && n == 2) {
		memcpy(j->offer, price, sizeof(j->offer));
		j->has_offer = true;
	} else if (rc == AUC_OK) {
		rc = reader_expected(r, v, "prices of a worker and of a PS");
	}
	free(price);
	(void)f;
	return rc;
}

static enum auc_code read_price(struct reader *r, struct json_object *v, void *element)
{
	return read_number(r, v, 0, DBL_MAX, element);
}

static enum auc_code check_format(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	(void)f;
	(void)target;
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), "auction-result/1") != 0)
		return reader_expected(r, v, "\"auction-result/1\"");
	return AUC_OK;
}

static enum auc_code check_scenario(struct reader *r, struct json_object *v, const struct field *f,
				    void *target)
{
	const struct check *c = target;

	(void)f;
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), c->s->name) != 0)
		return reader_expected(r, v, "\"%.80s\", the scenario's name", c->s->name);
	return AUC_OK;
}

static enum auc_code check_seed(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	uint64_t seed;

	(void)target;
	return read_count(r, v, 0, (uint64_t)f->max, &seed);
}

static enum auc_code keep_jobs(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct check *c = target;

	(void)f;
	if (!json_object_is_type(v, json_type_array))
		return reader_expected(r, v, "an array");
	c->jobs = v;
	return AUC_OK;
}

static enum auc_code read_totals(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct check *c = target;

	(void)f;
	return FIELDS_READ(r, v, totals_fields, &c->totals);
}

static enum auc_code read_timing(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct check *c = target;

	(void)f;
	c->has_timing = true;
	return FIELDS_READ(r, v, timing_fields, &c->timing);
}

/* -- the rules -- */

static void check_job(struct check *c, struct sold *j)
{
	if (!j->sound)
		return;
	c->stretch = check_true_planned(c, j);
	if (j->decided)
		check_stands(c, j);
	if (!j->accepted) {
		(c->posted ? check_posted_refused : check_refused)(c, j);
	} else if (j->job->ngang && !c->gangs) {
		check_violation(c, "accepted", j, "expected no gang of this policy");
	} else if (c->steps) {
		check_steps_job(c, j);
	} else if (c->admits_all && j->has_plan && !j->nruns) {
		check_unfinished(c, j);
	} else if (j->job->ngang) {
		check_gang_job(c, j);
	} else {
		j->completed = j->nruns > 0;
		check_keys(c, j);
		if (!check_types(c, j))
			;
		else if (c->posted && check_posted(c, j))
			check_posted_money(c, j);
		else if (!c->posted && (c->elastic ? check_oasis(c, j)
					: c->sites ? check_eris(c, j)
						   : check_plan(c, j)))
			check_money(c, j);
	}
	if (j->accepted) {
		check_budget(c, j);
		check_true_sold(c, j);
	}
	if (c->priced && j->job->arrival <= c->s->slots)
		books_learn(c->books, j->job);
}

static void check_refused(struct check *c, struct sold *j)
{
	bool payoff = j->reason && !strcmp(j->reason, "payoff");
	bool capacity = j->reason && !strcmp(j->reason, "capacity");
	bool budget = j->reason && !strcmp(j->reason, "budget");

	if (!payoff && !capacity && !(budget && c->priced && j->job->purse))
		check_violation(c, "reason", j, "expected payoff or capacity, found %.40s",
				j->reason ? j->reason : "none");
	if (payoff && c->admits_all)
		check_violation(c, "reason", j, "expected capacity of a policy without payoffs");
	if (j->job->arrival > c->s->slots && !capacity)
		check_violation(c, "reason", j,
				"expected capacity, for it arrives after the last slot");
	if ((payoff || capacity) && c->priced && c->elastic && !c->own_reckoning &&
	    j->job->arrival <= c->s->slots)
		check_oasis_refused(c, j);
	if (payoff != !isnan(j->best_payoff))
		check_violation(c, "best_payoff", j, "expected with reason payoff and only there");
	if (payoff && j->best_payoff > 0)
		check_violation(c, "best_payoff", j,
				"expected at most 0 of a refused job, found %.17g", j->best_payoff);
	if (has_schedule(j) || j->has_offer)
		check_violation(c, NULL, j,
				"expected no schedule, value or payment of a refused job");
}

/* Or anything else that only an accepted job has. */
static bool has_schedule(const struct sold *j)
{
	return !isnan(j->value) || !isnan(j->payment) || !isnan(j->payoff) || j->start ||
	       j->completion || j->worker_type || j->ps_type || j->has_colocated || j->has_plan ||
	       j->has_transfers || j->has_chunks || j->has_realised || j->decided;
}

/* A baseline admits it, and it does not finish by the last slot. */
static void check_unfinished(struct check *c, const struct sold *j)
{
	if (j->value != 0 || j->payment != 0 || j->payoff != 0)
		check_violation(c, "value", j,
				"expected value, payment and payoff 0 of a job that never runs");
	if (j->start || j->completion || j->worker_type || j->ps_type || j->has_colocated ||
	    j->reason || !isnan(j->best_payoff))
		check_violation(c, NULL, j, "expected no schedule of a job that never runs");
}

static void check_keys(struct check *c, const struct sold *j)
{
	if (j->reason || !isnan(j->best_payoff))
		check_violation(c, "reason", j, "expected none of an accepted job");
	if (isnan(j->value) || isnan(j->payment) || isnan(j->payoff))
		check_violation(c, "value", j,
				"expected value, payment and payoff of an accepted job");
	if (!j->has_colocated || !j->has_plan || !j->has_transfers)
		check_violation(c, "plan", j,
				"expected colocated, plan and transfers of an accepted job");
	if (j->has_shape || (j->nruns && j->runs->has_nodes))
		check_violation(c, "shape", j, "expected no shape and nodes of a job of PSs");
	if (j->ntransfers && !c->sites)
		check_violation(c, "transfers", j, "expected none, found %u", j->ntransfers);
	if (j->has_chunks)
		check_violation(c, "chunks", j, "expected none of this policy");
	if (j->has_offer && !c->posted)
		check_violation(c, "offer", j, "expected none of this policy");
}

bool check_types(struct check *c, struct sold *j)
{
	if (j->worker_type)
		j->worker = books_worker_type(c->books, j->job, j->worker_type, &j->worker_seconds);
	if (j->ps_type)
		j->ps = books_ps_type(c->books, j->job, j->ps_type, &j->ps_seconds);
	if (!j->worker)
		check_violation(c, "worker_type", j,
				"expected a type that the job may use, found %.80s",
				j->worker_type ? j->worker_type : "none");
	if (!j->ps)
		check_violation(c, "ps_type", j,
				"expected a type that the job may use, found %.80s",
				j->ps_type ? j->ps_type : "none");
	return j->worker && j->ps;
}

/* One layout over one window. False: it is none that could be priced. */
static bool check_plan(struct check *c, const struct sold *j)
{
	if (!check_window(c, j) || !check_groups(c, j, j->runs))
		return false;
	check_placement(c, j);
	return true;
}

bool check_window(struct check *c, const struct sold *j)
{
	const struct run *run = j->runs;

	if (j->nruns != 1) {
		check_violation(c, "plan", j, "expected one run of slots, found %u", j->nruns);
		return false;
	}
	if (run->from > run->to || run->to > c->s->slots) {
		check_violation(c, "plan", j,
				"expected slots in order, at most %" PRIu64 ", found %" PRIu64
				" to %" PRIu64,
				c->s->slots, run->from, run->to);
		return false;
	}
	if (j->start != run->from)
		check_violation(c, "start", j,
				"expected %" PRIu64 ", the plan's first slot, found %" PRIu64,
				run->from, j->start);
	if (j->completion != run->to + 1)
		check_violation(c, "completion", j,
				"expected %" PRIu64
				", the slot after the plan's last, found %" PRIu64,
				run->to + 1, j->completion);
	if (run->from < j->when)
		check_violation(c, "start", j,
				"expected no slot before the %s %" PRIu64 ", found %" PRIu64,
				j->decided ? "decision in slot" : "arrival", j->when, run->from);
	return true;
}

bool check_groups(struct check *c, const struct sold *j, const struct run *run)
{
	if (!run->nworkers)
		check_violation(c, "plan", j, "expected workers, found none");
	if (run->nps != 1)
		check_violation(c, "plan", j, "expected all PSs on one server, found %u servers",
				run->nps);
	return run->nworkers && run->nps == 1;
}

static void check_placement(struct check *c, const struct sold *j)
{
	const struct run *run = j->runs;
	uint64_t n = check_sum(run->workers, run->nworkers), here = 0;
	bool together;
	long double work, d, z;
	unsigned i;

	if (n > j->job->chunks)
		check_violation(c, "plan", j,
				"expected at most %" PRIu64 " workers, one a chunk, found %" PRIu64,
				j->job->chunks, n);
	check_uploads(c, j, run);
	for (i = 0; i < run->nworkers; i++)
		if (run->workers[i].server == run->ps->server)
			here = run->workers[i].count;
	together = here == n;
	if (j->colocated != together)
		check_violation(c, "colocated", j, "expected %s", together ? "true" : "false");
	work = books_work(c->books, j->job, j->worker, j->worker_seconds, j->ps_seconds, together);
	d = books_duration(c->stretch * work, n);
	if (d != (long double)(run->to - run->from + 1))
		check_violation(c, "plan", j,
				"expected %.0Lf slot%s for %" PRIu64 " worker%s, found %" PRIu64, d,
				auc_plural((double)d), n, auc_plural((double)n),
				run->to - run->from + 1);
	z = together ? 1 : books_ps(j->worker, j->ps, n - here);
	if (c->admits_all && j->job->ps > z)
		z = j->job->ps;
	if (run->ps->count != z)
		check_violation(c, "plan", j,
				"expected %.0Lf PSs for %" PRIu64
				" workers elsewhere, found %" PRIu64,
				z, n - here, run->ps->count);
}

void check_uploads(struct check *c, const struct sold *j, const struct run *run)
{
	unsigned i, role, n = run->nworkers + run->nps;
	const struct scenario_server *server;
	const struct group *g;
	long double ready;

	for (i = 0; i < n; i++) {
		g = i < run->nworkers ? &run->workers[i] : &run->ps[i - run->nworkers];
		role = i < run->nworkers ? AUC_ROLE_WORKER : AUC_ROLE_PS;
		server = &c->s->servers[g->server];
		ready = j->job->arrival + books_ceil(scenario_upload(j->job, g->server));
		if (run->from < ready)
			check_violation(
				c, "plan", j,
				"expected nothing on %s before slot %.0Lf, when its data are there",
				server->name, ready);
		if (!(server->roles & role))
			check_violation(c, "plan", j,
					"expected no %s on %s, whose roles do not allow it",
					role == AUC_ROLE_PS ? "PSs" : "workers", server->name);
	}
}

void check_book(struct check *c, const struct sold *j, const struct run *run)
{
	unsigned i, n = run->nworkers + run->nps;
	const struct scenario_type *type;
	const struct group *g;
	const char *over;
	uint64_t slot;

	for (i = 0; i < n; i++) {
		g = i < run->nworkers ? &run->workers[i] : &run->ps[i - run->nworkers];
		type = i < run->nworkers ? j->worker : j->ps;
		over = books_add(c->books, type, g->server, run->from, run->to, g->count, &slot);
		if (over)
			check_violation(c, "plan", j,
					"expected %s of server %s within its capacity, found more "
					"sold in slot %" PRIu64,
					over, c->s->servers[g->server].name, slot);
	}
}

/* Prices first, then the booking. */
static void check_money(struct check *c, const struct sold *j)
{
	const struct run *run, *end = j->runs + j->nruns;
	long double cost = 0;
	const struct scenario_type *type;
	const struct group *g;
	uint64_t t;
	unsigned i;

	for (run = j->runs; run < end && c->sites; run++)
		for (t = run->from; t <= run->to; t++)
			cost += books_traffic_cost(c->books, t, check_sent(j, run, t));
	for (run = j->runs; run < end && c->priced; run++)
		for (i = 0; i < run->nworkers + run->nps; i++) {
			g = i < run->nworkers ? &run->workers[i] : &run->ps[i - run->nworkers];
			type = i < run->nworkers ? j->worker : j->ps;
			cost += books_cost(c->books, type, g->server, run->from, run->to, g->count);
		}
	check_worth(c, j, end[-1].to + 1, cost);
	for (run = j->runs; run < end; run++) {
		check_book(c, j, run);
		for (t = run->from; t <= run->to && c->sites; t++)
			check_send(c, j, run, t);
	}
}

void check_worth(struct check *c, const struct sold *j, uint64_t completion, long double cost)
{
	long double value =
		books_value(&j->job->utility, (long double)completion - j->job->arrival);

	if (!check_close(j->value, value))
		check_violation(c, "value", j, "expected %.17Lg, found %.17g", value, j->value);
	if (!check_close(j->payment, cost))
		check_violation(c, "payment", j, "expected %.17Lg, found %.17g", cost, j->payment);
	if (fabsl((long double)j->value - j->payment - j->payoff) >
	    TIE * (fabs(j->value) + fabs(j->payment)))
		check_violation(c, "payoff", j, "expected value less payment, %.17g, found %.17g",
				j->value - j->payment, j->payoff);
	if (!c->admits_all && !c->own_reckoning && !(j->payoff > 0))
		check_violation(c, "payoff", j,
				"expected more than 0 of an accepted job, found %.17g", j->payoff);
}

static void check_totals(struct check *c)
{
	const struct totals *t = &c->totals;
	struct totals sum = {.jobs = c->s->njobs};
	const struct sold *j;
	long double welfare = 0, revenue = 0, jct = 0;

	for (j = c->sold; j < c->sold + c->s->njobs; j++) {
		if (!j->job || !j->accepted)
			continue;
		sum.accepted++;
		revenue += isnan(j->payment) ? 0 : j->payment;
		if (!j->completed)
			continue;
		sum.completed++;
		welfare += isnan(j->value) ? 0 : j->value;
		jct += (long double)j->completion - j->job->arrival;
	}
	if (t->jobs != sum.jobs || t->accepted != sum.accepted || t->completed != sum.completed)
		check_violation(c, "totals", NULL,
				"expected %" PRIu64 " jobs, %" PRIu64 " accepted, %" PRIu64
				" completed, found %" PRIu64 ", %" PRIu64 ", %" PRIu64,
				sum.jobs, sum.accepted, sum.completed, t->jobs, t->accepted,
				t->completed);
	if (!check_close(t->welfare, welfare))
		check_violation(c, "totals.welfare", NULL, "expected %.17Lg, found %.17g", welfare,
				t->welfare);
	if (!check_close(t->revenue, revenue))
		check_violation(c, "totals.revenue", NULL, "expected %.17Lg, found %.17g", revenue,
				t->revenue);
	jct = sum.completed ? jct / sum.completed : 0;
	if (!check_close(t->mean_jct_slots, jct))
		check_violation(c, "totals.mean_jct_slots", NULL, "expected %.17Lg, found %.17g",
				jct, t->mean_jct_slots);
	if (t->preemptions != c->preemptions)
		check_violation(c, "totals.preemptions", NULL,
				"expected %" PRIu64 ", found %" PRIu64, c->preemptions,
				t->preemptions);
}

static void check_timing(struct check *c)
{
	const struct timing *t = &c->timing;
	uint64_t most = c->steps ? c->s->slots : c->s->njobs;

	if (t->decisions > most)
		check_violation(c, "timing.decisions", NULL,
				"expected at most %" PRIu64 ", found %" PRIu64, most, t->decisions);
	if (!(t->p50_us >= 0 && t->p50_us <= t->p99_us && t->p99_us <= t->max_us))
		check_violation(c, "timing", NULL, "expected 0 <= p50_us <= p99_us <= max_us");
}

uint64_t check_sum(const struct group *g, unsigned n)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sum += g[i].count;
	return sum;
}

bool check_close(long double a, long double b)
{
	return fabsl(a - b) <= TIE * fmaxl(fabsl(a), fabsl(b)) + 1e-12L;
}

void check_violation(struct check *c, const char *key, const struct sold *j, const char *fmt, ...)
{
	progress_clear();
	va_list ap;

	c->violations++;
	va_start(ap, fmt);
	if (key || j)
		fprintf(c->out, "%s: %s", c->name, c->r.path);
	if (j && key)
		fprintf(c->out, ".jobs[%zu].%s", j->index, key);
	else if (key)
		fprintf(c->out, ".%s", key);
	else if (j)
		fprintf(c->out, ".jobs[%zu]", j->index);
	if (key || j)
		fputs(": ", c->out);
	if (j)
		fprintf(c->out, "job %.80s: ", j->id);
	vfprintf(c->out, fmt, ap);
	fputc('\n', c->out);
	va_end(ap);
}

static void sold_clear(struct sold *j)
{
	unsigned i;

	for (i = 0; i < j->nruns; i++) {
		free(j->runs[i].workers);
		free(j->runs[i].ps);
	}
	free(j->runs);
	check_clear_chunks(j);
	free(j->transfers);
	free(j->id);
	free(j->reason);
	free(j->worker_type);
	free(j->ps_type);
}
