/*
 * import_json.c - see import-private.h: the output of "sacct --json", one job at a time: the file
 * may be larger than memory. Slurm's data parsers differ: a number is a number, null or {"set",
 * "infinite", "number"}; a state is a text or a list of texts. Either is taken wherever it stands,
 * and keys that are not needed are passed over.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "auctionsim/io/document.h"
#include "auctionsim/import/import-private.h"

#define VALUE_MAX (64UL << 20) /* bytes of one job */
#define DEPTH_MAX 1000         /* of a value's brackets; the parser takes less */
#define KEY_MAX   64

/* A JSON value as it stands in the file. */
struct piece {
	char *text;
	size_t len, alloc;
	unsigned long line;
};

static enum auc_code read_top(struct import *im, struct import_text *t, struct piece *p,
			      struct auc_err *err);
static enum auc_code read_list(struct import *im, struct import_text *t, struct piece *p,
			       struct auc_err *err);
static enum auc_code read_piece(struct import_text *t, struct piece *p, struct auc_err *err);
static enum auc_code keep_byte(struct import_text *t, struct piece *p, int c, struct auc_err *err);
static enum auc_code expect(struct import_text *t, int wanted, const char *what,
			    struct auc_err *err);
static enum auc_code parse_piece(const struct import_text *t, const struct piece *p,
				 const char *path, struct json_object **o, struct auc_err *err);
static enum auc_code read_job(struct import *im, struct import_text *t, struct json_object *o,
			      unsigned long index, struct auc_err *err);
static struct reader *next_part(struct reader *r, struct import_record *rec, size_t mark);
static enum auc_code read_id(struct reader *r, struct json_object *o, struct import_record *rec,
			     char *id, size_t size);
static void read_times(struct reader *r, struct json_object *o, struct import_record *rec);
static void read_time(struct reader *r, struct json_object *o, const char *key, double *time);
static enum auc_code read_state(struct reader *r, struct json_object *o, struct import_record *rec);
static enum auc_code read_tres(struct import *im, struct reader *r, struct json_object *o,
			       struct import_record *rec);
static enum auc_code sum_tres(struct import *im, struct reader *r, struct json_object *list,
			      struct import_tres *sum);
static enum auc_code count_of(struct reader *r, struct json_object *o, bool must, double *count);
static struct json_object *member(struct json_object *o, const char *key);
static enum auc_code number_of(struct reader *r, struct json_object *o, const char *key,
			       double *value);
static enum auc_code text_of(struct reader *r, struct json_object *o, const char *key,
			     const char **text);

enum auc_code import_read_json(struct import *im, struct import_text *t, struct auc_err *err)
{
	struct piece p = {0};
	enum auc_code rc;

	im->unix_time = true;
	do /* two months put together are two documents */
		rc = read_top(im, t, &p, err);
	while (rc == AUC_OK && import_peek(t) != EOF);
	if (rc == AUC_OK)
		rc = import_ended(t, err);
	free(p.text);
	return rc;
}

/* {"jobs": [...], "meta": ..., ...} */
static enum auc_code read_top(struct import *im, struct import_text *t, struct piece *p,
			      struct auc_err *err)
{
	enum auc_code rc = expect(t, '{', "'{'", err);
	bool seen = false, format;
	int c;

	for (c = ','; rc == AUC_OK && c == ',';) {
		if (import_peek(t) != '"')
			return import_expected(t, t->line, t->column, NULL, err,
					       "a key in double quotes");
		rc = read_piece(t, p, err);
		if (rc != AUC_OK)
			break;
		if (p->len == 6 && !memcmp(p->text, "\"jobs\"", 6)) {
			if (seen)
				return import_expected(t, p->line, t->column, NULL, err,
						       "the key jobs once");
			seen = true;
			rc = expect(t, ':', "':'", err);
			if (rc == AUC_OK)
				rc = read_list(im, t, p, err);
		} else {
			format = p->len == 8 && !memcmp(p->text, "\"format\"", 8);
			rc = expect(t, ':', "':'", err);
			if (rc == AUC_OK)
				rc = read_piece(t, p, err);
			if (rc == AUC_OK && format && !strncmp(p->text, "\"auction-", 9))
				return import_expected(t, p->line, 1, p->text, err,
						       "a log: auctionsim run reads scenarios");
		}
		if (rc != AUC_OK)
			break;
		c = import_peek(t);
		import_get(t);
		if (c != ',' && c != '}')
			rc = import_expected(t, t->line, t->column, NULL, err, "',' or '}'");
	}
	if (rc == AUC_OK && !seen)
		rc = import_expected(t, t->line, t->column, NULL, err,
				     "a key jobs, as sacct --json prints it");
	return rc;
}

