/*
 * booking.c - plans and reserved amounts into the market and out of it again. A change is
 * checked as a whole before any of it is made.
 */
#include "config.h"

#include <math.h>

#include "base/check.h"
#include "base/num.h"
#include "market/cells.h"
#include "market/plan.h"

static bool share_units(const struct auc_market *m, const struct auc_plan *plan,
			const struct auc_share *share, int64_t *units);
static enum auc_code check_plan(const struct auc_market *m, const struct auc_plan *plan,
				struct auc_err *err);
static enum auc_code check_change(const struct auc_market *m, const struct auc_plan *plan,
				  auc_slot from, auc_slot to, bool book, struct auc_err *err);
static enum auc_code check_open(const struct auc_market *m, const struct auc_plan *plan,
				const struct auc_run *run, struct auc_err *err);
static void apply_change(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			 auc_slot to, bool book);
static void refresh_wholes(struct auc_market *m, const struct auc_plan *plan,
			   const struct auc_run *run, auc_slot from, auc_slot to);
static void add_units(struct auc_market *m, unsigned server, auc_slot from, auc_slot to,
		      const int64_t *units, int sign);

enum auc_code auc_market_book(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			      auc_slot to, struct auc_err *err)
{
	enum auc_code rc = check_change(m, plan, from, to, true, err);

	if (rc == AUC_OK)
		apply_change(m, plan, from, to, true);
	return rc;
}

enum auc_code auc_market_unbook(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
				auc_slot to, struct auc_err *err)
{
	enum auc_code rc = check_change(m, plan, from, to, false, err);

	if (rc == AUC_OK)
		apply_change(m, plan, from, to, false);
	return rc;
}

enum auc_code auc_market_has_room(const struct auc_market *m, const struct auc_plan *plan,
				  struct auc_err *err)
{
	enum auc_code rc = check_change(m, plan, plan->start, plan->completion - 1, true, err);

	for (const struct auc_run *r = plan->runs; rc == AUC_OK && r < plan->runs + plan->nruns;
	     r++)
		rc = check_open(m, plan, r, err);
	return rc;
}

enum auc_code auc_market_reserve(struct auc_market *m, unsigned server, unsigned tres,
				 auc_slot from, auc_slot to, double amount, struct auc_err *err)
{
	struct auc_share share = {.server = server};
	int64_t units, left;
	size_t cell;
	auc_slot t;

	if (server >= m->nservers || tres >= m->ntres)
		return auc_err_set(err, AUC_ENOENT, "server %u, TRES %u: not in the market", server,
				   tres);
	if (!(amount >= 0 && amount * m->tres[tres].scale <= AUC_UNITS_LIMIT))
		return auc_err_set(err, AUC_EINVAL, "server %s: %s=%g: expected an amount >= 0",
				   m->servers[server].name, m->tres[tres].name, amount);
	units = llround(amount * m->tres[tres].scale);
	AUC_CHECK(units >= 0, "server %s: %g %s", m->servers[server].name, amount,
		  m->tres[tres].name);
	if (!auc_market_clip(m, &from, &to))
		return AUC_OK;
	for (t = from; t <= to; t++) {
		cell = auc_cell(m, (unsigned)(t - m->first), server);
		left = m->servers[server].units[tres] - m->used[cell * m->ntres + tres];
		if (units > left)
			return auc_err_set(
				err, AUC_EFULL, "server %s, slot %lld: %s=%g wanted, %g left",
				m->servers[server].name, (long long)t, m->tres[tres].name, amount,
				(double)left / m->tres[tres].scale);
	}
	for (t = from; t <= to; t++) {
		cell = auc_cell(m, (unsigned)(t - m->first), server);
		auc_cells_set_used(m, cell, server, tres, m->used[cell * m->ntres + tres] + units);
		AUC_CHECK(m->used[cell * m->ntres + tres] <= m->servers[server].units[tres],
			  "server %s, slot %lld: %s: more is reserved than there is",
			  m->servers[server].name, (long long)t, m->tres[tres].name);
		if (m->bulk)
			continue;
		auc_cells_refresh_cell(m, cell, server);
	}
	if (!m->bulk)
		auc_cells_refresh_blocks(m, from, to, &share, 1);
	return AUC_OK;
}

