/*
 * import.c - see import.h: files are read one after the other, records become jobs; what a record
 * is counted as.
 */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <xxhash.h>

#include "input/conf.h"
#include "auctionsim/import/import-private.h"
#include "auctionsim/io/progress.h"
#include "base/num.h"
#include "base/list.h"

#define SHORTEST   1e-3 /* seconds: what took less did nothing */
#define KIND_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/+-"
#define REUSES     64 /* jobs with one id */

static enum auc_code take_options(struct import *im, struct auc_err *err);
static enum auc_code take_kinds(struct import *im, struct auc_err *err);
static enum auc_code take_models(struct import *im, struct auc_err *err);
static enum auc_code keep(struct import *im, const struct import_record *r, uint64_t kinds,
			  struct auc_err *err);
static enum auc_code find_run(struct import *im, const struct import_record *r,
			      struct import_job **job, struct auc_err *err);
static enum auc_code no_nodes(const struct import *im, const char *file, struct auc_err *err);
static bool same_job(const struct import_job *j, const struct import_record *r);
static enum import_why why_not(struct import *im, const struct import_record *r);
static bool has_shares(const struct import_record *r);
static void take_shares(const struct import *im, struct import_record *r);
static double share_size(const struct import_node *n, unsigned share);
static double common_share(const struct import *im, unsigned share, uint64_t *kinds);
static unsigned marks_of(const struct import_record *r);
static uint64_t node_kinds(const struct import *im, const char *name);
static unsigned model_of(const struct import *im, const char *name, float *batch);
static void *grow(void *list, unsigned n, unsigned *alloc, size_t size, struct auc_err *err);
static void names_clear(struct import_names *names);

enum auc_code import_write(const struct import_options *o, FILE *out, FILE *report,
			   struct auc_err *err)
{
	struct import_files f = {0};
	enum auc_code rc = import_files_open(&f, o, err);

	if (rc == AUC_OK)
		rc = import_make(o, f.conf, o->profiles ? &f.profiles : NULL, &f.nodes, &f.jobs,
				 out, report, err);
	import_files_close(&f);
	return rc;
}

enum auc_code import_files_open(struct import_files *f, const struct import_options *o,
				struct auc_err *err)
{
	enum auc_code rc = AUC_OK;

	progress_say("reading %.120s", o->jobs);
	if (o->conf)
		rc = auc_conf_load(o->conf, &f->conf, err);
	if (rc == AUC_OK && o->profiles)
		rc = import_open(&f->profiles, o->profiles, err);
	if (rc == AUC_OK)
		rc = import_open(&f->nodes, o->nodes, err);
	if (rc == AUC_OK)
		rc = import_open(&f->jobs, o->jobs, err);
	return rc;
}

void import_files_close(struct import_files *f)
{
	import_close(&f->profiles);
	import_close(&f->nodes);
	import_close(&f->jobs);
	auc_conf_free(f->conf);
}

enum auc_code import_make(const struct import_options *o, const struct auc_conf *conf,
			  struct import_text *profiles, struct import_text *nodes,
			  struct import_text *jobs, FILE *out, FILE *report, struct auc_err *err)
{
	struct import im = {.g.out = out};
	enum auc_code rc = import_read(&im, o, conf, profiles, nodes, jobs, err);

	if (rc == AUC_OK)
		rc = import_scenario(&im, report, err);
	import_clear(&im);
	return rc;
}

enum auc_code import_read(struct import *im, const struct import_options *o,
			  const struct auc_conf *conf, struct import_text *profiles,
			  struct import_text *nodes, struct import_text *jobs, struct auc_err *err)
{
	enum auc_code rc;

