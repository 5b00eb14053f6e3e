/*
 * dorm.c - see dorm.h. Jobs are those of elastic.c; whenever one comes or goes, or data of one have
 * come, the program decides on all of them, from the layouts of the slot before. What the rule
 * would have made of these is worked out beside it.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/optimum/dorm.h"
#include "auctionsim/optimum/dorm_program.h"
#include "base/num.h"
#include "auctionsim/baseline/elastic.h"
#include "auctionsim/baseline/registry.h"
#include "policy/option.h"

struct dorm {
	double seconds, unfair;
	unsigned found[3];       /* programs, by enum dorm_found */
	unsigned compared;       /* those solved, of some use */
	double sum, least;       /* of them: the rule's use / the program's */
	unsigned unfair_by_rule; /* of them: the rule's layout is none of the program's */
};

/* The program of one slot; arrays by job, and by job and server. */
struct slot {
	struct dorm_program p;
	double total[AUC_TRES_MAX];
	struct dorm_job *jobs;
	bool *on;               /* workers, then PSs */
	unsigned *now, *before; /* workers, then PSs */
};

static enum auc_code decide(struct auc_stepper_ctx *ctx, auc_slot t, struct auc_err *err);
static bool is_due(struct auc_stepper_ctx *ctx, auc_slot t);
static bool make_slot(struct slot *slot, const struct auc_stepper_ctx *ctx);
static void clear_slot(struct slot *slot);
static void describe(struct slot *slot, const struct auc_stepper_ctx *ctx, unsigned i, auc_slot t);
static void read_layouts(struct slot *slot, const struct auc_stepper_ctx *ctx, unsigned *to);
static void write_layouts(const struct slot *slot, struct auc_stepper_ctx *ctx,
			  const unsigned *from);
static void use_layouts(struct slot *slot, unsigned *from);
static void compare(struct dorm *d, struct slot *slot, enum dorm_found found, double rule,
		    bool fair);
static bool keeps_limits(const struct slot *slot);

static enum auc_code dorm_create(const char *options, struct auc_stepper_ctx **ctx,
				 struct auc_err *err)
{
	static const struct auc_option list[] = {
		{.key = "seconds",
		 .type = AUC_OPTION_NUMBER,
		 .min = 0.001,
		 .max = 1e6,
		 .offset = offsetof(struct dorm, seconds)},
		{.key = "unfair",
		 .type = AUC_OPTION_NUMBER,
		 .min = 0,
		 .max = 1,
		 .offset = offsetof(struct dorm, unfair)},
	};
	struct dorm d = {.seconds = 1, .unfair = 0.1, .least = INFINITY}, *kept;
	enum auc_code rc = auc_options_read(dorm_milp.name, options, list, 2, &d, err);

	*ctx = NULL;
#ifndef HAVE_GLPK
	if (rc == AUC_OK)
		rc = auc_err_set(err, AUC_ESTATE,
				 "policy %s needs GLPK, which this program was built without (on "
				 "Debian: libglpk-dev)",
				 dorm_milp.name);
#endif
	if (rc == AUC_OK)
		rc = sim_stepper_dorm.create("", ctx, err);
	if (rc != AUC_OK)
		return rc;
	kept = malloc(sizeof(*kept));
	if (!kept) {
		sim_stepper_dorm.destroy(*ctx);
		*ctx = NULL;
		return auc_err_set(err, AUC_ENOMEM, "no memory for policy %s", dorm_milp.name);
	}
	*kept = d;
	(*ctx)->arg = kept;
	(*ctx)->instead = decide;
	return AUC_OK;
}

static void dorm_destroy(struct auc_stepper_ctx *ctx)
{
	if (ctx)
		free(ctx->arg);
	sim_stepper_dorm.destroy(ctx);
}

static enum auc_code dorm_arrive(struct auc_stepper_ctx *ctx, const struct auc_market *m,
				 uint64_t id, const struct auc_job *job, enum auc_reason *reason,
				 struct auc_err *err)
{
	return sim_stepper_dorm.arrive(ctx, m, id, job, reason, err);
}

static enum auc_code dorm_step(struct auc_stepper_ctx *ctx, const struct auc_market *m, auc_slot t,
			       const struct auc_layout **layouts, unsigned *n, struct auc_err *err)
{
	return sim_stepper_dorm.step(ctx, m, t, layouts, n, err);
}

static enum auc_code dorm_leave(struct auc_stepper_ctx *ctx, uint64_t id, struct auc_err *err)
{
	return sim_stepper_dorm.leave(ctx, id, err);
}

