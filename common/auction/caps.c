/*
 * caps.c - Slurm's limits on jobs and TRES (caps.h), before a plan is sold.
 *
 * As with limits of partitions no policy knows of them (partition_limits.c): a decision that breaks
 * one is made once more without what breaks it. Where others of the sales that count are in the
 * way, that is the time until they are over.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "auction/auction-private.h"
#include "auction/sale_parts.h"
#include "input/bid_limits.h"

#define ROUNDING 1e-9

/* What a cap counts in each slot from FIRST on. */
struct times {
	auc_slot first;
	unsigned nslots;
	double *amount;
};

static bool broken(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, struct auc_cap_break *b);
static bool concerns(const struct auc_market *m, const struct auc_cap *cap,
		     const struct auc_plan *plan);
static bool by_slot(const struct auc_auction *a, const struct auc_question *q,
		    const struct auc_cap *cap, struct auc_cap_break *b);
static bool in_all(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, struct auc_cap_break *b);
static unsigned first_room(const struct times *own, const struct times *sold, double amount);
static void add_sales(const struct auc_auction *a, const struct auc_question *q,
		      const struct auc_cap *cap, struct times *sold);
static void add_plan(const struct auc_market *m, const struct auc_cap *cap,
		     const struct auc_plan *plan, struct times *to);
static void add(struct times *to, auc_slot from, auc_slot end, double amount, double lag,
		double each);
static double total_of(const struct auc_market *m, const struct auc_cap *cap,
		       const struct auc_plan *plan);
static bool counts(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, const struct auc_sale *s);
static bool of_qos(const struct auc_auction *a, const struct auc_caps *caps, const char *qos,
		   const struct auc_sale *s);
static unsigned jobs_of(const struct auc_plan *plan, const struct auc_run *run);
static double of_run(const struct auc_market *m, const struct auc_plan *plan,
		     const struct auc_run *run, const struct auc_cap *cap);
static double of_share(const struct auc_market *m, const struct auc_plan *plan,
		       const struct auc_share *share, const struct auc_cap *cap);
static double of_job(const struct auc_market *m, const struct auc_plan *plan,
		     const struct auc_cap *cap);
static double minutes_of(const struct auc_market *m, auc_slot from, auc_slot end);
static bool is_of(const char *tres, const struct auc_cap *cap);
static bool is_jobs(const struct auc_cap *cap);

bool auc_auction_breaks_cap(const struct auc_auction *a, const struct auc_question *q,
			    struct auc_cap_break *b)
{
	const struct auc_caps *caps = q->bid.caps;

	for (unsigned i = 0; caps && i < caps->n; i++) {
		*b = (struct auc_cap_break){.cap = &caps->cap[i], .room = caps->cap[i].amount};
		if (concerns(a->market, b->cap, &q->decision.plan) && broken(a, q, b->cap, b))
			return true;
	}
	return false;
}

bool auc_cap_drop_shapes(const struct auc_cap_break *b, struct auc_bid *bid)
{
	const struct auc_cap *cap = b->cap;
	struct auc_bid_gang *g = &bid->gang;
	unsigned n = 0, had = g->nshapes;

	for (unsigned i = 0; i < had; i++) {
		struct auc_bid_shape *s = &g->shapes[i];
		double each = !strcmp(cap->tres, "node"), all;
		bool out;

		for (unsigned k = 0; k < g->ntres; k++)
			each += is_of(g->tres[k], cap) ? s->amount[k] : 0;
		all = is_jobs(cap) ? 1 : each * (double)s->nodes;
		if (cap->kind == AUC_CAP_MINUTES || cap->kind == AUC_CAP_AHEAD ||
		    cap->kind == AUC_CAP_TOTAL)
			all *= ceil(s->seconds / 60);
		out = cap->kind == AUC_CAP_NODE    ? each > b->room
		      : cap->kind == AUC_CAP_LEAST ? all < b->room
						   : all > b->room;
		if (!out)
			g->shapes[n++] = *s;
	}
	if (n)
		g->nshapes = n;
	return n && n < had;
}

static bool broken(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, struct auc_cap_break *b)
{
	const struct auc_plan *plan = &q->decision.plan;
	double need = 0;

	switch (cap->kind) {
	case AUC_CAP_JOB:
	case AUC_CAP_LEAST:
		need = of_job(a->market, plan, cap);
		break;
	case AUC_CAP_NODE:
		for (unsigned i = 0; i < plan->nshares; i++)
			need = fmax(need, of_share(a->market, plan, &plan->shares[i], cap));
		break;
	case AUC_CAP_MINUTES:
		need = of_job(a->market, plan, cap) *
		       minutes_of(a->market, plan->start, plan->completion);
		break;
	case AUC_CAP_AT_ONCE:
	case AUC_CAP_AHEAD:
		return by_slot(a, q, cap, b);
	case AUC_CAP_TOTAL:
		return in_all(a, q, cap, b);
	}
	if (cap->kind == AUC_CAP_LEAST ? need >= cap->amount - ROUNDING
				       : need <= cap->amount + ROUNDING)
		return false;
	snprintf(b->why, sizeof(b->why), "%s, and the best schedule has %s of %.15g", cap->text,
		 cap->kind == AUC_CAP_MINUTES ? "a job times its minutes"
		 : cap->kind == AUC_CAP_NODE  ? "a node"
					      : "a job",
		 need);
	return true;
}

