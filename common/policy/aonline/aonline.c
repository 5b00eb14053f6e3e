/*
 * aonline.c - policy aonline, the published algorithm A_online for preemptive scheduling of
 * distributed machine learning jobs in edge-cloud networks: no prices and no bids, the least mean
 * time from arrival to completion. Each chunk of a job is sent to one worker and stays there, so
 * that data never move; each worker trains, slot by slot, the chunk of the shortest job whose data
 * are there, and what it preempts goes on later. This file: options, jobs that come and go.
 *
 * Options
 *   guard=job|none  (job) before a job is dispatched chunk by chunk, all of it in the cloud and all
 *                   of it at the edge are looked at, too: what completes it and those that it
 *                   delays the soonest in sum (aonline_dispatch.c)
 *   site=any|edge|cloud  (any) where workers and PSs may be; edge is the paper's A_online-E
 *
 * What the paper leaves open. A job has one worker type and one PS type: the pair with the least
 * time of a mini-batch. Workers are those that an empty server holds of a type; where types or PSs
 * share resources, the shorter job takes them first, slot by slot. Storage that others hold counts
 * when the job comes. Ties of Q: the edge, then the server and worker that come first.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "policy/aonline/aonline-private.h"
#include "policy/pairs.h"
#include "policy/option.h"

#define CHUNKS_MAX      65536         /* of one job: they are all remembered */
#define CHUNK_SLOTS_MAX AUC_SLOTS_MAX /* a chunk that takes more is never trained */
#define WORKERS_MAX     4096          /* of one type on one server */

struct options {
	unsigned guard, site;
};

static enum auc_code aonline_create(const char *options, struct auc_stepper_ctx **ctx,
				    struct auc_err *err);
static void aonline_destroy(struct auc_stepper_ctx *ctx);
static enum auc_code aonline_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				    uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				    struct auc_err *err);
static enum auc_code meet_market(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				 struct auc_err *err);
static int64_t chunk_slots(const struct auc_market *m, const struct auc_job *job, unsigned w,
			   unsigned p, bool together);
static enum auc_code find_kind(struct auc_stepper_ctx *ctx, const struct auc_market *m,
			       unsigned type, struct aon_kind **kind, struct auc_err *err);
static bool add_workers(struct aon_kind *kind, const struct auc_market *m, unsigned type);
static void free_kind(struct aon_kind *kind);
static void drop_job(struct auc_stepper_ctx *ctx, struct aon_job *j);
static unsigned find_place(const struct auc_stepper_ctx *ctx, uint64_t id);
static enum auc_code aonline_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err);
static enum auc_code aonline_chunks(struct auc_stepper_ctx *ctx, uint64_t id,
				    const struct auc_chunk **chunks, unsigned *n,
				    struct auc_err *err);

const struct auc_stepper auc_stepper_aonline = {
	.name = "aonline",
	.summary =
		"no prices: least mean time to completion, chunk by chunk, preemptive (A_online)",
	.create = aonline_create,
	.destroy = aonline_destroy,
	.arrive = aonline_arrive,
	.step = aon_step,
	.leave = aonline_leave,
	.chunks = aonline_chunks,
	.keep = aon_keep,
	.resume = aon_resume,
};

static enum auc_code aonline_create(const char *options, struct auc_stepper_ctx **ctx,
				    struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "guard", .choices = "job|none", .offset = offsetof(struct options, guard)},
		{.key = "site",
		 .choices = "any|edge|cloud",
		 .offset = offsetof(struct options, site)},
	};
	struct options o = {0};
	enum auc_code rc = auc_options_read("aonline", options, list, 2, &o, err);

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	*ctx = calloc(1, sizeof(**ctx));
	if (!*ctx)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy aonline");
	(*ctx)->guard = o.guard == 0;
	(*ctx)->site = (enum aon_site)o.site;
	return AUC_OK;
}

static void aonline_destroy(struct auc_stepper_ctx *ctx)
{
	unsigned i;

	if (!ctx)
		return;
	for (i = 0; i < ctx->n; i++)
		aon_free_job(ctx->jobs[i]);
	for (i = 0; i < ctx->nkinds; i++)
		free_kind(ctx->kinds[i]);
	free(ctx->kinds);
	free(ctx->jobs);
	free(ctx->limited);
	free(ctx->held);
	auc_free_room_clear(&ctx->room);
	free(ctx->choices);
	free(ctx->behind);
	free(ctx->run);
	free(ctx->heap);
	free(ctx->again);
	free(ctx->order);
	free(ctx->touched);
	free(ctx->pushed);
	free(ctx->done);
	free(ctx->left);
	free(ctx->ready);
	free(ctx->ends);
	free(ctx->servers);
	free(ctx->storage);
	free(ctx->layouts);
	free(ctx->shares);
	free(ctx->count);
	free(ctx->seen);
	free(ctx->spans);
	free(ctx);
}

