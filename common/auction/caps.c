/*
 * caps.c - Slurm's limits on jobs and TRES (caps.h), before a plan is sold, and before a sale gets
 * another one.
 *
 * As with limits of partitions no policy knows of them (partition_limits.c): a decision that breaks
 * one is made once more without what breaks it. Where others of the sales that count are in the
 * way, that is the time until they are over. A sale is refused a plan that breaks one in more than
 * its old plan did.
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

/* What a cap counts in each slot from FIRST on: of the plan, of the old one, of other sales. */
struct times {
	auc_slot first;
	unsigned nslots;
	double *own, *had, *sold;
};

/* The sales of a ledger, but the one that is to change; those of LIST as it says. */
struct in_ledger {
	const struct auc_ledger *ledger;
	const struct auc_sale *but;
	const struct auc_revision *list;
	unsigned n;
};

static bool in_ledger(const void *arg, unsigned i, struct auc_cap_sale *sale);
static bool broken(const struct auc_cap_look *l, const struct auc_cap *cap,
		   struct auc_cap_break *b);
static double of_itself(const struct auc_cap_look *l, const struct auc_plan *plan,
			const struct auc_cap *cap);
static double longest(const struct auc_cap_look *l, const struct auc_plan *plan);
static bool concerns(const struct auc_market *m, const struct auc_cap *cap,
		     const struct auc_plan *plan);
static bool by_slot(const struct auc_cap_look *l, const struct auc_cap *cap,
		    struct auc_cap_break *b);
static bool count(const struct auc_cap_look *l, const struct auc_cap *cap, unsigned nslots,
		  struct times *t);
static unsigned first_room(const struct times *t, unsigned nown, double amount);
static bool is_over(const struct times *t, unsigned own, unsigned at, double amount);
static bool in_all(const struct auc_cap_look *l, const struct auc_cap *cap,
		   struct auc_cap_break *b);
static void add_plan(const struct auc_market *m, const struct auc_cap *cap,
		     const struct auc_plan *plan, const struct times *t, double *to);
static void add(const struct times *t, double *to, auc_slot from, auc_slot end, double amount,
		double lag, double each);
static double total_of(const struct auc_market *m, const struct auc_cap *cap,
		       const struct auc_plan *plan);
static bool counts(const struct auc_cap_look *l, const struct auc_cap *cap,
		   const struct auc_cap_sale *s);
static bool of_qos(const struct auc_cap_look *l, const char *qos, const struct auc_cap_sale *s);
static unsigned jobs_of(const struct auc_plan *plan, const struct auc_run *run);
static double of_run(const struct auc_market *m, const struct auc_plan *plan,
		     const struct auc_run *run, const struct auc_cap *cap);
static double of_share(const struct auc_market *m, const struct auc_plan *plan,
		       const struct auc_share *share, const struct auc_cap *cap);
static double of_job(const struct auc_cap_look *l, const struct auc_plan *plan,
		     const struct auc_cap *cap);
static double minutes_of(const struct auc_market *m, auc_slot from, auc_slot end);
static bool is_of(const char *tres, const struct auc_cap *cap);
static bool is_jobs(const struct auc_cap *cap);

bool auc_auction_breaks_cap(const struct auc_auction *a, const struct auc_question *q,
			    struct auc_cap_break *b)
{
	struct in_ledger all = {.ledger = a->ledger};
	struct auc_cap_look look = {.market = a->market,
				    .caps = q->bid.caps,
				    .uid = q->uid,
				    .plan = &q->decision.plan,
				    .from = q->decision.plan.start,
				    .finds_room = true,
				    .n = auc_ledger_count(a->ledger),
				    .other = in_ledger,
				    .arg = &all};

	return auc_cap_is_broken(&look, b);
}

bool auc_auction_change_breaks_cap(const struct auc_auction *a, const struct auc_caps *caps,
				   const struct auc_sale *s, const struct auc_plan *plan,
				   const struct auc_revision *list, unsigned n,
				   struct auc_cap_break *b)
{
	struct in_ledger others = {.ledger = a->ledger, .but = s, .list = list, .n = n};
	struct auc_cap_look look = {.market = a->market,
				    .caps = caps,
				    .uid = s->uid,
				    .plan = plan,
				    .old = &s->plan,
				    .from = auc_market_first(a->market),
				    .together = list,
				    .n = auc_ledger_count(a->ledger),
				    .other = in_ledger,
				    .arg = &others};

