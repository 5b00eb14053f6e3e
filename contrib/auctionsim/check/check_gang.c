/* check_gang.c - the rules of gangs and of budgets, see check-private.h: from the formats alone. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "auctionsim/check/check-private.h"

static bool check_keys(struct check *c, const struct sold *j);
static void check_nodes(struct check *c, const struct sold *j, const struct scenario_shape *shape);
static void check_switch(struct check *c, const struct sold *j);

enum auc_code check_read_nodes(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct check *c = r->user;
	struct run *run = target;
	enum auc_code rc = AUC_OK;
	const char *name;
	size_t n, mark;
	unsigned s;

	(void)f;
	run->has_nodes = true;
	if (!json_object_is_type(v, json_type_array))
		return reader_expected(r, v, "an array of servers");
	n = json_object_array_length(v);
	free(run->workers); /* of a run that has both, which is refused */
	run->nworkers = 0;
	run->workers = calloc(n + 1, sizeof(*run->workers));
	if (!run->workers)
		return reader_fail(r, AUC_ENOMEM, "no memory");
	for (size_t i = 0; i < n && rc == AUC_OK; i++) {
		mark = reader_enter_index(r, i);
		rc = read_text(r, json_object_array_get_idx(v, i), "a name", &name);
		for (s = 0; rc == AUC_OK && s < c->s->nservers; s++)
			if (!strcmp(c->s->servers[s].name, name))
				break;
		if (rc == AUC_OK && s == c->s->nservers)
			rc = reader_fail(r, AUC_EINVAL,
					 "expected a server of the scenario, found '%.80s'", name);
		if (rc != AUC_OK)
			return rc;
		run->workers[run->nworkers++] = (struct group){.server = s, .count = 1};
		reader_leave(r, mark);
	}
	return rc;
}

enum auc_code check_read_shape(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct sold *j = target;

	j->has_shape = true;
	return field_count(r, v, f, &j->shape);
}

void check_gang_job(struct check *c, struct sold *j)
{
	const struct run *run = j->runs;
	struct scenario_type node;
	long double cost = 0;

	j->completed = j->nruns > 0;
	if (!check_keys(c, j) || !check_window(c, j))
		return;
	check_nodes(c, j, &j->job->gang[j->shape]);
	node = books_node(&j->job->gang[j->shape]);
	for (unsigned i = 0; i < run->nworkers && c->priced; i++)
		cost += books_cost(c->books, &node, run->workers[i].server, run->from, run->to, 1);
	if (c->posted)
		check_posted_money(c, j);
	else
		check_worth(c, j, run->to + 1, cost);
	j->worker = &node;
	check_book(c, j, run);
	j->worker = NULL;
}

/* False: there is nothing to look at. */
static bool check_keys(struct check *c, const struct sold *j)
{
	if (j->reason || !isnan(j->best_payoff))
		check_violation(c, "reason", j, "expected none of an accepted job");
	if (isnan(j->value) || isnan(j->payment) || isnan(j->payoff))
		check_violation(c, "value", j,
				"expected value, payment and payoff of an accepted job");
	if (j->worker_type || j->ps_type || j->has_colocated)
		check_violation(c, "worker_type", j, "expected no types and colocated of a gang");
	if (!j->has_transfers || j->ntransfers || j->has_chunks)
		check_violation(c, "transfers", j, "expected empty ones, and no chunks, of a gang");
	if (j->has_offer != c->posted)
		check_violation(c, "offer", j, "expected %s", c->posted ? "one" : "none");
	if (!j->has_shape || j->shape >= j->job->ngang)
		check_violation(c, "shape", j, "expected one of the gang's %u shapes",
				j->job->ngang);
	else if (!j->nruns || !j->runs->has_nodes)
		check_violation(c, "plan", j, "expected a run with nodes of a gang");
	else
		return true;
	return false;
}

static void check_nodes(struct check *c, const struct sold *j, const struct scenario_shape *shape)
{
	const struct run *run = j->runs;
	long double d =
		books_duration(c->stretch * shape->seconds / (long double)c->s->slot_seconds, 1);
	unsigned i, k;

	if (run->nworkers != shape->nodes)
		check_violation(c, "plan", j, "expected %" PRIu64 " nodes, found %u", shape->nodes,
				run->nworkers);
	if (d != (long double)(run->to - run->from + 1))
		check_violation(c, "plan", j, "expected %.0Lf slots, found %" PRIu64, d,
				run->to - run->from + 1);
	for (i = 0; i < run->nworkers; i++)
		for (k = 0; k < i; k++)
			if (run->workers[i].server == run->workers[k].server)
				check_violation(c, "plan", j, "expected server %s once",
						c->s->servers[run->workers[i].server].name);
	check_uploads(c, j, run);
	if (j->job->within_switch)
		check_switch(c, j);
}

static void check_switch(struct check *c, const struct sold *j)
{
	const struct run *run = j->runs;
	const char *leaf = run->nworkers ? c->s->servers[run->workers[0].server].leaf : "";

	for (unsigned i = 0; i < run->nworkers; i++)
		if (!*leaf || strcmp(c->s->servers[run->workers[i].server].leaf, leaf) != 0) {
			check_violation(c, "plan", j, "expected all nodes on one switch");
			return;
		}
}

void check_budget(struct check *c, const struct sold *j)
{
	double *left = j->job->purse ? &c->left[j->job->purse - 1] : NULL;

	if (!left || isnan(j->payment))
		return;
	if (j->payment > *left + 1e-9 * *left + 1e-12)
		check_violation(c, "payment", j,
				"expected at most the %.17g that its user has left, found %.17g",
				*left, j->payment);
	*left = fmax(0, *left - j->payment);
}