static enum auc_code aonline_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				    uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				    struct auc_err *err)
{
	enum auc_code rc = aon_make_place(ctx, m, err);
	struct aon_job *j;
	unsigned w, p;
	bool placed;

	*reason = AUC_REASON_CAPACITY;
	if (rc != AUC_OK || !auc_pairs_fastest(m, job, &w, &p))
		return rc;
	rc = aon_make_job(ctx, m, id, job, w, p, &j, err);
	if (!j)
		return rc;
	rc = aon_dispatch(ctx, m, j, &placed, err);
	if (rc == AUC_OK && placed)
		*reason = AUC_REASON_NONE;
	if (rc == AUC_OK && placed)
		aon_enter(ctx, j);
	else
		aon_free_job(j);
	return rc;
}

void aon_enter(struct auc_stepper_ctx *ctx, struct aon_job *j)
{
	unsigned low = 0, high, middle;

	for (high = ctx->n; low < high;) {
		middle = (low + high) / 2;
		if (j->length < ctx->jobs[middle]->length)
			high = middle;
		else
			low = middle + 1;
	}
	memmove(&ctx->jobs[low + 1], &ctx->jobs[low], (ctx->n++ - low) * sizeof(struct aon_job *));
	ctx->jobs[low] = j;
}

/* Tables by server; the servers stay the same. */
static enum auc_code meet_market(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				 struct auc_err *err)
{
	int k = auc_market_find_tres(m, "storage");
	unsigned s, n = m->nservers + 1;

	if (ctx->nservers == n)
		return AUC_OK;
	if (ctx->nservers)
		return auc_err_set(err, AUC_ESTATE, "aonline: expected %u servers, found %u",
				   ctx->nservers - 1, m->nservers);
	free(ctx->limited);
	free(ctx->held);
	free(ctx->servers);
	free(ctx->storage);
	free(ctx->count);
	ctx->limited = calloc(n, sizeof(*ctx->limited));
	ctx->held = calloc(n, sizeof(*ctx->held));
	ctx->servers = calloc(n, sizeof(*ctx->servers));
	ctx->storage = calloc(n, sizeof(*ctx->storage));
	ctx->count = calloc(n, sizeof(*ctx->count));
	if (!ctx->limited || !ctx->held || !ctx->servers || !ctx->storage || !ctx->count)
		return auc_err_set(err, AUC_ENOMEM, "no memory for %u servers", m->nservers);
	for (s = 0; s < m->nservers; s++) {
		ctx->limited[s] = k >= 0 && m->servers[s].units[k] > 0;
		ctx->any_limited = ctx->any_limited || ctx->limited[s];
	}
	ctx->nservers = n;
	return AUC_OK;
}

enum auc_code aon_make_place(struct auc_stepper_ctx *ctx, const struct auc_market *m,
			     struct auc_err *err)
{
	enum auc_code rc = meet_market(ctx, m, err);
	unsigned alloc = ctx->alloc * 2 + 16;
	void *jobs, *pushed, *done, *layouts;

	aon_drop_done(ctx);
	if (rc != AUC_OK || ctx->n < ctx->alloc)
		return rc;
	jobs = realloc(ctx->jobs, alloc * sizeof(*ctx->jobs));
	if (jobs)
		ctx->jobs = jobs;
	pushed = realloc(ctx->pushed, alloc * sizeof(*ctx->pushed));
	if (pushed)
		ctx->pushed = pushed;
	done = realloc(ctx->done, alloc * sizeof(*ctx->done));
	if (done)
		ctx->done = done;
	layouts = realloc(ctx->layouts, alloc * sizeof(*ctx->layouts));
	if (layouts)
		ctx->layouts = layouts;
	if (!jobs || !pushed || !done || !layouts)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a job");
	ctx->alloc = alloc;
	return AUC_OK;
}

enum auc_code aon_make_job(struct auc_stepper_ctx *ctx, const struct auc_market *m, uint64_t id,
			   const struct auc_job *job, unsigned w, unsigned p, struct aon_job **made,
			   struct auc_err *err)
{
	size_t chunks = job->chunks * sizeof(struct aon_chunk), uploads;
	struct aon_kind *kind, *ps;
	int64_t apart, together;
	struct aon_job *j;
	enum auc_code rc;
	int k;

