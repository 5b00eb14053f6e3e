/*
 * import_trace.c - see import-private.h: tables with a header and commas: the jobs of public
 * traces, node files and training profiles; and which format a file has.
 */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "auctionsim/import/import-private.h"
#include "base/list.h"
#include "input/conf.h"

enum {
	TRACE_ID,
	TRACE_SUBMIT,
	TRACE_DURATION,
	TRACE_GPUS,
	TRACE_TYPE,
	TRACE_STATUS,
	TRACE_QUEUE,
	TRACE_MODEL,
	TRACE_DEADLINE,
	TRACE_USER,
	TRACE_LIMIT,
	TRACE_COLUMNS
};

static const struct import_column trace_columns[] = {
	[TRACE_ID] = {"job_id", true},
	[TRACE_SUBMIT] = {"submit_s", true},
	[TRACE_DURATION] = {"duration_s", true},
	[TRACE_GPUS] = {"gpus", true},
	[TRACE_TYPE] = {"gpu_type", false},
	[TRACE_STATUS] = {"status", false},
	[TRACE_QUEUE] = {"queue", false},
	[TRACE_MODEL] = {"model", false},
	[TRACE_DEADLINE] = {"deadline_s", false},
	[TRACE_USER] = {"user", false},
	[TRACE_LIMIT] = {"limit_s", false},
};

enum { NODE_NAME, NODE_GPUS, NODE_TYPE, NODE_CPUS, NODE_MEM, NODE_PARTITION, NODE_COLUMNS };

static const struct import_column node_columns[] = {
	[NODE_NAME] = {"node", true},      [NODE_GPUS] = {"gpus", true},
	[NODE_TYPE] = {"gpu_type", false}, [NODE_CPUS] = {"cpus", false},
	[NODE_MEM] = {"mem_mb", false},    [NODE_PARTITION] = {"partition", false},
};

enum {
	PROFILE_MODEL,
	PROFILE_TYPE,
	PROFILE_WORKERS,
	PROFILE_BATCH,
	PROFILE_STEPS,
	PROFILE_GRADIENT,
	PROFILE_COLUMNS
};

static const struct import_column profile_columns[] = {
	[PROFILE_MODEL] = {"model", true},       [PROFILE_TYPE] = {"gpu_type", true},
	[PROFILE_WORKERS] = {"workers", true},   [PROFILE_BATCH] = {"batch_size", false},
	[PROFILE_STEPS] = {"steps_per_s", true}, [PROFILE_GRADIENT] = {"gradient_mb", false},
};

/* Reads a row; one with a FAULT, or that has one, is skipped and counted. AUC_ENOMEM. */
typedef enum auc_code read_row(struct import *im, const struct import_table *tb,
			       struct auc_err *fault, struct auc_err *err);

static read_row read_job, read_node, read_profile;
static enum auc_code read_table(struct import *im, struct import_table *tb, read_row *read,
				struct auc_err *err);
static enum auc_code job_values(struct import *im, const struct import_table *tb,
				struct import_record *r, struct auc_err *err);
static enum auc_code node_values(struct import *im, const struct import_table *tb,
				 struct import_node *n, struct auc_err *err);
static bool find_partition(const struct import *im, const struct import_table *tb,
			   struct import_node *n, struct auc_err *err);
static enum auc_code profile_values(struct import *im, const struct import_table *tb,
				    struct import_profile *p, struct auc_err *err);
static enum auc_code read_state(const struct import_table *tb, enum import_state *state,
				struct auc_err *err);
static enum auc_code read_kinds(struct import *im, const struct import_table *tb, uint64_t *kinds,
				struct auc_err *err);
static enum auc_code read_kind(struct import *im, const struct import_table *tb, unsigned column,
			       const char *name, unsigned *kind, struct auc_err *err);

/* What begins with a brace is JSON; the header of sacct -P has bars. */
enum auc_code import_read_jobs(struct import *im, struct import_text *t, struct auc_err *err)
{
	enum auc_code rc;
	char *line;

