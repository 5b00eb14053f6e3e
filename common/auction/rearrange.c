/*
 * rearrange.c - sold jobs that wait for their slots move to where they cost less by now (auction.h,
 * auc_auction_revise(); rearrange_search.h): once in a slot, and when a fit has ended or a sale
 * has. What is to be known is copied under the lock, the search goes on without it, a tenth of a
 * second at a time, and what it found is put in the ledger under the lock again: all of it or,
 * where a bid has taken something of it meanwhile, nothing.
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/bid_limits.h"
#include "input/bid_resolve.h"
#include "pricing/nearness.h"
#include "auction/auction-private.h"
#include "input/bid.h"
#include "base/clock.h"
#include "market/timeline.h"
#include "auction/rearrange_search.h"

/* Seconds before its first slot from which on a job stays: Slurm has to be told where it goes, and
 * its members there submitted. */
#define AHEAD     60.0
#define BUSY      0.1   /* seconds at a time, or little more: its caller has other things to do */
#define LOOKS_MAX 20000 /* at sales, to see whether moves keep to limits */

/* A live sale, copied. */
struct copied {
	uint32_t job_id, uid;
	char *bid;
	bool stays;
	unsigned job; /* of the search; UINT_MAX: none */
	const struct auc_caps *caps;
	struct auc_plan plan;
};

/* Limits of Slurm that some of them have in common. */
struct limits {
	uint32_t uid;
	char account[AUC_NAME_MAX], qos[AUC_NAME_MAX];
	struct auc_caps *caps;
};

/* The others beside one of them. */
struct beside {
	const struct auc_rearrange_run *run;
	const struct auc_rearrange_search *x;
	unsigned sale;
};

struct auc_rearrange_run {
	const struct auc_auction *a; /* whose limits hold: they change behind admin */
	const struct auc_policy *policy;
	struct auc_policy_ctx *ctx;
	struct auc_tariff *costs;
	struct auc_market head, *market; /* head: of the auction's, whose window bids move */
	struct auc_rearrange_search *x;
	unsigned rounds; /* that are left */
	unsigned n;
	struct copied *sales;
	unsigned njobs, *sale_of; /* by job of X */
	unsigned nlimits;
	struct limits *limits;
	unsigned *upload; /* scratch */
};

static bool is_due(const struct auc_auction *a, double now);
static enum auc_code begin(struct auc_auction *a, double now, double lead, bool limited,
			   struct auc_err *err);
static enum auc_code copy_sales(const struct auc_auction *a, struct auc_rearrange_run *s,
				auc_slot from, struct auc_err *err);
static bool may_move(const struct auc_auction *a, const struct auc_sale *s, auc_slot from);
static enum auc_code lay_out(struct auc_auction *a, struct auc_rearrange_run *s, auc_slot now,
			     struct auc_err *err);
static enum auc_code add_jobs(struct auc_auction *a, struct auc_rearrange_run *s,
			      struct auc_err *err);
static enum auc_code find_caps(struct auc_auction *a, struct auc_rearrange_run *s, struct copied *c,
			       struct auc_err *err);
static enum auc_code quote(void *arg, struct auc_market *market, struct auc_job *job,
			   struct auc_decision *d, struct auc_err *err);
static bool allows(void *arg, const struct auc_rearrange_search *x, unsigned i,
		   const struct auc_plan *plan);
static bool beside(const void *arg, unsigned i, struct auc_cap_sale *sale);
static enum auc_code put(struct auc_auction *a, struct auc_rearrange_run *s, auc_slot from,
			 unsigned *changed, struct auc_err *err);
static bool break_caps(const struct auc_auction *a, const struct auc_rearrange_run *s,
		       const struct auc_revision *list, const unsigned *sales, unsigned n);

enum auc_code auc_auction_rearrange(struct auc_auction *a, double now, double lead, bool limited,
				    unsigned *changed, struct auc_err *err)
{
	struct auc_rearrange_run *s = a->rearrange.search;
	double began = auc_clock_now();
	enum auc_code rc = AUC_OK;

	if (!s) {
		rc = begin(a, now, lead, limited, err);
		s = a->rearrange.search;
	}
	while (s && rc == AUC_OK && s->rounds && auc_clock_now() < began + BUSY) {
		rc = auc_rearrange_search_round(s->x, err);
		s->rounds--;
	}
	if (!s || (rc == AUC_OK && s->rounds))
		return rc;
	if (rc == AUC_OK) {
		pthread_mutex_lock(&a->lock);
		rc = put(a, s, auc_auction_first_open(a, now + fmax(AHEAD, lead)), changed, err);
		pthread_mutex_unlock(&a->lock);
	}
	auc_auction_rearrange_free(s);
	a->rearrange.search = NULL;
	return rc;
}

