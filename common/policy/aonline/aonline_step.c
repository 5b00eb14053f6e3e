/*
 * aonline_step.c - see aonline-private.h: what runs in a slot. Every worker's first chunk whose
 * data are there is a candidate. Jobs take what they need in the order in which they go first:
 * workers, then a PS (Algorithm 5) - the one that they had if they ran in the slot before, else the
 * first free one, at the edge before the cloud. Where there is none, it is taken from the last job
 * that keeps one, or one of its own workers gives way; a job without a PS pauses, and its workers
 * train what comes next.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "policy/aonline/aonline-private.h"

#define NOWHERE UINT_MAX

/* A slot. */
struct slot {
	struct auc_stepper_ctx *ctx;
	auc_slot t;
	unsigned nlayouts;
};

static void free_workers(struct auc_stepper_ctx *ctx);
static void find_candidates(struct slot *s);
static bool find_head(const struct slot *s, struct aon_worker *w, unsigned from);
static bool cloud_ready(const struct slot *s, const struct aon_job *j);
static void keep_held(struct slot *s, struct aon_job *j);
static enum auc_code run_job(struct slot *s, unsigned place, struct auc_err *err);
static unsigned take_workers(struct slot *s, struct aon_job *j);
static void pause_job(struct slot *s, struct aon_job *j, unsigned in_cloud);
static bool take_ps(struct slot *s, unsigned place);
static bool take_ps_for_worker(struct slot *s, struct aon_job *j, unsigned *in_cloud);
static bool put_ps(struct slot *s, struct aon_job *j, unsigned server);
static unsigned free_ps(const struct slot *s, const struct aon_job *j);
static bool may_hold_ps(const struct slot *s, const struct aon_job *j, unsigned server);
static enum auc_code train_edge(struct slot *s, struct aon_job *j, struct auc_err *err);
static enum auc_code train_cloud(struct slot *s, struct aon_job *j, unsigned n,
				 struct auc_err *err);
static enum auc_code train(struct slot *s, struct aon_job *j, struct aon_chunk *c,
			   struct auc_err *err);
static enum auc_code take_cloud_worker(struct aon_job *j, struct aon_chunk *c, struct auc_err *err);
static enum auc_code add_layout(struct slot *s, struct aon_job *j, unsigned in_cloud,
				struct auc_err *err);
static void count_preempted(struct slot *s);

enum auc_code aon_step(struct auc_stepper_ctx *ctx, const struct auc_market *m, auc_slot t,
		       const struct auc_layout **layouts, unsigned *n, struct auc_err *err)
{
	struct slot s = {.ctx = ctx, .t = t};
	enum auc_code rc;
	unsigned i, share = 0;

	*n = 0;
	*layouts = ctx->layouts;
	aon_drop_done(ctx);
	rc = auc_free_room_open(&ctx->room, m, t, err);
	if (rc != AUC_OK)
		return rc;
	ctx->nshares = 0;
	free_workers(ctx);
	find_candidates(&s);
	for (i = 0; i < ctx->n; i++)
		keep_held(&s, ctx->jobs[i]);
	for (i = 0; i < ctx->n && rc == AUC_OK; i++)
		rc = run_job(&s, i, err);
	if (rc != AUC_OK)
		return rc;
	count_preempted(&s);
	for (i = 0; i < s.nlayouts; i++) {
		ctx->layouts[i].shares = ctx->shares + share;
		share += ctx->layouts[i].nshares;
	}
	*n = s.nlayouts;
	return AUC_OK;
}

void aon_free_worker(const struct aon_job *j, const struct aon_chunk *c)
{
	if (c->nruns)
		j->cloud->ended[c->worker / 64] |= UINT64_C(1) << c->worker % 64;
}

