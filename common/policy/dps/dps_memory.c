/* dps_memory.c - the scratch memory of policy dps: see dps-private.h. */
#include "config.h"

#include <stdlib.h>

#include "policy/dps/dps-private.h"

#define TABLE_BYTES ((size_t)32 << 20)

static void reserve_lanes(struct auc_policy_ctx *ctx, const struct auc_market *m, size_t lanes);
static void reserve_rows(struct auc_policy_ctx *ctx, const struct auc_market *m, size_t types);
static void reserve_lists(struct auc_policy_ctx *ctx, const struct auc_market *m, size_t servers);
static void reserve_room(struct auc_policy_ctx *ctx, size_t types, size_t servers, size_t slots);
static void *reserve(struct auc_policy_ctx *ctx, size_t n, size_t size);

enum auc_code auc_dps_make_room(struct auc_policy_ctx *ctx, const struct auc_market *m,
				struct auc_err *err)
{
	size_t servers = m->nservers + 1, slots = m->slots + 1;
	size_t lanes = 2 * (size_t)m->nworker_types + 1, ps = m->nps_types + 1;
	size_t types = m->nworker_types + m->nps_types;
	struct filler *f = &ctx->filler;
	size_t i;

	if (ctx->nmemory && ctx->nservers == m->nservers && ctx->slots == m->slots &&
	    ctx->nworkers == m->nworker_types && ctx->nps == m->nps_types)
		return AUC_OK;
	auc_dps_release(ctx);
	ctx->nservers = m->nservers;
	ctx->slots = m->slots;
	ctx->nrows = m->nrows;
	ctx->nworkers = m->nworker_types;
	ctx->nps = m->nps_types;
	ctx->levels = DPS_LEVELS;
	while (ctx->levels > 4 &&
	       lanes * (slots + m->nrows) * ctx->levels * sizeof(double) > TABLE_BYTES)
		ctx->levels /= 2;
	ctx->ready = reserve(ctx, servers, sizeof(*ctx->ready));
	reserve_lanes(ctx, m, lanes);
	reserve_rows(ctx, m, types);
	ctx->offers_done = reserve(ctx, types * m->nrows + 1, sizeof(*ctx->offers_done));
	ctx->ps_offers = reserve(ctx, TIERS * (size_t)m->nrows, sizeof(*ctx->ps_offers));
	ctx->ps_offers_done = reserve(ctx, m->nrows, sizeof(*ctx->ps_offers_done));
	ctx->large_list = reserve(ctx, servers, sizeof(*ctx->large_list));
	ctx->window_offers = reserve(ctx, types + 1, sizeof(*ctx->window_offers));
	ctx->series = reserve(ctx, auc_dps_nseries(ctx) * slots, sizeof(*ctx->series));
	ctx->followed = reserve(ctx, auc_dps_nseries(ctx), sizeof(*ctx->followed));
	ctx->large = reserve(ctx, servers, sizeof(*ctx->large));
	ctx->most = reserve(ctx, types + 1, sizeof(*ctx->most));
	ctx->ps_bound = reserve(ctx, slots, sizeof(*ctx->ps_bound));
	ctx->value = reserve(ctx, slots, sizeof(*ctx->value));
	ctx->least = reserve(ctx, slots, sizeof(*ctx->least));
	ctx->tried = reserve(ctx, slots, sizeof(*ctx->tried));
	ctx->work = reserve(ctx, lanes * ps, sizeof(*ctx->work));
	ctx->hosts_done = reserve(ctx, types * m->nrows + 1, sizeof(*ctx->hosts_done));
	ctx->common = reserve(ctx, ctx->words + 1, sizeof(*ctx->common));
	ctx->rows = reserve(ctx, slots, sizeof(*ctx->rows));
	ctx->ps_servers = reserve(ctx, servers, sizeof(*ctx->ps_servers));
	ctx->ps_cost = reserve(ctx, servers, sizeof(*ctx->ps_cost));
	ctx->take = reserve(ctx, servers, sizeof(*ctx->take));
	f->heap = reserve(ctx, servers, sizeof(*f->heap));
	f->taken = reserve(ctx, servers, sizeof(*f->taken));
	f->workers = reserve(ctx, servers, sizeof(*f->workers));
	f->cost = reserve(ctx, servers, sizeof(*f->cost));
	f->rank = reserve(ctx, servers, sizeof(*f->rank));
	reserve_lists(ctx, m, servers);
	reserve_room(ctx, m->nworker_types + (size_t)1, servers, slots);
	for (i = 0; i < ctx->nmemory; i++)
		if (!ctx->memory[i]) {
			auc_dps_release(ctx);
			return auc_err_set(err, AUC_ENOMEM,
					   "no memory for a quote among %u servers", m->nservers);
		}
	return AUC_OK;
}

