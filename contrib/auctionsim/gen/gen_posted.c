/*
 * gen_posted.c - the setting of the paper of the posted-price bandit (its section VI-A). As
 * printed: slots, servers, types, workers and PSs of a server, bandwidths and the number of jobs.
 * Each type has a TRES of its own; policies take AUC_TRES_MAX of these in all.
 *
 * What the paper takes from traces and from a price list is drawn. Each type has a price. A job's
 * budget is what it asks for at these prices, times a factor of mean 1, whose distribution is the
 * parameter "budget". Prices and factors are not in the file. Load is the computing of all jobs
 * against what is there, of workers or PSs, whichever are scarcer; it says how many epochs jobs
 * have. What the exchange between servers adds, comes on top.
 *
 * With the same seed, scenarios that differ in load or in budgets alone have the same servers and
 * the same jobs but for that: the same numbers are drawn, used or not.
 */
#include "config.h"

#include <math.h>

#include <json-c/json.h>

#include "auctionsim/gen/gen-private.h"
#include "base/json.h"
#include "auctionsim/scenario/scenario.h"

/* What is drawn once: prices of the types, and what all servers have; [1]: of PSs. */
struct drawn {
	double price[2][AUC_TYPES_MAX];
	double total[2];
};

static bool write_scenario(struct gen *g);
static struct json_object *make_type(struct gen *g, struct drawn *d, bool ps, unsigned i);
static struct json_object *make_server(struct gen *g, struct drawn *d, unsigned i);
static bool add_capacity(struct gen *g, struct drawn *d, struct json_object *capacity, bool ps);
static double mean_slots(const struct gen *g, const struct drawn *d);
static struct json_object *make_job(struct gen *g, const struct drawn *d, double slots, unsigned i);
static bool add_seconds(struct json_object *job, bool ps, unsigned type, double seconds);
static double draw_factor(struct gen *g, double price);
static double draw_normal(struct gen *g);
static double mean(const struct gen *g, unsigned parameter);

enum {
	SERVERS,
	JOBS,
	SLOTS,
	SLOT_SECONDS,
	TYPES,
	PS_TYPES,
	WORKERS,
	PS,
	BANDWIDTH,
	PS_BANDWIDTH,
	ARRIVAL,
	DEMAND,
	PS_DEMAND,
	GRADIENT,
	EPOCH_SECONDS,
	DURATION,
	LOAD,
	PRICE,
	PS_PRICE,
	BUDGET,
	SHIFT,
	SHIFT_AT,
	POSTED_PARAMETERS
};

enum { UNIFORM, NORMAL, LOGNORMAL, BIMODAL, NARROW, HEAVY, CORRELATED };

#define FACTOR_MAX      100 /* no budget is more times the price */
#define LOGNORMAL_SIGMA 0.6

static const char *const budgets[] = {"uniform", "normal", "lognormal",  "bimodal",
				      "narrow",  "heavy",  "correlated", NULL};

static const struct parameter parameters[] = {
	[SERVERS] = GEN_COUNT("servers", 50, 0, 10000, "servers S"),
	[JOBS] = GEN_COUNT("jobs", 10000, 0, 1000000, "jobs N"),
	[SLOTS] = GEN_COUNT("slots", 10000, 1, AUC_SLOTS_MAX, "slots T"),
	[SLOT_SECONDS] = GEN_COUNT("slot_seconds", 300, 1, 86400, "seconds"),
	[TYPES] = GEN_COUNT("worker_types", 15, 1, AUC_TYPES_MAX,
			    "worker types K (policies take 32 types in all)"),
	[PS_TYPES] = GEN_COUNT("ps_types", 10, 1, AUC_TYPES_MAX, "PS types M"),
	[WORKERS] = GEN_COUNTS("workers", 0, 30, 0, 1e4, "of each type, of a server"),
	[PS] = GEN_COUNTS("ps", 0, 18, 0, 1e4, "of each type, of a server"),
	[BANDWIDTH] = GEN_COUNTS("bandwidth", 100, 5000, 1, 1e9, "h_k, Mbit/s"),
	[PS_BANDWIDTH] = GEN_COUNTS("ps_bandwidth", 5000, 20000, 1, 1e9, "H_m, Mbit/s"),
	[ARRIVAL] = GEN_COUNTS("arrival", 0, 0, 0, AUC_SLOTS_MAX, "slot of arrival; 0: 1 to T"),
	[DEMAND] = GEN_COUNTS("demand", 1, 30, 1, 1e4, "d_ik, workers of a job"),
	[PS_DEMAND] = GEN_COUNTS("ps_demand", 1, 12, 1, 1e4, "d_im, PSs of a job"),
	[GRADIENT] = GEN_RANGE("gradient_mb", 30, 575, 0, 1e6, "w_i, in MB"),
	[EPOCH_SECONDS] =
		GEN_RANGE("epoch_seconds", 5, 50, 1, 1e6, "beta_i, computing of one epoch"),
	[DURATION] = GEN_RANGE("duration", 0.2, 1.8, 0.01, 100,
			       "computing of a job against that of others"),
	[LOAD] = GEN_NUMBER(
		"load", 1, 0.001, 1000,
		"computing of all jobs against what is there (no job has more than T slots)"),
	[PRICE] = GEN_RANGE("price", 0.05, 0.5, 0, 1, "of a worker type, in [0, 1]"),
	[PS_PRICE] = GEN_RANGE("ps_price", 0.02, 0.2, 0, 1, "of a PS type, in [0, 1]"),
	[BUDGET] = GEN_WORD("budget", budgets, UNIFORM,
			    "v_i against what the job asks for at these prices: uniform, normal, "
			    "lognormal, bimodal, narrow, heavy or correlated (man page)"),
	[SHIFT] = GEN_NUMBER("shift", 1, 0, 100, "budgets change to so many times"),
	[SHIFT_AT] =
		GEN_NUMBER("shift_at", 0.5, 0, 1, "for jobs that arrive after this share of T"),
};