/* Those of the cloud whose chunks ended in the slot before. */
static void free_workers(struct auc_stepper_ctx *ctx)
{
	struct aon_pool *pool;
	unsigned i, k;

	for (i = 0; i < ctx->nkinds; i++)
		for (pool = ctx->kinds[i]->pools;
		     pool < ctx->kinds[i]->pools + ctx->kinds[i]->npools; pool++)
			for (k = 0; k < pool->words; k++) {
				pool->used[k] &= ~pool->ended[k];
				pool->ended[k] = 0;
			}
}

static void find_candidates(struct slot *s)
{
	struct aon_kind *kind;
	struct aon_worker *w;
	unsigned i;

	for (i = 0; i < s->ctx->n; i++)
		s->ctx->jobs[i]->candidates = NULL;
	for (i = 0; i < s->ctx->nkinds; i++) {
		kind = s->ctx->kinds[i];
		/* A job's list is built from behind, to be in the order of servers. */
		for (w = kind->workers + kind->n; w-- > kind->workers;)
			if (w->n)
				find_head(s, w, 0);
	}
}

/* The first entry from FROM on whose data are there: its job may use W. */
static bool find_head(const struct slot *s, struct aon_worker *w, unsigned from)
{
	struct aon_job *j;

	for (w->head = from; w->head < w->n; w->head++) {
		if (w->queue[w->head].ready > s->t)
			continue;
		j = w->queue[w->head].job;
		w->next = j->candidates;
		j->candidates = w;
		return true;
	}
	return false;
}

static bool cloud_ready(const struct slot *s, const struct aon_job *j)
{
	return j->cloud_undone && s->t - j->arrival >= (auc_slot)j->upload[j->cloud->server];
}

/* Nobody takes the PS of a job that ran, nor the cloud's workers that train its chunks. */
static void keep_held(struct slot *s, struct aon_job *j)
{
	struct auc_free_room *room = &s->ctx->room;
	unsigned i, fit;

	j->ps_held = false;
	j->cloud_held = 0;
	if (j->ran != s->t - 1 || (!j->candidates && !cloud_ready(s, j)))
		return;
	if (auc_free_room_fit(room, j->ps_server, j->ps) > 0) {
		auc_free_room_take(room, j->ps_server, j->ps, 1);
		j->ps_held = true;
	}
	if (!j->cloud_undone)
		return;
	for (i = j->first_cloud; i < j->n; i++)
		j->cloud_held += j->chunks[i].left > 0 && j->chunks[i].nruns > 0 &&
				 j->chunks[i].run.to == s->t - 1;
	fit = auc_free_room_fit(room, j->cloud->server, &j->kind->bundle);
	if (j->cloud_held > fit)
		j->cloud_held = fit;
	auc_free_room_take(room, j->cloud->server, &j->kind->bundle, j->cloud_held);
}

static enum auc_code run_job(struct slot *s, unsigned place, struct auc_err *err)
{
	struct aon_job *j = s->ctx->jobs[place];
	enum auc_code rc;
	unsigned in_cloud;

	if (!j->candidates && !cloud_ready(s, j))
		return AUC_OK;
	in_cloud = take_workers(s, j);
	if ((!j->candidates && !in_cloud) ||
	    (!take_ps(s, place) && !take_ps_for_worker(s, j, &in_cloud))) {
		pause_job(s, j, in_cloud);
		return AUC_OK;
	}
	rc = add_layout(s, j, in_cloud, err);
	if (rc == AUC_OK)
		rc = train_edge(s, j, err);
	if (rc == AUC_OK && in_cloud)
		rc = train_cloud(s, j, in_cloud, err);
	j->ran = s->t;
	if (!j->undone) {
		s->ctx->done[s->ctx->ndone++] = place;
		s->ctx->layouts[s->nlayouts - 1].last = true;
	}
	return rc;
}