/* By lane, and duration, slot or row. */
static void reserve_lanes(struct auc_policy_ctx *ctx, const struct auc_market *m, size_t lanes)
{
	size_t slots = m->slots + 1;

	ctx->lanes = reserve(ctx, lanes, sizeof(*ctx->lanes));
	ctx->open = reserve(ctx, lanes, sizeof(*ctx->open));
	ctx->level_of = reserve(ctx, lanes * slots, sizeof(*ctx->level_of));
	ctx->lasts = reserve(ctx, lanes * slots, sizeof(*ctx->lasts));
	ctx->ratio = reserve(ctx, lanes * slots, sizeof(*ctx->ratio));
	ctx->fewest = reserve(ctx, lanes * slots, sizeof(*ctx->fewest));
	ctx->until = reserve(ctx, lanes * slots, sizeof(*ctx->until));
	ctx->first = reserve(ctx, lanes * slots, sizeof(*ctx->first));
	ctx->narrow = reserve(ctx, lanes * slots, sizeof(*ctx->narrow));
	ctx->marks = reserve(ctx, lanes * slots, sizeof(*ctx->marks));
	ctx->bound = reserve(ctx, lanes * slots * ctx->levels, sizeof(*ctx->bound));
	ctx->block = reserve(ctx, lanes * m->nrows * ctx->levels, sizeof(*ctx->block));
	ctx->block_room = reserve(ctx, lanes * m->nrows, sizeof(*ctx->block_room));
	ctx->block_done = reserve(ctx, lanes * m->nrows, sizeof(*ctx->block_done));
}

/* dps_rows.c's, by type and row. */
static void reserve_rows(struct auc_policy_ctx *ctx, const struct auc_market *m, size_t types)
{
	size_t workers = m->nworker_types * (size_t)m->nrows + 1;

	types = types * m->nrows + 1;
	ctx->words = (m->nservers + 63) / 64;
	ctx->runs = reserve(ctx, workers, sizeof(*ctx->runs));
	ctx->runs_stamp = reserve(ctx, workers, sizeof(*ctx->runs_stamp));
	ctx->singles = reserve(ctx, workers, sizeof(*ctx->singles));
	ctx->singles_stamp = reserve(ctx, workers, sizeof(*ctx->singles_stamp));
	ctx->offers = reserve(ctx, types, sizeof(*ctx->offers));
	ctx->offers_stamp = reserve(ctx, types, sizeof(*ctx->offers_stamp));
	ctx->hosts = reserve(ctx, types * ctx->words + 1, sizeof(*ctx->hosts));
	ctx->hosts_stamp = reserve(ctx, types, sizeof(*ctx->hosts_stamp));
	ctx->tiers_stamp = 0;
}

/* By type and server: what a window offers, and dps_reach.c's. */
static void reserve_lists(struct auc_policy_ctx *ctx, const struct auc_market *m, size_t servers)
{
	size_t types = m->nworker_types + m->nps_types + 1, workers = m->nworker_types + 1, i;
	double *sum = reserve(ctx, (types + workers) * servers, sizeof(*sum));
	int32_t *fit = reserve(ctx, (types + workers) * servers, sizeof(*fit));
	uint32_t *list = reserve(ctx, (types + workers) * servers, sizeof(*list));

	ctx->windows = reserve(ctx, types, sizeof(*ctx->windows));
	ctx->reach = reserve(ctx, workers, sizeof(*ctx->reach));
	if (!sum || !fit || !list || !ctx->windows || !ctx->reach)
		return;
	for (i = 0; i < types; i++, sum += servers, fit += servers, list += servers)
		ctx->windows[i] = (struct window){.sum = sum, .fit = fit, .list = list};
	for (i = 0; i < workers; i++, sum += servers, fit += servers, list += servers)
		ctx->reach[i] = (struct reach){.sum = sum, .fit = fit, .list = list};
}

/* dps_room.c's. */
static void reserve_room(struct auc_policy_ctx *ctx, size_t types, size_t servers, size_t slots)
{
	size_t stride = (servers + 31) / 32 * 32, i;
	int16_t *fits = reserve(ctx, types * (slots + 1) * stride, sizeof(*fits));
	int32_t *windows = reserve(ctx, types * slots * DPS_ROOM, sizeof(*windows));

	ctx->room_stride = stride;
	ctx->room_first = 0;
	ctx->room_stamp = reserve(ctx, slots, sizeof(*ctx->room_stamp));
	ctx->fit = reserve(ctx, servers, sizeof(*ctx->fit));
	ctx->was = reserve(ctx, slots + DPS_ROOM, sizeof(*ctx->was));
	ctx->is = reserve(ctx, slots + DPS_ROOM, sizeof(*ctx->is));
	ctx->changed = reserve(ctx, servers, sizeof(*ctx->changed));
	ctx->changed_at = reserve(ctx, servers, sizeof(*ctx->changed_at));
	ctx->room = reserve(ctx, types, sizeof(*ctx->room));
	if (!fits || !windows || !ctx->room)
		return;
	for (i = 0; i < types; i++, fits += (slots + 1) * stride, windows += slots * DPS_ROOM)
		ctx->room[i] = (struct room){
			.fits = fits, .least = fits + slots * stride, .windows = windows};
}

void auc_dps_release(struct auc_policy_ctx *ctx)
{
	while (ctx->nmemory)
		free(ctx->memory[--ctx->nmemory]);
}

static void *reserve(struct auc_policy_ctx *ctx, size_t n, size_t size)
{
	return ctx->memory[ctx->nmemory++] = calloc(n, size);
}
