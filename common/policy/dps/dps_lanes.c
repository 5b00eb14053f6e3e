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

static uint64_t *marks_of(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion);
static void find_marked(struct auc_policy_ctx *ctx, struct lane *l, unsigned completion);
static void mark_durations(struct auc_policy_ctx *ctx);

void auc_dps_open_lanes(struct auc_policy_ctx *ctx, unsigned completion)
{
	unsigned i;

	if (!ctx->marked && completion - ctx->start0 > MARK_FROM)
		mark_durations(ctx);
	ctx->nopen = 0;
	for (i = 0; i < ctx->nlanes; i++)
		if (completion < ctx->lanes[i].closed)
			ctx->open[ctx->nopen++] = i;
}

void auc_dps_mark(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion, unsigned number)
{
	*marks_of(ctx, lane, completion) |= UINT64_C(1) << (number >> ctx->lanes[lane].shift);
}

static uint64_t *marks_of(struct auc_policy_ctx *ctx, unsigned lane, unsigned completion)
{
	return &ctx->marks[(size_t)lane * (ctx->slots + 1) + completion];
}

void auc_dps_first_windows(struct auc_policy_ctx *ctx, unsigned completion)
{
	struct lane *l;
	unsigned i;

	for (i = 0; i < ctx->nopen; i++) {
		l = &ctx->lanes[ctx->open[i]];
		l->room = INT64_MAX;
		l->count = 0;
		find_marked(ctx, l, completion);
	}
}

/* Goes to the lane's first marked window from l->count on. */
static void find_marked(struct auc_policy_ctx *ctx, struct lane *l, unsigned completion)
{
	unsigned lane = (unsigned)(l - ctx->lanes), d;
	const unsigned *first = ctx->first + (size_t)lane * (ctx->slots + 1);
	uint64_t marks = *marks_of(ctx, lane, completion);

	l->next = 0;
	for (; l->count < l->ncounts && marks >> (l->count >> l->shift); l->count++) {
		if (!((marks >> (l->count >> l->shift)) & 1))
			continue;
		d = dps_lasting(ctx, lane, first[l->count]);
		if (d > completion - ctx->start0)
			return;
		if (d && ctx->fewest[(size_t)lane * (ctx->slots + 1) + d] <= l->room) {
			l->next = d;
			return;
		}
	}
}

struct lane *auc_dps_next_window(struct auc_policy_ctx *ctx)
{
	struct lane *l, *least = NULL;
	unsigned i;

	for (i = 0; i < ctx->nopen; i++) {
		l = &ctx->lanes[ctx->open[i]];
		if (l->next && (!least || l->next < least->next))
			least = l;
	}
	ctx->steps += 4 + 2 * (uint64_t)ctx->nopen;
	return least;
}

void auc_dps_pass_window(struct auc_policy_ctx *ctx, struct lane *l, unsigned completion, bool out)
{
	unsigned lane = (unsigned)(l - ctx->lanes), d = l->next;
	size_t at = (size_t)lane * (ctx->slots + 1) + d;

	if (!out && d < ctx->until[at] && ctx->fewest[at] <= l->room) {
		d = dps_lasting(ctx, lane, d + 1);
		if (d && d <= completion - ctx->start0) {
			l->next = d;
			return;
		}
	}
	l->count++;
	find_marked(ctx, l, completion);
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