const struct gen_setting gen_posted = {"posted", parameters, POSTED_PARAMETERS, write_scenario};

static bool write_scenario(struct gen *g)
{
	unsigned nworker = (unsigned)g->values[TYPES].low, nps = (unsigned)g->values[PS_TYPES].low;
	unsigned servers = (unsigned)g->values[SERVERS].low, jobs = (unsigned)g->values[JOBS].low;
	struct drawn d = {.total = {0, 0}};
	double slots;
	bool ok = true;
	unsigned i;

	fprintf(g->out,
		"{\"format\": \"" SCENARIO_FORMAT "\", \"name\": \"posted-s%u-j%u\", "
		"\"slots\": %.0f, \"slot_seconds\": %.0f,\n\"worker_types\": [\n",
		servers, jobs, g->values[SLOTS].low, g->values[SLOT_SECONDS].low);
	for (i = 0; i < nworker && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_type(g, &d, false, i));
	fputs("],\n\"ps_types\": [\n", g->out);
	for (i = 0; i < nps && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_type(g, &d, true, i));
	fputs("],\n\"servers\": [\n", g->out);
	for (i = 0; i < servers && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_server(g, &d, i));
	fputs("],\n\"jobs\": [\n", g->out);
	slots = mean_slots(g, &d);
	for (i = 0; i < jobs && ok; i++)
		ok = gen_put_job(g, i ? ",\n" : "", make_job(g, &d, slots, i));
	fputs("]}\n", g->out);
	return ok;
}

/* A type has a resource of its own: C_k and C_m are counts. */
static struct json_object *make_type(struct gen *g, struct drawn *d, bool ps, unsigned i)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_object();
	double bandwidth = gen_draw(g, ps ? PS_BANDWIDTH : BANDWIDTH, 0);
	char name[AUC_NAME_MAX];
	bool ok = o && tres;

	d->price[ps][i] = gen_draw(g, ps ? PS_PRICE : PRICE, 4);
	snprintf(name, sizeof(name), "%s%u", ps ? "p" : "w", i + 1);
	ok = ok && auc_json_add_text(o, "name", name) && auc_json_add_int(tres, name, 1) &&
	     auc_json_add(o, "tres", json_object_get(tres)) &&
	     gen_add_number(o, "bandwidth_mbps", bandwidth);
	json_object_put(tres);
	return auc_json_if(ok, o);
}

static struct json_object *make_server(struct gen *g, struct drawn *d, unsigned i)
{
	struct json_object *o = json_object_new_object(), *capacity = json_object_new_object();
	char name[AUC_NAME_MAX];
	bool ok = o && capacity;

	snprintf(name, sizeof(name), "s%u", i + 1);
	ok = ok && add_capacity(g, d, capacity, false) && add_capacity(g, d, capacity, true) &&
	     auc_json_add_text(o, "name", name) &&
	     auc_json_add(o, "capacity", json_object_get(capacity));
	json_object_put(capacity);
	return auc_json_if(ok, o);
}

static bool add_capacity(struct gen *g, struct drawn *d, struct json_object *capacity, bool ps)
{
	unsigned types = (unsigned)g->values[ps ? PS_TYPES : TYPES].low, i;
	bool ok = true;
	double n;

	for (i = 0; i < types && ok; i++) {
		n = gen_draw(g, ps ? PS : WORKERS, 0);
		d->total[ps] += n;
		ok = gen_add_named(capacity, ps ? "p" : "w", i + 1, n);
	}
	return ok;
}