/* Candidates that there is room for, the others are left out; returns the workers in the cloud. */
static unsigned take_workers(struct slot *s, struct aon_job *j)
{
	const struct auc_bundle *type = &j->kind->bundle;
	struct auc_free_room *room = &s->ctx->room;
	struct aon_worker **link = &j->candidates, *w;
	unsigned fit, more;

	while ((w = *link)) {
		if (auc_free_room_fit(room, w->server, type)) {
			auc_free_room_take(room, w->server, type, 1);
			link = &w->next;
		} else {
			*link = w->next;
		}
	}
	if (!cloud_ready(s, j))
		return 0;
	fit = auc_free_room_fit(room, j->cloud->server, type);
	more = j->cloud_undone - j->cloud_held;
	if (more > fit)
		more = fit;
	auc_free_room_take(room, j->cloud->server, type, more);
	return j->cloud_held + more;
}

/* Gives back what it took; its workers are for the next in their queues. */
static void pause_job(struct slot *s, struct aon_job *j, unsigned in_cloud)
{
	struct auc_free_room *room = &s->ctx->room;
	struct aon_worker *w, *next;

	for (w = j->candidates; w; w = next) {
		next = w->next;
		auc_free_room_give(room, w->server, &j->kind->bundle, 1);
		find_head(s, w, w->head + 1);
	}
	j->candidates = NULL;
	if (in_cloud)
		auc_free_room_give(room, j->cloud->server, &j->kind->bundle, in_cloud);
	if (j->ps_held)
		auc_free_room_give(room, j->ps_server, j->ps, 1);
	j->ps_held = false;
}

static bool take_ps(struct slot *s, unsigned place)
{
	struct auc_free_room *room = &s->ctx->room;
	struct aon_job *j = s->ctx->jobs[place], *last;
	unsigned server, i;

	if (j->ps_held)
		return true;
	server = free_ps(s, j);
	for (i = s->ctx->n; server == NOWHERE && i-- > place + 1;) {
		last = s->ctx->jobs[i];
		if (!last->ps_held || !may_hold_ps(s, j, last->ps_server))
			continue;
		auc_free_room_give(room, last->ps_server, last->ps, 1);
		last->ps_held = false;
		if (auc_free_room_fit(room, last->ps_server, j->ps)) {
			server = last->ps_server;
		} else {
			auc_free_room_take(room, last->ps_server, last->ps, 1);
			last->ps_held = true;
		}
	}
	return server != NOWHERE && put_ps(s, j, server);
}

/*
 * Where workers and PSs share a resource, its own workers may be what is in the way: one of several
 * gives its place up.
 */
static bool take_ps_for_worker(struct slot *s, struct aon_job *j, unsigned *in_cloud)
{
	const struct auc_bundle *type = &j->kind->bundle;
	struct auc_free_room *room = &s->ctx->room;
	struct aon_worker **link, *w;

	if (*in_cloud + (j->candidates ? 1 + (j->candidates->next != NULL) : 0) < 2)
		return false;
	for (link = &j->candidates; (w = *link); link = &w->next) {
		if (!may_hold_ps(s, j, w->server))
			continue;
		auc_free_room_give(room, w->server, type, 1);
		if (put_ps(s, j, w->server)) {
			*link = w->next;
			find_head(s, w, w->head + 1);
			return true;
		}
		auc_free_room_take(room, w->server, type, 1);
	}
	if (!*in_cloud || !may_hold_ps(s, j, j->cloud->server))
		return false;
	auc_free_room_give(room, j->cloud->server, type, 1);
	if (put_ps(s, j, j->cloud->server)) {
		--*in_cloud;
		if (j->cloud_held > *in_cloud)
			j->cloud_held = *in_cloud;
		return true;
	}
	auc_free_room_take(room, j->cloud->server, type, 1);
	return false;
}

static bool put_ps(struct slot *s, struct aon_job *j, unsigned server)
{
	struct auc_free_room *room = &s->ctx->room;

	if (!auc_free_room_fit(room, server, j->ps))
		return false;
	auc_free_room_take(room, server, j->ps, 1);
	j->ps_server = server;
	return true;
}

