/*
 * caps.c - Slurm's limits on TRES (caps.h), before a plan is sold.
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
#include "input/bid_limits.h"

#define ROUNDING 1e-9

/* What the sales that a cap counts have in each slot from FIRST on, to the end of the market. */
struct sold {
	auc_slot first;
	unsigned nslots;
	double *amount;
};

static bool broken(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, auc_slot *from, char *why, size_t size);
static bool concerns(const struct auc_market *m, const struct auc_cap *cap,
		     const struct auc_plan *plan);
static bool at_once(const struct auc_auction *a, const struct auc_question *q,
		    const struct auc_cap *cap, double need, auc_slot *from, char *why, size_t size);
static void add_sales(const struct auc_auction *a, const struct auc_question *q,
		      const struct auc_cap *cap, struct sold *sold);
static bool counts(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, const struct auc_sale *s);
static bool of_qos(const struct auc_auction *a, const struct auc_caps *caps, const char *qos,
		   const struct auc_sale *s);
static double of_run(const struct auc_market *m, const struct auc_plan *plan,
		     const struct auc_run *run, const struct auc_cap *cap);
static double of_share(const struct auc_market *m, const struct auc_plan *plan,
		       const struct auc_share *share, const struct auc_cap *cap);
static double of_job(const struct auc_market *m, const struct auc_plan *plan,
		     const struct auc_cap *cap);
static bool is_of(const char *tres, const struct auc_cap *cap);

const struct auc_cap *auc_auction_broken_cap(const struct auc_auction *a,
					     const struct auc_question *q, auc_slot *from,
					     char *why, size_t size)
{
	const struct auc_caps *caps = q->bid.caps;

	*from = 0;
	for (unsigned i = 0; caps && i < caps->n; i++)
		if (concerns(a->market, &caps->cap[i], &q->decision.plan) &&
		    broken(a, q, &caps->cap[i], from, why, size))
			return &caps->cap[i];
	return NULL;
}

bool auc_cap_drop_shapes(const struct auc_cap *cap, struct auc_bid *bid)
{
	struct auc_bid_gang *g = &bid->gang;
	unsigned n = 0, had = g->nshapes;

	for (unsigned i = 0; i < had; i++) {
		struct auc_bid_shape *s = &g->shapes[i];
		double each = !strcmp(cap->tres, "node"), all;
		bool out;

		for (unsigned k = 0; k < g->ntres; k++)
			each += is_of(g->tres[k], cap) ? s->amount[k] : 0;
		all = each * (double)s->nodes;
		if (cap->kind == AUC_CAP_MINUTES)
			all *= ceil(s->seconds / 60);
		out = cap->kind == AUC_CAP_NODE    ? each > cap->amount
		      : cap->kind == AUC_CAP_LEAST ? all < cap->amount
						   : all > cap->amount;
		if (!out)
			g->shapes[n++] = *s;
	}
	if (n)
		g->nshapes = n;
	return n && n < had;
}

static bool broken(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, auc_slot *from, char *why, size_t size)
{
	const struct auc_plan *plan = &q->decision.plan;
	double need = 0, minutes;

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
		minutes = (double)(plan->completion - plan->start) * a->conf->slot_seconds / 60;
		need = of_job(a->market, plan, cap) * ceil(minutes);
		break;
	case AUC_CAP_AT_ONCE:
		for (unsigned i = 0; i < plan->nruns; i++)
			need = fmax(need, of_run(a->market, plan, &plan->runs[i], cap));
		return need > 0 && at_once(a, q, cap, need, from, why, size);
	}
	if (cap->kind == AUC_CAP_LEAST ? need >= cap->amount - ROUNDING
				       : need <= cap->amount + ROUNDING)
		return false;
	snprintf(why, size, "%s, and the best schedule has %s of %.15g", cap->text,
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

/* NEED: what the plan has at most at one time. */
static bool at_once(const struct auc_auction *a, const struct auc_question *q,
		    const struct auc_cap *cap, double need, auc_slot *from, char *why, size_t size)
{
	const struct auc_plan *plan = &q->decision.plan;
	auc_slot last = auc_market_last(a->market);
	unsigned length = (unsigned)(plan->completion - plan->start), full = 0, i;
	struct sold sold = {.first = plan->start,
			    .nslots = last < plan->start ? 0 : (unsigned)(last - plan->start) + 1};
	double most = 0;

	if (need > cap->amount + ROUNDING) {
		snprintf(why, size, "%s at once, and the best schedule has %.15g", cap->text, need);
		return true;
	}
	sold.amount = calloc(sold.nslots + 1, sizeof(*sold.amount));
	if (!sold.amount) {
		snprintf(why, size, "%s: no memory to look at it", cap->text);
		return true;
	}
	add_sales(a, q, cap, &sold);
	for (i = 0; i < length && i < sold.nslots; i++)
		most = fmax(most, sold.amount[i]);
	/* The first time as long as the plan that has room for it. */
	for (i = 0; i < sold.nslots && full < length; i++)
		full = sold.amount[i] + need > cap->amount + ROUNDING ? 0 : full + 1;
	if (most + need > cap->amount + ROUNDING && full == length)
		*from = sold.first + i - length;
	free(sold.amount);
	if (most + need <= cap->amount + ROUNDING)
		return false;
	snprintf(why, size, "%s at once, and with what is sold already it would be %.15g",
		 cap->text, most + need);
	return true;
}

static void add_sales(const struct auc_auction *a, const struct auc_question *q,
		      const struct auc_cap *cap, struct sold *sold)
{
	auc_slot end = sold->first + sold->nslots;

	for (unsigned i = auc_ledger_count(a->ledger); i-- > 0;) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		if (s->plan.completion <= sold->first || !counts(a, q, cap, s))
			continue;
		for (const struct auc_run *r = s->plan.runs; r < s->plan.runs + s->plan.nruns;
		     r++) {
			double amount = of_run(a->market, &s->plan, r, cap);
			auc_slot t = r->from < sold->first ? sold->first : r->from;

			for (; t <= r->to && t < end; t++)
				sold->amount[t - sold->first] += amount;
		}
	}
}

static bool counts(const struct auc_auction *a, const struct auc_question *q,
		   const struct auc_cap *cap, const struct auc_sale *s)
{
	if (cap->own && s->uid != q->uid)
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

static double of_run(const struct auc_market *m, const struct auc_plan *plan,
		     const struct auc_run *run, const struct auc_cap *cap)
{
	double sum = 0;

	for (unsigned i = 0; i < run->nshares; i++)
		sum += of_share(m, plan, &plan->shares[run->first_share + i], cap);
	return sum;
}

static double of_share(const struct auc_market *m, const struct auc_plan *plan,
		       const struct auc_share *share, const struct auc_cap *cap)
{
	double sum = !strcmp(cap->tres, "node");

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
