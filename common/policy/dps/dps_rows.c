/*
 * dps_rows.c - what a row of the market says of a type, whatever the job is: kept from one quote to
 * the next for as long as the row has the same stamp (timeline.h), since between two quotes few
 * rows change.
 *
 * Of slots in which some server is not usable yet, as the job's data are on their way there, only
 * the quote at hand knows that: nothing that is worked out then is kept.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "policy/dps/dps-private.h"

static void forget_all(struct auc_policy_ctx *ctx);
static void find_tiers(struct auc_policy_ctx *ctx);
static bool take_stamp(const struct auc_policy_ctx *ctx, uint64_t *stamp, unsigned row,
		       unsigned slot);
static void list_runs(const struct auc_policy_ctx *ctx, unsigned worker, unsigned row,
		      unsigned slot, struct runs *runs);
static void list_singles(const struct auc_policy_ctx *ctx, unsigned worker, unsigned row,
			 unsigned slot, struct singles *singles);
static void add_single(struct singles *singles, double price, int32_t fit);
static void find_offers(const struct auc_policy_ctx *ctx, unsigned type, unsigned row,
			unsigned slot, struct offer *o);

void auc_dps_start_rows(struct auc_policy_ctx *ctx)
{
	unsigned types = ctx->nworkers + ctx->nps, s;

	ctx->all_ready = 0;
	for (s = 0; s < ctx->nservers; s++)
		if (ctx->ready[s] > ctx->all_ready)
			ctx->all_ready = ctx->ready[s];
	if (ctx->tiers_stamp != ctx->m->idle_stamp) {
		forget_all(ctx);
		find_tiers(ctx);
		ctx->tiers_stamp = ctx->m->idle_stamp;
	}
	memset(ctx->offers_done, 0, (size_t)types * ctx->nrows);
	memset(ctx->hosts_done, 0, (size_t)types * ctx->nrows);
}

static void forget_all(struct auc_policy_ctx *ctx)
{
	size_t types = ctx->nworkers + ctx->nps, rows = ctx->nrows;

	memset(ctx->runs_stamp, 0, ctx->nworkers * rows * sizeof(*ctx->runs_stamp));
	memset(ctx->singles_stamp, 0, ctx->nworkers * rows * sizeof(*ctx->singles_stamp));
	memset(ctx->offers_stamp, 0, types * rows * sizeof(*ctx->offers_stamp));
	memset(ctx->hosts_stamp, 0, types * rows * sizeof(*ctx->hosts_stamp));
}

/* Tells large servers from the others. */
static void find_tiers(struct auc_policy_ctx *ctx)
{
	const struct auc_market *m = ctx->m;
	unsigned ntypes = ctx->nworkers + ctx->nps, s, i;
	int32_t fit, small, most;
	const int32_t *fits;

	memset(ctx->large, 0, ctx->nservers);
	for (i = 0; i < ctx->nworkers; i++)
		for (s = 0; s < ctx->nservers; s++)
			ctx->large[s] |= m->cache[i].fit0[s] > m->cache[i].max0 / 2;
	ctx->nlarge = 0;
	for (s = 0; s < ctx->nservers; s++)
		if (ctx->large[s])
			ctx->large_list[ctx->nlarge++] = s;
	for (i = 0; i < ntypes; i++) {
		fits = m->cache[i].fit0;
		for (small = 0, s = 0; s < ctx->nservers; s++) {
			fit = ctx->large[s] ? 0 : fits[s];
			small = fit > small ? fit : small;
		}
		for (most = 0, s = 0; s < ctx->nlarge; s++) {
			fit = fits[ctx->large_list[s]];
			most = fit > most ? fit : most;
		}
		ctx->most[i][SMALL] = small;
		ctx->most[i][LARGE] = most;
	}
}

/* True if what was found at *STAMP is what this quote would find in ROW, which begins at slot index
 * SLOT. If not, the caller finds it anew, and *STAMP is set to what that is of. */
static bool take_stamp(const struct auc_policy_ctx *ctx, uint64_t *stamp, unsigned row,
		       unsigned slot)
{
	uint64_t now = slot >= ctx->all_ready ? ctx->m->stamp[row] : 0;
	bool same = now && *stamp == now;

	*stamp = now;
	return same;
}

const struct runs *auc_dps_runs(struct auc_policy_ctx *ctx, unsigned worker, unsigned row,
				unsigned slot)
{
	size_t at = (size_t)worker * ctx->nrows + row;

	if (!take_stamp(ctx, &ctx->runs_stamp[at], row, slot))
		list_runs(ctx, worker, row, slot, &ctx->runs[at]);
	return &ctx->runs[at];
}

static void list_runs(const struct auc_policy_ctx *ctx, unsigned worker, unsigned row,
		      unsigned slot, struct runs *runs)
{
	const struct auc_type_cache *c = &ctx->m->cache[worker];
	struct run *last = NULL;
	double price;
	int32_t fit;
	unsigned r;
	uint32_t s;

	runs->n = 0;
	runs->rank = ctx->nservers;
	for (r = 0; auc_type_ranked(c, row, r, &s, &fit, &price); r++) {
		if (ctx->ready[s] > slot)
			continue;
		if (last && last->price == price) {
			last->workers += fit;
			continue;
		}
		if (runs->n == DPS_RUNS) {
			runs->rank = r;
			break;
		}
		last = &runs->run[runs->n++];
		*last = (struct run){price, fit};
	}
}

