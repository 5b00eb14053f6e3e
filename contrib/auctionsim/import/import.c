/*
 * import.c - see import.h: files are read one after the other, records become jobs; what a record
 * is counted as.
 */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/conf.h"
#include "auctionsim/import/import-private.h"
#include "base/num.h"
#include "base/list.h"

#define SHORTEST 1e-3 /* seconds: what took less did nothing */

static enum auc_code take_options(struct import *im, struct auc_err *err);
static enum auc_code take_models(struct import *im, struct auc_err *err);
static enum auc_code keep(struct import *im, const struct import_record *r, uint32_t kinds,
			  struct auc_err *err);
static unsigned marks_of(const struct import_record *r);
static uint32_t node_kinds(const struct import *im, const char *name);
static unsigned model_of(const struct import *im, const char *name, float *batch);
static void *grow(void *list, unsigned n, unsigned *alloc, size_t size, struct auc_err *err);
static void clear(struct import *im);
static void names_clear(struct import_names *names);

enum auc_code import_write(const struct import_options *o, FILE *out, FILE *report,
			   struct auc_err *err)
{
	struct import_text profiles = {0}, nodes = {0}, jobs = {0};
	struct auc_conf *conf = NULL;
	enum auc_code rc = AUC_OK;

	if (o->conf)
		rc = auc_conf_load(o->conf, &conf, err);
	if (rc == AUC_OK && o->profiles)
		rc = import_open(&profiles, o->profiles, err);
	if (rc == AUC_OK)
		rc = import_open(&nodes, o->nodes, err);
	if (rc == AUC_OK)
		rc = import_open(&jobs, o->jobs, err);
	if (rc == AUC_OK)
		rc = import_make(o, conf, o->profiles ? &profiles : NULL, &nodes, &jobs, out,
				 report, err);
	import_close(&profiles);
	import_close(&nodes);
	import_close(&jobs);
	auc_conf_free(conf);
	return rc;
}

enum auc_code import_make(const struct import_options *o, const struct auc_conf *conf,
			  struct import_text *profiles, struct import_text *nodes,
			  struct import_text *jobs, FILE *out, FILE *report, struct auc_err *err)
{
	struct import im = {.o = o,
			    .conf = conf,
			    .g = {.setting = &import_setting, .random = o->seed, .out = out}};
	enum auc_code rc = gen_set(&im.g, o->parameters, o->nparameters, err);

	if (rc == AUC_OK)
		rc = take_options(&im, err);
	if (rc == AUC_OK && profiles)
		rc = import_read_profiles(&im, profiles, err);
	/* Nodes before jobs: they know the types of GPUs that a log of Slurm may leave out. */
	if (rc == AUC_OK)
		rc = import_read_nodes(&im, nodes, err);
	if (rc == AUC_OK && !im.nnodes)
		rc = auc_err_set(err, AUC_EINVAL, "%.200s: expected a node%s, found none",
				 nodes->name,
				 conf ? " in a partition that auction.conf sells" : "");
	if (rc == AUC_OK)
		rc = import_read_jobs(&im, jobs, err);
	if (rc == AUC_OK)
		rc = import_scenario(&im, report, err);
	clear(&im);
	return rc;
}

void import_print_help(FILE *out)
{
	gen_print_help(&import_setting, out);
}

enum auc_code import_add(struct import *im, const struct import_record *r, struct auc_err *err)
{
	bool completed = im->g.values[IMPORT_STATES].low == 2;
	bool ended = im->g.values[IMPORT_STATES].low >= 1;
	struct import_counts *c = &im->counts;
	uint32_t kinds = r->kinds;

	c->read++;
	if (im->o->queue && strcmp(im->o->queue, r->queue) != 0) {
		c->other_queue++;
		return AUC_OK;
	}
	if (r->state == IMPORT_PENDING || r->duration < 0) {
		c->pending++;
		return AUC_OK;
	}
	if (!(r->gpus > 0)) {
		c->no_gpu++;
		return AUC_OK;
	}
	if (r->duration < SHORTEST) {
		c->zero++;
		return AUC_OK;
	}
	if ((ended && r->state == IMPORT_RUNNING) || (completed && r->state != IMPORT_COMPLETED)) {
		c->other_state++;
		return AUC_OK;
	}
	if (!kinds)
		kinds = node_kinds(im, r->node);
	if (!kinds)
		kinds = im->default_kinds;
	return keep(im, r, kinds, err);
}

