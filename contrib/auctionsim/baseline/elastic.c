/*
 * elastic.c - the baselines of OASiS (INFOCOM 2018, section V-A), which decide slot by slot, in its
 * model: W worker-slots of work, at most one worker a chunk, ceil(workers * b / B) PSs. Workers and
 * PSs are placed round robin. The paper describes each in a sentence; what it leaves open is
 * settled here.
 *
 * - oasis-fifo: jobs run in the order of arrival with a fixed number of workers ("workers" of the
 *   job, else one a chunk) until they are done; none starts before its predecessor.
 * - oasis-drf: whenever a job comes or goes all jobs get workers anew, one at a time, the job with
 *   the least dominant share first.
 * - rrh (risk-reward): a job is admitted if its value at the completion that the jobs of more value
 *   per share of the cluster leave it, less what it costs the others by delay, is positive. Every
 *   slot those with most value per share left run, with their fixed number of workers; the others
 *   pause.
 * - dorm: when a job comes or goes, newcomers and at most a fifth of the running jobs, those
 * farthest above the fair share of oasis-drf, get workers anew: first up to the fair share, then,
 * for utilisation, whatever still fits, the largest first. Dorm itself solves an integer program
 *   there: contrib/auctionsim/optimum/dorm.c, for what is small enough; tests/bench/oasis.md
 * compares them.
 *
 * Options: none.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "auctionsim/baseline/elastic.h"
#include "policy/option.h"

static enum auc_code make(enum elastic_kind kind, const char *name, const char *options,
			  struct auc_stepper_ctx **ctx, struct auc_err *err);
static void elastic_destroy(struct auc_stepper_ctx *ctx);
static enum auc_code elastic_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				    uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				    struct auc_err *err);
static enum auc_code elastic_step(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				  auc_slot t, const struct auc_layout **layouts, unsigned *n,
				  struct auc_err *err);
static enum auc_code elastic_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err);
static void step_fifo(struct auc_stepper_ctx *ctx, auc_slot t);
static void step_rrh(struct auc_stepper_ctx *ctx, auc_slot t);
static void choose_adjusted(struct auc_stepper_ctx *ctx);
static bool admit(const struct auc_stepper_ctx *ctx, const struct elastic_job *j);
static void set_up_types(struct elastic_job *j, const struct auc_market *m,
			 const struct auc_job *job);
static int64_t pss(const struct elastic_job *j, int64_t n);
static double density(const struct elastic_job *j, auc_slot t);
static bool add_worker(struct auc_stepper_ctx *ctx, struct elastic_job *j, auc_slot t);
static bool add_one(struct auc_stepper_ctx *ctx, struct elastic_job *j, auc_slot t, bool ps);
static bool place(struct auc_stepper_ctx *ctx, struct elastic_job *j, auc_slot t);
static void drop_layout(struct auc_stepper_ctx *ctx, struct elastic_job *j);
static void free_job(struct elastic_job *j);
static void drop_done(struct auc_stepper_ctx *ctx);

static enum auc_code fifo_create(const char *options, struct auc_stepper_ctx **ctx,
				 struct auc_err *err)
{
	return make(ELASTIC_FIFO, "oasis-fifo", options, ctx, err);
}

static enum auc_code drf_create(const char *options, struct auc_stepper_ctx **ctx,
				struct auc_err *err)
{
	return make(ELASTIC_DRF, "oasis-drf", options, ctx, err);
}

static enum auc_code rrh_create(const char *options, struct auc_stepper_ctx **ctx,
				struct auc_err *err)
{
	return make(ELASTIC_RRH, "rrh", options, ctx, err);
}

static enum auc_code dorm_create(const char *options, struct auc_stepper_ctx **ctx,
				 struct auc_err *err)
{
	return make(ELASTIC_DORM, "dorm", options, ctx, err);
}

#define STEPPER(word, text, function)                                                              \
	{                                                                                          \
		.name = word, .summary = text, .create = function, .destroy = elastic_destroy,     \
		.arrive = elastic_arrive, .step = elastic_step, .leave = elastic_leave,            \
	}

const struct auc_stepper sim_stepper_oasis_fifo = STEPPER(
	"oasis-fifo", "baseline of oasis: in the order of arrival, fixed workers", fifo_create);
const struct auc_stepper sim_stepper_oasis_drf = STEPPER(
	"oasis-drf", "baseline of oasis: dominant resource fairness among all jobs", drf_create);
const struct auc_stepper sim_stepper_rrh =
	STEPPER("rrh", "baseline of oasis: risk against reward, jobs pause", rrh_create);
const struct auc_stepper sim_stepper_dorm =
	STEPPER("dorm", "baseline of oasis: utilisation, fairness, few changes", dorm_create);

static enum auc_code make(enum elastic_kind kind, const char *name, const char *options,
			  struct auc_stepper_ctx **ctx, struct auc_err *err)
{
	enum auc_code rc = auc_options_read(name, options, NULL, 0, NULL, err);

	*ctx = NULL;
	if (rc != AUC_OK)
		return rc;
	*ctx = calloc(1, sizeof(**ctx));
	if (!*ctx)
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy %s", name);
	(*ctx)->kind = kind;
	return AUC_OK;
}

static void elastic_destroy(struct auc_stepper_ctx *ctx)
{
	unsigned i;

	if (!ctx)
		return;
	for (i = 0; i < ctx->n; i++)
		free_job(ctx->jobs[i]);
	free(ctx->jobs);
	free(ctx->layouts);
	auc_free_room_clear(&ctx->room);
	free(ctx);
}

static enum auc_code elastic_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				    uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				    struct auc_err *err)
{
	struct auc_layout *layouts;
	struct elastic_job *j = calloc(1, sizeof(*j)), **jobs;
	unsigned more = ctx->alloc * 2 + 16;
	enum auc_code rc;

	drop_done(ctx);
	*reason = AUC_REASON_CAPACITY;
	if (ctx->n == ctx->alloc) {
		jobs = realloc(ctx->jobs, more * sizeof(*jobs));
		ctx->jobs = jobs ? jobs : ctx->jobs;
		layouts = realloc(ctx->layouts, more * sizeof(*layouts));
		ctx->layouts = layouts ? layouts : ctx->layouts;
		ctx->alloc = jobs && layouts ? more : ctx->alloc;
	}
	if (j) {
		j->upload = malloc((m->nservers + 1) * sizeof(*j->upload));
		j->shares = malloc((m->nservers + 1) * sizeof(*j->shares));
	}
	if (!j || !j->upload || !j->shares || ctx->n == ctx->alloc) {
		free_job(j);
		return auc_err_set(err, AUC_ENOMEM, "no memory for a job");
	}
	j->id = id;
	j->number = ctx->arrived++;
	j->arrival = job->arrival;
	j->utility = job->utility;
	j->chunks = job->chunks < AUC_FIT_MAX ? (int64_t)job->chunks : AUC_FIT_MAX;
	memcpy(j->upload, job->upload, m->nservers * sizeof(*j->upload));
	set_up_types(j, m, job);
	/* It must run on an empty cluster, once all of its data are there. */
	rc = auc_free_room_open_empty(&ctx->room, m, err);
	while (rc == AUC_OK && j->left != INT64_MAX && pss(j, 1) == 1 && j->n < j->fixed &&
	       add_worker(ctx, j, INT64_MAX))
		*reason = AUC_REASON_NONE;
	j->fixed = j->n;
	drop_layout(ctx, j);
	if (*reason == AUC_REASON_NONE && ctx->kind == ELASTIC_RRH && !admit(ctx, j))
		*reason = AUC_REASON_CAPACITY;
	if (rc != AUC_OK || *reason != AUC_REASON_NONE) {
		free_job(j);
		return rc;
	}
	ctx->jobs[ctx->n++] = j;
	ctx->changed = true;
	return AUC_OK;
}

