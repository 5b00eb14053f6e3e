/*
 * tiny.h - random small markets and jobs, described by integers so that a test can reason about
 * them exactly and without the engine; and their translation into the engine's market and bids.
 */
#ifndef TINY_H
#define TINY_H

#include <stdbool.h>
#include <stdint.h>

#include "input/bid.h"
#include "market/market.h"
#include "market/plan.h"

#define TINY_SERVERS 24
#define TINY_SLOTS   40
#define TINY_TRES    4
#define TINY_TYPES   3

/* Amounts are in hundredths, seconds in hundredths, MB and upload slots in tenths. */
struct tiny_market {
	unsigned nservers, nslots, ntres, nworkers, nps;
	int64_t first;
	int slot_seconds;
	int64_t capacity[TINY_SERVERS][TINY_TRES];
	bool hosts_workers[TINY_SERVERS], hosts_ps[TINY_SERVERS], cloud[TINY_SERVERS];
	int upload[TINY_SERVERS];
	int leaf[TINY_SERVERS]; /* number of its switch; 0: none. Drawn by tests that need it */
	double eta[TINY_TRES];
	bool given;   /* prices are those of price[], not of eta */
	bool bounded; /* they are those of OASiS with lower[], upper[], by role: workers, PSs */
	double lower[2][TINY_TRES], upper[2][TINY_TRES];
	double price[TINY_SERVERS][TINY_TRES][TINY_SLOTS];
	double cost[TINY_SERVERS][TINY_TRES]; /* of a unit and hour: no price is below it */
	bool hours; /* every other server costs more and less by the hour of the day */
	int64_t worker[TINY_TYPES][TINY_TRES], ps[TINY_TYPES][TINY_TRES];
	int worker_mbps[TINY_TYPES], ps_mbps[TINY_TYPES];
	int64_t used[TINY_SERVERS][TINY_TRES][TINY_SLOTS]; /* kept by the test: tiny_book() */
};

struct tiny_job {
	int64_t arrival;
	struct auc_utility utility;
	int epochs, chunks, minibatches, gradient;
	int worker_seconds[TINY_TYPES], ps_seconds[TINY_TYPES]; /* < 0: not allowed */
	int upload[TINY_SERVERS];                               /* < 0: not named */
	int upload_group, upload_default; /* of group "edge"; of the bid; < 0: not named */
};

struct tiny_random {
	uint64_t state;
};

/* Uniform in [LOW, HIGH]; in [0, 1); true with probability P. */
int tiny_int(struct tiny_random *r, int low, int high);
double tiny_real(struct tiny_random *r);
bool tiny_chance(struct tiny_random *r, double p);

/* A market of the given size, partly used; a job for it. */
void tiny_market_make(struct tiny_market *t, struct tiny_random *r, unsigned servers,
		      unsigned slots);
void tiny_job_make(struct tiny_job *j, struct tiny_random *r, const struct tiny_market *t);
/* f(X), a unit price (SLOT counts from 0), and A / B rounded up: by arithmetic of its own. */
long double tiny_value(const struct auc_utility *u, long double x);
long double tiny_price(const struct tiny_market *t, unsigned server, unsigned tres, int64_t slot);
int64_t tiny_up(__int128 a, __int128 b);
/* Delta of JOB on SERVER in whole slots. */
int64_t tiny_upload(const struct tiny_market *t, const struct tiny_job *j, unsigned server);

extern const char *const tiny_tres_names[TINY_TRES];

/* The same in the engine's terms; they stop the program if the engine refuses. */
/* Before tiny_build(): one market of three has costs. */
void tiny_costs(struct tiny_market *t, struct tiny_random *r);
struct auc_market *tiny_build(const struct tiny_market *t);
void tiny_resolve(const struct auc_market *m, const struct tiny_job *j, struct auc_job *job);
/* Random prices instead of those of eta, in both. */
void tiny_give_prices(struct tiny_market *t, struct tiny_random *r, struct auc_market *m);
/* The same with bounds. */
void tiny_set_bounds(struct tiny_market *t, struct tiny_random *r, struct auc_market *m);
/* Books PLAN in both. */
void tiny_book(struct tiny_market *t, struct auc_market *m, const struct auc_plan *plan);

#endif
