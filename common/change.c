/*
 * change.c - a sale that gets another plan while it lives: one more slot at its end, or another
 * server instead of one that fails (auction.h).
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auction-private.h"
#include "market-private.h"

static enum auc_code begin(struct auc_auction *a, uint32_t job_id, const struct auc_sale **sale,
			   struct auc_err *err);
static enum auc_code extend(struct auc_auction *a, const struct auc_sale *s, struct auc_plan *plan,
			    auc_money *value, auc_money *payment, struct auc_err *err);
static bool all_up(const struct auc_market *m, const struct auc_plan *plan);
static bool closed(const struct auc_market *m, unsigned server, auc_slot t);
static enum auc_code move(struct auc_auction *a, const struct auc_sale *s, unsigned server,
			  auc_slot from, struct auc_err *err);
static bool has_room(const struct auc_market *m, const struct auc_plan *plan, unsigned server,
		     unsigned other, auc_slot from);
static enum auc_code replace(const struct auc_plan *plan, unsigned server, unsigned other,
			     auc_slot from, struct auc_plan *made, struct auc_err *err);
static enum auc_code add_run(const struct auc_plan *plan, const struct auc_run *run, auc_slot from,
			     auc_slot to, unsigned server, unsigned other, struct auc_plan *made,
			     struct auc_err *err);
static const struct auc_share *share_on(const struct auc_plan *plan, const struct auc_run *run,
					unsigned server);

/* Canonical texts have this word or no such word. */
bool auc_sale_extends(const struct auc_sale *s)
{
	static const char word[] = " overrun=extend";
	const char *at = s->bid ? strstr(s->bid, word) : NULL;

	return at && (at[sizeof(word) - 1] == 0 || at[sizeof(word) - 1] == ' ');
}

enum auc_code auc_auction_extend(struct auc_auction *a, uint32_t job_id, char **receipt,
				 struct auc_err *err)
{
	const struct auc_sale *s = NULL;
	struct auc_plan plan;
	auc_money value = 0, payment = 0;
	enum auc_code rc;

	auc_plan_init(&plan);
	pthread_mutex_lock(&a->lock);
	rc = begin(a, job_id, &s, err);
	if (rc == AUC_OK)
		rc = extend(a, s, &plan, &value, &payment, err);
	if (rc == AUC_OK)
		rc = auc_ledger_change(a->ledger, job_id, &plan, value, payment, err);
	if (rc == AUC_OK)
		rc = auc_auction_give_receipt(a, s, 0, NULL, receipt, err);
	pthread_mutex_unlock(&a->lock);
	auc_plan_clear(&plan);
	return rc;
}

enum auc_code auc_auction_move(struct auc_auction *a, uint32_t job_id, const char *server,
			       double now, char **receipt, struct auc_err *err)
{
	const struct auc_sale *s = NULL;
	enum auc_code rc;
	auc_slot from;
	int k = -1;

	pthread_mutex_lock(&a->lock);
	rc = begin(a, job_id, &s, err);
	if (rc == AUC_OK && (k = auc_market_find_server(a->market, server)) < 0)
		rc = auc_err_set(err, AUC_ENOENT, "server '%.80s' is not known", server);
	from = auc_slot_of(now, a->conf->slot_seconds);
	if (rc == AUC_OK && from < s->plan.start)
		from = s->plan.start;
	if (rc == AUC_OK)
		rc = move(a, s, (unsigned)k, from, err);
	if (rc == AUC_OK)
		rc = auc_auction_give_receipt(a, s, 0, NULL, receipt, err);
	pthread_mutex_unlock(&a->lock);
	return rc;
}

static enum auc_code begin(struct auc_auction *a, uint32_t job_id, const struct auc_sale **sale,
			   struct auc_err *err)
{
	enum auc_code rc = a->recovered ? AUC_OK : auc_auction_check_ready(a, err);

	if (rc != AUC_OK)
		return rc;
	*sale = auc_ledger_find_job(a->ledger, job_id);
	if (!*sale || !(*sale)->plan.nruns)
		return auc_err_set(err, AUC_ENOENT, "job %" PRIu32 ": has no plan here", job_id);
	return AUC_OK;
}

