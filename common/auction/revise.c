/*
 * revise.c - the plans of a policy that decides slot by slot, brought up to date (auction.h;
 * doc/executor.md, "Plans that are decided slot by slot"). What is to be known is copied under the
 * lock, the stepper runs without it, and what it says is put in the ledger under the lock again:
 * if bids have taken something meanwhile, it does not fit, and is made once more.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bid_resolve.h"
#include "auction/auction-private.h"
#include "input/bid.h"
#include "base/clock.h"
#include "policy/stepper_run.h"
#include "market/timeline.h"

#define AGAIN       1.0 /* seconds before what could not be done is tried again, */
#define AGAIN_SHARE 20  /* or so many times what it took */

/* A live sale, copied. */
struct copied {
	uint32_t job_id;
	bool ours; /* the stepper decides on it */
	char *bid;
	struct auc_plan plan;
};

struct revising {
	struct auc_stepper_run stepper_run;
	char options[256];
	struct auc_market *market; /* a copy of the head of A's: bids move its window meanwhile */
	unsigned n;
	struct copied *sales;
	unsigned *index; /* by job of the course: its sale */
	const struct auc_plan **others;
	struct auc_revision *list;
};

static bool is_due(const struct auc_auction *a, double now);
static enum auc_code look(struct auc_auction *a, double now, struct revising *r,
			  struct auc_err *err);
static enum auc_code make_room(struct revising *r, unsigned n, struct auc_err *err);
static enum auc_code copy(const struct auc_auction *a, const struct auc_sale *s,
			  struct copied *made, struct auc_err *err);
static enum auc_code run(struct auc_auction *a, struct revising *r, struct auc_err *err);
static void add_job(struct auc_auction *a, unsigned sale, struct auc_bid *bid, struct revising *r);
static enum auc_code put(struct auc_auction *a, struct revising *r, unsigned *changed,
			 struct auc_err *err);
static void clear(struct revising *r);

auc_slot auc_auction_first_open(const struct auc_auction *a, double now)
{
	const struct auc_conf *conf = a->conf;
	double ahead = conf->start_margin;

	/* Running jobs are told in time, and their old members have ended by then. */
	if (conf->change_notice > ahead)
		ahead = conf->change_notice;
	return auc_slot_from(now + ahead, conf->slot_seconds);
}

enum auc_code auc_auction_revise(struct auc_auction *a, double now, double lead, bool limited,
				 unsigned *changed, struct auc_err *err)
{
	struct revising r = {.n = 0};
	double began = auc_clock_now();
	enum auc_code rc = AUC_OK;
	bool due;

	if (changed)
		*changed = 0;
	pthread_mutex_lock(&a->admin);
	if (a->policy->rearranges) {
		rc = auc_auction_rearrange(a, now, lead, limited, changed, err);
		pthread_mutex_unlock(&a->admin);
		return rc;
	}
	pthread_mutex_lock(&a->lock);
	due = is_due(a, now);
	if (due)
		rc = look(a, now, &r, err);
	pthread_mutex_unlock(&a->lock);
	if (due && rc == AUC_OK)
		rc = run(a, &r, err);
	if (due) {
		pthread_mutex_lock(&a->lock);
		if (rc == AUC_OK)
			rc = put(a, &r, changed, err);
		/* What bids and ticks do meanwhile is seen by the next. */
		a->stale = a->stale || rc != AUC_OK;
		a->revise_next =
			rc == AUC_OK ? 0 : now + AGAIN + AGAIN_SHARE * (auc_clock_now() - began);
		pthread_mutex_unlock(&a->lock);
	}
	clear(&r);
	pthread_mutex_unlock(&a->admin);
	return rc;
}

/* A clock that was set back is no reason to wait for long. */
static bool is_due(const struct auc_auction *a, double now)
{
	return a->policy->stepper && a->stale && a->recovered && a->market &&
	       (now >= a->revise_next || now < a->revise_next - 3600);
}

/* What the stepper is to know. */
static enum auc_code look(struct auc_auction *a, double now, struct revising *r,
			  struct auc_err *err)
{
	unsigned n = auc_ledger_count(a->ledger);
	enum auc_code rc = make_room(r, n, err);

	if (rc != AUC_OK)
		return rc;
	a->stale = false;
	*r->market = *a->market;
	snprintf(r->options, sizeof(r->options), "%s", a->conf->policy_options);
	r->stepper_run.stepper = a->policy->stepper;
	r->stepper_run.options = r->options;
	r->stepper_run.from = auc_auction_first_open(a, now);
	r->stepper_run.to = auc_market_last(a->market);
	for (unsigned i = 0; i < n && rc == AUC_OK; i++) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		if (s->plan.nruns && s->plan.completion > r->stepper_run.from)
			rc = copy(a, s, &r->sales[r->n++], err);
	}
	return rc;
}