	if (import_peek(t) == '{')
		return import_read_json(im, t, err);
	if (import_peek(t) == '[')
		return import_expected(t, t->line, t->column, NULL, err,
				       "the output of sacct --json whole, not its list of jobs, "
				       "or that of sacct -P");
	rc = import_line(t, &line, err);
	if (rc != AUC_OK)
		return rc;
	t->again = line != NULL;
	if (line && !strncmp(line, "sacct: ", 7))
		return import_expected(t, t->at, 1, line, err,
				       "what sacct prints, without its warnings and errors (2>&1)");
	if (!line || !strchr(line, '|'))
		return line && strcasestr(line, "JobID")
			       ? import_expected(
					 t, t->at, 1, line, err,
					 "fields with | between them: use sacct -P "
					 "(--parsable2) without --delimiter, or sacct --json")
			       : import_read_trace(im, t, err);
	if (isdigit((unsigned char)*line))
		return import_expected(t, t->at, 1, line, err,
				       "a header: use sacct without -n (--noheader)");
	return import_read_sacct(im, t, err);
}

enum auc_code import_read_trace(struct import *im, struct import_text *t, struct auc_err *err)
{
	struct import_table tb = {.text = t,
				  .separator = ',',
				  .columns = trace_columns,
				  .ncolumns = TRACE_COLUMNS,
				  .hint = ", or the output of sacct -P or sacct --json"};

	im->unique_ids = true;
	return read_table(im, &tb, read_job, err);
}

enum auc_code import_read_nodes(struct import *im, struct import_text *t, struct auc_err *err)
{
	struct import_table tb = {.text = t,
				  .separator = ',',
				  .columns = node_columns,
				  .ncolumns = NODE_COLUMNS,
				  .hint = ", or the output of scontrol -o show node"};
	enum auc_code rc;
	char *line;

	rc = import_line(t, &line, err);
	if (rc != AUC_OK)
		return rc;
	t->again = line != NULL;
	if (line && *line == '{')
		return import_expected(t, t->at, 1, NULL, err,
				       "a line for each node: use scontrol -o show node, without "
				       "--json");
	if (line && !strncmp(line, "NodeName=", strlen("NodeName=")))
		return import_read_scontrol(im, t, err);
	return read_table(im, &tb, read_node, err);
}

enum auc_code import_read_profiles(struct import *im, struct import_text *t, struct auc_err *err)
{
	struct import_table tb = {.text = t,
				  .separator = ',',
				  .columns = profile_columns,
				  .ncolumns = PROFILE_COLUMNS,
				  .hint = ""};

	return read_table(im, &tb, read_profile, err);
}

static enum auc_code read_table(struct import *im, struct import_table *tb, read_row *read,
				struct auc_err *err)
{
	struct auc_err fault;
	enum auc_code rc;
	bool more;

	rc = import_table_open(tb, err);
	while (rc == AUC_OK) {
		fault.code = AUC_OK;
		rc = import_table_next(tb, &more, &fault, err);
		if (rc != AUC_OK || !more)
			break;
		rc = read(im, tb, &fault, err);
	}
	return rc;
}

static enum auc_code read_job(struct import *im, const struct import_table *tb,
			      struct auc_err *fault, struct auc_err *err)
{
	struct import_record r = {.id = "?",
				  .cluster = "",
				  .submit = -1,
				  .start = -1,
				  .end = -1,
				  .duration = -1,
				  .deadline = -1,
				  .node = "",
				  .model = "",
				  .queue = ""};
	enum auc_code rc = fault->code;

	if (rc == AUC_OK) {
		r.id = import_field(tb, TRACE_ID);
		r.model = import_field(tb, TRACE_MODEL);
		r.queue = import_field(tb, TRACE_QUEUE);
		r.user = import_field(tb, TRACE_USER);
		rc = job_values(im, tb, &r, fault);
	}
	if (rc == AUC_EINVAL)
		r.fault = *fault;
	else if (rc != AUC_OK)
		return auc_err_set(err, rc, "%s", fault->text);
	rc = import_add(im, &r, fault);
	if (rc != AUC_EEXIST)
		return rc == AUC_OK ? rc : auc_err_set(err, rc, "%s", fault->text);
	import_field_expected(tb, TRACE_ID, &r.fault, "each job once");
	import_add_odd(im, r.id, r.gpus * r.duration, &r.fault);
	return AUC_OK;
}