/* The first server with room for a PS, those at the edge first. */
static unsigned free_ps(const struct slot *s, const struct aon_job *j)
{
	const struct auc_market *m = s->ctx->room.m;
	unsigned server, cloud;

	for (cloud = 0; cloud < 2; cloud++)
		for (server = 0; server < m->nservers; server++)
			if (m->servers[server].cloud == (cloud == 1) && may_hold_ps(s, j, server) &&
			    auc_free_room_fit(&s->ctx->room, server, j->ps) > 0)
				return server;
	return NOWHERE;
}

static bool may_hold_ps(const struct slot *s, const struct aon_job *j, unsigned server)
{
	if (j->colocated)
		return server == j->cloud->server;
	if (s->ctx->site == AON_EDGE && s->ctx->room.m->servers[server].cloud)
		return false;
	return j->upload[server] != UINT_MAX && s->t - j->arrival >= (auc_slot)j->upload[server];
}

static enum auc_code train_edge(struct slot *s, struct aon_job *j, struct auc_err *err)
{
	struct aon_entry *e;
	struct aon_worker *w;
	struct aon_chunk *c;
	enum auc_code rc = AUC_OK;

	for (w = j->candidates; w && rc == AUC_OK; w = w->next) {
		e = &w->queue[w->head];
		c = &j->chunks[e->chunk];
		if (w->ran && (w->ran != j || w->ran_chunk != e->chunk)) {
			w->ran->chunks[w->ran_chunk].preemptions++;
			w->ran = NULL;
		}
		rc = train(s, j, c, err);
		w->ran = j;
		w->ran_chunk = e->chunk;
		e->left--;
		if (c->left) {
			aon_queue_trained(j->kind, w);
			continue;
		}
		w->ran = NULL;
		e->chunk = c->next;
		aon_queue_count(e, e->chunks - 1);
		if (e->left)
			aon_queue_changed(j->kind, w);
		else
			aon_queue_remove(j->kind, w, w->head);
	}
	return rc;
}

/* N of its chunks in the cloud: first those that ran in the slot before. */
static enum auc_code train_cloud(struct slot *s, struct aon_job *j, unsigned n, struct auc_err *err)
{
	unsigned held = j->cloud_held, more = n - held, i;
	enum auc_code rc = AUC_OK;
	struct aon_chunk *c;

	for (i = j->first_cloud; i < j->n && rc == AUC_OK; i++) {
		c = &j->chunks[i];
		if (!c->left)
			continue;
		if (c->nruns && c->run.to == s->t - 1 && held) {
			held--;
		} else if (more && (!c->nruns || c->run.to < s->t - 1)) {
			more--;
			if (!c->nruns)
				rc = take_cloud_worker(j, c, err);
		} else {
			continue;
		}
		if (rc == AUC_OK)
			rc = train(s, j, c, err);
		if (!c->left) {
			j->cloud_undone--;
			aon_free_worker(j, c);
		}
	}
	return rc;
}

/* A slot of chunk C. */
static enum auc_code train(struct slot *s, struct aon_job *j, struct aon_chunk *c,
			   struct auc_err *err)
{
	unsigned alloc = c->alloc * 2 + 2;
	struct auc_span *grown;

	c->left--;
	j->undone -= !c->left;
	if (c->nruns && c->run.to == s->t - 1) {
		c->run.to = s->t;
		return AUC_OK;
	}
	if (c->nruns > c->alloc) {
		grown = realloc(c->before, alloc * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "no memory for what a chunk did");
		c->before = grown;
		c->alloc = alloc;
		j->stopped = true;
	}
	if (c->nruns)
		c->before[c->nruns - 1] = c->run;
	c->nruns++;
	c->run = (struct auc_span){s->t, s->t};
	return AUC_OK;
}

/* The first that is free. */
static enum auc_code take_cloud_worker(struct aon_job *j, struct aon_chunk *c, struct auc_err *err)
{
	struct aon_pool *pool = j->cloud;
	enum auc_code rc;
	unsigned i;

