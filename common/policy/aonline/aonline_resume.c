/*
 * aonline_resume.c - see aonline-private.h: a job's chunks into its plan, and a job out of its plan
 * again. All that the stepper knows of a job when a slot begins is in there: what a chunk has left
 * is its length less the slots it was trained in, and it waits or runs where it was sent.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>

#include "policy/aonline/aonline-private.h"

static enum auc_code check(const struct aon_job *j, const struct auc_plan *plan,
			   const struct auc_market *m, struct auc_err *err);
static enum auc_code take_plan(struct auc_stepper_ctx *ctx, struct aon_job *j,
			       const struct auc_plan *plan, auc_slot t, struct auc_err *err);
static enum auc_code take_chunk(struct auc_stepper_ctx *ctx, struct aon_job *j, unsigned i,
				const struct auc_plan *plan, auc_slot t, struct auc_err *err);
static enum auc_code take_spans(struct aon_chunk *c, const struct auc_span *spans, unsigned n,
				auc_slot t, struct auc_err *err);
static enum auc_code put_at_edge(struct auc_stepper_ctx *ctx, struct aon_job *j, unsigned i,
				 bool runs, struct auc_err *err);
static enum auc_code put_in_cloud(struct aon_job *j, struct aon_chunk *c, struct auc_err *err);
static void take_ps(struct aon_job *j, const struct auc_plan *plan, auc_slot t);
static enum auc_code other(uint64_t id, const char *what, struct auc_err *err);

enum auc_code aon_keep(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_plan *plan,
		       struct auc_err *err)
{
	const struct aon_job *j = aon_find(ctx, id);
	const struct aon_chunk *c;
	enum auc_code rc = AUC_OK;
	unsigned k;

	if (!j)
		return auc_err_set(err, AUC_ENOENT, "job %llu: not at hand",
				   (unsigned long long)id);
	plan->due = j->end;
	for (c = j->chunks; c < j->chunks + j->n && rc == AUC_OK; c++) {
		rc = auc_plan_add_chunk(plan, c->server, c->worker, err);
		for (k = 0; k + 1 < c->nruns && rc == AUC_OK; k++)
			rc = auc_plan_add_span(plan, c->before[k].from, c->before[k].to, err);
		if (c->nruns && rc == AUC_OK)
			rc = auc_plan_add_span(plan, c->run.from, c->run.to, err);
	}
	return rc;
}

enum auc_code aon_resume(struct auc_stepper_ctx *ctx, const struct auc_market *m, uint64_t id,
			 const struct auc_job *job, const struct auc_plan *plan, auc_slot t,
			 struct auc_err *err)
{
	enum auc_code rc = aon_make_place(ctx, m, err);
	struct aon_job *j;

	if (rc != AUC_OK)
		return rc;
	if (plan->worker_type >= m->nworker_types || plan->ps_type >= m->nps_types ||
	    job->worker_seconds[plan->worker_type] < 0 || job->ps_seconds[plan->ps_type] < 0)
		return other(id, "types", err);
	rc = aon_make_job(ctx, m, id, job, plan->worker_type, plan->ps_type, &j, err);
	if (!j)
		return rc != AUC_OK ? rc : other(id, "length", err);
	rc = check(j, plan, m, err);
	if (rc == AUC_OK)
		rc = take_plan(ctx, j, plan, t, err);
	if (rc != AUC_OK) {
		aon_free_job(j);
		return rc;
	}
	aon_enter(ctx, j);
	return AUC_OK;
}

/* All that can be wrong is found before anything is changed: where its chunks are, and the cloud.
 */
static enum auc_code check(const struct aon_job *j, const struct auc_plan *plan,
			   const struct auc_market *m, struct auc_err *err)
{
	const struct aon_kind *kind = j->kind;
	const struct auc_plan_chunk *c;
	unsigned i, k, cloud = UINT_MAX;

	if (plan->nchunks != j->n)
		return other(j->id, "number of chunks", err);
	for (i = 0; i < j->n; i++) {
		c = &plan->chunks[i];
		if (c->server >= m->nservers)
			return other(j->id, "server of a chunk", err);
		if (!m->servers[c->server].cloud) {
			if (cloud != UINT_MAX)
				return other(j->id, "order of chunks", err);
			for (k = 0; k < kind->n && (kind->workers[k].server != c->server ||
						    kind->workers[k].index != c->worker);
			     k++)
				;
			if (k == kind->n)
				return other(j->id, "worker of a chunk", err);
			continue;
		}
		for (k = 0; k < kind->npools && kind->pools[k].server != c->server; k++)
			;
		if (k == kind->npools || (cloud != UINT_MAX && cloud != c->server) ||
		    c->worker >= AUC_FIT_MAX)
			return other(j->id, "worker in the cloud", err);
		cloud = c->server;
	}
	return AUC_OK;
}

