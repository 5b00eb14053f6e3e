/*
 * gen_eris.c - the setting of the paper of policy eris, its section VI: the simulator's sites,
 * budget of traffic and utilities, and the testbed's jobs and slots of 20 minutes. Six models say
 * how many chunks and how large tensors a job has. What the paper does not print is a parameter:
 * - At how many sites the data of a job lie; each chunk is at a random one of these.
 * - P, in the paper measured. 30 to 90 chunks a slot: one worker can train at least a chunk in all
 *   its epochs, and five workers take 3 hours on average (a job typically takes 2 to 4 there).
 * - lambda: in each slot a worker's tensors go to the PS and back, once by default. If they went
 *   for every mini-batch, one worker of most models would exceed the budget of all sites.
 * - How many workers a job has that has a fixed number of them, and which jobs are opportunistic;
 *   only baselines look at these.
 * Every job has types of its own, w and p.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "auctionsim/gen/gen-private.h"
#include "base/json.h"
#include "auctionsim/scenario/scenario.h"
#include "base/list.h"

/* A site where data of a job may lie. */
struct place {
	unsigned site, chunks;
};

static bool write_scenario(struct gen *g);
static void print_prices(struct gen *g);
static struct json_object *make_server(struct gen *g, unsigned i);
static struct json_object *make_job(struct gen *g, unsigned i, struct place *places);
static struct json_object *make_types(struct gen *g, bool ps);
static struct json_object *make_utility(struct gen *g);
static struct json_object *make_data(struct gen *g, unsigned chunks, struct place *places);

enum {
	SERVERS,
	JOBS,
	SLOTS,
	SLOT_SECONDS,
	TRANSFER,
	SITE_GPUS,
	SITE_CPUS,
	SITE_MEM,
	ARRIVAL,
	GPUS,
	CPUS,
	MEM,
	PS_GPUS,
	PS_CPUS,
	PS_MEM,
	EPOCHS,
	MODEL,
	CHUNKS,
	CHUNK_MB,
	DATA_SITES,
	RATE,
	EXCHANGES,
	SCALE,
	SENSITIVITY,
	PATIENCE,
	WORKERS,
	OPPORTUNISTIC,
	PRICES,
	GAMMA,
	ERIS_PARAMETERS
};

/* Table II: ResNet-50 and -101 on CIFAR10, GoogLeNet and LeNet on Caltech101, AlexNet and
 * Inception-BN on Tiny-ImageNet. */
static const struct {
	double chunks, tensors_mb;
} models[] = {{27, 97.4}, {27, 169.9}, {115, 25.9}, {115, 283}, {150, 237.9}, {150, 42.9}};

enum { PRICES_PRINTED, PRICES_OFFLINE, PRICES_LEARNED };
static const char *const prices[] = {"printed", "offline", "learned", NULL};