static enum auc_code read_list(struct import *im, struct import_text *t, struct piece *p,
			       struct auc_err *err)
{
	enum auc_code rc = expect(t, '[', "'[' after jobs", err);
	unsigned long index = 0;
	struct auc_err fault;
	struct json_object *o;
	char path[48];
	int c = ',';

	if (rc == AUC_OK && import_peek(t) == ']') {
		import_get(t);
		return AUC_OK;
	}
	while (rc == AUC_OK && c == ',') {
		snprintf(path, sizeof(path), "$.jobs[%lu]", index);
		rc = read_piece(t, p, err);
		if (rc != AUC_OK)
			break;
		rc = parse_piece(t, p, path, &o, &fault);
		if (rc == AUC_OK) {
			rc = read_job(im, t, o, index, err);
			json_object_put(o);
		} else if (rc == AUC_EINVAL) {
			import_add_odd(im, path, 0, &fault);
			rc = AUC_OK;
		} else {
			auc_err_set(err, rc, "%s", fault.text);
		}
		index++;
		if (rc != AUC_OK)
			break;
		c = import_peek(t);
		import_get(t);
		if (c != ',' && c != ']')
			rc = import_expected(t, t->line, t->column, NULL, err,
					     "',' or ']' after %s", path);
	}
	return rc;
}

/* Takes the bytes of the value that comes next: to its closing bracket or quote, or what stands
 * before a comma or bracket. Whether it is JSON the parser says. */
static enum auc_code read_piece(struct import_text *t, struct piece *p, struct auc_err *err)
{
	enum auc_code rc = AUC_OK;
	bool text = false, escaped = false;
	unsigned depth = 0;
	int c;

	c = import_peek(t);
	p->len = 0;
	p->line = t->line;
	if (c == EOF)
		rc = import_ended(t, err);
	while (rc == AUC_OK) {
		c = import_get(t);
		if (c == EOF)
			return import_expected(t, t->line, t->column, NULL, err,
					       "the end of the value that begins in line %lu, "
					       "found that of the file",
					       p->line);
		rc = keep_byte(t, p, c, err);
		if (rc != AUC_OK)
			break;
		if (text) {
			text = escaped || c != '"';
			escaped = !escaped && c == '\\';
		} else if (c == '"') {
			text = true;
		} else if (c == '{' || c == '[') {
			if (++depth > DEPTH_MAX)
				return import_expected(t, t->line, t->column - 1, NULL, err,
						       "at most %d brackets within each other",
						       DEPTH_MAX);
		} else if (c == '}' || c == ']') {
			if (!depth)
				return import_expected(t, t->line, t->column - 1, NULL, err,
						       "a value");
			depth--;
		}
		if (text || depth)
			continue;
		if (c == '"' || c == '}' || c == ']')
			break;
		c = import_peek(t); /* a number or a word */
		if (c == ',' || c == ']' || c == '}' || c == ':' || c == EOF)
			break;
	}
	if (rc == AUC_OK)
		p->text[p->len] = '\0';
	return rc;
}

static enum auc_code keep_byte(struct import_text *t, struct piece *p, int c, struct auc_err *err)
{
	char *grown;

	if (!c)
		c = '?';
	if (p->len + 1 >= p->alloc) {
		if (p->len >= VALUE_MAX)
			return import_expected(t, p->line, 1, NULL, err,
					       "a value of less than %lu bytes", VALUE_MAX);
		grown = realloc(p->text, 2 * p->alloc + 8192);
		if (!grown)
			return auc_err_set(err, AUC_ENOMEM, "%.200s: no memory", t->name);
		p->text = grown;
		p->alloc = 2 * p->alloc + 8192;
	}
	p->text[p->len++] = (char)c;
	return AUC_OK;
}

