/*
 * waiting.c - sold jobs that wait for their slots move to where it costs less by now (auction.h,
 * auc_auction_revise(); rearrange.h), whenever other prices are published or a sale has ended. One
 * after the other in the order of sale, each under the lock for itself, so that bids wait for one
 * decision at most.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auction-private.h"
#include "bid.h"
#include "clock.h"
#include "rearrange.h"

/* Seconds before its first slot from which on a job stays: Slurm has to be told where it goes, and
 * its members there submitted. */
#define AHEAD 60.0
#define BUSY  0.1 /* seconds at a time, or little more: its caller has other things to do */

static const struct timespec breath = {.tv_nsec = 50000};

static enum auc_code list(struct auc_auction *a, struct auc_err *err);
static bool may_move(const struct auc_auction *a, const struct auc_sale *s, auc_slot from);
static enum auc_code look_at(struct auc_auction *a, uint32_t job_id, auc_slot from, bool *moved,
			     struct auc_err *err);
static enum auc_code resolve(struct auc_auction *a, const struct auc_sale *s, struct auc_err *err);
static enum auc_code quote(void *arg, struct auc_job *job, struct auc_decision *d,
			   struct auc_err *err);

enum auc_code auc_auction_rearrange(struct auc_auction *a, double now, double lead,
				    unsigned *changed, struct auc_err *err)
{
	struct auc_waiting *w = &a->waiting;
	double began = auc_clock_now();
	enum auc_code rc, worst = AUC_OK;
	auc_slot from;
	bool moved, ready;

	pthread_mutex_lock(&a->lock);
	from = auc_auction_first_open(a, now + fmax(AHEAD, lead));
	/* While nothing can be written Slurm hears of no plan, and goes by those that it knows. */
	ready = auc_auction_check_ready(a, NULL) == AUC_OK;
	if (!a->conf->rearrange || a->conf->prices != AUC_PRICES_LEARNED)
		w->n = 0;
	else if (ready && w->due && w->next >= w->n)
		worst = list(a, err);
	pthread_mutex_unlock(&a->lock);
	while (ready && w->next < w->n && auc_clock_now() < began + BUSY) {
		/* A mutex is not fair: whoever waits for it gets it now. */
		nanosleep(&breath, NULL);
		pthread_mutex_lock(&a->lock);
		rc = look_at(a, w->jobs[w->next++], from, &moved, worst == AUC_OK ? err : NULL);
		pthread_mutex_unlock(&a->lock);
		if (changed)
			*changed += moved;
		if (worst == AUC_OK)
			worst = rc;
	}
	return worst;
}

static enum auc_code list(struct auc_auction *a, struct auc_err *err)
{
	struct auc_waiting *w = &a->waiting;
	unsigned n = auc_ledger_count(a->ledger);
	uint32_t *jobs = realloc(w->jobs, (n + 1) * sizeof(*jobs));

	w->n = w->next = 0;
	if (!jobs)
		return auc_auction_no_memory(err);
	w->jobs = jobs;
	w->due = false;
	for (unsigned i = 0; i < n; i++) {
		const struct auc_sale *s = auc_ledger_at(a->ledger, i);

		if (s->state == AUC_SALE_SOLD)
			w->jobs[w->n++] = s->job_id;
	}
	return AUC_OK;
}

/* Whose nodes are being made ready stays, as does what is not as it was sold. */
static bool may_move(const struct auc_auction *a, const struct auc_sale *s, auc_slot from)
{
	return s && s->state == AUC_SALE_SOLD && auc_ledger_is_booked(a->ledger, s->job_id) &&
	       !s->plan.lost && s->plan.start >= from && !strcmp(s->policy, a->policy->name);
}

static enum auc_code look_at(struct auc_auction *a, uint32_t job_id, auc_slot from, bool *moved,
			     struct auc_err *err)
{
	struct auc_rearrange x = {.market = a->market, .from = from, .quote = quote, .arg = a};
	const struct auc_sale *s = auc_ledger_find_job(a->ledger, job_id);
	const struct auc_plan *made = &a->decision.plan;
	enum auc_code rc;
	auc_money value;

	*moved = false;
	/* What its bid names may be gone; then it stays where it is. */
	if (!may_move(a, s, from) || resolve(a, s, NULL) != AUC_OK)
		return AUC_OK;
	rc = auc_rearrange(&x, &a->job, &s->plan, &a->decision, moved, err);
	if (rc != AUC_OK || !*moved)
		return rc;
	/* It completes no later; rounding must not bring the value below the payment. */
	value = auc_plan_value(made);
	if (value < s->value)
		value = s->value;
	rc = auc_ledger_change(a->ledger, job_id, made, value, s->payment, err);
	*moved = rc == AUC_OK;
	return rc == AUC_EFULL ? AUC_OK : rc; /* its record would be too long */
}

/* What S asked for, into a->job. */
static enum auc_code resolve(struct auc_auction *a, const struct auc_sale *s, struct auc_err *err)
{
	struct auc_bid *bid = malloc(sizeof(*bid));
	enum auc_code rc = bid ? AUC_OK : auc_auction_no_memory(err);

	if (rc == AUC_OK)
		rc = auc_bid_parse(a->conf, s->bid, bid, err);
	if (rc == AUC_OK)
		rc = auc_job_resolve(a->market, bid, s->plan.arrival, &a->job, err);
	free(bid);
	return rc;
}

static enum auc_code quote(void *arg, struct auc_job *job, struct auc_decision *d,
			   struct auc_err *err)
{
	return auc_auction_quote(arg, job, d, err);
}