/* True if PLAN is in the partition that CAP holds in. */
static bool concerns(const struct auc_market *m, const struct auc_cap *cap,
		     const struct auc_plan *plan)
{
	for (unsigned i = 0; i < plan->nshares; i++)
		if (!*cap->partition ||
		    !strcmp(auc_market_server_group(m, plan->shares[i].server), cap->partition))
			return true;
	return false;
}

/* What the plan has in each slot, and what sales that count have there. */
static bool by_slot(const struct auc_auction *a, const struct auc_question *q,
		    const struct auc_cap *cap, struct auc_cap_break *b)
{
	const struct auc_plan *plan = &q->decision.plan;
	auc_slot last = auc_market_last(a->market);
	struct times own = {.first = plan->start,
			    .nslots = (unsigned)(plan->completion - plan->start)};
	struct times sold = {.first = plan->start,
			     .nslots = last < plan->start ? 0 : (unsigned)(last - plan->start) + 1};
	double need = 0, most = 0;
	unsigned later;

	own.amount = calloc((size_t)own.nslots + sold.nslots + 1, sizeof(*own.amount));
	if (!own.amount) {
		snprintf(b->why, sizeof(b->why), "%s: no memory to look at it", cap->text);
		return true;
	}
	sold.amount = own.amount + own.nslots;
	add_plan(a->market, cap, plan, &own);
	add_sales(a, q, cap, &sold);
	for (unsigned i = 0; i < own.nslots; i++) {
		need = fmax(need, own.amount[i]);
		if (own.amount[i] > 0 && i < sold.nslots)
			most = fmax(most, own.amount[i] + sold.amount[i]);
	}
	most = fmax(most, need);
	if (need > cap->amount + ROUNDING) {
		snprintf(b->why, sizeof(b->why), "%s at once, and the best schedule has %.15g",
			 cap->text, need);
	} else if (most > cap->amount + ROUNDING) {
		later = first_room(&own, &sold, cap->amount);
		b->from = later ? plan->start + later : 0;
		snprintf(b->why, sizeof(b->why),
			 "%s at once, and with what is sold already it would be %.15g", cap->text,
			 most);
	}
	free(own.amount);
	return most > cap->amount + ROUNDING;
}

/* How many slots later OWN fits on top of SOLD; 0: it never does. */
static unsigned first_room(const struct times *own, const struct times *sold, double amount)
{
	for (unsigned later = 1; later + own->nslots <= sold->nslots; later++) {
		unsigned i = 0;

		while (i < own->nslots &&
		       (own->amount[i] <= 0 ||
			own->amount[i] + sold->amount[later + i] <= amount + ROUNDING))
			i++;
		if (i == own->nslots)
			return later;
	}
	return 0;
}

/* What is used up, the plan and the sales that count, whenever they are. */
static bool in_all(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, struct auc_cap_break *b)
{
	double need = total_of(a->market, cap, &q->decision.plan), sold = 0;

	for (unsigned i = auc_ledger_count(a->ledger); need > 0 && i-- > 0;) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		if (counts(a, q, cap, s))
			sold += total_of(a->market, cap, &s->plan);
	}
	b->room = cap->amount - cap->used - sold;
	if (need <= 0 || need <= b->room + ROUNDING)
		return false;
	snprintf(b->why, sizeof(b->why),
		 "%s in all: %.0f minutes are used, %.0f are sold already, and the best schedule "
		 "has %.0f",
		 cap->text, cap->used, sold, need);
	return true;
}

static void add_sales(const struct auc_auction *a, const struct auc_question *q,
		      const struct auc_cap *cap, struct times *sold)
{
	for (unsigned i = auc_ledger_count(a->ledger); i-- > 0;) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		if (s->plan.completion > sold->first && counts(a, q, cap, s))
			add_plan(a->market, cap, &s->plan, sold);
	}
}

static void add_plan(const struct auc_market *m, const struct auc_cap *cap,
		     const struct auc_plan *plan, struct times *to)
{
	double each = auc_market_slot_seconds(m) / 60;

	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];

		if (cap->kind == AUC_CAP_AT_ONCE) {
			add(to, run->from, run->to + 1, of_run(m, plan, run, cap), 0, 0);
			continue;
		}
		for (unsigned i = 0; i < (is_jobs(cap) ? jobs_of(plan, run) : run->nshares); i++) {
			const struct auc_share *s = &plan->shares[run->first_share + i];
			unsigned n = auc_plan_share_lasts(plan, r, s);

			/* A job at its start has its whole limit, in whole minutes, ahead of it. */
			if (n)
				add(to, run->from, plan->runs[r + n - 1].to + 1,
				    of_share(m, plan, s, cap), cap->lag, each);
		}
	}
}

