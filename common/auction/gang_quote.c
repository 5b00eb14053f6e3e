/*
 * gang_quote.c - the decision on a gang that becomes one job of Slurm, which has one partition: all
 * of its nodes are of one group of the market. Policies know nothing of that.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "auction/auction-private.h"
#include "base/list.h"
#include "input/bid_gang.h"

static bool has_plan(const struct auc_decision *d);
static bool in_one_group(const struct auc_market *m, const struct auc_plan *plan);
static bool is_first_of_group(const struct auc_market *m, unsigned server);
static bool is_better(const struct auc_decision *a, const struct auc_decision *b);
static enum auc_code try_group(const struct auc_policy *policy, struct auc_policy_ctx *ctx,
			       const struct auc_market *m, struct auc_job *job,
			       const unsigned *upload, const char *group, struct auc_decision *d,
			       struct auc_err *err);

static bool has_nodes(const struct auc_auction *a, const struct auc_bid *bid,
		      const struct auc_bid_shape *shape);
static bool sells_node(const struct auc_auction *a, const struct auc_bid *bid, const char *name);
static bool may_use(const struct auc_bid *bid, const struct auc_server_spec *spec);
static bool may_enter(const struct auc_bid *bid, const struct auc_server_spec *spec);
static bool is_among(const struct auc_bid *bid, const char *partition);
static bool holds(const struct auc_server_spec *spec, const struct auc_bid_gang *g,
		  const struct auc_bid_shape *shape);
static unsigned gpu_types(const struct auc_server_spec *spec);
static void see_gpus(const struct auc_server_spec *spec, struct auc_gang_reach *reach);
static unsigned place_of(const struct auc_auction *a, const struct auc_bid *bid,
			 const char *partition);
static unsigned common_multiple(unsigned a, unsigned b);
static double memory_of(const struct auc_server_spec *spec);

enum auc_code auc_quote_gang(const struct auc_policy *policy, struct auc_policy_ctx *ctx,
			     const struct auc_market *m, struct auc_job *job,
			     struct auc_decision *d, struct auc_err *err)
{
	unsigned n = auc_market_nservers(m), *upload;
	enum auc_code rc = policy->quote(ctx, m, job, d, err);
	uint64_t most = d->most_steps, steps = d->steps;
	struct auc_decision best;
	bool found = false;

	/* What is best of all is best of its partition. */
	if (rc != AUC_OK || !has_plan(d) || in_one_group(m, &d->plan))
		return rc;
	upload = malloc((n + 1) * sizeof(*upload));
	if (!upload)
		return auc_auction_no_memory(err);
	memcpy(upload, job->upload, n * sizeof(*upload));
	auc_decision_init(&best);
	for (unsigned s = 0; s < n && rc == AUC_OK; s++) {
		if (upload[s] == UINT32_MAX || !is_first_of_group(m, s))
			continue;
		/* All together keep to the limit. */
		d->most_steps = !most ? 0 : most > steps ? most - steps : 1;
		rc = try_group(policy, ctx, m, job, upload, auc_market_server_group(m, s), d, err);
		steps += d->steps;
		if (rc == AUC_OK && (!found || is_better(d, &best)))
			rc = auc_decision_copy(&best, d, err);
		found = true;
	}
	if (rc == AUC_OK && found)
		rc = auc_decision_copy(d, &best, err);
	memcpy(job->upload, upload, n * sizeof(*upload));
	d->most_steps = most;
	d->steps = steps;
	auc_decision_clear(&best);
	free(upload);
	return rc;
}

/* The decision on JOB if it may use servers of GROUP alone. */
static enum auc_code try_group(const struct auc_policy *policy, struct auc_policy_ctx *ctx,
			       const struct auc_market *m, struct auc_job *job,
			       const unsigned *upload, const char *group, struct auc_decision *d,
			       struct auc_err *err)
{
	for (unsigned s = 0; s < auc_market_nservers(m); s++)
		job->upload[s] =
			strcmp(auc_market_server_group(m, s), group) ? UINT32_MAX : upload[s];
	return policy->quote(ctx, m, job, d, err);
}

static bool has_plan(const struct auc_decision *d)
{
	return d->plan.nruns && (d->accepted || d->offered || d->reason == AUC_REASON_PAYOFF ||
				 d->reason == AUC_REASON_BUDGET);
}

static bool in_one_group(const struct auc_market *m, const struct auc_plan *plan)
{
	for (unsigned i = 1; i < plan->nshares; i++)
		if (strcmp(auc_market_server_group(m, plan->shares[i].server),
			   auc_market_server_group(m, plan->shares[0].server)))
			return false;
	return true;
}

