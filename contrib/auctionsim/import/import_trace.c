/*
 * import_trace.c - see import-private.h: tables with a header and commas: the jobs of public
 * traces, node files and training profiles; and which format a file has.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "auctionsim/import/import-private.h"
#include "base/list.h"

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
};

enum { NODE_NAME, NODE_GPUS, NODE_TYPE, NODE_CPUS, NODE_MEM, NODE_COLUMNS };

static const struct import_column node_columns[] = {
	[NODE_NAME] = {"node", true},      [NODE_GPUS] = {"gpus", true},
	[NODE_TYPE] = {"gpu_type", false}, [NODE_CPUS] = {"cpus", false},
	[NODE_MEM] = {"mem_mb", false},
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

static enum auc_code read_table(struct import *im, struct import_text *t,
				const struct import_column *columns, unsigned ncolumns,
				enum auc_code (*read)(struct import *im,
						      const struct import_table *tb,
						      struct auc_err *err),
				struct auc_err *err);
static enum auc_code read_job(struct import *im, const struct import_table *tb,
			      struct auc_err *err);
static enum auc_code read_state(const struct import_table *tb, enum import_state *state,
				struct auc_err *err);
static enum auc_code read_kinds(struct import *im, const struct import_table *tb, uint32_t *kinds,
				struct auc_err *err);
static enum auc_code read_node(struct import *im, const struct import_table *tb,
			       struct auc_err *err);
static enum auc_code read_profile(struct import *im, const struct import_table *tb,
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
	rc = import_line(t, &line, err);
	if (rc != AUC_OK)
		return rc;
	t->again = line != NULL;
	return line && strchr(line, '|') ? import_read_sacct(im, t, err)
					 : import_read_trace(im, t, err);
}

enum auc_code import_read_trace(struct import *im, struct import_text *t, struct auc_err *err)
{
	im->unique_ids = true;
	return read_table(im, t, trace_columns, TRACE_COLUMNS, read_job, err);
}

enum auc_code import_read_nodes(struct import *im, struct import_text *t, struct auc_err *err)
{
	enum auc_code rc;
	char *line;

	rc = import_line(t, &line, err);
	if (rc != AUC_OK)
		return rc;
	t->again = line != NULL;
	if (line && !strncmp(line, "NodeName=", strlen("NodeName=")))
		return import_read_scontrol(im, t, err);
	return read_table(im, t, node_columns, NODE_COLUMNS, read_node, err);
}

enum auc_code import_read_profiles(struct import *im, struct import_text *t, struct auc_err *err)
{
	return read_table(im, t, profile_columns, PROFILE_COLUMNS, read_profile, err);
}

static enum auc_code read_table(struct import *im, struct import_text *t,
				const struct import_column *columns, unsigned ncolumns,
				enum auc_code (*read)(struct import *im,
						      const struct import_table *tb,
						      struct auc_err *err),
				struct auc_err *err)
{
	struct import_table tb;
	enum auc_code rc;
	bool more;

	rc = import_table_open(&tb, t, ',', columns, ncolumns, err);
	while (rc == AUC_OK) {
		rc = import_table_next(&tb, &more, err);
		if (rc != AUC_OK || !more)
			break;
		rc = read(im, &tb, err);
	}
	return rc;
}

static enum auc_code read_job(struct import *im, const struct import_table *tb, struct auc_err *err)
{
	struct import_record r = {.id = import_field(tb, TRACE_ID),
				  .submit = -1,
				  .start = -1,
				  .duration = -1,
				  .node = "",
				  .model = import_field(tb, TRACE_MODEL),
				  .queue = import_field(tb, TRACE_QUEUE),
				  .deadline = -1};
	double deadline = -1;
	enum auc_code rc;

	if (!import_id_valid(r.id))
		return import_field_expected(tb, TRACE_ID, err, "a job's id");
	rc = import_field_number(tb, TRACE_SUBMIT, 0, IMPORT_TIME_MAX, &r.submit, err);
	if (rc == AUC_OK && r.submit < 0)
		return import_field_expected(tb, TRACE_SUBMIT, err, "a number of seconds");
	if (rc == AUC_OK)
		rc = import_field_number(tb, TRACE_DURATION, 0, IMPORT_TIME_MAX, &r.duration, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, TRACE_GPUS, 0, IMPORT_GPUS_MAX, &r.gpus, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, TRACE_DEADLINE, 0, IMPORT_TIME_MAX, &deadline, err);
	if (rc == AUC_OK)
		rc = read_state(tb, &r.state, err);
	if (rc == AUC_OK)
		rc = read_kinds(im, tb, &r.kinds, err);
	if (rc != AUC_OK)
		return rc;
	if (deadline >= 0)
		r.deadline = deadline > r.submit ? deadline - r.submit : 0;
	if (r.duration < 0)
		r.state = IMPORT_PENDING;
	rc = import_add(im, &r, err);
	return rc == AUC_EEXIST ? import_field_expected(tb, TRACE_ID, err, "each job once") : rc;
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
static enum auc_code read_kinds(struct import *im, const struct import_table *tb, uint32_t *kinds,
				struct auc_err *err)
{
	const char *text = import_field(tb, TRACE_TYPE);
	char name[AUC_NAME_MAX];
	enum auc_code rc = AUC_OK;
	unsigned kind;
	size_t len;

	while (*text && rc == AUC_OK) {
		len = strcspn(text, "|");
		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : 0), text);
		rc = read_kind(im, tb, TRACE_TYPE, *name ? name : "?", &kind, err);
		if (rc == AUC_OK)
			*kinds |= UINT32_C(1) << kind;
		text += len + (text[len] == '|');
	}
	return rc;
}

static enum auc_code read_node(struct import *im, const struct import_table *tb,
			       struct auc_err *err)
{
	struct import_node n = {.cpus = -1, .mem_mb = -1};
	const char *name = import_field(tb, NODE_NAME);
	enum auc_code rc;
	double gpus = 0;

	if (!auc_name_valid(name))
		return import_field_expected(tb, NODE_NAME, err, "a node's name");
	snprintf(n.name, sizeof(n.name), "%s", name);
	rc = import_field_number(tb, NODE_GPUS, 0, IMPORT_GPUS_MAX, &gpus, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, NODE_CPUS, 1, 1e9, &n.cpus, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, NODE_MEM, 1, 1e12, &n.mem_mb, err);
	if (rc == AUC_OK && gpus != floor(gpus))
		return import_field_expected(tb, NODE_GPUS, err, "a whole number");
	if (rc == AUC_OK && gpus > 0) {
		n.ngpus = 1;
		n.gpus[0].count = gpus;
		rc = read_kind(im, tb, NODE_TYPE, import_field(tb, NODE_TYPE), &n.gpus[0].kind,
			       err);
	}
	if (rc == AUC_OK)
		rc = import_add_node(im, &n, err);
	return rc == AUC_EEXIST ? import_field_expected(tb, NODE_NAME, err, "each node once") : rc;
}

/* A row without a speed has the size of the gradients only. */
static enum auc_code read_profile(struct import *im, const struct import_table *tb,
				  struct auc_err *err)
{
	struct import_profile p = {.workers = 1, .gradient_mb = -1};
	enum auc_code rc;

	if (!*import_field(tb, PROFILE_MODEL))
		return import_field_expected(tb, PROFILE_MODEL, err, "a name");
	rc = import_field_number(tb, PROFILE_WORKERS, 1, IMPORT_GPUS_MAX, &p.workers, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, PROFILE_BATCH, 0, 1e12, &p.batch, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, PROFILE_STEPS, 1e-9, 1e9, &p.steps_per_s, err);
	if (rc == AUC_OK)
		rc = import_field_number(tb, PROFILE_GRADIENT, 0, 1e9, &p.gradient_mb, err);
	if (rc == AUC_OK)
		rc = import_name(&im->models, import_field(tb, PROFILE_MODEL), &p.model, err);
	if (rc == AUC_OK)
		rc = import_name(&im->profile_kinds, import_field(tb, PROFILE_TYPE), &p.kind, err);
	return rc == AUC_OK ? import_add_profile(im, &p, err) : rc;
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
