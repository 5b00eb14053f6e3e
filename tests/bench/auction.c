/*
 * auction.c - how long the calls of auction.h take, and so how long slurmctld may wait for the
 * lock, with many live sales.
 *
 *   auction [-s SERVERS] [-t SLOTS] [-n SALES] [-b BIDS] [-S SEED] [-g] [-d DIR] [-m MS]
 *
 * A market of SERVERS (300) x SLOTS (150), 5 worker types and 5 PS types sells SALES (5000) small
 * jobs, which are confirmed; then each call is measured. The reference is the bare policy quote of
 * the same job in the same market: what a decision costs without everything around it. Times are
 * CPU time of the thread. Prices are the published ones, learned from bids, or given with -g. DIR
 * holds the spool (a new directory in the working one, removed afterwards). Exit status 1 if the
 * worst of the calls that slurmctld waits for took longer than MS.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "auction/auction-private.h"
#include "bench/cluster.h"
#include "bench/measure.h"

#define NOW 1.7e9

struct options {
	unsigned servers, slots, sales, bids;
	bool given;
	double limit_ms;
};

struct series {
	struct measure_series times;
	bool waited_for; /* by slurmctld, for each job */
};

enum {
	SERIES_REFERENCE,
	SERIES_QUOTE,
	SERIES_ACCEPTED,
	SERIES_REFUSED,
	SERIES_CONFIRM,
	SERIES_START,
	SERIES_SETTLE,
	SERIES_OWNS,
	SERIES_TICK,
	SERIES_TICK_SLOT,
	SERIES_SALES,
	SERIES_STATUS,
	SERIES_COPY,
	SERIES_COMMIT,
	SERIES_DOWN,
	SERIES_NODES,
	NSERIES
};

static struct series all[NSERIES] = {
	[SERIES_REFERENCE] = {.times.what = "policy"},
	[SERIES_QUOTE] = {.times.what = "bid: quote", .waited_for = true},
	[SERIES_ACCEPTED] = {.times.what = "bid: accepted", .waited_for = true},
	[SERIES_REFUSED] = {.times.what = "bid: refused", .waited_for = true},
	[SERIES_CONFIRM] = {.times.what = "confirm", .waited_for = true},
	[SERIES_START] = {.times.what = "start", .waited_for = true},
	[SERIES_SETTLE] = {.times.what = "settle", .waited_for = true},
	[SERIES_OWNS] = {.times.what = "owns", .waited_for = true},
	[SERIES_TICK] = {.times.what = "tick"},
	[SERIES_TICK_SLOT] = {.times.what = "tick, new slot"},
	[SERIES_SALES] = {.times.what = "sales"},
	[SERIES_STATUS] = {.times.what = "status"},
	[SERIES_COPY] = {.times.what = "  locked part"},
	[SERIES_COMMIT] = {.times.what = "commit"},
	[SERIES_DOWN] = {.times.what = "node down or up"},
	[SERIES_NODES] = {.times.what = "node changed"},
};

static struct auc_err err;

static void must(enum auc_code rc)
{
	measure_must("auction", rc, &err);
}

static void sample(unsigned what, double since)
{
	measure_add(&all[what].times, measure_cpu() - since);
}

/* One bid in the three ways; the job ID under which it was sold, or 0. */
static uint32_t bid_once(struct auc_auction *a, double value, double now, bool measured)
{
	static uint32_t jobs = 100;
	struct auc_bid bid = cluster_bid(auc_auction_conf(a), value);
	struct auc_offer offer;
	char *receipt;
	double began;

	if (measured) {
		began = measure_cpu();
		must(auc_auction_bid(a, &bid, 1000, now, false, &offer, &err));
		if (offer.accepted)
			sample(SERIES_QUOTE, began);
		auc_offer_clear(&offer);
		/* The quote has left the job as the policy gets it. */
		began = measure_cpu();
		must(a->policy->quote(a->ctx, a->market, &a->question.job, &a->question.decision,
				      &err));
		sample(SERIES_REFERENCE, began);
	}
	began = measure_cpu();
	must(auc_auction_bid(a, &bid, 1000, now, true, &offer, &err));
	if (measured)
		sample(offer.accepted ? SERIES_ACCEPTED : SERIES_REFUSED, began);
	if (!offer.accepted) {
		auc_offer_clear(&offer);
		return 0;
	}
	jobs++;
	began = measure_cpu();
	must(auc_auction_confirm(a, offer.sale, jobs, &receipt, &err));
	if (measured)
		sample(SERIES_CONFIRM, began);
	free(receipt);
	auc_offer_clear(&offer);
	return jobs;
}

/* Sells SALES jobs. Returns the last one's job. */
static uint32_t sell(struct auc_auction *a, unsigned sales)
{
	uint32_t job = 0, last = 0;
	unsigned sold = 0, tries;

	for (tries = 0; sold < sales && tries < 20 * sales; tries++) {
		job = bid_once(a, 100, NOW, false);
		sold += job != 0;
		last = job ? job : last;
		if (tries % 100 == 0) {
			auc_auction_tick(a, NOW);
			must(auc_auction_commit(a, &err));
		}
	}
	must(auc_auction_commit(a, &err));
	printf("%u bids, %u live sales\n", tries, sold);
	return last;
}