void auc_auction_rearrange_free(struct auc_rearrange_run *s)
{
	if (!s)
		return;
	auc_rearrange_search_destroy(s->x);
	if (s->ctx)
		s->policy->destroy(s->ctx);
	auc_market_destroy(s->market);
	auc_tariff_free(s->costs);
	for (unsigned i = 0; s->sales && i < s->n; i++) {
		free(s->sales[i].bid);
		auc_plan_clear(&s->sales[i].plan);
	}
	for (unsigned i = 0; i < s->nlimits; i++)
		free(s->limits[i].caps);
	free(s->limits);
	free(s->sales);
	free(s->sale_of);
	free(s->upload);
	free(s);
}

/* While nothing can be written Slurm hears of no plan, and goes by those that it knows. Where bids
 * are not sold by what fits find, that is no good guide for those that wait either. */
static bool is_due(const struct auc_auction *a, double now)
{
	const struct auc_tariff *t = auc_auction_tariff_in_force(a);
	const struct auc_rearrange *w = &a->rearrange;

	return a->conf->rearrange && a->conf->prices == AUC_PRICES_LEARNED && t &&
	       t->kind >= AUC_TARIFF_FLAT && w->costs &&
	       w->costs->slot_seconds == a->conf->slot_seconds &&
	       (w->due || auc_slot_of(now, a->conf->slot_seconds) != w->slot) &&
	       auc_auction_check_open(a, NULL) == AUC_OK;
}

/* Begins a search, if it is time for one and there are jobs to place. */
static enum auc_code begin(struct auc_auction *a, double now, double lead, bool limited,
			   struct auc_err *err)
{
	struct auc_rearrange_run *s = NULL;
	enum auc_code rc = AUC_OK;
	auc_slot slot, from;
	bool due;

	pthread_mutex_lock(&a->lock);
	due = is_due(a, now);
	slot = auc_slot_of(now, a->conf->slot_seconds);
	from = auc_auction_first_open(a, now + fmax(AHEAD, lead));
	if (due) {
		a->rearrange.due = false;
		a->rearrange.slot = slot;
		s = calloc(1, sizeof(*s));
		rc = s ? copy_sales(a, s, from, err) : auc_auction_no_memory(err);
	}
	pthread_mutex_unlock(&a->lock);
	if (due && rc == AUC_OK && s->njobs)
		rc = lay_out(a, s, slot, err);
	if (due && rc == AUC_OK && s->njobs) {
		s->x = auc_rearrange_search_create(s->market, from, limited, (uint64_t)slot, quote,
						   allows, s);
		rc = s->x ? add_jobs(a, s, err) : auc_auction_no_memory(err);
	}
	if (rc == AUC_OK && s && s->njobs) {
		s->rounds = auc_rearrange_search_rounds(s->x);
		a->rearrange.search = s;
	} else {
		auc_auction_rearrange_free(s);
	}
	return rc;
}

static enum auc_code copy_sales(const struct auc_auction *a, struct auc_rearrange_run *s,
				auc_slot from, struct auc_err *err)
{
	unsigned n = auc_ledger_count(a->ledger);
	enum auc_code rc = AUC_OK;

	s->a = a;
	s->policy = a->policy;
	s->head = *a->market;
	s->costs = auc_tariff_copy(a->rearrange.costs);
	s->sales = calloc(n + 1, sizeof(*s->sales));
	s->sale_of = calloc(n + 1, sizeof(*s->sale_of));
	if (!s->costs || !s->sales || !s->sale_of)
		return auc_auction_no_memory(err);
	for (unsigned i = 0; i < n && rc == AUC_OK; i++) {
		const struct auc_sale *sale = auc_ledger_at(a->ledger, i);
		struct copied *to = &s->sales[s->n];

		/* What is not booked, as its nodes have lost it, takes nothing. */
		if (sale->state != AUC_SALE_LIEN && !auc_ledger_is_booked(a->ledger, sale->job_id))
			continue;
		s->n++;
		to->job_id = sale->job_id;
		to->uid = sale->uid;
		to->job = UINT_MAX;
		to->stays = !may_move(a, sale, from);
		to->bid = strdup(sale->bid);
		rc = to->bid ? auc_plan_copy(&to->plan, &sale->plan, err)
			     : auc_auction_no_memory(err);
		s->njobs += !to->stays;
	}
	return rc;
}