static enum auc_code elastic_step(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				  auc_slot t, const struct auc_layout **layouts, unsigned *n,
				  struct auc_err *err)
{
	enum auc_code rc;
	struct elastic_job *j;
	unsigned i;

	*n = 0;
	*layouts = ctx->layouts;
	drop_done(ctx);
	rc = auc_free_room_open(&ctx->room, m, t, err);
	if (rc != AUC_OK)
		return rc;
	if (ctx->kind == ELASTIC_FIFO)
		step_fifo(ctx, t);
	else if (ctx->kind == ELASTIC_RRH)
		step_rrh(ctx, t);
	else if (ctx->instead)
		rc = ctx->instead(ctx, t, err);
	else
		elastic_fair(ctx, t);
	if (rc != AUC_OK)
		return rc;
	ctx->changed = false;
	for (i = 0; i < ctx->n; i++) {
		j = ctx->jobs[i];
		if (!j->n)
			continue;
		j->done = j->left <= j->n;
		j->left -= j->n;
		ctx->layouts[(*n)++] = (struct auc_layout){
			.id = j->id,
			.worker_type = j->worker_type,
			.ps_type = j->ps_type,
			.last = j->done,
			.nshares = j->nshares,
			.shares = j->shares,
		};
	}
	return AUC_OK;
}

