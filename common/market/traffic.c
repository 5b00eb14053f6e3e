/*
 * traffic.c - the budget of what servers send each other in a slot: see market.h. Amounts are
 * whole bytes, a millionth of a MB, so that no sum is rounded.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "market/timeline.h"
#include "market/plan.h"

#define BYTES      1e6  /* in a MB */
#define BUDGET_MAX 4e9  /* MB: below 2^52 bytes */
#define JOB_MAX    1e12 /* MB: below 2^60 bytes */

static void set_used(struct auc_market *m, unsigned slot, int64_t used);

enum auc_code auc_market_set_traffic(struct auc_market *m, double mb, struct auc_err *err)
{
	if (m->ready)
		return auc_err_set(err, AUC_ESTATE, "transfer: the market is already laid out");
	if (!(mb >= 0 && mb <= BUDGET_MAX))
		return auc_err_set(err, AUC_EINVAL, "transfer: %g MB in a slot: expected 0 to %g",
				   mb, BUDGET_MAX);
	m->traffic.limited = true;
	m->traffic.budget = auc_traffic_bytes(mb);
	return AUC_OK;
}

bool auc_traffic_counts(const struct auc_job *job, double chunks_per_slot, double exchange_mb)
{
	double chunks = (double)job->chunks;
	double workers = (double)job->epochs * chunks / chunks_per_slot + chunks;

	return workers * exchange_mb + chunks * job->chunk_mb <= JOB_MAX;
}

int64_t auc_traffic_bytes(double mb)
{
	return llround(mb * BYTES);
}

int64_t auc_traffic_left(const struct auc_market *m, unsigned slot)
{
	return m->traffic.limited ? m->traffic.budget - m->traffic.used[slot] : INT64_MAX;
}

double auc_market_traffic_budget(const struct auc_market *m)
{
	return m->traffic.limited ? (double)m->traffic.budget / BYTES : (double)INFINITY;
}

double auc_market_traffic_used(const struct auc_market *m, auc_slot t)
{
	if (!m->traffic.limited || t < m->first || t > auc_market_last(m))
		return 0;
	return (double)m->traffic.used[t - m->first] / BYTES;
}

double auc_market_traffic_price(const struct auc_market *m, auc_slot t)
{
	return t < m->first || t > auc_market_last(m) ? 0 : m->traffic.price[t - m->first];
}

enum auc_code auc_market_reserve_traffic(struct auc_market *m, auc_slot from, auc_slot to,
					 double mb, struct auc_err *err)
{
	int64_t bytes;
	auc_slot t;

	if (!(mb >= 0 && mb <= BUDGET_MAX))
		return auc_err_set(err, AUC_EINVAL, "transfer: %g MB: expected 0 to %g", mb,
				   BUDGET_MAX);
	if (!m->traffic.limited)
		return AUC_OK;
	bytes = auc_traffic_bytes(mb);
	from = from < m->first ? m->first : from;
	to = to > auc_market_last(m) ? auc_market_last(m) : to;
	for (t = from; t <= to; t++)
		if (bytes > auc_traffic_left(m, (unsigned)(t - m->first)))
			return auc_err_set(
				err, AUC_EFULL, "slot %lld: transfer: %g MB wanted, %g left",
				(long long)t, mb,
				(double)auc_traffic_left(m, (unsigned)(t - m->first)) / BYTES);
	for (t = from; t <= to; t++)
		set_used(m, (unsigned)(t - m->first), m->traffic.used[t - m->first] + bytes);
	return AUC_OK;
}

bool auc_traffic_lay_out(struct auc_market *m)
{
	m->traffic.used = calloc(m->slots, sizeof(*m->traffic.used));
	m->traffic.price = calloc(m->slots, sizeof(*m->traffic.price));
	if (!m->traffic.used || !m->traffic.price)
		return false;
	auc_traffic_reprice(m);
	return true;
}

void auc_traffic_free(struct auc_market *m)
{
	free(m->traffic.used);
	free(m->traffic.price);
}

void auc_traffic_shift(struct auc_market *m, unsigned shift)
{
	size_t keep = m->slots - shift;
	unsigned i;

	memmove(m->traffic.used, m->traffic.used + shift, keep * sizeof(*m->traffic.used));
	memmove(m->traffic.price, m->traffic.price + shift, keep * sizeof(*m->traffic.price));
	for (i = (unsigned)keep; i < m->slots; i++) {
		m->traffic.price[i] = m->traffic.idle_price;
		set_used(m, i, 0);
	}
}

void auc_traffic_reprice(struct auc_market *m)
{
	unsigned i;

	for (i = 0; i < m->slots; i++)
		set_used(m, i, m->traffic.used[i]);
}

void auc_traffic_copy(struct auc_market *m, const struct auc_market *from)
{
	m->traffic.limited = from->traffic.limited;
	m->traffic.budget = from->traffic.budget;
	m->traffic.curve = from->traffic.curve;
	m->traffic.idle_price = from->traffic.idle_price;
	memcpy(m->traffic.used, from->traffic.used, m->slots * sizeof(*m->traffic.used));
	memcpy(m->traffic.price, from->traffic.price, m->slots * sizeof(*m->traffic.price));
}