static enum auc_code take_plan(struct auc_stepper_ctx *ctx, struct aon_job *j,
			       const struct auc_plan *plan, auc_slot t, struct auc_err *err)
{
	int64_t length;
	unsigned i;
	enum auc_code rc = AUC_OK;

	j->stopped = true;
	for (i = 0; i < j->kind->npools; i++)
		if (j->kind->pools[i].server == plan->chunks[j->n - 1].server)
			j->cloud = &j->kind->pools[i];
	j->first_cloud = j->n;
	for (i = j->n; j->cloud && i-- > 0 && plan->chunks[i].server == j->cloud->server;)
		j->first_cloud = i;
	j->colocated = j->first_cloud == 0;
	length = j->colocated ? j->together : j->apart;
	j->length = j->n * length;
	j->end = plan->due;
	for (i = 0; i < j->n; i++)
		j->chunks[i].left = (int32_t)length;
	for (i = 0; i < j->n && rc == AUC_OK; i++)
		rc = take_spans(&j->chunks[i], &plan->spans[plan->chunks[i].first_span],
				plan->chunks[i].nspans, t, err);
	for (i = j->undone = 0; i < j->n && rc == AUC_OK; i++) {
		if (j->chunks[i].left < 0)
			rc = other(j->id, "length", err);
		j->undone += j->chunks[i].left > 0;
	}
	if (rc == AUC_OK && !j->undone)
		rc = other(j->id, "end", err);
	take_ps(j, plan, t);
	for (i = 0; i < j->n && rc == AUC_OK; i++)
		rc = take_chunk(ctx, j, i, plan, t, err);
	return rc;
}

/* The slots before T. */
static enum auc_code take_spans(struct aon_chunk *c, const struct auc_span *spans, unsigned n,
				auc_slot t, struct auc_err *err)
{
	int64_t trained = 0;
	unsigned i;

	while (n && spans[n - 1].from >= t)
		n--;
	c->nruns = n;
	if (!n)
		return AUC_OK;
	c->before = n > 1 ? malloc((n - 1) * sizeof(*c->before)) : NULL;
	if (n > 1 && !c->before)
		return auc_err_set(err, AUC_ENOMEM, "no memory for what a chunk did");
	c->alloc = n - 1;
	for (i = 0; i + 1 < n; i++)
		c->before[i] = spans[i];
	c->run = spans[n - 1];
	if (c->run.to >= t)
		c->run.to = t - 1;
	for (i = 0; i < n; i++)
		trained += (i + 1 < n ? spans[i].to : c->run.to) - spans[i].from + 1;
	c->left = trained <= c->left ? c->left - (int32_t)trained : -1;
	return AUC_OK;
}

static enum auc_code take_chunk(struct auc_stepper_ctx *ctx, struct aon_job *j, unsigned i,
				const struct auc_plan *plan, auc_slot t, struct auc_err *err)
{
	struct aon_chunk *c = &j->chunks[i];
	bool runs = c->nruns && c->run.to == t - 1;
	enum auc_code rc = AUC_OK;

	c->server = plan->chunks[i].server;
	c->worker = plan->chunks[i].worker;
	c->next = UINT_MAX;
	if (c->nruns)
		c->preemptions = c->nruns - (!c->left || runs);
	if (c->left)
		rc = i < j->first_cloud ? put_at_edge(ctx, j, i, runs, err)
					: put_in_cloud(j, c, err);
	if (rc == AUC_OK && ctx->limited[c->server])
		ctx->held[c->server] += j->chunk_units;
	return rc;
}

static enum auc_code put_at_edge(struct auc_stepper_ctx *ctx, struct aon_job *j, unsigned i,
				 bool runs, struct auc_err *err)
{
	const struct aon_chunk *c = &j->chunks[i];
	struct aon_worker *w = j->kind->workers;
	struct aon_chunk *last;
	unsigned e;

	while (w->server != c->server || w->index != c->worker)
		w++;
	if (runs) {
		w->ran = j;
		w->ran_chunk = i;
	}
	e = aon_queue_place(w, j->length);
	if (!e || w->queue[e - 1].job != j)
		return aon_queue_insert(ctx, j, (unsigned)(w - j->kind->workers), e, i, 1, c->left,
					err);
	for (last = &j->chunks[w->queue[--e].chunk]; last->next != UINT_MAX;)
		last = &j->chunks[last->next];
	last->next = i;
	w->queue[e].left += c->left;
	aon_queue_count(&w->queue[e], w->queue[e].chunks + 1);
	aon_queue_changed(j->kind, w);
	return AUC_OK;
}

static enum auc_code put_in_cloud(struct aon_job *j, struct aon_chunk *c, struct auc_err *err)
{
	enum auc_code rc;

	j->cloud_undone++;
	if (!c->nruns)
		return AUC_OK;
	rc = aon_grow_pool(j->cloud, c->worker, err);
	if (rc == AUC_OK)
		j->cloud->used[c->worker / 64] |= UINT64_C(1) << c->worker % 64;
	return rc;
}

/* A job that ran in the slot before keeps its PS. */
static void take_ps(struct aon_job *j, const struct auc_plan *plan, auc_slot t)
{
	const struct auc_run *run;
	unsigned i;

	for (run = plan->runs; run < plan->runs + plan->nruns; run++) {
		if (run->from >= t)
			break;
		j->ran = run->to < t ? run->to : t - 1;
		for (i = run->first_share; i < run->first_share + run->nshares; i++)
			if (plan->shares[i].ps)
				j->ps_server = plan->shares[i].server;
	}
}

static enum auc_code other(uint64_t id, const char *what, struct auc_err *err)
{
	return auc_err_set(err, AUC_ESTATE, "job %llu: its plan has another %s",
			   (unsigned long long)id, what);
}