/* A job of the many, run and ended. */
static void end_one(struct auc_auction *a, uint32_t job, double now)
{
	double began = measure_cpu();
	char *receipt;

	auc_auction_owns(a, job);
	sample(SERIES_OWNS, began);
	began = measure_cpu();
	must(auc_auction_start(a, job, now, &receipt, &err));
	sample(SERIES_START, began);
	free(receipt);
	began = measure_cpu();
	must(auc_auction_settle(a, job, "completed", now, &receipt, &err));
	sample(SERIES_SETTLE, began);
	free(receipt);
}

static void look(struct auc_auction *a, double now)
{
	struct auc_sale_view *views;
	struct json_object *status;
	struct auc_ledger *copy;
	double began = measure_cpu();
	unsigned n;

	must(auc_auction_sales(a, &views, &n, &err));
	sample(SERIES_SALES, began);
	for (unsigned i = 0; i < n; i++)
		auc_sale_view_clear(&views[i]);
	free(views);
	began = measure_cpu();
	status = auc_auction_status(a, now);
	sample(SERIES_STATUS, began);
	json_object_put(status);
	/* What a status and a snapshot hold the lock for. */
	began = measure_cpu();
	copy = auc_ledger_copy(a->ledger);
	sample(SERIES_COPY, began);
	auc_ledger_destroy(copy);
}

/* Each call in a market with all its sales. */
static void run(struct auc_auction *a, const struct options *o, struct auc_server_spec *servers,
		uint32_t last)
{
	double now = NOW, began;
	uint32_t job, next = last - o->sales / 2;

	for (unsigned i = 0; i < o->bids; i++) {
		job = bid_once(a, i % 2 ? 100 : 0.3, now, true);
		end_one(a, next++, now);
		if (job)
			last = job;
		began = measure_cpu();
		auc_auction_tick(a, now);
		sample(SERIES_TICK, began);
		began = measure_cpu();
		must(auc_auction_commit(a, &err));
		sample(SERIES_COMMIT, began);
		if (i % 50)
			continue;
		look(a, now);
		servers[i % o->servers].down = !servers[i % o->servers].down;
		began = measure_cpu();
		must(auc_auction_set_servers(a, servers, o->servers, now, &err));
		sample(SERIES_DOWN, began);
		servers[i % o->servers].capacity[0].value += 1;
		began = measure_cpu();
		must(auc_auction_set_servers(a, servers, o->servers, now, &err));
		sample(SERIES_NODES, began);
		now += CLUSTER_SLOT;
		began = measure_cpu();
		auc_auction_tick(a, now);
		sample(SERIES_TICK_SLOT, began);
	}
}

/* True if nothing that slurmctld waits for took longer than LIMIT_MS. */
static bool report(double limit_ms)
{
	bool ok = true;

	for (struct series *s = all; s < all + NSERIES; s++) {
		struct measure_series *times = &s->times;

		measure_print(times);
		if (times->n && s->waited_for)
			ok = ok && 1e3 * times->seconds[times->n - 1] <= limit_ms;
		free(times->seconds);
	}
	return ok;
}

int main(int argc, char **argv)
{
	struct options o = {
		.servers = 300, .slots = 150, .sales = 5000, .bids = 1000, .limit_ms = INFINITY};
	char dir[64] = "bench-spool-XXXXXX";
	const char *spool = NULL;
	struct auc_server_spec *servers;
	struct auc_auction *a;
	struct auc_conf *conf;
	double memory;
	uint32_t last;
	bool ok;
	int c;

	while ((c = getopt(argc, argv, "s:t:n:b:S:gd:m:")) != -1) {
		if (c == 's')
			o.servers = (unsigned)atoi(optarg);
		else if (c == 't')
			o.slots = (unsigned)atoi(optarg);
		else if (c == 'n')
			o.sales = (unsigned)atoi(optarg);
		else if (c == 'b')
			o.bids = (unsigned)atoi(optarg);
		else if (c == 'S')
			measure_random = strtoull(optarg, NULL, 10);
		else if (c == 'g')
			o.given = true;
		else if (c == 'd')
			spool = optarg;
		else if (c == 'm')
			o.limit_ms = atof(optarg);
		else
			return 2;
	}
	if (!o.servers || !o.slots || o.bids > o.sales / 2)
		return 2;
	if (!spool && !(spool = mkdtemp(dir)))
		return 2;
	memory = measure_resident_mb();
	conf = cluster_conf(
		o.slots,
		o.given ? "Prices=given\nEta=cpu=2,mem=1.0002 UserLiens=0 UserQuotes=0 UserJobs=0"
			: "Prices=published\nEta=cpu=2,mem=1.0002 UserLiens=0 UserQuotes=0 "
			  "UserJobs=0");
	must(auc_auction_create(conf, &a, &err));
	servers = cluster_servers(o.servers);
	must(auc_auction_set_servers(a, servers, o.servers, NOW, &err));
	must(auc_auction_open_spool(a, spool, NOW, NULL, &err));
	printf("%u servers x %u slots, prices %s: ", o.servers, o.slots,
	       o.given ? "given" : "published");
	last = sell(a, o.sales);
	memory = measure_resident_mb() - memory;
	run(a, &o, servers, last);
	ok = report(o.limit_ms);
	printf("  memory grown by %.1f MB\n", memory);
	auc_auction_destroy(a);
	free(servers);
	if (spool == dir)
		measure_remove_spool(dir);
	return ok ? 0 : 1;
}