bool auc_traffic_sound(const struct auc_market *m)
{
	unsigned i;

	for (i = 0; i < m->slots; i++)
		if (m->traffic.used[i] < 0 || auc_traffic_left(m, i) < 0)
			return false;
	return true;
}

/* The price follows, unless it is a given one. */
static void set_used(struct auc_market *m, unsigned slot, int64_t used)
{
	m->traffic.used[slot] = used;
	if (m->given)
		return;
	/* Of a budget of 0 nothing is sold. */
	m->traffic.price[slot] =
		m->traffic.limited && m->traffic.budget
			? auc_price_unit(&m->traffic.curve, (double)used, (double)m->traffic.budget)
			: 0;
}

/* -- what a plan sends -- */

bool auc_plan_sends(const struct auc_plan *p)
{
	return p->nmoves || p->exchange_mb > 0;
}

int64_t auc_plan_bytes(const struct auc_plan *p, const struct auc_run *run, auc_slot t)
{
	const struct auc_share *s = p->shares + run->first_share, *end = s + run->nshares;
	int64_t away = 0, chunks = 0;

	for (; s < end; s++)
		away += s->ps ? 0 : s->workers;
	for (unsigned i = 0; i < p->nmoves && p->moves[i].slot <= t; i++)
		chunks += p->moves[i].slot == t ? p->moves[i].chunks : 0;
	return away * auc_traffic_bytes(p->exchange_mb) + chunks * auc_traffic_bytes(p->chunk_mb);
}

double auc_plan_traffic(const struct auc_plan *p, const struct auc_run *run, auc_slot t)
{
	return (double)auc_plan_bytes(p, run, t) / BYTES;
}

double auc_plan_traffic_cost(const struct auc_plan *p, const struct auc_market *m)
{
	const struct auc_run *run;
	double cost = 0;
	auc_slot t;

	if (!auc_plan_sends(p))
		return 0;
	for (run = p->runs; run < p->runs + p->nruns; run++)
		for (t = run->from; t <= run->to; t++)
			cost += (double)auc_plan_bytes(p, run, t) / BYTES *
				auc_market_traffic_price(m, t);
	return cost;
}

enum auc_code auc_traffic_check(const struct auc_market *m, const struct auc_plan *plan,
				auc_slot from, auc_slot to, bool book, struct auc_err *err)
{
	const struct auc_run *run;
	int64_t bytes, most;
	unsigned slot;
	auc_slot t;

	if (!m->traffic.limited || !auc_plan_sends(plan))
		return AUC_OK;
	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		for (t = run->from > from ? run->from : from; t <= run->to && t <= to; t++) {
			slot = (unsigned)(t - m->first);
			bytes = auc_plan_bytes(plan, run, t);
			most = book ? auc_traffic_left(m, slot) : m->traffic.used[slot];
			if (bytes > most)
				return auc_err_set(err, book ? AUC_EFULL : AUC_ESTATE,
						   "slot %lld: transfer: %g MB are more than %g %s",
						   (long long)t, (double)bytes / BYTES,
						   (double)most / BYTES, book ? "left" : "in use");
		}
	return AUC_OK;
}

void auc_traffic_apply(struct auc_market *m, const struct auc_plan *plan, auc_slot from,
		       auc_slot to, bool book)
{
	const struct auc_run *run;
	int64_t bytes;
	unsigned slot;
	auc_slot t;

	if (!m->traffic.limited || !auc_plan_sends(plan))
		return;
	for (run = plan->runs; run < plan->runs + plan->nruns; run++)
		for (t = run->from > from ? run->from : from; t <= run->to && t <= to; t++) {
			slot = (unsigned)(t - m->first);
			bytes = auc_plan_bytes(plan, run, t);
			AUC_CHECK(slot < m->slots && bytes >= 0, "slot %lld: %lld bytes are sent",
				  (long long)t, (long long)bytes);
			set_used(m, slot, m->traffic.used[slot] + (book ? bytes : -bytes));
			AUC_CHECK(m->traffic.used[slot] >= 0 &&
					  m->traffic.used[slot] <= m->traffic.budget,
				  "slot %lld: %lld of %lld bytes are sold", (long long)t,
				  (long long)m->traffic.used[slot], (long long)m->traffic.budget);
		}
}

enum auc_code auc_market_book_traffic(struct auc_market *m, const struct auc_plan *plan,
				      auc_slot from, auc_slot to, bool book, struct auc_err *err)
{
	enum auc_code rc;

	from = from < m->first ? m->first : from;
	to = to > auc_market_last(m) ? auc_market_last(m) : to;
	rc = auc_traffic_check(m, plan, from, to, book, err);
	if (rc == AUC_OK)
		auc_traffic_apply(m, plan, from, to, book);
	return rc;
}
