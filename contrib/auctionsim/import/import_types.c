/*
 * import_types.c - see import_types.h. Without auction.conf there is a worker type for each type of
 * GPU, and for each part of one that a job asked for: it takes its share of the leanest node of
 * that type, but for the room that is left to PSs.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auctionsim/import/import-private.h"
#include "auctionsim/import/import_types.h"
#include "base/json.h"
#include "base/list.h"
#include "base/num.h"
#include "input/conf_prices.h"

/* What the leanest node of a type of GPUs has for each of them. */
struct lean {
	bool there;
	double cpus, mem_mb;
};

static enum auc_code make_labels(struct import_types *t, struct auc_err *err);
static bool wanted(const struct import_types *t, unsigned kind);
static enum auc_code choose_servers(struct import_types *t, struct auc_err *err);
static void complete_nodes(struct import *im);
static enum auc_code make_types(struct import_types *t, struct auc_err *err);
static void find_lean(const struct import_types *t, struct lean *lean);
static void make_type(struct import_types *t, unsigned kind, unsigned part,
		      const struct lean *lean);
static void make_ps(struct import_types *t, const struct lean *lean);
static enum auc_code take_types(struct import_types *t, struct auc_err *err);
static enum auc_code take_type(struct import_types *t, const struct auc_conf_type *from,
			       bool worker, struct auc_err *err);
static void measure(struct import_types *t);
static double fit(const struct import_types *t, const struct import_node *n,
		  const struct import_type *type, const struct import_type *ps);
static double amount_of(const struct import_types *t, const struct import_node *n,
			const char *tres);
static double node_gpus(const struct import_node *n);
static void add_tres(struct import_type *t, const char *name, double value);
static struct json_object *type_object(const struct import_type *t);
static struct json_object *server_object(const struct import_types *t, const struct import_node *n);
static bool add_cost(struct json_object *o, struct json_object *capacity,
		     const struct auc_conf_partition *partition);

enum auc_code import_types_make(struct import_types *t, struct import *im, struct auc_err *err)
{
	enum auc_code rc;

	*t = (struct import_types){.im = im};
	complete_nodes(im);
	rc = choose_servers(t, err);
	if (rc == AUC_OK)
		rc = make_labels(t, err);
	if (rc == AUC_OK)
		rc = im->conf ? take_types(t, err) : make_types(t, err);
	if (rc == AUC_OK)
		measure(t);
	return rc;
}

void import_types_clear(struct import_types *t)
{
	free(t->servers);
	free(t->list);
	free(t->ps);
	free(t->labels);
	memset(t, 0, sizeof(*t));
}

unsigned import_types_of(const struct import_types *t, const struct import_job *j, unsigned *list,
			 bool *small)
{
	bool any = t->im->g.values[IMPORT_TYPES].low == 1 || !j->kinds;
	unsigned parts = (unsigned)t->im->g.values[IMPORT_PARTS].low, part = 0, n = 0, i, pass;
	const struct import_type *type;
	double workers = 0;
	bool own;

	*small = false;
	if (j->gpus < 1 && !t->im->conf) {
		part = (unsigned)fmax(1, (double)auc_ceil(j->gpus * parts));
		part = part == parts ? 0 : part;
	}
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < t->n; i++) {
			type = &t->list[i];
			own = type->kind == IMPORT_ANY_KIND || j->kinds >> type->kind & 1;
			if (type->part != part || !(type->most > 0) || n == AUC_TYPES_MAX ||
			    (pass ? !any || own : !own))
				continue;
			if (!n)
				workers = import_types_workers(t, i, j->gpus);
			if (workers > type->most)
				*small = true;
			else
				list[n++] = i;
		}
	return n;
}

unsigned import_types_workers(const struct import_types *t, unsigned type, double gpus)
{
	return (unsigned)fmax(1, (double)auc_ceil(gpus / t->list[type].gpus));
}

const char *import_type_kind(const struct import_types *t, unsigned type)
{
	unsigned kind = t->list[type].kind;

	return kind == IMPORT_ANY_KIND ? "" : t->im->kinds.list[kind];
}

unsigned import_types_tres(const struct import_types *t)
{
	unsigned kind, n = t->untyped ? 3 : 2;

	for (kind = 0; kind < t->im->kinds.n; kind++)
		n += wanted(t, kind) && *t->im->kinds.list[kind];
	return n;
}

