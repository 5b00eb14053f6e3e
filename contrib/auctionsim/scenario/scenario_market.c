/* scenario_market.c - see scenario_market.h */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "auctionsim/scenario/scenario_market.h"

#define DAY 86400.0 /* s */

static enum auc_code make_market(const struct scenario *s, const struct scenario_job *job,
				 unsigned slots, auc_slot first, struct auc_market **m,
				 struct auc_err *err);
static enum auc_code add_types(const struct scenario *s, const struct scenario_job *job,
			       struct auc_market *m, struct auc_err *err);
static enum auc_code add_type(const struct scenario *s, const struct scenario_job *job,
			      struct auc_market *m, unsigned role, unsigned index,
			      struct auc_err *err);
static const struct scenario_type *type_of(const struct scenario *s, const struct scenario_job *job,
					   unsigned role, unsigned index);
static const char *type_path(const struct scenario *s, const struct scenario_job *job,
			     unsigned role, unsigned index, char path[80]);
static enum auc_code needed(const struct scenario *s, const struct scenario_job *job, bool there,
			    const char *key, struct auc_err *err);
static enum auc_code needed_bandwidth(const struct scenario *s, const struct scenario_job *job,
				      struct auc_err *err);
static enum auc_code take_gang(const struct scenario *s, const struct scenario_job *job,
			       const struct auc_market *m, struct auc_job *out,
			       struct auc_err *err);
static enum auc_code take_over(const struct scenario *s, const struct scenario_job *job,
			       struct auc_job *out, struct auc_err *err);
static int by_server(const void *a, const void *b);

enum auc_code scenario_market_create(const struct scenario *s, const struct scenario_job *job,
				     struct auc_market **m, struct auc_err *err)
{
	return make_market(s, job, (unsigned)s->slots, 1, m, err);
}

enum auc_code scenario_market_slot(const struct scenario *s, const struct scenario_job *job,
				   auc_slot t, struct auc_market **m, struct auc_err *err)
{
	enum auc_code rc = make_market(s, job, 1, t, m, err);

	return rc == AUC_OK && s->nstate ? scenario_market_state(s, *m, err) : rc;
}

enum auc_code scenario_market_state(const struct scenario *s, struct auc_market *m,
				    struct auc_err *err)
{
	const struct scenario_entry *e;
	enum auc_code rc = AUC_OK;
	unsigned i;
	int tres;

	auc_market_begin_bulk(m);
	for (i = 0; i < s->nstate && rc == AUC_OK; i++) {
		e = &s->state[i];
		tres = auc_market_find_tres(m, e->tres);
		if (e->server == SCENARIO_ANY_SERVER)
			rc = auc_market_reserve_traffic(m, (auc_slot)e->from, (auc_slot)e->to,
							e->amount, err);
		else if (tres >= 0)
			rc = auc_market_reserve(m, e->server, (unsigned)tres, (auc_slot)e->from,
						(auc_slot)e->to, e->amount, err);
		else if (e->amount > 0)
			rc = auc_err_set(err, AUC_EFULL, "no server has %s", e->tres);
		if (rc != AUC_OK)
			auc_err_prefix(err, "%s: $.state[%u]", s->file, i);
	}
	auc_market_end_bulk(m);
	return rc;
}

enum auc_code scenario_market_give_prices(const struct scenario *s, struct auc_market *m,
					  struct auc_err *err)
{
	struct auc_given_price *list = calloc(s->nvalues + 1, sizeof(*list));
	const struct scenario_entry *e;
	enum auc_code rc;
	size_t n = 0;
	int tres;

	if (!list)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	for (unsigned i = 0; i < s->nvalues; i++) {
		e = &s->values[i];
		tres = auc_market_find_tres(m, e->tres);
		if (e->server == SCENARIO_ANY_SERVER || tres >= 0)
			list[n++] = (struct auc_given_price){
				.server = e->server == SCENARIO_ANY_SERVER ? AUC_ANY_SERVER
									   : e->server,
				.tres = tres >= 0 ? (unsigned)tres : 0,
				.from = (auc_slot)e->from,
				.to = (auc_slot)e->to,
				.price = e->amount,
			};
	}
	rc = auc_market_give_prices(m, list, n, err);
	free(list);
	return rc;
}

enum auc_code scenario_market_job(const struct scenario *s, const struct scenario_job *job,
				  const struct auc_market *m, struct auc_job *out,
				  struct auc_err *err)
{
	enum auc_code rc = needed(s, job, job->has_utility, "utility", err);

	return rc == AUC_OK ? scenario_market_task(s, job, m, out, err) : rc;
}

enum auc_code scenario_market_task(const struct scenario *s, const struct scenario_job *job,
				   const struct auc_market *m, struct auc_job *out,
				   struct auc_err *err)
{
	enum auc_code rc;

	if (job->ngang)
		return take_gang(s, job, m, out, err);
	rc = needed(s, job, job->epochs, "epochs", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->chunks, "chunks", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->minibatches, "minibatches", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->gradient_mb >= 0, "gradient_mb", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->has_worker_seconds, "worker_seconds", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->has_ps_seconds, "ps_seconds", err);
	if (rc == AUC_OK)
		rc = needed_bandwidth(s, job, err);
	return rc == AUC_OK ? take_over(s, job, out, err) : rc;
}