/* Whose nodes are being made ready stays, as does what is not as it was sold. */
static bool may_move(const struct auc_auction *a, const struct auc_sale *s, auc_slot from)
{
	return s && s->state == AUC_SALE_SOLD && auc_ledger_is_booked(a->ledger, s->job_id) &&
	       !s->plan.lost && s->plan.start >= from && s->plan.nruns == 1 && !s->plan.gang &&
	       !strcmp(s->policy, a->policy->name);
}

/* The market as it is booked, at what slots cost those who have bought them. Servers and types do
 * not change while admin is held. */
static enum auc_code lay_out(struct auc_auction *a, struct auc_rearrange_run *s, auc_slot now,
			     struct auc_err *err)
{
	const struct auc_market *head = &s->head;
	struct auc_nearness *ahead;
	enum auc_code rc;

	s->market = auc_market_outline(head, head->first, head->slots);
	s->upload = calloc((size_t)head->nservers + 1, sizeof(*s->upload));
	ahead = s->market ? auc_nearness_create(s->market) : NULL;
	rc = s->market && s->upload && ahead ? AUC_OK : auc_auction_no_memory(err);
	if (rc == AUC_OK)
		rc = a->policy->create(a->conf->policy_options, &s->ctx, err);
	if (rc == AUC_OK)
		rc = auc_tariff_give(s->costs, s->market, err);
	for (unsigned i = 0; i < s->n && rc == AUC_OK; i++) {
		rc = auc_market_book(s->market, &s->sales[i].plan, head->first,
				     auc_market_last(s->market), err);
		if (rc == AUC_OK && s->sales[i].plan.completion > now)
			auc_nearness_add(ahead, &s->sales[i].plan);
	}
	if (rc == AUC_OK)
		auc_nearness_discount(ahead, s->market, now);
	auc_nearness_destroy(ahead);
	return rc;
}

static enum auc_code add_jobs(struct auc_auction *a, struct auc_rearrange_run *s,
			      struct auc_err *err)
{
	struct auc_bid *bid = malloc(sizeof(*bid));
	enum auc_code rc = bid ? AUC_OK : auc_auction_no_memory(err);
	struct auc_job job = {0};

	s->njobs = 0;
	for (unsigned i = 0; i < s->n && rc == AUC_OK; i++) {
		struct copied *c = &s->sales[i];

		/* What its bid names may be gone; then it stays where it is. */
		if (c->stays || auc_bid_parse(a->conf, c->bid, bid, NULL) != AUC_OK ||
		    auc_bid_resolve(s->market, bid, c->plan.arrival, &job, NULL) != AUC_OK)
			continue;
		rc = auc_rearrange_search_add(s->x, &job, &c->plan, err);
		if (rc == AUC_OK)
			rc = find_caps(a, s, c, err);
		c->job = s->njobs;
		s->sale_of[s->njobs++] = i;
	}
	auc_job_clear(&job);
	free(bid);
	return rc;
}

/* The limits of C, as they are now. */
static enum auc_code find_caps(struct auc_auction *a, struct auc_rearrange_run *s, struct copied *c,
			       struct auc_err *err)
{
	struct limits of = {.uid = c->uid}, *more;
	enum auc_code rc;

	if (!auc_bid_limits_of(c->bid, of.account, of.qos))
		return AUC_OK;
	for (unsigned i = 0; i < s->nlimits; i++) {
		const struct limits *l = &s->limits[i];

		if (l->uid == of.uid && !strcmp(l->account, of.account) &&
		    !strcmp(l->qos, of.qos)) {
			c->caps = l->caps;
			return AUC_OK;
		}
	}
	rc = auc_auction_caps_of(a, c->uid, c->bid, &of.caps, err);
	more = rc == AUC_OK ? realloc(s->limits, (s->nlimits + 1) * sizeof(*more)) : NULL;
	if (!more) {
		free(of.caps);
		return rc == AUC_OK ? auc_auction_no_memory(err) : rc;
	}
	c->caps = of.caps;
	s->limits = more;
	s->limits[s->nlimits++] = of;
	return AUC_OK;
}

