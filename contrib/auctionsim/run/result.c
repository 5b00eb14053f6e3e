/* result.c - see result.h */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <libsmartcols.h>

#include "base/json.h"
#include "auctionsim/run/fairness.h"
#include "auctionsim/run/margin.h"
#include "auctionsim/run/result.h"
#include "base/list.h"
#include "base/num.h"

static bool add_line(struct libscols_table *table, const struct result *r, const struct scenario *s,
		     const struct fairness *fairness);
static bool add_shares(struct libscols_line *line, unsigned column, const struct fairness *f);
static bool add_cell(struct libscols_line *line, unsigned column, const char *fmt, double value)
	__attribute__((format(printf, 3, 0)));
static struct json_object *result_json(const struct scenario *s, const struct result *r);
static struct json_object *job_json(const struct scenario *s, const struct scenario_job *job,
				    const struct outcome *o);
static bool add_offer(struct json_object *o, const struct outcome *outcome);
static bool add_plan(struct json_object *o, const struct scenario *s,
		     const struct scenario_job *job, const struct outcome *outcome);
static struct json_object *transfers_json(const struct scenario *s, const struct auc_plan *plan);
static bool add_chunks(struct json_object *o, const struct scenario *s,
		       const struct outcome *outcome);
static struct json_object *chunk_json(const struct scenario *s, const struct auc_chunk *chunk);
static struct json_object *nodes_json(const struct scenario *s, const struct auc_plan *plan,
				      const struct auc_run *run);
static struct json_object *run_json(const struct scenario *s, const struct auc_plan *plan,
				    const struct auc_run *run);
static bool add_totals(struct json_object *o, const struct scenario *s, const struct result *r);
static bool add_times(struct json_object *o, const struct scenario_times *times);
static bool add_fairness(struct json_object *o, const struct fairness *f);
static bool add_realised(struct json_object *o, const struct realised *r);
static bool add_number(struct json_object *o, const char *key, double value);

enum auc_code result_print_json(FILE *out, const struct scenario *s, const struct result *results,
				unsigned n, struct auc_err *err)
{
	struct json_object *root = n > 1 ? json_object_new_array() : NULL, *one;
	const char *text;
	bool ok = true;
	unsigned i;

	for (i = 0; i < n && ok; i++) {
		one = result_json(s, &results[i]);
		ok = one != NULL;
		if (n == 1)
			root = one;
		else if (ok && (!root || json_object_array_add(root, one)))
			ok = false;
	}
	text = ok ? json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_SPACED |
								 JSON_C_TO_STRING_NOSLASHESCAPE)
		  : NULL;
	if (text)
		fprintf(out, "%s\n", text);
	json_object_put(root);
	if (!text)
		return auc_err_set(err, AUC_ENOMEM, "no memory for the result");
	return ferror(out) ? auc_err_set(err, AUC_EIO, "the result could not be written") : AUC_OK;
}

enum auc_code result_print_table(FILE *out, const struct scenario *s, const struct result *results,
				 unsigned n, struct auc_err *err)
{
	static const char *const heads[] = {"POLICY",  "ACCEPTED", "COMPLETED", "WELFARE",
					    "REVENUE", "MEAN_JCT", "PREEMPTED", "P50_US",
					    "P99_US",  "REALISED", "PAID",      "KILLED"};
	static const char *const shares[] = {"KEPT", "USERS", "NOTHING", "GINI", "SHORT"};
	struct libscols_table *table = scols_new_table();
	unsigned i, nheads = s->has_true_times ? 12 : 9;
	bool ok = table != NULL, users = fairness_has_users(s);
	struct fairness f;

	for (i = 0; i < nheads && ok; i++)
		ok = scols_table_new_column(table, heads[i], 0, i ? SCOLS_FL_RIGHT : 0) != NULL;
	if (ok && s->has_costs)
		ok = scols_table_new_column(table, "COST", 0, SCOLS_FL_RIGHT) != NULL;
	for (i = 0; users && i < sizeof(shares) / sizeof(shares[0]) && ok; i++)
		ok = scols_table_new_column(table, shares[i], 0, SCOLS_FL_RIGHT) != NULL;
	for (i = 0; i < n && ok; i++)
		ok = (!users || fairness_of(s, &results[i], &f, err) == AUC_OK) &&
		     add_line(table, &results[i], s, users ? &f : NULL);
	if (ok) {
		fprintf(out, "%s: %u server%s, %u job%s, %llu slot%s of %g s\n", s->name,
			s->nservers, auc_plural(s->nservers), s->njobs, auc_plural(s->njobs),
			(unsigned long long)s->slots, auc_plural(s->slots), s->slot_seconds);
		scols_table_set_stream(table, out);
		ok = !scols_print_table(table);
	}
	scols_unref_table(table);
	return ok ? AUC_OK : auc_err_set(err, AUC_ENOMEM, "no memory for the table");
}