enum auc_code scenario_market_site_job(const struct scenario *s, const struct scenario_job *job,
				       struct auc_job *out, struct auc_err *err)
{
	unsigned i, w = s->nworker_types + job->nworker_types, p = s->nps_types + job->nps_types;
	struct auc_data *grown;
	enum auc_code rc;

	rc = needed(s, job, job->has_utility, "utility", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->epochs, "epochs", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->chunks, "chunks", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->ndata, "data_chunks", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->chunks_per_slot > 0, "chunks_per_slot", err);
	if (rc == AUC_OK)
		rc = needed(s, job, job->exchange_mb_per_slot >= 0, "exchange_mb_per_slot", err);
	if (rc == AUC_OK)
		rc = take_over(s, job, out, err);
	if (rc != AUC_OK)
		return rc;
	/* Types have no times here: where none are named, all may be used. */
	for (i = 0; i < w && !job->has_worker_seconds; i++)
		out->worker_seconds[i] = 0;
	for (i = 0; i < p && !job->has_ps_seconds; i++)
		out->ps_seconds[i] = 0;
	if (out->data_alloc < job->ndata) {
		grown = realloc(out->data, job->ndata * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
		out->data = grown;
		out->data_alloc = job->ndata;
	}
	out->ndata = job->ndata;
	for (i = 0; i < job->ndata; i++)
		out->data[i] = (struct auc_data){job->data[i].index, (uint64_t)job->data[i].value};
	qsort(out->data, out->ndata, sizeof(*out->data), by_server);
	out->exchange_mb = job->exchange_mb_per_slot;
	out->chunks_per_slot = job->chunks_per_slot;
	return AUC_OK;
}

static int by_server(const void *a, const void *b)
{
	const struct auc_data *x = a, *y = b;

	return (x->server > y->server) - (x->server < y->server);
}

static enum auc_code take_gang(const struct scenario *s, const struct scenario_job *job,
			       const struct auc_market *m, struct auc_job *out, struct auc_err *err)
{
	enum auc_code rc = take_over(s, job, out, err);
	const struct scenario_shape *shape;

	for (unsigned i = 0; i < job->ngang && rc == AUC_OK; i++) {
		shape = &job->gang[i];
		rc = auc_job_add_shape(m, out, shape->per_node, shape->nper_node, shape->nodes,
				       shape->seconds, err);
		if (rc == AUC_EINVAL)
			auc_err_prefix(err, "%s: $.jobs[%u].gang[%u].per_node", s->file,
				       (unsigned)(job - s->jobs), i);
	}
	return rc;
}

/* What JOB says, no matter to whom. */
static enum auc_code take_over(const struct scenario *s, const struct scenario_job *job,
			       struct auc_job *out, struct auc_err *err)
{
	unsigned i, *grown;
	int64_t slots;

	out->ndata = out->nshapes = 0;
	out->within_switch = job->within_switch;
	out->limited = false;
	if (out->upload_alloc < s->nservers) {
		grown = realloc(out->upload, s->nservers * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
		out->upload = grown;
		out->upload_alloc = s->nservers;
	}
	out->arrival = (auc_slot)job->arrival;
	out->utility = job->utility;
	out->epochs = job->epochs;
	out->chunks = job->chunks;
	out->minibatches = job->minibatches;
	out->gradient_mb = job->gradient_mb;
	out->workers = job->workers;
	out->ps = job->ps;
	out->compute_seconds = fmax(0, job->compute_seconds_per_epoch);
	out->chunk_mb = job->chunk_mb;
	out->guaranteed = job->guaranteed;
	for (i = 0; i < AUC_TYPES_MAX; i++)
		out->worker_seconds[i] = out->ps_seconds[i] = -1;
	for (i = 0; i < job->nworker_seconds; i++)
		out->worker_seconds[job->worker_seconds[i].index] = job->worker_seconds[i].value;
	for (i = 0; i < job->nps_seconds; i++)
		out->ps_seconds[job->ps_seconds[i].index] = job->ps_seconds[i].value;
	slots = auc_ceil(job->upload_default);
	for (i = 0; i < s->nservers; i++)
		out->upload[i] = (unsigned)slots;
	for (i = 0; i < job->nupload; i++)
		out->upload[job->upload[i].index] = (unsigned)auc_ceil(job->upload[i].value);
	return AUC_OK;
}

bool scenario_market_is_own(const struct scenario_job *job)
{
	return job->nworker_types || job->nps_types;
}

static enum auc_code make_market(const struct scenario *s, const struct scenario_job *job,
				 unsigned slots, auc_slot first, struct auc_market **m,
				 struct auc_err *err)
{
	static const struct auc_price none;
	const struct scenario_server *server;
	enum auc_code rc = AUC_OK;