static enum auc_code expect(struct import_text *t, int wanted, const char *what,
			    struct auc_err *err)
{
	char found[2] = {(char)import_peek(t), '\0'};

	if (*found != (char)wanted || import_get(t) != wanted)
		return import_expected(t, t->line, t->column, found, err, "%s", what);
	return AUC_OK;
}

/* Errors in it name where it begins in the file, and lines count from there. Users write job names
 * in whatever encoding: what is not UTF-8 is read as question marks. */
static enum auc_code parse_piece(const struct import_text *t, const struct piece *p,
				 const char *path, struct json_object **o, struct auc_err *err)
{
	enum auc_code rc;
	char name[160];
	size_t i;

	snprintf(name, sizeof(name), "%.80s: %s from line %lu on", t->name, path, p->line);
	rc = document_parse(p->text, p->len, name, o, err);
	if (rc != AUC_EINVAL)
		return rc;
	for (i = 0; i < p->len; i++)
		if ((unsigned char)p->text[i] >= 0x80)
			p->text[i] = '?';
	return document_parse(p->text, p->len, name, o, err);
}

/* All of it is read even if something is wrong: the GPU time of what is skipped is told. */
static enum auc_code read_job(struct import *im, struct import_text *t, struct json_object *o,
			      unsigned long index, struct auc_err *err)
{
	struct import_record rec = {.id = "",
				    .cluster = "",
				    .submit = -1,
				    .start = -1,
				    .end = -1,
				    .duration = -1,
				    .deadline = -1,
				    .model = "",
				    .queue = ""};
	const char *nodes = "";
	char id[64], host[AUC_NAME_MAX];
	struct auc_err nobody;
	enum auc_code rc;
	struct reader r;
	size_t mark;

	reader_init(&r, t->name, NULL, &rec.fault);
	reader_enter_key(&r, "jobs");
	reader_enter_index(&r, index);
	mark = r.len;
	if (member(o, "job_state") && !member(o, "time"))
		return import_expected(
			t, t->line, t->column, NULL, err,
			"the output of sacct --json, found that of squeue or scontrol");
	snprintf(id, sizeof(id), "$.jobs[%lu]", index);
	rec.id = id;
	rec.node = host;
	if (!json_object_is_type(o, json_type_object))
		reader_expected(&r, o, "an object");
	read_id(next_part(&r, &rec, mark), o, &rec, id, sizeof(id));
	read_state(next_part(&r, &rec, mark), o, &rec);
	read_times(next_part(&r, &rec, mark), o, &rec);
	rc = read_tres(im, next_part(&r, &rec, mark), o, &rec);
	if (rc == AUC_ENOMEM)
		return auc_err_set(err, rc, "%.200s: no memory", t->name);
	text_of(next_part(&r, &rec, mark), o, "nodes", &nodes);
	text_of(next_part(&r, &rec, mark), o, "partition", &rec.queue);
	text_of(next_part(&r, &rec, mark), o, "name", &rec.model);
	text_of(next_part(&r, &rec, mark), o, "cluster", &rec.cluster);
	next_part(&r, &rec, mark)->err = &nobody;
	if (text_of(&r, o, "user", &rec.user) != AUC_OK)
		rec.user = "";
	import_first_host(nodes, host);
	return import_add(im, &rec, err);
}

/* Back at the job, or the part of it, that MARK stands for, whatever was wrong before. */
static struct reader *next_part(struct reader *r, struct import_record *rec, size_t mark)
{
	reader_leave(r, mark);
	r->err = import_fault(rec);
	return r;
}

