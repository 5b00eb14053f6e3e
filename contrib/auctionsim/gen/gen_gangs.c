/*
 * gen_gangs.c - what people run on Slurm: gangs on a cluster of GPU nodes, after the shape of
 * public logs (most jobs take one GPU, the few large ones most of the GPU time). Ours, of no paper.
 */
#include "config.h"

#include <math.h>

#include <json-c/json.h>

#include "auctionsim/gen/gen-private.h"
#include "base/json.h"
#include "auctionsim/scenario/scenario.h"
#include "base/list.h"

static bool write_scenario(struct gen *g);
static struct json_object *make_server(struct gen *g, unsigned i);
static struct json_object *make_job(struct gen *g, unsigned i);
static struct json_object *make_utility(struct gen *g, double worth, double slots);
static bool add_shapes(struct gen *g, struct json_object *list, double gpus, double nodes,
		       double seconds);
static struct json_object *make_shape(struct gen *g, double gpus, double nodes, double seconds);
static double draw_log(struct gen *g, unsigned parameter);

enum {
	SERVERS,
	JOBS,
	SLOTS,
	SLOT_SECONDS,
	GPUS,
	CPUS,
	MEM,
	LEAF,
	ARRIVAL,
	PART,
	NODES,
	SECONDS,
	RATE,
	SLACK,
	HARD,
	ELASTIC,
	WITHIN,
	USERS,
	BUDGET,
	GANGS_PARAMETERS
};

static const struct parameter parameters[] = {
	[SERVERS] = GEN_COUNT("servers", 50, 1, 100000, "nodes"),
	[JOBS] = GEN_COUNT("jobs", 300, 0, 1000000, "jobs"),
	[SLOTS] = GEN_COUNT("slots", 150, 1, AUC_SLOTS_MAX, "slots T"),
	[SLOT_SECONDS] = GEN_COUNT("slot_seconds", 1800, 1, 1e6, "seconds"),
	[GPUS] = GEN_COUNT("gpus", 8, 1, 1000, "GPUs of a node"),
	[CPUS] = GEN_COUNT("cpus", 96, 1, 100000, "CPUs of a node"),
	[MEM] = GEN_COUNT("mem", 1024000, 1, 1e9, "memory of a node, in MB"),
	[LEAF] = GEN_COUNT("switch", 16, 0, 100000, "nodes on a switch; 0: no switches"),
	[ARRIVAL] = GEN_COUNTS("arrival", 0, 0, 0, AUC_SLOTS_MAX, "slot of arrival; 0: 1 to T"),
	[PART] = GEN_NUMBER("part", 0.7, 0, 1, "jobs that take less than a node, of 1"),
	[NODES] =
		GEN_COUNTS("nodes", 1, 16, 1, 100000, "nodes of the others, small ones more often"),
	[SECONDS] = GEN_RANGE("seconds", 600, 90000, 1, 1e9, "running time, short ones more often"),
	[RATE] = GEN_RANGE("rate", 0.2, 5, 0, 1e6, "worth of a GPU hour, small ones more often"),
	[SLACK] = GEN_RANGE("slack", 1.1, 6, 1, 1e6, "deadline by running time"),
	[HARD] = GEN_NUMBER("hard", 0.5, 0, 1,
			    "jobs worth nothing behind it; the others' worth falls"),
	[ELASTIC] = GEN_NUMBER("elastic", 0.2, 0, 1, "jobs with a table of shapes"),
	[WITHIN] = GEN_NUMBER("within", 0.2, 0, 1, "jobs of several nodes that stay on a switch"),
	[USERS] = GEN_COUNT("users", 20, 1, 1000000, "users"),
	[BUDGET] = GEN_NUMBER("budget", 0, 0, 1e9, "credits of each of them; 0: no budgets"),
};

const struct gen_setting gen_gangs = {"gangs", parameters, GANGS_PARAMETERS, write_scenario};

static bool write_scenario(struct gen *g)
{
	unsigned servers = (unsigned)g->values[SERVERS].low, jobs = (unsigned)g->values[JOBS].low;
	bool ok = true;
	unsigned i;

	fprintf(g->out,
		"{\"format\": \"" SCENARIO_FORMAT "\", \"name\": \"gangs-s%u-j%u\", "
		"\"slots\": %.0f, \"slot_seconds\": %.0f,\n",
		servers, jobs, g->values[SLOTS].low, g->values[SLOT_SECONDS].low);
	if (g->values[BUDGET].low > 0) {
		struct json_object *budgets = json_object_new_object();

		fputs("\"budgets\": ", g->out);
		for (i = 0; i < (unsigned)g->values[USERS].low && ok; i++)
			ok = budgets && gen_add_named(budgets, "u", i + 1, g->values[BUDGET].low);
		ok = gen_put(g, "", auc_json_if(ok, budgets)) && ok;
		fputs(",\n", g->out);
	}
	fputs("\"servers\": [\n", g->out);
	for (i = 0; i < servers && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_server(g, i));
	fputs("],\n\"jobs\": [\n", g->out);
	for (i = 0; i < jobs && ok; i++)
		ok = gen_put_job(g, i ? ",\n" : "", make_job(g, i));
	fputs("]}\n", g->out);
	return ok;
}