static bool is_first_of_group(const struct auc_market *m, unsigned server)
{
	for (unsigned s = 0; s < server; s++)
		if (!strcmp(auc_market_server_group(m, s), auc_market_server_group(m, server)))
			return false;
	return true;
}

/* Of equal ones the group that comes first in the market is taken. Where prices are posted the
 * offer's cost is what counts: the plan has no value. */
static bool is_better(const struct auc_decision *a, const struct auc_decision *b)
{
	if (has_plan(a) != has_plan(b))
		return has_plan(a);
	if (a->accepted != b->accepted)
		return a->accepted;
	return a->plan.value - a->plan.cost > b->plan.value - b->plan.cost;
}

enum auc_code auc_auction_node_size(struct auc_auction *a, const struct auc_bid *bid,
				    struct auc_node_size *size, struct auc_err *err)
{
	const struct auc_server_spec *first = NULL, *spec;
	enum auc_code rc = AUC_OK;

	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; i < a->nspecs && rc == AUC_OK; i++) {
		spec = &a->specs[i];
		if (!may_use(bid, spec))
			continue;
		if (first && memory_of(first) != memory_of(spec))
			rc = auc_err_set(err, AUC_EINVAL,
					 "all of a node: %s and %s have different amounts of memory "
					 "(%.0f and %.0f MB); say how much (--mem), or by --nodelist, "
					 "--partition or a type of GPU which it may be",
					 first->name, spec->name, memory_of(first),
					 memory_of(spec));
		first = first ? first : spec;
	}
	if (rc == AUC_OK && !first)
		rc = auc_err_set(err, AUC_ENOENT,
				 "all of a node: no node for sale has what the job's options name "
				 "of each");
	if (rc == AUC_OK) {
		size->n = first->ncapacity;
		memcpy(size->tres, first->capacity, sizeof(size->tres));
	}
	pthread_mutex_unlock(&a->lock);
	return rc;
}

void auc_auction_gang_reach(struct auc_auction *a, const struct auc_bid *bid,
			    struct auc_gang_reach *reach)
{
	unsigned first = UINT_MAX, at;

	*reach = (struct auc_gang_reach){.cpu_step = 1, .task_step = 1};
	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; i < a->nspecs; i++) {
		const struct auc_server_spec *spec = &a->specs[i];

		if (!may_use(bid, spec))
			continue;
		at = place_of(a, bid, spec->partition);
		if (at < first)
			memcpy(reach->partition, spec->partition, sizeof(reach->partition));
		first = at < first ? at : first;
		reach->cpu_step = common_multiple(reach->cpu_step, spec->cpu_step);
		reach->task_step = common_multiple(reach->task_step, spec->task_step);
		reach->mixed |= gpu_types(spec) > 1;
		see_gpus(spec, reach);
	}
	for (unsigned i = 0; i < bid->gang.nshapes && !reach->enough; i++)
		reach->enough = has_nodes(a, bid, &bid->gang.shapes[i]);
	pthread_mutex_unlock(&a->lock);
}

static void see_gpus(const struct auc_server_spec *spec, struct auc_gang_reach *reach)
{
	for (unsigned i = 0; i < spec->ncapacity; i++) {
		const struct auc_named *t = &spec->capacity[i];

		if (strncasecmp(t->name, "gpu:", 4) || !(t->value > 0) ||
		    (reach->gpu_kinds && !strcasecmp(t->name, reach->gpu)))
			continue;
		reach->gpu_kinds++;
		memcpy(reach->gpu, t->name, sizeof(reach->gpu));
	}
}

static unsigned gpu_types(const struct auc_server_spec *spec)
{
	unsigned n = 0;

	for (unsigned i = 0; i < spec->ncapacity; i++)
		n += !strncasecmp(spec->capacity[i].name, "gpu:", 4) && spec->capacity[i].value > 0;
	return n;
}

bool auc_auction_one_gpu_type(struct auc_auction *a, const struct auc_part *part)
{
	char name[AUC_NAME_MAX];
	const char *at = NULL;
	bool one = true;

	pthread_mutex_lock(&a->lock);
	while (one && auc_part_next_node(part, &at, name)) {
		unsigned i = 0;

		while (i < a->nspecs && strcmp(a->specs[i].name, name))
			i++;
		one = i < a->nspecs && gpu_types(&a->specs[i]) < 2;
	}
	pthread_mutex_unlock(&a->lock);
	return one;
}

/* True if some partition has as many nodes as SHAPE, one of BID's, takes. */
static bool has_nodes(const struct auc_auction *a, const struct auc_bid *bid,
		      const struct auc_bid_shape *shape)
{
	uint64_t n[AUC_BID_PARTITIONS_MAX] = {0};

	for (unsigned i = 0; i < a->nspecs; i++) {
		const struct auc_server_spec *spec = &a->specs[i];
		unsigned at;

		if (spec->down || !may_enter(bid, spec) || !holds(spec, &bid->gang, shape))
			continue;
		at = place_of(a, bid, spec->partition);
		if (at < AUC_BID_PARTITIONS_MAX && ++n[at] >= shape->nodes)
			return true;
	}
	return false;
}