/* What SHARE takes of each TRES; false if that is beyond every capacity. */
static bool share_units(const struct auc_market *m, const struct auc_plan *plan,
			const struct auc_share *share, int64_t *units)
{
	const struct auc_bundle *w = &m->types[plan->worker_type];
	const struct auc_bundle *p = &m->types[auc_ps_index(m, plan->ps_type)];
	int64_t a, b;
	unsigned k;

	for (k = 0; k < m->ntres && plan->gang; k++)
		if (!(plan->amount[k] * m->tres[k].scale <= AUC_UNITS_LIMIT) ||
		    __builtin_mul_overflow(llround(plan->amount[k] * m->tres[k].scale),
					   (int64_t)share->workers, &units[k]))
			return false;
	if (plan->gang)
		return true;
	for (k = 0; k < m->ntres; k++)
		if (__builtin_mul_overflow(w->units[k], (int64_t)share->workers, &a) ||
		    __builtin_mul_overflow(p->units[k], (int64_t)share->ps, &b) ||
		    __builtin_add_overflow(a, b, &units[k]))
			return false;
	return true;
}

static enum auc_code check_plan(const struct auc_market *m, const struct auc_plan *plan,
				struct auc_err *err)
{
	unsigned i;

	if (!m->ready)
		return auc_err_set(err, AUC_ESTATE, "the market is not laid out");
	if (!plan->gang && (plan->worker_type >= m->nworker_types || plan->ps_type >= m->nps_types))
		return auc_err_set(err, AUC_EINVAL, "the plan's types are not of this market");
	for (i = 0; i < plan->nshares; i++)
		if (plan->shares[i].server >= m->nservers)
			return auc_err_set(err, AUC_EINVAL,
					   "the plan's servers are not of this market");
	return AUC_OK;
}

static enum auc_code check_change(const struct auc_market *m, const struct auc_plan *plan,
				  auc_slot from, auc_slot to, bool book, struct auc_err *err)
{
	enum auc_code rc = check_plan(m, plan, err);
	const struct auc_share *share;
	const struct auc_run *run;
	int64_t units[AUC_TRES_MAX], left, used;
	auc_slot a, b, t;
	unsigned r, i, k;
	bool sane;

	for (r = 0; rc == AUC_OK && r < plan->nruns; r++) {
		run = &plan->runs[r];
		a = run->from > from ? run->from : from;
		b = run->to < to ? run->to : to;
		if (!auc_market_clip(m, &a, &b))
			continue;
		for (i = 0; i < run->nshares; i++) {
			share = &plan->shares[run->first_share + i];
			sane = share_units(m, plan, share, units);
			for (t = a; t <= b; t++)
				for (k = 0; k < m->ntres; k++) {
					used = m->used[auc_cell(m, (unsigned)(t - m->first),
								share->server) *
							       m->ntres +
						       k];
					left = m->servers[share->server].units[k] - used;
					if (sane && units[k] <= (book ? left : used))
						continue;
					return auc_err_set(
						err, book ? AUC_EFULL : AUC_ESTATE,
						"server %s, slot %lld: %s: %u worker%s and %u PS%s "
						"need more than %g %s",
						m->servers[share->server].name, (long long)t,
						m->tres[k].name, share->workers,
						auc_plural(share->workers), share->ps,
						auc_plural(share->ps),
						(double)(book ? left : used) / m->tres[k].scale,
						book ? "left" : "in use");
				}
		}
	}
	if (rc == AUC_OK && auc_market_clip(m, &from, &to))
		rc = auc_traffic_check(m, plan, from, to, book, err);
	return rc;
}