/* The order of the headings. */
static bool add_line(struct libscols_table *table, const struct result *r, const struct scenario *s,
		     const struct fairness *fairness)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	bool realised = s->has_true_times;
	unsigned next = realised ? 12 : 9;

	return line && !scols_line_set_data(line, 0, r->policy) &&
	       add_cell(line, 1, "%.0f", r->accepted) && add_cell(line, 2, "%.0f", r->completed) &&
	       add_cell(line, 3, "%.2f", r->welfare) && add_cell(line, 4, "%.2f", r->revenue) &&
	       add_cell(line, 5, "%.2f", r->mean_jct_slots) &&
	       add_cell(line, 6, "%.0f", (double)r->preemptions) &&
	       add_cell(line, 7, "%.0f", r->p50_us) && add_cell(line, 8, "%.0f", r->p99_us) &&
	       (!realised || (add_cell(line, 9, "%.2f", r->realised_welfare) &&
			      add_cell(line, 10, "%.2f", r->realised_revenue) &&
			      add_cell(line, 11, "%.0f", r->killed))) &&
	       (!s->has_costs || add_cell(line, next, "%.2f", r->cost)) &&
	       (!fairness || add_shares(line, next + s->has_costs, fairness));
}

static bool add_shares(struct libscols_line *line, unsigned column, const struct fairness *f)
{
	char text[64];

	snprintf(text, sizeof(text), "%u/%u", f->short_accepted, f->short_jobs);
	return add_cell(line, column, "%.2f", f->kept) &&
	       add_cell(line, column + 1, "%.0f", f->users) &&
	       add_cell(line, column + 2, "%.0f", f->nothing) &&
	       add_cell(line, column + 3, "%.3f", f->gini) &&
	       !scols_line_set_data(line, column + 4, text);
}

static bool add_cell(struct libscols_line *line, unsigned column, const char *fmt, double value)
{
	char text[400];

	snprintf(text, sizeof(text), fmt, value);
	return !scols_line_set_data(line, column, text);
}

static struct json_object *result_json(const struct scenario *s, const struct result *r)
{
	struct json_object *o = json_object_new_object(), *jobs = json_object_new_array();
	struct json_object *totals = json_object_new_object();
	struct json_object *timing = json_object_new_object();
	struct fairness fairness;
	bool ok = o && jobs && totals && timing;
	unsigned i;

	for (i = 0; i < r->njobs && ok; i++)
		ok = auc_json_push(jobs, job_json(s, &s->jobs[i], &r->jobs[i]));
	ok = ok && auc_json_add_text(o, "format", RESULT_FORMAT) &&
	     auc_json_add_text(o, "scenario", s->name) &&
	     auc_json_add_text(o, "policy", r->policy) &&
	     auc_json_add_int(o, "seed", (int64_t)r->seed);
	ok = ok && add_totals(totals, s, r);
	ok = ok && auc_json_add_int(timing, "decisions", (int64_t)r->decisions) &&
	     add_number(timing, "p50_us", r->p50_us) && add_number(timing, "p99_us", r->p99_us) &&
	     add_number(timing, "max_us", r->max_us);
	ok = ok && auc_json_add(o, "jobs", json_object_get(jobs)) &&
	     auc_json_add(o, "totals", json_object_get(totals)) &&
	     auc_json_add(o, "timing", json_object_get(timing)) &&
	     (!s->has_true_times || margin_is_usual(&s->times) || add_times(o, &s->times));
	if (ok && fairness_has_users(s))
		ok = fairness_of(s, r, &fairness, NULL) == AUC_OK && add_fairness(o, &fairness);
	json_object_put(jobs);
	json_object_put(totals);
	json_object_put(timing);
	return auc_json_if(ok, o);
}

static struct json_object *job_json(const struct scenario *s, const struct scenario_job *job,
				    const struct outcome *outcome)
{
	struct json_object *o = json_object_new_object();
	bool ok = o && auc_json_add_text(o, "id", job->id) &&
		  auc_json_add_bool(o, "accepted", outcome->accepted);

	if (outcome->accepted) {
		ok = ok && add_number(o, "value", outcome->value) &&
		     add_number(o, "payment", outcome->payment) &&
		     add_number(o, "payoff", outcome->value - outcome->payment) &&
		     add_plan(o, s, job, outcome);
		if (outcome->decided)
			ok = ok && auc_json_add_int(o, "decided", outcome->decided);
		if (job->time_max > 0 && s->has_true_times)
			ok = ok && add_number(o, "planned", outcome->planned);
		if (outcome->realised.known)
			ok = ok && add_realised(o, &outcome->realised);
	} else {
		ok = ok && auc_json_add_text(o, "reason", auc_reason_word(outcome->reason));
		if (outcome->has_best)
			ok = ok && add_number(o, "best_payoff", outcome->best_payoff);
		if (outcome->offered)
			ok = ok && add_number(o, "value", outcome->value);
	}
	if (outcome->offered)
		ok = ok && add_offer(o, outcome);
	return auc_json_if(ok, o);
}

