/*
 * gen_dps.c - the setting of R. Zhou et al.: "DPS: Dynamic Pricing and Scheduling for Distributed
 * Machine Learning Jobs in Edge-Cloud Networks", IEEE TMC 2023, section 6.1.
 */
#include "config.h"

#include <math.h>

#include <json-c/json.h>

#include "auctionsim/gen/gen-private.h"
#include "base/json.h"
#include "auctionsim/scenario/scenario.h"
#include "base/list.h"

static bool write_scenario(struct gen *g);
static struct json_object *make_type(struct gen *g, bool ps, unsigned i);
static struct json_object *make_server(struct gen *g, unsigned i, bool cloud);
static struct json_object *make_job(struct gen *g, unsigned i);
static struct json_object *make_utility(struct gen *g, double work);
static struct json_object *make_seconds(struct gen *g, bool ps);
static struct json_object *make_upload(struct gen *g);

enum {
	SERVERS,
	JOBS,
	SLOTS,
	SLOT_SECONDS,
	TYPES,
	PS_TYPES,
	ARRIVAL,
	EPOCHS,
	CHUNKS,
	MINIBATCHES,
	WORKER_SLOTS,
	PS_MS,
	GRADIENT,
	UPLOAD,
	CLOUD_UPLOAD,
	UTILITY,
	KAPPA,
	LINEAR_A,
	LINEAR_B,
	INVERSE_A,
	BANDWIDTH,
	PS_BANDWIDTH,
	EDGE_WORKERS,
	EDGE_PS,
	CLOUD_WORKERS,
	CLOUD_PS,
	SPREAD,
	DPS_PARAMETERS
};

static const char *const utilities[] = {"sigmoid", "linear", "inverse", NULL};
static const char *const spreads[] = {"each", "one", NULL};

static const struct parameter parameters[] = {
	[SERVERS] = GEN_COUNT("servers", 100, 0, 100000, "edge servers"),
	[JOBS] = GEN_COUNT("jobs", 100, 0, 1000000, "jobs"),
	[SLOTS] = GEN_COUNT("slots", 150, 1, AUC_SLOTS_MAX, "slots T"),
	[SLOT_SECONDS] = GEN_COUNT("slot_seconds", 3600, 1, 1e6, "seconds"),
	[TYPES] = GEN_COUNT("worker_types", 5, 1, 8, "worker types"),
	[PS_TYPES] = GEN_COUNT("ps_types", 5, 1, 8, "PS types"),
	[ARRIVAL] = GEN_COUNTS("arrival", 0, 0, 0, AUC_SLOTS_MAX, "slot of arrival; 0: 1 to T"),
	[EPOCHS] = GEN_COUNTS("epochs", 20, 60, 1, 1e6, "E_j"),
	[CHUNKS] = GEN_COUNTS("chunks", 27, 115, 1, 1e6, "D_j"),
	[MINIBATCHES] = GEN_COUNTS("minibatches", 10, 58, 1, 1e6, "M_j"),
	[WORKER_SLOTS] = GEN_RANGE("worker_slots", 0.001, 0.05, 0, 1e4, "e_j^w, in slots"),
	[PS_MS] = GEN_COUNTS("ps_ms", 10, 100, 0, 1e9, "g_j^p, in ms"),
	[GRADIENT] = GEN_RANGE("gradient_mb", 30, 575, 0, 1e6, "m_j, in MB"),
	[UPLOAD] = GEN_COUNTS("upload", 1, 4, 0, 1e6, "slots until data are at the edge"),
	[CLOUD_UPLOAD] = GEN_COUNTS("cloud_upload", 10, 15, 0, 1e6, "and in the cloud"),
	[UTILITY] = GEN_WORD("utility", utilities, 0,
			     "sigmoid 100 kappa / (1 + e^(0.02 x)), linear a T - b x, "
			     "inverse a E D M (T - x) / x"),
	[KAPPA] = GEN_RANGE("kappa", 1, 5, 0, 1e6, "of the sigmoid"),
	[LINEAR_A] = GEN_RANGE("linear_a", 10, 20, 0, 1e4, "a of the linear form"),
	[LINEAR_B] = GEN_RANGE("linear_b", 1, 5, 0, 1e6, "b of the linear form"),
	[INVERSE_A] = GEN_RANGE("inverse_a", 1, 5, 0, 10, "a of the inverse form"),
	[BANDWIDTH] = GEN_COUNTS("bandwidth", 100, 5120, 1, 1e9, "b_w, Mbit/s"),
	[PS_BANDWIDTH] = GEN_COUNTS("ps_bandwidth", 5120, 20480, 1, 1e9, "b_p, Mbit/s"),
	[EDGE_WORKERS] = GEN_COUNTS("workers", 1, 5, 0, 1e6, "C_sw of an edge server"),
	[EDGE_PS] = GEN_COUNTS("ps", 1, 3, 0, 1e6, "C_sp of an edge server"),
	[CLOUD_WORKERS] = GEN_COUNTS(
		"cloud_workers", 100, 100, 0, 1e6,
		"C_sw of the cloud (the paper does not say); 0 and cloud_ps=0: no cloud"),
	[CLOUD_PS] = GEN_COUNTS("cloud_ps", 50, 50, 0, 1e6, "C_sp of the cloud"),
	[SPREAD] = GEN_WORD("spread", spreads, 0,
			    "each: an edge server has that many of each type; one: of one worker "
			    "type and one PS "
			    "type"),
};