static struct json_object *make_server(struct gen *g, unsigned i)
{
	struct json_object *o = json_object_new_object(), *capacity = json_object_new_object();
	unsigned leaf = (unsigned)g->values[LEAF].low;
	char name[AUC_NAME_MAX];
	bool ok = o && capacity;

	snprintf(name, sizeof(name), "n%u", i + 1);
	ok = ok && gen_add_number(capacity, "gpu", g->values[GPUS].low) &&
	     gen_add_number(capacity, "cpu", g->values[CPUS].low) &&
	     gen_add_number(capacity, "mem", g->values[MEM].low) &&
	     auc_json_add_text(o, "name", name);
	if (leaf) {
		snprintf(name, sizeof(name), "leaf%u", i / leaf + 1);
		ok = ok && auc_json_add_text(o, "switch", name);
	}
	ok = auc_json_add_if(ok, o, "capacity", capacity);
	return auc_json_if(ok, o);
}

static struct json_object *make_job(struct gen *g, unsigned i)
{
	double gpus = g->values[GPUS].low, nodes = 1, seconds, worth, slots;
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	char text[32];
	bool ok = o && list;

	snprintf(text, sizeof(text), "j%u", i + 1);
	ok = ok && auc_json_add_text(o, "id", text) &&
	     gen_add_number(o, "arrival", fmax(1, gen_draw(g, ARRIVAL, 0)));
	snprintf(text, sizeof(text), "u%u", 1 + gen_pick(g, (unsigned)g->values[USERS].low));
	ok = ok && auc_json_add_text(o, "user", text);
	if (gen_uniform(g) < g->values[PART].low)
		gpus = 1 + floor((gpus - 1) * gen_uniform(g) * gen_uniform(g));
	else
		nodes = fmin(floor(draw_log(g, NODES) + 0.5), g->values[SERVERS].low);
	seconds = round(draw_log(g, SECONDS));
	worth = gpus * nodes * seconds / 3600 * draw_log(g, RATE);
	slots = fmax(1, ceil(seconds / g->values[SLOT_SECONDS].low));
	ok = ok && auc_json_add(o, "utility", make_utility(g, worth, slots)) &&
	     add_shapes(g, list, gpus, nodes, seconds) &&
	     auc_json_add(o, "gang", json_object_get(list));
	if (nodes > 1 && gen_uniform(g) < g->values[WITHIN].low && g->values[LEAF].low > 0)
		ok = ok && auc_json_add_text(o, "gang_within", "switch");
	json_object_put(list);
	return auc_json_if(ok, o);
}

/* SLOTS: what the job takes. */
static struct json_object *make_utility(struct gen *g, double worth, double slots)
{
	struct json_object *o = json_object_new_object();
	double deadline = ceil(slots * gen_draw(g, SLACK, 3));
	bool hard = gen_uniform(g) < g->values[HARD].low;
	bool ok = o && auc_json_add_text(o, "form", hard ? "deadline" : "sigmoid") &&
		  gen_add_number(o, "scale", round(worth * 100) / 100);

	if (hard)
		ok = ok && gen_add_number(o, "deadline", deadline);
	else
		ok = ok && gen_add_number(o, "decay", round(4e4 / deadline) / 1e4) &&
		     gen_add_number(o, "target", deadline);
	return auc_json_if(ok, o);
}

/* As it is, and of some jobs on twice and four times the nodes, nine tenths as fast for each. */
static bool add_shapes(struct gen *g, struct json_object *list, double gpus, double nodes,
		       double seconds)
{
	unsigned shapes = gen_uniform(g) < g->values[ELASTIC].low ? 3 : 1;
	bool ok = true;

	for (unsigned i = 0; i < shapes && ok; i++) {
		struct json_object *shape = make_shape(g, gpus, nodes, round(seconds));

		ok = auc_json_push(list, shape);
		nodes *= 2;
		seconds /= 1.8;
	}
	return ok;
}

static struct json_object *make_shape(struct gen *g, double gpus, double nodes, double seconds)
{
	struct json_object *o = json_object_new_object(), *per_node = json_object_new_object();
	double part = gpus / g->values[GPUS].low;
	bool ok = o && per_node;

	ok = ok && gen_add_number(per_node, "gpu", gpus) &&
	     gen_add_number(per_node, "cpu", floor(part * g->values[CPUS].low)) &&
	     gen_add_number(per_node, "mem", floor(part * 0.9 * g->values[MEM].low)) &&
	     auc_json_add(o, "per_node", json_object_get(per_node)) &&
	     gen_add_number(o, "nodes", nodes) && gen_add_number(o, "seconds", fmax(1, seconds));
	json_object_put(per_node);
	return auc_json_if(ok, o);
}

/* The logarithm is uniform. */
static double draw_log(struct gen *g, unsigned parameter)
{
	const struct value *v = &g->values[parameter];
	double low = fmax(v->low, 1e-6);

	return low * pow(fmax(v->high, low) / low, gen_uniform(g));
}