/* Is RUN in the window, and for sale? */
static enum auc_code check_open(const struct auc_market *m, const struct auc_plan *plan,
				const struct auc_run *run, struct auc_err *err)
{
	const struct auc_share *s = plan->shares + run->first_share;
	unsigned needed;

	if (run->from < m->first || run->to > auc_market_last(m))
		return auc_err_set(err, AUC_EFULL, "slots %lld to %lld are not for sale",
				   (long long)run->from, (long long)run->to);
	for (; s < plan->shares + run->first_share + run->nshares; s++) {
		needed = (s->workers ? AUC_ROLE_WORKER : 0) | (s->ps ? AUC_ROLE_PS : 0);
		for (auc_slot t = run->from; t <= run->to; t++)
			if (needed & ~auc_market_hosts(m, s->server) ||
			    auc_market_is_closed(m, s->server, t))
				return auc_err_set(err, AUC_EFULL,
						   "server %s, slot %lld: not for sale",
						   m->servers[s->server].name, (long long)t);
	}
	return AUC_OK;
}

static void apply_change(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
			 auc_slot to, bool book)
{
	const struct auc_share *share;
	const struct auc_run *run;
	int64_t units[AUC_TRES_MAX];
	auc_slot a, b;
	unsigned i;

	AUC_CHECK(m->ready, "a market is booked that is not laid out");
	for (unsigned r = 0; r < plan->nruns; r++) {
		run = &plan->runs[r];
		a = run->from > from ? run->from : from;
		b = run->to < to ? run->to : to;
		if (!auc_market_clip(m, &a, &b))
			continue;
		for (i = 0; i < run->nshares; i++) {
			share = &plan->shares[run->first_share + i];
			if (!AUC_CHECK(share_units(m, plan, share, units),
				       "server %s: a checked share is beyond counting",
				       m->servers[share->server].name))
				continue;
			add_units(m, share->server, a, b, units, book ? 1 : -1);
		}
		refresh_wholes(m, plan, run, a, b);
		if (m->bulk)
			continue;
		auc_cells_refresh_blocks(m, a, b, plan->shares + run->first_share, run->nshares);
	}
	if (auc_market_clip(m, &from, &to))
		auc_traffic_apply(m, plan, from, to, book);
}

/* The large servers that shares of RUN are on parts of. */
static void refresh_wholes(struct auc_market *m, const struct auc_plan *plan,
			   const struct auc_run *run, auc_slot from, auc_slot to)
{
	unsigned last = 0, whole;

	for (unsigned i = 0; i < run->nshares; i++) {
		whole = m->servers[plan->shares[run->first_share + i].server].whole;
		if (whole && whole != last)
			auc_cells_refresh_whole(m, whole - 1, from, to);
		last = whole;
	}
}

/* Adds SIGN * UNITS to what is used of SERVER in the slots [FROM, TO] of the window; its blocks and
 * the order follow later. */
static void add_units(struct auc_market *m, unsigned server, auc_slot from, auc_slot to,
		      const int64_t *units, int sign)
{
	if (sign < 0)
		m->freed[server] = ++m->frees;
	for (auc_slot t = from; t <= to; t++) {
		size_t cell = auc_cell(m, (unsigned)(t - m->first), server);

		for (unsigned k = 0; k < m->ntres; k++) {
			int64_t used = m->used[cell * m->ntres + k] + sign * units[k];

			if (!units[k])
				continue;
			AUC_CHECK(used >= 0 && used <= m->servers[server].units[k],
				  "server %s, slot %lld: %s: %lld of %lld units used",
				  m->servers[server].name, (long long)t, m->tres[k].name,
				  (long long)used, (long long)m->servers[server].units[k]);
			auc_cells_set_used(m, cell, server, k, used);
		}
		if (!m->bulk)
			auc_cells_refresh_cell(m, cell, server);
	}
}