const struct singles *auc_dps_singles(struct auc_policy_ctx *ctx, unsigned worker, unsigned row,
				      unsigned slot)
{
	size_t at = (size_t)worker * ctx->nrows + row;

	if (!take_stamp(ctx, &ctx->singles_stamp[at], row, slot))
		list_singles(ctx, worker, row, slot, &ctx->singles[at]);
	return &ctx->singles[at];
}

/* Of large servers each is looked at if they are few, of the others only as long as a dearer one
 * may hold more. */
static void list_singles(const struct auc_policy_ctx *ctx, unsigned worker, unsigned row,
			 unsigned slot, struct singles *singles)
{
	const struct auc_type_cache *c = &ctx->m->cache[worker];
	bool listed = dps_lists_large(ctx);
	int32_t top = listed ? (int32_t)ctx->most[worker][SMALL] : c->max0, most = 0, fit;
	double price;
	unsigned r;
	uint32_t s;

	singles->n = 0;
	for (r = 0; most < top && auc_type_ranked(c, row, r, &s, &fit, &price); r++) {
		if (ctx->ready[s] > slot || fit <= most || (listed && ctx->large[s]))
			continue;
		most = fit;
		add_single(singles, price, most);
	}
	for (r = 0; listed && r < ctx->nlarge; r++) {
		s = ctx->large_list[r];
		fit = auc_type_fit(c, row, s);
		if (fit && ctx->ready[s] <= slot)
			add_single(singles, auc_type_price(c, row, s), fit);
	}
}

/* Puts one in unless another is no dearer and holds as many, and takes those out of which this one
 * is. Of too many the last two become one at the lower price: a bound still. */
static void add_single(struct singles *singles, double price, int32_t fit)
{
	struct single *single = singles->single;
	unsigned at = singles->n, end = singles->n;

	while (at && single[at - 1].price > price)
		at--;
	if (at && single[at - 1].fit >= fit)
		return;
	while (at && single[at - 1].price == price)
		at--;
	for (end = at; end < singles->n && single[end].fit <= fit;)
		end++;
	memmove(single + at + 1, single + end, (singles->n - end) * sizeof(*single));
	single[at] = (struct single){price, fit};
	singles->n += 1 - (end - at);
	if (singles->n > DPS_SINGLES) {
		singles->n = DPS_SINGLES;
		single[DPS_SINGLES - 1].fit = single[DPS_SINGLES].fit;
	}
}

const struct offer *auc_dps_offers(struct auc_policy_ctx *ctx, unsigned type, unsigned row,
				   unsigned slot)
{
	size_t at = (size_t)type * ctx->nrows + row;

	if (ctx->offers_done[at])
		return ctx->offers[at];
	ctx->offers_done[at] = 1;
	ctx->steps += ctx->nservers / 8 + 2 * (uint64_t)ctx->nlarge + 8;
	if (!take_stamp(ctx, &ctx->offers_stamp[at], row, slot))
		find_offers(ctx, type, row, slot, ctx->offers[at]);
	return ctx->offers[at];
}

static void find_offers(const struct auc_policy_ctx *ctx, unsigned type, unsigned row,
			unsigned slot, struct offer *o)
{
	const struct auc_type_cache *c = &ctx->m->cache[type];
	bool listed = dps_lists_large(ctx);
	bool seek[TIERS] = {
		[LARGE] = !listed && ctx->most[type][LARGE], [SMALL] = ctx->most[type][SMALL]};
	enum tier tier;
	double price;
	int32_t fit;
	unsigned r;
	uint32_t s;

	o[LARGE] = o[SMALL] = (struct offer){.price = INFINITY};
	for (r = 0; (seek[LARGE] || seek[SMALL]) && auc_type_ranked(c, row, r, &s, &fit, &price);
	     r++) {
		tier = ctx->large[s] ? LARGE : SMALL;
		if (!seek[tier] || ctx->ready[s] > slot)
			continue;
		o[tier] = (struct offer){price, (int32_t)ctx->most[type][tier]};
		seek[tier] = false;
	}
	for (r = 0; listed && r < ctx->nlarge; r++) {
		s = ctx->large_list[r];
		fit = auc_type_fit(c, row, s);
		if (!fit || ctx->ready[s] > slot)
			continue;
		o[LARGE].price = fmin(o[LARGE].price, auc_type_price(c, row, s));
		if (fit > o[LARGE].most)
			o[LARGE].most = fit;
	}
	o[ANY].price = o[LARGE].price < o[SMALL].price ? o[LARGE].price : o[SMALL].price;
}

const uint64_t *auc_dps_hosts(struct auc_policy_ctx *ctx, unsigned type, unsigned row)
{
	const struct auc_type_cache *c = &ctx->m->cache[type];
	size_t at = (size_t)type * ctx->nrows + row, first = auc_type_row(c, row);
	uint64_t *hosts = ctx->hosts + at * ctx->words, word;
	unsigned k, i, s;

	if (!ctx->hosts_done[at])
		ctx->steps += ctx->nservers / 2;
	if (ctx->hosts_done[at] || ctx->hosts_stamp[at] == ctx->m->stamp[row]) {
		ctx->hosts_done[at] = 1;
		return hosts;
	}
	ctx->hosts_done[at] = 1;
	ctx->hosts_stamp[at] = ctx->m->stamp[row];
	for (i = k = 0; k < ctx->words; k++) {
		for (word = 0; i < c->n && c->server[i] < 64 * (k + 1); i++) {
			s = c->server[i];
			word |= (uint64_t)(auc_number(&c->fit, first + i) > 0) << (s % 64);
		}
		hosts[k] = word;
	}
	return hosts;
}