	im->o = o;
	im->conf = conf;
	im->g.setting = &import_setting;
	im->g.random = o->seed;
	rc = gen_set(&im->g, o->parameters, o->nparameters, err);
	if (rc == AUC_OK)
		rc = take_options(im, err);
	if (rc == AUC_OK && profiles)
		rc = import_read_profiles(im, profiles, err);
	/* Nodes before jobs: they know the types of GPUs that a log of Slurm may leave out. */
	progress_say("reading %.120s", nodes->name);
	if (rc == AUC_OK)
		rc = import_read_nodes(im, nodes, err);
	if (rc == AUC_OK && im->nnodes == im->counts.out_nodes.n)
		rc = no_nodes(im, nodes->name, err);
	progress_say("reading %.120s: jobs", jobs->name);
	if (rc == AUC_OK)
		rc = import_read_jobs(im, jobs, err);
	return rc;
}

void import_print_help(FILE *out)
{
	gen_print_help(&import_setting, out);
}

/* AUC_EINVAL: why no node of FILE is a server. */
static enum auc_code no_nodes(const struct import *im, const char *file, struct auc_err *err)
{
	const struct import_counts *c = &im->counts;

	if (c->odd_nodes.n)
		return auc_err_set(err, AUC_EINVAL, "%s", c->odd_node.text);
	if (c->out_nodes.n)
		return auc_err_set(err, AUC_EINVAL,
				   "%.200s: expected a node that is up, found %lu that are down or "
				   "drained, the first %s",
				   file, c->out_nodes.n, c->out_nodes.first);
	return auc_err_set(err, AUC_EINVAL, "%.200s: expected a node%s, found none", file,
			   im->conf ? " in a partition that auction.conf sells" : "");
}

enum auc_code import_add(struct import *im, const struct import_record *record, struct auc_err *err)
{
	struct import_record copy = *record;
	const struct import_record *r = &copy;
	double seconds = r->duration;
	enum import_why why;
	uint64_t kinds;

	if (!(r->gpus > 0))
		take_shares(im, &copy);
	kinds = r->kinds;
	why = why_not(im, r);
	if (seconds < 0)
		seconds = r->start >= 0 ? fmax(0, r->end - r->start) : 0;
	if (why == IMPORT_ODD) {
		import_add_odd(im, r->id, r->gpus * seconds, &r->fault);
		return AUC_OK;
	}
	im->counts.read++;
	progress_count(im->counts.read, 0);
	im->counts.gres += r->gpus > 0 || has_shares(r);
	im->counts.no_gres += why != IMPORT_NEVER_STARTED && !(r->gpus > 0) && !has_shares(r);
	if (why != IMPORT_WHYS) {
		import_count(&im->counts.skipped[why], r->id, r->gpus * fmax(0, r->duration));
		return AUC_OK;
	}
	if (!kinds)
		kinds = node_kinds(im, r->node);
	if (!kinds)
		kinds = im->default_kinds;
	return keep(im, r, kinds, err);
}

static bool has_shares(const struct import_record *r)
{
	return r->shares[IMPORT_SHARD] > 0 || r->shares[IMPORT_MPS] > 0;
}

/*
 * Shares of GPUs are so much of a GPU as the node says that the job ran on. Where it is not known,
 * or says nothing now, they are as large as those of all nodes, if these are of one size.
 */
static void take_shares(const struct import *im, struct import_record *r)
{
	uint64_t kinds = 0;
	unsigned i, node;
	double size;

	for (i = 0; i < IMPORT_SHARES; i++) {
		if (!(r->shares[i] > 0))
			continue;
		size = *r->node && import_find(&im->node_names, r->node, &node)
			       ? share_size(&im->nodes[node], i)
			       : 0;
		if (!(size > 0))
			size = common_share(im, i, &kinds);
		r->gpus += r->shares[i] * size;
	}
	if (!r->kinds)
		r->kinds = kinds;
}

/* GPUs in one share of N; 0: it gives out none. */
static double share_size(const struct import_node *n, unsigned share)
{
	double gpus = 0;
	unsigned i;

	for (i = 0; i < n->ngpus; i++)
		gpus += n->gpus[i].count;
	return n->shares[share] > 0 ? gpus / n->shares[share] : 0;
}