static enum auc_code elastic_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err)
{
	unsigned i;

	drop_done(ctx);
	for (i = 0; i < ctx->n; i++)
		if (ctx->jobs[i]->id == id) {
			ctx->jobs[i]->done = true;
			drop_done(ctx);
			return AUC_OK;
		}
	return auc_err_set(err, AUC_ENOENT, "job %llu: not at hand", (unsigned long long)id);
}

static void step_fifo(struct auc_stepper_ctx *ctx, auc_slot t)
{
	bool blocked = false;
	struct elastic_job *j;
	unsigned i;

	/* those that run first, for one that waits must not take their place */
	for (i = 0; i < ctx->n; i++)
		if (ctx->jobs[i]->n)
			elastic_hold(ctx, ctx->jobs[i]);
	for (i = 0; i < ctx->n && !blocked; i++) {
		j = ctx->jobs[i];
		blocked = !j->n && !place(ctx, j, t);
	}
}

void elastic_fair(struct auc_stepper_ctx *ctx, auc_slot t)
{
	struct elastic_job *j, *least;
	bool fair;
	unsigned i;

	for (i = 0; i < ctx->n; i++)
		ctx->jobs[i]->again =
			!ctx->jobs[i]->n || (ctx->changed && ctx->kind == ELASTIC_DRF);
	if (ctx->changed && ctx->kind == ELASTIC_DORM)
		choose_adjusted(ctx);
	for (i = 0; i < ctx->n; i++) {
		j = ctx->jobs[i];
		if (j->again)
			j->n = j->nshares = 0;
		else
			j->again = !elastic_hold(ctx, j);
	}
	/* rank: workers' dominant share so far; a job to which nothing can be added is out */
	for (i = 0; i < ctx->n; i++)
		ctx->jobs[i]->rank = ctx->jobs[i]->again ? 0 : INFINITY;
	for (;;) {
		least = NULL;
		for (i = 0; i < ctx->n; i++) {
			j = ctx->jobs[i];
			/* dorm, beyond the fair share: the largest worker first */
			fair = ctx->kind == ELASTIC_DRF || j->rank < 1.0 / ctx->n;
			if (isinf(j->rank))
				continue;
			if (!least ||
			    (fair ? j->rank < least->rank
				  : least->rank >= 1.0 / ctx->n && j->share > least->share))
				least = j;
		}
		if (!least)
			return;
		if (least->n < least->chunks && least->n < least->left && add_worker(ctx, least, t))
			least->rank = (double)least->n * least->share;
		else
			least->rank = INFINITY;
	}
}

/* Of dorm's running jobs those that have most beyond the fair share. */
static void choose_adjusted(struct auc_stepper_ctx *ctx)
{
	unsigned i, running = 0;
	int64_t open;
	struct elastic_job *most;

	for (i = 0; i < ctx->n; i++)
		running += ctx->jobs[i]->n > 0;
	for (open = auc_ceil(DORM_CHANGED * running); open > 0; open--) {
		most = NULL;
		for (i = 0; i < ctx->n; i++)
			if (!ctx->jobs[i]->again &&
			    (!most || (double)ctx->jobs[i]->n * ctx->jobs[i]->share >
					      (double)most->n * most->share))
				most = ctx->jobs[i];
		if (!most)
			return;
		most->again = true;
	}
}

