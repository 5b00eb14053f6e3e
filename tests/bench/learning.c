/*
 * learning.c - what prices that learn cost: fits as a share of a processor, how long the auction's
 * lock is held for them, and quotes with these prices and without any.
 *
 *   learning [-s SERVERS] [-t SLOTS] [-b BIDS] [-d DAYS] [-f LAST] [-v VALUE] [-S SEED] [-m
 * PERCENT]
 *
 * A market of SERVERS (300), whose SLOTS (288) slots of five minutes are a day, gets BIDS (1000)
 * bids a day for DAYS (1) days. In the LAST (10) slots a fit is made whenever one is due, as the
 * agent's thread does; these slots count, and one look of the guard in a day. Each bid is quoted by
 * the policy at the prices in force and in the same market with none; times are CPU time of the
 * thread. A fit is asked whether to go on, as the agent's thread is when slurmctld stops: "unasked"
 * is for how long it was not. Exit status 1 if the fits took more than PERCENT of a core.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auction/auction-private.h"
#include "bench/cluster.h"
#include "bench/measure.h"
#include "pricing/tariff.h"
#include "base/cancel.h"

#define NOW 1.7001e9 /* a slot begins */

struct options {
	unsigned servers, slots, bids, days, last;
	double value, limit;
};

enum { QUOTE, QUOTE_FREE, FIT, GUARD, BEGIN, UNASKED, PUBLISH, TICK, NSERIES };

static struct measure_series all[NSERIES] = {
	[QUOTE] = {.what = "quote, these prices"},
	[QUOTE_FREE] = {.what = "quote, none"},
	[FIT] = {.what = "fit"},
	[GUARD] = {.what = "fit with guard"},
	[BEGIN] = {.what = "copying for a fit"},
	[UNASKED] = {.what = "fit, unasked"},
	[PUBLISH] = {.what = "tick that publishes"},
	[TICK] = {.what = "tick of a new slot"},
};

static struct auc_err err;

static void must(enum auc_code rc)
{
	measure_must("learning", rc, &err);
}

/* One bid, which is taken if it is accepted. */
static void bid(struct auc_auction *a, struct auc_market *free_of_charge, double value, double now,
		bool measured)
{
	static uint32_t jobs = 100;
	struct auc_bid b = cluster_bid(auc_auction_conf(a), value);
	struct auc_offer offer;
	double began;

	must(auc_auction_bid(a, &b, 1000, now, false, &offer, &err));
	auc_offer_clear(&offer);
	if (measured) { /* the job is as the policy got it */
		began = measure_cpu();
		must(a->policy->quote(a->ctx, a->market, &a->question.job, &a->question.decision,
				      &err));
		measure_add(&all[QUOTE], measure_cpu() - began);
		began = measure_cpu();
		must(a->policy->quote(a->ctx, free_of_charge, &a->question.job,
				      &a->question.decision, &err));
		measure_add(&all[QUOTE_FREE], measure_cpu() - began);
	}
	must(auc_auction_bid(a, &b, 1000, now, true, &offer, &err));
	if (offer.accepted)
		must(auc_auction_confirm(a, offer.sale, jobs++, NULL, &err));
	auc_offer_clear(&offer);
}

struct asked {
	double last, longest;
};

static bool go_on(void *arg)
{
	struct asked *asked = arg;
	double now = measure_cpu();

	asked->longest = fmax(asked->longest, now - asked->last);
	asked->last = now;
	return true;
}

/* What the agent's thread does. */
static void fit(struct auc_auction *a, double now)
{
	struct asked asked = {0};
	const struct auc_cancel cancel = {go_on, &asked};
	double began = measure_cpu(), seconds;
	struct auc_fit_job *job;
	struct auc_tariff *t;

	if (!auc_auction_fit_due(a, now))
		return;
	must(auc_auction_fit_begin(a, now, &job, &err));
	measure_add(&all[BEGIN], measure_cpu() - began);
	asked.last = measure_cpu();
	must(auc_fit_job_run(job, &cancel, &t, &err));
	go_on(&asked);
	measure_add(&all[UNASKED], asked.longest);
	seconds = measure_cpu() - began;
	measure_add(&all[t->guard.time == now ? GUARD : FIT], seconds);
	auc_auction_fit_end(a, job, t);
}