enum auc_code auc_auction_gang_names(struct auc_auction *a, const struct auc_bid *bid,
				     struct auc_err *err)
{
	const struct auc_bid_gang *g = &bid->gang;
	const char *missing = NULL;
	bool found = false;

	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; i < g->nplaces && !g->except && !missing; i++)
		missing = sells_node(a, bid, g->places[i]) ? NULL : g->places[i];
	for (unsigned i = 0; i < a->nspecs && !found; i++)
		found = may_enter(bid, &a->specs[i]);
	pthread_mutex_unlock(&a->lock);
	if (missing)
		return auc_err_set(
			err, AUC_ENOENT,
			"--nodelist: %s is not for sale%s; \"sprice -N\" lists the nodes "
			"that are",
			missing, bid->npartitions ? " in --partition" : "");
	if (!found && *g->features)
		return auc_err_set(err, AUC_ENOENT,
				   "--constraint=%s: no node for sale that the job may use is like "
				   "that",
				   g->features);
	return AUC_OK;
}

/* Whether NAME is a node of a partition where BID may go. */
static bool sells_node(const struct auc_auction *a, const struct auc_bid *bid, const char *name)
{
	for (unsigned i = 0; i < a->nspecs; i++)
		if (!strcmp(name, a->specs[i].name) && is_among(bid, a->specs[i].partition))
			return true;
	return false;
}

/* Of PARTITION in BID's list, or in auction.conf's. */
static unsigned place_of(const struct auc_auction *a, const struct auc_bid *bid,
			 const char *partition)
{
	unsigned n = bid->npartitions ? bid->npartitions : a->conf->npartitions, i = 0;

	while (i < n && strcmp(bid->npartitions ? bid->partitions[i] : a->conf->partitions[i].name,
			       partition))
		i++;
	return i;
}

/* Of two sizes of cores, hardly ever more than the larger one. B may be 0. */
static unsigned common_multiple(unsigned a, unsigned b)
{
	unsigned x = a, y = b, rest;

	while (y) {
		rest = x % y;
		x = y;
		y = rest;
	}
	return b && a / x <= UINT16_MAX / b ? a / x * b : a;
}

unsigned auc_gang_count(const struct auc_auction *a, const struct auc_bid *bid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->nspecs; i++)
		n += may_use(bid, &a->specs[i]) && !a->specs[i].down;
	return n;
}

/* It is where BID may go, and large enough for some shape. */
static bool may_use(const struct auc_bid *bid, const struct auc_server_spec *spec)
{
	const struct auc_bid_gang *g = &bid->gang;

	if (!may_enter(bid, spec))
		return false;
	for (unsigned i = 0; i < g->nshapes; i++)
		if (holds(spec, g, &g->shapes[i]))
			return true;
	return false;
}

/* Partition, features and name are as BID wants them. */
static bool may_enter(const struct auc_bid *bid, const struct auc_server_spec *spec)
{
	const struct auc_bid_gang *g = &bid->gang;
	bool named = false;

	if (!is_among(bid, spec->partition) || !auc_bid_gang_wants(g, spec->features))
		return false;
	for (unsigned i = 0; i < g->nplaces && !named; i++)
		named = !strcmp(g->places[i], spec->name);
	return !g->nplaces || named != g->except;
}

static bool is_among(const struct auc_bid *bid, const char *partition)
{
	bool found = !bid->npartitions;

	for (unsigned i = 0; i < bid->npartitions && !found; i++)
		found = !strcmp(bid->partitions[i], partition);
	return found;
}

static bool holds(const struct auc_server_spec *spec, const struct auc_bid_gang *g,
		  const struct auc_bid_shape *shape)
{
	for (unsigned k = 0; k < g->ntres; k++) {
		size_t len = strlen(g->tres[k]);
		bool enough = !(shape->amount[k] > 0);

		/* "gpu" is any type of it. */
		for (unsigned i = 0; i < spec->ncapacity && !enough; i++) {
			const struct auc_named *t = &spec->capacity[i];

			enough = !strncasecmp(t->name, g->tres[k], len) &&
				 strchr(":", t->name[len]) && t->value >= shape->amount[k];
		}
		if (!enough)
			return false;
	}
	return true;
}

static double memory_of(const struct auc_server_spec *spec)
{
	const struct auc_named *t = auc_list_find_tres(spec->capacity, spec->ncapacity, "mem");

	return t ? t->value : 0;
}