	*made = NULL;
	if (job->chunks > CHUNKS_MAX)
		return auc_err_set(err, AUC_EINVAL,
				   "aonline: chunks: expected at most %d, found %llu", CHUNKS_MAX,
				   (unsigned long long)job->chunks);
	apart = chunk_slots(m, job, w, p, false);
	together = chunk_slots(m, job, w, p, true);
	if (apart > CHUNK_SLOTS_MAX)
		return AUC_OK;
	rc = find_kind(ctx, m, w, &kind, err);
	if (rc == AUC_OK)
		rc = find_kind(ctx, m, auc_ps_index(m, p), &ps, err);
	if (rc != AUC_OK)
		return rc;
	uploads = m->nservers * sizeof(*j->upload);
	j = malloc(sizeof(*j) + chunks + uploads);
	if (!j)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a job of %llu chunks",
				   (unsigned long long)job->chunks);
	memset(j, 0, sizeof(*j) + chunks);
	j->chunks = (struct aon_chunk *)(j + 1);
	j->upload = memcpy(j->chunks + job->chunks, job->upload, uploads);
	j->id = id;
	j->arrival = job->arrival;
	j->worker_type = w;
	j->ps_type = p;
	j->kind = kind;
	j->ps = &ps->bundle;
	j->apart = apart;
	j->together = together;
	j->n = j->undone = (unsigned)job->chunks;
	j->length = (int32_t)(j->n * apart);
	if (ctx->any_limited && (k = auc_market_find_tres(m, "storage")) >= 0)
		j->chunk_units = auc_ceil(job->chunk_mb * m->tres[k].scale);
	j->ran = job->arrival - 2;
	*made = j;
	return AUC_OK;
}

static int64_t chunk_slots(const struct auc_market *m, const struct auc_job *job, unsigned w,
			   unsigned p, bool together)
{
	double chunks = (double)job->chunks;

	return auc_job_duration(auc_job_work(m, job, w, p, together) / chunks, 1);
}

/* Types that jobs bring along are compared by what they are. */
static enum auc_code find_kind(struct auc_stepper_ctx *ctx, const struct auc_market *m,
			       unsigned type, struct aon_kind **kind, struct auc_err *err)
{
	const struct auc_bundle *b = &m->types[type];
	struct aon_kind **grown, *made;
	unsigned i;

	for (i = 0; i < ctx->nkinds; i++)
		if (ctx->kinds[i]->bundle.role == b->role &&
		    !strcmp(ctx->kinds[i]->bundle.name, b->name) &&
		    !memcmp(ctx->kinds[i]->bundle.units, b->units, sizeof(b->units))) {
			*kind = ctx->kinds[i];
			return AUC_OK;
		}
	grown = realloc(ctx->kinds, (ctx->nkinds + 1) * sizeof(struct aon_kind *));
	if (grown)
		ctx->kinds = grown;
	made = calloc(1, sizeof(*made));
	if (grown && made) {
		made->bundle = *b;
		if (add_workers(made, m, type)) {
			*kind = ctx->kinds[ctx->nkinds++] = made;
			return AUC_OK;
		}
	}
	free_kind(made);
	return auc_err_set(err, AUC_ENOMEM, "no memory for type %s", b->name);
}

/* Those of an empty cluster; none of a PS type. */
static bool add_workers(struct aon_kind *kind, const struct auc_market *m, unsigned type)
{
	const int32_t *fit = m->cache[type].fit0;
	unsigned nservers = m->types[type].role & AUC_ROLE_WORKER ? m->nservers : 0;
	size_t workers = 0, pools = 0;
	int32_t i, n;
	unsigned s;

	for (s = 0; s < nservers; s++)
		if (m->servers[s].cloud)
			pools += fit[s] > 0;
		else
			workers += (size_t)(fit[s] < WORKERS_MAX ? fit[s] : WORKERS_MAX);
	kind->workers = calloc(workers + 1, sizeof(*kind->workers));
	kind->briefs = calloc(workers + 1, sizeof(*kind->briefs));
	kind->pools = calloc(pools + 1, sizeof(*kind->pools));
	if (!kind->workers || !kind->briefs || !kind->pools)
		return false;
	for (s = 0; s < nservers; s++) {
		n = fit[s] < WORKERS_MAX ? fit[s] : WORKERS_MAX;
		if (m->servers[s].cloud && n > 0)
			kind->pools[kind->npools++].server = s;
		for (i = 0; i < n && !m->servers[s].cloud; i++) {
			kind->workers[kind->n].server = kind->briefs[kind->n].server = s;
			kind->workers[kind->n].index = kind->briefs[kind->n].index = (unsigned)i;
			kind->n++;
		}
	}
	return true;
}