	for (i = 0; i < pool->words && !~pool->used[i]; i++)
		;
	rc = aon_grow_pool(pool, i * 64, err);
	if (rc != AUC_OK)
		return rc;
	c->worker = i * 64 + (unsigned)__builtin_ctzll(~pool->used[i]);
	pool->used[i] |= UINT64_C(1) << c->worker % 64;
	return AUC_OK;
}

enum auc_code aon_grow_pool(struct aon_pool *pool, unsigned n, struct auc_err *err)
{
	unsigned words = pool->words * 2 + 1;
	uint64_t *used, *ended;

	if (n / 64 < pool->words)
		return AUC_OK;
	if (words <= n / 64)
		words = n / 64 + 1;
	used = realloc(pool->used, words * sizeof(*used));
	if (used)
		pool->used = used;
	ended = realloc(pool->ended, words * sizeof(*ended));
	if (ended)
		pool->ended = ended;
	if (!used || !ended)
		return auc_err_set(err, AUC_ENOMEM, "no memory for workers in the cloud");
	memset(used + pool->words, 0, (words - pool->words) * sizeof(*used));
	memset(ended + pool->words, 0, (words - pool->words) * sizeof(*ended));
	pool->words = words;
	return AUC_OK;
}

/* What J takes, by server; its candidates are in the order of servers, but for those that another
 * job left. */
static enum auc_code add_layout(struct slot *s, struct aon_job *j, unsigned in_cloud,
				struct auc_err *err)
{
	struct auc_stepper_ctx *ctx = s->ctx;
	unsigned *count = ctx->count, first = ctx->nshares, i, alloc;
	const struct aon_worker *w;
	struct auc_share *grown, moved;

	if (ctx->nshares + ctx->nservers > ctx->shares_alloc) {
		alloc = ctx->shares_alloc * 2 + ctx->nservers;
		grown = realloc(ctx->shares, alloc * sizeof(*grown));
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "no memory for a layout");
		ctx->shares = grown;
		ctx->shares_alloc = alloc;
	}
	for (w = j->candidates; w; w = w->next)
		if (!count[w->server]++)
			ctx->shares[ctx->nshares++].server = w->server;
	if (in_cloud) {
		if (!count[j->cloud->server])
			ctx->shares[ctx->nshares++].server = j->cloud->server;
		count[j->cloud->server] += in_cloud;
	}
	if (!count[j->ps_server])
		ctx->shares[ctx->nshares++].server = j->ps_server;
	for (i = first; i < ctx->nshares; i++) {
		moved = ctx->shares[i];
		moved.workers = count[moved.server];
		moved.ps = moved.server == j->ps_server;
		count[moved.server] = 0;
		for (alloc = i; alloc > first && ctx->shares[alloc - 1].server > moved.server;
		     alloc--)
			ctx->shares[alloc] = ctx->shares[alloc - 1];
		ctx->shares[alloc] = moved;
	}
	ctx->layouts[s->nlayouts++] = (struct auc_layout){
		.id = j->id,
		.worker_type = j->worker_type,
		.ps_type = j->ps_type,
		.colocated = j->colocated,
		.nshares = ctx->nshares - first,
	};
	return AUC_OK;
}

/* Chunks that ran in the slot before, are not done and did not run now. */
static void count_preempted(struct slot *s)
{
	struct aon_kind *kind;
	struct aon_chunk *c;
	struct aon_worker *w;
	struct aon_job *j;
	unsigned i, k;

	for (i = 0; i < s->ctx->nkinds; i++) {
		kind = s->ctx->kinds[i];
		for (w = kind->workers; w < kind->workers + kind->n; w++) {
			if (!w->ran)
				continue;
			c = &w->ran->chunks[w->ran_chunk];
			if (c->run.to == s->t)
				continue;
			c->preemptions++;
			w->ran = NULL;
		}
	}
	for (i = 0; i < s->ctx->n; i++) {
		j = s->ctx->jobs[i];
		for (k = j->first_cloud; j->cloud_undone && k < j->n; k++) {
			c = &j->chunks[k];
			c->preemptions += c->left && c->nruns && c->run.to == s->t - 1;
		}
	}
}