	*m = auc_market_create(slots, s->slot_seconds, first);
	if (!*m)
		return auc_err_set(err, AUC_ENOMEM, "%s: no memory", s->file);
	/* slot 1 begins at that hour */
	auc_market_set_clock(*m, fmod(s->hour * 3600 + DAY - fmod(s->slot_seconds, DAY), DAY));
	for (server = s->servers; server < s->servers + s->nservers && rc == AUC_OK; server++) {
		rc = auc_market_add_server(*m, server->name, server->cloud ? "cloud" : "edge",
					   server->cloud, server->roles, 0, server->capacity,
					   server->ncapacity, err);
		if (rc == AUC_OK && *server->leaf)
			rc = auc_market_set_switch(*m, server->leaf, err);
		if (rc == AUC_OK && server->ncost)
			rc = auc_market_set_cost(*m, server->cost, server->ncost, err);
		if (rc == AUC_OK && server->hourly)
			rc = auc_market_set_cost_hours(*m, server->cost_hours, err);
		if (rc != AUC_OK)
			auc_err_prefix(err, "$.servers[%u]", (unsigned)(server - s->servers));
	}
	if (rc == AUC_OK)
		rc = add_types(s, job, *m, err);
	if (rc == AUC_OK && s->transfer_mb_per_slot >= 0)
		rc = auc_market_set_traffic(*m, s->transfer_mb_per_slot, err);
	if (!job && scenario_gangs_only(s))
		auc_market_gangs_only(*m);
	if (rc == AUC_OK)
		rc = auc_market_ready(*m, &none, err);
	if (rc == AUC_OK)
		return AUC_OK;
	auc_err_prefix(err, "%s", s->file);
	auc_market_destroy(*m);
	*m = NULL;
	return rc;
}

static enum auc_code add_types(const struct scenario *s, const struct scenario_job *job,
			       struct auc_market *m, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	unsigned i;

	for (i = 0; i < s->nworker_types + (job ? job->nworker_types : 0) && rc == AUC_OK; i++)
		rc = add_type(s, job, m, AUC_ROLE_WORKER, i, err);
	for (i = 0; i < s->nps_types + (job ? job->nps_types : 0) && rc == AUC_OK; i++)
		rc = add_type(s, job, m, AUC_ROLE_PS, i, err);
	return rc;
}

static enum auc_code add_type(const struct scenario *s, const struct scenario_job *job,
			      struct auc_market *m, unsigned role, unsigned index,
			      struct auc_err *err)
{
	const struct scenario_type *t = type_of(s, job, role, index);
	double mbps = t->bandwidth_mbps > 0 ? t->bandwidth_mbps : 1; /* nobody looks at it */
	enum auc_code rc =
		role == AUC_ROLE_WORKER
			? auc_market_add_worker_type(m, t->name, t->tres, t->ntres, mbps, err)
			: auc_market_add_ps_type(m, t->name, t->tres, t->ntres, mbps, err);
	char path[80];

	if (rc != AUC_OK)
		auc_err_prefix(err, "%s", type_path(s, job, role, index, path));
	return rc;
}

/* The scenario's types, then the job's own. */
static const struct scenario_type *type_of(const struct scenario *s, const struct scenario_job *job,
					   unsigned role, unsigned index)
{
	if (role == AUC_ROLE_WORKER)
		return index < s->nworker_types ? &s->worker_types[index]
						: &job->worker_types[index - s->nworker_types];
	return index < s->nps_types ? &s->ps_types[index] : &job->ps_types[index - s->nps_types];
}

/* Where that type is in the file. */
static const char *type_path(const struct scenario *s, const struct scenario_job *job,
			     unsigned role, unsigned index, char path[80])
{
	const char *key = role == AUC_ROLE_WORKER ? "worker_types" : "ps_types";
	unsigned common = role == AUC_ROLE_WORKER ? s->nworker_types : s->nps_types;

	if (index < common)
		snprintf(path, 80, "$.%s[%u]", key, index);
	else
		snprintf(path, 80, "$.jobs[%u].%s[%u]", (unsigned)(job - s->jobs), key,
			 index - common);
	return path;
}

static enum auc_code needed(const struct scenario *s, const struct scenario_job *job, bool there,
			    const char *key, struct auc_err *err)
{
	if (there)
		return AUC_OK;
	return auc_err_set(err, AUC_EINVAL, "%s: $.jobs[%u]: expected the key %s, found none",
			   s->file, (unsigned)(job - s->jobs), key);
}

/* Of every type that the job may use. */
static enum auc_code needed_bandwidth(const struct scenario *s, const struct scenario_job *job,
				      struct auc_err *err)
{
	unsigned i, n = job->nworker_seconds, index, role;
	char path[80];

	for (i = 0; i < n + job->nps_seconds; i++) {
		index = i < n ? job->worker_seconds[i].index : job->ps_seconds[i - n].index;
		role = i < n ? AUC_ROLE_WORKER : AUC_ROLE_PS;
		if (!(type_of(s, job, role, index)->bandwidth_mbps > 0))
			return auc_err_set(err, AUC_EINVAL,
					   "%s: %s: type %s: expected bandwidth_mbps, found none",
					   s->file, type_path(s, job, role, index, path),
					   type_of(s, job, role, index)->name);
	}
	return AUC_OK;
}