static void slot(struct auc_auction *a, const struct options *o, unsigned n, double *owed,
		 bool measured)
{
	double now = NOW + n * CLUSTER_SLOT, began = measure_cpu();
	struct auc_market *free_of_charge;
	bool publishes = a->next_tariff;

	auc_auction_tick(a, now);
	if (measured)
		measure_add(&all[publishes ? PUBLISH : TICK], measure_cpu() - began);
	free_of_charge = measured ? auc_market_clone(a->market) : NULL;
	if (measured && free_of_charge)
		must(auc_market_give_prices(free_of_charge, NULL, 0, &err));
	for (*owed += (double)o->bids / o->slots; *owed >= 1; --*owed)
		bid(a, free_of_charge, o->value, now, free_of_charge);
	auc_market_destroy(free_of_charge);
	must(auc_auction_commit(a, &err));
	if (measured)
		fit(a, now + CLUSTER_SLOT / 2);
}

static void report(const struct options *o, const struct auc_auction *a, double *share)
{
	char *why = a->tariff ? auc_tariff_why(a->tariff) : NULL;
	double sum[NSERIES] = {0}, day = o->slots * CLUSTER_SLOT;

	for (unsigned i = 0; i < NSERIES; i++) {
		for (unsigned k = 0; k < all[i].n; k++)
			sum[i] += all[i].seconds[k];
		measure_print(&all[i]);
	}
	*share = 100 * (sum[FIT] / (o->last * CLUSTER_SLOT) +
			(all[GUARD].n ? sum[GUARD] / all[GUARD].n : 0) / day);
	printf("  fits take %.3f %% of a core\n", *share);
	if (why)
		printf("  %s; gap %.1f %%\n", why, 100 * auc_tariff_gap(a->tariff));
	free(why);
}

int main(int argc, char **argv)
{
	struct options o = {.servers = 300,
			    .slots = 288,
			    .bids = 1000,
			    .days = 1,
			    .last = 10,
			    .value = 100,
			    .limit = INFINITY};
	char dir[64] = "bench-spool-XXXXXX";
	struct auc_server_spec *servers;
	struct auc_auction *a;
	double owed = 0, share;
	int c;

	while ((c = getopt(argc, argv, "s:t:b:d:f:v:S:m:")) != -1) {
		if (c == 's')
			o.servers = (unsigned)atoi(optarg);
		else if (c == 't')
			o.slots = (unsigned)atoi(optarg);
		else if (c == 'b')
			o.bids = (unsigned)atoi(optarg);
		else if (c == 'd')
			o.days = (unsigned)atoi(optarg);
		else if (c == 'f')
			o.last = (unsigned)atoi(optarg);
		else if (c == 'v')
			o.value = atof(optarg);
		else if (c == 'S')
			measure_random = strtoull(optarg, NULL, 10);
		else if (c == 'm')
			o.limit = atof(optarg);
		else
			return 2;
	}
	if (!o.servers || !o.slots || !o.bids || !o.days || !mkdtemp(dir))
		return 2;
	must(auc_auction_create(
		cluster_conf(
			o.slots,
			"Prices=learned\nHistoryBids=10000 UserLiens=0 UserQuotes=0 UserJobs=0"),
		&a, &err));
	servers = cluster_servers(o.servers);
	must(auc_auction_set_servers(a, servers, o.servers, NOW, &err));
	must(auc_auction_open_spool(a, dir, NOW, NULL, &err));
	printf("%u servers x %u slots, %u bids a day, day %u\n", o.servers, o.slots, o.bids,
	       o.days);
	for (unsigned i = 0; i < o.days * o.slots; i++)
		slot(a, &o, i, &owed, i + o.last >= o.days * o.slots);
	report(&o, a, &share);
	auc_auction_destroy(a);
	free(servers);
	measure_remove_spool(dir);
	for (unsigned i = 0; i < NSERIES; i++)
		free(all[i].seconds);
	return share <= o.limit ? 0 : 1;
}
