/*
 * scenario_job.c - the jobs of a scenario and what they are worth.
 */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <xxhash.h>

#include "input/bid.h"
#include "auctionsim/scenario/scenario-private.h"
#include "base/list.h"
#include "policy/time_range.h"

#define MB_MAX        1e12
#define TRUE_TIME_MAX 1e6

static enum auc_code read_own_workers(struct reader *r, struct json_object *v,
				      const struct field *f, void *target);
static enum auc_code read_own_ps(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_worker_seconds(struct reader *r, struct json_object *v,
					 const struct field *f, void *target);
static enum auc_code read_ps_seconds(struct reader *r, struct json_object *v, const struct field *f,
				     void *target);
static enum auc_code read_upload(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_data(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_user(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_utility(struct reader *r, struct json_object *v, const struct field *f,
				  void *target);
static enum auc_code read_form(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_points(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code read_pairs(struct reader *r, struct json_object *v, double max, bool whole,
				const char *what, const struct names *first,
				const struct names *second, unsigned *n,
				struct scenario_pair **list);
static enum auc_code read_gang(struct reader *r, struct json_object *v, const struct field *f,
			       void *target);
static enum auc_code read_shape(struct reader *r, struct json_object *v, void *element);
static enum auc_code read_per_node(struct reader *r, struct json_object *v, const struct field *f,
				   void *target);
static enum auc_code read_within(struct reader *r, struct json_object *v, const struct field *f,
				 void *target);
static enum auc_code check_job(struct reader *r, const struct scenario_job *j);
static enum auc_code check_gang(struct reader *r, const struct scenario_job *j);

static const struct field job_fields[] = {
	{"id", field_text, offsetof(struct scenario_job, id), 0, 0, true},
	{"user", read_user, 0, 0, 0, false},
	{"arrival", field_count, offsetof(struct scenario_job, arrival), 1, SLOT_MAX, true},
	{"utility", read_utility, 0, 0, 0, false},
	{"epochs", field_count, offsetof(struct scenario_job, epochs), 1, AUC_WORK_MAX, false},
	{"chunks", field_count, offsetof(struct scenario_job, chunks), 1, AUC_WORK_MAX, false},
	{"minibatches", field_count, offsetof(struct scenario_job, minibatches), 1, AUC_WORK_MAX,
	 false},
	{"gradient_mb", field_number, offsetof(struct scenario_job, gradient_mb), 0, MB_MAX, false},
	{"worker_types", read_own_workers, 0, 0, 0, false},
	{"ps_types", read_own_ps, 0, 0, 0, false},
	{"worker_seconds", read_worker_seconds, 0, 0, SECONDS_MAX, false},
	{"ps_seconds", read_ps_seconds, 0, 0, SECONDS_MAX, false},
	{"upload_slots", read_upload, 0, 0, AUC_WAIT_MAX, false},
	{"upload_default", field_number, offsetof(struct scenario_job, upload_default), 0,
	 AUC_WAIT_MAX, false},
	{"data_chunks", read_data, 0, 0, AUC_WORK_MAX, false},
	{"chunk_mb", field_number, offsetof(struct scenario_job, chunk_mb), 0, MB_MAX, false},
	{"exchange_mb_per_slot", field_number, offsetof(struct scenario_job, exchange_mb_per_slot),
	 0, MB_MAX, false},
	{"chunks_per_slot", field_positive, offsetof(struct scenario_job, chunks_per_slot), 0,
	 AUC_WORK_MAX, false},
	{"workers", field_count, offsetof(struct scenario_job, workers), 1, AUC_WORK_MAX, false},
	{"ps", field_count, offsetof(struct scenario_job, ps), 1, AUC_WORK_MAX, false},
	{"compute_seconds_per_epoch", field_number,
	 offsetof(struct scenario_job, compute_seconds_per_epoch), 0, SECONDS_MAX, false},
	{"budget", field_number, offsetof(struct scenario_job, budget), 0, AUC_VALUE_MAX, false},
	{"guaranteed", field_bool, offsetof(struct scenario_job, guaranteed), 0, 0, false},
	{"true_time", field_positive, offsetof(struct scenario_job, true_time), 0, TRUE_TIME_MAX,
	 false},
	{"time_max", field_number, offsetof(struct scenario_job, time_max), 1, AUC_RANGE_MOST,
	 false},
	{"stands", field_count, offsetof(struct scenario_job, stands), 0, SLOT_MAX, false},
	{"gang", read_gang, 0, 0, 0, false},
	{"gang_within", read_within, offsetof(struct scenario_job, within_switch), 0, 0, false},
};

static const struct field shape_fields[] = {
	{"per_node", read_per_node, 0, 0, SCENARIO_AMOUNT_MAX, true},
	{"nodes", field_count, offsetof(struct scenario_shape, nodes), 1, UINT32_MAX, true},
	{"seconds", field_positive, offsetof(struct scenario_shape, seconds), 0, SECONDS_MAX, true},
};

/* Utilities: "form" and the keys of that form. */
#define FORM                                                                                       \
	{                                                                                          \
		"form", read_form, 0, 0, 0, true                                                   \
	}
#define SCALE(key)                                                                                 \
	{                                                                                          \
		key, field_number, offsetof(struct auc_utility, scale), 0, AUC_VALUE_MAX, true     \
	}
#define RATE(key)                                                                                  \
	{                                                                                          \
		key, field_number, offsetof(struct auc_utility, decay), 0, AUC_VALUE_MAX, true     \
	}
#define TIME(key, is)                                                                              \
	{                                                                                          \
		key, field_number, offsetof(struct auc_utility, target), 0, AUC_WAIT_MAX, is       \
	}
#define COUNT(list) list, sizeof(list) / sizeof((list)[0])
static const struct field sigmoid_fields[] = {FORM, SCALE("scale"), RATE("decay"),
					      TIME("target", false)};
static const struct field linear_fields[] = {FORM, SCALE("intercept"), RATE("slope")};
static const struct field scale_fields[] = {FORM, SCALE("scale")};
static const struct field deadline_fields[] = {FORM, SCALE("scale"), TIME("deadline", true)};
static const struct field table_fields[] = {FORM, {"points", read_points, 0, 0, 0, true}};
static const struct {
	const struct field *fields;
	unsigned nfields;
} utility_forms[] = {
	[AUC_FORM_CONSTANT] = {COUNT(scale_fields)},
	[AUC_FORM_SIGMOID] = {COUNT(sigmoid_fields)},
	[AUC_FORM_LINEAR] = {COUNT(linear_fields)},
	[AUC_FORM_INVERSE] = {COUNT(scale_fields)},
	[AUC_FORM_DEADLINE] = {COUNT(deadline_fields)},
	[AUC_FORM_TABLE] = {COUNT(table_fields)},
};

enum auc_code scenario_read_job(struct reader *r, struct json_object *v, void *element)
{
	struct scenario_job *j = element;
	struct known *known = r->user;
	enum auc_code rc;
	unsigned other;

	scenario_names_clear(&known->own_workers);
	scenario_names_clear(&known->own_ps);
	if (!scenario_names_init(&known->own_workers) || !scenario_names_init(&known->own_ps))
		return reader_fail(r, AUC_ENOMEM, "no memory");
	j->gradient_mb = j->exchange_mb_per_slot = j->chunks_per_slot = -1;
	j->compute_seconds_per_epoch = j->budget = -1;
	j->chunk_mb = 2;
	j->guaranteed = true;
	j->share = 1;
	rc = FIELDS_READ(r, v, job_fields, j);
	if (rc != AUC_OK)
		return rc;
	rc = check_job(r, j);
	if (rc != AUC_OK)
		return rc;
	known->s->has_true_times |= j->true_time > 0;
	known->s->has_stands |= j->stands > 0;
	if (!(j->true_time > 0))
		j->true_time = 1;
	reader_enter_key(r, "id");
	if (scenario_names_find(&known->jobs, j->id, &other))
		return reader_fail(r, AUC_EINVAL,
				   "expected an id of its own, found '%.80s' a second time", j->id);
	if (!scenario_names_add(&known->jobs, j->id, 0))
		return reader_fail(r, AUC_ENOMEM, "no memory");
	return AUC_OK;
}

static enum auc_code read_user(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct scenario_job *j = target;
	struct known *known = r->user;
	char *name = NULL;
	enum auc_code rc = field_text(r, v, f, &name);

	if (rc == AUC_OK)
		j->user = (unsigned)XXH3_64bits(name, strlen(name)) | 1;
	for (unsigned i = 0; rc == AUC_OK && i < known->s->nbudgets; i++)
		if (!strcmp(known->s->budgets[i].name, name))
			j->purse = i + 1;
	free(name);
	return rc;
}

static enum auc_code check_job(struct reader *r, const struct scenario_job *j)
{
	double sum = 0;
	unsigned i;

	if (j->ngang || j->within_switch)
		return check_gang(r, j);
	if (!j->ndata)
		return AUC_OK;
	for (i = 0; i < j->ndata; i++)
		sum += j->data[i].value;
	if (sum == (double)j->chunks)
		return AUC_OK;
	reader_enter_key(r, "data_chunks");
	return reader_fail(r, AUC_EINVAL, "expected %llu chunks in all, found %.15g",
			   (unsigned long long)j->chunks, sum);
}

/* What a gang has in place of, it does not have beside it. */
static enum auc_code check_gang(struct reader *r, const struct scenario_job *j)
{
	const struct {
		const char *key;
		bool there;
	} others[] = {
		{"epochs", j->epochs},
		{"chunks", j->chunks},
		{"minibatches", j->minibatches},
		{"gradient_mb", j->gradient_mb >= 0},
		{"worker_seconds", j->has_worker_seconds},
		{"ps_seconds", j->has_ps_seconds},
		{"worker_types", j->nworker_types},
		{"ps_types", j->nps_types},
		{"data_chunks", j->ndata},
		{"exchange_mb_per_slot", j->exchange_mb_per_slot >= 0},
		{"chunks_per_slot", j->chunks_per_slot >= 0},
		{"workers", j->workers},
		{"ps", j->ps},
	};

	if (!j->ngang) {
		reader_enter_key(r, "gang_within");
		return reader_fail(r, AUC_EINVAL, "expected only in a job with gang");
	}
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].there) {
			reader_enter_key(r, others[i].key);
			return reader_fail(r, AUC_EINVAL,
					   "expected no such key in a job with gang");
		}
	return AUC_OK;
}

static enum auc_code read_gang(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct scenario_job *j = target;

	(void)f;
	if (!json_object_is_type(v, json_type_array) || !json_object_array_length(v) ||
	    json_object_array_length(v) > AUC_SHAPES_MAX)
		return reader_expected(r, v, "an array of 1 to %d shapes", AUC_SHAPES_MAX);
	return read_array(r, v, sizeof(*j->gang), (void **)&j->gang, &j->ngang, read_shape);
}

static enum auc_code read_shape(struct reader *r, struct json_object *v, void *element)
{
	return FIELDS_READ(r, v, shape_fields, element);
}

static enum auc_code read_per_node(struct reader *r, struct json_object *v, const struct field *f,
				   void *target)
{
	struct scenario_shape *shape = target;
	struct known *known = r->user;
	enum auc_code rc =
		scenario_read_tres(r, v, f->min, f->max, &shape->nper_node, &shape->per_node);
	bool any = false;

	for (unsigned i = 0; i < shape->nper_node && rc == AUC_OK; i++) {
		any = any || shape->per_node[i].value > 0;
		if (!scenario_names_add(&known->tres, shape->per_node[i].name, 0))
			rc = reader_fail(r, AUC_ENOMEM, "no memory");
	}
	if (rc == AUC_OK && !any)
		rc = reader_fail(r, AUC_EINVAL, "expected an amount above 0");
	return rc;
}

static enum auc_code read_within(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	(void)f;
	if (!json_object_is_type(v, json_type_string) ||
	    strcmp(json_object_get_string(v), "switch") != 0)
		return reader_expected(r, v, "\"switch\"");
	*(bool *)target = true;
	return AUC_OK;
}

static enum auc_code read_own_workers(struct reader *r, struct json_object *v,
				      const struct field *f, void *target)
{
	struct scenario_job *j = target;
	struct known *known = r->user;

	(void)f;
	known->types = &known->own_workers;
	known->first_type = known->s->nworker_types;
	return read_array(r, v, sizeof(*j->worker_types), (void **)&j->worker_types,
			  &j->nworker_types, scenario_read_type);
}

static enum auc_code read_own_ps(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct scenario_job *j = target;
	struct known *known = r->user;

	(void)f;
	known->types = &known->own_ps;
	known->first_type = known->s->nps_types;
	return read_array(r, v, sizeof(*j->ps_types), (void **)&j->ps_types, &j->nps_types,
			  scenario_read_type);
}

static enum auc_code read_worker_seconds(struct reader *r, struct json_object *v,
					 const struct field *f, void *target)
{
	struct scenario_job *j = target;
	struct known *known = r->user;

	j->has_worker_seconds = true;
	return read_pairs(r, v, f->max, false, "worker type", &known->worker_types,
			  &known->own_workers, &j->nworker_seconds, &j->worker_seconds);
}

static enum auc_code read_ps_seconds(struct reader *r, struct json_object *v, const struct field *f,
				     void *target)
{
	struct scenario_job *j = target;
	struct known *known = r->user;

	j->has_ps_seconds = true;
	return read_pairs(r, v, f->max, false, "PS type", &known->ps_types, &known->own_ps,
			  &j->nps_seconds, &j->ps_seconds);
}

static enum auc_code read_upload(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct scenario_job *j = target;
	struct known *known = r->user;

	return read_pairs(r, v, f->max, false, "server", &known->servers, NULL, &j->nupload,
			  &j->upload);
}

static enum auc_code read_data(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	struct scenario_job *j = target;
	struct known *known = r->user;

	return read_pairs(r, v, f->max, true, "server", &known->servers, NULL, &j->ndata, &j->data);
}

static enum auc_code read_utility(struct reader *r, struct json_object *v, const struct field *f,
				  void *target)
{
	struct known *known = r->user;
	struct scenario_job *j = target;
	struct json_object *form;
	enum auc_code rc;
	double first;
	size_t mark;

	(void)f;
	if (!json_object_is_type(v, json_type_object) ||
	    !json_object_object_get_ex(v, "form", &form))
		return reader_expected(r, v, "an object with a form");
	mark = reader_enter_key(r, "form");
	rc = read_form(r, form, NULL, &j->utility);
	reader_leave(r, mark);
	if (rc == AUC_OK)
		rc = fields_read(r, v, utility_forms[j->utility.form].fields,
				 utility_forms[j->utility.form].nfields, &j->utility);
	if (rc != AUC_OK)
		return rc;
	j->has_utility = true;
	if (j->utility.form == AUC_FORM_INVERSE) {
		j->utility.target = (double)known->s->slots;
		first = auc_utility_value(&j->utility, 1);
		if (!(first <= AUC_VALUE_MAX))
			return reader_fail(
				r, AUC_EINVAL,
				"expected a value of at most %.15g after one slot, found %.15g",
				AUC_VALUE_MAX, first);
	}
	return auc_utility_check(&j->utility, r->path, r->err);
}

static enum auc_code read_form(struct reader *r, struct json_object *v, const struct field *f,
			       void *target)
{
	const char *text =
		json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
	struct auc_utility *u = target;
	int form;

	(void)f;
	for (form = AUC_FORM_CONSTANT; form <= AUC_FORM_TABLE; form++)
		if (!strcmp(text, auc_form_name((enum auc_form)form)))
			break;
	if (form > AUC_FORM_TABLE)
		return reader_expected(
			r, v,
			"\"sigmoid\", \"linear\", \"inverse\", \"constant\", \"deadline\" "
			"or \"table\"");
	u->form = (enum auc_form)form;
	return AUC_OK;
}

static enum auc_code read_points(struct reader *r, struct json_object *v, const struct field *f,
				 void *target)
{
	struct auc_utility *u = target;
	struct json_object *point;
	enum auc_code rc;
	size_t i, n, mark;
	double x, value;

	(void)f;
	n = json_object_is_type(v, json_type_array) ? json_object_array_length(v) : 0;
	if (!n || n > AUC_TABLE_MAX)
		return reader_expected(r, v, "an array of 1 to %d points [x, value]",
				       AUC_TABLE_MAX);
	for (i = 0; i < n; i++) {
		mark = reader_enter_index(r, i);
		point = json_object_array_get_idx(v, i);
		if (!json_object_is_type(point, json_type_array) ||
		    json_object_array_length(point) != 2)
			return reader_expected(r, point, "[x, value]");
		reader_enter_index(r, 0);
		rc = read_number(r, json_object_array_get_idx(point, 0), 0, AUC_WAIT_MAX, &x);
		if (rc == AUC_OK && i && !(x > u->points[i - 1].x))
			rc = reader_fail(r, AUC_EINVAL, "expected more than %.15g, found %.15g",
					 u->points[i - 1].x, x);
		if (rc != AUC_OK)
			return rc;
		reader_leave(r, mark);
		reader_enter_index(r, i);
		reader_enter_index(r, 1);
		rc = read_number(r, json_object_array_get_idx(point, 1), 0, AUC_VALUE_MAX, &value);
		if (rc == AUC_OK && i && !(value <= u->points[i - 1].value))
			rc = reader_fail(r, AUC_EINVAL,
					 "expected at most %.15g, for a utility never rises, "
					 "found %.15g",
					 u->points[i - 1].value, value);
		if (rc != AUC_OK)
			return rc;
		reader_leave(r, mark);
		u->points[i].x = x;
		u->points[i].value = value;
	}
	u->npoints = (unsigned)n;
	return AUC_OK;
}

/* An object of numbers by names of FIRST or SECOND (may be NULL). */
static enum auc_code read_pairs(struct reader *r, struct json_object *v, double max, bool whole,
				const char *what, const struct names *first,
				const struct names *second, unsigned *n,
				struct scenario_pair **list)
{
	enum auc_code rc = AUC_OK;
	struct scenario_pair *p;
	uint64_t count;
	size_t mark;

	if (!json_object_is_type(v, json_type_object))
		return reader_expected(r, v, "an object of numbers by %s", what);
	*list = calloc((size_t)json_object_object_length(v) + 1, sizeof(**list));
	if (!*list)
		return reader_fail(r, AUC_ENOMEM, "no memory");
	json_object_object_foreach(v, name, value)
	{
		if (rc != AUC_OK)
			break;
		mark = reader_enter_key(r, name);
		p = &(*list)[*n];
		if (!scenario_names_find(first, name, &p->index) &&
		    (!second || !scenario_names_find(second, name, &p->index)))
			rc = reader_fail(r, AUC_EINVAL,
					 "expected a %s of this scenario, found '%.80s'", what,
					 name);
		else if (whole) {
			rc = read_count(r, value, 0, (uint64_t)max, &count);
			p->value = rc == AUC_OK ? (double)count : 0;
		} else {
			rc = read_number(r, value, 0, max, &p->value);
		}
		if (rc == AUC_OK) {
			(*n)++;
			reader_leave(r, mark);
		}
	}
	return rc;
}

void scenario_job_clear(struct scenario_job *j)
{
	unsigned i;

	for (i = 0; i < j->nworker_types; i++)
		scenario_type_clear(&j->worker_types[i]);
	for (i = 0; i < j->nps_types; i++)
		scenario_type_clear(&j->ps_types[i]);
	free(j->worker_types);
	free(j->ps_types);
	free(j->worker_seconds);
	free(j->ps_seconds);
	free(j->upload);
	free(j->data);
	for (i = 0; i < j->ngang; i++)
		free(j->gang[i].per_node);
	free(j->gang);
	free(j->id);
}