static char *dorm_remark(const struct auc_stepper_ctx *ctx)
{
	const struct dorm *d = ctx->arg;
	char *text;

	if (asprintf(&text,
		     "%s: %u programs solved, %u cut short with the best so far, %u without one "
		     "left to the rule; of those solved, the rule's use of the cluster is %.4g of "
		     "the program's on average, %.4g at least, and beyond its limits %u times",
		     dorm_milp.name, d->found[DORM_BEST], d->found[DORM_SOME], d->found[DORM_NONE],
		     d->compared ? d->sum / d->compared : 1, d->compared ? d->least : 1,
		     d->unfair_by_rule) < 0)
		return NULL;
	return text;
}

const struct auc_stepper dorm_milp = {
	.name = "dorm-milp",
	.summary = "baseline: dorm by the integer program of its paper (small scenarios)",
	.create = dorm_create,
	.destroy = dorm_destroy,
	.arrive = dorm_arrive,
	.step = dorm_step,
	.leave = dorm_leave,
	.remark = dorm_remark,
};

static enum auc_code decide(struct auc_stepper_ctx *ctx, auc_slot t, struct auc_err *err)
{
	const struct auc_market *m = ctx->room.m;
	struct dorm *d = ctx->arg;
	enum dorm_found found;
	struct slot slot;
	enum auc_code rc;
	double rule;
	bool fair;
	unsigned i;

	if (!is_due(ctx, t))
		return AUC_OK;
	rc = auc_free_room_open(&ctx->room, m, t, err);
	if (rc != AUC_OK)
		return rc;
	if (!make_slot(&slot, ctx)) {
		clear_slot(&slot);
		return auc_err_set(err, AUC_ENOMEM, "no memory for an integer program");
	}
	slot.p.left = ctx->room.left;
	for (i = 0; i < ctx->n; i++)
		describe(&slot, ctx, i, t);
	read_layouts(&slot, ctx, slot.before);
	/* what is fair; then the rule, from where the program starts */
	ctx->changed = true;
	ctx->kind = ELASTIC_DRF;
	elastic_fair(ctx, t);
	ctx->kind = ELASTIC_DORM;
	for (i = 0; i < ctx->n; i++)
		slot.jobs[i].fair = (double)ctx->jobs[i]->n * ctx->jobs[i]->share;
	write_layouts(&slot, ctx, slot.before);
	rc = auc_free_room_open(&ctx->room, m, t, err);
	if (rc == AUC_OK) {
		elastic_fair(ctx, t);
		read_layouts(&slot, ctx, slot.now);
		use_layouts(&slot, slot.now);
		rule = dorm_use(&slot.p);
		fair = keeps_limits(&slot);
		rc = auc_free_room_open(&ctx->room, m, t, err);
		use_layouts(&slot, slot.before);
		found = dorm_solve(&slot.p);
		compare(d, &slot, found, rule, fair);
		write_layouts(&slot, ctx, found == DORM_NONE ? slot.now : slot.before);
	}
	clear_slot(&slot);
	return rc;
}

/* A job came or went, or lost its place, or gets data. Else all keep what they have. */
static bool is_due(struct auc_stepper_ctx *ctx, auc_slot t)
{
	const struct elastic_job *j;
	bool due = ctx->changed;
	unsigned i, s;

	for (i = 0; i < ctx->n; i++) {
		j = ctx->jobs[i];
		if (j->n && !elastic_hold(ctx, ctx->jobs[i]))
			due = true;
		for (s = 0; s < ctx->room.m->nservers; s++)
			due = due || t == j->arrival + (auc_slot)j->upload[s];
	}
	return due;
}

static bool make_slot(struct slot *slot, const struct auc_stepper_ctx *ctx)
{
	const struct auc_market *m = ctx->room.m;
	const struct dorm *d = ctx->arg;
	size_t cells = 2 * (size_t)ctx->n * m->nservers + 1;
	unsigned k, s, running = 0, i;

	memset(slot, 0, sizeof(*slot));
	for (k = 0; k < m->ntres; k++)
		for (s = 0; s < m->nservers; s++)
			slot->total[k] += (double)m->servers[s].units[k];
	for (i = 0; i < ctx->n; i++)
		running += ctx->jobs[i]->n > 0;
	slot->jobs = calloc(ctx->n + 1, sizeof(*slot->jobs));
	slot->on = calloc(cells, sizeof(*slot->on));
	slot->now = calloc(cells, sizeof(*slot->now));
	slot->before = calloc(cells, sizeof(*slot->before));
	slot->p = (struct dorm_program){
		.nservers = m->nservers,
		.ntres = m->ntres,
		.njobs = ctx->n,
		.total = slot->total,
		.jobs = slot->jobs,
		.unfair = d->unfair * 2 * m->ntres,
		.changes = (unsigned)auc_ceil(DORM_CHANGED * running),
		.seconds = d->seconds,
	};
	return slot->jobs && slot->on && slot->now && slot->before;
}