/* AMOUNT in each slot from FROM until END; with EACH, minutes of a slot, times those that are ahead
 * then, and LAG, at most all. */
static void add(struct times *to, auc_slot from, auc_slot end, double amount, double lag,
		double each)
{
	double all = fmax(1, ceil((double)(end - from) * each - ROUNDING));

	for (auc_slot t = from < to->first ? to->first : from;
	     t < end && t < to->first + to->nslots; t++)
		to->amount[t - to->first] +=
			each > 0 ? amount * fmin(all, all - (double)(t - from) * each + lag)
				 : amount;
}

/* What PLAN has times its minutes; of those that are used up already not all. */
static double total_of(const struct auc_market *m, const struct auc_cap *cap,
		       const struct auc_plan *plan)
{
	auc_slot since = auc_slot_from(cap->since, auc_market_slot_seconds(m));
	double sum = 0;

	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];

		for (unsigned i = 0; i < (is_jobs(cap) ? jobs_of(plan, run) : run->nshares); i++) {
			const struct auc_share *s = &plan->shares[run->first_share + i];
			unsigned n = auc_plan_share_lasts(plan, r, s);
			auc_slot from = run->from > since ? run->from : since;

			if (n && from <= plan->runs[r + n - 1].to)
				sum += of_share(m, plan, s, cap) *
				       minutes_of(m, from, plan->runs[r + n - 1].to + 1);
		}
	}
	return sum;
}

/* As Slurm has it: whole minutes, at least one. */
static double minutes_of(const struct auc_market *m, auc_slot from, auc_slot end)
{
	return fmax(1, ceil((double)(end - from) * auc_market_slot_seconds(m) / 60 - ROUNDING));
}

static bool counts(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, const struct auc_sale *s)
{
	if (cap->own && s->uid != q->uid)
		return false;
	if (cap->there && !concerns(a->market, cap, &s->plan))
		return false;
	if (*cap->account && !auc_bid_is_of_account(s->bid, cap->account, cap->exactly))
		return false;
	return !*cap->qos || of_qos(a, q->bid.caps, cap->qos, s);
}

/* True if S is of QOS, by its job or by where it runs. */
static bool of_qos(const struct auc_auction *a, const struct auc_caps *caps, const char *qos,
		   const struct auc_sale *s)
{
	const char *partition;

	if (auc_bid_is_of_qos(s->bid, qos))
		return true;
	if (!s->plan.nshares)
		return false;
	partition = auc_market_server_group(a->market, s->plan.shares[0].server);
	for (unsigned i = 0; i < caps->nown; i++)
		if (!strcmp(caps->own[i].partition, partition) && !strcmp(caps->own[i].qos, qos))
			return true;
	return false;
}

/* A gang is one job, else each node has one. */
static unsigned jobs_of(const struct auc_plan *plan, const struct auc_run *run)
{
	return plan->gang && run->nshares ? 1 : run->nshares;
}

static double of_run(const struct auc_market *m, const struct auc_plan *plan,
		     const struct auc_run *run, const struct auc_cap *cap)
{
	double sum = 0;

	if (is_jobs(cap))
		return jobs_of(plan, run);
	for (unsigned i = 0; i < run->nshares; i++)
		sum += of_share(m, plan, &plan->shares[run->first_share + i], cap);
	return sum;
}

static double of_share(const struct auc_market *m, const struct auc_plan *plan,
		       const struct auc_share *share, const struct auc_cap *cap)
{
	double sum = is_jobs(cap) || !strcmp(cap->tres, "node");

	for (unsigned k = 0; k < auc_market_ntres(m); k++)
		if (is_of(auc_market_tres_name(m, k), cap))
			sum += auc_plan_amount(plan, m, share->workers, share->ps, k);
	return sum;
}

/* The largest of its jobs, or of the least the smallest: a gang is one job, else a share is. */
static double of_job(const struct auc_market *m, const struct auc_plan *plan,
		     const struct auc_cap *cap)
{
	bool least = cap->kind == AUC_CAP_LEAST;
	double found = least ? INFINITY : 0;

	for (unsigned i = 0; plan->gang && i < plan->nruns; i++) {
		double job = of_run(m, plan, &plan->runs[i], cap);

		found = least ? fmin(found, job) : fmax(found, job);
	}
	for (unsigned i = 0; !plan->gang && i < plan->nshares; i++) {
		double job = of_share(m, plan, &plan->shares[i], cap);

		found = least ? fmin(found, job) : fmax(found, job);
	}
	return found;
}

/* True if TRES is CAP's, or a type of it. */
static bool is_of(const char *tres, const struct auc_cap *cap)
{
	size_t len = strlen(cap->tres);

	return !strncasecmp(tres, cap->tres, len) && (!tres[len] || tres[len] == ':');
}

static bool is_jobs(const struct auc_cap *cap)
{
	return !strcmp(cap->tres, "job");
}
