/*
 * gen_oasis.c - the setting of Y. Bao, Y. Peng, C. Wu, Z. Li: "Online Job Scheduling in Distributed
 * Machine Learning Clusters", IEEE INFOCOM 2018, section V-A, with two corrections: workers are on
 * the machines with GPUs (the paper swaps the two kinds), and a mini-batch takes a hundredth of the
 * time printed, without which most jobs cannot be done in the horizon by all the workers that they
 * may have. What the paper leaves open: storage of a server, and arrivals, which it takes from a
 * trace, are drawn evenly. Every job has types of its own, w and p.
 */
#include "config.h"

#include <math.h>

#include <json-c/json.h>

#include "auctionsim/gen/gen-private.h"
#include "base/json.h"
#include "auctionsim/scenario/scenario.h"

static bool write_scenario(struct gen *g);
static struct json_object *make_server(struct gen *g, unsigned i, bool ps);
static struct json_object *make_job(struct gen *g, unsigned i);
static struct json_object *make_types(struct gen *g, bool ps);
static struct json_object *make_utility(struct gen *g);

enum {
	SERVERS,
	PS_SERVERS,
	JOBS,
	SLOTS,
	SLOT_SECONDS,
	ARRIVAL,
	GPUS,
	CPUS,
	MEM,
	DISK,
	BANDWIDTH,
	PS_CPUS,
	PS_MEM,
	PS_DISK,
	PS_BANDWIDTH,
	SERVER_DISK,
	SERVER_BANDWIDTH,
	EPOCHS,
	CHUNKS,
	MINIBATCHES,
	WORKER_SLOTS,
	GRADIENT,
	PRIORITY,
	INSENSITIVE,
	SENSITIVE,
	DECAY,
	CRITICAL_DECAY,
	TARGET,
	WORKERS,
	PRICES,
	OASIS_PARAMETERS
};

static const char *const prices[] = {"offline", "learned", NULL};

static const struct parameter parameters[] = {
	[SERVERS] = GEN_COUNT("servers", 50, 0, 10000, "H, servers of workers"),
	[PS_SERVERS] = GEN_COUNT("ps_servers", 50, 0, 10000, "K, servers of PSs"),
	[JOBS] = GEN_COUNT("jobs", 100, 0, 1000000, "jobs"),
	[SLOTS] = GEN_COUNT("slots", 300, 1, AUC_SLOTS_MAX, "slots T"),
	[SLOT_SECONDS] = GEN_COUNT("slot_seconds", 3600, 1, 1e6, "seconds"),
	[ARRIVAL] = GEN_COUNTS("arrival", 0, 0, 0, AUC_SLOTS_MAX, "slot of arrival; 0: 1 to T"),
	[GPUS] = GEN_COUNTS("gpus", 0, 4, 0, 1e4, "of a worker"),
	[CPUS] = GEN_COUNTS("cpus", 1, 10, 1, 1e4, "of a worker"),
	[MEM] = GEN_COUNTS("mem_gb", 2, 32, 0, 1e6, "of a worker"),
	[DISK] = GEN_COUNTS("disk_gb", 5, 10, 0, 1e6, "of a worker"),
	[BANDWIDTH] = GEN_COUNTS("bandwidth", 100, 5000, 1, 1e9, "b, Mbit/s"),
	[PS_CPUS] = GEN_COUNTS("ps_cpus", 1, 10, 1, 1e4, "of a PS"),
	[PS_MEM] = GEN_COUNTS("ps_mem_gb", 2, 32, 0, 1e6, "of a PS"),
	[PS_DISK] = GEN_COUNTS("ps_disk_gb", 5, 10, 0, 1e6, "of a PS"),
	[PS_BANDWIDTH] = GEN_COUNTS("ps_bandwidth", 5000, 20000, 1, 1e9, "B, Mbit/s"),
	[SERVER_DISK] = GEN_COUNTS("server_disk_gb", 500, 1000, 0, 1e9, "of a server"),
	[SERVER_BANDWIDTH] =
		GEN_COUNTS("server_bandwidth", 20000, 50000, 0, 1e9, "of a server, Mbit/s"),
	[EPOCHS] = GEN_COUNTS("epochs", 50, 200, 1, 1e6, "E"),
	[CHUNKS] = GEN_COUNTS("chunks", 5, 100, 1, 1e6, "N"),
	[MINIBATCHES] = GEN_COUNTS("minibatches", 10, 100, 1, 1e6, "M"),
	[WORKER_SLOTS] = GEN_RANGE("worker_slots", 0.00001, 0.001, 0, 1e4,
				   "tau, in slots (printed: 0.001:0.1)"),
	[GRADIENT] = GEN_RANGE("gradient_mb", 30, 575, 0, 1e6, "e, in MB"),
	[PRIORITY] = GEN_RANGE("priority", 1, 100, 0, 1e6, "gamma_1"),
	[INSENSITIVE] = GEN_NUMBER("insensitive", 0.1, 0, 1, "share of jobs with gamma_2 0"),
	[SENSITIVE] = GEN_NUMBER("sensitive", 0.55, 0, 1, "share with gamma_2 of decay"),
	[DECAY] = GEN_RANGE("decay", 0.01, 1, 0, 1e6, "gamma_2 of time-sensitive jobs"),
	[CRITICAL_DECAY] = GEN_RANGE("critical_decay", 4, 6, 0, 1e6, "gamma_2 of the other jobs"),
	[TARGET] = GEN_COUNTS("target", 1, 15, 0, 1e6, "gamma_3"),
	[WORKERS] = GEN_COUNTS("workers", 1, 30, 1, 1e6, "workers of a job under FIFO and RRH"),
	[PRICES] = GEN_WORD("prices", prices, 0, "offline or learned"),
};