enum auc_code import_add_node(struct import *im, const struct import_node *n, struct auc_err *err)
{
	struct import_node *list;
	enum auc_code rc;
	unsigned index;

	rc = import_name(&im->node_names, n->name, &index, err);
	if (rc == AUC_OK && index < im->nnodes)
		rc = auc_err_set(err, AUC_EEXIST, "node %s is there twice", n->name);
	list = rc == AUC_OK ? grow(im->nodes, im->nnodes, &im->nodes_alloc, sizeof(*n), err) : NULL;
	if (!list)
		return rc == AUC_OK ? AUC_ENOMEM : rc;
	im->nodes = list;
	im->nodes[im->nnodes++] = *n;
	return AUC_OK;
}

enum auc_code import_add_profile(struct import *im, const struct import_profile *p,
				 struct auc_err *err)
{
	struct import_profile *list;

	list = grow(im->profiles, im->nprofiles, &im->profiles_alloc, sizeof(*p), err);
	if (!list)
		return AUC_ENOMEM;
	im->profiles = list;
	im->profiles[im->nprofiles++] = *p;
	return AUC_OK;
}

enum auc_code import_name(struct import_names *names, const char *name, unsigned *index,
			  struct auc_err *err)
{
	char **list, *copy;

	if (import_find(names, name, index))
		return AUC_OK;
	if (!names->map)
		names->map = lh_kchar_table_new(256, NULL);
	list = grow(names->list, names->n, &names->alloc, sizeof(*list), NULL);
	names->list = list ? list : names->list;
	copy = list ? strdup(name) : NULL;
	if (!names->map || !copy ||
	    lh_table_insert(names->map, copy, (void *)(uintptr_t)names->n)) {
		free(copy);
		return auc_err_set(err, AUC_ENOMEM, "no memory for the name %.80s", name);
	}
	*index = names->n;
	names->list[names->n++] = copy;
	return AUC_OK;
}

bool import_find(const struct import_names *names, const char *name, unsigned *index)
{
	void *value;

	if (!names->map || !lh_table_lookup_ex(names->map, name, &value))
		return false;
	*index = (unsigned)(uintptr_t)value;
	return true;
}

enum auc_code import_kind(struct import *im, const char *name, unsigned *kind, struct auc_err *err)
{
	if (!strcmp(name, "gpu")) /* no type */
		name = "";
	/* Room for "gpu:" before it and a share after it. */
	if (*name && (!auc_name_valid(name) || strlen(name) > AUC_NAME_MAX - 16))
		return auc_err_set(err, AUC_EINVAL, "'%.80s' is no name of a type of GPUs", name);
	if (!import_find(&im->kinds, name, kind) && im->kinds.n == IMPORT_KINDS_MAX)
		return auc_err_set(err, AUC_EINVAL, "more than %d types of GPUs", IMPORT_KINDS_MAX);
	return import_name(&im->kinds, name, kind, err);
}

bool import_id_valid(const char *id)
{
	size_t i;

	for (i = 0; id[i]; i++)
		if (!isgraph((unsigned char)id[i]))
			return false;
	return i && i < AUC_NAME_MAX;
}

/* What options and auction.conf say before anything is read. */
static enum auc_code take_options(struct import *im, struct auc_err *err)
{
	enum auc_code rc = im->conf ? take_models(im, err) : AUC_OK;
	unsigned kind;

	if (rc != AUC_OK || !im->o->type)
		return rc;
	rc = import_kind(im, im->o->type, &kind, err);
	if (rc == AUC_OK)
		im->default_kinds = UINT32_C(1) << kind;
	else
		auc_err_prefix(err, "--type");
	return rc;
}

/* The models of auction.conf are profiles of one worker. */
static enum auc_code take_models(struct import *im, struct auc_err *err)
{
	const struct auc_conf *conf = im->conf;
	const struct auc_conf_model *m;
	enum auc_code rc = AUC_OK;
	struct import_profile p;
	unsigned i, k;

	for (m = conf->models; m < conf->models + conf->nmodels && rc == AUC_OK; m++) {
		for (i = 0; i < m->nworkers && rc == AUC_OK; i++) {
			const struct auc_conf_type *t =
				auc_conf_worker_type(conf, m->worker_seconds[i].name);

			for (k = 0; t && k < t->ntres && rc == AUC_OK; k++) {
				if (strncmp(t->tres[k].name, "gpu:", 4) != 0)
					continue;
				p = (struct import_profile){.workers = 1,
							    .steps_per_s =
								    1 / m->worker_seconds[i].value,
							    .gradient_mb = m->gradient_mb};
				rc = import_name(&im->models, m->name, &p.model, err);
				if (rc == AUC_OK)
					rc = import_name(&im->profile_kinds, t->tres[k].name + 4,
							 &p.kind, err);
				if (rc == AUC_OK)
					rc = import_add_profile(im, &p, err);
			}
		}
	}
	return rc;
}

