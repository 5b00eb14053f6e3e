/*
 * gen_aonline.c - the setting of the paper of policy aonline (its section V-A, and VI for storage).
 * Six models say how many chunks and mini-batches a job has. What the paper takes from traces that
 * it does not print is drawn: the workers and PSs of a server, each of a random type, the slot of
 * arrival, evenly or in two peaks, and how many workers a job asks for, which only the baselines
 * look at.
 */
#include "config.h"

#include <math.h>

#include <json-c/json.h>

#include "auctionsim/gen/gen-private.h"
#include "base/json.h"
#include "auctionsim/scenario/scenario.h"

static bool write_scenario(struct gen *g);
static struct json_object *make_type(struct gen *g, bool ps, unsigned i);
static struct json_object *make_server(struct gen *g, unsigned i, bool cloud);
static bool add_capacity(struct gen *g, struct json_object *capacity, bool ps, bool cloud);
static struct json_object *make_job(struct gen *g, unsigned i);
static double draw_arrival(struct gen *g);
static bool add_seconds(struct gen *g, struct json_object *job, bool ps);
static bool add_upload(struct gen *g, struct json_object *job);

enum {
	SERVERS,
	JOBS,
	SLOTS,
	SLOT_SECONDS,
	TYPES,
	PS_TYPES,
	WORKERS,
	PS,
	CLOUD,
	STORAGE,
	CHUNK_MB,
	ARRIVAL,
	PATTERN,
	EPOCHS,
	MODEL,
	WORKER_SLOTS,
	PS_MS,
	GRADIENT,
	BANDWIDTH,
	UPLOAD,
	CLOUD_UPLOAD,
	GANG,
	AONLINE_PARAMETERS
};

#define CLOUD_MAX 1000000 /* workers, and PSs, of each type: as good as unlimited */

/* Table II: ResNet-50 and -101 on CIFAR10, GoogLeNet and LeNet on Caltech101, AlexNet and
 * Inception-BN on ImageNet-12. */
static const double model_chunks[] = {27, 27, 115, 115, 60, 60};
#define MODEL_MINIBATCHES 58

static const char *const patterns[] = {"even", "peaks", NULL};
static const char *const yes_no[] = {"yes", "no", NULL};

static const struct parameter parameters[] = {
	[SERVERS] = GEN_COUNT("servers", 100, 0, 100000, "edge servers"),
	[JOBS] = GEN_COUNT("jobs", 300, 0, 1000000, "jobs"),
	[SLOTS] = GEN_COUNT("slots", 4000, 1, AUC_SLOTS_MAX, "slots T"),
	[SLOT_SECONDS] = GEN_COUNT("slot_seconds", 3600, 1, 1e6, "seconds"),
	[TYPES] = GEN_COUNT("worker_types", 8, 1, 10,
			    "worker types (with PS types and storage 16 at most)"),
	[PS_TYPES] = GEN_COUNT("ps_types", 7, 1, 10, "PS types"),
	[WORKERS] = GEN_COUNTS("workers", 2, 8, 0, 1e4, "workers of an edge server"),
	[PS] = GEN_COUNTS("ps", 8, 32, 0, 1e4, "PSs of an edge server"),
	[CLOUD] = GEN_WORD("cloud", yes_no, 0, "is there a cloud? yes or no"),
	[STORAGE] = GEN_COUNTS("storage", 0, 0, 0, 1e9,
			       "storage of an edge server, MB; 0: not limited"),
	[CHUNK_MB] = GEN_RANGE("chunk_mb", 2, 2, 0, 1e6, "u_j, MB"),
	[ARRIVAL] = GEN_COUNTS("arrival", 1, 200, 1, AUC_SLOTS_MAX, "r_j"),
	[PATTERN] =
		GEN_WORD("pattern", patterns, 0, "of arrivals in that range: even, or two peaks"),
	[EPOCHS] = GEN_COUNTS("epochs", 20, 60, 1, 1e6, "E_j"),
	[MODEL] = GEN_COUNTS("model", 1, 6, 1, 6, "of Table II: 27, 115 or 60 chunks"),
	[WORKER_SLOTS] = GEN_RANGE("worker_slots", 0.001, 0.05, 0, 1e4, "m_j, in slots"),
	[PS_MS] = GEN_COUNTS("ps_ms", 10, 100, 0, 1e9, "G_j, in ms"),
	[GRADIENT] = GEN_RANGE("gradient_mb", 30, 575, 0, 1e6, "q_j, in MB"),
	[BANDWIDTH] = GEN_COUNTS("bandwidth", 100, 5120, 1, 1e9, "b_j of a worker type, Mbit/s"),
	[UPLOAD] = GEN_COUNTS("upload", 1, 4, 0, 1e6, "slots until data are at the edge"),
	[CLOUD_UPLOAD] = GEN_COUNTS("cloud_upload", 10, 15, 0, 1e6, "and in the cloud"),
	[GANG] = GEN_COUNTS("gang", 8, 64, 1, 1e6,
			    "workers that a job asks for, of the baselines that ask"),
};

