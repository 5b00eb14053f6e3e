/*
 * dps_room.c - how many workers fit in all of a window: the sum over servers of the least that fit
 * in its slots, for each window of up to DPS_ROOM slots. In a market that is all but full most
 * windows have room for fewer workers than they need, and no price need be looked at to know that.
 *
 * Kept from one quote to the next, with the fits that it is of. A quote that finds other stamps
 * (timeline.h) compares the fits of those slots, and of each server where they are others takes the
 * old least numbers out of the windows around them and puts the new ones in. Where the most servers
 * are others, the windows are made anew. Either way it is exact, so a quote does not depend on
 * those before.
 *
 * Servers count wherever the job's data are, and no server for more than DPS_ROOM_MOST: a window of
 * that many is taken to have room for any number.
 */
#include "config.h"

#include <string.h>

#include "policy/dps/dps-private.h"

#define AT_ONCE 16 /* fits that are looked at in one go: compilers make vectors of them */

static void move_to(struct auc_policy_ctx *ctx, auc_slot first);
static void take_slots(struct auc_policy_ctx *ctx, unsigned from);
static void compare_slots(struct auc_policy_ctx *ctx, unsigned worker, const unsigned *slots,
			  unsigned n);
static void note_changes(struct auc_policy_ctx *ctx, struct room *room, const int32_t *fit,
			 unsigned slot);
static void copy_slot(const struct auc_policy_ctx *ctx, struct room *room, unsigned worker,
		      unsigned slot);
static void make_window_ends(const struct auc_policy_ctx *ctx, struct room *room, unsigned from,
			     unsigned to);
static void change_server(struct auc_policy_ctx *ctx, unsigned worker, const struct changed *c);
static void begin_change(struct auc_policy_ctx *ctx, const struct room *room,
			 const struct changed *c);
static void change_end(int32_t *restrict windows, int16_t *restrict was, int16_t *restrict is,
		       int16_t old, int16_t new);

static inline int16_t capped(int32_t fit)
{
	return (int16_t)(fit < DPS_ROOM_MOST ? fit : DPS_ROOM_MOST);
}

static inline int16_t *fits_of(const struct auc_policy_ctx *ctx, const struct room *room,
			       unsigned slot)
{
	return room->fits + slot * ctx->room_stride;
}

void auc_dps_start_room(struct auc_policy_ctx *ctx)
{
	const struct auc_market *m = ctx->m;
	unsigned kept, slot, n = 0, w;

	if (!memcmp(ctx->room_stamp, m->stamp, ctx->slots * sizeof(*m->stamp)))
		return;
	move_to(ctx, m->first);
	for (kept = ctx->slots; kept && !ctx->room_stamp[kept - 1];)
		kept--;
	take_slots(ctx, kept);
	for (slot = 0; slot < kept; slot++)
		if (ctx->room_stamp[slot] != m->stamp[slot])
			ctx->rows[n++] = slot;
	for (w = 0; w < ctx->nworkers && n; w++)
		compare_slots(ctx, w, ctx->rows, n);
	memcpy(ctx->room_stamp, m->stamp, ctx->slots * sizeof(*m->stamp));
}

/* Slot index 0 becomes FIRST. Of slots that are new nothing is known: they have no stamp. */
static void move_to(struct auc_policy_ctx *ctx, auc_slot first)
{
	auc_slot by = first - ctx->room_first;
	unsigned shift = by >= 0 && by < ctx->slots ? (unsigned)by : ctx->slots;
	size_t keep = ctx->slots - shift;
	struct room *room;

	ctx->room_first = first;
	if (!shift)
		return;
	memmove(ctx->room_stamp, ctx->room_stamp + shift, keep * sizeof(*ctx->room_stamp));
	memset(ctx->room_stamp + keep, 0, shift * sizeof(*ctx->room_stamp));
	for (room = ctx->room; room < ctx->room + ctx->nworkers; room++) {
		memmove(room->fits, fits_of(ctx, room, shift),
			keep * ctx->room_stride * sizeof(*room->fits));
		memmove(room->windows, room->windows + (size_t)shift * DPS_ROOM,
			keep * DPS_ROOM * sizeof(*room->windows));
	}
}

/* Begins with the slots from index FROM on, of which nothing is known. */
static void take_slots(struct auc_policy_ctx *ctx, unsigned from)
{
	unsigned w, slot;

	for (w = 0; w < ctx->nworkers && from < ctx->slots; w++) {
		for (slot = from; slot < ctx->slots; slot++)
			copy_slot(ctx, &ctx->room[w], w, slot);
		make_window_ends(ctx, &ctx->room[w], from + 1, ctx->slots);
	}
}

static void copy_slot(const struct auc_policy_ctx *ctx, struct room *room, unsigned worker,
		      unsigned slot)
{
	int16_t *fits = fits_of(ctx, room, slot);
	const int32_t *fit = ctx->fit;
	unsigned s;

	auc_type_fits(ctx->m, worker, slot, ctx->fit);
	for (s = 0; s < ctx->nservers; s++)
		fits[s] = capped(fit[s]);
}

