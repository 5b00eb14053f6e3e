/* world.h - a small auction in a scratch directory, for the tests of the facade. */
#ifndef AUC_TEST_WORLD_H
#define AUC_TEST_WORLD_H

#include "auction/auction.h"

#define SLOT 300.0
#define NOW  (1000 * SLOT) /* the start of slot 1000 */

/* Six servers: edge1-4 (2 v100 each), big1-2 (4 t4 each, cloud). */
extern const struct auc_server_spec world_servers[];
extern const unsigned world_nservers;
/* What every configuration of the tests has; globals go in front. */
extern const char world_types[];

/* Fails the test on an error. GLOBALS are lines of auction.conf, or "". */
struct auc_conf *world_conf(const char *globals);
struct auc_auction *world_create(const char *globals);
/* The same with servers and a spool in DIR, ready. */
struct auc_auction *world_open(const char *globals, const char *dir, double now);
/* A bid from its text. */
struct auc_bid world_bid(struct auc_auction *a, const char *text);
/* What A answers to TEXT, from user 1000; fails the test if that is an error. */
struct auc_offer world_offer(struct auc_auction *a, const char *text, double now, bool hold);
/* Sells to JOB what TEXT asks for; fails the test if it is refused. */
void world_sell(struct auc_auction *a, const char *text, uint32_t job, double now);
/* Sells one GPU of every node for all of a horizon of 100 slots, so that nothing is free of charge.
 */
void world_load(struct auc_auction *a);
void world_commit(struct auc_auction *a);
struct auc_totals world_totals(struct auc_auction *a);

/* The directory of a test; cmocka's set-up, which also says that times are UTC, and tear-down. */
extern char world_dir[64];
int world_setup(void **state);
int world_teardown(void **state);
/*
 * An auction of its own for each test: the set-up with GLOBALS, to be called by one of cmocka's,
 * and cmocka's tear-down.
 */
struct world_auction {
	char dir[64];
	struct auc_auction *a;
};
int world_auction_setup(void **state, const char *globals);
int world_auction_teardown(void **state);
/* A new scratch directory, its name in DIR[64]; and its end, spool files and all. */
void world_mkdir(char *dir);
void world_rmdir(const char *dir);

#endif