const struct gen_setting gen_aonline = {"aonline", parameters, AONLINE_PARAMETERS, write_scenario};

static bool write_scenario(struct gen *g)
{
	unsigned nworker = (unsigned)g->values[TYPES].low, nps = (unsigned)g->values[PS_TYPES].low;
	unsigned servers = (unsigned)g->values[SERVERS].low, jobs = (unsigned)g->values[JOBS].low;
	bool ok = true;
	unsigned i;

	fprintf(g->out,
		"{\"format\": \"" SCENARIO_FORMAT "\", \"name\": \"aonline-s%u-j%u\", "
		"\"slots\": %.0f, \"slot_seconds\": %.0f,\n\"worker_types\": [\n",
		servers, jobs, g->values[SLOTS].low, g->values[SLOT_SECONDS].low);
	for (i = 0; i < nworker && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_type(g, false, i));
	fputs("],\n\"ps_types\": [\n", g->out);
	for (i = 0; i < nps && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_type(g, true, i));
	fputs("],\n\"servers\": [\n", g->out);
	for (i = 0; i < servers && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_server(g, i, false));
	if (ok && !g->values[CLOUD].low)
		ok = gen_put(g, servers ? ",\n" : "", make_server(g, servers, true));
	fputs("],\n\"jobs\": [\n", g->out);
	for (i = 0; i < jobs && ok; i++)
		ok = gen_put_job(g, i ? ",\n" : "", make_job(g, i));
	fputs("]}\n", g->out);
	return ok;
}

/* A type has a resource of its own: [W_s] and [P_s] are counts. */
static struct json_object *make_type(struct gen *g, bool ps, unsigned i)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_object();
	double bandwidth = gen_draw(g, BANDWIDTH, 0);
	char name[AUC_NAME_MAX];
	bool ok = o && tres;

	snprintf(name, sizeof(name), "%s%u", ps ? "p" : "w", i + 1);
	ok = ok && auc_json_add_text(o, "name", name) && auc_json_add_int(tres, name, 1) &&
	     auc_json_add(o, "tres", json_object_get(tres)) &&
	     gen_add_number(o, "bandwidth_mbps", bandwidth);
	json_object_put(tres);
	return auc_json_if(ok, o);
}

static struct json_object *make_server(struct gen *g, unsigned i, bool cloud)
{
	struct json_object *o = json_object_new_object(), *capacity = json_object_new_object();
	double storage = cloud ? 0 : gen_draw(g, STORAGE, 0);
	char name[AUC_NAME_MAX] = "cloud";
	bool ok = o && capacity;

	if (!cloud)
		snprintf(name, sizeof(name), "edge%u", i + 1);
	ok = ok && add_capacity(g, capacity, false, cloud) &&
	     add_capacity(g, capacity, true, cloud) &&
	     (storage == 0 || gen_add_number(capacity, "storage", storage)) &&
	     auc_json_add_text(o, "name", name) &&
	     auc_json_add_text(o, "site", cloud ? "cloud" : "edge") &&
	     auc_json_add(o, "capacity", json_object_get(capacity));
	json_object_put(capacity);
	return auc_json_if(ok, o);
}