static const struct parameter parameters[] = {
	[SERVERS] = GEN_COUNT("servers", 50, 1, 100000, "R, sites"),
	[JOBS] = GEN_COUNT("jobs", 100, 0, 1000000, "I, jobs"),
	[SLOTS] = GEN_COUNT("slots", 150, 1, AUC_SLOTS_MAX, "slots T"),
	[SLOT_SECONDS] = GEN_COUNT("slot_seconds", 1200, 1, 1e6, "seconds"),
	[TRANSFER] =
		GEN_COUNT("transfer_mb", 20480, 0, 1e9, "B, MB of traffic between sites in a slot"),
	[SITE_GPUS] = GEN_COUNTS("site_gpus", 4, 4, 0, 1e6, "of a site"),
	[SITE_CPUS] = GEN_COUNTS("site_cpus", 24, 24, 0, 1e6, "of a site"),
	[SITE_MEM] = GEN_COUNTS("site_mem_gb", 32, 32, 0, 1e6, "of a site"),
	[ARRIVAL] = GEN_COUNTS("arrival", 0, 0, 0, AUC_SLOTS_MAX, "slot of arrival; 0: 1 to T"),
	[GPUS] = GEN_COUNTS("gpus", 0, 1, 0, 1e4, "of a worker"),
	[CPUS] = GEN_COUNTS("cpus", 1, 3, 1, 1e4, "of a worker"),
	[MEM] = GEN_COUNTS("mem_gb", 2, 6, 0, 1e6, "of a worker"),
	[PS_GPUS] = GEN_COUNTS("ps_gpus", 0, 1, 0, 1e4, "of a PS"),
	[PS_CPUS] = GEN_COUNTS("ps_cpus", 1, 3, 1, 1e4, "of a PS"),
	[PS_MEM] = GEN_COUNTS("ps_mem_gb", 2, 6, 0, 1e6, "of a PS"),
	[EPOCHS] = GEN_COUNTS("epochs", 20, 30, 1, 1e6, "E: one of the two, none in between"),
	[MODEL] = GEN_COUNTS("model", 1, 6, 1, 6,
			     "of Table II: 27, 115 or 150 chunks, 25.9 to 283 MB"),
	[CHUNKS] = GEN_COUNTS("chunks", 0, 0, 0, 1e6, "of a job; 0: the model's"),
	[CHUNK_MB] = GEN_RANGE("chunk_mb", 2, 2, 0, 1e6, "theta, MB"),
	[DATA_SITES] =
		GEN_COUNTS("data_sites", 2, 10, 1, 100000, "sites at which data of a job lie"),
	[RATE] = GEN_COUNTS("worker_chunks", 30, 90, 1, 1e6,
			    "P, of a worker in a slot, for one epoch"),
	[EXCHANGES] = GEN_COUNTS("exchanges", 1, 1, 0, 1e4,
				 "of a worker in a slot: lambda is twice the tensors for each"),
	[SCALE] = GEN_COUNTS("scale", 3000, 3000, 0, 1e6, "of the utility"),
	[SENSITIVITY] = GEN_RANGE("sensitivity", 1, 2, 0, 1e3, "tau, times the scale"),
	[PATIENCE] = GEN_RANGE("patience", 3, 3, 0.01, 1e6,
			       "what the utility divides the time by, in slots"),
	[WORKERS] =
		GEN_COUNTS("workers", 5, 5, 1, 1e6, "workers of a job where their number is fixed"),
	[OPPORTUNISTIC] = GEN_NUMBER("opportunistic", 0.5, 0, 1,
				     "share of jobs without a guarantee, of AntMan"),
	[PRICES] =
		GEN_WORD("prices", prices, PRICES_PRINTED, "printed (gamma), offline or learned"),
	[GAMMA] = GEN_NUMBER("gamma", 1000, 1, 1e9, "gamma_d and every gamma_k"),
};

const struct gen_setting gen_eris = {"eris", parameters, ERIS_PARAMETERS, write_scenario};

static bool write_scenario(struct gen *g)
{
	unsigned servers = (unsigned)g->values[SERVERS].low, jobs = (unsigned)g->values[JOBS].low;
	struct place *places = calloc(servers, sizeof(*places));
	bool ok = places != NULL;
	unsigned i;

	fprintf(g->out,
		"{\"format\": \"" SCENARIO_FORMAT
		"\", \"name\": \"eris-s%u-j%u\", \"slots\": %.0f, \"slot_seconds\": %.0f,\n"
		"\"transfer_mb_per_slot\": %.0f,\n",
		servers, jobs, g->values[SLOTS].low, g->values[SLOT_SECONDS].low,
		g->values[TRANSFER].low);
	print_prices(g);
	fputs("\"worker_types\": [], \"ps_types\": [], \"servers\": [\n", g->out);
	for (i = 0; i < servers && ok; i++) {
		places[i].site = i + 1;
		ok = gen_put(g, i ? ",\n" : "", make_server(g, i));
	}
	fputs("],\n\"jobs\": [\n", g->out);
	for (i = 0; i < jobs && ok; i++)
		ok = gen_put_job(g, i ? ",\n" : "", make_job(g, i, places));
	fputs("]}\n", g->out);
	free(places);
	return ok;
}

/* The base gamma of (6): alpha and beta are gamma^(share in use) - 1. */
static void print_prices(struct gen *g)
{
	char gamma[AUC_NUMBER_LEN];

	auc_number_str(g->values[GAMMA].low, gamma);
	if (g->values[PRICES].low == PRICES_PRINTED)
		fprintf(g->out,
			"\"prices\": {\"mode\": \"eta\", \"eta\": {\"gpu\": %s, \"cpu\": %s, "
			"\"mem_gb\": %s, \"transfer\": %s}},\n",
			gamma, gamma, gamma, gamma);
	if (g->values[PRICES].low == PRICES_LEARNED)
		fputs("\"prices\": {\"mode\": \"learned\"},\n", g->out);
}

static struct json_object *make_server(struct gen *g, unsigned i)
{
	struct json_object *o = json_object_new_object(), *capacity = json_object_new_object();
	char name[AUC_NAME_MAX];
	bool ok = o && capacity;

	snprintf(name, sizeof(name), "site%u", i + 1);
	ok = ok && gen_add_number(capacity, "gpu", gen_draw(g, SITE_GPUS, 0)) &&
	     gen_add_number(capacity, "cpu", gen_draw(g, SITE_CPUS, 0)) &&
	     gen_add_number(capacity, "mem_gb", gen_draw(g, SITE_MEM, 0)) &&
	     auc_json_add_text(o, "name", name) &&
	     auc_json_add(o, "capacity", json_object_get(capacity));
	json_object_put(capacity);
	return auc_json_if(ok, o);
}