/* The same of all nodes that have any, and their types of GPUs; 0: there is none, or they differ.
 */
static double common_share(const struct import *im, unsigned share, uint64_t *kinds)
{
	double size = 0, other;
	const struct import_node *n;
	unsigned k;

	for (n = im->nodes; n < im->nodes + im->nnodes; n++) {
		other = share_size(n, share);
		if (!(other > 0))
			continue;
		if (size > 0 && (other > size || other < size))
			return 0;
		size = other;
		for (k = 0; k < n->ngpus; k++)
			*kinds |= UINT64_C(1) << n->gpus[k].kind;
	}
	return size;
}

/* Why record R is not taken; IMPORT_WHYS: nothing is in the way. */
static enum import_why why_not(struct import *im, const struct import_record *r)
{
	bool completed = im->g.values[IMPORT_STATES].low == 2;
	bool ended = im->g.values[IMPORT_STATES].low >= 1;

	if (im->o->queue && strcmp(im->o->queue, r->queue) != 0)
		return IMPORT_OTHER_QUEUE;
	if (r->fault.code)
		return IMPORT_ODD;
	if (r->state == IMPORT_PENDING || r->duration < 0 ||
	    (r->unstarted && r->state != IMPORT_RUNNING && r->duration < SHORTEST))
		return IMPORT_NEVER_STARTED;
	if (!(r->gpus > 0))
		return has_shares(r) ? IMPORT_NO_SHARES : IMPORT_NO_GPU;
	if (r->duration < SHORTEST)
		return IMPORT_ZERO;
	if ((ended && r->state == IMPORT_RUNNING) || (completed && r->state != IMPORT_COMPLETED))
		return IMPORT_OTHER_STATE;
	return r->mixed ? IMPORT_MIXED : IMPORT_WHYS;
}

void import_add_odd(struct import *im, const char *id, double gpu_seconds,
		    const struct auc_err *fault)
{
	struct import_counts *c = &im->counts;

	c->read++;
	if (!c->odd.code)
		c->odd = *fault;
	c->odd_time += !(gpu_seconds > 0);
	import_count(&c->skipped[IMPORT_ODD], id, gpu_seconds);
}

void import_add_odd_node(struct import *im, const struct import_node *n,
			 const struct auc_err *fault)
{
	double gpus = 0;
	unsigned i;

	if (!im->counts.odd_node.code)
		im->counts.odd_node = *fault;
	for (i = 0; i < n->ngpus; i++)
		gpus += n->gpus[i].count;
	import_count(&im->counts.odd_nodes, n->name, gpus);
}

void import_count(struct import_tally *t, const char *name, double gpu_seconds)
{
	size_t i;

	for (i = 0; !t->n && name[i] && i + 1 < sizeof(t->first); i++)
		t->first[i] = isgraph((unsigned char)name[i]) ? name[i] : '?';
	t->n++;
	t->gpu_seconds += gpu_seconds;
}

void import_node_gpus(struct import_node *n, unsigned kind, double count)
{
	unsigned i;

	for (i = 0; i < n->ngpus && n->gpus[i].kind != kind; i++)
		;
	if (i == n->ngpus)
		n->gpus[n->ngpus++] = (struct import_gpus){.kind = kind};
	n->gpus[i].count += count;
}

enum auc_code import_add_node(struct import *im, const struct import_node *n, struct auc_err *err)
{
	struct import_node *list;
	enum auc_code rc;
	double gpus = 0;
	unsigned index;

	rc = import_name(&im->node_names, n->name, &index, err);
	if (rc == AUC_OK && index < im->nnodes)
		rc = auc_err_set(err, AUC_EEXIST, "node %s is there twice", n->name);
	list = rc == AUC_OK ? grow(im->nodes, im->nnodes, &im->nodes_alloc, sizeof(*n), err) : NULL;
	if (!list)
		return rc == AUC_OK ? AUC_ENOMEM : rc;
	im->nodes = list;
	im->nodes[im->nnodes++] = *n;
	if (n->out) {
		for (index = 0; index < n->ngpus; index++)
			gpus += n->gpus[index].count;
		import_count(&im->counts.out_nodes, n->name, gpus);
	}
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
	char begin[AUC_NAME_MAX];