const struct gen_setting gen_oasis = {"oasis", parameters, OASIS_PARAMETERS, write_scenario};

/* Amazon EC2: GPUs, vCPUs, GB. */
struct machine {
	unsigned gpus, cpus, mem_gb;
};
static const struct machine gpu_machines[] = {
	{1, 4, 61},    /* p2.xlarge */
	{8, 32, 488},  /* p2.8xlarge */
	{16, 64, 732}, /* p2.16xlarge */
	{1, 16, 122},  /* g3.4xlarge */
	{2, 32, 244},  /* g3.8xlarge */
	{4, 64, 488},  /* g3.16xlarge */
};
static const struct machine cpu_machines[] = {
	{0, 8, 15},  /* c4.2xlarge */
	{0, 16, 30}, /* c4.4xlarge */
	{0, 36, 60}, /* c4.8xlarge */
};

static bool write_scenario(struct gen *g)
{
	unsigned servers = (unsigned)g->values[SERVERS].low, jobs = (unsigned)g->values[JOBS].low;
	unsigned ps_servers = (unsigned)g->values[PS_SERVERS].low, i;
	bool ok = true;

	fprintf(g->out,
		"{\"format\": \"" SCENARIO_FORMAT
		"\", \"name\": \"oasis-s%u-j%u\", \"slots\": %.0f, \"slot_seconds\": %.0f,\n",
		servers + ps_servers, jobs, g->values[SLOTS].low, g->values[SLOT_SECONDS].low);
	if (g->values[PRICES].low == 1)
		fputs("\"prices\": {\"mode\": \"learned\"},\n", g->out);
	fputs("\"worker_types\": [], \"ps_types\": [], \"servers\": [\n", g->out);
	for (i = 0; i < servers + ps_servers && ok; i++)
		ok = gen_put(g, i ? ",\n" : "",
			     make_server(g, i < servers ? i : i - servers, i >= servers));
	fputs("],\n\"jobs\": [\n", g->out);
	for (i = 0; i < jobs && ok; i++)
		ok = gen_put_job(g, i ? ",\n" : "", make_job(g, i));
	fputs("]}\n", g->out);
	return ok;
}

static struct json_object *make_server(struct gen *g, unsigned i, bool ps)
{
	struct json_object *o = json_object_new_object(), *capacity = json_object_new_object();
	struct json_object *roles = json_object_new_array();
	const struct machine *m =
		ps ? &cpu_machines[gen_pick(g, sizeof(cpu_machines) / sizeof(*m))]
		   : &gpu_machines[gen_pick(g, sizeof(gpu_machines) / sizeof(*m))];
	char name[AUC_NAME_MAX];
	bool ok = o && capacity && roles &&
		  !json_object_array_add(roles, json_object_new_string(ps ? "ps" : "worker"));