/* Each worker (PS) is of a random type. */
static bool add_capacity(struct gen *g, struct json_object *capacity, bool ps, bool cloud)
{
	unsigned types = (unsigned)g->values[ps ? PS_TYPES : TYPES].low, counts[10] = {0}, i;
	double n = cloud ? 0 : gen_draw(g, ps ? PS : WORKERS, 0);
	bool ok = true;

	for (; n > 0; n--)
		counts[gen_pick(g, types)]++;
	for (i = 0; i < types && ok; i++)
		if (cloud || counts[i])
			ok = gen_add_named(capacity, ps ? "p" : "w", i + 1,
					   cloud ? CLOUD_MAX : counts[i]);
	return ok;
}

static struct json_object *make_job(struct gen *g, unsigned i)
{
	struct json_object *o = json_object_new_object();
	unsigned model = (unsigned)gen_draw(g, MODEL, 0) - 1;
	char id[32];
	bool ok = o != NULL;

	snprintf(id, sizeof(id), "j%u", i + 1);
	ok = ok && auc_json_add_text(o, "id", id) &&
	     gen_add_number(o, "arrival", draw_arrival(g)) &&
	     gen_add_number(o, "epochs", gen_draw(g, EPOCHS, 0)) &&
	     gen_add_number(o, "chunks", model_chunks[model]) &&
	     gen_add_number(o, "minibatches", MODEL_MINIBATCHES) &&
	     gen_add_number(o, "gradient_mb", gen_draw(g, GRADIENT, 1)) &&
	     gen_add_number(o, "workers", gen_draw(g, GANG, 0)) &&
	     gen_add_number(o, "chunk_mb", gen_draw(g, CHUNK_MB, 2)) && add_seconds(g, o, false) &&
	     add_seconds(g, o, true) && add_upload(g, o);
	return auc_json_if(ok, o);
}

/* Peaks: the mean of three draws, in the first or in the second half of the range. */
static double draw_arrival(struct gen *g)
{
	double low = g->values[ARRIVAL].low, width = g->values[ARRIVAL].high - low, x;

	if (!g->values[PATTERN].low)
		return gen_draw(g, ARRIVAL, 0);
	x = (gen_uniform(g) + gen_uniform(g) + gen_uniform(g)) / 3;
	return low + floor(width * (x + gen_pick(g, 2)) / 2);
}

/* The job says which type its workers (PSs) are. */
static bool add_seconds(struct gen *g, struct json_object *job, bool ps)
{
	struct json_object *o = json_object_new_object();
	unsigned type = gen_pick(g, (unsigned)g->values[ps ? PS_TYPES : TYPES].low);
	double seconds =
		ps ? gen_draw(g, PS_MS, 0) / 1000
		   : round(gen_draw(g, WORKER_SLOTS, 9) * g->values[SLOT_SECONDS].low * 1000) /
				1000;
	bool ok = o && gen_add_named(o, ps ? "p" : "w", type + 1, seconds) &&
		  auc_json_add(job, ps ? "ps_seconds" : "worker_seconds", json_object_get(o));

	json_object_put(o);
	return ok;
}

static bool add_upload(struct gen *g, struct json_object *job)
{
	struct json_object *o = json_object_new_object();
	unsigned servers = (unsigned)g->values[SERVERS].low, i;
	bool ok = o != NULL;

	for (i = 0; i < servers && ok; i++)
		ok = gen_add_named(o, "edge", i + 1, gen_draw(g, UPLOAD, 0));
	if (ok && !g->values[CLOUD].low)
		ok = gen_add_number(o, "cloud", gen_draw(g, CLOUD_UPLOAD, 0));
	ok = auc_json_add_if(ok, job, "upload_slots", o);
	return ok;
}
