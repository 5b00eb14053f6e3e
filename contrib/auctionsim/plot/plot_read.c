/* plot_read.c - see plot_read.h */
#include "config.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/io/document.h"
#include "base/json.h"
#include "auctionsim/plot/plot_read.h"
#include "auctionsim/run/result.h"
#include "auctionsim/scenario/scenario_market.h"

#define COUNT_MAX 1e6 /* workers or PSs of a job on one server */
#define SEED_MAX  1e16
#define SLOT_MAX  1e15
#define MONEY_MAX 1e15 /* credits */

/* Workers and PSs on one server. */
struct place {
	unsigned server, workers, ps;
};

/* A job of a result, as read; without a completion it was not finished at the end. */
struct sold {
	char *id, *reason, *worker_type, *ps_type;
	bool accepted, has_best, has_shape;
	uint64_t shape;
	double value, payment, best_payoff;
	uint64_t start, completion;
	uint64_t done;            /* when it really was complete; 0: not known */
	struct json_object *plan; /* NULL: none */
};

/* A run of slots, as read. */
struct run {
	uint64_t from, to;
	struct json_object *workers, *ps, *nodes;
};

struct reading {
	const struct scenario *s;
	struct result *result;
	struct json_object *jobs;          /* the array */
	struct json_object *ids, *servers; /* indices by name */
	bool *seen;                        /* by job */
	struct place *places;              /* by server */
	bool *used;
	struct auc_market *market; /* with one slot; NULL: not needed so far */
};

static enum auc_code read_file(struct plot_input *input, const char *file, struct auc_err *err);
static enum auc_code add_group(struct plot_input *input, struct scenario *s, struct auc_err *err);
static enum auc_code add_results(struct plot_group *g, struct json_object *root, const char *file,
				 struct auc_err *err);
static enum auc_code read_jobs(struct reader *r, struct reading *in);
static enum auc_code read_job(struct reader *r, struct reading *in, struct json_object *v);
static enum auc_code keep_job(struct reader *r, struct reading *in, const struct sold *j,
			      const struct scenario_job *job, struct outcome *o);
static enum auc_code find_types(struct reader *r, const struct scenario *s,
				const struct scenario_job *job, const struct sold *j,
				struct auc_plan *plan);
static enum auc_code read_plan(struct reader *r, struct reading *in, struct json_object *v,
			       const struct scenario_job *job, struct auc_plan *plan);
static enum auc_code read_run(struct reader *r, struct reading *in, struct json_object *v,
			      uint64_t first, struct auc_plan *plan);
static enum auc_code read_places(struct reader *r, struct reading *in, struct json_object *v,
				 bool ps);
static enum auc_code read_nodes(struct reader *r, struct reading *in, struct json_object *v);
static enum auc_code find_shape(struct reader *r, struct reading *in,
				const struct scenario_job *job, const struct sold *j,
				struct auc_plan *plan);
static void cut(struct auc_plan *plan, auc_slot at);
static void sum_up(struct result *r);
static struct json_object *index_jobs(const struct scenario *s);
static struct json_object *index_servers(const struct scenario *s);