static enum auc_code make_room(struct revising *r, unsigned n, struct auc_err *err)
{
	r->stepper_run.jobs = calloc(n + 1, sizeof(*r->stepper_run.jobs));
	r->sales = calloc(n + 1, sizeof(*r->sales));
	r->index = calloc(n + 1, sizeof(*r->index));
	r->others = calloc(n + 1, sizeof(*r->others));
	r->list = calloc(n + 1, sizeof(*r->list));
	r->market = malloc(sizeof(*r->market));
	r->stepper_run.others = r->others;
	if (r->stepper_run.jobs && r->sales && r->index && r->others && r->list && r->market)
		return AUC_OK;
	return auc_err_set(err, AUC_ENOMEM, "no memory for the plans of %u jobs", n);
}

static enum auc_code copy(const struct auc_auction *a, const struct auc_sale *s,
			  struct copied *made, struct auc_err *err)
{
	made->job_id = s->job_id;
	made->ours =
		s->state != AUC_SALE_LIEN && s->plan.nchunks && !strcmp(s->policy, a->policy->name);
	made->bid = strdup(s->bid);
	if (!made->bid)
		return auc_err_set(err, AUC_ENOMEM, "no memory for a bid");
	return auc_plan_copy(&made->plan, &s->plan, err);
}

/* Configuration, servers and types do not change while admin is held. */
static enum auc_code run(struct auc_auction *a, struct revising *r, struct auc_err *err)
{
	struct auc_market *slot = auc_market_outline(r->market, r->stepper_run.from, 1);
	struct auc_bid *bid = malloc(sizeof(*bid));
	enum auc_code rc = AUC_OK;

	if (!slot || !bid)
		rc = auc_err_set(err, AUC_ENOMEM, "no memory for the plans");
	for (unsigned i = 0; i < r->n && rc == AUC_OK; i++)
		add_job(a, i, bid, r);
	if (rc == AUC_OK)
		rc = auc_stepper_run(&r->stepper_run, slot, false, err);
	free(bid);
	auc_market_destroy(slot);
	return rc;
}

/* SALE is a job of the course, or one of the others. */
static void add_job(struct auc_auction *a, unsigned sale, struct auc_bid *bid, struct revising *r)
{
	struct auc_stepper_run_job *j = &r->stepper_run.jobs[r->stepper_run.n];
	const struct copied *s = &r->sales[sale];

	/* The stepper has not seen it, and it has not begun. */
	j->fresh = !s->plan.due && s->plan.start >= r->stepper_run.from;
	j->plan = &s->plan;
	if (s->ours && auc_bid_parse(a->conf, s->bid, bid, NULL) == AUC_OK &&
	    auc_bid_resolve(r->market, bid, j->fresh ? r->stepper_run.from : s->plan.arrival,
			    &j->job, NULL) == AUC_OK)
		r->index[r->stepper_run.n++] = sale;
	else
		r->others[r->stepper_run.nothers++] = &s->plan;
}

static enum auc_code put(struct auc_auction *a, struct revising *r, unsigned *changed,
			 struct auc_err *err)
{
	enum auc_code rc;
	unsigned n = 0;

	for (unsigned i = 0; i < r->stepper_run.n; i++) {
		struct auc_stepper_run_job *j = &r->stepper_run.jobs[i];

		if (!j->left_out && !auc_plan_same(&j->made, j->plan))
			r->list[n++] =
				(struct auc_revision){r->sales[r->index[i]].job_id, &j->made, 0};
	}
	rc = auc_ledger_revise(a->ledger, r->list, n, err);
	if (rc == AUC_OK && changed)
		*changed = n;
	return rc;
}

static void clear(struct revising *r)
{
	/* The job after the last may be one that was given up. */
	for (unsigned i = 0; r->stepper_run.jobs && i <= r->stepper_run.n; i++) {
		auc_plan_clear(&r->stepper_run.jobs[i].made);
		auc_job_clear(&r->stepper_run.jobs[i].job);
	}
	for (unsigned i = 0; r->sales && i < r->n; i++) {
		free(r->sales[i].bid);
		auc_plan_clear(&r->sales[i].plan);
	}
	free(r->stepper_run.jobs);
	free(r->sales);
	free(r->index);
	free(r->others);
	free(r->list);
	free(r->market);
}