static enum auc_code job_values(struct import *im, const struct import_table *tb,
				struct import_record *r, struct auc_err *err)
{
	double deadline = -1;
	enum auc_code rc;

	/* First what the GPU time is made of. */
	rc = import_field_number(tb, TRACE_DURATION, 0, IMPORT_TIME_MAX, &r->duration, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, TRACE_GPUS, 0, IMPORT_GPUS_MAX, &r->gpus, err);
	if (rc == AUC_OK && !import_id_valid(r->id))
		return import_field_expected(tb, TRACE_ID, err, "a job's id");
	if (rc == AUC_OK)
		rc = import_field_number(tb, TRACE_SUBMIT, 0, IMPORT_TIME_MAX, &r->submit, err);
	if (rc == AUC_OK && r->submit < 0)
		return import_field_expected(tb, TRACE_SUBMIT, err, "a number of seconds");
	if (rc == AUC_OK)
		rc = import_field_number(tb, TRACE_DEADLINE, 0, IMPORT_TIME_MAX, &deadline, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, TRACE_LIMIT, 0, IMPORT_TIME_MAX, &r->limit, err);
	if (rc == AUC_OK)
		rc = read_state(tb, &r->state, err);
	if (rc == AUC_OK)
		rc = read_kinds(im, tb, &r->kinds, err);
	if (deadline >= 0)
		r->deadline = deadline > r->submit ? deadline - r->submit : 0;
	if (r->duration < 0)
		r->state = IMPORT_PENDING;
	return rc;
}

/* Not published: completed, as far as anybody knows. */
static enum auc_code read_state(const struct import_table *tb, enum import_state *state,
				struct auc_err *err)
{
	const char *text = import_field(tb, TRACE_STATUS);

	if (!*text || !strcmp(text, "completed"))
		*state = IMPORT_COMPLETED;
	else if (!strcmp(text, "failed") || !strcmp(text, "cancelled"))
		*state = IMPORT_ENDED;
	else
		return import_field_expected(tb, TRACE_STATUS, err,
					     "completed, failed, cancelled or nothing");
	return AUC_OK;
}

/* "T4|P100": any of them. */
static enum auc_code read_kinds(struct import *im, const struct import_table *tb, uint64_t *kinds,
				struct auc_err *err)
{
	const char *text = import_field(tb, TRACE_TYPE);
	char name[IMPORT_KIND_BYTES];
	enum auc_code rc = AUC_OK;
	unsigned kind;
	size_t len;

	while (*text && rc == AUC_OK) {
		len = strcspn(text, "|");
		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : 0), text);
		rc = read_kind(im, tb, TRACE_TYPE, *name ? name : "?", &kind, err);
		if (rc == AUC_OK)
			*kinds |= UINT64_C(1) << kind;
		text += len + (text[len] == '|');
	}
	return rc;
}

static enum auc_code read_node(struct import *im, const struct import_table *tb,
			       struct auc_err *fault, struct auc_err *err)
{
	struct import_node n = {.cpus = -1, .mem_mb = -1};
	enum auc_code rc = fault->code;

	if (rc == AUC_OK)
		rc = node_values(im, tb, &n, fault);
	if (rc == AUC_OK && !find_partition(im, tb, &n, fault))
		return fault->code == AUC_OK ? AUC_OK
					     : auc_err_set(err, fault->code, "%s", fault->text);
	if (rc == AUC_OK)
		rc = import_add_node(im, &n, fault);
	if (rc == AUC_EEXIST)
		rc = import_field_expected(tb, NODE_NAME, fault, "each node once");
	if (rc != AUC_EINVAL)
		return rc == AUC_OK ? rc : auc_err_set(err, rc, "%s", fault->text);
	import_add_odd_node(im, &n, fault);
	return AUC_OK;
}