static int compare_rank(const void *a, const void *b)
{
	const struct elastic_job *x = *(struct elastic_job *const *)a,
				 *y = *(struct elastic_job *const *)b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void step_rrh(struct auc_stepper_ctx *ctx, auc_slot t)
{
	unsigned i;

	for (i = 0; i < ctx->n; i++)
		ctx->jobs[i]->rank = density(ctx->jobs[i], t);
	if (ctx->n)
		qsort(ctx->jobs, ctx->n, sizeof(struct elastic_job *), compare_rank);
	for (i = 0; i < ctx->n; i++)
		if (!ctx->jobs[i]->n || !elastic_hold(ctx, ctx->jobs[i]))
			place(ctx, ctx->jobs[i], t);
}

/* J's value when those before it have had the cluster, less what its work takes from those after
 * it. */
static bool admit(const struct auc_stepper_ctx *ctx, const struct elastic_job *j)
{
	double own = density(j, j->arrival), wait = 0, cost = 0, end;
	const struct elastic_job *k;
	unsigned i;

	for (i = 0; i < ctx->n; i++) {
		k = ctx->jobs[i];
		if (density(k, j->arrival) >= own) {
			wait += (double)k->left * k->share;
			continue;
		}
		end = (double)(j->arrival + auc_job_duration((double)k->left, k->fixed) -
			       k->arrival);
		cost += auc_utility_value(&k->utility, end) -
			auc_utility_value(&k->utility, end + (double)j->left * j->share);
	}
	end = wait + (double)auc_job_duration((double)j->left, j->fixed);
	return auc_utility_value(&j->utility, end) > cost;
}

/* The pair of types with least work; of a type's bandwidth b the part of a PS that one worker needs
 * is b / B. */
static void set_up_types(struct elastic_job *j, const struct auc_market *m,
			 const struct auc_job *job)
{
	double all[2][AUC_TRES_MAX] = {{0}};
	int64_t work;
	unsigned w, p, s, k;

	j->left = INT64_MAX;
	for (w = 0; w < m->nworker_types; w++)
		for (p = 0; p < m->nps_types; p++) {
			if (job->worker_seconds[w] < 0 || job->ps_seconds[p] < 0 ||
			    auc_job_ps(m, w, p, 1) > 1)
				continue;
			work = auc_job_worker_slots(m, job, w);
			if (work >= j->left)
				continue;
			j->left = work;
			j->worker_type = w;
			j->ps_type = p;
		}
	j->worker = m->types[j->worker_type];
	j->ps = m->types[auc_ps_index(m, j->ps_type)];
	j->fixed = job->workers && job->workers < job->chunks ? (int64_t)job->workers : j->chunks;
	j->fixed = j->fixed < j->left ? j->fixed : j->left;
	for (s = 0; s < m->nservers; s++)
		for (k = 0; k < m->ntres; k++) {
			all[0][k] +=
				m->servers[s].roles & AUC_ROLE_WORKER ? m->servers[s].amount[k] : 0;
			all[1][k] +=
				m->servers[s].roles & AUC_ROLE_PS ? m->servers[s].amount[k] : 0;
		}
	for (k = 0; k < m->ntres; k++) {
		if (j->worker.amount[k] > 0)
			j->share = fmax(j->share, j->worker.amount[k] / all[0][k]);
		if (j->ps.amount[k] > 0)
			j->share = fmax(j->share, j->worker.bandwidth / j->ps.bandwidth *
							  j->ps.amount[k] / all[1][k]);
	}
}

static int64_t pss(const struct elastic_job *j, int64_t n)
{
	return auc_ceil(j->worker.bandwidth * (double)n / j->ps.bandwidth);
}

/* Value for the share of the cluster that is left to do, if it ran from slot T on. */
static double density(const struct elastic_job *j, auc_slot t)
{
	double end = (double)(t + auc_job_duration((double)j->left, j->fixed) - j->arrival);

	return auc_utility_value(&j->utility, end) / ((double)j->left * j->share);
}

/* One worker more, and a PS if it needs one. */
static bool add_worker(struct auc_stepper_ctx *ctx, struct elastic_job *j, auc_slot t)
{
	unsigned before = ctx->next, server;

	if (!add_one(ctx, j, t, false))
		return false;
	if (pss(j, j->n + 1) == pss(j, j->n) || add_one(ctx, j, t, true)) {
		j->n++;
		return true;
	}
	/* the worker goes again; the round stands right after it */
	server = (ctx->next + ctx->room.m->nservers - 1) % ctx->room.m->nservers;
	ctx->next = before;
	auc_free_room_give(&ctx->room, server, &j->worker, 1);
	for (unsigned i = 0; i < j->nshares; i++) {
		if (j->shares[i].server != server)
			continue;
		j->shares[i].workers--;
		if (!j->shares[i].workers && !j->shares[i].ps) {
			memmove(&j->shares[i], &j->shares[i + 1],
				(j->nshares - i - 1) * sizeof(*j->shares));
			j->nshares--;
		}
		break;
	}
	return false;
}

/* On the next server of the round that has room and the job's data. T INT64_MAX: these are
 * everywhere. */
static bool add_one(struct auc_stepper_ctx *ctx, struct elastic_job *j, auc_slot t, bool ps)
{
	const struct auc_bundle *type = ps ? &j->ps : &j->worker;
	unsigned n = ctx->room.m->nservers, i, s, at, *next = ps ? &ctx->next_ps : &ctx->next;

	for (i = 0; i < n; i++) {
		s = (*next + i) % n;
		if ((t != INT64_MAX && t - j->arrival < (auc_slot)j->upload[s]) ||
		    !auc_free_room_fit(&ctx->room, s, type))
			continue;
		auc_free_room_take(&ctx->room, s, type, 1);
		*next = (s + 1) % n;
		for (at = j->nshares; at && j->shares[at - 1].server > s; at--)
			;
		if (!at || j->shares[at - 1].server != s) {
			memmove(&j->shares[at + 1], &j->shares[at],
				(j->nshares++ - at) * sizeof(*j->shares));
			j->shares[at++] = (struct auc_share){.server = s};
		}
		j->shares[at - 1].workers += !ps;
		j->shares[at - 1].ps += ps;
		return true;
	}
	return false;
}

/* With its fixed number of workers, or not at all. */
static bool place(struct auc_stepper_ctx *ctx, struct elastic_job *j, auc_slot t)
{
	j->n = j->nshares = 0;
	while (j->n < j->fixed && add_worker(ctx, j, t))
		;
	if (j->n == j->fixed)
		return true;
	drop_layout(ctx, j);
	return false;
}

bool elastic_hold(struct auc_stepper_ctx *ctx, struct elastic_job *j)
{
	struct auc_share *s;

	for (s = j->shares; s < j->shares + j->nshares; s++) {
		if (auc_free_room_fit(&ctx->room, s->server, &j->worker) < s->workers)
			break;
		auc_free_room_take(&ctx->room, s->server, &j->worker, s->workers);
		if (auc_free_room_fit(&ctx->room, s->server, &j->ps) < s->ps) {
			auc_free_room_give(&ctx->room, s->server, &j->worker, s->workers);
			break;
		}
		auc_free_room_take(&ctx->room, s->server, &j->ps, s->ps);
	}
	if (s == j->shares + j->nshares)
		return true;
	j->nshares = (unsigned)(s - j->shares);
	drop_layout(ctx, j);
	return false;
}

static void drop_layout(struct auc_stepper_ctx *ctx, struct elastic_job *j)
{
	const struct auc_share *s;

	for (s = j->shares; s < j->shares + j->nshares; s++) {
		auc_free_room_give(&ctx->room, s->server, &j->worker, s->workers);
		auc_free_room_give(&ctx->room, s->server, &j->ps, s->ps);
	}
	j->n = j->nshares = 0;
}

static void free_job(struct elastic_job *j)
{
	if (!j)
		return;
	free(j->upload);
	free(j->shares);
	free(j);
}

static void drop_done(struct auc_stepper_ctx *ctx)
{
	unsigned i, n = 0;

	for (i = 0; i < ctx->n; i++)
		if (!ctx->jobs[i]->done)
			ctx->jobs[n++] = ctx->jobs[i];
		else
			free_job(ctx->jobs[i]);
	ctx->changed = ctx->changed || n < ctx->n;
	ctx->n = n;
}