bool import_types_served(const struct import_types *t, unsigned kind)
{
	const struct import_node *n;
	unsigned i, k;

	for (i = 0; i < t->nservers && wanted(t, kind); i++) {
		n = &t->im->nodes[t->servers[i]];
		for (k = 0; k < n->ngpus; k++)
			if (n->gpus[k].kind == kind)
				return true;
	}
	return false;
}

double import_types_gpus(const struct import_types *t)
{
	double gpus = 0;
	unsigned i;

	for (i = 0; i < t->nservers; i++)
		gpus += node_gpus(&t->im->nodes[t->servers[i]]);
	return gpus;
}

bool import_types_hourly(const struct import_types *t)
{
	const struct auc_conf_partition *p;

	for (unsigned i = 0; i < t->nservers; i++) {
		p = t->im->nodes[t->servers[i]].partition;
		if (p && p->hourly && p->ncost)
			return true;
	}
	return false;
}

bool import_types_write(const struct import_types *t)
{
	struct gen *g = &t->im->g;
	const char *before = "";
	bool ok = true;
	unsigned i;

	fputs("\"worker_types\": [\n", g->out);
	for (i = 0; i < t->n && ok; i++)
		/* Those of auction.conf are the same whatever jobs there are. */
		if (t->list[i].used || (t->im->conf && t->list[i].most > 0)) {
			ok = gen_put(g, before, type_object(&t->list[i]));
			before = ",\n";
		}
	fputs("],\n\"ps_types\": [\n", g->out);
	for (i = 0; i < t->nps && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", type_object(&t->ps[i]));
	fputs("],\n\"servers\": [\n", g->out);
	for (i = 0; i < t->nservers && ok; i++)
		ok = gen_put(g, i ? ",\n" : "", server_object(t, &t->im->nodes[t->servers[i]]));
	fputs("],\n", g->out);
	return ok;
}

/* -- servers -- */

static enum auc_code make_labels(struct import_types *t, struct auc_err *err)
{
	uint64_t there = 0;
	unsigned i, k;

	t->labels = calloc(IMPORT_KINDS_MAX, sizeof(*t->labels));
	if (!t->labels)
		return auc_err_set(err, AUC_ENOMEM, "no memory for types");
	for (i = 0; i < t->im->kinds.n; i++)
		import_kind_label(t->im, i, t->labels[i]);
	for (i = 0; i < t->nservers; i++)
		for (k = 0; k < t->im->nodes[t->servers[i]].ngpus; k++)
			there |= UINT64_C(1) << t->im->nodes[t->servers[i]].gpus[k].kind;
	t->crowded = __builtin_popcountll(there) + 3 > AUC_TRES_MAX;
	return AUC_OK;
}

/* Whether the scenario has KIND of GPUs. */
static bool wanted(const struct import_types *t, unsigned kind)
{
	unsigned i;

	for (i = 0; t->crowded && i < t->n; i++)
		if (t->list[i].kind == kind && (t->list[i].used || t->im->conf))
			return true;
	return !t->crowded;
}

/* What a node file leaves out; a market counts in fractions that are not too small. */
static void complete_nodes(struct import *im)
{
	const struct value *v = im->g.values;
	struct import_node *n;
	double gpus;

	for (n = im->nodes; n < im->nodes + im->nnodes; n++) {
		gpus = fmax(1, node_gpus(n));
		if (n->cpus < 0)
			n->cpus = v[IMPORT_NODE_CPUS].low * gpus;
		if (n->mem_mb < 0)
			n->mem_mb = v[IMPORT_NODE_MEM].low * gpus;
		n->cpus = floor(n->cpus * 100) / 100;
		n->mem_mb = floor(n->mem_mb);
	}
}

static int compare_nodes(const void *a, const void *b, void *arg)
{
	unsigned i = *(const unsigned *)a, k = *(const unsigned *)b;
	const struct import_node *m = (const struct import_node *)arg + i,
				 *n = (const struct import_node *)arg + k;

	if (m->ngpus != n->ngpus)
		return m->ngpus < n->ngpus ? -1 : 1;
	if (m->ngpus && m->gpus[0].kind != n->gpus[0].kind)
		return m->gpus[0].kind < n->gpus[0].kind ? -1 : 1;
	if (m->ngpus && m->gpus[0].count != n->gpus[0].count)
		return m->gpus[0].count < n->gpus[0].count ? -1 : 1;
	return (i > k) - (i < k);
}

static int compare_index(const void *a, const void *b)
{
	unsigned i = *(const unsigned *)a, k = *(const unsigned *)b;

	return (i > k) - (i < k);
}

/* Of the nodes in the order of their kinds every so-manieth, so that each kind keeps its share. */
static enum auc_code choose_servers(struct import_types *t, struct auc_err *err)
{
	struct import *im = t->im;
	unsigned want = (unsigned)fmin(im->g.values[IMPORT_SERVERS].low, UINT32_MAX), i;

	t->servers = calloc(im->nnodes + 1, sizeof(*t->servers));
	if (!t->servers)
		return auc_err_set(err, AUC_ENOMEM, "no memory for %u servers", im->nnodes);
	for (i = 0; i < im->nnodes; i++)
		if (!im->nodes[i].out)
			t->servers[t->nservers++] = i;
	if (!want || want >= t->nservers)
		return AUC_OK;
	qsort_r(t->servers, t->nservers, sizeof(*t->servers), compare_nodes, im->nodes);
	for (i = 0; i < want; i++)
		t->servers[i] = t->servers[(unsigned)((i + 0.5) * t->nservers / want)];
	t->nservers = want;
	qsort(t->servers, want, sizeof(*t->servers), compare_index);
	return AUC_OK;
}

/* -- types made of the servers -- */

static enum auc_code make_types(struct import_types *t, struct auc_err *err)
{
	unsigned parts = (unsigned)t->im->g.values[IMPORT_PARTS].low, kind, part;
	struct lean lean[IMPORT_KINDS_MAX] = {0};

	t->list = calloc(IMPORT_KINDS_MAX * parts, sizeof(*t->list));
	t->ps = calloc(1, sizeof(*t->ps));
	if (!t->list || !t->ps)
		return auc_err_set(err, AUC_ENOMEM, "no memory for types");
	find_lean(t, lean);
	for (kind = 0; kind < t->im->kinds.n; kind++)
		for (part = 0; part < parts && lean[kind].there; part++)
			make_type(t, kind, part, &lean[kind]);
	make_ps(t, lean);
	return AUC_OK;
}

static void find_lean(const struct import_types *t, struct lean *lean)
{
	const struct import_node *n;
	struct lean *l;
	unsigned i, k;
	double gpus;

	for (i = 0; i < t->nservers; i++) {
		n = &t->im->nodes[t->servers[i]];
		gpus = node_gpus(n);
		for (k = 0; k < n->ngpus && gpus > 0; k++) {
			l = &lean[n->gpus[k].kind];
			if (!l->there)
				*l = (struct lean){true, INFINITY, INFINITY};
			l->cpus = fmin(l->cpus, n->cpus / gpus);
			l->mem_mb = fmin(l->mem_mb, n->mem_mb / gpus);
		}
	}
}

/* PART of "parts" of a GPU; 0: a whole one. No type of GPUs has an @ in its name. */
static void make_type(struct import_types *t, unsigned kind, unsigned part, const struct lean *lean)
{
	const struct value *v = t->im->g.values;
	double share = part ? part / v[IMPORT_PARTS].low : 1, left = 1 - v[IMPORT_PS_ROOM].low;
	const char *name = t->labels[kind];
	struct import_type *type = &t->list[t->n++];
	char gpu[AUC_NAME_MAX];

	snprintf(gpu, sizeof(gpu), "gpu%s%.75s", *name ? ":" : "", name);
	*type = (struct import_type){
		.kind = kind, .part = part, .gpus = share, .bandwidth = v[IMPORT_BANDWIDTH].low};
	if (part)
		snprintf(type->name, sizeof(type->name), "%.72s@%u/%u", *name ? name : "gpu",
			 part % 100, (unsigned)v[IMPORT_PARTS].low % 100);
	else
		snprintf(type->name, sizeof(type->name), "%s", *name ? name : "gpu");
	add_tres(type, gpu, floor(share * 1e4) / 1e4);
	add_tres(type, "cpu", floor(lean->cpus * left * share * 100) / 100);
	add_tres(type, "mem", floor(lean->mem_mb * left * share));
}

/* A PS takes at most what the workers of the leanest node leave. */
static void make_ps(struct import_types *t, const struct lean *lean)
{
	const struct value *v = t->im->g.values;
	double cpus = v[IMPORT_PS_CPUS].low, mem = v[IMPORT_PS_MEM].low, room;
	unsigned kind;

	room = v[IMPORT_PS_ROOM].low;
	for (kind = 0; kind < t->im->kinds.n; kind++)
		if (lean[kind].there) {
			cpus = fmin(cpus, lean[kind].cpus * room);
			mem = fmin(mem, lean[kind].mem_mb * room);
		}
	t->nps = 1;
	strcpy(t->ps->name, "ps");
	t->ps->bandwidth = v[IMPORT_PS_BANDWIDTH].low;
	add_tres(t->ps, "cpu", fmax(0.01, floor(cpus * 100) / 100));
	add_tres(t->ps, "mem", fmax(1, floor(mem)));
}

/* -- types of auction.conf -- */

static enum auc_code take_types(struct import_types *t, struct auc_err *err)
{
	const struct auc_conf *conf = t->im->conf;
	enum auc_code rc = AUC_OK;
	unsigned i;

	t->list = calloc(conf->nworker_types + 1, sizeof(*t->list));
	t->ps = calloc(conf->nps_types + 1, sizeof(*t->ps));
	if (!t->list || !t->ps)
		return auc_err_set(err, AUC_ENOMEM, "no memory for types");
	for (i = 0; i < conf->nworker_types && rc == AUC_OK; i++)
		rc = take_type(t, &conf->worker_types[i], true, err);
	for (i = 0; i < conf->nps_types && rc == AUC_OK; i++)
		rc = take_type(t, &conf->ps_types[i], false, err);
	return rc;
}

/* A worker type without GPU has no jobs in the log and is left out. */
static enum auc_code take_type(struct import_types *t, const struct auc_conf_type *from,
			       bool worker, struct auc_err *err)
{
	struct import_type type = {.kind = IMPORT_ANY_KIND, .bandwidth = from->bandwidth_mbps};
	char gpu[AUC_NAME_MAX];
	enum auc_code rc = AUC_OK;
	const char *name;
	unsigned i;

	strcpy(type.name, from->name);
	for (i = 0; i < from->ntres && rc == AUC_OK; i++) {
		name = from->tres[i].name;
		if (!strcmp(name, "cpu") || !strcmp(name, "mem")) {
			add_tres(&type, name, from->tres[i].value);
			continue;
		}
		if (strcmp(name, "gpu") != 0 && strncmp(name, "gpu:", 4) != 0)
			return auc_err_set(err, AUC_EINVAL,
					   "%.200s: type %s: TRES=%s: expected cpu, mem, gpu or "
					   "gpu:TYPE: what else nodes have is not imported",
					   t->im->o->conf, from->name, name);
		type.gpus += from->tres[i].value;
		t->untyped |= !strcmp(name, "gpu");
		if (name[3])
			rc = import_kind(t->im, name + 4, &type.kind, err);
		if (rc == AUC_OK && name[3])
			snprintf(gpu, sizeof(gpu), "gpu:%.75s", t->labels[type.kind]);
		if (rc == AUC_OK)
			add_tres(&type, name[3] ? gpu : name, from->tres[i].value);
	}
	if (rc == AUC_OK && !worker)
		t->ps[t->nps++] = type;
	else if (rc == AUC_OK && type.gpus > 0)
		t->list[t->n++] = type;
	return rc;
}

/* -- what fits -- */

static void measure(struct import_types *t)
{
	const struct import_node *n;
	struct import_type *type;
	unsigned i, k;

	for (type = t->list; type < t->list + t->n; type++)
		for (i = 0; i < t->nservers; i++) {
			n = &t->im->nodes[t->servers[i]];
			type->most += fit(t, n, type, NULL);
			for (k = 0; k < t->nps; k++)
				type->beside_ps = fmax(type->beside_ps, fit(t, n, type, &t->ps[k]));
		}
}

/* Workers of TYPE that N holds, with a PS beside them if PS is not NULL. */
static double fit(const struct import_types *t, const struct import_node *n,
		  const struct import_type *type, const struct import_type *ps)
{
	double most = INFINITY, have;
	unsigned i, k;

	for (k = 0; ps && k < ps->ntres; k++)
		if (amount_of(t, n, ps->tres[k].name) < ps->tres[k].value)
			return 0;
	for (i = 0; i < type->ntres; i++) {
		have = amount_of(t, n, type->tres[i].name);
		for (k = 0; ps && k < ps->ntres; k++)
			if (!strcmp(ps->tres[k].name, type->tres[i].name))
				have -= ps->tres[k].value;
		most = fmin(most, (double)auc_floor(fmax(0, have) / type->tres[i].value));
	}
	return most < INFINITY ? most : 0;
}

static double amount_of(const struct import_types *t, const struct import_node *n, const char *tres)
{
	unsigned i;

	if (!strcmp(tres, "cpu"))
		return n->cpus;
	if (!strcmp(tres, "mem"))
		return n->mem_mb;
	if (!strcmp(tres, "gpu"))
		return node_gpus(n);
	for (i = 0; i < n->ngpus; i++)
		if (!strncmp(tres, "gpu:", 4) && !strcmp(t->labels[n->gpus[i].kind], tres + 4))
			return n->gpus[i].count;
	return 0;
}

static double node_gpus(const struct import_node *n)
{
	double gpus = 0;
	unsigned i;

	for (i = 0; i < n->ngpus; i++)
		gpus += n->gpus[i].count;
	return gpus;
}

/* An amount of 0 is none. */
static void add_tres(struct import_type *t, const char *name, double value)
{
	if (!(value > 0))
		return;
	snprintf(t->tres[t->ntres].name, sizeof(t->tres[0].name), "%s", name);
	t->tres[t->ntres++].value = value;
}

/* -- JSON -- */

static struct json_object *type_object(const struct import_type *t)
{
	struct json_object *o = json_object_new_object(), *tres = json_object_new_object();
	bool ok = o && tres;
	unsigned i;

	for (i = 0; i < t->ntres && ok; i++)
		ok = gen_add_number(tres, t->tres[i].name, t->tres[i].value);
	ok = ok && auc_json_add_text(o, "name", t->name) &&
	     auc_json_add(o, "tres", json_object_get(tres)) &&
	     gen_add_number(o, "bandwidth_mbps", t->bandwidth);
	json_object_put(tres);
	return auc_json_if(ok, o);
}

static struct json_object *server_object(const struct import_types *t, const struct import_node *n)
{
	struct json_object *o = json_object_new_object(), *capacity = json_object_new_object();
	bool ok = o && capacity, bare = false;
	char name[AUC_NAME_MAX];
	const char *kind;
	unsigned i;

	for (i = 0; i < n->ngpus && ok; i++) {
		kind = t->labels[n->gpus[i].kind];
		bare |= !*kind;
		snprintf(name, sizeof(name), "gpu%s%.75s", *kind ? ":" : "", kind);
		if (wanted(t, n->gpus[i].kind))
			ok = gen_add_number(capacity, name, n->gpus[i].count);
	}
	if (ok && t->untyped && !bare && n->ngpus)
		ok = gen_add_number(capacity, "gpu", node_gpus(n));
	ok = ok && gen_add_number(capacity, "cpu", n->cpus) &&
	     gen_add_number(capacity, "mem", n->mem_mb) && auc_json_add_text(o, "name", n->name) &&
	     auc_json_add_text(o, "site", n->partition && n->partition->cloud ? "cloud" : "edge") &&
	     auc_json_add(o, "capacity", json_object_get(capacity)) &&
	     (!n->partition || add_cost(o, capacity, n->partition));
	json_object_put(capacity);
	return auc_json_if(ok, o);
}

/* What a unit of CAPACITY costs in PARTITION, to the server O. */
static bool add_cost(struct json_object *o, struct json_object *capacity,
		     const struct auc_conf_partition *partition)
{
	struct json_object *cost = json_object_new_object(), *hours = json_object_new_array();
	const struct auc_named *found;
	char text[AUC_NUMBER_LEN];
	bool ok = cost && hours;

	json_object_object_foreach(capacity, name, amount)
	{
		(void)amount;
		found = auc_conf_price_find(partition->cost, partition->ncost, name);
		if (found && found->value > 0)
			ok = ok && gen_add_number(cost, name, found->value);
	}
	if (ok && json_object_object_length(cost)) {
		ok = auc_json_add(o, "cost", json_object_get(cost));
		for (unsigned h = 0; h < AUC_DAY_HOURS && partition->hourly && ok; h++)
			ok = auc_json_push(hours,
					   json_object_new_double_s(
						   partition->cost_hour[h],
						   auc_number_str(partition->cost_hour[h], text)));
		if (partition->hourly)
			ok = ok && auc_json_add(o, "cost_hours", json_object_get(hours));
	}
	json_object_put(cost);
	json_object_put(hours);
	return ok;
}