static void free_kind(struct aon_kind *kind)
{
	unsigned i;

	if (!kind)
		return;
	for (i = 0; i < kind->n; i++)
		free(kind->workers[i].queue);
	for (i = 0; i < kind->npools; i++) {
		free(kind->pools[i].used);
		free(kind->pools[i].ended);
	}
	free(kind->workers);
	free(kind->briefs);
	free(kind->pools);
	free(kind);
}

void aon_free_job(struct aon_job *j)
{
	unsigned i;

	for (i = 0; j->stopped && i < j->n; i++)
		free(j->chunks[i].before);
	free(j);
}

void aon_drop_done(struct auc_stepper_ctx *ctx)
{
	unsigned i, from, to;

	for (i = 0; i < ctx->ndone; i++) {
		from = ctx->done[i] + 1;
		to = i + 1 < ctx->ndone ? ctx->done[i + 1] : ctx->n;
		drop_job(ctx, ctx->jobs[ctx->done[i]]);
		memmove(&ctx->jobs[from - i - 1], &ctx->jobs[from],
			(to - from) * sizeof(struct aon_job *));
	}
	ctx->n -= ctx->ndone;
	ctx->ndone = 0;
}

/* With all that it stored. */
static void drop_job(struct auc_stepper_ctx *ctx, struct aon_job *j)
{
	unsigned k, s;

	for (k = 0; j->chunk_units && k < j->n; k++) {
		s = j->chunks[k].server;
		if (ctx->limited[s])
			ctx->held[s] -= j->chunk_units;
	}
	aon_free_job(j);
}

struct aon_job *aon_find(const struct auc_stepper_ctx *ctx, uint64_t id)
{
	unsigned place = find_place(ctx, id);

	return place < ctx->n ? ctx->jobs[place] : NULL;
}

/* Among all jobs at hand; their number: it is not. */
static unsigned find_place(const struct auc_stepper_ctx *ctx, uint64_t id)
{
	unsigned i;

	for (i = 0; i < ctx->n && ctx->jobs[i]->id != id; i++)
		;
	return i;
}

static enum auc_code aonline_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err)
{
	struct aon_worker *w;
	struct aon_job *j;
	unsigned place, k;

	aon_drop_done(ctx);
	place = find_place(ctx, id);
	if (place == ctx->n)
		return auc_err_set(err, AUC_ENOENT, "job %llu: not at hand",
				   (unsigned long long)id);
	j = ctx->jobs[place];
	for (w = j->kind->workers; w < j->kind->workers + j->kind->n; w++) {
		for (k = 0; k < w->n && w->queue[k].job != j; k++)
			;
		if (k < w->n)
			aon_queue_remove(j->kind, w, k);
		if (w->ran == j)
			w->ran = NULL;
	}
	for (k = j->first_cloud; k < j->n; k++)
		if (j->chunks[k].left)
			aon_free_worker(j, &j->chunks[k]);
	ctx->done[ctx->ndone++] = place;
	aon_drop_done(ctx);
	return AUC_OK;
}

static enum auc_code aonline_chunks(struct auc_stepper_ctx *ctx, uint64_t id,
				    const struct auc_chunk **chunks, unsigned *n,
				    struct auc_err *err)
{
	const struct aon_job *j = aon_find(ctx, id);
	const struct aon_chunk *c;
	size_t nspans = 0;
	unsigned i, k;

	if (!j)
		return auc_err_set(err, AUC_ENOENT, "job %llu: not at hand",
				   (unsigned long long)id);
	for (c = j->chunks; c < j->chunks + j->n; c++)
		nspans += c->nruns;
	free(ctx->seen);
	free(ctx->spans);
	ctx->seen = calloc(j->n, sizeof(*ctx->seen));
	ctx->spans = calloc(nspans + 1, sizeof(*ctx->spans));
	if (!ctx->seen || !ctx->spans)
		return auc_err_set(err, AUC_ENOMEM, "no memory for %u chunks", j->n);
	nspans = 0;
	for (i = 0; i < j->n; i++) {
		c = &j->chunks[i];
		ctx->seen[i] = (struct auc_chunk){
			.server = c->server,
			.worker = c->worker,
			.preemptions = c->preemptions,
			.nruns = c->nruns,
			.runs = &ctx->spans[nspans],
		};
		for (k = 0; k + 1 < c->nruns; k++)
			ctx->spans[nspans++] = c->before[k];
		if (c->nruns)
			ctx->spans[nspans++] = c->run;
	}
	*chunks = ctx->seen;
	*n = j->n;
	return AUC_OK;
}