	return auc_cap_is_broken(&look, b);
}

static bool in_ledger(const void *arg, unsigned i, struct auc_cap_sale *sale)
{
	const struct in_ledger *in = arg;
	const struct auc_sale *s = auc_ledger_at(in->ledger, i);

	if (s == in->but)
		return false;
	*sale = (struct auc_cap_sale){s->uid, s->bid, &s->plan};
	for (unsigned k = 0; k < in->n; k++)
		if (s->job_id == in->list[k].job_id)
			sale->plan = in->list[k].plan;
	return true;
}

bool auc_cap_is_broken(const struct auc_cap_look *l, struct auc_cap_break *b)
{
	for (unsigned i = 0; l->caps && i < l->caps->n; i++) {
		const struct auc_cap *cap = &l->caps->cap[i];

		*b = (struct auc_cap_break){.cap = cap, .room = cap->amount};
		if (l->together && cap->kind < AUC_CAP_AT_ONCE)
			continue;
		if (concerns(l->market, cap, l->plan) && broken(l, cap, b))
			return true;
	}
	return false;
}

enum auc_code auc_auction_caps_of(const struct auc_auction *a, uint32_t uid, const char *bid,
				  struct auc_caps **caps, struct auc_err *err)
{
	char account[AUC_NAME_MAX], qos[AUC_NAME_MAX];

	*caps = NULL;
	if (!a->caps_source || !auc_bid_limits_of(bid, account, qos))
		return AUC_OK;
	return a->caps_source(a->caps_arg, uid, account, qos, caps, err);
}

enum auc_code auc_auction_keep_caps(const struct auc_auction *a, const struct auc_sale *s,
				    const struct auc_plan *plan, struct auc_err *err)
{
	struct auc_cap_break broken;
	struct auc_caps *caps;
	enum auc_code rc = auc_auction_caps_of(a, s->uid, s->bid, &caps, err);

	if (rc == AUC_OK && auc_auction_change_breaks_cap(a, caps, s, plan, NULL, 0, &broken))
		rc = auc_err_set(err, AUC_EFULL, "%s", broken.why);
	free(caps);
	return rc;
}

void auc_auction_set_caps(struct auc_auction *a, auc_caps_source *source, void *arg)
{
	pthread_mutex_lock(&a->admin);
	pthread_mutex_lock(&a->lock);
	a->caps_source = source;
	a->caps_arg = arg;
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&a->admin);
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

static bool broken(const struct auc_cap_look *l, const struct auc_cap *cap, struct auc_cap_break *b)
{
	double need, had;

	if (cap->kind == AUC_CAP_AT_ONCE || cap->kind == AUC_CAP_AHEAD)
		return by_slot(l, cap, b);
	if (cap->kind == AUC_CAP_TOTAL)
		return in_all(l, cap, b);
	need = of_itself(l, l->plan, cap);
	if (cap->kind == AUC_CAP_LEAST ? need >= cap->amount - ROUNDING
				       : need <= cap->amount + ROUNDING)
		return false;
	had = l->old ? of_itself(l, l->old, cap) : need;
	if (l->old &&
	    (cap->kind == AUC_CAP_LEAST ? need >= had - ROUNDING : need <= had + ROUNDING))
		return false;
	snprintf(b->why, sizeof(b->why), "%s, and the best schedule has %s of %.15g", cap->text,
		 cap->kind == AUC_CAP_MINUTES ? "a job times its minutes"
		 : cap->kind == AUC_CAP_NODE  ? "a node"
					      : "a job",
		 need);
	return true;
}

