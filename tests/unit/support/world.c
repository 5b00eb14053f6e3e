/* world.c - see world.h */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/support/world.h"
#include "unit/support/sound.h"

#define EDGE                                                                                       \
	.partition = "edge", .ncapacity = 3,                                                       \
	.capacity = {{"cpu", 24}, {"mem", 65536}, {"gpu:v100", 2}}
#define BIG                                                                                        \
	.partition = "cloud", .ncapacity = 3,                                                      \
	.capacity = {{"cpu", 64}, {"mem", 262144}, {"gpu:t4", 4}}

const struct auc_server_spec world_servers[] = {
	{.name = "edge1", EDGE}, {.name = "edge2", EDGE}, {.name = "edge3", EDGE},
	{.name = "edge4", EDGE}, {.name = "big1", BIG},   {.name = "big2", BIG},
};
const unsigned world_nservers = sizeof(world_servers) / sizeof(*world_servers);

const char world_types[] = "PartitionName=edge Site=edge\n"
			   "PartitionName=cloud Site=cloud Upload=600\n"
			   "WorkerType=v100 TRES=cpu=4,mem=8192,gpu:v100=1 Bandwidth=1024\n"
			   "WorkerType=t4 TRES=cpu=4,mem=8192,gpu:t4=1 Bandwidth=1024\n"
			   "PSType=ps.m TRES=cpu=2,mem=4096 Bandwidth=8192\n";

struct auc_conf *world_conf(const char *globals)
{
	char text[4096];
	struct auc_conf *conf;
	struct auc_err err;

	/* Tests bid often, and as one user. */
	snprintf(text, sizeof(text), "%s\n%s%s", globals,
		 strstr(globals, "User") ? "" : "UserLiens=0 UserQuotes=0 UserJobs=0\n",
		 world_types);
	if (auc_conf_parse(text, strlen(text), "auction.conf", &conf, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return conf;
}

struct auc_auction *world_create(const char *globals)
{
	struct auc_auction *a;
	struct auc_err err;

	if (auc_auction_create(world_conf(globals), &a, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return a;
}

static char key_path[64];

static void forget_key(void)
{
	unlink(key_path);
}

/* As in slurmctld, where all its auctions have one key. */
static void take_key(struct auc_auction *a)
{
	struct auc_seal *seal;
	struct auc_err err;

	if (!key_path[0]) {
		snprintf(key_path, sizeof(key_path), "world-key-%d", (int)getpid());
		atexit(forget_key);
	}
	if (auc_seal_open_key(key_path, &seal, &err) != AUC_OK)
		fail_msg("%s", err.text);
	auc_auction_set_seal(a, seal);
}

struct auc_auction *world_open(const char *globals, const char *dir, double now)
{
	struct auc_auction *a = world_create(globals);
	struct auc_err err;

	take_key(a);
	if (auc_auction_set_servers(a, world_servers, world_nservers, now, &err) != AUC_OK ||
	    auc_auction_open_spool(a, dir, now, NULL, &err) != AUC_OK ||
	    auc_auction_ready(a, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return a;
}

struct auc_bid world_bid(struct auc_auction *a, const char *text)
{
	struct auc_bid bid;
	struct auc_err err;

	if (auc_bid_parse(auc_auction_conf(a), text, &bid, &err) != AUC_OK)
		fail_msg("%s", err.text);
	return bid;
}

struct auc_offer world_offer(struct auc_auction *a, const char *text, double now, bool hold)
{
	struct auc_bid bid = world_bid(a, text);
	struct auc_offer offer;
	struct auc_err err;

	if (auc_auction_bid(a, &bid, 1000, now, hold, &offer, &err) != AUC_OK)
		fail_msg("%s: %s", text, err.text);
	return offer;
}

void world_sell(struct auc_auction *a, const char *text, uint32_t job, double now)
{
	struct auc_offer o = world_offer(a, text, now, true);
	struct auc_err err;

	if (!o.accepted)
		fail_msg("%s", o.message);
	if (auc_auction_confirm(a, o.sale, job, NULL, &err) != AUC_OK)
		fail_msg("%s", err.text);
	auc_offer_clear(&o);
}

void world_load(struct auc_auction *a)
{
	char text[256];
	uint32_t job = 100;

	for (unsigned i = 0; i < world_nservers; i++) {
		const struct auc_server_spec *s = &world_servers[i];

		snprintf(text, sizeof(text),
			 "90000 epochs=99 minibatches=100 worker-time=%s=3s ps-time=ps.m=0 "
			 "upload=%.60s=1000,%.60s=0",
			 strcmp(s->partition, "edge") ? "t4" : "v100", s->partition, s->name);
		world_sell(a, text, job++, NOW);
	}
}

void world_commit(struct auc_auction *a)
{
	struct auc_err err;

	if (auc_auction_commit(a, &err) != AUC_OK)
		fail_msg("%s", err.text);
}

struct auc_totals world_totals(struct auc_auction *a)
{
	struct auc_totals t;

	auc_auction_totals(a, &t);
	return t;
}

char world_dir[64];

int world_setup(void **state)
{
	(void)state;
	world_mkdir(world_dir);
	setenv("TZ", "UTC", 1);
	return 0;
}

int world_teardown(void **state)
{
	world_rmdir(world_dir);
	return sound_teardown(state);
}

int world_auction_setup(void **state, const char *globals)
{
	struct world_auction *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	world_mkdir(w->dir);
	w->a = world_open(globals, w->dir, NOW);
	*state = w;
	return 0;
}

int world_auction_teardown(void **state)
{
	struct world_auction *w = *state;

	auc_auction_destroy(w->a);
	world_rmdir(w->dir);
	free(w);
	return sound_teardown(state);
}

void world_mkdir(char *dir)
{
	strcpy(dir, "world-XXXXXX");
	if (!mkdtemp(dir))
		fail_msg("no scratch directory");
}

void world_rmdir(const char *dir)
{
	static const char *const names[] = {"journal",      "state",          "lock",
					    "before/state", "before/journal", "before"};
	char path[128];

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	rmdir(dir);
}