/* The mean duration, in slots and without exchange, that makes the load. */
static double mean_slots(const struct gen *g, const struct drawn *d)
{
	double each = fmin(d->total[0] / mean(g, DEMAND), d->total[1] / mean(g, PS_DEMAND));

	return g->values[LOAD].low * each * g->values[SLOTS].low / fmax(1, g->values[JOBS].low);
}

/*
 * An epoch is a chunk of one mini-batch for each worker, so that policies that reckon with chunks,
 * not with beta_i, come to the same duration.
 */
static struct json_object *make_job(struct gen *g, const struct drawn *d, double slots, unsigned i)
{
	struct json_object *o = json_object_new_object();
	unsigned type = gen_pick(g, (unsigned)g->values[TYPES].low);
	unsigned ps_type = gen_pick(g, (unsigned)g->values[PS_TYPES].low);
	double horizon = g->values[SLOTS].low, price = d->price[0][type];
	double arrival = fmax(1, gen_draw(g, ARRIVAL, 0));
	double workers = gen_draw(g, DEMAND, 0), ps = gen_draw(g, PS_DEMAND, 0);
	double gradient = gen_draw(g, GRADIENT, 1), seconds = gen_draw(g, EPOCH_SECONDS, 3);
	double computing = fmin(horizon, slots * gen_draw(g, DURATION, 4) / mean(g, DURATION)) *
			   g->values[SLOT_SECONDS].low;
	double budget = (price * workers + d->price[1][ps_type] * ps) * draw_factor(g, price);
	bool ok = o != NULL;
	char id[32];

	if (arrival > g->values[SHIFT_AT].low * horizon)
		budget *= g->values[SHIFT].low;
	snprintf(id, sizeof(id), "j%u", i + 1);
	ok = ok && auc_json_add_text(o, "id", id) && gen_add_number(o, "arrival", arrival) &&
	     gen_add_number(o, "epochs", fmax(1, round(computing / seconds))) &&
	     gen_add_number(o, "chunks", workers) && gen_add_number(o, "minibatches", 1) &&
	     gen_add_number(o, "gradient_mb", gradient) && gen_add_number(o, "workers", workers) &&
	     gen_add_number(o, "ps", ps) &&
	     gen_add_number(o, "compute_seconds_per_epoch", seconds) &&
	     gen_add_number(o, "budget", round(budget * 10000) / 10000) &&
	     add_seconds(o, false, type, seconds) && add_seconds(o, true, ps_type, 0);
	return auc_json_if(ok, o);
}

/* The job's one type. */
static bool add_seconds(struct json_object *job, bool ps, unsigned type, double seconds)
{
	struct json_object *o = json_object_new_object();
	bool ok = o && gen_add_named(o, ps ? "p" : "w", type + 1, seconds) &&
		  auc_json_add(job, ps ? "ps_seconds" : "worker_seconds", json_object_get(o));

	json_object_put(o);
	return ok;
}

/* What users pay, against the price; PRICE is that of the worker type. */
static double draw_factor(struct gen *g, double price)
{
	const struct value *range = &g->values[PRICE];
	double u = gen_uniform(g), z = draw_normal(g), x, place = 0.5;

	switch ((unsigned)g->values[BUDGET].low) {
	case NORMAL:
		x = 1 + 0.3 * z;
		break;
	case LOGNORMAL:
		x = exp(LOGNORMAL_SIGMA * z - LOGNORMAL_SIGMA * LOGNORMAL_SIGMA / 2);
		break;
	case BIMODAL:
		x = (u < 0.5 ? 0.5 : 1.5) + 0.1 * z;
		break;
	case NARROW:
		x = 0.9 + 0.2 * u;
		break;
	case HEAVY: /* Pareto of shape 2: no variance */
		x = 0.5 / sqrt(1 - u);
		break;
	case CORRELATED: /* users of the dearest type pay twice what those of the cheapest do */
		if (range->high > range->low)
			place = (price - range->low) / (range->high - range->low);
		x = 2 * (1 + place) / 3 * (1 + 0.15 * z);
		break;
	default:
		x = 2 * u;
	}
	return fmin(fmax(x, 0), FACTOR_MAX);
}

/* Mean 0, variance 1, near enough to normal, and within 6. */
static double draw_normal(struct gen *g)
{
	double sum = -6;
	unsigned i;

	for (i = 0; i < 12; i++)
		sum += gen_uniform(g);
	return sum;
}

static double mean(const struct gen *g, unsigned parameter)
{
	return (g->values[parameter].low + g->values[parameter].high) / 2;
}