static struct json_object *make_job(struct gen *g, unsigned i, struct place *places)
{
	struct json_object *o = json_object_new_object();
	struct value *epochs = &g->values[EPOCHS];
	unsigned model = (unsigned)gen_draw(g, MODEL, 0) - 1;
	double chunks = gen_draw(g, CHUNKS, 0), lambda;
	bool ok = o != NULL;
	char id[32];

	if (chunks == 0)
		chunks = models[model].chunks;
	lambda = round(2 * models[model].tensors_mb * gen_draw(g, EXCHANGES, 0) * 10) / 10;
	snprintf(id, sizeof(id), "j%u", i + 1);
	ok = ok && auc_json_add_text(o, "id", id) &&
	     gen_add_number(o, "arrival", fmax(1, gen_draw(g, ARRIVAL, 0))) &&
	     auc_json_add(o, "utility", make_utility(g)) &&
	     gen_add_number(o, "epochs", gen_pick(g, 2) ? epochs->high : epochs->low) &&
	     gen_add_number(o, "chunks", chunks) &&
	     gen_add_number(o, "gradient_mb", models[model].tensors_mb) &&
	     gen_add_number(o, "chunk_mb", gen_draw(g, CHUNK_MB, 2)) &&
	     gen_add_number(o, "exchange_mb_per_slot", lambda) &&
	     gen_add_number(o, "chunks_per_slot", gen_draw(g, RATE, 0)) &&
	     gen_add_number(o, "workers", gen_draw(g, WORKERS, 0)) && gen_add_number(o, "ps", 1) &&
	     auc_json_add(
		     o, "guaranteed",
		     json_object_new_boolean(gen_uniform(g) >= g->values[OPPORTUNISTIC].low)) &&
	     auc_json_add(o, "data_chunks", make_data(g, (unsigned)chunks, places)) &&
	     auc_json_add(o, "worker_types", make_types(g, false)) &&
	     auc_json_add(o, "ps_types", make_types(g, true));
	return auc_json_if(ok, o);
}

/* The job's one type. The setting knows no bandwidth, only the budget. */
static struct json_object *make_types(struct gen *g, bool ps)
{
	struct json_object *list = json_object_new_array(), *o = json_object_new_object();
	struct json_object *tres = json_object_new_object();
	double gpus = gen_draw(g, ps ? PS_GPUS : GPUS, 0);
	bool ok = list && o && tres;

	if (gpus > 0)
		ok = ok && gen_add_number(tres, "gpu", gpus);
	ok = ok && gen_add_number(tres, "cpu", gen_draw(g, ps ? PS_CPUS : CPUS, 0)) &&
	     gen_add_number(tres, "mem_gb", gen_draw(g, ps ? PS_MEM : MEM, 0)) &&
	     auc_json_add_text(o, "name", ps ? "p" : "w") &&
	     auc_json_add(o, "tres", json_object_get(tres)) &&
	     !json_object_array_add(list, json_object_get(o));
	json_object_put(tres);
	json_object_put(o);
	return auc_json_if(ok, list);
}

static struct json_object *make_utility(struct gen *g)
{
	struct json_object *o = json_object_new_object();
	double scale = gen_draw(g, SCALE, 0), tau = gen_draw(g, SENSITIVITY, 2);
	bool ok = o && auc_json_add_text(o, "form", "sigmoid") &&
		  gen_add_number(o, "scale", round(scale * tau * 100) / 100) &&
		  gen_add_number(o, "decay", 1 / gen_draw(g, PATIENCE, 2));

	return auc_json_if(ok, o);
}

/* PLACES are the sites, in any order. */
static struct json_object *make_data(struct gen *g, unsigned chunks, struct place *places)
{
	unsigned servers = (unsigned)g->values[SERVERS].low, n, i, other;
	struct json_object *o = json_object_new_object();
	struct place chosen;
	bool ok = o != NULL;

	n = (unsigned)fmin(gen_draw(g, DATA_SITES, 0), servers);
	for (i = 0; i < n; i++) {
		other = i + gen_pick(g, servers - i);
		chosen = places[other];
		places[other] = places[i];
		places[i] = (struct place){chosen.site, 0};
	}
	for (; chunks > 0; chunks--)
		places[gen_pick(g, n)].chunks++;
	for (i = 0; i < n && ok; i++)
		if (places[i].chunks)
			ok = gen_add_named(o, "site", places[i].site, places[i].chunks);
	return auc_json_if(ok, o);
}