	if (!strcasecmp(name, "gpu")) /* no type */
		name = "";
	/* A long one may be a name but for its length. */
	snprintf(begin, sizeof(begin), "%s", name);
	if (*name && (!auc_name_valid(begin) || strlen(name) >= IMPORT_KIND_BYTES ||
		      strspn(name, KIND_CHARS) != strlen(name)))
		return auc_err_set(err, AUC_EINVAL, "'%.80s' is no name of a type of GPUs", name);
	for (*kind = 0; *kind < im->kinds.n; (*kind)++)
		if (!strcasecmp(im->kinds.list[*kind], name))
			return AUC_OK;
	if (im->kinds.n == IMPORT_KINDS_MAX)
		return auc_err_set(err, AUC_EINVAL, "more than %d types of GPUs", IMPORT_KINDS_MAX);
	return import_name(&im->kinds, name, kind, err);
}

enum auc_code import_profile_kind(struct import *im, const char *name, unsigned *kind,
				  struct auc_err *err)
{
	for (*kind = 0; *kind < im->profile_kinds.n; (*kind)++)
		if (!strcasecmp(im->profile_kinds.list[*kind], name))
			return AUC_OK;
	return import_name(&im->profile_kinds, name, kind, err);
}

void import_kind_label(const struct import *im, unsigned kind, char label[AUC_NAME_MAX])
{
	const char *name = im->kinds.list[kind];
	/* "gpu:" goes before it; without auction.conf types have their share after it. */
	size_t len = strlen(name), most = AUC_NAME_MAX - 1 - (im->conf ? 4 : 7);

	if (len <= most)
		snprintf(label, AUC_NAME_MAX, "%s", name);
	else
		snprintf(label, AUC_NAME_MAX, "%.*s-%016llx", (int)most - 17, name,
			 (unsigned long long)XXH3_64bits(name, len));
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
	enum auc_code rc = im->conf ? take_kinds(im, err) : AUC_OK;
	unsigned kind;

	if (rc == AUC_OK && im->conf)
		rc = take_models(im, err);
	if (rc != AUC_OK || !im->o->type)
		return rc;
	rc = import_kind(im, im->o->type, &kind, err);
	if (rc == AUC_OK)
		im->default_kinds = UINT64_C(1) << kind;
	else
		auc_err_prefix(err, "--type");
	return rc;
}

/* GPU types are written as auction.conf has them. */
static enum auc_code take_kinds(struct import *im, struct auc_err *err)
{
	const struct auc_conf_type *t;
	enum auc_code rc = AUC_OK;
	unsigned i, k, kind;

	for (i = 0; i < im->conf->nworker_types + im->conf->nps_types; i++) {
		t = i < im->conf->nworker_types ? &im->conf->worker_types[i]
						: &im->conf->ps_types[i - im->conf->nworker_types];
		for (k = 0; k < t->ntres && rc == AUC_OK; k++)
			if (!strncmp(t->tres[k].name, "gpu:", 4))
				rc = import_kind(im, t->tres[k].name + 4, &kind, err);
	}
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

	for (m = conf->models; conf->nmodels && m < conf->models + conf->nmodels && rc == AUC_OK;
	     m++) {
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
					rc = import_profile_kind(im, t->tres[k].name + 4, &p.kind,
								 err);
				if (rc == AUC_OK)
					rc = import_add_profile(im, &p, err);
			}
		}
	}
	return rc;
}

/* Of several runs of a job of Slurm the last counts, from the first submission on. */
static enum auc_code keep(struct import *im, const struct import_record *r, uint64_t kinds,
			  struct auc_err *err)
{
	struct import_job *list, *job;
	double submit = r->submit;
	enum auc_code rc;