static enum auc_code node_values(struct import *im, const struct import_table *tb,
				 struct import_node *n, struct auc_err *err)
{
	const char *name = import_field(tb, NODE_NAME);
	enum auc_code rc;
	unsigned kind = 0;
	double gpus = 0;

	if (!auc_name_valid(name))
		return import_field_expected(tb, NODE_NAME, err, "a node's name");
	snprintf(n->name, sizeof(n->name), "%s", name);
	rc = import_field_number(tb, NODE_GPUS, 0, IMPORT_GPUS_MAX, &gpus, err);
	if (rc == AUC_OK && gpus != floor(gpus))
		return import_field_expected(tb, NODE_GPUS, err, "a whole number");
	if (rc == AUC_OK && gpus > 0)
		rc = read_kind(im, tb, NODE_TYPE, import_field(tb, NODE_TYPE), &kind, err);
	if (rc == AUC_OK && gpus > 0)
		import_node_gpus(n, kind, gpus);
	if (rc == AUC_OK)
		rc = import_field_number(tb, NODE_CPUS, 1, 1e9, &n->cpus, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, NODE_MEM, 1, 1e12, &n->mem_mb, err);
	return rc;
}

/* Which partition sells N: the one of its column, else the only one of auction.conf. False: none,
 * or AUC_EINVAL: what its nodes cost would not be known. */
static bool find_partition(const struct import *im, const struct import_table *tb,
			   struct import_node *n, struct auc_err *err)
{
	const struct auc_conf *conf = im->conf;

	if (!conf)
		return true;
	if (tb->at[NODE_PARTITION]) {
		n->partition = auc_conf_partition(conf, import_field(tb, NODE_PARTITION));
		return n->partition;
	}
	for (unsigned i = 0; i < conf->npartitions && conf->npartitions > 1; i++)
		if (conf->partitions[i].ncost) {
			import_expected(tb->text, tb->text->at, 1, NULL, err,
					"a column partition: auction.conf has a Cost for %s",
					conf->partitions[i].name);
			return false;
		}
	n->partition = conf->npartitions == 1 ? conf->partitions : NULL;
	return true;
}

/* Profiles are written for this program: one that is wrong is an error. */
static enum auc_code read_profile(struct import *im, const struct import_table *tb,
				  struct auc_err *fault, struct auc_err *err)
{
	struct import_profile p = {.workers = 1, .gradient_mb = -1};
	enum auc_code rc;

	if (fault->code)
		return auc_err_set(err, fault->code, "%s", fault->text);
	rc = profile_values(im, tb, &p, err);
	return rc == AUC_OK ? import_add_profile(im, &p, err) : rc;
}

/* A row without a speed has the size of the gradients only. */
static enum auc_code profile_values(struct import *im, const struct import_table *tb,
				    struct import_profile *p, struct auc_err *err)
{
	enum auc_code rc;

	if (!*import_field(tb, PROFILE_MODEL))
		return import_field_expected(tb, PROFILE_MODEL, err, "a name");
	rc = import_field_number(tb, PROFILE_WORKERS, 1, IMPORT_GPUS_MAX, &p->workers, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, PROFILE_BATCH, 0, 1e12, &p->batch, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, PROFILE_STEPS, 1e-9, 1e9, &p->steps_per_s, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, PROFILE_GRADIENT, 0, 1e9, &p->gradient_mb, err);
	if (rc == AUC_OK)
		rc = import_name(&im->models, import_field(tb, PROFILE_MODEL), &p->model, err);
	if (rc == AUC_OK)
		rc = import_profile_kind(im, import_field(tb, PROFILE_TYPE), &p->kind, err);
	return rc;
}

static enum auc_code read_kind(struct import *im, const struct import_table *tb, unsigned column,
			       const char *name, unsigned *kind, struct auc_err *err)
{
	enum auc_code rc = import_kind(im, name, kind, err);

	if (rc != AUC_EINVAL)
		return rc;
	return import_field_expected(
		tb, column, err,
		"one of at most %d types of GPUs, named by letters, digits and "
		"._:/+-",
		IMPORT_KINDS_MAX);
}