/* Where a job does not fit on a large server of many nodes it is kept from it, for that quote. */
static enum auc_code quote(void *arg, struct auc_market *market, struct auc_job *job,
			   struct auc_decision *d, struct auc_err *err)
{
	struct auc_rearrange_run *s = arg;
	size_t size = market->nservers * sizeof(*job->upload);
	enum auc_code rc;
	char why[256];

	memcpy(s->upload, job->upload, size);
	rc = auc_quote_nodes(s->policy, s->ctx, market, job, d, err);
	if (rc == AUC_OK && d->accepted &&
	    auc_auction_broken_limit(s->a, market, &d->plan, why, sizeof(why))) {
		d->accepted = false;
		d->reason = AUC_REASON_CAPACITY;
	}
	memcpy(job->upload, s->upload, size);
	return rc;
}

/* Also where it was: others that are being placed may have come there before it. */
static bool allows(void *arg, const struct auc_rearrange_search *x, unsigned i,
		   const struct auc_plan *plan)
{
	struct auc_rearrange_run *s = arg;
	const struct copied *c = &s->sales[s->sale_of[i]];
	struct beside others = {s, x, s->sale_of[i]};
	struct auc_cap_look look = {.market = s->market,
				    .caps = c->caps,
				    .uid = c->uid,
				    .plan = plan,
				    .from = auc_market_first(s->market),
				    .together = true,
				    .n = s->n,
				    .other = beside,
				    .arg = &others};
	struct auc_cap_break b;

	return !auc_cap_is_broken(&look, &b);
}

static bool beside(const void *arg, unsigned i, struct auc_cap_sale *sale)
{
	const struct beside *b = arg;
	const struct copied *c = &b->run->sales[i];
	const struct auc_plan *plan = &c->plan;

	if (c->job != UINT_MAX)
		plan = auc_rearrange_search_at(b->x, c->job);
	if (i == b->sale || !plan)
		return false;
	*sale = (struct auc_cap_sale){c->uid, c->bid, plan};
	return true;
}

/* The lock is held. FROM: the first slot that a job may have by now. */
static enum auc_code put(struct auc_auction *a, struct auc_rearrange_run *s, auc_slot from,
			 unsigned *changed, struct auc_err *err)
{
	struct auc_revision *list = calloc(s->njobs + 1, sizeof(*list));
	unsigned n = 0, *sales = calloc(s->njobs + 1, sizeof(*sales));
	enum auc_code rc = list && sales ? AUC_OK : auc_auction_no_memory(err);

	for (unsigned i = 0; i < s->njobs && rc == AUC_OK; i++) {
		const struct copied *c = &s->sales[s->sale_of[i]];
		const struct auc_plan *made = auc_rearrange_search_moved(s->x, i);
		const struct auc_sale *sale = auc_ledger_find_job(a->ledger, c->job_id);

		if (!made)
			continue;
		/* It has ended, or begins: who was to have its slots can not. */
		if (!may_move(a, sale, from) || made->start < from ||
		    !auc_plan_same(&sale->plan, &c->plan)) {
			n = 0;
			break;
		}
		sales[n] = s->sale_of[i];
		list[n++] = (struct auc_revision){c->job_id, made, auc_plan_value(made)};
	}
	/* What was sold meanwhile counts, too. */
	if (break_caps(a, s, list, sales, n))
		n = 0;
	if (rc == AUC_OK && n && auc_auction_check_open(a, NULL) == AUC_OK) {
		rc = auc_ledger_revise(a->ledger, list, n, err);
		if (rc == AUC_OK && changed)
			*changed += n;
		/* There is no room any more, or a record would be too long. */
		if (rc == AUC_EFULL)
			rc = AUC_OK;
	}
	free(list);
	free(sales);
	return rc;
}

/* Whether one of the N of LIST does, which are SALES of S; or may, as they are too many to be
 * looked at while bids wait for the lock: to move is no promise. */
static bool break_caps(const struct auc_auction *a, const struct auc_rearrange_run *s,
		       const struct auc_revision *list, const unsigned *sales, unsigned n)
{
	struct auc_cap_break b;
	uint64_t looks = 0;

	for (unsigned i = 0; i < n; i++)
		looks += s->sales[sales[i]].caps ? auc_ledger_count(a->ledger) : 0;
	if (looks > LOOKS_MAX)
		return true;
	for (unsigned i = 0; i < n; i++)
		if (auc_auction_change_breaks_cap(a, s->sales[sales[i]].caps,
						  auc_ledger_find_job(a->ledger, list[i].job_id),
						  list[i].plan, list, n, &b))
			return true;
	return false;
}