/* Of several runs of a job of Slurm the last counts, from the first submission on. */
static enum auc_code keep(struct import *im, const struct import_record *r, uint32_t kinds,
			  struct auc_err *err)
{
	struct import_job *list, *job;
	double submit = r->submit;
	enum auc_code rc;
	unsigned index;

	rc = import_name(&im->ids, r->id, &index, err);
	if (rc != AUC_OK)
		return rc;
	if (index < im->njobs) {
		if (im->unique_ids)
			return auc_err_set(err, AUC_EEXIST, "job %s is there twice", r->id);
		im->counts.earlier_runs++;
		job = &im->jobs[index];
		job->submit = submit = fmin(submit, job->submit);
		if (r->start < job->start)
			return AUC_OK;
	} else {
		list = grow(im->jobs, im->njobs, &im->jobs_alloc, sizeof(*job), err);
		if (!list)
			return AUC_ENOMEM;
		im->jobs = list;
		job = &im->jobs[im->njobs++];
	}
	*job = (struct import_job){.submit = submit,
				   .start = r->start,
				   .duration = r->duration,
				   .gpus = r->gpus,
				   .deadline = r->deadline,
				   .kinds = kinds,
				   .marks = marks_of(r)};
	job->model = model_of(im, r->model, &job->batch);
	return AUC_OK;
}

static unsigned marks_of(const struct import_record *r)
{
	return (unsigned)(r->state == IMPORT_RUNNING) << IMPORT_RAN |
	       (unsigned)(r->state == IMPORT_ENDED) << IMPORT_NOT_COMPLETED |
	       (unsigned)(r->suspended > 0) << IMPORT_SUSPENDED |
	       (unsigned)r->array << IMPORT_ARRAY | (unsigned)r->het << IMPORT_HET |
	       (unsigned)r->odd_time << IMPORT_ODD_TIME;
}

/* The types of GPUs of the node called NAME, if it has one type; else nobody knows. */
static uint32_t node_kinds(const struct import *im, const char *name)
{
	unsigned i;

	if (!*name || !import_find(&im->node_names, name, &i) || im->nodes[i].ngpus != 1)
		return 0;
	return UINT32_C(1) << im->nodes[i].gpus[0].kind;
}

/*
 * The model that the profiles know by NAME, also with their source before it ("muri-vgg16"), and
 * the batch: traces have both in one field, as ResNet-18/bs32.
 */
static unsigned model_of(const struct import *im, const char *name, float *batch)
{
	size_t len = strcspn(name, "/"), have;
	unsigned i, found = IMPORT_NO_MODEL;
	double number = 0;

	if (!strncmp(name + len, "/bs", 3))
		auc_parse_number(name + len + 3, 0, 1e12, &number, "", NULL);
	*batch = (float)number;
	for (i = 0; i < im->models.n && len; i++) {
		have = strlen(im->models.list[i]);
		if (have < len || strncmp(im->models.list[i] + have - len, name, len) != 0)
			continue;
		if (have == len)
			return i;
		if (im->models.list[i][have - len - 1] == '-' && found == IMPORT_NO_MODEL)
			found = i;
	}
	return found;
}

/* LIST with room for one more than N. */
static void *grow(void *list, unsigned n, unsigned *alloc, size_t size, struct auc_err *err)
{
	unsigned more = n + n / 2 + 64;
	void *grown;

	if (n < *alloc)
		return list;
	grown = more > n ? reallocarray(list, more, size) : NULL;
	if (!grown)
		auc_err_set(err, AUC_ENOMEM, "no memory for more than %u of the log", n);
	else
		*alloc = more;
	return grown;
}

static void clear(struct import *im)
{
	names_clear(&im->kinds);
	names_clear(&im->models);
	names_clear(&im->profile_kinds);
	names_clear(&im->node_names);
	names_clear(&im->ids);
	free(im->nodes);
	free(im->profiles);
	free(im->jobs);
}

static void names_clear(struct import_names *names)
{
	unsigned i;

	if (names->map)
		lh_table_free(names->map);
	for (i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
}