static void clear_slot(struct slot *slot)
{
	free(slot->jobs);
	free(slot->on);
	free(slot->now);
	free(slot->before);
}

/* Where row I of a table by job and server begins: workers, or PSs. */
static size_t row_of(const struct slot *slot, unsigned i, bool ps)
{
	return ((size_t)i * 2 + ps) * slot->p.nservers;
}

static void describe(struct slot *slot, const struct auc_stepper_ctx *ctx, unsigned i, auc_slot t)
{
	const struct elastic_job *j = ctx->jobs[i];
	bool *worker_on = slot->on + row_of(slot, i, false),
	     *ps_on = slot->on + row_of(slot, i, true);
	unsigned s, roles;

	for (s = 0; s < slot->p.nservers; s++) {
		roles = t >= j->arrival + (auc_slot)j->upload[s] ? ctx->room.m->servers[s].roles
								 : 0;
		worker_on[s] = roles & AUC_ROLE_WORKER;
		ps_on[s] = roles & AUC_ROLE_PS;
	}
	slot->jobs[i] = (struct dorm_job){
		.worker = j->worker.units,
		.ps = j->ps.units,
		.worker_on = worker_on,
		.ps_on = ps_on,
		.bandwidth = j->worker.bandwidth,
		.ps_bandwidth = j->ps.bandwidth,
		.most = (unsigned)(j->chunks < j->left ? j->chunks : j->left),
		.share = j->share,
		.runs = j->n > 0,
	};
}

static void read_layouts(struct slot *slot, const struct auc_stepper_ctx *ctx, unsigned *to)
{
	const struct auc_share *share;
	unsigned i, k;

	for (i = 0; i < ctx->n; i++)
		for (k = 0; k < ctx->jobs[i]->nshares; k++) {
			share = &ctx->jobs[i]->shares[k];
			to[row_of(slot, i, false) + share->server] = share->workers;
			to[row_of(slot, i, true) + share->server] = share->ps;
		}
}

static void write_layouts(const struct slot *slot, struct auc_stepper_ctx *ctx,
			  const unsigned *from)
{
	struct elastic_job *j;
	struct auc_share share;
	unsigned i, s;

	for (i = 0; i < ctx->n; i++) {
		j = ctx->jobs[i];
		j->n = j->nshares = 0;
		for (s = 0; s < slot->p.nservers; s++) {
			share = (struct auc_share){.server = s,
						   .workers = from[row_of(slot, i, false) + s],
						   .ps = from[row_of(slot, i, true) + s]};
			j->n += share.workers;
			if (share.workers || share.ps)
				j->shares[j->nshares++] = share;
		}
	}
}

/* The program's jobs have these. */
static void use_layouts(struct slot *slot, unsigned *from)
{
	unsigned i;

	for (i = 0; i < slot->p.njobs; i++) {
		slot->jobs[i].workers = from + row_of(slot, i, false);
		slot->jobs[i].pss = from + row_of(slot, i, true);
	}
}

static void compare(struct dorm *d, struct slot *slot, enum dorm_found found, double rule,
		    bool fair)
{
	double use = dorm_use(&slot->p);

	d->found[found]++;
	if (found != DORM_BEST || !(use > 0))
		return;
	d->compared++;
	d->sum += rule / use;
	d->least = fmin(d->least, rule / use);
	d->unfair_by_rule += !fair;
}

/* The limit of unfairness; the rule keeps to the other. */
static bool keeps_limits(const struct slot *slot)
{
	const struct dorm_job *j;
	double unfair = 0, share;
	unsigned s;

	for (j = slot->jobs; j < slot->jobs + slot->p.njobs; j++) {
		for (share = 0, s = 0; s < slot->p.nservers; s++)
			share += j->workers[s] * j->share;
		unfair += fabs(share - j->fair);
	}
	return unfair <= slot->p.unfair * (1 + 1e-9);
}