	rc = find_run(im, r, &job, err);
	if (rc != AUC_OK)
		return rc;
	if (job) {
		submit = fmin(submit, job->submit);
		import_count(&im->counts.skipped[IMPORT_EARLIER_RUN], r->id,
			     r->start < job->start ? r->gpus * r->duration
						   : job->gpus * job->duration);
		job->submit = submit;
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
				   .limit = r->limit,
				   .gpus = r->gpus,
				   .nodes = r->nodes,
				   .deadline = r->deadline,
				   .kinds = kinds,
				   .again = r->again,
				   .marks = marks_of(r)};
	job->user = IMPORT_NO_USER;
	if (r->user && *r->user && strlen(r->user) < AUC_NAME_MAX)
		rc = import_name(&im->users, r->user, &job->user, err);
	job->model = model_of(im, r->model, &job->batch);
	return rc;
}

/*
 * The job that R is another run of, or NULL and a name for a new one. Ids come again: of other
 * clusters, and where Slurm begins to count again.
 */
static enum auc_code find_run(struct import *im, const struct import_record *r,
			      struct import_job **job, struct auc_err *err)
{
	char name[3 * AUC_NAME_MAX], cluster[AUC_NAME_MAX + 1] = "";
	unsigned before, id, k;
	enum auc_code rc;

	if (!*im->cluster)
		snprintf(im->cluster, sizeof(im->cluster), "%s", r->cluster);
	if (*r->cluster && strcmp(r->cluster, im->cluster) != 0)
		snprintf(cluster, sizeof(cluster), "%.*s:", AUC_NAME_MAX - 1, r->cluster);
	for (k = 1; k <= REUSES; k++) {
		snprintf(name, sizeof(name), k > 1 ? "%s%s#%u" : "%s%s", cluster, r->id, k);
		*job = NULL;
		before = im->ids.n;
		rc = import_name(&im->ids, name, &id, err);
		if (rc != AUC_OK || id == before)
			return rc;
		if (im->unique_ids)
			return auc_err_set(err, AUC_EEXIST, "job %s is there twice", r->id);
		*job = &im->jobs[id];
		if (same_job(*job, r))
			return AUC_OK;
	}
	return AUC_OK; /* more is no use of ids: runs of the last */
}

/* One record of a job twice, as logs of two months have it; or the run before or after. */
static bool same_job(const struct import_job *j, const struct import_record *r)
{
	double order = j->start - r->start;

	if (!(order < 0 || order > 0))
		order = j->start < 0 ? j->submit - r->submit : 0;
	if (order < 0)
		return j->again;
	return order > 0 ? r->again : j->submit >= r->submit && j->submit <= r->submit;
}

static unsigned marks_of(const struct import_record *r)
{
	return (unsigned)(r->state == IMPORT_RUNNING) << IMPORT_RAN |
	       (unsigned)(r->state == IMPORT_ENDED) << IMPORT_NOT_COMPLETED |
	       (unsigned)(r->suspended > 0) << IMPORT_SUSPENDED |
	       (unsigned)r->array << IMPORT_ARRAY | (unsigned)r->het << IMPORT_HET |
	       (unsigned)r->odd_time << IMPORT_ODD_TIME;
}

/* The types of GPUs of the node called NAME: the job had one of them. */
static uint64_t node_kinds(const struct import *im, const char *name)
{
	uint64_t kinds = 0;
	unsigned i, k;

	if (!*name || !import_find(&im->node_names, name, &i))
		return 0;
	for (k = 0; k < im->nodes[i].ngpus; k++)
		kinds |= UINT64_C(1) << im->nodes[i].gpus[k].kind;
	return kinds;
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

void import_clear(struct import *im)
{
	names_clear(&im->kinds);
	names_clear(&im->models);
	names_clear(&im->profile_kinds);
	names_clear(&im->node_names);
	names_clear(&im->ids);
	names_clear(&im->users);
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
