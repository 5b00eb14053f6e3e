/*
 * dps_lanes.c - the windows that end at one completion, by lane: which of them there can be.
 *
 * A window is for the fewest workers that need just as many slots, so a job of little work has few
 * long ones: n workers and a PS type have one duration. Where a search gets as far as MARK_FROM
 * slots the durations of up to MARK_WORKERS workers are marked; all that are shorter may be.
 */
#include "config.h"

#include <string.h>

#include "policy/dps/dps-private.h"

#define MARK_FROM    64
#define MARK_WORKERS 32

static void mark_durations(struct auc_policy_ctx *ctx);

void auc_dps_open_lanes(struct auc_policy_ctx *ctx, unsigned completion)
{
	unsigned i;

	if (!ctx->marked && completion - ctx->start0 > MARK_FROM)
		mark_durations(ctx);
	ctx->nopen = 0;
	for (i = 0; i < ctx->nlanes; i++)
		if (completion < ctx->lanes[i].closed) {
			ctx->open[ctx->nopen++] = i;
			ctx->lanes[i].room = INT64_MAX;
			ctx->lanes[i].next = ctx->lanes[i].dmin;
		}
}

bool auc_dps_next_duration(struct auc_policy_ctx *ctx, unsigned completion, unsigned d)
{
	struct lane *l;
	unsigned i, n = 0;
	int64_t room;

	if (d > completion - ctx->start0)
		return false;
	for (i = 0; i < ctx->nopen; i++) {
		l = &ctx->lanes[ctx->open[i]];
		if (ctx->bounds) {
			room = ctx->block_room[(size_t)ctx->open[i] * ctx->nrows + completion - d];
			l->room = room < l->room ? room : l->room;
		}
		if (d <= l->dmax && l->level[0] <= l->room)
			ctx->open[n++] = ctx->open[i];
	}
	ctx->nopen = n;
	return n > 0;
}

static void mark_durations(struct auc_policy_ctx *ctx)
{
	int64_t d = 0, n,
		most = ctx->job->chunks < MARK_WORKERS ? (int64_t)ctx->job->chunks : MARK_WORKERS;
	struct lane *l;
	uint8_t *marks;
	unsigned p;
	double work;

	for (l = ctx->lanes; l < ctx->lanes + ctx->nlanes; l++) {
		marks = ctx->lasts + (size_t)(l - ctx->lanes) * (ctx->slots + 1);
		memset(marks, 0, l->dmax + 1);
		l->dense = 0;
		for (p = 0; p < ctx->nps; p++) {
			if (ctx->job->ps_seconds[p] < 0)
				continue;
			work = *dps_work_of(ctx, l->worker, p, l->colocated);
			for (n = 1; n <= most; n++) {
				d = auc_job_duration(work, n);
				if (d <= l->dmax)
					marks[d] = 1;
			}
			if ((uint64_t)most < ctx->job->chunks)
				l->dense = d < l->dense  ? l->dense
					   : d < l->dmax ? (unsigned)d
							 : l->dmax;
		}
	}
	ctx->steps += 5 * (uint64_t)ctx->nlanes * ctx->nps * (uint64_t)most;
	ctx->marked = true;
}