/* Plan, value and payment of S with one more slot. */
static enum auc_code extend(struct auc_auction *a, const struct auc_sale *s, struct auc_plan *plan,
			    auc_money *value, auc_money *payment, struct auc_err *err)
{
	struct auc_plan slot; /* the new one alone; borrows */
	struct auc_run run;
	struct auc_bid *bid;
	enum auc_code rc;

	if (!auc_sale_extends(s) || s->state != AUC_SALE_RUNNING)
		return auc_err_set(err, AUC_ESTATE, "job %" PRIu32 ": does not buy more slots",
				   s->job_id);
	if (s->plan.completion > auc_market_last(a->market))
		return auc_err_set(err, AUC_EFULL, "slot %lld is not for sale yet",
				   (long long)s->plan.completion);
	rc = auc_plan_copy(plan, &s->plan, err);
	bid = rc == AUC_OK ? malloc(sizeof(*bid)) : NULL;
	if (!bid)
		return auc_err_set(err, AUC_ENOMEM, "out of memory for a longer plan");
	rc = auc_bid_parse(a->conf, s->bid, bid, err);
	if (rc == AUC_OK) {
		plan->runs[plan->nruns - 1].to = plan->completion++;
		plan->value = auc_utility_value(&bid->utility,
						(double)(plan->completion - plan->arrival));
	}
	free(bid);
	if (rc != AUC_OK)
		return rc;
	run = plan->runs[plan->nruns - 1];
	run.from = run.to;
	slot = *plan;
	slot.runs = &run;
	slot.nruns = 1;
	slot.start = run.from;
	if (!all_up(a->market, &slot))
		return auc_err_set(err, AUC_EFULL, "a node of its last slot is down");
	slot.cost = auc_plan_cost(&slot, a->market);
	plan->cost = auc_money_to(s->payment) + slot.cost;
	*value = auc_plan_value(plan);
	*payment = s->payment + auc_money_from(slot.cost);
	if (*payment >= *value)
		return auc_err_set(err, AUC_ESTATE,
				   "one more slot would cost %.6f and leave a value of %.6f for "
				   "%.6f paid",
				   slot.cost, auc_money_to(*value), auc_money_to(*payment));
	return AUC_OK;
}

/* True if nothing of PLAN's first run is on a server that is down or closed when it begins. */
static bool all_up(const struct auc_market *m, const struct auc_plan *plan)
{
	const struct auc_run *r = plan->runs;

	for (unsigned i = 0; i < r->nshares; i++)
		if (!auc_market_roles(m, plan->shares[r->first_share + i].server) ||
		    closed(m, plan->shares[r->first_share + i].server, r->from))
			return false;
	return true;
}

/* Booking does not ask: what was sold before may stay. */
static bool closed(const struct auc_market *m, unsigned server, auc_slot t)
{
	return m->closed && t >= m->first && t < m->first + m->slots &&
	       m->closed[(size_t)(t - m->first) * m->nservers + server];
}

static enum auc_code move(struct auc_auction *a, const struct auc_sale *s, unsigned server,
			  auc_slot from, struct auc_err *err)
{
	const struct auc_market *m = a->market;
	const char *group = auc_market_server_group(m, server);
	enum auc_code rc = AUC_EFULL;
	struct auc_plan made;
	bool gives = false;

	for (unsigned r = 0; r < s->plan.nruns && !gives; r++)
		gives = s->plan.runs[r].to >= from && share_on(&s->plan, &s->plan.runs[r], server);
	if (gives && s->plan.nchunks)
		return auc_err_set(err, AUC_EFULL, "chunks of job %" PRIu32 " lie on server %s",
				   s->job_id, auc_market_server_name(m, server));
	if (!gives)
		return auc_err_set(err, AUC_ENOENT, "server %s gives nothing to job %" PRIu32,
				   auc_market_server_name(m, server), s->job_id);
	auc_plan_init(&made);
	for (unsigned other = 0; other < auc_market_nservers(m) && rc == AUC_EFULL; other++) {
		if (other == server || strcmp(auc_market_server_group(m, other), group) ||
		    !has_room(m, &s->plan, server, other, from))
			continue;
		rc = replace(&s->plan, server, other, from, &made, err);
		if (rc == AUC_OK)
			rc = auc_ledger_change(a->ledger, s->job_id, &made, s->value, s->payment,
					       err);
	}
	auc_plan_clear(&made);
	if (rc == AUC_EFULL)
		auc_err_set(err, rc,
			    "no other node of partition %s has room for what %s was to give", group,
			    auc_market_server_name(m, server));
	return rc;
}