const struct gen_setting gen_dps = {"dps", parameters, DPS_PARAMETERS, write_scenario};

static bool write_scenario(struct gen *g)
{
	unsigned nworker = (unsigned)g->values[TYPES].low, nps = (unsigned)g->values[PS_TYPES].low;
	unsigned servers = (unsigned)g->values[SERVERS].low, jobs = (unsigned)g->values[JOBS].low;
	bool ok = true, cloud = g->values[CLOUD_WORKERS].high > 0 || g->values[CLOUD_PS].high > 0;
	unsigned i;

	fprintf(g->out,
		"{\"format\": \"" SCENARIO_FORMAT "\", \"name\": \"dps-s%u-j%u\", \"slots\": %.0f, "
		"\"slot_seconds\": %.0f,\n\"worker_types\": [\n",
		servers, jobs, g->values[SLOTS].low, g->values[SLOT_SECONDS].low);
	for (i = 0; i < nworker && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_type(g, false, i));
	fputs("],\n\"ps_types\": [\n", g->out);
	for (i = 0; i < nps && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_type(g, true, i));
	fputs("],\n\"servers\": [\n", g->out);
	for (i = 0; i < servers && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", make_server(g, i, false));
	if (ok && cloud)
		ok = gen_put(g, servers ? ",\n" : "", make_server(g, servers, true));
	fputs("],\n\"jobs\": [\n", g->out);
	for (i = 0; i < jobs && ok; i++)
		ok = gen_put_job(g, i ? ",\n" : "", make_job(g, i));
	fputs("]}\n", g->out);
	return ok;
}

/* A type has a resource of its own: C_sw and C_sp are counts. */
static struct json_object *make_type(struct gen *g, bool ps, unsigned i)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_object();
	char name[AUC_NAME_MAX];
	bool ok = o && tres;

	snprintf(name, sizeof(name), "%s%u", ps ? "p" : "w", i + 1);
	ok = ok && auc_json_add_text(o, "name", name) && auc_json_add_int(tres, name, 1) &&
	     auc_json_add(o, "tres", json_object_get(tres)) &&
	     gen_add_number(o, "bandwidth_mbps", gen_draw(g, ps ? PS_BANDWIDTH : BANDWIDTH, 0));
	json_object_put(tres);
	return auc_json_if(ok, o);
}

static struct json_object *make_server(struct gen *g, unsigned i, bool cloud)
{
	struct json_object *o = json_object_new_object(), *capacity = json_object_new_object();
	unsigned nworker = (unsigned)g->values[TYPES].low, nps = (unsigned)g->values[PS_TYPES].low;
	bool one = g->values[SPREAD].low == 1 && !cloud, ok = o && capacity;
	unsigned only_w = one ? gen_pick(g, nworker) : 0, only_p = one ? gen_pick(g, nps) : 0, k;
	char name[AUC_NAME_MAX] = "cloud";