/* What CAP, on each job for itself, counts of PLAN. */
static double of_itself(const struct auc_cap_look *l, const struct auc_plan *plan,
			const struct auc_cap *cap)
{
	double most = 0;

	if (cap->kind == AUC_CAP_MINUTES)
		return of_job(l, plan, cap) * longest(l, plan);
	if (cap->kind != AUC_CAP_NODE)
		return of_job(l, plan, cap);
	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];

		for (unsigned i = 0; run->to >= l->from && i < run->nshares; i++)
			most = fmax(most, of_share(l->market, plan,
						   &plan->shares[run->first_share + i], cap));
	}
	return most;
}

/* Minutes without a pause, after which jobs start anew. */
static double longest(const struct auc_cap_look *l, const struct auc_plan *plan)
{
	auc_slot start = plan->start;
	double most = 0;

	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];

		if (r && run->from > plan->runs[r - 1].to + 1)
			start = run->from;
		if (run->to >= l->from)
			most = fmax(most, minutes_of(l->market, start, run->to + 1));
	}
	return most;
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
static bool by_slot(const struct auc_cap_look *l, const struct auc_cap *cap,
		    struct auc_cap_break *b)
{
	auc_slot first = l->plan->start > l->from ? l->plan->start : l->from;
	auc_slot last = auc_market_last(l->market);
	unsigned nown = l->plan->completion > first ? (unsigned)(l->plan->completion - first) : 0;
	unsigned n = nown, later;
	double need = 0, most = 0;
	struct times t;
	bool over = false;

	if (!count(l, cap, nown, &t)) {
		snprintf(b->why, sizeof(b->why), "%s: no memory to look at it", cap->text);
		return true;
	}
	for (unsigned i = 0; i < nown; i++) {
		if (!is_over(&t, i, i, cap->amount))
			continue;
		over = true;
		need = fmax(need, t.own[i]);
		most = fmax(most, t.own[i] + t.sold[i]);
	}
	if (over && need > cap->amount + ROUNDING) {
		snprintf(b->why, sizeof(b->why), "%s at once, and the best schedule has %.15g",
			 cap->text, need);
	} else if (over) {
		snprintf(b->why, sizeof(b->why),
			 "%s at once, and with what is sold already it would be %.15g", cap->text,
			 most);
		if (l->finds_room && last >= first + (auc_slot)nown)
			n = (unsigned)(last - first) + 1;
	}
	free(t.own);
	if (n > nown && count(l, cap, n, &t)) {
		later = first_room(&t, nown, cap->amount);
		b->from = later ? first + later : 0;
		free(t.own);
	}
	return over;
}

/* What L counts in the NSLOTS slots from the plan's first on. T->own is to be freed. False: no
 * memory. */
static bool count(const struct auc_cap_look *l, const struct auc_cap *cap, unsigned nslots,
		  struct times *t)
{
	struct auc_cap_sale s;

	t->first = l->plan->start > l->from ? l->plan->start : l->from;
	t->nslots = nslots;
	t->own = calloc(3 * (size_t)nslots + 1, sizeof(*t->own));
	if (!t->own)
		return false;
	t->had = t->own + nslots;
	t->sold = t->had + nslots;
	add_plan(l->market, cap, l->plan, t, t->own);
	if (l->old && concerns(l->market, cap, l->old))
		add_plan(l->market, cap, l->old, t, t->had);
	for (unsigned i = l->n; nslots && i-- > 0;)
		if (l->other(l->arg, i, &s) && s.plan->completion > t->first &&
		    s.plan->start < t->first + (auc_slot)nslots && counts(l, cap, &s))
			add_plan(l->market, cap, s.plan, t, t->sold);
	return true;
}

/* True if what the plan has in its slot OWN is more in slot AT than CAP allows, and more than the
 * old plan had there. */
static bool is_over(const struct times *t, unsigned own, unsigned at, double amount)
{
	return t->own[own] > t->had[at] + ROUNDING && t->own[own] + t->sold[at] > amount + ROUNDING;
}

/* How many slots later the plan, of NOWN slots, fits on top of what is sold; 0: it never does. */
static unsigned first_room(const struct times *t, unsigned nown, double amount)
{
	for (unsigned later = 1; later + nown <= t->nslots; later++) {
		unsigned i = 0;

		while (i < nown && !is_over(t, i, later + i, amount))
			i++;
		if (i == nown)
			return later;
	}
	return 0;
}