static enum auc_code check_format(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code check_scenario(struct reader *r, struct json_object *v, const struct field *f,
				    void *target);
static enum auc_code read_policy(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_seed(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_totals(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_timing(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code keep_array(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code keep_object(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_shape(struct reader *r, struct json_object *v, const struct field *f,
				void *target);
static enum auc_code read_best(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_realised(struct reader *r, struct json_object *v, const struct field *f,
				   void *target);
static enum auc_code skip_any(struct reader *r, struct json_object *v, const struct field *f,
			      void *target);

/* The keys of the format that no picture shows are passed over. */
static const struct field result_fields[] = {
	{"format", check_format, 0, 0, 0, true},
	{"scenario", check_scenario, 0, 0, 0, true},
	{"policy", read_policy, 0, 0, 0, true},
	{"seed", read_seed, 0, 0, SEED_MAX, true},
	{"jobs", keep_array, offsetof(struct reading, jobs), 0, 0, true},
	{"totals", read_totals, 0, 0, SLOT_MAX, true},
	{"timing", read_timing, 0, 0, 0, false},
	{"times", skip_any, 0, 0, 0, false},
	{"fairness", skip_any, 0, 0, 0, false},
};

static const struct field timing_fields[] = {
	{"decisions", skip_any, 0, 0, 0, false},
	{"p50_us", field_number, offsetof(struct result, p50_us), 0, DBL_MAX, true},
	{"p99_us", field_number, offsetof(struct result, p99_us), 0, DBL_MAX, true},
	{"max_us", field_number, offsetof(struct result, max_us), 0, DBL_MAX, true},
};

static const struct field job_fields[] = {
	{"id", field_text, offsetof(struct sold, id), 0, 0, true},
	{"accepted", field_bool, offsetof(struct sold, accepted), 0, 0, true},
	{"reason", field_text, offsetof(struct sold, reason), 0, 0, false},
	{"best_payoff", read_best, offsetof(struct sold, best_payoff), -DBL_MAX, DBL_MAX, false},
	{"value", field_number, offsetof(struct sold, value), 0, AUC_VALUE_MAX, false},
	{"payment", field_number, offsetof(struct sold, payment), 0, MONEY_MAX, false},
	{"payoff", skip_any, 0, 0, 0, false},
	{"start", field_count, offsetof(struct sold, start), 1, SLOT_MAX, false},
	{"completion", field_count, offsetof(struct sold, completion), 1, SLOT_MAX, false},
	{"worker_type", field_text, offsetof(struct sold, worker_type), 0, 0, false},
	{"ps_type", field_text, offsetof(struct sold, ps_type), 0, 0, false},
	{"colocated", skip_any, 0, 0, 0, false},
	{"shape", read_shape, 0, 0, AUC_SHAPES_MAX - 1, false},
	{"decided", skip_any, 0, 0, 0, false},
	{"realised", read_realised, 0, 1, SLOT_MAX, false},
	{"plan", keep_array, offsetof(struct sold, plan), 0, 0, false},
	{"transfers", skip_any, 0, 0, 0, false},
	{"offer", skip_any, 0, 0, 0, false},
	{"chunks", skip_any, 0, 0, 0, false},
};

static const struct field run_fields[] = {
	{"from", field_count, offsetof(struct run, from), 1, SLOT_MAX, true},
	{"to", field_count, offsetof(struct run, to), 1, SLOT_MAX, true},
	{"workers", keep_object, offsetof(struct run, workers), 0, 0, false},
	{"ps", keep_object, offsetof(struct run, ps), 0, 0, false},
	{"nodes", keep_array, offsetof(struct run, nodes), 0, 0, false},
};

enum auc_code plot_input_read(struct plot_input *input, char *const *files, unsigned n,
			      struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;

	for (i = 0; i < n && rc == AUC_OK; i++)
		rc = read_file(input, files[i], err);
	for (i = 0; i < input->ngroups && rc == AUC_OK; i++)
		if (!input->groups[i].nresults)
			rc = auc_err_set(err, AUC_EINVAL,
					 "%.160s: expected a result of this scenario after it",
					 input->groups[i].s->file);
	return rc;
}

void plot_input_clear(struct plot_input *input)
{
	struct plot_group *g;
	unsigned i, k;

	for (k = 0; k < input->ngroups; k++) {
		g = &input->groups[k];
		for (i = 0; i < g->nresults; i++)
			result_clear(&g->results[i]);
		free(g->results);
		scenario_free(g->s);
	}
	free(input->groups);
	memset(input, 0, sizeof(*input));
}

enum auc_code plot_result_read(const struct scenario *s, struct json_object *root, const char *name,
			       long index, struct result *result, struct auc_err *err)
{
	struct reading in = {.s = s, .result = result};
	enum auc_code rc;
	struct reader r;

	reader_init(&r, name, &in, err);
	if (index >= 0)
		reader_enter_index(&r, (size_t)index);
	result->jobs = calloc(s->njobs + 1, sizeof(*result->jobs));
	in.ids = index_jobs(s);
	in.servers = index_servers(s);
	in.seen = calloc(s->njobs + 1, sizeof(*in.seen));
	in.places = calloc(s->nservers + 1, sizeof(*in.places));
	in.used = calloc(s->nservers + 1, sizeof(*in.used));
	if (!result->jobs || !in.ids || !in.servers || !in.seen || !in.places || !in.used) {
		rc = reader_fail(&r, AUC_ENOMEM, "no memory");
	} else {
		result->njobs = s->njobs;
		rc = FIELDS_READ(&r, root, result_fields, &in);
	}
	if (rc == AUC_OK)
		rc = read_jobs(&r, &in);
	if (rc == AUC_OK)
		sum_up(result);
	json_object_put(in.ids);
	json_object_put(in.servers);
	free(in.seen);
	free(in.places);
	free(in.used);
	auc_market_destroy(in.market);
	return rc;
}

static enum auc_code read_file(struct plot_input *input, const char *file, struct auc_err *err)
{
	struct json_object *root, *format;
	struct scenario *s = NULL;
	enum auc_code rc = document_load(file, &root, err);

	if (rc != AUC_OK)
		return rc;
	if (json_object_is_type(root, json_type_object) &&
	    json_object_object_get_ex(root, "format", &format) &&
	    json_object_is_type(format, json_type_string) &&
	    !strcmp(json_object_get_string(format), SCENARIO_FORMAT)) {
		rc = scenario_read(root, file, &s, err);
		if (rc == AUC_OK)
			rc = add_group(input, s, err);
	} else if (!input->ngroups) {
		rc = auc_err_set(err, AUC_EINVAL,
				 "%.160s: expected a scenario (" SCENARIO_FORMAT
				 ") before its results",
				 file);
	} else {
		rc = add_results(&input->groups[input->ngroups - 1], root, file, err);
	}
	json_object_put(root);
	return rc;
}

/* Takes S, also if it fails. */
static enum auc_code add_group(struct plot_input *input, struct scenario *s, struct auc_err *err)
{
	struct plot_group *grown =
		realloc(input->groups, (input->ngroups + 1) * sizeof(*input->groups));

	if (!grown) {
		scenario_free(s);
		return auc_err_set(err, AUC_ENOMEM, "no memory for a scenario");
	}
	input->groups = grown;
	grown[input->ngroups++] = (struct plot_group){.s = s};
	return AUC_OK;
}

static enum auc_code add_results(struct plot_group *g, struct json_object *root, const char *file,
				 struct auc_err *err)
{
	bool many = json_object_is_type(root, json_type_array);
	size_t n = many ? json_object_array_length(root) : 1, i;
	struct result *grown = realloc(g->results, (g->nresults + n + 1) * sizeof(*grown));
	enum auc_code rc = AUC_OK;

	if (!grown)
		return auc_err_set(err, AUC_ENOMEM, "%.160s: no memory", file);
	g->results = grown;
	for (i = 0; i < n && rc == AUC_OK; i++) {
		grown[g->nresults] = (struct result){0};
		rc = plot_result_read(g->s, many ? json_object_array_get_idx(root, i) : root, file,
				      many ? (long)i : -1, &grown[g->nresults++], err);
	}
	return rc;
}

static enum auc_code read_jobs(struct reader *r, struct reading *in)
{
	size_t n = json_object_array_length(in->jobs), i, mark, top = reader_enter_key(r, "jobs");
	enum auc_code rc = AUC_OK;

	for (i = 0; i < n && rc == AUC_OK; i++) {
		mark = reader_enter_index(r, i);
		rc = read_job(r, in, json_object_array_get_idx(in->jobs, i));
		reader_leave(r, mark);
	}
	for (i = 0; i < in->s->njobs && rc == AUC_OK; i++)
		if (!in->seen[i])
			rc = reader_fail(r, AUC_EINVAL, "job %.80s: expected once, found nowhere",
					 in->s->jobs[i].id);
	reader_leave(r, top);
	return rc;
}

static enum auc_code read_job(struct reader *r, struct reading *in, struct json_object *v)
{
	struct sold j = {.accepted = false};
	struct json_object *found;
	enum auc_code rc = FIELDS_READ(r, v, job_fields, &j);
	unsigned i = 0;

	if (rc == AUC_OK) {
		if (!json_object_object_get_ex(in->ids, j.id, &found))
			rc = reader_fail(r, AUC_EINVAL, "job %.80s: expected one of the scenario",
					 j.id);
		else if (in->seen[i = (unsigned)json_object_get_int64(found)])
			rc = reader_fail(r, AUC_EINVAL, "job %.80s: expected once, found twice",
					 j.id);
	}
	if (rc == AUC_OK) {
		in->seen[i] = true;
		rc = keep_job(r, in, &j, &in->s->jobs[i], &in->result->jobs[i]);
	}
	free(j.id);
	free(j.reason);
	free(j.worker_type);
	free(j.ps_type);
	return rc;
}

static enum auc_code keep_job(struct reader *r, struct reading *in, const struct sold *j,
			      const struct scenario_job *job, struct outcome *o)
{
	enum auc_code rc = AUC_OK;

	o->accepted = j->accepted;
	o->reason = AUC_REASON_NONE;
	while (j->reason && strcmp(j->reason, auc_reason_word(o->reason)) != 0)
		if (o->reason++ == AUC_REASON_INVALID)
			return reader_fail(r, AUC_EINVAL,
					   "expected a reason of the format, found '%.40s'",
					   j->reason);
	o->has_best = j->has_best;
	o->best_payoff = j->best_payoff;
	o->payment = j->payment;
	if (!j->accepted || !j->plan || !json_object_array_length(j->plan))
		return AUC_OK;
	o->completed = j->completion > 0;
	o->value = o->completed ? j->value : 0;
	rc = job->ngang ? find_shape(r, in, job, j, &o->plan)
			: find_types(r, in->s, job, j, &o->plan);
	if (rc == AUC_OK)
		rc = read_plan(r, in, j->plan, job, &o->plan);
	if (rc == AUC_OK && ((auc_slot)j->start != o->plan.start ||
			     (o->completed && (auc_slot)j->completion != o->plan.completion)))
		rc = reader_fail(r, AUC_EINVAL,
				 "expected start and completion to be those of the plan");
	if (rc == AUC_OK && j->done && (auc_slot)j->done < o->plan.completion)
		cut(&o->plan, (auc_slot)j->done);
	return rc;
}

/* What PLAN has from slot AT on was given back, and may have been sold again. */
static void cut(struct auc_plan *plan, auc_slot at)
{
	while (plan->nruns > 1 && plan->runs[plan->nruns - 1].from >= at)
		plan->nruns--;
	if (plan->runs[plan->nruns - 1].to >= at)
		plan->runs[plan->nruns - 1].to = at - 1;
	plan->completion = plan->runs[plan->nruns - 1].to + 1;
}

/* A type's index is its place among the scenario's types, then the job's own. */
static enum auc_code find_types(struct reader *r, const struct scenario *s,
				const struct scenario_job *job, const struct sold *j,
				struct auc_plan *plan)
{
	unsigned nworkers = s->nworker_types + job->nworker_types, i;
	unsigned nps = s->nps_types + job->nps_types;

	for (i = 0; i < nworkers; i++)
		if (j->worker_type && !strcmp(scenario_worker_type_name(s, job, i), j->worker_type))
			break;
	plan->worker_type = i;
	if (i == nworkers)
		return reader_fail(r, AUC_EINVAL, "expected a worker type of the scenario");
	for (i = 0; i < nps; i++)
		if (j->ps_type && !strcmp(scenario_ps_type_name(s, job, i), j->ps_type))
			break;
	plan->ps_type = i;
	if (i == nps)
		return reader_fail(r, AUC_EINVAL, "expected a PS type of the scenario");
	return AUC_OK;
}

static enum auc_code find_shape(struct reader *r, struct reading *in,
				const struct scenario_job *job, const struct sold *j,
				struct auc_plan *plan)
{
	const struct scenario_shape *shape;
	int64_t units[AUC_TRES_MAX];
	enum auc_code rc = AUC_OK;
	bool never;

	if (!j->has_shape || j->shape >= job->ngang)
		return reader_fail(r, AUC_EINVAL, "expected a shape of the gang");
	shape = &job->gang[j->shape];
	plan->gang = true;
	plan->within_switch = job->within_switch;
	plan->shape = (unsigned)j->shape;
	if (!in->market)
		rc = scenario_market_slot(in->s, NULL, 1, &in->market, r->err);
	if (rc == AUC_OK)
		rc = auc_market_amounts(in->market, shape->per_node, shape->nper_node, plan->amount,
					units, &never, r->err);
	return rc;
}

static enum auc_code read_plan(struct reader *r, struct reading *in, struct json_object *v,
			       const struct scenario_job *job, struct auc_plan *plan)
{
	size_t n = json_object_array_length(v), i, mark, top = reader_enter_key(r, "plan");
	uint64_t first = job->arrival;
	enum auc_code rc = AUC_OK;

	plan->arrival = (auc_slot)job->arrival;
	for (i = 0; i < n && rc == AUC_OK; i++) {
		mark = reader_enter_index(r, i);
		rc = read_run(r, in, json_object_array_get_idx(v, i), first, plan);
		if (rc == AUC_OK)
			first = (uint64_t)plan->runs[i].to + 1;
		reader_leave(r, mark);
	}
	if (rc == AUC_OK) {
		plan->start = plan->runs[0].from;
		plan->completion = (auc_slot)first;
	}
	reader_leave(r, top);
	return rc;
}

/* A run of slots that begins in slot FIRST or later. */
static enum auc_code read_run(struct reader *r, struct reading *in, struct json_object *v,
			      uint64_t first, struct auc_plan *plan)
{
	struct run run = {0};
	enum auc_code rc = FIELDS_READ(r, v, run_fields, &run);
	unsigned i;

	if (rc != AUC_OK)
		return rc;
	if (run.from < first || run.from > run.to || run.to > in->s->slots)
		return reader_fail(r, AUC_EINVAL,
				   "expected slots in order from %llu to %llu, found %llu to %llu",
				   (unsigned long long)first, (unsigned long long)in->s->slots,
				   (unsigned long long)run.from, (unsigned long long)run.to);
	memset(in->places, 0, in->s->nservers * sizeof(*in->places));
	if (plan->gang ? !run.nodes || run.workers || run.ps : run.nodes || !run.workers || !run.ps)
		return reader_fail(r, AUC_EINVAL, "expected %s",
				   plan->gang ? "nodes" : "workers and ps");
	if (plan->gang)
		rc = read_nodes(r, in, run.nodes);
	else
		rc = read_places(r, in, run.workers, false);
	if (rc == AUC_OK && !plan->gang)
		rc = read_places(r, in, run.ps, true);
	if (rc == AUC_OK)
		rc = auc_plan_add_run(plan, (auc_slot)run.from, (auc_slot)run.to, r->err);
	for (i = 0; i < in->s->nservers && rc == AUC_OK; i++)
		if (in->places[i].workers || in->places[i].ps)
			rc = auc_plan_add_share(plan, i, in->places[i].workers, in->places[i].ps,
						r->err);
	return rc;
}

static enum auc_code read_places(struct reader *r, struct reading *in, struct json_object *v,
				 bool ps)
{
	size_t top = reader_enter_key(r, ps ? "ps" : "workers"), mark;
	enum auc_code rc = AUC_OK;
	struct json_object *found;
	struct place *place;
	uint64_t n;

	json_object_object_foreach(v, name, count)
	{
		if (rc != AUC_OK)
			break;
		mark = reader_enter_key(r, name);
		if (!json_object_object_get_ex(in->servers, name, &found)) {
			rc = reader_fail(r, AUC_EINVAL,
					 "expected a server of the scenario, found '%.80s'", name);
		} else {
			place = &in->places[json_object_get_int64(found)];
			rc = read_count(r, count, 1, (uint64_t)COUNT_MAX, &n);
			*(ps ? &place->ps : &place->workers) = (unsigned)n;
		}
		reader_leave(r, mark);
	}
	reader_leave(r, top);
	return rc;
}

static enum auc_code read_nodes(struct reader *r, struct reading *in, struct json_object *v)
{
	size_t n = json_object_array_length(v), top = reader_enter_key(r, "nodes"), mark;
	enum auc_code rc = AUC_OK;
	struct json_object *found;
	const char *name;

	for (size_t i = 0; i < n && rc == AUC_OK; i++) {
		mark = reader_enter_index(r, i);
		rc = read_text(r, json_object_array_get_idx(v, i), "a name", &name);
		if (rc == AUC_OK && !json_object_object_get_ex(in->servers, name, &found))
			rc = reader_fail(r, AUC_EINVAL,
					 "expected a server of the scenario, found '%.80s'", name);
		if (rc == AUC_OK)
			in->places[json_object_get_int64(found)].workers = 1;
		reader_leave(r, mark);
	}
	reader_leave(r, top);
	return rc;
}

static void sum_up(struct result *r)
{
	const struct outcome *o;
	double jct = 0;

	for (o = r->jobs; o < r->jobs + r->njobs; o++) {
		r->accepted += o->accepted;
		r->completed += o->completed;
		r->revenue += o->accepted ? o->payment : 0;
		r->welfare += o->value;
		if (o->completed)
			jct += (double)(o->plan.completion - o->plan.arrival);
	}
	r->mean_jct_slots = r->completed ? jct / r->completed : 0;
}

static struct json_object *index_jobs(const struct scenario *s)
{
	struct json_object *o = json_object_new_object();
	unsigned i;

	for (i = 0; i < s->njobs && o; i++)
		if (!auc_json_add_int(o, s->jobs[i].id, i)) {
			json_object_put(o);
			return NULL;
		}
	return o;
}

static struct json_object *index_servers(const struct scenario *s)
{
	struct json_object *o = json_object_new_object();
	unsigned i;

	for (i = 0; i < s->nservers && o; i++)
		if (!auc_json_add_int(o, s->servers[i].name, i)) {
			json_object_put(o);
			return NULL;
		}
	return o;
}

/* -- fields -- */

static enum auc_code check_format(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	(void)f;
	(void)target;
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), RESULT_FORMAT) != 0)
		return reader_expected(r, v, "\"" RESULT_FORMAT "\"");
	return AUC_OK;
}

static enum auc_code check_scenario(struct reader *r, struct json_object *v, const struct field *f,
				    void *target)
{
	const struct reading *in = target;

	(void)f;
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), in->s->name) != 0)
		return reader_expected(r, v, "\"%.80s\", the name of the scenario before it",
				       in->s->name);
	return AUC_OK;
}

static enum auc_code read_policy(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct reading *in = target;

	return field_text(r, v, f, &in->result->policy);
}

static enum auc_code read_seed(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct reading *in = target;

	return read_count(r, v, 0, (uint64_t)f->max, &in->result->seed);
}

/* They are what the jobs add up to; only what cannot be seen there is taken. */
static enum auc_code read_totals(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct reading *in = target;
	struct json_object *preemptions;

	if (!json_object_is_type(v, json_type_object))
		return reader_expected(r, v, "an object");
	if (!json_object_object_get_ex(v, "preemptions", &preemptions))
		return AUC_OK;
	return read_count(r, preemptions, 0, (uint64_t)f->max, &in->result->preemptions);
}

static enum auc_code read_timing(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct reading *in = target;

	(void)f;
	return FIELDS_READ(r, v, timing_fields, in->result);
}

static enum auc_code keep_array(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	if (!json_object_is_type(v, json_type_array))
		return reader_expected(r, v, "an array");
	*(struct json_object **)target = v;
	(void)f;
	return AUC_OK;
}

static enum auc_code keep_object(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	(void)f;
	if (!json_object_is_type(v, json_type_object))
		return reader_expected(r, v, "counts by server");
	*(struct json_object **)target = v;
	return AUC_OK;
}

static enum auc_code read_shape(struct reader *r, struct json_object *v, const struct field *f,
				void *target)
{
	struct sold *j = target;

	j->has_shape = true;
	return field_count(r, v, f, &j->shape);
}

static enum auc_code read_best(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct sold *j = (struct sold *)((char *)target - f->offset);

	j->has_best = true;
	return field_number(r, v, f, target);
}

/* Of a job that was done the slot. */
static enum auc_code read_realised(struct reader *r, struct json_object *v, const struct field *f,
				   void *target)
{
	struct json_object *completion = NULL;
	struct sold *j = target;

	if (!json_object_is_type(v, json_type_object) ||
	    !json_object_object_get_ex(v, "completion", &completion))
		return reader_expected(r, v, "an object with a completion");
	return completion ? read_count(r, completion, (uint64_t)f->min, (uint64_t)f->max, &j->done)
			  : AUC_OK;
}

static enum auc_code skip_any(struct reader *r, struct json_object *v, const struct field *f,
			      void *target)
{
	(void)r;
	(void)v;
	(void)f;
	(void)target;
	return AUC_OK;
}