/* Makes the windows that end at the completions FROM to TO, from the fits. */
static void make_window_ends(const struct auc_policy_ctx *ctx, struct room *room, unsigned from,
			     unsigned to)
{
	unsigned completion, d, s, k;
	int16_t *least = room->least;
	const int16_t *fits;
	int32_t *windows, sum;

	for (completion = from; completion <= to; completion++) {
		windows = dps_rooms(room, completion);
		memset(windows, 0, DPS_ROOM * sizeof(*windows));
		memcpy(least, fits_of(ctx, room, completion - 1),
		       ctx->room_stride * sizeof(*least));
		for (d = 1; d <= DPS_ROOM && d <= completion; d++) {
			fits = fits_of(ctx, room, completion - d);
			for (sum = 0, s = 0; s < ctx->room_stride; s += AT_ONCE)
				for (k = s; k < s + AT_ONCE; k++) {
					least[k] = fits[k] < least[k] ? fits[k] : least[k];
					sum += least[k];
				}
			if (!sum)
				break;
			windows[DPS_ROOM - d] = sum;
		}
	}
}

/* Brings what is kept of WORKER up to date with the N slots of a list, which ascends. */
static void compare_slots(struct auc_policy_ctx *ctx, unsigned worker, const unsigned *slots,
			  unsigned n)
{
	struct room *room = &ctx->room[worker];
	unsigned i, to = slots[n - 1] + DPS_ROOM;

	ctx->nchanged = 0;
	for (i = 0; i < n; i++) {
		auc_type_fits(ctx->m, worker, slots[i], ctx->fit);
		note_changes(ctx, room, ctx->fit, slots[i]);
	}
	if (ctx->nchanged > ctx->nservers / 2) {
		for (i = 0; i < n; i++)
			copy_slot(ctx, room, worker, slots[i]);
		make_window_ends(ctx, room, slots[0] + 1, to < ctx->slots ? to : ctx->slots);
	}
	for (i = 0; i < ctx->nchanged; i++) {
		if (ctx->nchanged <= ctx->nservers / 2)
			change_server(ctx, worker, &ctx->changed[i]);
		ctx->changed_at[ctx->changed[i].server] = 0;
	}
}

/* Lists the servers that differ in SLOT, where FIT workers fit now. */
static void note_changes(struct auc_policy_ctx *ctx, struct room *room, const int32_t *fit,
			 unsigned slot)
{
	const int16_t *fits = fits_of(ctx, room, slot);
	unsigned s, k, n = ctx->nservers;
	struct changed *c;
	int32_t other;

	for (s = 0; s < n; s += AT_ONCE) {
		if (s + AT_ONCE <= n) {
			for (other = 0, k = s; k < s + AT_ONCE; k++)
				other |= fit[k] ^ fits[k];
			if (!other)
				continue;
		}
		for (k = s; k < n && k < s + AT_ONCE; k++) {
			if (capped(fit[k]) == fits[k])
				continue;
			if (!ctx->changed_at[k]) {
				ctx->changed[ctx->nchanged] = (struct changed){k, slot, slot};
				ctx->changed_at[k] = ++ctx->nchanged;
			}
			c = &ctx->changed[ctx->changed_at[k] - 1];
			c->last = slot;
		}
	}
}

/* From the first to the last slot in which SERVER differs, and further as long as windows reach
 * back to that one. */
static void change_server(struct auc_policy_ctx *ctx, unsigned worker, const struct changed *c)
{
	const struct auc_type_cache *cache = &ctx->m->cache[worker];
	struct room *room = &ctx->room[worker];
	int16_t *kept, old, new;
	unsigned slot;

	begin_change(ctx, room, c);
	for (slot = c->first; slot < ctx->slots && slot < c->last + DPS_ROOM; slot++) {
		kept = fits_of(ctx, room, slot) + c->server;
		old = new = *kept;
		if (slot <= c->last)
			*kept = new = capped(auc_type_fit(cache, slot, c->server));
		else if (!old)
			break;
		ctx->was[slot + DPS_ROOM] = ctx->is[slot + DPS_ROOM] = DPS_ROOM_MOST;
		change_end(dps_rooms(room, slot + 1), ctx->was + slot + 1, ctx->is + slot + 1, old,
			   new);
	}
}

/* By first slot, DPS_ROOM behind it: the least that fit up to before the first change. */
static void begin_change(struct auc_policy_ctx *ctx, const struct room *room,
			 const struct changed *c)
{
	int16_t least = DPS_ROOM_MOST, fit;
	unsigned d;

	for (d = 1; d < DPS_ROOM; d++) {
		fit = least && d <= c->first ? fits_of(ctx, room, c->first - d)[c->server] : 0;
		least = fit < least ? fit : least;
		ctx->was[c->first + DPS_ROOM - d] = ctx->is[c->first + DPS_ROOM - d] = least;
	}
}

/* The least that fitted and fit one slot further on, where OLD did and NEW do: the windows that end
 * there have the difference. */
static void change_end(int32_t *restrict windows, int16_t *restrict was, int16_t *restrict is,
		       int16_t old, int16_t new)
{
	unsigned i;

	for (i = 0; i < DPS_ROOM; i++) {
		was[i] = was[i] < old ? was[i] : old;
		is[i] = is[i] < new ? is[i] : new;
		windows[i] += is[i] - was[i];
	}
}