/* As sacct -P has it: 12, 12_3 or 12+1. */
static enum auc_code read_id(struct reader *r, struct json_object *o, struct import_record *rec,
			     char *id, size_t size)
{
	double job = -1, lead = 0, part = -1;
	struct json_object *v;
	enum auc_code rc;
	size_t mark;

	rc = number_of(r, o, "job_id", &job);
	if (rc == AUC_OK && (job < 0 || job != (double)(uint64_t)job))
		return reader_expected(r, member(o, "job_id"), "job_id to be a whole number");
	v = member(o, "array");
	mark = reader_enter_key(r, "array");
	if (rc == AUC_OK)
		rc = number_of(r, v, "job_id", &lead);
	if (rc == AUC_OK)
		rc = number_of(r, v, "task_id", &part);
	reader_leave(r, mark);
	rec->array = lead > 0 && part >= 0;
	if (!rec->array) {
		v = member(o, "het");
		mark = reader_enter_key(r, "het");
		if (rc == AUC_OK)
			rc = number_of(r, v, "job_id", &lead);
		if (rc == AUC_OK)
			rc = number_of(r, v, "job_offset", &part);
		reader_leave(r, mark);
		rec->het = lead > 0 && part >= 0;
	}
	if (rc != AUC_OK)
		return rc;
	if (rec->array || rec->het)
		snprintf(id, size, "%.0f%c%.0f", lead, rec->array ? '_' : '+', part);
	else
		snprintf(id, size, "%.0f", job);
	return AUC_OK;
}

static void read_times(struct reader *r, struct json_object *o, struct import_record *rec)
{
	struct json_object *v = member(o, "time");
	double elapsed = -1, limit = 0;
	struct auc_err nobody; /* a limit that is no number is none */
	size_t mark;

	reader_enter_key(r, "time");
	mark = r->len;
	if (!json_object_is_type(v, json_type_object)) {
		reader_expected(r, v, "an object");
		return;
	}
	read_time(next_part(r, rec, mark), v, "submission", &rec->submit);
	if (rec->submit < 0)
		reader_expected(next_part(r, rec, mark), member(v, "submission"),
				"submission to be a time in seconds since 1970");
	read_time(next_part(r, rec, mark), v, "start", &rec->start);
	rec->unstarted = rec->start < 0;
	read_time(next_part(r, rec, mark), v, "end", &rec->end);
	number_of(next_part(r, rec, mark), v, "suspended", &rec->suspended);
	next_part(r, rec, mark)->err = &nobody;
	if (number_of(r, v, "limit", &limit) == AUC_OK && limit > 0 && limit <= IMPORT_RUN_MAX / 60)
		rec->limit = 60 * limit;
	number_of(next_part(r, rec, mark), v, "elapsed", &elapsed);
	if (elapsed < 0 || elapsed > IMPORT_RUN_MAX)
		reader_expected(next_part(r, rec, mark), member(v, "elapsed"),
				"elapsed to be a time in seconds, at most %.0f days",
				IMPORT_RUN_MAX / 86400);
	else if (rec->state != IMPORT_PENDING)
		rec->duration = elapsed;
}

/* 0, and what else stands for none, leaves *TIME as it is. */
static void read_time(struct reader *r, struct json_object *o, const char *key, double *time)
{
	double value = -1;

	if (number_of(r, o, key, &value) == AUC_OK && import_time_known(value))
		*time = value;
}

/*
 * {"current": "COMPLETED"}, or a list: the state, then what is true of it besides. A run that was
 * requeued is pending, by its first word, and REQUEUED by another.
 */
static enum auc_code read_state(struct reader *r, struct json_object *o, struct import_record *rec)
{
	struct json_object *v = member(member(o, "state"), "current"), *word;
	size_t mark = reader_enter_key(r, "state"), n = 1, i;
	bool list = json_object_is_type(v, json_type_array);

	reader_enter_key(r, "current");
	if (list)
		n = json_object_array_length(v);
	for (i = 0; i < n; i++) {
		word = list ? json_object_array_get_idx(v, i) : v;
		if (!json_object_is_type(word, json_type_string))
			return reader_expected(r, word, "a state of jobs");
		if ((i == 0 || !strcmp(json_object_get_string(word), "REQUEUED")) &&
		    !import_slurm_state(json_object_get_string(word), rec))
			return reader_expected(r, word, "a state of jobs");
	}
	if (!n)
		return reader_expected(r, v, "a state of jobs");
	reader_leave(r, mark);
	return AUC_OK;
}

/* {"allocated": [{"type": "gres", "name": "gpu:v100", "count": 2}, ...], "requested": ...} */
static enum auc_code read_tres(struct import *im, struct reader *r, struct json_object *o,
			       struct import_record *rec)
{
	struct json_object *tres = member(o, "tres"), *list = member(tres, "allocated");
	size_t mark = reader_enter_key(r, "tres");
	struct import_tres sum = {0};
	const char *key = "allocated";
	enum auc_code rc;