	if (!cloud)
		snprintf(name, sizeof(name), "edge%u", i + 1);
	for (k = 0; k < nworker && ok; k++)
		if (!one || k == only_w)
			ok = gen_add_named(capacity, "w", k + 1,
					   gen_draw(g, cloud ? CLOUD_WORKERS : EDGE_WORKERS, 0));
	for (k = 0; k < nps && ok; k++)
		if (!one || k == only_p)
			ok = gen_add_named(capacity, "p", k + 1,
					   gen_draw(g, cloud ? CLOUD_PS : EDGE_PS, 0));
	ok = ok && auc_json_add_text(o, "name", name) &&
	     auc_json_add_text(o, "site", cloud ? "cloud" : "edge") &&
	     auc_json_add(o, "capacity", json_object_get(capacity));
	json_object_put(capacity);
	return auc_json_if(ok, o);
}

static struct json_object *make_job(struct gen *g, unsigned i)
{
	struct json_object *o = json_object_new_object();
	double e, d, m;
	char id[32];
	bool ok = o != NULL;

	snprintf(id, sizeof(id), "j%u", i + 1);
	ok = ok && auc_json_add_text(o, "id", id) &&
	     gen_add_number(o, "arrival", fmax(1, gen_draw(g, ARRIVAL, 0)));
	e = gen_draw(g, EPOCHS, 0);
	d = gen_draw(g, CHUNKS, 0);
	m = gen_draw(g, MINIBATCHES, 0);
	ok = ok && auc_json_add(o, "utility", make_utility(g, e * d * m)) &&
	     gen_add_number(o, "epochs", e) && gen_add_number(o, "chunks", d) &&
	     gen_add_number(o, "minibatches", m) &&
	     gen_add_number(o, "gradient_mb", gen_draw(g, GRADIENT, 1)) &&
	     auc_json_add(o, "worker_seconds", make_seconds(g, false)) &&
	     auc_json_add(o, "ps_seconds", make_seconds(g, true)) &&
	     auc_json_add(o, "upload_slots", make_upload(g));
	return auc_json_if(ok, o);
}

static struct json_object *make_utility(struct gen *g, double work)
{
	struct json_object *o = json_object_new_object();
	unsigned form = (unsigned)g->values[UTILITY].low;
	bool ok = o && auc_json_add_text(o, "form", utilities[form]);

	if (form == 0)
		ok = ok &&
		     gen_add_number(o, "scale", round(100 * gen_draw(g, KAPPA, 4) * 100) / 100) &&
		     gen_add_number(o, "decay", 0.02);
	else if (form == 1)
		ok = ok &&
		     gen_add_number(o, "intercept",
				    round(gen_draw(g, LINEAR_A, 4) * g->values[SLOTS].low * 1e4) /
					    1e4) &&
		     gen_add_number(o, "slope", gen_draw(g, LINEAR_B, 4));
	else
		ok = ok && gen_add_number(o, "scale", round(gen_draw(g, INVERSE_A, 4) * work));
	return auc_json_if(ok, o);
}

static struct json_object *make_seconds(struct gen *g, bool ps)
{
	struct json_object *o = json_object_new_object();
	unsigned n = (unsigned)g->values[ps ? PS_TYPES : TYPES].low, i;
	double seconds, slot = g->values[SLOT_SECONDS].low;
	bool ok = o != NULL;

	for (i = 0; i < n && ok; i++) {
		seconds = ps ? gen_draw(g, PS_MS, 0) / 1000
			     : round(gen_draw(g, WORKER_SLOTS, 9) * slot * 1000) / 1000;
		ok = gen_add_named(o, ps ? "p" : "w", i + 1, seconds);
	}
	return auc_json_if(ok, o);
}

static struct json_object *make_upload(struct gen *g)
{
	struct json_object *o = json_object_new_object();
	unsigned servers = (unsigned)g->values[SERVERS].low, i;
	bool ok = o != NULL;

	for (i = 0; i < servers && ok; i++)
		ok = gen_add_named(o, "edge", i + 1, gen_draw(g, UPLOAD, 0));
	if (ok && (g->values[CLOUD_WORKERS].high > 0 || g->values[CLOUD_PS].high > 0))
		ok = gen_add_number(o, "cloud", gen_draw(g, CLOUD_UPLOAD, 0));
	return auc_json_if(ok, o);
}