	snprintf(name, sizeof(name), "%s%u", ps ? "c" : "g", i + 1);
	if (!ps)
		ok = ok && gen_add_number(capacity, "gpu", m->gpus);
	ok = ok && gen_add_number(capacity, "cpu", m->cpus) &&
	     gen_add_number(capacity, "mem_gb", m->mem_gb) &&
	     gen_add_number(capacity, "disk_gb", gen_draw(g, SERVER_DISK, 0)) &&
	     gen_add_number(capacity, "net_mbps", gen_draw(g, SERVER_BANDWIDTH, 0)) &&
	     auc_json_add_text(o, "name", name) &&
	     auc_json_add(o, "roles", json_object_get(roles)) &&
	     auc_json_add(o, "capacity", json_object_get(capacity));
	json_object_put(capacity);
	json_object_put(roles);
	return auc_json_if(ok, o);
}

static struct json_object *make_job(struct gen *g, unsigned i)
{
	struct json_object *o = json_object_new_object(), *seconds = json_object_new_object();
	struct json_object *ps_seconds = json_object_new_object();
	double slot = g->values[SLOT_SECONDS].low;
	bool ok = o && seconds && ps_seconds;
	char id[32];

	snprintf(id, sizeof(id), "j%u", i + 1);
	ok = ok && auc_json_add_text(o, "id", id) &&
	     gen_add_number(o, "arrival", fmax(1, gen_draw(g, ARRIVAL, 0))) &&
	     auc_json_add(o, "utility", make_utility(g)) &&
	     gen_add_number(o, "epochs", gen_draw(g, EPOCHS, 0)) &&
	     gen_add_number(o, "chunks", gen_draw(g, CHUNKS, 0)) &&
	     gen_add_number(o, "minibatches", gen_draw(g, MINIBATCHES, 0)) &&
	     gen_add_number(o, "gradient_mb", gen_draw(g, GRADIENT, 1)) &&
	     gen_add_number(seconds, "w",
			    round(gen_draw(g, WORKER_SLOTS, 12) * slot * 1000) / 1000) &&
	     gen_add_number(ps_seconds, "p", 0) &&
	     gen_add_number(o, "workers", gen_draw(g, WORKERS, 0)) &&
	     auc_json_add(o, "worker_seconds", json_object_get(seconds)) &&
	     auc_json_add(o, "ps_seconds", json_object_get(ps_seconds)) &&
	     auc_json_add(o, "worker_types", make_types(g, false)) &&
	     auc_json_add(o, "ps_types", make_types(g, true));
	json_object_put(seconds);
	json_object_put(ps_seconds);
	return auc_json_if(ok, o);
}

/* The job's one type; the bandwidth that it reserves is taken from its server's. */
static struct json_object *make_types(struct gen *g, bool ps)
{
	struct json_object *list = json_object_new_array(), *o = json_object_new_object();
	struct json_object *tres = json_object_new_object();
	double bandwidth = gen_draw(g, ps ? PS_BANDWIDTH : BANDWIDTH, 0),
	       gpus = ps ? 0 : gen_draw(g, GPUS, 0);
	bool ok = list && o && tres;

	if (gpus > 0)
		ok = ok && gen_add_number(tres, "gpu", gpus);
	ok = ok && gen_add_number(tres, "cpu", gen_draw(g, ps ? PS_CPUS : CPUS, 0)) &&
	     gen_add_number(tres, "mem_gb", gen_draw(g, ps ? PS_MEM : MEM, 0)) &&
	     gen_add_number(tres, "disk_gb", gen_draw(g, ps ? PS_DISK : DISK, 0)) &&
	     gen_add_number(tres, "net_mbps", bandwidth) &&
	     auc_json_add_text(o, "name", ps ? "p" : "w") &&
	     auc_json_add(o, "tres", json_object_get(tres)) &&
	     gen_add_number(o, "bandwidth_mbps", bandwidth) &&
	     !json_object_array_add(list, json_object_get(o));
	json_object_put(tres);
	json_object_put(o);
	return auc_json_if(ok, list);
}

static struct json_object *make_utility(struct gen *g)
{
	struct json_object *o = json_object_new_object();
	double insensitive = g->values[INSENSITIVE].low, sensitive = g->values[SENSITIVE].low;
	double kind = gen_uniform(g), decay = 0;
	bool ok = o && auc_json_add_text(o, "form", "sigmoid") &&
		  gen_add_number(o, "scale", gen_draw(g, PRIORITY, 2));

	if (kind >= insensitive)
		decay = gen_draw(g, kind < insensitive + sensitive ? DECAY : CRITICAL_DECAY, 3);
	ok = ok && gen_add_number(o, "decay", decay) &&
	     gen_add_number(o, "target", gen_draw(g, TARGET, 0));
	return auc_json_if(ok, o);
}