	if (!list ||
	    (json_object_is_type(list, json_type_array) && !json_object_array_length(list))) {
		key = "requested";
		list = member(tres, key);
	}
	reader_enter_key(r, key);
	rc = sum_tres(im, r, list, &sum);
	reader_leave(r, mark);
	import_tres_done(&sum, rec);
	return rc;
}

static enum auc_code sum_tres(struct import *im, struct reader *r, struct json_object *list,
			      struct import_tres *sum)
{
	char name[IMPORT_KIND_BYTES + 16];
	const char *type, *gres;
	struct json_object *v;
	enum auc_code rc;
	double count;
	size_t i, mark;

	if (!json_object_is_type(list, json_type_array))
		return reader_expected(r, list, "an array");
	for (i = 0; i < json_object_array_length(list); i++) {
		mark = reader_enter_index(r, i);
		v = json_object_array_get_idx(list, i);
		rc = text_of(r, v, "type", &type);
		if (rc == AUC_OK)
			rc = text_of(r, v, "name", &gres);
		if (rc != AUC_OK)
			return rc;
		/* One that is cut is too long for a type. */
		snprintf(name, sizeof(name), strcmp(type, "gres") ? "%s" : "gres/%s",
			 strcmp(type, "gres") ? type : gres);
		if (import_tres_wanted(name)) {
			rc = count_of(r, v, !strcmp(type, "gres"), &count);
			if (rc != AUC_OK)
				return rc;
			rc = import_tres_add(im, sum, name, count, NULL);
			if (rc == AUC_EINVAL)
				return reader_expected(r, member(v, "name"),
						       "one of at most %d types of GPUs, named by "
						       "letters, digits and ._:/+-",
						       IMPORT_KINDS_MAX);
			if (rc == AUC_ENOMEM)
				return reader_fail(r, rc, "no memory");
			if (rc != AUC_OK)
				return rc;
		}
		reader_leave(r, mark);
	}
	return AUC_OK;
}

/* Of GPUs there must be one: where nothing is set it is not known how many the job had. */
static enum auc_code count_of(struct reader *r, struct json_object *o, bool must, double *count)
{
	enum auc_code rc;

	*count = -1;
	rc = number_of(r, o, "count", count);
	if (rc != AUC_OK || (*count >= 0 && *count <= IMPORT_GPUS_MAX))
		return rc;
	if (must || *count > 0)
		return reader_expected(r, member(o, "count"), "count to be a number up to %.0f",
				       IMPORT_GPUS_MAX);
	*count = 0;
	return AUC_OK;
}

/* The member of an object, NULL if there is none, it is null, or O is no object. */
static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, key, &v);
	return v;
}

/* Leaves *VALUE as it is where nothing is set. */
static enum auc_code number_of(struct reader *r, struct json_object *o, const char *key,
			       double *value)
{
	struct json_object *v = member(o, key), *number = v;
	size_t mark;
	double d;

	if (json_object_is_type(v, json_type_object)) {
		if (!json_object_get_boolean(member(v, "set")))
			return AUC_OK;
		number = member(v, "number");
	}
	if (!v || json_object_is_type(v, json_type_null))
		return AUC_OK;
	mark = reader_enter_key(r, key);
	if (!json_object_is_type(number, json_type_int) &&
	    !json_object_is_type(number, json_type_double))
		return reader_expected(r, v, "a number, or an object with set and number");
	d = json_object_get_double(number);
	if (!(d >= -IMPORT_TIME_MAX && d <= IMPORT_TIME_MAX))
		return reader_expected(r, v, "a number up to %.0f", IMPORT_TIME_MAX);
	*value = d;
	reader_leave(r, mark);
	return AUC_OK;
}

/* "" where there is none. */
static enum auc_code text_of(struct reader *r, struct json_object *o, const char *key,
			     const char **text)
{
	struct json_object *v = member(o, key);

	*text = "";
	if (!v || json_object_is_type(v, json_type_null))
		return AUC_OK;
	if (!json_object_is_type(v, json_type_string)) {
		reader_enter_key(r, key);
		return reader_expected(r, v, "a text");
	}
	*text = json_object_get_string(v);
	return AUC_OK;
}