/* True if OTHER is up, gives nothing to PLAN from FROM on, and can give all that SERVER was to. */
static bool has_room(const struct auc_market *m, const struct auc_plan *plan, unsigned server,
		     unsigned other, auc_slot from)
{
	unsigned roles = auc_market_roles(m, other);

	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];
		const struct auc_share *s = share_on(plan, run, server);

		if (run->to < from)
			continue;
		if (share_on(plan, run, other))
			return false;
		if (!s)
			continue;
		if ((s->workers && !(roles & AUC_ROLE_WORKER)) || (s->ps && !(roles & AUC_ROLE_PS)))
			return false;
		for (auc_slot t = run->from > from ? run->from : from; t <= run->to; t++) {
			if (closed(m, other, t))
				return false;
			for (unsigned k = 0; k < auc_market_ntres(m); k++)
				if (auc_market_used(m, other, k, t) +
					    s->workers * auc_market_worker_amount(
								 m, plan->worker_type, k) +
					    s->ps * auc_market_ps_amount(m, plan->ps_type, k) >
				    auc_market_capacity(m, other, k))
					return false;
		}
	}
	return true;
}

/* PLAN with OTHER instead of SERVER in slots from FROM on. */
static enum auc_code replace(const struct auc_plan *plan, unsigned server, unsigned other,
			     auc_slot from, struct auc_plan *made, struct auc_err *err)
{
	struct auc_plan kept = *made;
	enum auc_code rc = AUC_OK;

	*made = *plan;
	made->runs = kept.runs;
	made->runs_alloc = kept.runs_alloc;
	made->shares = kept.shares;
	made->shares_alloc = kept.shares_alloc;
	made->nruns = made->nshares = 0;
	for (unsigned r = 0; r < plan->nruns && rc == AUC_OK; r++) {
		const struct auc_run *run = &plan->runs[r];
		bool cut = run->from < from && run->to >= from && share_on(plan, run, server);

		if (run->to < from || !share_on(plan, run, server)) {
			rc = add_run(plan, run, run->from, run->to, server, server, made, err);
			continue;
		}
		if (cut)
			rc = add_run(plan, run, run->from, from - 1, server, server, made, err);
		if (rc == AUC_OK)
			rc = add_run(plan, run, cut ? from : run->from, run->to, server, other,
				     made, err);
	}
	return rc;
}

/* RUN of PLAN as [FROM, TO] of MADE, with OTHER in the place of SERVER. */
static enum auc_code add_run(const struct auc_plan *plan, const struct auc_run *run, auc_slot from,
			     auc_slot to, unsigned server, unsigned other, struct auc_plan *made,
			     struct auc_err *err)
{
	const struct auc_share *moved = share_on(plan, run, server);
	enum auc_code rc = auc_plan_add_run(made, from, to, err);

	/* Shares ascend by server. */
	for (unsigned i = 0; i <= run->nshares && rc == AUC_OK; i++) {
		const struct auc_share *s =
			i < run->nshares ? &plan->shares[run->first_share + i] : NULL;

		if (moved && other != server && (!s || s->server > other)) {
			rc = auc_plan_add_share(made, other, moved->workers, moved->ps, err);
			moved = NULL;
		}
		if (rc == AUC_OK && s && (s->server != server || other == server))
			rc = auc_plan_add_share(made, s->server, s->workers, s->ps, err);
	}
	return rc;
}

/* NULL: RUN has nothing on SERVER. */
static const struct auc_share *share_on(const struct auc_plan *plan, const struct auc_run *run,
					unsigned server)
{
	for (unsigned i = 0; i < run->nshares; i++)
		if (plan->shares[run->first_share + i].server == server)
			return &plan->shares[run->first_share + i];
	return NULL;
}