static bool add_totals(struct json_object *o, const struct scenario *s, const struct result *r)
{
	bool ok = auc_json_add_int(o, "jobs", (int64_t)r->njobs) &&
		  auc_json_add_int(o, "accepted", (int64_t)r->accepted) &&
		  auc_json_add_int(o, "completed", (int64_t)r->completed) &&
		  add_number(o, "welfare", r->welfare) && add_number(o, "revenue", r->revenue) &&
		  add_number(o, "mean_jct_slots", r->mean_jct_slots) &&
		  auc_json_add_int(o, "preemptions", (int64_t)r->preemptions) &&
		  (!s->has_costs || add_number(o, "cost", r->cost));

	if (!s->has_true_times)
		return ok;
	return ok && add_number(o, "realised_welfare", r->realised_welfare) &&
	       add_number(o, "realised_revenue", r->realised_revenue) &&
	       auc_json_add_int(o, "killed", (int64_t)r->killed);
}

/* What was asked for, so that it can be checked. */
static bool add_times(struct json_object *o, const struct scenario_times *times)
{
	struct json_object *made = json_object_new_object();
	bool ok = made &&
		  auc_json_add_text(made, "overrun", scenario_overrun_word(times->overrun)) &&
		  (times->margin == SCENARIO_MARGIN_FIXED
			   ? add_number(made, "margin", times->factor)
			   : add_number(made, "quantile", times->quantile)) &&
		  auc_json_add(o, "times", json_object_get(made));

	json_object_put(made);
	return ok;
}

static bool add_fairness(struct json_object *o, const struct fairness *f)
{
	struct json_object *made = json_object_new_object();
	bool ok = made && auc_json_add_int(made, "users", f->users) &&
		  auc_json_add_int(made, "users_with_nothing", f->nothing) &&
		  add_number(made, "gini", f->gini) && add_number(made, "kept", f->kept) &&
		  auc_json_add_int(made, "short_jobs", f->short_jobs) &&
		  auc_json_add_int(made, "short_accepted", f->short_accepted) &&
		  auc_json_add(o, "fairness", json_object_get(made));

	json_object_put(made);
	return ok;
}

static bool add_realised(struct json_object *o, const struct realised *r)
{
	struct json_object *made = json_object_new_object();
	bool ok = made &&
		  !json_object_object_add(made, "completion",
					  r->completion ? json_object_new_int64(r->completion)
							: NULL) &&
		  add_number(made, "value", r->value) && add_number(made, "payment", r->payment) &&
		  (!r->moves || auc_json_add_int(made, "moves", r->moves)) &&
		  auc_json_add(o, "realised", json_object_get(made));

	json_object_put(made);
	return ok;
}

static bool add_offer(struct json_object *o, const struct outcome *outcome)
{
	struct json_object *list = json_object_new_array();
	char text[AUC_NUMBER_LEN];
	bool ok = list != NULL;
	unsigned i;

	for (i = 0; i < 2 && ok; i++)
		ok = auc_json_push(
			list, json_object_new_double_s(outcome->offer[i],
						       auc_number_str(outcome->offer[i], text)));
	ok = auc_json_add_if(ok, o, "offer", list);
	return ok;
}

static bool add_plan(struct json_object *o, const struct scenario *s,
		     const struct scenario_job *job, const struct outcome *outcome)
{
	const struct auc_plan *plan = &outcome->plan;
	struct json_object *runs = json_object_new_array();
	bool ok = runs != NULL;
	unsigned i;

	if (plan->nruns)
		ok = ok && auc_json_add(o, "start", json_object_new_int64(plan->start));
	if (outcome->completed)
		ok = ok && auc_json_add(o, "completion", json_object_new_int64(plan->completion));
	if (plan->nruns && plan->gang)
		ok = ok && auc_json_add_int(o, "shape", plan->shape);
	else if (plan->nruns)
		ok = ok &&
		     auc_json_add_text(o, "worker_type",
				       scenario_worker_type_name(s, job, plan->worker_type)) &&
		     auc_json_add_text(o, "ps_type",
				       scenario_ps_type_name(s, job, plan->ps_type)) &&
		     auc_json_add_bool(o, "colocated", plan->colocated);
	for (i = 0; i < plan->nruns && ok; i++)
		ok = auc_json_push(runs, run_json(s, plan, &plan->runs[i]));
	ok = auc_json_add_if(ok, o, "plan", runs);
	ok = ok && auc_json_add(o, "transfers", transfers_json(s, plan));
	return ok && (!outcome->chunks || add_chunks(o, s, outcome));
}