/* What is used up, the plan and the sales that count, whenever they are. */
static bool in_all(const struct auc_cap_look *l, const struct auc_cap *cap, struct auc_cap_break *b)
{
	double need = total_of(l->market, cap, l->plan), sold = 0;
	struct auc_cap_sale s;

	if (need <= 0 || (l->old && need <= total_of(l->market, cap, l->old) + ROUNDING))
		return false;
	for (unsigned i = l->n; i-- > 0;)
		if (l->other(l->arg, i, &s) && counts(l, cap, &s))
			sold += total_of(l->market, cap, s.plan);
	b->room = cap->amount - cap->used - sold;
	if (need <= b->room + ROUNDING)
		return false;
	snprintf(b->why, sizeof(b->why),
		 "%s in all: %.0f minutes are used, %.0f are sold already, and the best schedule "
		 "has %.0f",
		 cap->text, cap->used, sold, need);
	return true;
}

static void add_plan(const struct auc_market *m, const struct auc_cap *cap,
		     const struct auc_plan *plan, const struct times *t, double *to)
{
	double each = auc_market_slot_seconds(m) / 60;

	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];

		if (cap->kind == AUC_CAP_AT_ONCE) {
			add(t, to, run->from, run->to + 1, of_run(m, plan, run, cap), 0, 0);
			continue;
		}
		for (unsigned i = 0; i < (is_jobs(cap) ? jobs_of(plan, run) : run->nshares); i++) {
			const struct auc_share *s = &plan->shares[run->first_share + i];
			unsigned n = auc_plan_share_lasts(plan, r, s);

			/* A job at its start has its whole limit, in whole minutes, ahead of it. */
			if (n)
				add(t, to, run->from, plan->runs[r + n - 1].to + 1,
				    of_share(m, plan, s, cap), cap->lag, each);
		}
	}
}

/* AMOUNT in each slot from FROM until END; with EACH, minutes of a slot, times those that are ahead
 * then, and LAG, at most all. */
static void add(const struct times *t, double *to, auc_slot from, auc_slot end, double amount,
		double lag, double each)
{
	double all = fmax(1, ceil((double)(end - from) * each - ROUNDING));

	for (auc_slot at = from < t->first ? t->first : from; at < end && at < t->first + t->nslots;
	     at++)
		to[at - t->first] +=
			each > 0 ? amount * fmin(all, all - (double)(at - from) * each + lag)
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

static bool counts(const struct auc_cap_look *l, const struct auc_cap *cap,
		   const struct auc_cap_sale *s)
{
	if (cap->own && s->uid != l->uid)
		return false;
	if (cap->there && !concerns(l->market, cap, s->plan))
		return false;
	if (*cap->account && !auc_bid_is_of_account(s->bid, cap->account, cap->exactly))
		return false;
	return !*cap->qos || of_qos(l, cap->qos, s);
}

/* True if S is of QOS, by its job or by where it runs. */
static bool of_qos(const struct auc_cap_look *l, const char *qos, const struct auc_cap_sale *s)
{
	const char *partition;

	if (auc_bid_is_of_qos(s->bid, qos))
		return true;
	if (!s->plan->nshares)
		return false;
	partition = auc_market_server_group(l->market, s->plan->shares[0].server);
	for (unsigned i = 0; i < l->caps->nown; i++)
		if (!strcmp(l->caps->own[i].partition, partition) &&
		    !strcmp(l->caps->own[i].qos, qos))
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
static double of_job(const struct auc_cap_look *l, const struct auc_plan *plan,
		     const struct auc_cap *cap)
{
	bool least = cap->kind == AUC_CAP_LEAST;
	double found = least ? INFINITY : 0;

	for (unsigned r = 0; r < plan->nruns; r++) {
		const struct auc_run *run = &plan->runs[r];

		for (unsigned i = 0; run->to >= l->from && i < (plan->gang ? 1 : run->nshares);
		     i++) {
			double job = plan->gang
					     ? of_run(l->market, plan, run, cap)
					     : of_share(l->market, plan,
							&plan->shares[run->first_share + i], cap);

			found = least ? fmin(found, job) : fmax(found, job);
		}
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