static struct json_object *transfers_json(const struct scenario *s, const struct auc_plan *plan)
{
	struct json_object *list = json_object_new_array(), *o;
	const struct auc_move *move;
	bool ok = list != NULL;

	for (unsigned i = 0; i < plan->nmoves && ok; i++) {
		move = &plan->moves[i];
		o = json_object_new_object();
		ok = o && auc_json_add_int(o, "slot", move->slot) &&
		     auc_json_add_text(o, "from", s->servers[move->from].name) &&
		     auc_json_add_text(o, "to", s->servers[move->to].name) &&
		     auc_json_add_int(o, "chunks", move->chunks);
		ok = auc_json_push_if(ok, list, o);
	}
	return auc_json_if(ok, list);
}

static bool add_chunks(struct json_object *o, const struct scenario *s,
		       const struct outcome *outcome)
{
	struct json_object *list = json_object_new_array();
	bool ok = list != NULL;
	unsigned i;

	for (i = 0; i < outcome->nchunks && ok; i++)
		ok = auc_json_push(list, chunk_json(s, &outcome->chunks[i]));
	ok = auc_json_add_if(ok, o, "chunks", list);
	return ok;
}

static struct json_object *chunk_json(const struct scenario *s, const struct auc_chunk *chunk)
{
	struct json_object *o = json_object_new_object(), *runs = json_object_new_array(), *run;
	bool ok = o && runs && auc_json_add_text(o, "server", s->servers[chunk->server].name) &&
		  auc_json_add_int(o, "worker", chunk->worker);
	unsigned i;

	for (i = 0; i < chunk->nruns && ok; i++) {
		run = json_object_new_array();
		ok = run &&
		     !json_object_array_add(run, json_object_new_int64(chunk->runs[i].from)) &&
		     !json_object_array_add(run, json_object_new_int64(chunk->runs[i].to));
		ok = !json_object_array_add(runs, run) && ok;
	}
	ok = auc_json_add_if(ok, o, "runs", runs);
	return auc_json_if(ok, o);
}

/* A gang's run. */
static struct json_object *nodes_json(const struct scenario *s, const struct auc_plan *plan,
				      const struct auc_run *run)
{
	struct json_object *o = json_object_new_object(), *nodes = json_object_new_array();
	bool ok = o && nodes && auc_json_add_int(o, "from", run->from) &&
		  auc_json_add_int(o, "to", run->to);

	for (unsigned i = 0; i < run->nshares && ok; i++)
		ok = auc_json_push(
			nodes, json_object_new_string(
				       s->servers[plan->shares[run->first_share + i].server].name));
	ok = auc_json_add_if(ok, o, "nodes", nodes);
	return auc_json_if(ok, o);
}

static struct json_object *run_json(const struct scenario *s, const struct auc_plan *plan,
				    const struct auc_run *run)
{
	struct json_object *o, *workers, *ps;
	const struct auc_share *share;
	unsigned i;
	bool ok;

	if (plan->gang)
		return nodes_json(s, plan, run);
	o = json_object_new_object();
	workers = json_object_new_object();
	ps = json_object_new_object();
	ok = o && workers && ps;

	for (i = 0; i < run->nshares && ok; i++) {
		share = &plan->shares[run->first_share + i];
		if (share->workers)
			ok = auc_json_add_int(workers, s->servers[share->server].name,
					      share->workers);
		if (ok && share->ps)
			ok = auc_json_add_int(ps, s->servers[share->server].name, share->ps);
	}
	ok = ok && auc_json_add(o, "from", json_object_new_int64(run->from)) &&
	     auc_json_add(o, "to", json_object_new_int64(run->to)) &&
	     auc_json_add(o, "workers", json_object_get(workers)) &&
	     auc_json_add(o, "ps", json_object_get(ps));
	json_object_put(workers);
	json_object_put(ps);
	return auc_json_if(ok, o);
}

/* The shortest text that reads back to the same double. */
static bool add_number(struct json_object *o, const char *key, double value)
{
	char text[AUC_NUMBER_LEN];

	return auc_json_add(o, key,
			    json_object_new_double_s(value, auc_number_str(value + 0.0, text)));
}
